//! Istio (docs/systems/other-policies.md#istio): policies add up. There is no single winner, except among
//! PeerAuthentications. Which waypoint serves a Service, and which workloads a policy without a target applies to, is also
//! here (docs/systems/other-policies.md#waypoints).

use std::collections::{BTreeMap, HashMap};

use apimachinery::Field;
use kube_json::Value;

use super::Product;
use crate::api::gateway::AdmittedNamespaces;
use crate::object::Object;
use crate::policy::model::{Unserved, Waypoint};
use crate::policy::profile::Profile;
use crate::topology::{BackendId, GatewayId, GatewayNode, Node, Topology, items};

/// The class of Gateways that Istio turns into waypoints: a policy without a target never applies there.
const WAYPOINT_CLASS: &str = "istio-waypoint";
/// The controller of that class, and of others like it.
const MESH_CONTROLLER: &str = "istio.io/mesh-controller";

const USE_WAYPOINT: &str = "istio.io/use-waypoint";
const USE_WAYPOINT_NAMESPACE: &str = "istio.io/use-waypoint-namespace";
const WAYPOINT_FOR: &str = "istio.io/waypoint-for";
const INGRESS_USE_WAYPOINT: &str = "istio.io/ingress-use-waypoint";

pub(super) struct Istio;

impl Product for Istio {
    fn waypoint_class(&self) -> Option<&'static str> {
        Some(WAYPOINT_CLASS)
    }

    fn waypoint_of(&self, topology: &Topology<'_>, service: BackendId) -> Option<Result<Waypoint, Unserved>> {
        Some(waypoint_of(topology, service))
    }

    fn workloads<'a>(&self, root_namespace: Option<&str>) -> Option<Box<dyn super::Workloads<'a> + 'a>> {
        Some(Box::new(Workloads::new(root_namespace)))
    }

    fn lets_everybody_in(&self, profile: &Profile, policies: &[&Value]) -> bool {
        // Of each other kind, its profile says which settings do; of this one, only the rules of all policies together tell.
        let is_it = profile.group == "security.istio.io" && profile.kind == "AuthorizationPolicy";
        is_it && permit_everybody(policies.iter().copied())
    }
}

impl Unserved {
    fn certainly(why: String, help: impl Into<String>) -> Self {
        Self {
            why,
            help: help.into(),
            is_certain: true,
        }
    }

    fn perhaps(why: String, help: impl Into<String>) -> Self {
        Self {
            is_certain: false,
            ..Self::certainly(why, help)
        }
    }
}

/// The waypoint that serves a Service: what the Service names, else what its Namespace names
/// (`istio/istio pilot/pkg/serviceregistry/kube/controller/ambient/waypoints.go@1.30.3`).
fn waypoint_of(topology: &Topology<'_>, backend: BackendId) -> Result<Waypoint, Unserved> {
    let known = topology.backends.get(backend);
    let kind = known.name.group_kind.kind.as_str();
    let namespace = known.name.namespace.as_deref().unwrap_or_default();
    let service = format!("{kind} {namespace}/{}", known.name.name);
    let label_it =
        format!("label {service} `{USE_WAYPOINT}: NAME`, the name of a Gateway of class `{WAYPOINT_CLASS}`");
    let Some(object) = known.object else {
        return Err(Unserved::perhaps(
            format!("{service}, which may name a waypoint, is not in the input"),
            "add it to the input with its labels, if it is known",
        ));
    };
    let namespaces = topology.find_namespace(namespace);
    let namespaces = namespaces.map(|id| topology.namespaces.get(id).objects.as_slice());
    let namespaces = namespaces.unwrap_or_default();
    let of_namespace = || namespaces.iter().find_map(|owner| named(owner));
    let (name, elsewhere) = match named(object).or_else(of_namespace) {
        Some(("none", _)) => {
            return Err(Unserved::certainly(
                format!("because of the label `{USE_WAYPOINT}: none`, {service} uses no waypoint"),
                label_it,
            ));
        }
        Some(named) => named,
        None if namespaces.is_empty() => {
            return Err(Unserved::perhaps(
                format!(
                    "{service} names no waypoint, and Namespace `{namespace}`, which may, is not in the input"
                ),
                format!("add Namespace `{namespace}` to the input with its labels, or {label_it}"),
            ));
        }
        None => {
            return Err(Unserved::certainly(
                format!("neither {service} nor its Namespace has the label `{USE_WAYPOINT}`"),
                label_it,
            ));
        }
    };
    // The waypoint is beside the Service, unless a label says where (docs/systems/other-policies.md#waypoints).
    let of_waypoint = elsewhere.unwrap_or(namespace);
    let Some(gateway) = topology.find_gateway(of_waypoint, name) else {
        return Err(Unserved::perhaps(
            format!("its waypoint, Gateway {of_waypoint}/{name}, is not in the input"),
            format!("add the Gateway to the input, or correct the label `{USE_WAYPOINT}`"),
        ));
    };
    serves(topology, gateway, (&service, namespace))?;
    let takes = |owner: &Object| owner.label(INGRESS_USE_WAYPOINT).map(|value| value == "true");
    let takes_ingress = takes(object).or_else(|| namespaces.iter().find_map(|owner| takes(owner)));
    Ok(Waypoint {
        gateway,
        takes_ingress: takes_ingress.unwrap_or(false),
    })
}

