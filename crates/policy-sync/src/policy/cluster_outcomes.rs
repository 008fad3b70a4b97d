//! The outcome of every policy, on every cluster that it goes to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::attachment::Attachments;
use super::condition::Outcome;
use super::effective_policies::EffectivePolicies;
use super::model::{Authored, AuthoredId, Rule};
use crate::object::Object;
use crate::topology::Start;

/// The policies that override a policy, by locator.
pub(crate) type Winners<'a> = BTreeMap<Arc<str>, Winner<'a>>;

/// A policy that overrides another.
#[derive(Debug, Clone)]
pub struct Winner<'a> {
    /// The policy.
    pub object: &'a Object,
    /// Whether it lives on the cluster.
    pub local: bool,
    /// The rules that decided.
    pub(crate) rules: BTreeSet<Rule>,
}

/// The fate of the settings of a policy on the paths of a Gateway, or on all.
#[derive(Debug, Clone, Default)]
pub struct Tally<'a> {
    /// Some of its settings apply somewhere.
    survived: bool,
    /// Some of its settings do not apply somewhere.
    pub lost: bool,
    /// The policies that override it.
    pub by: Winners<'a>,
}

impl<'a> Tally<'a> {
    pub(crate) fn add(&mut self, other: &Self) {
        self.survived |= other.survived;
        self.lost |= other.lost;
        for (locator, winner) in &other.by {
            self.lost_to(locator, winner.object, winner.local, winner.rules.iter().copied());
        }
    }

    fn lost_to(
        &mut self,
        locator: &Arc<str>,
        object: &'a Object,
        local: bool,
        rules: impl IntoIterator<Item = Rule>,
    ) {
        let winner = self.by.entry(Arc::clone(locator)).or_insert_with(|| Winner {
            object,
            local,
            rules: BTreeSet::new(),
        });
        winner.rules.extend(rules);
    }

    /// The outcome in one word.
    pub const fn outcome(&self) -> Outcome {
        match (self.survived, self.lost) {
            (true, false) => Outcome::Whole,
            (true, true) => Outcome::Partial,
            (false, true) => Outcome::Overridden,
            (false, false) => Outcome::NoPath,
        }
    }

    /// `namespace/name` of the policies that override it, sorted.
    pub(crate) fn keys(&self) -> Vec<String> {
        let keys: BTreeSet<String> = self.by.values().map(|winner| winner.object.key()).collect();
        keys.into_iter().collect()
    }
}

/// The fate of a policy on clusters that are alike.
#[derive(Debug, Clone, Default)]
pub struct Fate<'a> {
    /// The clusters, shared by all policies there; none: the hub as a cluster of its own.
    pub clusters: Arc<BTreeSet<Arc<str>>>,
    /// By the locator of the Gateway, or of the Service of a mesh.
    pub(crate) gateways: BTreeMap<String, Tally<'a>>,
    /// Its losses that no path shows, because it is not there at all.
    kept_away: Tally<'a>,
}

impl<'a> Fate<'a> {
    /// The fate, without its clusters.
    fn text(&self) -> String {
        let mut text = String::new();
        let tallies = self.gateways.iter();
        let tallies = tallies.map(|(gateway, tally)| (gateway.as_str(), tally));
        for (gateway, tally) in tallies.chain([("", &self.kept_away)]) {
            let _ = write!(text, "{gateway} {} {}", tally.survived, tally.lost);
            for (locator, winner) in &tally.by {
                let _ = write!(text, " {locator} {:?}", winner.rules);
            }
            text.push('\n');
        }
        text
    }

    /// The policies for which it is not sent there at all.
    pub fn withheld_for(&self) -> impl Iterator<Item = (&Arc<str>, &Winner<'a>)> {
        self.kept_away.by.iter()
    }

    fn lose(&mut self, winners: &[TakenBy<'a>]) {
        self.kept_away.lost = true;
        for (winner, local, rule) in winners {
            let locator = Arc::from(winner.identity().locator());
            self.kept_away.lost_to(&locator, winner, *local, [*rule]);
        }
    }

    /// Over all Gateways.
    pub fn total(&self) -> Tally<'a> {
        let mut total = self.kept_away.clone();
        for tally in self.gateways.values() {
            total.add(tally);
        }
        total
    }
}

/// The fate of one policy, by clusters that are alike.
#[derive(Debug, Clone, Default)]
pub struct Everywhere<'a> {
    /// Each cluster in one of them.
    pub fates: Vec<Fate<'a>>,
    /// Their positions, by fate.
    known: HashMap<String, usize>,
}

