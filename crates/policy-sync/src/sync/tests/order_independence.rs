//! The objects shipped for one target mean what their authors wrote on the hub, in whatever order they are created
//! there.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_json::{Map, Value, json};
use proptest::prelude::*;

use super::locals as locals_of;
use crate::diagnostic::{Code, DocumentId, Findings, Place, Severity, SourceId};
use crate::hub::{Hub, Objects, RowId as _};
use crate::object::Object;
use crate::policy::{
    Content, Dictates, Entry, Layer, Leaf, Options, PolicyId, Precedence, Profile, ProfileEntry, Profiles,
    Side, Strategy as MergeStrategy, defines, merge, read_settings,
};
use crate::sync::conflicts::{Contender, undecided};
use crate::sync::local_policies::beside_local;
use crate::sync::report_local_conflicts;
use crate::sync::same_target::{SyncedSpec, resolve};
use crate::sync::same_target::{commute, is_order_independent};
use crate::tests::{SMALL, Seen, hub, limit, object};
use crate::topology::{GatewayId, Node};

/// Kinds of each precedence, by named rules and by fields, whose wrappers exclude each other or stand side by side.
const KINDS: [(&str, &str); 6] = [
    ("kuadrant.io", "RateLimitPolicy"),
    ("gateway.kgateway.dev", "TrafficPolicy"),
    ("tints.example.com", "TintPolicy"),
    ("shades.example.com", "ShadePolicy"),
    ("colors.example.com", "ColorPolicy"),
    ("hues.example.com", "HuePolicy"),
];

fn profiles() -> Profiles {
    let rules = json!({"Rules": [{"pointer": "/limits", "each": true, "essential": true}, {"pointer": "/when", "id": "when#"}]});
    let entries = [
        json!({"group": "tints.example.com", "kind": "TintPolicy", "precedence": "EstablishedChallenger"}),
        json!({"group": "shades.example.com", "kind": "ShadePolicy", "unit": rules}),
        json!({"group": "colors.example.com", "kind": "ColorPolicy"}),
        json!({"group": "hues.example.com", "kind": "HuePolicy", "dictates": "Challenger", "precedence": "EstablishedChallenger"}),
    ];
    let mut profiles = Profiles::built_in();
    for entry in entries {
        let entry: ProfileEntry = kube_json::from_value(&entry).unwrap();
        profiles.configure(&entry).unwrap();
    }
    profiles
}

/// The settings of one wrapper.
#[derive(Debug, Clone)]
struct Wrapper {
    strategy: Option<bool>,
    fields: Vec<(u8, u8)>,
    when: bool,
}

/// A policy on the Gateway: bare settings, or defaults and overrides.
#[derive(Debug, Clone)]
struct Draft {
    bare: bool,
    defaults: Option<Wrapper>,
    overrides: Option<Wrapper>,
    day: Option<u8>,
}

fn wrapper() -> impl Strategy<Value = Wrapper> {
    let fields = prop::collection::vec((0_u8..4, 0_u8..6), 0..4);
    (
        prop::option::weighted(0.8, prop::bool::weighted(0.8)),
        fields,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(strategy, fields, when)| Wrapper {
            strategy,
            fields,
            when,
        })
}

fn draft() -> impl Strategy<Value = Draft> {
    let day = prop::option::of(1_u8..4);
    (
        any::<bool>(),
        prop::option::of(wrapper()),
        prop::option::of(wrapper()),
        day,
    )
        .prop_map(|(bare, defaults, overrides, day)| Draft {
            bare,
            defaults,
            overrides,
            day,
        })
}

fn is_rules(kind: usize) -> bool {
    matches!(KINDS[kind].1, "RateLimitPolicy" | "ShadePolicy")
}

fn settings(kind: usize, number: usize, wrapper: &Wrapper, when: bool) -> Map {
    let mut fields = Map::new();
    for (key, value) in &wrapper.fields {
        // Up to three deep, so that scalars, lists, and full and empty mappings meet.
        let value = match value {
            0 => json!({"deep": number}),
            1 => json!({"deep": {"deeper": number}}),
            2 => json!([number]),
            3 => json!({}),
            _ => json!(number),
        };
        fields.insert(format!("f{key}"), value);
    }
    if !is_rules(kind) {
        return fields;
    }
    let mut settings = Map::from_iter([("limits".to_owned(), Value::Object(fields))]);
    if wrapper.when && when {
        settings.insert("when".to_owned(), json!([{"predicate": number.to_string()}]));
    }
    settings
}

