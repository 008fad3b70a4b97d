//! All effective policies: one result per kind and path.
//!
//! Owns: computing them, in parallel, and finding those on the way through an object.
//! Flows in: attachments. Flows out: [`EffectivePolicies`].
//! Must not know: how anything is merged, statuses, clusters.

use rayon::prelude::*;

use super::attachment::Attachments;
use super::effective::PathEffective;
use super::ids::KindId;
use super::paths::{PathBudget, on_gateway};
use crate::hub::Table;
use crate::topology::{GatewayId, Node, Path};

/// All effective policies, by Gateway and kind.
#[derive(Debug, Default)]
pub(crate) struct EffectivePolicies {
    /// Of a Gateway that nobody asked for there is nothing.
    by_gateway: Table<GatewayId, Option<Table<KindId, Vec<PathEffective>>>>,
    kinds: Vec<KindId>,
}

impl EffectivePolicies {
    /// Computes them for every Gateway of any class, in parallel.
    #[must_use]
    pub(crate) fn new(attachments: &Attachments<'_>, budget: &PathBudget) -> Self {
        Self::of(attachments, budget, |_| true)
    }

    /// Computes them for the Gateways that `wanted` chooses.
    pub(crate) fn of(
        attachments: &Attachments<'_>,
        budget: &PathBudget,
        wanted: impl Fn(GatewayId) -> bool + Sync,
    ) -> Self {
        let gateways: Vec<GatewayId> = attachments.topology.gateways.ids().collect();
        let by_gateway = gateways
            .into_par_iter()
            .map(|gateway| {
                let kinds = attachments.kinds.ids();
                let on_gateway = |kind| on_gateway(attachments, kind, gateway, budget);
                wanted(gateway).then(|| Table::of(kinds.map(on_gateway).collect()))
            })
            .collect();
        Self {
            by_gateway: Table::of(by_gateway),
            kinds: attachments.kinds.ids().collect(),
        }
    }

    /// Forgets every path, as not all were found.
    pub(crate) fn clear(&mut self) {
        for kinds in self.by_gateway.rows_mut().iter_mut().flatten() {
            for paths in kinds.rows_mut() {
                *paths = Vec::new();
            }
        }
    }

    /// Whether the paths below a Gateway were asked for.
    #[must_use]
    pub(crate) fn has(&self, gateway: GatewayId) -> bool {
        self.by_gateway.get(gateway).is_some()
    }

    /// The paths of one kind below one Gateway.
    #[must_use]
    pub(crate) fn on(&self, kind: KindId, gateway: GatewayId) -> &[PathEffective] {
        match self.by_gateway.get(gateway) {
            Some(kinds) => kinds.get(kind),
            None => &[],
        }
    }

    /// Every path with its kind: by kind, then Gateway, then the order of the topology.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (KindId, &PathEffective)> {
        self.kinds.iter().flat_map(move |kind| {
            self.by_gateway
                .ids()
                .flat_map(move |gateway| self.on(*kind, gateway))
                .map(move |path| (*kind, path))
        })
    }

    /// The paths that lead through a node or end there, with their kinds: what an explanation of an object starts from.
    #[must_use]
    pub(crate) fn through(&self, attachments: &Attachments<'_>, node: Node) -> Vec<(KindId, &PathEffective)> {
        let topology = &attachments.topology;
        let gateways = topology.gateways_of(node);
        let on_path = |path: &Path| match node {
            Node::Class(_) | Node::Gateway(_) => true,
            Node::Namespace(namespace) => {
                let route = path.route.map(|route| topology.routes.get(route).namespace);
                topology.gateways.get(path.gateway).namespace == namespace || route == Some(namespace)
            }
            Node::ListenerSet(set) => path
                .listener
                .is_some_and(|listener| topology.listeners.get(listener).set == Some(set)),
            other => path.nodes().contains(&other),
        };
        let mut found = Vec::new();
        for kind in attachments.kinds.ids() {
            for gateway in &gateways {
                let paths = self.on(kind, *gateway).iter().filter(|path| on_path(&path.path));
                found.extend(paths.map(|path| (kind, path)));
            }
        }
        found
    }

    /// How many paths there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }
}
