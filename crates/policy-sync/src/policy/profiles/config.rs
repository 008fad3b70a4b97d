//! Profiles from the configuration: `profiles` of `spokewright.yaml` (docs/guides/teaching-a-kind.md).
//!
//! Owns: the shape of an entry ([`ProfileEntry`]) and its JSON Schema, which entries are refused, and laying an entry
//! over the built-in profile. Flows in: entries as JSON. Flows out: [`Profiles`], findings at the wrong field. Must not
//! know: which policies exist.

use std::collections::BTreeSet;

use kube_json::Value;
use serde::{Deserialize, Serialize};

use super::registry::Profiles;
use crate::api::schema;
use crate::api::targeting::{AllowedTarget, TargetField};
use crate::api::violation;
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place};
use crate::policy::open::Open;
use crate::policy::profile::{
    Class, Dictates, Filled, Inheritance, ListKey, MergeUnit, Paths, Precedence, Profile, SameTarget,
    StatusShape, Strategy, Wrappers,
};
use crate::topology::Level;
use apimachinery::GroupKind;
use crd_schema::Schema;

/// Where the fields of a profile are documented.
const HELP: &str = "see `spokewright schema config` for the fields of a profile, and docs/guides/teaching-a-kind.md for an example";

/// Adds a policy kind, or corrects one. A field that is left out keeps its built-in value, or, for a kind that is not
/// built in, the value of a labeled kind of this class.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProfileEntry {
    /// API group of the policy kind.
    pub group: String,
    /// The policy kind.
    pub kind: String,
    /// The versions that the profile describes; an empty list means all. One kind may have a profile for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<Vec<String>>,
    /// Direct or Inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Kinds that may be targeted, instead of those that the definition accepts; an empty list allows any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<AllowedTarget>>,
    /// Fields that name targets, instead of those of the definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_fields: Option<Vec<TargetField>>,
    /// Whether a policy without a target applies to its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_wide: Option<bool>,
    /// Whether a policy applies to workloads, as Istio's do: to those of its namespace, of the mesh, or that it
    /// selects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_workloads: Option<bool>,
    /// Whether its controller serves routes of a mesh, whose parent is a Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_mesh: Option<bool>,
    /// Where the settings are in the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrappers: Option<Wrappers>,
    /// Fields that choose the strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy_fields: Option<Vec<String>>,
    /// Whose strategy applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictates: Option<Dictates>,
    /// The strategy if none is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// The unit that a merge never splits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<MergeUnit>,
    /// Lists that a strategic merge combines element by element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_keys: Option<Vec<ListKey>>,
    /// Settings that some routes take from every policy, although otherwise the most specific policy decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled: Option<Vec<Filled>>,
    /// The number in the spec that orders the policies on one target before age and name do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_field: Option<String>,
    /// The annotation of a policy with a number that does the same; the greatest goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_annotation: Option<String>,
    /// How policies of a Gateway meet those of its routes, for kinds whose Gateways can choose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inheritance: Option<Inheritance>,
    /// JSON pointers in the settings. No two policies on one target may set the same one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_fields: Option<Vec<String>>,
    /// Whether a `mode` of `UNSET` sets nothing.
    pub unset_modes: Option<bool>,
    /// Who wins on one level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precedence: Option<Precedence>,
    /// Two policies on one target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_target: Option<SameTarget>,
    /// Where effective paths end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<Vec<Level>>,
    /// What a path lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// Conditions and messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusShape>,
    /// Settings that let everybody in, on purpose: any of these. A page does not count them as coverage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<Vec<Open>>,
}

/// Why an entry cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No group or kind.
    #[error("a profile needs `group` and `kind`")]
    Nameless,
    /// An empty list of ends.
    #[error("`ends` of the profile of {0} lists no level")]
    NoEnd(GroupKind),
    /// A level where no path can end.
    #[error("no effective path of {0} can end at the {1}")]
    BadEnd(GroupKind, &'static str),
    /// Named rules without any path.
    #[error("`unit.Rules` of the profile of {0} needs pointers that begin with `/`")]
    BadRules(GroupKind),
}

