//! The effective policies of NGINX Gateway Fabric, kgateway, and GKE, and the reports of their controllers
//! (docs/systems/other-policies.md).

use super::super::{Profiles, StatusShape};
use apimachinery::GroupKind;

#[test]
fn each_controller_reports_in_its_own_form_and_a_version_without_a_profile_too() {
    use StatusShape::{Accepted, EnvoyGateway, Kgateway, Kuadrant, Nothing};
    let profiles = Profiles::built_in();
    for (group, kind, status, in_mesh) in [
        ("gateway.networking.k8s.io", "BackendTLSPolicy", Accepted, true),
        ("gateway.nginx.org", "ClientSettingsPolicy", Accepted, false),
        ("gateway.kgateway.dev", "TrafficPolicy", Kgateway, false),
        (
            "gateway.envoyproxy.io",
            "BackendTrafficPolicy",
            EnvoyGateway,
            false,
        ),
        ("kuadrant.io", "DNSPolicy", Kuadrant, false),
        ("kuadrant.io", "AuthPolicy", Kuadrant, false),
        ("extensions.kuadrant.io", "OIDCPolicy", Kuadrant, false),
        ("security.istio.io", "AuthorizationPolicy", Nothing, true),
    ] {
        for profile in profiles.get(&GroupKind::new(group, kind)) {
            assert_eq!((profile.status, profile.in_mesh), (status, in_mesh), "{kind}");
            let undescribed = profile.undescribed();
            assert_eq!(
                (undescribed.status, undescribed.in_mesh),
                (status, in_mesh),
                "{kind}"
            );
        }
        assert!(!profiles.get(&GroupKind::new(group, kind)).is_empty(), "{kind}");
    }
}
