//! The statuses of hub objects, predicted as their controllers would write them once every work is applied, or aggregated
//! from what clusters report: data in reports, never part of a ManifestWork.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::{Identity, Work};
use kube_json::{Value, json};
use schemars::JsonSchema;
use serde::Serialize;

use super::policies::{NamedCondition, OnCluster, by_condition, policies};
use super::policy_view::{ClusterLists, PolicyView, Seen};
use crate::api::condition::Condition;
use crate::api::gateway::{GROUP, Gateway};
use crate::api::params::InvalidParameters;
use crate::api::route::is_reference_to_routes;
use crate::diagnostic::{Code, Finding, Findings, Place, first_names};
use crate::hub::{Objects, OurClass, OurGateway, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::object::well_known::{PLACEMENT_LABEL, PLACEMENT_LABEL_POINTER};
use crate::policy::{AncestorStatus, affecting};
use crate::topology::{GatewayId, Node, Refusal, RouteId, Topology};

/// The reports of MGC about a Gateway that is not placed, or not everywhere (docs/systems/mgc.md#gateway-conditions).
pub const UNKNOWN: &str = "current state of the gateway is unknown";

/// Everything that statuses are predicted from.
#[derive(Debug, Clone, Copy)]
pub struct Prediction<'p, 'a> {
    /// The hub's objects.
    pub objects: &'p Objects,
    /// Our classes and Gateways.
    pub ours: &'p Ours<'a>,
    /// The clusters of each Gateway, in the order of [`Ours::gateways`].
    pub clusters: &'p Table<OurGatewayId, Arc<[String]>>,
    /// Gateways, by the same order, whose placement is not in the input.
    pub not_found: &'p BTreeSet<OurGatewayId>,
    /// The policies.
    pub view: &'p PolicyView<'p>,
}

/// Which policies affect a target, by what it is called: its group, its locator, the kind of the policies.
type Affecting<'v> = BTreeMap<(StatusGroup, String), AffectingThere<'v>>;

/// What affects a target.
#[derive(Default)]
struct AffectingThere<'v> {
    /// By kind of policy (group and kind).
    kinds: BTreeMap<(String, String), AffectingKind<'v>>,
    /// Whether the object has no conditions that could report it.
    without_conditions: bool,
    /// The Gateways that lead to it, by `namespace/name`; `None`: one that lives on clusters.
    gateways: BTreeSet<Option<String>>,
}

/// The policies of one kind that affect a target.
#[derive(Default)]
struct AffectingKind<'v> {
    /// By locator.
    policies: BTreeMap<String, &'v Object>,
    /// The clusters that are alike, with the policies there by `namespace/name`.
    there: Vec<(&'v [String], BTreeSet<String>)>,
}

/// The work for a policy that the status of a target names: a thousand routes below a Gateway with a thousand policies are
/// a million.
const STEPS_PER_POLICY: u64 = 150;

impl Prediction<'_, '_> {
    /// The statuses: GatewayClasses, Gateways with their listeners, routes with their rules, other targets, policies;
    /// in each group by locator. Not if they would name too many policies.
    ///
    /// # Errors
    ///
    /// The finding that says so.
    pub fn statuses(&self) -> Result<Vec<ObjectStatus>, Box<Finding>> {
        let mut targets: BTreeMap<(StatusGroup, String), ObjectStatus> = BTreeMap::new();
        let classes = self.ours.classes.values().map(|class| ObjectStatus {
            extension_kinds: extension_kinds(class),
            ..class_status(class)
        });
        for status in classes.chain(self.gateways()).chain(self.routes()) {
            targets.insert((status.group, status.object.clone()), status);
        }
        let affecting = self.affecting().ok_or_else(|| {
            let stage = "naming the policies that affect each target";
            let finding = Finding::too_costly(stage, Place::Run, "no status is reported")
                .note("a route is affected by the policies that target it or its Gateways")
                .help(
                    "ask about one object (`spokewright explain KIND/NAMESPACE/NAME`), or about one cluster (`spokewright policies \
                     --cluster NAME`)",
                );
            Box::new(finding)
        })?;
        affect(affecting, self.view, &mut targets);
        Ok(targets.into_values().chain(self.policies()).collect())
    }

