//! The text of a `kustomization.yaml`.

use kube_yaml::scalar;

/// A kustomization that includes `resources` (files and directories beside it), each once, in byte order.
///
/// Canonical YAML (design section 9): lists are not indented below their key, and whatever a YAML 1.1 or 1.2
/// reader could take for something other than a string, such as a cluster named `on` or `1e3`, is quoted.
#[must_use]
pub fn kustomization<S: AsRef<str>>(resources: &[S]) -> String {
    let mut names = resources.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    names.sort_unstable();
    names.dedup();
    let mut text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n".to_owned();
    if names.is_empty() {
        text.push_str("resources: []\n");
        return text;
    }
    text.push_str("resources:\n");
    for name in names {
        text.push_str("- ");
        text.push_str(&scalar(name));
        text.push('\n');
    }
    text
}
