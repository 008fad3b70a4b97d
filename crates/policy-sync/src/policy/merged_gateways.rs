//! Which Gateways Envoy Gateway runs as one (docs/systems/envoy-gateway.md#merged-gateways).
//!
//! Owns: where a class requests that. Flows in: the topology, objects. Flows out: the classes that are known to request
//! it.
//! Must not know: policies.

use std::collections::BTreeSet;

use super::profiles::envoy_gateway::GROUP;
use crate::object::Object;
use crate::topology::{ClassId, Sources, Topology};
use apimachinery::Identity;

/// The classes whose EnvoyProxy, in the input, merges their Gateways. Of others nothing is known: the controller's own
/// configuration may ask for it, too.
pub(super) fn merging_classes(topology: &Topology<'_>, sources: Sources<'_>) -> BTreeSet<ClassId> {
    let merges = |class: &Object| {
        let reference = class.root().get("spec").get("parametersRef");
        let is_proxy = reference.text("group") == Some(GROUP) && reference.text("kind") == Some("EnvoyProxy");
        let (Some(name), true) = (reference.text("name"), is_proxy) else {
            return false;
        };
        let proxy = sources.get_with_hub(&Identity::new(
            GROUP,
            "EnvoyProxy",
            reference.text("namespace"),
            name,
        ));
        proxy
            .and_then(|proxy| proxy.value.pointer("/spec/mergeGateways")?.as_bool())
            .unwrap_or_default()
    };
    let classes = topology.classes.iter();
    classes
        .filter(|(_, class)| class.object.is_some_and(merges))
        .map(|(id, _)| id)
        .collect()
}
