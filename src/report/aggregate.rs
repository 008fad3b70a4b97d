//! The hub statuses that follow from what the clusters report, and the rules by which what many of them say about one object
//! becomes one status (docs/systems/mgc.md#status-aggregation).

mod instance;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use kube_json::{Text, Value};
use schemars::JsonSchema;
use serde::Serialize;

use super::exported::{AppliedWork, ExportedWork, ExportedWorks, Feedback, Ownership, Parents, Pool};
use crate::api::condition::{Condition, ConditionMessage};
use crate::api::gateway::Gateway;
use crate::api::ocm_work::REPLICA_SET_LABEL;
use crate::diagnostic::{Code, DocumentId, Finding, Findings};
use crate::hub::{Hub, OurClass, OurGateway, Ours, Table};
use crate::object::{Object, Origin};
use crate::outcome::status::{UNKNOWN, class_status, handled, no_listeners, programmed_on};
use crate::outcome::{
    Address, FeedbackOnCluster, ListenerOnCluster, ManifestProblem, ObjectStatus, OnCluster, PolicyView,
    StatusGroup, UnknownOnCluster, WorkOnCluster, WorkState,
};
use crate::render::{
    MANIFEST_KEY_LABEL, Plan, RBAC_WORK, Rights, WorkId, is_agents_own, manifest_key, policy_conditions,
};
use instance::{
    Instance, PlacedWork, PlannedWork, Resources, judged, lacking, of_folders, remains, state_of,
};

/// Everything that statuses are aggregated from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aggregation<'p, 'a> {
    /// What should be on each cluster.
    pub plan: &'p Plan,
    /// The exported works.
    pub works: &'p ExportedWorks,
    /// The hub.
    pub hub: &'p Hub,
    /// What is ours.
    pub ours: &'p Ours<'a>,
    /// The policies.
    pub view: &'p PolicyView<'p>,
}

/// What the works report.
#[derive(Debug, Default)]
pub struct Aggregated {
    /// GatewayClasses, Gateways, and the policies that are on some cluster; in each group by locator.
    pub objects: Vec<ObjectStatus>,
    /// The works themselves.
    pub works: WorkSummary,
    /// How far the waves are, in their order.
    pub waves: Vec<WaveProgress>,
}

/// How far a wave is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaveProgress {
    /// The name of its decision group, or its number.
    pub name: String,
    /// How many clusters are in it.
    pub clusters: usize,
    /// How many of them have exactly what is planned.
    pub done: usize,
    /// The name of the first wave before it that is not done, if neither is this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
}

/// How many works are as they should be, and which are not.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkSummary {
    /// Works of the plan.
    pub planned: usize,
    /// Works that nothing is wrong with: applied as they are rendered now, with each of their manifests, and reported
    /// in full.
    pub applied: usize,
    /// What is wrong with the others, and works that are not planned; by cluster and name, then by state. A work may
    /// have several.
    pub problems: Vec<WorkProblem>,
}

/// A work that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkProblem {
    /// The cluster.
    pub cluster: String,
    /// `metadata.name`.
    pub work: String,
    /// Whether it is a work of the plan.
    #[serde(skip)]
    pub is_planned: bool,
    /// What is wrong.
    pub state: WorkState,
    /// The agent's message about the work, or what is different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The objects that it is about, if it is not about the whole work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub manifests: Vec<ManifestProblem>,
    /// What to do about it, if that is not obvious.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'static str>,
    /// `namespace/name` of the hub object that it was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// The exported works by cluster and by their names in the plan.
type Exported<'x> = BTreeMap<(&'x str, &'x str), &'x ExportedWork>;

/// Where the object that a manifest was made from is in the input: that is how the plan knows it.
type HubPlace<'x> = (DocumentId, &'x str);

/// What is on clusters of each object of the hub, by cluster.
type Instances<'x> = HashMap<HubPlace<'x>, Vec<Instance<'x>>>;

