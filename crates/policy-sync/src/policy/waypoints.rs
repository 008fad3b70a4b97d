//! Which of Istio's waypoints serves a Service, and which traffic passes it (docs/systems/other-policies.md#waypoints).
//!
//! Owns: the labels by which Services, Namespaces, Gateways, and classes choose a waypoint. Flows in: the topology.
//! Flows out: [`Waypoint`], or the reason why none is known. Must not know: policies.

use crate::api::route::AdmittedNamespaces;
use crate::object::Object;
use crate::topology::{BackendId, GatewayId, Topology};
use apimachinery::Field;

/// The class of Gateways that Istio turns into waypoints: a policy without a target never applies there.
pub(super) const WAYPOINT_CLASS: &str = "istio-waypoint";
/// The controller of that class, and of others like it.
const MESH_CONTROLLER: &str = "istio.io/mesh-controller";

const USE_WAYPOINT: &str = "istio.io/use-waypoint";
const USE_WAYPOINT_NAMESPACE: &str = "istio.io/use-waypoint-namespace";
const WAYPOINT_FOR: &str = "istio.io/waypoint-for";
const INGRESS_USE_WAYPOINT: &str = "istio.io/ingress-use-waypoint";

/// The facts about the waypoint of a Service that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waypoint {
    /// The waypoint: policies that target it, or its class, apply there, too.
    pub(super) gateway: GatewayId,
    /// Whether what a Gateway sends to the Service passes it, too.
    pub(super) takes_ingress: bool,
}

/// Why no waypoint is known that serves a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unserved {
    /// Why, as a clause.
    pub(super) why: String,
    /// How to fix it.
    pub(super) help: String,
    /// Whether the input tells all of it: otherwise, there may be one that the input does not have.
    pub(super) is_certain: bool,
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
pub(super) fn waypoint_of(topology: &Topology<'_>, backend: BackendId) -> Result<Waypoint, Unserved> {
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
    let controller = class
        .object
        .and_then(|class| class.root().get("spec").text("controllerName"));
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
    let traffic = known
        .object
        .label(WAYPOINT_FOR)
        .or_else(of_class)
        .unwrap_or("service");
    if !matches!(traffic, "service" | "all") {
        return Err(Unserved::certainly(
            format!("{waypoint}, its waypoint, is for `{traffic}`, not for Services"),
            format!("label it `{WAYPOINT_FOR}: service`, or `all`"),
        ));
    }
    // Without a listener of HBONE on its port a waypoint takes its own namespace alone.
    let mut listeners = known.object.root().get("spec").get("listeners").items();
    let is_hbone = |listener: &Field<'_>| {
        listener.text("protocol") == Some("HBONE") && listener.get("port").integer() == Ok(Some(15008))
    };
    let hbone = listeners.find(is_hbone);
    let admitted = hbone.map_or(AdmittedNamespaces::Same, |listener| {
        AdmittedNamespaces::read(&listener.get("allowedRoutes").get("namespaces"), "Same")
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
