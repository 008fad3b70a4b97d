//! Policies that meet on one target, on the hub or with what lives on a cluster
//! (docs/policies.md#two-policies-on-one-target).

use super::*;

#[test]
fn atomic_defaults_on_one_target_ship_the_challenger() {
    // Kuadrant's kinds: on one level atomic defaults give way to the later policy
    // (`fixtures/policy/19-rlp-same-target-no-timestamp`).
    let scratch = Scratch::with_worked_example();
    let limits = scratch.read("hub/limits.yaml");
    scratch.write("hub/other.yaml", &limits.replace("name: global", "name: another"));
    render(&scratch).says("warning[policy/same-target]");
    let shipped = work(&scratch, GATEWAY_WORK);
    assert!(
        shipped.contains("name: global") && !shipped.contains("name: another"),
        "{shipped}"
    );
}

#[test]
fn mergeable_policies_on_one_target_ship_as_one_with_all_sources() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/limits.yaml",
        "  defaults:\n",
        "  defaults:\n    strategy: merge\n",
    );
    let limits = scratch.read("hub/limits.yaml");
    scratch.write(
        "hub/other.yaml",
        &limits
            .replace("name: global", "name: zz")
            .replace("per-client", "per-host")
            .replace("limit: 100", "limit: 7"),
    );
    render(&scratch).says("warning[policy/same-target]");
    let shipped = work(&scratch, GATEWAY_WORK);
    assert_eq!(shipped.matches("kind: RateLimitPolicy").count(), 1, "{shipped}");
    assert!(
        shipped.contains("per-client") && shipped.contains("per-host"),
        "{shipped}"
    );
    assert!(
        shipped.contains("name: global"),
        "the established one's name:\n{shipped}"
    );
    assert!(
        shipped.contains("[\\\"ratelimitpolicy.kuadrant.io:gateways/global\\\",\\\"ratelimitpolicy.kuadrant.io:gateways/zz\\\"]"),
        "{shipped}"
    );
}

const LOCAL: &str = "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\n\
                     metadata: {name: mine, namespace: kuadrant-gateways}\nspec:\n\
                     \x20 targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web, sectionName: api}\n\
                     \x20 defaults: {limits: {per-client: {rates: [{limit: 5, window: 10s}]}}}\n";

/// The RFC's second user story: another rate limit for one particular cluster.
#[test]
fn a_spoke_local_policy_beats_a_synced_one_on_its_cluster_only() {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/spokes/us-1/limits.yaml", LOCAL);
    let run = scratch.run(&["render", "hub", "-o", "rendered", "--report", "report.json"]);
    run.exits(0);
    assert!(work(&scratch, GATEWAY_WORK).contains("kind: RateLimitPolicy"));
    let us = scratch.read("rendered/us-1/gateway-gateways-prod-web.yaml");
    assert!(!us.contains("RateLimitPolicy"), "{us}");
    assert!(
        !us.contains("limit: 5"),
        "what lives on a spoke is never rendered"
    );
    let report = scratch.read("report.json");
    assert!(
        report.contains("\"rule\": \"spoke-local\"") && report.contains("\"cluster\": \"us-1\""),
        "{report}"
    );
}

#[test]
fn a_merging_policy_is_shipped_without_the_rules_that_a_local_one_defines() {
    let scratch = Scratch::with_worked_example();
    let merging = LOCAL.replace("defaults: {", "defaults: {strategy: merge, ");
    scratch.write("hub/spokes/us-1/limits.yaml", &merging);
    scratch.edit(
        "hub/limits.yaml",
        "  defaults:\n",
        "  defaults:\n    strategy: merge\n",
    );
    scratch.edit(
        "hub/limits.yaml",
        "      per-client:",
        "      per-host: {rates: [{limit: 9, window: 1m}]}\n      per-client:",
    );
    let eu = rendered_work(&scratch);
    assert!(eu.contains("per-client") && eu.contains("per-host"), "{eu}");
    let us = scratch.read("rendered/us-1/gateway-gateways-prod-web.yaml");
    assert!(!us.contains("per-client") && us.contains("per-host"), "{us}");
}

/// On a cluster the two would merge if the synced one were the older, and of the local one nothing would be left if it were.
#[test]
fn a_merging_policy_stays_away_from_a_local_one_that_holds_as_a_whole() {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/spokes/us-1/limits.yaml", LOCAL);
    scratch.edit(
        "hub/limits.yaml",
        "  defaults:\n",
        "  defaults:\n    strategy: merge\n",
    );
    scratch.edit("hub/limits.yaml", "      per-client:", "      per-host:");
    let run = scratch.run(&["render", "hub", "-o", "rendered", "--report", "report.json"]);
    run.exits(0);
    assert!(work(&scratch, GATEWAY_WORK).contains("per-host"));
    let us = scratch.read("rendered/us-1/gateway-gateways-prod-web.yaml");
    assert!(!us.contains("RateLimitPolicy"), "{us}");
    let report = scratch.read("report.json");
    assert!(report.contains("\"rule\": \"spoke-local\""), "{report}");
}

