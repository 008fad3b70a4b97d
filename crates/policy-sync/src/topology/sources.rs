//! The objects that the hierarchy is made from: those of the hub, or those of one cluster, both synced and local. Also the
//! controllers of their classes, as far as the input shows.

use std::collections::BTreeMap;

use apimachinery::Identity;

use crate::api::downstream::is_synced_copy;
use crate::api::gateway::GROUP;
use crate::hub::Objects;
use crate::object::{Ages, Object, Rank, rank_of};

/// The objects that a topology is made of.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The hub's objects, or what is synced to a cluster.
    pub objects: &'a Objects,
    /// Of a cluster, what lives there.
    pub local: Option<&'a Objects>,
    /// Of a cluster, the hub: its CRDs and classes are assumed to be there, too. Its Namespaces and ReferenceGrants are
    /// for what another tool is assumed to deliver.
    pub hub: Option<&'a Objects>,
    /// Of a cluster, what `objects` were made from, in their order.
    pub originals: Option<&'a [Original<'a>]>,
    /// Of the hub, what lives on each cluster. A reference may mean it, and nothing is made of it.
    pub spokes: Option<&'a BTreeMap<String, Objects>>,
}

/// The original of an object on a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Original<'a> {
    /// The object of the hub.
    pub object: &'a Object,
    /// Whether it is not synced, but a route of the hub that another tool is assumed to deliver.
    pub assumed: bool,
}

/// The objects whose ages count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seniority {
    /// Of what is looked at.
    pub ages: Ages,
    /// Of the hub's objects, which those that were synced to a cluster were made from. When a copy was created there
    /// nobody here knows: the older one on the hub is the likelier to have come first.
    pub of_originals: Ages,
}

impl Seniority {
    /// The rank of a route or a ListenerSet, or a copy of one, among its like.
    pub(super) fn rank(self, object: &Object, original: Option<&Original<'_>>) -> Rank {
        match original {
            Some(original) => rank_of(original.object, self.of_originals),
            None => rank_of(object, self.ages),
        }
    }
}

impl<'a> Sources<'a> {
    /// The hub as a cluster of its own.
    pub const fn hub(objects: &'a Objects) -> Self {
        Self {
            objects,
            local: None,
            hub: None,
            originals: None,
            spokes: None,
        }
    }

    /// The same of the hub, where it is known what lives on each cluster.
    #[must_use]
    pub const fn with_spokes(self, spokes: &'a BTreeMap<String, Objects>) -> Self {
        Self {
            spokes: Some(spokes),
            ..self
        }
    }

    /// Objects of a kind, those that live on the cluster last, and marked. Copies that were synced there by an earlier
    /// run are not counted twice.
    pub(crate) fn of_kind(self, group: &str, kind: &str) -> impl Iterator<Item = (&'a Object, bool)> {
        let local = self.local.map(|objects| objects.of_kind(group, kind));
        let local = local.unwrap_or_default().iter();
        let objects = self.objects.of_kind(group, kind).iter();
        let local = local.filter(|object| !is_synced_copy(object));
        objects
            .map(|object| (object, false))
            .chain(local.map(|object| (object, true)))
    }

    /// Of a cluster, objects of the hub.
    pub(crate) fn hub_of_kind(self, group: &str, kind: &str) -> std::slice::Iter<'a, Object> {
        self.hub
            .map(|objects| objects.of_kind(group, kind))
            .unwrap_or_default()
            .iter()
    }

    /// All groups of objects: those that the hierarchy is made of first.
    pub(super) fn all(self) -> impl Iterator<Item = &'a Objects> {
        let own = [Some(self.objects), self.local].into_iter().flatten();
        own.chain(self.spokes.into_iter().flat_map(BTreeMap::values))
    }

    /// Whether the object of this identity lives on some cluster.
    pub(crate) fn lives_on_a_cluster(self, identity: &Identity) -> bool {
        let mut spokes = self.spokes.into_iter().flat_map(BTreeMap::values);
        spokes.any(|objects| objects.get(identity).is_some())
    }

    /// The object of this identity.
    pub(crate) fn get(self, identity: &Identity) -> Option<&'a Object> {
        let mut all = [Some(self.objects), self.local].into_iter().flatten();
        all.find_map(|objects| objects.get(identity))
    }

    /// The same, or that of the hub, of a kind by which a cluster is configured.
    pub(crate) fn get_with_hub(self, identity: &Identity) -> Option<&'a Object> {
        self.get(identity).or_else(|| self.hub?.get(identity))
    }

    /// The original of an object.
    pub(crate) fn original(self, object: &Object) -> Option<&'a Original<'a>> {
        self.originals?.get(self.objects.position(object)?)
    }
}

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
