//! One stream of all objects: `-o -`, and what an Argo CD plugin prints.
//!
//! Owns: the order and the separators of a stream. Flows in: a [`Tree`]. Flows out: bytes to a sink. Must not know:
//! what the objects are.

use std::io::{self, Write};

use super::error::OutputError;
use super::tree::{FileKind, Tree};

/// How much is collected before it is written.
const CHUNK: usize = 256 * 1024;

/// Writes all objects of a tree, `---` alone on its line between them (Argo CD refuses anything beside it), sorted
/// by cluster and work: the names decide, not the bytes of the paths, in which `eu-1-b/` stands before `eu-1/`.
/// Kustomizations are left out. A reader that has seen enough (a broken pipe) is no error.
///
/// # Errors
/// When writing fails for any other reason.
pub fn stream(tree: &dyn Tree, sink: &mut dyn Write) -> Result<(), OutputError> {
    match write_all(tree, sink) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(OutputError::Stream),
    }
}

fn write_all(tree: &dyn Tree, sink: &mut dyn Write) -> io::Result<()> {
    let mut order = (0..tree.len())
        .filter(|index| tree.kind(*index) == FileKind::Object)
        .collect::<Vec<_>>();
    order.sort_by(|a, b| {
        let (a, b) = (tree.path(*a), tree.path(*b));
        names(&a).cmp(names(&b))
    });
    let mut buffer = Vec::with_capacity(CHUNK.saturating_mul(2));
    for (position, index) in order.into_iter().enumerate() {
        if position > 0 {
            buffer.extend_from_slice(b"---\n");
        }
        tree.content(index, &mut buffer);
        if buffer.last().is_some_and(|last| *last != b'\n') {
            buffer.push(b'\n');
        }
        if buffer.len() >= CHUNK {
            sink.write_all(&buffer)?;
            buffer.clear();
        }
    }
    sink.write_all(&buffer)?;
    sink.flush()
}

/// The names in a path: cluster, work.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.strip_suffix(".yaml").unwrap_or(path).split('/')
}
