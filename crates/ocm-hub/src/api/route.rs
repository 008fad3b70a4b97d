//! HTTPRoute, GRPCRoute, TLSRoute, TCPRoute, UDPRoute: parents, hostnames, rules, backends; what a listener accepts;
//! Services and their ports.
//!
//! Owns: the view of a route, and which kinds and namespaces a listener accepts (`allowedRoutes`).
//! Flows in: objects. Flows out: views; findings at the fields that are wrong. Must not know: which Gateways exist;
//! `topology` links them.

use super::Reading;
use super::gateway::{GROUP, Listener};
use crate::diagnostic::Findings;
use crate::object::Object;
use apimachinery::{Field, Selector, core_group};

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
pub fn stands_for_routes(group: &str, kind: &str) -> bool {
    is_route(group, kind) || (kind == "label" && LABEL_GROUPS.contains(&group))
}

/// Whether a route inherits the matches of the routes that hand requests on to it, as one of its annotations requests.
pub fn inherits_matches(route: &Object) -> bool {
    LABEL_GROUPS.iter().any(|group| {
        let annotation = route.annotation(&format!("{group}/inherit-parent-matcher"));
        annotation.is_some_and(|text| {
            ["true", "yes", "enabled"]
                .iter()
                .any(|yes| text.eq_ignore_ascii_case(yes))
        })
    })
}

/// A route of any kind: what decides where it is attached. Its rules are read with it, and kept apart.
#[derive(Debug, Clone)]
pub struct Route<'a> {
    /// The object.
    pub object: &'a Object,
    /// `spec.parentRefs`, in their order.
    pub parents: Vec<ParentRef<'a>>,
    /// Whether every default Gateway is a parent, too (`spec.useDefaultGateways`).
    pub uses_default_gateways: bool,
    /// `spec.hostnames`; none matches every host. TCP and UDP routes have none.
    pub hostnames: Vec<&'a str>,
}

/// One entry of `spec.parentRefs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentRef<'a> {
    /// API group; Gateway API's own when left out.
    pub group: &'a str,
    /// Kind; `Gateway` when left out.
    pub kind: &'a str,
    /// Name.
    pub name: &'a str,
    /// Namespace as written; none means the route's own.
    pub namespace: Option<&'a str>,
    /// Listener; none means every listener.
    pub section_name: Option<&'a str>,
    /// Port of the listener; none means any.
    pub port: Option<i64>,
    /// Pointer of the reference inside the route.
    pub pointer: String,
}

/// One rule of a route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteRule<'a> {
    /// `name`, where the rule has one.
    pub name: Option<&'a str>,
    /// Backends of the rule, those of RequestMirror filters included.
    pub backends: Vec<BackendRef<'a>>,
    /// A reference to other routes in the place of a backend ([`stands_for_routes`]).
    pub delegates: Vec<BackendRef<'a>>,
}

/// A reference to a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendRef<'a> {
    /// API group, `""` when left out.
    pub group: &'a str,
    /// Kind, `Service` when left out.
    pub kind: &'a str,
    /// Name.
    pub name: &'a str,
    /// Namespace as written; none means the route's own.
    pub namespace: Option<&'a str>,
    /// Port, where it is given.
    pub port: Option<i64>,
    /// Pointer of the reference inside the route.
    pub pointer: String,
}

/// Where a route requests default Gateways: the pointer of a parent that it does not name itself.
pub(crate) const DEFAULT_GATEWAYS: &str = "/spec/useDefaultGateways";

impl<'a> ParentRef<'a> {
    /// A Gateway that is a parent of routes that request default Gateways.
    pub fn to_default(gateway: &'a Object) -> Self {
        Self {
            group: GROUP,
            kind: "Gateway",
            name: &gateway.name,
            namespace: gateway.namespace.as_deref(),
            section_name: None,
            port: None,
            pointer: DEFAULT_GATEWAYS.to_owned(),
        }
    }
}

