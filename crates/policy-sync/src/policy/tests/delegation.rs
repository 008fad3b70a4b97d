//! kgateway's route delegation: which route takes which requests, and which policies are inherited
//! (docs/systems/other-policies.md#route-delegation).

use crate::api::gateway::GROUP;
use crate::policy::Options;
use crate::request_matching::Request;
use crate::tests::{SMALL, Seen, hub};
use crate::topology::Controllers;
use apimachinery::Work;

const PARENT: &str = "parent";

/// [`SMALL`] with a Gateway that this controller serves.
fn served_by(controller: &str) -> String {
    SMALL.replace("kuadrant.io/mgc-gw-controller", controller)
}

/// [`SMALL`] with a Gateway that kgateway serves.
fn small() -> String {
    served_by("kgateway.dev/kgateway")
}

/// A route in a namespace, with annotations or labels, and the rest of its spec.
fn route(name: (&str, &str), metadata: &str, spec: &str) -> String {
    let (namespace, name) = name;
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
         metadata: {{name: {name}, namespace: {namespace}, {metadata}}}\nspec: {{{spec}}}\n"
    )
}

/// A route at the Gateway whose rule for `/shop` hands requests on.
fn parent(metadata: &str, to: &str) -> String {
    route(
        ("infra", PARENT),
        metadata,
        &format!(
            "parentRefs: [{{name: gw}}], rules: [{{name: shop, matches: [{{path: {{value: /shop}}, headers: [{{name: x, value: \
             \"1\"}}]}}], backendRefs: [{to}]}}]"
        ),
    )
}

fn to_route(name: &str) -> String {
    format!("{{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: team, name: \"{name}\"}}")
}

/// A rule for a path, and for the header that the parent asks for.
fn rule(path: &str) -> String {
    format!(
        "{{matches: [{{path: {{value: {path}}}, headers: [{{name: x, value: \"1\"}}]}}], backendRefs: [{{name: s, port: 80}}]}}"
    )
}

fn child(metadata: &str, rules: &[&str]) -> String {
    let rules: Vec<String> = rules.iter().map(|path| rule(path)).collect();
    route(
        ("team", "child"),
        metadata,
        &format!("rules: [{}]", rules.join(", ")),
    )
}

fn traffic(name: (&str, &str), on: (&str, &str), settings: &str) -> String {
    let ((namespace, name), (kind, target)) = (name, on);
    format!(
        "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: {kind}, name: {target}}}], {settings}}}\n"
    )
}

const LIMITS: &str = "timeouts: {request: 1s}";

