//! Two versions of an object as a unified difference of their canonical YAML.
//!
//! Owns: the lines of a difference. Flows in: two values. Flows out: tagged lines. Must not know: colors.

use kube_json::Value;
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::diagnostic::{not_a_command, one_line};

/// Lines around a change.
const CONTEXT: usize = 3;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// `@@ -1,7 +1,7 @@`.
    Header,
    /// On both sides.
    Same,
    /// Only old.
    Removed,
    /// Only new.
    Added,
}

/// One line, with its mark and without its line end; nothing in it can steer a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Its kind.
    pub tag: Tag,
    /// The text.
    pub text: String,
}

/// The lines that differ, with their surroundings. An object that is missing on one side is wholly added or
/// removed.
pub(super) fn hunks(old: Option<&Value>, new: Option<&Value>) -> Vec<Line> {
    let text = |value: Option<&Value>| value.map(kube_yaml::write_document).unwrap_or_default();
    let (old, new) = (text(old), text(new));
    let difference = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .diff_lines(&old, &new);
    let mut lines = Vec::new();
    let mut unified = difference.unified_diff();
    for hunk in unified.context_radius(CONTEXT).iter_hunks() {
        lines.push(Line {
            tag: Tag::Header,
            text: hunk.header().to_string(),
        });
        for change in hunk.iter_changes() {
            let (tag, mark) = match change.tag() {
                ChangeTag::Equal => (Tag::Same, ' '),
                ChangeTag::Delete => (Tag::Removed, '-'),
                ChangeTag::Insert => (Tag::Added, '+'),
            };
            lines.push(Line {
                tag,
                text: not_a_command(format!("{mark}{}", one_line(change.value(), usize::MAX))),
            });
        }
    }
    lines
}