impl<'a> Route<'a> {
    /// Reads a route and its rules, in their order; `None` if something essential is wrong, which is then a finding. An
    /// HTTPRoute without rules gets one from its CRD's default: everything below `/`.
    pub fn read(object: &'a Object, findings: &mut Findings) -> Option<(Self, Vec<RouteRule<'a>>)> {
        let mut reading = Reading::new(object, findings);
        let spec = object.root().get("spec");
        let written = reading.items(&spec.get("parentRefs"));
        // A route is kept with few parents, and a list that grows would begin with room for four.
        let mut parents = Vec::with_capacity(written.len());
        parents.extend(written.filter_map(|parent| parent_ref(&mut reading, &parent)));
        // Of a kind that is not Gateway API's only the parents are known to mean what they do there.
        let is_known = is_route(&object.api_version.group, &object.kind);
        if !is_known && reading.is_wrong() {
            return None;
        }
        let mut of_others = Findings::new();
        let mut reading = if is_known {
            reading
        } else {
            Reading::new(object, &mut of_others)
        };
        let fields = reading.items(&spec.get("hostnames"));
        let mut hostnames = Vec::with_capacity(fields.len());
        hostnames.extend(fields.filter_map(|field| reading.hostname(&field)));
        let field = spec.get("rules");
        let written = reading.items(&field);
        let mut rules: Vec<RouteRule<'a>> = written.map(|rule| route_rule(&mut reading, &rule)).collect();
        if is_known && object.kind == "HTTPRoute" && !field.is_present() {
            rules.push(RouteRule::default());
        }
        let route = Self {
            object,
            parents,
            uses_default_gateways: is_known && spec.text("useDefaultGateways") == Some("All"),
            hostnames,
        };
        (!is_known || !reading.is_wrong()).then_some((route, rules))
    }
}

fn parent_ref<'a>(reading: &mut Reading<'a, '_>, field: &Field<'a>) -> Option<ParentRef<'a>> {
    Some(ParentRef {
        group: reading.string(field, "group").unwrap_or(GROUP),
        kind: reading.string(field, "kind").unwrap_or("Gateway"),
        name: reading.required_string(field, "name")?,
        namespace: reading.text(field, "namespace"),
        section_name: reading.text(field, "sectionName"),
        port: reading.integer(field, "port"),
        pointer: field.pointer(),
    })
}

fn route_rule<'a>(reading: &mut Reading<'a, '_>, field: &Field<'a>) -> RouteRule<'a> {
    let references = reading.items(&field.get("backendRefs"));
    let (mut backends, mut delegates) = (Vec::with_capacity(references.len()), Vec::new());
    for reference in references {
        match backend_ref(reading, &reference) {
            Some(routes) if stands_for_routes(routes.group, routes.kind) => delegates.push(routes),
            backend => backends.extend(backend),
        }
        mirrors(reading, &reference, &mut backends);
    }
    mirrors(reading, field, &mut backends);
    RouteRule {
        name: reading.text(field, "name"),
        backends,
        delegates,
    }
}

/// RequestMirror filters send traffic to a backend too.
fn mirrors<'a>(reading: &mut Reading<'a, '_>, holder: &Field<'a>, backends: &mut Vec<BackendRef<'a>>) {
    let Some(filters) = holder.present("filters") else {
        return;
    };
    for filter in reading.items(&filters) {
        let mirror = filter.present("requestMirror");
        if let Some(reference) = mirror.and_then(|mirror| mirror.present("backendRef")) {
            backends.extend(backend_ref(reading, &reference));
        }
    }
}

fn backend_ref<'a>(reading: &mut Reading<'a, '_>, field: &Field<'a>) -> Option<BackendRef<'a>> {
    Some(BackendRef {
        group: reading.string(field, "group").map_or("", core_group),
        kind: reading.string(field, "kind").unwrap_or("Service"),
        name: reading.required_string(field, "name")?,
        namespace: reading.text(field, "namespace"),
        port: reading.integer(field, "port"),
        pointer: field.pointer(),
    })
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

/// Which routes a listener admits: `allowedRoutes`, and the kinds that its protocol implies.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Which namespaces routes may come from.
    pub namespaces: AdmittedNamespaces,
    /// Whether `allowedRoutes.kinds` says which kinds, not the protocol.
    pub lists_kinds: bool,
    /// Group and kind; `None` where the protocol is unknown and nothing is listed: any route.
    kinds: Option<Vec<(String, String)>>,
}

/// `allowedRoutes.namespaces`, or `allowedListeners.namespaces` of a Gateway.
#[derive(Debug, Clone)]
pub enum AdmittedNamespaces {
    /// Every namespace.
    All,
    /// The owner's own.
    Same,
    /// None at all.
    None,
    /// Those with matching labels; `None`, which matches nothing, where the selector is wrong or missing.
    Selector(Option<Selector>),
}

