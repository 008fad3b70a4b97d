//! The settings of policies, taken apart so that they can be merged.
//!
//! Owns: defaults and overrides as [`Layer`]s, their [`Leaf`]s with where each comes from, and an [`Entry`], the policy
//! that they belong to.
//! Flows in: what `settings` reads. Flows out: the same, to `merge`.
//! Must not know: objects, how anything is merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_json::Value;

use super::ids::PolicyId;
use super::profile::Strategy;

/// Which wrapper settings are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Gives way to what is more specific.
    Defaults,
    /// Does not.
    Overrides,
}

/// One unit of merging: a named rule, or a field that is not a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Its value, which may be a long list: leaves are cloned often.
    pub value: Arc<Value>,
    /// Its JSON pointer in the settings: `/limits/per-client`.
    pub at: Arc<str>,
    /// The pointer of the settings in the source object: `/spec/defaults`.
    pub base: &'static str,
    /// The policy that it comes from.
    pub policy: PolicyId,
    /// Of what is in a list that is no unit: where it came from.
    pub element: Option<Element>,
    /// A policy with no essential leaf counts as empty.
    pub essential: bool,
}

/// An element, or a field of one, of a list that was put together from several, or that was taken apart by a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// The JSON pointer of the list in the settings: `/httpUpgrade`.
    pub list: Arc<str>,
    /// The field that identifies the element, a number, which then stands for its position: `port`.
    pub key: Option<Arc<str>>,
    /// Its JSON pointer in the settings that it comes from, where it has another position: `/httpUpgrade/1`.
    pub from: Arc<str>,
}

impl Leaf {
    /// The pointer of the leaf in its source object.
    pub fn source_pointer(&self) -> String {
        let from = self.element.as_ref().map_or(&self.at, |element| &element.from);
        format!("{}{from}", self.base)
    }
}

/// Leaves by rule id, or by JSON pointer.
pub type Content = BTreeMap<Arc<str>, Leaf>;

/// The settings in one wrapper.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Defaults or overrides.
    pub side: Side,
    /// How they merge.
    pub strategy: Strategy,
    /// The leaves.
    pub content: Arc<Content>,
    /// The pointer of the wrapper that they are in: `/spec/defaults`, or `/spec` itself.
    pub base: &'static str,
}

/// One policy in one place of the hierarchy.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The policy.
    pub policy: PolicyId,
    /// Its settings; shared unless a policy of the cluster removed some.
    pub layers: Arc<[Layer]>,
}
