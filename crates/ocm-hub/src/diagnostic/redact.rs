//! Which text of the input may belong to a Secret. None of it is shown, because more people read CI logs, comments, and
//! conditions than the repository.
//!
//! One rule: an object is a Secret by its kind (or one that is an edit away), or by its `stringData`, and of it only
//! names are shown. Words in comments and texts make no Secret. A text that cannot be read is not shown if a key outside
//! its comments says Secret, or if it has no kind.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use kube_json::{Map, Value};
use strsim::osa_distance;

/// Kinds that are Secrets, as everything one edit away from them is.
const KINDS: [&str; 3] = ["secret", "secrets", "secretlist"];

/// Fields whose values are secret. No other kind has the first.
const VALUES: [&str; 3] = ["stringdata", "data", "binarydata"];

/// A generator of kustomize.
const GENERATOR: &str = "secretgenerator";

/// Fields that say what a Secret is, and what kustomize does with it.
const SHOWN: [&str; 7] = [
    "apiVersion",
    "kind",
    "type",
    "name",
    "namespace",
    "behavior",
    "immutable",
];

/// The deepest nesting of texts that is read.
const DEEPEST: usize = 4;

/// Larger documents are not read again.
const MOST_BYTES: usize = 4 << 20;

/// Names hidden values. Equal values have equal names, whatever they are compared with later.
#[derive(Debug, Clone, Default)]
pub struct Hidden(HashMap<Value, usize>);

impl Hidden {
    /// A value in which every value of a Secret is `(hidden N)`: of objects, of objects inside of them, and of texts that
    /// contain one. `is_whole`: a document of its own, which is a Secret by its kind alone; a part of one may be a reference.
    pub fn conceal(&mut self, value: &Value, is_whole: bool) -> Value {
        let mut name = |value: &Value| {
            let next = self.0.len().saturating_add(1);
            format!("(hidden {})", self.0.entry(value.clone()).or_insert(next))
        };
        concealed(value, is_whole, 0, &mut name).unwrap_or_else(|| value.clone())
    }
}

/// A part of a document, which is compared with nothing, with `(hidden)` in the place of each one of a Secret.
pub fn without_secrets(value: &Value) -> Value {
    concealed(value, false, 0, &mut |_| "(hidden)".to_owned()).unwrap_or_else(|| value.clone())
}

/// Whether some value in an object is one of a Secret.
pub fn holds_secret(value: &Value) -> bool {
    concealed(value, true, 0, &mut |_| String::new()).is_some()
}

type Hide<'h> = &'h mut dyn FnMut(&Value) -> String;

/// A value without those of Secrets, if there are any.
fn concealed(value: &Value, is_whole: bool, depth: usize, hide: Hide<'_>) -> Option<Value> {
    match value {
        Value::String(text) => concealed_text(text, depth, hide).map(Value::from),
        Value::Array(items) => {
            replaced_items(items, &mut |item| concealed(item, false, depth, hide)).map(Value::Array)
        }
        Value::Object(map) if is_secret(map, is_whole) => covered(map, hide),
        Value::Object(map) => {
            let has_values = has(map, VALUES[0]);
            replaced(map, &mut |key, value| {
                let key = key.to_ascii_lowercase();
                match value {
                    _ if has_values && VALUES.contains(&&*key) => covered_value(value, hide),
                    Value::Array(items) if key == GENERATOR => {
                        replaced_items(items, &mut |item| match item {
                            Value::Object(generator) => covered(generator, hide),
                            item => covered_value(item, hide),
                        })
                        .map(Value::Array)
                    }
                    _ if key == GENERATOR => covered_value(value, hide),
                    _ => concealed(value, false, depth, hide),
                }
            })
        }
        _ => None,
    }
}

/// A mapping with other values, if there are any.
fn replaced(map: &Map, other: &mut dyn FnMut(&str, &Value) -> Option<Value>) -> Option<Value> {
    let mut new: Option<Map> = None;
    for (key, value) in map {
        if let Some(value) = other(key, value) {
            new.get_or_insert_with(|| map.clone()).insert(key.clone(), value);
        }
    }
    new.map(Value::Object)
}

