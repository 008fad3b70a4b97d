//! `spokewright status`: predicted, and aggregated from exported works (docs/systems/gep-713.md#status,
//! docs/systems/mgc.md#status-aggregation).

use std::io::Write as _;
use std::process::Stdio;

use kube_json::{Value, json};

use crate::scratch::{Run, Scratch, copy, fixtures};

/// The example fleet in `fleet/`.
fn fleet() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    scratch
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", run.stdout))
}

/// The entry of an object in a report.
#[track_caller]
fn object<'v>(report: &'v Value, locator: &str) -> &'v Value {
    let objects = report["objects"].as_array().expect("objects");
    let found = objects.iter().find(|object| object["object"] == locator);
    found.unwrap_or_else(|| panic!("no {locator} in {report:#}"))
}

/// `status reason message` of a condition.
#[track_caller]
fn condition(object: &Value, kind: &str) -> String {
    let conditions = object["conditions"].as_array().expect("conditions");
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    let found = found.unwrap_or_else(|| panic!("no {kind} in {object:#}"));
    let text = |name: &str| found[name].as_str().expect("a text").to_owned();
    format!("{} {} {}", text("status"), text("reason"), text("message"))
}

const GATEWAY: &str = "gateway.gateway.networking.k8s.io:gateways/prod-web";
const POLICY: &str = "ratelimitpolicy.kuadrant.io:gateways/global";

/// The worked example, rendered.
fn rendered() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    scratch
}

/// The rendered works as the hub would hold them: applied, with feedback from every cluster.
fn exported(scratch: &Scratch) -> Vec<Value> {
    let mut works = Vec::new();
    for (path, text) in scratch.tree("rendered") {
        if path.ends_with("kustomization.yaml") || !path.contains('/') {
            continue;
        }
        let limits = kube_yaml::Limits::default();
        let mut read = kube_yaml::read_all(&text, &limits).expect("YAML");
        let mut work = read.remove(0);
        let last = if path.starts_with("eu-1") { 1 } else { 2 };
        let text = |name: &str, value: &str| json!({"name": name, "fieldValue": {"type": "String", "string": value}});
        let manifests = work["spec"]["workload"]["manifests"]
            .as_array()
            .expect("manifests");
        let statuses: Vec<Value> = manifests
            .iter()
            .enumerate()
            .map(|(ordinal, manifest)| {
                let (resource, values) = match manifest["kind"].as_str() {
                    Some("Gateway") => (
                        "gateways",
                        json!([
                            text("addressType", "IPAddress"),
                            text("addressValue", &format!("203.0.113.{last}")),
                            {"name": "listenerapiAttachedRoutes", "fieldValue": {"type": "Integer", "integer": last}},
                            text("accepted", "True"),
                            text("programmed", "True"),
                        ]),
                    ),
                    Some("RateLimitPolicy") => (
                        "ratelimitpolicies",
                        json!([
                            text("accepted", "True"),
                            text("acceptedReason", "Accepted"),
                            text("enforced", "True"),
                            text("enforcedReason", "Enforced"),
                        ]),
                    ),
                    _ => ("others", json!([])),
                };
                let api_version = manifest["apiVersion"].as_str().expect("an apiVersion");
                json!({
                    "resourceMeta": {
                        "ordinal": ordinal,
                        "group": api_version.split_once('/').map_or("", |(group, _)| group),
                        "kind": manifest["kind"],
                        "resource": resource,
                        "namespace": manifest["metadata"]["namespace"],
                        "name": manifest["metadata"]["name"],
                    },
                    "conditions": [{"type": "Applied", "status": "True", "reason": "AppliedManifestComplete"}],
                    "statusFeedback": {"values": values},
                })
            })
            .collect();
        work["status"] = json!({
            "conditions": [{"type": "Applied", "status": "True", "reason": "AppliedManifestWorkComplete"}],
            "resourceStatus": {"manifests": statuses},
        });
        works.push(work);
    }
    works
}

/// Writes the works as `kubectl get -o json` does.
fn write(scratch: &Scratch, relative: &str, works: &[Value]) {
    let list =
        json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": works});
    scratch.write(relative, &list.to_string());
}

/// Sets what a feedback value says, in the work of a cluster.
fn feed_back(works: &mut [Value], cluster: &str, name: &str, field_value: &Value) {
    for work in works
        .iter_mut()
        .filter(|work| work["metadata"]["namespace"] == cluster)
    {
        let manifests = work["status"]["resourceStatus"]["manifests"].as_array_mut();
        for manifest in manifests.expect("manifests") {
            let values = manifest["statusFeedback"]["values"].as_array_mut();
            for value in values
                .expect("values")
                .iter_mut()
                .filter(|value| value["name"] == name)
            {
                value["fieldValue"] = field_value.clone();
            }
        }
    }
}

fn string(text: &str) -> Value {
    json!({"type": "String", "string": text})
}

