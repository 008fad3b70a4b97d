//! `spokewright prune-list` (docs/guides/what-left-the-tree.md): what is ours and no longer planned, and nothing else.

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use kube_json::{Value, json};

use crate::scratch::{Run, Scratch, copy, fixtures};

const NOTHING: &str = "nothing to delete: the hub has no work of this input that is not planned\n";

/// The fleet that the exports were rendered from, in `hub/`.
fn fleet_with_a_local_policy() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("exported/fleet"), &scratch.path("hub"));
    scratch
}

/// The same, where nothing local takes from what is shipped, so that it can be sets, too.
fn fleet() -> Scratch {
    let scratch = fleet_with_a_local_policy();
    scratch.remove("hub/spokes/eu-1/limits.yaml");
    scratch
}

fn exported(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(fixtures().join(format!("exported/{name}.yaml"))).expect("an export");
    let limits = kube_yaml::Limits::default();
    let mut list = kube_yaml::read_document(&text, &limits).expect("YAML");
    list["items"].as_array_mut().expect("works").drain(..).collect()
}

fn write(scratch: &Scratch, works: &[Value]) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": works});
    scratch.write("works.json", &list.to_string());
}

fn prune(scratch: &Scratch, more: &[&str]) -> Run {
    let run = scratch.run(&[&["prune-list", "hub", "--works", "works.json"], more].concat());
    run.exits(0);
    run
}

/// `kind namespace/name` of each document, in order; each says nothing else.
fn listed(run: &Run) -> Vec<String> {
    let limits = kube_yaml::Limits::default();
    let documents = kube_yaml::read_all(&run.stdout, &limits).expect("YAML");
    let line = |document: &Value| {
        let text = |pointer: &str| {
            document
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (kind, namespace, name) = (text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        let version = if kind == "ManifestWork" { "v1" } else { "v1alpha1" };
        assert_eq!(
            *document,
            json!({
                "apiVersion": format!("work.open-cluster-management.io/{version}"),
                "kind": kind,
                "metadata": {"name": name, "namespace": namespace},
            })
        );
        format!("{kind} {namespace}/{name}")
    };
    documents.iter().map(line).collect()
}

/// us-1 leaves the Placement of the shop, which was all that placed anything there.
fn without_us_1(scratch: &Scratch) {
    scratch.edit(
        "hub/hub/shop/placement.yaml",
        "  - {clusterName: us-1, reason: \"\"}\n",
        "",
    );
}

/// One of the sets that the works of `works-rs` were made from.
fn set(namespace: &str, name: &str, parent: Option<&str>) -> Value {
    let mut labels = json!({"kuadrant.io": "managed"});
    let mut annotations = json!({});
    if let Some(parent) = parent {
        labels["kuadrant.io/manifestKey"] = json!(name);
        annotations["kuadrant.io/parent"] = json!(parent);
    }
    json!({
        "apiVersion": "work.open-cluster-management.io/v1alpha1", "kind": "ManifestWorkReplicaSet",
        "metadata": {"namespace": namespace, "name": name, "labels": labels, "annotations": annotations},
        "spec": {"manifestWorkTemplate": {"workload": {"manifests": [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "any"}},
        ]}}, "placementRefs": [{"name": "any"}]},
    })
}

fn sets() -> Vec<Value> {
    vec![
        set("payments", "gateway-payments-payments", Some("payments/payments")),
        set("payments", "gateway-rbac", None),
        set("shop", "gateway-shop-storefront", Some("shop/storefront")),
        set("shop", "gateway-rbac", None),
    ]
}

#[test]
fn where_all_is_planned_nothing_is_printed_but_one_calm_line() {
    let scratch = fleet();
    write(&scratch, &exported("works1"));
    for more in [&[][..], &["--sole"]] {
        let run = prune(&scratch, more);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", NOTHING));
    }
    assert_eq!(prune(&scratch, &["-q"]).stderr, "");
}

