//! A snapshot of what a run reads, so that a later look shows what changed.
//!
//! Owns: which directories are to be watched, which events deserve a second look, and what counts as a change. The
//! second look walks the input again, by the same rules as reading it: a file that is not read (output, `.git`, ignored
//! or excluded files) is never a change, whatever happens to it.
//! Flows in: a [`Request`] and the configuration's place. Flows out: [`Watched`], and [`Change`]s between two.
//! Must not know: how events reach us, or what is done about a change.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::disk::Disk;
use super::paths::{show, without_dots};
use super::tree::FileTree as _;
use super::walk::{Request, walk};
use crate::diagnostic::Findings;
use crate::parallel;

/// The input of one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Every file that a run would read, by the path that people see.
    files: BTreeMap<String, Fingerprint>,
    /// The real directories that were walked.
    directories: BTreeSet<PathBuf>,
    /// Real directories around the input: where it would appear again, and where a `.gitignore` counts.
    around: BTreeSet<PathBuf>,
    /// Where inputs are, or would be.
    roots: BTreeSet<PathBuf>,
    missing: Vec<PathBuf>,
}

/// The attributes that distinguish two states of a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fingerprint {
    modified: Option<Duration>,
    length: u64,
    identity: Identity,
    permissions: fs::Permissions,
}

/// How a file differs from what it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is read now.
    Added(String),
    /// It is not read any more.
    Removed(String),
    /// It has other bytes, or may have.
    Changed(String),
}

impl Change {
    /// The file, as people see it.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Added(path) | Self::Removed(path) | Self::Changed(path) => path,
        }
    }
}

impl Watched {
    /// Looks at everything that a run would read, and at `config`, the file from which `request` finds out what that is.
    #[must_use]
    pub fn look(config: Option<&Path>, request: impl FnOnce() -> Request) -> Self {
        // Before it is read: if it changes meanwhile, the next look finds another one.
        let config_found = config.and_then(fingerprint);
        let request = &request();
        // The run reports what is wrong with the input.
        let walked = walk(
            request,
            (&Disk::below(request.named()), None),
            &mut Findings::new(),
        );
        let mut watched = Self::default();
        let shown = |path: &Path, found| Some((show(&without_dots(path)), found?));
        let found = parallel::map(&walked.files, |found| {
            let path = &found.file.path;
            shown(path, fingerprint(path))
        });
        let config_found = config.and_then(|path| shown(path, config_found));
        watched.files = found.into_iter().chain([config_found]).flatten().collect();
        watched.directories = walked.directories;
        let inputs = || request.hub.iter().chain(&request.definitions);
        let roots = inputs().chain(&request.spokes);
        for root in roots.map(PathBuf::as_path).chain(config) {
            watched.root(root);
        }
        watched.missing = inputs().filter(|path| !path.exists()).cloned().collect();
        watched
    }

    /// Where this input is, and what has to be watched so that nothing that happens to it is missed.
    fn root(&mut self, root: &Path) {
        let Ok(absolute) = std::path::absolute(root) else {
            return;
        };
        // A link on the way and what it leads to can go away separately.
        let is_link = |path: &&Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        let links: Vec<&Path> = absolute.ancestors().filter(is_link).collect();
        let real = fs::canonicalize(&absolute).ok();
        for path in [absolute.as_path()]
            .into_iter()
            .chain(real.as_deref())
            .chain(links)
        {
            let standing = path.ancestors().skip(1).find_map(|directory| {
                let rest = path.strip_prefix(directory).ok()?;
                Some((fs::canonicalize(directory).ok()?, rest))
            });
            if let Some((directory, rest)) = standing {
                self.roots.insert(directory.join(rest));
                self.around.insert(directory);
            }
        }
        // Ignore files count up to the root of the repository.
        let Some(real) = real else { return };
        if let Some(repository) = Disk::default().repository(&real) {
            let above = real.ancestors().skip(1);
            self.around.extend(
                above
                    .take_while(|directory| directory.starts_with(&repository))
                    .map(Path::to_owned),
            );
        }
    }

