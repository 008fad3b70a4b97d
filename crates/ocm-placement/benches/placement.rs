//! Evaluating Placements: 10,000 clusters x 1,000 Placements in one run (the aim: one second on 2 cores, linear in
//! clusters x Placements), with the memory it takes. Reading and printing are not measured.
//!
//! `cargo bench -p ocm-placement`; the fleet is made here, from a fixed seed.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::time::Instant;

use kube_json::{Value, json};
use ocm_placement::{Detail, GROUP, Input, Inventory, Mode, Object, ObjectId, Options, evaluate};

const SETS: usize = 10;

/// xorshift: the same fleet on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap_or_default()
    }
}

fn object(version: &str, kind: &str, namespace: Option<&str>, name: &str, mut value: Value) -> Value {
    value["apiVersion"] = json!(format!("{GROUP}/{version}"));
    value["kind"] = json!(kind);
    value["metadata"]["name"] = json!(name);
    if let Some(namespace) = namespace {
        value["metadata"]["namespace"] = json!(namespace);
    }
    value
}

fn cluster(dice: &mut Dice, number: usize) -> Value {
    let environments = ["prod", "stage", "dev"];
    let regions = ["eu", "us", "ap"];
    let taints = match dice.roll(10) {
        0 => json!([{"key": "gpu", "effect": "NoSelect", "timeAdded": "2026-06-01T00:00:00Z"}]),
        1 => json!([{"key": "maint", "value": "a", "effect": "NoSelectIfNew"}]),
        _ => json!([]),
    };
    json!({
        "metadata": {"labels": {
            "cluster.open-cluster-management.io/clusterset": format!("set{}", number % SETS),
            "env": environments[dice.roll(3)],
            "ring": dice.roll(5).to_string(),
            "site": format!("site{}", dice.roll(200)),
        }},
        "spec": {"hubAcceptsClient": true, "taints": taints},
        "status": {
            "allocatable": {"cpu": format!("{}", 1 + dice.roll(64)), "memory": format!("{}Gi", 1 + dice.roll(256))},
            "capacity": {"cpu": "64", "memory": "256Gi"},
            "clusterClaims": [
                {"name": "region", "value": regions[dice.roll(3)]},
                {"name": "version", "value": format!("1.{}.0", 28 + dice.roll(5))},
            ],
        },
    })
}

/// One Placement; with `cel`, every second one has one of ten expressions.
fn placement(dice: &mut Dice, number: usize, cel: bool) -> Value {
    let selector = match dice.roll(5) {
        _ if cel && number.is_multiple_of(2) => json!({"celSelector": {"celExpressions": [format!(
            "managedCluster.status.clusterClaims.exists(c, c.name == 'version' && semver(c.value).minor() > {})",
            25 + number / 2 % 10
        )]}}),
        0 => json!({"labelSelector": {"matchLabels": {"env": "prod"}}}),
        1 => {
            json!({"labelSelector": {"matchExpressions": [{"key": "ring", "operator": "In", "values": ["1", "2"]}]}})
        }
        2 => json!({"labelSelector": {"matchExpressions": [
            {"key": "site", "operator": "NotIn", "values": [format!("site{}", number % 200)]}]}}),
        3 => {
            json!({"claimSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu", "us"]}]}})
        }
        _ => json!({}),
    };
    let mut spec = json!({
        "predicates": [{"requiredClusterSelector": selector}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "prioritizerPolicy": {"mode": "Additive", "configurations": [
            {"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Steady"}, "weight": 0},
            {"scoreCoordinate": {"type": "BuiltIn", "builtIn": "ResourceAllocatableMemory"}, "weight": 2},
        ]},
    });
    if dice.roll(4) > 0 {
        let sets: Vec<String> = (0..1 + dice.roll(SETS))
            .map(|_| format!("set{}", dice.roll(SETS)))
            .collect();
        spec["clusterSets"] = json!(sets);
    }
    if dice.roll(4) > 0 {
        spec["numberOfClusters"] = json!([1, 10, 100, 1000][dice.roll(4)]);
    }
    json!({"spec": spec})
}

