//! The works of an earlier rendering that a plan replaces or removes, read from their texts, and what the update from them to
//! the plan would break on a cluster. A thousand clusters have the same works but for their names in them: each content is
//! read and kept once.
//!
//! - Objects that are still in the input, that an earlier rendering shipped, and that no cluster receives any more
//!   ([`withdrawn`]): a letter too many in a reference, a label that is gone, or a kind that is no longer synced takes an
//!   object off every cluster, and each has a finding of its own at best. This is the net below them.
//! - Objects that leave one work for another ([`moved`]): the agent may delete and recreate them
//!   (docs/systems/ocm-work.md#what-leaves-a-work).
//! - Rights that would disappear before the objects that they are for ([`narrowed`]). An agent that may not delete an object
//!   that has left a work tries forever, and the work stays Applied all the while. A plan grants rights to everything that
//!   it ships. So if a cluster would lose a right, it no longer gets objects of that kind: every object of that kind in its
//!   earlier works has to be deleted. A cluster that no longer gets anything is not checked: its agent deletes whole works,
//!   including the rights.
//! - Updates that clusters would refuse, although they would accept the new object if it were not there yet ([`refused`]).
//!   An update is refused as a whole, again and again, so nothing else in the new object arrives either. An object stays the
//!   same object when it moves to another work, or changes its version.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use apimachinery::{ApiVersion, GroupKind, Identity, Work};
use kube_json::{Text, Value};
use kube_yaml::scalar;

use super::manifest::ManifestSummary;
use super::plan::{Plan, REPLICA_SETS, WorkId};
use super::rbac::{self, Rights, deletable, dotted, list, manifest_names, text};
use crate::api::crd;
use crate::api::downstream::{NAMESPACE_PREFIX, is_synced_policy};
use crate::api::gateway::GROUP as GATEWAY_GROUP;
use crate::api::params::ParamsPlace;
use crate::api::updates::{Refusal, refusals};
use crate::diagnostic::{
    Code, Finding, Part, Place, and_more, counted, first_items, first_names, one_or_many,
};
use crate::hub::{Hub, OurGatewayId, Ours, Table, params_place};
use crate::object::well_known::PARENT_ANNOTATION;
use crate::object::{Object, Origin};
use crate::output::OutputError;
use crate::parallel;
use crate::sync::PlacedGateway;

/// The earlier works by path; `None` for one that stays as it is.
#[derive(Debug)]
pub(crate) struct EarlierWorks(BTreeMap<String, Option<Arc<Shipped>>>);

/// So many clusters, or objects, are named in one line; the rest is counted.
pub(super) const MOST_NAMES: usize = 10;

/// What a plan replaces, and what decides which clusters had it.
pub(crate) struct Replaced<'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// Our classes.
    pub ours: &'a Ours<'a>,
    /// Our Gateways with their clusters.
    pub gateways: &'a Table<OurGatewayId, PlacedGateway<'a>>,
    /// The earlier works.
    pub earlier: &'a EarlierWorks,
}

/// The contents of a file of an earlier rendering.
#[derive(Debug, Default)]
pub(crate) struct Shipped {
    /// The Placements, by namespace and name, whose clusters got it; none for the work of one cluster.
    pub(super) placements: Vec<(String, String)>,
    /// The hub object that it was made for, as `namespace/name`.
    pub(super) parent: Option<String>,
    pub(super) objects: Vec<ShippedObject>,
    /// Whether agents write the objects by server-side apply.
    pub(super) server_side: bool,
    /// The kinds that it let the agent delete: ClusterRoles cannot be synced, so those in it are ours.
    pub(super) rights: Rights,
}

#[derive(Debug)]
pub(super) struct ShippedObject {
    pub(super) identity: Identity,
    pub(super) value: Value,
}

