//! From a declared target, or a selector, to the nodes of the topology.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::{GroupKind, Identity, Operator, Selector, Work};
use kube_json::Text;

use super::kinds::Options;
use super::model::{Declared, Policy, Target};
use super::products::{self, Workloads, waypoint_class, waypoint_of};
use super::profile::Profile;
use super::targeting::{Targeting, Verdict};
use crate::api::gateway::{AdmittedNamespaces, GROUP, is_listener_set};
use crate::api::policy::{TargetRef, TargetSelector};
use crate::diagnostic::{Code, Finding, Findings, Severity, nearest, with_article};
use crate::hub::{Grants, Objects};
use crate::object::Object;
use crate::topology::{BackendId, Located, Node, Sources, Suggestion, Suggestions, Topology};

/// The work for a target that is selected: each is a place in the report, and mostly a finding.
const STEPS_PER_TARGET: u64 = 300;

/// Resolves what policies target, in place: by name, by labels, or by their namespace, and reports what is wrong. It is the
/// only answer to that question, for the policies of the hub, and for those on clusters. `sources` are the objects behind
/// the topology, to which targets may add backends that no route names.
pub(crate) fn resolve_targets<'p, 'a: 'p>(
    policies: impl Iterator<Item = (&'p mut Policy<'a>, &'p Profile)>,
    (topology, sources): (&mut Topology<'a>, Sources<'a>),
    grants: &Grants<'a>,
    options: &Options<'_>,
) -> Findings {
    let mut resolver = Resolver {
        topology,
        sources,
        grants,
        selecting: Selecting::default(),
        work: Work::default(),
        workloads: products::all().find_map(|product| product.workloads(options.root_namespace)),
        near: Suggestions::new(sources),
        synced: options.kinds,
        findings: Findings::new(),
    };
    // A mistake in the settings must not hide one in the targets. If an invalid policy has no target, one may be unreadable.
    let has_targets = |policy: &Policy<'_>| policy.invalid.is_none() || !policy.targets.is_empty();
    for (policy, profile) in policies.filter(|(policy, _)| has_targets(policy)) {
        resolver.resolve(policy, profile);
    }
    resolver.findings
}

struct Resolver<'r, 'a> {
    topology: &'r mut Topology<'a>,
    sources: Sources<'a>,
    grants: &'r Grants<'a>,
    /// The objects that selectors select.
    selecting: Selecting<'a>,
    work: Work,
    /// What policies without a target apply to, for kinds that apply to workloads.
    workloads: Option<Box<dyn Workloads<'a> + 'a>>,
    /// What a target that is not there was probably meant to be.
    near: Suggestions<'a>,
    /// The policy kinds that a class syncs.
    synced: &'r [GroupKind],
    findings: Findings,
}

