//! Taints and tolerations (OCM placement 1.2, TaintToleration).
//!
//! Owns: which toleration bears with which taint, and until when. Flows in: tolerations, taints, now. Flows out:
//! verdicts about a cluster's taints. Must not know: which clusters were selected before; the caller does.

use std::collections::HashMap;

use jiff::Timestamp;

use super::Input;
use super::fleet::{Fleet, FleetTaint};
use crate::api::ocm::{Taint, TaintEffect, Toleration};

/// Go's zero time in seconds of Unix time: a taint without `timeAdded` was added then.
const ZERO_TIME: i64 = -62_135_596_800;

const NANOSECONDS: i64 = 1_000_000_000;

/// A toleration that makes a Placement misconfigured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TolerationFault {
    /// Position in `spec.tolerations`.
    pub(super) index: usize,
    /// OCM's message.
    pub(super) message: &'static str,
    /// The field that is wrong.
    pub(super) field: &'static str,
}

/// The first toleration that OCM refuses.
pub(super) fn fault(tolerations: &[Toleration<'_>]) -> Option<TolerationFault> {
    tolerations.iter().enumerate().find_map(|(index, toleration)| {
        let exists = toleration.operator == "Exists";
        if toleration.key.is_empty() && !exists {
            Some(TolerationFault {
                index,
                message: "If the key is empty, operator must be Exists.",
                field: "operator",
            })
        } else if exists && !toleration.value.is_empty() {
            Some(TolerationFault {
                index,
                message: "If the operator is Exists, the value should be empty.",
                field: "value",
            })
        } else {
            None
        }
    })
}

/// Whether a toleration speaks of this taint at all, whatever the time.
pub(super) fn covers(toleration: &Toleration<'_>, taint: &Taint<'_>) -> bool {
    if toleration.effect.is_some_and(|effect| effect != taint.effect) {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    match toleration.operator {
        "" | "Equal" => toleration.value == taint.value,
        "Exists" => true,
        _ => false,
    }
}

/// When a toleration stops covering a taint, in nanoseconds of Unix time; `None`: never.
pub(super) fn expiry(toleration: &Toleration<'_>, taint: &Taint<'_>) -> Option<i128> {
    let seconds = toleration.seconds?;
    let added = match taint.time_added {
        Some(time) => time.as_nanosecond(),
        None => i128::from(ZERO_TIME).saturating_mul(i128::from(NANOSECONDS)),
    };
    // Go's time.Duration wraps around after 292 years.
    Some(added.saturating_add(i128::from(seconds.wrapping_mul(NANOSECONDS))))
}

/// What the tolerations make of one taint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bearing {
    /// Tolerated whatever the tolerations say: PreferNoSelect.
    Always,
    /// Tolerated by this toleration, until then.
    By {
        /// Position in `spec.tolerations`.
        toleration: usize,
        /// Nanoseconds of Unix time; `None`: for ever.
        expires: Option<i128>,
        /// It has an expiry and nobody gave the time, and no other toleration covers the taint.
        unsure: bool,
    },
    /// Not tolerated.
    Not,
}

/// What the tolerations make of one taint: the first that covers it and has not expired counts.
pub(super) fn bearing(taint: &Taint<'_>, tolerations: &[Toleration<'_>], now: Option<Timestamp>) -> Bearing {
    if taint.effect == TaintEffect::PreferNoSelect {
        return Bearing::Always;
    }
    let mut unsure = None;
    for (index, toleration) in tolerations
        .iter()
        .enumerate()
        .filter(|(_, toleration)| covers(toleration, taint))
    {
        let expires = expiry(toleration, taint);
        let holds = match (expires, now) {
            (None, _) => true,
            (Some(expires), Some(now)) => now.as_nanosecond() < expires,
            // Added at the zero time: long expired, whatever the clock says.
            (Some(_), None) if taint.time_added.is_none() => false,
            (Some(expires), None) => {
                unsure = unsure.or(Some((index, expires)));
                false
            }
        };
        if holds {
            return Bearing::By {
                toleration: index,
                expires,
                unsure: false,
            };
        }
    }
    match unsure {
        Some((toleration, expires)) => Bearing::By {
            toleration,
            expires: Some(expires),
            unsure: true,
        },
        None => Bearing::Not,
    }
}

