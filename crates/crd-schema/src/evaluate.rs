//! Running the CEL rules of all levels along a value.
//!
//! Owns: the walk, and how a value becomes one of CEL: by its schema, which knows times, durations, bytes and maps. Flows
//! in: a compiled schema, a completed value that is structurally right. Flows out: violations, each at its exact place, in
//! the order of the fields. Must not know: what a rule says.
//!
//! Source: kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/common/values.go@v1.34.1.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::parser::{Expression, Parser};
use kube_cel::cel::{Context, Value as Cel};
use serde_json::Value;

use crate::format::Format;
use crate::node::{Additional, Node, Type};
use crate::rules::{Level, root_context};
use crate::violation::{Path, Violation};

/// Words of CEL that no field can be selected by.
const RESERVED: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

thread_local! {
    /// Every function of the environment: as dear to make as a rule is to compile.
    static ROOT: Context<'static> = root_context();
}

/// Runs every rule at and below `node`.
pub(crate) fn check_rules(node: &Node, value: &Value, violations: &mut Vec<Violation>) {
    if node.rules_below {
        ROOT.with(|root| walk(node, value, &Path::Root, root, violations));
    }
}

fn walk(node: &Node, value: &Value, path: &Path<'_>, root: &Context<'_>, violations: &mut Vec<Violation>) {
    if !node.rules_below || value.is_null() {
        return;
    }
    if !node.rules.is_empty() {
        let level = Level {
            path,
            kind: node.kind.map_or("", Type::name),
            names_properties: !matches!(node.additional, Additional::Schema(_)),
        };
        let cel = to_cel(Some(node), value, root);
        node.rules.run(&level, value, cel, root, violations);
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Some(child) = node.child(name) {
                    let here = Path::member(path, name, node.properties.contains_key(name));
                    walk(child, field, &here, root, violations);
                }
            }
        }
        Value::Array(items) => {
            if let Some(child) = node.items.as_deref() {
                for (index, item) in items.iter().enumerate() {
                    walk(child, item, &Path::Index(path, index), root, violations);
                }
            }
        }
        _ => {}
    }
}

fn to_cel(node: Option<&Node>, value: &Value, root: &Context<'_>) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| Cel::Float(number.as_f64().unwrap_or(f64::NAN)), Cel::Int),
        Value::String(text) => node
            .filter(|node| !node.int_or_string)
            .and_then(|node| typed(node.format?, text, root))
            .unwrap_or_else(|| string(text)),
        Value::Array(items) => {
            let item = node.and_then(|node| node.items.as_deref());
            Cel::List(Arc::new(
                items.iter().map(|value| to_cel(item, value, root)).collect(),
            ))
        }
        Value::Object(fields) => {
            let is_map = node.is_some_and(|node| !matches!(node.additional, Additional::Unknown));
            let mut map: HashMap<Key, Cel> = fields
                .iter()
                .map(|(name, value)| {
                    let child = node.and_then(|node| node.child(name));
                    // Keys of maps are data: they must not be escaped like field names.
                    let name = if is_map { name.clone() } else { escaped(name) };
                    (Key::String(Arc::new(name)), to_cel(child, value, root))
                })
                .collect();
            if node.is_some_and(|node| node.embedded) {
                let implied = [
                    ("apiVersion", string("")),
                    ("kind", string("")),
                    ("metadata", Cel::Map(Map { map: Arc::default() })),
                ];
                for (name, zero) in implied {
                    map.entry(Key::String(Arc::new(name.to_owned()))).or_insert(zero);
                }
            }
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}

fn string(text: &str) -> Cel {
    Cel::String(Arc::new(text.to_owned()))
}

/// A text whose format has a type of its own in CEL; `None` for other formats, and where it is none of that format.
fn typed(format: Format, text: &str, root: &Context<'_>) -> Option<Cel> {
    static TIMESTAMP: LazyLock<Option<Expression>> = LazyLock::new(|| parsed("timestamp(text)"));
    static DURATION: LazyLock<Option<Expression>> = LazyLock::new(|| parsed("duration(text)"));
    static BYTES: LazyLock<Option<Expression>> = LazyLock::new(|| parsed("base64.decode(text)"));
    let conversion = match format {
        Format::DateTime => &TIMESTAMP,
        Format::Duration => &DURATION,
        Format::Byte => &BYTES,
        _ => return None,
    };
    let mut context = root.new_inner_scope();
    context.add_variable_from_value("text", string(text));
    Cel::resolve(conversion.as_ref()?, &context).ok()
}

fn parsed(text: &str) -> Option<Expression> {
    Parser::new().parse(text).ok()
}

/// A field's name as an identifier of CEL. One underscore stands for itself:
/// kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/escaping.go@v1.34.1.
fn escaped(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}