#[test]
fn the_prediction_is_a_table_of_classes_gateways_and_policies() {
    let run = Scratch::with_worked_example().run(&["status", "hub"]);
    run.exits(0);
    insta::assert_snapshot!(run.stdout, @r"
    GATEWAYCLASS               CONDITION  STATUS  REASON
    gatewayclass/multicluster  Accepted   True    Accepted
        kinds: RateLimitPolicy.kuadrant.io

    GATEWAY                        CONDITION                STATUS  REASON
    gateway/gateways/prod-web      Accepted                 True    Accepted
                                   Programmed               True    Programmed
    gateway/gateways/prod-web#api  RateLimitPolicyAffected  True    Accepted

    POLICY                           CONDITION  STATUS  REASON
    ratelimitpolicy/gateways/global  Accepted   True    Accepted
                                     Enforced   False   Unknown
        RateLimitPolicy is not in the path to any existing routes
    ");
}

#[test]
fn what_cannot_be_true_says_why_below_its_row() {
    let scratch = Scratch::with_worked_example();
    scratch.remove("hub/decisions.yaml");
    scratch.edit("hub/limits.yaml", "sectionName: api", "sectionName: app");
    let run = scratch.run(&["status", "hub"]);
    run.exits(3)
        .says("error[placement/not-found]")
        .says("error[policy/target-not-found]");
    insta::assert_snapshot!(run.stdout, @r#"
    `spokewright render` refuses this input because of 2 errors
    GATEWAYCLASS               CONDITION  STATUS  REASON
    gatewayclass/multicluster  Accepted   True    Accepted
        kinds: RateLimitPolicy.kuadrant.io

    GATEWAY                    CONDITION   STATUS   REASON
    gateway/gateways/prod-web  Accepted    True     Accepted
                               Programmed  Unknown  Pending
        current state of the gateway is unknown error: failed to place gateway : no
          PlacementDecisions found for placement edge via label selector:
          map[cluster.open-cluster-management.io/placement:edge] error:
          PlacementDecision "edge" not found

    POLICY                           CONDITION  STATUS  REASON
    ratelimitpolicy/gateways/global  Accepted   False   TargetNotFound
        RateLimitPolicy target prod-web was not found
    "#);
    for line in run.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn json_has_affected_conditions_and_effective_policy_on_gateway_and_listener() {
    let run = Scratch::with_worked_example().run(&["status", "hub", "-o", "json"]);
    run.exits(0);
    let report = json_of(&run);
    assert_eq!(report["apiVersion"], "spokewright.dev/v1alpha1");
    assert_eq!(
        (&report["kind"], &report["source"]),
        (&json!("StatusReport"), &json!("prediction"))
    );
    let stanza = json!([{"name": "global", "namespace": "gateways", "apiGroup": "kuadrant.io", "kind": "RateLimitPolicy"}]);
    let listener = object(&report, &format!("{GATEWAY}#api"));
    assert_eq!(
        condition(listener, "kuadrant.io/RateLimitPolicyAffected"),
        "True Accepted Object affected by RateLimitPolicy [gateways/global]"
    );
    assert_eq!(listener["effectivePolicy"], stanza);
    let gateway = object(&report, GATEWAY);
    assert_eq!(
        condition(gateway, "Programmed"),
        "True Programmed gateway placed on clusters [eu-1 us-1]"
    );
    let class = object(&report, "gatewayclass.gateway.networking.k8s.io:multicluster");
    assert_eq!(
        condition(class, "Accepted"),
        "True Accepted Handled by kuadrant.io/mgc-gw-controller"
    );
    assert_eq!(class["extensionKinds"], json!(["RateLimitPolicy.kuadrant.io"]));
}

#[test]
fn yaml_is_an_effective_policy_for_each_target() {
    let run = fleet().run(&["status", "fleet", "-o", "yaml"]);
    run.exits(0);
    let limits = kube_yaml::Limits::default();
    let documents = kube_yaml::read_all(&run.stdout, &limits).expect("YAML");
    assert!(
        documents
            .iter()
            .all(|document| document["kind"] == "EffectivePolicy")
    );
    let gateway = documents
        .iter()
        .find(|document| document["metadata"] == json!({"name": "gateway-payments", "namespace": "payments"}))
        .expect("the Gateway's");
    let policies = gateway["policies"].as_array().expect("policies");
    assert_eq!(policies[0]["controllerName"], "kuadrant.io/mgc-gw-controller");
    assert!(
        policies
            .iter()
            .any(|policy| policy["resultantPolicy"]["rateLimitPolicy"].is_object())
    );
}

#[test]
fn a_policy_says_where_a_spoke_local_one_is_in_its_place() {
    let scratch = fleet();
    let report = json_of(&scratch.run(&["status", "fleet", "-o", "json"]));
    let burst = object(&report, "ratelimitpolicy.kuadrant.io:shop/api-burst");
    assert_eq!(burst["onClusters"][0]["cluster"], "eu-1");
    assert_eq!(burst["onClusters"][0]["enforced"]["reason"], "Overridden");
    let log = object(&report, "accesslogpolicy.edge.acme.example:platform/access-log");
    assert_eq!(log["ancestors"][0]["ancestorRef"]["name"], "storefront");
    let text = scratch.run(&["status", "fleet"]).stdout;
    assert!(
        text.contains("on eu-1: Enforced False (Overridden): RateLimitPolicy is overridden by"),
        "{text}"
    );
    let elsewhere = json_of(&scratch.run(&["status", "fleet", "-o", "json", "--clusters", "us-*"]));
    let burst = object(&elsewhere, "ratelimitpolicy.kuadrant.io:shop/api-burst");
    assert_eq!(burst["onClusters"], Value::Null, "--clusters: only these");
}

#[test]
fn the_render_report_holds_the_same_statuses() {
    let scratch = fleet();
    scratch
        .run(&["render", "fleet", "-o", "rendered", "--report", "report.json"])
        .exits(0);
    let rendered: Value = serde_json::from_str(&scratch.read("report.json")).expect("JSON");
    let status = json_of(&scratch.run(&["status", "fleet", "-o", "json"]));
    assert_eq!(rendered["objects"], status["objects"]);
}

#[test]
fn an_invalid_class_leaves_its_gateways_unprogrammed() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "namespace: gateways, name: params",
        "name: params",
    );
    let run = scratch.run(&["status", "hub", "-o", "json"]);
    run.exits(3);
    let report = json_of(&run);
    assert_eq!(
        condition(
            object(&report, "gatewayclass.gateway.networking.k8s.io:multicluster"),
            "Accepted"
        ),
        "False InvalidParameters Invalid Parameters - Namespace must be defined"
    );
    assert_eq!(
        condition(object(&report, GATEWAY), "Programmed"),
        "False Pending Invalid parameters in gateway class: Invalid Parameters - Namespace must be defined"
    );
}

#[test]
fn works_that_are_all_applied_add_up() {
    let scratch = rendered();
    write(&scratch, "works.json", &exported(&scratch));
    let run = scratch.run(&["status", "hub", "--works", "works.json"]);
    run.exits(0);
    insta::assert_snapshot!(run.stdout, @r"
    GATEWAYCLASS               CONDITION  STATUS  REASON
    gatewayclass/multicluster  Accepted   True    Accepted

    GATEWAY                    CONDITION   STATUS  REASON
    gateway/gateways/prod-web  Accepted    True    Accepted
                               Programmed  True    Programmed
        address: eu-1/203.0.113.1 (MultiClusterIPAddress)
        address: us-1/203.0.113.2 (MultiClusterIPAddress)
        listener: eu-1.api: 1 route attached
        listener: us-1.api: 2 routes attached

    POLICY                           CONDITION  STATUS  REASON
    ratelimitpolicy/gateways/global  Accepted   True    Accepted
                                     Enforced   True    Enforced

    4 of 4 planned works applied
    ");
}

#[test]
fn works_that_are_missing_refused_or_stale_are_named() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    let mut stale = works[0].clone();
    stale["metadata"]["namespace"] = json!("ap-1");
    works.push(stale);
    let foreign = json!({
        "apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
        "metadata": {"name": "addon", "namespace": "ap-1"},
    });
    works.push(foreign);
    feed_back(&mut works, "eu-1", "enforced", &string("False"));
    feed_back(&mut works, "eu-1", "enforcedReason", &string("Overridden"));
    for work in &mut works {
        let metadata = &work["metadata"];
        if metadata["namespace"] == "us-1" && metadata["name"] == "gateway-gateways-prod-web" {
            work["status"]["conditions"] = json!([
                {"type": "Applied", "status": "False", "reason": "AppliedManifestWorkFailed", "message": "1 of 3 failed"},
            ]);
            work["status"]["resourceStatus"]["manifests"][1]["conditions"] = json!([
                {"type": "Applied", "status": "False", "reason": "AppliedManifestFailed", "message": "no matches for kind"},
            ]);
        }
    }
    works
        .retain(|work| work["metadata"]["name"] != "gateway-rbac" || work["metadata"]["namespace"] != "us-1");
    write(&scratch, "works.json", &works);
    let run = scratch.run(&["status", "hub", "--works", "works.json"]);
    run.exits(0);
    insta::assert_snapshot!(run.stdout, @r"
    GATEWAYCLASS               CONDITION  STATUS  REASON
    gatewayclass/multicluster  Accepted   True    Accepted

    GATEWAY                    CONDITION   STATUS  REASON
    gateway/gateways/prod-web  Accepted    True    Accepted
                               Programmed  True    Programmed
        address: eu-1/203.0.113.1 (MultiClusterIPAddress)
        address: us-1/203.0.113.2 (MultiClusterIPAddress)
        listener: eu-1.api: 1 route attached
        listener: us-1.api: 2 routes attached

    POLICY                           CONDITION  STATUS  REASON
    ratelimitpolicy/gateways/global  Accepted   False   NotTrueOnAllClusters
        on us-1: not applied: no matches for kind
                                     Enforced   False   NotTrueOnAllClusters
        on eu-1: Overridden
        on us-1: not applied: no matches for kind

    2 of 4 planned works applied: 1 missing, 1 not applied; not planned: 1 stale
        ap-1/gateway-gateways-prod-web: stale: it is not placed there (of
          gateways/prod-web)
        us-1/gateway-gateways-prod-web: RateLimitPolicy kuadrant-gateways/global is
          not applied (AppliedManifestFailed): no matches for kind
        us-1/gateway-rbac: missing
        help, stale: `spokewright prune-list --works` prints it as input for
          `kubectl delete -f -`
    ");
}

#[test]
fn the_json_of_works_names_its_source_and_the_rules_of_the_hub() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    let raw = json!([{"type": "Hostname", "value": "a.example.com"}, {"type": "IPAddress", "value": "203.0.113.9"}]);
    feed_back(&mut works, "us-1", "acceptedReason", &string("Conflicted"));
    feed_back(&mut works, "us-1", "accepted", &string("False"));
    for work in works
        .iter_mut()
        .filter(|work| work["metadata"]["namespace"] == "us-1")
    {
        let values = work.pointer_mut("/status/resourceStatus/manifests/2/statusFeedback/values");
        if let Some(values) = values.and_then(Value::as_array_mut) {
            values.push(
                json!({"name": "addresses", "fieldValue": {"type": "JsonRaw", "jsonRaw": raw.to_string()}}),
            );
        }
    }
    write(&scratch, "works/all.json", &works);
    let report = json_of(&scratch.run(&["status", "hub", "--works", "works", "-o", "json"]));
    assert_eq!(
        (&report["kind"], &report["source"]),
        (&json!("StatusReport"), &json!("works"))
    );
    assert_eq!(
        report["works"],
        json!({"planned": 4, "applied": 4, "problems": []})
    );
    let gateway = object(&report, GATEWAY);
    assert_eq!(
        gateway["addresses"],
        json!([
            {"type": "kuadrant.io/MultiClusterIPAddress", "value": "eu-1/203.0.113.1"},
            {"type": "kuadrant.io/MultiClusterHostnameAddress", "value": "us-1/a.example.com"},
            {"type": "kuadrant.io/MultiClusterIPAddress", "value": "us-1/203.0.113.9"},
        ])
    );
    assert_eq!(
        gateway["listeners"],
        json!([{"name": "eu-1.api", "attachedRoutes": 1}, {"name": "us-1.api", "attachedRoutes": 2}])
    );
    assert_eq!(
        condition(object(&report, POLICY), "Accepted"),
        "False NotTrueOnAllClusters us-1 Conflicted"
    );
    let one = json_of(&scratch.run(&[
        "status",
        "hub",
        "--works",
        "works",
        "-o",
        "json",
        "--clusters",
        "eu-1",
    ]));
    assert_eq!(one["works"], json!({"planned": 2, "applied": 2, "problems": []}));
    assert_eq!(
        condition(object(&one, POLICY), "Accepted"),
        "True Accepted Accepted on clusters [eu-1]"
    );
}

#[test]
fn works_come_as_a_file_a_directory_or_standard_input_in_one_document_or_many() {
    let scratch = rendered();
    let works = exported(&scratch);
    write(&scratch, "works.json", &works);
    let expected = scratch.run(&["status", "hub", "--works", "works.json", "-o", "json"]);
    expected.exits(0);
    let mut stream = String::new();
    for (position, work) in works.iter().enumerate() {
        let document = kube_yaml::write_document(work);
        scratch.write(&format!("dump/{position}.yaml"), &document);
        stream.push_str("---\n");
        stream.push_str(&document);
    }
    let directory = scratch.run(&["status", "hub", "--works", "dump", "-o", "json"]);
    assert_eq!(directory.stdout, expected.stdout);
    // As `kubectl get -o yaml` and `-o json` write it.
    let list =
        json!({"apiVersion": "v1", "items": works, "kind": "List", "metadata": {"resourceVersion": ""}});
    for (path, text) in [
        ("list.yaml", kube_yaml::write_document(&list)),
        ("list.json", format!("{list:#}\n")),
    ] {
        scratch.write(path, &text);
        let run = scratch.run(&["status", "hub", "--works", path, "-o", "json"]);
        assert_eq!(run.stdout, expected.stdout, "{path}");
    }
    let mut command = scratch.command(&["status", "hub", "--works", "-", "-o", "json"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(stream.as_bytes()).expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected.stdout);
}

#[test]
fn works_inside_the_input_are_not_input() {
    let scratch = rendered();
    write(&scratch, "hub/works.json", &exported(&scratch));
    let run = scratch.run(&["status", "hub", "--works", "hub/works.json", "-o", "json"]);
    run.exits(0);
    assert_eq!(json_of(&run)["works"]["applied"], 4);
}

#[test]
fn what_is_no_manifest_work_is_skipped_and_said_on_request() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    works.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}}));
    write(&scratch, "works.json", &works);
    scratch
        .run(&["status", "hub", "--works", "works.json"])
        .exits(0)
        .does_not_say("ConfigMap");
    scratch
        .run(&["status", "hub", "--works", "works.json", "-v"])
        .exits(0)
        .says("note: works.json:1: ConfigMap b/a is not a ManifestWork; skipped");
    write(&scratch, "none.json", &[]);
    let none = scratch.run(&["status", "hub", "--works", "none.json"]);
    none.exits(0)
        .says("note: there is no ManifestWork in `none.json`");
    assert!(
        none.stdout.contains("0 of 4 planned works applied"),
        "{}",
        none.stdout
    );
}

