//! What an evaluation spends: cost, as cel-go counts it; work and memory, as they are here. Each operation is paid for
//! before it runs.

use apimachinery::{Allowance, Spent};
use kube_cel::cel::ExecutionError;

use crate::CALL_LIMIT;

/// The memory limit of one evaluation: thirty times the largest object that an API server stores.
pub(crate) const BYTES_MAX: usize = 32 << 20;
/// Bytes that are touched in one step.
const BYTES_PER_STEP: usize = 64;

/// A limit that ended an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The limit of an API server: one expression costs more than [`CALL_LIMIT`].
    Cost,
    /// It would use more memory than an evaluation gets.
    Memory,
    /// The run has no work left.
    Work,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The expression has none. Logical operators may absorb it.
    Error(ExecutionError),
    /// The evaluation ended early. Nothing absorbs it.
    Stop(Stop),
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Self {
        Self::Error(error)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Spent> for Failure {
    fn from(_: Spent) -> Self {
        Self::Stop(Stop::Work)
    }
}

/// The spending of one evaluation.
#[derive(Debug)]
pub struct Meter<'m, 'w> {
    allowance: &'m mut Allowance<'w>,
    cost: u64,
    /// Whether costs are not counted now.
    is_free: bool,
    /// No less than what the values hold that are still there.
    held: usize,
}

impl<'m, 'w> Meter<'m, 'w> {
    pub(crate) const fn new(allowance: &'m mut Allowance<'w>) -> Self {
        Self {
            allowance,
            cost: 0,
            is_free: false,
            held: 0,
        }
    }

    pub(crate) const fn cost(&self) -> u64 {
        self.cost
    }

    /// Counts a cost.
    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), Stop> {
        if !self.is_free {
            self.cost = self.cost.saturating_add(cost);
        }
        if self.cost > CALL_LIMIT {
            Err(Stop::Cost)
        } else {
            Ok(())
        }
    }

    /// Counts no costs until it is set back; gives what was before.
    pub(crate) const fn set_free(&mut self, is_free: bool) -> bool {
        std::mem::replace(&mut self.is_free, is_free)
    }

    /// Pays for steps.
    ///
    /// # Errors
    /// There is no work left.
    pub fn work(&mut self, steps: u64) -> Result<(), Failure> {
        Ok(self.allowance.spend(steps)?)
    }

    /// Pays for touching so many bytes.
    ///
    /// # Errors
    /// There is no work left.
    pub fn touch(&mut self, bytes: usize) -> Result<(), Failure> {
        self.work(u64::try_from(bytes / BYTES_PER_STEP).unwrap_or(u64::MAX))
    }

    /// Pays for bytes that are held from now on, before they are allocated.
    ///
    /// # Errors
    /// There is no memory or no work left.
    pub fn hold(&mut self, bytes: usize) -> Result<(), Failure> {
        self.have_room(bytes)?;
        self.held = self.held.saturating_add(bytes);
        Ok(())
    }

    /// Pays for bytes that are held for a moment.
    ///
    /// # Errors
    /// There is no memory or no work left.
    pub fn have_room(&mut self, bytes: usize) -> Result<(), Failure> {
        if self.held.saturating_add(bytes) > BYTES_MAX {
            return Err(Stop::Memory.into());
        }
        self.touch(bytes)
    }

    pub(crate) const fn held(&self) -> usize {
        self.held
    }

    /// The memory allocated since then is freed.
    pub(crate) fn release_to(&mut self, held: usize) {
        self.held = self.held.min(held);
    }

    pub(crate) const fn allowance(&mut self) -> &mut Allowance<'w> {
        self.allowance
    }
}
