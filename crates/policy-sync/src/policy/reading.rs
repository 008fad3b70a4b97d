//! Reads one object as a policy. Its spec, without targets and strategy, is taken apart so that it can be merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::pointer;
use kube_json::{Map, Value, json};

use super::kinds::Options;
use super::merge::json_merge_patch::{flatten, patch, unflatten};
use super::model::{Authored, Content, Declared, Element, KindId, Layer, Leaf, Policy, PolicyId, Side};
use super::profile::{ListKey, MergeUnit, Profile, SameTarget, StatusShape, Strategy, Wrappers};
use super::targeting::Targeting;
use crate::api::policy::DeclaredTargets;
use crate::api::targeting::TargetField;
use crate::diagnostic::{Code, Finding, Findings, Severity, nearest, with_article};
use crate::hub::RowId as _;
use crate::object::{Object, Rank, rank_of};

/// Reads one policy, and what is wrong with it. Its number goes into its settings.
pub(crate) fn read_policy<'a>(
    object: &'a Object,
    (id, kind, local): (PolicyId, KindId, bool),
    profile: &Profile,
    options: &Options<'_>,
) -> (Policy<'a>, Findings) {
    // Beside policies of a version that the profile describes: its rules are not those of this one.
    let undescribed = (!profile.describes(&object.api_version.version)).then(|| Profile {
        targeting: Targeting::unknown(),
        ..profile.undescribed()
    });
    let profile = undescribed.as_ref().unwrap_or(profile);
    // Objects that live on a cluster were accepted there.
    let refused = options.refused.filter(|_| !local);
    let mut policy = Policy {
        object,
        kind,
        local,
        rank: Rank {
            priority: priority(object, profile),
            ..rank_of(object, options.ages)
        },
        layers: Arc::from(Vec::new()),
        targets: Vec::new(),
        invalid: None,
        inadmissible: refused.and_then(|refused| refused(object)),
        authored: Vec::new(),
        settings: BTreeMap::new(),
    };
    let mut findings = read_targets(&mut policy, profile);
    let read = match options.interpret.and_then(|interpret| interpret(object)) {
        Some(interpreted) => read(spec_of(&interpreted), profile, id),
        None => read(&spec_of(&object.value).without_nulls(), profile, id),
    };
    policy.layers = Arc::from(read.layers);
    for problem in read.problems {
        if problem.severity == Severity::Error {
            policy.invalid.get_or_insert_with(|| problem.message.clone());
        }
        let place = object.key_place(&problem.pointer);
        let finding = Finding::new(problem.code, place, problem.message);
        findings.push(finding.severity(problem.severity).help(problem.help));
    }
    policy.authored = vec![Authored {
        object,
        locator: Arc::from(object.identity().locator()),
        layers: Arc::clone(&policy.layers),
        rank: policy.rank.clone(),
    }];
    (policy, findings)
}

fn spec_of(object: &Value) -> &Value {
    object.get("spec").unwrap_or(&Value::Null)
}

/// The number by which a kind orders its policies, the lowest first; none is 0.
fn priority(object: &Object, profile: &Profile) -> i64 {
    if let Some(annotation) = &profile.weight_annotation {
        let weight = object.annotation(annotation).unwrap_or_default();
        return weight
            .parse::<i32>()
            .map_or(0, |weight| i64::from(weight).saturating_neg());
    }
    let field = profile.priority_field.as_ref();
    let value = field.and_then(|field| object.value.get("spec")?.get(field)?.as_i64());
    value.unwrap_or_default()
}

/// Reads the targets of a policy. With an error in them, the policy is invalid.
fn read_targets(policy: &mut Policy<'_>, profile: &Profile) -> Findings {
    let mut wrong = Findings::new();
    let object = policy.object;
    let spec = object.root().get("spec");
    let declared = DeclaredTargets::read(object, &mut wrong);
    let fields = &profile.targeting.definition.fields;
    for field in TargetField::ALL {
        let name = field.name();
        let field_of = spec.get(name);
        if field_of.is_present() && !fields.contains(&field) {
            let known: Vec<&str> = fields.iter().map(|field| field.name()).collect();
            let message = format!("{} has no `{name}`", with_article(&profile.kind));
            let place = object.key_place(&field_of.pointer());
            wrong.push(
                Finding::new(Code::POLICY_INVALID, place, message)
                    .help(format!("use `{}`", known.join("` or `"))),
            );
        }
    }
    policy.targets = declared.map_or_else(Vec::new, |declared| {
        let selectors = declared.selectors.iter().map(Declared::selector);
        let references = declared.references.iter().map(Declared::reference);
        references.chain(selectors).collect()
    });
    if policy.targets.is_empty()
        && wrong.is_empty()
        && profile.targeting.definition.is_required
        && !profile.namespace_wide
        && !profile.of_workloads
    {
        wrong.push(without_target(object, fields));
    }
    let mut errors = wrong.iter().filter(|finding| finding.severity == Severity::Error);
    policy.invalid = errors.next().map(|error| error.message.to_string());
    wrong
}

