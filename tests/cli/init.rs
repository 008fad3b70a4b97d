//! `init`: what a directory begins with.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::scratch::{Run, Scratch};

/// Each controller whose policies a hub can begin with, and what `explain` says of the policy of the hub and of the one that
/// lives on eu-1.
pub(crate) const CONTROLLERS: [(&str, &str); 7] = [
    (
        "kuadrant",
        "authpolicy/shop/signed-in is withheld\n    on eu-1\n    authpolicy/kuadrant-shop/signed-in-eu lives there",
    ),
    (
        "envoy-gateway",
        "securitypolicy/shop/signed-in is withheld\n    on eu-1\n    securitypolicy/kuadrant-shop/signed-in-eu lives there",
    ),
    // Its policies add up, and no cluster overrides any.
    (
        "istio",
        "from authorizationpolicy/kuadrant-shop/no-admin  fleet/spokes/eu-1/policies.yaml:9\n    authorizationpolicy/shop/signed-in",
    ),
    (
        "nginx",
        "clientsettingspolicy/shop/uploads is withheld\n    on eu-1\n    clientsettingspolicy/kuadrant-shop/uploads-eu lives there",
    ),
    (
        "kgateway",
        "overridden: /timeouts of trafficpolicy/shop/defaults\n      trafficpolicy/kuadrant-shop/slow wins: a policy that lives on the cluster overrides",
    ),
    (
        "gke",
        "gcpbackendpolicy/shop/timeouts is withheld\n    on eu-1\n    gcpbackendpolicy/shop/timeouts-eu lives there",
    ),
    (
        "gateway-api",
        "backendtlspolicy/shop/shop is withheld\n    on eu-1\n    backendtlspolicy/shop/shop-eu lives there",
    ),
];

/// All files below a directory, by their paths in it.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(&here).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path
                    .strip_prefix(directory)
                    .expect("below it")
                    .to_string_lossy()
                    .into_owned();
                let text = fs::read_to_string(&path).expect("text");
                let text = text.strip_prefix(OWNER_IS_MISSING).unwrap_or(&text);
                all.insert(name, text.to_owned());
            }
        }
    }
    all
}

#[test]
fn the_hub_to_start_with_renders_without_a_finding_and_is_the_example() {
    let scratch = Scratch::new();
    let run = scratch.run(&["init", "fleet", "--with", "gitlab,argocd,flux"]);
    run.exits(0)
        .says("14 files written into fleet")
        .says("next: `spokewright render fleet`");
    assert_eq!(run.stdout, "");
    assert_eq!(files(&scratch.path("fleet")), examples_of("kuadrant"));
    let run = scratch.run(&["render", "fleet", "--deny", "warnings"]);
    run.exits(0)
        .says("2 clusters; 1 Gateway; 1 route: 1 HTTPRoute; 2 policies");
    assert!(scratch.path("fleet/rendered/eu-1/gateway-shop-web.yaml").exists());
    scratch.run(&["check", "fleet", "--deny", "warnings"]).exits(0);
}

/// The files of `examples` that a hub of this controller has, with those for tools.
fn examples_of(controller: &str) -> BTreeMap<String, String> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut all = files(&examples.join("start"));
    all.extend(files(&examples.join("controllers").join(controller)));
    all
}

#[test]
fn the_hub_of_each_controller_renders_without_a_finding_and_has_a_policy_that_a_cluster_changes() {
    for (controller, said) in CONTROLLERS {
        let scratch = Scratch::new();
        scratch
            .run(&[
                "init",
                "fleet",
                "--with",
                "gitlab,argocd,flux",
                "--policies",
                controller,
            ])
            .exits(0)
            .says("14 files written into fleet");
        assert_eq!(
            files(&scratch.path("fleet")),
            examples_of(controller),
            "{controller}"
        );
        for command in ["render", "check"] {
            let run = scratch.run(&[command, "fleet", "--deny", "warnings"]);
            run.exits(0).does_not_say("not used").does_not_say("not shipped");
        }
        let classes = scratch.read("fleet/rendered/us-1/gateway-shop-web.yaml");
        let parameters = scratch.read("fleet/hub/class.yaml");
        let class = parameters
            .split("\"downstreamClass\": \"")
            .nth(1)
            .expect("a class");
        let class = class.split('"').next().expect("its end");
        assert!(
            classes.contains(&format!("gatewayClassName: {class}\n")),
            "{classes}"
        );
        scratch
            .run(&["explain", "GET http://shop.example.com/cart", "fleet"])
            .prints(said);
    }
}

