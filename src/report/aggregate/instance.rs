//! One object on one cluster, as its work and its feedback report it: where the exported work differs from the planned one,
//! whether the cluster counts, and the objects that stay there although nothing ships them any longer, with the reason
//! (docs/systems/ocm-work.md#appliedmanifestwork, docs/systems/ocm-work.md#the-agents-rights).

use std::collections::{BTreeMap, BTreeSet};

use kube_json::Value;

use crate::api::feedback_path::FeedbackPath;
use crate::api::ocm_work::{APPLIED_MANIFEST_WORK, GROUP};
use crate::diagnostic::first_names;
use crate::hub::Objects;
use crate::outcome::{ManifestProblem, UnknownOnCluster, WorkOnCluster, WorkState};
use crate::render::{ManifestSummary, Rights, Work, WorkId, dotted, list};
use crate::report::exported::{AppliedWork, ExportedWork, Feedback, ManifestStatus, Shared, Verdict};
use crate::report::stored_work::{SpecDigest, configs};

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
        state_of(&self.faults)
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

/// The state of a work with these faults.
pub(super) fn state_of(faults: &[Fault]) -> WorkState {
    faults.first().map_or(WorkState::Applied, |fault| fault.state)
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
    match (&exported.applied, &exported.unavailable) {
        (Some(Verdict::Yes), Some(because)) if exported.unobserved.is_none() => {
            faults.push(Fault::whole(WorkState::Unavailable, Some(because.to_string())));
        }
        (Some(Verdict::Yes), _) => {}
        // Its manifests say more than the work does.
        (Some(Verdict::No { .. }), _) if faults.iter().any(says_why) => {}
        (Some(Verdict::No { because, .. }), _) => {
            faults.push(Fault::whole(WorkState::NotApplied, Some(because.to_string())));
        }
        (None, _) => faults.push(Fault::whole(WorkState::NotApplied, None)),
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
        let words = because.split(|character: char| !character.is_alphanumeric());
        let words: Vec<&str> = words.collect();
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
        let status = feedback.condition(kind).filter(|status| *status != "True")?;
        let words = |name: &str| feedback.text(&format!("{kind}{name}"));
        let words = words("Message").or_else(|| words("Reason"));
        let words = words.filter(|words| !words.is_empty());
        Some(words.map_or_else(|| format!("{kind} is {status}"), str::to_owned))
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
            let mut asked = self.asked().iter();
            let asked = asked.find(|asked| wanted(&asked.path.to_string()))?;
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
        let feedback = planned.and_then(|planned| planned.feedback.get(self.position));
        feedback.map(Vec::as_slice).unwrap_or_default()
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
        let wanted = wanted.iter().filter(|_| self.feedback().is_some());
        let silent = wanted.filter(|kind| !self.reports(kind));
        WorkOnCluster {
            cluster: self.work.cluster.to_owned(),
            work: self.work.name.to_owned(),
            state: self.work.state(),
            not_reported: silent.map(|kind| kind.to_lowercase()).collect(),
        }
    }
}

/// One distinct work of the plan.
#[derive(Debug)]
pub(super) struct PlannedWork {
    spec: SpecDigest,
    /// For each manifest, in order, the values that its feedback rules request.
    feedback: Vec<Vec<AskedFeedback>>,
}

/// One value that a feedback rule requests.
#[derive(Debug)]
pub(super) struct AskedFeedback {
    /// Its name.
    pub(super) name: String,
    /// Where it is read.
    pub(super) path: FeedbackPath,
    /// The value of its path in the object as it is shipped.
    pub(super) shipped: Option<Value>,
}

impl PlannedWork {
    /// Reads the text of a work: once for all clusters that get it.
    pub(super) fn read(work: &Work) -> Self {
        // The cluster's name is not part of the spec, so any will do.
        let value = work.text.value("x");
        Self::of_spec(value.get("spec").unwrap_or(&Value::Null), &work.manifests)
    }

    /// Of a spec whose manifests are these.
    pub(super) fn of_spec(spec: &Value, manifests: &[ManifestSummary]) -> Self {
        let feedback = manifests.iter().zip(list(spec, "/workload/manifests"));
        let feedback = feedback.map(|(summary, manifest)| asked(spec, summary, manifest));
        Self {
            feedback: feedback.collect(),
            spec: SpecDigest::from_spec(spec),
        }
    }

    /// The difference of an exported work; `None` if there is none, or if its spec was not exported.
    pub(super) fn difference(&self, exported: &ExportedWork) -> Option<String> {
        self.spec.difference(exported.spec.as_ref()?)
    }
}

/// The values that the feedback rules of a manifest request.
fn asked(spec: &Value, summary: &ManifestSummary, manifest: &Value) -> Vec<AskedFeedback> {
    let config = configs(list(spec, "/manifestConfigs"), summary).next();
    let rules = config
        .map_or(&[][..], |config| list(config, "/feedbackRules"))
        .iter();
    rules
        .flat_map(|rule| list(rule, "/jsonPaths"))
        .filter_map(|entry| {
            let path = FeedbackPath::parse(entry.get("path")?.as_str()?).ok()?;
            Some(AskedFeedback {
                name: entry.get("name")?.as_str()?.to_owned(),
                shipped: path.first(manifest),
                path,
            })
        })
        .collect()
}

/// So many resources are named in one message.
const MOST_RESOURCES: usize = 5;

/// The applied resources that are in no work of the cluster, according to `has`.
pub(super) fn remains(applied: &AppliedWork, has: impl Fn([&str; 4]) -> bool) -> Vec<ManifestProblem> {
    let resources = applied.resources.iter();
    let resources = resources.map(|resource| resource.each_ref().map(|part| &**part));
    let problems = resources
        .filter(|resource| !has(*resource))
        .map(|[group, resource, namespace, name]| ManifestProblem {
            kind: dotted(group, resource),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            reason: String::new(),
            message: "its agent applied it, but no work contains it anymore".to_owned(),
        });
    problems.collect()
}

/// Group and plural of resources.
pub(super) type Resources<'x> = BTreeSet<(&'x str, &'x str)>;

/// The wanted resources that are not among those that the works of a cluster let its agent delete, in words; `None` where
/// there are none, or where no work there grants anything: then nothing relies on them.
pub(super) fn lacking(deletable: Option<&Rights>, wanted: &Resources<'_>) -> Option<String> {
    let deletable = deletable?;
    let is_in = |granted: &str, wanted: &str| granted == "*" || granted == wanted;
    let may_delete = |(wanted_group, wanted): &&(&str, &str)| {
        let mut rights = deletable.iter();
        rights.any(|(group, resource)| is_in(group, wanted_group) && is_in(resource, wanted))
    };
    let lacking = wanted.iter().filter(|resource| !may_delete(resource));
    let lacking: Vec<String> = lacking.map(|(group, resource)| dotted(group, resource)).collect();
    (!lacking.is_empty()).then(|| {
        format!(
            "{}, which the parameters list; objects of it that left their work are still there",
            first_names(&lacking, MOST_RESOURCES)
        )
    })
}

/// The AppliedManifestWorks of the folders of clusters.
pub(super) fn of_folders(spokes: &BTreeMap<String, Objects>) -> Vec<(&str, AppliedWork)> {
    let shared = Shared::default();
    let mut found = Vec::new();
    for (cluster, objects) in spokes {
        let applied = objects.of_kind(GROUP, APPLIED_MANIFEST_WORK).iter();
        let applied = applied.filter_map(|object| AppliedWork::read(object, &shared));
        found.extend(applied.map(|applied| (cluster.as_str(), applied)));
    }
    found
}
