//! `explain`: which policies affect an object, with what settings, from which file and line; and what a policy reaches.
//!
//! Owns: the document `Explanation`. Flows in: the evaluated policies of an input, an object. Flows out: serialisable
//! data with places. Must not know: columns and colours; that is [`super::explain_text`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::render_report::Place;
use crate::diagnostic::{API_VERSION, Locate};
use crate::object::{Identity, Object};

use crate::policy::effective::Loss;
use crate::policy::reach::without;
use crate::policy::status::Condition;
use crate::policy::{Effective, Node, Path, PathEffective, PolicyId, PolicyView, Reach};

/// Everything about one object, kind `Explanation`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    api_version: &'static str,
    kind: &'static str,
    /// Locator of the object.
    pub object: String,
    /// For people: `Gateway shop/storefront`.
    #[serde(skip)]
    pub title: String,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// The cluster that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Clusters that it goes to, sorted.
    pub clusters: Vec<String>,
    /// Of a policy: what becomes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPart>,
    /// What holds on the paths through it, equal results together.
    pub effective: Vec<ExplainedPaths>,
}

/// What is said of a policy.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyPart {
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// Locators of its targets.
    pub targets: Vec<String>,
    /// How much it touches.
    pub reach: ReachPart,
    /// Clusters where a spoke-local policy is in the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_clusters: Vec<ClusterPart>,
    /// What would change if it were deleted.
    pub if_deleted: Vec<ChangePart>,
}

/// The reach of a policy: locators.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReachPart {
    /// Cluster names.
    pub clusters: Vec<String>,
    /// Gateways.
    pub gateways: Vec<String>,
    /// Listeners.
    pub listeners: Vec<String>,
    /// Routes.
    pub routes: Vec<String>,
    /// Backends.
    pub backends: Vec<String>,
}

/// What becomes of a policy on one cluster.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterPart {
    /// The cluster.
    pub cluster: String,
    /// Enforced or Programmed there.
    pub condition: Condition,
}

/// Results that would change.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangePart {
    /// The paths, as locators.
    pub paths: Vec<Vec<String>>,
    /// The paths for people.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// Settings that would go or change: name, old value, new value (none: gone).
    pub changes: Vec<SettingChange>,
}

/// One setting that would change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SettingChange {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Today's value as JSON, none when there is none.
    pub before: Option<String>,
    /// The value without the policy.
    pub after: Option<String>,
    /// Who would give it.
    pub after_from: Option<String>,
}

/// Paths with one result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPaths {
    /// The policy kind.
    pub kind: String,
    /// Its group.
    pub group: String,
    /// The paths, as locators.
    pub paths: Vec<Vec<String>>,
    /// The paths for people.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// What holds, and from where.
    pub settings: Vec<ExplainedSetting>,
    /// What does not, and why.
    pub overridden: Vec<ExplainedLoss>,
}

/// A setting with its origin.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedSetting {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Its value.
    pub value: Value,
    /// Locator of the policy.
    pub policy: String,
    /// `namespace/name` of the policy.
    #[serde(skip)]
    pub key: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<Place>,
}

/// A setting that lost.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedLoss {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Whose it is.
    pub policy: String,
    /// `namespace/name` of that policy.
    #[serde(skip)]
    pub key: String,
    /// Who took its place.
    pub by: Vec<String>,
    /// `namespace/name` of those.
    #[serde(skip)]
    pub by_keys: Vec<String>,
    /// The rule that decided, by its stable name.
    pub rule: &'static str,
    /// The rule in words.
    pub because: &'static str,
}

/// Explains an object of the input.
#[must_use]
pub fn explain(view: &PolicyView<'_>, object: &Object, locate: &dyn Locate) -> Explanation {
    let explainer = Explainer { view, locate };
    let identity = object.identity();
    let policy = view.attachments.find(&identity);
    let node = view.attachments.topology.find(&identity);
    let paths = match (policy, node) {
        (Some(id), _) => explainer.paths_of_policy(id),
        (None, Some(node)) => view.effective.through(&view.attachments, node),
        (None, None) => Vec::new(),
    };
    Explanation {
        api_version: API_VERSION,
        kind: "Explanation",
        object: identity.locator(),
        title: identity.to_string(),
        place: explainer.place(object, ""),
        cluster: view.attachments.cluster.map(str::to_owned),
        clusters: explainer.clusters(policy, node, &identity),
        policy: policy.map(|id| explainer.policy(id)),
        effective: explainer.grouped(&paths),
    }
}

