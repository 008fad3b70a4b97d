//! What kustomize built, piped in: findings stand in the files that it was made from. The annotation is as
//! `kubectl kustomize` (kustomize v5.5.0) writes it with `buildMetadata: [originAnnotations]`.

use std::fs::File;

use crate::scratch::{Run, Scratch};

/// The hub as kustomize prints it, each document with the path that it was made from; the route comes from `route`.
fn built(scratch: &Scratch, route: &str) -> String {
    let mut all = String::new();
    let files = ["class", "decisions", "gateway", "limits"]
        .map(|name| (format!("hub/{name}.yaml"), format!("{name}.yaml")));
    let route = ("hub/sub/route.yaml".to_owned(), route.to_owned());
    for (file, path) in files.iter().chain([&route]) {
        for document in scratch
            .read(file)
            .split("---\n")
            .filter(|text| text.contains("kind:"))
        {
            let document = document.trim_start_matches('\n');
            let origin = format!("  annotations:\n    config.kubernetes.io/origin: |\n      path: {path}\n");
            let document = if document.contains("  annotations:\n") {
                document.replacen("  annotations:\n", &origin, 1)
            } else {
                document.replacen("metadata:\n", &format!("metadata:\n{origin}"), 1)
            };
            all.push_str(&document);
            all.push_str("---\n");
        }
    }
    all
}

fn piped(scratch: &Scratch, text: &str, arguments: &[&str]) -> Run {
    scratch.write("built.txt", text);
    let built = File::open(scratch.path("built.txt")).expect("it was written");
    Run::of(scratch.command(arguments).stdin(built))
}

const ROUTE: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: r\n  namespace: gateways\n\
                     spec:\n  parentRefs:\n  - name: prod-wep\n";

fn hub() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch
        .write("hub/sub/route.yaml", &format!("# A route.\n\n{ROUTE}"))
        .write(
            "spokewright.yaml",
            "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\n",
        );
    scratch
}

#[test]
fn a_finding_stands_in_the_file_that_the_object_was_made_from() {
    let scratch = hub();
    let text = built(&scratch, "sub/route.yaml");
    let run = piped(&scratch, &text, &["check", "-", "--config", "spokewright.yaml"]);
    // The line of the field in the file, and not in what was built, which has more lines above it.
    assert!(
        run.stdout.contains("--> hub/sub/route.yaml:10:"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("name: prod-wep"), "{}", run.stdout);
    assert!(!run.stdout.contains("stdin"), "{}", run.stdout);
    // Also relative to the configuration, or to where the command runs.
    let text = built(&scratch, "hub/sub/route.yaml");
    for arguments in [
        ["check", "-", "--config", "spokewright.yaml"].as_slice(),
        &["check", "-"],
    ] {
        let run = piped(&scratch, &text, arguments);
        assert!(
            run.stdout.contains("--> hub/sub/route.yaml:10:"),
            "{}",
            run.stdout
        );
    }
    // Nothing of kustomize's is shipped or changes anything else.
    let run = piped(&scratch, &text, &["render", "-", "-o", "-", "--allow-empty"]);
    assert!(!run.stdout.contains("config.kubernetes.io"), "{}", run.stdout);
}

#[test]
fn a_file_that_is_not_found_is_a_note() {
    let scratch = hub();
    scratch.write("elsewhere/route.yaml", ROUTE);
    let outside = format!("{}/elsewhere/route.yaml", scratch.path("").display());
    for path in [
        "sub/other.yaml",
        "../elsewhere/route.yaml",
        "../../sub/route.yaml",
        &outside,
        // It is there, and has no such object.
        "hub/gateway.yaml",
        ".",
    ] {
        let text = built(&scratch, path);
        let run = piped(&scratch, &text, &["check", "-", "--config", "spokewright.yaml"]);
        assert!(run.stdout.contains("--> <stdin>:"), "{path}:\n{}", run.stdout);
        assert!(
            run.stdout
                .contains(&format!("kustomize built this from `{path}`")),
            "{path}:\n{}",
            run.stdout
        );
    }
}

#[test]
fn a_local_configuration_is_no_object() {
    let scratch = Scratch::with_worked_example();
    let local = |value: &str| {
        format!(
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata:\n  name: local\n  namespace: gateways\n  \
             annotations: {{config.kubernetes.io/local-config: {value}}}\nspec: {{targetRef: {{kind: Nothing}}}}\n"
        )
    };
    for value in ["\"true\"", "anything"] {
        scratch.write("hub/local.yaml", &local(value));
        let run = scratch.run(&["check", "hub", "-v"]);
        run.exits(0).says("for a tool");
    }
    scratch.write("hub/local.yaml", &local("\"false\""));
    scratch.run(&["check", "hub"]).exits(3);
}

#[test]
fn a_hub_that_is_a_kustomization_says_what_to_run() {
    for (field, named) in [
        ("namePrefix: eu-", "namePrefix"),
        ("components: [../shared]", "components"),
        ("generators: [made.yaml]", "generators"),
        ("patches: [{path: patch.yaml}]", "patches"),
    ] {
        let scratch = Scratch::with_worked_example();
        scratch.write(
            "hub/kustomization.yaml",
            &format!("resources: [class.yaml, decisions.yaml, gateway.yaml, limits.yaml]\n{field}\n"),
        );
        let run = scratch.run(&["check", "hub"]);
        assert!(
            run.stdout.contains("warning[object/kustomized]"),
            "{field}:\n{}",
            run.stdout
        );
        assert!(
            run.stdout.contains(&format!("`{named}`")),
            "{field}:\n{}",
            run.stdout
        );
        assert!(
            run.stdout.contains("| spokewright render -`"),
            "{field}:\n{}",
            run.stdout
        );
    }
    let scratch = Scratch::with_worked_example();
    for remote in [
        "https://example.com/gateway.yaml",
        "github.com/acme/base//hub?ref=v1",
        "git@example.com:a/b",
    ] {
        scratch.write(
            "hub/kustomization.yaml",
            &format!("resources: [class.yaml, decisions.yaml, gateway.yaml, limits.yaml, '{remote}']\n"),
        );
        let run = scratch.run(&["check", "hub"]);
        assert!(
            run.stdout.contains("warning[object/kustomized]"),
            "{remote}:\n{}",
            run.stdout
        );
        assert!(
            run.stdout
                .contains(&format!("`{remote}` is fetched by kustomize")),
            "{}",
            run.stdout
        );
    }
    // One that only lists files changes nothing.
    scratch.write(
        "hub/kustomization.yaml",
        "resources: [class.yaml, decisions.yaml, gateway.yaml, limits.yaml]\nbuildMetadata: [originAnnotations]\n",
    );
    let run = scratch.run(&["check", "hub"]);
    run.exits(0);
    assert!(!run.stdout.contains("object/kustomized"), "{}", run.stdout);
}
