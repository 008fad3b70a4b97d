//! Effective policies and statuses as JSON: `PolicyReport` and its parts (docs/reference/json.md).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use apimachinery::Work;
use kube_json::Value;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::fleet_view::{FleetScope, FleetView};
use super::policy_view::{ClusterLists, OverlayChanges, PolicyView, Seen, key_of, on_paths};
use super::settings::SourceLine;
use crate::api::condition::Condition;
use crate::diagnostic::{API_VERSION, Hidden, Locate, without_secrets};
use crate::object::Object;
use crate::policy::{
    AncestorStatus, Attachments, Effective, Everywhere, KindId, Leaf, MergeUnit, Outcome, Policy, PolicyId,
    Profile, Rule, StatusShape, Tally, Target, accepted, ancestors, effect_of, flatten, nowhere,
};
use crate::sync::is_on_hub_only;
use crate::topology::{GatewayId, Level, Node, Start};

/// `policies -o json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReport {
    /// `spokewright.dev/v1alpha1`.
    pub api_version: &'static str,
    /// `PolicyReport`.
    pub kind: &'static str,
    /// One entry per kind and path.
    pub effective: Vec<EffectiveEntry>,
    /// Gateways that policies are attached to, but that no path of that kind leads through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_paths: Vec<WithoutPaths>,
    /// One entry per policy.
    pub policies: Vec<PolicyEntry>,
    /// What ClusterOverlays change in these policies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<OverlayChanges>,
    /// Policies of the hub that are not on the cluster that is looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<ElsewhereEntry>,
    /// The cluster that is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What there is, whether a policy holds there or not, and what policies come to.
    #[serde(flatten)]
    fleet: Option<FleetView>,
}

/// A policy that is not on the cluster that is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ElsewhereEntry {
    /// Locator.
    pub policy: String,
    /// The clusters where it is, sorted; none if it is on no cluster.
    pub clusters: Vec<String>,
}

/// A Gateway whose policies have nothing to apply to, because no route is attached to it in the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct WithoutPaths {
    /// The policy kind.
    pub kind: String,
    /// Its group.
    pub group: String,
    /// The Gateway's locator.
    pub gateway: String,
    /// The policies on it and its listeners.
    pub policies: Vec<String>,
    /// Where paths of this kind end: `route rule`.
    pub ends: &'static str,
}

/// The effective policies on one path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EffectiveEntry {
    /// The policy kind.
    pub kind: Arc<str>,
    /// Its group, because two products may have a kind of the same name.
    pub group: Arc<str>,
    /// Locators from the GatewayClass on.
    pub path: Vec<Arc<str>>,
    /// What holds, shared by all paths where the same does.
    #[serde(flatten)]
    pub result: Arc<EffectiveResult>,
    /// The path ends at a listener because no route is known there, so it applies to any route.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub any_route: bool,
    /// The clusters where this is in effect, sorted; none means all clusters of the Gateway.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub clusters: Arc<[String]>,
}

/// What holds, wherever it does.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EffectiveResult {
    /// Rule id to value, for kinds with named rules; policy to settings, for kinds that add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<BTreeMap<String, Value>>,
    /// Rule id to the policy that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_sources: Option<BTreeMap<String, String>>,
    /// All sources, sorted.
    pub source_policies: Vec<String>,
    /// For kinds whose policies add up by a priority: the policies, in the order in which they are applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// The result as a spec; none if policies add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<Value>,
    /// JSON pointer in `spec` to the policy that the value comes from.
    pub sources: BTreeMap<String, String>,
    /// Policies on the path that their controller refuses: none of their settings takes effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

