//! Reports about a policy that many clusters receive.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::Findings;
use crate::hub::Hub;
use crate::policy::cluster_outcomes::Fate;
use crate::policy::{ClusterSet, Fates, KeptAway, Outcome, Rule, StatusShape, Tally, nowhere, outcomes};
use crate::tests::{SMALL, Seen, color, color_crd, hub, limit};

const LIMITS: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";
const G: &str = "ratelimitpolicy.kuadrant.io:infra/g";

/// Policy `g` on the Gateway, and what else there is.
fn with(more: &str) -> Hub {
    let g = limit("g", "kind: Gateway, name: gw", LIMITS);
    hub(&(SMALL.to_owned() + &g + more), &[])
}

/// Policies on all routes: nothing is left of `g`.
fn on_all_routes() -> String {
    limit("r1", "kind: HTTPRoute, name: r1", LIMITS) + &limit("r2", "kind: HTTPRoute, name: r2", LIMITS)
}

fn add<'a>(fates: &mut Fates<'a>, seen: &Seen<'a>, clusters: &[&str]) {
    let clusters: Vec<String> = clusters.iter().map(ToString::to_string).collect();
    fates.add(&clusters, &seen.attachments, &seen.effective, |_| true);
}

/// Its common outcome, and the exceptions by cluster.
fn told(fates: &Fates<'_>) -> (Outcome, Vec<(String, Outcome)>) {
    let everywhere = fates.of(G).unwrap();
    let (common, _) = everywhere.common().unwrap();
    let mut exceptions: Vec<(String, Outcome)> = everywhere
        .exceptions(false)
        .iter()
        .flat_map(|(clusters, tally)| {
            clusters
                .iter()
                .map(|cluster| (cluster.to_string(), tally.outcome()))
        })
        .collect();
    exceptions.sort();
    (common, exceptions)
}

fn on(cluster: &str, outcome: Outcome) -> (String, Outcome) {
    (cluster.to_owned(), outcome)
}

#[test]
fn the_common_outcome_is_that_of_most_clusters_and_of_equally_many_where_more_holds() {
    let (alone, displaced) = (with(""), with(&on_all_routes()));
    let (alone, displaced) = (Seen::hub(&alone), Seen::hub(&displaced));
    let mut fates = Fates::default();
    add(&mut fates, &displaced, &["c1"]);
    add(&mut fates, &alone, &["c2"]);
    assert_eq!(
        told(&fates),
        (Outcome::Whole, vec![on("c1", Outcome::Overridden)]),
        "one each"
    );
    add(&mut fates, &displaced, &["c3", "c4"]);
    assert_eq!(
        told(&fates),
        (Outcome::Overridden, vec![on("c2", Outcome::Whole)]),
        "three to one, from two classes of clusters"
    );
    let (_, common) = fates.of(G).unwrap().common().unwrap();
    assert_eq!(common.keys(), ["infra/r1", "infra/r2"]);
}

#[test]
fn clusters_where_other_policies_win_are_exceptions_though_the_outcome_is_the_same() {
    let others = on_all_routes().replace("{name: r1,", "{name: other,");
    let (one, other) = (with(&on_all_routes()), with(&others));
    let (one, other) = (Seen::hub(&one), Seen::hub(&other));
    let mut fates = Fates::default();
    add(&mut fates, &one, &["c1", "c2"]);
    add(&mut fates, &other, &["c3"]);
    assert_eq!(
        told(&fates),
        (Outcome::Overridden, vec![on("c3", Outcome::Overridden)])
    );
}

#[test]
fn where_a_policy_is_on_no_path_is_never_what_is_common_while_it_is_on_one_anywhere() {
    let (alone, nowhere) = (with(""), with("").objects);
    let without_routes = nowhere.iter().filter(|object| object.kind != "HTTPRoute");
    let without_routes = Hub::of(crate::hub::Objects::new(without_routes.cloned().collect()));
    let (alone, nowhere) = (Seen::hub(&alone), Seen::hub(&without_routes));
    let mut fates = Fates::default();
    add(&mut fates, &nowhere, &["c1", "c2"]);
    assert_eq!(told(&fates), (Outcome::NoPath, Vec::new()));
    add(&mut fates, &alone, &["c3"]);
    assert_eq!(
        told(&fates),
        (
            Outcome::Whole,
            vec![on("c1", Outcome::NoPath), on("c2", Outcome::NoPath)]
        )
    );
}

