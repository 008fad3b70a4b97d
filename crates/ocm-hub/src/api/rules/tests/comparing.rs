//! Objects whose structure is valid: our rules refuse exactly those that the CRD refuses.

use std::cell::Cell;

use kube_json::{Map, Value, json};
use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::{Config, TestRunner};

use crate::api::crd;
use crate::api::rules::broken;
use crate::diagnostic::Severity;
use crate::tests::{object, real_crds};

/// What makes values.
pub(super) type Made = BoxedStrategy<Value>;

/// One of several values; null is an absent one.
pub(super) fn pick(values: &Value) -> Made {
    proptest::sample::select(values.as_array().expect("a list").clone()).boxed()
}

pub(super) fn map(fields: Vec<(&'static str, Made)>) -> Made {
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let made = move |values: Vec<Value>| {
        let entries = names.iter().map(|name| (*name).to_owned()).zip(values);
        Value::Object(entries.filter(|(_, value)| !value.is_null()).collect::<Map>())
    };
    values.prop_map(made).boxed()
}

pub(super) fn list(item: Made, count: std::ops::Range<usize>) -> Made {
    prop::collection::vec(item, count).prop_map(Value::Array).boxed()
}

pub(super) fn maybe(made: Made) -> Made {
    prop_oneof![2 => Just(Value::Null), 1 => made].boxed()
}

/// Every object of the kind is refused by the CRDs at these paths, or by none, as by our rules.
pub(super) fn compare(file: &str, api_version: &'static str, kind: &'static str, spec: &Made) {
    let crds = real_crds();
    let found = crds
        .iter()
        .find(|(path, _)| path.ends_with(file))
        .unwrap_or_else(|| panic!("no {file}"));
    let (crd, _) = crd::read(&found.1);
    let crd = crd.expect("a CRD");
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config::with_cases(500));
    runner
        .run(spec, |spec| {
            let object = object(json!({"apiVersion": api_version, "kind": kind,
                "metadata": {"name": "x", "namespace": "a"}, "spec": spec}));
            let theirs: Vec<kube_json::Text> = crd::check(&crd, &object, &apimachinery::Work::unlimited())
                .into_iter()
                .map(|finding| finding.message)
                .collect();
            let found = broken(&object);
            let ours: Vec<&kube_json::Text> = found
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .map(|finding| &finding.message)
                .collect();
            let count = if theirs.is_empty() { &accepted } else { &refused };
            count.set(count.get() + 1);
            prop_assert_eq!(
                theirs.is_empty(),
                ours.is_empty(),
                "theirs {:#?}\nours {:#?}",
                theirs,
                ours
            );
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{kind}: {error}"));
    let counts = (accepted.get(), refused.get());
    assert!(
        counts.0 > 10 && counts.1 > 10,
        "{kind}: accepted and refused {counts:?}"
    );
}

pub(super) fn names() -> Made {
    pick(&json!([
        null,
        null,
        "a.example.com",
        "*.example.com",
        "a.*.com",
        "A.com",
        "192.0.2.1",
        "*."
    ]))
}