impl EffectiveResult {
    /// The result of the policies of one kind.
    pub(crate) fn new(attachments: &Attachments<'_>, kind: KindId, effective: &Effective) -> Self {
        let profile = &attachments.kinds.get(kind).profile;
        let locator = |author| attachments.authored(author).locator.to_string();
        let author = |key: &str, leaf: &Leaf| locator(attachments.author_of(key, leaf));
        let spec = effective.spec(profile);
        let named = spec.is_none() || matches!(profile.unit, MergeUnit::Rules(_));
        let mut sources = BTreeMap::new();
        if spec.is_some() {
            for (key, leaf) in effective.content.iter() {
                // A rule has several fields.
                flatten(&leaf.value, leaf.at.to_string(), &mut |pointer, _| {
                    sources.insert(pointer, author(key, leaf));
                });
            }
        }
        // Where policies add up, each is a rule under its locator.
        let id = |key: &str, leaf: &Leaf| match &spec {
            Some(_) => key.to_owned(),
            None => author(key, leaf),
        };
        let policies: BTreeSet<String> = effective.sources(attachments).into_iter().map(locator).collect();
        let (mut rules, mut rule_sources) = (BTreeMap::new(), BTreeMap::new());
        for (key, leaf) in effective.content.iter().filter(|_| named) {
            let id = id(key, leaf);
            rules.insert(id.clone(), without_secrets(&leaf.value));
            rule_sources.insert(id, author(key, leaf));
        }
        let is_ordered = profile.priority_field.is_some();
        let chain = effective.chain.iter().filter(|_| is_ordered);
        let authors = chain.flat_map(|(_, id)| attachments.policy(*id).authors(*id));
        let order = authors.map(|(_, authored)| authored.locator.to_string());
        let refused = effective.refused.iter();
        Self {
            rules: named.then_some(rules),
            rule_sources: named.then_some(rule_sources),
            source_policies: policies.into_iter().collect(),
            order: order.collect(),
            spec: spec.as_ref().map(without_secrets),
            sources,
            refused: refused.map(|id| attachments.locator(*id).to_string()).collect(),
        }
    }
}

impl PolicyView<'_> {
    /// The policies of which local ones leave nothing on some clusters, shipped or not: `namespace/name` of the policy and
    /// of the local one, and these clusters.
    pub fn overridden_by_local(&self) -> BTreeMap<[String; 2], BTreeSet<&str>> {
        let mut pairs: BTreeMap<[String; 2], BTreeSet<&str>> = BTreeMap::new();
        for (policy, everywhere) in self.fates.iter() {
            for fate in &everywhere.fates {
                let total = fate.total();
                let local = total.by.iter().filter(|(_, winner)| winner.local);
                for (winner, _) in local.filter(|_| total.outcome() == Outcome::Overridden) {
                    let clusters = fate.clusters.iter().map(AsRef::as_ref);
                    pairs
                        .entry([policy, winner].map(|locator| key_of(locator).to_owned()))
                        .or_default()
                        .extend(clusters);
                }
            }
        }
        pairs
    }

    /// The clusters where others leave nothing of a policy, sorted, with the condition that it would have there.
    pub fn overridden_on(&self, policy: PolicyId) -> Vec<(&str, Condition)> {
        let (kind, shape) = (
            &self.hub.policy(policy).object.kind,
            self.hub.profile(policy).status,
        );
        let everywhere = self.fates.of(&self.hub.locator(policy)).into_iter();
        let mut found: Vec<(&str, Condition)> = Vec::new();
        for fate in everywhere.flat_map(|everywhere| &everywhere.fates) {
            let total = fate.total();
            if total.outcome() == Outcome::Overridden
                && let Some(condition) = exception(kind, shape, &total)
            {
                let clusters = fate.clusters.iter();
                found.extend(clusters.map(|cluster| (cluster.as_ref(), condition.clone())));
            }
        }
        found.sort_by_key(|(cluster, _)| *cluster);
        found
    }
}

/// A policy and its predicted status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyEntry {
    /// Locator.
    pub policy: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// Whether it lives on clusters and does not come from the hub.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// Locators of its targets.
    pub targets: Vec<String>,
    /// Targets that do not exist, for people, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_targets: Vec<String>,
    /// `defaults` or `overrides`, if its settings are in one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'static str>,
    /// How it merges with others, if it chooses a strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Condition Accepted.
    pub accepted: Condition,
    /// Condition Enforced, of kinds that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Condition>,
    /// Condition Programmed, of kinds that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programmed: Option<Condition>,
    /// All conditions.
    pub conditions: Vec<Condition>,
    /// `status.ancestors`, of kinds that have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<AncestorStatus>,
    /// The policies that override its settings, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden_by: Vec<String>,
    /// For each of them, and for the policies that keep a refused one out: the rule that decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionEntry>,
    /// Clusters of the Gateways that it affects, or where it lives, sorted.
    pub clusters: Arc<BTreeSet<Arc<str>>>,
    /// Clusters where a spoke-local policy changes this.
    #[serde(serialize_with = "by_condition", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<NamedCondition<'static>>")]
    pub on_clusters: Vec<OnCluster>,
    /// For people, in one word: the reason of the condition that says most.
    #[serde(skip)]
    pub state: String,
}

/// Why another policy won.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DecisionEntry {
    /// Its locator.
    pub winner: String,
    /// The rule's name: `first-by-name`.
    pub rule: &'static str,
    /// The rule in words.
    pub because: &'static str,
}

