//! What `status --works` says of works that a real hub held (fixtures/exported/README.md).

use std::fmt::Write as _;
use std::fs;

use kube_json::{Value, json};

use crate::scratch::{Scratch, copy, fixtures};

/// What `data.params` of the fleet's class begins with.
const PARAMS: &str = "\"downstreamClass\": \"istio\",";

/// An export, with the hub that it was rendered from in `hub/`.
fn hub_of(export: &str) -> Scratch {
    let scratch = Scratch::new();
    if export == "works-we" {
        copy(&fixtures().join("worked-example/hub"), &scratch.path("hub"));
        return scratch;
    }
    copy(&fixtures().join("exported/fleet"), &scratch.path("hub"));
    let set = |setting: &str| {
        scratch.edit(
            "hub/hub/platform/gateway-params.yaml",
            PARAMS,
            &format!("{PARAMS}\n      {setting},"),
        );
    };
    match export {
        "works-stuck" => {
            scratch.remove("hub/hub/platform/access-log.yaml");
        }
        // A set is the same on every cluster, so nothing local may take from what is shipped.
        "works-rs" => {
            scratch.remove("hub/spokes/eu-1/limits.yaml");
        }
        "works-ssaconf" => set("\"updateStrategy\": \"ServerSideApply\""),
        "works-raw0" | "works-raw1" => set("\"rawFeedback\": true"),
        _ => {}
    }
    scratch
}

fn arguments(works: &str) -> [&str; 6] {
    ["status", "hub", "-q", "--exit-code", "--works", works]
}

/// Both streams and the exit status of the gate, for an export that was brought up to date.
fn said(scratch: &Scratch, export: &str) -> String {
    edited(export, scratch, |_| {});
    let run = scratch.run(&arguments("works.json"));
    let mut text = run.stdout;
    let _ = write!(text, "\nexit status {}\n{}", run.status, run.stderr);
    text
}

/// The works of an export with the specs that are rendered now. Rights stay as they were where they are the matter, and in
/// works of sets, which have other names for them.
fn up_to_date(export: &str, scratch: &Scratch) -> Value {
    let limits = kube_yaml::Limits::default();
    let text = fs::read_to_string(path(export)).expect("an export");
    let mut list = kube_yaml::read_document(&text, &limits).expect("YAML");
    let keeps_rights = ["works-stuck", "works-rs"].contains(&export);
    scratch.bring_up_to_date(&mut list, |work| {
        !keeps_rights || work["metadata"]["labels"]["kuadrant.io/manifestKey"].is_string()
    });
    list
}

fn path(export: &str) -> String {
    let path = fixtures().join(format!("exported/{export}.yaml"));
    path.display().to_string()
}

/// What was said of an export is what is said.
fn compare(name: &str, said: &str) {
    let file = fixtures().join(format!("exported/{name}.txt"));
    if std::env::var_os("UPDATE_EXPORTED").is_some() {
        fs::write(&file, said).expect("a file");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        said, expected,
        "{name}: UPDATE_EXPORTED=1 writes it, read the difference"
    );
}

/// The agents' AppliedManifestWorks, as `spokes/` of the hub holds them.
fn add_applied(scratch: &Scratch) {
    copy(&fixtures().join("exported/applied"), &scratch.path("hub/spokes"));
}

#[test]
fn of_every_export_is_said_what_is_written_beside_it() {
    let mut exports = Vec::new();
    for entry in fs::read_dir(fixtures().join("exported")).expect("a directory") {
        let name = entry.expect("an entry").file_name().into_string().expect("text");
        exports.extend(name.strip_suffix(".yaml").map(str::to_owned));
    }
    exports.sort();
    assert_eq!(exports.len(), 7);
    for export in exports {
        compare(&export, &said(&hub_of(&export), &export));
    }
    let scratch = hub_of("works-stuck");
    add_applied(&scratch);
    compare("works-stuck-applied", &said(&scratch, "works-stuck"));
}

#[test]
fn what_an_agent_could_not_delete_is_never_called_applied() {
    let scratch = hub_of("works-stuck");
    let works = path("works-stuck");
    let run = scratch.run(&arguments(&works));
    run.exits(4)
        .says("error: eu-1/gateway-rbac: without a right to delete: accesslogpolicies.edge.acme.example");
    assert!(!run.stdout.contains("8 of 8"), "{}", run.stdout);
    add_applied(&scratch);
    let run = scratch.run(&arguments(&works));
    run.exits(4).says(
        "error: eu-1/gateway-shop-storefront: accesslogpolicies.edge.acme.example \
         kuadrant-shop/platform.access-log is still there",
    );
    assert!(
        run.stdout.contains("help, leaving something behind: "),
        "{}",
        run.stdout
    );
    let json = [&arguments(&works)[..], &["-o", "json"]].concat();
    let report: Value = serde_json::from_str(&scratch.run(&json).stdout).expect("JSON");
    let problems = report["works"]["problems"].as_array().expect("problems");
    let of = |state: &str| {
        let found = problems.iter().filter(|problem| problem["state"] == state);
        found.collect::<Vec<_>>()
    };
    assert_eq!((of("LeftBehind").len(), of("MayNotDelete").len()), (3, 3));
    for (problem, cluster) in of("LeftBehind").into_iter().zip(["eu-1", "eu-2", "us-1"]) {
        let manifest = &problem["manifests"][0];
        assert_eq!(
            [&problem["cluster"], &manifest["kind"], &manifest["name"]],
            [
                cluster,
                "accesslogpolicies.edge.acme.example",
                "platform.access-log"
            ]
        );
    }
    assert!(of("LeftBehind")[0]["help"].is_string());
}

