//! One mistake gives one finding: findings that follow from a mistake elsewhere are left out.
//!
//! Owns: which findings follow from an object with a mistake, and from one that could not be read. Flows in: findings
//! with their final severities, texts, the hub. Flows out: the findings without those that follow. Must not know: which
//! stage found them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::variables::value_at;
use crate::api::policy::{TargetRef, target_refs};
use crate::api::{crd, ocm};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, KnownNames, Place, Severity, Within, nearest};
use crate::hub::Hub;
use crate::object::Object;
use crate::source::Sources;

/// Drops what follows from a mistake in another object and is not worse.
pub(super) fn leave_out(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    if findings.is_empty() {
        return;
    }
    let wrong = objects_with_errors(hub, findings);
    leave_out_of_misdefined(&wrong, findings);
    if !findings.iter().any(Finding::is_about_absence) {
        return;
    }
    let is_placement_wrong = is_placement_wrong(findings, &wrong);
    let wrong = Wrong::of(hub, &wrong, findings);
    let detached = Detached::of(hub, findings);
    let unread = Unread::of(hub, sources, findings);
    let mut any_of_a_file = false;
    findings.retain(|finding| {
        if !finding.is_about_absence() {
            return true;
        }
        let message = finding.message.as_str();
        let missing = Missing::of(finding, message, sources);
        let is_placed = is_placement_wrong && PLACED.contains(&finding.code);
        let is_in_file = unread.files_explain(finding, &missing);
        any_of_a_file |= is_in_file;
        !(is_in_file
            || is_placed
            || detached.explain(finding)
            || wrong.explain(finding, &missing)
            || unread.objects_explain(finding, &missing))
    });
    if any_of_a_file {
        findings.note_first(
            is_unread_file,
            "its objects are unknown, so findings about missing objects are left out",
            sources,
        );
    }
}

/// Drops what is found in objects whose kind has a definition with an error, or is itself the mistake.
fn leave_out_of_misdefined(wrong: &[&Object], findings: &mut Findings) {
    let errors = || wrong.iter().copied();
    let of_unknown_kind: HashSet<Key<'_>> = {
        let is_one = |finding: &&Finding| finding.code == Code::OBJECT_UNKNOWN_KIND;
        let unknown: HashSet<Key<'_>> = findings.iter().filter(is_one).filter_map(key_of).collect();
        errors()
            .map(key)
            .filter(|object| unknown.contains(object))
            .collect()
    };
    let definitions: Vec<&Object> = errors().filter(|object| crd::is_one(object)).collect();
    // A thousand definitions of one group are asked once for each kind of object.
    let defined: BTreeSet<(Option<&str>, Option<&str>)> = definitions
        .iter()
        .map(|definition| {
            let spec = definition.root().get("spec");
            (spec.text("group"), spec.get("names").text("kind"))
        })
        .collect();
    let is_near = |text: Option<&str>, own: &str| text.is_none_or(|text| nearest(text, [own]).is_some());
    let mut is_misdefined: HashMap<(&str, &str), bool> = HashMap::new();
    let misdefined: HashSet<Key<'_>> = errors()
        .filter(|object| !crd::is_one(object))
        .filter(|object| {
            let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
            *is_misdefined.entry((group, kind)).or_insert_with(|| {
                let mut defined = defined.iter();
                defined.any(|(of_group, of_kind)| is_near(*of_group, group) && is_near(*of_kind, kind))
            })
        })
        .map(key)
        .collect();
    let of_definitions: HashSet<Key<'_>> = definitions.into_iter().map(key).collect();
    findings.retain(|finding| {
        let Some(object) = key_of(finding) else {
            return true;
        };
        let is_by_definition = [
            Code::OBJECT_SCHEMA,
            Code::OBJECT_UNKNOWN_FIELD,
            Code::OBJECT_UNKNOWN_KIND,
            Code::POLICY_INVALID,
            Code::POLICY_UNKNOWN_KIND,
        ]
        .contains(&finding.code);
        let follows = (misdefined.contains(&object) && (is_by_definition || finding.is_about_absence()))
            || (of_unknown_kind.contains(&object) && finding.is_about_absence())
            || (of_definitions.contains(&object) && finding.code == Code::POLICY_KIND_NONCONFORMING);
        !follows
    });
}

