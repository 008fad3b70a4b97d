//! Where an output may be, opening it there, and the open directory, through which everything in an output is read or changed. The
//! few ways in which we change a disk are behind a trait, [`Storage`], so that tests can stop the run at every single one.
//!
//! An output inside the input would feed on itself, so real paths are compared, also of directories that do not exist yet. An
//! output that the command line names may be anywhere, and links may lead there, because a person typed it. An
//! output that a file of the input names must stay in the repository: otherwise a pull request could write into the
//! home directory of the user who renders it. Nothing at all is written below a `.git`, because Git runs or trusts the
//! files there.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::error::{Action, Obstacle, Offender, OutputError, RootFault, shown};
use super::tree::{directory_of, is_git_directory, name_of};
use crate::sandbox::{self, Blocked, Directory, Obstruction};

/// The directory of an output, and what people call it.
#[derive(Debug)]
pub(super) struct Root<'s> {
    pub(super) directory: Directory,
    /// Its name, for people.
    pub(super) path: PathBuf,
    /// By which it is changed.
    pub(super) storage: &'s dyn Storage,
}

impl<'s> Root<'s> {
    pub(super) fn new(directory: Directory, path: PathBuf, storage: &'s dyn Storage) -> Self {
        Self {
            directory,
            path,
            storage,
        }
    }

    /// Opens a path of the command line for reading, whatever links lead to it; `None` if nothing exists there.
    pub(super) fn to_read(path: &Path) -> Result<Option<Self>, OutputError> {
        match Directory::named(path) {
            Ok(directory) => Ok(Some(Self::new(directory, path.to_path_buf(), &Disk))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(OutputError::io(Action::Read, path, error)),
        }
    }

    /// The name of a path in it, for people.
    pub(super) fn shown(&self, path: &str) -> PathBuf {
        shown(&self.path, path)
    }

    pub(super) fn error(&self, action: Action, path: &str, cause: io::Error) -> OutputError {
        OutputError::io(action, &self.shown(path), cause)
    }

    /// An obstacle to a directory.
    pub(super) fn blocked(&self, action: Action, blocked: Blocked<'_>) -> OutputError {
        match obstacle(blocked.by) {
            Ok(obstacle) => self.refused(vec![Offender::new(blocked.at, obstacle)]),
            Err(error) => self.error(action, blocked.at, error),
        }
    }

    /// Files are in the way.
    pub(super) fn refused(&self, offenders: Vec<Offender>) -> OutputError {
        OutputError::Refused {
            root: self.path.clone(),
            offenders,
        }
    }

    /// Its directories one after the other, the last one kept: neighbors nearly always share theirs.
    pub(super) fn directories(&self) -> Directories<'_> {
        Directories {
            root: self,
            last: None,
        }
    }
}

/// The way to the directories of paths in sorted order.
pub(super) struct Directories<'r> {
    /// Whose they are.
    pub(super) root: &'r Root<'r>,
    last: Option<(String, Directory)>,
}

impl Directories<'_> {
    /// The directory that a path is in.
    pub(super) fn of<'p>(&mut self, path: &'p str) -> Result<&Directory, Blocked<'p>> {
        let directory = directory_of(path);
        if directory.is_empty() {
            return Ok(&self.root.directory);
        }
        let last = match self.last.take() {
            Some(last) if last.0 == directory => last,
            _ => (directory.to_owned(), self.root.directory.enter(directory)?),
        };
        Ok(&self.last.insert(last).1)
    }
}

/// A directory that was made on the way to an output: the one around it, and its name.
pub(super) type Made = (Directory, String);