#[test]
fn a_request_reaches_the_rule_of_a_delegated_route() {
    let text = small()
        + &parent("", &to_route("*"))
        + &child(
            "annotations: {delegation.kgateway.dev/inherit-parent-matcher: \"true\"}",
            &["/a", "/a/b"],
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let topology = &seen.attachments.topology;
    let gateway = topology.find_gateway("infra", "gw").unwrap();
    let taken = |url: &str, header: &str| {
        let request = Request::parse(url, &[header.to_owned()]).unwrap();
        let taken = topology.take(gateway, &request, &Work::default()).unwrap();
        let first = taken.rules.first().unwrap();
        topology.locator(crate::topology::Node::Rule(first.route, first.rule))
    };
    let child = "httproute.gateway.networking.k8s.io:team/child#rule-";
    assert_eq!(taken("http://x/shop/a/c", "x=1"), format!("{child}1"));
    assert_eq!(taken("http://x/shop/a/b/c", "x=1"), format!("{child}2"));
    // Nobody takes what the parent does not ask for, nor what its rule would have taken itself.
    for (url, header) in [
        ("http://x/shop/a", "x=2"),
        ("http://x/a", "x=1"),
        ("http://x/shop", "x=1"),
    ] {
        let first = taken(url, header);
        assert!(
            !first.contains("child") && !first.contains(PARENT),
            "{url}: {first}"
        );
    }
}

#[test]
fn too_many_ways_are_refused_as_a_whole() {
    let mut text = parent("annotations: {}", &to_route("step-0"));
    for step in 0..16 {
        let next = to_route(&format!("step-{}", step + 1));
        let rules: Vec<String> = (0..4)
            .map(|_| {
                format!("{{matches: [{{path: {{value: /shop}}, headers: [{{name: x, value: \"1\"}}]}}], backendRefs: [{next}]}}")
            })
            .collect();
        text += &route(
            ("team", &format!("step-{step}")),
            "",
            &format!("rules: [{}]", rules.join(", ")),
        );
    }
    let hub = hub(&(small() + &text), &[]);
    let seen = Seen::hub(&hub);
    let said = seen.said();
    assert!(
        said.iter()
            .any(|said| said.starts_with("input/too-costly") && said.contains("none is followed")),
        "{said:?}"
    );
}

#[test]
fn only_at_gateways_of_kgateway_rules_hand_requests_on_and_elsewhere_a_route_is_a_backend_of_a_wrong_kind() {
    let text = |small: &str, grants: &str| {
        small.to_owned()
            + &parent("", &to_route("child"))
            + &child("", &["/shop"])
            + &traffic(("infra", "p"), ("HTTPRoute", PARENT), LIMITS)
            + grants
    };
    let seen_in = |text: &str| {
        let hub = hub(text, &[]);
        let seen = Seen::hub(&hub);
        let said: Vec<String> = seen
            .said()
            .into_iter()
            .filter(|said| said.starts_with("route/"))
            .collect();
        let topology = &seen.attachments.topology;
        let rule = topology
            .routes
            .get(
                topology
                    .find_route((GROUP, "HTTPRoute"), "infra", PARENT)
                    .unwrap(),
            )
            .rules[0];
        let backends = topology.rules.get(rule).backends.len();
        let child = topology.routes.get(
            topology
                .find_route((GROUP, "HTTPRoute"), "team", "child")
                .unwrap(),
        );
        let own = seen.spec(&["gw", PARENT, "parent#shop"]).is_some();
        (said, backends, child.gateways.len(), own)
    };
    for controller in [
        "kgateway.dev/kgateway",
        "kgateway.dev/agentgateway",
        "solo.io/gloo-gateway",
    ] {
        let followed = seen_in(&text(&served_by(controller), ""));
        assert_eq!(followed, (Vec::new(), 0, 1, false), "{controller}");
    }
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: team}\n\
                 spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: infra}], to: [{group: \
                 gateway.networking.k8s.io, kind: HTTPRoute}]}\n";
    for (controller, grants, backends) in [
        ("istio.io/gateway-controller", grant, 1),
        ("istio.io/gateway-controller", "", 0),
        ("gateway.envoyproxy.io/gatewayclass-controller", grant, 1),
    ] {
        let (said, found, gateways, own) = seen_in(&text(&served_by(controller), grants));
        assert_eq!((found, gateways, own), (backends, 0, true), "{controller}");
        assert_eq!(
            said,
            [format!(
                "route/delegated HTTPRoute infra/parent delegates to other routes, which are not followed: {controller}, \
                 which serves Gateway infra/gw, accepts no routes as backends (ResolvedRefs=False, InvalidKind)"
            )]
        );
    }
}

#[test]
fn a_class_of_ours_hands_requests_on_if_its_class_on_the_clusters_does() {
    let said = |downstream: &str| {
        let text = served_by("us/here") + &parent("", &to_route("child")) + &child("", &["/shop"]);
        let hub = hub(&text, &[]);
        let controllers = Controllers {
            ours: "us/here".to_owned(),
            downstream: [("gc".to_owned(), downstream.to_owned())].into(),
        };
        let options = Options {
            controllers: Some(&controllers),
            ..Options::default()
        };
        let said = Seen::of(&hub, &options).said();
        said.iter().any(|said| said.starts_with("route/delegated"))
    };
    assert!(!said("kgateway") && !said("gc"));
    assert!(said("istio"));
}
