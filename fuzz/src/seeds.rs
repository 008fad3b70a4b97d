//! What each target begins with: texts of the project's own fixtures and examples.
//!
//! Owns: which files, and how a hub is one text. Flows in: the repository. Flows out: bytes. Must not know: what a
//! target does with them.

use std::fs;
use std::path::{Path, PathBuf};

/// The line that begins a file of a hub; its path follows.
pub(crate) const FILE: &str = "==== ";

fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if here.ends_with("fuzz") {
        here.parent().unwrap_or(here)
    } else {
        here
    }
}

/// The files below a directory of the repository, by path.
fn files(directory: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![repository().join(directory)];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("a directory of the repository") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).expect("a file of the repository")).into_owned()
}

/// Each file alone.
pub(crate) fn yaml() -> Vec<Vec<u8>> {
    let observed = text(&repository().join("crates/kube-yaml/fixtures/read.ndjson"));
    let observed = observed.lines().map(|line| {
        let case: kube_json::Value = serde_json::from_str(line).expect("a case");
        case["text"].as_str().expect("a text").as_bytes().to_vec()
    });
    files("fixtures/worked-example", "yaml")
        .iter()
        .chain(&files("examples/fleet/hub", "yaml"))
        .map(|path| text(path).into_bytes())
        .chain(observed)
        .collect()
}

/// Whole hubs: the example, the worked example, and the hubs that once broke a promise.
pub(crate) fn hubs() -> Vec<Vec<u8>> {
    let mut hubs = vec![
        "examples/fleet".to_owned(),
        "fixtures/worked-example/hub".to_owned(),
    ];
    for kept in ["fixtures/promise", "fixtures/repositories"] {
        let entries = fs::read_dir(repository().join(kept)).expect("a directory of fixtures");
        hubs.extend(entries.filter_map(|entry| {
            let path = entry.expect("an entry").path();
            let relative = path.strip_prefix(repository()).expect("a path of the repository");
            path.is_dir().then(|| relative.display().to_string())
        }));
    }
    hubs.sort();
    hubs.iter()
        .map(|hub| {
            let root = repository().join(hub);
            let mut all = Vec::new();
            for path in files(hub, "yaml") {
                let relative = path.strip_prefix(&root).expect("a path below the hub");
                if !relative.starts_with("rendered") {
                    all.extend(format!("{FILE}{}\n", relative.display()).into_bytes());
                    all.extend(text(&path).into_bytes());
                }
            }
            all
        })
        .filter(|hub| hub.len() < 100_000)
        .collect()
}

pub(crate) fn config() -> Vec<Vec<u8>> {
    let more = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nexclude: ['*.txt']\nfindings: \
                {policy/target-not-found: ignore}\nplacement: {source: Evaluate}\nkinds: []\nignore: []\n";
    vec![
        text(&repository().join("examples/fleet/spokewright.yaml")).into_bytes(),
        more.into(),
    ]
}

/// The parameters of the classes of the examples.
pub(crate) fn params() -> Vec<Vec<u8>> {
    files("examples/fleet/hub", "yaml")
        .iter()
        .chain(&files("fixtures/worked-example/hub", "yaml"))
        .map(|path| text(path))
        .filter(|text| text.contains("GatewayClassParams") || text.contains("kind: ConfigMap"))
        .map(String::into_bytes)
        .collect()
}

