//! Places in the texts, computed once for each document and once for each file, however many findings ask.
//!
//! Nothing is computed before the first finding asks. Without this cache, a thousand findings in one document would
//! read it a thousand times: a file of half a megabyte took minutes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::diagnostic::{DocumentId, SourceId};

/// Documents of so many bytes are kept in mind at once; a larger one by itself. Places of keys and values take some
/// twenty times their text, and findings come in the order of the documents.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    kept: Mutex<Kept>,
}

/// A copy of the texts computes it again: a copy may have other names.
impl Clone for Lookups {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Debug, Default)]
struct Kept {
    /// By document and, for a text inside one of its fields, the pointer of that field.
    documents: HashMap<(DocumentId, Option<String>), Arc<Found>>,
    bytes: usize,
    /// Of all files that are asked for: they take a thirtieth of their text.
    lines: HashMap<SourceId, Arc<Lines>>,
    /// How often a document had to be read.
    made: usize,
}

impl Kept {
    fn make_room(&mut self, bytes: usize) {
        self.made = self.made.saturating_add(1);
        if self.bytes.saturating_add(bytes) > MOST_BYTES {
            self.documents.clear();
            self.bytes = 0;
        }
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The known places of a document, or of a text inside one.
#[derive(Debug)]
pub(super) struct Found {
    /// Nothing where the text cannot be read.
    pub(super) positions: Option<kube_yaml::Positions>,
    /// For each line of a text inside a field: where it starts there, and in the document. Empty for a document.
    pub(super) embedded: Vec<(usize, usize)>,
}

impl Lookups {
    /// What is known of a document of `bytes` bytes, or of the text inside the field `inside`; `find` reads it.
    pub(super) fn found(
        &self,
        document: DocumentId,
        inside: Option<&str>,
        bytes: usize,
        find: impl FnOnce() -> Found,
    ) -> Arc<Found> {
        let key = (document, inside.map(str::to_owned));
        if let Some(found) = self.kept().documents.get(&key) {
            return Arc::clone(found);
        }
        let found = Arc::new(find());
        let mut kept = self.kept();
        kept.make_room(bytes);
        kept.documents.insert(key, Arc::clone(&found));
        found
    }

    /// The lines of a file.
    pub(super) fn lines(&self, source: SourceId, text: &str) -> Arc<Lines> {
        let mut kept = self.kept();
        let lines = kept.lines.entry(source);
        Arc::clone(lines.or_insert_with(|| Arc::new(Lines::of(text))))
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn made(&self) -> usize {
        self.kept().made
    }
}

/// How many lines end before some bytes of a text, and where they are in their own: a line may be as long as the file, and
/// a file may have a million lines.
#[derive(Debug)]
pub(super) struct Lines {
    /// Before each [`BLOCK`] of bytes, and at the end.
    before: Vec<Before>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) newlines: usize,
    /// Characters that begin after the last of them.
    pub(super) characters: usize,
}

const BLOCK: usize = 512;

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let mut before = Vec::with_capacity((text.len() / BLOCK).saturating_add(2));
        let mut counted = Before::default();
        for block in text.as_bytes().chunks(BLOCK) {
            before.push(counted);
            counted = counted.and(block);
        }
        before.push(counted);
        Self { before }
    }

    /// What is before the byte `at` of `text`.
    pub(super) fn before(&self, text: &str, at: usize) -> Before {
        let block = at / BLOCK;
        let known = self.before.get(block).copied().unwrap_or_default();
        let rest = text.as_bytes().get(block.saturating_mul(BLOCK)..at);
        known.and(rest.unwrap_or_default())
    }
}

impl Before {
    /// Before what follows these bytes of UTF-8.
    fn and(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            if *byte == b'\n' {
                self.newlines = self.newlines.saturating_add(1);
                self.characters = 0;
            } else if byte & 0xC0 != 0x80 {
                self.characters = self.characters.saturating_add(1);
            }
        }
        self
    }
}
