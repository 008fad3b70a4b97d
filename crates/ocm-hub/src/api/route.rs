//! HTTPRoute, GRPCRoute, TLSRoute, TCPRoute, UDPRoute: parents, hostnames, rules, backends; Services and their ports.
//! References stay names here; `topology` links them.

use super::gateway::{GROUP, ObjectRef, ParentRef};
use super::{Reading, Typed, View};
use crate::object::Object;
use apimachinery::{Field, core_group};
use kube_json::Text;

/// The route kinds of Gateway API.
pub const ROUTE_KINDS: [&str; 5] = ["GRPCRoute", "HTTPRoute", "TCPRoute", "TLSRoute", "UDPRoute"];

/// Whether this group and kind is a route of Gateway API.
pub fn is_route(group: &str, kind: &str) -> bool {
    group == GROUP && ROUTE_KINDS.contains(&kind)
}

/// The groups whose kind `label` stands for the routes with that label.
const LABEL_GROUPS: [&str; 2] = ["delegation.kgateway.dev", "delegation.gateway.solo.io"];

/// Whether a reference of this kind means other routes instead of a backend: one by name, all of a namespace (`*`), or
/// those with a label. Requests are handed on to them (docs/systems/other-policies.md#route-delegation).
pub fn is_reference_to_routes(group: &str, kind: &str) -> bool {
    is_route(group, kind) || (kind == "label" && LABEL_GROUPS.contains(&group))
}

/// Whether a route inherits the matches of the routes that hand requests on to it, as one of its annotations requests.
pub fn inherits_matches(route: &Object) -> bool {
    LABEL_GROUPS.iter().any(|group| {
        let annotation = route.annotation(&format!("{group}/inherit-parent-matcher"));
        let is_yes = |text: &str| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "enabled");
        annotation.is_some_and(is_yes)
    })
}

/// A route of any kind.
pub type Route<'a> = Typed<'a, RouteSpec>;

/// The interpreted fields of a route: its attachment, and the backends of its rules.
#[derive(Debug)]
pub struct RouteSpec {
    /// `spec.parentRefs`, in their order.
    pub parents: Box<[ParentRef]>,
    /// Whether every default Gateway is a parent, too (`spec.useDefaultGateways`).
    pub uses_default_gateways: bool,
    /// `spec.hostnames`; none matches every host. TCP and UDP routes have none.
    pub hostnames: Box<[Text]>,
    /// `spec.rules`, in their order. An HTTPRoute without rules gets one from its CRD's default: everything below `/`.
    pub rules: Box<[RouteRule]>,
}

/// One rule of a route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteRule {
    /// `name`, where the rule has one.
    pub name: Option<Text>,
    /// Backends of the rule, those of RequestMirror filters included.
    pub backends: Box<[BackendRef]>,
    /// A reference to other routes in the place of a backend ([`is_reference_to_routes`]).
    pub delegates: Box<[BackendRef]>,
}

/// A reference to a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendRef {
    /// The backend: a Service, unless it says otherwise.
    pub object: ObjectRef,
    /// Positions: of the rule; in its `backendRefs`; and in the `filters` of either.
    at: (usize, Option<usize>, Option<usize>),
}

impl View for RouteSpec {
    fn read<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Option<Self> {
        let spec = object.root().get("spec");
        let written = reading.items(&spec.get("parentRefs")).enumerate();
        let parents = written.filter_map(|(at, parent)| ParentRef::read(reading, at, &parent));
        let parents = parents.collect();
        // Of a kind that is not Gateway API's only the parents are known to mean what they do there.
        let is_known = is_route(&object.api_version.group, &object.kind);
        if !is_known && reading.is_wrong() {
            return None;
        }
        reading.is_silent = !is_known;
        let fields = reading.items(&spec.get("hostnames"));
        let hostnames = fields.filter_map(|field| reading.hostname(&field).cloned());
        let hostnames = hostnames.collect();
        let field = spec.get("rules");
        let written = reading.items(&field).enumerate();
        let rules = written.map(|(at, rule)| route_rule(reading, at, &rule));
        let mut rules: Vec<RouteRule> = rules.collect();
        if is_known && object.kind == "HTTPRoute" && !field.is_present() {
            rules.push(RouteRule::default());
        }
        let route = Self {
            parents,
            uses_default_gateways: is_known && spec.text("useDefaultGateways") == Some("All"),
            hostnames,
            rules: rules.into(),
        };
        (!is_known || !reading.is_wrong()).then_some(route)
    }
}

