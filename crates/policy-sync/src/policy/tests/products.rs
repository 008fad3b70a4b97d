//! The effective policies of NGINX Gateway Fabric, kgateway, and GKE, and the reports of their controllers
//! (docs/systems/other-policies.md).

use kube_json::{Value, json};

use super::super::{Profiles, StatusShape};
use crate::outcome::PolicyEntry;
use crate::tests::{SMALL, Seen, hub};
use apimachinery::GroupKind;

/// A policy of a kind in `infra`, made in the year 2000 + `age`.
fn policy(kind: (&str, &str), name: &str, age: u8, annotations: &str, spec: &str) -> String {
    let (api_version, kind) = kind;
    format!(
        "---\napiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: infra\n  \
         creationTimestamp: \"20{age:02}-01-01T00:00:00Z\"\n  annotations: {{{annotations}}}\nspec: {spec}\n"
    )
}

fn target(kind: &str, name: &str) -> String {
    format!("{{group: gateway.networking.k8s.io, kind: {kind}, name: {name}}}")
}

const CLIENT: (&str, &str) = ("gateway.nginx.org/v1alpha1", "ClientSettingsPolicy");
const LIMIT: (&str, &str) = ("gateway.nginx.org/v1alpha1", "RateLimitPolicy");
const TRACE: (&str, &str) = ("gateway.nginx.org/v1alpha2", "ObservabilityPolicy");
const WAF: (&str, &str) = ("gateway.nginx.org/v1alpha1", "WAFPolicy");
const TRAFFIC: (&str, &str) = ("gateway.kgateway.dev/v1alpha1", "TrafficPolicy");

fn client(name: &str, age: u8, on: &str, settings: &str) -> String {
    policy(CLIENT, name, age, "", &format!("{{targetRef: {on}, {settings}}}"))
}

fn traffic(name: &str, age: u8, annotations: &str, on: &str, settings: &str) -> String {
    policy(
        TRAFFIC,
        name,
        age,
        annotations,
        &format!("{{targetRefs: [{on}], {settings}}}"),
    )
}

/// Type, status and reason of the conditions of a policy, and those for its first ancestor.
fn conditions(seen: &Seen<'_>, policy: &str) -> (Vec<String>, Vec<String>) {
    let entry = seen.view(|view| PolicyEntry::of_hub(view, seen.id(policy)));
    let shown = |condition: &crate::api::condition::Condition| {
        format!(
            "{} {} {}: {}",
            condition.kind, condition.status, condition.reason, condition.message
        )
    };
    let of_ancestor = entry
        .ancestors
        .first()
        .map(|ancestor| ancestor.conditions.as_slice());
    (
        entry.conditions.iter().map(shown).collect(),
        of_ancestor.unwrap_or_default().iter().map(shown).collect(),
    )
}

#[test]
fn nginx_adds_up_what_policies_of_one_target_set_as_long_as_no_field_is_set_twice() {
    let gateway = target("Gateway", "gw");
    let text = SMALL.to_owned()
        + &client("a", 1, &gateway, "body: {maxSize: 1m}")
        + &client("b", 2, &gateway, "body: {timeout: 1s}, keepAlive: {requests: 5}")
        + &client("c", 3, &gateway, "keepAlive: {requests: 6, time: 2s}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw"]),
        Some(json!({"body": {"maxSize": "1m", "timeout": "1s"}, "keepAlive": {"requests": 5}}))
    );
    assert_eq!(
        seen.said(),
        [
            "policy/same-target ClientSettingsPolicy infra/c and ClientSettingsPolicy infra/b both target Gateway infra/gw"
        ]
    );
    for (name, expected) in [
        (
            "a",
            "Accepted True Accepted: ClientSettingsPolicy has been accepted",
        ),
        (
            "b",
            "Accepted True Accepted: ClientSettingsPolicy has been accepted",
        ),
        (
            "c",
            "Accepted False Conflicted: Conflicts with another ClientSettingsPolicy",
        ),
    ] {
        let (_, of_ancestor) = conditions(&seen, &format!("ClientSettingsPolicy infra/{name}"));
        assert_eq!(of_ancestor, [expected], "{name}");
    }
}

#[test]
fn nginx_takes_each_directive_from_the_route_or_else_from_the_gateway() {
    let text = SMALL.to_owned()
        + &client(
            "g",
            1,
            &target("Gateway", "gw"),
            "body: {maxSize: 1m, timeout: 1s}",
        )
        + &client("r", 2, &target("HTTPRoute", "r2"), "body: {maxSize: 2m}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "r2"]),
        Some(json!({"body": {"maxSize": "2m", "timeout": "1s"}}))
    );
}

