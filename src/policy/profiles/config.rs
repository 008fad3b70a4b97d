//! Profiles from the configuration: `profiles` of `spokewright.yaml` (design section 3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Profiles;
use crate::diagnostic::{Code, Finding, Findings, Place};
use crate::object::GroupKind;
use crate::policy::profile::{
    AllowedTarget, Class, Dictates, Level, MergeUnit, Paths, Precedence, Profile, SameTarget, StatusShape,
    Strategy, TargetField, Wrappers,
};

/// Adds a policy kind or corrects one. What is left out stays as it is built in or, for a kind that is not, as
/// for a labelled kind of this class.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProfileEntry {
    /// API group of the policy kind.
    pub group: String,
    /// The policy kind.
    pub kind: String,
    /// Direct or Inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Kinds that may be targeted; an empty list allows any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<AllowedTarget>>,
    /// Fields that name targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_fields: Option<Vec<TargetField>>,
    /// Whether a policy without a target applies to its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_wide: Option<bool>,
    /// Where the settings stand in the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrappers: Option<Wrappers>,
    /// Fields that choose the strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy_fields: Option<Vec<String>>,
    /// Whose strategy counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictates: Option<Dictates>,
    /// The strategy where none is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// What a merge never goes below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<MergeUnit>,
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
    /// [`ProfileError`] when the entry makes no sense; the registry is then as before.
    pub fn configure(&mut self, entry: &ProfileEntry) -> Result<(), ProfileError> {
        if entry.group.is_empty() || entry.kind.is_empty() {
            return Err(ProfileError::Nameless);
        }
        let kind = GroupKind::new(&entry.group, &entry.kind);
        let base = match (self.get(&kind), entry.class) {
            (Some(known), _) => (**known).clone(),
            (None, class) => Self::of_class(&kind, class.unwrap_or(Class::Inherited)),
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

/// Adds every entry of the configuration's `profiles` list. What is wrong with one is a finding at `place_of` its
/// position, and the entry is left out.
pub fn configure(
    profiles: &mut Profiles,
    entries: &[Value],
    place_of: impl Fn(usize) -> Place,
    findings: &mut Findings,
) {
    for (position, value) in entries.iter().enumerate() {
        let entry: Result<ProfileEntry, _> = ProfileEntry::deserialize(value);
        let wrong = match entry {
            Ok(entry) => match profiles.configure(&entry) {
                Ok(()) => continue,
                Err(error) => error.to_string(),
            },
            Err(error) => format!("this profile cannot be read: {error}"),
        };
        findings.push(
            Finding::new(Code::CONFIG_INVALID, place_of(position), wrong)
                .help("`spokewright schema config` has the fields of a profile, the README an example"),
        );
    }
}

fn overlay(base: Profile, entry: ProfileEntry) -> Profile {
    Profile {
        group: base.group,
        kind: base.kind,
        class: entry.class.unwrap_or(base.class),
        targets: entry.targets.unwrap_or(base.targets),
        target_fields: entry.target_fields.unwrap_or(base.target_fields),
        namespace_wide: entry.namespace_wide.unwrap_or(base.namespace_wide),
        wrappers: entry.wrappers.unwrap_or(base.wrappers),
        strategy_fields: entry.strategy_fields.unwrap_or(base.strategy_fields),
        dictates: entry.dictates.unwrap_or(base.dictates),
        strategy: entry.strategy.unwrap_or(base.strategy),
        unit: entry.unit.unwrap_or(base.unit),
        precedence: entry.precedence.unwrap_or(base.precedence),
        same_target: entry.same_target.unwrap_or(base.same_target),
        ends: entry.ends.unwrap_or(base.ends),
        paths: entry.paths.unwrap_or(base.paths),
        status: entry.status.unwrap_or(base.status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(value: serde_json::Value) -> ProfileEntry {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_entry_corrects_only_what_it_names() {
        let mut profiles = Profiles::built_in();
        let kind = GroupKind::new("kuadrant.io", "RateLimitPolicy");
        let before = (**profiles.get(&kind).unwrap()).clone();
        profiles
            .configure(&entry(
                json!({"group": "kuadrant.io", "kind": "RateLimitPolicy", "strategy": "Patch"}),
            ))
            .unwrap();
        let after = (**profiles.get(&kind).unwrap()).clone();
        assert_eq!(
            after,
            Profile {
                strategy: Strategy::Patch,
                ..before
            }
        );
    }

    #[test]
    fn a_wrong_entry_is_a_finding_at_its_place_and_the_others_count() {
        let mut profiles = Profiles::built_in();
        let mut findings = Findings::new();
        let entries = [
            json!({"group": "a.b", "kind": "C", "targetting": []}),
            json!({"group": "a.b", "kind": "D", "class": "Direct"}),
        ];
        let place = |position| Place::Path(format!("profiles[{position}]"));
        configure(&mut profiles, &entries, place, &mut findings);
        let found: Vec<_> = findings
            .iter()
            .map(|finding| (finding.code, finding.place.clone()))
            .collect();
        assert_eq!(found, [(Code::CONFIG_INVALID, place(0))]);
        assert!(profiles.get(&GroupKind::new("a.b", "D")).is_some());
    }

    #[test]
    fn an_unknown_field_is_refused_and_an_impossible_end_too() {
        let wrong = json!({"group": "a.b", "kind": "C", "targetting": []});
        assert!(serde_json::from_value::<ProfileEntry>(wrong).is_err());
        let mut profiles = Profiles::built_in();
        let bad_end = entry(json!({"group": "a.b", "kind": "C", "ends": ["GatewayClass"]}));
        assert!(profiles.configure(&bad_end).is_err());
        assert!(profiles.configure(&entry(json!({"kind": "C"}))).is_err());
    }
}
