//! What must hold on a hub with three clusters to which the rendered example is applied.
//!
//! Owns: the steps, in their order, and the copy of the example that they change. Flows in: programs and CRDs. Flows
//! out: a verdict for each step. Must not know: how programs are run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use kube_json::{Value, json};
use kube_yaml::{Limits, read_all};

use crate::clusters::{AGENT, Cluster};
use crate::controllers::{binding_of, start_agent, start_manager, start_placement};
use crate::needs::Needs;
use crate::programs::Programs;
use crate::report::Step;

/// How long a controller may take for what it does at once.
const SOON: Duration = Duration::from_secs(60);
/// The shipped kinds whose statuses the works report, as kubectl names them.
const SHIPPED: &str = "gateways.gateway.networking.k8s.io,httproutes.gateway.networking.k8s.io,\
                       backendtlspolicies.gateway.networking.k8s.io,authpolicies.kuadrant.io,\
                       ratelimitpolicies.kuadrant.io,tlspolicies.kuadrant.io,accesslogpolicies.edge.acme.example";
const CLUSTERS: [&str; 3] = ["eu-1", "eu-2", "us-1"];

/// In this order, as each stands on the one before.
pub(crate) const STEPS: &[Step<World>] = &[
    ("a_hub_and_three_spokes_start", start),
    (
        "one_pass_applies_the_hub_and_placements_decide_as_committed",
        apply_hub,
    ),
    ("one_pass_applies_the_works_and_every_object_arrives", arrive),
    (
        "a_route_arrives_with_its_service_its_grant_and_the_policy_on_its_service",
        backend_in_another_namespace,
    ),
    ("the_agent_may_do_what_gateway_rbac_grants_and_no_more", rights),
    ("what_the_clusters_report_comes_back", feedback),
    ("what_left_the_hub_is_deleted_on_every_cluster", deletion),
    ("a_gateway_moves_with_its_decisions", moving),
    ("replica_sets_roll_out_and_take_over", replica_sets),
];

/// Everything that a run has. Programs go before the directory that they write to.
pub(crate) struct World {
    programs: Programs,
    hub: Option<Cluster>,
    spokes: Vec<Cluster>,
    needs: Needs,
    directory: Directory,
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

    fn hub(&self) -> Result<&Cluster, String> {
        self.hub.as_ref().ok_or_else(|| "there is no hub".to_owned())
    }

    fn file(&self, relative: &str) -> PathBuf {
        self.directory.path.join(relative)
    }

