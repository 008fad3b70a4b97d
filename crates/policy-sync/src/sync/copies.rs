//! The copies of Gateways, routes, and ListenerSets on a cluster: metadata without hub state, and the downstream namespace,
//! class, and references.

use std::sync::Arc;

use kube_json::{Map, Value, json};

use super::routes::SyncedKinds;
use crate::api::downstream::{MANAGED_LABEL, downstream_namespace};
use crate::api::gateway::{GROUP, Gateway, is_listener_set};
use crate::api::params::Params;
use crate::hub::{OurGateway, OurGatewayId, Table};
use crate::object::Object;
use crate::object::well_known::{
    CLUSTER_LABEL_PREFIX, GATEWAY_CLUSTERS, POLICIES_SYNCED, ROUTES_SYNCED, SUPPRESS_ANNOTATION,
};
use crate::topology::Topology;

/// Fields of `metadata` that only a live object has (docs/systems/kubernetes.md#fields-of-a-live-object).
const LIVE_METADATA: &[&str] = &[
    "uid",
    "resourceVersion",
    "generation",
    "managedFields",
    "ownerReferences",
    "finalizers",
    "selfLink",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generateName",
];

/// Labels and annotations with these prefixes belong to the tools that apply the hub's objects, or to the hub.
const DROPPED_PREFIXES: &[&str] = &[
    "kubectl.kubernetes.io/",
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "meta.helm.sh/",
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "applyset.kubernetes.io/",
    CLUSTER_LABEL_PREFIX,
];

/// Single labels and annotations that are the hub's own state, or for readers of its findings.
const DROPPED_NAMES: &[&str] = &[
    GATEWAY_CLUSTERS,
    POLICIES_SYNCED,
    ROUTES_SYNCED,
    SUPPRESS_ANNOTATION,
];

/// A copy of a whole object without status and hub state, under another name and namespace.
pub fn shipped(content: &Value, name: &str, namespace: &str) -> Value {
    let mut copy = content.as_object().cloned().unwrap_or_default();
    // The status is that of the hub, and each cluster writes its own
    // (docs/systems/kubernetes.md#fields-of-a-live-object).
    copy.remove("status");
    if let Some(written) = content.get("metadata") {
        set(&mut copy, "metadata", metadata(written, name, namespace));
    }
    Value::Object(copy)
}

/// What stays as it is shares its members with the hub's object.
fn metadata(written: &Value, name: &str, namespace: &str) -> Value {
    let mut metadata = written.as_object().cloned().unwrap_or_default();
    let is_live = |name: &str| LIVE_METADATA.contains(&name);
    // Most objects of Git have none of these: then the mapping stays shared.
    if metadata.keys().any(|name| is_live(name)) {
        metadata.retain(|name, _| !is_live(name));
    }
    let is_dropped = |name: &str| {
        DROPPED_NAMES.contains(&name) || DROPPED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    for section in ["annotations", "labels"] {
        let Some(entries) = metadata.get(section) else {
            continue;
        };
        let mut kept = entries.as_object().cloned().unwrap_or_default();
        if kept.keys().any(|name| is_dropped(name)) {
            kept.retain(|name, _| !is_dropped(name));
        }
        if kept.is_empty() {
            metadata.remove(section);
        } else {
            set(&mut metadata, section, Value::Object(kept));
        }
    }
    set(&mut metadata, "name", Value::from(name));
    set(&mut metadata, "namespace", Value::from(namespace));
    Value::Object(metadata)
}

/// Sets a member, unless it has that value: a mapping that is not changed stays shared.
fn set(map: &mut Map, name: &str, value: Value) {
    if map.get(name) != Some(&value) {
        map.insert(name, value);
    }
}

/// Sets a label or an annotation (`section` is `labels` or `annotations`).
pub fn set_metadata(object: &mut Value, section: &str, name: &str, value: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    metadata.insert_if_absent(section, || json!({}));
    if let Some(entries) = metadata.get_mut(section).and_then(Value::as_object_mut) {
        entries.insert(name, Value::from(value));
    }
}

/// A Gateway of ours with the clusters that it goes to.
#[derive(Debug, Clone)]
pub struct PlacedGateway<'a> {
    /// The Gateway.
    pub gateway: &'a Gateway<'a>,
    /// Parameters of its class.
    pub params: &'a Params,
    /// Cluster names, sorted, each once; none if no cluster receives it. Objects that go wherever it goes share them.
    pub clusters: Arc<[String]>,
    /// All clusters that its placement decides for; `clusters` are fewer where ClusterOverlays change the hub for some.
    pub everywhere: Arc<[String]>,
    /// Which hub it is in: 0 for the one that is written, others for those that ClusterOverlays make of it.
    pub projection: usize,
}

