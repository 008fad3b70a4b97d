//! The spokes: what each cluster receives, beside what lives there.
//!
//! Owns: [`Spoke`], one for each class of clusters that receive and hold the same: the objects exactly as they will stand
//! there (but for references to Secrets that are copied), each tied to the hub object that it was made from.
//! Flows in: what is synced, the variants of it, our Gateways, what lives on each cluster. Flows out: [`Spoke`]s, for
//! `policy` to evaluate. Must not know: works, what the policies come to.
//!
//! A route of the hub whose kind no class syncs is taken to be on every cluster that its Gateway goes to, as somebody else
//! delivers it: the hub says what a Gateway serves (README.md#which-policy-applies-and-why).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::gateway::PlacedGateway;
use super::synced_object::SyncedObject;
use super::touched::{is_gateway_or_route, touched};
use super::variants::{Copy, Variant, downstream_route};
use crate::api::gateway::GROUP;
use crate::api::policy::target_refs;
use crate::api::route::Route;
use crate::diagnostic::Findings;
use crate::hub::{Hub, Objects, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::policy::{Attachments, Authored, Copied, PolicyId};
use crate::topology::{Original, Originals, Sources};
use apimachinery::Identity;

/// What is on clusters that are alike.
#[derive(Debug)]
pub(crate) struct Spoke<'a> {
    /// The clusters, sorted.
    pub(crate) clusters: Vec<String>,
    objects: Objects,
    local: Option<&'a Objects>,
    originals: Originals<'a>,
    /// What each synced policy stands for, by its identity there.
    pub(crate) copied: HashMap<Identity, Copied<'a>>,
}

impl Spoke<'_> {
    /// What a cluster of this class is made of.
    pub(crate) fn sources<'s>(&'s self, hub: &'s Objects) -> Sources<'s> {
        Sources {
            objects: &self.objects,
            local: self.local,
            hub: Some(hub),
            originals: Some(&self.originals),
        }
    }
}

/// What spokes are made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spokes<'s, 'a> {
    /// The hub, and what lives on each cluster.
    pub(crate) hub: &'a Hub,
    /// The policies of the hub.
    pub(crate) attachments: &'a Attachments<'a>,
    /// Our Gateways.
    pub(crate) ours: &'a Ours<'a>,
    /// The same, with their clusters.
    pub(crate) gateways: &'s Table<OurGatewayId, PlacedGateway<'a>>,
    /// What is synced.
    pub(crate) synced: &'s [SyncedObject<'a>],
    /// What of each goes to which clusters, in the same order.
    pub(crate) variants: &'s [Vec<Variant>],
}

/// What makes two clusters alike, or a part of them: which Gateways they have, which variants of which object, and what
/// lives there.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Class {
    /// By number of the list of clusters that Gateways share: those Gateways, and what goes wherever they go.
    together: Vec<u32>,
    /// Positions of other objects and of their variants.
    variants: Vec<(u32, u32)>,
    local: Option<u32>,
    part: Part,
}

/// Which Gateways of a cluster a class is about. Those that nothing local touches come to the same on many clusters, so
/// that a thousand clusters with a policy of their own cost what those policies touch, and no more.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Part {
    #[default]
    All,
    /// Those that are touched, and what lives there.
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

/// What makes a thing that lives on a cluster touch more Gateways than those that it names.
struct Ties {
    /// Gateways that go together, as one object is for all of them.
    gateways: BTreeSet<Vec<OurGatewayId>>,
    /// Whether a policy is synced that targets anything but a Gateway or a route: a Service may be behind any route, and
    /// a namespace may hold any Gateway.
    by_other_targets: bool,
}

/// What goes to one list of clusters: almost every Gateway and object goes where many others go, so that clusters are
/// counted by list.
struct Together<'s> {
    clusters: &'s [String],
    gateways: Vec<OurGatewayId>,
    /// Positions of objects and of their variants.
    variants: Vec<(u32, u32)>,
}

