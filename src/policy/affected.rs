//! What policies leave on the things that they affect: `<Kind>Affected`, the `effectivePolicy` stanza of GEP-713's
//! earlier text and EffectivePolicy documents.
//!
//! Owns: that, which and what, seen from a target (docs/systems/gep-713.md#discoverability).
//! Flows in: attachments and effective policies. Flows out: serializable values.
//! Must not know: clusters, text reports.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::attachment::Attachments;
use super::condition::Condition;
use super::effective::Effective;
use super::effective_policies::EffectivePolicies;
use super::ids::{KindId, PolicyId};
use super::profile::StatusShape;
use super::status::{controller_name, keys};
use crate::hub::RowId as _;
use crate::topology::{GatewayId, Level, Node, Path};

/// A target and the policies of one kind that affect it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Affected {
    /// Its locator.
    pub target: String,
    /// The policies' kind.
    pub kind: String,
    /// Their group.
    pub group: String,
    /// Their locators, sorted.
    pub policies: Vec<String>,
    /// The condition on the target, its section, or a route's parents.
    pub condition: Condition,
}

/// Everything that any policy affects, by target, then kind.
///
/// Kuadrant lists every accepted policy at the target or above it; for other kinds those that are wholly
/// overridden there are left out (docs/systems/gep-713.md#affected-conditions).
#[must_use]
pub(crate) fn affected(attachments: &Attachments<'_>, effective: &EffectivePolicies) -> Vec<Affected> {
    let by_node = affecting(attachments, effective);
    by_node
        .into_iter()
        .map(|((node, kind), policies)| {
            let profile = &attachments.kinds.get(kind).profile;
            let names = keys(attachments, policies.iter().copied()).join(" ");
            let locators: BTreeSet<String> = policies
                .iter()
                .map(|id| attachments.locator(*id).to_string())
                .collect();
            Affected {
                target: attachments.topology.locator(node),
                kind: profile.kind.clone(),
                group: profile.group.clone(),
                policies: locators.into_iter().collect(),
                condition: Condition {
                    kind: format!("{}/{}Affected", profile.group, profile.kind),
                    status: "True",
                    reason: "Accepted".to_owned(),
                    message: format!("Object affected by {} [{names}]", profile.kind),
                },
            }
        })
        .collect()
}

