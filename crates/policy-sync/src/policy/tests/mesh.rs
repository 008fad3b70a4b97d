//! The targets of Istio's policies, compared with a slow and simple model of its rules
//! (docs/systems/other-policies.md#istio).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;

use crate::tests::{Seen, hub};
use crate::topology::{Node, Start};

const NAMESPACES: [&str; 3] = ["istio-system", "one", "two"];
const LABELS: [&str; 3] = ["a", "b", "c"];

/// A Gateway: its namespace, its labels, whether it is a waypoint.
type GatewayOf = (usize, BTreeSet<usize>, bool);
/// A Service: its namespace, the labels that it selects.
type ServiceOf = (usize, BTreeSet<usize>);
/// A policy: its namespace, the labels that it selects; none: no selector.
type PolicyOf = (usize, BTreeSet<usize>);

fn labels() -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0..LABELS.len(), 0..3)
}

fn mapping(labels: &BTreeSet<usize>) -> String {
    let entries: Vec<String> = labels
        .iter()
        .map(|label| format!("{}: x", LABELS[*label]))
        .collect();
    format!("{{{}}}", entries.join(", "))
}

fn text(gateways: &[GatewayOf], services: &[ServiceOf], policies: &[PolicyOf]) -> String {
    let mut text = String::from("apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n");
    for (number, (namespace, labels, is_waypoint)) in gateways.iter().enumerate() {
        let class = if *is_waypoint { "istio-waypoint" } else { "istio" };
        let _ = write!(
            text,
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: g{number}, namespace: {}, labels: \
             {}}}\nspec: {{gatewayClassName: {class}, listeners: [{{name: http, port: 80, protocol: HTTP, allowedRoutes: \
             {{namespaces: {{from: All}}}}}}]}}\n",
            NAMESPACES[*namespace],
            mapping(labels)
        );
    }
    for (number, (namespace, labels)) in services.iter().enumerate() {
        let _ = write!(
            text,
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: s{number}, namespace: {}}}\nspec: {{selector: {}, ports: \
             [{{port: 80}}]}}\n",
            NAMESPACES[*namespace],
            mapping(labels)
        );
        // One route in the namespace of the Service, below every Gateway and below the Service itself.
        let parents: Vec<String> = gateways
            .iter()
            .enumerate()
            .map(|(gateway, (namespace, ..))| {
                format!("{{name: g{gateway}, namespace: {}}}", NAMESPACES[*namespace])
            })
            .chain([format!("{{group: \"\", kind: Service, name: s{number}}}")])
            .collect();
        let _ = write!(
            text,
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: {}}}\nspec: \
             {{parentRefs: [{}], rules: [{{backendRefs: [{{name: s{number}, port: 80}}]}}]}}\n",
            NAMESPACES[*namespace],
            parents.join(", ")
        );
    }
    for (number, (namespace, labels)) in policies.iter().enumerate() {
        let selector = if labels.is_empty() {
            String::new()
        } else {
            format!("selector: {{matchLabels: {}}}, ", mapping(labels))
        };
        let _ = write!(
            text,
            "---\napiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {{name: p{number}, namespace: \
             {}}}\nspec: {{{selector}action: DENY}}\n",
            NAMESPACES[*namespace]
        );
    }
    text
}

/// Whether a policy without a target holds for a workload, as Istio matches them.
fn holds(policy: &PolicyOf, namespace: usize, labels: &BTreeSet<usize>) -> bool {
    (policy.0 == 0 || policy.0 == namespace) && policy.1.is_subset(labels)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_policy_without_a_target_holds_exactly_for_the_workloads_that_istio_matches(
        gateways in prop::collection::vec((0..3_usize, labels(), any::<bool>()), 0..3),
        services in prop::collection::vec((0..3_usize, labels()), 1..3),
        policies in prop::collection::vec((0..3_usize, labels()), 1..4),
    ) {
        let text = text(&gateways, &services, &policies);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let topology = &seen.attachments.topology;
        let mut found: BTreeMap<(String, Option<String>), BTreeSet<String>> = BTreeMap::new();
        for (_, path) in seen.effective.iter() {
            let name = |node: Node| topology.identity(node).name.to_string();
            let start = name(path.path.start.node());
            let end = path.path.backend.map(|backend| name(Node::Backend(backend)));
            let chain = path.effective.chain.iter();
            let names = chain.map(|(_, policy)| seen.attachments.policy(*policy).object.name.to_string());
            let names: Vec<String> = names.collect();
            for (number, (namespace, labels)) in policies.iter().enumerate() {
                let times = names.iter().filter(|name| **name == format!("p{number}")).count();
                let is_of_mesh = *namespace == 0 && labels.is_empty();
                prop_assert!(!is_of_mesh || times <= 1, "once for the whole path: {}", text);
            }
            found.entry((start, end)).or_default().extend(names);
            prop_assert!(matches!(path.path.start, Start::Gateway(_)) || path.path.route.is_some());
        }
        let at = |namespace: usize, labels: &BTreeSet<usize>| -> BTreeSet<String> {
            let all = policies.iter().enumerate();
            all.filter(|(_, policy)| holds(policy, namespace, labels))
                .map(|(number, _)| format!("p{number}"))
                .collect()
        };
        let mut wanted: BTreeMap<(String, Option<String>), BTreeSet<String>> = BTreeMap::new();
        for (service, (namespace, labels)) in services.iter().enumerate() {
            let there = at(*namespace, labels);
            let end = Some(format!("s{service}"));
            wanted.insert((format!("s{service}"), end.clone()), there.clone());
            for (gateway, (namespace, labels, is_waypoint)) in gateways.iter().enumerate() {
                let own = if *is_waypoint { BTreeSet::new() } else { at(*namespace, labels) };
                wanted.insert((format!("g{gateway}"), None), own.clone());
                let both = own.into_iter().chain(there.clone()).collect();
                wanted.insert((format!("g{gateway}"), end.clone()), both);
            }
        }
        wanted.retain(|_, policies| !policies.is_empty());
        prop_assert_eq!(found, wanted, "{}", text);
    }
}