/// Routes and policies that are on no path, or on too few, because a reference of theirs leads nowhere.
#[derive(Debug, Default)]
struct Detached<'h> {
    /// All objects by their places; empty if nothing is detached.
    objects: HashMap<Key<'h>, &'h Object>,
    /// Names of what the traffic of such routes passes: Gateways and their classes, namespaces, the routes, backends; and
    /// whether a reference has a typo.
    passed: BTreeMap<&'h str, bool>,
    /// The kinds of such policies.
    kinds: BTreeSet<(&'h str, &'h str)>,
}

impl<'h> Detached<'h> {
    fn of(hub: &'h Hub, findings: &Findings) -> Self {
        let is_reference = |finding: &&Finding| {
            [Code::POLICY_TARGET_NOT_FOUND, Code::ROUTE_PARENT_NOT_FOUND].contains(&finding.code)
        };
        let mut detached = Self::default();
        let mut references = findings.iter().filter(is_reference).peekable();
        if references.peek().is_none() {
            return detached;
        }
        detached.objects = all_objects(hub).map(|object| (key(object), object)).collect();
        for finding in references {
            let object = key_of(finding).and_then(|own| detached.objects.get(&own).copied());
            let Some(object) = object else {
                continue;
            };
            if finding.code == Code::POLICY_TARGET_NOT_FOUND {
                let group = object.api_version.group.as_str();
                detached.kinds.insert((group, &object.kind));
                continue;
            }
            let near = finding.lacking().and_then(|lacks| lacks.near.field());
            let near =
                near.and_then(|(document, pointer)| detached.objects.get(&(document, object_of(pointer))));
            let names = near.copied().into_iter().chain([object]).flat_map(passed_at);
            for name in names {
                let is_typo = finding.lacking().is_some() && finding.severity == Severity::Error;
                *detached.passed.entry(name).or_default() |= is_typo;
            }
        }
        detached
    }

    /// Whether a finding about a policy may be there only because of one of them.
    fn explain(&self, finding: &Finding) -> bool {
        if ![Code::POLICY_OVERRIDDEN, Code::POLICY_UNREACHABLE].contains(&finding.code) {
            return false;
        }
        let Some(policy) = key_of(finding).and_then(|own| self.objects.get(&own)) else {
            return false;
        };
        // With it, another policy of its kind may win, and not override this one.
        let kind = (policy.api_version.group.as_str(), policy.kind.as_str());
        if finding.code == Code::POLICY_OVERRIDDEN && self.kinds.contains(&kind) {
            return true;
        }
        let mut unreported = Findings::new();
        let targets = target_refs(policy, &mut unreported);
        // That a route leads nowhere, and that a policy of what is behind it does, are two mistakes unless one has a typo.
        let counts = |is_typo: &bool| *is_typo || finding.code == Code::POLICY_OVERRIDDEN;
        let is_passed = |target: &TargetRef<'_>| self.passed.get(target.name).is_some_and(counts);
        // Labels may select anything.
        let is_selected = targets.is_empty() && self.passed.values().any(counts);
        is_selected || targets.iter().any(is_passed)
    }
}

/// The names that traffic through a route, or a parent of routes, passes.
fn passed_at(object: &Object) -> BTreeSet<&str> {
    let spec = object.root().get("spec");
    let rules: Vec<_> = spec.get("rules").items().collect();
    let backends = rules
        .iter()
        .flat_map(|rule| rule.get("backendRefs").items().collect::<Vec<_>>());
    let names = [spec.get("gatewayClassName"), spec.get("parentRef").get("name")]
        .into_iter()
        .chain(backends.map(|backend| backend.get("name")));
    let own = [object.name.as_str(), object.namespace_or_empty()];
    names.filter_map(|name| name.str()).chain(own).collect()
}

