//! What spokewright knows about a policy kind: plain data, built in or from the configuration
//! (docs/guides/teaching-a-kind.md).

use apimachinery::GroupKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::targeting::Targeting;
use crate::api::targeting::{AllowedTarget, TargetField};
use crate::topology::Level;

/// Where the settings of a policy are in its spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum Wrappers {
    /// In the spec itself.
    Bare,
    /// In `defaults`, in `overrides`, or bare: exactly one of the three (Kuadrant).
    OneOfDefaultsOverrides,
    /// In `default` only (GKE).
    Default,
    /// In `defaults`, `overrides`, `default`, `override`, bare, or several of them (GEP-2649).
    #[default]
    Any,
}

/// How two specs become one (GEP-713, merge strategies).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum Strategy {
    /// No merging; only the established policy applies.
    None,
    /// One of the two as a whole.
    Atomic,
    /// Unit by unit: a rule, or a field by JSON merge patch.
    #[default]
    Patch,
    /// Field by field, and the lists of [`Profile::list_keys`] element by element: Kubernetes' strategic merge patch.
    StrategicPatch,
}

impl Strategy {
    /// Whether settings of both sides can hold.
    pub(crate) const fn merges(self) -> bool {
        matches!(self, Self::Patch | Self::StrategicPatch)
    }
}

/// A list that a strategic merge, or with a number as the key a merge by fields, combines element by element; all others
/// are replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListKey {
    /// JSON pointer in the settings: `/httpUpgrade`.
    pub pointer: String,
    /// The field that identifies an element in two lists. Without it, no two elements are the same, and all of them
    /// count.
    #[serde(default)]
    pub key: Option<String>,
    /// Elements that lack this field are the same, because a list can have only one such element.
    #[serde(default)]
    pub without: Option<String>,
}

/// An annotation of Gateways by which their policies and those of their routes meet: `ShallowMergePreferChild` (the
/// default), `ShallowMergePreferParent`, `DeepMergePreferChild` or `DeepMergePreferParent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Inheritance {
    /// The annotation.
    pub annotation: String,
    /// JSON pointers of the fields into which a deep merge descends; all others are replaced as a whole.
    #[serde(default)]
    pub deep: Vec<String>,
    /// JSON pointers of the fields that name a provider to which requests are shown, or turn it off (`disable`). A deep
    /// merge calls the providers of all policies, and any policy can turn them all off.
    #[serde(default)]
    pub providers: Vec<String>,
}

/// Whose strategy applies when two policies meet, and which policies meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum Dictates {
    /// The established policy's; all policies on a path meet (GEP-713).
    #[default]
    Established,
    /// The most specific policy's (Envoy Gateway's `mergeType`): it applies alone, or merges with the closest policy on
    /// the Gateway's side and no other.
    Challenger,
}

/// The order of two policies on one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum Precedence {
    /// The oldest wins, both in defaults and in overrides (GEP-713's earlier text).
    #[default]
    OldestWins,
    /// The established policy's strategy decides, so the challenger overrides its defaults (today's GEP-713).
    EstablishedChallenger,
}

/// A part of the spec that is merged by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RulePath {
    /// JSON pointer in the settings: `/limits`.
    pub pointer: String,
    /// Each entry of the mapping there is a rule `<id><key>`; otherwise, the whole value is the rule `<id>`.
    #[serde(default)]
    pub each: bool,
    /// The rule's id, or its first part.
    #[serde(default)]
    pub id: String,
    /// Whether a policy without any such rule counts as empty: atomic defaults then fall back to the parent.
    #[serde(default)]
    pub essential: bool,
}

/// The unit that a merge never splits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum MergeUnit {
    /// The whole spec.
    Whole,
    /// A field: RFC 7386.
    #[default]
    JsonMergePatch,
    /// A named rule.
    Rules(Vec<RulePath>),
    /// A field at the top level of the settings, or, below these pointers, a field there; `*` is any element of a list
    /// in `listKeys` (kgateway).
    Fields(Vec<String>),
}

impl MergeUnit {
    /// Whether one setting takes the place of another of its name, whatever is in them.
    pub(super) const fn is_by_name(&self) -> bool {
        matches!(self, Self::Rules(_) | Self::Fields(_))
    }
}

/// Settings that routes of some kinds take from every policy on the path, unless a more specific policy sets them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Filled {
    /// The kinds of the routes.
    pub routes: Vec<String>,
    /// The fields, each as a whole.
    pub fields: Vec<String>,
    /// Whether they accept nothing else, and refuse a policy that has more.
    #[serde(default)]
    pub only: bool,
}

