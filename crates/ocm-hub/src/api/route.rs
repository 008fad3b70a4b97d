//! HTTPRoute, GRPCRoute, TLSRoute, TCPRoute, UDPRoute: parents, hostnames, rules, backends; what a listener accepts;
//! Services and their ports.
//!
//! Owns: the view of a route, and which kinds and namespaces a listener accepts (`allowedRoutes`).
//! Flows in: objects. Flows out: views; findings at the fields that are wrong. Must not know: which Gateways exist;
//! `topology` links them.

use super::gateway::GROUP;
use super::{Reading, Typed, View};
use crate::diagnostic::Findings;
use crate::object::Object;
use apimachinery::{Field, Identity, Selector, core_group};
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

/// Where a route requests default Gateways: the pointer of a parent that it does not name itself.
pub(crate) const DEFAULT_GATEWAYS: &str = "/spec/useDefaultGateways";

/// A route of any kind.
pub type Route<'a> = Typed<'a, RouteSpec>;

/// What a route says about its attachment, and the backends of its rules.
#[derive(Debug)]
pub struct RouteSpec {
    /// `spec.parentRefs`, in their order.
    pub parents: Vec<ParentRef>,
    /// Whether every default Gateway is a parent, too (`spec.useDefaultGateways`).
    pub uses_default_gateways: bool,
    /// `spec.hostnames`; none matches every host. TCP and UDP routes have none.
    pub hostnames: Vec<Text>,
    /// `spec.rules`, in their order. An HTTPRoute without rules gets one from its CRD's default: everything below `/`.
    pub rules: Vec<RouteRule>,
}

/// One entry of `spec.parentRefs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentRef {
    /// API group; Gateway API's own when left out.
    pub group: Text,
    /// Kind; `Gateway` when left out.
    pub kind: Text,
    /// Name.
    pub name: Text,
    /// Namespace as written; none means the route's own.
    pub namespace: Option<Text>,
    /// Listener; none means every listener.
    pub section_name: Option<Text>,
    /// Port of the listener; none means any.
    pub port: Option<i64>,
    /// Its position in `spec.parentRefs`; none for the parent of a ListenerSet, and for a default Gateway, which no route
    /// names.
    position: Option<usize>,
}

/// One rule of a route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteRule {
    /// `name`, where the rule has one.
    pub name: Option<Text>,
    /// Backends of the rule, those of RequestMirror filters included.
    pub backends: Vec<BackendRef>,
    /// A reference to other routes in the place of a backend ([`stands_for_routes`]).
    pub delegates: Vec<BackendRef>,
}

/// A reference to a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendRef {
    /// API group, `""` when left out.
    pub group: Text,
    /// Kind, `Service` when left out.
    pub kind: Text,
    /// Name.
    pub name: Text,
    /// Namespace as written; none means the route's own.
    pub namespace: Option<Text>,
    /// Positions: of the rule; in its `backendRefs`; and in the `filters` of either.
    at: (usize, Option<usize>, Option<usize>),
}

impl ParentRef {
    /// A Gateway that is a parent of routes that request default Gateways.
    pub fn to_default(gateway: &Object) -> Self {
        Self {
            group: GROUP.into(),
            kind: "Gateway".into(),
            name: gateway.name.clone(),
            namespace: gateway.namespace.clone(),
            section_name: None,
            port: None,
            position: None,
        }
    }

    fn read<'a>(reading: &mut Reading<'a, '_>, position: usize, field: &Field<'a>) -> Option<Self> {
        Some(Self {
            section_name: reading.text(field, "sectionName").cloned(),
            port: reading.integer(field, "port"),
            position: Some(position),
            ..Self::to_object(reading, field)?
        })
    }

    /// A parent of which only the object is read.
    pub(super) fn to_object<'a>(reading: &mut Reading<'a, '_>, field: &Field<'a>) -> Option<Self> {
        Some(Self {
            group: text_or(reading.string(field, "group"), GROUP),
            kind: text_or(reading.string(field, "kind"), "Gateway"),
            name: reading.required_string(field, "name")?.clone(),
            namespace: reading.text(field, "namespace").cloned(),
            section_name: None,
            port: None,
            position: None,
        })
    }

    /// Group and kind.
    pub fn group_kind(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }

    /// The parent of a route in namespace `own`.
    pub fn identity(&self, own: &str) -> Identity {
        let namespace = self.namespace.as_deref().unwrap_or(own);
        Identity::new(&*self.group, &*self.kind, Some(namespace), &*self.name)
    }

    /// Pointer of the reference inside the route.
    pub fn pointer(&self) -> String {
        match self.position {
            Some(position) => format!("/spec/parentRefs/{position}"),
            None => DEFAULT_GATEWAYS.to_owned(),
        }
    }
}

