//! Typical feedback paths, what they find, and what the agent refuses.

use kube_json::{Value, json};
use proptest::prelude::*;

use super::*;

fn object() -> Value {
    json!({
        "metadata": {"name": "web", "labels": {"app.kubernetes.io/name": "shop", "tier": "edge"}},
        "spec": {"replicas": 3},
        "status": {
            "phase": "Running",
            "ready": true,
            "addresses": [{"type": "IPAddress", "value": "10.0.0.1"}, {"type": "Hostname", "value": "a.b"}],
            "conditions": [
                {"type": "Accepted", "status": "True", "reason": "Accepted"},
                {"type": "Ready", "status": "False", "reason": "it's (not) \"ready\""},
            ],
            "listeners": [{"name": "api", "attachedRoutes": 2}, {"name": "web.x", "attachedRoutes": 5}],
            "counts": [1, 2, 3, 4],
        },
    })
}

#[test]
fn a_comparison_keeps_what_client_go_keeps() {
    let kept = |comparison: &str| {
        let path = format!(".items[?(@.{comparison})].name");
        let object = json!({"items": [
            {"name": "one", "count": 1, "share": 0.5, "on": true, "same": 1},
            {"name": "two", "count": 2, "share": 1.5, "on": false, "same": 3},
            {"name": "bare"},
        ]});
        let path = FeedbackPath::parse(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let found = found(&path.steps, &object)?;
        Some(
            found
                .iter()
                .filter_map(|name| name.as_str().map(ToOwned::to_owned))
                .collect::<Vec<_>>()
                .join(" "),
        )
    };
    for (comparison, expected) in [
        ("count==1", Some("one")),
        ("count!=1", Some("two")),
        ("count<2", Some("one")),
        ("count<=2", Some("one two")),
        ("count>1", Some("two")),
        ("count>=1", Some("one two")),
        ("share>=1.5", Some("two")),
        ("share!=0.5", Some("two")),
        ("on==true", Some("one")),
        ("on!=true", Some("two")),
        ("name<'c'", Some("bare")),
        ("count==@.same", Some("one")),
        ("count<@.same", Some("two")),
        ("count!=@.nothing", Some("")),
        // Values of two kinds, and an order of booleans, are errors.
        ("count==1.0", None),
        ("count=='1'", None),
        ("on<true", None),
        ("count[0]==1", None),
    ] {
        assert_eq!(kept(comparison).as_deref(), expected, "{comparison}");
    }
}

#[test]
fn braces_are_taken_off_because_ocm_adds_them() {
    assert_eq!(
        FeedbackPath::parse(" {.status.x} ").map(|path| path.to_string()),
        Ok(".status.x".to_owned())
    );
}

proptest! {
    #[test]
    fn no_text_ever_panics(path in r"[.\[\]?()@$'\\{},:*a-c0-9=<>! -]{0,40}") {
        if let Ok(path) = FeedbackPath::parse(&path) {
            let _ = path.first(&object());
        }
    }

    #[test]
    fn a_field_of_a_path_finds_what_a_lookup_finds(names in proptest::collection::vec("[a-c]", 1..4), inner in "[a-c]") {
        let object = json!({"a": {"a": {"b": 1}, "b": [1]}, "b": {"c": {"a": "x"}}, "c": inner});
        let path = FeedbackPath::parse(&format!(".{}", names.join("."))).expect("accepted");
        prop_assert_eq!(path.first(&object), object.pointer(&format!("/{}", names.join("/"))).cloned());
    }
}

#[test]
fn paths_find_what_client_go_finds_and_are_refused_as_the_agent_does() {
    test_sections::check_lines(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lines/feedback-paths.txt"),
        |line| match FeedbackPath::parse(line) {
            Ok(path) => format!("{path} finds {:?}", path.first(&object())),
            Err(error) => format!("at {}: {:?}; {}", error.offset, error.problem, error.help()),
        },
    );
}
