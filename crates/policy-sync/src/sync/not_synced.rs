//! Policies that are not synced: of kinds that a class does not sync, of synced kinds on Gateways of another class, on
//! targets that stay on the hub or are unknown, on no path, and on Gateways that no cluster receives. Errors in policies
//! that only Gateways of other classes lead to are warnings.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::Field;
use apimachinery::pointer::inside;

use super::conflicts::PerReason;
use super::routes::{SyncedRoutes, set_of};
use super::synced_object::Syncing;
use crate::api::crd::Scope;
use crate::api::kinds::KindInfo;
use crate::api::targeting::TargetField;
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Severity, with_article};
use crate::hub::{OurGatewayId, params_place};
use crate::object::Object;
use crate::object::well_known::{PLACEMENT_LABEL, PLACEMENT_LABEL_POINTER};
use crate::policy::{Declared, Policy, Profile, Target, no_path};
use crate::topology::{GatewayId, Node, RouteId, RouteNode, Topology};

/// Reports each target with which a policy is not shipped, if a Gateway of ours leads to it or some class syncs the kind,
/// with all that is missing at once; unless that was reported where the target was looked for.
pub fn report_not_synced(syncing: Syncing<'_>, findings: &mut Findings) {
    let (attachments, routes) = (syncing.attachments, syncing.routes);
    let kinds = &routes.kinds;
    for (kind, known) in attachments.kinds.iter() {
        let profile = &known.profile;
        let gateways = kinds.gateways_with(kind);
        let gateways = gateways.map(|gateway| syncing.ours.gateways.get(gateway).gateway.view());
        for class in gateways
            .map(|gateway| &*gateway.class_name)
            .collect::<BTreeSet<_>>()
        {
            if profile.targeting.is_never_shipped() {
                findings.extend(syncing.never_shipped(profile, class));
            }
        }
    }
    // A kind that names no target, such as PeerAuthentication, ships as an object that is chosen.
    let is_unchosen = |policy: &&Policy<'_>| !policy.local && routes.chosen.get(policy.object).is_none();
    for policy in attachments.policies.rows().iter().filter(is_unchosen) {
        if kinds.any(policy.kind) && policy.object.label(PLACEMENT_LABEL).is_some() {
            // A policy goes where its targets go, whatever its label says.
            let message = format!(
                "the placement label of {} is ignored: a policy goes to the clusters of its targets",
                policy.object.identity()
            );
            let place = policy.object.place(PLACEMENT_LABEL_POINTER);
            findings.push(
                Finding::new(Code::POLICY_IGNORED_FIELD, place, message)
                    .label("only Gateways are placed by this label")
                    .help("remove the label; for other clusters, target a Gateway that is placed there"),
            );
        }
        let is_of_workloads = attachments.kinds.get(policy.kind).profile.of_workloads;
        if policy.targets.is_empty() && is_of_workloads && kinds.any(policy.kind) {
            findings.extend(selects_nothing(policy.object));
        }
        let mut said = PerReason::new();
        for declared in &policy.targets {
            let finding = match declared.target {
                Target::Attached(node) => syncing.why_not_synced(policy, declared, node),
                Target::Virtual => kinds.any(policy.kind).then(|| of_unknown_kind(policy, declared)),
                Target::Unresolved | Target::NotFound | Target::NotPermitted | Target::NotAllowed(_) => None,
            };
            if let Some(finding) = finding {
                let reason = (finding.help.clone(), finding.causes.clone());
                said.push(reason, finding);
            }
        }
        findings.extend(said.into_findings());
    }
    harden_misspelled_parents(syncing, findings);
}

/// A policy for workloads whose labels no pod of a Gateway has, nor one behind a Service of the input.
fn selects_nothing(policy: &Object) -> Option<Finding> {
    let selectors = ["/spec/selector/matchLabels", "/spec/workloadSelector/labels"];
    let mut selectors = selectors.into_iter();
    let selector = selectors.find(|pointer| policy.value.pointer(pointer).is_some())?;
    let what = "is not shipped: it selects nothing of the input";
    Some(
        policy
            .finding(Code::POLICY_NOT_SYNCED, selector, what)
            .label("no Gateway has these labels on its pods, and no Service selects by them")
            .help("select `gateway.networking.k8s.io/gateway-name`, or name the Gateway in `targetRefs`"),
    )
}

