//! Which policies affect a target (docs/systems/gep-713.md#discoverability).

use super::super::affecting;
use crate::tests::{SMALL, Seen, color, color_crd, hub, limit};

const LIMITS: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

fn on(kind: &str, name: &str) -> String {
    format!("group: gateway.networking.k8s.io, kind: {kind}, name: {name}")
}

/// The policies that affect what has this locator (less group), by name.
fn affected(text: &str, target: &str) -> Vec<String> {
    let hub = hub(text, &[]);
    let seen = Seen::hub(&hub);
    let affecting = affecting(&seen.attachments, &seen.effective).unwrap().into_iter();
    let there = affecting.filter(|((node, _), _)| {
        let locator = seen.attachments.topology.locator(*node);
        let name = locator.rsplit(':').next();
        name == Some(target)
    });
    let authors = there.flat_map(|(_, authors)| authors);
    let mut names: Vec<String> = authors
        .map(|author| seen.attachments.authored(author).object.name.to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn a_policy_that_is_wholly_overridden_at_its_target_does_not_affect_it() {
    let text = SMALL.to_owned()
        + &color_crd("Inherited")
        + &color("g", &on("Gateway", "gw"), "overrides: {strategy: atomic, x: 1}")
        + &color("r", &on("HTTPRoute", "r1"), "y: 1");
    assert_eq!(affected(&text, "infra/r1"), ["g"]);
    assert_eq!(affected(&text, "infra/gw"), ["g"]);
}

#[test]
fn kuadrant_lists_a_policy_that_is_overridden_as_well() {
    let text = SMALL.to_owned()
        + &limit(
            "g",
            "kind: Gateway, name: gw",
            &format!("overrides: {{{LIMITS}}}"),
        )
        + &limit("r", "kind: HTTPRoute, name: r1", LIMITS);
    assert_eq!(affected(&text, "infra/r1"), ["g", "r"]);
}

#[test]
fn what_no_gateway_leads_to_is_affected_by_what_targets_it() {
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: alone, namespace: infra}\nspec: {ports: [{port: 80}]}\n";
    let text = SMALL.to_owned()
        + service
        + &color_crd("Direct")
        + &color("s", "group: '', kind: Service, name: alone", "x: 1");
    assert_eq!(affected(&text, "infra/alone"), ["s"]);
}
