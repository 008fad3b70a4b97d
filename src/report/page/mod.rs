//! The page: one HTML file that shows a fleet.
//!
//! Everything that needs a rule of precedence is decided before the page is made: its script only groups, counts, and
//! draws. `document` has the shape of the data, which are parts of other reports for the most part; this file puts them
//! together, with the texts of objects, and `html` writes the file.

mod document;
mod html;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::{GroupKind, Work};
use document::{BaseChange, CarriedObject, CarriedWork, ClusterEntry, ObjectText, Reported};

use super::aggregate::{Aggregated, word};
use super::diff::{self, DiffReport};
use super::placement::PlacementOnPage;
use super::status::spoken;
use crate::api::condition::Condition;
use crate::api::gateway::GROUP;
use crate::api::ocm::GROUP as CLUSTERS;
use crate::diagnostic::{API_VERSION, FindingEntry, Findings, Hidden, Locate, Part, and_more, holds_secret};
use crate::hub::Hub;
use crate::object::{Object, Origin};
use crate::outcome::fleet_view::{FleetScope, FleetView, GatewayEntry, shortened};
use crate::outcome::{
    ChangeIfDeleted, CoverageReport, ObjectStatus, OverlayChanges, PolicyEntry, PolicyView, SourceLine,
    WithheldPolicy, conceal,
};
use crate::render::{ManifestSummary, Plan, WorkId};
use crate::source::Sources;

pub use document::FleetPage;

/// The most messages of one condition that a page shows: thousands of clusters may each report their own.
const MOST_MESSAGES: usize = 10;

/// The most characters of all messages of one condition.
const MOST_OF_A_MESSAGE: usize = 2000;

/// The most bytes of texts that a page contains, kind by kind; it always contains those of policies.
const MOST_BYTES: usize = 1 << 20;

/// The most bytes of one text.
const MOST_OF_A_TEXT: usize = 64 << 10;

/// The parts of a comparison with a base.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'c> {
    /// The differences.
    pub report: &'c DiffReport,
    /// Whether settings were too many to be compared.
    pub too_much: bool,
}

/// What a page is made from, in addition to an analysis.
#[expect(missing_debug_implementations, reason = "it contains a trait object")]
pub struct PageInput<'p> {
    /// The name of the page.
    pub title: String,
    /// What is before the path of a file in a link to it: `http` or `https`.
    pub source_url: Option<String>,
    /// What was rendered.
    pub plan: &'p Plan,
    /// The policies, evaluated there.
    pub view: &'p PolicyView<'p>,
    /// The places of the input, relative to its root.
    pub locate: &'p dyn Locate,
    /// Everything that was found, finished.
    pub findings: &'p Findings,
    /// The reports of the clusters.
    pub works: Option<&'p Aggregated>,
    /// The differences from a base.
    pub compared: Option<Compared<'p>>,
}

/// The same with what an analysis adds to it.
pub(crate) struct Page<'p> {
    pub(crate) input: PageInput<'p>,
    pub(crate) hub: &'p Hub,
    pub(crate) sources: &'p Sources,
    /// All clusters, sorted.
    pub(crate) clusters: Vec<&'p str>,
    pub(crate) placements: Vec<PlacementOnPage>,
    /// Whether the page explains how each Placement selected its clusters.
    pub(crate) explains_placements: bool,
    /// Predicted, of Gateways.
    pub(crate) statuses: Vec<ObjectStatus>,
    /// What changes without each policy of the hub, by locator, as far as that was worked out.
    pub(crate) if_deleted: BTreeMap<String, Vec<ChangeIfDeleted>>,
}

