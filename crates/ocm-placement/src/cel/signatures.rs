//! The functions of OCM's CEL environment and their types.
//!
//! Owns: one line for each overload: cel-go's standard library and strings extension, optional types, Kubernetes'
//! libraries for lists, regular expressions, URLs, quantities, IP, CIDR, formats and semantic versions, OCM's own
//! two (docs/systems/ocm-placement.md#cel-selectors). Functions of other libraries are not part of it: using one is an
//! error.
//! Flows out: overloads by name. Must not know: expressions.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A type, as far as cel-go's checker tells types apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// Anything; known only when it runs.
    Dyn,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Null,
    /// A type as a value.
    Meta,
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Optional(Box<Type>),
    /// duration, timestamp, and the types of Kubernetes' libraries.
    Named(&'static str),
    /// A parameter of a signature.
    Parameter(char),
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
const SIGNATURES: &str = "
_&&_(b,b) b
_||_(b,b) b
!_(b) b
@not_strictly_false(b) b
_?_:_(b,A,A) A
_==_(A,A) b
_!=_(A,A) b
@in(A,[A]) b
@in(A,{A:B}) b
_+_(i,i) i
_+_(u,u) u
_+_(d,d) d
_+_(s,s) s
_+_(y,y) y
_+_([A],[A]) [A]
_+_(duration,duration) duration
_+_(timestamp,duration) timestamp
_+_(duration,timestamp) timestamp
_-_(i,i) i
_-_(u,u) u
_-_(d,d) d
_-_(duration,duration) duration
_-_(timestamp,duration) timestamp
_-_(timestamp,timestamp) duration
_*_(i,i) i
_*_(u,u) u
_*_(d,d) d
_/_(i,i) i
_/_(u,u) u
_/_(d,d) d
_%_(i,i) i
_%_(u,u) u
-_(i) i
-_(d) d
-_(duration) duration
_[_]([A],i) A
_[_]({A:B},A) B
_[_](?[A],i) ?A
_[_](?{A:B},A) ?B
_[?_]([A],i) ?A
_[?_]({A:B},A) ?B
_[?_](?[A],i) ?A
_[?_](?{A:B},A) ?B
size(s) i
size(y) i
size([A]) i
size({A:B}) i
s.size() i
y.size() i
[A].size() i
{A:B}.size() i
s.contains(s) b
s.startsWith(s) b
s.endsWith(s) b
s.matches(s) b
matches(s,s) b
dyn(A) *
type(A) t
bool(b) b
bool(s) b
bytes(y) y
bytes(s) y
double(d) d
double(i) d
double(u) d
double(s) d
int(i) i
int(u) i
int(d) i
int(s) i
int(timestamp) i
int(duration) i
uint(u) u
uint(i) u
uint(d) u
uint(s) u
string(s) s
string(b) s
string(i) s
string(u) s
string(d) s
string(y) s
string(timestamp) s
string(duration) s
string(ip) s
string(cidr) s
duration(duration) duration
duration(s) duration
duration(i) duration
timestamp(timestamp) timestamp
timestamp(s) timestamp
timestamp(i) timestamp
timestamp.getFullYear() i
timestamp.getFullYear(s) i
timestamp.getMonth() i
timestamp.getMonth(s) i
timestamp.getDayOfYear() i
timestamp.getDayOfYear(s) i
timestamp.getDayOfMonth() i
timestamp.getDayOfMonth(s) i
timestamp.getDate() i
timestamp.getDate(s) i
timestamp.getDayOfWeek() i
timestamp.getDayOfWeek(s) i
timestamp.getHours() i
timestamp.getHours(s) i
timestamp.getMinutes() i
timestamp.getMinutes(s) i
timestamp.getSeconds() i
timestamp.getSeconds(s) i
timestamp.getMilliseconds() i
timestamp.getMilliseconds(s) i
duration.getHours() i
duration.getMinutes() i
duration.getSeconds() i
duration.getMilliseconds() i
optional.of(A) ?A
optional.ofNonZeroValue(A) ?A
optional.none() ?*
?A.hasValue() b
?A.value() A
?A.or(?A) ?A
?A.orValue(A) A
s.charAt(i) s
s.indexOf(s) i
s.indexOf(s,i) i
s.lastIndexOf(s) i
s.lastIndexOf(s,i) i
s.lowerAscii() s
s.upperAscii() s
s.replace(s,s) s
s.replace(s,s,i) s
s.reverse() s
s.split(s) [s]
s.split(s,i) [s]
s.substring(i) s
s.substring(i,i) s
s.trim() s
s.format([*]) s
strings.quote(s) s
[s].join() s
[s].join(s) s
[A].isSorted() b
[A].sum() A
[A].min() A
[A].max() A
[A].indexOf(A) i
[A].lastIndexOf(A) i
s.find(s) s
s.findAll(s) [s]
s.findAll(s,i) [s]
url(s) url
isURL(s) b
url.getScheme() s
url.getHost() s
url.getHostname() s
url.getPort() s
url.getEscapedPath() s
url.getQuery() {s:[s]}
quantity(s) quantity
isQuantity(s) b
quantity.sign() i
quantity.isInteger() b
quantity.asInteger() i
quantity.asApproximateFloat() d
quantity.add(quantity) quantity
quantity.add(i) quantity
quantity.sub(quantity) quantity
quantity.sub(i) quantity
quantity.isGreaterThan(quantity) b
quantity.isLessThan(quantity) b
quantity.compareTo(quantity) i
ip(s) ip
isIP(s) b
ip.isCanonical(s) b
ip.family() i
ip.isUnspecified() b
ip.isLoopback() b
ip.isLinkLocalMulticast() b
ip.isLinkLocalUnicast() b
ip.isGlobalUnicast() b
cidr(s) cidr
isCIDR(s) b
cidr.containsIP(ip) b
cidr.containsIP(s) b
cidr.containsCIDR(cidr) b
cidr.containsCIDR(s) b
cidr.ip() ip
cidr.masked() cidr
cidr.prefixLength() i
format.named(s) ?format
format.dns1123Label() format
format.dns1123Subdomain() format
format.dns1035Label() format
format.qualifiedName() format
format.dns1123LabelPrefix() format
format.dns1123SubdomainPrefix() format
format.dns1035LabelPrefix() format
format.labelValue() format
format.uri() format
format.uuid() format
format.byte() format
format.date() format
format.datetime() format
format.validate(s) ?[s]
semver(s) semver
semver(s,b) semver
isSemver(s) b
isSemver(s,b) b
semver.major() i
semver.minor() i
semver.patch() i
semver.isGreaterThan(semver) b
semver.isLessThan(semver) b
semver.compareTo(semver) i
*.scores(s) [*]
s.parseJSON() *
";

/// Comparisons: every pair of these, numbers of different types included.
const ORDERED: &str = "
(b,b)
(i,i)
(i,u)
(i,d)
(u,u)
(u,i)
(u,d)
(d,d)
(d,i)
(d,u)
(s,s)
(y,y)
(timestamp,timestamp)
(duration,duration)
";

/// Names before a dot that are a library and no value.
const LIBRARIES: [&str; 4] = ["optional", "strings", "format", "ip"];

const NAMED: [&str; 9] = [
    "duration",
    "timestamp",
    "url",
    "quantity",
    "ip",
    "cidr",
    "format",
    "semver",
    "error",
];

/// The lines above, read once: a constant.
static TABLE: LazyLock<HashMap<String, Vec<Overload>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<Overload>> = HashMap::new();
    for line in SIGNATURES.lines().filter(|line| !line.is_empty()) {
        if let Some((name, overload)) = parse(line) {
            table.entry(name).or_default().push(overload);
        }
    }
    for operator in ["_<_", "_<=_", "_>_", "_>=_"] {
        for line in ORDERED.lines().filter(|line| !line.is_empty()) {
            if let Some((name, overload)) = parse(&format!("{operator}{line} b")) {
                table.entry(name).or_default().push(overload);
            }
        }
    }
    table
});

