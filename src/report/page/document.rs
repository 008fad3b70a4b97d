//! The data of a page, kind `FleetPage`: one document that refers to everything by its position in a list.
//!
//! A page of a thousand clusters must stay small, so nothing is reported twice: values, sets of clusters and outcomes
//! are in lists of their own ([`Interned`]), and rows are arrays, whose fields the types name.

use std::collections::{BTreeMap, HashMap};

use kube_json::Value;
use serde::Serialize;

use crate::diagnostic::{Hidden, Locate, Place};
use crate::object::Object;
use crate::outcome::SourceLine;
use crate::outcome::inventory::{BackendEntry, Interned, KindEntry};
use crate::report::diff::{Counts, Presence};

/// A position in a list of the document, or -1: none.
pub(super) type Position = i64;

/// File, by its position, and line.
pub(super) type At = (usize, usize);

/// Type, status, reason and message.
pub(super) type ConditionRow = (String, String, String, String);

/// Gateway, listener, route, rule and, where it says more, backend: by their positions, -1 for what a path has not.
pub(super) type Spot = Vec<Position>;

/// The data of `spokewright page`.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetPage {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// What the page is called.
    pub(super) title: String,
    /// What is before the path of a file in a link to it.
    pub(super) source_url: Option<String>,
    /// Paths relative to the root of the input, with forward slashes.
    pub(super) files: Vec<String>,
    /// Sets of clusters: first, last, first, last and so on, by position.
    pub(super) sets: Vec<Vec<usize>>,
    /// The values of settings, each once.
    pub(super) values: Vec<Value>,
    /// Why one policy wins over another: a rule's name, and the rule in words.
    pub(super) rules: BTreeMap<&'static str, &'static str>,
    /// The kinds of policies.
    pub(super) kinds: Vec<KindEntry>,
    /// Those whose paths end at a rule: the columns of `profiles`.
    pub(super) rule_kinds: Vec<usize>,
    /// Clusters, by name.
    pub(super) clusters: Vec<ClusterRow>,
    /// Gateways, and Services of a mesh that are parents of routes.
    pub(super) gateways: Vec<GatewayRow>,
    /// What routes forward to, and its ports.
    pub(super) backends: Vec<BackendEntry>,
    /// Routes.
    pub(super) routes: Vec<RouteRow>,
    /// What applies to a rule: an outcome, or -1, for each of `ruleKinds`.
    pub(super) profiles: Vec<Vec<Position>>,
    /// The result of the policies of one kind.
    pub(super) outcomes: Vec<OutcomeRow>,
    /// Where clusters have another outcome than most: other settings, or the same from elsewhere.
    pub(super) exceptions: Vec<ExceptionRow>,
    /// Policies of the hub, then those that live on clusters.
    pub(super) policies: Vec<PolicyRow>,
    /// Policies that a local policy overrides on a cluster: policy, cluster, winner, and the rule.
    pub(super) withheld: Vec<(usize, usize, usize, &'static str)>,
    /// What ClusterOverlays change.
    pub(super) overlays: Vec<OverlayRow>,
    /// Placements.
    pub(super) placements: Vec<PlacementRow>,
    /// What is wrong.
    pub(super) findings: Vec<FindingRow>,
    /// Texts of objects: the file, and each with its first line.
    pub(super) texts: Vec<(usize, Vec<(usize, String)>)>,
    /// What differs from the base.
    pub(super) change: Option<ChangePart>,
    /// What the clusters report.
    pub(super) works: Option<WorksPart>,
    /// What was left out to keep the page small, as sentences.
    pub(super) left_out: Vec<String>,
}

/// A cluster.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ClusterRow {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) taints: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<At>,
}

/// A Gateway, or a Service of a mesh.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct GatewayRow {
    pub(super) ns: String,
    pub(super) name: String,
    /// `Service`, if it is not a Gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    /// Whether it lives on clusters and does not come from the hub.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) local: bool,
    pub(super) at: Option<At>,
    /// Its class.
    pub(super) cls: String,
    /// Its Placement.
    pub(super) placement: Position,
    /// Its clusters: a set.
    pub(super) clusters: usize,
    pub(super) listeners: Vec<ListenerRow>,
    /// What applies above its routes: listener or -1, kind, outcome.
    pub(super) own: Vec<(Position, usize, Position)>,
    /// The work that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) work: Option<String>,
    /// The objects of that work, without routes.
    pub(super) objects: Vec<CarriedRow>,
    /// How many routes that work contains.
    pub(super) ships_routes: usize,
    pub(super) conditions: Vec<ConditionRow>,
    /// What the clusters report instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reported: Option<Vec<ConditionRow>>,
    /// Addresses that clusters report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) addresses: Vec<String>,
}