    /// The real directories to watch, each by itself: what is below one that is not listed does not matter.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let around = self.around.difference(&self.directories);
        self.directories.iter().chain(around).map(PathBuf::as_path)
    }

    /// Inputs that were named and are not there.
    #[must_use]
    pub fn missing(&self) -> &[PathBuf] {
        &self.missing
    }

    /// How many files a run would read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether a run would read nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether something that happened to `path`, a real path, deserves a second look. A `no` is certain.
    #[must_use]
    pub fn concerns(&self, path: &Path) -> bool {
        if self.directories.contains(path) || self.roots.iter().any(|root| root.starts_with(path)) {
            return true;
        }
        let Some(parent) = path.parent() else { return false };
        let name = path.file_name().unwrap_or_default();
        if name == OsStr::new(".gitignore") {
            return self.directories.contains(parent) || self.around.contains(parent);
        }
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        !is_hidden && self.directories.contains(parent)
    }

    /// The differences from an earlier look, by path.
    #[must_use]
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (path, fingerprint) in &self.files {
            match earlier.files.get(path) {
                None => changes.push(Change::Added(path.clone())),
                Some(before) if before != fingerprint => changes.push(Change::Changed(path.clone())),
                Some(_) => {}
            }
        }
        let gone = earlier
            .files
            .keys()
            .filter(|path| !self.files.contains_key(*path));
        changes.extend(gone.cloned().map(Change::Removed));
        changes.sort_by(|a, b| a.path().cmp(b.path()));
        changes
    }
}

fn fingerprint(path: &Path) -> Option<Fingerprint> {
    let metadata = fs::metadata(path).ok()?;
    let modified = metadata.modified().ok();
    Some(Fingerprint {
        modified: modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()),
        length: metadata.len(),
        identity: identity(&metadata),
        permissions: metadata.permissions(),
    })
}

