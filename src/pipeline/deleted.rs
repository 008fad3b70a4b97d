//! What would change if each policy of the hub were deleted.
//!
//! Owns: the parts of a hub that no policy leads out of, and the limit on the work. Flows in: an analysis and its
//! evaluated policies. Flows out: changes of settings by policy. Must not know: how they are shown.
//!
//! A policy makes a difference only to the Gateways that it affects, and to those that share a route or a policy with
//! them. So the hub is split into independent parts, and each part is evaluated again without each of its policies: a
//! fleet of a hundred Gateways costs a hundred small hubs, and not a hundred fleets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube_json::json;

use super::analysis::Analysis;
use crate::api::crd;
use crate::api::gateway::{GROUP, is_listener_set};
use crate::diagnostic::Findings;
use crate::hub::{Hub, Objects};
use crate::object::Object;
use crate::object::well_known::POLICY_LABEL;
use crate::parallel;
use crate::policy::PolicyId;
use crate::report::diff::{EffectiveChange, EffectiveSettings, SettingChange};
use crate::report::{PolicyView, Without};
use crate::topology::{Node, Start, Topology};
use apimachinery::Identity;

/// What each policy of a part would change, if it can be told.
type Found = Vec<Option<(String, Vec<Without>)>>;

/// At most so many paths are evaluated for it, of all parts: each as often as it has policies.
const MOST_EVALUATIONS: usize = 3_000_000;

/// At most so many paths are listed of what the deletion of one policy changes.
const MOST_PATHS: usize = 400;

/// A part of the hub: where traffic begins in it, and its policies.
#[derive(Debug, Default)]
struct Part {
    starts: BTreeSet<Start>,
    policies: Vec<PolicyId>,
}

/// The difference that each policy of the hub makes, by its locator; a policy of a part that is too large is missing.
pub(super) fn if_deleted(analysis: &Analysis<'_>, view: &PolicyView<'_>) -> HashMap<String, Vec<Without>> {
    let hub = view.hub;
    let mut parts = parts(view);
    // The smallest first: a hub has one part that is all of it, or many that are small.
    let paths = paths(view);
    let cost = |part: &Part| {
        let paths = part.starts.iter().filter_map(|start| paths.get(start));
        paths.sum::<usize>().saturating_mul(part.policies.len())
    };
    parts.sort_by_cached_key(|part| (cost(part), part.starts.first().copied()));
    let mut left = MOST_EVALUATIONS;
    parts.retain(|part| {
        let rest = left.checked_sub(cost(part));
        left = rest.unwrap_or_default();
        rest.is_some()
    });
    let found: Vec<Found> = parallel::map(&parts, |part| {
        let narrow = narrowed(analysis, view, part);
        let alike = alike(view, part);
        let placed = Arc::new(
            analysis
                .placed
                .part(&narrow, |cluster| alike.contains_key(cluster)),
        );
        let with = analysis.again(Arc::clone(&placed), None);
        let before = settings(&with);
        parallel::map(&part.policies, |policy| {
            let without = Some(hub.policy(*policy).object.identity());
            let after = settings(&analysis.again(Arc::clone(&placed), without));
            let changes = EffectiveSettings::changes(before.as_ref()?, &after?);
            Some((hub.locator(*policy).to_string(), grouped(&changes, &alike)))
        })
    });
    let found = found.into_iter().flatten().flatten();
    let mut changes: HashMap<String, Vec<Without>> = found.collect();
    // A policy on no path makes no difference.
    for (policy, _) in hub.policies.iter() {
        if starts_of(view, policy).is_empty() {
            changes.entry(hub.locator(policy).to_string()).or_default();
        }
    }
    changes
}

/// The clusters that a part is evaluated for: one of those that are alike in it, with all of these. A thousand that receive
/// the same of it cost one.
type Alike<'v> = BTreeMap<&'v str, Arc<[String]>>;

fn alike<'v>(view: &'v PolicyView<'_>, part: &Part) -> Alike<'v> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, spoke) in view.spokes.iter().enumerate() {
        let topology = &spoke.attachments.topology;
        let mut starts = topology.starts();
        let is_here =
            |there| start_on_hub(view, topology, there).is_some_and(|start| part.starts.contains(&start));
        if starts.any(is_here) {
            for cluster in spoke.clusters {
                places.entry(cluster).or_default().push(number);
            }
        }
    }
    let mut groups: BTreeMap<&[usize], Vec<&'v str>> = BTreeMap::new();
    for (cluster, places) in &places {
        groups.entry(places).or_default().push(cluster);
    }
    let groups = groups.into_values();
    groups
        .filter_map(|clusters| {
            let all = clusters.iter().map(|cluster| (*cluster).to_owned()).collect();
            Some((*clusters.first()?, all))
        })
        .collect()
}

/// The change, the clusters, and the policies that then apply.
type SameChange<'c> = (*const Vec<SettingChange>, &'c [String], &'c [String]);

