//! Precedence and merging.

use kube_json::json;

use super::super::{Composed, Dictates, Options, Profile, defines};
use crate::object::Ages;
use crate::tests::{SMALL, Seen, color, color_crd, hub, limit};
use crate::topology::Node;

const GW: &str = "kind: Gateway, name: gw";
const R1: &str = "kind: HTTPRoute, name: r1";

fn color_on(name: &str, target: &str, settings: &str) -> String {
    color(
        name,
        &format!("group: gateway.networking.k8s.io, {target}"),
        settings,
    )
}

fn aged(policy: &str, time: &str) -> String {
    policy.replacen("namespace: infra}", &format!("namespace: infra, {time}}}"), 1)
}

#[test]
fn on_one_level_the_seed_prefers_the_oldest_in_defaults_and_in_overrides() {
    let text = SMALL.to_owned()
        + &color_crd("inherited")
        + &color_on("a", GW, "defaults: {x: a, only: a}, overrides: {z: a}")
        + &color_on("b", GW, "defaults: {x: b, also: b}, overrides: {z: b}");
    let hub_text = hub(&text, &[]);
    let seen = Seen::hub(&hub_text);
    let wanted = json!({"x": "a", "only": "a", "also": "b", "z": "a"});
    assert_eq!(seen.spec(&["gw"]), Some(wanted), "first by name, without ages");

    let text = SMALL.to_owned()
        + &color_crd("inherited")
        + &aged(
            &color_on("a", GW, "defaults: {x: a}, overrides: {z: a}"),
            "creationTimestamp: \"2024-02-01T00:00:00Z\"",
        )
        + &aged(
            &color_on("b", GW, "defaults: {x: b}, overrides: {z: b}"),
            "annotations: {kuadrant.io/origin-creation: \"2024-01-01T00:00:00Z\"}",
        );
    let hub_text = hub(&text, &[]);
    assert_eq!(
        Seen::hub(&hub_text).spec(&["gw"]),
        Some(json!({"x": "b", "z": "b"})),
        "the older wins both"
    );
    let ignored = Options {
        ages: Ages::Ignore,
        ..Options::default()
    };
    let seen = Seen::of(&hub_text, &ignored);
    assert_eq!(
        seen.spec(&["gw"]),
        Some(json!({"x": "a", "z": "a"})),
        "ages ignored"
    );
}

#[test]
fn defaults_of_a_schema_count_where_the_caller_knows_them() {
    let text = SMALL.to_owned()
        + &limit("g", GW, "defaults: {limits: {l: {rates: []}}}")
        + &limit("r", R1, "limits: {m: {rates: []}}");
    let hub = hub(&text, &[]);
    let path = ["gw", "gw#http", "r1", "r1#first"];
    assert_eq!(
        Seen::hub(&hub).spec(&path),
        Some(json!({"limits": {"m": {"rates": []}}})),
        "atomic, from the registry"
    );
    let complete = |object: &crate::object::Object| {
        let mut value = object.value.clone();
        let defaults = value.pointer_mut("/spec/defaults")?.as_object_mut()?;
        defaults.insert("strategy".to_owned(), json!("merge"));
        Some(value)
    };
    let options = Options {
        interpret: Some(&complete),
        ..Options::default()
    };
    let seen = Seen::of(&hub, &options);
    assert_eq!(
        seen.spec(&path),
        Some(json!({"limits": {"l": {"rates": []}, "m": {"rates": []}}}))
    );
}

#[test]
fn a_kind_that_is_to_be_synced_is_a_policy_kind_without_label_and_profile() {
    let hub = hub(&(SMALL.to_owned() + &color_on("c", GW, "x: 1")), &[]);
    assert!(Seen::hub(&hub).attachments.kinds.is_empty());
    let kinds = [apimachinery::GroupKind::new("colors.example.com", "ColorPolicy")];
    let options = Options {
        kinds: &kinds,
        ..Options::default()
    };
    assert_eq!(Seen::of(&hub, &options).spec(&["gw"]), Some(json!({"x": 1})));
}

