//! The events between a parser (of YAML or of JSON) and the composer.

use std::borrow::Cow;
use std::ops::Range;

use super::error::Outcome;

/// Gives the events of a text to something, until that has an error.
pub(super) type Events<'t> = fn(&'t str, &mut dyn FnMut(Event<'t>) -> Outcome<()>) -> Outcome<()>;

/// The properties in front of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Properties<'t> {
    /// The name behind `&`.
    pub(super) anchor: Option<&'t str>,
    /// The whole tag, handle resolved.
    pub(super) tag: Option<String>,
    /// Where they are.
    pub(super) range: Range<usize>,
}

/// One step through a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event<'t> {
    /// A scalar.
    Scalar {
        /// What it says.
        text: Cow<'t, str>,
        /// Whether it may be more than a string.
        plain: bool,
        properties: Option<Box<Properties<'t>>>,
        range: Range<usize>,
    },
    /// JSON's `null`, `true`, `false` or a number.
    Literal {
        value: kube_json::Value,
        range: Range<usize>,
    },
    /// `*name`
    Alias { name: &'t str, range: Range<usize> },
    /// A list begins.
    SequenceStart {
        properties: Option<Box<Properties<'t>>>,
        range: Range<usize>,
    },
    /// A mapping begins.
    MappingStart {
        properties: Option<Box<Properties<'t>>>,
        range: Range<usize>,
    },
    /// The innermost collection ends at this byte.
    End { at: usize },
}

impl<'t> Event<'t> {
    /// A string of JSON.
    pub(super) fn string(text: Cow<'t, str>, range: Range<usize>) -> Self {
        Self::Scalar {
            text,
            plain: false,
            properties: None,
            range,
        }
    }
}
