//! Everything that is decided about the policies of one input, for reports; and what ClusterOverlays change there: the hub's
//! value of each field, and the one that clusters get instead.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::marker::PhantomData;
use std::sync::Arc;

use apimachinery::Identity;
use indexmap::IndexMap;
use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use super::rule_outcome::RuleOutcome;
use super::settings::SourceLine;
use crate::api::condition::Condition;
use crate::diagnostic::{Code, Finding, Locate, Part, Place};
use crate::object::Object;
use crate::placing::overlays::{ChangedField, Overlay, Overlays};
use crate::placing::{Clusters, share};
use crate::policy::{
    Attachments, AuthoredId, Effective, EffectivePolicies, Fates, KindId, PathEffective, PolicyId,
    StatusShape, accepted,
};
use crate::sync::{SyncedRoutes, Withheld};
use crate::topology::{Node, RouteId, Start};

/// The maximum number of paths, and of settings on one path, that are listed: nobody reads more.
const MOST_LISTED: usize = 200_000;

/// Everything that can be reported about the policies of an input.
#[derive(Debug)]
pub struct PolicyView<'a> {
    /// The attachments on the hub.
    pub hub: &'a Attachments<'a>,
    /// The settings that apply below Gateways of the hub that go to no cluster: they have other classes, or no
    /// placement.
    pub hub_effective: EffectivePolicies,
    /// The objects on the clusters, by classes of clusters that are alike.
    pub spokes: Vec<SpokeView<'a>>,
    /// The fate of each policy.
    pub fates: Fates<'a>,
    /// The clusters of each Gateway of ours.
    pub clusters: &'a Clusters,
    /// The routes that go to spokes.
    pub routes: &'a SyncedRoutes<'a>,
    /// The one cluster that is looked at.
    pub cluster: Option<&'a str>,
    /// The policies of the hub as it is written that some cluster does not get.
    pub withheld: &'a [Withheld<'a>],
    /// Policies that clusters refuse, and the hub alone would not.
    pub refusals: Refusals<'a>,
    /// What ClusterOverlays change in objects, on the clusters that get them.
    pub overlays: Vec<OverlayChanges>,
    /// What the FleetRules come to.
    pub rules: Vec<RuleOutcome>,
}

/// For policies of the hub, the clusters that refuse them because of what is there, such as a class that merges its
/// Gateways, and what their controllers say.
pub type Refusals<'a> = BTreeMap<PolicyId, Vec<(&'a [String], Condition)>>;

/// Which policies clusters refuse though the hub alone would not. A conflict is no refusal: which policy wins is the
/// outcome on a cluster.
pub fn refusals<'a>(hub: &Attachments<'_>, spokes: &[SpokeView<'a>]) -> Refusals<'a> {
    let is_checked = |id| {
        let shape = hub.profile(id).status;
        [StatusShape::EnvoyGateway, StatusShape::Kgateway].contains(&shape)
            && accepted(hub, id, None).is_true()
    };
    let checked = hub.policies.iter().filter(|(id, _)| is_checked(*id));
    let checked: HashMap<Arc<str>, PolicyId> = checked.map(|(id, policy)| (policy.locator(), id)).collect();
    let mut refusals = Refusals::new();
    for spoke in spokes.iter().filter(|_| !checked.is_empty()) {
        let policies = spoke.attachments.policies.iter();
        for (id, policy) in policies.filter(|(_, policy)| !policy.local) {
            let Some(of_hub) = checked.get(&policy.locator()) else {
                continue;
            };
            let accepted = accepted(&spoke.attachments, id, None);
            if accepted.reason == "Invalid" {
                let of_policy = refusals.entry(*of_hub).or_default();
                of_policy.push((spoke.clusters, accepted));
            }
        }
    }
    refusals
}

/// The policies of clusters that are alike, evaluated as they are there.
#[derive(Debug)]
pub struct SpokeView<'a> {
    /// The clusters, sorted.
    pub clusters: &'a [String],
    /// What is attached there. Names are the hub's, where something comes from the hub.
    pub attachments: Attachments<'a>,
    /// The settings that apply on each path.
    pub effective: EffectivePolicies,
}

