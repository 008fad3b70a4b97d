//! Which clusters a run is responsible for: `--clusters` and `--shard`.
//!
//! A name alone decides, regardless of which clusters exist. That is what makes a shard stable.

use std::str::FromStr;

use globset::{Glob, GlobMatcher};
use sha2::{Digest as _, Sha256};

/// One of `total` parts of a fleet, from 1.
///
/// A cluster's part follows from its name alone: the first 8 bytes of its SHA-256, as a big-endian number, modulo
/// `total`. Its position in the sorted list would make the parts more even, but a cluster that is added or removed
/// would move every cluster after it to another part, and with them the ownership of their files: two shards that saw
/// the fleet before and after would both prune, or both leave, the same directory. By its name a cluster that left is
/// still known to be of the part that has to prune it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    total: u32,
}

impl Shard {
    /// The part `index` of `total`; `None` unless `1 <= index <= total`.
    pub fn new(index: u32, total: u32) -> Option<Self> {
        (1..=total).contains(&index).then_some(Self { index, total })
    }

    /// Whether a cluster of this name is in this part.
    ///
    /// ```
    /// use spokewright::render::Shard;
    ///
    /// let shards: Vec<Shard> = (1..=4).filter_map(|index| Shard::new(index, 4)).collect();
    /// assert_eq!(shards.iter().filter(|shard| shard.holds("eu-1")).count(), 1);
    /// ```
    pub fn holds(self, cluster: &str) -> bool {
        let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(Sha256::digest(cluster.as_bytes()));
        let number = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        number.checked_rem(u64::from(self.total)) == Some(u64::from(self.index.saturating_sub(1)))
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.index, self.total)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| -> Option<u32> {
            // `parse` alone would take a sign.
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().ok()).flatten()
        };
        let numbers = text
            .split_once('/')
            .and_then(|(index, total)| Some((number(index)?, number(total)?)));
        let (index, total) = numbers.ok_or("write I/N, such as 1/4 for the first of four parts")?;
        let shard = Self::new(index, total);
        shard.ok_or_else(|| format!("there is no part {index} of {total}: parts are numbered from 1"))
    }
}

/// Names and globs of clusters: `--clusters eu-1,us-*`.
#[derive(Debug, Clone)]
pub struct ClusterNames {
    names: Vec<GlobMatcher>,
}

impl ClusterNames {
    /// Reads texts, each of which holds one or several, with commas between them. A comma inside braces belongs to the
    /// glob: `{eu,us}-1`. `None` if there is no text: a text without a name is wrong, and never means all clusters.
    ///
    /// # Errors
    /// A name is empty, or not a glob.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Option<Self>, String> {
        let names = texts.into_iter().flat_map(between_commas).map(|name| {
            if name.is_empty() {
                return Err("has an empty name".to_owned());
            }
            let glob = Glob::new(name).map_err(|error| format!("has an invalid glob: {error}"))?;
            Ok(glob.compile_matcher())
        });
        let names = names.collect::<Result<Vec<_>, _>>()?;
        Ok((!names.is_empty()).then_some(Self { names }))
    }

    /// Whether one of them is, or matches, this name.
    pub fn admit(&self, cluster: &str) -> bool {
        self.names.iter().any(|name| name.is_match(cluster))
    }

    /// The first one that none of these clusters has: a typo, more often than not.
    pub fn unknown<'k>(&self, known: impl Iterator<Item = &'k str> + Clone) -> Option<&str> {
        let unknown = |name: &&GlobMatcher| !known.clone().any(|cluster| name.is_match(cluster));
        self.names.iter().find(unknown).map(|name| name.glob().glob())
    }
}

