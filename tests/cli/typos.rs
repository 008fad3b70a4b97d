//! One typo is one finding: whatever is misspelled, exactly one error or warning says so, at its line, and nothing that
//! follows from it is reported beside it.
//!
//! The hubs are `examples/fleet` and what `init` writes, which have no findings of their own.

use std::path::Path;

use serde_json::Value;

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
