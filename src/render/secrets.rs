//! The downstream Gateway in a work, and the Secrets that listeners need: left out and reported, or copied
//! (docs/reference/what-is-rendered.md). Certificate references are resolved with ReferenceGrants. The findings about works
//! that cannot be applied are here, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::Identity;
use kube_json::Value;

use super::input::Input;
use super::manifest::{Manifest, ManifestSummary, Reported, gateway_rules};
use crate::api::config::Secrets;
use crate::api::downstream::{NAMESPACE_PREFIX, downstream_name, downstream_namespace};
use crate::api::gateway::{CertificateRef, GROUP, Listener, ListenerSet};
use crate::api::params::{Params, WorkPer};
use crate::diagnostic::{Code, Finding, Findings, nearest};
use crate::hub::{Hub, Objects};
use crate::object::{Object, SUBSTITUTE_FIRST};
use crate::sync::{OnSpokes, PlacedGateway, redirected, shipped};

/// The Secrets that the listeners of one Gateway or ListenerSet need, and those that are shipped.
#[derive(Debug, Default)]
pub(super) struct ListenerSecrets<'a> {
    /// The Secrets to ship with it, each once, and where they come from.
    pub manifests: Vec<(&'a Object, Arc<Manifest>)>,
    /// References to rewrite, as (pointer inside the object, downstream name).
    pub rewrites: Vec<(String, String)>,
}

/// A Gateway or ListenerSet whose listeners need Secrets.
#[derive(Debug, Clone, Copy)]
struct Holder<'h> {
    object: &'h Object,
    listeners: &'h [Listener],
    /// Its namespace on the spokes.
    downstream: &'h str,
    /// The Gateway that it is, or goes with.
    gateway: &'h PlacedGateway<'h>,
}

/// Resolves the certificate references of a Gateway.
pub(super) fn gateway_secrets<'a>(
    placed: &PlacedGateway<'_>,
    input: &Input<'a>,
    findings: &mut Findings,
) -> ListenerSecrets<'a> {
    let object = placed.gateway.object;
    let downstream = downstream_namespace(object.namespace_or_empty());
    let holder = Holder {
        object,
        listeners: &placed.gateway.listeners,
        // That it would be too long is reported about the Gateway, which then goes nowhere.
        downstream: downstream.as_deref().unwrap_or_default(),
        gateway: placed,
    };
    secrets_of(holder, input, findings)
}

/// Resolves the certificate references of a ListenerSet, which keeps its namespace and goes with a Gateway.
pub(super) fn set_secrets<'a>(
    set: &Object,
    placed: &PlacedGateway<'_>,
    input: &Input<'a>,
    findings: &mut Findings,
) -> ListenerSecrets<'a> {
    let Some(view) = ListenerSet::new(set) else {
        return ListenerSecrets::default();
    };
    let holder = Holder {
        object: set,
        listeners: &view.listeners,
        downstream: set.namespace_or_empty(),
        gateway: placed,
    };
    secrets_of(holder, input, findings)
}

fn secrets_of<'a>(holder: Holder<'_>, input: &Input<'a>, findings: &mut Findings) -> ListenerSecrets<'a> {
    let mut needed: BTreeMap<(&str, &str), Vec<&CertificateRef>> = BTreeMap::new();
    let references = holder
        .listeners
        .iter()
        .flat_map(|listener| &listener.certificate_refs);
    for reference in references.filter(|to| [&*to.group, &*to.kind] == ["", "Secret"]) {
        let namespace = reference.namespace.as_deref();
        let namespace = namespace.unwrap_or_else(|| holder.object.namespace_or_empty());
        let references = needed.entry((namespace, &reference.name)).or_default();
        references.push(reference);
    }
    let mut secrets = ListenerSecrets::default();
    for ((namespace, name), references) in needed {
        if input.secrets == Secrets::Omit {
            let finding = not_rendered(holder, (namespace, name), &references, input);
            findings.extend(finding.map(|finding| explained(finding, holder, input.hub)));
        } else if let Some((secret, manifest)) = copy(holder, (namespace, name), &references, input, findings)
        {
            let name = &manifest.summary.name;
            let rewrites = references
                .iter()
                .map(|reference| (reference.pointer.clone(), name.clone()));
            secrets.rewrites.extend(rewrites);
            secrets.manifests.push((secret, Arc::new(manifest)));
        }
    }
    secrets
}