#[test]
fn a_controller_that_is_not_known_is_answered_with_a_near_one_and_with_all() {
    let scratch = Scratch::new();
    let run = scratch.run(&["init", "--policies", "envoygateway"]);
    run.exits(2).says("'envoy-gateway'");
    for (controller, _) in CONTROLLERS {
        run.says(controller);
    }
    scratch
        .run(&["init", "--policies", "gke", "--from", "exported.yaml"])
        .exits(2)
        .says("cannot be used with");
    assert!(files(&scratch.path("")).is_empty());
}

#[test]
fn the_policies_of_a_hub_that_exists_are_not_replaced() {
    let scratch = Scratch::new();
    scratch.run(&["init", "fleet", "-q"]).exits(0);
    scratch
        .run(&["init", "fleet", "--with", "flux", "--policies", "istio"])
        .exits(5)
        .says("nothing was written, because hub/class.yaml, ");
    assert!(!scratch.exists("fleet/flux"));
}

#[test]
fn the_files_for_tools_are_the_shipped_examples() {
    let scratch = Scratch::new();
    scratch
        .run(&["init", "--with", "github", "--with", "pre-commit"])
        .exits(0);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for (written, example) in [
        (".github/workflows/spokewright.yml", "github/spokewright.yml"),
        (".pre-commit-config.yaml", "pre-commit/.pre-commit-config.yaml"),
    ] {
        let text = fs::read_to_string(scratch.path(written)).expect("written");
        let text = text.strip_prefix(OWNER_IS_MISSING).unwrap_or(&text);
        assert_eq!(
            text,
            fs::read_to_string(root.join(example)).expect("shipped"),
            "{written}"
        );
    }
    scratch
        .run(&["init", "--with", "jenkins"])
        .exits(2)
        .says("[possible values: github, gitlab, pre-commit, argocd, flux]");
}

/// The first line of a file that names spokewright's repository before that has an address.
const OWNER_IS_MISSING: &str = "# Put the owner of spokewright's repository in place of OWNER.\n";

#[test]
fn what_lacks_the_address_of_the_repository_says_so_until_it_is_there() {
    let scratch = Scratch::new();
    let with = ["init", "fleet", "--with", "github,gitlab,pre-commit,flux,argocd"];
    let run = scratch.run(&with);
    // `tools/set-repository` ends it.
    if !env!("CARGO_PKG_REPOSITORY").contains("/OWNER/") {
        run.exits(0).does_not_say("in place of OWNER");
        return;
    }
    let github = ".github/workflows/spokewright.yml";
    let line = |files: &str| {
        format!("next: put the owner of spokewright's repository in place of OWNER in {files}\n")
    };
    let all = line(&format!("{github}, .gitlab-ci.yml, .pre-commit-config.yaml"));
    assert!(run.exits(0).stderr.ends_with(&all), "{}", run.stderr);
    scratch.run(&["check", "fleet"]).exits(0).says(&all);
    for file in [github, ".gitlab-ci.yml", ".pre-commit-config.yaml"] {
        let path = format!("fleet/{file}");
        let text = fs::read_to_string(scratch.path(&path)).expect("written");
        assert!(text.starts_with(OWNER_IS_MISSING), "{file}");
        if file != github {
            scratch.write(&path, &text.replace("OWNER", "acme"));
        }
    }
    scratch.run(&["check", "fleet"]).exits(0).says(&line(github));
    let quiet = scratch.run(&["check", "fleet", "-q"]);
    assert_eq!(quiet.exits(0).stderr, "");
}

