//! The spokes: what each cluster receives, together with what lives there. Clusters that are alike share one spoke, and
//! clusters with local objects share the Gateways that these do not affect.
//!
//! If no class syncs the kind of a route or a ListenerSet, the object is assumed to be on every cluster that its
//! Gateway goes to, delivered by another tool: the hub defines what a Gateway serves (docs/policies.md).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::Identity;
use kube_json::{Map, Value, json};

use super::allowed_routes::NamespaceLabels;
use super::copies::{HubRoute, PlacedGateway, assumed_route, hub_routes};
use super::synced_object::SyncedObject;
use super::variants::{Copy, Variant};
use crate::api::downstream::{NAMESPACE_PREFIX, is_synced_copy};
use crate::api::gateway::{GROUP, X_GROUP};
use crate::api::params::Role;
use crate::api::policy::{target_kinds, target_refs, target_selectors};
use crate::api::route::Route;
use crate::diagnostic::Findings;
use crate::hub::{Grants, Hub, Objects, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::parallel;
use crate::policy::{Attachments, Authored, Copied, PolicyId};
use crate::topology::{Original, Sources};

/// A synced object, and what of it goes somewhere: their positions.
type ChosenVariant = (u32, u32);

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
        let mut places = vec![&self.received.objects];
        places.extend(self.local);
        hub.on_cluster(
            places
                .into_iter()
                .flat_map(|objects| objects.of_kind(GROUP, "ReferenceGrant")),
        )
    }

    /// The originals of each synced policy, by its identity there.
    pub fn copied(&self) -> &HashMap<Identity, Copied<'a>> {
        &self.received.copied
    }
}

/// The data that spokes are made from.
#[derive(Debug, Clone, Copy)]
pub struct Spokes<'s, 'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// What lives on each cluster.
    pub local: &'a BTreeMap<String, Objects>,
    /// The policies of the hub.
    pub attachments: &'a Attachments<'a>,
    /// Our Gateways.
    pub ours: &'a Ours<'a>,
    /// The same, with their clusters.
    pub gateways: &'s Table<OurGatewayId, PlacedGateway<'a>>,
    /// The synced objects.
    pub synced: &'s [SyncedObject<'a>],
    /// The variants of each with their clusters, in the same order.
    pub variants: &'s [Vec<Variant>],
    /// The labels that are shipped with Namespaces.
    pub labels: &'s NamespaceLabels,
}

/// What makes two clusters alike, or a part of them: which Gateways they have, which variants of which object, and what
/// lives there.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Class {
    /// By number of the list of clusters that Gateways share: those Gateways, and what goes wherever they go.
    together: Vec<u32>,
    /// Positions of other objects and of their variants.
    variants: Vec<ChosenVariant>,
    local: Option<u32>,
    part: Part,
}

/// Which Gateways of a cluster a class is about. Those that nothing local affects come to the same on many clusters, so
/// that a thousand clusters with a policy of their own cost what those policies affect, and no more.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Part {
    #[default]
    All,
    /// Those that are affected, and what lives there.
    Only(BTreeSet<OurGatewayId>),
    /// The others.
    But(BTreeSet<OurGatewayId>),
}

impl Part {
    fn has(&self, gateway: OurGatewayId) -> bool {
        match self {
            Self::All => true,
            Self::Only(gateways) => gateways.contains(&gateway),
            Self::But(gateways) => !gateways.contains(&gateway),
        }
    }
}

/// What makes a thing that lives on a cluster affect more Gateways than those that it names.
struct Ties {
    /// By Gateway, all that go together with it, as one object is for several of them, and itself.
    tied: HashMap<OurGatewayId, Arc<BTreeSet<OurGatewayId>>>,
    /// Whether a policy is synced that targets anything but a Gateway or a route: a Service may be behind any route,
    /// and a namespace may hold any Gateway.
    by_other_targets: bool,
}

