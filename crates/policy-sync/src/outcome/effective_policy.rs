//! EffectivePolicy documents (docs/systems/gep-713.md#what-the-earlier-text-had): the settings that apply on each
//! target, in the form of a policy of its kind.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube_json::{Map, Text, Value, json};
use schemars::JsonSchema;
use serde::Serialize;

use super::status::reference;
use super::{ClusterLists, PolicyView, Seen};
use crate::api::targeting::TargetField;
use crate::diagnostic::without_secrets;
use crate::policy::{Effective, KindId, Profile, Verdict, controller_name, lower_first, wrapped};
use crate::topology::{Node, Path};
use apimachinery::{GroupKind, Identity};

/// The version of the earlier text.
pub const API_VERSION: &str = "gateway.networking.k8s.io/v1alpha2";

/// The effective policies of one target.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectivePolicy {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    target_ref: TargetRef,
    /// One for each distinct result of each kind.
    policies: Vec<Resultant>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Metadata {
    name: String,
    /// Null for a target without a namespace.
    namespace: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TargetRef {
    group: String,
    kind: String,
    name: String,
    /// The listener, rule, or port, if the result is for one section.
    #[serde(skip_serializing_if = "Option::is_none")]
    section_name: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Resultant {
    /// The controller of the Gateway; empty if it is not known.
    controller_name: String,
    /// References to the policies that the result is made of.
    objects: Vec<Value>,
    target_ref: TargetRef,
    /// The settings below the kind, which begins in lower case.
    resultant_policy: Map,
    /// The paths, each a list of locators, if the target has several results of the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<Vec<Vec<String>>>,
    /// The clusters; none for a result on the hub.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    clusters: Arc<[String]>,
}

/// A result, and where it holds.
struct Found<'v> {
    result: Result,
    paths: Vec<Vec<String>>,
    /// Listeners, rules or ports of the target that the paths lead through; `None`: the whole.
    sections: BTreeSet<Option<String>>,
    /// Classes of clusters.
    classes: Vec<&'v [String]>,
}

/// What holds on some paths.
#[derive(Debug, Clone, PartialEq)]
struct Result {
    profile: Arc<Profile>,
    controller: String,
    objects: Vec<Value>,
    /// The settings as a spec; of a kind that adds up, those of each policy by its locator.
    policy: Value,
    adds_up: bool,
}

impl PolicyView<'_> {
    /// `EffectivePolicy` documents, one for each Gateway, route and backend that a path leads through. Each distinct result
    /// is an entry of `policies`; where a target has several of one kind, `paths` and `clusters` say which is which.
    pub fn effective_policy_documents(&self) -> impl Iterator<Item = Value> {
        let mut targets: BTreeMap<[Text; 4], (Identity, Vec<Found<'_>>)> = BTreeMap::new();
        for seen in self.seen() {
            let mut known: HashMap<(KindId, *const Effective, Node), Result> = HashMap::new();
            for (kind, path) in seen.effective.iter() {
                for (node, section) in targets_on(seen, kind, &path.path) {
                    let identity = seen.attachments.topology.identity(node);
                    let result = known
                        .entry((kind, Arc::as_ptr(&path.effective), node))
                        .or_insert_with(|| self.result(seen, (kind, &path.effective), &path.path))
                        .clone();
                    let (own, kind) = (identity.namespace.clone(), identity.group_kind.clone());
                    let key = [
                        own.unwrap_or_default(),
                        identity.name.clone(),
                        kind.kind,
                        kind.group,
                    ];
                    // The results on one target are in the order in which they were found.
                    let (_, results) = targets.entry(key).or_insert_with(|| (identity, Vec::new()));
                    let locators = seen.attachments.topology.path_locators(&path.path);
                    add(results, (result, locators, section), seen.clusters);
                }
            }
        }
        let mut names: BTreeSet<(Text, String)> = BTreeSet::new();
        let mut lists = ClusterLists::default();
        let targets = targets.into_values();
        targets.map(move |(identity, results)| json!(document(results, &identity, &mut names, &mut lists)))
    }

    fn result(&self, seen: Seen<'_>, (kind, effective): (KindId, &Effective), path: &Path) -> Result {
        let attachments = seen.attachments;
        let profile = &attachments.kinds.get(kind).profile;
        let authors = effective.sources(attachments).into_iter();
        let objects = authors.map(|author| attachments.authored(author).object);
        let gateways = &attachments.topology.gateways;
        let gateway = path.gateway().map(|id| gateways.get(id).known_as());
        let on_hub = gateway.map(|gateway| self.hub.topology.find(&gateway.identity()));
        // Nothing names the controller of a mesh.
        let controller = on_hub.into_iter().flatten().find_map(|node| match node {
            Node::Gateway(gateway) => Some(controller_name(self.hub, gateway)),
            _ => None,
        });
        let spec = effective.spec(profile);
        let adds_up = spec.is_none();
        let policy = match spec {
            Some(settings) => wrapped(profile, settings),
            None => {
                let each = effective.content.iter();
                let each = each.map(|(key, leaf)| {
                    let author = attachments.authored(attachments.author_of(key, leaf));
                    (author.locator.to_string(), Value::clone(&leaf.value))
                });
                Value::Object(each.collect())
            }
        };
        Result {
            profile: Arc::clone(profile),
            controller: controller.unwrap_or_default(),
            objects: objects.map(reference).collect(),
            policy: without_secrets(&policy),
            adds_up,
        }
    }
}

/// The Gateway, route and backend of a path, each with the section that the path leads through, as far as the kind may
/// target them: what has a name and a namespace of its own.
fn targets_on(seen: Seen<'_>, kind: KindId, path: &Path) -> Vec<(Node, Option<String>)> {
    let topology = &seen.attachments.topology;
    let profile = &seen.attachments.kinds.get(kind).profile;
    let nodes = topology.nodes(path);
    let section_of = |whole: Node| {
        let sections = topology.sections(whole);
        let section = nodes.iter().find(|node| sections.contains(node))?;
        topology.section(*section).map(str::to_owned)
    };
    let is_whole = |node: &&Node| matches!(node, Node::Gateway(_) | Node::Route(_) | Node::Backend(_));
    let targets = nodes.iter().filter(is_whole).filter_map(|node| {
        let target = topology.identity(*node).group_kind;
        match profile.targeting.judge(&target.group, &target.kind) {
            Verdict::Accepted { sections, .. } => Some((*node, section_of(*node).filter(|_| sections))),
            Verdict::Refused => None,
        }
    });
    targets.collect()
}

/// Adds that a result holds on a path.
fn add<'v>(
    results: &mut Vec<Found<'v>>,
    (result, path, section): (Result, Vec<String>, Option<String>),
    clusters: &'v [String],
) {
    let Some(found) = results.iter_mut().find(|known| known.result == result) else {
        results.push(Found {
            result,
            paths: vec![path],
            sections: BTreeSet::from([section]),
            classes: vec![clusters],
        });
        return;
    };
    if !found.paths.contains(&path) {
        found.paths.push(path);
    }
    found.sections.insert(section);
    found.classes.push(clusters);
}