    /// Our Gateways, those of a class with unusable parameters included
    /// (docs/systems/mgc.md#gateway-conditions).
    pub fn gateways(&self) -> Vec<ObjectStatus> {
        let ours = self.ours.gateways.iter().filter_map(|(id, ours)| {
            let class = self.ours.classes.get(&*ours.gateway.class_name)?;
            let (clusters, not_found) = (self.clusters.get(id), self.not_found.contains(&id));
            Some(gateway_status(&ours.gateway, class, clusters, not_found))
        });
        let all = self.objects.of_kind(GROUP, "Gateway").iter();
        let refused = all.filter_map(|object| {
            let class = object.root().get("spec").text("gatewayClassName")?;
            let refused = self.ours.classes.get(class)?.params.as_ref().err()?;
            let message = format!("Invalid parameters in gateway class: {refused}");
            Some(ObjectStatus {
                conditions: vec![Condition::new("Programmed", "False", "Pending", message)],
                ..ObjectStatus::new(object.identity().locator(), StatusGroup::Gateway)
            })
        });
        ours.chain(refused).collect()
    }

    /// The routes of synced kinds that go to spokes, or that our Gateways refuse. Their conditions are those on the
    /// clusters: no controller writes them on the hub.
    fn routes(&self) -> impl Iterator<Item = ObjectStatus> + '_ {
        let view = self.view;
        view.hub.topology.routes.iter().filter_map(|(number, route)| {
            let clusters = view.clusters_of_route(number);
            let kinds = &view.routes.kinds;
            let brings = |gateway| {
                let ours = kinds.gateway(gateway);
                ours.is_some_and(|ours| kinds.syncs_route(ours, route.object))
            };
            let conditions = route_conditions(view, number, brings);
            let is_refused = conditions.iter().any(|condition| condition.status == "False");
            (is_refused || !clusters.is_empty()).then(|| ObjectStatus {
                conditions,
                shipped_to: clusters.into_iter().map(str::to_owned).collect(),
                ..ObjectStatus::new(route.object.identity().locator(), StatusGroup::Route)
            })
        })
    }

    /// Which policies affect what, on any cluster; `None`: too many.
    fn affecting(&self) -> Option<Affecting<'_>> {
        let mut all = Affecting::new();
        let work = Work::default();
        for seen in self.view.seen() {
            let attachments = seen.attachments;
            let topology = &attachments.topology;
            for ((node, policies), authors) in affecting(attachments, seen.effective)? {
                let of_hub = seen.clusters.is_empty();
                // What is synced is told from the clusters; a Secret that a policy names may be anywhere.
                if of_hub && !matches!(node, Node::Backend(_) | Node::Port(..)) && !seen.is_on_a_path(node) {
                    continue;
                }
                let target = (group(seen, node), topology.locator(node));
                let there = all.entry(target).or_default();
                let kind = topology.identity(node).group_kind;
                // Core kinds whose status has no conditions, or that have no status.
                there.without_conditions =
                    kind.group.is_empty() && ["Secret", "ConfigMap"].contains(&kind.kind.as_str());
                let gateways = topology.gateways_of(node).into_iter();
                there.gateways.extend(gateways.map(|gateway| {
                    let gateway = topology.gateways.get(gateway);
                    (!gateway.local).then(|| gateway.known_as().key())
                }));
                let profile = &attachments.kinds.get(policies).profile;
                let key = (profile.group.clone(), profile.kind.clone());
                let known = there.kinds.entry(key).or_default();
                let mut names = BTreeSet::new();
                for author in authors {
                    let authored = attachments.authored(author);
                    names.insert(authored.object.key());
                    let locator = authored.locator.to_string();
                    let before = known.policies.insert(locator, authored.object);
                    if !work.pay(usize::from(before.is_none()), STEPS_PER_POLICY) {
                        return None;
                    }
                }
                known.there.push((seen.clusters, names));
            }
        }
        Some(all)
    }

    fn policies(&self) -> Vec<ObjectStatus> {
        let statuses = policies(self.view).into_iter().map(|(_, entry)| {
            let lives_on = entry.clusters.iter().filter(|_| entry.local);
            ObjectStatus {
                lives_on: lives_on.map(ToString::to_string).collect(),
                conditions: entry.conditions,
                ancestors: entry.ancestors,
                on_clusters: entry.on_clusters,
                ..ObjectStatus::new(entry.policy, StatusGroup::Policy)
            }
        });
        let mut statuses: Vec<ObjectStatus> = statuses.collect();
        statuses.sort_by(|a, b| a.object.cmp(&b.object));
        statuses
    }
}