impl Filled {
    /// Why a policy that has more is refused on a route of this kind, in Envoy Gateway's words: a clause.
    pub(super) fn refusal(&self, route: &str) -> String {
        let (fields, protocol) = (self.fields.join(", "), route.strip_suffix("Route"));
        let protocol = protocol.unwrap_or(route);
        format!("only {fields} is supported for {protocol} (routes/listeners)")
    }

    /// Whether a setting, by its pointer, is in one of the fields.
    pub(super) fn has(&self, pointer: &str) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| {
            let rest = pointer.strip_prefix('/');
            let rest = rest.and_then(|rest| rest.strip_prefix(field.as_str()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// What happens to two policies of one kind on one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum SameTarget {
    /// The older is accepted, the others are Conflicted.
    Reject,
    /// A policy that sets nothing that an older one sets is accepted and adds to it; the others are Conflicted as a
    /// whole (NGINX).
    PerField,
    /// All are accepted and merged, or one is overridden as a whole.
    #[default]
    Merge,
    /// All apply.
    AddUp,
    /// Nobody knows what their controller makes of them: all are shipped, with a warning.
    Unknown,
}

/// Which nodes a path lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum Paths {
    /// Every level down to its end: one path per listener and rule (Kuadrant).
    EveryLevel,
    /// Listeners, rules, and ports only if a policy of the kind names one.
    #[default]
    WhereItMatters,
}

/// Conditions and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum StatusShape {
    /// Accepted and Enforced, flat, with Kuadrant's words.
    Kuadrant,
    /// Accepted and Programmed, flat and in `status.ancestors`.
    #[default]
    Ancestors,
    /// Accepted, Overridden and Merged in `status.ancestors`, in Envoy Gateway's words.
    EnvoyGateway,
    /// Only Accepted, in `status.ancestors`.
    Accepted,
    /// Accepted and Attached in `status.ancestors`, in kgateway's words.
    Kgateway,
    /// Only Attached, flat (GKE).
    Attached,
    /// Only Attached, in `status.ancestors` (GKE's newer kinds).
    AttachedToAncestors,
    /// No conditions of Gateway API (Istio).
    Nothing,
}

impl StatusShape {
    /// The condition that says that a policy took effect.
    pub const fn outcome(self) -> Option<&'static str> {
        match self {
            Self::Kuadrant => Some("Enforced"),
            Self::Ancestors => Some("Programmed"),
            Self::Kgateway => Some("Attached"),
            _ => None,
        }
    }

    /// The condition that says whether a policy was accepted.
    pub(crate) const fn acceptance(self) -> &'static str {
        match self {
            Self::Attached | Self::AttachedToAncestors => "Attached",
            _ => "Accepted",
        }
    }

    /// Whether there is an entry for each ancestor, rather than conditions of the policy itself.
    pub(super) const fn lists_ancestors(self) -> bool {
        !matches!(self, Self::Kuadrant | Self::Attached | Self::Nothing)
    }
}

/// Everything that is known about a policy kind. Each field's default is that of a labeled kind that nobody
/// described.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// The versions of the kind that this describes; empty: all.
    pub versions: Vec<String>,
    /// Direct or Inherited.
    pub class: Class,
    /// What may be targeted. `Profiles::find` fills it in, from the definition where there is one.
    #[serde(skip)]
    pub targeting: Targeting,
    /// The kinds that may be targeted according to the configuration.
    #[serde(skip)]
    pub targets: Option<Vec<AllowedTarget>>,
    /// The fields that name targets according to the configuration.
    #[serde(skip)]
    pub target_fields: Option<Vec<TargetField>>,
    /// A policy without any target applies to its whole namespace (Istio).
    pub namespace_wide: bool,
    /// A policy holds for workloads (Istio): without a target for those that it selects, of its namespace or, from the
    /// root namespace, of the mesh.
    pub of_workloads: bool,
    /// Whether a field `mode` that is UNSET says nothing.
    pub unset_modes: bool,
    /// Whether its controller serves routes of a mesh, whose parent is a Service.
    pub in_mesh: bool,
    /// Where the settings stand.
    pub wrappers: Wrappers,
    /// The field that chooses the strategy, in the spec or in a wrapper.
    pub strategy_fields: Vec<String>,
    /// Whose choice counts.
    pub dictates: Dictates,
    /// The strategy if none is chosen.
    pub strategy: Strategy,
    /// The unit that a merge never splits.
    pub unit: MergeUnit,
    /// The lists that a strategic merge takes element by element.
    pub list_keys: Vec<ListKey>,
    /// Settings that some routes take from every policy, although otherwise the most specific policy decides.
    pub filled: Vec<Filled>,
    /// The number in the spec that orders the policies on one node before age and name do: the lowest goes first.
    pub priority_field: Option<String>,
    /// The annotation of a policy with a number that does the same: the greatest goes first (kgateway).
    pub weight_annotation: Option<String>,
    /// How policies of a Gateway meet those of its routes, if the Gateway may say so (kgateway).
    pub inheritance: Option<Inheritance>,
    /// JSON pointers in the settings, of which no two policies on one target may set the same
    /// ([`SameTarget::PerField`]).
    pub exclusive_fields: Vec<String>,
    /// Who wins on one level.
    pub precedence: Precedence,
    /// Two policies on one target.
    pub same_target: SameTarget,
    /// Where effective paths end.
    pub ends: Vec<Level>,
    /// What a path lists.
    pub paths: Paths,
    /// Conditions and messages.
    pub status: StatusShape,
    /// Settings that let everybody in, on purpose: any of these.
    pub open: Vec<Open>,
}

