//! Parents of routes that lead nowhere: missing Gateways and listeners, and routes that are each other's parents.
//!
//! Owns: the findings about parentRefs. Flows in: routes and the hierarchy. Flows out: findings.
//! Must not know: policies.

use std::collections::{BTreeSet, HashMap};

use super::hierarchy::Topology;
use super::ids::RouteId;
use super::sources::Sources;
use crate::api::gateway::GROUP;
use crate::api::route::{ParentRef, Route};
use crate::diagnostic::{Code, Finding, Findings, KnownNames};
use crate::hub::Table;
use apimachinery::Identity;

/// By namespace, the names of its Gateways, where a route names one that is not there.
pub(super) type NamesOfGateways<'a> = HashMap<String, KnownNames<'a>>;

/// Parents of a hub route that are Gateways or listeners and not in the input.
pub(super) fn missing_parents<'a>(
    topology: &Topology<'_>,
    sources: Sources<'a>,
    route: &Route<'_>,
    names: &mut NamesOfGateways<'a>,
    findings: &mut Findings,
) {
    let object = route.object;
    for parent in route
        .parents
        .iter()
        .filter(|parent| (parent.group, parent.kind) == (GROUP, "Gateway"))
    {
        let namespace = parent.namespace.unwrap_or(object.namespace_or_empty());
        let Some(gateway) = topology.find_gateway(namespace, parent.name) else {
            // Why one that is there cannot be read is said at the Gateway.
            let missing = Identity::new(GROUP, "Gateway", Some(namespace), parent.name);
            if sources.get(&missing).is_some() {
                continue;
            }
            let known = names.entry(namespace.to_owned()).or_insert_with(|| {
                let all = sources.of_kind(GROUP, "Gateway").map(|(gateway, _)| gateway);
                let here = all.filter(|gateway| gateway.namespace_or_empty() == namespace);
                KnownNames::of(here.map(|gateway| gateway.name.as_str()))
            });
            let finding = Finding::new(
                Code::ROUTE_PARENT_NOT_FOUND,
                object.place(&format!("{}/name", parent.pointer)),
                format!("Gateway {namespace}/{} is not in the input", parent.name),
            )
            .label(format!("a parent of {}", object.identity()));
            findings.push(match known.nearest(parent.name) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding.help("correct the name or the namespace, or add the Gateway"),
            });
            continue;
        };
        let gateway = topology.gateways.get(gateway);
        let listeners = || {
            gateway
                .listeners
                .iter()
                .map(|listener| topology.listeners.get(*listener))
        };
        let own = || listeners().filter(|listener| listener.set.is_none());
        if let Some(section) = parent.section_name
            && !own().any(|listener| listener.name == section)
        {
            let names: Vec<&str> = own().map(|listener| listener.name).collect();
            findings.push(
                Finding::new(
                    Code::ROUTE_PARENT_NOT_FOUND,
                    object.place(&format!("{}/sectionName", parent.pointer)),
                    format!("{} has no listener `{section}`", gateway.object.identity()),
                )
                .label(format!("a parent of {}", object.identity()))
                .help(format!("it has: {}", names.join(", "))),
            );
        }
    }
}

/// Routes whose parents are routes, in a circle. Peeling off what has no such parent, then what has no such
/// child, leaves the circles and the ways between them: linear.
pub(super) fn parent_cycles(
    topology: &Topology<'_>,
    routes: &Table<RouteId, Route<'_>>,
    findings: &mut Findings,
) {
    let mut edges: Vec<Edge<'_>> = Vec::new();
    for (child, route) in routes.iter() {
        for parent in &route.parents {
            if !topology.is_route(parent.group, parent.kind) {
                continue;
            }
            let namespace = parent.namespace.unwrap_or(route.object.namespace_or_empty());
            let kind = (parent.group, parent.kind);
            if let Some(found) = topology.find_route(kind, namespace, parent.name) {
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
        let route = routes.get(child);
        findings.push(
            Finding::new(
                Code::ROUTE_PARENT_CYCLE,
                route.object.place(&reference.pointer),
                format!(
                    "{} is, through its parents, its own parent",
                    route.object.identity()
                ),
            )
            .label("this parent leads back here")
            .help("point the outermost route at a Gateway"),
        );
    }
}

/// A route, the route that is its parent, and the reference that says so.
type Edge<'e> = (RouteId, RouteId, &'e ParentRef<'e>);

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