fn place(origin: &Origin) -> HubPlace<'_> {
    (origin.document, &origin.pointer)
}

impl Aggregation<'_, '_> {
    /// Aggregates. `admits` says which clusters are looked at.
    pub(crate) fn aggregate(&self, admits: impl Fn(&str) -> bool, findings: &mut Findings) -> Aggregated {
        let works_of_plan = self.plan.works.rows().iter();
        let by_key = works_of_plan.map(|work| (manifest_key(&work.name), work.name.as_str()));
        let by_key: HashMap<String, &str> = by_key.collect();
        let mut exported: Exported<'_> = BTreeMap::new();
        for work in &self.works.works {
            let name = planned_name(&work.object, &by_key);
            let key = (work.object.namespace_or_empty(), name);
            // Several sets may make one: then the one that is further from done counts.
            let counted = exported.entry(key).or_insert(work);
            if !std::ptr::eq(*counted, work.as_ref()) && progress(work) < progress(counted) {
                *counted = work;
            }
        }
        let planned = self.plan.works.map(|_| OnceCell::new());
        let mut placed = self.placed_works(&exported, &planned);
        let gone = self.left_behind(&mut placed, &exported, &admits, findings);
        self.deletable(&mut placed);
        let works = self.summary(&placed, &exported, gone);
        let instances = self.instances(&placed);
        let mut objects: Vec<ObjectStatus> = self.ours.classes.values().map(class_status).collect();
        for ours in self.ours.gateways.rows() {
            let instances = instances.get(&place(&ours.gateway.object.origin));
            let instances = instances.map(Vec::as_slice).unwrap_or_default();
            if let Some(class) = self.ours.classes.get(&*ours.gateway.class_name) {
                objects.push(gateway_status(&ours.gateway, class, instances, findings));
            }
        }
        objects.extend(self.routes(&instances));
        objects.extend(self.policies(&instances, admits));
        objects.sort_by(|a, b| (a.group, &a.object).cmp(&(b.group, &b.object)));
        let waves = self.waves(&works);
        Aggregated {
            objects,
            works,
            waves,
        }
    }

    fn waves(&self, works: &WorkSummary) -> Vec<WaveProgress> {
        let problems = works.problems.iter();
        let in_the_way = problems.filter(|problem| problem.state.is_in_the_way());
        let not_done: HashSet<&String> = in_the_way.map(|problem| &problem.cluster).collect();
        let mut waves: Vec<WaveProgress> = Vec::new();
        for wave in &self.plan.waves {
            let planned = wave.clusters.iter();
            let planned = planned.filter(|cluster| self.plan.clusters.contains_key(*cluster));
            let clusters = planned.clone().count();
            let done = planned.filter(|cluster| !not_done.contains(cluster)).count();
            let first = waves.iter().find(|earlier| earlier.done < earlier.clusters);
            let first = first.filter(|_| done < clusters);
            waves.extend((clusters > 0).then(|| WaveProgress {
                name: wave.name.clone(),
                clusters,
                done,
                waiting_for: first.map(|first| first.name.clone()),
            }));
        }
        waves
    }

