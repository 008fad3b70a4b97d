//! All effective policies of a fleet: 1,000 Gateways, 20,000 routes, 10,000 policies.
//!
//! Prints the time of each stage and the memory that the process needed. `cargo bench --bench policy [-- GATEWAYS]`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use kube_json::{Value, json};
use spokewright::diagnostic::Findings;
use spokewright::pipeline::{Analysis, Request, load};

const ROUTES_PER_GATEWAY: usize = 20;
const POLICIES_PER_GATEWAY: usize = 10;

const GATEWAY_API: &str = "gateway.networking.k8s.io/v1";

fn gateway(number: usize) -> Value {
    json!({"apiVersion": GATEWAY_API, "kind": "Gateway",
        "metadata": {"name": format!("gateway-{number}"), "namespace": format!("team-{}", number / 10)},
        "spec": {"gatewayClassName": "class", "listeners": [
            {"name": "http", "port": 80, "protocol": "HTTP"},
            {"name": "https", "port": 443, "protocol": "HTTPS"}]}})
}

fn route(gateway: usize, number: usize) -> Value {
    json!({"apiVersion": GATEWAY_API, "kind": "HTTPRoute",
        "metadata": {"name": format!("route-{gateway}-{number}"), "namespace": format!("team-{}", gateway / 10)},
        "spec": {"parentRefs": [{"name": format!("gateway-{gateway}")}],
            "rules": [{"backendRefs": [{"name": format!("service-{number}"), "port": 80}]},
                      {"backendRefs": [{"name": "fallback", "port": 80}]}]}})
}

fn policy(gateway: usize, number: usize) -> Value {
    let limits = json!({format!("limit-{number}"): {"rates": [{"limit": number, "window": "10s"}]},
        "shared": {"rates": [{"limit": 1, "window": "1s"}]}});
    let (target, settings) = match number {
        0 => (
            json!({"kind": "Gateway", "name": format!("gateway-{gateway}")}),
            ("defaults", json!({"strategy": "merge", "limits": limits})),
        ),
        1 => (
            json!({"kind": "Gateway", "name": format!("gateway-{gateway}"), "sectionName": "https"}),
            ("overrides", json!({"strategy": "merge", "limits": limits})),
        ),
        _ => (
            json!({"kind": "HTTPRoute", "name": format!("route-{gateway}-{}", number * 2)}),
            ("limits", limits),
        ),
    };
    let mut target = target;
    target["group"] = json!("gateway.networking.k8s.io");
    let auth = number % 3 == 2;
    let settings = if auth {
        (
            "rules",
            json!({"authentication": {format!("key-{number}"): {"apiKey": {"allNamespaces": true}}}}),
        )
    } else {
        settings
    };
    json!({"apiVersion": "kuadrant.io/v1", "kind": if auth { "AuthPolicy" } else { "RateLimitPolicy" },
        "metadata": {"name": format!("policy-{gateway}-{number}"), "namespace": format!("team-{}", gateway / 10)},
        "spec": {"targetRef": target, settings.0: settings.1}})
}

/// The hub as one YAML file.
fn fleet(gateways: usize) -> String {
    let mut objects = vec![json!({"apiVersion": GATEWAY_API, "kind": "GatewayClass",
        "metadata": {"name": "class"}, "spec": {"controllerName": "example.com/c"}})];
    for number in 0..gateways {
        objects.push(gateway(number));
        objects.extend((0..ROUTES_PER_GATEWAY).map(|route_number| route(number, route_number)));
        objects.extend((0..POLICIES_PER_GATEWAY).map(|policy_number| policy(number, policy_number)));
    }
    let documents: Vec<String> = objects.iter().map(kube_yaml::write_document).collect();
    documents.join("---\n")
}

/// Peak and present memory of the process in MiB, where the system tells.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        number.unwrap_or_default() / 1024
    };
    (field("VmHWM:"), field("VmRSS:"))
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    let took = start.elapsed();
    println!("  {name:<38} {:>9.1} ms", took.as_secs_f64() * 1000.0);
    (value, took)
}

fn main() -> Result<(), Box<dyn Error>> {
    let gateways = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(1_000);
    let scratch = tempfile::tempdir()?;
    fs::write(scratch.path().join("hub.yaml"), fleet(gateways))?;
    let request = Request {
        paths: vec![scratch.path().to_owned()],
        ..Request::default()
    };
    let (loaded, _) = timed("reading", || load(&request));
    let (_, input) = memory();
    println!(
        "{gateways} Gateways, {} routes, {} policies (input: {input} MiB)",
        gateways * ROUTES_PER_GATEWAY,
        gateways * POLICIES_PER_GATEWAY
    );
    let mut wrong = Findings::new();
    let (analysis, first) = timed("topology and attachment", || Analysis::new(&loaded, &mut wrong));
    let ((received, spokes), between) = timed("what the clusters get", || analysis.received(None));
    let (view, second) = timed("effective policies, statuses, findings", || {
        analysis.policies(received, &spokes, &mut wrong)
    });
    let total = (first + between + second).as_secs_f64() * 1000.0;
    println!(
        "  {:<38} {total:>9.1} ms  ({} paths, {} findings)",
        "all of it",
        view.path_count(),
        wrong.iter().count()
    );
    let (peak, now) = memory();
    println!("  memory: {now} MiB now, {peak} MiB at most, {input} MiB of it the input");
    Ok(())
}