impl AffectingThere<'_> {
    /// On how many clusters the target is; `None`: nothing says so.
    fn clusters<'v>(&self, view: &'v PolicyView<'_>, lists: &mut ClusterLists<'v>) -> Option<usize> {
        let gateways = self.gateways.iter();
        let of_gateways = gateways.map(|gateway| Some(view.clusters_of(gateway.as_deref()?)));
        let mut all: Vec<&[String]> = of_gateways.collect::<Option<_>>()?;
        if all.is_empty() {
            // It may be wherever anything is.
            all.extend(view.spokes.iter().map(|spoke| spoke.clusters));
        }
        Some(lists.joined(&all).len())
    }
}

impl AffectingKind<'_> {
    /// The condition on each cluster, unless all `clusters` of the target have the same.
    fn on_clusters(
        &self,
        clusters: Option<usize>,
        affected: impl Fn(&BTreeSet<String>) -> Condition,
    ) -> Vec<OnCluster> {
        let there = || self.there.iter().filter(|(clusters, _)| !clusters.is_empty());
        let count = there().map(|(clusters, _)| clusters.len()).sum();
        let first = there().next().map(|(_, names)| names);
        if clusters == Some(count) && there().all(|(_, names)| Some(names) == first) {
            return Vec::new();
        }
        let mut on_clusters: Vec<OnCluster> = Vec::new();
        for (clusters, names) in there() {
            let condition = Arc::new(affected(names));
            let clusters = clusters.iter();
            on_clusters.extend(clusters.map(|cluster| OnCluster::new(cluster, Arc::clone(&condition))));
        }
        on_clusters.sort_by(|one, other| one.cluster.cmp(&other.cluster));
        on_clusters
    }
}

/// Adds to every target the conditions `<Kind>Affected` and the stanza `effectivePolicy`; to an object that has no
/// conditions, the annotation that stands for them (docs/systems/gep-713.md#affected-conditions).
fn affect(
    all: Affecting<'_>,
    view: &PolicyView<'_>,
    targets: &mut BTreeMap<(StatusGroup, String), ObjectStatus>,
) {
    let mut lists = ClusterLists::default();
    for ((group, locator), affecting) in all {
        let status = targets
            .entry((group, locator.clone()))
            .or_insert_with(|| ObjectStatus::new(locator, group));
        let clusters = affecting.clusters(view, &mut lists);
        for ((policy_group, kind), affecting_kind) in &affecting.kinds {
            let objects = affecting_kind.policies.values();
            let references = objects.clone().map(|object| reference(object));
            status.effective_policy.extend(references);
            let affected = format!("{policy_group}/{kind}Affected");
            if affecting.without_conditions {
                status.annotations.insert(affected, "true".to_owned());
                continue;
            }
            let affected_by = |names: &BTreeSet<String>| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let message = format!("Object affected by {kind} [{}]", names.join(" "));
                Condition::new(&affected, "True", "Accepted", message)
            };
            let everywhere = affected_by(&objects.map(|object| object.key()).collect());
            status.conditions.push(everywhere);
            let on_clusters = affecting_kind.on_clusters(clusters, affected_by);
            status.on_clusters.extend(on_clusters);
        }
    }
}

