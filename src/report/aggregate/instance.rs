//! One hub object on one cluster, as its work and its feedback report it.
//!
//! Owns: the problems of a planned work, whether a cluster counts, and its reasons against a condition. Flows in: a
//! planned work, the exported one. Flows out: the report of one cluster. Must not know: other clusters.

use super::planned::{AskedFeedback, PlannedWork};
use crate::outcome::{ManifestProblem, UnknownOnCluster, WorkOnCluster, WorkState};
use crate::render::WorkId;
use crate::report::exported::{ExportedWork, Feedback, ManifestStatus, Verdict};

/// One planned work on one cluster.
#[derive(Debug)]
pub(super) struct PlacedWork<'x> {
    /// The cluster.
    pub(super) cluster: &'x str,
    /// The work.
    pub(super) id: WorkId,
    /// Its name in the plan.
    pub(super) name: &'x str,
    /// Its wanted contents, if it was exported.
    pub(super) planned: Option<&'x PlannedWork>,
    /// That work, when it was exported.
    pub(super) exported: Option<&'x ExportedWork>,
    /// The problems that keep it from being as planned, with the one that explains the others first.
    pub(super) faults: Vec<Fault>,
}

impl PlacedWork<'_> {
    /// Its outcome.
    pub(super) fn state(&self) -> WorkState {
        self.faults
            .first()
            .map_or(WorkState::Applied, |fault| fault.state)
    }

    /// Notes a fault, among the others of its kind.
    pub(super) fn add(&mut self, state: WorkState, because: Option<String>, manifests: Vec<ManifestProblem>) {
        // A work that is not there, or about to go, has said all.
        if matches!(self.state(), WorkState::Missing | WorkState::Deleting) {
            return;
        }
        match self.faults.iter_mut().find(|fault| fault.state == state) {
            Some(fault) => fault.manifests.extend(manifests),
            None => self.faults.push(Fault {
                state,
                because,
                manifests,
            }),
        }
        self.faults.sort_by_key(|fault| fault.state);
    }

    /// The fault of this kind, if it has it.
    fn fault(&self, state: WorkState) -> Option<&Fault> {
        self.faults.iter().find(|fault| fault.state == state)
    }
}

/// One thing that is wrong with a work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// What.
    pub(super) state: WorkState,
    /// The reason, if anything reports one.
    pub(super) because: Option<String>,
    /// The objects that it is about; none: the work as a whole.
    pub(super) manifests: Vec<ManifestProblem>,
}

impl Fault {
    /// Of the work as a whole.
    pub(super) fn whole(state: WorkState, because: Option<String>) -> Self {
        Self {
            state,
            because,
            manifests: Vec::new(),
        }
    }
}

/// The problem of a work; `planned` has its wanted contents, if they are known.
pub(super) fn judged(exported: Option<&ExportedWork>, planned: Option<&PlannedWork>) -> Vec<Fault> {
    let Some(exported) = exported else {
        return vec![Fault::whole(WorkState::Missing, None)];
    };
    if exported.is_deleting {
        return vec![Fault::whole(WorkState::Deleting, None)];
    }
    let mut faults = Vec::new();
    if let Some(difference) = planned.and_then(|planned| planned.difference(exported)) {
        faults.push(Fault::whole(WorkState::Outdated, Some(difference)));
    }
    if let Some((generation, observed)) = exported.unobserved {
        let because = format!("its agent has seen generation {observed}, but it has generation {generation}");
        faults.push(Fault::whole(WorkState::Unobserved, Some(because)));
    }
    for (state, problem) in &exported.wrong {
        match faults.last_mut() {
            Some(last) if last.state == *state => last.manifests.push(problem.clone()),
            // An agent that has not seen the newest spec still reports what has just left it.
            _ if *state == WorkState::LeftBehind && exported.unobserved.is_some() => {}
            _ => faults.push(Fault {
                manifests: vec![problem.clone()],
                ..Fault::whole(*state, None)
            }),
        }
    }
    let says_why = |fault: &Fault| matches!(fault.state, WorkState::Conflict | WorkState::NotApplied);
    match &exported.applied {
        Some(Verdict::Yes) => {}
        // Its manifests say more than the work does.
        Some(Verdict::No { .. }) if faults.iter().any(says_why) => {}
        Some(Verdict::No { because, .. }) => {
            faults.push(Fault::whole(WorkState::NotApplied, Some((**because).to_owned())));
        }
        None => faults.push(Fault::whole(WorkState::NotApplied, None)),
    }
    if exported.applied == Some(Verdict::Yes)
        && let Some(because) = exported
            .unavailable
            .as_deref()
            .filter(|_| exported.unobserved.is_none())
    {
        faults.push(Fault::whole(WorkState::Unavailable, Some(because.to_owned())));
    }
    faults.sort_by_key(|fault| fault.state);
    faults
}

