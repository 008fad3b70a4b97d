//! Properties that hold for any policies.

use std::collections::BTreeSet;

use kube_json::{Value, json};
use proptest::prelude::*;

use super::super::{Options, Profiles};
use crate::hub::{Hub, Objects, RowId as _};
use crate::object::Object;
use crate::outcome::EffectiveResult;
use crate::policy::SameTarget;
use crate::sync::{SyncedPolicy, SyncedSpec, resolve};
use crate::tests::{SMALL, Seen, object};
use crate::topology::GatewayId;

/// The kinds that are tried: merging, rejecting, adding up, undescribed of both classes, child-dictated.
const KINDS: [(&str, &str); 6] = [
    ("kuadrant.io", "RateLimitPolicy"),
    ("kuadrant.io", "TLSPolicy"),
    ("security.istio.io", "AuthorizationPolicy"),
    ("colors.example.com", "ColorPolicy"),
    ("tones.example.com", "TonePolicy"),
    ("gateway.envoyproxy.io", "BackendTrafficPolicy"),
];

#[derive(Debug, Clone)]
struct Draft {
    kind: usize,
    target: usize,
    wrapper: usize,
    merges: bool,
    fields: Vec<(u8, u8)>,
    day: Option<u8>,
}

fn draft() -> impl Strategy<Value = Draft> {
    let fields = prop::collection::vec((0_u8..4, 0_u8..3), 1..4);
    (
        0..KINDS.len(),
        0_usize..6,
        0_usize..3,
        any::<bool>(),
        fields,
        prop::option::of(1_u8..4),
    )
        .prop_map(|(kind, target, wrapper, merges, fields, day)| Draft {
            kind,
            target,
            wrapper,
            merges,
            fields,
            day,
        })
}

fn policy(number: usize, draft: &Draft) -> Object {
    let (group, kind) = KINDS[draft.kind];
    let mut target = match draft.target {
        0 | 1 => json!({"kind": "Gateway", "name": "gw"}),
        2 => json!({"kind": "Gateway", "name": "gw", "sectionName": "http"}),
        3 => json!({"kind": "HTTPRoute", "name": "r1"}),
        4 => json!({"kind": "HTTPRoute", "name": "r1", "sectionName": "first"}),
        _ => json!({"kind": "HTTPRoute", "name": "r2"}),
    };
    target["group"] = json!("gateway.networking.k8s.io");
    let mut settings = json!({});
    for (key, value) in &draft.fields {
        // Depth one or two, so that a scalar and a mapping can meet.
        let value = match value {
            0 => json!({"deep": number}),
            1 => json!([number]),
            _ => json!(number),
        };
        settings[&*format!("f{key}")] = value;
    }
    if kind == "RateLimitPolicy" {
        settings = json!({"limits": settings});
    }
    let wrapped = matches!(kind, "RateLimitPolicy" | "ColorPolicy");
    let strategy = match kind {
        "RateLimitPolicy" if draft.wrapper > 0 => {
            Some(("strategy", if draft.merges { "merge" } else { "atomic" }))
        }
        "ColorPolicy" => Some(("strategy", if draft.merges { "patch" } else { "atomic" })),
        "BackendTrafficPolicy" if draft.merges => Some(("mergeType", "StrategicMerge")),
        _ => None,
    };
    if let Some((field, strategy)) = strategy {
        settings[field] = json!(strategy);
    }
    let mut spec = match (wrapped, draft.wrapper) {
        (true, 1) => json!({"defaults": settings}),
        (true, 2) => json!({"overrides": settings}),
        _ => settings,
    };
    spec["targetRef"] = target;
    let mut metadata = json!({"name": format!("p{number}"), "namespace": "infra"});
    if let Some(day) = draft.day {
        metadata["creationTimestamp"] = json!(format!("2024-01-0{day}T00:00:00Z"));
    }
    object(json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": metadata, "spec": spec}))
}

fn crd(group: &str, kind: &str, class: &str) -> Object {
    object(
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{group}", kind.to_lowercase()), "labels": {"gateway.networking.k8s.io/policy": class}},
        "spec": {"group": group, "names": {"kind": kind}}}),
    )
}

fn hub_of(drafts: &[Draft], order: &[usize]) -> Hub {
    let mut objects: Vec<Object> = kube_yaml::read_all(SMALL, &kube_yaml::Limits::default())
        .unwrap()
        .into_iter()
        .map(object)
        .collect();
    objects.push(crd("colors.example.com", "ColorPolicy", "Inherited"));
    objects.push(crd("tones.example.com", "TonePolicy", "Direct"));
    objects.extend(order.iter().map(|number| policy(*number, &drafts[*number])));
    Hub::of(Objects::new(objects))
}

fn report(seen: &Seen<'_>) -> Value {
    kube_json::to_value(seen.report()).unwrap()
}