fn group(seen: Seen<'_>, node: Node) -> StatusGroup {
    let topology = &seen.attachments.topology;
    let is_route = || {
        let kind = topology.identity(node).group_kind;
        topology.is_route(&kind.group, &kind.kind)
    };
    match node {
        Node::Class(_) => StatusGroup::GatewayClass,
        Node::Gateway(_) | Node::Listener(..) => StatusGroup::Gateway,
        Node::Route(_) | Node::Rule(..) => StatusGroup::Route,
        // A route can be another route's backend, and is a route all the same.
        Node::Backend(_) | Node::Port(..) if is_route() => StatusGroup::Route,
        Node::Mesh(_) | Node::Namespace(_) | Node::ListenerSet(_) | Node::Backend(_) | Node::Port(..) => {
            StatusGroup::Other
        }
    }
}

/// An entry of `status.effectivePolicy` (docs/systems/gep-713.md#what-the-earlier-text-had).
pub fn reference(object: &Object) -> Value {
    json!({
        "name": object.name,
        "namespace": object.namespace,
        "apiGroup": object.api_version.group,
        "kind": object.kind,
    })
}

/// The policy kinds that a class syncs, for the list of extension kinds in its status
/// (docs/systems/gep-713.md#what-the-earlier-text-had): `Kind.group`, sorted.
fn extension_kinds(class: &OurClass<'_>) -> Vec<String> {
    let params = class.params.as_ref().into_iter();
    let resources = params.flat_map(|params| &params.policies_to_sync);
    let kinds = resources.map(|resource| resource.group_kind().to_string());
    kinds.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The condition Accepted of a GatewayClass (docs/systems/mgc.md#gatewayclass-status).
pub fn class_status(class: &OurClass<'_>) -> ObjectStatus {
    let accepted = match &class.params {
        Ok(_) => handled(class),
        Err(failure) => {
            let (kind, reason) = (InvalidParameters::CONDITION, InvalidParameters::REASON);
            Condition::new(kind, "False", reason, failure.to_string())
        }
    };
    ObjectStatus {
        conditions: vec![accepted],
        ..ObjectStatus::new(class.class.object.identity().locator(), StatusGroup::GatewayClass)
    }
}

/// What MGC says of a class and a Gateway that it takes care of.
pub fn handled(class: &OurClass<'_>) -> Condition {
    let message = InvalidParameters::accepted_message(&class.class.controller_name);
    Condition::new("Accepted", "True", "Accepted", message)
}

/// The conditions of a Gateway of ours, as MGC writes them once every work is applied
/// (docs/systems/mgc.md#gateway-conditions).
fn gateway_status(
    gateway: &Gateway<'_>,
    class: &OurClass<'_>,
    clusters: &[String],
    not_found: bool,
) -> ObjectStatus {
    let programmed = if gateway.listeners.is_empty() {
        no_listeners()
    } else if clusters.is_empty() {
        let placement = gateway.placement.as_deref().filter(|_| not_found);
        let because = placement.map(placement_not_found).unwrap_or_default();
        let message = format!("{UNKNOWN}{because}");
        Condition::new("Programmed", "Unknown", "Pending", message)
    } else {
        programmed_on(clusters)
    };
    ObjectStatus {
        conditions: vec![handled(class), programmed],
        ..ObjectStatus::new(gateway.object.identity().locator(), StatusGroup::Gateway)
    }
}

/// Programmed, everywhere.
pub fn programmed_on(clusters: &[String]) -> Condition {
    let message = format!("gateway placed on clusters [{}]", clusters.join(" "));
    Condition::new("Programmed", "True", "Programmed", message)
}

/// A Gateway without listeners cannot be placed.
pub fn no_listeners() -> Condition {
    let message = "gateway failed to be placed on all clusters []".to_owned();
    Condition::new("Programmed", "False", "Invalid", message)
}

/// What MGC appends when nothing decides a placement (docs/systems/mgc.md#placing-a-gateway).
fn placement_not_found(name: &str) -> String {
    format!(
        " error: failed to place gateway : no PlacementDecisions found for placement {name} via label selector: \
         map[{PLACEMENT_LABEL}:{name}] error: PlacementDecision \"{name}\" not found"
    )
}

/// The Gateways for which `findings` report that nothing decides their placement.
pub fn placements_not_found(ours: &Ours<'_>, findings: &Findings) -> BTreeSet<OurGatewayId> {
    let missing = findings.iter();
    let missing = missing.filter(|finding| finding.code == Code::PLACEMENT_NOT_FOUND);
    let places: BTreeSet<&Place> = missing.map(|finding| &finding.place).collect();
    let gateways = ours.gateways.iter();
    let place = |ours: &OurGateway<'_>| ours.gateway.object.place(PLACEMENT_LABEL_POINTER);
    let not_found = gateways.filter(|(_, ours)| places.contains(&place(ours)));
    not_found.map(|(id, _)| id).collect()
}

/// So many clusters are named in a message.
const MOST_CLUSTERS: usize = 5;

/// What is wrong, by reason and message, with the clusters; none of them: wherever the route goes.
type Problems<'v> = BTreeMap<(&'static str, String), BTreeSet<&'v str>>;

/// The conditions of a route of the hub; none if nothing is known of it on any cluster, and its parents accept it.
/// `is_ours` tells which Gateways would bring it there.
///
/// A controller reports them for each parent. Here a route has one of each, which is False if it is for any parent on any
/// cluster, because then some of its traffic fails (docs/systems/gateway-api.md#attachment).
fn route_conditions(
    view: &PolicyView<'_>,
    route: RouteId,
    is_ours: impl Fn(GatewayId) -> bool,
) -> Vec<Condition> {
    let hub = &view.hub.topology;
    let identity = hub.identity(Node::Route(route));
    let (mut refused, mut unresolved) = (Problems::new(), Problems::new());
    let mut on = BTreeSet::new();
    for spoke in &view.spokes {
        let topology = &spoke.attachments.topology;
        for node in topology.find(&identity) {
            let Node::Route(copy) = node else { continue };
            let clusters = || spoke.clusters.iter().map(String::as_str);
            on.extend(clusters());
            for (_, why) in refusals(topology, copy) {
                refused.entry(why).or_default().extend(clusters());
            }
            for problem in unresolved_backends(topology, copy) {
                unresolved.entry(problem).or_default().extend(clusters());
            }
        }
    }
    // A parent that accepts the route nowhere is not shipped, and the namespace that a listener sees is that of the copy.
    for ((gateway, why), problem) in refusals(hub, route) {
        if is_ours(gateway) && (on.is_empty() || why != Refusal::Namespace) {
            refused.entry(problem).or_default();
        }
    }
    if on.is_empty() && refused.is_empty() {
        return Vec::new();
    }
    let accepted = route_condition(("Accepted", "its parents accept the route"), refused, &on);
    // Only a controller on a cluster resolves references.
    let resolved = || route_condition(("ResolvedRefs", "its backends are there"), unresolved, &on);
    let resolved = (!on.is_empty()).then(resolved);
    std::iter::once(accepted).chain(resolved).collect()
}

/// A Gateway that refuses a route, and the reason and the message.
type Refused = ((GatewayId, Refusal), (&'static str, String));

/// The Gateways that refuse a route.
fn refusals(topology: &Topology<'_>, route: RouteId) -> Vec<Refused> {
    let node = topology.routes.get(route);
    let own = node.object.namespace_or_empty();
    let parents = topology.parents_of(node.route);
    let refused = parents.iter().filter_map(|parent| {
        let (gateway, _) = topology.parent(own, parent).ok()?;
        let why = topology.listeners_for(node.route, parent, node.assumed).err()?;
        let who = topology.gateways.get(gateway).known_as().identity();
        Some(((gateway, why), (why.reason(), format!("{who} {}", why.text()))))
    });
    refused.collect()
}

/// The backends of a route that its controller cannot use.
fn unresolved_backends(topology: &Topology<'_>, route: RouteId) -> BTreeSet<(&'static str, String)> {
    let node = topology.routes.get(route);
    let own = node.object.namespace_or_empty();
    let rules = node.rules.iter().map(|rule| topology.rules.get(*rule));
    let permitted = rules.flat_map(|rule| &rule.backends).map(|backend| {
        let is_there = topology.backends.get(*backend).object.is_some();
        (topology.identity(Node::Backend(*backend)), is_there)
    });
    let permitted: BTreeMap<Identity, bool> = permitted.collect();
    let backends = node.route.rules.iter().flat_map(|rule| &rule.backends);
    let backends = backends.map(|backend| &backend.object);
    let backends = backends.filter(|backend| !is_reference_to_routes(&backend.group, &backend.kind));
    let unresolved = backends.filter_map(|backend| {
        let named = backend.identity(own);
        if !may_be_backend(&backend.group, &backend.kind) {
            return Some(("InvalidKind", format!("{named} cannot be a backend")));
        }
        match permitted.get(&named) {
            None => Some(("RefNotPermitted", format!("no ReferenceGrant permits {named}"))),
            Some(false) => {
                let message = format!("{named} is neither shipped nor known to live there");
                Some(("BackendNotFound", message))
            }
            Some(true) => None,
        }
    });
    unresolved.collect()
}

/// Whether some controller may forward to objects of a kind: of Kubernetes' own kinds to Services alone.
fn may_be_backend(group: &str, kind: &str) -> bool {
    (group, kind) == ("", "Service") || group.contains('.')
}

/// A condition, whose reason has its name if there are no problems.
fn route_condition(
    (kind, otherwise): (&str, &str),
    problems: Problems<'_>,
    on: &BTreeSet<&str>,
) -> Condition {
    let first = problems.first_key_value().map(|((reason, _), _)| *reason);
    let sentences = problems.into_iter().map(|((_, message), clusters)| {
        if clusters.is_empty() || clusters == *on {
            message
        } else {
            format!("{message} (on {})", first_names(clusters, MOST_CLUSTERS))
        }
    });
    let sentences = sentences.collect::<Vec<_>>().join("; ");
    let message = first.map_or_else(|| otherwise.to_owned(), |_| sentences);
    let status = if first.is_some() { "False" } else { "True" };
    Condition::new(kind, status, first.unwrap_or(kind), message)
}

/// The predicted status of one hub object, or of one section of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// Locator of the object, with `#section` for a listener, a rule, or a port.
    pub object: String,
    /// Where a report for people lists it.
    #[serde(skip)]
    pub group: StatusGroup,
    /// Its conditions, `<Kind>Affected` ones last.
    pub conditions: Vec<Condition>,
    /// `status.ancestors`, of policy kinds that have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<AncestorStatus>,
    /// Clusters where the status differs: because of what lives there, or because not all of them have the same.
    #[serde(serialize_with = "by_condition", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<NamedCondition<'static>>")]
    pub on_clusters: Vec<OnCluster>,
    /// `status.effectivePolicy` (docs/systems/gep-713.md#what-the-earlier-text-had): the policies that affect
    /// this target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effective_policy: Vec<Value>,
    /// For a route whose kind is synced: the clusters that it is shipped to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shipped_to: Vec<String>,
    /// For a policy that lives on clusters: those clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lives_on: Vec<String>,
    /// For a GatewayClass: the policy kinds that are in use, as `Kind.group`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extension_kinds: Vec<String>,
    /// For an object without conditions: annotations that report instead that a policy affects it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Aggregated, for a Gateway: the addresses on all clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Address>,
    /// Aggregated, for a Gateway: its listeners on all clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerOnCluster>,
    /// Aggregated: the values that the parameters ask for, by name, then by cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<FeedbackOnCluster>,
    /// Aggregated: values that clusters could not read, by cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownOnCluster>,
    /// Aggregated: the works that contain it, one or more for each cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<WorkOnCluster>,
}

impl ObjectStatus {
    /// A status that says nothing yet.
    pub fn new(object: String, group: StatusGroup) -> Self {
        Self {
            object,
            group,
            ..Self::default()
        }
    }
}

/// The groups in which a report for people lists objects, in their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatusGroup {
    /// GatewayClasses.
    GatewayClass,
    /// Gateways and their listeners.
    Gateway,
    /// Routes and their rules.
    Route,
    /// Namespaces, ListenerSets, backends.
    #[default]
    Other,
    /// Policies.
    Policy,
}

/// An address of a hub Gateway (docs/systems/mgc.md#status-aggregation).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Address {
    /// `kuadrant.io/MultiClusterIPAddress` or `kuadrant.io/MultiClusterHostnameAddress`.
    pub r#type: &'static str,
    /// `<cluster>/<value>`.
    pub value: String,
}

