//! One stream of all objects: `-o -`, and the output of an Argo CD plugin.
//!
//! Owns: the order and the separators of a stream. Flows in: a [`Tree`]. Flows out: bytes to a sink. Must not know:
//! what the objects are.

use std::io::{self, Write};

use rayon::slice::ParallelSliceMut as _;

use super::error::OutputError;
use super::tree::{FileKind, Tree, Turn};

/// How much is collected before it is written.
const CHUNK: usize = 256 * 1024;

/// Writes all objects of a tree, `---` alone on its line between them (Argo CD refuses anything else on that line):
/// those that come first, then sorted by cluster, turn and work. The names decide, not the bytes of the paths, in which
/// `eu-1-b/` comes before `eu-1/`. `kubectl apply -f -` applies them in this order (docs/systems/gitops.md#kubectl).
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
    order.par_sort_by(|a, b| {
        let (turn, other) = (tree.turn(*a), tree.turn(*b));
        let (path, other_path) = (tree.path(*a), tree.path(*b));
        let (directory, name) = names(&path);
        let (other_directory, other_name) = names(&other_path);
        (turn != Turn::First)
            .cmp(&(other != Turn::First))
            .then_with(|| directory.split('/').cmp(other_directory.split('/')))
            .then_with(|| (turn, name).cmp(&(other, other_name)))
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
fn names(path: &str) -> (&str, &str) {
    let path = path.strip_suffix(".yaml").unwrap_or(path);
    path.rsplit_once('/').unwrap_or(("", path))
}