/// The overloads of a function; functions of a library are called `optional.of`.
pub(super) fn overloads(name: &str) -> Option<&'static [Overload]> {
    TABLE.get(name).map(Vec::as_slice)
}

/// Whether `library.name` is a function.
pub(super) fn is_library_function(library: &str, name: &str) -> bool {
    LIBRARIES.contains(&library) && TABLE.contains_key(&format!("{library}.{name}"))
}

fn parse(line: &str) -> Option<(String, Overload)> {
    let (call, result) = line.rsplit_once(' ')?;
    let (head, parameters) = call.strip_suffix(')')?.split_once('(')?;
    let types = types(parameters);
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
            parameters: types,
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

/// A list of types. No type of the table has a comma in it.
fn types(text: &str) -> Vec<Type> {
    text.split_terminator(',').map(read).collect()
}

fn read(text: &str) -> Type {
    if let Some(inner) = text.strip_prefix('?') {
        return Type::Optional(Box::new(read(inner)));
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return Type::List(Box::new(read(inner)));
    }
    if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'))
        && let Some((key, value)) = inner.split_once(':')
    {
        return Type::Map(Box::new(read(key)), Box::new(read(value)));
    }
    match text {
        "b" => Type::Bool,
        "i" => Type::Int,
        "u" => Type::Uint,
        "d" => Type::Double,
        "s" => Type::Text,
        "y" => Type::Bytes,
        "n" => Type::Null,
        "t" => Type::Meta,
        "A" => Type::Parameter('A'),
        "B" => Type::Parameter('B'),
        other => NAMED
            .iter()
            .find(|name| **name == other)
            .map_or(Type::Dyn, |name| Type::Named(name)),
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
                assert!(overloads(&name).is_some(), "{line}");
            }
        }
        assert_eq!(overloads("_<_").map(<[_]>::len), Some(14));
    }

    #[test]
    fn library_functions_are_told_from_methods() {
        assert!(is_library_function("optional", "of"));
        assert!(is_library_function("ip", "isCanonical"));
        assert!(!is_library_function("ip", "family"));
        assert!(!is_library_function("math", "greatest"));
        let family = overloads("family").unwrap_or_default();
        assert!(
            family
                .iter()
                .all(|overload| overload.receiver == Some(Type::Named("ip")))
        );
    }
}