#[test]
fn works_that_cannot_be_read_end_the_run_without_a_status() {
    let scratch = rendered();
    scratch.write("broken.yaml", "kind: [\n");
    for (path, status, code) in [
        ("nowhere.yaml", 5, "error[input/unreadable]"),
        ("broken.yaml", 3, "error[yaml/syntax]"),
    ] {
        let run = scratch.run(&["status", "hub", "--works", path]);
        run.exits(status).says(code).says(path);
        assert_eq!(run.stdout, "", "{path}");
    }
    scratch
        .run(&["status", "-", "--works", "-"])
        .exits(2)
        .says("standard input can be read only once");
}

#[test]
fn a_broken_status_is_a_finding_with_its_place_and_the_rest_is_reported() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    feed_back(&mut works, "us-1", "listenerapiAttachedRoutes", &string("lots"));
    for work in works
        .iter_mut()
        .filter(|work| work["metadata"]["namespace"] == "eu-1")
    {
        work["status"]["conditions"] = json!("Applied");
    }
    let documents: Vec<String> = works.iter().map(kube_yaml::write_document).collect();
    scratch.write("works.yaml", &documents.join("---\n"));
    let run = scratch.run(&["status", "hub", "--works", "works.yaml", "-o", "json"]);
    run.exits(3)
        .says("error[object/schema]")
        .says("works.yaml:")
        .says("the attached routes of listener `api` on us-1 are not a number")
        .says("expected")
        .does_not_say("panicked");
    let report = json_of(&run);
    assert_eq!(report["works"]["applied"], 2);
    assert_eq!(report["works"]["problems"][0]["state"], "NotApplied");
    // The same work twice: which one holds is unknown.
    let twice = [documents.as_slice(), documents.as_slice()].concat();
    scratch.write("works.yaml", &twice.join("---\n"));
    scratch
        .run(&["status", "hub", "--works", "works.yaml"])
        .exits(3)
        .says("error[object/duplicate]");
}

