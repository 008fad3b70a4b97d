//! Targets, and what is wrong with them.

use kube_json::json;

use super::super::Options;
use crate::diagnostic::Severity;
use crate::outcome::EffectiveEntry;
use crate::tests::{SMALL, Seen, color, color_crd, hub, limit, small_with_params};

const LIMITS: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

fn severities(seen: &Seen<'_>) -> Vec<(String, Severity)> {
    let all = seen.findings.iter();
    all.map(|finding| (finding.code.name().to_owned(), finding.severity))
        .collect()
}

#[test]
fn a_missing_gateway_or_listener_is_an_error_and_a_missing_route_a_warning() {
    for (target, severity) in [
        ("kind: Gateway, name: nope", Severity::Error),
        ("kind: Gateway, name: gw, sectionName: nope", Severity::Error),
        ("kind: HTTPRoute, name: nope", Severity::Warning),
        ("kind: HTTPRoute, name: r1, sectionName: nope", Severity::Warning),
    ] {
        let hub = hub(&(SMALL.to_owned() + &limit("p", target, LIMITS)), &[]);
        let seen = Seen::hub(&hub);
        assert_eq!(
            severities(&seen),
            [("policy/target-not-found".to_owned(), severity)],
            "{target}"
        );
        let state = seen.state("RateLimitPolicy infra/p");
        assert!(
            state.starts_with("False/TargetNotFound: RateLimitPolicy target "),
            "{state}"
        );
        assert!(state.ends_with(" was not found"), "{state}");
    }
}

#[test]
fn a_missing_section_names_those_that_exist() {
    let hub = hub(
        &(SMALL.to_owned() + &limit("p", "kind: HTTPRoute, name: r1, sectionName: second", LIMITS)),
        &[],
    );
    let seen = Seen::hub(&hub);
    let finding = seen.findings.iter().next().unwrap();
    assert_eq!(finding.message, "HTTPRoute infra/r1 has no rule `second`");
    assert_eq!(finding.help.as_deref(), Some("it has: first, rule-2"));
}

#[test]
fn bad_policies_are_findings_and_the_rest_is_still_explained() {
    let group = "group: gateway.networking.k8s.io";
    for (bad, said) in [
        (
            limit(
                "bad",
                "kind: Gateway, name: gw",
                &format!("defaults: {{{LIMITS}}}, overrides: {{{LIMITS}}}"),
            ),
            "policy/invalid `defaults` and `overrides` cannot be used together in a RateLimitPolicy",
        ),
        (
            limit(
                "bad",
                "kind: Gateway, name: gw",
                &format!("defaults: {{{LIMITS}}}, {LIMITS}"),
            ),
            "policy/invalid `defaults` and settings in the spec itself cannot be used together in a RateLimitPolicy",
        ),
        (
            limit(
                "bad",
                "kind: Gateway, name: gw",
                &format!("defaults: {{strategy: patch, {LIMITS}}}"),
            ),
            "policy/invalid `patch` is not a merge strategy of RateLimitPolicy",
        ),
        (
            limit("bad", "kind: Gateway, name: gw", LIMITS)
                .replace(group, "group: gateway.networking.k8s.io/v1"),
            "policy/invalid the group of a target must not contain a version: `gateway.networking.k8s.io/v1`",
        ),
        (
            limit("bad", "kind: TLSRoute, name: r1", LIMITS),
            "policy/invalid a RateLimitPolicy cannot target a TLSRoute",
        ),
        (
            limit(
                "bad",
                "kind: Gateway, name: gw",
                &format!("targetRefs: [], {LIMITS}"),
            ),
            "policy/invalid RateLimitPolicy infra/bad has both `targetRef` and `targetRefs`",
        ),
    ] {
        let text = SMALL.to_owned() + &bad + &limit("good", "kind: HTTPRoute, name: r1", LIMITS);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        assert!(
            seen.said().contains(&said.to_owned()),
            "{said}: {:?}",
            seen.said()
        );
        assert!(
            seen.state("RateLimitPolicy infra/bad")
                .starts_with("False/Invalid"),
            "{said}"
        );
        assert!(
            seen.state("RateLimitPolicy infra/good")
                .starts_with("True/Enforced"),
            "{said}"
        );
        assert!(seen.spec(&["gw", "gw#http", "r1", "r1#first"]).is_some());
    }
}

#[test]
fn an_unknown_strategy_of_an_undescribed_kind_is_only_a_warning() {
    let text = SMALL.to_owned()
        + &color_crd("Inherited")
        + &color(
            "c",
            "group: gateway.networking.k8s.io, kind: Gateway, name: gw",
            "strategy: round-robin, x: 1",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        severities(&seen),
        [("policy/invalid".to_owned(), Severity::Warning)]
    );
    assert_eq!(
        seen.spec(&["gw"]),
        Some(json!({"strategy": "round-robin", "x": 1}))
    );
}

