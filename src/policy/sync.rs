//! Which policies go to the spokes: attachment to our Gateways, and one winner for each target.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::shipment::{Shipment, ShipmentTarget, Withheld};
use crate::api::gateway::GROUP;
use crate::api::params::PolicyResource;
use crate::api::policy::{TargetRef, target_refs};
use crate::diagnostic::{Code, Finding, Findings, nearest};
use crate::hub::{Grants, Hub, Ours};
use crate::object::{GroupKind, Object};

/// What the policy stage decides about shipping.
#[derive(Debug, Default)]
pub struct Shipping<'a> {
    /// What is shipped, by kind, namespace and name.
    pub shipments: Vec<Shipment<'a>>,
    /// What is not, and why.
    pub withheld: Vec<Withheld<'a>>,
}

/// A policy of a synced kind and those of its targets that are Gateways of ours.
struct Candidate<'a> {
    object: &'a Object,
    resource: PolicyResource,
    targets: Vec<(usize, TargetRef<'a>)>,
}

impl<'a> Shipping<'a> {
    /// Decides for every policy of a synced kind.
    pub fn new(hub: &'a Hub, ours: &Ours<'a>, grants: &Grants<'a>, findings: &mut Findings) -> Self {
        let mut shipping = Self::default();
        for (kind, resource) in synced_kinds(ours) {
            let candidates: Vec<Candidate<'a>> = hub
                .objects
                .of_kind(&kind.group, &kind.kind)
                .iter()
                .filter_map(|object| {
                    let targets = gateway_targets(object, hub, ours, grants, findings);
                    let targets: Vec<_> = targets
                        .into_iter()
                        .filter(|(gateway, _)| syncs(ours, *gateway, &resource.group, &resource.kind))
                        .collect();
                    (!targets.is_empty()).then(|| Candidate {
                        object,
                        resource: resource.clone(),
                        targets,
                    })
                })
                .collect();
            shipping.decide(candidates, ours, findings);
        }
        shipping
    }