/// A hub with a real API server and agents, asked after the worked example was applied.
fn real_export() -> Scratch {
    let scratch = Scratch::with_worked_example();
    let text = std::fs::read_to_string(fixtures().join("exported-works/worked-example.yaml"));
    let limits = kube_yaml::Limits::default();
    let mut works = kube_yaml::read_document(&text.expect("the fixture"), &limits).expect("YAML");
    scratch.bring_up_to_date(&mut works, |_| true);
    scratch.write("works.yaml", &works.to_string());
    scratch
}

#[test]
fn works_of_a_real_hub_are_what_is_rendered_until_the_input_changes() {
    let scratch = real_export();
    let arguments = [
        "status",
        "hub",
        "--works",
        "works.yaml",
        "--exit-code",
        "-o",
        "json",
    ];
    let run = scratch.run(&arguments);
    run.exits(0);
    assert_eq!(
        json_of(&run)["works"],
        json!({"planned": 4, "applied": 4, "problems": []})
    );
    scratch.raise_the_limit("hub/limits.yaml");
    let run = scratch.run(&arguments);
    let because = "RateLimitPolicy kuadrant-gateways/global differs";
    run.exits(4).says(&format!(
        "error: eu-1/gateway-gateways-prod-web: outdated: {because}\n\
         error: us-1/gateway-gateways-prod-web: outdated: {because}\n"
    ));
    let report = json_of(&run);
    let problem = |cluster: &str| json!({"cluster": cluster, "work": "gateway-gateways-prod-web", "state": "Outdated", "message": because});
    assert_eq!(
        report["works"],
        json!({"planned": 4, "applied": 2, "problems": [problem("eu-1"), problem("us-1")]})
    );
    assert_eq!(
        condition(object(&report, POLICY), "Enforced"),
        format!(
            "False NotTrueOnAllClusters eu-1 work `gateway-gateways-prod-web` is outdated: {because}; \
             us-1 work `gateway-gateways-prod-web` is outdated: {because}"
        )
    );
    assert_eq!(
        object(&report, GATEWAY)["addresses"][0]["value"],
        "eu-1/203.0.113.1"
    );
}

