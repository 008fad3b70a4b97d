//! Mistakes that are variables: the input still has variables that Flux should have replaced.
//!
//! Owns: the wording, and the rule that one variable gives one finding, wherever it is used. Flows in: findings in the
//! order of reading, and texts. Flows out: the same findings, fewer and clearer. Must not know: which stage found them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Code, DocumentId, Finding, Findings, Locate as _, Part, Place, Severity, counted};
use crate::object::{SUBSTITUTE_FIRST, first_variable};
use crate::source::Sources;

/// So many further places of one variable are shown.
const MOST: usize = 3;

/// The documents with findings that can hold a variable: they are few, and to locate a value, its document is read again.
pub(super) fn documents(sources: &Sources, findings: &Findings) -> BTreeSet<DocumentId> {
    let mut last = None;
    let of_findings = findings.iter().filter_map(|finding| finding.place.field());
    let others = of_findings.filter(|(document, _)| last.replace(*document) != Some(*document));
    let may_have = |document: &DocumentId| sources.has(*document, "${");
    others.map(|(document, _)| document).filter(may_have).collect()
}

/// Reports each variable without a value once, and nothing that follows from it. `documents` are those that can hold one.
pub(super) fn explain(documents: &BTreeSet<DocumentId>, sources: &Sources, findings: &mut Findings) {
    if documents.is_empty() {
        return;
    }
    let mut kept: Vec<Arc<Finding>> = Vec::new();
    let mut first: BTreeMap<(Severity, String), (usize, usize)> = BTreeMap::new();
    for finding in std::mem::take(findings) {
        let document = finding.place.document();
        let may_have = document.is_some_and(|document| documents.contains(&document));
        let value = may_have.then(|| value_at(&finding.place, sources)).flatten();
        let variable = value.and_then(first_variable);
        let Some(variable) = variable.filter(|_| finding.code != Code::WORK_SUBSTITUTION) else {
            kept.push(finding);
            continue;
        };
        let key = (finding.severity, variable.to_owned());
        if let Some((index, further)) = first.get_mut(&key) {
            *further = further.saturating_add(1);
            if let Some(before) = kept.get_mut(*index)
                && *further <= MOST
            {
                Arc::make_mut(before).related.push(crate::diagnostic::Label {
                    place: finding.place.clone(),
                    text: "and here".into(),
                });
            }
            continue;
        }
        first.insert(key, (kept.len(), 0));
        kept.push(explained(Arc::unwrap_or_clone(finding), variable).into());
    }
    let errors: Vec<String> = first
        .keys()
        .filter(|(severity, _)| *severity == Severity::Error)
        .map(|(_, variable)| format!("`{variable}`"))
        .collect();
    for (index, further) in first.into_values() {
        let more = further.saturating_sub(MOST);
        if let Some(finding) = kept.get_mut(index)
            && more > 0
        {
            Arc::make_mut(finding)
                .notes
                .push(format!("it is in {}", counted(more, "more place")).into());
        }
    }
    // That the work contains it follows.
    kept.retain(|finding| {
        finding.code != Code::WORK_SUBSTITUTION
            || !errors.iter().any(|variable| finding.message.contains(variable))
    });
    findings.extend(kept);
}

fn explained(finding: Finding, variable: &str) -> Finding {
    let mut finding = finding;
    finding.message = format!("the variable `{variable}` has no value yet: {}", finding.message).into();
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