impl EarlierWorks {
    /// Reads the works at `paths`; `text` is that of one that does not stay as it is.
    ///
    /// # Errors
    /// When an earlier file cannot be read.
    pub(crate) fn read(
        paths: &[Cow<'_, str>],
        text: impl Fn(&str) -> Result<Option<String>, OutputError> + Sync,
    ) -> Result<Self, OutputError> {
        let contents: Mutex<HashMap<String, Arc<Shipped>>> = Mutex::default();
        let read = parallel::map(paths, |path| {
            let Some(text) = text(path)? else { return Ok(None) };
            let cluster = path.split('/').next().unwrap_or_default();
            // As it was written: the name `on` is in quotes. Without the name, a thousand clusters have one text,
            // which is parsed once.
            let own = format!("\n  namespace: {}\n", scalar(cluster));
            // Only the first is the work's own: a manifest may be in a namespace of the cluster's name.
            let content = text.replacen(&own, "\n", 1);
            let known = || contents.lock().unwrap_or_else(PoisonError::into_inner);
            let found = known().get(&content).cloned();
            Ok(Some(found.unwrap_or_else(|| {
                let read = Arc::new(shipped(&text));
                // Another thread may have been faster. All must have the same one, because `contents` compares
                // addresses.
                Arc::clone(known().entry(content).or_insert(read))
            })))
        });
        let read = paths.iter().map(|path| path.as_ref().to_owned()).zip(read);
        let read = read.map(|(path, work)| Ok((path, work?)));
        read.collect::<Result<_, OutputError>>().map(Self)
    }

    /// The works in a directory of the tree.
    fn in_directory(&self, directory: &str) -> impl Iterator<Item = (&str, Option<&Shipped>)> {
        // With the slash, because `eu-1` is also how `eu-10` begins.
        let before = format!("{directory}/");
        let works = self.0.range(before.clone()..);
        let works = works.take_while(move |(path, _)| path.starts_with(&before));
        works.map(|(path, work)| (path.as_str(), work.as_deref()))
    }

    /// Each content once, with the directories that have it: clusters, or that of sets.
    pub(super) fn contents(&self) -> Vec<(&Shipped, BTreeSet<&str>)> {
        let mut contents: HashMap<*const Shipped, usize> = HashMap::new();
        let mut all: Vec<(&Shipped, BTreeSet<&str>)> = Vec::new();
        for (path, work) in &self.0 {
            let (Some(work), Some((directory, _))) = (work, path.split_once('/')) else {
                continue;
            };
            let position = *contents.entry(Arc::as_ptr(work)).or_insert(all.len());
            match all.get_mut(position) {
                Some((_, directories)) => drop(directories.insert(directory)),
                None => all.push((work, BTreeSet::from([directory]))),
            }
        }
        all
    }
}

impl<'a> Replaced<'a> {
    /// The earlier works of a cluster, and the sets that reached it, by path; `None` for one that stays as it is.
    pub(super) fn on_cluster(&self, cluster: &str) -> impl Iterator<Item = (&'a str, Option<&'a Shipped>)> {
        let sets = self.earlier.in_directory(REPLICA_SETS);
        let sets = sets.filter(|(_, set)| set.is_none_or(|set| self.may_reach(set, cluster)));
        self.earlier.in_directory(cluster).chain(sets)
    }

