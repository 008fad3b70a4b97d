//! Limits how much work a run spends on its input: on rules, expressions, and patterns from untrusted authors.
//!
//! An API server has a budget for each object and gets the objects one by one; a run gets all of them at once. So each
//! object brings an allowance in proportion to its size, and any excess is taken from one shared stock. Whether the
//! stock suffices depends only on sums, not on threads or on any order. Which objects were judged before it ran out
//! does depend on them, so a caller that reports an empty stock must not report on those objects.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use kube_json::Value;

use crate::pattern::{ParsedPattern, Pattern, PatternError};

/// Steps that a run may take beyond what its objects bring along: one is about a part of an expression evaluated, or 64
/// bytes touched; a million of them take less than a tenth of a second.
const STOCK: u64 = 30_000_000;
/// Steps that an object adds, for each byte of its values.
const STEPS_PER_BYTE: u64 = 16;
/// The steps that an allowance takes from the stock at once.
const PORTION: u64 = 4_096;
/// Steps for each state of a pattern that is compiled. Their memory counts here, too: a state has about 100 bytes, and
/// what is compiled stays until the run ends.
const STEPS_PER_STATE: u64 = 48;
/// Steps for a byte of a copy: `{},` takes eight times its text.
const STEPS_PER_COPIED_BYTE: u64 = 8;
/// Bytes of a value that is kept until the run ends, for one step.
const KEPT_BYTES_PER_STEP: u64 = 4;
/// States of a pattern that a character of a text may meet in one step.
const STATES_PER_STEP: u64 = 64;

/// There is no work left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run has no work left")]
pub struct Spent;

/// A pattern that is compiled, or why it is none.
pub type Compiled = Arc<Result<Pattern, PatternError>>;

/// The stock of a run, and the patterns that it has compiled.
#[derive(Debug)]
pub struct Work {
    limit: u64,
    spent: AtomicU64,
    /// A name, a hostname or a group is asked for in a hundred places with the same text, and to compile it takes
    /// longer than to check an object.
    patterns: RwLock<HashMap<String, Compiled>>,
}

impl Default for Work {
    /// For what strangers wrote.
    fn default() -> Self {
        Self::with_limit(STOCK)
    }
}

impl Work {
    /// For what strangers wrote, where these definitions say what is to be done: they bring along something, too.
    pub fn for_definitions<'v>(definitions: impl Iterator<Item = &'v Value>) -> Self {
        let bytes = definitions.map(bytes).fold(0, u64::saturating_add);
        Self::with_limit(bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(STOCK))
    }

    /// For what this program brings along itself.
    pub fn unlimited() -> Self {
        Self::with_limit(u64::MAX)
    }

    /// With a stock of so many steps.
    pub fn with_limit(limit: u64) -> Self {
        Self {
            limit,
            spent: AtomicU64::new(0),
            patterns: RwLock::default(),
        }
    }

    /// Whether more was asked for than there is.
    pub fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed) > self.limit
    }

    /// The allowance of an object with these values.
    pub fn allowance(&self, value: &Value) -> Allowance<'_> {
        self.allowance_of(bytes(value).saturating_mul(STEPS_PER_BYTE))
    }

    /// An allowance of so many steps.
    pub const fn allowance_of(&self, steps: u64) -> Allowance<'_> {
        Allowance {
            work: self,
            left: steps,
        }
    }

    /// Pays for so many things that cost `steps` each; whether there was enough for them and everything before.
    pub fn pay(&self, things: usize, steps: u64) -> bool {
        let things = u64::try_from(things).unwrap_or(u64::MAX);
        self.spend(things.saturating_mul(steps)).is_ok()
    }

    /// Pays for a copy of a value that stays until the run ends; whether there was enough for it and everything before.
    pub fn keep(&self, value: &Value) -> bool {
        self.spend(bytes(value) / KEPT_BYTES_PER_STEP).is_ok()
    }

    /// For how many things that cost `steps` each there is work left.
    pub fn left(&self, steps: u64) -> usize {
        let left = self.limit.saturating_sub(self.spent.load(Ordering::Relaxed));
        usize::try_from(left / steps.max(1)).unwrap_or(usize::MAX)
    }

    /// Pays for `steps` from the stock, before they are taken.
    ///
    /// # Errors
    /// There is no work left.
    pub fn spend(&self, steps: u64) -> Result<(), Spent> {
        let before = self
            .spent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spent| {
                Some(spent.saturating_add(steps))
            });
        let spent = before.unwrap_or(u64::MAX).saturating_add(steps);
        if spent > self.limit { Err(Spent) } else { Ok(()) }
    }

    /// The compiled form of `text`, which each run pays for once.
    ///
    /// # Errors
    /// There is no work left.
    pub fn pattern(&self, text: &str) -> Result<Compiled, Spent> {
        // A thread that panicked has left the map intact: it has only finished patterns.
        let known = self.patterns.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(text) {
            return Ok(Arc::clone(known));
        }
        drop(known);
        let parsed = ParsedPattern::parse(text);
        let mut all = self.patterns.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(text) {
            return Ok(Arc::clone(known));
        }
        let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let states = parsed.as_ref().map_or(0, ParsedPattern::weight);
        self.spend(states.saturating_add(size).saturating_mul(STEPS_PER_STATE))?;
        let compiled = Arc::new(parsed.and_then(ParsedPattern::compile));
        all.insert(text.to_owned(), Arc::clone(&compiled));
        Ok(compiled)
    }
}

/// The allowance of one object: first its own, then from the stock.
#[derive(Debug)]
pub struct Allowance<'w> {
    work: &'w Work,
    left: u64,
}

