//! The report of a comparison, the budget that a change must not exceed, and the findings about both. A loss that only
//! the new side's `spokes` deny ([`denied`]) counts against the budget, too.

use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::compare::{Change, Comparison, Effect, ObjectChange};
use super::side::{BothSides, describe};
use super::terms::Terms;
use crate::api::config::Budget;
use crate::diagnostic::{Code, Finding, Findings, Place, and_more, counted, one_or_many};
use crate::outcome::{EffectiveChange, Presence, RuleOutcome, conceal, key_of};
use crate::render::REPLICA_SETS;

/// What the sides are called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Titles {
    /// Such as `HEAD`.
    pub old: String,
    /// Such as `work tree`.
    pub new: String,
    /// The command that shows everything, for readers of a part.
    #[serde(skip)]
    pub command: String,
    /// The name of the fleet, if it has one.
    #[serde(rename = "title", skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
}

/// `namespace/name` of policies, by their locators.
pub(super) fn keys_of(policies: &[String]) -> String {
    let keys = policies.iter().map(|locator| key_of(locator));
    keys.collect::<Vec<_>>().join(", ")
}

/// Everything that differs between two sides.
#[derive(Debug, Default)]
pub struct DiffReport {
    /// What the sides are called.
    pub titles: Titles,
    /// Works and objects.
    pub comparison: Comparison,
    /// Policies: what the comparison of objects cannot see.
    pub effective_changes: Vec<EffectiveChange>,
    /// What else is lost if clusters are as the old side says: only the new side's `spokes` deny it.
    pub denied: Vec<EffectiveChange>,
    /// What decides about the change, and changes with it.
    pub terms: Terms,
    /// Where the change exceeds its budget.
    pub exceeded: Vec<Exceeded>,
    /// The objects that are still in the input but on no cluster any more, each in a sentence.
    pub withdrawn: Vec<String>,
    /// The violations of FleetRules that the change adds.
    pub violations: Vec<RuleOutcome>,
}

impl DiffReport {
    /// The same with this comparison, in which the values of Secrets are hidden already, with those of everything else
    /// hidden, and with the places of origins in the texts of both sides.
    #[must_use]
    pub fn with(self, comparison: Comparison, texts: &BothSides<'_>) -> Self {
        let mut report = Self { comparison, ..self };
        for change in &mut report.comparison.changes {
            change.locate(texts);
        }
        let hidden = &mut report.comparison.hidden;
        let changes = report.effective_changes.iter_mut().chain(&mut report.denied);
        conceal(changes.map(|change| &mut change.settings), hidden);
        report.terms.conceal(hidden);
        report
    }

    /// The changes that may lose something, each with whether the new side's `spokes` deny that.
    pub(super) fn losing(&self) -> impl Iterator<Item = (&EffectiveChange, bool)> {
        let changes = self.effective_changes.iter().map(|change| (change, false));
        changes.chain(self.denied.iter().map(|change| (change, true)))
    }

    /// How many paths have lost all policies of a kind, also where only the new side's `spokes` deny that, and how many
    /// policies are away while they change their works.
    pub fn lost_policies(&self) -> usize {
        let lost = self.losing().filter(|(change, _)| change.is_lost);
        let moved = self.comparison.moved().filter(|moved| moved.is_policy()).count();
        let lost = lost.map(|(change, _)| change.paths);
        lost.fold(moved, usize::saturating_add)
    }

    /// Whether both sides are the same, and a later change would be judged as before.
    pub fn is_empty(&self) -> bool {
        self.comparison.changes.is_empty()
            && self.effective_changes.is_empty()
            && self.violations.is_empty()
            && self.terms.is_empty()
    }

    /// Whether nothing follows the headline.
    pub(super) fn is_silent(&self) -> bool {
        self.is_empty() && self.comparison.rows.is_empty() && self.comparison.live.is_empty()
    }

