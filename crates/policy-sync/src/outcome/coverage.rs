//! What applies to traffic on each path of one place: the paths that traffic takes, policies or none, and the results of each
//! kind there. Rules ask about paths without a policy, too; coverage counts the routes that have one in effect, and says where
//! the others are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::{GroupKind, Identity, Work};
use schemars::JsonSchema;
use serde::Serialize;

use super::{ClusterLists, PolicyView, Seen, SourceLine};
use crate::diagnostic::{API_VERSION, Finding, Locate, Place};
use crate::policy::{Effective, KindId, Profile, Refinement};
use crate::topology::{Level, Node, Path};

/// The work for a kind on a path.
const STEPS_PER_PATH: u64 = 40;

/// `policies --coverage -o json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
    /// By the locator of each route, how each of the kinds covers it.
    #[serde(skip)]
    pub routes: BTreeMap<String, Vec<RouteCoverage>>,
}

/// How the policies of a kind cover a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RouteCoverage {
    /// No path has a policy in effect.
    None,
    /// Some paths have one, and others do not.
    Partial,
    /// All paths have one, and one of them lets everybody in.
    Open,
    /// All paths have one that does not let everybody in.
    Covered,
}

/// How many routes a kind covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Those with a path without a policy.
    pub gaps: usize,
    /// Whether such a route lacks something: a kind that few routes have is not missing on the others.
    pub expected: bool,
}

/// A route without a policy of a kind at a listener.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
    pub clusters: Arc<[String]>,
    /// Where the route is defined.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// For people: the route, and the listener with its Gateway.
    #[serde(skip)]
    pub names: [String; 2],
}

/// By route, its place, and what is in effect of each kind.
type CoveredRoutes<'c> = BTreeMap<Identity, (Option<SourceLine>, Vec<Covered<'c>>)>;

/// What is in effect of a kind on the paths of a route.
#[derive(Debug, Clone, Default)]
struct Covered<'c> {
    /// Whether a policy is in effect on some path.
    has_policy: bool,
    /// Whether a policy lets everybody in.
    is_open: bool,
    /// By Gateway and listener, the clusters with a path without a policy, by classes that are alike.
    gaps: BTreeMap<(Identity, String), Vec<&'c [String]>>,
}

impl Covered<'_> {
    fn coverage(&self) -> RouteCoverage {
        match (self.has_policy, self.gaps.is_empty(), self.is_open) {
            (false, ..) => RouteCoverage::None,
            (true, false, _) => RouteCoverage::Partial,
            (true, true, true) => RouteCoverage::Open,
            (true, true, false) => RouteCoverage::Covered,
        }
    }
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
        let places = view.seen().map(|seen| {
            let clusters = seen.clusters.iter().filter(|cluster| admits(cluster));
            (seen, clusters.cloned().collect())
        });
        let places: Vec<(Seen<'_>, Vec<String>)> = places.collect();
        let mut routes = CoveredRoutes::new();
        // An input without clusters may be an export of one.
        let is_one = view.spokes.is_empty();
        let inhabited = places
            .iter()
            .filter(|(_, clusters)| is_one || !clusters.is_empty());
        for (seen, clusters) in inhabited {
            let topology = &seen.attachments.topology;
            let in_effect = InEffect::new(*seen, &work);
            for path in in_effect.paths() {
                let Some(route) = path.route else { continue };
                if !work.pay(kinds.len(), STEPS_PER_PATH) {
                    let finding = Finding::too_costly("coverage", Place::Run, "it is not listed");
                    return Err(Box::new(finding.help("look at fewer clusters: `--cluster NAME`")));
                }
                let object = topology.routes.get(route).object;
                let entry = routes.entry(topology.identity(Node::Route(route)));
                let (_, covered) = entry.or_insert_with(|| {
                    let place = SourceLine::of(locate, object.place(""));
                    (place, vec![Covered::default(); kinds.len()])
                });
                let here = in_effect.on(path);
                for (kind, covered) in kinds.iter().zip(covered) {
                    let mut results = here.iter();
                    if let Some((profile, effective)) = results.find_map(|(id, effective)| {
                        let profile = in_effect.profile(*id);
                        (profile.group_kind() == *kind).then_some((profile, effective))
                    }) {
                        covered.has_policy = true;
                        covered.is_open |= profile.lets_everybody_in(&effective.content);
                        continue;
                    }
                    let listener = path.listener.map(|id| topology.listeners.get(id).name);
                    let listener = listener.unwrap_or_default().to_owned();
                    let gateway = topology.identity(path.start.node());
                    let classes = covered.gaps.entry((gateway, listener)).or_default();
                    let last = classes.last();
                    if last.is_none_or(|last| !std::ptr::eq(*last, clusters.as_slice())) {
                        classes.push(clusters);
                    }
                }
            }
        }
        Ok(Self::from_routes(&kinds, !wanted.is_empty(), &routes))
    }

    /// Counts the routes that each kind covers. Gaps of kinds that are not `wanted` are listed if most routes are covered.
    fn from_routes(kinds: &BTreeSet<GroupKind>, is_wanted: bool, routes: &CoveredRoutes<'_>) -> Self {
        let mut lists = ClusterLists::default();
        let (mut listed, mut gaps) = (Vec::new(), Vec::new());
        for (position, kind) in kinds.iter().enumerate() {
            let covered = routes.iter();
            let covered =
                covered.filter_map(|(route, (place, kinds))| Some((route, place, kinds.get(position)?)));
            let coverages: Vec<_> = covered.clone().map(|(.., covered)| covered.coverage()).collect();
            let count = |coverage| coverages.iter().filter(|other| **other == coverage).count();
            let uncovered = count(RouteCoverage::None).saturating_add(count(RouteCoverage::Partial));
            let counted = CoveredKind {
                kind: kind.kind.to_string(),
                group: kind.group.to_string(),
                routes: routes.len(),
                covered: count(RouteCoverage::Covered),
                open: count(RouteCoverage::Open),
                gaps: uncovered,
                expected: count(RouteCoverage::Covered) >= uncovered,
            };
            let is_listed = is_wanted || counted.expected;
            for (route, place, covered) in covered.filter(|_| is_listed) {
                gaps.extend(covered.gaps.iter().map(|((gateway, listener), classes)| Gap {
                    object: route.locator(),
                    listener: listener.clone(),
                    gateway: gateway.locator(),
                    kind: counted.kind.clone(),
                    group: counted.group.clone(),
                    clusters: lists.joined(classes),
                    place: place.clone(),
                    names: match listener.as_str() {
                        "" => [route.to_string(), gateway.to_string()],
                        _ => [route.to_string(), format!("listener {listener} of {gateway}")],
                    },
                }));
            }
            listed.push(counted);
        }
        gaps.sort();
        let coverage = |kinds: &[Covered<'_>]| kinds.iter().map(Covered::coverage).collect();
        let routes = routes
            .iter()
            .map(|(route, (_, kinds))| (route.locator(), coverage(kinds)));
        Self {
            api_version: API_VERSION,
            kind: "CoverageReport",
            kinds: listed,
            gaps,
            routes: routes.collect(),
        }
    }
}