struct Explainer<'e, 'a> {
    view: &'e PolicyView<'a>,
    locate: &'e dyn Locate,
}

impl Explainer<'_, '_> {
    fn place(&self, object: &Object, pointer: &str) -> Option<Place> {
        let span = self.locate.locate(&object.place(pointer))?;
        Some(Place {
            path: span.path.to_owned(),
            line: span.line,
        })
    }

    /// The clusters of the Gateways that lead to it.
    fn clusters(&self, policy: Option<PolicyId>, node: Option<Node>, identity: &Identity) -> Vec<String> {
        let attachments = &self.view.attachments;
        let nodes = match policy {
            Some(id) => attachments
                .policy(id)
                .map(crate::policy::attachment::Policy::nodes)
                .unwrap_or_default(),
            None => node.into_iter().collect(),
        };
        let gateways = nodes
            .into_iter()
            .flat_map(|node| crate::policy::reach::gateways_of(&attachments.topology, node))
            .filter_map(|gateway| attachments.topology.gateway(gateway));
        let mut clusters: BTreeSet<&String> = gateways
            .filter_map(|gateway| self.view.clusters.get(&gateway.object.key()))
            .flatten()
            .collect();
        if identity.group_kind.kind == "ManagedCluster" {
            clusters.clear();
        }
        clusters.into_iter().cloned().collect()
    }

    /// The paths that a policy is on.
    fn paths_of_policy(&self, id: PolicyId) -> Vec<(usize, &PathEffective)> {
        let attachments = &self.view.attachments;
        let Some(policy) = attachments.policy(id) else {
            return Vec::new();
        };
        let gateways: BTreeSet<u32> = policy
            .nodes()
            .into_iter()
            .flat_map(|node| crate::policy::reach::gateways_of(&attachments.topology, node))
            .collect();
        let paths = gateways
            .into_iter()
            .flat_map(|gateway| self.view.effective.on(policy.kind, gateway));
        paths
            .filter(|path| path.effective.chain.iter().any(|(_, on_it)| *on_it == id))
            .map(|path| (policy.kind, path))
            .collect()
    }

    /// Equal results together, in the order of their first path.
    fn grouped(&self, paths: &[(usize, &PathEffective)]) -> Vec<ExplainedPaths> {
        let mut order: Vec<(usize, &Arc<Effective>, Vec<Path>)> = Vec::new();
        let mut positions: BTreeMap<(usize, *const Effective), usize> = BTreeMap::new();
        for (kind, path) in paths {
            let key = (*kind, Arc::as_ptr(&path.effective));
            let position = *positions.entry(key).or_insert_with(|| {
                order.push((*kind, &path.effective, Vec::new()));
                order.len().saturating_sub(1)
            });
            if let Some((_, _, paths)) = order.get_mut(position) {
                paths.push(path.path);
            }
        }
        order
            .into_iter()
            .filter_map(|(kind, effective, paths)| {
                let profile = &self.view.attachments.kinds.get(kind)?.profile;
                Some(ExplainedPaths {
                    kind: profile.kind.clone(),
                    group: profile.group.clone(),
                    paths: paths
                        .iter()
                        .map(|path| self.view.attachments.topology.path_locators(path))
                        .collect(),
                    labels: paths
                        .iter()
                        .map(|path| self.view.attachments.topology.path_label(path))
                        .collect(),
                    settings: self.settings(effective),
                    overridden: self.losses(effective),
                })
            })
            .collect()
    }

    fn settings(&self, effective: &Effective) -> Vec<ExplainedSetting> {
        effective
            .content
            .iter()
            .map(|(name, leaf)| ExplainedSetting {
                setting: name.to_string(),
                value: (*leaf.value).clone(),
                policy: self.view.attachments.locator(leaf.policy).to_string(),
                key: self.key(leaf.policy),
                place: self
                    .view
                    .attachments
                    .policy(leaf.policy)
                    .and_then(|policy| self.place(policy.object, &leaf.source_pointer())),
            })
            .collect()
    }

    fn losses(&self, effective: &Effective) -> Vec<ExplainedLoss> {
        effective
            .losses
            .iter()
            .map(|loss| self.loss(effective, loss))
            .collect()
    }

