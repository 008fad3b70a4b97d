//! Values of Secrets, in every form in which a document can hold them: none is in any report. And what only mentions a
//! Secret is shown.

use kube_json::{Value, json};
use sha2::Digest as _;

use crate::scratch::{Scratch, copy};

/// What nobody may see.
const VALUE: &str = "hunter2";

const MESSAGES: [&str; 6] = ["human", "json", "sarif", "github", "gitlab", "junit"];

/// Objects that are Secrets, or were meant to be ones.
fn secrets() -> Vec<Value> {
    let mut secrets = Vec::new();
    let kinds = [
        "Secret",
        "Secrets",
        "secret",
        "SECRET",
        "Secert",
        "Scret",
        "SecretX",
        "SecretList",
    ];
    for kind in kinds {
        for version in ["v1", "v2beta1", ""] {
            let bare = || {
                let mut secret = json!({"kind": kind, "metadata": {"name": "a", "namespace": "b"}});
                if !version.is_empty() {
                    secret["apiVersion"] = Value::from(version);
                }
                secret
            };
            let values = [
                ("data", json!({"password": VALUE})),
                ("stringData", json!({"password": VALUE})),
                ("stringdata", json!({"password": VALUE})),
                ("STRINGDATA", json!({"password": VALUE})),
                ("Data", json!({"password": VALUE})),
                ("binaryData", json!({"password": VALUE})),
                ("data", json!(VALUE)),
                ("data", json!({"a": {"b": [VALUE]}})),
                ("stringData", json!([VALUE])),
                ("data", json!({"password": format!("a\nb {VALUE}\n# c\n")})),
                ("password", json!(VALUE)),
                ("spec", json!({"password": VALUE})),
                (
                    "items",
                    json!([{"metadata": {"name": "c"}, "data": {"password": VALUE}}]),
                ),
            ];
            for (key, value) in values {
                let mut secret = bare();
                secret[key] = value;
                secrets.push(secret);
            }
            let copies = json!({"kind": "Secret", "data": {"password": VALUE}}).to_string();
            for (key, value) in [
                ("password", json!(VALUE)),
                ("annotations", json!({"note": VALUE})),
                (
                    "annotations",
                    json!({"kubectl.kubernetes.io/last-applied-configuration": copies}),
                ),
                ("labels", json!({"note": VALUE})),
            ] {
                let mut secret = bare();
                secret["metadata"][key] = value;
                secrets.push(secret);
            }
        }
    }
    for key in ["stringData", "stringdata", "StringData"] {
        secrets.push(json!({"apiVersion": "v1", "metadata": {"name": "a"}, key: {"password": VALUE}}));
        secrets.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, key: {"password": VALUE}}));
    }
    for (key, value) in [
        ("literals", json!([format!("password={VALUE}")])),
        ("envs", json!([VALUE])),
        ("options", json!({"annotations": {"note": VALUE}})),
    ] {
        secrets.push(
            json!({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
            "secretGenerator": [{"name": "a", key: value}]}),
        );
    }
    secrets
}

/// The same inside of other objects.
fn around(secret: &Value) -> [Value; 6] {
    let text = kube_yaml::write_document(secret);
    [
        secret.clone(),
        json!({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}, secret]}),
        json!({"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork", "metadata": {"name": "w", "namespace": "eu-1"},
            "spec": {"workload": {"manifests": [secret]}}}),
        json!({"apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "t"}, "objects": [secret]}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a.yaml": format!("a: 1\n---\n{text}")}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": secret.to_string()}}}),
    ]
}

/// A document as it may be written.
fn written(object: &Value) -> Vec<String> {
    let (yaml, json) = (kube_yaml::write_document(object), object.to_string());
    let mut texts = vec![
        format!("wrong: *nothing\n{yaml}"),
        format!("{yaml}wrong: @\n"),
        format!("{yaml}\n---\nkind: Gateway\nmetadata: {{name: 5}}\n"),
        format!("kind: Gateway\nspec: [\n---\n{yaml}"),
        format!("# a\n{json}\n"),
        json.replace(VALUE, "hunter2\" @"),
        json.replacen("\":", "\"=", 3),
    ];
    if let Some(at) = yaml.find(VALUE) {
        let is_alone = yaml[..at].ends_with([' ', '"']) && yaml[at + VALUE.len()..].starts_with(['\n', '"']);
        let line = yaml[..at].rfind('\n').map_or(0, |end| end + 1);
        if is_alone && !yaml[line..at].contains('{') {
            for broken in [
                "@hunter2",
                "*hunter2",
                "&a hunter2 @",
                "|hunter2",
                "\"hunter2",
                "!!int hunter2",
                "a: hunter2: b",
            ] {
                texts.push(yaml.replacen(VALUE, broken, 1));
            }
            texts.push(yaml.replacen(VALUE, &format!("&x {VALUE}\nother: *x"), 1));
        }
    }
    texts
}

