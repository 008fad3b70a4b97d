//! Small inputs that would cost much: products of lists, copies of copies, a thousand findings in one document. Each ends
//! with an answer or with a refusal that leads out. tools/hostile-hubs measures; here stands what must be said.

use std::fmt::Write as _;

use kube_json::Value;

use crate::page::data_of;
use crate::repository::{commit, git, git_command, repository, run_in};
use crate::scratch::{Run, Scratch};

/// Runs the command with so much address space, in MiB, where the shell can say so.
fn run_with_at_most(scratch: &Scratch, mebibytes: usize, arguments: &[&str]) -> Run {
    let mut command = scratch.command(&[]);
    let binary = command.get_program().to_owned();
    command = std::process::Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -v {}; exec \"$0\" \"$@\"", mebibytes * 1024))
        .arg(binary)
        .args(arguments)
        .current_dir(scratch.path(""))
        .env_clear()
        // One thread: each has address space of its own.
        .env("RAYON_NUM_THREADS", "1")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(std::process::Stdio::null());
    Run::of(&mut command)
}

/// A ConfigMap of 8 KB whose aliases expand to 380,000 values: less than Kubernetes refuses in one document.
fn aliased(name: usize) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{name}, namespace: gateways}}\ndata:\n  a: &a [{}]\n  b: [{}]\n",
        vec!["x"; 4000].join(","),
        vec!["*a"; 95].join(","),
    )
}

#[test]
fn all_documents_have_one_budget_for_what_aliases_expand_to() {
    let scratch = Scratch::with_worked_example();
    for file in 0..10 {
        let documents: Vec<String> = (0..10).map(|number| aliased(file * 10 + number)).collect();
        scratch.write(&format!("hub/x{file}.yaml"), &documents.join("---\n"));
    }
    let run = run_with_at_most(&scratch, 1024, &["check", "hub"]);
    run.exits(3);
    let found = run.stdout.matches("error[").count();
    assert_eq!(found, 1, "{}", run.stdout);
    assert!(
        !run.stdout.contains("object/empty-file"),
        "nobody knows what they hold"
    );
    for said in [
        "error[input/too-costly]: expanding all aliases up to this one takes more work than a run allows, so 99 documents \
         with many aliases cannot be read",
        "--> hub/x0.yaml:13:",
        "= help: write the values in full",
    ] {
        assert!(run.stdout.contains(said), "{said} is not in\n{}", run.stdout);
    }
    // What aliases are for costs nothing of it.
    let scratch = Scratch::with_worked_example();
    let labels = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cN, namespace: gateways, labels: &l {a: b, c: d}}\n\
                  data: *l\n---\n";
    let many: String = (0..3000)
        .map(|number| labels.replace('N', &number.to_string()))
        .collect();
    scratch.write("hub/x.yaml", &many);
    scratch.run(&["check", "hub"]).exits(0);
}

#[test]
fn an_object_that_no_api_server_takes_is_refused_before_it_is_read_and_a_list_of_that_size_is_not() {
    let scratch = Scratch::with_worked_example();
    let one = |name: usize, bytes: usize| {
        let text = "x".repeat(bytes);
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{name}, namespace: gateways}}\ndata: {{a: {text}}}\n"
        )
    };
    let item = |name| format!("- {}", one(name, 1 << 20).trim_end().replace('\n', "\n  "));
    let items: Vec<String> = (0..5).map(item).collect();
    scratch.write(
        "hub/list.yaml",
        &format!("apiVersion: v1\nkind: List\nitems:\n{}\n", items.join("\n")),
    );
    scratch.run(&["check", "hub"]).exits(0);
    scratch.write(
        "hub/big.yaml",
        &format!("{}---\n{}", one(10, 10), one(11, 5 << 20)),
    );
    let run = scratch.run(&["check", "hub"]);
    run.exits(3);
    for said in [
        "error[yaml/limit]: this document has 5242",
        "--> hub/big.yaml:6:1",
        "= help: split it: an API server accepts no request above 3 MiB",
    ] {
        assert!(run.stdout.contains(said), "{said} is not in\n{}", run.stdout);
    }
    // Of what may be a Secret not even the first line is shown.
    let secret = one(11, 5 << 20)
        .replace("ConfigMap", "Secret")
        .replace("apiVersion: v1", "stringData: {b: hunter2}\napiVersion: v1");
    scratch.write("hub/big.yaml", &secret);
    let run = scratch.run(&["check", "hub"]);
    run.exits(3);
    assert!(run.stdout.contains("error[yaml/limit]"), "{}", run.stdout);
    assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
}

const GATEWAY_API: &str = "gateway.networking.k8s.io";

