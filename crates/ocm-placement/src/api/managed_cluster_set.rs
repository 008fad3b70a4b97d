//! ManagedClusterSet and ManagedClusterSetBinding.

use apimachinery::LabelSelector;

use super::object::Object;
use super::reading::Reading;

/// A ManagedClusterSet (cluster.open-cluster-management.io/v1beta2).
#[derive(Debug, Clone)]
pub(crate) struct ManagedClusterSet<'a> {
    /// The object.
    pub(crate) object: Object<'a>,
    /// `metadata.name`.
    pub(crate) name: &'a str,
    /// `spec.clusterSelector`.
    pub(crate) membership: SetMembership,
}

/// How a set finds its clusters (docs/systems/ocm-placement.md#cluster-sets).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SetMembership {
    /// `ExclusiveClusterSetLabel`, the default: the clusters whose label names the set.
    ExclusiveLabel,
    /// `LabelSelector`; `None`, a missing selector, selects nothing, an empty one everything.
    Selector(Option<LabelSelector>),
}

impl<'a> ManagedClusterSet<'a> {
    pub(super) fn read(object: Object<'a>, reading: &mut Reading<'_, 'a>) -> Self {
        let selector = object.root().get("spec").get("clusterSelector");
        let labels = selector.get("labelSelector");
        // In Go a nil selector and an empty one differ, and `LabelSelectorAsSelector` makes nothing of the one and
        // everything of the other (kubernetes/apimachinery pkg/apis/meta/v1/helpers.go).
        let membership = match selector.text("selectorType") {
            Some("LabelSelector") => {
                SetMembership::Selector(labels.is_present().then(|| reading.selector(&labels)))
            }
            _ => SetMembership::ExclusiveLabel,
        };
        Self {
            object,
            name: object.name(),
            membership,
        }
    }
}

/// A ManagedClusterSetBinding (cluster.open-cluster-management.io/v1beta2).
///
/// The scheduler reads only where it is and what it is called: `spec.clusterSet` does not count, the admission
/// webhook forces it to be the name (docs/systems/ocm-placement.md#bindings).
#[derive(Debug, Clone)]
pub(crate) struct ManagedClusterSetBinding<'a> {
    /// The object.
    pub(crate) object: Object<'a>,
    /// The namespace that may use the set.
    pub(crate) namespace: &'a str,
    /// `metadata.name`: the set's name.
    pub(crate) name: &'a str,
}

impl<'a> ManagedClusterSetBinding<'a> {
    pub(super) fn read(object: Object<'a>) -> Self {
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: object.name(),
        }
    }
}
