//! Places in the texts, computed once for each document and once for each file, however many findings ask.
//!
//! Owns: the places of keys and values in the requested documents, and the lines of their files, if they are small
//! enough to be kept. Flows in: texts. Flows out: byte ranges, lines and columns. Must not know:
//! findings.
//!
//! Nothing is computed before the first finding asks. Without this cache, a thousand findings in one document would
//! read it a thousand times: a file of half a megabyte took minutes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use crate::diagnostic::{DocumentId, SourceId};

/// Documents of so many bytes are kept in mind at once; a larger one by itself. Places of keys and values take some
/// twenty times their text, and findings come in the order of the documents.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The lines of files of so many bytes are kept in mind at once; those of a larger one by themselves. They take a fifth
/// of their text.
const MOST_BYTES_OF_FILES: usize = 64 << 20;

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
    /// By themselves: a file may be larger than what is kept of documents, and every document of it asks for its lines.
    lines: HashMap<SourceId, Arc<Lines>>,
    bytes_of_files: usize,
    /// How often something had to be found out.
    made: usize,
}

impl Kept {
    fn make_room_for_document(&mut self, bytes: usize) {
        self.made = self.made.saturating_add(1);
        if self.bytes.saturating_add(bytes) > MOST_BYTES {
            self.documents.clear();
            self.bytes = 0;
        }
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn make_room_for_file(&mut self, bytes: usize) {
        self.made = self.made.saturating_add(1);
        if self.bytes_of_files.saturating_add(bytes) > MOST_BYTES_OF_FILES {
            self.lines.clear();
            self.bytes_of_files = 0;
        }
        self.bytes_of_files = self.bytes_of_files.saturating_add(bytes);
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
        kept.make_room_for_document(bytes);
        kept.documents.insert(key, Arc::clone(&found));
        found
    }

    /// The lines of a file.
    pub(super) fn lines(&self, source: SourceId, text: &str) -> Arc<Lines> {
        let mut kept = self.kept();
        if !kept.lines.contains_key(&source) {
            kept.make_room_for_file(text.len());
        }
        match kept.lines.entry(source) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(unknown) => Arc::clone(unknown.insert(Arc::new(Lines::of(text)))),
        }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn made(&self) -> usize {
        self.kept().made
    }
}

/// Where the lines of a text begin, and how many characters are before some of its bytes: a line may be as long as the
/// file.
#[derive(Debug)]
pub(super) struct Lines {
    newlines: Vec<usize>,
    /// The characters before each [`BLOCK`] of bytes.
    characters: Vec<usize>,
}

const BLOCK: usize = 1024;

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let newlines = text.match_indices('\n').map(|(at, _)| at).collect();
        let mut before = 0_usize;
        let mut characters = Vec::with_capacity(text.len() / BLOCK + 1);
        for block in text.as_bytes().chunks(BLOCK) {
            characters.push(before);
            before = before.saturating_add(begun(block));
        }
        characters.push(before);
        Self { newlines, characters }
    }

    /// How many lines end before the byte `at`.
    pub(super) fn before(&self, at: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < at)
    }

    /// The column of the byte `at` of `text`, from 1, in characters.
    pub(super) fn column(&self, text: &str, at: usize) -> usize {
        let start = self
            .before(at)
            .checked_sub(1)
            .and_then(|last| self.newlines.get(last))
            .map_or(0, |newline| newline.saturating_add(1));
        self.characters_before(text, at)
            .saturating_sub(self.characters_before(text, start))
            .saturating_add(1)
    }

    fn characters_before(&self, text: &str, at: usize) -> usize {
        let block = at / BLOCK;
        let known = self.characters.get(block).copied().unwrap_or_default();
        let rest = text.as_bytes().get(block.saturating_mul(BLOCK)..at);
        known.saturating_add(begun(rest.unwrap_or_default()))
    }
}

/// How many characters begin among these bytes of UTF-8.
fn begun(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}
