//! The parameters of a GatewayClass of ours, from the ConfigMap that it refers to.
//!
//! Owns: finding that ConfigMap in the hub. Flows in: the hub, a class. Flows out: parameters, where they are,
//! findings. Must not know: what the parameters do.

use super::Hub;
use crate::api::gateway::GatewayClass;
use crate::api::params::{InvalidParameters, Params, ParamsPlace, read_class, written};
use crate::diagnostic::{Findings, nearest};
use crate::object::Object;

/// The usable parameters of a class, or why there are none.
pub(super) fn resolve(
    hub: &Hub,
    class: &GatewayClass<'_>,
    findings: &mut Findings,
) -> Result<Params, InvalidParameters> {
    let config_map = |namespace: &str, name: &str| hub.objects.find("", "ConfigMap", Some(namespace), name);
    let near = |namespace: &str, name: &str| {
        let all = || hub.objects.of_kind("", "ConfigMap").iter();
        let here = all().filter(|map| map.namespace_or_empty() == namespace);
        let named = all().filter(|map| map.name == name);
        let near_name = nearest(name, here.map(|map| map.name.as_str()));
        let namespaces = || named.clone().map(Object::namespace_or_empty);
        let near_namespace = || nearest(namespace, namespaces()).or_else(|| namespaces().min());
        near_name
            .map(|near| ("name", near))
            .or_else(|| near_namespace().map(|near| ("namespace", near)))
    };
    let read = read_class(class.object, config_map, near, hub.kinds.as_ref());
    findings.extend(read.findings);
    match (read.failure, read.params) {
        (Some(failure), _) => Err(failure),
        (None, params) => Ok(params.unwrap_or_default()),
    }
}

/// Where the parameters of a class are; `None` for a class without any.
pub fn params_place(hub: &Hub, class: &Object) -> Option<ParamsPlace> {
    written(class, |namespace, name| {
        hub.objects.find("", "ConfigMap", Some(namespace), name)
    })
}