/// The status of a policy, or of a target, on one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OnCluster {
    /// The cluster.
    pub cluster: Arc<str>,
    /// The condition there: Enforced, Programmed, or Attached, of kinds that have it; Overridden, of kinds without a
    /// condition that says whether they are in effect; of a target, `<Kind>Affected`. Thousands of clusters may share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Arc<Condition>>,
}

/// [`OnCluster`] in a list of many objects, where readers look for a condition by its name.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OnClusterByCondition")]
pub(super) struct NamedCondition<'o> {
    cluster: &'o str,
    /// The condition as `enforced`, `programmed`, `overridden`, `attached`, or, of a target, `affected`.
    #[serde(flatten)]
    condition: BTreeMap<&'static str, &'o Condition>,
}

/// Writes each condition under its own name.
pub(super) fn by_condition<S: Serializer>(all: &[OnCluster], serializer: S) -> Result<S::Ok, S::Error> {
    const NAMES: [(&str, &str); 5] = [
        ("Enforced", "enforced"),
        ("Programmed", "programmed"),
        ("Overridden", "overridden"),
        ("Attached", "attached"),
        ("Affected", "affected"),
    ];
    serializer.collect_seq(all.iter().map(|on_cluster| {
        let named = on_cluster.condition().and_then(|condition| {
            let mut names = NAMES.iter();
            // That of a target is `<Kind>Affected`.
            let found = names.find(|(kind, _)| condition.kind.ends_with(kind));
            found.map(|(_, name)| (*name, condition))
        });
        NamedCondition {
            cluster: &on_cluster.cluster,
            condition: named.into_iter().collect(),
        }
    }))
}

impl PolicyEntry {
    /// The entry of a policy of the hub.
    pub fn of_hub(view: &PolicyView<'_>, id: PolicyId) -> Self {
        let hub = view.hub;
        let accepted = accepted(hub, id, None);
        let everywhere = view.fates.of(&hub.locator(id));
        if accepted.is_true() && is_on_hub_only(&hub.topology, view.routes, hub.policy(id)) {
            let message = "on the hub only: it is not shipped, so no controller accepts it".to_owned();
            let not_shipped = Condition::new("Accepted", "Unknown", "NotShipped", message);
            return Self::new(hub, (id, not_shipped), everywhere);
        }
        let clusters = everywhere.map(Everywhere::clusters).unwrap_or_default();
        let refusals = view.refusals.get(&id).into_iter().flatten();
        let refused =
            refusals.flat_map(|(clusters, why)| clusters.iter().map(move |name| (name.as_str(), why)));
        let refused = refused.filter(|(cluster, _)| clusters.contains(*cluster));
        let refused: BTreeMap<&str, &Condition> = refused.collect();
        let mut reasons = refused.values();
        let first = reasons.next().filter(|_| refused.len() == clusters.len());
        let on_all_clusters = first.filter(|first| reasons.all(|why| why == *first));
        let accepted = on_all_clusters.map_or(accepted, |why| Condition::clone(why));
        let mut entry = Self::new(hub, (id, accepted), everywhere);
        if on_all_clusters.is_none() && !refused.is_empty() {
            let on_clusters = &mut entry.on_clusters;
            on_clusters.retain(|known| !refused.contains_key(&*known.cluster));
            let others = refused.iter();
            let others = others.map(|(cluster, why)| OnCluster::new(cluster, Arc::new((*why).clone())));
            on_clusters.extend(others);
            on_clusters.sort_by(|a, b| a.cluster.cmp(&b.cluster));
        }
        let mut gateways = gateways_on_paths(view, everywhere);
        if gateways.is_empty() {
            gateways = hub.policy(id).gateways(&hub.topology);
        }
        let kind = hub.policy(id).object.kind.as_str();
        let shape = hub.profile(id).status;
        entry.ancestors = ancestors(hub, id, &gateways, |gateway| {
            let Some(everywhere) = everywhere else {
                return nowhere(kind, shape);
            };
            let name = hub.topology.locator(Node::Gateway(gateway));
            let mut total = Tally::default();
            let fates = everywhere.fates.iter();
            for tally in fates.filter_map(|fate| fate.gateways.get(&name)) {
                total.add(tally);
            }
            effect_of(kind, shape, total.outcome(), &total.keys())
        });
        if let Some(why) = on_all_clusters {
            let ancestors = entry.ancestors.iter_mut();
            let conditions = ancestors.flat_map(|ancestor| &mut ancestor.conditions);
            for condition in conditions.filter(|condition| condition.kind == why.kind) {
                *condition = Condition::clone(why);
            }
        }
        for node in hub.policy(id).nodes() {
            if let Some(by) = hub.conflicted_by(id, node) {
                let rule = hub.rule_on_one_node(by, id);
                entry.decisions.push(DecisionEntry::new(&hub.locator(by), rule));
            }
        }
        entry.decisions.sort();
        entry.decisions.dedup();
        entry
    }