    /// One winner for each target (the seed's order: the oldest, then the first by namespace and name).
    fn decide(&mut self, candidates: Vec<Candidate<'a>>, ours: &Ours<'a>, findings: &mut Findings) {
        let mut claims: BTreeMap<(usize, Option<&'a str>), Vec<usize>> = BTreeMap::new();
        for (index, candidate) in candidates.iter().enumerate() {
            for (gateway, target) in &candidate.targets {
                claims
                    .entry((*gateway, target.section_name))
                    .or_default()
                    .push(index);
            }
        }
        let mut lost: BTreeSet<(usize, usize, Option<&'a str>)> = BTreeSet::new();
        for ((gateway, section), claimants) in claims {
            let Some(winner) = claimants.iter().min_by_key(|index| {
                candidates
                    .get(**index)
                    .map(|candidate| precedence(candidate.object))
            }) else {
                continue;
            };
            for loser in claimants.iter().filter(|index| *index != winner) {
                let (Some(first), Some(second)) = (candidates.get(*winner), candidates.get(*loser)) else {
                    continue;
                };
                lost.insert((*loser, gateway, section));
                let rule = rule_between(first.object, second.object);
                findings.push(same_target(first, second, gateway, section, ours, rule));
                self.withheld.push(Withheld {
                    object: second.object,
                    gateway,
                    section_name: section.map(str::to_owned),
                    cluster: None,
                    winner: first.object,
                    rule: rule.to_owned(),
                });
            }
        }
        for (index, candidate) in candidates.into_iter().enumerate() {
            let targets: Vec<ShipmentTarget> = candidate
                .targets
                .iter()
                .filter(|(gateway, target)| !lost.contains(&(index, *gateway, target.section_name)))
                .map(|(gateway, target)| ShipmentTarget {
                    gateway: *gateway,
                    section_name: target.section_name.map(str::to_owned),
                    pointer: target.pointer.clone(),
                    withheld_from: BTreeSet::new(),
                    instead: BTreeMap::new(),
                })
                .collect();
            if !targets.is_empty() {
                self.shipments.push(Shipment {
                    object: candidate.object,
                    value: Cow::Borrowed(&candidate.object.value),
                    sources: vec![candidate.object],
                    resource: candidate.resource,
                    targets,
                });
            }
        }
    }
}

/// The kinds that any class of ours asks for, each once.
fn synced_kinds(ours: &Ours<'_>) -> BTreeMap<GroupKind, PolicyResource> {
    let mut kinds = BTreeMap::new();
    for params in ours
        .classes
        .values()
        .filter_map(|class| class.params.as_ref().ok())
    {
        for resource in &params.policies_to_sync {
            let kind = GroupKind::new(resource.group.clone(), resource.kind.clone());
            kinds.entry(kind).or_insert_with(|| resource.clone());
        }
    }
    kinds
}

/// Whether the class of this Gateway asks for the kind.
pub(super) fn syncs(ours: &Ours<'_>, gateway: usize, group: &str, kind: &str) -> bool {
    ours.gateways.get(gateway).is_some_and(|gateway| {
        let mut resources = gateway.params.policies_to_sync.iter();
        resources.any(|resource| (resource.group.as_str(), resource.kind.as_str()) == (group, kind))
    })
}

/// The targets of a policy that are Gateways of ours; what is wrong with the others is reported.
fn gateway_targets<'a>(
    object: &'a Object,
    hub: &'a Hub,
    ours: &Ours<'a>,
    grants: &Grants<'a>,
    findings: &mut Findings,
) -> Vec<(usize, TargetRef<'a>)> {
    let targets = target_refs(object, findings);
    let mut found = Vec::new();
    for target in targets {
        if (target.group, target.kind) != (GROUP, "Gateway") {
            continue;
        }
        let namespace = target.namespace.unwrap_or_else(|| object.namespace_or_empty());
        let Some(gateway) = ours.gateway(namespace, target.name) else {
            findings.extend(not_ours(object, &target, namespace, hub, ours));
            continue;
        };
        let from = (
            object.api_version.group.as_str(),
            object.kind.as_str(),
            object.namespace_or_empty(),
        );
        if !grants.permit(from, namespace, (GROUP, "Gateway", target.name)) {
            findings.push(not_permitted(object, &target, namespace));
            continue;
        }
        if let Some(finding) = missing_listener(object, &target, gateway, ours) {
            findings.push(finding);
            continue;
        }
        found.push((gateway, target));
    }
    found
}

/// Age first, a missing time being the newest; then `namespace/name`.
fn precedence(object: &Object) -> (bool, &str, String) {
    let created = object.root().get("metadata").get("creationTimestamp").str();
    (created.is_none(), created.unwrap_or_default(), object.key())
}

fn rule_between(winner: &Object, loser: &Object) -> &'static str {
    let (first, second) = (precedence(winner), precedence(loser));
    if (first.0, first.1) == (second.0, second.1) {
        "it is the first by namespace/name"
    } else {
        "it is the oldest by creationTimestamp"
    }
}

fn same_target(
    winner: &Candidate<'_>,
    loser: &Candidate<'_>,
    gateway: usize,
    section: Option<&str>,
    ours: &Ours<'_>,
    rule: &str,
) -> Finding {
    let pointer_to = |candidate: &Candidate<'_>| {
        candidate
            .targets
            .iter()
            .find(|(index, target)| *index == gateway && target.section_name == section)
            .map(|(_, target)| target.pointer.clone())
            .unwrap_or_default()
    };
    let target = ours
        .gateways
        .get(gateway)
        .map(|gateway| gateway.gateway.object.identity().to_string());
    let target = target.unwrap_or_default();
    let target = match section {
        Some(section) => format!("listener `{section}` of {target}"),
        None => target,
    };
    Finding::new(
        Code::POLICY_SAME_TARGET,
        loser.object.place(&pointer_to(loser)),
        format!(
            "{} and {} both target {target}",
            loser.object.identity(),
            winner.object.identity()
        ),
    )
    .label("not shipped")
    .related(winner.object.place(&pointer_to(winner)), "shipped instead")
    .note(format!("{} wins: {rule}", winner.object.identity()))
    .help("merge the two policies, or aim one of them at a listener")
}