fn fleet(clusters: usize, placements: usize, cel: bool) -> Vec<Value> {
    let mut dice = Dice(0x5eed);
    let mut objects = Vec::new();
    let mut add = |version, kind, namespace: Option<&str>, name: &str, value| {
        objects.push(object(version, kind, namespace, name, value));
    };
    for set in 0..SETS {
        let name = format!("set{set}");
        add("v1beta2", "ManagedClusterSet", None, &name, json!({"spec": {}}));
        add(
            "v1beta2",
            "ManagedClusterSetBinding",
            Some("fleet"),
            &name,
            json!({"spec": {"clusterSet": name}}),
        );
    }
    for number in 0..clusters {
        add(
            "v1",
            "ManagedCluster",
            None,
            &format!("cluster-{number:05}"),
            cluster(&mut dice, number),
        );
    }
    for number in 0..placements {
        add(
            "v1beta1",
            "Placement",
            Some("fleet"),
            &format!("p-{number:04}"),
            placement(&mut dice, number, cel),
        );
    }
    objects
}

fn read(objects: &[Value]) -> Inventory<'_> {
    let objects = objects.iter().enumerate();
    let (inventory, invalid) = Inventory::read(objects.map(|(id, value)| Object::new(ObjectId(id), value)));
    assert!(invalid.is_empty(), "{invalid:?}");
    inventory
}

/// The most memory that the process has had, in MiB; Linux only.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kibibytes.unwrap_or_default() / 1024.0
}

fn best(runs: usize, mut work: impl FnMut() -> usize) -> (f64, usize) {
    let mut best = f64::INFINITY;
    let mut result = 0;
    for _ in 0..runs {
        let start = Instant::now();
        result = work();
        best = best.min(start.elapsed().as_secs_f64() * 1000.0);
    }
    (best, result)
}

/// One line of the table.
fn measure(inventory: &Inventory<'_>, mode: Mode, detail: Detail, name: &str) {
    let input = Input {
        inventory,
        now: Some("2026-06-01T00:10:00Z".parse().expect("a time")),
        mode,
        options: Options::default(),
    };
    let (time, decisions) = best(3, || evaluate(&input, detail).decision_count());
    let (clusters, placements) = (inventory.cluster_names().count(), inventory.placements().count());
    println!(
        "{clusters:>8} {placements:>10} {name:>15} {time:>9.1} ms {decisions:>10} {:>5.0} MiB",
        peak()
    );
}

fn main() {
    println!("clusters placements            what         time  decisions      peak");
    for (clusters, placements) in [(1_000, 100), (1_000, 1_000), (10_000, 100), (10_000, 1_000)] {
        let objects = fleet(clusters, placements, false);
        let (views, _) = best(3, || read(&objects).cluster_names().count());
        let inventory = read(&objects);
        println!(
            "{clusters:>8} {placements:>10} {:>15} {views:>9.1} ms {:>10} {:>5.0} MiB",
            "views",
            "",
            peak()
        );
        for mode in [Mode::Snapshot, Mode::Sequential, Mode::Fixpoint] {
            measure(&inventory, mode, Detail::Decisions, mode.into());
        }
        let input = Input {
            inventory: &inventory,
            now: None,
            mode: Mode::Fixpoint,
            options: Options::default(),
        };
        let evaluation = evaluate(&input, Detail::Decisions);
        let (time, unsettled) = best(3, || evaluation.unsettled().len());
        println!(
            "{clusters:>8} {placements:>10} {:>15} {time:>9.1} ms {unsettled:>10} {:>5.0} MiB",
            "other orders",
            peak()
        );
    }
    let objects = fleet(10_000, 100, true);
    let inventory = read(&objects);
    measure(&inventory, Mode::Sequential, Detail::Decisions, "ten of CEL");
    measure(&inventory, Mode::Sequential, Detail::Full, "CEL, full");
}
