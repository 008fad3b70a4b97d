//! What OCM's admission webhooks refuse. Their rules are here as far as a file can break them, in their wording, for
//! objects that their schema accepts.
//!
//! Source: open-cluster-management-io/ocm pkg/registration/webhook/v1/managedcluster_validating.go@v1.3.1,
//! pkg/registration/webhook/v1beta2/managedclustersetbinding_validating.go@v1.3.1 and
//! pkg/registration/helpers/helpers.go@v1.3.1.

use apimachinery::Url;
use apimachinery::names::check_cluster_name;

use super::GROUP;
use crate::diagnostic::{Code, Finding};
use crate::object::Object;

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
        let finding = refusal(object, &field.pointer(), message);
        if set.is_empty() {
            finding.help(format!("write `clusterSet: {}`", object.name))
        } else {
            finding.help(format!(
                "name the binding `{set}`, or write `clusterSet: {}`",
                object.name
            ))
        }
    })
}

fn refusal(object: &Object, pointer: &str, message: &str) -> Finding {
    let subject = format!("{} {}: {message}", object.kind, object.key());
    Finding::new(Code::OBJECT_SCHEMA, object.place(pointer), subject)
}

/// What Go's `url.Parse` takes and has the scheme `https`.
fn is_https_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.scheme() == "https")
}

#[cfg(test)]
mod tests {
    use super::is_https_url;

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
