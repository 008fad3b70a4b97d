//! Which policies on one target reach a spoke, and which of their settings apply next to policies that live there.

use kube_json::{Value, json};

use super::{locals, received, report_on, spec_on, state_on};
use crate::diagnostic::Findings;
use crate::hub::Hub;
use crate::policy::{Options, PolicyId, Rule};
use crate::sync::SyncedObjects;
use crate::sync::local_policies::beside_local;
use crate::sync::same_target::{SyncedPolicy, SyncedSpec, resolve};
use crate::tests::{SMALL, Seen, color, color_crd, hub, limit, small_with_params};
use crate::topology::Node;

const GW: &str = "kind: Gateway, name: gw";

/// What is synced for one target, and what is not.
struct Decided {
    synced: Vec<SyncedPolicy>,
    withheld: Vec<(PolicyId, Rule)>,
}

/// The decisions for Gateway `infra/gw` and all routes, on a cluster or in general.
fn decisions<'a>(seen: &Seen<'a>, hub: &'a Hub, cluster: Option<&str>) -> Vec<Decided> {
    let (options, mut said) = (Options::default(), Findings::new());
    let mut locals = locals(hub, &seen.attachments, &options, &mut said);
    let locals = cluster.and_then(|cluster| locals.remove(cluster));
    let topology = &seen.attachments.topology;
    let mut nodes = topology.nodes_of_gateway(topology.gateways.ids().next().unwrap());
    let routes = topology.routes.ids().map(Node::Route);
    nodes.extend(routes.flat_map(|route| std::iter::once(route).chain(topology.sections(route))));
    let mut decided = Vec::new();
    for kind in seen.attachments.kinds.ids() {
        for node in &nodes {
            let Some(resolution) = resolve(&seen.attachments, kind, *node) else {
                continue;
            };
            let displaced = resolution.displaced.iter();
            let mut one = Decided {
                synced: Vec::new(),
                withheld: displaced
                    .map(|displaced| (displaced.policy, displaced.rule))
                    .collect(),
            };
            let there = locals
                .iter()
                .flat_map(|locals| locals.on(kind, *node))
                .collect::<Vec<_>>();
            for mut synced in resolution.synced {
                if !there.is_empty() {
                    match beside_local(&seen.attachments, &synced, &there) {
                        Some(spec) => synced.spec = spec,
                        None => {
                            one.withheld.push((synced.policy, Rule::SpokeLocal));
                            continue;
                        }
                    }
                }
                one.synced.push(synced);
            }
            decided.push(one);
        }
    }
    decided
}

fn key(seen: &Seen<'_>, policy: PolicyId) -> String {
    seen.attachments.policy(policy).rank.key.clone()
}

/// Synced and withheld policies of the only decision, with the rewritten spec.
fn only(hub: &Hub, cluster: Option<&str>) -> (Vec<String>, Vec<(String, Rule)>, Option<Value>) {
    let seen = Seen::hub(hub);
    let decided = decisions(&seen, hub, cluster);
    let [one] = decided.as_slice() else {
        panic!("{} decisions", decided.len())
    };
    let synced = one
        .synced
        .iter()
        .map(|synced| key(&seen, synced.policy))
        .collect();
    let withheld = one.withheld.iter();
    let withheld = withheld
        .map(|(policy, rule)| (key(&seen, *policy), *rule))
        .collect();
    let spec = one.synced.first().and_then(|synced| match &synced.spec {
        SyncedSpec::AsWritten => None,
        SyncedSpec::Rewritten { spec, .. } => Some((**spec).clone()),
    });
    (synced, withheld, spec)
}

