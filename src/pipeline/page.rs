//! A page of a fleet: everything that it shows, from one analysis, and what would change if each policy of the hub were
//! deleted.
//!
//! A policy makes a difference only to the Gateways that it affects, and to those that share a route or a policy with
//! them. So the hub is split into independent parts, and each part is evaluated again without each of its policies: a
//! fleet of a hundred Gateways costs a hundred small hubs, and not a hundred fleets.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::{Identity, Work};
use ocm_placement::{Detail, evaluate};

use super::analysis::Analysis;
use crate::api::crd;
use crate::api::gateway::{GROUP, is_listener_set};
use crate::diagnostic::Findings;
use crate::hub::{Hub, Objects};
use crate::object::Object;
use crate::object::well_known::POLICY_LABEL;
use crate::outcome::{ChangeIfDeleted, share};
use crate::parallel;
use crate::placing::inventory;
use crate::policy::PolicyId;
use crate::report::diff::EffectiveSettings;
use crate::report::{FleetPage, Page, PageInput, PlacementOnPage, PolicyView};
use crate::topology::{Node, Start, Topology};

/// At most so many pairs of a Placement and a cluster are explained.
const MOST_STEPS: usize = 100_000;

impl Analysis<'_> {
    /// The data of a page. Equal input gives equal data.
    pub fn page<'p>(&'p self, input: PageInput<'p>) -> FleetPage<'p> {
        let loaded = self.placed.loaded;
        let hub = &loaded.hub;
        let read = inventory(hub, &mut Findings::new());
        let of_kind = |kind| hub.objects.of_kind(ocm_placement::GROUP, kind).len();
        // With full detail, each Placement explains each cluster.
        let steps = of_kind("Placement").saturating_mul(of_kind("ManagedCluster"));
        let few = Some(Detail::Full).filter(|_| steps <= MOST_STEPS);
        let detail = few.unwrap_or(Detail::Decisions);
        let evaluation = evaluate(&loaded.evaluation_input(&read), detail);
        let source = loaded.config.placement.unwrap_or_default().source;
        let placed = self.placed.by_key.values().flat_map(|clusters| clusters.iter());
        let mut clusters: BTreeSet<&str> = loaded.known_clusters();
        clusters.extend(placed.map(String::as_str));
        clusters.retain(|cluster| loaded.admits(cluster));
        let clusters: Vec<&str> = clusters.into_iter().collect();
        let explains_placements = detail == Detail::Full;
        let placements = PlacementOnPage::all(
            &evaluation,
            (hub, source),
            input.locate,
            &clusters,
            explains_placements,
        );
        let page = Page {
            hub,
            sources: &loaded.sources,
            clusters,
            placements,
            explains_placements,
            statuses: self.gateway_statuses(input.view),
            if_deleted: if_deleted(self, input.view),
            input,
        };
        page.data()
    }
}

/// What each policy of a part would change, if it can be told.
type Found = Vec<Option<(String, Vec<ChangeIfDeleted>)>>;

/// The work for an attached rule, a path with its settings, an object, or a target, each as often as it is looked at again,
/// which is once for each policy of its part.
const STEPS_PER_THING: u64 = 30;

/// At most so many paths are listed of what the deletion of one policy changes.
const MOST_PATHS: usize = 400;

/// A part of the hub: the policies that are asked about, and everything else that is in it.
#[derive(Debug, Default)]
struct Part {
    policies: Vec<PolicyId>,
    /// The places where some of it is, by position.
    places: Vec<usize>,
    /// What brings objects into it.
    keys: BTreeSet<Key>,
    /// What it costs to evaluate it once.
    work: usize,
}

/// What brings an object into a part. Each object has one, so that no part looks at all objects.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Always,
    Namespace(String),
    Named(Identity),
}

