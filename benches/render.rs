//! A whole fleet: reading, rendering, the first write, an unchanged run, peak memory, and what `diff` takes for one line
//! of a policy.
//!
//! `cargo bench --bench render [-- CLUSTERS GATEWAYS POLICIES]`, by default 100 x 20 x 5. Everything is in the page
//! cache, so the figures compare work, not disks. `cp -r` of the rendered tree stands beside them.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use spokewright::diagnostic::Findings;
use spokewright::output::{self, Options};
use spokewright::pipeline::{Analysis, EmptyResult, Request, load};
use spokewright::render::{Layout, Selection};
use spokewright::report::diff::{
    BothSides, DEFAULT_BUDGET, DiffReport, EffectiveSettings, Side, Titles, compare, markdown,
};
use spokewright::source::Sources;

const KINDS: [(&str, &str, &str, &str); 5] = [
    ("kuadrant.io", "v1", "AuthPolicy", "authpolicies"),
    ("kuadrant.io", "v1", "RateLimitPolicy", "ratelimitpolicies"),
    (
        "kuadrant.io",
        "v1alpha1",
        "TokenRateLimitPolicy",
        "tokenratelimitpolicies",
    ),
    ("kuadrant.io", "v1", "DNSPolicy", "dnspolicies"),
    ("kuadrant.io", "v1", "TLSPolicy", "tlspolicies"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let [clusters, gateways, policies] = match numbers.as_slice() {
        [clusters, gateways, policies, ..] => [*clusters, *gateways, *policies],
        _ => [100, 20, 5],
    };
    let scratch = tempfile::tempdir()?;
    let hub = scratch.path().join("hub");
    let bytes = write_hub(&hub, clusters, gateways, policies)?;
    println!(
        "{clusters} clusters x {gateways} Gateways x {policies} policies, input {} kB",
        bytes / 1000
    );

    let request = Request {
        paths: vec![hub.clone()],
        ..Request::default()
    };
    let (loaded, reading) = timed(|| load(&request));
    let mut findings = Findings::new();
    let (rendered, rendering) =
        timed(|| Analysis::new(&loaded, &mut findings).render(EmptyResult::Refused, &mut findings));
    loaded.finish(&mut findings);
    if findings.has_errors() {
        return Err(format!("{findings:?}").into());
    }
    row("read", reading);
    row(&format!("render {} works", rendered.plan.work_count()), rendering);

    let root = scratch.path().join("rendered");
    let layout = Layout::new(
        &rendered.plan,
        rendered.all_clusters.clone(),
        Selection::default(),
    );
    let (summary, first) = timed(|| output::write(&root, &layout, Options::default()));
    row(&format!("first write of {} files", summary?.written), first);
    let (summary, again) = timed(|| output::write(&root, &layout, Options::default()));
    row(&format!("unchanged run of {} files", summary?.unchanged), again);
    row("all of a first run", reading + rendering + first);
    println!("{:32} {:>9}", "peak memory", peak_memory());

    let changed = scratch.path().join("changed");
    change_one_line(&hub, &changed)?;
    let changed = Request {
        paths: vec![changed],
        ..Request::default()
    };
    let one_side = reading + rendering;
    for (base, tree) in [("input", None), ("rendered tree", Some(root.as_path()))] {
        let (markdown, time) = timed(|| difference(&changed, &request, tree));
        row(&format!("diff with another {base}"), time);
        row("  beyond rendering one side", time.saturating_sub(one_side));
        println!("{:32} {:>6} bytes", "  as Markdown", markdown?.len());
    }
    println!("{:32} {:>9}", "peak memory with diff", peak_memory());

    let copied = scratch.path().join("copied");
    let (status, copy) = timed(|| Command::new("cp").arg("-r").arg(&root).arg(&copied).status());
    if status.is_ok_and(|status| status.success()) {
        row("cp -r of the same tree", copy);
        println!(
            "{:32} {:>9.2}",
            "first write / cp -r",
            first.as_secs_f64() / copy.as_secs_f64()
        );
    }
    // One directory: kustomize is quadratic in what it aggregates, and Flux takes one cluster at a time as well.
    let cluster = root.join("cluster-00000");
    let (output, kustomize) = timed(|| Command::new("kubectl").arg("kustomize").arg(&cluster).output());
    if output.is_ok_and(|output| output.status.success()) {
        row("kubectl kustomize of one cluster", kustomize);
    }
    Ok(())
}

/// Writes the fleet's hub and returns its size in bytes.
fn write_hub(hub: &Path, clusters: usize, gateways: usize, policies: usize) -> Result<usize, Box<dyn Error>> {
    fs::create_dir_all(hub)?;
    let kinds: Vec<_> = KINDS.iter().cycle().take(policies).collect();
    let resources: Vec<String> = KINDS
        .iter()
        .take(policies)
        .map(|(group, version, _, plural)| {
            format!("{{\"group\": \"{group}\", \"version\": \"{version}\", \"resource\": \"{plural}\"}}")
        })
        .collect();
    let mut bytes = 0;
    let mut write = |name: &str, text: String| {
        bytes += text.len();
        fs::write(hub.join(name), text)
    };
    write(
        "class.yaml",
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: fleet}}\nspec:\n  \
             controllerName: kuadrant.io/mgc-gw-controller\n  parametersRef: {{group: \"\", kind: ConfigMap, \
             namespace: infra, name: params}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: params, \
             namespace: infra}}\ndata:\n  params: |\n    {{\"policiesToSync\": [{}]}}\n",
            resources.join(", ")
        ),
    )?;
    let mut decisions = String::from(
        "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\nmetadata:\n  name: \
         all-decision-1\n  namespace: infra\n  labels: {cluster.open-cluster-management.io/placement: all}\n\
         status:\n  decisions:\n",
    );
    for cluster in 0..clusters {
        writeln!(
            decisions,
            "  - {{clusterName: cluster-{cluster:05}, reason: \"\"}}"
        )?;
    }
    write("decisions.yaml", decisions)?;
    for gateway in 0..gateways {
        let mut text = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: gw-{gateway}\n  namespace: \
             infra\n  labels: {{cluster.open-cluster-management.io/placement: all}}\nspec:\n  gatewayClassName: \
             fleet\n  listeners:\n"
        );
        for listener in ["web", "api", "admin", "grpc"] {
            writeln!(
                text,
                "  - name: {listener}\n    hostname: \"*.{listener}-{gateway}.example.com\"\n    port: 80\n    \
                 protocol: HTTP\n    allowedRoutes: {{namespaces: {{from: All}}}}"
            )?;
        }
        for (index, (group, version, kind, _)) in kinds.iter().enumerate() {
            let section = ["web", "api", "admin", "grpc"].get(index / KINDS.len()).copied();
            let section = section.filter(|_| index >= KINDS.len());
            let section = section
                .map(|name| format!(", sectionName: {name}"))
                .unwrap_or_default();
            writeln!(
                text,
                "---\napiVersion: {group}/{version}\nkind: {kind}\nmetadata: {{name: p{index}-{gateway}, namespace: \
                 infra}}\nspec:\n  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: \
                 gw-{gateway}{section}}}\n{}",
                settings(kind)
            )?;
        }
        write(&format!("gateway-{gateway}.yaml"), text)?;
    }
    Ok(bytes)
}

