//! What is known about one kind.
//!
//! Owns: a row of the table, and reading it from a CRD or from the catalog. Flows in: CRDs, the catalog. Flows out:
//! [`KindInfo`]s. Must not know: which kinds exist.

use std::borrow::Cow;

use crate::api::catalog::Entry;
use crate::api::crd::{Crd, PolicyLabel, Scope};
use crate::object::Object;

/// Which target references the `spec` of a kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetFields {
    /// `spec.targetRef`.
    pub target_ref: bool,
    /// `spec.targetRefs`.
    pub target_refs: bool,
    /// `spec.targetSelectors`.
    pub target_selectors: bool,
}

impl TargetFields {
    /// Whether there is any: only then can objects of the kind be policies.
    pub const fn any(self) -> bool {
        self.target_ref || self.target_refs || self.target_selectors
    }
}

/// Where a row of the table comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindSource {
    /// The built-in table, or the catalog.
    BuiltIn,
    /// A CRD of the input.
    Crd,
}

/// The facts about a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindInfo {
    /// API group, `""` for core.
    pub group: Cow<'static, str>,
    /// Kind.
    pub kind: Cow<'static, str>,
    /// Resource name in URLs, such as `gateways`.
    pub plural: Cow<'static, str>,
    /// Scope.
    pub scope: Scope,
    /// Served versions, those of the table in the order of preference.
    pub versions: Vec<Cow<'static, str>>,
    /// Target references of its spec, in any served version.
    pub targets: TargetFields,
    /// Whether its spec has `parentRefs`, in any served version: only then can its objects be routes.
    pub parent_refs: bool,
    /// The value of its policy label, for CRDs of the input.
    pub policy_label: Option<PolicyLabel>,
    /// Where this comes from.
    pub source: KindSource,
}

impl KindInfo {
    /// Whether objects of this kind can attach to a Gateway by target reference.
    pub const fn is_policy(&self) -> bool {
        self.targets.any() || self.policy_label.is_some()
    }

    /// The entry of the parameters for an object of this kind: in its version, or in the first that is served, as others
    /// would be refused there.
    pub fn listed(&self, object: &Object) -> String {
        let mut versions = self.versions.iter();
        let own = &object.api_version.version;
        let version = versions.find(|served| *served == own).or(self.versions.first());
        let version = version.map_or(own.as_str(), AsRef::as_ref);
        let (group, plural) = (&self.group, &self.plural);
        format!("{{\"group\": \"{group}\", \"version\": \"{version}\", \"resource\": \"{plural}\"}}")
    }

    /// Whether a version is served.
    pub fn serves(&self, version: &str) -> bool {
        self.versions.iter().any(|served| served == version)
    }
}

impl From<&'static Entry> for KindInfo {
    fn from(entry: &'static Entry) -> Self {
        Self {
            group: entry.group.into(),
            kind: entry.kind.into(),
            plural: entry.plural.into(),
            scope: entry.scope(),
            versions: entry.served_versions().map(Cow::from).collect(),
            targets: TargetFields {
                target_ref: entry.has_reference("targetRef"),
                target_refs: entry.has_reference("targetRefs"),
                target_selectors: entry.has_reference("targetSelectors"),
            },
            parent_refs: entry.has_reference("parentRefs"),
            // A label of a kind is only a hint: kinds of the catalog have profiles.
            policy_label: None,
            source: KindSource::BuiltIn,
        }
    }
}

impl From<&Crd> for KindInfo {
    fn from(crd: &Crd) -> Self {
        let has = |field: &str| {
            crd.versions
                .iter()
                .filter(|version| version.served)
                .filter_map(|version| version.schema.as_ref())
                .any(|schema| schema.has_field(&["spec", field]))
        };
        Self {
            group: crd.group.clone().into(),
            kind: crd.kind.clone().into(),
            plural: crd.plural.clone().into(),
            scope: crd.scope,
            versions: crd
                .served_versions()
                .map(|version| version.to_owned().into())
                .collect(),
            targets: TargetFields {
                target_ref: has("targetRef"),
                target_refs: has("targetRefs"),
                target_selectors: has("targetSelectors"),
            },
            parent_refs: has("parentRefs"),
            policy_label: PolicyLabel::of(crd),
            source: KindSource::Crd,
        }
    }
}
