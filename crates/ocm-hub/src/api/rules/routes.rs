//! Routes: their parents, hostnames, rules (docs/systems/gateway-api.md#what-crds-say-in-rules).

use std::collections::{BTreeMap, HashMap};

use apimachinery::Field;

use super::complaints::{Addresses, Complaints, Types, has_text, milliseconds, repeated};
use crate::api::gateway::GROUP;

/// Most matches of all rules together.
const MATCHES_MAX: usize = 128;

/// All of a route.
pub(super) fn route(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    parents(complaints, &spec.get("parentRefs"));
    let addresses = match complaints.kind() {
        "TLSRoute" => Addresses::Refused,
        _ => Addresses::Doubtful,
    };
    for name in spec.get("hostnames").items() {
        complaints.hostname(&name, addresses);
    }
    let rules = spec.get("rules");
    for (again, first) in repeated(rules.items_with("name"), Field::str) {
        let message = format!("two rules have the name `{}`", again.str().unwrap_or_default());
        let help = "give each rule a name of its own, or none";
        complaints.again((&again, &first), message, help);
    }
    // The CRD's default is one match.
    let default = usize::from(complaints.kind() == "HTTPRoute");
    let mut count: usize = 0;
    for rule in rules.items() {
        for backend in rule.get("backendRefs").items() {
            backend_ref(complaints, &backend);
        }
        let matches = rule.present("matches");
        count = count.saturating_add(matches.map_or(default, |matches| matches.items().len()));
        match complaints.kind() {
            "HTTPRoute" => http_rule(complaints, &rule),
            "GRPCRoute" => grpc_rule(complaints, &rule),
            _ => {}
        }
    }
    if count > MATCHES_MAX {
        let message = format!("{count} matches in all rules; at most {MATCHES_MAX} are allowed");
        complaints.value(&rules, message, "split the route");
    }
}

/// The references to one parent: the first of each part, and of each shape that parts have, with how many others came before
/// it. A route may name thousands, so they are not compared with each other.
#[derive(Default)]
struct Parents<'v> {
    by_part: HashMap<(String, i64), (usize, Field<'v>)>,
    by_shape: BTreeMap<(bool, bool), (usize, Field<'v>)>,
}

/// How two references to one parent may differ: both name listeners, or both name ports, and those differ; or neither
/// does.
fn parents(complaints: &mut Complaints<'_>, parents: &Field<'_>) {
    if parents.items().len() < 2 {
        return;
    }
    let text =
        |parent: &Field<'_>, field: &str, default: &str| parent.text(field).unwrap_or(default).to_owned();
    let key = |parent: &Field<'_>| {
        [
            ("group", GROUP),
            ("kind", "Gateway"),
            ("name", ""),
            ("namespace", ""),
        ]
        .map(|(field, default)| text(parent, field, default))
    };
    let part = |parent: &Field<'_>| {
        let port = parent.get("port").integer().ok().flatten().unwrap_or_default();
        (text(parent, "sectionName", ""), port)
    };
    let mut known: HashMap<[String; 4], Parents<'_>> = HashMap::new();
    for parent in parents.items() {
        let part = part(&parent);
        let shape = (part.0.is_empty(), part.1 == 0);
        let known = known.entry(key(&parent)).or_default();
        let same = known.by_part.get(&part).map(|first| (first, true));
        let unlike = known.by_shape.iter().filter(|(other, _)| **other != shape);
        let clashing = same.into_iter().chain(unlike.map(|(_, first)| (first, false)));
        if let Some(((_, other), is_same)) = clashing.min_by_key(|((at, _), _)| *at) {
            let name = text(&parent, "name", "");
            if is_same {
                let message = format!("`{name}` is listed as a parent twice");
                let help = "remove one of them, or give each a `sectionName` or a `port` of its own";
                complaints.again((&parent, other), message, help);
            } else {
                let message = format!("`{name}` is listed as a parent both as a whole and by listener");
                let help = "give both a `sectionName`, or both a `port`, or keep the one without them";
                complaints.again((&parent, other), message, help);
            }
        }
        let first = (known.by_part.len(), parent);
        known.by_shape.entry(shape).or_insert_with(|| first.clone());
        known.by_part.entry(part).or_insert(first);
    }
}

fn http_rule(complaints: &mut Complaints<'_>, rule: &Field<'_>) {
    let matches = rule.present("matches");
    for one in matches.iter().flat_map(Field::items) {
        http_match(complaints, &one);
    }
    let of_rule = rule.present("filters");
    let backends = rule.get("backendRefs");
    let mut redirects = of_rule.iter().flat_map(Field::items);
    let redirect = redirects.find(|filter| filter.has("requestRedirect"));
    let mut replaced = None;
    for list in of_rule.iter().cloned().chain(backends.items_with("filters")) {
        filters(complaints, &list, HTTP);
        replaced = replaced.or_else(|| list.items().find_map(|filter| replaces_prefix(&filter)));
    }
    if let Some(redirect) = redirect.filter(|_| backends.items().next().is_some()) {
        let help = "remove `backendRefs`, or the filter RequestRedirect";
        complaints.value(&redirect, "a rule that redirects cannot have backends", help);
    }
    // The CRD's default is the prefix `/`.
    let is_one_prefix = |matches: &Field<'_>| {
        let mut matches = matches.items();
        matches.next().is_some_and(|one| is_prefix(&one)) && matches.next().is_none()
    };
    if let Some(path) = replaced.filter(|_| !matches.as_ref().is_none_or(is_one_prefix)) {
        let message = "a prefix can be replaced only if the rule has exactly one match, of type PathPrefix";
        let help = "split the rule, so that `matches` has one entry, with `path.type: PathPrefix`";
        complaints.value(&path, message, help);
    }
    if let Some(set) = rule.present("timeouts") {
        timeouts(complaints, &set);
    }
    session_persistence(complaints, rule);
}

