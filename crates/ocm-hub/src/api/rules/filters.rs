//! Filters of HTTPRoutes and GRPCRoutes.
//!
//! Owns: which field belongs to which type of filter, which types a list may have only once, and the rules of each
//! filter.
//! Flows in: lists of filters. Flows out: complaints. Must not know: what a rule matches.

use super::backend_refs::backend_ref;
use super::choices::of_its_type;
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

/// A type of filter.
struct Type {
    name: &'static str,
    field: &'static str,
    /// Whether a list may have several.
    repeats: bool,
    /// Whether GRPCRoutes have it.
    grpc: bool,
}

const fn of(name: &'static str, field: &'static str, repeats: bool, grpc: bool) -> Type {
    Type {
        name,
        field,
        repeats,
        grpc,
    }
}

const TYPES: [Type; 8] = [
    of("RequestHeaderModifier", "requestHeaderModifier", false, true),
    of("ResponseHeaderModifier", "responseHeaderModifier", false, true),
    of("RequestMirror", "requestMirror", true, true),
    of("RequestRedirect", "requestRedirect", false, false),
    of("URLRewrite", "urlRewrite", false, false),
    of("ExtensionRef", "extensionRef", true, true),
    of("CORS", "cors", false, false),
    of("ExternalAuth", "externalAuth", true, false),
];

/// A list of filters.
pub(super) fn filters(complaints: &mut Complaints<'_>, list: &Field<'_>, whose: Filters) {
    let known = || {
        TYPES
            .iter()
            .filter(move |known| known.grpc || whose == Filters::Http)
    };
    let named = |filter: &Field<'_>| {
        let name = filter.text("type")?;
        known().find(|known| known.name == name)
    };
    let types: Vec<(&str, &str)> = known().map(|known| (known.name, known.field)).collect();
    for filter in list.items() {
        of_its_type(
            complaints,
            ("a filter", "type"),
            &filter,
            &types,
            Field::is_present,
        );
        content(complaints, &filter);
    }
    let once = |filter: &Field<'_>| Some(named(filter).filter(|known| !known.repeats)?.name);
    for (again, first) in repeated(list.items(), once) {
        let message = format!("two filters have type {}", once(&again).unwrap_or_default());
        complaints.again((&again.get("type"), &first.get("type")), message, "merge the two");
    }
    let find = |name: &str| list.items().find(|filter| filter.text("type") == Some(name));
    if let (Some(_), Some(rewrite)) = (find("RequestRedirect"), find("URLRewrite")) {
        let message = "a redirected request cannot be rewritten";
        let help = "remove the filter URLRewrite, or RequestRedirect";
        complaints.value(&rewrite.get("type"), message, help);
    }
}

fn content(complaints: &mut Complaints<'_>, filter: &Field<'_>) {
    for field in ["requestRedirect", "urlRewrite"] {
        let path = filter.get(field).get("path");
        of_its_type(
            complaints,
            ("a path", "type"),
            &path,
            &MODIFIERS,
            Field::is_present,
        );
    }
    let mirror = filter.get("requestMirror");
    backend_ref(complaints, &mirror.get("backendRef"));
    let fraction = mirror.get("fraction");
    if mirror.get("percent").is_present() && fraction.is_present() {
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
    for field in ["allowHeaders", "allowMethods", "allowOrigins"] {
        let list = filter.get("cors").get(field);
        if list.items().count() > 1 && list.items().any(|entry| entry.str() == Some("*")) {
            complaints.value(
                &list,
                format!("`*` in `{field}` must be the only value"),
                "keep `*` alone, or remove it",
            );
        }
    }
    let auth = filter.get("externalAuth");
    backend_ref(complaints, &auth.get("backendRef"));
    let protocols = [("GRPC", "grpc"), ("HTTP", "http")];
    let what = ("external authorization", "protocol");
    of_its_type(complaints, what, &auth, &protocols, Field::is_present);
}

/// The types of path modifiers, and the field of each.
const MODIFIERS: [(&str, &str); 2] = [
    ("ReplaceFullPath", "replaceFullPath"),
    ("ReplacePrefixMatch", "replacePrefixMatch"),
];

/// The field of a filter that replaces the prefix of a path.
pub(super) fn replaces_prefix<'a>(filter: &Field<'a>) -> Option<Field<'a>> {
    ["requestRedirect", "urlRewrite"].into_iter().find_map(|field| {
        let path = filter.get(field).get("path");
        let replaces = path.text("type") == Some("ReplacePrefixMatch");
        Some(path.get("replacePrefixMatch")).filter(|prefix| replaces && prefix.is_present())
    })
}
