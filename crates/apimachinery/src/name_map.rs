//! Maps by names from the input.
//!
//! Owns: how such names are hashed. Flows in: names. Flows out: maps and sets of the standard library. Must not know: what
//! a name is of.
//!
//! A fleet has many names, and each is asked for several times: the standard library's hash took a twelfth of a check. The
//! seed is another one in each run, as there.

use std::collections::{HashMap, HashSet};

pub use foldhash::fast::RandomState as NameHash;

/// A map by names.
pub type NameMap<K, V> = HashMap<K, V, NameHash>;

/// A set of names.
pub type NameSet<K> = HashSet<K, NameHash>;
