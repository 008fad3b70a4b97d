//! Objects of unknown kinds that target objects of ours.
//!
//! Owns: this finding. Flows in: the hub, its policies, the kinds that have profiles. Flows out: findings.
//! Must not know: clusters, works.
//!
//! A policy whose kind is misspelled is not recognized as a policy: without this finding it would be missing on every
//! cluster, and nothing would report it.

use std::collections::BTreeSet;

use crate::api::gateway::GROUP;
use crate::api::policy::{TargetRef, TargetSelector, target_refs, target_selectors};
use crate::diagnostic::{Code, Finding, Findings, nearest};
use crate::hub::{Hub, Ours};
use crate::object::Object;
use crate::policy::{Attachments, Profiles};
use crate::topology::{GatewayId, Located, Reference, Topology};
use apimachinery::GroupKind;

/// Reports every object of the hub with a target reference or a target selector that finds a Gateway of ours, a
/// ListenerSet or a route of it, its namespace or its class, and whose kind is no policy kind, has no CRD in the input,
/// and is not known otherwise.
pub fn report_unknown_kinds(
    attachments: &Attachments<'_>,
    profiles: &Profiles,
    hub: &Hub,
    ours: &Ours<'_>,
    findings: &mut Findings,
) {
    let policies = attachments.kinds.rows().iter();
    let policies: BTreeSet<GroupKind> = policies.map(|kind| kind.profile.group_kind()).collect();
    let is_known = |kind: &GroupKind| {
        policies.contains(kind)
            || hub.crds.contains_key(kind)
            || hub.kinds.kind(&kind.group, &kind.kind).is_some()
    };
    let targets = Targets {
        topology: &attachments.topology,
        ours,
    };
    for kind in hub.objects.group_kinds() {
        if is_known(&kind) {
            continue;
        }
        for object in hub.objects.of_kind(&kind.group, &kind.kind) {
            if let Some(target) = targets.ours_of(object) {
                findings.push(unknown_kind(object, &target, profiles));
            }
        }
    }
}

fn unknown_kind(object: &Object, target: &str, profiles: &Profiles) -> Finding {
    let GroupKind { group, kind } = object.group_kind();
    let known: Vec<&GroupKind> = profiles.kinds().collect();
    let groups_of = |kind: &str| -> Vec<&str> {
        let same = known.iter().filter(|known| known.kind == kind);
        same.map(|known| known.group.as_str()).collect()
    };
    let finding = |pointer: &str, label: String, help: String| {
        let said = format!(
            "{} targets {target}, but its kind is unknown, so no cluster receives it",
            object.identity()
        );
        Finding::new(Code::POLICY_UNKNOWN_KIND, object.place(pointer), said)
            .label(label)
            .help(help)
    };
    let no_such_kind = format!("not a known kind of the group `{group}`");
    let of_group = known.iter().filter(|known| known.group == group);
    if let Some(near) = nearest(&kind, of_group.map(|known| known.kind.as_str())) {
        return finding("/kind", no_such_kind, format!("did you mean `{near}`?"));
    }
    let groups = groups_of(&kind);
    if !groups.is_empty() {
        let near = nearest_group(&group, &groups).map(|near| vec![near]);
        let help = format!("did you mean the group {}?", either(&near.unwrap_or(groups)));
        return finding("/apiVersion", format!("{kind} is in another group"), help);
    }
    let help = match nearest(&kind, known.iter().map(|known| known.kind.as_str())) {
        Some(near) => format!("did you mean `{near}` of the group {}?", either(&groups_of(near))),
        None => "add its CRD to the input, or describe it under `profiles` in spokewright.yaml; if it is not a policy, move it out of the input"
            .to_owned(),
    };
    finding("/kind", no_such_kind, help)
}

fn either(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

/// The group that a misspelled one means: the nearest one, or else that which begins alike (`kuadrant.com`).
fn nearest_group<'g>(group: &str, known: &[&'g str]) -> Option<&'g str> {
    let first = |group: &str| group.split('.').next().map(str::to_owned);
    let alike = || known.iter().copied().find(|known| first(known) == first(group));
    nearest(group, known.iter().copied()).or_else(alike)
}

/// The objects of the hub that are ours and can be targets.
struct Targets<'t, 'a> {
    topology: &'t Topology<'a>,
    ours: &'t Ours<'a>,
}

impl Targets<'_, '_> {
    /// The first thing of ours that an object targets, in words.
    fn ours_of(&self, object: &Object) -> Option<String> {
        // Its kind may give these fields another meaning, so that nothing is wrong with their shape.
        let mut said = Findings::new();
        let own = object.namespace_or_empty();
        let references = target_refs(object, &mut said).into_iter();
        let named = references
            .filter(|reference| self.names(reference, own))
            .map(|reference| format!("{} {}", reference.kind, reference.name));
        let selectors = target_selectors(object, &mut said).into_iter();
        let selected = selectors.filter_map(|selector| self.selects(&selector, own));
        named.chain(selected).next()
    }

    fn names(&self, reference: &TargetRef<'_>, own: &str) -> bool {
        let located = self.topology.locate(Reference {
            group: reference.group,
            kind: reference.kind,
            namespace: reference.namespace.unwrap_or(own),
            name: reference.name,
            section: None,
        });
        // A class of ours may have no Gateway yet.
        let is_our_class = (reference.group, reference.kind) == (GROUP, "GatewayClass")
            && self.ours.classes.contains_key(reference.name);
        let leads_to_ours = |node| {
            self.topology
                .gateways_of(node)
                .into_iter()
                .any(|gateway| self.is_ours(gateway))
        };
        is_our_class || matches!(located, Located::Node(node) if leads_to_ours(node))
    }

    /// The first thing of ours that a selector finds.
    fn selects(&self, selector: &TargetSelector<'_>, own: &str) -> Option<String> {
        let is_selected = |object: &&Object| {
            (object.api_version.group.as_str(), object.kind.as_str()) == (selector.group, selector.kind)
                && object.namespace_or_empty() == own
                && selector.selector.matches(|key| object.label(key))
        };
        let gateways = self.ours.gateways.rows().iter().map(|ours| ours.gateway.object);
        let routes = self.topology.routes.rows().iter();
        let routes = routes.filter(|route| route.gateways.iter().any(|gateway| self.is_ours(*gateway)));
        gateways
            .chain(routes.map(|route| route.object))
            .find(is_selected)
            .map(|object| format!("{} {}", object.kind, object.name))
    }

    fn is_ours(&self, gateway: GatewayId) -> bool {
        let object = self.topology.gateways.get(gateway).object;
        self.ours
            .find(object.namespace_or_empty(), &object.name)
            .is_some()
    }
}
