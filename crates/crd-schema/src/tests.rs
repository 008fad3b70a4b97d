//! Rules of the API server, each with a value that follows it and one that breaks it.

mod files;
#[cfg(feature = "real-crds")]
mod real_crds;
mod rules;
mod transitions;

use std::borrow::Cow;

use kube_json::{Value, json};
use proptest::prelude::*;

use crate::{Schema, ViolationKind, Work};

fn schema(schema: Value) -> Schema {
    let (schema, problems) = Schema::from_value(&schema);
    assert_eq!(problems, vec![]);
    schema
}

fn texts(schema: &Schema, value: &Value) -> Vec<String> {
    schema.validate(value).iter().map(ToString::to_string).collect()
}

#[test]
fn nulls_are_pruned_or_defaulted_where_they_are_not_nullable() {
    let of = schema(json!({"type": "object", "required": ["d"], "properties": {
        "a": {"type": "string"}, "n": {"type": "string", "nullable": true}, "d": {"type": "integer", "default": 7},
        "o": {"type": "object", "properties": {"e": {"type": "integer", "default": 1}}},
        "l": {"type": "array", "items": {"type": "string"}},
    }}));
    let value = json!({"a": null, "n": null, "d": null, "o": {}});
    assert_eq!(texts(&of, &value), Vec::<String>::new());
    assert_eq!(*of.defaulted(&value), json!({"n": null, "d": 7, "o": {"e": 1}}));
    let nullable = schema(json!({"type": "object", "properties": {"x": {"nullable": true, "default": 1}}}));
    assert_eq!(*nullable.defaulted(&json!({"x": null})), json!({"x": null}));
    assert_eq!(*nullable.defaulted(&json!({})), json!({"x": 1}));
    // No parent, no default: o stays absent.
    assert_eq!(*of.defaulted(&json!({})), json!({"d": 7}));
    assert_eq!(
        texts(&of, &json!({"l": [null]})),
        ["l[0]: Invalid value: \"null\": l[0] in body must be of type string: \"null\""]
    );
}

#[test]
fn a_value_that_completion_leaves_alone_is_not_copied() {
    let plain = schema(json!({"type": "object", "additionalProperties": {"type": "string"}}));
    assert!(matches!(plain.defaulted(&json!({"a": "b"})), Cow::Borrowed(_)));
    assert!(matches!(plain.defaulted(&json!({"a": null})), Cow::Owned(_)));
}

#[test]
fn metadata_is_object_meta_whatever_the_schema_says() {
    let (of, _) = Schema::from_resource(
        &json!({"type": "object", "properties": {"metadata": {"type": "object"}}}),
        false,
    );
    let check = |metadata: Value| {
        texts(
            &of,
            &json!({"apiVersion": "v1", "kind": "X", "metadata": metadata}),
        )
    };
    assert_eq!(
        check(json!({"name": "a", "labels": {"a/b": "c"}, "creationTimestamp": null})),
        Vec::<String>::new()
    );
    assert_eq!(
        check(json!({"name": "a", "label": {}})),
        ["unknown field \"metadata.label\""]
    );
    assert!(check(json!({"name": "a", "labels": {"a": 1}}))[0].contains("metadata.labels.a: Invalid value"));
    assert!(check(json!({"name": "a", "labels": {"a": "b c"}}))[0].contains("label value"));
    assert!(check(json!({"name": "A"}))[0].contains("RFC 1123 subdomain"));
    let kind = |metadata: Value| of.validate(&json!({"metadata": metadata}))[0].kind.clone();
    assert_eq!(kind(json!({"name": "A"})), ViolationKind::Metadata);
    assert_eq!(kind(json!({"labels": {"a": 1}})), ViolationKind::Metadata);
    assert_eq!(kind(json!({"finalizers": 7})), ViolationKind::Metadata);
    assert!(
        matches!(kind(json!({"nmae": "a"})), ViolationKind::UnknownField { known } if known.contains(&"name".to_owned()))
    );
}

