//! Rules of routes for property tests.
//!
//! Owns: what they may have, and may have wrong. Flows in: choices. Flows out: a rule. Must not know: who reads it.

use kube_json::{Map, Value, json};

/// A rule of an HTTPRoute of these choices: the usual one of each field where they are zero or at their end, and what is
/// absent, null, of another type, or wrong otherwise.
pub(crate) fn rule(choices: &[u8]) -> Value {
    let mut pick = picking(choices);
    let mut backend = |filters: &[Value]| {
        let members = [
            (
                "name",
                pick(json!("a"), &[json!(""), json!("b"), json!(7), Value::Null]),
            ),
            (
                "port",
                pick(json!(80), &[json!("80"), json!(80.0), json!(1.5), Value::Null]),
            ),
            (
                "group",
                pick(
                    json!(""),
                    &[json!("core"), json!("gateway.networking.k8s.io"), Value::Null],
                ),
            ),
            (
                "kind",
                pick(
                    json!("Service"),
                    &[json!("HTTPRoute"), json!("label"), json!(7), Value::Null],
                ),
            ),
            ("namespace", pick(json!("n"), &[json!(""), json!(7), Value::Null])),
            (
                "filters",
                filters.first().cloned().filter(|_| pick(json!(0), &[]).is_none()),
            ),
        ];
        mapping(members)
    };
    let mirror = json!({"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "m", "port": 1}}});
    let modifier = json!({"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["x"]}});
    let both = [
        backend(&[json!([mirror])]),
        backend(&[json!([modifier, modifier])]),
        json!("a"),
        Value::Null,
    ];
    let path = [
        (
            "type",
            pick(
                json!("PathPrefix"),
                &[json!("Exact"), json!("RegularExpression"), json!(1)],
            ),
        ),
        (
            "value",
            pick(json!("/a"), &[json!("/a//b"), json!("a"), json!(1), Value::Null]),
        ),
    ];
    let path = mapping(path);
    let header = json!({"name": "x", "value": "y"});
    let redirect = json!({"type": "RequestRedirect", "requestRedirect": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}}});
    let one = [
        ("path", pick(path, &[json!("/"), Value::Null])),
        (
            "headers",
            pick(
                json!([header]),
                &[json!([header, header]), json!({}), Value::Null],
            ),
        ),
        (
            "queryParams",
            pick(json!([header]), &[json!([header, header]), json!("q")]),
        ),
    ];
    let one = mapping(one);
    let wrong = json!({"type": "ExtensionRef", "requestHeaderModifier": {}});
    // Usual rules have none of these.
    let is_there = |value: &Value| !value.is_null();
    let members = [
        ("name", pick(json!("r"), &[json!(""), json!(7), Value::Null])),
        (
            "matches",
            pick(
                json!([one]),
                &[json!([]), json!([one, one]), json!([7]), json!(one), Value::Null],
            ),
        ),
        (
            "filters",
            pick(
                json!([modifier]),
                &[
                    json!([]),
                    json!([mirror]),
                    json!([redirect]),
                    json!([modifier, modifier]),
                    json!([wrong]),
                    json!([{"type": "CORS"}, Value::Null]),
                    json!([{"type": "ExtensionRef", "extensionRef": Value::Null}]),
                    json!(7),
                    Value::Null,
                ],
            ),
        ),
        (
            "backendRefs",
            pick(
                json!([both[0], both[1]]),
                &[
                    json!([both[0]]),
                    json!([]),
                    json!(both),
                    json!(both[0]),
                    Value::Null,
                ],
            ),
        ),
        (
            "timeouts",
            pick(Value::Null, &[json!({"request": "1s", "backendRequest": "2s"})]).filter(is_there),
        ),
        (
            "sessionPersistence",
            pick(Value::Null, &[json!({"type": "Header", "cookieConfig": {}})]).filter(is_there),
        ),
    ];
    mapping(members)
}

/// Choices of which one is unusual, and all others are zero: each in each place.
pub(crate) fn one_unusual() -> impl Iterator<Item = Vec<u8>> {
    (0..40_usize).flat_map(|place| {
        (0..60_u8).map(move |choice| {
            let mut choices = vec![0; place];
            choices.push(choice);
            choices
        })
    })
}

/// A reference to a parent of these choices, in the same way.
pub(crate) fn parent(choices: &[u8]) -> Value {
    let mut pick = picking(choices);
    let members = [
        ("name", pick(json!("a"), &[json!(""), json!(7), Value::Null])),
        (
            "group",
            pick(
                json!("gateway.networking.k8s.io"),
                &[json!(""), json!(7), Value::Null],
            ),
        ),
        (
            "kind",
            pick(json!("Gateway"), &[json!("Service"), json!(7), Value::Null]),
        ),
        ("namespace", pick(json!("n"), &[json!(""), json!(7), Value::Null])),
        (
            "sectionName",
            pick(json!("s"), &[json!(""), json!(7), Value::Null]),
        ),
        (
            "port",
            pick(json!(80), &[json!("80"), json!(80.0), json!(1.5), Value::Null]),
        ),
    ];
    mapping(members)
}

/// The usual value, or none, or one of the others, by the next choice.
fn picking(choices: &[u8]) -> impl FnMut(Value, &[Value]) -> Option<Value> {
    let mut choices = choices.iter();
    move |usual, others| {
        let choice = usize::from(choices.next().copied().unwrap_or_default());
        match choice % 6 {
            0..=2 => Some(usual),
            3 => None,
            _ => others.get((choice / 6).checked_rem(others.len())?).cloned(),
        }
    }
}

fn mapping<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    Value::Object(there.collect::<Map>())
}
