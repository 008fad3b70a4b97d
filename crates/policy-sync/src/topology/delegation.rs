//! Route delegation: follows rules that hand requests on to other routes, as in kgateway
//! (docs/systems/other-policies.md#route-delegation).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use apimachinery::{Identity, Work};

use super::hierarchy::{Delegation, DelegationId, Delegations, RouteId, RouteNode, RuleId, Topology, sorted};
use super::route_match::{NamedMatch, RouteMatch};
use super::sources::{Controllers, Sources};
use crate::api::gateway::{GROUP, ObjectRef, ParentRef};
use crate::api::route::{Route, inherits_matches, is_route};
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::Grants;
use crate::object::Object;

/// The work for a route or match that is looked at: with two routes on each of twenty steps there are a million ways.
const STEPS_PER_MATCH: u64 = 300;

/// So many routes may hand requests on to each other in a row.
const MOST_IN_A_ROW: usize = 16;

/// As the namespace of a label it means all of them (kgateway's `DELEGATION_WILDCARD_NAMESPACE`, which is never
/// changed).
const ALL_NAMESPACES: &str = "all";

impl<'a> Topology<'a> {
    /// Follows what the rules of all routes hand on. A route that gets requests this way is attached to the Gateways of
    /// those that hand them on.
    pub(super) fn follow_delegations(
        &mut self,
        (sources, controllers): (Sources<'a>, &Controllers),
        grants: &Grants<'a>,
        findings: &mut Findings,
    ) {
        let delegates = |node: &RouteNode<'_>| node.route.rules.iter().any(|rule| !rule.delegates.is_empty());
        if !self.routes.rows().iter().any(delegates) {
            return;
        }
        let mut by_namespace = ByNamespace::default();
        for (id, route) in self.routes.iter().filter(|(_, route)| is_http(route)) {
            let namespace = route.object.namespace_or_empty();
            by_namespace.entry(namespace).or_default().push(id);
        }
        let mut following = Following {
            topology: self,
            by_namespace,
            found: Delegations::default(),
            work: Work::default(),
            taking: BTreeMap::new(),
            unfollowed: Vec::new(),
            reasons: BTreeMap::new(),
        };
        for (id, node) in self.routes.iter().filter(|(_, node)| delegates(node)) {
            // What is attached to nothing because of something that is reported there is followed, lest the same is
            // reported about all behind it.
            let leads_anywhere = !node.gateways.is_empty() || !node.refused_at.is_empty();
            let elsewhere = following.served_elsewhere(node, (sources, controllers));
            for (position, rule) in node.rules.iter().copied().enumerate() {
                if !leads_anywhere || elsewhere.is_some() {
                    let delegates = node.route.rules.get(position).into_iter();
                    for reference in delegates.flat_map(|rule| &rule.delegates) {
                        let to = &reference.object;
                        let from = (GROUP, node.object.kind.as_str(), node.object.namespace_or_empty());
                        let namespace = to.namespace_from(from.2);
                        if let Some(why) = &elsewhere {
                            following.reasons.insert((id, reference.pointer()), why.clone());
                            // Nothing but a backend, which needs a grant as any other.
                            let to = (&*to.group, &*to.kind, &*to.name);
                            if !grants.permit_there(node.assumed, from, namespace, to) {
                                continue;
                            }
                        }
                        following.unfollowed.push((id, rule, to.clone()));
                    }
                    continue;
                }
                let matches = RouteMatch::from_route(node.object, position);
                following.rule(None, (id, rule, position), &matches, &mut vec![id]);
            }
        }
        if following.work.is_spent() {
            let first = self.routes.rows().iter().find(|node| delegates(node));
            findings.extend(first.map(|node| {
                let place = node.object.place("/spec");
                let help = "name the routes instead of using a label or `*`, or shorten the chain of routes that delegate";
                Finding::too_costly("following all routes that delegate", place, "none is followed").help(help)
            }));
            return;
        }
        let is_local = |object: &Object| {
            let local = sources.local.and_then(|local| local.get(&object.identity()));
            local.is_some_and(|local| std::ptr::eq(local, object))
        };
        following.report(&is_local, findings);
        let Following {
            found, unfollowed, ..
        } = following;
        self.delegations = found;
        self.inherit_gateways();
        for (id, rule, backend) in unfollowed {
            let own = self.routes.get(id).object.namespace_or_empty();
            let backend = self.backend(backend.identity(own), sources);
            let node = self.backends.get_mut(backend);
            if !node.routes.contains(&id) {
                node.routes.push(id);
            }
            let rule = self.rules.get_mut(rule);
            if !rule.backends.contains(&backend) {
                rule.backends.push(backend);
            }
        }
    }

    /// Attaches every route that gets requests from others to what those are attached to.
    fn inherit_gateways(&mut self) {
        let ways = self.delegations.all.rows().iter();
        let ways: Vec<(RouteId, RouteId)> = ways.map(|way| (way.from.0, way.child)).collect();
        // Parents come before children.
        for (parent, child) in ways {
            let parent = self.routes.get(parent);
            let (gateways, refused_at) = (parent.gateways.clone(), parent.refused_at.clone());
            let child = self.routes.get_mut(child);
            // Its own listeners, if it has any, stay: it may also be attached by itself.
            child.gateways.extend(gateways);
            child.gateways = sorted(std::mem::take(&mut child.gateways));
            child.refused_at.extend(refused_at);
            child.refused_at.truncate(super::route_attachment::MOST_PARENTS);
        }
        for route in self.routes.rows_mut() {
            if !route.gateways.is_empty() {
                route.refused_at.clear();
            }
        }
    }
}

/// HTTPRoutes by namespace.
type ByNamespace<'r> = HashMap<&'r str, Vec<RouteId>>;

fn is_http(route: &RouteNode<'_>) -> bool {
    is_route(&route.object.api_version.group, &route.object.kind) && route.object.kind == "HTTPRoute"
}

/// Why no route, or not every route, accepts the requests that a rule hands on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum NotFollowed {
    /// Only HTTPRoutes hand requests on to HTTPRoutes.
    Kind,
    /// Nothing that is meant is in the input.
    Missing,
    /// A route names other parents.
    OtherParents(Identity),
    /// A route has hostnames of its own.
    Hostnames(Identity),
    /// It leads back to a route on its way.
    Circle(Identity),
    /// None of its rules is within the matches of the parent rule.
    Outside(Identity),
    /// There are too many routes in a row.
    Deep(Identity),
    /// The controller of a Gateway, as that of all Gateways of the route, does not do this.
    Controller(Identity, String),
}

