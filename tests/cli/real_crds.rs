//! Everything that is rendered is valid under the real CRDs.

use std::path::PathBuf;

use kube_yaml::{Limits, read_all, write_document};
use spokewright::render::WorkValidation;

use crate::scratch::{Scratch, copy, fixtures};

/// The directory of CRDs of public projects.
pub(crate) fn crds() -> PathBuf {
    let directory = std::env::var_os("SPOKEWRIGHT_CRDS");
    PathBuf::from(directory.expect("set SPOKEWRIGHT_CRDS to a directory of CustomResourceDefinitions"))
}

/// Renders an input, takes the works of one cluster apart, and checks works and manifests with `check`, which
/// validates every object whose CRD is in its input.
fn validate(scratch: &Scratch, input: &str, cluster: &str) {
    validate_against(scratch, input, cluster, "standard");
}

/// The same with the CRDs of a channel of Gateway API.
fn validate_against(scratch: &Scratch, input: &str, cluster: &str, channel: &str) {
    let crds = crds();
    scratch.run(&["render", input, "-o", "out"]).exits(0);
    copy(
        &crds.join("gateway-api").join(channel),
        &scratch.path("objects/crds/gateway-api"),
    );
    copy(&crds.join("kuadrant"), &scratch.path("objects/crds/kuadrant"));
    copy(&crds.join("ocm"), &scratch.path("objects/crds/ocm"));
    let validation = WorkValidation::new();
    let mut count = 0;
    for (name, text) in scratch.tree(&format!("out/{cluster}")) {
        if name == "kustomization.yaml" {
            continue;
        }
        for work in read_all(&text, &Limits::default()).expect("YAML") {
            assert_eq!(validation.check(&work), vec![], "{name} breaks OCM's rules");
            scratch.write(&format!("objects/works/{name}"), &text);
            let manifests = work
                .pointer("/spec/workload/manifests")
                .and_then(|list| list.as_array());
            for manifest in manifests.expect("manifests") {
                if manifest["kind"] == "Namespace" {
                    continue;
                }
                count += 1;
                scratch.write(
                    &format!("objects/manifests/{count}.yaml"),
                    &write_document(manifest),
                );
            }
        }
    }
    assert!(count > 0, "nothing to validate");
    let run = scratch.run(&["check", "objects", "--message-format", "json"]);
    for code in [
        "object/schema",
        "object/unknown-field",
        "object/invalid-name",
        "yaml/",
    ] {
        assert!(!run.stdout.contains(code), "{}", run.stdout);
    }
}

#[test]
fn works_in_waves_are_valid() {
    let scratch = Scratch::new();
    let examples = fixtures().join("../examples");
    copy(&examples.join("fleet"), &scratch.path("fleet"));
    for (file, place) in [
        ("placement.yaml", "hub/shop/placement.yaml"),
        ("spokewright.yaml", "spokewright.yaml"),
    ] {
        std::fs::copy(
            examples.join("waves").join(file),
            scratch.path("fleet").join(place),
        )
        .expect("a file");
    }
    for cluster in ["us-1", "eu-1"] {
        validate(&scratch, "fleet", cluster);
    }
    let work = scratch.read("out/eu-1/gateway-rbac.yaml");
    assert!(
        work.contains("    argocd.argoproj.io/sync-wave: \"1\"\n"),
        "{work}"
    );
}

#[test]
fn the_worked_example_is_valid_under_the_real_crds() {
    validate(&Scratch::with_worked_example(), "hub", "eu-1");
}

#[test]
fn the_example_fleet_is_valid_under_the_real_crds() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    validate(&scratch, "fleet", "eu-1");
}

