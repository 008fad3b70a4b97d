//! The clusters of each Gateway of ours (design section 6): given, or evaluated.

use std::collections::BTreeSet;

use super::{Detail, Evaluation, GivenDecisions, Input, evaluate};
use crate::api::config::PlacementSource;
use crate::api::gateway::{Gateway, PLACEMENT_LABEL};
use crate::api::ocm::{GROUP, Inventory};
use crate::diagnostic::{Code, Finding, Findings, nearest};
use crate::hub::{Hub, Ours};

/// The pointer of the placement label inside a Gateway.
const LABEL_POINTER: &str = "/metadata/labels/cluster.open-cluster-management.io~1placement";

/// The objects that placement depends on. What an API server would refuse is a finding and left out; where the
/// input has the CRD itself, the hub has said so already.
pub fn inventory<'a>(hub: &'a Hub, findings: &mut Findings) -> Inventory<'a> {
    let (inventory, refused) = Inventory::read(hub.objects.iter());
    if !hub.crds.keys().any(|kind| kind.group == GROUP) {
        findings.extend(refused);
    }
    inventory
}

/// The clusters of each Gateway, sorted, in the order of [`Ours::gateways`]; none for one that nobody places.
///
/// `input` is what an evaluation starts from; it takes place only where it is needed.
pub fn place(
    hub: &Hub,
    ours: &Ours<'_>,
    source: PlacementSource,
    input: &Input<'_>,
    findings: &mut Findings,
) -> Vec<Vec<String>> {
    let mut placing = Placing {
        given: GivenDecisions::new(hub, findings),
        evaluation: None,
        source,
        evaluated: BTreeSet::new(),
    };
    if ours
        .gateways
        .rows()
        .iter()
        .any(|gateway| placing.wants_evaluation(&gateway.gateway, input.inventory))
    {
        placing.evaluation = Some(evaluate(input, Detail::Decisions));
    }
    let clusters = ours
        .gateways
        .rows()
        .iter()
        .map(|gateway| {
            placing
                .clusters(&gateway.gateway, input.inventory, findings)
                .unwrap_or_default()
        })
        .collect();
    placing.report(findings);
    clusters
}

/// What is known while Gateways are placed.
struct Placing<'a> {
    given: GivenDecisions<'a>,
    evaluation: Option<Evaluation<'a>>,
    source: PlacementSource,
    /// The Placements whose evaluation decides something.
    evaluated: BTreeSet<(String, String)>,
}

impl Placing<'_> {
    /// Whether the evaluation decides about this Gateway, or is compared with its decisions.
    fn wants_evaluation(&self, gateway: &Gateway<'_>, inventory: &Inventory<'_>) -> bool {
        let Some(name) = gateway.placement else {
            return false;
        };
        self.source != PlacementSource::Decisions
            && has_placement(inventory, gateway.object.namespace_or_empty(), name)
    }

    fn clusters(
        &mut self,
        gateway: &Gateway<'_>,
        inventory: &Inventory<'_>,
        findings: &mut Findings,
    ) -> Option<Vec<String>> {
        let Some(name) = gateway.placement else {
            findings.push(not_placed(gateway));
            return None;
        };
        let namespace = gateway.object.namespace_or_empty();
        let given = self
            .given
            .get(namespace, name)
            .filter(|_| self.source != PlacementSource::Evaluate);
        if let Some(given) = given {
            if given.clusters.is_empty() {
                findings.push(no_clusters(gateway, name));
            }
            return Some(given.clusters.clone());
        }
        let evaluated = match &self.evaluation {
            Some(evaluation) => evaluation.clusters_of(namespace, name),
            None => None,
        };
        let Some(evaluated) = evaluated else {
            findings.push(self.not_found(gateway, name, inventory));
            return None;
        };
        self.evaluated.insert((namespace.to_owned(), name.to_owned()));
        let mut clusters: Vec<String> = evaluated.into_iter().map(str::to_owned).collect();
        clusters.sort_unstable();
        Some(clusters)
    }

    /// What the evaluation has to say about the Placements that it decided, and where it gives another answer
    /// than the decisions that were used.
    fn report(&self, findings: &mut Findings) {
        let Some(evaluation) = &self.evaluation else {
            return;
        };
        let decides =
            |namespace: &str, name: &str| self.evaluated.contains(&(namespace.to_owned(), name.to_owned()));
        findings.extend(evaluation.findings_of(decides));
        if self.source == PlacementSource::Auto {
            let differences = evaluation.differences();
            findings.extend(differences.iter().map(super::Difference::finding));
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
        let finding = Finding::new(
            Code::PLACEMENT_NOT_FOUND,
            gateway.object.place(LABEL_POINTER),
            format!("no {missing} in namespace `{namespace}` is for placement `{name}`"),
        )
        .label(format!("needed by {}", gateway.object.identity()));
        let placements = inventory.placements.iter().filter(|_| !decisions_only);
        let known: BTreeSet<(&str, &str)> = placements
            .map(|placement| (placement.namespace, placement.name))
            .chain(self.given.placements())
            .collect();
        let here = known
            .iter()
            .filter(|(other, _)| *other == namespace)
            .map(|(_, name)| *name);
        if let Some(near) = nearest(name, here.filter(|near| *near != name)) {
            return finding.help(format!("did you mean `{near}`?"));
        }
        match known.iter().find(|(other, placement)| *placement == name && *other != namespace) {
            Some((elsewhere, _)) => finding
                .note(format!("namespace `{elsewhere}` has a placement of that name; it does not count here"))
                .help("move the placement or the Gateway: both live in one namespace"),
            None if decisions_only => finding.help(format!(
                "add the PlacementDecisions (`kubectl get placementdecision -n {namespace} -o yaml`), or use \
                 `--placement auto`"
            )),
            None => finding.help(format!(
                "correct the label, or add the Placement (`kubectl get placement {name} -n {namespace} -o yaml`) or \
                 its PlacementDecisions to the input"
            )),
        }
    }
}

fn has_placement(inventory: &Inventory<'_>, namespace: &str, name: &str) -> bool {
    inventory
        .placements
        .binary_search_by(|placement| (placement.namespace, placement.name).cmp(&(namespace, name)))
        .is_ok()
}

fn not_placed(gateway: &Gateway<'_>) -> Finding {
    Finding::new(
        Code::GATEWAY_NOT_PLACED,
        gateway.object.place("/metadata/labels"),
        format!(
            "{} has no placement label, so no cluster receives it",
            gateway.object.identity()
        ),
    )
    .help(format!(
        "add the label `{PLACEMENT_LABEL}: NAME` with the name of a Placement in its namespace"
    ))
}

fn no_clusters(gateway: &Gateway<'_>, placement: &str) -> Finding {
    Finding::new(
        Code::PLACEMENT_NO_CLUSTERS,
        gateway.object.place(LABEL_POINTER),
        format!("the decisions for placement `{placement}` name no cluster"),
    )
    .label(format!("{} is placed nowhere", gateway.object.identity()))
    .help("`spokewright placement --why CLUSTER` says what speaks against a cluster")
}