    /// The entry of a policy that lives on clusters that are alike.
    pub fn of_clusters(view: &PolicyView<'_>, there: Seen<'_>, id: PolicyId) -> Self {
        let attachments = there.attachments;
        let fates = view.fates.of(&attachments.locator(id));
        let fates = fates.map(|fates| fates.on(there.clusters));
        Self::new(attachments, (id, accepted(attachments, id, None)), fates.as_ref())
    }

    /// The entry of a policy by what became of it.
    fn new(
        attachments: &Attachments<'_>,
        (id, accepted): (PolicyId, Condition),
        everywhere: Option<&Everywhere<'_>>,
    ) -> Self {
        let policy = attachments.policy(id);
        let kind = policy.object.kind.as_str();
        let shape = attachments.profile(id).status;
        let common = everywhere.and_then(Everywhere::common);
        let effect = match &common {
            _ if !accepted.is_true() => None,
            Some((outcome, tally)) => effect_of(kind, shape, *outcome, &tally.keys()),
            None if policy.gateways(&attachments.topology).is_empty() => {
                effect_of(kind, shape, Outcome::NoPath, &[])
            }
            None => nowhere(kind, shape),
        };
        let outcome = common.as_ref().map(|(outcome, _)| *outcome);
        let state = match outcome.filter(|_| accepted.is_true()) {
            Some(Outcome::Partial) => "Partial",
            Some(Outcome::Overridden) => "Overridden",
            Some(Outcome::NoPath) if effect.is_none() => "NoPath",
            _ => &effect.as_ref().unwrap_or(&accepted).reason,
        };
        let state = state.to_owned();
        // Where no condition of the policy itself says that it is overridden, each cluster does.
        let is_silent = state == "Overridden" && effect.is_none() && !policy.local;
        let mut on_clusters: Vec<OnCluster> = Vec::new();
        for (clusters, tally) in everywhere.into_iter().flat_map(|all| all.exceptions(is_silent)) {
            let condition = exception(kind, shape, &tally).map(Arc::new);
            on_clusters.extend(clusters.iter().map(|cluster| OnCluster {
                cluster: Arc::clone(cluster),
                condition: condition.clone(),
            }));
        }
        on_clusters.sort_by(|a, b| a.cluster.cmp(&b.cluster));
        let by = common.map(|(_, tally)| tally.by).unwrap_or_default();
        let decisions = by.iter().flat_map(|(locator, winner)| {
            let rules = winner.rules.iter();
            rules.map(|rule| DecisionEntry::new(locator, *rule))
        });
        let clusters = everywhere.map(Everywhere::clusters).unwrap_or_default();
        let (mode, strategy) = mode(policy, attachments.profile(id));
        let own = policy.object.namespace_or_empty();
        let nowhere = policy.targets.iter();
        let nowhere = nowhere.filter(|declared| !matches!(declared.target, Target::Attached(_)));
        let nodes = policy.nodes().into_iter();
        let named = |name: &str| effect.clone().filter(|effect| effect.kind == name);
        Self {
            policy: policy.locator().to_string(),
            place: None,
            local: policy.local,
            targets: nodes.map(|node| attachments.topology.locator(node)).collect(),
            missing_targets: nowhere.map(|declared| declared.unattached(own)).collect(),
            mode,
            strategy,
            enforced: named("Enforced"),
            programmed: named("Programmed"),
            conditions: std::iter::once(accepted.clone()).chain(effect.clone()).collect(),
            accepted,
            ancestors: Vec::new(),
            overridden_by: by.keys().map(ToString::to_string).collect(),
            decisions: decisions.collect(),
            clusters,
            on_clusters,
            state,
        }
    }
}

