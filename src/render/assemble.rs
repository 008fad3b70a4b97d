//! Assembles the works of every cluster.
//!
//! Owns: which manifests are in which work, in which order, and which clusters get it.
//! Flows in: an [`Input`]. Flows out: the [`Plan`], and findings for works that cannot be applied.
//! Must not know: why anything is synced; files.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::carried::{Carried, WorkOf, carried};
use super::collisions::{one_place, overwritten, two_contents};
use super::findings::{substitution, too_large, too_many};
use super::gateway::gateway_manifest;
use super::hub_objects;
use super::input::{Input, WorkKind};
use super::manifest::Manifest;
use super::names::work_name;
use super::namespaces::namespaces;
use super::plan::{Plan, Work, WorkId, summaries};
use super::rbac;
use super::replica_sets::{Template, replica_sets};
use super::secrets::{encrypted, gateway_secrets, rewrite, set_secrets, string_data};
use super::work::{WorkParts, wave, work_text};
use super::work_names::WorkNames;
use crate::api::config::HubObjects;
use crate::api::gateway::is_listener_set;
use crate::api::params::{Params, Role};
use crate::diagnostic::Findings;
use crate::hub::{OurGatewayId, Table};
use crate::object::Object;
use crate::progress::Stage;
use crate::sync::{PlacedGateway, SyncedObject, Variant};
use apimachinery::Identity;

/// The maximum number of planned works, each counted on every cluster that gets it: more than any OCM hub has, and as
/// many as a run can write in about ten seconds (docs/reference/limits.md).
const MOST_WORKS: usize = 2_000_000;

/// Plans the works of every cluster. Works that cannot be applied are findings.
///
/// `variants` are the versions of each synced object with their clusters, in the order of the objects.
pub(crate) fn render(input: &Input<'_>, variants: Vec<Vec<Variant>>, findings: &mut Findings) -> Plan {
    let mut assembly = Assembly {
        input,
        plan: Plan::default(),
        numbers: HashMap::new(),
        receiving: Vec::new(),
        planned: 0,
        first_wave: 0,
        rights: BTreeMap::new(),
        names: WorkNames::default(),
        templates: Vec::new(),
        lists: BTreeSet::new(),
        secrets_of_sets: BTreeMap::new(),
    };
    let carried = assembly.carried(variants, findings);
    let mut in_gateway_work: Table<OurGatewayId, Vec<&Carried<'_>>> = input.gateways.map(|_| Vec::new());
    let mut in_own_work: BTreeMap<Identity, (OurGatewayId, Vec<&Carried<'_>>)> = BTreeMap::new();
    for variant in &carried {
        match variant.work {
            WorkOf::Gateway(gateway) => in_gateway_work.get_mut(gateway).push(variant),
            WorkOf::Object(gateway) => {
                let work = in_own_work.entry(variant.object.identity());
                work.or_insert((gateway, Vec::new())).1.push(variant);
            }
        }
    }
    for (gateway, variants) in in_own_work.values() {
        assembly.object_works(variants, input.gateways.get(*gateway), findings);
    }
    let steps = input.progress.count(Stage::Rendering, input.gateways.len());
    for (id, gateway) in input.gateways.iter() {
        assembly.gateway_works((id, gateway), in_gateway_work.get(id), findings);
        steps.advance(1);
    }
    drop(steps);
    let is_refused = assembly.planned > MOST_WORKS;
    let rights = assembly.distribute();
    let mut plan = match input.settings.work_kind {
        WorkKind::ManifestWork => {
            assembly.rbac_works(rights);
            assembly.plan
        }
        WorkKind::ReplicaSet => {
            let sets = replica_sets(input.hub, input.gateways, &assembly.templates, findings);
            Plan {
                replica_sets: Some(sets),
                ..assembly.plan
            }
        }
    };
    for works in plan.clusters.values_mut() {
        // A part of a refused plan is not a plan.
        if is_refused {
            works.clear();
        }
        works.sort_by_key(|id| plan.works.get(*id).name.as_str());
    }
    let placed = input.gateways.rows().iter();
    plan.gateways = placed.filter(|gateway| !gateway.clusters.is_empty()).count();
    if input.settings.hub_objects == HubObjects::Annotated {
        plan.hub_objects = hub_objects::annotated(input, &carried, findings);
    }
    plan
}

/// The plan while it grows.
struct Assembly<'a> {
    input: &'a Input<'a>,
    plan: Plan,
    /// Each cluster's row in `receiving`. Clusters times works is a large number: each pair costs no more than this
    /// look-up.
    numbers: HashMap<String, usize>,
    receiving: Vec<(String, Received)>,
    /// How many works there are so far, each counted on every cluster that gets it.
    planned: usize,
    /// The first of Argo CD's waves that a work is in.
    first_wave: i64,
    /// What an agent needs a right to for a work, each distinct one with its number.
    rights: BTreeMap<rbac::Rights, usize>,
    names: WorkNames<'a>,
    /// With [`WorkKind::ReplicaSet`], what becomes the sets.
    templates: Vec<Template<'a>>,
    /// Their lists of clusters, each once.
    lists: BTreeSet<Arc<[String]>>,
    /// Copied Secrets that ListenerSets need, by their Gateway.
    secrets_of_sets: BTreeMap<OurGatewayId, Vec<Manifest>>,
}