#[test]
fn selectors_that_select_everything_are_refused_when_it_is_too_much() {
    let scratch = Scratch::with_worked_example();
    let selector = format!("{{group: {GATEWAY_API}, kind: HTTPRoute, matchLabels: {{app: x}}}}");
    let mut hub = String::new();
    for policy in 0..21 {
        let _ = write!(
            hub,
            "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n\
             metadata: {{name: p{policy}, namespace: gateways}}\nspec:\n  targetSelectors: [{}]\n---\n",
            vec![selector.as_str(); 16].join(", ")
        );
    }
    for route in 0..300 {
        let _ = write!(
            hub,
            "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\n\
             metadata: {{name: r{route}, namespace: gateways, labels: {{app: x}}}}\nspec: {{parentRefs: [{{name: prod-web}}]}}\n---\n"
        );
    }
    scratch.write("hub/x.yaml", &hub);
    let run = scratch.run(&["check", "hub"]);
    for said in [
        "[input/too-costly]: selecting the targets of all policies up to BackendTrafficPolicy gateways/p9 takes more work \
         than a run allows, so this selector and those after it select nothing",
        "--> hub/x.yaml:59:",
        "= help: let each selector select fewer objects",
    ] {
        assert!(run.stdout.contains(said), "{said} is not in\n{}", run.stdout);
    }
    assert_eq!(run.stdout.matches("input/too-costly").count(), 1);
}

#[test]
fn what_holds_for_every_target_of_a_selector_is_said_once() {
    let scratch = Scratch::with_worked_example();
    let mut hub = String::new();
    for gateway in 0..4 {
        let _ = write!(
            hub,
            "apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: g{gateway}, namespace: gateways, labels: {{app: x}}}}\n\
             spec: {{gatewayClassName: multicluster, listeners: [{{name: a, port: 80, protocol: HTTP}}]}}\n---\n"
        );
    }
    for policy in 0..3 {
        let _ = write!(
            hub,
            "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n\
             metadata: {{name: p{policy}, namespace: gateways, creationTimestamp: \"2026-01-0{}T00:00:00Z\"}}\n\
             spec: {{targetSelectors: [{{group: {GATEWAY_API}, kind: Gateway, matchLabels: {{app: x}}}}]}}\n---\n",
            policy + 1
        );
    }
    scratch.write("hub/x.yaml", &hub);
    let run = scratch.run(&["check", "hub"]);
    for (code, findings) in [("policy/not-synced", 3), ("policy/same-target", 2)] {
        let said: Vec<&str> = run
            .stdout
            .split("\n\n")
            .filter(|one| one.contains(code))
            .collect();
        assert_eq!(said.len(), findings, "{code}: {}", run.stdout);
        for one in said {
            assert!(
                one.contains("= note: the same is true of 3 more targets"),
                "{one}"
            );
        }
    }
}

/// So many Gateways, each of which goes to so many clusters.
fn gateways_on_clusters(gateways: usize, clusters: usize) -> String {
    let mut hub = String::from(
        "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n\
         metadata: {name: many-1, namespace: gateways, labels: {cluster.open-cluster-management.io/placement: many}}\n\
         status:\n  decisions:\n",
    );
    for cluster in 0..clusters {
        let _ = writeln!(hub, "  - {{clusterName: c{cluster}, reason: ''}}");
    }
    for gateway in 0..gateways {
        let _ = write!(
            hub,
            "---\napiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: g{gateway:03}, namespace: gateways, labels: \
             {{cluster.open-cluster-management.io/placement: many}}}}\nspec: {{gatewayClassName: multicluster, listeners: \
             [{{name: web, port: 80, protocol: HTTP}}]}}\n"
        );
    }
    hub
}

#[test]
fn more_works_than_any_hub_holds_are_refused_before_they_are_made() {
    let scratch = Scratch::with_worked_example();
    let hub = gateways_on_clusters(450, 5000);
    scratch.write("hub/x.yaml", &hub);
    let run = run_with_at_most(&scratch, 1024, &["render", "hub", "-o", "rendered"]);
    run.exits(3)
        .says("error[input/too-costly]: planning all works up to those of Gateway gateways/g")
        .says(" takes more work than a run allows, so nothing is rendered")
        .says("= help: place fewer Gateways on each cluster");
    assert_eq!(
        run.stderr.matches("input/too-costly").count(),
        1,
        "{}",
        run.stderr
    );
    assert!(!scratch.path("rendered").exists());
}

/// 60 settings on 64 listeners with 60 routes: a product that 12 KB hold.
fn many_paths() -> Scratch {
    let scratch = Scratch::with_worked_example();
    let mut hub = format!(
        "apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: wide, namespace: gateways, labels: \
         {{cluster.open-cluster-management.io/placement: edge}}}}\nspec:\n  gatewayClassName: multicluster\n  listeners:\n"
    );
    for listener in 0..64 {
        let _ = writeln!(
            hub,
            "  - {{name: l{listener}, port: 80, protocol: HTTP, hostname: h{listener}.example.com}}"
        );
    }
    hub.push_str(
        "---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: wide, namespace: gateways}\nspec:\n",
    );
    let _ = writeln!(
        hub,
        "  targetRef: {{group: {GATEWAY_API}, kind: Gateway, name: wide}}\n  limits:"
    );
    for limit in 0..60 {
        let _ = writeln!(hub, "    l{limit}: {{rates: [{{limit: 5, window: 1s}}]}}");
    }
    for route in 0..60 {
        let _ = write!(
            hub,
            "---\napiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r{route}, namespace: gateways}}\n\
             spec: {{parentRefs: [{{name: wide}}], rules: [{{}}]}}\n"
        );
    }
    scratch.write("hub/wide.yaml", &hub);
    scratch
}

