//! A cursor on a value that remembers its JSON pointer, so that every mismatch has a place. Kinds and messages are the
//! reader's business.

use std::rc::Rc;

use kube_json::{Map, Value};

use crate::pointer;

/// A value and where it is in its object.
///
/// ```
/// use kube_json::json;
/// use apimachinery::Field;
///
/// let value = json!({"spec": {"listeners": [{"name": "api"}]}});
/// let name = Field::new(&value).get("spec").get("listeners").items().next();
/// assert_eq!(name.map(|listener| listener.get("name").pointer()).as_deref(), Some("/spec/listeners/0/name"));
/// ```
#[derive(Debug, Clone)]
pub struct Field<'a> {
    value: Option<&'a Value>,
    way: Option<Rc<Way<'a>>>,
}

/// The last step from the object to a field, and those before it. Few fields are ever reported, so a pointer is written
/// when somebody asks.
#[derive(Debug)]
struct Way<'a> {
    step: Step<'a>,
    before: Option<Rc<Self>>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

/// A value of another type than the reader expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where it is.
    pub pointer: String,
    /// What was expected, such as `a string`.
    pub expected: &'static str,
    /// What is there, such as `an integer`.
    pub found: &'static str,
}

impl<'a> Field<'a> {
    /// A cursor on a whole object.
    pub fn new(value: &'a Value) -> Self {
        Self {
            value: Some(value),
            way: None,
        }
    }

