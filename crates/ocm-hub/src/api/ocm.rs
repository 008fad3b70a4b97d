//! Objects of OCM's cluster kinds that an API server would refuse: by their schema, and, of those that their schema
//! accepts, by OCM's admission webhooks, in their wording and as far as a file can break their rules.

use std::sync::LazyLock;

use crd_schema::{Crd, Schema, Violation, ViolationKind};
pub use ocm_placement::GROUP;

use super::{catalog, violation};
use crate::diagnostic::{Code, Finding};
use crate::object::Object;
use apimachinery::Url;
use apimachinery::names::check_cluster_name;

/// What placement is worked out from. Each has one version that is served.
pub const KINDS: [&str; 6] = [
    "AddOnPlacementScore",
    "ManagedCluster",
    "ManagedClusterSet",
    "ManagedClusterSetBinding",
    "Placement",
    "PlacementDecision",
];

static DEFINITIONS: LazyLock<Vec<Crd>> = LazyLock::new(|| {
    let entries = KINDS.iter().filter_map(|kind| catalog::find(GROUP, kind));
    entries.filter_map(|entry| entry.definition()).collect()
});

/// Checks an object of one of the six kinds as an API server would with strict field validation, but for what every
/// object's metadata must be: that is checked for all kinds alike, in `hub`. Objects of other kinds have no findings.
///
/// Every finding is `object/schema` or `object/unknown-field`, an error, at the offending field.
pub fn validate(object: &Object) -> Vec<Finding> {
    let mut definitions = DEFINITIONS.iter();
    let definition = definitions.find(|crd| object.is(&crd.group, &crd.kind));
    let Some(served) = definition.and_then(|crd| crd.versions.first()) else {
        return Vec::new();
    };
    if object.api_version.version != served.name {
        let (kind, written) = (&object.kind, &object.api_version);
        let served = format!("{GROUP}/{}", served.name);
        let message = format!("{kind} is served as {served}, not {written}");
        let finding = Finding::new(Code::OBJECT_SCHEMA, object.place("/apiVersion"), message);
        return vec![finding.help(format!("write `apiVersion: {served}`"))];
    }
    // Status counts: there is no controller to write it, so the scheduler reads what is given.
    let validate = |schema: &Schema| schema.validate_with_status(&object.value);
    let mut violations = served.schema.as_ref().map(validate).unwrap_or_default();
    violations.retain(|violation| !is_a_reason_left_out(violation));
    violation::findings(&violations, object)
}

/// The CRD wants a reason in every decision, which is never read, and people who write decisions leave it out.
fn is_a_reason_left_out(violation: &Violation) -> bool {
    violation.kind == ViolationKind::Required
        && violation.pointer.starts_with("/status/decisions/")
        && violation.pointer.ends_with("/reason")
}

// The webhooks: open-cluster-management-io/ocm pkg/registration/webhook/v1/managedcluster_validating.go@v1.3.1,
// pkg/registration/webhook/v1beta2/managedclustersetbinding_validating.go@v1.3.1 and
// pkg/registration/helpers/helpers.go@v1.3.1.

/// The objections of the webhook of the object's kind, which no CRD makes.
pub fn refusals(object: &Object) -> Vec<Finding> {
    if object.api_version.group != GROUP {
        return Vec::new();
    }
    match object.kind.as_str() {
        "ManagedCluster" => cluster(object),
        "ManagedClusterSetBinding" => Vec::from_iter(binding(object)),
        _ => Vec::new(),
    }
}

/// The webhook reads the name only where there are client configs, so a name that no namespace has passes without them.
fn cluster(object: &Object) -> Vec<Finding> {
    let configs = object.root().get("spec").get("managedClusterClientConfigs");
    if configs.items().next().is_none() {
        return Vec::new();
    }
    let misnamed = check_cluster_name(&object.name).err().map(|error| {
        let message = format!("metadata.name format is not correct: {error}");
        refusal(object, "/metadata/name", &message)
            .help("use a name without dots: it is also the name of the cluster's namespace on the hub")
    });
    let urls = configs.items().filter_map(|config| {
        let url = config.get("url");
        let text = url.str().unwrap_or_default();
        let message = format!("url {text:?} is invalid in client configs");
        (!is_https_url(text)).then(|| {
            refusal(object, &url.pointer(), &message).help("write a URL that begins with `https://`")
        })
    });
    misnamed.into_iter().chain(urls).collect()
}

fn binding(object: &Object) -> Option<Finding> {
    let field = object.root().get("spec").get("clusterSet");
    let set = field.str().unwrap_or_default();
    (object.name != set).then(|| {
        let message = "The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet";
        let write = format!("write `clusterSet: {}`", object.name);
        refusal(object, &field.pointer(), message).help(if set.is_empty() {
            write
        } else {
            format!("name the binding `{set}`, or {write}")
        })
    })
}

fn refusal(object: &Object, pointer: &str, message: &str) -> Finding {
    let subject = format!("{} {}: {message}", object.kind, object.key());
    Finding::new(Code::OBJECT_SCHEMA, object.place(pointer), subject)
}

/// Whether Go's `url.Parse` accepts a text, and its scheme is `https`.
fn is_https_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.scheme() == "https")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_has_every_kind_in_the_one_version_that_is_served() {
        let served = |definition: &Crd| definition.served_versions().count();
        assert_eq!(
            DEFINITIONS.iter().map(served).collect::<Vec<_>>(),
            [1; KINDS.len()]
        );
        let has_schema =
            |definition: &Crd| definition.versions.iter().all(|version| version.schema.is_some());
        assert!(DEFINITIONS.iter().all(has_schema));
    }

    #[test]
    fn urls_are_those_that_go_parses_with_the_scheme_https() {
        for url in [
            "https://a",
            "HTTPS://a.b:6443/c%20d?e=%zz#f",
            "https://u:p@[::1]:6443",
            "https:",
            "https://a:",
            "https:a/b",
        ] {
            assert!(is_https_url(url), "{url}");
        }
        for url in [
            "",
            "a",
            "http://a",
            "//a",
            "https//a",
            " https://a",
            "https://a b",
            "https://a:port",
            "https://[::1",
            "https://a/%zz",
            "https://a\n",
            "ssh://a",
        ] {
            assert!(!is_https_url(url), "{url}");
        }
    }
}
