//! Findings that follow from others: one mistake gives one finding.
//!
//! What could not be read is not reported as missing, and nothing is concluded from what is left. Only errors explain, since
//! nothing is rendered then: of a missing name, an error in the identity or the sections of the very object; of a conclusion,
//! an error in an object that it is drawn from. No warning hides another finding. A missing name gives one finding, however
//! many objects refer to it; so does a variable, placeholder, or template that a tool should have replaced, wherever it is
//! used, and one file gives no more than one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kube_json::Value;

use crate::api::{crd, ocm};
use crate::diagnostic::{
    Code, DocumentId, Finding, Findings, Lacks, Locate as _, Part, Place, Secrecy, Severity, SourceId,
    counted, nearest,
};
use crate::hub::Hub;
use crate::object::{Object, SUBSTITUTE_FIRST, first_placeholder, first_variable};
use crate::source::Sources;

/// Leaves out what is there and was not readable, and what is concluded without it.
pub(super) fn drop_findings_about_unreadable(hub: &Hub, sources: &Sources, findings: &mut Findings) {
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

/// So many further places of one variable, or of one name, are shown.
const MOST_SHOWN: usize = 3;

/// Help that the text as written completes.
const QUOTES: [&str; 2] = ["quote it", "put it in quotes"];

/// The documents with findings that can hold a placeholder: they are few, and to locate a value, its document is read
/// again.
pub(super) fn documents_with_placeholders(sources: &Sources, findings: &Findings) -> BTreeSet<DocumentId> {
    let mut last = None;
    let of_findings = findings.iter().filter_map(|finding| finding.place.field());
    let others = of_findings.filter(|(document, _)| last.replace(*document) != Some(*document));
    let may_have = |document: &DocumentId| sources.text_of(*document).and_then(first_placeholder).is_some();
    others.map(|(document, _)| document).filter(may_have).collect()
}

/// Reports each variable without a value once, and each file with placeholders once. `documents` are those that can hold
/// one.
pub(super) fn explain_placeholders(
    documents: &BTreeSet<DocumentId>,
    sources: &Sources,
    findings: &mut Findings,
) {
    if documents.is_empty() {
        return;
    }
    let found: Vec<Arc<Finding>> = std::mem::take(findings).into_iter().collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_variable: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_file: BTreeMap<SourceId, usize> = BTreeMap::new();
    let mut errors: BTreeSet<String> = BTreeSet::new();
    let mut grouped: BTreeSet<usize> = BTreeSet::new();
    for (index, finding) in found.iter().enumerate() {
        let Some((source, text)) = placeholder(finding, documents, sources) else {
            continue;
        };
        let is_variable = first_variable(text).is_some();
        let of_variable = by_variable.get(text).filter(|_| is_variable);
        let number = of_variable.or_else(|| by_file.get(&source)).copied();
        let number = number.unwrap_or(groups.len());
        by_file.entry(source).or_insert(number);
        if is_variable {
            by_variable.insert(text, number);
            errors.extend((finding.severity == Severity::Error).then(|| format!("`{text}`")));
        }
        match groups.get_mut(number) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
        grouped.insert(index);
    }
    let mut firsts: BTreeMap<usize, Finding> = BTreeMap::new();
    for group in groups {
        // An error stands for warnings.
        let severity = |index: &&usize| found.get(**index).map(|finding| finding.severity);
        let Some(first) = group.iter().min_by_key(severity).copied() else {
            continue;
        };
        let of = |index: usize| found.get(index);
        let Some(finding) = of(first) else { continue };
        let text = placeholder(finding, documents, sources).map_or("", |(_, text)| text);
        let mut finding = explained(Finding::clone(finding), text);
        let others = group.iter().filter(|index| **index != first);
        for other in others.take(MOST_SHOWN).filter_map(|index| of(*index)) {
            finding = finding.related(other.place.clone(), "and here");
        }
        let more = group.len().saturating_sub(MOST_SHOWN).saturating_sub(1);
        if more > 0 {
            finding = finding.note(format!("it is in {}", counted(more, "more place")));
        }
        firsts.insert(first, finding);
    }
    // That the work contains it follows.
    let is_known = |finding: &Finding| {
        finding.code == Code::WORK_SUBSTITUTION
            && errors.iter().any(|variable| finding.message.contains(variable))
    };
    let kept = found
        .iter()
        .enumerate()
        .filter_map(|(index, finding)| match firsts.remove(&index) {
            Some(first) => Some(first.into()),
            None => (!grouped.contains(&index) && !is_known(finding)).then(|| Arc::clone(finding)),
        });
    findings.extend(kept);
}

/// The placeholder in the value that a finding is about, and its file.
fn placeholder<'s>(
    finding: &Finding,
    documents: &BTreeSet<DocumentId>,
    sources: &'s Sources,
) -> Option<(SourceId, &'s str)> {
    let document = finding
        .place
        .document()
        .filter(|document| documents.contains(document))?;
    if finding.code == Code::WORK_SUBSTITUTION || finding.suppressed().is_some() {
        return None;
    }
    let text = first_placeholder(value_at(&finding.place, sources)?)?;
    // Policies may have templates of their own.
    let is_of_policy = finding.code == Code::POLICY_INVALID && text.starts_with("{{");
    (!is_of_policy).then_some((document.source, text))
}