/// Codes of findings of an evaluation that read a wrong value.
const PLACED: [Code; 3] = [
    Code::PLACEMENT_DIFFERS,
    Code::PLACEMENT_NO_CLUSTERS,
    Code::POLICY_UNUSED,
];

/// Whether there is a mistake in what placements are evaluated from.
fn is_placement_wrong(findings: &Findings, wrong: &[&Object]) -> bool {
    let is_misnamed = |finding: &Finding| {
        finding.code == Code::PLACEMENT_UNKNOWN_SET
            || (finding.code == Code::PLACEMENT_NOT_FOUND && finding.lacking().is_some())
    };
    let is_label = |finding: &Finding| {
        let meant = finding.misspelled().and_then(Place::field);
        meant.is_some_and(|(_, pointer)| pointer.contains("/metadata/labels/"))
    };
    findings
        .iter()
        .any(|finding| is_misnamed(finding) || is_label(finding))
        || wrong.iter().any(|object| object.api_version.group == ocm::GROUP)
}

/// Objects with errors of their own: that they name something that is missing is none of theirs.
fn objects_with_errors<'h>(hub: &'h Hub, findings: &Findings) -> Vec<&'h Object> {
    let objects = || hub.objects.iter().chain(&hub.refused);
    let origins = objects().map(|object| &object.origin);
    let mut errors = Within::these(origins.map(|origin| (origin.document, origin.pointer.as_str())));
    for finding in findings.iter().filter(|finding| is_own_error(finding)) {
        errors.add(&finding.place, ());
    }
    let has_errors = |object: &&Object| {
        let origin = &object.origin;
        errors.least_of((origin.document, &origin.pointer)).is_some()
    };
    objects().filter(has_errors).collect()
}

fn is_own_error(finding: &Finding) -> bool {
    let is_in_an_object = matches!(finding.place, Place::Field { .. });
    finding.severity == Severity::Error && is_in_an_object && !finding.code.is_about_a_name()
}

/// The object that a finding reports as missing from the input.
struct Missing<'f> {
    /// The kinds that it may have; empty if that is not known.
    kinds: Vec<&'f str>,
    /// Its namespace, if it is known.
    namespace: Option<&'f str>,
    /// Its name; of a part of an object, the name of that object.
    name: Option<&'f str>,
}

impl<'f> Missing<'f> {
    fn of(finding: &Finding, message: &'f str, sources: &'f Sources) -> Self {
        // To find the value, its document is read again.
        let value = || value_at(&finding.place, sources);
        if !finding.is_about_a_name() {
            return Self {
                kinds: Vec::new(),
                namespace: None,
                name: None,
            };
        }
        let (kinds, namespace, name) = match finding.code {
            Code::GATEWAY_CLASS_NOT_FOUND => (vec!["GatewayClass"], None, value()),
            Code::PLACEMENT_NOT_FOUND => (vec!["Placement", "PlacementDecision"], None, value()),
            Code::PLACEMENT_UNKNOWN_CLUSTER => (vec!["ManagedCluster"], None, value()),
            Code::PARAMS_INVALID => (vec!["ConfigMap"], None, value()),
            // These begin with the object: `Gateway shop/web is not in the input`.
            _ => {
                let mut words = message.split(' ');
                let kind = words.next().map(|kind| kind.split('.').next().unwrap_or(kind));
                let key = words.next().unwrap_or_default();
                let (namespace, name) = match key.rsplit_once('/') {
                    Some((namespace, name)) => (Some(namespace), name),
                    None => (None, key),
                };
                (kind.into_iter().collect(), namespace, Some(name))
            }
        };
        Self {
            kinds,
            namespace,
            name,
        }
    }

    /// Whether an object of this kind, if it is known, may be what is missing, but for a typo.
    fn may_be(&self, kind: Option<&str>) -> bool {
        kind.is_none_or(|kind| nearest(kind, self.kinds.iter().copied()).is_some())
    }