#[test]
fn what_the_parameters_ask_for_is_shown_by_cluster_beside_what_was_shipped() {
    let scratch = Scratch::with_worked_example();
    let limit = ".spec.defaults.limits.per-client.rates[?(@.window==\\\"10s\\\")].limit";
    scratch.edit(
        "hub/class.yaml",
        "{\"name\": \"generation\",",
        &format!("{{\"name\": \"limit\", \"path\": \"{limit}\"}}, {{\"name\": \"generation\","),
    );
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let mut works = exported(&scratch);
    let integer =
        |name: &str, value: i64| json!({"name": name, "fieldValue": {"type": "Integer", "integer": value}});
    for work in &mut works {
        let limit = if work["metadata"]["namespace"] == "eu-1" {
            100
        } else {
            50
        };
        let values = work.pointer_mut("/status/resourceStatus/manifests/1/statusFeedback/values");
        if let Some(values) = values.and_then(Value::as_array_mut) {
            values.extend([integer("generation", 7), integer("limit", limit)]);
        }
    }
    write(&scratch, "works.json", &works);
    let run = scratch.run(&["status", "hub", "--works", "works.json", "-o", "json"]);
    assert_eq!(
        object(&json_of(&run), POLICY)["feedback"],
        json!([
            {"name": "limit", "cluster": "eu-1", "value": 100, "shipped": 100},
            {"name": "limit", "cluster": "us-1", "value": 50, "shipped": 100},
            {"name": "generation", "cluster": "eu-1", "value": 7},
            {"name": "generation", "cluster": "us-1", "value": 7},
        ])
    );
    let text = scratch.run(&["status", "hub", "--works", "works.json"]).stdout;
    let shown: Vec<&str> = text.lines().filter(|line| line.contains("feedback: ")).collect();
    assert_eq!(
        shown,
        [
            "    feedback: limit is 100 on eu-1",
            "    feedback: limit is 50 on us-1 (shipped: 100)",
            "    feedback: generation is 7 on eu-1, us-1",
        ]
    );
}

