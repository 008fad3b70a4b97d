//! Which workloads a policy without a target applies to (Istio).
//!
//! Owns: the root namespace, the labels of the pods that Istio runs for a Gateway, and whether a policy's selector
//! matches them and the pods behind a Service (docs/systems/other-policies.md#istio).
//! Flows in: policies, the topology. Flows out: nodes. Must not know: settings, targets by name.

use std::collections::{BTreeMap, HashMap};

use super::waypoints::WAYPOINT_CLASS;
use crate::object::Object;
use crate::topology::{GatewayNode, Node, Topology};
use apimachinery::Field;

/// Where Istio is installed by default.
const ROOT_NAMESPACE: &str = "istio-system";

/// Labels.
type Labels<'l> = BTreeMap<&'l str, &'l str>;

/// The workloads that are known: the pods of Gateways, and those behind Services.
pub(super) struct Workloads<'a> {
    root_namespace: String,
    /// Nodes with their namespaces and labels.
    known: Option<Vec<(Node, &'a str, Labels<'a>)>>,
    /// Their positions, by a label.
    by_label: HashMap<(&'a str, &'a str), Vec<usize>>,
}

/// Which workloads a policy without a target holds for.
pub(super) enum Holds {
    /// All of the mesh or of a namespace.
    Everywhere(Node),
    /// These, as far as they are known.
    On(Vec<Node>),
    /// None: Istio ignores it, as it selects workloads from the root namespace.
    Nowhere,
}

impl<'a> Workloads<'a> {
    pub(super) fn new(root_namespace: Option<&str>) -> Self {
        Self {
            root_namespace: root_namespace.unwrap_or(ROOT_NAMESPACE).to_owned(),
            known: None,
            by_label: HashMap::new(),
        }
    }

    /// The namespace of policies that apply to the whole mesh.
    pub(super) fn root_namespace(&self) -> &str {
        &self.root_namespace
    }

    /// Whether a policy of this namespace may speak for the mesh.
    pub(super) fn is_root(&self, namespace: &str) -> bool {
        self.root_namespace == namespace
    }

    /// Which workloads a policy without a target holds for.
    pub(super) fn of(&mut self, policy: &'a Object, topology: &mut Topology<'a>) -> Holds {
        let own = policy.namespace_or_empty();
        let is_root = self.is_root(own);
        let spec = policy.root().get("spec");
        let selector: Field<'a> = if policy.is("networking.istio.io", "EnvoyFilter") {
            spec.get("workloadSelector").get("labels")
        } else {
            spec.get("selector").get("matchLabels")
        };
        let wanted: Option<Labels<'a>> = selector
            .entries()
            .map(|(key, value)| Some((key, value.str()?)))
            .collect();
        // No label has a value that is no text: such a selector must not come to hold for more than it asks for.
        let Some(wanted) = wanted else {
            return Holds::On(Vec::new());
        };
        let Some((key, value)) = wanted.first_key_value() else {
            // A policy that selects nothing in particular is of all workloads.
            let namespace = topology.namespace(own);
            return Holds::Everywhere(if is_root {
                Node::Mesh(namespace)
            } else {
                Node::Namespace(namespace)
            });
        };
        // What PeerAuthentications select counts outside the root namespace only
        // (`istio/istio pilot/pkg/model/authentication.go@1.30.3`).
        if is_root && policy.is("security.istio.io", "PeerAuthentication") {
            return Holds::Nowhere;
        }
        self.learn(topology);
        let known = self.known.as_deref().unwrap_or_default();
        let candidates = self.by_label.get(&(*key, *value)).into_iter().flatten();
        let found = candidates.filter_map(|position| known.get(*position));
        let found = found.filter(|(_, namespace, labels)| {
            (is_root || *namespace == own) && wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
        });
        Holds::On(found.map(|(node, ..)| *node).collect())
    }

    /// Looks at every Gateway and every Service once.
    fn learn(&mut self, topology: &Topology<'a>) {
        if self.known.is_some() {
            return;
        }
        let gateways = topology.gateways.iter().filter_map(|(id, gateway)| {
            let class = topology.classes.get(gateway.class).name;
            let labels = labels_of_gateway(gateway, class);
            let namespace = gateway.object.namespace_or_empty();
            (class != WAYPOINT_CLASS).then_some((Node::Gateway(id), namespace, labels))
        });
        // Every pod behind a Service has the labels that the Service selects.
        let services = topology.backends.iter().filter_map(|(id, backend)| {
            let object = backend.object.filter(|object| object.is("", "Service"))?;
            let selector = object.root().get("spec").get("selector");
            let labels: Labels<'a> = selector
                .entries()
                .filter_map(|(key, value)| Some((key, value.str()?)))
                .collect();
            Some((Node::Backend(id), object.namespace_or_empty(), labels))
        });
        let known: Vec<(Node, &'a str, Labels<'a>)> = gateways.chain(services).collect();
        for (position, (_, _, labels)) in known.iter().enumerate() {
            for (key, value) in labels {
                self.by_label.entry((key, value)).or_default().push(position);
            }
        }
        self.known = Some(known);
    }
}

/// The labels of the pods that Istio runs for a Gateway: those of its infrastructure or else its own, and two by which
/// it is known (`istio/istio manifests/charts/istio-control/istio-discovery/files/kube-gateway.yaml@1.30.3`).
fn labels_of_gateway<'a>(gateway: &GatewayNode<'a>, class: &'a str) -> Labels<'a> {
    let object = gateway.object;
    let infrastructure = object.root().get("spec").get("infrastructure").get("labels");
    let mut labels: Labels<'a> = if infrastructure.is_present() {
        let entries = infrastructure.entries();
        entries
            .filter_map(|(key, value)| Some((key, value.str()?)))
            .collect()
    } else {
        object.labels().collect()
    };
    labels.insert("gateway.networking.k8s.io/gateway-name", &object.name);
    labels.insert("gateway.networking.k8s.io/gateway-class-name", class);
    labels.insert("gateway.istio.io/managed", "istio.io-gateway-controller");
    labels
}
