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

use apimachinery::{GroupKind, Identity};
use indexmap::IndexSet;
use kube_json::Value;

use crate::api::{crd, ocm};
use crate::diagnostic::{
    Code, DocumentId, Finding, Findings, IdentityPart, Lacks, Locate as _, Part, Place, Secrecy, Severity,
    SourceId, counted, nearest,
};
use crate::hub::{Hub, ObjectsByPlace};
use crate::object::{Object, SUBSTITUTE_FIRST, first_placeholder, first_variable};
use crate::placing::overlays::Overlays;
use crate::source::Sources;

/// Leaves out what is there and was not readable, and what is concluded without it.
pub(super) fn drop_findings_about_unreadable(
    (hub, overlays): (&Hub, &Overlays),
    sources: &Sources,
    findings: &mut Findings,
) {
    drop_findings_of_misdefined(hub, findings);
    if !findings.iter().any(Finding::is_about_absence) {
        return;
    }
    // The configuration may name another directory than is meant, and what is in a file without a text nobody knows.
    let is_incomplete = findings.iter().any(|finding| {
        let is_unnamed = matches!(finding.place, Place::Path(_)) && finding.code == Code::INPUT_UNREADABLE;
        finding.severity == Severity::Error && (is_unnamed || finding.code == Code::CONFIG_INVALID)
    });
    let all = findings.clone();
    let objects = WrongObject::all((hub, overlays), sources, &all);
    let files = UnreadFile::all(sources, &all);
    // How many wrong objects findings of a code depend on.
    let mut counts: HashMap<_, usize> = HashMap::new();
    let mut any_of_a_file = false;
    findings.retain(|finding| {
        if !finding.is_about_absence() {
            return true;
        }
        let (code, missing) = (finding.code, finding.missing.as_ref());
        let is_in_file = files.iter().any(|file| file.explains(code, missing));
        any_of_a_file |= is_in_file;
        let is_in_object = if let Some(missing) = missing {
            let mut objects = objects.values();
            objects.any(|object| object.may_be(missing) && object.may_explain(finding))
        } else {
            let explains = |object: &&WrongObject<'_>| {
                depends_on(code, object.kind, object.is_read) && object.may_explain(finding)
            };
            let count = counts.entry((code, finding.projections.clone()));
            let count = *count.or_insert_with(|| objects.values().filter(explains).count());
            let own = finding.place.object().and_then(|at| objects.get(&at));
            // Whether something makes the Secret of a listener depends on what is wrong in the very Gateway.
            let is_of_own = code == Code::SECRET_NOT_RENDERED && own.is_some();
            is_of_own || count > usize::from(own.as_ref().is_some_and(explains))
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
fn drop_findings_of_misdefined(hub: &Hub, findings: &mut Findings) {
    let objects = ObjectsByPlace::new(hub.objects.iter().chain(&hub.refused));
    let wrong = findings.iter().filter(|finding| is_own_error(finding));
    let wrong = wrong.filter_map(|finding| objects.at(&finding.place));
    let definitions: HashMap<Key<'_>, &Object> = wrong
        .filter(|object| crd::is_one(object))
        .map(|object| (object.origin.object(), object))
        .collect();
    // A thousand definitions of one group are asked once for each kind of object.
    let defined: BTreeSet<(Option<&str>, Option<&str>)> = definitions
        .values()
        .map(|definition| crd::declared_kind(definition))
        .collect();
    if defined.is_empty() {
        return;
    }
    let is_near = |text: Option<&str>, own: &str| text.is_none_or(|text| nearest(text, [own]).is_some());
    let mut misdefined: HashMap<GroupKind, bool> = HashMap::new();
    let mut is_misdefined = |object: &Object| {
        let kind = object.group_kind();
        let is_it = |(group, of_kind): &(Option<&str>, Option<&str>)| {
            is_near(*group, &object.api_version.group) && is_near(*of_kind, &object.kind)
        };
        *misdefined
            .entry(kind)
            .or_insert_with(|| defined.iter().any(is_it))
    };
    findings.retain(|finding| {
        let Some(object) = objects.at(&finding.place) else {
            return true;
        };
        if crd::is_one(object) {
            return finding.code != Code::POLICY_KIND_NONCONFORMING
                || !definitions.contains_key(&object.origin.object());
        }
        let is_by_definition = [
            Code::OBJECT_SCHEMA,
            Code::OBJECT_UNKNOWN_FIELD,
            Code::OBJECT_UNKNOWN_KIND,
            Code::POLICY_INVALID,
            Code::POLICY_UNKNOWN_KIND,
        ]
        .contains(&finding.code);
        !((is_by_definition || finding.is_about_absence()) && is_misdefined(object))
    });
}

fn is_own_error(finding: &Finding) -> bool {
    let is_in_an_object = matches!(finding.place, Place::Field { .. });
    let is_of_value = !finding.is_about_absence() && !finding.code.is_conclusion();
    finding.severity == Severity::Error && is_in_an_object && is_of_value
}

/// Where an object is: its document, and its pointer there.
type Key<'a> = (DocumentId, &'a str);

/// An object with errors of its own. What is not known of its identity may be anything.
struct WrongObject<'s> {
    kind: Option<&'s str>,
    namespace: Option<&'s str>,
    name: Option<&'s str>,
    /// Whether its identity or its sections could not be read.
    is_unreadable: bool,
    /// Whether the rest of it counts.
    is_read: bool,
    /// Its own errors.
    errors: Vec<&'s Finding>,
}

impl<'s> WrongObject<'s> {
    fn all(
        (hub, overlays): (&'s Hub, &Overlays),
        sources: &'s Sources,
        findings: &'s Findings,
    ) -> BTreeMap<Key<'s>, Self> {
        let read = ObjectsByPlace::new(hub.everywhere());
        let refused = ObjectsByPlace::new(&hub.refused);
        let mut wrong: BTreeMap<Key<'s>, Self> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| is_own_error(finding)) {
            let Some(at) = finding.place.object() else {
                continue;
            };
            // An error in a value that an overlay sets is one of each object that the overlay changes.
            let place = finding
                .place
                .field()
                .filter(|_| finding.code.group() != "overlay");
            let set = place.into_iter().flat_map(|place| overlays.set_at(place));
            let mut changed = set
                .filter_map(|(_, field, _)| Some((hub.objects.get(&field.object)?, &field.path)))
                .peekable();
            if changed.peek().is_some() {
                for (object, path) in changed {
                    let object = wrong
                        .entry(object.origin.object())
                        .or_insert_with(|| Self::read(object, true));
                    object.is_unreadable |= path == "spec" || has_sections(path);
                    object.errors.push(finding);
                }
                continue;
            }
            let owner = read.at(&finding.place);
            let object = wrong
                .entry(at)
                .or_insert_with(|| match (owner, refused.at(&finding.place)) {
                    (Some(object), _) => Self::read(object, true),
                    (None, Some(object)) => Self::read(object, false),
                    (None, None) => Self::written(at, sources),
                });
            object.is_unreadable |= finding.unknown.is_some() || has_sections_at(finding);
            object.errors.push(finding);
            // What is written there is not what the object is called.
            match finding.unknown {
                Some(IdentityPart::Kind) => object.kind = None,
                Some(IdentityPart::Name) => object.name = None,
                Some(IdentityPart::Namespace) => object.namespace = None,
                None => {}
            }
        }
        wrong
    }

    fn read(object: &'s Object, is_read: bool) -> Self {
        Self {
            kind: Some(&object.kind),
            namespace: object.namespace.as_deref(),
            name: Some(&object.name),
            is_unreadable: !is_read,
            is_read,
            errors: Vec::new(),
        }
    }

    /// What its document says of one that is no object.
    fn written((document, object): Key<'_>, sources: &'s Sources) -> Self {
        let text = |field: &str| {
            let place = Place::value(document, format!("{object}{field}"));
            // Of a field that is missing, the key of its mapping is shown.
            value_at(&place, sources)
                .filter(|text| *text != "metadata" && !text.contains(char::is_whitespace))
        };
        Self {
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            is_unreadable: false,
            is_read: false,
            errors: Vec::new(),
        }
    }

    /// Whether it has errors on all clusters that a finding is about.
    fn may_explain(&self, finding: &Finding) -> bool {
        let is_wrong = |hub: &usize| {
            let mut hubs = self.errors.iter().map(|error| error.projections.as_ref());
            hubs.any(|hubs| hubs.is_none_or(|hubs| hubs.contains(hub)))
        };
        match &finding.projections {
            Some(hubs) => hubs.iter().all(is_wrong),
            None => self.errors.iter().any(|error| error.projections.is_none()),
        }
    }

    /// Whether it may be what is missing.
    fn may_be(&self, missing: &Identity) -> bool {
        let namespaces = self.namespace.zip(missing.namespace.as_deref());
        // A label, not its name, determines the Placement that a decision is for.
        let name = self.name.filter(|_| self.kind != Some("PlacementDecision"));
        self.is_unreadable
            && name.is_none_or(|name| name == missing.name)
            && namespaces.is_none_or(|(own, wanted)| own == wanted)
            && self.kind.is_none_or(|kind| is_of_kind(missing, kind))
    }
}

