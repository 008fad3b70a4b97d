//! Which targets a definition allows in policies of its kind. What a controller does with a target that its definition
//! accepts is another question.
//!
//! A definition does not list targets: it has rules that judge them. So each known kind, and each kind in the input, is
//! tried as the only target of an otherwise empty spec. The catalog stores the answers of its definitions, because it
//! does not store their rules.

use std::collections::BTreeSet;

use apimachinery::{Allowance, Work, core_group};
use crd_schema::{Schema, Violation, ViolationKind};
use kube_json::{Map, Value, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gateway::GROUP;

/// Stands for every group, or for every kind of a group: a definition that looks at one of the two alone.
pub const ANY: &str = "*";

/// A kind that may be targeted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowedTarget {
    /// API group, `""` for core, `*` for any.
    #[serde(default)]
    pub group: String,
    /// Kind, `*` for any of the group.
    pub kind: String,
    /// Whether `sectionName` may name a part of it.
    #[serde(default)]
    pub sections: bool,
}

impl AllowedTarget {
    /// Whether it is this kind. `core` is the group of those that have none.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        let (own, named) = (self.group.as_str(), self.kind.as_str());
        (named == ANY || named == kind) && (own == ANY || core_group(own) == core_group(group))
    }
}

/// Which spec fields name targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TargetField {
    /// `spec.targetRef`.
    TargetRef,
    /// `spec.targetRefs`.
    TargetRefs,
    /// `spec.targetSelectors`.
    TargetSelectors,
}

impl TargetField {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::TargetRef, Self::TargetRefs, Self::TargetSelectors];

    /// The field's name in a spec.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TargetRef => "targetRef",
            Self::TargetRefs => "targetRefs",
            Self::TargetSelectors => "targetSelectors",
        }
    }

    /// A spec that names one target by this field.
    fn spec(self, target: &Value) -> Value {
        match self {
            Self::TargetRef => json!({ self.name(): target }),
            Self::TargetRefs | Self::TargetSelectors => json!({ self.name(): [target] }),
        }
    }
}

/// What a definition says of targets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Targeting {
    /// The fields that name targets, as it has them.
    pub fields: Vec<TargetField>,
    /// What a reference may name: `targetRef`, `targetRefs`.
    pub named: AcceptedKinds,
    /// What `targetSelectors` may select.
    pub selected: AcceptedKinds,
    /// Whether a policy without a target is refused.
    pub is_required: bool,
    /// Whether a target may have a `sectionName`, regardless of its kind.
    pub has_sections: bool,
}

/// Which kinds a definition takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedKinds {
    /// Of those that were asked for, the ones that it takes; none where it takes any.
    pub kinds: Vec<AllowedTarget>,
    /// Whether it refuses others.
    pub is_restricted: bool,
}

/// Kinds that policies of some product target: what every definition is asked about, in the order in which they are
/// told.
pub const KNOWN: [(&str, &str); 23] = [
    (GROUP, "Gateway"),
    (GROUP, "GatewayClass"),
    (GROUP, "ListenerSet"),
    (GROUP, "HTTPRoute"),
    (GROUP, "GRPCRoute"),
    (GROUP, "TLSRoute"),
    (GROUP, "TCPRoute"),
    (GROUP, "UDPRoute"),
    ("gateway.networking.x-k8s.io", "XBackend"),
    ("gateway.networking.x-k8s.io", "XListenerSet"),
    ("gateway.networking.x-k8s.io", "XMesh"),
    ("", "Namespace"),
    ("", "Pod"),
    ("", "Service"),
    ("gateway.envoyproxy.io", "Backend"),
    ("gateway.kgateway.dev", "Backend"),
    ("inference.networking.k8s.io", "InferencePool"),
    ("inference.networking.x-k8s.io", "InferencePool"),
    ("multicluster.x-k8s.io", "ServiceImport"),
    ("net.gke.io", "ServiceExport"),
    ("net.gke.io", "ServiceImport"),
    ("networking.istio.io", "Hostname"),
    ("networking.istio.io", "ServiceEntry"),
];

/// A group and a kind that no definition names.
const UNKNOWN: (&str, &str) = ("unheard-of.example", "UnheardOf");

impl Targeting {
    /// Asks a schema about the known kinds and about `further` ones. `None`: it has no field for targets.
    ///
    /// Where rules are not run, nothing but types and enums restricts a target.
    pub fn from_schema(schema: &Schema, further: &BTreeSet<(String, String)>, work: &Work) -> Option<Self> {
        let names = |field: &TargetField| schema.has_field(&["spec", field.name()]);
        if !TargetField::ALL.iter().any(names) {
            return None;
        }
        let takes = |field: &TargetField| schema.accepts_field(&["spec", field.name()]);
        let fields: Vec<TargetField> = TargetField::ALL.into_iter().filter(takes).collect();
        let mut asked: Vec<(&str, &str)> = KNOWN.to_vec();
        let further = further.iter();
        asked.extend(further.map(|(group, kind)| (group.as_str(), kind.as_str())));
        let asking = |is_asked: fn(TargetField) -> bool| Probe {
            schema,
            fields: fields.iter().copied().filter(|field| is_asked(*field)).collect(),
            allowance: work.allowance_of(0),
        };
        let mut all = asking(|_| true);
        Some(Self {
            named: asking(|field| field != TargetField::TargetSelectors).accepted_kinds(&asked),
            selected: asking(|field| field == TargetField::TargetSelectors).accepted_kinds(&asked),
            is_required: !all.violations(&json!({})).is_empty(),
            has_sections: all.fields.iter().any(|field| all.has_of(*field, "sectionName")),
            fields,
        })
    }