/// The target is no Gateway of ours: missing, or of another class.
fn not_ours(
    object: &Object,
    target: &TargetRef<'_>,
    namespace: &str,
    hub: &Hub,
    ours: &Ours<'_>,
) -> Option<Finding> {
    let place = object.place(&format!("{}/name", target.pointer));
    if let Some(gateway) = hub.objects.find(GROUP, "Gateway", Some(namespace), target.name) {
        let class = gateway.root().get("spec").get("gatewayClassName");
        let class_name = class.str().unwrap_or_default();
        if class_name.is_empty() || ours.classes.contains_key(class_name) {
            // The Gateway or its class is broken, and that is a finding of its own.
            return None;
        }
        let message = format!(
            "{} targets {}, which is not rendered",
            object.identity(),
            gateway.identity()
        );
        return Some(
            Finding::new(Code::POLICY_OTHER_CLASS, place, message)
                .label("a Gateway of another class")
                .related(
                    gateway.place(class.pointer()),
                    format!("its class is `{class_name}`"),
                )
                .help("target a Gateway of our class, or take the policy out of the input"),
        );
    }
    let message = format!(
        "{} targets Gateway {namespace}/{}, which is not in the input",
        object.identity(),
        target.name
    );
    let finding = Finding::new(Code::POLICY_TARGET_NOT_FOUND, place, message).label("no such Gateway");
    let gateways = hub.objects.of_kind(GROUP, "Gateway");
    let here = gateways
        .iter()
        .filter(|gateway| gateway.namespace_or_empty() == namespace);
    if let Some(near) = nearest(target.name, here.map(|gateway| gateway.name.as_str())) {
        return Some(finding.help(format!("did you mean `{near}`?")));
    }
    Some(match gateways.iter().find(|gateway| gateway.name == target.name) {
        Some(gateway) => finding.help(format!(
            "there is {}: set `namespace: {}` in the reference (and a ReferenceGrant there), or move the policy",
            gateway.identity(),
            gateway.namespace_or_empty()
        )),
        None => finding.help("add the Gateway to the input, or correct the name"),
    })
}

fn not_permitted(object: &Object, target: &TargetRef<'_>, namespace: &str) -> Finding {
    Finding::new(
        Code::POLICY_REF_NOT_PERMITTED,
        object.place(&format!("{}/namespace", target.pointer)),
        format!(
            "{} may not target Gateway {namespace}/{}",
            object.identity(),
            target.name
        ),
    )
    .label("another namespace")
    .help(format!(
        "add a ReferenceGrant to namespace `{namespace}` from {} `{}` in namespace `{}` to Gateway",
        object.api_version.group,
        object.kind,
        object.namespace_or_empty()
    ))
}

fn missing_listener(
    object: &Object,
    target: &TargetRef<'_>,
    gateway: usize,
    ours: &Ours<'_>,
) -> Option<Finding> {
    let section = target.section_name?;
    let gateway = &ours.gateways.get(gateway)?.gateway;
    if gateway.listener(section).is_some() {
        return None;
    }
    let names: Vec<&str> = gateway.listeners.iter().map(|listener| listener.name).collect();
    let finding = Finding::new(
        Code::POLICY_TARGET_NOT_FOUND,
        object.place(&format!("{}/sectionName", target.pointer)),
        format!("{} has no listener `{section}`", gateway.object.identity()),
    )
    .label("no such listener")
    .related(
        gateway.object.place("/spec/listeners"),
        format!("its listeners: {}", names.join(", ")),
    );
    Some(match nearest(section, names.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help("name one of its listeners, or leave `sectionName` out for the whole Gateway"),
    })
}