#[test]
fn the_works_of_a_cluster_that_left_are_listed_and_its_rights_once_those_are_gone() {
    let scratch = fleet();
    without_us_1(&scratch);
    let mut works = exported("works1");
    write(&scratch, &works);
    let run = prune(&scratch, &[]);
    assert_eq!(listed(&run), ["ManifestWork us-1/gateway-shop-storefront"]);
    run.says("note: ManifestWork us-1/gateway-rbac is not planned, and its owner is unknown")
        .says("help: if no other input renders into this hub, add `--sole`");
    let run = prune(&scratch, &["--sole"]);
    assert_eq!(listed(&run), ["ManifestWork us-1/gateway-shop-storefront"]);
    run.says(
        "note: ManifestWork us-1/gateway-rbac must wait: the agent of us-1 needs these rights to delete \
         gateway-shop-storefront",
    );
    // While it is being deleted it is nothing to delete, and its agent still needs them.
    for work in &mut works {
        if work["metadata"]["namespace"] == "us-1" && work["metadata"]["name"] == "gateway-shop-storefront" {
            work["metadata"]["deletionTimestamp"] = json!("2026-11-22T02:00:00Z");
        }
    }
    write(&scratch, &works);
    prune(&scratch, &["--sole"])
        .says("nothing to delete now")
        .says("note: ManifestWork us-1/gateway-rbac must wait");
    works.retain(|work| work["metadata"]["deletionTimestamp"].is_null());
    write(&scratch, &works);
    assert_eq!(
        listed(&prune(&scratch, &["--sole"])),
        ["ManifestWork us-1/gateway-rbac"]
    );
    assert_eq!(
        listed(&prune(&scratch, &["--sole", "--clusters", "eu-*"])),
        [""; 0]
    );
}

#[test]
fn what_another_input_or_somebody_else_may_want_is_never_listed() {
    let scratch = fleet();
    let mut works = exported("works1");
    let ours = works
        .iter()
        .find(|work| work["metadata"]["name"] == "gateway-shop-storefront");
    let ours = ours.expect("the work").clone();
    let look_alike = |namespace: &str, edit: &dyn Fn(&mut Value)| {
        let mut work = ours.clone();
        work["metadata"]["namespace"] = json!(namespace);
        edit(&mut work["metadata"]);
        work
    };
    works.extend([
        // Another repository's Gateway; one that has the name of ours in another namespace; one of MGC's age.
        look_alike("ap-1", &|metadata| {
            metadata["name"] = json!("gateway-shop-other");
            metadata["annotations"]["kuadrant.io/parent"] = json!("shop/other");
            metadata["labels"]["kuadrant.io/manifestKey"] = json!("gateway-shop-other");
        }),
        look_alike("ap-2", &|metadata| {
            metadata["annotations"]["kuadrant.io/parent"] = json!("shops/storefront");
        }),
        look_alike("ap-3", &|metadata| metadata["annotations"] = Value::Null),
        // Without the label nobody of us made it, whatever it is called.
        look_alike("ap-4", &|metadata| {
            metadata["labels"] = json!({"kuadrant.io/manifestKey": "gateway-shop-storefront"});
        }),
        look_alike("ap-5", &|metadata| {
            metadata["labels"]["kuadrant.io"] = json!("Managed");
        }),
        // A controller makes it.
        look_alike("ap-6", &|metadata| {
            metadata["ownerReferences"] =
                json!([{"apiVersion": "a.b/v1", "kind": "C", "name": "d", "uid": "e"}]);
        }),
        // The hub made it from a set.
        look_alike("ap-7", &|metadata| {
            metadata["labels"]["work.open-cluster-management.io/manifestworkreplicaset"] = json!("shop.x");
        }),
    ]);
    write(&scratch, &works);
    let run = prune(&scratch, &[]);
    assert_eq!(run.stdout, "");
    run.says(NOTHING);
    for unclaimed in [
        "ap-1/gateway-shop-other",
        "ap-2/gateway-shop-storefront",
        "ap-3/gateway-shop-storefront",
    ] {
        run.says(&format!(
            "note: ManifestWork {unclaimed} is not planned, and its owner is unknown"
        ));
    }
    for foreign in ["ap-4", "ap-5", "ap-6", "ap-7"] {
        run.does_not_say(foreign);
    }
    // Whoever says that there is no other input gets those that MGC or spokewright made, and no more.
    assert_eq!(
        listed(&prune(&scratch, &["--sole"])),
        [
            "ManifestWork ap-1/gateway-shop-other",
            "ManifestWork ap-2/gateway-shop-storefront",
            "ManifestWork ap-3/gateway-shop-storefront",
        ]
    );
    // And what moved here from there is ours.
    works.push(look_alike("ap-8", &|_| {}));
    write(&scratch, &works);
    assert_eq!(
        listed(&prune(&scratch, &[])),
        ["ManifestWork ap-8/gateway-shop-storefront"]
    );
}

