//! Which files of a [`FileTree`] are input: the rules of [`super::discover()`], for a tree that is not on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::discover::{
    Discovered, INVENTORY_NAME, Request, Room, discovered, exclusions, link_refused, show, spoke_of,
};
use super::tree::{FileTree, Lead, TreeEntry, TreeError, inside, is_below, join, resolve};
use crate::diagnostic::{Code, Finding, Findings, Place};

/// A file of the tree that will be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Held {
    /// As if it stood on disk.
    pub file: Discovered,
    /// Its real path in the tree.
    pub at: String,
}

/// Lists the input files of the tree, sorted by room and relative path, each file once. An input that the tree
/// does not have is none: it may be new on disk.
pub(super) fn discover_tree(request: &Request, tree: &dyn FileTree, findings: &mut Findings) -> Vec<Held> {
    let mut walk = Walk {
        request,
        tree,
        exclude: exclusions(request, findings),
        skip: request.skip.iter().filter_map(|path| real(tree, path)).collect(),
        spokes: request.spokes.as_deref().and_then(|path| real(tree, path)),
        files: Vec::new(),
        findings,
    };
    for path in &request.hub {
        walk.input(path, &Room::Hub);
    }
    // On disk a directory of spokes that is not there is none; so is one that could only be outside of the tree.
    let is_there = |spokes: &&PathBuf| inside(tree, spokes).is_some() || spokes.is_dir();
    if let Some(spokes) = request.spokes.as_ref().filter(is_there) {
        let hub = std::mem::take(&mut walk.files);
        walk.input(spokes, &Room::Spoke(String::new()));
        let found = std::mem::replace(&mut walk.files, hub);
        for held in found {
            if let Some(room) = spoke_of(&held.file.path, spokes) {
                walk.files.push(Held {
                    file: Discovered { room, ..held.file },
                    at: held.at,
                });
            }
        }
    }
    let mut files = walk.files;
    files.sort();
    let mut seen = BTreeSet::new();
    files.retain(|held| seen.insert((held.file.room.clone(), held.at.clone())));
    files
}

/// The place of a path in the tree, links followed where it is there.
fn real(tree: &dyn FileTree, path: &Path) -> Option<String> {
    let at = inside(tree, path)?;
    match resolve(tree, &at) {
        Ok(Lead::To(real, _)) => Some(real),
        _ => Some(at),
    }
}

struct Walk<'a> {
    request: &'a Request,
    tree: &'a dyn FileTree,
    exclude: Gitignore,
    /// Real paths that are skipped: the output directory, the configuration.
    skip: Vec<String>,
    /// The real `spokes` directory: skipped while the hub is walked.
    spokes: Option<String>,
    files: Vec<Held>,
    findings: &'a mut Findings,
}

/// A directory on the way down.
struct Here<'a> {
    room: &'a Room,
    /// Real path of the input: links may not leave it.
    root: &'a str,
    /// Real paths of the directories above and this one: a link to one of them is a loop.
    above: &'a [String],
    /// Real path.
    at: &'a str,
    /// As somebody would type it.
    shown: &'a Path,
    /// `.gitignore`s from the outermost in.
    ignored: &'a [Gitignore],
}

