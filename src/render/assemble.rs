//! Assembles the works of every cluster. Which manifests are in which work, in which order, is decided for one Gateway, policy,
//! or route at a time, without the works of anything else, so that many can be made in parallel ([`DraftedWork`]); then the
//! works get their order, their names, which must be unique, and their clusters.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use apimachinery::names::NameRule;
use apimachinery::{Identity, pointer};
use indexmap::IndexSet;

use super::carried::{Carried, Content, Works, carried, one_place, overwritten, own_wave, two_contents};
use super::input::{Input, WorkKind};
use super::manifest::Manifest;
use super::names::{taken, work_name};
use super::plan::{Plan, Work, WorkId};
use super::replica_sets::replica_sets;
use super::secrets::{
    ListenerSecrets, encrypted, gateway_manifest, gateway_secrets, rewrite, set_secrets, string_data,
    substitution, too_large, too_many,
};
use super::work::WorkParts;
use super::{hub_objects, rbac};
use crate::api::config::HubObjects;
use crate::api::gateway::is_listener_set;
use crate::api::params::{Role, WorkPer};
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{OurGatewayId, Table};
use crate::object::Object;
use crate::object::well_known::WORK_NAME_ANNOTATION;
use crate::outcome::share;
use crate::output::Turn;
use crate::parallel;
use crate::progress::Stage;
use crate::sync::{PlacedGateway, SyncedObject, Variant};

/// One work with one content for a set of clusters, before anybody looks whether its name is free.
pub(super) struct DraftedWork<'a> {
    /// What it is made from.
    pub content: Content<'a>,
    /// The work.
    pub work: Work,
    /// What an agent needs a right to for it.
    pub rights: rbac::Rights,
    /// Findings about objects in its place: the agent takes an object over that it finds under the name, whoever made
    /// it.
    pub overwritten: Vec<Finding>,
}