/// Opens an output; `within` is the directory that it must not leave. What is missing is made in the `storage`, and
/// returned, the outermost directory first; without one, there is no output.
///
/// Where its path leads is looked up once. From there on no link counts: one that takes the place of a directory
/// meanwhile is an error.
pub(super) fn open<'s>(
    path: &Path,
    within: Option<&Path>,
    storage: Option<&'s dyn Storage>,
) -> Result<Option<(Root<'s>, Vec<Made>)>, OutputError> {
    let failed = |error| OutputError::io(Action::Read, path, error);
    // Before links are resolved: afterwards nobody could tell that the last step was one.
    look_at(path)?;
    let real = resolved(path).map_err(failed)?;
    if let Some(fault) = fault_of(&real, within).map_err(failed)? {
        return Err(OutputError::root(path, fault));
    }
    // An output that a file names is found below the directory that it must not leave, any other from what stands.
    let base = match within {
        Some(within) => resolved(within).map_err(failed)?,
        None => standing(&real).to_path_buf(),
    };
    let mut directory = Directory::named(&base).map_err(failed)?;
    let no_text = || {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8");
        failed(cause)
    };
    let names: Vec<&str> = real
        .strip_prefix(&base)
        .into_iter()
        .flat_map(Path::components)
        .map(|name| name.as_os_str().to_str().ok_or_else(no_text))
        .collect::<Result<_, _>>()?;
    let mut made = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let shown = || {
            let below = names.len().saturating_sub(at).saturating_sub(1);
            path.ancestors().nth(below).unwrap_or(path)
        };
        directory = match directory.enter(name) {
            Ok(next) => next,
            Err(Blocked {
                by: Obstruction::Nothing,
                ..
            }) => {
                let Some(storage) = storage else {
                    return Ok(None);
                };
                let is_made = make(storage, &directory, name)
                    .map_err(|error| OutputError::io(Action::Write, shown(), error))?;
                let next = directory
                    .enter(name)
                    .map_err(|blocked| in_the_way(shown(), blocked))?;
                let parent = std::mem::replace(&mut directory, next);
                if is_made {
                    made.push((parent, (*name).to_owned()));
                }
                continue;
            }
            Err(blocked) => return Err(in_the_way(shown(), blocked)),
        };
    }
    let storage = storage.unwrap_or(&Disk);
    Ok(Some((Root::new(directory, path.to_path_buf(), storage), made)))
}

/// Opens an output that an earlier run wrote, for reading; `None` if nothing exists there. A path that the command line
/// names, and that need not stay `within` anything, may be a link.
pub(super) fn open_to_read(path: &Path, within: Option<&Path>) -> Result<Option<Root<'static>>, OutputError> {
    match within {
        None => Root::to_read(path),
        Some(_) => Ok(open(path, within, None)?.map(|(root, _)| root)),
    }
}

/// Makes a directory, unless it is there, or another thread or run was faster; whether it was made.
pub(super) fn make(storage: &dyn Storage, parent: &Directory, name: &str) -> io::Result<bool> {
    match storage.create_dir(parent, name) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn in_the_way(path: &Path, blocked: Blocked<'_>) -> OutputError {
    match obstacle(blocked.by) {
        Ok(Obstacle::Symlink) => OutputError::root(path, RootFault::Symlink),
        Ok(_) => OutputError::root(path, RootFault::NotADirectory),
        Err(error) => OutputError::io(Action::Write, path, error),
    }
}

/// What is in the place of a directory, if it can be named.
pub(super) fn obstacle(obstruction: Obstruction) -> Result<Obstacle, io::Error> {
    match obstruction {
        Obstruction::Link => Ok(Obstacle::Symlink),
        Obstruction::NoDirectory => Ok(Obstacle::NotADirectory),
        Obstruction::Nothing | Obstruction::Failure(_) => Err(obstruction.into_error()),
    }
}

/// Whether the root can be one. It is never followed when it is a link: what it leads to is not what was named.
fn look_at(root: &Path) -> Result<(), OutputError> {
    let error = OutputError::root;
    match root.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(metadata) if metadata.is_symlink() => Err(error(root, RootFault::Symlink)),
        Ok(_) => Err(error(root, RootFault::NotADirectory)),
        Err(cause) if is_missing(&cause) => {
            let parent = root
                .ancestors()
                .skip(1)
                .find(|parent| !parent.as_os_str().is_empty() && parent.exists());
            match parent {
                Some(parent) if !parent.is_dir() => Err(error(parent, RootFault::NotADirectory)),
                _ => Ok(()),
            }
        }
        Err(cause) => Err(OutputError::io(Action::Read, root, cause)),
    }
}