/// Reports the templates of one directory that YAML cannot read once: the directory that is named so, or that of the file.
pub(super) fn gather_templates(sources: &Sources, findings: &mut Findings) {
    let directory = |finding: &Finding| {
        let Place::Text { source, start, .. } = finding.place else {
            return None;
        };
        let file = sources.file(source)?;
        let line = file.text.get(..start)?.rfind('\n').unwrap_or_default();
        let line = file.text.get(line..)?.trim_start_matches('\n').lines().next()?;
        if finding.code.group() != "yaml" || !line.contains("{{") {
            return None;
        }
        let path = file.shown.as_str();
        let end = path
            .find("/templates/")
            .map(|start| start.saturating_add("/templates".len()));
        let directory = path.get(..end.or_else(|| path.rfind('/')).unwrap_or_default())?;
        Some((
            finding.severity,
            if directory.is_empty() { "." } else { directory },
        ))
    };
    let mut of_directories: BTreeMap<_, usize> = BTreeMap::new();
    for key in findings.iter().filter_map(directory) {
        let count = of_directories.entry(key).or_default();
        *count = count.saturating_add(1);
    }
    findings.revise(|finding| {
        let Some(key) = directory(finding) else {
            return true;
        };
        let count = of_directories.remove(&key);
        if let Some(count) = count.filter(|count| *count > 1) {
            let message = format!(
                "`{}` has {count} templates, which are not YAML: {}",
                key.1, finding.message
            );
            Arc::make_mut(finding).message = message.into();
        }
        count.is_some()
    });
}

/// Adds the text as written to help that says to quote it: the value that YAML reads is another one. None of a Secret.
pub(super) fn add_quoting_help(sources: &Sources, findings: &mut Findings) {
    let mut last = None;
    findings.revise(|finding| {
        let help = finding.help.as_deref().filter(|help| QUOTES.contains(help));
        let (Some(help), Some(document)) = (help, finding.place.document()) else {
            return true;
        };
        let is_secret = match last {
            Some((known, is_secret)) if known == document => is_secret,
            _ => sources
                .text_of(document)
                .is_none_or(|text| Secrecy::new(text).covers_document(text)),
        };
        last = Some((document, is_secret));
        let text = value_at(&finding.place, sources).filter(|_| !is_secret);
        // A value that is merged in is written elsewhere.
        let is_written = |text: &&str| {
            let read = kube_yaml::read_document(text, &kube_yaml::Limits::default());
            read.is_ok_and(|value| value.is_null() || value.is_boolean() || value.is_number())
        };
        let new = match text.filter(is_written) {
            Some("") => "write a text here".into(),
            Some(text) => format!("{help}: \"{text}\"").into(),
            None => return true,
        };
        Arc::make_mut(finding).help = Some(new);
        true
    });
}

