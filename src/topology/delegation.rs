//! Routes that hand requests on to other routes (docs/systems/other-policies.md#kgateway).
//!
//! Owns: the finding that what stands behind them is not followed. Flows in: routes. Flows out: findings.
//! Must not know: policies, the hierarchy.

use crate::api::route::{BackendRef, Route, is_route};
use crate::diagnostic::{Code, Finding, Findings};

/// Groups whose kind `label` stands for the routes with a label.
const LABEL_GROUPS: [&str; 2] = ["delegation.kgateway.dev", "delegation.gateway.solo.io"];

/// Whether a backend is no backend but other routes: by name, all of a namespace, or those with a label.
fn delegates(backend: &BackendRef<'_>) -> bool {
    let by_label = backend.kind == "label" && LABEL_GROUPS.contains(&backend.group);
    by_label || is_route(backend.group, backend.kind)
}

/// Says once of a route that hands requests on that nobody here follows them.
pub(super) fn report_delegation(route: &Route<'_>, findings: &mut Findings) {
    let backends = route.rules.iter().flat_map(|rule| &rule.backends);
    let mut delegating = backends.filter(|backend| delegates(backend));
    let Some(first) = delegating.next() else {
        return;
    };
    let object = route.object;
    findings.push(
        Finding::new(
            Code::ROUTE_DELEGATED,
            object.place(&first.pointer),
            format!(
                "{} hands requests on to other routes, which are not followed: nobody can tell here which policies hold there",
                object.identity()
            ),
        )
        .label("not a backend, but other routes")
        .help("give those routes the Gateway as a parent, or look on a cluster at what holds behind this one"),
    );
}
