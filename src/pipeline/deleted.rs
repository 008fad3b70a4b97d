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
use crate::policy::{Effective, PolicyId};
use crate::report::diff::{EffectiveChange, EffectiveSettings, SettingChange};
use crate::report::{PolicyView, Without};
use crate::topology::{Node, Start, Topology};
use apimachinery::Identity;

/// What each policy of a part would change, if it can be told.
type Found = Vec<Option<(String, Vec<Without>)>>;

/// The budget of all parts: the paths with their settings, the objects, and the targets, each as often as it is looked at
/// again, which is once for each policy of its part.
const MOST_WORK: usize = 1_000_000;

/// At most so many paths are listed of what the deletion of one policy changes.
const MOST_PATHS: usize = 400;

/// A part of the hub: where traffic begins in it, the policies that are asked about, and everything else that is in it.
#[derive(Debug, Default)]
struct Part<'v> {
    starts: BTreeSet<Start>,
    policies: Vec<PolicyId>,
    /// The spokes that have some of it, by position.
    places: BTreeSet<usize>,
    /// What brings objects into it.
    keys: BTreeSet<Key<'v>>,
    /// What it costs to evaluate it once.
    work: usize,
}

/// What brings an object into a part. Each object has one, so that no part looks at all objects.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'v> {
    Always,
    Namespace(&'v str),
    Named(Identity),
}