    /// Whether a cluster got a set. Which clusters a Placement selected is nowhere in the files: those that it selects
    /// now count. If no Gateway of ours goes by it any more, it may have been any cluster.
    fn may_reach(&self, set: &Shipped, cluster: &str) -> bool {
        let by_placement = |(namespace, name): &(String, String)| {
            let gateways = self.gateways.rows().iter();
            let placed = gateways.filter(|placed| {
                placed.gateway.placement.as_deref() == Some(name)
                    && placed.gateway.object.namespace_or_empty() == namespace
            });
            let mut placed = placed.peekable();
            placed.peek().is_none()
                || placed.any(|placed| placed.clusters.iter().any(|there| there == cluster))
        };
        set.placements.iter().any(by_placement)
    }
}

/// Reads a work or a set; what is neither shipped nothing.
pub(super) fn shipped(work: &str) -> Shipped {
    let Ok(value) = kube_yaml::read_document(work, &kube_yaml::Limits::default()) else {
        return Shipped::default();
    };
    let namespace = text(&value, "/metadata/namespace");
    let placements = list(&value, "/spec/placementRefs").iter();
    let annotations = value.pointer("/metadata/annotations");
    let parent = annotations.and_then(|annotations| annotations.get(PARENT_ANNOTATION)?.as_str());
    let mut read = Shipped {
        placements: placements
            .map(|reference| (namespace.to_owned(), text(reference, "/name").to_owned()))
            .collect(),
        parent: parent.map(str::to_owned),
        // All manifests of a work have one strategy.
        server_side: text(&value, "/spec/manifestConfigs/0/updateStrategy/type") == "ServerSideApply",
        ..Shipped::default()
    };
    let of_work = list(&value, "/spec/workload/manifests");
    let of_set = list(&value, "/spec/manifestWorkTemplate/workload/manifests");
    let rights = [of_work, of_set].into_iter().filter_map(deletable);
    read.rights = rights.flatten().collect();
    for manifest in of_work.iter().chain(of_set) {
        let [group, kind, namespace, name] = manifest_names(manifest);
        let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        read.objects.push(ShippedObject {
            identity: Identity::new(group, kind, namespace, name),
            value: manifest.clone(),
        });
    }
    read
}

/// The objects of the hub that earlier works contain and that no work of the plan is made from, in the order of the hub.
pub(crate) fn withdrawn<'a>(plan: &Plan, hub: &'a Hub, earlier: &EarlierWorks) -> Vec<&'a Object> {
    let made_from: HashSet<&Origin> = plan.manifests().flat_map(|manifest| &manifest.origins).collect();
    let mut left: HashMap<Identity, &Object> = HashMap::new();
    for object in &hub.objects {
        // Namespaces come and go with what is in them.
        if made_from.contains(&object.origin) || (object.kind == "Namespace" && object.namespace.is_none()) {
            continue;
        }
        // Gateways, and the policies that go with them, are in the downstream namespace
        // (docs/systems/mgc.md#downstream-gateway); routes stay in their own.
        let mut identity = object.identity();
        // Routes keep their namespace on the clusters, and a policy may be beside one or follow its Gateway.
        left.insert(identity.clone(), object);
        if let Some(namespace) = &mut identity.namespace {
            namespace.insert_str(0, NAMESPACE_PREFIX);
            left.entry(identity).or_insert(object);
        }
    }
    let earlier = earlier.contents().into_iter();
    let earlier = earlier.flat_map(|(work, _)| &work.objects);
    let mut objects: Vec<&Object> = earlier
        .filter_map(|object| left.get(&object.identity).copied())
        .collect();
    objects.sort_by_key(|object| object.identity());
    objects.dedup_by_key(|object| object.identity());
    objects
}

/// The clusters, Gateways, and policies that earlier works are for, or contain, and that the plan has nowhere, in a line.
pub(crate) fn leaving(plan: &Plan, earlier: &EarlierWorks) -> Option<String> {
    let planned: HashSet<Identity> = plan.manifests().map(ManifestSummary::identity).collect();
    let gateway = GroupKind::new(GATEWAY_GROUP, "Gateway");
    let (mut clusters, mut objects) = (BTreeSet::new(), BTreeSet::new());
    for (work, directories) in earlier.contents() {
        // `_hub` and `_replica-sets` are the directories of no cluster.
        let leaves = |name: &&str| !name.starts_with('_') && !plan.clusters.contains_key(*name);
        clusters.extend(
            directories
                .into_iter()
                .filter(leaves)
                .map(|name| format!("cluster {name}")),
        );
        for ShippedObject { identity, value } in &work.objects {
            let is_named = identity.group_kind == gateway || is_synced_policy(value);
            objects.extend((is_named && !planned.contains(identity)).then(|| identity.to_string()));
        }
    }
    let all = [clusters, objects].into_iter().filter(|names| !names.is_empty());
    let all: Vec<String> = all.map(|names| first_names(names, MOST_NAMES)).collect();
    (!all.is_empty()).then(|| format!("leaving the tree: {}", all.join("; ")))
}

