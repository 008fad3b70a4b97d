//! Mistakes that are variables, placeholders, or templates: a tool should have replaced them. Texts that YAML reads
//! otherwise.
//!
//! Owns: the wording, and the rule that one variable gives one finding wherever it is used, and one file gives no more
//! than one. Flows in: findings in the order of reading, and texts. Flows out: the same findings, fewer and clearer. Must
//! not know: which stage found them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{
    Code, DocumentId, Finding, Findings, Locate as _, Part, Place, Secrecy, Severity, SourceId, counted,
};
use crate::object::{SUBSTITUTE_FIRST, first_placeholder, first_variable};
use crate::source::Sources;

/// So many further places of one variable are shown.
const MOST: usize = 3;

/// Help that the text as written completes.
const QUOTES: [&str; 2] = ["quote it", "put it in quotes"];

/// The documents with findings that can hold a placeholder: they are few, and to locate a value, its document is read
/// again.
pub(super) fn documents(sources: &Sources, findings: &Findings) -> BTreeSet<DocumentId> {
    let mut last = None;
    let of_findings = findings.iter().filter_map(|finding| finding.place.field());
    let others = of_findings.filter(|(document, _)| last.replace(*document) != Some(*document));
    let may_have = |document: &DocumentId| sources.text_of(*document).and_then(first_placeholder).is_some();
    others.map(|(document, _)| document).filter(may_have).collect()
}

/// Reports each variable without a value once, and each file with placeholders once. `documents` are those that can hold
/// one.
pub(super) fn explain(documents: &BTreeSet<DocumentId>, sources: &Sources, findings: &mut Findings) {
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
        for other in others.take(MOST).filter_map(|index| of(*index)) {
            finding = finding.related(other.place.clone(), "and here");
        }
        let more = group.len().saturating_sub(MOST).saturating_sub(1);
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
pub(super) fn quote(sources: &Sources, findings: &mut Findings) {
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
pub(super) fn value_at<'s>(place: &Place, sources: &'s Sources) -> Option<&'s str> {
    let (Place::Field { part, .. } | Place::Embedded { part, .. }) = place else {
        return None;
    };
    let span = sources.locate(place)?;
    let text = span.text.get(span.start..span.end)?;
    let is_scalar = *part == Part::Key || !(text.contains('\n') || text.starts_with(['{', '[', '-']));
    is_scalar.then(|| text.trim_matches(['"', '\'']))
}
