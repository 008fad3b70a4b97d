//! The input of a run, read, and what becomes of all findings at the end of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use apimachinery::Identity;
use ocm_placement as placement;
use ocm_placement::Inventory;

use super::kustomize_origin;
use super::projections::Projections;
use super::suppress::{About, Suppressions};
use crate::api::config::RenderConfig;
use crate::diagnostic::{Code, Finding, Findings, Place, SeverityOverride, Warnings};
use crate::hub::{self, Hub, Objects};
use crate::object::Object;
use crate::outcome::{PolicyView, RuleOutcome, check_rules};
use crate::placing;
use crate::placing::overlays::Overlays;
use crate::progress::Progress;
use crate::render::{Selection, WorkKind};
use crate::source::{self, Sources};

/// The input of a run.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration, command line included.
    pub config: RenderConfig,
    /// The output directory.
    pub output: PathBuf,
    /// The directory that the output must not leave, wherever links lead: where the configuration names it, its
    /// repository.
    pub output_within: Option<PathBuf>,
    /// The texts.
    pub sources: Sources,
    /// The objects.
    pub hub: Hub,
    /// The hub as ClusterOverlays change it for some clusters.
    pub(super) projections: Projections,
    /// The findings so far.
    pub findings: Findings,
    /// `--now`.
    pub now: Option<jiff::Timestamp>,
    /// What hub controllers other than the scheduler would add.
    pub placement_options: placement::Options,
    /// `--clusters` and `--shard`.
    pub selection: Selection,
    /// The observer of progress.
    pub progress: Progress,
    /// `--work-kind`.
    pub work_kind: WorkKind,
    /// Whether the result is one stream, and no part of a directory.
    pub(super) is_stream: bool,
    pub(super) overrides: BTreeMap<Code, SeverityOverride>,
    pub(super) warnings: Warnings,
    pub(super) suppressions: Suppressions,
    /// Generated documents whose files were not found.
    pub(super) unfound: kustomize_origin::Unfound,
}

impl Loaded {
    /// Adds what loading found to `findings`, applies the configured severities and the suppressions, and sorts by
    /// position.
    pub fn finish(&self, findings: &mut Findings) {
        self.soften(findings);
        findings.extend(self.findings.clone());
        self.suppress(findings);
        findings.finish(&self.overrides, self.warnings);
        self.projections.explain(&self.sources, findings);
        super::dedup::drop_findings_about_unreadable((&self.hub, self.overlays()), &self.sources, findings);
        super::dedup::gather_by_missing_name(&self.hub, &self.sources, findings);
        super::dedup::explain_placeholders(&self.sources, findings);
        findings.order_by_position(&self.sources);
        super::dedup::add_quoting_help(&self.sources, findings);
        super::dedup::gather_templates(&self.sources, findings);
        kustomize_origin::explain(&self.unfound, findings);
    }

    /// Where the output is in its repository, with `/` between components; as the user named it if there is no
    /// repository.
    pub fn output_in_repository(&self) -> String {
        let named = || self.output.components().collect::<PathBuf>();
        let inside = source::in_repository(&self.output).unwrap_or_else(named);
        inside
            .display()
            .to_string()
            .replace(std::path::MAIN_SEPARATOR, "/")
    }

    fn suppress(&self, findings: &mut Findings) {
        if !self.suppressions.is_empty() {
            // What is suppressed explains nothing.
            findings.set_severities(&self.overrides);
            let about = About::new(&self.hub, &self.sources);
            findings.suppress(|finding| self.suppressions.accepting(&about, finding));
        }
    }

    /// What the FleetRules come to on these clusters, and the findings about them.
    pub(super) fn check_rules(
        &self,
        view: &PolicyView<'_>,
        admits: impl Fn(&str) -> bool + Sync,
    ) -> (Vec<RuleOutcome>, Vec<Finding>) {
        let (mut rules, found) = check_rules(&self.hub, view, admits);
        let mut findings = Findings::new();
        findings.extend(found.clone());
        self.suppress(&mut findings);
        let accepted = findings.iter().filter(|finding| finding.suppressed.is_some());
        let accepted: BTreeSet<&Place> = accepted.map(|finding| &finding.place).collect();
        for outcome in &mut rules {
            outcome.accept(|place| accepted.contains(place));
        }
        (rules, found)
    }

