//! kgateway's route delegation: which route takes which requests, and which policies are inherited
//! (docs/systems/other-policies.md#route-delegation).

use kube_json::{Value, json};

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

/// What holds on the way through the parent to a rule of the child.
fn through(text: &str, rule: &str) -> Option<Value> {
    let hub = hub(&(small() + text), &[]);
    let seen = Seen::hub(&hub);
    let said = seen.said();
    assert!(!said.iter().any(|said| said.starts_with("route/")), "{said:?}");
    let rule = format!("child#{rule}");
    seen.spec(&["gw", PARENT, "parent#shop", "child", &rule])
}

/// The one finding about delegation.
fn said(text: &str) -> String {
    let hub = hub(&(small() + text), &[]);
    let seen = Seen::hub(&hub);
    let said = seen.said();
    let about: Vec<&String> = said.iter().filter(|said| said.starts_with("route/")).collect();
    let [one] = about.as_slice() else {
        panic!("{said:?}");
    };
    (*one).clone()
}

const LIMITS: &str = "timeouts: {request: 1s}";

#[test]
fn a_delegated_route_is_reached_through_the_rule_that_names_it_or_its_namespace_or_its_label() {
    let label = |namespace: &str| {
        format!("{{group: delegation.kgateway.dev, kind: label, name: blue, namespace: {namespace}}}")
    };
    let labels = "labels: {delegation.kgateway.dev/label: blue}";
    for (to, metadata) in [
        (to_route("child"), ""),
        (to_route("*"), ""),
        (label("team"), labels),
        (label("all"), labels),
    ] {
        let text = parent("", &to)
            + &child(metadata, &["/shop/a"])
            + &traffic(("team", "p"), ("HTTPRoute", "child"), LIMITS);
        assert_eq!(
            through(&text, "rule-1"),
            Some(json!({"timeouts": {"request": "1s"}})),
            "{to}"
        );
    }
}

#[test]
fn a_rule_that_hands_everything_on_has_no_path_of_its_own_and_one_that_cannot_keeps_it() {
    let policy = traffic(("infra", "p"), ("HTTPRoute", PARENT), LIMITS);
    let own = |text: String| {
        let hub = hub(&(small() + &text), &[]);
        Seen::hub(&hub).spec(&["gw", PARENT, "parent#shop"])
    };
    assert_eq!(
        own(parent("", &to_route("child")) + &child("", &["/shop"]) + &policy),
        None
    );
    assert!(own(parent("", &to_route("child")) + &policy).is_some());
}

#[test]
fn policies_of_what_hands_requests_on_give_way_unless_it_is_annotated_and_gateways_come_last() {
    let text = |annotation: &str| {
        parent(&format!("annotations: {{{annotation}}}"), &to_route("child"))
            + &child("", &["/shop"])
            + &traffic(
                ("infra", "gw"),
                ("Gateway", "gw"),
                "timeouts: {request: 1s}, buffer: {maxRequestSize: 1Ki}, csrf: {percentageEnabled: 1}",
            )
            + &traffic(
                ("infra", "p"),
                ("HTTPRoute", PARENT),
                "timeouts: {request: 2s}, buffer: {maxRequestSize: 2Ki}",
            )
            + &traffic(("team", "c"), ("HTTPRoute", "child"), "timeouts: {request: 3s}")
    };
    let expected = |timeout: &str| {
        Some(
            json!({"timeouts": {"request": timeout}, "buffer": {"maxRequestSize": "2Ki"}, "csrf": {"percentageEnabled": 1}}),
        )
    };
    assert_eq!(through(&text(""), "rule-1"), expected("3s"));
    for value in ["ShallowMergePreferParent", "DeepMergePreferParent"] {
        let annotated = text(&format!("kgateway.dev/inherited-policy-priority: {value}"));
        assert_eq!(through(&annotated, "rule-1"), expected("2s"), "{value}");
    }
}

