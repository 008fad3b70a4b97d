//! Errors of reading, with messages for people. Each kind of fault has a message and a help line.

use std::borrow::Cow;
use std::ops::Range;

/// The kind of fault in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not text that Kubernetes reads (UTF-8, or big-endian UTF-16 with a byte order mark).
    Encoding,
    /// A character that YAML only allows escaped.
    Character,
    /// The text breaks a rule of YAML or JSON.
    Syntax,
    /// A separator line, or the kind of document between two of them.
    Stream,
    /// Two keys of one mapping are equal, or become equal once they are strings.
    DuplicateKey,
    /// A key that cannot become a string: null, a collection, an integer above i64.
    Key,
    /// A value that JSON cannot represent, or that contradicts its tag.
    Value,
    /// An alias to nothing, or to a value around itself.
    Alias,
    /// A merge (`<<`) of something that is not a mapping, or over a key that is already there.
    Merge,
    /// Text that Kubernetes would silently drop.
    Dropped,
    /// A limit of [`super::Limits`].
    Limit,
}

impl ErrorKind {
    /// What is wrong, in general.
    const fn words(self) -> &'static str {
        match self {
            Self::Encoding => "Kubernetes cannot read this text",
            Self::Character => "a control character must be escaped in YAML",
            Self::Syntax => "this breaks a rule of YAML or JSON",
            Self::Stream => "this does not separate documents",
            Self::DuplicateKey => "a key is already in this mapping",
            Self::Key => "Kubernetes cannot read this key",
            Self::Value => "this value does not match its tag or its form",
            Self::Alias => "this alias has no value",
            Self::Merge => "this merge is not possible",
            Self::Dropped => "Kubernetes would drop this text",
            Self::Limit => "a limit of this reader is exceeded",
        }
    }

    /// What to do about it, in general.
    const fn advice(self) -> &'static str {
        match self {
            Self::Encoding => "convert the file to UTF-8",
            Self::Character => "remove it, or write it as an escape between double quotes",
            Self::Syntax | Self::Value | Self::Alias => {
                "quote the text; it is not shown here, because it may belong to a Secret"
            }
            Self::Stream | Self::Dropped => {
                "begin a document with a line of three dashes only; the text is not shown, because it may belong to a Secret"
            }
            Self::DuplicateKey | Self::Merge => "remove one of the two",
            Self::Key => "quote the key",
            Self::Limit => "split the document",
        }
    }
}

/// One fault, with the place in the text that was given to the reader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Error {
    /// The kind of fault.
    pub kind: ErrorKind,
    /// What is wrong, in one line, without a final full stop.
    pub message: Cow<'static, str>,
    /// The bytes of the text that are at fault; may be empty, never ends before it starts.
    pub range: Range<usize>,
    /// A second place that matters (the first of two equal keys) and what it is.
    pub related: Option<Box<Related>>,
    /// What to write instead, in one line.
    pub help: Cow<'static, str>,
}

/// A second place that an [`Error`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Related {
    /// The bytes of the same text.
    pub range: Range<usize>,
    /// What is there.
    pub text: Cow<'static, str>,
}

/// The result inside this module: the error is boxed, so that the good path stays small.
pub(super) type Outcome<T> = Result<T, Box<Error>>;

impl Error {
    /// A fault without a related place.
    pub(super) fn new(
        kind: ErrorKind,
        range: Range<usize>,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Box<Self> {
        let range = range.start..range.end.max(range.start);
        Box::new(Self {
            kind,
            message: message.into(),
            range,
            related: None,
            help: help.into(),
        })
    }

    /// A fault against the rules of YAML or JSON.
    pub(super) fn syntax(
        range: Range<usize>,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Box<Self> {
        Self::new(ErrorKind::Syntax, range, message, help)
    }

    /// An alias of a name that no anchor has.
    pub(super) fn unknown_alias(range: Range<usize>, name: &str) -> Box<Self> {
        let message = format!("there is no `&{name}` before this alias");
        let help = format!("define it with `&{name}`, or quote the text if `*` is part of it: \"*{name}\"");
        Self::new(ErrorKind::Alias, range, message, help)
    }

    /// The same fault with a second place.
    pub(super) fn with_related(
        mut self: Box<Self>,
        range: Range<usize>,
        text: impl Into<Cow<'static, str>>,
    ) -> Box<Self> {
        self.related = Some(Box::new(Related {
            range,
            text: text.into(),
        }));
        self
    }

    /// The same fault, its places counted from the start of a longer text in which this one begins at `offset`.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Self {
        self.with_places(|at| at.saturating_add(offset))
    }

    fn with_places(mut self, change: impl Fn(usize) -> usize) -> Self {
        let related = self.related.as_mut().map(|related| &mut related.range);
        for range in std::iter::once(&mut self.range).chain(related) {
            *range = change(range.start)..change(range.end);
        }
        self
    }

    /// The same fault in words that quote nothing of the text, which may be a secret.
    #[must_use]
    pub fn unquoted(mut self) -> Self {
        // What is borrowed was there before the text was; everything else may quote it.
        if matches!(self.message, Cow::Owned(_)) {
            self.message = self.kind.words().into();
        }
        if matches!(self.help, Cow::Owned(_)) {
            self.help = self.kind.advice().into();
        }
        if let Some(related) = &mut self.related
            && matches!(related.text, Cow::Owned(_))
        {
            related.text = "it is here first".into();
        }
        self
    }

    /// Keeps the places inside a text of `length` bytes, and gives the help that fits templates.
    pub(super) fn settled(self, text: &str) -> Self {
        let mut error = self.with_places(|at| at.min(text.len()));
        let unreadable = matches!(
            error.kind,
            ErrorKind::Syntax | ErrorKind::Key | ErrorKind::Dropped
        );
        if unreadable && line_around(text, error.range.start).contains("{{") {
            error.help =
                "a Helm template is not YAML: render it first, or exclude the file; `{{` that is meant as \
                         text needs quotes"
                    .into();
        }
        error
    }
}

/// The line of `text` that holds the byte `at`.
fn line_around(text: &str, at: usize) -> &str {
    let (head, tail) = text.as_bytes().split_at(at.min(text.len()));
    let start = memchr::memrchr(b'\n', head).map_or(0, |found| found + 1);
    let end = head.len() + memchr::memchr(b'\n', tail).unwrap_or(tail.len());
    text.get(start..end).unwrap_or("")
}