#[test]
fn what_holds_on_every_path_is_not_listed_when_it_is_too_much() {
    let scratch = many_paths();
    for arguments in [
        ["policies", "hub"].as_slice(),
        &["policies", "hub", "-o", "json"],
        &["explain", "ratelimitpolicy/gateways/wide", "hub"],
        &["status", "hub", "-o", "yaml"],
        &["diff", "hub", "--without", "Gateway/gateways/prod-web"],
    ] {
        let run = run_with_at_most(&scratch, 1024, arguments);
        run.exits(3)
            .says("error[input/too-costly]: the effective policies are ")
            .says("at most 200000 are listed")
            .says("= help: ask about one route (`spokewright explain httproute/NAMESPACE/NAME`)");
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
    // What it leads to does.
    let run = scratch.run(&["explain", "httproute/gateways/r0", "hub", "-q"]);
    run.exits(0);
    assert!(run.stdout.contains("l59"), "{}", run.stdout);
    scratch.run(&["check", "hub", "-q"]).exits(0);
    scratch.run(&["render", "hub", "-q", "-o", "rendered"]).exits(0);
}

/// A loose object by any name, which says that it has more than it holds.
fn forge(scratch: &Scratch, id: &str, kind: &str, size: u64) {
    let text = format!("{kind} {size}\0a: 1\n");
    let length = u16::try_from(text.len()).expect("a short text");
    // Zlib with one block as it is (RFC 1950, RFC 1951).
    let mut packed = vec![0x78, 0x01, 0x01];
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(text.bytes());
    let (low, high) = text.bytes().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(byte)) % 65521;
        (low, (high + low) % 65521)
    });
    packed.extend(((high << 16) | low).to_be_bytes());
    let path = scratch.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    std::fs::write(path, packed).expect("an object");
}

/// Commits a tree whose `hub` holds these lines of `git mktree` beside what it holds.
fn commit_beside(scratch: &Scratch, lines: &str) {
    let root = scratch.path("");
    let hub = git(&root, &["ls-tree", "HEAD:hub"]);
    let hub = make_tree(scratch, &format!("{hub}{lines}"));
    let tree = make_tree(scratch, &format!("040000 tree {hub}\thub\n"));
    let commit = git(&root, &["commit-tree", &tree, "-m", "x"]);
    git(&root, &["update-ref", "HEAD", commit.trim()]);
}

fn make_tree(scratch: &Scratch, lines: &str) -> String {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut child = git_command(&scratch.path(""), &["mktree", "--missing"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(lines.as_bytes()).expect("a reader");
    drop(pipe);
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .expect("digits")
        .trim()
        .to_owned()
}

#[test]
fn an_object_of_git_is_not_unpacked_when_its_header_says_too_much() {
    let id = "1234567890123456789012345678901234567890";
    for (kind, line, size, most) in [
        (
            "blob",
            format!("100644 blob {id}\tbig.yaml\n"),
            2_u64 << 30,
            64 << 20,
        ),
        ("blob", format!("120000 blob {id}\tbig.yaml\n"), 1 << 20, 4096),
        ("tree", format!("040000 tree {id}\tbig\n"), 1 << 30, 16 << 20),
    ] {
        let Some(scratch) = repository() else { return };
        forge(&scratch, id, kind, size);
        commit_beside(&scratch, &line);
        run_in(&scratch, "", &["diff", "hub"])
            .exits(5)
            .says("error[input/unreadable]: cannot read `HEAD:hub/big")
            .says(&format!("it has {size} bytes; at most {most} are read"))
            .says("= help: exclude it in spokewright.yaml");
    }
}

#[test]
fn trees_that_hold_one_another_a_million_times_are_refused_once() {
    for ends_in_files in [true, false] {
        let Some(scratch) = repository() else { return };
        scratch.write("hub/f.yaml", "a: 1\n");
        commit(&scratch.path(""));
        let blob = git(&scratch.path(""), &["rev-parse", "HEAD:hub/f.yaml"]);
        let many = |kind: &str, id: &str, end: &str| -> String {
            let id = id.trim();
            (0..10).map(|n| format!("{kind} {id}\tx{n}{end}\n")).collect()
        };
        let leaves = many("100644 blob", &blob, ".yaml");
        let mut tree = make_tree(&scratch, if ends_in_files { &leaves } else { "" });
        for _ in 0..9 {
            tree = make_tree(&scratch, &many("040000 tree", &tree, ""));
        }
        commit_beside(&scratch, &format!("040000 tree {tree}\tbomb\n"));
        let run = run_in(&scratch, "", &["diff", "hub"]);
        run.exits(5)
            .says("reading everything up to it takes more work than a run allows")
            .says("= help: exclude it in spokewright.yaml, or name a smaller input");
        assert_eq!(run.stderr.matches("error[").count(), 1, "{}", run.stderr);
    }
}

/// An index of Git's version 2 with one file of this path, which no command of Git would write.
fn index_with(path: &str) -> Vec<u8> {
    let mut index = b"DIRC\x00\x00\x00\x02\x00\x00\x00\x01".to_vec();
    let mut entry = vec![0; 24];
    entry.extend(0o100_644_u32.to_be_bytes());
    entry.extend([0; 12]);
    entry.extend([7; 20]);
    entry.extend(u16::try_from(path.len()).expect("a short path").to_be_bytes());
    entry.extend(path.bytes());
    entry.resize((entry.len() / 8 + 1) * 8, 0);
    index.extend(entry);
    index.extend([0; 20]);
    index
}

/// Found by fuzzing: a directory without a name was below itself.
#[test]
fn a_path_that_git_never_writes_leads_nowhere() {
    let Some(scratch) = repository() else { return };
    for path in [
        "//hub/a.yaml",
        "hub//a.yaml",
        "hub/",
        "./hub/a.yaml",
        "hub/../../a.yaml",
        "hub/.git/a.yaml",
    ] {
        std::fs::write(scratch.path(".git/index"), index_with(path)).expect("an index");
        run_in(&scratch, "", &["check", ".", "--inputs", "git-index"])
            .exits(5)
            .says("cannot read Git's index")
            .says(&format!(
                "it contains `{path}`, which is not a valid path for Git"
            ));
    }
    for name in [".", "..", ".git", ".GIT"] {
        let Some(scratch) = repository() else { return };
        let hub = git(&scratch.path(""), &["rev-parse", "HEAD:hub"]);
        commit_beside(&scratch, &format!("040000 tree {}\t{name}\n", hub.trim()));
        run_in(&scratch, "", &["diff", "hub"])
            .exits(5)
            .says(&format!(
                "it has an entry named `{name}`, which Git never checks out"
            ))
            .says("= help: check it: `git fsck`");
    }
}

#[test]
fn one_file_under_many_names_has_a_limit_too() {
    let Some(scratch) = repository() else { return };
    scratch.write("hub/f.yaml", &"# nothing\n".repeat(20_000));
    commit(&scratch.path(""));
    let blob = git(&scratch.path(""), &["rev-parse", "HEAD:hub/f.yaml"]);
    let names: String = (0..200)
        .map(|name| format!("100644 blob {}\tx{name}.yaml\n", blob.trim()))
        .collect();
    commit_beside(&scratch, &names);
    run_in(&scratch, "", &["diff", "hub"])
        .exits(5)
        .says("reading everything up to it takes more work");
}

/// A hub of these objects beside the worked example.
fn hub_with(objects: impl IntoIterator<Item = String>) -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/x.yaml",
        &objects.into_iter().collect::<Vec<_>>().join("---\n"),
    );
    scratch
}

