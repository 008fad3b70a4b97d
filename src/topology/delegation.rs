//! Routes that hand requests on to other routes (docs/systems/other-policies.md#kgateway).
//!
//! Owns: the finding that what stands behind them is not followed. Flows in: routes. Flows out: findings.
//! Must not know: policies, the hierarchy.

use crate::api::route::{Route, stands_for_routes};
use crate::diagnostic::{Code, Finding, Findings};

/// Says once of a route that hands requests on that nobody here follows them.
pub(super) fn report_delegation(route: &Route<'_>, findings: &mut Findings) {
    let backends = route.rules.iter().flat_map(|rule| &rule.backends);
    let mut delegating = backends.filter(|backend| stands_for_routes(backend.group, backend.kind));
    let Some(first) = delegating.next() else {
        return;
    };
    let object = route.object;
    findings.push(
        Finding::new(
            Code::ROUTE_DELEGATED,
            object.place(&first.pointer),
            format!(
                "{} delegates to other routes, which are not followed, so it is not known which policies apply there",
                object.identity()
            ),
        )
        .label("other routes, not a backend")
        .help("make the Gateway the parent of those routes, or check on a cluster which policies apply"),
    );
}