fn replaced_items(items: &[Value], other: &mut dyn FnMut(&Value) -> Option<Value>) -> Option<Vec<Value>> {
    let mut new: Option<Vec<Value>> = None;
    for (at, item) in items.iter().enumerate() {
        if let Some(item) = other(item)
            && let Some(slot) = new.get_or_insert_with(|| items.to_vec()).get_mut(at)
        {
            *slot = item;
        }
    }
    new
}

/// References name the kind, too, and have no values. Another kind with `stringData` stays what it is.
fn is_secret(map: &Map, is_whole: bool) -> bool {
    let kinds = map.iter().filter(|(key, _)| key.eq_ignore_ascii_case("kind"));
    let mut kinds = kinds.filter_map(|(_, kind)| kind.as_str()).peekable();
    let is_object = is_whole || has(map, "metadata") || (has(map, "apiversion") && !has(map, "name"));
    match kinds.peek() {
        None => is_object && has(map, VALUES[0]),
        Some(_) => (is_object || VALUES.iter().any(|key| has(map, key))) && kinds.any(is_kind),
    }
}

fn is_kind(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind.len() <= 2 * KINDS[2].len() && KINDS.iter().any(|known| osa_distance(&kind, known) <= 1)
}

fn has(map: &Map, name: &str) -> bool {
    map.keys().any(|key| key.eq_ignore_ascii_case(name))
}

/// All of a Secret but what it is and which keys it has.
fn covered(map: &Map, hide: Hide<'_>) -> Option<Value> {
    replaced(map, &mut |key, value| match value {
        Value::Object(metadata) if key == "metadata" => covered(metadata, hide),
        Value::Object(_) | Value::Array(_) => covered_value(value, hide),
        _ if SHOWN.contains(&key) => None,
        _ => covered_value(value, hide),
    })
}

fn covered_value(value: &Value, hide: Hide<'_>) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(map) => replaced(map, &mut |_, value| Some(Value::from(hide(value)))),
        value => Some(Value::from(hide(value))),
    }
}

/// A text without the documents in it that contain Secrets, if there are any.
fn concealed_text(text: &str, depth: usize, hide: Hide<'_>) -> Option<String> {
    if text.len() <= VALUES[0].len() || !may_hold(&text.to_ascii_lowercase()) {
        return None;
    }
    let (mut shown, mut end) = (String::new(), 0_usize);
    for chunk in kube_yaml::split(text).ok()? {
        let value = kube_yaml::read(&chunk, &limits()).ok();
        let value = value.filter(|value| value.is_object() || value.is_array());
        let found = value.is_some_and(|value| {
            depth >= DEEPEST
                || concealed(&value, false, depth.saturating_add(1), &mut |_| String::new()).is_some()
        });
        if found {
            shown.push_str(text.get(end..chunk.offset)?);
            shown.push_str(&hide(&Value::from(chunk.text.trim())));
            end = chunk.offset.saturating_add(chunk.text.trim_end().len());
        }
    }
    (end > 0).then(|| shown + text.get(end..).unwrap_or_default())
}

/// Aliases that a small text repeats without end hide nothing.
fn limits() -> kube_yaml::Limits {
    kube_yaml::Limits {
        alias_nodes: 10_000,
        ..kube_yaml::Limits::default()
    }
}

/// The text of a file, and what is known of it.
#[derive(Debug)]
pub struct Secrecy<'t> {
    text: &'t str,
    says: OnceCell<bool>,
    /// By the start of a document, whether it is covered.
    documents: RefCell<HashMap<usize, bool>>,
}

