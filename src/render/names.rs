//! Names of works, of their sets, and of manifest keys: how one is derived, how one that is too long is cut so that it stays
//! unique, and what to say of one that two objects would have.

use sha2::{Digest as _, Sha256};

use crate::diagnostic::{Code, Finding, Place};
use crate::object::Object;
use crate::object::well_known::WORK_NAME_ANNOTATION;
use apimachinery::names::LABEL_MAX;

/// The label of a work that names it, cut to fit.
pub(crate) const MANIFEST_KEY_LABEL: &str = "kuadrant.io/manifestKey";

/// Longest work name. The agent's AppliedManifestWork is called `<64 hex digits>-<work name>` and must stay
/// below 253 characters (docs/systems/ocm-work.md#appliedmanifestwork).
const MAX_WORK_NAME: usize = 180;

/// A dash and 8 hex digits.
const HASH_SUFFIX: usize = 9;

/// The name of the work that an object of the hub gets: `<kind>-<namespace>-<name>` in lower case, cut with a hash if
/// it is too long; or the name in its annotation.
pub(crate) fn work_name(object: &Object) -> String {
    if let Some(name) = object.annotation(WORK_NAME_ANNOTATION) {
        return name.to_owned();
    }
    let name = [&object.kind, object.namespace_or_empty(), &object.name].join("-");
    // Kinds have capitals, and the name of an object must not.
    cut(name.to_lowercase(), MAX_WORK_NAME)
}

/// What to say of two objects that would share a work or a file.
pub(super) fn taken(
    shared: &str,
    [object, owner]: [&Object; 2],
    place: impl Fn(&Object) -> Place,
) -> Finding {
    let both = format!("{} and {}", object.identity(), owner.identity());
    Finding::new(
        Code::WORK_NAME_TAKEN,
        place(object),
        format!("{both} would share the {shared}"),
    )
    .label("this one")
    .related(place(owner), "and this one")
    .help(format!(
        "give one of them another name with the annotation `{WORK_NAME_ANNOTATION}: NAME`"
    ))
}

/// The value of the label `kuadrant.io/manifestKey`: the work's name, cut with a hash to fit a label.
pub(crate) fn manifest_key(work_name: &str) -> String {
    cut(work_name.to_owned(), LABEL_MAX)
}

/// The name of the ManifestWorkReplicaSet in `namespace` that makes the works called `work_name`.
///
/// The hub labels those works with `<namespace>.<name>`, which has to fit a label, and finds the way back at
/// the dot (docs/systems/ocm-work.md#works-of-a-set): dots become dashes, and what is too long is cut, both
/// with a hash of the whole.
pub(super) fn replica_set_name(namespace: &str, work_name: &str) -> String {
    let limit = LABEL_MAX.saturating_sub(namespace.len()).saturating_sub(1);
    if work_name.len() <= limit && !work_name.contains('.') {
        return work_name.to_owned();
    }
    // Of the name with its dots: `a.b` and `a-b` would otherwise be one set.
    hashed(&work_name.replace('.', "-"), work_name, limit)
}

/// Cuts a name to `limit` characters: its start, a dash, and 8 hex digits of the SHA-256 of the whole.
pub(super) fn cut(name: String, limit: usize) -> String {
    if name.len() <= limit {
        return name;
    }
    hashed(&name, &name, limit)
}

/// The start of a text with the hash of a name behind it, 8 hex digits; the hash alone if there is no room for more.
fn hashed(text: &str, name: &str, limit: usize) -> String {
    let digest = Sha256::digest(name.as_bytes());
    // The names are in every output tree: more digits, or another digest, would rename works, and so delete their objects.
    let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let room = limit.saturating_sub(HASH_SUFFIX).min(text.len());
    // A name from an annotation may be any text until `claim` checks it: no character may be cut in two.
    match text.get(..room) {
        Some(kept) if !kept.is_empty() => format!("{kept}-{hash}"),
        _ => hash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_at_the_limit_is_kept_and_one_beyond_is_cut_to_the_limit() {
        assert_eq!(cut("a".repeat(180), MAX_WORK_NAME).len(), 180);
        let long = cut("a".repeat(181), MAX_WORK_NAME);
        assert_eq!(long.len(), 180);
        assert!(long.starts_with(&format!("{}-", "a".repeat(171))), "{long}");
    }

    #[test]
    fn two_long_names_with_one_beginning_stay_apart() {
        assert_ne!(
            cut(format!("{}x", "a".repeat(200)), 63),
            cut(format!("{}y", "a".repeat(200)), 63)
        );
    }

    #[test]
    fn a_manifest_key_is_cut_to_54_characters_a_dash_and_8_hex_digits() {
        let key = manifest_key(&"k".repeat(64));
        let (kept, hash) = key.rsplit_once('-').unwrap_or_default();
        assert_eq!((kept.len(), hash.len()), (54, 8));
        assert!(hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(manifest_key(&"k".repeat(63)), "k".repeat(63));
    }

    #[test]
    fn a_replica_sets_name_has_no_dot_and_fits_a_label_with_its_namespace() {
        assert_eq!(replica_set_name("shop", "gateway-shop-web"), "gateway-shop-web");
        let dotted = replica_set_name("shop", "gateway-shop-a.b");
        assert!(dotted.starts_with("gateway-shop-a-b-"), "{dotted}");
        assert_ne!(dotted, replica_set_name("shop", "gateway-shop-a-b"));
        for namespace in 1..=54 {
            let namespace = "n".repeat(namespace);
            for name in [
                "g",
                "gateway-web",
                &"w".repeat(180),
                &"w.".repeat(80),
                &format!("{}.x", "w".repeat(5)),
            ] {
                let set = replica_set_name(&namespace, name);
                let label = format!("{namespace}.{set}");
                assert!(
                    label.len() <= 63 && !set.contains('.') && !set.is_empty(),
                    "{label}"
                );
                assert!(
                    set.bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
                    "{set}"
                );
            }
        }
    }
}
