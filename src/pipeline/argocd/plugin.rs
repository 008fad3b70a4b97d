//! The text of `plugin.yaml`, which the sidecar reads at `/home/argocd/cmp-server/config/plugin.yaml`.
//!
//! Owns: that text. Flows in: which Applications get the plugin. Flows out: YAML. Must not know: parameters.

/// Everything but discovery.
const PLUGIN: &str = "\
# Argo CD's sidecar reads this file; it is not an object of the cluster, so never apply it with kubectl.
apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  # What an Application names in spec.source.plugin.name. No spec.version: it would become part of that name.
  name: spokewright
spec:
  generate:
    command: [spokewright, argocd, generate]
  parameters:
    dynamic:
      command: [spokewright, argocd, parameters]
  # Nothing in the repository is executed, and nothing is fetched: neither modes nor credentials are needed.
  preserveFileMode: false
  provideGitCreds: false
";

/// Why there is no discovery.
const WITHOUT: &str = "\
  # No discovery: Applications name the plugin, which saves Argo CD from streaming the repository a second time.
";

/// Discovery by the configuration file.
const WITH: &str = "\
  # Applications that name no plugin get this one if a spokewright.yaml is in their directory. For each of them
  # Argo CD streams the repository twice.
  discover:
    fileName: spokewright.yaml
";

/// Which Applications get the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discovery {
    /// Those that name it.
    Off,
    /// Also those that name no plugin, where a configuration is in their directory.
    ByConfiguration,
}

/// The plugin's declaration.
pub fn plugin_yaml(discovery: Discovery) -> String {
    let discovery = match discovery {
        Discovery::Off => WITHOUT,
        Discovery::ByConfiguration => WITH,
    };
    format!("{PLUGIN}{discovery}")
}
