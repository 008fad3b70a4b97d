//! A snapshot of what a run reads, so that a later look shows what changed.
//!
//! A look walks the input by the same rules as reading it: a file that is not read (output, `.git`, ignored or excluded
//! files) is never a change, whatever happens to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::disk::Disk;
use super::tree::{show, without_dots};
use super::walk::{Request, walk};
use crate::parallel;

/// The input of one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Every file that a run would read, by the path that people see.
    files: BTreeMap<String, Fingerprint>,
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
    pub fn path(&self) -> &str {
        match self {
            Self::Added(path) | Self::Removed(path) | Self::Changed(path) => path,
        }
    }
}

impl Watched {
    /// Looks at everything that a run would read, and at `config`, the file from which `request` finds out what that is.
    pub fn look(config: Option<&Path>, request: impl FnOnce() -> Request) -> Self {
        // Before it is read: if it changes meanwhile, the next look finds another one.
        let config_found = config.and_then(fingerprint);
        let request = &request();
        // The run reports what is wrong with the input.
        let walked = walk(request, &Disk::below(request.named()), None);
        let mut watched = Self::default();
        let shown = |path: &Path, found| Some((show(&without_dots(path)), found?));
        let found = parallel::map(&walked.files, |file| shown(&file.path, fingerprint(&file.path)));
        let config_found = config.and_then(|path| shown(path, config_found));
        watched.files = found.into_iter().chain([config_found]).flatten().collect();
        let inputs = request.hub.iter().chain(&request.definitions);
        watched.missing = inputs.filter(|path| !path.exists()).cloned().collect();
        watched
    }

    /// Inputs that were named and are not there.
    pub fn missing(&self) -> &[PathBuf] {
        &self.missing
    }

    /// How many files a run would read.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether a run would read nothing.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The differences from an earlier look, by path.
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        let paths: BTreeSet<&String> = self.files.keys().chain(earlier.files.keys()).collect();
        let change = |path: &String| match (earlier.files.get(path), self.files.get(path)) {
            (None, _) => Some(Change::Added(path.clone())),
            (_, None) => Some(Change::Removed(path.clone())),
            (before, now) => (before != now).then(|| Change::Changed(path.clone())),
        };
        paths.into_iter().filter_map(change).collect()
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

    #[cfg(unix)]
    #[test]
    fn a_link_on_the_way_that_leads_elsewhere_is_a_change() {
        let place = Place::new();
        place.write("other/hub/b.yaml", "a: 2\n");
        fs::create_dir(place.path("links")).unwrap();
        let link = |to: &str| {
            let _ = fs::remove_file(place.directory.path().join("links/current"));
            std::os::unix::fs::symlink(place.path(to), place.directory.path().join("links/current")).unwrap();
        };
        let look = || {
            let hub = vec![place.directory.path().join("links/current/hub")];
            Watched::look(None, || Request {
                hub,
                ..Request::default()
            })
        };
        link("repository");
        let earlier = look();
        link("other");
        assert_eq!(look().changes_since(&earlier).len(), 2);
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
        place.write("repository/a/b/c.yaml", "a: 1\n");
        assert_eq!(place.look("a/b").changes_since(&input).len(), 1);
    }
}
