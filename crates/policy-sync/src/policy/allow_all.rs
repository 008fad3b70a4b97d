//! Policies that deliberately let everybody in: they apply, but they cover nothing.

use kube_json::Value;

use super::model::Content;
use super::profile::{Open, Profile};
use crate::topology::items;

impl Profile {
    /// Whether settings that apply together let everybody in. Empty settings do not: then there is no policy.
    pub fn lets_everybody_in(&self, content: &Content) -> bool {
        let has = |wanted: &String| {
            let (name, word) = match wanted.split_once('=') {
                Some((name, word)) => (name, Some(word)),
                None => (wanted.as_str(), None),
            };
            content
                .iter()
                .any(|(key, leaf)| is_there(name, key, &leaf.value, word))
        };
        let is_open = |open: &Open| open.with.iter().all(has) && !open.without.iter().any(has);
        !content.is_empty()
            && (self.open.iter().any(is_open)
                || (self.authorizes && permit_everybody(content.values().map(|leaf| &*leaf.value))))
    }
}

/// Whether policies that permit and deny requests let everybody in together: none denies or asks somebody else, and those
/// that permit, if there are any, have a rule for every request. A policy without rules matches nothing, and a rule
/// without conditions everything
/// (`istio/istio pilot/pkg/security/authz/builder/builder.go@01eb2ecbe4cdd3b8e911b412050c04951a43fe33`).
fn permit_everybody<'s>(policies: impl Iterator<Item = &'s Value>) -> bool {
    let (mut permits, mut is_open) = (false, false);
    for policy in policies {
        let rules = items(policy.get("rules"));
        match policy.get("action").and_then(Value::as_str).unwrap_or("ALLOW") {
            "ALLOW" => {
                permits = true;
                is_open |= rules.iter().any(matches_everything);
            }
            "AUDIT" => {}
            _ if !rules.is_empty() => return false,
            _ => {}
        }
    }
    is_open || !permits
}

fn matches_everything(rule: &Value) -> bool {
    let is_empty = |field: &str| items(rule.get(field)).is_empty();
    // Istio skips a rule that is null.
    rule.is_object() && ["from", "to", "when"].into_iter().all(is_empty)
}

/// Whether a setting, or something in it, is what is wanted.
fn is_there(wanted: &str, key: &str, value: &Value, word: Option<&str>) -> bool {
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

    #[test]
    fn rules_let_everybody_in_if_one_matches_everything_and_none_denies() {
        let open = |policies: &[Value]| permit_everybody(policies.iter());
        let everybody = json!({"action": "ALLOW", "rules": [{"from": [{}]}, {}]});
        let some = json!({"rules": [{"from": [{"source": {"principals": ["a"]}}]}]});
        let deny = json!({"action": "DENY", "rules": [{"to": [{"operation": {"methods": ["PUT"]}}]}]});
        let custom = json!({"action": "CUSTOM", "rules": [{}]});
        let audit = json!({"action": "AUDIT", "rules": [{}]});
        assert!(open(std::slice::from_ref(&everybody)));
        assert!(open(&[everybody.clone(), some.clone()]), "permissions add up");
        assert!(!open(&[everybody.clone(), deny]), "denials come first");
        assert!(!open(&[everybody, custom]), "somebody else decides");
        assert!(open(std::slice::from_ref(&audit)), "nobody is kept out");
        assert!(!open(&[some, audit]));
        assert!(!open(&[json!({})]), "nothing is permitted");
        assert!(open(&[json!({"action": "DENY"})]), "nothing is denied");
    }

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
