//! From a hub to a plan, and to everything that can be said about it.

use std::collections::BTreeSet;

use super::inputs::Loaded;
use super::nothing::nothing_rendered;
use super::policies::{Attached, attach, receives};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, WorkValidation};
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Grants, Objects, Ours};
use crate::placing;
use crate::policy::PolicyView;
use crate::policy::{Clusters, Node};
use crate::progress::Stage;
use crate::render::{self, PlacedGateway, Plan, Settings};
use crate::report::{
    Aggregated, Aggregation, Group, ObjectStatus, Prediction, WithheldPolicy, placements_not_found,
};
use crate::sync::{Consignments, Shipment, check_admission, report_unsynced, report_unused};

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

/// How much a rendering says beside the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The plan: what writing needs.
    Plan,
    /// Predicted statuses and the findings that need effective policies as well.
    Full,
}

/// Plans what each cluster receives.
///
/// That nothing is rendered is an error unless `allow_empty`: an empty stream makes Argo CD delete everything.
pub fn render(loaded: &Loaded, allow_empty: bool, detail: Detail, findings: &mut Findings) -> Rendered {
    let mut planned = plan(loaded, allow_empty, findings);
    if detail == Detail::Full {
        let (ours, clusters) = (&planned.ours, &planned.clusters);
        let not_found = placements_not_found(ours, findings);
        let view = PolicyView::new(planned.attached, ours, clusters, None, findings);
        planned.rendered.statuses = predictions(loaded, ours, clusters, &not_found, &view);
    }
    planned.rendered
}

/// What [`render()`] gives with [`Detail::Plan`], and the policies that it follows from: each stage runs once for both.
/// What the policies alone would report is left out.
pub fn render_with_policies<'a>(
    loaded: &'a Loaded,
    allow_empty: bool,
    findings: &mut Findings,
) -> (Rendered, PolicyView<'a>) {
    let planned = plan(loaded, allow_empty, findings);
    let (ours, clusters) = (&planned.ours, &planned.clusters);
    let view = PolicyView::new(planned.attached, ours, clusters, None, &mut Findings::new());
    (planned.rendered, view)
}

/// What a run would write, and what it was made from.
struct Planned<'a> {
    ours: Ours<'a>,
    /// In the order of [`Ours::gateways`].
    clusters: Vec<Vec<String>>,
    attached: Attached<'a>,
    /// Without statuses.
    rendered: Rendered,
}

fn plan<'a>(loaded: &'a Loaded, allow_empty: bool, findings: &mut Findings) -> Planned<'a> {
    let hub = &loaded.hub;
    let ours = Ours::new(hub, &loaded.config.controller_name, findings);
    let grants = Grants::new(hub, findings);
    let clusters = place(loaded, &ours, findings);
    let attached = attach(loaded, &ours, &grants, None, findings);
    report_unsynced(
        &attached.attachments,
        &attached.synced,
        &attached.routes,
        hub,
        &ours,
        findings,
    );
    attached.routes.report_loose(&ours, &clusters, findings);
    let namespace_labels = check_admission(
        &attached.routes,
        &attached.attachments,
        hub,
        &ours,
        &clusters,
        findings,
    );
    let placed: Vec<bool> = clusters.iter().map(|clusters| !clusters.is_empty()).collect();
    report_unused(&attached.attachments, &attached.synced, &placed, findings);

    let gateways: Vec<PlacedGateway<'_>> = ours
        .gateways
        .iter()
        .zip(&clusters)
        .map(|(gateway, clusters)| PlacedGateway {
            gateway: &gateway.gateway,
            params: &gateway.params,
            clusters: clusters.clone(),
        })
        .collect();
    let consignments = consign(&attached, &ours, &clusters);
    let shipments = Shipment::all(
        &consignments.shipped,
        &attached.attachments,
        (&attached.synced, &attached.routes),
        &ours,
    );
    let withheld_objects: Vec<_> = consignments
        .withheld
        .iter()
        .filter_map(|withheld| attached.attachments.policy(withheld.policy))
        .map(|policy| policy.object)
        .collect();
    let input = render::Input {
        hub,
        grants: &grants,
        gateways: &gateways,
        shipments: &shipments,
        withheld: &withheld_objects,
        namespace_labels: &namespace_labels,
        settings: Settings {
            secrets: loaded.config.secrets,
            hub_objects: loaded.config.hub_objects,
            work_kind: loaded.work_kind,
        },
        progress: &loaded.progress,
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
    let withheld = consignments
        .withheld
        .iter()
        .filter_map(|entry| WithheldPolicy::new(entry, &attached.attachments))
        .collect();
    Planned {
        ours,
        clusters,
        attached,
        rendered: Rendered {
            plan,
            all_clusters,
            withheld,
            statuses: Vec::new(),
        },
    }
}