    /// The command, beside the copy of the example: its exit status and what it printed.
    fn spokewright(&self, arguments: &[&str]) -> Result<(Option<i32>, String, String), String> {
        let output = Command::new(env!("CARGO_BIN_EXE_spokewright"))
            .args(arguments)
            .current_dir(&self.directory.path)
            .output()
            .map_err(|error| format!("spokewright: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((output.status.code(), text(&output.stdout), text(&output.stderr)))
    }

    /// Renders, applies in one pass, and says what every cluster should have now.
    fn render_and_apply(&self, more: &[&str]) -> Result<(), String> {
        let (status, _, said) = self.spokewright(&[&["render", "fleet", "-q"], more].concat())?;
        if status != Some(0) {
            return Err(format!("spokewright render ended with {status:?}:\n{said}"));
        }
        let tree = self.file("fleet/rendered").display().to_string();
        self.hub()?.kubectl(&["apply", "-k", &tree]).map(drop)
    }

    /// Exports the works of the hub to where `status` and `prune-list` read them.
    fn export(&self) -> Result<(), String> {
        let kinds = "manifestworks,manifestworkreplicasets";
        let works = self.hub()?.kubectl(&["get", kinds, "-A", "-o", "yaml"])?;
        fs::write(self.file("works.yaml"), works).map_err(|error| error.to_string())
    }

    /// Waits until `status --works` lets a pipeline pass; returns what it says.
    fn applied(&mut self, more: &[&str]) -> Result<String, String> {
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
    fn arrived(&mut self) -> Result<(), String> {
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
    fn prune(&mut self, more: &[&str], gone: impl Fn(&World) -> Result<(), String>) -> Result<(), String> {
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
    fn report(&self) -> Result<(), String> {
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
    fn manifests(&self, cluster: &str) -> Result<Vec<Value>, String> {
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

    fn spoke(&self, name: &str) -> Result<&Cluster, String> {
        let spoke = self.spokes.iter().find(|spoke| spoke.name == name);
        spoke.ok_or_else(|| format!("there is no spoke {name}"))
    }

    /// Looks at the world until it is as it should be, while every program goes on.
    fn until<T>(&mut self, what: &str, look: impl Fn(&World) -> Result<T, String>) -> Result<T, String> {
        let mut programs = std::mem::replace(&mut self.programs, Programs::new(&self.directory.path));
        let result = programs.until(what, SOON, || look(self));
        self.programs = programs;
        result
    }
}

fn start(world: &mut World) -> Result<(), String> {
    let directory = &world.directory.path;
    let mut clusters = Vec::new();
    for name in ["hub"].iter().chain(&CLUSTERS) {
        clusters.push(Cluster::start(
            name,
            directory,
            &world.needs,
            &mut world.programs,
        )?);
    }
    for cluster in &clusters {
        cluster.ready(&mut world.programs)?;
    }
    world.hub = Some(clusters.remove(0));
    world.spokes = clusters;
    // The example's own CRD comes with its hub; a spoke gets it from whoever runs it.
    let own = directory.join("fleet/hub/platform/accesslogpolicy-crd.yaml");
    let hub = world.hub()?;
    install(hub, &world.needs.hub_crds, &own)?;
    for spoke in &world.spokes {
        install(spoke, &world.needs.spoke_crds, &own)?;
    }
    Ok(())
}

fn install(cluster: &Cluster, crds: &[PathBuf], own: &Path) -> Result<(), String> {
    // On the server's side: an annotation would be too small for some of them.
    let mut arguments = vec!["apply".to_owned(), "--server-side".to_owned()];
    for file in crds.iter().map(PathBuf::as_path).chain([own]) {
        arguments.extend(["-f".to_owned(), file.display().to_string()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cluster.kubectl(&arguments)?;
    let established = [
        "wait",
        "--for=condition=Established",
        "--timeout=30s",
        "crd",
        "--all",
    ];
    cluster.kubectl(&established).map(drop)
}

fn apply_hub(world: &mut World) -> Result<(), String> {
    let hub = world.hub()?;
    // OCM makes the namespace of a cluster when it accepts the cluster.
    for cluster in CLUSTERS {
        hub.kubectl(&["create", "namespace", cluster])?;
    }
    let folder = world.file("fleet/hub").display().to_string();
    hub.kubectl(&["apply", "--server-side", "--force-conflicts", "-R", "-f", &folder])?;
    let (
        World {
            needs,
            directory,
            programs,
            hub,
            ..
        },
        nobody,
    ) = (&mut *world, "there is no hub");
    let hub = hub.as_ref().ok_or(nobody)?;
    start_placement(&directory.path, needs, programs, hub)?;
    world.until("placements decide as committed", |world| {
        expect(&decided(world, "shop", "everywhere")?, &CLUSTERS)?;
        expect(&decided(world, "payments", "europe")?, &["eu-1", "eu-2"])?;
        expect(&decided(world, "internal", "all")?, &CLUSTERS)
    })
}

/// The clusters that a Placement's decisions on the hub name.
fn decided(world: &World, namespace: &str, placement: &str) -> Result<BTreeSet<String>, String> {
    let label = format!("cluster.open-cluster-management.io/placement={placement}");
    let found = world
        .hub()?
        .get(&["placementdecisions", "-n", namespace, "-l", &label])?;
    let pages = found["items"].as_array().into_iter().flatten();
    let decisions = pages.flat_map(|page| page["status"]["decisions"].as_array().into_iter().flatten());
    let names = decisions.filter_map(|decision| decision["clusterName"].as_str());
    Ok(names.map(str::to_owned).collect())
}

fn expect(found: &BTreeSet<String>, expected: &[&str]) -> Result<(), String> {
    if found.iter().eq(expected) {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?}"))
    }
}

fn arrive(world: &mut World) -> Result<(), String> {
    for spoke in &world.spokes {
        if spoke.may(AGENT, "create", "gateways.gateway.networking.k8s.io")? {
            return Err(format!(
                "the agent of {} may create Gateways before it is told to",
                spoke.name
            ));
        }
    }
    let World {
        needs,
        directory,
        programs,
        hub,
        spokes,
    } = &mut *world;
    let hub = hub.as_ref().ok_or("there is no hub")?;
    for spoke in spokes.iter() {
        start_agent(&directory.path, needs, programs, hub, spoke)?;
    }
    world.render_and_apply(&[])?;
    world.arrived()
}

/// The grant names the namespace of the route as it is on the cluster, and the policy the Service.
fn backend_in_another_namespace(world: &mut World) -> Result<(), String> {
    for spoke in &world.spokes {
        let routes = spoke.get(&["httproutes", "-A"])?;
        let route = &routes["items"][0];
        let backend = &route["spec"]["rules"][0]["backendRefs"][0];
        let (Some(from), Some(namespace), Some(name)) = (
            route["metadata"]["namespace"].as_str(),
            backend["namespace"].as_str(),
            backend["name"].as_str(),
        ) else {
            return Err(format!("no route with a backend is on {}: {routes}", spoke.name));
        };
        spoke.get(&["service", name, "-n", namespace])?;
        let grants = spoke.get(&["referencegrants", "-n", namespace])?;
        if grants["items"][0]["spec"]["from"][0]["namespace"] != from {
            return Err(format!(
                "no grant for routes of {from} is in {namespace} of {}: {grants}",
                spoke.name
            ));
        }
        let policies = spoke.get(&["backendtlspolicies", "-n", namespace])?;
        if policies["items"][0]["spec"]["targetRefs"][0]["name"] != name {
            return Err(format!(
                "no policy on Service {namespace}/{name} is on {}: {policies}",
                spoke.name
            ));
        }
    }
    Ok(())
}

fn rights(world: &mut World) -> Result<(), String> {
    let spoke = world.spoke("eu-1")?;
    let selector = "open-cluster-management.io/aggregate-to-work=true";
    let labelled = spoke.get(&["clusterroles", "-l", selector])?;
    let roles = labelled["items"].as_array().into_iter().flatten();
    let sum: Vec<&Value> = roles
        .flat_map(|role| role["rules"].as_array().into_iter().flatten())
        .collect();
    // What the controller manager of a whole cluster makes of the label.
    let aggregated = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
         "metadata": {"name": "e2e:aggregated"}, "rules": sum},
        binding_of("e2e:aggregated", "e2e:aggregated", "e2e-aggregated"),
    ]});
    spoke.kubectl_reads(&["apply", "-f", "-"], &aggregated.to_string())?;
    let manifests = world.manifests("eu-1")?;
    let granted = manifests
        .iter()
        .find(|manifest| manifest["kind"] == "ClusterRole");
    let granted = granted.ok_or("no ClusterRole is rendered for eu-1")?;
    let mut asked = 0;
    for rule in granted["rules"].as_array().into_iter().flatten() {
        let words = |field: &str| -> Vec<String> {
            let list = rule[field].as_array().into_iter().flatten();
            list.filter_map(|word| word.as_str().map(str::to_owned)).collect()
        };
        for (group, resource) in words("apiGroups").iter().flat_map(|group| {
            words("resources")
                .into_iter()
                .map(move |resource| (group, resource))
        }) {
            for verb in [
                "create",
                "delete",
                "get",
                "patch",
                "update",
                "list",
                "watch",
                "deletecollection",
            ] {
                let expected = words("verbs").iter().any(|granted| granted == verb);
                for user in [AGENT, "e2e-aggregated"] {
                    let resource = format!("{resource}.{group}");
                    if spoke.may(user, verb, &resource)? != expected {
                        let word = if expected { "may not" } else { "may" };
                        return Err(format!("{user} {word} {verb} {resource}"));
                    }
                    asked += 1;
                }
            }
        }
    }
    if asked == 0 {
        return Err("the rendered ClusterRole grants nothing".to_owned());
    }
    Ok(())
}

fn feedback(world: &mut World) -> Result<(), String> {
    world.report()?;
    let said = world.applied(&["--require", "gateway=Programmed"])?;
    for (number, cluster) in CLUSTERS.iter().enumerate() {
        let line = format!("address: {cluster}/{} ", address(number));
        if !said.contains(&line) {
            return Err(format!("{line:?} is not in\n{said}"));
        }
    }
    Ok(())
}

fn deletion(world: &mut World) -> Result<(), String> {
    let policy = world.file("fleet/hub/platform/access-log.yaml");
    fs::remove_file(policy).map_err(|error| error.to_string())?;
    world.render_and_apply(&[])?;
    world.until("no AccessLogPolicy is left", |world| {
        for spoke in &world.spokes {
            none(&spoke.kubectl(&["get", "accesslogpolicies", "-A", "-o", "name"])?)?;
        }
        Ok(())
    })?;
    world.applied(&[]).map(drop)
}

fn moving(world: &mut World) -> Result<(), String> {
    let path = world.file("fleet/hub/payments/placement.yaml");
    let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
    // The committed decisions go: those that the scheduler makes now take their place.
    let placement = text
        .split("---\n")
        .next()
        .unwrap_or_default()
        .replace("region: eu", "region: us");
    fs::write(&path, placement).map_err(|error| error.to_string())?;
    let file = path.display().to_string();
    let hub = world.hub()?;
    hub.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", &file])?;
    world.until("the Placement decides for us-1", |world| {
        expect(&decided(world, "payments", "europe")?, &["us-1"])
    })?;
    let decisions = world
        .hub()?
        .kubectl(&["get", "placementdecisions", "-n", "payments", "-o", "yaml"])?;
    fs::write(world.file("fleet/hub/payments/decisions.yaml"), decisions)
        .map_err(|error| error.to_string())?;
    world.render_and_apply(&[])?;
    world.arrived()?;
    world.prune(&[], |world| {
        for left in ["eu-1", "eu-2"] {
            none(&world.hub()?.kubectl(&[
                "get",
                "manifestworks",
                "-n",
                left,
                "-o",
                "name",
                "--field-selector",
                "metadata.name=gateway-payments-payments",
            ])?)?;
            let spoke = world.spoke(left)?;
            none(&spoke.kubectl(&["get", SHIPPED, "-n", "kuadrant-payments", "-o", "name"])?)?;
        }
        Ok(())
    })?;
    for left in ["eu-1", "eu-2"] {
        // An orphaning rule keeps it: others may have put something there.
        world
            .spoke(left)?
            .kubectl(&["get", "namespace", "kuadrant-payments"])?;
    }
    Ok(())
}

fn replica_sets(world: &mut World) -> Result<(), String> {
    // A set is the same on every cluster, so nothing local may take from what is shipped.
    fs::remove_file(world.file("fleet/spokes/eu-1/limits.yaml")).map_err(|error| error.to_string())?;
    let before = gateways(world)?;
    let World {
        needs,
        directory,
        programs,
        hub,
        ..
    } = &mut *world;
    let hub = hub.as_ref().ok_or("there is no hub")?;
    start_manager(&directory.path, needs, programs, hub)?;
    world.render_and_apply(&["--work-kind", "replica-set"])?;
    world.until("every set has rolled out", |world| {
        // Again and again, as an object that arrives later has said nothing yet.
        world.report()?;
        let wait = "--for=condition=PlacementRolledOut";
        world.hub()?.kubectl(&[
            "wait",
            wait,
            "--timeout=1s",
            "manifestworkreplicasets",
            "--all",
            "-A",
        ])
    })?;
    // Nothing but `--sole` says whose the old `gateway-rbac` is.
    world.prune(&["--sole", "--work-kind", "replica-set"], |world| {
        let of_no_set = "!work.open-cluster-management.io/manifestworkreplicaset";
        none(
            &world
                .hub()?
                .kubectl(&["get", "manifestworks", "-A", "-l", of_no_set, "-o", "name"])?,
        )
    })?;
    // An agent that wanted to delete what its old works held would have begun by now.
    sleep(Duration::from_secs(1));
    let after = gateways(world)?;
    if before == after {
        Ok(())
    } else {
        Err(format!(
            "Gateways were made anew\nbefore: {before:?}\nafter: {after:?}"
        ))
    }
}

/// The Gateways of all clusters with what tells one from another of the same name.
fn gateways(world: &World) -> Result<Vec<String>, String> {
    let columns = "-o=custom-columns=:metadata.name,:metadata.uid";
    let all = world.spokes.iter().map(|spoke| {
        let found = spoke.kubectl(&["get", "gateways.gateway.networking.k8s.io", "-A", columns])?;
        Ok(format!(
            "{}: {}",
            spoke.name,
            found.split_whitespace().collect::<Vec<_>>().join(" ")
        ))
    });
    all.collect()
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
fn address(number: usize) -> String {
    format!("203.0.113.{}", number + 1)
}

/// Complains of anything that kubectl printed.
fn none(printed: &str) -> Result<(), String> {
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
struct Directory {
    path: PathBuf,
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
