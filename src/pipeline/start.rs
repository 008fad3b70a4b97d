//! The first files of a directory: a small hub that renders, or an export of a live hub, sorted into files.
//!
//! Tools' files name spokewright's own repository; before it has an address, they say so, and so does `check`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kube_json::Value;

use crate::api::ocm_work::{GROUP as WORK_GROUP, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET};
use crate::hub::{is_list, refers};
use crate::object::Object;
use crate::source::{Files, Sources};

/// A file of a new directory: its path there, and its text.
type File = (&'static str, &'static str);

/// The configuration.
const CONFIG: File = (
    super::CONFIG_NAME,
    include_str!("../../examples/start/spokewright.yaml"),
);

/// Attributes for Git.
pub const GIT_ATTRIBUTES: &str = ".gitattributes";

/// Lets two branches that rendered merge their inventories by line; the next rendering writes it anew.
const ATTRIBUTES: File = (
    GIT_ATTRIBUTES,
    include_str!("../../examples/start/.gitattributes"),
);

/// A file of a directory of `examples`, whose path there is also that in the new directory.
macro_rules! file {
    ($from:literal, $path:literal) => {
        ($path, include_str!(concat!("../../examples/", $from, "/", $path)))
    };
}

/// The files of every hub, and of what lives on its clusters.
const HUB: [File; 6] = [
    file!("start", "hub/clusters.yaml"),
    file!("start", "hub/gateway.yaml"),
    file!("start", "hub/placement.yaml"),
    file!("start", "hub/route.yaml"),
    file!("start", "spokes/eu-1/shop.yaml"),
    file!("start", "spokes/us-1/shop.yaml"),
];

/// The files that depend on the controller of the policies: what ships, policies of the hub, and a policy of a cluster.
macro_rules! files_of {
    ($hub:literal, $spokes:literal) => {
        [
            file!($hub, "hub/class.yaml"),
            file!($hub, "hub/policies.yaml"),
            file!($spokes, "spokes/eu-1/policies.yaml"),
        ]
    };
    ($both:literal) => {
        files_of!($both, $both)
    };
}

/// The controllers whose policies a first hub can have: how each is typed, what it is called, and its files. The first one
/// is the default.
#[rustfmt::skip] // one row a line
pub const CONTROLLERS: [(&str, &str, [File; 3]); 7] = [
    ("kuadrant", "Kuadrant", files_of!("start", "controllers/kuadrant")),
    ("envoy-gateway", "Envoy Gateway", files_of!("controllers/envoy-gateway")),
    ("istio", "Istio", files_of!("controllers/istio")),
    ("nginx", "NGINX Gateway Fabric", files_of!("controllers/nginx")),
    ("kgateway", "kgateway", files_of!("controllers/kgateway")),
    ("gke", "GKE", files_of!("controllers/gke")),
    ("gateway-api", "Gateway API's BackendTLSPolicy alone", files_of!("controllers/gateway-api")),
];

/// The tools that a directory can be made ready for: how each is typed, and its file.
pub const TOOLS: [(&str, File); 5] = [
    (
        "github",
        (
            ".github/workflows/spokewright.yml",
            include_str!("../../examples/github/spokewright.yml"),
        ),
    ),
    ("gitlab", file!("start", ".gitlab-ci.yml")),
    ("pre-commit", file!("pre-commit", ".pre-commit-config.yaml")),
    ("argocd", file!("start", "argocd/application.yaml")),
    ("flux", file!("start", "flux/gateways.yaml")),
];

/// The address of spokewright's repository until `tools/set-repository` puts the real one into the files.
const WITHOUT_OWNER: &str = "OWNER/spokewright";

/// The files of tools. One that names spokewright's repository before it has an address says so in its first line.
pub fn tool_files(tools: &[String]) -> BTreeMap<String, String> {
    let chosen = TOOLS
        .into_iter()
        .filter(|(name, _)| tools.iter().any(|tool| tool == name));
    let mut files = owned(chosen.map(|(_, file)| file));
    for text in files.values_mut().filter(|text| text.contains(WITHOUT_OWNER)) {
        text.insert_str(
            0,
            "# Put the owner of spokewright's repository in place of OWNER.\n",
        );
    }
    files
}

/// The files of tools in a directory that name spokewright's repository without its owner.
pub fn without_owner(directory: &Path) -> Vec<&'static str> {
    let mut paths = TOOLS.map(|(_, (path, _))| path).to_vec();
    paths.retain(|path| {
        let (path, mut sources) = (directory.join(path), Sources::default());
        let mut text = || Files::Disk.read_found_text(&path, &mut sources);
        Files::Disk.has_name(&path) && text().is_ok_and(|(text, _)| text.contains(WITHOUT_OWNER))
    });
    paths
}

