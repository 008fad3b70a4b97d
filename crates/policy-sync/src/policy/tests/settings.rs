//! Taking the spec of one policy apart: wrappers, strategies, named rules, and settings that say nothing.

use apimachinery::GroupKind;
use kube_json::{Value, json};

use crate::hub::RowId as _;
use crate::policy::model::PolicyId;
use crate::policy::profile::{Class, MergeUnit, Precedence, Profile, RulePath, Strategy, Wrappers};
use crate::policy::reading::{Settings, read, rewritten};

fn taken_apart(profile: &Profile, spec: &Value) -> Settings {
    read(spec, profile, PolicyId::from_row(0))
}

/// Base, strategy, and keys of each layer.
fn layers(profile: &Profile, spec: &Value) -> Vec<(&'static str, Strategy, Vec<String>)> {
    let layers = taken_apart(profile, spec).layers.into_iter();
    layers
        .map(|layer| {
            let keys = layer.content.keys().map(ToString::to_string).collect();
            (layer.base, layer.strategy, keys)
        })
        .collect()
}

fn keys(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A kind without a profile, of a class.
fn labeled(class: Class) -> Profile {
    Profile::from_class(&GroupKind::new("colors.example.com", "ColorPolicy"), class)
}

/// A kind whose settings are in the spec itself.
fn bare(unit: MergeUnit) -> Profile {
    Profile {
        wrappers: Wrappers::Bare,
        strategy_fields: vec!["mergeType".to_owned()],
        strategy: Strategy::None,
        unit,
        ..labeled(Class::Inherited)
    }
}

#[test]
fn a_direct_kind_that_nobody_described_has_no_wrappers_and_no_strategies() {
    let profile = labeled(Class::Direct);
    let spec =
        json!({"defaults": {"x": 1}, "strategy": "merge", "mergeType": "merge", "targetRef": {"name": "a"}});
    assert_eq!(
        layers(&profile, &spec),
        [(
            "/spec",
            Strategy::None,
            keys(&["/defaults/x", "/mergeType", "/strategy"])
        )]
    );
    assert_eq!(profile.precedence, Precedence::EstablishedChallenger);
}

#[test]
fn a_policy_without_settings_has_a_layer_only_if_it_is_bare_and_asks_for_a_merge() {
    let bare = bare(MergeUnit::JsonMergePatch);
    let target = json!({"targetRef": {"name": "a"}});
    assert_eq!(layers(&bare, &target), []);
    let asks = json!({"targetRef": {"name": "a"}, "mergeType": "merge"});
    assert_eq!(layers(&bare, &asks), [("/spec", Strategy::Patch, Vec::new())]);
    let wrapped = labeled(Class::Inherited);
    assert_eq!(layers(&wrapped, &json!({"strategy": "atomic"})), []);
}

#[test]
fn a_strategy_in_the_spec_is_that_of_defaults_and_of_overrides_unless_a_wrapper_has_its_own() {
    let profile = labeled(Class::Inherited);
    assert_eq!(profile.strategy, Strategy::Patch, "without one");
    let spec = json!({"strategy": "atomic", "overrides": {"x": 1}});
    let overrides = ("/spec/overrides", Strategy::Atomic, keys(&["/x"]));
    assert_eq!(layers(&profile, &spec), [overrides]);
    let spec = json!({"strategy": "atomic", "y": 1, "overrides": {"strategy": "patch", "x": 1}});
    assert_eq!(
        layers(&profile, &spec),
        [
            ("/spec", Strategy::Atomic, keys(&["/y"])),
            ("/spec/overrides", Strategy::Patch, keys(&["/x"])),
        ]
    );
}

#[test]
fn a_rule_is_one_value_or_each_entry_of_a_mapping_and_nothing_else() {
    let rule = |pointer: &str, id: &str, each: bool| RulePath {
        pointer: pointer.to_owned(),
        each,
        id: id.to_owned(),
        essential: true,
    };
    let profile = bare(MergeUnit::Rules(vec![
        rule("/limits", "", true),
        rule("/when", "when#", false),
    ]));
    let of = |spec: Value| {
        let mut all = layers(&profile, &spec).into_iter();
        all.next().map(|(_, _, keys)| keys).unwrap_or_default()
    };
    assert_eq!(of(json!({"limits": {"a": 1, "b": 2}})), keys(&["a", "b"]));
    assert_eq!(of(json!({"when": {"a": 1}})), keys(&["when#"]), "one value");
    assert_eq!(of(json!({"when": [1]})), keys(&["when#"]));
    for nothing in [
        json!({"limits": "a"}),
        json!({"limits": [{"a": 1}]}),
        json!({"limits": null}),
        json!({"when": []}),
        json!({"when": null}),
    ] {
        assert_eq!(of(nothing.clone()), Vec::<String>::new(), "{nothing}");
    }
}

#[test]
fn only_a_mode_that_is_unset_says_nothing_and_only_to_a_kind_that_has_such_modes() {
    let spec = json!({"mtls": {"mode": "UNSET"}, "name": "UNSET", "other": {"mode": "STRICT"}});
    let mut profile = bare(MergeUnit::JsonMergePatch);
    let all = keys(&["/mtls/mode", "/name", "/other/mode"]);
    assert_eq!(layers(&profile, &spec), [("/spec", Strategy::None, all)]);
    profile.unset_modes = true;
    let set = keys(&["/name", "/other/mode"]);
    assert_eq!(layers(&profile, &spec), [("/spec", Strategy::None, set)]);
}

#[test]
fn a_policy_is_invalid_if_its_wrappers_exclude_each_other_and_not_for_what_is_ignored() {
    let profile = Profile {
        wrappers: Wrappers::OneOfDefaultsOverrides,
        strategy_fields: vec!["strategy".to_owned()],
        ..labeled(Class::Inherited)
    };
    let ignored = taken_apart(&profile, &json!({"strategy": "merge", "x": 1}));
    assert_eq!(ignored.problems.len(), 1, "{ignored:?}");
    assert!(ignored.are_valid());
    let both = taken_apart(&profile, &json!({"defaults": {"x": 1}, "overrides": {"y": 1}}));
    assert!(!both.are_valid());
}

#[test]
fn a_rewritten_spec_keeps_its_targets_and_the_wrappers_and_strategies_that_its_layers_have() {
    let profile = labeled(Class::Inherited);
    let spec = json!({"targetRef": {"name": "a"}, "defaults": {"strategy": "merge", "x": 1},
        "overrides": {"strategy": "atomic", "y": 2}});
    let left = taken_apart(&profile, &spec).layers;
    assert_eq!(rewritten(&spec, &profile, &left), spec);
    let defaults = json!({"targetRef": {"name": "a"}, "defaults": {"strategy": "merge", "x": 1}});
    assert_eq!(rewritten(&spec, &profile, &left[..1]), defaults);
    let nothing = json!({"targetRef": {"name": "a"}});
    assert_eq!(rewritten(&spec, &profile, &[]), nothing);
}