#[test]
fn of_a_route_between_two_that_merge_deeply_nothing_stays_beside_what_the_one_below_it_has() {
    let transformation =
        |value: &str| format!("transformation: {{request: {{set: [{{name: x, value: {value}}}]}}}}");
    let text = small().replace(
        "metadata: {name: gw, namespace: infra}",
        "metadata: {name: gw, namespace: infra, annotations: {kgateway.dev/inherited-policy-priority: DeepMergePreferParent}}",
    ) + &parent("", &to_route("child"))
        + &child("", &["/shop/a"])
        + &traffic(("infra", "g"), ("Gateway", "gw"), &transformation("g"))
        + &traffic(("infra", "p"), ("HTTPRoute", PARENT), &transformation("p"))
        + &traffic(("team", "c"), ("HTTPRoute", "child"), &transformation("c"));
    let hub = hub(&text, &[]);
    let spec = Seen::hub(&hub).spec(&["gw", PARENT, "parent#shop", "child", "child#rule-1"]);
    let values: Vec<Value> = spec.unwrap()["transformation"]["request"]["set"]
        .as_array()
        .unwrap()
        .iter()
        .map(|element| element["value"].clone())
        .collect();
    assert_eq!(values, ["c", "g"]);
}

#[test]
fn a_policy_of_what_hands_requests_on_loses_to_one_of_a_delegated_route_as_the_less_specific_one() {
    let text = small()
        + &parent("", &to_route("child"))
        + &child("", &["/shop"])
        + &format!(
            "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: p, namespace: infra}}\nspec: \
             {{targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {PARENT}, sectionName: shop}}], {LIMITS}}}\n"
        )
        + &traffic(("team", "c"), ("HTTPRoute", "child"), LIMITS);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let loser = seen.id("TrafficPolicy infra/p");
    let rules: Vec<_> = seen
        .effective
        .iter()
        .filter_map(|(_, path)| {
            let author = |policy| super::super::AuthoredId { policy, position: 0 };
            path.effective.rule(
                &seen.attachments,
                author(seen.id("TrafficPolicy team/c")),
                author(loser),
            )
        })
        .collect();
    assert_eq!(rules, [crate::policy::Rule::MoreSpecificDefaults]);
}

