//! The spokes: what each cluster receives, together with what lives there. Clusters that are alike share one spoke, and
//! clusters with local objects share the Gateways that these do not affect.
//!
//! If no class syncs the kind of a route or a ListenerSet, the object is assumed to be on every cluster that its
//! Gateway goes to, delivered by another tool: the hub defines what a Gateway serves (docs/policies.md).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::{Field, Identity, core_group};
use indexmap::IndexSet;
use kube_json::{Map, Value, json};

use super::allowed_routes::NamespaceLabels;
use super::copies::{HubRoute, PlacedGateway, assumed_route, hub_routes};
use super::synced_object::{Copy, SyncedObject, Syncing, Variant};
use crate::api::downstream::{NAMESPACE_PREFIX, is_synced_copy};
use crate::api::gateway::{GROUP, X_GROUP};
use crate::api::params::Role;
use crate::api::policy::target_kinds;
use crate::hub::{Grants, Objects, OurGatewayId, Table};
use crate::object::Object;
use crate::parallel;
use crate::policy::{Copied, PolicyId};
use crate::topology::{Original, Sources};

/// The objects on clusters that are alike.
#[derive(Debug)]
pub struct Spoke<'a> {
    /// The clusters, sorted.
    pub clusters: Vec<String>,
    received: Arc<Received<'a>>,
    local: Option<&'a Objects>,
}

/// The objects that clusters receive: the same for many of them, regardless of what lives there.
#[derive(Debug)]
struct Received<'a> {
    objects: Objects,
    /// What they were made from, in their order.
    originals: Vec<Original<'a>>,
    copied: HashMap<Identity, Copied<'a>>,
}

impl<'a> Spoke<'a> {
    /// The parts of a cluster of this class.
    pub fn sources<'s>(&'s self, hub: &'s Objects) -> Sources<'s> {
        Sources {
            objects: &self.received.objects,
            local: self.local,
            hub: Some(hub),
            originals: Some(&self.received.originals),
            spokes: None,
        }
    }

    /// The ReferenceGrants of a cluster of this class; `hub` are those of the hub.
    pub fn grants<'s>(&'s self, hub: &'s Grants<'s>) -> Grants<'s> {
        let places = std::iter::once(&self.received.objects).chain(self.local);
        hub.on_cluster(places.flat_map(|objects| objects.of_kind(GROUP, "ReferenceGrant")))
    }

    /// The originals of each synced policy, by its identity there.
    pub fn copied(&self) -> &HashMap<Identity, Copied<'a>> {
        &self.received.copied
    }
}

/// The data that spokes are made from.
#[derive(Debug, Clone, Copy)]
pub struct Spokes<'s, 'a> {
    /// What decided about all that is synced.
    pub syncing: Syncing<'a>,
    /// What lives on each cluster.
    pub local: &'a BTreeMap<String, Objects>,
    /// Our Gateways with their clusters.
    pub gateways: &'s Table<OurGatewayId, PlacedGateway<'a>>,
    /// The synced objects.
    pub synced: &'s [SyncedObject<'a>],
    /// The variants of each with their clusters, in the same order.
    pub variants: &'s [Vec<Variant>],
    /// The labels that are shipped with Namespaces.
    pub labels: &'s NamespaceLabels,
}

/// A Gateway or a variant of an object that goes somewhere.
#[derive(Clone, Copy)]
struct Item<'s, 'a> {
    /// The Gateway, or one that the object goes with.
    gateway: OurGatewayId,
    clusters: &'s [String],
    /// The variant with its number; `None`: it is the Gateway.
    variant: Option<(usize, &'s SyncedObject<'a>, &'s Variant)>,
}

/// What goes to one list of clusters, of Gateways that are evaluated together wherever nothing affects them.
struct Share<'s, 'a> {
    /// The same for all that is evaluated together.
    group: usize,
    /// The number of the list of clusters.
    list: usize,
    items: Vec<Item<'s, 'a>>,
}

/// What makes clusters alike: the lists of their Gateways, the numbers of their shares, and that of what lives there.
type Class = (Vec<usize>, Vec<usize>, Option<usize>);

/// What lives on a cluster.
struct Inhabited<'a> {
    objects: &'a Objects,
    /// The same for clusters on which equal objects live.
    number: usize,
    /// What it affects, by the first of the Gateways that go together; `None`: it may be everything.
    affected: Option<BTreeSet<OurGatewayId>>,
}

impl Share<'_, '_> {
    fn has_gateways(&self) -> bool {
        self.items.iter().any(|item| item.variant.is_none())
    }
}

