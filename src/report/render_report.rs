//! `render --report`: what was rendered, where it came from, what was withheld, and why.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::diagnostic::{
    API_VERSION, Code, DocumentId, Finding, FindingEntry, Findings, Locate, Part, Place, and_more, counted,
    first_names, one_or_many,
};
use crate::object::Origin;
use crate::outcome::{ObjectStatus, OverlayChanges, PolicyView, SourceLine, WithheldPolicy, overlay_changes};
use crate::placing::overlays::Overlays;
use crate::render::{ManifestSummary, Plan, ReplicaSet, Work};

/// The document, kind `RenderReport`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenderReport<'a> {
    api_version: &'static str,
    kind: &'static str,
    /// By cluster name.
    #[schemars(with = "Vec<ClusterReport>")]
    clusters: ClusterReports<'a>,
    /// What is written instead of works with `--work-kind replica-set`; `clusters` is empty then.
    #[serde(skip_serializing_if = "Option::is_none")]
    replica_sets: Option<Vec<SetReport<'a>>>,
    /// Hub objects with their predicted status.
    objects: &'a [ObjectStatus],
    /// Policies of synced kinds that are not shipped.
    withheld: &'a [WithheldPolicy],
    /// What ClusterOverlays change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlays: Vec<OverlayChanges>,
    /// Everything that was found.
    findings: Vec<FindingEntry<'a>>,
}

/// The clusters with their works, made one by one while they are written: a thousand works of a thousand clusters are a
/// million.
struct ClusterReports<'a> {
    plan: &'a Plan,
    places: RefCell<Places<'a>>,
}

impl Serialize for ClusterReports<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.plan;
        let is_listed = plan.replica_sets.is_none() && plan.work_count() <= MOST_WORKS;
        let clusters = plan.clusters.keys().filter(|_| is_listed);
        serializer.collect_seq(clusters.map(|cluster| {
            let mut places = self.places.borrow_mut();
            let works = plan.works_of(cluster);
            let works = works.map(|work| WorkReport::new(cluster, work, &mut places));
            ClusterReport {
                name: cluster.clone(),
                works: works.collect(),
            }
        }))
    }
}

