//! How the policies of a Gateway meet those of its routes, where an annotation of the Gateway says so (kgateway).
//!
//! Owns: the four values of that annotation, and what each comes to. Flows in: the levels of a path, what the annotation
//! says. Flows out: leaves with their sources. Must not know: where the annotation stands.
//!
//! docs/systems/other-policies.md#kgateway

use std::sync::Arc;

use super::layer::{Content, Entry, Leaf};
use super::leaves::flatten;
use super::meeting::is_of_gateway;
use super::merge_patch::{patch, starting_with};
use super::oldest_wins::oldest_wins;
use super::profile::{MergeUnit, Profile};
use super::strategic_merge::all_elements;
use crate::topology::Level;

/// What the annotation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Inherited {
    prefers_parent: bool,
    is_deep: bool,
}

impl Inherited {
    /// Reads the annotation; anything else is the default, as its controller has it.
    #[must_use]
    pub(super) fn read(annotation: Option<&str>) -> Self {
        let (prefers_parent, is_deep) = match annotation {
            Some("ShallowMergePreferParent") => (true, false),
            Some("DeepMergePreferChild") => (false, true),
            Some("DeepMergePreferParent") => (true, true),
            _ => (false, false),
        };
        Self {
            prefers_parent,
            is_deep,
        }
    }

    /// Whether it is as without an annotation.
    #[must_use]
    pub(super) fn is_default(self) -> bool {
        self == Self::default()
    }
}

/// What the policies of a path come to: those of the Gateway's side among each other, those of the route's, and then both.
#[must_use]
pub(super) fn inherited(profile: &Profile, levels: &[(Level, &[Entry])], inherited: Inherited) -> Content {
    let side = |of_gateway: bool| {
        let levels = levels
            .iter()
            .filter(|(level, _)| is_of_gateway(*level) == of_gateway);
        let levels: Vec<&[Entry]> = levels.map(|(_, entries)| *entries).collect();
        oldest_wins(&profile.unit, &levels)
    };
    let (parent, child) = (side(true), side(false));
    let (mut result, preferred) = if inherited.prefers_parent {
        (child, parent)
    } else {
        (parent, child)
    };
    let deep = profile
        .inheritance
        .iter()
        .flat_map(|inheritance| &inheritance.deep);
    for field in deep.filter(|_| inherited.is_deep) {
        if let (Some(under), Some(over)) = (result.get(field.as_str()), preferred.get(field.as_str())) {
            let both = deeply(under, over);
            result.remove(field.as_str());
            result.extend(both);
        }
    }
    for (key, leaf) in preferred {
        let is_merged_deeply = starting_with(&result, &format!("{key}/")).next().is_some();
        if !is_merged_deeply {
            result.insert(key, leaf);
        }
    }
    result
}

/// Field by field, and all elements of lists, those of the preferred one last: they are applied last.
fn deeply(under: &Leaf, over: &Leaf) -> Content {
    let mut result = leaves(under);
    let over = leaves(over);
    for (key, leaf) in &over {
        let lists = result
            .get(key)
            .filter(|other| other.value.is_array() && leaf.value.is_array());
        let both = lists.map(|other| all_elements(&[other, leaf], key));
        match both {
            Some(elements) => {
                result.remove(key);
                result.extend(elements);
            }
            None => {
                let one = Content::from([(Arc::clone(key), leaf.clone())]);
                patch(&mut result, &one, &MergeUnit::JsonMergePatch);
            }
        }
    }
    result
}

/// A field as leaves of its own.
fn leaves(field: &Leaf) -> Content {
    let mut leaves = Content::new();
    flatten(&field.value, field.at.to_string(), &mut |at, value| {
        let at: Arc<str> = Arc::from(at);
        let leaf = Leaf {
            value: Arc::new(value.clone()),
            at: Arc::clone(&at),
            ..field.clone()
        };
        leaves.insert(at, leaf);
    });
    leaves
}
