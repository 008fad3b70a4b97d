//! Generated documents and the files that they were made from, so that a finding points at the file to correct. The
//! generator named a file, which is looked for beneath the directories that it may be relative to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kube_json::Value;

use super::Room;
use super::disk::read_at_most;
use super::source_map::{DocumentRange, SourceFile, Sources};
use super::tree::show;
use crate::diagnostic::{DocumentId, SourceId};
use crate::sandbox::SandboxDir;

/// A file of more bytes is not a manifest written by hand.
const MOST_BYTES: usize = 4 << 20;

/// A document, and the file that it was made from.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The document.
    pub document: DocumentId,
    /// The path, relative to an unknown directory.
    pub path: String,
    /// The part of it that is also in the file.
    pub object: ObjectName,
}

/// `apiVersion`, `kind` and `metadata.name`.
pub(crate) type ObjectName = [String; 3];

/// The name of a document that is an object.
pub fn object_name(value: &Value) -> Option<ObjectName> {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some([text("/apiVersion")?, text("/kind")?, text("/metadata/name")?])
}

/// The contents of a file: its number among the authored ones, and its documents by name.
struct Known {
    source: SourceId,
    documents: HashMap<ObjectName, u32>,
}

/// Maps documents to those that they were made from, beneath the first root that has one. Returns the others.
pub fn attribute(sources: &mut Sources, generated: Vec<Generated>, roots: &[PathBuf]) -> Vec<Generated> {
    let mut left = generated;
    for root in roots {
        if left.is_empty() {
            break;
        }
        let Ok(files) = SandboxDir::open(root) else {
            continue;
        };
        let mut read_files: HashMap<String, Option<Known>> = HashMap::new();
        left.retain(|one| {
            let known = read_files
                .entry(one.path.clone())
                .or_insert_with(|| read(sources, &files, root, &one.path));
            let Some(known) = known else { return true };
            let Some(index) = known.documents.get(&one.object) else {
                return true;
            };
            let document = DocumentId {
                source: known.source,
                index: *index,
            };
            sources.redirect(one.document, document);
            false
        });
    }
    left
}

/// Reads a file beneath a root; nothing if there is none, or if it is not YAML.
fn read(sources: &mut Sources, files: &SandboxDir, root: &Path, path: &str) -> Option<Known> {
    let file = files.file(Path::new(path)).ok()?;
    let bytes = read_at_most(file, MOST_BYTES).ok()?;
    if bytes.len() > MOST_BYTES {
        return None;
    }
    let text: Arc<String> = Arc::new(kube_yaml::decode(&bytes).ok()?.into_owned());
    let limits = kube_yaml::Limits::default();
    let mut ranges = Vec::new();
    let mut documents = HashMap::new();
    for (index, chunk) in (0_u32..).zip(kube_yaml::split(&text).ok()?) {
        ranges.push(DocumentRange::from_chunk(&chunk));
        if let Ok((value, _)) = kube_yaml::read_located(&chunk, &limits)
            && let Some(name) = object_name(&value)
        {
            documents.entry(name).or_insert(index);
        }
    }
    let at = if root.as_os_str() == "." {
        PathBuf::from(path)
    } else {
        root.join(path)
    };
    let shown = show(&at);
    let source = sources.push_authored(SourceFile {
        room: Room::Hub,
        relative: path.to_owned(),
        shown,
        text,
        documents: ranges,
    });
    Some(Known { source, documents })
}
