//! What is rendered: policies, Secrets, works, feedback, RBAC (docs/reference/what-is-rendered.md).

mod meeting;

use crate::scratch::Scratch;

#[track_caller]
fn render(scratch: &Scratch) -> crate::scratch::Run {
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(0);
    run
}

fn work(scratch: &Scratch, name: &str) -> String {
    scratch.read(&format!("rendered/eu-1/{name}.yaml"))
}

const GATEWAY_WORK: &str = "gateway-gateways-prod-web";

fn second_gateway(scratch: &Scratch) {
    let gateway = scratch.read("hub/gateway.yaml");
    scratch.write(
        "hub/second.yaml",
        &gateway.replace("name: prod-web", "name: admin"),
    );
}

/// Renders, and reads the work of the Gateway.
#[track_caller]
fn rendered_work(scratch: &Scratch) -> String {
    render(scratch);
    work(scratch, GATEWAY_WORK)
}

#[test]
fn a_gateway_without_a_placement_label_is_placed_nowhere_with_a_warning() {
    let scratch = Scratch::with_worked_example();
    second_gateway(&scratch);
    scratch.edit(
        "hub/second.yaml",
        "    cluster.open-cluster-management.io/placement: edge\n",
        "    a: b\n",
    );
    render(&scratch)
        .says("warning[gateway/not-placed]")
        .says("hub/second.yaml:");
    assert!(!scratch.exists("rendered/eu-1/gateway-gateways-admin.yaml"));
}

#[test]
fn all_pages_count_duplicates_collapse_and_empty_names_are_skipped() {
    let scratch = Scratch::with_worked_example();
    let page = scratch.read("hub/decisions.yaml");
    scratch.write(
        "hub/page2.yaml",
        &page
            .replace("edge-decision-1", "edge-decision-2")
            .replace("eu-1, reason", "ap-1, reason")
            .replace(
                "{clusterName: us-1, reason: \"\"}",
                "{clusterName: \"\"}, {clusterName: us-1}",
            ),
    );
    scratch.write(
        "hub/elsewhere.yaml",
        &page
            .replace("namespace: gateways", "namespace: other")
            .replace("eu-1", "zz-1"),
    );
    render(&scratch).says("3 clusters;");
    assert!(scratch.exists("rendered/ap-1/gateway-rbac.yaml"));
    assert!(
        !scratch.exists("rendered/zz-1"),
        "a PlacementDecision in another namespace does not count"
    );
}

#[test]
fn a_policy_from_another_namespace_is_renamed_and_its_namespace_dropped() {
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/limits.yaml", "namespace: gateways", "namespace: infra");
    scratch.edit(
        "hub/limits.yaml",
        "name: prod-web,",
        "name: prod-web, namespace: gateways,",
    );
    // Kuadrant's own has no `namespace` there.
    scratch.write(
        "hub/crd.yaml",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {name: ratelimitpolicies.kuadrant.io}\n\
         spec:\n  group: kuadrant.io\n  scope: Namespaced\n\
         \x20 names: {kind: RateLimitPolicy, plural: ratelimitpolicies}\n\
         \x20 versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {\
         spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {\
         targetRef: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}]\n",
    );
    scratch.write(
        "hub/grant.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\n\
         metadata: {name: infra, namespace: gateways}\n\
         spec:\n  from: [{group: kuadrant.io, kind: RateLimitPolicy, namespace: infra}]\n\
         \x20 to: [{group: gateway.networking.k8s.io, kind: Gateway}]\n",
    );
    let work = rendered_work(&scratch);
    assert!(
        work.contains("        name: infra.global\n        namespace: kuadrant-gateways\n"),
        "{work}"
    );
    assert!(!work.contains("namespace: gateways\n"), "{work}");
}

