//! Open directories: files are read and changed beneath them, and nowhere else. They are opened, listed, made, renamed,
//! and removed in no other file of the project.
//!
//! A path that is checked and then opened may lead elsewhere by then, and one that is joined to another may leave it.
//! So the directory is opened, and every later step is relative to the open one: `openat2` with `RESOLVE_BENEATH` if
//! the system has it, otherwise a walk name by name (the crate cap-std).
//!
//! | type | a link beneath it | for |
//! |---|---|---|
//! | `SandboxDir` | is followed as long as it stays beneath | input: a hub may contain links to its own files |
//! | [`Directory`] | is never followed | output: nothing that we write is a link |

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, Metadata, OpenOptions};

/// The kind of entry that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl From<FileType> for Entry {
    fn from(kind: FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}

impl From<fs::Metadata> for Entry {
    fn from(metadata: fs::Metadata) -> Self {
        Metadata::from_just_metadata(metadata).file_type().into()
    }
}

/// Why there is no way to a directory.
#[derive(Debug)]
pub struct Blocked<'p> {
    /// How far it is: the directory itself, or one on the way to it.
    pub at: &'p str,
    /// Why.
    pub by: Obstruction,
}

/// What is in the place of an expected directory.
#[derive(Debug)]
pub enum Obstruction {
    /// Nothing.
    Nothing,
    /// A symbolic link.
    Link,
    /// Something else that is not a directory.
    NoDirectory,
    /// Unknown: the system does not report it.
    Failure(io::Error),
}

impl Obstruction {
    /// As an error of the system.
    pub fn into_error(self) -> io::Error {
        match self {
            Self::Nothing => io::Error::from(io::ErrorKind::NotFound),
            Self::Link => io::Error::other("it is a symbolic link"),
            Self::NoDirectory => io::Error::from(io::ErrorKind::NotADirectory),
            Self::Failure(error) => error,
        }
    }
}

/// An open directory beneath which no link is followed.
#[derive(Debug)]
pub struct Directory(Dir);

impl Directory {
    /// The directory that a path leads to, through any links in it, because the user named it.
    ///
    /// # Errors
    ///
    /// The directory cannot be opened.
    pub fn named(path: &Path) -> io::Result<Self> {
        open_dir(path).map(Self)
    }

    /// The directory at a path beneath this one, `/` between names; `""` is this one.
    ///
    /// # Errors
    ///
    /// One of the directories cannot be opened, or is a link: [`Blocked`] has its path.
    pub fn enter<'p>(&self, path: &'p str) -> Result<Self, Blocked<'p>> {
        let unopened = |error| Blocked {
            at: path,
            by: Obstruction::Failure(error),
        };
        let mut here = self.0.try_clone().map_err(unopened)?;
        for at in prefixes(path) {
            let name = at.rsplit('/').next().unwrap_or(at);
            let next = one_name(name).and_then(|name| here.open_dir_nofollow(name));
            here = next.map_err(|error| Blocked {
                at,
                by: obstruction(&here, name, error),
            })?;
        }
        Ok(Self(here))
    }

    /// The entries directly in it.
    ///
    /// # Errors
    ///
    /// The directory cannot be listed.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<(OsString, Entry)>> + use<>> {
        entries(&self.0)
    }

    /// The kind of entry that has a name in it; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The system cannot tell.
    pub fn entry(&self, name: &str) -> io::Result<Option<Entry>> {
        entry(&self.0, one_name(name)?)
    }

    /// Opens a file to read it. Anything else is an error.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn open(&self, name: &str) -> io::Result<File> {
        open_file(&self.0, one_name(name)?, FollowSymlinks::No)
    }

    /// Creates a new file for writing; it is an error if the name is already taken. Its mode is the usual one: 0666
    /// less the umask.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or is there already.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        let file = self.0.open_with(one_name(name)?, &options)?;
        Ok(file.into_std())
    }

    /// Makes one directory.
    ///
    /// # Errors
    ///
    /// The directory cannot be created.
    pub fn make(&self, name: &str) -> io::Result<()> {
        self.0.create_dir(one_name(name)?)
    }

    /// Replaces `to` by `from`, atomically.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(one_name(from)?, &self.0, one_name(to)?)
    }

    /// Removes a file or a link.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        self.0.remove_file_or_symlink(one_name(name)?)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// The system refuses, as for a directory that is not empty.
    pub fn remove_directory(&self, name: &str) -> io::Result<()> {
        self.0.remove_dir(one_name(name)?)
    }

    /// The directory as a file, to lock it or to wait until it is on the medium.
    ///
    /// # Errors
    ///
    /// The system has no more descriptors.
    pub fn as_file(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        Ok(self.0.open_with(".", options.read(true))?.into_std())
    }
}

/// An open directory beneath which links are followed as long as they stay there.
#[derive(Debug)]
pub(crate) struct SandboxDir(Dir);