/// Service `one/s`, whose pods have label `a`, below a route of its own.
fn service() -> String {
    text(&[], &[(1, BTreeSet::from([0]))], &[])
}

/// A PeerAuthentication or another policy.
fn policy((version, kind): (&str, &str), (namespace, name): (&str, &str), spec: &str) -> String {
    format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {spec}\n"
    )
}

const PEER: (&str, &str) = ("security.istio.io/v1", "PeerAuthentication");

/// The policies that hold on some path.
fn holding(seen: &Seen<'_>) -> BTreeSet<String> {
    let chains = seen
        .effective
        .iter()
        .flat_map(|(_, path)| path.effective.chain.iter());
    chains
        .map(|(_, policy)| seen.attachments.policy(*policy).object.name.to_string())
        .collect()
}

#[test]
fn a_selector_of_a_peer_authentication_in_the_root_namespace_takes_no_effect() {
    let selecting = "{selector: {matchLabels: {a: x}}, mtls: {mode: STRICT}}";
    let text = service()
        + &policy(PEER, ("istio-system", "root"), selecting)
        + &policy(PEER, ("one", "own"), selecting);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(holding(&seen), BTreeSet::from(["own".to_owned()]));
    let said = seen.said();
    assert!(
        said.iter().any(|said| said.starts_with("policy/invalid")
            && said.contains("root has no effect")
            && said.contains("in istio-system, its root namespace")),
        "{said:?}"
    );
}

#[test]
fn selectors_of_another_kind_select_nothing_and_labels_that_are_no_text_do_not_widen() {
    let filter = ("networking.istio.io/v1alpha3", "EnvoyFilter");
    let deny = ("security.istio.io/v1", "AuthorizationPolicy");
    let text = service()
        + &policy(filter, ("one", "filter"), "{workloadSelector: {labels: {a: x}}}")
        + &policy(
            filter,
            ("one", "other-filter"),
            "{workloadSelector: {labels: {b: x}}}",
        )
        + &policy(
            filter,
            ("one", "crossed-filter"),
            "{workloadSelector: {labels: {a: x}, matchLabels: {b: x}}}",
        )
        + &policy(
            deny,
            ("one", "crossed"),
            "{selector: {matchLabels: {a: x}, labels: {b: x}}, action: DENY}",
        )
        + &policy(
            deny,
            ("one", "number"),
            "{selector: {matchLabels: {a: 1}}, action: DENY}",
        );
    let hub = hub(&text, &[]);
    let names = ["filter", "crossed-filter", "crossed"].map(str::to_owned);
    assert_eq!(holding(&Seen::hub(&hub)), BTreeSet::from(names));
}

