//! The examples for Flux and GitHub do what they say.

use std::process::Command;

use kube_yaml::{Limits, read_all};
use serde_json::Value;

use crate::scratch::{Scratch, copy, fixtures};

fn example(name: &str) -> Vec<Value> {
    let path = fixtures().join("../examples").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    read_all(&text, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("{pointer} in {value}"))
}

#[test]
fn flux_has_a_kustomization_for_each_cluster_of_the_example_fleet() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    scratch.run(&["render", "fleet", "-o", "rendered"]).exits(0);
    let source = example("flux/source.yaml").remove(0);
    let mut resources = String::new();
    for kustomization in example("flux/clusters.yaml") {
        let path = text(&kustomization, "/spec/path");
        let cluster = path.strip_prefix("./rendered/").expect("a directory of the tree");
        assert!(
            scratch.exists(&format!("rendered/{cluster}/kustomization.yaml")),
            "{path}"
        );
        resources += &format!("- {cluster}\n");
        assert_eq!(text(&kustomization, "/metadata/name"), format!("fleet-{cluster}"));
        assert_eq!(
            kustomization["spec"]["sourceRef"]["name"],
            source["metadata"]["name"]
        );
        assert_eq!(
            (&kustomization["spec"]["prune"], &kustomization["spec"]["wait"]),
            (&true.into(), &true.into())
        );
        assert!(kustomization["spec"].get("targetNamespace").is_none());
    }
    let root = scratch.read("rendered/kustomization.yaml");
    assert!(root.ends_with(&format!("resources:\n{resources}")), "{root}");
}

/// What Flux makes of an object: the first expression that holds, in its order; an error is unknown, and waits.
#[cfg(feature = "cel")]
fn flux_health(expressions: &Value, object: &Value) -> &'static str {
    use kube_cel::cel::{Context, Program, Value as Cel};
    for (name, health) in [
        ("inProgress", "Progressing"),
        ("failed", "Degraded"),
        ("current", "Healthy"),
    ] {
        let program = Program::compile(text(expressions, &format!("/{name}"))).expect("CEL");
        let mut context = Context::default();
        for (field, value) in object.as_object().expect("an object") {
            context.add_variable(field.as_str(), value).expect("a value");
        }
        match program.execute(&context) {
            Ok(Cel::Bool(true)) => return health,
            Ok(Cel::Bool(false)) => {}
            Ok(other) => panic!("{name}: {other:?}"),
            Err(_) => return "Progressing",
        }
    }
    "Progressing"
}

#[cfg(feature = "cel")]
#[test]
fn flux_and_argo_cd_agree_on_the_health_of_a_manifest_work() {
    let folder = "argocd/resource_customizations/work.open-cluster-management.io/ManifestWork";
    let tests = example(&format!("{folder}/health_test.yaml")).remove(0);
    let kustomizations = example("flux/clusters.yaml");
    for test in tests["tests"].as_array().expect("tests") {
        let input = text(test, "/inputPath");
        if input.ends_with("/deleting.yaml") {
            // Flux does not wait for the health of what it deletes.
            continue;
        }
        let object = example(&format!("{folder}/{input}")).remove(0);
        for kustomization in &kustomizations {
            let expressions = &kustomization["spec"]["healthCheckExprs"][0];
            assert_eq!(expressions["kind"], object["kind"]);
            assert_eq!(expressions["apiVersion"], object["apiVersion"]);
            assert_eq!(
                flux_health(expressions, &object),
                text(test, "/healthStatus/status"),
                "{input}"
            );
        }
    }
}

#[test]
fn a_work_that_flux_would_substitute_in_carries_the_guard() {
    let readme = std::fs::read_to_string(fixtures().join("../examples/flux/README.md")).expect("a README");
    assert!(readme.contains("kustomize.toolkit.fluxcd.io/substitute: disabled"));
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/gateway.yaml", "note: \"yes\"", "note: \"${yes}\"");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(0)
        .says("warning[work/substitution]");
    let work = scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml");
    let metadata = work.split("spec:\n").next().expect("metadata");
    assert!(
        metadata.contains("    kustomize.toolkit.fluxcd.io/substitute: disabled\n"),
        "{work}"
    );
}

