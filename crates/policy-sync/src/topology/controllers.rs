//! Which controller serves a Gateway, as far as the input shows.
//!
//! Owns: [`Controllers`], the classes that ours become on clusters, and the controllers whose routes delegate requests.
//! Flows in: names of classes, GatewayClasses. Flows out: the controller of a class, if it is known not to delegate.
//! Must not know: routes.

use std::collections::BTreeMap;

use super::sources::Sources;
use crate::api::gateway::GROUP;
use apimachinery::Identity;

/// The groups of the controllers that hand requests on: kgateway, agentgateway, which was split off from it, and Gloo
/// Gateway, which it was split off from (docs/systems/other-policies.md#route-delegation).
const DELEGATING: [&str; 3] = ["kgateway.dev", "agentgateway.dev", "solo.io"];

/// The classes that Istio makes itself, with their controllers: they are known without a GatewayClass in the input
/// (`istio/istio pkg/config/constants/constants.go@1.30.3`).
const OF_ISTIO: [(&str, &str); 4] = [
    ("istio", "istio.io/gateway-controller"),
    ("istio-east-west", "istio.io/eastwest-controller"),
    ("istio-remote", "istio.io/unmanaged-gateway"),
    ("istio-waypoint", "istio.io/mesh-controller"),
];

/// The classes that ours become on clusters, because no controller serves ours under their name.
#[derive(Debug, Clone, Default)]
pub struct Controllers {
    /// The controller that classes of ours name: it serves no Gateway itself.
    pub ours: String,
    /// The class on the clusters, by the name of a class of ours.
    pub downstream: BTreeMap<String, String>,
}

impl Controllers {
    /// The controller of a class, if it is known to be one that hands no requests on to other routes.
    pub(super) fn not_delegating<'a>(&'a self, class: &'a str, sources: Sources<'a>) -> Option<&'a str> {
        // On a cluster our Gateways have their class already.
        let downstream = self.downstream.get(class).filter(|_| sources.hub.is_none());
        let class = downstream.map_or(class, String::as_str);
        let object = sources.get_with_hub(&Identity::new(GROUP, "GatewayClass", None, class));
        let named = object.and_then(|class| class.root().get("spec").text("controllerName"));
        let of_istio = OF_ISTIO.iter().find(|(name, _)| *name == class);
        let controller = named
            .filter(|controller| *controller != self.ours)
            .or_else(|| of_istio.map(|(_, controller)| *controller))?;
        let group = controller.split('/').next().unwrap_or_default();
        (!DELEGATING.contains(&group)).then_some(controller)
    }
}