impl Profile {
    /// The group and kind.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&self.group, &self.kind)
    }

    /// The profile of a labeled kind of which nothing else is known
    /// (docs/systems/why-we-differ.md#kinds-without-a-profile). A Direct one has strategy None. An Inherited one merges
    /// field by field, in the order of GEP-713's earlier text, which was written for all kinds.
    pub fn from_class(kind: &GroupKind, class: Class) -> Self {
        let inherited = Self {
            group: kind.group.to_string(),
            kind: kind.kind.to_string(),
            in_mesh: true,
            strategy_fields: vec!["strategy".to_owned(), "mergeType".to_owned()],
            ends: vec![Level::Gateway, Level::Route, Level::Rule, Level::Backend],
            ..Self::default()
        };
        match class {
            Class::Direct => Self {
                class,
                wrappers: Wrappers::Bare,
                strategy: Strategy::None,
                strategy_fields: Vec::new(),
                precedence: Precedence::EstablishedChallenger,
                same_target: SameTarget::Reject,
                ..inherited
            },
            Class::Inherited => inherited,
        }
    }

    /// Whether this says what the fields of a version mean.
    pub fn describes(&self, version: &str) -> bool {
        self.versions.is_empty() || self.versions.iter().any(|described| described == version)
    }

    /// What counts for a version that no profile of the kind describes: as much as for a kind without a profile,
    /// but for how its controller reports (docs/systems/why-we-differ.md#versions-without-a-profile).
    #[must_use]
    pub fn undescribed(&self) -> Self {
        Self {
            status: self.status,
            in_mesh: self.in_mesh,
            ..Self::from_class(&self.group_kind(), self.class)
        }
    }

    /// Whether a policy that is attached at `level` counts on a path that ends at `end`. A Direct policy affects its own
    /// target alone, and a section is a part of its target; an Inherited one what is below, too.
    pub fn counts(&self, level: Level, end: Level) -> bool {
        self.class == Class::Inherited || owner_of(level) == owner_of(end)
    }

    /// What routes of a kind take from every policy.
    pub(super) fn filled(&self, route: &str) -> Option<&Filled> {
        let is_it = |filled: &&Filled| filled.routes.iter().any(|kind| kind == route);
        self.filled.iter().find(is_it)
    }
}

/// What a policy of the kind affects (GEP-713: Direct and Inherited).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, JsonSchema)]
pub enum Class {
    /// Only its own target.
    Direct,
    /// Its target and what is below it.
    #[default]
    Inherited,
}

/// The whole object that a level belongs to, as its most specific whole level.
const fn owner_of(level: Level) -> Level {
    match level {
        Level::GatewayClass | Level::GatewayNamespace | Level::Gateway | Level::Listener => Level::Gateway,
        Level::Mesh | Level::Service | Level::RouteNamespace | Level::BackendNamespace => level,
        Level::Route | Level::Rule => Level::Route,
        Level::Backend | Level::Port => Level::Backend,
    }
}

/// One way in which settings let everybody in: all of `with` are present, and none of `without`.
///
/// Each is the name of a setting, which is a rule id or a JSON pointer, and a JSON pointer into its value. `*` matches
/// any one part: `authentication#*/anonymous`. If `=` and a word follow, the setting counts as present only with this
/// value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Open {
    /// Settings that must be present.
    pub with: Vec<String>,
    /// Settings that must be absent.
    pub without: Vec<String>,
}
