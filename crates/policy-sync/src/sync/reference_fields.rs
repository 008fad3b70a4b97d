//! The objects that an object refers to, and that must be on the same cluster. The files of the products list the fields
//! (`references` in `policy/products/*.json`).
//!
//! Targets and parents are not such fields: an object goes where they go. Facts: the CRDs and controllers of the
//! products (docs/systems/references.md).

use std::collections::BTreeMap;

use kube_json::Value;

use crate::api::route::is_reference_to_routes;
use crate::object::Object;
use crate::policy::{ReferenceType, reference_fields};
use apimachinery::{Field, Identity, core_group};

/// Something that has to be on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Needed {
    /// This object; without a namespace, one that is cluster-scoped.
    Object(Identity),
    /// A Secret of this name in a namespace that the hub does not determine.
    SecretNamed(String),
    /// A Secret with these labels, in this namespace or in one that the hub does not determine.
    Labelled(Labels, Option<String>),
}

impl Needed {
    /// The object that it is, if that is in another namespace.
    pub(super) fn crossing(&self, namespace: &str) -> Option<&Identity> {
        match self {
            Self::Object(to) if to.namespace.as_deref().is_some_and(|there| there != namespace) => Some(to),
            _ => None,
        }
    }
}

/// The objects that an object needs if it is in a namespace, with the pointer of each reference, in the order of the
/// table.
pub(super) fn needed_by(object: &Object, own: Option<&str>) -> Vec<(Needed, String)> {
    let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
    let spec = object.root().get("spec");
    let of_kind = reference_fields().filter(|known| known.group == group && known.kinds.contains(&kind));
    let mut found = Vec::new();
    for (path, field_type) in of_kind.flat_map(|known| &known.fields) {
        spec.each(path, &mut |field| {
            let name = field.get("name");
            let named = if name.is_present() { &name } else { field };
            found.extend(needed(own, field, *field_type).map(|needed| (needed, named.pointer())));
        });
    }
    if (group, kind) == ("kuadrant.io", "DNSPolicy") {
        found.extend(default_provider(object, own));
    }
    found
}

/// The certificates that the listeners of a Gateway or a ListenerSet refer to if it is in a namespace, with the pointer of
/// each reference.
pub(super) fn certificates(holder: &Object, own: Option<&str>) -> Vec<(Identity, String)> {
    let mut found = Vec::new();
    let spec = holder.root().get("spec");
    spec.each("listeners.*.tls.certificateRefs.*", &mut |field| {
        if let Some(Needed::Object(certificate)) = needed(own, field, ReferenceType::Secret) {
            found.push((certificate, field.pointer()));
        }
    });
    found
}

fn needed(own: Option<&str>, field: &Field<'_>, field_type: ReferenceType) -> Option<Needed> {
    let text = |name: &'static str| field.text(name).filter(|text| !text.is_empty());
    let named = |group: &str, kind: &str, namespace: Option<&str>| {
        let name = text("name")?;
        Some(Needed::Object(Identity::new(group, kind, namespace, name)))
    };
    let reference = |group: &str, kind: &str| {
        let group = text("group").map_or(group, core_group);
        let kind = text("kind").unwrap_or(kind);
        let namespace = text("namespace").or(own);
        named(group, kind, namespace).filter(|_| !kind.is_empty())
    };
    match field_type {
        ReferenceType::Any => reference("", ""),
        ReferenceType::Kind(group, kind) => reference(group, kind),
        ReferenceType::Secret => reference("", "Secret"),
        ReferenceType::ConfigMap => reference("", "ConfigMap"),
        ReferenceType::Service => reference("", "Service"),
        ReferenceType::Backend => {
            let group = text("group").map_or("", core_group);
            let is_routes = is_reference_to_routes(group, text("kind").unwrap_or_default());
            (!is_routes).then(|| reference("", "Service")).flatten()
        }
        ReferenceType::SecretName => Some(Needed::Object(Identity::new("", "Secret", own, field.str()?))),
        ReferenceType::AuthorinoSecret => Some(Needed::SecretNamed(text("name")?.to_owned())),
        ReferenceType::Secrets => labels(field).map(|labels| Needed::Labelled(labels, None)),
        ReferenceType::Issuer => match text("kind").unwrap_or("Issuer") {
            "ClusterIssuer" => named("cert-manager.io", "ClusterIssuer", None),
            _ => named("cert-manager.io", "Issuer", own),
        },
        ReferenceType::SecretStore => match text("kind").unwrap_or("SecretStore") {
            "ClusterSecretStore" => named("external-secrets.io", "ClusterSecretStore", None),
            kind => named("external-secrets.io", kind, own),
        },
    }
}