    fn loss(&self, effective: &Effective, loss: &Loss) -> ExplainedLoss {
        let attachments = &self.view.attachments;
        let rule = loss
            .by
            .first()
            .and_then(|by| effective.rule(attachments, *by, loss.policy));
        ExplainedLoss {
            setting: loss.key.to_string(),
            policy: attachments.locator(loss.policy).to_string(),
            key: self.key(loss.policy),
            by: loss
                .by
                .iter()
                .map(|by| attachments.locator(*by).to_string())
                .collect(),
            by_keys: loss.by.iter().map(|by| self.key(*by)).collect(),
            rule: rule.map_or("", crate::policy::Rule::name),
            because: rule.map_or("", crate::policy::Rule::because),
        }
    }

    fn policy(&self, id: PolicyId) -> PolicyPart {
        let view = self.view;
        let topology = &view.attachments.topology;
        let status = view.statuses.of(id);
        let conditions = status
            .into_iter()
            .flat_map(|status| std::iter::once(&status.accepted).chain(&status.effect));
        let targets = view
            .attachments
            .policy(id)
            .map(crate::policy::attachment::Policy::nodes)
            .unwrap_or_default();
        let reach = Reach::of(&view.attachments, &view.effective, &view.clusters, id);
        let locators = |nodes: Vec<Node>| nodes.into_iter().map(|node| topology.locator(node)).collect();
        let effects = view.effects.iter().flat_map(|(cluster, effects)| {
            effects
                .iter()
                .filter(|effect| effect.policy == id)
                .map(move |effect| (cluster, effect))
        });
        PolicyPart {
            conditions: conditions.cloned().collect(),
            targets: locators(targets),
            reach: ReachPart {
                clusters: reach.clusters.into_iter().collect(),
                gateways: locators(reach.gateways.into_iter().map(Node::Gateway).collect()),
                listeners: locators(
                    reach
                        .listeners
                        .into_iter()
                        .map(|(gateway, listener)| Node::Listener(gateway, listener))
                        .collect(),
                ),
                routes: locators(reach.routes.into_iter().map(Node::Route).collect()),
                backends: locators(reach.backends.into_iter().map(Node::Backend).collect()),
            },
            on_clusters: effects
                .map(|(cluster, effect)| ClusterPart {
                    cluster: cluster.clone(),
                    condition: effect.condition.clone(),
                })
                .collect(),
            if_deleted: self.if_deleted(id),
        }
    }

    /// What each path would lose or get instead; paths with equal changes together.
    fn if_deleted(&self, id: PolicyId) -> Vec<ChangePart> {
        let mut grouped: BTreeMap<Vec<SettingChange>, Vec<Path>> = BTreeMap::new();
        for change in without(&self.view.attachments, &self.view.effective, id) {
            let changes = self.setting_changes(change.before.as_deref(), change.after.as_deref());
            grouped.entry(changes).or_default().push(change.path);
        }
        grouped
            .into_iter()
            .map(|(changes, paths)| ChangePart {
                paths: paths
                    .iter()
                    .map(|path| self.view.attachments.topology.path_locators(path))
                    .collect(),
                labels: paths
                    .iter()
                    .map(|path| self.view.attachments.topology.path_label(path))
                    .collect(),
                changes,
            })
            .collect()
    }

    fn setting_changes(&self, before: Option<&Effective>, after: Option<&Effective>) -> Vec<SettingChange> {
        let content = |effective: Option<&Effective>| {
            effective
                .map(|effective| Arc::clone(&effective.content))
                .unwrap_or_default()
        };
        let (before, after) = (content(before), content(after));
        let names: BTreeSet<&Arc<str>> = before.keys().chain(after.keys()).collect();
        names
            .into_iter()
            .filter(|name| {
                before.get(*name).map(|leaf| &leaf.value) != after.get(*name).map(|leaf| &leaf.value)
            })
            .map(|name| SettingChange {
                setting: name.to_string(),
                before: before.get(name).map(|leaf| leaf.value.to_string()),
                after: after.get(name).map(|leaf| leaf.value.to_string()),
                after_from: after.get(name).map(|leaf| self.key(leaf.policy)),
            })
            .collect()
    }

    fn key(&self, id: PolicyId) -> String {
        self.view
            .attachments
            .policy(id)
            .map(|policy| policy.object.key())
            .unwrap_or_default()
    }
}
