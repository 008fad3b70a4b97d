//! GatewayClass, Gateway, ListenerSet, and ReferenceGrant: listeners, the routes that they accept (`allowedRoutes`), and
//! the references to parents that routes and ListenerSets have.

use std::collections::BTreeMap;

use super::{Reading, Typed, View};
use crate::diagnostic::{Code, Finding, Place, nearest};
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;
use apimachinery::names::NameRule;
use apimachinery::{Field, Identity, Selector};
use kube_json::Text;

/// The API group of Gateway API.
pub const GROUP: &str = "gateway.networking.k8s.io";

/// What a reference to a parent means that leaves out its group and kind.
const GATEWAY: (&str, &str) = (GROUP, "Gateway");

/// The API group of what Gateway API tries out under names of its own.
pub const X_GROUP: &str = "gateway.networking.x-k8s.io";

/// Group and kind of ListenerSets; the second is what releases 1.3 and 1.4 called the first
/// (docs/systems/gateway-api.md#listenersets).
pub const LISTENER_SETS: [(&str, &str); 2] = [(GROUP, "ListenerSet"), (X_GROUP, "XListenerSet")];

/// Whether this group and kind is a ListenerSet.
pub fn is_listener_set(group: &str, kind: &str) -> bool {
    LISTENER_SETS.contains(&(group, kind))
}

/// A GatewayClass.
pub type GatewayClass<'a> = Typed<'a, ClassSpec>;

/// The interpreted fields of a GatewayClass.
#[derive(Debug)]
pub struct ClassSpec {
    /// `spec.controllerName`.
    pub controller_name: Text,
}

impl View for ClassSpec {
    fn read<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Option<Self> {
        let spec = object.root().get("spec");
        let controller_name = reading.required_string(&spec, "controllerName")?.clone();
        let reference = spec.get("parametersRef");
        if reading.mapping(&reference) {
            reading.string(&reference, "group");
            reading.required_string(&reference, "kind");
            reading.required_string(&reference, "name");
            reading.string(&reference, "namespace");
        }
        (!reading.is_wrong()).then_some(Self { controller_name })
    }
}

/// A Gateway.
pub type Gateway<'a> = Typed<'a, GatewaySpec>;

/// The interpreted fields of a Gateway.
#[derive(Debug)]
pub struct GatewaySpec {
    /// `spec.gatewayClassName`.
    pub class_name: Text,
    /// `spec.listeners`, in their order.
    pub listeners: Vec<Listener>,
    /// Which namespaces it takes ListenerSets from (`spec.allowedListeners`); by default none.
    pub allowed_listeners: AdmittedNamespaces,
    /// Whether routes that request default Gateways are attached to it (`spec.defaultScope`).
    pub is_default: bool,
    /// The value of [`PLACEMENT_LABEL`]; an empty value counts as none
    /// (docs/systems/mgc.md#placing-a-gateway).
    pub placement: Option<Text>,
}

/// A listener of a Gateway.
#[derive(Debug)]
pub struct Listener {
    /// `name`, unique in its Gateway.
    pub name: Text,
    /// `hostname`; none matches every host.
    pub hostname: Option<Text>,
    /// `port`.
    pub port: Option<i64>,
    /// `protocol`.
    pub protocol: Text,
    /// `tls.certificateRefs`.
    pub certificate_refs: Vec<CertificateRef>,
    /// Whether TLS ends behind it, so that it sees no request.
    pub passes_through: bool,
    /// The routes that it accepts.
    pub admission: Admission,
    /// Pointer of the listener inside the Gateway.
    pub pointer: String,
}

/// A reference of a listener to a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateRef {
    /// API group, `""` when left out.
    pub group: Text,
    /// Kind, `Secret` when left out.
    pub kind: Text,
    /// Name.
    pub name: Text,
    /// Namespace as written; none means the Gateway's own.
    pub namespace: Option<Text>,
    /// Pointer of the reference inside the Gateway.
    pub pointer: String,
}