/// The difference that each policy of the hub makes, by its locator; a policy of a part that is too large is missing.
pub(super) fn if_deleted(
    analysis: &Analysis<'_>,
    view: &PolicyView<'_>,
) -> BTreeMap<String, Vec<ChangeIfDeleted>> {
    let hub = view.hub;
    let places: Vec<&[String]> = view.seen().map(|seen| seen.clusters).collect();
    let hubs: Vec<(&Analysis<'_>, Keyed<'_>)> = analysis.hubs().map(|hub| (hub, keyed(hub, view))).collect();
    let written = hubs.first().map(|(_, keyed)| keyed);
    let mut parts = written.map(|keyed| parts(view, keyed)).unwrap_or_default();
    // The smallest first: a hub has one part that is all of it, or many that are small.
    let cost = |part: &Part| {
        let policies = part.policies.len().saturating_add(1);
        part.work.saturating_mul(policies).saturating_mul(hubs.len())
    };
    parts.sort_by_key(cost);
    let work = Work::default();
    parts.retain(|part| work.pay(cost(part), STEPS_PER_THING));
    // A thousand Gateways on the same clusters share the lists of these.
    let mut known: HashMap<&[usize], Alike<'_>> = HashMap::new();
    for part in &parts {
        known.entry(&part.places).or_insert_with(|| alike(&places, part));
    }
    let none = Alike::new();
    let found: Vec<Found> = parallel::map(&parts, |part| {
        let alike = known.get(part.places.as_slice()).unwrap_or(&none);
        let is_asked = |cluster: &str| alike.contains_key(cluster);
        let mut found = Vec::new();
        for (number, (analysis, keyed)) in hubs.iter().enumerate() {
            // Each hub is for clusters of its own, and what goes nowhere is of the one that is written.
            if number > 0 && !alike.keys().any(|cluster| analysis.placed.is_for(cluster)) {
                continue;
            }
            let narrow = narrowed(analysis, (&places, part), keyed);
            let placed = Arc::new(analysis.placed.part(&narrow, is_asked));
            let with = analysis.again(Arc::clone(&placed), None);
            let before = settings(&with);
            found.extend(parallel::map(&part.policies, |policy| {
                let without = Some(hub.policy(*policy).object.identity());
                let after = settings(&analysis.again(Arc::clone(&placed), without));
                let mut changes = EffectiveSettings::changes(before.as_ref()?, &after?);
                changes.retain(|change| number == 0 || !change.clusters.is_empty());
                let all = |clusters: &[String]| all_of(clusters, alike);
                let changes = ChangeIfDeleted::grouped(&changes, MOST_PATHS, all);
                Some((hub.locator(*policy).to_string(), changes))
            }));
        }
        found
    });
    let mut changes: BTreeMap<String, Vec<ChangeIfDeleted>> = BTreeMap::new();
    let mut lists: HashSet<Arc<[String]>> = HashSet::new();
    for (policy, mut of_policy) in found.into_iter().flatten().flatten() {
        for change in &mut of_policy {
            change.clusters = share(&mut lists, Arc::clone(&change.clusters));
        }
        changes.entry(policy).or_default().extend(of_policy);
    }
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
type Alike<'v> = BTreeMap<&'v str, Arc<[&'v str]>>;

fn alike<'v>(places: &[&'v [String]], part: &Part) -> Alike<'v> {
    let mut of_clusters: BTreeMap<&'v str, Vec<usize>> = BTreeMap::new();
    for number in &part.places {
        for cluster in places.get(*number).copied().unwrap_or_default() {
            of_clusters.entry(cluster).or_default().push(*number);
        }
    }
    let mut groups: BTreeMap<&[usize], Vec<&'v str>> = BTreeMap::new();
    for (cluster, places) in &of_clusters {
        groups.entry(places).or_default().push(cluster);
    }
    let groups = groups.into_values();
    let groups = groups.filter_map(|clusters| Some((*clusters.first()?, clusters.into())));
    groups.collect()
}

/// All clusters that some of a part stand for, sorted.
fn all_of(clusters: &[String], alike: &Alike<'_>) -> Arc<[String]> {
    let groups = clusters.iter().filter_map(|cluster| alike.get(cluster.as_str()));
    let mut names: Vec<String> = groups
        .flat_map(|group| group.iter())
        .map(|name| (*name).to_owned())
        .collect();
    names.sort_unstable();
    names.into()
}

fn settings(analysis: &Analysis<'_>) -> Option<EffectiveSettings> {
    let (_, spokes) = analysis.received(None);
    EffectiveSettings::with_hub(&analysis.evaluate(&spokes)).ok()
}

