//! `explain`: which policies affect an object, with which settings, from which file and line, on which clusters; and
//! what a policy affects.

mod request;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use request::{Answer, RequestExplanation, RuleLine, UnknownRule, explain_request};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::if_deleted::{ChangeIfDeleted, if_deleted};
use super::settings::{AppliedSetting, LostSetting, SettingEntries};
use super::{
    ClusterLists, Found, OnCluster, OverlayChanges, PolicyEntry, PolicyView, RuleOutcome, Seen, SourceLine,
    on_paths, overlay_changes,
};
use crate::api::condition::Condition;
use crate::diagnostic::{API_VERSION, Locate};
use crate::object::Object;
use crate::placing::overlays::Overlays;
use crate::policy::{self, Effective, KindId, Leaf, Outcome, PolicyId, Reach};
use crate::topology::Node;
use apimachinery::Identity;

/// Everything about one object, kind `Explanation`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectExplanation {
    api_version: &'static str,
    kind: &'static str,
    /// Locator of the object.
    pub object: String,
    /// For people: `Gateway shop/storefront`.
    #[serde(skip)]
    pub title: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// The cluster that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Clusters that it is on, sorted.
    pub clusters: Vec<String>,
    /// If it is not on the cluster that was asked about: the clusters where it is, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// For a route whose kind is synced: the clusters that it is shipped to, sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipped_to: Option<Vec<String>>,
    /// For a hub route that is not synced: it counts on the clusters of its Gateways, as if another tool delivered it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// Why a ListenerSet is attached to no Gateway, and why each parent that refuses a route does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_attached: Vec<String>,
    /// The policies that target it, or a section of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<AttachedPolicy>,
    /// For a policy: its status and what it affects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPart>,
    /// For a FleetRule: what it comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleOutcome>,
    /// The FleetRules that are violated at it, each with these violations only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violated_rules: Vec<RuleOutcome>,
    /// What ClusterOverlays change in it, or what it changes, if it is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<OverlayChanges>,
    /// The effective policies on the paths through it, with equal results together.
    pub effective: Vec<ExplainedPaths>,
}

/// A policy that targets the object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttachedPolicy {
    /// Its locator.
    pub policy: String,
    /// What it targets: the object, or a section of it.
    pub target: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// What is reported about a policy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyPart {
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// Locators of its targets.
    pub targets: Vec<String>,
    /// How much it affects.
    pub reach: ReachPart,
    /// If none of its settings is in effect anywhere: the policies that override it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden_by: Vec<Winner>,
    /// The policies that it overrides, wholly or in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Loser>,
    /// Clusters where a spoke-local policy changes this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_clusters: Vec<OnCluster>,
    /// What would change if it were deleted.
    pub if_deleted: Vec<ChangeIfDeleted>,
}

/// A policy that overrides another one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Winner {
    /// Its locator.
    pub policy: String,
    /// Whether it lives on the cluster.
    pub local: bool,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// A policy that another one overrides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Loser {
    /// Its locator.
    pub policy: String,
    /// The clusters where that is so, sorted; none for a Gateway that is on no cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// What a policy affects, as locators.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ReachPart {
    /// Cluster names.
    pub clusters: Vec<String>,
    /// Gateways.
    pub gateways: Vec<String>,
    /// Listeners.
    pub listeners: Vec<String>,
    /// Routes.
    pub routes: Vec<String>,
    /// Backends.
    pub backends: Vec<String>,
}

/// Paths with one result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplainedPaths {
    /// The policy kind.
    pub kind: String,
    /// Its group.
    pub group: String,
    /// The paths, as locators.
    pub paths: Vec<Vec<Arc<str>>>,
    /// The paths for people.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// The clusters where it is in effect, sorted; none for a Gateway that is on no cluster.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub clusters: Arc<[String]>,
    /// Whether those are all clusters of the Gateway.
    #[serde(skip)]
    pub everywhere: bool,
    /// The settings that are in effect, and where they come from.
    pub settings: Vec<AppliedSetting>,
    /// The settings that are overridden, and why.
    pub overridden: Vec<LostSetting>,
    /// Policies on the paths that their controller refuses: none of their settings takes effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedPolicy>,
}

