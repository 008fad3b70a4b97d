//! Which policies merge, and the result (docs/systems/envoy-gateway.md#merge-types).

use kube_json::{Map, Value, json};
use proptest::prelude::*;

use super::{BOTH, FIRST, GW, HTTP, HTTPS, ON_SET, ONE, PLAIN, SET, traffic, with};
use crate::tests::{Seen, hub};

/// A policy of the model: where it is, how it merges, what it says.
#[derive(Debug, Clone)]
struct Draft {
    target: usize,
    merge: usize,
    fields: Vec<(u8, u8)>,
    types: Vec<u8>,
}

const TARGETS: [&str; 9] = [GW, HTTP, HTTPS, SET, ONE, PLAIN, FIRST, BOTH, ON_SET];

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let fields = prop::collection::vec((0_u8..3, 0_u8..3), 0..3);
    let types = prop::collection::btree_set(0_u8..4, 0..3)
        .prop_map(|set| set.into_iter().collect::<Vec<u8>>())
        .prop_shuffle();
    let draft =
        (0..TARGETS.len(), 0_usize..3, fields, types).prop_map(|(target, merge, fields, types)| Draft {
            target,
            merge,
            fields,
            types,
        });
    prop::collection::vec(draft, 1..9).prop_map(|drafts| {
        // One policy for each target, as the others would be refused.
        let mut by_target: Vec<Draft> = Vec::new();
        for draft in drafts {
            if !by_target.iter().any(|known| known.target == draft.target) {
                by_target.push(draft);
            }
        }
        by_target
    })
}

fn settings(number: usize, draft: &Draft) -> Map {
    let mut settings = Map::new();
    for (field, shape) in &draft.fields {
        let value = match shape {
            0 => json!({"deep": number}),
            1 => json!([number]),
            _ => json!({format!("of-{number}"): {"x": number}}),
        };
        settings.insert(format!("f{field}"), value);
    }
    if !draft.types.is_empty() {
        let items = draft
            .types
            .iter()
            .map(|item| json!({"type": format!("t{item}"), format!("by-{number}"): number}));
        settings.insert("httpUpgrade".to_owned(), items.collect());
    }
    settings
}

/// RFC 7386, straight from its text.
fn merge_patch(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut target = target.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        let merged = merge_patch(target.get(key).unwrap_or(&Value::Null), value);
        target.insert(key.clone(), merged);
    }
    Value::Object(target)
}

/// The elements of a list by their type, in no order.
fn by_type(spec: &Value) -> Map {
    let items = spec["httpUpgrade"].as_array().cloned().unwrap_or_default();
    items
        .into_iter()
        .map(|item| (item["type"].as_str().unwrap().to_owned(), item))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_holds_is_the_closest_policy_or_two_that_merge_and_no_third_one(drafts in drafts()) {
        let merges = |draft: &Draft| draft.merge > 0 && draft.target >= 5;
        let policies: Vec<String> = drafts.iter().enumerate().map(|(number, draft)| {
            let mut settings = settings(number, draft);
            if merges(draft) {
                settings.insert("mergeType".to_owned(), json!(["", "JSONMerge", "StrategicMerge"][draft.merge]));
            }
            // JSON is YAML, and its braces are around the whole spec.
            let settings = serde_json::to_string(&settings).unwrap();
            traffic(&format!("p{number}"), TARGETS[draft.target], &settings[1..settings.len() - 1])
        }).collect();
        let text = with(&policies);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let find = |target: &str| drafts.iter().position(|draft| TARGETS[draft.target] == target);
        for (route, rule, listener) in [
            ("plain", "first", "gw#http"), ("plain", "second", "gw#http"), ("both", "only", "gw#http"),
            ("both", "only", "gw#https"), ("on-set", "only", "set#one"), ("on-set", "only", "set#two"), ("on-one", "only", "set#one"),
        ] {
            let own = (rule == "first").then(|| find(FIRST)).flatten()
                .or_else(|| find(&format!("kind: HTTPRoute, name: {route}")));
            let above = match listener {
                "gw#http" => find(HTTP),
                "gw#https" => find(HTTPS),
                "set#one" => find(ONE).or_else(|| find(SET)),
                _ => find(SET),
            }.or_else(|| find(GW));
            let all = |number: usize| Value::Object(settings(number, &drafts[number]));
            let expected = match (own, above) {
                (None, None) => None,
                (None, Some(above)) => Some(all(above)),
                (Some(own), Some(above)) if merges(&drafts[own]) => Some(merge_patch(&all(above), &all(own))),
                (Some(own), _) => Some(all(own)),
            };
            let rule = format!("{route}#{rule}");
            let found = seen.spec(&["gw", listener, route, &rule]).or_else(|| seen.spec(&["gw", route, &rule]));
            let strategic = own.is_some_and(|own| merges(&drafts[own]) && drafts[own].merge == 2);
            match (found, expected) {
                (Some(mut found), Some(mut expected)) => {
                    if let (true, Some(own), Some(above)) = (strategic, own, above) {
                        let list = merge_patch(&Value::Object(by_type(&all(above))), &Value::Object(by_type(&all(own))));
                        prop_assert_eq!(Value::Object(by_type(&found)), list);
                        for spec in [&mut found, &mut expected] {
                            spec.as_object_mut().unwrap().remove("httpUpgrade");
                        }
                    }
                    prop_assert_eq!(found, expected, "{} {}", listener, rule);
                }
                (found, expected) => prop_assert_eq!(found, expected, "{} {}", listener, rule),
            }
        }
    }
}