#[test]
fn routes_that_hang_on_too_many_listeners_are_refused() {
    let gateways = (0..1100).map(|number| {
        format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: g{number}, namespace: gateways}}\nspec: \
             {{gatewayClassName: multicluster, defaultScope: All, listeners: [{{name: l, port: 80, protocol: HTTP}}]}}\n"
        )
    });
    let routes = (0..1000).map(|number| {
        format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: gateways}}\nspec: \
             {{useDefaultGateways: All, rules: [{{}}]}}\n"
        )
    });
    let scratch = hub_with(gateways.chain(routes));
    let run = run_with_at_most(&scratch, 1024, &["check", "hub"]);
    for said in [
        "error[input/too-costly]: attaching routes up to HTTPRoute gateways/r917 takes more work than a run allows, so no \
         route is attached",
        "= help: name the listener in `parentRefs` (`sectionName`), or let fewer Gateways be default ones",
    ] {
        assert!(run.stdout.contains(said), "{said} is not in\n{}", run.stdout);
    }
    assert_eq!(run.stdout.matches("input/too-costly").count(), 1);
}

#[test]
fn lists_that_are_put_together_for_every_route_are_refused_when_they_are_too_long() {
    const ENVOY: &str = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n";
    let to = |kind: &str, name: &str| {
        format!("targetRefs: [{{group: {GATEWAY_API}, kind: {kind}, name: {name}}}]")
    };
    let mut objects = vec![
        format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: GatewayClass\nmetadata: {{name: eg}}\nspec: {{controllerName: \
             gateway.envoyproxy.io/gatewayclass-controller}}\n"
        ),
        format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: eg, namespace: gateways}}\nspec: \
             {{gatewayClassName: eg, listeners: [{{name: l, port: 80, protocol: HTTP}}]}}\n"
        ),
        format!(
            "{ENVOY}metadata: {{name: of-gateway, namespace: gateways}}\nspec: {{{}, httpUpgrade: [{}]}}\n",
            to("Gateway", "eg"),
            (0..6000)
                .map(|number| format!("{{type: t{number}}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    ];
    for number in 0..150 {
        objects.push(format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: gateways}}\nspec: \
             {{parentRefs: [{{name: eg}}], rules: [{{}}]}}\n---\n{ENVOY}metadata: {{name: of-r{number}, namespace: \
             gateways}}\nspec: {{{}, mergeType: StrategicMerge, httpUpgrade: [{{type: own}}]}}\n",
            to("HTTPRoute", &format!("r{number}"))
        ));
    }
    let run = run_with_at_most(&hub_with(objects), 1024, &["policies", "hub"]);
    run.exits(3)
        .says("error[input/too-costly]: evaluating policies on all paths takes more work than a run allows, so effective policies");
}

