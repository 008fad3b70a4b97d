//! The works of one Gateway, policy, or route.
//!
//! Owns: which manifests are in which work, in which order. Flows in: an [`Input`], what is in the works of one thing.
//! Flows out: [`DraftedWork`]s. Must not know: the works of anything else, so that many can be made at a time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::carried::{Carried, overwritten};
use super::input::{Input, WorkKind};
use super::manifest::Manifest;
use super::names::work_name;
use super::plan::Work;
use super::rbac;
use super::secrets::{ListenerSecrets, gateway_manifest};
use super::work::{WorkParts, wave};
use crate::api::params::{Params, Role, WorkPer};
use crate::diagnostic::{Finding, Findings};
use crate::hub::{OurGatewayId, Table};
use crate::object::Object;
use crate::output::Turn;
use crate::sync::PlacedGateway;

/// One work with one content for a set of clusters, before anybody looks whether its name is free.
pub(super) struct DraftedWork<'a, 'c> {
    /// What it is the work of.
    pub object: &'a Object,
    /// The Gateways that bring it to the clusters.
    pub gateways: Vec<OurGatewayId>,
    /// The clusters.
    pub clusters: Cow<'c, [String]>,
    /// The parameters of the class.
    pub params: &'a Params,
    /// The work.
    pub work: Work,
    /// Argo CD's wave.
    pub wave: Option<i64>,
    /// Its parts, if a set is made from them.
    pub parts: Option<WorkParts>,
    /// What an agent needs a right to for it.
    pub rights: Arc<rbac::Rights>,
    /// Findings about objects in its place: the agent takes an object over that it finds under the name, whoever made
    /// it.
    pub overwritten: Vec<Finding>,
}

/// What a work will hold, and where.
struct Content<'a, 'c> {
    object: &'a Object,
    params: &'a Params,
    turn: Turn,
    manifests: Vec<Arc<Manifest>>,
    gateways: Vec<OurGatewayId>,
    clusters: Cow<'c, [String]>,
}

