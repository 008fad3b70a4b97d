//! One hub object on one cluster: what its work and its feedback say.
//!
//! Owns: when a cluster counts, and what it says against a condition. Flows in: a planned work, the exported one.
//! Flows out: words of one cluster. Must not know: other clusters.

use crate::report::exported::{ExportedWork, ManifestStatus};
use crate::report::status::{WorkOnCluster, WorkState};

/// One object on one cluster.
pub(super) struct Instance<'x> {
    /// The cluster.
    pub(super) cluster: &'x str,
    /// Name of the planned work.
    pub(super) work: &'x str,
    /// That work, when it was exported.
    pub(super) exported: Option<&'x ExportedWork<'x>>,
    /// What it says of the object.
    pub(super) manifest: Option<&'x ManifestStatus<'x>>,
}

impl<'x> Instance<'x> {
    pub(super) fn state(&self) -> WorkState {
        self.exported
            .map_or(WorkState::Missing, |exported| exported.state)
    }

    /// The feedback, where it counts: MGC reads it only from clusters where the work is applied
    /// (docs/systems/mgc.md#status-aggregation). A work that is not
    /// applied, or is being deleted, may still carry what was true before.
    pub(super) fn feedback(&self) -> Option<&'x ManifestStatus<'x>> {
        self.manifest.filter(|_| self.state() == WorkState::Applied)
    }

    /// Why nothing on this cluster can be True.
    pub(super) fn obstacle(&self) -> Option<String> {
        let work = self.work;
        let because = self.exported.and_then(|exported| exported.because);
        match self.state() {
            WorkState::Applied => {
                let refused = self.manifest.and_then(|manifest| manifest.refused);
                refused.map(|because| format!("not applied: {because}"))
            }
            WorkState::NotApplied => Some(match because {
                Some(because) => format!("work `{work}` is not applied: {because}"),
                None => format!("work `{work}` is not applied yet"),
            }),
            WorkState::Deleting => Some(format!("work `{work}` is being deleted")),
            WorkState::Missing | WorkState::Stale => Some(format!("work `{work}` is missing")),
        }
    }

    /// What the cluster says against a condition: `None` where it is True, or where nothing is reported.
    pub(super) fn objection(&self, kind: &str) -> Option<String> {
        let feedback = self.feedback()?;
        match feedback.condition(kind) {
            Some("True") | None => None,
            Some(status) => {
                let words = |name: &str| feedback.text(&format!("{kind}{name}"));
                let words = words("Message").or_else(|| words("Reason"));
                let words = words.filter(|words| !words.is_empty());
                Some(words.map_or_else(|| format!("{kind} is {status}"), str::to_owned))
            }
        }
    }

    pub(super) fn reports(&self, kind: &str) -> bool {
        self.feedback()
            .is_some_and(|feedback| feedback.condition(kind).is_some())
    }

    /// The report's entry; `wanted` are the conditions that a status needs.
    pub(super) fn carrier(&self, wanted: &[&str]) -> WorkOnCluster {
        let silent = wanted
            .iter()
            .filter(|kind| self.state() == WorkState::Applied && !self.reports(kind));
        WorkOnCluster {
            cluster: self.cluster.to_owned(),
            work: self.work.to_owned(),
            state: self.state(),
            not_reported: silent.map(|kind| kind.to_lowercase()).collect(),
        }
    }
}
