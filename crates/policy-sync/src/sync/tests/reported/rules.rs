//! Rules of API servers, and routes that get no request.

use super::super::{Received, received};
use super::{FOREIGN, SET, said, with_sets};
use ocm_hub::source::Room;

use crate::diagnostic::{Findings, Severity};
use crate::hub;
use crate::sync::{report_broken_rules, report_shadowed};
use crate::tests::{SMALL, documents, small_with_params};

fn broken_rules(received: &Received<'_>, findings: &mut Findings) {
    report_broken_rules(received.syncing, |_, _| true, findings);
}

fn shadowed(received: &Received<'_>, findings: &mut Findings) {
    report_shadowed(received.syncing, findings);
}

/// How many rules a route is said to break, by the catalog or the CRD of its kind.
fn broken_rules_of_r2(text: &str) -> usize {
    let options = hub::Options {
        controller_name: Some("kuadrant.io/mgc-gw-controller".to_owned()),
        ..hub::Options::default()
    };
    let hub = hub::build(documents(&[(Room::Hub, text)]), &options, &mut Findings::new());
    let mut findings = Findings::new();
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        report_broken_rules(received.syncing, |_, _| true, &mut findings);
    });
    let of_route = findings
        .iter()
        .filter(|finding| finding.message.contains("HTTPRoute infra/r2"));
    of_route.count()
}

#[test]
fn a_rule_that_an_api_server_checks_is_reported_for_the_chain_of_our_gateways() {
    let said = |text: &str| said(text, &["c1"], broken_rules);
    let base = (small_with_params() + FOREIGN).replace(
        "protocol: HTTPS}",
        "protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}",
    );
    assert!(said(&base).is_empty());
    let route = |text: &str, name: &str| {
        let rules =
            "rules: [{matches: [{path: {type: Exact, value: x}}], backendRefs: [{name: s, port: 80}]}]}";
        let (before, after) = text
            .split_once(&format!("metadata: {{name: {name}, namespace: infra}}"))
            .unwrap();
        let after = after.replacen(
            "rules: [{backendRefs: [{name: s, port: 80}]}]",
            rules.trim_end_matches('}'),
            1,
        );
        format!("{before}metadata: {{name: {name}, namespace: infra}}{after}")
    };
    let of = |name: &str| {
        [format!(
            "route/invalid HTTPRoute infra/{name}: the path `x` does not begin with `/`"
        )]
    };
    assert_eq!(said(&route(&base, "r2")), of("r2"));
    assert!(
        said(&route(&base, "away")).is_empty(),
        "a route of another Gateway"
    );
    let elsewhere = base.replace(
        "name: gw, sectionName: http",
        "group: example.com, kind: Other, name: gw",
    );
    assert!(
        said(&route(&elsewhere, "r2")).is_empty(),
        "its parent is no Gateway"
    );
    let in_set = with_sets(&base).replace(
        "parentRefs: [{name: gw, sectionName: http}]",
        "parentRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: ls}]",
    ) + SET;
    assert_eq!(
        said(&route(&in_set, "r2")),
        of("r2"),
        "a route of a ListenerSet of ours"
    );
    assert!(
        said(&route(
            &in_set.replace("parentRef: {name: gw}", "parentRef: {name: foreign}"),
            "r2"
        ))
        .is_empty()
    );
}