    /// Every planned work on every cluster, by cluster. `planned` keeps what each distinct one should hold.
    fn placed_works<'x>(
        &'x self,
        exported: &'x Exported<'x>,
        planned: &'x Table<WorkId, OnceCell<PlannedWork>>,
    ) -> Vec<PlacedWork<'x>> {
        let mut placed = Vec::with_capacity(self.plan.work_count());
        for (cluster, works) in &self.plan.clusters {
            for id in works {
                let work = self.plan.works.get(*id);
                let exported = exported.get(&(cluster.as_str(), work.name.as_str())).copied();
                let planned = exported.map(|_| planned.get(*id).get_or_init(|| PlannedWork::read(work)));
                // What a set's own RBAC grants is not what a cluster's would (docs/guides/replica-sets.md).
                let of_set = exported.is_some_and(|work| work.object.label(REPLICA_SET_LABEL).is_some());
                let comparable = work.name != RBAC_WORK || !of_set;
                placed.push(PlacedWork {
                    cluster,
                    id: *id,
                    name: &work.name,
                    planned,
                    exported,
                    faults: judged(exported, planned.filter(|_| comparable)),
                });
            }
        }
        placed
    }

    /// Adds to the works what their agents applied and no work has any more. What was applied for works that are not
    /// planned is the result.
    fn left_behind(
        &self,
        placed: &mut [PlacedWork<'_>],
        exported: &Exported<'_>,
        admits: &impl Fn(&str) -> bool,
        findings: &mut Findings,
    ) -> Vec<WorkProblem> {
        let mut by_cluster: BTreeMap<&str, Vec<&ExportedWork>> = BTreeMap::new();
        for ((cluster, _), work) in exported {
            by_cluster.entry(cluster).or_default().push(work);
        }
        let called = |name: &str| {
            let clusters = by_cluster.iter();
            let clusters = clusters.filter(|(_, works)| works.iter().any(|work| work.object.name == name));
            clusters.map(|(cluster, _)| *cluster).collect::<Vec<&str>>()
        };
        let of_folders = of_folders(&self.hub.spokes);
        let of_folders = of_folders.iter().map(|(cluster, applied)| (*cluster, applied));
        let mut applied: Vec<(&str, &AppliedWork)> = of_folders.collect();
        for work in &self.works.applied {
            // Among the exported works, those that can only be of one cluster.
            match called(&work.work).as_slice() {
                [cluster] => applied.push((cluster, work)),
                _ => findings.push(of_unknown_cluster(&work.object)),
            }
        }
        let mut gone = Vec::new();
        for (cluster, applied) in applied.into_iter().filter(|(cluster, _)| admits(cluster)) {
            let works = by_cluster.get(cluster).map(Vec::as_slice).unwrap_or_default();
            let of_work = works.iter().find(|work| work.object.name == applied.work);
            let has = |resource: [&str; 4]| {
                works.iter().any(|work| work.has(resource)) || self.plans(cluster, resource)
            };
            let remains = remains(applied, has);
            // An agent that has not seen the newest spec has had no reason to delete anything.
            let waits = of_work.is_some_and(|work| work.unobserved.is_some() || work.is_deleting);
            if remains.is_empty() || waits {
                continue;
            }
            let is_of = |work: &&mut PlacedWork<'_>| {
                let name = work.exported.map_or(work.name, |exported| &exported.object.name);
                work.cluster == cluster && name == applied.work
            };
            match placed.iter_mut().find(is_of) {
                Some(work) => work.add(WorkState::LeftBehind, None, remains),
                None if applied.is_managed => gone.push(WorkProblem {
                    manifests: remains,
                    ..problem(cluster, &applied.work, WorkState::LeftBehind)
                }),
                None => {}
            }
        }
        gone
    }

    /// Whether the plan ships a resource to a cluster.
    fn plans(&self, cluster: &str, resource: [&str; 4]) -> bool {
        let mut manifests = self.plan.works_of(cluster).flat_map(|work| &work.manifests);
        manifests.any(|manifest| manifest.identifier() == resource)
    }

    /// Adds to the works of RBAC which deletions they lack: of what the parameters of the Gateways there list.
    fn deletable(&self, placed: &mut [PlacedWork<'_>]) {
        // Another work than `gateway-rbac` may grant it, too.
        let mut deletable: BTreeMap<&str, Rights> = BTreeMap::new();
        for work in &self.works.works {
            if let Some(rights) = &work.deletable {
                let deletable = deletable.entry(work.object.namespace_or_empty()).or_default();
                deletable.extend(rights.iter().cloned());
            }
        }
        let ours = self.ours.gateways.rows().iter();
        let ours = ours.map(|ours| (place(&ours.gateway.object.origin), ours));
        let ours: HashMap<HubPlace<'_>, &OurGateway<'_>> = ours.collect();
        let mut wanted: BTreeMap<&str, Resources<'_>> = BTreeMap::new();
        for work in placed.iter() {
            let manifests = self.plan.works.get(work.id).manifests.iter();
            let origins = manifests.flat_map(|manifest| &manifest.origins);
            for origin in origins {
                if let Some(ours) = ours.get(&place(origin)) {
                    let custom = ours.params.listed();
                    let custom = custom.filter(|(group, resource)| !is_agents_own(group, resource));
                    wanted.entry(work.cluster).or_default().extend(custom);
                }
            }
        }
        for work in placed.iter_mut().filter(|work| work.name == RBAC_WORK) {
            let remaining = work.exported.filter(|exported| !exported.is_deleting);
            let wanted = wanted.get(work.cluster).filter(|_| remaining.is_some());
            if let Some(lacking) = wanted.and_then(|wanted| lacking(deletable.get(work.cluster), wanted)) {
                work.add(WorkState::MayNotDelete, Some(lacking), Vec::new());
            }
        }
    }

    fn summary(
        &self,
        placed: &[PlacedWork<'_>],
        exported: &Exported<'_>,
        gone: Vec<WorkProblem>,
    ) -> WorkSummary {
        let wrong = placed.iter().flat_map(|work| {
            work.faults.iter().map(|fault| WorkProblem {
                message: fault.because.clone(),
                manifests: fault.manifests.clone(),
                is_planned: true,
                ..problem(work.cluster, work.name, fault.state)
            })
        });
        let mut problems: Vec<WorkProblem> = wrong.chain(self.not_planned(exported)).chain(gone).collect();
        problems.sort_by(|a, b| (&a.cluster, &a.work, a.state).cmp(&(&b.cluster, &b.work, b.state)));
        WorkSummary {
            planned: placed.len(),
            applied: placed.iter().filter(|work| work.faults.is_empty()).count(),
            problems,
        }
    }

    fn instances<'x>(&'x self, placed: &'x [PlacedWork<'x>]) -> Instances<'x> {
        let mut instances = Instances::new();
        for work in placed {
            // From the plan to the works, never the other way: what is missing is part of the answer, and a manifest
            // there bears the names of the spoke, from which no hub object can be told.
            for (position, manifest) in self.plan.works.get(work.id).manifests.iter().enumerate() {
                for origin in &manifest.origins {
                    instances.entry(place(origin)).or_default().push(Instance {
                        work,
                        position,
                        manifest: work.exported.and_then(|exported| exported.manifest(manifest)),
                    });
                }
            }
        }
        instances
    }

    /// Works of ours, or of MGC, that the plan places nowhere.
    fn not_planned(&self, exported: &Exported<'_>) -> Vec<WorkProblem> {
        let planned = self.plan.placed();
        let planned: HashSet<_> = planned
            .map(|(cluster, work)| (cluster, work.name.as_str()))
            .collect();
        let others = exported.iter().filter(|(key, _)| !planned.contains(*key));
        let parents = Parents::new(self.hub);
        let problems = others.filter_map(|((cluster, name), work)| {
            let state = match parents.owner(&work.object) {
                Ownership::Ours => WorkState::Stale,
                Ownership::OfSet if parents.knows_key(&work.object) => WorkState::Stale,
                Ownership::Unclaimed | Ownership::OfSet => WorkState::Unclaimed,
                Ownership::Foreign => return None,
            };
            Some(WorkProblem {
                parent: work.parent().map(str::to_owned),
                ..problem(cluster, name, state)
            })
        });
        problems.collect()
    }

    /// The routes that are on some cluster: with the conditions that the parameters' feedback brings back.
    fn routes(&self, instances: &Instances<'_>) -> Vec<ObjectStatus> {
        let shipped = self.view.routes.iter();
        let statuses = shipped.filter_map(|(_, route)| {
            let instances = instances.get(&place(&route.object.origin))?;
            let reported = |kind: &&str| instances.iter().any(|instance| instance.reports(kind));
            let kinds = ["Accepted", "ResolvedRefs", "Programmed"].into_iter();
            let kinds: Vec<&str> = kinds.filter(reported).collect();
            let conditions = kinds.iter().map(|kind| policy_condition(kind, instances, &[]));
            let clusters = instances.iter().map(Instance::cluster);
            Some(ObjectStatus {
                shipped_to: clusters.map(str::to_owned).collect(),
                works: works(instances, &kinds),
                conditions: conditions.collect(),
                feedback: feedback(instances, &[]),
                unknown: unknown(instances),
                ..ObjectStatus::new(route.object.identity().locator(), StatusGroup::Route)
            })
        });
        statuses.collect()
    }

    /// The policies that are on some cluster, or kept from one by what lives there.
    fn policies(&self, instances: &Instances<'_>, admits: impl Fn(&str) -> bool) -> Vec<ObjectStatus> {
        let mut statuses = Vec::new();
        for (id, policy) in self.view.hub.policies.iter() {
            let instances = instances.get(&place(&policy.object.origin)).map(Vec::as_slice);
            let mut overridden = self.view.overridden_on(id);
            overridden.retain(|(cluster, _)| admits(cluster));
            if instances.is_none() && overridden.is_empty() {
                continue;
            }
            let instances = instances.unwrap_or_default();
            let reports = policy_conditions(&policy.object.group_kind(), self.hub);
            let mut status = ObjectStatus::new(self.view.hub.locator(id).to_string(), StatusGroup::Policy);
            let mut names = Vec::new();
            let mut ours = Vec::new();
            // Where nothing says whether it is in effect, the clusters say that it is not.
            if reports.outcome.is_none() {
                let outcomes = overridden.iter();
                let outcomes =
                    outcomes.map(|(name, condition)| OnCluster::new(name, Arc::new(condition.clone())));
                status.on_clusters.extend(outcomes);
            }
            let conditions = ["Accepted", "Attached", "Enforced", "Programmed"];
            // Of such a kind on no cluster, there is nothing to accept.
            let is_there = !instances.is_empty() || reports.outcome.is_some();
            for kind in conditions.into_iter().filter(|_| is_there) {
                // What the kind's feedback rules ask for is listed also where nobody has answered yet.
                let is_asked = reports.acceptance == Some(kind) || reports.outcome == Some(kind);
                if is_asked {
                    let name = kind.to_lowercase();
                    ours.extend([format!("{name}Reason"), name]);
                }
                let reported = |instance: &Instance<'_>| {
                    let manifest = instance.manifest;
                    manifest.is_some_and(|manifest| manifest.get(kind).is_some())
                };
                if is_asked || instances.iter().any(reported) {
                    names.push(kind);
                    let is_acceptance = reports.acceptance == Some(kind);
                    let kept = if is_acceptance { &[][..] } else { &overridden };
                    status.conditions.push(policy_condition(kind, instances, kept));
                }
            }
            status.feedback = feedback(instances, &ours);
            status.unknown = unknown(instances);
            status.works = works(instances, &names);
            statuses.push(status);
        }
        statuses
    }
}