/// The labels of a selector that has only labels. A selector with expressions may match objects that cannot be named in
/// advance.
fn labels(selector: &Field<'_>) -> Option<Labels> {
    let labels = texts(&selector.get("matchLabels"));
    (!labels.is_empty()).then_some(labels)
}

/// The members of a mapping that are texts.
pub(super) fn texts(mapping: &Field<'_>) -> Labels {
    let text = |(key, value): (&str, Field<'_>)| Some((key.to_owned(), value.str()?.to_owned()));
    mapping.entries().filter_map(text).collect()
}

/// A DNSPolicy that names no provider and delegates nothing takes the Secret of its namespace that is marked as the
/// default (docs/systems/references.md#dns-providers-by-default).
fn default_provider(policy: &Object, own: Option<&str>) -> Option<(Needed, String)> {
    let spec = policy.root().get("spec");
    let providers = spec.get("providerRefs");
    let delegates = spec.get("delegate").value() == Some(&Value::Bool(true));
    // A DNSPolicy that delegates leaves the records to another cluster, and needs no provider.
    if providers.items().next().is_some() || delegates {
        return None;
    }
    let label = ("kuadrant.io/default-provider".to_owned(), "true".to_owned());
    let needed = Needed::Labelled(BTreeMap::from([label]), own.map(str::to_owned));
    Some((needed, spec.pointer()))
}

/// Labels of a Secret.
pub(super) type Labels = BTreeMap<String, String>;

/// The Secret that an object makes on its cluster, if it makes one, with its labels
/// (docs/systems/references.md#who-makes-a-secret).
pub(super) fn made_by(object: &Object) -> Option<(Identity, Labels)> {
    let spec = object.root().get("spec");
    let own = || object.name.to_string();
    let text = |field: Field<'_>| field.str().map(str::to_owned);
    let (name, template) = match (object.api_version.group.as_str(), object.kind.as_str()) {
        ("cert-manager.io", "Certificate") => (text(spec.get("secretName"))?, spec.get("secretTemplate")),
        ("external-secrets.io", "ExternalSecret") => {
            let target = spec.get("target");
            let name = text(target.get("name")).unwrap_or_else(own);
            (name, target.get("template").get("metadata"))
        }
        ("bitnami.com", "SealedSecret") => (own(), spec.get("template").get("metadata")),
        _ => return None,
    };
    let secret = Identity::new("", "Secret", object.namespace.as_deref(), &name);
    Some((secret, texts(&template.get("labels"))))
}

#[cfg(test)]
mod tests {
    use kube_json::{Value, json};

    use super::*;
    use crate::api::catalog;
    use crate::policy::ReferenceFields;
    use crate::tests::object;

    /// Fields that the releases of the catalog do not have: of older ones, and of one to come.
    const ELSEWHERE: [&str; 3] = [
        "backendTLS.clientCertificateRef",
        "listeners.*.tls.frontendValidation.caCertificateRefs.*",
        "perPort.*.listener.clientCertificateValidation.caCertificateRefs.*",
    ];

    /// A path with one of the choices of each pair of braces.
    fn spelled_out(path: &str) -> Vec<String> {
        let Some((before, rest)) = path.split_once('{') else {
            return vec![path.to_owned()];
        };
        let (either, after) = rest.split_once('}').unwrap();
        let paths = either
            .split(',')
            .flat_map(|step| spelled_out(&format!("{before}{step}{after}")));
        paths.collect()
    }

    fn has(schema: &Value, path: &str) -> bool {
        let (step, rest) = path.split_once('.').unwrap_or((path, ""));
        let next = match step {
            "" => return true,
            "*" => {
                let of_map = schema
                    .get("additionalProperties")
                    .filter(|entry| entry.is_object());
                let properties = schema.get("properties").and_then(Value::as_object);
                let mut named = properties.into_iter().flat_map(|fields| fields.values());
                return schema.get("items").or(of_map).is_some_and(|item| has(item, rest))
                    || named.any(|field| has(field, rest));
            }
            step => schema.pointer(&format!("/properties/{step}")),
        };
        next.is_some_and(|next| has(next, rest))
    }

    #[test]
    fn every_field_of_the_table_is_one_of_its_kind() {
        for ReferenceFields { group, kinds, fields } in reference_fields() {
            for kind in kinds {
                let entry = catalog::find(group, kind).unwrap_or_else(|| panic!("{group} {kind}"));
                let definition = entry.value();
                let versions = definition["spec"]["versions"].as_array().expect("versions");
                let spec =
                    |version: &Value| version["schema"]["openAPIV3Schema"]["properties"]["spec"].clone();
                let specs: Vec<Value> = versions.iter().map(spec).collect();
                for path in fields.iter().flat_map(|(path, _)| spelled_out(path)) {
                    let is_known = specs.iter().any(|spec| has(spec, &path));
                    assert_eq!(
                        is_known,
                        !ELSEWHERE.contains(&path.as_str()),
                        "{group} {kind} {path}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_field_of_the_table_is_found_behind_each_of_its_choices_in_lists_and_in_mappings() {
        let reference = json!({"group": "", "kind": "Thing", "name": "x", "matchLabels": {"a": "b"}});
        for ReferenceFields { group, kinds, fields } in reference_fields() {
            for (path, field_type) in fields {
                for (path, entry) in spelled_out(path)
                    .iter()
                    .flat_map(|path| [(path.clone(), "0"), (path.clone(), "key")])
                {
                    let (leaf, end) = match field_type {
                        ReferenceType::SecretName => (json!("x"), ""),
                        _ => (reference.clone(), "/name"),
                    };
                    let steps: Vec<&str> = path.split('.').collect();
                    let spec = steps.iter().rev().fold(leaf, |value, step| match (*step, entry) {
                        ("*", "0") => json!([value]),
                        ("*", _) => json!({"key": value}),
                        (step, _) => Value::from_iter([(step.to_owned(), value)]),
                    });
                    let found = needed_by(
                        &object(json!({
                            "apiVersion": format!("{group}/v1"), "kind": kinds[0],
                            "metadata": {"name": "p", "namespace": "n"}, "spec": spec,
                        })),
                        Some("n"),
                    );
                    let pointer = format!("/spec/{}{end}", steps.join("/").replace('*', entry));
                    assert!(
                        found.iter().any(|(_, at)| *at == pointer),
                        "{group} {path}: {found:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_reference_is_read_with_its_defaults_wherever_it_stands() {
        let object = object(json!({
            "apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "SecurityPolicy",
            "metadata": {"name": "p", "namespace": "n"},
            "spec": {
                "basicAuth": {"users": {"name": "users"}},
                "jwt": {"providers": [{}, {"localJWKS": {"valueRef": {"kind": "Secret", "name": "keys", "namespace": "m"}}}]},
            },
        }));
        let identity = |kind: &str, namespace: &str, name: &str| {
            Needed::Object(Identity::new("", kind, Some(namespace), name))
        };
        assert_eq!(
            needed_by(&object, Some("kuadrant-n")),
            [
                (
                    identity("Secret", "kuadrant-n", "users"),
                    "/spec/basicAuth/users/name".to_owned()
                ),
                (
                    identity("Secret", "m", "keys"),
                    "/spec/jwt/providers/1/localJWKS/valueRef/name".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn the_fields_of_a_kind_are_those_of_its_group_and_of_no_other() {
        let needed = |api: &str, kind: &str| {
            let object = object(json!({
                "apiVersion": api, "kind": kind, "metadata": {"name": "p", "namespace": "n"},
                "spec": {"providerRefs": [{"name": "aws"}]},
            }));
            needed_by(&object, Some("n")).len()
        };
        assert_eq!(needed("kuadrant.io/v1", "DNSPolicy"), 1);
        assert_eq!(needed("kuadrant.io/v1", "RateLimitPolicy"), 0);
        assert_eq!(needed("example.com/v1", "DNSPolicy"), 0);
    }
}
