//! What would change if a policy were deleted: the settings that differ between an input and the same without it, for
//! explanations and pages.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::effective_settings::{EffectiveChange, EffectiveSettings, SettingChange, conceal};
use super::{PolicyView, Seen};
use crate::diagnostic::Hidden;
use crate::topology::Node;

/// What would change if a policy were deleted, the same on some paths.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeIfDeleted {
    /// The paths, as locators.
    pub paths: Vec<Vec<String>>,
    /// The paths for people.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// How many more paths there are.
    pub more: usize,
    /// The clusters where that is so, sorted; none for a Gateway that is on no cluster.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub clusters: Arc<[String]>,
    /// Whether those are all clusters of the Gateway.
    #[serde(skip)]
    pub everywhere: bool,
    /// The settings that differ.
    pub settings: Arc<Vec<SettingChange>>,
}

impl ChangeIfDeleted {
    /// Equal changes together, in the order of their first path, with at most so many paths in all; `clusters` are those
    /// that the clusters of a change stand for.
    pub fn grouped(
        changes: &[EffectiveChange],
        most: usize,
        clusters: impl Fn(&[String]) -> Arc<[String]>,
    ) -> Vec<Self> {
        // Most paths share what changes, and their set of clusters.
        let mut texts: HashMap<*const Vec<SettingChange>, Arc<str>> = HashMap::new();
        let mut lists: HashMap<*const Vec<String>, Arc<[String]>> = HashMap::new();
        let mut all: IndexMap<(Arc<str>, Arc<[String]>), Self> = IndexMap::new();
        let mut listed = 0_usize;
        for change in changes {
            let settings = &change.settings;
            let text = texts.entry(Arc::as_ptr(settings)).or_insert_with(|| {
                let text = serde_json::to_string(settings);
                text.unwrap_or_default().into()
            });
            let list = lists.entry(Arc::as_ptr(&change.clusters));
            let list = list.or_insert_with(|| clusters(&change.clusters));
            let same = (Arc::clone(text), Arc::clone(list));
            let group = all.entry(same).or_insert_with(|| Self {
                paths: Vec::new(),
                labels: Vec::new(),
                more: 0,
                clusters: Arc::clone(list),
                everywhere: false,
                settings: Arc::clone(settings),
            });
            // Each has a path at least.
            if listed < most || group.paths.is_empty() {
                listed = listed.saturating_add(1);
                group.paths.push(change.path.clone());
                group.labels.push(change.label.clone());
            } else {
                group.more = group.more.saturating_add(1);
            }
        }
        all.into_values().collect()
    }
}

/// What each path would lose or get instead; paths with equal changes on the same clusters together.
pub(super) fn if_deleted(view: &PolicyView<'_>, without: &PolicyView<'_>) -> Vec<ChangeIfDeleted> {
    let settings = [view, without].map(|view| EffectiveSettings::with_hub(view).ok());
    let [Some(before), Some(after)] = settings else {
        return Vec::new();
    };
    let changes = EffectiveSettings::changes(&before, &after);
    let mut grouped = ChangeIfDeleted::grouped(&changes, usize::MAX, |clusters| clusters.into());
    conceal(
        grouped.iter_mut().map(|change| &mut change.settings),
        &mut Hidden::default(),
    );
    for change in &mut grouped {
        let mut paths = change.paths.iter();
        change.everywhere = paths
            .next()
            .is_none_or(|path| is_everywhere(view, path, &change.clusters));
    }
    grouped.sort_by_cached_key(|change| {
        let text = serde_json::to_string(&change.settings).unwrap_or_default();
        (text, Arc::clone(&change.clusters))
    });
    grouped
}

/// Whether clusters are all those of the Gateway of a path. Nothing says where else a Gateway may be that lives on
/// clusters.
fn is_everywhere(view: &PolicyView<'_>, path: &[String], clusters: &[String]) -> bool {
    let is_it = |seen: Seen<'_>| {
        let topology = &seen.attachments.topology;
        let mut gateways = topology.gateways.iter();
        let found = gateways.find(|(id, _)| path.get(1) == Some(&topology.locator(Node::Gateway(*id))));
        found.map(|(_, gateway)| (gateway.local, gateway.known_as().key()))
    };
    view.cluster.is_some()
        || match view.seen().find_map(is_it) {
            Some((is_local, gateway)) => !is_local && clusters.len() >= view.clusters_of(&gateway).len(),
            None => true,
        }
}