fn policy(kind: usize, name: &str, namespace: &str, number: usize, draft: &Draft, when: bool) -> Object {
    let (group, kind_name) = KINDS[kind];
    let mut spec = Map::new();
    let full = |wrapper: &Wrapper| {
        let mut settings = settings(kind, number, wrapper, when);
        let word = match (wrapper.strategy, kind_name) {
            (None, _) | (_, "TrafficPolicy") => None,
            (Some(false), _) => Some("atomic"),
            (Some(true), "RateLimitPolicy") => Some("merge"),
            (Some(true), _) => Some("patch"),
        };
        settings.extend(word.map(|word| ("strategy".to_owned(), json!(word))));
        Value::Object(settings)
    };
    match (&draft.defaults, &draft.overrides, kind_name) {
        (defaults, _, "TrafficPolicy") => {
            spec.extend(
                defaults
                    .iter()
                    .flat_map(|wrapper| settings(kind, number, wrapper, when)),
            );
        }
        (Some(defaults), None, "RateLimitPolicy") if draft.bare => {
            spec.extend(settings(kind, number, defaults, when));
        }
        (Some(defaults), overrides, "RateLimitPolicy") if draft.bare || overrides.is_none() => {
            spec.insert("defaults".to_owned(), full(defaults));
        }
        (_, Some(overrides), "RateLimitPolicy") => {
            spec.insert("overrides".to_owned(), full(overrides));
        }
        (defaults, overrides, _) => {
            match (defaults, draft.bare) {
                (Some(defaults), true) => spec.extend(full(defaults).as_object().unwrap().clone()),
                (Some(defaults), false) => {
                    spec.insert("defaults".to_owned(), full(defaults));
                }
                (None, _) => {}
            }
            spec.extend(
                overrides
                    .iter()
                    .map(|overrides| ("overrides".to_owned(), full(overrides))),
            );
        }
    }
    let target = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw"});
    if kind_name == "RateLimitPolicy" {
        spec.insert("targetRef".to_owned(), target);
    } else {
        spec.insert("targetRefs".to_owned(), json!([target]));
    }
    let mut metadata = json!({"name": name, "namespace": namespace});
    if let Some(day) = draft.day {
        metadata["creationTimestamp"] = json!(format!("2024-01-0{day}T00:00:00Z"));
    }
    object(
        json!({"apiVersion": format!("{group}/v1"), "kind": kind_name, "metadata": metadata, "spec": spec}),
    )
}

fn hub_of(kind: usize, drafts: &[Draft], locals: &[Draft]) -> Hub {
    let mut objects: Vec<Object> = kube_yaml::read_all(SMALL, &kube_yaml::Limits::default())
        .unwrap()
        .into_iter()
        .map(object)
        .collect();
    let drafts = drafts.iter().enumerate();
    objects.extend(
        drafts.map(|(at, draft)| policy(kind, &format!("p{at}"), "infra", at, draft, locals.is_empty())),
    );
    let locals = locals.iter().enumerate();
    let locals =
        locals.map(|(at, draft)| policy(kind, &format!("l{at}"), "kuadrant-infra", 10 + at, draft, false));
    let mut hub = Hub::of(Objects::new(objects));
    hub.spokes = BTreeMap::from([("c1".to_owned(), Objects::new(locals.collect()))]).into();
    hub
}

/// What is shipped to `c1` for the Gateway, and what lives there.
struct There {
    profile: Profile,
    hub: Vec<Entry>,
    shipped: Vec<Entry>,
    locals: Vec<Entry>,
    undecided: bool,
    said: Findings,
}