/// Everything that is synced from a hub whose class `gc` is ours and asks for RateLimitPolicies, to these clusters.
fn synced<T>(hub: &Hub, clusters: &[&str], look: impl FnOnce(&SyncedObjects<'_>) -> T) -> T {
    received(hub, &[("infra/gw", clusters)], |received| look(received.synced))
}

fn rate(limit: u32) -> String {
    format!("{{rates: [{{limit: {limit}, window: 1s}}]}}")
}

/// Defaults that merge.
fn merging(limits: &str) -> String {
    format!("defaults: {{strategy: merge, limits: {{{limits}}}}}")
}

#[test]
fn of_atomic_defaults_the_challenger_is_shipped_alone() {
    let text = SMALL.to_owned()
        + &limit("a", GW, &format!("limits: {{l: {}}}", rate(1)))
        + &limit("b", GW, &format!("limits: {{l: {}}}", rate(2)));
    let (shipped, withheld, spec) = only(&hub(&text, &[]), None);
    assert_eq!(shipped, ["infra/b"]);
    assert_eq!(withheld, [("infra/a".to_owned(), Rule::LaterChallenger)]);
    assert_eq!(spec, None, "as written");
}

#[test]
fn of_atomic_overrides_the_established_one_is_shipped_alone() {
    let text = SMALL.to_owned()
        + &limit("a", GW, &format!("overrides: {{limits: {{l: {}}}}}", rate(1)))
        + &limit("b", GW, &format!("overrides: {{limits: {{l: {}}}}}", rate(2)));
    let (shipped, withheld, _) = only(&hub(&text, &[]), None);
    assert_eq!(shipped, ["infra/a"]);
    assert_eq!(withheld, [("infra/b".to_owned(), Rule::FirstByName)]);
}

#[test]
fn a_merging_established_policy_becomes_one_merged_policy_with_all_sources() {
    let text = SMALL.to_owned()
        + &limit(
            "a",
            GW,
            &format!(
                "defaults: {{strategy: merge, limits: {{l: {}, m: {}}}}}",
                rate(1),
                rate(1)
            ),
        )
        + &limit(
            "b",
            GW,
            &format!(
                "defaults: {{strategy: merge, limits: {{l: {}, o: {}}}}}",
                rate(2),
                rate(2)
            ),
        );
    let hub = hub(&text, &[]);
    let decided = decisions(&Seen::hub(&hub), &hub, None);
    assert!(decided[0].withheld.is_empty());
    let synced = &decided[0].synced[0];
    let SyncedSpec::Rewritten { spec, .. } = &synced.spec else {
        panic!("{:?}", decided[0].synced)
    };
    assert_eq!(synced.sources().len(), 2);
    assert_eq!(
        **spec,
        json!({"targetRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw"},
               "defaults": {"strategy": "merge", "limits": {
                   "l": {"rates": [{"limit": 2, "window": "1s"}]}, "m": {"rates": [{"limit": 1, "window": "1s"}]},
                   "o": {"rates": [{"limit": 2, "window": "1s"}]}}}})
    );
}

/// The specs that are shipped for the only target, with their names.
fn specs(text: &str) -> Vec<(String, Value)> {
    let hub = hub(&(SMALL.to_owned() + text), &[]);
    let seen = Seen::hub(&hub);
    let decided = decisions(&seen, &hub, None);
    let [one] = decided.as_slice() else {
        panic!("{} decisions", decided.len())
    };
    let specs = one.synced.iter().map(|synced| {
        let mut spec = match &synced.spec {
            SyncedSpec::AsWritten => seen.attachments.policy(synced.policy).object.value["spec"].clone(),
            SyncedSpec::Rewritten { spec, .. } => (**spec).clone(),
        };
        for field in ["targetRef", "targetRefs"] {
            spec.as_object_mut().unwrap().remove(field);
        }
        (key(&seen, synced.policy), spec)
    });
    specs.collect()
}

const K: &str = "defaults: {strategy: merge, limits: {k: {}}}";
const X: &str = "overrides: {limits: {x: {}}}";

#[test]
fn a_default_below_overrides_that_hold_as_a_whole_becomes_one_of_them() {
    assert_eq!(
        specs(&(limit("a", GW, K) + &limit("b", GW, X))),
        [(
            "infra/b".to_owned(),
            json!({"overrides": {"limits": {"k": {}, "x": {}}}})
        )]
    );
    assert_eq!(
        specs(&(limit("a", GW, X) + &limit("b", GW, K))),
        [("infra/a".to_owned(), json!({"overrides": {"limits": {"x": {}}}}))]
    );
}

#[test]
fn atomic_overrides_hold_as_a_whole_over_policies_that_have_no_one_form_by_themselves() {
    let nothing = "defaults: {limits: {m: {}}}";
    let when = "overrides: {strategy: merge, when: [{predicate: x}]}";
    assert_eq!(
        specs(&(limit("a", GW, X) + &limit("b", GW, nothing) + &limit("c", GW, when))),
        [("infra/a".to_owned(), json!({"overrides": {"limits": {"x": {}}}}))]
    );
}

#[test]
fn overrides_that_merge_join_those_that_hold_as_a_whole() {
    let merging = "overrides: {strategy: merge, limits: {v: {}}}";
    assert_eq!(
        specs(&(limit("a", GW, merging) + &limit("b", GW, X))),
        [(
            "infra/b".to_owned(),
            json!({"overrides": {"limits": {"x": {}, "v": {}}}})
        )]
    );
}

