//! The clusters of each Gateway of ours (docs/placement.md): those of PlacementDecisions in the input
//! (docs/systems/mgc.md#placing-a-gateway), or evaluated.

use std::borrow::Borrow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use apimachinery::Identity;
use apimachinery::names::check_cluster_name;
use kube_json::Text;
use ocm_placement::{Evaluation, Inventory, Problem};

use super::findings::{all_problems, decisions, did_you_mean, differs, finding};
use crate::api::Reading;
use crate::api::config::PlacementSource;
use crate::api::gateway::Gateway;
use crate::api::ocm::GROUP;
use crate::diagnostic::{Code, Finding, Findings, NameIndex, Severity, nearest, shell_name, shell_word};
use crate::hub::{Hub, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::object::well_known::{PLACEMENT_LABEL, PLACEMENT_LABEL_POINTER};

/// The clusters of each Gateway, by its `namespace/name`.
pub type Clusters = BTreeMap<String, Arc<[String]>>;

/// The clusters of each Gateway of ours, sorted; none for one without a placement.
///
/// The evaluation takes place only where it is needed.
pub fn place<'a>(
    hub: &'a Hub,
    ours: &Ours<'_>,
    source: PlacementSource,
    inventory: &Inventory<'_>,
    evaluation: &'a LazyCell<Evaluation<'a>, impl FnOnce() -> Evaluation<'a>>,
    findings: &mut Findings,
) -> Table<OurGatewayId, Arc<[String]>> {
    report_decisions(hub, findings);
    let mut placing = Placing {
        hub,
        given: given_decisions(hub),
        evaluation: None,
        source,
        evaluated: BTreeMap::new(),
        lists: HashSet::new(),
        unable: BTreeSet::new(),
    };
    // It decides about a Gateway, or is compared with its decisions.
    let is_evaluated = |gateway: &Gateway<'_>| {
        let own = gateway.object.namespace_or_empty();
        let placement = gateway.placement.as_deref();
        placement.is_some_and(|name| inventory.has_placement(own, name))
    };
    // A CEL selector may be dear, and an input with decisions for all of its Gateways needs no evaluation.
    let mut gateways = ours.gateways.rows().iter();
    if source != PlacementSource::Decisions && gateways.any(|ours| is_evaluated(&ours.gateway)) {
        placing.evaluation = Some(LazyCell::force(evaluation));
    }
    let clusters = ours.gateways.map(|(_, ours)| {
        let clusters = placing.clusters(&ours.gateway, inventory, findings);
        clusters.unwrap_or_default()
    });
    placing.report(inventory, findings);
    clusters
}

/// The data for placing Gateways.
struct Placing<'a> {
    hub: &'a Hub,
    given: GivenDecisions<'a>,
    evaluation: Option<&'a Evaluation<'a>>,
    source: PlacementSource,
    /// The Placements whose evaluation decides something, and their clusters, which all their Gateways share.
    evaluated: BTreeMap<(String, String), Arc<[String]>>,
    /// Equal lists of different Placements are one.
    lists: HashSet<Arc<[String]>>,
    /// Clusters that they choose and that can have no work.
    unable: BTreeSet<String>,
}