fn there(kind: usize, drafts: &[Draft], locals: &[Draft]) -> Option<There> {
    let hub = hub_of(kind, drafts, locals);
    let profiles = profiles();
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    let seen = Seen::of(&hub, &options);
    let node = Node::Gateway(GatewayId::from_row(0));
    let attachments = &seen.attachments;
    let id = attachments
        .kinds
        .ids()
        .find(|id| attachments.kinds.get(*id).profile.kind == KINDS[kind].1)?;
    let resolution = resolve(attachments, id, node)?;
    let mut said = seen.findings.clone();
    let undecided = resolution.undecided.is_some();
    let mut live = locals_of(&hub, attachments, &options, &mut Findings::new());
    let live = live.remove("c1").unwrap_or_default();
    report_local_conflicts(attachments, &live, &mut said);
    let live = live.on(id, node);
    let profile = attachments.kinds.get(id).profile.as_ref().clone();
    let mut shipped = Vec::new();
    for mut synced in resolution.synced {
        if !live.is_empty() {
            let Some(spec) = beside_local(attachments, &synced, &live) else {
                continue;
            };
            synced.spec = spec;
        }
        let spec = match &synced.spec {
            SyncedSpec::AsWritten => &attachments.policy(synced.policy).object.value["spec"],
            SyncedSpec::Rewritten { spec, .. } => spec,
        };
        let read = read_settings(spec, &profile, synced.policy);
        assert!(read.are_valid(), "{spec}");
        shipped.push(Entry {
            policy: synced.policy,
            layers: read.layers.into(),
        });
    }
    Some(There {
        hub: attachments.on(id, node).to_vec(),
        shipped,
        locals: live.iter().map(|local| local.entry.clone()).collect(),
        undecided,
        said,
        profile,
    })
}

/// The real merge of policies of one node with what a more specific level says.
fn together(profile: &Profile, entries: &[Entry], challenger: &Content) -> BTreeMap<Arc<str>, Value> {
    let challenger = entry(vec![layer(
        Side::Defaults,
        MergeStrategy::Atomic,
        challenger.clone(),
    )]);
    let merged = merge(profile, &[entries, &[challenger]], &|_| "".into());
    let leaves = merged.iter();
    leaves
        .map(|(key, leaf)| (Arc::clone(key), Value::clone(&leaf.value)))
        .collect()
}

fn entry(layers: Vec<Layer>) -> Entry {
    Entry {
        policy: PolicyId::from_row(99),
        layers: layers.into(),
    }
}

fn layer(side: Side, strategy: MergeStrategy, content: Content) -> Layer {
    Layer {
        side,
        strategy,
        content: Arc::new(content),
        base: "/spec",
    }
}

/// What the Gateway's policies mean on the cluster, straight from the rules in the documentation: what the hub's come to in
/// their order there, less what the local ones take.
fn meant(there: &There, locals: &[Entry], challenger: &Content) -> BTreeMap<Arc<str>, Value> {
    let profile = &there.profile;
    if locals.is_empty() {
        return together(profile, &there.hub, challenger);
    }
    let alone = together(profile, locals, challenger);
    let local_layers = || locals.iter().flat_map(|local| local.layers.iter());
    let patches = |layer: &Layer| layer.strategy == MergeStrategy::Patch;
    let one_side = |side: Side, all: bool| -> Vec<Entry> {
        let entries = there.hub.iter();
        entries
            .map(|hub| {
                let layers = hub
                    .layers
                    .iter()
                    .filter(|layer| layer.side == side && (all || patches(layer)));
                entry(layers.cloned().collect())
            })
            .filter(|entry| !entry.layers.is_empty())
            .collect()
    };
    let mut sides = vec![Side::Defaults, Side::Overrides];
    if profile.precedence == Precedence::EstablishedChallenger {
        let foreign = foreign();
        let mut beside = together(profile, &there.hub, &foreign);
        let holds = foreign.keys().all(|key| beside.remove(key).is_some());
        let merges = holds && beside == together(profile, &there.hub, &Content::new());
        if !merges || profile.dictates == Dictates::Challenger || !local_layers().all(patches) {
            return alone;
        }
    } else {
        let oldest = |side: Side| one_side(side, true).first().map(|entry| entry.layers[0].clone());
        if sides
            .iter()
            .any(|side| oldest(*side).is_some_and(|layer| !patches(&layer)))
        {
            return alone;
        }
        sides.retain(|side| local_layers().all(|layer| layer.side != *side || patches(layer)));
    }
    let by_oldest = profile.precedence == Precedence::OldestWins;
    let layers = sides.into_iter().map(|side| {
        let content = merge(profile, &[&one_side(side, by_oldest)], &|_| "".into());
        let content: Content = content
            .iter()
            .filter(|(key, _)| !local_layers().any(|layer| defines(&layer.content, key)))
            .map(|(key, leaf)| (Arc::clone(key), leaf.clone()))
            .collect();
        layer(side, MergeStrategy::Patch, content)
    });
    let hub = entry(layers.filter(|layer| !layer.content.is_empty()).collect());
    let entries: Vec<Entry> = std::iter::once(hub).chain(locals.iter().cloned()).collect();
    together(profile, &entries, challenger)
}