#[test]
fn what_is_said_beside_the_metadata_is_what_is_said_without_what_any_metadata_may_not_be() {
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true});
    let (of, _) = Schema::from_resource(
        &json!({"type": "object", "properties": {"part": embedded}}),
        false,
    );
    for metadata in [
        json!({"name": "a", "labels": {"a": "b"}}),
        json!({"name": "A", "labels": {"a": 1, "b": "b c"}, "nmae": 1}),
        json!({"finalizers": 7, "annotations": {"/": "x"}, "label": {}}),
        json!(7),
        json!(null),
    ] {
        let part = json!({"apiVersion": "v1", "kind": "A", "metadata": metadata});
        let value = json!({"metadata": metadata, "part": part});
        let mut expected = of.validate(&value);
        expected.retain(|violation| violation.kind != ViolationKind::Metadata);
        assert_eq!(of.validate_beside_metadata(&value), expected, "{metadata}");
    }
}

#[test]
fn metadata_is_refused_in_the_words_of_an_api_server() {
    let said = |metadata: Value| -> Vec<String> {
        let violations =
            crate::check_metadata(&json!({"kind": "Any", "metadata": metadata, "data": {"a": 1}}));
        assert!(
            violations
                .iter()
                .all(|violation| violation.kind == ViolationKind::Metadata)
        );
        violations.iter().map(ToString::to_string).collect()
    };
    let owner = |more: Value| {
        let mut owner = json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u"});
        owner
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        owner
    };
    let owners = |more: Value| said(json!({"ownerReferences": [owner(more)]}));
    for right in [
        json!({}),
        json!({"apiVersion": "apps/v1"}),
        json!({"apiVersion": "/v1", "controller": true, "blockOwnerDeletion": null}),
    ] {
        assert_eq!(owners(right.clone()), Vec::<String>::new(), "{right}");
    }
    for api_version in ["", "/", "apps/", "a/b/v1"] {
        assert_eq!(
            owners(json!({"apiVersion": api_version})),
            [format!(
                "metadata.ownerReferences.apiVersion: Invalid value: {api_version:?}: version must not be empty"
            )]
        );
    }
    for field in ["kind", "name", "uid"] {
        let mut without = owner(json!({}));
        without.as_object_mut().unwrap().remove(field);
        let expected = format!("metadata.ownerReferences.{field}: Invalid value: \"\": must not be empty");
        for wrong in [owner(json!({field: ""})), without] {
            assert_eq!(said(json!({"ownerReferences": [wrong]})).join("\n"), expected);
        }
    }
    assert_eq!(
        owners(json!({"kind": "Event"})),
        ["metadata.ownerReferences: Invalid value: /v1, Kind=Event is disallowed from being an owner"]
    );
    assert_eq!(
        said(json!({"ownerReferences": [
            owner(json!({"controller": true})), owner(json!({"controller": false})),
            owner(json!({"controller": true, "name": "b"}))]})),
        [
            "metadata.ownerReferences: Invalid value: Only one reference can have Controller set to true. Found \"true\" in \
          references for A/a and A/b"
        ]
    );
    // Of a wrong type: nothing more is reported about any of it.
    for wrong in [
        json!({"ownerReferences": {}}),
        json!({"ownerReferences": [[]]}),
        json!({"ownerReferences": [owner(json!({"controller": "true"}))]}),
        json!({"ownerReferences": [owner(json!({"uid": 7}))]}),
        json!({"managedFields": {}}),
        json!({"deletionTimestamp": []}),
        json!({"generation": 9_223_372_036_854_775_808_u64}),
    ] {
        assert_eq!(said(wrong.clone()).len(), 1, "{wrong}");
    }
    assert_eq!(
        said(json!({"finalizers": ["a b", "orphan", "foregroundDeletion"]}))[1],
        "metadata.finalizers: Invalid value: []string{\"a b\", \"orphan\", \"foregroundDeletion\"}: finalizer orphan and \
         foregroundDeletion cannot be both set"
    );
    assert!(
        said(json!({"finalizers": ["a b"]}))[0].starts_with("metadata.finalizers: Invalid value: \"a b\": ")
    );
    assert!(
        said(json!({"creationTimestamp": "x"}))[0]
            .starts_with("metadata.creationTimestamp: Invalid value: \"x\": ")
    );
    assert!(
        said(json!({"generateName": "A-"}))[0].starts_with("metadata.generateName: Invalid value: \"A-\": ")
    );
    // A null is decoded as nothing of its type.
    assert_eq!(said(json!({"ownerReferences": [null]})).len(), 4);
    assert_eq!(said(json!({"finalizers": [null]})).len(), 1);
    // What is written anew on creation is not looked at, and a prefix may end in a hyphen.
    for right in [
        json!({"generation": -1, "managedFields": [{}], "generateName": "a-"}),
        json!({"finalizers": ["a.b/c"], "creationTimestamp": null, "ownerReferences": null}),
        json!({"managedFields": [null], "labels": {"a": null}}),
    ] {
        assert_eq!(said(right.clone()), Vec::<String>::new(), "{right}");
    }
}

