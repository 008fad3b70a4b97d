//! Policies that have nothing to do with our Gateways, and so never stop a run.
//!
//! Owns: which policies those are, and what happens to errors in them. Flows in: attachments, our Gateways, the
//! findings from reading and attaching policies. Flows out: the same findings. Must not know: clusters, works.

use std::collections::HashMap;
use std::sync::Arc;

use super::synced_kinds::SyncedKinds;
use crate::diagnostic::{DocumentId, Findings, Place, Severity};
use crate::hub::Ours;
use crate::policy::{Attachments, Declared, Policy, Target};
use crate::topology::{GatewayId, Located, Node, Topology};
use apimachinery::Field;

/// Turns errors into warnings in policies that only Gateways of other classes lead to: the owner of those Gateways has
/// to fix them, and nothing of ours depends on it. If a target is unknown, an error stays one.
pub fn leave_others_alone(
    attachments: &Attachments<'_>,
    kinds: &SyncedKinds,
    ours: &Ours<'_>,
    found: Findings,
) -> Findings {
    let mut policies: HashMap<DocumentId, Vec<&Policy<'_>>> = HashMap::new();
    if found.has_errors() {
        for policy in attachments.policies.rows().iter().filter(|policy| !policy.local) {
            policies
                .entry(policy.object.origin.document)
                .or_default()
                .push(policy);
        }
    }
    let others = Others {
        topology: &attachments.topology,
        kinds,
        ours,
    };
    let mut kept = Findings::new();
    kept.extend(found.into_iter().map(|finding| {
        let policy = policy_at(&policies, &finding.place);
        match policy {
            Some(policy) if finding.severity == Severity::Error && others.have(policy) => {
                let finding = Arc::unwrap_or_clone(finding).severity(Severity::Warning);
                Arc::new(finding.note("it is not shipped: only Gateways of other classes lead to its target"))
            }
            _ => finding,
        }
    }));
    kept
}

/// The policy that a place is in; several may be in one document, a `List`.
fn policy_at<'p, 'a>(
    policies: &HashMap<DocumentId, Vec<&'p Policy<'a>>>,
    place: &Place,
) -> Option<&'p Policy<'a>> {
    let Place::Field {
        document, pointer, ..
    } = place
    else {
        return None;
    };
    let here = policies.get(document)?.iter().copied();
    here.into_iter().find(|policy| {
        pointer
            .strip_prefix(policy.object.origin.pointer.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

struct Others<'o, 'a> {
    topology: &'o Topology<'a>,
    kinds: &'o SyncedKinds,
    ours: &'o Ours<'a>,
}

impl Others<'_, '_> {
    /// Whether every target of a policy is known, and no Gateway that leads there is or may be ours.
    fn have(&self, policy: &Policy<'_>) -> bool {
        !policy.targets.is_empty()
            && (policy.invalid.is_none() || declares(policy) == policy.targets.len())
            && policy.targets.iter().all(|declared| self.has(policy, declared))
    }

    fn has(&self, policy: &Policy<'_>, declared: &Declared) -> bool {
        let node = match declared.target {
            Target::Attached(node) => Some(node),
            // Why it is not attached may be what is wrong.
            Target::Unresolved | Target::NotFound | Target::NotPermitted | Target::NotAllowed(_) => {
                self.meant(policy, declared)
            }
            Target::Virtual => None,
        };
        let gateways = node
            .map(|node| self.topology.gateways_of(node))
            .unwrap_or_default();
        !gateways.is_empty() && gateways.iter().all(|gateway| self.is_foreign(*gateway))
    }

    /// The node of a reference, or the whole object if it has no such section.
    fn meant(&self, policy: &Policy<'_>, declared: &Declared) -> Option<Node> {
        let own = policy.object.namespace_or_empty();
        let namespace = declared.namespace.as_deref().unwrap_or(own);
        let mut reference = declared.locator(namespace);
        reference.section = None;
        match self.topology.locate(reference) {
            Located::Node(node) => Some(node),
            Located::Missing | Located::Elsewhere => None,
        }
    }

    /// Whether a Gateway's class is there, and another controller's.
    fn is_foreign(&self, gateway: GatewayId) -> bool {
        let class = self
            .topology
            .classes
            .get(self.topology.gateways.get(gateway).class);
        self.kinds.gateway(Node::Gateway(gateway)).is_none()
            && class.object.is_some()
            && !self.ours.classes.contains_key(class.name)
    }
}

/// How many targets a policy declares; reading leaves out what is broken.
fn declares(policy: &Policy<'_>) -> usize {
    let spec = policy.object.root().get("spec");
    ["targetRef", "targetRefs", "targetSelectors"]
        .into_iter()
        .map(|name| spec.get(name))
        .filter(Field::is_present)
        .map(|field| field.items().count().max(1))
        .sum()
}