impl<'a> Resolver<'_, 'a> {
    fn resolve(&mut self, policy: &mut Policy<'a>, profile: &Profile) {
        let own = policy.object.namespace_or_empty();
        if policy.targets.is_empty() && profile.of_workloads {
            self.workloads_of(policy);
            return;
        }
        if policy.targets.is_empty() && profile.namespace_wide {
            let workloads = policy.object.root().get("spec").get("selector").is_present();
            if let (false, Some(namespace)) = (workloads, self.topology.find_namespace(own)) {
                let implicit = self.implicit_target(Node::Namespace(namespace));
                policy.targets.push(implicit);
            }
            return;
        }
        let declared = std::mem::take(&mut policy.targets);
        let mut resolved = Vec::with_capacity(declared.len());
        for mut target in declared {
            let Some(selector) = &target.selector else {
                target.target = self.one(policy, profile, &target);
                resolved.push(target);
                continue;
            };
            // Before it selects: what it would select says nothing about a kind that may not be targeted.
            if profile.targeting.judge_selector(&target.group, &target.kind) == Verdict::Refused {
                target.target = self.refused(policy, profile, &target);
                resolved.push(target);
                continue;
            }
            let (selected, refused) = self.select(policy, &target, selector);
            // What else a cluster has nobody knows.
            if selected.is_empty() && !policy.local {
                self.nothing_selected(policy, &target, refused);
            }
            if !self.can_afford(selected.len(), policy, &target.pointer) {
                continue;
            }
            target.selector = None;
            for (namespace, name) in selected {
                let mut one = target.clone();
                one.name = name.into();
                one.namespace = namespace.map(Text::from);
                one.target = self.one(policy, profile, &one);
                resolved.push(one);
            }
        }
        policy.targets = resolved;
    }

    /// What a policy without a target applies to.
    fn workloads_of(&mut self, policy: &mut Policy<'a>) {
        let Some(workloads) = &mut self.workloads else {
            return;
        };
        let Some(nodes) = workloads.of(policy.object, self.topology) else {
            self.selects_from_root(policy);
            return;
        };
        if self.can_afford(nodes.len(), policy, "/spec") {
            let implicit = nodes.into_iter().map(|node| self.implicit_target(node));
            policy.targets = implicit.collect();
        }
    }

    /// The namespace of policies that apply to the whole mesh.
    fn root_namespace(&self) -> &str {
        self.workloads
            .as_ref()
            .map_or("", |workloads| workloads.root_namespace())
    }

    /// An API server takes a selector in the root namespace, and Istio ignores the policy.
    fn selects_from_root(&mut self, policy: &Policy<'a>) {
        let (object, root) = (policy.object, self.root_namespace());
        let (name, kind) = (object.identity(), &object.kind);
        let message = format!(
            "{name} has no effect: Istio ignores the `selector` of a {kind} in {root}, its root namespace"
        );
        let place = object.key_place("/spec/selector");
        let finding = Finding::new(Code::POLICY_INVALID, place, message).severity(Severity::Warning);
        self.findings.push(finding.help(
            "put the policy into the namespace of the workloads, or remove `selector` to mean the whole mesh",
        ));
    }

    /// A node that a policy applies to without naming it.
    fn implicit_target(&self, node: Node) -> Declared {
        let identity = self.topology.identity(node);
        Declared {
            group: identity.group_kind.group,
            kind: identity.group_kind.kind,
            namespace: identity.namespace,
            name: identity.name,
            pointer: "/spec".to_owned(),
            target: Target::Attached(node),
            is_implicit: true,
            ..Declared::default()
        }
    }

    /// An API server takes any GatewayClass, and Istio attaches the policy to nothing.
    fn no_waypoints(&mut self, policy: &Policy<'a>, declared: &Declared) -> Target {
        let (root, waypoints) = (self.root_namespace(), waypoint_class());
        let what = format!(
            "GatewayClass {} is not a target that Istio supports: only {waypoints} is, for policies in {root}",
            declared.name
        );
        let pointer = format!("{}/name", declared.pointer);
        let finding =
            (policy.object).finding(Code::POLICY_INVALID, &pointer, format!("has no effect: {what}"));
        self.findings.push(finding.severity(Severity::Warning).help(format!(
            "target the Gateways, or put a policy for all waypoints into namespace `{root}` and target {waypoints}"
        )));
        Target::NotAllowed(what)
    }

    /// What a selector selects, by another namespace and name, and one that it would select if a namespace permitted
    /// it. Who selects in all namespaces does not mean those that have not agreed
    /// (docs/systems/envoy-gateway.md#targets).
    fn select(
        &mut self,
        policy: &Policy<'a>,
        target: &Declared,
        selects: &TargetSelector,
    ) -> (Vec<(Option<&'a str>, &'a str)>, Option<&'a str>) {
        let own = policy.object.namespace_or_empty();
        let (group, kind) = (target.group.as_str(), target.kind.as_str());
        let namespaces = match &selects.namespaces {
            // The usual case: no other namespace is looked at.
            AdmittedNamespaces::Same => vec![own],
            _ => self.selecting.namespaces(self.sources, group, kind),
        };
        let (mut selected, mut refused) = (Vec::new(), None);
        for namespace in namespaces {
            let label = |key: &str| self.topology.namespace_label(namespace, key);
            if !selects.namespaces.admits(own, namespace, label) {
                continue;
            }
            let place = (group, kind, namespace);
            let there = self.selecting.select(self.sources, place, &selects.selector);
            for name in there.iter().copied() {
                let referrer = referrer(policy.object);
                // What lives on a cluster has the grants of the cluster, of which the hub may know nothing.
                if policy.local || self.grants.permit(referrer, namespace, (group, kind, name)) {
                    selected.push(((namespace != own).then_some(namespace), name));
                } else {
                    refused.get_or_insert(namespace);
                }
            }
        }
        (selected, refused)
    }

    /// Whether there is work left for so many targets; the first selector beyond that is reported.
    fn can_afford(&mut self, targets: usize, policy: &Policy<'a>, pointer: &str) -> bool {
        let was_spent = self.work.is_spent();
        let can_afford = self.work.pay(targets, STEPS_PER_TARGET);
        if !can_afford && !was_spent {
            let last = policy.object.identity();
            let stage = format!("selecting the targets of all policies up to {last}");
            let consequence = "this selector and those after it select nothing";
            let finding = Finding::too_costly(&stage, policy.object.place(pointer), consequence);
            self.findings.push(finding.help(
                "let each selector select fewer objects, or target the Gateway that they have in common",
            ));
        }
        can_afford
    }

    /// The namespace that differs from the policy's own by a typo, and where its labels select something.
    fn namespace_that_was_meant(&mut self, policy: &Policy<'a>, target: &Declared) -> Option<&'a str> {
        let labels = &target.selector.as_ref()?.selector;
        let (group, kind) = (target.group.as_str(), target.kind.as_str());
        let all = self.selecting.namespaces(self.sources, group, kind);
        let near = nearest(policy.object.namespace_or_empty(), all.iter().copied())?;
        let there = self.selecting.select(self.sources, (group, kind, near), labels);
        (!policy.local && !there.is_empty()).then_some(near)
    }

    fn nothing_selected(&mut self, policy: &Policy<'a>, target: &Declared, refused: Option<&str>) {
        let object = policy.object;
        if let Some(near) = self.namespace_that_was_meant(policy, target) {
            let message = format!("selects no {} in its namespace", target.kind);
            let finding = object.finding(Code::POLICY_TARGET_NOT_FOUND, "/metadata/namespace", message);
            self.findings
                .push(finding.help(format!("did you mean namespace `{near}`?")));
            return;
        }
        let help = match refused {
            Some(namespace) => format!(
                "add a ReferenceGrant to namespace `{namespace}`, from {} in namespace `{}` to {}",
                object.group_kind(),
                object.namespace_or_empty(),
                shown_kind(target)
            ),
            None => "correct the labels, or remove the selector".to_owned(),
        };
        let message = format!("selects no {}", target.kind);
        let finding = object.finding(Code::POLICY_TARGET_NOT_FOUND, &target.pointer, message);
        self.findings.push(finding.severity(Severity::Warning).help(help));
    }

    fn one(&mut self, policy: &Policy<'a>, profile: &Profile, declared: &Declared) -> Target {
        // Istio attaches policies to the class of waypoints alone, from the root namespace.
        let is_root = || self.root_namespace() == policy.object.namespace_or_empty();
        if profile.of_workloads
            && declared.is(GROUP, "GatewayClass")
            && !(declared.name == waypoint_class() && is_root())
        {
            return self.no_waypoints(policy, declared);
        }
        match profile.targeting.judge(&declared.group, &declared.kind) {
            Verdict::Accepted { sections, is_listed } => {
                let target = self.taken(policy, profile, declared, (sections, is_listed));
                // What others define, some controller may know.
                let is_foreign = declared.group != GROUP;
                if let (Target::Attached(_), false, false) = (&target, is_listed, is_foreign) {
                    let kind = with_article(&declared.kind);
                    let message = format!("targets {kind}, on which no known controller acts");
                    let pointer = format!("{}/kind", declared.pointer);
                    let finding = policy.object.finding(Code::POLICY_NO_EFFECT, &pointer, message);
                    let finding = finding
                        .label("not among the documented targets")
                        .help("target one of the documented kinds");
                    let note = profile.targeting.note(&declared.group, &declared.kind);
                    self.findings.push(note.into_iter().fold(finding, Finding::note));
                }
                if let (Target::Attached(Node::Backend(backend)), true) = (&target, profile.of_workloads) {
                    self.at_waypoint(policy, declared, *backend);
                }
                target
            }
            Verdict::Refused => self.refused(policy, profile, declared),
        }
    }

    /// A policy that names a Service applies at the waypoint of the Service, and nowhere else: if the waypoint is
    /// unknown, that is reported, and nothing is assumed.
    fn at_waypoint(&mut self, policy: &Policy<'a>, declared: &Declared, backend: BackendId) {
        let name = policy.object.identity();
        let service = self.topology.described(Node::Backend(backend));
        let Some(served) = waypoint_of(self.topology, backend) else {
            return;
        };
        let (message, help) = match served {
            Ok(waypoint) if waypoint.takes_ingress => return,
            Ok(_) if self.topology.gateways_of(Node::Backend(backend)).is_empty() => return,
            Ok(_) => (
                format!(
                    "{name} does not apply to requests that Gateways send to {service}, because they bypass its waypoint"
                ),
                format!(
                    "label {service} `istio.io/ingress-use-waypoint: \"true\"`, or target the Gateways as well"
                ),
            ),
            Err(unserved) if unserved.is_certain => {
                (format!("{name} has no effect: {}", unserved.why), unserved.help)
            }
            Err(unserved) => (
                format!("it is not known whether {name} takes effect: {}", unserved.why),
                unserved.help,
            ),
        };
        let place = policy.object.place(&declared.pointer);
        let finding = Finding::new(Code::POLICY_UNREACHABLE, place, message);
        self.findings
            .push(finding.label("applies only at a waypoint").help(help));
    }

    /// A kind that no policy of its kind may target.
    fn refused(&mut self, policy: &Policy<'a>, profile: &Profile, declared: &Declared) -> Target {
        let targeting = &profile.targeting;
        let [kind, target] = [&*profile.kind, &shown_kind(declared)].map(with_article);
        let what = format!("{kind} cannot target {target}");
        let names = targeting.kind_names();
        // The group is wrong if the kind is right.
        let group = nearest(&declared.group, targeting.groups_of(&declared.kind));
        let kind = nearest(&declared.kind, names.iter().copied()).filter(|near| *near != declared.kind);
        let (field, near) = match group.filter(|near| *near != declared.group) {
            Some(group) => ("group", Some(group)),
            None => ("kind", kind),
        };
        let place = policy.object.place(&format!("{}/{field}", declared.pointer));
        let finding = Finding::new(Code::POLICY_INVALID, place, what.clone());
        let finding = unless_group_is_required(policy.object, declared, finding).help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("target one of: {}", names.join(", ")),
        });
        let note = targeting.note(&declared.group, &declared.kind);
        self.findings.push(note.into_iter().fold(finding, Finding::note));
        Target::NotAllowed(what)
    }

    fn taken(
        &mut self,
        policy: &Policy<'a>,
        profile: &Profile,
        declared: &Declared,
        (sections, is_listed): (bool, bool),
    ) -> Target {
        if declared.section.is_some() && !sections {
            let [kind, target] = [profile.kind.as_str(), &declared.kind].map(with_article);
            let what = format!("{kind} targets {target} only as a whole");
            let place = policy.object.place(&format!("{}/sectionName", declared.pointer));
            self.findings
                .push(Finding::new(Code::POLICY_INVALID, place, what.clone()).help("remove `sectionName`"));
            return Target::NotAllowed(what);
        }
        // Pods are created on clusters: no input has those that a policy selects.
        if declared.is("", "Pod") {
            return Target::Virtual;
        }
        let own = policy.object.namespace_or_empty();
        let namespace = if declared.is("", "Namespace") {
            declared.name.as_str()
        } else {
            declared.namespace.as_deref().unwrap_or(own)
        };
        // A cluster-scoped policy belongs to whoever owns the cluster.
        let needs_grant =
            !declared.is(GROUP, "GatewayClass") && !policy.local && policy.object.namespace.is_some();
        let referrer = referrer(policy.object);
        if needs_grant && !self.grants.permit(referrer, namespace, referent(declared)) {
            // No grant would help a reference with a typo.
            if self.node(declared, namespace).is_none() && self.near(declared, namespace).is_some() {
                self.not_found(policy, declared, namespace, None);
            } else {
                self.not_permitted(policy, declared, namespace);
            }
            return Target::NotPermitted;
        }
        match self.node(declared, namespace) {
            Some(found) => found,
            None => {
                let unlisted = (!is_listed).then_some(&profile.targeting);
                self.not_found(policy, declared, namespace, unlisted);
                Target::NotFound
            }
        }
    }

    fn node(&mut self, declared: &Declared, namespace: &str) -> Option<Target> {
        let (kind, section) = ((&*declared.group, &*declared.kind), declared.section.as_deref());
        match self.topology.locate(kind, namespace, &declared.name, section) {
            Located::Node(node) => Some(Target::Attached(node)),
            Located::Missing => None,
            Located::Elsewhere => self.backend(declared, namespace, section),
        }
    }

    /// A Service, another backend that a route names or the input holds, or a kind that only the controller knows.
    fn backend(&mut self, declared: &Declared, namespace: &str, section: Option<&str>) -> Option<Target> {
        let identity = Identity::new(&declared.group, &declared.kind, Some(namespace), &declared.name);
        if self.sources.get(&identity).is_none() && self.topology.find_backend(&identity).is_none() {
            // Of these groups, every kind is one that a cluster has: it is missing, and not virtual.
            let known = declared.group.is_empty() || declared.group == GROUP;
            let is_misspelled =
                self.is_of_core_group(declared, namespace) || self.near.find(&identity).is_some();
            return (!known && !is_misspelled).then_some(Target::Virtual);
        }
        let backend = Node::Backend(self.topology.backend(identity, self.sources));
        self.topology.find_section(backend, section).map(Target::Attached)
    }

    /// Whether the core group, whose name is empty, has this Service or Namespace, and a letter too many makes another
    /// group of it.
    fn is_of_core_group(&self, declared: &Declared, namespace: &str) -> bool {
        const MOST_LETTERS: usize = 2;
        let service = Identity::new("", &declared.kind, Some(namespace), &declared.name);
        let is_there = match declared.kind.as_str() {
            "Service" => {
                self.sources.get(&service).is_some() || self.topology.find_backend(&service).is_some()
            }
            "Namespace" => self.topology.find_namespace(&declared.name).is_some(),
            _ => false,
        };
        is_there && (1..=MOST_LETTERS).contains(&declared.group.len())
    }

    fn not_permitted(&mut self, policy: &Policy<'a>, declared: &Declared, namespace: &str) {
        let object = policy.object;
        let field = if declared.is("", "Namespace") {
            "name"
        } else {
            "namespace"
        };
        let pointer = format!("{}/{field}", declared.pointer);
        let target = declared.describe(namespace);
        let message = format!("may not target {target}, which is in another namespace");
        let finding = object.finding(Code::POLICY_REF_NOT_PERMITTED, &pointer, message);
        let finding = unless_group_is_required(object, declared, finding);
        let (from, to) = (referrer(object), referent(declared));
        self.findings
            .push(match self.grants.almost_permit(from, namespace, to) {
                Some((place, help)) => finding
                    .related(place, "this grant names another namespace")
                    .help(help),
                None => finding.help(format!(
                    "add a ReferenceGrant to namespace `{namespace}`, from {} in `{}` to {}",
                    object.group_kind(),
                    object.namespace_or_empty(),
                    shown_kind(declared)
                )),
            });
    }

    /// An error where a cluster would lack the policy: if its kind is synced and no cluster is known to have the target,
    /// or if only the hub can have it (docs/systems/why-we-differ.md#missing-targets).
    fn not_found(
        &mut self,
        policy: &Policy<'a>,
        declared: &Declared,
        namespace: &str,
        unlisted: Option<&Targeting>,
    ) {
        let is_set = is_listener_set(&declared.group, &declared.kind);
        let of_gateway = is_set || declared.is(GROUP, "Gateway") || declared.is(GROUP, "GatewayClass");
        let mut whole = declared.clone();
        whole.section = None;
        let has_section = declared.section.is_some();
        let found = has_section.then(|| self.node(&whole, namespace)).flatten();
        let whole_exists = found.is_some();
        // A Gateway accepts no ListenerSet unless it allows them (docs/systems/gateway-api.md#listenersets).
        let identity = Identity::new(&declared.group, &declared.kind, Some(namespace), &declared.name);
        let is_there = !whole_exists && self.sources.get(&identity).is_some();
        let is_refused_set = is_there && is_set;
        // Why one that is there cannot be read is said at the object.
        if is_there && !is_refused_set {
            return;
        }
        let name = whole.describe(namespace);
        let word = section_word(self.topology, declared);
        let (field, message) = match (&declared.section, whole_exists) {
            _ if is_refused_set => {
                let why = self.topology.why_detached(&identity).unwrap_or_default();
                ("name", format!("{name} is not attached: {why}"))
            }
            (Some(section), true) => ("sectionName", format!("{name} has no {word} `{section}`")),
            _ => ("name", format!("{name} is not in the input")),
        };
        let is_synced = self.synced.contains(&policy.object.group_kind());
        let lives_elsewhere = !whole_exists && self.sources.lives_on_a_cluster(&identity);
        let is_lacking = of_gateway || (is_synced && !lives_elsewhere);
        let severity = if !is_refused_set && !policy.local && is_lacking {
            Severity::Error
        } else {
            Severity::Warning
        };
        let place = policy.object.place(&format!("{}/{field}", declared.pointer));
        let finding = Finding::new(Code::POLICY_TARGET_NOT_FOUND, place, message)
            .label(format!("the target of {}", policy.object.identity()))
            .missing(identity.clone());
        // A kind that nobody lists may be one that is misspelled.
        let note = unlisted.and_then(|known| known.note(&declared.group, &declared.kind));
        let finding = note.into_iter().fold(finding, Finding::note);
        let unknown = TargetRef::empty_fields(policy.object, &declared.pointer).into_iter();
        let finding = unknown.fold(finding, Finding::follows_from);
        let sections = found.map(|found| self.sections(&found));
        // A Gateway or a ListenerSet without listeners has an error of its own.
        if word == "listener" && sections.as_ref().is_some_and(Vec::is_empty) {
            return;
        }
        let section = declared.section.as_deref().unwrap_or_default();
        let (lacked, near) = match &sections {
            Some(_) => {
                let whole = self.sources.get(&identity);
                let near = whole.and_then(|whole| Suggestion::section(whole, section));
                (format!("{word} `{section}` of {identity}"), near)
            }
            None => (identity.to_string(), self.near(declared, namespace)),
        };
        // What else a cluster has nobody knows.
        if policy.local && near.is_none() && sections.is_none() {
            return;
        }
        let reference = (policy.object, &*declared.pointer, declared.namespace.as_deref());
        let finding = match (sections.as_ref().filter(|names| !names.is_empty()), near) {
            _ if is_refused_set => {
                // What is reported about the set explains it. No traffic comes to the set, so that nothing is left
                // unprotected.
                let said = self.topology.detached_at(&identity).into_iter();
                let finding = said.fold(finding, Finding::follows_from);
                finding.help(
                    "check its `parentRef`, and `allowedListeners` of the Gateway, which accepts none by default",
                )
            }
            (_, Some(near)) => near.explain(finding, &lacked, reference),
            (Some(names), None) => finding.help(format!("it has: {}", names.join(", "))),
            (None, None) if self.is_of_core_group(declared, namespace) => {
                let mut finding = finding.help("did you mean `group: \"\"`?");
                finding.place = policy.object.place(&format!("{}/group", declared.pointer));
                finding
            }
            (None, None) if of_gateway => finding.help("correct the name, or add the object"),
            (None, None) => finding.help(
                "correct the name, or add the object; if it lives on clusters only, keep the policy there",
            ),
        };
        self.findings.push(finding.severity(severity));
    }

    /// What a target that is not there was probably meant to be.
    fn near(&mut self, declared: &Declared, namespace: &str) -> Option<Suggestion<'a>> {
        let missing = Identity::new(&declared.group, &declared.kind, Some(namespace), &declared.name);
        self.near.find_for(declared.namespace.as_deref(), &missing)
    }

    fn sections(&self, whole: &Target) -> Vec<String> {
        let Target::Attached(node) = whole else {
            return Vec::new();
        };
        let sections = self.topology.sections(*node).into_iter();
        let names = sections.filter_map(|section| self.topology.section(section));
        names.map(str::to_owned).collect()
    }
}

