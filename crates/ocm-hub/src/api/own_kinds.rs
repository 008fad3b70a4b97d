//! The kinds of spokewright's own group, a closed list.
//!
//! A document of this group that the list lacks was written for another version, or has a typo: to ignore it would ship
//! what it was meant to change, so it is an error wherever it is.

use crate::diagnostic::{Code, Finding, Part, nearest};
use crate::object::Origin;
use apimachinery::ApiVersion;
use kube_json::Value;

const GROUP: &str = "spokewright.dev";
const VERSION: &str = "v1alpha1";

/// What users write.
const READ: &str = "RenderConfig";

/// The reports that a run prints: they may be kept beside the input, and nobody reads them.
pub const REPORTS: [&str; 10] = [
    "DiffReport",
    "Explanation",
    "FindingList",
    "FleetPage",
    "PlacementExplanation",
    "PlacementReport",
    "PolicyReport",
    "RenderReport",
    "RequestExplanation",
    "StatusReport",
];

/// Whether a group is ours, or differs from ours by a letter or by its end.
pub(crate) fn is_own(group: &str) -> bool {
    let group = group.to_lowercase();
    group.starts_with("spokewright.") || strsim::damerau_levenshtein(&group, GROUP) <= 1
}

/// The error about a document of our group whose kind or version is not on the list.
pub(crate) fn unknown(origin: &Origin, value: &Value) -> Option<Finding> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !is_own(&ApiVersion::parse(api_version).group) {
        return None;
    }
    let known = REPORTS.into_iter().chain([READ]);
    let finding = |place, wrong: &str, help: String| {
        let message = format!("this version of spokewright does not know {wrong}, so nothing would read it");
        Some(Finding::new(Code::OBJECT_UNKNOWN_KIND, place, message).help(help))
    };
    let update = "update spokewright if a newer version has it, or remove the document";
    if !known.clone().any(|known| known == kind) {
        if kind.is_empty() {
            let (place, meant) = origin.missing(value, "", "kind");
            let wrong = format!("a document of {api_version} without a kind");
            return finding(place, &wrong, meant.unwrap_or_else(|| "add `kind`".to_owned()));
        }
        let help = match nearest(kind, known.clone()) {
            Some(near) => format!("did you mean `{near}`? Otherwise, {update}"),
            None => update.to_owned(),
        };
        let place = origin.place("/kind", Part::Value);
        return finding(place, &format!("the kind {kind} of {api_version}"), help);
    }
    let own = format!("{GROUP}/{VERSION}");
    let place = origin.place("/apiVersion", Part::Value);
    let help = format!("write `{own}`, or {update}");
    if api_version == own {
        return None;
    }
    finding(place, &format!("{kind} of {api_version}"), help)
}
