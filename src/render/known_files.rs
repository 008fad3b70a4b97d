//! The files of works that an earlier run of this process rendered.
//!
//! Owns: which file of a plan has the same bytes as one of an earlier plan. Flows in: a plan with what is known of the
//! files of its works, and a later plan. Flows out: what is known of its files. Must not know: what is on disk, or how a
//! hash is made.
//!
//! The bytes of a work follow from its text and its cluster. Both are compared with those of the earlier plan, the text
//! of each distinct work once: what is taken over is known of the same bytes.

use std::sync::OnceLock;

use super::plan::{Plan, WorkId};
use crate::hub::Table;
use crate::output::{Hash, Identity};

/// What is known of the file of a work.
#[derive(Debug, Clone, Copy)]
pub struct KnownFile {
    /// The hash of the bytes that were rendered.
    pub hash: Hash,
    /// The file on disk when it had exactly these bytes. Whatever changes it changes this.
    pub seen: Option<Identity>,
}

/// A plan, and the files of its works: by cluster, in the order of the plan, and there as the plan has them.
#[derive(Debug, Default)]
pub struct KnownFiles {
    plan: Plan,
    files: Vec<Vec<Option<KnownFile>>>,
}

impl KnownFiles {
    /// Those of a plan.
    #[must_use]
    pub fn new(plan: Plan, files: Vec<Vec<Option<KnownFile>>>) -> Self {
        Self { plan, files }
    }
}

/// The works on a cluster, and their files.
type OnCluster<'a> = (&'a [WorkId], &'a [Option<KnownFile>]);

/// What a later plan takes over.
#[derive(Debug)]
pub(super) struct Known<'a> {
    plan: &'a Plan,
    earlier: &'a KnownFiles,
    /// By cluster of the later plan: the works there in the earlier one, and their files.
    clusters: Vec<Option<OnCluster<'a>>>,
    /// By work of the later plan: the first of the earlier plan that it was compared with, and whether both have one text.
    compared: Table<WorkId, OnceLock<(WorkId, bool)>>,
}

impl<'a> Known<'a> {
    pub(super) fn new(plan: &'a Plan, earlier: &'a KnownFiles) -> Self {
        let before = earlier.plan.clusters.iter().zip(&earlier.files);
        let mut before = before.peekable();
        let mut of_cluster = |name: &String| {
            while before.next_if(|((earlier, _), _)| *earlier < name).is_some() {}
            let ((_, works), files) = before.next_if(|((earlier, _), _)| *earlier == name)?;
            Some((works.as_slice(), files.as_slice()))
        };
        Self {
            plan,
            earlier,
            clusters: plan.clusters.keys().map(&mut of_cluster).collect(),
            compared: plan.works.map(|_| OnceLock::new()),
        }
    }

    /// The file of a work on the cluster of this number, if it was there before with the same text.
    pub(super) fn get(&self, cluster: u32, work: WorkId) -> Option<KnownFile> {
        let (works, files) = (*self.clusters.get(cluster as usize)?)?;
        let name = &self.plan.works.get(work).name;
        let name_of = |id: &WorkId| &self.earlier.plan.works.get(*id).name;
        let at = works.binary_search_by(|id| name_of(id).cmp(name)).ok()?;
        let file = (*files.get(at)?)?;
        self.is_same(work, *works.get(at)?).then_some(file)
    }

    fn is_same(&self, work: WorkId, before: WorkId) -> bool {
        let has_same_text = || {
            let earlier = self.earlier.plan.works.get(before);
            self.plan.works.get(work).text.halves() == earlier.text.halves()
        };
        let (compared, is_same) = self.compared.get(work).get_or_init(|| (before, has_same_text()));
        if *compared == before {
            *is_same
        } else {
            has_same_text()
        }
    }
}