    /// The ClusterOverlays, and what each changes where.
    pub const fn overlays(&self) -> &Overlays {
        &self.projections.overlays
    }

    /// Whether somebody reads findings with this code, which are warnings unless the configuration makes errors of them.
    pub(super) fn asks_for(&self, warning: Code) -> bool {
        let error = SeverityOverride::Error;
        self.warnings != Warnings::Unread || self.overrides.get(&warning) == Some(&error)
    }

    /// Gives findings that are not part of a run's, such as those of a comparison, the severities of the configuration.
    pub fn configure(&self, findings: &mut Findings) {
        findings.configure(&self.overrides);
    }

    /// Whether an error among what was found so far, or in the input, stops a run: a plan may then lack something.
    pub(super) fn is_stopped_by(&self, findings: &Findings) -> bool {
        let mut all = findings.clone();
        // A plan that breaks a FleetRule lacks nothing, and the violation may be accepted.
        all.retain(|finding| finding.code != Code::RULE_VIOLATED);
        self.soften(&mut all);
        all.extend(self.findings.clone());
        all.configure(&self.overrides);
        all.has_errors()
    }

    /// Makes warnings of the errors in what rendering does not use. [`finish`](Self::finish) does it, too.
    pub(super) fn soften(&self, findings: &mut Findings) {
        hub::soften(&self.hub, &self.sources, findings);
    }

    /// The objects of the hub that rendering does not use, in their order.
    pub fn unused(&self) -> Vec<&Object> {
        let objects = self.hub.objects.iter();
        objects.filter(|object| object.is_bystander).collect()
    }

    /// Suppressions that accept nothing: `found` and the findings of loading are all findings about the input.
    pub(super) fn unused_suppressions(&self, found: &Findings) -> Vec<Finding> {
        if self.suppressions.is_empty() {
            return Vec::new();
        }
        let mut all = self.findings.clone();
        all.extend(found.clone());
        all.configure(&self.overrides);
        self.suppressions
            .unused(&About::new(&self.hub, &self.sources), &all)
    }

    /// Removes an object from the hub or, if the hub has no object of this identity, from every cluster where it lives.
    pub fn remove(&mut self, identity: &Identity) {
        self.remove_object(identity);
        hub::mark_bystanders(&mut self.hub, &self.config.controller_name);
        let admits = |cluster: &str| self.selection.admits(cluster);
        // What is wrong with the overlays was found when they were read.
        (self.projections, _) = Projections::new(&self.hub, &self.sources, admits, &self.findings);
    }

    fn remove_object(&mut self, identity: &Identity) {
        let without = |objects: &Objects| {
            let kept = objects.iter().filter(|object| object.identity() != *identity);
            Objects::new(kept.cloned().collect())
        };
        let Hub { objects, spokes, .. } = &mut self.hub;
        if objects.iter().any(|object| object.identity() == *identity) {
            *objects = without(objects);
            return;
        }
        for objects in Arc::make_mut(spokes).values_mut() {
            *objects = without(objects);
        }
    }

    /// The input for an evaluation of this input's Placements.
    pub fn evaluation_input<'a>(&self, inventory: &'a Inventory<'a>) -> placement::Input<'a> {
        placement::Input {
            inventory,
            now: self.now,
            mode: self.config.placement.unwrap_or_default().mode,
            options: self.placement_options,
        }
    }

    /// Every cluster that is registered, decided for, or has a folder of its own.
    pub fn known_clusters(&self) -> BTreeSet<&str> {
        placing::known_clusters(&self.hub)
    }

    /// Whether `--clusters` and `--shard` admit this cluster.
    pub fn admits(&self, cluster: &str) -> bool {
        self.selection.admits(cluster)
    }
}
