//! Targets, and what is wrong with them.

use super::super::Options;
use crate::outcome::EffectiveEntry;
use crate::tests::{SMALL, Seen, hub, limit};

const LIMITS: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

#[test]
fn reach_counts_what_a_policy_affects_and_deleting_it_brings_back_what_it_displaced() {
    let text = SMALL.to_owned()
        + &limit("g", "kind: Gateway, name: gw", &format!("defaults: {{{LIMITS}}}"))
        + &limit("r", "kind: HTTPRoute, name: r1", "limits: {m: {rates: []}}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let mut reach = super::super::Reach::default();
    reach.add(
        &seen.attachments,
        &seen.effective,
        seen.id("RateLimitPolicy infra/g"),
    );
    assert_eq!(
        (reach.gateways.len(), reach.listeners.len(), reach.routes.len()),
        (1, 2, 2)
    );
    let gone = seen.attachments.policy(seen.id("RateLimitPolicy infra/r")).object;
    let options = Options {
        without: Some(&gone.identity()),
        ..Options::default()
    };
    let (before, after) = (seen.report(), Seen::of(&hub, &options).report());
    assert_eq!(before.effective.len(), after.effective.len());
    let both = before.effective.iter().zip(&after.effective);
    let changed: Vec<_> = both.filter(|(before, after)| before != after).collect();
    assert_eq!(changed.len(), 4, "two rules of r1 on two listeners");
    for (before, after) in changed {
        assert_eq!(before.path, after.path);
        let limits = |entry: &EffectiveEntry| {
            entry
                .result
                .rules
                .as_ref()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (limits(before), limits(after)),
            (vec!["m".to_owned()], vec!["l".to_owned()])
        );
    }
}
