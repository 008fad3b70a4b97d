//! The objects that several policies of one target become: whose name they have, and which settings.

use apimachinery::GroupKind;
use kube_json::{Value, json};

use crate::hub::RowId as _;
use crate::policy::{Class, Entry, Options, PolicyId, Precedence, Profile, Profiles, read_settings};
use crate::sync::same_target::commute;
use crate::sync::same_target::{authored, shipped};
use crate::tests::{SMALL, Seen, hub, limit};

fn entries(profile: &Profile, specs: &[Value]) -> Vec<Entry> {
    let numbered = (0..).map(PolicyId::from_row).zip(specs);
    numbered
        .map(|(policy, spec)| Entry {
            policy,
            layers: read_settings(spec, profile, policy).layers.into(),
        })
        .collect()
}

/// Of each object the number of the policy whose name it has, and `base keys` of each wrapper that it has instead of its
/// own.
fn objects(profile: &Profile, specs: &[Value]) -> Vec<(usize, Vec<String>)> {
    let entries = entries(profile, specs);
    let shipped = shipped(profile, &entries).unwrap().into_iter();
    shipped
        .map(|object| {
            let giver = entries
                .iter()
                .position(|entry| entry.policy == object.name_giver.policy);
            let layers = object.instead.unwrap_or_default();
            let layers = layers.iter().map(|layer| {
                let keys: Vec<&str> = layer.content.keys().map(AsRef::as_ref).collect();
                format!("{} {}", layer.base, keys.join(" "))
            });
            (giver.unwrap(), layers.collect())
        })
        .collect()
}

fn with(precedence: Precedence) -> Profile {
    Profile {
        precedence,
        ..Profile::from_class(
            &GroupKind::new("colors.example.com", "ColorPolicy"),
            Class::Inherited,
        )
    }
}

fn owned(layers: &[&str]) -> Vec<String> {
    layers.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults_and_overrides_that_one_policy_began_are_one_object_of_its_name() {
    let specs = [
        json!({"x": 1, "overrides": {"z": 1}}),
        json!({"y": 2, "overrides": {"w": 2}}),
    ];
    assert_eq!(
        objects(&with(Precedence::EstablishedChallenger), &specs),
        [(0, owned(&["/spec /x /y", "/spec/overrides /w /z"]))]
    );
}

#[test]
fn where_the_oldest_wins_it_gives_its_name_if_it_merges_or_else_the_first_that_anything_is_left_of() {
    let profile = with(Precedence::OldestWins);
    let of = |specs: [Value; 2]| objects(&profile, &specs).remove(0);
    let bare = json!({"y": 1});
    assert_eq!(
        of([json!({}), bare.clone()]),
        (0, owned(&["/spec /y"])),
        "it merges"
    );
    let nothing_as_a_whole = json!({"overrides": {"strategy": "atomic"}});
    let (giver, _) = of([nothing_as_a_whole, bare]);
    assert_eq!(giver, 1, "nothing is left of the oldest");
}

#[test]
fn where_the_oldest_wins_an_empty_patch_is_no_part_of_the_object() {
    let profile = with(Precedence::OldestWins);
    let of = |specs: [Value; 2]| objects(&profile, &specs).remove(0);
    let patch = json!({"y": 2, "overrides": {}});
    assert_eq!(of([json!({"x": 1}), patch]), (0, owned(&["/spec /x /y"])));
}

#[test]
fn only_what_an_author_wrote_is_shipped_and_as_it_is_written() {
    let hub = hub(
        &(SMALL.to_owned()
            + &limit(
                "g",
                "kind: Gateway, name: gw",
                "limits: {l: {rates: [{limit: 1}]}}",
            )),
        &[],
    );
    let complete = |object: &crate::object::Object| {
        let mut value = object.value.clone();
        let limits = value.pointer_mut("/spec/limits")?.as_object_mut()?;
        limits.insert("added".to_owned(), json!({"rates": []}));
        limits.insert("l".to_owned(), json!({"rates": [{"limit": 1, "window": "1s"}]}));
        Some(value)
    };
    let options = Options {
        interpret: Some(&complete),
        ..Options::default()
    };
    let seen = Seen::of(&hub, &options);
    let known = &seen.attachments.policies.rows()[0].layers;
    assert_eq!(known[0].content.len(), 2, "as its controller reads it");
    let written = authored(&seen.attachments, known);
    let leaves: Vec<(&str, &Value)> = written[0]
        .content
        .iter()
        .map(|(key, leaf)| (key.as_ref(), &*leaf.value))
        .collect();
    assert_eq!(leaves, [("l", &json!({"rates": [{"limit": 1}]}))]);
}

#[test]
fn policies_commute_unless_a_policy_with_settings_could_tell_their_orders_apart() {
    let profiles = Profiles::built_in();
    let profile = profiles.get(&GroupKind::new("kuadrant.io", "RateLimitPolicy"))[0].as_ref();
    let whole = json!({"defaults": {"limits": {"l": {}}}});
    let patch = |limit: &str| json!({"defaults": {"strategy": "merge", "limits": {limit: {}}}});
    let commutes =
        |one: &Value, other: &Value| commute(profile, &entries(profile, &[one.clone(), other.clone()]));
    assert!(!commutes(&whole, &patch("k")));
    assert!(
        commutes(&whole, &patch("l")),
        "below conditions alone there is a difference"
    );
    assert!(commutes(&patch("k"), &patch("l")));
}
