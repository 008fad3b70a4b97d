//! Which files are input (design section 4): walking, hidden files, `.gitignore`, `exclude`, symbolic links.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};

use crate::diagnostic::{Code, Finding, Findings, Place};
use crate::progress::Progress;

/// The name of the list of files that an output tree carries. A directory that holds one is output, never
/// input, whatever it is called.
pub const INVENTORY_NAME: &str = ".spokewright-inventory";

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Hub inputs: files or directories.
    pub hub: Vec<PathBuf>,
    /// The directory with one directory per cluster of what already lives there; may be absent on disk.
    pub spokes: Option<PathBuf>,
    /// Directories and files that are not input although they lie inside: the output directory.
    pub skip: Vec<PathBuf>,
    /// Globs in `.gitignore` syntax, relative to `root`.
    pub exclude: Vec<String>,
    /// What paths in reports are relative to: the directory of the configuration file, or the input itself.
    pub root: PathBuf,
    /// The repository, where nothing outside may be read whatever an input is called: in Argo CD's sidecar stand
    /// the checkouts of other Applications beside it.
    pub boundary: Option<PathBuf>,
    /// Who hears how far reading is.
    pub progress: Progress,
}

/// Where a file belongs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Room {
    /// The hub: rendered.
    Hub,
    /// What already lives on the cluster of this name: read, never rendered.
    Spoke(String),
}

/// A file that will be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Discovered {
    /// Hub or spoke.
    pub room: Room,
    /// Path relative to [`Request::root`] where it lies below it, `/` between components.
    pub relative: String,
    /// The path to open, and to show to people.
    pub path: PathBuf,
}

/// Lists the input files, sorted by room and relative path, each file once whatever paths lead to it.
pub fn discover(request: &Request, findings: &mut Findings) -> Vec<Discovered> {
    explore(request, findings).files
}

/// What a walk came across.
#[derive(Debug, Default)]
pub(super) struct Explored {
    /// The files that will be read.
    pub(super) files: Vec<Discovered>,
    /// The directories that were walked: where a new file would be input.
    pub(super) directories: Vec<PathBuf>,
}

/// [`discover()`], with the directories.
pub(super) fn explore(request: &Request, findings: &mut Findings) -> Explored {
    let walk = Walk::new(request, findings);
    let mut found = Explored::default();
    for path in &request.hub {
        walk.input(path, &Room::Hub, &mut found, findings);
    }
    if let Some(spokes) = request.spokes.as_deref().filter(|path| path.is_dir()) {
        walk.spokes(spokes, &mut found, findings);
    }
    let files = &mut found.files;
    files.sort();
    let mut seen = BTreeSet::new();
    files.retain(|file| {
        seen.insert((
            file.room.clone(),
            fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone()),
        ))
    });
    found
}

/// What is not input, for the whole walk.
struct Barrier {
    exclude: Gitignore,
    /// Canonical paths that are skipped: the output directory, the configuration.
    skip: Vec<PathBuf>,
    /// The canonical `spokes` directory: skipped while the hub is walked.
    spokes: Option<PathBuf>,
}

impl Barrier {
    /// Whether the walk takes this entry. Links that leave `root` are noted in `refused`.
    fn admits(&self, entry: &DirEntry, root: &Path, room: &Room, refused: &Mutex<Vec<PathBuf>>) -> bool {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        // The walk never descends into an excluded directory, so parents need no second look.
        if self.exclude.matched(entry.path(), is_dir).is_ignore() {
            return false;
        }
        if entry.path_is_symlink() {
            let inside = fs::canonicalize(entry.path()).is_ok_and(|target| target.starts_with(root));
            if !inside {
                if let Ok(mut refused) = refused.lock() {
                    refused.push(entry.path().to_owned());
                }
                return false;
            }
        }
        if !is_dir {
            return entry.depth() == 0
                || !fs::canonicalize(entry.path()).is_ok_and(|path| self.skip.contains(&path));
        }
        // An output tree is never input, wherever it lies: rendering it again would feed back.
        if entry.depth() > 0 && entry.path().join(INVENTORY_NAME).exists() {
            return false;
        }
        let Ok(canonical) = fs::canonicalize(entry.path()) else {
            return true;
        };
        let is_spokes = *room == Room::Hub && self.spokes.as_ref() == Some(&canonical);
        !is_spokes && (entry.depth() == 0 || !self.skip.contains(&canonical))
    }
}

