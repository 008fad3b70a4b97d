//! One policy: the object that it was made from, its settings as [`Layer`]s, its targets, and its place among the policies
//! of a node ([`NodePolicies`], [`Rule`]: docs/systems/gep-713.md#established-and-challenger).
//!
//! `reading` makes policies, `targets` resolves their targets, and `attachment` places them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::row_ids;
use kube_json::{Text, Value, json};

use super::profile::Strategy;
use crate::api::gateway::GROUP;
use crate::api::policy::{TargetRef, TargetSelector};
use crate::object::{Object, Rank};
use crate::topology::{GatewayId, ListenerId, Node, Topology};

/// A policy as written, among those that the one of this number stands for: see [`Authored`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AuthoredId {
    /// The policy.
    pub policy: PolicyId,
    /// Position among the originals.
    pub(super) position: u32,
}

row_ids! {
    /// A policy.
    pub PolicyId,
    /// A policy kind of the input.
    pub KindId,
}

/// Which wrapper settings are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Gives way to what is more specific.
    Defaults,
    /// Does not.
    Overrides,
}

/// One unit of merging: a named rule, or a field that is not a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Its value, which may be a long list: leaves are cloned often.
    pub value: Arc<Value>,
    /// Its JSON pointer in the settings: `/limits/per-client`.
    pub at: Arc<str>,
    /// The pointer of the settings in the source object: `/spec/defaults`.
    pub base: &'static str,
    /// The policy that it comes from.
    pub policy: PolicyId,
    /// Of what is in a list that is no unit: where it came from.
    pub element: Option<Element>,
    /// A policy with no essential leaf counts as empty.
    pub essential: bool,
}

/// An element, or a field of one, of a list that was put together from several, or that was taken apart by a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// The JSON pointer of the list in the settings: `/httpUpgrade`.
    pub list: Arc<str>,
    /// The field that identifies the element, a number, which then stands for its position: `port`.
    pub key: Option<Arc<str>>,
    /// Its JSON pointer in the settings that it comes from, where it has another position: `/httpUpgrade/1`.
    pub from: Arc<str>,
}

impl Leaf {
    /// A value at another place of the settings that has the source of this one, with its key.
    pub(super) fn moved(&self, at: impl Into<Arc<str>>, value: Value) -> (Arc<str>, Self) {
        let at = at.into();
        let leaf = Self {
            value: Arc::new(value),
            at: Arc::clone(&at),
            ..self.clone()
        };
        (at, leaf)
    }

    /// The pointer of the leaf in its source object.
    pub fn source_pointer(&self) -> String {
        let from = self.element.as_ref().map_or(&self.at, |element| &element.from);
        format!("{}{from}", self.base)
    }
}

/// Leaves by rule id, or by JSON pointer.
pub type Content = BTreeMap<Arc<str>, Leaf>;

/// The settings in one wrapper.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Defaults or overrides.
    pub side: Side,
    /// How they merge.
    pub strategy: Strategy,
    /// The leaves.
    pub content: Arc<Content>,
    /// The pointer of the wrapper that they are in: `/spec/defaults`, or `/spec` itself.
    pub base: &'static str,
}

/// One policy in one place of the hierarchy.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The policy.
    pub policy: PolicyId,
    /// Its settings; shared unless a policy of the cluster removed some.
    pub layers: Arc<[Layer]>,
}

impl Entry {
    /// A policy with these settings.
    pub(crate) fn new(policy: PolicyId, layers: impl Into<Arc<[Layer]>>) -> Self {
        let layers = layers.into();
        Self { policy, layers }
    }

    /// Whether it asks for settings of others beside its own.
    pub(crate) fn merges(&self) -> bool {
        self.layers.iter().any(|layer| layer.strategy.merges())
    }
}

/// A target as declared, and the result of resolving it.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    /// API group, `""` for core.
    pub group: Text,
    /// Kind.
    pub kind: Text,
    /// Namespace as written.
    pub namespace: Option<Text>,
    /// Name; of a selector, what it selected.
    pub name: Text,
    /// Listener, rule or port.
    pub section: Option<Text>,
    /// Pointer inside the policy: `/spec/targetRefs/0`.
    pub pointer: String,
    /// Its outcome.
    pub target: Target,
    /// Whether the policy does not name it: it applies there because of its namespace or of labels of workloads
    /// (Istio).
    pub(super) is_implicit: bool,
    /// Of a selector, what it selects by.
    pub(super) selector: Option<Box<TargetSelector>>,
}

