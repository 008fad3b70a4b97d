//! Directories shaped as real repositories: what they hold besides a hub stops nothing, and is no noise.
//!
//! Each stands in `fixtures/repositories` with what `check` says of it and how many works it renders to. In some of them one
//! mistake is planted, which is found. `UPDATE_TRANSCRIPTS=1 cargo test --test cli repositories` writes `expected.txt`; read
//! the difference before you commit it.

use std::fs;

#[cfg(unix)]
use crate::repository::{at_hand, git};
use crate::scratch::{Scratch, copy, fixtures};

/// Every repository, and the codes of the mistakes that are planted in it.
const REPOSITORIES: [(&str, &[&str]); 13] = [
    ("argocd", &["policy/target-not-found"]),
    ("catalogue", &[]),
    ("flux", &[]),
    ("flux-variables", &["object/schema", "object/invalid-name"]),
    ("helm-chart", &[]),
    ("json-arrays", &["object/schema"]),
    ("kustomize", &[]),
    ("links", &[]),
    ("machines", &["object/no-name"]),
    ("monorepo", &[]),
    ("other-gateways", &[]),
    ("pipelines", &[]),
    ("sops", &[]),
];

fn repository(name: &str) -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("repositories").join(name), &scratch.path("."));
    let _ = fs::remove_file(scratch.path("expected.txt"));
    #[cfg(unix)]
    if name == "links" {
        add_links(&scratch);
    }
    scratch
}

/// Links that Git would keep as they are: to nothing, out of the repository, and excluded ones.
#[cfg(unix)]
fn add_links(scratch: &Scratch) {
    for (link, target) in [
        ("README", "/nowhere/README"),
        ("result", "/nix/store/nothing"),
        ("LICENSE.txt", "/etc/passwd"),
        ("hub/vendor", "/etc"),
        ("hub/cache", "/etc"),
    ] {
        std::os::unix::fs::symlink(target, scratch.path(link)).expect("a link");
    }
}

#[test]
fn repositories_of_all_kinds_are_checked_without_noise_and_render() {
    let listed: Vec<&str> = REPOSITORIES.iter().map(|(name, _)| *name).collect();
    let mut there: Vec<String> = fs::read_dir(fixtures().join("repositories"))
        .expect("fixtures")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    there.sort();
    assert_eq!(there, listed);
    let mut differing = Vec::new();
    for (name, mistakes) in REPOSITORIES {
        if cfg!(not(unix)) && name == "links" {
            continue;
        }
        let scratch = repository(name);
        let check = scratch.run(&["check"]);
        let works = scratch
            .run(&["render", "-q", "-o", "-"])
            .stdout
            .matches("\nkind: ManifestWork\n")
            .count();
        let errors: Vec<&str> = check.stdout.split("error[").skip(1).collect();
        let codes: Vec<&str> = errors
            .iter()
            .filter_map(|error| error.split(']').next())
            .collect();
        assert_eq!(codes, mistakes, "{name}:\n{}", check.stdout);
        assert_eq!(works > 0, mistakes.is_empty(), "{name}: {works} works\n{check:?}");
        let said = format!(
            "$ spokewright check\n{}{}works: {works}\n",
            check.stdout, check.stderr
        );
        let file = fixtures().join("repositories").join(name).join("expected.txt");
        if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
            fs::write(&file, &said).expect("a transcript to write");
        } else if fs::read_to_string(&file).ok().as_deref() != Some(&said) {
            differing.push(format!("{name}:\n{said}"));
        }
    }
    assert!(differing.is_empty(), "not as expected:\n{}", differing.join("\n"));
}

#[test]
fn v_lists_what_is_no_object_and_why() {
    let run = repository("machines").run(&["check", "-v"]);
    run.says("9 documents are not Kubernetes objects\n")
        .says("  kind.yaml:1: Cluster of kind.x-k8s.io/v1alpha4, without a name\n")
        .says("  talos/patches.yaml:1: a list\n")
        .says("  kubeconfig.yaml:1: Config of v1, for a tool\n");
    repository("machines")
        .run(&["check", "-q"])
        .does_not_say("documents");
}

