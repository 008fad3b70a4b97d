//! Redirects that lead back to where they are: a client follows them until it gives up.

use std::collections::BTreeSet;

use apimachinery::Work;
use kube_json::Value;

use super::synced_object::Syncing;
use crate::api::gateway::GROUP;
use crate::diagnostic::{Code, Finding, Findings};
use crate::topology::{
    GatewayId, ListenerNode, Request, RouteId, RouteMatch, RouteNode, RuleId, Topology, covers, items,
};

/// The longest circle that is found: clients follow more redirects, but nobody writes such circles by mistake.
const LONGEST_CIRCLE: usize = 8;

/// The most redirects of a Gateway that are followed, of those that may lead back: each step asks all routes of a listener.
const MOST_REDIRECTS: usize = 500;

/// A rule that redirects.
struct Redirect<'r> {
    rule_id: RuleId,
    /// Where its redirect is in the route.
    pointer: String,
    matches: Vec<RouteMatch<'r>>,
    filter: &'r Value,
}

/// Reports redirects of routes of ours that lead back to the request that they answer, by themselves or over others.
pub fn report_redirects(syncing: Syncing<'_>, findings: &mut Findings) {
    let topology = &syncing.attachments.topology;
    let mut reported = BTreeSet::new();
    for (gateway, node) in topology.gateways.iter() {
        if syncing.our_gateway(gateway).is_none() {
            continue;
        }
        let mut redirects = Vec::new();
        for (listener, route_id) in &node.attached {
            let (listener, route) = (topology.listeners.get(*listener), topology.routes.get(*route_id));
            for redirect in redirects_of(route) {
                let start = example(listener, route, &redirect);
                let next = start.as_ref().and_then(|start| redirected(&redirect, start));
                if let Some((start, next)) = start.zip(next) {
                    redirects.push((listener, (*route_id, redirect.rule_id), start, next));
                }
            }
        }
        // Most lead to another listener, where nothing redirects.
        let may_go_on = |next: &Request| redirects.iter().any(|(listener, ..)| listener.hears(next));
        let followed = redirects.iter().filter(|(.., next)| may_go_on(next));
        for (listener, rule, start, _) in followed.take(MOST_REDIRECTS) {
            let circle = circle(topology, gateway, start).filter(|circle| circle.first() == Some(rule));
            let Some(circle) = circle else { continue };
            // A circle is found from each of its rules.
            let new = circle.iter().filter(|rule| reported.insert(**rule));
            if new.count() == circle.len() {
                let whose = format!("listener `{}` of {}", listener.name, node.object.identity());
                findings.extend(endless(topology, &circle, &whose));
            }
        }
    }
}

/// The finding about the first rule of a circle.
fn endless(topology: &Topology<'_>, circle: &[(RouteId, RuleId)], listener: &str) -> Option<Finding> {
    let place = |(route, id): &(RouteId, RuleId)| {
        let route = topology.routes.get(*route);
        let redirect = redirect_of(route, *id)?;
        Some((route.object.identity(), route.object.place(&redirect.pointer)))
    };
    let mut places = circle.iter().filter_map(place);
    let (route, first) = places.next()?;
    let way = if circle.len() == 1 {
        ""
    } else {
        ", over other redirects"
    };
    let message = format!("{route} redirects requests to {listener} to where they came from{way}");
    let finding = Finding::new(Code::ROUTE_REDIRECTS_TO_ITSELF, first, message)
        .label("an endless redirect")
        .help("redirect elsewhere, or attach the route to the other listener alone: `sectionName` in `parentRefs`");
    Some(places.fold(finding, |finding, (_, place)| {
        finding.related(place, "which leads here")
    }))
}

/// The rules that redirect a request, one after the other, until it is the same again. None if any of them may not be
/// the one that answers.
fn circle(topology: &Topology<'_>, gateway: GatewayId, start: &Request) -> Option<Vec<(RouteId, RuleId)>> {
    let mut request = start.clone();
    let mut rules = Vec::new();
    while rules.len() < LONGEST_CIRCLE {
        let taken = topology.take(gateway, &request, &Work::default())?;
        let first = taken.rules.first().filter(|_| taken.unknown.is_empty())?;
        let redirect = redirect_of(topology.routes.get(first.route), first.rule)?;
        rules.push((first.route, first.rule));
        request = redirected(&redirect, &request)?;
        if request == *start {
            return Some(rules);
        }
    }
    None
}

