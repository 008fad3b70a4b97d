//! Reads exported works, which may be many: what is made of each object is kept, and not the object.
//!
//! Owns: which objects are read how. Flows in: a path or standard input, the input of a run. Flows out: what reports need,
//! findings. Must not know: what the works say.

use std::io::Read;
use std::path::Path;

use super::loaded::Loaded;
use crate::diagnostic::Findings;
use crate::hub;
use crate::hub::kinds::KindTable;
use crate::object::{Object, Origin};
use crate::output::INVENTORY;
use crate::report::{ExportedObject, ExportedWorks, Shared, WorkOrSet, WorksAndSets};
use crate::source;

/// Reads exported works: a file, a directory, or standard input, of any size, because each object is dropped as soon as
/// it is read. The texts that findings need join those of the input.
pub fn load_works(
    loaded: &mut Loaded,
    path: &Path,
    stdin: Option<&mut dyn Read>,
    findings: &mut Findings,
) -> ExportedWorks {
    let shared = Shared::default();
    let (objects, passed_over) = load_exported(loaded, path, stdin, findings, |loaded, object, findings| {
        ExportedObject::read(&object, |cluster| loaded.admits(cluster), &shared, findings)
    });
    ExportedWorks::new(objects, passed_over)
}

/// The same for a list of works and sets that may be deleted.
pub fn load_prunable(
    loaded: &mut Loaded,
    path: &Path,
    stdin: Option<&mut dyn Read>,
    findings: &mut Findings,
) -> WorksAndSets {
    let shared = Shared::default();
    let (all, _) = load_exported(loaded, path, stdin, findings, |_, object, _| {
        (WorkOrSet::read(&object, &shared), false)
    });
    WorksAndSets::new(all)
}

/// What is made of each exported object, and how many documents are none. `make` also says whether somebody may ask where
/// something stands in it.
fn load_exported<T: AsRef<Object> + Send>(
    loaded: &mut Loaded,
    path: &Path,
    stdin: Option<&mut dyn Read>,
    findings: &mut Findings,
    make: impl Fn(&Loaded, Object, &mut Findings) -> (T, bool) + Sync,
) -> (Vec<T>, usize) {
    let wanted = source::Request {
        hub: if stdin.is_some() {
            Vec::new()
        } else {
            vec![path.to_owned()]
        },
        output_marker: Some(INVENTORY),
        root: path.to_owned(),
        progress: loaded.progress.clone(),
        ..source::Request::default()
    };
    let kinds = KindTable::built_in();
    let mut sources = std::mem::take(&mut loaded.sources);
    let of_document = |document: source::Document| {
        let origin = Origin {
            document: document.id,
            pointer: String::new(),
        };
        let hub::Exported {
            objects,
            passed_over,
            wrong,
        } = hub::exported(document.value, origin, &kinds);
        let mut found = Findings::new();
        found.extend(wrong);
        let made = objects.into_iter().map(|object| make(loaded, object, &mut found));
        let (made, asks): (Vec<T>, Vec<bool>) = made.unzip();
        let asks = asks.contains(&true) || !found.is_empty();
        ((made, passed_over, found), asks)
    };
    let read = source::read_exported(&wanted, stdin, &mut sources, findings, hub::is_list, &of_document);
    loaded.sources = sources;
    let mut passed_over = 0_usize;
    let mut all = Vec::with_capacity(read.len());
    for (made, passed, found) in read {
        all.extend(made);
        passed_over = passed_over.saturating_add(passed);
        findings.extend(found);
    }
    (hub::without_duplicates(all, findings).0, passed_over)
}
