//! The hub statuses that follow from what the clusters report (docs/systems/mgc.md#status-aggregation).
//!
//! Owns: which work carries which hub object, the conditions over all clusters, addresses, listeners, and which works
//! are missing, outdated, not applied or stale.
//! Flows in: an [`Aggregation`]: the plan, exported ManifestWorks, what is ours. Flows out: [`Aggregated`].
//! Must not know: files, how works are made.

mod instance;
mod planned;
mod rules;

use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use self::instance::{Instance, PlacedWork, judged};
use self::planned::PlannedWork;
use self::rules::{feedback, gateway_status, policy_condition};
use super::exported::{ExportedWork, RBAC_WORK};
use super::policies::exception;
use super::policy_view::PolicyView;
use super::predicted::class_status;
use super::status::{FailedManifest, ObjectStatus, StatusGroup, WorkState};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, REPLICA_SET_LABEL};
use crate::diagnostic::{DocumentId, Findings};
use crate::hub::{Hub, Objects, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::policy::{Condition, Outcome, PolicyId};
use crate::render::{MANIFEST_KEY_LABEL, Plan, WorkId, manifest_key, policy_conditions};
use crate::topology::RouteId;

/// Everything that statuses are aggregated from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aggregation<'p, 'a> {
    /// What should be on each cluster.
    pub plan: &'p Plan,
    /// The exported objects; those that are no ManifestWorks do not count.
    pub works: &'p Objects,
    /// The hub.
    pub hub: &'p Hub,
    /// What is ours.
    pub ours: &'p Ours<'a>,
    /// The policies.
    pub view: &'p PolicyView<'p>,
}

/// What the works say.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Aggregated {
    /// GatewayClasses, Gateways, and the policies that are on some cluster; in each group by locator.
    pub objects: Vec<ObjectStatus>,
    /// The works themselves.
    pub works: WorkSummary,
}

/// How many works are as they should be, and which are not.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkSummary {
    /// Works of the plan.
    pub planned: usize,
    /// Those that are applied as they are rendered now, with each of their manifests.
    pub applied: usize,
    /// Works that are missing, outdated, not applied, being deleted or stale; by cluster and name.
    pub problems: Vec<WorkProblem>,
}

/// A work that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkProblem {
    /// The cluster.
    pub cluster: String,
    /// `metadata.name`.
    pub work: String,
    /// What is wrong.
    pub state: WorkState,
    /// What its condition Applied says, or why it is outdated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its manifests that could not be applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub manifests: Vec<FailedManifest>,
    /// `namespace/name` of the hub object that it was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// The exported works by cluster and by their names in the plan.
type Exported<'x> = BTreeMap<(&'x str, &'x str), ExportedWork<'x>>;

/// What of the hub a manifest was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    /// Position in [`Ours::gateways`].
    Gateway(OurGatewayId),
    Policy(PolicyId),
    /// Number in the topology.
    Route(RouteId),
}

