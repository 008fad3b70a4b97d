//! Gateway API's own kinds (docs/systems/gateway-api.md#policy-kinds).

use crate::api::gateway::{GROUP, X_GROUP};
use crate::policy::profile::{Profile, StatusShape};
use crate::topology::Level;

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        kind(GROUP, "BackendTLSPolicy", Level::Port),
        kind(X_GROUP, "XBackendTrafficPolicy", Level::Backend),
    ]
}

fn kind(group: &str, kind: &str, end: Level) -> Profile {
    Profile {
        status: StatusShape::Accepted,
        ..Profile::direct(group, kind).ends(&[end])
    }
}
