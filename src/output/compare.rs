//! Compares one file with the wanted bytes.
//!
//! Owns: the one reading of a file, in no more memory than the wanted bytes need. Flows in: an open file and the bytes.
//! Flows out: whether they are the same; if not, the hash of the file. Must not know: who owns the file.

use std::fs::File;
use std::io::{self, Read as _};

use sha2::{Digest as _, Sha256};

use super::hash::{Hash, sha256};

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
    buffer.clear();
    // One byte more than wanted distinguishes a longer file from an equal one.
    let room = u64::try_from(wanted.len()).unwrap_or(u64::MAX).saturating_add(1);
    (&mut file).take(room).read_to_end(buffer)?;
    if buffer == wanted {
        return Ok(Compared::Same);
    }
    let mut hasher = Sha256::new();
    hasher.update(&*buffer);
    buffer.resize(PIECE, 0);
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
pub(super) fn start_of(file: File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(256).read_to_end(&mut start)?;
    Ok(start)
}

/// The hash of a file.
pub(super) fn hash_of(file: File) -> io::Result<Hash> {
    Ok(match compare(file, &[], &mut Vec::new())? {
        Compared::Same => sha256(&[]),
        Compared::Different(found) => found,
    })
}
