//! The contents of works: the copies of a synced object, as manifests.
//!
//! Owns: which work contains a copy, and its manifest. Flows in: variants of a synced object. Flows out: [`Carried`].
//! Must not know: how a copy was made, other objects.

use std::sync::Arc;

use super::condition_rules::Reported;
use super::feedback::{asked_paths, policy_paths};
use super::manifest::{Manifest, ResourceIdentifier};
use super::policy_conditions::policy_conditions;
use crate::api::params::{Role, WorkPer};
use crate::diagnostic::broken;
use crate::hub::{Hub, OurGatewayId, Table};
use crate::object::Object;
use crate::sync::{PlacedGateway, SyncedObject, Variant};

/// The owner of the work that contains a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkOf {
    /// The Gateway's.
    Gateway(OurGatewayId),
    /// Its own, with the parameters of this Gateway's class.
    Object(OurGatewayId),
}

/// A variant of a synced object in works.
#[derive(Debug)]
pub(super) struct Carried<'a> {
    /// The object whose name it carries.
    pub(super) object: &'a Object,
    /// All objects that it was made from.
    pub(super) sources: &'a [&'a Object],
    /// What it is: in a work, other objects are before routes, and those before policies.
    pub(super) role: Role,
    /// The owner of the work that it is in.
    pub(super) work: WorkOf,
    /// The Gateways that it is for, sorted.
    pub(super) gateways: Vec<OurGatewayId>,
    /// One manifest for each downstream namespace.
    pub(super) manifests: Vec<Manifest>,
    /// The clusters, sorted.
    pub(super) clusters: Arc<[String]>,
}

/// The variants of one object in works.
pub(super) fn carried<'a>(
    synced: &'a SyncedObject<'a>,
    variants: Vec<Variant>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
    hub: &Hub,
) -> Vec<Carried<'a>> {
    let (feedback, reported) = match synced.role {
        Role::Policy => {
            let conditions = policy_conditions(&synced.object.group_kind(), hub);
            // A policy that another one overrides is accepted but not enforced: there is nothing to wait for.
            let accepted: &[&str] = match conditions.acceptance {
                Some("Attached") => &["Attached"],
                _ => &["Accepted"],
            };
            let reported = if conditions.acceptance.is_none() {
                Reported::Nothing
            } else if conditions.ancestors {
                Reported::OfAncestors(accepted)
            } else {
                Reported::ConditionsAtOnce(accepted)
            };
            (policy_paths(conditions, synced.resource), reported)
        }
        Role::Object | Role::Route => (asked_paths(synced.resource), Reported::Nothing),
    };
    let origins: Vec<_> = synced
        .sources
        .iter()
        .map(|source| source.origin.clone())
        .collect();
    variants
        .into_iter()
        .map(|variant| {
            // Two Gateways of one cluster are in two works. An object in both would be applied by both, and what one
            // work no longer has, the other still holds in place: so it gets a work of its own.
            let work = match variant.gateways.as_slice() {
                [only] if gateways.get(*only).params.work_per == WorkPer::Gateway => WorkOf::Gateway(*only),
                [first, ..] => WorkOf::Object(*first),
                [] => broken(format_args!(
                    "{} goes to a cluster with no Gateway",
                    synced.object.identity()
                )),
            };
            let copies = variant.copies.into_iter().map(|copy| copy.object);
            let manifests = copies.map(|object| Manifest {
                resource: ResourceIdentifier {
                    group: object.api_version.group,
                    resource: synced.resource.resource.clone(),
                    namespace: object.namespace.unwrap_or_default(),
                    name: object.name,
                },
                kind: object.kind,
                value: object.value,
                feedback: feedback.clone(),
                reported,
                origins: origins.clone(),
            });
            Carried {
                object: synced.object,
                sources: &synced.sources,
                role: synced.role,
                work,
                gateways: variant.gateways,
                manifests: manifests.collect(),
                clusters: variant.clusters,
            }
        })
        .collect()
}