impl Placing<'_> {
    fn clusters(
        &mut self,
        gateway: &Gateway<'_>,
        inventory: &Inventory<'_>,
        findings: &mut Findings,
    ) -> Option<Arc<[String]>> {
        let Some(name) = gateway.placement.as_deref() else {
            findings.extend(not_placed(gateway));
            return None;
        };
        let namespace = gateway.object.namespace_or_empty();
        let given = self.given.get(&(namespace, name));
        if let Some(given) = given.filter(|_| self.source != PlacementSource::Evaluate) {
            // MGC places such a Gateway nowhere, without an error (docs/systems/mgc.md#placing-a-gateway).
            if given.is_empty() {
                let message = format!("the decisions for placement `{name}` contain no cluster");
                let place = gateway.object.place(PLACEMENT_LABEL_POINTER);
                findings.push(
                    Finding::new(Code::PLACEMENT_NO_CLUSTERS, place, message)
                        .label(format!("{} is on no cluster", gateway.object.identity()))
                        .help("`spokewright placement --why CLUSTER` shows why a cluster is not selected"),
                );
            }
            return Some(Arc::clone(given));
        }
        let key = (namespace.to_owned(), name.to_owned());
        // Hundreds of Gateways may name one Placement: they share its list.
        if let Some(known) = self.evaluated.get(&key) {
            return Some(Arc::clone(known));
        }
        let Some(evaluated) = self
            .evaluation
            .and_then(|evaluation| evaluation.clusters_of(namespace, name))
        else {
            findings.push(self.not_found(gateway, name, inventory));
            return None;
        };
        let all = evaluated.into_iter().map(str::to_owned);
        let (mut clusters, unable): (Vec<String>, Vec<String>) =
            all.partition(|cluster| check_cluster_name(cluster).is_ok());
        self.unable.extend(unable);
        // The evaluation lists them group by group.
        clusters.sort_unstable();
        let clusters = share(&mut self.lists, clusters);
        self.evaluated.insert(key, Arc::clone(&clusters));
        Some(clusters)
    }

    /// The findings of the evaluation about the Placements that it decided, and about those where its answer differs
    /// from the decisions that were used.
    fn report(&self, inventory: &Inventory<'_>, findings: &mut Findings) {
        let hub = self.hub;
        let Some(evaluation) = self.evaluation else {
            return;
        };
        let problems = all_problems(evaluation);
        let decided = problems.iter().filter(|problem| {
            let key = (problem.namespace.clone(), problem.name.clone());
            self.evaluated.contains_key(&key)
        });
        findings.extend(decided.map(|problem| finding(hub, problem)));
        let clusters = hub.objects.of_kind(GROUP, "ManagedCluster").iter();
        let unable = clusters.filter(|cluster| self.unable.contains(cluster.name.as_str()));
        findings.extend(unable.filter_map(holds_no_work));
        if self.source == PlacementSource::Auto {
            let differences = evaluation.differences();
            findings.extend(differences.iter().map(|difference| {
                let (namespace, name) = (&difference.namespace, &difference.name);
                let clusters = evaluation.clusters_of(namespace, name);
                let of_placement =
                    |problem: &&Problem| (&problem.namespace, &problem.name) == (namespace, name);
                let is_empty = clusters.is_none_or(|clusters| clusters.is_empty());
                let why_empty = problems.iter().find(of_placement).filter(|_| is_empty);
                differs(hub, inventory, difference, why_empty)
            }));
        }
    }

    fn not_found(&self, gateway: &Gateway<'_>, name: &str, inventory: &Inventory<'_>) -> Finding {
        let namespace = gateway.object.namespace_or_empty();
        let decisions_only = self.source == PlacementSource::Decisions;
        let missing = match self.source {
            PlacementSource::Decisions => "PlacementDecision",
            PlacementSource::Evaluate => "Placement",
            PlacementSource::Auto => "PlacementDecision or Placement",
        };
        let place = gateway.object.place(PLACEMENT_LABEL_POINTER);
        let message = format!("there is no {missing} for placement `{name}` in namespace `{namespace}`");
        let mut finding = Finding::new(Code::PLACEMENT_NOT_FOUND, place, message)
            .label(format!("needed by {}", gateway.object.identity()))
            .missing(Identity::new(GROUP, "Placement", None, name));
        // If the Placement exists and cannot be read, its own finding says why.
        if let Some(unread) = self.hub.objects.find(GROUP, "Placement", Some(namespace), name) {
            finding = finding.follows_from(unread.place(""));
        }
        let placements = inventory.placements().filter(|_| !decisions_only);
        let known: BTreeSet<(&str, &str)> = placements.chain(self.given.keys().copied()).collect();
        let here = known.iter().filter(|(other, _)| *other == namespace);
        // A Gateway can only use Placements of its own namespace (docs/systems/mgc.md#placing-a-gateway).
        let here = here.map(|(_, name)| *name);
        if let Some(near) = nearest(name, here.filter(|near| *near != name)) {
            let missing = Identity::new(GROUP, "Placement", Some(namespace), name);
            return did_you_mean(finding, self.hub, &missing, near);
        }
        let mut elsewhere = known.iter().filter(|(other, _)| *other != namespace);
        match elsewhere.find(|(_, placement)| *placement == name) {
            Some((elsewhere, _)) => finding
                .note(format!(
                    "namespace `{elsewhere}` has a placement of that name, but a Gateway can use only those of its own namespace"
                ))
                .help("move the placement or the Gateway, so that both are in one namespace"),
            None if decisions_only => finding.help(format!(
                "add the PlacementDecisions (`kubectl get placementdecision -n {} -o yaml`), or use \
                 `--placement auto`",
                shell_word(namespace)
            )),
            None => finding.help(format!(
                "correct the label, or add the Placement (`kubectl get placement {} -n {} -o yaml`) or \
                 its PlacementDecisions to the input",
                shell_name(name),
                shell_word(namespace)
            )),
        }
    }
}

