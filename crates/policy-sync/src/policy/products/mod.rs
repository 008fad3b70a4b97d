//! What differs by product. What data can state about its kinds is in `<product>.json`, in the language of `profiles` in
//! the configuration (docs/guides/teaching-a-kind.md); what its controller does besides is code, in the file or folder of
//! that name.

pub(crate) mod envoy_gateway;
pub(crate) mod istio;
pub(crate) mod kgateway;
pub(crate) mod kuadrant;

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::targeting::{AllowedTarget, TargetField};
use crate::diagnostic::broken;

static PRODUCTS: LazyLock<[Product; 9]> = LazyLock::new(|| {
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
    texts.map(|text| {
        let product = serde_json::from_str(text);
        product.unwrap_or_else(|error| broken(format_args!("a product: {error}")))
    })
});

/// The kinds of a product.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, bound(deserialize = "'de: 'static"))]
struct Product {
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
    let similar = PRODUCTS.iter().flat_map(|product| &product.profiles);
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
    PRODUCTS.iter().flat_map(|product| &product.targets)
}

/// The fields by which objects of all products refer to others.
pub(crate) fn reference_fields() -> impl Iterator<Item = &'static ReferenceFields> {
    PRODUCTS.iter().flat_map(|product| &product.references)
}
