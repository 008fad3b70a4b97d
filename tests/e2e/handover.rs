//! Changes in which objects keep what they are: no change of a reference or of the layout makes an object anew, policies
//! arrive before what they protect and leave after it, and an update that clusters refuse is known beforehand.
//!
//! Each change is made several times, there and back, as the agents take the works of one pass in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kube_json::Value;
use kube_yaml::{Limits, read_all};

use crate::world::{CLUSTERS, World};

/// How often each change is made.
pub(crate) const TIMES: usize = 5;
/// How often the route with its policies arrives and leaves.
const ARRIVALS: usize = 10;
/// The kinds whose objects may not be made anew.
const KEPT: &str = "gateways.gateway.networking.k8s.io,httproutes.gateway.networking.k8s.io,\
                    referencegrants.gateway.networking.k8s.io,backendtlspolicies.gateway.networking.k8s.io,\
                    authpolicies.kuadrant.io,dnspolicies.kuadrant.io,ratelimitpolicies.kuadrant.io,\
                    tlspolicies.kuadrant.io,services";
const INTERNAL: &str = "fleet/hub/internal/internal.yaml";
const OUTER: &str = "fleet/hub/internal/outer.yaml";
const ORDERS: &str = "fleet/hub/internal/orders.yaml";
const SHOP: &str = "fleet/hub/shop/placement.yaml";
const PLATFORM: &str = "fleet/hub/platform/gateway-params.yaml";

/// The objects of each cluster, and what tells one from another of the same name.
pub(crate) type Identities = BTreeMap<String, String>;

pub(crate) fn identities(world: &World) -> Result<Identities, String> {
    fields(world, "uid")
}

/// The same with another field of `metadata`.
fn fields(world: &World, field: &str) -> Result<Identities, String> {
    let line = r#"-o=jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\t"}{.metadata.FIELD}{"\n"}{end}"#;
    let line = line.replace("FIELD", field);
    let mut all = Identities::new();
    for cluster in CLUSTERS {
        let found = world.spoke(cluster)?.kubectl(&["get", KEPT, "-A", &line])?;
        for (object, uid) in found.lines().filter_map(|line| line.split_once('\t')) {
            all.insert(format!("{cluster}: {object}"), uid.to_owned());
        }
    }
    Ok(all)
}

/// Complains of objects that were there before and are not, or not as the same object.
pub(crate) fn kept(before: &Identities, after: &Identities) -> Result<(), String> {
    let lost = before.iter().filter_map(|(object, uid)| match after.get(object) {
        Some(now) if now == uid => None,
        Some(_) => Some(format!("{object} was made anew")),
        None => Some(format!("{object} is gone")),
    });
    let lost: Vec<String> = lost.collect();
    if lost.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{} of {} objects:\n{}",
            lost.len(),
            before.len(),
            lost.join("\n")
        ))
    }
}

/// Replaces a text that is in a file exactly once.
fn edit(world: &World, file: &str, from: &str, to: &str) -> Result<(), String> {
    let path = world.file(file);
    let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
    if text.matches(from).count() != 1 {
        return Err(format!("{from:?} is not in {file} exactly once"));
    }
    fs::write(&path, text.replacen(from, to, 1)).map_err(|error| format!("{file}: {error}"))
}

/// Waits until what left the tree is deleted, all is applied, and no agent has anything left to delete.
fn settle(world: &mut World) -> Result<(), String> {
    world.render_and_apply(&[])?;
    world.prune(&["--sole"], |world| {
        let works = world.hub()?.kubectl(&[
            "get",
            "manifestworks",
            "-A",
            "-o=jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {end}",
        ])?;
        let works: BTreeSet<String> = works.split_whitespace().map(str::to_owned).collect();
        let rendered: BTreeSet<String> = rendered(world)?.into_keys().collect();
        let stale: Vec<&String> = works.difference(&rendered).collect();
        if stale.is_empty() {
            Ok(())
        } else {
            Err(format!("still there: {stale:?}"))
        }
    })?;
    // What is stale fails this as well, so it comes afterward.
    world.applied(&[])?;
    world.until("every agent has only what its works hold", |world| {
        let rendered = rendered(world)?;
        for cluster in CLUSTERS {
            let applied = world.spoke(cluster)?.get(&["appliedmanifestworks"])?;
            for work in applied["items"].as_array().into_iter().flatten() {
                let name = format!(
                    "{cluster}/{}",
                    work["spec"]["manifestWorkName"].as_str().unwrap_or_default()
                );
                let has = work["status"]["appliedResources"].as_array().map_or(0, Vec::len);
                let expected = rendered.get(&name).copied().unwrap_or_default();
                if has != expected {
                    return Err(format!("{name} holds {expected} objects, its agent has {has}"));
                }
            }
        }
        Ok(())
    })
}