/// A policy that its controller refuses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RefusedPolicy {
    /// Locator.
    pub policy: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// Explains an object of the input, or something that a route or a policy names; `overlays` are those of the input. `without` is the same input without
/// the policy, where it is one; `lives_on` are the clusters that have an object of this name of their own.
#[must_use]
pub fn explain(
    view: &PolicyView<'_>,
    without: Option<&PolicyView<'_>>,
    identity: &Identity,
    object: Option<&Object>,
    lives_on: &[&str],
    overlays: &Overlays,
    locate: &dyn Locate,
) -> ObjectExplanation {
    let explainer = Explainer::new(view, locate);
    let locator = identity.locator();
    let policy = view.is_policy(identity);
    let clusters = explainer.clusters(&locator, policy, identity);
    let elsewhere = if clusters.is_empty() {
        explainer.elsewhere(identity, lives_on)
    } else {
        Vec::new()
    };
    let mut part = policy.then(|| explainer.policy(&locator, without));
    if let Some(part) = part.as_mut().filter(|_| !elsewhere.is_empty()) {
        // What becomes of it was not looked at there.
        part.conditions.truncate(1);
    }
    let mut rules = view.rules.iter();
    let violated_rules = rules.clone();
    let violated_rules =
        violated_rules.map(|rule| rule.listed(|violation| violation.object == locator, locate));
    let violated_rules = violated_rules.filter(|rule| !rule.violations.is_empty());
    ObjectExplanation {
        api_version: API_VERSION,
        kind: "Explanation",
        title: identity.to_string(),
        place: object.and_then(|object| explainer.place(object, "")),
        cluster: view.cluster.map(str::to_owned),
        clusters,
        elsewhere,
        shipped_to: explainer.shipped_to(identity),
        assumed: explainer.is_assumed(identity),
        not_attached: explainer.not_attached(identity),
        attached: if policy {
            Vec::new()
        } else {
            explainer.attached(identity)
        },
        policy: part,
        rule: rules
            .find(|rule| rule.rule == locator)
            .map(|rule| rule.listed(|_| true, locate)),
        violated_rules: violated_rules.collect(),
        overlays: overlay_changes(
            overlays,
            |overlay, field| overlay.identity == *identity || field.object == *identity,
            |_, cluster| view.cluster.is_none_or(|only| only == cluster),
            locate,
        ),
        effective: if policy {
            explainer.effective_of_policy(&locator)
        } else {
            explainer.effective_through(identity)
        },
        object: locator,
    }
}

/// What is in effect on all paths, equal results together: by kind, then in the order of their first path.
#[must_use]
pub fn effective_paths(view: &PolicyView<'_>, locate: &dyn Locate) -> Vec<ExplainedPaths> {
    let mut paths = Explainer::new(view, locate).grouped(view.all_paths());
    paths.sort_by(|one, other| (&one.kind, &one.group).cmp(&(&other.kind, &other.group)));
    paths
}

struct Explainer<'e, 'a> {
    view: &'e PolicyView<'a>,
    locate: &'e dyn Locate,
    settings: RefCell<SettingEntries<'e>>,
    clusters: RefCell<ClusterLists<'e>>,
}

impl<'e, 'a> Explainer<'e, 'a> {
    fn new(view: &'e PolicyView<'a>, locate: &'e dyn Locate) -> Self {
        Self {
            view,
            locate,
            settings: RefCell::new(SettingEntries::new(locate, None)),
            clusters: RefCell::default(),
        }
    }

