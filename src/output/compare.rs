//! Compares one file with the wanted bytes.
//!
//! Owns: the one reading of a file, in no more memory than the wanted bytes need. Flows in: an open file and the bytes.
//! Flows out: whether they are the same; if not, the hash of the file. Must not know: who owns the file.

use std::io::{self, Read as _};

use sha2::{Digest as _, Sha256};

use super::hash::{Hash, sha256};
use crate::beneath::Opened;

/// How a file compares with the wanted bytes.
pub(super) enum Compared {
    Same,
    /// The hash of its contents.
    Different(Hash),
}

/// Reads a file once. A file that is longer than wanted is hashed in pieces, so that a huge foreign file does not
/// exhaust memory.
pub(super) fn compare(opened: Opened, wanted: &[u8], buffer: &mut Vec<u8>) -> io::Result<Compared> {
    const PIECE: usize = 64 * 1024;
    // One byte more than wanted distinguishes a longer file from an equal one.
    let room = wanted
        .len()
        .saturating_add(1)
        .max(PIECE.min(wanted.len().saturating_mul(2)));
    if buffer.len() < room {
        buffer.resize(room, 0);
    }
    let Opened { mut file, length } = opened;
    let mut filled = 0_usize;
    while let Some(free) = buffer.get_mut(filled..room).filter(|free| !free.is_empty()) {
        match file.read(free) {
            Ok(0) => break,
            Ok(count) => {
                filled = filled.saturating_add(count);
                // A read that had room for more, and the length of the file: to read again would only say so, too.
                if filled == wanted.len() && u64::try_from(filled) == Ok(length) {
                    break;
                }
            }
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

/// The first bytes of a file: enough to tell what it is.
pub(super) fn start_of(opened: Opened) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    opened.file.take(256).read_to_end(&mut start)?;
    Ok(start)
}

/// The hash of a file.
pub(super) fn hash_of(opened: Opened) -> io::Result<Hash> {
    Ok(match compare(opened, &[], &mut Vec::new())? {
        Compared::Same => sha256(&[]),
        Compared::Different(found) => found,
    })
}