#[test]
fn a_policy_on_two_gateways_of_one_cluster_rides_in_a_work_of_its_own() {
    let scratch = Scratch::with_worked_example();
    second_gateway(&scratch);
    scratch
        .edit(
            "hub/class.yaml",
            "\"version\": \"v1\", \"resource\": \"ratelimitpolicies\"",
            "\"version\": \"v1\", \"resource\": \"tlspolicies\"",
        )
        .edit("hub/class.yaml", "\"kuadrant.io\"", "\"gateway.envoyproxy.io\"")
        .edit("hub/class.yaml", "\"v1\"", "\"v1alpha1\"")
        .edit("hub/class.yaml", "tlspolicies", "backendtrafficpolicies")
        .remove("hub/limits.yaml");
    scratch.write(
        "hub/traffic.yaml",
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n\
         metadata: {name: retries, namespace: gateways, creationTimestamp: \"2024-01-01T00:00:00Z\"}\n\
         spec:\n  targetRefs:\n\
         \x20 - {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}\n\
         \x20 - {group: gateway.networking.k8s.io, kind: Gateway, name: admin}\n\
         \x20 retry: {numRetries: 2}\n",
    );
    render(&scratch);
    let own = work(&scratch, "backendtrafficpolicy-gateways-retries");
    assert!(own.contains("kuadrant.io/parent: gateways/retries"), "{own}");
    assert!(
        own.contains("name: admin") && own.contains("name: prod-web"),
        "{own}"
    );
    assert!(
        own.contains("kuadrant.io/origin-creation: \"2024-01-01T00:00:00Z\""),
        "{own}"
    );
    assert!(!work(&scratch, GATEWAY_WORK).contains("BackendTrafficPolicy"));

    // On clusters where only one of them is, the copy keeps that reference and rides with it.
    scratch.edit("hub/second.yaml", "placement: edge", "placement: us");
    let decisions = scratch.read("hub/decisions.yaml");
    scratch.write(
        "hub/us.yaml",
        &decisions
            .replace("edge", "us")
            .replace("{clusterName: eu-1, reason: \"\"}, ", ""),
    );
    let riding = rendered_work(&scratch);
    assert!(
        riding.contains("BackendTrafficPolicy") && !riding.contains("name: admin"),
        "{riding}"
    );
    assert!(!scratch.exists("rendered/eu-1/backendtrafficpolicy-gateways-retries.yaml"));
    assert!(scratch.exists("rendered/us-1/backendtrafficpolicy-gateways-retries.yaml"));
}

#[test]
fn work_per_object_gives_each_policy_a_work_of_its_own() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "\"workPer\": \"Gateway\"",
        "\"workPer\": \"Object\"",
    );
    render(&scratch);
    let own = work(&scratch, "ratelimitpolicy-gateways-global");
    let namespace = own.find("kind: Namespace").expect("the Namespace");
    assert!(
        namespace < own.find("kind: RateLimitPolicy").expect("the policy"),
        "the Namespace comes first"
    );
    assert!(
        own.contains("kuadrant.io/manifestKey: ratelimitpolicy-gateways-global"),
        "{own}"
    );
    assert!(own.contains("name: enforcedReason"), "{own}");
    assert!(!work(&scratch, GATEWAY_WORK).contains("RateLimitPolicy"));
}

#[test]
fn two_policies_on_one_target_ship_one_and_report_the_other() {
    // A kind that refuses the second: the first by name, then the oldest.
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/class.yaml", "ratelimitpolicies", "dnspolicies");
    scratch.write(
        "hub/limits.yaml",
        "apiVersion: kuadrant.io/v1\nkind: DNSPolicy\nmetadata: {name: global, namespace: gateways}\n\
         spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}}\n",
    );
    let limits = scratch.read("hub/limits.yaml");
    scratch.write("hub/other.yaml", &limits.replace("name: global", "name: another"));
    let run = scratch.run(&["render", "hub", "-o", "rendered", "--report", "report.json"]);
    run.exits(0)
        .says("warning[policy/same-target]")
        .says("first by namespace/name");
    let work = work(&scratch, GATEWAY_WORK);
    assert!(
        work.contains("name: another") && !work.contains("name: global"),
        "{work}"
    );
    assert!(
        scratch
            .read("report.json")
            .contains("\"winner\": \"dnspolicy.kuadrant.io:gateways/another\"")
    );

    // An age beats the name, and one without an age is the newest.
    scratch.edit(
        "hub/limits.yaml",
        "{name: global,",
        "{name: global, creationTimestamp: \"2024-01-01T00:00:00Z\",",
    );
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(0).says("older");
    assert!(self::work(&scratch, GATEWAY_WORK).contains("name: global"));
}

