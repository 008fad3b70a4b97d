//! The clusters of each Gateway of ours (design section 6).

use super::GivenDecisions;
use crate::api::config::PlacementSource;
use crate::api::gateway::{Gateway, PLACEMENT_LABEL};
use crate::diagnostic::{Code, Finding, Findings, nearest};
use crate::hub::{Hub, Ours};

/// The pointer of the placement label inside a Gateway.
const LABEL_POINTER: &str = "/metadata/labels/cluster.open-cluster-management.io~1placement";

/// The clusters of each Gateway, sorted, in the order of [`Ours::gateways`]; none for one that nobody places.
pub fn place(
    hub: &Hub,
    ours: &Ours<'_>,
    source: PlacementSource,
    findings: &mut Findings,
) -> Vec<Vec<String>> {
    let given = GivenDecisions::new(hub, findings);
    ours.gateways
        .iter()
        .map(|gateway| clusters(&gateway.gateway, &given, source, findings).unwrap_or_default())
        .collect()
}

fn clusters(
    gateway: &Gateway<'_>,
    given: &GivenDecisions<'_>,
    source: PlacementSource,
    findings: &mut Findings,
) -> Option<Vec<String>> {
    let Some(placement) = gateway.placement else {
        findings.push(not_placed(gateway));
        return None;
    };
    if source == PlacementSource::Evaluate {
        findings.push(
            Finding::new(
                Code::PLACEMENT_NOT_FOUND,
                gateway.object.place(LABEL_POINTER),
                "evaluation is not supported yet",
            )
            .help("leave `--placement evaluate` out, and put PlacementDecisions into the input"),
        );
        return None;
    }
    let Some(decisions) = given.get(gateway.object.namespace_or_empty(), placement) else {
        findings.push(not_found(gateway, placement, given));
        return None;
    };
    if decisions.clusters.is_empty() {
        findings.push(
            Finding::new(
                Code::PLACEMENT_NO_CLUSTERS,
                gateway.object.place(LABEL_POINTER),
                format!("the decisions for placement `{placement}` name no cluster"),
            )
            .label(format!("{} is placed nowhere", gateway.object.identity()))
            .help("check why the Placement selects nothing"),
        );
    }
    Some(decisions.clusters.clone())
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

fn not_found(gateway: &Gateway<'_>, placement: &str, given: &GivenDecisions<'_>) -> Finding {
    let namespace = gateway.object.namespace_or_empty();
    let finding = Finding::new(
        Code::PLACEMENT_NOT_FOUND,
        gateway.object.place(LABEL_POINTER),
        format!("no PlacementDecision in namespace `{namespace}` is for placement `{placement}`"),
    )
    .label(format!("needed by {}", gateway.object.identity()));
    let here = given
        .placements()
        .filter(|(other, _)| *other == namespace)
        .map(|(_, name)| name);
    if let Some(near) = nearest(placement, here) {
        return finding.help(format!("did you mean `{near}`?"));
    }
    match given.placements().find(|(_, name)| *name == placement) {
        Some((elsewhere, _)) => finding
            .note(format!(
                "namespace `{elsewhere}` has decisions of that name; they do not count here"
            ))
            .help("move the decisions or the Gateway: both live in one namespace"),
        None => finding.help(
            "add the PlacementDecision (`kubectl get placementdecision -o yaml`), or correct the label",
        ),
    }
}