#[test]
fn overrides_that_hold_as_a_whole_decide_what_newer_policies_leave_open() {
    let text = limit("a", GW, X) + &limit("b", GW, K) + &limit("c", GW, "limits: {l: {}}");
    assert_eq!(
        specs(&text),
        [("infra/a".to_owned(), json!({"overrides": {"limits": {"x": {}}}}))]
    );
}

#[test]
fn overrides_that_merge_become_one_policy_of_the_oldest_that_has_any() {
    let merging = |limits: &str| format!("overrides: {{strategy: merge, limits: {{{limits}}}}}");
    assert_eq!(
        specs(&(limit("a", GW, &merging("x: {}")) + &limit("b", GW, &merging("x: {rates: []}, v: {}")))),
        [(
            "infra/a".to_owned(),
            json!({"overrides": {"strategy": "merge", "limits": {"x": {}, "v": {}}}})
        )]
    );
}

#[test]
fn defaults_and_overrides_that_merge_stand_side_by_side_without_a_setting_that_both_have() {
    let over = "overrides: {strategy: merge, limits: {l: {}}}";
    let under = "defaults: {strategy: merge, limits: {l: {rates: []}, m: {}}}";
    let shipped = [
        (
            "infra/b".to_owned(),
            json!({"defaults": {"strategy": "merge", "limits": {"m": {}}}}),
        ),
        (
            "infra/a".to_owned(),
            json!({"overrides": {"strategy": "merge", "limits": {"l": {}}}}),
        ),
    ];
    assert_eq!(specs(&(limit("a", GW, over) + &limit("b", GW, under))), shipped);
    let shipped = shipped.map(|(name, spec)| {
        (
            if name == "infra/a" { "infra/b" } else { "infra/a" }.to_owned(),
            spec,
        )
    });
    assert_eq!(specs(&(limit("a", GW, under) + &limit("b", GW, over))), shipped);
}

#[test]
fn a_policy_that_loses_and_gains_nothing_is_not_rewritten() {
    let text = SMALL.to_owned()
        + &limit("a", GW, "defaults: {limits: {l: {}}}")
        + &limit("b", GW, "defaults: {strategy: merge, limits: {m: {}}}");
    let (shipped, withheld, spec) = only(&hub(&text, &[]), None);
    assert_eq!((shipped, spec), (vec!["infra/b".to_owned()], None));
    assert_eq!(withheld, [("infra/a".to_owned(), Rule::LaterChallenger)]);
}

#[test]
fn where_the_oldest_wins_each_side_has_the_strategy_of_its_oldest_policy() {
    let on = |name: &str, settings: &str| {
        color(name, &format!("group: gateway.networking.k8s.io, {GW}"), settings)
    };
    let text = color_crd("Inherited")
        + &on("a", "x: 1")
        + &on("b", "overrides: {strategy: atomic, z: 2}")
        + &on("c", "v: 3, overrides: {w: 3}");
    assert_eq!(
        specs(&text),
        [(
            "infra/a".to_owned(),
            json!({"x": 1, "v": 3, "overrides": {"strategy": "atomic", "z": 2}})
        )]
    );
}

#[test]
fn where_the_oldest_wins_a_strategy_of_defaults_never_applies_to_overrides() {
    let on = |name: &str, settings: &str| {
        color(name, &format!("group: gateway.networking.k8s.io, {GW}"), settings)
    };
    for (oldest, newer, expected) in [
        (
            "overrides: {z: 1}",
            "strategy: atomic, x: 2",
            json!({"overrides": {"z": 1}, "defaults": {"strategy": "atomic", "x": 2}}),
        ),
        (
            "overrides: {z: 1}",
            "x: 2",
            json!({"overrides": {"z": 1}, "x": 2}),
        ),
        (
            "overrides: {z: 1}",
            "defaults: {x: 2}",
            json!({"overrides": {"z": 1}, "defaults": {"x": 2}}),
        ),
        ("x: 1", "x: 2", json!({"x": 1})),
        (
            "strategy: atomic, x: 1",
            "y: 2",
            json!({"strategy": "atomic", "x": 1}),
        ),
    ] {
        let text = color_crd("Inherited") + &on("a", oldest) + &on("b", newer);
        assert_eq!(
            specs(&text),
            [("infra/a".to_owned(), expected)],
            "{oldest} {newer}"
        );
    }
}