/// The result of resolving a declared target.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Target {
    /// Not looked at: the policy is invalid.
    #[default]
    Unresolved,
    /// It is this node.
    Attached(Node),
    /// There is no such object in the input.
    NotFound,
    /// It lies in another namespace, whose owner has not agreed.
    NotPermitted,
    /// The kind may not be targeted, or not in this way.
    NotAllowed(String),
    /// A kind that exists only for the controller (docs/systems/gep-713.md#virtual-kinds).
    Virtual,
}

impl Declared {
    /// A reference.
    pub(super) fn reference(reference: &TargetRef) -> Self {
        Self {
            group: reference.group.clone(),
            kind: reference.kind.clone(),
            namespace: reference.namespace.clone(),
            name: reference.name.clone(),
            section: reference.section_name.clone(),
            pointer: reference.pointer.clone(),
            ..Self::default()
        }
    }

    /// A selector, before it has selected.
    pub(super) fn selector(selector: &TargetSelector) -> Self {
        Self {
            group: selector.group.clone(),
            kind: selector.kind.clone(),
            section: selector.section_name.clone(),
            pointer: selector.pointer.clone(),
            selector: Some(Box::new(selector.clone())),
            ..Self::default()
        }
    }

    /// A reference by name to what a selector selected, as an entry of `targetRefs`.
    pub(crate) fn selected(&self) -> Option<Value> {
        self.pointer.starts_with("/spec/targetSelectors/").then(|| {
            let mut reference = json!({"group": self.group, "kind": self.kind, "name": self.name});
            if let (Some(section), Some(fields)) = (&self.section, reference.as_object_mut()) {
                fields.insert("sectionName", Value::from(section.as_str()));
            }
            reference
        })
    }

    /// Whether it is of this kind, as declared.
    pub(super) fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }

    /// The node that it is.
    pub(super) const fn node(&self) -> Option<Node> {
        match self.target {
            Target::Attached(node) => Some(node),
            _ => None,
        }
    }

    /// The object that it names, whether or not that has such a section. `own` is the namespace of the policy.
    pub(crate) fn whole(&self, topology: &Topology<'_>, own: &str) -> Option<Node> {
        let namespace = self.namespace.as_deref().unwrap_or(own);
        let found = topology.find_whole((&self.group, &self.kind), namespace, &self.name);
        found.node()
    }

    /// For people, if the kind alone is ambiguous: `Backend.acme.example shop/queue`.
    pub(crate) fn described_with_group(&self, namespace: &str) -> String {
        let described = self.describe(namespace);
        match described.split_once(' ') {
            Some((kind, rest)) if !self.group.is_empty() => format!("{kind}.{} {rest}", self.group),
            _ => described,
        }
    }

    /// For people, of one that is nowhere: what it is, and why. `own` is the namespace of the policy.
    pub fn unattached(&self, own: &str) -> String {
        let namespace = self.namespace.as_deref().unwrap_or(own);
        let what = self.described_with_group(namespace);
        let why = match &self.target {
            Target::NotFound => "not in the input",
            Target::NotPermitted => "not permitted by a ReferenceGrant",
            Target::NotAllowed(_) => "not allowed as a target",
            Target::Unresolved => "the policy is invalid",
            Target::Virtual | Target::Attached(_) => return what,
        };
        format!("{what} ({why})")
    }

    /// For people: `HTTPRoute shop/cart#rule-1`.
    pub(super) fn describe(&self, namespace: &str) -> String {
        let section = self.section.as_deref();
        let section = section.map_or_else(String::new, |section| format!("#{section}"));
        if self.name.is_empty() {
            format!("{} in {namespace} by labels", self.kind)
        } else if self.is(GROUP, "GatewayClass") {
            format!("{} {}{section}", self.kind, self.name)
        } else {
            format!("{} {namespace}/{}{section}", self.kind, self.name)
        }
    }
}

/// A policy.
#[derive(Debug, Clone)]
pub struct Policy<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its kind.
    pub kind: KindId,
    /// Whether it lives on the cluster that is looked at.
    pub local: bool,
    /// Age and `namespace/name`.
    pub rank: Rank,
    /// Its settings.
    pub layers: Arc<[Layer]>,
    /// Its targets, in their order; selectors are followed by what they select.
    pub targets: Vec<Declared>,
    /// Why nothing of it counts.
    pub invalid: Option<String>,
    /// Why no API server admits it: it is on no cluster, whatever it targets.
    pub inadmissible: Option<String>,
    /// What it stands for, the one that has its name first: never nothing.
    pub(super) authored: Vec<Authored<'a>>,
    /// Of a merged policy, which of those each setting comes from; what is not listed comes from the first.
    pub(super) settings: BTreeMap<Arc<str>, u32>,
}

