//! kgateway (docs/systems/other-policies.md#kgateway): labeled Direct, but behaves like Inherited; for each top-level
//! field, the more specific policy wins.

use crate::policy::profile::{
    Inheritance, ListKey, MergeUnit, Precedence, Profile, SameTarget, StatusShape, Strategy, Wrappers, owned,
};
use crate::topology::Level;

pub(in crate::policy) const GROUP: &str = "gateway.kgateway.dev";

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        Profile {
            // kgateway-dev/kgateway pkg/kgateway/extensions2/plugins/trafficpolicy/merge.go@22423a253df5e9977427bdda8d09454b36803b95
            unit: MergeUnit::Fields(owned(&["/rateLimit", "/compression"])),
            inheritance: Some(Inheritance {
                annotation: "kgateway.dev/inherited-policy-priority".to_owned(),
                deep: vec!["/transformation".to_owned()],
                providers: vec!["/extAuth".to_owned(), "/extProc".to_owned()],
            }),
            ..kind("TrafficPolicy", Level::Rule)
        },
        kind("HTTPListenerPolicy", Level::Listener),
        Profile {
            // Also within a port's own settings: kgateway-dev/kgateway pkg/kgateway/extensions2/plugins/listenerpolicy/merge.go@2c302a02413c89ac0a27032c4101c42dde7a206e
            unit: MergeUnit::Fields(owned(&[
                "/default",
                "/default/httpSettings",
                "/default/tcpSettings",
                "/perPort/*/listener",
                "/perPort/*/listener/httpSettings",
                "/perPort/*/listener/tcpSettings",
            ])),
            list_keys: vec![ListKey::keyed("/perPort", "port")],
            ..kind("ListenerPolicy", Level::Listener)
        },
        // 2.3 lets one after the other write over the cluster, in an order that nothing says; a later main merges their
        // fields: kgateway-dev/kgateway pkg/kgateway/extensions2/plugins/backendconfigpolicy/merge.go@934d0c38d3c7d1a9418ae74cc766b6f6f3fa61f4
        kind("BackendConfigPolicy", Level::Backend).same_target(SameTarget::Unknown, Precedence::OldestWins),
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