/// One object on one cluster.
#[derive(Debug)]
pub(super) struct Instance<'x> {
    /// The work that should carry it.
    pub(super) work: &'x PlacedWork<'x>,
    /// Its position among the manifests of that work.
    pub(super) position: usize,
    /// The report of the exported work about it.
    pub(super) manifest: Option<&'x ManifestStatus>,
}

impl<'x> Instance<'x> {
    pub(super) fn cluster(&self) -> &'x str {
        self.work.cluster
    }

    /// The feedback of an object that is applied (docs/systems/mgc.md#status-aggregation): one that is not may still
    /// carry what was true before. A manifest without a condition of its own goes by its work's.
    pub(super) fn feedback(&self) -> Option<&'x ManifestStatus> {
        let counts = !matches!(self.work.state(), WorkState::Missing | WorkState::Deleting);
        let manifest = self.manifest.filter(|_| counts)?;
        let of_work = self.work.exported.and_then(|exported| exported.applied.as_ref());
        let applied = manifest.applied.as_ref().or(of_work);
        (applied == Some(&Verdict::Yes)).then_some(manifest)
    }

    /// Why nothing on this cluster can be True.
    pub(super) fn obstacle(&self) -> Option<String> {
        let work = self.work.name;
        for (state, what) in [
            (WorkState::Missing, "missing"),
            (WorkState::Deleting, "being deleted"),
            (WorkState::Outdated, "outdated"),
            (WorkState::Unobserved, "outdated"),
        ] {
            if let Some(fault) = self.work.fault(state) {
                let because = fault.because.iter().map(|because| format!(": {because}"));
                return Some(format!("work `{work}` is {what}{}", because.collect::<String>()));
            }
        }
        // Each manifest is judged by itself: one that failed is not in the way of the others of its work.
        let manifest = self.manifest;
        match manifest.and_then(|manifest| manifest.applied.as_ref()) {
            Some(Verdict::Yes) => {}
            Some(Verdict::No { because, .. }) => return Some(format!("not applied: {because}")),
            None => match self.work.exported.and_then(|exported| exported.applied.as_ref()) {
                Some(Verdict::Yes) => {}
                Some(Verdict::No { because, .. }) => {
                    return Some(format!("work `{work}` is not applied: {because}"));
                }
                None => return Some(format!("work `{work}` is not applied yet")),
            },
        }
        match manifest.and_then(|manifest| manifest.available.as_ref()) {
            Some(Verdict::No { because, .. }) => Some(format!("not available: {because}")),
            Some(Verdict::Yes) | None => None,
        }
    }

    /// The values that its agent could not read, as far as the agent names what it was asked for.
    pub(super) fn unknown(&self) -> Vec<UnknownOnCluster> {
        let manifest = self.feedback();
        let Some(because) = manifest.and_then(|manifest| manifest.unreadable.as_deref()) else {
            return Vec::new();
        };
        let unknown = |name: Option<&str>| UnknownOnCluster {
            name: name.map(str::to_owned),
            cluster: self.cluster().to_owned(),
            message: because.to_owned(),
        };
        let words: Vec<&str> = because
            .split(|character: char| !character.is_alphanumeric())
            .collect();
        let names = self.asked().iter().map(|asked| asked.name.as_str());
        let named = names.filter(|name| words.contains(name) && self.reported(name).is_none());
        let named: Vec<UnknownOnCluster> = named.map(|name| unknown(Some(name))).collect();
        if named.is_empty() {
            vec![unknown(None)]
        } else {
            named
        }
    }

    /// Why a condition is not True on this cluster; `None` where it is. Only the cluster knows, so silence does not
    /// count as True.
    pub(super) fn against(&self, kind: &str) -> Option<String> {
        self.obstacle()
            .or_else(|| self.objection(kind))
            .or_else(|| self.silence(kind))
            .or_else(|| self.lag(kind))
    }

    /// The reason of the cluster against a condition: `None` if it is True, or if nothing is reported.
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
        let unreadable = self.manifest.and_then(|manifest| manifest.unreadable.as_deref());
        let because = unreadable.map_or_else(String::new, |because| format!(": {because}"));
        Some(format!("has not reported {kind}{because}"))
    }

    /// If the parameters request both generations: that the condition is about an older one than the object's.
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
        (observed < generation).then(|| {
            format!("{kind} is about generation {observed}, but the object has generation {generation}")
        })
    }

    /// The values that its feedback rules request.
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
    pub(super) fn reported(&self, name: &str) -> Option<&'x Feedback> {
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
            state: self.work.state(),
            not_reported: silent.map(|kind| kind.to_lowercase()).collect(),
        }
    }
}