/// A listener of a hub Gateway on one cluster (docs/systems/mgc.md#status-aggregation).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerOnCluster {
    /// `<cluster>.<listener>`.
    pub name: String,
    /// Routes attached there.
    pub attached_routes: i64,
}

/// The ManifestWork that delivers an object to one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkOnCluster {
    /// The cluster.
    pub cluster: String,
    /// Name of the work.
    pub work: String,
    /// Its state.
    pub state: WorkState,
    /// Feedback that a status needs and that the cluster has not sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_reported: Vec<String>,
}

/// A value that the parameters ask for, as one cluster reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeedbackOnCluster {
    /// Its name.
    pub name: String,
    /// The cluster.
    pub cluster: String,
    /// The value as it was reported; raw JSON is parsed.
    pub value: Value,
    /// The value that the path finds in the object as it is shipped, if it finds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipped: Option<Value>,
}

/// A feedback value that a cluster could not read. It is unknown, not absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnknownOnCluster {
    /// Its name, if the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The cluster.
    pub cluster: String,
    /// The agent's message.
    pub message: String,
}

/// An object on a cluster that differs from its work, in the agent's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ManifestProblem {
    /// Kind; the plural if the kind is not known.
    pub kind: String,
    /// Namespace on the spoke, `""` for cluster-scoped kinds.
    pub namespace: String,
    /// Name on the spoke.
    pub name: String,
    /// The reason of the condition that says so.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Its message.
    pub message: String,
}