#[test]
fn nginx_adds_up_the_limits_of_one_level_and_replaces_those_of_the_level_above() {
    let limit = |name: &str, age: u8, on: &str, rates: &[&str]| {
        let rules: Vec<String> = rates.iter().map(|rate| format!("{{rate: {rate}}}")).collect();
        let spec = format!(
            "{{targetRefs: [{on}], rateLimit: {{local: {{rules: [{}]}}}}}}",
            rules.join(", ")
        );
        policy(LIMIT, name, age, "", &spec)
    };
    let (gateway, route) = (target("Gateway", "gw"), target("HTTPRoute", "r2"));
    let text = SMALL.to_owned()
        + &limit("g1", 1, &gateway, &["1r/s"])
        + &limit("g2", 2, &gateway, &["2r/s", "3r/s"])
        + &limit("g3", 3, &gateway, &["4r/s"])
        + &limit("r", 4, &route, &["9r/s"]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let rates = |path: &[&str]| -> Vec<Value> {
        let spec = seen.spec(path).expect("limits");
        let rules = spec["rateLimit"]["local"]["rules"]
            .as_array()
            .expect("rules")
            .clone();
        rules.into_iter().map(|rule| rule["rate"].clone()).collect()
    };
    assert_eq!(rates(&["gw"]), ["1r/s", "2r/s", "3r/s", "4r/s"]);
    assert_eq!(rates(&["gw", "r2"]), ["9r/s"]);
    // Both routes of the hub are at the same path.
    let is_expected = |said: &String| said.ends_with("HTTPRoute infra/r1 is at `*/`, too");
    assert!(seen.said().iter().all(is_expected), "{:?}", seen.said());
    let text = text + &limit("r-2", 5, &route, &["8r/s"]);
    let hub = crate::tests::hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let spec = seen.spec(&["gw", "r2"]).expect("limits");
    assert_eq!(
        spec["rateLimit"]["local"]["rules"],
        json!([{"rate": "9r/s"}, {"rate": "8r/s"}]),
        "nothing of the Gateway is left behind those of the route"
    );
}

#[test]
fn nginx_inherits_what_a_route_has_no_directive_for_an_empty_list_or_a_switch_that_is_off() {
    let limit = |name: &str, on: &str, settings: &str| {
        let spec = format!("{{targetRefs: [{on}], rateLimit: {settings}}}");
        policy(LIMIT, name, 1, "", &spec)
    };
    let text = SMALL.to_owned()
        + &limit(
            "gateway",
            &target("Gateway", "gw"),
            "{dryRun: true, rejectCode: 429, local: {rules: [{rate: 1r/s}]}}",
        )
        + &limit(
            "switched-off",
            &target("HTTPRoute", "r1"),
            "{dryRun: false, local: {rules: []}}",
        )
        + &limit(
            "own",
            &target("HTTPRoute", "r2"),
            "{rejectCode: 503, local: {rules: [{rate: 9r/s}]}}",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let spec = |path: &[&str]| seen.spec(path).expect("limits")["rateLimit"].clone();
    let of_gateway = json!({"dryRun": true, "rejectCode": 429, "local": {"rules": [{"rate": "1r/s"}]}});
    assert_eq!(spec(&["gw", "r1"]), of_gateway);
    let own = json!({"dryRun": true, "rejectCode": 503, "local": {"rules": [{"rate": "9r/s"}]}});
    assert_eq!(spec(&["gw", "r2"]), own);
}

#[test]
fn nginx_refuses_the_newer_of_two_that_trace_and_no_second_firewall() {
    let (route, gateway) = (target("HTTPRoute", "r2"), target("Gateway", "gw"));
    let trace = |name: &str, age: u8, settings: &str| {
        policy(
            TRACE,
            name,
            age,
            "",
            &format!("{{targetRefs: [{route}]{settings}}}"),
        )
    };
    let waf = |name: &str, age: u8| {
        let source = format!("type: HTTP, policySource: {{httpSource: {{url: \"http://{name}\"}}}}");
        policy(
            WAF,
            name,
            age,
            "",
            &format!("{{targetRefs: [{gateway}], {source}}}"),
        )
    };
    let text = SMALL.to_owned()
        + &trace("a", 1, "")
        + &trace("b", 2, ", tracing: {strategy: ratio}")
        + &trace("c", 3, ", tracing: {strategy: parent}")
        + &waf("one", 1)
        + &waf("two", 2);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert!(
        seen.state("ObservabilityPolicy infra/a")
            .starts_with("True/Accepted")
    );
    assert!(
        seen.state("ObservabilityPolicy infra/b")
            .starts_with("True/Accepted")
    );
    assert!(
        seen.state("ObservabilityPolicy infra/c")
            .starts_with("False/Conflicted")
    );
    let (own, _) = conditions(&seen, "WAFPolicy infra/two");
    assert!(own[0].starts_with("Accepted True"), "{own:?}");
}

/// What TrafficPolicies on the Gateway and on `r2` come to, with this annotation of the Gateway.
fn inherited(annotation: &str, gateway: &str, route: &str) -> Value {
    let small = SMALL.replace(
        "metadata: {name: gw, namespace: infra}",
        &format!("metadata: {{name: gw, namespace: infra, annotations: {{{annotation}}}}}"),
    );
    let text = small
        + &traffic("g", 1, "", &target("Gateway", "gw"), gateway)
        + &traffic("r", 2, "", &target("HTTPRoute", "r2"), route);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    seen.spec(&["gw", "r2", "r2#rule-1"]).expect("a result")
}

const PARENT: &str = "timeouts: {request: 9s, streamIdle: 9s}, rateLimit: {local: {a: 1}, global: {b: 1}}";
const CHILD: &str = "timeouts: {request: 1s}, rateLimit: {local: {c: 1}}, cors: {d: 1}";

#[test]
fn kgateway_takes_each_field_at_the_top_whole_from_the_route_unless_the_gateway_insists() {
    let rate_limit = json!({"local": {"c": 1}, "global": {"b": 1}});
    let child = json!({"timeouts": {"request": "1s"}, "rateLimit": rate_limit, "cors": {"d": 1}});
    assert_eq!(inherited("", PARENT, CHILD), child);
    let annotation = |value: &str| format!("kgateway.dev/inherited-policy-priority: {value}");
    assert_eq!(
        inherited(&annotation("ShallowMergePreferChild"), PARENT, CHILD),
        child
    );
    assert_eq!(inherited(&annotation("nonsense"), PARENT, CHILD), child);
    let parent = json!({"timeouts": {"request": "9s", "streamIdle": "9s"},
        "rateLimit": {"local": {"a": 1}, "global": {"b": 1}}, "cors": {"d": 1}});
    assert_eq!(
        inherited(&annotation("ShallowMergePreferParent"), PARENT, CHILD),
        parent
    );
}

#[test]
fn kgateway_merges_transformations_deeply_where_the_gateway_asks_for_it() {
    let transform = |value: &str, body: &str| {
        format!(
            "timeouts: {{request: {value}}}, transformation: {{request: {{set: [{{name: x, value: {value}}}], body: {body}}}}}"
        )
    };
    let (parent, child) = (transform("9s", "p"), transform("1s", "c"));
    let annotation = |value: &str| format!("kgateway.dev/inherited-policy-priority: {value}");
    let set = |first: &str, second: &str, body: &str| {
        json!({"timeouts": {"request": second}, "transformation": {"request": {
            "set": [{"name": "x", "value": first}, {"name": "x", "value": second}], "body": body}}})
    };
    let deep = inherited(&annotation("DeepMergePreferChild"), &parent, &child);
    assert_eq!(deep, set("9s", "1s", "c"));
    let deep = inherited(&annotation("DeepMergePreferParent"), &parent, &child);
    assert_eq!(deep, set("1s", "9s", "p"));
    let shallow = inherited(&annotation("ShallowMergePreferChild"), &parent, &child);
    let own = json!({"set": [{"name": "x", "value": "1s"}], "body": "c"});
    assert_eq!(shallow["transformation"]["request"], own);
}

#[test]
fn kgateway_asks_on_one_level_for_the_weight_then_for_the_age() {
    let gateway = target("Gateway", "gw");
    let weight = |weight: i32| format!("kgateway.dev/policy-weight: \"{weight}\"");
    let text = SMALL.to_owned()
        + &traffic("old", 1, "", &gateway, "timeouts: {request: 1s}, cors: {a: 1}")
        + &traffic("heavy", 9, &weight(10), &gateway, "timeouts: {request: 2s}")
        + &traffic(
            "light",
            2,
            &weight(-1),
            &gateway,
            "cors: {b: 1}, retry: {attempts: 1}",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "r2", "r2#rule-1"]),
        Some(json!({"timeouts": {"request": "2s"}, "cors": {"a": 1}, "retry": {"attempts": 1}}))
    );
    let rule = |winner: &str, loser: &str| {
        let id = |name: &str| seen.id(&format!("TrafficPolicy infra/{name}"));
        seen.attachments.rule_on_one_node(id(winner), id(loser)).name()
    };
    assert_eq!(
        (rule("heavy", "old"), rule("old", "light")),
        ("priority", "priority")
    );
}