struct Following<'t, 'a> {
    topology: &'t Topology<'a>,
    by_namespace: ByNamespace<'a>,
    found: Delegations<'a>,
    work: Work,
    /// The routes that take part, and which of their rules take something on any way.
    taking: BTreeMap<RouteId, BTreeSet<RuleId>>,
    /// References that are not followed: a backend as any other.
    unfollowed: Vec<(RouteId, RuleId, ObjectRef)>,
    /// What is reported, by the route and the pointer of the reference.
    reasons: BTreeMap<(RouteId, String), NotFollowed>,
}

impl<'a> Following<'_, 'a> {
    /// Follows one rule, with what it asks for on the way that leads to it; `way` are the routes on it.
    fn rule(
        &mut self,
        above: Option<DelegationId>,
        (id, rule, position): (RouteId, RuleId, usize),
        matches: &[RouteMatch<'a>],
        way: &mut Vec<RouteId>,
    ) {
        let rules = &self.topology.routes.get(id).route.view().rules;
        let Some(written) = rules.get(position) else {
            return;
        };
        let mut seen = BTreeSet::new();
        for reference in &written.delegates {
            let route = self.topology.routes.get(id);
            let (to, children) = (&reference.object, self.meant(route.object, &reference.object));
            // A route that is named must take part. Of a wildcard or a label, it is enough that one does.
            let named = to.name != "*" && to.kind != "label";
            let mut why = if !is_http(route) || (to.kind != "HTTPRoute" && to.kind != "label") {
                Some(NotFollowed::Kind)
            } else {
                children.is_empty().then_some(NotFollowed::Missing)
            };
            let mut followed = false;
            for child in children {
                if why == Some(NotFollowed::Kind) || !self.work.pay(1, STEPS_PER_MATCH) {
                    break;
                }
                match self.child(id, child, matches, way) {
                    Ok(taking) => {
                        followed = true;
                        if !seen.insert(child) {
                            continue;
                        }
                        let listed = taking.iter().map(|(rule, _, matches)| (*rule, matches.clone()));
                        let delegation = self.found.add(Delegation {
                            above,
                            from: (id, rule),
                            child,
                            rules: listed.collect(),
                        });
                        way.push(child);
                        for (rule, position, matches) in &taking {
                            self.rule(Some(delegation), (child, *rule, *position), matches, way);
                        }
                        way.pop();
                    }
                    // Of what a wildcard means, it is enough that somebody takes it.
                    Err(because) => why = why.or(Some(because)),
                }
            }
            // Further down, the rule answers with an error (docs/systems/other-policies.md#route-delegation); at the
            // top, other controllers may serve the route, and take the reference for a backend.
            if !followed && above.is_none() {
                self.unfollowed.push((id, rule, to.clone()));
            }
            if let Some(why) = why.filter(|why| {
                named || !followed || matches!(why, NotFollowed::Circle(_) | NotFollowed::Deep(_))
            }) {
                self.reasons.entry((id, reference.pointer())).or_insert(why);
            }
        }
    }

    /// Why nothing of a route is followed, if none of its Gateways is served by a controller that may do so.
    fn served_elsewhere(
        &self,
        route: &RouteNode<'a>,
        known: (Sources<'a>, &Controllers),
    ) -> Option<NotFollowed> {
        let (sources, controllers) = known;
        let mut first = None;
        for gateway in &route.gateways {
            let gateway = self.topology.gateways.get(*gateway);
            let class = self.topology.classes.get(gateway.class).name;
            let controller = controllers.not_delegating(class, sources)?;
            first.get_or_insert_with(|| {
                NotFollowed::Controller(gateway.object.identity(), controller.to_owned())
            });
        }
        first
    }

    /// The routes that a reference means.
    fn meant(&self, route: &Object, reference: &ObjectRef) -> Vec<RouteId> {
        let own = route.namespace_or_empty();
        let namespace = reference.namespace_from(own);
        let is_label = reference.kind == "label";
        if !is_label && reference.name != "*" {
            let kind = (GROUP, &*reference.kind);
            let named = self.topology.find_route(kind, namespace, &reference.name);
            return named.into_iter().collect();
        }
        let mut there: Vec<RouteId> = if is_label && namespace == ALL_NAMESPACES {
            let all = self.topology.routes.iter().filter(|(_, route)| is_http(route));
            all.map(|(id, _)| id).collect()
        } else {
            self.by_namespace.get(namespace).cloned().unwrap_or_default()
        };
        if !self.work.pay(there.len(), STEPS_PER_MATCH) {
            return Vec::new();
        }
        if is_label {
            let key = format!("{}/label", reference.group);
            there.retain(|id| self.topology.routes.get(*id).object.label(&key) == Some(&*reference.name));
        }
        there
    }

    /// What the rules of a route take of what a rule hands on to it; or why it takes nothing.
    fn child(
        &mut self,
        parent: RouteId,
        child: RouteId,
        matches: &[RouteMatch<'a>],
        way: &[RouteId],
    ) -> Result<Vec<(RuleId, usize, Vec<RouteMatch<'a>>)>, NotFollowed> {
        let node = self.topology.routes.get(child);
        let route = node.route;
        let identity = || route.object.identity();
        if !is_child(route, self.topology.routes.get(parent).object) {
            return Err(NotFollowed::OtherParents(identity()));
        }
        if way.contains(&child) {
            return Err(NotFollowed::Circle(identity()));
        }
        if way.len() >= MOST_IN_A_ROW {
            return Err(NotFollowed::Deep(identity()));
        }
        // kgateway refuses such a child: the hostnames are those of the route at the top.
        if !route.hostnames.is_empty() {
            return Err(NotFollowed::Hostnames(identity()));
        }
        // The annotation `delegation.kgateway.dev/inherit-parent-matcher`
        // (docs/systems/other-policies.md#route-delegation).
        let inherits = inherits_matches(route.object);
        let mut taking = Vec::new();
        for (position, rule) in node.rules.iter().copied().enumerate() {
            let own = RouteMatch::from_route(route.object, position);
            if !self
                .work
                .pay(own.len().saturating_mul(matches.len()), STEPS_PER_MATCH)
            {
                break;
            }
            let pairs = matches
                .iter()
                .flat_map(|parent| own.iter().map(move |own| (parent, own)));
            let together: Vec<RouteMatch<'a>> = pairs
                .filter_map(|(parent, own)| {
                    if inherits {
                        Some(merged(parent, own))
                    } else {
                        is_covered(parent, own).then(|| own.clone())
                    }
                })
                .collect();
            if !together.is_empty() {
                taking.push((rule, position, together));
            }
        }
        // Also if it takes nothing here: another parent may hand on to it, and rules that no way uses are reported.
        let known = self.taking.entry(child).or_default();
        known.extend(taking.iter().map(|(rule, ..)| *rule));
        if taking.is_empty() {
            return Err(NotFollowed::Outside(identity()));
        }
        Ok(taking)
    }

    fn report(&self, is_local: &dyn Fn(&Object) -> bool, findings: &mut Findings) {
        for ((id, pointer), why) in &self.reasons {
            let object = self.topology.routes.get(*id).object;
            if !is_local(object) {
                findings.push(why.finding(object, pointer));
            }
        }
        for (child, taking) in self.taking.iter().filter(|(_, taking)| !taking.is_empty()) {
            let node = self.topology.routes.get(*child);
            // It has requests of its own as well.
            if !node.gateways.is_empty() || is_local(node.object) {
                continue;
            }
            let idle = |(_, rule): &(usize, &RuleId)| !taking.contains(*rule);
            if let Some((position, rule)) = node.rules.iter().enumerate().find(idle) {
                let name = &self.topology.rules.get(*rule).name;
                findings.push(outside(node.object, position, name));
            }
        }
    }
}

impl NotFollowed {
    fn finding(&self, route: &Object, pointer: &str) -> Finding {
        let from = route.identity();
        let (because, help) = match self {
            Self::Kind => (
                "only HTTPRoutes can delegate, and only to HTTPRoutes".to_owned(),
                "name a Service".to_owned(),
            ),
            Self::Missing => (
                "none of them is in the input, so the policies that apply there are unknown".to_owned(),
                "correct the name, the namespace, or the label, add the routes, or check on a cluster which policies apply there"
                    .to_owned(),
            ),
            Self::OtherParents(child) => (
                format!("the `parentRefs` of {child} do not name it"),
                format!(
                    "add {{group: {GROUP}, kind: HTTPRoute, name: {}, namespace: {}}} to `parentRefs` of {child}, or remove its \
                     `parentRefs`",
                    route.name,
                    route.namespace_or_empty()
                ),
            ),
            Self::Hostnames(child) => (
                format!("{child} has `hostnames`, but a route that others delegate to cannot have any"),
                format!("remove `hostnames` of {child}"),
            ),
            Self::Circle(child) => (
                format!("{child} leads back here"),
                "let the routes delegate in one direction".to_owned(),
            ),
            Self::Outside(child) => (
                format!("no match of {child} is within the matches of this rule"),
                format!(
                    "begin the paths of {child} with the path prefix of this rule, and repeat its headers, parameters, and method; \
                     or annotate {child} `delegation.kgateway.dev/inherit-parent-matcher: \"true\"`"
                ),
            ),
            Self::Controller(gateway, controller) => (
                format!("{controller}, which serves {gateway}, accepts no routes as backends (ResolvedRefs=False, InvalidKind)"),
                "name a Service, or give the Gateway a class of kgateway".to_owned(),
            ),
            Self::Deep(child) => (
                format!("more than {MOST_IN_A_ROW} routes in a row lead to {child}"),
                "shorten the chain of routes that delegate".to_owned(),
            ),
        };
        Finding::new(
            Code::ROUTE_DELEGATED,
            route.place(pointer),
            format!("{from} delegates to other routes, which are not followed: {because}"),
        )
        .label("not a backend, but other routes")
        .help(help)
    }
}

fn outside(route: &Object, position: usize, rule: &str) -> Finding {
    Finding::new(
        Code::ROUTE_DELEGATED,
        route.place(&format!("/spec/rules/{position}")),
        format!(
            "rule `{rule}` of {} gets no request: none of its matches is within a rule that delegates to the route",
            route.identity()
        ),
    )
    .label("dropped")
    .help(
        "begin its path with the path prefix of a rule that delegates to the route, and repeat the headers, parameters, and \
         method of that rule; or remove the rule",
    )
}

/// Whether a route takes what another one hands on to it: one that names parents has to name that one.
fn is_child(child: Route<'_>, parent: &Object) -> bool {
    let own = child.object.namespace_or_empty();
    let names_it = |reference: &ParentRef| {
        let reference = &reference.object;
        reference.group_kind() == (GROUP, "HTTPRoute")
            && reference.name == parent.name
            && reference.namespace_from(own) == parent.namespace_or_empty()
    };
    child.parents.is_empty() || child.parents.iter().any(names_it)
}

/// Whether a match asks for all that another one asks for, as kgateway compares them: the path as text, not by its
/// elements.
fn is_covered(parent: &RouteMatch<'_>, child: &RouteMatch<'_>) -> bool {
    parent.kind == "PathPrefix"
        && child.path().starts_with(parent.path())
        && parent.headers.iter().all(|asked| child.headers.contains(asked))
        && parent
            .parameters
            .iter()
            .all(|asked| child.parameters.contains(asked))
        && parent.method.is_none_or(|method| child.method == Some(method))
}

/// A match with what another one asks for: the path below the other one's, and of two that ask for one header,
/// parameter or method the other one's.
fn merged<'a>(parent: &RouteMatch<'a>, child: &RouteMatch<'a>) -> RouteMatch<'a> {
    let together = |above: &[NamedMatch<'a>], below: &[NamedMatch<'a>]| {
        let mut all = above.to_vec();
        for own in below {
            if !all.iter().any(|known| known.name == own.name) {
                all.push(own.clone());
            }
        }
        all
    };
    RouteMatch {
        kind: child.kind,
        path: Some(joined(parent.path(), child.path()).into()),
        method: parent.method.or(child.method),
        headers: together(&parent.headers, &child.headers),
        parameters: together(&parent.parameters, &child.parameters),
    }
}

/// One path below another one, cleaned.
fn joined(above: &str, below: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in above.split('/').chain(below.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
