//! examples/argocd is what it says it is.

use std::path::PathBuf;
use std::process::Command;

use kube_yaml::{Limits, read_all};
use serde_json::Value;
use spokewright::pipeline::argocd::Parameters;

use crate::scratch::{Run, Scratch};

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("examples/argocd")
        .join(name)
}

fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(example(name)).expect("an example");
    read_all(&text, &Limits::default()).expect("YAML").remove(0)
}

#[test]
fn the_committed_plugin_yaml_is_what_the_command_prints() {
    let printed = Scratch::new().run(&["argocd", "plugin"]).stdout;
    let committed = std::fs::read_to_string(example("plugin.yaml")).expect("an example");
    assert_eq!(
        printed, committed,
        "run `spokewright argocd plugin > examples/argocd/plugin.yaml`"
    );
}

#[test]
fn the_applications_set_parameters_that_exist_and_name_the_plugin() {
    let application = read("application.yaml");
    let set = read("applicationset.yaml");
    for spec in [&application["spec"], &set["spec"]["template"]["spec"]] {
        let plugin = &spec["source"]["plugin"];
        assert_eq!(plugin["name"], read("plugin.yaml")["metadata"]["name"]);
        let mut findings = spokewright::diagnostic::Findings::new();
        let parameters = Parameters::read(&plugin["parameters"].to_string(), &mut findings);
        assert!(
            findings.is_empty() && parameters != Parameters::default(),
            "{findings:?}"
        );
        assert_eq!(spec["syncPolicy"]["syncOptions"][0], "ServerSideApply=true");
    }
}

#[test]
fn the_sidecar_is_not_root_writes_only_to_its_own_directory_and_has_all_mounts() {
    let patch = read("repo-server-patch.yaml");
    let pod = &patch["spec"]["template"]["spec"];
    let sidecar = &pod["containers"][0];
    assert_eq!(sidecar["command"][0], "/var/run/argocd/argocd-cmp-server");
    assert_eq!(sidecar["securityContext"]["runAsUser"], 999);
    assert_eq!(sidecar["securityContext"]["runAsNonRoot"], true);
    assert_eq!(sidecar["securityContext"]["readOnlyRootFilesystem"], true);
    let mounts: Vec<&str> = sidecar["volumeMounts"]
        .as_array()
        .expect("mounts")
        .iter()
        .filter_map(|mount| mount["mountPath"].as_str())
        .collect();
    assert_eq!(
        mounts,
        ["/var/run/argocd", "/home/argocd/cmp-server/plugins", "/tmp"]
    );
    assert_eq!(sidecar["volumeMounts"][2]["name"], pod["volumes"][0]["name"]);
    let dockerfile = std::fs::read_to_string(example("Dockerfile")).expect("an example");
    assert!(
        dockerfile.contains("/home/argocd/cmp-server/config/plugin.yaml") && dockerfile.contains("USER 999")
    );
}

/// Runs health.lua over the objects of health_test.yaml, as Argo CD's own test does, and prints what differs.
const RUNNER: &str = r#"
import sys, yaml, lupa
folder = sys.argv[1] + "/"
script = open(folder + "health.lua").read()
tests = yaml.safe_load(open(folder + "health_test.yaml"))["tests"]
def table(lua, value):
    if isinstance(value, dict):
        return lua.table_from({k: table(lua, v) for k, v in value.items()})
    if isinstance(value, list):
        return lua.table_from([table(lua, v) for v in value])
    return value
for test in tests:
    lua = lupa.LuaRuntime(unpack_returned_tuples=True)
    class Loader(yaml.SafeLoader): pass
    Loader.yaml_implicit_resolvers = {k: [r for r in v if "timestamp" not in r[0]] for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    lua.globals().obj = table(lua, yaml.load(open(folder + test["inputPath"]), Loader))
    found = lua.execute(script)
    wanted = test["healthStatus"]
    if (found.status, found.message) != (wanted["status"], wanted["message"]):
        print(test["inputPath"], found.status, found.message)
print("ran", len(tests))
"#;

#[test]
fn the_health_check_gives_what_its_tests_say() {
    let folder = "resource_customizations/work.open-cluster-management.io/ManifestWork";
    let tests = read(&format!("{folder}/health_test.yaml"));
    let tests = tests["tests"].as_array().expect("tests");
    for test in tests {
        let input = test["inputPath"].as_str().expect("a path");
        assert_eq!(read(&format!("{folder}/{input}"))["kind"], "ManifestWork");
    }
    let has_lua = Command::new("python3").args(["-c", "import lupa, yaml"]).output();
    if !has_lua.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: Python with lupa (Lua) is not at hand, so health.lua was not run");
        return;
    }
    let run = Run::of(Command::new("python3").args(["-c", RUNNER]).arg(example(folder)));
    assert_eq!(run.exits(0).stdout, format!("ran {}\n", tests.len()));
}
