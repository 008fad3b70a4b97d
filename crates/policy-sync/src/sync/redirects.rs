//! Redirects that lead back to where they are: a client follows them until it gives up.

use std::collections::BTreeSet;

use apimachinery::Work;
use kube_json::Value;

use super::shadowed::items;
use crate::api::gateway::GROUP;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::Ours;
use crate::policy::Attachments;
use crate::topology::{ListenerNode, Request, RouteNode, RuleId, covers};

/// A rule that redirects: which one, where its redirect is, the rule, and the redirect.
type Redirect<'r> = (RuleId, String, &'r Value, &'r Value);

/// Reports each rule of a route of ours that answers a request by a redirect to the same request.
pub fn report_redirects(attachments: &Attachments<'_>, ours: &Ours<'_>, findings: &mut Findings) {
    let topology = &attachments.topology;
    let mut reported = BTreeSet::new();
    for (gateway, node) in topology.gateways.iter() {
        let object = node.object;
        if ours.find(object.namespace_or_empty(), &object.name).is_none() {
            continue;
        }
        for (listener, route_id) in &node.attached {
            let (listener, route) = (topology.listeners.get(*listener), topology.routes.get(*route_id));
            let leads_to_itself = |(id, _, rule, redirect): &Redirect<'_>| {
                let request = example(listener, route, (rule, redirect));
                let request = request.filter(|request| leads_back(redirect, listener, request));
                // Only if that rule answers it for certain.
                let taken = request.and_then(|request| topology.take(gateway, &request, &Work::default()));
                taken.is_some_and(|taken| {
                    let mut rules = taken.rules.iter();
                    let first = rules.next().map(|first| (first.route, first.rule));
                    taken.unknown.is_empty() && first == Some((*route_id, *id))
                })
            };
            for (id, pointer, ..) in redirects_of(route).into_iter().filter(leads_to_itself) {
                if !reported.insert((*route_id, id)) {
                    continue;
                }
                let message = format!(
                    "{} redirects requests to listener `{}` of {} to where they came from",
                    route.object.identity(),
                    listener.name,
                    object.identity()
                );
                findings.push(
                    Finding::new(Code::ROUTE_REDIRECTS_TO_ITSELF, route.object.place(&pointer), message)
                        .label("an endless redirect")
                        .help("redirect elsewhere, or attach the route to the other listener alone: `sectionName` in `parentRefs`"),
                );
            }
        }
    }
}

fn redirects_of<'r>(route: &'r RouteNode<'_>) -> Vec<Redirect<'r>> {
    let rules = route.object.value.pointer("/spec/rules");
    let rules = items(rules.filter(|_| route.object.is(GROUP, "HTTPRoute")));
    let redirects = rules
        .iter()
        .zip(&route.rules)
        .enumerate()
        .filter_map(|(position, (rule, id))| {
            let mut filters = items(rule.get("filters")).iter().enumerate();
            let (at, redirect) =
                filters.find_map(|(at, filter)| Some((at, filter.get("requestRedirect")?)))?;
            Some((
                *id,
                format!("/spec/rules/{position}/filters/{at}/requestRedirect"),
                rule,
                redirect,
            ))
        });
    redirects.collect()
}

/// A request that the rule is meant for; none where its matches ask for more than a path.
fn example(
    listener: &ListenerNode<'_>,
    route: &RouteNode<'_>,
    (rule, redirect): (&Value, &Value),
) -> Option<Request> {
    let scheme = match listener.protocol() {
        "HTTP" => "http",
        "HTTPS" => "https",
        _ => return None,
    };
    let path = match items(rule.get("matches")) {
        [] => "/",
        matches => matches.iter().find_map(|one| {
            let fields = one.as_object()?;
            let is_path_alone = fields.keys().all(|key| *key == "path");
            let path = one.get("path");
            let text = |key: &str| path.and_then(|path| path.get(key)?.as_str());
            let is_text = text("type").is_none_or(|kind| ["Exact", "PathPrefix"].contains(&kind));
            (is_path_alone && is_text).then(|| text("value").unwrap_or("/"))
        })?,
    };
    let hosts = listener.common_hostnames(&route.route);
    // The host that it leads to may be one of those that lead here.
    let to = redirect.get("hostname").and_then(Value::as_str);
    let is_served = |host: &&str| hosts.iter().any(|own| covers(own, host));
    let host = match to.filter(is_served) {
        Some(host) => host.to_owned(),
        None => hosts.first()?.replace('*', "any"),
    };
    // Proxies say so to rules that ask for it.
    let forwarded = format!("x-forwarded-proto={scheme}");
    Request::parse(
        &format!("{scheme}://{host}:{}{path}", listener.port()?),
        &[forwarded],
    )
    .ok()
}

/// Whether a redirect leaves scheme, host, port, and path as they are. Without a port, one with a scheme leads to the
/// usual port of the scheme: kubernetes-sigs/gateway-api apis/v1/httproute_types.go@v1.6.1, HTTPRequestRedirectFilter.
fn leads_back(redirect: &Value, listener: &ListenerNode<'_>, request: &Request) -> bool {
    let text = |key: &str| redirect.get(key).and_then(Value::as_str);
    let scheme = listener.protocol().to_lowercase();
    let port = redirect
        .get("port")
        .and_then(Value::as_i64)
        .or(match text("scheme") {
            Some("https") => Some(443),
            Some("http") => Some(80),
            _ => listener.port(),
        });
    text("scheme").is_none_or(|to| to == scheme)
        && text("hostname").is_none_or(|to| to.eq_ignore_ascii_case(&request.host))
        && port == listener.port()
        && redirect.get("path").is_none_or(|path| {
            let to = path
                .get("replaceFullPath")
                .or_else(|| path.get("replacePrefixMatch"));
            to.and_then(Value::as_str) == Some(&*request.path)
        })
}
