//! Effective settings that change, also where no object of the policy's own does: a new route, a policy that a deleted
//! one had displaced.
//!
//! Owns: the settings of one side by path ([`EffectiveSettings`]), and what differs between two. Flows in: evaluated
//! policies. Flows out: [`EffectiveChange`]s. Must not know: works.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::report::EffectiveChange;
use crate::policy::PolicyView;
use crate::policy::report::EffectiveEntry;
use crate::policy::status::Outcome;

/// Kind and group of the policies, and the locators of a path.
type PathKey = (String, String, Vec<String>);
/// The settings, and the clusters of the path's Gateway.
type Held = (Value, Vec<String>);

/// What holds on every path of one side.
#[derive(Debug, Default)]
pub struct EffectiveSettings {
    /// By kind, group and path: the settings, and the clusters of the path's Gateway.
    by_path: BTreeMap<PathKey, Held>,
}

impl EffectiveSettings {
    /// The settings of one side, on the clusters that are asked for.
    #[must_use]
    pub fn new(view: &PolicyView<'_>, admits: impl Fn(&str) -> bool) -> Self {
        let mut settings = Self::default();
        for (kind, path) in view.effective.iter() {
            let Some(entry) = EffectiveEntry::new(&view.attachments, kind, path) else {
                continue;
            };
            let gateway = view.attachments.topology.gateway(path.path.gateway);
            let clusters = gateway.and_then(|gateway| view.clusters.get(&gateway.object.key()));
            let sources = path.effective.sources();
            // Where a policy that lives on the cluster took the place of one of these, something else holds.
            let replaced =
                |cluster: &str| {
                    view.effects.get(cluster).into_iter().flatten().any(|effect| {
                        effect.outcome == Outcome::Overridden && sources.contains(&effect.policy)
                    })
                };
            let clusters: Vec<String> = clusters
                .into_iter()
                .flatten()
                .filter(|cluster| admits(cluster) && !replaced(cluster))
                .cloned()
                .collect();
            let value = entry
                .rules
                .map_or_else(|| entry.spec.unwrap_or_default(), |rules| json!(rules));
            settings
                .by_path
                .insert((entry.kind, entry.group, entry.path), (value, clusters));
        }
        settings
    }

    /// What holds otherwise on the new side, by kind and path. Paths that no cluster has are left out.
    #[must_use]
    pub fn changes(old: &Self, new: &Self) -> Vec<EffectiveChange> {
        let keys: BTreeSet<_> = old.by_path.keys().chain(new.by_path.keys()).collect();
        keys.into_iter()
            .filter_map(|key| {
                let (before, after) = (old.by_path.get(key), new.by_path.get(key));
                let value = |side: Option<&Held>| side.map(|(value, _)| value.clone());
                if value(before) == value(after) {
                    return None;
                }
                let clusters: BTreeSet<String> = before
                    .into_iter()
                    .chain(after)
                    .flat_map(|(_, clusters)| clusters.iter().cloned())
                    .collect();
                (!clusters.is_empty()).then(|| EffectiveChange {
                    kind: key.0.clone(),
                    path: key.2.clone(),
                    clusters: clusters.into_iter().collect(),
                    old: value(before),
                    new: value(after),
                })
            })
            .collect()
    }
}
