//! The sentence of a finding, in two parts: the object, which other findings about it name, and what is wrong, which is
//! said of other objects.
//!
//! Owns: where a sentence is cut. Flows in: texts. Flows out: [`Message`], which looks like one text. Must not know: what
//! it says.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use kube_json::Text;
use serde::{Serialize, Serializer};

use super::shared::SharedTexts;

/// One sentence without a full stop. Where it is cut makes no difference.
#[derive(Debug, Clone)]
pub struct Message {
    about: Text,
    says: Text,
}

impl Message {
    /// A sentence that begins with an object, and goes on with what may be said of others, too.
    #[must_use]
    pub fn about(object: impl Into<Text>, says: impl Into<Text>) -> Self {
        Self {
            about: object.into(),
            says: says.into(),
        }
    }

    /// The whole sentence.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        if self.about.is_empty() {
            Cow::Borrowed(&self.says)
        } else {
            Cow::Owned([self.about.as_str(), self.says.as_str()].concat())
        }
    }

    /// Whether the sentence has this part.
    #[must_use]
    pub fn contains(&self, part: &str) -> bool {
        self.text().contains(part)
    }

    /// Takes over what is said of another object. A sentence that is not cut is hardly said again.
    pub(super) fn share(&mut self, shared: &mut SharedTexts) {
        if !self.about.is_empty() {
            shared.text(&mut self.says);
        }
    }

    /// Where the second part is.
    #[cfg(test)]
    pub(super) fn said(&self) -> *const u8 {
        self.says.as_ptr()
    }

    fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.about.bytes().chain(self.says.bytes())
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text())
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl Ord for Message {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl PartialOrd for Message {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Message {}

impl PartialEq<str> for Message {
    fn eq(&self, other: &str) -> bool {
        self.text() == other
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl From<Text> for Message {
    fn from(text: Text) -> Self {
        Self::about("", text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Text::from(text).into()
    }
}

impl From<Cow<'_, str>> for Message {
    fn from(text: Cow<'_, str>) -> Self {
        Text::from(text).into()
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Text::from(text).into()
    }
}

impl From<Message> for Text {
    fn from(message: Message) -> Self {
        if message.about.is_empty() {
            message.says
        } else {
            message.text().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_sentence_is_cut_makes_no_difference() {
        let cut: Vec<Message> = (0..=4)
            .map(|at| Message::about(&"abcd"[..at], &"abcd"[at..]))
            .collect();
        for (one, other) in cut
            .iter()
            .flat_map(|one| cut.iter().map(move |other| (one, other)))
        {
            assert_eq!(one, other);
            assert_eq!(one.to_string(), "abcd");
            assert_eq!(serde_json::to_string(one).unwrap(), "\"abcd\"");
            assert_eq!(Text::from(one.clone()), "abcd");
            assert!(one.contains("bc") && *one == "abcd");
        }
        for other in ["", "abc", "abcd ", "abcda", "abd", "b"] {
            for one in &cut {
                assert_eq!(one.cmp(&other.into()), "abcd".cmp(other), "{other}");
            }
        }
    }
}