/// The rendered works as CLUSTER/NAME, with the number of their objects.
fn rendered(world: &World) -> Result<BTreeMap<String, usize>, String> {
    let mut works = BTreeMap::new();
    for cluster in CLUSTERS {
        let folder = world.file(&format!("fleet/rendered/{cluster}"));
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            for work in read_all(&text, &Limits::default()).map_err(|error| format!("{error:?}"))? {
                if let Some(held) = work.pointer("/spec/workload/manifests").and_then(Value::as_array) {
                    let name = work["metadata"]["name"].as_str().unwrap_or_default();
                    works.insert(format!("{cluster}/{name}"), held.len());
                }
            }
        }
    }
    Ok(works)
}

/// Makes a change and takes it back, again and again; no object may be made anew by any of it, `but` one.
fn there_and_back(
    world: &mut World,
    file: &str,
    [from, to]: [&str; 2],
    but: Option<&str>,
) -> Result<(), String> {
    settle(world)?;
    let mut before = identities(world)?;
    before.retain(|object, _| but.is_none_or(|but| !object.ends_with(but)));
    for time in 1..=TIMES {
        for (from, to) in [(from, to), (to, from)] {
            edit(world, file, from, to)?;
            settle(world)?;
            kept(&before, &identities(world)?)
                .map_err(|lost| format!("{time}, {from:?} became {to:?}: {lost}"))?;
        }
    }
    Ok(())
}

pub(crate) fn route(world: &mut World) -> Result<(), String> {
    there_and_back(world, ORDERS, ["  - name: inner\n", "  - name: outer\n"], None)
}

/// A policy is beside its target, and a Gateway is in another namespace than its routes. So a policy that changes from
/// one to the other is another object on the clusters: there has to be one or the other all the time.
pub(crate) fn policy(world: &mut World) -> Result<(), String> {
    let gateway = "    kind: Gateway\n    name: outer\n  rules";
    let listener = |name: &str| gateway.replace("\n  rules", &format!("\n    sectionName: {name}\n  rules"));
    let route = gateway
        .replace("Gateway", "HTTPRoute")
        .replace("outer", "catalog");
    let watched = [
        "kuadrant.io/v1/namespaces/internal/authpolicies",
        "kuadrant.io/v1/namespaces/kuadrant-internal/authpolicies",
    ];
    watch(world, watched, "guard")?;
    there_and_back(world, OUTER, [gateway, &route], Some("/guard"))?;
    for cluster in CLUSTERS {
        let seen = timeline(world, cluster, watched, "guard")?;
        if seen.len() < 2 * TIMES || seen.iter().skip(1).any(|(_, there)| *there == [false; 2]) {
            return Err(format!("{cluster} was without the policy: {seen:?}"));
        }
    }
    edit(world, OUTER, gateway, &listener("http"))?;
    there_and_back(world, OUTER, [&listener("http"), &listener("more")], None)?;
    edit(world, OUTER, &listener("http"), gateway)
}

pub(crate) fn parent(world: &mut World) -> Result<(), String> {
    let both = "  - name: outer\n  - name: inner\n";
    there_and_back(world, OUTER, [both, "  - name: inner\n"], None)
}

/// The clusters that stay keep everything.
pub(crate) fn placement(world: &mut World) -> Result<(), String> {
    settle(world)?;
    let mut before = identities(world)?;
    before.retain(|object, _| !object.starts_with("us-1"));
    let decision = "  - {clusterName: us-1, reason: \"\"}\n";
    for time in 1..=TIMES {
        for (from, to) in [(decision, "  # none\n"), ("  # none\n", decision)] {
            edit(world, SHOP, from, to)?;
            settle(world)?;
            kept(&before, &identities(world)?).map_err(|lost| format!("{time}: {lost}"))?;
        }
    }
    Ok(())
}

