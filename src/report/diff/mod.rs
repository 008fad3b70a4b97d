//! What a change of the input does to every cluster: two rendered sides, compared.
//!
//! Owns: pairing the works and objects of two [`Side`]s, comparing them as values, merging changes that are the same on
//! many clusters, and the formats for people and machines ([`human()`], [`semantic()`], [`markdown()`], [`json()`]).
//! Flows in: two plans, or rendered files that were read. Flows out: a [`DiffReport`] and its texts.
//! Must not know: files, Git, terminals, or where a side came from.
//!
//! Two rules apply everywhere. First, no work is done for each cluster that could be done once for each distinct text:
//! a thousand clusters share one body. Second, no value of a Secret reaches a report: values are concealed while two
//! objects are compared, before anything is stored.

// The sides, and the objects in their texts.
mod side;

mod object;

// The differences: objects without the values of Secrets, fields, effective settings.
mod change;

mod compare;

mod fields;

mod report;

mod node_names;

mod effective;

mod alike_clusters;

mod collapse;

mod effective_changes;

mod denied;
mod terms;

// The formats: a few words, lines, sections.
mod clusters;
mod field_line;
mod hunks;
mod look;

mod effective_text;

mod summary;

// How much it may be.
mod budget;

mod limit;

mod sections;

// The forms.
mod human;
mod json;
mod markdown;
mod semantic;

#[cfg(test)]
mod tests;

pub use budget::{exceeded, over_budget};
pub use change::{Change, Counts};
pub use compare::{Arrival, ClusterRow, Comparison, Effect, ObjectChange, Presence, Unreadable, compare};
pub use denied::denied;
pub use effective::EffectiveSettings;
pub(super) use field_line::field_line;
pub use fields::FieldChange;
pub(super) use fields::field_changes;
pub use human::human;
#[cfg(test)]
pub(super) use json::Document as DiffDocument;
pub use json::json;
pub use limit::{Exceeded, Limit};
pub use look::Look;
pub use markdown::{DEFAULT_BUDGET, markdown};
pub use object::ObjectKey;
pub use report::{DiffReport, EffectiveChange, SettingChange, Titles};
pub(in crate::report) use report::{conceal, giver};
pub use semantic::semantic;
pub use side::{BothSides, Side, SidedOrigin, Which};
pub use terms::{LocalChange, Terms};
