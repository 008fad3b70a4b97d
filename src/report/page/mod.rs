//! The page: one HTML file that shows a fleet.
//!
//! Everything that needs a rule of precedence is decided before the page is made: its script only groups, counts, and
//! draws. `document` has the shape of the data and the lists that it consists of; `inventory`, `policies`, and `change` fill
//! it, each its part, and this file the rest (Gateways, Placements, reports about works); `html` writes the file.

mod change;
mod document;
mod html;
mod inventory;
mod policies;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use apimachinery::Work;
use document::{
    CarriedRow, ClusterRow, ConditionRow, DroppedRow, FindingRow, GatewayRow, ListenerRow, OverlayRow,
    PlacementRow, PolicyRow, ProblemRow, Tables, WorksPart, signed_or_none,
};
use inventory::{Paths, Profiles};
use ocm_placement::{ConditionStatus, Evaluation};
use policies::{Rows, condition_row};

use super::aggregate::{Aggregated, WorkProblem};
use super::placement::funnel;
use crate::api::gateway::GROUP;
use crate::api::ocm::GROUP as CLUSTERS;
use crate::diagnostic::{API_VERSION, Findings, Part};
use crate::hub::Hub;
use crate::object::{Object, Origin};
use crate::outcome::inventory::{GatewayEntry, Inventory, InventoryScope, PolicyNumbers};
use crate::outcome::{ObjectStatus, OverlayChanges, PolicyView};
use crate::placing::{Decided, place_of};
use crate::policy::Rule;
use crate::render::{ManifestSummary, Plan, WorkId};
use crate::source::Sources;
use crate::sync::Withheld;

pub use change::Compared;
pub use document::FleetPage;
pub(crate) use policies::Without;

/// What a page is made from.
pub(crate) struct Page<'p> {
    pub(crate) view: &'p PolicyView<'p>,
    pub(crate) plan: &'p Plan,
    pub(crate) withheld: &'p [Withheld<'p>],
    pub(crate) hub: &'p Hub,
    pub(crate) sources: &'p Sources,
    /// All clusters, sorted.
    pub(crate) clusters: Vec<&'p str>,
    pub(crate) evaluation: &'p Evaluation<'p>,
    /// Whether it has full detail, and the page with it.
    pub(crate) explains_placements: bool,
    pub(crate) decided: &'p Decided<'p>,
    /// Predicted, of Gateways.
    pub(crate) statuses: Vec<ObjectStatus>,
    /// What changes without each policy of the hub, by locator, as far as that was worked out.
    pub(crate) if_deleted: HashMap<String, Vec<Without<'p>>>,
    pub(crate) findings: &'p Findings,
    pub(crate) works: Option<&'p Aggregated>,
}

/// What the user says about a page.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PageOptions {
    /// Its name.
    pub title: String,
    /// What is before the path of a file in a link to it: `http` or `https`.
    pub source_url: Option<String>,
}

impl PageOptions {
    /// A page of this title.
    pub fn new(title: String, source_url: Option<String>) -> Self {
        Self { title, source_url }
    }
}

