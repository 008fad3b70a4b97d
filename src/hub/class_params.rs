//! The parameters of a GatewayClass of ours, out of the ConfigMap that it refers to.
//!
//! Owns: finding that ConfigMap in the hub. Flows in: the hub, a class. Flows out: parameters, where they stand, findings.
//! Must not know: what the parameters do.

use super::Hub;
use crate::api::gateway::GatewayClass;
use crate::api::params::{InvalidParameters, Params, ParamsPlace, read_class, written};
use crate::diagnostic::Findings;
use crate::object::Object;

/// The usable parameters of a class, or why there are none.
pub(super) fn resolve(
    hub: &Hub,
    class: &GatewayClass<'_>,
    findings: &mut Findings,
) -> Result<Params, InvalidParameters> {
    let config_map = |namespace: &str, name: &str| hub.objects.find("", "ConfigMap", Some(namespace), name);
    let read = read_class(class.object, config_map, &hub.kinds);
    findings.extend(read.findings);
    match (read.failure, read.params) {
        (Some(failure), _) => Err(failure),
        (None, params) => Ok(params.unwrap_or_default()),
    }
}

/// Where the parameters of a class stand; `None` for a class without any.
#[must_use]
pub(crate) fn params_place(hub: &Hub, class: &Object) -> Option<ParamsPlace> {
    written(class, |namespace, name| {
        hub.objects.find("", "ConfigMap", Some(namespace), name)
    })
}
