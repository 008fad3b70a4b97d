//! Which policies of a path are merged at all.
//!
//! Owns: this decision, by kind. Flows in: the policies on each level of a path. Flows out: the levels that are merged.
//! Must not know: how anything is merged, the settings of the policies.

use super::layer::Entry;
use super::profile::Dictates;
use crate::topology::Level;

/// The levels of a path, least specific first, whose policies are merged at its end.
///
/// Where the most specific policy dictates, it meets the closest one on the other side of the border between Gateway and
/// route. Never does a rule's policy meet that of its route, nor that of a listener the one of its Gateway
/// (docs/systems/envoy-gateway.md#merge-types).
pub(super) fn meeting<'l>(
    dictates: Dictates,
    levels: impl DoubleEndedIterator<Item = (Level, &'l [Entry])>,
) -> Vec<&'l [Entry]> {
    match dictates {
        Dictates::Established => levels.map(|(_, entries)| entries).collect(),
        Dictates::Challenger => {
            let mut from_leaf = levels.rev();
            let Some((level, dictating)) = from_leaf.next() else {
                return Vec::new();
            };
            let closest = from_leaf
                .find(|(above, _)| is_of_gateway(*above) != is_of_gateway(level))
                .map(|(_, entries)| entries);
            closest.into_iter().chain([dictating]).collect()
        }
    }
}

/// Whether a level is on the Gateway's side of a path.
pub(super) const fn is_of_gateway(level: Level) -> bool {
    match level {
        Level::Mesh
        | Level::GatewayClass
        | Level::GatewayNamespace
        | Level::Gateway
        | Level::Listener
        | Level::Service => true,
        Level::RouteNamespace
        | Level::Route
        | Level::Rule
        | Level::BackendNamespace
        | Level::Backend
        | Level::Port => false,
    }
}
