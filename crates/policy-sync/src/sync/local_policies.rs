//! The policies that live on a cluster and share a target with something of the hub.
//!
//! Owns: the local policies of one cluster by target.
//! Flows in: the objects of a cluster, attachments. Flows out: [`LocalPolicies`].
//! Must not know: works, placements.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::downstream::is_synced_copy;
use crate::diagnostic::Findings;
use crate::hub::{Objects, Table};
use crate::object::Object;
use crate::policy::{Attachments, Entry, KindId, Options, PolicyId, read_policy};
use crate::topology::{Located, Node};

/// A policy that lives on a cluster.
#[derive(Debug, Clone)]
pub(super) struct LocalPolicy<'a> {
    /// The object.
    pub(super) object: &'a Object,
    /// Its settings.
    pub(super) entry: Entry,
}

/// The local policies of one cluster.
#[derive(Debug, Default)]
pub struct LocalPolicies<'a> {
    /// The cluster.
    pub(super) cluster: &'a str,
    /// In the order of the kinds, then by namespace and name. Their numbers are their own: the hub's policies have others.
    policies: Table<PolicyId, LocalPolicy<'a>>,
    by_node: BTreeMap<(KindId, Node), Vec<PolicyId>>,
}

impl<'a> LocalPolicies<'a> {
    /// Reads the policies among the objects of a cluster that have a kind, and a target, that the hub knows too.
    /// Linear in the cluster's objects.
    pub fn read(
        attachments: &Attachments<'_>,
        cluster: &'a str,
        objects: &'a Objects,
        options: &Options<'_>,
        findings: &mut Findings,
    ) -> Self {
        let mut read = Self {
            cluster,
            ..Self::default()
        };
        for (kind, known) in attachments.kinds.iter() {
            let profile = known.profile.as_ref();
            for object in objects.of_kind(&profile.group, &profile.kind) {
                // An export of a live cluster has what an earlier run synced, which must not win against itself.
                if is_synced_copy(object) || !options.reads(object) {
                    continue;
                }
                let id = read.policies.next();
                let policy = read_policy(object, (id, kind, true), profile, options, findings);
                if policy.invalid.is_some() {
                    continue;
                }
                let own = object.namespace_or_empty();
                let nodes: BTreeSet<Node> = policy
                    .targets
                    .iter()
                    .filter_map(|declared| {
                        let namespace = declared.namespace.as_deref().unwrap_or(own);
                        match attachments.topology.locate(declared.locator(namespace, true)) {
                            Located::Node(node) => Some(node),
                            Located::Missing | Located::Elsewhere => None,
                        }
                    })
                    .collect();
                for node in nodes {
                    read.by_node.entry((kind, node)).or_default().push(id);
                }
                read.policies.push(LocalPolicy {
                    object,
                    entry: Entry {
                        policy: id,
                        layers: policy.layers,
                    },
                });
            }
        }
        read
    }

    /// The local policies of a kind on a node, by namespace and name.
    #[must_use]
    pub(super) fn on(&self, kind: KindId, node: Node) -> Vec<&LocalPolicy<'a>> {
        let there = self.by_node.get(&(kind, node)).into_iter().flatten();
        there.map(|id| self.policies.get(*id)).collect()
    }

    /// The kinds and nodes that any of them targets, sorted.
    pub(super) fn targets(&self) -> impl Iterator<Item = (KindId, Node)> {
        self.by_node.keys().copied()
    }
}
