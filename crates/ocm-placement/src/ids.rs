//! Typed numbers for each kind of thing, and the columns that they index.
//!
//! Owns: a type for each kind of number, so that they cannot be confused; [`Column`], a list with such numbers as
//! indices; [`Distinct`], which assigns them. Flows in: lists. Flows out: total lookups.
//! Must not know: what is in a column.

use std::collections::HashMap;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number that is an index of its own kind of column.
pub(crate) trait Id: Copy {
    fn new(position: usize) -> Self;
    fn position(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(u32);

        impl Id for $name {
            fn new(position: usize) -> Self {
                // 2^32 objects do not fit into the memory that holds their text.
                Self(u32::try_from(position).unwrap_or(u32::MAX))
            }

            fn position(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

ids! {
    /// A ManagedCluster, in the order of the names: comparing numbers compares names.
    ClusterId;
    /// A name that is in decisions; those of clusters come first and have their numbers.
    NameId;
    /// A ManagedClusterSet, in the order of the names.
    SetId;
    /// A Placement, in the order of namespace and name.
    PlacementId;
    /// A PlacementDecision of the input, in the order of namespace and name.
    DecisionId;
    /// A distinct choice of cluster sets.
    EligibleId;
    /// A distinct list of predicates.
    PredicatesId;
    /// A distinct cluster selector.
    SelectorId;
    /// A distinct list of taints.
    TaintsId;
    /// A distinct list of tolerations.
    TolerationsId;
    /// A distinct outcome of the filters.
    FilteredId;
}

impl From<ClusterId> for NameId {
    fn from(cluster: ClusterId) -> Self {
        Self(cluster.0)
    }
}

/// A list whose indices are numbers of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column<I, T> {
    values: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I, T> Default for Column<I, T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            ids: PhantomData,
        }
    }
}

impl<I: Id, T> Column<I, T> {
    pub(crate) fn new(values: Vec<T>) -> Self {
        Self {
            values,
            ids: PhantomData,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn push(&mut self, value: T) -> I {
        let id = I::new(self.values.len());
        self.values.push(value);
        id
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.values.len()).map(I::new)
    }

    pub(crate) fn values(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.ids().zip(&self.values)
    }

    pub(crate) fn binary_search_by(&self, order: impl FnMut(&T) -> std::cmp::Ordering) -> Option<I> {
        self.values.binary_search_by(order).ok().map(I::new)
    }
}

impl<I: Id, T> FromIterator<T> for Column<I, T> {
    fn from_iter<V: IntoIterator<Item = T>>(values: V) -> Self {
        Self::new(values.into_iter().collect())
    }
}

// A number is made only where its column is filled, so no input leads beyond an end. If a mistake ever does, the run
// must stop: another cluster in a decision would be worse.
#[expect(
    clippy::indexing_slicing,
    reason = "the one place where a number becomes a position"
)]
impl<I: Id, T> Index<I> for Column<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.values[id.position()]
    }
}

#[expect(clippy::indexing_slicing, reason = "as above")]
impl<I: Id, T> IndexMut<I> for Column<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.values[id.position()]
    }
}

/// Numbers for what occurs many times and is worked out once.
#[derive(Debug)]
pub(crate) struct Distinct<I, K> {
    ids: HashMap<K, I>,
    keys: Vec<K>,
}

impl<I: Id, K: Clone + Eq + Hash> Distinct<I, K> {
    pub(crate) fn new() -> Self {
        Self {
            ids: HashMap::new(),
            keys: Vec::new(),
        }
    }

    /// The number of a key, the same for equal ones.
    pub(crate) fn id(&mut self, key: K) -> I {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = I::new(self.keys.len());
        self.keys.push(key.clone());
        self.ids.insert(key, id);
        id
    }

    /// A column of what each key becomes.
    pub(crate) fn map<T>(self, make: impl FnMut(K) -> T) -> Column<I, T> {
        self.keys.into_iter().map(make).collect()
    }
}