/// Makes it an error where a letter in a parent of a route also takes policies behind the route off a cluster.
fn harden_misspelled_parents(syncing: Syncing<'_>, findings: &mut Findings) {
    let attachments = syncing.attachments;
    let is_misspelled =
        |finding: &Finding| finding.code == Code::ROUTE_PARENT_NOT_FOUND && finding.lacks.is_some();
    if !findings.iter().any(is_misspelled) {
        return;
    }
    let policies = attachments.policies.rows().iter();
    let synced = policies.filter(|policy| !policy.local && syncing.routes.kinds.any(policy.kind));
    let nodes: BTreeSet<Node> = synced.flat_map(Policy::nodes).collect();
    let topology = &attachments.topology;
    let routes = nodes.iter().flat_map(|node| routes_at(topology, *node));
    let behind: HashSet<_> = routes.map(|route| route.origin.object()).collect();
    findings.revise(|finding| {
        let route = finding.place.object();
        if is_misspelled(finding) && route.is_some_and(|route| behind.contains(&route)) {
            Arc::make_mut(finding).severity = Severity::Error;
        }
        true
    });
}

/// The routes that requests to a target pass.
fn routes_at<'a>(topology: &Topology<'a>, node: Node) -> Vec<&'a Object> {
    let object = |route: &RouteId| topology.routes.get(*route).object;
    match node {
        Node::Route(route) | Node::Rule(route, _) => vec![object(&route)],
        Node::Backend(backend) | Node::Port(backend, _) => {
            topology.backends.get(backend).routes.iter().map(object).collect()
        }
        Node::Namespace(namespace) => {
            let name = topology.namespaces.get(namespace).name;
            let routes = topology.routes.rows().iter();
            let there = routes.filter(|route| route.namespace == namespace);
            let backends = topology.backends.rows().iter();
            let backends = backends.filter(|backend| backend.name.namespace.as_deref() == Some(name));
            let behind = backends.flat_map(|backend| backend.routes.iter().map(object));
            there.map(|route| route.object).chain(behind).collect()
        }
        Node::Mesh(_) | Node::Class(_) | Node::Gateway(_) | Node::Listener(..) | Node::ListenerSet(_) => {
            Vec::new()
        }
    }
}

/// Whether a policy is on nothing but what Gateways of ours lead to, and goes to no cluster: no controller ever sees it.
pub fn is_on_hub_only<'a>(topology: &Topology<'a>, routes: &SyncedRoutes<'a>, policy: &Policy<'_>) -> bool {
    let nodes = policy.nodes();
    let is_ours = |gateway: GatewayId| routes.kinds.gateway(gateway).is_some();
    let stays =
        |node: &Node| topology.services_of(*node).is_empty() && !routes.syncs(topology, policy.kind, *node);
    let leading = policy.gateways(topology);
    !leading.is_empty() && leading.into_iter().all(is_ours) && nodes.iter().all(stays)
}

impl<'a> Syncing<'a> {
    /// A kind in the parameters whose policies target only what no work has.
    fn never_shipped(self, profile: &Profile, class: &str) -> Option<Finding> {
        let params = params_place(self.hub, self.ours.classes.get(class)?.class.object)?;
        let (kind, targets) = (&profile.kind, profile.targeting.kind_names().join(", "));
        let message = format!(
            "`policiesToSync` of `{class}` lists {kind}, which targets only {targets}: no work has one"
        );
        let finding = Finding::new(Code::PARAMS_RESOURCE, params.place, message);
        Some(finding.severity(Severity::Warning).help(format!(
            "remove {kind} from `policiesToSync`, and bring its policies to the spokes another way"
        )))
    }

