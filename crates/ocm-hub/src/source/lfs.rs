//! Git LFS pointers, which stand for files that are stored outside the repository. Their format: the specification of
//! Git LFS, "The Pointer".

use sha2::{Digest as _, Sha256};

/// Whether a file is a pointer, of any version.
pub(super) fn is_pointer(start: &[u8]) -> bool {
    start.starts_with(b"version https://git-lfs.github.com/spec/")
}

/// The pointer that Git LFS puts into the repository for a content. Its keys are sorted and its form is fixed, so one content
/// has one pointer.
pub(super) fn pointer(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    let oid: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let size = content.len();
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n")
}