fn grpc_rule(complaints: &mut Complaints<'_>, rule: &Field<'_>) {
    for one in rule.get("matches").items() {
        grpc_match(complaints, &one);
    }
    let of_backends = rule.get("backendRefs").items_with("filters");
    for list in rule.present("filters").into_iter().chain(of_backends) {
        filters(complaints, &list, GRPC);
    }
    session_persistence(complaints, rule);
}

fn timeouts(complaints: &mut Complaints<'_>, timeouts: &Field<'_>) {
    let length = |field: &str| timeouts.text(field).and_then(milliseconds);
    if let (Some(request), Some(backend)) = (length("request"), length("backendRequest"))
        // Zero means no limit.
        && request != 0
        && backend > request
    {
        let message = "the timeout of a request to the backend is longer than that of the whole request";
        let help = "write at most the value of `request`";
        complaints.value(&timeouts.get("backendRequest"), message, help);
    }
}

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
    let mut parts = parts.into_iter().filter(|part| text.contains(part)).chain(ends);
    if let Some(part) = parts.next() {
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
        let message = "a match by method names neither a service nor a method";
        let help = "add `service` or `method`, or remove `method` to match every call";
        complaints.value(&field, message, help);
    }
    let is_exact = matches!(field.text("type"), None | Some("Exact"));
    let is_name = |text: &str| {
        let is_letter = |character: char| character.is_ascii_alphanumeric() || character == '_';
        !text.is_empty()
            && text.chars().all(is_letter)
            && !text.starts_with(|first: char| first.is_ascii_digit())
    };
    let help = "write the name from the .proto file, or `type: RegularExpression`";
    if let Some(text) = service.str().filter(|_| is_exact)
        && !text.strip_prefix('.').unwrap_or(text).split('.').all(is_name)
    {
        let message = format!("`{text}` is not the name of a gRPC service");
        complaints.value(&service, message, help);
    }
    if let Some(text) = method.str().filter(|text| is_exact && !is_name(text)) {
        let message = format!("`{text}` is not the name of a gRPC method");
        complaints.value(&method, message, help);
    }
    unique_names(complaints, one, "headers", "header");
}

fn unique_names<'a>(complaints: &mut Complaints<'_>, one: &Field<'a>, list: &'a str, what: &str) {
    let Some(list) = one.present(list) else {
        return;
    };
    for (again, first) in repeated(list.items(), |entry| entry.text("name")) {
        let name = again.text("name").unwrap_or_default();
        let message = format!("a match lists the {what} `{name}` twice");
        complaints.again((&again, &first), message, "keep one of them");
    }
}

/// The types of filters, and the field of each.
const HTTP: Types<'_> = &[
    ("RequestHeaderModifier", "requestHeaderModifier"),
    ("ResponseHeaderModifier", "responseHeaderModifier"),
    ("RequestMirror", "requestMirror"),
    ("RequestRedirect", "requestRedirect"),
    ("URLRewrite", "urlRewrite"),
    ("ExtensionRef", "extensionRef"),
    ("CORS", "cors"),
    ("ExternalAuth", "externalAuth"),
];

/// Those that GRPCRoutes have.
const GRPC: Types<'_> = &[
    ("RequestHeaderModifier", "requestHeaderModifier"),
    ("ResponseHeaderModifier", "responseHeaderModifier"),
    ("RequestMirror", "requestMirror"),
    ("ExtensionRef", "extensionRef"),
];

/// Types of which a list may have several.
const SEVERAL: [&str; 3] = ["RequestMirror", "ExtensionRef", "ExternalAuth"];

/// A list of filters, of a rule or of a backend.
fn filters(complaints: &mut Complaints<'_>, list: &Field<'_>, types: Types<'static>) {
    for filter in list.items() {
        let what = ("a filter", "type");
        complaints.of_its_type(what, &filter, types, Field::is_present);
        // Most fields of most filters are absent: they are not asked for.
        for field in filter.names() {
            content(complaints, &filter, field);
        }
    }
    let once = |filter: &Field<'_>| {
        let own = filter.text("type")?;
        let (known, _) = types.iter().find(|(name, _)| *name == own)?;
        Some(*known).filter(|known| !SEVERAL.contains(known))
    };
    for (again, first) in repeated(list.items(), once) {
        let message = format!("two filters have type {}", once(&again).unwrap_or_default());
        complaints.again((&again.get("type"), &first.get("type")), message, "merge the two");
    }
    let find = |name: &str| list.items().find(|filter| filter.text("type") == Some(name));
    if let Some(rewrite) = find("URLRewrite")
        && find("RequestRedirect").is_some()
    {
        let message = "a redirected request cannot be rewritten";
        let help = "remove the filter URLRewrite, or RequestRedirect";
        complaints.value(&rewrite.get("type"), message, help);
    }
}

