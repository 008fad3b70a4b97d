//! Keeps equal values once: most of a hundred thousand works are the same.
//!
//! Owns: finding an equal value again. Flows in: values. Flows out: shared ones. Must not know: what they are.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// The values of one type.
#[derive(Debug)]
pub(in crate::report) struct Pool<T: ?Sized>(Mutex<HashSet<Arc<T>>>);

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Eq + Hash + ?Sized> Pool<T> {
    /// The value, or the equal one that was there before.
    pub(in crate::report) fn share(&self, value: impl Borrow<T> + Into<Arc<T>>) -> Arc<T> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(value.borrow()) {
            return Arc::clone(known);
        }
        let value = value.into();
        known.insert(Arc::clone(&value));
        value
    }
}
