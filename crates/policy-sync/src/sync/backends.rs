//! Typos in the names of Services in routes.
//!
//! Owns: the finding about such a name. Flows in: the hub. Flows out: findings. Must not know: which routes ship.
//!
//! Services usually live on the clusters, and the input has none of them. So a missing one is worth a warning only if
//! the namespace has a Service with a similar name.

use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, Severity};
use crate::hub::Hub;
use crate::topology::{Near, NearObjects, Sources};
use apimachinery::Identity;

/// Reports Services that are neither in the input nor known to live on a cluster, and near to one that is.
pub fn report_misspelled_backends(hub: &Hub, findings: &mut Findings) {
    let mut all = std::iter::once(&hub.objects).chain(hub.spokes.values());
    if all.all(|objects| objects.of_kind("", "Service").is_empty()) {
        return;
    }
    let sources = Sources::hub(&hub.objects).with_spokes(&hub.spokes);
    let mut near = NearObjects::new(sources);
    let routes = hub
        .objects
        .iter()
        .filter(|object| is_route(&object.api_version.group, &object.kind));
    for object in routes {
        // Its mistakes are reported where it is attached.
        let Some((_, rules)) = Route::read(object, &mut Findings::new()) else {
            continue;
        };
        for backend in rules.iter().flat_map(|rule| &rule.backends) {
            let namespace = backend.namespace.unwrap_or(object.namespace_or_empty());
            let service = Identity::new("", "Service", Some(namespace), backend.name);
            if (backend.group, backend.kind) != ("", "Service") || sources.get(&service).is_some() {
                continue;
            }
            let Some(near @ Near::Name(_)) = near.find(&service) else {
                continue;
            };
            let place = |field: &str| object.place(&format!("{}/{field}", backend.pointer()));
            let message = format!(
                "{} sends requests to {service}, which is not in the input",
                object.identity()
            );
            let finding = Finding::new(Code::ROUTE_INVALID, place("name"), message);
            let finding = near.explain(finding, &service.to_string(), place);
            findings.push(finding.severity(Severity::Warning));
        }
    }
}