/// One place where policies were evaluated: clusters that are alike, or the hub.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'v> {
    /// The clusters; none: the hub.
    pub clusters: &'v [String],
    /// The policies that are attached there.
    pub attachments: &'v Attachments<'v>,
    /// The settings that apply there.
    pub effective: &'v EffectivePolicies,
}

/// A result on a path somewhere.
pub type Found<'v> = (Seen<'v>, KindId, &'v PathEffective);

/// Where a result applies on one path.
#[derive(Debug)]
pub struct OnPath<'v> {
    /// The position of the result.
    pub result: usize,
    /// The first of those that are equal.
    pub found: Found<'v>,
    /// Locators from the GatewayClass on.
    pub locators: Vec<Arc<str>>,
    /// Classes of clusters that are alike.
    classes: Vec<&'v [String]>,
}

/// Equal results once, and the paths on which each applies, in the order in which they were found.
pub fn on_paths<'v, R: Serialize>(
    found: impl IntoIterator<Item = Found<'v>>,
    make: impl Fn(Seen<'v>, KindId, &'v Effective) -> R,
) -> (Vec<R>, Vec<OnPath<'v>>) {
    let mut results: IndexMap<String, R> = IndexMap::new();
    let mut made: HashMap<(KindId, *const Effective), usize> = HashMap::new();
    let mut texts: HashSet<Arc<str>> = HashSet::new();
    let mut paths: IndexMap<(usize, Vec<Arc<str>>), OnPath<'v>> = IndexMap::new();
    for (seen, kind, path) in found {
        let effective = &path.effective;
        let result = *made.entry((kind, Arc::as_ptr(effective))).or_insert_with(|| {
            let result = make(seen, kind, effective);
            let text = serde_json::to_string(&result).unwrap_or_default();
            results.insert_full(text, result).0
        });
        let locators = seen.attachments.topology.path_locators(&path.path).into_iter();
        let locators: Vec<Arc<str>> = locators.map(|locator| share(&mut texts, locator)).collect();
        let on = paths.entry((result, locators.clone())).or_insert_with(|| OnPath {
            result,
            found: (seen, kind, path),
            locators,
            classes: Vec::new(),
        });
        on.classes.push(seen.clusters);
    }
    (results.into_values().collect(), paths.into_values().collect())
}