impl<'a> PlacedGateway<'a> {
    /// A Gateway of the hub as it is written, which goes to these clusters.
    pub fn new(ours: &'a OurGateway<'a>, clusters: Arc<[String]>) -> Self {
        Self {
            gateway: &ours.gateway,
            params: &ours.params,
            everywhere: Arc::clone(&clusters),
            clusters,
            projection: 0,
        }
    }

    /// Its namespace on the clusters; `None` where that would have too long a name.
    pub(super) fn namespace(&self) -> Option<String> {
        downstream_namespace(self.gateway.object.namespace_or_empty())
    }

    /// The Gateway as it is on every cluster that it goes to, before references to Secrets that are copied are
    /// rewritten; `None` where its namespace would have too long a name.
    pub fn downstream(&self) -> Option<Object> {
        let object = self.gateway.object;
        let namespace = self.namespace()?;
        let mut value = shipped(&object.value, &object.name, &namespace);
        // As the Multicluster Gateway Controller labels it (docs/systems/mgc.md#downstream-gateway).
        set_metadata(&mut value, "labels", MANAGED_LABEL, "true");
        if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
            // No controller on a cluster serves the class of the hub.
            spec.insert("gatewayClassName", Value::from(&self.params.downstream_class));
        }
        Some(object.with_value(value).with_name(namespace, object.name.clone()))
    }
}