/// Equal changes together, in the order of their first path.
fn grouped(changes: &[EffectiveChange], alike: &Alike<'_>) -> Vec<Without> {
    let mut all: Vec<Without> = Vec::new();
    // Paths with one change share what changes.
    let mut known: HashMap<SameChange<'_>, usize> = HashMap::new();
    let mut listed = 0_usize;
    for change in changes {
        let key = (
            Arc::as_ptr(&change.settings),
            change.clusters.as_slice(),
            change.new_policies.as_slice(),
        );
        let next = all.len();
        let position = *known.entry(key).or_insert(next);
        if position == next {
            let clusters = change.clusters.iter();
            let clusters = clusters.filter_map(|cluster| alike.get(cluster.as_str()));
            all.push(Without {
                settings: Arc::clone(&change.settings),
                policies: change.new_policies.clone(),
                clusters: clusters.cloned().collect(),
                paths: Vec::new(),
                more: 0,
            });
        }
        if let Some(without) = all.get_mut(position) {
            // Each change has a path at least.
            if listed < MOST_PATHS || without.paths.is_empty() {
                listed = listed.saturating_add(1);
                without.paths.push(change.path.clone());
            } else {
                without.more = without.more.saturating_add(1);
            }
        }
    }
    all
}

fn settings(analysis: &Analysis<'_>) -> Option<EffectiveSettings> {
    let (_, spokes) = analysis.received(None);
    EffectiveSettings::with_hub(&analysis.evaluate(&spokes, &mut Findings::new())).ok()
}

fn starts_of(view: &PolicyView<'_>, policy: PolicyId) -> BTreeSet<Start> {
    let nodes = view.hub.policy(policy).nodes().into_iter();
    nodes.flat_map(|node| view.hub.starts_of(policy, node)).collect()
}

/// How many paths there are from each start, over all classes of clusters.
fn paths(view: &PolicyView<'_>) -> HashMap<Start, usize> {
    let mut paths: HashMap<Start, usize> = HashMap::new();
    for seen in view.seen() {
        let topology = &seen.attachments.topology;
        let mut known: HashMap<Start, Option<Start>> = HashMap::new();
        for (_, path) in seen.effective.iter() {
            let there = path.path.start;
            let of_hub = *known
                .entry(there)
                .or_insert_with(|| start_on_hub(view, topology, there));
            if let Some(start) = of_hub {
                let count = paths.entry(start).or_default();
                *count = count.saturating_add(1);
            }
        }
    }
    paths
}

/// Where traffic begins on the hub that begins there on a cluster.
fn start_on_hub(view: &PolicyView<'_>, topology: &Topology<'_>, there: Start) -> Option<Start> {
    let identity = topology.identity(there.node());
    let mut nodes = view.hub.topology.find(&identity).into_iter();
    nodes.find_map(|node| match node {
        Node::Gateway(gateway) => Some(Start::Gateway(gateway)),
        Node::Backend(service) => Some(Start::Service(service)),
        _ => None,
    })
}

/// The independent parts: groups of starts that share a route or a policy.
fn parts(view: &PolicyView<'_>) -> Vec<Part> {
    let topology = &view.hub.topology;
    let starts: Vec<Start> = topology.starts().collect();
    let numbers: HashMap<Start, usize> = starts.iter().copied().zip(0..).collect();
    let mut together: Vec<usize> = (0..starts.len()).collect();
    let mut tie = |some: &mut dyn Iterator<Item = Start>| {
        let mut first = None;
        for start in some {
            let Some(number) = numbers.get(&start) else {
                continue;
            };
            let root = root(&mut together, *number);
            match first {
                None => first = Some(root),
                Some(first) => {
                    let first = self::root(&mut together, first);
                    if let Some(slot) = together.get_mut(root) {
                        *slot = first;
                    }
                }
            }
        }
    };
    for (route, _) in topology.routes.iter() {
        tie(&mut topology.starts_of(Node::Route(route)).into_iter());
    }
    let mut of_policies: Vec<(PolicyId, Start)> = Vec::new();
    for (policy, _) in view.hub.policies.iter() {
        let starts = starts_of(view, policy);
        of_policies.extend(starts.first().map(|first| (policy, *first)));
        tie(&mut starts.into_iter());
    }
    let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
    for (number, start) in starts.iter().enumerate() {
        let root = root(&mut together, number);
        parts.entry(root).or_default().starts.insert(*start);
    }
    for (policy, start) in of_policies {
        if let Some(number) = numbers.get(&start) {
            let root = root(&mut together, *number);
            parts.entry(root).or_default().policies.push(policy);
        }
    }
    let parts = parts.into_values();
    parts.filter(|part| !part.policies.is_empty()).collect()
}

/// The number that stands for the whole part of one; the lookup shortens the way for later ones.
fn root(together: &mut [usize], number: usize) -> usize {
    let mut at = number;
    while let Some(next) = together.get(at).copied().filter(|next| *next != at) {
        let after = together.get(next).copied().unwrap_or(next);
        if let Some(slot) = together.get_mut(at) {
            *slot = after;
        }
        at = after;
    }
    at
}

