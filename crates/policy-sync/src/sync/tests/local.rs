//! Policies that live on a cluster, beside those that it receives.

use super::received;
use super::spokes::{local, on};
use crate::policy::{EffectivePolicies, Rule};
use crate::tests::{hub, limit, small_with_params};

const GW: &str = "kind: Gateway, name: gw";
const LIMIT: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

/// Defaults that merge, with one limit.
fn merging(name: &str) -> String {
    format!("defaults: {{strategy: merge, limits: {{{name}: {{rates: []}}}}}}")
}

#[test]
fn a_local_policy_needs_no_grant_for_a_gateway_of_another_namespace() {
    let elsewhere = limit(
        "away",
        "kind: Gateway, name: gw, namespace: kuadrant-infra",
        LIMIT,
    )
    .replace("{name: away, namespace: infra}", "{name: away, namespace: apps}");
    let hub = hub(&small_with_params(), &[("c1", &elsewhere)]);
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        on(received, "c1", |there| {
            let id = there.policies.ids().next().unwrap();
            assert!(!there.policy(id).nodes().is_empty(), "it is attached");
        });
    });
}

#[test]
fn a_local_policy_overrides_a_synced_one_of_its_target_by_where_it_lives() {
    let hub = hub(
        &(small_with_params() + &limit("g", GW, &merging("l"))),
        &[("c1", &local("special", &merging("m")))],
    );
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        on(received, "c1", |there| {
            let effective = EffectivePolicies::new(there, &apimachinery::Work::default());
            let (_, path) = effective.iter().next().unwrap();
            let author = |local: bool| {
                let (id, policy) = there
                    .policies
                    .iter()
                    .find(|(_, policy)| policy.local == local)
                    .unwrap();
                policy.authors(id).next().unwrap().0
            };
            let rule = |winner: bool, loser: bool| path.effective.rule(there, author(winner), author(loser));
            assert_eq!(rule(true, false), Some(Rule::SpokeLocal));
            assert_ne!(rule(false, true), Some(Rule::SpokeLocal));
            assert_ne!(
                rule(true, true),
                Some(Rule::SpokeLocal),
                "of two local ones, as of any two"
            );
        });
    });
}

#[test]
fn a_cluster_whose_local_policy_takes_nothing_away_gets_what_all_others_get() {
    let text = small_with_params() + &limit("g", GW, &merging("l"));
    let other = local("other", &merging("m"));
    let hub = hub(&text, &[("c1", &other)]);
    received(&hub, &[("infra/gw", &["c1", "c2"])], |received| {
        let target = &received.synced.objects[0].targets[0];
        assert!(
            target.instead.is_empty() && target.withheld_from.is_empty(),
            "{target:?}"
        );
    });
}
