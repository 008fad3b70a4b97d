//! Kinds that are one edit away from a known one.
//!
//! Owns: the kind that the author meant, and the finding that suggests it. Flows in: an object, the table of kinds.
//! Flows out: the object as the author meant it, a finding. Must not know: what it targets.
//!
//! Nothing reads a `Gatewy`: without this finding it would be missing everywhere, and nothing would report it. The run
//! continues with the intended kind, so that one typo is reported once, and not again for every reference to the
//! object.

use std::collections::BTreeSet;

use strsim::damerau_levenshtein;

use super::kinds::{KindInfo, KindTable};
use super::versions::is_read;
use crate::diagnostic::{Code, Finding, Severity};
use crate::object::Object;
use apimachinery::GroupKind;

/// Corrects the kind and the group of an object whose kind nobody knows and is a typo away from a known one. `taught`
/// are kinds that the configuration describes: they exist.
pub(super) fn correct_kind(
    object: &mut Object,
    kinds: &KindTable,
    taught: &BTreeSet<GroupKind>,
) -> Option<Finding> {
    if kinds.kind(&object.api_version.group, &object.kind).is_some() {
        return None;
    }
    let written = object.group_kind();
    if taught.contains(&written) {
        return None;
    }
    let meant = meant(&written, kinds)?;
    let place = if meant.kind == written.kind {
        "/apiVersion"
    } else {
        "/kind"
    };
    let finding = Finding::new(
        Code::OBJECT_UNKNOWN_KIND,
        object.place(place),
        format!(
            "the kind of {} is unknown, so nothing would read it",
            object.identity()
        ),
    );
    let finding = if meant.kind == written.kind {
        finding
            .label(format!("{} is in another group", written.kind))
            .help(format!(
                "did you mean `{}/{}`? If the kind exists, add its CRD to the input",
                meant.group, object.api_version.version
            ))
    } else {
        finding
            .label(match written.group.as_str() {
                "" => "not a kind of the core group".to_owned(),
                group => format!("not a known kind of the group `{group}`"),
            })
            .help(format!(
                "did you mean `{}`? If the kind exists, add its CRD to the input",
                meant.kind
            ))
    };
    let severity = if is_read(meant) {
        Severity::Error
    } else {
        Severity::Warning
    };
    object.kind = (*meant.kind).into();
    object.api_version.group = meant.group.to_string();
    Some(finding.severity(severity))
}

/// The known kind that one edit, or another end of the group, makes of it; the first by group and kind.
pub(super) fn meant<'k>(written: &GroupKind, kinds: &'k KindTable) -> Option<&'k KindInfo> {
    let is_meant = |info: &&KindInfo| {
        (info.group == written.group && is_slip(&info.kind, &written.kind))
            || (info.kind == written.kind && is_slip_of_group(&info.group, &written.group))
    };
    let found = kinds.iter().filter(is_meant);
    found.min_by_key(|info| (info.group.as_ref(), info.kind.as_ref()))
}

/// Whether one of two different names is the other with one character added, left out, replaced or swapped with its
/// neighbor, or in other case.
fn is_slip(known: &str, written: &str) -> bool {
    known.len().abs_diff(written.len()) <= 4
        && (known.eq_ignore_ascii_case(written) || damerau_levenshtein(known, written) == 1)
}

/// Whether a group is a typo away from a known one, or ends otherwise: `kuadrant.com`.
fn is_slip_of_group(known: &str, written: &str) -> bool {
    let stem = |group: &str| group.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    !known.is_empty()
        && !written.is_empty()
        && (is_slip(known, written) || stem(known).is_some_and(|known| stem(written) == Some(known)))
}
