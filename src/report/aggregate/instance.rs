//! One hub object on one cluster: what its work and its feedback say.
//!
//! Owns: what became of a planned work, when a cluster counts, and what it says against a condition. Flows in: a planned
//! work, the exported one. Flows out: words of one cluster. Must not know: other clusters.

use super::planned::{AskedFeedback, PlannedWork};
use crate::render::WorkId;
use crate::report::exported::{Applied, ExportedWork, Feedback, ManifestStatus};
use crate::report::status::{WorkOnCluster, WorkState};

/// One planned work on one cluster.
#[derive(Debug)]
pub(super) struct PlacedWork<'x> {
    /// The cluster.
    pub(super) cluster: &'x str,
    /// The work.
    pub(super) id: WorkId,
    /// Its name in the plan.
    pub(super) name: &'x str,
    /// What it should hold, when it was exported.
    pub(super) planned: Option<&'x PlannedWork>,
    /// That work, when it was exported.
    pub(super) exported: Option<&'x ExportedWork<'x>>,
    /// What became of it.
    pub(super) state: WorkState,
    /// What its condition Applied says, or why it is outdated.
    pub(super) because: Option<String>,
}

/// What became of a work, and why; `planned` is what it should hold, where that is known.
pub(super) fn judged(
    exported: Option<&ExportedWork<'_>>,
    planned: Option<&PlannedWork>,
) -> (WorkState, Option<String>) {
    let Some(exported) = exported else {
        return (WorkState::Missing, None);
    };
    if exported.is_deleting {
        return (WorkState::Deleting, None);
    }
    let difference = planned.and_then(|planned| planned.difference(&exported.object.value));
    if difference.is_some() {
        return (WorkState::Outdated, difference);
    }
    if let Some(generation) = exported.unobserved {
        let because = format!("its agent has not looked at generation {generation} yet");
        return (WorkState::Outdated, Some(because));
    }
    match exported.applied {
        Some(Applied::Yes) if exported.failed.is_empty() => (WorkState::Applied, None),
        Some(Applied::No(because)) => (WorkState::NotApplied, Some(because.to_owned())),
        Some(Applied::Yes) | None => (WorkState::NotApplied, None),
    }
}

/// One object on one cluster.
#[derive(Debug)]
pub(super) struct Instance<'x> {
    /// The work that should carry it.
    pub(super) work: &'x PlacedWork<'x>,
    /// Its position among the manifests of that work.
    pub(super) position: usize,
    /// What the exported work says of it.
    pub(super) manifest: Option<&'x ManifestStatus<'x>>,
}

impl<'x> Instance<'x> {
    pub(super) fn cluster(&self) -> &'x str {
        self.work.cluster
    }

    /// The feedback of an object that is applied (docs/systems/mgc.md#status-aggregation): one that is not may still
    /// carry what was true before. A manifest without a condition of its own goes by its work's.
    pub(super) fn feedback(&self) -> Option<&'x ManifestStatus<'x>> {
        let counts = !matches!(self.work.state, WorkState::Missing | WorkState::Deleting);
        let manifest = self.manifest.filter(|_| counts)?;
        let of_work = self.work.exported.and_then(|exported| exported.applied);
        let applied = manifest.applied.or(of_work);
        (applied == Some(Applied::Yes)).then_some(manifest)
    }

    /// Why nothing on this cluster can be True.
    pub(super) fn obstacle(&self) -> Option<String> {
        let work = self.work.name;
        match self.work.state {
            WorkState::Missing | WorkState::Stale => return Some(format!("work `{work}` is missing")),
            WorkState::Deleting => return Some(format!("work `{work}` is being deleted")),
            WorkState::Outdated => {
                let because = self.work.because.as_deref().unwrap_or_default();
                return Some(format!("work `{work}` is outdated: {because}"));
            }
            WorkState::Applied | WorkState::NotApplied => {}
        }
        // Each manifest is judged by itself: one that failed is not in the way of the others of its work.
        match self.manifest.and_then(|manifest| manifest.applied) {
            Some(Applied::Yes) => None,
            Some(Applied::No(because)) => Some(format!("not applied: {because}")),
            None => match self.work.exported.and_then(|exported| exported.applied) {
                Some(Applied::Yes) => None,
                Some(Applied::No(because)) => Some(format!("work `{work}` is not applied: {because}")),
                None => Some(format!("work `{work}` is not applied yet")),
            },
        }
    }

    /// Why a condition is not True on this cluster; `None` where it is. Nobody but the cluster knows, so silence is no
    /// True.
    pub(super) fn against(&self, kind: &str) -> Option<String> {
        self.obstacle()
            .or_else(|| self.objection(kind))
            .or_else(|| self.silence(kind))
            .or_else(|| self.lag(kind))
    }

    /// What the cluster says against a condition: `None` where it is True, or where nothing is reported.
    fn objection(&self, kind: &str) -> Option<String> {
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

    fn silence(&self, kind: &str) -> Option<String> {
        if self.reports(kind) {
            return None;
        }
        let unreadable = self.manifest.and_then(|manifest| manifest.unreadable);
        let because = unreadable.map_or_else(String::new, |because| format!(": {because}"));
        Some(format!("has not reported {kind}{because}"))
    }

    /// Where the parameters ask for both generations: that the condition is about an older one than the object's.
    fn lag(&self, kind: &str) -> Option<String> {
        let value = |wanted: &dyn Fn(&str) -> bool| {
            let asked = self
                .asked()
                .iter()
                .find(|asked| wanted(&asked.path.to_string()))?;
            self.reported(&asked.name)?.integer()
        };
        let of_condition = format!("[?(@.type==\"{kind}\")].observedGeneration");
        let observed = value(&|path| path.ends_with(&of_condition))?;
        let generation = value(&|path| path == ".metadata.generation")?;
        (observed < generation)
            .then(|| format!("{kind} is about generation {observed}, the object has {generation}"))
    }

    /// The values that its feedback rules ask for.
    pub(super) fn asked(&self) -> &'x [AskedFeedback] {
        let planned = self.work.planned;
        planned
            .map(|planned| planned.feedback(self.position))
            .unwrap_or_default()
    }

    pub(super) fn reports(&self, kind: &str) -> bool {
        self.feedback()
            .is_some_and(|feedback| feedback.condition(kind).is_some())
    }

    /// A value that the cluster reports.
    pub(super) fn reported(&self, name: &str) -> Option<&'x Feedback<'x>> {
        self.feedback()?.get(name)
    }

    /// The report's entry; `wanted` are the conditions that a status needs.
    pub(super) fn carrier(&self, wanted: &[&str]) -> WorkOnCluster {
        let silent = wanted
            .iter()
            .filter(|kind| self.feedback().is_some() && !self.reports(kind));
        WorkOnCluster {
            cluster: self.work.cluster.to_owned(),
            work: self.work.name.to_owned(),
            state: self.work.state,
            not_reported: silent.map(|kind| kind.to_lowercase()).collect(),
        }
    }
}