/// What a state is called.
pub(super) const fn word(state: WorkState) -> &'static str {
    match state {
        WorkState::Missing => "missing",
        WorkState::Deleting => "being deleted",
        WorkState::Outdated => "outdated",
        WorkState::Unobserved => "not observed yet",
        WorkState::Conflict => "in conflict",
        WorkState::NotApplied => "not applied",
        WorkState::LeftBehind => "leaving something behind",
        WorkState::MayNotDelete => "without a right to delete",
        WorkState::Unavailable => "not available",
        WorkState::Unread => "not read",
        WorkState::Applied => "applied",
        WorkState::Stale => "stale",
        WorkState::Unclaimed => "unclaimed",
    }
}

/// What to do about a state, if that is not obvious.
pub(super) const fn help(state: WorkState) -> Option<&'static str> {
    Some(match state {
        WorkState::Conflict => {
            "let the manager there release the fields, or let the hub take them over: `serverSideApply.force: true` in the parameters"
        }
        WorkState::LeftBehind => {
            "its agent needs the right to delete it: apply the rendered `gateway-rbac`; if the agent has the right, a finalizer keeps the object"
        }
        WorkState::MayNotDelete => {
            "apply the rendered `gateway-rbac`; the agent then deletes what it could not delete before"
        }
        WorkState::Unread => {
            "turn on the feature gate RawFeedbackJsonString, without which agents report no lists, or turn off `rawFeedback`"
        }
        WorkState::Stale => "`spokewright prune-list --works` prints it as input for `kubectl delete -f -`",
        WorkState::Unclaimed => {
            "if no other input renders into this hub, `spokewright prune-list --works` lists it with `--sole`"
        }
        _ => return None,
    })
}