impl View for GatewaySpec {
    fn read<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Option<Self> {
        let spec = object.root().get("spec");
        let class_name = reading.required_string(&spec, "gatewayClassName")?.clone();
        let listeners = listeners(reading, object)?;
        let namespaces = spec.get("allowedListeners").get("namespaces");
        let allowed_listeners = AdmittedNamespaces::read(&namespaces, "None");
        let placement = object.label(PLACEMENT_LABEL).filter(|name| !name.is_empty());
        (!reading.is_wrong()).then_some(Self {
            class_name,
            listeners,
            allowed_listeners,
            is_default: spec.text("defaultScope") == Some("All"),
            placement: placement.map(Text::from),
        })
    }
}

fn listeners<'a>(reading: &mut Reading<'a>, object: &'a Object) -> Option<Vec<Listener>> {
    let items = reading.items(&object.root().get("spec").get("listeners"));
    let listeners: Option<Vec<_>> = items.map(|field| listener(reading, &field)).collect();
    let listeners = listeners?;
    unique_names(reading, object, &listeners);
    Some(listeners)
}

fn listener<'a>(reading: &mut Reading<'a>, field: &Field<'a>) -> Option<Listener> {
    let name = reading.required_string(field, "name")?.clone();
    let hostname = reading.hostname(&field.get("hostname")).cloned();
    let port = reading.integer(field, "port");
    let protocol = reading.string(field, "protocol").cloned().unwrap_or_default();
    Some(Listener {
        name,
        hostname,
        // An XListenerSet of release 1.4 writes 0 for a port that its implementation chooses.
        port: port.filter(|port| *port != 0),
        certificate_refs: certificate_refs(reading, field),
        passes_through: field.get("tls").text("mode") == Some("Passthrough"),
        admission: Admission::read(&field.get("allowedRoutes"), &protocol),
        protocol,
        pointer: field.pointer(),
    })
}

/// Names become sections, feedback names and parts of JSONPaths: they are checked as an API server does.
fn unique_names(reading: &mut Reading<'_>, object: &Object, listeners: &[Listener]) {
    let mut seen: BTreeMap<&str, &Listener> = BTreeMap::new();
    for listener in listeners {
        let place = || object.place(&format!("{}/name", listener.pointer));
        if let Err(error) = NameRule::Rfc1123Subdomain.check(&listener.name) {
            let (gateway, name) = (object.identity(), &listener.name);
            let message = format!("no listener of {gateway} can be called `{name}`");
            let finding = Finding::new(Code::OBJECT_INVALID_NAME, place(), message).note(error.to_string());
            reading.wrong(finding.help("use lower case letters, digits, '-' and '.'"));
        }
        if let Some(first) = seen.insert(&listener.name, listener) {
            let message = format!("{} has two listeners `{}`", object.identity(), listener.name);
            let first = object.place(&format!("{}/name", first.pointer));
            let finding = Finding::new(Code::GATEWAY_INVALID, place(), message).label("again here");
            let finding = finding.related(first, "first here");
            reading.wrong(finding.help("give each listener a name of its own"));
        }
    }
}

/// A ListenerSet: further listeners of a Gateway, with another owner.
pub type ListenerSet<'a> = Typed<'a, ListenerSetSpec>;

/// The interpreted fields of a ListenerSet.
#[derive(Debug)]
pub struct ListenerSetSpec {
    /// `spec.parentRef`.
    pub parent: ObjectRef,
    /// `spec.listeners`, in their order.
    pub listeners: Vec<Listener>,
}

impl View for ListenerSetSpec {
    fn read<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Option<Self> {
        let parent = ObjectRef::read(reading, &object.root().get("spec").get("parentRef"), GATEWAY)?;
        let listeners = listeners(reading, object)?;
        (!reading.is_wrong()).then_some(Self { parent, listeners })
    }
}

