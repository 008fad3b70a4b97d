//! The stages from a hub to a plan, and to everything that can be reported about it: statuses, lists of what may be deleted,
//! and why an object is in no work any more. Exported works may be many, so they are read one after the other, and no object
//! is kept.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use apimachinery::pointer;

use super::analysis::{Analysis, Received};
use super::empty_result::report_nothing_rendered;
use super::loaded::Loaded;
use super::placed::Placed;
use crate::api::config::{Budget, Secrets};
use crate::api::gateway::GROUP;
use crate::api::kinds::KindTable;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{self, Hub, Table};
use crate::object::well_known::SYNC_WAVE;
use crate::object::{Object, Origin};
use crate::outcome::{Prediction, StatusGroup, WithheldPolicy};
use crate::output::{Earlier, INVENTORY, OutputError, Tree as _, TreeFile, TreeFiles, position, read_tree};
use crate::render::{self, EarlierWorks, Layout, Plan, SyncWaves, WorkKind};
use crate::report::diff::{self, DiffReport, Limit, OnClusters, Side};
use crate::report::{
    Aggregated, Aggregation, ExportedObject, ExportedWorks, ObjectStatus, PolicyView, PruneList, Pruning,
    Shared, WorkOrSet, WorksAndSets,
};
use crate::sync::{
    Admission, NamespaceLabels, OnSpokes, Withheld, report_chosen_nowhere, report_misspelled_backends,
    report_references, report_same_hostnames, report_unused,
};
use crate::{parallel, source};

/// The output of a run, and the findings about it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Rendered {
    /// The works, of the clusters that are asked for.
    pub plan: Plan,
    /// Every cluster of the fleet that receives anything, sorted.
    pub all_clusters: Vec<String>,
    /// Policies of synced kinds that are not shipped, and why.
    pub withheld: Vec<WithheldPolicy>,
}

impl Rendered {
    /// The files, for [`output::write`](crate::output::write()) or [`output::stream`](crate::output::stream()).
    /// `loaded` is the input that this was rendered from: if it selects a part of the fleet, the files of all other
    /// clusters stay.
    #[must_use]
    pub fn layout(&self, loaded: &Loaded) -> Layout<'_> {
        Layout::new(&self.plan, self.all_clusters.clone(), loaded.selection.clone())
    }
}

/// Whether it may be meant that nothing is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmptyResult {
    /// It is an error, `empty/nothing-rendered`.
    #[default]
    Refused,
    /// The user asked for it.
    Allowed,
}

/// The earlier rendering.
#[derive(Debug)]
pub enum Before<'a> {
    /// The tree that an earlier run wrote.
    Tree(&'a Earlier),
    /// Another rendering, in memory.
    Rendered(&'a Layout<'a>),
}

impl Before<'_> {
    fn paths(&self) -> Vec<Cow<'_, str>> {
        match self {
            Self::Tree(earlier) => earlier.paths().map(Cow::Borrowed).collect(),
            Self::Rendered(layout) => (0..layout.len()).map(|index| layout.path(index)).collect(),
        }
    }

    /// The text at a path, if `layout` has another one there or none.
    fn replaced(&self, layout: &Layout<'_>, path: &str) -> Result<Option<String>, OutputError> {
        match self {
            Self::Tree(earlier) => earlier.replaced(layout, path),
            Self::Rendered(before) => {
                let text = |layout: &Layout<'_>| {
                    let mut text = Vec::new();
                    layout.content(position(layout, path)?, &mut text);
                    Some(String::from_utf8_lossy(&text).into_owned())
                };
                let old = text(before);
                Ok(old.filter(|old| layout.owns(path) && text(layout).as_ref() != Some(old)))
            }
        }
    }
}

