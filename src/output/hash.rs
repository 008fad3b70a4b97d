//! The hash of a file's bytes, as the inventory lists it.
//!
//! Owns: which hash that is. Flows in: bytes. Flows out: a [`type@Hash`]. Must not know: whose bytes they are.

use sha2::{Digest as _, Sha256};

/// SHA-256 of a file's bytes.
pub type Hash = [u8; 32];

/// The hash of some bytes.
pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}
