//! Files and values that look as if they counted, and do not: each is said.

use std::path::Path;

use kube_json::Value;

use crate::scratch::{Run, Scratch, copy};

/// The hub that `init` writes.
fn start() -> Scratch {
    let scratch = Scratch::new();
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/start"),
        &scratch.path(""),
    );
    scratch
}

fn local_policy(version: &str, kind: &str, target: &str, rest: &str) -> String {
    format!(
        "apiVersion: kuadrant.io/{version}\nkind: {kind}\nmetadata: {{name: local, namespace: {}}}\nspec:\n  \
         targetRef: {{group: gateway.networking.k8s.io, {target}}}\n  {rest}\n",
        if kind == "DNSPolicy" {
            "kuadrant-shop"
        } else {
            "shop"
        }
    )
}

const RULES: &str = "defaults: {rules: {authentication: {token: {jwt: {issuerUrl: https://x.example.com}}}}}";

/// `check` ends with this status and prints these texts.
#[track_caller]
fn check(scratch: &Scratch, status: i32, texts: &[&str]) -> Run {
    let run = scratch.run(&["check"]);
    run.exits(status);
    for text in texts {
        assert!(
            run.stdout.contains(text) || run.stderr.contains(text),
            "{text}\n{run:?}"
        );
    }
    run
}

#[test]
fn a_policy_in_a_directory_of_crds_is_said_and_a_crd_is_not() {
    let scratch = start();
    scratch.edit("spokewright.yaml", "output:", "crds: [crds]\noutput:");
    let policies = scratch.read("hub/policies.yaml");
    scratch
        .write("crds/policies.yaml", &policies)
        .remove("hub/policies.yaml");
    let said = [
        "warning[object/not-shipped]: AuthPolicy shop/signed-in is in a directory of `crds`",
        "warning[object/not-shipped]: RateLimitPolicy shop/per-route is in a directory of `crds`",
    ];
    check(&scratch, 0, &said);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kuadrant-system}\n";
    scratch.write("crds/policies.yaml", namespace);
    check(&scratch, 0, &[": 0 errors, 0 warnings"]);
}

#[test]
fn extensions_are_read_in_any_case() {
    for name in ["policies.YAML", "policies.Yml"] {
        let scratch = start();
        let policies = scratch.read("hub/policies.yaml").replace("issuerUrl", "isuerUrl");
        scratch
            .write(&format!("hub/{name}"), &policies)
            .remove("hub/policies.yaml");
        check(&scratch, 3, &["did you mean `issuerUrl`?"]);
    }
}

#[test]
fn a_second_configuration_beside_the_first_or_below_the_spokes_is_an_error() {
    for path in [
        "spokewright.yml",
        "spokewright.json",
        "spokes/eu-1/spokewright.yaml",
    ] {
        let scratch = start();
        scratch.write(path, &scratch.read("spokewright.yaml"));
        check(&scratch, 3, &["error[config/elsewhere]: ", path]);
    }
}

#[test]
fn a_placeholder_in_what_is_shipped_or_lives_on_a_cluster_is_said_once_a_file() {
    for left in [
        "REPLACE_ME",
        "https://<your-domain>/x",
        "<issuer>",
        "${{ values.issuer }}",
        "@@ISSUER@@",
    ] {
        let scratch = start();
        scratch.edit(
            "hub/policies.yaml",
            "https://login.example.com",
            &format!("\"{left}\""),
        );
        let run = check(&scratch, 0, &[": 0 errors, "]);
        let said = run.stdout.matches("warning[object/placeholder]").count();
        assert_eq!(said, 1, "{left}\n{}", run.stdout);
    }
    // What a policy or Flux gives a value later.
    for meant in [
        "{{ request.path }}",
        "https://a.example.com/$(x)",
        "(?P<name>.*)",
        "<b>bold</b> text",
    ] {
        let scratch = start();
        scratch.edit(
            "hub/policies.yaml",
            "https://login.example.com",
            &format!("\"{meant}\""),
        );
        let run = check(&scratch, 0, &[]);
        assert!(
            !run.stdout.contains("object/placeholder"),
            "{meant}\n{}",
            run.stdout
        );
    }
    let scratch = start();
    let policy = local_policy("v1", "AuthPolicy", "kind: HTTPRoute, name: REPLACE_ME", RULES);
    scratch.write("spokes/eu-1/policy.yaml", &policy);
    check(&scratch, 0, &["warning[object/placeholder]: `REPLACE_ME`"]);
}

#[test]
fn a_local_policy_of_a_version_that_nothing_serves_withholds_nothing() {
    let scratch = start();
    let unserved = local_policy("v1beta9", "AuthPolicy", "kind: HTTPRoute, name: shop", RULES);
    scratch.write("spokes/eu-1/policy.yaml", &unserved);
    let said = [
        "warning[object/schema]: AuthPolicy shop/local has the unknown version \"v1beta9\"",
        "it does not count as a local policy",
    ];
    check(&scratch, 0, &said);
    scratch.write("spokes/eu-1/policy.yaml", &unserved.replace("v1beta9", "v1"));
    check(&scratch, 0, &[": 0 errors, 0 warnings"]);
}

