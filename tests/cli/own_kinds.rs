//! A document of spokewright's own group that this version does not know stops a run, wherever it is.

use std::fs::File;

use crate::repository::{commit, repository};
use crate::scratch::{Run, Scratch};

const CONFIG: &str = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\n";

/// Documents that no version so far knows, each with the finding's place in it and a part of the help.
const UNKNOWN: [(&str, &str, &str); 12] = [
    (
        "apiVersion: spokewright.dev/v1alpha1\nkind: FleetWave\nmetadata: {name: eu}\n",
        "2:7",
        "update spokewright",
    ),
    (
        "apiVersion: spokewright.dev/v1alpha1\nkind: ClusterOverly\nmetadata: {name: eu, namespace: shop}\n",
        "2:7",
        "did you mean `ClusterOverlay`?",
    ),
    (
        "kind: ClusterOverlay\nmetadata: {name: eu, namespace: shop}\n",
        "1:1",
        "add `apiVersion: spokewright.dev/v1alpha1`",
    ),
    (
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfigg\n",
        "2:7",
        "did you mean `RenderConfig`?",
    ),
    (
        "apiVersion: spokewright.dev/v1beta1\nkind: RenderConfig\n",
        "1:13",
        "write `spokewright.dev/v1alpha1`",
    ),
    (
        "apiVersion: spokewrigt.dev/v1alpha1\nkind: ClusterOverlay\n",
        "1:13",
        "write `spokewright.dev/v1alpha1`",
    ),
    (
        "apiVersion: spokewright.io/v1alpha1\nkind: RenderConfig\n",
        "1:13",
        "write `spokewright.dev/v1alpha1`",
    ),
    (
        "apiVersion: spokewright.dev/v1alpha1\nkid: RenderConfig\n",
        "2:1",
        "did you mean `kind`?",
    ),
    (
        "apiVersion: spokewright.dev\nkind: ClusterOverlay\n",
        "1:13",
        "write `spokewright.dev/v1alpha1`",
    ),
    (
        "apiVersion: fleets.spokewright.dev/v1\nkind: RenderConfig\n",
        "1:13",
        "write `spokewright.dev/v1alpha1`",
    ),
    (
        "kind: RenderConfig\nhub: [hub]\n",
        "1:1",
        "add `apiVersion: spokewright.dev/v1alpha1`",
    ),
    // kustomize leaves it out, which changes nothing.
    (
        "apiVersion: spokewright.dev/v1alpha1\nkind: FleetWave\nmetadata:\n  name: eu\n  annotations: \
         {config.kubernetes.io/local-config: \"true\"}\n",
        "2:7",
        "update spokewright",
    ),
];

#[track_caller]
fn is_unknown(run: &Run, place: &str, help: &str) {
    run.exits(3)
        .says("error[object/unknown-kind]: this version of spokewright does not know")
        .says(place)
        .says(help);
}

#[test]
fn in_the_hub_on_standard_input_beside_local_objects_and_among_definitions() {
    for (document, place, help) in UNKNOWN {
        let scratch = Scratch::with_worked_example();
        scratch.write("spokewright.yaml", &format!("{CONFIG}crds: [crds]\n"));
        scratch.write("crds/README.md", "definitions\n");
        for file in ["hub/own.yaml", "spokes/eu-1/own.yaml", "crds/own.yaml"] {
            scratch.write(file, document);
            is_unknown(&scratch.run(&["render"]), &format!("{file}:{place}"), help);
            scratch.remove(file);
        }
        let piped = format!("{}---\n{document}", scratch.read("hub/gateway.yaml"));
        scratch.write("piped.txt", &piped);
        let input = File::open(scratch.path("piped.txt")).expect("a file");
        let run = Run::of(scratch.command(&["render", "-", "-o", "-"]).stdin(input));
        run.exits(3)
            .says("this version of spokewright does not know")
            .says(help);
    }
}

#[test]
fn in_lists_and_in_the_configuration() {
    for (document, _, help) in UNKNOWN {
        let scratch = Scratch::with_worked_example();
        let item = document.trim_end().replace('\n', "\n  ");
        scratch.write(
            "hub/own.yaml",
            &format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n"),
        );
        scratch.run(&["check", "hub"]).exits(3);
        scratch
            .run(&["render", "hub"])
            .exits(3)
            .says("error[object/unknown-kind]")
            .says(help);
        scratch.write("hub/own.yaml", &format!("- {item}\n"));
        scratch.run(&["render", "hub"]).exits(3).says("in a bare list");
        scratch.remove("hub/own.yaml");
        scratch.write("spokewright.yaml", document);
        let run = scratch.run(&["render"]);
        run.exits(3)
            .says("error[object/unknown-kind]")
            .says("spokewright.yaml:")
            .says(help);
    }
}

/// An overlay of the worked example that has an effect.
const OVERLAY: &str = "\
apiVersion: spokewright.dev/v1alpha1
kind: ClusterOverlay
metadata: {name: sale, namespace: gateways}
spec:
  clusters: {names: [eu-1]}
  changes:
  - target: {group: kuadrant.io, kind: RateLimitPolicy, name: global}
    set:
    - path: spec.defaults.limits.per-client.rates[0].limit
      value: 50
