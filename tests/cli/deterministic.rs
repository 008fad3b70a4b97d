//! The same input gives the same bytes, whatever else differs (docs/reference/output.md#the-same-bytes).

use crate::repository::repository;
use crate::scratch::{Run, Scratch};

fn reference() -> Vec<(String, String)> {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    scratch.tree("rendered")
}

#[test]
fn one_file_instead_of_many_gives_the_same_bytes() {
    let scratch = Scratch::with_worked_example();
    let whole: Vec<String> = scratch.tree("hub").into_iter().map(|(_, text)| text).collect();
    scratch.write("one/all.yaml", &whole.join("---\n"));
    scratch.run(&["render", "one", "-o", "rendered"]).exits(0);
    assert_eq!(scratch.tree("rendered"), reference());
}

#[test]
fn the_order_of_documents_gives_the_same_bytes() {
    let scratch = Scratch::with_worked_example();
    let mut documents: Vec<String> = scratch
        .tree("hub")
        .iter()
        .flat_map(|(_, text)| text.split("---\n").map(str::to_owned).collect::<Vec<_>>())
        .collect();
    documents.reverse();
    for (index, document) in documents.iter().enumerate() {
        scratch.write(&format!("shuffled/{index}/{index}.yaml"), document);
    }
    scratch.run(&["render", "shuffled", "-o", "rendered"]).exits(0);
    assert_eq!(scratch.tree("rendered"), reference());
}

#[test]
fn standard_input_gives_the_same_bytes() {
    let scratch = Scratch::with_worked_example();
    let whole: Vec<String> = scratch.tree("hub").into_iter().map(|(_, text)| text).collect();
    scratch.write("all.yaml", &whole.join("---\n"));
    let input = std::fs::File::open(scratch.path("all.yaml")).expect("the input");
    Run::of(scratch.command(&["render", "-", "-o", "rendered"]).stdin(input)).exits(0);
    assert_eq!(scratch.tree("rendered"), reference());
}

#[test]
fn json_gives_the_same_bytes() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/gateway.json",
        r#"{"apiVersion": "gateway.networking.k8s.io\/v1", "kind": "Gateway",
            "metadata": {"name": "prod-web", "namespace": "gateways",
                "labels": {"cluster.open-cluster-management.io/placement": "edge"},
                "annotations": {"note": "yes"}},
            "spec": {"gatewayClassName": "multicluster", "listeners": [
                {"name": "api", "hostname": "*.example.com", "port": 443, "protocol": "HTTPS",
                 "tls": {"mode": "Terminate", "certificateRefs": [{"name": "wildcard"}]}}]}}"#,
    );
    scratch.remove("hub/gateway.yaml");
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert_eq!(scratch.tree("rendered"), reference());
}

#[test]
fn threads_time_zone_locale_and_home_give_the_same_bytes() {
    for (name, value) in [
        ("RAYON_NUM_THREADS", "1"),
        ("RAYON_NUM_THREADS", "2"),
        ("TZ", "Pacific/Kiritimati"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("HOME", "/nowhere"),
    ] {
        let scratch = Scratch::with_worked_example();
        Run::of(
            scratch
                .command(&["render", "hub", "-o", "rendered"])
                .env(name, value),
        )
        .exits(0);
        assert_eq!(scratch.tree("rendered"), reference(), "{name}={value}");
    }
}

/// A thread that waits for others without working along would wait forever where it is the only one.
#[test]
fn every_command_ends_with_one_thread_and_prints_the_same() {
    let Some(scratch) = repository() else { return };
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    crate::scratch::copy(&scratch.path("hub"), &scratch.path("before"));
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    for command in [
        "check hub",
        "render hub -o -",
        "diff hub --base HEAD",
        "diff hub --base-dir before",
        "diff hub --base-tree rendered",
        "policies hub",
        "placement hub",
        "status hub",
        "graph hub",
        "page hub -o page.html",
        "page hub --base HEAD -o page.html",
        "prune-list hub",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let [one, two] = ["1", "2"].map(|threads| {
            let run = Run::of(scratch.command(&arguments).env("RAYON_NUM_THREADS", threads));
            let page = scratch.exists("page.html").then(|| scratch.read("page.html"));
            (run.status, run.stdout, page)
        });
        assert!(matches!(one.0, 0 | 1), "{command}: {:?}", one.0);
        assert_eq!(one, two, "{command}");
    }
}

#[test]
fn the_report_does_not_depend_on_where_the_input_lies() {
    let reports: Vec<String> = ["here/hub", "there/quite/elsewhere"]
        .iter()
        .map(|place| {
            let scratch = Scratch::new();
            crate::scratch::copy(
                &crate::scratch::fixtures().join("worked-example/hub"),
                &scratch.path(place),
            );
            let absolute = scratch.path(place).to_string_lossy().into_owned();
            scratch
                .run(&["render", &absolute, "-o", "rendered", "--report", "report.json"])
                .exits(0);
            scratch.read("report.json")
        })
        .collect();
    assert_eq!(reports.first(), reports.last());
    assert!(
        reports
            .iter()
            .all(|report| report.contains("\"path\": \"gateway.yaml\"")),
        "{reports:?}"
    );
}

#[test]
fn what_gitignore_names_is_not_read() {
    let scratch = Scratch::with_worked_example();
    scratch
        .write("hub/.gitignore", "local.yaml\n")
        .write("hub/local.yaml", "not: [valid");
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert_eq!(scratch.tree("rendered"), reference());
}

#[test]
fn hidden_files_values_files_and_files_for_tools_are_skipped() {
    let scratch = Scratch::with_worked_example();
    scratch
        .write("hub/.hidden.yaml", "kind: [")
        .write("hub/.github/workflows/ci.yaml", "on: {push: {}}\n")
        .write("hub/values.yaml", "replicas: 3\nimage: {tag: v1}\n")
        .write("hub/workflow.yaml", "on: {push: {}}\njobs: {}\n")
        .write(
            "hub/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
        )
        .write(
            "hub/kubeconfig.yaml",
            "apiVersion: v1\nkind: Config\nclusters: []\n",
        )
        .write("hub/notes.txt", "not yaml: [");
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert_eq!(scratch.tree("rendered"), reference());
}

#[test]
fn a_list_is_flattened() {
    let scratch = Scratch::with_worked_example();
    let gateway: String = scratch
        .read("hub/gateway.yaml")
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    let gateway = gateway.replacen("  apiVersion", "- apiVersion", 1);
    scratch.write(
        "hub/gateway.yaml",
        &format!("apiVersion: v1\nkind: List\nitems:\n{gateway}"),
    );
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert_eq!(scratch.tree("rendered"), reference());
}

#[test]
fn the_stream_is_the_tree_in_order() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&["render", "hub", "-o", "-"]);
    run.exits(0);
    let mut works = reference();
    works.retain(|(path, _)| path.contains("gateway-"));
    // Each cluster's rights before what needs them.
    works.sort_by_key(|(path, _)| {
        let (cluster, work) = path.split_once('/').expect("a cluster's file");
        (cluster.to_owned(), work != "gateway-rbac.yaml", work.to_owned())
    });
    let works: Vec<String> = works.into_iter().map(|(_, text)| text).collect();
    assert_eq!(run.stdout, works.join("---\n"));
    assert!(!scratch.exists("rendered"));
}
