//! The clusters of the input, and what overlays read of them.
//!
//! Owns: which clusters an overlay selects, and the values that `${cluster....}` stands for. Flows in: the hub, `clusters`
//! of an overlay. Flows out: names and values. Must not know: what overlays change.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::{Selector, Work};
use kube_json::Value;

use super::changes::ClusterNames;
use crate::api::ocm::GROUP;
use crate::api::overlay::{ClusterField, Clusters};
use crate::hub::Hub;
use crate::object::Object;
use crate::placing::known_clusters;

/// What looking at one cluster costs an overlay with selectors.
pub(super) const STEPS_PER_CLUSTER: u64 = 2;

/// The clusters of the input, by name.
pub(super) struct Fleet<'a> {
    pub(super) clusters: BTreeMap<&'a str, Cluster<'a>>,
}

pub(super) struct Cluster<'a> {
    name: &'a str,
    pub(super) managed: Option<&'a Object>,
    is_admitted: bool,
}

/// What an overlay selects.
pub(super) struct Selected {
    pub(super) clusters: ClusterNames,
    /// Those of `clusters` that the run is for.
    pub(super) admitted: ClusterNames,
    /// Clusters without a ManagedCluster, which selectors may or may not select.
    pub(super) unknown: ClusterNames,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(hub: &'a Hub, admits: impl Fn(&str) -> bool) -> Self {
        let names = known_clusters(hub).into_iter().filter(|name| !name.is_empty());
        let cluster = |name| Cluster {
            name,
            managed: hub.objects.find(GROUP, "ManagedCluster", None, name),
            is_admitted: admits(name),
        };
        let clusters = names.map(|name| (name, cluster(name))).collect();
        Self { clusters }
    }

    /// Nothing if that is too costly.
    pub(super) fn selected(&self, wanted: &Clusters, work: &Work) -> Option<Selected> {
        let has_selectors = wanted.label_selector.is_some() || wanted.claim_selector.is_some();
        let names: BTreeSet<&str> = match &wanted.names {
            Some(names) => names.iter().map(|(name, _)| name.as_str()).collect(),
            None if has_selectors => self.clusters.keys().copied().collect(),
            None => BTreeSet::new(),
        };
        if !work.pay(names.len(), STEPS_PER_CLUSTER) {
            return None;
        }
        let known = names.into_iter().filter_map(|name| self.clusters.get(name));
        let (known, unknown): (Vec<&Cluster<'_>>, Vec<&Cluster<'_>>) =
            known.partition(|cluster| cluster.managed.is_some() || !has_selectors);
        let selected = known.into_iter().filter(|cluster| cluster.is_selected(wanted));
        let selected: Vec<&Cluster<'_>> = selected.collect();
        let admitted = selected.iter().copied().filter(|cluster| cluster.is_admitted);
        let names = |cluster: &Cluster<'_>| cluster.name.to_owned();
        Some(Selected {
            admitted: admitted.map(names).collect(),
            clusters: selected.into_iter().map(names).collect(),
            unknown: unknown.into_iter().map(names).collect(),
        })
    }
}

impl<'a> Cluster<'a> {
    fn is_selected(&self, wanted: &Clusters) -> bool {
        let matches = |selector: &Option<Selector>, value: &dyn Fn(&str) -> Option<&'a str>| {
            selector.as_ref().is_none_or(|selector| selector.matches(value))
        };
        matches(&wanted.label_selector, &|key| self.managed?.label(key))
            && matches(&wanted.claim_selector, &|name| self.claim(name))
    }

    /// The value that `${cluster....}` stands for.
    pub(super) fn value(&self, field: &ClusterField) -> Option<String> {
        let value = match field {
            ClusterField::Name => Some(self.name),
            ClusterField::Label(key) => self.managed?.label(key),
            ClusterField::Annotation(key) => self.managed?.annotation(key),
            ClusterField::Claim(name) => self.claim(name),
        };
        value.map(str::to_owned)
    }

    /// Of a repeated name, the last one counts (docs/systems/ocm-placement.md#claim-selectors).
    fn claim(&self, name: &str) -> Option<&'a str> {
        let claims = self.managed?.value.pointer("/status/clusterClaims")?.as_array()?;
        let text = |claim: &'a Value, key: &str| claim.get(key).and_then(Value::as_str);
        let mut claims = claims.iter().rev();
        claims.find_map(|claim| text(claim, "value").filter(|_| text(claim, "name") == Some(name)))
    }
}
