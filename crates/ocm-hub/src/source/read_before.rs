//! Files that were read before: another tree that has the same content takes over what it became.
//!
//! Owns: finding such a file by the name that Git gives its content. Flows in: the sources of an input whose
//! [`Request::keeps_values`](super::Request::keeps_values) is set. Flows out: texts and values, shared. Must not know:
//! which tree asks.

use std::collections::HashMap;
use std::sync::Arc;

use gix::ObjectId;

use super::contents::FileReadBefore;
use super::texts::Sources;
use crate::parallel;

/// The files that an input has kept, by Git's name of their content, and whether they were read as JSON.
#[derive(Debug, Default)]
pub struct ReadBefore {
    files: HashMap<(ObjectId, bool), Arc<FileReadBefore>>,
}

impl ReadBefore {
    /// The files of an input.
    #[must_use]
    pub fn new(sources: &Sources) -> Self {
        let named = |file: &Arc<FileReadBefore>| {
            let content = file.text.as_bytes();
            let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, content);
            Some(((id.ok()?, file.was_read_as_json()), Arc::clone(file)))
        };
        let files = parallel::map(sources.kept(), named);
        Self {
            files: files.into_iter().flatten().collect(),
        }
    }

    /// The file with this content that was read as JSON, or was not.
    pub(super) fn get(&self, id: ObjectId, json: bool) -> Option<&FileReadBefore> {
        self.files.get(&(id, json)).map(Arc::as_ref)
    }
}
