//! The results of an analysis: the plan, the policies that apply, and every finding about the input.
//!
//! One function finds everything, so that all commands report one set of findings, and an error of the configuration's
//! choice stops each of them. Only findings about the output are elsewhere: they need to know what is written where.

use super::analysis::{Analysis, Received, Spokes};
use super::loaded::Loaded;
use super::policies::report_outcomes;
use super::stages::{Before, EmptyResult, Rendered, plan};
use crate::api::crd::{self, Crd};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, WorkValidation};
use crate::diagnostic::{Code, Finding, Findings, Place};
use crate::object::Object;
use crate::output::Earlier;
use crate::report::PolicyView;
use apimachinery::Work;

impl Analysis<'_> {
    /// Plans what each cluster receives, and evaluates the policies there; `received` and the `spokes` of all clusters
    /// are those of this analysis.
    ///
    /// Everything that is wrong is in `findings`. If there is an error among them, or among those of the input, the
    /// plan may be incomplete: then write nothing. An empty result is an error unless `empty` allows it, because an
    /// empty stream makes Argo CD delete everything.
    pub fn results<'x>(
        &'x self,
        received: Received<'x>,
        spokes: &'x Spokes<'x>,
        empty: EmptyResult,
        findings: &mut Findings,
    ) -> (Rendered, PolicyView<'x>) {
        let loaded = self.placed.loaded;
        report_definitions(loaded, findings);
        report_refused_works(loaded, findings);
        let rendered = plan(self, received, empty, findings);
        let view = self.evaluate(spokes, findings);
        report_outcomes(&view, loaded, findings);
        findings.extend(unknown_spokes(loaded, &rendered));
        findings.extend(loaded.unused_suppressions(findings));
        (rendered, view)
    }

    /// Plans what each cluster receives, for a caller that needs nothing else.
    pub fn render(&self, empty: EmptyResult, findings: &mut Findings) -> Rendered {
        let (received, spokes) = self.received(None);
        self.results(received, &spokes, empty, findings).0
    }

    /// Evaluates the policies of the `spokes`, which may be those of one cluster. The findings are those of the whole
    /// input. Only an input with classes of ours has to render something: another one may be an export of a cluster.
    pub fn policies<'x>(
        &'x self,
        received: Received<'x>,
        spokes: &'x Spokes<'x>,
        findings: &mut Findings,
    ) -> PolicyView<'x> {
        let empty = if self.placed.ours.classes.is_empty() {
            EmptyResult::Allowed
        } else {
            EmptyResult::Refused
        };
        if spokes.cluster.is_none() {
            return self.results(received, spokes, empty, findings).1;
        }
        let all = self.spokes_of(&received, None);
        let mut found = Findings::new();
        self.results(received, &all, empty, &mut found);
        // One cluster may have few enough paths.
        found.retain(|finding| (finding.code, &finding.place) != (Code::INPUT_TOO_COSTLY, &Place::Run));
        findings.extend(found);
        self.evaluate(spokes, findings)
    }
}

/// Finds everything that a rendering into the output would report.
pub fn check(loaded: &Loaded, findings: &mut Findings) {
    let analysis = Analysis::new(loaded, findings);
    let rendered = analysis.render(EmptyResult::Refused, findings);
    findings.extend(unexpected(loaded, &rendered, loaded));
    if let Ok(earlier) = Earlier::open(&loaded.output, loaded.output_within.as_deref()) {
        let layout = rendered.layout(loaded);
        let _ = analysis.compare_earlier((&rendered, &layout), &Before::Tree(&earlier), findings);
    }
}

/// What is in the output that `of` names, and is no file of it (docs/reference/output.md).
#[must_use]
pub fn unexpected(loaded: &Loaded, rendered: &Rendered, of: &Loaded) -> Vec<Finding> {
    // Where it is refused, all that is there belongs to others.
    let is_refused = loaded
        .findings
        .iter()
        .any(|finding| finding.code == Code::OUTPUT_OUTSIDE);
    if loaded.is_stream || is_refused {
        return Vec::new();
    }
    match Earlier::open(&of.output, of.output_within.as_deref()) {
        Ok(earlier) => earlier.unexpected(&rendered.layout(loaded), &loaded.config.output_exceptions),
        // Without an inventory to trust, the output may contain anything.
        Err(error) => error.findings(),
    }
}

/// Reports what an API server would refuse in the CustomResourceDefinitions of the input.
fn report_definitions(loaded: &Loaded, findings: &mut Findings) {
    let mut crds: Vec<&Crd> = loaded.hub.crds.values().collect();
    crds.sort_by_key(|crd| (&crd.group, &crd.kind));
    let objects = &loaded.hub.objects;
    let read = crds.into_iter().filter_map(|crd| {
        let object = objects.iter().find(|object| is_definition_of(object, crd))?;
        Some((crd, object))
    });
    let read: Vec<(&Crd, &Object)> = read.collect();
    let work = Work::of_definitions(read.iter().map(|(_, object)| &object.value));
    for (crd, object) in &read {
        findings.extend(crd::verify(crd, object, &work));
    }
    if let Some((_, object)) = read.first().filter(|_| work.is_spent()) {
        findings.push(crd::too_much_work(object));
    }
}

fn is_definition_of(object: &Object, crd: &Crd) -> bool {
    crd::is_one(object) && object.name == format!("{}.{}", crd.plural, crd.group)
}

/// Reports the works of the input that OCM refuses.
fn report_refused_works(loaded: &Loaded, findings: &mut Findings) {
    let validation = WorkValidation::new();
    for kind in [MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET] {
        for object in loaded.hub.objects.of_kind(GROUP, kind) {
            let refusals = validation.check(&object.value).into_iter();
            findings.extend(refusals.map(|refusal| refusal.into_finding(object)));
        }
    }
}

/// Spoke folders of clusters that nothing else knows.
fn unknown_spokes(loaded: &Loaded, rendered: &Rendered) -> Vec<Finding> {
    let managed = loaded.hub.objects.of_kind(ocm_placement::GROUP, "ManagedCluster");
    let known = |cluster: &str| {
        managed.iter().any(|object| object.name == cluster)
            || rendered.all_clusters.iter().any(|name| name == cluster)
    };
    let unknown = loaded.hub.spokes.iter().filter(|(cluster, _)| !known(cluster));
    unknown
        .filter_map(|(cluster, objects)| {
            let first = objects.iter().next()?;
            Some(
                Finding::new(
                    Code::SPOKE_UNKNOWN_CLUSTER,
                    first.place("/metadata/name"),
                    format!(
                        "there is no cluster `{cluster}`, so its directory of local objects has no effect"
                    ),
                )
                .help("name the directory after a cluster, or remove it"),
            )
        })
        .collect()
}
