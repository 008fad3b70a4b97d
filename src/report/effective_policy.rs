//! EffectivePolicy documents (docs/systems/gep-713.md#what-the-earlier-text-had): what holds on each target, as a policy
//! of its kind would say it.
//!
//! Owns: one document for each Gateway, route and backend that a path leads through. Flows in: evaluated policies. Flows
//! out: values. Must not know: files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::policy_view::{PolicyView, Seen, joined};
use super::predicted::reference;
use crate::policy::{AuthoredId, Effective, KindId, Profile, TargetField, controller_name, wrapped};
use crate::topology::{Node, Path};
use apimachinery::Identity;

/// The results on one target, in the order in which they were found.
#[derive(Default)]
struct Target {
    results: Vec<(Result, Vec<Vec<String>>, Vec<String>)>,
}

/// What holds on some paths.
#[derive(Debug, Clone, PartialEq)]
struct Result {
    kind: String,
    group: String,
    controller: String,
    objects: Vec<Value>,
    policy: Value,
}

impl PolicyView<'_> {
    /// `EffectivePolicy` documents, one for each Gateway, route and backend that a path leads through. Each distinct result
    /// is an entry of `policies`; where a target has several of one kind, `paths` and `clusters` say which is which.
    #[must_use]
    pub fn effective_policy_documents(&self) -> Vec<Value> {
        let mut targets: BTreeMap<(String, String, String, String), (Identity, Target)> = BTreeMap::new();
        for seen in self.seen() {
            let mut known: HashMap<(KindId, *const Effective, Node), Result> = HashMap::new();
            for (kind, path) in seen.effective.iter() {
                for node in whole_objects(&path.path) {
                    let identity = seen.attachments.topology.identity(node);
                    let result = known
                        .entry((kind, Arc::as_ptr(&path.effective), node))
                        .or_insert_with(|| self.result(seen, (kind, &path.effective), &path.path, &identity))
                        .clone();
                    let key = (
                        identity.namespace.clone().unwrap_or_default(),
                        identity.name.clone(),
                        identity.group_kind.kind.clone(),
                        identity.group_kind.group.clone(),
                    );
                    let (_, target) = targets.entry(key).or_insert_with(|| (identity, Target::default()));
                    let locators = seen.attachments.topology.path_locators(&path.path);
                    target.add(result, locators, seen.clusters);
                }
            }
        }
        let mut names: BTreeSet<(String, String)> = BTreeSet::new();
        let targets = targets.into_values();
        targets
            .map(|(identity, target)| target.document(&identity, &mut names))
            .collect()
    }

    fn result(
        &self,
        seen: Seen<'_>,
        (kind, effective): (KindId, &Effective),
        path: &Path,
        target: &Identity,
    ) -> Result {
        let attachments = seen.attachments;
        let profile = &attachments.kinds.get(kind).profile;
        let authors: BTreeSet<AuthoredId> = effective.sources(attachments);
        let objects = authors.into_iter().map(|author| attachments.authored(author).object);
        let gateway = attachments.topology.gateways.get(path.gateway).known_as();
        let mut on_hub = self.hub.topology.find(&gateway.identity()).into_iter();
        let controller = on_hub.find_map(|node| match node {
            Node::Gateway(gateway) => Some(controller_name(self.hub, gateway)),
            _ => None,
        });
        let policy = match effective.spec(profile) {
            Some(settings) => with_target(profile, wrapped(profile, settings), target),
            None => {
                let each = effective.content.iter();
                let each = each.map(|(key, leaf)| {
                    let author = attachments.authored(attachments.author_of(key, leaf));
                    (author.locator.to_string(), (*leaf.value).clone())
                });
                Value::Object(each.collect())
            }
        };
        Result {
            kind: profile.kind.clone(),
            group: profile.group.clone(),
            controller: controller.unwrap_or_default(),
            objects: objects.map(reference).collect(),
            policy,
        }
    }
}