#[test]
fn secrets_are_copied_once_and_follow_their_reference() {
    let scratch = Scratch::with_worked_example().in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nsecrets: Copy\noutput: ../rendered\n",
    );
    scratch.edit(
        "hub/gateway.yaml",
        "certificateRefs: [{name: wildcard}]",
        "certificateRefs: [{name: wildcard}, {name: wildcard}, {name: other, namespace: certs}]",
    );
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: wildcard, namespace: gateways}\n\
                  type: kubernetes.io/tls\ndata: {tls.crt: YQ==, tls.key: Yg==}\n";
    let other = secret.replace("wildcard", "other").replace("gateways", "certs");
    scratch.write("hub/secrets.yaml", &format!("{secret}---\n{other}"));
    scratch
        .run(&["render", "hub"])
        .exits(3)
        .says("error[secret/ref-not-permitted]");
    scratch.write(
        "hub/grant.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: certs}\n\
         spec:\n  from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: gateways}]\n\
         \x20 to: [{group: \"\", kind: Secret}]\n",
    );
    scratch
        .run(&["render", "hub"])
        .exits(0)
        .does_not_say("secret/not-");
    let work = work(&scratch, GATEWAY_WORK);
    assert_eq!(work.matches("kind: Secret").count(), 2, "{work}");
    assert_eq!(work.matches("- name: certs.other").count(), 1, "{work}");
    assert!(!work.contains("namespace: certs"), "{work}");
    let secret = work.find("kind: Secret").expect("a Secret");
    assert!(
        secret < work.find("kind: RateLimitPolicy").expect("the policy"),
        "Secrets come before policies"
    );

    scratch.edit("hub/secrets.yaml", "type:", "sops: {mac: x}\ntype:");
    scratch
        .run(&["render", "hub"])
        .exits(3)
        .says("error[secret/encrypted]");
}

#[test]
fn a_missing_secret_to_copy_is_a_warning() {
    let scratch = Scratch::with_worked_example().in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nsecrets: Copy\noutput: ../rendered\n",
    );
    scratch
        .run(&["render", "hub"])
        .exits(0)
        .says("warning[secret/not-found]")
        .says("gateways/wildcard");
}

#[test]
fn text_that_flux_would_substitute_is_guarded() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/limits.yaml",
        "window: 10s}]",
        "window: 10s}], when: [{predicate: \"request.path == '${PATH}'\"}]",
    );
    render(&scratch).says("warning[work/substitution]");
    assert!(work(&scratch, GATEWAY_WORK).contains("    kustomize.toolkit.fluxcd.io/substitute: disabled\n"));
    assert!(!work(&scratch, "gateway-rbac").contains("substitute"));
}

#[test]
fn raw_feedback_reports_all_addresses() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "{\"downstreamClass\"",
        "{\"rawFeedback\": true, \"downstreamClass\"",
    );
    let work = rendered_work(&scratch);
    assert!(
        work.contains("- name: addresses\n        path: .status.addresses\n"),
        "{work}"
    );
    assert!(!work.contains("addressType"), "{work}");
}

#[test]
fn server_side_apply_is_set_on_every_configured_manifest() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "{\"downstreamClass\"",
        "{\"updateStrategy\": \"ServerSideApply\", \"downstreamClass\"",
    );
    render(&scratch);
    let found = work(&scratch, GATEWAY_WORK);
    // Without force a switch from Update stops at the agent's own fields (docs/systems/ocm-work.md#server-side-apply).
    let strategy =
        "    updateStrategy:\n      serverSideApply:\n        force: true\n      type: ServerSideApply\n";
    assert_eq!(found.matches(strategy).count(), 3, "{found}");
}

