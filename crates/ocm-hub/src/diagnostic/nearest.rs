//! The nearest known name for a misspelled one.
//!
//! Owns: how similar is similar enough. Flows in: a name, the known names. Flows out: one of them, or none. Must not
//! know: what the names stand for.

use strsim::osa_distance;

/// Longer names are never compared.
const LONGEST: usize = 128;

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
    KnownNames::of(known).nearest(candidate)
}

/// Known names that many misspelled ones are compared with: a hub may have a thousand of each.
#[derive(Debug)]
pub struct KnownNames<'k> {
    known: Vec<Spelled<'k>>,
}

impl<'k> KnownNames<'k> {
    /// Looks at each name once.
    pub fn of(known: impl IntoIterator<Item = &'k str>) -> Self {
        Self {
            known: known.into_iter().filter_map(Spelled::of).collect(),
        }
    }

    /// The result of [`nearest()`].
    pub fn nearest(&self, candidate: &str) -> Option<&'k str> {
        let candidate = Spelled::of(candidate)?;
        let mut likely: Vec<(usize, &Spelled<'k>)> = Vec::new();
        for known in &self.known {
            if known.name == candidate.name {
                return Some(known.name);
            }
            let longer = candidate.length.max(known.length);
            // The difference in length is a lower bound of the distance, and cheap.
            if candidate.length.abs_diff(known.length) > longer / 3 {
                continue;
            }
            let at_least = candidate.letters.distance(&known.letters);
            if at_least <= most_edits(longer) {
                likely.push((at_least, known));
            }
        }
        // The order is that of the names, not of whoever lists them.
        let order = |(at_least, known): &(usize, &Spelled<'k>)| (*at_least, known.name);
        if likely.len() > MOST_COMPARED {
            likely.select_nth_unstable_by(MOST_COMPARED, |one, other| order(one).cmp(&order(other)));
            likely.truncate(MOST_COMPARED);
        }
        likely.sort_unstable_by(|one, other| order(one).cmp(&order(other)));
        let mut best: Option<(usize, &'k str)> = None;
        for (at_least, known) in likely {
            if best.is_some_and(|(distance, _)| distance < at_least) {
                break;
            }
            let longer = candidate.length.max(known.length);
            let distance = osa_distance(&candidate.lower, &known.lower);
            let near = distance == 0
                || (distance <= most_edits(longer)
                    && distance < candidate.length
                    && words_are_near(&candidate.lower, &known.lower));
            if near && best.is_none_or(|best| (distance, known.name) < best) {
                best = Some((distance, known.name));
            }
        }
        best.map(|(_, name)| name)
    }
}

/// A name, as it is compared.
#[derive(Debug)]
struct Spelled<'k> {
    name: &'k str,
    lower: String,
    letters: Letters,
    /// In characters.
    length: usize,
}

impl<'k> Spelled<'k> {
    /// Nothing, for a name that is compared with none.
    fn of(name: &'k str) -> Option<Self> {
        let length = bounded_length(name)?;
        let lower = name.to_lowercase();
        Some(Self {
            name,
            letters: Letters::of(&lower),
            lower,
            length,
        })
    }
}

/// So many known names are compared letter by letter, those with the most letters in common: a hub may have a thousand
/// names and a thousand misspellings.
const MOST_COMPARED: usize = 32;

/// How often each letter is in a name.
#[derive(Debug)]
struct Letters {
    counts: [u8; 64],
    is_ascii: bool,
}

impl Letters {
    fn of(name: &str) -> Self {
        let mut counts = [0_u8; 64];
        for byte in name.bytes() {
            if let Some(count) = counts.get_mut(usize::from(byte % 64)) {
                *count = count.saturating_add(1);
            }
        }
        Self {
            counts,
            is_ascii: name.is_ascii(),
        }
    }

    /// A lower bound of the edits from one name to another: a letter that only one has takes one, and an edit can put
    /// one for another. Of letters that are not ASCII, each of up to four bytes counts.
    fn distance(&self, other: &Self) -> usize {
        let (mut missing, mut extra) = (0_usize, 0_usize);
        for (one, other) in self.counts.iter().zip(other.counts) {
            missing = missing.saturating_add(usize::from(one.saturating_sub(other)));
            extra = extra.saturating_add(usize::from(other.saturating_sub(*one)));
        }
        let most = missing.max(extra);
        if self.is_ascii && other.is_ascii {
            most
        } else {
            most.div_ceil(4)
        }
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

    #[test]
    fn known_names_are_looked_at_once_for_all_misspelled_ones() {
        let known = KnownNames::of(["gateway-1", "gateway-2", "listeners"]);
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