/// Paths in every notation, values of clusters, values of every type.
pub(crate) fn overlays() -> Vec<Vec<u8>> {
    let head = "apiVersion: spokewright.dev/v1alpha1\nkind: ClusterOverlay\nmetadata: {name: a, namespace: shop}\nspec:\n";
    [
        "  clusters: {names: [eu-1]}\n  priority: 5\n  changes:\n  - target: {group: gateway.networking.k8s.io, kind: \
         HTTPRoute, name: cart}\n    set:\n    - {path: 'spec.rules[0].backendRefs[name=cart].weight', value: \
         '${cluster.labels[\"region\"]}', as: Integer, default: 7}\n    - {path: 'spec[\"hostnames\"]', value: \
         [a.example.com]}\n",
        "  clusters: {labelSelector: {matchLabels: {region: eu}}, claimSelector: {matchExpressions: [{key: x, operator: \
         Exists}]}}\n  changes:\n  - target: {group: gateway.networking.k8s.io, kind: HTTPRoute, labelSelector: \
         {matchLabels: {app: cart}}}\n    set:\n    - path: spec.rules[0].matches[0].queryParams[0].value\n      value: \
         \"${cluster.name}-${cluster.claims[\\\"x\\\"]}-$${x}\"\n    - {path: metadata.annotations, value: {\"a/b\": \
         '${cluster.annotations[\"n\"]}'}, default: {}}\n    - {path: 'spec.rules[0].name', remove: true}\n",
        "  clusters: {labelSelector: {}}\n  changes:\n  - target: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: \
         cart}\n    set:\n    - {path: spec.rules, value: []}\n    - {path: spec.parentRefs, value: []}\n",
    ]
    .map(|spec| format!("{head}{spec}").into_bytes())
    .to_vec()
}

/// A rule on the first line, the value that it judges below.
pub(crate) fn rules() -> Vec<Vec<u8>> {
    [
        "self.s.replace('a', 'aaaa').size() < 10\ns: aaa\n",
        "self.a.all(x, self.a.all(y, x.startsWith(y) || y > x))\na: [a, b]\n",
        "has(self.n) && self.n * 3 - 1 > 4 ? self.n in [1, 2] : true\nn: 2\n",
        "self.m.map(k, self.m[k] + 'x').exists_one(v, v.matches('^[a-z]+$'))\nm: {a: b}\n",
        "self.s.split(',').filter(p, p.contains('a')).join('-') == 'a'\ns: a,b\n",
        "quantity(self.s).isGreaterThan(quantity('1Gi')) && duration('1h') > duration('5m')\ns: 2Gi\n",
        "url(self.s).getHost() == 'example.com' && isURL(self.s)\ns: https://example.com/a?b\n",
    ]
    .map(Vec::from)
    .to_vec()
}

/// A pattern on the first line, the text that it judges below.
pub(crate) fn patterns() -> Vec<Vec<u8>> {
    [
        "^([a-z0-9]([-a-z0-9]*[a-z0-9])?\\.)+[a-z]{2,63}$\nexample.com",
        "^[^\\x00-\\x1f]{1,1000}$\nabc",
        "(?i)^(a|b)*?c+$\nabC",
        "\\p{Greek}\\d\\w\\s\\b[[:alpha:]]\nα1_ a",
    ]
    .map(Vec::from)
    .to_vec()
}

pub(crate) fn placements() -> Vec<Vec<u8>> {
    [
        "managedCluster.metadata.labels['region'] == 'eu'",
        "managedCluster.status.clusterClaims.exists(c, c.name == 'x' && c.value.split('.').size() > 1)",
        "semver(managedCluster.status.version.kubernetes).isGreaterThan(semver('1.28.0'))",
        "managedCluster.scores('a').filter(s, s.name == 'b').all(e, e.value > 0)",
    ]
    .map(Vec::from)
    .to_vec()
}

pub(crate) fn inventories() -> Vec<Vec<u8>> {
    vec![fs::read(repository().join("examples/fleet/rendered/.spokewright-inventory")).expect("an inventory")]
}

/// An index of two files, as Git writes it: version 2, without extensions.
pub(crate) fn indexes() -> Vec<Vec<u8>> {
    // The second was found by the fuzzer: a directory without a name that was below itself.
    [["hub/a.yaml", "spokewright.yaml"], ["//hub/a.yaml", "hub/"]]
        .map(index_of)
        .to_vec()
}

fn index_of(paths: [&str; 2]) -> Vec<u8> {
    let mut index = b"DIRC\0\0\0\x02\0\0\0\x02".to_vec();
    for path in paths {
        let start = index.len();
        index.extend([0; 24]);
        index.extend(0o100_644_u32.to_be_bytes());
        index.extend([0; 12]);
        index.extend([7; 20]);
        index.extend(u16::try_from(path.len()).unwrap_or_default().to_be_bytes());
        index.extend(path.as_bytes());
        index.push(0);
        while !(index.len() - start).is_multiple_of(8) {
            index.push(0);
        }
    }
    index.extend([0; 20]);
    index
}
