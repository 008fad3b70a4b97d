//! Taints and tolerations (docs/systems/ocm-placement.md#taints-and-tolerations).

use jiff::Timestamp;

use crate::api::managed_cluster::{Taint, TaintEffect};
use crate::api::placement::{FieldFault, Toleration};
use crate::fleet::Fleet;
use crate::ids::{ClusterId, Distinct, PlacementId, Table, TaintsId, TolerationsId};
use crate::input::Input;

/// Go's zero time in seconds of Unix time: a taint without `timeAdded` was added then.
const ZERO_TIME: i64 = -62_135_596_800;

const NANOSECONDS: i64 = 1_000_000_000;

/// The first toleration that OCM refuses.
pub(crate) fn fault(tolerations: &[Toleration<'_>]) -> Option<FieldFault> {
    tolerations.iter().enumerate().find_map(|(index, toleration)| {
        let exists = toleration.operator == "Exists";
        let (message, field) = if toleration.key.is_empty() && !exists {
            ("If the key is empty, operator must be Exists.", "operator")
        } else if exists && !toleration.value.is_empty() {
            ("If the operator is Exists, the value should be empty.", "value")
        } else {
            return None;
        };
        Some(FieldFault {
            message: message.to_owned(),
            pointer: format!("/spec/tolerations/{index}/{field}"),
        })
    })
}

/// Whether a toleration speaks of this taint at all, whatever the time.
fn covers(toleration: &Toleration<'_>, taint: &Taint<'_>) -> bool {
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

/// The tolerations that cover a taint, with their positions.
pub(crate) fn covering<'t, 'a>(
    tolerations: &'t [Toleration<'a>],
    taint: &'t Taint<'_>,
) -> impl Iterator<Item = (usize, &'t Toleration<'a>)> {
    let tolerations = tolerations.iter().enumerate();
    tolerations.filter(|(_, toleration)| covers(toleration, taint))
}

/// When a toleration stops covering a taint, in nanoseconds of Unix time; `None`: never.
pub(crate) fn expiry(toleration: &Toleration<'_>, taint: &Taint<'_>) -> Option<i128> {
    let seconds = toleration.seconds?;
    let added = match taint.time_added {
        Some(time) => time.as_nanosecond(),
        None => i128::from(ZERO_TIME).saturating_mul(i128::from(NANOSECONDS)),
    };
    // A Go `time.Duration` is 64 bits of nanoseconds and wraps around after 292 years: so many seconds are a
    // toleration that expired long ago, and OCM takes it so.
    Some(added.saturating_add(i128::from(seconds.wrapping_mul(NANOSECONDS))))
}

/// What the tolerations make of one taint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tolerated {
    /// Tolerated regardless of the tolerations: PreferNoSelect.
    Always,
    /// Tolerated by this toleration, until then.
    By {
        /// Position in `spec.tolerations`.
        toleration: usize,
        /// Nanoseconds of Unix time; `None`: forever.
        expires: Option<i128>,
        /// It has an expiry and the time is not given, and no other toleration covers the taint.
        unsure: bool,
    },
    /// Not tolerated.
    Not,
}

/// What the tolerations make of one taint: the first that covers it and has not expired counts.
pub(crate) fn tolerated(
    taint: &Taint<'_>,
    tolerations: &[Toleration<'_>],
    now: Option<Timestamp>,
) -> Tolerated {
    if taint.effect == TaintEffect::PreferNoSelect {
        return Tolerated::Always;
    }
    // `tolerationSeconds` counts for every effect: the API's documentation excepts NoSelectIfNew, the code does not
    // (open-cluster-management-io/ocm
    // pkg/placement/plugins/tainttoleration/taint_toleration.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
    let mut unsure = None;
    for (index, toleration) in covering(tolerations, taint) {
        let expires = expiry(toleration, taint);
        let holds = match (expires, now) {
            (None, _) => true,
            // Strict: at the boundary it has expired, and the next toleration is tried.
            (Some(expires), Some(now)) => now.as_nanosecond() < expires,
            // Added at the zero time: long expired, whatever the clock says.
            (Some(_), None) if taint.time_added.is_none() => false,
            (Some(expires), None) => {
                unsure = unsure.or(Some((index, expires)));
                false
            }
        };
        if holds {
            return Tolerated::By {
                toleration: index,
                expires,
                unsure: false,
            };
        }
    }
    match unsure {
        Some((toleration, expires)) => Tolerated::By {
            toleration,
            expires: Some(expires),
            unsure: true,
        },
        None => Tolerated::Not,
    }
}

/// What the tolerations make of all taints of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Verdict {
    /// Every taint is tolerated, also for a cluster that is not selected yet.
    pub(crate) for_new: bool,
    /// Every taint is tolerated for a cluster that is in an existing decision.
    pub(crate) for_selected: bool,
    /// The toleration whose expiry decides, if the time is not given: for a new cluster, for a selected one.
    pub(crate) unsure: [Option<usize>; 2],
    /// The first expiry of the tolerations in use on a selected cluster.
    pub(crate) expires: Option<i128>,
}

fn verdict(taints: &[Taint<'_>], tolerations: &[Toleration<'_>], now: Option<Timestamp>) -> Verdict {
    let mut verdict = Verdict {
        for_new: true,
        for_selected: true,
        ..Verdict::default()
    };
    for taint in taints {
        let kept = taint.effect == TaintEffect::NoSelectIfNew;
        match tolerated(taint, tolerations, now) {
            Tolerated::Always => {}
            Tolerated::By {
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
            Tolerated::Not => {
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
pub(crate) struct Verdicts {
    taints: Table<ClusterId, TaintsId>,
    verdicts: Table<TolerationsId, Table<TaintsId, Verdict>>,
    pub(crate) of_placement: Table<PlacementId, TolerationsId>,
}

impl Verdicts {
    pub(crate) fn new<'a>(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let mut distinct: Distinct<TaintsId, Vec<Taint<'_>>> = Distinct::new();
        let taints = fleet.taints.rows().iter();
        let taints = taints.map(|taints| distinct.id(taints.iter().map(|own| own.taint).collect()));
        let taints = taints.collect();
        let distinct: Table<TaintsId, Vec<Taint<'_>>> = distinct.map(|taints| taints);
        let mut lists: Distinct<TolerationsId, &[Toleration<'_>]> = Distinct::new();
        let placements = input.inventory.placements.rows().iter();
        let of_placement = placements.map(|placement| lists.id(placement.tolerations.as_slice()));
        Self {
            taints,
            of_placement: of_placement.collect(),
            verdicts: lists.map(|list| {
                let verdicts = distinct
                    .rows()
                    .iter()
                    .map(|taints| verdict(taints, list, input.now));
                verdicts.collect()
            }),
        }
    }

    /// The verdict of a distinct list of tolerations about a cluster.
    pub(crate) fn verdict(&self, list: TolerationsId, cluster: ClusterId) -> Verdict {
        self.verdicts[list][self.taints[cluster]]
    }
}