/// What leaves one work on the clusters.
#[derive(Debug, Default)]
struct Leaving<'p> {
    /// Each object, as the clusters name it, with the work that it comes to, and whether it is a policy.
    objects: BTreeMap<(String, String), bool>,
    origin: Option<&'p Origin>,
    clusters: BTreeSet<&'p str>,
}

/// One finding for each work that objects leave for another one.
pub(crate) fn moved(plan: &Plan, replaced: &Replaced<'_>) -> Vec<Finding> {
    let clusters: Vec<&String> = plan.clusters.keys().collect();
    let moved = parallel::map(&clusters, |cluster| moved_on(cluster, plan, replaced));
    let mut all: BTreeMap<String, Leaving<'_>> = BTreeMap::new();
    for (cluster, moved) in clusters.into_iter().zip(moved) {
        for object in moved {
            let leaving = all.entry(object.from).or_default();
            leaving.objects.insert((object.name, object.to), object.is_policy);
            leaving.origin = leaving.origin.or(object.origin);
            leaving.clusters.insert(cluster);
        }
    }
    all.iter().map(moved_finding).collect()
}

fn moved_finding((work, leaving): (&String, &Leaving<'_>)) -> Finding {
    let place = leaving.origin;
    let place = place.map_or(Place::Run, |origin| origin.place("/metadata/name", Part::Value));
    let objects = leaving.objects.len();
    let leave = one_or_many(objects, "leaves", "leave");
    let them = one_or_many(objects, "it", "them");
    let agents = one_or_many(leaving.clusters.len(), "agent", "agents");
    let sentence = format!(
        "{} {leave} the work `{work}` for another one on {}: the {agents} there may delete and recreate {them}",
        counted(objects, "object"),
        first_names(&leaving.clusters, MOST_NAMES),
    );
    let listed = leaving.objects.iter().take(MOST_NAMES);
    let listed = listed.map(|((object, to), is_policy)| {
        let meanwhile = ", and has no effect meanwhile";
        let effect = if *is_policy { meanwhile } else { "" };
        format!("{object} comes to `{to}`{effect}")
    });
    let more = and_more(objects.saturating_sub(MOST_NAMES), "object");
    let finding = Finding::new(Code::OBJECT_MOVED, place, sentence).help(
        "set `workPer: Both` in the parameters first, apply that, and change the rest when `status --works` says that every \
         work is applied",
    );
    listed.chain(more).fold(finding, Finding::note)
}

/// An object that leaves a work, or a set, of a cluster for another one.
struct Moved<'p> {
    name: String,
    from: String,
    to: String,
    is_policy: bool,
    origin: Option<&'p Origin>,
}

