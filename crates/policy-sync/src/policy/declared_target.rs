//! A target as a policy declares it, and the result of resolving it.
//!
//! Owns: [`Declared`] and [`Target`]. Flows in: references and selectors as read. Flows out: the same, resolved by
//! `targets`. Must not know: how a target is found.

use crate::api::gateway::GROUP;
use crate::api::policy::{TargetRef, TargetSelector};
use crate::api::route::AdmittedNamespaces;
use crate::topology::{Node, Reference};
use apimachinery::Selector;
use kube_json::{Value, json};

/// A target as declared, and the result of resolving it.
#[derive(Debug, Clone)]
pub struct Declared {
    /// API group, `""` for core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace as written.
    pub namespace: Option<String>,
    /// Name; of a selector, what it selected.
    pub name: String,
    /// Listener, rule or port.
    pub section: Option<String>,
    /// Pointer inside the policy: `/spec/targetRefs/0`.
    pub pointer: String,
    /// Its outcome.
    pub target: Target,
    /// Whether the policy does not name it: it applies there because of its namespace or of labels of workloads
    /// (Istio).
    pub(super) is_held: bool,
    pub(super) selector: Option<Selects>,
}

/// The criteria of a selector.
#[derive(Debug, Clone)]
pub(super) struct Selects {
    /// Labels of the target.
    pub(super) labels: Selector,
    /// Where it may be.
    pub(super) namespaces: AdmittedNamespaces,
}

/// The result of resolving a declared target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Not looked at: the policy is invalid.
    Unresolved,
    /// It is this node.
    Attached(Node),
    /// There is no such object in the input.
    NotFound,
    /// It lies in another namespace, whose owner has not agreed.
    NotPermitted,
    /// The kind may not be targeted, or not in this way.
    NotAllowed(String),
    /// A kind that exists only for the controller (docs/systems/gep-713.md#virtual-kinds).
    Virtual,
}

impl Declared {
    /// A reference.
    pub(super) fn reference(reference: &TargetRef<'_>) -> Self {
        Self {
            group: reference.group.to_owned(),
            kind: reference.kind.to_owned(),
            namespace: reference.namespace.map(str::to_owned),
            name: reference.name.to_owned(),
            section: reference.section_name.map(str::to_owned),
            pointer: reference.pointer.clone(),
            target: Target::Unresolved,
            is_held: false,
            selector: None,
        }
    }

    /// A selector, before it has selected.
    pub(super) fn selector(selector: &TargetSelector<'_>) -> Self {
        Self {
            group: selector.group.to_owned(),
            kind: selector.kind.to_owned(),
            namespace: None,
            name: String::new(),
            section: selector.section_name.map(str::to_owned),
            pointer: selector.pointer.clone(),
            target: Target::Unresolved,
            is_held: false,
            selector: Some(Selects {
                labels: selector.selector.clone(),
                namespaces: selector.namespaces.clone(),
            }),
        }
    }

    /// A reference by name to what a selector selected, as an entry of `targetRefs`.
    pub(crate) fn selected(&self) -> Option<Value> {
        self.pointer.starts_with("/spec/targetSelectors/").then(|| {
            let mut reference = json!({"group": self.group, "kind": self.kind, "name": self.name});
            if let (Some(section), Some(fields)) = (&self.section, reference.as_object_mut()) {
                fields.insert("sectionName", Value::from(section.as_str()));
            }
            reference
        })
    }

    /// The lookup in the hierarchy; `namespace` is the resolved one.
    pub(crate) fn locator<'r>(&'r self, namespace: &'r str) -> Reference<'r> {
        Reference {
            group: &self.group,
            kind: &self.kind,
            namespace,
            name: &self.name,
            section: self.section.as_deref(),
        }
    }

    /// For people, if the kind alone is ambiguous: `Backend.acme.example shop/queue`.
    pub(crate) fn described_with_group(&self, namespace: &str) -> String {
        let described = self.describe(namespace);
        match described.split_once(' ') {
            Some((kind, rest)) if !self.group.is_empty() => format!("{kind}.{} {rest}", self.group),
            _ => described,
        }
    }

    /// For people, of one that is nowhere: what it is, and why. `own` is the namespace of the policy.
    pub fn unattached(&self, own: &str) -> String {
        let namespace = self.namespace.as_deref().unwrap_or(own);
        let what = self.described_with_group(namespace);
        let why = match &self.target {
            Target::NotFound => "not in the input",
            Target::NotPermitted => "not permitted by a ReferenceGrant",
            Target::NotAllowed(_) => "not allowed as a target",
            Target::Unresolved => "the policy is invalid",
            Target::Virtual | Target::Attached(_) => return what,
        };
        format!("{what} ({why})")
    }

    /// For people: `HTTPRoute shop/cart#rule-1`.
    pub(super) fn describe(&self, namespace: &str) -> String {
        let section = self
            .section
            .as_deref()
            .map(|section| format!("#{section}"))
            .unwrap_or_default();
        if self.name.is_empty() {
            format!("{} in {namespace} by labels", self.kind)
        } else if self.group == GROUP && self.kind == "GatewayClass" {
            format!("{} {}{section}", self.kind, self.name)
        } else {
            format!("{} {namespace}/{}{section}", self.kind, self.name)
        }
    }
}