#[test]
fn nothing_is_shipped_of_policies_that_no_objects_can_stand_for() {
    let undecided = |one: &str, other: &str| {
        let text = SMALL.to_owned() + &limit("a", GW, one) + &limit("b", GW, other);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        assert!(decisions(&seen, &hub, None)[0].synced.is_empty(), "{one} {other}");
        let said = seen.said();
        assert_eq!(
            said.iter()
                .filter(|said| said.starts_with("policy/undecided"))
                .count(),
            1,
            "{said:?}"
        );
    };
    undecided(K, "limits: {l: {}}");
    undecided("overrides: {strategy: merge, limits: {l: {}}}", "limits: {m: {}}");
}

#[test]
fn beside_a_local_policy_that_is_no_patch_nothing_is_synced_whatever_its_side() {
    let synced = [K, "overrides: {strategy: merge, limits: {k: {}}}"];
    let locals = [
        "limits: {l: {}}",
        "defaults: {limits: {l: {}}}",
        "overrides: {limits: {l: {}}}",
    ];
    for (synced, special) in synced
        .iter()
        .flat_map(|synced| locals.map(|local| (synced, local)))
    {
        let hub = hub(
            &(SMALL.to_owned() + &limit("g", GW, synced)),
            &[("edge-1", &local("special", special))],
        );
        let (shipped, withheld, _) = only(&hub, Some("edge-1"));
        assert!(shipped.is_empty(), "{synced} {special}");
        assert_eq!(withheld, [("infra/g".to_owned(), Rule::SpokeLocal)]);
    }
}

#[test]
fn beside_local_policies_that_patch_other_rules_all_is_synced() {
    let locals = [
        "defaults: {strategy: merge, limits: {l: {}}}",
        "overrides: {strategy: merge, limits: {l: {}}}",
    ];
    for special in locals {
        let hub = hub(
            &(SMALL.to_owned() + &limit("g", GW, K)),
            &[("edge-1", &local("special", special))],
        );
        assert_eq!(
            only(&hub, Some("edge-1")),
            (vec!["infra/g".to_owned()], Vec::new(), None)
        );
    }
}

#[test]
fn where_the_oldest_wins_only_the_side_of_a_local_policy_that_is_no_patch_goes() {
    let on = |name: &str, settings: &str| {
        color(name, &format!("group: gateway.networking.k8s.io, {GW}"), settings)
    };
    let text = SMALL.to_owned() + &color_crd("Inherited") + &on("a", "x: 1, overrides: {z: 2}");
    let special = on("l", "strategy: atomic, v: 3").replace("namespace: infra", "namespace: kuadrant-infra");
    let (shipped, _, spec) = only(&hub(&text, &[("edge-1", &special)]), Some("edge-1"));
    assert_eq!(shipped, ["infra/a"]);
    let spec = spec.unwrap();
    assert_eq!((&spec["x"], &spec["overrides"]), (&Value::Null, &json!({"z": 2})));
}

#[test]
fn of_a_kind_without_merging_only_the_accepted_one_is_shipped() {
    let dns = |name: &str, target: &str| {
        limit(name, target, "providerRefs: [{name: p}]").replace("RateLimitPolicy", "DNSPolicy")
    };
    let text = SMALL.to_owned()
        + &dns("a", GW)
        + &dns("b", GW)
        + &dns("c", "kind: Gateway, name: gw, sectionName: http");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let decided = decisions(&seen, &hub, None);
    assert_eq!(decided.len(), 2, "the Gateway and its listener are two targets");
    assert!(decided.iter().all(|one| one.synced.len() == 1));
    assert_eq!(key(&seen, decided[0].withheld[0].0), "infra/b");
}

#[test]
fn of_a_kind_that_adds_up_all_are_shipped() {
    let authorization = |name: &str| {
        limit(name, GW, "action: DENY")
            .replace("kuadrant.io", "security.istio.io")
            .replace("RateLimitPolicy", "AuthorizationPolicy")
    };
    let hub = hub(
        &(SMALL.to_owned() + &authorization("a") + &authorization("b")),
        &[],
    );
    let decided = decisions(&Seen::hub(&hub), &hub, None);
    assert_eq!(decided[0].synced.len(), 2);
    assert!(decided[0].withheld.is_empty());
}