    /// `187 of 1000 clusters change; in total, 0 objects added, 187 changed, 0 removed`.
    pub fn headline(&self) -> String {
        let comparison = &self.comparison;
        let foreign = match comparison.foreign {
            None | Some(0) => String::new(),
            Some(foreign) => format!("; {} of others on the hub", counted(foreign, "work")),
        };
        if comparison.changes.is_empty() {
            let nothing = if self.effective_changes.is_empty() {
                "nothing changes on any cluster"
            } else {
                "no object changes, but effective settings do"
            };
            return format!("{nothing}{foreign}");
        }
        let fleet = comparison.fleet();
        let counts = comparison.objects;
        let is_of_sets = |name: &Arc<str>| name.starts_with(REPLICA_SETS);
        let who = if fleet == 0 && comparison.clusters.iter().any(is_of_sets) {
            // The hub decides which clusters get them.
            "replica sets change".to_owned()
        } else {
            let changed = comparison.changed_clusters;
            let change = one_or_many(changed, "changes", "change");
            format!("{changed} of {} {change}", counted(fleet, "cluster"))
        };
        let left = match comparison.orphaned {
            0 => String::new(),
            orphaned => format!(", {orphaned} left behind"),
        };
        format!(
            "{who}; in total, {} added, {} changed, {} removed{left}{foreign}",
            counted(counts.added, "object"),
            counts.changed,
            counts.removed
        )
    }
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Objects that are deleted, on each cluster that loses them.
    Removed,
    /// Clusters on which anything changes.
    Clusters,
    /// Paths on which policies of a kind applied but no longer apply, each once.
    LostPolicies,
}

/// A limit that a change exceeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Exceeded {
    /// The limit that is exceeded.
    pub limit: Limit,
    /// The number that it allows.
    pub most: usize,
    /// The number that the change has.
    pub count: usize,
    /// Whether the user allowed it.
    pub allowed: bool,
    /// What is counted, in words.
    pub offenders: Vec<String>,
}

impl Limit {
    /// The word for it on a command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Clusters => "clusters",
            Self::LostPolicies => "lost-policies",
        }
    }
}

impl Exceeded {
    /// `12 objects are removed, and at most 5 may be`.
    pub fn sentence(&self) -> String {
        let most = match self.most {
            0 => "none".to_owned(),
            most => format!("at most {most}"),
        };
        let (noun, one, many) = match self.limit {
            Limit::Removed => ("object", "is removed", "are removed"),
            Limit::Clusters => ("cluster", "changes", "change"),
            Limit::LostPolicies => ("path", "loses its policies", "lose their policies"),
        };
        let count = counted(self.count, noun);
        let verb = one_or_many(self.count, one, many);
        format!("{count} {verb}; the budget allows {most}")
    }
}

/// How much of what is beyond a limit is listed at most.
const MOST_LISTED: usize = 10;

/// The limits that are exceeded and were not allowed.
pub fn over_budget(exceeded: &[Exceeded]) -> Findings {
    let mut findings = Findings::new();
    for exceeded in exceeded.iter().filter(|exceeded| !exceeded.allowed) {
        let finding = Finding::new(Code::DIFF_OVER_BUDGET, Place::Run, exceeded.sentence()).help(format!(
            "if this is meant, pass `--allow {}`, or raise the limit",
            exceeded.limit.as_str()
        ));
        let lines = listed(exceeded.offenders.iter().cloned(), MOST_LISTED, "line");
        findings.push(lines.into_iter().fold(finding, Finding::note));
    }
    findings
}

/// The first lines, and how many more there are.
pub(super) fn listed(lines: impl Iterator<Item = String>, most: usize, noun: &str) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    let more = and_more(lines.len().saturating_sub(most), noun);
    lines.truncate(most);
    lines.extend(more);
    lines
}