#[test]
fn a_switch_to_sets_lists_the_old_works_only_where_the_sets_have_arrived() {
    let scratch = fleet();
    let switched = ["--work-kind", "replica-set", "--sole"];
    let old = exported("works1");
    write(&scratch, &old);
    let run = prune(&scratch, &switched);
    assert_eq!(run.stdout, "");
    run.says("nothing to delete now").says(
        "note: ManifestWork eu-1/gateway-shop-storefront must wait: Gateway kuadrant-shop/storefront moved to \
         another work, which is not applied on eu-1 yet",
    );
    // On us-1 the new work is there, and one of its manifests is not applied yet.
    let mut new = exported("works-rs");
    for work in &mut new {
        if work["metadata"]["namespace"] == "us-1"
            && work["metadata"]["labels"]["kuadrant.io/manifestKey"].is_string()
        {
            work["status"]["resourceStatus"]["manifests"][4]["conditions"]
                .as_array_mut()
                .expect("conditions")
                .iter_mut()
                .for_each(|condition| condition["status"] = json!("False"));
        }
    }
    write(&scratch, &[old.clone(), new, sets()].concat());
    let run = prune(&scratch, &switched);
    assert_eq!(
        listed(&run),
        [
            "ManifestWork eu-1/gateway-payments-payments",
            "ManifestWork eu-1/gateway-shop-storefront",
            "ManifestWork eu-2/gateway-payments-payments",
            "ManifestWork eu-2/gateway-shop-storefront",
        ]
    );
    run.says("note: ManifestWork us-1/gateway-shop-storefront must wait: ")
        .says(
            "note: ManifestWork eu-1/gateway-rbac must wait: the agent of eu-1 needs these rights to delete",
        );
    // What an agent said of an older spec says nothing of this one.
    let mut behind = exported("works-rs");
    for work in &mut behind {
        work["metadata"]["generation"] = json!(2);
    }
    write(&scratch, &[old.clone(), behind, sets()].concat());
    assert_eq!(prune(&scratch, &switched).stdout, "");
    // Nor is a new work that is being deleted a place for what is in it.
    let mut going = exported("works-rs");
    for work in &mut going {
        work["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    write(&scratch, &[old.clone(), going, sets()].concat());
    assert_eq!(prune(&scratch, &switched).stdout, "");
    // At the end only the rights are left, and go last.
    let mut rights = old;
    rights.retain(|work| work["metadata"]["name"] == "gateway-rbac");
    write(&scratch, &[rights, exported("works-rs"), sets()].concat());
    assert_eq!(
        listed(&prune(&scratch, &switched)),
        ["eu-1", "eu-2", "us-1"].map(|cluster| format!("ManifestWork {cluster}/gateway-rbac"))
    );
}

#[test]
fn a_switch_back_lists_the_sets_and_never_the_works_that_the_hub_made_from_them() {
    let scratch = fleet_with_a_local_policy();
    let sets_alone = [exported("works-rs"), sets()].concat();
    write(&scratch, &sets_alone);
    let run = prune(&scratch, &["--sole"]);
    assert_eq!(run.stdout, "", "nothing has arrived");
    run.says("note: ManifestWorkReplicaSet shop/gateway-shop-storefront must wait: ");
    write(&scratch, &[sets_alone, exported("works1")].concat());
    let run = prune(&scratch, &["--sole"]);
    assert_eq!(
        listed(&run),
        [
            "ManifestWorkReplicaSet payments/gateway-payments-payments",
            "ManifestWorkReplicaSet shop/gateway-shop-storefront",
        ]
    );
    run.says(
        "note: ManifestWorkReplicaSet shop/gateway-rbac must wait: the agent of eu-1 needs these rights",
    );
    // A policy that the set shipped to eu-1, and that no work ships there now, is planned there again.
    scratch.remove("hub/spokes/eu-1/limits.yaml");
    prune(&scratch, &["--sole"]).says(
        "note: ManifestWorkReplicaSet shop/gateway-shop-storefront must wait: RateLimitPolicy kuadrant-shop/api-burst \
         moved to another work, which is not applied on eu-1 yet",
    );
    // Of a part of the clusters nothing can be said about sets.
    assert_eq!(
        listed(&prune(&scratch, &["--sole", "--clusters", "eu-*"])),
        [""; 0]
    );
    let rights = sets()
        .into_iter()
        .filter(|set| set["metadata"]["name"] == "gateway-rbac");
    write(&scratch, &[rights.collect(), exported("works1")].concat());
    assert_eq!(
        listed(&prune(&scratch, &["--sole"])),
        [
            "ManifestWorkReplicaSet payments/gateway-rbac",
            "ManifestWorkReplicaSet shop/gateway-rbac"
        ]
    );
}

#[test]
fn without_an_export_the_rendered_tree_says_what_was_ours() {
    let scratch = fleet();
    let list = |more: &[&str]| scratch.run(&[&["prune-list", "hub"], more].concat());
    let run = list(&[]);
    run.exits(0)
        .says("nothing to delete: the rendered tree has no work of this input");
    scratch.run(&["render", "hub", "-q"]).exits(0);
    assert_eq!(list(&[]).stdout, "");
    without_us_1(&scratch);
    let run = list(&[]);
    run.exits(0);
    assert_eq!(listed(&run), ["ManifestWork us-1/gateway-shop-storefront"]);
    run.says("note: ManifestWork us-1/gateway-rbac must wait: ");
    // A file that is in the tree and not of it is nobody's.
    let text = scratch.read("hub/rendered/us-1/gateway-rbac.yaml");
    scratch.write("hub/rendered/ap-1/gateway-shop-storefront.yaml", &text);
    assert_eq!(listed(&list(&[])).len(), 1);
    // What goes on elsewhere has to arrive there first, and that only the hub knows.
    let run = list(&["--work-kind", "replica-set"]);
    run.exits(0)
        .says("moved to another work: apply that first, then use `--works`");
    assert_eq!(listed(&run), ["ManifestWork us-1/gateway-shop-storefront"]);
    // With an export, what the tree still lists is ours: a Gateway that left the input.
    for file in ["gateway", "authentication", "certificates", "limits", "routes"] {
        scratch.remove(&format!("hub/hub/payments/{file}.yaml"));
    }
    write(&scratch, &exported("works1"));
    let expected = [
        "ManifestWork eu-1/gateway-payments-payments",
        "ManifestWork eu-2/gateway-payments-payments",
        "ManifestWork us-1/gateway-shop-storefront",
    ];
    assert_eq!(listed(&prune(&scratch, &[])), expected);
    // No run writes beside it.
    scratch.remove("hub/rendered/ap-1/gateway-shop-storefront.yaml");
    scratch.run(&["render", "hub", "-q"]).exits(0);
    let run = prune(&scratch, &[]);
    assert_eq!(listed(&run), ["ManifestWork us-1/gateway-shop-storefront"]);
    run.says("note: ManifestWork eu-1/gateway-payments-payments is not planned, and its owner is unknown");
    assert_eq!(listed(&prune(&scratch, &["--sole"])), expected);
}

#[test]
fn without_an_export_a_set_stays_until_the_hub_says_where_its_objects_went() {
    let scratch = fleet();
    scratch
        .run(&["render", "hub", "-q", "--work-kind", "replica-set"])
        .exits(0);
    let run = scratch.run(&["prune-list", "hub"]);
    run.exits(0).says(
        "note: ManifestWorkReplicaSet shop/gateway-shop-storefront must wait: AccessLogPolicy \
         kuadrant-shop/platform.access-log moved to another work: apply that first, then use `--works`",
    );
    assert_eq!(listed(&run), [""; 0]);
}

#[test]
fn a_mistake_in_the_input_or_an_empty_plan_deletes_nothing() {
    let scratch = fleet();
    write(&scratch, &exported("works1"));
    let arguments = ["prune-list", "hub", "--works", "works.json", "--sole"];
    scratch.edit(
        "hub/hub/shop/placement.yaml",
        "- {clusterName: us-1",
        "- {clusterNam: us-1",
    );
    let run = scratch.run(&arguments);
    run.exits(3).says("error[");
    assert_eq!(run.stdout, "");
    let nothing = Scratch::new();
    nothing.write(
        "hub/namespace.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
    );
    write(&nothing, &exported("works1"));
    let run = nothing.run(&arguments);
    run.exits(4).says("error[empty/nothing-rendered]");
    assert_eq!(run.stdout, "");
    let run = nothing.run(&[&arguments[..], &["--allow-empty"]].concat());
    run.exits(0);
    assert_eq!(listed(&run).len(), 5, "{}", run.stdout);
    // An export that cannot be read is no hub without works.
    nothing.write(
        "works.json",
        "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [",
    );
    let run = nothing.run(&[&arguments[..], &["--allow-empty"]].concat());
    run.exits(3);
    assert_eq!(run.stdout, "");
}

#[test]
fn names_that_yaml_would_misread_come_out_as_they_are_and_an_odd_export_breaks_nothing() {
    let scratch = fleet();
    let mut work = exported("works1").remove(2);
    work["metadata"]["namespace"] = json!("1e3");
    let mut works = vec![work.clone()];
    for (pointer, wrong) in [
        ("/spec", json!(7)),
        ("/spec/workload/manifests", json!([[1], {"kind": 3}])),
        ("/status", json!("x")),
    ] {
        let mut odd = work.clone();
        *odd.pointer_mut(pointer).expect(pointer) = wrong;
        odd["metadata"]["namespace"] = json!(format!("0{}", works.len()));
        works.push(odd);
    }
    work["metadata"]["namespace"] = json!("null");
    works.push(work.clone());
    work["metadata"]["name"] = json!("a: b\n---\nkind: Namespace");
    works.push(work);
    write(&scratch, &works);
    let run = scratch.run(&["prune-list", "hub", "--works", "works.json"]);
    // A name that no API server has is an error of the export.
    run.exits(3).does_not_say("panicked");
    assert_eq!(run.stdout, "");
    works.pop();
    write(&scratch, &works);
    let run = prune(&scratch, &[]);
    assert!(run.stdout.contains("namespace: \"1e3\"\n"), "{}", run.stdout);
    assert!(run.stdout.contains("namespace: \"null\"\n"), "{}", run.stdout);
    for line in listed(&run) {
        assert!(line.ends_with("/gateway-shop-storefront"), "{line}");
    }
}

#[test]
fn thousands_of_works_are_a_few_lines_and_come_from_standard_input_too() {
    let scratch = fleet();
    let work = exported("works1").remove(2);
    let mut works = Vec::new();
    for number in 0..500 {
        let mut stale = work.clone();
        stale["metadata"]["namespace"] = json!(format!("old-{number:03}"));
        let mut unclaimed = stale.clone();
        unclaimed["metadata"]["name"] = json!("other");
        unclaimed["metadata"]["annotations"]["kuadrant.io/parent"] = json!("other/other");
        works.extend([stale, unclaimed]);
    }
    write(&scratch, &works);
    let mut command = scratch.command(&["prune-list", "hub", "--works", "-"]);
    command.stdin(Stdio::from(
        fs::File::open(scratch.path("works.json")).expect("a file"),
    ));
    let run = Run::of(&mut command);
    run.exits(0).says("note: and 490 more");
    let expected = (0..500).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "ManifestWork old-{number:03}/gateway-shop-storefront");
        text
    });
    assert_eq!(listed(&run).join("\n") + "\n", expected);
    assert_eq!(run.stderr.lines().count(), 12);
    scratch
        .run(&["prune-list", "-", "--works", "-"])
        .exits(2)
        .says("error: standard input can be read only once");
    scratch
        .run(&["prune-list", "hub", "--sole"])
        .exits(2)
        .says("--works <PATH>");
}
