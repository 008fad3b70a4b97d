//! The objects on the clusters once the works are applied.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apimachinery::{GroupKind, Identity};

use super::copies::PlacedGateway;
use super::reference_fields::{Labels, certificates, made_by, texts};
use super::synced_object::{Copy, Variant};
use crate::api::downstream::downstream_name;
use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::policy::DeclaredTargets;
use crate::hub::{Grants, Hub, OurGatewayId, Table};
use crate::object::Object;
use crate::placing;
use crate::policy::{certificate_faults, referrer};

/// Clusters, sorted.
type Clusters = Arc<[String]>;

/// Which of some clusters do not have an object.
#[derive(Debug, Clone)]
pub(super) enum Without<'c> {
    /// None of them has it.
    All(&'c [String]),
    /// These, sorted.
    Some(Vec<&'c str>),
}

/// The objects on the clusters.
#[derive(Debug)]
pub struct OnSpokes<'s> {
    hub: &'s Hub,
    /// Objects that are shipped, or made from shipped ones, with the clusters that get them.
    shipped: HashMap<Identity, Vec<Clusters>>,
    /// The Secrets among them.
    secrets: Vec<(Identity, Labels, Clusters)>,
    /// By cluster, the Secrets that live there, or are made from what lives there.
    local_secrets: HashMap<&'s str, Vec<(Identity, Labels)>>,
    /// By cluster, the ReferenceGrants that live there.
    local_grants: HashMap<&'s str, Grants<'s>>,
}

impl<'s> OnSpokes<'s> {
    /// Looks at everything that is shipped: of each hub that ClusterOverlays make of one, our Gateways and the variants of
    /// the synced objects. With `copied`, so are the listeners' Secrets of the hub.
    pub fn new<'g, 'a: 'g>(
        (hub, grants): (&'s Hub, &Grants<'_>),
        shipped: impl Iterator<Item = (&'g Table<OurGatewayId, PlacedGateway<'a>>, &'g [Vec<Variant>])>,
        copied: bool,
    ) -> Self {
        let mut there = Self {
            hub,
            shipped: HashMap::new(),
            secrets: Vec::new(),
            local_secrets: HashMap::new(),
            local_grants: HashMap::new(),
        };
        let mut written = None;
        for (gateways, variants) in shipped {
            let by_name = gateways.rows().iter().filter_map(|placed| {
                let key = (placed.namespace()?, placed.gateway.object.name.as_str());
                Some((key, placed))
            });
            let by_name: ByName<'_, '_> = by_name.collect();
            there.add_shipped(gateways, (variants, &by_name), (grants, copied));
            written = written.or(Some(by_name));
        }
        let by_name = written.unwrap_or_default();
        for (cluster, objects) in hub.spokes.as_ref() {
            let secrets = objects.iter().flat_map(|object| secrets_of(object, &by_name));
            there.local_secrets.insert(cluster, secrets.collect());
            let grants = Grants::new(objects);
            if !grants.is_empty() {
                there.local_grants.insert(cluster, grants);
            }
        }
        there
    }

    fn add_shipped(
        &mut self,
        gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
        (variants, by_name): (&[Vec<Variant>], &ByName<'_, '_>),
        (grants, copied): (&Grants<'_>, bool),
    ) {
        for placed in gateways.rows() {
            let object = placed.gateway.object;
            let Some(namespace) = placed.namespace() else {
                continue;
            };
            if copied {
                self.add_secrets(object, &namespace, (grants, &placed.clusters));
            }
            let identity = Identity::new(GROUP, "Gateway", Some(&namespace), &object.name);
            self.add(identity, &placed.clusters);
        }
        for variant in variants.iter().flatten() {
            let clusters = &variant.clusters;
            for Copy { object, .. } in &variant.copies {
                self.add(object.identity(), clusters);
                if copied && is_listener_set(&object.api_version.group, &object.kind) {
                    self.add_secrets(object, object.namespace_or_empty(), (grants, clusters));
                }
                for (secret, labels) in secrets_of(object, by_name) {
                    self.add(secret.clone(), clusters);
                    self.secrets.push((secret, labels, Arc::clone(clusters)));
                }
            }
        }
    }

    fn add(&mut self, identity: Identity, clusters: &Clusters) {
        let of_identity = self.shipped.entry(identity).or_default();
        of_identity.push(Arc::clone(clusters));
    }

    /// The Secrets that are copied with a Gateway or a ListenerSet into its namespace on the spokes.
    fn add_secrets(
        &mut self,
        holder: &Object,
        namespace: &str,
        (grants, clusters): (&Grants<'_>, &Clusters),
    ) {
        let own = holder.namespace_or_empty();
        let certificates = certificates(holder, Some(own)).into_iter();
        for (secret, _) in certificates.filter(|(one, _)| one.group_kind == GroupKind::new("", "Secret")) {
            let from = secret.namespace.as_deref().unwrap_or_default();
            // A Secret of another namespace ships only if its owner has agreed: the copy would publish it.
            if grants.permit(referrer(holder), from, ("", "Secret", &secret.name))
                && self.hub.objects.get(&secret).is_some()
            {
                let name = downstream_name(from, &secret.name, own);
                self.add(Identity::new("", "Secret", Some(namespace), &name), clusters);
            }
        }
    }

    /// Whether a cluster has an object.
    pub fn has(&self, identity: &Identity, cluster: &str) -> bool {
        let shipped = self.shipped.get(identity).into_iter().flatten();
        is_among(shipped, cluster) || self.has_local(identity, cluster)
    }

    /// Those of some sorted clusters that do not have an object.
    pub(super) fn without<'c>(&self, identity: &Identity, clusters: &'c [String]) -> Without<'c> {
        let shipped = self.shipped.get(identity).map(Vec::as_slice).unwrap_or_default();
        // The list is shared: a hundred thousand references to what is nowhere must not each copy the names.
        if shipped.is_empty() && self.hub.spokes.is_empty() {
            return Without::All(clusters);
        }
        let lacks = |cluster: &&str| !is_among(shipped, cluster) && !self.has_local(identity, cluster);
        Without::Some(clusters.iter().map(String::as_str).filter(lacks).collect())
    }

