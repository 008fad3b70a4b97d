//! The results of an analysis: the plan, the policies that apply, and every finding about the input.
//!
//! One function finds everything, so that all commands report one set of findings, and an error of the configuration's
//! choice stops each of them. Only findings about the output are elsewhere: they need to know what is written where.

use std::collections::HashMap;
use std::sync::Arc;

use super::analysis::{Analysis, Received, Spokes};
use super::loaded::Loaded;
use super::policies::report_outcomes;
use super::stages::{Before, EmptyResult, Rendered, plan};
use crate::api::crd::{self, Crd};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, WorkValidation};
use crate::diagnostic::{Code, Finding, Findings, Place, Severity};
use crate::object::Object;
use crate::outcome::overlay_changes;
use crate::output::Earlier;
use crate::placing::overlays::effects;
use crate::report::PolicyView;
use apimachinery::{Identity, Work};

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
        let shipped = Shipped::new(self, &received, spokes);
        let rendered = plan(self, received, empty, findings);
        let (mut view, found) = self.evaluate_with_findings(spokes);
        findings.extend(found);
        report_outcomes(&view, loaded, findings);
        let (rules, found) = loaded.check_rules(&view, |cluster| loaded.admits(cluster));
        findings.extend(found);
        view.rules = rules;
        shipped.report_effects(loaded, findings);
        view.overlays = overlay_changes(
            loaded.overlays(),
            |_, _| true,
            |object, cluster| shipped.goes_to(object, cluster),
            &loaded.sources.root_relative(),
        );
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
        let (_, of_all) = self.results(received, &all, empty, &mut found);
        let overlays = of_all.overlays.into_iter();
        let overlays = overlays.filter_map(|change| change.on(spokes.cluster));
        let overlays = overlays.collect();
        // One cluster may have few enough paths.
        found.retain(|finding| (finding.code, &finding.place) != (Code::INPUT_TOO_COSTLY, &Place::Run));
        findings.extend(found);
        let (mut view, found) = self.evaluate_with_findings(spokes);
        findings.extend(found);
        let is_looked_at = |cluster: &str| spokes.cluster == Some(cluster);
        (view.rules, _) = self.placed.loaded.check_rules(&view, is_looked_at);
        view.overlays = overlays;
        view
    }
}

/// Where hub objects go, if ClusterOverlays change any.
#[derive(Default)]
struct Shipped {
    clusters: HashMap<Identity, Vec<Arc<[String]>>>,
    /// By policy and cluster, the local policy that takes its place there.
    local: HashMap<(Identity, String), Identity>,
}

impl Shipped {
    fn new(analysis: &Analysis<'_>, Received(received): &Received<'_>, spokes: &Spokes<'_>) -> Self {
        let mut shipped = Self::default();
        if analysis.placed.loaded.overlays().overlays.is_empty() {
            return shipped;
        }
        for of_hub in received {
            for placed in of_hub.gateways.rows() {
                let clusters = shipped.clusters.entry(placed.gateway.object.identity());
                clusters.or_default().push(Arc::clone(&placed.clusters));
            }
            for (synced, variants) in of_hub.synced.objects.iter().zip(&of_hub.variants) {
                for source in &synced.sources {
                    let clusters = variants.iter().map(|variant| Arc::clone(&variant.clusters));
                    shipped
                        .clusters
                        .entry(source.identity())
                        .or_default()
                        .extend(clusters);
                }
            }
        }
        for (hub, there) in analysis.hubs().zip(&spokes.by_hub) {
            for withheld in &there.withheld {
                if let Some(cluster) = withheld.cluster {
                    let policy = hub.attached.attachments.policy(withheld.policy).object;
                    let key = (policy.identity(), cluster.to_owned());
                    shipped.local.insert(key, withheld.winner.identity());
                }
            }
        }
        shipped
    }

    fn goes_to(&self, object: &Identity, cluster: &str) -> bool {
        let mut lists = self.clusters.get(object).into_iter().flatten();
        lists.any(|list| list.binary_search_by(|there| there.as_str().cmp(cluster)).is_ok())
    }

    /// Reports overlays without an effect, and those of which nobody knows whether they have one. While something is
    /// wrong, an object may go nowhere because of that.
    fn report_effects(&self, loaded: &Loaded, findings: &mut Findings) {
        let local = |object: &Identity, cluster: &str| {
            let winner = self.local.get(&(object.clone(), cluster.to_owned()));
            winner.filter(|_| !self.goes_to(object, cluster)).cloned()
        };
        let is_shipped = |object: &Identity| self.clusters.contains_key(object);
        let goes_to = |object: &Identity, cluster: &str| self.goes_to(object, cluster);
        let mut effects = effects(loaded.overlays(), &loaded.hub, &is_shipped, &goes_to, &local);
        let is_stopped = !effects.is_empty() && loaded.is_stopped_by(findings);
        effects.retain(|finding| !is_stopped || finding.severity == Severity::Error);
        findings.extend(effects);
    }
}

/// Finds everything that a rendering into the output would report, except that it goes beyond a budget.
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
    let work = Work::for_definitions(read.iter().map(|(_, object)| &object.value));
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
