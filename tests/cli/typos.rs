//! One typo is one finding: whatever is misspelled, exactly one error or warning says so, at its line, and nothing that
//! follows from it is reported beside it.
//!
//! The hubs are `examples/fleet` and what `init` writes, which have no findings of their own. The tables name typos with
//! their lines. The property makes one typo in the keys and the plain words of both hubs in turn (in every third of them,
//! and in all with `SPOKEWRIGHT_TYPOS=all`): none may give two
//! findings, and none may give no finding unless [`FREE`] says why.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use kube_json::Value;

use crate::scratch::{Scratch, copy};

/// A file below a hub, a text in it, and the text with a typo, in one line.
type Typo = (&'static str, &'static str, &'static str);

#[rustfmt::skip] // one typo a line
const IN_FLEET: &[Typo] = &[
    // Keys and values of the configuration.
    ("spokewright.yaml", "apiVersion: spokewright", "apiVesion: spokewright"),
    ("spokewright.yaml", "spokewright.dev", "spokewright.ev"),
    ("spokewright.yaml", "kind: RenderConfig", "kid: RenderConfig"),
    ("spokewright.yaml", "secrets: Omit", "secrts: Omit"),
    ("spokewright.yaml", "secrets: Omit", "secrets: Omt"),
    ("spokewright.yaml", "spokes: spokes", "spokes: spoks"),
    // The class and its parameters.
    ("hub/shop/gateway.yaml", "gatewayClassName: multicluster", "gatewayClassName: multicuster"),
    ("hub/payments/gateway.yaml", "gatewayClassName: multicluster", "gatewayClassName: multicuster"),
    ("hub/platform/gatewayclass.yaml", "kind: GatewayClass", "kid: GatewayClass"),
    ("hub/platform/gatewayclass.yaml", "name: multicluster", "nae: multicluster"),
    ("hub/platform/gatewayclass.yaml", "kind: ConfigMap", "kind: ConfgMap"),
    ("hub/platform/gatewayclass.yaml", "name: gateway-params", "name: gateway-parms"),
    ("hub/platform/gatewayclass.yaml", "namespace: platform", "namespace: platfrm"),
    ("hub/platform/gateway-params.yaml", "name: gateway-params", "nme: gateway-params"),
    ("hub/platform/gateway-params.yaml", "namespace: platform", "namespce: platform"),
    ("hub/platform/gateway-params.yaml", "\"downstreamClass\"", "\"downstreamClas\""),
    ("hub/platform/gateway-params.yaml", "{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"authpolicies\"}", "{\"grup\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"authpolicies\"}"),
    ("hub/platform/gateway-params.yaml", "\"authpolicies\"", "\"authpolices\""),
    ("hub/platform/gateway-params.yaml", "\"path\"", "\"pth\""),
    // Placement.
    ("hub/shop/gateway.yaml", "placement: everywhere", "placement: evrywhere"),
    ("hub/shop/gateway.yaml", "io/placement: everywhere", "io/placment: everywhere"),
    ("hub/shop/placement.yaml", "clusterSets: [edge]", "clusterSets: [ede]"),
    ("hub/shop/placement.yaml", "kind: Placement\n", "kind: Placment\n"),
    ("hub/clusters/clusters.yaml", "io/clusterset: edge", "io/clusterset: ede"),
    ("hub/clusters/clusters.yaml", "kind: ManagedCluster", "kind: ManagedCuster"),
    ("hub/clusters/clusters.yaml", "kind: ManagedCluster", "kid: ManagedCluster"),
    ("hub/clusters/clusters.yaml", "name: eu-1", "nme: eu-1"),
    ("hub/clusters/clusterset.yaml", "kind: ManagedClusterSet\n", "kind: ManagedClusterSt\n"),
    ("hub/clusters/clusterset.yaml", "clusterSet: edge", "clusterSet: ede"),
    ("hub/payments/placement.yaml", "clusterName: eu-2", "clusterName: eu2"),
    ("hub/payments/placement.yaml", "status:", "staus:"),
    ("hub/payments/placement.yaml", "decisions:", "decisons:"),
    // Targets of policies.
    ("hub/shop/limits.yaml", "group: gateway.networking", "group: gateway.netwrking"),
    ("hub/shop/limits.yaml", "group: gateway", "grup: gateway"),
    ("hub/shop/limits.yaml", "kind: Gateway", "kind: Gatway"),
    ("hub/shop/limits.yaml", "name: storefront", "name: storeront"),
    ("hub/shop/limits.yaml", "sectionName: api", "sectionName: apj"),
    ("hub/shop/limits.yaml", "sectionName: api", "sectinName: api"),
    ("hub/shop/limits.yaml", "namespace: shop", "namespace: shp"),
    ("hub/shop/authentication.yaml", "namespace: shop", "namspace: shop"),
    ("hub/shop/certificates.yaml", "namespace: shop", "namespace: shp"),
    ("hub/shop/certificates.yaml", "kind: TLSPolicy", "kid: TLSPolicy"),
    ("hub/shop/certificates.yaml", "kind: ClusterIssuer", "kind: ClusteIssuer"),
    ("hub/shop/certificates.yaml", "kind: ClusterIssuer", "kid: ClusterIssuer"),
    ("hub/shop/certificates.yaml", "name: letsencrypt", "name: letsencript"),
    ("spokes/eu-1/limits.yaml", "targetRef:", "targeRef:"),
    ("hub/platform/access-log.yaml", "name: storefront", "name: storeront"),
    ("hub/platform/access-log.yaml", "namespace: shop", "namespace: shp"),
    ("hub/platform/access-log.yaml", "    namespace: shop", "    namepace: shop"),
    // Gateways and routes.
    ("hub/payments/gateway.yaml", "kind: Gateway", "kid: Gateway"),
    ("hub/payments/gateway.yaml", "name: payments", "nme: payments"),
    ("hub/payments/gateway.yaml", "namespace: payments", "namespce: payments"),
    ("hub/payments/gateway.yaml", "labels:", "labls:"),
    ("hub/payments/gateway.yaml", "spec:", "spc:"),
    ("hub/shop/routes.yaml", "- name: storefront", "- name: storeront"),
    ("hub/shop/routes.yaml", "namespace: shop", "namespace: shp"),
    ("hub/shop/routes.yaml", "sectionName: web", "sectionName: wb"),
];

#[rustfmt::skip] // one typo a line
const IN_START: &[Typo] = &[
    // The policy of eu-1 names it as well, by its namespace there.
    ("hub/gateway.yaml", "  name: web", "  name: wb"),
    // The policy on the route is then on no path.
    ("hub/gateway.yaml", "namespace: shop", "namespace: shp"),
    ("hub/placement.yaml", "clusterSets: [edge]", "clustrSets: [edge]"),
    ("hub/gateway.yaml", "gatewayClassName: multicluster", "gatewayClassName: multicuster"),
    ("hub/gateway.yaml", "placement: everywhere", "placement: evrywhere"),
    ("hub/gateway.yaml", "io/placement: everywhere", "io/placment: everywhere"),
    ("hub/gateway.yaml", "from: Selector", "from: Seletor"),
    ("hub/placement.yaml", "clusterSets: [edge]", "clusterSets: [ede]"),
    ("hub/clusters.yaml", "io/clusterset: edge", "io/clusterset: ede"),
    ("hub/clusters.yaml", "selectorType: Ex", "selectrType: Ex"),
    ("hub/clusters.yaml", "selectorType: ExclusiveCluster", "selectorType: ExclusiveCluter"),
    ("hub/clusters.yaml", "clusterSet: edge", "clusterSet: ede"),
    ("hub/clusters.yaml", "clusterSet: edge", "clustrSet: edge"),
    ("hub/class.yaml", "  name: gateway-params\n  namespace", "   name: gateway-params\n  namespace"),
    ("hub/route.yaml", "- name: web", "- name: wb"),
    ("hub/route.yaml", "name: shop\n      port", "name: shp\n      port"),
    ("hub/policies.yaml", "---\n", ""),
];

fn fleet() -> Scratch {
    let scratch = Scratch::new();
    let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet");
    for directory in ["hub", "spokes"] {
        copy(&fleet.join(directory), &scratch.path(directory));
    }
    std::fs::copy(fleet.join("spokewright.yaml"), scratch.path("spokewright.yaml")).unwrap();
    scratch
}

fn start() -> Scratch {
    let scratch = Scratch::new();
    scratch.run(&["init", "."]).exits(0);
    scratch
}

/// Each typo takes a process; every run tries one in so many.
const ONE_IN: usize = 3;

/// What is reported, a line each; empty if it is one finding at the line of the typo.
fn wrong(hub: impl Fn() -> Scratch, (file, from, to): Typo) -> String {
    let scratch = hub();
    let before = scratch.read(file);
    let at = before
        .find(from)
        .unwrap_or_else(|| panic!("{from:?} is not in {file}"));
    // The first character that differs; a line that is missing is found where the next object begins.
    let same = from
        .bytes()
        .zip(to.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    scratch.edit(file, from, to);
    let text = scratch.read(file);
    let line = text[..at + same].matches('\n').count() as u64 + 1;
    let run = scratch.run(&["check", "--message-format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    // A mapping that is indented wrongly is noticed at its next line.
    let is_near = |found: &Value| {
        let found = found.as_u64().unwrap_or_default();
        found == line
            || (to.contains('\n') && found == line + 1)
            || (to.is_empty() && found <= line + 2 && found >= line)
    };
    if let [one] = findings.as_slice()
        && one["path"]
            .as_str()
            .is_some_and(|path| path.trim_start_matches("./") == file)
        && is_near(&one["line"])
    {
        return String::new();
    }
    let mut told = format!("{file}:{line}: {from:?} -> {to:?}\n");
    for finding in findings {
        let (code, path, line) = (&finding["code"], &finding["path"], &finding["line"]);
        told += &format!("    {code} {path}:{line} {}\n", finding["message"]);
    }
    told
}

/// Words that may be anything, so that no typo in them can be found: a file (or its end, or a part of its path), a text
/// of the line that the word is in, and the words. An empty text or list means all.
type Free = (&'static str, &'static str, &'static [&'static str], &'static str);

#[rustfmt::skip] // one reason a line
const FREE: &[Free] = &[
    ("spokes/", "", &[], "what lives on a cluster was accepted there: only its names and labels count here"),
    ("00-namespaces.yaml", "name: ", &[], "an input need not have every Namespace, and a Namespace need not have objects"),
    ("", "acme.example/team", &[], "labels and selectors are the author's own"),
    ("", "region: ", &["region"], "labels are the author's own; a decision may be older than they are"),
    ("", "kuadrant.io/lb-attribute-geo-code", &[], "a label for another program"),
    ("", "hostname: ", &[], "any hostname may be meant"),
    ("", "hostnames: ", &[], "any hostname may be meant"),
    ("", "issuerUrl: ", &[], "any address may be meant"),
    ("", "predicate: ", &[], "an expression of CEL, which another program evaluates"),
    ("", "expression: ", &[], "an expression of CEL, which another program evaluates"),
    ("", "omitHeaders: ", &[], "any header may be meant"),
    ("", "prefix: ", &[], "any text may be meant"),
    ("", "value: ", &[], "any path may be meant"),
    ("", "sampledPercent", &[], "a status field, which the schema of the CRD names, and nothing in the hub reads"),
    ("", "\"downstreamClass\"", &["istio"], "the class is on the clusters"),
    ("class.yaml", "\"downstreamClass\"", &["istio"], "the class is on the clusters"),
    ("certificates.yaml", "group: cert-manager.io", &["cert-manager.io"], "external issuers have groups of their own"),
    ("gateway.yaml", "- name: ", &["https", "http", "payments-tls", "storefront-web-tls", "storefront-api-tls"],
        "no section is named, or the TLSPolicy creates a Secret of any name"),
    // Nothing refers to them.
    ("", "  name: ", &["tokens", "certificates", "ceiling", "transfers", "access-log", "api-keys", "per-client",
        "api-burst", "eu-2-sale", "web", "catalogue", "platform-access-log", "signed-in", "per-route", "shop",
        "europe-decision-1", "everywhere-decision-1"], "nothing refers to the name"),
    ("", ":", &["company", "scope", "per-caller", "per-client", "api-key", "writes", "reads", "token", "all"],
        "the author names the rule"),
    ("routes.yaml", "- name: ", &["transfers", "web", "catalogue", "orders"], "the input has no Services"),
    ("route.yaml", "- name: ", &["shop"], "nothing refers to the rule"),
    ("accesslogpolicy-crd.yaml", "pattern: ", &["a-z0-9-"], "any pattern may be meant"),
    ("accesslogpolicy-crd.yaml", "Kind: ", &["AccessLogPolicyList"], "nothing refers to the kind of lists"),
    ("accesslogpolicy-crd.yaml", "singular: ", &["accesslogpolicy"], "nothing refers to the singular"),
    ("accesslogpolicy-crd.yaml", "shortNames: ", &["alp"], "nothing refers to short names"),
    ("accesslogpolicy-crd.yaml", "", &["sectionName", "Text", "type", "status", "reason", "message",
        "observedGeneration", "lastTransitionTime", "True", "False", "Unknown", "int64", "date-time"],
        "the definition names what no object of the hub has"),
    ("spokewright.yaml", "output: ", &["rendered"], "any directory may be meant"),
];

/// Words whose typo is a mistake in other places: several findings.
const SEVERAL: &[Free] = &[(
    "accesslogpolicy-crd.yaml",
    "- name: ",
    &["v1alpha1"],
    "any version may be meant: each object and each parameter of another one is wrong",
)];

/// A word of a file: its line, from 0, and its range in the line.
#[derive(Debug)]
struct Word {
    line: usize,
    range: std::ops::Range<usize>,
}

/// The first occurrence of each key and each word of a text, without comments and prose.
fn words(text: &str) -> Vec<Word> {
    let mut seen = std::collections::BTreeSet::new();
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let body = line.split(" #").next().unwrap_or_default();
        if line.trim_start().starts_with('#') || body.contains("description: ") {
            continue;
        }
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "_./-".contains(letter);
        let mut start = 0;
        while let Some(begin) = body[start..].find(is_of_word).map(|at| start + at) {
            let end = body[begin..]
                .find(|letter| !is_of_word(letter))
                .map_or(body.len(), |at| begin + at);
            start = end;
            let word = &body[begin..end];
            let is_name = word.starts_with(|letter: char| letter.is_ascii_alphabetic());
            let key = line.split(':').next().unwrap_or_default().to_owned();
            if is_name && word.len() >= 3 && seen.insert((word.to_owned(), key)) {
                words.push(Word {
                    line: number,
                    range: begin..end,
                });
            }
        }
    }
    words
}

/// The text without a letter in the middle of the word: a letter that differs from its neighbors.
fn with_typo(text: &str, word: &Word) -> Option<String> {
    let start = text
        .split_inclusive('\n')
        .take(word.line)
        .map(str::len)
        .sum::<usize>();
    let bytes = text[start..][word.range.clone()].as_bytes();
    let middle = bytes.len() / 2;
    let at = (middle..bytes.len()).chain(1..middle).find(|at| {
        let letter = bytes[*at];
        letter.is_ascii_alphanumeric() && bytes[at - 1] != letter && bytes.get(at + 1) != Some(&letter)
    })?;
    let at = start + word.range.start + at;
    Some(format!("{}{}", &text[..at], &text[at + 1..]))
}

fn is_any_of(all: &[Free], (file, line, word): (&str, &str, &str)) -> bool {
    all.iter().any(|(of, text, words, _)| {
        file.contains(of) && line.contains(text) && (words.is_empty() || words.contains(&word))
    })
}

/// What is wrong with a hub after a typo, a line each.
fn findings(scratch: &Scratch) -> Vec<String> {
    let run = scratch.run(&["check", "--message-format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let findings = report["findings"].as_array().expect("findings").iter();
    findings
        .map(|finding| {
            format!(
                "{} {}:{} {}",
                finding["code"], finding["path"], finding["line"], finding["message"]
            )
        })
        .collect()
}

/// Makes each typo of a hub in turn, on all processors, and returns what is not one finding.
fn not_one_finding(hub: impl Fn() -> Scratch + Sync) -> String {
    let files: Vec<(String, String)> = hub().tree("");
    let step = if std::env::var_os("SPOKEWRIGHT_TYPOS").is_some() {
        1
    } else {
        ONE_IN
    };
    let typos: Vec<(&str, &str, Word)> = files
        .iter()
        // What lives on one cluster is like what lives on the others.
        .filter(|(file, _)| {
            Path::new(file).extension().is_some_and(|end| end == "yaml")
                && (!file.starts_with("spokes/") || file.contains("eu-1"))
        })
        .flat_map(|(file, text)| {
            words(text)
                .into_iter()
                .map(move |word| (file.as_str(), text.as_str(), word))
        })
        .step_by(step)
        .collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let scratch = hub();
                while let Some((file, text, word)) = typos.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(changed) = with_typo(text, word) else {
                        continue;
                    };
                    let line = text.lines().nth(word.line).unwrap_or_default();
                    let name = &line[word.range.clone()];
                    scratch.write(file, &changed);
                    let found = findings(&scratch);
                    scratch.write(file, text);
                    let excepted = match found.len() {
                        0 => FREE,
                        1 => continue,
                        _ => SEVERAL,
                    };
                    if is_any_of(excepted, (file, line, name)) {
                        continue;
                    }
                    let told = format!(
                        "{file}:{}: {name} in {line:?}\n    {}\n",
                        word.line + 1,
                        found.join("\n    ")
                    );
                    wrong.lock().expect("no panic").push(told);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic");
    wrong.sort();
    wrong.concat()
}

#[test]
fn a_typo_in_any_word_of_the_example_gives_one_finding() {
    let wrong = not_one_finding(fleet);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_typo_in_any_word_of_a_hub_that_init_wrote_gives_one_finding() {
    let wrong = not_one_finding(start);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_typo_in_the_example_gives_one_finding_at_its_line() {
    let wrong: String = IN_FLEET.iter().map(|typo| wrong(fleet, *typo)).collect();
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_typo_in_a_hub_that_init_wrote_gives_one_finding_at_its_line() {
    let wrong: String = IN_START.iter().map(|typo| wrong(start, *typo)).collect();
    assert!(wrong.is_empty(), "{wrong}");
}

/// Each takes something off every cluster: a file, a text in it, the text with the typo, and the code of the error.
const TAKING_AWAY: &[(&str, &str, &str, &str)] = &[
    (
        "policies.yaml",
        "kind: HTTPRoute\n    name: shop",
        "kind: HTTPRoute\n    name: shpo",
        "policy/target-not-found",
    ),
    (
        "policies.yaml",
        "kind: HTTPRoute\n    name: shop",
        "kind: HTTPRoute\n    name: nowhere",
        "policy/target-not-found",
    ),
    (
        "policies.yaml",
        "kind: HTTPRoute\n    name: shop",
        "kind: HTTPRoute\n    name: shop\n    sectionName: shopp",
        "policy/target-not-found",
    ),
    (
        "policies.yaml",
        "name: per-route\n  namespace: shop",
        "name: per-route\n  namespace: shopp",
        "policy/target-not-found",
    ),
    (
        "route.yaml",
        "- name: web",
        "- name: webb",
        "route/parent-not-found",
    ),
    (
        "route.yaml",
        "- name: web",
        "- name: web\n    namespace: shopp",
        "route/parent-not-found",
    ),
    (
        "route.yaml",
        "- name: web",
        "- name: web\n    kind: Gatewayy",
        "route/parent-not-found",
    ),
    (
        "route.yaml",
        "- name: web",
        "- name: web\n    sectionName: nowhere",
        "route/parent-not-found",
    ),
    (
        "route.yaml",
        "- name: web",
        "- name: web\n    port: 8080",
        "route/not-attached",
    ),
    (
        "gateway.yaml",
        "gatewayClassName: multicluster",
        "gatewayClassName: multi",
        "gateway/class-not-found",
    ),
    (
        "gateway.yaml",
        "io/placement: ev",
        "io/placemen: ev",
        "gateway/not-placed",
    ),
    (
        "class.yaml",
        "kuadrant.io/mgc-gw-controller",
        "kuadrant.io/mgc-gw-controler",
        "gateway/class-not-ours",
    ),
];

#[test]
fn a_typo_that_takes_something_off_a_cluster_is_an_error_unless_the_configuration_accepts_it() {
    for (file, from, to, code) in TAKING_AWAY {
        let scratch = start();
        scratch.edit(&format!("hub/{file}"), from, to);
        let run = scratch.run(&["render"]);
        run.exits(3).says(&format!("error[{code}]"));
        let config = scratch.read("spokewright.yaml");
        // Whatever else is wrong without the object is another matter.
        let accepted = |severity: &str| {
            let findings = format!("findings: {{{code}: {severity}}}\n");
            scratch.write("spokewright.yaml", &format!("{config}{findings}"));
            scratch.run(&["render", "--allow-empty"])
        };
        accepted("warning").says(&format!("warning[{code}]"));
        accepted("off")
            .says(" suppressed")
            .does_not_say(&format!("[{code}]"));
    }
}
