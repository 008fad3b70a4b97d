//! The mark of a finding that is accepted, with the reason.
//!
//! Owns: the place of a suppression, and its reason. Flows in: nothing. Flows out: [`Suppressed`]. Must not know: how a
//! suppression is matched.

/// Where a suppression is written, in SARIF's terms (section 3.35.2 of
/// <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuppressedBy {
    /// The object itself, by an annotation.
    Object,
    /// The configuration.
    Configuration,
}

impl SuppressedBy {
    /// SARIF's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Object => "inSource",
            Self::Configuration => "external",
        }
    }
}

/// Why a finding is not counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suppressed {
    /// Where that is.
    pub by: SuppressedBy,
    /// The stated reason.
    pub reason: String,
}
