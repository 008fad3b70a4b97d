//! Rights that would disappear before the objects that they are for, so that the agent could not delete those.
//!
//! Owns: comparing what an earlier rendering shipped and granted with a plan, and the finding about a kind whose right
//! disappears together with its objects. Flows in: a [`Plan`], the works of an earlier rendering as text, our Gateways.
//! Flows out: findings. Must not know: where those texts come from.
//!
//! An agent that may not delete an object that has left a work tries forever, and the work stays Applied all the while
//! (docs/systems/ocm-work.md#what-leaves-a-work). A plan grants rights to everything that it ships. So if a cluster
//! would lose a right, it no longer gets objects of that kind: every object of that kind in its earlier works has to be
//! deleted. A cluster that no longer gets anything is not checked: its agent deletes whole works, including the rights.

use std::collections::{BTreeMap, BTreeSet};

use super::earlier_works::{MOST_NAMES, Replaced, Shipped, ShippedObject};
use super::plan::Plan;
use super::rbac::{self, Rights};
use crate::api::params::ParamsPlace;
use crate::diagnostic::{Code, Finding, counted, first_items, first_names};
use crate::hub::params_place;
use crate::object::Object;
use crate::parallel;
use apimachinery::GroupKind;
use kube_yaml::scalar;

/// The objects of one class that would stay behind.
#[derive(Debug, Default)]
struct Left<'a> {
    rights: Rights,
    clusters: BTreeSet<&'a str>,
    objects: BTreeSet<String>,
}

/// Rights of clusters that would go before the objects that they are for: one finding for each class.
pub(crate) fn narrowed(plan: &Plan, replaced: &Replaced<'_>) -> Vec<Finding> {
    let clusters = plan.clusters.iter().filter(|(_, works)| !works.is_empty());
    let clusters: Vec<_> = clusters.map(|(cluster, _)| cluster).collect();
    let of_clusters = parallel::map(&clusters, |cluster| replaced.left_on(cluster, plan));
    let mut left: BTreeMap<&str, Left<'_>> = BTreeMap::new();
    for of_cluster in of_clusters {
        for (class, there) in of_cluster {
            let left = left.entry(class).or_default();
            left.rights.extend(there.rights);
            left.clusters.extend(there.clusters);
            left.objects.extend(there.objects);
        }
    }
    left.into_iter()
        .filter_map(|(class, left)| {
            Some(replaced.finding(replaced.ours.classes.get(class)?.class.object, &left))
        })
        .collect()
}

impl<'a> Replaced<'a> {
    /// The objects that would stay behind on a cluster, by class.
    fn left_on<'c>(&self, cluster: &'c str, plan: &Plan) -> BTreeMap<&'a str, Left<'c>> {
        let mut left: BTreeMap<&str, Left<'_>> = BTreeMap::new();
        let works = || self.on_cluster(cluster).filter_map(|(_, work)| work);
        let mut rights: Rights = works().flat_map(|work| work.rights.iter().cloned()).collect();
        rights.retain(|right| !plan.grants(cluster, right) && !rbac::is_agents_own(&right.0, &right.1));
        if rights.is_empty() {
            return left;
        }
        for work in works() {
            for object in &work.objects {
                let needed = self.rights_for(object, &rights);
                if let (false, Some(class)) = (needed.is_empty(), self.class(cluster, work)) {
                    let left = left.entry(class).or_default();
                    left.rights.extend(needed);
                    left.clusters.insert(cluster);
                    left.objects.insert(object.identity.to_string());
                }
            }
        }
        left
    }

    /// Which of these rights an object is deleted by. The definition of its kind may have left the hub as well: then
    /// each resource of its group that is not another kind's may be the one.
    fn rights_for(&self, object: &ShippedObject, rights: &Rights) -> Rights {
        let kinds = &self.hub.kinds;
        let GroupKind { group, kind } = &object.identity.group_kind;
        let is_its = |(of, resource): &&(String, String)| {
            of == group
                && match kinds.kind(group, kind) {
                    Some(info) => info.plural == resource.as_str(),
                    None => kinds.plural(group, resource).is_none(),
                }
        };
        rights.iter().filter(is_its).cloned().collect()
    }

    /// The class whose parameters can keep the right: that of the Gateway that a work was made for, or else the first
    /// one that has a Gateway on the cluster.
    fn class(&self, cluster: &str, work: &Shipped) -> Option<&'a str> {
        let there = self.gateways.rows().iter();
        let there = there.filter(|placed| placed.clusters.iter().any(|placed| placed == cluster));
        let is_other = |gateway: &Object| Some(gateway.key()) != work.parent;
        there
            .map(|placed| (is_other(placed.gateway.object), placed.gateway.class_name))
            .min()
            .map(|(_, class)| class)
    }

    fn finding(&self, class: &Object, left: &Left<'_>) -> Finding {
        let resources: Vec<String> = left
            .rights
            .iter()
            .map(|(group, resource)| dotted(group, resource))
            .collect();
        let message = format!(
            "GatewayClass {}: the work {} of {} would lose the right to delete {}, and {} would remain there",
            class.name,
            if left.clusters.len() == 1 {
                "agent"
            } else {
                "agents"
            },
            first_names(&left.clusters, MOST_NAMES),
            first_names(&resources, MOST_NAMES),
            counted(left.objects.len(), "object"),
        );
        let place = params_place(self.hub, class);
        let entries: Vec<String> = left
            .rights
            .iter()
            .map(|(group, resource)| match place {
                Some(ParamsPlace { is_json: true, .. }) => {
                    kube_json::json!({"group": group, "resource": resource}).to_string()
                }
                _ => format!("{{group: {}, resource: {}}}", scalar(group), scalar(resource)),
            })
            .collect();
        let entries = entries.join(", ");
        let (place, help) = match place {
            Some(ParamsPlace { place, is_json }) => {
                let key = if is_json {
                    "\"retainedResources\""
                } else {
                    "retainedResources"
                };
                (place, format!("add `{key}: [{entries}]` to these parameters"))
            }
            None => (
                class.place("/spec"),
                format!(
                    "give the class parameters, `spec.parametersRef`, with `retainedResources: [{entries}]`"
                ),
            ),
        };
        Finding::new(Code::RBAC_NARROWED, place, message)
            .label("no longer listed here")
            .note(format!("leaving: {}", first_items(&left.objects, MOST_NAMES)))
            .help(format!(
                "{help}, and remove it again when the clusters have deleted them"
            ))
    }
}

/// `httproutes.gateway.networking.k8s.io`; the plural alone for core kinds.
fn dotted(group: &str, resource: &str) -> String {
    if group.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}.{group}")
    }
}
