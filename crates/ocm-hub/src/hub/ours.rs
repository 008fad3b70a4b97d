//! Our GatewayClasses with their parameters, and the Gateways that belong to them.
//!
//! A class is ours if its `spec.controllerName` is the configured one (docs/reference/parameters.md);
//! classes of other controllers, and their Gateways, are never rendered.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::{Identity, Table};
use strsim::damerau_levenshtein;

use super::Hub;
use crate::api::controllers::product_of_class;
use crate::api::gateway::{GROUP, Gateway, GatewayClass};
use crate::api::params::{InvalidParameters, Params, ParamsPlace, read_class, written};
use crate::diagnostic::{Code, Finding, Findings, Severity, first_items, nearest};
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;
use crate::parallel;

apimachinery::row_ids! {
    /// A Gateway of ours, in [`Ours::gateways`] and in every table with a row for each of them.
    pub OurGatewayId,
}

/// A GatewayClass of ours.
#[derive(Debug, Clone)]
pub struct OurClass<'a> {
    /// The class.
    pub class: GatewayClass<'a>,
    /// Its parameters, or why they cannot be used, which is also a finding.
    pub params: Result<Arc<Params>, InvalidParameters>,
    mistakes: Vec<Finding>,
}

/// A Gateway whose class is ours and has usable parameters.
#[derive(Debug, Clone)]
pub struct OurGateway<'a> {
    /// The Gateway.
    pub gateway: Gateway<'a>,
    /// Parameters of its class, which all its Gateways share.
    pub params: Arc<Params>,
}

/// All that is ours in a hub.
#[derive(Debug, Default)]
pub struct Ours<'a> {
    /// Our classes by name.
    pub classes: BTreeMap<&'a str, OurClass<'a>>,
    /// Our Gateways, by namespace and name.
    pub gateways: Table<OurGatewayId, OurGateway<'a>>,
    by_key: BTreeMap<(&'a str, &'a str), OurGatewayId>,
}

impl<'a> Ours<'a> {
    /// Reads the classes and Gateways of the hub.
    pub fn new(hub: &'a Hub, controller_name: &str) -> Self {
        let mut ours = Self::default();
        let classes = hub.objects.of_kind(GROUP, "GatewayClass").iter();
        for class in classes.filter_map(GatewayClass::new) {
            if class.controller_name == controller_name {
                let (params, mistakes) = resolve(hub, class.object);
                let params = params.map(Arc::new);
                let class = OurClass {
                    class,
                    params,
                    mistakes,
                };
                ours.classes.insert(&class.class.object.name, class);
            }
        }
        let gateways = parallel::map(hub.objects.of_kind(GROUP, "Gateway"), Gateway::new);
        for gateway in gateways.into_iter().flatten() {
            let object = gateway.object;
            let class = ours.classes.get(&*gateway.class_name);
            if let Some(params) = class.and_then(|class| class.params.as_ref().ok()) {
                let params = Arc::clone(params);
                let id = ours.gateways.push(OurGateway { gateway, params });
                ours.by_key
                    .insert((object.namespace_or_empty(), &object.name), id);
            }
        }
        ours
    }

    /// Reports the mistakes in the classes and Gateways of the hub.
    pub fn report(&self, hub: &'a Hub, controller_name: &str, findings: &mut Findings) {
        let classes = hub.objects.of_kind(GROUP, "GatewayClass");
        let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        for object in classes {
            let Some(class) = GatewayClass::read(object, findings) else {
                continue;
            };
            if let Some(class) = self.classes.get(&*object.name) {
                findings.extend(class.mistakes.iter().cloned());
            } else if nearest(&class.controller_name, [controller_name]).is_some() {
                findings.extend(nearly_ours(hub, &class, controller_name));
            }
        }
        for object in hub.objects.of_kind(GROUP, "Gateway") {
            let gateway = Gateway::read(object, findings);
            if let Some(gateway) = gateway.filter(|gateway| !names.contains(&&*gateway.class_name)) {
                let finding = class_not_found(hub, &gateway, &names, &self.classes, controller_name);
                findings.push(finding);
            }
        }
    }

    /// By the name of each of our classes, that of the class on the clusters.
    pub fn downstream_classes(&self) -> BTreeMap<String, String> {
        let classes = self.classes.iter().filter_map(|(name, class)| {
            let params = class.params.as_deref().ok()?;
            Some(((*name).to_owned(), params.downstream_class.clone()))
        });
        classes.collect()
    }

    /// Our Gateway with this namespace and name.
    pub fn find(&self, namespace: &str, name: &str) -> Option<OurGatewayId> {
        self.by_key.get(&(namespace, name)).copied()
    }
}