impl Page<'_> {
    /// The data of the page. Equal input gives equal data.
    pub(crate) fn data(&self, options: &PageOptions, compared: Option<&Compared<'_>>) -> FleetPage {
        let view = self.view;
        let relative = self.sources.root_relative();
        let mut tables = Tables::new(&relative, &self.clusters);
        if let Some(compared) = compared {
            tables.hidden.clone_from(&compared.report.comparison.hidden);
        }
        let mut page = FleetPage {
            api_version: API_VERSION,
            kind: "FleetPage",
            title: options.title.clone(),
            source_url: options.source_url.clone(),
            ..FleetPage::default()
        };
        let clusters: HashSet<&str> = self.clusters.iter().copied().collect();
        let scope = InventoryScope {
            is_listed: &|name| clusters.contains(name),
            work: &Work::default(),
            hidden: &mut tables.hidden,
        };
        let Some(mut inventory) = Inventory::new(view, self.withheld, &relative, scope) else {
            page.left_out.push(html::FLEET.to_owned());
            return page;
        };
        let paths = Paths::new(&inventory);
        let rows = Rows {
            view,
            paths: &paths,
            sources: self.sources,
            if_deleted: &self.if_deleted,
        };
        let mut policies = rows.all(&mut inventory, &mut tables);
        let placements = placements(
            (self.evaluation, self.explains_placements),
            self.decided,
            self.hub,
            &self.clusters,
            &mut tables,
        );
        let common = inventory::common_outcomes(&inventory);
        let own = inventory::own_outcomes(&common);
        let mut gateways = self.gateways(&inventory.gateways, own, &placements, &mut tables);
        let rule_kinds = inventory::rule_kinds(&inventory);
        let mut profiles = Profiles::new(&common, &rule_kinds);
        let routes = inventory::route_rows(&inventory, &mut profiles, &mut tables);
        let outcomes = inventory.outcomes.iter();
        let outcomes = outcomes.map(|outcome| inventory::outcome_row(outcome, &mut tables));
        let outcomes = outcomes.collect();
        let exceptions = inventory::exception_rows(&inventory, &mut tables);
        let change = compared
            .map(|compared| change::change(compared, &view.hub.topology, (&inventory, &paths), &mut tables));
        let works = self.works.map(|aggregated| {
            let rows = (gateways.as_mut_slice(), policies.as_mut_slice());
            works(aggregated, (&inventory.policies, &paths), rows, &tables)
        });
        let ways = (!self.explains_placements).then(|| html::WAYS_OF_PLACEMENTS.to_owned());
        let mut left_out: Vec<String> = ways.into_iter().collect();
        let texts = policies::texts(
            self.hub,
            &view.hub.topology,
            self.sources,
            &mut tables,
            &mut left_out,
        );
        let is_unknown = |row: &PolicyRow| row.if_deleted.is_none() && row.cluster.is_none();
        if policies.iter().any(is_unknown) {
            left_out.push(html::WITHOUT_POLICIES.to_owned());
        }
        let overlays = view.overlays.iter().filter(|change| change.is_effective());
        let overlays = overlays.map(|change| overlay_row(change, &mut tables)).collect();
        let findings = self.findings(&mut tables);
        let clusters = self.cluster_rows(&mut tables);
        let withheld = self.withheld(&inventory.policies, &tables);
        let (files, sets, values) = tables.into_lists();
        let rules: BTreeMap<&str, &str> = Rule::ALL
            .into_iter()
            .map(|rule| (rule.name(), rule.because()))
            .collect();
        FleetPage {
            files,
            sets,
            values,
            rules,
            rule_kinds,
            kinds: inventory.kinds,
            clusters,
            gateways,
            backends: inventory.backends.into_entries(),
            routes,
            profiles: profiles.list.list,
            outcomes,
            exceptions,
            policies,
            withheld,
            overlays,
            placements,
            findings,
            texts,
            change,
            works,
            left_out,
            ..page
        }
    }

    fn gateways(
        &self,
        entries: &[GatewayEntry],
        mut own: HashMap<usize, Vec<(document::Position, usize, document::Position)>>,
        placements: &[document::PlacementRow],
        tables: &mut Tables<'_>,
    ) -> Vec<GatewayRow> {
        let placed = placements.iter().zip(0..);
        let placed = placed.map(|(row, position)| (format!("{}/{}", row.ns, row.name), position));
        let placed: HashMap<String, usize> = placed.collect();
        let statuses = self.statuses.iter();
        let statuses = statuses.map(|status| (status.object.as_str(), status));
        let statuses: HashMap<&str, &ObjectStatus> = statuses.collect();
        let carried = self.carried();
        let topology = &self.view.hub.topology;
        let routes = topology.routes.rows().iter();
        let routes: HashSet<&Origin> = routes.map(|route| &route.object.origin).collect();
        let mut rows = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let placement = entry.placement.as_ref();
            let placement = placement.and_then(|placement| placed.get(placement));
            let status = statuses.get(&*entry.gateway);
            let mut nodes = topology.find(&entry.identity).into_iter();
            let object = nodes.find_map(|node| topology.object(node));
            let work = object.and_then(|object| carried.get(&object.origin));
            let (mut objects, mut ships_routes) = (Vec::new(), 0_usize);
            for manifest in work.iter().flat_map(|work| work.manifests) {
                let origin = manifest.origins.first();
                if origin.is_some_and(|origin| routes.contains(origin)) {
                    ships_routes = ships_routes.saturating_add(1);
                    continue;
                }
                let row = manifest.clone();
                let at = origin.and_then(|origin| tables.at(origin.place("", Part::Value)));
                objects.push(match at {
                    Some((file, line)) => CarriedRow::Authored(row.kind, row.namespace, row.name, file, line),
                    None => CarriedRow::Made(row.kind, row.namespace, row.name),
                });
            }
            let kind = &entry.identity.group_kind;
            let listeners = entry.listeners.iter().map(|listener| ListenerRow {
                name: listener.name.clone(),
                host: listener.hostname.clone(),
                port: listener.port,
                protocol: listener.protocol.clone(),
                set: listener.listener_set.clone(),
            });
            rows.push(GatewayRow {
                ns: entry.identity.namespace.clone().unwrap_or_default(),
                name: entry.identity.name.clone(),
                kind: (kind.group != GROUP).then(|| kind.kind.clone()),
                local: entry.local,
                at: tables.line(entry.place.as_ref()),
                cls: entry.class.clone(),
                placement: signed_or_none(placement.copied()),
                clusters: tables.shared_set(&entry.clusters),
                listeners: listeners.collect(),
                own: own.remove(&number).unwrap_or_default(),
                work: work.map(|work| work.name.clone()),
                objects,
                ships_routes,
                conditions: status.map(|status| conditions(status)).unwrap_or_default(),
                reported: None,
                addresses: Vec::new(),
            });
        }
        rows
    }

    /// The work of each Gateway, by the origin of the Gateway: of several variants the one that most clusters get.
    fn carried(&self) -> HashMap<Origin, Carried<'_>> {
        let mut counted: HashMap<WorkId, usize> = HashMap::new();
        for works in self.plan.clusters.values() {
            for work in works {
                let count = counted.entry(*work).or_default();
                *count = count.saturating_add(1);
            }
        }
        let mut carried: HashMap<Origin, (usize, Carried<'_>)> = HashMap::new();
        let sets = self.plan.replica_sets.iter().flatten();
        let sets = sets.map(|set| {
            let name = format!("ManifestWorkReplicaSet {}/{}", set.namespace, set.name);
            (usize::MAX, name, set.manifests.as_slice())
        });
        let works = self.plan.works.iter().map(|(id, work)| {
            let count = counted.get(&id).copied().unwrap_or_default();
            (
                count,
                format!("ManifestWork {}", work.name),
                work.manifests.as_slice(),
            )
        });
        for (count, name, manifests) in sets.chain(works) {
            let mut gateways = manifests
                .iter()
                .filter(|manifest| manifest.kind == "Gateway" && manifest.group == GROUP);
            let Some(origin) = gateways.next().and_then(|gateway| gateway.origins.first()) else {
                continue;
            };
            let known = carried.get(origin);
            if known.is_none_or(|(known, _)| *known < count) {
                carried.insert(origin.clone(), (count, Carried { name, manifests }));
            }
        }
        let carried = carried.into_iter();
        carried.map(|(origin, (_, work))| (origin, work)).collect()
    }

    fn findings(&self, tables: &mut Tables<'_>) -> Vec<FindingRow> {
        let counted = self
            .findings
            .iter()
            .filter(|finding| finding.suppressed.is_none());
        counted
            .map(|finding| FindingRow {
                code: finding.code.name(),
                severity: finding.severity.as_str(),
                message: finding.message.to_string(),
                at: tables.at(finding.place.clone()),
                help: finding.help.as_ref().map(ToString::to_string),
            })
            .collect()
    }

    fn cluster_rows(&self, tables: &mut Tables<'_>) -> Vec<ClusterRow> {
        let managed = self.hub.objects.of_kind(CLUSTERS, "ManagedCluster").iter();
        let managed: HashMap<&str, &Object> = managed.map(|object| (object.name.as_str(), object)).collect();
        let rows = self.clusters.iter().map(|name| {
            let object = managed.get(name).copied();
            ClusterRow {
                name: (*name).to_owned(),
                labels: object.map(labels).unwrap_or_default(),
                taints: object.map(taints).unwrap_or_default(),
                at: object.and_then(|object| tables.object(object)),
            }
        });
        rows.collect()
    }

    /// What is kept from one cluster by what lives there.
    fn withheld(
        &self,
        numbers: &PolicyNumbers,
        tables: &Tables<'_>,
    ) -> Vec<(usize, usize, usize, &'static str)> {
        let rows: BTreeSet<(usize, usize, usize, &'static str)> = self
            .withheld
            .iter()
            .filter_map(|withheld| {
                let cluster = withheld.cluster?;
                let policy = numbers.find(&self.view.hub.locator(withheld.policy), None)?;
                let winner = numbers.find(&withheld.winner.identity().locator(), Some(cluster))?;
                Some((policy, tables.cluster(cluster)?, winner, withheld.rule.name()))
            })
            .collect();
        rows.into_iter().collect()
    }
}