#[test]
fn a_condition_about_an_older_generation_of_its_object_is_not_true() {
    let scratch = Scratch::with_worked_example();
    let observed = ".status.conditions[?(@.type==\\\"Enforced\\\")].observedGeneration";
    scratch.edit(
        "hub/class.yaml",
        "{\"name\": \"generation\",",
        &format!("{{\"name\": \"seen\", \"path\": \"{observed}\"}}, {{\"name\": \"generation\","),
    );
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let mut works = exported(&scratch);
    let integer =
        |name: &str, value: i64| json!({"name": name, "fieldValue": {"type": "Integer", "integer": value}});
    for work in &mut works {
        let seen = if work["metadata"]["namespace"] == "eu-1" {
            3
        } else {
            2
        };
        let values = work.pointer_mut("/status/resourceStatus/manifests/1/statusFeedback/values");
        if let Some(values) = values.and_then(Value::as_array_mut) {
            values.extend([integer("generation", 3), integer("seen", seen)]);
        }
    }
    write(&scratch, "works.json", &works);
    let run = scratch.run(&["status", "hub", "--works", "works.json", "-o", "json"]);
    let report = json_of(&run);
    let policy = object(&report, POLICY);
    assert_eq!(
        condition(policy, "Enforced"),
        "False NotTrueOnAllClusters us-1 Enforced is about generation 2, but the object has generation 3"
    );
    assert!(condition(policy, "Accepted").starts_with("True"));
}

#[test]
fn works_that_the_hub_made_from_sets_are_compared_but_for_their_rights() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    for work in &mut works {
        let name = work["metadata"]["name"].as_str().expect("a name").to_owned();
        work["metadata"]["name"] = json!(format!("{name}x7k2p"));
        let labels = &mut work["metadata"]["labels"];
        labels["work.open-cluster-management.io/manifestworkreplicaset"] = json!(format!("gateways.{name}"));
        labels["work.open-cluster-management.io/placementname"] = json!("edge");
        if name == "gateway-rbac" {
            // A set's ClusterRole may have a name of its own.
            work["spec"]["workload"]["manifests"][0]["metadata"]["name"] = json!("gateway:gateways:edge");
            work["status"]["resourceStatus"]["manifests"][0]["resourceMeta"]["name"] =
                json!("gateway:gateways:edge");
        }
    }
    // Two sets of RBAC on one cluster: the one that is not applied counts.
    let mut second = works.last().expect("works").clone();
    assert!(
        second["metadata"]["name"]
            .as_str()
            .expect("a name")
            .starts_with("gateway-rbac")
    );
    second["metadata"]["name"] = json!("gateway-rbac-otherx7k2p");
    second["status"]["conditions"] = json!([{"type": "Applied", "status": "False", "message": "no right"}]);
    write(&scratch, "works.json", &works);
    let arguments = ["status", "hub", "--works", "works.json", "--exit-code", "-q"];
    scratch.run(&arguments).exits(0);
    for works in [
        [works.as_slice(), &[second.clone()]].concat(),
        [&[second][..], &works].concat(),
    ] {
        write(&scratch, "works.json", &works);
        let run = scratch.run(&arguments);
        run.exits(4);
        assert_eq!(run.stderr, "error: us-1/gateway-rbac: not applied: no right\n");
    }
    write(&scratch, "works.json", &works);
    scratch.raise_the_limit("hub/limits.yaml");
    scratch.run(&arguments).exits(4).says(
        "error: eu-1/gateway-gateways-prod-web: outdated: RateLimitPolicy kuadrant-gateways/global differs",
    );
}