/// A policy as written: itself; or, of a copy on a cluster, a policy of the hub that was copied, merged into
/// the copy, or gave way to it.
#[derive(Debug, Clone)]
pub struct Authored<'a> {
    /// The object, which has a file and a line.
    pub object: &'a Object,
    /// Its locator in reports.
    pub locator: Arc<str>,
    /// Its settings.
    pub layers: Arc<[Layer]>,
    /// Age and `namespace/name`.
    pub(crate) rank: Rank,
}

/// The original of a copy on a cluster.
#[derive(Debug, Clone)]
pub struct Copied<'a> {
    /// What it stands for, the one that has its name first: never nothing.
    pub(crate) authored: Vec<Authored<'a>>,
    /// Of a merged policy, the position of the one that each setting comes from.
    pub(crate) settings: BTreeMap<Arc<str>, u32>,
}

impl Authored<'_> {
    /// Where it is against others of its level.
    pub(super) fn standing(&self) -> Standing<'_> {
        let side = self.layers.last().map_or(Side::Defaults, |layer| layer.side);
        (side, &self.rank)
    }
}

impl<'a> Policy<'a> {
    /// Its locator in reports: on the hub, where it comes from there.
    pub fn locator(&self) -> Arc<str> {
        let first = self.authored.first();
        first.map_or_else(|| Arc::from(""), |first| Arc::clone(&first.locator))
    }

    /// Its originals, by number.
    pub fn authors(&self, id: PolicyId) -> impl Iterator<Item = (AuthoredId, &Authored<'a>)> {
        let number = move |position| AuthoredId { policy: id, position };
        (0..).map(number).zip(&self.authored)
    }

    /// Whether one of those gave it its name or any of its settings; the others gave way to it.
    pub fn contributes(&self, id: AuthoredId) -> bool {
        id.position == 0 || self.settings.values().any(|position| *position == id.position)
    }

    /// Which of those a setting comes from.
    pub(super) fn author_of(&self, key: &str, leaf: &Leaf) -> AuthoredId {
        AuthoredId {
            policy: leaf.policy,
            position: self.settings.get(key).copied().unwrap_or_default(),
        }
    }

    /// Whether it names or selects targets, instead of applying only because of its namespace or its labels.
    pub(super) fn has_targets(&self) -> bool {
        self.targets.iter().any(|declared| !declared.is_implicit)
    }

    /// The pointer of its first target, or of its spec.
    pub(crate) fn pointer(&self) -> &str {
        let first = self.targets.first();
        first.map_or("/spec", |declared| &declared.pointer)
    }

    /// Its targets that are attached, with their nodes.
    pub(super) fn attached(&self) -> impl Iterator<Item = (&Declared, Node)> {
        let targets = self.targets.iter();
        targets.filter_map(|declared| Some((declared, declared.node()?)))
    }

    /// Its targets that are a node.
    pub(crate) fn targets_at(&self, node: Node) -> impl Iterator<Item = &Declared> {
        let targets = self.targets.iter();
        targets.filter(move |declared| declared.target == Target::Attached(node))
    }

    /// Whether it takes part at all: an API server admits it, and it can be read.
    pub(super) const fn counts(&self) -> bool {
        self.invalid.is_none() && self.inadmissible.is_none()
    }

    /// The nodes that it is attached to, each once.
    pub fn nodes(&self) -> BTreeSet<Node> {
        self.attached().map(|(_, node)| node).collect()
    }

    /// The Gateways that traffic through these nodes comes from.
    pub(crate) fn gateways(&self, topology: &Topology<'_>) -> BTreeSet<GatewayId> {
        let nodes = self.nodes().into_iter();
        nodes.flat_map(|node| topology.gateways_of(node)).collect()
    }
}

/// Where a policy stands when it meets another one of its level: defaults or overrides, and its rank.
pub(super) type Standing<'r> = (Side, &'r Rank);