/// What a policy of a kind says besides its target.
fn settings(kind: &str) -> &'static str {
    match kind {
        "AuthPolicy" => {
            "  defaults:\n    rules:\n      authentication:\n        per-client: {anonymous: {}}\n        per-host: {anonymous: {}}"
        }
        "DNSPolicy" => "  providerRefs: [{name: aws}]",
        "TLSPolicy" => "  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: le}",
        _ => {
            "  defaults:\n    limits:\n      per-client: {rates: [{limit: 100, window: 10s}]}\n      per-host: {rates: \
             [{limit: 1000, window: 1m}]}"
        }
    }
}

/// The same hub with one line of one policy changed.
fn change_one_line(hub: &Path, changed: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(changed)?;
    for entry in fs::read_dir(hub)? {
        let entry = entry?;
        let text = fs::read_to_string(entry.path())?;
        let text = if entry.file_name() == "gateway-0.yaml" {
            text.replacen("limit: 100,", "limit: 200,", 1)
        } else {
            text
        };
        fs::write(changed.join(entry.file_name()), text)?;
    }
    Ok(())
}

/// What `diff --format markdown` does: against an input, or a rendered tree.
fn difference(new: &Request, base: &Request, tree: Option<&Path>) -> Result<String, Box<dyn Error>> {
    let evaluate = |request: &Request| {
        let loaded = load(request);
        let mut findings = Findings::new();
        let analysis = Analysis::new(&loaded, &mut findings);
        let (received, spokes) = analysis.received(None);
        let (rendered, view) = analysis.results(received, &spokes, EmptyResult::Allowed, &mut findings);
        let effective = EffectiveSettings::new(&view, |_| true).unwrap_or_default();
        drop(view);
        drop(spokes);
        drop(analysis);
        (loaded, rendered, effective)
    };
    let report =
        |sides: [&Side<'_>; 2], effective, locate: &BothSides<'_>| -> Result<String, Box<dyn Error>> {
            let titles = Titles {
                old: "base".to_owned(),
                new: "work tree".to_owned(),
                command: "spokewright diff".to_owned(),
                fleet: None,
            };
            let report = DiffReport {
                titles,
                effective_changes: effective,
                ..DiffReport::default()
            };
            let report = report.with(compare(sides[0], sides[1])?, locate);
            Ok(markdown(&report, DEFAULT_BUDGET))
        };
    if let Some(tree) = tree {
        let (loaded, rendered, _) = evaluate(new);
        let side = Side::of_plan(&rendered.plan);
        let files = output::read_tree(tree, None, |path, bytes| side.expects(path, bytes))?;
        let old = Side::of_tree(&files, &side);
        let nothing = Sources::default();
        let locate: BothSides<'_> = [&nothing, &loaded.sources];
        return report([&old, &side], Vec::new(), &locate);
    }
    let (new, old) = rayon::join(|| evaluate(new), || evaluate(base));
    report(
        [&Side::of_plan(&old.1.plan), &Side::of_plan(&new.1.plan)],
        EffectiveSettings::changes(&old.2, &new.2),
        &[&old.0.sources, &new.0.sources],
    )
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn row(what: &str, time: Duration) {
    println!("{what:32} {:>6.0} ms", time.as_secs_f64() * 1000.0);
}

/// The highest resident set so far, where the kernel tells.
fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |kilobytes| kilobytes.trim().to_owned())
}
