//! The difference of two values: the fields that differ, each as one printable line, and as hunks of canonical YAML.

use std::collections::BTreeSet;

use apimachinery::field_path::{item, member, push_field};
use indexmap::IndexMap;
use kube_json::{Text, Value};
use schemars::JsonSchema;
use serde::Serialize;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff, capture_diff_slices};

use crate::diagnostic::{not_a_command, one_line};

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FieldChange {
    /// Such as `spec.listeners[name=api].port`; `""` for the whole value.
    pub path: String,
    /// Absent if it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// Absent if it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

/// What may tell the entries of a list apart, the first that does wins: fields of Gateway API, OCM works,
/// Kuadrant policies and Kubernetes lists.
const IDENTITIES: [&[&str]; 10] = [
    &["name"],
    &["namespace", "name"],
    &["kind", "name"],
    &["kind", "namespace", "name"],
    &["name", "sectionName"],
    &["name", "port"],
    &["resourceIdentifier"],
    &["type"],
    &["key"],
    &["id"],
];

/// The fields that differ, in the order of the paths' keys, old before new.
pub(crate) fn field_changes(old: &Value, new: &Value) -> Vec<FieldChange> {
    field_changes_at("", Some(old), Some(new))
}

/// The same of what is at a path, on either side or on both.
pub(super) fn field_changes_at(path: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare(path, old, new, &mut changes);
    changes
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<FieldChange>) {
    match (old, new) {
        _ if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys: BTreeSet<&Text> = old.keys().chain(new.keys()).collect();
            for key in keys {
                compare(&member(path, key), old.get(key), new.get(key), changes);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => compare_lists(path, old, new, changes),
        _ => changes.push(FieldChange {
            path: path.to_owned(),
            old: old.cloned(),
            new: new.cloned(),
        }),
    }
}

fn compare_lists(path: &str, old: &[Value], new: &[Value], changes: &mut Vec<FieldChange>) {
    if let Some((before, after)) = paired(old, new) {
        compare_entries(path, &before, &after, changes);
        return;
    }
    // As texts: comparing entries must not cost a walk over both values each time.
    let [from, to] = [old, new].map(|items| items.iter().map(Value::to_string).collect::<Vec<_>>());
    for operation in capture_diff_slices(Algorithm::Myers, &from, &to) {
        if operation.tag() == DiffTag::Equal {
            continue;
        }
        let (before, after) = (operation.old_range(), operation.new_range());
        // What only goes is called by its position in the old list.
        let start = if after.is_empty() {
            before.start
        } else {
            after.start
        };
        let mut before = old.get(before).into_iter().flatten();
        let mut after = new.get(after).into_iter().flatten();
        for index in start.. {
            let at = item(path, index);
            match (before.next(), after.next()) {
                (None, None) => break,
                (old, new) => compare(&at, old, new, changes),
            }
        }
    }
}

/// The entries of a list by what tells them apart, in their order.
type Entries<'a> = IndexMap<String, &'a Value>;

/// The entries of two lists by what tells those of both apart; `None` if nothing does.
pub(super) fn paired<'o, 'n>(old: &'o [Value], new: &'n [Value]) -> Option<(Entries<'o>, Entries<'n>)> {
    let mut identities = IDENTITIES.iter();
    identities.find_map(|identity| Some((by_identity(old, identity)?, by_identity(new, identity)?)))
}

/// The entries by what tells them apart, in their order; `None` when `identity` does not.
fn by_identity<'a>(items: &'a [Value], identity: &[&str]) -> Option<Entries<'a>> {
    let mut entries = IndexMap::with_capacity(items.len());
    for item in items {
        let mut label = String::new();
        for field in identity {
            let value = item.as_object()?.get(field)?;
            match value {
                Value::String(text) => push_field(&mut label, field, text),
                Value::Number(_) => push_field(&mut label, field, &value.to_string()),
                // The only field of its identity.
                Value::Object(_) if *field == "resourceIdentifier" => {
                    let part = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
                    label = format!("{} {}/{}", part("resource"), part("namespace"), part("name"));
                }
                _ => return None,
            }
        }
        if entries.insert(label, item).is_some() {
            return None;
        }
    }
    Some(entries)
}

fn compare_entries(path: &str, old: &Entries<'_>, new: &Entries<'_>, changes: &mut Vec<FieldChange>) {
    let added = new.keys().filter(|label| !old.contains_key(*label));
    for label in old.keys().chain(added) {
        let [before, after] = [old, new].map(|entries| entries.get(label).copied());
        compare(&format!("{path}[{label}]"), before, after, changes);
    }
    // Order means something in Kubernetes lists: rules match in it.
    let [before, after] = [(old, new), (new, old)].map(|(these, others)| -> Value {
        let both = these.keys().filter(|label| others.contains_key(*label));
        both.map(|label| Value::from(label.as_str())).collect()
    });
    if before != after {
        changes.push(FieldChange {
            path: format!("{path}[order]"),
            old: Some(before),
            new: Some(after),
        });
    }
}