#[test]
fn what_an_agent_noted_of_works_that_hold_everything_says_nothing() {
    let scratch = hub_of("works1");
    add_applied(&scratch);
    let run = scratch.run(&arguments(&path("works1")));
    for words in ["still there", "without a right"] {
        assert!(!run.stdout.contains(words), "{}", run.stdout);
    }
}

/// An export, up to date, after an edit of each of its works, in `works.json`.
fn edited(export: &str, scratch: &Scratch, edit: impl Fn(&mut Value)) {
    let mut list = up_to_date(export, scratch);
    list["items"]
        .as_array_mut()
        .expect("works")
        .iter_mut()
        .for_each(edit);
    scratch.write("works.json", &list.to_string());
}

#[test]
fn an_export_of_what_another_version_rendered_is_outdated_and_says_in_what() {
    let run = hub_of("works1").run(&arguments(&path("works1")));
    run.exits(4)
        .says("error: eu-1/gateway-shop-storefront: outdated: its manifests are in a different order, `manifestConfigs` differs\n");
    assert!(
        run.stdout
            .contains("\n0 of 8 planned works applied: 8 outdated\n"),
        "{}",
        run.stdout
    );
}

/// Writes a condition of a manifest anew.
fn set_condition(manifest: &mut Value, kind: &str, status: &str, reason: &str, message: &str) {
    let conditions = manifest["conditions"].as_array_mut().expect("conditions");
    let found = conditions.iter_mut().find(|condition| condition["type"] == kind);
    let condition = found.expect("the condition");
    condition["status"] = json!(status);
    condition["reason"] = json!(reason);
    condition["message"] = json!(message);
}

fn manifests(work: &mut Value) -> &mut Vec<Value> {
    let manifests = work["status"]["resourceStatus"]["manifests"].as_array_mut();
    manifests.expect("manifests")
}

fn gateway(work: &mut Value) -> Option<&mut Value> {
    let mut manifests = manifests(work).iter_mut();
    manifests.find(|manifest| manifest["resourceMeta"]["kind"] == "Gateway")
}

#[test]
fn a_conflict_of_server_side_apply_names_the_manager_and_the_fields_and_what_to_do() {
    let scratch = hub_of("works-ssaconf");
    let field = ".spec.listeners[name=\"https\"].tls.certificateRefs";
    let says = format!(
        "Failed to apply manifest: Apply failed with 1 conflict: conflict with \"work-agent\" using \
         gateway.networking.k8s.io/v1: {field}"
    );
    for reason in ["AppliedManifestFailed", "ApplyConflict"] {
        edited("works-ssaconf", &scratch, |work| {
            let Some(gateway) = gateway(work) else { return };
            set_condition(gateway, "Applied", "False", reason, &says);
            work["status"]["conditions"][0]["status"] = json!("False");
        });
        let run = scratch.run(&arguments("works.json"));
        run.exits(4).says(&format!(
            "error: eu-1/gateway-payments-payments: Gateway kuadrant-payments/payments is in conflict ({reason}): {says}"
        ));
        assert!(run.stdout.contains("help, in conflict: "), "{}", run.stdout);
        assert!(
            !run.stdout.contains("not applied ("),
            "one word for it: {}",
            run.stdout
        );
    }
}

