//! The text of a file, packed until somebody looks at it.
//!
//! Owns: how a text is packed. Flows in: texts. Flows out: [`FileText`], the same text. Must not know: what it is about.
//!
//! Every text is kept until the end of a run, because a finding shows what was read, and a file may have changed since.
//! Of most files nothing is shown, and many objects in one file say much the same: packed, they take a fraction.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A text of fewer bytes is not packed: it would not become much smaller.
const LEAST_BYTES: usize = 4 << 10;

/// A text, which clones share.
#[derive(Clone)]
pub struct FileText(Form);

#[derive(Clone)]
enum Form {
    Whole(Arc<String>),
    Packed(Arc<Packed>),
}

struct Packed {
    bytes: Box<[u8]>,
    length: usize,
    /// Once somebody has looked at it.
    whole: OnceLock<String>,
}

impl FileText {
    /// Packs it, unless others have it as it is.
    pub(super) fn pack(&mut self) {
        let Form::Whole(text) = &mut self.0 else { return };
        let Some(text) = Arc::get_mut(text).filter(|text| text.len() >= LEAST_BYTES) else {
            return;
        };
        let packed = Packed::of(text);
        if packed.bytes.len() <= text.len() / 2 {
            self.0 = Form::Packed(Arc::new(packed));
        }
    }

    /// A packed text of any length.
    #[cfg(test)]
    pub(super) fn packed(text: &str) -> Self {
        Self(Form::Packed(Arc::new(Packed::of(text))))
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Whole(text) => text.len(),
            Form::Packed(packed) => packed.length,
        }
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text for somebody who reads all files: it is not kept.
    #[must_use]
    pub fn in_passing(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Packed(packed) if packed.whole.get().is_none() => Cow::Owned(packed.unpacked()),
            _ => Cow::Borrowed(self),
        }
    }

    /// The text, if it is not packed.
    pub(super) const fn whole(&self) -> Option<&Arc<String>> {
        match &self.0 {
            Form::Whole(text) => Some(text),
            Form::Packed(_) => None,
        }
    }
}

impl Packed {
    fn of(text: &str) -> Self {
        let bytes = lz4_flex::block::compress(text.as_bytes());
        Self {
            // A copy: there was room for all of the text.
            bytes: bytes.as_slice().into(),
            length: text.len(),
            whole: OnceLock::new(),
        }
    }

    fn unpacked(&self) -> String {
        // Both cannot fail: these are the bytes of a text.
        let bytes = lz4_flex::block::decompress(&self.bytes, self.length).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// From then on, the text is in memory as it is.
impl Deref for FileText {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Form::Whole(text) => text,
            Form::Packed(packed) => packed.whole.get_or_init(|| packed.unpacked()),
        }
    }
}

impl From<Arc<String>> for FileText {
    fn from(text: Arc<String>) -> Self {
        Self(Form::Whole(text))
    }
}

impl Default for FileText {
    fn default() -> Self {
        Self(Form::Whole(Arc::default()))
    }
}

impl PartialEq for FileText {
    fn eq(&self, other: &Self) -> bool {
        self.in_passing() == other.in_passing()
    }
}

impl Eq for FileText {}

impl fmt::Debug for FileText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.in_passing().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(text: &str) -> FileText {
        let mut packed = FileText::from(Arc::new(text.to_owned()));
        packed.pack();
        packed
    }

    #[test]
    fn a_packed_text_is_the_same_text() {
        let text = "name: größe\nport: 80\n".repeat(400);
        let file = packed(&text);
        assert!(file.whole().is_none() && file.len() == text.len());
        assert_eq!(file.in_passing(), text);
        assert_eq!(file, FileText::from(Arc::new(text.clone())));
        assert_eq!(&*file, text);
    }

    #[test]
    fn whoever_looks_has_it_and_whoever_passes_leaves_it_packed() {
        let file = packed(&"port: 80\n".repeat(1_000));
        let is_packed = |file: &FileText| matches!(file.in_passing(), Cow::Owned(_));
        assert!(is_packed(&file) && is_packed(&file));
        let seen = file.as_ptr();
        assert!(!is_packed(&file));
        assert_eq!(file.clone().as_ptr(), seen, "clones share it");
    }

    #[test]
    fn what_others_have_is_small_or_becomes_little_smaller_stays_as_it_is() {
        let long = Arc::new("port: 80\n".repeat(1_000));
        let mut shared = FileText::from(Arc::clone(&long));
        shared.pack();
        assert!(shared.whole().is_some_and(|text| Arc::ptr_eq(text, &long)));
        assert!(packed("port: 80\n").whole().is_some());
        let mut number = 1_u32;
        let random = std::iter::from_fn(|| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from_digit(number >> 27, 32)
        });
        assert!(
            packed(&random.take(1 << 16).collect::<String>())
                .whole()
                .is_some()
        );
    }
}