#[test]
fn nothing_is_overwritten_and_then_nothing_is_written_at_all() {
    let scratch = Scratch::new();
    scratch.write("fleet/hub/route.yaml", "mine");
    let run = scratch.run(&["init", "fleet"]);
    run.exits(5)
        .says("error: nothing was written, because hub/route.yaml exists")
        .says("help: name a new directory");
    assert_eq!(
        files(&scratch.path("fleet")),
        BTreeMap::from([("hub/route.yaml".to_owned(), "mine".to_owned())])
    );
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path("fleet")).expect("a directory");
    fs::create_dir_all(scratch.path("elsewhere")).expect("a directory");
    std::os::unix::fs::symlink(scratch.path("elsewhere"), scratch.path("fleet/hub")).expect("a link");
    scratch.run(&["init", "fleet"]).exits(5);
    assert!(files(&scratch.path("elsewhere")).is_empty());
}

#[test]
fn an_exported_hub_is_sorted_into_files_that_render_the_same() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "before", "-q"]).exits(0);
    let mut exported = String::new();
    for text in files(&scratch.path("hub")).values() {
        // What a server and kubectl add.
        let text = text.replace(
            "metadata:\n",
            "metadata:\n  uid: 0a\n  resourceVersion: '7'\n  generation: 3\n  managedFields: [{manager: kubectl}]\n",
        );
        exported.push_str(&text);
        exported.push_str("\n---\n");
    }
    exported.push_str(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: gateways}\ndata: {password: aHVudGVyMg==}\n---\n\
         apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: w, namespace: eu-1}\n\
         spec: {workload: {manifests: []}}\n",
    );
    scratch.write("exported.yaml", &exported);
    let run = scratch.run(&["init", "sorted", "--from", "exported.yaml"]);
    run.exits(0)
        .says("left out, because it does not belong in Git: 1 ManifestWork, 1 Secret");
    for (path, text) in files(&scratch.path("sorted")) {
        if path == ".gitattributes" {
            continue;
        }
        assert_eq!(text.matches("\nkind: ").count(), 1, "{path}");
        for added in [
            "uid:",
            "resourceVersion:",
            "managedFields:",
            "generation:",
            "hunter",
            "aHVudGVyMg",
        ] {
            assert!(!text.contains(added), "{path}\n{text}");
        }
    }
    assert!(scratch.path("sorted/hub/gateways/gateway-prod-web.yaml").exists());
    scratch
        .run(&["render", "sorted/hub", "-o", "after", "-q"])
        .exits(0);
    assert_eq!(files(&scratch.path("before")), files(&scratch.path("after")));
}

const EXPORT: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: params, namespace: infra}
data: {params: '{\"downstreamClass\": \"eg\"}'}
---
apiVersion: v1
kind: Secret
metadata: {name: tls, namespace: infra}
";