impl<'a> Everywhere<'a> {
    /// Its fate on most of the clusters where it is on any path: what is reported about it before the exceptions. If
    /// two are equally common, the one where more of it applies.
    pub fn common(&self) -> Option<(Outcome, Tally<'a>)> {
        let mut by_outcome: BTreeMap<(bool, Outcome, Vec<String>), (usize, Tally<'a>)> = BTreeMap::new();
        for fate in &self.fates {
            let total = fate.total();
            let outcome = total.outcome();
            // Clusters where it is on no path come last: nothing is reported about them.
            let key = (outcome == Outcome::NoPath, outcome, total.keys());
            let (clusters, tally) = by_outcome.entry(key).or_default();
            *clusters = clusters.saturating_add(fate.clusters.len());
            tally.add(&total);
        }
        let most = by_outcome
            .into_iter()
            .min_by_key(|((off, outcome, by), (clusters, _))| {
                (*off, std::cmp::Reverse(*clusters), *outcome, by.clone())
            });
        most.map(|((_, outcome, _), (_, tally))| (outcome, tally))
    }

    /// The same on clusters that are alike.
    #[must_use]
    pub fn on(&self, clusters: &[String]) -> Self {
        let mut fates = self.fates.iter();
        let first = clusters.first();
        let there = first.and_then(|first| fates.find(|fate| fate.clusters.contains(first.as_str())));
        let there = there.map(|fate| Fate {
            clusters: set_of(clusters),
            ..fate.clone()
        });
        Self {
            fates: there.into_iter().collect(),
            known: HashMap::new(),
        }
    }

    /// The fates that differ from the common one, or all of them, with their clusters.
    pub fn exceptions(&self, with_common: bool) -> Vec<(Arc<BTreeSet<Arc<str>>>, Tally<'a>)> {
        let Some((outcome, common)) = self.common() else {
            return Vec::new();
        };
        let common = (outcome, common.keys());
        let totals = self
            .fates
            .iter()
            .map(|fate| (Arc::clone(&fate.clusters), fate.total()));
        let differs = |total: &Tally<'_>| (total.outcome(), total.keys()) != common;
        totals
            .filter(|(_, total)| with_common || differs(total))
            .collect()
    }

    /// Every cluster where it is, or would be but for another policy.
    pub fn clusters(&self) -> Arc<BTreeSet<Arc<str>>> {
        match self.fates.as_slice() {
            [only] => Arc::clone(&only.clusters),
            several => {
                let clusters = several.iter().flat_map(|fate| fate.clusters.iter().cloned());
                Arc::new(clusters.collect())
            }
        }
    }

    /// Adds a fate; what is the same on more clusters is kept once.
    fn add(&mut self, fate: Fate<'a>) {
        let position = *self.known.entry(fate.text()).or_insert(self.fates.len());
        match self.fates.get_mut(position) {
            Some(known) => Arc::make_mut(&mut known.clusters).extend(fate.clusters.iter().cloned()),
            None => self.fates.push(fate),
        }
    }
}

/// The fates of all policies, by locator.
#[derive(Debug, Clone, Default)]
pub struct Fates<'a> {
    by_policy: BTreeMap<Arc<str>, Everywhere<'a>>,
}

