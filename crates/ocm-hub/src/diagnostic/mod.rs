//! Findings: everything that spokewright reports about its input. A [`Finding`] has a stable [`Code`], a [`Severity`], a
//! symbolic [`Place`], and a help line; all stages fill the collector [`Findings`].
//!
//! The formats ([`Format`]) are for people ([`Human`], and [`Brief`] where space is short), JSON ([`FindingList`]), SARIF
//! ([`SarifLog`]), GitHub ([`github`]), JUnit ([`junit`]), and GitLab ([`CodeQuality`]). How a place becomes a line is known
//! to the owner of the texts, who implements [`Locate`]. For misspelled names, there is the [`nearest()`] known one.

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
