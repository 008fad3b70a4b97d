//! Where input is read from: the disk, or a tree that is not on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Checkout, Disk};
use super::documents::{Content, Document, load, read_text};
use super::git_index::WorkTree;
use super::source_map::Sources;
use super::tree::{FileTree, Lead, TreeEntry, about};
use super::walk::{Request, link_to_nothing, walk};
use crate::diagnostic::{Code, DocumentId, Finding, Findings};
use crate::progress::Stage;
use crate::sandbox::or_here;

/// A choice of files; paths mean the same in each.
#[derive(Debug, Clone, Copy)]
pub enum Files<'a> {
    /// Those on disk.
    Disk,
    /// Those of a tree. A file that the tree does not have does not exist; configuration outside the tree is read from
    /// disk.
    Tree(&'a dyn FileTree),
}

impl Files<'_> {
    /// Looks something up in the tree; nothing is read.
    fn look_up<T>(self, look_up: impl FnOnce(&dyn FileTree) -> Option<T>) -> Option<T> {
        match self {
            Self::Disk => look_up(&Disk::default()),
            Self::Tree(tree) => look_up(tree),
        }
    }

    fn lead(self, path: &Path) -> Option<Lead> {
        self.look_up(|tree| tree.resolve(&tree.locate(path)?).ok())
    }

    /// Whether a directory is at `path`.
    pub fn is_dir(self, path: &Path) -> bool {
        matches!(self.lead(path), Some(Lead::To(_, TreeEntry::Directory)))
    }

    /// Whether nothing is at `path`. A path outside the tree does not count.
    pub fn lacks(self, path: &Path) -> bool {
        matches!(self.lead(path), Some(Lead::Nowhere | Lead::Outside))
    }

    /// Whether something that is not a directory has this name, even if it is a dangling link.
    pub fn has_name(self, path: &Path) -> bool {
        let has_name = self.look_up(|tree| {
            let at = by_name(tree, path)?;
            let is_directory = matches!(tree.resolve(&at), Ok(Lead::To(_, TreeEntry::Directory)));
            Some(!is_directory && !matches!(tree.entry(&at), Ok(None)))
        });
        has_name.unwrap_or(false)
    }

    /// The directories next to `path`, by name; none if that is neither below `root` nor in its repository.
    pub fn directories_beside(self, path: &Path, root: &Path) -> Vec<String> {
        let parent = or_here(path.parent().unwrap_or(Path::new("")));
        let list = |tree: &dyn FileTree| {
            let Ok(Lead::To(real, _)) = tree.resolve(&tree.locate(parent)?) else {
                return None;
            };
            tree.list(&real).ok()
        };
        let entries = match self {
            Self::Disk => list(&Disk::below([or_here(root)])),
            Self::Tree(tree) => list(tree),
        };
        let directories = entries.into_iter().flatten();
        let directories = directories.filter(|(_, entry)| matches!(entry, TreeEntry::Directory));
        directories
            .filter_map(|(name, _)| name.into_string().ok())
            .collect()
    }

    /// Reads one file named on the command line as a single text, without looking for documents: the configuration.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_text(
        self,
        path: &Path,
        sources: &mut Sources,
    ) -> Result<(Arc<String>, DocumentId), Box<Finding>> {
        if let Self::Tree(tree) = self {
            if let Some(Lead::To(real, _)) = self.lead(path) {
                return read_text(content(tree, &real, path), path, sources);
            }
            if tree.name().is_none() {
                return Err(Box::new(leaves_the_repository(path)));
            }
        }
        let disk = Disk::below([path]);
        let real = match disk.resolve(path) {
            Ok(Lead::To(real, _)) => real,
            _ => path.to_owned(),
        };
        read_text(Ok(Content::OnDisk(&disk, &real)), path, sources)
    }

    /// The same for a file that was found by its name: one that is a link must not leave the repository, nor, outside
    /// of one, its directory.
    ///
    /// # Errors
    /// It cannot be read, or must not be.
    pub fn read_found_text(
        self,
        path: &Path,
        sources: &mut Sources,
    ) -> Result<(Arc<String>, DocumentId), Box<Finding>> {
        let on_disk;
        let tree: &dyn FileTree = match self {
            Self::Disk => {
                on_disk = path
                    .parent()
                    .and_then(repository_or)
                    .and_then(|root| Checkout::open(&root).ok());
                match &on_disk {
                    Some(checkout) => checkout,
                    // Reading it reports why.
                    None => return self.read_text(path, sources),
                }
            }
            Self::Tree(tree) => tree,
        };
        Err(Box::new(match by_name(tree, path).map(|at| tree.resolve(&at)) {
            Some(Ok(Lead::To(real, _))) => return read_text(content(tree, &real, path), path, sources),
            Some(Ok(Lead::Nowhere)) => link_to_nothing(path).help("remove the link"),
            Some(Err(error)) => error.finding(tree, path),
            None | Some(Ok(Lead::Outside)) => leaves_the_repository(path),
        }))
    }

    /// The documents of all input files, and of standard input.
    pub fn documents(
        self,
        request: &Request,
        stdin: Option<&[u8]>,
        sources: &mut Sources,
        findings: &mut Findings,
    ) -> Vec<Document> {
        let finding = request.progress.begin(Stage::Finding);
        let disk = Disk::below(request.named().chain([request.root()]));
        let (tree, disk): (&dyn FileTree, Option<&Disk>) = match self {
            Self::Disk => (&disk, Some(&disk)),
            Self::Tree(tree) => (tree, None),
        };
        let work_tree = disk.and_then(|disk| WorkTree::around(request.root(), disk));
        let walked = walk(request, tree, work_tree.as_ref());
        drop(finding);
        findings.extend(walked.findings);
        sources.add_charts(walked.charts);
        load(&walked.files, (tree, disk), stdin, request, sources, findings)
    }
}

