//! Says once what many clusters say alike.
//!
//! Owns: which clusters are named together. Flows in: what each cluster says. Flows out: the same by what is said. Must
//! not know: what it is about, or how many names fit into a line.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// Each thing that is said, in the order in which it was first said, with the clusters that say it, each once. What one
/// cluster says stands together.
pub(super) fn alike<'c, S: Clone + Eq + Hash>(
    said: impl IntoIterator<Item = (&'c str, S)>,
) -> Vec<(S, Vec<&'c str>)> {
    let mut all: Vec<(S, Vec<&str>)> = Vec::new();
    let mut numbers: HashMap<S, usize> = HashMap::new();
    for (cluster, said) in said {
        match numbers.entry(said) {
            Entry::Occupied(entry) => {
                let known = all.get_mut(*entry.get());
                if let Some((_, clusters)) = known.filter(|(_, known)| known.last() != Some(&cluster)) {
                    clusters.push(cluster);
                }
            }
            Entry::Vacant(entry) => {
                all.push((entry.key().clone(), vec![cluster]));
                entry.insert(all.len().saturating_sub(1));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_say_the_same_stand_together_each_once_and_what_was_said_first_comes_first() {
        let said = [("a", 2), ("a", 2), ("b", 1), ("c", 2), ("c", 1)];
        assert_eq!(alike(said), [(2, vec!["a", "c"]), (1, vec!["b", "c"])]);
        assert_eq!(alike::<u8>([]), []);
    }
}