/// The rule that decided between two policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The second line of the earlier text of GEP-713.
    OverridesBeatDefaults,
    /// Between levels, the less specific override.
    LessSpecificOverrides,
    /// Between levels, the more specific default.
    MoreSpecificDefaults,
    /// Between levels, the less specific one where an annotation prefers it (kgateway).
    ParentPreferred,
    /// Between levels, the less specific one where the more specific one is refused (Envoy Gateway).
    Refused,
    /// What goes before age, of kinds that have it: a weight or a priority.
    Priority,
    /// The older policy.
    Older,
    /// The first by `namespace/name`.
    FirstByName,
    /// Defaults of the established policy give way to the challenger, which is the newer one.
    NewerChallenger,
    /// Defaults of the established policy give way to the challenger, which is the later by `namespace/name`.
    LaterChallenger,
    /// What lives on the spoke beats what is synced to it.
    SpokeLocal,
}

impl Rule {
    /// The name in JSON, stable: `first-by-name`.
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// Why, for people; follows "because".
    pub const fn because(self) -> &'static str {
        self.texts().1
    }

    #[rustfmt::skip] // one rule a line
    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::OverridesBeatDefaults => ("overrides-beat-defaults", "overrides win over defaults"),
            Self::LessSpecificOverrides => ("less-specific-overrides", "the overrides of the less specific level win"),
            Self::MoreSpecificDefaults => ("more-specific-defaults", "the more specific level wins over defaults"),
            Self::ParentPreferred => ("parent-preferred", "an annotation of its target gives it precedence over more specific policies"),
            Self::Refused => ("refused", "the more specific policy is refused there, so it overrides nothing"),
            Self::Priority => ("priority", "its weight or priority puts it first"),
            Self::Older => ("older", "it is older"),
            Self::FirstByName => ("first-by-name", "it is first by namespace/name, and no creation time decides"),
            Self::NewerChallenger => ("newer-challenger", "on one level, the newer policy overrides the defaults of the older one"),
            Self::LaterChallenger => ("later-challenger", "on one level, the policy that is later by namespace/name overrides defaults, and no creation time decides"),
            Self::SpokeLocal => ("spoke-local", "a policy that lives on the cluster overrides a synced one"),
        }
    }

    /// The rule by which `winner` beat `loser`; `levels` compares where they are, the less specific being less.
    /// `may_prefer` says whether a Gateway of this kind may prefer its own policies.
    pub(super) fn between(
        levels: Ordering,
        winner: Standing<'_>,
        loser: Standing<'_>,
        may_prefer: bool,
    ) -> Self {
        match levels {
            Ordering::Greater => Self::MoreSpecificDefaults,
            Ordering::Less if loser.0 == Side::Overrides => Self::LessSpecificOverrides,
            // Defaults of the less specific level win only by kgateway's annotation
            // (docs/systems/other-policies.md#kgateway).
            Ordering::Less if winner.0 == Side::Defaults && may_prefer => Self::ParentPreferred,
            Ordering::Less if winner.0 == Side::Defaults => Self::Refused,
            Ordering::Less => Self::OverridesBeatDefaults,
            Ordering::Equal => Self::on_one_level(winner, loser),
        }
    }

    /// The rule by which `winner` beat `loser` on one level. That the newer one won is no mistake: it challenged
    /// defaults (docs/systems/kuadrant.md#policies-on-one-target).
    pub(super) fn on_one_level((side, winner): Standing<'_>, (other, loser): Standing<'_>) -> Self {
        if side == Side::Overrides && other == Side::Defaults {
            return Self::OverridesBeatDefaults;
        }
        if winner.priority < loser.priority {
            return Self::Priority;
        }
        match (winner.by_age(loser), winner.key < loser.key) {
            (Ordering::Less, _) => Self::Older,
            (Ordering::Greater, _) => Self::NewerChallenger,
            (Ordering::Equal, true) => Self::FirstByName,
            (Ordering::Equal, false) => Self::LaterChallenger,
        }
    }
}

/// The policies of one kind on one node.
#[derive(Debug, Clone, Default)]
pub struct NodePolicies {
    /// Those that count, established first.
    pub accepted: Vec<Entry>,
    /// Those that a kind without merging refuses, in role order: the first accepted one is in their way, or the first that
    /// sets what they set.
    pub rejected: Vec<PolicyId>,
    /// Of kinds that hold for workloads (Istio), those of the accepted ones that name a Service which a waypoint serves: they
    /// hold there, and not at the pods.
    pub(super) at_waypoint: Vec<Entry>,
    /// Of the same kinds, those that select the pods behind a Service: they apply at the pods.
    pub(super) at_workloads: Vec<Entry>,
    /// Those of the accepted ones that their controller refuses here: they have their place, and no settings.
    pub(crate) refused: BTreeSet<PolicyId>,
    /// Those of the accepted ones that their controller refuses before they take any place (Envoy Gateway's SecurityPolicy).
    pub(super) unfit: BTreeSet<PolicyId>,
    /// The listeners at which the accepted policy is refused (Envoy Gateway).
    pub(super) refused_at: BTreeMap<ListenerId, RefusedThere>,
}