/// The difference that each policy of the hub makes, by its locator; a policy of a part that is too large is missing.
pub(super) fn if_deleted(analysis: &Analysis<'_>, view: &PolicyView<'_>) -> HashMap<String, Vec<Without>> {
    let hub = view.hub;
    let keyed = keyed(analysis, view);
    let mut parts = parts(view, &keyed);
    // The smallest first: a hub has one part that is all of it, or many that are small.
    let cost = |part: &Part<'_>| part.work.saturating_mul(part.policies.len().saturating_add(1));
    parts.sort_by_cached_key(|part| (cost(part), part.starts.first().copied()));
    let mut left = MOST_WORK;
    parts.retain(|part| {
        let rest = left.checked_sub(cost(part));
        left = rest.unwrap_or_default();
        rest.is_some()
    });
    let found: Vec<Found> = parallel::map(&parts, |part| {
        let narrow = narrowed(analysis, view, part, &keyed);
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

fn alike<'v>(view: &'v PolicyView<'_>, part: &Part<'_>) -> Alike<'v> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for number in &part.places {
        for cluster in view
            .spokes
            .get(*number)
            .into_iter()
            .flat_map(|spoke| spoke.clusters)
        {
            places.entry(cluster).or_default().push(*number);
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
fn parts<'v>(view: &'v PolicyView<'_>, keyed: &Keyed<'_>) -> Vec<Part<'v>> {
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
    let mut parts: BTreeMap<usize, Part<'v>> = BTreeMap::new();
    let roots = numbers.into_iter();
    let roots: HashMap<Start, usize> = roots
        .map(|(start, number)| (start, root(&mut together, number)))
        .collect();
    let part_of = |start: Option<&Start>| roots.get(start?).copied();
    for start in &starts {
        if let Some(part) = part_of(Some(start)).map(|root| parts.entry(root).or_default()) {
            part.starts.insert(*start);
            let namespace = match start {
                Start::Gateway(gateway) => Some(topology.gateways.get(*gateway).namespace),
                Start::Service(service) => topology.namespace_of(*service),
            };
            part.add(
                topology.object(start.node()),
                namespace.map(|namespace| topology.namespaces.get(namespace).name),
            );
        }
    }
    for (policy, start) in of_policies {
        if let Some(part) = part_of(Some(&start)).and_then(|root| parts.get_mut(&root)) {
            let known = view.hub.policy(policy);
            part.policies.push(policy);
            part.work = part.work.saturating_add(known.targets.len());
            part.add(Some(known.object), Some(known.object.namespace_or_empty()));
        }
    }
    for (route, node) in topology.routes.iter() {
        let start = topology.starts_of(Node::Route(route)).into_iter().next();
        if let Some(part) = part_of(start.as_ref()).and_then(|root| parts.get_mut(&root)) {
            part.add(
                Some(node.object),
                Some(topology.namespaces.get(node.namespace).name),
            );
            let rules = node.rules.iter().map(|rule| topology.rules.get(*rule));
            for backend in rules.flat_map(|rule| &rule.backends) {
                let namespace = topology.namespace_of(*backend);
                part.add(
                    None,
                    namespace.map(|namespace| topology.namespaces.get(namespace).name),
                );
            }
        }
    }
    for (set, node) in topology.listener_sets.iter() {
        let start = topology.starts_of(Node::ListenerSet(set)).into_iter().next();
        if let Some(part) = part_of(start.as_ref()).and_then(|root| parts.get_mut(&root)) {
            part.add(Some(node.object), Some(node.object.namespace_or_empty()));
        }
    }
    for (number, spoke) in view.spokes.iter().enumerate() {
        let topology = &spoke.attachments.topology;
        for start in topology
            .starts()
            .filter_map(|there| start_on_hub(view, topology, there))
        {
            if let Some(part) = part_of(Some(&start)).and_then(|root| parts.get_mut(&root)) {
                part.places.insert(number);
            }
        }
    }
    for seen in view.seen() {
        let topology = &seen.attachments.topology;
        let mut known: HashMap<Start, Option<Start>> = HashMap::new();
        for (_, path) in seen.effective.iter() {
            let there = path.path.start;
            let of_hub = known
                .entry(there)
                .or_insert_with(|| start_on_hub(view, topology, there));
            if let Some(part) = part_of(of_hub.as_ref()).and_then(|root| parts.get_mut(&root)) {
                let Effective {
                    content,
                    chain,
                    losses,
                    ..
                } = path.effective.as_ref();
                let settings = [content.len(), chain.len(), losses.len()].iter().sum::<usize>();
                part.work = part.work.saturating_add(settings).saturating_add(1);
            }
        }
    }
    let mut parts: Vec<Part<'v>> = parts
        .into_values()
        .filter(|part| !part.policies.is_empty())
        .collect();
    for part in &mut parts {
        part.keys.insert(Key::Always);
        let objects = part
            .keys
            .iter()
            .filter_map(|key| keyed.get(key))
            .map(Vec::len)
            .sum();
        part.work = part.work.saturating_add(objects);
    }
    parts
}

impl<'v> Part<'v> {
    fn add(&mut self, object: Option<&Object>, namespace: Option<&'v str>) {
        self.keys
            .extend(object.map(|object| Key::Named(object.identity())));
        self.keys.extend(namespace.map(Key::Namespace));
    }
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

/// The objects of the hub by what brings them into a part.
type Keyed<'v> = BTreeMap<Key<'v>, Vec<&'v Object>>;

fn keyed<'v>(analysis: &'v Analysis<'_>, view: &PolicyView<'_>) -> Keyed<'v> {
    let topology = &view.hub.topology;
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
    let mut keyed: Keyed<'_> = BTreeMap::new();
    for object in hub.objects.iter() {
        let key = match object.namespace.as_deref() {
            _ if is_labelled(object) || is_parameters(object) => Key::Always,
            _ if is_of_kind(object) => Key::Named(object.identity()),
            _ if is_about_clusters(object) => continue,
            Some(namespace) if object.kind != "ReferenceGrant" => Key::Namespace(namespace),
            _ => Key::Always,
        };
        keyed.entry(key).or_default().push(object);
    }
    keyed
}

/// The objects of the hub that affect a part.
fn narrowed(analysis: &Analysis<'_>, view: &PolicyView<'_>, part: &Part<'_>, keyed: &Keyed<'_>) -> Hub {
    let hub = analysis.placed.hub;
    let objects = part.keys.iter().filter_map(|key| keyed.get(key)).flatten();
    let copied = objects.map(|object| {
        if is_labelled(object) {
            label(object)
        } else {
            (*object).clone()
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
fn inhabited(analysis: &Analysis<'_>, view: &PolicyView<'_>, part: &Part<'_>) -> BTreeMap<String, Objects> {
    let mut inhabited = BTreeMap::new();
    for spoke in part.places.iter().filter_map(|number| view.spokes.get(*number)) {
        // One of several equal ones stands for all.
        for cluster in spoke.clusters.iter().take(1) {
            if let Some(objects) = analysis.placed.hub.spokes.get(cluster) {
                let objects = Objects::new(objects.iter().cloned().collect());
                inhabited.insert(cluster.clone(), objects);
            }
        }
    }
    inhabited
}
