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

/// The lines of files of so many bytes are kept in mind at once; those of a larger one by themselves. They take a
/// thirtieth of their text.
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

/// How many lines end, and how many characters begin, before some bytes of a text: a line may be as long as the file, and
/// a file may have a million lines.
#[derive(Debug)]
pub(super) struct Lines {
    /// Before each [`BLOCK`] of bytes, and at the end.
    before: Vec<Before>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Before {
    newlines: usize,
    characters: usize,
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

    /// How many lines end before the byte `at` of `text`.
    pub(super) fn before(&self, text: &str, at: usize) -> usize {
        self.counted(text, at).newlines
    }

    /// The column of the byte `at` of `text`, from 1, in characters.
    pub(super) fn column(&self, text: &str, at: usize) -> usize {
        let characters = |at| self.counted(text, at).characters;
        characters(at)
            .saturating_sub(characters(self.line_start(text, at)))
            .saturating_add(1)
    }

    /// The first byte of the line that the byte `at` is in.
    fn line_start(&self, text: &str, at: usize) -> usize {
        let after_last = |from: usize, to: usize| {
            let part = text.as_bytes().get(from..to.min(text.len()))?;
            let newline = part.iter().rposition(|byte| *byte == b'\n')?;
            Some(from.saturating_add(newline).saturating_add(1))
        };
        let block = at / BLOCK;
        let own = block.saturating_mul(BLOCK);
        let earlier = || {
            let known = self.before.get(block)?.newlines;
            // The block with the last newline before this one.
            let first = self.before.partition_point(|before| before.newlines < known);
            let last = first.checked_sub(1)?.saturating_mul(BLOCK);
            after_last(last, last.saturating_add(BLOCK))
        };
        after_last(own, at).or_else(earlier).unwrap_or_default()
    }

    fn counted(&self, text: &str, at: usize) -> Before {
        let block = at / BLOCK;
        let known = self.before.get(block).copied().unwrap_or_default();
        let rest = text.as_bytes().get(block.saturating_mul(BLOCK)..at);
        known.and(rest.unwrap_or_default())
    }
}

impl Before {
    /// Before what follows these bytes of UTF-8.
    fn and(self, bytes: &[u8]) -> Self {
        Self {
            newlines: self.newlines.saturating_add(count(bytes, |byte| byte == b'\n')),
            characters: self.characters.saturating_add(begun(bytes)),
        }
    }
}

/// How many characters begin among these bytes of UTF-8.
fn begun(bytes: &[u8]) -> usize {
    count(bytes, |byte| (byte & 0xC0) != 0x80)
}

/// How many bytes are like that. In sums of one byte, the compiler adds up sixteen at once.
fn count(bytes: &[u8], is_one: impl Fn(u8) -> bool) -> usize {
    let sums = bytes.chunks(usize::from(u8::MAX)).map(|few| {
        let sum = few
            .iter()
            .fold(0_u8, |sum, byte| sum.wrapping_add(u8::from(is_one(*byte))));
        usize::from(sum)
    });
    sums.sum()
}