fn redirect_of<'r>(route: &'r RouteNode<'_>, rule: RuleId) -> Option<Redirect<'r>> {
    let mut redirects = redirects_of(route).into_iter();
    redirects.find(|redirect| redirect.rule_id == rule)
}

fn redirects_of<'r>(route: &'r RouteNode<'_>) -> Vec<Redirect<'r>> {
    let rules = route.object.value.pointer("/spec/rules");
    let rules = items(rules.filter(|_| route.object.is(GROUP, "HTTPRoute")));
    let rules = rules.iter().zip(&route.rules).enumerate();
    let redirects = rules.filter_map(|(position, (rule, id))| {
        let mut filters = items(rule.get("filters")).iter().enumerate();
        let (at, filter) = filters.find_map(|(at, filter)| Some((at, filter.get("requestRedirect")?)))?;
        Some(Redirect {
            rule_id: *id,
            pointer: format!("/spec/rules/{position}/filters/{at}/requestRedirect"),
            matches: RouteMatch::of_rule(&route.object.kind, rule),
            filter,
        })
    });
    redirects.collect()
}

/// A request that the rule is meant for; none where its matches ask for more than a path.
fn example(listener: &ListenerNode<'_>, route: &RouteNode<'_>, redirect: &Redirect<'_>) -> Option<Request> {
    let scheme = match listener.protocol {
        "HTTP" => "http",
        "HTTPS" => "https",
        _ => return None,
    };
    let is_path_alone =
        |one: &&RouteMatch<'_>| one.method.is_none() && one.headers.is_empty() && one.parameters.is_empty();
    let mut paths = redirect.matches.iter().filter(is_path_alone);
    let path = paths
        .find(|one| ["Exact", "PathPrefix"].contains(&one.kind))?
        .path();
    let hosts = listener.common_hostnames(route.route);
    // The host that it leads to may be one of those that lead here.
    let to = redirect.filter.get("hostname").and_then(Value::as_str);
    let is_served = |host: &&str| hosts.iter().any(|own| covers(own, host));
    let host = match to.filter(is_served) {
        Some(host) => host.to_owned(),
        None => hosts.first()?.replace('*', "any"),
    };
    request(scheme, &host, listener.port?, path)
}

fn request(scheme: &str, host: &str, port: i64, path: &str) -> Option<Request> {
    // Proxies say so to rules that ask for it.
    let forwarded = format!("x-forwarded-proto={scheme}");
    Request::parse(&format!("{scheme}://{host}:{port}{path}"), &[forwarded]).ok()
}

/// The request that a client sends next. Without a port, a redirect with a scheme leads to the usual port of the scheme:
/// kubernetes-sigs/gateway-api apis/v1/httproute_types.go@v1.6.1, HTTPRequestRedirectFilter.
fn redirected(redirect: &Redirect<'_>, from: &Request) -> Option<Request> {
    let filter = redirect.filter;
    let text = |key: &str| filter.get(key).and_then(Value::as_str);
    let own = if from.scheme.is_encrypted() {
        "https"
    } else {
        "http"
    };
    let port = filter.get("port").and_then(Value::as_i64);
    let usual = match text("scheme") {
        Some("https") => 443,
        Some("http") => 80,
        _ => from.port,
    };
    let replaced = |key: &str| filter.pointer(&format!("/path/{key}")).and_then(Value::as_str);
    let path = match (replaced("replaceFullPath"), replaced("replacePrefixMatch")) {
        (Some(path), _) => path.to_owned(),
        (_, Some(prefix)) => {
            let prefixes = redirect.matches.iter().map(RouteMatch::path);
            let rests = prefixes.filter_map(|prefix| from.path.strip_prefix(prefix.trim_end_matches('/')));
            let rest = rests.min_by_key(|rest| rest.len()).unwrap_or(&from.path);
            [prefix.trim_end_matches('/'), rest].concat()
        }
        _ => from.path.clone(),
    };
    let host = text("hostname").unwrap_or(&from.host).to_lowercase();
    request(
        &text("scheme").unwrap_or(own).to_lowercase(),
        &host,
        port.unwrap_or(usual),
        &path,
    )
}
