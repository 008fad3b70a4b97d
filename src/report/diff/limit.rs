//! The limits of a change budget, and the finding about a change that exceeds one.
//!
//! Owns: the wording. Flows in: counts. Flows out: [`Limit`], [`Exceeded`]. Must not know: how anything is counted.

use serde::Serialize;

use crate::diagnostic::counted;

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Objects that are deleted, on each cluster that loses them.
    Removed,
    /// Clusters on which anything changes.
    Clusters,
    /// Paths on which policies of a kind applied but no longer apply, each once.
    LostPolicies,
}

/// A limit that a change exceeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Exceeded {
    /// The limit that is exceeded.
    pub limit: Limit,
    /// The number that it allows.
    pub most: usize,
    /// The number that the change has.
    pub count: usize,
    /// Whether the user allowed it.
    pub allowed: bool,
    /// What is counted, in words.
    pub offenders: Vec<String>,
}

impl Limit {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Removed, Self::Clusters, Self::LostPolicies];

    /// The word for it on a command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Clusters => "clusters",
            Self::LostPolicies => "lost-policies",
        }
    }

    fn counted(self, count: usize) -> String {
        match self {
            Self::Removed => format!("{} removed", are(count, "object")),
            Self::Clusters if count == 1 => "1 cluster changes".to_owned(),
            Self::Clusters => format!("{} change", counted(count, "cluster")),
            Self::LostPolicies if count == 1 => "1 path loses its policies".to_owned(),
            Self::LostPolicies => format!("{} lose their policies", counted(count, "path")),
        }
    }
}

fn are(count: usize, noun: &str) -> String {
    format!(
        "{} {}",
        counted(count, noun),
        if count == 1 { "is" } else { "are" }
    )
}

impl Exceeded {
    /// `12 objects are removed, and at most 5 may be`.
    pub fn sentence(&self) -> String {
        let most = match self.most {
            0 => "none".to_owned(),
            most => format!("at most {most}"),
        };
        format!("{}; the budget allows {most}", self.limit.counted(self.count))
    }
}
