//! Filters of HTTPRoutes and GRPCRoutes.
//!
//! Owns: which field belongs to which type of filter, which types a list may have only once, and the rules of each
//! filter.
//! Flows in: lists of filters. Flows out: complaints. Must not know: what a rule matches.

use super::backend_refs::backend_ref;
use super::choices::{Types, of_its_type};
use super::complaints::{Complaints, repeated};
use apimachinery::Field;

/// The kind of route that the filters belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filters {
    /// An HTTPRoute's.
    Http,
    /// A GRPCRoute's.
    Grpc,
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
pub(super) fn filters(complaints: &mut Complaints<'_>, list: &Field<'_>, whose: Filters) {
    let types = match whose {
        Filters::Http => HTTP,
        Filters::Grpc => GRPC,
    };
    for filter in list.items() {
        let what = ("a filter", "type");
        of_its_type(complaints, what, &filter, types, Field::is_present);
        // Most fields of most filters are absent: they are not asked for.
        for field in filter.names() {
            content(complaints, &filter, field);
        }
    }
    // What follows compares filters.
    if list.items().len() < 2 {
        return;
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
                of_its_type(complaints, what, &path, &MODIFIERS, Field::is_present);
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
                of_its_type(complaints, what, &auth, &protocols, Field::is_present);
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
            complaints.value(
                &list,
                format!("`*` in `{field}` must be the only value"),
                "keep `*` alone, or remove it",
            );
        }
    }
}

/// How many of the requests a filter mirrors.
fn fraction(complaints: &mut Complaints<'_>, mirror: &Field<'_>) {
    let fraction = mirror.get("fraction");
    if mirror.has("percent") && fraction.is_present() {
        complaints.key(
            &fraction,
            "`percent` and `fraction` set the same value",
            "keep one of them",
        );
    }
    let number = |field: &str| fraction.get(field).integer().ok().flatten();
    if let Some(numerator) = number("numerator")
        && numerator > number("denominator").unwrap_or(100)
    {
        let message = "the fraction of mirrored requests is greater than 1";
        complaints.value(
            &fraction.get("numerator"),
            message,
            "write at most the value of `denominator`, which is 100 by default",
        );
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
