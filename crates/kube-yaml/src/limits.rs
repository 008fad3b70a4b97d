//! The limits on reading a document.

/// The limits of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many lists and mappings may be nested; [`Limits::GREATEST_DEPTH`] at most.
    pub depth: usize,
    /// The bytes of one document.
    pub document_bytes: usize,
    /// The values that all aliases together may expand to, with those that are kept for an alias to come; each 64 bytes
    /// of a text count as one more.
    pub alias_nodes: usize,
}

impl Limits {
    /// No depth beyond this is allowed, regardless of [`Limits::depth`]: values are dropped and cloned by recursion.
    pub const GREATEST_DEPTH: usize = 1000;
    /// The depth of JSON at most: that of serde_json.
    pub const JSON_DEPTH: usize = 127;
    /// [`Limits::document_bytes`] by default.
    pub const DEFAULT_DOCUMENT_BYTES: usize = 64 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 256,
            document_bytes: Self::DEFAULT_DOCUMENT_BYTES,
            alias_nodes: 1_000_000,
        }
    }
}
