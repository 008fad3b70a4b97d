//! Compares one file with the wanted bytes.
//!
//! Owns: the one reading of a file, in no more memory than the wanted bytes need. Flows in: an open file and the bytes.
//! Flows out: whether they are the same; if not, the hash of the file. Must not know: who owns the file.

use std::fs::File;
use std::io::{self, Read as _};

use sha2::{Digest as _, Sha256};

use super::inventory::Hash;

/// How a file compares with the wanted bytes.
pub(super) enum Compared {
    Same,
    /// The hash of its contents.
    Different(Hash),
}

/// Reads a file once. A file that is longer than wanted is hashed in pieces, so that a huge foreign file does not
/// exhaust memory.
pub(super) fn compare(mut file: File, wanted: &[u8], buffer: &mut Vec<u8>) -> io::Result<Compared> {
    const PIECE: usize = 64 * 1024;
    // One byte more than wanted distinguishes a longer file from an equal one.
    let room = wanted
        .len()
        .saturating_add(1)
        .max(PIECE.min(wanted.len().saturating_mul(2)));
    if buffer.len() < room {
        buffer.resize(room, 0);
    }
    let mut filled = 0_usize;
    while let Some(free) = buffer.get_mut(filled..room).filter(|free| !free.is_empty()) {
        match file.read(free) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let found = buffer.get(..filled).unwrap_or_default();
    if found == wanted {
        return Ok(Compared::Same);
    }
    let mut hasher = Sha256::new();
    hasher.update(found);
    buffer.resize(buffer.len().max(PIECE), 0);
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(Compared::Different(hasher.finalize().into())),
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
