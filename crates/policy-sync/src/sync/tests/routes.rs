//! Which routes go to the spokes, and which listeners would refuse them there.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::received;
use crate::diagnostic::{Findings, Warnings};
use crate::hub::{Grants, Hub, Ours};
use crate::policy::{Attachments, Options};
use crate::sync::{Admission, NamespaceLabels, SyncedKinds, SyncedRoutes, Syncing};
use crate::tests::hub;
use crate::topology::{Node, Sources};

const OURS: &str = "kuadrant.io/mgc-gw-controller";

/// A class of ours that syncs HTTPRoutes, and one that does not.
const CLASSES: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: syncs}
spec: {controllerName: kuadrant.io/mgc-gw-controller, parametersRef: {group: \"\", kind: ConfigMap, name: p, namespace: infra}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: keeps}
spec: {controllerName: kuadrant.io/mgc-gw-controller}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: p, namespace: infra}
data:
  params: |
    {resourcesToSync: [{group: gateway.networking.k8s.io, version: v1, resource: httproutes}]}
";

/// A Gateway `infra/<name>` of a class.
fn gateway(name: &str, class: &str, listeners: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: infra}}\n\
         spec: {{gatewayClassName: {class}, listeners: [{listeners}]}}\n"
    )
}

/// A route.
fn route(kind: &str, name: &str, namespace: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{{spec}}}\n"
    )
}

const ALL: &str = "allowedRoutes: {namespaces: {from: All}}";

/// Everything that is decided about the routes of a hub whose Gateways go to `c1` and `c2`.
fn decided<T>(
    hub: &Hub,
    look: impl FnOnce(&SyncedRoutes<'_>, &Ours<'_>, Findings, &NamespaceLabels) -> T,
) -> T {
    decided_of(OURS, hub, look)
}

/// The same, where classes of another controller are ours.
fn decided_of<T>(
    controller: &str,
    hub: &Hub,
    look: impl FnOnce(&SyncedRoutes<'_>, &Ours<'_>, Findings, &NamespaceLabels) -> T,
) -> T {
    let mut findings = Findings::new();
    let ours = Ours::new(hub, controller);
    let grants = Grants::new(&hub.objects);
    let sources = Sources::hub(&hub.objects);
    let attachments = Attachments::new(
        sources,
        &HashMap::new(),
        &grants,
        &Options::default(),
        &mut findings,
    );
    let kinds = SyncedKinds::new(&attachments, &ours);
    let routes = SyncedRoutes::new(&attachments, kinds, &ours, (&hub.objects, &grants));
    let clusters = ours.gateways.map(|_| ["c1".to_owned(), "c2".to_owned()].into());
    routes.report_loose(&ours, &clusters, &mut findings);
    let syncing = Syncing {
        hub,
        ours: &ours,
        clusters: &clusters,
        attachments: &attachments,
        routes: &routes,
    };
    let admission = Admission::new(syncing);
    admission.report(&mut findings);
    findings.finish(&BTreeMap::default(), Warnings::Reported);
    look(&routes, &ours, findings, &admission.labels)
}

/// `namespace/name: gateway pointer, ...` of every route that goes.
fn going(hub: &Hub) -> Vec<String> {
    decided(hub, |routes, ours, _, _| {
        routes
            .iter()
            .map(|(_, route)| {
                let parents = route.parents.iter().map(|parent| {
                    let gateway = &ours.gateways.get(parent.gateway).gateway.object.name;
                    format!("{gateway} {}", parent.pointer)
                });
                format!(
                    "{}: {}",
                    route.object.key(),
                    parents.collect::<Vec<_>>().join(", ")
                )
            })
            .collect()
    })
}

fn said(hub: &Hub) -> Vec<String> {
    decided(hub, |_, _, findings, _| {
        let all = findings.iter();
        all.map(|finding| format!("{} {}", finding.code.name(), finding.message))
            .collect()
    })
}

#[test]
fn only_references_to_gateways_of_a_class_that_syncs_the_kind_go_along() {
    let text = [
        CLASSES,
        &gateway(
            "one",
            "syncs",
            &format!("{{name: a, port: 80, protocol: HTTP, {ALL}}}"),
        ),
        &gateway(
            "two",
            "keeps",
            &format!("{{name: a, port: 80, protocol: HTTP, {ALL}}}"),
        ),
        &route(
            "HTTPRoute",
            "r",
            "shop",
            "parentRefs: [{name: two, namespace: infra}, {name: one, namespace: infra}, {name: one}]",
        ),
        &route(
            "HTTPRoute",
            "kept",
            "shop",
            "parentRefs: [{name: two, namespace: infra}]",
        ),
        &route(
            "GRPCRoute",
            "r",
            "shop",
            "parentRefs: [{name: one, namespace: infra}]",
        ),
    ]
    .concat();
    assert_eq!(going(&hub(&text, &[])), ["shop/r: one /spec/parentRefs/1"]);
}

