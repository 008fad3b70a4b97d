//! What is on each cluster, and which clusters are alike.

use kube_json::{Value, json};

use super::{Received, received, state_on};
use crate::object::Object;
use crate::outcome::PolicyEntry;
use crate::policy::{Attachments, EffectivePolicies};
use crate::sync::spokes::affected_gateways;
use crate::tests::{hub, limit, small_with_params};

const GW: &str = "kind: Gateway, name: gw";
const LIMIT: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

/// Parameters that ask for HTTPRoutes, too.
fn syncing_routes(text: &str) -> String {
    text.replace(
        "{policiesToSync:",
        "{resourcesToSync: [{group: gateway.networking.k8s.io, version: v1, resource: httproutes}], policiesToSync:",
    )
}

/// A second Gateway of the class.
const OTHER: &str = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: infra}\n\
                     spec: {gatewayClassName: gc, listeners: [{name: http, port: 80, protocol: HTTP}]}\n";

/// A RateLimitPolicy that lives on a cluster.
pub(super) fn local(name: &str, settings: &str) -> String {
    limit(name, GW, settings).replace("namespace: infra", "namespace: kuadrant-infra")
}

/// Looks at what is on one cluster.
pub(super) fn on<T>(received: &Received<'_>, cluster: &str, look: impl FnOnce(&Attachments<'_>) -> T) -> T {
    let spokes = received.making.build(true, &|name| name == cluster);
    let [spoke] = spokes.as_slice() else {
        panic!("{spokes:?}")
    };
    assert_eq!(spoke.clusters, [cluster]);
    look(&received.evaluated(spoke))
}

#[test]
fn what_lives_on_clusters_that_receive_the_same_makes_no_copy_of_it() {
    let text = small_with_params() + &limit("g", GW, LIMIT);
    let away = |name: &str| local(name, LIMIT).replace("namespace: kuadrant-infra", "namespace: apps");
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: infra}\nspec: {ports: [{port: 80}]}\n";
    let (one, other) = (away("one") + service, away("other") + service);
    let hub = hub(&text, &[("c1", &one), ("c2", &other)]);
    received(&hub, &[("infra/gw", &["c1", "c2"])], |received| {
        let spokes = received.making.build(false, &|_| true);
        let [first, second] = spokes.as_slice() else {
            panic!("{spokes:?}")
        };
        assert!(!first.copied().is_empty());
        assert!(std::ptr::eq(first.copied(), second.copied()));
    });
}

/// A hub whose route r2 names a ListenerSet of the Gateway.
fn with_listener_set() -> String {
    let set = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: set, namespace: infra}\n\
               spec: {parentRef: {name: gw}, listeners: [{name: more, port: 81, protocol: HTTP}]}\n";
    let text = small_with_params().replace(
        "parentRefs: [{name: gw, sectionName: http}]",
        "parentRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: set}]",
    );
    text.replace(
        "  gatewayClassName: gc\n",
        "  gatewayClassName: gc\n  allowedListeners: {namespaces: {from: All}}\n",
    ) + set
}

