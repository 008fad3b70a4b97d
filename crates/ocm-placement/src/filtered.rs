//! The clusters that pass both filters, shared by all Placements that filter alike. The filters are Predicate and
//! TaintToleration; there is one list for each distinct combination.

use std::sync::Arc;

use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, TolerationsId};
use crate::taints_and_tolerations::Verdicts;

/// What filters alike leave over.
#[derive(Debug)]
pub(crate) struct Filtered {
    /// After Predicate, ascending.
    pub(crate) predicate: Arc<[ClusterId]>,
    /// After TaintToleration, for a cluster in no existing decision, ascending.
    pub(crate) tolerated: Arc<[ClusterId]>,
    /// Of the predicate's, those that pass only when they are in an existing decision (NoSelectIfNew).
    pub(crate) if_selected: Arc<[ClusterId]>,
    /// Of the predicate's, those about which a toleration's expiry decides.
    pub(crate) unsure: Vec<ClusterId>,
}

impl Filtered {
    pub(crate) fn new(
        available: &Arc<[ClusterId]>,
        predicate: Option<&Bits>,
        tolerations: TolerationsId,
        verdicts: &Verdicts,
        fleet: &Fleet<'_>,
    ) -> Self {
        let passed: Arc<[ClusterId]> = match predicate {
            Some(bits) => available
                .iter()
                .copied()
                .filter(|id| bits.contains(*id))
                .collect(),
            None => available.clone(),
        };
        let mut if_selected = Vec::new();
        let mut unsure = Vec::new();
        let mut dropped = false;
        let tolerated: Vec<ClusterId> = passed
            .iter()
            .copied()
            .filter(|id| {
                if !fleet.tainted.contains(*id) {
                    return true;
                }
                let verdict = verdicts.verdict(tolerations, *id);
                if verdict.unsure.iter().any(Option::is_some) {
                    unsure.push(*id);
                }
                if !verdict.for_new && verdict.for_selected {
                    if_selected.push(*id);
                }
                dropped |= !verdict.for_new;
                verdict.for_new
            })
            .collect();
        Self {
            tolerated: if dropped { tolerated.into() } else { passed.clone() },
            predicate: passed,
            if_selected: if_selected.into(),
            unsure,
        }
    }
}
