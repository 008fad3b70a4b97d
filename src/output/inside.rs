//! Whether one directory is, or is inside, another: an output inside the input would feed on itself.
//!
//! Owns: real paths and comparing them, including those of directories that do not exist yet. Flows in: two paths.
//! Flows out: yes or no.
//! Must not know: which of them is output.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

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
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                let Some(parent) = existing.parent() else {
                    return Err(error);
                };
                let last = existing
                    .components()
                    .next_back()
                    .map(|component| component.as_os_str().to_owned());
                missing.extend(last);
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
