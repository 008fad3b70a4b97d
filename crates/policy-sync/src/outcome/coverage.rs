//! Which routes have a policy of each kind in effect, and where the others are.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::{GroupKind, Identity, Work};
use serde::Serialize;

use super::in_effect::{InEffect, is_about_routes};
use super::{PolicyView, SourceLine};
use crate::diagnostic::{API_VERSION, Finding, Locate, Place};
use crate::topology::Node;

/// The work for a kind on a path.
const STEPS_PER_PATH: u64 = 40;

/// `policies --coverage -o json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CoverageReport {
    /// `spokewright.dev/v1alpha1`.
    pub api_version: &'static str,
    /// `CoverageReport`.
    pub kind: &'static str,
    /// The kinds, by name.
    pub kinds: Vec<CoveredKind>,
    /// Routes without a policy of a kind, by route.
    pub gaps: Vec<Gap>,
}

/// How many routes a kind covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoveredKind {
    /// The kind.
    pub kind: String,
    /// Its API group.
    pub group: String,
    /// All routes that traffic takes on a cluster.
    pub routes: usize,
    /// Those with a policy in effect on all of their paths on all clusters, none of which lets everybody in.
    pub covered: usize,
    /// Those with a policy everywhere, and one that lets everybody in on purpose.
    pub open: usize,
}

impl CoveredKind {
    /// How many routes have a path without a policy.
    pub const fn gaps(&self) -> usize {
        self.routes.saturating_sub(self.covered).saturating_sub(self.open)
    }
}

/// A route without a policy of a kind at a listener.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// Locator of the route.
    pub object: String,
    /// Name of the listener; empty for a Service of a mesh.
    pub listener: String,
    /// Locator of the Gateway, or of the Service of a mesh.
    pub gateway: String,
    /// The kind.
    pub kind: String,
    /// Its API group.
    pub group: String,
    /// The clusters where no policy of the kind is in effect on some path, sorted.
    pub clusters: Vec<String>,
    /// Where the route is defined.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// For people: the route, and the listener with its Gateway.
    #[serde(skip)]
    pub names: [String; 2],
}

/// What is in effect on the paths of a route.
#[derive(Default)]
struct Covered {
    /// Whether a policy lets everybody in.
    is_open: bool,
    /// By Gateway and listener, the clusters with a path without a policy.
    gaps: BTreeMap<(Identity, String), BTreeSet<String>>,
}

impl CoverageReport {
    /// The coverage of the kinds that are `wanted`, or, if there are none, of all that a policy of the input has and that are
    /// about routes, on the clusters that `admits` accepts. Of a kind that is not wanted, gaps are listed if most routes
    /// are covered.
    ///
    /// # Errors
    ///
    /// That it takes too much work.
    pub fn new(
        view: &PolicyView<'_>,
        wanted: &[GroupKind],
        admits: impl Fn(&str) -> bool,
        locate: &dyn Locate,
    ) -> Result<Self, Box<Finding>> {
        let work = Work::default();
        let mut kinds: BTreeSet<GroupKind> = wanted.iter().cloned().collect();
        if kinds.is_empty() {
            let policies = view.seen().flat_map(|seen| {
                let policies = seen.attachments.policies.rows().iter();
                policies.map(move |policy| &seen.attachments.kinds.get(policy.kind).profile)
            });
            let about_routes = policies.filter(|profile| is_about_routes(profile));
            kinds.extend(about_routes.map(|profile| profile.group_kind()));
        }
        let mut routes: BTreeMap<Identity, Option<SourceLine>> = BTreeMap::new();
        let mut covered: BTreeMap<(&GroupKind, Identity), Covered> = BTreeMap::new();
        for seen in view.seen() {
            let clusters = seen.clusters.iter().filter(|cluster| admits(cluster));
            let clusters: BTreeSet<String> = clusters.cloned().collect();
            if clusters.is_empty() {
                continue;
            }
            let topology = &seen.attachments.topology;
            let in_effect = InEffect::new(seen);
            for path in in_effect.paths(&work) {
                let Some(route) = path.route else { continue };
                if !work.pay(kinds.len(), STEPS_PER_PATH) {
                    let finding = Finding::too_costly("coverage", Place::Run, "it is not listed");
                    return Err(Box::new(finding.help("look at fewer clusters: `--cluster NAME`")));
                }
                let identity = topology.identity(Node::Route(route));
                let object = topology.routes.get(route).object;
                routes
                    .entry(identity.clone())
                    .or_insert_with(|| SourceLine::slashed(locate, object.place("")));
                let here = in_effect.on(&path);
                for kind in &kinds {
                    let mut of_kind = here
                        .iter()
                        .filter(|(id, _)| in_effect.profile(*id).group_kind() == *kind);
                    let of_route = covered.entry((kind, identity.clone())).or_default();
                    if let Some((id, effective)) = of_kind.next() {
                        let profile = in_effect.profile(*id);
                        of_route.is_open |= profile.lets_everybody_in(&effective.content);
                        continue;
                    }
                    let listener = path
                        .listener
                        .map(|listener| topology.listeners.get(listener).name);
                    let key = (
                        topology.identity(path.start.node()),
                        listener.unwrap_or_default().to_owned(),
                    );
                    of_route
                        .gaps
                        .entry(key)
                        .or_default()
                        .extend(clusters.iter().cloned());
                }
            }
        }
        let of_kind = |kind: &GroupKind| {
            let of_kind = covered.iter().filter(|((of, _), _)| *of == kind);
            let whole = of_kind.filter(|(_, covered)| covered.gaps.is_empty());
            let (open, covered): (Vec<_>, Vec<_>) = whole.partition(|(_, covered)| covered.is_open);
            CoveredKind {
                kind: kind.kind.to_string(),
                group: kind.group.to_string(),
                routes: routes.len(),
                covered: covered.len(),
                open: open.len(),
            }
        };
        let listed: Vec<CoveredKind> = kinds.iter().map(of_kind).collect();
        let mut gaps = Vec::new();
        for ((kind, route), covered) in &covered {
            let of_kind = listed
                .iter()
                .find(|known| known.kind == kind.kind.as_str() && known.group == kind.group.as_str());
            // A kind that few routes have is not missing on the others.
            let is_listed = !wanted.is_empty() || of_kind.is_some_and(|known| known.covered >= known.gaps());
            for ((gateway, listener), clusters) in covered.gaps.iter().filter(|_| is_listed) {
                gaps.push(Gap {
                    object: route.locator(),
                    listener: listener.clone(),
                    gateway: gateway.locator(),
                    kind: kind.kind.to_string(),
                    group: kind.group.to_string(),
                    clusters: clusters.iter().cloned().collect(),
                    place: routes.get(route).cloned().flatten(),
                    names: [
                        route.to_string(),
                        if listener.is_empty() {
                            gateway.to_string()
                        } else {
                            format!("listener {listener} of {gateway}")
                        },
                    ],
                });
            }
        }
        gaps.sort();
        Ok(Self {
            api_version: API_VERSION,
            kind: "CoverageReport",
            kinds: listed,
            gaps,
        })
    }
}