/// A work, or a set of works, that carries a Gateway.
struct Carried<'p> {
    name: String,
    manifests: &'p [ManifestSummary],
}

fn overlay_row(change: &OverlayChanges, tables: &mut Tables<'_>) -> OverlayRow {
    let place = change.place.as_ref();
    let fields = change.fields.iter().filter(|field| !field.overridden);
    let fields = fields.map(|field| {
        let values = [&field.hub, &field.here];
        let [hub, here] = values.map(|value| tables.value_or_none(value.as_ref()));
        (field.path.clone(), hub, here)
    });
    OverlayRow {
        overlay: change.overlay.clone(),
        object: change.object.clone(),
        fields: fields.collect(),
        at: tables.line(place),
        clusters: tables.set(change.clusters.iter().map(String::as_str)),
    }
}

fn conditions(status: &ObjectStatus) -> Vec<ConditionRow> {
    status.conditions.iter().map(condition_row).collect()
}

fn labels(cluster: &Object) -> BTreeMap<String, String> {
    let labels = cluster.labels();
    labels
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// `key=value:NoSelect`.
fn taints(cluster: &Object) -> Vec<String> {
    let taints = cluster.root().get("spec").get("taints");
    taints
        .items()
        .map(|taint| {
            let text = |field: &str| taint.text(field).unwrap_or_default().to_owned();
            let value = match text("value").as_str() {
                "" => String::new(),
                value => format!("={value}"),
            };
            format!("{}{value}:{}", text("key"), text("effect"))
        })
        .collect()
}

/// The rows of all Placements, by namespace and name.
fn placements(
    (evaluation, explains): (&Evaluation<'_>, bool),
    decided: &Decided<'_>,
    hub: &Hub,
    clusters: &[&str],
    tables: &mut Tables<'_>,
) -> Vec<PlacementRow> {
    let managed = hub.objects.of_kind(CLUSTERS, "ManagedCluster").len();
    let mut rows = Vec::new();
    for (number, report) in evaluation.placement_reports().enumerate() {
        let object = hub
            .objects
            .find(CLUSTERS, "Placement", Some(&report.namespace), &report.name);
        let evaluated = report.decisions.iter();
        let evaluated = tables.set(evaluated.map(|decision| decision.cluster_name.as_str()));
        let given = decided.of(&report.namespace, &report.name);
        let used = match given {
            Some(given) => tables.set(given.iter().map(String::as_str)),
            None => evaluated,
        };
        let stages = explains.then(|| funnel(evaluation, (number, &report), clusters));
        let stages = stages.into_iter().flatten();
        let stages = stages.map(|step| {
            let dropped = step.dropped.into_iter().map(|dropped| -> DroppedRow {
                let at = tables.at(place_of(hub, &dropped.at));
                (dropped.reason, at, tables.set_of(dropped.clusters))
            });
            (step.name, step.left, dropped.collect())
        });
        let stages: Vec<(&'static str, usize, Vec<DroppedRow>)> = stages.collect();
        rows.push(PlacementRow {
            ns: report.namespace.clone(),
            name: report.name.clone(),
            total: managed,
            stages,
            at: object.and_then(|object| tables.object(object)),
            want: object.and_then(|object| object.value.pointer("/spec/numberOfClusters")?.as_i64()),
            source: if given.is_some() {
                "decisions"
            } else {
                "evaluation"
            },
            evaluated,
            clusters: used,
            sets: report.eligible_cluster_sets.clone(),
            conditions: report
                .conditions
                .iter()
                .map(|condition| {
                    let status = match condition.status {
                        ConditionStatus::True => "True",
                        ConditionStatus::False => "False",
                        ConditionStatus::Unknown => "Unknown",
                    };
                    (
                        condition.kind.clone(),
                        status.to_owned(),
                        condition.reason.clone(),
                        condition.message.clone(),
                    )
                })
                .collect(),
            prioritizers: report
                .prioritizers
                .iter()
                .flatten()
                .map(|prioritizer| (prioritizer.name.clone(), prioritizer.weight))
                .collect(),
        });
    }
    rows
}

fn works(
    aggregated: &Aggregated,
    (numbers, paths): (&PolicyNumbers, &Paths),
    (gateways, policies): (&mut [GatewayRow], &mut [PolicyRow]),
    tables: &Tables<'_>,
) -> WorksPart {
    for status in &aggregated.objects {
        let conditions = || status.conditions.iter().map(condition_row).collect();
        if let Some(row) = paths.gateway(&status.object).and_then(|at| gateways.get_mut(at)) {
            row.reported = Some(conditions());
            row.addresses = status
                .addresses
                .iter()
                .map(|address| address.value.clone())
                .collect();
        }
        let policy = numbers.find(&status.object, None);
        if let Some(row) = policy.and_then(|at| policies.get_mut(at)) {
            row.reported = Some(conditions());
        }
    }
    let numbered = || gateways.iter().zip(0..);
    let by_key = numbered().map(|(row, position)| (format!("{}/{}", row.ns, row.name), position));
    let by_key: HashMap<String, usize> = by_key.collect();
    let by_work = |(row, position): (&GatewayRow, usize)| {
        Some((
            row.work.as_deref()?.strip_prefix("ManifestWork ")?.to_owned(),
            position,
        ))
    };
    let by_work: HashMap<String, usize> = numbered().filter_map(by_work).collect();
    // Nothing shows who owns a work that does not exist.
    let whose = |problem: &WorkProblem| {
        let parent = problem.parent.as_ref().and_then(|parent| by_key.get(parent));
        parent.or_else(|| by_work.get(problem.work.as_str())).copied()
    };
    let problems = aggregated.works.problems.iter().map(|problem| ProblemRow {
        cluster: signed_or_none(tables.cluster(&problem.cluster)),
        on: problem.cluster.clone(),
        work: problem.work.clone(),
        state: problem.state.word(),
        message: problem.message.clone(),
        objects: problem
            .manifests
            .iter()
            .map(|object| {
                let name = match object.namespace.as_str() {
                    "" => object.name.clone(),
                    namespace => format!("{namespace}/{}", object.name),
                };
                format!("{} {name}: {}", object.kind, object.message)
            })
            .collect(),
        help: problem.help,
        gateway: signed_or_none(whose(problem)),
    });
    WorksPart {
        planned: aggregated.works.planned,
        applied: aggregated.works.applied,
        problems: problems.collect(),
    }
}

#[cfg(test)]
mod tests;