impl PolicyView<'_> {
    /// What is evaluated on every path.
    pub fn all_paths(&self) -> impl Iterator<Item = Found<'_>> {
        self.seen()
            .flat_map(|seen| seen.effective.iter().map(move |(kind, path)| (seen, kind, path)))
    }

    /// The clusters where a result applies on a path, and whether these are all clusters of its Gateway, or the one that is
    /// looked at.
    pub fn where_applied<'v>(&self, on: &OnPath<'v>, lists: &mut ClusterLists<'v>) -> (Arc<[String]>, bool) {
        let (seen, _, path) = on.found;
        let clusters = lists.joined(&on.classes);
        let all = match path.path.start {
            Start::Gateway(gateway) => {
                let gateway = seen.attachments.topology.gateways.get(gateway);
                // Nothing says where else a Gateway may be that lives on clusters.
                if gateway.local {
                    usize::MAX
                } else {
                    self.clusters_of(&gateway.known_as().key()).len()
                }
            }
            // No Gateway says where a path goes that begins at a Service of a mesh.
            Start::Service(_) => self.spokes.iter().map(|spoke| spoke.clusters.len()).sum(),
        };
        let is_everywhere = self.cluster.is_some() || clusters.len() >= all;
        (clusters, is_everywhere)
    }

    /// Forgets the clusters that `keep` refuses, but for what is alike with one that it keeps.
    pub fn retain_clusters(&mut self, keep: impl Fn(&str) -> bool) {
        let is_kept = |spoke: &SpokeView<'_>| spoke.clusters.iter().any(|cluster| keep(cluster));
        self.spokes.retain(is_kept);
    }

    /// The hub as a place where policies were evaluated.
    pub fn seen_on_hub(&self) -> Seen<'_> {
        Seen {
            clusters: &[],
            attachments: self.hub,
            effective: &self.hub_effective,
        }
    }

    /// Every place where policies were evaluated, the hub first.
    pub fn seen(&self) -> impl Iterator<Item = Seen<'_>> {
        std::iter::once(self.seen_on_hub()).chain(self.spokes.iter().map(|spoke| Seen {
            clusters: spoke.clusters,
            attachments: &spoke.attachments,
            effective: &spoke.effective,
        }))
    }

    /// The number of paths on which something was evaluated, for all kinds and classes of clusters.
    pub fn path_count(&self) -> usize {
        self.seen().map(|seen| seen.effective.len()).sum()
    }

    /// Why not all settings on every path are listed, if that would be too much.
    pub fn too_much_to_list(&self) -> Option<Finding> {
        let all = self.seen().flat_map(|seen| seen.effective.iter());
        let lines = all.map(|(_, path)| path.effective.content.len().saturating_add(1));
        too_much(lines.fold(0, usize::saturating_add))
    }

    /// The same of what an explanation lists: of a policy every path that it makes a difference to, of another object
    /// those through it.
    pub fn too_much_to_explain(&self, identity: &Identity) -> Option<Finding> {
        if self.is_policy(identity) {
            return self.too_much_to_list();
        }
        let through = self.seen().flat_map(|seen| {
            let nodes = seen.attachments.topology.find(identity).into_iter();
            nodes.map(move |node| seen.effective.through(seen.attachments, node).len())
        });
        too_much(through.fold(0, usize::saturating_add))
    }

    /// Whether a policy of the hub, or of a cluster that was evaluated, has this identity.
    pub fn is_policy(&self, identity: &Identity) -> bool {
        let locator = identity.locator();
        self.seen().any(|seen| !seen.standing_for(&locator).is_empty())
    }

    /// Objects that routes and policies name and that are not in the input: mostly Services. They have nothing but
    /// their names.
    pub fn without_objects(&self) -> Vec<Object> {
        let seen = self.seen();
        let backends = seen.flat_map(|seen| seen.attachments.topology.backends.rows());
        let missing = backends.filter(|backend| backend.object.is_none());
        let named: BTreeSet<Identity> = missing.map(|backend| (*backend.name).clone()).collect();
        named.into_iter().map(Object::from_identity).collect()
    }

    /// The clusters that an object of the hub goes to: those of the Gateways that lead to it, or that bring a policy to
    /// its targets.
    pub fn placed_on(&self, identity: &Identity) -> BTreeSet<&str> {
        let topology = &self.hub.topology;
        let nodes = match self.hub.find(identity) {
            Some(policy) => {
                let policy = self.hub.policy(policy);
                let is_shipped = |node: &Node| self.routes.syncs(topology, policy.kind, *node);
                policy.nodes().into_iter().filter(is_shipped).collect()
            }
            None => topology.find(identity),
        };
        let gateways = nodes.into_iter().flat_map(|node| topology.gateways_of(node));
        let clusters =
            gateways.flat_map(|gateway| self.clusters_of(&topology.gateways.get(gateway).object.key()));
        clusters.map(String::as_str).collect()
    }

    /// The clusters that a route of the hub goes to; none for a route that stays.
    pub fn clusters_of_route(&self, route: RouteId) -> BTreeSet<&str> {
        let route = self.routes.get(route).into_iter();
        let parents = route.flat_map(|route| &route.parents);
        let gateways = parents.map(|parent| self.hub.topology.gateways.get(parent.node).object);
        let clusters = gateways.flat_map(|gateway| self.clusters_of(&gateway.key()));
        clusters.map(String::as_str).collect()
    }

    /// The clusters of a Gateway by its `namespace/name` on the hub.
    pub fn clusters_of(&self, gateway: &str) -> &[String] {
        let known = self.clusters.get(gateway);
        known.map(AsRef::as_ref).unwrap_or_default()
    }
}

/// `namespace/name` of a locator.
pub fn key_of(locator: &str) -> &str {
    locator.split_once(':').map_or(locator, |(_, key)| key)
}