    fn has_local(&self, identity: &Identity, cluster: &str) -> bool {
        let local = self.hub.spokes.get(cluster);
        local.is_some_and(|local| local.get(identity).is_some())
            || self.has_local_secret(cluster, |secret, _| secret == identity)
    }

    /// Whether a ReferenceGrant that lives on a cluster permits a reference from `from` (group, kind, namespace there).
    pub(super) fn permit_locally(&self, cluster: &str, from: (&str, &str, &str), to: &Identity) -> bool {
        let grants = self.local_grants.get(cluster);
        grants.is_some_and(|grants| grants.permitting(from, to).next().is_some())
    }

    /// The clusters, list by list, that are shipped a Secret that `wanted` accepts.
    pub(super) fn with_secret(&self, wanted: impl Fn(&Identity, &Labels) -> bool) -> Vec<&Clusters> {
        let secrets = self.secrets.iter();
        let secrets = secrets.filter(|(secret, labels, _)| wanted(secret, labels));
        secrets.map(|(_, _, clusters)| clusters).collect()
    }

    /// Whether a Secret that `wanted` accepts lives on a cluster, or is made from what lives there.
    pub(super) fn has_local_secret(
        &self,
        cluster: &str,
        wanted: impl Fn(&Identity, &Labels) -> bool,
    ) -> bool {
        let local = self.local_secrets.get(cluster).into_iter().flatten();
        local.into_iter().any(|(secret, labels)| wanted(secret, labels))
    }
}

/// Whether a cluster is in any of these lists.
pub(super) fn is_among<'c>(lists: impl IntoIterator<Item = &'c Clusters>, cluster: &str) -> bool {
    let mut lists = lists.into_iter();
    lists.any(|clusters| placing::is_among(clusters, cluster))
}

/// The Secrets that an object is, or makes on its cluster.
fn secrets_of(object: &Object, gateways: &ByName<'_, '_>) -> Vec<(Identity, Labels)> {
    let mut secrets: Vec<(Identity, Labels)> = made_by(object).into_iter().collect();
    let certificates = certificates_of(object, gateways).into_iter();
    // The labels that cert-manager gives them are unknown.
    secrets.extend(certificates.map(|secret| (secret, Labels::new())));
    if object.is("", "Secret") {
        let labels = texts(&object.root().get("metadata").get("labels"));
        secrets.push((object.identity(), labels));
    }
    secrets
}

/// Our Gateways by namespace and name on the spokes.
type ByName<'g, 'a> = BTreeMap<(String, &'g str), &'g PlacedGateway<'a>>;

/// The Secrets that a TLSPolicy has cert-manager make for the listeners of its Gateway
/// (docs/systems/references.md#who-makes-a-secret).
fn certificates_of(policy: &Object, gateways: &ByName<'_, '_>) -> Vec<Identity> {
    if !policy.is("kuadrant.io", "TLSPolicy") {
        return Vec::new();
    }
    let namespace = policy.namespace_or_empty();
    let mut made = Vec::new();
    let declared = DeclaredTargets::new(policy);
    for target in declared.iter().flat_map(|declared| &declared.references) {
        let Some(placed) = gateways.get(&(namespace.to_owned(), &*target.name)) else {
            continue;
        };
        let listeners = placed.gateway.listeners.iter();
        let faults = certificate_faults(placed.gateway.object);
        let listeners = listeners.filter(|listener| {
            let section = target.section_name.as_ref();
            section.is_none_or(|name| *name == listener.name) && !faults.contains_key(&listener.pointer)
        });
        for secret in listeners.flat_map(|listener| &listener.certificate_refs) {
            let secret_in = secret.namespace.as_deref().unwrap_or(namespace);
            made.push(Identity::new("", "Secret", Some(secret_in), &secret.name));
        }
    }
    made
}