#[test]
fn section_port_and_hostname_decide_and_what_fits_none_is_said_once() {
    let listeners = format!(
        "{{name: a, port: 80, protocol: HTTP, hostname: a.io, {ALL}}}, {{name: b, port: 81, protocol: HTTP, {ALL}}}"
    );
    let text = |spec: &str| {
        let routes = route("HTTPRoute", "r", "shop", spec);
        [CLASSES, &gateway("one", "syncs", &listeners), &routes].concat()
    };
    let to = |more: &str| format!("parentRefs: [{{name: one, namespace: infra{more}}}], hostnames: [b.io]");
    for (more, goes, code) in [
        ("", true, None),
        (", sectionName: b", true, None),
        (", port: 81", true, None),
        (", sectionName: a", false, Some("route/not-attached")),
        (", port: 80", false, Some("route/not-attached")),
        (", port: 82", false, Some("route/not-attached")),
        (", sectionName: a, port: 82", false, Some("route/not-attached")),
        (
            ", sectionName: c, port: 82",
            false,
            Some("route/parent-not-found"),
        ),
        (", sectionName: c", false, Some("route/parent-not-found")),
    ] {
        let hub = hub(&text(&to(more)), &[]);
        assert_eq!(!going(&hub).is_empty(), goes, "{more}");
        let said = said(&hub);
        assert_eq!(said.len(), usize::from(code.is_some()), "{more}: {said:?}");
        assert!(
            said.iter().all(|said| said.starts_with(code.unwrap_or_default())),
            "{said:?}"
        );
    }
}

#[test]
fn only_labels_that_a_selector_asks_for_go_along() {
    let select = "allowedRoutes: {namespaces: {from: Selector, selector: {matchExpressions: \
                  [{key: team, operator: Exists}, {key: env, operator: NotIn, values: [dev]}, \
                  {key: kubernetes.io/metadata.name, operator: In, values: [shop]}]}}}";
    let namespace =
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: x, other: z}}\n";
    let text = [
        CLASSES,
        &gateway(
            "one",
            "syncs",
            &format!("{{name: a, port: 80, protocol: HTTP, {select}}}"),
        ),
        &route(
            "HTTPRoute",
            "r",
            "shop",
            "parentRefs: [{name: one, namespace: infra}]",
        ),
        namespace,
    ]
    .concat();
    let hub_only = hub(&text, &[]);
    decided(&hub_only, |_, _, findings, labels| {
        assert!(findings.is_empty(), "{findings:?}");
        let expected = [("team".to_owned(), "x".to_owned())].into();
        assert_eq!(labels, &NamespaceLabels::from([("shop".to_owned(), expected)]));
    });
    // What the cluster itself says counts beside it.
    let there = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {env: dev}}\n";
    let with_spoke = hub(&text, &[("c2", there)]);
    decided(&with_spoke, |_, _, findings, _| {
        let notes: Vec<_> = findings
            .iter()
            .flat_map(|finding| finding.notes.clone())
            .collect();
        assert!(notes.contains(&"on c2".into()), "{notes:?}");
    });
}

#[test]
fn a_finding_names_the_clusters_that_refuse_only_if_others_do_not() {
    let select = "{namespaces: {from: Selector, selector: {matchExpressions: [{key: env, operator: NotIn, values: [dev]}]}}}";
    let http = |name: &str, port: u16| {
        format!("{{name: {name}, port: {port}, protocol: HTTP, allowedRoutes: {select}}}")
    };
    let to_one = "parentRefs: [{name: one, namespace: infra}]";
    let namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\n";
    let of_route = [
        CLASSES,
        &gateway("one", "syncs", &http("a", 80)),
        &route("HTTPRoute", "r", "shop", to_one),
        namespace,
    ]
    .concat();
    let open = gateway(
        "one",
        "syncs",
        &format!("{{name: a, port: 80, protocol: HTTP, {ALL}}}"),
    );
    let open = open.replace("spec: {", &format!("spec: {{allowedListeners: {select}, "));
    let set = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: set, namespace: shop}\n\
               spec: {parentRef: {name: one, namespace: infra}, listeners: [{name: b, port: 81, protocol: HTTP}]}\n";
    let classes = CLASSES.replace(
        "resourcesToSync: [",
        "resourcesToSync: [{group: gateway.networking.k8s.io, version: v1, resource: listenersets}, ",
    );
    let of_set = [&classes, open.as_str(), set, namespace].concat();
    let refuses = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {env: dev}}\n";
    for (text, code) in [
        (of_route, "route/not-allowed"),
        (of_set, "listener-set/not-allowed"),
    ] {
        let notes = |spokes: &[(&str, &str)]| {
            decided(&hub(&text, spokes), |_, _, findings, _| {
                let known: Vec<&str> = findings.iter().map(|finding| finding.code.name()).collect();
                assert_eq!(known, [code]);
                let notes = findings.iter().flat_map(|finding| finding.notes.clone());
                notes.filter(|note| note.starts_with("on c")).collect::<Vec<_>>()
            })
        };
        assert_eq!(notes(&[("c2", refuses)]), ["on c2"], "{code}");
        assert!(
            notes(&[("c1", refuses), ("c2", refuses)]).is_empty(),
            "{code}: everywhere"
        );
    }
}