fn explained(finding: Finding, placeholder: &str) -> Finding {
    if first_variable(placeholder).is_none() {
        let message = format!("`{placeholder}` is a placeholder of a template, not a value");
        let mut explained = Finding::new(finding.code, finding.place, message)
            .severity(finding.severity)
            .help("read what the template makes of it, or list the file under `exclude` in spokewright.yaml");
        explained.notes = finding
            .notes
            .into_iter()
            .filter(|note| note.starts_with("therefore "))
            .collect();
        return explained;
    }
    let mut finding = finding;
    finding.message = format!(
        "the variable `{placeholder}` has no value yet: {}",
        finding.message
    )
    .into();
    finding
        .note(
            "Flux substitutes such values before it applies (`postBuild`); the input is the text before that",
        )
        .help(SUBSTITUTE_FIRST)
}

/// A scalar without its quotes.
fn value_at<'s>(place: &Place, sources: &'s Sources) -> Option<&'s str> {
    let (Place::Field { part, .. } | Place::Embedded { part, .. }) = place else {
        return None;
    };
    let span = sources.locate(place)?;
    let text = span.text.get(span.start..span.end)?;
    let is_scalar = *part == Part::Key || !(text.contains('\n') || text.starts_with(['{', '[', '-']));
    is_scalar.then(|| text.trim_matches(['"', '\'']))
}

/// Makes one finding of all that lack one name. If nothing refers to the near definition, the typo is there, and it is
/// the place of the finding. Otherwise, the typo is in the references.
pub(super) fn gather_by_missing_name(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    let mut gathered: BTreeMap<Lacks, Findings> = BTreeMap::new();
    findings.revise(|finding| match finding.lacking() {
        Some(lacks) if finding.suppressed().is_none() => {
            let of_name = gathered.entry(lacks.clone()).or_default();
            of_name.push(Arc::clone(finding));
            false
        }
        _ => true,
    });
    if gathered.is_empty() {
        return;
    }
    // No more of them are shown than the first one and these.
    let shown = Some(MOST_SHOWN.saturating_add(1));
    let gathered: BTreeMap<Lacks, Vec<Arc<Finding>>> = gathered
        .into_iter()
        .map(|(lacks, mut found)| {
            found.order_by_position(sources, shown);
            (lacks, found.into_iter().collect())
        })
        .collect();
    let mut mentions: HashMap<&str, usize> = gathered
        .keys()
        .filter_map(|lacks| Some((value_at(&lacks.near, sources)?, 0)))
        .collect();
    let spokes = hub.spokes.values().flat_map(|objects| objects.iter());
    for object in hub.objects.iter().chain(spokes) {
        count(&object.value, &mut mentions);
    }
    let object_of = |place: &Place| {
        let (document, item) = place.object()?;
        Some((document, item.map(str::to_owned)))
    };
    // Objects whose own references lead nowhere: with a wrong namespace, they do.
    let lost: BTreeSet<_> = findings
        .iter()
        .chain(gathered.values().flatten().map(Arc::as_ref))
        .filter(|finding| finding.is_about_a_name())
        .filter_map(|finding| object_of(&finding.place))
        .collect();
    let mut misnamed = BTreeMap::new();
    let mut kept = Vec::new();
    let mut gathered: Vec<_> = gathered.into_iter().collect();
    gathered.sort_by_key(|(_, found)| Reverse(found.len()));
    let mut defined = BTreeSet::new();
    for (lacks, found) in gathered {
        let near = value_at(&lacks.near, sources);
        let is_unused = near.is_some_and(|near| mentions.get(near).is_none_or(|count| *count <= 1));
        // A dangling object reference proves nothing about the names inside the object, such as those of listeners.
        let of_near = is_of_object(&lacks.near)
            .then(|| object_of(&lacks.near))
            .flatten();
        let is_lost = of_near.as_ref().is_some_and(|object| lost.contains(object));
        // The copies of an object have names of their own, and one typo is in all of them.
        if defined.contains(&lacks.near) {
            continue;
        }
        if is_unused && (found.len() > 1 || is_lost) {
            defined.insert(lacks.near.clone());
            let definition = at_the_definition(lacks, &found, sources);
            misnamed.extend(of_near.zip(definition.as_ref().map(|finding| finding.severity)));
            kept.extend(definition);
        } else {
            kept.extend(at_the_references(found));
        }
    }
    let follows = |finding: &Finding| {
        let object = object_of(&finding.place);
        finding.is_about_a_name()
            && finding.lacking().is_none_or(|lacks| lacks.near != finding.place)
            && object.is_some_and(|object| {
                misnamed
                    .get(&object)
                    .is_some_and(|worst| *worst <= finding.severity)
            })
    };
    findings.extend(kept);
    findings.retain(|finding| !follows(finding));
}