/// An API server takes such a cluster, and a Placement may choose it.
fn holds_no_work(cluster: &Object) -> Option<Finding> {
    let error = check_cluster_name(&cluster.name).err()?;
    let message = format!(
        "cluster `{}` can have no works: they belong in a namespace of its name, and no namespace can have that name",
        cluster.name
    );
    let finding = Finding::new(
        Code::OBJECT_INVALID_NAME,
        cluster.place("/metadata/name"),
        message,
    )
    .label("a Placement selects it")
    .note(error.to_string());
    Some(match error.suggestion {
        Some(name) => finding.help(format!("register it under another name, such as `{name}`")),
        None => finding.help("register it under another name"),
    })
}

/// The finding that a Gateway has no placement label, unless its labels cannot be read, which is the mistake then.
fn not_placed(gateway: &Gateway<'_>) -> Option<Finding> {
    let labels = gateway.object.root().get("metadata").get("labels");
    labels.mapping().ok()?;
    labels.get(PLACEMENT_LABEL).string().ok()?;
    let near = nearest(PLACEMENT_LABEL, labels.entries().map(|(label, _)| label));
    let object = gateway.object;
    let message = format!(
        "{} has no placement label, so no cluster receives it",
        object.identity()
    );
    let finding = |place| Finding::new(Code::GATEWAY_NOT_PLACED, place, message);
    Some(match near {
        Some(near) => finding(object.key_place(&labels.get(near).pointer()))
            .severity(Severity::Error)
            .help(format!("did you mean `{PLACEMENT_LABEL}`?")),
        None => finding(object.place(&labels.pointer())).help(format!(
            "add the label `{PLACEMENT_LABEL}: NAME` with the name of a Placement in its namespace"
        )),
    })
}

/// All PlacementDecisions, by namespace and placement: the clusters, sorted, each once.
type GivenDecisions<'a> = BTreeMap<(&'a str, &'a str), Arc<[String]>>;

/// Reads every PlacementDecision of the hub. All pages count, duplicates collapse, and a name that no cluster can have is
/// skipped, as is the empty one, which OCM writes for `not scheduled yet`.
fn given_decisions(hub: &Hub) -> GivenDecisions<'_> {
    let mut given: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (decision, placement) in decisions(hub) {
        // A Placement has a PlacementDecision for each 100 clusters of a group
        // (docs/systems/ocm-placement.md#placementdecisions).
        let names = cluster_names(decision).filter(|name| check_cluster_name(name).is_ok());
        let here = given.entry((decision.namespace_or_empty(), placement));
        here.or_default().extend(names);
    }
    let names = |clusters: BTreeSet<&str>| clusters.into_iter().map(str::to_owned).collect();
    let given = given.into_iter();
    given
        .map(|(placement, clusters)| (placement, names(clusters)))
        .collect()
}

/// The names in a PlacementDecision.
pub(super) fn cluster_names(decision: &Object) -> impl Iterator<Item = &str> {
    let decisions = decision.root().get("status").get("decisions").items();
    decisions.filter_map(|decision| decision.text("clusterName"))
}