#[test]
fn a_mode_that_is_unset_leaves_the_wider_one() {
    let text = service()
        + &policy(PEER, ("istio-system", "mesh"), "{mtls: {mode: STRICT}}")
        + &policy(
            PEER,
            ("one", "own"),
            "{selector: {matchLabels: {a: x}}, mtls: {mode: UNSET}, portLevelMtls: {\"80\": {mode: UNSET}, \"81\": {mode: DISABLE}}}",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let specs: Vec<_> = seen
        .effective
        .iter()
        .filter_map(|(kind, path)| path.effective.spec(&seen.attachments.kinds.get(kind).profile))
        .collect();
    assert!(!specs.is_empty());
    for spec in specs {
        let wanted =
            kube_json::json!({"mtls": {"mode": "STRICT"}, "portLevelMtls": {"81": {"mode": "DISABLE"}}});
        assert_eq!(spec, wanted);
    }
}

/// A route of Service `shop/cart` to `cart-v2`, with a rule that redirects; `labels` are the Service's, `more` is the rest of the
/// hub.
fn waypointed(labels: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: cart, namespace: shop, labels: {{{labels}}}}}\nspec: {{selector: {{app: \
         cart}}, ports: [{{port: 80}}]}}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: cart-v2, namespace: shop, labels: \
         {{{labels}}}}}\nspec: {{selector: {{app: cart, version: v2}}, ports: [{{port: 80}}]}}\n---\n\
         apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: cart, namespace: shop}}\nspec: \
         {{parentRefs: [{{group: \"\", kind: Service, name: cart}}, {{name: web}}], rules: [{{name: old, filters: [{{type: \
         RequestRedirect, requestRedirect: {{hostname: a.example}}}}]}}, {{name: to, backendRefs: [{{name: cart-v2, port: \
         80}}]}}]}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: web, namespace: shop}}\nspec: \
         {{gatewayClassName: istio, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n{more}"
    )
}

/// A Gateway of this class in a namespace, whose listener of HBONE takes routes of these namespaces.
fn waypoint(namespace: &str, class: &str, labels: &str, from: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: wp, namespace: {namespace}, labels: \
         {{{labels}}}}}\nspec: {{gatewayClassName: {class}, listeners: [{{name: mesh, port: 15008, protocol: HBONE, allowedRoutes: \
         {{namespaces: {{from: {from}}}}}}}]}}\n"
    )
}

fn namespace_shop(labels: &str) -> String {
    format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: {{{labels}}}}}\n")
}

fn to_service(name: &str, service: &str) -> String {
    let deny = ("security.istio.io/v1", "AuthorizationPolicy");
    let spec = format!("{{targetRefs: [{{group: \"\", kind: Service, name: {service}}}], action: DENY}}");
    policy(deny, ("shop", name), &spec)
}

#[test]
fn what_targets_a_waypoint_or_its_class_holds_for_the_services_that_it_serves() {
    let targeting = |name: &str, namespace: &str, kind: &str, target: &str| {
        format!(
            "---\napiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
             spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: {kind}, name: {target}}}], action: DENY, rules: [{{}}]}}\n"
        )
    };
    let policies = targeting("itself", "shop", "Gateway", "wp")
        + &targeting("class", "istio-system", "GatewayClass", "istio-waypoint")
        + &targeting("another", "shop", "Gateway", "web");
    let on = |labels: &str| {
        let text = waypointed(
            labels,
            &(waypoint("shop", "istio-waypoint", "", "Same") + &policies),
        );
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let names = |from_gateway: bool| -> BTreeSet<String> {
            let paths = seen.effective.iter().filter(|(_, path)| {
                path.path.backend.is_some() && path.path.gateway().is_some() == from_gateway
            });
            let chains = paths.flat_map(|(_, path)| path.effective.chain.iter());
            chains
                .map(|(_, policy)| seen.attachments.policy(*policy).object.name.to_string())
                .collect()
        };
        (names(false), names(true))
    };
    let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(ToString::to_string).collect() };
    let (both, own) = (set(&["class", "itself"]), set(&["another"]));
    assert_eq!(on("istio.io/use-waypoint: wp"), (both.clone(), own.clone()));
    let ingress = "istio.io/use-waypoint: wp, istio.io/ingress-use-waypoint: \"true\"";
    let all = set(&["another", "class", "itself"]);
    assert_eq!(on(ingress), (both, all));
    assert_eq!(on("istio.io/use-waypoint: none"), (set(&[]), own));
}

#[test]
fn a_rule_without_a_backend_ends_a_path_for_workloads_in_a_mesh_alone() {
    let deny = ("security.istio.io/v1", "AuthorizationPolicy");
    let on_gateway =
        "{targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}], action: DENY}";
    let more = waypoint("shop", "istio-waypoint", "", "Same")
        + &to_service("to-cart", "cart")
        + &policy(deny, ("shop", "to-web"), on_gateway);
    let hub = hub(&waypointed("istio.io/use-waypoint: wp", &more), &[]);
    let seen = Seen::hub(&hub);
    let labels = seen.effective.iter();
    let labels = labels.map(|(_, path)| seen.attachments.topology.path_label(&path.path));
    let mut labels: Vec<String> = labels.collect();
    labels.retain(|label| label.ends_with("> old"));
    assert_eq!(labels, ["Service shop/cart > HTTPRoute shop/cart > old"]);
}

