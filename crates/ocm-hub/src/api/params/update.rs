//! How the work agent writes: `updateStrategy`, and the settings of server-side apply.
//!
//! Owns: the checks of `serverSideApply` that its schema cannot express, so that the agent does not fail over it on
//! every cluster. Flows in: the text of the parameters. Flows out: an [`UpdateStrategy`], faults. Must not know: works.
//!
//! What the agent does: docs/systems/ocm-work.md#server-side-apply.

use std::collections::BTreeSet;

use kube_json::Value;

use super::check::Check;
use super::values::{
    DEFAULT_FORCE, IgnoreCondition, IgnoreFields, ServerSideApply, UpdateStrategy, UpdateType, parse,
};
use crate::api::feedback_path::FeedbackPath;
use apimachinery::{Field, pointer};

/// The fields that identify an object: without one of these there is nothing to apply.
const IDENTITY: [&[&str]; 5] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
];

/// The check of one way to name a field.
type Way = fn(&str) -> Result<(), Wrong>;

impl Check<'_> {
    pub(super) fn update_strategy(&mut self, value: &Value) -> UpdateStrategy {
        let kind = value.get("updateStrategy").and_then(parse).unwrap_or_default();
        let options = Field::new(value).get("serverSideApply");
        match kind {
            UpdateType::Update => {
                if options.is_present() {
                    let help = "add `updateStrategy: ServerSideApply`, or remove `serverSideApply`";
                    self.invalid(
                        &options.pointer(),
                        "serverSideApply works only with the update strategy ServerSideApply, but this one is Update",
                        Some(help.to_owned()),
                    );
                }
                UpdateStrategy::Update
            }
            UpdateType::ServerSideApply => {
                let force = options.get("force").value().and_then(Value::as_bool);
                UpdateStrategy::ServerSideApply(ServerSideApply {
                    force: force.unwrap_or(DEFAULT_FORCE),
                    ignore_fields: self.ignore_fields(&options.get("ignoreFields")),
                })
            }
        }
    }

    fn ignore_fields(&mut self, entries: &Field<'_>) -> Vec<IgnoreFields> {
        let mut conditions = BTreeSet::new();
        let mut all = Vec::new();
        for entry in entries.items() {
            let condition = match entry.get("condition").value().map(parse) {
                None => IgnoreCondition::default(),
                Some(Some(condition)) => condition,
                // The schema has said so.
                Some(None) => continue,
            };
            if !conditions.insert(condition) {
                let message = format!(
                    "two entries have the condition {condition:?}, but OCM accepts each condition only once"
                );
                self.invalid(
                    &entry.pointer(),
                    message,
                    Some("merge the two entries".to_owned()),
                );
                continue;
            }
            let ways: [(&'static str, Way); 3] = [
                ("jsonPaths", path),
                ("jsonPointers", json_pointer),
                ("jqPathExpressions", jq),
            ];
            let mut fields = Vec::new();
            for (way, check) in ways {
                let mut named = Vec::new();
                for field in entry.get(way).items() {
                    let Some(text) = field.str() else { continue };
                    match check(text) {
                        Ok(()) => named.push(text.to_owned()),
                        Err(Wrong { message, help }) => {
                            let message = format!("{way}: {text:?}: {message}");
                            self.invalid(&field.pointer(), message, Some(help));
                        }
                    }
                }
                if entry.get(way).items().next().is_some() {
                    fields.push((way, named));
                }
            }
            if fields.is_empty() {
                let message = "no field is named, so no field is ignored";
                let help =
                    "add `jsonPaths: [.spec.FIELD]` or `jsonPointers: [/spec/FIELD]`, or remove the entry";
                self.invalid(&entry.pointer(), message, Some(help.to_owned()));
            }
            all.push(IgnoreFields { condition, fields });
        }
        all
    }
}

/// Why a field cannot be ignored.
struct Wrong {
    message: String,
    help: String,
}

impl Wrong {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }

    fn identity() -> Self {
        Self::new(
            "without it, there is no object to apply",
            "name a field below `spec`, or a label or annotation",
        )
    }
}

/// The agent cuts a path at its last dot, looks for what is before, and takes the field behind away from mappings; what
/// does not fit is passed over without a word.
fn path(text: &str) -> Result<(), Wrong> {
    let Some((parent, field)) = text.rsplit_once('.') else {
        return Err(Wrong::new(
            "a path must begin with a dot",
            format!("write `.{text}`"),
        ));
    };
    if parent.is_empty() {
        return Err(if IDENTITY.contains(&[field].as_slice()) {
            Wrong::identity()
        } else {
            Wrong::new(
                "the agent finds no field at the root of the object",
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
        return Err(Wrong::new(
            "the agent uses the text after the last dot as the name of a field",
            "end it with `.NAME`, or write it as one of `jsonPointers`, where `/` in a key is `~1`",
        ));
    }
    FeedbackPath::parse(parent).map_err(|error| Wrong::new(error.to_string(), error.help()))?;
    let keys: Vec<&str> = text.split('.').skip(1).collect();
    if IDENTITY.contains(&keys.as_slice()) {
        return Err(Wrong::identity());
    }
    Ok(())
}

fn json_pointer(text: &str) -> Result<(), Wrong> {
    if text.is_empty() {
        return Err(Wrong::identity());
    }
    if !text.starts_with('/') {
        return Err(Wrong::new(
            "a JSON pointer must begin with a slash",
            format!("write `/{}`", text.trim_start_matches('.').replace('.', "/")),
        ));
    }
    let mut after = text.split('~').skip(1);
    if after.any(|rest| !rest.starts_with(['0', '1'])) {
        return Err(Wrong::new(
            "in a JSON pointer, `~` must be followed by 0 or 1",
            "write `~0` for `~`, and `~1` for `/`",
        ));
    }
    let keys: Vec<_> = pointer::tokens(text).collect();
    if IDENTITY.iter().any(|identity| keys == **identity) {
        return Err(Wrong::identity());
    }
    Ok(())
}

/// The agent alone knows its dialect of jq.
fn jq(text: &str) -> Result<(), Wrong> {
    if text.trim().is_empty() {
        return Err(Wrong::new(
            "the expression is empty",
            "write a path such as `.spec.replicas`",
        ));
    }
    Ok(())
}