#[test]
fn a_field_that_no_rule_covers_is_ignored_and_said_so() {
    let text = SMALL.to_owned()
        + &limit(
            "p",
            "kind: Gateway, name: gw",
            &format!("defaults: {{{LIMITS}, burst: 3}}"),
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        severities(&seen),
        [("policy/ignored-field".to_owned(), Severity::Warning)]
    );
    assert!(seen.state("RateLimitPolicy infra/p").starts_with("True/Enforced"));
}

#[test]
fn a_target_in_another_namespace_needs_a_reference_grant() {
    let elsewhere = limit("p", "kind: Gateway, name: gw, namespace: infra", LIMITS)
        .replace("namespace: infra}\nspec", "namespace: apps}\nspec");
    let without = hub(&(SMALL.to_owned() + &elsewhere), &[]);
    let seen = Seen::hub(&without);
    assert_eq!(
        severities(&seen),
        [("policy/ref-not-permitted".to_owned(), Severity::Error)]
    );
    assert_eq!(seen.effective.len(), 0);
    assert!(seen.state("RateLimitPolicy apps/p").starts_with("False/Invalid"));
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\n\
                 metadata: {name: g, namespace: infra}\nspec: {from: [{group: kuadrant.io, kind: RateLimitPolicy, namespace: apps}], \
                 to: [{group: gateway.networking.k8s.io, kind: Gateway}]}\n";
    let with = hub(&(SMALL.to_owned() + &elsewhere + grant), &[]);
    let seen = Seen::hub(&with);
    assert!(seen.said().is_empty(), "{:?}", seen.said());
    assert_ne!(seen.effective.len(), 0);
}

#[test]
fn selectors_choose_by_label_in_the_policys_own_namespace() {
    let text = SMALL.to_owned()
        + "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: infra, labels: {tier: web}}\n\
           spec: {gatewayClassName: gc, listeners: []}\n\
           ---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: far, namespace: apps, labels: {tier: web}}\n\
           spec: {gatewayClassName: gc, listeners: []}\n\
           ---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: t, namespace: infra}\n\
           spec: {targetSelectors: [{kind: Gateway, matchLabels: {tier: web}}], timeout: 1s}\n";
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let policy = seen.attachments.policy(seen.id("TrafficPolicy infra/t"));
    let names: Vec<&str> = policy
        .targets
        .iter()
        .map(|declared| declared.name.as_str())
        .collect();
    assert_eq!(names, ["other"]);
}

#[test]
fn a_selector_of_a_kind_that_may_not_be_targeted_is_refused_as_a_target() {
    let text = SMALL.to_owned()
        + "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: t, namespace: infra}\n\
           spec: {targetSelectors: [{group: '', kind: Service, matchLabels: {}}], timeout: 1s}\n";
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let id = seen.id("TrafficPolicy infra/t");
    let said = super::super::accepted(&seen.attachments, id, None);
    assert_eq!(
        said.message.to_string(),
        "TrafficPolicy target is invalid: a TrafficPolicy cannot target a Service"
    );
}

#[test]
fn a_virtual_kind_is_kept_and_not_an_error() {
    let text = SMALL.to_owned()
        + &color_crd("Direct")
        + &color(
            "c",
            "group: networking.acme.io, kind: ExternalService, name: foo.com",
            "color: red",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert!(seen.said().is_empty(), "{:?}", seen.said());
    assert!(seen.state("ColorPolicy infra/c").contains("on no path"));
}

#[test]
fn namespaces_are_levels_whether_or_not_their_objects_are_in_the_input() {
    let text = SMALL.to_owned()
        + &color_crd("Inherited")
        + &color(
            "ns",
            "group: \"\", kind: Namespace, name: infra",
            "a: namespace, b: namespace",
        )
        + &color(
            "g",
            "group: gateway.networking.k8s.io, kind: Gateway, name: gw",
            "a: gateway",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw"]),
        Some(json!({"a": "gateway", "b": "namespace"}))
    );
    assert_eq!(
        seen.spec(&["gw", "r1"]),
        Some(json!({"a": "namespace", "b": "namespace"})),
        "the route's Namespace is more specific than the Gateway"
    );
}

#[test]
fn a_policy_on_a_route_that_no_listener_accepts_is_unreachable_because_of_what_the_route_says() {
    let text = SMALL.to_owned().replace(
        "parentRefs: [{name: gw, sectionName: http}]",
        "parentRefs: [{name: gw, sectionName: nope}]",
    ) + &limit("p", "kind: HTTPRoute, name: r2", LIMITS);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.said(),
        ["route/parent-not-found Gateway infra/gw has no listener `nope`"],
        "the one mistake"
    );
    assert_eq!(
        seen.state("RateLimitPolicy infra/p"),
        "False/Unknown: RateLimitPolicy is not in the path to any existing routes"
    );
}

