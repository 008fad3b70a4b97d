//! The kinds of spokewright's own group, a closed list.
//!
//! A document of this group that the list lacks was written for another version, or has a typo: to ignore it would ship
//! what it was meant to change, so it is an error wherever it is.

use crate::diagnostic::{Code, Finding, Part, nearest};
use crate::object::{Object, Origin};
use apimachinery::ApiVersion;
use kube_json::Value;

/// Our group.
pub const GROUP: &str = "spokewright.dev";
/// The only version of its kinds.
pub const VERSION: &str = "v1alpha1";

/// The configuration, which users write.
const READ: &str = "RenderConfig";
/// The kind of objects that change others on some clusters ([`overlay`](super::overlay)).
pub const OVERLAY: &str = "ClusterOverlay";
/// Their name in URLs.
pub const OVERLAYS: &str = "clusteroverlays";
/// The kind of objects that say what must hold in a fleet ([`fleet_rule`](super::fleet_rule)).
pub const RULE: &str = "FleetRule";

/// The reports that a run prints: they may be kept beside the input, and nobody reads them.
pub const REPORTS: [&str; 11] = [
    "CoverageReport",
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

/// Whether a group is ours or within ours, or differs from ours by a letter or by its end.
fn is_own(group: &str) -> bool {
    let group = group.to_lowercase();
    let is_within = group.strip_suffix(GROUP).is_some_and(|rest| rest.ends_with('.'));
    // Asked about every object; nearly all groups differ by their length.
    let is_near =
        || group.len().abs_diff(GROUP.len()) <= 1 && strsim::damerau_levenshtein(&group, GROUP) <= 1;
    is_within || group.starts_with("spokewright.") || is_near()
}

/// Whether a document is meant for spokewright. Without a slash, its `apiVersion` may be a group that lacks the version;
/// without `apiVersion`, only a kind that nobody else has tells.
pub(crate) fn is_own_document(api_version: &str, kind: &str) -> bool {
    if api_version.is_empty() {
        [READ, OVERLAY, RULE].contains(&kind)
    } else {
        is_own(api_version.split('/').next().unwrap_or_default())
    }
}

/// Whether a document of our group is an object of the hub, not a file for this tool.
pub(crate) fn is_object(api_version: &ApiVersion, kind: &str) -> bool {
    (api_version.group.as_str(), api_version.version.as_str()) == (GROUP, VERSION)
        && [OVERLAY, RULE].contains(&kind)
}

/// Whether an object is of our group.
pub(crate) fn is_own_object(object: &Object) -> bool {
    object.api_version.group == GROUP
}

/// The finding about an object of our group that is in another directory of the input than the hub's.
pub(crate) fn misplaced(object: &Object, directory: &str) -> Finding {
    let (code, what) = match object.kind.as_str() {
        OVERLAY => (Code::OVERLAY_INVALID, "an overlay"),
        _ => (Code::RULE_INVALID, "a rule"),
    };
    let (kind, key) = (&object.kind, object.key());
    let message = format!("{kind} {key} is in {directory}: {what} belongs to the hub");
    Finding::new(code, object.place("/kind"), message).help("move it to a directory of `hub`")
}

/// Whether a document is a configuration.
pub fn is_config(value: &Value) -> bool {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    text("kind") == READ && !text("apiVersion").is_empty() && is_own_document(text("apiVersion"), READ)
}

/// The error about a document of our group whose kind or version is not on the list.
pub(crate) fn unknown(origin: &Origin, value: &Value) -> Option<Finding> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !is_own_document(api_version, kind) {
        return None;
    }
    let written = [OVERLAY, READ, RULE];
    let finding = |place, wrong: &str, help: String| {
        let message = format!("this version of spokewright does not know {wrong}, so nothing would read it");
        Some(Finding::new(Code::OBJECT_UNKNOWN_KIND, place, message).help(help))
    };
    let update = "update spokewright if a newer version has it, or remove the document";
    if !written.contains(&kind) && !REPORTS.contains(&kind) {
        if kind.is_empty() {
            let (place, meant) = origin.missing(value, "", "kind");
            let wrong = format!("a document of {api_version} without a kind");
            return finding(place, &wrong, meant.unwrap_or_else(|| "add `kind`".to_owned()));
        }
        // Nobody writes a report, so nobody means one.
        let help = match nearest(kind, written) {
            Some(near) => format!("did you mean `{near}`? Otherwise, {update}"),
            None => update.to_owned(),
        };
        let place = origin.place("/kind", Part::Value);
        return finding(place, &format!("the kind {kind} of {api_version}"), help);
    }
    let own = format!("{GROUP}/{VERSION}");
    if api_version.is_empty() {
        let (place, meant) = origin.missing(value, "", "apiVersion");
        let help = meant.unwrap_or_else(|| format!("add `apiVersion: {own}`"));
        return finding(place, &format!("a {kind} without `apiVersion`"), help);
    }
    let place = origin.place("/apiVersion", Part::Value);
    let help = format!("write `{own}`, or {update}");
    if api_version == own {
        return None;
    }
    finding(place, &format!("{kind} of {api_version}"), help)
}
