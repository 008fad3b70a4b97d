//! What is reported about two policies whose result depends on which is created first.

use apimachinery::GroupKind;
use kube_json::{Value, json};

use crate::diagnostic::{DocumentId, Place, SourceId};
use crate::hub::RowId as _;
use crate::policy::{Entry, PolicyId, Profile, ProfileEntry, Profiles, disagree, read_settings};
use crate::sync::conflicts::{Contender, conflict_help, undecided};

fn contender(profile: &Profile, number: u32, spec: &Value) -> Contender {
    let name = if number == 0 { "a" } else { "b" };
    let policy = PolicyId::from_row(number);
    let document = DocumentId {
        source: SourceId(0),
        index: number,
    };
    Contender {
        name: format!("{} infra/{name}", profile.kind),
        key: format!("infra/{name}"),
        place: Place::value(document, String::new()),
        entry: Entry {
            policy,
            layers: read_settings(spec, profile, policy).layers.into(),
        },
    }
}

/// The notes of the finding, and its help.
fn said(profile: &Profile, one: &Value, other: &Value) -> (Vec<String>, String) {
    let (one, other) = (contender(profile, 0, one), contender(profile, 1, other));
    let finding = undecided(profile, "Gateway infra/gw", &one, &other);
    let notes = finding.notes.into_iter().map(String::from);
    (notes.collect(), conflict_help(profile, &one, &other))
}

fn built_in(group: &str, kind: &str) -> Profile {
    let profiles = Profiles::built_in();
    let of_kind = profiles.get(&GroupKind::new(group, kind));
    of_kind.first().unwrap().as_ref().clone()
}

/// RateLimitPolicies whose defaults merge, that are bare, whose overrides merge, and whose overrides hold as a whole.
fn limits() -> [Value; 4] {
    [
        json!({"defaults": {"strategy": "merge", "limits": {"k": {}}}}),
        json!({"limits": {"l": {}}}),
        json!({"overrides": {"strategy": "merge", "limits": {"m": {}}}}),
        json!({"overrides": {"limits": {"x": {}}}}),
    ]
}

#[test]
fn both_orders_are_told_with_what_more_specific_policies_have_to_do_with_it() {
    let profile = built_in("kuadrant.io", "RateLimitPolicy");
    let [merging, bare, over, whole] = limits();
    for (one, other, first, second) in [
        (
            &merging,
            &bare,
            "`k` of infra/a and `l` of infra/b where no more specific policy sets anything, otherwise `k` of infra/a and what it sets",
            "`k` of infra/a, and what more specific policies set",
        ),
        (
            &bare,
            &json!({"limits": {"l": {"rates": []}}}),
            "`l` of infra/b where no more specific policy sets anything, otherwise only what it sets",
            "`l` of infra/a where no more specific policy sets anything, otherwise only what it sets",
        ),
        (
            &over,
            &bare,
            "`m` of infra/a and `l` of infra/b where no more specific policy sets anything, otherwise `m` of infra/a and what it sets",
            "`m` of infra/a, and what more specific policies set",
        ),
        (
            &whole,
            &merging,
            "`x` of infra/a, regardless of what more specific policies set",
            "`x` of infra/a and `k` of infra/b, regardless of what more specific policies set",
        ),
        (
            &over,
            &whole,
            "`m` of infra/a and `x` of infra/b, regardless of what more specific policies set",
            "`x` of infra/b, regardless of what more specific policies set",
        ),
    ] {
        let (notes, _) = said(&profile, one, other);
        let wanted = [("a", first), ("b", second)];
        let wanted = wanted.map(|(name, told)| format!("if infra/{name} is created first: {told}"));
        assert_eq!(notes, wanted);
    }
}

#[test]
fn the_way_out_is_to_merge_if_that_helps_and_one_of_the_two_does_not_yet() {
    const REST: &str = "write one policy, or target another section";
    let profile = built_in("kuadrant.io", "RateLimitPolicy");
    let [merging, bare, over, whole] = limits();
    for (one, other, merge) in [
        (
            &merging,
            &bare,
            "put the settings of RateLimitPolicy infra/b into `defaults` with `strategy: merge`, ",
        ),
        (
            &merging,
            &whole,
            "give RateLimitPolicy infra/b `strategy: merge`, ",
        ),
        (
            &whole,
            &bare,
            "give RateLimitPolicy infra/a `strategy: merge` and put the settings of RateLimitPolicy infra/b into `defaults` with `strategy: merge`, ",
        ),
        (&merging, &over, ""),
    ] {
        assert_eq!(
            said(&profile, one, other).1,
            format!("{merge}{REST}"),
            "{one} {other}"
        );
    }
    let entry =
        json!({"group": "tints.example.com", "kind": "TintPolicy", "precedence": "EstablishedChallenger"});
    let entry: ProfileEntry = kube_json::from_value(&entry).unwrap();
    let mut profiles = Profiles::built_in();
    profiles.configure(&entry).unwrap();
    let tint = profiles.get(&GroupKind::new("tints.example.com", "TintPolicy"))[0].as_ref();
    let atomic = json!({"a": 1, "strategy": "atomic"});
    let helped = said(tint, &json!({"a": 2}), &atomic).1;
    assert_eq!(
        helped,
        format!("give TintPolicy infra/b `strategy: patch`, {REST}"),
        "bare settings stay bare"
    );
    let in_vain = said(tint, &json!({"a": {"b": 1}}), &atomic).1;
    assert_eq!(in_vain, REST, "a mapping and a number never become one");
}

#[test]
fn policies_that_add_up_disagree_about_a_setting_that_is_not_the_same_in_both() {
    let profile = Profile {
        list_keys: built_in("gateway.nginx.org", "RateLimitPolicy").list_keys,
        ..built_in("gateway.nginx.org", "WAFPolicy")
    };
    let of = |one: Value, other: Value| {
        let [one, other] =
            [one, other].map(|spec| read_settings(&spec, &profile, PolicyId::from_row(0)).layers);
        assert_eq!(disagree(&profile, &one, &other), disagree(&profile, &other, &one));
        disagree(&profile, &one, &other)
    };
    assert!(!of(json!({"a": 1}), json!({"b": 1})));
    assert!(!of(json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 2}})));
    assert!(of(json!({"a": 1}), json!({"a": 2})));
    assert!(
        of(json!({"a": 1}), json!({"a": {"b": 1}})),
        "a number and a mapping"
    );
    let rules = |rate: u8| json!({"rateLimit": {"local": {"rules": [{"rate": rate}]}}});
    assert!(!of(rules(1), rules(2)), "such lists add up");
}