#[test]
fn a_delegated_route_takes_what_is_below_the_prefix_and_asks_for_all_headers_or_inherits_them() {
    let policy = traffic(("team", "p"), ("HTTPRoute", "child"), LIMITS);
    let rules = |metadata: &str, rules: &str| {
        let text = small()
            + &parent("", &to_route("child"))
            + &route(("team", "child"), metadata, &format!("rules: [{rules}]"))
            + &policy;
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let mut paths: Vec<String> = seen
            .effective
            .iter()
            .map(|(_, path)| seen.attachments.topology.path_label(&path.path))
            .collect();
        paths.retain(|path| path.contains("child"));
        paths.len()
    };
    let backend = "backendRefs: [{name: s, port: 80}]";
    // Compared as text: the parent's /shop is the beginning of /shopping, too.
    for (path, expected) in [
        ("/shop", 1),
        ("/shop/a", 1),
        ("/shopping", 1),
        ("/other", 0),
        ("/", 0),
    ] {
        assert_eq!(rules("", &rule(path)), expected, "{path}");
    }
    let without_header = format!("{{matches: [{{path: {{value: /shop}}}}], {backend}}}");
    assert_eq!(rules("", &without_header), 0);
    for (value, expected) in [("\"true\"", 1), ("\"Yes\"", 1), ("enabled", 1), ("\"1\"", 0)] {
        let metadata = format!("annotations: {{delegation.kgateway.dev/inherit-parent-matcher: {value}}}");
        assert_eq!(
            rules(&metadata, &without_header.replace("/shop", "/x")),
            expected,
            "{value}"
        );
    }
}

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
fn what_is_not_followed_is_said_with_its_reason() {
    let other = route(
        ("team", "child"),
        "",
        &format!(
            "parentRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: other, namespace: infra}}], rules: [{}]",
            rule("/shop")
        ),
    );
    let with_hostnames = route(
        ("team", "child"),
        "",
        &format!("hostnames: [a.example.com], rules: [{}]", rule("/shop")),
    );
    let circle = route(
        ("team", "child"),
        "",
        &format!(
            "rules: [{{matches: [{{path: {{value: /shop}}, headers: [{{name: x, value: \"1\"}}]}}], backendRefs: [{}]}}]",
            to_route("child")
        ),
    );
    for (child, why) in [
        (String::new(), "none of them is in the input"),
        (other, "the `parentRefs` of HTTPRoute team/child do not name it"),
        (with_hostnames, "HTTPRoute team/child has `hostnames`"),
        (circle, "HTTPRoute team/child leads back here"),
        (
            child("", &["/other"]),
            "no match of HTTPRoute team/child is within",
        ),
        (
            child("", &["/shop", "/other"]),
            "rule `rule-2` of HTTPRoute team/child gets no request",
        ),
    ] {
        let said = said(&(parent("", &to_route("child")) + &child));
        assert!(
            said.starts_with("route/delegated") && said.contains(why),
            "{said}"
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
fn providers_of_both_sides_are_called_after_a_deep_merge_and_any_side_turns_all_off() {
    let of = |priority: &str, gateway: &str, route: &str| {
        let text = SMALL.replace(
            "metadata: {name: gw, namespace: infra}",
            &format!("metadata: {{name: gw, namespace: infra, annotations: {{kgateway.dev/inherited-policy-priority: {priority}}}}}"),
        ) + &traffic(("infra", "a"), ("Gateway", "gw"), &format!("extAuth: {gateway}"))
            + &traffic(("infra", "b"), ("HTTPRoute", "r2"), &format!("extAuth: {route}"));
        let hub = hub(&text, &[]);
        Seen::hub(&hub).spec(&["gw", "r2", "r2#rule-1"]).unwrap()["extAuth"].clone()
    };
    let provider = |name: &str| json!({"extensionRef": {"name": name}});
    let (one, two) = ("{extensionRef: {name: one}}", "{extensionRef: {name: two}}");
    assert_eq!(
        of("DeepMergePreferChild", one, two),
        json!([provider("two"), provider("one")])
    );
    assert_eq!(
        of("DeepMergePreferParent", one, two),
        json!([provider("one"), provider("two")])
    );
    assert_eq!(of("DeepMergePreferChild", one, one), provider("one"));
    // Whoever is preferred, nothing is asked once one side says so.
    for priority in ["DeepMergePreferChild", "DeepMergePreferParent"] {
        assert_eq!(
            of(priority, "{disable: {}}", two),
            json!({"disable": {}}),
            "{priority}"
        );
        assert_eq!(
            of(priority, one, "{disable: {}}"),
            json!({"disable": {}}),
            "{priority}"
        );
    }
    assert_eq!(
        of("ShallowMergePreferChild", "{disable: {}}", two),
        provider("two")
    );
    assert_eq!(
        of("ShallowMergePreferParent", one, "{disable: {}}"),
        provider("one")
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
fn a_class_that_is_not_in_the_input_may_be_that_of_kgateway_unless_istio_makes_it() {
    let without_class = |name: &str| {
        let (_, rest) = SMALL.split_once("---\n").unwrap();
        rest.replace("gatewayClassName: gc", &format!("gatewayClassName: {name}"))
    };
    let said = |class: &str| {
        let text = without_class(class) + &parent("", &to_route("child")) + &child("", &["/shop"]);
        let hub = hub(&text, &[]);
        let said = Seen::hub(&hub).said();
        said.iter().any(|said| said.starts_with("route/delegated"))
    };
    assert!(!said("gc") && !said("kgateway"));
    assert!(said("istio") && said("istio-waypoint"));
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