/// What leaves the works, or sets, of one cluster for others.
fn moved_on<'p>(cluster: &str, plan: &'p Plan, replaced: &Replaced<'_>) -> Vec<Moved<'p>> {
    let mut before: BTreeMap<&Identity, (Vec<String>, bool)> = BTreeMap::new();
    let mut unchanged: BTreeSet<String> = BTreeSet::new();
    for (path, work) in replaced.on_cluster(cluster) {
        let name = name(path);
        unchanged.extend(work.is_none().then(|| name.clone()));
        for object in work.iter().flat_map(|work| &work.objects) {
            let (works, _) = before
                .entry(&object.identity)
                .or_insert_with(|| (Vec::new(), is_synced_policy(&object.value)));
            works.push(name.clone());
        }
    }
    // Most clusters keep all of their works, and nothing moves there.
    if before.is_empty() {
        return Vec::new();
    }
    let mut now: BTreeMap<Identity, Vec<(String, &ManifestSummary)>> = BTreeMap::new();
    for (name, manifests) in planned_on(cluster, plan) {
        // A Namespace stays where it is: no agent deletes it.
        for manifest in manifests.iter().filter(|manifest| !manifest.namespace.is_empty()) {
            let works = now.entry(manifest.identity()).or_default();
            works.push((name.clone(), manifest));
        }
    }
    let moved = now.into_iter().filter_map(|(object, works)| {
        let (earlier, is_policy) = before.get(&object)?;
        // A work that had it already keeps it in place.
        let is_kept = |(work, _): &(String, _)| earlier.contains(work) || unchanged.contains(work);
        let (to, manifest) = works.first().filter(|_| !works.iter().any(is_kept))?;
        Some(Moved {
            name: object.to_string(),
            from: earlier.first()?.clone(),
            to: to.clone(),
            is_policy: *is_policy,
            origin: manifest.origins.first(),
        })
    });
    moved.collect()
}

/// The works that a cluster will have, or the sets that its works will be made from.
fn planned_on<'p>(cluster: &str, plan: &'p Plan) -> Vec<(String, &'p [ManifestSummary])> {
    if let Some(sets) = &plan.replica_sets {
        let sets = sets
            .iter()
            .filter(|set| set.clusters.iter().any(|placed| placed == cluster));
        let sets = sets.map(|set| (format!("{}/{}", set.namespace, set.name), &*set.manifests));
        return sets.collect();
    }
    let works = plan.works_of(cluster);
    works.map(|work| (work.name.clone(), &*work.manifests)).collect()
}

/// The name of a work, or the namespace and name of a set, from its path.
fn name(path: &str) -> String {
    let path = path.strip_suffix(".yaml").unwrap_or(path);
    path.split_once('/').map_or(path, |(_, name)| name).to_owned()
}

/// The objects of one class that would stay behind.
#[derive(Debug, Default)]
struct Left<'a> {
    rights: Rights,
    clusters: BTreeSet<&'a str>,
    objects: BTreeSet<String>,
}

/// Rights of clusters that would go before the objects that they are for: one finding for each class.
pub(crate) fn narrowed(plan: &Plan, replaced: &Replaced<'_>) -> Vec<Finding> {
    let clusters = plan.clusters.iter().filter(|(_, works)| !works.is_empty());
    let clusters: Vec<_> = clusters.map(|(cluster, _)| cluster).collect();
    let of_clusters = parallel::map(&clusters, |cluster| replaced.left_on(cluster, plan));
    let mut left: BTreeMap<&str, Left<'_>> = BTreeMap::new();
    for (cluster, objects) in clusters.into_iter().zip(of_clusters) {
        for (class, object, rights) in objects {
            let left = left.entry(class).or_default();
            left.rights.extend(rights);
            left.clusters.insert(cluster);
            left.objects.insert(object);
        }
    }
    let classes = &replaced.ours.classes;
    let findings = left.iter().filter_map(|(class, left)| {
        let class = classes.get(*class)?.class.object;
        Some(replaced.finding(class, left))
    });
    findings.collect()
}

impl<'a> Replaced<'a> {
    /// The objects that would stay behind on a cluster, each with its class and the rights that it lacks.
    fn left_on(&self, cluster: &str, plan: &Plan) -> Vec<(&'a str, String, Rights)> {
        let works = || self.on_cluster(cluster).filter_map(|(_, work)| work);
        let mut rights: Rights = works().flat_map(|work| work.rights.iter().cloned()).collect();
        // The stock agent may write Namespaces, Secrets, and RBAC without us
        // (docs/systems/ocm-work.md#the-agents-rights).
        rights.retain(|right| !plan.grants(cluster, right) && !rbac::is_agents_own(&right.0, &right.1));
        if rights.is_empty() {
            return Vec::new();
        }
        let objects = works().flat_map(|work| work.objects.iter().map(move |object| (work, object)));
        let left = objects.filter_map(|(work, object)| {
            let needed = Some(self.rights_for(object, &rights)).filter(|needed| !needed.is_empty())?;
            Some((self.class(cluster, work)?, object.identity.to_string(), needed))
        });
        left.collect()
    }