#[test]
fn on_each_cluster_a_route_has_the_references_to_the_gateways_that_are_there() {
    let text = syncing_routes(&small_with_params()).replace(
        "parentRefs: [{name: gw, sectionName: http}]",
        "parentRefs: [{name: gw, sectionName: http}, {name: other}]",
    ) + OTHER;
    let hub = hub(&text, &[]);
    let gateways: &[(&str, &[&str])] = &[("infra/gw", &["c1", "c2"]), ("infra/other", &["c2", "c3"])];
    received(&hub, gateways, |received| {
        let of_r2 = |cluster: &str| -> Value {
            let spokes = received.making.build(true, &|name| name == cluster);
            let objects = spokes[0].sources(&hub.objects).objects;
            let route = objects.iter().find(|object| object.name == "r2").unwrap();
            assert_eq!(
                route.namespace.as_deref(),
                Some("infra"),
                "where it is on the hub"
            );
            route.value["spec"]["parentRefs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|parent| format!("{}/{}", parent["namespace"], parent["name"]).replace('"', ""))
                .collect()
        };
        assert_eq!(of_r2("c1"), json!(["kuadrant-infra/gw"]));
        assert_eq!(of_r2("c2"), json!(["kuadrant-infra/gw", "kuadrant-infra/other"]));
        assert_eq!(of_r2("c3"), json!(["kuadrant-infra/other"]));
    });
}

#[test]
fn gateways_and_policies_are_there_under_their_downstream_names_and_called_as_on_the_hub() {
    let hub = hub(&(small_with_params() + &limit("g", GW, LIMIT)), &[]);
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        let spokes = received.making.build(false, &|_| true);
        let objects = spokes[0].sources(&hub.objects).objects;
        let kinds: Vec<String> = objects
            .iter()
            .filter(|object| object.kind != "HTTPRoute")
            .map(|object| object.identity().to_string())
            .collect();
        assert_eq!(kinds[0], "Gateway kuadrant-infra/gw");
        assert!(
            kinds[1].starts_with("RateLimitPolicy kuadrant-infra/"),
            "{kinds:?}"
        );
        assert_eq!(kinds.len(), 2, "{kinds:?}");
        on(received, "c1", |there| {
            let locators: Vec<String> = there
                .policies
                .rows()
                .iter()
                .map(|policy| policy.locator().to_string())
                .collect();
            assert_eq!(locators, ["ratelimitpolicy.kuadrant.io:infra/g"]);
            let effective = EffectivePolicies::new(there, &apimachinery::Work::default());
            let (_, path) = effective.iter().next().unwrap();
            let locators = there.topology.path_locators(&path.path);
            assert_eq!(locators[1], "gateway.gateway.networking.k8s.io:infra/gw");
        });
    });
}

#[test]
fn a_listener_set_that_is_not_synced_counts_where_its_gateway_goes_and_so_does_a_route_that_names_it() {
    let kept = hub(&(with_listener_set() + OTHER), &[]);
    let gateways: &[(&str, &[&str])] = &[("infra/gw", &["c1"]), ("infra/other", &["c2"])];
    let sets = |received: &Received<'_>, cluster: &str| {
        on(received, cluster, |there| {
            let sets = there.topology.listener_sets.rows().iter();
            sets.map(|set| (set.object.key(), set.assumed))
                .collect::<Vec<_>>()
        })
    };
    received(&kept, gateways, |received| {
        assert_eq!(sets(received, "c1"), [("infra/set".to_owned(), true)]);
        assert!(sets(received, "c2").is_empty());
        assert_eq!(
            routes(received, "c1"),
            ["infra/r1?: kuadrant-infra/gw", "infra/r2?: kuadrant-infra/gw"]
        );
        assert!(routes(received, "c2").is_empty());
    });
}

/// The routes on a cluster with their Gateways; `?`: somebody else is taken to deliver it.
fn routes(received: &Received<'_>, cluster: &str) -> Vec<String> {
    on(received, cluster, |there| {
        let routes = there.topology.routes.rows().iter();
        let routes = routes.map(|route| {
            let assumed = if route.assumed { "?" } else { "" };
            let gateways = route.gateways.iter();
            let gateways: Vec<String> = gateways
                .map(|gateway| there.topology.gateways.get(*gateway).object.key())
                .collect();
            format!("{}{assumed}: {}", route.object.key(), gateways.join(" "))
        });
        let mut routes: Vec<String> = routes.collect();
        routes.sort();
        routes
    })
}