fn too_much(lines: usize) -> Option<Finding> {
    (lines > MOST_LISTED).then(|| {
        let message = format!(
            "the effective policies are {lines} paths and settings; at most {MOST_LISTED} are listed"
        );
        Finding::new(Code::INPUT_TOO_COSTLY, Place::Run, message)
            .note("a path leads from a Gateway through a listener and a route to a rule or a backend")
            .help("ask about one route (`spokewright explain httproute/NAMESPACE/NAME`), or about one cluster (`--cluster NAME`)")
    })
}

impl Seen<'_> {
    /// The policies there that stand for the one of this locator, each with what it is in them.
    pub fn standing_for(self, locator: &str) -> Vec<(PolicyId, AuthoredId)> {
        let policies = self.attachments.policies.iter();
        let authors = policies.flat_map(|(id, policy)| policy.authors(id));
        let meant = authors.filter(|(_, authored)| *authored.locator == *locator);
        meant.map(|(author, _)| (author.policy, author)).collect()
    }

    /// Whether a policy is there: on the hub, whether it is on any path that is evaluated there.
    pub fn goes_there(self, policy: PolicyId) -> bool {
        let mut nodes = self.attachments.policy(policy).nodes().into_iter();
        !self.clusters.is_empty() || nodes.any(|node| self.is_on_a_path(node))
    }

    /// Whether traffic through a node begins where something is evaluated there.
    pub(super) fn is_on_a_path(self, node: Node) -> bool {
        let mut starts = self.attachments.topology.starts_of(node).into_iter();
        starts.any(|start| self.effective.has(start))
    }

    /// A node of the hub, as it is called there.
    pub fn find(self, hub: &Attachments<'_>, node: Node) -> Vec<Node> {
        if self.clusters.is_empty() {
            return vec![node];
        }
        let section = hub.topology.section(node);
        let topology = &self.attachments.topology;
        let there = topology.find(&hub.topology.identity(node)).into_iter();
        let there = there.filter_map(|whole| topology.find_section(whole, section));
        there.collect()
    }
}

/// Lists of clusters, each once: what a thousand Gateways have on ten thousand clusters is one list.
#[derive(Debug, Default)]
pub struct ClusterLists<'v> {
    by_classes: HashMap<Vec<*const [String]>, Arc<[String]>>,
    lists: HashSet<Arc<[String]>>,
    /// The classes are known by where they are: they must stay there.
    classes: PhantomData<&'v [String]>,
}

impl<'v> ClusterLists<'v> {
    /// The clusters of some classes, sorted. Equal lists are the same one.
    pub fn joined(&mut self, classes: &[&'v [String]]) -> Arc<[String]> {
        let mut by: Vec<*const [String]> = classes.iter().map(|class| std::ptr::from_ref(*class)).collect();
        by.dedup();
        let lists = &mut self.lists;
        let joined = self.by_classes.entry(by).or_insert_with(|| {
            let names: BTreeSet<&String> = classes.iter().copied().flatten().collect();
            share(lists, names.into_iter().cloned().collect::<Arc<[String]>>())
        });
        Arc::clone(joined)
    }
}

/// A policy that is not shipped although its kind is synced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WithheldPolicy {
    /// Locator of the policy.
    pub policy: String,
    /// Locator of the target.
    pub target: String,
    /// The cluster, if it is withheld from only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Locator of the policy that wins.
    pub winner: String,
    /// The rule that decided, by its stable name.
    pub rule: &'static str,
    /// The rule in words.
    pub because: &'static str,
}

impl WithheldPolicy {
    /// The report's entry for one decision.
    pub fn new(withheld: &Withheld<'_>, attachments: &Attachments<'_>) -> Self {
        Self {
            policy: attachments.policy(withheld.policy).object.identity().locator(),
            target: attachments.topology.locator(withheld.node),
            cluster: withheld.cluster.map(str::to_owned),
            winner: withheld.winner.identity().locator(),
            rule: withheld.rule.name(),
            because: withheld.rule.because(),
        }
    }
}

/// What one ClusterOverlay changes in one object, on clusters that get the same values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct OverlayChanges {
    /// Locator of the overlay.
    pub overlay: String,
    /// File and line of the first field that it changes.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// The clusters, sorted.
    pub clusters: Vec<String>,
    /// Locator of the object.
    pub object: String,
    /// The fields, in the order of the overlay.
    pub fields: Vec<OverlaidFieldReport>,
}

