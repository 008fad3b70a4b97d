//! ManagedClusterSet and ManagedClusterSetBinding.
//!
//! Owns: which clusters a set says it has, and which namespace a binding opens it to. Flows in: objects.
//! Flows out: views.

use crate::object::Object;
use apimachinery::LabelSelector;

/// A ManagedClusterSet (cluster.open-cluster-management.io/v1beta2).
#[derive(Debug, Clone)]
pub struct ManagedClusterSet<'a> {
    /// The object.
    pub object: &'a Object,
    /// `metadata.name`.
    pub name: &'a str,
    /// `spec.clusterSelector`.
    pub membership: SetMembership,
}

/// How a set finds its clusters (OCM placement 1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetMembership {
    /// `ExclusiveClusterSetLabel`, the default: the clusters whose label names the set.
    ExclusiveLabel,
    /// `LabelSelector`; `None`, a missing selector, selects nothing, an empty one everything.
    Selector(Option<LabelSelector>),
}

impl<'a> ManagedClusterSet<'a> {
    /// The view of an object that [`super::validate`] accepts.
    #[must_use]
    pub fn read(object: &'a Object) -> Self {
        let selector = object.root().get("spec").get("clusterSelector");
        let labels = selector.get("labelSelector");
        Self {
            object,
            name: &object.name,
            membership: match selector.get("selectorType").str() {
                Some("LabelSelector") => {
                    SetMembership::Selector(labels.is_present().then(|| LabelSelector::read(&labels)))
                }
                _ => SetMembership::ExclusiveLabel,
            },
        }
    }
}

/// A ManagedClusterSetBinding (cluster.open-cluster-management.io/v1beta2).
///
/// The scheduler reads only where it is and what it is called: `spec.clusterSet` does not count, the admission
/// webhook forces it to be the name (OCM placement 1.1).
#[derive(Debug, Clone)]
pub struct ManagedClusterSetBinding<'a> {
    /// The object.
    pub object: &'a Object,
    /// The namespace that may use the set.
    pub namespace: &'a str,
    /// `metadata.name`: the set's name.
    pub name: &'a str,
    /// `spec.clusterSet`, `""` when absent.
    pub cluster_set: &'a str,
}

impl<'a> ManagedClusterSetBinding<'a> {
    /// The view of an object that [`super::validate`] accepts.
    #[must_use]
    pub fn read(object: &'a Object) -> Self {
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: &object.name,
            cluster_set: object
                .root()
                .get("spec")
                .get("clusterSet")
                .str()
                .unwrap_or_default(),
        }
    }
}
