//! Hides the values of Secrets: the result shows only which keys exist and whether a value changed.
//!
//! Owns: where the values of Secrets are, including in texts that contain a whole object, and the text that replaces
//! them. Flows in: two versions of an object. Flows out: both without values. Must not know: how they are compared or
//! shown.

use std::collections::BTreeSet;

use kube_json::{Map, Text, Value};

use crate::diagnostic::holds_secret;

/// Stands for a value.
pub(super) const HIDDEN: &str = "(hidden)";
/// Stands for a value that differs from the one it replaces.
pub(super) const HIDDEN_CHANGED: &str = "(hidden, changed)";

/// Where kubectl keeps a copy of the whole object, values included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Other tools have annotations of their own for it, and some pack what they keep: in a Secret, no annotation of more
/// bytes is shown.
const FEW_WORDS: usize = 100;

/// Both versions of an object without the values of any Secret in them, also of one that is inside a list or
/// another object.
pub(super) fn conceal(old: Option<&Value>, new: Option<&Value>) -> (Option<Value>, Option<Value>) {
    let (mut old, mut new) = (old.cloned(), new.cloned());
    walk(old.as_mut(), new.as_mut());
    (old, new)
}

fn walk(mut old: Option<&mut Value>, mut new: Option<&mut Value>) {
    let is_text_with_secret = |value: &Value| value.as_str().is_some_and(holds_secret);
    if old.as_deref().is_some_and(is_text_with_secret) || new.as_deref().is_some_and(is_text_with_secret) {
        return mask_value(old, new);
    }
    if is_secret(old.as_deref()) || is_secret(new.as_deref()) {
        for path in [&["data"][..], &["stringData"]] {
            mask(at(old.as_deref_mut(), path), at(new.as_deref_mut(), path));
        }
        mask_copies(old.as_deref_mut(), new.as_deref_mut());
    }
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            for (key, value) in old.iter_mut() {
                walk(Some(value), new.get_mut(key));
            }
            for (_, value) in new.iter_mut().filter(|(key, _)| !old.contains_key(key)) {
                walk(None, Some(value));
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            let (mut old, mut new) = (old.iter_mut(), new.iter_mut());
            loop {
                match (old.next(), new.next()) {
                    (None, None) => break,
                    (old, new) => walk(old, new),
                }
            }
        }
        (old, new) => {
            children(old).for_each(|child| walk(Some(child), None));
            children(new).for_each(|child| walk(None, Some(child)));
        }
    }
}

/// The values directly inside one that has no counterpart of its own form.
fn children(value: Option<&mut Value>) -> Box<dyn Iterator<Item = &mut Value> + '_> {
    match value {
        Some(Value::Object(map)) => Box::new(map.iter_mut().map(|(_, value)| value)),
        Some(Value::Array(items)) => Box::new(items.iter_mut()),
        _ => Box::new(std::iter::empty()),
    }
}

/// References name the kind too, but carry no data, so that nothing of them is hidden.
fn is_secret(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("kind")).and_then(Value::as_str) == Some("Secret")
}

/// Masks the annotations of a Secret that may contain a copy of it.
fn mask_copies(mut old: Option<&mut Value>, mut new: Option<&mut Value>) {
    let mut keys = BTreeSet::new();
    for side in [old.as_deref(), new.as_deref()].into_iter().flatten() {
        let annotations = side.pointer("/metadata/annotations").and_then(Value::as_object);
        let copies = annotations.into_iter().flatten().filter(|(key, value)| {
            let is_short = value.as_str().is_some_and(|text| text.len() <= FEW_WORDS);
            *key == LAST_APPLIED || !is_short
        });
        keys.extend(copies.map(|(key, _)| key.clone()));
    }
    for key in keys {
        let path = ["metadata", "annotations", &key];
        mask_value(at(old.as_deref_mut(), &path), at(new.as_deref_mut(), &path));
    }
}

fn at<'a>(value: Option<&'a mut Value>, path: &[&str]) -> Option<&'a mut Value> {
    path.iter()
        .try_fold(value?, |value, key| value.as_object_mut()?.get_mut(key))
}

fn mask(old: Option<&mut Value>, new: Option<&mut Value>) {
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => mask_keys(old, new),
        (Some(Value::Object(old)), None) => mask_keys(old, &mut Map::new()),
        (None, Some(Value::Object(new))) => mask_keys(&mut Map::new(), new),
        (old, new) => mask_value(old, new),
    }
}

fn mask_keys(old: &mut Map, new: &mut Map) {
    let keys: BTreeSet<Text> = old.keys().chain(new.keys()).cloned().collect();
    for key in keys {
        mask_value(old.get_mut(&key), new.get_mut(&key));
    }
}