/// The settings of each kind, by the paths in full detail.
pub(super) struct InEffect<'v> {
    pub(super) seen: Seen<'v>,
    by_kind: BTreeMap<KindId, HashMap<Path, Arc<Effective>>>,
    /// Every path, policies or none.
    all: Vec<Path>,
}

impl<'v> InEffect<'v> {
    pub(super) fn new(seen: Seen<'v>, work: &Work) -> Self {
        let Refinement {
            by_kind: refined,
            all,
        } = Refinement::new(seen.attachments, work, |start| seen.effective.has(start));
        let mut by_kind: BTreeMap<KindId, HashMap<Path, Arc<Effective>>> = BTreeMap::new();
        for (kind, [paths, _]) in refined {
            // Without content, nothing of the policies on the way applies.
            let applying = paths
                .into_iter()
                .filter(|path| !path.effective.content.is_empty());
            let applying = applying.map(|path| (path.path, path.effective));
            by_kind.entry(kind).or_default().extend(applying);
        }
        Self { seen, by_kind, all }
    }

    /// The paths that traffic takes: to each listener, and through each route to the last thing that is known of it.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let above: HashSet<Path> = self.all.iter().filter_map(above).collect();
        self.all.iter().filter(move |path| match path.route {
            Some(_) => !above.contains(*path),
            None => path.end() == Level::Listener,
        })
    }

    /// The result of each kind that applies on one of these paths.
    pub(super) fn on(&self, path: &Path) -> Vec<(KindId, &Arc<Effective>)> {
        let candidates = prefixes(path);
        let found = self.by_kind.iter().filter_map(|(kind, by_path)| {
            let profile = self.profile(*kind);
            let counts = |candidate: &&Path| {
                // A listener that no route of the kind is attached to tells what would apply to one, and not to other routes.
                (candidate.route.is_some() || path.route.is_none() || !is_about_routes(profile))
                    && profile.counts(candidate.end(), path.end())
            };
            let mut candidates = candidates.iter().filter(counts);
            candidates.find_map(|candidate| Some((*kind, by_path.get(candidate)?)))
        });
        found.collect()
    }

    pub(super) fn profile(&self, kind: KindId) -> &'v Profile {
        &self.seen.attachments.kinds.get(kind).profile
    }
}

/// Whether routes are on the paths of a kind.
fn is_about_routes(profile: &Profile) -> bool {
    let below = [Level::Route, Level::Rule, Level::Backend, Level::Port];
    below.iter().any(|level| profile.ends.contains(level))
}

/// The path that a path below a route goes on from.
fn above(path: &Path) -> Option<Path> {
    let mut above = *path;
    let is_below =
        above.port.take().is_some() || above.backend.take().is_some() || above.rule.take().is_some();
    is_below.then_some(above)
}

/// A path and what is above it, the longest first: a kind may end at any of these levels.
fn prefixes(path: &Path) -> Vec<Path> {
    let mut found: Vec<Path> = std::iter::successors(Some(*path), above).collect();
    let start = Path::from(path.start);
    let listener = path.listener;
    found.extend([Path { listener, ..start }, start]);
    found.dedup();
    found
}