impl Profiles {
    /// Adds a configuration entry.
    ///
    /// # Errors
    /// `ProfileError` when the entry makes no sense; the registry is then as before.
    pub fn configure(&mut self, entry: &ProfileEntry) -> Result<(), ProfileError> {
        if entry.group.is_empty() || entry.kind.is_empty() {
            return Err(ProfileError::Nameless);
        }
        let kind = GroupKind::new(&entry.group, &entry.kind);
        let versions: BTreeSet<&str> = entry.versions.iter().flatten().map(String::as_str).collect();
        let of_kind = self.get(&kind);
        let of_version = of_kind
            .iter()
            .find(|profile| versions.iter().any(|version| profile.describes(version)));
        let base = match (of_version.or(of_kind.first()), entry.class) {
            (Some(known), _) => (**known).clone(),
            (None, class) => Profile::of_class(&kind, class.unwrap_or(Class::Inherited)),
        };
        let profile = overlay(base, entry.clone());
        if profile.ends.is_empty() {
            return Err(ProfileError::NoEnd(kind));
        }
        for level in &profile.ends {
            if matches!(
                level,
                Level::GatewayClass | Level::GatewayNamespace | Level::RouteNamespace
            ) {
                return Err(ProfileError::BadEnd(kind, level.name()));
            }
        }
        if let MergeUnit::Rules(rules) = &profile.unit
            && (rules.is_empty() || rules.iter().any(|rule| !rule.pointer.starts_with('/')))
        {
            return Err(ProfileError::BadRules(kind));
        }
        self.insert(profile);
        Ok(())
    }
}

/// The JSON Schema of an entry.
#[cfg(feature = "schema")]
#[must_use]
pub fn entry_schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings
        .into_generator()
        .into_root_schema_for::<ProfileEntry>()
        .to_value()
}

/// Adds every entry of the configuration's `profiles` list, which is in `document`. What is wrong with one is a
/// finding at its place, and the entry is left out.
pub fn configure(profiles: &mut Profiles, entries: &[Value], document: DocumentId, findings: &mut Findings) {
    if entries.is_empty() {
        return;
    }
    let schema = schema::profile();
    for (position, value) in entries.iter().enumerate() {
        let pointer = format!("/profiles/{position}");
        let wrong = match kube_json::from_value::<ProfileEntry>(value) {
            Ok(entry) => match profiles.configure(&entry) {
                Ok(()) => continue,
                Err(error) => error.to_string(),
            },
            Err(error) => {
                let refused = refused_fields(&schema, value, position, document);
                if !refused.is_empty() {
                    findings.extend(refused);
                    continue;
                }
                format!("profile {}: {error}", position.saturating_add(1))
            }
        };
        let place = Place::value(document, pointer);
        findings.push(Finding::new(Code::CONFIG_INVALID, place, wrong).help(HELP));
    }
}

/// What the schema refuses, field by field. Of `unit` it knows no fields, as that is a word or a mapping.
fn refused_fields(schema: &Schema, entry: &Value, position: usize, document: DocumentId) -> Vec<Finding> {
    let refused = schema.validate(entry).into_iter();
    refused
        .filter(|violation| !violation.pointer.starts_with("/unit"))
        .map(|violation| {
            let at = format!("/profiles/{position}{}", violation.pointer);
            let message = format!("profile {}: {violation}", position.saturating_add(1));
            let (code, place) = if violation::is_unknown_field(&violation) {
                (Code::CONFIG_UNKNOWN_FIELD, Place::key(document, at))
            } else {
                (Code::CONFIG_INVALID, Place::value(document, at))
            };
            let help = renamed(entry, &violation.pointer).or_else(|| violation::help(&violation));
            let help = help.unwrap_or_else(|| HELP.to_owned());
            Finding::new(code, place, message).help(help)
        })
        .collect()
}