/// Whether one kind of wrapper with one strategy, or defaults and overrides that merge, can say what the hub's policies of
/// named rules come to.
fn is_expressible(there: &There) -> bool {
    let over = |challenger: &Content| together(&there.profile, &there.hub, challenger);
    let foreign = foreign();
    let alone = over(&Content::new());
    let values = |content: &Content| -> BTreeMap<Arc<str>, Value> {
        let leaves = content.iter();
        leaves
            .map(|(key, leaf)| (Arc::clone(key), Value::clone(&leaf.value)))
            .collect()
    };
    let beside = |challenger: &Content| {
        let mut both = alone.clone();
        both.extend(values(challenger));
        both
    };
    let always = over(&foreign) == alone;
    let patches = over(&foreign) == beside(&foreign);
    let gives_way = over(&foreign) == values(&foreign);
    always || patches || gives_way
}

fn foreign() -> Content {
    content(vec![("/elsewhere".to_owned(), json!(1))], true)
}

fn content(leaves: Vec<(String, Value)>, essential: bool) -> Content {
    let leaves = leaves.into_iter().map(|(key, value)| {
        let key: Arc<str> = Arc::from(key);
        let leaf = Leaf {
            value: Arc::new(value),
            at: Arc::clone(&key),
            base: "/spec",
            policy: PolicyId::from_row(98),
            element: None,
            essential,
        };
        (key, leaf)
    });
    leaves.collect()
}

/// Settings of routes: of every small policy of the kind, and those of some more. A policy without any that count is none.
fn challengers(kind: usize, drafts: &[Wrapper]) -> Vec<Content> {
    let mut challengers = small(kind);
    for draft in drafts {
        let mut leaves = Vec::new();
        let settings = settings(kind, 20, draft, false);
        if is_rules(kind) {
            let limits = settings["limits"].as_object().unwrap();
            leaves.extend(limits.iter().map(|(key, value)| (key.to_string(), value.clone())));
        } else {
            crate::policy::flatten(&Value::Object(settings), String::new(), &mut |at, value| {
                leaves.push((at, value.clone()));
            });
        }
        challengers.push(content(leaves, true));
    }
    challengers
}

/// Nothing, something else, and each setting that a draft may have: alone, and of a kind of rules with conditions and with
/// all others.
fn small(kind: usize) -> Vec<Content> {
    let one = |key: String| content(vec![(key, json!(30))], true);
    let mut small = vec![Content::new(), foreign()];
    if is_rules(kind) {
        let when = match KINDS[kind].1 {
            "ShadePolicy" => "when#",
            _ => "###_TOP_LEVEL_PREDICATES_###",
        };
        let keys = (0..4).map(|key| format!("f{key}"));
        small.extend(keys.clone().map(&one));
        let mut all = foreign();
        all.extend(keys.flat_map(one));
        all.extend(content(vec![(when.to_owned(), json!([30]))], false));
        small.push(all);
        return small;
    }
    let below = [
        "",
        "/deep",
        "/deep/deeper",
        "/elsewhere",
        "/deep/elsewhere",
        "/deep/deeper/elsewhere",
    ];
    small.extend((0..4).flat_map(|key| below.map(|below| one(format!("/f{key}{below}")))));
    small
}