#[test]
fn a_route_that_is_not_synced_counts_where_its_gateway_goes_unless_the_cluster_has_its_own() {
    let own = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r1, namespace: infra}\n\
               spec: {parentRefs: [{name: own}], rules: [{}]}\n\
               ---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: own, namespace: infra}\n\
               spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}\n";
    let text = small_with_params() + OTHER;
    let places: &[(&str, &str)] = &[("c2", own)];
    let gateways: &[(&str, &[&str])] = &[("infra/gw", &["c1", "c2"]), ("infra/other", &["c3"])];
    let kept = hub(&text, places);
    received(&kept, gateways, |received| {
        assert_eq!(
            routes(received, "c1"),
            ["infra/r1?: kuadrant-infra/gw", "infra/r2?: kuadrant-infra/gw"]
        );
        assert_eq!(
            routes(received, "c2"),
            ["infra/r1: infra/own", "infra/r2?: kuadrant-infra/gw"]
        );
        assert!(
            routes(received, "c3").is_empty(),
            "their Gateway does not go there"
        );
    });
    // The Gateway is in another namespace there, so its listeners must admit the routes.
    let all = "protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}";
    let synced = hub(&syncing_routes(&text).replace("protocol: HTTP}", all), &[]);
    received(&synced, gateways, |received| {
        assert_eq!(
            routes(received, "c1"),
            ["infra/r1: kuadrant-infra/gw", "infra/r2: kuadrant-infra/gw"]
        );
    });
}

#[test]
fn a_route_of_another_tool_shares_its_rules_with_the_hub() {
    /// Where a rule is in memory.
    fn rule(object: &Object) -> *const kube_json::Value {
        let rule = object.value["spec"]["rules"][0].as_object().unwrap();
        std::ptr::from_ref(rule.values().next().unwrap())
    }

    let as_written = small_with_params() + OTHER;
    let both = as_written.replace(
        "parentRefs: [{name: gw, sectionName: http}]",
        "parentRefs: [{name: gw, sectionName: http}, {name: other}]",
    );
    let gateways: &[(&str, &[&str])] = &[("infra/gw", &["c1"]), ("infra/other", &["c2"])];
    let shared = |text: &str| {
        let hub = hub(text, &[]);
        received(&hub, gateways, |received| {
            let spokes = received.making.build(true, &|name| name == "c1");
            let there = spokes.first().unwrap().sources(&hub.objects);
            let routes_there = there.of_kind("gateway.networking.k8s.io", "HTTPRoute");
            let pairs =
                routes_there.filter_map(|(route, _)| Some((route, hub.objects.get(&route.identity())?)));
            let shared: Vec<bool> = pairs
                .filter(|(route, _)| route.name == "r1")
                .map(|(route, of_hub)| rule(route) == rule(of_hub))
                .collect();
            (shared, routes(received, "c1"), routes(received, "c2"))
        })
    };
    let name = "metadata: {name: r1, namespace: infra";
    for text in [as_written, both] {
        let (is_shared, first, second) = shared(&text);
        assert_eq!(is_shared, [true]);
        for more in ["uid: u", "labels: {argocd.argoproj.io/instance: i}"] {
            let live = text.replace(name, &format!("{name}, {more}"));
            assert_eq!(
                shared(&live),
                (vec![true], first.clone(), second.clone()),
                "{more}"
            );
        }
    }
}