impl Aggregation<'_, '_> {
    /// Aggregates. `admits` says which clusters are looked at.
    pub(crate) fn aggregate(&self, admits: impl Fn(&str) -> bool, findings: &mut Findings) -> Aggregated {
        let works_of_plan = self.plan.works.rows().iter();
        let by_key: HashMap<String, &str> = works_of_plan
            .map(|work| (manifest_key(&work.name), work.name.as_str()))
            .collect();
        let mut exported: Exported<'_> = BTreeMap::new();
        for object in self.works.of_kind(GROUP, MANIFEST_WORK) {
            if !admits(object.namespace_or_empty()) {
                continue;
            }
            let key = (object.namespace_or_empty(), planned_name(object, &by_key));
            let read = ExportedWork::read(object, findings);
            match exported.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(read);
                }
                // Several sets may make one: then the one that is further from done counts.
                Entry::Occupied(mut entry) => {
                    if progress(&read) < progress(entry.get()) {
                        entry.insert(read);
                    }
                }
            }
        }
        let planned = self.plan.works.map(|_| OnceCell::new());
        let placed = self.placed_works(&exported, &planned);
        let works = self.summary(&placed, &exported);
        let instances = self.instances(&placed);
        let mut objects: Vec<ObjectStatus> = self.ours.classes.values().map(class_status).collect();
        for (id, ours) in self.ours.gateways.iter() {
            let instances = instances.get(&Subject::Gateway(id));
            let class = self.ours.classes.get(ours.gateway.class_name);
            if let Some(class) = class {
                let instances = instances.map(Vec::as_slice).unwrap_or_default();
                objects.push(gateway_status(&ours.gateway, class, instances, findings));
            }
        }
        objects.extend(self.routes(&instances));
        objects.extend(self.policies(&instances, admits));
        objects.sort_by(|a, b| (a.group, &a.object).cmp(&(b.group, &b.object)));
        Aggregated { objects, works }
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
                let exported = exported.get(&(cluster.as_str(), work.name.as_str()));
                let planned = exported.map(|_| planned.get(*id).get_or_init(|| PlannedWork::read(work)));
                // What a set's own RBAC grants is not what a cluster's would (README.md#replica-sets).
                let of_set = exported.is_some_and(|work| work.object.label(REPLICA_SET_LABEL).is_some());
                let comparable = work.name != RBAC_WORK || !of_set;
                let (state, because) = judged(exported, planned.filter(|_| comparable));
                placed.push(PlacedWork {
                    cluster,
                    id: *id,
                    name: &work.name,
                    planned,
                    exported,
                    state,
                    because,
                });
            }
        }
        placed
    }

    fn summary(&self, placed: &[PlacedWork<'_>], exported: &Exported<'_>) -> WorkSummary {
        let applied = |work: &&PlacedWork<'_>| work.state == WorkState::Applied;
        let wrong = placed.iter().filter(|work| !applied(work));
        let problems = wrong.map(|work| WorkProblem {
            cluster: work.cluster.to_owned(),
            work: work.name.to_owned(),
            state: work.state,
            message: work.because.clone(),
            manifests: work
                .exported
                .map(|exported| exported.failed.clone())
                .unwrap_or_default(),
            parent: None,
        });
        let mut problems: Vec<WorkProblem> = problems.chain(self.stale(exported)).collect();
        problems.sort_by(|a, b| (&a.cluster, &a.work).cmp(&(&b.cluster, &b.work)));
        WorkSummary {
            planned: placed.len(),
            applied: placed.iter().filter(applied).count(),
            problems,
        }
    }

    /// The instances of every Gateway, route and policy, by cluster.
    fn instances<'x>(&'x self, placed: &'x [PlacedWork<'x>]) -> HashMap<Subject, Vec<Instance<'x>>> {
        let subjects = self.subjects();
        let mut instances: HashMap<Subject, Vec<Instance<'x>>> = HashMap::new();
        for work in placed {
            // From the plan to the works, never the other way: what is missing is part of the answer, and a manifest
            // there bears the names of the spoke, from which no hub object can be told.
            for (position, manifest) in self.plan.works.get(work.id).manifests.iter().enumerate() {
                let of = manifest.origins.iter();
                let of = of.filter_map(|at| subjects.get(&(at.document, at.pointer.as_str())));
                for subject in of {
                    instances.entry(*subject).or_default().push(Instance {
                        work,
                        position,
                        manifest: work.exported.and_then(|exported| exported.manifest(manifest)),
                    });
                }
            }
        }
        instances
    }

    /// Gateways and policies by where they stand in the input: that is how the plan knows them.
    fn subjects(&self) -> HashMap<(DocumentId, &str), Subject> {
        let at = |object: &'_ Object| object.origin.document;
        let gateways = self.ours.gateways.iter().map(|(id, ours)| {
            let object = ours.gateway.object;
            ((at(object), object.origin.pointer.as_str()), Subject::Gateway(id))
        });
        let policies = self.view.hub.policies.iter();
        let policies = policies.map(|(id, policy)| {
            let object = policy.object;
            ((at(object), object.origin.pointer.as_str()), Subject::Policy(id))
        });
        let routes = self.view.routes.iter().map(|(number, route)| {
            let origin = &route.object.origin;
            ((origin.document, origin.pointer.as_str()), Subject::Route(number))
        });
        gateways.chain(policies).chain(routes).collect()
    }

    /// Works of ours, or of MGC, that the plan places nowhere.
    fn stale(&self, exported: &Exported<'_>) -> Vec<WorkProblem> {
        let planned: HashSet<(&str, &str)> = self
            .plan
            .clusters
            .iter()
            .flat_map(|(cluster, works)| {
                let works = works.iter().map(|id| self.plan.works.get(*id));
                works.map(|work| (cluster.as_str(), work.name.as_str()))
            })
            .collect();
        let stale = exported
            .iter()
            .filter(|(key, work)| work.is_ours() && !planned.contains(*key));
        stale
            .map(|((cluster, name), work)| WorkProblem {
                cluster: (*cluster).to_owned(),
                work: (*name).to_owned(),
                state: WorkState::Stale,
                message: None,
                manifests: Vec::new(),
                parent: work.parent().map(str::to_owned),
            })
            .collect()
    }

    /// The routes that are on some cluster: with the conditions that the parameters' feedback brings back.
    fn routes(&self, instances: &HashMap<Subject, Vec<Instance<'_>>>) -> Vec<ObjectStatus> {
        let shipped = self.view.routes.iter();
        shipped
            .filter_map(|(number, route)| {
                let instances = instances.get(&Subject::Route(number))?;
                let reported = |kind: &&str| instances.iter().any(|instance| instance.reports(kind));
                let conditions = ["Accepted", "ResolvedRefs", "Programmed"].into_iter();
                let conditions: Vec<&str> = conditions.filter(reported).collect();
                Some(ObjectStatus {
                    shipped_to: instances
                        .iter()
                        .map(|instance| instance.cluster().to_owned())
                        .collect(),
                    works: instances
                        .iter()
                        .map(|instance| instance.carrier(&conditions))
                        .collect(),
                    conditions: conditions
                        .into_iter()
                        .map(|kind| policy_condition(kind, instances, &[]))
                        .collect(),
                    feedback: feedback(instances, &[]),
                    ..ObjectStatus::new(route.object.identity().locator(), StatusGroup::Route)
                })
            })
            .collect()
    }

    /// The policies that are on some cluster, or kept from one by what lives there.
    fn policies(
        &self,
        instances: &HashMap<Subject, Vec<Instance<'_>>>,
        admits: impl Fn(&str) -> bool,
    ) -> Vec<ObjectStatus> {
        let mut statuses = Vec::new();
        for (id, policy) in self.view.hub.policies.iter() {
            let instances = instances.get(&Subject::Policy(id)).map(Vec::as_slice);
            let overridden = self.overridden(id, &admits);
            if instances.is_none() && overridden.is_empty() {
                continue;
            }
            let instances = instances.unwrap_or_default();
            let overridden: Vec<(&str, &Condition)> = overridden
                .iter()
                .map(|(cluster, condition)| (*cluster, condition))
                .collect();
            let outcome = policy_conditions(&policy.object.group_kind(), self.hub).outcome;
            let mut status = ObjectStatus::new(self.view.hub.locator(id).to_string(), StatusGroup::Policy);
            let mut names = Vec::new();
            let mut ours = Vec::new();
            for kind in ["Accepted", "Enforced", "Programmed"] {
                // What the kind's feedback rules ask for is listed also where nobody has answered yet.
                let known = kind == "Accepted" || outcome == Some(kind);
                if known {
                    let name = kind.to_lowercase();
                    ours.extend([format!("{name}Reason"), name]);
                }
                let reported = |instance: &Instance<'_>| {
                    let manifest = instance.manifest;
                    manifest.is_some_and(|manifest| manifest.get(kind).is_some())
                };
                if known || instances.iter().any(reported) {
                    names.push(kind);
                    let kept = if kind == "Accepted" { &[][..] } else { &overridden };
                    status.conditions.push(policy_condition(kind, instances, kept));
                }
            }
            status.feedback = feedback(instances, &ours);
            status.works = instances
                .iter()
                .map(|instance| instance.carrier(&names))
                .collect();
            statuses.push(status);
        }
        statuses
    }

    /// The clusters where others took the place of a policy, with the condition that it would have.
    fn overridden(&self, id: PolicyId, admits: impl Fn(&str) -> bool) -> Vec<(&str, Condition)> {
        let hub = self.view.hub;
        let policy = hub.policy(id);
        let everywhere = self.view.fates.of(&policy.locator());
        let fates = everywhere.into_iter().flat_map(|everywhere| &everywhere.fates);
        let mut found: Vec<(&str, Condition)> = Vec::new();
        for fate in fates {
            let total = fate.total();
            if total.outcome() == Outcome::Overridden {
                let condition = exception(&policy.object.kind, hub.profile(id).status, &total);
                let clusters = fate.clusters.iter().filter(|cluster| admits(cluster));
                found.extend(clusters.map(|cluster| (cluster.as_ref(), condition.clone())));
            }
        }
        found.sort_by_key(|(cluster, _)| *cluster);
        found
    }
}

/// How far a work is, by itself: the less, the further from done.
fn progress(work: &ExportedWork<'_>) -> u8 {
    match judged(Some(work), None).0 {
        WorkState::Applied | WorkState::Stale => 3,
        WorkState::Outdated => 2,
        WorkState::NotApplied => 1,
        WorkState::Deleting | WorkState::Missing => 0,
    }
}

/// The name that the plan knows a work by. One that the hub made from a ManifestWorkReplicaSet has a generated name, and
/// the set's labels (docs/systems/ocm-work.md#works-of-a-set).
fn planned_name<'x>(work: &'x Object, by_key: &HashMap<String, &'x str>) -> &'x str {
    let Some(set) = work.label(REPLICA_SET_LABEL) else {
        return &work.name;
    };
    match work.label(MANIFEST_KEY_LABEL) {
        Some(key) => by_key.get(key).copied().unwrap_or(&work.name),
        None if set
            .split_once('.')
            .is_some_and(|(_, set)| set.starts_with(RBAC_WORK)) =>
        {
            RBAC_WORK
        }
        None => &work.name,
    }
}

#[cfg(test)]
mod tests;