    /// The pointer of this field, also of one that is absent.
    pub fn pointer(&self) -> String {
        let ways = std::iter::successors(self.way.as_deref(), |way| way.before.as_deref());
        let steps: Vec<Step<'a>> = ways.map(|way| way.step).collect();
        let mut text = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Member(key) => pointer::push(&mut text, key),
                Step::Item(index) => pointer::push(&mut text, &index.to_string()),
            }
        }
        text
    }

    fn below(&self, step: Step<'a>, value: Option<&'a Value>) -> Self {
        let before = self.way.clone();
        Self {
            value,
            way: Some(Rc::new(Way { step, before })),
        }
    }

    /// The value, when the field is present and not null (an API server drops nulls).
    pub fn value(&self) -> Option<&'a Value> {
        self.value.filter(|value| !value.is_null())
    }

    /// Whether the field is present and not null.
    pub fn is_present(&self) -> bool {
        self.value().is_some()
    }

    /// The member `key`; absent when this is absent or no mapping.
    #[must_use]
    pub fn get(&self, key: &'a str) -> Self {
        self.below(Step::Member(key), self.member(key))
    }

    /// The value of the member `key`, if it is there.
    pub fn member(&self, key: &str) -> Option<&'a Value> {
        self.value?.as_object()?.get(key)
    }

    /// The member `key`, if it is present and not null. Most of what may be there is not: that costs no cursor.
    pub fn present(&self, key: &'a str) -> Option<Self> {
        let value = self.member(key)?;
        (!value.is_null()).then(|| self.below(Step::Member(key), Some(value)))
    }

    /// Whether the member `key` is present and not null.
    pub fn has(&self, key: &str) -> bool {
        self.member(key).is_some_and(|value| !value.is_null())
    }

    /// The elements of a list; none when this is absent or no list.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Self> + Clone + use<'a> {
        let list = self.clone();
        let items = self.values();
        items
            .iter()
            .enumerate()
            .map(move |(index, value)| list.below(Step::Item(index), Some(value)))
    }

    /// The elements of a list, without cursors on them; none when this is absent or no list.
    pub fn values(&self) -> &'a [Value] {
        let list = self.value.and_then(Value::as_array);
        list.map(Vec::as_slice).unwrap_or_default()
    }

    /// The cursor on the element at a position; absent when this is no list or has no such element.
    #[must_use]
    pub fn item(&self, position: usize) -> Self {
        self.below(Step::Item(position), self.values().get(position))
    }

    /// The member `key` of each element of a list that has it, and not as null.
    pub fn items_with(&self, key: &'a str) -> impl Iterator<Item = Self> + use<'a> {
        self.items().filter_map(move |item| item.present(key))
    }

    /// The names of the members of a mapping, in their order; none when this is absent or no mapping.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mapping = self.value.and_then(Value::as_object);
        mapping
            .into_iter()
            .flat_map(|mapping| mapping.keys().map(|name| name.as_str()))
    }

    /// The entries of a mapping in the order of its map; none when this is absent or no mapping.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let mapping = self.clone();
        self.value
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(move |(key, value)| (key.as_str(), mapping.below(Step::Member(key), Some(value))))
    }

    /// Calls `found` with every field at the end of a path: steps separated by dots, `*` for every entry of a list or a
    /// mapping, `{a,b}` for either. The empty path ends here.
    pub fn each(&self, path: &'static str, found: &mut dyn FnMut(&Field<'a>)) {
        self.walk((path, ""), found);
    }

    /// Goes on by a path, which `then` follows.
    fn walk(&self, (path, then): (&'static str, &'static str), found: &mut dyn FnMut(&Field<'a>)) {
        if let Some((either, rest)) = path.strip_prefix('{').and_then(|path| path.split_once('}')) {
            for steps in either.split(',') {
                self.walk((steps, rest.trim_start_matches('.')), found);
            }
            return;
        }
        let (step, rest) = path.split_once('.').unwrap_or((path, ""));
        match step {
            "" if then.is_empty() => found(self),
            "" => self.walk((then, ""), found),
            "*" => {
                let items = self.items().chain(self.entries().map(|(_, entry)| entry));
                for item in items.filter(Field::is_present) {
                    item.walk((rest, then), found);
                }
            }
            name => {
                if let Some(member) = self.present(name) {
                    member.walk((rest, then), found);
                }
            }
        }
    }

    /// The string here; `None` when absent or of another type.
    pub fn str(&self) -> Option<&'a str> {
        self.value.and_then(Value::as_str)
    }

    /// The string of the member `key`; `None` when absent or of another type.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.member(key)?.as_str()
    }

    /// The string here, or what is in its way; `Ok(None)` when absent.
    ///
    /// # Errors
    /// [`Mismatch`] if the value is not a string.
    pub fn string(&self) -> Result<Option<&'a str>, Mismatch> {
        self.typed("a string", Value::as_str)
    }

    /// The integer here; `Ok(None)` when absent. A float without a fraction counts, as in Kubernetes.
    ///
    /// # Errors
    /// [`Mismatch`] if the value is not a 64-bit integer.
    pub fn integer(&self) -> Result<Option<i64>, Mismatch> {
        self.typed("an integer", whole_number)
    }

    /// The boolean here; `Ok(None)` when absent.
    ///
    /// # Errors
    /// [`Mismatch`] if the value is not a boolean.
    pub fn boolean(&self) -> Result<Option<bool>, Mismatch> {
        self.typed("a boolean", Value::as_bool)
    }

    /// The list here; `Ok(None)` when absent.
    ///
    /// # Errors
    /// [`Mismatch`] if the value is not a list.
    pub fn list(&self) -> Result<Option<&'a [Value]>, Mismatch> {
        self.typed("a list", |value| value.as_array().map(Vec::as_slice))
    }

    /// The mapping here; `Ok(None)` when absent.
    ///
    /// # Errors
    /// [`Mismatch`] if the value is not a mapping.
    pub fn mapping(&self) -> Result<Option<&'a Map>, Mismatch> {
        self.typed("a mapping", Value::as_object)
    }

    fn typed<T>(
        &self,
        expected: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Mismatch> {
        let Some(value) = self.value() else {
            return Ok(None);
        };
        read(value).map(Some).ok_or_else(|| Mismatch {
            pointer: self.pointer(),
            expected,
            found: type_name(value),
        })
    }
}

/// Up to here floats represent every integer.
pub const EXACT_MAX: f64 = 9_007_199_254_740_991.0;

/// A number without a fraction, in the range where floats represent every integer.
fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let whole = |float: &f64| float.fract() == 0.0 && float.abs() <= EXACT_MAX;
        let float = value.as_f64().filter(whole)?;
        #[expect(clippy::cast_possible_truncation, reason = "it was looked at")]
        let integer = float as i64;
        Some(integer)
    })
}

