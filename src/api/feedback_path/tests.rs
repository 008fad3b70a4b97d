//! Typical feedback paths, what they find, and what the agent refuses.

use jsonpath_rust::JsonPath as _;
use kube_json::{Value, json};
use proptest::prelude::*;

use super::problem::PathProblem;
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
    let object = object();
    let json = serde_json::Value::from(&object);
    let found = json.query(&path.rfc9535).ok()?.into_iter().next().cloned();
    let found = found.map(Value::from);
    if path.is_direct {
        assert_eq!(path.first(&object), found, "{path}");
    } else {
        assert_eq!(path.first(&object), None, "{path}");
    }
    found
}

#[test]
fn seventeen_typical_paths_find_what_client_go_finds() {
    for (path, expected) in [
        (".status.phase", json!("Running")),
        ("$.status.phase", json!("Running")),
        ("{.status.phase}", json!("Running")),
        (".status.ready", json!(true)),
        (".spec.replicas", json!(3)),
        (".status.addresses", object()["status"]["addresses"].clone()),
        (".status.addresses[0].value", json!("10.0.0.1")),
        (".status.addresses[*].value", json!("10.0.0.1")),
        (".status.counts[-1:]", json!(4)),
        (".status.counts[1:3]", json!(2)),
        (".status.counts[2,0]", json!(3)),
        (r#".status.conditions[?(@.type=="Ready")].status"#, json!("False")),
        (
            ".status.conditions[?(@.type=='Ready')].reason",
            json!("it's (not) \"ready\""),
        ),
        (".status.listeners[?(@.attachedRoutes>2)].name", json!("web.x")),
        (r".metadata.labels.app\.kubernetes\.io/name", json!("shop")),
        (r".metadata.labels['app\.kubernetes\.io/name']", json!("shop")),
        (
            r".metadata.labels['app\.kubernetes\.io/name','tier']",
            json!("shop"),
        ),
        ("..attachedRoutes", json!(2)),
        (".status['phase']", json!("Running")),
        (".['status'].phase", json!("Running")),
        ("['status.phase']", json!("Running")),
        (".status.listeners[?(@.name==\"web.x\")].attachedRoutes", json!(5)),
        (".status.conditions[?(@.reason)].type", json!("Accepted")),
        (".status.counts[0:4:2]", json!(1)),
        (".status.*", object()["status"]["addresses"].clone()),
    ] {
        assert_eq!(first(path), Some(expected), "{path}");
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
            let _ = serde_json::Value::from(object()).query(&path.rfc9535);
        }
    }

    #[test]
    fn every_accepted_path_is_rfc_9535_after_translation(path in r"(\.[a-c*]|\[[0-9]\]|\['[a-c]'\]|\[\?\(@\.[a-c]==1\)\]|\.\.[a-c]|\[[0-3]:[0-3]\]|\[\*\]){1,6}") {
        let parsed = FeedbackPath::parse(&path).expect("accepted");
        let object = serde_json::Value::from(object());
        prop_assert!(object.query(&parsed.rfc9535).is_ok(), "{} -> {}", path, parsed.rfc9535);
    }
}
