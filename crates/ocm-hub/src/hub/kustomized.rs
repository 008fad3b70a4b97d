//! Kustomizations in the input: the objects that they change are read without the changes
//! (docs/systems/gitops.md#kustomize). Decides which files are patches and not objects, and reports kustomizations that
//! change objects that rendering uses.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::Value;

use crate::api::crd;
use crate::diagnostic::{Code, DocumentId, Finding, Place, SourceId, shell_path};
use crate::source::{Document, Room, Sources};
use apimachinery::{ApiVersion, Field};

/// Fields that change objects, or add what is in no file. Images, replicas and generated ConfigMaps are for workloads.
#[rustfmt::skip] // as many in a row as fit
const CHANGES: [&str; 14] = [
    "commonAnnotations", "commonLabels", "components", "generators", "helmCharts", "labels", "namePrefix", "nameSuffix",
    "namespace", "patches", "patchesJson6902", "patchesStrategicMerge", "replacements", "transformers",
];

/// The field of resources that kustomize fetches.
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
            let api_version = Field::new(&document.value).text("apiVersion").unwrap_or_default();
            let is_named = matches!(name, "kustomization.yaml" | "kustomization.yml");
            let is_one =
                api_version.starts_with("kustomize.config.k8s.io/") || (is_named && api_version.is_empty());
            is_one.then(|| read(document, directory))
        })
        .collect()
}

fn read(document: &Document, directory: &str) -> Kustomization {
    let field = |name: &str| document.value.get(name).filter(|value| !value.is_empty());
    let items = |name: &str| match field(name) {
        Some(Value::Array(items)) => items.as_slice(),
        _ => &[],
    };
    let paths = |name: &&str| items(name).iter().filter_map(Value::as_str);
    let paths_in = |name: &&str| items(name).iter().filter_map(|item| item.get("path")?.as_str());
    let mut bases = ["resources", "bases"].iter().flat_map(paths);
    let remote = bases.find(|path| is_remote(path));
    let resources = ["resources", "bases", "components"].iter().flat_map(paths);
    let resources = resources.filter(|path| !is_remote(path));
    let files = [
        "patchesStrategicMerge",
        "transformers",
        "generators",
        "configurations",
    ]
    .iter();
    let entries = ["patches", "patchesJson6902", "replacements"].iter();
    let patches = files.flat_map(paths).chain(entries.flat_map(paths_in));
    let changes = CHANGES.into_iter().filter(|name| field(name).is_some());
    Kustomization {
        document: document.id,
        directory: directory.to_owned(),
        changes: changes.chain(remote.map(|_| REMOTE)).collect(),
        remote: remote.map(str::to_owned),
        resources: resources.map(|path| joined(directory, path)).collect(),
        patches: patches.map(|path| joined(directory, path)).collect(),
    }
}

/// Whether kustomize fetches it: an address, or what Git can clone.
fn is_remote(path: &str) -> bool {
    let mut starts = ["git@", "github.com/", "git::"].iter();
    path.contains("://") || path.contains("?ref=") || starts.any(|start| path.starts_with(start))
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
    let listed: BTreeSet<&String> = kustomizations.iter().flat_map(|one| &one.resources).collect();
    let patches: BTreeSet<&String> = kustomizations.iter().flat_map(|one| &one.patches).collect();
    let files = files(sources).filter(|(_, path)| patches.contains(path) && !listed.contains(path));
    files.map(|(source, _)| source).collect()
}

/// Whether it is a part of a definition in a directory of patches, which kubebuilder writes for each kind, and which a
/// kustomization names only when it is needed.
pub(super) fn is_patch_of_definition(value: &Value, path: &str, kustomizations: &[Kustomization]) -> bool {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let has = |field: &str| value.get("spec").is_some_and(|spec| spec.get(field).is_some());
    let above = directory(path).strip_suffix("patches");
    let above = above.map(|above| above.trim_end_matches('/'));
    let mut directories = kustomizations.iter().map(|one| one.directory.as_str());
    ApiVersion::parse(text("apiVersion")).group == crd::GROUP
        && text("kind") == crd::KIND
        && !["group", "names", "versions"].into_iter().any(has)
        && directories.any(|directory| above == Some(directory))
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

fn files(sources: &Sources) -> impl Iterator<Item = (SourceId, &String)> {
    let files = (0_u32..).zip(sources.files());
    files.map(|(number, file)| (SourceId(number), &file.relative))
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
    let by_path: BTreeMap<&String, SourceId> = files(sources).map(|(source, path)| (path, source)).collect();
    let by_directory: BTreeMap<&String, &Kustomization> =
        kustomizations.iter().map(|one| (&one.directory, one)).collect();
    let is_used = |path: &String| by_path.get(path).is_some_and(|source| used.contains(source));
    let reaches = |from: &Kustomization| {
        let mut seen = BTreeSet::new();
        let mut pending: Vec<&String> = from.resources.iter().collect();
        while let Some(path) = pending.pop() {
            if !seen.insert(path) {
                continue;
            }
            if is_used(path) {
                return true;
            }
            if let Some(next) = by_directory.get(path) {
                pending.extend(&next.resources);
            }
        }
        // The object that a patch changes may be elsewhere.
        from.patches.iter().any(is_used)
    };
    let place = |one: &Kustomization| {
        let field = one.changes.first().copied().unwrap_or_default();
        Place::key(one.document, format!("/{field}"))
    };
    let changes_used = |one: &&Kustomization| !one.changes.is_empty() && reaches(one);
    let mut changing = kustomizations.iter().filter(changes_used);
    let first = changing.next()?;
    let fields: Vec<String> = first.changes.iter().map(|field| format!("`{field}`")).collect();
    let fields = fields.join(", ");
    let message = format!(
        "a kustomization changes objects that are rendered ({fields}), but spokewright reads them without its changes"
    );
    let directory = shell_path(shown(&first.directory));
    let help = format!("render what it builds: `kustomize build {directory} | spokewright render -`");
    let finding = Finding::new(Code::OBJECT_KUSTOMIZED, place(first), message);
    let mut finding = finding.label("changes what it lists").help(help);
    if let Some(remote) = &first.remote {
        finding = finding.note(format!(
            "`{remote}` is fetched by kustomize, and is not read here"
        ));
    }
    for other in changing.take(3) {
        finding = finding.related(place(other), "this one also changes them");
    }
    Some(finding)
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
