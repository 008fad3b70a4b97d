//! Parents of routes that do not exist: missing Gateways, ListenerSets, and listeners; and routes that are each other's
//! parents.

use std::collections::{BTreeSet, HashMap};

use apimachinery::Identity;

use super::hierarchy::Topology;
use super::node::{Node, RouteId};
use super::sources::Sources;
use super::suggestions::{Suggestion, Suggestions};
use crate::api::gateway::{GROUP, ParentRef, is_listener_set};
use crate::api::route::Route;
use crate::diagnostic::{Code, Finding, Findings, Severity};

/// Parents of a hub route that are Gateways, ListenerSets or listeners and not in the input; `is_synced` is whether the
/// route would be shipped with them.
pub(super) fn missing_parents<'a>(
    topology: &Topology<'_>,
    sources: Sources<'a>,
    (route, is_synced): (Route<'_>, bool),
    near: &mut Suggestions<'a>,
    findings: &mut Findings,
) {
    let object = route.object;
    let leads_to_gateways = |group: &str, kind: &str| {
        (group, kind) == (GROUP, "Gateway") || is_listener_set(group, kind) || topology.is_route(group, kind)
    };
    for parent in &route.parents {
        let (group, kind) = parent.object.group_kind();
        let identity = || parent.object.identity(object.namespace_or_empty());
        let is_gateway = (group, kind) == (GROUP, "Gateway");
        let owner = topology.parent(object.namespace_or_empty(), parent).ok();
        let parent_node = owner.map(|(gateway, set)| set.map_or(Node::Gateway(gateway), Node::ListenerSet));
        let is_there = |node| {
            let section = parent.section_name.as_deref();
            section.is_none_or(|section| topology.find_section(node, Some(section)).is_some())
        };
        // Most are there, and have no need of a name of their own.
        if parent_node.is_some_and(is_there) {
            continue;
        }
        let identity = identity();
        // Why one that is there cannot be read, or is attached to no Gateway, is reported there.
        if parent_node.is_none() && sources.get(&identity).is_some() {
            let detached = topology.detached_at(&identity).filter(|_| is_synced);
            findings.extend(detached.map(|set| {
                let what = match route.parents.as_slice() {
                    [_] => format!("is not attached: {identity} is not"),
                    _ => format!("is not attached to {identity}"),
                };
                object
                    .finding(Code::ROUTE_NOT_ATTACHED, &parent.pointer(), what)
                    .help("attach the ListenerSet, or name the Gateway as the parent")
                    .follows_from(set)
            }));
            continue;
        }
        let (field, message) = match (parent_node, parent.section_name.as_deref()) {
            (Some(_), Some(section)) => ("sectionName", format!("{identity} has no listener `{section}`")),
            _ => ("name", format!("{identity} is not in the input")),
        };
        let pointer = parent.pointer();
        let place = object.place(&format!("{pointer}/{field}"));
        let reference = (object, pointer.as_str(), parent.object.namespace.as_deref());
        let finding = Finding::new(Code::ROUTE_PARENT_NOT_FOUND, place, message)
            .label(format!("a parent of {}", object.identity()))
            .missing(identity.clone());
        // A reference without a `kind` means a Gateway.
        let as_set = || {
            let set = Identity::new(
                GROUP,
                "ListenerSet",
                identity.namespace.as_deref(),
                &parent.object.name,
            );
            sources.get(&set).filter(|_| is_gateway).map(Suggestion::kind)
        };
        let finding = match (parent_node, parent.section_name.as_deref()) {
            (Some(node), Some(section)) => {
                let near = sources
                    .get(&identity)
                    .and_then(|parent| Suggestion::section(parent, section));
                let sections = topology.sections(node).into_iter();
                let names: Vec<&str> = sections.filter_map(|section| topology.section(section)).collect();
                let what = format!("listener `{section}` of {identity}");
                match near {
                    Some(near) => near.explain(finding, &what, reference),
                    // The Gateway is here, so the listener is nowhere else.
                    None if names.is_empty() => finding.help("correct the name, or add the listener"),
                    None => finding.help(format!("it has: {}", names.join(", "))),
                }
                .severity(Severity::Error)
            }
            _ => match near
                .find_for(parent.object.namespace.as_deref(), &identity)
                .filter(|near| near.is(leads_to_gateways))
                .or_else(as_set)
            {
                Some(near) => near.explain(finding, &identity.to_string(), reference),
                None if is_gateway || is_listener_set(group, kind) => {
                    finding.help(format!("correct the name or the namespace, or add the {kind}"))
                }
                // A Service may live on the clusters, and a route in another repository.
                None => continue,
            },
        };
        findings.push(if is_synced {
            finding
        } else {
            finding.severity(Severity::Warning)
        });
    }
}

/// Routes whose parents are routes, in a circle. Peeling off what has no such parent, then what has no such
/// child, leaves the circles and the ways between them: linear.
pub(super) fn parent_cycles(topology: &Topology<'_>, findings: &mut Findings) {
    let mut edges: Vec<Edge<'_>> = Vec::new();
    for (child, node) in topology.routes.iter() {
        for parent in &node.route.parents {
            let kind = parent.object.group_kind();
            if !topology.is_route(kind.0, kind.1) {
                continue;
            }
            let namespace = parent.object.namespace_from(node.object.namespace_or_empty());
            if let Some(found) = topology.find_route(kind, namespace, &parent.object.name) {
                edges.push((child, found, parent));
            }
        }
    }
    let mut alive: BTreeSet<RouteId> = edges
        .iter()
        .flat_map(|(child, parent, _)| [*child, *parent])
        .collect();
    for upwards in [true, false] {
        peel(&mut alive, &edges, upwards);
    }
    for (child, parent, reference) in edges {
        if !alive.contains(&child) || !alive.contains(&parent) {
            continue;
        }
        let route = topology.routes.get(child);
        findings.push(
            route
                .object
                .finding(
                    Code::ROUTE_PARENT_CYCLE,
                    &reference.pointer(),
                    "is its own parent, through its other parents",
                )
                .label("this parent leads back here")
                .help("point the outermost route at a Gateway"),
        );
    }
}

/// A route, the route that is its parent, and the reference to it.
type Edge<'e> = (RouteId, RouteId, &'e ParentRef);

fn peel(alive: &mut BTreeSet<RouteId>, edges: &[Edge<'_>], upwards: bool) {
    let ends = |edge: &Edge<'_>| {
        if upwards {
            (edge.0, edge.1)
        } else {
            (edge.1, edge.0)
        }
    };
    let mut out: HashMap<RouteId, usize> = HashMap::new();
    let mut into: HashMap<RouteId, Vec<RouteId>> = HashMap::new();
    for edge in edges {
        let (from, to) = ends(edge);
        if alive.contains(&from) && alive.contains(&to) {
            *out.entry(from).or_default() = out.get(&from).copied().unwrap_or_default().saturating_add(1);
            into.entry(to).or_default().push(from);
        }
    }
    let mut free: Vec<RouteId> = alive
        .iter()
        .copied()
        .filter(|node| !out.contains_key(node))
        .collect();
    while let Some(node) = free.pop() {
        alive.remove(&node);
        for from in into.remove(&node).unwrap_or_default() {
            if let Some(left) = out.get_mut(&from) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    free.push(from);
                }
            }
        }
    }
}
