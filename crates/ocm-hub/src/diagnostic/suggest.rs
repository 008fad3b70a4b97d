//! The nearest known name for a misspelled one: how similar is similar enough.

use std::collections::HashMap;
use std::sync::OnceLock;

use strsim::osa_distance;

/// Longer names are never compared.
const LONGEST: usize = 128;

/// The most letters of a candidate times letters of all names that it is compared with: 3,000 names of 18 letters. A
/// hub may have a thousand long names, and misspell each of them beyond recognition.
const MOST_LETTERS: usize = 1_000_000;

/// Endings of the names of kinds and resources, written together with the word before: `dnspolicies`.
const ENDINGS: [&str; 4] = ["policies", "policy", "routes", "route"];

/// The known name that `candidate` was probably meant to be.
///
/// A name that differs in case only wins; otherwise the one with the fewest edits (insert, delete, replace,
/// swap neighbors that are not edited otherwise; case ignored), which must be at most a third of the longer name and
/// fewer than the characters typed. Where both have equally many words, none of them may differ by more than a third:
/// what they share does not make `acmepolicies` near to `dnspolicies`. Between equals the first in byte order wins, so
/// the order of
/// `known` does not matter. A candidate that is known itself is its own nearest name.
///
/// ```
/// use ocm_hub::diagnostic::nearest;
///
/// assert_eq!(nearest("gatewayclassname", ["gatewayClassName", "listeners"]), Some("gatewayClassName"));
/// assert_eq!(nearest("lisetners", ["gatewayClassName", "listeners"]), Some("listeners"));
/// assert_eq!(nearest("colour", ["gatewayClassName", "listeners"]), None);
/// ```
pub fn nearest<'k>(candidate: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let known: Vec<Spelled<'k>> = known.into_iter().filter_map(Spelled::new).collect();
    Spelled::new(candidate)?.nearest(&known).map(|(_, name)| name)
}

/// The help that suggests the [nearest](nearest()) known name.
pub fn did_you_mean<'k>(candidate: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    nearest(candidate, known).map(|near| format!("did you mean `{near}`?"))
}

/// Names that many misspelled ones are compared with: a hub may have a thousand of each.
#[derive(Debug)]
pub struct NameIndex<'k> {
    names: Vec<Spelled<'k>>,
    /// The positions of the names by each of their [`deletions`]. Two names that are one edit apart have one in common, so
    /// most misspelled names are compared with a few others only. Made for the first misspelled name.
    by_deletion: OnceLock<HashMap<String, Vec<usize>>>,
}

impl<'k> NameIndex<'k> {
    /// Reads each name once.
    pub fn new(names: impl IntoIterator<Item = &'k str>) -> Self {
        Self {
            names: names.into_iter().filter_map(Spelled::new).collect(),
            by_deletion: OnceLock::new(),
        }
    }

    /// The result of [`nearest()`]; where the names are very many, only one that is a single edit away.
    pub fn nearest(&self, candidate: &str) -> Option<&'k str> {
        let candidate = Spelled::new(candidate)?;
        let by_deletion = self.by_deletion.get_or_init(|| {
            let mut by_deletion: HashMap<String, Vec<usize>> = HashMap::new();
            for (position, name) in self.names.iter().enumerate() {
                for deletion in deletions(&name.lower) {
                    by_deletion.entry(deletion).or_default().push(position);
                }
            }
            by_deletion
        });
        let near = deletions(&candidate.lower).filter_map(|deletion| by_deletion.get(&deletion));
        let near = near.flatten().filter_map(|position| self.names.get(*position));
        let within_one_edit = candidate.nearest(near).filter(|(distance, _)| *distance <= 1);
        let letters = self.names.iter().map(|name| name.length);
        let is_affordable = letters.sum::<usize>().saturating_mul(candidate.length) <= MOST_LETTERS;
        let best = within_one_edit.or_else(|| candidate.nearest(self.names.iter().filter(|_| is_affordable)));
        best.map(|(_, name)| name)
    }
}

/// The name itself, then the name without each one of its characters.
fn deletions(name: &str) -> impl Iterator<Item = String> {
    let without = name.char_indices().map(|(at, character)| {
        let (before, after) = name.split_at(at);
        [before, after.strip_prefix(character).unwrap_or_default()].concat()
    });
    std::iter::once(name.to_owned()).chain(without)
}

/// A name, as it is compared.
#[derive(Debug)]
struct Spelled<'k> {
    name: &'k str,
    lower: String,
    /// In characters.
    length: usize,
}

impl<'k> Spelled<'k> {
    /// Nothing, for a name that is compared with none.
    fn new(name: &'k str) -> Option<Self> {
        let length = name.chars().take(LONGEST + 1).count();
        (1..=LONGEST).contains(&length).then(|| Self {
            name,
            lower: name.to_lowercase(),
            length,
        })
    }

    /// The nearest of some names, and how many edits it is away.
    fn nearest<'n, 'o: 'n>(
        &self,
        known: impl IntoIterator<Item = &'n Spelled<'o>>,
    ) -> Option<(usize, &'o str)> {
        let mut best: Option<(usize, &'o str)> = None;
        for known in known {
            if known.name == self.name {
                return Some((0, known.name));
            }
            let longer = self.length.max(known.length);
            let most = best.map_or(longer / 3, |(distance, _)| distance.min(longer / 3));
            // The difference in length is a lower bound of the distance, and cheap.
            if self.length.abs_diff(known.length) > most {
                continue;
            }
            let distance = osa_distance(&self.lower, &known.lower);
            let near = distance == 0
                || (distance <= most_edits(longer)
                    && distance < self.length
                    && words_are_near(&self.lower, &known.lower));
            if near && best.is_none_or(|best| (distance, known.name) < best) {
                best = Some((distance, known.name));
            }
        }
        best
    }
}

