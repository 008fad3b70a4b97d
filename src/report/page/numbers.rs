//! The numbers of policies on a page: those of the hub first, then those that live on clusters.
//!
//! Owns: these numbers. Flows in: a view. Flows out: numbers by locator. Must not know: rows.

use std::collections::HashMap;

use crate::outcome::PolicyView;
use crate::policy::PolicyId;

/// Which number each policy has.
#[derive(Default)]
pub(super) struct Numbers {
    of_hub: HashMap<String, usize>,
    /// By cluster and locator.
    of_clusters: HashMap<(String, String), usize>,
    /// The object that each is read from, in order.
    pub(super) entries: Vec<Entry>,
}

/// One policy: of the hub, or of a place that was evaluated.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The place, by its position in the view.
    pub(super) place: Option<usize>,
    pub(super) policy: PolicyId,
}

impl Numbers {
    pub(super) fn of(view: &PolicyView<'_>) -> Self {
        let mut numbers = Self::default();
        for (policy, known) in view.hub.policies.iter() {
            let next = numbers.entries.len();
            numbers.of_hub.entry(known.locator().to_string()).or_insert(next);
            numbers.entries.push(Entry { place: None, policy });
        }
        for (place, seen) in view.seen().enumerate().skip(1) {
            for (policy, known) in seen
                .attachments
                .policies
                .iter()
                .filter(|(_, policy)| policy.local)
            {
                let next = numbers.entries.len();
                for cluster in seen.clusters {
                    let key = (cluster.clone(), known.locator().to_string());
                    numbers.of_clusters.insert(key, next);
                }
                let place = Some(place);
                numbers.entries.push(Entry { place, policy });
            }
        }
        numbers
    }

    /// The number of a policy of the hub, or of one that lives on a cluster.
    pub(super) fn find(&self, locator: &str, cluster: Option<&str>) -> Option<usize> {
        match cluster {
            Some(cluster) => {
                let key = (cluster.to_owned(), locator.to_owned());
                self.of_clusters.get(&key).copied()
            }
            None => self.of_hub.get(locator).copied(),
        }
    }
}
