//! Typos in the names of Services in routes.
//!
//! Owns: the finding about such a name. Flows in: the hub. Flows out: findings. Must not know: which routes ship.
//!
//! Services usually live on the clusters, and the input has none of them. So a missing one is worth a warning only if
//! the namespace has a Service with a similar name.

use std::collections::BTreeSet;

use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, Severity, nearest};
use crate::hub::Hub;
use crate::object::Object;

/// Reports Services that are neither in the input nor known to live on a cluster, and near to one that is.
pub fn report_misspelled_backends(hub: &Hub, findings: &mut Findings) {
    let all = || std::iter::once(&hub.objects).chain(hub.spokes.values());
    let known: Vec<&Object> = all().flat_map(|objects| objects.of_kind("", "Service")).collect();
    if known.is_empty() {
        return;
    }
    let names: BTreeSet<(&str, &str)> = known
        .iter()
        .map(|service| (service.namespace_or_empty(), service.name.as_str()))
        .collect();
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
            if (backend.group, backend.kind) != ("", "Service") || names.contains(&(namespace, backend.name))
            {
                continue;
            }
            let here = names.iter().filter(|(of, _)| *of == namespace);
            let Some(near) = nearest(backend.name, here.map(|(_, name)| *name)) else {
                continue;
            };
            let is_near =
                |service: &&&Object| service.name == near && service.namespace_or_empty() == namespace;
            let Some(near) = known.iter().find(is_near) else {
                continue;
            };
            let what = format!("Service {namespace}/{}", backend.name);
            let finding = Finding::new(
                Code::ROUTE_INVALID,
                object.place(&format!("{}/name", backend.pointer())),
                format!(
                    "{} sends requests to {what}, which is not in the input",
                    object.identity()
                ),
            )
            .severity(Severity::Warning)
            .help(format!("did you mean `{}`?", near.name));
            findings.push(finding.lacks(what, near.place("/metadata/name")));
        }
    }
}
