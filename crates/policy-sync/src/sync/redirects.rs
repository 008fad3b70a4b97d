//! Redirects that lead back to where they are: a client follows them until it gives up.

use std::collections::BTreeSet;

use apimachinery::Work;
use kube_json::Value;

use crate::api::gateway::GROUP;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::Ours;
use crate::policy::Attachments;
use crate::topology::{GatewayId, ListenerNode, Request, RouteId, RouteNode, RuleId, Topology, covers};

/// Reports each rule of a route of ours that answers a request by a redirect to the same request.
pub fn report_redirects(attachments: &Attachments<'_>, ours: &Ours<'_>, findings: &mut Findings) {
    let topology = &attachments.topology;
    let mut said = BTreeSet::new();
    for (gateway, node) in topology.gateways.iter() {
        let object = node.object;
        if ours.find(object.namespace_or_empty(), &object.name).is_none() {
            continue;
        }
        for (listener, route) in &node.attached {
            let (at, route_node) = (topology.listeners.get(*listener), topology.routes.get(*route));
            if !route_node.object.is(GROUP, "HTTPRoute") {
                continue;
            }
            let rules = route_node
                .object
                .value
                .pointer("/spec/rules")
                .and_then(Value::as_array);
            for (position, rule) in rules.into_iter().flatten().enumerate() {
                let Some((filter, redirect)) = redirect_of(rule) else {
                    continue;
                };
                let Some(request) = example(at, route_node, (rule, redirect))
                    .filter(|request| leads_back(redirect, at, request))
                else {
                    continue;
                };
                let is_answer = route_node
                    .rules
                    .get(position)
                    .is_some_and(|id| answers(topology, gateway, &request) == Some((*route, *id)));
                if is_answer && said.insert((*route, position)) {
                    let message = format!(
                        "{} redirects requests to listener `{}` of {} to where they came from",
                        route_node.object.identity(),
                        at.name,
                        object.identity()
                    );
                    let pointer = format!("/spec/rules/{position}/filters/{filter}/requestRedirect");
                    findings.push(
                        Finding::new(Code::ROUTE_REDIRECTS_TO_ITSELF, route_node.object.place(&pointer), message)
                            .label("an endless redirect")
                            .help("redirect elsewhere, or attach the route to the other listener alone: `sectionName` in `parentRefs`"),
                    );
                }
            }
        }
    }
}

/// The redirect of a rule, and the position of its filter.
fn redirect_of(rule: &Value) -> Option<(usize, &Value)> {
    let filters = rule.get("filters")?.as_array()?;
    let mut redirects = filters.iter().enumerate();
    redirects.find_map(|(at, filter)| Some((at, filter.get("requestRedirect")?)))
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
    let matches = rule
        .get("matches")
        .and_then(Value::as_array)
        .filter(|all| !all.is_empty());
    let path = match matches {
        None => "/",
        Some(matches) => matches.iter().find_map(|one| {
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

/// The rule that answers a request for certain.
fn answers(topology: &Topology<'_>, gateway: GatewayId, request: &Request) -> Option<(RouteId, RuleId)> {
    let taken = topology.take(gateway, request, &Work::default())?;
    let first = taken.rules.first().filter(|_| taken.unknown.is_empty())?;
    Some((first.route, first.rule))
}