/// The settings with a reference to their target, in the field that the kind has.
fn with_target(profile: &Profile, spec: Value, target: &Identity) -> Value {
    let reference = json!({
        "group": target.group_kind.group,
        "kind": target.group_kind.kind,
        "name": target.name,
    });
    let mut spec = match spec {
        Value::Object(spec) => spec,
        other => return other,
    };
    let fields = &profile.target_fields;
    if fields.contains(&TargetField::TargetRefs) {
        spec.insert(TargetField::TargetRefs.name().to_owned(), json!([reference]));
    } else if fields.contains(&TargetField::TargetRef) {
        spec.insert(TargetField::TargetRef.name().to_owned(), reference);
    }
    Value::Object(spec)
}

/// The Gateway, route and backend of a path: what has a name and a namespace of its own.
fn whole_objects(path: &Path) -> impl Iterator<Item = Node> + use<> {
    path.nodes()
        .into_iter()
        .filter(|node| matches!(node, Node::Gateway(_) | Node::Route(_) | Node::Backend(_)))
}

impl Target {
    fn add(&mut self, result: Result, path: Vec<String>, clusters: &[String]) {
        match self.results.iter_mut().find(|(known, ..)| *known == result) {
            Some((_, paths, all)) => {
                if !paths.contains(&path) {
                    paths.push(path);
                }
                joined(all, clusters);
            }
            None => self.results.push((result, vec![path], clusters.to_vec())),
        }
    }

    /// Its name is that of the target after the kind, so that a Gateway and a route of one name have two.
    fn document(mut self, identity: &Identity, names: &mut BTreeSet<(String, String)>) -> Value {
        self.results
            .sort_by(|(a, ..), (b, ..)| (&a.group, &a.kind).cmp(&(&b.group, &b.kind)));
        let counts: Vec<usize> = self
            .results
            .iter()
            .map(|(result, ..)| {
                let same = |(other, ..): &&(Result, _, _)| (&other.group, &other.kind) == (&result.group, &result.kind);
                self.results.iter().filter(same).count()
            })
            .collect();
        let policies = self.results.into_iter().zip(counts);
        let policies: Vec<Value> = policies
            .map(|((result, paths, clusters), same)| entry(result, paths, clusters, same == 1))
            .collect();
        let kind = &identity.group_kind;
        let namespace = identity.namespace.clone().unwrap_or_default();
        let mut name = format!("{}-{}", kind.kind.to_lowercase(), identity.name);
        if !names.insert((namespace.clone(), name.clone())) {
            name = format!("{name}.{}", kind.group);
            names.insert((namespace, name.clone()));
        }
        let mut target = Map::new();
        target.insert("group".to_owned(), json!(kind.group));
        target.insert("kind".to_owned(), json!(kind.kind));
        target.insert("name".to_owned(), json!(identity.name));
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1alpha2",
            "kind": "EffectivePolicy",
            "metadata": {"name": name, "namespace": identity.namespace},
            "targetRef": target,
            "policies": policies,
        })
    }
}

fn entry(result: Result, paths: Vec<Vec<String>>, clusters: Vec<String>, alone: bool) -> Value {
    let mut entry = Map::new();
    entry.insert("controllerName".to_owned(), json!(result.controller));
    entry.insert("objects".to_owned(), Value::Array(result.objects));
    entry.insert(
        "resultantPolicy".to_owned(),
        json!({lower_first(&result.kind): result.policy}),
    );
    if !alone {
        entry.insert("paths".to_owned(), json!(paths));
    }
    if !clusters.is_empty() {
        entry.insert("clusters".to_owned(), json!(clusters));
    }
    Value::Object(entry)
}

/// `AwesomePolicy` is `awesomePolicy`, as in the sample of the earlier text.
fn lower_first(kind: &str) -> String {
    let mut characters = kind.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(characters).collect()
    })
}
