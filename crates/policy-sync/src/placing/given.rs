//! PlacementDecisions of the input: the clusters that are already chosen (docs/systems/mgc.md#placing-a-gateway).
//!
//! Owns: reading them, and the findings about their names. Flows in: the hub. Flows out: clusters of each Placement.
//! Must not know: what an evaluation would select.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::Reading;
use crate::api::config::PlacementSource;
use crate::api::ocm::GROUP;
use crate::diagnostic::{Code, Finding, Findings, KnownNames};
use crate::hub::{Hub, Objects};
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;
use apimachinery::names::check_cluster_name;

/// All PlacementDecisions, by namespace and placement.
#[derive(Debug, Default)]
pub(super) struct GivenDecisions<'a> {
    by_namespace: BTreeMap<&'a str, BTreeMap<&'a str, Given>>,
}

/// The decisions for one placement: the clusters, sorted, each once, without empty names.
pub(super) type Given = Arc<[String]>;

impl<'a> GivenDecisions<'a> {
    /// Reads every PlacementDecision of the hub. All pages count, duplicates collapse, and an empty name,
    /// which OCM writes for `not scheduled yet`, is skipped.
    pub(super) fn new(hub: &'a Hub, findings: &mut Findings) -> Self {
        let managed: Vec<&str> = hub
            .objects
            .of_kind(GROUP, "ManagedCluster")
            .iter()
            .map(|o| o.name.as_str())
            .collect();
        let mut known = None;
        let mut by_namespace: BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<String>>> = BTreeMap::new();
        for object in hub.objects.of_kind(GROUP, "PlacementDecision") {
            let Some(placement) = object.label(PLACEMENT_LABEL) else {
                continue;
            };
            let given = by_namespace
                .entry(object.namespace_or_empty())
                .or_default()
                .entry(placement)
                .or_default();
            given.extend(cluster_names(
                &hub.objects,
                object,
                &managed,
                &mut known,
                findings,
            ));
        }
        let shared =
            |(placement, given): (&'a str, BTreeSet<String>)| (placement, given.into_iter().collect());
        let by_namespace = by_namespace.into_iter();
        Self {
            by_namespace: by_namespace
                .map(|(namespace, placements)| (namespace, placements.into_iter().map(shared).collect()))
                .collect(),
        }
    }

    /// The decisions for a placement, or `None` when no PlacementDecision carries its label.
    pub(super) fn get(&self, namespace: &str, placement: &str) -> Option<&Given> {
        self.by_namespace.get(namespace)?.get(placement)
    }

    /// The placements that have decisions, by namespace and name.
    pub(super) fn placements(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.by_namespace
            .iter()
            .flat_map(|(namespace, placements)| placements.keys().map(|placement| (*namespace, *placement)))
    }
}

/// Which Placements decisions of the input decide about, and not an evaluation.
#[derive(Debug, Default)]
pub struct Decided<'a> {
    given: GivenDecisions<'a>,
    by_evaluation: bool,
}

impl<'a> Decided<'a> {
    /// Mistakes in the decisions were reported where Gateways were placed.
    pub fn new(hub: &'a Hub, source: PlacementSource) -> Self {
        Self {
            given: GivenDecisions::new(hub, &mut Findings::new()),
            by_evaluation: source == PlacementSource::Evaluate,
        }
    }

    /// The clusters that are decided for a Placement; `None` where the evaluation decides.
    pub fn of(&self, namespace: &str, placement: &str) -> Option<&[String]> {
        if self.by_evaluation {
            return None;
        }
        self.given.get(namespace, placement).map(AsRef::as_ref)
    }
}

/// Every cluster that is registered, decided for, or has a directory of its own below `spokes/`.
pub fn known_clusters(hub: &Hub) -> BTreeSet<&str> {
    let managed = hub.objects.of_kind(GROUP, "ManagedCluster").iter();
    let managed = managed.map(|object| object.name.as_str());
    let inhabited = hub.spokes.keys().map(String::as_str);
    managed
        .chain(decided_clusters(&hub.objects))
        .chain(inhabited)
        .collect()
}

/// The names in the PlacementDecisions of a hub, as they are written.
fn decided_clusters(objects: &Objects) -> impl Iterator<Item = &str> {
    let decisions = objects.of_kind(GROUP, "PlacementDecision").iter();
    let decisions = decisions.flat_map(|object| object.root().get("status").get("decisions").items());
    decisions.filter_map(|decision| decision.text("clusterName"))
}

/// The usable names in one object; a name that is not a valid namespace would become a path, and is an error.
fn cluster_names<'a>(
    objects: &Objects,
    object: &Object,
    managed: &[&'a str],
    known: &mut Option<KnownNames<'a>>,
    findings: &mut Findings,
) -> Vec<String> {
    let mut reading = Reading::new(object, findings);
    let decisions = reading.items(&object.root().get("status").get("decisions"));
    let mut clusters = Vec::new();
    for decision in decisions {
        let field = decision.get("clusterName");
        let Some(name) = reading
            .string(&decision, "clusterName")
            .filter(|name| !name.is_empty())
        else {
            continue;
        };
        if let Err(error) = check_cluster_name(name) {
            reading.wrong(
                Finding::new(
                    Code::OBJECT_INVALID_NAME,
                    object.place(&field.pointer()),
                    format!("`{name}` cannot be the name of a cluster"),
                )
                .note(error.to_string())
                .help("it is also the name of the cluster's namespace on the hub"),
            );
            continue;
        }
        if !managed.is_empty() && managed.binary_search(&name).is_err() {
            let finding = Finding::new(
                Code::PLACEMENT_UNKNOWN_CLUSTER,
                object.place(&field.pointer()),
                format!("there is no ManagedCluster `{name}` in the input"),
            )
            .label("the decision is used regardless");
            let known = known.get_or_insert_with(|| KnownNames::of(managed.iter().copied()));
            let finding = match known.nearest(name) {
                Some(near) => {
                    let finding = finding.help(format!("did you mean `{near}`?"));
                    match objects.find(GROUP, "ManagedCluster", None, near) {
                        Some(cluster) => {
                            finding.lacks(format!("ManagedCluster {name}"), cluster.place("/metadata/name"))
                        }
                        None => finding,
                    }
                }
                None => finding.help(
                    "add the ManagedCluster (`kubectl get managedcluster -o yaml`), or correct the decision",
                ),
            };
            reading.wrong(finding);
        }
        clusters.push(name.to_owned());
    }
    clusters
}