#[test]
fn a_definition_that_is_asked_about_too_many_targets_says_nothing() {
    let rules: Vec<String> = (0..20)
        .map(|number| {
            format!("{{rule: \"self.all(r, r.kind.startsWith('K') && r.kind != 'x{number}')\", message: m}}")
        })
        .collect();
    let version = |number: usize| {
        format!(
            "  - name: v{number}\n    served: true\n    storage: {}\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
             properties:\n          spec:\n            type: object\n            properties:\n              targetRefs:\n                \
             type: array\n                maxItems: 16\n                x-kubernetes-validations: [{}]\n                \
             items: {{type: object, required: [group, kind, name], properties: {{group: {{type: string}}, kind: {{type: \
             string}}, name: {{type: string}}}}}}\n",
            number == 1,
            rules.join(", ")
        )
    };
    let versions: String = (1..20).map(version).collect();
    let definition = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: foopolicies.ex.io, labels: \
         {{gateway.networking.k8s.io/policy: Direct}}}}\nspec:\n  group: ex.io\n  scope: Namespaced\n  names: {{plural: \
         foopolicies, singular: foopolicy, kind: FooPolicy, listKind: FooPolicyList}}\n  versions:\n{versions}"
    );
    let policies = (0..200).map(|number| {
        let target = |at: usize| format!("{{group: g{number}-{at}, kind: K{number}-{at}, name: x}}");
        format!(
            "apiVersion: ex.io/v{}\nkind: FooPolicy\nmetadata: {{name: p{number}, namespace: gateways}}\nspec: {{targetRefs: \
             [{}]}}\n",
            1 + number % 19,
            (0..16).map(target).collect::<Vec<_>>().join(", ")
        )
    });
    let run = hub_with(std::iter::once(definition).chain(policies)).run(&["check", "hub"]);
    assert_eq!(
        run.stdout.matches("error[input/too-costly]").count(),
        1,
        "{}",
        run.stdout
    );
}

/// Objects of Gateway API with a Gateway `wide` of the worked example's class that takes ListenerSets.
fn wide(listeners: &str) -> String {
    format!(
        "apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: wide, namespace: gateways, labels: \
         {{cluster.open-cluster-management.io/placement: edge}}}}\nspec: {{gatewayClassName: multicluster, allowedListeners: \
         {{namespaces: {{from: All}}}}, listeners: [{listeners}]}}\n"
    )
}

#[test]
fn ten_thousand_listeners_on_one_port_are_not_compared_with_each_other() {
    let set = |number: usize, hostname: &dyn Fn(usize) -> String| {
        let listeners: Vec<String> = (0..64)
            .map(|at| {
                format!(
                    "{{name: l{at}, port: 80, protocol: HTTP, hostname: {}}}",
                    hostname(at)
                )
            })
            .collect();
        format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: ListenerSet\nmetadata: {{name: s{number:03}, namespace: gateways}}\nspec: \
             {{parentRef: {{name: wide}}, listeners: [{}]}}\n",
            listeners.join(", ")
        )
    };
    let gateway = wide("{name: own, port: 80, protocol: HTTP, hostname: own.example.com}");
    let sets = (0..150).map(|number| set(number, &|at| format!("h{number}-{at}.example.com")));
    // Each listener of the last one clashes with one of the first.
    let last = set(150, &|at| format!("h0-{at}.example.com"));
    let hub = hub_with(std::iter::once(gateway).chain(sets).chain([last]));
    let run = run_with_at_most(&hub, 1024, &["check", "hub", "--message-format", "json"]);
    assert_eq!(run.stdout.matches("\"listener-set/conflicted\"").count(), 64);
    assert_eq!(
        run.stdout
            .matches("a listener of ListenerSet gateways/s150 accepts nothing")
            .count(),
        64,
    );
}

#[test]
fn a_route_with_thousands_of_parents_finds_each_at_once() {
    let listeners: Vec<String> = (0..4000)
        .map(|number| {
            format!("{{name: l{number}, port: 80, protocol: HTTP, hostname: h{number}.example.com}}")
        })
        .collect();
    let route = |parents: Vec<String>| {
        format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r, namespace: gateways}}\nspec: {{parentRefs: \
             [{}], rules: [{{}}]}}\n",
            parents.join(", ")
        )
    };
    let hub = |parents| hub_with([wide(&listeners.join(", ")), route(parents)]);
    let named = (0..4000).map(|number| format!("{{name: wide, sectionName: l{number}}}"));
    let run = run_with_at_most(&hub(named.collect()), 1024, &["check", "hub"]);
    assert!(!run.stdout.contains("input/too-costly"), "{}", run.stdout);
    // All listeners through each parent are too many.
    let whole = vec!["{name: wide}".to_owned(); 4000];
    let run = run_with_at_most(&hub(whole), 1024, &["check", "hub"]);
    assert_eq!(
        run.stdout
            .matches("[input/too-costly]: attaching routes up to HTTPRoute gateways/r")
            .count(),
        1
    );
}