/// The route or ListenerSet as it is on the spoke: in its own namespace, with the Gateways of this copy as its parents.
/// Parents that are no Gateways (a Service, for a mesh; another route) mean the same there and stay.
///
/// `parent` finds the Gateway of ours that is there, by the pointer of a reference to it.
pub(super) fn downstream_route(
    content: &Value,
    (name, namespace): (&str, &str),
    parent: impl Fn(&str) -> Option<OurGatewayId>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> Value {
    let mut route = shipped(content, name, namespace);
    let downstream = |pointer: &str| Some(gateways.get(parent(pointer)?).namespace());
    let spec = route.get_mut("spec").and_then(Value::as_object_mut);
    let Some(spec) = spec else { return route };
    // Only a ListenerSet has it.
    if let Some(reference) = spec.get_mut("parentRef").and_then(Value::as_object_mut)
        && let Some(Some(namespace)) = downstream("/spec/parentRef")
    {
        reference.insert("namespace", json!(namespace));
    }
    let references = spec.get_mut("parentRefs").and_then(Value::as_array_mut);
    let Some(references) = references else {
        return route;
    };
    // A Gateway that is not on this cluster is no parent there, lest one of its name that somebody made there takes the
    // route.
    let mut index = 0_usize;
    references.retain_mut(|reference| {
        let pointer = format!("/spec/parentRefs/{index}");
        index = index.saturating_add(1);
        let text = |name: &str| reference.get(name).and_then(Value::as_str);
        let owner = (text("group").unwrap_or(GROUP), text("kind").unwrap_or("Gateway"));
        let is_set = is_listener_set(owner.0, owner.1);
        if owner != (GROUP, "Gateway") && !is_set {
            return true;
        }
        let Some(namespace) = downstream(&pointer) else {
            return false;
        };
        // A ListenerSet stays in its own namespace.
        if let (Some(reference), Some(namespace), false) = (reference.as_object_mut(), namespace, is_set) {
            reference.insert("namespace", json!(namespace));
        }
        true
    });
    route
}

/// The object of the hub as it is on spokes with some of its Gateways to which another tool delivers it, in the same
/// namespace.
pub(super) fn assumed_route(
    route: &HubRoute<'_>,
    is_there: impl Fn(OurGatewayId) -> bool,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> Object {
    let object = route.object;
    let parent = |pointer: &str| {
        let mut parents = route.parents.iter();
        let (_, gateway) = parents.find(|(parent, gateway)| parent == pointer && is_there(*gateway))?;
        Some(*gateway)
    };
    let place = (object.name.as_str(), object.namespace_or_empty());
    object.with_value(downstream_route(&object.value, place, parent, gateways))
}

/// A route or a ListenerSet of the hub.
pub(super) struct HubRoute<'a> {
    /// The object.
    pub(super) object: &'a Object,
    /// Pointers of its references to our Gateways and their ListenerSets, each with its Gateway.
    pub(super) parents: Vec<(String, OurGatewayId)>,
}

/// The ListenerSets of our Gateways, and all routes.
pub(super) fn hub_routes<'a>(topology: &Topology<'a>, kinds: &SyncedKinds) -> Vec<HubRoute<'a>> {
    let our_gateway = |gateway| kinds.gateway(gateway);
    let sets = topology.listener_sets.rows().iter().filter_map(|set| {
        Some(HubRoute {
            object: set.object,
            parents: vec![("/spec/parentRef".to_owned(), our_gateway(set.gateway)?)],
        })
    });
    let routes = topology.routes.rows().iter().map(|node| {
        let parents = topology.parents_of(node.route);
        let ours = parents.iter().filter_map(|parent| {
            let (gateway, _) = topology.parent(node.object.namespace_or_empty(), parent).ok()?;
            Some((parent.pointer(), our_gateway(gateway)?))
        });
        HubRoute {
            object: node.object,
            parents: ours.collect(),
        }
    });
    sets.chain(routes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(metadata: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "status": {"x": 1}})
    }

    #[test]
    fn nothing_that_only_a_live_object_has_is_shipped() {
        let mut metadata: Map = LIVE_METADATA
            .iter()
            .map(|field| ((*field).to_owned(), json!("x")))
            .collect();
        metadata.insert("name".to_owned(), json!("a"));
        let copy = shipped(&object(Value::Object(metadata)), "a", "kuadrant-infra");
        assert_eq!(
            copy,
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "namespace": "kuadrant-infra"},
            })
        );
    }

    #[test]
    fn what_stays_as_it_is_shares_its_members_with_the_hub() {
        let labels = json!({"team": "a", "tier": "front"});
        let hub = object(json!({"name": "a", "namespace": "n", "labels": labels}));
        let copy = shipped(&hub, "a", "n");
        let shares = |copy: &Value, pointer: &str| {
            let maps = [copy, &hub].map(|value| value.pointer(pointer).and_then(Value::as_object));
            matches!(maps, [Some(copy), Some(hub)] if copy.is_shared_with(hub))
        };
        assert_eq!(
            copy,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": hub["metadata"]})
        );
        assert!(shares(&copy, "/metadata"));
        let elsewhere = shipped(&hub, "a", "m");
        assert_eq!(elsewhere["metadata"]["namespace"], "m");
        assert!(shares(&elsewhere, "/metadata/labels"));
        assert_eq!(hub["metadata"]["namespace"], "n");
    }

    #[test]
    fn hub_state_and_the_appliers_keys_are_dropped_and_all_others_stay() {
        let mut annotations: Map = DROPPED_PREFIXES
            .iter()
            .map(|prefix| (format!("{prefix}x"), json!("y")))
            .collect();
        annotations.extend(DROPPED_NAMES.iter().map(|name| ((*name).to_owned(), json!("y"))));
        annotations.insert("kuadrant.io/other".to_owned(), json!("kept"));
        let metadata =
            json!({"name": "a", "annotations": annotations, "labels": {"argocd.argoproj.io/i": "x"}});
        let copy = shipped(&object(metadata), "a", "n");
        assert_eq!(
            copy.get("metadata"),
            Some(&json!({"name": "a", "namespace": "n", "annotations": {"kuadrant.io/other": "kept"}}))
        );
    }
}