/// The policies that affect each node, by kind.
#[must_use]
pub(crate) fn affecting(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
) -> BTreeMap<(Node, KindId), BTreeSet<PolicyId>> {
    let mut by_node: BTreeMap<(Node, KindId), BTreeSet<PolicyId>> = BTreeMap::new();
    for (kind, path) in effective.iter() {
        let kind_of = attachments.kinds.get(kind);
        let every = kind_of.profile.status == StatusShape::Kuadrant;
        let sources = path.effective.sources();
        for (level, node) in levels_of(attachments, &path.path) {
            let here: Vec<PolicyId> = path
                .effective
                .chain
                .iter()
                .filter(|(above, id)| *above <= level && (every || sources.contains(id)))
                .map(|(_, id)| *id)
                .collect();
            if !here.is_empty() {
                by_node.entry((node, kind)).or_default().extend(here);
            }
        }
    }
    for (kind, kind_of) in attachments.kinds.iter() {
        if kind_of.profile.status != StatusShape::Kuadrant {
            continue;
        }
        for (node, placed) in &kind_of.nodes {
            let accepted: Vec<PolicyId> = placed.accepted.iter().map(|entry| entry.policy).collect();
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
    by_node
}

fn levels_of(attachments: &Attachments<'_>, path: &Path) -> Vec<(Level, Node)> {
    let class = attachments.topology.gateways.get(path.gateway).class;
    let nodes = path.nodes().into_iter().map(|node| {
        let level = match node {
            Node::Class(_) => Level::GatewayClass,
            Node::Namespace(_) => Level::GatewayNamespace,
            Node::Gateway(_) => Level::Gateway,
            Node::ListenerSet(_) | Node::Listener(..) => Level::Listener,
            Node::Route(_) => Level::Route,
            Node::Rule(..) => Level::Rule,
            Node::Backend(_) => Level::Backend,
            Node::Port(..) => Level::Port,
        };
        (level, node)
    });
    std::iter::once((Level::GatewayClass, Node::Class(class)))
        .chain(nodes)
        .collect()
}

/// The `status.effectivePolicy` stanza of a target: its policies of all kinds
/// (docs/systems/gep-713.md#what-the-earlier-text-had).
#[must_use]
pub(crate) fn effective_policy_stanza(
    attachments: &Attachments<'_>,
    affecting: &BTreeMap<(Node, KindId), BTreeSet<PolicyId>>,
    node: Node,
) -> Vec<Value> {
    affecting
        .range((node, KindId::of_row(0))..)
        .take_while(|((other, _), _)| *other == node)
        .flat_map(|(_, policies)| policies)
        .map(|id| reference(attachments, *id))
        .collect()
}

fn reference(attachments: &Attachments<'_>, id: PolicyId) -> Value {
    let object = attachments.policy(id).object;
    json!({
        "name": object.name,
        "namespace": object.namespace,
        "apiGroup": object.api_version.group,
        "kind": object.kind,
    })
}

/// EffectivePolicy documents (docs/systems/gep-713.md#what-the-earlier-text-had): one per target that a path ends at or
/// leads through, with its name and namespace. Each distinct result is an entry of `policies`; where a target has several of one kind, `paths` says
/// which is which.
#[must_use]
pub(crate) fn effective_policy_documents(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
) -> Vec<Value> {
    let mut by_target: BTreeMap<Node, Results<'_>> = BTreeMap::new();
    for (kind, path) in effective.iter() {
        let class = attachments.topology.gateways.get(path.path.gateway).class;
        let result = result_key(&path.effective);
        for node in whole_objects(&path.path) {
            let distinct = by_target
                .entry(node)
                .or_default()
                .entry((kind, format!("{}\n{result}", class.row())))
                .or_insert_with(|| Distinct {
                    gateway: path.path.gateway,
                    effective: &path.effective,
                    paths: Vec::new(),
                });
            distinct.paths.push(path.path);
        }
    }
    by_target
        .into_iter()
        .map(|(node, results)| document(attachments, node, &results))
        .collect()
}

/// The results of one target, by kind, and by class and what makes them the same: two classes may have two controllers.
type Results<'e> = BTreeMap<(KindId, String), Distinct<'e>>;

struct Distinct<'e> {
    gateway: GatewayId,
    effective: &'e Effective,
    paths: Vec<Path>,
}

/// What makes two results the same: sources and values.
fn result_key(effective: &Effective) -> String {
    let mut key = String::new();
    for (name, leaf) in effective.content.iter() {
        key.push_str(name);
        key.push('=');
        key.push_str(&leaf.policy.row().to_string());
        key.push('\n');
    }
    key
}

/// The Gateway, route and backend of a path: what has a name and a namespace of its own.
fn whole_objects(path: &Path) -> impl Iterator<Item = Node> + use<> {
    path.nodes()
        .into_iter()
        .filter(|node| matches!(node, Node::Gateway(_) | Node::Route(_) | Node::Backend(_)))
}

fn document(attachments: &Attachments<'_>, node: Node, results: &Results<'_>) -> Value {
    let identity = attachments.topology.identity(node);
    let mut policies = Vec::new();
    for ((kind, _), distinct) in results {
        let profile = &attachments.kinds.get(*kind).profile;
        let alone = results.keys().filter(|(other, _)| other == kind).count() == 1;
        let objects: Vec<Value> = distinct
            .effective
            .sources()
            .into_iter()
            .map(|id| reference(attachments, id))
            .collect();
        let spec = distinct.effective.spec(profile).unwrap_or_else(|| {
            let all = distinct.effective.content.iter();
            all.map(|(id, leaf)| (id.to_string(), (*leaf.value).clone()))
                .collect()
        });
        let mut entry = Map::new();
        entry.insert(
            "controllerName".to_owned(),
            json!(controller_name(attachments, distinct.gateway)),
        );
        entry.insert("objects".to_owned(), Value::Array(objects));
        entry.insert(
            "resultantPolicy".to_owned(),
            json!({lower_first(&profile.kind): spec}),
        );
        if !alone {
            let paths: Vec<Vec<String>> = distinct
                .paths
                .iter()
                .map(|path| attachments.topology.path_locators(path))
                .collect();
            entry.insert("paths".to_owned(), json!(paths));
        }
        policies.push(Value::Object(entry));
    }
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1alpha2",
        "kind": "EffectivePolicy",
        "metadata": {"name": identity.name, "namespace": identity.namespace},
        "policies": policies,
    })
}

/// `AwesomePolicy` is `awesomePolicy`, as in the sample of the earlier text.
fn lower_first(kind: &str) -> String {
    let mut characters = kind.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(characters).collect()
    })
}

/// The policy kinds of the input, for the list of extension kinds in a GatewayClass status
/// (docs/systems/gep-713.md#what-the-earlier-text-had): `Kind.group`, sorted.
#[must_use]
pub(crate) fn extension_kinds(attachments: &Attachments<'_>) -> Vec<String> {
    let kinds: BTreeSet<String> = attachments
        .kinds
        .rows()
        .iter()
        .map(|kind| kind.profile.group_kind().to_string())
        .collect();
    kinds.into_iter().collect()
}