/// The waypoint that a Service or a Namespace names, and the namespace that it lies in, if that is said.
fn named(owner: &Object) -> Option<(&str, Option<&str>)> {
    Some((owner.label(USE_WAYPOINT)?, owner.label(USE_WAYPOINT_NAMESPACE)))
}

/// Whether a Gateway is a waypoint of Istio's that takes the traffic of a Service of this namespace.
fn serves(
    topology: &Topology<'_>,
    gateway: GatewayId,
    (service, namespace): (&str, &str),
) -> Result<(), Unserved> {
    let known = topology.gateways.get(gateway);
    let class = topology.classes.get(known.class);
    let waypoint = format!("Gateway {}", known.object.key());
    let spec = class.object.map(|class| class.root().get("spec"));
    let controller = spec.and_then(|spec| spec.text("controllerName"));
    if class.name != WAYPOINT_CLASS && controller != Some(MESH_CONTROLLER) {
        return Err(Unserved::certainly(
            format!(
                "{waypoint}, the waypoint of {service}, has class `{}`",
                class.name
            ),
            format!("give it the class {WAYPOINT_CLASS}"),
        ));
    }
    let of_class = || class.object.and_then(|class| class.label(WAYPOINT_FOR));
    let traffic = known.object.label(WAYPOINT_FOR).or_else(of_class);
    let traffic = traffic.unwrap_or("service");
    if !matches!(traffic, "service" | "all") {
        return Err(Unserved::certainly(
            format!("{waypoint}, its waypoint, is for `{traffic}`, not for Services"),
            format!("label it `{WAYPOINT_FOR}: service`, or `all`"),
        ));
    }
    // Without a listener of HBONE on its port a waypoint takes its own namespace alone.
    let listeners = known.listeners.iter();
    let listeners = listeners.map(|listener| topology.listeners.get(*listener));
    let mut own = listeners.filter(|listener| listener.set.is_none());
    let hbone = own.find(|listener| listener.protocol == "HBONE" && listener.port == Some(15008));
    let admitted = hbone.map_or(&AdmittedNamespaces::Same, |listener| {
        &listener.admission.namespaces
    });
    let label = |key: &str| topology.namespace_label(namespace, key);
    if admitted.admits(known.object.namespace_or_empty(), namespace, label) {
        return Ok(());
    }
    Err(Unserved::certainly(
        format!("{waypoint}, its waypoint, accepts nothing from namespace `{namespace}`"),
        "allow the namespace in `allowedRoutes` of its listener of protocol HBONE, port 15008",
    ))
}

/// Where Istio is installed by default.
const ROOT_NAMESPACE: &str = "istio-system";

/// Labels.
type Labels<'l> = BTreeMap<&'l str, &'l str>;

/// The workloads that are known: the pods of Gateways, and those behind Services.
struct Workloads<'a> {
    root_namespace: String,
    /// Nodes with their namespaces and labels.
    known: Option<Vec<(Node, &'a str, Labels<'a>)>>,
    /// Their positions, by a label.
    by_label: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Workloads<'a> {
    fn new(root_namespace: Option<&str>) -> Self {
        Self {
            root_namespace: root_namespace.unwrap_or(ROOT_NAMESPACE).to_owned(),
            known: None,
            by_label: HashMap::new(),
        }
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
            Some((Node::Backend(id), object.namespace_or_empty(), texts(&selector)))
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

impl<'a> super::Workloads<'a> for Workloads<'a> {
    fn root_namespace(&self) -> &str {
        &self.root_namespace
    }

    // Istio ignores a policy that selects workloads from the root namespace.
    fn of(&mut self, policy: &'a Object, topology: &mut Topology<'a>) -> Option<Vec<Node>> {
        let own = policy.namespace_or_empty();
        let is_root = self.root_namespace == own;
        let spec = policy.root().get("spec");
        let selector: Field<'a> = if policy.is("networking.istio.io", "EnvoyFilter") {
            spec.get("workloadSelector").get("labels")
        } else {
            spec.get("selector").get("matchLabels")
        };
        let wanted = selector.entries().map(|(key, value)| Some((key, value.str()?)));
        let wanted: Option<Labels<'a>> = wanted.collect();
        // No label has a value that is no text: such a selector must not come to hold for more than it asks for.
        let Some(wanted) = wanted else {
            return Some(Vec::new());
        };
        let Some((key, value)) = wanted.first_key_value() else {
            // A policy that selects nothing in particular is of all workloads.
            let namespace = topology.namespace(own);
            return Some(vec![if is_root {
                Node::Mesh(namespace)
            } else {
                Node::Namespace(namespace)
            }]);
        };
        // What PeerAuthentications select counts outside the root namespace only
        // (`istio/istio pilot/pkg/model/authentication.go@1.30.3`).
        if is_root && policy.is("security.istio.io", "PeerAuthentication") {
            return None;
        }
        self.learn(topology);
        let known = self.known.as_deref().unwrap_or_default();
        // One label narrows thousands of workloads to a few, of which the others are compared.
        let candidates = self.by_label.get(&(*key, *value)).into_iter().flatten();
        let found = candidates.filter_map(|position| known.get(*position));
        let found = found.filter(|(_, namespace, labels)| {
            (is_root || *namespace == own) && wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
        });
        Some(found.map(|(node, ..)| *node).collect())
    }
}

