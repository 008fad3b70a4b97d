//! The conditions of a Kubernetes object's status, as reports predict or collect them.

use std::fmt;
use std::sync::Arc;

use kube_json::Text;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A Kubernetes condition without its times.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Condition {
    /// `Accepted`, `Enforced`, `Programmed`, `<domain>/<Kind>Affected`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True` or `False`.
    pub status: &'static str,
    /// A word.
    pub reason: String,
    /// A sentence.
    #[schemars(with = "String")]
    pub message: ConditionMessage,
}

/// The message of a condition: as an object carries it, a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ConditionMessage {
    /// A sentence.
    Sentence(String),
    /// What each of these clusters says, by cluster: `eu-1 <message>; eu-2 <message>`. Thousands may say the same, so they
    /// share it.
    OfClusters(Vec<(Text, Arc<str>)>),
}

impl From<String> for ConditionMessage {
    fn from(sentence: String) -> Self {
        Self::Sentence(sentence)
    }
}

impl fmt::Display for ConditionMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence(sentence) => formatter.write_str(sentence),
            Self::OfClusters(messages) => {
                for (number, (cluster, message)) in messages.iter().enumerate() {
                    let separator = if number == 0 { "" } else { "; " };
                    write!(formatter, "{separator}{cluster} {message}")?;
                }
                Ok(())
            }
        }
    }
}

impl Serialize for ConditionMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Condition {
    /// A condition.
    pub fn new(kind: &str, status: &'static str, reason: &str, message: impl Into<ConditionMessage>) -> Self {
        Self {
            kind: kind.to_owned(),
            status,
            reason: reason.to_owned(),
            message: message.into(),
        }
    }

    /// Whether it holds.
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}