/// How many edits a misspelling of a name of this length may have.
fn most_edits(length: usize) -> usize {
    length.max(3) / 3
}

/// Whether each word is a misspelling of the one in its place, apart from endings that both have; names with more words
/// than the other are compared as a whole only.
fn words_are_near(one: &str, other: &str) -> bool {
    let words = |name| str::split(name, |letter: char| !letter.is_alphanumeric());
    words(one).count() != words(other).count()
        || words(one).zip(words(other)).all(|(one, other)| {
            let (one, other) = stem(one).zip(stem(other)).unwrap_or((one, other));
            let longer = one.chars().count().max(other.chars().count());
            osa_distance(one, other) <= most_edits(longer)
        })
}

fn stem(word: &str) -> Option<&str> {
    ENDINGS.iter().find_map(|ending| word.strip_suffix(ending))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_differs_in_case_only_wins_over_a_near_one() {
        assert_eq!(
            nearest("targetref", ["targetRefs", "targetRef"]),
            Some("targetRef")
        );
        assert_eq!(nearest("API", ["ABI", "api"]), Some("api"));
    }

    #[test]
    fn a_known_candidate_is_its_own_nearest() {
        assert_eq!(nearest("Ab", ["AB", "ab", "Ab"]), Some("Ab"));
    }

    #[test]
    fn swapped_missing_extra_and_wrong_characters_are_found() {
        let known = [
            "policiesToSync",
            "downstreamClass",
            "rawFeedback",
            "workPer",
            "maxWorkBytes",
        ];
        for (typed, meant) in [
            ("policesToSync", "policiesToSync"),
            ("policieToSyncs", "policiesToSync"),
            ("downstreamclas", "downstreamClass"),
            ("rawFeedbak", "rawFeedback"),
            ("wrokPer", "workPer"),
            ("maxWorkByte", "maxWorkBytes"),
        ] {
            assert_eq!(nearest(typed, known), Some(meant), "{typed}");
        }
    }

    #[test]
    fn what_is_far_is_not_offered() {
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("ab", ["cd"]), None);
        assert_eq!(nearest("gateway", ["listener"]), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest("a", []), None);
        assert_eq!(nearest(&"a".repeat(200), ["a"]), None);
    }

    #[test]
    fn what_names_share_does_not_make_another_word_near() {
        for (typed, known) in [
            ("acmepolicies", "dnspolicies"),
            ("tlspolicy", "dnspolicy"),
            ("tcproutes", "udproutes"),
            ("gateway.acme.org", "gateway.nginx.org"),
            ("networking.aks.io", "networking.k8s.io"),
            ("prod-web-eu", "prod-web-us"),
        ] {
            assert_eq!(nearest(typed, [known]), None, "{typed}");
        }
        for (typed, known) in [
            ("authpolicy", "authpolicies"),
            ("authpolicys", "authpolicies"),
            ("htproutes", "httproutes"),
            ("gateway.ngnix.org", "gateway.nginx.org"),
            ("prodweb-eu", "prod-web-eu"),
            ("eu-7", "eu-1"),
        ] {
            assert_eq!(nearest(typed, [known]), Some(known), "{typed}");
        }
    }

    #[test]
    fn known_names_are_looked_at_once_for_all_misspelled_ones() {
        let known = NameIndex::new(["gateway-1", "gateway-2", "listeners"]);
        assert_eq!(known.nearest("gatewai-2"), Some("gateway-2"));
        assert_eq!(known.nearest("gateway-1"), Some("gateway-1"));
        assert_eq!(known.nearest("colour"), None);
    }

    #[test]
    fn as_many_letters_as_there_are_bits_are_compared() {
        let long = "ab".repeat(LONGEST / 2);
        assert_eq!(
            nearest(&long.replacen("ab", "ba", 1), [long.as_str()]),
            Some(long.as_str())
        );
        // Of 'İ' the lower case has two characters.
        let longer = "İ".repeat(LONGEST);
        assert_eq!(
            nearest(&longer.replacen('İ', "I", 1), [longer.as_str()]),
            Some(longer.as_str())
        );
    }

    proptest! {
        #[test]
        fn names_that_are_looked_at_once_are_found_as_those_that_are_not(
            typed in "[abAé-]{0,7}", known in proptest::collection::vec("[abBé-]{1,7}", 0..12)
        ) {
            let names = || known.iter().map(String::as_str);
            prop_assert_eq!(NameIndex::new(names()).nearest(&typed), nearest(&typed, names()));
        }

        #[test]
        fn the_order_of_the_known_names_never_matters(
            candidate in "[a-c]{1,5}",
            mut known in prop::collection::vec("[a-cA-C]{1,5}", 0..12),
        ) {
            let first = nearest(&candidate, known.iter().map(String::as_str)).map(str::to_owned);
            known.reverse();
            prop_assert_eq!(&first, &nearest(&candidate, known.iter().map(String::as_str)).map(str::to_owned));
            known.sort_unstable();
            prop_assert_eq!(&first, &nearest(&candidate, known.iter().map(String::as_str)).map(str::to_owned));
        }
    }
}
