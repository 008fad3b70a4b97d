//! The policies of a page: those of the hub, and those that live on clusters, with their targets, what would change without
//! each, and the texts of objects, as far as a page has space for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::document::{
    ConditionRow, IfDeletedRow, PolicyRow, Position, Tables, TargetRow, signed, signed_or_none,
};
use super::inventory::{Part, Paths};
use crate::api::gateway::GROUP as GATEWAY;
use crate::api::ocm::GROUP as CLUSTERS;
use crate::diagnostic::{Locate as _, and_more, holds_secret};
use crate::hub::Hub;
use crate::object::Object;
use crate::outcome::inventory::{Backends, Inventory, KindEntry, PolicyNumbers, shortened};
use crate::outcome::{PolicyEntry, PolicyView, Seen};
use crate::policy::{Attachments, Condition, Policy, Target};
use crate::report::diff::{SettingChange, giver};
use crate::report::status::spoken;
use crate::source::Sources;
use crate::topology::{Node, Topology};

/// At most so many messages of one condition are shown; thousands of clusters may each have their own.
const MOST_MESSAGES: usize = 10;

/// At most so many characters of all messages of one condition.
const MOST_OF_A_MESSAGE: usize = 2000;

/// What would be different without a policy, the same on some paths.
#[derive(Debug)]
pub(crate) struct Without<'v> {
    /// The settings that differ.
    pub(crate) settings: Arc<Vec<SettingChange>>,
    /// Locators of the policies that then apply.
    pub(crate) policies: Vec<String>,
    /// The clusters, in groups of those that are alike.
    pub(crate) clusters: Vec<Arc<[&'v str]>>,
    /// The locators of the paths.
    pub(crate) paths: Vec<Vec<String>>,
    /// How many more paths there are.
    pub(crate) more: usize,
}

/// The data that the rows are made from, in addition to the view.
pub(super) struct Rows<'r, 'p> {
    pub(super) view: &'p PolicyView<'p>,
    pub(super) paths: &'r Paths,
    pub(super) sources: &'p Sources,
    /// The changes without a policy of the hub, by locator, if they were computed.
    pub(super) if_deleted: &'r HashMap<String, Vec<Without<'p>>>,
}

impl<'p> Rows<'_, 'p> {
    /// A row for each policy, in the order of their numbers. Adds the backends that are targets to those of the inventory.
    pub(super) fn all(&self, inventory: &mut Inventory, tables: &mut Tables<'p>) -> Vec<PolicyRow> {
        let places: Vec<Seen<'p>> = self.view.seen().collect();
        let Inventory {
            kinds,
            policies: numbers,
            backends,
            ..
        } = inventory;
        let mut sets = HashMap::new();
        let mut rows = Vec::new();
        for entry in &numbers.entries {
            let Some(seen) = places.get(entry.place.unwrap_or_default()).copied() else {
                continue;
            };
            let policy = seen.attachments.policy(entry.policy);
            let group_kind = policy.object.group_kind();
            let is_kind = |kind: &KindEntry| kind.kind == group_kind.kind && kind.group == group_kind.group;
            let kind = kinds.iter().position(is_kind);
            let PolicyEntry {
                conditions,
                mode,
                strategy,
                ..
            } = if entry.place.is_none() {
                PolicyEntry::of_hub(self.view, entry.policy)
            } else {
                PolicyEntry::of_clusters(self.view, seen, entry.policy)
            };
            let (first, text) = own_text(policy.object, self.sources).unwrap_or_default();
            let locator = policy.locator();
            let changes = self
                .if_deleted
                .get(locator.as_ref())
                .filter(|_| entry.place.is_none());
            let (if_deleted, more_paths) = match changes {
                Some(changes) => {
                    let (rows, more) = deleted(changes, (numbers, self.paths), &mut sets, tables);
                    (Some(rows), more)
                }
                None => (None, 0),
            };
            let lives = entry.place.map(|_| seen.clusters);
            rows.push(PolicyRow {
                kind: kind.unwrap_or_default(),
                ns: policy.object.namespace_or_empty().to_owned(),
                name: policy.object.name.to_string(),
                at: tables.object(policy.object),
                targets: targets(seen.attachments, policy, self.paths, backends),
                mode,
                strategy,
                text,
                first,
                cluster: lives.and_then(|clusters| tables.cluster(clusters.first()?)),
                clusters: lives.map(|clusters| tables.set(clusters.iter().map(String::as_str))),
                conditions: conditions.iter().map(condition_row).collect(),
                reported: None,
                if_deleted,
                more_paths,
            });
        }
        rows
    }
}