    /// What either of two schemas accepts.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let all = |one: Vec<TargetField>, other: Vec<TargetField>| {
            let all: BTreeSet<TargetField> = one.into_iter().chain(other).collect();
            all.into_iter().collect()
        };
        Self {
            fields: all(self.fields, other.fields),
            named: self.named.or(other.named),
            selected: self.selected.or(other.selected),
            is_required: self.is_required && other.is_required,
            has_sections: self.has_sections || other.has_sections,
        }
    }
}

impl AcceptedKinds {
    fn or(self, other: Self) -> Self {
        let is_restricted = self.is_restricted && other.is_restricted;
        let mut kinds = self.kinds;
        for kind in other.kinds {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds.retain(|_| is_restricted);
        Self { kinds, is_restricted }
    }
}

/// A schema that is asked.
struct Probe<'s> {
    schema: &'s Schema,
    fields: Vec<TargetField>,
    allowance: Allowance<'s>,
}

impl Probe<'_> {
    /// Which kinds are taken by any of the fields.
    fn accepted_kinds(&mut self, asked: &[(&str, &str)]) -> AcceptedKinds {
        let is_restricted = !self.fields.is_empty() && self.accepts(UNKNOWN.0, UNKNOWN.1).is_none();
        let mut kinds: Vec<AllowedTarget> = Vec::new();
        for (group, kind) in asked.iter().filter(|_| is_restricted) {
            if self.allowance.work().is_spent() {
                break;
            }
            if kinds.iter().any(|known| known.is(group, kind)) {
                continue;
            }
            let Some(sections) = self.accepts(group, kind) else {
                continue;
            };
            let any_group = self.accepts(UNKNOWN.0, kind).is_some();
            let any_kind = self.accepts(group, UNKNOWN.1).is_some();
            kinds.push(AllowedTarget {
                group: if any_group { ANY } else { group }.to_owned(),
                kind: if any_kind { ANY } else { kind }.to_owned(),
                sections,
            });
        }
        // Where nothing is taken, it was not asked in the way that its references are written.
        AcceptedKinds {
            is_restricted: is_restricted && !kinds.is_empty(),
            kinds,
        }
    }

    /// Whether a target of this kind is taken by any field; whether it may then have a section.
    fn accepts(&mut self, group: &str, kind: &str) -> Option<bool> {
        let mut taken = None;
        for field in self.fields.clone() {
            for mut target in self.targets(field, group, kind) {
                if !self.is_taken(field, &target) {
                    continue;
                }
                let has_sections = self.has_of(field, "sectionName");
                target.insert("sectionName".to_owned(), json!("x"));
                let with_section = has_sections && self.is_taken(field, &target);
                taken = Some(taken.unwrap_or_default() || with_section);
            }
        }
        taken
    }

    /// The ways to name a target: by name, or by labels.
    fn targets(&self, field: TargetField, group: &str, kind: &str) -> Vec<Map> {
        let labels = json!({"x": "x"});
        let ways = [
            ("name", json!("x")),
            ("selector", json!({"matchLabels": labels})),
            ("matchLabels", labels),
        ];
        let what = [("group", json!(group)), ("kind", json!(kind))];
        let has = |(part, _): &(&str, Value)| self.has_of(field, part);
        let what: Vec<(&str, Value)> = what.into_iter().filter(has).collect();
        let targets = ways.into_iter().filter(has).map(|way| {
            let parts = what.iter().cloned().chain([way]);
            parts.map(|(part, value)| (part.to_owned(), value)).collect()
        });
        targets.collect()
    }

    /// Whether nothing is reported about its group, kind or section. What else its kind of reference must have is not
    /// known here, and no rule runs without.
    fn is_taken(&mut self, field: TargetField, target: &Map) -> bool {
        let target = Value::Object(target.clone());
        let violations = self.violations(&field.spec(&target));
        violations.iter().all(|violation| {
            let last = violation.pointer.rsplit('/').next().unwrap_or_default();
            let is_asked = ["group", "kind", "sectionName"].contains(&last);
            !matches!(violation.kind, ViolationKind::Rule { .. })
                && (!is_asked || violation.kind == ViolationKind::Required)
        })
    }

    fn violations(&mut self, spec: &Value) -> Vec<Violation> {
        let fields: Vec<&str> = self.fields.iter().map(|field| field.name()).collect();
        let allowance = &mut self.allowance;
        self.schema.validate_part("spec", &fields, spec, allowance)
    }

    fn has_of(&self, field: TargetField, part: &str) -> bool {
        self.schema.accepts_field(&["spec", field.name(), part])
    }
}
