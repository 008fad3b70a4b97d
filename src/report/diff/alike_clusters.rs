//! The clusters that are alike on both sides: what changes on one of them changes on all.
//!
//! Two clusters are alike if each side evaluated them together. A thousand of them are compared once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The position of a class of clusters that one side evaluated together.
pub(super) type Class = usize;

/// The clusters of both sides in groups that are alike.
pub(super) struct Alike<'s> {
    groups: Vec<Group<'s>>,
    /// By side and class: the positions of the groups that are in it.
    of_class: [Vec<Vec<usize>>; 2],
    /// The names of those that were asked for together.
    joined: HashMap<Vec<usize>, Arc<Vec<String>>>,
}

/// Clusters that are in the same classes on both sides.
struct Group<'s> {
    /// By side, ascending.
    classes: [Vec<Class>; 2],
    /// Sorted.
    clusters: Vec<&'s str>,
}

impl<'s> Alike<'s> {
    pub(super) fn new(sides: [&'s [Vec<String>]; 2]) -> Self {
        let mut of_cluster: BTreeMap<&str, [Vec<Class>; 2]> = BTreeMap::new();
        for (side, classes) in sides.into_iter().enumerate() {
            for (class, clusters) in classes.iter().enumerate() {
                for cluster in clusters {
                    if let Some(of_side) = of_cluster.entry(cluster).or_default().get_mut(side) {
                        of_side.push(class);
                    }
                }
            }
        }
        let mut groups: BTreeMap<[Vec<Class>; 2], Vec<&str>> = BTreeMap::new();
        for (cluster, classes) in of_cluster {
            groups.entry(classes).or_default().push(cluster);
        }
        let mut of_class = sides.map(|classes| vec![Vec::new(); classes.len()]);
        for (position, (classes, _)) in groups.iter().enumerate() {
            for (of_side, classes) in of_class.iter_mut().zip(classes) {
                for class in classes {
                    if let Some(there) = of_side.get_mut(*class) {
                        there.push(position);
                    }
                }
            }
        }
        let groups = groups.into_iter();
        Self {
            groups: groups
                .map(|(classes, clusters)| Group { classes, clusters })
                .collect(),
            of_class,
            joined: HashMap::new(),
        }
    }

    /// The positions of the groups that are in some classes of a side.
    pub(super) fn groups(&self, side: usize, classes: &[Class]) -> BTreeSet<usize> {
        let of_class = self.of_class.get(side).map(Vec::as_slice).unwrap_or_default();
        let groups = classes.iter().filter_map(|class| of_class.get(*class));
        groups.flatten().copied().collect()
    }

    /// The positions of all groups.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.groups.len()
    }

    /// The classes of a side that a group is in.
    pub(super) fn classes(&self, side: usize, group: usize) -> &[Class] {
        let classes = self.groups.get(group).and_then(|group| group.classes.get(side));
        classes.map(Vec::as_slice).unwrap_or_default()
    }

    /// The names of the clusters of some groups, sorted.
    pub(super) fn names(&mut self, groups: &[usize]) -> Arc<Vec<String>> {
        if let Some(known) = self.joined.get(groups) {
            return Arc::clone(known);
        }
        let there = groups.iter().filter_map(|group| self.groups.get(*group));
        let clusters = there.flat_map(|group| &group.clusters);
        let mut names: Vec<String> = clusters.map(|name| (*name).to_owned()).collect();
        names.sort_unstable();
        let names = Arc::new(names);
        self.joined.insert(groups.to_vec(), Arc::clone(&names));
        names
    }
}
