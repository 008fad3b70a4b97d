//! What differs by product. What data can state about its kinds is in `<product>.json`, in the language of `profiles` in
//! the configuration (docs/guides/teaching-a-kind.md); what its controller does besides is code, in the file or folder of
//! that name.

mod envoy_gateway;
mod istio;
mod kgateway;
mod kuadrant;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, OnceLock};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::attachment::Attachments;
use super::condition::{AncestorRef, AncestorStatus};
use super::model::{Content, Entry, KindId, PolicyId, RefusedThere, Rejection, Unserved, Waypoint};
use super::profile::Profile;
use crate::api::condition::Condition;
use crate::api::targeting::{AllowedTarget, TargetField};
use crate::diagnostic::broken;
use crate::hub::Grants;
use crate::object::Object;
use crate::topology::{BackendId, ClassId, GatewayId, ListenerId, Node, Sources, Topology};

/// The products whose controllers do more than data can state.
static PRODUCTS: &[&dyn Product] = &[
    &envoy_gateway::EnvoyGateway,
    &istio::Istio,
    &kgateway::Kgateway,
    &kuadrant::Kuadrant,
];

static FILES: LazyLock<Vec<ProductFile>> = LazyLock::new(|| {
    let texts = [
        include_str!("cert_manager.json"),
        include_str!("envoy_gateway.json"),
        include_str!("external_secrets.json"),
        include_str!("gateway_api.json"),
        include_str!("gke.json"),
        include_str!("istio.json"),
        include_str!("kgateway.json"),
        include_str!("kuadrant.json"),
        include_str!("nginx.json"),
    ];
    let read = |text| {
        let product = serde_json::from_str(text);
        product.unwrap_or_else(|error| broken(format_args!("a product: {error}")))
    };
    texts.into_iter().map(read).collect()
});

/// The kinds of a product.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, bound(deserialize = "'de: 'static"))]
struct ProductFile {
    /// The profiles of its policies.
    profiles: Vec<SimilarKinds>,
    /// The documented targets of policies whose definitions accept any kind, or are not released.
    targets: Vec<KnownTargets>,
    /// The fields of its objects that refer to others.
    references: Vec<ReferenceFields>,
}

/// Profiles that have fields in common. A member `why`, here or of a kind, is for readers: JSON has no comments.
#[derive(Debug, Deserialize)]
struct SimilarKinds {
    each: Map<String, Value>,
    /// A kind may have another value for a field of `each`.
    kinds: Vec<Map<String, Value>>,
}

/// The documented targets of some kinds, as the file of a product has them.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownTargets {
    pub(super) group: &'static str,
    pub(super) kinds: Vec<&'static str>,
    /// `sections` counts where the definition has them.
    pub(super) targets: Vec<AllowedTarget>,
    pub(super) evidence: Evidence,
    /// Where that was read: upstream, as the pages of docs/systems cite it, or a page.
    pub(super) source: &'static str,
}

/// The source.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Evidence {
    /// The controller refuses all others with this message, with `GROUP` and `KIND` in place of those of the target.
    Controller(&'static str),
    /// Documentation, or the comment of a type. Others are up to the implementation.
    Documentation,
    /// A definition that no release has; it has these fields.
    Unreleased(Vec<TargetField>),
}

/// The fields of some kinds that refer to objects that must be on the same cluster.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReferenceFields {
    pub(crate) group: &'static str,
    pub(crate) kinds: Vec<&'static str>,
    /// The path of each below the spec ([`apimachinery::Field::each`]).
    pub(crate) fields: Vec<(&'static str, ReferenceType)>,
}

