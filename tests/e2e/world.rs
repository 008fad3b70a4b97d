//! The clusters of a run, and the copy of the example that its steps change.
//!
//! `World` is what each step gets: it renders, applies, exports, prunes, and waits.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use kube_json::{Value, json};
use kube_yaml::{Limits, read_all};

use crate::clusters::Cluster;
use crate::needs::Needs;
use crate::programs::Programs;

/// How long a controller may take for what it does at once.
const SOON: Duration = Duration::from_secs(60);
/// The shipped kinds whose statuses the works report, as kubectl names them.
pub(crate) const SHIPPED: &str = "gateways.gateway.networking.k8s.io,httproutes.gateway.networking.k8s.io,\
                       backendtlspolicies.gateway.networking.k8s.io,authpolicies.kuadrant.io,\
                       ratelimitpolicies.kuadrant.io,tlspolicies.kuadrant.io,dnspolicies.kuadrant.io,\
                       accesslogpolicies.edge.acme.example";
pub(crate) const CLUSTERS: [&str; 3] = ["eu-1", "eu-2", "us-1"];

/// Everything that a run has. Programs go before the directory that they write to.
pub(crate) struct World {
    pub(crate) programs: Programs,
    pub(crate) hub: Option<Cluster>,
    pub(crate) spokes: Vec<Cluster>,
    pub(crate) needs: Needs,
    pub(crate) directory: Directory,
}

impl World {
    /// A directory with a copy of the example and the objects that the test adds to it; or what is missing.
    pub(crate) fn new(path: &OsStr, crds: Option<&OsStr>, keep: bool) -> Result<Self, String> {
        let needs = Needs::find(path, crds)?;
        let directory = Directory::new(keep)?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy(&root.join("examples/fleet"), &directory.path.join("fleet"))?;
        copy(
            &root.join("tests/e2e/hub"),
            &directory.path.join("fleet/hub/internal"),
        )?;
        Ok(Self {
            programs: Programs::new(&directory.path),
            hub: None,
            spokes: Vec::new(),
            needs,
            directory,
        })
    }

    pub(crate) fn hub(&self) -> Result<&Cluster, String> {
        self.hub.as_ref().ok_or_else(|| "there is no hub".to_owned())
    }

    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.directory.path.join(relative)
    }

    /// The command, beside the copy of the example: its exit status and what it printed.
    pub(crate) fn spokewright(&self, arguments: &[&str]) -> Result<(Option<i32>, String, String), String> {
        let output = Command::new(env!("CARGO_BIN_EXE_spokewright"))
            .args(arguments)
            .current_dir(&self.directory.path)
            .output()
            .map_err(|error| format!("spokewright: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((output.status.code(), text(&output.stdout), text(&output.stderr)))
    }

    /// Renders, applies in one pass, and says what every cluster should have now.
    pub(crate) fn render_and_apply(&self, more: &[&str]) -> Result<(), String> {
        let (status, _, said) = self.spokewright(&[&["render", "fleet", "-q"], more].concat())?;
        if status != Some(0) {
            return Err(format!("spokewright render ended with {status:?}:\n{said}"));
        }
        let tree = self.file("fleet/rendered").display().to_string();
        self.hub()?.kubectl(&["apply", "-k", &tree]).map(drop)
    }

    /// Exports the works of the hub to where `status` and `prune-list` read them.
    pub(crate) fn export(&self) -> Result<(), String> {
        let kinds = "manifestworks,manifestworkreplicasets";
        let works = self.hub()?.kubectl(&["get", kinds, "-A", "-o", "yaml"])?;
        fs::write(self.file("works.yaml"), works).map_err(|error| error.to_string())
    }

    /// Waits until `status --works` lets a pipeline pass; returns what it says.
    pub(crate) fn applied(&mut self, more: &[&str]) -> Result<String, String> {
        let gate = [
            &["status", "fleet", "-q", "--works", "works.yaml", "--exit-code"],
            more,
        ]
        .concat();
        let what = format!("spokewright {}", gate.join(" "));
        self.until(&what, |world| {
            world.export()?;
            match world.spokewright(&gate)? {
                (Some(0), out, _) => Ok(out),
                (_, out, complaint) => Err(format!("{out}{complaint}")),
            }
        })
    }

    /// Waits until every object of the works is on its cluster.
    pub(crate) fn arrived(&mut self) -> Result<(), String> {
        for cluster in CLUSTERS {
            let manifests = self.manifests(cluster)?;
            let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests}).to_string();
            self.until(&format!("everything is on {cluster}"), |world| {
                let spoke = world.spoke(cluster)?;
                spoke.kubectl_reads(&["get", "-o", "name", "-f", "-"], &list)
            })?;
        }
        Ok(())
    }

    /// Deletes from the hub what `prune-list` names, as docs/guides/what-left-the-tree.md says, until it is all gone.
    pub(crate) fn prune(
        &mut self,
        more: &[&str],
        gone: impl Fn(&World) -> Result<(), String>,
    ) -> Result<(), String> {
        let list = [&["prune-list", "fleet", "--works", "works.yaml"], more].concat();
        self.until(&format!("spokewright {}", list.join(" ")), |world| {
            world.export()?;
            let (status, stale, said) = world.spokewright(&list)?;
            if status != Some(0) {
                return Err(format!("it ended with {status:?}:\n{said}"));
            }
            if stale.contains("kind:") {
                // Not waited for here: a work goes when its agent has deleted what it holds.
                let delete = ["delete", "--wait=false", "--ignore-not-found", "-f", "-"];
                world.hub()?.kubectl_reads(&delete, &stale)?;
            }
            gone(world).map_err(|there| format!("{there}\nprune-list printed:\n{stale}{said}"))
        })
    }

    /// Says on every cluster what the controllers there would: Gateways are programmed, policies are accepted.
    pub(crate) fn report(&self) -> Result<(), String> {
        for (number, spoke) in self.spokes.iter().enumerate() {
            let mut list = spoke.get(&["-A", SHIPPED])?;
            for object in list["items"].as_array_mut().into_iter().flatten() {
                object["status"] = status_of(object, &address(number));
            }
            spoke.kubectl_reads(&["replace", "--subresource=status", "-f", "-"], &list.to_string())?;
        }
        Ok(())
    }

    /// The manifests of a cluster's rendered works.
    pub(crate) fn manifests(&self, cluster: &str) -> Result<Vec<Value>, String> {
        let folder = self.file(&format!("fleet/rendered/{cluster}"));
        let mut manifests = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            for work in read_all(&text, &Limits::default()).map_err(|error| format!("{error:?}"))? {
                let held = work.pointer("/spec/workload/manifests").and_then(Value::as_array);
                manifests.extend(held.into_iter().flatten().cloned());
            }
        }
        if manifests.is_empty() {
            return Err(format!("nothing is rendered for {cluster}"));
        }
        Ok(manifests)
    }

    pub(crate) fn spoke(&self, name: &str) -> Result<&Cluster, String> {
        let spoke = self.spokes.iter().find(|spoke| spoke.name == name);
        spoke.ok_or_else(|| format!("there is no spoke {name}"))
    }

    /// Starts a kubectl that goes on, such as a watch; what it prints is in NAME.log.
    pub(crate) fn start_kubectl(
        &mut self,
        name: &str,
        cluster: &str,
        arguments: &[&str],
    ) -> Result<(), String> {
        let admin = format!("--kubeconfig={}", self.spoke(cluster)?.admin.display());
        let arguments: Vec<String> = [admin.as_str()]
            .iter()
            .chain(arguments)
            .map(|&word| word.to_owned())
            .collect();
        let kubectl = self.needs.kubectl.clone();
        self.programs.start(name, &kubectl, &arguments)
    }

    /// Looks at the world until it is as it should be, while every program goes on.
    pub(crate) fn until<T>(
        &mut self,
        what: &str,
        look: impl Fn(&World) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut programs = std::mem::replace(&mut self.programs, Programs::new(&self.directory.path));
        let result = programs.until(what, SOON, || look(self));
        self.programs = programs;
        result
    }
}