impl<'p> Page<'p> {
    /// The data of the page. Equal input gives equal data.
    pub(crate) fn data(mut self) -> FleetPage<'p> {
        let view = self.input.view;
        let page = FleetPage {
            api_version: API_VERSION,
            kind: "FleetPage",
            title: std::mem::take(&mut self.input.title),
            source_url: self.input.source_url.take(),
            ..FleetPage::default()
        };
        let mut hidden = Hidden::default();
        if let Some(compared) = self.input.compared {
            hidden.clone_from(&compared.report.comparison.hidden);
        }
        let clusters: HashSet<&str> = self.clusters.iter().copied().collect();
        let scope = FleetScope {
            is_listed: &|name| clusters.contains(name),
            work: &Work::default(),
            hidden: &mut hidden,
        };
        let Some(mut fleet) = FleetView::new(view, self.input.locate, scope) else {
            let left_out = vec![html::FLEET.to_owned()];
            return FleetPage { left_out, ..page };
        };
        let mut if_deleted = std::mem::take(&mut self.if_deleted);
        let changes = if_deleted.values_mut().flatten();
        conceal(changes.map(|change| &mut change.settings), &mut hidden);
        let (policies, policy_texts) = self.policies();
        let mut left_out = Vec::new();
        if !self.explains_placements {
            left_out.push(html::WAYS_OF_PLACEMENTS.to_owned());
        }
        let texts = self.texts(&mut left_out);
        // Where no path of a kind ends below a route, no route lacks it.
        let kinds = fleet.kinds.iter().filter(|kind| kind.is_about_routes());
        let kinds = kinds.map(|kind| GroupKind::new(kind.group.as_str(), kind.kind.as_str()));
        let kinds: Vec<GroupKind> = kinds.collect();
        let (mut coverage, mut route_coverage) = Default::default();
        if !kinds.is_empty() {
            match CoverageReport::new(view, &kinds, |name| clusters.contains(name), self.input.locate) {
                Ok(report) => (coverage, route_coverage) = (report.kinds, report.routes),
                Err(_) => {
                    left_out
                        .push("which routes have a policy (`spokewright policies --coverage`)".to_owned());
                }
            }
        }
        let rule_outcomes = view.rules.iter();
        let is_unknown = |policy: &PolicyEntry| !policy.local && !if_deleted.contains_key(&policy.policy);
        if policies.iter().any(is_unknown) {
            left_out.push(html::WITHOUT_POLICIES.to_owned());
        }
        let mut kind_names = std::mem::take(&mut fleet.kind_names);
        kind_names.extend(self.kinds_of_targets());
        let findings = self.input.findings.iter();
        let findings = findings.filter(|finding| finding.suppressed.is_none());
        let withheld = view.withheld.iter().filter(|withheld| withheld.cluster.is_some());
        FleetPage {
            clusters: self.clusters(),
            kind_names,
            policies,
            if_deleted,
            withheld: withheld
                .map(|withheld| WithheldPolicy::new(withheld, view.hub))
                .collect(),
            overlays: self.overlays(&mut hidden),
            managed_clusters: self.hub.objects.of_kind(CLUSTERS, "ManagedCluster").len(),
            works: self.works(&fleet.gateways),
            placements: self.placements,
            statuses: self.statuses.iter().map(brief).collect(),
            findings: findings
                .map(|finding| FindingEntry {
                    data: None,
                    ..FindingEntry::new(finding, self.input.locate)
                })
                .collect(),
            texts,
            policy_texts,
            change: self.input.compared.map(|compared| {
                let changes = compared.report.effective_changes.iter();
                BaseChange {
                    report: diff::document(compared.report).for_page(),
                    settings: changes.map(|change| change.settings.as_slice()).collect(),
                    too_much: compared.too_much,
                }
            }),
            reported: self.input.works.map(|aggregated| {
                let states = aggregated.works.problems.iter().map(|problem| problem.state);
                Reported {
                    objects: aggregated.objects.iter().map(brief).collect(),
                    works: &aggregated.works,
                    words: states.map(|state| (state, word(state))).collect(),
                }
            }),
            rules: rule_outcomes
                .map(|rule| rule.listed(|_| true, self.input.locate))
                .collect(),
            coverage,
            route_coverage,
            left_out,
            fleet,
            ..page
        }
    }

    fn line(&self, object: &Object) -> Option<SourceLine> {
        SourceLine::of(self.input.locate, object.place(""))
    }

    /// All policies, as far as a page shows them, and their texts.
    fn policies(&self) -> (Vec<PolicyEntry>, Vec<ObjectText>) {
        let (mut entries, mut texts) = (Vec::new(), Vec::new());
        for (number, seen) in self.input.view.seen().enumerate() {
            let there = seen.attachments.policies.iter();
            for (id, policy) in there.filter(|(_, policy)| number == 0 || policy.local) {
                let mut entry = if number == 0 {
                    PolicyEntry::of_hub(self.input.view, id)
                } else {
                    PolicyEntry::of_clusters(self.input.view, seen, id)
                };
                entry.place = self.line(policy.object);
                entry.clusters = Arc::new(seen.clusters.iter().map(|name| name.as_str().into()).collect());
                entry.conditions.iter_mut().for_each(shorten);
                (entry.enforced, entry.programmed) = (None, None);
                entry.ancestors.clear();
                entry.overridden_by.clear();
                entry.decisions.clear();
                entry.on_clusters.clear();
                entries.push(entry);
                texts.extend(self.text(policy.object));
            }
        }
        texts.sort_unstable();
        texts.dedup();
        (entries, texts)
    }

    /// How the kinds of the targets of policies are written.
    fn kinds_of_targets(&self) -> impl Iterator<Item = (String, String)> {
        let targets = self.input.view.seen().flat_map(|seen| {
            let policies = seen.attachments.policies.rows().iter();
            let nodes = policies.flat_map(|policy| policy.nodes());
            nodes.map(|node| seen.attachments.topology.identity(node))
        });
        targets.map(|identity| {
            let locator = identity.locator();
            let (kind, _) = locator.split_once(':').unwrap_or_default();
            (kind.to_owned(), identity.group_kind.kind.to_string())
        })
    }

    /// The work of each Gateway.
    fn works(&self, gateways: &[GatewayEntry]) -> BTreeMap<Arc<str>, CarriedWork> {
        let carried = self.carried();
        let listed: HashSet<&str> = gateways.iter().map(|gateway| &*gateway.gateway).collect();
        let topology = &self.input.view.hub.topology;
        let routes = topology.routes.rows().iter();
        let routes: HashSet<&Origin> = routes.map(|route| &route.object.origin).collect();
        let is_route = |manifest: &ManifestSummary| {
            let origin = manifest.origins.first();
            origin.is_some_and(|origin| routes.contains(origin))
        };
        let works = topology.gateways.rows().iter().filter_map(|gateway| {
            let locator = gateway.object.identity().locator();
            let (_, name, manifests) = carried.get(&gateway.object.origin)?;
            if !listed.contains(locator.as_str()) {
                return None;
            }
            let objects = manifests.iter().filter(|manifest| !is_route(manifest));
            let place = |origin: &Origin| SourceLine::of(self.input.locate, origin.place("", Part::Value));
            let objects = objects.map(|manifest| CarriedObject {
                kind: manifest.kind.clone(),
                namespace: manifest.namespace.clone(),
                name: manifest.name.clone(),
                place: manifest.origins.first().and_then(place),
            });
            let work = CarriedWork {
                name: name.clone(),
                objects: objects.collect(),
                routes: manifests.iter().filter(|manifest| is_route(manifest)).count(),
            };
            Some((locator.into(), work))
        });
        works.collect()
    }

    /// The work of each Gateway, by the origin of the Gateway: of several variants the one that most clusters get, with
    /// how many these are.
    fn carried(&self) -> HashMap<&Origin, (usize, String, &[ManifestSummary])> {
        let mut counted: HashMap<WorkId, usize> = HashMap::new();
        for work in self.input.plan.clusters.values().flatten() {
            let count = counted.entry(*work).or_default();
            *count = count.saturating_add(1);
        }
        let sets = self.input.plan.replica_sets.iter().flatten();
        let sets = sets.map(|set| {
            let name = format!("ManifestWorkReplicaSet {}/{}", set.namespace, set.name);
            (usize::MAX, name, set.manifests.as_slice())
        });
        let works = self.input.plan.works.iter().map(|(id, work)| {
            let count = counted.get(&id).copied().unwrap_or_default();
            let name = format!("ManifestWork {}", work.name);
            (count, name, work.manifests.as_slice())
        });
        let mut carried: HashMap<&Origin, (usize, String, &[ManifestSummary])> = HashMap::new();
        for (count, name, manifests) in sets.chain(works) {
            let is_gateway =
                |manifest: &&ManifestSummary| manifest.kind == "Gateway" && manifest.group == GROUP;
            let gateway = manifests.iter().find(is_gateway);
            let Some(origin) = gateway.and_then(|gateway| gateway.origins.first()) else {
                continue;
            };
            if carried.get(origin).is_none_or(|(known, ..)| *known < count) {
                carried.insert(origin, (count, name, manifests));
            }
        }
        carried
    }

    fn clusters(&self) -> Vec<ClusterEntry> {
        let managed = self.hub.objects.of_kind(CLUSTERS, "ManagedCluster").iter();
        let managed: HashMap<&str, &Object> = managed.map(|object| (object.name.as_str(), object)).collect();
        let entries = self.clusters.iter().map(|name| {
            let object = managed.get(name).copied();
            let labels = object.into_iter().flat_map(|object| object.labels());
            ClusterEntry {
                name: (*name).to_owned(),
                labels: labels
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .collect(),
                taints: object.and_then(|object| object.value.pointer("/spec/taints").cloned()),
                place: object.and_then(|object| self.line(object)),
            }
        });
        entries.collect()
    }

    /// What is in effect of the overlays.
    fn overlays(&self, hidden: &mut Hidden) -> Vec<OverlayChanges> {
        let overlays = self
            .input
            .view
            .overlays
            .iter()
            .filter(|change| change.is_effective());
        let mut overlays: Vec<OverlayChanges> = overlays.cloned().collect();
        for change in &mut overlays {
            change.fields.retain(|field| !field.overridden);
            let fields = change.fields.iter_mut();
            for value in fields
                .flat_map(|field| [&mut field.hub, &mut field.here])
                .flatten()
            {
                *value = hidden.conceal(value, false);
            }
        }
        overlays
    }

    /// The text of an object: of its own document, or of its own part of a `List`. Nothing else of the file, because it may
    /// contain a Secret.
    fn text(&self, object: &Object) -> Option<ObjectText> {
        if holds_secret(&object.value) {
            return None;
        }
        let sources = self.sources;
        let origin = &object.origin;
        let (line, text) = if origin.pointer.is_empty() {
            let file = sources.file(origin.document.source)?;
            let range = file.documents.get(usize::try_from(origin.document.index).ok()?)?;
            (range.line, file.text.get(range.start..range.end)?)
        } else {
            let span = sources.locate(&object.place(""))?;
            (span.line, span.text.get(span.start..span.end)?)
        };
        // The line that begins a document says nothing.
        let (line, text) = match text.strip_prefix("---\n") {
            Some(rest) => (line.saturating_add(1), rest),
            None => (line, text),
        };
        let blank = text.lines().take_while(|line| line.trim().is_empty()).count();
        let rest: String = text.lines().skip(blank).collect::<Vec<_>>().join("\n");
        let end = rest.char_indices().nth(MOST_OF_A_TEXT).map(|(end, _)| end);
        let rest = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        Some(ObjectText {
            path: self.line(object)?.path,
            line: line.saturating_add(blank),
            text: rest.trim_end().to_owned(),
        })
    }

    /// The texts of objects that are not policies: Placements first, because their place explains most, then Gateways and
    /// the objects that they name.
    fn texts(&self, left_out: &mut Vec<String>) -> Vec<ObjectText> {
        let objects = &self.hub.objects;
        let routes = self.input.view.hub.topology.routes.rows().iter();
        let of_kind = |group, kind| -> Vec<&Object> { objects.of_kind(group, kind).iter().collect() };
        let kinds: [(&str, Vec<&Object>); 5] = [
            ("Placements", of_kind(CLUSTERS, "Placement")),
            ("Gateways", of_kind(GROUP, "Gateway")),
            ("GatewayClasses", of_kind(GROUP, "GatewayClass")),
            ("routes", routes.map(|route| route.object).collect()),
            ("clusters", of_kind(CLUSTERS, "ManagedCluster")),
        ];
        let mut all = Vec::new();
        let mut left = MOST_BYTES;
        for (what, objects) in kinds {
            let texts = objects.into_iter().filter_map(|object| self.text(object));
            let texts: Vec<ObjectText> = texts.collect();
            let bytes: usize = texts.iter().map(|text| text.text.len()).sum();
            match left.checked_sub(bytes) {
                Some(rest) => {
                    left = rest;
                    all.extend(texts);
                }
                None => left_out.push(format!("the texts of {what}")),
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// What a page shows of a status.
fn brief(status: &ObjectStatus) -> ObjectStatus {
    let mut conditions = status.conditions.clone();
    conditions.iter_mut().for_each(shorten);
    ObjectStatus {
        conditions,
        addresses: status.addresses.clone(),
        ..ObjectStatus::new(status.object.clone(), status.group)
    }
}

/// Cuts the messages of a condition to what a page has space for.
fn shorten(condition: &mut Condition) {
    let mut messages = spoken(&condition.message);
    let left_out = messages.len().saturating_sub(MOST_MESSAGES);
    messages.truncate(MOST_MESSAGES);
    messages.extend(and_more(left_out, "message"));
    // One may name ten thousand clusters.
    condition.message = shortened(messages.join("; "), MOST_OF_A_MESSAGE).into();
}

#[cfg(test)]
mod tests;