#[test]
fn what_is_kept_from_a_cluster_is_overridden_there_and_nowhere_else() {
    let (alone, winner) = (with(""), with(&on_all_routes()));
    let (alone, winner) = (Seen::hub(&alone), Seen::hub(&winner));
    let winner = winner
        .attachments
        .policy(winner.id("RateLimitPolicy infra/r1"))
        .object;
    let mut fates = Fates::default();
    add(&mut fates, &alone, &["c1", "c2", "c3"]);
    // c4 receives nothing else of it.
    let mut away = KeptAway::default();
    for cluster in ["c2", "c4"] {
        away.add(&clusters(&[cluster]), (winner, true, Rule::SpokeLocal));
    }
    fates.keep_away(G, away);
    let everywhere = fates.of(G).unwrap();
    assert_eq!(
        *everywhere.clusters(),
        BTreeSet::from(["c1", "c2", "c3", "c4"].map(Arc::from))
    );
    // Where it is on a path for another target, it lost a part only.
    assert_eq!(
        told(&fates),
        (
            Outcome::Whole,
            vec![on("c2", Outcome::Partial), on("c4", Outcome::Overridden)]
        )
    );
    let exceptions = everywhere.exceptions(false);
    let lost: Vec<&Tally<'_>> = exceptions.iter().map(|(_, tally)| tally).collect();
    for tally in lost {
        assert_eq!(tally.keys(), ["infra/r1"]);
        let winner = tally.by.values().next().unwrap();
        assert!(winner.local);
        assert_eq!(winner.rules, BTreeSet::from([Rule::SpokeLocal]));
    }
}

#[test]
fn what_is_kept_from_all_clusters_has_a_fate_all_the_same() {
    let winner = with("");
    let winner = Seen::hub(&winner);
    let winner = winner.attachments.policies.rows()[0].object;
    let mut fates = Fates::default();
    assert!(fates.of("ratelimitpolicy.kuadrant.io:infra/a").is_none());
    let mut away = KeptAway::default();
    away.add(&clusters(&["c1"]), (winner, false, Rule::LaterChallenger));
    fates.keep_away("ratelimitpolicy.kuadrant.io:infra/a", away);
    let everywhere = fates.of("ratelimitpolicy.kuadrant.io:infra/a").unwrap();
    let (outcome, tally) = everywhere.common().unwrap();
    assert_eq!(outcome, Outcome::Overridden);
    assert_eq!(tally.by.keys().map(AsRef::as_ref).collect::<Vec<_>>(), [G]);
    assert!(everywhere.exceptions(false).is_empty());
}

fn clusters(names: &[&str]) -> ClusterSet {
    Arc::new(names.iter().map(|name| Arc::from(*name)).collect())
}