/// A listener.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ListenerRow {
    pub(super) name: String,
    pub(super) host: String,
    pub(super) port: Option<i64>,
    pub(super) protocol: String,
    /// The ListenerSet that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) set: Option<String>,
}

/// An object of a work: kind, namespace, name, and the place that it comes from.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum CarriedRow {
    /// From the hub.
    Authored(String, String, String, usize, usize),
    /// Ours.
    Made(String, String, String),
}

/// A route.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RouteRow {
    pub(super) kind: String,
    pub(super) ns: String,
    pub(super) name: String,
    /// Whether it lives on clusters and does not come from the hub.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) local: bool,
    pub(super) at: Option<At>,
    pub(super) hosts: Vec<String>,
    pub(super) rules: Vec<RuleRow>,
    /// Where it is attached.
    pub(super) on: Vec<OnRow>,
}

/// A rule of a route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RuleRow {
    /// Its name, where it has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// What it matches.
    pub(super) m: Vec<String>,
    /// Where it forwards to, for people.
    pub(super) to: Vec<String>,
    /// The same as positions in `backends`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) b: Vec<usize>,
}

/// A listener that accepts a route: Gateway, listener, the profile of all rules or one for each, what applies on other
/// paths (rule or -1, backend or -1, kind, outcome), and the clusters where it does, if these are not all of the
/// Gateway's.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("minItems" = 3)))]
pub(super) struct OnRow(
    pub(super) usize,
    pub(super) Position,
    pub(super) Profiled,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super)  Option<Vec<(Position, Position, usize, Position)>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub(super) Option<usize>,
);

/// The profile of all rules, or of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Profiled {
    /// One for all.
    All(usize),
    /// One for each.
    Each(Vec<usize>),
}

/// A setting that holds: its name, value, policy, file or -1, and line.
pub(super) type SetRow = (String, usize, usize, Position, usize);

/// A setting that does not: its name, value or -1, policy, who took its place, the rule, file or -1, and line.
pub(super) type LostRow = (String, Position, usize, Vec<usize>, &'static str, Position, usize);

/// The result of the policies of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct OutcomeRow {
    pub(super) kind: usize,
    pub(super) set: Vec<SetRow>,
    pub(super) lost: Vec<LostRow>,
    /// Whether it lets everybody in on purpose, which does not count as coverage.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) open: bool,
}

/// Clusters with another outcome.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExceptionRow {
    pub(super) clusters: usize,
    pub(super) kind: usize,
    pub(super) old: Position,
    pub(super) new: Position,
    pub(super) on: Vec<Spot>,
}

/// A policy.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct PolicyRow {
    pub(super) kind: usize,
    pub(super) ns: String,
    pub(super) name: String,
    pub(super) at: Option<At>,
    pub(super) targets: Vec<TargetRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strategy: Option<String>,
    /// Its text, and the line where that begins.
    pub(super) text: String,
    pub(super) first: usize,
    /// A cluster where it lives, and all of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cluster: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) clusters: Option<usize>,
    pub(super) conditions: Vec<ConditionRow>,
    /// What the clusters report instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reported: Option<Vec<ConditionRow>>,
    /// What would change without it: paths, settings, and the clusters, if these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) if_deleted: Option<Vec<IfDeletedRow>>,
    /// How many paths of `ifDeleted` are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) more_paths: usize,
}

/// Paths, settings (name, value before or -1, value after or -1, whose it is then or -1), clusters.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("minItems" = 2)))]
pub(super) struct IfDeletedRow(
    pub(super) Vec<Spot>,
    pub(super) Vec<(String, Position, Position, Position)>,
    #[serde(skip_serializing_if = "Option::is_none")] pub(super) Option<usize>,
);

