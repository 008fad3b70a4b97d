//! How the work agent writes: the settings of server-side apply. What their schema cannot express is checked here, so
//! that the agent does not fail over it on every cluster.
//!
//! What the agent does: docs/systems/ocm-work.md#server-side-apply.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::check::Check;
use crate::api::feedback_path::FeedbackPath;
use crate::api::schema::List;
use apimachinery::pointer;

/// How the work agent writes manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum UpdateStrategy {
    /// OCM's default.
    #[default]
    Update,
    /// Server-side apply.
    ServerSideApply,
}

/// The fields that identify an object: without one of these there is nothing to apply.
const IDENTITY: [&[&str]; 5] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
];

/// When the agent leaves fields out of what it applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum IgnoreCondition {
    /// Whenever the object already exists.
    #[default]
    OnSpokePresent,
    /// Unless another part of the manifest changes.
    OnSpokeChange,
}

/// How server-side apply settles conflicts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServerSideApply {
    /// Take over fields of other managers; without it, one such field keeps the whole object from being applied.
    pub force: bool,
    /// Fields that may differ on the spokes, each condition once.
    pub ignore_fields: List<IgnoreFields>,
}

impl Default for ServerSideApply {
    /// The hub's word counts, as it does with the strategy Update (docs/systems/ocm-work.md#server-side-apply).
    fn default() -> Self {
        Self {
            force: true,
            ignore_fields: List::default(),
        }
    }
}

/// Fields that may differ on the spokes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IgnoreFields {
    /// When they are left out.
    pub condition: IgnoreCondition,
    /// Fields of mappings, as a path that ends with the field's name: .spec.replicas
    json_paths: List<String>,
    /// Fields as JSON pointers, such as /spec/replicas; from OCM 1.3 on.
    json_pointers: List<String>,
    /// Fields as jq paths; from OCM 1.3 on.
    jq_path_expressions: List<String>,
}

/// The check of one way to name a field.
type Way = fn(&str) -> Result<(), Wrong>;

impl IgnoreFields {
    /// The fields, by OCM's name for each way to name them.
    fn ways(&self) -> [(&'static str, &List<String>, Way); 3] {
        [
            ("jsonPaths", &self.json_paths, path),
            ("jsonPointers", &self.json_pointers, json_pointer),
            ("jqPathExpressions", &self.jq_path_expressions, jq),
        ]
    }

    /// The fields that are named, by OCM's name for each way to name them.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Vec<&str>)> {
        let ways = self.ways().into_iter();
        let named =
            ways.map(|(way, fields, _)| (way, fields.items().map(|(_, field)| field.as_str()).collect()));
        named.filter(|(_, fields): &(_, Vec<_>)| !fields.is_empty())
    }
}

impl Check<'_> {
    pub(super) fn server_side_apply(&mut self, strategy: UpdateStrategy, apply: Option<&ServerSideApply>) {
        let is_given = apply.is_some() || self.refuses("/serverSideApply");
        if is_given && strategy == UpdateStrategy::Update {
            let message =
                "serverSideApply works only with the update strategy ServerSideApply, but this one is Update";
            let help = "add `updateStrategy: ServerSideApply`, or remove `serverSideApply`";
            return self.invalid("/serverSideApply", message, help);
        }
        let mut conditions = BTreeSet::new();
        let ignored = apply.into_iter();
        for (index, entry) in ignored.flat_map(|apply| apply.ignore_fields.items()) {
            let at = format!("/serverSideApply/ignoreFields/{index}");
            let condition = entry.condition;
            if self.refuses(&format!("{at}/condition")) {
                continue;
            }
            if !conditions.insert(condition) {
                let message = format!(
                    "two entries have the condition {condition:?}, but OCM accepts each condition only once"
                );
                self.invalid(&at, message, "merge the two entries");
                continue;
            }
            for (way, fields, check) in entry.ways() {
                for (index, text) in fields.items() {
                    if let Err((message, help)) = check(text) {
                        let message = format!("{way}: {text:?}: {message}");
                        self.invalid(&format!("{at}/{way}/{index}"), message, help);
                    }
                }
            }
            if entry.fields().next().is_none() && !self.refuses(&at) {
                let message = "no field is named, so no field is ignored";
                let help =
                    "add `jsonPaths: [.spec.FIELD]` or `jsonPointers: [/spec/FIELD]`, or remove the entry";
                self.invalid(&at, message, help);
            }
        }
    }
}

/// Why a field cannot be ignored, and what to write.
type Wrong = (String, String);

fn identity() -> Wrong {
    let help = "name a field below `spec`, or a label or annotation";
    ("without it, there is no object to apply".into(), help.into())
}

/// The agent cuts a path at its last dot, looks for what is before, and takes the field behind away from mappings; what
/// does not fit is passed over without a word.
fn path(text: &str) -> Result<(), Wrong> {
    let Some((parent, field)) = text.rsplit_once('.') else {
        return Err(("a path must begin with a dot".into(), format!("write `.{text}`")));
    };
    if parent.is_empty() {
        return Err(if IDENTITY.contains(&[field].as_slice()) {
            identity()
        } else {
            (
                "the agent finds no field at the root of the object".into(),
                format!(
                    "write it as one of `jsonPointers`: `{}`",
                    pointer::child("", field)
                ),
            )
        });
    }
    let is_plain = !field.is_empty()
        && field
            .chars()
            .all(|character| character.is_alphanumeric() || matches!(character, '_' | '-'));
    if !is_plain || parent.ends_with('\\') {
        return Err((
            "the agent uses the text after the last dot as the name of a field".into(),
            "end it with `.NAME`, or write it as one of `jsonPointers`, where `/` in a key is `~1`".into(),
        ));
    }
    FeedbackPath::parse(parent).map_err(|error| (error.to_string(), error.help()))?;
    let keys: Vec<&str> = text.split('.').skip(1).collect();
    if IDENTITY.contains(&keys.as_slice()) {
        return Err(identity());
    }
    Ok(())
}

fn json_pointer(text: &str) -> Result<(), Wrong> {
    if text.is_empty() {
        return Err(identity());
    }
    if !text.starts_with('/') {
        return Err((
            "a JSON pointer must begin with a slash".into(),
            format!("write `/{}`", text.trim_start_matches('.').replace('.', "/")),
        ));
    }
    let mut after = text.split('~').skip(1);
    if after.any(|rest| !rest.starts_with(['0', '1'])) {
        return Err((
            "in a JSON pointer, `~` must be followed by 0 or 1".into(),
            "write `~0` for `~`, and `~1` for `/`".into(),
        ));
    }
    let keys: Vec<_> = pointer::tokens(text).collect();
    if IDENTITY.iter().any(|identity| keys == **identity) {
        return Err(identity());
    }
    Ok(())
}

/// The agent alone knows its dialect of jq.
fn jq(text: &str) -> Result<(), Wrong> {
    if text.trim().is_empty() {
        return Err((
            "the expression is empty".into(),
            "write a path such as `.spec.replicas`".into(),
        ));
    }
    Ok(())
}
