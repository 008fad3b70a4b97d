//! Typed numbers for each kind of thing, so they cannot be confused. [`Distinct`] assigns them.

use std::hash::Hash;
use std::marker::PhantomData;

use apimachinery::row_ids;
pub(crate) use apimachinery::{RowId, Table};
use indexmap::IndexSet;

row_ids! {
    /// A ManagedCluster, in the order of the names: comparing numbers compares names.
    pub(crate) ClusterId,
    /// A name that is in decisions; those of clusters come first and have their numbers.
    pub(crate) NameId,
    /// A ManagedClusterSet, in the order of the names.
    pub(crate) SetId,
    /// A Placement, in the order of namespace and name.
    pub(crate) PlacementId,
    /// A PlacementDecision of the input, in the order of namespace and name.
    pub(crate) DecisionId,
    /// A distinct choice of cluster sets.
    pub(crate) EligibleId,
    /// A distinct list of predicates.
    pub(crate) PredicatesId,
    /// A distinct cluster selector.
    pub(crate) SelectorId,
    /// A distinct list of taints.
    pub(crate) TaintsId,
    /// A distinct list of tolerations.
    pub(crate) TolerationsId,
    /// A distinct outcome of the filters.
    pub(crate) FilteredId,
}

impl From<ClusterId> for NameId {
    fn from(cluster: ClusterId) -> Self {
        Self(cluster.0)
    }
}

/// Numbers for what occurs many times and is worked out once.
#[derive(Debug)]
pub(crate) struct Distinct<I, K> {
    keys: IndexSet<K>,
    ids: PhantomData<I>,
}

impl<I: RowId, K: Eq + Hash> Distinct<I, K> {
    pub(crate) fn new() -> Self {
        Self {
            keys: IndexSet::new(),
            ids: PhantomData,
        }
    }

    /// The number of a key, the same for equal ones.
    pub(crate) fn id(&mut self, key: K) -> I {
        let (position, _) = self.keys.insert_full(key);
        I::from_row(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// A column of what each key becomes.
    pub(crate) fn map<T>(self, make: impl FnMut(K) -> T) -> Table<I, T> {
        self.keys.into_iter().map(make).collect()
    }
}
