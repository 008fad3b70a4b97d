//! Which policy is attached where.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use apimachinery::Identity;

use super::kinds::{Options, policy_kinds};
use super::merge::per_field::meet;
use super::model::{
    Authored, AuthoredId, Copied, Entry, KindId, Leaf, NodePolicies, Policy, PolicyId, Rejection, Rule,
    Waypoint,
};
use super::products::{self, ProductState, waypoint_of};
use super::profile::{Profile, SameTarget};
use super::reading::read_policy;
use super::targets::resolve_targets;
use crate::diagnostic::{Findings, broken};
use crate::hub::{Grants, Table};
use crate::object::Object;
use crate::parallel;
use crate::topology::{
    BackendId, ClassId, Controllers, Level, ListenerId, NamespaceId, Node, Path, Sources, Start, Topology,
};

/// A policy kind of the input.
#[derive(Debug, Clone, Default)]
pub struct Kind {
    /// What is known about it.
    pub profile: Arc<Profile>,
    /// Its policies by the node that they are attached to.
    pub nodes: BTreeMap<Node, NodePolicies>,
    /// What its product finds out about it.
    pub(super) state: ProductState,
}

/// All policies and where they are attached: enough to decide what reaches a spoke.
#[derive(Debug, Default)]
pub struct Attachments<'a> {
    /// The hierarchy.
    pub topology: Topology<'a>,
    /// Policy kinds that occur, sorted.
    pub kinds: Table<KindId, Kind>,
    /// All policies, by kind, namespace and name; spoke-local ones after the hub's of their kind.
    pub policies: Table<PolicyId, Policy<'a>>,
    /// The root namespace of a mesh that some policy applies to.
    pub(super) mesh: Option<NamespaceId>,
    /// The Services that a waypoint serves, if Istio's policies are in the input.
    pub(super) waypoints: BTreeMap<BackendId, Waypoint>,
    /// The classes whose Gateways are known to run as one.
    pub(super) merged_classes: BTreeSet<ClassId>,
    /// The policies with a setting that their controller refuses everywhere, and why: found once for all of their targets.
    pub(super) wrong_settings: BTreeMap<PolicyId, Rejection>,
    /// The policies by their identity, computed when needed.
    policy_ids: OnceLock<HashMap<Identity, PolicyId>>,
}