/// The objects of the hub that affect a part.
fn narrowed(analysis: &Analysis<'_>, view: &PolicyView<'_>, part: &Part) -> Hub {
    let topology = &view.hub.topology;
    let is_here = |starts: Vec<Start>| starts.iter().any(|start| part.starts.contains(start));
    let mut wanted: BTreeSet<Identity> = BTreeSet::new();
    let mut namespaces: BTreeSet<&str> = BTreeSet::new();
    let mut add = |object: &Object| {
        wanted.insert(object.identity());
    };
    for start in &part.starts {
        if let Some(object) = topology.object(start.node()) {
            add(object);
        }
    }
    for (route, node) in topology.routes.iter() {
        if is_here(topology.starts_of(Node::Route(route))) {
            add(node.object);
            namespaces.insert(topology.namespaces.get(node.namespace).name);
            let rules = node.rules.iter().map(|rule| topology.rules.get(*rule));
            for backend in rules.flat_map(|rule| &rule.backends) {
                let namespace = topology.namespace_of(*backend);
                namespaces.extend(namespace.map(|namespace| topology.namespaces.get(namespace).name));
            }
        }
    }
    for (set, node) in topology.listener_sets.iter() {
        if is_here(topology.starts_of(Node::ListenerSet(set))) {
            add(node.object);
            namespaces.insert(node.object.namespace_or_empty());
        }
    }
    for policy in &part.policies {
        let object = view.hub.policy(*policy).object;
        add(object);
        namespaces.insert(object.namespace_or_empty());
    }
    for start in &part.starts {
        let namespace = match start {
            Start::Gateway(gateway) => Some(topology.gateways.get(*gateway).namespace),
            Start::Service(service) => topology.namespace_of(*service),
        };
        namespaces.extend(namespace.map(|namespace| topology.namespaces.get(namespace).name));
    }
    let is_of_kind = |object: &Object| {
        let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
        topology.is_route(group, kind)
            || is_listener_set(group, kind)
            || (group == GROUP && kind == "Gateway")
            || view.hub.find(&object.identity()).is_some()
    };
    let is_about_clusters =
        |object: &Object| object.api_version.group == ocm_placement::GROUP || crd::is_one(object);
    let hub = analysis.placed.hub;
    // Without its parameters no class is ours.
    let classes = hub.objects.of_kind(GROUP, "GatewayClass").iter();
    let parameters: BTreeSet<(&str, &str, &str)> = classes
        .map(|class| {
            let named = class.root().get("spec").get("parametersRef");
            let text = |field: &'static str| named.text(field).unwrap_or_default();
            (text("kind"), text("namespace"), text("name"))
        })
        .collect();
    let is_parameters = |object: &Object| {
        parameters.contains(&(
            object.kind.as_str(),
            object.namespace_or_empty(),
            object.name.as_str(),
        ))
    };
    let objects = hub.objects.iter().filter(|object| {
        if is_labelled(object) || is_parameters(object) {
            true
        } else if is_of_kind(object) {
            wanted.contains(&object.identity())
        } else {
            let namespace = object.namespace.as_deref();
            !is_about_clusters(object)
                && (namespace.is_none_or(|namespace| namespaces.contains(namespace))
                    || object.kind == "ReferenceGrant")
        }
    });
    let copied = objects.map(|object| {
        if is_labelled(object) {
            label(object)
        } else {
            object.clone()
        }
    });
    let objects = Objects::new(copied.collect());
    // Schemas are those of the whole.
    let mut of_part = Hub::of(objects);
    of_part.spokes = inhabited(analysis, view, part);
    of_part.kinds = hub.kinds.clone();
    of_part
}

/// Whether it defines a kind of policies.
fn is_labelled(object: &Object) -> bool {
    crd::is_one(object) && object.label(POLICY_LABEL).is_some()
}

/// A definition without its schemas, which are large.
fn label(definition: &Object) -> Object {
    let part = |pointer: &str| definition.value.pointer(pointer).cloned().unwrap_or_default();
    Object {
        value: json!({
            "apiVersion": part("/apiVersion"),
            "kind": part("/kind"),
            "metadata": {"name": definition.name, "labels": part("/metadata/labels")},
            "spec": {"group": part("/spec/group"), "names": part("/spec/names")},
        }),
        ..definition.clone_without_value()
    }
}

/// The objects that live on clusters and affect a part.
fn inhabited(analysis: &Analysis<'_>, view: &PolicyView<'_>, part: &Part) -> BTreeMap<String, Objects> {
    let mut inhabited = BTreeMap::new();
    for spoke in &view.spokes {
        let attachments = &spoke.attachments;
        let starts = attachments.topology.starts();
        let mut here = starts.filter_map(|there| start_on_hub(view, &attachments.topology, there));
        if here.any(|start| part.starts.contains(&start)) {
            // One of several equal ones stands for all.
            for cluster in spoke.clusters.iter().take(1) {
                if let Some(objects) = analysis.placed.hub.spokes.get(cluster) {
                    let objects = Objects::new(objects.iter().cloned().collect());
                    inhabited.insert(cluster.clone(), objects);
                }
            }
        }
    }
    inhabited
}
