//! What could not be read is not reported as missing, and nothing is concluded from what is left.
//!
//! Only errors explain, since nothing is rendered then: of a missing name, an error in the identity or the sections of the
//! very object; of a conclusion, an error in an object that it is drawn from. No warning hides another finding.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::variables::value_at;
use crate::api::{crd, ocm};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, SourceId, nearest};
use crate::hub::Hub;
use crate::object::Object;
use crate::source::Sources;

/// Leaves out what is there and was not readable, and what is concluded without it.
pub(super) fn leave_out(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    leave_out_of_misdefined(hub, findings);
    if !findings.iter().any(Finding::is_about_absence) {
        return;
    }
    // The configuration may name another directory than is meant, and what is in a file without a text nobody knows.
    let is_incomplete = findings.iter().any(|finding| {
        let is_unnamed = matches!(finding.place, Place::Path(_)) && finding.code == Code::INPUT_UNREADABLE;
        finding.severity == Severity::Error && (is_unnamed || finding.code == Code::CONFIG_INVALID)
    });
    let objects = WrongObjects::new(hub, sources, findings);
    let files = UnreadFile::all(sources, findings);
    let mut counts: HashMap<Code, usize> = HashMap::new();
    let mut any_of_a_file = false;
    findings.retain(|finding| {
        if !finding.is_about_absence() {
            return true;
        }
        let missing = finding.is_about_a_name().then(|| Missing::of(finding, sources));
        let is_in_file = files
            .iter()
            .any(|file| file.explains(finding.code, missing.as_ref()));
        any_of_a_file |= is_in_file;
        let is_in_object = match &missing {
            Some(missing) => objects.hold(missing),
            None => objects.explain(finding, &mut counts),
        };
        !(is_incomplete || is_in_file || is_in_object)
    });
    if any_of_a_file {
        findings.note_first(
            is_unread_file,
            "its objects are unknown, so findings about missing objects are left out",
            sources,
        );
    }
}

/// Drops what a definition with an error says of the objects of its kind.
fn leave_out_of_misdefined(hub: &Hub, findings: &mut Findings) {
    let all = || hub.objects.iter().chain(&hub.refused);
    let definitions: Vec<&Object> = {
        let wrong = findings.iter().filter(|finding| is_own_error(finding));
        let wrong: HashSet<Key<'_>> = wrong.filter_map(key_of).collect();
        all()
            .filter(|object| crd::is_one(object) && wrong.contains(&key(object)))
            .collect()
    };
    // A thousand definitions of one group are asked once for each kind of object.
    let defined: BTreeSet<(Option<&str>, Option<&str>)> = definitions
        .iter()
        .map(|definition| {
            let spec = definition.root().get("spec");
            (spec.text("group"), spec.get("names").text("kind"))
        })
        .collect();
    if defined.is_empty() {
        return;
    }
    let is_near = |text: Option<&str>, own: &str| text.is_none_or(|text| nearest(text, [own]).is_some());
    let mut is_misdefined: HashMap<(&str, &str), bool> = HashMap::new();
    let mut misdefined: HashSet<Key<'_>> = HashSet::new();
    for object in all().filter(|object| !crd::is_one(object)) {
        let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
        let follows = *is_misdefined.entry((group, kind)).or_insert_with(|| {
            let mut defined = defined.iter();
            defined.any(|(of_group, of_kind)| is_near(*of_group, group) && is_near(*of_kind, kind))
        });
        if follows {
            misdefined.insert(key(object));
        }
    }
    let definitions: HashSet<Key<'_>> = definitions.into_iter().map(key).collect();
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
        let is_of_definition =
            finding.code == Code::POLICY_KIND_NONCONFORMING && definitions.contains(&object);
        let is_follower = is_by_definition || finding.is_about_absence();
        let follows = is_of_definition || (is_follower && misdefined.contains(&object));
        !follows
    });
}

fn is_own_error(finding: &Finding) -> bool {
    let is_in_an_object = matches!(finding.place, Place::Field { .. });
    finding.severity == Severity::Error && is_in_an_object && !finding.is_about_absence()
}

/// The object that a finding reports as missing from the input.
struct Missing<'f> {
    /// The kinds that it may have.
    kinds: Vec<&'f str>,
    /// Its namespace, if it is known.
    namespace: Option<&'f str>,
    /// Its name; of a part of an object, the name of that object.
    name: &'f str,
}