impl<'a> Attachments<'a> {
    /// Reads and attaches every policy, of the hub or of a cluster. `copied` maps the policies that were synced to a
    /// cluster to their originals, by their identity there.
    pub fn new(
        sources: Sources<'a>,
        copied: &HashMap<Identity, Copied<'a>>,
        grants: &Grants<'a>,
        options: &Options<'_>,
        findings: &mut Findings,
    ) -> Self {
        let mut attachments = Self::default();
        for profile in policy_kinds(sources, options) {
            attachments.kinds.push(Kind {
                profile,
                ..Kind::default()
            });
        }
        let mut unread: Table<PolicyId, (&Object, KindId, bool)> = Table::default();
        for (id, kind) in attachments.kinds.iter() {
            let of_kind = sources.of_kind(&kind.profile.group, &kind.profile.kind);
            for (object, local) in of_kind.filter(|(object, _)| options.reads(object)) {
                unread.push((object, id, local));
            }
        }
        let unread: Vec<_> = unread.iter().collect();
        let read = || {
            parallel::map(&unread, |(id, (object, kind, local))| {
                let profile = &attachments.kinds.get(*kind).profile;
                let (mut policy, found) = read_policy(object, (*id, *kind, *local), profile, options);
                if !local
                    && !copied.is_empty()
                    && let Some(copied) = copied.get(&object.identity())
                {
                    policy.authored.clone_from(&copied.authored);
                    policy.settings.clone_from(&copied.settings);
                }
                (policy, found)
            })
        };
        let unknown = Controllers::default();
        let controllers = options.controllers.unwrap_or(&unknown);
        let sources_by_age = (sources, options.seniority());
        // Gateways are linked one after the other, and policies are read in parallel beside that. This thread links: the
        // allocator keeps what a thread freed for that thread, and this one has read the input.
        let (mut read_policies, mut linked) = (Vec::new(), <(Topology<'_>, Findings)>::default());
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| read_policies = read());
            linked = Topology::new(sources_by_age, grants, (options.routes, controllers));
        });
        let (mut topology, found) = linked;
        findings.extend(found);
        let merged_classes = products::all().flat_map(|product| product.merged_classes(&topology, sources));
        attachments.merged_classes = merged_classes.collect();
        let (mut policies, found): (Vec<_>, Vec<_>) = read_policies.into_iter().unzip();
        findings.extend(found.into_iter().flatten());
        let kinds = &attachments.kinds;
        let unresolved = policies.iter_mut();
        let unresolved = unresolved.map(|policy| {
            let profile = kinds.get(policy.kind).profile.as_ref();
            (policy, profile)
        });
        findings.extend(resolve_targets(
            unresolved,
            (&mut topology, sources),
            grants,
            options,
        ));
        attachments.policies = Table::from_rows(policies);
        attachments.topology = topology;
        // A policy that targets a waypoint applies to the Services that it serves.
        let mut kinds = attachments.kinds.rows().iter();
        if kinds.any(|kind| kind.profile.of_workloads) {
            let topology = &attachments.topology;
            let served = topology.backends.ids();
            let served = served.filter_map(|id| Some((id, waypoint_of(topology, id)?.ok()?)));
            attachments.waypoints = served.collect();
        }
        attachments.place(sources, grants);
        attachments
    }

    /// Puts every policy on its nodes, in role order, and refuses what its kind refuses.
    fn place(&mut self, sources: Sources<'a>, grants: &Grants<'a>) {
        for (id, policy) in self.policies.iter().filter(|(_, policy)| policy.counts()) {
            let kind = self.kinds.get_mut(policy.kind);
            for node in policy.nodes() {
                if let Node::Mesh(root) = node {
                    self.mesh = Some(root);
                }
                let placed = kind.nodes.entry(node).or_default();
                placed.accepted.push(Entry::new(id, Arc::clone(&policy.layers)));
            }
        }
        self.void_what_is_refused(sources, grants);
        let policies = &self.policies;
        for kind in self.kinds.rows_mut() {
            let profile = Arc::clone(&kind.profile);
            for (node, placed) in &mut kind.nodes {
                settle(placed, &profile, policies);
                if let (Node::Backend(backend), true) = (node, profile.of_workloads) {
                    let is_served = self.waypoints.contains_key(backend);
                    let accepted = placed.accepted.iter().cloned();
                    let (named, selecting): (Vec<Entry>, Vec<Entry>) =
                        accepted.partition(|entry| policies.get(entry.policy).has_targets());
                    placed.at_waypoint = named.into_iter().filter(|_| is_served).collect();
                    placed.at_workloads = selecting;
                }
            }
        }
        self.void_at_listeners();
    }

    /// Takes the settings away from policies that their controller refuses where they are attached. They stay there, as
    /// what they would have taken the place of does not come back: the controller answers with an error, or leaves its
    /// own defaults (`envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`).
    fn void_what_is_refused(&mut self, sources: Sources<'a>, grants: &Grants<'a>) {
        let (topology, policies, kinds) = (&self.topology, &self.policies, &self.kinds);
        let refused = policies.iter().filter_map(|(id, policy)| {
            let profile = &kinds.get(policy.kind).profile;
            let mut rejections = products::all()
                .filter_map(|product| product.wrong_setting(profile, policy.object, sources, grants));
            Some((id, rejections.next()?))
        });
        self.wrong_settings = refused.collect();
        let wrong_settings = &self.wrong_settings;
        for kind in self.kinds.rows_mut() {
            let profile = &kind.profile;
            for (node, placed) in &mut kind.nodes {
                let route = node.route().map(|route| topology.routes.get(route).object);
                for entry in &mut placed.accepted {
                    let policy = policies.get(entry.policy).object;
                    let is_unfit = |route: &Object| {
                        products::all().any(|product| product.unfit(profile, policy, &route.kind).is_some())
                    };
                    if route.is_some_and(is_unfit) {
                        // This one is refused before it takes a place: what it would have replaced applies.
                        placed.unfit.insert(entry.policy);
                    } else if wrong_settings.contains_key(&entry.policy) {
                        // Empty settings keep its place: the controller answers with an error there, and no other
                        // policy applies (docs/systems/envoy-gateway.md#refused-settings).
                        entry.layers = Arc::from([]);
                        placed.refused.insert(entry.policy);
                    }
                }
            }
        }
    }

    /// Takes the settings away where a controller refuses a policy at some of the listeners that its target stands for.
    fn void_at_listeners(&mut self) {
        for kind in self.kinds.ids() {
            let refused = products::all().flat_map(|product| product.refused_at_listeners(self, kind));
            let refused: Vec<_> = refused.collect();
            let nodes = &mut self.kinds.get_mut(kind).nodes;
            for (node, listener, there) in refused {
                if let Some(placed) = nodes.get_mut(&node) {
                    placed.refused_at.insert(listener, there);
                }
            }
        }
    }

    /// The policy with this identity.
    pub fn find(&self, identity: &Identity) -> Option<PolicyId> {
        let by_identity = || {
            let mut ids = HashMap::new();
            for (id, policy) in self.policies.iter() {
                ids.entry(policy.object.identity()).or_insert(id);
            }
            ids
        };
        self.policy_ids.get_or_init(by_identity).get(identity).copied()
    }

    /// The number of a kind.
    pub fn kind_of(&self, group: &str, kind: &str) -> Option<KindId> {
        let mut kinds = self.kinds.iter();
        let found = kinds.find(|(_, known)| known.profile.group == group && known.profile.kind == kind);
        found.map(|(id, _)| id)
    }

    /// The policy with this number.
    pub fn policy(&self, id: PolicyId) -> &Policy<'a> {
        self.policies.get(id)
    }

    /// The profile of a policy.
    pub fn profile(&self, id: PolicyId) -> &Profile {
        &self.kinds.get(self.policy(id).kind).profile
    }

    /// Where traffic through a node begins that is any business of a policy: at Gateways, and at Services of a mesh if
    /// its controller serves those.
    pub fn starts_of(&self, id: PolicyId, node: Node) -> Vec<Start> {
        let mut starts = self.topology.starts_of(node);
        if !self.profile(id).in_mesh {
            starts.retain(|start| matches!(start, Start::Gateway(_)));
        }
        starts
    }

    /// The rule by which one policy beats another on the same node.
    pub(crate) fn rule_on_one_node(&self, winner: PolicyId, loser: PolicyId) -> Rule {
        let standing = |id| self.authored(itself(id)).standing();
        Rule::on_one_level(standing(winner), standing(loser))
    }

    /// The originals of a policy, by its number.
    pub fn authored(&self, id: AuthoredId) -> &Authored<'a> {
        let all = &self.policy(id.policy).authored;
        let found = all.get(id.position as usize).or_else(|| all.first());
        found.unwrap_or_else(|| broken(format_args!("policy {id:?} stands for nothing")))
    }

    /// The author of a setting.
    pub fn author_of(&self, key: &str, leaf: &Leaf) -> AuthoredId {
        self.policy(leaf.policy).author_of(key, leaf)
    }

    /// The object that a setting is written in, and the pointer of it there.
    pub fn written_at(&self, key: &str, leaf: &Leaf) -> (&Authored<'a>, String) {
        let authored = self.authored(self.author_of(key, leaf));
        let layers = authored.layers.iter();
        let there = layers.filter_map(|layer| layer.content.get(key));
        // A policy may have a setting in both wrappers: the one with the value that applies was meant.
        let there = there.min_by_key(|there| there.value != leaf.value);
        (authored, there.unwrap_or(leaf).source_pointer())
    }

    /// A setting that does not apply, as its author wrote it.
    pub fn lost(&self, author: AuthoredId, key: &str) -> Option<&Leaf> {
        let mut layers = self.authored(author).layers.iter();
        layers.find_map(|layer| layer.content.get(key))
    }

    /// The locator of a policy.
    pub fn locator(&self, id: PolicyId) -> Arc<str> {
        self.policy(id).locator()
    }

    /// The policies of a kind on a node.
    pub(super) fn placed(&self, kind: KindId, node: Node) -> Option<&NodePolicies> {
        self.kinds.get(kind).nodes.get(&node)
    }

    /// The accepted policies of a kind on a node, established first.
    pub fn on(&self, kind: KindId, node: Node) -> &[Entry] {
        self.placed(kind, node).map_or(&[], |placed| &placed.accepted)
    }

    /// Whether the controller refuses a policy on a node, or at a listener there.
    pub(crate) fn refuses(&self, id: PolicyId, node: Node, listener: Option<ListenerId>) -> bool {
        self.placed(self.policy(id).kind, node).is_some_and(|placed| {
            let is_there = |listener| placed.refused_at.contains_key(&listener);
            placed.refused.contains(&id) || listener.is_some_and(is_there)
        })
    }

    /// A policy as it is written, even where its controller refuses it.
    pub(super) fn entry(&self, id: PolicyId) -> Entry {
        Entry::new(id, Arc::clone(&self.policy(id).layers))
    }

    /// Whether a path ends at a listener only because no route is known that hangs there.
    pub(crate) fn leads_to_no_route(&self, kind: KindId, path: &Path) -> bool {
        let ends = &self.kinds.get(kind).profile.ends;
        path.end() == Level::Listener && !ends.contains(&Level::Listener) && !ends.contains(&Level::Gateway)
    }

    /// A path for people; one that leads to no route is described by what it stands for.
    pub fn path_label(&self, kind: KindId, path: &Path) -> String {
        let label = self.topology.path_label(path);
        if self.leads_to_no_route(kind, path) {
            return format!("{label} > any route");
        }
        label
    }

    /// The policy that excludes another one on a node, if its kind refuses a second one there.
    pub fn conflicted_by(&self, id: PolicyId, node: Node) -> Option<PolicyId> {
        let placed = self.placed(self.policy(id).kind, node)?;
        let rank = &self.policy(id).rank;
        let rank_of = |other: &PolicyId| &self.policy(*other).rank;
        // They are in role order: a thousand policies on a thousand targets cannot each look at all others.
        let start = placed.rejected.partition_point(|other| rank_of(other) < rank);
        let mut peers = placed.rejected.get(start..)?.iter();
        // Several may be of one rank if two objects have one name, which is an error of its own.
        let mut equals = peers.by_ref().take_while(|other| rank_of(other) == rank);
        equals.find(|other| **other == id)?;
        let (profile, own) = (self.profile(id), &self.policy(id).layers);
        let mut accepted = placed.accepted.iter();
        let in_its_way = accepted
            .find(|entry| profile.same_target != SameTarget::PerField || meet(profile, &entry.layers, own));
        in_its_way.map(|entry| entry.policy)
    }
}

/// The number of a policy that stands for itself.
pub(super) const fn itself(policy: PolicyId) -> AuthoredId {
    AuthoredId { policy, position: 0 }
}

/// Orders the policies of one node and applies what happens to two of them: age and name; a kind without merging keeps
/// one, and one whose policies add up per field those that set nothing twice.
fn settle(placed: &mut NodePolicies, profile: &Profile, policies: &Table<PolicyId, Policy<'_>>) {
    placed
        .accepted
        .sort_by_key(|entry| &policies.get(entry.policy).rank);
    if profile.same_target == SameTarget::Reject && placed.accepted.len() > 1 {
        placed.rejected = placed.accepted.drain(1..).map(|entry| entry.policy).collect();
    }
    if profile.same_target == SameTarget::PerField {
        for entry in std::mem::take(&mut placed.accepted) {
            let is_older = |older: &Entry| meet(profile, &older.layers, &entry.layers);
            if placed.accepted.iter().any(is_older) {
                placed.rejected.push(entry.policy);
            } else {
                placed.accepted.push(entry);
            }
        }
    }
}