fn mask_value(old: Option<&mut Value>, new: Option<&mut Value>) {
    let differs = matches!((&old, &new), (Some(old), Some(new)) if old != new);
    if let Some(old) = old {
        *old = Value::from(HIDDEN);
    }
    if let Some(new) = new {
        *new = Value::from(if differs { HIDDEN_CHANGED } else { HIDDEN });
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_changed_value_is_a_note_and_its_key_stays() {
        let old = json!({"kind": "Secret", "data": {"a": "QQ==", "b": "Qg==", "gone": "Rw=="}});
        let new = json!({"kind": "Secret", "data": {"a": "QQ==", "b": "WA==", "new": "Tg=="}});
        let (old, new) = conceal(Some(&old), Some(&new));
        assert_eq!(
            old.unwrap()["data"],
            json!({"a": HIDDEN, "b": HIDDEN, "gone": HIDDEN})
        );
        assert_eq!(
            new.unwrap()["data"],
            json!({"a": HIDDEN, "b": HIDDEN_CHANGED, "new": HIDDEN})
        );
    }

    #[test]
    fn a_reference_to_a_secret_stays_readable() {
        let reference = json!({"certificateRefs": [{"kind": "Secret", "name": "tls"}]});
        assert_eq!(conceal(None, Some(&reference)), (None, Some(reference)));
    }

    #[test]
    fn a_copy_of_a_secret_inside_a_text_is_hidden_wherever_it_stands() {
        const VALUE: &str = "aHVudGVyMg==";
        let secret = json!({"kind": "Secret", "data": {"k": VALUE}}).to_string();
        let work =
            json!({"kind": "ManifestWork", "spec": {"workload": {"manifests": [json!({"copy": secret})]}}});
        let packed = "H4sI".repeat(40) + VALUE;
        for object in [
            json!({"kind": "ManifestWork", "metadata": {"annotations": {LAST_APPLIED: work.to_string()}}}),
            json!({"kind": "ConfigMap", "data": {"a.yaml": format!("kind: Secret\nstringData:\n  k: {VALUE}\n")}}),
            json!({"kind": "Secret", "metadata": {"annotations": {"kapp.k14s.io/original": secret}}}),
            json!({"kind": "Secret", "metadata": {"annotations": {"objectset.rio.cattle.io/applied": packed}}}),
        ] {
            let other = json!({"metadata": "a", "data": 1});
            for (old, new) in [(&object, &other), (&other, &object), (&object, &object)] {
                let kept = format!("{:?}", conceal(Some(old), Some(new)));
                assert!(!kept.contains(VALUE), "{kept}");
            }
        }
        // A text that is replaced by something else is no less a secret.
        let (old, new) = conceal(Some(&json!({"a": secret})), Some(&json!({"a": {"b": 1}})));
        assert_eq!(
            (old, new),
            (Some(json!({"a": HIDDEN})), Some(json!({"a": HIDDEN_CHANGED})))
        );
        let notes = json!({"kind": "Secret", "metadata": {"annotations": {"team": "shop"}}});
        assert_eq!(conceal(None, Some(&notes)), (None, Some(notes)));
    }

    proptest! {
        /// Whatever surrounds a Secret, on either side or on both, and whatever form its data has.
        #[test]
        fn no_value_of_a_secret_is_ever_kept(
            form in 0_usize..5, depth in 0_usize..4, in_list in any::<bool>(), sides in 1_u8..4, other in any::<bool>(),
        ) {
            const VALUE: &str = "c2VjcmV0LXZhbHVl";
            let mut value = match form {
                0 => json!({"kind": "Secret", "data": {"k": VALUE}}),
                1 => json!({"kind": "Secret", "stringData": {"k": VALUE}}),
                2 => json!({"kind": "Secret", "data": VALUE}),
                3 => json!({"kind": "Secret", "data": {"k": {"deeper": [VALUE]}}}),
                _ => json!({"kind": "Secret", "metadata": {"annotations": {LAST_APPLIED: VALUE}}}),
            };
            for _ in 0..depth {
                value = if in_list { json!([1, value]) } else { json!({"items": value}) };
            }
            let counterpart = if other { json!({"items": 1, "kind": "ConfigMap"}) } else { value.clone() };
            let old = (sides & 1 != 0).then_some(&value);
            let new = if old.is_some() { (sides & 2 != 0).then_some(&counterpart) } else { Some(&value) };
            let kept = format!("{:?}", conceal(old, new));
            prop_assert!(!kept.contains(VALUE), "{}", kept);
        }
    }
}