#[test]
fn routes_that_match_the_same_requests_on_a_listener_are_shadowed() {
    let said = |text: &str| -> Vec<String> {
        let said = said(text, &["c1"], shadowed).into_iter();
        said.map(|one| one.trim_start_matches("route/shadowed ").to_owned())
            .collect()
    };
    let base = SMALL.replace("  - {backendRefs: [{name: s, port: 80}]}\n", "");
    let base = base.replace(
        "rules:\n  - {name: first, backendRefs: [{name: s, port: 80}]}\n",
        "rules: []\n",
    );
    let r2 = "rules: [{backendRefs: [{name: s, port: 80}]}]";
    let routes = |kind: &str, one: &str, two: &str| {
        let text = base
            .replacen(
                r2,
                &format!("rules: [{{matches: [{one}], backendRefs: [{{name: s, port: 80}}]}}]"),
                1,
            )
            .replace("kind: HTTPRoute", &format!("kind: {kind}"));
        let second = format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: {kind}\nmetadata: {{name: r3, namespace: infra}}\nspec: {{parentRefs: [{{name: gw, sectionName: http}}], rules: [{{matches: [{two}], backendRefs: [{{name: s, port: 80}}]}}]}}\n"
        );
        text + &second
    };
    for (kind, one, two) in [
        (
            "HTTPRoute",
            "{path: {type: PathPrefix, value: /a}}",
            "{path: {value: /a/}}",
        ),
        (
            "HTTPRoute",
            "{method: GET}",
            "{path: {type: PathPrefix, value: /}, method: GET}",
        ),
        (
            "HTTPRoute",
            "{headers: [{name: A, value: x}]}",
            "{headers: [{name: a, value: x, type: Exact}]}",
        ),
        // Of several entries with one name, the first counts.
        (
            "HTTPRoute",
            "{headers: [{name: b, value: z}, {name: A, value: x}, {name: a, value: y}]}",
            "{headers: [{name: a, value: x}, {name: b, value: z}]}",
        ),
        (
            "HTTPRoute",
            "{queryParams: [{name: q, value: x}]}",
            "{queryParams: [{name: q, value: x}]}",
        ),
        (
            "GRPCRoute",
            "{method: {service: s}}",
            "{method: {service: s, type: Exact}}",
        ),
    ] {
        assert_eq!(
            said(&routes(kind, one, two)),
            [format!(
                "{kind} infra/r2 gets all requests of this match of {kind} infra/r3"
            )],
            "{one} {two}"
        );
    }
    for (kind, one, two) in [
        (
            "HTTPRoute",
            "{path: {type: PathPrefix, value: /a}}",
            "{path: {type: Exact, value: /a}}",
        ),
        ("HTTPRoute", "{path: {value: /a}}", "{path: {value: /b}}"),
        ("HTTPRoute", "{method: GET}", "{method: PUT}"),
        (
            "HTTPRoute",
            "{headers: [{name: a, value: x}]}",
            "{headers: [{name: a, value: y}]}",
        ),
        (
            "HTTPRoute",
            "{headers: [{name: a, value: x}, {name: A, value: y}]}",
            "{headers: [{name: a, value: y}]}",
        ),
        (
            "HTTPRoute",
            "{queryParams: [{name: q, value: x}]}",
            "{queryParams: [{name: Q, value: x}]}",
        ),
        ("GRPCRoute", "{method: {service: s}}", "{method: {service: t}}"),
        (
            "GRPCRoute",
            "{method: {service: s, method: m}}",
            "{method: {service: s}}",
        ),
    ] {
        assert!(said(&routes(kind, one, two)).is_empty(), "{one} {two}");
    }
    let theirs = routes("HTTPRoute", "{method: GET}", "{method: GET}")
        .replace("gatewayClassName: gc", "gatewayClassName: theirs");
    assert!(said(&theirs).is_empty(), "on a Gateway of another class");
}

/// Rules of a route with a path that API servers refuse.
const BROKEN: &str = "{matches: [{path: {type: Exact, value: x}}], backendRefs: [{name: s, port: 80}]}";

/// The spec of `r2`: the parent with more fields, and these rules.
fn with_r2(more: &str, rules: &str) -> String {
    SMALL.replace(
        "  parentRefs: [{name: gw, sectionName: http}]\n  rules: [{backendRefs: [{name: s, port: 80}]}]",
        &format!("  parentRefs: [{{name: gw, sectionName: http{more}\n  rules: [{rules}]"),
    )
}

