//! Which policies affect a target (docs/systems/gep-713.md#discoverability).
//!
//! Owns: whether a target is affected, and by which policies. Flows in: attachments and effective policies. Flows out:
//! policies by node and kind. Must not know: clusters, how a target's status reports it.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::Work;

use super::attachment::Attachments;
use super::effective_policies::EffectivePolicies;
use super::ids::{AuthoredId, KindId, PolicyId};
use super::profile::StatusShape;
use crate::topology::{Level, Node, Path, Start};

/// The work for a policy, or setting, on a path: a thousand paths below a Gateway with a thousand policies have a million.
const STEPS_ON_THE_WAY: u64 = 6;

/// The policies that affect each node, by kind.
///
/// Kuadrant lists every accepted policy at the target or above it; for other kinds those that are wholly
/// overridden there are left out (docs/systems/gep-713.md#affected-conditions).
///
/// `None`: with all paths there are more policies on the way than anybody looks at.
pub(crate) fn affecting(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
) -> Option<BTreeMap<(Node, KindId), BTreeSet<AuthoredId>>> {
    let work = Work::default();
    let mut by_node: BTreeMap<(Node, KindId), BTreeSet<AuthoredId>> = BTreeMap::new();
    for (kind, path) in effective.iter() {
        let kind_of = attachments.kinds.get(kind);
        let every = kind_of.profile.status == StatusShape::Kuadrant;
        let most = path.effective.chain.len().max(path.effective.content.len());
        if !work.pay(most, STEPS_ON_THE_WAY) {
            return None;
        }
        let sources = path.effective.sources(attachments);
        for (level, node) in levels_of(attachments, &path.path) {
            let above = path.effective.chain.iter().filter(|(above, _)| *above <= level);
            let here: Vec<AuthoredId> = above
                .flat_map(|(_, id)| attachments.policy(*id).authors(*id))
                .map(|(author, _)| author)
                .filter(|author| every || sources.contains(author))
                .collect();
            if !here.is_empty() {
                by_node.entry((node, kind)).or_default().extend(here);
            }
        }
    }
    for (kind, kind_of) in attachments.kinds.iter() {
        let every = kind_of.profile.status == StatusShape::Kuadrant;
        for (node, placed) in &kind_of.nodes {
            let gateways = attachments.topology.gateways_of(*node);
            // An object that no Gateway leads to, such as a Secret or a Service of a mesh, is affected by the policies
            // that target it.
            if !gateways.is_empty()
                && (!every
                    || !gateways
                        .iter()
                        .any(|gateway| effective.has(Start::Gateway(*gateway))))
            {
                continue;
            }
            let accepted: Vec<AuthoredId> = placed
                .accepted
                .iter()
                .flat_map(|entry| authors(attachments, entry.policy))
                .collect();
            let mut nodes = vec![*node];
            if let Node::Gateway(gateway) = node {
                let listeners = &attachments.topology.gateways.get(*gateway).listeners;
                nodes.extend(
                    listeners
                        .iter()
                        .map(|listener| Node::Listener(*gateway, *listener)),
                );
            }
            for node in nodes {
                by_node
                    .entry((node, kind))
                    .or_default()
                    .extend(accepted.iter().copied());
            }
        }
    }
    by_node.retain(|_, policies| !policies.is_empty());
    Some(by_node)
}

fn authors(attachments: &Attachments<'_>, policy: PolicyId) -> Vec<AuthoredId> {
    let authors = attachments.policy(policy).authors(policy);
    authors.map(|(author, _)| author).collect()
}

fn levels_of(attachments: &Attachments<'_>, path: &Path) -> Vec<(Level, Node)> {
    let class = path.gateway().map(|gateway| {
        let class = attachments.topology.gateways.get(gateway).class;
        (Level::GatewayClass, Node::Class(class))
    });
    class
        .into_iter()
        .chain(attachments.topology.levels(path))
        .collect()
}
