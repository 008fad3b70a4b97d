//! The contents of works: the copies of a synced object, as manifests.
//!
//! Owns: which work contains a copy, and its manifest. Flows in: variants of a synced object. Flows out: [`Carried`].
//! Must not know: how a copy was made, other objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::condition_rules::Reported;
use super::feedback::{asked_rules, policy_rules};
use super::manifest::{Manifest, ResourceIdentifier};
use super::policy_conditions::policy_conditions;
use crate::api::params::{Params, Role, SyncedResource, WorkPer};
use crate::diagnostic::broken;
use crate::hub::{Hub, OurGatewayId, Table};
use crate::object::Object;
use crate::sync::{PlacedGateway, SyncedObject, Variant};

/// The works that contain a variant: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Works {
    /// Its own, with the parameters of this Gateway's class.
    pub(super) own: Option<OurGatewayId>,
    /// That of the only Gateway that it is for.
    pub(super) of_gateway: Option<OurGatewayId>,
}

impl Works {
    /// Decides which works contain an object; nothing else may put an object into two. An object's own work does not
    /// depend on what the object refers to, so no change moves it: the agent deletes what leaves a work, unless it has
    /// applied another work with the object before (docs/systems/ocm-work.md#what-leaves-a-work). An object that goes with
    /// two Gateways of a cluster is in its own work only.
    pub(super) fn new(params: &Params, gateways: &[OurGatewayId]) -> Self {
        let only = match gateways {
            [only] => Some(*only),
            _ => None,
        };
        let of_gateway = only.filter(|_| params.work_per != WorkPer::Object);
        let is_own = of_gateway.is_none() || params.work_per == WorkPer::Both;
        Self {
            own: gateways.first().copied().filter(|_| is_own),
            of_gateway,
        }
    }
}

/// A variant of a synced object in works.
#[derive(Debug)]
pub(super) struct Carried<'a> {
    /// The object whose name it carries.
    pub(super) object: &'a Object,
    /// All objects that it was made from.
    pub(super) sources: &'a [&'a Object],
    /// What it is.
    pub(super) role: Role,
    /// The works that it is in.
    pub(super) works: Works,
    /// The Gateways that it is for, sorted.
    pub(super) gateways: Vec<OurGatewayId>,
    /// One manifest for each downstream namespace.
    pub(super) manifests: Vec<Arc<Manifest>>,
    /// The clusters, sorted.
    pub(super) clusters: Arc<[String]>,
}

/// What is reported about the objects of each kind: the same of thousands of objects, so it is made once.
pub(super) struct Kinds<'a> {
    hub: &'a Hub,
    known: BTreeMap<(Role, &'a str, &'a str), Vec<Feedback<'a>>>,
}

/// What is reported about one object.
#[derive(Clone)]
pub(super) struct Feedback<'a> {
    /// The entry of the parameters.
    resource: &'a SyncedResource,
    rules: Option<Arc<str>>,
    reported: Reported,
}

impl<'a> Kinds<'a> {
    pub(super) fn of(hub: &'a Hub) -> Self {
        let known = BTreeMap::new();
        Self { hub, known }
    }

    pub(super) fn feedback(&mut self, synced: &SyncedObject<'a>) -> Feedback<'a> {
        let object = synced.object;
        let kind = (
            synced.role,
            object.api_version.group.as_str(),
            object.kind.as_str(),
        );
        // Another one for each list of values that some parameters request.
        let known = self.known.entry(kind).or_default();
        let is_alike = |known: &&Feedback<'_>| known.resource.feedback == synced.resource.feedback;
        if let Some(feedback) = known.iter().find(is_alike) {
            return feedback.clone();
        }
        let feedback = Feedback::of(synced, self.hub);
        known.push(feedback.clone());
        feedback
    }
}

impl<'a> Feedback<'a> {
    fn of(synced: &SyncedObject<'a>, hub: &Hub) -> Self {
        if synced.role != Role::Policy {
            return Self {
                resource: synced.resource,
                rules: asked_rules(synced.resource),
                reported: Reported::Nothing,
            };
        }
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
        Self {
            resource: synced.resource,
            rules: policy_rules(conditions, synced.resource),
            reported,
        }
    }
}

/// The variants of one object in works.
pub(super) fn carried<'a>(
    synced: &'a SyncedObject<'a>,
    variants: Vec<Variant>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
    Feedback { rules, reported, .. }: &Feedback<'a>,
) -> Vec<Carried<'a>> {
    let origins: Vec<_> = synced
        .sources
        .iter()
        .flat_map(|source| source.origins())
        .collect();
    variants
        .into_iter()
        .map(|variant| {
            let Some(first) = variant.gateways.first() else {
                broken(format_args!(
                    "{} goes to a cluster with no Gateway",
                    synced.object.identity()
                ))
            };
            let works = Works::new(gateways.get(*first).params, &variant.gateways);
            // Not collected, which would keep the memory of the copies for the pointers to the manifests.
            let mut manifests = Vec::with_capacity(variant.copies.len());
            manifests.extend(variant.copies.into_iter().map(|copy| {
                let object = copy.object;
                Arc::new(Manifest {
                    resource: ResourceIdentifier {
                        group: object.api_version.group,
                        resource: synced.resource.resource.clone(),
                        namespace: object.namespace.unwrap_or_default().into(),
                        name: object.name.into(),
                    },
                    kind: object.kind.into(),
                    value: object.value,
                    feedback: rules.clone(),
                    reported: *reported,
                    origins: origins.clone(),
                })
            }));
            Carried {
                object: synced.object,
                sources: &synced.sources,
                role: synced.role,
                works,
                gateways: variant.gateways,
                manifests,
                clusters: variant.clusters,
            }
        })
        .collect()
}
