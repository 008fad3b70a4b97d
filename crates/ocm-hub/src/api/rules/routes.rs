//! Routes: their parents, hostnames, rules (docs/systems/gateway-api.md#what-crds-say-in-rules).
//!
//! Owns: the rules of a route as a whole and of one of its rules. Flows in: routes of Gateway API's kinds. Flows out:
//! complaints. Must not know: Gateways.

use std::collections::{BTreeMap, HashMap};

use super::backend_refs::backend_ref;
use super::complaints::{Complaints, repeated};
use super::duration::milliseconds;
use super::filters::{Filters, filters, replaces_prefix};
use super::hostnames::{Addresses, hostname};
use super::matches::{grpc_match, http_match, is_prefix};
use super::sessions::session_persistence;
use crate::api::gateway::GROUP;
use apimachinery::Field;

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
        hostname(complaints, &name, addresses);
    }
    let rules = spec.get("rules");
    for (again, first) in repeated(rules.items(), |rule| rule.text("name")) {
        let name = again.get("name");
        let message = format!("two rules have the name `{}`", name.str().unwrap_or_default());
        let help = "give each rule a name of its own, or none";
        complaints.again((&name, &first.get("name")), message, help);
    }
    let mut count: usize = 0;
    let is_http = complaints.kind() == "HTTPRoute";
    for rule in rules.items() {
        for backend in rule.get("backendRefs").items() {
            backend_ref(complaints, &backend);
        }
        let default = usize::from(is_http);
        let matches = rule.present("matches");
        count = count.saturating_add(matches.map_or(default, |matches| matches.items().count()));
        match complaints.kind() {
            "HTTPRoute" => http_rule(complaints, &rule),
            "GRPCRoute" => grpc_rule(complaints, &rule),
            _ => {}
        }
    }
    if count > MATCHES_MAX {
        complaints.value(
            &rules,
            format!("{count} matches in all rules; at most {MATCHES_MAX} are allowed"),
            "split the route",
        );
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
            let (message, help) = if is_same {
                (
                    format!("`{name}` is listed as a parent twice"),
                    "remove one of them, or give each a `sectionName` or a `port` of its own",
                )
            } else {
                (
                    format!("`{name}` is listed as a parent both as a whole and by listener"),
                    "give both a `sectionName`, or both a `port`, or keep the one without them",
                )
            };
            complaints.again((&parent, other), message, help);
        }
        let at = known.by_part.len();
        known
            .by_shape
            .entry(shape)
            .or_insert_with(|| (at, parent.clone()));
        known.by_part.entry(part).or_insert((at, parent));
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
        filters(complaints, &list, Filters::Http);
        replaced = replaced.or_else(|| list.items().find_map(|filter| replaces_prefix(&filter)));
    }
    if let Some(redirect) = redirect.filter(|_| backends.items().next().is_some()) {
        let message = "a rule that redirects cannot have backends";
        complaints.value(
            &redirect,
            message,
            "remove `backendRefs`, or the filter RequestRedirect",
        );
    }
    // The CRD's default is the prefix `/`.
    let is_one_prefix = |matches: &Field<'_>| {
        let mut matches = matches.items();
        matches.next().is_some_and(|one| is_prefix(&one)) && matches.next().is_none()
    };
    if let Some(path) = replaced.filter(|_| !matches.as_ref().is_none_or(is_one_prefix)) {
        complaints.value(
            &path,
            "a prefix can be replaced only if the rule has exactly one match, of type PathPrefix",
            "split the rule, so that `matches` has one entry, with `path.type: PathPrefix`",
        );
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
        filters(complaints, &list, Filters::Grpc);
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
        complaints.value(
            &timeouts.get("backendRequest"),
            "the timeout of a request to the backend is longer than that of the whole request",
            "write at most the value of `request`",
        );
    }
}