#[test]
fn a_policy_that_reaches_no_cluster_is_not_what_a_gate_requires() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/auth.yaml",
        "apiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: keys, namespace: gateways}\nspec:\n  \
         targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}\n",
    );
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    write(&scratch, "works.json", &exported(&scratch));
    scratch
        .run(&[
            "status",
            "hub",
            "--works",
            "works.json",
            "--require",
            "authpolicy=Enforced",
        ])
        .exits(4)
        .says("error: authpolicy/gateways/keys: it has no status here");
}

#[test]
fn a_policy_that_a_local_one_keeps_from_a_cluster_says_which() {
    let scratch = fleet();
    let works = fixtures().join("exported-works/fleet.yaml");
    let run = scratch.run(&[
        "status",
        "fleet",
        "--works",
        &works.display().to_string(),
        "-o",
        "json",
    ]);
    run.exits(0);
    let burst = condition(
        object(&json_of(&run), "ratelimitpolicy.kuadrant.io:shop/api-burst"),
        "Enforced",
    );
    assert!(
        burst.contains("eu-1 RateLimitPolicy is overridden by [kuadrant-shop/maintenance]"),
        "{burst}"
    );
}

#[test]
fn a_required_condition_opens_the_gate_where_it_is_true_everywhere() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    write(&scratch, "works.json", &works);
    let gate = |require: &[&str]| {
        let mut arguments = vec!["status", "hub", "--works", "works.json", "-q"];
        for require in require {
            arguments.extend(["--require", require]);
        }
        scratch.run(&arguments)
    };
    gate(&[
        "gateway=Programmed",
        "ratelimitpolicies.kuadrant.io=enforced",
        "GatewayClass=Accepted",
    ])
    .exits(0)
    .does_not_say("error");
    feed_back(&mut works, "us-1", "enforced", &string("False"));
    feed_back(&mut works, "us-1", "enforcedReason", &string("Unknown"));
    write(&scratch, "works.json", &works);
    gate(&["gateway=Programmed"]).exits(0);
    let run = gate(&["gateway=Programmed", "ratelimitpolicy=Enforced"]);
    run.exits(4);
    assert_eq!(
        run.stderr,
        "error: ratelimitpolicy/gateways/global: Enforced is False (NotTrueOnAllClusters): us-1 Unknown\n"
    );
    assert!(run.stdout.contains("GATEWAY"), "the report is there all the same");
    // What nothing reports is no True, and no usage error.
    let run = gate(&["ratelimitpolicy=Reconciled"]);
    run.exits(4)
        .says("error: ratelimitpolicy/gateways/global: it has no condition Reconciled");
}

#[test]
fn what_a_gate_cannot_mean_is_a_usage_error_with_help() {
    let scratch = Scratch::with_worked_example();
    let gate = |require: &str| scratch.run(&["status", "hub", "--require", require]);
    gate("gatway=Programmed")
        .exits(2)
        .says("error: the input contains no `gatway`")
        .says("help: did you mean `gateway`?");
    gate("gateway=Programed")
        .exits(2)
        .says("error: no `gateway` has a condition `Programed`")
        .says("help: did you mean `gateway=Programmed`?");
    for require in ["gateway", "=Programmed", "gateway="] {
        gate(require)
            .exits(2)
            .says("write KIND=CONDITION, as in gateway=Programmed");
    }
    scratch
        .run(&["status", "hub", "--exit-code"])
        .exits(2)
        .says("--works <PATH>");
    scratch.write("spokewright.yaml", "controllerName: example.com/other\n");
    scratch
        .run(&[
            "status",
            "hub",
            "--config",
            "spokewright.yaml",
            "--require",
            "gateway=Programmed",
        ])
        .exits(2)
        .says("error: no `gateway` of the input is ours")
        .says("help: `controllerName` in the configuration");
}

#[test]
fn predicted_statuses_are_a_gate_too_and_count_clusters_where_a_local_policy_wins() {
    let scratch = fleet();
    scratch
        .run(&[
            "status",
            "fleet",
            "--require",
            "gateway=Programmed",
            "--require",
            "authpolicy=Enforced",
        ])
        .exits(0);
    scratch
        .run(&["status", "fleet", "--require", "ratelimitpolicy=Enforced"])
        .exits(4)
        .says("error: ratelimitpolicy/shop/api-burst: Enforced is False on eu-1 (Overridden): RateLimitPolicy is");
    scratch
        .run(&[
            "status",
            "fleet",
            "--require",
            "ratelimitpolicy=Enforced",
            "--clusters",
            "us-*",
        ])
        .exits(0);
}