/// A policy on the Gateway, of a kind that names its targets in a list.
fn in_list(kind: &str, name: &str, settings: &str) -> String {
    format!(
        "---\napiVersion: {kind}\nmetadata: {{name: {name}, namespace: infra}}\n\
         spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {GW}}}], {settings}}}\n"
    )
}

#[test]
fn of_a_kind_whose_result_nobody_knows_both_are_shipped_with_a_warning() {
    const WAF: &str = "gateway.nginx.org/v1alpha1\nkind: WAFPolicy";
    const GCP: &str = "networking.gke.io/v1\nkind: GCPTrafficExtension";
    for (kind, one, other) in [
        (WAF, "x: 1", "x: 2"),
        (WAF, "x: 1", "y: 2"),
        (GCP, "x: 1", "x: 2"),
    ] {
        let hub = hub(
            &(SMALL.to_owned() + &in_list(kind, "a", one) + &in_list(kind, "b", other)),
            &[],
        );
        let seen = Seen::hub(&hub);
        let decided = decisions(&seen, &hub, None);
        assert_eq!(
            (decided[0].synced.len(), decided[0].withheld.len()),
            (2, 0),
            "{kind} {other}"
        );
        let said = seen.said();
        let about_both = said.iter().filter(|said| said.starts_with("policy/"));
        let about_both: Vec<&str> = about_both.map(|said| said.split(' ').next().unwrap()).collect();
        assert_eq!(about_both, ["policy/same-target"], "{said:?}");
    }
}

#[test]
fn of_kgateways_policies_each_unit_that_its_controller_merges_is_shipped() {
    const TRAFFIC: &str = "gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy";
    const LISTENER: &str = "gateway.kgateway.dev/v1alpha1\nkind: ListenerPolicy";
    for (kind, one, other, merged) in [
        (
            TRAFFIC,
            "compression: {responseCompression: {}}",
            "compression: {requestDecompression: {}, responseCompression: {disable: {}}}",
            json!({"compression": {"responseCompression": {}, "requestDecompression": {}}}),
        ),
        (
            LISTENER,
            "default: {proxyProtocol: {}, httpSettings: {xffNumTrustedHops: 2}}",
            "default: {httpSettings: {streamIdleTimeout: 30s, xffNumTrustedHops: 3}}",
            json!({"default": {"proxyProtocol": {}, "httpSettings": {"xffNumTrustedHops": 2, "streamIdleTimeout": "30s"}}}),
        ),
        (
            LISTENER,
            "perPort: [{port: 443, listener: {}}, {port: 80, listener: {httpSettings: {acceptHttp10: true}}}]",
            "perPort: [{port: 80, listener: {proxyProtocol: {}, httpSettings: {acceptHttp10: false, idleTimeout: 1s}}}]",
            json!({"perPort": [
                {"port": 80, "listener": {"proxyProtocol": {}, "httpSettings": {"acceptHttp10": true, "idleTimeout": "1s"}}},
                {"port": 443, "listener": {}},
            ]}),
        ),
    ] {
        let text = in_list(kind, "a", one) + &in_list(kind, "b", other);
        assert_eq!(specs(&text), [("infra/a".to_owned(), merged)], "{one}");
    }
}