/// A policy whose kind must name a target, and that names none: perhaps by a key that is misspelled, which then is no
/// ignored field beside that.
fn without_target(object: &Object, fields: &[TargetField]) -> Finding {
    let finding = |place| {
        let message = format!("{} names no target", object.identity());
        Finding::new(Code::POLICY_INVALID, place, message)
    };
    let names = || fields.iter().map(|field| field.name());
    let spec = object.root().get("spec");
    let entries = spec.entries();
    let mut unknown = entries.filter(|(key, _)| !names().any(|name| name == *key));
    let misspelled = unknown.find_map(|(key, field)| Some((field, nearest(key, names())?)));
    match misspelled {
        Some((field, meant)) => {
            let pointer = field.pointer();
            finding(object.key_place(&pointer))
                .help(format!("did you mean `{meant}`?"))
                .settles_field()
        }
        None => {
            let field = names().next().unwrap_or("targetRef");
            let finding = finding(object.place("/spec")).help(format!("add `{field}`"));
            // A schema that requires the field, or an entry of it, reports the same.
            let empty = names().filter(|_| spec.value().is_some_and(Value::is_object));
            empty.fold(finding, |finding, name| {
                finding.follows_from(object.place(&pointer::child("/spec", name)))
            })
        }
    }
}

/// Something about a spec that an API server, or its controller, would not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// Pointer of the field in the object.
    pub pointer: String,
    /// One sentence without a full stop.
    pub message: String,
    /// How to fix it.
    pub help: String,
    pub code: Code,
    /// With an error, nothing of the policy counts; else all but this field.
    pub severity: Severity,
}

/// Settings and what is wrong with them.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Defaults first; at most one layer of each side.
    pub(crate) layers: Vec<Layer>,
    /// In the order of the spec.
    pub(super) problems: Vec<Problem>,
}

impl Settings {
    /// Whether a controller would take them.
    pub(crate) fn are_valid(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.all(|problem| problem.severity != Severity::Error)
    }
}

/// Whether a field of a spec names targets.
fn is_of_targets(field: &str) -> bool {
    TargetField::ALL.iter().any(|known| known.name() == field)
}

/// The selector of the workloads that a policy applies to, for kinds that apply to workloads.
const SELECTOR_FIELDS: [&str; 2] = ["selector", "workloadSelector"];

/// Wrapper fields, their side, and their place.
const WRAPPERS: [(&str, Side, &str); 4] = [
    ("defaults", Side::Defaults, "/spec/defaults"),
    ("default", Side::Defaults, "/spec/default"),
    ("overrides", Side::Overrides, "/spec/overrides"),
    ("override", Side::Overrides, "/spec/override"),
];

/// Takes a spec apart. `spec` is the interpreted one: defaults applied, nulls pruned as an API server does.
pub fn read(spec: &Value, profile: &Profile, policy: PolicyId) -> Settings {
    let mut reading = SettingsReading {
        profile,
        policy,
        problems: Vec::new(),
        sides: Default::default(),
    };
    if let Some(spec) = spec.as_object() {
        reading.spec(spec);
    }
    let sides = [Side::Defaults, Side::Overrides].into_iter().zip(reading.sides);
    let layers = sides.filter_map(|(side, wrapped)| {
        Some(Layer {
            side,
            strategy: wrapped.strategy.unwrap_or(profile.strategy),
            content: Arc::new(wrapped.content),
            base: wrapped.base?,
        })
    });
    Settings {
        layers: layers.collect(),
        problems: reading.problems,
    }
}

struct SettingsReading<'p> {
    profile: &'p Profile,
    policy: PolicyId,
    problems: Vec<Problem>,
    /// Defaults and overrides.
    sides: [Wrapped; 2],
}