#[test]
fn the_gate_is_closed_by_what_is_planned_and_by_what_is_stale_but_not_by_what_another_input_may_want() {
    let scratch = rendered();
    let works = exported(&scratch);
    let run = |works: &[Value], format: &str| {
        write(&scratch, "works.json", works);
        scratch.run(&[
            "status",
            "hub",
            "--works",
            "works.json",
            "--exit-code",
            "-q",
            "--message-format",
            format,
        ])
    };
    let mut stale = works[0].clone();
    stale["metadata"]["namespace"] = json!("ap-1");
    let run_with = |work: &Value| run(&[works.as_slice(), std::slice::from_ref(work)].concat(), "human");
    let closed = run_with(&stale);
    closed.exits(4);
    assert_eq!(
        closed.stderr,
        "error: ap-1/gateway-gateways-prod-web: stale: it is not placed there (of gateways/prod-web)\n"
    );
    // One that was made for something that is not in this input.
    let mut unclaimed = stale.clone();
    unclaimed["metadata"]["annotations"]["kuadrant.io/parent"] = json!("gateways/other");
    let open = run_with(&unclaimed);
    open.exits(0);
    assert!(
        open.stdout
            .contains("4 of 4 planned works applied; not planned: 1 unclaimed\n")
            && open
                .stdout
                .contains("ap-1/gateway-gateways-prod-web: unclaimed (of gateways/other)\n"),
        "{}",
        open.stdout
    );
    let missing = run(&works[1..], "human");
    missing.exits(4);
    assert_eq!(missing.stderr, "error: eu-1/gateway-gateways-prod-web: missing\n");
    assert!(
        missing.stdout.contains("3 of 4 planned works applied"),
        "{}",
        missing.stdout
    );
    let document = run(&works[1..], "json");
    document.exits(4);
    let findings: Value = serde_json::from_str(&document.stderr).expect("one document");
    assert_eq!(findings["kind"], "FindingList");
}

#[test]
fn errors_of_the_input_decide_the_exit_status_before_the_gate_does() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    feed_back(&mut works, "us-1", "listenerapiAttachedRoutes", &string("lots"));
    write(&scratch, "works.json", &works[1..]);
    scratch
        .run(&["status", "hub", "--works", "works.json", "--exit-code"])
        .exits(3)
        .says("error[object/schema]")
        .says("error: eu-1/gateway-gateways-prod-web: missing");
}

#[test]
fn thousands_of_failed_manifests_with_names_that_steer_a_terminal_are_a_few_calm_lines() {
    let scratch = rendered();
    let mut works = exported(&scratch);
    let failed = |number: usize| {
        json!({
            "resourceMeta": {"kind": "Thing\u{1b}[31m", "namespace": "a\u{202e}", "name": format!("n{number}\n")},
            "conditions": [{"type": "Applied", "status": "False", "message": "no\u{9b}31m\r\nkind"}],
        })
    };
    let all: Vec<Value> = (0..5000).map(failed).collect();
    works[0]["status"]["resourceStatus"]["manifests"] = json!(all);
    write(&scratch, "works.json", &works);
    let arguments = ["status", "hub", "--works", "works.json", "--exit-code", "-q"];
    let run = scratch.run(&arguments);
    run.exits(4);
    for text in [&run.stdout, &run.stderr] {
        let steers = |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
        assert!(!text.contains(steers), "{text:?}");
    }
    assert!(
        run.stdout.contains("and 4980 more; `-o json` lists all"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.lines().count() < 100, "{}", run.stdout);
    assert_eq!(run.stderr.lines().count(), 11);
    assert!(run.stderr.ends_with("error: and 4990 more\n"), "{}", run.stderr);
    let report = json_of(&scratch.run(&["status", "hub", "--works", "works.json", "-o", "json"]));
    let manifests = &report["works"]["problems"][0]["manifests"];
    assert_eq!(manifests.as_array().map(Vec::len), Some(5000));
}

#[test]
fn an_export_whose_parts_are_of_the_wrong_type_never_breaks_the_report() {
    let scratch = rendered();
    let works = exported(&scratch);
    for pointer in [
        "/spec",
        "/spec/workload",
        "/spec/workload/manifests",
        "/spec/manifestConfigs",
        "/spec/manifestConfigs/0/feedbackRules",
        "/spec/deleteOption",
        "/status",
        "/status/conditions/0",
        "/status/resourceStatus/manifests/1",
        "/status/resourceStatus/manifests/1/resourceMeta",
        "/status/resourceStatus/manifests/1/conditions/0/status",
        "/status/resourceStatus/manifests/2/statusFeedback/values/0/fieldValue",
    ] {
        for wrong in [
            Value::Null,
            json!(7),
            json!("text"),
            json!([[1]]),
            json!({"a": {"b": []}}),
        ] {
            let mut works = works.clone();
            *works[0].pointer_mut(pointer).expect(pointer) = wrong.clone();
            write(&scratch, "works.json", &works);
            let run = scratch.run(&[
                "status",
                "hub",
                "--works",
                "works.json",
                "-o",
                "json",
                "--exit-code",
            ]);
            assert!(
                [0, 3, 4].contains(&run.status),
                "{pointer} {wrong}: {}",
                run.stderr
            );
            run.does_not_say("panicked");
            assert_eq!(json_of(&run)["works"]["planned"], 4, "{pointer} {wrong}");
        }
    }
}