/// Whether the policies of the hub come to the same in every order, whatever is above and below them.
fn is_one_in_any_order(kind: usize, there: &There) -> bool {
    let above = entry(vec![layer(
        Side::Defaults,
        MergeStrategy::Patch,
        content(vec![("/above".to_owned(), json!(1))], true),
    )]);
    let strategies = match there.profile.dictates {
        Dictates::Challenger => vec![MergeStrategy::Atomic, MergeStrategy::Patch],
        Dictates::Established => vec![MergeStrategy::Atomic],
    };
    let is_one = |below: &[Entry]| {
        let results = permutations(there.hub.len()).into_iter().map(|order| {
            let entries: Vec<Entry> = order.iter().map(|at| there.hub[*at].clone()).collect();
            let levels = [std::slice::from_ref(&above), &entries, below];
            let merged = merge(&there.profile, &levels, &|_| "".into());
            let leaves = merged.iter();
            leaves
                .map(|(key, leaf)| (Arc::clone(key), Value::clone(&leaf.value)))
                .collect::<BTreeMap<_, _>>()
        });
        let results: Vec<_> = results.collect();
        results.windows(2).all(|pair| pair[0] == pair[1])
    };
    small(kind).into_iter().all(|challenger| {
        if challenger.is_empty() {
            return is_one(&[]);
        }
        let mut strategies = strategies.iter();
        strategies
            .all(|strategy| is_one(&[entry(vec![layer(Side::Defaults, *strategy, challenger.clone())])]))
    })
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1).into_iter();
    shorter
        .flat_map(|order| {
            (0..count).map(move |at| {
                let mut order = order.clone();
                order.insert(at, count - 1);
                order
            })
        })
        .collect()
}

/// Compares what is shipped and what is meant for every order of creation.
fn check(kind: usize, there: &There, routes: &[Wrapper]) -> Result<(), TestCaseError> {
    let everybody: Vec<&Entry> = there.shipped.iter().chain(&there.locals).collect();
    for challenger in challengers(kind, routes) {
        for order in permutations(everybody.len()) {
            let created: Vec<Entry> = order.iter().map(|at| everybody[*at].clone()).collect();
            let locals = order.iter().filter_map(|at| at.checked_sub(there.shipped.len()));
            let locals: Vec<Entry> = locals.map(|at| there.locals[at].clone()).collect();
            prop_assert_eq!(
                together(&there.profile, &created, &challenger),
                meant(there, &locals, &challenger),
                "{} in order {:?} over {:?}",
                there.profile.kind,
                order,
                challenger.keys()
            );
        }
    }
    Ok(())
}

/// What a note says of an order.
fn told(note: &str) -> &str {
    note.split_once(" is created first: ").unwrap().1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(700))]

    #[test]
    fn two_policies_commute_unless_a_policy_above_or_below_can_tell_their_orders_apart_and_the_notes_do(
        kind in 0_usize..KINDS.len(),
        drafts in prop::collection::vec(draft(), 2),
    ) {
        let Some(there) = there(kind, &drafts, &[]) else { return Ok(()) };
        let [one, other] = there.hub.as_slice() else { return Ok(()) };
        let is_one = is_one_in_any_order(kind, &there);
        prop_assert_eq!(commute(&there.profile, &there.hub), is_one);
        prop_assert!(!is_one || !there.undecided);
        let contender = |key: &str, entry: &Entry| Contender {
            name: key.to_owned(),
            key: key.to_owned(),
            place: Place::value(DocumentId { source: SourceId(0), index: 0 }, String::new()),
            entry: entry.clone(),
        };
        let finding = undecided(&there.profile, "it", &contender("a", one), &contender("b", other));
        let notes: Vec<String> = finding.notes.into_iter().map(String::from).collect();
        prop_assert_eq!(told(&notes[0]) == told(&notes[1]), is_one, "{:?}", notes);
    }

    #[test]
    fn what_is_shipped_has_the_meaning_of_the_hub_in_any_order_of_creation_or_is_undecided(
        kind in prop_oneof![12 => 0_usize..5, 1 => Just(5_usize)],
        drafts in prop::collection::vec(draft(), 1..5),
        locals in prop::collection::vec(draft(), 0..3),
        routes in prop::collection::vec(wrapper(), 1..4),
    ) {
        let Some(there) = there(kind, &drafts, &locals) else { return Ok(()) };
        if there.undecided {
            let said = there.said.iter().any(|finding| {
                finding.code == Code::POLICY_UNDECIDED && finding.severity == Severity::Error
                    && finding.notes.len() == 2 && finding.help.is_some() && finding.related.len() == 1
            });
            prop_assert!(said && there.shipped.is_empty());
            // Where the oldest wins one object says it all.
            prop_assert!(there.profile.precedence == Precedence::EstablishedChallenger);
            prop_assert!(!is_rules(kind) || !is_expressible(&there));
            prop_assert!(!is_one_in_any_order(kind, &there), "the outcomes are one");
            let notes = there.said.iter().filter(|finding| finding.code == Code::POLICY_UNDECIDED);
            let notes: Vec<String> = notes.flat_map(|finding| finding.notes.clone()).map(String::from).collect();
            prop_assert!(told(&notes[0]) != told(&notes[1]), "{notes:?}");
            return Ok(());
        }
        // Beside local policies whatever is left commutes.
        prop_assert!(!there.said.has_errors(), "{:?}", there.said);
        check(kind, &there, &routes)?;
    }

    #[test]
    fn policies_of_named_rules_that_all_merge_or_none_of_which_merges_are_never_undecided(
        kind in prop::sample::select(vec![0_usize, 3]),
        mut drafts in prop::collection::vec(draft(), 2..5),
        merges in any::<bool>(),
        routes in prop::collection::vec(wrapper(), 1..4),
    ) {
        for draft in &mut drafts {
            draft.bare = false;
            for wrapper in draft.defaults.iter_mut().chain(&mut draft.overrides) {
                wrapper.strategy = Some(merges);
            }
        }
        let Some(there) = there(kind, &drafts, &[]) else { return Ok(()) };
        prop_assert!(!there.undecided);
        check(kind, &there, &routes)?;
    }
}