impl Analysis<'_> {
    /// Finds what would go unnoticed if `layout`, the files of `rendered`, replaces the earlier rendering: rights that
    /// disappear before the objects that they are for, objects that leave all clusters and not the input, and updates that
    /// clusters would refuse. For a part
    /// of the fleet, only that part is compared. Nothing is compared if an error among the `findings` may leave something
    /// out. The result names the clusters, Gateways, and policies that leave the tree.
    ///
    /// # Errors
    /// When an output tree, or a file in it, cannot be read: then it cannot be written either.
    pub fn compare_earlier(
        &self,
        (rendered, layout): (&Rendered, &Layout<'_>),
        before: &Before<'_>,
        findings: &mut Findings,
    ) -> Result<Option<String>, OutputError> {
        let (found, leaving) = self
            .placed
            .compare_earlier((rendered, layout), before, findings)?;
        findings.extend(found);
        Ok(leaving)
    }

    /// The limits of the configured budget that replacing the earlier files exceeds. Files do not say which policies
    /// applied, so lost policies do not count, and one that is not YAML counts as empty.
    ///
    /// # Errors
    /// When a file cannot be read: then it cannot be written either.
    pub fn over_budget(
        &self,
        layout: &Layout<'_>,
        earlier: &Earlier,
        allowed: &[Limit],
        found: &Findings,
    ) -> Result<Findings, OutputError> {
        let loaded = self.placed.loaded;
        let budget = Budget {
            max_lost_policies: None,
            ..loaded.config.budget()
        };
        let paths: Vec<&str> = earlier.paths().collect();
        if budget == Budget::default() || paths.is_empty() || loaded.is_stopped_by(found) {
            return Ok(Findings::new());
        }
        let limits = kube_yaml::Limits::default();
        let is_read = |text: &String| kube_yaml::read_document(text, &limits).is_ok();
        let texts = parallel::map(&paths, |path| {
            let text = earlier.replaced(layout, path)?;
            Ok(text.map(|text| Some(text).filter(is_read).unwrap_or_default()))
        });
        let mut files = TreeFiles::default();
        for (path, text) in paths.into_iter().map(str::to_owned).zip(texts) {
            match text? {
                Some(text) => files.others.push(TreeFile { path, text }),
                None if position(layout, &path).is_some() => files.as_expected.push(path),
                None => {}
            }
        }
        let new = Side::of_plan(layout.plan());
        // Every text is YAML by now, so nothing fails.
        let comparison = diff::compare(&Side::of_tree(&files, &new), &new).unwrap_or_default();
        let report = DiffReport {
            comparison,
            ..DiffReport::default()
        };
        Ok(diff::over_budget(&diff::exceeded(budget, &report, allowed)))
    }

    /// Predicts the status of every Gateway.
    pub(super) fn gateway_statuses(&self, view: &PolicyView<'_>) -> Vec<ObjectStatus> {
        self.placed.prediction(self.placed.hub, view).gateways()
    }

    /// Predicts the status of every hub object; `view` are the policies of this analysis.
    ///
    /// # Errors
    ///
    /// They would name more policies than anyone can read.
    pub fn statuses(&self, view: &PolicyView<'_>) -> Result<Vec<ObjectStatus>, Box<Finding>> {
        let loaded = self.placed.loaded;
        let mut statuses = self.placed.prediction(&loaded.hub, view).statuses()?;
        for status in &mut statuses {
            status
                .on_clusters
                .retain(|outcome| loaded.admits(&outcome.cluster));
            status.shipped_to.retain(|cluster| loaded.admits(cluster));
        }
        // A route of which nothing was said but that it goes to other clusters.
        statuses.retain(|status| {
            status.group != StatusGroup::Route
                || !(status.shipped_to.is_empty()
                    && status.conditions.is_empty()
                    && status.effective_policy.is_empty())
        });
        Ok(statuses)
    }

    /// Aggregates the statuses of hub objects from exported ManifestWorks, as far as the clusters are asked for.
    pub fn aggregate(&self, works: &ExportedWorks, findings: &mut Findings) -> Aggregated {
        // An object that is not rendered has no status: a finding says so.
        let (received, spokes) = self.received(None);
        let (rendered, view) = self.results(received, &spokes, EmptyResult::Allowed, findings);
        let loaded = self.placed.loaded;
        let aggregation = Aggregation {
            plan: &rendered.plan,
            works,
            hub: &loaded.hub,
            ours: &self.placed.ours,
            view: &view,
        };
        aggregation.aggregate(|cluster| loaded.admits(cluster), findings)
    }
}