#[test]
fn a_policy_that_is_kept_from_a_thousand_clusters_has_one_fate_on_them() {
    let winner = with("");
    let winner = Seen::hub(&winner);
    let winner = winner.attachments.policies.rows()[0].object;
    let names: Vec<String> = (0..1000).map(|number| format!("c{number}")).collect();
    let all = clusters(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut fates = Fates::default();
    for policy in ["a", "b"] {
        let mut away = KeptAway::default();
        away.add(&all, (winner, false, Rule::LaterChallenger));
        // The one that lives on two of them comes on top.
        if policy == "b" {
            away.add(&clusters(&["c1", "c7", "x"]), (winner, true, Rule::SpokeLocal));
        }
        fates.keep_away(policy, away);
    }
    let of = |policy: &str| -> Vec<(usize, Vec<usize>)> {
        let fates = &fates.of(policy).unwrap().fates;
        let rules = |fate: &Fate<'_>| fate.total().by.values().map(|by| by.rules.len()).collect();
        fates
            .iter()
            .map(|fate| (fate.clusters.len(), rules(fate)))
            .collect()
    };
    assert_eq!(of("a"), [(1000, vec![1])]);
    assert_eq!(of("b"), [(998, vec![1]), (2, vec![2]), (1, vec![1])]);
    assert!(
        Arc::ptr_eq(&fates.of("a").unwrap().fates[0].clusters, &all),
        "shared by all policies of whom this is said"
    );
}

#[test]
fn a_policy_has_no_fate_on_no_cluster() {
    let (g, winner) = (with(""), with(""));
    let (g, winner) = (Seen::hub(&g), Seen::hub(&winner));
    let winner = winner.attachments.policies.rows()[0].object;
    let mut fates = Fates::default();
    add(&mut fates, &g, &["c1", "c2"]);
    let mut away = KeptAway::default();
    away.add(&clusters(&["c1", "c2"]), (winner, false, Rule::LaterChallenger));
    fates.keep_away(G, away);
    let everywhere = fates.of(G).unwrap();
    let on: Vec<usize> = everywhere.fates.iter().map(|fate| fate.clusters.len()).collect();
    assert_eq!(on, [2], "nothing is left of the clusters where it was");
}

/// What is reported about the outcome of policies.
fn reported(seen: &Seen<'_>, fates: &Fates<'_>) -> Vec<String> {
    let mut findings = Findings::new();
    outcomes(&seen.attachments, fates, &mut findings);
    let codes = findings.iter().map(|finding| finding.code.name().to_owned());
    codes.collect()
}

#[test]
fn a_policy_is_unreachable_only_if_it_is_on_no_path_on_any_cluster() {
    let r1 = limit("g", "kind: HTTPRoute, name: r1", LIMITS);
    let reachable = hub(&(SMALL.to_owned() + &r1), &[]);
    let loose = SMALL.replace("parentRefs: [{name: gw}]", "parentRefs: [{name: gone}]");
    let loose = hub(&(loose + &r1), &[]);
    let (reachable, loose) = (Seen::hub(&reachable), Seen::hub(&loose));
    assert_eq!(
        reported(&loose, &Fates::default()),
        ["policy/unreachable"],
        "nothing is known of any cluster"
    );
    let mut fates = Fates::default();
    add(&mut fates, &loose, &["c1"]);
    assert_eq!(reported(&loose, &fates), ["policy/unreachable"]);
    add(&mut fates, &reachable, &["c2"]);
    assert!(reported(&loose, &fates).is_empty());
}

#[test]
fn a_policy_that_a_local_one_overrides_on_its_own_target_is_not_reported_again() {
    let alone = with("");
    let alone = Seen::hub(&alone);
    let winner = alone.attachments.policies.rows()[0].object;
    for (rule, expected) in [
        (Rule::SpokeLocal, &[][..]),
        (Rule::LessSpecificOverrides, &["policy/overridden"]),
    ] {
        let mut fates = Fates::default();
        let mut away = KeptAway::default();
        away.add(&clusters(&["c1"]), (winner, true, rule));
        fates.keep_away(G, away);
        assert_eq!(reported(&alone, &fates), expected, "{rule:?}");
    }
}

#[test]
fn the_way_out_for_a_policy_on_no_path_goes_by_its_target() {
    let help = |target: &str, more: &str| {
        let text = SMALL.to_owned() + more + &color_crd("Inherited") + &color("p", target, "x: 1");
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let unreachable = seen
            .findings
            .iter()
            .find(|finding| finding.code.name() == "policy/unreachable");
        unreachable
            .and_then(|finding| finding.help.clone())
            .unwrap_or_default()
    };
    let class = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: idle}\n\
                 spec: {controllerName: kuadrant.io/mgc-gw-controller}\n";
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: alone, namespace: infra}\nspec: {ports: [{port: 80}]}\n";
    let group = "group: gateway.networking.k8s.io";
    for (target, more, way_out) in [
        (
            format!("{group}, kind: GatewayClass, name: idle"),
            class,
            "target a class or a namespace",
        ),
        (
            "group: '', kind: Service, name: alone".to_owned(),
            service,
            "if a route leads there",
        ),
    ] {
        let help = help(&target, more);
        assert!(help.starts_with(way_out), "{target}: {help}");
    }
}

#[test]
fn the_outcome_of_a_policy_on_no_cluster_is_unknown_if_its_controller_reports_any() {
    let said = nowhere("ColorPolicy", StatusShape::Ancestors).unwrap();
    assert_eq!(
        (
            said.kind.as_str(),
            said.reason.as_str(),
            said.message.to_string().as_str()
        ),
        ("Programmed", "Unknown", "ColorPolicy is on no cluster")
    );
    assert_eq!(nowhere("ColorPolicy", StatusShape::Accepted), None);
}