/// How a field refers to another object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum ReferenceType {
    /// A reference in the namespace that it names, or else in the object's own. It names group and kind.
    Any,
    /// The same, to an object of this group and kind if it names none.
    Kind(&'static str, &'static str),
    /// The same, to a Secret.
    Secret,
    /// The same, to a ConfigMap.
    ConfigMap,
    /// The same, to a Service.
    Service,
    /// A reference to a Service, or to another backend. Other routes, to which requests are delegated, are none.
    Backend,
    /// The name of a Secret in the object's own namespace.
    SecretName,
    /// A reference to a Secret in the namespace of Authorino, wherever that is
    /// (docs/systems/references.md#secrets-of-authorino).
    AuthorinoSecret,
    /// A label selector of Secrets in any namespace, or in that of Authorino.
    Secrets,
    /// A reference to an Issuer of the object's own namespace, or to a ClusterIssuer.
    Issuer,
    /// A reference to a SecretStore of the object's own namespace, or to a ClusterSecretStore.
    SecretStore,
}

/// The profiles of all products, as entries of `profiles` in the configuration.
pub(super) fn profiles() -> impl Iterator<Item = Value> {
    let similar = FILES.iter().flat_map(|product| &product.profiles);
    similar.flat_map(|similar| {
        similar.kinds.iter().map(|kind| {
            let mut fields = similar.each.clone();
            fields.extend(kind.clone());
            fields.remove("why");
            Value::Object(fields)
        })
    })
}

/// The documented targets of the kinds of all products.
pub(super) fn known_targets() -> impl Iterator<Item = &'static KnownTargets> {
    FILES.iter().flat_map(|product| &product.targets)
}

/// The fields by which objects of all products refer to others.
pub(crate) fn reference_fields() -> impl Iterator<Item = &'static ReferenceFields> {
    FILES.iter().flat_map(|product| &product.references)
}

/// An annotation of a Gateway or of a route about how its policies meet those below, and its policies, level by level.
pub(super) type Generation<'l> = (Option<&'l str>, Vec<&'l [Entry]>);

/// A policy, and a node that it is attached to.
pub(super) type AttachedPolicy<'r, 'a> = (&'r Attachments<'a>, PolicyId, Node);

/// What the controller of a product does besides what its file states. Each method decides by itself which kinds it is
/// about, because a profile of the configuration may give any kind the behavior of a product.
#[expect(
    unused_variables,
    reason = "the default of each method is that the controller does nothing"
)]
pub(super) trait Product: Sync {
    /// The classes whose Gateways are known to run as one.
    fn merged_classes(&self, topology: &Topology<'_>, sources: Sources<'_>) -> BTreeSet<ClassId> {
        BTreeSet::new()
    }

    /// The listeners of a Gateway at which the controller of a kind does not act.
    fn ignored_listeners(
        &self,
        profile: &Profile,
        topology: &Topology<'_>,
        gateway: GatewayId,
    ) -> BTreeSet<ListenerId> {
        BTreeSet::new()
    }

    /// The listeners of a Gateway, by their pointers, for which no Certificate is made, and why.
    fn certificate_faults(&self, gateway: &Object) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Why a policy is refused wherever it is attached.
    fn wrong_setting(
        &self,
        profile: &Profile,
        policy: &Object,
        sources: Sources<'_>,
        grants: &Grants<'_>,
    ) -> Option<Rejection> {
        None
    }

    /// Why a policy is refused on routes of a kind before it takes the place of others.
    fn unfit(&self, profile: &Profile, policy: &Object, route: &str) -> Option<Rejection> {
        None
    }

    /// Where policies of a kind are refused at some of the listeners that their target stands for.
    fn refused_at_listeners(
        &self,
        attachments: &Attachments<'_>,
        kind: KindId,
    ) -> Vec<(Node, ListenerId, RefusedThere)> {
        Vec::new()
    }

    /// Why a policy is refused on a node, besides its settings; of listeners that are in its way, at most so many are named.
    fn rejection(&self, policy: AttachedPolicy<'_, '_>, most: usize) -> Option<Rejection> {
        None
    }

    /// Why a policy is refused wherever traffic comes to its route, because of what it merges with there; with a Gateway,
    /// wherever it comes from that.
    fn refused_merges(&self, policy: AttachedPolicy<'_, '_>, from: Option<GatewayId>) -> Option<String> {
        None
    }

    /// Whether what policies come to that are merged, the last one over the others, is refused.
    fn refuses_merged(&self, profile: &Profile, levels: &[&[Entry]]) -> bool {
        false
    }