    /// Which of these rights an object is deleted by. The definition of its kind may have left the hub as well: then
    /// each resource of its group that is not another kind's may be the one.
    fn rights_for(&self, object: &ShippedObject, rights: &Rights) -> Rights {
        let kinds = &self.hub.kinds;
        let GroupKind { group, kind } = &object.identity.group_kind;
        let is_its = |(of, resource): &&(String, String)| {
            of == group
                && match kinds.kind(group, kind) {
                    Some(info) => info.plural == resource.as_str(),
                    None => kinds.plural(group, resource).is_none(),
                }
        };
        rights.iter().filter(is_its).cloned().collect()
    }

    /// The class whose parameters can keep the right: that of the Gateway that a work was made for, or else the first
    /// one that has a Gateway on the cluster.
    fn class(&self, cluster: &str, work: &Shipped) -> Option<&'a str> {
        let there = self.gateways.rows().iter();
        let there = there.filter(|placed| placed.clusters.iter().any(|placed| placed == cluster));
        let is_other = |gateway: &Object| Some(gateway.key()) != work.parent;
        let classes = there.map(|placed| {
            let gateway = placed.gateway;
            (is_other(gateway.object), &*gateway.view().class_name)
        });
        classes.min().map(|(_, class)| class)
    }

    fn finding(&self, class: &Object, left: &Left<'_>) -> Finding {
        let resources = left
            .rights
            .iter()
            .map(|(group, resource)| dotted(group, resource));
        let message = format!(
            "GatewayClass {}: the work {} of {} would lose the right to delete {}, and {} would remain there",
            class.name,
            one_or_many(left.clusters.len(), "agent", "agents"),
            first_names(&left.clusters, MOST_NAMES),
            first_names(resources, MOST_NAMES),
            counted(left.objects.len(), "object"),
        );
        let place = params_place(self.hub, class);
        let is_json = place.as_ref().is_some_and(|place| place.is_json);
        let entries = left.rights.iter().map(|(group, resource)| {
            if is_json {
                kube_json::json!({"group": group, "resource": resource}).to_string()
            } else {
                format!("{{group: {}, resource: {}}}", scalar(group), scalar(resource))
            }
        });
        let entries = entries.collect::<Vec<_>>().join(", ");
        let key = if is_json {
            "\"retainedResources\""
        } else {
            "retainedResources"
        };
        let (place, help) = match place {
            Some(ParamsPlace { place, .. }) => {
                (place, format!("add `{key}: [{entries}]` to these parameters"))
            }
            None => {
                let help =
                    format!("give the class parameters, `spec.parametersRef`, with `{key}: [{entries}]`");
                (class.place("/spec"), help)
            }
        };
        Finding::new(Code::RBAC_NARROWED, place, message)
            .label("no longer listed here")
            .note(format!("leaving: {}", first_items(&left.objects, MOST_NAMES)))
            .help(format!(
                "{help}, and remove it again when the clusters have deleted them"
            ))
    }
}

/// An update that is refused, the main origin of the object, and the clusters.
type Refused<'a> = ((Identity, Refusal), (Option<&'a Origin>, BTreeSet<&'a str>));