#[test]
fn kgateway_reports_accepted_and_attached() {
    let text = SMALL.to_owned()
        + &traffic(
            "g",
            1,
            "",
            &target("Gateway", "gw"),
            "timeouts: {request: 9s}, cors: {a: 1}",
        )
        + &traffic("r", 2, "", &target("HTTPRoute", "r2"), "timeouts: {request: 1s}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let (_, of_ancestor) = conditions(&seen, "TrafficPolicy infra/r");
    assert_eq!(
        of_ancestor,
        [
            "Accepted True Valid: Policy accepted",
            "Attached True Attached: Attached to all targets"
        ]
    );
    let (_, of_ancestor) = conditions(&seen, "TrafficPolicy infra/g");
    assert_eq!(
        of_ancestor.last().map(String::as_str),
        Some("Attached True Merged: Merged with other policies in target(s) and attached")
    );
}

#[test]
fn gke_reports_attached_alone_and_has_settings_bare_or_under_default() {
    let service = "{group: \"\", kind: Service, name: s}";
    let kind = |kind: &'static str| ("networking.gke.io/v1", kind);
    let text = SMALL.to_owned()
        + &policy(
            kind("HealthCheckPolicy"),
            "h",
            1,
            "",
            &format!("{{targetRef: {service}, default: {{checkIntervalSec: 9}}}}"),
        )
        + &policy(
            kind("GCPSessionAffinityPolicy"),
            "a",
            1,
            "",
            &format!("{{targetRef: {service}, statefulGeneratedCookie: {{cookieTtlSeconds: 5}}}}"),
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert!(seen.said().is_empty(), "{:?}", seen.said());
    let of_kind = |kind: &str| {
        let report = seen.report();
        let found = report
            .effective
            .iter()
            .find(|entry| &*entry.kind == kind)
            .expect("a result");
        found.result.spec.clone()
    };
    assert_eq!(of_kind("HealthCheckPolicy"), Some(json!({"checkIntervalSec": 9})));
    assert_eq!(
        of_kind("GCPSessionAffinityPolicy"),
        Some(json!({"statefulGeneratedCookie": {"cookieTtlSeconds": 5}}))
    );
    let (own, of_ancestor) = conditions(&seen, "HealthCheckPolicy infra/h");
    assert_eq!(
        own,
        ["Attached True Attached: HealthCheckPolicy has been accepted"]
    );
    assert_eq!(of_ancestor, [""; 0]);
}

#[test]
fn each_controller_reports_in_its_own_form_and_a_version_without_a_profile_too() {
    use StatusShape::{Accepted, EnvoyGateway, Kgateway, Kuadrant, Nothing};
    let profiles = Profiles::built_in();
    for (group, kind, status, in_mesh) in [
        ("gateway.networking.k8s.io", "BackendTLSPolicy", Accepted, true),
        ("gateway.nginx.org", "ClientSettingsPolicy", Accepted, false),
        ("gateway.kgateway.dev", "TrafficPolicy", Kgateway, false),
        (
            "gateway.envoyproxy.io",
            "BackendTrafficPolicy",
            EnvoyGateway,
            false,
        ),
        ("kuadrant.io", "DNSPolicy", Kuadrant, false),
        ("kuadrant.io", "AuthPolicy", Kuadrant, false),
        ("extensions.kuadrant.io", "OIDCPolicy", Kuadrant, false),
        ("security.istio.io", "AuthorizationPolicy", Nothing, true),
    ] {
        for profile in profiles.get(&GroupKind::new(group, kind)) {
            assert_eq!((profile.status, profile.in_mesh), (status, in_mesh), "{kind}");
            let undescribed = profile.undescribed();
            assert_eq!(
                (undescribed.status, undescribed.in_mesh),
                (status, in_mesh),
                "{kind}"
            );
        }
        assert!(!profiles.get(&GroupKind::new(group, kind)).is_empty(), "{kind}");
    }
}

#[test]
fn nginx_inherits_no_list_of_the_level_above_and_every_other_field() {
    let limit = |name: &str, on: &str, settings: &str| {
        let spec = format!("{{targetRefs: [{on}], rateLimit: {settings}}}");
        policy(LIMIT, name, 1, "", &spec)
    };
    let text = SMALL.to_owned()
        + &limit(
            "alone",
            &target("HTTPRoute", "r1"),
            "{dryRun: false, rejectCode: 429}",
        )
        + &limit(
            "switched-off",
            &target("Gateway", "gw"),
            "{dryRun: false, local: {rules: [{rate: 1r/s}]}}",
        )
        + &limit("switched-on", &target("HTTPRoute", "r2"), "{dryRun: true}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let spec = |path: &[&str]| seen.spec(path).expect("limits")["rateLimit"].clone();
    assert_eq!(
        spec(&["gw", "r2"]),
        json!({"dryRun": true, "local": {"rules": [{"rate": "1r/s"}]}}),
        "a switch that is on is a directive"
    );
    assert_eq!(
        spec(&["gw", "r1"]),
        json!({"dryRun": false, "rejectCode": 429, "local": {"rules": [{"rate": "1r/s"}]}}),
        "both are off"
    );
}
