//! The observed cases: 450 texts with the values that Kubernetes' reader gives them, and 87 strings that
//! writers get wrong.
//!
//! Texts that readers of YAML 1.1 and 1.2 take for different things, or only some of them take at all, are refused:
//! [`REFUSED`].

use kube_json::{Value, json};

use crate::{ErrorKind, Limits, read_document, write_document};

const READ: &str = include_str!("../../fixtures/read.ndjson");
const STRINGS: &str = include_str!("../../fixtures/strings.ndjson");

/// Texts that Kubernetes reads and we refuse, with what to write instead.
const REFUSED: &[(&str, &str)] = &[
    ("[-, b]\n", "[\"-\", b]\n"),
    ("a: [-]\n", "a: [\"-\"]\n"),
    ("[!, b]\n", "[b]\n"),
    ("[!x, b]\n", "[b]\n"),
    ("[?a, b]\n", "[{a: null}, b]\n"),
    ("[a:, b]\n", "[\"a:\", b]\n"),
    ("a:\t1\n", "a: 1\n"),
    ("{\"a\":\t1}\n", "{\"a\": 1}\n"),
    ("a: {# c\n b: 1}\n", "a: { # c\n b: 1}\n"),
    ("a: [1,# c\n 2]\n", "a: [1, # c\n 2]\n"),
    ("k: a\u{feff}b\n", "k: \"a\\ufeffb\"\n"),
    ("{k: nel\u{85}x}\n", "{k: nel x}\n"),
];

/// Equal, numbers compared as numbers.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right
                || (left.as_i64().is_none() || right.as_i64().is_none()) && left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

#[test]
fn every_observed_text_is_read_as_kubernetes_reads_it() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in READ.lines() {
        count += 1;
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let found = read_document(text, &Limits::default());
        if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == text) {
            let value = read_document(instead, &Limits::default()).unwrap();
            if found.is_ok() || !same(&value, &case["json"]) {
                wrong.push(format!("{line}\n    {found:?}, {instead:?} is {value}"));
            }
            continue;
        }
        let fine = match &found {
            Ok(value) => case["error"].is_null() && case["dropped"].is_null() && same(value, &case["json"]),
            Err(error) => match error.kind {
                ErrorKind::Dropped => case["error"] == true || case["dropped"] == true,
                ErrorKind::DuplicateKey | ErrorKind::Merge => {
                    case["error"] == true || case["strict"] == "refused"
                }
                _ => case["error"] == true || case["dropped"] == true,
            },
        };
        if !fine {
            wrong.push(format!("{line}\n    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(count, 450);
}

#[test]
fn every_tricky_string_is_read_back_from_each_of_five_places() {
    let mut count = 0;
    for line in STRINGS.lines() {
        let text: String = serde_json::from_str(line).unwrap();
        let mut as_key = kube_json::Map::new();
        as_key.insert(text.clone(), json!("v"));
        let places = [
            json!({"k": text}),
            Value::Object(as_key),
            json!([text, "b"]),
            json!({"a": {"b": [{"c": text, "d": 1}]}}),
            json!(text),
        ];
        for value in places {
            let written = write_document(&value);
            let found = read_document(&written, &Limits::default());
            assert_eq!(found.as_ref(), Ok(&value), "{line}, written as:\n{written}");
            count += 1;
        }
    }
    assert_eq!(count, 87 * 5);
}