/// Predicted statuses, and the policies that they follow from.
#[derive(Debug)]
pub struct Predicted<'a> {
    /// The policies.
    pub view: PolicyView<'a>,
    /// The statuses.
    pub statuses: Vec<ObjectStatus>,
}

/// Predicts the status of every hub object, without planning works.
pub fn predict<'a>(loaded: &'a Loaded, findings: &mut Findings) -> Predicted<'a> {
    let ours = Ours::new(&loaded.hub, &loaded.config.controller_name, findings);
    let grants = Grants::new(&loaded.hub, findings);
    let clusters = place(loaded, &ours, findings);
    let not_found = placements_not_found(&ours, findings);
    let attached = attach(loaded, &ours, &grants, None, findings);
    let view = PolicyView::new(attached, &ours, &clusters, None, findings);
    let statuses = predictions(loaded, &ours, &clusters, &not_found, &view);
    Predicted { view, statuses }
}

fn predictions(
    loaded: &Loaded,
    ours: &Ours<'_>,
    clusters: &[Vec<String>],
    not_found: &BTreeSet<usize>,
    view: &PolicyView<'_>,
) -> Vec<ObjectStatus> {
    let prediction = Prediction {
        objects: &loaded.hub.objects,
        ours,
        clusters,
        not_found,
        attachments: &view.attachments,
        effective: &view.effective,
        statuses: &view.statuses,
        by_key: &view.clusters,
        effects: &view.effects,
        routes: &view.routes,
    };
    let mut statuses = prediction.statuses();
    for status in &mut statuses {
        status.on_clusters.retain(|there| loaded.admits(&there.cluster));
        status.shipped_to.retain(|cluster| loaded.admits(cluster));
    }
    // A route of which nothing was said but that it goes to other clusters.
    statuses.retain(|status| {
        status.group != Group::Route
            || !(status.shipped_to.is_empty()
                && status.conditions.is_empty()
                && status.effective_policy.is_empty())
    });
    statuses
}

/// Aggregates the statuses of hub objects from exported ManifestWorks, as far as the clusters are asked for.
pub fn aggregate(loaded: &Loaded, works: &Objects, findings: &mut Findings) -> Aggregated {
    let Planned {
        ours,
        clusters,
        attached,
        rendered,
    } = plan(loaded, true, findings);
    let view = PolicyView::new(attached, &ours, &clusters, None, findings);
    let aggregation = Aggregation {
        plan: &rendered.plan,
        works,
        hub: &loaded.hub,
        ours: &ours,
        attachments: &view.attachments,
        effects: &view.effects,
        routes: &view.routes,
    };
    aggregation.aggregate(|cluster| loaded.admits(cluster), findings)
}

/// Everything that [`render()`] would report, and more that deserves a look.
pub fn check(loaded: &Loaded, findings: &mut Findings) {
    let mut crds: Vec<&crate::api::crd::Crd> = loaded.hub.crds.values().collect();
    crds.sort_by_key(|crd| (&crd.group, &crd.kind));
    for crd in crds {
        if let Some(object) = loaded
            .hub
            .objects
            .iter()
            .find(|object| is_definition_of(object, crd))
        {
            findings.extend(crd.verify(object));
        }
    }
    let validation = WorkValidation::new();
    for kind in [MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET] {
        for object in loaded.hub.objects.of_kind(GROUP, kind) {
            let refusals = validation.check(&object.value).into_iter();
            findings.extend(refusals.map(|refusal| refusal.into_finding(object)));
        }
    }
    let rendered = render(loaded, false, Detail::Full, findings);
    findings.extend(unknown_spokes(loaded, &rendered));
}

/// Evaluates the policies of an input, for reports. Gateways that nobody places are no finding here.
pub fn policies<'a>(loaded: &'a Loaded, findings: &mut Findings) -> PolicyView<'a> {
    view(loaded, None, findings)
}