/// Whether what is missing is of this kind, but for a typo.
fn is_of_kind(missing: &Identity, kind: &str) -> bool {
    let wanted = missing.group_kind.kind.as_str();
    // Decisions stand for their Placement.
    let decisions = (wanted == "Placement").then_some("PlacementDecision");
    nearest(kind, [wanted].into_iter().chain(decisions)).is_some()
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
        Code::POLICY_OVERRIDDEN | Code::POLICY_UNREACHABLE => kind.is_none() || !is_any_of(&ocm::KINDS),
        // A mistake in a route does not change the listeners of another route's parents, unless the route was not read.
        Code::ROUTE_NOT_ATTACHED => {
            is_any_of(&["Gateway", "ListenerSet", "XListenerSet"]) || (!is_read && !is_any_of(&ocm::KINDS))
        }
        // A placed object may be shipped, or cause another one to be there.
        _ => !is_read,
    }
}

/// Whether a path leads into the sections that references name.
fn has_sections(path: &str) -> bool {
    ["spec.listeners", "spec.rules"]
        .iter()
        .any(|sections| path.starts_with(sections))
}

/// Whether a mistake is in what an object is called, or in its sections.
fn has_sections_at(finding: &Finding) -> bool {
    let (Some((_, pointer)), Some((_, object))) = (finding.place.field(), finding.place.object()) else {
        return false;
    };
    let inside = pointer.strip_prefix(object).unwrap_or_default();
    // A typo in `spec` is at a field of the object itself.
    let is_own = inside.matches('/').count() <= 1;
    let path = inside.trim_start_matches('/').replace('/', ".");
    is_own || ["/metadata/name", "/metadata/namespace"].contains(&inside) || has_sections(&path)
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
        let files: BTreeSet<SourceId> = unread.filter_map(|finding| finding.place.source()).collect();
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
    fn explains(&self, code: Code, missing: Option<&Identity>) -> bool {
        let mut kinds = self.kinds.iter();
        let Some(missing) = missing else {
            return self.kinds.is_empty() || kinds.any(|kind| depends_on(code, Some(kind), false));
        };
        let namespace = missing.namespace.as_deref().filter(|_| self.has_namespaces);
        self.words.contains(missing.name.as_str())
            && namespace.is_none_or(|namespace| self.words.contains(namespace))
            && (self.kinds.is_empty() || kinds.any(|kind| is_of_kind(missing, kind)))
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

/// So many further places of one variable, or of one name, are shown.
const MOST_SHOWN: usize = 3;

/// Help that the text as written completes.
const QUOTES: [&str; 2] = ["quote it", "put it in quotes"];

/// Takes the first of the worst out of some findings that are one mistake.
fn take_worst(found: &mut Vec<Arc<Finding>>) -> Option<Finding> {
    let worst = found.iter().map(|finding| finding.severity).min()?;
    let first = found.iter().position(|finding| finding.severity == worst)?;
    Some(Arc::unwrap_or_clone(found.remove(first)))
}

/// The finding with the first of the other places. Several findings may be about one value, whose place is shown once.
fn with_places(finding: Finding, others: &[Arc<Finding>], label: &str) -> Finding {
    let mut places: IndexSet<&Place> = others.iter().map(|other| &other.place).collect();
    places.shift_remove(&finding.place);
    let shown = places.iter().take(MOST_SHOWN);
    let finding = shown.fold(finding, |finding, place| finding.related((*place).clone(), label));
    match places.len().saturating_sub(MOST_SHOWN) {
        0 => finding,
        more => finding.note(format!("it is in {}", counted(more, "more place"))),
    }
}

/// Reports each variable without a value once, and each file with placeholders once.
pub(super) fn explain_placeholders(sources: &Sources, findings: &mut Findings) {
    // They are few, and to locate a value, its document is read again.
    let of_findings: BTreeSet<_> = findings
        .iter()
        .filter_map(|finding| finding.place.document())
        .collect();
    let may_have = |document: &DocumentId| sources.text_of(*document).and_then(first_placeholder).is_some();
    let documents: BTreeSet<DocumentId> = of_findings.into_iter().filter(may_have).collect();
    if documents.is_empty() {
        return;
    }
    // The first of those about one variable stands for the others.
    findings.order_by_position(sources);
    let mut kept = Findings::new();
    let mut groups: Vec<Vec<Arc<Finding>>> = Vec::new();
    let mut by_variable: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_file: BTreeMap<SourceId, usize> = BTreeMap::new();
    let mut errors: BTreeSet<String> = BTreeSet::new();
    for finding in std::mem::take(findings) {
        let Some((source, text)) = placeholder(&finding, &documents, sources) else {
            kept.push(finding);
            continue;
        };
        let variable = first_variable(text).map(|_| text);
        let known = variable.and_then(|variable| by_variable.get(variable));
        let known = known.or_else(|| by_file.get(&source)).copied();
        let number = known.unwrap_or(groups.len());
        by_file.entry(source).or_insert(number);
        if let Some(variable) = variable {
            by_variable.insert(variable, number);
            errors.extend((finding.severity == Severity::Error).then(|| format!("`{variable}`")));
        }
        match groups.get_mut(number) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    // That the work contains it follows.
    kept.retain(|finding| {
        finding.code != Code::WORK_SUBSTITUTION
            || !errors.iter().any(|variable| finding.message.contains(variable))
    });
    for mut group in groups {
        if let Some(worst) = take_worst(&mut group) {
            let text = placeholder(&worst, &documents, sources).map_or("", |(_, text)| text);
            kept.push(with_places(explained(worst, text), &group, "and here"));
        }
    }
    *findings = kept;
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
    if finding.code == Code::WORK_SUBSTITUTION || finding.suppressed.is_some() {
        return None;
    }
    let text = first_placeholder(value_at(&finding.place, sources)?)?;
    // Policies may have templates of their own.
    let is_of_policy = finding.code == Code::POLICY_INVALID && text.starts_with("{{");
    (!is_of_policy).then_some((document.source, text))
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
            read.is_ok_and(|value| value.is_null() || value.is_bool() || value.is_number())
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

/// Makes one finding of all that lack one name. If nothing refers to the near definition, the typo is there, and it is
/// the place of the finding. Otherwise, the typo is in the references.
pub(super) fn gather_by_missing_name(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    let mut gathered: BTreeMap<Lacks, Findings> = BTreeMap::new();
    findings.revise(|finding| match &finding.lacks {
        Some(lacks) if finding.suppressed.is_none() => {
            let of_name = gathered.entry(lacks.clone()).or_default();
            of_name.push(Arc::clone(finding));
            false
        }
        _ => true,
    });
    if gathered.is_empty() {
        return;
    }
    let mut gathered: Vec<(Lacks, Vec<Arc<Finding>>)> = gathered
        .into_iter()
        .map(|(lacks, mut found)| {
            found.order_by_position(sources);
            (lacks, found.into_iter().collect())
        })
        .collect();
    gathered.sort_by_key(|(_, found)| Reverse(found.len()));
    let mut mentions: HashMap<&str, usize> = gathered
        .iter()
        .filter_map(|(lacks, _)| Some((value_at(&lacks.near, sources)?, 0)))
        .collect();
    for object in hub.everywhere() {
        count(&object.value, &mut mentions);
    }
    // Objects whose own references lead nowhere: with a wrong namespace, they do.
    let others = findings.clone();
    let lost: BTreeSet<Key<'_>> = others
        .iter()
        .chain(gathered.iter().flat_map(|(_, found)| found).map(Arc::as_ref))
        .filter(|finding| finding.missing.is_some())
        .filter_map(|finding| finding.place.object())
        .collect();
    let mut misnamed: BTreeMap<Key<'_>, Severity> = BTreeMap::new();
    let mut defined = BTreeSet::new();
    for (lacks, found) in &gathered {
        let near = value_at(&lacks.near, sources);
        let is_unused = near.is_some_and(|near| mentions.get(near).is_none_or(|count| *count <= 1));
        // A dangling object reference proves nothing about the names inside the object, such as those of listeners.
        let of_near = lacks.near.object().filter(|_| is_of_object(&lacks.near));
        let is_lost = of_near.is_some_and(|object| lost.contains(&object));
        // The copies of an object have names of their own, and one typo is in all of them.
        if defined.contains(&lacks.near) {
            continue;
        }
        if is_unused && (found.len() > 1 || is_lost) {
            defined.insert(&lacks.near);
            let definition = at_the_definition(lacks, found, sources);
            misnamed.extend(of_near.zip(definition.as_ref().map(|finding| finding.severity)));
            findings.extend(definition);
        } else {
            let mut references = found.clone();
            let first = take_worst(&mut references);
            findings.extend(first.map(|first| with_places(first, &references, "a reference to it")));
        }
    }
    let follows = |finding: &Finding| {
        let worst = finding.place.object().and_then(|object| misnamed.get(&object));
        finding.missing.is_some()
            && finding
                .lacks
                .as_ref()
                .is_none_or(|lacks| lacks.near != finding.place)
            && worst.is_some_and(|worst| *worst <= finding.severity)
    };
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
fn at_the_definition(lacks: &Lacks, found: &[Arc<Finding>], sources: &Sources) -> Option<Finding> {
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
    let finding = finding.lacks(lacks.what.clone(), lacks.near.clone());
    Some(with_places(finding, found, "a reference to it"))
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
