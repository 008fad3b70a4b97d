//! The profiles by kind: built in, by product; from `profiles` of `spokewright.yaml` (docs/guides/teaching-a-kind.md); or
//! learned from CRDs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use apimachinery::{GroupKind, Work};
use crd_schema::Schema;
use kube_json::Value;
use schemars::JsonSchema;
use serde::Deserialize;

use super::products;
use super::profile::{
    Class, Dictates, Filled, Inheritance, ListKey, MergeUnit, Open, Paths, Precedence, Profile, SameTarget,
    StatusShape, Strategy, Wrappers,
};
use super::targeting::{Targeting, TargetingSource, known_targets};
use crate::api::crd::Crd;
use crate::api::targeting::{AllowedTarget, TargetField};
use crate::api::{catalog, schema, targeting as api, violation};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, broken};
use crate::topology::Level;

/// Profiles by group and kind: the built-in ones, corrected and completed by the configuration.
#[derive(Debug, Clone)]
pub struct Profiles {
    /// Of one kind, each describes other versions; the last one added counts first.
    by_kind: BTreeMap<GroupKind, Vec<Arc<Profile>>>,
    /// The targets that the definitions of the input allow, by kind and version.
    defined: BTreeMap<GroupKind, BTreeMap<String, api::Targeting>>,
    /// The answers so far: every spoke asks the same questions.
    found: Arc<RwLock<BTreeMap<ProfileKey, Option<Arc<Profile>>>>>,
}

/// A kind, its versions in use, and the label of its definition.
type ProfileKey = (GroupKind, Vec<String>, Option<String>);

/// The questions of the policies of a kind to its definition.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The versions that they are written in.
    pub(crate) versions: BTreeSet<String>,
    /// The groups and kinds that they target.
    pub(crate) kinds: BTreeSet<(String, String)>,
}

impl Profiles {
    /// Those that need no configuration.
    pub fn built_in() -> Self {
        let mut profiles = Self {
            by_kind: BTreeMap::new(),
            defined: BTreeMap::new(),
            found: Arc::default(),
        };
        for entry in products::profiles() {
            let read = serde_json::from_value(entry).map_err(|error| error.to_string());
            let added = read.and_then(|entry| profiles.configure(&entry).map_err(|error| error.to_string()));
            if let Err(error) = added {
                broken(format_args!("a profile of a product: {error}"));
            }
        }
        profiles
    }

    /// Adds a profile, or replaces those of the same kind that describe nothing else.
    fn insert(&mut self, profile: Profile) {
        self.found = Arc::default();
        let of_kind = self.by_kind.entry(profile.group_kind()).or_default();
        let replaces = |other: &Profile| match (profile.versions.as_slice(), other.versions.as_slice()) {
            // A profile for all versions replaces every other one of its kind.
            ([], _) => true,
            (_, []) => false,
            (_, versions) => versions.iter().all(|version| profile.describes(version)),
        };
        of_kind.retain(|other| !replaces(other));
        of_kind.insert(0, Arc::new(profile));
    }

    /// The profiles of a kind, one for each set of versions.
    pub(crate) fn get(&self, kind: &GroupKind) -> &[Arc<Profile>] {
        self.by_kind.get(kind).map(Vec::as_slice).unwrap_or_default()
    }

    /// Learns from a definition of the input which targets its kind may name.
    pub(crate) fn learn(&mut self, crd: &Crd, written: &Written, work: &Work) {
        let used = crd.versions.iter();
        let used = used.filter(|version| written.versions.contains(&version.name));
        let versions = used.filter_map(|version| {
            let targeting = api::Targeting::from_schema(version.schema.as_ref()?, &written.kinds, work)?;
            Some((version.name.clone(), targeting))
        });
        let kind = GroupKind::new(crd.group.clone(), crd.kind.clone());
        self.found = Arc::default();
        self.defined.insert(kind, versions.collect());
    }

    /// Forgets the answers of the definitions of the input.
    pub(crate) fn unlearn(&mut self) {
        self.found = Arc::default();
        self.defined.clear();
    }