impl<'a> Content<'a> {
    fn drafted(self, input: &Input<'a>) -> DraftedWork<'a> {
        let manifests = &self.parts.manifests;
        DraftedWork {
            work: Work::new(&self.parts, Some(self.params)),
            rights: rbac::rights(manifests, self.params),
            overwritten: overwritten(input.hub, self.object, manifests, &self.clusters),
            content: self,
        }
    }

    /// Whether both can share one work. A set takes its settings from the Gateway whose Placement it names.
    fn is_same(&self, other: &Self, kind: WorkKind) -> bool {
        // Clusters that share a work share its text, and the wave is an annotation in it
        // (docs/systems/gitops.md#keys-that-argo-cd-owns).
        let settings = |content: &Self| (content.parts.turn, content.parts.wave);
        settings(self) == settings(other)
            && (kind == WorkKind::ReplicaSet || self.params == other.params)
            && self.parts.manifests == other.parts.manifests
    }
}

/// The parts of the work of an object.
fn parts(object: &Object, turn: Turn, manifests: Vec<Arc<Manifest>>) -> WorkParts {
    WorkParts {
        name: work_name(object),
        parent: Some(object.key()),
        wave: own_wave(object),
        turn,
        manifests,
    }
}

/// The works of one name, one for each content: most hubs that ClusterOverlays make of one leave most Gateways as they are
/// written, and a work is made once for all of them.
fn drafted<'a>(input: &Input<'a>, contents: Vec<Content<'a>>) -> Vec<DraftedWork<'a>> {
    let mut distinct: Vec<(Content<'a>, Vec<Arc<[String]>>)> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    for content in contents {
        let mut hasher = DefaultHasher::new();
        for manifest in &content.parts.manifests {
            manifest.value.hash(&mut hasher);
        }
        // The hash only finds candidates: without it, each of a thousand hubs would be compared with all others.
        // What is not hashed, such as feedback rules, `is_same` compares.
        let positions = by_hash.entry(hasher.finish()).or_default();
        let is_same = |at: &&usize| {
            let earlier = distinct.get(**at);
            earlier.is_some_and(|(earlier, _)| earlier.is_same(&content, input.work_kind))
        };
        let same = positions.iter().find(is_same);
        match same.and_then(|at| distinct.get_mut(*at)) {
            Some((earlier, others)) => {
                earlier.gateways.extend(content.gateways);
                others.push(content.clusters);
            }
            None => {
                positions.push(distinct.len());
                distinct.push((content, Vec::new()));
            }
        }
    }
    let distinct = distinct.into_iter().flat_map(|(mut content, others)| {
        // Once, and not for each hub: there may be a thousand.
        if !others.is_empty() {
            let all = content
                .clusters
                .iter()
                .chain(others.iter().flat_map(|others| others.iter()));
            let mut all: Vec<String> = all.cloned().collect();
            all.sort_unstable();
            content.clusters = all.into();
        }
        input.sync_waves.split(content)
    });
    distinct.map(|content| content.drafted(input)).collect()
}

/// The own works of an object: clusters where it has the same content share one, with the parameters of the first Gateway
/// that brings it there. A policy that is merged with another one on its Gateway, and stands as it is beside its route, is
/// one work there.
pub(super) fn works_of_object<'a>(input: &Input<'a>, variants: &[&Carried<'a>]) -> Vec<DraftedWork<'a>> {
    let clusters = variants.iter().flat_map(|variant| variant.clusters.iter());
    let clusters: BTreeSet<&String> = clusters.collect();
    let clusters: Arc<[String]> = clusters.into_iter().cloned().collect();
    let mut contents = Vec::new();
    for (variants, clusters) in by_content(&clusters, variants) {
        let Some(first) = variants.first() else { continue };
        let objects = variants.iter().flat_map(|variant| &variant.manifests);
        let objects: Vec<Arc<Manifest>> = objects.cloned().collect();
        let gateways = variants.iter().flat_map(|variant| &variant.gateways);
        let gateways: BTreeSet<OurGatewayId> = gateways.copied().collect();
        let Some(gateway) = gateways.first() else { continue };
        let gateway = input.gateways.get(*gateway);
        let turn = match first.role {
            Role::Policy => Turn::Policies,
            Role::Route | Role::Object => Turn::Rest,
        };
        contents.push(Content {
            object: first.object,
            params: gateway.params,
            parts: parts(first.object, turn, input.with_namespaces(gateway, objects)),
            gateways: gateways.into_iter().collect(),
            clusters,
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
) -> (Findings, Vec<DraftedWork<'a>>) {
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
            let synced = variants.iter().flat_map(|variant| {
                let manifests = variant.manifests.iter();
                manifests.map(|manifest| (variant.role, manifest))
            });
            let mut synced: Vec<(Role, &Arc<Manifest>)> = synced.collect();
            // The agent applies these kinds in the order of the manifests (docs/systems/ocm-work.md#the-work-agent): a
            // policy comes before what would be open without it.
            synced.sort_by_key(|(role, manifest)| (*role != Role::Policy, *role, manifest.summary.names()));
            let (policies, rest): (Vec<_>, Vec<_>) =
                synced.into_iter().partition(|(role, _)| *role == Role::Policy);
            let mut objects: Vec<Arc<Manifest>> = Vec::new();
            // With `workPer: Object`, `carry_secrets` gives each Secret a work of its own.
            if gateway.params.work_per != WorkPer::Object {
                objects.extend(secrets.manifests.iter().map(|(_, manifest)| Arc::clone(manifest)));
            }
            objects.extend(policies.iter().map(|(_, manifest)| Arc::clone(manifest)));
            objects.push(Arc::clone(&own));
            objects.extend(rest.iter().map(|(_, manifest)| Arc::clone(manifest)));
            let object = gateway.gateway.object;
            contents.push(Content {
                object,
                params: gateway.params,
                parts: parts(object, Turn::Rest, input.with_namespaces(gateway, objects)),
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
fn by_content<'v, 'a>(
    clusters: &Arc<[String]>,
    variants: &[&'v Carried<'a>],
) -> Vec<(Vec<&'v Carried<'a>>, Arc<[String]>)> {
    let mut everywhere = Vec::new();
    let mut on_some: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, variant) in variants.iter().enumerate() {
        if variant.clusters == *clusters {
            everywhere.push(position);
        } else {
            for cluster in variant.clusters.iter() {
                on_some.entry(cluster).or_default().push(position);
            }
        }
    }
    if on_some.is_empty() && !clusters.is_empty() {
        return vec![(variants.to_vec(), Arc::clone(clusters))];
    }
    let mut groups: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
    for cluster in clusters.iter() {
        let mut there = everywhere.clone();
        there.extend(on_some.get(cluster.as_str()).into_iter().flatten());
        // In the order in which a cluster has them that gets all of them.
        there.sort_unstable();
        groups.entry(there).or_default().push(cluster.clone());
    }
    let groups = groups.into_iter().map(|(there, clusters)| {
        let there = there.iter().filter_map(|position| variants.get(*position));
        (there.copied().collect(), clusters.into())
    });
    groups.collect()
}

/// The work for a work on a cluster that gets it: more of them than any OCM hub has, and as many as a run can write in about
/// ten seconds (docs/reference/limits.md).
const STEPS_PER_WORK: u64 = 15;

/// How many Gateways or objects have their works made at a time: enough for all processors, and few enough that a plan
/// that is refused for its size is not made first.
const AT_ONCE: usize = 256;

/// Plans the works of every cluster. Works that cannot be applied are findings.
///
/// `variants` are the versions of each synced object with their clusters, in the order of the objects.
pub(crate) fn render(input: &Input<'_>, variants: Vec<Vec<Variant>>, findings: &mut Findings) -> Plan {
    let mut assembly = Assembly {
        input,
        plan: Plan::default(),
        receiving: HashMap::new(),
        stock: apimachinery::Work::default(),
        rights: IndexSet::new(),
        names: BTreeMap::new(),
        templates: Vec::new(),
        lists: HashSet::new(),
        secrets: input.gateways.map(|_| ListenerSecrets::default()),
    };
    assembly.secrets_of_gateways(findings);
    let mut carried = assembly.carried(variants, findings);
    assembly.carry_secrets(&mut carried);
    one_place(&carried, findings);
    let carried = carried;
    let mut in_gateway_work: Table<OurGatewayId, Vec<&Carried<'_>>> = input.gateways.map(|_| Vec::new());
    let mut in_own_work: BTreeMap<Identity, Vec<&Carried<'_>>> = BTreeMap::new();
    for variant in &carried {
        if let Some(gateway) = variant.works.of_gateway {
            in_gateway_work.get_mut(gateway).push(variant);
        }
        if variant.works.is_own {
            let own = in_own_work.entry(variant.object.identity());
            own.or_default().push(variant);
        }
    }
    let in_own_work: Vec<_> = in_own_work.into_values().collect();
    assembly.add_all(&in_own_work, findings, |variants| {
        (Findings::new(), works_of_object(input, variants))
    });
    let gateways = input.gateways.rows();
    let written = || gateways.iter().filter(|gateway| gateway.projection == 0);
    let steps = input.progress.count(Stage::Rendering, written().count());
    let mut gateways: BTreeMap<Identity, Vec<_>> = BTreeMap::new();
    for (id, gateway) in input.gateways.iter() {
        let in_hubs = gateways.entry(gateway.gateway.object.identity()).or_default();
        in_hubs.push((id, gateway));
    }
    let gateways: Vec<_> = gateways.into_values().collect();
    let secrets = std::mem::take(&mut assembly.secrets);
    assembly.add_all(&gateways, findings, |in_hubs| {
        let works = works_of_gateway(input, in_hubs, &in_gateway_work, &secrets);
        steps.advance(1);
        works
    });
    drop(steps);
    let is_refused = assembly.stock.is_spent();
    let rights = assembly.distribute();
    let mut plan = match input.work_kind {
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
    plan.gateways = written().filter(|gateway| !gateway.everywhere.is_empty()).count();
    if input.hub_objects == HubObjects::Annotated {
        plan.hub_objects = hub_objects::annotated(input, &carried, findings);
    }
    let by_name = || {
        for works in plan.clusters.values_mut() {
            // A part of a refused plan is not a plan.
            if is_refused {
                works.clear();
            }
            works.sort_by_key(|id| plan.works.get(*id).name.as_str());
        }
    };
    // To free thousands of objects takes as long as to make them.
    rayon::join(by_name, || parallel::map_each(carried, drop));
    plan.waves = input.sync_waves.waves.to_vec();
    plan
}

fn is_set(object: &Object) -> bool {
    is_listener_set(&object.api_version.group, &object.kind)
}

/// The plan while it grows.
struct Assembly<'a> {
    input: &'a Input<'a>,
    plan: Plan,
    /// By cluster. Clusters times works is a large number: each pair costs no more than this look-up.
    receiving: HashMap<String, Received>,
    /// For the works, each counted on every cluster that gets it.
    stock: apimachinery::Work,
    /// What an agent needs a right to for a work, each once.
    rights: IndexSet<rbac::Rights>,
    /// The names that are taken, and by whom.
    names: BTreeMap<String, &'a Object>,
    /// With [`WorkKind::ReplicaSet`], what becomes the sets.
    templates: Vec<Content<'a>>,
    /// Their lists of clusters, each once.
    lists: HashSet<Arc<[String]>>,
    /// The Secrets that each Gateway needs, with its ListenerSets.
    secrets: Table<OurGatewayId, ListenerSecrets<'a>>,
}

/// The works that one cluster receives.
#[derive(Default)]
struct Received {
    works: Vec<WorkId>,
    /// The numbers of the rights that they need.
    rights: BTreeSet<usize>,
    /// The first sync wave that one of their objects asks for, if that is before the waves of other objects.
    first_wave: i64,
}

/// What clusters whose agents need the same have in common: the rights, and the sync wave in which they need them.
type Needed = (rbac::Rights, i64);

impl<'a> Assembly<'a> {
    /// What each synced object is in which works.
    fn carried(&mut self, variants: Vec<Vec<Variant>>, findings: &mut Findings) -> Vec<Carried<'a>> {
        let Input {
            synced,
            gateways,
            hub,
            ..
        } = *self.input;
        let mut shipped = Vec::with_capacity(synced.len());
        // What ClusterOverlays change is the same object everywhere.
        let mut counted: BTreeSet<Identity> = BTreeSet::new();
        let is_projected = gateways.rows().iter().any(|gateway| gateway.projection > 0);
        for (synced, variants) in synced.iter().zip(variants) {
            if synced.value.get("sops").is_some() {
                findings.push(encrypted(synced.object));
                continue;
            }
            findings.extend(string_data(synced.object));
            let by_kind = match synced.role {
                Role::Policy => &mut self.plan.policies,
                Role::Route if !is_set(synced.object) => &mut self.plan.routes,
                Role::Route | Role::Object => &mut self.plan.objects,
            };
            if !variants.is_empty() && (!is_projected || counted.insert(synced.object.identity())) {
                let count = by_kind.entry(synced.object.kind.to_string()).or_default();
                *count = count.saturating_add(1);
            }
            shipped.push((synced, variants));
        }
        let sets = shipped
            .iter()
            .map(|(synced, _)| is_set(synced.object).then_some(*synced));
        let sets: Vec<_> = sets.collect();
        let mut all = parallel::map_each(shipped, |(synced, variants)| {
            (synced.object, carried(synced, variants, gateways, hub))
        });
        for (set, (_, carried)) in sets.into_iter().zip(&mut all) {
            if let Some(set) = set {
                self.secrets_of_set(set, carried, findings);
            }
        }
        two_contents(&all, findings);
        all.into_iter().flat_map(|(_, carried)| carried).collect()
    }

    fn secrets_of_gateways(&mut self, findings: &mut Findings) {
        let input = self.input;
        let placed: Vec<_> = input.gateways.iter().collect();
        let secrets = parallel::map(&placed, |(_, gateway)| {
            let mut found = Findings::new();
            let is_placed = !gateway.clusters.is_empty();
            let secrets = is_placed.then(|| gateway_secrets(gateway, input, &mut found));
            (secrets.unwrap_or_default(), found)
        });
        for ((id, _), (secrets, found)) in placed.into_iter().zip(secrets) {
            *self.secrets.get_mut(id) = secrets;
            findings.extend(found);
        }
    }

    /// Adds the Secrets that have works of their own, which several Gateways may share.
    fn carry_secrets(&self, carried: &mut Vec<Carried<'a>>) {
        let synced = carried.iter().filter(|carried| carried.object.is("", "Secret"));
        let synced = synced.flat_map(|carried| {
            let manifests = carried.manifests.iter();
            manifests.map(|manifest| (manifest.summary.identity(), carried.object.identity()))
        });
        let synced: BTreeSet<(Identity, Identity)> = synced.collect();
        // Two Secrets that would have one name stay two, which is a finding.
        let mut copies: BTreeMap<(usize, (Identity, Identity)), Carried<'a>> = BTreeMap::new();
        for (id, placed) in self.input.gateways.iter() {
            let works = Works::new(placed.params, &[id]);
            if !works.is_own {
                continue;
            }
            for (object, manifest) in &self.secrets.get(id).manifests {
                let copy = copies
                    .entry((
                        placed.projection,
                        (manifest.summary.identity(), object.identity()),
                    ))
                    .or_insert_with(|| Carried {
                        object,
                        sources: &[],
                        role: Role::Object,
                        // The work of each Gateway already contains the Secrets that it needs.
                        works: Works {
                            of_gateway: None,
                            ..works
                        },
                        gateways: Vec::new(),
                        manifests: vec![Arc::clone(manifest)],
                        clusters: Arc::default(),
                    });
                copy.gateways.push(id);
                let clusters: BTreeSet<&String> =
                    copy.clusters.iter().chain(placed.clusters.iter()).collect();
                copy.clusters = clusters.into_iter().cloned().collect();
            }
        }
        let copies = copies.into_iter().filter(|((_, copy), _)| !synced.contains(copy));
        carried.extend(copies.map(|(_, copy)| copy));
    }

    /// The Secrets that a ListenerSet needs, in the works of its Gateway, and its references to them.
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
                rewrite(&mut Arc::make_mut(manifest).value, &secrets.rewrites);
            }
            // Several sets of a namespace may have one certificate.
            let known = &mut self.secrets.get_mut(gateway).manifests;
            for (secret, manifest) in secrets.manifests {
                let is_same = |known: &Manifest| known.summary.identifier() == manifest.summary.identifier();
                if !known.iter().any(|(_, known)| is_same(known)) {
                    known.push((secret, manifest));
                }
            }
        }
    }

    /// Makes works from each of many things, some of them at a time in parallel, and adds them in the order of the things.
    fn add_all<'t, T: Sync>(
        &mut self,
        things: &'t [T],
        findings: &mut Findings,
        works_of: impl Fn(&'t T) -> (Findings, Vec<DraftedWork<'a>>) + Sync,
    ) {
        for things in things.chunks(AT_ONCE) {
            for (found, works) in parallel::map(things, &works_of) {
                if self.stock.is_spent() {
                    return;
                }
                findings.extend(found);
                for work in works {
                    self.add(work, findings);
                }
            }
        }
    }

    /// One work with one content for a set of clusters.
    fn add(&mut self, drafted: DraftedWork<'a>, findings: &mut Findings) {
        let (mut content, work) = (drafted.content, drafted.work);
        let (object, params) = (content.object, content.params);
        let was_spent = self.stock.is_spent();
        if !self.stock.pay(content.clusters.len(), STEPS_PER_WORK) {
            if !was_spent {
                findings.push(too_many(object));
            }
            return;
        }
        findings.extend(drafted.overwritten);
        let (name, text) = (&work.name, &work.text);
        // Two works of one name would be one file, in which the later one replaces the earlier one.
        if !self.claim(name, object, findings) {
            return;
        }
        if text.size > params.max_work_bytes {
            findings.push(too_large(object, text.size, params, name));
        }
        if text.guarded {
            findings.push(substitution(object, name, text.variable.as_deref()));
        }
        let id = self.plan.works.push(work);
        let (rights, _) = self.rights.insert_full(drafted.rights);
        let first_wave = own_wave(object).unwrap_or_default();
        for cluster in content.clusters.iter() {
            let received = match self.receiving.get_mut(cluster) {
                Some(received) => received,
                None => self.receiving.entry(cluster.clone()).or_default(),
            };
            received.works.push(id);
            received.rights.insert(rights);
            received.first_wave = received.first_wave.min(first_wave);
        }
        if self.input.work_kind == WorkKind::ReplicaSet {
            content.clusters = share(&mut self.lists, content.clusters);
            self.templates.push(content);
        }
    }

    /// Takes a name for an object, also several times for its several contents. `false`, and a finding, when
    /// another object has it, or when Kubernetes or our own files are in its way.
    fn claim(&mut self, name: &str, object: &'a Object, findings: &mut Findings) -> bool {
        if let Some(owner) = self.names.get(name) {
            let ours = owner.identity() == object.identity();
            if !ours {
                findings.push(taken(&format!("work `{name}`"), [object, owner], place));
            }
            return ours;
        }
        // `kustomization.yaml` is the list of the directory.
        if name == rbac::WORK_NAME || name == "kustomization" {
            findings.push(reserved(name, object));
            return false;
        }
        if let Err(error) = NameRule::Rfc1123Subdomain.check(name) {
            let message = format!("`{name}` cannot be the name of a work");
            let help = format!("give it another name with the annotation `{WORK_NAME_ANNOTATION}`");
            let finding = Finding::new(Code::OBJECT_INVALID_NAME, place(object), message);
            findings.push(finding.note(error.to_string()).help(help));
            return false;
        }
        self.names.insert(name.to_owned(), object);
        true
    }

    /// Gives each cluster its works, and collects the rights that the agents of each cluster need.
    fn distribute(&mut self) -> BTreeMap<Needed, Vec<String>> {
        let mut alike: BTreeMap<(BTreeSet<usize>, i64), Vec<String>> = BTreeMap::new();
        // Works are numbered by what follows, and no result may depend on the order of a hash map.
        let receiving: BTreeMap<String, Received> = std::mem::take(&mut self.receiving).into_iter().collect();
        for (cluster, received) in receiving {
            let wave = self.input.sync_waves.on_cluster(&cluster, received.first_wave);
            let needed = (received.rights, wave);
            alike.entry(needed).or_default().push(cluster.clone());
            self.plan.clusters.insert(cluster, received.works);
        }
        let mut by_content: BTreeMap<Needed, Vec<String>> = BTreeMap::new();
        for ((numbers, wave), clusters) in alike {
            let all = numbers.iter().filter_map(|number| self.rights.get_index(*number));
            let rights = all.flat_map(|rights| rights.iter().cloned()).collect();
            let needed = by_content.entry((rights, wave)).or_default();
            needed.extend(clusters);
        }
        by_content
    }

    /// The RBAC work of each cluster; clusters with the same rights share one.
    fn rbac_works(&mut self, by_content: BTreeMap<Needed, Vec<String>>) {
        for ((rights, wave), clusters) in by_content {
            let parts = WorkParts {
                // An agent needs its rights with the first work.
                wave: Some(wave).filter(|wave| *wave != 0),
                ..rbac::work(rbac::ROLE_NAME, &rights)
            };
            let work = Work::new(&parts, None);
            let id = self.plan.works.push(Work { rights, ..work });
            for cluster in clusters {
                self.plan.clusters.entry(cluster).or_default().push(id);
            }
        }
    }
}

fn place(object: &Object) -> crate::diagnostic::Place {
    if object.annotation(WORK_NAME_ANNOTATION).is_some() {
        object.place(&pointer::child("/metadata/annotations", WORK_NAME_ANNOTATION))
    } else {
        object.place("/metadata/name")
    }
}

fn reserved(name: &str, object: &Object) -> Finding {
    let message = format!("the work name `{name}` is reserved for spokewright");
    let help = format!("write another name into the annotation `{WORK_NAME_ANNOTATION}`");
    Finding::new(Code::WORK_NAME_TAKEN, place(object), message).help(help)
}