impl Placed<'_> {
    fn prediction<'p>(&'p self, hub: &'p Hub, view: &'p PolicyView<'p>) -> Prediction<'p, 'p> {
        Prediction {
            objects: &hub.objects,
            ours: &self.ours,
            clusters: &self.clusters,
            not_found: &self.not_found,
            view,
        }
    }

    fn compare_earlier(
        &self,
        (rendered, layout): (&Rendered, &Layout<'_>),
        before: &Before<'_>,
        said: &Findings,
    ) -> Result<(Vec<Finding>, Option<String>), OutputError> {
        let paths = before.paths();
        if paths.is_empty() || self.loaded.is_stopped_by(said) {
            return Ok((Vec::new(), None));
        }
        let replaced = render::Replaced {
            hub: &self.loaded.hub,
            ours: &self.ours,
            gateways: &self.gateways(),
            earlier: &EarlierWorks::read(&paths, |path| before.replaced(layout, path))?,
        };
        let mut findings = render::narrowed(layout.plan(), &replaced);
        let said = [said, &self.loaded.findings];
        let objects = render::withdrawn(layout.plan(), replaced.hub, replaced.earlier).into_iter();
        findings.extend(objects.map(|object| withdrawn(object, self, &rendered.withheld, &said)));
        findings.extend(render::moved(layout.plan(), &replaced));
        findings.extend(render::refused(layout.plan(), &replaced));
        Ok((findings, render::leaving(layout.plan(), replaced.earlier)))
    }
}

/// The same of an input whose other findings, which were shown, are `said`.
///
/// # Errors
/// As of [`Analysis::compare_earlier`].
pub fn lost_by_replacing(
    loaded: &Loaded,
    rendered: &Rendered,
    before: &Before<'_>,
    said: &Findings,
) -> Result<Findings, OutputError> {
    let placed = Placed::new(loaded, &mut Findings::new());
    let (lost, _) = placed.compare_earlier((rendered, &rendered.layout(loaded)), before, said)?;
    let codes: Vec<Code> = lost.iter().map(|finding| finding.code).collect();
    let mut findings = Findings::new();
    findings.extend(lost);
    if !findings.is_empty() {
        loaded.finish(&mut findings);
    }
    // What loading found has been shown.
    findings.retain(|finding| codes.contains(&finding.code));
    Ok(findings)
}

impl Analysis<'_> {
    /// Lists what is ours on the hub, or in the rendered tree if no works and sets of the hub were `exported`, and no longer
    /// planned; `is_sole` says that no other input renders into the hub. With an error among the findings the plan may lack
    /// something: then delete nothing.
    ///
    /// # Errors
    /// When the rendered tree cannot be read.
    pub fn prune_list(
        &self,
        exported: Option<&WorksAndSets>,
        is_sole: bool,
        empty: EmptyResult,
        findings: &mut Findings,
    ) -> Result<PruneList, OutputError> {
        let loaded = self.placed.loaded;
        let rendered = self.render(empty, findings);
        let removed = removed_works(loaded, &rendered)?;
        let pruning = Pruning {
            plan: &rendered.plan,
            hub: &loaded.hub,
            exported,
            rendered: &removed,
            is_sole,
            is_whole: loaded.selection.is_whole(),
        };
        Ok(pruning.list(|cluster| loaded.admits(cluster)))
    }
}

/// The works and sets of the rendered tree that a rendering would remove.
fn removed_works(loaded: &Loaded, rendered: &Rendered) -> Result<WorksAndSets, OutputError> {
    let layout = rendered.layout(loaded);
    let stay: HashSet<Cow<'_, str>> = (0..layout.len()).map(|index| layout.path(index)).collect();
    let files = read_tree(&loaded.output, loaded.output_within.as_deref(), |path, _| {
        stay.contains(path) || !layout.owns(path)
    })?;
    let limits = kube_yaml::Limits::default();
    let shared = Shared::default();
    let objects = files.others.iter().filter_map(|file| {
        let value = kube_yaml::read_document(&file.text, &limits).ok()?;
        // Nothing is reported about its place: it has none in the input.
        let object = Object::alone(value);
        (!object.name.is_empty()).then(|| WorkOrSet::read(&object, &shared, false))
    });
    Ok(WorksAndSets::new(objects.collect()))
}