    /// The profile of a kind of which these versions are in use: one that describes a version, or else what is left to
    /// assume of a kind that has profiles for other versions only, or of one with this `label` on its definition; `None` if
    /// there is neither.
    pub(crate) fn find(
        &self,
        kind: &GroupKind,
        versions: &BTreeSet<&str>,
        label: Option<&str>,
    ) -> Option<Arc<Profile>> {
        let versions_asked = versions.iter().map(|version| (*version).to_owned()).collect();
        let asked: ProfileKey = (kind.clone(), versions_asked, label.map(str::to_owned));
        let known = self.found.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&asked) {
            return found.clone();
        }
        drop(known);
        let found = self.build(kind, versions, label);
        let mut known = self.found.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(asked, found.clone());
        found
    }

    fn build(
        &self,
        kind: &GroupKind,
        versions: &BTreeSet<&str>,
        label: Option<&str>,
    ) -> Option<Arc<Profile>> {
        let of_kind = self.get(kind);
        let describes = |profile: &&Arc<Profile>| versions.iter().any(|version| profile.describes(version));
        let mut profile = match of_kind.iter().find(describes) {
            Some(profile) => (**profile).clone(),
            None => match of_kind.first() {
                // Its fields may have other names in this version
                // (docs/systems/why-we-differ.md#versions-without-a-profile).
                Some(profile) => profile.undescribed(),
                None => Self::fallback(kind, label?),
            },
        };
        let targeting = self.targeting(kind, versions);
        profile.targeting = targeting.configured(profile.target_fields.clone(), profile.targets.clone());
        Some(Arc::new(profile))
    }

    /// The targets that policies of a kind may name: by the definition in the input, else by the catalog's, and if that
    /// accepts any kind, by its controller or documentation.
    fn targeting(&self, kind: &GroupKind, versions: &BTreeSet<&str>) -> Targeting {
        let of_catalog = catalog::find(&kind.group, &kind.kind);
        let in_catalog = |version: &&str| {
            let entry = of_catalog?;
            Some((
                entry.targeting(version)?,
                TargetingSource::Catalog(entry.product(version)?),
            ))
        };
        let catalogued = versions.iter().filter_map(in_catalog).reduce(either);
        let Some(defined) = self.defined.get(kind) else {
            return Targeting::new(catalogued, known_targets(kind));
        };
        let defined = versions.iter().filter_map(|version| defined.get(*version));
        let defined = defined.map(|targeting| (targeting.clone(), TargetingSource::Definition));
        let defined = defined.reduce(either);
        match (&defined, catalogued) {
            // Another release may accept more than the one in the catalog, so the catalog shows only what is known to
            // be accepted.
            (Some((of_input, _)), Some((ours, _)))
                if !of_input.named.is_restricted && ours.named.is_restricted =>
            {
                Targeting::new(defined, None).with_known(ours)
            }
            // The definition in the input decides, even if it is newer than this program
            // (docs/systems/why-we-differ.md#targets).
            _ => Targeting::new(defined, known_targets(kind)),
        }
    }

    /// The kinds that have one, sorted.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.by_kind.keys()
    }

    /// All of them, sorted by kind.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.by_kind.values().flatten()
    }

    /// The profile of a labeled kind without one of its own: `class` is the label's value, compared without
    /// case; `true` and anything else counts as Inherited, the superset (GEP-713).
    fn fallback(kind: &GroupKind, class: &str) -> Profile {
        let is_direct = class.eq_ignore_ascii_case("direct");
        let class = if is_direct {
            Class::Direct
        } else {
            Class::Inherited
        };
        Profile::from_class(kind, class)
    }
}

/// What two versions of a kind that are in use say: each is some policy's.
fn either(
    one: (api::Targeting, TargetingSource),
    other: (api::Targeting, TargetingSource),
) -> (api::Targeting, TargetingSource) {
    (one.0.or(other.0), one.1)
}

/// Where the fields of a profile are documented.
const HELP: &str = "see `spokewright schema config` for the fields of a profile, and docs/guides/teaching-a-kind.md for an example";