    /// Why a policy is not shipped with this target, or not with every Gateway that brings it; `None` where it is, or if
    /// nothing of ours leads to the target and no class syncs its kind.
    fn why_not_synced(self, policy: &Policy<'_>, declared: &Declared, node: Node) -> Option<Finding> {
        let topology = &self.attachments.topology;
        let leading = topology.gateways_of(node);
        let lead = leading.iter().filter_map(|gateway| self.our_gateway(*gateway));
        let brought = self.routes.gateways_of(topology, node);
        let stays = brought.is_empty();
        let gateways: BTreeSet<OurGatewayId> = if stays { lead.collect() } else { brought };
        let syncs = |gateway: &OurGatewayId| self.routes.kinds.syncs(*gateway, policy.kind);
        let (with, without): (Vec<_>, Vec<_>) = gateways.into_iter().partition(syncs);
        match (with.first(), without.first(), stays) {
            (_, None, false) => None,
            (with, Some(gateway), false) => Some(self.unsynced(policy, declared, *gateway, with.is_some())),
            // Nothing of ours leads there.
            (None, None, true) if !self.routes.kinds.any(policy.kind) => None,
            (None, None, true) => match leading.first() {
                // Nobody ships what only a mesh leads to.
                None if !topology.services_of(node).is_empty() => {
                    Some(target_stays(policy, declared, OR_ELSE.to_owned()))
                }
                None => Some(no_path(self.attachments, policy, declared, node)),
                Some(first) => self.other_class(policy, declared, (node, *first)),
            },
            (Some(gateway), _, true) => {
                let help = match self.target_entry(node, *gateway) {
                    Some(entry) => format!("{entry}, {OR_ELSE}"),
                    None => OR_ELSE.to_owned(),
                };
                Some(target_stays(policy, declared, help))
            }
            (None, Some(gateway), true) => {
                let mut finding = self.unsynced(policy, declared, *gateway, false);
                finding.message = format!(
                    "{} is not shipped: its kind is not in the parameters of its class, and its target is not synced to the spokes",
                    policy.object.identity()
                )
                .into();
                let kind = self.kind_entry(policy, *gateway);
                let target = self.target_entry(node, *gateway);
                let otherwise = "target the Gateway or one of its listeners";
                let target = target.as_deref().unwrap_or(otherwise);
                Some(finding.help(format!("{kind}, and {target}")))
            }
        }
    }

    /// A policy of a synced kind on a Gateway of another class, or on what only such Gateways lead to.
    fn other_class(
        self,
        policy: &Policy<'_>,
        declared: &Declared,
        (node, gateway): (Node, GatewayId),
    ) -> Option<Finding> {
        let topology = &self.attachments.topology;
        let gateway = topology.gateways.get(gateway).object;
        let class = gateway.root().get("spec").get("gatewayClassName");
        let name = class.str().unwrap_or_default();
        // A broken Gateway, or one whose class has unusable parameters, is a finding of its own.
        if name.is_empty() || self.ours.classes.contains_key(name) {
            return None;
        }
        let is_gateway = matches!(node, Node::Gateway(_) | Node::Listener(..));
        let (target, label) = if is_gateway {
            let target = format!("{}, which is not rendered", gateway.identity());
            (target, "a Gateway of another class")
        } else {
            let target = format!("{}, to which no Gateway of ours leads", topology.described(node));
            (target, "behind a Gateway of another class")
        };
        let what = format!("targets {target}, so it is not shipped");
        let pointer = format!("{}/name", declared.pointer);
        let finding = policy.object.finding(Code::POLICY_OTHER_CLASS, &pointer, what);
        Some(
            finding
                .label(label)
                .related(gateway.place(&class.pointer()), format!("its class is `{name}`"))
                .follows_from(gateway.place(&class.pointer()))
                .help("ignore this if the policy is for the hub; otherwise target a Gateway of our class"),
        )
    }

    /// A policy of a kind that the class of a Gateway does not sync; `elsewhere`: that of another one does.
    fn unsynced(
        self,
        policy: &Policy<'_>,
        declared: &Declared,
        id: OurGatewayId,
        elsewhere: bool,
    ) -> Finding {
        let gateway = &self.ours.gateways.get(id).gateway;
        let (object, class) = (policy.object, &*gateway.class_name);
        let with = if elsewhere {
            format!(" with {}", gateway.object.identity())
        } else {
            String::new()
        };
        let what = format!("is not synced{with}: its kind is not in the parameters of its class");
        let finding = object
            .finding(Code::POLICY_NOT_SYNCED, &declared.pointer, what)
            .label(format!("{} has the class `{class}`", gateway.object.identity()))
            .help(self.kind_entry(policy, id));
        match self.ours.classes.get(class) {
            Some(known) => finding.follows_from(known.class.object.place("")),
            None => finding,
        }
    }