/// What a value of `precedence` is called today, if a configuration has an earlier word for it.
fn renamed(entry: &Value, pointer: &str) -> Option<String> {
    let (old, new) = match (pointer, entry.pointer(pointer)?.as_str()?) {
        ("/precedence", "Seed") => ("Seed", Precedence::OldestWins),
        ("/precedence", "Roles") => ("Roles", Precedence::EstablishedChallenger),
        _ => return None,
    };
    Some(format!("`{old}` is now called `{new:?}`"))
}

fn overlay(base: Profile, entry: ProfileEntry) -> Profile {
    Profile {
        group: base.group,
        kind: base.kind,
        versions: entry.versions.unwrap_or(base.versions),
        class: entry.class.unwrap_or(base.class),
        targeting: base.targeting.configured(entry.target_fields, entry.targets),
        namespace_wide: entry.namespace_wide.unwrap_or(base.namespace_wide),
        of_workloads: entry.of_workloads.unwrap_or(base.of_workloads),
        unset_modes: entry.unset_modes.unwrap_or(base.unset_modes),
        in_mesh: entry.in_mesh.unwrap_or(base.in_mesh),
        wrappers: entry.wrappers.unwrap_or(base.wrappers),
        strategy_fields: entry.strategy_fields.unwrap_or(base.strategy_fields),
        dictates: entry.dictates.unwrap_or(base.dictates),
        strategy: entry.strategy.unwrap_or(base.strategy),
        unit: entry.unit.unwrap_or(base.unit),
        list_keys: entry.list_keys.unwrap_or(base.list_keys),
        filled: entry.filled.unwrap_or(base.filled),
        priority_field: entry.priority_field.or(base.priority_field),
        weight_annotation: entry.weight_annotation.or(base.weight_annotation),
        inheritance: entry.inheritance.or(base.inheritance),
        exclusive_fields: entry.exclusive_fields.unwrap_or(base.exclusive_fields),
        precedence: entry.precedence.unwrap_or(base.precedence),
        same_target: entry.same_target.unwrap_or(base.same_target),
        ends: entry.ends.unwrap_or(base.ends),
        paths: entry.paths.unwrap_or(base.paths),
        status: entry.status.unwrap_or(base.status),
        open: entry.open.unwrap_or(base.open),
        authorizes: base.authorizes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceId;
    use kube_json::json;

    fn entry(value: kube_json::Value) -> ProfileEntry {
        kube_json::from_value(&value).unwrap()
    }

    #[test]
    fn an_entry_corrects_only_what_it_names() {
        let mut profiles = Profiles::built_in();
        let kind = GroupKind::new("kuadrant.io", "RateLimitPolicy");
        let before = (*profiles.get(&kind)[0]).clone();
        profiles
            .configure(&entry(
                json!({"group": "kuadrant.io", "kind": "RateLimitPolicy", "strategy": "Patch"}),
            ))
            .unwrap();
        let after = (*profiles.get(&kind)[0]).clone();
        assert_eq!(
            after,
            Profile {
                strategy: Strategy::Patch,
                ..before
            }
        );
    }

    #[test]
    fn an_entry_names_a_group_and_a_kind() {
        for value in [
            json!({"group": "", "kind": "ColorPolicy"}),
            json!({"group": "colors.example.com", "kind": ""}),
        ] {
            let configured = Profiles::built_in().configure(&entry(value));
            assert!(
                matches!(configured, Err(ProfileError::Nameless)),
                "{configured:?}"
            );
        }
    }

    #[test]
    fn an_entry_for_another_version_leaves_the_built_in_one() {
        let mut profiles = Profiles::built_in();
        let value = json!({"group": "kuadrant.io", "kind": "AuthPolicy", "versions": ["v1beta1"], "wrappers": "Bare",
                           "unit": "Whole"});
        profiles.configure(&entry(value)).unwrap();
        let known = profiles.get(&GroupKind::new("kuadrant.io", "AuthPolicy"));
        let described: Vec<_> = known
            .iter()
            .map(|profile| (profile.versions.join(" "), profile.wrappers))
            .collect();
        assert_eq!(
            described,
            [
                ("v1beta1".to_owned(), Wrappers::Bare),
                ("v1".to_owned(), Wrappers::OneOfDefaultsOverrides)
            ]
        );
    }

    #[test]
    fn a_wrong_entry_is_a_finding_at_its_place_and_the_others_count() {
        let mut profiles = Profiles::built_in();
        let mut findings = Findings::new();
        let entries = [
            json!({"group": "a.b", "kind": "C", "target": []}),
            json!({"group": "a.b", "kind": "D", "class": "Direct"}),
            json!({"group": "a.b", "kind": "E", "class": "direct"}),
            json!({"group": "a.b", "kind": "F", "ends": []}),
            json!({"group": "a.b", "kind": "G", "unit": {"Rules": [{"pointer": "/limits", "each": true}]}}),
            json!({"group": "a.b", "kind": "H", "unit": "Whol"}),
        ];
        let document = DocumentId {
            source: SourceId(0),
            index: 0,
        };
        configure(&mut profiles, &entries, document, &mut findings);
        let found: Vec<_> = findings
            .iter()
            .map(|finding| {
                (
                    finding.code,
                    finding.place.clone(),
                    finding.help.clone().unwrap_or_default(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (
                    Code::CONFIG_UNKNOWN_FIELD,
                    Place::key(document, "/profiles/0/target"),
                    "did you mean `targets`?".into()
                ),
                (
                    Code::CONFIG_INVALID,
                    Place::value(document, "/profiles/2/class"),
                    "did you mean `Direct`?".into()
                ),
                (
                    Code::CONFIG_INVALID,
                    Place::value(document, "/profiles/3"),
                    HELP.into()
                ),
                (
                    Code::CONFIG_INVALID,
                    Place::value(document, "/profiles/5"),
                    HELP.into()
                ),
            ]
        );
        let last = findings.iter().next_back().expect("a finding");
        assert!(
            last.message.contains("expected one of `Whole`"),
            "{}",
            last.message
        );
        assert_eq!(profiles.get(&GroupKind::new("a.b", "G")).len(), 1);
        assert_eq!(profiles.get(&GroupKind::new("a.b", "D")).len(), 1);
    }

    #[test]
    fn an_earlier_word_for_a_precedence_is_refused_with_the_one_of_today() {
        let document = DocumentId {
            source: SourceId(0),
            index: 0,
        };
        for (old, new) in [("Seed", "OldestWins"), ("Roles", "EstablishedChallenger")] {
            let mut findings = Findings::new();
            let entry = json!({"group": "a.b", "kind": "C", "precedence": old});
            configure(&mut Profiles::built_in(), &[entry], document, &mut findings);
            let finding = findings.iter().next().expect("a finding");
            assert_eq!(finding.code, Code::CONFIG_INVALID);
            assert_eq!(finding.place, Place::value(document, "/profiles/0/precedence"));
            assert_eq!(
                finding.help.as_deref(),
                Some(format!("`{old}` is now called `{new}`").as_str())
            );
        }
    }

    #[test]
    fn an_unknown_field_is_refused_and_an_impossible_end_too() {
        let wrong = json!({"group": "a.b", "kind": "C", "targetting": []});
        assert!(kube_json::from_value::<ProfileEntry>(&wrong).is_err());
        let mut profiles = Profiles::built_in();
        let bad_end = entry(json!({"group": "a.b", "kind": "C", "ends": ["GatewayClass"]}));
        assert!(profiles.configure(&bad_end).is_err());
        assert!(profiles.configure(&entry(json!({"kind": "C"}))).is_err());
    }
}