#[test]
fn more_than_sixteen_ancestors_are_a_warning_and_the_status_is_cut() {
    let mut text = String::new();
    for number in 0..17 {
        text += &format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: g{number}, namespace: infra}}\n\
             spec: {{gatewayClassName: gc, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n"
        );
    }
    let parents: Vec<String> = (0..17).map(|number| format!("{{name: g{number}}}")).collect();
    text += &format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r, namespace: infra}}\n\
         spec: {{parentRefs: [{}], rules: [{{}}]}}\n",
        parents.join(", ")
    );
    text += &color_crd("Direct");
    text += &color(
        "c",
        "group: gateway.networking.k8s.io, kind: HTTPRoute, name: r",
        "x: 1",
    );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.said(),
        ["policy/too-many-ancestors ColorPolicy infra/c has 17 ancestors; a status lists at most 16"]
    );
    let report = seen.report();
    let [entry] = report.policies.as_slice() else {
        panic!("{report:?}")
    };
    assert_eq!(entry.ancestors.len(), 16);
}

#[test]
fn kuadrants_targets_list_every_accepted_policy_of_their_ancestors() {
    let text = SMALL.to_owned()
        + &limit("g", "kind: Gateway, name: gw", &format!("defaults: {{{LIMITS}}}"))
        + &limit("r", "kind: HTTPRoute, name: r1", LIMITS);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let statuses = seen.statuses(&hub, "nobody");
    let on = |target: &str| {
        let found = statuses.iter().find(|status| status.object == target);
        let [condition] = found.unwrap().conditions.as_slice() else {
            panic!("{found:?}")
        };
        condition.message.to_string()
    };
    assert_eq!(
        on("httproute.gateway.networking.k8s.io:infra/r1"),
        "Object affected by RateLimitPolicy [infra/g infra/r]"
    );
    assert_eq!(
        on("gateway.gateway.networking.k8s.io:infra/gw#https"),
        "Object affected by RateLimitPolicy [infra/g]"
    );
    let documents = seen.view(|view| view.effective_policy_documents().collect::<Vec<_>>());
    let r1 = documents
        .iter()
        .find(|document| document["targetRef"]["name"] == "r1")
        .unwrap();
    assert_eq!(r1["metadata"]["name"], "httproute-r1");
    assert_eq!(r1["kind"], "EffectivePolicy");
    assert_eq!(
        r1["policies"][0]["controllerName"],
        "kuadrant.io/mgc-gw-controller"
    );
    assert_eq!(r1["policies"][0]["objects"][0]["name"], "r");
    assert!(r1["policies"][0]["resultantPolicy"]["rateLimitPolicy"]["limits"]["l"].is_object());
}

