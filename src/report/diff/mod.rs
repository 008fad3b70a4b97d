//! What a change of the input does to every cluster: two rendered sides, compared.
//!
//! The works and objects of two [`Side`]s are paired and compared as values, changes that are the same on many clusters
//! are merged into a [`DiffReport`], and [`human()`], [`semantic()`], [`markdown()`], and [`json()`] show it.
//!
//! Two rules apply everywhere. First, no work is done for each cluster that could be done once for each distinct text:
//! a thousand clusters share one body. Second, no value of a Secret reaches a report: values are concealed while two
//! objects are compared, before anything is stored.

mod compare;
mod fields;
mod json;
mod live;
mod markdown;
mod overlays;
mod report;
mod side;
mod summary;
mod terms;
mod text;

#[cfg(test)]
mod tests;

pub use crate::outcome::{EffectiveChange, EffectiveSettings, Presence, SettingChange, Which};
pub use compare::{
    Change, ClusterRow, Comparison, Counts, Effect, NewClusters, ObjectChange, OriginPlace, Unreadable,
    compare,
};
pub use fields::FieldChange;
pub(super) use fields::{field_changes, field_line};
pub use json::json;
pub(super) use json::{Document as DiffDocument, document};
pub use live::OnClusters;
pub(in crate::report) use markdown::fenced;
pub use markdown::{DEFAULT_BUDGET, markdown};
pub use overlays::overlays;
pub use report::{DiffReport, Exceeded, Limit, Titles, denied, exceeded, over_budget};
pub use side::{BothSides, ObjectKey, Side};
pub use terms::{LocalChange, Terms};
pub use text::{Look, human, semantic};
