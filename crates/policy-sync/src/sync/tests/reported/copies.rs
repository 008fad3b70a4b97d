//! The copies of a policy on clusters, and local policies among each other.

use super::super::{locals as locals_of, received};
use super::{GW, LIMIT};
use crate::diagnostic::Findings;
use crate::policy::Options;
use crate::sync::report_local_conflicts;
use crate::tests::{hub, limit, small_with_params};

#[test]
fn each_copy_of_a_policy_goes_to_the_clusters_where_it_is_in_effect_and_names_its_sources() {
    let merging = |name: &str, limits: &str| {
        limit(
            name,
            GW,
            &format!(
                "defaults: {{strategy: merge, limits: {{{limits}: {{rates: [{{limit: 1, window: 1s}}]}}}}}}"
            ),
        )
    };
    let text = small_with_params() + &merging("a", "one") + &merging("b", "two");
    let copies = |text: &str, local: &str| {
        let hub = hub(text, &[("c2", local)]);
        received(&hub, &[("infra/gw", &["c1", "c2"])], |received| {
            let copies = received.making.variants.iter().flatten().flat_map(|variant| {
                variant.copies.iter().map(|copy| {
                    let named = copy
                        .object
                        .value
                        .pointer("/metadata/name")
                        .and_then(kube_json::Value::as_str);
                    assert_eq!(named, Some(copy.object.name.as_str()));
                    let annotations = copy.object.value.pointer("/metadata/annotations").cloned();
                    (copy.object.name.clone(), variant.clusters.join(" "), annotations)
                })
            });
            copies.collect::<Vec<_>>()
        })
    };
    let shape = |text: &str, local: &str| {
        let copies = copies(text, local).into_iter();
        copies
            .map(|(name, clusters, _)| format!("{name}: {clusters}"))
            .collect::<Vec<_>>()
    };
    let there =
        |settings: &str| limit("l", GW, settings).replace("namespace: infra", "namespace: kuadrant-infra");
    assert_eq!(shape(&text, ""), ["a: c1 c2"]);
    assert_eq!(shape(&text, &there(LIMIT)), ["a: c1"], "a local policy wins");
    let part = there("defaults: {strategy: merge, limits: {one: {rates: [{limit: 9, window: 1s}]}}}");
    assert_eq!(shape(&text, &part).len(), 2, "a local policy wins a part");
    let sources = |text: &str| {
        format!(
            "{:?}",
            copies(text, "")
                .first()
                .and_then(|(_, _, annotations)| annotations.clone())
        )
    };
    assert!(
        sources(&text).contains("ratelimitpolicy.kuadrant.io:infra/b"),
        "{}",
        sources(&text)
    );
    let alone = small_with_params() + &merging("a", "one");
    assert!(!sources(&alone).contains("infra/a"), "{}", sources(&alone));
}

#[test]
fn two_local_policies_need_their_times_where_the_older_one_decides() {
    // A kind of which the hub has no policy is none of its kinds.
    let said = |on_route: &str, locals: &str| {
        let hub = hub(&(small_with_params() + on_route), &[("c1", locals)]);
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let (options, mut findings) = (Options::default(), Findings::new());
            let there = locals_of(received.hub, received.attachments, &options, &mut findings);
            report_local_conflicts(received.attachments, &there["c1"], &mut findings);
            findings.iter().count()
        })
    };
    let time = ", creationTimestamp: \"2026-01-01T00:00:00Z\"";
    let local = |name: &str, time: &str, rates: u8| {
        let settings = format!("limits: {{l: {{rates: [{{limit: {rates}, window: 1s}}]}}}}");
        limit(name, GW, &settings).replace("namespace: infra", &format!("namespace: kuadrant-infra{time}"))
    };
    let on_route = limit("l", "kind: HTTPRoute, name: r1", LIMIT);
    for (one, other, rates, expected) in [
        ("", "", 2, 1),
        (time, "", 2, 1),
        ("", time, 2, 1),
        (time, time, 2, 0),
        ("", "", 1, 0),
    ] {
        let locals = local("a", one, 1) + &local("b", other, rates);
        assert_eq!(said(&on_route, &locals), expected, "{one} {other} {rates}");
    }
    let nginx = |name: &str, target: &str, settings: &str| {
        format!(
            "---\napiVersion: gateway.nginx.org/v1alpha1\nkind: ClientSettingsPolicy\n\
             metadata: {{name: {name}, namespace: kuadrant-infra}}\n\
             spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}, {settings}}}\n"
        )
    };
    let size = "body: {maxSize: 1m}";
    let on_route = nginx("l", "kind: HTTPRoute, name: r1", size).replace("kuadrant-infra", "infra");
    for (settings, expected) in [("body: {timeout: 1s}", 0), ("body: {maxSize: 2m}", 1)] {
        let locals = nginx("a", GW, size) + &nginx("b", GW, settings);
        assert_eq!(said(&on_route, &locals), expected, "{settings}");
    }
    let other = "limits: {m: {rates: [{limit: 1, window: 1s}]}}";
    let locals =
        local("a", "", 1) + &limit("b", GW, other).replace("namespace: infra", "namespace: kuadrant-infra");
    let on_route = limit("l", "kind: HTTPRoute, name: r1", LIMIT);
    assert_eq!(
        said(&on_route, &locals),
        1,
        "one of the two as a whole, although no limit is in both"
    );
    let rules = |rate: &str| {
        let rules = format!("rateLimit: {{local: {{rules: [{{rate: {rate}}}]}}}}");
        rules
    };
    let nginx = |name: &str, target: &str, settings: &str| {
        nginx(name, target, settings)
            .replace("ClientSettingsPolicy", "RateLimitPolicy")
            .replace("targetRef: {", "targetRefs: [{")
            .replace("}, rateLimit", "}], rateLimit")
    };
    let on_route = nginx("l", "kind: HTTPRoute, name: r1", &rules("1r/s")).replace("kuadrant-infra", "infra");
    let locals = nginx("a", GW, &rules("1r/s")) + &nginx("b", GW, &rules("2r/s"));
    assert_eq!(
        said(&on_route, &locals),
        0,
        "lists that add up, in whichever order"
    );
}