#[test]
fn every_setting_of_a_merged_policy_leads_back_to_where_it_was_written_on_the_hub() {
    let merging = |limits: &str| format!("defaults: {{strategy: merge, limits: {{{limits}}}}}");
    let text = small_with_params()
        + &limit(
            "a",
            GW,
            &merging("l: {rates: [{limit: 1, window: 1s}]}, m: {rates: []}"),
        )
        + &limit(
            "b",
            GW,
            &merging("l: {rates: [{limit: 2, window: 1s}]}, o: {rates: []}"),
        );
    let hub = hub(&text, &[]);
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        on(received, "c1", |there| {
            assert_eq!(there.policies.rows().len(), 1, "one merged policy");
            let effective = EffectivePolicies::new(there, &apimachinery::Work::default());
            assert!(effective.len() > 0);
            for (_, path) in effective.iter() {
                let written: Vec<(String, String, String)> = path
                    .effective
                    .content
                    .iter()
                    .map(|(key, leaf)| {
                        let (authored, pointer) = there.written_at(key, leaf);
                        let on_hub = hub.objects.get(&authored.object.identity()).unwrap();
                        assert_eq!(on_hub.value.pointer(&pointer), Some(&*leaf.value));
                        (key.to_string(), on_hub.key(), pointer)
                    })
                    .collect();
                let at = |key: &str, policy: &str| {
                    let pointer = format!("/spec/defaults/limits/{key}");
                    (key.to_owned(), policy.to_owned(), pointer)
                };
                assert_eq!(
                    written,
                    [at("l", "infra/b"), at("m", "infra/a"), at("o", "infra/b")]
                );
                let [loss] = path.effective.losses.as_slice() else {
                    panic!("{:?}", path.effective.losses)
                };
                let loser = there.authored(loss.policy).object;
                assert_eq!(loser.key(), "infra/a", "its limit `l` gave way");
            }
        });
        let report = received.report(None);
        let clusters: Vec<(&str, Vec<&str>)> = report
            .policies
            .iter()
            .map(|entry| (entry.policy.as_str(), names(entry)))
            .collect();
        assert_eq!(
            clusters,
            [
                ("ratelimitpolicy.kuadrant.io:infra/a", vec!["c1"]),
                ("ratelimitpolicy.kuadrant.io:infra/b", vec!["c1"])
            ]
        );
        assert_eq!(
            report.policies[0].overridden_by,
            ["ratelimitpolicy.kuadrant.io:infra/b"]
        );
        assert!(report.policies[1].overridden_by.is_empty());
    });
}

#[test]
fn a_policy_that_gave_way_is_told_of_where_the_other_one_went() {
    let text = small_with_params() + OTHER + &limit("a", GW, LIMIT) + &limit("b", GW, LIMIT);
    let hub = hub(&text, &[]);
    let gateways: &[(&str, &[&str])] = &[("infra/gw", &["c1", "c2"]), ("infra/other", &["c2", "c3"])];
    received(&hub, gateways, |received| {
        for cluster in ["c1", "c2"] {
            on(received, cluster, |there| {
                let names: Vec<&str> = there
                    .policies
                    .rows()
                    .iter()
                    .map(|policy| policy.object.name.as_str())
                    .collect();
                assert_eq!(names, ["b"], "the newer challenger is shipped alone");
            });
        }
        let report = received.report(None);
        assert_eq!(
            state_on(&report, "infra/a"),
            "False/Overridden: RateLimitPolicy is overridden by [infra/b]"
        );
        assert_eq!(
            state_on(&report, "infra/b"),
            "True/Enforced: RateLimitPolicy has been successfully enforced"
        );
        for entry in &report.policies {
            assert_eq!(names(entry), ["c1", "c2"]);
            assert!(entry.on_clusters.is_empty(), "{entry:?}");
        }
        let rules: Vec<(&str, &str)> = report.policies[0]
            .decisions
            .iter()
            .map(|decision| (decision.winner.as_str(), decision.rule))
            .collect();
        assert_eq!(
            rules,
            [("ratelimitpolicy.kuadrant.io:infra/b", "later-challenger")]
        );
    });
}

/// The clusters of an entry.
fn names(entry: &PolicyEntry) -> Vec<&str> {
    entry.clusters.iter().map(AsRef::as_ref).collect()
}

// Kinds that live on a cluster.
const ROUTE: &str = "gateway.networking.k8s.io/v1 HTTPRoute";
const GATEWAY: &str = "gateway.networking.k8s.io/v1 Gateway";
const LOCAL: &str = "kuadrant.io/v1 RateLimitPolicy";
const ISTIO: &str = "security.istio.io/v1 AuthorizationPolicy";

