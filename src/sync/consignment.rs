//! Decisions grouped by the object that is shipped: what the renderer needs.
//!
//! Owns: one [`Consignment`] per policy (and one per merged policy), with its targets and the clusters where spoke-local
//! policies change it.
//! Flows in: nodes with the kinds that are synced there, local policies by cluster, the clusters of each node.
//! Flows out: [`Consignments`].
//! Must not know: names and namespaces on spokes, works.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::local_policies::Locals;
use super::same_target::{Displacer, Shipped, ShippedSpec, beside_locals, decide};
use crate::object::Object;
use crate::policy::attachment::{Attachments, PolicyId};
use crate::policy::node::Node;
use crate::policy::precedence::Rule;

/// One object for the spokes.
#[derive(Debug, Clone)]
pub struct Consignment<'a> {
    /// The policy whose name and metadata it carries.
    pub policy: PolicyId,
    /// That policy.
    pub object: &'a Object,
    /// The whole object, before its references and metadata are rewritten.
    pub value: Cow<'a, Value>,
    /// The policies that its settings come from, the name-giver first; more than one: a merged policy.
    pub sources: Vec<PolicyId>,
    /// What it is for, in the order of the nodes given.
    pub targets: Vec<Consignee>,
}

/// One target of a consignment.
#[derive(Debug, Clone)]
pub struct Consignee {
    /// The Gateway, listener, route or rule.
    pub node: Node,
    /// The section, if it is one.
    pub section_name: Option<String>,
    /// Pointer of the reference inside the policy: `/spec/targetRefs/0`.
    pub pointer: String,
    /// Clusters where a spoke-local policy wins: nothing is shipped there for this target.
    pub withheld_from: BTreeSet<String>,
    /// Clusters where a spoke-local policy takes a part: the whole object that is shipped there instead.
    pub instead: BTreeMap<String, Value>,
}

/// A policy that is not shipped for a target.
#[derive(Debug, Clone)]
pub struct WithheldFrom<'a> {
    /// The policy.
    pub policy: PolicyId,
    /// The target.
    pub node: Node,
    /// The cluster, where it is withheld from one only.
    pub cluster: Option<String>,
    /// Who wins.
    pub winner: &'a Object,
    /// The rule that decided.
    pub rule: Rule,
}

/// Everything that is shipped, and everything that is not.
#[derive(Debug, Clone, Default)]
pub struct Consignments<'a> {
    /// In the order of the policies.
    pub shipped: Vec<Consignment<'a>>,
    /// In the order of the nodes given.
    pub withheld: Vec<WithheldFrom<'a>>,
}

impl<'a> Consignments<'a> {
    /// Decides for every node and the kinds that are synced there. `receives` says whether a node's Gateway or route goes
    /// to a cluster; it is asked only where a local policy has the same target.
    pub fn new<'k>(
        attachments: &Attachments<'a>,
        nodes: impl IntoIterator<Item = (Node, &'k BTreeSet<usize>)>,
        locals: &BTreeMap<&'a str, Locals<'a>>,
        receives: impl Fn(Node, &str) -> bool,
    ) -> Self {
        let mut disturbed: BTreeMap<(usize, Node), Vec<&Locals<'a>>> = BTreeMap::new();
        for there in locals.values() {
            for target in there.targets() {
                disturbed.entry(target).or_default().push(there);
            }
        }
        let mut grouping = Grouping {
            attachments,
            shipped: BTreeMap::new(),
            withheld: Vec::new(),
        };
        for (node, kinds) in nodes {
            for kind in kinds {
                let here = disturbed
                    .get(&(*kind, node))
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let here = here.iter().filter(|there| receives(node, there.cluster));
                grouping.add(*kind, node, &here.copied().collect::<Vec<_>>());
            }
        }
        Self {
            shipped: grouping.shipped.into_values().collect(),
            withheld: grouping.withheld,
        }
    }
}