impl Ties {
    /// One for all Gateways that go together.
    fn first(&self, gateway: OurGatewayId) -> Option<OurGatewayId> {
        self.tied.get(&gateway)?.first().copied()
    }
}

/// A cluster by what nothing that lives there affects.
struct Unaffected<'s> {
    cluster: &'s str,
    affected: BTreeSet<OurGatewayId>,
    /// Positions of the other objects, and of their variants, that not all clusters of its lists get.
    variants: Vec<ChosenVariant>,
}

/// What goes to one list of clusters: almost every Gateway and object goes where many others go, so that clusters are
/// counted by list.
struct Together<'s> {
    clusters: &'s [String],
    gateways: Vec<OurGatewayId>,
    /// Positions of objects and of their variants.
    variants: Vec<ChosenVariant>,
}

impl<'s, 'a> Spokes<'s, 'a> {
    /// The spokes of the clusters that are asked for and receive or have anything, by their first cluster: `is_one` says that
    /// only one is asked for. A cluster may be in two: no path of one is in the other.
    pub fn build(self, is_one: bool, is_asked: &dyn Fn(&str) -> bool) -> Vec<Spoke<'a>> {
        let together = self.together();
        let routes = self.assumed_routes();
        // One cluster has nothing to share.
        let ties = (!is_one).then(|| self.ties(&routes));
        let mut by_class: HashMap<Class, Vec<&'s str>> = HashMap::new();
        let mut unaffected: BTreeMap<Vec<u32>, Vec<Unaffected<'s>>> = BTreeMap::new();
        for (cluster, class) in self.classes(&together, is_asked) {
            let Some(affected) = ties
                .as_ref()
                .and_then(|ties| self.affected_gateways(cluster, ties))
            else {
                by_class.entry(class).or_default().push(cluster);
                continue;
            };
            if class.local.is_some() {
                let own = self.affected_part(&class, &affected);
                by_class.entry(own).or_default().push(cluster);
            }
            if affected.is_empty() && class.variants.is_empty() {
                let others = Class { local: None, ..class };
                by_class.entry(others).or_default().push(cluster);
                continue;
            }
            let others = Part::But(affected.clone());
            let variants = class.variants.iter().copied();
            let variants = variants.filter(|(object, variant)| self.is_in(&others, *object, *variant));
            unaffected.entry(class.together).or_default().push(Unaffected {
                cluster,
                variants: variants.collect(),
                affected,
            });
        }
        for (lists, clusters) in &unaffected {
            if let Some(ties) = &ties {
                by_class.extend(self.unaffected_parts(lists, clusters, ties));
            }
        }
        let mut classes: Vec<(Vec<&'s str>, Class)> = by_class
            .into_iter()
            .map(|(class, clusters)| (clusters, class))
            .collect();
        classes.sort_unstable();
        let mut shared = HashMap::new();
        classes
            .into_iter()
            .map(|(clusters, class)| self.spoke(clusters, &class, &together, &routes, &mut shared))
            .filter(|spoke| spoke.local.is_some() || !spoke.received.objects.is_empty())
            .collect()
    }

