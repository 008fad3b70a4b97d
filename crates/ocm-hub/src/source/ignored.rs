//! Which names are input: extensions, hidden names, `.gitignore`, `exclude`.

use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::tree::TreeError;
use crate::diagnostic::{Code, Finding, Findings, Place};

/// The names of files that are read without being named.
pub(super) const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Whether a file of this name is read.
pub(super) fn is_manifest(name: &OsStr) -> bool {
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    // As editors and other systems write them, too: a policy in `auth.YAML` must not be missing.
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|read| read.eq_ignore_ascii_case(extension)))
}

/// At most so many bytes of a pattern, as of a path: a longer one takes much memory.
const LONGEST: usize = 4096;

/// The `.gitignore`s that count in one directory, from the outermost in.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules(Rc<[Rc<Gitignore>]>);

impl Rules {
    /// The same, and the text of one more that is in `directory`.
    ///
    /// # Errors
    /// A pattern is too long. Git has no limit.
    pub(super) fn with(&self, directory: &Path, text: &[u8]) -> Result<Self, TreeError> {
        let mut builder = GitignoreBuilder::new(directory);
        let text = String::from_utf8_lossy(text);
        let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines();
        for (line, number) in lines.zip(1_usize..) {
            if let Some(why) = too_long(line).filter(|_| !line.starts_with('#')) {
                let reason = format!("line {number} {why}");
                return Err(TreeError::new(reason, "write each pattern on a line of its own"));
            }
            // A line that is not a glob ignores nothing, as in Git.
            let _ = builder.add_line(None, line);
        }
        let more = builder.build().ok().map(Rc::new);
        Ok(Self(self.0.iter().cloned().chain(more).collect()))
    }

    /// Whether an entry is left out. A hidden one is included if a rule requests it.
    pub(super) fn leave_out(&self, path: &Path, is_dir: bool) -> bool {
        self.verdict(path, is_dir).unwrap_or_else(|| is_hidden(path))
    }

    /// Whether Git leaves an entry out: a hidden one is like any other to it.
    pub(super) fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        self.verdict(path, is_dir).unwrap_or_default()
    }

    fn verdict(&self, path: &Path, is_dir: bool) -> Option<bool> {
        // The innermost rule that matches decides (https://git-scm.com/docs/gitignore).
        self.0
            .iter()
            .rev()
            .find_map(|rules| match rules.matched(path, is_dir) {
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
                Match::None => None,
            })
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn too_long(pattern: &str) -> Option<String> {
    let bytes = pattern.len();
    (bytes > LONGEST).then(|| format!("is {bytes} bytes long; a pattern may have {LONGEST}"))
}

/// `exclude` as rules for paths as people type them.
pub(super) fn exclusions(root: &Path, exclude: &[String], findings: &mut Findings) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    for glob in exclude {
        let error = too_long(glob).map(|why| format!("it {why}"));
        if let Some(error) = error.or_else(|| Some(builder.add_line(None, glob).err()?.to_string())) {
            let message = format!("`exclude` has an invalid glob: {error}");
            let finding = Finding::new(Code::CONFIG_INVALID, Place::Run, message);
            findings.push(finding.help("write it as in .gitignore, for example \"charts/**\""));
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