fn certificate_refs<'a>(reading: &mut Reading<'a>, listener: &Field<'a>) -> Vec<CertificateRef> {
    let references = reading.items(&listener.get("tls").get("certificateRefs"));
    let references = references.filter_map(|reference| {
        Some(CertificateRef {
            group: reading.string(&reference, "group").cloned().unwrap_or_default(),
            kind: text_or(reading.string(&reference, "kind"), "Secret"),
            name: reading.required_string(&reference, "name")?.clone(),
            namespace: reading.string(&reference, "namespace").cloned(),
            pointer: reference.pointer(),
        })
    });
    references.collect()
}

/// A reference to an object by its name: of a route or a ListenerSet to its parent, or of a rule to a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRef {
    /// API group, `""` for core.
    pub group: Text,
    /// Kind.
    pub kind: Text,
    /// Name.
    pub name: Text,
    /// Namespace as written; none means that of the object that refers.
    pub namespace: Option<Text>,
}

impl ObjectRef {
    /// Reads a reference that means this group and kind when it leaves them out.
    pub(super) fn read<'a>(
        reading: &mut Reading<'a>,
        field: &Field<'a>,
        (group, kind): (&str, &str),
    ) -> Option<Self> {
        Some(Self {
            group: text_or(reading.string(field, "group"), group),
            kind: text_or(reading.string(field, "kind"), kind),
            name: reading.required_string(field, "name")?.clone(),
            namespace: reading.text(field, "namespace").cloned(),
        })
    }

    /// Group and kind.
    pub fn group_kind(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }

    /// The namespace that an object in namespace `own` means.
    pub fn namespace_from<'n>(&'n self, own: &'n str) -> &'n str {
        self.namespace.as_deref().unwrap_or(own)
    }

    /// The object that an object in namespace `own` means.
    pub fn identity(&self, own: &str) -> Identity {
        let namespace = Some(self.namespace_from(own));
        Identity::new(&self.group, &self.kind, namespace, &self.name)
    }
}

/// One entry of `spec.parentRefs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentRef {
    /// The parent: a Gateway, unless it says otherwise.
    pub object: ObjectRef,
    /// Listener; none means every listener.
    pub section_name: Option<Text>,
    /// Port of the listener; none means any.
    pub port: Option<i64>,
    /// Its position in `spec.parentRefs`; none for a default Gateway, which no route names.
    position: Option<usize>,
}

impl ParentRef {
    /// A Gateway that is a parent of routes that request default Gateways.
    pub fn to_default(gateway: &Object) -> Self {
        let object = ObjectRef {
            group: GROUP.into(),
            kind: "Gateway".into(),
            name: gateway.name.clone(),
            namespace: gateway.namespace.clone(),
        };
        Self {
            object,
            section_name: None,
            port: None,
            position: None,
        }
    }

    pub(super) fn read<'a>(reading: &mut Reading<'a>, position: usize, field: &Field<'a>) -> Option<Self> {
        Some(Self {
            object: ObjectRef::read(reading, field, GATEWAY)?,
            section_name: reading.text(field, "sectionName").cloned(),
            port: reading.integer(field, "port"),
            position: Some(position),
        })
    }

    /// Pointer of the reference inside the route.
    pub fn pointer(&self) -> String {
        match self.position {
            Some(position) => format!("/spec/parentRefs/{position}"),
            None => "/spec/useDefaultGateways".to_owned(),
        }
    }
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
    pub(super) fn read(field: &Field<'_>, default: &str) -> Self {
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
    fn read(allowed: &Field<'_>, protocol: &str) -> Self {
        let listed = allowed.get("kinds").items().filter_map(|kind| {
            let group = kind.text("group").unwrap_or(GROUP);
            Some((group.to_owned(), kind.text("kind")?.to_owned()))
        });
        let listed: Vec<(String, String)> = listed.collect();
        Self {
            namespaces: AdmittedNamespaces::read(&allowed.get("namespaces"), "Same"),
            lists_kinds: !listed.is_empty(),
            kinds: Some(listed)
                .filter(|listed| !listed.is_empty())
                .or_else(|| kinds_of_protocol(protocol)),
        }
    }

    /// Whether routes of this group and kind are admitted.
    pub fn admits_kind(&self, group: &str, kind: &str) -> bool {
        let mut kinds = self.kinds.iter().flatten();
        self.kinds.is_none() || kinds.any(|(g, k)| g == group && k == kind)
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
    let kinds = kinds.iter().map(|kind| (GROUP.to_owned(), (*kind).to_owned()));
    Some(kinds.collect())
}

/// A ReferenceGrant: who may refer into its namespace.
pub(crate) type ReferenceGrant<'a> = Typed<'a, GrantSpec>;

/// The fields of a ReferenceGrant.
#[derive(Debug)]
pub(crate) struct GrantSpec {
    /// Group, kind and namespace that may refer.
    from: Vec<[Text; 3]>,
    /// Group, kind and, where it is restricted, name that may be referred to.
    to: Vec<([Text; 2], Option<Text>)>,
}

impl View for GrantSpec {
    fn read<'a>(object: &'a Object, reading: &mut Reading<'a>) -> Option<Self> {
        let spec = object.root().get("spec");
        let entries = reading.items(&spec.get("from"));
        let from = entries.map(|entry| {
            let [group, kind] = group_kind(reading, &entry);
            let namespace = reading.required_string(&entry, "namespace");
            [group, kind, namespace.cloned().unwrap_or_default()]
        });
        let from = from.collect();
        let entries = reading.items(&spec.get("to"));
        let to = entries.map(|entry| {
            let kind = group_kind(reading, &entry);
            (kind, reading.text(&entry, "name").cloned())
        });
        let to = to.collect();
        (!reading.is_wrong()).then_some(Self { from, to })
    }
}

