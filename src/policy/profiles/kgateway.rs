//! kgateway (docs/systems/other-policies.md#kgateway): labelled Direct, behaves like Inherited; the more
//! specific wins per field.
//!
//! Owns: the profiles of `gateway.kgateway.dev`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{MergeUnit, Precedence, Profile, SameTarget, Strategy, Wrappers};
use crate::topology::Level;

const GROUP: &str = "gateway.kgateway.dev";

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        kind("TrafficPolicy", Level::Rule),
        kind("HTTPListenerPolicy", Level::Listener),
        kind("ListenerPolicy", Level::Listener),
        kind("BackendConfigPolicy", Level::Backend),
    ]
}

fn kind(kind: &str, end: Level) -> Profile {
    Profile::inherited(GROUP, kind)
        .wrapped(Wrappers::Bare, None)
        .merges(Strategy::Patch, MergeUnit::JsonMergePatch)
        .same_target(SameTarget::Merge, Precedence::OldestWins)
        .ends(&[end])
}
