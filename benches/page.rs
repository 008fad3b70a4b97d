//! Pages of fleets of three sizes, compared with a base: time, memory, and bytes.
//!
//! `cargo bench --bench page [-- GATEWAYS CLUSTERS ROUTES] [--write DIR]`; with `--write` the hubs and the pages stay, to be
//! opened in a browser: `tests/page/run DIR/PAGE.html`.

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
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Gateways, clusters, routes.
const SIZES: [[usize; 3]; 3] = [[2, 3, 3], [30, 50, 300], [100, 1_000, 5_000]];

const REGIONS: [&str; 4] = ["eu", "us", "ap", "sa"];
const TEAMS: [&str; 8] = [
    "catalogue",
    "identity",
    "media",
    "orders",
    "payments",
    "search",
    "shop",
    "support",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let sizes = match numbers.as_slice() {
        [gateways, clusters, routes] => vec![[*gateways, *clusters, *routes]],
        _ => SIZES.to_vec(),
    };
    let kept = arguments.iter().position(|argument| argument == "--write");
    let kept = kept
        .and_then(|position| arguments.get(position + 1))
        .map(PathBuf::from);
    let scratch = tempfile::tempdir()?;
    let root = kept.as_deref().unwrap_or(scratch.path());
    println!("Gateways, clusters, routes, policies    time      memory    page      ");
    for [gateways, clusters, routes] in sizes {
        let name = format!("{gateways}-{clusters}-{routes}");
        let (hub, base) = (root.join(&name).join("hub"), root.join(&name).join("base"));
        let policies = write_hub(&hub, [gateways, clusters, routes], false)?;
        write_hub(&base, [gateways, clusters, routes], true)?;
        let page = root.join(format!("{name}.html"));
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_spokewright"));
        let command = command.arg("page").arg(&hub).arg("--base-dir").arg(&base);
        let child = command
            .args(["--title", "acme/hub", "-q", "-o"])
            .arg(&page)
            .stderr(Stdio::null())
            .spawn()?;
        let memory = peak(child)?;
        println!(
            "{:<38} {:>6.2} s {memory:>8} MB {:>8} kB",
            format!("{gateways}, {clusters}, {routes}, {policies}"),
            start.elapsed().as_secs_f64(),
            fs::metadata(&page)?.len() / 1000
        );
    }
    Ok(())
}

/// Waits for a process, and says how much memory it had at most, where the system tells.
fn peak(mut child: Child) -> Result<u64, Box<dyn Error>> {
    let mut most = 0;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let bytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(bytes.unwrap_or_default() / 1024);
        sleep(Duration::from_millis(5));
    }
    Ok(most)
}

