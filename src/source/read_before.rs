//! Files that were read before: another tree that has the same content takes over what it became.
//!
//! Owns: what is taken over, and finding it by the name that Git gives the content. Flows in: the sources of an input
//! whose [`Request::keeps_values`](super::Request::keeps_values) is set. Flows out: texts and values, shared. Must not
//! know: which tree asks.

use std::sync::Arc;

use kube_json::Value;

use super::texts::DocumentRange;

/// A file of which every document was read, and nothing is to be said.
#[derive(Debug, Clone)]
pub struct FileReadBefore {
    /// The text, which is the content.
    pub(super) text: Arc<String>,
    /// Whether it was read as JSON: by the end of its name, not by its content.
    pub(super) json: bool,
    /// Where its documents are.
    pub(super) documents: Vec<DocumentRange>,
    /// The documents that are not empty, by their number.
    pub(super) values: Vec<(u32, Value)>,
}

/// Such files, by Git's name of their content.
#[cfg(feature = "git")]
#[derive(Debug, Default)]
pub struct ReadBefore {
    files: std::collections::HashMap<gix::ObjectId, Arc<FileReadBefore>>,
}

#[cfg(feature = "git")]
impl ReadBefore {
    /// The files of an input.
    #[must_use]
    pub fn new(sources: &super::Sources) -> Self {
        use rayon::prelude::*;

        let name = |file: &Arc<FileReadBefore>| {
            let content = file.text.as_bytes();
            let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, content);
            Some((id.ok()?, Arc::clone(file)))
        };
        let files: Vec<_> = sources.kept().par_iter().filter_map(name).collect();
        Self {
            files: files.into_iter().collect(),
        }
    }

    /// The file with this content.
    pub(super) fn get(&self, id: &gix::ObjectId) -> Option<&FileReadBefore> {
        self.files.get(id).map(Arc::as_ref)
    }
}
