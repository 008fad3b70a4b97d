//! GatewayClass, Gateway, its listeners, and ReferenceGrant.
//!
//! Owns: their typed views, what a grant permits, and the rules that a view needs (such as unique listener names).
//! Flows in: objects. Flows out: views; findings at the fields that are wrong. Must not know: which class is ours,
//! which routes exist.

use std::collections::BTreeMap;

use super::Reading;
use crate::diagnostic::{Code, Finding, Findings, Place, nearest};
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;
use apimachinery::names::NameRule;
use apimachinery::{Field, core_group};

/// The API group of Gateway API.
pub const GROUP: &str = "gateway.networking.k8s.io";

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
#[derive(Debug, Clone)]
pub struct GatewayClass<'a> {
    /// The object.
    pub object: &'a Object,
    /// `spec.controllerName`.
    pub controller_name: &'a str,
}

impl<'a> GatewayClass<'a> {
    /// Reads a GatewayClass; `None` when its essentials are wrong, which is then a finding.
    pub fn read(object: &'a Object, findings: &mut Findings) -> Option<Self> {
        let mut reading = Reading::new(object, findings);
        let spec = object.root().get("spec");
        let controller_name = reading.required_string(&spec, "controllerName")?;
        let reference = spec.get("parametersRef");
        if reading.mapping(&reference) {
            reading.string(&reference, "group");
            reading.required_string(&reference, "kind");
            reading.required_string(&reference, "name");
            reading.string(&reference, "namespace");
        }
        (!reading.is_wrong()).then_some(Self {
            object,
            controller_name,
        })
    }
}

/// A Gateway.
#[derive(Debug, Clone)]
pub struct Gateway<'a> {
    /// The object.
    pub object: &'a Object,
    /// `spec.gatewayClassName`.
    pub class_name: &'a str,
    /// `spec.listeners`, in their order.
    pub listeners: Vec<Listener<'a>>,
    /// Whether routes that request default Gateways are attached to it (`spec.defaultScope`).
    pub is_default: bool,
    /// The value of [`PLACEMENT_LABEL`]; an empty value counts as none
    /// (docs/systems/mgc.md#placing-a-gateway).
    pub placement: Option<&'a str>,
}

/// A listener of a Gateway.
#[derive(Debug, Clone)]
pub struct Listener<'a> {
    /// `name`, unique in its Gateway.
    pub name: &'a str,
    /// `hostname`; none matches every host.
    pub hostname: Option<&'a str>,
    /// `port`.
    pub port: Option<i64>,
    /// `protocol`.
    pub protocol: &'a str,
    /// `tls.certificateRefs`.
    pub certificate_refs: Vec<CertificateRef<'a>>,
    /// Pointer of the listener inside the Gateway.
    pub pointer: String,
    /// The listener itself, for what is not read here (`allowedRoutes`).
    pub field: Field<'a>,
}

/// A reference of a listener to a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateRef<'a> {
    /// API group, `""` when left out.
    pub group: &'a str,
    /// Kind, `Secret` when left out.
    pub kind: &'a str,
    /// Name.
    pub name: &'a str,
    /// Namespace as written; none means the Gateway's own.
    pub namespace: Option<&'a str>,
    /// Pointer of the reference inside the Gateway.
    pub pointer: String,
}

impl<'a> Gateway<'a> {
    /// Reads a Gateway; `None` when it has no usable class name or listeners, which is then a finding.
    pub fn read(object: &'a Object, findings: &mut Findings) -> Option<Self> {
        let mut reading = Reading::new(object, findings);
        let spec = object.root().get("spec");
        let class_name = reading.required_string(&spec, "gatewayClassName")?;
        let listeners = listeners(&mut reading, object)?;
        let placement = object.label(PLACEMENT_LABEL).filter(|name| !name.is_empty());
        (!reading.is_wrong()).then_some(Self {
            object,
            class_name,
            listeners,
            is_default: spec.text("defaultScope") == Some("All"),
            placement,
        })
    }
}

fn listeners<'a>(reading: &mut Reading<'a, '_>, object: &'a Object) -> Option<Vec<Listener<'a>>> {
    let items = reading.items(&object.root().get("spec").get("listeners"));
    let listeners: Option<Vec<_>> = items.map(|field| listener(reading, field)).collect();
    let listeners = listeners?;
    unique_names(reading, object, &listeners);
    Some(listeners)
}

fn listener<'a>(reading: &mut Reading<'a, '_>, field: Field<'a>) -> Option<Listener<'a>> {
    Some(Listener {
        name: reading.required_string(&field, "name")?,
        hostname: reading.hostname(&field.get("hostname")),
        // An XListenerSet of release 1.4 writes 0 for a port that its implementation chooses.
        port: reading.integer(&field, "port").filter(|port| *port != 0),
        protocol: reading.string(&field, "protocol").unwrap_or_default(),
        certificate_refs: certificate_refs(reading, &field),
        pointer: field.pointer(),
        field,
    })
}

