//! Secrets that are in the input in plain text.
//!
//! Owns: this finding; values that a tool fills in are none. Flows in: an object. Flows out: a finding. Must not know: what needs the Secret.

use crate::api::decoded;
use crate::diagnostic::{Code, Finding};
use crate::object::{Object, is_placeholder};
use apimachinery::Field;

/// Reports that a Secret has unencrypted values: everybody who may read the repository has them.
pub(super) fn plain_secret(object: &Object) -> Option<Finding> {
    if !object.is("", "Secret") || object.value.get("sops").is_some() {
        return None;
    }
    let root = object.root();
    let is_value = |field: &Field<'_>, is_encoded: bool| {
        let text = field.string().ok().flatten().unwrap_or_default();
        let inside = decoded(text).filter(|_| is_encoded);
        !is_placeholder(text) && inside.is_none_or(|text| !is_placeholder(&text))
    };
    let (_, place) =
        [("data", true), ("stringData", false)]
            .into_iter()
            .find_map(|(section, is_encoded)| {
                let section = root.get(section);
                section.entries().find(|(_, field)| is_value(field, is_encoded))
            })?;
    let identity = object.identity();
    let message = format!("{identity} is not encrypted: everyone who can read the repository has its values");
    let finding = Finding::new(Code::SECRET_PLAIN, object.key_place(&place.pointer()), message);
    Some(finding.help(
        "keep it out of the repository, or commit a SealedSecret or an ExternalSecret in its place; change values that were committed",
    ))
}