/// A RateLimitPolicy on the whole Gateway of the worked example.
fn on_gateway(name: &str, created: &str, settings: &str) -> String {
    format!(
        "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\n\
         metadata: {{name: {name}, namespace: gateways, creationTimestamp: \"{created}\"}}\nspec:\n\
         \x20 targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}}\n  {settings}\n"
    )
}

const DEFAULTS: &str = "defaults: {strategy: merge, limits: {k: {rates: [{limit: 1, window: 1s}]}}}";
const OVERRIDES: &str = "overrides: {limits: {x: {rates: [{limit: 2, window: 1s}]}}}";

#[test]
fn a_default_below_overrides_that_hold_as_a_whole_is_shipped_as_an_override() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/limits.yaml",
        &on_gateway("k", "2024-01-01T00:00:00Z", DEFAULTS),
    );
    scratch.write(
        "hub/other.yaml",
        &on_gateway("x", "2024-01-02T00:00:00Z", OVERRIDES),
    );
    render(&scratch).says("warning[policy/same-target]");
    let shipped = work(&scratch, GATEWAY_WORK);
    assert_eq!(shipped.matches("kind: RateLimitPolicy").count(), 1, "{shipped}");
    assert!(
        shipped.contains("overrides:") && !shipped.contains("defaults:"),
        "{shipped}"
    );
    assert!(shipped.contains("k:") && shipped.contains("x:"), "{shipped}");
    assert!(
        shipped.contains("name: x"),
        "the name of the overrides:\n{shipped}"
    );

    // The other way round the overrides are established, and hold alone.
    scratch.write(
        "hub/limits.yaml",
        &on_gateway("k", "2024-01-03T00:00:00Z", DEFAULTS),
    );
    render(&scratch).says("this one is overridden");
    let shipped = work(&scratch, GATEWAY_WORK);
    assert!(
        shipped.contains("overrides:") && !shipped.contains("defaults:"),
        "{shipped}"
    );
    assert!(
        shipped.contains("limit: 2") && !shipped.contains("limit: 1"),
        "{shipped}"
    );
}

#[test]
fn defaults_and_overrides_that_merge_are_shipped_side_by_side() {
    let scratch = Scratch::with_worked_example();
    let overrides = OVERRIDES.replace("overrides: {", "overrides: {strategy: merge, ");
    scratch.write(
        "hub/limits.yaml",
        &on_gateway("k", "2024-01-01T00:00:00Z", DEFAULTS),
    );
    scratch.write(
        "hub/other.yaml",
        &on_gateway("x", "2024-01-02T00:00:00Z", &overrides),
    );
    render(&scratch).says("both apply, regardless of which is created first");
    let shipped = work(&scratch, GATEWAY_WORK);
    assert_eq!(shipped.matches("kind: RateLimitPolicy").count(), 2, "{shipped}");
}

#[test]
fn two_policies_that_no_objects_can_stand_for_are_an_error_with_both_outcomes() {
    let scratch = Scratch::with_worked_example();
    let bare = "limits: {k: {rates: [{limit: 5, window: 1s}]}, x: {rates: [{limit: 2, window: 1s}]}}";
    scratch.write(
        "hub/limits.yaml",
        &on_gateway("k", "2024-01-01T00:00:00Z", DEFAULTS),
    );
    scratch.write("hub/other.yaml", &on_gateway("x", "2024-01-02T00:00:00Z", bare));
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(4)
        .says("error[policy/undecided]")
        .says("hub/limits.yaml:5:")
        .says("hub/other.yaml:5:")
        .says(
            "note: if gateways/k is created first: `k`, `x` of gateways/x where no more specific policy sets anything, \
             otherwise `k` of gateways/k and what it sets",
        )
        .says("note: if gateways/x is created first: `k` of gateways/k, and what more specific policies set")
        .says(
            "help: put the settings of RateLimitPolicy gateways/x into `defaults` with `strategy: merge`, write one policy, \
             or target another section",
        );
    assert!(!scratch.exists("rendered"));
    // What the help says, done.
    let merging = format!("defaults: {{strategy: merge, {bare}}}");
    scratch.write(
        "hub/other.yaml",
        &on_gateway("x", "2024-01-02T00:00:00Z", &merging),
    );
    render(&scratch).says("warning[policy/same-target]");
}