/// Points the references at the copies, which are in the namespace of the object that refers to them.
pub(super) fn rewrite(holder: &mut Value, rewrites: &[(String, String)]) {
    for (pointer, name) in rewrites {
        if let Some(reference) = holder.pointer_mut(pointer).and_then(Value::as_object_mut) {
            reference.insert("name".to_owned(), Value::from(name));
            // A reference to the own namespace needs no ReferenceGrant on the cluster.
            reference.remove("namespace");
        }
    }
}

fn copy<'a>(
    holder: Holder<'_>,
    (namespace, name): (&str, &str),
    references: &[&CertificateRef],
    &Input { hub, grants, .. }: &Input<'a>,
    findings: &mut Findings,
) -> Option<(&'a Object, Manifest)> {
    let object = holder.object;
    let own = object.namespace_or_empty();
    let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
    let place = || object.place(references.first().map_or("", |reference| &reference.pointer));
    if !grants.permit((group, kind, own), namespace, ("", "Secret", name)) {
        let message = format!("{} may not use Secret {namespace}/{name}", object.identity());
        let finding = Finding::new(Code::SECRET_REF_NOT_PERMITTED, place(), message);
        findings.push(finding.label("another namespace").help(format!(
            "add a ReferenceGrant to namespace `{namespace}` from {group} `{kind}` in namespace `{own}` to Secret"
        )));
        return None;
    }
    let Some(secret) = hub.objects.find("", "Secret", Some(namespace), name) else {
        let message = format!("Secret {namespace}/{name} is not in the input, so it is not copied");
        let finding = Finding::new(Code::SECRET_NOT_FOUND, place(), message)
            .label(format!("needed by {}", object.identity()))
            .help("add the Secret to the input, or make sure that the spokes already have it");
        let secret = (namespace, name);
        findings.push(near_secret(finding, hub, secret, holder.downstream, references));
        return None;
    };
    if secret.value.get("sops").is_some() {
        findings.push(encrypted(secret));
        return None;
    }
    findings.extend(string_data(secret));
    let downstream = holder.downstream;
    let downstream_name = downstream_name(namespace, name, own);
    let value = shipped(&secret.value, &downstream_name, downstream);
    let mut manifest = Manifest::new(("", "secrets"), "Secret", &downstream_name, value);
    downstream.clone_into(&mut manifest.summary.namespace);
    manifest.summary.origins.push(secret.origin.clone());
    Some((secret, manifest))
}

/// An encrypted object inside a ManifestWork stays encrypted forever: Flux decrypts top-level objects only.
pub(super) fn encrypted(object: &Object) -> Finding {
    let message = format!("{} is encrypted with sops", object.identity());
    Finding::new(Code::SECRET_ENCRYPTED, object.key_place("/sops"), message)
        .label("no controller would decrypt it inside a ManifestWork")
        .help("keep it out of the works (`secrets: Omit`) and bring it to the spokes another way")
}

/// An API server moves `stringData` into `data` and forgets it (docs/systems/kubernetes.md#secrets): what is taken out
/// of it later stays on the cluster, and what the agent applies never equals what is there.
pub(super) fn string_data(object: &Object) -> Option<Finding> {
    let field = object.root().get("stringData");
    if !object.is("", "Secret") || !field.is_present() {
        return None;
    }
    let message = format!(
        "{} is shipped with `stringData`, which no cluster keeps",
        object.identity()
    );
    Some(
        Finding::new(
            Code::SECRET_STRING_DATA,
            object.key_place(&field.pointer()),
            message,
        )
        .label("a key that is removed here remains on the clusters")
        .help("write the values under `data`, in base64"),
    )
}