impl<'s, 'a> Spokes<'s, 'a> {
    /// The spokes of all clusters that receive or hold anything, by their first cluster; with `only`, that of one cluster.
    /// A cluster may be in two: no path of one is in the other.
    #[must_use]
    pub(crate) fn build(self, only: Option<&str>) -> Vec<Spoke<'a>> {
        let together = self.together();
        let routes = self.assumed_routes();
        // One cluster has nothing to share.
        let ties = (only.is_none() && !self.hub.spokes.is_empty()).then(|| self.ties(&routes));
        let mut by_class: HashMap<Class, Vec<&'s str>> = HashMap::new();
        for (cluster, class) in self.classes(&together, only) {
            let touched = ties.as_ref().and_then(|ties| self.touched(cluster, ties));
            for class in self.parts(class, touched) {
                by_class.entry(class).or_default().push(cluster);
            }
        }
        let mut classes: Vec<(Vec<&'s str>, Class)> = by_class
            .into_iter()
            .map(|(class, clusters)| (clusters, class))
            .collect();
        classes.sort_unstable();
        let classes = classes.into_iter();
        classes
            .map(|(clusters, class)| self.spoke(clusters, &class, &together, &routes))
            .filter(|spoke| spoke.local.is_some() || !spoke.objects.is_empty())
            .collect()
    }

