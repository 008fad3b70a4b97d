//! The waves in which changes reach the clusters: the decision groups of the Placement that the configuration names. They
//! follow from the input on every run, so a cluster that joins is in its wave from then on.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use apimachinery::{Identity, key};
use ocm_placement::{Evaluation, GROUP_INDEX_LABEL, GROUP_NAME_LABEL, Inventory};

use super::findings::{all_problems, decisions, finding};
use super::place::cluster_names;
use crate::api::config::{FILE_NAME, PlacementSource, RenderConfig, Waves};
use crate::api::ocm::GROUP;
use crate::diagnostic::{Code, Finding, Findings, counted, nearest};
use crate::hub::Hub;

/// Clusters that get a change at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wave {
    /// The name of its decision group, or its number if that is not a name of its own.
    pub name: String,
    /// The clusters that receive anything.
    pub clusters: BTreeSet<String>,
}

/// More waves would take days, and the works of each wave have texts of their own.
const MOST_WAVES: usize = 100;

/// The name of a decision group, and its clusters.
type Group = (String, BTreeSet<String>);

/// The waves of `clusters`, which are all that receive anything; none unless the configuration names a Placement.
/// Clusters in no decision group come last.
pub fn waves<'a, 'c>(
    hub: &Hub,
    config: &RenderConfig,
    inventory: &Inventory<'_>,
    evaluation: &LazyCell<Evaluation<'a>, impl FnOnce() -> Evaluation<'a>>,
    clusters: impl Iterator<Item = &'c String>,
    findings: &mut Findings,
) -> Vec<Wave> {
    let Some(wanted) = &config.waves else {
        return Vec::new();
    };
    let source = config.placement.unwrap_or_default().source;
    let given = (source != PlacementSource::Evaluate).then(|| decided(hub, wanted));
    let groups = given.flatten().or_else(|| {
        let is_evaluated = source != PlacementSource::Decisions;
        is_evaluated.then(|| evaluated(hub, wanted, evaluation, findings))?
    });
    let Some(mut groups) = groups else {
        findings.push(not_found(hub, config, wanted, inventory));
        return Vec::new();
    };
    // One wave gives no order, and with more than the limit a rollout would take longer than anybody waits.
    if !(2..=MOST_WAVES).contains(&groups.len()) {
        findings.push(wrong_number(hub, config, wanted, groups.len()));
        return Vec::new();
    }
    let mut ungrouped: BTreeSet<String> = clusters.cloned().collect();
    for (_, clusters) in &mut groups {
        // Decisions may list one twice: the first wave counts.
        clusters.retain(|cluster| ungrouped.remove(cluster));
    }
    // They get a change after it has been seen on every group.
    groups.push((String::new(), ungrouped));
    let names: Vec<String> = groups.iter().map(|(name, _)| name.clone()).collect();
    let is_unique = |name: &str| names.iter().filter(|other| *other == name).count() == 1;
    let numbers: Vec<String> = (1..=names.len()).map(|number| number.to_string()).collect();
    let waves = numbers.iter().zip(groups).map(|(number, (name, clusters))| {
        // Pieces of one group share its name, and what is left over has none
        // (docs/systems/ocm-placement.md#decision-groups). A group that is called like the number of another wave would be
        // taken for that one.
        let is_own = !name.is_empty() && is_unique(&name) && !numbers.contains(&name);
        let name = if is_own { name } else { number.clone() };
        Wave { name, clusters }
    });
    waves.collect()
}

/// The groups that PlacementDecisions say they are pages of; `None` if there are no decisions for the Placement.
fn decided(hub: &Hub, wanted: &Waves) -> Option<Vec<Group>> {
    let mut pages = decisions(hub)
        .filter(|(page, name)| (page.namespace_or_empty(), *name) == (&*wanted.namespace, &*wanted.placement))
        .peekable();
    pages.peek()?;
    let mut groups: BTreeMap<(u64, &str), BTreeSet<String>> = BTreeMap::new();
    for (page, _) in pages {
        if let Some(Ok(index)) = page.label(GROUP_INDEX_LABEL).map(str::parse) {
            let name = page.label(GROUP_NAME_LABEL).unwrap_or_default();
            let clusters = cluster_names(page).map(str::to_owned);
            groups.entry((index, name)).or_default().extend(clusters);
        }
    }
    let groups = groups.into_iter();
    let groups = groups.map(|((_, name), clusters)| (name.to_owned(), clusters));
    Some(groups.collect())
}

/// The groups that OCM's scheduler would make, with the problems of the Placement.
fn evaluated(
    hub: &Hub,
    wanted: &Waves,
    evaluation: &Evaluation<'_>,
    findings: &mut Findings,
) -> Option<Vec<Group>> {
    let problems = all_problems(evaluation).into_iter();
    let problems = problems
        .filter(|problem| *problem.namespace == *wanted.namespace && *problem.name == *wanted.placement);
    findings.extend(problems.map(|problem| finding(hub, &problem)));
    evaluation.decision_groups(&wanted.namespace, &wanted.placement)
}

fn not_found(hub: &Hub, config: &RenderConfig, wanted: &Waves, inventory: &Inventory<'_>) -> Finding {
    let (namespace, name) = (&wanted.namespace, &wanted.placement);
    let wanted = key(namespace, name);
    let message = format!("{FILE_NAME}: waves: there is no Placement `{wanted}` in the input");
    let place = config.place("/waves/placement");
    let placements = inventory.placements();
    let decided = decisions(hub).map(|(page, name)| (page.namespace_or_empty(), name));
    let names = placements.chain(decided).map(|(own, name)| key(own, name));
    let names: BTreeSet<String> = names.collect();
    let missing = Identity::new(GROUP, "Placement", Some(namespace), name);
    let finding = Finding::new(Code::PLACEMENT_NOT_FOUND, place, message).missing(missing);
    finding.help(match nearest(&wanted, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "add the Placement or its PlacementDecisions to the input, or correct `waves`".to_owned(),
    })
}

fn wrong_number(hub: &Hub, config: &RenderConfig, wanted: &Waves, groups: usize) -> Finding {
    let (namespace, name) = (&wanted.namespace, &wanted.placement);
    let groups = counted(groups, "decision group");
    let message = format!("Placement {namespace}/{name} has {groups}; `waves` needs 2 to {MOST_WAVES}");
    let waves = config.place("/waves");
    let placement = hub.objects.find(GROUP, "Placement", Some(namespace), name);
    let place = placement.map_or_else(|| waves.clone(), |placement| placement.place("/spec"));
    Finding::new(Code::PLACEMENT_NO_GROUP, place, message)
        .related(waves, "its decision groups are the waves")
        .help(
            "correct `spec.decisionStrategy.groupStrategy` of the Placement; if PlacementDecisions are committed, renew \
             them with `spokewright placement --write DIR`",
        )
}