#[test]
fn what_the_spokes_may_have_otherwise_is_set_with_server_side_apply() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "{\"downstreamClass\"",
        "{\"updateStrategy\": \"ServerSideApply\", \"serverSideApply\": {\"force\": false, \
         \"ignoreFields\": [{\"jsonPointers\": [\"/spec/infrastructure\"]}]}, \"downstreamClass\"",
    );
    render(&scratch);
    let found = work(&scratch, GATEWAY_WORK);
    let strategy = "    updateStrategy:\n      serverSideApply:\n        ignoreFields:\n        \
                    - condition: OnSpokePresent\n          jsonPointers:\n          - /spec/infrastructure\n      \
                    type: ServerSideApply\n";
    assert_eq!(found.matches(strategy).count(), 3, "{found}");
    let read = kube_yaml::read_document(&found, &kube_yaml::Limits::default()).expect("YAML");
    assert_eq!(spokewright::render::WorkValidation::new().check(&read), vec![]);
}

#[test]
fn annotated_hub_objects_carry_clusters_and_policies() {
    let scratch = Scratch::with_worked_example().in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhubObjects: Annotated\noutput: ../rendered\n",
    );
    scratch.write(
        "hub/clusters.yaml",
        "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n\
         metadata: {name: eu-1, labels: {kuadrant.io/lb-attribute-geo-code: EU}}\nspec: {hubAcceptsClient: true}\n---\n\
         apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n\
         metadata: {name: us-1}\nspec: {hubAcceptsClient: true}\n",
    );
    scratch.run(&["render", "hub"]).exits(0);
    let gateway = scratch.read("rendered/_hub/gateway-gateways-prod-web.yaml");
    assert!(
        gateway.contains("kuadrant.io/gateway-clusters: '[\"eu-1\",\"us-1\"]'")
            || gateway.contains("kuadrant.io/gateway-clusters: \"[\\\"eu-1\\\",\\\"us-1\\\"]\""),
        "{gateway}"
    );
    assert!(
        gateway.contains("clusters.kuadrant.io/eu-1_lb-attribute-geo-code: EU"),
        "{gateway}"
    );
    let policy = scratch.read("rendered/_hub/ratelimitpolicy-gateways-global.yaml");
    assert!(policy.contains("\\\"cluster\\\":\\\"eu-1\\\",\\\"name\\\":\\\"global\\\",\\\"namespace\\\":\\\"kuadrant-gateways\\\""), "{policy}");
    assert!(
        scratch
            .read("rendered/_hub/kustomization.yaml")
            .contains("- gateway-gateways-prod-web.yaml")
    );
    assert!(scratch.read("rendered/kustomization.yaml").contains("- _hub"));
}

#[test]
fn no_label_that_kubernetes_refuses_is_written_to_a_hub_object() {
    let cluster = "c".repeat(57);
    let scratch = Scratch::with_worked_example().in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhubObjects: Annotated\noutput: ../rendered\n",
    );
    scratch.edit(
        "hub/decisions.yaml",
        "clusterName: eu-1",
        &format!("clusterName: {cluster}"),
    );
    scratch.write(
        "hub/clusters.yaml",
        &format!(
            "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n\
             metadata: {{name: {cluster}, labels: {{kuadrant.io/short: a, kuadrant.io/longer: b}}}}\nspec: {{}}\n---\n\
             apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {{name: us-1}}\nspec: {{}}\n"
        ),
    );
    let run = scratch.run(&["render", "hub"]);
    run.exits(0)
        .says("warning[object/metadata-left-out]")
        .says(&format!(
            "no Gateway gets the label `clusters.kuadrant.io/{cluster}_longer`"
        ))
        .says("hub/clusters.yaml:3:")
        .does_not_say(&format!("{cluster}_short"));
    let gateway = scratch.read("rendered/_hub/gateway-gateways-prod-web.yaml");
    assert!(
        gateway.contains(&format!("clusters.kuadrant.io/{cluster}_short: a")),
        "{gateway}"
    );
    assert!(!gateway.contains("_longer"), "{gateway}");
}