impl<'t> Secrecy<'t> {
    /// Of a whole file: where a document begins, and what another one lost, only all of it tells.
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            says: OnceCell::new(),
            documents: RefCell::default(),
        }
    }

    /// Whether the document around a byte is, contains, or may be a Secret.
    pub(crate) fn covers(&self, at: usize) -> bool {
        let (start, document) = document(self.text, at);
        if let Some(known) = self.documents.borrow().get(&start) {
            return *known;
        }
        let covered = self.covers_document(document);
        self.documents.borrow_mut().insert(start, covered);
        covered
    }

    /// The same of a document of this file, for a caller that knows where it begins and ends.
    pub fn covers_document(&self, document: &str) -> bool {
        let lower = document.to_ascii_lowercase();
        if !may_hold(&lower) && top_kind(&lower).is_some_and(|kind| !kind.ends_with("list")) {
            return false;
        }
        let values = match kube_yaml::read_all(document, &limits()) {
            Ok(values) if document.len() <= MOST_BYTES => values,
            _ => return self.may_be_secret(&code(&lower)),
        };
        let has_kind = |value: &Value| value.get("kind").is_some_and(Value::is_string);
        values.iter().any(|value| holds_secret(value) || has_lost_its_kind(value))
            // A line of a Secret that looks like a border leaves the rest without a kind.
            || ((values.is_empty() || !values.iter().all(has_kind)) && self.says_secret())
    }

    /// The same of a document that cannot be read, in lower case and without comments.
    fn may_be_secret(&self, code: &str) -> bool {
        let has_values = VALUES.iter().any(|key| entries(code, key).next().is_some())
            // A key may be written with escapes.
            || code.contains("\\u")
            || code.contains("\\x");
        let kind = top_kind(code).filter(|kind| !kind.ends_with("list"));
        if code.contains(VALUES[0]) || code.contains(GENERATOR) || kind.is_some_and(is_kind) {
            return true;
        }
        // A Gateway may also name the kind Secret, and has no values.
        let is_part = has_values || entries(code, "metadata").nth(1).is_some();
        let says = says_secret(code);
        match kind {
            Some(_) => says && is_part,
            None => says || has_values || self.says_secret(),
        }
    }

    fn says_secret(&self) -> bool {
        *self
            .says
            .get_or_init(|| says_secret(&self.text.to_ascii_lowercase()))
    }
}

/// Whether values stand where a kind is missing, which a mistake may have taken away: in a document, or in an item of a list.
fn has_lost_its_kind(value: &Value) -> bool {
    let has_values = |value: &Value| {
        let map = value.as_object();
        map.is_some_and(|map| VALUES.iter().any(|key| has(map, key)))
    };
    match value.get("kind").and_then(Value::as_str) {
        None => has_values(value),
        Some(kind) if kind.ends_with("List") => {
            let items = value.get("items").and_then(Value::as_array);
            items.is_some_and(|items| items.iter().any(has_lost_its_kind))
        }
        Some(_) => false,
    }
}

/// Whether a text in lower case has to be read to know that there is no Secret in it.
fn may_hold(lower: &str) -> bool {
    // Escapes, aliases, and tags can make any key or word of other text.
    lower.contains(['\\', '*', '!'])
        || lower.contains(VALUES[0])
        || lower.contains(GENERATOR)
        || says_secret(lower)
}

/// Whether some kind in a text in lower case is, or may be, Secret.
fn says_secret(lower: &str) -> bool {
    // A word may go on in the next line.
    let is_beginning = |kind: &str| KINDS[2].starts_with(kind);
    kinds(lower).any(|kind| kind.is_none_or(|kind| is_kind(kind) || is_beginning(kind)))
}

/// A text without comments, as far as lines tell where they begin.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.lines() {
        let quote = line.find(['"', '\'']).unwrap_or(line.len());
        let blank = [" #", "\t#"].iter().filter_map(|mark| line.find(mark)).min();
        let comment = if line.starts_with('#') { Some(0) } else { blank };
        let end = comment.filter(|at| *at < quote).unwrap_or(line.len());
        code.push_str(line.get(..end).unwrap_or_default());
        code.push('\n');
    }
    code
}

/// The text between two lines of nothing but three dashes.
fn document(text: &str, at: usize) -> (usize, &str) {
    const BORDER: &str = "\n---";
    let is_border = |(position, _): &(usize, &str)| {
        let after = text
            .get(position.saturating_add(BORDER.len())..)
            .unwrap_or_default();
        after.lines().next().unwrap_or_default().trim().is_empty()
    };
    let at = super::place::floor_boundary(text, at);
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at..).unwrap_or_default();
    let start = before.rmatch_indices(BORDER).find(is_border);
    let start = start.map_or(0, |(border, _)| border.saturating_add(1));
    let mut borders = after
        .match_indices(BORDER)
        .map(|(border, found)| (border.saturating_add(at), found));
    let end = borders.find(is_border).map_or(text.len(), |(border, _)| border);
    (start, text.get(start..end).unwrap_or(text))
}