/// The settings of one side.
#[derive(Default)]
struct Wrapped {
    strategy: Option<Strategy>,
    content: Content,
    base: Option<&'static str>,
}

impl SettingsReading<'_> {
    fn spec(&mut self, spec: &Map) {
        let wrappers = self.wrappers_of(spec);
        let mut bare = Map::new();
        for (key, value) in spec {
            let wrapper = wrappers.iter().any(|(name, ..)| name == key);
            let selects = self.profile.of_workloads && SELECTOR_FIELDS.contains(&key.as_str());
            if !wrapper && !selects && !is_of_targets(key) {
                bare.insert(key.clone(), value.clone());
            }
        }
        // The examples of GEP-713 have `strategy` in the spec and in a wrapper: the one in a wrapper is read last, and
        // counts (docs/systems/gep-713.md#merge-strategies).
        self.bare_strategy(&mut bare);
        if self.profile.wrappers == Wrappers::OneOfDefaultsOverrides {
            self.check_exclusive(&wrappers, &bare);
        }
        if self.profile.wrappers == Wrappers::Default {
            for key in bare.keys() {
                self.ignored(pointer::child("/spec", key), "it is outside `default`");
            }
            bare.clear();
        }
        // A policy that only requests a merge has no settings itself, but replaces none either.
        let asks =
            self.profile.wrappers == Wrappers::Bare && self.sides.iter().any(|side| side.strategy.is_some());
        if asks || !bare.is_empty() {
            self.settle(Side::Defaults, &Value::Object(bare), "/spec");
        }
        for (name, side, base) in wrappers {
            let Some(Value::Object(wrapped)) = spec.get(name) else {
                continue;
            };
            let mut wrapped = wrapped.clone();
            self.strategy(&mut wrapped, side, base);
            self.settle(side, &Value::Object(wrapped), base);
        }
    }

    /// The wrappers that the kind has and the spec uses. For kinds without a profile, only a mapping is one.
    fn wrappers_of(&self, spec: &Map) -> Vec<(&'static str, Side, &'static str)> {
        WRAPPERS
            .into_iter()
            .filter(|(name, ..)| match self.profile.wrappers {
                Wrappers::Bare => false,
                Wrappers::OneOfDefaultsOverrides => matches!(*name, "defaults" | "overrides"),
                Wrappers::Default => *name == "default",
                Wrappers::Any => true,
            })
            .filter(|(name, ..)| spec.get(name).is_some_and(Value::is_object))
            .collect()
    }

    fn check_exclusive(&mut self, wrappers: &[(&str, Side, &str)], bare: &Map) {
        let bare_field = bare.keys().next().map(|key| pointer::child("/spec", key));
        let wrappers = wrappers.iter();
        let wrappers = wrappers.map(|(name, _, base)| ((*base).to_owned(), format!("`{name}`")));
        let bare = bare_field.map(|pointer| (pointer, "settings in the spec itself".to_owned()));
        let used: Vec<(String, String)> = wrappers.chain(bare).collect();
        if let [(_, first), .., (pointer, last)] = used.as_slice() {
            let kind = &self.profile.kind;
            self.problems.push(Problem {
                pointer: pointer.clone(),
                message: format!("{first} and {last} cannot be used together in a {kind}"),
                help: "keep one of them, or write two policies".to_owned(),
                code: Code::POLICY_INVALID,
                severity: Severity::Error,
            });
        }
    }

    /// The strategy of the spec itself. Kuadrant's kinds have none there.
    fn bare_strategy(&mut self, bare: &mut Map) {
        if self.profile.wrappers == Wrappers::OneOfDefaultsOverrides {
            for field in self.profile.strategy_fields.clone() {
                if bare.remove(&field).is_some() {
                    let pointer = pointer::child("/spec", &field);
                    self.ignored(pointer, "it has an effect only inside `defaults` or `overrides`");
                }
            }
            return;
        }
        self.strategy(bare, Side::Defaults, "/spec");
        let [defaults, overrides] = &mut self.sides;
        // GEP-713's examples have one strategy in the spec for both wrappers
        // (docs/systems/gep-713.md#merge-strategies).
        overrides.strategy = defaults.strategy;
    }

    const fn side(&mut self, side: Side) -> &mut Wrapped {
        let [defaults, overrides] = &mut self.sides;
        match side {
            Side::Defaults => defaults,
            Side::Overrides => overrides,
        }
    }

    fn strategy(&mut self, settings: &mut Map, side: Side, base: &str) {
        for field in self.profile.strategy_fields.clone() {
            let Some(Value::String(text)) = settings.get(&field) else {
                continue;
            };
            // The field is not a setting: it must not merge.
            if let Some(strategy) = parse_strategy(text, self.profile) {
                self.side(side).strategy = Some(strategy);
                settings.remove(&field);
                continue;
            }
            // A kind that nobody described may mean something else by a field of this name.
            let known = self.profile.wrappers != Wrappers::Any;
            self.problems.push(Problem {
                pointer: pointer::child(base, &field),
                message: format!("`{text}` is not a merge strategy of {}", self.profile.kind),
                help: format!("write {}", vocabulary(self.profile)),
                code: Code::POLICY_INVALID,
                severity: if known { Severity::Error } else { Severity::Warning },
            });
            if known {
                settings.remove(&field);
            }
        }
    }

    fn settle(&mut self, side: Side, settings: &Value, base: &'static str) {
        let mut content = Content::new();
        let policy = self.policy;
        let leaf = |value: &Value, at: Arc<str>, essential: bool| Leaf {
            value: Arc::new(value.clone()),
            at,
            base,
            policy,
            element: None,
            essential,
        };
        match &self.profile.unit {
            MergeUnit::Rules(rules) => {
                for rule in rules {
                    let Some(value) = settings.pointer(&rule.pointer) else {
                        continue;
                    };
                    if rule.each {
                        for (key, value) in value.as_object().into_iter().flatten() {
                            let at = Arc::from(pointer::child(&rule.pointer, key));
                            let id = Arc::from(format!("{}{key}", rule.id));
                            content.insert(id, leaf(value, at, rule.essential));
                        }
                    // An empty list of predicates asks for nothing.
                    } else if !value.is_null() && !value.as_array().is_some_and(Vec::is_empty) {
                        let at = Arc::from(rule.pointer.as_str());
                        content.insert(Arc::from(rule.id.as_str()), leaf(value, at, rule.essential));
                    }
                }
                let rules: Vec<&str> = rules.iter().map(|rule| rule.pointer.as_str()).collect();
                let mut strays = Vec::new();
                // The controller reads nothing but its rules, and no schema may be there to report the others.
                stray_fields(settings, String::new(), &rules, &mut strays);
                for stray in strays {
                    self.ignored(format!("{base}{stray}"), "this is not a field of its rules");
                }
            }
            MergeUnit::Fields(apart) => {
                let units = (apart.as_slice(), self.profile.list_keys.as_slice());
                visit(units, settings, &Spot::default(), &mut |spot, value| {
                    let at: Arc<str> = Arc::from(spot.at.as_str());
                    let leaf = Leaf {
                        element: spot.element(),
                        ..leaf(value, Arc::clone(&at), true)
                    };
                    content.insert(at, leaf);
                });
            }
            MergeUnit::Whole | MergeUnit::JsonMergePatch => {
                flatten(settings, String::new(), &mut |at, value| {
                    if !self.says_nothing(&at, value) {
                        let at: Arc<str> = Arc::from(at);
                        content.insert(Arc::clone(&at), leaf(value, at, true));
                    }
                });
            }
        }
        let unit = &self.profile.unit;
        let wrapped = self.side(side);
        wrapped.base = Some(base);
        // `defaults` besides a bare spec, or `default`: GEP-2649 forbids neither, so that both count.
        if wrapped.content.is_empty() {
            wrapped.content = content;
        } else {
            patch(&mut wrapped.content, &content, unit);
        }
    }

    /// Whether the controller of the kind takes a field that is there for one that is not: Istio a mode that is UNSET;
    /// NGINX Gateway Fabric an empty list, of which it writes no directive, so that the one above counts
    /// (`nginx/nginx-gateway-fabric internal/controller/nginx/config/policies/ratelimit/generator.go@v2.6.7`).
    fn says_nothing(&self, at: &str, value: &Value) -> bool {
        let is_unset = self.profile.unset_modes && at.ends_with("/mode") && value == "UNSET";
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        is_unset || (is_empty && self.profile.same_target == SameTarget::PerField)
    }

    fn ignored(&mut self, pointer: String, why: &str) {
        self.problems.push(Problem {
            message: format!("this field of a {} is ignored: {why}", self.profile.kind),
            help: "remove it, or move it to where it has an effect".to_owned(),
            pointer,
            code: Code::POLICY_IGNORED_FIELD,
            severity: Severity::Warning,
        });
    }
}