impl Walk<'_> {
    /// One input path: a file is read whatever its name, a directory is walked.
    fn input(&mut self, path: &Path, room: &Room) {
        let Some(at) = inside(self.tree, path) else {
            self.findings.push(
                Finding::new(
                    Code::INPUT_OUTSIDE,
                    Place::Path(show(path)),
                    format!("`{}` is not in the work tree of the repository", show(path)),
                )
                .note(format!(
                    "`{}` is read from the repository at `{}`",
                    self.tree.name(),
                    self.tree.root().display()
                ))
                .help(self.tree.instead()),
            );
            return;
        };
        match resolve(self.tree, &at) {
            Ok(Lead::Nowhere | Lead::Outside) => {}
            Ok(Lead::To(real, TreeEntry::Directory)) => {
                let ignored = self.ignored_above(&real);
                self.directory(&Here {
                    room,
                    root: &real,
                    above: std::slice::from_ref(&real),
                    at: &real,
                    shown: path,
                    ignored: &ignored,
                });
            }
            Ok(Lead::To(_, TreeEntry::Submodule)) => self.submodule(path),
            Ok(Lead::To(real, _)) => self.files.push(Held {
                file: discovered(&self.request.root, path, room),
                at: real,
            }),
            Err(error) => self.unreadable(&error),
        }
    }

    fn directory(&mut self, here: &Here<'_>) {
        let entries = match self.tree.list(here.at) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(&error),
        };
        let mut ignored = here.ignored.to_vec();
        ignored.extend(self.ignore_file(here.at));
        for (name, kind) in entries {
            let at = join(here.at, &name);
            let shown = here.shown.join(&name);
            let (real, kind) = match kind {
                TreeEntry::Link => match resolve(self.tree, &at) {
                    Ok(Lead::To(real, kind)) if is_below(&real, here.root) => (real, kind),
                    Ok(lead) => {
                        if !self.is_ignored(&ignored, &name, &at, &shown, false) {
                            self.findings.push(if lead == Lead::Nowhere {
                                link_to_nothing(&shown)
                            } else {
                                link_refused(&shown)
                            });
                        }
                        continue;
                    }
                    Err(error) => {
                        self.unreadable(&error);
                        continue;
                    }
                },
                kind => (at.clone(), kind),
            };
            let is_dir = kind == TreeEntry::Directory;
            if self.is_ignored(&ignored, &name, &at, &shown, is_dir) || self.skip.contains(&real) {
                continue;
            }
            match kind {
                TreeEntry::Directory => {
                    let is_spokes = *here.room == Room::Hub && self.spokes.as_ref() == Some(&real);
                    let is_output = matches!(self.tree.entry(&join(&real, INVENTORY_NAME)), Ok(Some(_)));
                    if is_spokes || is_output || here.above.contains(&real) {
                        continue;
                    }
                    let mut above = here.above.to_vec();
                    above.push(real.clone());
                    self.directory(&Here {
                        above: &above,
                        at: &real,
                        shown: &shown,
                        ignored: &ignored,
                        ..*here
                    });
                }
                TreeEntry::Submodule => self.submodule(&shown),
                _ if is_manifest(&name) => self.files.push(Held {
                    file: discovered(&self.request.root, &shown, here.room),
                    at: real,
                }),
                _ => {}
            }
        }
    }

    fn is_ignored(&self, ignored: &[Gitignore], name: &str, at: &str, shown: &Path, is_dir: bool) -> bool {
        if self.exclude.matched(shown, is_dir).is_ignore() {
            return true;
        }
        let path = virtual_path(at);
        // The innermost that says anything decides; a hidden file is taken where one says so.
        ignored
            .iter()
            .rev()
            .find_map(|rules| match rules.matched(&path, is_dir) {
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
                Match::None => None,
            })
            .unwrap_or_else(|| name.starts_with('.'))
    }

    /// The rules of the directories above an input, up to the root of the repository.
    fn ignored_above(&mut self, at: &str) -> Vec<Gitignore> {
        let mut rules = Vec::new();
        let mut directory = String::new();
        for part in at.split('/').filter(|part| !part.is_empty()) {
            rules.extend(self.ignore_file(&directory));
            directory = join(&directory, part);
        }
        rules
    }

    /// The rules that stand in one directory.
    fn ignore_file(&mut self, directory: &str) -> Option<Gitignore> {
        let path = join(directory, ".gitignore");
        if self.tree.entry(&path).ok().flatten() != Some(TreeEntry::File) {
            return None;
        }
        let bytes = match self.tree.read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                // Without its rules, files would count that should not.
                self.unreadable(&error);
                return None;
            }
        };
        let mut builder = GitignoreBuilder::new(virtual_path(directory));
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A line that is no glob ignores nothing, as on disk.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok()
    }

    fn submodule(&mut self, path: &Path) {
        self.findings.push(
            Finding::new(
                Code::INPUT_UNREADABLE,
                Place::Path(show(path)),
                format!(
                    "`{}` is a submodule: its files are in another repository",
                    show(path)
                ),
            )
            .help(format!(
                "exclude it in spokewright.yaml, or {}",
                self.tree.instead()
            )),
        );
    }

    fn unreadable(&mut self, error: &TreeError) {
        self.findings.push(
            Finding::new(
                Code::INPUT_UNREADABLE,
                Place::Path(error.path.clone()),
                error.to_string(),
            )
            .help(error.help.clone()),
        );
    }
}

fn link_to_nothing(path: &Path) -> Finding {
    Finding::new(
        Code::INPUT_UNREADABLE,
        Place::Path(show(path)),
        format!("the symbolic link `{}` leads to nothing", show(path)),
    )
    .help("remove the link, or exclude it in spokewright.yaml")
}

fn is_manifest(name: &str) -> bool {
    matches!(
        Path::new(name)
            .extension()
            .and_then(|extension| extension.to_str()),
        Some("yaml" | "yml" | "json")
    )
}

/// Gitignore rules compare absolute paths.
fn virtual_path(at: &str) -> PathBuf {
    Path::new("/").join(at)
}