impl SandboxDir {
    /// The directory that a path leads to.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        open_dir(path).map(Self)
    }

    /// The entries directly in a directory beneath it; the empty path is the directory itself.
    pub(crate) fn entries(
        &self,
        path: &Path,
    ) -> io::Result<impl Iterator<Item = io::Result<(OsString, Entry)>> + use<>> {
        if path.as_os_str().is_empty() {
            entries(&self.0)
        } else {
            entries(&self.0.open_dir(path)?)
        }
    }

    /// The kind of entry at a path, without following a final link; `None` if there is none.
    pub(crate) fn entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        if path.as_os_str().is_empty() {
            return Ok(Some(Entry::Directory));
        }
        entry(&self.0, path)
    }

    /// Opens a file to read it. Anything else is an error.
    pub(crate) fn file(&self, path: &Path) -> io::Result<File> {
        open_file(&self.0, path, FollowSymlinks::Yes)
    }

    /// The target of a link.
    pub(crate) fn link(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.read_link_contents(path)
    }
}

fn open_dir(path: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(or_here(path), ambient_authority())
}

/// The path of a directory as the system takes it: the empty one is the current directory.
pub(crate) fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

fn entries(directory: &Dir) -> io::Result<impl Iterator<Item = io::Result<(OsString, Entry)>> + use<>> {
    Ok(directory.entries()?.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?.into()))
    }))
}

fn entry(directory: &Dir, path: &Path) -> io::Result<Option<Entry>> {
    match directory.symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type().into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn open_file(directory: &Dir, path: &Path, follow: FollowSymlinks) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // A pipe without a writer would otherwise never open.
    options.read(true).follow(follow).nonblock(true);
    let file = directory.open_with(path, &options)?.into_std();
    if Metadata::from_file(&file)?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"))
    }
}

/// A name, and no path: joining two words cannot lead out of a directory, or past a link.
fn one_name(name: &str) -> io::Result<&Path> {
    let path = Path::new(name);
    let mut parts = path.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(only)), None) if only == name => Ok(path),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a name")),
    }
}

/// Why a directory cannot be entered.
fn obstruction(from: &Dir, name: &str, error: io::Error) -> Obstruction {
    // By now another thread may have made it.
    if error.kind() == io::ErrorKind::NotFound {
        return Obstruction::Nothing;
    }
    match one_name(name).and_then(|name| entry(from, name)) {
        Ok(None) => Obstruction::Nothing,
        Ok(Some(Entry::Link)) => Obstruction::Link,
        Ok(Some(Entry::File | Entry::Other)) => Obstruction::NoDirectory,
        Ok(Some(Entry::Directory)) | Err(_) => Obstruction::Failure(error),
    }
}

/// The path of a name in a directory beneath another; `""` is that one.
pub fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// The directories on the way to a directory beneath another, outermost first, itself last; none for `""`.
pub fn prefixes(directory: &str) -> impl Iterator<Item = &str> {
    let ends = directory.match_indices('/').map(|(at, _)| at);
    ends.chain((!directory.is_empty()).then_some(directory.len()))
        .filter_map(|end| directory.get(..end))
}