#[test]
fn no_annotation_that_kubernetes_refuses_is_written_to_a_hub_object() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nhubObjects: Annotated\n",
    );
    let decisions: Vec<String> = (0..3000)
        .map(|number| format!("{{clusterName: {}-{number}, reason: \"\"}}", "c".repeat(20)))
        .collect();
    scratch.edit(
        "hub/decisions.yaml",
        "{clusterName: eu-1, reason: \"\"}",
        &decisions.join(", "),
    );
    let run = scratch.run(&["check"]);
    let left_out: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.contains("object/metadata-left-out"))
        .collect();
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(
        left_out[0].contains(
            "RateLimitPolicy gateways/global does not get the annotation `kuadrant.io/policies-synced`"
        ),
        "{left_out:?}"
    );
}

#[test]
fn only_the_asked_for_clusters_are_rendered() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&["render", "hub", "-o", "-", "--clusters", "eu-*"]);
    run.exits(0);
    assert!(run.stdout.contains("namespace: eu-1") && !run.stdout.contains("namespace: us-1"));
    scratch
        .run(&["render", "hub", "-o", "-", "--clusters", "ap-*"])
        .exits(2)
        .says("the input has no cluster `ap-*`\nhelp: the clusters are: eu-1, us-1\n");
    // Of a large fleet a few are named.
    let decisions: String = (10..40)
        .map(|number| format!("{{clusterName: c-{number}, reason: \"\"}}, "))
        .collect();
    scratch.edit("hub/decisions.yaml", "[", &format!("[{decisions}"));
    scratch
        .run(&["render", "hub", "-o", "-", "--clusters", "ap-*"])
        .exits(2)
        .says("help: the clusters are: c-10, c-11, c-12, c-13, c-14, c-15, c-16, c-17, c-18, c-19, and 22 more\n");
}

#[test]
fn paths_below_the_current_directory_are_shown_as_they_are_typed() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\n",
    );
    scratch
        .run(&["render", "--check", "-q"])
        .exits(1)
        .says("missing rendered/")
        .does_not_say("./");
}

/// Every shared case, through `check`: what OCM refuses is an error, what it accepts is none.
#[test]
fn check_agrees_with_ocm_about_works() {
    let cases = crate::scratch::fixtures().join("works");
    let mut seen = 0;
    for entry in std::fs::read_dir(cases).expect("the cases") {
        let path = entry.expect("a case").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (good, bad) = (name.starts_with("ok-"), name.starts_with("bad-"));
        if !good && !bad {
            continue;
        }
        seen += 1;
        let scratch = Scratch::new();
        let run = scratch.run(&["check", &path.to_string_lossy(), "--message-format", "json"]);
        let wrong = ["work/", "object/", "yaml/"]
            .iter()
            .any(|code| run.stdout.contains(&format!("\"code\": \"{code}")));
        assert_eq!(wrong, bad, "{name}:\n{}", run.stdout);
    }
    assert_eq!(seen, 24);
}

#[test]
fn each_class_asks_for_its_own_values_of_one_kind() {
    let scratch = Scratch::with_worked_example();
    second_gateway(&scratch);
    scratch.edit(
        "hub/second.yaml",
        "gatewayClassName: multicluster",
        "gatewayClassName: other",
    );
    let class = scratch.read("hub/class.yaml");
    let class = class
        .replace("name: multicluster", "name: other")
        .replace("name: params", "name: others")
        .replace("\"generation\"", "\"revision\"");
    scratch.write("hub/other.yaml", &class);
    let limits = scratch.read("hub/limits.yaml").replace("prod-web", "admin");
    scratch.write(
        "hub/limits-2.yaml",
        &limits.replace("name: global", "name: second"),
    );
    render(&scratch);
    for (name, asked, others) in [
        (GATEWAY_WORK, "generation", "revision"),
        ("gateway-gateways-admin", "revision", "generation"),
    ] {
        let work = work(&scratch, name);
        assert!(
            work.contains(&format!("- name: {asked}\n")) && !work.contains(&format!("- name: {others}\n")),
            "{work}"
        );
    }
}
