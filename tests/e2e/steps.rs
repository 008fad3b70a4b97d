//! What must hold on a hub with three clusters to which the rendered example is applied: the steps, in their order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use kube_json::{Value, json};

use crate::clusters::{AGENT, Cluster};
use crate::controllers::{binding_of, start_agent, start_manager, start_placement};
use crate::handover;
use crate::report::Step;
use crate::world::{CLUSTERS, SHIPPED, World, address, none};

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
    (
        "a_route_moves_between_gateways_and_nothing_is_made_anew",
        handover::route,
    ),
    (
        "a_policy_gets_another_target_and_nothing_is_made_anew",
        handover::policy,
    ),
    (
        "a_route_loses_a_parent_and_nothing_is_made_anew",
        handover::parent,
    ),
    (
        "a_placement_changes_and_nothing_is_made_anew_elsewhere",
        handover::placement,
    ),
    (
        "a_change_of_the_layout_by_way_of_both_makes_nothing_anew",
        handover::layouts,
    ),
    ("whenever_a_route_is_there_so_is_its_policy", handover::order),
    (
        "an_overlay_changes_its_cluster_and_leaves_no_trace",
        handover::overlay,
    ),
    (
        "an_update_that_clusters_refuse_is_known_before",
        handover::refused_update,
    ),
    ("replica_sets_roll_out_and_take_over", replica_sets),
];

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
    cluster.established()
}

fn apply_hub(world: &mut World) -> Result<(), String> {
    let hub = world.hub()?;
    // OCM makes the namespace of a cluster when it accepts the cluster.
    for cluster in CLUSTERS {
        hub.kubectl(&["create", "namespace", cluster])?;
    }
    let (_, definitions, _) = world.spokewright(&["schema", "crd"])?;
    hub.kubectl_reads(&["apply", "-f", "-"], &definitions)?;
    hub.established()?;
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
        let named = "--field-selector=metadata.name=stock";
        let routes = spoke.get(&["httproutes", "-A", named])?;
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
    // A work names the object that it was made for, and that is no longer in the input.
    world.prune(&["--sole"], |world| {
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
    // A set is the same on every cluster, so nothing may take from what is shipped to one, or change it.
    for file in ["fleet/spokes/eu-1/limits.yaml", "fleet/hub/shop/overlay.yaml"] {
        fs::remove_file(world.file(file)).map_err(|error| error.to_string())?;
    }
    let before = handover::identities(world)?;
    let World {
        needs,
        directory,
        programs,
        hub,
        ..
    } = &mut *world;
    let hub = hub.as_ref().ok_or("there is no hub")?;
    start_manager(&directory.path, needs, programs, hub)?;
    for time in 1..=handover::TIMES {
        to_sets(world)?;
        handover::kept(&before, &handover::identities(world)?)
            .map_err(|lost| format!("{time}, works became sets: {lost}"))?;
        to_works(world)?;
        handover::kept(&before, &handover::identities(world)?)
            .map_err(|lost| format!("{time}, sets became works: {lost}"))?;
    }
    Ok(())
}

/// From ManifestWorks to replica sets: nobody but the sets has works then.
fn to_sets(world: &mut World) -> Result<(), String> {
    world.render_and_apply(&["--work-kind", "replica-set"])?;
    world.until("every set has rolled out", |world| {
        // Again and again, as an object that arrives later has said nothing yet.
        world.report()?;
        let sets = world.hub()?.get(&["manifestworkreplicasets", "-A"])?;
        let rolled_out = |set: &&Value| {
            let conditions = set["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions
                .any(|condition| condition["type"] == "PlacementRolledOut" && condition["status"] == "True")
        };
        let sets: Vec<&Value> = sets["items"].as_array().into_iter().flatten().collect();
        match sets.iter().find(|set| !rolled_out(set)) {
            Some(set) => Err(format!("not rolled out: {}", set["metadata"]["name"])),
            None if sets.is_empty() => Err("there are no sets".to_owned()),
            None => Ok(()),
        }
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
    Ok(())
}

/// And back.
fn to_works(world: &mut World) -> Result<(), String> {
    world.render_and_apply(&[])?;
    world.applied(&[])?;
    world.prune(&["--sole"], |world| {
        let of_sets = "work.open-cluster-management.io/manifestworkreplicaset";
        let hub = world.hub()?;
        none(&hub.kubectl(&["get", "manifestworkreplicasets", "-A", "-o", "name"])?)?;
        none(&hub.kubectl(&["get", "manifestworks", "-A", "-l", of_sets, "-o", "name"])?)
    })?;
    sleep(Duration::from_secs(1));
    Ok(())
}
