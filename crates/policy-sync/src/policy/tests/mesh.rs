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