/// With the objects whose mistakes keep a Secret from being made: its class, which says what is synced, and what makes
/// Secrets.
fn explained(finding: Finding, holder: Holder<'_>, hub: &Hub) -> Finding {
    let class_name = &holder.gateway.gateway.class_name;
    let class = hub.objects.find(GROUP, "GatewayClass", None, class_name);
    let makers = [
        ("kuadrant.io", "TLSPolicy"),
        ("cert-manager.io", "Certificate"),
        ("external-secrets.io", "ExternalSecret"),
        ("bitnami.com", "SealedSecret"),
    ];
    let makers = makers
        .into_iter()
        .flat_map(|(group, kind)| hub.objects.of_kind(group, kind));
    // One in a namespace whose name is misspelled would make it, too.
    let own = holder.object.namespace_or_empty();
    let makers = makers.filter(|maker| nearest(maker.namespace_or_empty(), [own]).is_some());
    let causes = class.into_iter().chain(makers);
    causes.fold(finding, |finding, cause| finding.follows_from(cause.place("")))
}

/// With the Secret of a near name, on the hub or on a cluster, where it is in the namespace `there`.
fn near_secret<'h>(
    finding: Finding,
    hub: &'h Hub,
    (namespace, name): (&'h str, &'h str),
    there: &'h str,
    references: &[&CertificateRef],
) -> Finding {
    let secrets = |objects: &'h Objects, wanted: &'h str| {
        let all = objects.of_kind("", "Secret").iter();
        all.filter(move |secret| secret.namespace_or_empty() == wanted && secret.name != name)
    };
    let on_spokes = hub.spokes.values().flat_map(|objects| secrets(objects, there));
    let known: Vec<&Object> = secrets(&hub.objects, namespace).chain(on_spokes).collect();
    let near = nearest(name, known.iter().map(|secret| secret.name.as_str()));
    match near.and_then(|near| known.iter().find(|secret| secret.name == near)) {
        Some(secret) => finding.help(format!("did you mean `{}`?", secret.name)).lacks(
            format!("Secret {namespace}/{name}"),
            secret.place("/metadata/name"),
        ),
        None => {
            let is_named = references.iter().any(|reference| reference.namespace.is_some());
            let is_there = hub.objects.find("", "Secret", Some(namespace), name).is_some();
            let mut all = hub.objects.of_kind("", "Secret").iter();
            let elsewhere = all.find(|secret| secret.name == name && !is_named && !is_there);
            elsewhere
                .into_iter()
                .fold(finding, |finding, secret| finding.note(secret.is_elsewhere()))
        }
    }
}

/// Says that a Secret stays away, unless every cluster has it all the same.
fn not_rendered(
    holder: Holder<'_>,
    (namespace, name): (&str, &str),
    references: &[&CertificateRef],
    Input { hub, on_spokes, .. }: &Input<'_>,
) -> Option<Finding> {
    let object = holder.object;
    let own = object.namespace_or_empty();
    let downstream = holder.downstream;
    let mut places = references
        .iter()
        .map(|reference| object.place(&reference.pointer));
    let place = places.next().unwrap_or_else(|| object.place(""));
    let named = references
        .iter()
        .find_map(|reference| reference.namespace.as_deref());
    let expected = named.unwrap_or(downstream);
    let copy = downstream_name(namespace, name, own);
    let [secret, copy] = [(expected, name), (downstream, &copy)]
        .map(|(namespace, name)| Identity::new("", "Secret", Some(namespace), name));
    // A cluster may have it under its own name, or as the copy that a run with `secrets: Copy` shipped.
    let has_it = |cluster: &String| on_spokes.has(&secret, cluster) || on_spokes.has(&copy, cluster);
    if holder.gateway.clusters.iter().all(has_it) {
        return None;
    }
    let message = format!(
        "Secret {namespace}/{name} is not shipped: the spokes must have it in namespace `{expected}`"
    );
    let finding = Finding::new(Code::SECRET_NOT_RENDERED, place, message)
        .label(format!("needed by {}", object.identity()))
        .help("create it on the spokes, or set `secrets: Copy` to ship the Secret of the input");
    let finding = near_secret(finding, hub, (namespace, name), expected, references);
    Some(places.fold(finding, |finding, place| {
        finding.related(place, "also needed here")
    }))
}

