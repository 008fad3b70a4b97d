//! What overlays come to on the clusters that they select, once it is decided where objects go.
//!
//! Owns: the findings about overlays without an effect, and about clusters of which nobody knows whether they are
//! selected. Flows in: [`Overlays`], where objects go, which local policies override others. Flows out: findings. Must not
//! know: how that was decided.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::Identity;

use super::{ChangedField, MOST_NAMES, Overlay, Overlays};
use crate::api::ocm::GROUP;
use crate::diagnostic::{Code, Finding, Part, first_names};
use crate::hub::Hub;

/// Where an overlay says which clusters it is for.
const CLUSTERS: &str = "/spec/clusters";

/// Why a change has no effect on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// A selector of the overlay does not select it.
    NotSelected,
    /// The cluster does not get the object.
    NotThere,
    /// The hub has the value.
    SameAsHub,
    /// Another overlay has a higher priority.
    Overridden(Identity),
    /// A policy that lives on the cluster overrides the object.
    Local(Identity),
}

/// The findings `overlay/unknown-labels` and `overlay/no-effect`. `goes_to` is whether a cluster gets an object, and
/// `local_winner` the local policy that overrides an object there as a whole.
pub fn effects(
    overlays: &Overlays,
    hub: &Hub,
    goes_to: impl Fn(&Identity, &str) -> bool,
    local_winner: impl Fn(&Identity, &str) -> Option<Identity>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for overlay in &overlays.overlays {
        let effects = Effects {
            hub,
            overlay,
            goes_to: &goes_to,
            local_winner: &local_winner,
        };
        findings.extend(effects.unknown_labels());
        if !overlay.is_whole {
            continue;
        }
        findings.extend(effects.selects_none());
        let mut fields = overlay.fields.as_slice();
        while let Some(first) = fields.first() {
            let end = fields.partition_point(|field| field.change <= first.change);
            let (change, rest) = fields.split_at_checked(end).unwrap_or((fields, &[]));
            findings.extend(effects.of_change(change));
            fields = rest;
        }
    }
    findings
}

struct Effects<'o, G, L> {
    hub: &'o Hub,
    overlay: &'o Overlay,
    goes_to: &'o G,
    local_winner: &'o L,
}