/// One field of a filter.
fn content<'a>(complaints: &mut Complaints<'_>, filter: &Field<'a>, field: &'a str) {
    match field {
        "requestRedirect" | "urlRewrite" => {
            if let Some(path) = path(filter, field) {
                let what = ("a path", "type");
                complaints.of_its_type(what, &path, &MODIFIERS, Field::is_present);
            }
        }
        "requestMirror" => {
            if let Some(mirror) = filter.present(field) {
                backend_ref(complaints, &mirror.get("backendRef"));
                fraction(complaints, &mirror);
            }
        }
        "cors" => cors(complaints, &filter.get(field)),
        "externalAuth" => {
            if let Some(auth) = filter.present(field) {
                backend_ref(complaints, &auth.get("backendRef"));
                let protocols = [("GRPC", "grpc"), ("HTTP", "http")];
                let what = ("external authorization", "protocol");
                complaints.of_its_type(what, &auth, &protocols, Field::is_present);
            }
        }
        _ => {}
    }
}

/// In a list of what is allowed, `*` is all.
fn cors(complaints: &mut Complaints<'_>, cors: &Field<'_>) {
    for field in ["allowHeaders", "allowMethods", "allowOrigins"] {
        let list = cors.get(field);
        if list.items().count() > 1 && list.items().any(|entry| entry.str() == Some("*")) {
            let message = format!("`*` in `{field}` must be the only value");
            complaints.value(&list, message, "keep `*` alone, or remove it");
        }
    }
}

/// How many of the requests a filter mirrors.
fn fraction(complaints: &mut Complaints<'_>, mirror: &Field<'_>) {
    let fraction = mirror.get("fraction");
    if mirror.has("percent") && fraction.is_present() {
        let message = "`percent` and `fraction` set the same value";
        complaints.key(&fraction, message, "keep one of them");
    }
    let number = |field: &str| fraction.get(field).integer().ok().flatten();
    if let Some(numerator) = number("numerator")
        && numerator > number("denominator").unwrap_or(100)
    {
        let message = "the fraction of mirrored requests is greater than 1";
        let help = "write at most the value of `denominator`, which is 100 by default";
        complaints.value(&fraction.get("numerator"), message, help);
    }
}

/// The types of path modifiers, and the field of each.
const MODIFIERS: [(&str, &str); 2] = [
    ("ReplaceFullPath", "replaceFullPath"),
    ("ReplacePrefixMatch", "replacePrefixMatch"),
];

/// How a filter changes the path of a request.
fn path<'a>(filter: &Field<'a>, field: &'a str) -> Option<Field<'a>> {
    filter.present(field)?.present("path")
}

/// The field of a filter that replaces the prefix of a path.
pub(super) fn replaces_prefix<'a>(filter: &Field<'a>) -> Option<Field<'a>> {
    ["requestRedirect", "urlRewrite"].into_iter().find_map(|field| {
        let path = path(filter, field)?;
        let replaces = path.text("type") == Some("ReplacePrefixMatch");
        path.present("replacePrefixMatch").filter(|_| replaces)
    })
}

/// A Service has several ports, so one must be named; other kinds of backends need none.
pub(super) fn backend_ref(complaints: &mut Complaints<'_>, reference: &Field<'_>) {
    if reference.has("port") {
        return;
    }
    let group = reference.text("group").unwrap_or_default();
    let kind = reference.text("kind").unwrap_or("Service");
    if reference.is_present() && (group, kind) == ("", "Service") {
        let name = reference.text("name").unwrap_or_default();
        let help = "add `port`, the number of a port of the Service";
        complaints.value(reference, format!("the backend Service {name} has no port"), help);
    }
}

/// The `sessionPersistence` of a mapping, if it is there.
pub(super) fn session_persistence(complaints: &mut Complaints<'_>, holder: &Field<'_>) {
    let Some(persistence) = holder.present("sessionPersistence") else {
        return;
    };
    let Some(cookie) = persistence.present("cookieConfig") else {
        return;
    };
    if persistence.text("type").is_some_and(|kind| kind != "Cookie") {
        let message = "`cookieConfig` is only for sessions of type Cookie";
        complaints.key(&cookie, message, "remove it, or write `type: Cookie`");
    }
    let is_permanent = cookie.text("lifetimeType") == Some("Permanent");
    if is_permanent && !has_text(&persistence.get("absoluteTimeout")) {
        let message = "a permanent cookie needs an absolute timeout";
        let help = "add `absoluteTimeout` to `sessionPersistence`";
        complaints.value(&cookie.get("lifetimeType"), message, help);
    }
}