#[test]
fn a_dns_policy_that_lives_on_one_cluster_must_agree_with_those_of_the_others() {
    let scratch = start();
    let dns = |spec: &str| local_policy("v1", "DNSPolicy", "kind: Gateway, name: web", spec);
    let of_hub =
        dns("loadBalancing: {geo: EU, defaultGeo: true, weight: 100}\n  providerRefs: [{name: aws}]");
    let of_hub = of_hub.replace(
        "name: local, namespace: kuadrant-shop",
        "name: dns, namespace: shop",
    );
    scratch.write("hub/dns.yaml", &of_hub);
    let run = check(&scratch, 0, &[]);
    assert!(!run.stdout.contains("policy/no-effect"), "{}", run.stdout);
    scratch.write("spokes/eu-1/dns.yaml", &dns("providerRefs: [{name: aws}]"));
    let said = "DNSPolicy kuadrant-shop/local publishes `shop.example.com` without `loadBalancing`, and DNSPolicy \
                shop/dns with it";
    let run = check(&scratch, 0, &[said]);
    assert_eq!(
        run.stdout.matches("policy/no-effect").count(),
        1,
        "{}",
        run.stdout
    );
}

#[test]
fn the_errors_of_an_export_are_not_those_of_the_input_and_a_bare_list_of_works_is_read() {
    let scratch = start().in_a_repository();
    scratch.run(&["render"]).exits(0);
    let work = scratch.read("rendered/eu-1/gateway-shop-web.yaml");
    scratch.write("twice.yaml", &format!("{work}---\n{work}"));
    let run = scratch.run(&["status", "--works", "twice.yaml"]);
    run.exits(3).says("error[object/duplicate]");
    assert!(!run.stderr.contains("refuses this input"), "{}", run.stderr);
    let value = kube_yaml::read_document(&work, &kube_yaml::Limits::default()).expect("YAML");
    scratch.write("works.json", &format!("[{value}]"));
    let run = scratch.run(&["status", "--works", "works.json"]);
    run.exits(0).prints("on us-1: work `gateway-shop-web` is missing");
}

/// What a cluster refuses because of what lives there is said by every command.
#[test]
fn merged_gateways_of_a_cluster_refuse_what_the_hub_alone_would_take() {
    let scratch = start();
    let limits = "{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"ratelimitpolicies\"}";
    let clients = "{\"group\": \"gateway.envoyproxy.io\", \"version\": \"v1alpha1\", \"resource\": \"clienttrafficpolicies\"}";
    scratch
        .edit("hub/class.yaml", limits, &format!("{limits}, {clients}"))
        .edit("hub/class.yaml", "\"istio\"", "\"eg\"");
    let gateway = scratch.read("hub/gateway.yaml");
    let other = gateway
        .replace("name: web", "name: api")
        .replace("shop.example.com", "api.example.com");
    scratch.write("hub/api.yaml", &other);
    let policy = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: ctp, namespace: \
                  shop}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}]\n  timeout: {http: \
                  {idleTimeout: 5s}}\n";
    scratch.write("hub/clients.yaml", policy);
    check(&scratch, 0, &[": 0 errors, 0 warnings"]);
    let class = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\nspec: {controllerName: \
                 gateway.envoyproxy.io/gatewayclass-controller, parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, \
                 name: p, namespace: system}}\n---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyProxy\nmetadata: \
                 {name: p, namespace: system}\nspec: {mergeGateways: true}\n";
    scratch.write("spokes/eu-1/class.yaml", class);
    check(
        &scratch,
        0,
        &["warning[policy/no-effect]: ClientTrafficPolicy shop/ctp is refused on eu-1: "],
    );
    let status = || scratch.run(&["status"]).stdout;
    assert!(
        status().contains("on eu-1: Accepted False (Invalid): "),
        "{}",
        status()
    );
    scratch.write("spokes/us-1/class.yaml", class);
    check(
        &scratch,
        0,
        &["ClientTrafficPolicy shop/ctp is refused on eu-1, us-1: "],
    );
    let of_policy =
        |status: &str| status.contains("clienttrafficpolicy/shop/ctp    Accepted   False   Invalid");
    assert!(of_policy(&status()), "{}", status());
    let report: Value = serde_json::from_str(&scratch.run(&["policies", "-o", "json"]).stdout).expect("JSON");
    let policies = report["policies"].as_array().expect("a list").iter();
    let clients =
        policies.filter(|entry| entry["policy"] == "clienttrafficpolicy.gateway.envoyproxy.io:shop/ctp");
    let accepted: Vec<&Value> = clients
        .map(|entry| &entry["ancestors"][0]["conditions"][0]["status"])
        .collect();
    assert_eq!(accepted, ["False"]);
}