    /// What the policies of a path come to where annotations decide; the generations are the Gateway's side, then each
    /// route with its rules. `home` is the namespace of a policy.
    fn inherited<'h>(
        &self,
        profile: &Profile,
        generations: &[Generation<'_>],
        home: &dyn Fn(PolicyId) -> &'h str,
    ) -> Option<Content> {
        None
    }

    /// The settings that the controller translates, if not all of them.
    fn translated(&self, profile: &Profile, content: &Content) -> Option<Content> {
        None
    }

    /// Whether policies of a kind let everybody in together, if their rules and not their fields tell.
    fn lets_everybody_in(&self, profile: &Profile, policies: &[&kube_json::Value]) -> bool {
        false
    }

    /// `status.ancestors` of a policy, if the controller does not write an entry for each Gateway.
    fn ancestors(
        &self,
        attachments: &Attachments<'_>,
        id: PolicyId,
        gateways: &BTreeSet<GatewayId>,
        effect: &dyn Fn(GatewayId) -> Option<Condition>,
    ) -> Option<Vec<AncestorStatus>> {
        None
    }

    /// The ancestors of a policy on backends, if they are not Gateways.
    fn parents_of_backends(
        &self,
        attachments: &Attachments<'_>,
        id: PolicyId,
        gateway: GatewayId,
    ) -> Vec<AncestorRef> {
        Vec::new()
    }

    /// What the controller says of a policy where another one of its kind applies.
    fn conflicted(&self, policy: AttachedPolicy<'_, '_>) -> Option<String> {
        None
    }

    /// The class of Gateways that serve the Services of a mesh.
    fn waypoint_class(&self) -> Option<&'static str> {
        None
    }

    /// The waypoint of a Service.
    fn waypoint_of(&self, topology: &Topology<'_>, service: BackendId) -> Option<Result<Waypoint, Unserved>> {
        None
    }

    /// The workloads of a mesh with this root namespace.
    fn workloads<'a>(&self, root_namespace: Option<&str>) -> Option<Box<dyn Workloads<'a> + 'a>> {
        None
    }
}

/// The workloads that policies without a target select.
pub(super) trait Workloads<'a> {
    /// The namespace of policies that apply to the whole mesh.
    fn root_namespace(&self) -> &str;

    /// Which workloads a policy without a target applies to, as far as they are known: those of the mesh or of a namespace
    /// are that node. `None`: the policy is ignored.
    fn of(&mut self, policy: &'a Object, topology: &mut Topology<'a>) -> Option<Vec<Node>>;
}

/// All products.
pub(super) fn all() -> impl Iterator<Item = &'static dyn Product> {
    PRODUCTS.iter().copied()
}

/// The listeners of a Gateway, by their pointers, for which no product makes a Certificate, and why.
pub(crate) fn certificate_faults(gateway: &Object) -> BTreeMap<String, String> {
    all()
        .flat_map(|product| product.certificate_faults(gateway))
        .collect()
}

/// The waypoint of a Service, or why none is known; nothing if no product has waypoints.
pub(super) fn waypoint_of(topology: &Topology<'_>, service: BackendId) -> Option<Result<Waypoint, Unserved>> {
    all().find_map(|product| product.waypoint_of(topology, service))
}

/// The class of Gateways that serve the Services of a mesh; no class has an empty name.
pub(super) fn waypoint_class() -> &'static str {
    let mut classes = all().filter_map(|product| product.waypoint_class());
    classes.next().unwrap_or_default()
}

/// What a product finds out about a kind once, and only it can read.
#[derive(Debug, Clone, Default)]
pub(super) struct ProductState(OnceLock<Arc<dyn Any + Send + Sync>>);

impl ProductState {
    fn get_or_default<T: Any + Default + Send + Sync>(&self) -> &T {
        let state = self.0.get_or_init(|| Arc::new(T::default()));
        let state = state.downcast_ref();
        state.unwrap_or_else(|| broken(format_args!("two products keep what they know of one kind")))
    }
}