#[test]
fn statuses_that_name_a_hundred_policies_at_each_of_a_thousand_targets_are_refused() {
    let policies = (0..300).map(|number| {
        format!(
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: p{number}, namespace: gateways}}\nspec: \
             {{targetRef: {{group: {GATEWAY_API}, kind: Gateway, name: prod-web}}, defaults: {{strategy: merge, limits: \
             {{l{number}: {{rates: [{{limit: 5, window: 1s}}]}}}}}}}}\n"
        )
    });
    let routes = |count: usize| {
        (0..count).map(|number| {
            format!(
                "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: gateways}}\nspec: \
                 {{parentRefs: [{{name: prod-web}}], rules: [{{}}]}}\n"
            )
        })
    };
    let many = hub_with(policies.clone().chain(routes(500)));
    run_with_at_most(&many, 1024, &["status", "hub"])
        .exits(3)
        .says(
            "error[input/too-costly]: naming the policies that affect each target takes more work than a run allows",
        )
        .says(
            "= help: ask about one object (`spokewright explain KIND/NAMESPACE/NAME`), or about one cluster",
        )
        .does_not_say("next: ");
    // A gate stays closed and says that it looked at nothing; the error cannot be turned off.
    let require = ["status", "hub", "-q", "--require", "gateway=Programmed"];
    let run = run_with_at_most(&many, 1024, &require);
    run.exits(3)
        .says("error: gateway=Programmed is not checked: there are too many statuses");
    assert_eq!(run.stdout, "");
    let few = hub_with(policies.chain(routes(10)));
    run_with_at_most(&few, 1024, &["status", "hub", "-q"]).exits(0);
}

/// So many Placements, each of which chooses each of so many clusters.
fn placements_of_clusters(placements: usize, clusters: usize) -> Scratch {
    const OCM: &str = "cluster.open-cluster-management.io";
    let sets = format!(
        "apiVersion: {OCM}/v1beta2\nkind: ManagedClusterSet\nmetadata: {{name: s}}\nspec: {{clusterSelector: {{selectorType: \
         ExclusiveClusterSetLabel}}}}\n---\napiVersion: {OCM}/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {{name: s, \
         namespace: many}}\nspec: {{clusterSet: s}}\n"
    );
    let clusters = (0..clusters).map(|number| {
        format!(
            "apiVersion: {OCM}/v1\nkind: ManagedCluster\nmetadata: {{name: c{number}, labels: {{{OCM}/clusterset: s}}}}\nspec: \
             {{hubAcceptsClient: true}}\n"
        )
    });
    let placements = (0..placements).map(|number| {
        format!(
            "apiVersion: {OCM}/v1beta1\nkind: Placement\nmetadata: {{name: p{number}, namespace: many}}\nspec: {{clusterSets: \
             [s]}}\n"
        )
    });
    hub_with(std::iter::once(sets).chain(clusters).chain(placements))
}

#[test]
fn the_decisions_of_all_placements_are_never_in_memory_at_once() {
    let hub = placements_of_clusters(150, 1500);
    // Less than the text of the report and its parts would take.
    for format in ["text", "json"] {
        let run = run_with_at_most(
            &hub,
            320,
            &["placement", "hub", "--placement", "evaluate", "-o", format],
        );
        run.exits(0);
        if format == "json" {
            // Once with the decisions, once with the ranking.
            assert_eq!(run.stdout.matches("\"clusterName\": \"c7\"").count(), 300);
        } else {
            assert_eq!(run.stdout.matches("many/p").count(), 150);
        }
    }
}

/// What the page of an input says that it left out, in its data and, with the same words, where no script runs.
fn left_out(scratch: &Scratch, mebibytes: usize) -> (Vec<String>, Value) {
    let run = run_with_at_most(scratch, mebibytes, &["page", "hub", "-o", "page.html"]);
    assert!([0, 3, 4].contains(&run.status), "{run:?}");
    let html = scratch.read("page.html");
    assert!(html.len() <= 5_000_000, "{}", html.len());
    let (above, _) = html.split_once("id=\"data\">").expect("a page");
    let data: Value = serde_json::from_str(&data_of(&html)).expect("JSON");
    let words = data["leftOut"].as_array().expect("a list").iter();
    let words: Vec<String> = words
        .map(|words| words.as_str().expect("a text").to_owned())
        .collect();
    let said = format!("Left out, to keep the page small: {}.</p>", words.join("; "));
    assert_eq!(above.contains(&said), !words.is_empty(), "{said}");
    (words, data)
}