/// What a policy targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum TargetRow {
    /// `g`, Gateway, listener or -1; `r`, route, rule or -1.
    Section(&'static str, usize, Position),
    /// `s`, Gateway, ListenerSet.
    Set(&'static str, usize, String),
    /// `b`, backend.
    Backend(&'static str, usize),
    /// `n`, Namespace; `c`, GatewayClass; `m`, mesh; `x`, anything else, in words.
    Named(&'static str, String),
}

/// What a ClusterOverlay changes in one object.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct OverlayRow {
    /// Locators of both.
    pub(super) overlay: String,
    pub(super) object: String,
    pub(super) at: Option<At>,
    /// Where it does: a set.
    pub(super) clusters: usize,
    /// Fields: path, value on the hub or -1, value there or -1.
    pub(super) fields: Vec<(String, Position, Position)>,
}

/// A Placement.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PlacementRow {
    pub(super) ns: String,
    pub(super) name: String,
    pub(super) at: Option<At>,
    /// How many clusters there are.
    pub(super) total: usize,
    /// Steps: what it is, how many are left after it, and who is dropped in it.
    pub(super) stages: Vec<(&'static str, usize, Vec<DroppedRow>)>,
    /// How many it wants.
    pub(super) want: Option<i64>,
    /// `decisions` that are in the input, or the `evaluation`.
    pub(super) source: &'static str,
    /// What the evaluation selects: a set.
    pub(super) evaluated: usize,
    /// What is used: a set.
    pub(super) clusters: usize,
    pub(super) sets: Vec<String>,
    pub(super) conditions: Vec<ConditionRow>,
    /// Names and weights.
    pub(super) prioritizers: Vec<(String, i64)>,
}

/// Clusters that a step drops: why, what decided it, and which.
pub(super) type DroppedRow = (String, Option<At>, usize);

/// A finding.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FindingRow {
    pub(super) code: &'static str,
    pub(super) severity: &'static str,
    pub(super) message: String,
    pub(super) at: Option<At>,
    pub(super) help: Option<String>,
}

/// What differs from a base.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ChangePart {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) summary: ChangeSummary,
    pub(super) clusters: Vec<ChangedClusters>,
    pub(super) effective: Vec<EffectiveRow>,
    /// Whether more settings differ than are compared.
    #[serde(rename = "tooMuch", skip_serializing_if = "std::ops::Not::not")]
    pub(super) too_much: bool,
    pub(super) objects: Vec<ChangedObject>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeSummary {
    pub(super) clusters: usize,
    pub(super) changed_clusters: usize,
    pub(super) objects: Counts,
}

/// Clusters on both sides, on the new one, or on the old one only.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ChangedClusters {
    pub(super) clusters: usize,
    pub(super) gone: Vec<String>,
    /// `both`, `new` or `gone`.
    pub(super) presence: Presence,
}

/// Settings that change.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct EffectiveRow {
    pub(super) kind: Position,
    pub(super) kind_name: String,
    /// The settings that differ, before and after, by their names: a value; -1 where there are none of the kind.
    pub(super) old: Position,
    pub(super) new: Position,
    pub(super) old_policies: Vec<(String, Position)>,
    pub(super) new_policies: Vec<(String, Position)>,
    /// Sets of clusters, and the paths on them.
    #[serde(rename = "where")]
    pub(super) places: Vec<(usize, Vec<Spot>)>,
}

/// An object on clusters that changes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ChangedObject {
    pub(super) change: &'static str,
    pub(super) kind: String,
    pub(super) ns: String,
    pub(super) name: String,
    pub(super) work: String,
    pub(super) clusters: usize,
    /// Clusters that only the base has.
    pub(super) gone: Vec<String>,
    /// File, line, and whether it is one of the base.
    pub(super) at: Option<(usize, usize, &'static str)>,
    /// The Gateway that it is a copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gateway: Option<String>,
    /// Field, value before or -1, value after or -1.
    pub(super) fields: Vec<(String, Position, Position)>,
}

/// What the clusters report of works.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct WorksPart {
    pub(super) planned: usize,
    pub(super) applied: usize,
    pub(super) problems: Vec<ProblemRow>,
}

/// A work that is not as it should be.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProblemRow {
    /// A cluster of the list, or -1.
    pub(super) cluster: Position,
    /// Its name.
    pub(super) on: String,
    pub(super) work: String,
    pub(super) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// Objects that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) objects: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<&'static str>,
    /// The Gateway that the work is for, or -1.
    pub(super) gateway: Position,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Everything that the parts of a page share.
pub(super) struct Tables<'p> {
    pub(super) locate: &'p dyn Locate,
    pub(super) files: Interned<String, String>,
    pub(super) values: Interned<String, Value>,
    /// The names of hidden values.
    pub(super) hidden: Hidden,
    sets: Interned<Vec<usize>, Vec<usize>>,
    clusters: HashMap<&'p str, usize>,
    /// The sets of lists that many entries share, by the addresses of these.
    shared: HashMap<(*const String, usize), usize>,
}

