//! NGINX Gateway Fabric (docs/systems/other-policies.md#nginx-gateway-fabric): policies of one target add up as long as no
//! two of them set one field.

use crate::policy::profile::{
    Class, ListKey, MergeUnit, Precedence, Profile, SameTarget, StatusShape, Strategy, Wrappers, owned,
};
use crate::topology::Level;
use apimachinery::GroupKind;

const GROUP: &str = "gateway.nginx.org";

pub(super) fn profiles() -> Vec<Profile> {
    let client = [
        "/body/maxSize",
        "/body/timeout",
        "/keepAlive/minTimeout",
        "/keepAlive/requests",
        "/keepAlive/time",
        "/keepAlive/timeout",
    ];
    let proxy = [
        "/buffering/disable",
        "/buffering/bufferSize",
        "/buffering/buffers",
        "/buffering/busyBuffersSize",
        "/timeout/connect",
        "/timeout/read",
        "/timeout/send",
    ];
    let limits = [
        "/rateLimit/dryRun",
        "/rateLimit/logLevel",
        "/rateLimit/rejectCode",
    ];
    let upstream = [
        "/hashMethodKey",
        "/keepAlive/connections",
        "/keepAlive/requests",
        "/keepAlive/time",
        "/keepAlive/timeout",
        "/loadBalancingMethod",
        "/zoneSize",
    ];
    vec![
        inherited("ClientSettingsPolicy", &client),
        inherited("ProxySettingsPolicy", &proxy),
        Profile {
            list_keys: vec![ListKey::all("/rateLimit/local/rules")],
            ..inherited("RateLimitPolicy", &limits)
        },
        Profile {
            status: StatusShape::Ancestors,
            ..unknown(inherited("WAFPolicy", &[]))
        },
        unknown(inherited("PayloadProcessor", &[])),
        direct("ObservabilityPolicy", &["/tracing"], Level::Route),
        Profile {
            list_keys: vec![ListKey::all("/snippets")],
            ..direct("SnippetsPolicy", &[], Level::Gateway)
        },
        unknown(direct("ExternalLoadBalancer", &[], Level::Gateway)),
        direct("UpstreamSettingsPolicy", &upstream, Level::Backend),
    ]
}

/// The controller refuses no second policy, and nothing says what it makes of two.
fn unknown(profile: Profile) -> Profile {
    profile.same_target(SameTarget::Unknown, Precedence::OldestWins)
}

fn inherited(kind: &str, exclusive: &[&str]) -> Profile {
    of_class(Class::Inherited, kind, exclusive).ends(&[Level::Gateway, Level::Route])
}

fn direct(kind: &str, exclusive: &[&str], end: Level) -> Profile {
    of_class(Class::Direct, kind, exclusive).ends(&[end])
}

/// Of several policies on one target each adds what it sets; of two that set one of `exclusive` the newer is refused.
fn of_class(class: Class, kind: &str, exclusive: &[&str]) -> Profile {
    Profile {
        status: StatusShape::Accepted,
        exclusive_fields: owned(exclusive),
        ..Profile::from_class(&GroupKind::new(GROUP, kind), class)
            .wrapped(Wrappers::Bare, None)
            .merges(Strategy::Patch, MergeUnit::JsonMergePatch)
            .same_target(SameTarget::PerField, Precedence::OldestWins)
    }
}