/// Its name is that of the target after the kind, so that a Gateway and a route of one name have two.
fn document<'v>(
    mut results: Vec<Found<'v>>,
    identity: &Identity,
    names: &mut BTreeSet<(Text, String)>,
    lists: &mut ClusterLists<'v>,
) -> EffectivePolicy {
    let kind_of = |found: &Found<'_>| found.result.profile.group_kind();
    results.sort_by_key(kind_of);
    let kinds: Vec<GroupKind> = results.iter().map(kind_of).collect();
    let policies = results.into_iter().map(|found| {
        let kind = kind_of(&found);
        let alone = kinds.iter().filter(|other| **other == kind).count() == 1;
        found.entry(identity, alone, lists)
    });
    let policies = policies.collect();
    let kind = &identity.group_kind;
    let namespace = identity.namespace.clone().unwrap_or_default();
    let mut name = format!("{}-{}", kind.kind.to_lowercase(), identity.name);
    if !names.insert((namespace.clone(), name.clone())) {
        name = format!("{name}.{}", kind.group);
        names.insert((namespace, name.clone()));
    }
    EffectivePolicy {
        api_version: API_VERSION,
        kind: "EffectivePolicy",
        metadata: Metadata {
            name,
            namespace: identity.namespace.as_deref().map(str::to_owned),
        },
        target_ref: reference_to(identity, None),
        policies,
    }
}

impl<'v> Found<'v> {
    fn entry(self, target: &Identity, alone: bool, lists: &mut ClusterLists<'v>) -> Resultant {
        let result = self.result;
        let mut sections = self.sections.into_iter();
        let section = match (sections.next(), sections.next()) {
            (Some(only), None) => only,
            _ => None,
        };
        let target = reference_to(target, section.as_deref());
        let policy = match result.policy {
            Value::Object(spec) if !result.adds_up => with_target(&result.profile, spec, &target),
            other => other,
        };
        Resultant {
            controller_name: result.controller,
            objects: result.objects,
            target_ref: target,
            resultant_policy: Map::from_iter([(lower_first(&result.profile.kind), policy)]),
            paths: (!alone).then_some(self.paths),
            clusters: lists.joined(&self.classes),
        }
    }
}

/// A reference to a target, or to the one section of it that is meant.
fn reference_to(target: &Identity, section: Option<&str>) -> TargetRef {
    TargetRef {
        group: target.group_kind.group.to_string(),
        kind: target.group_kind.kind.to_string(),
        name: target.name.to_string(),
        section_name: section.map(str::to_owned),
    }
}

/// A spec with a reference to its target, in the field that the kind has.
fn with_target(profile: &Profile, mut spec: Map, target: &TargetRef) -> Value {
    let fields = &profile.targeting.definition.fields;
    if fields.contains(&TargetField::TargetRefs) {
        spec.insert(TargetField::TargetRefs.name().to_owned(), json!([target]));
    } else if fields.contains(&TargetField::TargetRef) {
        spec.insert(TargetField::TargetRef.name().to_owned(), json!(target));
    }
    Value::Object(spec)
}