/// Group and kind of an entry of a grant.
fn group_kind<'a>(reading: &mut Reading<'a>, entry: &Field<'a>) -> [Text; 2] {
    let group = reading.group(entry, "");
    let kind = reading.required_string(entry, "kind").cloned();
    [group, kind.unwrap_or_default()]
}

impl ReferenceGrant<'_> {
    /// Where this grant permits the reference to a namespace that is spelled much like the one it comes from.
    pub(crate) fn almost_permits(&self, from: (&str, &str, &str), to: (&str, &str, &str)) -> Option<Place> {
        let (group, kind, namespace) = from;
        let near = |[of_group, of_kind, known]: &[Text; 3]| {
            *of_group == group && *of_kind == kind && nearest(namespace, [known.as_str()]).is_some()
        };
        let position = self.from.iter().position(near)?;
        let [.., known] = self.from.get(position)?;
        let place = || self.object.place(&format!("/spec/from/{position}/namespace"));
        self.permits((group, kind, known), to).then(place)
    }

    /// Whether an object of `from` (group, kind, namespace) may refer to `to` (group, kind, name) here.
    pub(crate) fn permits(&self, from: (&str, &str, &str), to: (&str, &str, &str)) -> bool {
        let is_from = |[group, kind, namespace]: &[Text; 3]| (&**group, &**kind, &**namespace) == from;
        let is_to = |([group, kind], name): &([Text; 2], Option<Text>)| {
            (&**group, &**kind) == (to.0, to.1) && name.as_ref().is_none_or(|name| name == to.2)
        };
        self.from.iter().any(is_from) && self.to.iter().any(is_to)
    }
}

/// The text, or a default.
fn text_or(text: Option<&Text>, default: &str) -> Text {
    text.cloned().unwrap_or_else(|| default.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_json::json;

    #[test]
    fn an_http_listener_takes_no_tcp_routes_and_only_its_own_namespace() {
        let gateway = crate::tests::object(
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {"name": "g", "namespace": "a"},
            "spec": {"gatewayClassName": "c", "listeners": [{"name": "h", "port": 80, "protocol": "HTTP"}]}}),
        );
        let gateway = Gateway::new(&gateway).unwrap();
        let admission = &gateway.listeners[0].admission;
        assert!(admission.admits_kind(GROUP, "HTTPRoute"));
        assert!(!admission.admits_kind(GROUP, "TCPRoute"));
        assert!(admission.namespaces.admits("a", "a", |_| None));
        assert!(!admission.namespaces.admits("a", "b", |_| None));
    }
}
