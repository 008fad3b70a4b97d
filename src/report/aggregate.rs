//! The hub statuses that follow from what the clusters report (docs/systems/mgc.md#status-aggregation).
//!
//! Owns: which work carries which hub object, the conditions over all clusters, addresses, listeners, and which works
//! are missing, not applied or stale.
//! Flows in: an [`Aggregation`]: the plan, exported ManifestWorks, what is ours. Flows out: [`Aggregated`].
//! Must not know: files, how works are made.

mod instance;
mod rules;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use self::instance::Instance;
use self::rules::{gateway_status, policy_condition};
use super::policies::exception;
use super::policy_view::PolicyView;
use super::exported::{ExportedWork, RBAC_WORK};
use super::predicted::class_status;
use super::status::{ObjectStatus, StatusGroup, WorkState};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, REPLICA_SET_LABEL};
use crate::diagnostic::{DocumentId, Findings};
use crate::hub::{Hub, Objects, OurGatewayId, Ours};
use crate::object::Object;
use crate::policy::{Condition, Outcome, PolicyId};
use crate::render::{MANIFEST_KEY_LABEL, Plan, manifest_key, policy_conditions};
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
    /// Those that are applied.
    pub applied: usize,
    /// Works that are missing, not applied, being deleted or stale; by cluster and name.
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
    /// What its condition Applied says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// `namespace/name` of the hub object that it was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

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
        let exported: BTreeMap<(&str, &str), ExportedWork<'_>> = self
            .works
            .of_kind(GROUP, MANIFEST_WORK)
            .iter()
            .filter(|object| admits(object.namespace_or_empty()))
            .map(|object| {
                let key = (object.namespace_or_empty(), planned_name(object, &by_key));
                (key, ExportedWork::read(object, findings))
            })
            .collect();
        let mut works = WorkSummary::default();
        let instances = self.instances(&exported, &mut works);
        works.problems.extend(self.stale(&exported));
        works
            .problems
            .sort_by(|a, b| (&a.cluster, &a.work).cmp(&(&b.cluster, &b.work)));
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

    /// The instances of every Gateway and policy, by cluster; and the planned works that are not applied.
    fn instances<'x>(
        &'x self,
        exported: &'x BTreeMap<(&'x str, &'x str), ExportedWork<'x>>,
        works: &mut WorkSummary,
    ) -> HashMap<Subject, Vec<Instance<'x>>> {
        let subjects = self.subjects();
        let mut instances: HashMap<Subject, Vec<Instance<'x>>> = HashMap::new();
        for (cluster, planned) in &self.plan.clusters {
            for work in planned.iter().map(|id| self.plan.works.get(*id)) {
                let exported = exported.get(&(cluster.as_str(), work.name.as_str()));
                works.planned = works.planned.saturating_add(1);
                match exported.map_or(WorkState::Missing, |exported| exported.state) {
                    WorkState::Applied => works.applied = works.applied.saturating_add(1),
                    state => works.problems.push(WorkProblem {
                        cluster: cluster.clone(),
                        work: work.name.clone(),
                        state,
                        message: exported.and_then(|exported| exported.because).map(str::to_owned),
                        parent: None,
                    }),
                }
                // From the plan to the works, never the other way: what is missing is part of the answer, and a manifest
                // there bears the names of the spoke, from which no hub object can be told.
                for manifest in &work.manifests {
                    let of = manifest.origins.iter();
                    let of = of.filter_map(|at| subjects.get(&(at.document, at.pointer.as_str())));
                    for subject in of {
                        instances.entry(*subject).or_default().push(Instance {
                            cluster,
                            work: &work.name,
                            exported,
                            manifest: exported.and_then(|exported| exported.manifest(manifest)),
                        });
                    }
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
    fn stale(&self, exported: &BTreeMap<(&str, &str), ExportedWork<'_>>) -> Vec<WorkProblem> {
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
                        .map(|instance| instance.cluster.to_owned())
                        .collect(),
                    works: instances
                        .iter()
                        .map(|instance| instance.carrier(&conditions))
                        .collect(),
                    conditions: conditions
                        .into_iter()
                        .map(|kind| policy_condition(kind, instances, &[]))
                        .collect(),
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
            for kind in ["Accepted", "Enforced", "Programmed"] {
                // What the kind's feedback rules ask for is listed also where nobody has answered yet.
                let known = kind == "Accepted" || outcome == Some(kind);
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
                found.extend(clusters.map(|cluster| (*cluster, condition.clone())));
            }
        }
        found.sort_by_key(|(cluster, _)| *cluster);
        found
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
