//! Kustomizations in the input: the objects that they change are read without the changes.
//!
//! Owns: which files are patches and not objects, and the finding about kustomizations that change objects that
//! rendering uses.
//! Flows in: documents and the paths of their files, objects. Flows out: files, one finding. Must not know: how kustomize
//! builds (docs/systems/gitops.md#kustomize).

use std::collections::{BTreeMap, BTreeSet};

use kube_json::Value;

use crate::api::crd;
use crate::diagnostic::{Code, DocumentId, Finding, Place, SourceId, shell_path};
use crate::source::{Document, Room, Sources};
use apimachinery::ApiVersion;

/// Fields that change objects, or add what is in no file. Images, replicas and generated ConfigMaps are for workloads.
const CHANGES: [&str; 14] = [
    "commonAnnotations",
    "commonLabels",
    "components",
    "generators",
    "helmCharts",
    "labels",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "transformers",
];

/// Where what is fetched stands.
const REMOTE: &str = "resources";

/// A kustomization of the input.
#[derive(Debug, Clone)]
pub(crate) struct Kustomization {
    document: DocumentId,
    /// Of its file; `""` is the root.
    directory: String,
    /// The fields that change objects.
    changes: Vec<&'static str>,
    /// The resources that it lists, as paths from the root.
    resources: Vec<String>,
    /// Files of patches and the like, as paths from the root.
    patches: Vec<String>,
    /// The first resource that is not a file here.
    remote: Option<String>,
}

/// The kustomizations among the documents.
pub(super) fn kustomizations(documents: &[Document], sources: &Sources) -> Vec<Kustomization> {
    let of_hub = documents.iter().filter(|document| document.room == Room::Hub);
    of_hub
        .filter_map(|document| {
            let path = &sources.file(document.id.source)?.relative;
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            let api_version = document.value.get("apiVersion").and_then(Value::as_str);
            let is_named = matches!(name, "kustomization.yaml" | "kustomization.yml");
            let is_one = api_version.is_some_and(|version| version.starts_with("kustomize.config.k8s.io/"))
                || (is_named && api_version.is_none_or(str::is_empty));
            is_one.then(|| read(document, directory))
        })
        .collect()
}

fn read(document: &Document, directory: &str) -> Kustomization {
    let field = |name: &str| document.value.get(name).filter(|value| !is_empty(value));
    let items = |name: &str| match field(name) {
        Some(Value::Array(items)) => items.as_slice(),
        _ => &[],
    };
    let paths = |name: &&str| items(name).iter().filter_map(Value::as_str);
    let paths_in = |name: &&str| items(name).iter().filter_map(|item| item.get("path")?.as_str());
    let remote = ["resources", "bases"]
        .iter()
        .flat_map(paths)
        .find(|path| is_remote(path));
    let resources = ["resources", "bases", "components"].iter().flat_map(paths);
    let resources = resources.filter(|path| !is_remote(path));
    let files = [
        "patchesStrategicMerge",
        "transformers",
        "generators",
        "configurations",
    ];
    let entries = ["patches", "patchesJson6902", "replacements"];
    let patches = files
        .iter()
        .flat_map(paths)
        .chain(entries.iter().flat_map(paths_in));
    Kustomization {
        document: document.id,
        directory: directory.to_owned(),
        changes: CHANGES
            .into_iter()
            .filter(|name| field(name).is_some())
            .chain(remote.map(|_| REMOTE))
            .collect(),
        remote: remote.map(str::to_owned),
        resources: resources.map(|path| joined(directory, path)).collect(),
        patches: patches.map(|path| joined(directory, path)).collect(),
    }
}