/// The state of a ManifestWork. The order is that of a report: a state that explains others comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum WorkState {
    /// It is planned, but not among the works that were given.
    Missing,
    /// It is being deleted.
    Deleting,
    /// Its spec differs from what is rendered now.
    Outdated,
    /// Its agent has not observed its newest generation yet.
    Unobserved,
    /// Another manager on the cluster owns fields that it sets by server-side apply.
    Conflict,
    /// Its condition Applied, or that of one of its manifests, is not True, or is not there yet.
    NotApplied,
    /// An object that is no longer in any work is still on the cluster.
    LeftBehind,
    /// It no longer grants the deletion of a kind that the parameters list.
    MayNotDelete,
    /// Its condition Available, or that of one of its manifests, is not True.
    Unavailable,
    /// It is applied, and some of the feedback that it asks for could not be read.
    Unread,
    /// It is applied as it is rendered now, and nothing is in the way.
    Applied,
    /// It exists for an object of the input, but the plan does not place it there.
    Stale,
    /// It exists, but nothing shows whether this input or another one rendered it.
    Unclaimed,
}

impl WorkState {
    /// Whether a gate stays closed: not where another input may have rendered the work.
    pub const fn is_in_the_way(self) -> bool {
        !matches!(self, Self::Applied | Self::Unclaimed)
    }
}