impl OverlayChanges {
    /// The same on one cluster, or on all if none is named; nothing if it changes nothing there.
    #[must_use]
    pub fn on(mut self, cluster: Option<&str>) -> Option<Self> {
        self.clusters
            .retain(|name| cluster.is_none_or(|only| only == name));
        (!self.clusters.is_empty()).then_some(self)
    }

    /// Whether no higher priority overrides all of it.
    #[must_use]
    pub fn is_effective(&self) -> bool {
        self.fields.iter().any(|field| !field.overridden)
    }
}

/// A field that a ClusterOverlay changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct OverlaidFieldReport {
    /// Where it is in the object.
    pub path: String,
    /// Its value on the hub; absent if the overlay adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Value>,
    /// Its value on these clusters; absent if the overlay removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<Value>,
    /// Whether an overlay with a higher priority decides instead.
    pub overridden: bool,
}

/// What the overlays change in the fields that `is_wanted` accepts, on the clusters that `is_there` accepts for the object.
pub fn overlay_changes(
    overlays: &Overlays,
    is_wanted: impl Fn(&Overlay, &ChangedField) -> bool,
    is_there: impl Fn(&Identity, &str) -> bool,
    locate: &dyn Locate,
) -> Vec<OverlayChanges> {
    let mut all = Vec::new();
    for overlay in &overlays.overlays {
        let fields = overlay.fields.iter().filter(|field| is_wanted(overlay, field));
        let mut by_object: BTreeMap<&Identity, Vec<&ChangedField>> = BTreeMap::new();
        for field in fields {
            by_object.entry(&field.object).or_default().push(field);
        }
        for (object, fields) in by_object {
            let place = fields.first().and_then(|field| {
                let path = [&field.entry, "/path"].concat();
                SourceLine::of(locate, overlay.origin.place(&path, Part::Value))
            });
            for (reports, clusters) in by_values(&fields, |cluster| is_there(object, cluster)) {
                all.push(OverlayChanges {
                    overlay: overlay.identity.locator(),
                    place: place.clone(),
                    clusters: clusters.into_iter().map(str::to_owned).collect(),
                    object: object.locator(),
                    fields: reports,
                });
            }
        }
    }
    all
}

/// Groups the clusters that `is_there` accepts by the values that the overlay gives them, without those of the hub.
fn by_values<'f>(
    fields: &[&'f ChangedField],
    is_there: impl Fn(&str) -> bool,
) -> IndexMap<Vec<OverlaidFieldReport>, Vec<&'f str>> {
    let mut there: BTreeMap<&str, Vec<OverlaidFieldReport>> = BTreeMap::new();
    for field in fields {
        for value in field.here.iter().filter(|value| value.value != field.hub) {
            let clusters = value.clusters.iter();
            for cluster in clusters.filter(|cluster| is_there(cluster)) {
                there.entry(cluster).or_default().push(OverlaidFieldReport {
                    path: field.path.clone(),
                    hub: field.hub.clone(),
                    here: value.value.clone(),
                    overridden: field.overridden.contains_key(cluster),
                });
            }
        }
    }
    let mut groups: IndexMap<Vec<OverlaidFieldReport>, Vec<&str>> = IndexMap::new();
    for (cluster, reports) in there {
        groups.entry(reports).or_default().push(cluster);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_of_clusters_are_one() {
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
        let (some, others, all) = (
            names(&["b", "d"]),
            names(&["a", "c"]),
            names(&["a", "b", "c", "d"]),
        );
        let mut lists = ClusterLists::default();
        let joined = lists.joined(&[&some, &others]);
        assert_eq!(*joined, *all);
        for classes in [
            &[&*some, &others][..],
            &[&others, &some],
            &[&all],
            &[&all, &all],
            &[&all, &some],
        ] {
            assert!(Arc::ptr_eq(&joined, &lists.joined(classes)), "{classes:?}");
        }
        assert_eq!(*lists.joined(&[&some]), *some);
        assert!(lists.joined(&[]).is_empty());
    }
}