    fn kind_info(self, object: &Object) -> Option<&'a KindInfo> {
        self.hub.kinds.kind(&object.api_version.group, &object.kind)
    }

    /// What to add to the parameters for the kind of a policy.
    fn kind_entry(self, policy: &Policy<'_>, gateway: OurGatewayId) -> String {
        let class = &self.ours.gateways.get(gateway).gateway.class_name;
        let Some(kind) = self.kind_info(policy.object) else {
            return format!("list its kind in `policiesToSync` of `{class}`");
        };
        let (listed, key) = (kind.listed(policy.object), policy.object.key());
        if kind.scope == Scope::Cluster {
            "keep the policy on the spokes: no work has cluster-scoped policies".to_owned()
        } else if kind.has_target {
            format!("add {listed} to `policiesToSync` of `{class}`")
        } else {
            format!("add {listed} with `names: [{key}]` to `resourcesToSync` of `{class}`")
        }
    }

    /// What to add to the parameters for the target of a policy.
    fn target_entry(self, node: Node, gateway: OurGatewayId) -> Option<String> {
        let class = &self.ours.gateways.get(gateway).gateway.class_name;
        let object = self.unsynced_parent(node, gateway)?;
        let listed = self.kind_info(object)?.listed(object);
        Some(format!("add {listed} to `resourcesToSync` of `{class}`"))
    }

    /// The route or ListenerSet that would have to be synced for a node to go with a Gateway.
    fn unsynced_parent(self, node: Node, gateway: OurGatewayId) -> Option<&'a Object> {
        let topology = &self.attachments.topology;
        let unsynced = |object: &&'a Object| !self.routes.kinds.syncs_route(gateway, object);
        let of_route = |route: &RouteNode<'a>| {
            let parents = topology.parents_of(route.route);
            let sets = parents.iter().filter_map(|parent| {
                let (_, set) = topology.parent(route.object.namespace_or_empty(), parent).ok()?;
                Some(topology.listener_sets.get(set?).object)
            });
            std::iter::once(route.object).chain(sets).find(unsynced)
        };
        match node {
            Node::Route(route) | Node::Rule(route, _) => of_route(topology.routes.get(route)),
            Node::Backend(backend) | Node::Port(backend, _) => {
                let routes = topology.backends.get(backend).routes.iter();
                routes.map(|route| topology.routes.get(*route)).find_map(of_route)
            }
            Node::Namespace(namespace) => {
                let mut routes = topology.routes.rows().iter();
                routes.find_map(|route| (route.namespace == namespace).then(|| of_route(route))?)
            }
            node => {
                let set = topology.listener_sets.get(set_of(topology, node)?).object;
                Some(set).filter(unsynced)
            }
        }
    }
}

/// What can be done about a policy whose target is not shipped.
const OR_ELSE: &str =
    "target the Gateway or one of its listeners, or keep the policy on the spokes, where its target is";

/// A policy that stays on the hub, as its target does.
fn target_stays(policy: &Policy<'_>, declared: &Declared, help: String) -> Finding {
    let object = policy.object;
    let what = "is not shipped: its target is not synced to the spokes";
    let finding = object.finding(Code::POLICY_NOT_SYNCED, &declared.pointer, what);
    finding.label(with_article(&declared.kind)).help(help)
}

/// A policy on what exists for its controller only (docs/systems/gep-713.md#virtual-kinds): no Gateway leads there.
fn of_unknown_kind(policy: &Policy<'_>, declared: &Declared) -> Finding {
    let object = policy.object;
    let own = object.namespace_or_empty();
    let target = declared.described_with_group(declared.namespace.as_deref().unwrap_or(own));
    let what =
        format!("is not shipped with its target {target}: the input does not show which clusters have it");
    let finding = object.finding(Code::POLICY_NOT_SYNCED, &declared.pointer, what);
    finding.label("neither in the input nor named by a route").help(
        "add a route that names the target to the hub, or keep the policy on the spokes, where its target is",
    )
}