fn route_rule<'a>(reading: &mut Reading<'a>, rule: usize, field: &Field<'a>) -> RouteRule {
    let references = reading.items(&field.get("backendRefs"));
    let (mut backends, mut delegates) = (Vec::with_capacity(references.len()), Vec::new());
    for (position, reference) in references.enumerate() {
        match BackendRef::read(reading, (rule, Some(position), None), &reference) {
            Some(routes) if is_reference_to_routes(&routes.object.group, &routes.object.kind) => {
                delegates.push(routes);
            }
            backend => backends.extend(backend),
        }
        mirrors(reading, (rule, Some(position)), &reference, &mut backends);
    }
    mirrors(reading, (rule, None), field, &mut backends);
    RouteRule {
        name: reading.text(field, "name").cloned(),
        backends: backends.into(),
        delegates: delegates.into(),
    }
}

/// RequestMirror filters send traffic to a backend too.
fn mirrors<'a>(
    reading: &mut Reading<'a>,
    (rule, backend): (usize, Option<usize>),
    holder: &Field<'a>,
    backends: &mut Vec<BackendRef>,
) {
    let Some(filters) = holder.present("filters") else {
        return;
    };
    for (position, filter) in reading.items(&filters).enumerate() {
        let mirror = filter.present("requestMirror");
        if let Some(reference) = mirror.and_then(|mirror| mirror.present("backendRef")) {
            let at = (rule, backend, Some(position));
            backends.extend(BackendRef::read(reading, at, &reference));
        }
    }
}

impl BackendRef {
    fn read<'a>(
        reading: &mut Reading<'a>,
        at: (usize, Option<usize>, Option<usize>),
        field: &Field<'a>,
    ) -> Option<Self> {
        let mut object = ObjectRef::read(reading, field, ("", "Service"))?;
        object.group = core_group(&object.group).into();
        reading.integer(field, "port");
        Some(Self { object, at })
    }

    /// Pointer of the reference inside the route.
    pub fn pointer(&self) -> String {
        let (rule, backend, filter) = self.at;
        let backend = backend.map(|position| format!("/backendRefs/{position}"));
        let filter = filter.map(|position| format!("/filters/{position}/requestMirror/backendRef"));
        let (backend, filter) = (backend.unwrap_or_default(), filter.unwrap_or_default());
        format!("/spec/rules/{rule}{backend}{filter}")
    }
}

/// The ports of a Service by the names that a policy's sectionName uses: the port's name, or its number where
/// it has none (a Service with a single port need not name it).
pub fn service_ports(object: &Object) -> Vec<String> {
    let ports = object.root().get("spec").get("ports");
    let name = |port: Field<'_>| match port.text("name").filter(|name| !name.is_empty()) {
        Some(name) => Some(name.to_owned()),
        None => port.get("port").integer().ok()?.map(|number| number.to_string()),
    };
    ports.items().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_json::json;

    #[test]
    fn mirror_filters_name_backends_too() {
        let route = crate::tests::object(
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": "r", "namespace": "a"},
            "spec": {"rules": [{"backendRefs": [{"name": "s", "port": 80, "filters": [
                {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "m2"}}}]}],
                "filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "m"}}}]}]}}),
        );
        let route = Route::new(&route).unwrap();
        let names: Vec<_> = route.rules[0]
            .backends
            .iter()
            .map(|backend| &*backend.object.name)
            .collect();
        assert_eq!(names, ["s", "m2", "m"]);
    }

    #[test]
    fn the_pointer_of_a_reference_leads_to_it() {
        let mirror =
            |name: &str| json!({"type": "RequestMirror", "requestMirror": {"backendRef": {"name": name}}});
        let other = json!({"type": "URLRewrite", "urlRewrite": {}});
        let rule = |number: usize| {
            json!({
                "backendRefs": [
                    {"name": format!("a{number}"), "filters": [other.clone(), mirror(&format!("b{number}"))]},
                    {"name": format!("c{number}")},
                ],
                "filters": [mirror(&format!("d{number}")), mirror(&format!("e{number}"))],
            })
        };
        let route = crate::tests::object(json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": "r", "namespace": "a"},
            "spec": {"parentRefs": [{"name": "x"}, {"name": "y"}], "rules": [rule(0), rule(1)]},
        }));
        let read = Route::new(&route).unwrap();
        let parents = read
            .parents
            .iter()
            .map(|parent| (&*parent.object.name, parent.pointer()));
        let backends = read.rules.iter().flat_map(|rule| &rule.backends);
        let backends = backends.map(|backend| (&*backend.object.name, backend.pointer()));
        let all: Vec<(&str, String)> = parents.chain(backends).collect();
        assert_eq!(all.len(), 12);
        for (name, pointer) in all {
            let there = route
                .value
                .pointer(&pointer)
                .and_then(|reference| reference.get("name")?.as_str());
            assert_eq!(there, Some(name), "{pointer}");
        }
    }
}
