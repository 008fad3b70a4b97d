//! Findings: everything that spokewright reports about its input. A [`Finding`] has a stable [`Code`], a [`Severity`], a
//! symbolic [`Place`], and a help line; all stages fill the collector [`Findings`].
//!
//! The formats ([`Format`]) are for people ([`Human`], and [`Brief`] where space is short), JSON ([`FindingList`]), SARIF
//! ([`SarifLog`]), GitHub ([`github`]), JUnit ([`junit`]), and GitLab ([`CodeQuality`]). How a place becomes a line is known
//! to the owner of the texts, who implements [`Locate`]. For misspelled names, there is the [`nearest()`] known one.

mod ci;
mod code;
mod explained;
mod finding;
mod findings;
mod format;
mod human;
mod place;
mod reading_order;
mod redact;
mod sanitize;
mod sarif;
mod suggest;
mod text;

pub use apimachinery::broken;
pub use ci::{CodeQuality, github, junit};
pub use code::{CODES, Code, Severity};
pub use finding::{Finding, FindingData, IdentityPart, Label, Lacks, Suppressed, SuppressedBy};
pub use findings::{FindingCounts, Findings, FindingsIter, SeverityOverride, Warnings};
pub use format::{
    API_VERSION, FindingEntry, FindingList, Format, Position, RelatedEntry, Sentence, SuppressedEntry,
    json_text, write_json,
};
pub use human::{Brief, Human};
pub(crate) use place::floor_boundary;
pub use place::{DocumentId, Inside, Locate, Part, Place, Region, SourceId, Span};
pub use redact::{Hidden, Secrecy, holds_secret, without_secrets};
pub use sanitize::{Lines, UNSEEN, is_unseen, not_a_command, one_line, whole_line};
pub use sarif::SarifLog;
pub use suggest::{NameIndex, did_you_mean, nearest};
pub use text::{
    GAP, and_more, counted, first_items, first_names, fitting_names, hanging, one_or_many, plural, row,
    shell_name, shell_path, shell_word, widths, with_article, wrapped, wrapped_hanging,
};
