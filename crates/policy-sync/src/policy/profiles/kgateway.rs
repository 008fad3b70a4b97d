//! kgateway (docs/systems/other-policies.md#kgateway): labeled Direct, but behaves like Inherited; for each top-level
//! field, the more specific policy wins.
//!
//! Owns: the profiles of `gateway.kgateway.dev`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{
    Inheritance, MergeUnit, Precedence, Profile, SameTarget, StatusShape, Strategy, Wrappers,
};
use crate::topology::Level;

const GROUP: &str = "gateway.kgateway.dev";

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        Profile {
            // kgateway-dev/kgateway pkg/kgateway/extensions2/plugins/trafficpolicy/merge.go@22423a253df5e9977427bdda8d09454b36803b95
            unit: MergeUnit::Fields(vec!["/rateLimit".to_owned()]),
            inheritance: Some(Inheritance {
                annotation: "kgateway.dev/inherited-policy-priority".to_owned(),
                deep: vec!["/transformation".to_owned()],
                providers: vec!["/extAuth".to_owned(), "/extProc".to_owned()],
            }),
            ..kind("TrafficPolicy", Level::Rule)
        },
        kind("HTTPListenerPolicy", Level::Listener),
        kind("ListenerPolicy", Level::Listener),
        kind("BackendConfigPolicy", Level::Backend),
    ]
}

/// Of several policies the fields at the top merge, on one level and from level to level.
fn kind(kind: &str, end: Level) -> Profile {
    Profile {
        status: StatusShape::Kgateway,
        weight_annotation: Some("kgateway.dev/policy-weight".to_owned()),
        ..Profile::inherited(GROUP, kind)
            .wrapped(Wrappers::Bare, None)
            .merges(Strategy::Patch, MergeUnit::Fields(Vec::new()))
            .same_target(SameTarget::Merge, Precedence::OldestWins)
            .ends(&[end])
    }
}