/// Reports what is wrong with the clusters in PlacementDecisions. A name that is not a valid namespace would become a path,
/// and is an error.
pub(super) fn report_decisions(hub: &Hub, findings: &mut Findings) {
    let managed = hub.objects.of_kind(GROUP, "ManagedCluster").iter();
    let managed: Vec<&str> = managed.map(|cluster| cluster.name.as_str()).collect();
    let known = LazyCell::new(|| NameIndex::new(managed.iter().copied()));
    for (object, _) in decisions(hub) {
        let mut reading = Reading::new(object);
        for decision in reading.items(&object.root().get("status").get("decisions")) {
            let name = reading.string(&decision, "clusterName");
            let Some(name) = name.map(Text::as_str).filter(|name| !name.is_empty()) else {
                continue;
            };
            let place = object.place(&decision.get("clusterName").pointer());
            if let Err(error) = check_cluster_name(name) {
                let message = format!("`{name}` cannot be the name of a cluster");
                reading.wrong(
                    Finding::new(Code::OBJECT_INVALID_NAME, place, message)
                        .note(error.to_string())
                        .help("it is also the name of the cluster's namespace on the hub"),
                );
            // An input without any ManagedCluster leaves them to the hub, which knows them.
            } else if !managed.is_empty() && managed.binary_search(&name).is_err() {
                let missing = Identity::new(GROUP, "ManagedCluster", None, name);
                let message = format!("there is no ManagedCluster `{name}` in the input");
                let finding = Finding::new(Code::PLACEMENT_UNKNOWN_CLUSTER, place, message)
                    .label("the decision is used regardless")
                    .missing(missing.clone());
                reading.wrong(match known.nearest(name) {
                    Some(near) => did_you_mean(finding, hub, &missing, near),
                    None => finding.help(
                        "add the ManagedCluster (`kubectl get managedcluster -o yaml`), or correct the decision",
                    ),
                });
            }
        }
        findings.extend(reading.into_findings());
    }
}

/// Which Placements decisions of the input decide about, and not an evaluation.
#[derive(Debug, Default)]
pub struct Decided<'a>(GivenDecisions<'a>);

impl<'a> Decided<'a> {
    /// Those of a hub.
    pub fn new(hub: &'a Hub, source: PlacementSource) -> Self {
        Self(match source {
            PlacementSource::Evaluate => GivenDecisions::new(),
            PlacementSource::Decisions | PlacementSource::Auto => given_decisions(hub),
        })
    }

    /// The clusters that are decided for a Placement; `None` where the evaluation decides.
    pub fn for_placement<'s>(&'s self, namespace: &'s str, placement: &'s str) -> Option<&'s [String]> {
        self.0.get(&(namespace, placement)).map(AsRef::as_ref)
    }
}

/// The value, or the equal one that was there before.
pub fn share<T: Eq + Hash + ?Sized, S: BuildHasher>(
    known: &mut HashSet<Arc<T>, S>,
    value: impl Borrow<T> + Into<Arc<T>>,
) -> Arc<T> {
    if let Some(known) = known.get(value.borrow()) {
        return Arc::clone(known);
    }
    let value = value.into();
    known.insert(Arc::clone(&value));
    value
}

/// Whether a cluster is in a sorted list.
pub fn is_among(clusters: &[String], cluster: &str) -> bool {
    let found = clusters.binary_search_by(|name| name.as_str().cmp(cluster));
    found.is_ok()
}

/// Every cluster that is registered, decided for, or has a directory of its own below `spokes/`.
pub fn known_clusters(hub: &Hub) -> BTreeSet<&str> {
    let managed = hub.objects.of_kind(GROUP, "ManagedCluster").iter();
    let managed = managed.map(|object| object.name.as_str());
    let decisions = hub.objects.of_kind(GROUP, "PlacementDecision").iter();
    let inhabited = hub.spokes.keys().map(String::as_str);
    let decided = decisions.flat_map(cluster_names);
    managed.chain(decided).chain(inhabited).collect()
}