/// The words of Kuadrant's CRDs (docs/systems/kuadrant.md#defaults-and-overrides).
const KUADRANT: &[(&str, Strategy)] = &[("atomic", Strategy::Atomic), ("merge", Strategy::Patch)];

/// Envoy Gateway's merge types; its CRDs refuse `Replace`, which is what counts without one
/// (docs/systems/envoy-gateway.md#merge-types).
const MERGE_TYPES: &[(&str, Strategy)] = &[
    ("StrategicMerge", Strategy::StrategicPatch),
    ("JSONMerge", Strategy::Patch),
];

/// GEP-713's names and those of products, for kinds of which no CRD says which words there are
/// (docs/systems/gep-713.md#merge-strategies).
const ANY_WORDS: &[(&str, Strategy)] = &[
    ("atomic", Strategy::Atomic),
    ("patch", Strategy::Patch),
    ("merge", Strategy::Patch),
    ("replace", Strategy::Atomic),
    ("strategicmerge", Strategy::Patch),
    ("jsonmerge", Strategy::Patch),
];

/// The words that a kind has for its strategies, the usual one first, and whether its CRD takes no others.
const fn words(profile: &Profile) -> (&'static [(&'static str, Strategy)], bool) {
    match profile.status {
        StatusShape::Kuadrant => (KUADRANT, true),
        StatusShape::EnvoyGateway => (MERGE_TYPES, true),
        _ => (ANY_WORDS, false),
    }
}