/// Where a path leads, with links followed as far as the path exists; `is_missing` are the errors of what does not.
///
/// # Errors
/// Any other error on the way, such as a loop of links.
pub fn resolved(path: &Path, is_missing: impl Fn(&io::Error) -> bool) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let mut missing: Vec<OsString> = Vec::new();
    let mut existing = absolute.as_path();
    loop {
        match existing.canonicalize() {
            Ok(mut canonical) => {
                for component in missing.iter().rev() {
                    // Below a path that does not exist there are no links, so `..` means what it looks like.
                    if component == ".." {
                        canonical.pop();
                    } else {
                        canonical.push(component);
                    }
                }
                return Ok(canonical);
            }
            Err(error) if is_missing(&error) => {
                let Some(parent) = existing.parent() else {
                    return Err(error);
                };
                let last = existing.components().next_back();
                missing.extend(last.map(|component| component.as_os_str().to_owned()));
                existing = parent;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Where paths lead when no link is left in them. [`fs::canonicalize`] asks for every name on the way again: a link in
/// each of 300 directories, one below the other, cost 45,000 calls. Here each directory on the way is looked up once.
#[derive(Debug, Default)]
pub(crate) struct RealPaths {
    directories: Mutex<HashMap<PathBuf, PathBuf>>,
}

/// Links that are followed on one way; more are a loop. Linux stops there, too (`MAXSYMLINKS`).
pub(crate) const MOST_LINKS: usize = 40;

impl RealPaths {
    /// The real path of something that is there; `None` where it is not, or where links lead in a circle.
    pub(crate) fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let quick = cfg!(unix).then(|| self.follow(path, MOST_LINKS));
        quick.flatten().or_else(|| fs::canonicalize(path).ok())
    }

    fn follow(&self, path: &Path, links_left: usize) -> Option<PathBuf> {
        let Some(parent) = path.parent() else {
            return path.is_absolute().then(|| path.to_owned());
        };
        let parent = self.directory(parent, links_left)?;
        let Some(name) = path.file_name() else {
            // The last name is `..`.
            return Some(parent.parent().map_or_else(|| parent.clone(), Path::to_owned));
        };
        let at = parent.join(name);
        match fs::read_link(&at) {
            Ok(target) => self.follow(&parent.join(target), links_left.checked_sub(1)?),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Some(at),
            Err(_) => None,
        }
    }

    fn directory(&self, directory: &Path, links_left: usize) -> Option<PathBuf> {
        let known = || self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(real) = known().get(directory) {
            return Some(real.clone());
        }
        let real = self.follow(directory, links_left)?;
        known().insert(directory.to_owned(), real.clone());
        Some(real)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    #[cfg(unix)]
    use std::io::Read as _;

    use super::*;

    fn place() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for path in ["outside/deep", "root/deep"] {
            fs::create_dir_all(place.path().join(path)).unwrap();
            fs::write(place.path().join(path).join("file"), path).unwrap();
        }
        place
    }

    #[cfg(unix)]
    fn text(file: io::Result<File>) -> Option<String> {
        let mut text = String::new();
        file.ok()?.read_to_string(&mut text).ok()?;
        Some(text)
    }

    #[cfg(unix)]
    fn opened(directory: &Directory, name: &str) -> io::Result<File> {
        directory.open(name)
    }

    #[test]
    fn only_one_name_is_a_name() {
        let place = place();
        let root = Directory::named(&place.path().join("root")).unwrap();
        for path in [
            "",
            ".",
            "..",
            "/",
            "deep/",
            "deep/file",
            "./deep",
            "../outside",
            "/etc",
            "a\0b",
        ] {
            assert!(root.open(path).is_err(), "{path:?}");
            assert!(root.create(path).is_err(), "{path:?}");
            assert!(root.make(path).is_err(), "{path:?}");
            assert!(root.remove_file(path).is_err(), "{path:?}");
            assert!(root.remove_directory(path).is_err(), "{path:?}");
            assert!(root.rename("deep", path).is_err(), "{path:?}");
            assert!(root.rename(path, "x").is_err(), "{path:?}");
        }
        for path in ["..", "deep/..", "deep/../deep", "/", "deep//x", "."] {
            assert!(root.enter(path).is_err(), "{path:?}");
        }
        assert!(place.path().join("root/deep/file").is_file());
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_follows_no_link_and_an_enclosure_those_that_stay() {
        use std::os::unix::fs::symlink;
        let place = place();
        let path = place.path().join("root");
        symlink("deep", path.join("near")).unwrap();
        symlink("../outside/deep", path.join("far")).unwrap();
        symlink(place.path().join("outside/deep/file"), path.join("file")).unwrap();
        symlink("deep/file", path.join("near-file")).unwrap();
        let root = Directory::named(&path).unwrap();
        for link in ["near", "far"] {
            let blocked = root.enter(link).unwrap_err();
            assert!(matches!(blocked.by, Obstruction::Link), "{link}: {blocked:?}");
        }
        for link in ["file", "near-file"] {
            assert_eq!(text(opened(&root, link)), None, "{link}");
            assert!(root.create(link).is_err(), "{link}");
        }
        let inside = root.enter("deep").unwrap();
        assert_eq!(text(opened(&inside, "file")).as_deref(), Some("root/deep"));

        let enclosure = SandboxDir::open(&path).unwrap();
        let read = |path: &str| text(enclosure.file(Path::new(path)));
        assert_eq!(read("near/file").as_deref(), Some("root/deep"));
        assert_eq!(read("near-file").as_deref(), Some("root/deep"));
        for path in [
            "far/file",
            "file",
            "../outside/deep/file",
            "deep/../../outside/deep/file",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
        assert!(enclosure.entries(Path::new("far")).is_err());
        assert!(enclosure.entries(Path::new("..")).is_err());
        assert_eq!(enclosure.entries(Path::new("near")).unwrap().count(), 1);
        assert_eq!(enclosure.link(Path::new("near")).unwrap(), Path::new("deep"));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_without_links_on_the_way_is_what_the_system_says() {
        use std::os::unix::fs::symlink;

        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::write(root.join("a/b/c/file"), "").unwrap();
        for (target, link) in [
            ("b/c", "a/relative"),
            ("../a/b", "a/up"),
            ("relative/../c/file", "a/b/indirect"),
            ("up/c/file", "a/file"),
            ("loop", "a/loop"),
            ("nothing", "a/broken"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        symlink(root.join("a/b"), root.join("absolute")).unwrap();
        let real_paths = RealPaths::default();
        for path in [
            "a",
            "a/b/c/file",
            "a/relative",
            "a/relative/file",
            "a/up",
            "a/up/../b/c",
            "a/file",
            "a/loop",
            "a/broken",
            "absolute/c",
            "absolute/../a",
            "a/relative/../../b",
            "missing",
            "a/./b//c",
            ".",
            "..",
        ] {
            let path = root.join(path);
            let quick = real_paths.follow(&path, MOST_LINKS);
            assert_eq!(quick, fs::canonicalize(&path).ok(), "{}", path.display());
        }
        assert_eq!(real_paths.follow(Path::new("relative"), MOST_LINKS), None);
    }
}