/// A class whose controller is ours but for a typo, if a Gateway of it is to be placed.
fn nearly_ours(hub: &Hub, class: &GatewayClass<'_>, controller_name: &str) -> Option<Finding> {
    let name = class.object.name.as_str();
    let gateways = hub.objects.of_kind(GROUP, "Gateway").iter();
    let mut placed = gateways.filter(|gateway| gateway.label(PLACEMENT_LABEL).is_some());
    let gateway = placed.find(|gateway| gateway.root().get("spec").text("gatewayClassName") == Some(name))?;
    let gateway = gateway.identity();
    let what = format_args!("has another controller than ours, so no cluster receives {gateway}");
    let at = "/spec/controllerName";
    let finding = class.object.finding(Code::GATEWAY_CLASS_NOT_OURS, at, what);
    Some(finding.help(format!(
        "did you mean `{controller_name}`? Otherwise, remove the placement labels of its Gateways"
    )))
}

/// At most so many classes in a row.
const MOST_CLASSES: usize = 5;

fn class_not_found(
    hub: &Hub,
    gateway: &Gateway<'_>,
    known: &[&str],
    ours: &BTreeMap<&str, OurClass<'_>>,
    controller_name: &str,
) -> Finding {
    let name = gateway.class_name.as_str();
    // Only a Gateway of ours has the label. Without it, the class may belong to another controller.
    let is_placed = gateway.object.label(PLACEMENT_LABEL).is_some() && !ours.is_empty();
    let what = format_args!("has the class `{name}`, which is not in the input");
    let at = "/spec/gatewayClassName";
    let finding = gateway.object.finding(Code::GATEWAY_CLASS_NOT_FOUND, at, what);
    let finding = finding.label("no GatewayClass of this name");
    let mut finding = finding.missing(Identity::new(GROUP, "GatewayClass", None, name));
    if is_placed {
        finding.severity = Severity::Error;
    }
    let product = product_of_class(name);
    // A class of another project is near to few names.
    let is_near = |near: &&str| product.is_none() || damerau_levenshtein(name, near) == 1;
    match (nearest(name, known.iter().copied()).filter(is_near), product) {
        (Some(near), _) => {
            let mut finding = finding.help(format!("did you mean `{near}`?"));
            // A typo would take the Gateway off every cluster, which no warning may do.
            if ours.contains_key(near) {
                finding.severity = Severity::Error;
            }
            match hub.objects.find(GROUP, "GatewayClass", None, near) {
                Some(class) => finding.lacks(format!("GatewayClass {name}"), class.place("/metadata/name")),
                None => finding,
            }
        }
        (None, Some(product)) if is_placed => finding.help(format!(
            "`{name}` is a class of {product}, whose Gateways live on the hub itself and are not rendered: remove the label \
             `{PLACEMENT_LABEL}`, or write a class of `{controller_name}`"
        )),
        (None, Some(product)) => finding.help(format!(
            "leave it if it lives on the hub itself: `{name}` is a class of {product}, whose Gateways are not rendered; with \
             that GatewayClass in the input, this is not reported"
        )),
        (None, None) if known.is_empty() => finding.help(format!(
            "add a GatewayClass `{name}` to the input; `spokewright init --from-live` prints the commands that export the classes of a hub"
        )),
        (None, None) => finding.help(format!(
            "name a class of the input, {}, or add the GatewayClass `{name}`",
            first_items(known.iter().map(|class| format!("`{class}`")), MOST_CLASSES)
        )),
    }
}

/// The usable parameters of a class, or why there are none, with the mistakes in them.
pub(super) fn resolve(hub: &Hub, class: &Object) -> (Result<Params, InvalidParameters>, Vec<Finding>) {
    let config_map = |namespace: &str, name: &str| hub.objects.find("", "ConfigMap", Some(namespace), name);
    let near = |namespace: &str, name: &str| {
        let all = || hub.objects.of_kind("", "ConfigMap").iter();
        let here = all().filter(|map| map.namespace_or_empty() == namespace);
        let named = all().filter(|map| map.name == name);
        let near_name = nearest(name, here.map(|map| map.name.as_str()));
        let namespaces = || named.clone().map(Object::namespace_or_empty);
        let near_namespace = || nearest(namespace, namespaces()).or_else(|| namespaces().min());
        near_name
            .map(|near| ("name", near))
            .or_else(|| near_namespace().map(|near| ("namespace", near)))
    };
    let read = read_class(class, config_map, near, &hub.kinds);
    let params = match read.failure {
        Some(failure) => Err(failure),
        None => Ok(read.params.unwrap_or_default()),
    };
    (params, read.findings)
}

/// Where the parameters of a class are; `None` for a class without any.
pub fn params_place(hub: &Hub, class: &Object) -> Option<ParamsPlace> {
    written(class, |namespace, name| {
        hub.objects.find("", "ConfigMap", Some(namespace), name)
    })
}