/// The same as seen on one cluster: what is placed there, beside what already lives there.
pub fn policies_on<'a>(loaded: &'a Loaded, cluster: &'a str, findings: &mut Findings) -> PolicyView<'a> {
    view(loaded, Some(cluster), findings)
}

/// Every cluster that is placed, registered, or has a folder of its own.
#[must_use]
pub fn known_clusters(loaded: &Loaded, view: &PolicyView<'_>) -> BTreeSet<String> {
    let managed = loaded.hub.objects.of_kind(ocm_placement::GROUP, "ManagedCluster");
    let managed = managed.iter().map(|object| object.name.clone());
    let placed = view.clusters.values().flatten().cloned();
    managed
        .chain(placed)
        .chain(loaded.hub.spokes.keys().cloned())
        .collect()
}

fn view<'a>(loaded: &'a Loaded, cluster: Option<&'a str>, findings: &mut Findings) -> PolicyView<'a> {
    let ours = Ours::new(&loaded.hub, &loaded.config.controller_name, findings);
    let grants = Grants::new(&loaded.hub, findings);
    let mut placing = Findings::new();
    let clusters = place(loaded, &ours, &mut placing);
    findings.extend(
        placing
            .into_iter()
            .filter(|finding| finding.code != Code::GATEWAY_NOT_PLACED),
    );
    let attached = attach(loaded, &ours, &grants, cluster, findings);
    PolicyView::new(attached, &ours, &clusters, cluster, findings)
}

fn place(loaded: &Loaded, ours: &Ours<'_>, findings: &mut Findings) -> Vec<Vec<String>> {
    let _placing = loaded.progress.begin(Stage::Placing);
    let inventory = placing::inventory(&loaded.hub, findings);
    let input = loaded.evaluation_input(&inventory);
    placing::place(
        &loaded.hub,
        ours,
        loaded.config.placement_source,
        &input,
        findings,
    )
}

/// What goes with each Gateway of ours.
fn consign<'a>(attached: &Attached<'a>, ours: &Ours<'_>, clusters: &[Vec<String>]) -> Consignments<'a> {
    let by_key: Clusters = ours
        .gateways
        .iter()
        .zip(clusters)
        .map(|(gateway, clusters)| (gateway.gateway.object.key(), clusters.clone()))
        .collect();
    let nodes: Vec<(Node, &BTreeSet<usize>)> = attached
        .synced
        .gateways
        .iter()
        .flat_map(|(gateway, kinds)| {
            attached
                .attachments
                .topology
                .nodes_of_gateway(*gateway)
                .into_iter()
                .map(move |node| (node, kinds))
        })
        .collect();
    let of_routes = attached.routes.nodes(&attached.attachments, &attached.synced);
    let nodes = nodes
        .into_iter()
        .chain(of_routes.iter().map(|(node, kinds)| (*node, kinds.as_ref())));
    Consignments::new(&attached.attachments, nodes, &attached.locals, |node, cluster| {
        let known = (&attached.attachments, &attached.routes);
        receives(known, &by_key, node, cluster)
    })
}

fn is_definition_of(object: &crate::object::Object, crd: &crate::api::crd::Crd) -> bool {
    crate::api::crd::Crd::is_one(object) && object.name == format!("{}.{}", crd.plural, crd.group)
}

/// Spoke folders of clusters that nothing else knows.
fn unknown_spokes(loaded: &Loaded, rendered: &Rendered) -> Vec<Finding> {
    let managed = loaded.hub.objects.of_kind(ocm_placement::GROUP, "ManagedCluster");
    let known = |cluster: &str| {
        managed.iter().any(|object| object.name == cluster)
            || rendered.all_clusters.iter().any(|name| name == cluster)
    };
    let unknown = loaded.hub.spokes.iter().filter(|(cluster, _)| !known(cluster));
    unknown
        .filter_map(|(cluster, objects)| {
            let first = objects.iter().next()?;
            Some(
                Finding::new(
                    Code::SPOKE_UNKNOWN_CLUSTER,
                    first.place("/metadata/name"),
                    format!("no cluster is called `{cluster}`, so what its folder holds affects nothing"),
                )
                .help("name the folder after a cluster, or remove it"),
            )
        })
        .collect()
}