impl AdmittedNamespaces {
    /// Reads a `namespaces` field whose `from` defaults to `default`.
    pub fn read(field: &Field<'_>, default: &str) -> Self {
        match field.text("from").unwrap_or(default) {
            "All" => Self::All,
            "Selector" => {
                // Gateway API: a selector must be there; controllers select nothing without one.
                let selector = field.get("selector");
                Self::Selector(selector.is_present().then(|| Selector::read(&selector)).flatten())
            }
            "Same" => Self::Same,
            _ => Self::None,
        }
    }

    /// Whether an object of `namespace`, whose labels `label` looks up, is admitted by an owner in `own`.
    pub fn admits<'l>(&self, own: &str, namespace: &str, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        match self {
            Self::All => true,
            Self::Same => own == namespace,
            Self::None => false,
            Self::Selector(selector) => selector.as_ref().is_some_and(|selector| selector.matches(label)),
        }
    }
}

impl Admission {
    /// Reads what a listener admits. The defaults are Gateway API's: the same namespace; the kinds of the
    /// protocol.
    pub fn read(listener: &Listener<'_>) -> Self {
        let allowed = listener.field.get("allowedRoutes");
        let listed: Vec<(String, String)> = allowed
            .get("kinds")
            .items()
            .filter_map(|kind| {
                let group = kind.text("group").unwrap_or(GROUP);
                Some((group.to_owned(), kind.text("kind")?.to_owned()))
            })
            .collect();
        let lists_kinds = !listed.is_empty();
        let kinds = if listed.is_empty() {
            kinds_of_protocol(listener.protocol)
        } else {
            Some(listed)
        };
        Self {
            namespaces: AdmittedNamespaces::read(&allowed.get("namespaces"), "Same"),
            lists_kinds,
            kinds,
        }
    }

    /// Whether routes of this group and kind are admitted.
    pub fn admits_kind(&self, group: &str, kind: &str) -> bool {
        self.kinds
            .as_ref()
            .is_none_or(|kinds| kinds.iter().any(|(g, k)| g == group && k == kind))
    }
}

/// The route kinds that a listener takes when it lists none (Gateway API, `ProtocolType`).
fn kinds_of_protocol(protocol: &str) -> Option<Vec<(String, String)>> {
    let kinds: &[&str] = match protocol {
        "HTTP" | "HTTPS" => &["HTTPRoute", "GRPCRoute"],
        "TLS" => &["TLSRoute", "TCPRoute"],
        "TCP" => &["TCPRoute"],
        "UDP" => &["UDPRoute"],
        _ => return None,
    };
    Some(
        kinds
            .iter()
            .map(|kind| (GROUP.to_owned(), (*kind).to_owned()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_json::json;

    fn object(value: kube_json::Value) -> Object {
        crate::tests::object(value)
    }

    #[test]
    fn mirror_filters_name_backends_too() {
        let route = object(
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": "r", "namespace": "a"},
            "spec": {"rules": [{"backendRefs": [{"name": "s", "port": 80, "filters": [
                {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "m2"}}}]}],
                "filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "m"}}}]}]}}),
        );
        let mut findings = Findings::new();
        let (_, rules) = Route::read(&route, &mut findings).unwrap();
        let names: Vec<_> = rules[0].backends.iter().map(|backend| backend.name).collect();
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
        let route = object(json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": "r", "namespace": "a"},
            "spec": {"parentRefs": [{"name": "x"}, {"name": "y"}], "rules": [rule(0), rule(1)]},
        }));
        let (read, rules) = Route::read(&route, &mut Findings::new()).unwrap();
        let parents = read
            .parents
            .iter()
            .map(|parent| (parent.name, parent.pointer.clone()));
        let backends = rules.iter().flat_map(|rule| &rule.backends);
        let backends = backends.map(|backend| (backend.name, backend.pointer.clone()));
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

    #[test]
    fn an_http_listener_takes_no_tcp_routes_and_only_its_own_namespace() {
        let gateway = object(
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {"name": "g", "namespace": "a"},
            "spec": {"gatewayClassName": "c", "listeners": [{"name": "h", "port": 80, "protocol": "HTTP"}]}}),
        );
        let mut findings = Findings::new();
        let gateway = super::super::gateway::Gateway::read(&gateway, &mut findings).unwrap();
        let admission = Admission::read(&gateway.listeners[0]);
        assert!(admission.admits_kind(GROUP, "HTTPRoute"));
        assert!(!admission.admits_kind(GROUP, "TCPRoute"));
        assert!(admission.namespaces.admits("a", "a", |_| None));
        assert!(!admission.namespaces.admits("a", "b", |_| None));
    }
}
