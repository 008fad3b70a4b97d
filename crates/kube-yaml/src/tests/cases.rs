//! The observed cases: 450 texts with the values that Kubernetes' reader gives them, and 87 strings that
//! writers get wrong.

use kube_json::{Value, json};

use crate::{ErrorKind, Limits, read_document, write_document};

const READ: &str = include_str!("../../fixtures/read.ndjson");
const STRINGS: &str = include_str!("../../fixtures/strings.ndjson");

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