struct Walk<'a> {
    request: &'a Request,
    barrier: Arc<Barrier>,
}

impl<'a> Walk<'a> {
    fn new(request: &'a Request, findings: &mut Findings) -> Self {
        let barrier = Barrier {
            exclude: exclusions(request, findings),
            skip: request
                .skip
                .iter()
                .filter_map(|path| fs::canonicalize(path).ok())
                .collect(),
            spokes: request
                .spokes
                .as_deref()
                .and_then(|path| fs::canonicalize(path).ok()),
        };
        Self {
            request,
            barrier: Arc::new(barrier),
        }
    }

    /// One input path: a file is read whatever its name, a directory is walked.
    fn input(&self, path: &Path, room: &Room, found: &mut Explored, findings: &mut Findings) {
        if !self.is_inside_boundary(path) {
            findings.push(beyond_boundary(path));
            return;
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.directory(path, room, found, findings),
            Ok(_) => found.files.push(self.discovered(path, room)),
            Err(error) => findings.push(
                Finding::new(
                    Code::INPUT_UNREADABLE,
                    Place::Path(show(path)),
                    format!("cannot read `{}`: {}", show(path), reason(&error)),
                )
                .help("name an existing file or directory, or `-` for standard input"),
            ),
        }
    }

    /// Whether a path lies in the boundary, links followed. What does not exist is refused elsewhere.
    fn is_inside_boundary(&self, path: &Path) -> bool {
        let Some(boundary) = &self.request.boundary else {
            return true;
        };
        let (Ok(boundary), Ok(path)) = (fs::canonicalize(boundary), fs::canonicalize(path)) else {
            return true;
        };
        path.starts_with(boundary)
    }

    fn directory(&self, root: &Path, room: &Room, found: &mut Explored, findings: &mut Findings) {
        let canonical_root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        // Without a repository around it, what stands above the input is not part of it.
        let inside_git = self.request.boundary.is_some()
            || canonical_root
                .ancestors()
                .any(|ancestor| ancestor.join(".git").exists());
        let refused = Arc::new(Mutex::new(Vec::new()));
        let filter = {
            let (barrier, room, refused) = (Arc::clone(&self.barrier), room.clone(), Arc::clone(&refused));
            move |entry: &DirEntry| barrier.admits(entry, &canonical_root, &room, &refused)
        };
        let walk = WalkBuilder::new(root)
            .standard_filters(false)
            .hidden(true)
            .git_ignore(true)
            // Only what is in Git may decide: no personal or machine-wide ignore files.
            .git_global(false)
            .git_exclude(false)
            .ignore(false)
            .parents(inside_git)
            .require_git(false)
            .follow_links(true)
            .filter_entry(filter)
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if is_input_file(&entry) => found.files.push(self.discovered(entry.path(), room)),
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {
                    found.directories.push(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => findings.push(unreadable_entry(root, &error)),
            }
        }
        let refused = refused.lock().map(|paths| paths.clone()).unwrap_or_default();
        findings.extend(refused.iter().map(|path| link_refused(path)));
    }

    /// Each directory below `spokes` is a cluster; files directly in it belong to none.
    fn spokes(&self, spokes: &Path, found: &mut Explored, findings: &mut Findings) {
        if !self.is_inside_boundary(spokes) {
            findings.push(beyond_boundary(spokes));
            return;
        }
        let mut all = Explored::default();
        self.directory(spokes, &Room::Spoke(String::new()), &mut all, findings);
        found.directories.extend(all.directories);
        for file in all.files {
            if let Some(room) = spoke_of(&file.path, spokes) {
                found.files.push(Discovered { room, ..file });
            }
        }
    }

