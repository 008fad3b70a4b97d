//! Rules of API servers, and routes that get no request.

use super::super::received;
use ocm_hub::source::Room;

use crate::diagnostic::{Findings, Severity};
use crate::hub;
use crate::sync::report_broken_rules;
use crate::tests::{SMALL, documents, small_with_params};

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