impl fmt::Debug for ClusterReports<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.clusters.fmt(f)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct ClusterReport {
    name: String,
    works: Vec<WorkReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WorkReport {
    name: String,
    /// Path in the output tree.
    path: String,
    /// Bytes of the file.
    bytes: usize,
    /// Bytes of the manifests by OCM's formula.
    manifest_bytes: u64,
    objects: Vec<ObjectReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SetReport<'a> {
    namespace: &'a str,
    name: &'a str,
    /// Path in the output tree.
    path: String,
    /// Name of the Placement, in the same namespace.
    placement: &'a str,
    /// The clusters that it selects now.
    clusters: &'a [String],
    /// Bytes of the file.
    bytes: usize,
    /// Bytes of the manifests by OCM's formula.
    manifest_bytes: u64,
    objects: Vec<ObjectReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ObjectReport {
    group: String,
    kind: String,
    namespace: String,
    name: String,
    /// Its sources; none for objects that spokewright adds.
    origins: Vec<SourceLine>,
}

/// So many policies that give way are named in one line; the rest is counted.
const MOST_NAMED: usize = 3;

/// Two lines about the policies of which local ones leave nothing on their clusters, shipped or not, and what follows;
/// `None` if there are none.
pub fn kept_by_local_policies(view: &PolicyView<'_>) -> Option<String> {
    let pairs = view.overridden_by_local();
    let clusters: BTreeSet<&str> = pairs.values().flatten().copied().collect();
    let policies: BTreeSet<&str> = pairs.keys().map(|[policy, _]| policy.as_str()).collect();
    let verb = match policies.len() {
        0 => return None,
        1 => "is overridden by a local one",
        _ => "are overridden by local ones",
    };
    let named = pairs.iter().take(MOST_NAMED).map(|([policy, winner], clusters)| {
        let clusters = first_names(clusters, MOST_NAMED);
        format!("{policy} by {winner} on {clusters}")
    });
    let mut named: Vec<String> = named.collect();
    if let Some(more) = and_more(pairs.len().saturating_sub(MOST_NAMED), "") {
        named.push(format!("{more} (`--report FILE` lists all)"));
    }
    let depend = one_or_many(clusters.len(), "depends", "depend");
    let them = one_or_many(pairs.len(), "it", "them");
    let clusters = first_names(&clusters, MOST_NAMED);
    Some(format!(
        "{} {verb}: {}\n{clusters} {depend} on {them}, and this hub does not ship {them}; to change a synced policy there, \
         write a ClusterOverlay",
        counted(policies.len(), "policy"),
        named.join("; ")
    ))
}

impl WorkReport {
    fn new(cluster: &str, work: &Work, places: &mut Places<'_>) -> Self {
        Self {
            name: work.name.clone(),
            path: format!("{cluster}/{}.yaml", work.name),
            bytes: work.text.len(cluster),
            manifest_bytes: work.text.size,
            objects: places.objects(&work.manifests),
        }
    }
}

/// So many works, each on every cluster that receives it, are listed: more are gigabytes of text.
const MOST_WORKS: usize = 500_000;

impl<'a> RenderReport<'a> {
    /// Why the works of a plan are not listed, if they are too many.
    pub fn too_many_to_list(plan: &Plan) -> Option<Finding> {
        let works = plan.work_count();
        let is_too_much = plan.replica_sets.is_none() && works > MOST_WORKS;
        is_too_much.then(|| {
            let message = format!("the report would list {works} works; at most {MOST_WORKS} are listed");
            Finding::new(Code::INPUT_TOO_COSTLY, Place::Run, message)
                .note("a work counts once on each cluster that receives it")
                .help("leave out `--report`, or render a part of the fleet (`--clusters 'eu-*'`, `--shard 1/4`)")
        })
    }

    /// The report of one run. Paths are relative to the input's root, so that it is the same on any machine.
    pub fn new(
        plan: &'a Plan,
        objects: &'a [ObjectStatus],
        withheld: &'a [WithheldPolicy],
        overlays: &Overlays,
        findings: &'a Findings,
        locate: &'a dyn Locate,
    ) -> Self {
        let mut places = Places {
            locate,
            known: HashMap::new(),
        };
        let replica_sets = plan.replica_sets.as_ref().map(|sets| {
            let report = |set: &'a ReplicaSet| SetReport {
                namespace: &set.namespace,
                name: &set.name,
                path: format!("{}/{}.yaml", set.directory, set.name),
                placement: &set.placement,
                clusters: &set.clusters,
                bytes: set.text.len(),
                manifest_bytes: set.size,
                objects: places.objects(&set.manifests),
            };
            sets.iter().map(report).collect()
        });
        let entries = findings.iter().map(|finding| FindingEntry::new(finding, locate));
        Self {
            api_version: API_VERSION,
            kind: "RenderReport",
            clusters: ClusterReports {
                plan,
                places: RefCell::new(places),
            },
            replica_sets,
            objects,
            withheld,
            overlays: overlay_changes(overlays, |_, _| true, |_, _| true, locate),
            findings: entries.collect(),
        }
    }
}

/// Places of origins, each worked out once: the works of a thousand clusters share theirs.
struct Places<'a> {
    locate: &'a dyn Locate,
    known: HashMap<(DocumentId, String), Option<SourceLine>>,
}

impl Places<'_> {
    fn objects(&mut self, manifests: &[ManifestSummary]) -> Vec<ObjectReport> {
        let report = |manifest: &ManifestSummary| ObjectReport {
            group: manifest.group.clone(),
            kind: manifest.kind.clone(),
            namespace: manifest.namespace.clone(),
            name: manifest.name.clone(),
            origins: manifest
                .origins
                .iter()
                .filter_map(|origin| self.place(origin))
                .collect(),
        };
        manifests.iter().map(report).collect()
    }

    fn place(&mut self, origin: &Origin) -> Option<SourceLine> {
        let locate = self.locate;
        let known = self.known.entry((origin.document, origin.pointer.clone()));
        let place = known.or_insert_with(|| SourceLine::of(locate, origin.place("", Part::Value)));
        place.clone()
    }
}
