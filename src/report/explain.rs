//! `explain`: which policies affect an object, with what settings, from which file and line; and what a policy reaches.
//!
//! Owns: the document `Explanation`. Flows in: the evaluated policies of an input, an object. Flows out: serializable
//! data with places. Must not know: columns and colors; that is [`super::explain_text`].

mod document;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use document::{
    ChangePart, ClusterPart, ExplainedLoss, ExplainedPaths, ExplainedSetting, ObjectExplanation, PolicyPart,
    ReachPart, SettingIfDeleted, Winner,
};

use super::render_report::SourceLine;
use crate::diagnostic::{API_VERSION, Locate};
use crate::object::Object;
use apimachinery::Identity;

use super::policy_view::PolicyView;
use crate::policy::{Effective, KindId, Loss, Outcome, PathEffective, PolicyId, Reach, without};
use crate::topology::{GatewayId, Node, Path};

/// Explains an object of the input.
#[must_use]
pub fn explain(view: &PolicyView<'_>, object: &Object, locate: &dyn Locate) -> ObjectExplanation {
    let explainer = Explainer { view, locate };
    let identity = object.identity();
    let policy = view.attachments.find(&identity);
    let node = view.attachments.topology.find(&identity);
    let paths = match (policy, node) {
        (Some(id), _) => explainer.paths_of_policy(id),
        (None, Some(node)) => view.effective.through(view.attachments, node),
        (None, None) => Vec::new(),
    };
    ObjectExplanation {
        api_version: API_VERSION,
        kind: "Explanation",
        object: identity.locator(),
        title: identity.to_string(),
        place: explainer.place(object, ""),
        cluster: view.attachments.cluster.map(str::to_owned),
        clusters: explainer.clusters(policy, node, &identity),
        shipped_to: explainer.shipped_to(node),
        policy: policy.map(|id| explainer.policy(id)),
        effective: explainer.grouped(&paths),
    }
}

struct Explainer<'e, 'a> {
    view: &'e PolicyView<'a>,
    locate: &'e dyn Locate,
}

impl Explainer<'_, '_> {
    fn place(&self, object: &Object, pointer: &str) -> Option<SourceLine> {
        let span = self.locate.locate(&object.place(pointer))?;
        Some(SourceLine {
            path: span.path.to_owned(),
            line: span.line,
        })
    }

    /// The clusters of the Gateways that lead to it.
    fn clusters(&self, policy: Option<PolicyId>, node: Option<Node>, identity: &Identity) -> Vec<String> {
        let attachments = self.view.attachments;
        let nodes = match policy {
            Some(id) => attachments.policy(id).nodes(),
            None => node.into_iter().collect(),
        };
        if identity.group_kind.kind == "ManagedCluster" {
            return Vec::new();
        }
        self.clusters_of(
            nodes
                .into_iter()
                .flat_map(|node| attachments.topology.gateways_of(node)),
        )
    }

    /// The clusters of Gateways, sorted.
    fn clusters_of(&self, gateways: impl IntoIterator<Item = GatewayId>) -> Vec<String> {
        let known = &self.view.attachments.topology.gateways;
        let clusters: BTreeSet<&String> = gateways
            .into_iter()
            .filter_map(|gateway| self.view.clusters.get(&known.get(gateway).object.key()))
            .flatten()
            .collect();
        clusters.into_iter().cloned().collect()
    }

    /// The clusters of a route that is shipped.
    fn shipped_to(&self, node: Option<Node>) -> Option<Vec<String>> {
        let view = self.view;
        let Some(Node::Route(route)) = node else {
            return None;
        };
        view.routes.get(route)?;
        let clusters = view.routes.clusters(view.attachments, &view.clusters, route);
        Some(clusters.into_iter().map(str::to_owned).collect())
    }

