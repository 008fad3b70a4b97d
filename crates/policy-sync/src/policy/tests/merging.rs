//! Precedence and merging.

use kube_json::json;

use super::super::{AuthoredId, Composed, Dictates, KindId, Options, Profile, Rule, defines};
use crate::hub::RowId as _;
use crate::object::Ages;
use crate::tests::{SMALL, Seen, color, color_crd, hub, limit};
use crate::topology::{GatewayId, Node};

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
fn a_policy_without_an_age_is_the_newest() {
    let text = SMALL.to_owned()
        + &limit("a", R1, "limits: {l: {rates: [{limit: 1, window: 1s}]}}")
        + &aged(
            &limit("b", R1, "limits: {l: {rates: [{limit: 2, window: 1s}]}}"),
            "creationTimestamp: \"2024-01-01T00:00:00Z\"",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    // Atomic defaults on one level: the challenger, which is the newer, wins.
    assert_eq!(
        seen.state("RateLimitPolicy infra/b"),
        "False/Overridden: RateLimitPolicy is overridden by [infra/a]"
    );
    let path = seen.effective.on(KindId::from_row(0), GatewayId::from_row(0))[0]
        .effective
        .clone();
    let (a, b) = (
        seen.id("RateLimitPolicy infra/a"),
        seen.id("RateLimitPolicy infra/b"),
    );
    let author = |policy| AuthoredId { policy, position: 0 };
    assert_eq!(
        path.rule(&seen.attachments, author(a), author(b)),
        Some(Rule::NewerChallenger)
    );
    let report = seen.report();
    let decisions = &report.policies[1].decisions;
    assert_eq!(
        (decisions[0].winner.as_str(), decisions[0].rule),
        ("ratelimitpolicy.kuadrant.io:infra/a", "newer-challenger")
    );
    let (limit, leaf) = path.content.get_key_value("l").unwrap();
    let (from, pointer) = seen.attachments.written_at(limit, leaf);
    assert_eq!(
        (from.object.name.as_str(), pointer.as_str()),
        ("a", "/spec/limits/l")
    );
}

#[test]
fn an_override_beats_defaults_from_any_level_and_a_less_specific_override_beats_it() {
    let text = SMALL.to_owned()
        + &color_crd("true")
        + &color_on("g", GW, "default: {a: g, b: g}, override: {c: g}")
        + &color_on("r", R1, "overrides: {a: r, c: r}")
        + &color_on(
            "rule",
            &format!("{R1}, sectionName: first"),
            "a: rule, b: rule, c: rule",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "r1", "r1#first"]),
        Some(json!({"a": "r", "b": "rule", "c": "g"}))
    );
}

#[test]
fn lists_are_replaced_whole_and_a_scalar_replaces_a_mapping() {
    let text = SMALL.to_owned()
        + &color_crd("Inherited")
        + &color_on(
            "g",
            GW,
            "list: [1, 2], deep: {a: {b: 1, c: 2}}, flat: 1, empty: {x: 1}",
        )
        + &color_on("r", R1, "list: [3], deep: {a: 5}, flat: {now: deep}, empty: {}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "r1"]),
        Some(json!({"list": [3], "deep": {"a": 5}, "flat": {"now": "deep"}, "empty": {"x": 1}}))
    );
}

#[test]
fn a_null_deletes_nothing_because_an_api_server_drops_it() {
    let text = SMALL.to_owned()
        + &color_crd("Inherited")
        + &color_on("g", GW, "a: 1")
        + &color_on("r", R1, "a: null, b: 2");
    let hub = hub(&text, &[]);
    assert_eq!(Seen::hub(&hub).spec(&["gw", "r1"]), Some(json!({"a": 1, "b": 2})));
}

#[test]
fn empty_atomic_defaults_fall_back_to_the_parent() {
    let auth = |name: &str, target: &str, settings: &str| {
        limit(name, target, settings).replace("RateLimitPolicy", "AuthPolicy")
    };
    let text = SMALL.to_owned()
        + &auth("g", GW, "defaults: {rules: {authentication: {a: {apiKey: {}}}}}")
        + &auth("r", R1, "when: [{predicate: \"true\"}]");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "gw#http", "r1", "r1#first"]),
        Some(json!({"rules": {"authentication": {"a": {"apiKey": {}}}}})),
        "only conditions count as empty"
    );
}