    fn discovered(&self, path: &Path, room: &Room) -> Discovered {
        discovered(&self.request.root, path, room)
    }
}

/// `exclude` as rules for paths as people type them.
pub(super) fn exclusions(request: &Request, findings: &mut Findings) -> Gitignore {
    let mut builder = GitignoreBuilder::new(&request.root);
    for glob in &request.exclude {
        if let Err(error) = builder.add_line(None, glob) {
            findings.push(
                Finding::new(
                    Code::CONFIG_INVALID,
                    Place::Run,
                    format!("`exclude` has a bad glob: {error}"),
                )
                .help("write it as in .gitignore, for example \"charts/**\""),
            );
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The room of a file below the directory of the spokes: the first directory is the cluster; files directly in
/// it belong to none.
pub(super) fn spoke_of(path: &Path, spokes: &Path) -> Option<Room> {
    // `./spokes` is what the default is called below the input `.`, and paths of files have lost their dot.
    let spokes = without_dots(spokes);
    let mut components = path.strip_prefix(&spokes).unwrap_or(path).components();
    let (Some(cluster), Some(_)) = (components.next(), components.next()) else {
        return None;
    };
    Some(Room::Spoke(cluster.as_os_str().to_string_lossy().into_owned()))
}

/// A file as it is called in findings and reports.
pub(super) fn discovered(root: &Path, path: &Path, room: &Room) -> Discovered {
    // `./a.yaml` and `a.yaml` are one file and must sort as one.
    let (path, root) = (without_dots(path), without_dots(root));
    let relative = path.strip_prefix(&root).unwrap_or(&path);
    Discovered {
        room: room.clone(),
        relative: show(relative),
        path,
    }
}

/// `./a.yaml` and `a.yaml` are one file.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

fn is_input_file(entry: &DirEntry) -> bool {
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    let extension = entry.path().extension().and_then(|extension| extension.to_str());
    is_file && matches!(extension, Some("yaml" | "yml" | "json"))
}

fn beyond_boundary(path: &Path) -> Finding {
    Finding::new(
        Code::INPUT_OUTSIDE,
        Place::Path(show(path)),
        format!("`{}` lies outside of the repository", show(path)),
    )
    .note("what stands there belongs to somebody else")
    .help("name a path inside of the repository, relative to the directory of the Application")
}

pub(super) fn link_refused(path: &Path) -> Finding {
    Finding::new(
        Code::INPUT_OUTSIDE,
        Place::Path(show(path)),
        format!("the symbolic link `{}` leaves the input", show(path)),
    )
    .note("what it points at is not the same on every machine")
    .help("copy the file, exclude the link, or name its target as an input of its own")
}

fn unreadable_entry(root: &Path, error: &ignore::Error) -> Finding {
    Finding::new(
        Code::INPUT_UNREADABLE,
        Place::Path(show(root)),
        format!("cannot read all of `{}`: {error}", show(root)),
    )
    .help("check the permissions, or list the path under `exclude` in spokewright.yaml")
}

/// A path for people and reports: `/` between components, whatever the platform.
pub(super) fn show(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace('\\', "/")
    }
}

/// The words of an I/O error without its number.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cluster_is_the_first_directory_below_spokes_however_spokes_is_written() {
        for spokes in ["spokes", "./spokes", "spokes/."] {
            let room = |path: &str| spoke_of(Path::new(path), Path::new(spokes));
            assert_eq!(
                room("spokes/eu-1/a.yaml"),
                Some(Room::Spoke("eu-1".to_owned())),
                "{spokes}"
            );
            assert_eq!(room("spokes/a.yaml"), None, "{spokes}");
        }
    }
}