/// Where two texts are the same for more characters, only the nearest are shown.
const LONG: usize = 60;

/// So many of them.
const AROUND: usize = 20;

/// `path: old -> new`, `path: added value`, `path: removed value`.
pub(crate) fn field_line(field: &FieldChange) -> String {
    let path = Some(&*field.path).filter(|path| !path.is_empty());
    let path = one_line(path.unwrap_or("the whole"), usize::MAX);
    match (&field.old, &field.new) {
        (Some(Value::String(old)), Some(Value::String(new))) => {
            let (old, new) = from_the_difference(old, new);
            format!("{path}: {} -> {}", show(&old), show(&new))
        }
        (Some(old), Some(new)) => format!("{path}: {} -> {}", show(old), show(new)),
        (None, Some(new)) => format!("{path}: added {}", show(new)),
        (Some(old), None) => format!("{path}: removed {}", show(old)),
        (None, None) => path,
    }
}

/// Two texts from where they begin to differ to where they end to. All between is shown: a reader who sees one difference
/// does not look for another behind a cut.
fn from_the_difference(old: &str, new: &str) -> (Value, Value) {
    let lead = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let rest = old.chars().count().min(new.chars().count()).saturating_sub(lead);
    let tail = old.chars().rev().zip(new.chars().rev());
    let tail = tail.take(rest).take_while(|(a, b)| a == b).count();
    // As much of what is the same as tells where it is.
    let cut_off = |same: usize| same.saturating_sub(if same < LONG { same } else { AROUND });
    let (lead, tail) = (cut_off(lead), cut_off(tail));
    let cut = |text: &str| {
        let dots = |cut: usize| if cut > 0 { "..." } else { "" };
        let shown = text.chars().count().saturating_sub(lead).saturating_sub(tail);
        let shown: String = text.chars().skip(lead).take(shown).collect();
        Value::from([dots(lead), &shown, dots(tail)].concat())
    };
    (cut(old), cut(new))
}

/// A value on one line: scalars as YAML has them, anything else as JSON.
fn show(value: &Value) -> String {
    let text = match value {
        Value::String(text) => kube_yaml::scalar(text).into_owned(),
        other => spaced(other),
    };
    one_line(&text, usize::MAX)
}

/// JSON with blanks where a line may be broken.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(spaced).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| format!("{}: {}", Value::from(&**name), spaced(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// Lines around a change.
const CONTEXT: usize = 3;

