//! The works of an earlier rendering that a plan replaces or removes, read from their texts.
//!
//! A thousand clusters have the same works but for their names in them: each content is read and kept once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use kube_json::Value;

use super::plan::REPLICA_SETS;
use super::rbac::Rights;
use crate::hub::{Hub, OurGatewayId, Ours, Table};
use crate::object::well_known::PARENT_ANNOTATION;
use crate::output::OutputError;
use crate::parallel;
use crate::sync::PlacedGateway;
use apimachinery::{ApiVersion, Identity};
use kube_yaml::scalar;

/// The earlier works by path; `None` for one that stays as it is.
#[derive(Debug)]
pub(crate) struct EarlierWorks(BTreeMap<String, Option<Arc<Shipped>>>);

/// So many clusters, or objects, are named in one line; the rest is counted.
pub(super) const MOST_NAMES: usize = 10;

/// What a plan replaces, and what decides which clusters had it.
pub(crate) struct Replaced<'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// Our classes.
    pub ours: &'a Ours<'a>,
    /// Our Gateways with their clusters.
    pub gateways: &'a Table<OurGatewayId, PlacedGateway<'a>>,
    /// The earlier works.
    pub earlier: &'a EarlierWorks,
}

/// The contents of a file of an earlier rendering.
#[derive(Debug, Default)]
pub(crate) struct Shipped {
    /// The Placements, by namespace and name, whose clusters got it; none for the work of one cluster.
    pub(super) placements: Vec<(String, String)>,
    /// The hub object that it was made for, as `namespace/name`.
    pub(super) parent: Option<String>,
    pub(super) objects: Vec<ShippedObject>,
    /// Whether agents write the objects by server-side apply.
    pub(super) server_side: bool,
    /// The kinds that it let the agent delete.
    pub(super) rights: Rights,
}

#[derive(Debug)]
pub(super) struct ShippedObject {
    pub(super) identity: Identity,
    pub(super) version: String,
    pub(super) value: Value,
}

impl EarlierWorks {
    /// Reads the works at `paths`; `text` is that of one that does not stay as it is.
    ///
    /// # Errors
    /// When an earlier file cannot be read.
    pub(crate) fn read(
        paths: &[Cow<'_, str>],
        text: impl Fn(&str) -> Result<Option<String>, OutputError> + Sync,
    ) -> Result<Self, OutputError> {
        let contents: Mutex<HashMap<String, Arc<Shipped>>> = Mutex::default();
        let read = parallel::map(paths, |path| {
            let Some(text) = text(path)? else { return Ok(None) };
            let cluster = path.split('/').next().unwrap_or_default();
            let own = format!("\n  namespace: {}\n", scalar(cluster));
            let content = text.replacen(&own, "\n", 1);
            let found = contents
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&content)
                .cloned();
            Ok(Some(found.unwrap_or_else(|| {
                let read = Arc::new(shipped(&text));
                let mut contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(contents.entry(content).or_insert(read))
            })))
        });
        let read = paths.iter().map(|path| path.as_ref().to_owned()).zip(read);
        let read = read.map(|(path, work)| Ok((path, work?)));
        read.collect::<Result<_, OutputError>>().map(Self)
    }

    /// The works in a directory of the tree.
    pub(super) fn in_directory(&self, directory: &str) -> impl Iterator<Item = (&str, Option<&Shipped>)> {
        let before = format!("{directory}/");
        let works = self.0.range(before.clone()..);
        let works = works.take_while(move |(path, _)| path.starts_with(&before));
        works.map(|(path, work)| (path.as_str(), work.as_deref()))
    }

    /// Each content once, with the directories that have it: clusters, or that of sets.
    pub(super) fn contents(&self) -> Vec<(&Shipped, BTreeSet<&str>)> {
        let mut contents: HashMap<*const Shipped, usize> = HashMap::new();
        let mut all: Vec<(&Shipped, BTreeSet<&str>)> = Vec::new();
        for (path, work) in &self.0 {
            let (Some(work), Some((directory, _))) = (work, path.split_once('/')) else {
                continue;
            };
            let position = *contents.entry(Arc::as_ptr(work)).or_insert(all.len());
            match all.get_mut(position) {
                Some((_, directories)) => drop(directories.insert(directory)),
                None => all.push((work, BTreeSet::from([directory]))),
            }
        }
        all
    }
}

impl<'a> Replaced<'a> {
    /// The earlier works of a cluster, and the sets that reached it, by path; `None` for one that stays as it is.
    pub(super) fn on_cluster(&self, cluster: &str) -> impl Iterator<Item = (&'a str, Option<&'a Shipped>)> {
        let sets = self.earlier.in_directory(REPLICA_SETS);
        let sets = sets.filter(|(_, set)| set.is_none_or(|set| self.may_reach(set, cluster)));
        self.earlier.in_directory(cluster).chain(sets)
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
    fn the_works_of_a_directory_are_those_below_it_and_not_those_of_a_longer_name() {
        let paths = [
            "eu-1-b/a.yaml",
            "eu-1/a.yaml",
            "eu-1/b.yaml",
            "eu-10/a.yaml",
            "kustomization.yaml",
        ];
        let earlier = EarlierWorks::read(&paths.map(Cow::from), |_| Ok(None)).unwrap();
        let found = |directory: &str| {
            let works = earlier.in_directory(directory);
            works.map(|(path, _)| path).collect::<Vec<_>>()
        };
        assert_eq!(found("eu-1"), ["eu-1/a.yaml", "eu-1/b.yaml"]);
        assert_eq!(found("eu-1-b"), ["eu-1-b/a.yaml"]);
        assert_eq!(found("eu"), Vec::<&str>::new());
    }
}
