//! The forms for machines that annotate files: one finding for each hub object whose rendering changes.

use std::collections::{BTreeMap, BTreeSet};

use super::clusters::describe;
use super::compare::{ObjectChange, Which};
use super::fields::field_changes;
use super::report::DiffReport;
use super::semantic::field_line;
use super::side::BothSides;
use crate::diagnostic::{Code, Finding, Findings, Part, Place, Severity};

/// How many fields an annotation lists at most.
const LISTED_FIELDS: usize = 10;

/// The differences as findings of the code `diff/changed`: one at the origin of each hub object, and one without
/// a place for each object that has no origin (what spokewright adds itself, or an output tree). Works around
/// objects are left out where something inside changes.
///
/// The places count the files of `locate`.
#[must_use]
pub fn annotations(report: &DiffReport, locate: &BothSides<'_>) -> Findings {
    let mut by_place: BTreeMap<Place, Vec<&ObjectChange>> = BTreeMap::new();
    let mut findings = Findings::new();
    // Where something inside a work changes, on which cluster.
    let inside: BTreeSet<(&str, u32)> = report
        .comparison
        .changes
        .iter()
        .filter(|change| !change.object.is_work)
        .flat_map(|change| {
            change
                .clusters
                .iter()
                .map(|cluster| (change.work.as_str(), *cluster))
        })
        .collect();
    for change in &report.comparison.changes {
        let is_explained = |cluster: &u32| inside.contains(&(change.work.as_str(), *cluster));
        if change.object.is_work && change.clusters.iter().all(is_explained) {
            continue;
        }
        match change.origins.first() {
            Some(sided) => {
                let place = sided.origin.place("", Part::Value);
                let place = match sided.side {
                    Which::Old => locate.old_place(place),
                    Which::New => place,
                };
                by_place.entry(place).or_default().push(change);
            }
            None => findings.push(finding(report, Place::Run, &[change])),
        }
    }
    findings.extend(
        by_place
            .into_iter()
            .map(|(place, changes)| finding(report, place, &changes)),
    );
    findings.order_by_position(locate);
    findings
}

fn finding(report: &DiffReport, place: Place, changes: &[&ObjectChange]) -> Finding {
    let on = |clusters: &[u32]| describe(&report.comparison.clusters, clusters);
    let clusters: Vec<u32> = changes
        .iter()
        .flat_map(|change| change.clusters.iter().copied())
        .collect::<BTreeSet<u32>>()
        .into_iter()
        .collect();
    let message = match changes {
        [one] => format!("{}: {} on {}", one.object, one.change.as_str(), on(&clusters)),
        [first, ..] => format!("{}: {} changes on {}", first.object, changes.len(), on(&clusters)),
        [] => String::new(),
    };
    let mut finding = Finding::new(Code::DIFF_CHANGED, place, message).severity(Severity::Warning);
    let mut room = LISTED_FIELDS;
    for change in changes {
        if changes.len() > 1 {
            if room == 0 {
                break;
            }
            room = room.saturating_sub(1);
            finding = finding.note(format!("{} on {}", change.change.as_str(), on(&change.clusters)));
        }
        if let (Some(old), Some(new)) = (&change.old, &change.new) {
            let fields = field_changes(old, new);
            for field in fields.iter().take(room) {
                finding = finding.note(field_line(field));
            }
            let more = fields.len().saturating_sub(room);
            room = room.saturating_sub(fields.len());
            if more > 0 {
                finding = finding.note(format!("and {more} more fields"));
            }
        }
    }
    finding
}
