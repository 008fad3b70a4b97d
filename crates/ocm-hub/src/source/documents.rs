//! Reads files and splits them into documents, in parallel, with the same result in any order. Limits are here, too:
//! the size of a file, and how much the aliases of all of them may expand to.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use apimachinery::Work;
use kube_json::Value;

use super::disk::{Disk, help_for, read_at_most};
use super::git::is_pointer;
use super::source_map::{DocumentRange, SourceFile, Sources};
use super::tree::{FileTree, reason, show};
use super::walk::{Discovered, Request, Room, pointer};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Secrecy, SourceId, counted};
use crate::parallel;
use crate::progress::Stage;

/// One document that is not empty.
#[derive(Debug, Clone)]
pub struct Document {
    /// Which document of which file.
    pub id: DocumentId,
    /// Hub, spoke, or neither.
    pub room: Room,
    /// Its value.
    pub value: Value,
}

/// Reads files of a tree, and `stdin` as one more file when it is given, into `sources`; returns their documents by
/// file and position. An object store is read by one thread, the `disk` by many.
///
/// A file that cannot be read or is not YAML gets a finding; the other files are still read, so that one run reports
/// everything that is wrong.
pub(super) fn load(
    files: &[Discovered],
    (tree, disk): (&dyn FileTree, Option<&Disk>),
    stdin: Option<&[u8]>,
    request: &Request,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Vec<Document> {
    if disk.is_none() {
        tree.prepare(&files.iter().map(|file| file.at.as_path()).collect::<Vec<_>>());
    }
    let piped = Discovered::stdin();
    let mut inputs: Vec<Input<'_>> = Vec::with_capacity(files.len());
    for file in files {
        let content = match disk {
            Some(disk) => Ok(Content::OnDisk(disk, &file.at)),
            None => tree.read(&file.at).map(|bytes| Content::Known(bytes.into())),
        };
        match content {
            Ok(content) => inputs.push((file, content)),
            Err(error) => findings.push(error.finding(tree, &file.path)),
        }
    }
    inputs.extend(stdin.map(|bytes| (&piped, Content::Known(bytes.into()))));
    let (documents, found) = read_inputs(inputs, request, sources);
    findings.extend(found);
    documents
}

/// Where the bytes of an input are.
pub(super) enum Content<'a> {
    /// In memory.
    Known(Cow<'a, [u8]>),
    /// In a file that is still to be opened.
    OnDisk(&'a Disk, &'a Path),
}

/// A file, and its content.
pub(super) type Input<'a> = (&'a Discovered, Content<'a>);

pub(super) fn read_inputs(
    inputs: Vec<Input<'_>>,
    request: &Request,
    sources: &mut Sources,
) -> (Vec<Document>, Vec<Finding>) {
    let steps = request.progress.count(Stage::Reading, inputs.len());
    let first = sources.files().len();
    let read: Vec<FileRead> = parallel::map_each(
        inputs.into_iter().enumerate().collect(),
        |(index, (file, content))| {
            let id = SourceId::at(first.saturating_add(index));
            let shown = show(&file.path);
            let (text, unread) = text_of(content, &shown, id);
            let is_read = unread.is_none();
            let mut read = FileRead {
                file: SourceFile {
                    room: file.room.clone(),
                    relative: file.relative.clone(),
                    shown,
                    text,
                    documents: Vec::new(),
                },
                documents: Vec::new(),
                with_aliases: Vec::new(),
                findings: unread.into_iter().collect(),
            };
            if is_read {
                read_documents(id, &mut read, is_json(&file.path));
            }
            steps.advance(1);
            read
        },
    );
    drop(steps);
    let (mut documents, mut findings) = (Vec::new(), Vec::new());
    let mut aliases = Aliases::default();
    for mut read in read {
        for id in std::mem::take(&mut read.with_aliases) {
            if !aliases.read(id, &mut read) {
                sources.note_unread(id.source);
            }
        }
        read.documents.sort_by_key(|document| document.id);
        sources.push(read.file);
        documents.append(&mut read.documents);
        findings.append(&mut read.findings);
    }
    findings.extend(aliases.finding());
    (documents, findings)
}

/// Whether a path has the extension of JSON, in any case.
pub(super) fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// One file, and its contents.
struct FileRead {
    file: SourceFile,
    documents: Vec<Document>,
    /// Documents whose aliases expand to more than is everybody's: they are not read yet.
    with_aliases: Vec<DocumentId>,
    findings: Vec<Finding>,
}

/// The maximum size, in bytes, of a document that is not a list. An API server accepts 3 MiB of JSON
/// (`kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/server/config.go`); YAML is longer, and has comments. A
/// tree takes twenty times its text, so a file of 64 MiB, which cannot be applied anyway, must not become one.
pub(super) const MOST_BYTES_OF_AN_OBJECT: usize = 4 << 20;

/// The maximum size, in bytes, of a file.
const MOST_BYTES: usize = kube_yaml::Limits::DEFAULT_DOCUMENT_BYTES;

/// How much aliases may expand to in every document: one value for this many bytes of its text.
pub(super) const BYTES_FOR_A_VALUE: usize = 8;
/// The work for a value from an alias beyond that, which takes up to a quarter of a kilobyte (docs/reference/limits.md).
const STEPS_PER_VALUE: u64 = 60;

/// How much all aliases of a run may expand to. The documents that need it are read one after the other, in order:
/// which of them exceeds the limit must not depend on threads.
#[derive(Default)]
struct Aliases {
    work: Work,
    /// The first alias that was too much, and how many documents were not read.
    beyond: Option<(Place, usize)>,
}

impl Aliases {
    /// Reads a document of a file; whether it could afford to.
    fn read(&mut self, id: DocumentId, read: &mut FileRead) -> bool {
        if let Some((_, unread)) = &mut self.beyond {
            *unread = unread.saturating_add(1);
            return false;
        }
        let index = usize::try_from(id.index).unwrap_or(usize::MAX);
        let Some(range) = read.file.documents.get(index).copied() else {
            return true;
        };
        let text = Arc::clone(&read.file.text);
        let chunk = range.chunk(text.get(range.start..range.end).unwrap_or_default());
        let free = chunk.text.len() / BYTES_FOR_A_VALUE;
        let left = self.work.left(STEPS_PER_VALUE).saturating_add(free);
        let limits = kube_yaml::Limits::default();
        let bounded = kube_yaml::Limits {
            alias_nodes: left.min(limits.alias_nodes),
            ..limits
        };
        let (value, copied) = kube_yaml::read_counting(&chunk, &bounded);
        self.work.pay(copied.saturating_sub(free), STEPS_PER_VALUE);
        match value {
            Err(error) if copied > bounded.alias_nodes => {
                let error = error.shifted(range.start);
                self.beyond = Some((Place::text(id.source, &error.range), 1));
            }
            value => read.take(id, &chunk, value, &Secrecy::new(&text)),
        }
        self.beyond.is_none()
    }

    fn finding(self) -> Option<Finding> {
        let (place, unread) = self.beyond?;
        let unread = counted(unread, "document");
        let consequence = format!("{unread} with many aliases cannot be read");
        let finding = Finding::too_costly("expanding all aliases up to this one", place, &consequence);
        Some(finding.help("write the values in full, or use fewer aliases inside anchors"))
    }
}

/// Keeps one file as a single text, without looking for documents: the configuration.
///
/// # Errors
/// It cannot be read.
pub(super) fn read_text(
    content: Result<Content<'_>, Box<Finding>>,
    path: &Path,
    sources: &mut Sources,
) -> Result<(Arc<String>, DocumentId), Box<Finding>> {
    let shown = show(path);
    let source = sources.next_id();
    let (text, unread) = match content {
        Ok(content) => text_of(content, &shown, source),
        Err(finding) => (Arc::default(), Some(*finding)),
    };
    let whole = DocumentRange::whole(&text, kube_yaml::Syntax::Yaml);
    let name = path.file_name();
    sources.push(SourceFile {
        room: Room::Hub,
        relative: name.map_or_else(|| shown.clone(), |name| show(Path::new(name))),
        shown,
        text: Arc::clone(&text),
        documents: vec![whole],
    });
    match unread {
        Some(finding) => Err(Box::new(finding)),
        None => Ok((text, DocumentId { source, index: 0 })),
    }
}

/// The name of standard input.
pub const STDIN: &str = "<stdin>";

impl Discovered {
    /// Standard input, as a file.
    pub(super) fn stdin() -> Self {
        Self {
            room: Room::Hub,
            relative: STDIN.to_owned(),
            path: STDIN.into(),
            at: STDIN.into(),
        }
    }
}

/// The text of a file, as far as there is one, and why it cannot be read as YAML.
fn text_of(content: Content<'_>, shown: &str, source: SourceId) -> (Arc<String>, Option<Finding>) {
    let bytes = match bytes_of(content, shown) {
        Ok(bytes) => bytes,
        Err(finding) => return (Arc::default(), Some(*finding)),
    };
    let text = match kube_yaml::decode(&bytes) {
        // Read as YAML, a pointer is a mapping that is not an object: the file that it stands for would be silently
        // missing.
        Ok(text) if is_pointer(text.as_bytes()) => return (Arc::default(), Some(pointer(Path::new(shown)))),
        // The bytes are the text, nearly always: a copy would double the memory of a large file.
        Ok(Cow::Borrowed(_)) => None,
        Ok(Cow::Owned(text)) => Some(text),
        Err(undecodable) => {
            let kube_yaml::Undecodable { error, text, .. } = *undecodable;
            let place = Place::text(source, &error.range);
            let finding = Finding::new(Code::YAML_SYNTAX, place, error.message).help(error.help);
            return (Arc::new(text), Some(finding));
        }
    };
    let text = text.map_or_else(|| String::from_utf8(bytes), Ok);
    (Arc::new(text.unwrap_or_default()), None)
}

fn bytes_of(content: Content<'_>, shown: &str) -> Result<Vec<u8>, Box<Finding>> {
    let bytes = match content {
        Content::Known(bytes) => bytes.into_owned(),
        Content::OnDisk(disk, at) => {
            let unreadable = |error| Box::new(unreadable(shown, &error));
            let file = disk.open(at).map_err(unreadable)?;
            check_length(file.metadata().map_err(unreadable)?.len(), shown)?;
            read_at_most(file, MOST_BYTES).map_err(unreadable)?
        }
    };
    check_length(u64::try_from(bytes.len()).unwrap_or(u64::MAX), shown)?;
    Ok(bytes)
}

pub(super) fn unreadable(shown: &str, error: &std::io::Error) -> Finding {
    let message = format!("cannot read `{shown}`: {}", reason(error));
    Finding::new(Code::INPUT_UNREADABLE, Place::Path(shown.to_owned()), message).help(help_for(error))
}

fn check_length(length: u64, shown: &str) -> Result<(), Box<Finding>> {
    if length <= MOST_BYTES as u64 {
        return Ok(());
    }
    let message = format!("`{shown}` has {length} bytes; at most {MOST_BYTES} are read");
    let finding = Finding::new(Code::YAML_LIMIT, Place::Path(shown.to_owned()), message);
    Err(Box::new(finding.help(
        "split the file, or list it under `exclude` in spokewright.yaml",
    )))
}

fn read_documents(id: SourceId, read: &mut FileRead, json: bool) {
    let text = Arc::clone(&read.file.text);
    let secrecy = Secrecy::new(&text);
    let split = if json && text.trim_start().starts_with('[') {
        // An array is a value, but not an object: `hub` decides how to treat it.
        Ok(vec![
            DocumentRange::whole(&text, kube_yaml::Syntax::Json).chunk(&text),
        ])
    } else if json {
        kube_yaml::split_json(&text)
    } else {
        kube_yaml::split(&text)
    };
    match split {
        Ok(chunks) => {
            // Each by itself, so in parallel: one big file must not take longer than many small ones.
            let values = parallel::map(&chunks, read_chunk);
            for (chunk, value) in chunks.iter().zip(values) {
                let document = DocumentId::at(id, read.file.documents.len());
                read.file.documents.push(DocumentRange::from_chunk(chunk));
                match value {
                    ChunkRead::Value(value) => read.take(document, chunk, value, &secrecy),
                    ChunkRead::NeedsAliases => read.with_aliases.push(document),
                    ChunkRead::TooLarge => {
                        let finding = too_large(&read.file, id, chunk, &secrecy);
                        read.findings.push(finding);
                    }
                }
            }
        }
        Err(error) => {
            let covered = secrecy.covers(error.range.start);
            read.findings.push(syntax(id, error, covered));
        }
    }
}

/// The result for one document, before the documents are read whose aliases need more than their share.
enum ChunkRead {
    Value(Result<Value, kube_yaml::Error>),
    NeedsAliases,
    TooLarge,
}

fn read_chunk(chunk: &kube_yaml::Chunk<'_>) -> ChunkRead {
    if chunk.text.len() > MOST_BYTES_OF_AN_OBJECT && !may_be_a_list(chunk.text) {
        return ChunkRead::TooLarge;
    }
    let bounded = kube_yaml::Limits {
        alias_nodes: chunk.text.len() / BYTES_FOR_A_VALUE,
        ..kube_yaml::Limits::default()
    };
    let (value, copied) = kube_yaml::read_counting(chunk, &bounded);
    if value.is_err() && copied > bounded.alias_nodes {
        ChunkRead::NeedsAliases
    } else {
        ChunkRead::Value(value)
    }
}

/// Whether a text has `items`, as the exports of `kubectl get` do. What else it is, only reading it would tell.
pub(super) fn may_be_a_list(text: &str) -> bool {
    if text.trim_start().starts_with(['{', '[']) {
        text.contains("items")
    } else {
        text.starts_with("items:") || text.contains("\nitems:")
    }
}

fn too_large(
    file: &SourceFile,
    source: SourceId,
    chunk: &kube_yaml::Chunk<'_>,
    secrecy: &Secrecy,
) -> Finding {
    let place = if secrecy.covers_document(chunk.text) {
        Place::Path(file.shown.clone())
    } else {
        Place::text(source, &(chunk.offset..chunk.offset))
    };
    let bytes = chunk.text.len();
    let message = format!("this document has {bytes} bytes; an object may have {MOST_BYTES_OF_AN_OBJECT}");
    let finding = Finding::new(Code::YAML_LIMIT, place, message);
    finding.help("split it: an API server accepts no request above 3 MiB")
}

impl FileRead {
    /// Records the result for a document.
    fn take(
        &mut self,
        id: DocumentId,
        chunk: &kube_yaml::Chunk<'_>,
        value: Result<Value, kube_yaml::Error>,
        secrecy: &Secrecy,
    ) {
        match value {
            Ok(Value::Null) => {}
            Ok(value) => self.documents.push(Document {
                id,
                room: self.file.room.clone(),
                value,
            }),
            Err(error) => {
                let covered = secrecy.covers_document(chunk.text);
                self.findings
                    .push(syntax(id.source, error.shifted(chunk.offset), covered));
            }
        }
    }
}

/// The same of a text that begins at the byte `offset` of its file.
pub(super) fn wrong(source: SourceId, error: kube_yaml::Error, offset: usize, text: &str) -> Finding {
    let may_be_secret = Secrecy::new(text).covers_document(text);
    syntax(source, error.shifted(offset), may_be_secret)
}

/// A reader's complaint as a finding; one about what may be a Secret quotes nothing.
fn syntax(source: SourceId, error: kube_yaml::Error, may_be_secret: bool) -> Finding {
    let error = if may_be_secret { error.unquoted() } else { error };
    let at = |range| Place::text(source, range);
    let code = match error.kind {
        kube_yaml::ErrorKind::DuplicateKey => Code::YAML_DUPLICATE_KEY,
        kube_yaml::ErrorKind::Limit => Code::YAML_LIMIT,
        kube_yaml::ErrorKind::Merge => Code::YAML_MERGE,
        kube_yaml::ErrorKind::Dropped => Code::YAML_DROPPED_TEXT,
        _ => Code::YAML_SYNTAX,
    };
    let finding = Finding::new(code, at(&error.range), error.message).help(error.help);
    match error.related {
        Some(related) => finding.related(at(&related.range), related.text),
        None => finding,
    }
}