/// Adds a policy kind, or corrects one. A field that is left out keeps its built-in value, or, for a kind that is not
/// built in, the value of a labeled kind of this class.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileEntry {
    /// API group of the policy kind.
    #[serde(default)]
    pub group: String,
    /// The policy kind.
    #[serde(default)]
    pub kind: String,
    /// The versions that the profile describes; an empty list means all. One kind may have a profile for each.
    pub versions: Option<Vec<String>>,
    /// Direct or Inherited.
    pub class: Option<Class>,
    /// Kinds that may be targeted, instead of those that the definition accepts; an empty list allows any.
    pub targets: Option<Vec<AllowedTarget>>,
    /// Fields that name targets, instead of those of the definition.
    pub target_fields: Option<Vec<TargetField>>,
    /// Whether a policy without a target applies to its namespace.
    pub namespace_wide: Option<bool>,
    /// Whether a policy applies to workloads, as Istio's do: to those of its namespace, of the mesh, or that it
    /// selects.
    pub of_workloads: Option<bool>,
    /// Whether its controller serves routes of a mesh, whose parent is a Service.
    pub in_mesh: Option<bool>,
    /// Where the settings are in the spec.
    pub wrappers: Option<Wrappers>,
    /// Fields that choose the strategy.
    pub strategy_fields: Option<Vec<String>>,
    /// Whose strategy applies.
    pub dictates: Option<Dictates>,
    /// The strategy if none is chosen.
    pub strategy: Option<Strategy>,
    /// The unit that a merge never splits.
    pub unit: Option<MergeUnit>,
    /// Lists that a strategic merge combines element by element.
    pub list_keys: Option<Vec<ListKey>>,
    /// Settings that some routes take from every policy, although otherwise the most specific policy decides.
    pub filled: Option<Vec<Filled>>,
    /// The number in the spec that orders the policies on one target before age and name do.
    pub priority_field: Option<String>,
    /// The annotation of a policy with a number that does the same; the greatest goes first.
    pub weight_annotation: Option<String>,
    /// How policies of a Gateway meet those of its routes, for kinds whose Gateways can choose it.
    pub inheritance: Option<Inheritance>,
    /// JSON pointers in the settings. No two policies on one target may set the same one.
    pub exclusive_fields: Option<Vec<String>>,
    /// Whether a `mode` of `UNSET` sets nothing.
    #[serde(default)]
    pub unset_modes: Option<bool>,
    /// Who wins on one level.
    pub precedence: Option<Precedence>,
    /// Two policies on one target.
    pub same_target: Option<SameTarget>,
    /// Where effective paths end.
    pub ends: Option<Vec<Level>>,
    /// What a path lists.
    pub paths: Option<Paths>,
    /// Conditions and messages.
    pub status: Option<StatusShape>,
    /// Settings that let everybody in, on purpose: any of these. A page does not count them as coverage.
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
        let is_it = |profile: &&Arc<Profile>| versions.iter().any(|version| profile.describes(version));
        let base = match of_kind.iter().find(is_it).or(of_kind.first()) {
            Some(known) => (**known).clone(),
            None => Profile::from_class(&kind, entry.class.unwrap_or_default()),
        };
        let profile = overlay(base, entry.clone());
        if profile.ends.is_empty() {
            return Err(ProfileError::NoEnd(kind));
        }
        for level in &profile.ends {
            // Policies may be on these levels, but no traffic ends there.
            if let Level::GatewayClass | Level::GatewayNamespace | Level::RouteNamespace = level {
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

/// Adds every entry of the configuration's `profiles` list, which is in `document`. What is wrong with one is a
/// finding at its place, and the entry is left out.
pub fn configure(profiles: &mut Profiles, entries: &[Value], document: DocumentId, findings: &mut Findings) {
    if entries.is_empty() {
        return;
    }
    let schema = schema::profile();
    // A null is no entry, and keeps its position.
    for (position, value) in entries.iter().enumerate().filter(|(_, value)| !value.is_null()) {
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
                format!("{}: {error}", numbered(position))
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
            let help = renamed(entry, &violation.pointer).or_else(|| violation::help(&violation));
            let help = help.unwrap_or_else(|| HELP.to_owned());
            let (holder, subject) = (format!("/profiles/{position}"), numbered(position));
            violation::file_finding(&violation, document, &holder, &subject, Some(help))
        })
        .collect()
}

fn numbered(position: usize) -> String {
    format!("profile {}", position.saturating_add(1))
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

fn overlay(mut profile: Profile, entry: ProfileEntry) -> Profile {
    macro_rules! set {
        ($($field:ident)*) => {
            $(if let Some(value) = entry.$field {
                profile.$field = value.into();
            })*
        };
    }
    set!(versions class namespace_wide of_workloads in_mesh wrappers strategy_fields dictates strategy unit list_keys);
    set!(filled priority_field weight_annotation inheritance exclusive_fields unset_modes precedence same_target);
    set!(ends paths status open targets target_fields);
    profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceId;
    use kube_json::json;

    #[test]
    fn every_kind_of_the_specification_has_one_profile() {
        let profiles = Profiles::built_in();
        let total = products::profiles().count();
        assert_eq!(total, profiles.iter().count(), "a kind is described twice");
        for (group, kinds) in [
            (
                "kuadrant.io",
                "AuthPolicy RateLimitPolicy TokenRateLimitPolicy DNSPolicy TLSPolicy",
            ),
            ("gateway.networking.k8s.io", "BackendTLSPolicy"),
            ("gateway.networking.x-k8s.io", "XBackendTrafficPolicy"),
            (
                "gateway.envoyproxy.io",
                "ClientTrafficPolicy BackendTrafficPolicy SecurityPolicy EnvoyExtensionPolicy EnvoyPatchPolicy",
            ),
            (
                "gateway.nginx.org",
                "ClientSettingsPolicy ProxySettingsPolicy RateLimitPolicy ObservabilityPolicy UpstreamSettingsPolicy SnippetsPolicy",
            ),
            (
                "networking.gke.io",
                "GCPGatewayPolicy GCPBackendPolicy HealthCheckPolicy",
            ),
            (
                "gateway.kgateway.dev",
                "TrafficPolicy BackendConfigPolicy HTTPListenerPolicy ListenerPolicy",
            ),
            ("security.istio.io", "AuthorizationPolicy RequestAuthentication"),
        ] {
            for kind in kinds.split(' ') {
                assert!(
                    !profiles.get(&GroupKind::new(group, kind)).is_empty(),
                    "{kind}.{group}"
                );
            }
        }
    }

    #[test]
    fn a_profile_counts_for_the_versions_that_it_describes() {
        let mut profiles = Profiles::built_in();
        let kind = GroupKind::new("kuadrant.io", "AuthPolicy");
        let found = |profiles: &Profiles, versions: &[&str]| {
            let versions = versions.iter().copied().collect();
            let found = profiles.find(&kind, &versions, None).unwrap();
            Profile {
                targeting: Targeting::default(),
                ..(*found).clone()
            }
        };
        let v1 = found(&profiles, &["v1"]);
        assert_eq!(found(&profiles, &["v1", "v1beta1"]), v1);
        assert_eq!(found(&profiles, &["v1beta1"]), v1.undescribed());
        profiles.insert(Profile {
            strategy: Strategy::None,
            versions: vec!["v1beta1".to_owned(), "v1beta2".to_owned()],
            ..v1.clone()
        });
        assert_eq!(found(&profiles, &["v1beta2"]).strategy, Strategy::None);
        assert_eq!(found(&profiles, &["v1"]), v1, "the one of v1 stays");
        profiles.insert(Profile {
            versions: Vec::new(),
            ..v1
        });
        assert_eq!(
            profiles.get(&kind).len(),
            1,
            "one that describes all versions replaces the others"
        );
    }

    #[test]
    fn a_label_is_compared_without_case_and_true_is_inherited() {
        let kind = GroupKind::new("colors.example.com", "ColorPolicy");
        assert_eq!(Profiles::fallback(&kind, "DIRECT").strategy, Strategy::None);
        assert_eq!(Profiles::fallback(&kind, "true").class, Class::Inherited);
        assert_eq!(Profiles::fallback(&kind, "Inherited").strategy, Strategy::Patch);
    }

    #[test]
    fn kinds_that_reject_never_merge_on_one_target_and_every_kind_has_an_end() {
        for profile in Profiles::built_in().iter() {
            assert!(!profile.ends.is_empty(), "{}", profile.kind);
            if profile.strategy == Strategy::None {
                let combines = matches!(profile.same_target, SameTarget::Merge | SameTarget::PerField);
                assert!(!combines, "{}", profile.kind);
            }
            assert!(!profile.ends.contains(&Level::GatewayClass));
        }
    }

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