/// The value of a strategy field. Case counts only where a CRD says which words there are.
fn parse_strategy(text: &str, profile: &Profile) -> Option<Strategy> {
    let (words, is_exact) = words(profile);
    let is_it = |word: &str| word == text || (!is_exact && word.eq_ignore_ascii_case(text));
    let found = words.iter().find(|(word, _)| is_it(word));
    found.map(|(_, strategy)| *strategy)
}

/// The words, for a help line.
fn vocabulary(profile: &Profile) -> String {
    let (words, is_exact) = words(profile);
    if !is_exact {
        return "`atomic`, `patch` or `merge`".to_owned();
    }
    let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    words.join(" or ")
}

/// The place of a field.
#[derive(Clone, Default)]
struct Spot<'u> {
    /// Its pointer, in which the key of an element stands for its position: `/perPort/80/listener`.
    at: String,
    /// Its pointer in the object: `/perPort/0/listener`.
    from: String,
    /// Its pointer for elements of any key: `/perPort/*/listener`.
    pattern: String,
    list: Option<&'u ListKey>,
}

/// Calls `field` for every field of a mapping, and for those below it instead of one that is taken apart
/// ([`MergeUnit::Fields`]) or is one of the lists.
fn visit<'u>(
    (apart, lists): (&[String], &'u [ListKey]),
    value: &Value,
    spot: &Spot<'u>,
    field: &mut impl FnMut(&Spot<'u>, &Value),
) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let is_key = spot.list.and_then(|list| list.key.as_deref()) == Some(key.as_str());
        if is_key && spot.pattern.ends_with("/*") {
            continue;
        }
        let spot = spot.below(key, key, key);
        let list = lists.iter().find(|list| list.pointer == spot.pattern);
        if value.as_object().is_some_and(|fields| !fields.is_empty()) && apart.contains(&spot.pattern) {
            visit((apart, lists), value, &spot, field);
        } else if let Some(elements) = list.and_then(|list| list.numbered(value)) {
            for (position, (number, element)) in elements.into_iter().enumerate() {
                let of_list = Spot { list, ..spot.clone() };
                let spot = of_list.below(&number.to_string(), &position.to_string(), "*");
                visit((apart, lists), element, &spot, field);
            }
        } else {
            field(&spot, value);
        }
    }
}

impl Spot<'_> {
    fn below(&self, at: &str, from: &str, pattern: &str) -> Self {
        Self {
            at: pointer::child(&self.at, at),
            from: pointer::child(&self.from, from),
            pattern: pointer::child(&self.pattern, pattern),
            list: self.list,
        }
    }

    fn element(&self) -> Option<Element> {
        let list = self.list?;
        Some(Element {
            list: Arc::from(list.pointer.as_str()),
            key: list.key.as_deref().map(Arc::from),
            from: Arc::from(self.from.as_str()),
        })
    }
}