/// The text after each entry of this key, in block or flow style.
fn entries<'d>(document: &'d str, key: &'d str) -> impl Iterator<Item = (usize, &'d str)> {
    // The backslash is in JSON that is a text of JSON.
    let is_quote = |letter: char| "\"'\\".contains(letter) || letter.is_whitespace();
    let is_word = |letter: char| letter.is_alphanumeric() || "-_./".contains(letter);
    document.match_indices(key).filter_map(move |(position, found)| {
        let before = document.get(..position).unwrap_or_default();
        // In a text in quotes, a line may end in an escape.
        if before.ends_with(is_word) && !["\\n", "\\r", "\\t"].iter().any(|end| before.ends_with(end)) {
            return None;
        }
        let after = document.get(position.saturating_add(found.len())..)?;
        let value = after.trim_start_matches(is_quote).strip_prefix(':')?;
        Some((position, value))
    })
}

/// The value of every entry `kind`, `None` for one that is not a plain or a quoted word.
fn kinds(document: &str) -> impl Iterator<Item = Option<&str>> {
    entries(document, "kind").map(|(_, value)| word(value))
}

/// The kind of the document itself: at the start of a line, or anywhere in flow style.
fn top_kind(document: &str) -> Option<&str> {
    let is_flow = document.trim_start_matches("---").trim_start().starts_with('{');
    let mut found = entries(document, "kind").filter(|(position, _)| {
        let before = document.get(..*position).unwrap_or_default();
        is_flow || before.is_empty() || before.ends_with('\n') || before.ends_with('\u{feff}')
    });
    found.find_map(|(_, value)| word(value))
}