/// Labels that are written in a mapping.
fn texts<'a>(labels: &Field<'a>) -> Labels<'a> {
    let entries = labels.entries();
    entries
        .filter_map(|(key, value)| Some((key, value.str()?)))
        .collect()
}

/// The labels of the pods that Istio runs for a Gateway: those of its infrastructure or else its own, and two by which
/// it is known (`istio/istio manifests/charts/istio-control/istio-discovery/files/kube-gateway.yaml@1.30.3`).
fn labels_of_gateway<'a>(gateway: &GatewayNode<'a>, class: &'a str) -> Labels<'a> {
    let object = gateway.object;
    let infrastructure = object.root().get("spec").get("infrastructure").get("labels");
    let mut labels: Labels<'a> = if infrastructure.is_present() {
        texts(&infrastructure)
    } else {
        object.labels().collect()
    };
    labels.insert("gateway.networking.k8s.io/gateway-name", &object.name);
    labels.insert("gateway.networking.k8s.io/gateway-class-name", class);
    labels.insert("gateway.istio.io/managed", "istio.io-gateway-controller");
    labels
}

/// Whether policies that permit and deny requests let everybody in together: none denies or asks somebody else, and those
/// that permit, if there are any, have a rule for every request. A policy without rules matches nothing, and a rule
/// without conditions everything
/// (`istio/istio pilot/pkg/security/authz/builder/builder.go@01eb2ecbe4cdd3b8e911b412050c04951a43fe33`).
fn permit_everybody<'s>(policies: impl Iterator<Item = &'s Value>) -> bool {
    let (mut permits, mut is_open) = (false, false);
    for policy in policies {
        let rules = items(policy.get("rules"));
        match policy.get("action").and_then(Value::as_str).unwrap_or("ALLOW") {
            "ALLOW" => {
                permits = true;
                is_open |= rules.iter().any(matches_everything);
            }
            "AUDIT" => {}
            _ if !rules.is_empty() => return false,
            _ => {}
        }
    }
    is_open || !permits
}

fn matches_everything(rule: &Value) -> bool {
    let is_empty = |field: &str| items(rule.get(field)).is_empty();
    // Istio skips a rule that is null.
    rule.is_object() && ["from", "to", "when"].into_iter().all(is_empty)
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;

    #[test]
    fn rules_let_everybody_in_if_one_matches_everything_and_none_denies() {
        let open = |policies: &[Value]| permit_everybody(policies.iter());
        let everybody = json!({"action": "ALLOW", "rules": [{"from": [{}]}, {}]});
        let some = json!({"rules": [{"from": [{"source": {"principals": ["a"]}}]}]});
        let deny = json!({"action": "DENY", "rules": [{"to": [{"operation": {"methods": ["PUT"]}}]}]});
        let custom = json!({"action": "CUSTOM", "rules": [{}]});
        let audit = json!({"action": "AUDIT", "rules": [{}]});
        assert!(open(std::slice::from_ref(&everybody)));
        assert!(open(&[everybody.clone(), some.clone()]), "permissions add up");
        assert!(!open(&[everybody.clone(), deny]), "denials come first");
        assert!(!open(&[everybody, custom]), "somebody else decides");
        assert!(open(std::slice::from_ref(&audit)), "nobody is kept out");
        assert!(!open(&[some, audit]));
        assert!(!open(&[json!({})]), "nothing is permitted");
        assert!(open(&[json!({"action": "DENY"})]), "nothing is denied");
    }
}