#[test]
fn the_hub_of_each_controller_is_valid_under_its_real_crds() {
    let crds = crds();
    for controller in [
        "kuadrant",
        "envoy-gateway",
        "istio",
        "nginx",
        "kgateway",
        "gke",
        "gateway-api",
    ] {
        let scratch = Scratch::new();
        scratch
            .run(&["init", "fleet", "-q", "--policies", controller])
            .exits(0);
        let directory = match controller {
            "nginx" => "nginx-gateway-fabric",
            "gateway-api" => "gateway-api/standard",
            other => other,
        };
        // Of the hub and of the cluster, what is written there, and what is rendered.
        for place in ["fleet/hub/crds", "objects/crds"] {
            copy(
                &crds.join(directory),
                &scratch.path(&format!("{place}/of-policies")),
            );
        }
        copy(&crds.join("ocm"), &scratch.path("fleet/hub/crds/ocm"));
        if controller != "gateway-api" {
            let standard = crds.join("gateway-api/standard");
            copy(&standard, &scratch.path("fleet/hub/crds/gateway-api"));
        }
        let run = scratch.run(&["check", "fleet", "--deny", "warnings"]);
        run.exits(0).says("0 errors, 0 warnings");
        validate(&scratch, "fleet", "us-1");
        let written = ["fleet/hub/policies.yaml", "fleet/spokes/eu-1/policies.yaml"];
        for file in written {
            scratch.edit(file, "\nspec:\n", "\nspec:\n  unheardOf: true\n");
        }
        let run = scratch.run(&["check", "fleet"]);
        run.exits(3);
        for file in written {
            assert!(
                run.stdout.contains(&format!("--> {file}:")),
                "{controller} {file}:\n{}",
                run.stdout
            );
        }
    }
}

#[test]
fn shipped_routes_of_every_kind_are_valid_under_the_real_crds() {
    let crds = crds();
    let scratch = Scratch::with_worked_example();
    copy(&crds.join("gateway-api/experimental"), &scratch.path("hub/crds"));
    let kinds = ["httproutes", "grpcroutes", "tlsroutes", "tcproutes", "udproutes"];
    let listed: Vec<String> = kinds
        .iter()
        .map(|plural| {
            let version = match *plural {
                "tcproutes" | "udproutes" => "v1alpha2",
                _ => "v1",
            };
            format!(
                "{{\"group\": \"gateway.networking.k8s.io\", \"version\": \"{version}\", \"resource\": \"{plural}\"}}"
            )
        })
        .collect();
    scratch.edit(
        "hub/class.yaml",
        "{\"downstreamClass\": \"istio\",",
        &format!(
            "{{\"downstreamClass\": \"istio\", \"resourcesToSync\": [{}],",
            listed.join(", ")
        ),
    );
    let any = "allowedRoutes: {namespaces: {from: All}}";
    scratch.edit(
        "hub/gateway.yaml",
        "  listeners:\n",
        &format!(
            "  listeners:\n  - {{name: web, port: 80, protocol: HTTP, {any}}}\n  \
             - {{name: tls, port: 8443, protocol: TLS, tls: {{mode: Passthrough}}, {any}}}\n  \
             - {{name: tcp, port: 81, protocol: TCP, {any}}}\n  - {{name: udp, port: 82, protocol: UDP, {any}}}\n"
        ),
    );
    let route = |kind: &str, version: &str, section: &str, more: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/{version}\nkind: {kind}\nmetadata: {{name: r, namespace: shop}}\n\
             spec: {{{more}parentRefs: [{{name: prod-web, namespace: gateways, sectionName: {section}}}], \
             rules: [{{backendRefs: [{{name: s, port: 80}}]}}]}}\n"
        )
    };
    scratch.write(
        "hub/routes.yaml",
        &[
            route("HTTPRoute", "v1", "web", ""),
            route("GRPCRoute", "v1", "web", ""),
            route("TLSRoute", "v1", "tls", "hostnames: [a.example.com], "),
            route("TCPRoute", "v1alpha2", "tcp", ""),
            route("UDPRoute", "v1alpha2", "udp", ""),
        ]
        .concat(),
    );
    let run = scratch.run(&["render", "hub", "-o", "out"]);
    run.exits(0).says("5 routes");
    std::fs::remove_dir_all(scratch.path("out")).expect("removed");
    validate_against(&scratch, "hub", "eu-1", "experimental");
}

#[test]
fn an_invalid_object_would_be_found() {
    let crds = crds();
    let scratch = Scratch::with_worked_example();
    copy(&crds.join("kuadrant"), &scratch.path("hub/crds"));
    scratch.edit("hub/limits.yaml", "limit: 100", "limit: \"100\"");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(3)
        .says("error[object/schema]")
        .says("hub/limits.yaml:8:");
}

#[test]
fn replica_sets_are_valid_under_the_real_crds() {
    let scratch = crate::replica_sets::sets_of_the_example_fleet();
    copy(&crds().join("ocm"), &scratch.path("objects/crds"));
    let run = scratch.run(&["check", "objects"]);
    for code in ["object/", "work/", "yaml/"] {
        assert!(!run.stdout.contains(code), "{}", run.stdout);
    }
}
