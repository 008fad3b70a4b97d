//! Secrets that are in the input in plain text.
//!
//! Owns: this finding. Flows in: an object. Flows out: a finding. Must not know: what needs the Secret.

use crate::diagnostic::{Code, Finding};
use crate::object::Object;

/// Reports that a Secret has unencrypted values: everybody who may read the repository has them.
pub(super) fn plain_secret(object: &Object) -> Option<Finding> {
    if !object.is("", "Secret") || object.value.get("sops").is_some() {
        return None;
    }
    let root = object.root();
    let mut values = ["data", "stringData"].map(|field| root.get(field)).into_iter();
    let (_, place) = values.find_map(|field| field.entries().next())?;
    Some(
        Finding::new(
            Code::SECRET_PLAIN,
            object.key_place(&place.pointer()),
            format!("{} is not encrypted: everyone who can read the repository has its values", object.identity()),
        )
        .help(
            "keep it out of the repository, or commit a SealedSecret or an ExternalSecret in its place; change values that were committed",
        ),
    )
}