#[test]
fn an_export_comes_from_standard_input_and_texts_in_it_stay_readable() {
    let scratch = Scratch::new();
    scratch.write("exported.yaml", EXPORT);
    let export = fs::File::open(scratch.path("exported.yaml")).expect("written");
    let run = Run::of(
        scratch
            .command(&["init", "fleet", "--from", "-", "-v"])
            .stdin(export),
    );
    run.exits(0)
        .says("left out, because it does not belong in Git: Secret infra/tls\n");
    assert_eq!(
        scratch.read("fleet/hub/infra/configmap-params.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: params\n  namespace: infra\ndata:\n  params: |-\n    \
         {\"downstreamClass\": \"eg\"}\n"
    );
    scratch
        .run(&["init", "fleet", "--from", "exported.yaml"])
        .exits(5)
        .says("`git diff --no-index hub ../export/hub`");
}

#[test]
fn a_hub_that_exists_gets_the_files_of_a_tool_and_keeps_its_own() {
    let scratch = Scratch::new();
    scratch.write("fleet/.gitattributes", "*.md text\n");
    scratch.run(&["init", "fleet"]).exits(0);
    assert_eq!(scratch.read("fleet/.gitattributes"), "*.md text\n");
    let before = files(&scratch.path("fleet"));
    scratch
        .run(&["init", "fleet", "--with", "argocd,github"])
        .exits(0)
        .says("2 files written into fleet")
        .says("argocd/application.yaml applies the committed tree")
        .says(".github/workflows/spokewright.yml works at the root of its repository only");
    let mut after = files(&scratch.path("fleet"));
    after.retain(|path, _| before.contains_key(path));
    assert_eq!(before, after);
    scratch
        .run(&["init", "fleet", "--with", "flux,github"])
        .exits(5)
        .says("nothing was written, because .github/workflows/spokewright.yml exists");
    assert!(!scratch.exists("fleet/flux"));
}

#[test]
fn the_age_of_a_policy_stays_because_the_older_one_wins() {
    let scratch = Scratch::new();
    let object = |kind: &str, spec: &str| {
        format!(
            "apiVersion: kuadrant.io/v1\nkind: {kind}\nmetadata: {{name: x, namespace: shop, creationTimestamp: '2026-01-02T03:04:05Z'}}\n\
             spec: {spec}\nstatus: {{conditions: []}}\n---\n"
        )
    };
    let target = "{targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web}}";
    let text = object("RateLimitPolicy", target) + &object("Kuadrant", "{}");
    scratch.write("exported.yaml", &text);
    scratch
        .run(&["init", "sorted", "--from", "exported.yaml", "-q"])
        .exits(0);
    let sorted = files(&scratch.path("sorted/hub/shop"));
    assert!(
        sorted["ratelimitpolicy-x.yaml"].contains("creationTimestamp: \"2026-01-02T03:04:05Z\""),
        "{sorted:?}"
    );
    assert!(
        !sorted["kuadrant-x.yaml"].contains("creationTimestamp"),
        "{sorted:?}"
    );
    assert!(sorted.values().all(|text| !text.contains("status")), "{sorted:?}");
}

#[test]
fn a_status_that_is_left_out_is_not_checked() {
    let scratch = Scratch::new();
    let number = "{type: object, properties: {count: {type: integer}}}";
    let definition = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.example.com}}\n\
         spec: {{group: example.com, scope: Namespaced, names: {{kind: Thing, plural: things}}, versions: [{{name: v1, served: true, \
         storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {number}, status: {number}}}}}}}}}]}}\n---\n"
    );
    // In a list, as kubectl prints it.
    let list = |spec: &str, status: &str| {
        format!(
            "{definition}apiVersion: v1\nkind: List\nitems:\n- apiVersion: example.com/v1\n  kind: Thing\n  \
             metadata: {{name: a, namespace: shop}}\n  spec: {{count: {spec}}}\n  status: {{count: {status}}}\n"
        )
    };
    scratch.write("exported.yaml", &list("1", "none"));
    scratch
        .run(&["init", "sorted", "--from", "exported.yaml"])
        .exits(0)
        .does_not_say("object/schema");
    assert!(!scratch.read("sorted/hub/shop/thing-a.yaml").contains("status"));
}

#[test]
fn an_export_without_objects_leads_to_the_commands_that_export_one() {
    let scratch = Scratch::new();
    scratch.write("empty.yaml", "# nothing\n");
    scratch
        .run(&["init", "x", "--from", "empty.yaml"])
        .exits(3)
        .says("help: `spokewright init --from-live` prints the commands that export one");
    let run = scratch.run(&["init", "--from-live"]);
    run.exits(0);
    assert!(run.stdout.contains("export_cluster() {"), "{}", run.stdout);
    assert!(
        run.stdout
            .starts_with("kinds=$(kubectl api-resources --verbs=list -o name | grep -E"),
        "{}",
        run.stdout
    );
}

