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

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use kube_json::Value;

use super::plan::{Plan, REPLICA_SETS};
use super::rbac::{self, Rights};
use crate::api::params::ParamsPlace;
use crate::diagnostic::{Code, Finding, counted, first_items, first_names};
use crate::hub::{Hub, OurGatewayId, Ours, Table, params_place};
use crate::object::Object;
use crate::object::well_known::PARENT_ANNOTATION;
use crate::output::OutputError;
use crate::parallel;
use crate::sync::PlacedGateway;
use apimachinery::{ApiVersion, GroupKind, Identity};
use kube_yaml::scalar;

/// So many clusters, or objects, are named in one line; the rest is counted.
pub(super) const MOST_NAMES: usize = 10;

/// The data that a plan is compared with, and the parameters that decide.
pub(crate) struct Narrowing<'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// Our classes.
    pub ours: &'a Ours<'a>,
    /// Our Gateways with their clusters.
    pub gateways: &'a Table<OurGatewayId, PlacedGateway<'a>>,
    /// The paths of the earlier files, in the layout of a tree, sorted.
    pub paths: Vec<Cow<'a, str>>,
    /// The text of an earlier file; none if it does not change.
    pub text: &'a (dyn Fn(&str) -> Result<Option<String>, OutputError> + Sync),
}

/// A text of an earlier rendering, and the clusters that have it.
pub(crate) type Changed<'c> = (String, BTreeSet<&'c str>);

/// The contents of a file of an earlier rendering.
#[derive(Debug, Default)]
pub(super) struct Shipped {
    /// The Placements, by namespace and name, whose clusters got it; none for the work of one cluster.
    placements: Vec<(String, String)>,
    /// The hub object that it was made for, as `namespace/name`.
    parent: Option<String>,
    pub(super) objects: Vec<ShippedObject>,
    /// Whether agents write the objects by server-side apply.
    pub(super) server_side: bool,
    /// The kinds that it let the agent delete.
    rights: Rights,
}

#[derive(Debug)]
pub(super) struct ShippedObject {
    pub(super) identity: Identity,
    pub(super) version: String,
    pub(super) value: Value,
}

/// The objects of one class that would stay behind.
#[derive(Debug, Default)]
struct Left<'a> {
    rights: Rights,
    clusters: BTreeSet<&'a str>,
    objects: BTreeSet<String>,
}

/// Rights of clusters that would go before the objects that they are for: one finding for each class.
///
/// # Errors
/// When an earlier file cannot be read.
pub(crate) fn narrowed(plan: &Plan, narrowing: &Narrowing<'_>) -> Result<Vec<Finding>, OutputError> {
    let mut sets = Vec::new();
    for path in paths_in(&narrowing.paths, REPLICA_SETS) {
        sets.extend((narrowing.text)(path)?.map(|text| shipped(&text)));
    }
    let clusters = plan.clusters.iter().filter(|(_, works)| !works.is_empty());
    let clusters: Vec<_> = clusters.map(|(cluster, _)| cluster).collect();
    let of_clusters = parallel::map(&clusters, |cluster| narrowing.left_on(cluster, plan, &sets));
    let mut left: BTreeMap<&str, Left<'_>> = BTreeMap::new();
    for of_cluster in of_clusters {
        for (class, there) in of_cluster? {
            let left = left.entry(class).or_default();
            left.rights.extend(there.rights);
            left.clusters.extend(there.clusters);
            left.objects.extend(there.objects);
        }
    }
    Ok(left
        .into_iter()
        .filter_map(|(class, left)| {
            Some(narrowing.finding(narrowing.ours.classes.get(class)?.class.object, &left))
        })
        .collect())
}