#[test]
fn each_way_of_not_being_applied_has_its_own_word_and_closes_the_gate() {
    type Edit = fn(&mut Value);
    let cases: [(Edit, &str); 8] = [
        (
            |work| work["metadata"]["generation"] = json!(9),
            "not observed yet: its agent has seen generation 1, but it has generation 9",
        ),
        (
            |work| manifests(work)[1]["conditions"][0]["observedGeneration"] = json!(0),
            "not observed yet: its agent has seen generation 0, but it has generation 1",
        ),
        (
            |work| work["metadata"]["deletionTimestamp"] = json!("2026-11-22T02:00:00Z"),
            "being deleted",
        ),
        (
            |work| {
                let manifest = &mut manifests(work)[1];
                let message = "Failed to fetch resource: the server is gone";
                set_condition(
                    manifest,
                    "Available",
                    "Unknown",
                    "FetchingResourceFailed",
                    message,
                );
            },
            " is not available (FetchingResourceFailed): Failed to fetch resource: the server is gone",
        ),
        (
            |work| {
                let message = "cannot be said";
                set_condition(&mut work["status"], "Available", "Unknown", "Unknown", message);
            },
            "not available: cannot be said",
        ),
        (
            |work| work["status"]["conditions"][1]["observedGeneration"] = json!(0),
            "not available: Available is about generation 0, but the work has generation 1",
        ),
        (
            |work| {
                let mut left = manifests(work)[1].clone();
                left["resourceMeta"]["name"] = json!("gone");
                manifests(work).push(left);
            },
            "gone is still there: its work no longer contains it, but still reports it",
        ),
        (
            |work| {
                let manifest = &mut manifests(work)[1];
                set_condition(
                    manifest,
                    "StatusFeedbackSynced",
                    "False",
                    "StatusFeedbackSyncFailed",
                    "no list",
                );
            },
            " is not read in full (StatusFeedbackSyncFailed): no list",
        ),
    ];
    let scratch = hub_of("works1");
    for (edit, words) in cases {
        edited("works1", &scratch, edit);
        let run = scratch.run(&arguments("works.json"));
        run.exits(4).says(words);
        assert!(run.stdout.starts_with("GATEWAYCLASS"), "the report is there");
        assert!(
            run.stdout.contains("\n0 of 8 planned works applied: 8 "),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn what_a_rule_makes_of_an_objects_conditions_is_said_by_those_conditions() {
    let scratch = hub_of("works1");
    edited("works1", &scratch, |work| {
        let Some(gateway) = gateway(work) else { return };
        let message = "not every listener is ready";
        set_condition(gateway, "Available", "False", "ConditionRuleEvaluated", message);
        let message = "1 of 5 resources are not available";
        set_condition(
            &mut work["status"],
            "Available",
            "False",
            "ResourcesNotAvailable",
            message,
        );
    });
    let run = scratch.run(&arguments("works.json"));
    assert!(!run.stdout.contains("not available"), "{}", run.stdout);
}

#[test]
fn an_agents_notes_count_where_their_cluster_is_known_and_are_doubtful_where_not() {
    let notes = fs::read_to_string(fixtures().join("exported/applied/us-1/applied.yaml")).expect("notes");
    let works = fs::read_to_string(path("works-stuck")).expect("works");
    // Several clusters have a work of this name, so it may be anybody's.
    let scratch = hub_of("works-stuck");
    scratch.write("works/notes.yaml", &notes);
    scratch.write("works/works.yaml", &works);
    scratch
        .run(&["status", "hub", "--works", "works", "--deny", "warnings"])
        .says("[spoke/unknown-cluster]: the cluster of AppliedManifestWork ")
        .says("spokes/<cluster>/applied.yaml");
    // Of one cluster alone it is clear.
    edited("works-stuck", &scratch, |work| {
        if work["metadata"]["namespace"] != "us-1" {
            work["metadata"]["name"] =
                json!(format!("another-{}", work["metadata"]["name"]).replace('"', ""));
        }
    });
    scratch.remove("works/works.yaml");
    scratch.write("works/works.json", &scratch.read("works.json"));
    let run = scratch.run(&[&arguments("works")[..], &["--clusters", "us-*"]].concat());
    run.exits(4).does_not_say("unknown-cluster").says(
        "us-1/gateway-shop-storefront: accesslogpolicies.edge.acme.example kuadrant-shop/platform.access-log",
    );
}

#[test]
fn another_work_may_grant_the_deletion_of_a_kind_and_a_grant_for_one_name_is_none() {
    let scratch = hub_of("works-stuck");
    for (groups, resources, verbs, names, grants) in [
        (
            "edge.acme.example",
            "accesslogpolicies",
            "delete",
            json!([]),
            true,
        ),
        ("edge.acme.example", "*", "*", Value::Null, true),
        ("*", "accesslogpolicies", "delete", Value::Null, true),
        (
            "edge.acme.example",
            "accesslogpolicies",
            "delete",
            json!(["only-this"]),
            false,
        ),
        (
            "edge.acme.example",
            "accesslogpolicies",
            "deletecollection",
            Value::Null,
            false,
        ),
        ("edge.acme.example", "accesslogs", "delete", Value::Null, false),
        ("acme.example", "accesslogpolicies", "delete", Value::Null, false),
    ] {
        edited("works-stuck", &scratch, |work| {
            if work["metadata"]["name"] != "gateway-rbac" {
                let manifests = work["spec"]["workload"]["manifests"].as_array_mut();
                manifests.expect("manifests").push(json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "more"},
                    "rules": [{"apiGroups": [groups], "resources": [resources], "verbs": [verbs],
                               "resourceNames": names}],
                }));
            }
        });
        let run = scratch.run(&arguments("works.json"));
        let lacks = run.stdout.contains("without a right to delete: ");
        assert_eq!(
            lacks, !grants,
            "{groups} {resources} {verbs} {names}: {}",
            run.stdout
        );
    }
}