#[test]
fn what_targets_a_route_goes_where_the_references_go_that_are_shipped() {
    let listener = format!("{{name: a, port: 80, protocol: HTTP, {ALL}}}");
    let text = [
        CLASSES,
        &gateway("one", "syncs", &listener),
        &gateway("two", "keeps", &listener),
        &route(
            "HTTPRoute",
            "r",
            "shop",
            "parentRefs: [{name: one, namespace: infra}, {name: two, namespace: infra}]",
        ),
    ]
    .concat();
    let places: &[(&str, &[&str])] = &[("infra/one", &["c1"]), ("infra/two", &["c2"])];
    received(&hub(&text, &[]), places, |received| {
        let (attachments, routes) = (received.attachments, received.routes);
        let placed = received
            .making
            .gateways
            .map(|(_, placed)| std::sync::Arc::clone(&placed.clusters));
        let clusters = |node: Node| {
            let all = routes.clusters_of(&attachments.topology, &placed, node);
            all.into_iter().collect::<Vec<_>>()
        };
        let topology = &attachments.topology;
        let route = topology.routes.ids().next().unwrap();
        assert_eq!(clusters(Node::Route(route)), ["c1"]);
        let two = topology.find_gateway("infra", "two").unwrap();
        assert_eq!(clusters(Node::Gateway(two)), ["c2"]);
    });
}

#[test]
fn a_route_that_a_synced_one_delegates_to_is_synced_with_it() {
    let listener = format!("{{name: a, port: 80, protocol: HTTP, {ALL}}}");
    let to_child = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child, namespace: team}";
    let text = |class: &str| {
        [
            CLASSES,
            &gateway("one", class, &listener),
            &route(
                "HTTPRoute",
                "parent",
                "infra",
                &format!(
                    "parentRefs: [{{name: one}}], rules: [{{matches: [{{path: {{value: /a}}}}], backendRefs: [{to_child}]}}]"
                ),
            ),
            &route(
                "HTTPRoute",
                "child",
                "team",
                "rules: [{matches: [{path: {value: /a/b}}], backendRefs: [{name: s, port: 80}]}]",
            ),
        ]
        .concat()
        .replace(OURS, "kgateway.dev/kgateway")
        .replace("{resourcesToSync", "{downstreamClass: kgateway, resourcesToSync")
    };
    let going = |class: &str| {
        decided_of(
            "kgateway.dev/kgateway",
            &hub(&text(class), &[]),
            |routes, _, _, _| {
                routes
                    .iter()
                    .map(|(_, route)| route.object.key())
                    .collect::<Vec<_>>()
            },
        )
    };
    assert_eq!(going("syncs"), ["infra/parent", "team/child"]);
    assert!(going("keeps").is_empty());
}

proptest! {
    #[test]
    fn a_route_is_refused_exactly_where_no_listener_admits_its_namespace_or_one_stops_to(
        froms in prop::collection::vec(0_usize..4, 1..4),
        namespace in prop::sample::select(vec!["infra", "shop", "kuadrant-infra"]),
    ) {
        let words = ["All", "Same", "None", "Selector, selector: {matchLabels: {kubernetes.io/metadata.name: shop}}"];
        let listeners: Vec<String> = froms
            .iter()
            .enumerate()
            .map(|(position, from)| {
                format!(
                    "{{name: l{position}, port: {}, protocol: HTTP, allowedRoutes: {{namespaces: {{from: {}}}}}}}",
                    80 + position,
                    words[*from]
                )
            })
            .collect();
        let text = [
            CLASSES,
            &gateway("one", "syncs", &listeners.join(", ")),
            &route("HTTPRoute", "r", namespace, "parentRefs: [{name: one, namespace: infra}]"),
        ]
        .concat();
        let admits = |from: usize, home: &str| match from {
            0 => true,
            1 => namespace == home,
            2 => false,
            _ => namespace == "shop",
        };
        let stops = froms.iter().any(|from| admits(*from, "infra") && !admits(*from, "kuadrant-infra"));
        let nowhere = froms.iter().all(|from| !admits(*from, "kuadrant-infra"));
        let said = said(&hub(&text, &[]));
        let refused = said.iter().any(|said| said.starts_with("route/not-allowed"));
        prop_assert_eq!(refused, stops || nowhere, "{:?}", said);
    }
}