fn word(value: &str) -> Option<&str> {
    let value = value.trim_start_matches([' ', '\t']);
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    let end = value
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(value.len());
    let (word, after) = value.split_at_checked(end)?;
    let ends = after.is_empty()
        || after.starts_with(|letter: char| letter.is_whitespace() || "\"',}]".contains(letter));
    (ends && !word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use kube_json::json;
    use proptest::prelude::*;

    use super::*;

    fn shown(value: &Value) -> String {
        format!("{:?}", Hidden::default().conceal(value, true))
    }

    #[test]
    fn equal_values_have_equal_names_wherever_they_are_and_others_have_others() {
        let mut hidden = Hidden::default();
        let old = json!({"kind": "Secret", "data": {"a": "QQ==", "b": "Qg==", "gone": "Rw=="}});
        let new = json!({"kind": "Secret", "data": {"a": "QQ==", "b": "WA==", "new": "Qg=="}});
        assert_eq!(
            hidden.conceal(&old, true)["data"],
            json!({"a": "(hidden 1)", "b": "(hidden 2)", "gone": "(hidden 3)"})
        );
        assert_eq!(
            hidden.conceal(&new, true)["data"],
            json!({"a": "(hidden 1)", "b": "(hidden 4)", "new": "(hidden 2)"})
        );
    }

    #[test]
    fn what_refers_to_a_secret_or_mentions_one_stays_readable() {
        for value in [
            json!({"certificateRefs": [{"kind": "Secret", "name": "tls"}]}),
            json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "a", "uid": "b"}]}),
            json!({"valuesFrom": [{"kind": "Secret", "name": "a", "valuesKey": "b"}]}),
            json!({"kind": "AuthPolicy", "spec": {"rego": "# kind: Secret\n# data:\nallow = true\n"}}),
            json!({"kind": "AuthPolicy", "spec": {"a": "kind: Secret\ndata:\n", "b": "kind: Secret", "c": "stringData: "}}),
            json!({"kind": "SecretStore", "spec": {"data": "a"}}),
            json!({"kind": "ExternalSecret", "spec": {"data": [{"secretKey": "a"}]}}),
            json!({"kind": "ConfigMap", "data": {"a": "b"}}),
        ] {
            assert_eq!(Hidden::default().conceal(&value, true), value);
        }
        let policy = json!({"kind": "AuthPolicy", "spec": {"a": 1}, "stringData": {"b": "c"}, "data": "d"});
        assert_eq!(
            Hidden::default().conceal(&policy, true),
            json!({"kind": "AuthPolicy", "spec": {"a": 1}, "stringData": {"b": "(hidden 2)"}, "data": "(hidden 1)"})
        );
        let text = json!({"rego": "a\n---\nkind: Secret\ndata: {a: b}\n---\nc\n"});
        assert_eq!(
            Hidden::default().conceal(&text, true),
            json!({"rego": "a\n---\n(hidden 1)\n---\nc\n"})
        );
    }

    #[test]
    fn a_copy_of_a_secret_inside_a_text_is_hidden_wherever_it_stands() {
        const VALUE: &str = "aHVudGVyMg==";
        const COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";
        let secret = json!({"kind": "Secret", "data": {"k": VALUE}}).to_string();
        let work =
            json!({"kind": "ManifestWork", "spec": {"workload": {"manifests": [json!({"copy": secret})]}}});
        let packed = "H4sI".repeat(40) + VALUE;
        for object in [
            json!({"kind": "ManifestWork", "metadata": {"annotations": {COPY: work.to_string()}}}),
            json!({"kind": "ConfigMap", "data": {"a.yaml": format!("kind: Secret\nstringData:\n  k: {VALUE}\n")}}),
            json!({"kind": "ConfigMap", "data": {"a.yaml": format!("a: 1\n--- # b\nkind: Secrets\nmetadata: {{k: {VALUE}}}\n")}}),
            json!({"kind": "Secret", "metadata": {"annotations": {"kapp.k14s.io/original": secret}}}),
            json!({"kind": "Secret", "metadata": {"annotations": {"objectset.rio.cattle.io/applied": packed}}}),
        ] {
            let kept = shown(&object);
            assert!(!kept.contains(VALUE), "{kept}");
        }
    }

    #[test]
    fn texts_in_texts_are_read_only_so_deep() {
        let mut text = "kind: Secret\ndata: {a: hunter2}\n".to_owned();
        for _ in 0..200 {
            text = format!(
                "a: |\n{}",
                text.lines().map(|line| format!("  {line}\n")).collect::<String>()
            );
        }
        assert!(!shown(&json!({"a": text})).contains("hunter2"));
    }

    proptest! {
        /// Whatever surrounds a Secret, and whatever form its data has.
        #[test]
        fn no_value_of_a_secret_is_ever_kept(
            kind in proptest::sample::select(&["Secret", "secret", "Secrets", "Secert", "SECRET", "Secre", "SecretList"][..]),
            key in proptest::sample::select(&["data", "Data", "stringData", "stringdata", "binaryData", "password", "metadata"][..]),
            form in 0_usize..4, depth in 0_usize..4, around in 0_usize..3,
        ) {
            const VALUE: &str = "c2VjcmV0LXZhbHVl";
            let value = match form {
                0 => json!({"k": VALUE}),
                1 => json!(VALUE),
                2 => json!({"k": {"deeper": [VALUE]}}),
                _ => json!({"annotations": {"a": VALUE}, "labels": {"b": VALUE}}),
            };
            let mut value = json!({"apiVersion": "v1", "kind": kind, key: value});
            for _ in 0..depth {
                value = match around {
                    0 => json!([1, value]),
                    1 => json!({"items": value}),
                    _ => json!({"a": format!("b: 1\n---\n{}", value)}),
                };
            }
            let kept = shown(&value);
            prop_assert!(!kept.contains(VALUE), "{}", kept);
        }
    }

    #[test]
    fn a_document_that_is_or_may_be_a_secret_is_covered_and_no_other_one() {
        for text in [
            "kind: Secret\nstringData: {k: HERE}\n",
            "kind: secret\nstringData: {k: HERE}\n",
            "kind: ConfigMap\nkind: Secret\ndata: {k: HERE}\n",
            "stringData: {k: HERE\nkind: \"Secret\"\n",
            "\"k\\u0069nd\": Secret\ndata: {k: HERE}\n",
            "kind: \"S\\u0065cret\"\ndata: {k: HERE}\n",
            "kind: !!str Secret\ndata: {k: HERE}\n",
            "a: &k Secret\nkind: *k\ndata: {k: HERE}\n",
            "kind: |\n  Secret\ndata: {k: HERE}\n",
            "apiVersion: v1\nstringData:\n  password: HERE\n",
            "{\"data\": {\"k\": \"HERE",
            "kind: List\nitems:\n- data: {k: HERE}\n",
            "kind: Secret\nstringData:\n  k: |\n---\n    HERE\n",
            "kind: Secret\nstringData:\n  k: |\n-----BEGIN\nHERE\n---\nkind: Gateway\n",
            "kind: Secret\ndata: {k: aGlkZGVu}\n--- HERE\nkind: Gateway\n",
            "kind: Secrets\nmetadata: {a: b}\npassword: HERE\n",
            "Kind: Secert\npassword: HERE\n",
            "kind: ConfigMap\nstringdata: HERE\n",
            "kind: \"Sec\\\n  ret\"\nx: HERE\n",
            "a: &k kind\n*k : Secret\nx: HERE\n",
            "!!binary a2luZA==: Secret\nx: HERE\n",
            "kind: Secret\npassword: @HERE\n",
            "kind: ConfigMap\nSTRINGDATA: @HERE\n",
            "secretGenerator:\n- literals: [a=HERE]\n",
            "kind: Kustomization\nsecretGenerator:\n- literals: [a=HERE\n",
            "kind: List\nitems:\n- kind: Secret\n  metadata: {x: @HERE\n",
            "kind: Secret # a\nx: @HERE\n",
            "{\"kind\"= \"ConfigMap\", \"data\": {\"a.yaml\": \"a: b\\nkind: Secret\\ndata: HERE\"}}",
        ] {
            let at = text.find("HERE").expect("a mark");
            assert!(Secrecy::new(text).covers(at), "{text}");
        }
        for text in [
            "kind: Gateway\nspec: {tls: {kind: Secret, name: HERE}}\n",
            "kind: Gateway\nmetadata: {a: b}\nspec: {tls: {kind: Secret, name: HERE}}\n",
            "kind: SecretStore\ndata: {name: HERE}\n",
            "kind: ConfigMap\ndata: {name: HERE}\n",
            "kind: Secret\ndata: {k: aGlkZGVu}\n---\nkind: Gateway\nname: HERE\n",
            "output: HERE\n",
            "# kind: Secret\n# data: a\nkind: AuthPolicy\nspec: HERE\n",
            "# kind: Secret\n# data: a\nkind: AuthPolicy\nspec: @HERE\n",
            "kind: AuthPolicy # kind: Secret\nspec: @HERE # data: a\n",
            "kind: AuthPolicy\nspec: {rego: \"kind: Secret, data: a\", x: HERE}\n",
            "kind: AuthPolicy\nspec:\n  rego: |\n    kind: Secret\n    data:\n    x = {HERE}\n",
            "{\"kind\": \"Gateway\", \"name\": \"HERE",
        ] {
            let at = text.find("HERE").expect("a mark");
            assert!(!Secrecy::new(text).covers(at), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_follows_in_a_secret_is_covered(
            head in proptest::sample::select(&[
                "kind: Secret\nstringData:\n  k: ",
                "{\"kind\":\"Secret\",\"data\":{\"k\":\"",
                "apiVersion: v1\ndata:\n  k: ",
                "kind: List\nitems:\n- kind: Secret\n  data:\n    k: ",
            ][..]),
            tail in "(hunter2|[\n\r \t\"'@%`*&!|>{}\\[\\],:#?-]|---|\n---\n|\n---|data|Secret|\\PC){0,40}",
        ) {
            let text = format!("{head}{tail}");
            let secrecy = Secrecy::new(&text);
            // Behind a border a new document begins, which may be anything once the file has no other Secret.
            let has_lost_its_head = !head.contains("Secret") && tail.contains("---");
            for at in head.len()..=text.len() {
                prop_assert!(has_lost_its_head || secrecy.covers(at), "{:?} at {}", text, at);
            }
        }
    }
}