fn content<'a>(tree: &dyn FileTree, at: &Path, path: &Path) -> Result<Content<'a>, Box<Finding>> {
    match tree.read(at) {
        Ok(bytes) => Ok(Content::Known(bytes.into())),
        Err(error) => Err(Box::new(error.finding(tree, path))),
    }
}

/// Where a name is in a tree, whatever has it: a link is not followed.
fn by_name(tree: &dyn FileTree, path: &Path) -> Option<PathBuf> {
    let at = tree.locate(or_here(path.parent()?))?;
    match tree.resolve(&at).ok()? {
        Lead::To(real, _) => Some(real.join(path.file_name()?)),
        _ => None,
    }
}

/// The repository around a directory, its real path; without one, the directory.
pub fn repository_or(directory: &Path) -> Option<PathBuf> {
    let real = real_directory(directory)?;
    Some(Disk::default().repository(&real).unwrap_or(real))
}

/// The same; `None` without one.
pub fn repository_around(directory: &Path) -> Option<PathBuf> {
    Disk::default().repository(&real_directory(directory)?)
}

/// A path from the root of the repository around it, which need not exist; `None` without one.
pub fn in_repository(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let existing = absolute.ancestors().find(|above| above.is_dir())?;
    let rest = absolute.strip_prefix(existing).ok()?;
    let real = existing.canonicalize().ok()?.join(rest);
    let root = repository_around(existing)?;
    real.strip_prefix(root).ok().map(Path::to_path_buf)
}

fn real_directory(directory: &Path) -> Option<PathBuf> {
    or_here(directory).canonicalize().ok()
}

fn leaves_the_repository(path: &Path) -> Finding {
    about(Code::INPUT_OUTSIDE, path, |shown| {
        format!("the symbolic link `{shown}` leaves the repository")
    })
    .note("its target is not the same on every machine")
    .help("replace the link with a copy of the file")
}
