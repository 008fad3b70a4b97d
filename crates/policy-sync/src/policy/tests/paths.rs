//! Which paths there are for the policies of a kind, and what they affect on the way.

use std::collections::BTreeSet;

use kube_json::{Value, json};

use super::super::{Options, ProfileEntry, Profiles, Reach};
use crate::tests::{SMALL, Seen, color, color_crd, hub, limit};

const GW: &str = "group: gateway.networking.k8s.io, kind: Gateway, name: gw";
const R1: &str = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: r1";
const FIRST: &str = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: r1, sectionName: first";
const LIMITS: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

/// Looks at a hub of which ColorPolicy has a profile with these fields.
fn with_profile<T>(text: &str, fields: Value, look: impl FnOnce(&Seen<'_>) -> T) -> T {
    let mut entry = json!({"group": "colors.example.com", "kind": "ColorPolicy"});
    entry
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let entry: ProfileEntry = kube_json::from_value(&entry).unwrap();
    let mut profiles = Profiles::built_in();
    profiles.configure(&entry).unwrap();
    let hub = hub(text, &[]);
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    look(&Seen::of(&hub, &options))
}

/// The paths of all kinds, from below the Gateway on.
fn labels(seen: &Seen<'_>) -> Vec<String> {
    let paths = seen.effective.iter();
    let labels = paths.map(|(_, path)| seen.attachments.topology.path_label(&path.path));
    let labels: Vec<String> = labels
        .map(|label| label.trim_start_matches("Gateway infra/gw > ").to_owned())
        .collect();
    let unique: BTreeSet<&String> = labels.iter().collect();
    assert_eq!(unique.len(), labels.len(), "each path once: {labels:?}");
    labels
}

#[test]
fn a_rule_ends_a_path_of_its_own_unless_a_direct_kind_has_one_for_the_whole_route() {
    let on = |target: &str, fields: Value| {
        let text = SMALL.to_owned() + &color("p", target, "x: 1");
        with_profile(&text, fields, labels)
    };
    let ends = |class: &str, ends: &[&str]| json!({"class": class, "ends": ends});
    let (route, first, second) = (
        "HTTPRoute infra/r1",
        "HTTPRoute infra/r1 > first",
        "HTTPRoute infra/r1 > rule-2",
    );
    let both = ["Route", "Rule"];
    assert_eq!(on(R1, ends("Direct", &both)), [route]);
    assert_eq!(on(FIRST, ends("Direct", &both)), [first]);
    assert_eq!(on(R1, ends("Direct", &["Rule"])), [first, second]);
    assert_eq!(on(R1, ends("Inherited", &both)), [route, first, second]);
}

#[test]
fn a_policy_of_a_kind_that_may_apply_to_its_namespace_does_so_only_without_a_target() {
    let of = |spec: &str| {
        let policy = format!(
            "---\napiVersion: colors.example.com/v1\nkind: ColorPolicy\nmetadata: {{name: p, namespace: infra}}\nspec: {{{spec}}}\n"
        );
        let fields = json!({"namespaceWide": true, "ends": ["Route"]});
        with_profile(&(SMALL.to_owned() + &policy), fields, labels)
    };
    assert_eq!(of("x: 1"), ["HTTPRoute infra/r1", "HTTPRoute infra/r2"]);
    assert_eq!(
        of(&format!("targetRefs: [{{{R1}}}], x: 1")),
        ["HTTPRoute infra/r1"]
    );
}

#[test]
fn a_path_to_a_backend_names_its_rule_where_a_policy_names_one() {
    let text = SMALL.to_owned() + &color_crd("Inherited") + &color("p", FIRST, "x: 1");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(seen.spec(&["gw", "r1", "r1#first", "s"]), Some(json!({"x": 1})));
    assert_eq!(
        seen.spec(&["gw", "r1", "s"]),
        None,
        "nothing is in effect on the other rule"
    );
}

#[test]
fn only_routes_that_a_kind_concerns_keep_a_path_from_ending_at_their_listener() {
    let ends_at_listeners = |text: &str| {
        let hub = hub(
            &(text.to_owned() + &limit("l", "kind: Gateway, name: gw", LIMITS)),
            &[],
        );
        let mut labels = labels(&Seen::hub(&hub));
        labels.retain(|label| !label.contains('>'));
        labels
    };
    assert_eq!(ends_at_listeners(SMALL), Vec::<String>::new());
    let others = SMALL.replace("kind: HTTPRoute", "kind: GRPCRoute");
    let targets = json!([{"group": "gateway.networking.k8s.io", "kind": "Gateway"},
        {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}]);
    let fields = json!({"targets": targets, "ends": ["Route"]});
    let found = with_profile(&(others + &color("p", GW, "x: 1")), fields, labels);
    assert_eq!(found, ["listener http", "listener https"]);
}

#[test]
fn of_kuadrants_extensions_every_listener_and_every_rule_has_a_path() {
    let policy = "---\napiVersion: extensions.kuadrant.io/v1alpha1\nkind: PlanPolicy\nmetadata: {name: p, namespace: infra}\n\
                  spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r1}, plans: []}\n";
    let hub = hub(&(SMALL.to_owned() + policy), &[]);
    let labels = labels(&Seen::hub(&hub));
    let listeners = ["http", "https"].into_iter();
    let wanted: Vec<String> = listeners
        .flat_map(|listener| {
            let rules = ["first", "rule-2"].into_iter();
            rules.map(move |rule| format!("listener {listener} > HTTPRoute infra/r1 > {rule}"))
        })
        .collect();
    assert_eq!(labels, wanted);
}

#[test]
fn routes_of_a_mesh_are_on_no_path_of_a_kind_whose_controller_serves_gateways_alone() {
    let meshed = SMALL.replace(
        "parentRefs: [{name: gw}]",
        "parentRefs: [{group: '', kind: Service, name: s}]",
    );
    let on = |in_mesh: bool| {
        let text = meshed.clone() + &color("p", R1, "x: 1");
        with_profile(&text, json!({"inMesh": in_mesh, "ends": ["Route"]}), labels)
    };
    assert_eq!(on(true), ["Service infra/s > HTTPRoute infra/r1"]);
    assert_eq!(on(false), Vec::<String>::new());
}

#[test]
fn a_policy_reaches_the_listeners_of_its_paths_and_no_others() {
    let listeners = |text: &str, policy: &str| -> Vec<String> {
        let hub = hub(text, &[]);
        let seen = Seen::hub(&hub);
        let mut reach = Reach::default();
        reach.add(&seen.attachments, &seen.effective, seen.id(policy));
        let names = reach.listeners.iter().filter_map(|name| name.rsplit('#').next());
        names.map(str::to_owned).collect()
    };
    let base = SMALL.to_owned() + &color_crd("Inherited");
    let on_route = |route: &str| base.clone() + &color("p", &R1.replace("r1", route), "x: 1");
    let color_policy = "ColorPolicy infra/p";
    assert_eq!(listeners(&on_route("r1"), color_policy), ["http", "https"]);
    assert_eq!(listeners(&on_route("r2"), color_policy), ["http"]);
    let on_listener = base.clone() + &color("p", &format!("{GW}, sectionName: https"), "x: 1");
    assert_eq!(listeners(&on_listener, color_policy), ["https"]);
}