/// The lines that differ, with their surroundings, each with its mark and without its line end: `@` before a header, `-`
/// before an old line, `+` before a new one, and a blank before one of both. Nothing in them can steer a terminal. An
/// object that is missing on one side is wholly added or removed.
pub(super) fn hunks(sides: [Option<&Value>; 2]) -> Vec<String> {
    let [old, new] = sides.map(|value| value.map(kube_yaml::write_document).unwrap_or_default());
    let difference = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .diff_lines(&old, &new);
    let mut lines = Vec::new();
    let mut unified = difference.unified_diff();
    for hunk in unified.context_radius(CONTEXT).iter_hunks() {
        lines.push(hunk.header().to_string());
        for change in hunk.iter_changes() {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let text = one_line(change.value(), usize::MAX);
            lines.push(not_a_command(format!("{mark}{text}")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use apimachinery::{FieldPath, pointer};
    use kube_json::json;
    use proptest::prelude::*;

    use super::*;

    fn lines(old: &Value, new: &Value) -> Vec<String> {
        field_changes(old, new)
            .into_iter()
            .map(|change| {
                let show =
                    |value: Option<Value>| value.map_or("nothing".to_owned(), |value| value.to_string());
                format!("{}: {} -> {}", change.path, show(change.old), show(change.new))
            })
            .collect()
    }

    #[test]
    fn an_entry_is_called_by_its_identity_and_not_by_its_position() {
        let old = json!({"spec": {"listeners": [{"name": "web", "port": 80}, {"name": "api", "port": 443}]}});
        let new = json!({"spec": {"listeners": [{"name": "new"}, {"name": "web", "port": 80}, {"name": "api", "port": 8443}]}});
        assert_eq!(
            lines(&old, &new),
            [
                "spec.listeners[name=api].port: 443 -> 8443",
                "spec.listeners[name=new]: nothing -> {\"name\":\"new\"}"
            ]
        );
    }

    #[test]
    fn entries_that_only_change_places_are_a_change_of_order() {
        let old = json!({"rules": [{"name": "a"}, {"name": "b"}]});
        let new = json!({"rules": [{"name": "b"}, {"name": "a"}]});
        assert_eq!(
            lines(&old, &new),
            ["rules[order]: [\"name=a\",\"name=b\"] -> [\"name=b\",\"name=a\"]"]
        );
    }

    #[test]
    fn plain_lists_show_what_came_and_went() {
        assert_eq!(
            lines(
                &json!({"hostnames": ["a", "b", "c"]}),
                &json!({"hostnames": ["a", "c", "d"]})
            ),
            ["hostnames[1]: \"b\" -> nothing", "hostnames[2]: nothing -> \"d\""]
        );
    }

    #[test]
    fn a_key_that_would_be_misread_is_quoted() {
        assert_eq!(
            lines(
                &json!({"metadata": {"annotations": {"a.b/c": "1"}}}),
                &json!({"metadata": {"annotations": {"a.b/c": "2"}}})
            ),
            ["metadata.annotations[\"a.b/c\"]: \"1\" -> \"2\""]
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0_i64..4).prop_map(Value::from),
            "[ab]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map(prop_oneof![Just("name".to_owned()), "[ab]"], inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// The pointers of everything that is neither a list nor a mapping.
    fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => members
                .iter()
                .for_each(|(name, below)| leaves(below, &pointer::child(pointer, name), found)),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(position, below)| leaves(below, &format!("{pointer}/{position}"), found)),
            _ => found.push(pointer.to_owned()),
        }
    }

    /// Whether the path of a change leads to its field in the old value. An order is no field, and an entry that is added
    /// is in the new value only.
    fn is_found(change: &FieldChange, old: &Value) -> bool {
        if change.path.is_empty() || change.path.ends_with("[order]") {
            return true;
        }
        let path = FieldPath::parse(&change.path).expect("a path");
        if change.old.is_none() && path.is_entry() {
            return true;
        }
        let pointer = path.resolve(old, true);
        pointer.is_ok_and(|pointer| old.pointer(&pointer) == change.old.as_ref())
    }

    proptest! {
        #[test]
        fn the_path_of_a_change_leads_to_its_field_in_the_old_value(old in value(), new in value()) {
            // Positions are those of the new value.
            let has_position = |path: &str| path.split('[').skip(1).any(|step| step.starts_with(|first: char| first.is_ascii_digit()));
            for change in field_changes(&old, &new) {
                prop_assert!(has_position(&change.path) || is_found(&change, &old), "{:?}", change);
            }
        }

        #[test]
        fn the_path_of_a_single_change_leads_to_its_field(old in value(), which in any::<prop::sample::Index>(), leaf in "[ab]{0,2}") {
            let mut pointers = Vec::new();
            leaves(&old, "", &mut pointers);
            prop_assume!(!pointers.is_empty());
            let mut new = old.clone();
            *new.pointer_mut(&pointers[which.index(pointers.len())]).unwrap() = leaf.into();
            for change in field_changes(&old, &new) {
                prop_assert!(is_found(&change, &old), "{:?}", change);
            }
        }

        #[test]
        fn there_is_a_change_exactly_where_values_differ(old in value(), new in value()) {
            prop_assert_eq!(field_changes(&old, &new).is_empty(), old == new);
        }

        #[test]
        fn every_change_has_two_different_values(old in value(), new in value()) {
            for change in field_changes(&old, &new) {
                prop_assert!(change.old != change.new, "{:?}", change);
            }
        }
    }

    fn line(old: &str, new: &str) -> String {
        field_line(&FieldChange {
            path: "data.params".to_owned(),
            old: Some(Value::from(old)),
            new: Some(Value::from(new)),
        })
    }

    #[test]
    fn long_texts_are_shown_from_where_they_differ_to_where_they_last_do() {
        let same = "x".repeat(500);
        let line = line(&format!("{same}old{same}"), &format!("{same}new{same}"));
        assert!(line.contains("xoldx") && line.contains("xnewx"), "{line}");
        assert!(line.len() < 180, "{line}");
    }

    #[test]
    fn no_difference_is_behind_a_cut_however_far_it_is_from_the_first_one() {
        let same = "x".repeat(500);
        let text = |first: &str, last: &str| format!("{same}{first}{same}{last}{same}");
        let line = line(&text("old", "deny"), &text("new", "allow"));
        assert!(line.contains("xdenyx") && line.contains("xallowx"), "{line}");
        let whole = |side: fn(Value) -> (Option<Value>, Option<Value>)| {
            let (old, new) = side(kube_json::json!({"a": vec!["x"; 500], "z": "allow"}));
            field_line(&FieldChange {
                path: "a".to_owned(),
                old,
                new,
            })
        };
        assert!(whole(|value| (None, Some(value))).contains("allow"));
        assert!(whole(|value| (Some(value), None)).contains("allow"));
        assert!(whole(|value| (Some(Value::from(1)), Some(value))).contains("allow"));
    }
}