/// Plans what each cluster receives, with the findings of that; with an error among them, it may be incomplete.
pub(super) fn plan<'a>(
    analysis: &'a Analysis<'_>,
    Received(received): Received<'a>,
    empty: EmptyResult,
    findings: &mut Findings,
) -> Rendered {
    let placed = analysis.placed.as_ref();
    let (loaded, ours, grants) = (placed.loaded, &placed.ours, &placed.grants);
    let hub = &loaded.hub;
    let shipped = received.iter();
    let shipped = shipped.map(|of_hub| (&of_hub.gateways, of_hub.variants.as_slice()));
    let on_spokes = OnSpokes::new((hub, grants), shipped, loaded.config.secrets == Secrets::Copy);
    let policy = |withheld: &Withheld<'_>| analysis.attached.attachments.policy(withheld.policy).object;
    let written = received.first().map(|of_hub| of_hub.synced.withheld.clone());
    let written = written.unwrap_or_default();
    let withheld_objects: Vec<_> = written.iter().map(policy).collect();
    let mut gateways = Table::default();
    let (mut synced, mut variants) = (Vec::new(), Vec::new());
    for mut of_hub in received {
        let number = gateways.append(of_hub.gateways);
        for object in &mut of_hub.synced.objects {
            object.renumber(&number);
        }
        for variant in of_hub.variants.iter_mut().flatten() {
            variant.renumber(&number);
        }
        synced.append(&mut of_hub.synced.objects);
        variants.append(&mut of_hub.variants);
    }
    // What is reported about the hub as it is written may revise what was.
    let reports = |findings: &mut Findings| {
        let mut labels = vec![report(analysis, findings)];
        let projected = parallel::map(&analysis.projected, |hub| {
            let mut found = Findings::new();
            (report(hub, &mut found), found)
        });
        let (of_projected, found): (Vec<NamespaceLabels>, _) = projected.into_iter().unzip();
        labels.extend(of_projected);
        let projections = &loaded.projections;
        let new = projections.only_there(found, findings.iter(), &loaded.sources);
        findings.extend(new);
        labels
    };
    let references = || {
        let mut findings = Findings::new();
        let synced = (synced.as_slice(), variants.as_slice());
        report_references((hub, grants), ours, &gateways, synced, &on_spokes, &mut findings);
        findings
    };
    let (labels, missing) = rayon::join(|| reports(findings), references);
    findings.extend(missing);
    let objects = || {
        let of_gateways = gateways.rows().iter().map(|placed| placed.gateway.object);
        of_gateways.chain(synced.iter().map(|synced| synced.object))
    };
    let is_split = loaded.work_kind == WorkKind::ManifestWork;
    let sync_waves = SyncWaves::new(&placed.waves, is_split, objects());
    findings.extend(sync_waves.without_room(objects()).map(|object| {
        let annotation = pointer::child("/metadata/annotations", SYNC_WAVE);
        let message = format!(
            "the sync wave of {} leaves no numbers for the clusters of later `waves`",
            object.identity()
        );
        Finding::new(Code::CONFIG_INVALID, object.place(&annotation), message)
            .related(
                loaded.config.place("/waves"),
                "each of them comes after all sync waves of the one before",
            )
            .help("write a number nearer to 0")
    }));
    let input = render::Input {
        hub,
        grants,
        gateways: &gateways,
        synced: &synced,
        withheld: &withheld_objects,
        on_spokes: &on_spokes,
        namespaces: &labels,
        secrets: loaded.config.secrets,
        hub_objects: loaded.config.hub_objects,
        work_kind: loaded.work_kind,
        sync_waves: &sync_waves,
        progress: &loaded.progress,
    };
    let mut plan = render::render(&input, variants, findings);
    // To free them takes as long as to make them.
    rayon::join(|| drop(on_spokes), || drop((gateways, synced)));
    let all_clusters: Vec<String> = plan.clusters.keys().cloned().collect();
    plan.retain_clusters(|cluster| loaded.admits(cluster));
    // A part of a directory may well be empty; a stream is all that its reader sees.
    let is_empty = if loaded.is_stream {
        plan.clusters.is_empty()
    } else {
        let mut all = all_clusters.iter();
        !all.any(|cluster| loaded.selection.matches(cluster))
    };
    if is_empty && empty == EmptyResult::Refused {
        report_nothing_rendered(loaded, ours, &all_clusters, findings);
    }
    let attachments = &analysis.attached.attachments;
    let withheld = written
        .iter()
        .map(|entry| WithheldPolicy::new(entry, attachments));
    Rendered {
        plan,
        all_clusters,
        withheld: withheld.collect(),
    }
}