#[test]
fn a_policy_that_kgateway_refuses_is_shipped_as_its_routes_answer_with_an_error() {
    const TRAFFIC: &str = "gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy";
    let extension = "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: GatewayExtension\n\
         metadata: {name: auth, namespace: infra}\n\
         spec: {extAuth: {grpcService: {backendRef: {name: auth, namespace: edge, port: 80}}}}\n";
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: edge}\n\
         spec: {from: [{group: gateway.kgateway.dev, kind: GatewayExtension, namespace: infra}], to: [{group: \"\", kind: Service}]}\n";
    let refused = |settings: &str, more: &str| {
        let text = SMALL.to_owned()
            + &in_list(TRAFFIC, "a", settings)
            + &in_list(TRAFFIC, "b", "cors: {}, buffer: {}")
            + more;
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let said = seen.said();
        let refusals = said.iter().filter(|said| said.contains("kgateway refuses"));
        let refusals: Vec<String> = refusals.cloned().collect();
        assert_eq!(
            decisions(&seen, &hub, None)[0].synced.len(),
            1 + refusals.len(),
            "{said:?}"
        );
        refusals
    };
    let template =
        |value: &str| format!("transformation: {{request: {{set: [{{name: x, value: '{value}'}}]}}}}");
    assert_eq!(
        refused(&template("{{ a }"), ""),
        [
            "policy/invalid kgateway refuses TrafficPolicy infra/a on Gateway infra/gw: a template does not parse: `{{` \
             without `}}`"
        ]
    );
    assert!(refused(&template("{{ a }}"), "").is_empty());
    let named = "extAuth: {extensionRef: {name: auth}}";
    assert!(
        refused(named, "").is_empty(),
        "the extension may be on the cluster"
    );
    assert!(refused(named, &(extension.to_owned() + grant)).is_empty());
    assert_eq!(
        refused(named, extension),
        [
            "policy/invalid kgateway refuses TrafficPolicy infra/a on Gateway infra/gw: missing reference grant: \
             GatewayExtension infra/auth has a backend in namespace edge"
        ]
    );
}

#[test]
fn atomic_defaults_all_of_whose_settings_are_overridden_make_no_difference() {
    let over = format!("overrides: {{strategy: merge, limits: {{k: {}}}}}", rate(1));
    let bare = format!("limits: {{k: {}}}", rate(2));
    let shipped = json!({"overrides": {"strategy": "merge", "limits": {"k": {"rates": [{"limit": 1, "window": "1s"}]}}}});
    for (one, other, name) in [(&over, &bare, "infra/a"), (&bare, &over, "infra/b")] {
        let text = limit("a", GW, one) + &limit("b", GW, other);
        assert_eq!(specs(&text), [(name.to_owned(), shipped.clone())]);
    }
}

#[test]
fn an_undescribed_inherited_kind_merges_and_the_oldest_gives_its_name() {
    let on = |name: &str, settings: &str| {
        color(name, &format!("group: gateway.networking.k8s.io, {GW}"), settings)
    };
    let text = SMALL.to_owned()
        + &color_crd("Inherited")
        + &on("a", "x: 1, z: 1")
        + &on("b", "x: 2, overrides: {z: 2}");
    let (shipped, _, spec) = only(&hub(&text, &[]), None);
    assert_eq!(shipped, ["infra/a"]);
    let spec = spec.unwrap();
    assert_eq!(
        (&spec["x"], &spec["overrides"]),
        (&json!(1), &json!({"z": 2})),
        "each side keeps its own winner: {spec}"
    );
}

fn local(name: &str, settings: &str) -> String {
    limit(name, GW, settings).replace("namespace: infra", "namespace: kuadrant-infra")
}

/// The RFC's first story: one limit for a homogeneous set of clusters.
#[test]
fn one_rate_limit_for_a_homogeneous_set_of_clusters() {
    let text = SMALL.to_owned()
        + &limit(
            "per-cluster",
            GW,
            &format!("defaults: {{limits: {{l: {}}}}}", rate(100)),
        );
    let hub = hub(&text, &[("edge-1", ""), ("edge-2", "")]);
    for cluster in hub.spokes.keys() {
        assert_eq!(only(&hub, Some(cluster)).0, ["infra/per-cluster"]);
    }
    assert_eq!(only(&hub, None).0, ["infra/per-cluster"]);
}

/// The RFC's second story: another limit for one of them.
#[test]
fn another_rate_limit_for_one_cluster() {
    let text = small_with_params()
        + &limit(
            "per-cluster",
            GW,
            &format!("defaults: {{limits: {{l: {}}}}}", rate(100)),
        );
    let special = local("special", &format!("limits: {{l: {}}}", rate(5)));
    let hub = hub(&text, &[("edge-1", &special)]);
    let (there, withheld, _) = only(&hub, Some("edge-1"));
    assert!(there.is_empty());
    assert_eq!(withheld, [("infra/per-cluster".to_owned(), Rule::SpokeLocal)]);
    synced(&hub, &["edge-1"], |synced| {
        assert_eq!(
            synced.withheld[0].winner.identity().locator(),
            "ratelimitpolicy.kuadrant.io:kuadrant-infra/special"
        );
    });
    assert_eq!(
        only(&hub, None).0,
        ["infra/per-cluster"],
        "the other clusters keep it"
    );

    let everywhere = received(&hub, &[("infra/gw", &["edge-1", "edge-2"])], |received| {
        received.report(None)
    });
    let entry = &everywhere.policies[0];
    assert_eq!(
        state_on(&everywhere, "infra/per-cluster"),
        "True/Enforced: RateLimitPolicy has been successfully enforced"
    );
    let [exception] = entry.on_clusters.as_slice() else {
        panic!("{entry:?}")
    };
    assert_eq!(&*exception.cluster, "edge-1");
    let there = exception.condition().unwrap();
    assert_eq!((there.status, there.reason.as_str()), ("False", "Overridden"));
    assert_eq!(
        there.message.to_string(),
        "RateLimitPolicy is overridden by [kuadrant-infra/special]"
    );

    let there = report_on(&hub, "edge-1");
    let on_r1 = spec_on(&there, &["gw", "gw#http", "r1", "r1#first"]).unwrap();
    assert_eq!(
        on_r1["limits"]["l"]["rates"][0]["limit"], 5,
        "what holds on that cluster"
    );
    assert_eq!(
        state_on(&there, "infra/per-cluster"),
        "False/Overridden: RateLimitPolicy is overridden by [kuadrant-infra/special]"
    );
}

#[test]
fn a_merging_policy_is_shipped_without_the_rules_that_a_local_one_defines() {
    let text = small_with_params()
        + &limit(
            "g",
            GW,
            &format!(
                "defaults: {{strategy: merge, limits: {{l: {}, m: {}}}}}",
                rate(1),
                rate(1)
            ),
        );
    let special = local("special", &merging(&format!("l: {}", rate(5))));
    let hub = hub(&text, &[("edge-1", &special)]);
    let (shipped, withheld, spec) = only(&hub, Some("edge-1"));
    assert_eq!((shipped.len(), withheld.len()), (1, 0));
    let defaults = &spec.unwrap()["defaults"];
    assert_eq!(
        *defaults,
        json!({"strategy": "merge", "limits": {"m": {"rates": [{"limit": 1, "window": "1s"}]}}})
    );

    let there = report_on(&hub, "edge-1");
    let on_r1 = spec_on(&there, &["gw", "gw#http", "r1", "r1#first"]).unwrap();
    assert_eq!(on_r1["limits"]["l"]["rates"][0]["limit"], 5);
    assert_eq!(on_r1["limits"]["m"]["rates"][0]["limit"], 1);
}

#[test]
fn a_source_all_of_whose_rules_a_local_policy_defines_is_no_source_there() {
    let text = SMALL.to_owned()
        + &limit(
            "a",
            GW,
            &format!("defaults: {{strategy: merge, limits: {{m: {}}}}}", rate(1)),
        )
        + &limit("b", GW, &merging(&format!("o: {}", rate(2))));
    let special = local("special", &merging(&format!("o: {}", rate(5))));
    let hub = hub(&text, &[("c1", &special)]);
    let seen = Seen::hub(&hub);
    let of = |cluster: Option<&str>| {
        let synced = decisions(&seen, &hub, cluster).remove(0).synced.remove(0);
        let sources = synced.sources().into_iter();
        let names: Vec<String> = sources.map(|source| key(&seen, source)).collect();
        match synced.spec {
            SyncedSpec::Rewritten { spec, .. } => (spec["defaults"]["limits"].clone(), names),
            SyncedSpec::AsWritten => panic!("as written"),
        }
    };
    assert_eq!(of(None).1, ["infra/a", "infra/b"]);
    let (limits, sources) = of(Some("c1"));
    assert_eq!(limits, json!({"m": {"rates": [{"limit": 1, "window": "1s"}]}}));
    assert_eq!(sources, ["infra/a"]);
}

#[test]
fn a_local_policy_on_a_listener_leaves_one_on_the_whole_gateway_in_place() {
    let text = small_with_params() + &limit("g", GW, &format!("defaults: {{limits: {{l: {}}}}}", rate(1)));
    let special = local("special", &format!("limits: {{l: {}}}", rate(5)))
        .replace("name: gw}", "name: gw, sectionName: http}");
    let hub = hub(&text, &[("edge-1", &special)]);
    let (shipped, withheld, spec) = only(&hub, Some("edge-1"));
    assert_eq!(
        (shipped, withheld, spec),
        (vec!["infra/g".to_owned()], Vec::new(), None)
    );
    let there = report_on(&hub, "edge-1");
    let limit_on = |path: &[&str]| spec_on(&there, path).unwrap()["limits"]["l"]["rates"][0]["limit"].clone();
    assert_eq!(limit_on(&["gw", "gw#http", "r1", "r1#first"]), 5);
    assert_eq!(limit_on(&["gw", "gw#https", "r1", "r1#first"]), 1);
}

#[test]
fn a_local_policy_on_a_local_gateway_touches_nothing_that_is_synced() {
    let text = SMALL.to_owned() + &limit("g", GW, &format!("limits: {{l: {}}}", rate(1)));
    let own = local("special", &format!("limits: {{l: {}}}", rate(5))).replace("kuadrant-infra", "infra");
    let hub = hub(&text, &[("edge-1", &own)]);
    assert_eq!(
        only(&hub, Some("edge-1")).0,
        ["infra/g"],
        "on a spoke, infra/gw is not the hub's Gateway"
    );
}

#[test]
fn on_a_spoke_the_prefix_stands_for_hub_gateways_only() {
    let own_gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: own, namespace: apps}\n\
                       spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}\n";
    let on = |name: &str, namespace: &str| {
        limit(
            name,
            "kind: Gateway, name: own",
            &format!("limits: {{l: {}}}", rate(5)),
        )
        .replace("namespace: infra", &format!("namespace: {namespace}"))
    };
    let spoke = own_gateway.to_owned() + &on("right", "apps") + &on("wrong", "kuadrant-apps");
    let hub = hub(
        &(small_with_params() + &limit("g", GW, &format!("limits: {{l: {}}}", rate(1)))),
        &[("edge-1", &spoke)],
    );
    let there = report_on(&hub, "edge-1");
    assert!(
        state_on(&there, "apps/right").starts_with("False/Unknown"),
        "attached, without routes"
    );
    assert!(state_on(&there, "kuadrant-apps/wrong").starts_with("False/TargetNotFound"));
    assert!(state_on(&there, "infra/g").starts_with("True/Enforced"));
}