/// The limits that a report exceeds.
pub fn exceeded(budget: Budget, report: &DiffReport, allowed: &[Limit]) -> Vec<Exceeded> {
    let limits = [
        (Limit::Removed, budget.max_removed),
        (Limit::Clusters, budget.max_clusters),
        (Limit::LostPolicies, budget.max_lost_policies),
    ];
    let all = limits.into_iter().filter_map(|(limit, most)| {
        let most = usize::try_from(most?).unwrap_or(usize::MAX);
        let comparison = &report.comparison;
        let sentence = |change: &ObjectChange| comparison.sentence(change, &change.clusters);
        let (count, offenders): (usize, Vec<String>) = match limit {
            Limit::Removed => {
                // Also those that come back in another work.
                let moved = comparison.moved().map(|moved| moved.clusters.len());
                let count = moved.fold(comparison.objects.removed, usize::saturating_add);
                let changes = comparison.changes.iter();
                let removed = changes
                    .filter(|change| change.change == Change::Removed && change.effect == Effect::Real);
                (count, removed.chain(comparison.moved()).map(sentence).collect())
            }
            Limit::Clusters => {
                let rows = comparison.rows.iter();
                let rows = rows.filter(|row| row.presence != Presence::NotCompared);
                let rows = rows.filter(|row| row.is_of_clusters());
                let rows = rows.map(|row| describe(&comparison.clusters, &row.names));
                (comparison.changed_clusters, rows.collect())
            }
            Limit::LostPolicies => {
                let lost = report.losing().filter(|(change, _)| change.is_lost);
                let lost = lost.map(|(change, is_denied)| {
                    let policies = keys_of(&change.old_policies);
                    let denied = if is_denied { DENIED } else { "" };
                    format!("{} {policies} on {}{denied}", change.kind, change.label)
                });
                let moved = comparison.moved().filter(|moved| moved.is_policy());
                (report.lost_policies(), lost.chain(moved.map(sentence)).collect())
            }
        };
        (count > most).then(|| Exceeded {
            limit,
            most,
            count,
            allowed: allowed.contains(&limit),
            offenders,
        })
    });
    all.collect()
}

/// What is said of a loss that only the new side's `spokes` deny.
pub(super) const DENIED: &str = ", unless clusters are as only this change says";

/// The losses of a comparison with the old side's clusters that are not among `with_new_spokes`, the losses of
/// the comparison with the new side's clusters.
pub fn denied(
    with_new_spokes: &[EffectiveChange],
    on_old_spokes: Vec<EffectiveChange>,
) -> Vec<EffectiveChange> {
    let mut by_path: HashMap<(&str, &str, &[String]), Vec<&EffectiveChange>> = HashMap::new();
    let counted = with_new_spokes.iter();
    for change in counted.filter(|change| !change.lost_settings.is_empty()) {
        let of_path = by_path.entry((&change.kind, &change.group, &change.path));
        of_path.or_default().push(change);
    }
    let losses = on_old_spokes.into_iter().filter_map(|mut change| {
        // What is lost on a listener is lost on all that is behind it.
        let above = (1..=change.path.len()).filter_map(|length| change.path.get(..length));
        let same_path = above.filter_map(|path| by_path.get(&(&*change.kind, &*change.group, path)));
        let same_path: Vec<&EffectiveChange> = same_path.flatten().copied().collect();
        let is_counted = |cluster: &String| {
            same_path.iter().any(|counted| {
                let mut lost = change.lost_settings.iter();
                counted.clusters.contains(cluster)
                    && counted.is_lost >= change.is_lost
                    && lost.all(|setting| counted.lost_settings.contains(setting))
            })
        };
        let clusters = change.clusters.iter().filter(|cluster| !is_counted(cluster));
        let clusters: Vec<String> = clusters.cloned().collect();
        // A path counts once, however many clusters lose it.
        if same_path.iter().any(|counted| counted.is_lost) {
            change.paths = 0;
        }
        change.clusters = Arc::new(clusters);
        (!change.lost_settings.is_empty() && !change.clusters.is_empty()).then_some(change)
    });
    losses.collect()
}