/// From one work per object to one per Gateway and back, by way of both.
pub(crate) fn layouts(world: &mut World) -> Result<(), String> {
    settle(world)?;
    let before = identities(world)?;
    let field = |layout: &str| match layout {
        "Object" => "\"downstreamClass\": \"istio\",\n".to_owned(),
        layout => format!("\"downstreamClass\": \"istio\", \"workPer\": \"{layout}\",\n"),
    };
    for time in 1..=TIMES {
        for (from, to) in [
            ("Object", "Both"),
            ("Both", "Gateway"),
            ("Gateway", "Both"),
            ("Both", "Object"),
        ] {
            for file in [INTERNAL, PLATFORM] {
                edit(world, file, &field(from), &field(to))?;
            }
            settle(world)?;
            kept(&before, &identities(world)?)
                .map_err(|lost| format!("{time}, workPer {from} became {to}: {lost}"))?;
        }
    }
    Ok(())
}

/// The finding of `render`, what the clusters say if somebody applies it anyway, and the way out that its help names.
pub(crate) fn refused_update(world: &mut World) -> Result<(), String> {
    settle(world)?;
    let (old, new) = (
        "  delegate: true\n  loadBalancing:\n    weight: 100\n",
        "  delegate: false\n  loadBalancing:\n    weight: 200\n",
    );
    edit(world, OUTER, old, new)?;
    let (status, _, said) = world.spokewright(&["render", "fleet"])?;
    if status == Some(0)
        || !said.contains("object/update-refused")
        || !said.contains("spec.delegate: true -> false")
    {
        return Err(format!("render ended with {status:?} and said:\n{said}"));
    }
    let configuration = "fleet/spokewright.yaml";
    let (secrets, warning) = (
        "secrets: Omit\n",
        "secrets: Omit\nfindings: {object/update-refused: warning}\n",
    );
    edit(world, configuration, secrets, warning)?;
    world.render_and_apply(&[])?;
    world.until("every cluster refuses the update", |world| {
        world.export()?;
        let gate = ["status", "fleet", "-q", "--works", "works.yaml", "--exit-code"];
        let (status, out, _) = world.spokewright(&gate)?;
        let refusals = out.matches("delegate is immutable").count();
        if status == Some(0) || refusals == 0 {
            return Err(format!("status ended with {status:?} and said:\n{out}"));
        }
        weighs(world, [100; 3])
    })?;
    edit(world, configuration, warning, secrets)?;
    // Deleted in one commit, added in the next.
    let path = world.file(OUTER);
    let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let (before, policy) = text.rsplit_once("---\n").ok_or("outer.yaml has one document")?;
    fs::write(&path, before).map_err(|error| error.to_string())?;
    settle(world)?;
    fs::write(&path, format!("{before}---\n{policy}")).map_err(|error| error.to_string())?;
    settle(world)?;
    weighs(world, [200; 3])
}

/// A ClusterOverlay changes its cluster and touches no object of another; when it goes, its cluster is as before.
pub(crate) fn overlay(world: &mut World) -> Result<(), String> {
    const OVERLAY: &str = "\
apiVersion: spokewright.dev/v1alpha1
kind: ClusterOverlay
metadata: {name: eu-2, namespace: internal}
spec:
  clusters: {names: [eu-2]}
  changes:
  - target: {group: kuadrant.io, kind: DNSPolicy, name: names}
    set: [{path: spec.loadBalancing.weight, value: 7}]
";
    settle(world)?;
    weighs(world, [100; 3])?;
    let (before, generations) = (identities(world)?, fields(world, "generation")?);
    let path = world.file("fleet/hub/internal/overlay.yaml");
    for time in 1..=TIMES {
        fs::write(&path, OVERLAY).map_err(|error| error.to_string())?;
        settle(world)?;
        weighs(world, [100, 7, 100]).map_err(|wrong| format!("{time}, with the overlay: {wrong}"))?;
        fs::remove_file(&path).map_err(|error| error.to_string())?;
        settle(world)?;
        weighs(world, [100; 3]).map_err(|wrong| format!("{time}, without it: {wrong}"))?;
    }
    kept(&before, &identities(world)?)?;
    let mut after = fields(world, "generation")?;
    let changed = "eu-2: DNSPolicy kuadrant-internal/names";
    let changes =
        [&generations, &after].map(|all| all.get(changed).and_then(|number| number.parse::<usize>().ok()));
    let [Some(first), Some(last)] = changes else {
        return Err(format!("{changed} has no generation: {after:?}"));
    };
    if last != first + 2 * TIMES {
        return Err(format!("{changed} was changed {} times", last - first));
    }
    after.insert(changed.to_owned(), first.to_string());
    kept(&generations, &after).map_err(|lost| format!("generations of other objects: {lost}"))
}