/// Every step of a workflow that runs something.
fn steps(workflow: &Value) -> Vec<Value> {
    let jobs = workflow["jobs"].as_object().expect("jobs");
    jobs.values()
        .flat_map(|job| job["steps"].as_array().expect("steps").clone())
        .filter(|step| step.get("run").is_some())
        .collect()
}

#[test]
fn the_workflows_start_commands_that_work_and_evaluate_nothing_in_a_script() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\n\
         findings: {secret/not-rendered: \"off\"}\n",
    );
    scratch.run(&["render"]).exits(0);
    let mut started = Vec::new();
    for name in ["github/spokewright.yml", "github/shards.yml"] {
        let workflow = example(name).remove(0);
        // The reader takes the key `on` for the boolean, as Kubernetes does; GitHub does not.
        assert!(workflow.get("true").is_some(), "{name} has a trigger");
        assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}));
        for step in steps(&workflow) {
            let script = text(&step, "/run");
            assert!(!script.contains("${{"), "{script}");
            for line in script
                .lines()
                .filter_map(|line| line.trim().strip_prefix("spokewright "))
            {
                let arguments: Vec<&str> = line
                    .split_whitespace()
                    .take_while(|word| !word.starts_with('>') && !word.starts_with('"'))
                    .collect();
                started.push(arguments[0].to_owned());
                // `diff` and `page` have tests of their own.
                if !["diff", "page"].contains(&arguments[0]) && !arguments.contains(&"--shard") {
                    scratch.run(&arguments).exits(0);
                }
            }
        }
    }
    started.sort();
    assert_eq!(started, ["check", "diff", "page", "render", "render"]);
}

#[test]
fn the_parts_of_the_matrix_are_put_together_byte_for_byte() {
    let workflow = example("github/shards.yml").remove(0);
    let merge = workflow["jobs"]["merge"]["steps"].as_array().expect("steps");
    let script = merge
        .iter()
        .find_map(|step| step.get("run").and_then(Value::as_str))
        .expect("a script");
    let shards = workflow["jobs"]["render"]["strategy"]["matrix"]["shard"]
        .as_array()
        .expect("shards");
    let scratch = Scratch::with_worked_example();
    for shard in shards {
        let part = format!("{shard}/{}", shards.len());
        scratch
            .run(&[
                "render",
                "hub",
                "-o",
                &format!("parts/part-{shard}"),
                "--shard",
                &part,
            ])
            .exits(0);
    }
    scratch.run(&["render", "hub", "-o", "whole"]).exits(0);
    let merged = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", script])
        .current_dir(scratch.path(""))
        .output();
    let Ok(output) = merged else {
        eprintln!("SKIPPED: bash is not at hand, so the parts were not put together");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(scratch.tree("rendered"), scratch.tree("whole"));
}

#[test]
fn junit_of_check_is_xml_with_a_case_for_each_code() {
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/limits.yaml", "name: prod-web", "name: prod-<&\\\"wep");
    let run = scratch.run(&["check", "hub", "--message-format", "junit"]);
    run.exits(3);
    assert!(
        run.stdout
            .starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ")
    );
    assert!(
        run.stdout
            .contains("name=\"policy/target-not-found\" time=\"0\" file=\"hub/limits.yaml\""),
        "{}",
        run.stdout
    );
    scratch.write("junit.xml", &run.stdout);
    let script = "import sys, xml.etree.ElementTree as t\n\
                  s = t.parse('junit.xml').getroot()\n\
                  print(len(s), len(s[0].findall('testcase')) == int(s[0].get('tests')), \
                  len(s[0].findall('testcase/failure')) == int(s[0].get('failures')))";
    match Command::new("python3")
        .args(["-c", script])
        .current_dir(scratch.path(""))
        .output()
    {
        Ok(output) => assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "1 True True\n",
            "{output:?}"
        ),
        Err(error) => eprintln!("SKIPPED: no Python to parse the document: {error}"),
    }
}