    /// Whether an object of this kind may be the missing one regardless of its name: a label names the Placement that a
    /// decision is for.
    fn has_any_name(&self, kind: Option<&str>) -> bool {
        kind.is_none_or(|kind| kind == "PlacementDecision") && self.kinds.contains(&"PlacementDecision")
    }
}

/// Objects of the hub with an error, indexed by what findings look for: there may be thousands of both.
struct Wrong<'h> {
    /// Namespaces, by kind and name, of those that cannot be read, so that they, or a section of them, seem missing.
    unreadable: HashMap<(&'h str, &'h str), Vec<&'h str>>,
    /// Those whose error could change a conclusion, by the code of the conclusion.
    by_code: BTreeMap<Code, HashSet<Key<'h>>>,
}

impl<'h> Wrong<'h> {
    /// Conclusions that may be drawn from objects besides the one that they are reported at.
    const DRAWN_FROM_ALL: [Code; 7] = [
        Code::PARAMS_RESOURCE,
        Code::POLICY_OVERRIDDEN,
        Code::POLICY_REF_NOT_PERMITTED,
        Code::POLICY_UNREACHABLE,
        Code::REFERENCE_NOT_PERMITTED,
        Code::ROUTE_NOT_ATTACHED,
        Code::SECRET_REF_NOT_PERMITTED,
    ];

    fn of(hub: &'h Hub, wrong: &[&'h Object], findings: &Findings) -> Self {
        let errors = findings.iter().filter(|finding| is_own_error(finding));
        let unreadable = errors
            .filter(|finding| has_sections_at(finding))
            .filter_map(key_of);
        let unreadable: HashSet<Key<'_>> = unreadable.chain(hub.refused.iter().map(key)).collect();
        let mut namespaces: HashMap<_, Vec<_>> = HashMap::new();
        for object in wrong.iter().filter(|object| unreadable.contains(&key(object))) {
            let called = Self::called(&object.kind, &object.name);
            namespaces
                .entry(called)
                .or_default()
                .push(object.namespace_or_empty());
        }
        let mut by_kind: BTreeMap<&str, Vec<Key<'h>>> = BTreeMap::new();
        for object in wrong {
            by_kind.entry(&object.kind).or_default().push(key(object));
        }
        let by_code = Self::DRAWN_FROM_ALL.into_iter().map(|code| {
            let kinds = by_kind.iter().filter(|(kind, _)| depends_on(code, kind));
            (code, kinds.flat_map(|(_, objects)| objects).copied().collect())
        });
        let by_code = by_code.collect();
        Self {
            unreadable: namespaces,
            by_code,
        }
    }

    /// A label, not its name, determines the Placement that a decision is for.
    fn called<'n>(kind: &'n str, name: &'n str) -> (&'n str, &'n str) {
        (kind, if kind == "PlacementDecision" { "" } else { name })
    }

    /// Whether one of them explains a finding.
    fn explain(&self, finding: &Finding, missing: &Missing<'_>) -> bool {
        if finding.is_about_a_name() {
            let name = missing.name.unwrap_or_default();
            let kinds = missing.kinds.iter();
            let mut unreadable = kinds.filter_map(|kind| self.unreadable.get(&Self::called(kind, name)));
            return unreadable.any(|namespaces| {
                missing
                    .namespace
                    .is_none_or(|namespace| namespaces.contains(&namespace))
            });
        }
        self.by_code.get(&finding.code).is_some_and(|objects| {
            let is_own = key_of(finding).is_some_and(|own| objects.contains(&own));
            objects.len() > usize::from(is_own)
        })
    }
}

/// Whether a mistake is in what an object is called, or in its sections.
fn has_sections_at(finding: &Finding) -> bool {
    let Some((_, pointer)) = finding.place.field() else {
        return false;
    };
    let inside = pointer.strip_prefix(object_of(pointer)).unwrap_or_default();
    // A typo in `spec` is at a field of the object itself.
    let is_own = inside.matches('/').count() <= 1;
    let parts = ["/spec/listeners", "/spec/rules"];
    is_own
        || ["/metadata/name", "/metadata/namespace"].contains(&inside)
        || parts.iter().any(|part| inside.starts_with(part))
}