/// The Gateways of ours that objects of a cluster touch; `None`: it may be any.
fn touched_by(local: &str, by_other_targets: bool) -> Option<Vec<String>> {
    let hub = hub(
        &(small_with_params() + OTHER + &limit("g", GW, LIMIT)),
        &[("c1", local)],
    );
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        let ours = received.syncing.ours;
        let found = affected_gateways(&hub.spokes["c1"], received.syncing, by_other_targets)?;
        let names = found
            .iter()
            .map(|gateway| ours.gateways.get(*gateway).gateway.object.name.to_string());
        Some(names.collect())
    })
}

#[test]
fn what_lives_on_a_cluster_touches_the_gateways_that_it_names_and_those_of_the_routes_that_it_names() {
    let object = |kind: &str, spec: &str| {
        let (api_version, kind) = kind.split_once(' ').unwrap();
        format!(
            "---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x, namespace: kuadrant-infra}}\nspec: {{{spec}}}\n"
        )
    };
    let on = |target: &str| format!("targetRef: {{group: gateway.networking.k8s.io, {target}}}");
    let listeners = "gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP}]";
    let any = None;
    for (kind, spec, names) in [
        ("v1 ConfigMap", String::new(), Some("")),
        ("apps/v1 Deployment", String::new(), Some("")),
        ("v1 ConfigMap", on("kind: Gateway, name: gw"), Some("gw")),
        ("v1 Service", "ports: [{port: 80}]".to_owned(), any),
        (GATEWAY, listeners.to_owned(), Some("")),
        (ROUTE, "parentRefs: [{name: gw}]".to_owned(), Some("gw")),
        (
            ROUTE,
            "parentRefs: [{name: gw}, {name: other}]".to_owned(),
            Some("gw other"),
        ),
        (ROUTE, "parentRefs: [{name: mine}]".to_owned(), Some("")),
        (
            ROUTE,
            "parentRefs: [{group: '', kind: Service, name: s, port: 80}]".to_owned(),
            any,
        ),
        (ROUTE, "parentRefs: []".to_owned(), any),
        (LOCAL, on("kind: Gateway, name: gw"), Some("gw")),
        (LOCAL, on("kind: Gateway, name: mine"), Some("")),
        (LOCAL, on("kind: GatewayClass, name: gc"), any),
        (LOCAL, "limits: {}".to_owned(), any),
        (ISTIO, on("kind: Gateway, name: gw"), Some("gw")),
        (ISTIO, on("kind: Gateway, name: mine"), any),
        (ISTIO, String::new(), any),
        (
            "gateway.kgateway.dev/v1alpha1 TrafficPolicy",
            "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}], \
             targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {}}]"
                .to_owned(),
            any,
        ),
    ] {
        let found = touched_by(&object(kind, &spec), false).map(|names| names.join(" "));
        assert_eq!(found.as_deref(), names, "{kind} {spec}");
    }
    let on_route = limit("x", "kind: HTTPRoute, name: r1", LIMIT);
    assert_eq!(touched_by(&on_route, false), Some(vec!["gw".to_owned()]));
    assert_eq!(
        touched_by(&on_route.replace("name: r1", "name: gone"), false),
        Some(Vec::new())
    );
    // A policy of the hub may find a Gateway or a route of the cluster by its labels.
    assert_eq!(touched_by(&object(GATEWAY, listeners), true), None);
    assert_eq!(touched_by(&object(ROUTE, "parentRefs: [{name: gw}]"), true), None);
    assert_eq!(touched_by(&object("v1 ConfigMap", ""), true), Some(Vec::new()));
    let copy = local("x", LIMIT).replace(
        "namespace: kuadrant-infra}",
        "namespace: kuadrant-infra, annotations: {kuadrant.io/policy-synced: \"true\"}}",
    );
    assert_eq!(
        touched_by(&copy, false),
        Some(Vec::new()),
        "what was synced before is no object of the cluster"
    );
}
