//! What could not be read is not reported as missing, and nothing is concluded from what is left.
//!
//! Only errors explain, since nothing is rendered then: of a missing name, an error in the identity or the sections of the
//! very object; of a conclusion, an error in an object that it is drawn from. No warning hides another finding.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::variables::value_at;
use crate::api::{crd, ocm};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, nearest};
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
    let objects = Wrong::all(hub, sources, findings);
    let files = UnreadFile::all(sources, findings);
    let mut any_of_a_file = false;
    findings.retain(|finding| {
        if !finding.is_about_absence() {
            return true;
        }
        let explains: Box<dyn Fn(&Wrong<'_>) -> bool> = if finding.is_about_a_name() {
            let missing = Missing::of(finding, sources);
            Box::new(move |object| object.is_unreadable && missing.may_be(object))
        } else {
            Box::new(|object| object.explains(finding.code))
        };
        let own = key_of(finding).map(|(document, object)| (document, object.to_owned()));
        // Whether something makes the Secret of a listener depends on what is wrong in the listener.
        let is_other = |object: &Wrong<'_>| {
            finding.code == Code::SECRET_NOT_RENDERED || own.as_ref() != Some(&object.key)
        };
        let is_in_file = files.iter().any(|file| file.explains(finding, sources));
        any_of_a_file |= is_in_file;
        !(is_incomplete || is_in_file || objects.iter().any(|object| is_other(object) && explains(object)))
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
            Code::PLACEMENT_UNKNOWN_CLUSTER => of(&["ManagedCluster"]),
            Code::PARAMS_INVALID => of(&["ConfigMap"]),
            // These begin with the object: `Gateway shop/web is not in the input`.
            _ => {
                let mut words = finding.message.split(' ');
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

    /// Whether this object may be it; what is not known of an object may be anything.
    fn may_be(&self, object: &Wrong<'_>) -> bool {
        // A label, not its name, determines the Placement that a decision is for.
        let name = object.name.filter(|_| object.kind != Some("PlacementDecision"));
        let is_of_namespace = self
            .namespace
            .is_none_or(|namespace| object.namespace.is_none_or(|own| own == namespace));
        object.kind.is_none_or(|kind| self.is_of_kind(kind))
            && name.is_none_or(|name| name == self.name)
            && is_of_namespace
    }

    /// But for a typo in the kind.
    fn is_of_kind(&self, kind: &str) -> bool {
        nearest(kind, self.kinds.iter().copied()).is_some()
    }
}

/// An object of the hub with an error of its own: `None` where a part of its identity is not there.
struct Wrong<'s> {
    key: (DocumentId, String),
    kind: Option<&'s str>,
    namespace: Option<&'s str>,
    name: Option<&'s str>,
    /// Whether the error is in its identity or its sections.
    is_unreadable: bool,
    /// Whether the rest of it counts.
    is_read: bool,
}

impl<'s> Wrong<'s> {
    fn all(hub: &Hub, sources: &'s Sources, findings: &Findings) -> Vec<Self> {
        let refused: HashSet<Key<'_>> = hub.refused.iter().map(key).collect();
        let spokes = hub.spokes.values().flat_map(|objects| objects.iter());
        let read: HashSet<Key<'_>> = hub.objects.iter().chain(spokes).map(key).collect();
        // Whether each is unreadable, and whether so is its name.
        let mut places: BTreeMap<Key<'_>, (bool, bool)> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| is_own_error(finding)) {
            if let Some(object) = key_of(finding) {
                let (is_unreadable, is_nameless) = places.entry(object).or_default();
                let has_no_name = [Code::OBJECT_NO_NAME, Code::OBJECT_INVALID_NAME].contains(&finding.code);
                *is_nameless |= has_no_name;
                *is_unreadable |= has_no_name || has_sections_at(finding) || refused.contains(&object);
            }
        }
        let wrong = places
            .into_iter()
            .map(|((document, object), (is_unreadable, is_nameless))| {
                let text = |field: &str| {
                    let place = Place::value(document, format!("{object}{field}"));
                    // Of a field that is missing, the key of its mapping is shown.
                    value_at(&place, sources)
                        .filter(|text| *text != "metadata" && !text.contains(char::is_whitespace))
                };
                Self {
                    key: (document, object.to_owned()),
                    kind: text("/kind"),
                    namespace: text("/metadata/namespace"),
                    name: text("/metadata/name").filter(|_| !is_nameless),
                    is_unreadable,
                    is_read: read.contains(&(document, object)),
                }
            });
        wrong.collect()
    }

    /// Whether a conclusion may have been drawn without it: one that is read counts, but for what is concluded from
    /// every field of it.
    fn explains(&self, code: Code) -> bool {
        let is_of_listeners = code == Code::SECRET_NOT_RENDERED && self.kind == Some("Gateway");
        let is_concluded = CONCLUDED.contains(&code) || is_of_listeners || !self.is_read;
        is_concluded && self.kind.is_none_or(|kind| depends_on(code, kind))
    }
}

/// Conclusions that are drawn from all fields of all objects of a kind.
const CONCLUDED: [Code; 10] = [
    Code::PARAMS_RESOURCE,
    Code::PLACEMENT_DIFFERS,
    Code::PLACEMENT_NO_CLUSTERS,
    Code::POLICY_OVERRIDDEN,
    Code::POLICY_REF_NOT_PERMITTED,
    Code::POLICY_UNREACHABLE,
    Code::POLICY_UNUSED,
    Code::REFERENCE_NOT_PERMITTED,
    Code::ROUTE_NOT_ATTACHED,
    Code::SECRET_REF_NOT_PERMITTED,
];

/// Whether a conclusion is drawn from objects of this kind.
fn depends_on(code: Code, kind: &str) -> bool {
    let is_any_of = |kinds: &[&str]| nearest(kind, kinds.iter().copied()).is_some();
    match code {
        Code::PLACEMENT_DIFFERS
        | Code::PLACEMENT_NO_CLUSTERS
        | Code::POLICY_UNUSED
        | Code::SPOKE_UNKNOWN_CLUSTER => is_any_of(&ocm::KINDS),
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
    finding.severity == Severity::Error
        && (finding.code.group() == "yaml" || finding.code == Code::INPUT_UNREADABLE)
}

impl<'s> UnreadFile<'s> {
    fn all(sources: &'s Sources, findings: &Findings) -> Vec<Self> {
        let unread = findings.iter().filter(|finding| is_unread_file(finding));
        let files = unread.filter_map(|finding| match finding.place {
            Place::Text { source, .. } => Some(source),
            Place::Field { document, .. } | Place::Embedded { document, .. } => Some(document.source),
            Place::Path(_) | Place::Run => None,
        });
        let texts = files.filter_map(|source| Some(sources.file(source)?.text.as_str()));
        texts
            .map(|text| Self {
                kinds: kinds_in(text).collect(),
                words: text.split(is_between_words).collect(),
                has_namespaces: text.contains("namespace:"),
            })
            .collect()
    }

    /// Whether what is missing may be in it, or what the conclusion is drawn from.
    fn explains(&self, finding: &Finding, sources: &Sources) -> bool {
        let mut kinds = self.kinds.iter();
        if !finding.is_about_a_name() {
            return self.kinds.is_empty() || kinds.any(|kind| depends_on(finding.code, kind));
        }
        let missing = Missing::of(finding, sources);
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