/// Whether a place is the name or the namespace of an object.
fn is_of_object(place: &Place) -> bool {
    place.field().is_some_and(|(_, pointer)| {
        ["/metadata/name", "/metadata/namespace"]
            .iter()
            .any(|name| pointer.ends_with(name))
    })
}

/// Counts the values that are one of these names.
fn count(value: &Value, mentions: &mut HashMap<&str, usize>) {
    match value {
        Value::String(text) => {
            if let Some(count) = mentions.get_mut(text.as_str()) {
                *count = count.saturating_add(1);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| count(item, mentions)),
        Value::Object(fields) => fields.values().for_each(|field| count(field, mentions)),
        _ => {}
    }
}

/// One finding, at the definition, with the worst severity of all.
fn at_the_definition(lacks: Lacks, found: &[Arc<Finding>], sources: &Sources) -> Option<Finding> {
    let worst = found.iter().min_by_key(|finding| finding.severity)?;
    let references = match found.len() {
        1 => "a reference names".to_owned(),
        many => format!("{many} references name"),
    };
    let message = format!("{references} {}, which does not exist", lacks.what);
    let finding = Finding::new(worst.code, lacks.near.clone(), message)
        .severity(worst.severity)
        .label("no reference names this");
    // What follows is what the code is about.
    let finding = if worst.code == Code::EMPTY_NOTHING_RENDERED {
        let finding = finding.note(worst.message.clone());
        worst.notes.iter().cloned().fold(finding, Finding::note)
    } else {
        finding
    };
    let finding = match value_at(&worst.place, sources) {
        Some(name) => finding.help(format!(
            "did you mean `{name}`? Otherwise, correct the references"
        )),
        None => finding.help("correct this name, or the references"),
    };
    Some(shown(finding, found).lacks(lacks.what, lacks.near))
}

/// One finding, at the first of the worst references.
fn at_the_references(mut found: Vec<Arc<Finding>>) -> Option<Finding> {
    let worst = found.iter().map(|finding| finding.severity).min()?;
    let first = found.iter().position(|finding| finding.severity == worst)?;
    let finding = Arc::unwrap_or_clone(found.remove(first));
    Some(shown(finding, &found))
}

/// The finding with the first of the other references.
fn shown(finding: Finding, others: &[Arc<Finding>]) -> Finding {
    let more = others.len().saturating_sub(MOST_SHOWN);
    let finding = others.iter().take(MOST_SHOWN).fold(finding, |finding, other| {
        finding.related(other.place.clone(), "a reference to it")
    });
    match more {
        0 => finding,
        more => finding.note(format!("it is in {}", counted(more, "more place"))),
    }
}
