//! The nearest known name for a misspelled one.
//!
//! Owns: how near is near enough. Flows in: a name, known ones. Flows out: one of them, or none. Must not know:
//! what is named.

use strsim::damerau_levenshtein;

/// Longer names are never compared: the distance costs the product of the lengths.
const LONGEST: usize = 128;

/// What names of kinds and resources end with, written together with the word before it: `dnspolicies`.
const ENDINGS: [&str; 4] = ["policies", "policy", "routes", "route"];

/// The known name that `candidate` was probably meant to be.
///
/// A name that differs in case only wins; otherwise the one with the fewest edits (insert, delete, replace,
/// swap neighbors; case ignored), which must be at most a third of the longer name and fewer than the
/// characters typed. Where both have equally many words, none of them may differ by more than a third: what they share
/// does not make `acmepolicies` near to `dnspolicies`. Between equals the first in byte order wins, so the order of
/// `known` does not matter. A candidate that is known itself is its own nearest name.
///
/// ```
/// use spokewright::diagnostic::nearest;
///
/// assert_eq!(nearest("gatewayclassname", ["gatewayClassName", "listeners"]), Some("gatewayClassName"));
/// assert_eq!(nearest("lisetners", ["gatewayClassName", "listeners"]), Some("listeners"));
/// assert_eq!(nearest("colour", ["gatewayClassName", "listeners"]), None);
/// ```
pub fn nearest<'k>(candidate: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let length = bounded_length(candidate)?;
    let lower = candidate.to_lowercase();
    known
        .into_iter()
        .filter_map(|name| {
            let name_length = bounded_length(name)?;
            if name == candidate {
                return Some(((0, 0), name));
            }
            let longer = length.max(name_length);
            // The difference in length is a lower bound of the distance, and cheap.
            if length.abs_diff(name_length) > longer / 3 {
                return None;
            }
            let name_lower = name.to_lowercase();
            let distance = damerau_levenshtein(&lower, &name_lower);
            let near = distance == 0
                || (distance <= most_edits(longer)
                    && distance < length
                    && words_are_near(&lower, &name_lower));
            near.then_some(((1, distance), name))
        })
        .min()
        .map(|(_, name)| name)
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
            damerau_levenshtein(one, other) <= most_edits(longer)
        })
}

fn stem(word: &str) -> Option<&str> {
    ENDINGS.iter().find_map(|ending| word.strip_suffix(ending))
}

/// Characters of `name`, unless there are none or too many.
fn bounded_length(name: &str) -> Option<usize> {
    let length = name.chars().take(LONGEST + 1).count();
    (1..=LONGEST).contains(&length).then_some(length)
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

    proptest! {
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