/// A problem that nothing more is reported about.
fn problem(cluster: &str, work: &str, state: WorkState) -> WorkProblem {
    WorkProblem {
        cluster: cluster.to_owned(),
        work: work.to_owned(),
        is_planned: false,
        state,
        message: None,
        manifests: Vec::new(),
        help: help(state),
        parent: None,
    }
}

/// An AppliedManifestWork lives on a cluster, and does not say on which.
fn of_unknown_cluster(object: &Object) -> Finding {
    let message = format!("the cluster of {} is unknown", object.identity());
    Finding::new(Code::SPOKE_UNKNOWN_CLUSTER, object.place("/metadata/name"), message).help(
        "export it into the directory of its cluster: `spokes/<cluster>/applied.yaml`, or another directory with `--spokes`",
    )
}

/// How far a work is, by itself: the less, the further from done.
fn progress(work: &ExportedWork) -> WorkState {
    state_of(&judged(Some(work), None))
}

/// The name that the plan knows a work by. One that the hub made from a ManifestWorkReplicaSet has a generated name,
/// and the set's labels (docs/systems/ocm-work.md#works-of-a-set).
fn planned_name<'x>(work: &'x Object, by_key: &HashMap<String, &'x str>) -> &'x str {
    let Some(set) = work.label(REPLICA_SET_LABEL) else {
        return &work.name;
    };
    match work.label(MANIFEST_KEY_LABEL) {
        Some(key) => by_key.get(key).copied().unwrap_or(&work.name),
        None => match set.split_once('.') {
            Some((_, set)) if set.starts_with(RBAC_WORK) => RBAC_WORK,
            _ => &work.name,
        },
    }
}