/// Whether an object of this kind could change a conclusion.
fn depends_on(code: Code, kind: &str) -> bool {
    let is_any_of = |kinds: &[&str]| nearest(kind, kinds.iter().copied()).is_some();
    match code {
        Code::PLACEMENT_DIFFERS | Code::PLACEMENT_NO_CLUSTERS | Code::SPOKE_UNKNOWN_CLUSTER => {
            is_any_of(&ocm::KINDS)
        }
        Code::POLICY_REF_NOT_PERMITTED | Code::REFERENCE_NOT_PERMITTED | Code::SECRET_REF_NOT_PERMITTED => {
            is_any_of(&["ReferenceGrant"])
        }
        Code::PARAMS_RESOURCE => is_any_of(&["CustomResourceDefinition"]),
        Code::SECRET_NOT_FOUND => is_any_of(&["Secret"]),
        Code::POLICY_OVERRIDDEN | Code::POLICY_UNREACHABLE | Code::ROUTE_NOT_ATTACHED => {
            !is_any_of(&ocm::KINDS)
        }
        // A placed object may be shipped, or cause another one to be there.
        _ => true,
    }
}

/// The texts that could not be read because of an error in them, indexed by what findings look for.
#[derive(Debug, Default)]
struct Unread<'s> {
    /// Names of objects that are not in the hub, or not as they were meant, by their kind if it is known.
    objects: BTreeMap<Option<&'s str>, Names<'s>>,
    /// Files that are not YAML.
    files: Vec<UnreadFile<'s>>,
    /// Whether there is a file of which nothing is known.
    is_anything: bool,
}

/// Names of objects.
#[derive(Debug)]
struct Names<'s> {
    known: KnownNames<'s>,
    /// Whether the name of one is not known.
    has_unknown: bool,
}

/// The names in the text of a file that is not YAML.
#[derive(Debug)]
struct UnreadFile<'s> {
    kinds: BTreeSet<&'s str>,
    words: HashSet<&'s str>,
}

fn is_unread_file(finding: &Finding) -> bool {
    finding.severity == Severity::Error
        && (finding.code.group() == "yaml" || finding.code == Code::INPUT_UNREADABLE)
}

