//! The tokens between scanner and parser.
//!
//! Owns: their kinds. Flows in: tokens that the scanner cut from the text. Flows out: the same, to the parser.
//! Must not know: how either of them works.

use std::borrow::Cow;

/// A piece of the text that has a meaning of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    /// Its kind.
    pub(super) kind: TokenKind<'t>,
    /// Its first byte.
    pub(super) start: usize,
    /// The byte behind its last one.
    pub(super) end: usize,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind<'t> {
    /// Nothing follows.
    StreamEnd,
    /// `%YAML 1.1`; other versions never get this far.
    VersionDirective,
    /// `%TAG handle prefix`.
    TagDirective(Box<TagText<'t>>),
    /// `---` alone in front.
    DocumentStart,
    /// `...` alone in front.
    DocumentEnd,
    /// A list begins by being indented deeper.
    BlockSequenceStart,
    /// A mapping begins by being indented deeper.
    BlockMappingStart,
    /// A list or mapping ends by being indented less.
    BlockEnd,
    /// `[`
    FlowSequenceStart,
    /// `]`
    FlowSequenceEnd,
    /// `{`
    FlowMappingStart,
    /// `}`
    FlowMappingEnd,
    /// `-`
    BlockEntry,
    /// `,`
    FlowEntry,
    /// `?`, or in front of a key that turned out to be one.
    Key,
    /// `:`
    Value,
    /// `*name`
    Alias(&'t str),
    /// `&name`
    Anchor(&'t str),
    /// `!tag` in one of its forms.
    Tag(Box<TagText<'t>>),
    /// A scalar, escapes and folds resolved.
    Scalar {
        /// What it says.
        text: Cow<'t, str>,
        /// Whether it was written without quotes and not as a block: only then can it be more than a string.
        plain: bool,
    },
}

/// The two halves of a tag: `!` and `foo`, `!!` and `str`; or of a `%TAG` directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagText<'t> {
    /// `!`, `!!`, `!name!`, or nothing for `!<uri>` and a lone `!`.
    pub(super) handle: &'t str,
    /// What follows the handle.
    pub(super) suffix: String,
}