#[test]
fn values_below_a_separate_status_do_not_count_but_unknown_fields_do() {
    let of = |separate| {
        let schema = json!({"type": "object", "properties": {"status": {"type": "object", "required": ["a"],
            "properties": {"a": {"type": "string"}}}}});
        let (schema, _) = Schema::from_resource(&schema, separate);
        let mut all = texts(&schema, &json!({"status": {"a": 1, "b": 2}}));
        all.extend(texts(&schema, &json!({"status": 7})));
        all
    };
    assert_eq!(of(true), ["unknown field \"status.b\""]);
    assert_eq!(of(false).len(), 3);
}

#[test]
fn an_enum_says_what_it_supports() {
    let of = schema(json!({"type": "string", "enum": ["a", "b"]}));
    let expected = ViolationKind::NotSupported {
        value: json!("c"),
        supported: vec![json!("a"), json!("b")],
    };
    assert_eq!(of.validate(&json!("c"))[0].kind, expected);
}

#[test]
fn fields_are_found_by_path() {
    let of = schema(json!({"properties": {"spec": {"properties": {"targetRefs": {}}}}}));
    assert!(of.has_field(&["spec", "targetRefs"]));
    assert!(!of.has_field(&["spec", "targetRef"]));
}

#[test]
fn schemas_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Schema>();
}

