//! Mistakes that are variables: what somebody meant Flux to put in stands in the input as it is.
//!
//! Owns: the words for that, that one variable is one finding wherever it stands, and that a reference to an object with a
//! mistake is no second one. Flows in: findings in the order of reading, texts, the hub. Flows out: the same findings,
//! fewer and clearer. Must not know: which stage found them.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Finding, Findings, Locate as _, Part, Place, Severity, Within, counted};
use crate::hub::Hub;
use crate::object::{Object, SUBSTITUTE_FIRST, first_variable};
use crate::source::Sources;

/// So many further places of one variable are shown.
const MOST: usize = 3;

/// Codes of references to what is not there.
const NOT_THERE: [Code; 4] = [
    Code::GATEWAY_CLASS_NOT_FOUND,
    Code::PLACEMENT_NOT_FOUND,
    Code::POLICY_TARGET_NOT_FOUND,
    Code::ROUTE_PARENT_NOT_FOUND,
];

/// Says of each variable once that nobody has put its value in, and nothing of what follows from that.
pub(super) fn explain(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    let wrong = if findings.iter().any(|finding| NOT_THERE.contains(&finding.code)) {
        wrong_objects(hub, findings)
    } else {
        Wrong::new()
    };
    let mut kept: Vec<Finding> = Vec::new();
    let mut first: BTreeMap<(Severity, String), (usize, usize)> = BTreeMap::new();
    for finding in std::mem::take(findings) {
        let value = value_at(&finding.place, sources);
        if value.is_some_and(|name| follows(&finding, name, &wrong)) {
            continue;
        }
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
                before.related.push(crate::diagnostic::Label {
                    place: finding.place,
                    text: "and here".to_owned(),
                });
            }
            continue;
        }
        first.insert(key, (kept.len(), 0));
        kept.push(explained(finding, variable));
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
            finding
                .notes
                .push(format!("it stands in {}", counted(more, "more place")));
        }
    }
    // That the work contains it follows.
    kept.retain(|finding| {
        finding.code != Code::WORK_SUBSTITUTION
            || !errors
                .iter()
                .any(|variable| finding.message.contains(variable.as_str()))
    });
    findings.extend(kept);
}

fn explained(finding: Finding, variable: &str) -> Finding {
    let mut finding = finding;
    finding.message = format!("the variable `{variable}` has no value yet: {}", finding.message);
    finding
        .note("Flux puts such values in before it applies (`postBuild`); what is read here is the text before that")
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

/// Objects about which something is said, by name, with the worst of it: nothing finds what is not understood.
type Wrong<'h> = BTreeMap<&'h str, Vec<(&'h Object, Severity)>>;

fn wrong_objects<'h>(hub: &'h Hub, findings: &Findings) -> Wrong<'h> {
    let mut worst: Within<Severity> = Within::default();
    for finding in findings {
        if matches!(finding.place, Place::Field { .. }) && !NOT_THERE.contains(&finding.code) {
            worst.add(&finding.place, finding.severity);
        }
    }
    let mut wrong = Wrong::new();
    for object in hub.objects.iter().chain(&hub.refused) {
        // An error comes before a warning.
        if let Some(worst) = worst.least(&object.place("")) {
            wrong.entry(&object.name).or_default().push((object, worst));
        }
    }
    wrong
}

/// Whether a reference to `name` finds nothing because of what is said of the object of that name, which is as bad.
fn follows(finding: &Finding, name: &str, wrong: &Wrong<'_>) -> bool {
    let is_meant = |kind: &str| match finding.code {
        Code::GATEWAY_CLASS_NOT_FOUND => kind == "GatewayClass",
        Code::PLACEMENT_NOT_FOUND => kind.starts_with("Placement"),
        _ => finding.message.contains(&format!("{kind} ")),
    };
    NOT_THERE.contains(&finding.code)
        && wrong
            .get(name)
            .into_iter()
            .flatten()
            .any(|(object, severity)| *severity <= finding.severity && is_meant(&object.kind))
}