/// The works that one cluster receives.
#[derive(Default)]
struct Received {
    works: Vec<WorkId>,
    /// The numbers of the rights that they need.
    rights: BTreeSet<usize>,
}

impl<'a> Assembly<'a> {
    /// What each synced object is in which works.
    fn carried(&mut self, variants: Vec<Vec<Variant>>, findings: &mut Findings) -> Vec<Carried<'a>> {
        let Input {
            synced,
            gateways,
            hub,
            ..
        } = *self.input;
        let mut all = Vec::new();
        for (synced, variants) in synced.iter().zip(variants) {
            if synced.value.get("sops").is_some() {
                findings.push(encrypted(synced.object));
                continue;
            }
            findings.extend(string_data(synced.object));
            let is_set = is_listener_set(&synced.object.api_version.group, &synced.object.kind);
            let by_kind = match synced.role {
                Role::Policy => &mut self.plan.policies,
                Role::Route if !is_set => &mut self.plan.routes,
                Role::Route | Role::Object => &mut self.plan.objects,
            };
            if !variants.is_empty() {
                let count = by_kind.entry(synced.object.kind.clone()).or_default();
                *count = count.saturating_add(1);
            }
            let mut carried = carried(synced, variants, gateways, hub);
            if is_set {
                self.secrets_of_set(synced, &mut carried, findings);
            }
            all.push((synced.object, carried));
        }
        two_contents(&all, findings);
        let all: Vec<Carried<'a>> = all.into_iter().flat_map(|(_, carried)| carried).collect();
        one_place(&all, findings);
        all
    }

    /// The Secrets that a ListenerSet needs, in the work of its Gateway, and its references to them.
    fn secrets_of_set(
        &mut self,
        set: &SyncedObject<'a>,
        carried: &mut [Carried<'a>],
        findings: &mut Findings,
    ) {
        let gateways = set.targets.iter().flat_map(|target| &target.gateways);
        for gateway in gateways.copied().collect::<BTreeSet<_>>() {
            let placed = self.input.gateways.get(gateway);
            if placed.clusters.is_empty() {
                continue;
            }
            let secrets = set_secrets(set.object, placed, self.input, findings);
            for manifest in carried.iter_mut().flat_map(|carried| &mut carried.manifests) {
                rewrite(&mut manifest.value, &secrets.rewrites);
            }
            // Several sets of a namespace may have one certificate.
            let known = self.secrets_of_sets.entry(gateway).or_default();
            for manifest in secrets.manifests {
                if !known.iter().any(|known| known.resource == manifest.resource) {
                    known.push(manifest);
                }
            }
        }
    }

    /// The works of a policy or route that is in no Gateway's: one content for all clusters that get the same of it. A
    /// policy that is merged with another one on its Gateway, and stands as it is beside its route, is one work there.
    fn object_works(
        &mut self,
        variants: &[&Carried<'a>],
        gateway: &PlacedGateway<'a>,
        findings: &mut Findings,
    ) {
        let clusters: BTreeSet<&String> = variants
            .iter()
            .flat_map(|variant| variant.clusters.iter())
            .collect();
        let clusters: Vec<String> = clusters.into_iter().cloned().collect();
        for (variants, clusters) in by_content(&clusters, variants) {
            let Some(first) = variants.first() else { continue };
            let objects: Vec<Manifest> = variants
                .iter()
                .flat_map(|variant| variant.manifests.iter().cloned())
                .collect();
            let gateways: BTreeSet<OurGatewayId> = variants
                .iter()
                .flat_map(|variant| variant.gateways.iter().copied())
                .collect();
            let mut manifests = namespaces(&objects, self.input.namespace_labels);
            manifests.extend(objects);
            let gateways: Vec<OurGatewayId> = gateways.into_iter().collect();
            self.add(
                first.object,
                manifests,
                gateway.params,
                (&gateways, clusters.as_ref()),
                findings,
            );
        }
    }

    /// The works of one Gateway: one content for all clusters where the same is synced with it.
    fn gateway_works(
        &mut self,
        (id, gateway): (OurGatewayId, &PlacedGateway<'a>),
        variants: &[&Carried<'_>],
        findings: &mut Findings,
    ) {
        if gateway.clusters.is_empty() || self.planned > MOST_WORKS {
            return;
        }
        let object = gateway.gateway.object;
        let secrets = gateway_secrets(gateway, self.input, findings);
        let Some(own) = gateway_manifest(gateway, &secrets, self.input.on_spokes, findings) else {
            return;
        };
        for (variants, clusters) in by_content(&gateway.clusters, variants) {
            let mut synced: Vec<(Role, &Manifest)> = variants
                .iter()
                .flat_map(|variant| variant.manifests.iter().map(|manifest| (variant.role, manifest)))
                .collect();
            // The agent applies by the rank of a kind, wherever an object stands
            // (docs/systems/ocm-work.md#the-work-agent): this order is for readers, and keeps a change of one object a
            // change of one place.
            synced.sort_by_key(|(role, manifest)| {
                (
                    *role,
                    &manifest.resource.group,
                    &manifest.kind,
                    &manifest.resource.namespace,
                    &manifest.resource.name,
                )
            });
            let mut objects = vec![own.clone()];
            objects.extend(secrets.manifests.iter().cloned());
            objects.extend(self.secrets_of_sets.get(&id).into_iter().flatten().cloned());
            objects.extend(synced.into_iter().map(|(_, manifest)| manifest.clone()));
            let mut manifests = namespaces(&objects, self.input.namespace_labels);
            manifests.extend(objects);
            let goes = (&[id][..], clusters.as_ref());
            self.add(object, manifests, gateway.params, goes, findings);
        }
    }

    /// One work with one content for a set of clusters.
    fn add(
        &mut self,
        object: &'a Object,
        manifests: Vec<Manifest>,
        params: &'a Params,
        (gateways, clusters): (&[OurGatewayId], &[String]),
        findings: &mut Findings,
    ) {
        let before = self.planned;
        self.planned = before.saturating_add(clusters.len());
        if self.planned > MOST_WORKS {
            if before <= MOST_WORKS {
                findings.push(too_many(object, MOST_WORKS));
            }
            return;
        }
        // The agent takes an object over that it finds under the name, whoever made it.
        findings.extend(overwritten(self.input.hub, object, &manifests, clusters));
        let parts = WorkParts {
            name: work_name(object),
            parent: Some(object.key()),
            wave: wave(object),
            manifests,
        };
        self.first_wave = self.first_wave.min(parts.wave.unwrap_or_default());
        if !self.names.claim(&parts.name, object, findings) {
            return;
        }
        let work = work_text(&parts, Some(params));
        if work.size > params.max_work_bytes {
            findings.push(too_large(object, work.size, params.max_work_bytes, &parts.name));
        }
        if work.guarded {
            findings.push(substitution(object, &parts.name, work.variable.as_deref()));
        }
        let rights = rbac::rights(&parts.manifests, params);
        let id = self.plan.works.push(Work {
            name: parts.name.clone(),
            text: work,
            manifests: summaries(&parts.manifests),
            rights: rbac::Rights::new(),
        });
        if self.input.settings.work_kind == WorkKind::ReplicaSet {
            let shared = self.shared(clusters);
            self.templates.push(Template {
                object,
                gateways: gateways.to_vec(),
                clusters: shared,
                params,
                parts,
            });
        }
        let next = self.rights.len();
        let rights = *self.rights.entry(rights).or_insert(next);
        for cluster in clusters {
            let known = self.numbers.get(cluster).copied();
            let row = known.unwrap_or(self.receiving.len());
            if known.is_none() {
                self.numbers.insert(cluster.clone(), row);
                self.receiving.push((cluster.clone(), Received::default()));
            }
            if let Some((_, received)) = self.receiving.get_mut(row) {
                received.works.push(id);
                received.rights.insert(rights);
            }
        }
    }

    /// A list of clusters that all works of the same ones share.
    fn shared(&mut self, clusters: &[String]) -> Arc<[String]> {
        if let Some(known) = self.lists.get(clusters) {
            return Arc::clone(known);
        }
        let list: Arc<[String]> = clusters.into();
        self.lists.insert(Arc::clone(&list));
        list
    }

    /// Gives each cluster its works, and collects the rights that the agents of each cluster need.
    fn distribute(&mut self) -> BTreeMap<rbac::Rights, Vec<String>> {
        let mut alike: BTreeMap<BTreeSet<usize>, Vec<String>> = BTreeMap::new();
        for (cluster, received) in std::mem::take(&mut self.receiving) {
            alike.entry(received.rights).or_default().push(cluster.clone());
            self.plan.clusters.insert(cluster, received.works);
        }
        let by_number: BTreeMap<usize, &rbac::Rights> = self
            .rights
            .iter()
            .map(|(rights, number)| (*number, rights))
            .collect();
        let mut by_content: BTreeMap<rbac::Rights, Vec<String>> = BTreeMap::new();
        for (numbers, clusters) in alike {
            let all = numbers.iter().filter_map(|number| by_number.get(number));
            let rights = all.flat_map(|rights| rights.iter().cloned()).collect();
            by_content.entry(rights).or_default().extend(clusters);
        }
        by_content
    }

    /// The RBAC work of each cluster; clusters with the same rights share one.
    fn rbac_works(&mut self, by_content: BTreeMap<rbac::Rights, Vec<String>>) {
        for (rights, clusters) in by_content {
            let parts = WorkParts {
                // An agent needs its rights with the first work.
                wave: Some(self.first_wave).filter(|wave| *wave < 0),
                ..rbac::work(rbac::ROLE_NAME, &rights)
            };
            let text = work_text(&parts, None);
            let id = self.plan.works.push(Work {
                name: parts.name,
                text,
                manifests: summaries(&parts.manifests),
                rights,
            });
            for cluster in clusters {
                self.plan.clusters.entry(cluster).or_default().push(id);
            }
        }
    }
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