/// What is passed over elsewhere is an error where it may be an object that rendering uses.
#[test]
fn what_may_be_ours_is_never_passed_over() {
    for (text, code, place) in [
        // Whole but for one line.
        (
            "kind: Gateway\nmetadata: {name: a, namespace: b}\n",
            "object/schema",
            "x.yaml:1:",
        ),
        (
            "apiVersion: kuadrant.io/v1\nmetadata: {name: a}\nspec: {targetRef: {name: web}}\n",
            "object/schema",
            "x.yaml:1:",
        ),
        (
            "metadata: {name: a, namespace: b}\nspec: {targetRefs: [{kind: Gateway, name: web}]}\n",
            "object/schema",
            "x.yaml:1:",
        ),
        (
            "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nspec: {}\n",
            "object/no-name",
            "x.yaml:1:",
        ),
        (
            "apiVersion: example.com/v1\nkind: Limit\nmetadata: {generateName: a-}\nspec: {targetRef: {kind: Gateway, name: web}}\n",
            "object/no-name",
            "x.yaml:3:",
        ),
        // Unreadable.
        (
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\n\tmetadata: {}\n",
            "yaml/syntax",
            "x.yaml:3:1",
        ),
        (
            "kind: HTTPRoute\nspec:\n  parentRefs: {{ .Values.parents }}\n",
            "yaml/syntax",
            "x.yaml:3:",
        ),
        (
            "kind: Gateway\nspec: {gatewayClassName: multicluster, gatewayClassName: b}\n",
            "yaml/duplicate-key",
            "x.yaml:2:",
        ),
    ] {
        let scratch = repository("sops");
        scratch.write("hub/x.yaml", text);
        let run = scratch.run(&["check"]);
        run.exits(3);
        assert!(
            run.stdout.contains(&format!("error[{code}]")),
            "{text}\n{}",
            run.stdout
        );
        assert!(
            run.stdout.contains(&format!("--> hub/{place}")),
            "{text}\n{}",
            run.stdout
        );
    }
}

#[test]
fn two_definitions_of_what_is_rendered_are_an_error_and_of_anything_else_a_warning_for_the_files() {
    let scratch = repository("monorepo");
    scratch.write(
        "platform/hub/again.yaml",
        &scratch.read("platform/hub/limits.yaml"),
    );
    let run = scratch.run(&["check"]);
    run.exits(3);
    assert_eq!(
        run.stdout.matches("error[object/duplicate]").count(),
        1,
        "{}",
        run.stdout
    );
    assert_eq!(
        run.stdout.matches("warning[object/duplicate]").count(),
        1,
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("is defined twice, and so are 2 more objects of these files"),
        "{}",
        run.stdout
    );
}

/// What lives on a cluster is compared with what is shipped there: all of it has to be read.
#[test]
fn what_lives_on_a_cluster_is_in_the_chain() {
    let scratch = repository("sops");
    scratch.write(
        "spokes/eu-1/a.yaml",
        "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n",
    );
    let run = scratch.run(&["check"]);
    run.exits(3);
    assert!(run.stdout.contains("error[object/no-name]"), "{}", run.stdout);
    scratch.write("spokes/eu-1/a.yaml", "a: {{ b }}\n");
    scratch.run(&["check"]).exits(3);
}

/// A Gateway whose class is not in the input may be ours.
#[test]
fn a_gateway_of_a_class_that_is_not_there_is_in_the_chain() {
    let scratch = repository("other-gateways");
    for (class, severity) in [
        ("multiclustr", "error"),
        ("istio", "error"),
        ("cilium", "warning"),
    ] {
        let edge = "gatewayClassName: cilium";
        let text = scratch
            .read("edge/gateway.yaml")
            .replace(edge, &format!("gatewayClassName: {class}"));
        let other = repository("other-gateways");
        other.write("edge/gateway.yaml", &text);
        let run = other.run(&["check"]);
        let expected = format!("{severity}[object/schema]: `spec.listeners[0].port` of Gateway edge/edge");
        assert!(run.stdout.contains(&expected), "{class}:\n{}", run.stdout);
    }
}

