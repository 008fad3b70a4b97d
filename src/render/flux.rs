//! Flux Kustomizations, one for each directory of the tree: each applies the works of a cluster, and waits until they
//! are healthy.
//!
//! Owns: their text, and what Flux considers healthy. Flows in: a [`Layout`], where the tree is in its repository.
//! Flows out: a [`Tree`]. Must not know: what is on disk.
//!
//! The expressions match `health.lua` of examples/argocd; a test compares the two on the same works.

use std::borrow::Cow;

use kube_yaml::scalar;

use super::kustomization::{LIST_BEGIN, kustomization};
use super::layout::{KUSTOMIZATION, Layout};
use crate::output::{FileKind, Tree};

/// What Flux takes for the health of a work (docs/guides/flux.md#health). It asks in this order, and waits where none
/// holds or one fails: `has(status)` is no valid CEL, so a work that no agent has seen fails, and is waited for.
const HEALTH: &str = r"  wait: true
  healthCheckExprs:
  - apiVersion: work.open-cluster-management.io/v1
    kind: ManifestWork
    inProgress: >-
      has(status.conditions) &&
      status.conditions.exists(e, e.type in ['Applied', 'Available'] &&
        has(e.observedGeneration) && e.observedGeneration < metadata.generation)
    failed: >-
      has(status.conditions) &&
      (status.conditions.exists(e, (e.type == 'Applied' && e.status == 'False') ||
        (e.type == 'Degraded' && e.status == 'True' &&
        !(has(e.observedGeneration) && e.observedGeneration < metadata.generation))) ||
      (status.conditions.exists(e, e.type == 'Applied') &&
      has(status.resourceStatus) && has(status.resourceStatus.manifests) &&
      status.resourceStatus.manifests.exists(m, has(m.statusFeedback) && has(m.statusFeedback.values) &&
        m.statusFeedback.values.exists(v, v.name in ['accepted', 'attached', 'programmed', 'enforced'] &&
        v.fieldValue.string == 'False' &&
        !(v.name == 'programmed' && m.resourceMeta.resource == 'gateways') &&
        !m.statusFeedback.values.exists(r, r.name == v.name + 'Reason' &&
        r.fieldValue.string in ['Overridden', 'Pending', 'Unknown', 'Waiting'])))))
    current: >-
      has(status.conditions) &&
      status.conditions.exists(e, e.type == 'Applied' && e.status == 'True') &&
      status.conditions.exists(e, e.type == 'Available' && e.status == 'True') &&
      !status.conditions.exists(e, e.type == 'Progressing' && e.status == 'True' &&
        !(has(e.observedGeneration) && e.observedGeneration < metadata.generation)) &&
      (!has(spec.manifestConfigs) || spec.manifestConfigs.all(c, !has(c.feedbackRules) ||
        c.feedbackRules.all(f, !has(f.jsonPaths) || f.jsonPaths.all(p,
        !(p.name in ['accepted', 'attached', 'programmed', 'enforced']) ||
        (has(status.resourceStatus) && has(status.resourceStatus.manifests) &&
        status.resourceStatus.manifests.exists(m,
        m.resourceMeta.resource == c.resourceIdentifier.resource &&
        m.resourceMeta.group == c.resourceIdentifier.group &&
        m.resourceMeta.namespace == c.resourceIdentifier.namespace &&
        m.resourceMeta.name == c.resourceIdentifier.name &&
        has(m.statusFeedback) && has(m.statusFeedback.values) &&
        (m.statusFeedback.values.exists(v, v.name == p.name && v.fieldValue.string == 'True') ||
        m.statusFeedback.values.exists(v, v.name == p.name + 'Reason' && v.fieldValue.string == 'Overridden') ||
        (p.name == 'programmed' && m.resourceMeta.resource != 'gateways' &&
        !m.statusFeedback.values.exists(v, v.name == 'programmed') &&
        m.statusFeedback.values.exists(v, v.name == 'accepted' && v.fieldValue.string == 'True')))))))))
";

/// A Kustomization for each directory of a tree, and a `kustomization.yaml` that lists them.
///
/// They carry what a bootstrapped Flux has: the namespace and the GitRepository `flux-system`. A kustomization that
/// includes the directory changes what is otherwise elsewhere, and puts clusters into an order (examples/flux).
#[derive(Debug)]
pub struct FluxKustomizations {
    /// The directory of the tree, from the root of its repository.
    tree: String,
    /// The directories below it, by the name of their file.
    directories: Vec<(String, String)>,
}

impl FluxKustomizations {
    /// For every directory that the root of `layout` lists. `tree` is the path of the tree from the root of its
    /// repository, with `/` between components.
    pub fn new(layout: &Layout<'_>, tree: &str) -> Self {
        let directories = layout.root_resources();
        let mut directories: Vec<(String, String)> = directories
            .into_iter()
            // A cluster may be called `kustomization`.
            .map(|directory| (format!("works-{directory}.yaml"), directory.to_owned()))
            .collect();
        directories.sort_unstable();
        Self {
            tree: tree.to_owned(),
            directories,
        }
    }
}

impl Tree for FluxKustomizations {
    fn len(&self) -> usize {
        self.directories.len().saturating_add(1)
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        // `kustomization.yaml` comes before `works-`.
        let at = index.checked_sub(1).and_then(|index| self.directories.get(index));
        Cow::Borrowed(at.map_or(KUSTOMIZATION, |(file, _)| file))
    }

    fn kind(&self, index: usize) -> FileKind {
        if index == 0 {
            FileKind::Kustomization
        } else {
            FileKind::Object
        }
    }

    fn has_shape(&self, path: &str, start: &[u8]) -> bool {
        let begins: &str = if path == KUSTOMIZATION { LIST_BEGIN } else { BEGIN };
        !path.contains('/') && path.strip_suffix(".yaml").is_some() && start.starts_with(begins.as_bytes())
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        let Some(index) = index.checked_sub(1) else {
            let files: Vec<&str> = self.directories.iter().map(|(file, _)| file.as_str()).collect();
            buffer.extend(kustomization(&files).bytes());
            return;
        };
        if let Some((_, directory)) = self.directories.get(index) {
            buffer.extend(text(&self.tree, directory).bytes());
        }
    }
}

/// How each begins.
const BEGIN: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n";

/// One Kustomization. Its name is that of the cluster: Flux puts it into a label of every object, which has room for 63
/// characters. A directory of no cluster gets a name that no cluster can have.
fn text(tree: &str, directory: &str) -> String {
    let name = directory
        .strip_prefix('_')
        .map_or_else(|| directory.to_owned(), |rest| format!("rendered.{rest}"));
    let path = format!("./{tree}/{directory}").replace("//", "/");
    format!(
        "{BEGIN}metadata:
  name: {name}
  namespace: flux-system
spec:
  interval: 10m
  retryInterval: 1m
  timeout: 5m
  path: {path}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
{HEALTH}",
        name = scalar(&name),
        path = scalar(&path),
    )
}