    /// What makes a thing that lives on a cluster affect more Gateways than those that it names.
    fn ties(self, routes: &[HubRoute<'a>]) -> Ties {
        let variants = || self.variants.iter().flatten();
        let of_routes = routes.iter().map(|route| {
            let parents = route.parents.iter();
            parents.map(|(_, gateway)| *gateway).collect()
        });
        let groups = variants()
            .map(|variant| variant.gateways.clone())
            .chain(of_routes);
        let policies = self.synced.iter().zip(self.variants);
        let policies = policies.filter(|(synced, _)| synced.role == Role::Policy);
        let mut copies =
            policies.flat_map(|(_, variants)| variants.iter().flat_map(|variant| &variant.copies));
        Ties {
            tied: self.tied(groups),
            by_other_targets: copies.any(|copy| !self.names_targets(&copy.object)),
        }
    }

    /// Whether a synced policy finds its targets by their names, and they are Gateways and routes.
    fn names_targets(self, policy: &Object) -> bool {
        let targets = target_kinds(policy);
        let mut others = targets
            .iter()
            .filter(|(group, kind)| !is_gateway_or_route(self.attachments, group, kind));
        let selectors = policy.root().get("spec").get("targetSelectors");
        !targets.is_empty() && !selectors.is_present() && others.next().is_none()
    }

    /// Which Gateways each goes together with, directly or by way of others.
    fn tied(
        self,
        groups: impl Iterator<Item = Vec<OurGatewayId>>,
    ) -> HashMap<OurGatewayId, Arc<BTreeSet<OurGatewayId>>> {
        let mut tied: HashMap<OurGatewayId, Arc<BTreeSet<OurGatewayId>>> = self
            .gateways
            .iter()
            .map(|(id, _)| (id, Arc::new(BTreeSet::from([id]))))
            .collect();
        for group in groups.collect::<BTreeSet<_>>() {
            let known = group.first().and_then(|first| tied.get(first));
            if known.is_some_and(|known| group.iter().all(|gateway| known.contains(gateway))) {
                continue;
            }
            let parts = group.iter().filter_map(|gateway| tied.get(gateway));
            let all: BTreeSet<OurGatewayId> = parts.flat_map(|part| part.iter().copied()).collect();
            let all = Arc::new(all);
            for gateway in all.iter() {
                tied.insert(*gateway, Arc::clone(&all));
            }
        }
        tied
    }

    /// The Gateways that the objects on a cluster affect, and those that are tied to them; `None`: it may be
    /// all.
    fn affected_gateways(self, cluster: &str, ties: &Ties) -> Option<BTreeSet<OurGatewayId>> {
        let Some(local) = self.local.get(cluster) else {
            return Some(BTreeSet::new());
        };
        let affected = affected_gateways(local, self.attachments, self.ours, ties.by_other_targets)?;
        let tied = affected.iter().filter_map(|gateway| ties.tied.get(gateway));
        Some(tied.flat_map(|tied| tied.iter().copied()).collect())
    }

    /// The class of the Gateways that are affected by what lives on a cluster, with what lives there.
    fn affected_part(self, class: &Class, affected: &BTreeSet<OurGatewayId>) -> Class {
        let part = Part::Only(affected.clone());
        let variants = class.variants.iter().copied();
        Class {
            together: class.together.clone(),
            variants: variants
                .filter(|(object, variant)| self.is_in(&part, *object, *variant))
                .collect(),
            local: class.local,
            part,
        }
    }

    /// The classes of the Gateways that nothing affects, of clusters that go by the same lists and are affected
    /// somewhere else each. A Gateway is evaluated once for all clusters that get the same of it: were the unaffected
    /// ones of each cluster evaluated as one, a thousand clusters would pay for all Gateways a thousand times.
    fn unaffected_parts(
        self,
        together: &[u32],
        clusters: &[Unaffected<'s>],
        ties: &Ties,
    ) -> Vec<(Class, Vec<&'s str>)> {
        let class = |variants, part| Class {
            together: together.to_vec(),
            variants,
            local: None,
            part,
        };
        // By the first of those that are tied: the clusters where it gets what not all of them get, or, with none, where it
        // is affected.
        let mut special: BTreeMap<OurGatewayId, BTreeMap<u32, Option<Vec<ChosenVariant>>>> = BTreeMap::new();
        for (position, of_cluster) in (0_u32..).zip(clusters) {
            let affected = of_cluster.affected.iter();
            for first in affected.filter_map(|gateway| ties.first(*gateway)) {
                special.entry(first).or_default().insert(position, None);
            }
            for (object, variant) in &of_cluster.variants {
                let gateway = self.gateway_of(*object, *variant);
                if let Some(first) = gateway.and_then(|gateway| ties.first(gateway)) {
                    let there = special.entry(first).or_default();
                    let there = there.entry(position).or_insert_with(|| Some(Vec::new()));
                    if let Some(variants) = there {
                        variants.push((*object, *variant));
                    }
                }
            }
        }
        let mut all_special: BTreeSet<OurGatewayId> = BTreeSet::new();
        let mut by_clusters: BTreeMap<Vec<u32>, (BTreeSet<OurGatewayId>, Vec<ChosenVariant>)> =
            BTreeMap::new();
        for (first, on_clusters) in special {
            let Some(gateways) = ties.tied.get(&first) else {
                continue;
            };
            all_special.extend(gateways.iter());
            let mut by_variants: BTreeMap<&[ChosenVariant], Vec<u32>> = BTreeMap::new();
            for (position, _) in (0_u32..).zip(clusters) {
                match on_clusters.get(&position) {
                    Some(None) => {}
                    Some(Some(variants)) => by_variants.entry(variants).or_default().push(position),
                    None => by_variants.entry(&[]).or_default().push(position),
                }
            }
            for (variants, positions) in by_variants {
                let (there, all) = by_clusters.entry(positions).or_default();
                there.extend(gateways.iter());
                all.extend(variants);
            }
        }
        let name = |position: &u32| {
            clusters
                .get(*position as usize)
                .map(|of_cluster| of_cluster.cluster)
        };
        let mut parts: Vec<(Class, Vec<&'s str>)> = by_clusters
            .into_iter()
            .map(|(positions, (gateways, variants))| {
                let names = positions.iter().filter_map(name).collect();
                (class(variants, Part::Only(gateways)), names)
            })
            .collect();
        let names = clusters.iter().map(|of_cluster| of_cluster.cluster);
        parts.push((class(Vec::new(), Part::But(all_special)), names.collect()));
        parts
    }

    /// A Gateway of a variant of an object: what holds for it holds for the others, which are tied to it.
    fn gateway_of(self, object: u32, variant: u32) -> Option<OurGatewayId> {
        let variants = self.variants.get(object as usize)?;
        variants.get(variant as usize)?.gateways.first().copied()
    }

    /// Whether a variant of an object goes with the Gateways of a part: all of its Gateways do, or none.
    fn is_in(self, part: &Part, object: u32, variant: u32) -> bool {
        self.gateway_of(object, variant)
            .is_some_and(|gateway| part.has(gateway))
    }

    /// The Gateways and variants by their clusters.
    fn together(self) -> Vec<Together<'s>> {
        let mut all: Vec<Together<'s>> = Vec::new();
        let mut by_clusters: HashMap<&'s [String], usize> = HashMap::new();
        let of_gateway = self.gateways.map(|(id, placed)| {
            let clusters = placed.clusters.as_ref();
            let position = *by_clusters.entry(clusters).or_insert_with(|| {
                all.push(Together {
                    clusters,
                    gateways: Vec::new(),
                    variants: Vec::new(),
                });
                all.len().saturating_sub(1)
            });
            if let Some(alike) = all.get_mut(position) {
                alike.gateways.push(id);
            }
            position
        });
        for (object, variants) in (0_u32..).zip(self.variants) {
            for (number, variant) in (0_u32..).zip(variants) {
                let position = variant.gateways.first().map(|first| *of_gateway.get(*first));
                let alike = position.and_then(|position| all.get_mut(position));
                if let Some(alike) = alike.filter(|alike| *alike.clusters == *variant.clusters) {
                    alike.variants.push((object, number));
                }
            }
        }
        all
    }

    /// The class of each cluster, by cluster.
    fn classes(self, together: &[Together<'s>], asked: &dyn Fn(&str) -> bool) -> BTreeMap<&'s str, Class> {
        let mut classes: BTreeMap<&'s str, Class> = BTreeMap::new();
        let mut counted: HashSet<ChosenVariant> = HashSet::new();
        for (number, alike) in (0_u32..).zip(together) {
            counted.extend(&alike.variants);
            for cluster in alike.clusters.iter().filter(|cluster| asked(cluster)) {
                classes.entry(cluster).or_default().together.push(number);
            }
        }
        for (object, variants) in (0_u32..).zip(self.variants) {
            for (number, variant) in (0_u32..).zip(variants) {
                if counted.contains(&(object, number)) {
                    continue;
                }
                for cluster in variant.clusters.iter().filter(|cluster| asked(cluster)) {
                    classes
                        .entry(cluster)
                        .or_default()
                        .variants
                        .push((object, number));
                }
            }
        }
        let mut known: HashMap<String, u32> = HashMap::new();
        for (cluster, objects) in self.local.iter().filter(|(cluster, _)| asked(cluster)) {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let number = *known.entry(text_of(objects)).or_insert(next);
            classes.entry(cluster).or_default().local = Some(number);
        }
        classes
    }

    fn spoke(
        self,
        clusters: Vec<&str>,
        class: &Class,
        together: &[Together<'s>],
        routes: &[HubRoute<'a>],
        shared: &mut HashMap<Class, Arc<Received<'a>>>,
    ) -> Spoke<'a> {
        let local = clusters.first().filter(|_| class.local.is_some());
        let local = local.and_then(|cluster| self.local.get(*cluster));
        let is_local =
            |route: &HubRoute<'a>| local.is_some_and(|local| local.get(&route.object.identity()).is_some());
        let received = if routes.iter().any(is_local) {
            let routes: Vec<&HubRoute<'a>> = routes.iter().filter(|route| !is_local(route)).collect();
            Arc::new(self.received(class, together, &routes))
        } else {
            // The local objects do not change it.
            let class = Class {
                local: None,
                ..class.clone()
            };
            match shared.get(&class) {
                Some(known) => Arc::clone(known),
                None => {
                    let routes: Vec<&HubRoute<'a>> = routes.iter().collect();
                    let received = Arc::new(self.received(&class, together, &routes));
                    shared.insert(class, Arc::clone(&received));
                    received
                }
            }
        };
        Spoke {
            clusters: clusters.into_iter().map(str::to_owned).collect(),
            received,
            local,
        }
    }

    /// The objects that the clusters of a class receive.
    fn received(self, class: &Class, together: &[Together<'s>], routes: &[&HubRoute<'a>]) -> Received<'a> {
        let mut making = Making::default();
        let together = || {
            class
                .together
                .iter()
                .filter_map(|number| together.get(*number as usize))
        };
        let gateways: BTreeSet<OurGatewayId> = together()
            .flat_map(|alike| alike.gateways.iter().copied())
            .filter(|gateway| class.part.has(*gateway))
            .collect();
        for id in &gateways {
            let placed = self.gateways.get(*id);
            if let Some(object) = placed.downstream() {
                making.add(object, placed.gateway.object, false);
            }
        }
        let everywhere = together().flat_map(|alike| &alike.variants);
        let everywhere = everywhere.filter(|(object, variant)| self.is_in(&class.part, *object, *variant));
        let variants: BTreeSet<&ChosenVariant> = everywhere.chain(&class.variants).collect();
        for (object, variant) in variants {
            let synced = self.synced.get(*object as usize);
            let variants = self.variants.get(*object as usize);
            let variant = variants.and_then(|variants| variants.get(*variant as usize));
            if let (Some(synced), Some(variant)) = (synced, variant) {
                self.add_variant(synced, variant, &mut making);
            }
        }
        let assumed = parallel::map(routes, |route| {
            let parents = route.parents.iter();
            let mut parents = parents
                .filter(|(_, gateway)| gateways.contains(gateway))
                .peekable();
            parents.peek()?;
            Some((assumed_route(route.object, parents, self.gateways), route.object))
        });
        for (copy, object) in assumed.into_iter().flatten() {
            making.add(copy, object, true);
        }
        self.add_namespaces(&mut making);
        let (objects, originals) = Objects::with(making.objects);
        Received {
            objects,
            originals,
            copied: making.copied,
        }
    }

    /// The Namespaces that are shipped with labels, because something is shipped into them.
    fn add_namespaces(self, making: &mut Making<'a>) {
        let labelled = self.labels.iter().filter(|(name, _)| {
            let mut objects = making.objects.iter();
            objects
                .any(|(copy, original)| !original.assumed && copy.namespace.as_deref() == Some(name.as_str()))
        });
        let namespaces = labelled.filter_map(|(name, labels)| {
            let original = self.hub.objects.find("", "Namespace", None, name)?;
            let labels: Map = labels
                .iter()
                .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
                .collect();
            let copy = Object {
                value: json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}),
                ..original.clone_without_value()
            };
            Some((copy, original))
        });
        let namespaces: Vec<_> = namespaces.collect();
        for (copy, original) in namespaces {
            making.add(copy, original, false);
        }
    }

    fn add_variant(self, synced: &SyncedObject<'a>, variant: &Variant, making: &mut Making<'a>) {
        for copy in &variant.copies {
            if !synced.policies.is_empty() {
                making
                    .copied
                    .insert(copy.object.identity(), self.copied(synced, copy));
            }
            making.add(copy.object.clone(), synced.object, false);
        }
    }

    /// What a synced policy stands for. Those that gave way to it are told only where it has one target: on another one
    /// they may never have been.
    fn copied(self, synced: &SyncedObject<'a>, copy: &Copy) -> Copied<'a> {
        let displaced = match copy.targets.as_slice() {
            [only] => synced
                .targets
                .get(*only)
                .map(|target| target.displaced.as_slice()),
            _ => None,
        };
        let all: Vec<PolicyId> = synced
            .policies
            .iter()
            .chain(displaced.into_iter().flatten())
            .copied()
            .collect();
        let position = |id: PolicyId| all.iter().position(|known| *known == id);
        let settings = synced.settings.iter().filter_map(|(setting, id)| {
            let position = u32::try_from(position(*id)?).ok()?;
            Some((Arc::clone(setting), position))
        });
        Copied {
            settings: settings.collect(),
            authored: all.iter().map(|id| self.authored(*id)).collect(),
        }
    }

    fn authored(self, id: PolicyId) -> Authored<'a> {
        let policy = self.attachments.policy(id);
        Authored {
            object: policy.object,
            locator: policy.locator(),
            layers: Arc::clone(&policy.layers),
            rank: policy.rank.clone(),
        }
    }

    /// The ListenerSets and routes that another tool is assumed to deliver, each with its references to Gateways of
    /// ours.
    fn assumed_routes(self) -> Vec<HubRoute<'a>> {
        let topology = &self.attachments.topology;
        let ours = |gateway| self.ours.find_object(topology.gateways.get(gateway).object);
        let mut routes = hub_routes(topology, ours);
        routes.retain(|route| {
            let (group, kind) = (&route.object.api_version.group, &route.object.kind);
            let mut parents = route.parents.iter();
            !route.parents.is_empty()
                && parents.all(|(_, gateway)| {
                    let params = self.gateways.get(*gateway).params;
                    params.synced_route(group, kind).is_none()
                })
        });
        routes
    }
}

/// A spoke while it grows. Two objects of one identity are an error of their own; the first stays.
#[derive(Default)]
struct Making<'a> {
    objects: Vec<(Object, Original<'a>)>,
    copied: HashMap<Identity, Copied<'a>>,
}

impl<'a> Making<'a> {
    fn add(&mut self, copy: Object, object: &'a Object, assumed: bool) {
        self.objects.push((copy, Original { object, assumed }));
    }
}

/// The local objects of a cluster as text: equal for equal objects.
fn text_of(objects: &Objects) -> String {
    let values: BTreeSet<String> = objects.iter().map(|object| object.value.to_string()).collect();
    values.into_iter().collect()
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
    attachments: &Attachments<'_>,
    ours: &Ours<'_>,
    by_other_targets: bool,
) -> Option<BTreeSet<OurGatewayId>> {
    let mut found = BTreeSet::new();
    for object in objects.iter().filter(|object| !is_synced_copy(object)) {
        let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
        let is_found = by_other_targets && is_gateway_or_route(attachments, group, kind);
        if is_found || AFFECT_ALL.contains(&(group, kind)) {
            return None;
        }
        let topology = &attachments.topology;
        if topology.is_route(group, kind) {
            let (route, _) = Route::read(object, &mut Findings::new())?;
            // Any route may hand requests on to one without parents.
            if route.parents.is_empty() {
                return None;
            }
            for parent in &route.parents {
                let namespace = parent.namespace.unwrap_or(object.namespace_or_empty());
                match (parent.group, parent.kind) {
                    (GROUP, "Gateway") => found.extend(downstream(ours, namespace, parent.name)),
                    _ => return None,
                }
            }
            // It is in the place of a route of the hub.
            found.extend(behind(
                attachments,
                ours,
                (group, kind),
                object.namespace_or_empty(),
                &object.name,
            ));
        } else if targets(object) || !AFFECT_NONE.contains(&group) && (group, kind) != (GROUP, "Gateway") {
            let mut said = Findings::new();
            let references = target_refs(object, &mut said);
            if references.is_empty() || !target_selectors(object, &mut said).is_empty() {
                return None;
            }
            for reference in references {
                let namespace = reference.namespace.unwrap_or(object.namespace_or_empty());
                let (group, kind) = (reference.group, reference.kind);
                if (group, kind) == (GROUP, "Gateway") {
                    let known = downstream(ours, namespace, reference.name);
                    // It may be the waypoint of a Service that others of ours lead to.
                    if known.is_none() && object.api_version.group.ends_with("istio.io") {
                        return None;
                    }
                    found.extend(known);
                } else if topology.is_route(group, kind) {
                    found.extend(behind(
                        attachments,
                        ours,
                        (group, kind),
                        namespace,
                        reference.name,
                    ));
                } else {
                    return None;
                }
            }
        }
    }
    Some(found)
}

/// Whether a kind is Gateway, or one of routes.
fn is_gateway_or_route(attachments: &Attachments<'_>, group: &str, kind: &str) -> bool {
    (group, kind) == (GROUP, "Gateway") || attachments.topology.is_route(group, kind)
}

fn targets(object: &Object) -> bool {
    let spec = object.root().get("spec");
    ["targetRef", "targetRefs", "targetSelectors"]
        .iter()
        .any(|field| spec.get(field).is_present())
}

/// The Gateway of ours that is there under a name.
fn downstream(ours: &Ours<'_>, namespace: &str, name: &str) -> Option<OurGatewayId> {
    ours.find(namespace.strip_prefix(NAMESPACE_PREFIX)?, name)
}

/// The Gateways of ours that lead to a route of the hub, or that it names: it may be attached to them there.
fn behind(
    attachments: &Attachments<'_>,
    ours: &Ours<'_>,
    kind: (&str, &str),
    namespace: &str,
    name: &str,
) -> Vec<OurGatewayId> {
    let topology = &attachments.topology;
    let Some(route) = topology.find_route(kind, namespace, name) else {
        return Vec::new();
    };
    let node = topology.routes.get(route);
    let attached = node.gateways.iter();
    let attached = attached.filter_map(|gateway| ours.find_object(topology.gateways.get(*gateway).object));
    let parents = node.route.parents.iter();
    let named = parents.filter_map(|parent| {
        let namespace = parent.namespace.unwrap_or(node.object.namespace_or_empty());
        ours.find(namespace, parent.name)
    });
    attached.chain(named).collect()
}