impl<'a, 'c> Content<'a, 'c> {
    fn drafted(self, input: &Input<'a>) -> DraftedWork<'a, 'c> {
        let Self {
            object,
            params,
            turn,
            manifests,
            gateways,
            clusters,
        } = self;
        let overwritten = overwritten(input.hub, object, &manifests, &clusters);
        let parts = WorkParts {
            name: work_name(object),
            parent: Some(object.key()),
            wave: wave(object),
            turn,
            manifests,
        };
        DraftedWork {
            object,
            gateways,
            clusters,
            params,
            work: Work::new(&parts, Some(params)),
            wave: parts.wave,
            rights: rbac::rights(&parts.manifests, params),
            parts: (input.settings.work_kind == WorkKind::ReplicaSet).then_some(parts),
            overwritten,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let settings = |content: &Self| (content.turn, wave(content.object));
        settings(self) == settings(other) && self.params == other.params && self.manifests == other.manifests
    }
}

/// The works of one name, one for each content: most hubs that ClusterOverlays make of one leave most Gateways as they are
/// written, and a work is made once for all of them.
fn drafted<'a, 'c>(input: &Input<'a>, contents: Vec<Content<'a, 'c>>) -> Vec<DraftedWork<'a, 'c>> {
    let mut distinct: Vec<Content<'a, 'c>> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    for content in contents {
        let mut hasher = DefaultHasher::new();
        for manifest in &content.manifests {
            manifest.value.hash(&mut hasher);
        }
        let positions = by_hash.entry(hasher.finish()).or_default();
        let is_same = |at: &&usize| {
            distinct
                .get(**at)
                .is_some_and(|earlier| earlier.is_same(&content))
        };
        match positions
            .iter()
            .find(is_same)
            .and_then(|at| distinct.get_mut(*at))
        {
            Some(earlier) => {
                earlier.gateways.extend(content.gateways);
                earlier.clusters.to_mut().extend(content.clusters.into_owned());
            }
            None => {
                positions.push(distinct.len());
                distinct.push(content);
            }
        }
    }
    let distinct = distinct.into_iter().map(|mut content| {
        // Once, and not for each hub: there may be a thousand.
        if !content.clusters.is_sorted() {
            content.clusters.to_mut().sort_unstable();
        }
        content.drafted(input)
    });
    distinct.collect()
}

/// The own works of an object: clusters where it has the same content share one. A policy that is merged with another
/// one on its Gateway, and stands as it is beside its route, is one work there.
pub(super) fn works_of_object<'a>(
    input: &Input<'a>,
    variants: &[&Carried<'a>],
    gateway: &PlacedGateway<'a>,
) -> Vec<DraftedWork<'a, 'static>> {
    let clusters: BTreeSet<&String> = variants
        .iter()
        .flat_map(|variant| variant.clusters.iter())
        .collect();
    let clusters: Vec<String> = clusters.into_iter().cloned().collect();
    let mut contents = Vec::new();
    for (variants, clusters) in by_content(&clusters, variants) {
        let Some(first) = variants.first() else { continue };
        let objects: Vec<Arc<Manifest>> = variants
            .iter()
            .flat_map(|variant| variant.manifests.iter().cloned())
            .collect();
        let gateways: BTreeSet<OurGatewayId> = variants
            .iter()
            .flat_map(|variant| variant.gateways.iter().copied())
            .collect();
        let here = gateways
            .first()
            .map_or(gateway, |gateway| input.gateways.get(*gateway));
        contents.push(Content {
            object: first.object,
            params: gateway.params,
            turn: match first.role {
                Role::Policy => Turn::Policies,
                Role::Route | Role::Object => Turn::Rest,
            },
            manifests: input.with_namespaces(here, objects),
            gateways: gateways.into_iter().collect(),
            clusters: Cow::Owned(clusters.into_owned()),
        });
    }
    drafted(input, contents)
}

/// The works of one Gateway, as each hub has it: one content for all clusters where the same is in its works. `variants` are
/// in the work of each Gateway, and `secrets` are those that it and its ListenerSets need.
pub(super) fn works_of_gateway<'a>(
    input: &Input<'a>,
    in_hubs: &[(OurGatewayId, &'a PlacedGateway<'a>)],
    variants: &Table<OurGatewayId, Vec<&Carried<'a>>>,
    secrets: &Table<OurGatewayId, ListenerSecrets<'a>>,
) -> (Findings, Vec<DraftedWork<'a, 'a>>) {
    let mut findings = Findings::new();
    let mut contents = Vec::new();
    for (id, gateway) in in_hubs.iter().copied() {
        if gateway.clusters.is_empty() {
            continue;
        }
        let secrets = secrets.get(id);
        let Some(own) = gateway_manifest(gateway, secrets, input.on_spokes, &mut findings) else {
            continue;
        };
        let own = Arc::new(own);
        for (variants, clusters) in by_content(&gateway.clusters, variants.get(id)) {
            let mut synced: Vec<(Role, &Arc<Manifest>)> = variants
                .iter()
                .flat_map(|variant| variant.manifests.iter().map(|manifest| (variant.role, manifest)))
                .collect();
            // The agent applies these kinds in the order of the manifests (docs/systems/ocm-work.md#the-work-agent): a
            // policy comes before what would be open without it.
            synced.sort_by_key(|(role, manifest)| {
                (
                    *role != Role::Policy,
                    *role,
                    &manifest.resource.group,
                    &manifest.kind,
                    &manifest.resource.namespace,
                    &manifest.resource.name,
                )
            });
            let policies = synced.partition_point(|(role, _)| *role == Role::Policy);
            let (policies, rest) = synced.split_at_checked(policies).unwrap_or_default();
            let mut objects: Vec<Arc<Manifest>> = Vec::new();
            if gateway.params.work_per != WorkPer::Object {
                objects.extend(secrets.manifests.iter().map(|(_, manifest)| Arc::clone(manifest)));
            }
            objects.extend(policies.iter().map(|(_, manifest)| Arc::clone(manifest)));
            objects.push(Arc::clone(&own));
            objects.extend(rest.iter().map(|(_, manifest)| Arc::clone(manifest)));
            contents.push(Content {
                object: gateway.gateway.object,
                params: gateway.params,
                turn: Turn::Rest,
                manifests: input.with_namespaces(gateway, objects),
                gateways: vec![id],
                clusters,
            });
        }
    }
    (findings, drafted(input, contents))
}

/// Groups the clusters of a Gateway, or of an object with a work of its own, by the variants that are in that work
/// there.
///
/// Almost always every variant goes to every cluster of the Gateway, and there is one group.
fn by_content<'c, 'v, 'a>(
    clusters: &'c [String],
    variants: &[&'v Carried<'a>],
) -> Vec<(Vec<&'v Carried<'a>>, Cow<'c, [String]>)> {
    let mut everywhere = Vec::new();
    let mut on_some: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, variant) in variants.iter().enumerate() {
        if *variant.clusters == *clusters {
            everywhere.push(position);
        } else {
            for cluster in variant.clusters.iter() {
                on_some.entry(cluster).or_default().push(position);
            }
        }
    }
    if on_some.is_empty() && !clusters.is_empty() {
        return vec![(variants.to_vec(), Cow::Borrowed(clusters))];
    }
    let mut groups: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
    for cluster in clusters {
        let mut there = everywhere.clone();
        there.extend(on_some.get(cluster.as_str()).into_iter().flatten());
        there.sort_unstable();
        groups.entry(there).or_default().push(cluster.clone());
    }
    groups
        .into_iter()
        .map(|(there, clusters)| {
            let there = there
                .iter()
                .filter_map(|position| variants.get(*position))
                .copied();
            (there.collect(), Cow::Owned(clusters))
        })
        .collect()
}