/// Complains unless the DNSPolicy of each cluster has its weight.
fn weighs(world: &World, expected: [i64; CLUSTERS.len()]) -> Result<(), String> {
    for (cluster, expected) in CLUSTERS.into_iter().zip(expected) {
        let policy = world
            .spoke(cluster)?
            .get(&["dnspolicy", "names", "-n", "kuadrant-internal"])?;
        let weight = &policy["spec"]["loadBalancing"]["weight"];
        if weight.as_i64() != Some(expected) {
            return Err(format!(
                "{cluster}: expected the weight {expected}, found {weight}"
            ));
        }
    }
    Ok(())
}

/// A route arrives and leaves with its policy; watches on every cluster see both.
pub(crate) fn order(world: &mut World) -> Result<(), String> {
    let watched = [
        "gateway.networking.k8s.io/v1/namespaces/internal/httproutes",
        "kuadrant.io/v1/namespaces/internal/authpolicies",
    ];
    settle(world)?;
    watch(world, watched, "orders")?;
    let path = world.file(ORDERS);
    let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
    for _ in 0..ARRIVALS {
        fs::remove_file(&path).map_err(|error| error.to_string())?;
        settle(world)?;
        fs::write(&path, &text).map_err(|error| error.to_string())?;
        settle(world)?;
    }
    let (mut arrivals, mut open) = (0, Vec::new());
    for cluster in CLUSTERS {
        let mut was_there = false;
        // When a watch begins, it names what is there, one by one.
        for (revision, [route, policy]) in timeline(world, cluster, watched, "orders")?.into_iter().skip(1) {
            arrivals += usize::from(route && !was_there);
            was_there = route;
            if route && !policy {
                open.push(format!("{cluster} at revision {revision}"));
            }
        }
    }
    // The route was there when the watch began.
    if arrivals != CLUSTERS.len() * (ARRIVALS + 1) {
        return Err(format!("the watches saw {arrivals} arrivals"));
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{} of {} times without its policy: {}",
            open.len(),
            2 * arrivals,
            open.join(", ")
        ))
    }
}

/// Starts a watch of each kind for objects of a name, on every cluster.
fn watch(world: &mut World, kinds: [&str; 2], name: &str) -> Result<(), String> {
    for cluster in CLUSTERS {
        for (number, kind) in kinds.iter().enumerate() {
            let path = format!(
                "--raw=/apis/{kind}?watch=1&resourceVersion=0&timeoutSeconds=3600&fieldSelector=metadata.name%3D{name}"
            );
            world.start_kubectl(&format!("{cluster}-{name}-{number}"), cluster, &["get", &path])?;
        }
    }
    Ok(())
}

/// After each change of a cluster, whether the object of each kind is there. An etcd numbers its revisions, so two
/// watches have one order.
fn timeline(
    world: &World,
    cluster: &str,
    kinds: [&str; 2],
    name: &str,
) -> Result<Vec<(u64, [bool; 2])>, String> {
    let mut events = Vec::new();
    for number in 0..kinds.len() {
        let file = format!("{cluster}-{name}-{number}.log");
        let lines = fs::read_to_string(world.file(&file)).map_err(|error| format!("{file}: {error}"))?;
        for line in lines.lines() {
            let event: Value = serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))?;
            let revision = event["object"]["metadata"]["resourceVersion"]
                .as_str()
                .unwrap_or_default();
            let revision: u64 = revision.parse().map_err(|_| format!("no revision in {line}"))?;
            events.push((revision, number, event["type"] != "DELETED"));
        }
    }
    events.sort_unstable();
    let mut there = [false; 2];
    let after = events.into_iter().map(|(revision, number, is_there)| {
        there[number] = is_there;
        (revision, there)
    });
    Ok(after.collect())
}