/// The entries of RateLimitPolicies on Gateway `infra/gw`, with these settings, the oldest first.
fn with_entries<T>(settings: &[&str], look: impl FnOnce(&Profile, &[Entry]) -> T) -> T {
    let mut text = SMALL.to_owned();
    for (at, settings) in settings.iter().enumerate() {
        text += &limit(&format!("p{at}"), "kind: Gateway, name: gw", settings).replace(
            "namespace: infra}",
            &format!(
                "namespace: infra, creationTimestamp: \"2026-01-0{}T00:00:00Z\"}}",
                at + 1
            ),
        );
    }
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let kind = seen.attachments.kinds.rows().first().unwrap();
    let placed = &kind.nodes[&Node::Gateway(GatewayId::from_row(0))];
    look(&kind.profile, &placed.accepted)
}

const ONE: &str = "defaults: {strategy: merge, limits: {a: {rates: [{limit: 1, window: 1s}]}}}";
const OTHER: &str = "defaults: {strategy: merge, limits: {b: {rates: [{limit: 1, window: 1s}]}}}";
const AGAINST: &str = "defaults: {strategy: merge, limits: {a: {rates: [{limit: 9, window: 1s}]}}}";
const OVER: &str = "overrides: {strategy: merge, limits: {a: {rates: [{limit: 1, window: 1s}]}}}";
const ATOMIC: &str = "limits: {c: {rates: [{limit: 1, window: 1s}]}}";

#[test]
fn two_policies_commute_unless_the_younger_one_would_change_the_result() {
    for (one, other, expected) in [
        (ONE, ONE, true),
        (ONE, OTHER, true),
        (ONE, AGAINST, false),
        (ATOMIC, ATOMIC, true),
        (ATOMIC, ONE, false),
        (OVER, "limits: {a: {rates: [{limit: 9, window: 1s}]}}", true),
        (OVER, ATOMIC, false),
    ] {
        with_entries(&[one, other], |profile, entries| {
            assert_eq!(commute(profile, entries), expected, "{entries:?}");
        });
    }
}

#[test]
fn what_is_shipped_holds_beside_local_policies_only_if_every_order_has_the_meant_result() {
    with_entries(&[ONE, OTHER, AGAINST], |profile, entries| {
        let [one, other, against] = entries else {
            panic!("{entries:?}")
        };
        let holds = |meant: &[&Entry], shipped: &[&Entry], locals: &[&Entry]| {
            let [meant, shipped, locals] =
                [meant, shipped, locals].map(|entries| entries.iter().copied().cloned().collect::<Vec<_>>());
            is_order_independent(profile, &meant, &shipped, &locals)
        };
        assert!(holds(&[one], &[one], &[]));
        assert!(holds(&[one], &[one], &[other]), "they set nothing twice");
        assert!(holds(&[one, other], &[other, one], &[]), "in any order");
        assert!(!holds(&[one], &[other], &[]), "something else is shipped");
        assert!(!holds(&[one], &[one], &[against]), "the local one may be older");
        assert!(!holds(&[one], &[one, against], &[]), "either may be older");
        assert!(!holds(&[one, other], &[one], &[]), "a part is missing");
    });
}