    /// The paths that a policy is on.
    fn paths_of_policy(&self, id: PolicyId) -> Vec<(KindId, &PathEffective)> {
        let attachments = self.view.attachments;
        let policy = attachments.policy(id);
        let gateways: BTreeSet<GatewayId> = policy
            .nodes()
            .into_iter()
            .flat_map(|node| attachments.topology.gateways_of(node))
            .collect();
        let paths = gateways
            .into_iter()
            .flat_map(|gateway| self.view.effective.on(policy.kind, gateway));
        let on: Vec<(KindId, &PathEffective)> = paths
            .filter(|path| path.effective.chain.iter().any(|(_, on_it)| *on_it == id))
            .map(|path| (policy.kind, path))
            .collect();
        if !on.is_empty() || self.winners(id).is_empty() {
            return on;
        }
        // It is on no path, because others took its place: what holds on its targets is theirs.
        let through = policy
            .nodes()
            .into_iter()
            .flat_map(|node| self.view.effective.through(attachments, node));
        through.filter(|(kind, _)| *kind == policy.kind).collect()
    }

    /// Who took the place of a policy of which nothing holds anywhere.
    fn winners(&self, id: PolicyId) -> Vec<Winner> {
        let attachments = self.view.attachments;
        let tally = &self.view.statuses.of(id).tally;
        if tally.outcome() != Outcome::Overridden {
            return Vec::new();
        }
        let by = tally.by.iter().map(|by| attachments.policy(*by));
        by.map(|policy| Winner {
            policy: policy.locator.to_string(),
            title: policy.object.identity().to_string(),
            local: policy.local,
            place: self.place(policy.object, ""),
        })
        .collect()
    }

    /// Equal results together, in the order of their first path.
    fn grouped(&self, paths: &[(KindId, &PathEffective)]) -> Vec<ExplainedPaths> {
        let mut order: Vec<(KindId, &Arc<Effective>, Vec<Path>)> = Vec::new();
        let mut positions: BTreeMap<(KindId, *const Effective), usize> = BTreeMap::new();
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
            .map(|(kind, effective, paths)| {
                let profile = &self.view.attachments.kinds.get(kind).profile;
                ExplainedPaths {
                    kind: profile.kind.clone(),
                    group: profile.group.clone(),
                    paths: self.locators(&paths),
                    labels: self.labels(&paths),
                    settings: self.settings(effective),
                    overridden: self.losses(effective),
                }
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
                place: self.place(
                    self.view.attachments.policy(leaf.policy).object,
                    &leaf.source_pointer(),
                ),
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
        let attachments = self.view.attachments;
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
        let conditions = std::iter::once(&status.accepted).chain(&status.effect);
        let targets = view.attachments.policy(id).nodes();
        let reach = Reach::of(view.attachments, &view.effective, id);
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
                clusters: self.clusters_of(reach.gateways.iter().copied()),
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
            overridden_by: self.winners(id),
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
    fn locators(&self, paths: &[Path]) -> Vec<Vec<String>> {
        let topology = &self.view.attachments.topology;
        paths.iter().map(|path| topology.path_locators(path)).collect()
    }

    /// The paths for people.
    fn labels(&self, paths: &[Path]) -> Vec<String> {
        let topology = &self.view.attachments.topology;
        paths.iter().map(|path| topology.path_label(path)).collect()
    }

    fn if_deleted(&self, id: PolicyId) -> Vec<ChangePart> {
        let mut grouped: BTreeMap<Vec<SettingIfDeleted>, Vec<Path>> = BTreeMap::new();
        for change in without(self.view.attachments, &self.view.effective, id) {
            let changes = self.setting_changes(change.before.as_deref(), change.after.as_deref());
            grouped.entry(changes).or_default().push(change.path);
        }
        grouped
            .into_iter()
            .map(|(changes, paths)| ChangePart {
                paths: self.locators(&paths),
                labels: self.labels(&paths),
                changes,
            })
            .collect()
    }

    fn setting_changes(
        &self,
        before: Option<&Effective>,
        after: Option<&Effective>,
    ) -> Vec<SettingIfDeleted> {
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
            .map(|name| SettingIfDeleted {
                setting: name.to_string(),
                before: before.get(name).map(|leaf| leaf.value.to_string()),
                after: after.get(name).map(|leaf| leaf.value.to_string()),
                after_from: after.get(name).map(|leaf| self.key(leaf.policy)),
            })
            .collect()
    }

    fn key(&self, id: PolicyId) -> String {
        self.view.attachments.policy(id).object.key()
    }
}