/// A file that replaces another one may have the same time and length; so may one whose bytes were changed and whose time
/// was set back, but that changes the time of its inode.
#[cfg(unix)]
type Identity = (u64, i64, i64);

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;

    (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Identity {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hub in a repository, with an output that was rendered.
    struct Place {
        directory: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let place = Self {
                directory: tempfile::tempdir().unwrap(),
            };
            for file in [
                "repository/.git/HEAD",
                "repository/hub/gateways/a.yaml",
                "repository/hub/b.yaml",
                "repository/hub/notes.txt",
                "repository/rendered/.spokewright-inventory",
                "repository/rendered/eu-1/work.yaml",
            ] {
                place.write(file, "a: 1\n");
            }
            place
        }

        fn path(&self, path: &str) -> PathBuf {
            fs::canonicalize(self.directory.path()).unwrap().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text).unwrap();
        }

        /// The whole repository is the input, unless a path in it is.
        fn look(&self, below: &str) -> Watched {
            let root = self.path("repository").join(below);
            let request = Request {
                hub: vec![root.clone()],
                spokes: Some(root.join("spokes")),
                root,
                output_marker: Some(".spokewright-inventory"),
                ..Request::default()
            };
            Watched::look(None, || request)
        }

        fn changes(&self, earlier: &Watched) -> Vec<String> {
            let root = format!("{}/", show(&self.path("repository")));
            self.look("")
                .changes_since(earlier)
                .iter()
                .map(|change| {
                    let path = change.path().strip_prefix(&root).unwrap();
                    match change {
                        Change::Added(_) => format!("+{path}"),
                        Change::Removed(_) => format!("-{path}"),
                        Change::Changed(_) => format!("~{path}"),
                    }
                })
                .collect()
        }
    }

    #[test]
    fn a_change_is_of_what_would_be_read() {
        let place = Place::new();
        let before = place.look("");
        assert_eq!(before.len(), 2);
        for file in [
            ".git/index.yaml",
            "rendered/eu-1/work.yaml",
            "rendered/eu-2/work.yaml",
            "hub/notes.txt",
            "hub/.b.yaml.swp",
        ] {
            place.write(&format!("repository/{file}"), "changed: 1\n");
        }
        assert_eq!(place.changes(&before), [""; 0]);
        place.write("repository/hub/b.yaml", "longer: 1\n");
        place.write("repository/hub/new/c.json", "{}");
        fs::remove_file(place.path("repository/hub/gateways/a.yaml")).unwrap();
        assert_eq!(
            place.changes(&before),
            ["~hub/b.yaml", "-hub/gateways/a.yaml", "+hub/new/c.json"]
        );
    }

    #[test]
    fn an_ignore_file_takes_files_away() {
        let place = Place::new();
        let before = place.look("");
        place.write("repository/.gitignore", "b.yaml\n");
        assert_eq!(place.changes(&before), ["-hub/b.yaml"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_takes_the_place_of_another_is_a_change_whatever_its_time() {
        let place = Place::new();
        let path = place.path("repository/hub/b.yaml");
        let before = place.look("");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        place.write("repository/other", "b: 2\n");
        let other = fs::File::options()
            .write(true)
            .open(place.path("repository/other"))
            .unwrap();
        other.set_modified(time).unwrap();
        fs::rename(place.path("repository/other"), path).unwrap();
        assert_eq!(place.changes(&before), ["~hub/b.yaml"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_whose_bytes_change_and_whose_time_is_set_back_is_a_change() {
        let place = Place::new();
        let path = place.path("repository/hub/b.yaml");
        let before = place.look("");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        // The clock of the inode moves in steps.
        let changed = std::iter::repeat_with(|| {
            std::thread::sleep(Duration::from_millis(5));
            fs::write(&path, "a: 2\n").unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
            place.changes(&before)
        });
        let changed = changed.take(100).find(|changes| !changes.is_empty());
        assert_eq!(changed.unwrap(), ["~hub/b.yaml"]);
    }

    #[test]
    fn every_directory_of_the_input_is_watched_and_none_of_the_output() {
        let place = Place::new();
        let input = place.look("hub");
        let watched: Vec<PathBuf> = input.directories().map(Path::to_owned).collect();
        assert_eq!(
            watched,
            ["repository/hub", "repository/hub/gateways", "repository"].map(|path| place.path(path))
        );
        let whole = place.look("");
        let rendered = place.path("repository/rendered");
        assert!(
            whole
                .directories()
                .all(|directory| !directory.starts_with(&rendered))
        );
        assert!(whole.directories().all(|directory| !directory.ends_with(".git")));
    }

    #[test]
    fn only_what_may_change_the_input_deserves_a_look() {
        let place = Place::new();
        let input = place.look("hub");
        let concerns = |path: &str| input.concerns(&place.path(path));
        for path in [
            "repository/hub",
            "repository/hub/b.yaml",
            "repository/hub/new",
            "repository/hub/gateways/.gitignore",
            "repository/.gitignore",
            "repository/hub/spokes",
            "repository",
        ] {
            assert!(concerns(path), "{path}");
        }
        for path in [
            "repository/hub/.b.yaml.swp",
            "repository/README.md",
            "repository/.git",
            "repository/rendered/eu-1/work.yaml",
            "elsewhere",
        ] {
            assert!(!concerns(path), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_on_the_way_is_watched_where_it_stands() {
        let place = Place::new();
        fs::create_dir(place.path("links")).unwrap();
        std::os::unix::fs::symlink(place.path("repository"), place.path("links/current")).unwrap();
        let request = Request {
            hub: vec![place.path("links/current/hub")],
            output_marker: Some(".spokewright-inventory"),
            ..Request::default()
        };
        let input = Watched::look(None, || request);
        assert!(
            input
                .directories()
                .any(|directory| directory == place.path("links"))
        );
        assert!(input.concerns(&place.path("links/current")));
        assert!(input.concerns(&place.path("repository/hub/b.yaml")));
    }

    #[test]
    fn a_configuration_that_changes_while_it_is_read_is_another_one_to_the_next_look() {
        let place = Place::new();
        let config = place.path("repository/spokewright.yaml");
        fs::write(&config, "a").unwrap();
        let request = || Request {
            hub: vec![place.path("repository/hub")],
            ..Request::default()
        };
        let earlier = Watched::look(Some(&config), || {
            fs::write(&config, "changed").unwrap();
            request()
        });
        let next = Watched::look(Some(&config), request);
        assert_eq!(next.changes_since(&earlier).len(), 1);
        assert_eq!(
            Watched::look(Some(&config), request).changes_since(&next).len(),
            0
        );
    }

    #[test]
    fn an_input_that_is_not_there_is_waited_for() {
        let place = Place::new();
        let input = place.look("a/b");
        assert_eq!(input.missing(), [place.path("repository/a/b")]);
        let watched: Vec<PathBuf> = input.directories().map(Path::to_owned).collect();
        assert_eq!(watched, [place.path("repository")]);
        assert!(input.concerns(&place.path("repository/a")));
        assert!(!input.concerns(&place.path("repository/c")));
    }
}