#[test]
fn reach_counts_what_a_policy_affects_and_deleting_it_brings_back_what_it_displaced() {
    let text = SMALL.to_owned()
        + &limit("g", "kind: Gateway, name: gw", &format!("defaults: {{{LIMITS}}}"))
        + &limit("r", "kind: HTTPRoute, name: r1", "limits: {m: {rates: []}}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let mut reach = super::super::Reach::default();
    reach.add(
        &seen.attachments,
        &seen.effective,
        seen.id("RateLimitPolicy infra/g"),
    );
    assert_eq!(
        (reach.gateways.len(), reach.listeners.len(), reach.routes.len()),
        (1, 2, 2)
    );
    let gone = seen.attachments.policy(seen.id("RateLimitPolicy infra/r")).object;
    let options = Options {
        without: Some(&gone.identity()),
        ..Options::default()
    };
    let (before, after) = (seen.report(), Seen::of(&hub, &options).report());
    assert_eq!(before.effective.len(), after.effective.len());
    let both = before.effective.iter().zip(&after.effective);
    let changed: Vec<_> = both.filter(|(before, after)| before != after).collect();
    assert_eq!(changed.len(), 4, "two rules of r1 on two listeners");
    for (before, after) in changed {
        assert_eq!(before.path, after.path);
        let limits = |entry: &EffectiveEntry| {
            entry
                .result
                .rules
                .as_ref()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (limits(before), limits(after)),
            (vec!["m".to_owned()], vec!["l".to_owned()])
        );
    }
}

#[test]
fn the_stanza_of_a_target_lists_the_policies_of_all_kinds() {
    let text = small_with_params()
        + &limit("l", "kind: HTTPRoute, name: r1", LIMITS)
        + &color_crd("Direct")
        + &color(
            "c",
            "group: gateway.networking.k8s.io, kind: HTTPRoute, name: r1",
            "x: 1",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let statuses = seen.statuses(&hub, "kuadrant.io/mgc-gw-controller");
    let of = |locator: &str| statuses.iter().find(|status| status.object == locator).unwrap();
    let stanza = &of("httproute.gateway.networking.k8s.io:infra/r1").effective_policy;
    assert_eq!(
        *stanza,
        [
            json!({"name": "c", "namespace": "infra", "apiGroup": "colors.example.com", "kind": "ColorPolicy"}),
            json!({"name": "l", "namespace": "infra", "apiGroup": "kuadrant.io", "kind": "RateLimitPolicy"}),
        ]
    );
    assert_eq!(
        of("gatewayclass.gateway.networking.k8s.io:gc").extension_kinds,
        ["RateLimitPolicy.kuadrant.io"],
        "a class tells what its parameters ask for"
    );
}

#[test]
fn a_policy_on_a_listener_set_is_between_the_gateway_and_its_listeners() {
    let set = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: ls, namespace: infra}\n\
               spec: {parentRef: {name: gw}, listeners: [{name: more, port: 82, protocol: HTTP}]}\n";
    let traffic = |name: &str, target: &str, value: u8| {
        format!(
            "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], a: {value}, {name}: 1}}\n"
        )
    };
    let text = SMALL.replace(
        "gatewayClassName: gc",
        "gatewayClassName: gc\n  allowedListeners: {namespaces: {from: Same}}",
    ) + set
        + &traffic("g", "kind: Gateway, name: gw", 1)
        + &traffic("s", "kind: ListenerSet, name: ls", 2);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert!(seen.said().is_empty(), "{:?}", seen.said());
    assert_eq!(
        seen.spec(&["gw", "ls#more"]),
        Some(json!({"a": 2, "g": 1, "s": 1}))
    );
    assert_eq!(
        seen.spec(&["gw", "gw#http", "r2", "r2#rule-1"]),
        Some(json!({"a": 1, "g": 1}))
    );
}

#[test]
fn an_http_route_without_rules_has_the_one_of_its_crds_default() {
    let text = SMALL.replace("\n  rules: [{backendRefs: [{name: s, port: 80}]}]", "")
        + &limit("r", "kind: HTTPRoute, name: r2", LIMITS);
    let hub = hub(&text, &[]);
    assert!(
        Seen::hub(&hub)
            .spec(&["gw", "gw#http", "r2", "r2#rule-1"])
            .is_some()
    );
}

#[test]
fn on_a_listener_without_routes_a_path_ends_for_any_that_comes() {
    let text =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw, namespace: infra}\n\
                spec: {gatewayClassName: gc, listeners: [{name: http, port: 80, protocol: HTTP}]}\n"
            .to_owned()
            + &limit("g", "kind: Gateway, name: gw", LIMITS);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert!(
        seen.said().is_empty(),
        "its routes may live on spokes: {:?}",
        seen.said()
    );
    let report = seen.report();
    assert!(report.without_paths.is_empty(), "{report:?}");
    let [held] = report.effective.as_slice() else {
        panic!("{report:?}")
    };
    assert!(held.any_route);
    assert_eq!(
        &**held.path.last().unwrap(),
        "gateway.gateway.networking.k8s.io:infra/gw#http",
        "what will hold for any route that comes"
    );
    assert_eq!(
        seen.state("RateLimitPolicy infra/g"),
        "False/Unknown: RateLimitPolicy is not in the path to any existing routes"
    );
}

#[test]
fn a_gateway_without_listeners_is_named_in_the_report() {
    let text =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw, namespace: infra}\n\
                spec: {gatewayClassName: gc, listeners: []}\n"
            .to_owned()
            + &limit("g", "kind: Gateway, name: gw", LIMITS);
    let hub = hub(&text, &[]);
    let report = Seen::hub(&hub).report();
    let without = report.without_paths;
    assert_eq!(without[0].gateway, "gateway.gateway.networking.k8s.io:infra/gw");
    assert_eq!((without[0].ends, without[0].policies.len()), ("route rule", 1));
}

#[test]
fn a_direct_policy_on_a_gateway_says_nothing_about_its_routes() {
    let on_gateway =
        |section: &str| format!("group: gateway.networking.k8s.io, kind: Gateway, name: gw{section}");
    let text = SMALL.to_owned()
        + &color_crd("direct")
        + &color("g", &on_gateway(""), "x: 1")
        + &color("l", &on_gateway(", sectionName: http"), "x: 2");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(seen.effective.len(), 2, "the Gateway and its listener");
    assert_eq!(seen.spec(&["gw"]), Some(json!({"x": 1})));
    assert_eq!(
        seen.spec(&["gw", "gw#http"]),
        Some(json!({"x": 2})),
        "the section owns itself"
    );
}
