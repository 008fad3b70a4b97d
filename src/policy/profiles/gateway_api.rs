//! Gateway API's own kinds (docs/systems/gateway-api.md#policy-kinds).
//!
//! Owns: their profiles. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::Profile;
use crate::topology::Level;

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        Profile::direct("gateway.networking.k8s.io", "BackendTLSPolicy").ends(&[Level::Port]),
        Profile::direct("gateway.networking.x-k8s.io", "XBackendTrafficPolicy").ends(&[Level::Backend]),
    ]
}