impl<'s, 'a> Spokes<'s, 'a> {
    /// The spokes of the clusters that are asked for and receive or have anything, by their first cluster: `is_one` says that
    /// only one is asked for, which then has one spoke. Otherwise a cluster may be in several: no path of one is in another.
    ///
    /// Where what lives there affects some Gateways, or what not all clusters of a Gateway get, those that nothing ties to
    /// each other are evaluated apart, each once for all clusters that get the same of it: a thousand clusters with a
    /// policy of their own cost what those policies affect, and no more.
    pub fn build(self, is_one: bool, is_asked: &dyn Fn(&str) -> bool) -> Vec<Spoke<'a>> {
        let routes = self.assumed_routes();
        let first = self.first_of_tied(&routes);
        let inhabited = self.inhabited(is_one, is_asked, &first);
        let shares = self.shares(&first, &inhabited);
        let mut received: BTreeMap<&str, Vec<(usize, &Share<'_, 'a>)>> = BTreeMap::new();
        received.extend(inhabited.keys().map(|cluster| (*cluster, Vec::new())));
        for (number, share) in shares.iter().enumerate() {
            let clusters = share.items.first().into_iter().flat_map(|item| item.clusters);
            for cluster in clusters.filter(|cluster| is_asked(cluster)) {
                received.entry(cluster).or_default().push((number, share));
            }
        }
        let mut alike: BTreeMap<Class, Vec<&str>> = BTreeMap::new();
        for (cluster, shares) in received {
            let of_gateways = shares.iter().filter(|(_, share)| share.has_gateways());
            let lists: BTreeSet<usize> = of_gateways.map(|(_, share)| share.list).collect();
            let local = inhabited.get(cluster);
            let is_affected = |share: &Share<'_, 'a>| {
                let gateway = share.items.first().map(|item| *first.get(item.gateway));
                let is_in =
                    |affected: &BTreeSet<_>| gateway.is_some_and(|gateway| affected.contains(&gateway));
                local.is_some_and(|local| local.affected.as_ref().is_none_or(is_in))
            };
            let (own, others): (Vec<_>, Vec<_>) =
                shares.into_iter().partition(|(_, share)| is_affected(share));
            // Nothing local is there: all of the cluster is one spoke, whatever its Gateways have to do with each
            // other.
            let is_usual = own.is_empty() && others.iter().all(|(_, share)| share.has_gateways());
            let own = local.map(|local| (own.as_slice(), Some(local.number)));
            let others = others.chunk_by(|(_, one), (_, other)| is_usual || one.group == other.group);
            for (shares, local) in own.into_iter().chain(others.map(|others| (others, None))) {
                let numbers = shares.iter().map(|(number, _)| *number).collect();
                let class = (lists.iter().copied().collect(), numbers, local);
                alike.entry(class).or_default().push(cluster);
            }
        }
        let mut classes: BTreeMap<(Vec<&str>, Option<usize>), Vec<usize>> = BTreeMap::new();
        for ((_, shares, local), clusters) in alike {
            classes.entry((clusters, local)).or_default().extend(shares);
        }
        let mut shared: HashMap<Vec<usize>, Arc<Received<'a>>> = HashMap::new();
        let spokes = classes.into_iter().map(|((clusters, local), mut numbers)| {
            numbers.sort_unstable();
            let items = numbers.iter().filter_map(|number| shares.get(*number));
            let items: Vec<Item<'_, 'a>> = items.flat_map(|share| share.items.iter().copied()).collect();
            let local = clusters.first().filter(|_| local.is_some());
            let local = local.and_then(|cluster| Some(inhabited.get(cluster)?.objects));
            let lives_there = |route: &HubRoute<'a>| {
                local.is_some_and(|local| local.get(&route.object.identity()).is_some())
            };
            let received = if routes.iter().any(lives_there) {
                Arc::new(self.received(&items, &routes, &|route| !lives_there(route)))
            } else {
                // No local object affects this Gateway.
                let received = || Arc::new(self.received(&items, &routes, &|_| true));
                Arc::clone(shared.entry(numbers).or_insert_with(received))
            };
            Spoke {
                clusters: clusters.into_iter().map(str::to_owned).collect(),
                received,
                local,
            }
        });
        let has_anything = |spoke: &Spoke<'_>| spoke.local.is_some() || !spoke.received.objects.is_empty();
        spokes.filter(has_anything).collect()
    }

    /// Of each Gateway the first of those that it goes together with, because an object is for several of them.
    fn first_of_tied(self, routes: &[HubRoute<'a>]) -> Table<OurGatewayId, OurGatewayId> {
        let mut before = self.gateways.map(|(id, _)| id);
        let first = |before: &Table<OurGatewayId, OurGatewayId>, mut gateway: OurGatewayId| {
            while *before.get(gateway) != gateway {
                gateway = *before.get(gateway);
            }
            gateway
        };
        let variants = self.variants.iter().flatten();
        let of_variants = variants.map(|variant| variant.gateways.clone());
        let of_routes = routes.iter().map(|route| {
            let parents = route.parents.iter();
            parents.map(|(_, gateway)| *gateway).collect()
        });
        for gateways in of_variants.chain(of_routes) {
            let known: BTreeSet<OurGatewayId> = gateways.iter().map(|id| first(&before, *id)).collect();
            for gateway in &known {
                // Always to the smaller number: so no circle comes about.
                *before.get_mut(*gateway) = *known.first().unwrap_or(gateway);
            }
        }
        before.map(|(id, _)| first(&before, id))
    }

    /// The clusters that are asked for on which anything lives.
    fn inhabited(
        self,
        is_one: bool,
        is_asked: &dyn Fn(&str) -> bool,
        first: &Table<OurGatewayId, OurGatewayId>,
    ) -> BTreeMap<&'a str, Inhabited<'a>> {
        let mut synced = self.synced.iter().zip(self.variants);
        // A Service may be behind any route, and a namespace may hold any Gateway.
        let by_other_targets = synced.any(|(synced, variants)| {
            let mut copies = variants.iter().flat_map(|variant| &variant.copies);
            synced.role == Role::Policy && copies.any(|copy| !self.names_targets(&copy.object))
        });
        let mut numbers: IndexSet<Vec<&Value>> = IndexSet::new();
        let local = self.local.iter().filter(|(cluster, _)| is_asked(cluster));
        let inhabited = local.map(|(cluster, objects)| {
            // The objects are sorted, so that equal ones are at the same positions.
            let values = objects.iter().map(|object| &object.value);
            let affected = || affected_gateways(objects, self.syncing, by_other_targets);
            // One cluster has nothing to share.
            let affected = (!is_one).then(affected).flatten();
            let local = Inhabited {
                objects,
                number: numbers.insert_full(values.collect()).0,
                affected: affected.map(|ids| ids.iter().map(|id| *first.get(*id)).collect()),
            };
            (cluster.as_str(), local)
        });
        inhabited.collect()
    }

    /// Whether a synced policy finds its targets by their names, and they are Gateways and routes.
    fn names_targets(self, policy: &Object) -> bool {
        let topology = &self.syncing.attachments.topology;
        let is_named = |(group, kind): &(String, String)| {
            (group.as_str(), kind.as_str()) == (GROUP, "Gateway") || topology.is_route(group, kind)
        };
        let targets = target_kinds(policy);
        let selectors = policy.root().get("spec").get("targetSelectors");
        !targets.is_empty() && !selectors.is_present() && targets.iter().all(is_named)
    }

    /// Everything that goes anywhere. Almost every Gateway and object goes where many others go: those that have the same
    /// lists of clusters, and are affected on the same clusters, are one group, so that clusters are counted by list.
    fn shares(
        self,
        first: &Table<OurGatewayId, OurGatewayId>,
        inhabited: &BTreeMap<&'a str, Inhabited<'a>>,
    ) -> Vec<Share<'s, 'a>> {
        let gateways = self.gateways.iter().map(|(gateway, placed)| Item {
            gateway,
            clusters: &placed.clusters,
            variant: None,
        });
        let variants = self.synced.iter().zip(self.variants);
        let variants = variants.flat_map(|(synced, variants)| variants.iter().map(move |one| (synced, one)));
        let variants = variants.enumerate().filter_map(|(number, (synced, variant))| {
            Some(Item {
                gateway: *variant.gateways.first()?,
                clusters: &variant.clusters,
                variant: Some((number, synced, variant)),
            })
        });
        // Most lists are shared.
        let mut lists: IndexSet<&[String]> = IndexSet::new();
        let mut known: HashMap<*const String, usize> = HashMap::new();
        let mut tied: BTreeMap<OurGatewayId, BTreeMap<usize, Vec<Item<'s, 'a>>>> = BTreeMap::new();
        for item in gateways.chain(variants).filter(|item| !item.clusters.is_empty()) {
            let list = known.entry(item.clusters.as_ptr());
            let list = *list.or_insert_with(|| lists.insert_full(item.clusters).0);
            let of_list = tied.entry(*first.get(item.gateway)).or_default();
            of_list.entry(list).or_default().push(item);
        }
        let mut affected_on: HashMap<OurGatewayId, Vec<&str>> = HashMap::new();
        for (cluster, local) in inhabited {
            for gateway in local.affected.iter().flatten() {
                affected_on.entry(*gateway).or_default().push(cluster);
            }
        }
        let mut groups: IndexSet<(Vec<usize>, Vec<&str>)> = IndexSet::new();
        let mut shares: BTreeMap<(usize, usize), Vec<Item<'s, 'a>>> = BTreeMap::new();
        for (gateway, by_list) in tied {
            let on = affected_on.remove(&gateway).unwrap_or_default();
            let lists = by_list.keys().copied().collect();
            let (group, _) = groups.insert_full((lists, on));
            for (list, items) in by_list {
                shares.entry((group, list)).or_default().extend(items);
            }
        }
        let share = |((group, list), items)| Share { group, list, items };
        shares.into_iter().map(share).collect()
    }

    /// What clusters receive that get these, without the routes that are not `assumed` to be there.
    fn received(
        self,
        items: &[Item<'_, 'a>],
        routes: &[HubRoute<'a>],
        is_assumed: &(dyn Fn(&HubRoute<'a>) -> bool + Sync),
    ) -> Received<'a> {
        let shipped = |object| Original {
            object,
            assumed: false,
        };
        let gateways = items.iter().filter(|item| item.variant.is_none());
        let gateways: BTreeSet<OurGatewayId> = gateways.map(|item| item.gateway).collect();
        let placed = gateways.iter().map(|id| self.gateways.get(*id));
        let placed = placed.filter_map(|placed| Some((placed.downstream()?, shipped(placed.gateway.object))));
        let mut objects: Vec<(Object, Original<'a>)> = placed.collect();
        let mut copied = HashMap::new();
        let mut variants: Vec<_> = items.iter().filter_map(|item| item.variant).collect();
        variants.sort_unstable_by_key(|(number, ..)| *number);
        for (_, synced, variant) in variants {
            for copy in &variant.copies {
                if !synced.policies.is_empty() {
                    copied.insert(copy.object.identity(), self.copied(synced, copy));
                }
                objects.push((copy.object.clone(), shipped(synced.object)));
            }
        }
        let assumed = parallel::map(routes, |route| {
            let is_there = |gateway| gateways.contains(&gateway);
            let mut parents = route.parents.iter();
            let original = Original {
                object: route.object,
                assumed: true,
            };
            let goes_there = parents.any(|(_, gateway)| is_there(*gateway)) && is_assumed(route);
            goes_there.then(|| (assumed_route(route, is_there, self.gateways), original))
        });
        objects.extend(assumed.into_iter().flatten());
        let namespaces = self.namespaces(&objects).into_iter();
        objects.extend(namespaces.map(|(copy, object)| (copy, shipped(object))));
        // Two objects of one identity are an error of their own; the first stays.
        let (objects, originals) = Objects::with(objects);
        Received {
            objects,
            originals,
            copied,
        }
    }

    /// The Namespaces that are shipped with labels, because something is shipped into them.
    fn namespaces(self, objects: &[(Object, Original<'a>)]) -> Vec<(Object, &'a Object)> {
        let labelled = self.labels.iter().filter(|(name, _)| {
            let mut objects = objects.iter();
            objects
                .any(|(copy, original)| !original.assumed && copy.namespace.as_deref() == Some(name.as_str()))
        });
        let namespaces = labelled.filter_map(|(name, labels)| {
            let original = self.syncing.hub.objects.find("", "Namespace", None, name)?;
            let labels = labels.iter();
            let labels = labels.map(|(key, value)| (key.clone(), Value::from(value.as_str())));
            let labels: Map = labels.collect();
            let copy = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
            Some((original.with_value(copy), original))
        });
        namespaces.collect()
    }

    /// What a synced policy stands for. Those that gave way to it are told only where it has one target: on another one
    /// they may never have been.
    fn copied(self, synced: &SyncedObject<'a>, copy: &Copy) -> Copied<'a> {
        let displaced = match copy.targets.as_slice() {
            [only] => synced.targets.get(*only),
            _ => None,
        };
        let displaced = displaced.map_or(&[][..], |target| &target.displaced);
        let all = [synced.policies.as_slice(), displaced].concat();
        let position = |id: PolicyId| all.iter().position(|known| *known == id);
        let settings = synced.settings.iter().filter_map(|(setting, id)| {
            let position = u32::try_from(position(*id)?).ok()?;
            Some((Arc::clone(setting), position))
        });
        let attachments = self.syncing.attachments;
        let authors = all.iter().flat_map(|id| attachments.policy(*id).authors(*id));
        Copied {
            settings: settings.collect(),
            authored: authors.map(|(_, authored)| authored.clone()).collect(),
        }
    }

    /// The ListenerSets and routes that another tool is assumed to deliver, each with its references to Gateways of
    /// ours.
    fn assumed_routes(self) -> Vec<HubRoute<'a>> {
        let kinds = &self.syncing.routes.kinds;
        let mut routes = hub_routes(&self.syncing.attachments.topology, kinds);
        routes.retain(|route| {
            let mut parents = route.parents.iter();
            !route.parents.is_empty()
                && parents.all(|(_, gateway)| !kinds.syncs_route(*gateway, route.object))
        });
        routes
    }
}

/// Core kinds, and kinds of Gateway API, that say something about more than one Gateway.
const AFFECT_ALL: [(&str, &str); 7] = [
    ("", "Namespace"),
    ("", "Service"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    (GROUP, "GatewayClass"),
    (GROUP, "ListenerSet"),
    (X_GROUP, "XListenerSet"),
    (GROUP, "ReferenceGrant"),
];

/// Groups whose other kinds say nothing about traffic. Of any other group an object without a target may be a policy on
/// its whole namespace.
const AFFECT_NONE: [&str; 3] = ["", "apps", "batch"];

/// The Gateways that `objects` affect; `None`: it may be any of them. Erring on that side costs time alone.
/// `by_other_targets`: whether a synced policy finds routes and Gateways otherwise than by their names.
pub(super) fn affected_gateways(
    objects: &Objects,
    syncing: Syncing<'_>,
    by_other_targets: bool,
) -> Option<BTreeSet<OurGatewayId>> {
    let topology = &syncing.attachments.topology;
    let mut found = BTreeSet::new();
    for object in objects.iter().filter(|object| !is_synced_copy(object)) {
        let of_kind = (object.api_version.group.as_str(), object.kind.as_str());
        let (is_gateway, is_route) = (
            of_kind == (GROUP, "Gateway"),
            topology.is_route(of_kind.0, of_kind.1),
        );
        if (by_other_targets && (is_gateway || is_route)) || AFFECT_ALL.contains(&of_kind) {
            return None;
        }
        let spec = object.root().get("spec");
        let single = spec.get("targetRef");
        let references: Vec<Field<'_>> = if is_route {
            spec.get("parentRefs").items().collect()
        } else if single.is_present() {
            vec![single]
        } else {
            spec.get("targetRefs").items().collect()
        };
        let has_selectors = spec.get("targetSelectors").is_present();
        let says_nothing = AFFECT_NONE.contains(&of_kind.0) || is_gateway;
        if references.is_empty() && !has_selectors && says_nothing {
            continue;
        }
        // Any route may hand requests on to one without parents.
        if references.is_empty() || has_selectors {
            return None;
        }
        let default = if is_route { (GROUP, "Gateway") } else { ("", "") };
        for reference in references {
            let text =
                |name: &'static str, or| reference.text(name).filter(|text| !text.is_empty()).unwrap_or(or);
            let to = (core_group(text("group", default.0)), text("kind", default.1));
            let (namespace, name) = (text("namespace", object.namespace_or_empty()), text("name", ""));
            if to == (GROUP, "Gateway") {
                let on_hub = namespace.strip_prefix(NAMESPACE_PREFIX);
                let known = on_hub.and_then(|namespace| syncing.ours.find(namespace, name));
                // It may be the waypoint of a Service that others of ours lead to.
                if known.is_none() && of_kind.0.ends_with("istio.io") {
                    return None;
                }
                found.extend(known);
            } else if topology.is_route(to.0, to.1) && !is_route {
                found.extend(behind(syncing, to, (namespace, name)));
            } else {
                return None;
            }
        }
        if is_route {
            // It is in the place of a route of the hub.
            let own = (object.namespace_or_empty(), object.name.as_str());
            found.extend(behind(syncing, of_kind, own));
        }
    }
    Some(found)
}

/// The Gateways of ours that lead to a route of the hub, or that it names: it may be attached to them there.
fn behind(syncing: Syncing<'_>, kind: (&str, &str), (namespace, name): (&str, &str)) -> Vec<OurGatewayId> {
    let topology = &syncing.attachments.topology;
    let Some(route) = topology.find_route(kind, namespace, name) else {
        return Vec::new();
    };
    let node = topology.routes.get(route);
    let attached = node.gateways.iter();
    let attached = attached.filter_map(|gateway| syncing.our_gateway(*gateway));
    let parents = node.route.parents.iter();
    let named = parents.filter_map(|parent| {
        let namespace = parent.object.namespace_from(node.object.namespace_or_empty());
        syncing.ours.find(namespace, &parent.object.name)
    });
    attached.chain(named).collect()
}