/// What a controller of a cluster would say of an object.
fn status_of(object: &Value, address: &str) -> Value {
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": kind, "message": "",
               "observedGeneration": object["metadata"]["generation"], "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    if object["kind"] == "HTTPRoute" {
        let parent = &object["spec"]["parentRefs"][0];
        let conditions = [condition("Accepted"), condition("ResolvedRefs")];
        return json!({"parents": [
            {"parentRef": parent, "controllerName": "istio.io/gateway-controller", "conditions": conditions},
        ]});
    }
    if object["kind"] == "BackendTLSPolicy" {
        let ancestor = &object["spec"]["targetRefs"][0];
        let conditions = [condition("Accepted"), condition("ResolvedRefs")];
        return json!({"ancestors": [
            {"ancestorRef": ancestor, "controllerName": "istio.io/gateway-controller", "conditions": conditions},
        ]});
    }
    if object["kind"] != "Gateway" {
        return json!({"conditions": [condition("Accepted")]});
    }
    let listeners = object["spec"]["listeners"].as_array().into_iter().flatten();
    let listeners: Vec<Value> = listeners
        .map(|listener| {
            json!({"name": listener["name"], "attachedRoutes": 1, "supportedKinds": [],
                   "conditions": [condition("Accepted")]})
        })
        .collect();
    json!({"addresses": [{"type": "IPAddress", "value": address}], "listeners": listeners,
           "conditions": [condition("Accepted"), condition("Programmed")]})
}

/// The address that the Gateways of a cluster get.
pub(crate) fn address(number: usize) -> String {
    format!("203.0.113.{}", number + 1)
}

/// Complains of anything that kubectl printed.
pub(crate) fn none(printed: &str) -> Result<(), String> {
    if printed.trim().is_empty() {
        Ok(())
    } else {
        Err(format!("still there:\n{printed}"))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = || -> std::io::Result<Vec<(PathBuf, PathBuf)>> {
        fs::create_dir_all(to)?;
        let mut folders = Vec::new();
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let target = to.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push((entry.path(), target));
            } else {
                fs::copy(entry.path(), target)?;
            }
        }
        Ok(folders)
    };
    let folders = copied().map_err(|error| format!("{}: {error}", from.display()))?;
    folders.iter().try_for_each(|(from, to)| copy(from, to))
}

/// A temporary directory that can be left behind.
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    keep: bool,
}

impl Directory {
    fn new(keep: bool) -> Result<Self, String> {
        let made = tempfile::Builder::new().prefix("spokewright-e2e-").tempdir();
        let path = made.map_err(|error| error.to_string())?.keep();
        Ok(Self { path, keep })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.keep {
            println!("kept: {}", self.path.display());
            return;
        }
        let _ = fs::remove_dir_all(&self.path);
    }
}
