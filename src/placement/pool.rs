//! The clusters that pass the filters, shared by all Placements that filter alike.
//!
//! Owns: what is left after Predicate and TaintToleration. Flows in: available clusters, predicate results,
//! verdicts. Flows out: one pool for each distinct combination. Must not know: decisions.

use std::sync::{Arc, OnceLock};

use super::bits::Bits;
use super::fleet::Fleet;
use super::taints::Taints;

/// What filters alike leave over.
#[derive(Debug)]
pub(super) struct Pool {
    /// After Predicate, ascending.
    pub(super) predicate: Arc<[u32]>,
    /// After TaintToleration, for a cluster in no existing decision, ascending.
    pub(super) tolerated: Arc<[u32]>,
    /// Of the predicate's, those that pass only when they are in an existing decision (NoSelectIfNew).
    pub(super) if_selected: Arc<[u32]>,
    /// Of the predicate's, those about which a toleration's expiry decides.
    pub(super) unsure: Vec<u32>,
    /// ResourceAllocatableCPU's and -Memory's scores of `tolerated`, once somebody asks.
    pub(super) resources: [OnceLock<Arc<[i64]>>; 2],
}

impl Pool {
    pub(super) fn new(
        available: &Arc<[u32]>,
        predicate: Option<&Bits>,
        tolerations: usize,
        taints: &Taints,
        fleet: &Fleet<'_>,
    ) -> Self {
        let passed: Arc<[u32]> = match predicate {
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
        let tolerated: Vec<u32> = passed
            .iter()
            .copied()
            .filter(|id| {
                if !fleet.tainted.contains(*id) {
                    return true;
                }
                let verdict = taints.verdict(tolerations, *id);
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
            resources: [OnceLock::new(), OnceLock::new()],
        }
    }
}