/// The type of a value, for people.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_i64() => "an integer",
        Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() != 0.0) => {
            "a number with a fraction"
        }
        // An integer to a person, and none to Go.
        Value::Number(_) => "a number beyond 64 bits",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;

    #[test]
    fn an_integer_has_64_bits_and_no_fraction_and_any_other_number_is_called_what_it_is() {
        let of = |value: Value| Field::new(&value).integer().map_err(|mismatch| mismatch.found);
        assert_eq!(of(json!(i64::MAX)), Ok(Some(i64::MAX)));
        assert_eq!(of(json!(-3.0)), Ok(Some(-3)));
        assert_eq!(of(json!(null)), Ok(None));
        assert_eq!(of(json!(1.5)), Err("a number with a fraction"));
        for beyond in [json!(9_223_372_036_854_775_808_u64), json!(1e20), json!(-1e19)] {
            assert_eq!(of(beyond), Err("a number beyond 64 bits"));
        }
        assert_eq!(of(json!("1")), Err("a string"));
    }

    #[test]
    fn a_field_is_read_by_its_type_and_a_mismatch_says_where_and_what_is_there() {
        let value = json!({"s": "text", "b": true, "l": [1], "m": {"k": "v", "n": null}, "i": 7, "z": null});
        let root = Field::new(&value);
        assert_eq!(root.get("s").string(), Ok(Some("text")));
        assert_eq!(root.get("s").str(), Some("text"));
        assert_eq!(
            [root.text("s"), root.text("i"), root.text("nowhere")],
            [Some("text"), None, None]
        );
        assert_eq!(root.get("b").boolean(), Ok(Some(true)));
        assert_eq!(root.get("l").list(), Ok(Some(&[json!(1)][..])));
        assert_eq!(root.get("m").mapping().map(|map| map.map(Map::len)), Ok(Some(2)));
        let of_present = |key| root.present(key).map(|field| (field.pointer(), field.str()));
        assert_eq!(of_present("s"), Some(("/s".to_owned(), Some("text"))));
        assert!(root.has("s") && root.has("m") && !root.get("s").has("s"));
        for absent in ["z", "nowhere"] {
            assert!(of_present(absent).is_none() && !root.has(absent));
            let field = root.get(absent);
            assert!(!field.is_present() && field.str().is_none());
            assert_eq!(field.string(), Ok(None));
            assert_eq!(field.boolean(), Ok(None));
            assert_eq!(field.list(), Ok(None));
            assert_eq!(field.mapping(), Ok(None));
        }
        assert!(root.get("s").is_present());
        let list = json!([{"a": 1}, {"b": 2}, {"a": null}, 7, {"a": {"b": 3}}]);
        let with_a = Field::new(&list).items_with("a");
        assert_eq!(
            with_a.map(|field| field.pointer()).collect::<Vec<_>>(),
            ["/0/a", "/4/a"]
        );
        let mismatch = |pointer: &str, expected, found| Mismatch {
            pointer: pointer.to_owned(),
            expected,
            found,
        };
        assert_eq!(
            root.get("i").string(),
            Err(mismatch("/i", "a string", "an integer"))
        );
        assert_eq!(
            root.get("s").boolean(),
            Err(mismatch("/s", "a boolean", "a string"))
        );
        assert_eq!(root.get("m").list(), Err(mismatch("/m", "a list", "a mapping")));
        assert_eq!(
            root.get("l").mapping(),
            Err(mismatch("/l", "a mapping", "a list"))
        );
        let entries: Vec<(String, String)> = root
            .get("m")
            .entries()
            .map(|(key, field)| (key.to_owned(), field.pointer()))
            .collect();
        assert_eq!(
            entries,
            [("k", "/m/k"), ("n", "/m/n")].map(|(key, pointer)| (key.to_owned(), pointer.to_owned()))
        );
    }

    #[test]
    fn a_pointer_has_all_steps_however_deep_it_is_also_of_what_is_absent() {
        let value = json!([[{"a": {"b": [{"c": {"d/e": [[0, 1]]}}]}}]]);
        let first = |field: &Field<'static>| field.items().next().unwrap();
        let value: &'static Value = Box::leak(Box::new(value));
        let list = first(&first(&Field::new(value))).get("a").get("b");
        let deep = first(&first(&list).get("c").get("d/e")).items().nth(1).unwrap();
        assert_eq!(deep.pointer(), "/0/0/a/b/0/c/d~1e/0/1");
        assert_eq!(deep.integer(), Ok(Some(1)));
        assert_eq!(deep.get("x").get("y").pointer(), "/0/0/a/b/0/c/d~1e/0/1/x/y");
        assert_eq!(list.pointer(), "/0/0/a/b");
    }
}