impl<'f> Missing<'f> {
    fn of(finding: &'f Finding, sources: &'f Sources) -> Self {
        // To find the value, its document is read again.
        let of = |kinds: &[&'f str]| Self {
            kinds: kinds.to_vec(),
            namespace: None,
            name: value_at(&finding.place, sources).unwrap_or_default(),
        };
        match finding.code {
            Code::GATEWAY_CLASS_NOT_FOUND => of(&["GatewayClass"]),
            Code::PLACEMENT_NOT_FOUND => of(&["Placement", "PlacementDecision"]),
            Code::PLACEMENT_UNKNOWN_CLUSTER | Code::OVERLAY_UNKNOWN_CLUSTER => of(&["ManagedCluster"]),
            Code::PARAMS_INVALID => of(&["ConfigMap"]),
            // These begin with the object: `Gateway shop/web is not in the input`; or with the overlay that changes it.
            _ => {
                let object = finding.message.split(" changes ").last().unwrap_or_default();
                let mut words = object.split([' ', ',']);
                let kind = words.next().map(|kind| kind.split('.').next().unwrap_or(kind));
                let key = words.next().unwrap_or_default();
                let (namespace, name) = match key.rsplit_once('/') {
                    Some((namespace, name)) => (Some(namespace), name),
                    None => (None, key),
                };
                Self {
                    kinds: kind.into_iter().collect(),
                    namespace,
                    name,
                }
            }
        }
    }

    /// But for a typo in the kind.
    fn is_of_kind(&self, kind: &str) -> bool {
        nearest(kind, self.kinds.iter().copied()).is_some()
    }
}

/// Kind and namespace of an object; what is missing of them may be anything.
type KindAndNamespace<'s> = (Option<&'s str>, Option<&'s str>);

/// The objects with errors of their own.
#[derive(Default)]
struct WrongObjects<'s> {
    /// Those whose identity or sections could not be read, by name: `None` where the name is what is wrong.
    unreadable: HashMap<Option<&'s str>, BTreeSet<KindAndNamespace<'s>>>,
    /// Where each is, its kind, and whether the rest of it counts.
    all: HashMap<(DocumentId, String), (Option<&'s str>, bool)>,
    /// How many there are of a kind, of those that count and of those that do not.
    kinds: BTreeMap<(Option<&'s str>, bool), usize>,
}

impl<'s> WrongObjects<'s> {
    fn new(hub: &'s Hub, sources: &'s Sources, findings: &Findings) -> Self {
        let refused: HashMap<Key<'_>, &Object> =
            hub.refused.iter().map(|object| (key(object), object)).collect();
        let spokes = hub.spokes.values().flat_map(|objects| objects.iter());
        let read = hub.objects.iter().chain(spokes);
        let read: HashMap<Key<'_>, &Object> = read.map(|object| (key(object), object)).collect();
        // Whether each is unreadable, and whether so is its name.
        let mut places: BTreeMap<Key<'_>, (bool, bool)> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| is_own_error(finding)) {
            if let Some(object) = key_of(finding) {
                let (is_unreadable, is_nameless) = places.entry(object).or_default();
                let has_no_name = [Code::OBJECT_NO_NAME, Code::OBJECT_INVALID_NAME].contains(&finding.code);
                *is_nameless |= has_no_name;
                *is_unreadable |= has_no_name || has_sections_at(finding) || refused.contains_key(&object);
            }
        }
        let mut wrong = Self::default();
        for (at, (is_unreadable, is_nameless)) in places {
            let is_read = read.contains_key(&at);
            let (document, object) = at;
            let (kind, namespace, name) = match read.get(&at).or_else(|| refused.get(&at)) {
                Some(object) => (
                    Some(object.kind.as_str()),
                    object.namespace.as_deref(),
                    Some(object.name.as_str()),
                ),
                // Its document is read again.
                None => {
                    let text = |field: &str| {
                        let place = Place::value(document, format!("{object}{field}"));
                        // Of a field that is missing, the key of its mapping is shown.
                        value_at(&place, sources)
                            .filter(|text| *text != "metadata" && !text.contains(char::is_whitespace))
                    };
                    (text("/kind"), text("/metadata/namespace"), text("/metadata/name"))
                }
            };
            if is_unreadable {
                // A label, not its name, determines the Placement that a decision is for.
                let is_named = !is_nameless && kind != Some("PlacementDecision");
                let of_name = wrong.unreadable.entry(name.filter(|_| is_named)).or_default();
                of_name.insert((kind, namespace));
            }
            wrong.all.insert((document, object.to_owned()), (kind, is_read));
            let of_kind = wrong.kinds.entry((kind, is_read)).or_default();
            *of_kind = of_kind.saturating_add(1);
        }
        wrong
    }

    /// Whether what is missing may be one of them.
    fn hold(&self, missing: &Missing<'_>) -> bool {
        let named = self.unreadable.get(&Some(missing.name)).into_iter();
        let nameless = self.unreadable.get(&None).into_iter();
        named.chain(nameless).flatten().any(|(kind, namespace)| {
            let is_there = |wanted| namespace.is_none_or(|own| own == wanted);
            missing.namespace.is_none_or(is_there) && kind.is_none_or(|kind| missing.is_of_kind(kind))
        })
    }

    /// Whether a conclusion may have been drawn without another one of them. `counts` are those of the codes before.
    fn explain(&self, finding: &Finding, counts: &mut HashMap<Code, usize>) -> bool {
        let code = finding.code;
        let own = key_of(finding).and_then(|(document, object)| self.all.get(&(document, object.to_owned())));
        // Whether something makes the Secret of a listener depends on what is wrong in the very Gateway.
        if code == Code::SECRET_NOT_RENDERED && own.is_some() {
            return true;
        }
        let explains = |(kind, is_read): (Option<&str>, bool)| depends_on(code, kind, is_read);
        let all = counts.entry(code).or_insert_with(|| {
            let kinds = self.kinds.iter().filter(|(kind, _)| explains(**kind));
            kinds.map(|(_, count)| count).sum()
        });
        *all > usize::from(own.is_some_and(|own| explains(*own)))
    }
}