#[test]
fn a_rule_is_not_reported_where_the_schema_refuses_the_field() {
    let count = |more: &str, rules: &str| broken_rules_of_r2(&with_r2(more, rules));
    assert_eq!(count("}]", BROKEN), 1);
    let long = BROKEN.replace("value: x", &format!("value: {}", "x".repeat(1025)));
    assert_eq!(count("}]", &long), 0, "the field");
    let many = [BROKEN; 17].join(", ");
    assert_eq!(count("}]", &many), 0, "what it is in");
    assert_eq!(count(", port: 70000}]", BROKEN), 1, "another field");
    assert_eq!(
        count("}]\n  hostnam: [a.example]", BROKEN),
        0,
        "that may be the field that was meant"
    );
}

/// The definition of HTTPRoutes, which accepts anything but for a rule of one field of the spec.
fn definition(refused: Option<&str>) -> String {
    let rules = refused.map_or_else(String::new, |field| {
        format!(
            ", properties: {{spec: {{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {{{field}: \
             {{type: array, maxItems: 9, items: {{type: object, x-kubernetes-preserve-unknown-fields: true, \
             x-kubernetes-validations: [{{rule: 'false'}}]}}}}}}}}}}"
        )
    });
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: httproutes.gateway.networking.k8s.io}}\nspec: {{group: gateway.networking.k8s.io, scope: Namespaced, \
         names: {{kind: HTTPRoute, listKind: HTTPRouteList, plural: httproutes, singular: httproute}}, versions: [{{name: v1, \
         served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: \
         true{rules}}}}}}}]}}\n"
    )
}

#[test]
fn a_definition_in_the_input_decides_what_is_refused_and_our_rules_say_which_part() {
    let count = |refused: Option<&str>| broken_rules_of_r2(&(with_r2("}]", BROKEN) + &definition(refused)));
    assert_eq!(count(None), 0, "it accepts the path");
    assert_eq!(count(Some("rules")), 1);
    assert_eq!(count(Some("parentRefs")), 0);
}

#[test]
fn listeners_that_conflict_are_reported_of_gateways_and_of_listener_sets() {
    let said = |text: &str| said(text, &["c1"], broken_rules);
    let base = small_with_params().replace(
        "protocol: HTTPS}",
        "protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}",
    );
    let set = with_sets(&base) + SET;
    assert!(said(&set).is_empty(), "{:?}", said(&set));
    // An API server accepts two protocols on one port; no controller serves both.
    let tls = "protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}";
    let twins = base.replace(
        "  - {name: http, port: 80, protocol: HTTP}\n",
        &format!("  - {{name: http, port: 80, protocol: HTTP}}\n  - {{name: twin, port: 80, {tls}\n"),
    );
    let extra = "{name: extra, port: 8080, protocol: HTTP}";
    let in_set = set.replace(extra, &format!("{extra}, {{name: twin, port: 8080, {tls}"));
    for (text, name) in [(twins, "Gateway infra/gw"), (in_set, "ListenerSet infra/ls")] {
        let said = said(&text);
        assert!(said.iter().any(|said| said.contains(name)), "{name}: {said:?}");
    }
}

#[test]
fn what_is_wrong_with_a_policy_stops_a_run_only_if_the_policy_is_shipped() {
    let text = small_with_params()
        + "---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: t, namespace: infra}\n\
           spec: {targetRefs: [{group: '', kind: Service, name: s}], validation: {hostname: a.example}}\n";
    let severity = |is_synced: bool| {
        let hub = crate::tests::hub(&text, &[]);
        let mut findings = Findings::new();
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            report_broken_rules(received.syncing, |_, _| is_synced, &mut findings);
        });
        let of_policy = findings
            .iter()
            .find(|finding| finding.message.contains("BackendTLSPolicy"));
        of_policy.map(|finding| finding.severity)
    };
    assert_eq!(severity(true), Some(Severity::Error));
    assert_eq!(severity(false), Some(Severity::Warning));
}