#[test]
fn no_value_of_a_secret_is_in_any_message_whatever_its_document_is_like() {
    let scratch = Scratch::new();
    let mut count = 0;
    for (number, secret) in secrets().iter().enumerate() {
        for (place, object) in around(secret).iter().enumerate() {
            // All of what a Secret is like, and all of what it is in, but not all of both.
            if place > 0 && number % 5 != place % 5 {
                continue;
            }
            for text in written(object) {
                count += 1;
                scratch.write(&format!("hub/{}/{count}.yaml", count % 97), &text);
            }
        }
    }
    assert!(count > 3000, "{count}");
    let mut count_said = 0;
    let commands = MESSAGES
        .map(|format| ("check", format))
        .into_iter()
        .chain([("render", "human")]);
    for (command, format) in commands {
        let run = scratch.run(&[command, "hub", "-v", "--message-format", format]);
        for text in [&run.stdout, &run.stderr] {
            let lines: Vec<&str> = text.lines().collect();
            let leak = lines.iter().position(|line| line.contains(VALUE));
            let said = leak.map(|at| lines[at.saturating_sub(12)..=at].join("\n"));
            assert_eq!(said, None, "{command} {format}");
            count_said += text.matches("yaml/").count();
        }
    }
    assert!(count_said > 1000, "the mistakes are said: {count_said}");
}

#[test]
fn no_value_of_a_secret_is_in_any_report_whatever_its_object_is_like() {
    let scratch = Scratch::with_worked_example();
    // A copy of a Secret in what is shown with its text or its settings.
    for (number, secret) in secrets().iter().enumerate().filter(|(number, _)| number % 7 == 0) {
        let copies = Value::from(secret.to_string()).to_string();
        let yaml = Value::from(kube_yaml::write_document(secret)).to_string();
        scratch.write(
            &format!("hub/more/{number}.yaml"),
            &format!(
                "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata:\n  name: p{number}\n  namespace: gateways\n  annotations:\n    \
                 kubectl.kubernetes.io/last-applied-configuration: {copies}\nspec:\n  targetRef: {{group: gateway.networking.k8s.io, \
                 kind: Gateway, name: prod-web, sectionName: api}}\n  defaults:\n    limits:\n      l{number}:\n        rates: [{{limit: 1, window: \
                 1s}}]\n        when:\n        - predicate: {yaml}\n"
            ),
        );
    }
    scratch.run(&["render", "hub", "-q", "-o", "base"]).exits(0);
    copy(&scratch.path("hub"), &scratch.path("other"));
    // Every object is gone from one work, and another is there in its place.
    let work = "base/eu-1/gateway-gateways-prod-web.yaml";
    let mut value =
        kube_yaml::read_document(&scratch.read(work), &kube_yaml::Limits::default()).expect("a work");
    let manifests: Vec<Value> = secrets().iter().flat_map(around).collect();
    let manifests: Vec<Value> = (0..)
        .zip(manifests)
        .map(|(number, mut object)| {
            if object.get("metadata").is_some() {
                object["metadata"]["name"] = Value::from(format!("o{number}"));
            }
            object
        })
        .collect();
    assert!(manifests.len() > 2000, "{}", manifests.len());
    value["spec"]["workload"]["manifests"] = Value::Array(manifests);
    let text = kube_yaml::write_document(&value);
    scratch.write(work, &text);
    let hash: String = sha2::Sha256::digest(&text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let inventory = scratch.read("base/.spokewright-inventory");
    let (_, path) = work.split_once('/').expect("a path");
    let line = inventory
        .lines()
        .find(|line| line.ends_with(path))
        .expect("its line");
    scratch.write(
        "base/.spokewright-inventory",
        &inventory.replace(line, &format!("{hash}  {path}")),
    );
    scratch.edit("hub/gateway.yaml", "note: \"yes\"", "note: \"no\"");
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for base in [["--base-tree", "base"], ["--base-dir", "other"]] {
        for form in ["human", "semantic", "markdown", "json"] {
            runs.push([&["diff", "hub", "--format", form][..], &base].concat());
        }
        runs.push(
            [
                &["diff", "hub", "--format", "markdown", "--max-bytes", "9000000"][..],
                &base,
            ]
            .concat(),
        );
    }
    for output in ["text", "json", "yaml"] {
        for command in [
            &["explain", "gateway/prod-web", "hub"][..],
            &["explain", "ratelimitpolicy/global", "hub"],
            &["explain", "ratelimitpolicy/p0", "hub"],
            &["policies", "hub"],
            &["policies", "hub", "--effective"],
            &["status", "hub"],
        ] {
            runs.push([command, &["-o", output]].concat());
        }
    }
    runs.push(vec![
        "render",
        "hub",
        "-q",
        "-o",
        "rendered",
        "--report",
        "report.json",
        "--force",
    ]);
    runs.push(vec!["page", "hub", "--base-dir", "other", "-o", "page.html"]);
    for arguments in runs {
        let run = scratch.run(&arguments);
        let leak = run
            .stdout
            .lines()
            .chain(run.stderr.lines())
            .find(|line| line.contains(VALUE));
        assert_eq!(leak, None, "{arguments:?}");
        assert!(run.status < 2, "{arguments:?}: {}", run.stderr);
    }
    for file in ["report.json", "page.html"] {
        assert!(!scratch.read(file).contains(VALUE), "{file}");
    }
}
