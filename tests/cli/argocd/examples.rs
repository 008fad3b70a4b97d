//! examples/argocd is what it says it is.

use std::path::PathBuf;
use std::process::Command;

use kube_json::Value;
use kube_yaml::{Limits, read_all};
use spokewright::pipeline::argocd::Parameters;

use super::sidecar::{Checkout, generated};
use crate::scratch::{Run, Scratch, copy};

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
fn the_applications_set_parameters_that_exist_and_name_the_plugin() {
    let application = read("application.yaml");
    let hydrated = read("hydrator.yaml");
    for (spec, source) in [
        (&application["spec"], &application["spec"]["source"]),
        (
            &hydrated["spec"],
            &hydrated["spec"]["sourceHydrator"]["drySource"],
        ),
    ] {
        let plugin = &source["plugin"];
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

/// A cluster that no step selects would never be synced, and one that no generator lists has no Application.
#[test]
fn the_application_set_has_an_application_for_every_rendered_cluster_and_each_in_a_step() {
    let set = read("applicationset.yaml");
    let directories = &set["spec"]["generators"][0]["git"]["directories"];
    assert_eq!(directories[0]["path"], "fleet/rendered/*");
    assert_eq!(
        (&directories[1]["path"], &directories[1]["exclude"]),
        (&"fleet/rendered/_*".into(), &true.into())
    );
    let steps = set["spec"]["strategy"]["rollingSync"]["steps"]
        .as_array()
        .expect("steps");
    let (last, named) = steps.split_last().expect("a step");
    let groups: Vec<&Value> = named
        .iter()
        .map(|step| &step["matchExpressions"][0]["values"][0])
        .collect();
    let rest = &last["matchExpressions"][0];
    assert_eq!(rest["operator"], "NotIn");
    assert_eq!(
        rest["values"]
            .as_array()
            .expect("values")
            .iter()
            .collect::<Vec<_>>(),
        groups
    );
    let source = &set["spec"]["template"]["spec"]["source"];
    assert_eq!(source["path"], "{{ .path.path }}");
    assert!(source.get("plugin").is_none(), "the tree is committed");
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

/// A JSON value as Lua writes it down.
fn lua(value: &Value) -> String {
    let quoted = |text: &str| {
        let bytes = text.bytes().map(|byte| match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => char::from(byte).to_string(),
            _ => format!("\\{byte:03}"),
        });
        format!("\"{}\"", bytes.collect::<String>())
    };
    match value {
        Value::Null => "nil".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("{{{}}}", items.iter().map(lua).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("[{}] = {}", quoted(name), lua(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Argo CD embeds Lua 5.1; the script must say the same in every Lua.
const LUAS: [&str; 5] = ["lua5.1", "luajit", "lua5.3", "lua5.4", "lua"];

#[test]
fn the_health_check_gives_what_its_tests_say() {
    let folder = "resource_customizations/work.open-cluster-management.io/ManifestWork";
    let tests = read(&format!("{folder}/health_test.yaml"));
    let tests = tests["tests"].as_array().expect("tests");
    assert!(tests.len() >= 20, "{}", tests.len());
    let script = std::fs::read_to_string(example(&format!("{folder}/health.lua"))).expect("a script");
    let mut program = format!("local function check()\n{script}\nend\n");
    let mut wanted = String::new();
    let mut objects = Vec::new();
    for test in tests {
        let input = test["inputPath"].as_str().expect("a path");
        let object = read(&format!("{folder}/{input}"));
        assert_eq!(object["kind"], "ManifestWork");
        // Argo CD gives the script a global `obj`.
        program += &format!(
            "obj = {}\nlocal found = check()\nprint({}, found.status, found.message)\n",
            lua(&object),
            lua(&Value::from(input))
        );
        let status = &test["healthStatus"];
        let text = |field: &str| status[field].as_str().expect("a text").to_owned();
        wanted += &format!("{input}\t{}\t{}\n", text("status"), text("message"));
        objects.push(input.to_owned());
    }
    let mut committed: Vec<String> = std::fs::read_dir(example(&format!("{folder}/testdata")))
        .expect("a directory")
        .map(|entry| {
            format!(
                "testdata/{}",
                entry.expect("an entry").file_name().to_string_lossy()
            )
        })
        .collect();
    committed.sort();
    objects.sort();
    assert_eq!(objects, committed, "every work has a test");
    let scratch = Scratch::new();
    // In a block of its own each, as a function has room for 200 local names.
    scratch.write("run.lua", &program.replace("\nlocal found", "\nfound"));
    let mut ran = 0;
    for name in LUAS {
        if Command::new(name).arg("-v").output().is_err() {
            continue;
        }
        let run = Run::of(Command::new(name).arg(scratch.path("run.lua")));
        assert_eq!(run.exits(0).stdout, wanted, "{name}");
        ran += 1;
    }
    if ran == 0 {
        eprintln!("SKIPPED: no Lua is at hand (apt-get install lua5.1), so health.lua was not run");
    }
}

/// From a trial: saving an Application in the user interface broke it where `spokes` does not exist.
#[test]
fn the_announced_defaults_change_nothing_when_they_are_handed_back() {
    for (path, gone) in [
        ("examples/fleet", None),
        ("examples/fleet", Some("spokes")),
        ("examples/start", None),
    ] {
        let scratch = Scratch::new();
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        copy(&root.join(path), &scratch.path("repository/fleet"));
        if let Some(gone) = gone {
            std::fs::remove_dir_all(scratch.path("repository/fleet").join(gone)).expect("a directory");
        }
        let checkout = Checkout::of(&scratch.path("repository"), "fleet");
        let announced = Run::of(&mut checkout.command(&["argocd", "parameters"]));
        let announced: Value = serde_json::from_str(&announced.exits(0).stdout).expect("JSON");
        let set: Value = announced
            .as_array()
            .expect("a list")
            .iter()
            .filter(|entry| entry.get("string").or(entry.get("array")).is_some())
            .cloned()
            .collect();
        let (plain, _) = generated(&scratch, "fleet", "[]");
        let (again, _) = generated(&scratch, "fleet", &set.to_string());
        assert_eq!(plain, again, "{path} {gone:?}");
    }
}

/// The example names `../shared`, which is in the repository, and not below the Application.
#[test]
fn the_example_application_reads_what_lies_beside_it() {
    let scratch = Scratch::new();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    copy(&root.join("examples/fleet"), &scratch.path("repository/fleet"));
    let shared = "repository/fleet/hub/platform";
    std::fs::rename(scratch.path(shared), scratch.path("repository/shared")).expect("a directory");
    let application = read("application.yaml");
    let source = &application["spec"]["source"];
    let mut parameters = source["plugin"]["parameters"].clone();
    // The example hub has Placements, and no decisions.
    for parameter in parameters.as_array_mut().expect("a list") {
        if parameter["name"] == "placement.source" {
            parameter["string"] = "Evaluate".into();
        }
    }
    let (_, objects) = generated(
        &scratch,
        source["path"].as_str().expect("a path"),
        &parameters.to_string(),
    );
    let whole = Scratch::new();
    copy(&root.join("examples/fleet"), &whole.path("repository/fleet"));
    let (_, wanted) = generated(&whole, "fleet", "[]");
    assert_eq!(objects.len(), wanted.len());
}