impl<G: Fn(&Identity, &str) -> bool, L: Fn(&Identity, &str) -> Option<Identity>> Effects<'_, G, L> {
    /// Clusters without a ManagedCluster that get what the overlay may or may not change.
    fn unknown_labels(&self) -> Option<Finding> {
        let mut clusters: BTreeSet<&str> = BTreeSet::new();
        let mut object = None;
        let mut is_by_value = false;
        for field in &self.overlay.fields {
            let by_selector = self.overlay.unknown.iter().map(|cluster| (cluster, false));
            let by_value = field.unknown.iter().map(|cluster| (cluster, true));
            for (cluster, by_value) in by_selector.chain(by_value) {
                if !clusters.contains(cluster.as_str()) && (self.goes_to)(&field.object, cluster) {
                    clusters.insert(cluster);
                    is_by_value = by_value && (is_by_value || object.is_none());
                    object = object.or(Some(field));
                }
            }
        }
        let field = object?;
        let names = first_names(&clusters, MOST_NAMES);
        let (get, have) = if clusters.len() > 1 {
            ("they get", "have")
        } else {
            ("it gets", "has")
        };
        let (reads, pointer) = if is_by_value {
            ("uses values of its clusters", [&field.entry, "/value"].concat())
        } else {
            ("selects by labels", CLUSTERS.to_owned())
        };
        let message = format!(
            "{} {reads}, but those of {names} are unknown: {get} {} and {have} no ManagedCluster",
            self.overlay.identity, field.object
        );
        let place = self.overlay.origin.place(&pointer, Part::Value);
        let help = if is_by_value {
            "add the ManagedCluster, or leave the cluster out of the overlay"
        } else {
            "add the ManagedCluster, or select by `names`"
        };
        Some(Finding::new(Code::OVERLAY_UNKNOWN_LABELS, place, message).help(help))
    }

    /// Where one of the changes of the overlay has no effect: for each cluster that the overlay names, or on all clusters.
    fn of_change(&self, change: &[ChangedField]) -> Vec<Finding> {
        let Some(first) = change.first() else {
            return Vec::new();
        };
        if self.overlay.named.is_empty() {
            return self.on_no_cluster(change, first).into_iter().collect();
        }
        let mut without: BTreeMap<Reason, Vec<(&str, &str)>> = BTreeMap::new();
        for (name, pointer) in &self.overlay.named {
            let reason = if is_among(&self.overlay.applied_on, name) {
                self.without_effect(change, name)
            } else {
                self.is_left_out(name).then_some(Reason::NotSelected)
            };
            if let Some(reason) = reason {
                without.entry(reason).or_default().push((name, pointer));
            }
        }
        let findings = without.into_iter().filter_map(|(reason, names)| {
            let (_, pointer) = names.first()?;
            let clusters: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            Some(self.finding(change, first, &clusters, &reason, pointer))
        });
        findings.collect()
    }

    /// Whether the selectors leave out a cluster that the overlay names.
    fn is_left_out(&self, name: &str) -> bool {
        let clusters = &self.hub.objects;
        !is_among(&self.overlay.clusters, name)
            && clusters.find(GROUP, "ManagedCluster", None, name).is_some()
    }

    /// An overlay without names whose selectors no cluster matches.
    fn selects_none(&self) -> Option<Finding> {
        let Overlay {
            named,
            clusters,
            unknown,
            ..
        } = self.overlay;
        let is_none = named.is_empty() && clusters.is_empty() && unknown.is_empty();
        is_none.then(|| {
            let place = self.overlay.origin.place(CLUSTERS, Part::Value);
            Finding::new(
                Code::OVERLAY_NO_EFFECT,
                place,
                format!("{} selects no cluster", self.overlay.identity),
            )
            .help("correct the selectors, or remove the overlay")
        })
    }

    /// An overlay that names no clusters may select some where it has no effect, but not only such.
    fn on_no_cluster(&self, change: &[ChangedField], first: &ChangedField) -> Option<Finding> {
        if self.overlay.applied_on.len() != self.overlay.clusters.len() {
            return None;
        }
        let mut reasons = self
            .overlay
            .clusters
            .iter()
            .map(|cluster| self.without_effect(change, cluster));
        // Of several reasons, the one of the first cluster that gets the object says more.
        let mut all = BTreeSet::new();
        reasons.try_for_each(|reason| reason.map(|reason| all.insert(reason)).map(drop))?;
        let reason = all
            .iter()
            .find(|reason| **reason != Reason::NotThere)
            .or(all.first())?;
        Some(self.finding(change, first, &[], reason, CLUSTERS))
    }

    /// Why nothing remains of a change on a cluster, if nothing does. A field without a value there is an error already.
    fn without_effect(&self, change: &[ChangedField], cluster: &str) -> Option<Reason> {
        let mut first = None;
        for field in change {
            let reason = self.reason(field, cluster)?;
            first = first.or(Some(reason));
        }
        first
    }

    fn reason(&self, field: &ChangedField, cluster: &str) -> Option<Reason> {
        let local = || (self.local_winner)(&field.object, cluster).map(Reason::Local);
        if !(self.goes_to)(&field.object, cluster) {
            // A policy that is overridden as a whole is not shipped.
            return Some(local().unwrap_or(Reason::NotThere));
        }
        let by = field
            .overridden
            .iter()
            .find(|(clusters, _)| is_among(clusters, cluster));
        if let Some((_, by)) = by {
            return Some(Reason::Overridden(by.clone()));
        }
        if is_among(&field.same_as_hub, cluster) {
            return Some(Reason::SameAsHub);
        }
        local()
    }

    /// That a change has no effect on clusters that the overlay names, or on any if it names none.
    fn finding(
        &self,
        change: &[ChangedField],
        first: &ChangedField,
        named: &[&str],
        reason: &Reason,
        pointer: &str,
    ) -> Finding {
        let Overlay { identity, fields, .. } = self.overlay;
        let object = &first.object;
        let clusters = first_names(named, MOST_NAMES);
        let on = if named.is_empty() {
            String::new()
        } else {
            format!(" on {clusters}")
        };
        // Another change of the overlay may have an effect.
        let of_object = if fields.len() > change.len() {
            format!(" in {object}")
        } else {
            String::new()
        };
        let why = match (reason, named.len()) {
            (Reason::NotSelected, _) => "its selectors do not match".to_owned(),
            (Reason::NotThere, 0) => format!("no cluster that it selects gets {object}"),
            (Reason::NotThere, 1) => format!("{clusters} does not get {object}"),
            (Reason::NotThere, _) => format!("they do not get {object}"),
            (Reason::SameAsHub, _) => "the hub has this value already".to_owned(),
            (Reason::Overridden(by), _) => format!("the priority of `{}` is higher", key(by)),
            (Reason::Local(policy), _) => format!("a local policy, {}, overrides it", key(policy)),
        };
        let message = format!("{identity} changes nothing{of_object}{on}: {why}");
        let finding = Finding::new(
            Code::OVERLAY_NO_EFFECT,
            self.overlay.origin.place(pointer, Part::Value),
            message,
        );
        let finding = finding.related(
            self.overlay.origin.place(&first.entry, Part::Value),
            "this change",
        );
        finding.help(if named.is_empty() {
            "remove the change, or select other clusters"
        } else {
            "remove the change, or the names of these clusters"
        })
    }
}

/// Whether a cluster is in a sorted list.
fn is_among(clusters: &[String], cluster: &str) -> bool {
    clusters
        .binary_search_by(|name| name.as_str().cmp(cluster))
        .is_ok()
}

/// `namespace/name`.
fn key(identity: &Identity) -> String {
    let namespace = identity.namespace.iter().map(String::as_str);
    let parts: Vec<&str> = namespace.chain([identity.name.as_str()]).collect();
    parts.join("/")
}
