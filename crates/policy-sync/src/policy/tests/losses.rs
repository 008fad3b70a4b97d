//! Which settings of a policy count as lost on a path, and to whom.

use std::collections::BTreeSet;

use kube_json::{Value, json};

use super::super::{AuthoredId, Loss, Options, PolicyId, ProfileEntry, Profiles};
use crate::hub::RowId as _;
use crate::tests::{SMALL, Seen, color, color_crd, hub};

const GW: &str = "group: gateway.networking.k8s.io, kind: Gateway, name: gw";
const R2: &str = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: r2";

/// `policy key: winners` of everything that is lost on any path of a hub, to whom a profile may be added.
fn lost(text: &str, entry: Option<Value>) -> Vec<String> {
    let mut profiles = Profiles::built_in();
    if let Some(entry) = entry {
        let entry: ProfileEntry = kube_json::from_value(&entry).unwrap();
        profiles.configure(&entry).unwrap();
    }
    let hub = hub(text, &[]);
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    let seen = Seen::of(&hub, &options);
    let name = |id: AuthoredId| seen.attachments.policy(id.policy).object.name.as_str();
    let losses = seen
        .effective
        .iter()
        .flat_map(|(_, path)| path.effective.losses.iter());
    let told: BTreeSet<String> = losses
        .map(|loss| {
            let by: Vec<&str> = loss.by.iter().map(|winner| name(*winner)).collect();
            format!("{} {}: {}", name(loss.policy), loss.key, by.join(" "))
        })
        .collect();
    told.into_iter().collect()
}

/// A ColorPolicy on the Gateway and one on a route of its.
fn colors(above: &str, below: &str) -> String {
    SMALL.to_owned() + &color_crd("Inherited") + &color("g", GW, above) + &color("r", R2, below)
}

#[test]
fn a_field_that_became_a_mapping_of_another_policy_is_lost_and_an_empty_mapping_that_was_filled_is_not() {
    assert_eq!(lost(&colors("a: 1", "a: {b: 2}"), None), ["g /a: r"]);
    assert!(lost(&colors("a: {}", "a: {b: 2}"), None).is_empty());
    assert!(lost(&colors("a: {c: 1}", "a: {b: 2}"), None).is_empty());
}

#[test]
fn everything_is_lost_to_settings_that_hold_as_a_whole() {
    let atomic = "overrides: {strategy: atomic, x: 1}";
    for unit in [json!("JsonMergePatch"), json!({"Fields": ["/a"]})] {
        let entry = json!({"group": "colors.example.com", "kind": "ColorPolicy", "unit": unit});
        for below in ["z: 2", "z: {}"] {
            assert_eq!(
                lost(&colors(atomic, below), Some(entry.clone())),
                ["r /z: g"],
                "{unit} {below}"
            );
        }
    }
}

#[test]
fn a_field_that_was_merged_with_another_lives_on_below_its_name() {
    let entry = json!({"group": "colors.example.com", "kind": "ColorPolicy", "unit": {"Fields": ["/a"]}});
    let text = colors("a: {b: 1, c: 1}", "a: {b: 2}");
    assert_eq!(lost(&text, Some(entry)), ["g /a/b: r"]);
}

/// Two BackendTrafficPolicies, of which that of the route merges with that of the Gateway.
fn merged(above: &str, below: &str, entry: Option<Value>) -> Vec<String> {
    let traffic = |name: &str, target: &str, settings: &str| {
        format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n\
             metadata: {{name: {name}, namespace: infra}}\nspec: {{targetRefs: [{{{target}}}], {settings}}}\n"
        )
    };
    let below = format!("mergeType: StrategicMerge, {below}");
    lost(
        &(SMALL.to_owned() + &traffic("g", GW, above) + &traffic("r", R2, &below)),
        entry,
    )
}

#[test]
fn of_a_list_that_merges_by_a_key_a_policy_loses_only_what_another_sets_in_the_same_element() {
    let websocket = |terminate: bool| format!("{{type: websocket, connect: {{terminate: {terminate}}}}}");
    let above = format!("httpUpgrade: [{{type: other}}, {}]", websocket(true));
    assert_eq!(
        merged(&above, &format!("httpUpgrade: [{}]", websocket(false)), None),
        ["g /httpUpgrade: r"]
    );
    assert!(merged(&above, "httpUpgrade: [{type: websocket}]", None).is_empty());
    assert!(merged(&above, "httpUpgrade: [{type: new}]", None).is_empty());
    let lists =
        json!([{"pointer": "/compression", "key": "name"}, {"pointer": "/httpUpgrade", "key": "type"}]);
    let entry = json!({"group": "gateway.envoyproxy.io", "kind": "BackendTrafficPolicy", "listKeys": lists});
    assert!(
        merged(&above, "httpUpgrade: [{type: websocket}]", Some(entry)).is_empty(),
        "each list has a key of its own"
    );
}

#[test]
fn every_winner_but_the_first_of_a_loss_is_paid_for() {
    let winners = |count: u32| {
        let author = |row| AuthoredId {
            policy: PolicyId::from_row(row),
            position: 0,
        };
        let loss = Loss {
            policy: author(0),
            key: "/a".into(),
            by: (1..=count).map(author).collect(),
        };
        loss.winners()
    };
    assert_eq!([1, 2, 5].map(winners), [0, 1, 4]);
}
