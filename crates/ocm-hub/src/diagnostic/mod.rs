//! Findings: everything that spokewright reports about its input.
//!
//! Owns: what a [`Finding`] is (a stable [`Code`], a [`Severity`], a symbolic [`Place`], a help line), the
//! collector [`Findings`] that all stages fill, and the text, JSON, SARIF, and GitHub formats of both.
//! Flows in: findings from every stage. Flows out: sorted findings, and their rendered formats ([`Format`]): for people
//! ([`Human`], and [`Brief`] where space is short), JSON ([`FindingList`]), SARIF ([`SarifLog`]), GitHub
//! ([`github`]), JUnit ([`junit`]), GitLab ([`CodeQuality`]); and, for misspelled names, the [`nearest()`] known one.
//! Must not know: Kubernetes, files, or how a place becomes a line: the owner of the texts implements [`Locate`].

// What a finding is.

mod code;
mod place;

mod finding;

mod within;

mod explained;
mod reading_order;

mod findings;
mod nearest;

// Words, and text that cannot harm a terminal.
mod visible;

mod secrecy;
mod text;

mod position;

// The forms.
mod human;

pub mod github;
mod gitlab;
pub mod junit;
mod sarif;

mod brief;
mod json;

mod format;

#[cfg(test)]
mod testing;

pub use apimachinery::broken;
pub use brief::Brief;
pub use code::{CODES, Code, Severity};
pub use finding::{Finding, Label, Lacks, Suppressed, SuppressedBy};
pub use findings::{FindingCounts, Findings, FindingsIter, SeverityOverride, Warnings};
pub use format::{Format, json_text, write_json};
pub use gitlab::CodeQuality;
pub use human::Human;
pub use json::{API_VERSION, FindingEntry, FindingList, Position, RelatedEntry, Sentence, SuppressedEntry};
pub use nearest::{NameIndex, did_you_mean, nearest};
pub use place::{DocumentId, Inside, Locate, Part, Place, SourceId, Span};
pub use position::Region;
pub use sarif::SarifLog;
pub use secrecy::{Hidden, Secrecy, holds_secret, without_secrets};
pub use text::{
    FirstNames, GAP, and_more, counted, first_items, first_names, fitting_names, hanging, one_or_many,
    plural, row, shell_name, shell_path, shell_word, widths, with_article, wrapped, wrapped_hanging,
};
pub(crate) use visible::floor_boundary;
pub use visible::{Lines, UNSEEN, is_unseen, not_a_command, one_line, whole_line};
pub use within::Within;
