//! From a hub to a plan, and to everything that can be said about it.

use crate::diagnostic::{Code, Finding, Findings, Place};
use crate::hub::{Grants, Ours};
use crate::placement;
use crate::policy::{Shipping, report_unsynced, report_unused};
use crate::render::{self, PlacedGateway, Plan, Settings};
use crate::report::{ObjectStatus, WithheldPolicy};

use super::Loaded;

/// What a run would write, and what is said about it.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The works, of the clusters that are asked for.
    pub plan: Plan,
    /// Every cluster of the fleet that receives anything, sorted.
    pub all_clusters: Vec<String>,
    /// Policies of synced kinds that are not shipped, and why.
    pub withheld: Vec<WithheldPolicy>,
    /// Predicted status of hub objects.
    pub statuses: Vec<ObjectStatus>,
}

/// Plans what each cluster receives.
///
/// That nothing is rendered is an error unless `allow_empty`: an empty stream makes Argo CD delete everything.
pub fn render(loaded: &Loaded, allow_empty: bool, findings: &mut Findings) -> Rendered {
    let hub = &loaded.hub;
    let ours = Ours::new(hub, &loaded.config.controller_name, findings);
    let grants = Grants::new(hub, findings);
    let inventory = placement::inventory(hub, findings);
    let source = loaded.config.placement_source;
    let clusters = placement::place(hub, &ours, source, &loaded.evaluation_input(&inventory), findings);
    let gateways: Vec<PlacedGateway<'_>> = ours
        .gateways
        .iter()
        .zip(clusters)
        .map(|(gateway, clusters)| PlacedGateway {
            gateway: &gateway.gateway,
            params: &gateway.params,
            clusters,
        })
        .collect();
    let shipping = Shipping::new(hub, &ours, &grants, findings);
    report_unsynced(hub, &ours, findings);
    let placed: Vec<bool> = gateways
        .iter()
        .map(|gateway| !gateway.clusters.is_empty())
        .collect();
    report_unused(hub, &ours, &placed, findings);
    let settings = Settings {
        secrets: loaded.config.secrets,
        hub_objects: loaded.config.hub_objects,
    };
    let input = render::Input {
        hub,
        grants: &grants,
        gateways: &gateways,
        shipments: &shipping.shipments,
        withheld: &shipping.withheld,
        settings,
    };
    let mut plan = render::render(&input, findings);
    let all_clusters: Vec<String> = plan.clusters.keys().cloned().collect();
    plan.retain_clusters(|cluster| loaded.admits(cluster));
    // Whatever else is wrong explains it better.
    let explained = findings.has_errors() || loaded.findings.has_errors();
    // A part of a directory may well be empty; a stream is all that its reader sees.
    let is_empty = if loaded.is_stream {
        plan.clusters.is_empty()
    } else {
        !all_clusters
            .iter()
            .any(|cluster| loaded.selection.matches(cluster))
    };
    if is_empty && !allow_empty && !explained {
        findings.push(nothing_rendered(loaded, &ours, &all_clusters));
    }
    let withheld = shipping
        .withheld
        .iter()
        .map(|entry| WithheldPolicy::new(entry, &ours))
        .collect();
    let statuses = ours.classes.values().map(ObjectStatus::of_class).collect();
    Rendered {
        plan,
        all_clusters,
        withheld,
        statuses,
    }
}

/// Everything that [`render`] would report, and more that deserves a look.
pub fn check(loaded: &Loaded, findings: &mut Findings) {
    render(loaded, false, findings);
}

/// Says which link of the chain from files to clusters is missing.
fn nothing_rendered(loaded: &Loaded, ours: &Ours<'_>, all_clusters: &[String]) -> Finding {
    let finding = Finding::new(
        Code::EMPTY_NOTHING_RENDERED,
        Place::Run,
        "no cluster would receive anything",
    );
    let finding = finding.note("an empty result makes Argo CD delete everything that was applied before");
    if loaded.hub.objects.is_empty() {
        finding.help(
            "no Kubernetes object was read: name the directory of the hub, as in `spokewright render hub`",
        )
    } else if ours.classes.is_empty() {
        finding.help(format!(
            "no GatewayClass has the controllerName `{}`: add one, or set `controllerName` in spokewright.yaml",
            loaded.config.controller_name
        ))
    } else if ours.gateways.is_empty() {
        finding.help("no Gateway has a class of ours with usable parameters")
    } else if let Some(shard) = loaded.selection.shard
        && all_clusters
            .iter()
            .any(|cluster| loaded.selection.matches(cluster))
    {
        finding.help(format!(
            "shard {shard} holds none of: {}; write fewer shards, or pass --allow-empty",
            all_clusters.join(", ")
        ))
    } else if !all_clusters.is_empty() {
        finding.help(format!(
            "`--clusters` matches none of: {}",
            all_clusters.join(", ")
        ))
    } else {
        finding.help("no Gateway is placed on any cluster; pass --allow-empty if that is what you mean")
    }
}