/// The parts of a text between commas that are outside braces, without spaces around them.
fn between_commas(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = text.split(move |character| {
        match character {
            '{' => depth = depth.saturating_add(1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(str::trim)
}

/// The clusters that a run speaks for; all of them unless something narrows them.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// `--clusters`.
    pub clusters: Option<ClusterNames>,
    /// `--shard`.
    pub shard: Option<Shard>,
}

impl Selection {
    /// Whether the run speaks for a cluster of this name, whether or not there is one.
    pub fn admits(&self, cluster: &str) -> bool {
        self.matches(cluster) && self.shard.is_none_or(|shard| shard.holds(cluster))
    }

    /// Whether the run is responsible for every cluster.
    pub const fn is_whole(&self) -> bool {
        self.clusters.is_none() && self.shard.is_none()
    }

    /// Whether `--clusters` accepts a name, regardless of the shard.
    pub fn matches(&self, cluster: &str) -> bool {
        self.clusters.as_ref().is_none_or(|names| names.admit(cluster))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clusters_are_named_between_commas_again_and_again_and_by_globs() {
        let names = |texts: &[&str]| ClusterNames::parse(texts.iter().copied());
        let named = names(&["eu-1, us-*", "{ap,sa}-1"]).unwrap().unwrap();
        for there in ["eu-1", "us-1", "us-22", "ap-1", "sa-1"] {
            assert!(named.admit(there), "{there}");
        }
        for other in ["eu-2", "ap-2", "eu-1, us-1", ""] {
            assert!(!named.admit(other), "{other}");
        }
        assert!(names(&[]).unwrap().is_none());
        for wrong in ["", " ", "eu-1,", ",", "eu-[1"] {
            assert!(names(&[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_name_has_to_be_that_of_a_cluster() {
        let named = ClusterNames::parse(["eu-*,us-9,ap-*"]).unwrap().unwrap();
        assert_eq!(named.unknown(["eu-1", "us-9", "ap-1"].into_iter()), None);
        assert_eq!(named.unknown(["eu-1", "us-1", "ap-1"].into_iter()), Some("us-9"));
        assert_eq!(named.unknown(std::iter::empty()), Some("eu-*"));
    }

    #[test]
    fn the_assignment_never_changes() {
        // Another one would move files between jobs that run different versions.
        let part = |name: &str, total: u32| {
            (1..=total).find(|index| Shard::new(*index, total).is_some_and(|shard| shard.holds(name)))
        };
        let parts: Vec<_> = ["eu-1", "eu-2", "us-1", "ap-1", "cluster-1000"]
            .into_iter()
            .map(|name| part(name, 8).unwrap())
            .collect();
        assert_eq!(parts, EXPECTED);
    }

    const EXPECTED: [u32; 5] = [4, 3, 2, 8, 8];

    #[test]
    fn parts_are_numbered_from_one_and_written_with_a_slash() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, total: 4 }));
        assert_eq!("1/1".parse::<Shard>().unwrap().to_string(), "1/1");
        for text in [
            "",
            "1",
            "/",
            "1/",
            "/2",
            "a/b",
            "-1/2",
            "+1/2",
            "1/2/3",
            " 1/2",
            "1/99999999999",
        ] {
            assert_eq!(
                text.parse::<Shard>(),
                Err("write I/N, such as 1/4 for the first of four parts".to_owned()),
                "{text:?}"
            );
        }
        for (text, index, total) in [("0/4", 0, 4), ("5/4", 5, 4), ("0/0", 0, 0), ("1/0", 1, 0)] {
            let wrong = format!("there is no part {index} of {total}: parts are numbered from 1");
            assert_eq!(text.parse::<Shard>(), Err(wrong));
        }
    }

    #[test]
    fn a_thousand_clusters_are_spread_over_the_parts() {
        for total in [2, 3, 8, 10] {
            for index in 1..=total {
                let shard = Shard::new(index, total).unwrap();
                let count = (0..1000)
                    .filter(|number| shard.holds(&format!("cluster-{number}")))
                    .count();
                let even = 1000 / total as usize;
                assert!((even * 2 / 3..=even * 4 / 3).contains(&count), "{shard}: {count}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_cluster_is_in_exactly_one_part(name in ".{0,12}", total in 1_u32..40) {
            let parts = (1..=total).filter_map(|index| Shard::new(index, total));
            prop_assert_eq!(parts.filter(|shard| shard.holds(&name)).count(), 1);
        }
    }
}