#[test]
fn a_page_counts_cells_before_it_makes_them_and_shows_no_fleet_where_there_are_too_many() {
    let listeners: String = (0..64)
        .map(|number| format!("{{name: l{number}, port: 80, protocol: HTTP, hostname: h{number}.x.io}}, "))
        .collect();
    let gateway = format!(
        "apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: wide, namespace: gateways, labels: \
         {{cluster.open-cluster-management.io/placement: edge}}}}\nspec: {{gatewayClassName: multicluster, listeners: \
         [{listeners}]}}\n---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: wide, namespace: \
         gateways}}\nspec:\n  targetRef: {{group: {GATEWAY_API}, kind: Gateway, name: wide}}\n  limits: {{a: {{rates: \
         [{{limit: 5, window: 1s}}]}}}}\n"
    );
    let hub = |routes: usize| {
        let routes = (0..routes).map(|number| {
            format!(
                "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: gateways}}\nspec: \
                 {{parentRefs: [{{name: wide}}], rules: [{}]}}\n",
                "{}, ".repeat(200)
            )
        });
        hub_with(std::iter::once(gateway.clone()).chain(routes))
    };
    let (words, data) = left_out(&hub(80), 640);
    assert_eq!(
        words,
        ["the fleet and all findings (`spokewright check`, `spokewright page --clusters CLUSTER`)"]
    );
    assert_eq!(data["routes"], kube_json::json!([]));
    let (words, data) = left_out(&hub(2), 640);
    assert!(words.is_empty(), "{words:?}");
    assert_eq!(data["routes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_would_change_without_a_policy_has_a_budget_that_small_parts_of_a_hub_get_first() {
    let routes = (0..800).map(|number| {
        format!(
            "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: many}}\nspec: \
             {{parentRefs: [{{name: many}}], rules: [{{}}]}}\n---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\n\
             metadata: {{name: p{number}, namespace: many}}\nspec:\n  targetRef: {{group: {GATEWAY_API}, kind: HTTPRoute, \
             name: r{number}}}\n  limits: {{a: {{rates: [{{limit: 5, window: 1s}}]}}}}\n"
        )
    });
    let gateway = format!(
        "apiVersion: {GATEWAY_API}/v1\nkind: Gateway\nmetadata: {{name: many, namespace: many}}\nspec: {{gatewayClassName: \
         multicluster, listeners: [{{name: web, port: 80, protocol: HTTP}}]}}\n"
    );
    let (words, data) = left_out(&hub_with(std::iter::once(gateway).chain(routes)), 512);
    assert_eq!(
        words,
        ["what would change without each policy (`spokewright explain KIND/NAMESPACE/NAME`)"]
    );
    for policy in data["policies"].as_array().expect("a list") {
        let locator = policy["policy"].as_str().expect("a locator");
        let changes = &data["ifDeleted"][locator];
        assert_eq!(changes.is_null(), locator.contains(":many/"), "{policy}");
    }
}

#[test]
fn a_page_explains_placements_up_to_a_limit_and_never_holds_all_decisions_at_once() {
    let (words, data) = left_out(&placements_of_clusters(150, 1500), 320);
    assert_eq!(
        words,
        ["how each Placement came to its clusters (`spokewright placement --why CLUSTER`)"]
    );
    assert_eq!(data["placements"][1]["steps"], kube_json::json!([]));
    let (words, data) = left_out(&placements_of_clusters(15, 150), 320);
    assert!(words.is_empty(), "{words:?}");
    assert_ne!(data["placements"][1]["steps"], kube_json::json!([]));
}

#[test]
fn a_pattern_of_a_gitignore_or_of_exclude_is_refused_when_it_is_longer_than_any_path() {
    for pattern in ["*a", "a/", "?", "[a-z]", "{a,b}", "**/"] {
        let long = pattern.repeat(900_000 / pattern.len());
        let why = format!("is {} bytes long; a pattern may have 4096", long.len());
        let refuses = |scratch: &Scratch, status: i32, said: &str| {
            for command in [["check", "hub"].as_slice(), &["page", "hub", "-o", "page.html"]] {
                let run = run_with_at_most(scratch, 320, command);
                run.exits(status);
                let all = format!("{}{}", run.stdout, run.stderr);
                assert_eq!(all.matches(&format!("{said} {why}")).count(), 1, "{all}");
            }
        };
        let scratch = Scratch::with_worked_example();
        scratch.write("hub/.gitignore", &format!("# {long}\n\n{long}\n"));
        refuses(&scratch, 5, "cannot read `hub/.gitignore`: line 3");
        let scratch = Scratch::with_worked_example();
        scratch.write(
            "hub/spokewright.yaml",
            &format!("apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nexclude: [\"{long}\"]\n"),
        );
        refuses(&scratch, 3, "`exclude` has an invalid glob: it");
    }
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/.gitignore", &format!("{}\n", "a".repeat(4096)));
    scratch.run(&["check", "hub"]).exits(0);
}

/// On the clusters of a base without local objects, each cluster still receives what was made for those of the change.
#[test]
fn clusters_that_differ_in_one_gateway_each_are_compared_by_gateway_and_not_each_as_a_whole() {
    const GATEWAYS: usize = 40;
    let limits: String = (0..19)
        .map(|number| format!("l{number}: {{rates: [{{limit: 5, window: 1s}}]}}, "))
        .collect();
    let policy = |name: &str, namespace: &str, gateway: usize| {
        format!(
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec:\n  \
             targetRef: {{group: {GATEWAY_API}, kind: Gateway, name: g{gateway:03}}}\n  limits: {{{limits}}}\n"
        )
    };
    let of_gateway = |gateway: usize| {
        let route = move |number: usize| {
            format!(
                "apiVersion: {GATEWAY_API}/v1\nkind: HTTPRoute\nmetadata: {{name: r{gateway}-{number}, namespace: gateways}}\n\
                 spec: {{parentRefs: [{{name: g{gateway:03}}}], hostnames: [h{number}.x.io], rules: [{{}}]}}\n"
            )
        };
        let policy = policy(&format!("p{gateway}"), "gateways", gateway);
        std::iter::once(policy).chain((0..7).map(route))
    };
    let gateways = gateways_on_clusters(GATEWAYS, GATEWAYS);
    let scratch = hub_with(std::iter::once(gateways).chain((0..GATEWAYS).flat_map(of_gateway)));
    for number in 0..GATEWAYS {
        let local = policy("local", "kuadrant-gateways", number);
        scratch.write(&format!("hub/spokes/c{number}/x.yaml"), &local);
    }
    scratch.write("base/x.yaml", "# nothing\n");
    let run = run_with_at_most(&scratch, 512, &["diff", "hub", "--base-dir", "base", "-q"]);
    run.exits(1);
    assert!(!run.stderr.contains("policy/too-many-paths"), "{}", run.stderr);
}

#[test]
fn a_report_that_is_too_large_as_a_whole_is_no_yaml() {
    let hub = placements_of_clusters(100, 500);
    let run = hub.run(&["placement", "hub", "--placement", "evaluate", "-o", "yaml"]);
    run.exits(2)
        .says("more than 16777216 bytes of JSON, so it is not written as YAML")
        .says("help: `-o json` writes all of it");
    assert_eq!(run.stdout, "");
}

#[test]
fn a_graph_counts_clusters_before_it_draws_an_edge_for_each() {
    let hub = hub_with([gateways_on_clusters(300, 3000)]);
    let run = run_with_at_most(&hub, 320, &["graph", "hub"]);
    run.exits(0).says("nodes drawn as");
    assert!(
        run.stdout.contains("3000 clusters: c0, c1, c10"),
        "{}",
        run.stdout
    );
    let run = run_with_at_most(&hub, 320, &["graph", "hub", "--all"]);
    run.exits(3)
        .says("[input/too-costly]: the graph would have 90000")
        .says("edges from Gateways to clusters; at most 200000 are drawn")
        .says(
            "= help: leave out `--all`, or draw one cluster (`--cluster NAME`) or some (`--clusters 'eu-*'`)",
        );
    assert_eq!(run.stdout, "");
    hub.run(&["graph", "hub", "--all", "--clusters", "c1", "--format", "dot"])
        .exits(0);
}

#[test]
fn a_report_lists_works_one_by_one_and_not_too_many() {
    let hub = hub_with([gateways_on_clusters(200, 3000)]);
    let arguments = ["render", "hub", "-o", "rendered", "--report", "report.json"];
    run_with_at_most(&hub, 1024, &arguments)
        .exits(3)
        .says("error[input/too-costly]: the report would list 60")
        .says("works; at most 500000 are listed")
        .says("= help: leave out `--report`, or render a part of the fleet (`--clusters 'eu-*'`, `--shard 1/4`)");
    assert!(!hub.path("rendered").exists());
    let report = std::fs::read_to_string(hub.path("report.json")).expect("a report");
    assert!(report.contains("\"clusters\": [],"), "{report}");
}

/// Two links in each of sixty directories are more ways than anybody can walk.
#[cfg(unix)]
#[test]
fn directories_that_link_to_each_other_are_refused_once_in_every_tree() {
    let Some(scratch) = repository() else { return };
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\noutput: rendered\n",
    );
    scratch.run(&["render", "-q"]).exits(0);
    commit(&scratch.path(""));
    for at in 0..60 {
        scratch.write(&format!("hub/d{at}/a.yaml"), "# nothing\n");
        for (name, to) in [("next", (at + 1) % 60), ("other", (at + 7) % 60)] {
            let link = scratch.path(&format!("hub/d{at}/{name}"));
            std::os::unix::fs::symlink(format!("../d{to}"), link).expect("a link");
        }
    }
    commit(&scratch.path(""));
    let commands: [&[&str]; 8] = [
        &["check"],
        &["check", "--inputs", "git-index"],
        &["diff", "--base", "HEAD~1"],
        &["render"],
        &["render", "--check"],
        &["argocd", "generate"],
        &["policies"],
        &["status", "--works", "hub"],
    ];
    for command in commands {
        let run = run_with_at_most(&scratch, 1024, command);
        run.exits(5);
        let said = format!("{}{}", run.stdout, run.stderr);
        let copies = said.matches("reading everything up to it takes more work than a run allows");
        assert!(copies.count() >= 1, "{command:?}: {said}");
        assert_eq!(said.matches("error[").count(), 1, "{command:?}: {said}");
    }
    // The other side of `diff`: once they are in no work tree any more.
    for at in 0..60 {
        std::fs::remove_dir_all(scratch.path(&format!("hub/d{at}"))).expect("a directory");
    }
    let run = run_with_at_most(&scratch, 1024, &["diff"]);
    run.exits(5).says("takes more work than a run allows");
}

#[test]
fn thousands_of_routes_take_no_longer_each() {
    let time = |count: usize| {
        let scratch = Scratch::with_worked_example();
        scratch.edit(
            "hub/class.yaml",
            "\"workPer\": \"Gateway\"",
            "\"resourcesToSync\": [{\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \"httproutes\"}]",
        );
        scratch.edit(
            "hub/gateway.yaml",
            "    port: 443\n",
            "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
        );
        let routes = (0..count).map(|number| {
            format!(
                "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r{number}, namespace: n{}}}\n\
                 spec: {{parentRefs: [{{name: prod-web, namespace: gateways}}], rules: [{{backendRefs: [{{name: s, port: 80}}]}}]}}\n",
                number % 50
            )
        });
        scratch.write("hub/routes.yaml", &routes.collect::<String>());
        let start = std::time::Instant::now();
        scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
        start.elapsed()
    };
    let (small, large) = (time(500), time(4000));
    assert!(
        large < small * 24 + std::time::Duration::from_secs(1),
        "{small:?}, {large:?}"
    );
}