    /// The clusters of some classes, sorted.
    fn joined(&self, classes: &[&'e [String]]) -> Arc<[String]> {
        self.clusters.borrow_mut().joined(classes)
    }

    fn place(&self, object: &Object, pointer: &str) -> Option<SourceLine> {
        SourceLine::of(self.locate, object.place(pointer))
    }

    /// The clusters where it is; of a policy, also those from which another one keeps it.
    fn clusters(&self, locator: &str, is_policy: bool, identity: &Identity) -> Vec<String> {
        if is_policy {
            let fates = self.view.fates.of(locator);
            let clusters = fates.map(|fates| fates.clusters()).unwrap_or_default();
            return clusters.iter().map(ToString::to_string).collect();
        }
        let classes = self.view.seen().filter(|seen| {
            let topology = &seen.attachments.topology;
            let mut nodes = topology.find(identity).into_iter();
            nodes.any(|node| !topology.starts_of(node).is_empty())
        });
        let classes: Vec<&[String]> = classes.map(|seen| seen.clusters).collect();
        self.joined(&classes).to_vec()
    }

    /// The clusters where an object is that is not on the one that is looked at.
    fn elsewhere(&self, identity: &Identity, lives_on: &[&str]) -> Vec<String> {
        let Some(cluster) = self.view.cluster else {
            return Vec::new();
        };
        let mut clusters = self.view.placed_on(identity);
        clusters.extend(lives_on);
        if clusters.contains(cluster) {
            return Vec::new();
        }
        clusters.into_iter().map(str::to_owned).collect()
    }

    /// The clusters of a route or a ListenerSet that is shipped.
    fn shipped_to(&self, identity: &Identity) -> Option<Vec<String>> {
        let view = self.view;
        let mut nodes = view.hub.topology.find(identity).into_iter();
        let clusters = nodes.find_map(|node| match node {
            Node::Route(route) => {
                view.routes.get(route)?;
                Some(view.clusters_of_route(route))
            }
            Node::ListenerSet(set) => {
                view.routes.sets.get(&set)?;
                let gateway = view.hub.topology.listener_sets.get(set).gateway;
                let gateway = view.hub.topology.gateways.get(gateway).object;
                let clusters = view.clusters_of(&gateway.key()).iter();
                Some(clusters.map(String::as_str).collect())
            }
            _ => None,
        })?;
        let clusters = clusters.into_iter();
        let asked = clusters.filter(|name| view.cluster.is_none_or(|cluster| cluster == *name));
        Some(asked.map(str::to_owned).collect())
    }

    /// Whether it is a route or a ListenerSet of the hub that counts on clusters although it is not shipped.
    fn is_assumed(&self, identity: &Identity) -> bool {
        self.view.spokes.iter().any(|spoke| {
            let topology = &spoke.attachments.topology;
            let mut nodes = topology.find(identity).into_iter();
            nodes.any(|node| match node {
                Node::Route(route) => topology.routes.get(route).assumed,
                Node::ListenerSet(set) => topology.listener_sets.get(set).assumed,
                _ => false,
            })
        })
    }

    /// Why a ListenerSet or a route of the hub is not attached to what it names.
    fn not_attached(&self, identity: &Identity) -> Vec<String> {
        let topology = &self.view.hub.topology;
        let nodes = topology.find(identity).into_iter();
        let mut routes = nodes.filter_map(|node| match node {
            Node::Route(route) => Some(topology.routes.get(route).route),
            _ => None,
        });
        topology.why_not_attached(identity, routes.next())
    }

    /// The policies that target it, or a section of it.
    fn attached(&self, identity: &Identity) -> Vec<AttachedPolicy> {
        let mut found: BTreeMap<String, AttachedPolicy> = BTreeMap::new();
        for seen in self.view.seen() {
            let (attachments, topology) = (seen.attachments, &seen.attachments.topology);
            let wholes = topology.find(identity).into_iter();
            let nodes = wholes.flat_map(|whole| [whole].into_iter().chain(topology.sections(whole)));
            let nodes: BTreeSet<Node> = nodes.collect();
            let on_it = nodes.into_iter().flat_map(|node| {
                let kinds = attachments.kinds.ids();
                let entries = kinds.flat_map(move |kind| attachments.on(kind, node));
                entries.map(move |entry| (node, entry.policy))
            });
            for (node, policy) in on_it {
                for (_, authored) in attachments.policy(policy).authors(policy) {
                    let locator = authored.locator.to_string();
                    found.entry(locator.clone()).or_insert_with(|| AttachedPolicy {
                        policy: locator,
                        target: topology.locator(node),
                        place: self.place(authored.object, ""),
                    });
                }
            }
        }
        found.into_values().collect()
    }

    /// The settings that apply on the paths through an object.
    fn effective_through(&self, identity: &Identity) -> Vec<ExplainedPaths> {
        let mut found: Vec<Found<'_>> = Vec::new();
        for seen in self.view.seen() {
            for node in seen.attachments.topology.find(identity) {
                let through = seen.effective.through(seen.attachments, node);
                found.extend(through.into_iter().map(|(kind, path)| (seen, kind, path)));
            }
        }
        self.grouped(found)
    }

    /// The settings that apply on the paths that a policy is on; if others override it, the settings that apply on its
    /// targets.
    fn effective_of_policy(&self, locator: &str) -> Vec<ExplainedPaths> {
        let mut on: Vec<Found<'_>> = Vec::new();
        for seen in self.view.seen() {
            let ids: BTreeSet<PolicyId> = seen.standing_for(locator).into_iter().map(|(id, _)| id).collect();
            let paths = seen.effective.iter().filter(|(_, path)| {
                let mut chain = path.effective.chain.iter();
                chain.any(|(_, on_it)| ids.contains(on_it))
            });
            on.extend(paths.map(|(kind, path)| (seen, kind, path)));
        }
        if !on.is_empty() || self.winners(locator).is_empty() {
            return self.grouped(on);
        }
        let hub = self.view.hub;
        for (id, _) in self.hub_policies(locator) {
            let same = hub.profile(id).group_kind();
            for seen in self.view.seen() {
                let is_same = |kind: KindId| seen.attachments.kinds.get(kind).profile.group_kind() == same;
                let nodes = hub.policy(id).nodes().into_iter();
                for node in nodes.flat_map(|node| seen.find(hub, node)) {
                    let through = seen.effective.through(seen.attachments, node).into_iter();
                    let through = through.filter(|(kind, _)| is_same(*kind));
                    on.extend(through.map(|(kind, path)| (seen, kind, path)));
                }
            }
        }
        self.grouped(on)
    }

    /// The policy of this locator on the hub.
    fn hub_policies(&self, locator: &str) -> impl Iterator<Item = (PolicyId, &'e Object)> {
        let policies = self.view.hub.policies.iter();
        let locator = locator.to_owned();
        let policies = policies.filter(move |(_, policy)| policy.locator().as_ref() == locator);
        policies.map(|(id, policy)| (id, policy.object))
    }

    /// The policies that override a policy of which nothing applies anywhere.
    fn winners(&self, locator: &str) -> Vec<Winner> {
        let common = self.view.fates.of(locator).and_then(|fates| fates.common());
        let Some((Outcome::Overridden, tally)) = common else {
            return Vec::new();
        };
        let by = tally.by.iter();
        by.map(|(locator, winner)| self.winner(locator, winner)).collect()
    }

    fn winner(&self, locator: &str, winner: &policy::Winner<'_>) -> Winner {
        Winner {
            policy: locator.to_owned(),
            local: winner.local,
            place: self.place(winner.object, ""),
        }
    }

    /// The policies that it overrides anywhere.
    fn losers(&self, winner: &str) -> Vec<Loser> {
        let losers = self.view.fates.overridden_by(winner);
        let there = |locator: &str| {
            self.view.seen().find_map(|seen| {
                let (id, _) = *seen.standing_for(locator).first()?;
                Some(seen.attachments.policy(id).object)
            })
        };
        let losers = losers.map(|(locator, clusters)| {
            let on_hub = self.hub_policies(locator).next().map(|(_, object)| object);
            let object = on_hub.or_else(|| there(locator));
            Loser {
                policy: locator.to_string(),
                clusters: clusters.into_iter().map(str::to_owned).collect(),
                place: object.and_then(|object| self.place(object, "")),
            }
        });
        losers.collect()
    }

    /// Equal results on the same clusters together, in the order of their first path.
    fn grouped(&self, found: impl IntoIterator<Item = Found<'e>>) -> Vec<ExplainedPaths> {
        let (results, paths) = on_paths(found, |seen, kind, effective| self.result(seen, kind, effective));
        let mut groups: IndexMap<(usize, *const String, usize), ExplainedPaths> = IndexMap::new();
        for on in paths {
            let Some(of) = results.get(on.result) else {
                continue;
            };
            let (clusters, everywhere) = self.view.where_applied(&on, &mut self.clusters.borrow_mut());
            // Equal lists are one.
            let same = (on.result, clusters.as_ptr(), clusters.len());
            let group = groups.entry(same).or_insert_with(|| ExplainedPaths {
                clusters,
                everywhere,
                ..of.clone()
            });
            let (seen, kind, path) = on.found;
            group.paths.push(on.locators);
            group.labels.push(seen.attachments.path_label(kind, &path.path));
        }
        groups.into_values().collect()
    }

    /// A result, before it is known on which paths it applies.
    fn result(&self, seen: Seen<'_>, kind: KindId, effective: &Effective) -> ExplainedPaths {
        let profile = &seen.attachments.kinds.get(kind).profile;
        let mut content: Vec<(&Arc<str>, &Leaf)> = effective.content.iter().collect();
        // Where an order was meant, it is that in which they are applied.
        if profile.priority_field.is_some() {
            content.sort_by_key(|(_, leaf)| effective.chain.iter().position(|(_, id)| *id == leaf.policy));
        }
        let mut entries = self.settings.borrow_mut();
        let settings = content.into_iter();
        let settings = settings.map(|(name, leaf)| entries.applied(seen.attachments, name, leaf));
        let settings = settings.collect();
        let refused = effective.refused.iter();
        let refused = refused.flat_map(|id| seen.attachments.policy(*id).authors(*id));
        let refused = refused.map(|(_, authored)| RefusedPolicy {
            policy: authored.locator.to_string(),
            place: self.place(authored.object, ""),
        });
        ExplainedPaths {
            kind: profile.kind.clone(),
            group: profile.group.clone(),
            paths: Vec::new(),
            labels: Vec::new(),
            clusters: Arc::default(),
            everywhere: true,
            settings,
            overridden: entries.losses(seen.attachments, effective),
            refused: refused.collect(),
        }
    }

    fn policy(&self, locator: &str, without: Option<&PolicyView<'_>>) -> PolicyPart {
        let view = self.view;
        let mut reach = Reach::default();
        let mut classes: Vec<&[String]> = Vec::new();
        let mut targets: BTreeSet<String> = BTreeSet::new();
        let mut lives_there = None;
        for seen in view.seen() {
            for (id, author) in seen.standing_for(locator) {
                let policy = seen.attachments.policy(id);
                let nodes = policy.nodes();
                targets.extend(nodes.iter().map(|node| seen.attachments.topology.locator(*node)));
                if policy.local {
                    lives_there = Some((seen, id));
                }
                if policy.contributes(author) && seen.goes_there(id) {
                    reach.add(seen.attachments, seen.effective, id);
                    classes.push(seen.clusters);
                }
            }
        }
        let entry = match (self.hub_policies(locator).next(), lives_there) {
            (Some((id, _)), _) => Some(PolicyEntry::of_hub(view, id)),
            (None, Some((seen, id))) => Some(PolicyEntry::of_clusters(view, seen, id)),
            (None, None) => None,
        };
        let set = |set: BTreeSet<String>| set.into_iter().collect();
        let entry = entry.map(|entry| (entry.conditions, entry.on_clusters));
        let (conditions, mut on_clusters) = entry.unwrap_or_default();
        on_clusters.retain(|on_cluster| on_cluster.condition.is_some());
        PolicyPart {
            conditions,
            targets: set(targets),
            reach: ReachPart {
                clusters: self.joined(&classes).to_vec(),
                gateways: set(reach.gateways),
                listeners: set(reach.listeners),
                routes: set(reach.routes),
                backends: set(reach.backends),
            },
            overridden_by: self.winners(locator),
            overrides: self.losers(locator),
            on_clusters,
            if_deleted: without.map_or_else(Vec::new, |without| if_deleted(view, without)),
        }
    }
}