/// Names become sections, feedback names and parts of JSONPaths: they are checked as an API server does.
fn unique_names(reading: &mut Reading<'_, '_>, object: &Object, listeners: &[Listener<'_>]) {
    let mut seen: BTreeMap<&str, &Listener<'_>> = BTreeMap::new();
    for listener in listeners {
        let place = || object.place(&format!("{}/name", listener.pointer));
        if let Err(error) = NameRule::Rfc1123Subdomain.check(listener.name) {
            let message = format!(
                "no listener of {} can be called `{}`",
                object.identity(),
                listener.name
            );
            let finding = Finding::new(Code::OBJECT_INVALID_NAME, place(), message).note(error.to_string());
            reading.wrong(finding.help("use lower case letters, digits, '-' and '.'"));
        }
        if let Some(first) = seen.insert(listener.name, listener) {
            let message = format!("{} has two listeners `{}`", object.identity(), listener.name);
            reading.wrong(
                Finding::new(Code::GATEWAY_INVALID, place(), message)
                    .label("again here")
                    .related(object.place(&format!("{}/name", first.pointer)), "first here")
                    .help("give each listener a name of its own"),
            );
        }
    }
}

/// A ListenerSet: further listeners of a Gateway, with another owner.
#[derive(Debug, Clone)]
pub struct ListenerSet<'a> {
    /// The object.
    pub object: &'a Object,
    /// Whether `spec.parentRef` names a Gateway, as it does by default.
    pub names_gateway: bool,
    /// Name of the Gateway in `spec.parentRef`.
    pub gateway: &'a str,
    /// Namespace of the Gateway as written; none means the ListenerSet's own.
    pub gateway_namespace: Option<&'a str>,
    /// `spec.listeners`, in their order.
    pub listeners: Vec<Listener<'a>>,
}

impl<'a> ListenerSet<'a> {
    /// Reads a ListenerSet; `None` when it is wrong, which is then a finding.
    pub fn read(object: &'a Object, findings: &mut Findings) -> Option<Self> {
        let mut reading = Reading::new(object, findings);
        let spec = object.root().get("spec");
        let parent = spec.get("parentRef");
        let group = reading.string(&parent, "group").unwrap_or(GROUP);
        let kind = reading.string(&parent, "kind").unwrap_or("Gateway");
        let gateway = reading.required_string(&parent, "name")?;
        let gateway_namespace = reading.text(&parent, "namespace");
        let listeners = listeners(&mut reading, object)?;
        (!reading.is_wrong()).then_some(Self {
            object,
            names_gateway: (group, kind) == (GROUP, "Gateway"),
            gateway,
            gateway_namespace,
            listeners,
        })
    }
}

fn certificate_refs<'a>(reading: &mut Reading<'a, '_>, listener: &Field<'a>) -> Vec<CertificateRef<'a>> {
    let references = reading.items(&listener.get("tls").get("certificateRefs"));
    references
        .into_iter()
        .filter_map(|reference| {
            Some(CertificateRef {
                group: reading.string(&reference, "group").unwrap_or_default(),
                kind: reading.string(&reference, "kind").unwrap_or("Secret"),
                name: reading.required_string(&reference, "name")?,
                namespace: reading.string(&reference, "namespace"),
                pointer: reference.pointer(),
            })
        })
        .collect()
}

/// A ReferenceGrant: who may refer into its namespace.
#[derive(Debug, Clone)]
pub(crate) struct ReferenceGrant<'a> {
    /// The object.
    pub object: &'a Object,
    /// The namespace that is opened.
    pub namespace: &'a str,
    /// Group, kind and namespace that may refer.
    pub from: Vec<(&'a str, &'a str, &'a str)>,
    /// Group, kind and, where it is restricted, name that may be referred to.
    pub to: Vec<(&'a str, &'a str, Option<&'a str>)>,
}

impl<'a> ReferenceGrant<'a> {
    /// Reads a ReferenceGrant; `None` when it is wrong, which is then a finding.
    pub(crate) fn read(object: &'a Object, findings: &mut Findings) -> Option<Self> {
        let mut reading = Reading::new(object, findings);
        let spec = object.root().get("spec");
        let from = reading
            .items(&spec.get("from"))
            .map(|entry| {
                (
                    core_group(reading.string(&entry, "group").unwrap_or_default()),
                    reading.required_string(&entry, "kind").unwrap_or_default(),
                    reading.required_string(&entry, "namespace").unwrap_or_default(),
                )
            })
            .collect();
        let to = reading
            .items(&spec.get("to"))
            .map(|entry| {
                (
                    core_group(reading.string(&entry, "group").unwrap_or_default()),
                    reading.required_string(&entry, "kind").unwrap_or_default(),
                    reading.text(&entry, "name"),
                )
            })
            .collect();
        (!reading.is_wrong()).then_some(Self {
            object,
            namespace: object.namespace_or_empty(),
            from,
            to,
        })
    }

    /// Where this grant permits the reference to a namespace that is spelled much like the one it comes from.
    pub(crate) fn almost_permits(&self, from: (&str, &str, &str), to: (&str, &str, &str)) -> Option<Place> {
        let (group, kind, namespace) = from;
        let near = |(of_group, of_kind, known): &(&str, &str, &str)| {
            (*of_group, *of_kind) == (group, kind) && nearest(namespace, [*known]).is_some()
        };
        let position = self.from.iter().position(near)?;
        let (_, _, known) = self.from.get(position)?;
        let place = || self.object.place(&format!("/spec/from/{position}/namespace"));
        self.permits((group, kind, known), to).then(place)
    }

    /// Whether an object of `from` (group, kind, namespace) may refer to `to` (group, kind, name) here.
    pub(crate) fn permits(&self, from: (&str, &str, &str), to: (&str, &str, &str)) -> bool {
        self.from.contains(&from)
            && self.to.iter().any(|(group, kind, name)| {
                (*group, *kind) == (to.0, to.1) && name.is_none_or(|name| name == to.2)
            })
    }
}