/// From the trial of a newcomer: one mistake says once what is missing.
#[test]
fn a_placement_that_selects_nothing_says_at_which_step_and_what_follows_from_it_says_nothing_else() {
    let start = |file: &str, from: &str, to: &str, said: &[&str]| {
        let scratch = Scratch::new();
        scratch.run(&["init", "fleet", "-q"]).exits(0);
        let text = scratch.read(file);
        assert!(text.contains(from), "{text}");
        scratch.write(file, &text.replace(from, to));
        let run = scratch.run(&["check", "fleet"]);
        run.exits(4);
        assert!(!run.stdout.contains("policy/unused"), "{}", run.stdout);
        for line in said {
            assert!(run.stdout.contains(line), "{line} is not in\n{}", run.stdout);
        }
    };
    let (clusters, placement) = ("fleet/hub/clusters.yaml", "fleet/hub/placement.yaml");
    start(
        clusters,
        "ManagedClusterSetBinding\nmetadata:\n  name: edge\n  namespace: shop",
        "ManagedClusterSetBinding\nmetadata:\n  name: edge\n  namespace: platform",
        &[
            "Placement shop/everywhere selects no cluster: no ManagedClusterSetBinding in namespace `shop` names a cluster set that exists",
            "= help: add a ManagedClusterSetBinding `edge` to namespace `shop`, with `spec: {clusterSet: edge}`",
            "= help: add a ManagedClusterSetBinding",
        ],
    );
    start(
        placement,
        "clusterSets: [edge]",
        "clusterSets: [edgy]",
        &[
            "names the cluster set `edgy`, which is not in the input",
            "= help: did you mean `edge`? Otherwise, pass --allow-empty",
        ],
    );
    start(
        clusters,
        "clusterset: edge",
        "clusterset: other",
        &[
            "its cluster sets have no clusters: edge",
            "= help: give a ManagedCluster the label `cluster.open-cluster-management.io/clusterset: edge`",
        ],
    );
    start(
        placement,
        "clusterSets: [edge]",
        "clusterSets: [edge]\n  predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: ap}}}}]",
        &[
            "none of the 2 clusters of its sets matches its predicates",
            "= help: `spokewright placement --why CLUSTER` shows why a cluster is not selected",
        ],
    );
    start(
        clusters,
        "hubAcceptsClient: true",
        "hubAcceptsClient: true\n  taints: [{key: gpu, effect: NoSelect}]",
        &["each of the 2 clusters that match has a taint that it does not tolerate"],
    );
}

#[test]
fn a_configuration_that_says_nothing_has_every_default() {
    let scratch = Scratch::new();
    scratch.run(&["init", "fleet", "-q"]).exits(0);
    for text in ["", "# later\n", "---\n"] {
        scratch.write("fleet/spokewright.yaml", text);
        scratch.run(&["check", "fleet", "--deny", "warnings"]).exits(0);
    }
}

/// From the trial of a newcomer: a slip in one file is not told once for each object that needs it.
#[test]
fn what_a_file_that_cannot_be_read_would_hold_is_not_said_to_be_missing() {
    for file in ["class", "gateway", "placement", "clusters", "route", "policies"] {
        let scratch = Scratch::new();
        scratch.run(&["init", "fleet", "-q"]).exits(0);
        let path = format!("fleet/hub/{file}.yaml");
        let text = scratch.read(&path);
        scratch.write(
            &path,
            &text.replacen("metadata:\n  name: ", "metadata:\n  name: [", 1),
        );
        let run = scratch.run(&["check", "fleet"]);
        run.exits(3);
        assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
        assert_eq!(run.stdout.matches("warning[").count(), 0, "{}", run.stdout);
        let is_needed = !["route", "policies", "clusters"].contains(&file);
        let says = run
            .stdout
            .contains("its objects are unknown, so findings about missing objects are left out");
        assert!(says || !is_needed, "{}", run.stdout);
    }
}
