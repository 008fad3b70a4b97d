//! The functions of OCM's CEL environment and their types.
//!
//! One line for each overload: cel-go's standard library and strings extension, optional types, Kubernetes' libraries
//! for lists, regular expressions, URLs, quantities, IP, CIDR, formats and semantic versions, OCM's own two
//! (docs/systems/ocm-placement.md#cel-selectors). Functions of other libraries are not part of it: using one is an
//! error.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A type, as far as cel-go's checker tells types apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// Anything; known only when it runs.
    Dyn,
    /// A parameter of a signature.
    Parameter(char),
    /// A type of this name, with those that it is made of: `map(string, dyn)`.
    Named(&'static str, Vec<Type>),
}

/// The types of optional values, lists, and maps.
pub(super) const OPTIONAL: &str = "optional_type";
pub(super) const LIST: &str = "list";
pub(super) const MAP: &str = "map";

/// The name of a type that no other one is part of.
pub(super) const fn simple(name: &'static str) -> Type {
    Type::Named(name, Vec::new())
}

/// One signature of a function.
#[derive(Debug, Clone)]
pub(super) struct Overload {
    /// The receiver's type, for a method.
    pub(super) receiver: Option<Type>,
    pub(super) parameters: Vec<Type>,
    pub(super) result: Type,
}

/// `receiver.name(parameters) result`; `b` bool, `i` int, `u` uint, `d` double, `s` string, `y` bytes, `n` null,
/// `*` dyn, `t` type, `[x]` list, `{k:v}` map, `?x` optional, `A` and `B` parameters, other words named types.
const SIGNATURES: &str = include_str!("signatures.txt");

/// What can be compared with a value of its own type, besides numbers, which can be compared with any number.
const ORDERED: [&str; 5] = ["b", "s", "y", "timestamp", "duration"];
const NUMBERS: [&str; 3] = ["i", "u", "d"];

/// What each type is called in a signature, and by cel-go.
const SIMPLE: [(&str, &str); 17] = [
    ("b", "bool"),
    ("i", "int"),
    ("u", "uint"),
    ("d", "double"),
    ("s", "string"),
    ("y", "bytes"),
    ("n", "null"),
    ("t", "type"),
    ("duration", "duration"),
    ("timestamp", "timestamp"),
    ("url", "url"),
    ("quantity", "quantity"),
    ("ip", "ip"),
    ("cidr", "cidr"),
    ("format", "format"),
    ("semver", "semver"),
    ("error", "error"),
];

/// Whether null is a value of a type of this name: it is one of all objects.
pub(super) fn may_be_null(name: &str) -> bool {
    ![
        "bool", "int", "uint", "double", "string", "bytes", "type", LIST, MAP,
    ]
    .contains(&name)
}

/// The lines of the file and those above, read once: a constant.
static TABLE: LazyLock<HashMap<String, Vec<Overload>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<Overload>> = HashMap::new();
    let numbers = NUMBERS
        .into_iter()
        .flat_map(|one| NUMBERS.map(|other| (one, other)));
    let ordered: Vec<(&str, &str)> = ORDERED.map(|one| (one, one)).into_iter().chain(numbers).collect();
    let comparisons = ["_<_", "_<=_", "_>_", "_>=_"].into_iter().flat_map(|operator| {
        let signature = move |(one, other): &(_, _)| format!("{operator}({one},{other}) b");
        ordered.iter().map(signature)
    });
    for line in SIGNATURES.lines().map(str::to_owned).chain(comparisons) {
        if let Some((name, overload)) = parse(&line) {
            table.entry(name).or_default().push(overload);
        }
    }
    table
});

/// The overloads of a function; functions of a library are called `optional.of`.
pub(super) fn overloads(name: &str) -> &'static [Overload] {
    TABLE.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// Whether `library.name` is a function.
pub(super) fn is_library_function(library: &str, name: &str) -> bool {
    TABLE.contains_key(&format!("{library}.{name}"))
}

fn parse(line: &str) -> Option<(String, Overload)> {
    let (call, result) = line.rsplit_once(' ')?;
    let (head, parameters) = call.strip_suffix(')')?.split_once('(')?;
    // `ip.isCanonical(s)` is a library's, `ip.family()` a method: only the former has its receiver as argument.
    let (receiver, name) = match head.rsplit_once('.') {
        Some((library, name)) if is_static(library, name) => (None, format!("{library}.{name}")),
        Some((receiver, name)) => (Some(read(receiver)), name.to_owned()),
        None => (None, head.to_owned()),
    };
    Some((
        name,
        Overload {
            receiver,
            // No type of the table has a comma in it.
            parameters: parameters.split_terminator(',').map(read).collect(),
            result: read(result),
        },
    ))
}

/// Whether a dotted line of the table is a library's function and no method.
fn is_static(library: &str, name: &str) -> bool {
    match library {
        "optional" | "strings" => true,
        "format" => name != "validate",
        "ip" => name == "isCanonical",
        _ => false,
    }
}

fn read(text: &str) -> Type {
    if let Some(inner) = text.strip_prefix('?') {
        return Type::Named(OPTIONAL, vec![read(inner)]);
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return Type::Named(LIST, vec![read(inner)]);
    }
    if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'))
        && let Some((key, value)) = inner.split_once(':')
    {
        return Type::Named(MAP, vec![read(key), read(value)]);
    }
    match text {
        "A" => Type::Parameter('A'),
        "B" => Type::Parameter('B'),
        other => SIMPLE
            .iter()
            .find(|(short, _)| *short == other)
            .map_or(Type::Dyn, |(_, name)| simple(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = SIGNATURES.lines().filter(|line| !line.is_empty());
        for line in lines {
            let parsed = parse(line);
            assert!(parsed.is_some(), "{line}");
            if let Some((name, _)) = parsed {
                assert!(!overloads(&name).is_empty(), "{line}");
            }
        }
        assert_eq!(overloads("_<_").len(), 14);
    }

    #[test]
    fn library_functions_are_told_from_methods() {
        assert!(is_library_function("optional", "of"));
        assert!(is_library_function("ip", "isCanonical"));
        assert!(!is_library_function("ip", "family"));
        assert!(!is_library_function("math", "greatest"));
        let family = overloads("family");
        assert!(
            family
                .iter()
                .all(|overload| overload.receiver == Some(simple("ip")))
        );
    }
}