impl<'w> Allowance<'w> {
    /// Pays for `steps`, before they are taken.
    ///
    /// # Errors
    /// There is no work left.
    #[inline]
    pub fn spend(&mut self, steps: u64) -> Result<(), Spent> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.take(steps),
        }
    }

    /// The same where its own is spent.
    #[cold]
    fn take(&mut self, steps: u64) -> Result<(), Spent> {
        // Whole portions, so that the sum of all objects is the same however they take turns.
        let missing = steps.saturating_sub(self.left);
        let taken = missing.div_ceil(PORTION).saturating_mul(PORTION);
        self.left = taken.saturating_sub(missing);
        self.work.spend(taken)
    }

    /// Pays for a copy of a value, which is held as long as the object is checked.
    ///
    /// # Errors
    /// There is no work left.
    pub fn copy(&mut self, value: &Value) -> Result<(), Spent> {
        self.spend(bytes(value).saturating_mul(STEPS_PER_COPIED_BYTE))
    }

    /// Pays for looking for a pattern in `text`.
    ///
    /// # Errors
    /// There is no work left.
    pub fn search(&mut self, pattern: &Pattern, text: &str) -> Result<(), Spent> {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.spend(length.saturating_mul(pattern.weight()) / STATES_PER_STEP)
    }

    /// Whether something in `text` matches a pattern.
    ///
    /// # Errors
    /// There is no work left.
    pub fn is_match(&mut self, pattern: &Pattern, text: &str) -> Result<bool, Spent> {
        self.search(pattern, text)?;
        Ok(pattern.is_match(text))
    }

    /// The stock behind it.
    pub const fn work(&self) -> &'w Work {
        self.work
    }
}

/// About the bytes of a value, as text.
fn bytes(value: &Value) -> u64 {
    let length = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => length(text).saturating_add(2),
        Value::Array(items) => items.iter().map(bytes).fold(2, u64::saturating_add),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| length(name).saturating_add(4).saturating_add(bytes(value)))
            .fold(2, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However objects take turns, and however they cut what they spend.
        #[test]
        fn whether_the_stock_suffices_depends_on_sums_alone(
            objects in prop::collection::vec((0_u64..9_000, prop::collection::vec(0_u64..9_000, 0..8)), 0..8),
            limit in 0_u64..100_000,
        ) {
            let one_after_the_other = Work::with_limit(limit);
            for (own, costs) in &objects {
                let mut allowance = one_after_the_other.allowance_of(*own);
                for cost in costs {
                    let _ = allowance.spend(*cost);
                }
            }
            let in_turns = Work::with_limit(limit);
            let mut allowances: Vec<_> = objects.iter().map(|(own, _)| in_turns.allowance_of(*own)).collect();
            for turn in (0..8).rev() {
                for (allowance, (_, costs)) in allowances.iter_mut().zip(&objects) {
                    if let Some(cost) = costs.get(turn) {
                        let _ = allowance.spend(*cost);
                    }
                }
            }
            prop_assert_eq!(one_after_the_other.is_spent(), in_turns.is_spent());
        }
    }

    #[test]
    fn a_pattern_is_paid_for_once() {
        let work = Work::with_limit(60_000);
        for _ in 0..100 {
            assert!(work.pattern("^[a-z]{1,500}$").is_ok());
        }
        assert_eq!(work.pattern("^[a-z]{1,501}$").err(), Some(Spent));
        assert!(work.is_spent());
    }

    #[test]
    fn all_of_a_stock_may_be_spent_and_not_one_step_more() {
        let work = Work::with_limit(10);
        assert_eq!(work.spend(10), Ok(()));
        assert!(!work.is_spent());
        assert_eq!(work.spend(1), Err(Spent));
        assert!(work.is_spent());
        assert_eq!(Work::unlimited().spend(u64::MAX), Ok(()));
        let definition = Value::from("a".repeat(98));
        let of_definitions = Work::for_definitions([&definition, &definition].into_iter());
        assert_eq!(of_definitions.spend(STOCK + 200 * STEPS_PER_BYTE), Ok(()));
        assert_eq!(of_definitions.spend(1), Err(Spent));
    }

    #[test]
    fn an_object_brings_along_what_goes_by_the_bytes_of_its_values() {
        let spent = Work::with_limit(0);
        for (value, bytes) in [
            (Value::Null, 4),
            (Value::from("abc"), 5),
            (kube_json::json!(["abc", 1]), 2 + 5 + 4),
            (kube_json::json!({"key": "abc"}), 2 + 3 + 4 + 5),
        ] {
            assert_eq!(
                spent.allowance(&value).spend(bytes * STEPS_PER_BYTE),
                Ok(()),
                "{value}"
            );
            assert_eq!(
                spent.allowance(&value).spend(bytes * STEPS_PER_BYTE + 1),
                Err(Spent),
                "{value}"
            );
            let copied = bytes * STEPS_PER_COPIED_BYTE;
            assert_eq!(spent.allowance_of(copied).copy(&value), Ok(()), "{value}");
            assert_eq!(spent.allowance_of(copied - 1).copy(&value), Err(Spent), "{value}");
        }
    }

    #[test]
    fn looking_for_a_pattern_is_paid_by_its_weight_and_the_length_of_the_text() {
        let plenty = Work::unlimited();
        let compiled = plenty.pattern("^a{1,100}$").unwrap();
        let pattern = compiled.as_ref().as_ref().unwrap();
        let text = "a".repeat(64);
        let steps = pattern.weight() * 64 / STATES_PER_STEP;
        let spent = Work::with_limit(0);
        assert_eq!(spent.allowance_of(steps).is_match(pattern, &text), Ok(true));
        assert_eq!(
            spent.allowance_of(steps).is_match(pattern, &"b".repeat(64)),
            Ok(false)
        );
        assert_eq!(spent.allowance_of(steps - 1).is_match(pattern, &text), Err(Spent));
    }
}