/// Reports policies of synced kinds that reach Gateways of ours, none of which any cluster receives.
pub fn report_unused(syncing: Syncing<'_>, findings: &mut Findings) {
    let attachments = syncing.attachments;
    for policy in attachments.policies.rows() {
        let ours = policy.gateways(&attachments.topology).into_iter();
        let ours = ours.filter_map(|gateway| syncing.our_gateway(gateway));
        let syncs = |gateway: &OurGatewayId| syncing.routes.kinds.syncs(*gateway, policy.kind);
        let reached: BTreeSet<OurGatewayId> = ours.filter(syncs).collect();
        let goes_anywhere = |gateway: &OurGatewayId| !syncing.clusters.get(*gateway).is_empty();
        // One Gateway that goes anywhere is enough.
        if reached.is_empty() || reached.iter().any(goes_anywhere) {
            continue;
        }
        let (object, what) = (policy.object, "affects no cluster: its targets are not placed");
        let mut finding = object
            .finding(Code::POLICY_UNUSED, policy.pointer(), what)
            .label("placed nowhere")
            .help("place the Gateway, or remove the policy");
        for gateway in &reached {
            let gateway = syncing.ours.gateways.get(*gateway).gateway.object;
            let (own, objects) = (gateway.namespace.as_deref(), &syncing.hub.objects);
            let named = gateway.label(PLACEMENT_LABEL);
            let placement = named.and_then(|name| objects.find(ocm_placement::GROUP, "Placement", own, name));
            for cause in std::iter::once(gateway).chain(placement) {
                finding = finding.follows_from(cause.place(""));
            }
        }
        findings.push(finding);
    }
}

/// Turns errors into warnings in policies that only Gateways of other classes lead to: the owner of those Gateways has
/// to fix them, and nothing of ours depends on it. If a target is unknown, an error stays one.
pub fn leave_others_alone(syncing: Syncing<'_>, mut found: Findings) -> Findings {
    let mut policies: HashMap<DocumentId, Vec<(String, &Policy<'_>)>> = HashMap::new();
    if found.has_errors() {
        let all = syncing.attachments.policies.rows().iter();
        for policy in all.filter(|policy| !policy.local) {
            // What a ClusterOverlay sets is found there.
            for origin in policy.object.origins() {
                let there = policies.entry(origin.document).or_default();
                there.push((origin.pointer, policy));
            }
        }
    }
    found.revise(|finding| {
        let place = finding.place.field();
        // One in its document, or all for which an entry of a ClusterOverlay sets the place.
        let here = place.into_iter().flat_map(|(document, pointer)| {
            let there = policies.get(&document).into_iter().flatten();
            there.filter(move |(outer, _)| inside(pointer, outer).is_some())
        });
        let mut here = here.peekable();
        let are_others = finding.severity == Severity::Error
            && here.peek().is_some()
            && here.all(|(_, policy)| syncing.is_others(policy));
        if are_others {
            let finding = Arc::make_mut(finding);
            finding.severity = Severity::Warning;
            let note = "it is not shipped: only Gateways of other classes lead to its target";
            finding.notes.push(note.into());
        }
        true
    });
    found
}

impl Syncing<'_> {
    /// Whether every target of a policy is known, and no Gateway that leads there is or may be ours.
    fn is_others(self, policy: &Policy<'_>) -> bool {
        let topology = &self.attachments.topology;
        let is_behind_others = |declared: &Declared| {
            let node = match declared.target {
                Target::Attached(node) => Some(node),
                // Why it is not attached may be what is wrong.
                Target::Unresolved | Target::NotFound | Target::NotPermitted | Target::NotAllowed(_) => {
                    declared.whole(topology, policy.object.namespace_or_empty())
                }
                Target::Virtual => None,
            };
            let gateways = node.map(|node| topology.gateways_of(node)).unwrap_or_default();
            !gateways.is_empty() && gateways.iter().all(|gateway| self.is_foreign(*gateway))
        };
        !policy.targets.is_empty()
            && (policy.invalid.is_none() || declares(policy) == policy.targets.len())
            && policy.targets.iter().all(is_behind_others)
    }

    /// Whether a Gateway's class is there, and another controller's.
    fn is_foreign(self, gateway: GatewayId) -> bool {
        let topology = &self.attachments.topology;
        let class = topology.classes.get(topology.gateways.get(gateway).class);
        self.our_gateway(gateway).is_none()
            && class.object.is_some()
            && !self.ours.classes.contains_key(class.name)
    }
}

/// How many targets a policy declares; reading leaves out what is broken.
fn declares(policy: &Policy<'_>) -> usize {
    let spec = policy.object.root().get("spec");
    TargetField::ALL
        .into_iter()
        .map(|field| spec.get(field.name()))
        .filter(Field::is_present)
        .map(|field| field.items().count().max(1))
        .sum()
}
