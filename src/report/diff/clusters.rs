//! Sets of clusters: a few words for one, and the clusters that are alike on both sides, of which one is compared for all.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::side::{Which, is_cluster};
use crate::diagnostic::first_names;

/// How many names are listed at most.
const LISTED: usize = 5;
/// How many names are listed for many.
const LISTED_OF_MANY: usize = 3;

/// `eu-1`, `3 clusters: a, b, c`, `187 clusters (eu-*)`, `all 1000 clusters`, `999 clusters, all but eu-1`, or
/// `187 clusters: eu-001, eu-002, eu-003 and 184 more`.
///
/// `all` is sorted; `members` are ascending positions in it. A glob is used only where it names exactly the
/// members among `all`.
pub(crate) fn describe(all: &[String], members: &[u32]) -> String {
    let members = members.iter();
    let names = members.filter_map(|member| all.get(usize::try_from(*member).ok()?));
    describe_names(all, &names.collect::<Vec<_>>())
}

/// The same for `names`, which are sorted and are in `all`.
pub(super) fn describe_names(all: &[String], names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let [first, .., last] = names.as_slice() else {
        return names.first().copied().unwrap_or("no cluster").to_owned();
    };
    let count = names.len();
    let fleet = all.iter().filter(|name| is_cluster(name)).count();
    if count == fleet && names.iter().all(|name| is_cluster(name)) {
        return format!("all {count} clusters");
    }
    if count <= LISTED {
        return format!("{count} clusters: {}", names.join(", "));
    }
    if let Some(prefix) = common_prefix(first, last) {
        // Sorted names with one prefix stand side by side.
        let start = all.partition_point(|name| name.as_str() < prefix);
        let matching = all.iter().skip(start).take_while(|name| name.starts_with(prefix));
        if matching.count() == count {
            return format!("{count} clusters ({prefix}*)");
        }
    }
    if count < fleet && fleet.saturating_sub(count) <= LISTED_OF_MANY {
        let missing = all.iter().map(String::as_str).filter(|name| is_cluster(name));
        let missing: Vec<&str> = missing
            .filter(|name| names.binary_search(name).is_err())
            .collect();
        return format!("{count} clusters, all but {}", missing.join(", "));
    }
    format!("{count} clusters: {}", first_names(names, LISTED_OF_MANY))
}

/// The common start of two names, up to and including the last separator; the names between two sorted ones share it.
fn common_prefix<'a>(first: &'a str, last: &str) -> Option<&'a str> {
    let same = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b);
    let shared = first.get(..same.count())?;
    let end = shared.rfind(['-', '.'])?.checked_add(1)?;
    shared.get(..end)
}

/// The position of a class of clusters that one side evaluated together.
pub(super) type Class = usize;

/// The clusters of both sides in groups that are alike.
pub(super) struct Alike<'s> {
    pub(super) groups: Vec<Group<'s>>,
    /// By side and class: the positions of the groups that are in it.
    of_class: [Vec<Vec<usize>>; 2],
    /// The names of those that were asked for together.
    joined: HashMap<Vec<usize>, Arc<Vec<String>>>,
}

/// Clusters that are in the same classes on both sides: these, ascending, and their names, sorted.
pub(super) type Group<'s> = ([Vec<Class>; 2], Vec<&'s str>);

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
        Self {
            groups: groups.into_iter().collect(),
            of_class,
            joined: HashMap::new(),
        }
    }

    /// The positions of the groups that are in some classes of a side.
    pub(super) fn groups(&self, side: Which, classes: &[Class]) -> BTreeSet<usize> {
        let of_class = side.of(&self.of_class);
        let groups = classes.iter().filter_map(|class| of_class.get(*class));
        groups.flatten().copied().collect()
    }

    /// The classes of a side that a group is in.
    pub(super) fn classes(&self, side: Which, group: usize) -> &[Class] {
        let group = self.groups.get(group);
        let classes = group.map(|(classes, _)| side.of(classes));
        classes.map(Vec::as_slice).unwrap_or_default()
    }

    /// The names of the clusters of some groups, sorted.
    pub(super) fn names(&mut self, groups: &[usize]) -> Arc<Vec<String>> {
        if let Some(known) = self.joined.get(groups) {
            return Arc::clone(known);
        }
        let there = groups.iter().filter_map(|group| self.groups.get(*group));
        let clusters = there.flat_map(|(_, clusters)| clusters);
        let mut names: Vec<String> = clusters.map(|name| (*name).to_owned()).collect();
        names.sort_unstable();
        let names = Arc::new(names);
        self.joined.insert(groups.to_vec(), Arc::clone(&names));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> Vec<String> {
        let mut names: Vec<String> = (1..=20).map(|n| format!("eu-{n:02}")).collect();
        names.extend((1..=10).map(|n| format!("us-{n:02}")));
        names
    }

    #[test]
    fn a_glob_stands_only_for_exactly_its_clusters() {
        let all = fleet();
        let eu: Vec<u32> = (0..20).collect();
        assert_eq!(describe(&all, &eu), "20 clusters (eu-*)");
        let most: Vec<u32> = (0..19).collect();
        assert_eq!(
            describe(&all, &most),
            "19 clusters: eu-01, eu-02, eu-03 and 16 more"
        );
        let mixed: Vec<u32> = (10..25).collect();
        assert_eq!(
            describe(&all, &mixed),
            "15 clusters: eu-11, eu-12, eu-13 and 12 more"
        );
    }

    #[test]
    fn few_are_listed_one_is_named_and_all_are_all() {
        let all = fleet();
        assert_eq!(describe(&all, &[3]), "eu-04");
        assert_eq!(describe(&all, &[0, 1, 29]), "3 clusters: eu-01, eu-02, us-10");
        let everything: Vec<u32> = (0..30).collect();
        assert_eq!(describe(&all, &everything), "all 30 clusters");
        assert_eq!(describe(&all, &[]), "no cluster");
    }
}