#[test]
fn a_kustomization_that_changes_only_what_is_not_rendered_says_nothing() {
    let scratch = repository("kustomize");
    let run = scratch.run(&["check", "--message-format", "json"]);
    assert_eq!(
        run.stdout.matches("object/kustomized").count(),
        1,
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("hub/overlays/dev/kustomization.yaml"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("apps/overlays"), "{}", run.stdout);
    // Plain resources change nothing.
    for stage in ["dev", "prod"] {
        let file = format!("hub/overlays/{stage}/kustomization.yaml");
        scratch.write(&file, "resources: [../../base]\n");
        scratch.remove(&format!("hub/overlays/{stage}/hostname.yaml"));
    }
    let run = scratch.run(&["check"]);
    assert!(!run.stdout.contains("object/kustomized"), "{}", run.stdout);
}

#[test]
fn a_variable_is_one_finding_wherever_it_stands_and_never_nothing_to_do() {
    let run = repository("flux-variables").run(&["check"]);
    let findings = run.stdout.matches("`${DOMAIN}` has no value yet").count();
    assert_eq!(findings, 1, "{}", run.stdout);
    assert!(run.stdout.contains("flux build kustomization"), "{}", run.stdout);
    assert!(!run.stdout.contains("nothing to do"), "{}", run.stdout);
    assert!(!run.stdout.contains("write `app"), "{}", run.stdout);
    // Where every field takes it, the guard says what to do.
    let scratch = repository("sops");
    scratch.edit(
        "hub/limits.yaml",
        "    all:\n",
        "    all:\n      when: [{predicate: \"request.host == '${HOST}'\"}]\n",
    );
    let run = scratch.run(&["check"]);
    run.exits(0);
    assert!(
        run.stdout.contains("warning[work/substitution]"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("if `${HOST}` should get a value"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("nothing to do"), "{}", run.stdout);
}

/// A wrong name of an object that is refused is said once, not again at everything that refers to it.
#[test]
fn what_refers_to_an_object_that_is_refused_is_no_second_finding() {
    let scratch = repository("sops");
    scratch.edit("hub/gateway.yaml", "name: web\n", "name: Web\n");
    scratch.edit("hub/limits.yaml", "name: web}", "name: Web}");
    let run = scratch.run(&["check"]);
    run.exits(3);
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
}

#[test]
fn bytes_that_are_no_text_have_a_line_and_a_way_out() {
    let scratch = repository("sops");
    let policy = scratch.read("hub/limits.yaml");
    let utf16: Vec<u8> = policy.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = policy.replace("floor", "flo\u{f6}r").into_bytes();
    let latin: Vec<u8> = latin.into_iter().filter(|byte| *byte != 0xC3).collect();
    for (bytes, place, help) in [
        (utf16, "hub/limits.yaml:1:1", "iconv -f UTF-16LE -t UTF-8"),
        (latin, "hub/limits.yaml:3:21", "iconv -f ISO-8859-1 -t UTF-8"),
    ] {
        fs::write(scratch.path("hub/limits.yaml"), bytes).expect("a file");
        let run = scratch.run(&["check"]);
        run.exits(3);
        assert!(run.stdout.contains("error[yaml/syntax]"), "{}", run.stdout);
        assert!(run.stdout.contains(&format!("--> {place}")), "{}", run.stdout);
        assert!(run.stdout.contains(help), "{}", run.stdout);
    }
}

/// On disk and in Git's index alike; a link that nothing leaves out stops the run.
#[cfg(unix)]
#[test]
fn every_form_of_a_pattern_silences_a_link_that_leaves_the_input() {
    let check = |patterns: Option<(&str, &str)>, inputs: &str| {
        let scratch = Scratch::with_worked_example();
        std::os::unix::fs::symlink("/etc", scratch.path("hub/out")).expect("a link");
        if let Some((file, text)) = patterns {
            scratch.write(file, text);
        }
        if inputs == "git-index" {
            git(&scratch.path(""), &["init", "-q"]);
            git(&scratch.path(""), &["add", "-A", "-f"]);
        }
        scratch.run(&["check", "hub", "--inputs", inputs])
    };
    let states: &[&str] = match at_hand() {
        Some(()) => &["work-tree", "git-index"],
        None => &["work-tree"],
    };
    for inputs in states {
        let run = check(None, inputs);
        run.exits(5);
        assert!(run.stdout.contains("error[input/outside]"), "{}", run.stdout);
        for pattern in [
            "out", "out/", "/out", "/out/", "out/**", "/out/**", "out/*", "**/out",
        ] {
            let config = format!(
                "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nexclude: [\"{pattern}\"]\n"
            );
            check(Some(("hub/spokewright.yaml", &config)), inputs).exits(0);
            check(Some(("hub/.gitignore", &format!("{pattern}\n"))), inputs).exits(0);
        }
        let config =
            "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nexclude: [other/, \"outer/**\"]\n";
        check(Some(("hub/spokewright.yaml", config)), inputs).exits(5);
    }
}