/// The reason of a condition that is not True everywhere: reasons of clusters are not aggregated
/// (docs/systems/mgc.md#status-aggregation).
const NOT_EVERYWHERE: &str = "NotTrueOnAllClusters";

/// Address types of Gateway API, and what they are called on the hub
/// (docs/systems/mgc.md#status-aggregation). Others are dropped.
const ADDRESS_TYPES: [(&str, &str); 2] = [
    ("IPAddress", "kuadrant.io/MultiClusterIPAddress"),
    ("Hostname", "kuadrant.io/MultiClusterHostnameAddress"),
];

/// The status of a Gateway (docs/systems/mgc.md#gateway-conditions).
///
/// On the hub, a Gateway's controller sets Accepted and Programmed from the works alone; here every cluster must report
/// them, too (docs/systems/why-we-differ.md#clusters-that-say-nothing).
fn gateway_status(
    gateway: &Gateway<'_>,
    class: &OurClass<'_>,
    instances: &[Instance<'_>],
    findings: &mut Findings,
) -> ObjectStatus {
    let on_all = |kind: &str| {
        let says = instances.iter();
        everywhere(
            kind,
            says.map(|instance| (instance.cluster(), instance.against(kind))),
        )
    };
    // One cluster without the work, and what the others say does not count: that is MGC's word for it
    // (docs/systems/mgc.md#gateway-conditions).
    let applied = instances.iter().all(|instance| instance.obstacle().is_none());
    let programmed = if gateway.listeners.is_empty() {
        no_listeners()
    } else if instances.is_empty() || !applied {
        Condition::new("Programmed", "Unknown", "Pending", UNKNOWN.to_owned())
    } else {
        on_all("Programmed").unwrap_or_else(|| {
            let clusters = instances.iter().map(|instance| instance.cluster().to_owned());
            programmed_on(&clusters.collect::<Vec<_>>())
        })
    };
    ObjectStatus {
        conditions: vec![on_all("Accepted").unwrap_or_else(|| handled(class)), programmed],
        addresses: addresses(instances, findings),
        listeners: listeners(gateway, instances, findings),
        unknown: unknown(instances),
        works: works(instances, &["Accepted", "Programmed"]),
        ..ObjectStatus::new(gateway.object.identity().locator(), StatusGroup::Gateway)
    }
}

/// A condition of a policy: True only where every cluster says so. `kept_from` are clusters where a spoke-local
/// policy takes its place, so that nothing is there to report.
fn policy_condition(kind: &str, instances: &[Instance<'_>], kept_from: &[(&str, Condition)]) -> Condition {
    let carried: HashSet<&str> = instances.iter().map(Instance::cluster).collect();
    let others = kept_from.iter().filter(|(cluster, _)| !carried.contains(cluster));
    let others = others.map(|(cluster, local)| (*cluster, Some(local.message.to_string())));
    let instances = instances.iter();
    let says = instances.map(|instance| (instance.cluster(), instance.against(kind)));
    let mut says: Vec<(&str, Option<String>)> = says.chain(others).collect();
    says.sort_by_key(|(cluster, _)| *cluster);
    let mut clusters: Vec<&str> = says.iter().map(|(cluster, _)| *cluster).collect();
    clusters.dedup();
    let message = format!("{kind} on clusters [{}]", clusters.join(" "));
    everywhere(kind, says.into_iter()).unwrap_or_else(|| Condition::new(kind, "True", kind, message))
}

/// The condition that is not True because some clusters object; `None` when none does
/// (docs/systems/mgc.md#status-aggregation).
fn everywhere<'s>(kind: &str, says: impl Iterator<Item = (&'s str, Option<String>)>) -> Option<Condition> {
    let messages = Pool::<str>::default();
    let against: Vec<(Text, Arc<str>)> = says
        .filter_map(|(cluster, against)| Some((cluster.into(), messages.share(against?.as_str()))))
        .collect();
    (!against.is_empty()).then(|| {
        let message = ConditionMessage::OfClusters(against);
        Condition::new(kind, "False", NOT_EVERYWHERE, message)
    })
}

