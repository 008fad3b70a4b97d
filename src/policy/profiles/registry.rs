//! The profiles by kind.
//!
//! Owns: [`Profiles`], the built-in ones, and what counts for a labelled kind without one.
//! Flows in: the files of the products. Flows out: profiles. Must not know: the configuration, objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{envoy_gateway, gateway_api, gke, istio, kgateway, kuadrant, nginx};
use crate::policy::profile::{Class, Profile};
use apimachinery::GroupKind;

const BUILT_IN: [fn() -> Vec<Profile>; 7] = [
    envoy_gateway::profiles,
    gateway_api::profiles,
    gke::profiles,
    istio::profiles,
    kgateway::profiles,
    kuadrant::profiles,
    nginx::profiles,
];

/// Profiles by group and kind: the built-in ones, corrected and completed by the configuration.
#[derive(Debug, Clone)]
pub struct Profiles {
    by_kind: BTreeMap<GroupKind, Arc<Profile>>,
}

impl Default for Profiles {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Profiles {
    /// Those that need no configuration.
    #[must_use]
    pub fn built_in() -> Self {
        let by_kind = BUILT_IN
            .iter()
            .flat_map(|profiles| profiles())
            .map(|profile| (profile.group_kind(), Arc::new(profile)))
            .collect();
        Self { by_kind }
    }

    /// Adds a profile, or replaces the one of the same kind.
    pub fn insert(&mut self, profile: Profile) {
        self.by_kind.insert(profile.group_kind(), Arc::new(profile));
    }

    /// The profile of a kind, if it has one of its own.
    #[must_use]
    pub fn get(&self, kind: &GroupKind) -> Option<&Arc<Profile>> {
        self.by_kind.get(kind)
    }

    /// All kinds with a profile, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.by_kind.values()
    }

    /// The profile of a labelled kind without one of its own: `class` is the label's value, compared without
    /// case; `true` and anything else counts as Inherited, the superset (GEP-713).
    #[must_use]
    pub fn fallback(kind: &GroupKind, class: &str) -> Profile {
        if class.eq_ignore_ascii_case("direct") {
            Profile::direct(&kind.group, &kind.kind)
        } else {
            Profile::inherited(&kind.group, &kind.kind)
        }
    }

    /// The profile of a kind whose class is known from elsewhere.
    #[must_use]
    pub fn of_class(kind: &GroupKind, class: Class) -> Profile {
        match class {
            Class::Direct => Profile::direct(&kind.group, &kind.kind),
            Class::Inherited => Profile::inherited(&kind.group, &kind.kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::profile::{SameTarget, Strategy};
    use crate::topology::Level;

    #[test]
    fn every_kind_of_the_specification_has_one_profile() {
        let profiles = Profiles::built_in();
        let total: usize = BUILT_IN.iter().map(|profiles| profiles().len()).sum();
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
                    profiles.get(&GroupKind::new(group, kind)).is_some(),
                    "{kind}.{group}"
                );
            }
        }
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
                assert_eq!(profile.same_target, SameTarget::Reject, "{}", profile.kind);
            }
            assert!(!profile.ends.contains(&Level::GatewayClass));
        }
    }
}
