//! The rules say of updates what API servers say.

use kube_json::json;

use super::*;

/// What is refused of an update, each with what changes.
fn told(kind: (&str, &str), server_side: bool, old: &Value, new: &Value) -> Vec<String> {
    let work = Work::default();
    let schemas = rules(kind.0, kind.1, server_side);
    let refusals = schemas.flat_map(|schema| refusals(schema, old, new, &work));
    refusals
        .map(|refusal| format!("{} {}", refusal.pointer, refusal.changes.join(", ")))
        .collect()
}

#[test]
fn the_file_has_only_rules_that_compile() {
    assert!(RULES.len() > 8);
    for (schema, rules) in RULES.iter() {
        assert_eq!(schema.verify(), vec![], "{rules:?}");
        assert!(schema.has_transitions(), "{rules:?}");
        let all = rules.schema["x-kubernetes-validations"]
            .as_array()
            .expect("rules");
        assert!(all.iter().all(|rule| rule["fieldPath"].is_string()), "{rules:?}");
    }
}

#[test]
fn of_a_mapping_the_fields_are_told_that_the_rule_names_and_long_values_are_cut() {
    let rule = json!({"rule": "self.a == oldSelf.a", "message": "m"});
    let (schema, _) = Schema::from_value(&json!({"x-kubernetes-validations": [rule]}));
    let long = "x".repeat(1000);
    let found = refusals(
        &schema,
        &json!({"a": 1, "b": 1}),
        &json!({"a": long, "b": 2}),
        &Work::default(),
    );
    let [Refusal { changes, .. }] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(changes.len(), 1);
    assert!(
        changes[0].starts_with("a: 1 -> \"xxx") && changes[0].ends_with("xxx...") && changes[0].len() < 100,
        "{changes:?}"
    );
}

/// Ours of a kind say of the same updates that they are refused as its CRD does.
#[cfg(feature = "real-crds")]
#[test]
fn the_rules_of_kinds_with_a_crd_refuse_what_it_refuses() {
    use crate::api::crd::Crd;
    use crate::tests::real_crds;

    let values = |field: &str, some: &[Value]| -> Vec<Option<(String, Value)>> {
        let some = some.iter().map(|value| Some((field.to_owned(), value.clone())));
        some.chain([None]).collect()
    };
    let mut compared = 0;
    for (_, object) in real_crds() {
        let Ok(crd) = Crd::read(&object.value) else {
            continue;
        };
        let own: Vec<&Schema> = rules(&crd.group, &crd.kind, true).collect();
        if own.is_empty() {
            continue;
        }
        let schema = crd.versions[0].schema.as_ref().expect("a schema");
        let mut specs = Vec::new();
        for delegate in values("delegate", &[json!(true), json!(false)]) {
            for owner in values("ownerID", &[json!("123456"), json!("654321")]) {
                for root in values("rootHost", &[json!("a.example.com"), json!("b.example.com")])
                    .into_iter()
                    .flatten()
                {
                    let fields = [delegate.clone(), owner.clone(), Some(root)]
                        .into_iter()
                        .flatten();
                    let spec: kube_json::Map = fields
                        .map(|(name, value)| (kube_json::Text::from(name), value))
                        .collect();
                    specs.push(json!({"spec": spec}));
                }
            }
        }
        let work = Work::unlimited();
        for old in &specs {
            for new in &specs {
                let theirs = !schema.transitions(old, new, &work).is_empty();
                let ours = own.iter().any(|own| !own.transitions(old, new, &work).is_empty());
                assert_eq!(ours, theirs, "{} {old} -> {new}", crd.kind);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 * 18 * 18);
}

/// Group, kind, whether it is applied on the server's side, and the old and the new object on each line.
#[test]
fn updates_are_refused_as_their_snapshot_has_it() {
    test_sections::check_lines(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lines/updates.txt"),
        |line| {
            let update: Value = serde_json::from_str(line).unwrap();
            let text = |at: usize| update[at].as_str().unwrap();
            let told = told((text(0), text(1)), update[2] == true, &update[3], &update[4]);
            if told.is_empty() {
                "fine".to_owned()
            } else {
                told.join("\n")
            }
        },
    );
}
