//! Mappings that a schema has accepted: equal ones stand in many objects and share their members.
//!
//! Owns: [`Accepted`]. Flows in: levels of schemas, and addresses of mappings that they accept. Flows out: whether one is
//! known. Must not know: how a level judges.

use std::marker::PhantomData;

use kube_json::Value;

use crate::node::Node;

/// How many are known at once. An object has a few dozen mappings, so that those of the one before it are still there.
const KNOWN: usize = 512;

/// Mappings that levels of schemas have accepted lately. The schemas and the values outlive it, so that nothing else comes
/// to be where they are.
#[derive(Debug, Default)]
pub struct Accepted<'v> {
    /// The addresses of a level and of a mapping; a later pair takes the place of another.
    known: Vec<(usize, usize)>,
    of: PhantomData<(&'v Node, &'v Value)>,
}

impl Accepted<'_> {
    pub(crate) fn has(&self, node: &Node, mapping: usize) -> bool {
        let pair = (address(node), mapping);
        self.known.get(slot(pair)) == Some(&pair)
    }

    pub(crate) fn add(&mut self, node: &Node, mapping: usize) {
        if self.known.is_empty() {
            self.known.resize(KNOWN, (0, 0));
        }
        let pair = (address(node), mapping);
        if let Some(slot) = self.known.get_mut(slot(pair)) {
            *slot = pair;
        }
    }
}

fn address(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}

/// What is at one address ends in zeros.
fn slot((node, mapping): (usize, usize)) -> usize {
    ((mapping >> 4) ^ (node >> 3)).wrapping_mul(0x9E37_79B1) >> 16 & (KNOWN - 1)
}