";

#[test]
fn an_overlay_is_an_object_of_the_hub_that_is_never_shipped() {
    let scratch = Scratch::with_worked_example();
    let before = scratch.run(&["check", "hub"]);
    let is_found = |run: &Run| run.stdout.contains("overlay") || run.stderr.contains("overlay");
    scratch.write("hub/own.yaml", OVERLAY);
    // Its definition beside it changes nothing.
    for definition in [None, Some(scratch.run(&["schema", "crd"]).stdout)] {
        if let Some(definition) = definition {
            scratch.write("hub/crd.yaml", &definition);
        }
        let after = scratch.run(&["check", "hub"]);
        assert_eq!(after.exits(0).stdout, before.exits(0).stdout);
        assert!(!is_found(&after), "{after:?}");
        let stream = scratch.run(&["render", "hub", "-o", "-"]);
        assert!(!stream.exits(0).stdout.contains("ClusterOverlay"), "{stream:?}");
        scratch
            .run(&["explain", "clusteroverlay/gateways/sale", "hub"])
            .exits(0);
    }
}

#[test]
fn an_overlay_has_a_namespace_as_any_object_has() {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/own.yaml", &OVERLAY.replace(", namespace: gateways", ""));
    scratch
        .run(&["render", "hub"])
        .exits(3)
        .says("error[object/no-namespace]: ClusterOverlay sale has no namespace");
    scratch
        .run(&["render", "hub", "--namespace", "gateways"])
        .exits(0);
}

#[test]
fn an_overlay_belongs_to_the_hub() {
    let scratch = Scratch::with_worked_example();
    scratch.write("spokewright.yaml", &format!("{CONFIG}crds: [crds]\n"));
    scratch.write("crds/README.md", "definitions\n");
    for file in ["spokes/eu-1/own.yaml", "crds/own.yaml"] {
        scratch.write(file, OVERLAY);
        let run = scratch.run(&["render"]);
        run.exits(3)
            .says("error[overlay/invalid]: ClusterOverlay gateways/sale is in")
            .says(&format!("{file}:2:7"))
            .says("move it to a directory of `hub`");
        scratch.remove(file);
    }
}

#[test]
fn no_class_syncs_overlays() {
    let scratch = Scratch::with_worked_example();
    let class = scratch.read("hub/class.yaml");
    let entry = "{\"group\": \"spokewright.dev\", \"version\": \"v1alpha1\", \"resource\": \"clusteroverlays\", \
                 \"names\": [\"gateways/sale\"]}";
    let with_entry = class.replace(
        "\"policiesToSync\"",
        &format!("\"resourcesToSync\": [{entry}], \"policiesToSync\""),
    );
    scratch.write("hub/class.yaml", &with_entry);
    scratch
        .run(&["render", "hub"])
        .exits(3)
        .says("error[params/resource]")
        .says("clusteroverlays.spokewright.dev has no meaning on a cluster");
}

#[test]
fn in_the_base_of_a_diff() {
    let Some(scratch) = repository() else { return };
    scratch.write("hub/own.yaml", UNKNOWN[0].0);
    commit(&scratch.path(""));
    scratch.remove("hub/own.yaml");
    // The change may be its mend, so the run goes on.
    let run = scratch.run(&["diff", "hub"]);
    run.exits(0)
        .says("this version of spokewright does not know the kind FleetWave")
        .says("HEAD:hub/own.yaml:2:7")
        .says("the base `HEAD` has 1 error");
}

#[test]
fn reports_may_be_kept_in_the_tree() {
    let scratch = Scratch::with_worked_example();
    let report = scratch.run(&["policies", "hub", "-o", "json"]);
    scratch.write("hub/report.json", &report.exits(0).stdout);
    scratch.write("hub/nested/spokewright.yaml", CONFIG);
    scratch
        .run(&["render", "hub"])
        .exits(0)
        .says("2 documents are not Kubernetes objects");
}

#[test]
fn a_configuration_in_a_file_that_nobody_reads_as_one_is_an_error() {
    let scratch = Scratch::with_worked_example();
    scratch.write("spokewright.yml", CONFIG);
    let read_from = "a RenderConfig is read from `spokewright.yaml`: this one configures nothing";
    scratch
        .run(&["render"])
        .exits(3)
        .says("error[config/elsewhere]")
        .says("spokewright.yml:2:7")
        .says(read_from);
    scratch.run(&["check", "--config", "spokewright.yml"]).exits(0);
    // Nor does one beside the hub that has input of its own.
    scratch.write("spokewright.yaml", CONFIG);
    scratch.remove("spokewright.yml");
    scratch.write("hub/inner/spokewright.yaml", CONFIG);
    scratch.write(
        "hub/inner/hub/a.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: inner}\n",
    );
    scratch
        .run(&["render"])
        .exits(3)
        .says("error[config/elsewhere]: `hub/inner/spokewright.yaml` configures a directory below `hub`")
        .says("`exclude`");
    scratch.write("spokewright.yaml", &format!("{CONFIG}exclude: [inner]\n"));
    scratch.run(&["render"]).exits(0);
}
