//! The clusters of the input, and what overlays read of them.
//!
//! Owns: which clusters an overlay selects, and the values that `${cluster....}` stands for. Flows in: the hub, `clusters`
//! of an overlay. Flows out: numbers of clusters, and their names. Must not know: what overlays change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::{Selector, Work};
use kube_json::Value;

use super::ClusterNames;
use crate::api::ocm::GROUP;
use crate::api::overlay::{ClusterField, Clusters};
use crate::hub::Hub;
use crate::object::Object;
use crate::placing::known_clusters;

/// What looking at one cluster costs an overlay with selectors.
pub(super) const STEPS_PER_CLUSTER: u64 = 2;

/// The clusters of the input, by name; each has a number.
pub(super) struct Fleet<'a> {
    pub(super) clusters: Vec<Cluster<'a>>,
}

pub(super) struct Cluster<'a> {
    pub(super) name: &'a str,
    pub(super) managed: Option<Managed<'a>>,
    is_admitted: bool,
}

/// What selectors and values read.
pub(super) struct Managed<'a> {
    object: &'a Object,
    /// Of a repeated name, the last one counts (docs/systems/ocm-placement.md#claim-selectors).
    claims: BTreeMap<&'a str, &'a str>,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(hub: &'a Hub, admits: impl Fn(&str) -> bool) -> Self {
        let names = known_clusters(hub).into_iter().filter(|name| !name.is_empty());
        let clusters = names.map(|name| Cluster {
            name,
            managed: hub
                .objects
                .find(GROUP, "ManagedCluster", None, name)
                .map(|object| {
                    let claims = object
                        .value
                        .pointer("/status/clusterClaims")
                        .and_then(Value::as_array);
                    let claims = claims.into_iter().flatten();
                    let text = |claim: &'a Value, key: &str| claim.get(key).and_then(Value::as_str);
                    let claims =
                        claims.filter_map(|claim| Some((text(claim, "name")?, text(claim, "value")?)));
                    Managed {
                        object,
                        claims: claims.collect(),
                    }
                }),
            is_admitted: admits(name),
        });
        Self {
            clusters: clusters.collect(),
        }
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.clusters
            .binary_search_by(|cluster| cluster.name.cmp(name))
            .ok()
    }

    /// The names of clusters, sorted.
    pub(super) fn sorted_names(&self, numbers: &[usize]) -> Vec<String> {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        let clusters = numbers.iter().filter_map(|number| self.clusters.get(*number));
        clusters.map(|cluster| cluster.name.to_owned()).collect()
    }

    pub(super) fn is_admitted(&self, number: usize) -> bool {
        self.clusters
            .get(number)
            .is_some_and(|cluster| cluster.is_admitted)
    }

    /// The clusters that an overlay selects, and those of which nobody knows. Nothing if that is too costly.
    pub(super) fn selected(&self, wanted: &Clusters, work: &Work) -> Option<(Vec<usize>, Vec<usize>)> {
        let is_selective = is_selective(wanted);
        let mut candidates: Vec<usize> = match &wanted.names {
            Some(names) => names.iter().filter_map(|(name, _)| self.number(name)).collect(),
            None if is_selective => (0..self.clusters.len()).collect(),
            None => Vec::new(),
        };
        candidates.sort_unstable();
        candidates.dedup();
        if !work.pay(candidates.len(), STEPS_PER_CLUSTER) {
            return None;
        }
        if !is_selective {
            return Some((candidates, Vec::new()));
        }
        let matches = |selector: &Option<Selector>, value_of: &dyn Fn(&str) -> Option<&'a str>| {
            selector
                .as_ref()
                .is_none_or(|selector| selector.matches(value_of))
        };
        let (mut selected, mut unknown) = (Vec::new(), Vec::new());
        for number in candidates {
            match self
                .clusters
                .get(number)
                .and_then(|cluster| cluster.managed.as_ref())
            {
                None => unknown.push(number),
                Some(managed) => {
                    let by_labels = matches(&wanted.label_selector, &|key| managed.object.label(key));
                    let by_claims =
                        matches(&wanted.claim_selector, &|name| managed.claims.get(name).copied());
                    if by_labels && by_claims {
                        selected.push(number);
                    }
                }
            }
        }
        Some((selected, unknown))
    }
}

/// Whether labels or claims decide.
const fn is_selective(clusters: &Clusters) -> bool {
    clusters.label_selector.is_some() || clusters.claim_selector.is_some()
}

impl Cluster<'_> {
    /// The value that `${cluster....}` stands for.
    pub(super) fn lookup(&self, field: &ClusterField) -> Option<String> {
        let managed = self.managed.as_ref();
        let value = match field {
            ClusterField::Name => Some(self.name),
            ClusterField::Label(key) => managed.and_then(|managed| managed.object.label(key)),
            ClusterField::Annotation(key) => managed.and_then(|managed| managed.object.annotation(key)),
            ClusterField::Claim(name) => {
                managed.and_then(|managed| managed.claims.get(name.as_str()).copied())
            }
        };
        value.map(str::to_owned)
    }
}

/// Lists of clusters, of which equal ones are one.
pub(super) struct Lists<'f, 'a> {
    fleet: &'f Fleet<'a>,
    lists: BTreeSet<ClusterNames>,
}

impl<'f, 'a> Lists<'f, 'a> {
    pub(super) const fn new(fleet: &'f Fleet<'a>) -> Self {
        let lists = BTreeSet::new();
        Self { fleet, lists }
    }

    pub(super) fn names(&mut self, clusters: &[usize]) -> ClusterNames {
        let names = ClusterNames::from(self.fleet.sorted_names(clusters));
        if let Some(known) = self.lists.get(&names) {
            return Arc::clone(known);
        }
        self.lists.insert(Arc::clone(&names));
        names
    }
}
