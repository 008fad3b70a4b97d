//! What a run needs that the repository does not have.
//!
//! Owns: the list of programs and of CRDs. Flows in: a PATH and a directory of CRDs. Flows out: where each is, or one
//! sentence with all that is missing. Must not know: what is done with them.

use std::env::split_paths;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The folders of `SPOKEWRIGHT_CRDS` that are looked through: both channels of Gateway API have the same names.
const FOLDERS: [&str; 3] = ["gateway-api/standard", "kuadrant", "ocm"];

/// What the spokes and the hub serve: what is shipped.
const SHIPPED: [&str; 8] = [
    "gateways.gateway.networking.k8s.io",
    "httproutes.gateway.networking.k8s.io",
    "referencegrants.gateway.networking.k8s.io",
    "backendtlspolicies.gateway.networking.k8s.io",
    "authpolicies.kuadrant.io",
    "dnspolicies.kuadrant.io",
    "ratelimitpolicies.kuadrant.io",
    "tlspolicies.kuadrant.io",
];
const OF_SPOKES: [&str; 1] = ["appliedmanifestworks.work.open-cluster-management.io"];
const OF_HUB: [&str; 9] = [
    "gatewayclasses.gateway.networking.k8s.io",
    "addonplacementscores.cluster.open-cluster-management.io",
    "managedclusters.cluster.open-cluster-management.io",
    "managedclustersets.cluster.open-cluster-management.io",
    "managedclustersetbindings.cluster.open-cluster-management.io",
    "placements.cluster.open-cluster-management.io",
    "placementdecisions.cluster.open-cluster-management.io",
    "manifestworks.work.open-cluster-management.io",
    "manifestworkreplicasets.work.open-cluster-management.io",
];

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Needs {
    pub(crate) kube_apiserver: PathBuf,
    pub(crate) etcd: PathBuf,
    pub(crate) kubectl: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) placement: PathBuf,
    pub(crate) hub_crds: Vec<PathBuf>,
    pub(crate) spoke_crds: Vec<PathBuf>,
}

impl Needs {
    /// Finds all of it, or says what is not there.
    pub(crate) fn find(path: &OsStr, crds: Option<&OsStr>) -> Result<Self, String> {
        let mut absent = Vec::new();
        let mut program = |name: &str| {
            let found = split_paths(path)
                .map(|folder| folder.join(name))
                .find(|file| runs(file));
            found.unwrap_or_else(|| {
                absent.push(name.to_owned());
                PathBuf::new()
            })
        };
        let mut needs = Self {
            kube_apiserver: program("kube-apiserver"),
            etcd: program("etcd"),
            kubectl: program("kubectl"),
            work: program("work"),
            placement: program("placement"),
            hub_crds: Vec::new(),
            spoke_crds: Vec::new(),
        };
        let mut reasons = Vec::new();
        if !absent.is_empty() {
            reasons.push(format!("not on the PATH: {}", absent.join(", ")));
        }
        match crds {
            None => reasons.push("SPOKEWRIGHT_CRDS names no directory of CRDs".to_owned()),
            Some(directory) => {
                let known = definitions(Path::new(directory));
                let mut absent = Vec::new();
                for name in SHIPPED.iter().chain(&OF_SPOKES).chain(&OF_HUB) {
                    let Some((file, _)) = known.iter().find(|(_, text)| defines(text, name)) else {
                        absent.push(*name);
                        continue;
                    };
                    if !OF_HUB.contains(name) {
                        needs.spoke_crds.push(file.clone());
                    }
                    if !OF_SPOKES.contains(name) {
                        needs.hub_crds.push(file.clone());
                    }
                }
                if !absent.is_empty() {
                    reasons.push(format!("not in SPOKEWRIGHT_CRDS: {}", absent.join(", ")));
                }
            }
        }
        if reasons.is_empty() {
            Ok(needs)
        } else {
            Err(reasons.join("; "))
        }
    }
}

fn runs(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn definitions(directory: &Path) -> Vec<(PathBuf, String)> {
    let entries = FOLDERS
        .iter()
        .filter_map(|folder| fs::read_dir(directory.join(folder)).ok());
    let files = entries.flatten().flatten().map(|entry| entry.path());
    files
        .filter_map(|file| fs::read_to_string(&file).ok().map(|text| (file, text)))
        .collect()
}

/// By the object's name, as files are called differently in each project.
fn defines(text: &str, name: &str) -> bool {
    text.lines()
        .any(|line| line.strip_prefix("  name: ") == Some(name))
}
