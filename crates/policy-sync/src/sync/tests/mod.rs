//! Tests of the objects that go to the spokes.

mod ambiguous;
mod hubs;
mod merged_policy;
mod order_independence;
mod reported;
mod routes;
mod spokes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    LocalPolicies, PlacedGateway, Spoke, Spokes, SyncedKinds, SyncedObjects, SyncedRoutes, Syncing, Variant,
    add_grants,
};
use crate::diagnostic::Findings;
use crate::hub::{Grants, Hub, Ours};
use crate::outcome::{PolicyReport, PolicyView, SpokeView};
use crate::placing::Clusters;
use crate::policy::{Attachments, EffectivePolicies, Fates, Options};
use crate::tests::Seen;

/// What the clusters of a hub receive, whose classes of this controller are ours.
struct Received<'r> {
    hub: &'r Hub,
    grants: &'r Grants<'r>,
    attachments: &'r Attachments<'r>,
    routes: &'r SyncedRoutes<'r>,
    syncing: Syncing<'r>,
    clusters: &'r Clusters,
    synced: &'r SyncedObjects<'r>,
    making: Spokes<'r, 'r>,
}

/// The policies that live on the clusters of a hub.
fn locals<'a>(
    hub: &'a Hub,
    attachments: &Attachments<'a>,
    options: &Options<'_>,
    findings: &mut Findings,
) -> BTreeMap<&'a str, LocalPolicies<'a>> {
    let ours = Ours::new(hub, "kuadrant.io/mgc-gw-controller");
    let kinds = SyncedKinds::new(attachments, &ours);
    let placed = ours
        .gateways
        .map(|(_, ours)| PlacedGateway::new(ours, Arc::default()));
    let grants = Grants::new(&hub.objects);
    LocalPolicies::for_clusters((hub, &grants, attachments), (&kinds, &placed), options, findings)
}

/// Looks at what is received, of Gateways by their `namespace/name` with their clusters.
fn received<T>(hub: &Hub, gateways: &[(&str, &[&str])], look: impl FnOnce(&Received<'_>) -> T) -> T {
    let Seen { attachments, .. } = Seen::hub(hub);
    let grants = Grants::new(&hub.objects);
    let ours = Ours::new(hub, "kuadrant.io/mgc-gw-controller");
    let kinds = SyncedKinds::new(&attachments, &ours);
    let routes = SyncedRoutes::new(&attachments, kinds, &ours, (&hub.objects, &grants));
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let clusters: Clusters = gateways
        .iter()
        .map(|(gateway, names)| ((*gateway).to_owned(), owned(names)))
        .collect();
    let placed = ours.gateways.map(|(_, ours)| {
        let clusters = clusters.get(&ours.gateway.object.key()).cloned();
        PlacedGateway::new(ours, clusters.unwrap_or_default())
    });
    let of_gateways = placed.map(|(_, placed)| Arc::clone(&placed.clusters));
    let locals = locals(hub, &attachments, &Options::default(), &mut Findings::new());
    let syncing = Syncing {
        hub,
        ours: &ours,
        clusters: &of_gateways,
        attachments: &attachments,
        routes: &routes,
    };
    let mut synced = SyncedObjects::new(syncing, &locals);
    let mut variants: Vec<Vec<Variant>> = synced
        .objects
        .iter()
        .map(|object| super::variants(object, &placed))
        .collect();
    let all = (&mut synced.objects, &mut variants);
    add_grants(&grants, &placed, &routes.chosen, all, (hub, false));
    look(&Received {
        hub,
        grants: &grants,
        attachments: &attachments,
        routes: &routes,
        syncing,
        clusters: &clusters,
        synced: &synced,
        making: Spokes {
            syncing,
            local: &hub.spokes,
            gateways: &placed,
            synced: &synced.objects,
            variants: &variants,
            labels: &super::NamespaceLabels::new(),
        },
    })
}

impl Received<'_> {
    /// The policies of a cluster, evaluated as they are there.
    fn evaluated<'s>(&'s self, spoke: &'s Spoke<'_>) -> Attachments<'s> {
        let sources = spoke.sources(&self.hub.objects);
        let (options, mut said) = (Options::default(), Findings::new());
        let grants = spoke.grants(self.grants);
        Attachments::new(sources, spoke.copied(), &grants, &options, &mut said)
    }

    /// What is reported about the policies, of one cluster or of all.
    fn report(&self, cluster: Option<&str>) -> PolicyReport {
        let is_asked = |name: &str| cluster.is_none_or(|cluster| cluster == name);
        let spokes = self.making.build(cluster.is_some(), &is_asked);
        let placed = self
            .making
            .gateways
            .map(|(_, placed)| Arc::clone(&placed.clusters));
        let mut fates = Fates::default();
        let mut views = Vec::new();
        for spoke in &spokes {
            let attachments = self.evaluated(spoke);
            let effective = EffectivePolicies::new(&attachments, &apimachinery::Work::default());
            fates.add(&spoke.clusters, &attachments, &effective, |_| true);
            views.push(SpokeView {
                clusters: &spoke.clusters,
                attachments,
                effective,
            });
        }
        for withheld in &self.synced.withheld {
            let mut on = match withheld.cluster {
                Some(cluster) => BTreeSet::from([cluster]),
                None => self
                    .routes
                    .clusters_of(&self.attachments.topology, &placed, withheld.node),
            };
            on.retain(|on| cluster.is_none_or(|cluster| cluster == *on));
            let locator = self.attachments.locator(withheld.policy);
            let winner = (withheld.winner, withheld.cluster.is_some(), withheld.rule);
            let mut kept = crate::policy::KeptAway::default();
            kept.add(
                &std::sync::Arc::new(on.into_iter().map(Into::into).collect()),
                winner,
            );
            fates.keep_away(&locator, kept);
        }
        PolicyReport::for_text(&PolicyView {
            hub: self.attachments,
            hub_effective: EffectivePolicies::for_starts(
                self.attachments,
                &apimachinery::Work::default(),
                |_| false,
            ),
            spokes: views,
            fates,
            clusters: self.clusters,
            routes: self.routes,
            cluster,
            withheld: &[],
            refusals: crate::outcome::Refusals::new(),
            overlays: Vec::new(),
            rules: Vec::new(),
        })
    }
}

/// `status/reason: message` of the last condition of a RateLimitPolicy.
fn state_on(report: &PolicyReport, policy: &str) -> String {
    let locator = format!("ratelimitpolicy.kuadrant.io:{policy}");
    let entry = report
        .policies
        .iter()
        .find(|entry| entry.policy == locator)
        .unwrap();
    let condition = entry.conditions.last().unwrap();
    format!("{}/{}: {}", condition.status, condition.reason, condition.message)
}