impl<'a> Narrowing<'a> {
    /// The earlier files that change: each distinct text without its cluster, and the clusters. A thousand clusters have
    /// the same works, but for their names in them.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn changed(&self) -> Result<Vec<Changed<'_>>, OutputError> {
        let paths: Vec<&str> = self.paths.iter().map(AsRef::as_ref).collect();
        let texts: Mutex<BTreeMap<String, BTreeSet<&str>>> = Mutex::default();
        let read = parallel::map(&paths, |path| {
            if let (Some(text), Some((cluster, _))) = ((self.text)(path)?, path.split_once('/')) {
                let namespace = format!("\n  namespace: {}\n", kube_yaml::scalar(cluster));
                let text = text.replacen(&namespace, "\n", 1);
                let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                texts.entry(text).or_default().insert(cluster);
            }
            Ok(())
        });
        read.into_iter().collect::<Result<(), _>>()?;
        let texts = texts.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(texts.into_iter().collect())
    }

    /// The objects that would stay behind on a cluster, by class.
    fn left_on<'c>(
        &self,
        cluster: &'c str,
        plan: &Plan,
        sets: &[Shipped],
    ) -> Result<BTreeMap<&'a str, Left<'c>>, OutputError> {
        let mut left: BTreeMap<&str, Left<'_>> = BTreeMap::new();
        let sets = || sets.iter().filter(|set| self.may_reach(set, cluster));
        let mut rights: Rights = sets().flat_map(|set| set.rights.iter().cloned()).collect();
        // Only a right that goes makes it worth while to look at anything else.
        if let Some(path) = paths_in(&self.paths, cluster).find(|path| is_rbac(path)) {
            let text = (self.text)(path)?;
            rights.extend(text.into_iter().flat_map(|text| shipped(&text).rights));
        }
        rights.retain(|right| !plan.grants(cluster, right) && !rbac::is_agents_own(&right.0, &right.1));
        if rights.is_empty() {
            return Ok(left);
        }
        let mut works = Vec::new();
        for path in paths_in(&self.paths, cluster) {
            works.extend((self.text)(path)?.map(|text| shipped(&text)));
        }
        for work in works.iter().chain(sets()) {
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
        Ok(left)
    }

    /// Whether a cluster got a set. Which clusters a Placement selected is nowhere in the files: those that it selects
    /// now count. If no Gateway of ours goes by it any more, it may have been any cluster.
    pub(super) fn may_reach(&self, set: &Shipped, cluster: &str) -> bool {
        let by_placement = |(namespace, name): &(String, String)| {
            let gateways = self.gateways.rows().iter();
            let mut placed = gateways
                .filter(|placed| {
                    placed.gateway.placement == Some(name)
                        && placed.gateway.object.namespace_or_empty() == namespace
                })
                .peekable();
            placed.peek().is_none()
                || placed.any(|placed| placed.clusters.iter().any(|there| there == cluster))
        };
        set.placements.iter().any(by_placement)
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

/// Those of some sorted paths that are in a directory of the tree.
fn paths_in<'p>(paths: &'p [Cow<'_, str>], directory: &str) -> impl Iterator<Item = &'p str> {
    let before = format!("{directory}/");
    let first = paths.partition_point(|path| path.as_ref() < before.as_str());
    let paths = paths.iter().skip(first).map(Cow::as_ref);
    paths.take_while(move |path| path.starts_with(&before))
}

fn is_rbac(path: &str) -> bool {
    let name = path
        .split_once('/')
        .and_then(|(_, name)| name.strip_suffix(".yaml"));
    name == Some(rbac::WORK_NAME)
}

/// Reads a work or a set; what is neither shipped nothing.
pub(super) fn shipped(text: &str) -> Shipped {
    let Ok(value) = kube_yaml::read_document(text, &kube_yaml::Limits::default()) else {
        return Shipped::default();
    };
    let text = |value: &Value, pointer: &str| -> String {
        let found = value.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let namespace = text(&value, "/metadata/namespace");
    let mut read = Shipped {
        placements: list(&value, "/spec/placementRefs")
            .map(|reference| (namespace.clone(), text(reference, "/name")))
            .collect(),
        parent: value
            .get("metadata")
            .and_then(|metadata| metadata.get("annotations")?.get(PARENT_ANNOTATION)?.as_str())
            .map(str::to_owned),
        // All manifests of a work have one strategy.
        server_side: text(&value, "/spec/manifestConfigs/0/updateStrategy/type") == "ServerSideApply",
        ..Shipped::default()
    };
    let of_work = list(&value, "/spec/workload/manifests");
    for manifest in of_work.chain(list(&value, "/spec/manifestWorkTemplate/workload/manifests")) {
        let (kind, name) = (text(manifest, "/kind"), text(manifest, "/metadata/name"));
        let ApiVersion { group, version } = ApiVersion::parse(&text(manifest, "/apiVersion"));
        // ClusterRoles cannot be synced, so this one is ours.
        if kind == "ClusterRole" {
            for rule in list(manifest, "/rules") {
                read.rights.extend(deletable(rule));
            }
        }
        let namespace = Some(text(manifest, "/metadata/namespace")).filter(|namespace| !namespace.is_empty());
        read.objects.push(ShippedObject {
            identity: Identity::new(&group, &kind, namespace.as_deref(), &name),
            version,
            value: manifest.clone(),
        });
    }
    read
}

/// The kinds that a rule of a role lets the agent delete.
fn deletable(rule: &Value) -> Rights {
    let words = |pointer: &'static str| list(rule, pointer).filter_map(Value::as_str);
    if !words("/verbs").any(|verb| matches!(verb, "delete" | "*")) {
        return Rights::new();
    }
    let each = |group: &str| -> Vec<(String, String)> {
        words("/resources")
            .map(|resource| (group.to_owned(), resource.to_owned()))
            .collect()
    };
    words("/apiGroups").flat_map(each).collect()
}

fn list<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_directory_are_those_below_it_and_not_those_of_a_longer_name() {
        let mut paths = [
            "eu-1-b/a.yaml",
            "eu-1/a.yaml",
            "eu-1/b.yaml",
            "eu-10/a.yaml",
            "kustomization.yaml",
        ];
        paths.sort_unstable();
        let paths = paths.map(Cow::from);
        let found = |directory: &str| paths_in(&paths, directory).collect::<Vec<_>>();
        assert_eq!(found("eu-1"), ["eu-1/a.yaml", "eu-1/b.yaml"]);
        assert_eq!(found("eu-1-b"), ["eu-1-b/a.yaml"]);
        assert_eq!(found("eu"), Vec::<&str>::new());
    }
}