impl<'a> Fates<'a> {
    /// The fate of one policy; `None` if it is on no cluster, and on no path.
    pub fn of(&self, locator: &str) -> Option<&Everywhere<'a>> {
        self.by_policy.get(locator)
    }

    /// The policies that a policy overrides, wholly or in part, and the clusters where it does; none: the hub as a
    /// cluster of its own.
    pub fn overridden_by(&self, winner: &str) -> impl Iterator<Item = (&Arc<str>, BTreeSet<&str>)> {
        self.by_policy.iter().filter_map(move |(loser, everywhere)| {
            let fates = everywhere.fates.iter();
            let lost = fates.filter(|fate| fate.total().by.contains_key(winner));
            let mut lost = lost.peekable();
            lost.peek()?;
            let clusters = lost.flat_map(|fate| fate.clusters.iter().map(AsRef::as_ref));
            Some((loser, clusters.collect()))
        })
    }

    /// Adds what was evaluated on `clusters` that are alike, as far as a start `counts`. Each distinct result of a
    /// start counts once.
    pub fn add(
        &mut self,
        clusters: &[String],
        attachments: &Attachments<'a>,
        effective: &EffectivePolicies,
        counts: impl Fn(Start) -> bool,
    ) {
        let here = set_of(clusters);
        let mut fates: BTreeMap<Arc<str>, Fate<'a>> = BTreeMap::new();
        for (id, policy) in attachments.policies.iter() {
            let nodes = policy.nodes().into_iter();
            let mut starts = nodes.flat_map(|node| attachments.starts_of(id, node));
            // On the hub as a cluster, what goes to clusters is not there.
            let is_there = !clusters.is_empty() || starts.any(&counts);
            for (_, authored) in policy.authors(id).filter(|_| is_there) {
                fates.entry(Arc::clone(&authored.locator)).or_default();
            }
        }
        for start in attachments.topology.starts().filter(|start| counts(*start)) {
            let name = attachments.topology.locator(start.node());
            for kind in attachments.kinds.ids() {
                let mut seen = HashSet::new();
                for path in effective.from(kind, start) {
                    if attachments.leads_to_no_route(kind, &path.path)
                        // Paths with the same policies share one result: of ten thousand, a few are looked at.
                        || !seen.insert(Arc::as_ptr(&path.effective))
                    {
                        continue;
                    }
                    let mut tally = |author: AuthoredId, add: &dyn Fn(&mut Tally<'a>)| {
                        let locator = Arc::clone(&attachments.authored(author).locator);
                        let fate = fates.entry(locator).or_default();
                        add(fate.gateways.entry(name.clone()).or_default());
                    };
                    for (_, policy) in &path.effective.chain {
                        for (author, _) in attachments.policy(*policy).authors(*policy) {
                            tally(author, &|_| {});
                        }
                    }
                    for author in path.effective.sources(attachments) {
                        tally(author, &|tally| tally.survived = true);
                    }
                    for loss in &path.effective.losses {
                        tally(loss.policy, &|tally| {
                            tally.lost = true;
                            for by in &loss.by {
                                let winner: &Authored<'a> = attachments.authored(*by);
                                let rule = path.effective.rule(attachments, *by, loss.policy);
                                let local = attachments.policy(by.policy).local;
                                tally.lost_to(&winner.locator, winner.object, local, rule);
                            }
                        });
                    }
                }
            }
        }
        for (locator, mut fate) in fates {
            fate.clusters = Arc::clone(&here);
            self.by_policy.entry(locator).or_default().add(fate);
        }
    }

    /// The fate of each policy, by locator.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Everywhere<'a>)> {
        let all = self.by_policy.iter();
        all.map(|(locator, fates)| (locator.as_ref(), fates))
    }

    /// Adds that a policy is withheld from clusters, because others override it before anything is shipped.
    pub fn keep_away(&mut self, locator: &str, kept: KeptAway<'a>) {
        let everywhere = self.by_policy.entry(Arc::from(locator)).or_default();
        let before = std::mem::take(everywhere);
        let mut groups = kept.groups;
        for mut fate in before.fates {
            let mut is_touched = false;
            for group in &mut groups {
                let touched = both(&group.clusters, &fate.clusters);
                if touched.is_empty() {
                    continue;
                }
                is_touched = true;
                let mut there = fate.clone();
                there.clusters = Arc::clone(&touched);
                there.lose(&group.winners);
                everywhere.add(there);
                group.clusters = without(&group.clusters, &touched);
                fate.clusters = without(&fate.clusters, &touched);
            }
            // The hub as a cluster of its own has no clusters, and its fate stays.
            if !is_touched || !fate.clusters.is_empty() {
                everywhere.add(fate);
            }
        }
        for group in groups.into_iter().filter(|group| !group.clusters.is_empty()) {
            let mut there = Fate {
                clusters: group.clusters,
                ..Fate::default()
            };
            there.lose(&group.winners);
            everywhere.add(there);
        }
    }
}

/// Names of clusters; a thousand policies share one list.
pub type ClusterSet = Arc<BTreeSet<Arc<str>>>;

fn set_of(clusters: &[String]) -> ClusterSet {
    Arc::new(clusters.iter().map(|name| Arc::from(name.as_str())).collect())
}

fn both(one: &ClusterSet, other: &ClusterSet) -> ClusterSet {
    // One `Arc` is equal to itself at once.
    if one == other {
        return Arc::clone(other);
    }
    Arc::new(one.intersection(other).cloned().collect())
}

fn without(one: &ClusterSet, other: &ClusterSet) -> ClusterSet {
    if Arc::ptr_eq(one, other) {
        return ClusterSet::default();
    }
    Arc::new(one.difference(other).cloned().collect())
}

/// The policy that overrides another one, whether it lives on the cluster, and by which rule.
pub(crate) type TakenBy<'a> = (&'a Object, bool, Rule);

/// The clusters that a policy is withheld from, by the policy that overrides it there.
#[derive(Debug, Default)]
pub struct KeptAway<'a> {
    /// No cluster is in two.
    groups: Vec<KeptFrom<'a>>,
}

#[derive(Debug)]
struct KeptFrom<'a> {
    clusters: ClusterSet,
    winners: Vec<TakenBy<'a>>,
}

impl<'a> KeptAway<'a> {
    /// Adds that another policy overrides it on these clusters.
    pub fn add(&mut self, clusters: &ClusterSet, winner: TakenBy<'a>) {
        let mut rest = Arc::clone(clusters);
        let mut groups = Vec::with_capacity(self.groups.len().saturating_add(1));
        for mut group in std::mem::take(&mut self.groups) {
            let touched = both(&group.clusters, &rest);
            if touched.is_empty() {
                groups.push(group);
                continue;
            }
            rest = without(&rest, &touched);
            let untouched = without(&group.clusters, &touched);
            if !untouched.is_empty() {
                groups.push(KeptFrom {
                    clusters: untouched,
                    winners: group.winners.clone(),
                });
            }
            group.clusters = touched;
            group.winners.push(winner);
            groups.push(group);
        }
        if !rest.is_empty() {
            groups.push(KeptFrom {
                clusters: rest,
                winners: vec![winner],
            });
        }
        self.groups = groups;
    }
}
