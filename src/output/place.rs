//! Where an output may be, and opening it there. An output inside the input would feed on itself, so real paths are compared,
//! also of directories that do not exist yet.
//!
//! An output that the command line names may be anywhere, and links may lead there, because a person typed it. An
//! output that a file of the input names must stay in the repository: otherwise a pull request could write into the
//! home directory of the user who renders it. Nothing at all is written below a `.git`, because Git runs or trusts the
//! files there.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::error::{Action, OutputError, RootFault};
use super::root::{Disk, Root, Storage, is_missing};
use super::tree::is_git_directory;
use crate::beneath::{Blocked, Directory, Obstruction};

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
    look_at(path)?;
    let real = resolved(path).map_err(failed)?;
    place(&real, within)
        .map_err(failed)?
        .map_err(|fault| OutputError::root(path, fault))?;
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

/// Makes a directory, unless another run was faster; whether it was made.
fn make(storage: &dyn Storage, parent: &Directory, name: &str) -> io::Result<bool> {
    match storage.create_dir(parent, name) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn in_the_way(path: &Path, blocked: Blocked<'_>) -> OutputError {
    let fault = match blocked.by {
        Obstruction::Link => RootFault::Symlink,
        Obstruction::NoDirectory => RootFault::NotADirectory,
        by @ (Obstruction::Nothing | Obstruction::Failure(_)) => {
            return OutputError::io(Action::Write, path, by.into_error());
        }
    };
    OutputError::root(path, fault)
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

/// Whether an output may be at a place, wherever links have led.
fn place(real: &Path, within: Option<&Path>) -> io::Result<Result<(), RootFault>> {
    let is_git = |part: Component<'_>| part.as_os_str().to_str().is_some_and(is_git_directory);
    if real.components().any(is_git) {
        return Ok(Err(RootFault::Git));
    }
    if let Some(within) = within
        && !real.starts_with(resolved(within)?)
    {
        return Ok(Err(RootFault::Outside));
    }
    Ok(Ok(()))
}

/// Why nothing may be written to `path`, as far as its place alone says: below a `.git`, or, if it must stay `within` a
/// directory, out of it. A path that cannot be resolved is reported when it is written.
pub(crate) fn misplaced(path: &Path, within: Option<&Path>) -> Option<RootFault> {
    place(&resolved(path).ok()?, within).ok()?.err()
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

#[cfg(test)]
mod tests {
    use super::*;

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
