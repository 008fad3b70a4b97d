//! The nearest known name for a misspelled one.

use strsim::damerau_levenshtein;

/// Longer names are never compared: the distance costs the product of the lengths.
const LONGEST: usize = 128;

/// The known name that `candidate` was probably meant to be.
///
/// A name that differs in case only wins; otherwise the one with the fewest edits (insert, delete, replace,
/// swap neighbours; case ignored), which must be at most a third of the longer name and fewer than the
/// characters typed. Between equals the first in byte order wins, so the order of `known` does not matter.
/// A candidate that is known itself is its own nearest name.
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
            let distance = damerau_levenshtein(&lower, &name.to_lowercase());
            let near = distance == 0 || (distance <= longer.max(3) / 3 && distance < length);
            near.then_some(((1, distance), name))
        })
        .min()
        .map(|(_, name)| name)
}

/// Characters of `name`, unless there are none or too many.
fn bounded_length(name: &str) -> Option<usize> {
    let length = name.chars().take(LONGEST + 1).count();
    (1..=LONGEST).contains(&length).then_some(length)
}
