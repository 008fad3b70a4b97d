//! Updates that an API server refuses of kinds whose CRDs are not in the input, and of kinds that have none. The rules
//! are in `updates.json`, as rules of a schema.
//!
//! Facts: docs/systems/kubernetes.md#updates, and the CRDs of the catalog's releases. What depends on values that only a
//! cluster knows is left out.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use apimachinery::Work;
use crd_schema::{Schema, Violation, ViolationKind};
use kube_json::{Text, Value};
use serde::Deserialize;

use crate::diagnostic::{broken, holds_secret};

/// So many fields of a mapping are shown.
const MOST_FIELDS: usize = 10;
/// So many characters of a value are shown.
const MOST_SHOWN: usize = 80;

const TEXT: &str = include_str!("updates.json");

static RULES: LazyLock<Vec<(Schema, Rules)>> = LazyLock::new(|| {
    let rules: Vec<Rules> =
        serde_json::from_str(TEXT).unwrap_or_else(|error| broken(format_args!("updates.json: {error}")));
    let compiled = |rules: Rules| (Schema::from_value(&rules.schema).0, rules);
    rules.into_iter().map(compiled).collect()
});

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rules {
    group: &'static str,
    kinds: Vec<&'static str>,
    /// Whether they are for server-side apply only. With the strategy Update, the agent does not send such a field, or
    /// makes the object anew (docs/systems/ocm-work.md#the-work-agent).
    #[serde(default)]
    server_side: bool,
    schema: Value,
}

/// The schemas whose rules decide about updates of a kind, by server-side apply or not.
pub(crate) fn rules(group: &str, kind: &str, server_side: bool) -> impl Iterator<Item = &'static Schema> {
    let decides = move |(_, rules): &&(_, Rules)| {
        rules.group == group && rules.kinds.contains(&kind) && (server_side || !rules.server_side)
    };
    RULES.iter().filter(decides).map(|(schema, _)| schema)
}

/// A rule that refuses an update.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// Where the value that it is about is in the new object.
    pub pointer: String,
    /// The API server's message.
    pub message: String,
    /// What changes there, as `field: old -> new`. No value of a Secret is in it.
    pub changes: Vec<String>,
}

/// The rules of `schema` that refuse an update.
pub fn refusals(schema: &Schema, old: &Value, new: &Value, work: &Work) -> Vec<Refusal> {
    let is_shown = !holds_secret(old) && !holds_secret(new);
    let refusal = |violation: Violation| Refusal {
        message: violation.to_string(),
        changes: if is_shown {
            changes(&violation, new)
        } else {
            Vec::new()
        },
        pointer: violation.pointer,
    };
    let violations = schema.transitions(old, new, work).into_iter();
    violations.map(refusal).collect()
}

/// What changes in the value that a rule is about; of a mapping, the fields that the rule names.
fn changes(violation: &Violation, new: &Value) -> Vec<String> {
    let (field, old, new) = (&violation.field, &violation.old, new.pointer(&violation.pointer));
    let (Some(Value::Object(before)), Some(Value::Object(after)), ViolationKind::Rule { rule }) =
        (old, new, &violation.kind)
    else {
        return vec![format!("{field}: {} -> {}", shown(old.as_ref()), shown(new))];
    };
    let differs = |name: &&Text| before.get(name) != after.get(name);
    let names: BTreeSet<&Text> = before.keys().chain(after.keys()).filter(differs).collect();
    let is_named = |name: &&Text| rule.contains(name.as_str());
    let any = names.iter().any(is_named);
    let names = names.into_iter().filter(|name| !any || is_named(name));
    let change = |name: &Text| [shown(before.get(name)), shown(after.get(name))].join(" -> ");
    let path = format!("{field}.");
    let changes = names.map(|name| format!("{}{name}: {}", path.trim_start_matches('.'), change(name)));
    changes.take(MOST_FIELDS).collect()
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    match text.char_indices().nth(MOST_SHOWN) {
        None => text,
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
