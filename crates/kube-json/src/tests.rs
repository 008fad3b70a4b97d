//! Values and maps do what those of `serde_json` do, whatever the number of members and the order of the steps.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use proptest::prelude::*;

use crate::{Map, Text, Value, from_value, to_value};

fn same(value: &serde_json::Value) -> Value {
    Value::from(value.clone())
}

/// Values of `serde_json`, with names that have to be escaped in pointers.
fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[ -~é€😀]{0,24}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map("[a-c~/0-9]{0,3}|[a-z]{14,17}", inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// What happens to a map.
#[derive(Clone, Debug)]
enum Change {
    Insert(u16, i32),
    Remove(u16),
    Update(u16, i32),
    GetOrInsert(u16, i32),
    InsertAll(Vec<(u16, i32)>),
    Share,
    RetainEven,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let name = 0..1_200_u16;
    let change = prop_oneof![
        12 => (name.clone(), any::<i32>()).prop_map(|(name, value)| Change::Insert(name, value)),
        3 => name.clone().prop_map(Change::Remove),
        2 => (name.clone(), any::<i32>()).prop_map(|(name, value)| Change::Update(name, value)),
        2 => (name.clone(), any::<i32>()).prop_map(|(name, value)| Change::GetOrInsert(name, value)),
        2 => prop::collection::vec((name, any::<i32>()), 0..8).prop_map(Change::InsertAll),
        1 => Just(Change::Share),
        1 => Just(Change::RetainEven),
    ];
    prop_oneof![
        prop::collection::vec(change.clone(), 0..60),
        prop::collection::vec(change, 1_000..2_000)
    ]
}

fn name(number: u16) -> String {
    format!("name-{number}")
}

proptest! {
    #[test]
    fn a_value_is_written_read_and_compared_as_serde_json_does(left in values(), right in values()) {
        let mine = same(&left);
        prop_assert_eq!(mine.to_string(), left.to_string());
        prop_assert_eq!(&serde_json::Value::from(&mine), &left);
        prop_assert_eq!(&serde_json::from_str::<Value>(&left.to_string()).unwrap(), &same(&serde_json::from_str(&left.to_string()).unwrap()));
        prop_assert_eq!(mine == same(&right), left == right);
        prop_assert_eq!(&to_value(&mine).unwrap(), &mine);
        prop_assert_eq!(&from_value::<serde_json::Value>(&mine).unwrap(), &left);
    }

    #[test]
    fn a_pointer_leads_where_that_of_serde_json_leads(
        value in values(),
        pointer in "(/([a-c]|~0|~1|~|[0-9]{1,2}|\\+1|)){0,4}|[a-c/]{0,3}",
    ) {
        let (mut mine, mut theirs) = (same(&value), value);
        let found = mine.pointer(&pointer).map(serde_json::Value::from);
        prop_assert_eq!(found.as_ref(), theirs.pointer(&pointer));
        if let Some(part) = theirs.pointer_mut(&pointer) {
            *part = "changed".into();
        }
        if let Some(part) = mine.pointer_mut(&pointer) {
            *part = "changed".into();
        }
        prop_assert_eq!(serde_json::Value::from(&mine), theirs);
    }

    /// Also while a clone shares the members.
    #[test]
    fn a_map_has_the_members_of_a_sorted_one_after_any_changes(changes in changes()) {
        let (mut mine, mut model) = (Map::new(), BTreeMap::<String, Value>::new());
        let mut shared: Vec<(Map, BTreeMap<String, Value>)> = Vec::new();
        for change in changes {
            match change {
                Change::Insert(number, value) => {
                    let before = mine.insert(name(number), value.into());
                    prop_assert_eq!(before, model.insert(name(number), value.into()));
                }
                Change::Remove(number) => {
                    prop_assert_eq!(mine.remove(&name(number)), model.remove(&name(number)));
                }
                Change::Update(number, value) => {
                    let slots = (mine.get_mut(&name(number)), model.get_mut(&name(number)));
                    prop_assert_eq!(slots.0.is_some(), slots.1.is_some());
                    if let (Some(slot), Some(expected)) = slots {
                        (*slot, *expected) = (value.into(), value.into());
                    }
                }
                Change::GetOrInsert(number, value) => {
                    mine.insert_if_absent(&name(number), || value.into());
                    let slot = mine.get_mut(&name(number)).unwrap();
                    prop_assert_eq!(slot, model.entry(name(number)).or_insert_with(|| value.into()));
                }
                Change::InsertAll(members) => {
                    mine.extend(members.iter().map(|(number, value)| (name(*number), Value::from(*value))));
                    model.extend(members.into_iter().map(|(number, value)| (name(number), value.into())));
                }
                Change::Share if shared.len() < 4 => shared.push((mine.clone(), model.clone())),
                Change::Share => shared.clear(),
                Change::RetainEven => {
                    mine.retain(|_, value| value.as_i64().is_some_and(|number| number % 2 == 0));
                    model.retain(|_, value| value.as_i64().is_some_and(|number| number % 2 == 0));
                }
            }
        }
        shared.push((mine, model));
        let hasher = RandomState::new();
        for (mine, model) in shared {
            prop_assert_eq!(mine.len(), model.len());
            let mut rebuilt = Map::new();
            for (name, value) in model.iter().rev() {
                prop_assert_eq!(mine.get(name), Some(value));
                rebuilt.insert(name.as_str(), value.clone());
            }
            prop_assert!(mine.iter().map(|(name, value)| (name.as_str(), value)).eq(model.iter().map(|(name, value)| (name.as_str(), value))));
            prop_assert!(mine.iter().rev().map(|(name, _)| name.as_str()).eq(model.keys().rev()));
            prop_assert_eq!(&mine, &rebuilt);
            prop_assert_eq!(hasher.hash_one(&mine), hasher.hash_one(&rebuilt));
            let owned: Vec<(Text, Value)> = mine.into_iter().collect();
            prop_assert!(owned.iter().map(|(name, value)| (name.as_str(), value)).eq(model.iter().map(|(name, value)| (name.as_str(), value))));
        }
    }
}

#[test]
fn a_value_takes_24_bytes_and_an_empty_map_no_memory_of_its_own() {
    assert_eq!(size_of::<Value>(), 24);
    assert_eq!(size_of::<Map>(), 16);
    assert_eq!(size_of::<Text>(), 16);
}

#[test]
fn what_is_changed_in_a_clone_stays_as_it_was_in_the_original() {
    let original = json!({"spec": {"rules": [{"name": "a"}]}, "metadata": {"labels": {"app": "shop"}}});
    let mut clone = original.clone();
    clone["spec"]["rules"][0]["name"] = "b".into();
    clone["metadata"]["labels"]["tier"] = json!("front");
    let fields = clone
        .pointer_mut("/metadata")
        .and_then(Value::as_object_mut)
        .unwrap();
    for (_, value) in fields.iter_mut() {
        value["seen"] = true.into();
    }
    assert_eq!(
        original,
        json!({"spec": {"rules": [{"name": "a"}]}, "metadata": {"labels": {"app": "shop"}}})
    );
    assert_eq!(
        clone,
        json!({
            "spec": {"rules": [{"name": "b"}]},
            "metadata": {"labels": {"app": "shop", "tier": "front", "seen": true}},
        })
    );
}

#[test]
fn a_member_that_is_absent_is_null_and_a_comparison_of_other_types_is_false() {
    let value = json!({"replicas": 3, "paused": true, "name": "x"});
    assert_eq!(value["spec"]["rules"][0], Value::Null);
    assert_eq!(value["replicas"], 3);
    assert_ne!(value["replicas"], "3");
    assert_eq!(value["paused"], true);
    assert_ne!(value["paused"], 1);
    assert_eq!(value["name"], "x");
    assert_eq!("x", value["name"]);
    assert_ne!(value["name"], false);
}

#[test]
fn a_map_is_no_value_of_another_type() {
    assert!(serde_json::from_str::<Map>("[1]").is_err());
    assert_eq!(serde_json::from_str::<Map>(r#"{"a": 1}"#).unwrap()["a"], 1);
}

#[test]
fn a_clone_shares_its_members_until_one_of_the_two_is_changed() {
    let map: Map = [("a", Value::from(0)), ("b", Value::Null)].into_iter().collect();
    let mut clone = map.clone();
    assert!(clone.is_shared_with(&map));
    clone.insert("a", Value::Null);
    assert!(!clone.is_shared_with(&map));
    assert_eq!(map["a"], 0);
}

#[test]
fn a_name_is_found_by_all_of_its_bytes_whatever_its_length() {
    for length in 0..40 {
        let name = "n".repeat(length);
        let map = Map::from_iter([(name.as_str(), json!(length))]);
        assert_eq!(map.get(&name), Some(&json!(length)), "{length}");
        assert!(!map.contains_key(&"n".repeat(length + 1)), "{length}");
        for position in 0..length {
            let mut other = name.clone();
            other.replace_range(position..=position, "o");
            assert!(!map.contains_key(&other), "{other}");
        }
    }
}