impl<'p> Tables<'p> {
    /// `clusters` are all there are, in their order.
    pub(super) fn new(locate: &'p dyn Locate, clusters: &[&'p str]) -> Self {
        Self {
            locate,
            files: Interned::default(),
            values: Interned::default(),
            hidden: Hidden::default(),
            sets: Interned::default(),
            clusters: clusters.iter().copied().zip(0..).collect(),
            shared: HashMap::new(),
        }
    }

    /// The position of a cluster.
    pub(super) fn cluster(&self, name: &str) -> Option<usize> {
        self.clusters.get(name).copied()
    }

    /// A set of clusters, in any order.
    pub(super) fn set<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> usize {
        let members = names.into_iter().filter_map(|name| self.cluster(name)).collect();
        self.set_of(members)
    }

    /// The same by positions.
    pub(super) fn set_of(&mut self, mut members: Vec<usize>) -> usize {
        members.sort_unstable();
        members.dedup();
        let mut ranges: Vec<usize> = Vec::new();
        for member in members {
            match ranges.last_mut() {
                Some(last) if last.checked_add(1) == Some(member) => *last = member,
                _ => ranges.extend([member, member]),
            }
        }
        self.sets.position(ranges.clone(), || ranges)
    }

    /// The set of a list that stays where it is; equal lists of an inventory are the same one.
    pub(super) fn shared_set(&mut self, clusters: &[String]) -> usize {
        let list = (clusters.as_ptr(), clusters.len());
        if let Some(known) = self.shared.get(&list) {
            return *known;
        }
        let set = self.set(clusters.iter().map(String::as_str));
        self.shared.insert(list, set);
        set
    }

    /// The members of a set.
    pub(super) fn members(&self, set: usize) -> impl Iterator<Item = usize> {
        members(self.sets.list.get(set).map(Vec::as_slice).unwrap_or_default())
    }

    /// All sets.
    pub(super) fn into_lists(self) -> (Vec<String>, Vec<Vec<usize>>, Vec<Value>) {
        (self.files.list, self.sets.list, self.values.list)
    }

    /// A value.
    pub(super) fn value(&mut self, value: &Value) -> usize {
        // Keys of mappings are sorted in both, so equal values have one text.
        let Self { values, hidden, .. } = self;
        values.position(value.to_string(), || hidden.conceal(value, false))
    }

    /// A value of which nothing has to be hidden any more.
    pub(super) fn concealed_value(&mut self, value: &Value) -> usize {
        self.values.position(value.to_string(), || value.clone())
    }

    /// A value, or -1.
    pub(super) fn value_or_none(&mut self, value: Option<&Value>) -> Position {
        value.map_or(-1, |value| signed(self.value(value)))
    }

    /// File and line of an object.
    pub(super) fn object(&mut self, object: &Object) -> Option<At> {
        self.at(object.place(""))
    }

    /// File and line of a place.
    pub(super) fn at(&mut self, place: Place) -> Option<At> {
        let span = self.locate.locate(&place)?;
        Some((self.file(span.path), span.line))
    }

    /// A line.
    pub(super) fn line(&mut self, line: Option<&SourceLine>) -> Option<At> {
        line.map(|line| (self.file(&line.path), line.line))
    }

    /// The same, or -1 and 0.
    pub(super) fn line_or_none(&mut self, line: Option<&SourceLine>) -> (Position, usize) {
        let at = self.line(line);
        at.map_or((-1, 0), |(file, line)| (signed(file), line))
    }

    /// A file by its path.
    pub(super) fn file(&mut self, path: &str) -> usize {
        // As a page has it on every system.
        let path = path.replace('\\', "/");
        self.files.position(path.clone(), || path)
    }
}

/// The members of a set by its ranges.
pub(super) fn members(ranges: &[usize]) -> impl Iterator<Item = usize> {
    ranges.chunks_exact(2).flat_map(|range| match range {
        [first, last] => *first..last.saturating_add(1),
        _ => 0..0,
    })
}

/// The entry of a list at a position, which may be none.
pub(super) fn entry<T>(list: &[T], position: impl TryInto<usize>) -> Option<&T> {
    list.get(position.try_into().ok()?)
}

/// A position where -1 is none.
pub(super) fn signed(position: usize) -> Position {
    Position::try_from(position).unwrap_or(-1)
}

/// The same of what may be absent.
pub(super) fn signed_or_none(position: Option<usize>) -> Position {
    position.map_or(-1, signed)
}