fn starts_of(view: &PolicyView<'_>, policy: PolicyId) -> Vec<Start> {
    let nodes = view.hub.policy(policy).nodes().into_iter();
    let starts = nodes.flat_map(|node| view.hub.starts_of(policy, node));
    starts.collect::<BTreeSet<Start>>().into_iter().collect()
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

/// Something of the hub: where the traffic through it begins, what it is, and whether it is a policy.
type Thing = (Vec<Start>, Identity, Option<PolicyId>);

fn things(view: &PolicyView<'_>) -> Vec<Thing> {
    let topology = &view.hub.topology;
    let sets = topology.listener_sets.ids().map(Node::ListenerSet);
    let routes = topology.routes.ids().map(Node::Route);
    let nodes = sets.chain(routes);
    let nodes = nodes.map(|node| (topology.starts_of(node), topology.identity(node), None));
    let mut things: Vec<Thing> = nodes.collect();
    let starts = topology.starts();
    things.extend(starts.map(|start| (vec![start], topology.identity(start.node()), None)));
    for (id, route) in topology.routes.iter() {
        let first = topology.starts_of(Node::Route(id)).into_iter().take(1);
        let first: Vec<Start> = first.collect();
        let rules = route.rules.iter().map(|rule| topology.rules.get(*rule));
        let backends = rules.flat_map(|rule| rule.backends.iter().copied().map(Node::Backend));
        things.extend(backends.map(|backend| (first.clone(), topology.identity(backend), None)));
    }
    let policies = view.hub.policies.iter();
    things.extend(policies.map(|(id, policy)| (starts_of(view, id), policy.object.identity(), Some(id))));
    things
}

/// The independent parts: groups of starts that share a route or a policy. One pass over the hub and its places.
fn parts(view: &PolicyView<'_>, keyed: &Keyed<'_>) -> Vec<Part> {
    let things = things(view);
    let starts = view.hub.topology.starts();
    let numbers: HashMap<Start, usize> = starts.zip(0..).collect();
    let mut together: Vec<usize> = (0..numbers.len()).collect();
    for (starts, ..) in &things {
        let mut numbers = starts.iter().filter_map(|start| numbers.get(start));
        let first = numbers.next().map(|first| root(&together, *first));
        for number in numbers {
            let root = root(&together, *number);
            if let Some((slot, first)) = together.get_mut(root).zip(first) {
                *slot = first;
            }
        }
    }
    let roots = numbers
        .into_iter()
        .map(|(start, number)| (start, root(&together, number)));
    let roots: HashMap<Start, usize> = roots.collect();
    let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
    for (starts, identity, policy) in things {
        let Some(root) = starts.iter().find_map(|start| roots.get(start)) else {
            continue;
        };
        let part = parts.entry(*root).or_default();
        part.policies.extend(policy);
        let targets = policy.map(|policy| view.hub.policy(policy).targets.len());
        part.work = part.work.saturating_add(targets.unwrap_or_default());
        part.keys.extend(
            identity
                .namespace
                .iter()
                .map(|name| Key::Namespace(name.to_string())),
        );
        part.keys.insert(Key::Named(identity));
    }
    for (place, seen) in view.seen().enumerate() {
        let topology = &seen.attachments.topology;
        let of_hub = |there| Some((there, *roots.get(&start_on_hub(view, topology, there)?)?));
        let of_hub: HashMap<Start, usize> = topology.starts().filter_map(of_hub).collect();
        for root in of_hub.values().collect::<BTreeSet<_>>() {
            if let Some(part) = parts.get_mut(root) {
                part.places.push(place);
            }
        }
        let attached = of_hub.keys().map(|start| {
            let attached = topology.attached(*start).into_iter();
            let rules = attached.map(|(_, route)| topology.routes.get(route).rules.len().saturating_add(1));
            (*start, rules.sum())
        });
        let paths = seen.effective.iter().map(|(_, path)| {
            let of = path.effective.as_ref();
            let settings = [of.content.len(), of.chain.len(), of.losses.len(), 1];
            (path.path.start, settings.iter().sum())
        });
        for (start, work) in attached.chain(paths) {
            let root = of_hub.get(&start);
            if let Some(part) = root.and_then(|root| parts.get_mut(root)) {
                part.work = part.work.saturating_add(work);
            }
        }
    }
    let mut parts: Vec<Part> = parts.into_values().collect();
    parts.retain(|part| !part.policies.is_empty());
    for part in &mut parts {
        part.keys.insert(Key::Always);
        let objects = part.keys.iter().filter_map(|key| keyed.get(key));
        part.work = part.work.saturating_add(objects.map(Vec::len).sum());
    }
    parts
}

/// The number that stands for the whole part of one.
fn root(together: &[usize], mut number: usize) -> usize {
    while let Some(next) = together.get(number).filter(|next| **next != number) {
        number = *next;
    }
    number
}

/// The objects of the hub by what brings them into a part.
type Keyed<'v> = BTreeMap<Key, Vec<&'v Object>>;

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
    for object in &hub.objects {
        let key = match object.namespace.as_deref() {
            _ if is_labelled(object) || is_parameters(object) => Key::Always,
            _ if is_of_kind(object) => Key::Named(object.identity()),
            _ if is_about_clusters(object) => continue,
            Some(namespace) if object.kind != "ReferenceGrant" => Key::Namespace(namespace.to_owned()),
            _ => Key::Always,
        };
        keyed.entry(key).or_default().push(object);
    }
    keyed
}

/// The objects of the hub that affect a part.
fn narrowed(analysis: &Analysis<'_>, (places, part): (&[&[String]], &Part), keyed: &Keyed<'_>) -> Hub {
    let hub = analysis.placed.hub;
    let objects = part.keys.iter().filter_map(|key| keyed.get(key)).flatten();
    // Schemas are those of the whole.
    let mut of_part = Hub::of(Objects::new(objects.copied().cloned().collect()));
    // One of several equal clusters stands for all.
    let clusters = part.places.iter().filter_map(|place| places.get(*place)?.first());
    let inhabited = clusters.filter_map(|cluster| Some((cluster, hub.spokes.get(cluster)?)));
    let inhabited = inhabited.map(|(cluster, all)| (cluster.clone(), all.clone()));
    of_part.spokes = Arc::new(inhabited.collect());
    of_part.kinds = hub.kinds.clone();
    of_part
}

/// Whether it defines a kind of policies.
fn is_labelled(object: &Object) -> bool {
    crd::is_one(object) && object.label(POLICY_LABEL).is_some()
}