/// The Gateway as it is on every spoke that it goes to.
pub(super) fn gateway_manifest(
    placed: &PlacedGateway<'_>,
    secrets: &ListenerSecrets<'_>,
    on_spokes: &OnSpokes<'_>,
    findings: &mut Findings,
) -> Option<Manifest> {
    let Some(object) = placed.downstream() else {
        findings.push(namespace_too_long(placed.gateway.object));
        return None;
    };
    let mut value = object.value;
    rewrite(&mut value, &redirected(placed, on_spokes));
    rewrite(&mut value, &secrets.rewrites);
    Some(Manifest {
        summary: ManifestSummary {
            kind: object.kind.into(),
            group: GROUP.to_owned(),
            resource: "gateways".to_owned(),
            namespace: object.namespace.unwrap_or_default().into(),
            name: object.name.into(),
            origins: placed.gateway.object.origins(),
        },
        value,
        feedback: gateway_rules(placed.gateway, placed.params.raw_feedback),
        reported: Reported::Conditions(&["Accepted", "Programmed"]),
    })
}

fn namespace_too_long(object: &Object) -> Finding {
    let (namespace, gateway) = (object.namespace_or_empty(), object.identity());
    let message =
        format!("{gateway} cannot be placed: `{NAMESPACE_PREFIX}{namespace}` is longer than 63 characters");
    Finding::new(
        Code::GATEWAY_INVALID,
        object.place("/metadata/namespace"),
        message,
    )
    .label(format!("{} characters", namespace.len()))
    .note(format!(
        "on the spokes a Gateway lives in `{NAMESPACE_PREFIX}<namespace>`"
    ))
    .help("move it to a namespace of at most 54 characters")
}

pub(super) fn too_large(object: &Object, size: u64, params: &Params, name: &str) -> Finding {
    let limit = params.max_work_bytes;
    let help = if params.work_per != WorkPer::Object && object.kind == "Gateway" {
        "set `workPer: Both` and a higher `maxWorkBytes` in the parameters until every work is applied, then \
         `workPer: Object`, which gives each object a work of its own"
    } else {
        "make the object smaller, or raise `maxWorkBytes` in the parameters"
    };
    let message = format!("the work `{name}` has {size} bytes of manifests; its class allows {limit}");
    Finding::new(Code::WORK_TOO_LARGE, object.place("/metadata/name"), message)
        .label("this object's work")
        .note("OCM refuses works above 512000 bytes, and client-side apply stops at 262144")
        .help(help)
}

pub(super) fn too_many(object: &Object) -> Finding {
    let stage = format!("planning all works up to those of {}", object.identity());
    Finding::too_costly(&stage, object.place("/metadata/name"), "nothing is rendered")
    .note("a work counts once on each cluster that receives it")
    .help("place fewer Gateways on each cluster, set `workPer: Gateway` in the parameters, or render parts of the hub from directories of their own")
}

pub(super) fn substitution(object: &Object, name: &str, variable: Option<&str>) -> Finding {
    let found = variable.unwrap_or("${");
    let message = format!("the work `{name}` contains `{found}`, which Flux would substitute");
    let finding = Finding::new(Code::WORK_SUBSTITUTION, object.place("/metadata/name"), message)
        .label("this object's work")
        .note("the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled` prevents this");
    let silence = "`findings: {work/substitution: off}` in spokewright.yaml silences this";
    match variable {
        Some(variable) => finding.help(format!(
            "if `{variable}` should get a value, substitute it first: {SUBSTITUTE_FIRST}; if it is text, {silence}"
        )),
        None => finding.help(format!("no change is needed; {silence}")),
    }
}