impl<'s> Unread<'s> {
    fn of(hub: &Hub, sources: &'s Sources, findings: &Findings) -> Self {
        let mut unread = Self::default();
        // The configuration may name another directory than is meant.
        let is_misconfigured =
            |finding: &Finding| finding.severity == Severity::Error && finding.code == Code::CONFIG_INVALID;
        if findings.iter().any(is_misconfigured) {
            unread.is_anything = true;
        }
        for finding in findings.iter().filter(|finding| is_unread_file(finding)) {
            let source = match finding.place {
                Place::Text { source, .. } => Some(source),
                Place::Field { document, .. } | Place::Embedded { document, .. } => Some(document.source),
                Place::Path(_) | Place::Run => None,
            };
            let text = source
                .and_then(|source| sources.file(source))
                .map(|file| file.text.as_str());
            let kinds: BTreeSet<&str> = text.into_iter().flat_map(kinds_in).collect();
            unread.is_anything |= kinds.is_empty();
            let words = text.unwrap_or_default().split(is_between_words).collect();
            unread.files.push(UnreadFile { kinds, words });
        }
        let errors = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error && finding.code.group() == "object");
        let mut errors = errors.peekable();
        if errors.peek().is_none() {
            return unread;
        }
        let read: HashSet<Key<'_>> = all_objects(hub).map(key).collect();
        let mut objects: BTreeMap<Key<'_>, (Option<&str>, Option<&str>)> = BTreeMap::new();
        for finding in errors {
            let Some((document, pointer)) = finding.place.field() else {
                continue;
            };
            let object = object_of(pointer);
            // An object of a misspelled kind is read as the kind that was meant, but not by everybody.
            if finding.code != Code::OBJECT_UNKNOWN_KIND && read.contains(&(document, object)) {
                continue;
            }
            let text = |field: &str| {
                let place = Place::value(document, format!("{object}{field}"));
                // Of a field that is missing, the key of its mapping is shown.
                value_at(&place, sources)
                    .filter(|text| *text != "metadata" && !text.contains(char::is_whitespace))
            };
            let name = text("/metadata/name").filter(|_| finding.code != Code::OBJECT_NO_NAME);
            objects.insert((document, object), (text("/kind"), name));
        }
        let mut by_kind: BTreeMap<Option<&str>, Vec<Option<&str>>> = BTreeMap::new();
        for (kind, name) in objects.into_values() {
            by_kind.entry(kind).or_default().push(name);
        }
        let names = by_kind.into_iter().map(|(kind, names)| {
            let has_unknown = names.iter().any(Option::is_none);
            let known = KnownNames::of(names.into_iter().flatten());
            (kind, Names { known, has_unknown })
        });
        unread.objects = names.collect();
        unread
    }

    /// Whether a finding may be there only because one of the objects is missing.
    fn objects_explain(&self, finding: &Finding, missing: &Missing<'_>) -> bool {
        let mut objects = self.objects.iter();
        if finding.is_about_a_name() {
            return objects.any(|(kind, names)| {
                let is_named = names.has_unknown
                    || missing.has_any_name(*kind)
                    || missing
                        .name
                        .is_none_or(|name| names.known.nearest(name).is_some());
                is_named && missing.may_be(*kind)
            });
        }
        objects.any(|(kind, _)| kind.is_none_or(|kind| depends_on(finding.code, kind)))
    }

    /// Whether a finding may be there only because one of the files was not read: it has an object of that name or
    /// kind, or nothing is known of it.
    fn files_explain(&self, finding: &Finding, missing: &Missing<'_>) -> bool {
        let is_about_a_name = finding.is_about_a_name();
        let explains = |file: &UnreadFile<'_>| {
            let is_named = missing.name.is_none_or(|name| file.words.contains(name));
            file.kinds.iter().any(|kind| {
                if is_about_a_name {
                    (is_named || *kind == "PlacementDecision") && missing.may_be(Some(kind))
                } else {
                    depends_on(finding.code, kind)
                }
            })
        };
        self.is_anything || self.files.iter().any(explains)
    }
}

/// Whether a character is between two words of a text that would be YAML.
fn is_between_words(character: char) -> bool {
    character.is_whitespace() || "{}[],\"'".contains(character)
}

/// The kinds that a text names which is not YAML.
fn kinds_in(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start_matches(['-', ' ', '{']);
        let kind = line.strip_prefix("kind:")?.trim();
        let kind = kind.split([' ', ',', '}']).next()?.trim_matches(['"', '\'']);
        (!kind.is_empty()).then_some(kind)
    })
}

/// Where an object is.
type Key<'a> = (DocumentId, &'a str);

fn key(object: &Object) -> Key<'_> {
    (object.origin.document, object.origin.pointer.as_str())
}

/// The object that a finding is in.
fn key_of(finding: &Finding) -> Option<Key<'_>> {
    let (document, pointer) = finding.place.field()?;
    Some((document, object_of(pointer)))
}

/// The objects of the hub, and those that live on clusters.
fn all_objects(hub: &Hub) -> impl Iterator<Item = &Object> {
    let spokes = hub.spokes.values().flat_map(|objects| objects.iter());
    hub.objects.iter().chain(spokes)
}

/// The pointer of the object that a value is in: of an item, where the document is a list.
fn object_of(pointer: &str) -> &str {
    let Some(rest) = pointer.strip_prefix("/items/") else {
        return "";
    };
    let item = rest.split('/').next().unwrap_or_default();
    pointer
        .get(.."/items/".len().saturating_add(item.len()))
        .unwrap_or_default()
}