/// One finding for each rule that refuses the update of an object.
pub(crate) fn refused<'a>(plan: &'a Plan, replaced: &'a Replaced<'_>) -> Vec<Finding> {
    let hub = replaced.hub;
    // The works that have an object whose update a rule may refuse.
    let mut places: BTreeMap<Identity, Vec<(WorkId, Option<&Origin>)>> = BTreeMap::new();
    for (id, work) in plan.works.iter() {
        for summary in &work.manifests {
            let identity = summary.identity();
            if !hub.update_rules(&identity.group_kind, true).is_empty() {
                let places = places.entry(identity).or_default();
                places.push((id, summary.origins.first()));
            }
        }
    }
    let (new, spent) = (plan.works.map(|_| OnceLock::new()), Work::default());
    let of_work = |(old, clusters): &(&'a Shipped, BTreeSet<&'a str>)| {
        let mut clusters = clusters.clone();
        if clusters.remove(REPLICA_SETS) {
            let all = plan.clusters.keys().map(String::as_str);
            clusters.extend(all.filter(|cluster| replaced.may_reach(old, cluster)));
        }
        let mut found: Vec<Refused<'_>> = Vec::new();
        for before in &old.objects {
            for (id, origin) in places.get(&before.identity).into_iter().flatten() {
                let mut clusters = clusters.clone();
                clusters.retain(|name| plan.clusters.get(*name).is_some_and(|works| works.contains(id)));
                let new = new.get(*id).get_or_init(|| {
                    let (before, after) = plan.works.get(*id).text.halves();
                    // Any name will do: no manifest contains that of its cluster.
                    shipped(&[before, "x", after].concat())
                });
                let after = new.objects.iter().find(|after| after.identity == before.identity);
                let Some(after) = after.filter(|after| !clusters.is_empty() && after.value != before.value)
                else {
                    continue;
                };
                let after_version = ApiVersion::parse(text(&after.value, "/apiVersion")).version;
                for (version, rules) in hub.update_rules(&before.identity.group_kind, new.server_side) {
                    if version.is_none_or(|version| *version == *after_version) {
                        let refusals = refusals(rules, &before.value, &after.value, &spent).into_iter();
                        let refused =
                            |refusal| ((before.identity.clone(), refusal), (*origin, clusters.clone()));
                        found.extend(refusals.map(refused));
                    }
                }
            }
        }
        found
    };
    let found = parallel::map(&replaced.earlier.contents(), of_work);
    let mut all = BTreeMap::new();
    for (refused, (origin, clusters)) in found.into_iter().flatten() {
        let (_, all) = all.entry(refused).or_insert((origin, BTreeSet::new()));
        all.extend(clusters);
    }
    let definitions = hub.objects.of_kind(crd::GROUP, crd::KIND);
    match definitions.first().filter(|_| spent.is_spent()) {
        Some(definition) => vec![crd::too_much_work(definition)],
        None => all.into_iter().map(refused_finding).collect(),
    }
}

fn refused_finding(((object, refusal), (origin, clusters)): Refused<'_>) -> Finding {
    let place = origin.map_or(Place::Run, |origin| origin.place(&refusal.pointer, Part::Value));
    let (clusters, why) = (first_names(&clusters, MOST_NAMES), refusal.message);
    let message = format!("{object}: {clusters} would refuse the whole update: {why}");
    let mut finding = Finding::new(Code::OBJECT_UPDATE_REFUSED, place, message).help(
        "keep the old value; or give the object another name; or remove it in this commit, and add it in a later one when \
         the clusters have deleted it",
    );
    finding.notes = refusal.changes.into_iter().map(Text::from).collect();
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_works_of_a_directory_are_those_below_it_and_not_those_of_a_longer_name() {
        let paths = [
            "eu-1-b/a.yaml",
            "eu-1/a.yaml",
            "eu-1/b.yaml",
            "eu-10/a.yaml",
            "kustomization.yaml",
        ];
        let earlier = EarlierWorks::read(&paths.map(Cow::from), |_| Ok(None)).unwrap();
        let found = |directory: &str| {
            let works = earlier.in_directory(directory);
            works.map(|(path, _)| path).collect::<Vec<_>>()
        };
        assert_eq!(found("eu-1"), ["eu-1/a.yaml", "eu-1/b.yaml"]);
        assert_eq!(found("eu-1-b"), ["eu-1-b/a.yaml"]);
        assert_eq!(found("eu"), Vec::<&str>::new());
    }
}
