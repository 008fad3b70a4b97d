//! Which policies are not shipped, and why.

use super::super::{Received, received};
use super::{
    FOREIGN, GW, LIMIT, SET, asking_for_traffic, policy, said, shipping, shipping_routes, traffic, with_sets,
};
use crate::diagnostic::{Code, Finding, Findings, Severity};
use crate::sync::{leave_others_alone, report_not_synced};
use crate::tests::{hub, limit, small_with_params};

fn not_synced(received: &Received<'_>, findings: &mut Findings) {
    report_not_synced(received.syncing, findings);
}

#[test]
fn a_mistake_in_a_policy_on_gateways_of_other_classes_stops_no_run() {
    let class = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: theirs}\n\
                 spec: {controllerName: example.com/other}\n";
    let text = small_with_params()
        + FOREIGN
        + class
        + &limit("ours", GW, LIMIT)
        + &limit("theirs", "kind: Gateway, name: foreign", LIMIT);
    let hub = hub(&text, &[]);
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        let place = |name: &str| {
            let policies = received.attachments.policies.rows();
            let policy = policies.iter().find(|policy| policy.object.name == name).unwrap();
            policy.object.place("/spec/limits")
        };
        let mut found = Findings::new();
        for name in ["ours", "theirs"] {
            found.push(Finding::new(Code::POLICY_INVALID, place(name), name));
        }
        let left = leave_others_alone(received.syncing, found);
        let told: Vec<_> = left
            .iter()
            .map(|finding| (finding.message.clone(), finding.severity, finding.notes.len()))
            .collect();
        assert_eq!(
            told,
            [
                ("ours".into(), Severity::Error, 0),
                ("theirs".into(), Severity::Warning, 1)
            ]
        );
    });
}

#[test]
fn a_policy_on_gateways_of_other_classes_alone_is_not_shipped() {
    let said = |text: &str| said(text, &["c1"], not_synced);
    let base = small_with_params() + FOREIGN;
    let on = |target: &str| limit("l", target, LIMIT);
    assert_eq!(
        said(&(base.clone() + &on("kind: Gateway, name: foreign"))),
        [
            "policy/other-class RateLimitPolicy infra/l targets Gateway infra/foreign, which is not rendered, so it is not shipped"
        ]
    );
    assert_eq!(
        said(&(base.clone() + &on("kind: HTTPRoute, name: away"))),
        [
            "policy/other-class RateLimitPolicy infra/l targets HTTPRoute infra/away, to which no Gateway of ours leads, so it is not shipped"
        ]
    );
    let broken = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: theirs}\n\
                  spec: {controllerName: kuadrant.io/mgc-gw-controller, \
                  parametersRef: {group: '', kind: ConfigMap, name: nothing, namespace: infra}}\n";
    assert!(
        said(&(base.clone() + broken + &on("kind: Gateway, name: foreign"))).is_empty(),
        "that its class is broken is a finding of its own"
    );
    let auth = policy("AuthPolicy", "kind: Gateway, name: foreign", ", rules: {}");
    assert!(
        said(&(base.clone() + &auth)).is_empty(),
        "no class asks for its kind"
    );
    let both = base.replace(
        "parentRefs: [{name: foreign}]",
        "parentRefs: [{name: foreign}, {name: gw}]",
    );
    assert_eq!(
        said(&(both + &on("kind: HTTPRoute, name: away"))),
        ["policy/not-synced RateLimitPolicy infra/l is not shipped: its target is not synced to the spokes"],
        "one of ours leads to it, too"
    );
    let nameless = base.replace("gatewayClassName: theirs", "gatewayClassName: \"\"");
    assert!(
        said(&(nameless + &on("kind: Gateway, name: foreign"))).is_empty(),
        "that is a finding of its own"
    );
}

#[test]
fn whether_a_policy_goes_to_clusters_is_decided_by_its_target() {
    let synced = |text: &str| {
        let hub = hub(text, &[]);
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let kind = received.attachments.policies.rows()[0].kind;
            let node = received.attachments.policies.rows()[0]
                .nodes()
                .into_iter()
                .next()
                .unwrap();
            received.syncing.is_synced(kind, node)
        })
    };
    let base = small_with_params();
    let on_route = limit("l", "kind: HTTPRoute, name: r1", LIMIT);
    assert!(synced(&(base.clone() + &limit("l", GW, LIMIT))));
    assert!(!synced(&(base.clone() + &on_route)), "the route stays");
    assert!(synced(&(shipping_routes(&base) + &on_route)));
    let sets = with_sets(&asking_for_traffic()) + SET + &traffic("kind: ListenerSet, name: ls");
    assert!(!synced(&sets), "the ListenerSet stays");
    assert!(synced(&shipping(
        &sets,
        "gateway.networking.k8s.io",
        "listenersets",
        ""
    )));
}