#[test]
fn local_policies_whose_order_nothing_says_are_a_warning() {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/spokes/us-1/limits.yaml", LOCAL);
    let other = LOCAL
        .replace("name: mine", "name: yours")
        .replace("limit: 5", "limit: 6");
    scratch.write("hub/spokes/us-1/others.yaml", &other);
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(0)
        .says("warning[policy/undecided]")
        .says("depends on which is created first: both target Gateway gateways/prod-web, listener")
        .says("on cluster us-1\n")
        .says("hub/spokes/us-1/limits.yaml:3:")
        .says("help: add `metadata.creationTimestamp` as the cluster has it");
    for (file, day) in [("limits", 1), ("others", 2)] {
        let path = format!("hub/spokes/us-1/{file}.yaml");
        let dated = scratch.read(&path).replace(
            "metadata: {",
            &format!("metadata: {{creationTimestamp: \"2024-01-0{day}T00:00:00Z\", "),
        );
        scratch.write(&path, &dated);
    }
    let run = scratch.run(&["render", "hub", "-o", "again"]);
    run.exits(0);
    assert!(!run.stderr.contains("policy/undecided"), "{}", run.stderr);
}

#[test]
fn a_local_policy_on_a_listener_leaves_one_on_the_whole_gateway_in_place() {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/spokes/us-1/limits.yaml", LOCAL);
    scratch.edit("hub/limits.yaml", ", sectionName: api", "");
    render(&scratch);
    assert!(
        scratch
            .read("rendered/us-1/gateway-gateways-prod-web.yaml")
            .contains("RateLimitPolicy")
    );
}

#[test]
fn nothing_that_lives_on_a_cluster_is_overwritten() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/spokes/us-1/limits.yaml",
        &LOCAL.replace("name: mine", "name: global"),
    );
    scratch.edit("hub/limits.yaml", ", sectionName: api", "");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(3)
        .says("error[spoke/name-taken]")
        .says("hub/spokes/us-1/limits.yaml:3:");
    assert!(!scratch.exists("rendered"));
}

#[test]
fn a_synced_copy_exported_from_a_cluster_is_no_local_policy() {
    let scratch = Scratch::with_worked_example();
    let copy = LOCAL.replace(
        "{name: mine,",
        "{name: global, annotations: {kuadrant.io/policy-synced: \"true\"},",
    );
    scratch.write("hub/spokes/us-1/exported.yaml", &copy);
    render(&scratch);
    assert!(
        scratch
            .read("rendered/us-1/gateway-gateways-prod-web.yaml")
            .contains("limit: 100")
    );
}

#[test]
fn a_policy_never_has_two_contents_on_one_cluster() {
    let scratch = Scratch::with_worked_example();
    second_gateway(&scratch);
    scratch
        .edit("hub/class.yaml", "\"kuadrant.io\"", "\"colors.example.com\"")
        .edit("hub/class.yaml", "ratelimitpolicies", "colorpolicies")
        .remove("hub/limits.yaml");
    scratch.write(
        "hub/crd.yaml",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {name: colorpolicies.colors.example.com, labels: {gateway.networking.k8s.io/policy: Inherited}}\n\
         spec:\n  group: colors.example.com\n  scope: Namespaced\n\
         \x20 names: {kind: ColorPolicy, plural: colorpolicies, singular: colorpolicy, listKind: ColorPolicyList}\n\
         \x20 versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: \
         {spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {targetRefs: {type: array, items: \
         {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}}]\n",
    );
    let color = |name: &str, gateways: &[&str], color: &str| {
        let targets: Vec<String> = gateways
            .iter()
            .map(|gateway| format!("{{group: gateway.networking.k8s.io, kind: Gateway, name: {gateway}}}"))
            .collect();
        format!(
            "apiVersion: colors.example.com/v1\nkind: ColorPolicy\nmetadata: {{name: {name}, namespace: gateways}}\n\
             spec: {{targetRefs: [{}], {color}}}\n",
            targets.join(", ")
        )
    };
    scratch.write("hub/a.yaml", &color("a", &["prod-web", "admin"], "light: red"));
    scratch.write("hub/b.yaml", &color("b", &["prod-web"], "dark: brown"));
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(4)
        .says("error[policy/same-target]")
        .says("two contents on cluster eu-1")
        .says("one policy for each target");
    assert!(!scratch.exists("rendered"));
    // Where the two targets never meet, both are shipped.
    scratch.edit("hub/second.yaml", "placement: edge", "placement: us");
    let decisions = scratch.read("hub/decisions.yaml");
    scratch.write(
        "hub/us.yaml",
        &decisions
            .replace("edge", "us")
            .replace("eu-1", "ap-1")
            .replace("us-1", "ap-2"),
    );
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert!(work(&scratch, GATEWAY_WORK).contains("dark: brown"));
    assert!(
        !scratch
            .read("rendered/ap-1/gateway-gateways-admin.yaml")
            .contains("dark: brown")
    );
}