    /// What makes a thing that lives on a cluster touch more Gateways than those that it names.
    fn ties(self, routes: &[AssumedRoute<'a>]) -> Ties {
        let variants = || self.variants.iter().flatten();
        let of_routes = routes.iter().map(|route| {
            let parents = route.parents.iter();
            parents.map(|(_, gateway)| *gateway).collect()
        });
        let gateways = variants()
            .map(|variant| variant.gateways.clone())
            .chain(of_routes);
        let copies = variants().flat_map(|variant| &variant.copies);
        Ties {
            gateways: gateways.filter(|gateways| gateways.len() > 1).collect(),
            by_other_targets: copies
                .flat_map(|copy| target_refs(&copy.object, &mut Findings::new()))
                .any(|target| !is_gateway_or_route(self.attachments, target.group, target.kind)),
        }
    }

    /// The Gateways that the things touch that live on a cluster, and those that are tied to them; `None`: it may be all.
    fn touched(self, cluster: &str, ties: &Ties) -> Option<BTreeSet<OurGatewayId>> {
        let local = self.hub.spokes.get(cluster)?;
        let mut touched = touched(local, self.attachments, self.ours, ties.by_other_targets)?;
        loop {
            let before = touched.len();
            for gateways in &ties.gateways {
                if gateways.iter().any(|gateway| touched.contains(gateway)) {
                    touched.extend(gateways);
                }
            }
            if touched.len() == before {
                return Some(touched);
            }
        }
    }

    /// The classes that a cluster is in: that of the Gateways that are touched by what lives there, and that of the others.
    fn parts(self, class: Class, touched: Option<BTreeSet<OurGatewayId>>) -> Vec<Class> {
        let Some(touched) = touched else {
            return vec![class];
        };
        let others = if touched.is_empty() {
            Part::All
        } else {
            Part::But(touched.clone())
        };
        let parts = [(Part::Only(touched), class.local), (others, None)];
        let of = |(part, local): (Part, Option<u32>)| Class {
            together: class.together.clone(),
            variants: class
                .variants
                .iter()
                .copied()
                .filter(|(object, variant)| self.is_in(&part, *object, *variant))
                .collect(),
            local,
            part,
        };
        parts.map(of).into()
    }

    /// Whether a variant of an object goes with the Gateways of a part: all of its Gateways do, or none.
    fn is_in(self, part: &Part, object: u32, variant: u32) -> bool {
        let variants = self.variants.get(object as usize);
        let variant = variants.and_then(|variants| variants.get(variant as usize));
        let gateway = variant.and_then(|variant| variant.gateways.first());
        gateway.is_some_and(|gateway| part.has(*gateway))
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
    fn classes(self, together: &[Together<'s>], only: Option<&str>) -> BTreeMap<&'s str, Class> {
        let asked = |cluster: &str| only.is_none_or(|only| only == cluster);
        let mut classes: BTreeMap<&'s str, Class> = BTreeMap::new();
        let mut counted: HashSet<(u32, u32)> = HashSet::new();
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
        for (cluster, objects) in self.hub.spokes.iter().filter(|(cluster, _)| asked(cluster)) {
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
        routes: &[AssumedRoute<'a>],
    ) -> Spoke<'a> {
        let local = clusters.first().filter(|_| class.local.is_some());
        let local = local.and_then(|cluster| self.hub.spokes.get(*cluster));
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
        let variants: BTreeSet<&(u32, u32)> = everywhere.chain(&class.variants).collect();
        for (object, variant) in variants {
            let synced = self.synced.get(*object as usize);
            let variants = self.variants.get(*object as usize);
            let variant = variants.and_then(|variants| variants.get(*variant as usize));
            if let (Some(synced), Some(variant)) = (synced, variant) {
                self.add_variant(synced, variant, &mut making);
            }
        }
        for route in routes {
            let parents = route.parents.iter();
            let parents: Vec<(&str, OurGatewayId)> = parents
                .filter(|(_, gateway)| gateways.contains(gateway))
                .map(|(pointer, gateway)| (pointer.as_str(), *gateway))
                .collect();
            let object = route.object;
            let is_local = local.is_some_and(|local| local.get(&object.identity()).is_some());
            if !parents.is_empty() && !is_local {
                let place = (object.name.as_str(), object.namespace_or_empty());
                let value = downstream_route(&object.value, place, &parents, self.gateways);
                let copy = Object {
                    value,
                    ..object.clone_without_value()
                };
                making.add(copy, object, true);
            }
        }
        Spoke {
            clusters: clusters.into_iter().map(str::to_owned).collect(),
            objects: Objects::new(making.objects.into_values().collect()),
            local,
            originals: making.originals,
            copied: making.copied,
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
            Some((std::sync::Arc::clone(setting), position))
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
            layers: std::sync::Arc::clone(&policy.layers),
            rank: policy.rank.clone(),
        }
    }

    /// The routes that somebody else is taken to deliver, each with its references to Gateways of ours.
    fn assumed_routes(self) -> Vec<AssumedRoute<'a>> {
        let routes = self.attachments.topology.routes.rows().iter();
        routes
            .filter_map(|node| {
                let object = node.object;
                let (group, kind) = (&object.api_version.group, &object.kind);
                // What is wrong with it was said when the topology read it.
                let route = Route::read(object, &mut Findings::new())?;
                let mut parents = Vec::new();
                for parent in route
                    .parents
                    .iter()
                    .filter(|parent| (parent.group, parent.kind) == (GROUP, "Gateway"))
                {
                    let namespace = parent.namespace.unwrap_or(object.namespace_or_empty());
                    let Some(gateway) = self.ours.find(namespace, parent.name) else {
                        continue;
                    };
                    if self
                        .gateways
                        .get(gateway)
                        .params
                        .synced_route(group, kind)
                        .is_some()
                    {
                        return None;
                    }
                    parents.push((parent.pointer.clone(), gateway));
                }
                (!parents.is_empty()).then_some(AssumedRoute { object, parents })
            })
            .collect()
    }
}

/// A route of the hub that is not synced.
struct AssumedRoute<'a> {
    object: &'a Object,
    /// Pointers of its references to Gateways of ours.
    parents: Vec<(String, OurGatewayId)>,
}

/// A spoke while it grows. Two objects of one identity are an error of their own; the first stays.
#[derive(Default)]
struct Making<'a> {
    objects: BTreeMap<Identity, Object>,
    originals: Originals<'a>,
    copied: HashMap<Identity, Copied<'a>>,
}

impl<'a> Making<'a> {
    fn add(&mut self, copy: Object, object: &'a Object, assumed: bool) {
        let identity = copy.identity();
        self.originals
            .entry(identity.clone())
            .or_insert(Original { object, assumed });
        self.objects.entry(identity).or_insert(copy);
    }
}

/// What lives on a cluster, as text: equal for equal objects.
fn text_of(objects: &Objects) -> String {
    let values: BTreeSet<String> = objects.iter().map(|object| object.value.to_string()).collect();
    values.into_iter().collect()
}
