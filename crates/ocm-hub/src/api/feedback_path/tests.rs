//! Typical feedback paths, what they find, and what the agent refuses.

use kube_json::{Value, json};
use proptest::prelude::*;

use super::PathProblem;
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

fn first(path: &str) -> Option<Value> {
    let path = FeedbackPath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    path.first(&object())
}

#[test]
fn typical_paths_find_what_client_go_finds() {
    for (path, expected) in [
        (".status.phase", json!("Running")),
        ("$.status.phase", json!("Running")),
        ("{.status.phase}", json!("Running")),
        (".status.ready", json!(true)),
        (".spec.replicas", json!(3)),
        (".status.addresses", object()["status"]["addresses"].clone()),
        (".status.addresses[0].value", json!("10.0.0.1")),
        (".status.counts[-1]", json!(4)),
        (r#".status.conditions[?(@.type=="Ready")].status"#, json!("False")),
        (
            ".status.conditions[?(@.type=='Ready')].reason",
            json!("it's (not) \"ready\""),
        ),
        (".status.listeners[?(@.attachedRoutes>2)].name", json!("web.x")),
        (r".metadata.labels.app\.kubernetes\.io/name", json!("shop")),
        (r".metadata.labels['app\.kubernetes\.io/name']", json!("shop")),
        (".status['phase']", json!("Running")),
        (".['status'].phase", json!("Running")),
        ("['status.phase']", json!("Running")),
        (".status.listeners[?(@.name==\"web.x\")].attachedRoutes", json!(5)),
        (".status.conditions[?(@.reason)].type", json!("Accepted")),
    ] {
        assert_eq!(first(path), Some(expected), "{path}");
    }
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
fn a_path_that_leaves_open_what_comes_first_finds_nothing() {
    for path in [
        ".status.addresses[*].value",
        ".status.counts[-1:]",
        ".status.counts[1:3]",
        ".status.counts[0:4:2]",
        ".status.counts[2,0]",
        r".metadata.labels['app\.kubernetes\.io/name','tier']",
        "..attachedRoutes",
        ".status.*",
        ".status.conditions[?(@.*)].type",
    ] {
        assert_eq!(first(path), None, "{path}");
    }
}

#[test]
fn missing_values_are_no_error() {
    for path in [
        ".status.nothing",
        ".status.conditions[9].type",
        ".spec.replicas.x",
        ".a[?(@.b=='c')].d",
        // What is missing differs from nothing.
        ".status.addresses[?(@.nothing!='c')].value",
        ".status.addresses[?(@.value!=@.nothing)].value",
    ] {
        assert_eq!(first(path), None, "{path}");
    }
}

fn problem(path: &str) -> (usize, PathProblem) {
    let error = FeedbackPath::parse(path).expect_err(path);
    assert!(!error.help().is_empty());
    (error.offset, error.problem)
}

#[test]
fn what_the_agent_refuses_is_an_error_with_its_offset() {
    assert_eq!(problem(""), (0, PathProblem::Empty));
    assert_eq!(problem("{}"), (1, PathProblem::Empty));
    assert_eq!(
        problem("status.phase"),
        (0, PathProblem::Identifier("status".into()))
    );
    assert_eq!(problem("{range .items[*]}{.a}{end}"), (0, PathProblem::Range));
    assert_eq!(problem("range .items[*]"), (0, PathProblem::Range));
    assert_eq!(problem(".a[0"), (2, PathProblem::Unclosed("array")));
    assert_eq!(
        problem(".a[?(@.b==\"c\"].d"),
        (2, PathProblem::Unclosed("filter"))
    );
    assert_eq!(problem(".a[b]"), (3, PathProblem::Index("b".into())));
    assert_eq!(problem(".a[\"b\"]"), (3, PathProblem::Index("\"b\"".into())));
    assert_eq!(problem(".a[?(@.b=c)]"), (8, PathProblem::Operator("=".into())));
    assert_eq!(problem(".a[?(@.b==c)]"), (10, PathProblem::Unquoted("c".into())));
    assert_eq!(
        problem(".a[?(@.b==\"c\" && @.d==\"e\")]"),
        (14, PathProblem::Character('&'))
    );
    assert_eq!(problem(".a}{.b"), (2, PathProblem::Character('}')));
    assert_eq!(problem(".a[0:2:-1]"), (3, PathProblem::Step));
    assert_eq!(problem(".a[0:2:0]"), (3, PathProblem::Step));
    assert_eq!(problem(".a....b"), (4, PathProblem::TwiceRecursive));
    assert_eq!(problem("  #"), (2, PathProblem::Character('#')));
    // It would escape the brace that the agent puts behind the path.
    assert_eq!(problem(r".a\"), (2, PathProblem::Character('\\')));
    assert_eq!(problem("..*"), (2, PathProblem::Character('*')));
    assert_eq!(problem(r"..\.k"), (2, PathProblem::Character('\\')));
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