/// Why an output may not be at a place, wherever links have led.
fn fault_of(real: &Path, within: Option<&Path>) -> io::Result<Option<RootFault>> {
    let is_git = |part: Component<'_>| part.as_os_str().to_str().is_some_and(is_git_directory);
    // Git runs hooks and trusts its configuration: whoever can write there runs programs as this user.
    if real.components().any(is_git) {
        return Ok(Some(RootFault::Git));
    }
    let is_outside = match within {
        Some(within) => !real.starts_with(resolved(within)?),
        None => false,
    };
    Ok(is_outside.then_some(RootFault::Outside))
}

/// Why nothing may be written to `path`, as far as its place alone says: below a `.git`, or, if it must stay `within` a
/// directory, out of it. A path that cannot be resolved is reported when it is written.
pub(crate) fn misplaced(path: &Path, within: Option<&Path>) -> Option<RootFault> {
    fault_of(&resolved(path).ok()?, within).ok()?
}

/// The nearest existing directory.
fn standing(real: &Path) -> &Path {
    let stands = |path: &&Path| path.is_dir();
    // The root itself is entered by its name: it may have become a link by then.
    real.ancestors().skip(1).find(stands).unwrap_or(real)
}

/// Whether `inner` is `outer` or lies below it, whatever links and `..` either of them goes through. Neither has
/// to exist: what does not exist yet is judged by its nearest existing parent.
///
/// # Errors
/// When an existing part cannot be resolved, such as a loop of links.
pub(crate) fn same_or_inside(inner: &Path, outer: &Path) -> io::Result<bool> {
    Ok(resolved(inner)?.starts_with(resolved(outer)?))
}

/// Where a path leads, with links followed as far as the path exists.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    sandbox::resolved(path, is_missing)
}

/// Whether nothing is there.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// How the names of all our temporary files begin.
pub(crate) const TEMPORARY_PREFIX: &str = ".spokewright-tmp-";

/// Everything that changes a disk: names in directories that are open. Reading needs no seam: it leaves nothing behind.
pub(super) trait Storage: Sync {
    /// Makes one directory.
    fn create_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        at.make(name)
    }

    /// Creates a new file; it is an error if the name is already taken.
    fn create(&self, at: &Directory, name: &str) -> io::Result<File> {
        at.create(name)
    }

    /// Writes all bytes.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Waits until the file's bytes are on the medium.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Replaces `to` by `from`, atomically.
    fn rename(&self, at: &Directory, from: &str, to: &str) -> io::Result<()> {
        at.rename(from, to)
    }

    /// Removes a file or a link.
    fn remove_file(&self, at: &Directory, name: &str) -> io::Result<()> {
        at.remove_file(name)
    }

    /// Removes an empty directory.
    fn remove_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        at.remove_directory(name)
    }
}

/// The disk. Files and directories get the usual modes: 0666 and 0777 less the umask. Modes are not compared: Git keeps
/// only the executable bit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disk;

impl Storage for Disk {}

impl std::fmt::Debug for dyn Storage + '_ {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Storage")
    }
}

/// The name of the temporary file of a path, in the same directory: the prefix, 16 digits that only this path has (the
/// name itself could be too long to get a prefix), and the process, so that two runs never share one.
pub(super) fn temporary(path: &str) -> String {
    format!("{TEMPORARY_PREFIX}{}-{}", mark(path), std::process::id())
}