#[test]
fn rules_are_never_mixed_and_top_level_predicates_are_one_rule() {
    let text = SMALL.to_owned()
        + &limit(
            "g",
            GW,
            "overrides: {strategy: merge, when: [{predicate: g}], limits: {l: {rates: [{limit: 1, window: 1s}]}}}",
        )
        + &limit(
            "r",
            R1,
            "when: [{predicate: r}], limits: {l: {counters: [{expression: x}]}, m: {rates: []}}",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "gw#http", "r1", "r1#first"]),
        Some(json!({"when": [{"predicate": "g"}],
                    "limits": {"l": {"rates": [{"limit": 1, "window": "1s"}]}, "m": {"rates": []}}}))
    );
    let rules = &seen.effective.on(KindId::from_row(0), GatewayId::from_row(0))[0]
        .effective
        .content;
    let when = rules.get("###_TOP_LEVEL_PREDICATES_###").unwrap();
    assert_eq!(*when.value, json!([{"predicate": "g"}]));
    assert_eq!(when.source_pointer(), "/spec/overrides/when");
}

#[test]
fn envoy_gateways_child_chooses_whether_it_merges() {
    let traffic = |name: &str, target: &str, settings: &str| {
        limit(name, target, settings)
            .replace("kuadrant.io/v1", "gateway.envoyproxy.io/v1alpha1")
            .replace("RateLimitPolicy", "BackendTrafficPolicy")
    };
    let text = SMALL.to_owned()
        + &traffic("g", GW, "retry: {numRetries: 1}, timeout: 5s")
        + &traffic("r1", R1, "mergeType: StrategicMerge, timeout: 1s")
        + &traffic("r2", "kind: HTTPRoute, name: r2", "timeout: 2s");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "r1", "r1#first"]),
        Some(json!({"retry": {"numRetries": 1}, "timeout": "1s"}))
    );
    assert_eq!(
        seen.spec(&["gw", "r2", "r2#rule-1"]),
        Some(json!({"timeout": "2s"}))
    );
}

#[test]
fn istios_policies_add_up_and_have_no_single_result() {
    let authorization = |name: &str, settings: &str| {
        format!(
            "---\napiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{{settings}}}\n"
        )
    };
    let text = SMALL.to_owned()
        + &authorization("whole-namespace", "action: DENY")
        + &authorization(
            "on-gateway",
            "action: ALLOW, targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]",
        );
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let path = &seen.effective.on(KindId::from_row(0), GatewayId::from_row(0))[0];
    assert_eq!(path.effective.content.len(), 2);
    assert_eq!(
        path.effective.spec(&seen.attachments.kinds.rows()[0].profile),
        None
    );
    assert!(path.effective.losses.is_empty());
    assert!(seen.said().is_empty(), "{:?}", seen.said());
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
fn an_empty_list_of_predicates_is_no_rule() {
    let text = SMALL.to_owned()
        + &limit(
            "g",
            GW,
            "defaults: {strategy: merge, when: [{predicate: g}], limits: {l: {rates: []}}}",
        )
        + &limit("r", R1, "when: [], limits: {m: {rates: []}}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw", "gw#http", "r1", "r1#first"]),
        Some(json!({"when": [{"predicate": "g"}], "limits": {"l": {"rates": []}, "m": {"rates": []}}}))
    );
}

#[test]
fn the_settings_of_a_direct_kind_have_neither_wrappers_nor_a_strategy() {
    let settings = "defaults: {a: 1}, strategy: merge, mergeType: x";
    let text = SMALL.to_owned() + &color_crd("Direct") + &color_on("p", GW, settings);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["gw"]),
        Some(json!({"defaults": {"a": 1}, "strategy": "merge", "mergeType": "x"}))
    );
    assert!(seen.said().is_empty(), "{:?}", seen.said());
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