/// What is wrong with what clusters receive of one hub, and the labels that go there with Namespaces.
fn report(analysis: &Analysis<'_>, findings: &mut Findings) -> NamespaceLabels {
    let placed = analysis.placed.as_ref();
    let everywhere = analysis.syncing_to(&placed.clusters);
    analysis.report_not_synced(findings);
    // A Gateway that goes to none of the clusters that get this hub does nothing wrong.
    let judged = placed.clusters_judged();
    everywhere.routes.report_loose(everywhere.ours, &judged, findings);
    report_unused(everywhere, findings);
    report_misspelled_backends(placed.hub, findings);
    report_same_hostnames(analysis.syncing_to(&judged), findings);
    report_chosen_nowhere(everywhere, findings);
    let admission = Admission::new(analysis.syncing_to(&judged));
    admission.report(findings);
    if placed.loaded.overlays().overlays.is_empty() {
        return admission.labels;
    }
    // A Namespace has the labels that listeners on any cluster select by.
    Admission::new(everywhere).labels
}

/// The finding about an object that leaves all clusters; `said` are the findings of the run.
fn withdrawn(
    object: &Object,
    placed: &Placed<'_>,
    withheld: &[WithheldPolicy],
    said: &[&Findings],
) -> Finding {
    let reason = of_findings(object, said).unwrap_or_else(|| of_parameters(object, placed, withheld));
    let message = format!(
        "{} was shipped and is still in the input, but no cluster receives it any more: {reason}",
        object.identity()
    );
    Finding::new(Code::OBJECT_WITHDRAWN, object.place(""), message)
        .help("correct that, or remove the object from the input if it is meant to leave all clusters")
}

/// What a finding at the object says.
fn of_findings(object: &Object, said: &[&Findings]) -> Option<String> {
    let is_inside = |pointer: &str| pointer::inside(pointer, &object.origin.pointer).is_some();
    let is_about = |finding: &Finding| {
        let place = finding.place.field();
        finding.code != Code::REFERENCE_NOT_SHIPPED
            && place
                .is_some_and(|(document, pointer)| document == object.origin.document && is_inside(pointer))
    };
    let mut all = said.iter().flat_map(|findings| findings.iter());
    all.find(|finding| is_about(finding))
        .map(|finding| finding.message.to_string())
}

fn of_parameters(object: &Object, placed: &Placed<'_>, withheld: &[WithheldPolicy]) -> String {
    let kind = object.group_kind();
    if kind.group == GROUP && kind.kind == "Gateway" {
        let mut ours = placed.ours.gateways.rows().iter();
        return if ours.any(|ours| ours.gateway.object.origin == object.origin) {
            "its placement selects no cluster".to_owned()
        } else {
            format!(
                "its class has another controllerName than `{}`",
                placed.loaded.config.controller_name
            )
        };
    }
    if object.is(GROUP, "ReferenceGrant") {
        return "nothing that is shipped needs it".to_owned();
    }
    let locator = object.identity().locator();
    if let Some(by) = withheld.iter().find(|withheld| withheld.policy == locator) {
        return format!("`{}` overrides it, because {}", by.winner, by.because);
    }
    let classes = placed.ours.classes.values();
    let mut params = classes.filter_map(|class| class.params.as_deref().ok());
    let is_synced = params.any(|params| {
        let route = params.synced_route(&kind.group, &kind.kind);
        params.synced_policy(&kind.group, &kind.kind).or(route).is_some()
    });
    if is_synced {
        "no Gateway that a cluster receives leads to it".to_owned()
    } else {
        "no class of ours lists its kind in `policiesToSync` or `resourcesToSync`".to_owned()
    }
}