#[test]
fn a_setting_is_defined_by_itself_by_a_part_of_it_and_by_what_it_is_a_part_of() {
    let text = SMALL.to_owned() + &color_crd("Inherited") + &color_on("p", GW, "a: {b: {c: 1}}, l: 1");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let effective = seen.effective.iter().next().unwrap().1;
    let content = &effective.effective.content;
    for (key, expected) in [
        ("/a/b/c", true),
        ("/a/b", true),
        ("/a/b/c/d", true),
        ("/l", true),
        ("/l/m", true),
        ("/a/b/x", false),
        ("/a/bb", false),
        ("/x", false),
    ] {
        assert_eq!(defines(content, key), expected, "{key}");
    }
}

#[test]
fn of_a_kind_whose_challenger_dictates_only_single_policies_have_settings_of_their_own() {
    let traffic = |name: &str| {
        format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: gw}}], retry: {{numRetries: 1}}}}\n"
        )
    };
    let hub = hub(&(SMALL.to_owned() + &traffic("a")), &[]);
    let seen = Seen::hub(&hub);
    let kind = seen.attachments.kinds.rows().first().unwrap();
    let entry = &kind.nodes.values().next().unwrap().accepted[0];
    for (dictates, policies, expected) in [
        (Dictates::Challenger, 1, true),
        (Dictates::Challenger, 2, false),
        (Dictates::Established, 2, true),
    ] {
        let profile = Profile {
            dictates,
            ..(*kind.profile).clone()
        };
        let entries = vec![entry.clone(); policies];
        assert_eq!(
            Composed::new(&profile, &entries).is_some(),
            expected,
            "{dictates:?} {policies}"
        );
    }
}

#[test]
fn the_paths_through_a_node_are_those_that_a_policy_on_it_is_on() {
    let set = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: ls, namespace: infra}\n\
               spec: {parentRef: {name: gw}, listeners: [{name: extra, port: 8080, protocol: HTTP}]}\n";
    let away = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: away, namespace: shop}\n\
                spec: {parentRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: ls, namespace: infra}], \
                rules: [{backendRefs: [{name: s, port: 80}]}]}\n";
    let of_envoy_gateway = |name: &str| {
        let target = if name == "g" {
            GW
        } else {
            "kind: ListenerSet, name: ls"
        };
        limit(name, target, "useClientProtocol: true")
            .replace("kuadrant.io/v1", "gateway.envoyproxy.io/v1alpha1")
            .replace("RateLimitPolicy", "BackendTrafficPolicy")
    };
    let text = SMALL.replace(
        "  gatewayClassName: gc\n",
        "  gatewayClassName: gc\n  allowedListeners: {namespaces: {from: Same}}\n",
    ) + &set.replace(
        "protocol: HTTP}",
        "protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}",
    ) + away
        // Kuadrant follows no ListenerSet.
        + &["g", "s"].map(of_envoy_gateway).concat();
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let topology = &seen.attachments.topology;
    let through = |node: Node| {
        let found = seen.effective.through(&seen.attachments, node).into_iter();
        let mut routes: Vec<String> = found
            .filter_map(|(_, path)| {
                let nodes = topology.nodes(&path.path).into_iter();
                let mut routes = nodes.filter(|node| matches!(node, Node::Route(_)));
                routes.next().map(|node| topology.described(node))
            })
            .collect();
        routes.sort();
        routes.dedup();
        routes.join(", ")
    };
    let all = "HTTPRoute infra/r1, HTTPRoute infra/r2, HTTPRoute shop/away";
    let namespace = |name: &str| Node::Namespace(topology.find_namespace(name).unwrap());
    assert_eq!(through(namespace("infra")), all, "the Gateway is there");
    assert_eq!(through(namespace("shop")), "HTTPRoute shop/away");
    let set = topology.listener_sets.ids().next().unwrap();
    assert_eq!(through(Node::ListenerSet(set)), "HTTPRoute shop/away");
}