#[test]
fn what_targets_a_service_holds_only_where_a_waypoint_is_known_to_serve_it() {
    const WP: &str = "istio.io/use-waypoint: wp";
    const ELSEWHERE: &str = "istio.io/use-waypoint: wp, istio.io/use-waypoint-namespace: infra";
    const CLASS: &str = "istio-waypoint";
    let own = |labels: &str| waypoint("shop", CLASS, labels, "Same");
    let of_class = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: ours}\nspec: \
                    {controllerName: istio.io/mesh-controller}\n";
    // What the Service says, what else there is, and why the policy does not hold; none: it does.
    let cases: [(&str, String, Option<&str>); 16] = [
        (WP, own(""), None),
        ("", own("") + &namespace_shop(WP), None),
        (WP, own("istio.io/waypoint-for: all"), None),
        (ELSEWHERE, waypoint("infra", CLASS, "", "All"), None),
        (WP, waypoint("shop", "ours", "", "Same") + of_class, None),
        (
            "",
            own(""),
            Some(
                "it is not known whether AuthorizationPolicy shop/p takes effect: Service shop/cart names no waypoint, and Namespace `shop`",
            ),
        ),
        (
            "",
            own("") + &namespace_shop(""),
            Some("has no effect: neither Service shop/cart nor its Namespace has the label"),
        ),
        (
            "istio.io/use-waypoint: none",
            own("") + &namespace_shop(WP),
            Some("has no effect: because of the label `istio.io/use-waypoint: none`"),
        ),
        (
            WP,
            String::new(),
            Some(
                "it is not known whether AuthorizationPolicy shop/p takes effect: its waypoint, Gateway shop/wp, is not in the input",
            ),
        ),
        (
            WP,
            own("istio.io/waypoint-for: workload"),
            Some("is for `workload`, not for Services"),
        ),
        (
            ELSEWHERE,
            waypoint("infra", CLASS, "", "Same"),
            Some("accepts nothing from namespace `shop`"),
        ),
        (
            ELSEWHERE,
            waypoint("infra", CLASS, "", "All").replace("15008", "15009"),
            Some("accepts nothing from namespace `shop`"),
        ),
        (
            ELSEWHERE,
            waypoint("infra", CLASS, "", "All").replace("HBONE", "HTTP"),
            Some("accepts nothing from namespace `shop`"),
        ),
        (
            WP,
            waypoint("shop", "other", "", "Same"),
            Some("has class `other`"),
        ),
        (
            "",
            String::new(),
            Some("Namespace `shop`, which may, is not in the input"),
        ),
        (
            WP,
            waypoint("infra", CLASS, "", "All"),
            Some("Gateway shop/wp, is not in the input"),
        ),
    ];
    for (labels, more, why) in cases {
        let text = waypointed(labels, &(more + &to_service("p", "cart")));
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let said = seen.said();
        assert_eq!(!holding(&seen).is_empty(), why.is_none(), "{text}\n{said:?}");
        if let Some(why) = why {
            assert!(
                said.iter()
                    .any(|said| said.starts_with("policy/unreachable") && said.contains(why)),
                "{why}\n{said:?}"
            );
        }
    }
}

#[test]
fn a_waypoint_holds_its_own_service_and_what_gateways_send_passes_it_by_unless_a_label_says_otherwise() {
    const WP: &str = "istio.io/use-waypoint: wp";
    let paths = |labels: &str| -> (BTreeMap<String, BTreeSet<String>>, Vec<String>) {
        let policies = to_service("to-cart", "cart") + &to_service("to-v2", "cart-v2");
        let text = waypointed(
            labels,
            &(waypoint("shop", "istio-waypoint", "", "Same") + &policies),
        );
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (_, path) in seen.effective.iter() {
            let label = seen.attachments.topology.path_label(&path.path);
            let names = path.effective.chain.iter();
            let names = names.map(|(_, policy)| seen.attachments.policy(*policy).object.name.to_string());
            found.entry(label).or_default().extend(names);
        }
        (found, seen.said())
    };
    let of = |name: &str| BTreeSet::from([name.to_owned()]);
    let mesh = BTreeMap::from([
        (
            "Service shop/cart > HTTPRoute shop/cart > old".to_owned(),
            of("to-cart"),
        ),
        (
            "Service shop/cart > HTTPRoute shop/cart > Service shop/cart-v2".to_owned(),
            of("to-cart"),
        ),
    ]);
    let (found, said) = paths(WP);
    assert_eq!(found, mesh);
    let by = "AuthorizationPolicy shop/to-v2 does not apply to requests that Gateways send to Service shop/cart-v2";
    assert!(said.iter().any(|said| said.contains(by)), "{said:?}");
    let (found, said) = paths(&format!("{WP}, istio.io/ingress-use-waypoint: \"true\""));
    let mut both = mesh;
    both.insert(
        "Gateway shop/web > HTTPRoute shop/cart > Service shop/cart-v2".to_owned(),
        of("to-v2"),
    );
    assert_eq!(found, both);
    assert!(
        !said.iter().any(|said| said.contains("does not apply")),
        "{said:?}"
    );
}