/// Reads exported works: a file, a directory, or standard input, of any size, because each object is dropped as soon as
/// it is read. The texts that findings need join those of the input.
pub fn load_works(
    loaded: &mut Loaded,
    path: &Path,
    stdin: Option<&mut dyn Read>,
    findings: &mut Findings,
) -> ExportedWorks {
    let shared = Shared::default();
    let (objects, passed_over) = load_exported(loaded, path, stdin, findings, |loaded, object, findings| {
        ExportedObject::read(&object, |cluster| loaded.admits(cluster), &shared, findings)
    });
    ExportedWorks::new(objects, passed_over)
}

/// The same for a list of works and sets that may be deleted, or for a comparison, for which their texts are kept.
pub fn load_works_and_sets(
    loaded: &mut Loaded,
    path: &Path,
    stdin: Option<&mut dyn Read>,
    findings: &mut Findings,
    keeps_texts: bool,
) -> WorksAndSets {
    let shared = Shared::default();
    let (all, _) = load_exported(loaded, path, stdin, findings, |_, object, _| {
        (WorkOrSet::read(&object, &shared, keeps_texts), false)
    });
    WorksAndSets::new(all)
}

/// Reads the objects of clusters, each exported to a directory, as one side of a comparison with a plan.
pub fn load_base_spokes(
    loaded: &mut Loaded,
    plan: &Plan,
    directories: impl Iterator<Item = (String, PathBuf)>,
    findings: &mut Findings,
    is_verbose: bool,
) -> OnClusters {
    let objects = directories.map(|(cluster, path)| {
        let read = |_: &Loaded, object, _: &mut Findings| (object, false);
        let (objects, _) = load_exported(loaded, &path, None, findings, read);
        (cluster, objects)
    });
    OnClusters::new(&objects.collect(), plan, is_verbose)
}

/// What is made of each exported object, and how many documents are none. `make` also says whether somebody may ask where
/// something stands in it.
fn load_exported<T: AsRef<Object> + Send>(
    loaded: &mut Loaded,
    path: &Path,
    stdin: Option<&mut dyn Read>,
    findings: &mut Findings,
    make: impl Fn(&Loaded, Object, &mut Findings) -> (T, bool) + Sync,
) -> (Vec<T>, usize) {
    let wanted = source::Request {
        hub: stdin.is_none().then(|| path.to_owned()).into_iter().collect(),
        output_marker: Some(INVENTORY),
        root: path.to_owned(),
        progress: loaded.progress.clone(),
        ..source::Request::default()
    };
    let kinds = KindTable::built_in();
    let mut sources = std::mem::take(&mut loaded.sources);
    let of_document = |document: source::Document| {
        let exported = hub::exported(document.value, Origin::from_document(document.id), &kinds);
        let mut found = Findings::new();
        found.extend(exported.wrong);
        let made = exported
            .objects
            .into_iter()
            .map(|object| make(loaded, object, &mut found));
        let (made, asks): (Vec<T>, Vec<bool>) = made.unzip();
        let asks = asks.contains(&true) || !found.is_empty();
        ((made, exported.passed_over, found), asks)
    };
    let read = source::read_exported(&wanted, stdin, &mut sources, findings, hub::is_list, &of_document);
    loaded.sources = sources;
    let mut passed_over = 0_usize;
    let mut all = Vec::with_capacity(read.len());
    for (made, passed, found) in read {
        all.extend(made);
        passed_over = passed_over.saturating_add(passed);
        findings.extend(found);
    }
    (hub::without_duplicates(all, findings).0, passed_over)
}
