//! The orphaning rule: which objects stay on a spoke when its work is deleted.
//!
//! Owns: `spec.deleteOption`. Flows in: the manifests of a work. Flows out: the text of the option.
//! Must not know: whose work it is.

use std::sync::Arc;

use kube_yaml::{append_deeper, append_text};

use super::manifest::Manifest;

/// Appends the option behind `indent` spaces, if a Namespace is among the manifests.
///
/// Namespaces are orphaned, so that removing a Gateway never deletes what else lives there: Secrets that were created on
/// the spoke, local policies, whatever other works put there. Only a rule keeps the agent from deleting what leaves a work,
/// also while the work lives on (docs/systems/ocm-work.md#appliedmanifestwork).
pub(super) fn append_delete_option(out: &mut String, manifests: &[Arc<Manifest>], indent: usize) {
    let resources = manifests.iter().map(|manifest| &manifest.resource);
    let is_namespace = |(group, resource): (&str, &str)| (group, resource) == ("", "namespaces");
    let namespaces = resources.filter(|resource| is_namespace((&resource.group, &resource.resource)));
    let mut namespaces = namespaces.peekable();
    if namespaces.peek().is_none() {
        return;
    }
    append_deeper(out, OPTION, indent);
    for namespace in namespaces {
        append_deeper(out, "    - group: \"\"\n", indent);
        append_text(out, "name", &namespace.name, indent.saturating_add(6));
        append_deeper(out, RULE_END, indent);
    }
}

/// The option up to its rules.
const OPTION: &str = "deleteOption:
  propagationPolicy: SelectivelyOrphan
  selectivelyOrphans:
    orphaningRules:
";

/// The agent empties the namespace of a cluster-scoped kind before it compares, exactly, with this one
/// (docs/systems/ocm-work.md#orphaning-rules).
const RULE_END: &str = "      namespace: \"\"
      resource: namespaces
";