impl View for RouteSpec {
    fn read(object: &Object, findings: &mut Findings) -> Option<Self> {
        let mut reading = Reading::new(object, findings);
        let spec = object.root().get("spec");
        let written = reading.items(&spec.get("parentRefs")).enumerate();
        let parents = written
            .filter_map(|(at, parent)| ParentRef::read(&mut reading, at, &parent))
            .collect();
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
        let hostnames = fields
            .filter_map(|field| reading.hostname(&field).cloned())
            .collect();
        let field = spec.get("rules");
        let written = reading.items(&field).enumerate();
        let mut rules: Vec<RouteRule> = written
            .map(|(at, rule)| route_rule(&mut reading, at, &rule))
            .collect();
        if is_known && object.kind == "HTTPRoute" && !field.is_present() {
            rules.push(RouteRule::default());
        }
        let route = Self {
            parents,
            uses_default_gateways: is_known && spec.text("useDefaultGateways") == Some("All"),
            hostnames,
            rules,
        };
        (!is_known || !reading.is_wrong()).then_some(route)
    }
}

/// The text, or a default.
pub(super) fn text_or(text: Option<&Text>, default: &str) -> Text {
    text.cloned().unwrap_or_else(|| default.into())
}

fn route_rule<'a>(reading: &mut Reading<'a, '_>, rule: usize, field: &Field<'a>) -> RouteRule {
    let references = reading.items(&field.get("backendRefs"));
    let (mut backends, mut delegates) = (Vec::with_capacity(references.len()), Vec::new());
    for (position, reference) in references.enumerate() {
        match BackendRef::read(reading, (rule, Some(position), None), &reference) {
            Some(routes) if stands_for_routes(&routes.group, &routes.kind) => delegates.push(routes),
            backend => backends.extend(backend),
        }
        mirrors(reading, (rule, Some(position)), &reference, &mut backends);
    }
    mirrors(reading, (rule, None), field, &mut backends);
    RouteRule {
        name: reading.text(field, "name").cloned(),
        backends,
        delegates,
    }
}

/// RequestMirror filters send traffic to a backend too.
fn mirrors<'a>(
    reading: &mut Reading<'a, '_>,
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
            backends.extend(BackendRef::read(
                reading,
                (rule, backend, Some(position)),
                &reference,
            ));
        }
    }
}

impl BackendRef {
    fn read<'a>(
        reading: &mut Reading<'a, '_>,
        at: (usize, Option<usize>, Option<usize>),
        field: &Field<'a>,
    ) -> Option<Self> {
        let group = reading
            .string(field, "group")
            .map_or("", |group| core_group(group));
        let backend = Self {
            group: group.into(),
            kind: text_or(reading.string(field, "kind"), "Service"),
            name: reading.required_string(field, "name")?.clone(),
            namespace: reading.text(field, "namespace").cloned(),
            at,
        };
        reading.integer(field, "port");
        Some(backend)
    }

    /// Group and kind.
    pub fn group_kind(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }

    /// The backend of a route in namespace `own`.
    pub fn identity(&self, own: &str) -> Identity {
        let namespace = self.namespace.as_deref().unwrap_or(own);
        Identity::new(&*self.group, &*self.kind, Some(namespace), &*self.name)
    }

    /// Pointer of the reference inside the route.
    pub fn pointer(&self) -> String {
        let (rule, backend, filter) = self.at;
        let mut pointer = format!("/spec/rules/{rule}");
        if let Some(backend) = backend {
            pointer.push_str(&format!("/backendRefs/{backend}"));
        }
        if let Some(filter) = filter {
            pointer.push_str(&format!("/filters/{filter}/requestMirror/backendRef"));
        }
        pointer
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
    /// Reads the `allowedRoutes` of a listener. The defaults are Gateway API's: the same namespace; the kinds of the
    /// protocol.
    pub(super) fn read(allowed: &Field<'_>, protocol: &str) -> Self {
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
            kinds_of_protocol(protocol)
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
        let route = Route::new(&route).unwrap();
        let names: Vec<_> = route.rules[0]
            .backends
            .iter()
            .map(|backend| &*backend.name)
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
        let route = object(json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": "r", "namespace": "a"},
            "spec": {"parentRefs": [{"name": "x"}, {"name": "y"}], "rules": [rule(0), rule(1)]},
        }));
        let read = Route::new(&route).unwrap();
        let parents = read
            .parents
            .iter()
            .map(|parent| (&*parent.name, parent.pointer()));
        let backends = read.rules.iter().flat_map(|rule| &rule.backends);
        let backends = backends.map(|backend| (&*backend.name, backend.pointer()));
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
        let gateway = super::super::gateway::Gateway::new(&gateway).unwrap();
        let admission = &gateway.listeners[0].admission;
        assert!(admission.admits_kind(GROUP, "HTTPRoute"));
        assert!(!admission.admits_kind(GROUP, "TCPRoute"));
        assert!(admission.namespaces.admits("a", "a", |_| None));
        assert!(!admission.namespaces.admits("a", "b", |_| None));
    }
}
