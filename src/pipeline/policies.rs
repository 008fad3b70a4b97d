//! Policies of one input: attached for rendering, and evaluated for reports.
//!
//! Owns: the order of these stages, and what the configuration says of them. Flows in: the input, what of it is
//! ours. Flows out: what is attached, a [`PolicyView`]. Must not know: works.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::inputs::Loaded;
use crate::api::config::OriginTimestamp;
use crate::api::params::{Params, SyncedResource};
use crate::diagnostic::{DocumentId, Findings, SourceId};
use crate::hub::{Grants, Hub, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::placing::Clusters;
use crate::policy::{
    Ages, Attachments, EffectivePolicies, Options, Profiles, Statuses, outcomes, report_nonconforming_kinds,
};
use crate::progress::{Progress, Stage};
use crate::report::PolicyView;
use crate::sync::{
    LocalPolicies, SyncedKinds, SyncedRoutes, leave_others_alone, report_local_conflicts, report_same_target,
};
use crate::topology::Node;
use apimachinery::GroupKind;

/// What is attached, and what lives on each cluster.
#[derive(Debug)]
pub(super) struct Attached<'a> {
    /// The hub's policies.
    pub attachments: Attachments<'a>,
    /// Spoke-local policies by cluster.
    pub locals: BTreeMap<&'a str, LocalPolicies<'a>>,
    /// Which kinds go with which Gateway of ours.
    pub kinds: SyncedKinds,
    /// Who hears how far their evaluation is.
    progress: &'a Progress,
    /// The routes that go with them.
    pub routes: SyncedRoutes<'a>,
}

/// Attaches every policy, and reports what meets on one target. On a cluster, what lives there is attached as well.
pub(super) fn attach<'a>(
    loaded: &'a Loaded,
    ours: &Ours<'_>,
    grants: &Grants<'a>,
    cluster: Option<&'a str>,
    findings: &mut Findings,
) -> Attached<'a> {
    let _attaching = loaded.progress.begin(Stage::Attaching);
    let hub = &loaded.hub;
    let profiles = profiles(loaded, findings);
    report_nonconforming_kinds(hub, ours, &profiles, findings);
    let kinds = kinds_of(ours, |params| &params.policies_to_sync);
    let routes = kinds_of(ours, |params| &params.resources_to_sync);
    let interpret = |object: &Object| interpreted(hub, object);
    let options = Options {
        profiles: Some(&profiles),
        ages: match loaded.config.creation_timestamp {
            OriginTimestamp::Use => Ages::Use,
            OriginTimestamp::Ignore => Ages::Ignore,
        },
        kinds: &kinds,
        routes: &routes,
        interpret: Some(&interpret),
    };
    let local = cluster.and_then(|cluster| Some((cluster, hub.spokes.get(cluster)?)));
    let mut found = Findings::new();
    let attachments = match local {
        Some(local) => Attachments::on_cluster(&hub.objects, local, grants, &options, &mut found),
        None => Attachments::new(&hub.objects, grants, &options, &mut found),
    };
    let kinds = SyncedKinds::new(&attachments, ours);
    findings.extend(leave_others_alone(&attachments, &kinds, ours, found));
    report_same_target(&attachments, findings);
    let mut locals = BTreeMap::new();
    for (cluster, objects) in hub.spokes.iter().filter(|_| local.is_none()) {
        let there = LocalPolicies::read(&attachments, cluster, objects, &options, findings);
        report_local_conflicts(&attachments, &there, findings);
        locals.insert(cluster.as_str(), there);
    }
    let routes = SyncedRoutes::new(&attachments, &kinds, ours);
    Attached {
        attachments,
        locals,
        kinds,
        progress: &loaded.progress,
        routes,
    }
}

/// The kinds of a list of the parameters, over all classes of ours, sorted.
fn kinds_of(ours: &Ours<'_>, list: impl Fn(&Params) -> &Vec<SyncedResource>) -> Vec<GroupKind> {
    let params = ours
        .classes
        .values()
        .filter_map(|class| class.params.as_ref().ok());
    let kinds: BTreeSet<GroupKind> = params
        .flat_map(list)
        .map(|resource| GroupKind::new(resource.group.clone(), resource.kind.clone()))
        .collect();
    kinds.into_iter().collect()
}

/// Profiles of policy kinds: built in, corrected and completed by the configuration.
fn profiles(loaded: &Loaded, findings: &mut Findings) -> Profiles {
    let mut profiles = Profiles::built_in();
    // The configuration is the first text that is read.
    let document = DocumentId {
        source: SourceId(0),
        index: 0,
    };
    crate::policy::configure(&mut profiles, &loaded.config.profiles, document, findings);
    profiles
}

/// The object as its controller reads it: defaults of its schema applied, nulls pruned.
fn interpreted(hub: &Hub, object: &Object) -> Option<Value> {
    let version = hub
        .crds
        .get(&object.group_kind())?
        .version(&object.api_version.version)?;
    Some(version.schema.as_ref()?.defaulted(&object.value).into_owned())
}

/// Evaluates what is attached. `clusters` are those of each Gateway of ours; with a `cluster`, only what is placed there,
/// or lives there, counts.
pub(super) fn evaluate<'a>(
    attached: &'a Attached<'a>,
    ours: &Ours<'_>,
    clusters: &Table<OurGatewayId, Vec<String>>,
    cluster: Option<&str>,
    findings: &mut Findings,
) -> PolicyView<'a> {
    let Attached {
        attachments,
        locals,
        kinds,
        progress,
        routes,
    } = attached;
    let steps = progress.count(Stage::Policies, attachments.topology.gateways.len());
    let wanted = |gateway| match cluster {
        None => true,
        Some(cluster) => {
            let placed = kinds
                .gateway(Node::Gateway(gateway))
                .map(|gateway| clusters.get(gateway));
            let local = attachments.topology.gateways.get(gateway).local;
            local || placed.is_some_and(|placed| placed.iter().any(|name| name == cluster))
        }
    };
    let effective = EffectivePolicies::of(attachments, |gateway| {
        steps.advance(1);
        wanted(gateway)
    });
    let statuses = Statuses::new(attachments, &effective);
    outcomes(attachments, &effective, &statuses, findings);
    let mut clusters = by_key(ours, clusters);
    if let Some(cluster) = cluster {
        for names in clusters.values_mut() {
            names.retain(|name| name == cluster);
        }
    }
    let here = |node: Node, cluster: &str| routes.reach(attachments, &clusters, node, cluster);
    let effects = locals
        .iter()
        .map(|(cluster, there)| {
            let effects = there.effects(attachments, |node| here(node, cluster));
            ((*cluster).to_owned(), effects)
        })
        .filter(|(_, effects)| !effects.is_empty())
        .collect();
    PolicyView {
        attachments,
        effective,
        statuses,
        clusters,
        effects,
        kinds,
        routes,
        of_one_cluster: cluster.is_some(),
    }
}

/// The clusters of each Gateway of ours by its name, as policies know it.
pub(super) fn by_key(ours: &Ours<'_>, clusters: &Table<OurGatewayId, Vec<String>>) -> Clusters {
    let gateways = ours.gateways.iter();
    gateways
        .map(|(id, ours)| (ours.gateway.object.key(), clusters.get(id).clone()))
        .collect()
}