/// The files of a hub that renders, with policies of a controller, or of the default one.
pub fn hub_files(controller: Option<&str>) -> BTreeMap<String, String> {
    let mut known = CONTROLLERS.into_iter();
    let chosen = known.find(|(name, ..)| controller.is_none_or(|controller| controller == *name));
    let of_controller = chosen.into_iter().flat_map(|(.., files)| files);
    owned(HUB.into_iter().chain(of_controller).chain([ATTRIBUTES, CONFIG]))
}

fn owned(files: impl Iterator<Item = File>) -> BTreeMap<String, String> {
    files
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .collect()
}

/// An export of a live hub, sorted.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Sorted {
    /// One file for each object, and the configuration.
    pub files: BTreeMap<String, String>,
    /// Objects that do not belong in Git, as `namespace/name`, by kind.
    pub left_out: BTreeMap<String, Vec<String>>,
}

impl Sorted {
    /// Whether any object was sorted.
    pub fn has_objects(&self) -> bool {
        self.files.keys().any(|path| path.starts_with("hub/"))
    }
}

/// Sorts exported objects into files, `hub/NAMESPACE/KIND-NAME.yaml`, without what a server added to their metadata. They
/// are read [without a status](super::Request::without_status).
///
/// Left out are Secrets, whose values do not belong into Git, and ManifestWorks and their sets, which are rendered.
pub fn sorted_files<'o>(objects: impl IntoIterator<Item = &'o Object>) -> Sorted {
    let mut sorted = Sorted::default();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for object in objects {
        let is_rendered =
            object.is(WORK_GROUP, MANIFEST_WORK) || object.is(WORK_GROUP, MANIFEST_WORK_REPLICA_SET);
        if is_rendered || object.is("", "Secret") {
            let names = sorted.left_out.entry(object.kind.to_string()).or_default();
            names.push(object.key());
            continue;
        }
        let path = free_path(object, &mut taken);
        sorted
            .files
            .insert(path, kube_yaml::write_editable(&authored(object)));
    }
    sorted.files.extend(owned([ATTRIBUTES, CONFIG].into_iter()));
    sorted
}

/// A path that no other object has, also where file systems ignore case.
fn free_path(object: &Object, taken: &mut BTreeSet<String>) -> String {
    let is_special = |letter: char| !letter.is_ascii_alphanumeric() && !"-.".contains(letter);
    let plain = |text: &str| text.replace(is_special, "-");
    let directory = object
        .namespace
        .as_deref()
        .map_or_else(|| "cluster-scoped".to_owned(), plain);
    let stem = format!(
        "hub/{directory}/{}-{}",
        plain(&object.kind).to_lowercase(),
        plain(&object.name)
    );
    let mut path = format!("{stem}.yaml");
    let mut next = 2_u32;
    while !taken.insert(path.to_lowercase()) {
        path = format!("{stem}-{next}.yaml");
        next = next.saturating_add(1);
    }
    path
}

/// Removes the status of an object, or of each object of a list, except for the kinds whose status placement uses
/// (docs/systems/ocm-placement.md).
pub(super) fn drop_status(value: &mut Value) {
    const STATUS_IS_INPUT: [&str; 3] = ["AddOnPlacementScore", "ManagedCluster", "PlacementDecision"];
    let is_list = is_list(value);
    let Some(root) = value.as_object_mut() else {
        return;
    };
    if is_list {
        let items = root.get_mut("items").and_then(Value::as_array_mut);
        items.into_iter().flatten().for_each(drop_status);
        return;
    }
    let kind = root.get("kind").and_then(Value::as_str).unwrap_or_default();
    if !STATUS_IS_INPUT.contains(&kind) {
        root.remove("status");
    }
}

/// The object as an author would have written it: without the fields of `metadata` that a server fills in.
fn authored(object: &Object) -> Value {
    const SERVER_FIELDS: [&str; 9] = [
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
    let mut value = object.value.clone();
    let Some(root) = value.as_object_mut() else {
        return value;
    };
    if let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in SERVER_FIELDS {
            metadata.remove(field);
        }
        // Of two policies on one target, two routes for one request or two ListenerSets with one listener the older wins
        // (docs/systems/gep-713.md, docs/systems/gateway-api.md).
        if !refers(&object.value) {
            metadata.remove("creationTimestamp");
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(LAST_APPLIED);
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
    value
}