impl ListKey {
    /// The elements of a list, each with its key, if that is a number in all of them.
    fn numbered<'v>(&self, list: &'v Value) -> Option<Vec<(u64, &'v Value)>> {
        let key = self.key.as_ref()?;
        let elements = list.as_array()?.iter();
        elements
            .map(|element| Some((element.get(key)?.as_u64()?, element)))
            .collect()
    }
}

/// Fields that lie neither on the way to a rule nor under one.
fn stray_fields(value: &Value, pointer: String, rules: &[&str], strays: &mut Vec<String>) {
    let Value::Object(map) = value else { return };
    for (key, value) in map {
        let here = pointer::child(&pointer, key);
        if rules.contains(&here.as_str()) {
            continue;
        }
        let below = format!("{here}/");
        let on_the_way = rules.iter().any(|rule| rule.starts_with(&below));
        if on_the_way {
            stray_fields(value, here, rules, strays);
        } else {
            strays.push(here);
        }
    }
}

/// A spec with these settings in the place of its own. Its targets stay, and the strategies that it names where they
/// are those of the layers.
pub fn rewritten(spec: &Value, profile: &Profile, layers: &[Layer]) -> Value {
    let names_strategy = |key: &str| profile.strategy_fields.iter().any(|field| field == key);
    let mut written = Map::new();
    for (key, value) in spec.as_object().into_iter().flatten() {
        let holds = |layer: &Layer| layer.base.strip_prefix("/spec/") == Some(key.as_str());
        if is_of_targets(key) || names_strategy(key) {
            written.insert(key.clone(), value.clone());
        } else if let (true, Value::Object(wrapped)) = (layers.iter().any(holds), value) {
            let strategies = wrapped.iter().filter(|(key, _)| names_strategy(key));
            let strategies = strategies.map(|(key, value)| (key.clone(), value.clone()));
            written.insert(key.clone(), Value::Object(strategies.collect()));
        }
    }
    for layer in layers {
        if let (Some(wrapper), Value::Object(settings)) = (
            wrapper_at(&mut written, layer.base),
            unflatten(layer.content.values()),
        ) {
            wrapper.extend(settings);
        }
    }
    // One by one, as a strategy in the spec counts for `overrides`, too.
    for layer in layers {
        let read = read(&Value::Object(written.clone()), profile, PolicyId::from_row(0));
        let said = read.layers.iter().find(|read| read.side == layer.side);
        let merges = |layer: &Layer| layer.strategy.merges();
        if said.is_some_and(|said| merges(said) != merges(layer))
            && let Some(field) = profile.strategy_fields.first()
            && let Some(wrapper) = wrapper_at(&mut written, layer.base)
        {
            // A kind may have two such fields, of which the one that is read last would count.
            wrapper.retain(|key, _| !names_strategy(key));
            wrapper.insert(field.clone(), Value::from(strategy_word(profile, layer.strategy)));
        }
    }
    Value::Object(written)
}

/// A strategy as a spec of the kind names it: Kuadrant has one word for both patches, and a merge type that replaces the
/// policies above is not written.
pub fn strategy_word(profile: &Profile, strategy: Strategy) -> &'static str {
    let (words, _) = words(profile);
    let same = words.iter().find(|(_, known)| *known == strategy);
    let alike = || {
        words
            .iter()
            .find(|(_, known)| known.merges() == strategy.merges())
    };
    same.or_else(alike).map_or("atomic", |(word, _)| word)
}

/// The mapping of a spec that is at `/spec`, or at `/spec/<wrapper>`.
fn wrapper_at<'s>(spec: &'s mut Map, base: &str) -> Option<&'s mut Map> {
    let Some(wrapper) = base.strip_prefix("/spec/") else {
        return Some(spec);
    };
    spec.insert_if_absent(wrapper, || Value::Object(Map::new()));
    spec.get_mut(wrapper)?.as_object_mut()
}

/// Settings in the form of a spec of their kind: bare, or in the only wrapper that the kind has.
pub fn wrapped(profile: &Profile, settings: Value) -> Value {
    match profile.wrappers {
        Wrappers::Default => json!({ "default": settings }),
        Wrappers::Bare | Wrappers::OneOfDefaultsOverrides | Wrappers::Any => settings,
    }
}