/// What the tolerations make of all taints of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Verdict {
    /// Every taint is tolerated, also for a cluster that is not selected yet.
    pub(super) for_new: bool,
    /// Every taint is tolerated for a cluster that is in an existing decision.
    pub(super) for_selected: bool,
    /// The toleration whose expiry decides, when nobody gave the time: for a new cluster, for a selected one.
    pub(super) unsure: [Option<usize>; 2],
    /// The first expiry of the tolerations in use on a selected cluster.
    pub(super) expires: Option<i128>,
}

fn verdict(taints: &[FleetTaint<'_>], tolerations: &[Toleration<'_>], now: Option<Timestamp>) -> Verdict {
    let mut verdict = Verdict {
        for_new: true,
        for_selected: true,
        ..Verdict::default()
    };
    for own in taints {
        let kept = own.taint.effect == TaintEffect::NoSelectIfNew;
        match bearing(&own.taint, tolerations, now) {
            Bearing::Always => {}
            Bearing::By {
                toleration,
                expires,
                unsure,
            } => {
                if unsure {
                    let [new, selected] = &mut verdict.unsure;
                    *new = new.or(Some(toleration));
                    if !kept {
                        *selected = selected.or(Some(toleration));
                    }
                }
                if !kept {
                    verdict.expires = [verdict.expires, expires].into_iter().flatten().min();
                }
            }
            Bearing::Not => {
                verdict.for_new = false;
                verdict.for_selected &= kept;
            }
        }
    }
    if !verdict.for_selected {
        verdict.expires = None;
    }
    verdict
}

/// Verdicts of all distinct lists of tolerations about all distinct lists of taints.
#[derive(Debug)]
pub(super) struct Taints {
    /// For each cluster the class of its taints.
    classes: Vec<u32>,
    /// For each distinct list of tolerations, a verdict for each class.
    verdicts: Vec<Vec<Verdict>>,
    /// For each Placement of the inventory its list.
    pub(super) of_placement: Vec<usize>,
}

impl Taints {
    pub(super) fn new<'a>(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let mut known: HashMap<Vec<Taint<'_>>, u32> = HashMap::new();
        let mut examples: Vec<&[FleetTaint<'_>]> = Vec::new();
        let mut classes = Vec::with_capacity(fleet.len());
        for taints in &fleet.taints {
            let key: Vec<Taint<'_>> = taints.iter().map(|own| own.taint).collect();
            let class = *known.entry(key).or_insert_with(|| {
                examples.push(taints);
                u32::try_from(examples.len().saturating_sub(1)).unwrap_or(u32::MAX)
            });
            classes.push(class);
        }
        let mut lists: HashMap<&[Toleration<'_>], usize> = HashMap::new();
        let mut verdicts: Vec<Vec<Verdict>> = Vec::new();
        let mut of_placement = Vec::with_capacity(input.inventory.placements.len());
        for placement in &input.inventory.placements {
            let list = placement.tolerations.as_slice();
            of_placement.push(*lists.entry(list).or_insert_with(|| {
                verdicts.push(
                    examples
                        .iter()
                        .map(|taints| verdict(taints, list, input.now))
                        .collect(),
                );
                verdicts.len().saturating_sub(1)
            }));
        }
        Self {
            classes,
            verdicts,
            of_placement,
        }
    }

    /// The verdict of a distinct list of tolerations about a cluster.
    pub(super) fn verdict(&self, list: usize, cluster: u32) -> Verdict {
        let class = super::fleet::at(&self.classes, cluster).copied();
        class
            .and_then(|class| super::fleet::at(self.verdicts.get(list)?, class).copied())
            .unwrap_or_default()
    }
}
