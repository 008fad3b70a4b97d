//! Updates that an API server refuses of kinds whose CRDs are not in the input, and of kinds that have none.
//!
//! Owns: those rules, in `updates.json`, as rules of a schema. Flows in: a kind. Flows out: schemas. Must not know: any
//! object.
//!
//! Facts: docs/systems/kubernetes.md#updates, and the CRDs of the catalog's releases. What depends on values that only a
//! cluster knows is left out.

use std::sync::LazyLock;

use apimachinery::Work;
use crd_schema::{Schema, Violation, ViolationKind};
use kube_json::{Value, json};
use serde::Deserialize;

use crate::diagnostic::{Hidden, broken};

/// So many characters of a value are shown.
const MOST_SHOWN: usize = 80;

const TEXT: &str = include_str!("updates.json");

static RULES: LazyLock<Vec<(Rule, Schema)>> = LazyLock::new(|| {
    let rules: Vec<Rule> =
        serde_json::from_str(TEXT).unwrap_or_else(|error| broken(format_args!("updates.json: {error}")));
    let with_schema = |rule: Rule| {
        let keywords = json!({"rule": rule.rule, "message": rule.message, "fieldPath": rule.field_path});
        let (schema, _) = Schema::of_value(&json!({
            "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [keywords],
        }));
        (rule, schema)
    };
    rules.into_iter().map(with_schema).collect()
});

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    group: &'static str,
    kinds: Vec<&'static str>,
    /// Whether it is for server-side apply only. With the strategy Update, the agent does not send such a field, or makes
    /// the object anew (docs/systems/ocm-work.md#the-work-agent).
    #[serde(default)]
    server_side: bool,
    rule: &'static str,
    message: &'static str,
    field_path: &'static str,
}

/// The schemas whose rules decide about updates of a kind, by server-side apply or not.
pub(crate) fn rules(group: &str, kind: &str, server_side: bool) -> impl Iterator<Item = &'static Schema> {
    let is_its = move |rule: &Rule| {
        rule.group == group && rule.kinds.contains(&kind) && (server_side || !rule.server_side)
    };
    RULES
        .iter()
        .filter(move |(rule, _)| is_its(rule))
        .map(|(_, schema)| schema)
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
pub(crate) fn refusals(schema: &Schema, old: &Value, new: &Value, work: &Work) -> Vec<Refusal> {
    let violations = schema.transitions(old, new, work);
    let mut hidden = Hidden::default();
    let shown = [old, new].map(|value| hidden.conceal(value, true));
    let refusal = |violation: Violation| Refusal {
        message: violation.to_string(),
        changes: changes(&violation, &shown),
        pointer: violation.pointer,
    };
    violations.into_iter().map(refusal).collect()
}

/// What changes in the value that a rule is about; of a mapping, the fields that the rule names.
fn changes(violation: &Violation, [old, new]: &[Value; 2]) -> Vec<String> {
    let old = violation.old.as_ref().and_then(|pointer| old.pointer(pointer));
    let new = new.pointer(&violation.pointer);
    let change = |field: &str, old: Option<&Value>, new: Option<&Value>| {
        let [old, new] = [old, new].map(|value| value.map_or_else(|| "nothing".to_owned(), shown));
        format!("{field}: {old} -> {new}")
    };
    let (Some(Value::Object(before)), Some(Value::Object(after))) = (old, new) else {
        return vec![change(&violation.field, old, new)];
    };
    let mut fields: Vec<&str> = before
        .keys()
        .chain(after.keys())
        .map(|name| name.as_str())
        .collect();
    fields.sort_unstable();
    fields.dedup();
    fields.retain(|name| before.get(name) != after.get(name));
    if let ViolationKind::Rule { rule } = &violation.kind {
        let named = |name: &&&str| rule.contains(**name);
        let named: Vec<&str> = fields.iter().filter(named).copied().collect();
        fields = if named.is_empty() { fields } else { named };
    }
    fields
        .into_iter()
        .map(|name| {
            change(
                &format!("{}.{name}", violation.field),
                before.get(name),
                after.get(name),
            )
        })
        .collect()
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MOST_SHOWN) {
        None => text,
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}