fn drafts_in_some_order() -> impl Strategy<Value = (Vec<Draft>, Vec<usize>)> {
    prop::collection::vec(draft(), 1..9).prop_flat_map(|drafts| {
        let order: Vec<usize> = (0..drafts.len()).collect();
        (Just(drafts), Just(order).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn results_do_not_depend_on_the_order_of_the_input((drafts, order) in drafts_in_some_order()) {
        let sorted: Vec<usize> = (0..drafts.len()).collect();
        let (one, other) = (hub_of(&drafts, &sorted), hub_of(&drafts, &order));
        let (one, other) = (Seen::hub(&one), Seen::hub(&other));
        prop_assert_eq!(report(&one), report(&other));
        prop_assert_eq!(one.said(), other.said());
    }

    #[test]
    fn every_field_has_one_source_and_the_source_holds_its_value((drafts, order) in drafts_in_some_order()) {
        let hub = hub_of(&drafts, &order);
        let seen = Seen::hub(&hub);
        for (kind, path) in seen.effective.iter() {
            let entry = EffectiveResult::new(&seen.attachments, kind, &path.effective);
            for leaf in path.effective.content.values().filter(|leaf| !leaf.at.is_empty()) {
                let source = seen.attachments.policy(leaf.policy).object;
                prop_assert_eq!(source.value.pointer(&leaf.source_pointer()), Some(&*leaf.value));
                let chain = &path.effective.chain;
                prop_assert!(chain.iter().any(|(_, policy)| *policy == leaf.policy));
            }
            let Some(spec) = &entry.spec else { continue };
            let mut fields = BTreeSet::new();
            crate::policy::merge::json_merge_patch::flatten(spec, String::new(), &mut |pointer, _| {
                fields.insert(pointer);
            });
            let sources: BTreeSet<String> = entry.sources.keys().cloned().collect();
            prop_assert_eq!(fields, sources);
        }
    }

    #[test]
    fn a_policy_alone_is_its_own_effective_policy(draft in draft()) {
        let hub = hub_of(&[draft], &[0]);
        let seen = Seen::hub(&hub);
        let policy = &seen.attachments.policies.rows()[0];
        for (_, path) in seen.effective.iter() {
            if seen.attachments.kinds.get(policy.kind).profile.same_target == SameTarget::AddUp {
                continue;
            }
            prop_assert_eq!(path.effective.content.as_ref(), policy.layers[0].content.as_ref());
            prop_assert!(path.effective.losses.is_empty());
        }
    }

    #[test]
    fn one_target_of_a_kind_that_does_not_add_up_gets_one_policy_or_two_or_an_error((drafts, order) in drafts_in_some_order()) {
        let hub = hub_of(&drafts, &order);
        let seen = Seen::hub(&hub);
        for (kind, known) in seen.attachments.kinds.iter() {
            for node in known.nodes.keys() {
                let Some(resolution) = resolve(&seen.attachments, kind, *node) else { continue };
                if known.profile.same_target == SameTarget::AddUp {
                    continue;
                }
                if resolution.synced.is_empty() {
                    prop_assert!(seen.said().iter().any(|said| said.starts_with("policy/undecided")), "{:?}", seen.said());
                    continue;
                }
                let sources: BTreeSet<_> = resolution.synced.iter().flat_map(SyncedPolicy::sources).collect();
                let placed = &known.nodes[node];
                let all = placed.accepted.len() + placed.rejected.len();
                prop_assert!(resolution.synced.len() <= 2);
                prop_assert_eq!(sources.len() + resolution.displaced.len(), all, "everybody is shipped or explained");
            }
        }
    }

    #[test]
    fn what_is_shipped_for_the_gateway_alone_comes_to_what_the_hub_says(
        (drafts, order) in drafts_in_some_order()
    ) {
        // Only kinds whose policies give one object per target; one target, so that levels do not matter.
        let drafts: Vec<Draft> = drafts.into_iter().map(|draft| Draft { target: 0, ..draft }).collect();
        let hub = hub_of(&drafts, &order);
        let seen = Seen::hub(&hub);
        for (kind, known) in seen.attachments.kinds.iter() {
            if known.profile.same_target == SameTarget::AddUp {
                continue;
            }
            for node in seen.attachments.topology.nodes_of_gateway(GatewayId::from_row(0)) {
                let Some(resolution) = resolve(&seen.attachments, kind, node) else { continue };
                let Some(path) = seen.effective.on(kind, GatewayId::from_row(0)).first() else { continue };
                if resolution.synced.is_empty() {
                    continue;
                }
                let entries: Vec<_> = resolution.synced.iter().map(|synced| {
                    let spec = match &synced.spec {
                        SyncedSpec::AsWritten => seen.attachments.policy(synced.policy).object.value["spec"].clone(),
                        SyncedSpec::Rewritten { spec, .. } => (**spec).clone(),
                    };
                    let layers = crate::policy::reading::read(&spec, &known.profile, synced.policy).layers;
                    crate::policy::model::Entry { policy: synced.policy, layers: layers.into() }
                }).collect();
                let alone = super::super::merge::merge(&known.profile, &[&entries], &|_| "".into());
                let values = |content: &crate::policy::model::Content| -> Vec<(String, Value)> {
                    content.iter().map(|(key, leaf)| (key.to_string(), Value::clone(&leaf.value))).collect()
                };
                prop_assert_eq!(values(&alone), values(&path.effective.content), "{}", known.profile.kind);
            }
        }
    }

    #[test]
    fn deleting_a_policy_is_the_same_as_never_having_had_it((drafts, order) in drafts_in_some_order()) {
        let hub = hub_of(&drafts, &order);
        let seen = Seen::hub(&hub);
        let gone = seen.attachments.policies.rows()[0].object;
        let number: usize = gone.name.trim_start_matches('p').parse().unwrap();
        let rest: Vec<usize> = order.iter().copied().filter(|other| *other != number).collect();
        let options = Options { without: Some(&gone.identity()), ..Options::default() };
        let without = Seen::of(&hub, &options);
        let never_had = hub_of(&drafts, &rest);
        let never_had = Seen::hub(&never_had);
        prop_assert_eq!(without.attachments.find(&gone.identity()), None);
        prop_assert_eq!(report(&without), report(&never_had));
        prop_assert_eq!(without.said(), never_had.said());
    }
}

#[test]
fn every_built_in_profile_survives_a_round_trip_through_the_configuration() {
    let mut profiles = Profiles::built_in();
    let all: Vec<_> = Profiles::built_in().iter().cloned().collect();
    for profile in all {
        let entry = kube_json::from_value(&kube_json::to_value(profile.as_ref()).unwrap()).unwrap();
        profiles.configure(&entry).unwrap();
        assert_eq!(profiles.get(&profile.group_kind()), [profile]);
    }
}

/// Values of any shape under the keys that are read.
fn anything() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("gw"),
        Just("http"),
        Just("infra"),
        Just("Gateway"),
        Just("HTTPRoute"),
        Just("Service"),
        Just("Namespace"),
        Just("gateway.networking.k8s.io"),
        Just(""),
        Just("*"),
        Just("All"),
        Just("Selector"),
        Just("merge"),
        Just("a/b~c"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "targetRef",
        "targetRefs",
        "targetSelectors",
        "group",
        "kind",
        "name",
        "namespace",
        "sectionName",
        "port",
        "ports",
        "defaults",
        "overrides",
        "default",
        "override",
        "strategy",
        "mergeType",
        "limits",
        "rules",
        "when",
        "response",
        "listeners",
        "allowedRoutes",
        "namespaces",
        "from",
        "selector",
        "matchLabels",
        "matchExpressions",
        "parentRefs",
        "parentRef",
        "hostnames",
        "hostname",
        "backendRefs",
        "filters",
        "requestMirror",
        "backendRef",
        "gatewayClassName",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_input_makes_anything_panic(specs in prop::collection::vec((0_usize..9, anything()), 1..8)) {
        let kinds = [
            ("gateway.networking.k8s.io/v1", "Gateway"),
            ("gateway.networking.k8s.io/v1", "HTTPRoute"),
            ("gateway.networking.k8s.io/v1", "ListenerSet"),
            ("v1", "Service"),
            ("kuadrant.io/v1", "RateLimitPolicy"),
            ("kuadrant.io/v1", "AuthPolicy"),
            ("colors.example.com/v1", "ColorPolicy"),
            ("security.istio.io/v1", "AuthorizationPolicy"),
            ("gateway.networking.k8s.io/v1", "BackendTLSPolicy"),
        ];
        let mut objects: Vec<Object> = kube_yaml::read_all(SMALL, &kube_yaml::Limits::default()).unwrap().into_iter().map(object).collect();
        objects.push(crd("colors.example.com", "ColorPolicy", "Inherited"));
        for (number, (kind, spec)) in specs.into_iter().enumerate() {
            let (version, kind) = kinds[kind];
            objects.push(object(json!({"apiVersion": version, "kind": kind,
                "metadata": {"name": format!("x{number}"), "namespace": "infra", "creationTimestamp": spec["name"]}, "spec": spec})));
        }
        let hub = Hub::of(Objects::new(objects));
        let seen = Seen::hub(&hub);
        report(&seen);
        seen.view(|view| view.effective_policy_documents().count());
        seen.statuses(&hub, "kuadrant.io/mgc-gw-controller");
        for policy in seen.attachments.policies.rows() {
            let options = Options { without: Some(&policy.object.identity()), ..Options::default() };
            report(&Seen::of(&hub, &options));
        }
        for (kind, known) in seen.attachments.kinds.iter() {
            for node in known.nodes.keys() {
                let _ = resolve(&seen.attachments, kind, *node);
            }
        }
    }
}
