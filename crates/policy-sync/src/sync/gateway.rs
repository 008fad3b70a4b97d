//! A Gateway of ours, and its copy on the clusters.
//!
//! Owns: [`PlacedGateway`], and the fields in which a downstream Gateway differs: its namespace, its class.
//! Flows in: Gateways with the clusters of each. Flows out: the downstream Gateway. Must not know: its Secrets, works.

use std::sync::Arc;

use kube_json::Value;

use super::metadata::{set_metadata, shipped};
use crate::api::downstream::{MANAGED_LABEL, downstream_namespace};
use crate::api::gateway::Gateway;
use crate::api::params::Params;
use crate::hub::OurGateway;
use crate::object::Object;

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

    /// The Gateway as it is on every cluster that it goes to, before references to Secrets that are copied are
    /// rewritten; `None` where its namespace would have too long a name.
    pub fn downstream(&self) -> Option<Object> {
        let object = self.gateway.object;
        let namespace = downstream_namespace(object.namespace_or_empty())?;
        let mut value = shipped(&object.value, &object.name, &namespace);
        set_metadata(&mut value, "labels", MANAGED_LABEL, "true");
        if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("gatewayClassName", Value::from(&self.params.downstream_class));
        }
        Some(Object {
            namespace: Some(namespace.into()),
            value,
            ..object.clone_without_value()
        })
    }
}
