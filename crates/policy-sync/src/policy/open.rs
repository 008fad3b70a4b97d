//! How a policy declares that it deliberately lets everybody in.
//!
//! Owns: the part of a profile about that ([`Open`]), and whether a setting matches it. Flows in: settings. Flows out:
//! yes or no. Must not know: profiles, effective policies.

use kube_json::Value;
use serde::{Deserialize, Serialize};

/// One way in which settings let everybody in: all of `with` are present, and none of `without`.
///
/// Each is the name of a setting, which is a rule id or a JSON pointer, and a JSON pointer into its value. `*` matches
/// any one part: `authentication#*/anonymous`. If `=` and a word follow, the setting counts as present only with this
/// value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Open {
    /// Settings that must be present.
    pub with: Vec<String>,
    /// Settings that must be absent.
    pub without: Vec<String>,
}

impl Open {
    /// A way, as profiles write it.
    pub(super) fn new(with: &[&str], without: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Self {
            with: owned(with),
            without: owned(without),
        }
    }
}

/// Whether a setting, or something in it, is what is wanted.
pub(super) fn is_there(wanted: &str, key: &str, value: &Value, word: Option<&str>) -> bool {
    let mut parts = wanted.split('/');
    let mut named = key.split('/');
    loop {
        match (parts.next(), named.next()) {
            (Some(part), Some(name)) if is_part(part, name) => {}
            // The setting is inside of what is wanted: something of that is there.
            (None, Some(_)) => return word.is_none(),
            (None, None) => return word.is_none_or(|word| value.as_str() == Some(word)),
            (Some(part), None) => return is_inside(std::iter::once(part).chain(parts), value, word),
            (Some(_), Some(_)) => return false,
        }
    }
}

fn is_inside<'w>(mut parts: impl Iterator<Item = &'w str>, value: &Value, word: Option<&str>) -> bool {
    let found = parts.try_fold(value, |value, part| value.get(part));
    found.is_some_and(|value| word.is_none_or(|word| value.as_str() == Some(word)))
}

/// `*` stands for the rest of a part: `authentication#*`.
fn is_part(wanted: &str, name: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => wanted == name,
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;

    fn is(wanted: &str, key: &str, value: &Value) -> bool {
        let (name, word) = match wanted.split_once('=') {
            Some((name, word)) => (name, Some(word)),
            None => (wanted, None),
        };
        is_there(name, key, value, word)
    }

    #[test]
    fn a_way_names_a_setting_or_what_is_in_it() {
        let anonymous = json!({"anonymous": {}});
        assert!(is(
            "authentication#*/anonymous",
            "authentication#public",
            &anonymous
        ));
        assert!(!is(
            "authentication#*/anonymous",
            "authentication#key",
            &json!({"apiKey": {}})
        ));
        assert!(!is("authentication#*/anonymous", "authorization#a", &anonymous));
        assert!(is("authorization#*", "authorization#a", &json!({})));
        assert!(is("/jwt", "/jwt/providers", &json!([])), "a field of it");
        assert!(!is("/jwt", "/jwtx", &json!([])));
        assert!(is(
            "/authorization/defaultAction=Allow",
            "/authorization/defaultAction",
            &json!("Allow")
        ));
        assert!(!is(
            "/authorization/defaultAction=Allow",
            "/authorization/defaultAction",
            &json!("Deny")
        ));
        assert!(!is(
            "/authorization/defaultAction=Allow",
            "/authorization/rules",
            &json!([])
        ));
    }
}