#[test]
fn synced_objects_group_targets_by_object_and_say_what_single_clusters_get_instead() {
    use std::collections::BTreeSet;

    let text = small_with_params()
        + &limit(
            "g",
            GW,
            &format!(
                "defaults: {{strategy: merge, limits: {{l: {}, m: {}}}}}",
                rate(1),
                rate(1)
            ),
        )
        + &limit("h", GW, &merging(&format!("l: {}", rate(2))));
    let part = local("part", &merging(&format!("m: {}", rate(5))));
    let all = local("all", &merging(&format!("l: {}, m: {}", rate(6), rate(6))));
    let hub = hub(&text, &[("c1", &part), ("c2", &all), ("c3", &all), ("c4", "")]);
    synced(&hub, &["c1", "c2", "c4"], |synced| {
        let [one] = synced.objects.as_slice() else {
            panic!("{synced:?}")
        };
        assert_eq!(one.object.name, "g");
        assert_eq!(one.value["metadata"]["name"], "g");
        assert_eq!(
            one.value["spec"]["defaults"]["limits"]["l"]["rates"][0]["limit"], 2,
            "merged"
        );
        assert_eq!(one.sources.len(), 2);
        let [target] = one.targets.as_slice() else {
            panic!("{one:?}")
        };
        assert_eq!(target.pointer, "/spec/targetRef");
        assert_eq!(
            target.withheld_from,
            BTreeSet::from(["c2".to_owned()]),
            "c3 does not receive the Gateway"
        );
        let instead = &target.instead["c1"]["spec"]["defaults"]["limits"];
        assert!(instead["l"].is_object() && instead["m"].is_null(), "{instead}");
        assert_eq!(target.instead.len(), 1);
        let withheld: Vec<_> = synced
            .withheld
            .iter()
            .map(|one| (one.cluster, one.winner.name.as_str(), one.rule))
            .collect();
        assert_eq!(withheld, [(Some("c2"), "all", Rule::SpokeLocal)]);
    });
}

#[test]
fn a_cluster_may_have_gateways_and_routes_of_the_same_names_as_the_hub() {
    let own = SMALL.to_owned() + &limit("p", GW, &format!("limits: {{l: {}}}", rate(5)));
    let hub = hub(
        &(small_with_params() + &limit("p", GW, &format!("limits: {{l: {}}}", rate(1)))),
        &[("edge-1", &own)],
    );
    let there = report_on(&hub, "edge-1");
    let limits: Vec<Value> = there
        .effective
        .iter()
        .map(|entry| entry.result.rules.as_ref().unwrap()["l"]["rates"][0]["limit"].clone())
        .collect();
    let of = |wanted: u8| limits.iter().filter(|limit| **limit == json!(wanted)).count();
    assert_eq!(
        (of(1), of(5)),
        (2, 5),
        "each Gateway has its own policy; the cluster's routes are those of its own Gateway, so for the hub's one any is yet \
         to come on its two listeners"
    );
}