/// `defaults` or `overrides`, where the settings stand in one of these; and the strategy, where it is written.
fn mode(policy: &Policy<'_>, profile: &Profile) -> (Option<&'static str>, Option<String>) {
    let Some(layer) = policy.layers.last() else {
        return (None, None);
    };
    let word = layer.base.rsplit('/').next().filter(|word| *word != "spec");
    let bases = [layer.base, "/spec"];
    let written = bases.iter().find_map(|base| {
        let fields = profile.strategy_fields.iter();
        let mut written = fields.filter_map(|field| policy.object.value.pointer(&format!("{base}/{field}")));
        written.find_map(|value| value.as_str().map(str::to_owned))
    });
    (word, written)
}

/// The Gateways of the hub on whose paths a policy is on any cluster.
fn gateways_on_paths(view: &PolicyView<'_>, everywhere: Option<&Everywhere<'_>>) -> BTreeSet<GatewayId> {
    let fates = everywhere.into_iter().flat_map(|everywhere| &everywhere.fates);
    let names: BTreeSet<&String> = fates.flat_map(|fate| fate.gateways.keys()).collect();
    if names.is_empty() {
        return BTreeSet::new();
    }
    let topology = &view.hub.topology;
    let is_named = |gateway: &GatewayId| names.contains(&topology.locator(Node::Gateway(*gateway)));
    topology.gateways.ids().filter(is_named).collect()
}

impl DecisionEntry {
    fn new(winner: &str, rule: Rule) -> Self {
        Self {
            winner: winner.to_owned(),
            rule: rule.name(),
            because: rule.because(),
        }
    }
}

impl OnCluster {
    /// A condition on one cluster.
    pub fn new(cluster: &str, condition: Arc<Condition>) -> Self {
        Self {
            cluster: Arc::from(cluster),
            condition: Some(condition),
        }
    }

    /// The condition there.
    pub fn condition(&self) -> Option<&Condition> {
        self.condition.as_deref()
    }
}

/// The condition of a policy on a cluster that is an exception. Kuadrant's message does not name who took a part, and a
/// policy that lives there is what a reader looks for. A kind that has no such condition gets Envoy Gateway's.
pub fn exception(kind: &str, shape: StatusShape, tally: &Tally<'_>) -> Option<Condition> {
    let (outcome, by) = (tally.outcome(), tally.keys());
    let of = |shape| effect_of(kind, shape, outcome, &by);
    let mut condition = of(shape).or_else(|| of(StatusShape::EnvoyGateway))?;
    if outcome == Outcome::Partial && shape == StatusShape::Kuadrant && !by.is_empty() {
        let by = by.join(" ");
        let message = format!("{kind} has been partially enforced, in part overridden by [{by}]");
        condition.message = message.into();
    }
    Some(condition)
}

impl PolicyReport {
    /// The report without places and without what there is beside policies: what the text for people is made from.
    pub fn for_text(view: &PolicyView<'_>) -> Self {
        Self::located(view, |_| None)
    }

    fn located(view: &PolicyView<'_>, place: impl Fn(&Object) -> Option<SourceLine>) -> Self {
        let policies = policies(view).into_iter().map(|(object, entry)| PolicyEntry {
            place: place(object),
            ..entry
        });
        let policies: Vec<PolicyEntry> = policies.collect();
        let names: BTreeSet<&str> = policies.iter().map(|entry| entry.policy.as_str()).collect();
        let overlays = view.overlays.iter();
        let overlays = overlays.filter(|change| names.contains(&*change.object));
        Self {
            api_version: API_VERSION,
            kind: "PolicyReport",
            effective: effective(view),
            without_paths: without_paths(view),
            overlays: overlays.cloned().collect(),
            policies,
            elsewhere: elsewhere(view),
            cluster: view.cluster.map(str::to_owned),
            fleet: None,
        }
    }

    /// The whole report.
    pub fn new(view: &PolicyView<'_>, locate: &dyn Locate) -> Self {
        let clusters = view.seen().flat_map(|seen| seen.clusters);
        let clusters: HashSet<&str> = clusters.map(String::as_str).collect();
        let scope = FleetScope {
            is_listed: &|name| clusters.contains(name),
            work: &Work::unlimited(),
            hidden: &mut Hidden::default(),
        };
        let fleet = FleetView::new(view, locate, scope);
        let place = |object: &Object| SourceLine::of(locate, object.place(""));
        Self {
            fleet,
            ..Self::located(view, place)
        }
    }
}