#[test]
fn nested_choices_cost_no_more_than_their_number() {
    let mut nested = json!({"type": "string"});
    for _ in 0..60 {
        nested = json!({"anyOf": [nested, {"type": "boolean"}]});
    }
    let of = schema(nested);
    assert_eq!(texts(&of, &json!(7)).len(), 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "required",
        "enum",
        "pattern",
        "minimum",
        "maxLength",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "not",
        "default",
        "nullable",
        "format",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-validations",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "rule",
        "metadata",
        "apiVersion",
        "kind",
        "a",
        "b",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "object",
            "array",
            "string",
            "integer",
            "set",
            "map",
            "int32",
            "self.a > 1",
            "(",
            "x"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone(), inner, 0..5).prop_map(|fields| Value::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_and_no_value_ever_panics(schema in any_json(), value in any_json()) {
        let (resource, _) = Schema::from_resource(&schema, false);
        let _ = resource.validate(&value);
        let (plain, _) = Schema::from_value(&schema);
        let _ = plain.validate(&value);
    }

    #[test]
    fn a_check_says_the_same_of_a_value_and_of_its_stored_form(schema in any_json(), value in any_json()) {
        let (of, _) = Schema::from_value(&schema);
        let stored = of.defaulted(&value).into_owned();
        let of_stored = of.validate_defaulted(&stored);
        prop_assert_eq!(texts(&of, &value), of_stored.iter().map(ToString::to_string).collect::<Vec<_>>());
    }

    #[test]
    fn completing_twice_changes_nothing_more(schema in any_json(), value in any_json()) {
        let (of, _) = Schema::from_value(&schema);
        let once = of.defaulted(&value).into_owned();
        prop_assert_eq!(of.defaulted(&once).into_owned(), once);
    }
}

#[test]
fn a_broken_definition_says_its_field_as_an_api_server_does() {
    let definition = json!({"metadata": {"name": "tests"}, "spec": {
        "group": "example.com", "names": {"kind": "Test", "plural": "tests"}, "scope": "Cluster",
        "versions": [{"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "properties": {"type": "object", "properties": {"a.b": {"type": "string", "pattern": "("}}}}}}}]}});
    let crd = crate::Crd::read(&definition).expect("readable");
    let said: Vec<String> = crd
        .problems
        .iter()
        .chain(&crd.verify(&Work::default()))
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        said[0],
        "metadata.name: Invalid value: \"tests\": must be spec.names.plural+\".\"+spec.group"
    );
    assert!(
        said[1].starts_with(
            "spec.versions[0].schema.openAPIV3Schema.properties[properties].properties[a.b].pattern: Invalid value: \"(\": \
             must be a valid regular expression, but isn't: "
        ),
        "{}",
        said[1]
    );
}

#[test]
fn a_pattern_that_is_too_large_here_refuses_what_it_would_judge() {
    let pattern = "[a-z]{1,1000}".repeat(200);
    let of = schema(json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}));
    let said = texts(&of, &json!({"a": "b"}));
    assert_eq!(
        said,
        [
            "a: Invalid value: \"b\": it is not known whether a in body matches its pattern: it is too large to compile"
        ]
    );
    let problems = of.verify();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].unsupported && problems[0].message.ends_with("it is too large to compile"));
}

#[test]
fn a_strangers_schema_ends_where_its_work_is_spent() {
    // Defaults in defaults, each of them a list.
    let mut node = json!({"type": "string", "default": "text"});
    for name in ["d", "c", "b", "a"] {
        let items: Vec<Value> = vec![json!({}); 100];
        node = json!({"type": "array", "default": items, "items": {"type": "object", "properties": {name: node}}});
    }
    let of = schema(json!({"type": "object", "properties": {"x": node}}));
    let work = Work::with_limit(1_000_000);
    let _ = of.validate_within(&json!({}), &work);
    assert!(work.is_spent());

    // Many choices for many items.
    let choices: Vec<Value> = (0..2_000).map(|n| json!({"enum": [n]})).collect();
    let of = schema(json!({"type": "array", "items": {"type": "integer", "anyOf": choices}}));
    let work = Work::with_limit(200_000);
    let _ = of.validate_within(&json!(vec![1_999; 5_000]), &work);
    assert!(work.is_spent());

    // What is cheap is never too much.
    let work = Work::with_limit(0);
    let of = schema(json!({"type": "object", "properties": {"x": {"type": "string", "maxLength": 3}}}));
    assert_eq!(of.validate_within(&json!({"x": "abc"}), &work), vec![]);
    assert!(!work.is_spent());
}

#[test]
fn mistakes_below_a_long_key_are_told_until_their_pointers_are_too_much() {
    let of = schema(
        json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}),
    );
    let told = |key: usize| {
        let value = json!({"k".repeat(key): vec!["text"; 1_000]});
        of.validate(&value).len()
    };
    assert_eq!(told(100), 200, "a key that anybody would write");
    assert_eq!(told(10_000), 7);
    assert_eq!(told(400_000), 1, "one mistake is always told");
}

#[test]
fn a_default_that_the_schema_refuses_is_told_among_its_neighbors() {
    let of = schema(json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": "integer", "default": "wrong"}, "c": {"type": "integer"},
        "d": {"type": "object", "default": {}, "properties": {"e": {"type": "string", "default": 7}}}}}));
    let fields = |value: Value| -> Vec<String> {
        let violations = of.validate(&value).into_iter();
        violations.map(|violation| violation.field).collect()
    };
    assert_eq!(fields(json!({"a": "x", "c": "x"})), ["a", "b", "c", "d.e"]);
    assert_eq!(fields(json!({"b": null})), ["b", "d.e"]);
    assert_eq!(fields(json!({"b": 1, "d": {"e": "right"}})), Vec::<String>::new());
}

#[test]
fn a_null_inside_a_default_goes_whether_or_not_there_are_others() {
    let of = schema(json!({"type": "object", "properties": {"n": {"type": "string"},
        "d": {"type": "object", "default": {"e": null}, "properties": {"e": {"type": "string"}}}}}));
    for value in [json!({}), json!({"n": null}), json!({"d": null})] {
        assert_eq!(*of.defaulted(&value), json!({"d": {}}), "{value}");
        assert_eq!(texts(&of, &value), Vec::<String>::new(), "{value}");
    }
}