/// The finding about a target, which another group would make another object. A definition may require a group that the
/// target lacks: that is the mistake then.
fn unless_group_is_required(policy: &Object, declared: &Declared, finding: Finding) -> Finding {
    let group = format!("{}/group", declared.pointer);
    let is_written = policy.value.pointer(&group).is_some_and(|group| !group.is_null());
    if is_written {
        finding
    } else {
        finding.follows_from(policy.place(&group))
    }
}

/// Group, kind, and namespace of who refers, as grants name them.
pub(crate) fn referrer(policy: &Object) -> (&str, &str, &str) {
    let group = policy.api_version.group.as_str();
    (group, &policy.kind, policy.namespace_or_empty())
}

/// Group, kind, and name of what a target refers to.
fn referent(declared: &Declared) -> (&str, &str, &str) {
    (&declared.group, &declared.kind, &declared.name)
}

fn section_word(topology: &Topology<'_>, declared: &Declared) -> &'static str {
    match declared.kind.as_str() {
        "Gateway" | "ListenerSet" | "XListenerSet" => "listener",
        kind if topology.is_route(&declared.group, kind) => "rule",
        _ => "port",
    }
}

fn shown_kind(declared: &Declared) -> String {
    if declared.group.is_empty() || declared.group == GROUP {
        declared.kind.to_string()
    } else {
        format!("{}.{}", declared.kind, declared.group)
    }
}

/// Objects of one kind in one namespace.
type KindInNamespace = (GroupKind, String);

/// Objects by key and value of a label, in their order.
type ByLabel<'a> = HashMap<(&'a str, &'a str), Vec<&'a Object>>;

/// The selectors of the policies of one place, the hub or a cluster.
#[derive(Default)]
pub(super) struct Selecting<'a> {
    /// The objects that have a label with a value.
    by_label: HashMap<KindInNamespace, ByLabel<'a>>,
    known: HashMap<(KindInNamespace, Selector), Arc<[&'a str]>>,
    namespaces: HashMap<GroupKind, Vec<&'a str>>,
}

impl<'a> Selecting<'a> {
    /// The namespaces that have objects of a kind, sorted.
    pub(super) fn namespaces(&mut self, sources: Sources<'a>, group: &str, kind: &str) -> Vec<&'a str> {
        let of = |objects: &'a Objects| objects.of_kind(group, kind).iter();
        let all = of(sources.objects).chain(sources.local.into_iter().flat_map(of));
        let namespaces = || all.map(Object::namespace_or_empty).collect::<BTreeSet<_>>();
        let known = self.namespaces.entry(GroupKind::new(group, kind));
        let known = known.or_insert_with(|| namespaces().into_iter().collect());
        known.clone()
    }

    /// The names of the objects that a selector selects, those of the hub first, each in the order of their names.
    fn select(
        &mut self,
        sources: Sources<'a>,
        (group, kind, namespace): (&str, &str, &str),
        selector: &Selector,
    ) -> Arc<[&'a str]> {
        let place: KindInNamespace = (GroupKind::new(group, kind), namespace.to_owned());
        let key = (place, selector.clone());
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let all = || {
            let of = |objects: &'a Objects| {
                let all = objects.of_kind(group, kind);
                let start = all.partition_point(|object| object.namespace_or_empty() < namespace);
                all.iter()
                    .skip(start)
                    .take_while(|object| object.namespace_or_empty() == namespace)
            };
            of(sources.objects).chain(sources.local.into_iter().flat_map(of))
        };
        // A thousand selectors of one label each must not ask a thousand objects each.
        let label = selector.requirements.iter().find_map(|requirement| {
            match (requirement.operator, requirement.values.as_slice()) {
                (Operator::In, [value]) => Some((requirement.key.as_str(), value.as_str())),
                _ => None,
            }
        });
        let candidates: Vec<&'a Object> = match label {
            Some(label) => {
                let by_label = self.by_label.entry(key.0.clone()).or_insert_with(|| {
                    let mut by_label = ByLabel::default();
                    for object in all() {
                        for label in object.labels() {
                            by_label.entry(label).or_default().push(object);
                        }
                    }
                    by_label
                });
                by_label.get(&label).cloned().unwrap_or_default()
            }
            None => all().collect(),
        };
        let matches = |object: &&Object| selector.matches(|key| object.label(key));
        let selected = candidates.into_iter().filter(matches);
        let selected: Arc<[&'a str]> = selected.map(|object| object.name.as_str()).collect();
        self.known.insert(key, Arc::clone(&selected));
        selected
    }
}