/// What holds on each path; what is the same on several clusters once. By kind, then Gateway, then the order of the
/// topology.
fn effective(view: &PolicyView<'_>) -> Vec<EffectiveEntry> {
    let result = |seen: Seen<'_>, kind: KindId, effective: &Effective| {
        let profile = &seen.attachments.kinds.get(kind).profile;
        let result = EffectiveResult::new(seen.attachments, kind, effective);
        let [kind, group] = [&profile.kind, &profile.group].map(|name| Arc::from(name.as_str()));
        (kind, group, Arc::new(result))
    };
    let (results, paths) = on_paths(view.all_paths(), result);
    let mut lists = ClusterLists::default();
    let entries = paths.into_iter().filter_map(|on| {
        let (seen, kind_id, path) = on.found;
        let (kind, group, result): (Arc<str>, Arc<str>, _) = results.get(on.result)?.clone();
        let (clusters, is_everywhere) = view.where_applied(&on, &mut lists);
        Some(EffectiveEntry {
            kind,
            group,
            path: on.locators,
            result,
            any_route: seen.attachments.leads_to_no_route(kind_id, &path.path),
            clusters: if is_everywhere { Arc::default() } else { clusters },
        })
    });
    let mut entries: Vec<EffectiveEntry> = entries.collect();
    entries.sort_by(|one, other| {
        let order = (&one.group, &one.kind, one.path.get(1));
        order.cmp(&(&other.group, &other.kind, other.path.get(1)))
    });
    entries
}

/// The policies of the hub, or those that go to the cluster that is looked at; then those that live on clusters, each
/// once where clusters have the same.
pub(super) fn policies<'v>(view: &'v PolicyView<'_>) -> Vec<(&'v Object, PolicyEntry)> {
    let hub = view.hub.policies.ids();
    let hub = hub.filter(|id| goes_there(view, *id));
    let entry = |id| (view.hub.policy(id).object, PolicyEntry::of_hub(view, id));
    let mut entries: Vec<(&Object, PolicyEntry)> = hub.map(entry).collect();
    let mut local: BTreeMap<(String, String), (&Object, PolicyEntry)> = BTreeMap::new();
    for seen in view.seen() {
        let policies = seen.attachments.policies.iter();
        for (id, policy) in policies.filter(|(_, policy)| policy.local) {
            let mut entry = PolicyEntry::of_clusters(view, seen, id);
            let clusters = std::mem::take(&mut entry.clusters);
            let text = serde_json::to_string(&entry).unwrap_or_default();
            let key = (entry.policy.clone(), text);
            let (_, known) = local.entry(key).or_insert((policy.object, entry));
            Arc::make_mut(&mut known.clusters).extend(clusters.iter().cloned());
        }
    }
    entries.extend(local.into_values());
    entries
}

/// Whether a policy of the hub goes to the cluster that is looked at.
fn goes_there(view: &PolicyView<'_>, id: PolicyId) -> bool {
    let fates = view.fates.of(&view.hub.locator(id));
    view.cluster.is_none() || fates.is_some_and(|fates| !fates.clusters().is_empty())
}

/// The policies of the hub that do not go to the cluster that is looked at.
fn elsewhere(view: &PolicyView<'_>) -> Vec<ElsewhereEntry> {
    let hub = view.hub.policies.ids().filter(|id| !goes_there(view, *id));
    hub.map(|id| {
        let clusters = view.placed_on(&view.hub.policy(id).object.identity());
        ElsewhereEntry {
            policy: view.hub.locator(id).to_string(),
            clusters: clusters.into_iter().map(str::to_owned).collect(),
        }
    })
    .collect()
}

/// Gateways with policies of a kind and no path of it.
fn without_paths(view: &PolicyView<'_>) -> Vec<WithoutPaths> {
    let mut found: Vec<WithoutPaths> = Vec::new();
    for seen in view.seen() {
        let (attachments, effective) = (seen.attachments, seen.effective);
        for (position, kind) in attachments.kinds.iter() {
            for gateway in attachments.topology.gateways.ids() {
                if !effective.has(Start::Gateway(gateway)) || !effective.on(position, gateway).is_empty() {
                    continue;
                }
                let nodes = attachments.topology.nodes_of_gateway(gateway);
                let entries = nodes.iter().flat_map(|node| attachments.on(position, *node));
                let policies = entries.map(|entry| attachments.locator(entry.policy).to_string());
                let policies: BTreeSet<String> = policies.collect();
                let without = WithoutPaths {
                    kind: kind.profile.kind.clone(),
                    group: kind.profile.group.clone(),
                    gateway: attachments.topology.locator(Node::Gateway(gateway)),
                    policies: policies.into_iter().collect(),
                    ends: kind.profile.ends.last().copied().unwrap_or(Level::Gateway).name(),
                };
                if !without.policies.is_empty() && !found.contains(&without) {
                    found.push(without);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