struct Grouping<'g, 'a> {
    attachments: &'g Attachments<'a>,
    /// As-written policies once; rewritten ones once per target, because each is another object.
    shipped: BTreeMap<(PolicyId, Option<Node>), Consignment<'a>>,
    withheld: Vec<WithheldFrom<'a>>,
}

impl<'a> Grouping<'_, 'a> {
    fn add(&mut self, kind: usize, node: Node, locals: &[&Locals<'a>]) {
        let Some(decision) = decide(self.attachments, kind, node) else {
            return;
        };
        for withheld in &decision.withheld {
            if let Displacer::Hub(by) = withheld.by
                && let Some(winner) = self.attachments.policy(by)
            {
                self.withheld.push(WithheldFrom {
                    policy: withheld.policy,
                    node,
                    cluster: None,
                    winner: winner.object,
                    rule: withheld.rule,
                });
            }
        }
        let mut withheld_from: BTreeMap<PolicyId, BTreeSet<String>> = BTreeMap::new();
        let mut instead: BTreeMap<PolicyId, BTreeMap<String, Value>> = BTreeMap::new();
        for there in locals {
            let policies = there.on(kind, node);
            let changed = beside_locals(self.attachments, decision.clone(), policies);
            for one in &decision.shipped {
                match changed.shipped.iter().find(|other| other.policy == one.policy) {
                    None => {
                        withheld_from
                            .entry(one.policy)
                            .or_default()
                            .insert(there.cluster.to_owned());
                        self.withheld.extend(policies.first().map(|local| WithheldFrom {
                            policy: one.policy,
                            node,
                            cluster: Some(there.cluster.to_owned()),
                            winner: local.object,
                            rule: Rule::SpokeLocal,
                        }));
                    }
                    Some(other) if other.content != one.content => {
                        if let Some(value) = self.whole(other) {
                            let by_cluster = instead.entry(one.policy).or_default();
                            by_cluster.insert(there.cluster.to_owned(), value.into_owned());
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        for one in decision.shipped {
            let target = (
                withheld_from.remove(&one.policy).unwrap_or_default(),
                instead.remove(&one.policy).unwrap_or_default(),
            );
            self.ship(one, node, target);
        }
    }

    fn ship(
        &mut self,
        one: Shipped,
        node: Node,
        (withheld_from, instead): (BTreeSet<String>, BTreeMap<String, Value>),
    ) {
        let (Some(policy), Some(value)) = (self.attachments.policy(one.policy), self.whole(&one)) else {
            return;
        };
        let (own, sources) = match &one.content {
            ShippedSpec::AsWritten => (None, vec![one.policy]),
            ShippedSpec::Rewritten { sources, .. } => {
                let others = sources.iter().copied().filter(|source| *source != one.policy);
                (Some(node), std::iter::once(one.policy).chain(others).collect())
            }
        };
        let consignment = self
            .shipped
            .entry((one.policy, own))
            .or_insert_with(|| Consignment {
                policy: one.policy,
                object: policy.object,
                value,
                sources,
                targets: Vec::new(),
            });
        for pointer in one.references {
            consignment.targets.push(Consignee {
                node,
                section_name: self.attachments.topology.section(node).map(str::to_owned),
                pointer,
                withheld_from: withheld_from.clone(),
                instead: instead.clone(),
            });
        }
    }

    /// The whole object with the spec that is shipped.
    fn whole(&self, one: &Shipped) -> Option<Cow<'a, Value>> {
        let object = self.attachments.policy(one.policy)?.object;
        match &one.content {
            ShippedSpec::AsWritten => Some(Cow::Borrowed(&object.value)),
            ShippedSpec::Rewritten { spec, .. } => {
                let mut value = object.value.clone();
                value.as_object_mut()?.insert("spec".to_owned(), (**spec).clone());
                Some(Cow::Owned(value))
            }
        }
    }
}
