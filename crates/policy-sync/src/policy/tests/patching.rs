//! Patching leaves against RFC 7386 itself.

use std::sync::Arc;

use kube_json::{Map, Value, json};
use proptest::prelude::*;

use crate::hub::RowId as _;
use crate::policy::merge::json_merge_patch::{flatten, patch, unflatten};
use crate::policy::model::{Content, Leaf, PolicyId};
use crate::policy::profile::MergeUnit;

/// RFC 7386, section 2, as it is there.
fn reference(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut result = target.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        if value.is_null() {
            result.remove(key);
        } else {
            let old = result.get(key).cloned().unwrap_or_default();
            result.insert(key.clone(), reference(&old, value));
        }
    }
    Value::Object(result)
}

fn content(value: &Value) -> Content {
    let mut content = Content::new();
    flatten(value, String::new(), &mut |at, value| {
        let at: Arc<str> = Arc::from(at);
        let leaf = Leaf {
            value: std::sync::Arc::new(value.clone()),
            at: Arc::clone(&at),
            base: "/spec",
            policy: PolicyId::from_row(0),
            element: None,
            essential: true,
        };
        content.insert(at, leaf);
    });
    content
}

fn patched(target: &Value, patch_value: &Value) -> Value {
    let mut target = content(target);
    patch(&mut target, &content(patch_value), &MergeUnit::JsonMergePatch);
    unflatten(target.values())
}

fn value(nulls: bool) -> impl Strategy<Value = Value> {
    let null = if nulls {
        Just(Value::Null).boxed()
    } else {
        Just(json!([1])).boxed()
    };
    let leaf = prop_oneof![null, Just(json!(1)), Just(json!("x")), Just(json!([{"a": 1}]))];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop::collection::vec(("[a-c/~]", inner), 0..4)
            .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map>()))
    })
}

proptest! {
    #[test]
    fn patching_leaves_is_rfc_7386(target in value(false), patch in value(true)) {
        // Settings are mappings.
        let (target, patch) = (json!({"r": target}), json!({"r": patch, "n": null}));
        prop_assert_eq!(patched(&target, &patch), reference(&target, &patch));
    }
}