/// The digits that stand for a path in the name of its temporary file.
pub(super) fn mark(path: &str) -> String {
    let [a, b, c, d, e, f, g, h, ..] = sha256(path.as_bytes());
    format!("{:016x}", u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// The mark in a name that [`temporary`] made, whichever process it was; `None` for all other names.
pub(super) fn mark_of(name: &str) -> Option<&str> {
    let (mark, process) = name.strip_prefix(TEMPORARY_PREFIX)?.split_once('-')?;
    let is_ours = mark.len() == 16
        && mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && !process.is_empty()
        && process.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then_some(mark)
}

/// Writes the file at a path, in the directory where it is, so that its name has either the old bytes or the new ones,
/// never a part of them: a temporary file in the same directory, then a rename. A failed write leaves no temporary
/// file; a killed one does.
pub(super) fn replace(
    root: &Root<'_>,
    at: &Directory,
    path: &str,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), OutputError> {
    let unfinished = temporary(path);
    let error = |cause| root.error(Action::Write, path, cause);
    // Beside the file, because a rename replaces it atomically only within one file system.
    let mut file = root.storage.create(at, &unfinished).map_err(error)?;
    let filled = fill(&mut file);
    drop(file);
    filled
        .and_then(|()| root.storage.rename(at, &unfinished, name_of(path)))
        .map_err(|cause| {
            // The first error is the one to report; a temporary file that stays is removed by the next run.
            let _ = root.storage.remove_file(at, &unfinished);
            error(cause)
        })
}

/// SHA-256 of a file's bytes.
pub type Hash = [u8; 32];

/// The hash of some bytes.
pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// How a file compares with the wanted bytes.
pub(super) enum Compared {
    Same,
    /// The hash of its contents.
    Different(Hash),
}

/// Reads a file once. A file that is longer than wanted is hashed in pieces, so that a huge foreign file does not
/// exhaust memory.
pub(super) fn compare(mut file: File, wanted: &[u8], buffer: &mut Vec<u8>) -> io::Result<Compared> {
    const PIECE: usize = 64 * 1024;
    buffer.clear();
    // One byte more than wanted distinguishes a longer file from an equal one.
    let room = u64::try_from(wanted.len()).unwrap_or(u64::MAX).saturating_add(1);
    (&mut file).take(room).read_to_end(buffer)?;
    if buffer == wanted {
        return Ok(Compared::Same);
    }
    let mut hasher = Sha256::new();
    hasher.update(&*buffer);
    buffer.resize(PIECE, 0);
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(Compared::Different(hasher.finalize().into())),
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            // A signal, such as that of a resized terminal, ends no run.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The first bytes of a file: enough to tell what it is.
pub(super) fn start_of(file: File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(256).read_to_end(&mut start)?;
    Ok(start)
}

/// The hash of a file.
pub(super) fn hash_of(file: File) -> io::Result<Hash> {
    Ok(match compare(file, &[], &mut Vec::new())? {
        Compared::Same => sha256(&[]),
        Compared::Different(found) => found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_we_make_are_taken_for_temporary_files() {
        let name = temporary("eu-1/a.yaml");
        assert_eq!(mark_of(&name), Some(mark("eu-1/a.yaml").as_str()));
        assert!(temporary("a.yaml").starts_with(TEMPORARY_PREFIX));
        for foreign in [
            ".spokewright-tmp-",
            ".spokewright-tmp-notes.txt",
            ".spokewright-tmp-0123456789abcdef",
            ".spokewright-tmp-0123456789abcdef-",
            ".spokewright-tmp-0123456789ABCDEF-1",
            ".spokewright-tmp-0123456789abcdef-1x",
            "x.spokewright-tmp-0123456789abcdef-1",
        ] {
            assert_eq!(mark_of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn what_does_not_exist_yet_lies_where_its_parent_lies() {
        let root = tempfile::tempdir().unwrap();
        let (hub, rendered) = (root.path().join("hub"), root.path().join("rendered"));
        std::fs::create_dir(&hub).unwrap();
        assert!(same_or_inside(&hub, &hub).unwrap());
        assert!(same_or_inside(&hub.join("out/deep"), &hub).unwrap());
        assert!(same_or_inside(&rendered.join("../hub/out"), &hub).unwrap());
        assert!(!same_or_inside(&rendered, &hub).unwrap());
        assert!(!same_or_inside(&hub, &hub.join("out")).unwrap());
        assert!(
            !same_or_inside(&root.path().join("hub-2"), &hub).unwrap(),
            "components are compared, not text"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let root = tempfile::tempdir().unwrap();
        let hub = root.path().join("hub");
        std::fs::create_dir(&hub).unwrap();
        std::os::unix::fs::symlink(&hub, root.path().join("elsewhere")).unwrap();
        assert!(same_or_inside(&root.path().join("elsewhere/out"), &hub).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_loop_of_links_leads_nowhere() {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        assert!(same_or_inside(&link.join("out"), root.path()).is_err());
    }
}