/// Whether kustomize fetches it: an address, or what Git can clone.
fn is_remote(path: &str) -> bool {
    path.contains("://")
        || path.contains("?ref=")
        || ["git@", "github.com/", "git::"]
            .iter()
            .any(|start| path.starts_with(start))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// A path from the root.
fn joined(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Files that are patches and the like: no objects by themselves, unless a kustomization lists them as such.
pub(super) fn patches(kustomizations: &[Kustomization], sources: &Sources) -> BTreeSet<SourceId> {
    let listed: BTreeSet<&str> = all(kustomizations, |one| &one.resources);
    let patches: BTreeSet<&str> = all(kustomizations, |one| &one.patches);
    files(sources)
        .filter(|(_, path)| patches.contains(path) && !listed.contains(path))
        .map(|(source, _)| source)
        .collect()
}

/// Whether it is a part of a definition in a directory of patches, which kubebuilder writes for each kind, and which a
/// kustomization names only when it is needed.
pub(super) fn is_patch_of_definition(value: &Value, path: &str, kustomizations: &[Kustomization]) -> bool {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let has = |field: &str| value.get("spec").is_some_and(|spec| spec.get(field).is_some());
    let above = directory(path).strip_suffix("patches");
    let above = above.map(|above| above.trim_end_matches('/'));
    ApiVersion::parse(text("apiVersion")).group == crd::GROUP
        && text("kind") == crd::KIND
        && !["group", "names", "versions"].into_iter().any(has)
        && kustomizations
            .iter()
            .any(|one| above == Some(one.directory.as_str()))
}

/// The directories of kustomizations.
pub(super) fn directories(kustomizations: &[Kustomization]) -> BTreeSet<&str> {
    kustomizations.iter().map(|one| one.directory.as_str()).collect()
}

/// The nearest directory of a kustomization that a file may be part of, or else its own.
pub(super) fn directory_of<'s>(
    file: SourceId,
    directories: &BTreeSet<&str>,
    sources: &'s Sources,
) -> &'s str {
    let own = sources.file(file).map_or("", |file| directory(&file.relative));
    let mut all = std::iter::successors(Some(own), |path| (!path.is_empty()).then(|| directory(path)));
    all.find(|path| directories.contains(path)).unwrap_or(own)
}

/// The directory that a path is in; `""` is the root.
pub(super) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// A directory as it is shown.
pub(super) fn shown(directory: &str) -> &str {
    if directory.is_empty() { "." } else { directory }
}

fn all<'k>(
    kustomizations: &'k [Kustomization],
    of: impl Fn(&'k Kustomization) -> &'k Vec<String>,
) -> BTreeSet<&'k str> {
    kustomizations.iter().flat_map(of).map(String::as_str).collect()
}

fn files(sources: &Sources) -> impl Iterator<Item = (SourceId, &str)> {
    let numbers = 0_u32..;
    numbers
        .zip(sources.files())
        .map(|(number, file)| (SourceId(number), file.relative.as_str()))
}

/// Whether any of them changes objects.
pub(super) fn any_changes(kustomizations: &[Kustomization]) -> bool {
    kustomizations.iter().any(|one| !one.changes.is_empty())
}

/// One finding for all kustomizations that change objects in `used` files.
pub(super) fn changed(
    kustomizations: &[Kustomization],
    sources: &Sources,
    used: &BTreeSet<SourceId>,
) -> Option<Finding> {
    let by_path: BTreeMap<&str, SourceId> = files(sources).map(|(source, path)| (path, source)).collect();
    let by_directory: BTreeMap<&str, &Kustomization> = kustomizations
        .iter()
        .map(|one| (one.directory.as_str(), one))
        .collect();
    let is_used = |path: &str| by_path.get(path).is_some_and(|source| used.contains(source));
    let reaches = |from: &Kustomization| {
        // The object that a patch changes may be elsewhere.
        if from.patches.iter().any(|path| is_used(path)) {
            return true;
        }
        let mut seen = BTreeSet::new();
        let mut pending: Vec<&str> = from.resources.iter().map(String::as_str).collect();
        while let Some(path) = pending.pop() {
            if !seen.insert(path) {
                continue;
            }
            if is_used(path) {
                return true;
            }
            if let Some(next) = by_directory.get(path) {
                pending.extend(next.resources.iter().map(String::as_str));
            }
        }
        false
    };
    let place = |one: &Kustomization| {
        let field = one.changes.first().copied().unwrap_or_default();
        Place::key(one.document, format!("/{field}"))
    };
    let mut changing = kustomizations
        .iter()
        .filter(|one| !one.changes.is_empty() && reaches(one));
    let first = changing.next()?;
    let fields: Vec<String> = first.changes.iter().map(|field| format!("`{field}`")).collect();
    let finding = Finding::new(
        Code::OBJECT_KUSTOMIZED,
        place(first),
        format!(
            "a kustomization changes objects that are rendered ({}), but spokewright reads them without its changes",
            fields.join(", ")
        ),
    )
    .label("changes what it lists")
    .help(format!(
        "render what it builds: `kustomize build {} | spokewright render -`",
        shell_path(shown(&first.directory))
    ));
    let finding = match &first.remote {
        Some(remote) => finding.note(format!(
            "`{remote}` is fetched by kustomize, and is not read here"
        )),
        None => finding,
    };
    Some(changing.take(3).fold(finding, |finding, other| {
        finding.related(place(other), "this one also changes them")
    }))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn paths_of_a_kustomization_lead_from_its_directory() {
        assert_eq!(joined("overlays/prod", "../../base"), "base");
        assert_eq!(joined("", "./hub/gateway.yaml"), "hub/gateway.yaml");
        assert_eq!(joined("hub", "../../elsewhere"), "../elsewhere");
    }
}
