//! What a rule of an HTTPRoute or a GRPCRoute matches.
//!
//! Owns: the syntax of paths, methods, headers, and query parameters. Flows in: matches. Flows out: complaints.
//! Must not know: other matches.

use super::complaints::{Complaints, repeated};
use apimachinery::Field;

/// A match of an HTTPRoute.
pub(super) fn http_match(complaints: &mut Complaints<'_>, one: &Field<'_>) {
    if let Some(path) = one.present("path")
        && path.text("type") != Some("RegularExpression")
        && let Some(text) = path.text("value")
        && let Some((message, help)) = path_problem(text)
    {
        complaints.value(&path.get("value"), message, help);
    }
    unique_names(complaints, one, "headers", "header");
    unique_names(complaints, one, "queryParams", "query parameter");
}

/// The first thing that is wrong with a path that is compared as it is, and what to do.
fn path_problem(text: &str) -> Option<(String, String)> {
    if !text.starts_with('/') {
        let message = format!("the path `{text}` does not begin with `/`");
        return Some((message, format!("write `/{text}`")));
    }
    let parts = ["//", "/./", "/../", "#", "%2f", "%2F"];
    let ends = ["/.", "/.."].into_iter().filter(|end| text.ends_with(end));
    if let Some(part) = parts
        .into_iter()
        .filter(|part| text.contains(part))
        .chain(ends)
        .next()
    {
        let part = part.to_ascii_lowercase();
        let message = format!("no request has `{part}` in its path: clients and proxies resolve it first");
        return Some((message, "write the resolved path".to_owned()));
    }
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut is_digit = || rest.next().is_some_and(|digit| digit.is_ascii_hexdigit());
        if !(stands_for_itself(byte) || (byte == b'%' && is_digit() && is_digit())) {
            let message = format!("the path `{text}` has characters that a URL cannot have");
            return Some((message, "encode them: a space is `%20`".to_owned()));
        }
    }
    None
}

/// Whether a path can have a byte that is not encoded.
fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'/' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&'
        | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@')
}

/// Whether a match goes by the prefix of the path, as one without a path does, too.
pub(super) fn is_prefix(one: &Field<'_>) -> bool {
    matches!(one.get("path").text("type"), None | Some("PathPrefix"))
}

/// A match of a GRPCRoute.
pub(super) fn grpc_match(complaints: &mut Complaints<'_>, one: &Field<'_>) {
    let field = one.get("method");
    let (service, method) = (field.get("service"), field.get("method"));
    if field.is_present() && !service.is_present() && !method.is_present() {
        complaints.value(
            &field,
            "a match by method names neither a service nor a method",
            "add `service` or `method`, or remove `method` to match every call",
        );
    }
    let is_exact = matches!(field.text("type"), None | Some("Exact"));
    let is_name = |text: &str| {
        let mut letters = text.bytes();
        letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
    };
    let help = "write the name from the .proto file, or `type: RegularExpression`";
    if let Some(text) = service.str().filter(|_| is_exact)
        && !text.strip_prefix('.').unwrap_or(text).split('.').all(is_name)
    {
        complaints.value(
            &service,
            format!("`{text}` is not the name of a gRPC service"),
            help,
        );
    }
    if let Some(text) = method.str().filter(|_| is_exact)
        && !is_name(text)
    {
        complaints.value(
            &method,
            format!("`{text}` is not the name of a gRPC method"),
            help,
        );
    }
    unique_names(complaints, one, "headers", "header");
}

fn unique_names<'a>(complaints: &mut Complaints<'_>, one: &Field<'a>, list: &'a str, what: &str) {
    let Some(list) = one.present(list) else {
        return;
    };
    let name = |entry: &Field<'a>| entry.text("name");
    for (again, first) in repeated(list.items(), name) {
        let message = format!(
            "a match lists the {what} `{}` twice",
            name(&again).unwrap_or_default()
        );
        complaints.again((&again, &first), message, "keep one of them");
    }
}