/// Whether a conclusion is drawn from objects of this kind: from what is not read of them, or from every field.
fn depends_on(code: Code, kind: Option<&str>, is_read: bool) -> bool {
    let is_any_of = |kinds: &[&str]| kind.is_none_or(|kind| nearest(kind, kinds.iter().copied()).is_some());
    match code {
        Code::PLACEMENT_DIFFERS | Code::PLACEMENT_NO_CLUSTERS | Code::POLICY_UNUSED => is_any_of(&ocm::KINDS),
        Code::SPOKE_UNKNOWN_CLUSTER => !is_read && is_any_of(&ocm::KINDS),
        Code::POLICY_REF_NOT_PERMITTED | Code::REFERENCE_NOT_PERMITTED | Code::SECRET_REF_NOT_PERMITTED => {
            is_any_of(&["ReferenceGrant"])
        }
        Code::PARAMS_RESOURCE => is_any_of(&["CustomResourceDefinition"]),
        Code::SECRET_NOT_FOUND => !is_read && is_any_of(&["Secret"]),
        Code::POLICY_OVERRIDDEN | Code::POLICY_UNREACHABLE | Code::ROUTE_NOT_ATTACHED => {
            kind.is_none() || !is_any_of(&ocm::KINDS)
        }
        // A placed object may be shipped, or cause another one to be there.
        _ => !is_read,
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

/// The words of a file that is not YAML.
struct UnreadFile<'s> {
    kinds: BTreeSet<&'s str>,
    words: HashSet<&'s str>,
    has_namespaces: bool,
}

fn is_unread_file(finding: &Finding) -> bool {
    finding.severity == Severity::Error && ["yaml", "input"].contains(&finding.code.group())
}

impl<'s> UnreadFile<'s> {
    fn all(sources: &'s Sources, findings: &Findings) -> Vec<Self> {
        let unread = findings.iter().filter(|finding| is_unread_file(finding));
        // A file may have many errors.
        let files: BTreeSet<SourceId> = unread
            .filter_map(|finding| match finding.place {
                Place::Text { source, .. } => Some(source),
                Place::Field { document, .. } | Place::Embedded { document, .. } => Some(document.source),
                Place::Path(_) | Place::Run => None,
            })
            .collect();
        let texts = files
            .into_iter()
            .filter_map(|source| Some(sources.file(source)?.text.as_str()));
        texts
            .map(|text| Self {
                kinds: kinds_in(text).collect(),
                words: text.split(is_between_words).collect(),
                has_namespaces: text.contains("namespace:"),
            })
            .collect()
    }

    /// Whether what is missing may be in it, or, if nothing is, what the conclusion is drawn from.
    fn explains(&self, code: Code, missing: Option<&Missing<'_>>) -> bool {
        let mut kinds = self.kinds.iter();
        let Some(missing) = missing else {
            return self.kinds.is_empty() || kinds.any(|kind| depends_on(code, Some(kind), false));
        };
        let namespace = missing.namespace.filter(|_| self.has_namespaces);
        self.words.contains(missing.name)
            && namespace.is_none_or(|namespace| self.words.contains(namespace))
            && (self.kinds.is_empty() || kinds.any(|kind| missing.is_of_kind(kind)))
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
