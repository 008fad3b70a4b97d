//! Which parameters an Application may set, and the type of each.
//!
//! Owns: the table. Flows in: nothing. Flows out: [`PARAMETERS`]. Must not know: what a parameter does.

/// The type of a parameter in Argo CD's terms: its `collectionType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One string.
    Text,
    /// A list of strings.
    List,
}

impl Shape {
    /// The key of the value in `ARGOCD_APP_PARAMETERS`.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::List => "array",
        }
    }
}

/// Every parameter: the configuration's fields and the options that an Application may set
/// (docs/guides/argo-cd.md).
pub const PARAMETERS: [(&str, Shape); 10] = [
    ("allow-empty", Shape::Text),
    ("clusters", Shape::Text),
    ("hub", Shape::List),
    ("hubObjects", Shape::Text),
    ("now", Shape::Text),
    ("placement.mode", Shape::Text),
    ("placement.source", Shape::Text),
    ("secrets", Shape::Text),
    ("spokes", Shape::Text),
    ("work-kind", Shape::Text),
];