/// The addresses on all clusters: by cluster, in each in their order
/// (docs/systems/mgc.md#status-aggregation).
fn addresses(instances: &[Instance<'_>], findings: &mut Findings) -> Vec<Address> {
    let mut all = Vec::new();
    for instance in instances {
        let Some(feedback) = instance.feedback() else {
            continue;
        };
        let reported = match feedback.get("addresses") {
            Some(raw) => raw_addresses(feedback.text("addresses")).unwrap_or_else(|why| {
                if let Some(exported) = instance.work.exported {
                    let message = format!("the addresses on {} cannot be read: {why}", instance.cluster());
                    findings.push(raw.wrong(&exported.object, message));
                }
                Vec::new()
            }),
            // Agents without the gate RawFeedbackJsonString send no list (docs/systems/ocm-work.md#feedback): then the
            // first address is asked for by itself.
            None => {
                let text = |name: &str| feedback.text(name).map(str::to_owned);
                let value = text("addressValue").into_iter();
                value.map(|value| (text("addressType"), value)).collect()
            }
        };
        for (reported_type, value) in reported {
            // Gateway API: an address without a type is an IPAddress.
            let reported_type = reported_type.as_deref().unwrap_or("IPAddress");
            let address_type = ADDRESS_TYPES.iter().find(|(name, _)| *name == reported_type);
            if let (Some((_, on_hub)), false) = (address_type, value.is_empty()) {
                all.push(Address {
                    r#type: on_hub,
                    value: format!("{}/{value}", instance.cluster()),
                });
            }
        }
    }
    all
}

/// Types and values of `.status.addresses` as raw JSON.
fn raw_addresses(raw: Option<&str>) -> Result<Vec<(Option<String>, String)>, String> {
    let raw = raw.ok_or("it is not JSON")?;
    let value: Value = raw
        .parse()
        .map_err(|error: serde_json::Error| error.to_string())?;
    let items = value.as_array().ok_or("it is not a list")?.iter();
    let text = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let addresses = items.filter_map(|item| Some((text(item, "type"), text(item, "value")?)));
    Ok(addresses.collect())
}

/// The listeners on all clusters: by listener in the Gateway's order, then by cluster; those without a report are
/// left out (docs/systems/mgc.md#status-aggregation).
fn listeners(
    gateway: &Gateway<'_>,
    instances: &[Instance<'_>],
    findings: &mut Findings,
) -> Vec<ListenerOnCluster> {
    let mut all = Vec::new();
    for listener in &gateway.listeners {
        let name = format!("listener{}AttachedRoutes", listener.name);
        for instance in instances {
            let Some(value) = instance.reported(&name) else {
                continue;
            };
            match (value.integer(), instance.work.exported) {
                (Some(attached_routes), _) => all.push(ListenerOnCluster {
                    name: format!("{}.{}", instance.cluster(), listener.name),
                    attached_routes,
                }),
                (None, Some(exported)) => {
                    let (name, cluster) = (&listener.name, instance.cluster());
                    let message =
                        format!("the attached routes of listener `{name}` on {cluster} are not a number");
                    findings.push(value.wrong(&exported.object, message));
                }
                (None, None) => {}
            }
        }
    }
    all
}

/// The works with the instances; `wanted` are the conditions that a status needs.
fn works(instances: &[Instance<'_>], wanted: &[&str]) -> Vec<WorkOnCluster> {
    let instances = instances.iter();
    instances.map(|instance| instance.carrier(wanted)).collect()
}

/// The values that clusters could not read, by cluster.
fn unknown(instances: &[Instance<'_>]) -> Vec<UnknownOnCluster> {
    instances.iter().flat_map(Instance::unknown).collect()
}

/// The values that the parameters request, by name in the order of the first cluster's rules, then by cluster; without
/// `ours`, the names that every rule of the kind has. Values that a cluster does not report are left out.
fn feedback(instances: &[Instance<'_>], ours: &[String]) -> Vec<FeedbackOnCluster> {
    let mut all: IndexMap<&str, Vec<FeedbackOnCluster>> = IndexMap::new();
    for instance in instances {
        let asked = instance.asked().iter();
        for asked in asked.filter(|asked| !ours.contains(&asked.name)) {
            let value = instance.reported(&asked.name).and_then(Feedback::value);
            let entry = value.map(|value| FeedbackOnCluster {
                name: asked.name.clone(),
                cluster: instance.cluster().to_owned(),
                value,
                shipped: asked.shipped.clone(),
            });
            all.entry(&asked.name).or_default().extend(entry);
        }
    }
    all.into_values().flatten().collect()
}

#[cfg(test)]
mod tests;