/// What would change without a policy, and how many paths are not listed.
fn deleted<'v>(
    changes: &[Without<'v>],
    (numbers, paths): (&PolicyNumbers, &Paths),
    sets: &mut HashMap<Vec<*const [&'v str]>, usize>,
    tables: &mut Tables<'_>,
) -> (Vec<IfDeletedRow>, usize) {
    let mut rows = Vec::new();
    for change in changes {
        let mut settings = Vec::new();
        for setting in change.settings.iter() {
            let whose = giver(&change.policies, setting);
            let whose = whose.and_then(|locator| numbers.find(locator, None));
            settings.push((
                setting.setting.clone(),
                tables.value_or_none(setting.old.as_deref()),
                tables.value_or_none(setting.new.as_deref()),
                signed_or_none(whose),
            ));
        }
        let spots: Vec<Vec<Position>> = change.paths.iter().map(|path| paths.spot(path)).collect();
        let all = spots.first().map_or(0, |spot| paths.clusters_of(spot));
        // Groups are known by where they are.
        let groups = change.clusters.iter().map(Arc::as_ptr).collect();
        let names = change.clusters.iter().flat_map(|all| all.iter().copied());
        let clusters = *sets.entry(groups).or_insert_with(|| tables.set(names));
        let here = tables.members(clusters).count();
        if here == 0 && !change.clusters.is_empty() {
            continue;
        }
        rows.push(IfDeletedRow(spots, settings, (here < all).then_some(clusters)));
    }
    (rows, changes.iter().map(|change| change.more).sum())
}

pub(super) fn condition_row(condition: &Condition) -> ConditionRow {
    let mut messages = spoken(&condition.message);
    let left_out = messages.len().saturating_sub(MOST_MESSAGES);
    messages.truncate(MOST_MESSAGES);
    messages.extend(and_more(left_out, "message"));
    // One may name ten thousand clusters.
    let message = shortened(messages.join("; "), MOST_OF_A_MESSAGE);
    (
        condition.kind.clone(),
        condition.status.to_owned(),
        condition.reason.clone(),
        message,
    )
}

fn targets(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    paths: &Paths,
    backends: &mut Backends,
) -> Vec<TargetRow> {
    let mut rows: Vec<TargetRow> = Vec::new();
    for declared in &policy.targets {
        let row = match &declared.target {
            Target::Attached(node) => node_row(&attachments.topology, *node, paths, backends),
            _ => None,
        };
        let row = row.unwrap_or_else(|| {
            TargetRow::Named("x", declared.unattached(policy.object.namespace_or_empty()))
        });
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

fn node_row(
    topology: &Topology<'_>,
    node: Node,
    paths: &Paths,
    backends: &mut Backends,
) -> Option<TargetRow> {
    Some(match node {
        Node::Gateway(_) | Node::Listener(..) | Node::Route(_) | Node::Rule(..) => {
            match paths.part(topology, node)? {
                Part::Gateway(gateway) => TargetRow::Section("g", gateway, -1),
                Part::Listener(gateway, listener) => TargetRow::Section("g", gateway, signed(listener)),
                Part::Route(route) => TargetRow::Section("r", route, -1),
                Part::Rule(route, rule) => TargetRow::Section("r", route, signed(rule)),
                Part::Backend(backend) => TargetRow::Backend("b", backend),
            }
        }
        Node::ListenerSet(set) => {
            let gateway = Node::Gateway(topology.listener_sets.get(set).gateway);
            let gateway = paths.gateway(&topology.locator(gateway))?;
            TargetRow::Set("s", gateway, topology.identity(node).to_string())
        }
        Node::Backend(_) | Node::Port(..) => TargetRow::Backend("b", backends.position(topology, node)),
        Node::Namespace(_) => TargetRow::Named("n", topology.identity(node).name),
        Node::Class(_) => TargetRow::Named("c", topology.identity(node).name),
        Node::Mesh(_) => TargetRow::Named("m", topology.identity(node).name),
    })
}

/// At most so many bytes of texts are carried, kind by kind; those of policies are always.
const MOST_BYTES: usize = 1 << 20;

/// At most so many bytes of one text.
const MOST_OF_A_TEXT: usize = 64 << 10;

/// The first line and the text of an object: of its own document, or of its own part of a `List`. Nothing else of the
/// file, because it may contain a Secret.
fn own_text(object: &Object, sources: &Sources) -> Option<(usize, String)> {
    if holds_secret(&object.value) {
        return None;
    }
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
    Some((line.saturating_add(blank), rest.trim_end().to_owned()))
}

/// The texts of objects that are not policies: Placements first, because their place explains most, then Gateways and
/// the objects that they name.
pub(super) fn texts(
    hub: &Hub,
    topology: &Topology<'_>,
    sources: &Sources,
    tables: &mut Tables<'_>,
    left_out: &mut Vec<String>,
) -> Vec<(usize, Vec<(usize, String)>)> {
    let objects = &hub.objects;
    let routes: Vec<&Object> = topology.routes.rows().iter().map(|route| route.object).collect();
    let of_kind = |group, kind| -> Vec<&Object> { objects.of_kind(group, kind).iter().collect() };
    let kinds: [(&str, Vec<&Object>); 5] = [
        ("Placements", of_kind(CLUSTERS, "Placement")),
        ("Gateways", of_kind(GATEWAY, "Gateway")),
        ("GatewayClasses", of_kind(GATEWAY, "GatewayClass")),
        ("routes", routes),
        ("clusters", of_kind(CLUSTERS, "ManagedCluster")),
    ];
    let mut by_file: BTreeMap<usize, Vec<(usize, String)>> = BTreeMap::new();
    let mut left = MOST_BYTES;
    for (what, objects) in kinds {
        let texts: Vec<(&Object, usize, String)> = objects
            .into_iter()
            .filter_map(|object| own_text(object, sources).map(|(line, text)| (object, line, text)))
            .collect();
        let bytes: usize = texts.iter().map(|(_, _, text)| text.len()).sum();
        let Some(rest) = left.checked_sub(bytes) else {
            left_out.push(format!("the texts of {what}"));
            continue;
        };
        left = rest;
        for (object, line, text) in texts {
            if let Some((file, _)) = tables.object(object) {
                by_file.entry(file).or_default().push((line, text));
            }
        }
    }
    for texts in by_file.values_mut() {
        texts.sort_unstable();
        texts.dedup();
    }
    by_file.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::ConditionMessage;

    #[test]
    fn a_row_has_ten_messages_at_most_and_says_how_many_there_are() {
        let row = |distinct: usize| {
            let messages = (0..500).map(|number| {
                let message = format!("m{}", number % distinct);
                (format!("c{number:03}").into(), message.into())
            });
            let (.., message) = condition_row(&Condition {
                kind: "Accepted".to_owned(),
                status: "False",
                reason: "NotTrueOnAllClusters".to_owned(),
                message: ConditionMessage::OfClusters(messages.collect()),
            });
            message
        };
        assert_eq!(
            row(1),
            "on c000, c001, c002, c003, c004, c005, c006, c007, c008, c009 and 490 more: m0"
        );
        assert_eq!(row(10).matches(": m").count(), 10);
        let twelve = row(12);
        assert!(twelve.ends_with(": m9; and 2 more messages"), "{twelve}");
    }
}