impl NodePolicies {
    /// The accepted policies, unless the controller refuses the first before it takes any place.
    pub(super) fn counting(&self) -> &[Entry] {
        match self.accepted.first() {
            // The others of the target stay Conflicted: they do not take its place.
            Some(first) if self.unfit.contains(&first.policy) => &[],
            _ => &self.accepted,
        }
    }
}

/// A policy that its controller refuses at one listener.
#[derive(Debug, Clone)]
pub(super) struct RefusedThere {
    /// What is left of it there: no settings, or not even its place.
    pub(super) left: Option<Entry>,
    /// Why; `None`: listeners that it is not for share the port.
    pub(super) why: Option<Rejection>,
}

/// Why the controller refuses a policy on a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rejection {
    /// In its words.
    pub(crate) message: String,
    /// Where in the policy, if it is not the target.
    pub(crate) pointer: Option<String>,
    /// How to fix it.
    pub(crate) help: String,
    /// The place, if it is not the whole target.
    pub(crate) at: Option<Node>,
}

/// The facts about the waypoint of a Service that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waypoint {
    /// The waypoint: policies that target it, or its class, apply there, too.
    pub(crate) gateway: GatewayId,
    /// Whether what a Gateway sends to the Service passes it, too.
    pub(crate) takes_ingress: bool,
}

/// Why no waypoint is known that serves a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unserved {
    /// Why, as a clause.
    pub(crate) why: String,
    /// How to fix it.
    pub(crate) help: String,
    /// Whether the input tells all of it: otherwise, there may be one that the input does not have.
    pub(crate) is_certain: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_between_levels_has_its_case() {
        let rank = Rank::default();
        let standing = |side| (side, &rank);
        let (defaults, overrides) = (Side::Defaults, Side::Overrides);
        for (levels, winner, loser, may_prefer, rule) in [
            (
                Ordering::Less,
                overrides,
                overrides,
                true,
                Rule::LessSpecificOverrides,
            ),
            (
                Ordering::Less,
                overrides,
                defaults,
                true,
                Rule::OverridesBeatDefaults,
            ),
            (Ordering::Less, defaults, defaults, true, Rule::ParentPreferred),
            (Ordering::Less, defaults, defaults, false, Rule::Refused),
            (
                Ordering::Greater,
                defaults,
                defaults,
                true,
                Rule::MoreSpecificDefaults,
            ),
            (
                Ordering::Greater,
                defaults,
                overrides,
                false,
                Rule::MoreSpecificDefaults,
            ),
        ] {
            let decided = Rule::between(levels, standing(winner), standing(loser), may_prefer);
            assert_eq!(decided, rule, "{levels:?} {winner:?} {loser:?} {may_prefer}");
        }
    }

    #[test]
    fn each_rule_on_one_level_has_its_case() {
        let rank = |priority, age: Option<&str>, key: &str| Rank {
            priority,
            age: age.map(|age| age.parse().unwrap()),
            key: key.to_owned(),
        };
        let (old, new) = (Some("2026-01-01T00:00:00Z"), Some("2026-02-01T00:00:00Z"));
        let (defaults, overrides) = (Side::Defaults, Side::Overrides);
        for (winner, loser, rule) in [
            (
                (overrides, rank(1, new, "n/b")),
                (defaults, rank(0, old, "n/a")),
                Rule::OverridesBeatDefaults,
            ),
            (
                (overrides, rank(0, new, "n/b")),
                (overrides, rank(1, old, "n/a")),
                Rule::Priority,
            ),
            (
                (defaults, rank(0, old, "n/b")),
                (defaults, rank(0, new, "n/a")),
                Rule::Older,
            ),
            (
                (defaults, rank(0, new, "n/a")),
                (defaults, rank(0, old, "n/b")),
                Rule::NewerChallenger,
            ),
            (
                (defaults, rank(0, None, "n/a")),
                (defaults, rank(0, None, "n/b")),
                Rule::FirstByName,
            ),
            (
                (defaults, rank(0, old, "n/b")),
                (defaults, rank(0, old, "n/a")),
                Rule::LaterChallenger,
            ),
        ] {
            let [won, lost] = [&winner, &loser].map(|(side, rank)| (*side, rank));
            assert_eq!(Rule::on_one_level(won, lost), rule, "{winner:?} {loser:?}");
        }
    }
}
