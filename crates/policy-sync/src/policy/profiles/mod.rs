//! The profiles by kind: built in, one file per product, from the configuration, or learned from CRDs.

mod config;
pub(super) mod envoy_gateway;
mod gateway_api;
mod gke;
mod istio;
pub(super) mod kgateway;
mod kuadrant;
mod nginx;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use apimachinery::{GroupKind, Work};

use super::profile::Profile;
use super::targeting::{Says, Targeting, known_targets};
use crate::api::crd::Crd;
use crate::api::{catalog, targeting as api};

pub use config::{ProfileEntry, configure};

/// The profiles of a product, and whether it serves routes of a mesh, whose parent is a Service.
type Product = (fn() -> Vec<Profile>, bool);

const BUILT_IN: [Product; 7] = [
    (envoy_gateway::profiles, false),
    (gateway_api::profiles, true),
    (gke::profiles, false),
    (istio::profiles, true),
    (kgateway::profiles, false),
    (kuadrant::profiles, false),
    (nginx::profiles, false),
];

/// Profiles by group and kind: the built-in ones, corrected and completed by the configuration.
#[derive(Debug, Clone)]
pub struct Profiles {
    /// Of one kind, each describes other versions; the last one added counts first.
    by_kind: BTreeMap<GroupKind, Vec<Arc<Profile>>>,
    /// The targets that the definitions of the input allow, by kind and version.
    defined: BTreeMap<GroupKind, BTreeMap<String, api::Targeting>>,
    /// The answers so far: every spoke asks the same questions.
    found: Arc<RwLock<BTreeMap<Asked, Option<Arc<Profile>>>>>,
}

/// A kind, its versions in use, and the label of its definition.
type Asked = (GroupKind, Vec<String>, Option<String>);

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
        for (of_product, in_mesh) in BUILT_IN {
            for profile in of_product() {
                profiles.insert(Profile { in_mesh, ..profile });
            }
        }
        profiles
    }

    /// Adds a profile, or replaces those of the same kind that describe nothing else.
    fn insert(&mut self, profile: Profile) {
        self.found = Arc::default();
        let of_kind = self.by_kind.entry(profile.group_kind()).or_default();
        let replaces = |other: &Profile| match (profile.versions.as_slice(), other.versions.as_slice()) {
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
            let targeting = api::Targeting::of_schema(version.schema.as_ref()?, &written.kinds, work)?;
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
        let asked: Asked = (kind.clone(), versions_asked, label.map(str::to_owned));
        let known = self.found.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&asked) {
            return found.clone();
        }
        drop(known);
        let found = self.made(kind, versions, label);
        let mut known = self.found.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(asked, found.clone());
        found
    }

    fn made(&self, kind: &GroupKind, versions: &BTreeSet<&str>, label: Option<&str>) -> Option<Arc<Profile>> {
        let of_kind = self.get(kind);
        let describes = |profile: &&Arc<Profile>| versions.iter().any(|version| profile.describes(version));
        let mut profile = match of_kind.iter().find(describes) {
            Some(profile) => (**profile).clone(),
            None => match of_kind.first() {
                Some(profile) => profile.undescribed(),
                None => Self::fallback(kind, label?),
            },
        };
        profile.targeting = profile.targeting.over(self.targeting(kind, versions));
        Some(Arc::new(profile))
    }

    /// The targets that policies of a kind may name: by the definition in the input, else by the catalog's, and if that
    /// accepts any kind, by its controller or documentation.
    fn targeting(&self, kind: &GroupKind, versions: &BTreeSet<&str>) -> Targeting {
        let of_catalog = catalog::find(&kind.group, &kind.kind);
        let in_catalog = |version: &&str| {
            let entry = of_catalog?;
            Some((entry.targeting(version)?, Says::Catalog(entry.product(version)?)))
        };
        let catalogued = versions.iter().filter_map(in_catalog).reduce(either);
        let Some(defined) = self.defined.get(kind) else {
            return Targeting::new(catalogued, known_targets(kind));
        };
        let defined = versions.iter().filter_map(|version| defined.get(*version));
        let defined = defined.map(|targeting| (targeting.clone(), Says::Definition));
        let defined = defined.reduce(either);
        match (&defined, catalogued) {
            // Another release may accept more than the one in the catalog, so the catalog shows only what is known to
            // be accepted.
            (Some((of_input, _)), Some((ours, _)))
                if !of_input.named.is_restricted && ours.named.is_restricted =>
            {
                Targeting::new(defined, None).with_known(ours)
            }
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
        if class.eq_ignore_ascii_case("direct") {
            Profile::direct(&kind.group, &kind.kind)
        } else {
            Profile::inherited(&kind.group, &kind.kind)
        }
    }
}

/// What two versions of a kind that are in use say: each is some policy's.
fn either(one: (api::Targeting, Says), other: (api::Targeting, Says)) -> (api::Targeting, Says) {
    (one.0.or(other.0), one.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::profile::{Class, SameTarget, Strategy};
    use crate::topology::Level;

    #[test]
    fn every_kind_of_the_specification_has_one_profile() {
        let profiles = Profiles::built_in();
        let total: usize = BUILT_IN.iter().map(|(profiles, _)| profiles().len()).sum();
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
            ..v1.clone().versions(&["v1beta1", "v1beta2"])
        });
        assert_eq!(found(&profiles, &["v1beta2"]).strategy, Strategy::None);
        assert_eq!(found(&profiles, &["v1"]), v1, "the one of v1 stays");
        profiles.insert(v1.versions(&[]));
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
}