/// Writes a hub, or the one that it is compared with, and says how many policies it has.
fn write_hub(
    hub: &Path,
    [gateways, clusters, routes]: [usize; 3],
    is_base: bool,
) -> Result<usize, Box<dyn Error>> {
    let mut policies = 0;
    let write = |path: &str, text: &str| -> std::io::Result<()> {
        let path = hub.join(path);
        fs::create_dir_all(path.parent().unwrap_or(hub))?;
        fs::write(path, text)
    };
    write(
        "platform/class.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: multicluster}\nspec:\n  \
         controllerName: kuadrant.io/mgc-gw-controller\n  parametersRef: {group: \"\", kind: ConfigMap, namespace: \
         platform, name: params}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: params, namespace: platform}\ndata:\n  \
         params: |\n    {\"workPer\": \"Gateway\", \"policiesToSync\": [{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \
         \"authpolicies\"}, {\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"ratelimitpolicies\"}, \
         {\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"tlspolicies\"}], \"resourcesToSync\": \
         [{\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \"httproutes\"}]}\n",
    )?;
    let mut text = String::from(
        "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: fleet}\n",
    );
    for number in 0..clusters {
        let region = REGIONS[number % REGIONS.len()];
        let stage = if number % 10 == 9 { "staging" } else { "prod" };
        write!(
            text,
            "---\napiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata:\n  name: {region}-{}\n  \
             labels: {{cluster.open-cluster-management.io/clusterset: fleet, region: {region}, tier: {stage}}}\n",
            number / REGIONS.len() + 1
        )?;
    }
    write("clusters.yaml", &text)?;
    for team in TEAMS {
        write(
            &format!("{team}/namespace.yaml"),
            &format!(
                "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {team}}}\n---\napiVersion: \
                 cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {{name: fleet, \
                 namespace: {team}}}\nspec: {{clusterSet: fleet}}\n"
            ),
        )?;
    }
    for number in 0..gateways {
        let team = TEAMS[number % TEAMS.len()];
        let name = format!(
            "{}-{}",
            ["api", "web", "internal"][number % 3],
            number / TEAMS.len()
        );
        // The base has one Gateway elsewhere.
        let kept = number + usize::from(is_base && number == 5);
        let wanted = match kept % 6 {
            0 | 1 => String::new(),
            2 => "[{key: tier, operator: In, values: [prod]}]".to_owned(),
            3 => "[{key: tier, operator: In, values: [staging]}]".to_owned(),
            other => format!(
                "[{{key: region, operator: In, values: [{}]}}]",
                REGIONS[(kept + other) % REGIONS.len()]
            ),
        };
        let predicates = if wanted.is_empty() {
            String::new()
        } else {
            format!(
                "  predicates:\n  - requiredClusterSelector:\n      labelSelector:\n        matchExpressions: {wanted}\n"
            )
        };
        write(
            &format!("{team}/placement-{name}.yaml"),
            &format!(
                "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {{name: for-{name}, \
                 namespace: {team}}}\nspec:\n  clusterSets: [fleet]\n{predicates}"
            ),
        )?;
        let mut text = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: {name}\n  namespace: {team}\n  \
             labels:\n    cluster.open-cluster-management.io/placement: for-{name}\nspec:\n  gatewayClassName: \
             multicluster\n  listeners:\n"
        );
        for listener in ["public", "partners"] {
            write!(
                text,
                "  - name: {listener}\n    hostname: \"{listener}.{name}.{team}.acme.example\"\n    port: 443\n    protocol: \
                 HTTPS\n    tls: {{mode: Terminate, certificateRefs: [{{name: {listener}-tls}}]}}\n    allowedRoutes: \
                 {{namespaces: {{from: All}}}}\n"
            )?;
        }
        write(&format!("{team}/gateway-{name}.yaml"), &text)?;
        let mine = routes / gateways + usize::from(number < routes % gateways);
        let mut text = String::new();
        for route in 0..mine {
            write!(
                text,
                "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}-{route}, namespace: \
                 {team}}}\nspec:\n  parentRefs: [{{name: {name}, sectionName: {}}}]\n  rules:\n  - matches: [{{path: {{type: \
                 PathPrefix, value: /v{route}/items}}}}]\n    backendRefs: [{{name: items-{route}, port: 8080}}]\n",
                ["public", "partners"][route % 2]
            )?;
            if route % 3 == 0 {
                write!(
                    text,
                    "  - matches: [{{path: {{type: PathPrefix, value: /v{route}/admin}}}}]\n    backendRefs: [{{name: \
                     admin-{route}, port: 8080}}]\n"
                )?;
            }
        }
        write(&format!("{team}/routes-{name}.yaml"), &text)?;
        let mut text = String::new();
        let mut policy = |kind: &str, of: &str, target: &str, settings: &str| {
            policies += 1;
            write!(
                text,
                "---\napiVersion: kuadrant.io/v1\nkind: {kind}\nmetadata: {{name: {of}, namespace: {team}}}\nspec:\n  \
                 targetRef: {{group: gateway.networking.k8s.io, {target}}}\n{settings}"
            )
        };
        let gateway = format!("kind: Gateway, name: {name}");
        // A route lost its protection in what is compared with this.
        if number % 7 != 3 || is_base {
            policy(
                "AuthPolicy",
                &format!("{name}-keys"),
                &gateway,
                "  defaults:\n    rules:\n      authentication:\n        keys:\n          apiKey: {selector: {matchLabels: \
                 {acme.example/keys: shop}}}\n",
            )?;
        }
        let limit = if is_base && number % 4 == 0 { 200 } else { 100 };
        policy(
            "RateLimitPolicy",
            &format!("{name}-limits"),
            &gateway,
            &format!(
                "  defaults:\n    strategy: merge\n    limits:\n      per-client:\n        rates: [{{limit: {limit}, window: \
                 10s}}]\n      writes:\n        rates: [{{limit: 20, window: 1s}}]\n"
            ),
        )?;
        if number % 5 != 4 {
            policy(
                "TLSPolicy",
                &format!("{name}-certificates"),
                &gateway,
                "  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: letsencrypt}\n",
            )?;
        }
        policy(
            "RateLimitPolicy",
            &format!("{name}-partners"),
            &format!("{gateway}, sectionName: partners"),
            "  defaults:\n    strategy: merge\n    limits:\n      per-client:\n        rates: [{limit: 1000, window: 10s}]\n",
        )?;
        for route in (0..mine).step_by(mine.div_ceil(4).max(1)) {
            let target = format!("kind: HTTPRoute, name: {name}-{route}");
            let settings = if route == 0 {
                "  rules:\n    authentication:\n      everybody: {anonymous: {}}\n"
            } else {
                "  rules:\n    authentication:\n      company: {jwt: {issuerUrl: \"https://id.acme.example/realms/company\"}}\n"
            };
            policy("AuthPolicy", &format!("{name}-{route}"), &target, settings)?;
        }
        write(&format!("{team}/policies-{name}.yaml"), &text)?;
    }
    // On every fiftieth cluster somebody has a limit of their own.
    for number in (0..clusters).step_by(50) {
        let region = REGIONS[number % REGIONS.len()];
        let team = TEAMS[0];
        policies += 1;
        write(
            &format!("spokes/{region}-{}/limits.yaml", number / REGIONS.len() + 1),
            &format!(
                "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: maintenance, namespace: \
                 kuadrant-{team}}}\nspec:\n  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: api-0}}\n  \
                 limits:\n    everything:\n      rates: [{{limit: 5, window: 1s}}]\n"
            ),
        )?;
    }
    write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nspokes: spokes\n",
    )?;
    Ok(policies)
}
