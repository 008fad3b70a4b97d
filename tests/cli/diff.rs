//! `diff`: its forms, against a directory, a rendered tree, and the input without one object.

use kube_json::Value;

use crate::repository::{commit, repository};
use crate::scratch::{Scratch, copy};

#[test]
fn an_untouched_work_tree_is_no_difference_in_any_form() {
    let Some(scratch) = repository() else { return };
    for format in ["human", "semantic", "markdown", "json"] {
        scratch.run(&["diff", "hub", "--format", format]).exits(0);
    }
    let run = scratch.run(&["diff", "hub", "-q"]);
    run.exits(0);
    assert_eq!(run.stdout, "nothing changes on any cluster\n");
}

#[test]
fn one_line_of_a_policy_is_one_hunk_for_all_clusters() {
    let Some(scratch) = repository() else { return };
    scratch.raise_the_limit("hub/limits.yaml");
    let run = scratch.run(&["diff", "hub", "-q"]);
    run.exits(1);
    insta::assert_snapshot!(run.stdout, @r"
    2 of 2 clusters change; in total, 0 objects added, 2 changed, 0 removed

    changed
      RateLimitPolicy gateways/global changes per-client on all 2 clusters (per-client.rates[0].limit: 100 -> 200)

    objects on each of  added  changed  removed
    all 2 clusters          0        1        0

    effective settings that change
      RateLimitPolicy gateways/global changes per-client on all 2 clusters
        Gateway gateways/prod-web
          per-client.rates[0].limit: 100 -> 200

    changed RateLimitPolicy kuadrant-gateways/global on all 2 clusters
    from hub/limits.yaml:1
    --- HEAD
    +++ work tree
    @@ -10,7 +10,7 @@
         limits:
           per-client:
             rates:
    -        - limit: 100
    +        - limit: 200
               window: 10s
       targetRef:
         group: gateway.networking.k8s.io
    ");
}

#[test]
fn the_other_forms_say_the_same() {
    let Some(scratch) = repository() else { return };
    scratch.raise_the_limit("hub/limits.yaml");
    let semantic = scratch.run(&["diff", "hub", "-q", "--format", "semantic"]);
    semantic.exits(1);
    assert!(
        semantic
            .stdout
            .contains("    spec.defaults.limits.per-client.rates[0].limit: 100 -> 200\n"),
        "{}",
        semantic.stdout
    );
    let markdown = scratch.run(&["diff", "hub", "-q", "--format", "markdown"]);
    markdown.exits(1);
    assert!(
        markdown.stdout.contains("| all 2 clusters | 0 | 1 | 0 |"),
        "{}",
        markdown.stdout
    );
    let json: Value =
        serde_json::from_str(&scratch.run(&["diff", "hub", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(json["kind"], "DiffReport");
    assert_eq!(json["apiVersion"], "spokewright.dev/v1alpha1");
    assert_eq!(json["changes"][0]["clusters"], kube_json::json!(["eu-1", "us-1"]));
    assert_eq!(json["changes"][0]["fields"][0]["old"], 100);
}

#[test]
fn a_comment_on_a_pull_request_is_a_table_and_folded_hunks() {
    let Some(scratch) = repository() else { return };
    scratch.raise_the_limit("hub/limits.yaml");
    scratch.edit("hub/decisions.yaml", ", {clusterName: us-1, reason: \"\"}", "");
    let run = scratch.run(&["diff", "hub", "-q", "--format", "markdown", "--max-bytes", "1680"]);
    run.exits(1);
    insta::assert_snapshot!(run.stdout, @r#"
    <!-- spokewright:diff -->
    ### spokewright: 2 of 2 clusters change; in total, 0 objects added, 1 changed, 4 removed, 1 left behind

    <code>work tree</code> compared with <code>HEAD</code>.

    **Lost**

    - cluster <code>us-1</code> leaves, and loses <code>Gateway kuadrant-gateways/prod-web</code> and 3 other objects; 1 object stays there

    **Changed**

    - RateLimitPolicy gateways/global changes per-client on eu-1 (<code>per-client.rates&#91;0].limit: 100 -&gt; 200</code>)

    <details><summary>objects on each cluster</summary>

    | objects on each of | added | changed | removed |
    |---|---:|---:|---:|
    | eu-1 | 0 | 1 | 0 |
    | us-1 (gone) | 0 | 0 | 4 |

    </details>

    <details><summary>gone with us-1</summary>

    ```text
    Gateway kuadrant-gateways/prod-web
    RateLimitPolicy kuadrant-gateways/global
    ClusterRole open-cluster-management:klusterlet-work:gateway
    ClusterRoleBinding open-cluster-management:klusterlet-work:gateway
    Namespace kuadrant-gateways: it leaves the work gateway-gateways-prod-web and stays there
    ```

    </details>

    <details><summary>effective: RateLimitPolicy gateways/global changes per-client on eu-1</summary>

    ```text
    Gateway gateways/prod-web
      per-client.rates[0].limit: 100 -> 200
    ```

    </details>

    > [!NOTE]
    > 1 of 3 details are left out, to stay below 1680 bytes. All of them: <code>spokewright diff hub --base HEAD</code>
    > - changed <code>RateLimitPolicy kuadrant-gateways/global</code> on eu-1
    "#);
    assert!(run.stdout.len() <= 1680);
}

#[test]
fn colour_comes_only_when_asked() {
    let Some(scratch) = repository() else { return };
    scratch.raise_the_limit("hub/limits.yaml");
    let plain = scratch.run(&["diff", "hub", "-q"]).stdout;
    assert!(!plain.contains('\u{1b}'));
    let coloured = scratch.run(&["diff", "hub", "-q", "--color", "always"]).stdout;
    assert!(
        coloured.contains("\u{1b}[31m-        - limit: 100\u{1b}[0m"),
        "{coloured}"
    );
}

#[test]
fn a_cluster_that_joins_and_one_that_goes_are_marked() {
    let Some(scratch) = repository() else { return };
    scratch.edit("hub/decisions.yaml", "clusterName: us-1", "clusterName: ap-1");
    let run = scratch.run(&["diff", "hub", "-q", "--format", "semantic"]);
    run.exits(1);
    assert!(run.stdout.contains("2 of 3 clusters change"), "{}", run.stdout);
    assert!(run.stdout.contains("ap-1 (new)"), "{}", run.stdout);
    assert!(run.stdout.contains("us-1 (gone)"), "{}", run.stdout);
}

#[test]
fn a_rendered_tree_and_another_input_are_bases_too() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    copy(&scratch.path("hub"), &scratch.path("other"));
    let bases = [["--base-tree", "rendered"], ["--base-dir", "other"]];
    for [option, base] in bases {
        scratch.run(&["diff", "hub", option, base]).exits(0);
    }
    scratch.raise_the_limit("hub/limits.yaml");
    for [option, base] in bases {
        let run = scratch.run(&["diff", "hub", option, base, "-q", "--format", "semantic"]);
        run.exits(1);
        assert!(
            run.stdout.contains("rates[0].limit: 100 -> 200"),
            "{}",
            run.stdout
        );
    }
    // A damaged one is named: "a: [" and a line end, by its hash.
    let hash = "fd139a73ee49bfd90c3d1b22df383ecf28577b8b9704ccf38aaa8e9702930665";
    scratch
        .write("rendered/eu-1/gateway-rbac.yaml", "a: [\n")
        .write(
            "rendered/.spokewright-inventory",
            &format!("{hash}  eu-1/gateway-rbac.yaml\n"),
        )
        .run(&["diff", "hub", "--base-tree", "rendered"])
        .exits(3)
        .says("rendered/eu-1/gateway-rbac.yaml");
    scratch.write("rendered/.spokewright-inventory", "no inventory\n");
    scratch.run(&["diff", "hub", "--base-tree", "rendered"]).exits(5);
    // Nobody knows what is in that output, whatever is compared with.
    scratch.run(&["diff", "hub", "--base-dir", "hub"]).exits(5);
    scratch.write("rendered/.spokewright-inventory", "");
    scratch.run(&["render", "hub", "-o", "fresh"]).exits(0);
    scratch
        .remove("fresh/.spokewright-inventory")
        .run(&["diff", "hub", "--base-tree", "fresh"])
        .exits(2)
        .says("`fresh` is not a rendered tree: it has no `.spokewright-inventory`")
        .says("hidden files")
        .says("pass an input with `--base-dir fresh`");
    scratch
        .run(&["diff", "hub", "--base-dir", "fresh"])
        .exits(2)
        .says("hidden files");
}

/// A line in an inventory makes no file ours, and what is not ours is not shown.
#[test]
fn a_file_of_a_tree_has_the_bytes_that_its_inventory_lists() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let against_tree = ["diff", "hub", "--base-tree", "rendered", "-q"];
    let listed = scratch.read("rendered/.spokewright-inventory");
    scratch
        .write("rendered/us-1/work.yaml", "data: {secret: s3cr3t}\n")
        .write(
            "rendered/.spokewright-inventory",
            &format!("{listed}{}  us-1/work.yaml\n", "0".repeat(64)),
        );
    let run = scratch.run(&against_tree);
    run.exits(5)
        .says("error[output/edited]: rendered/us-1/work.yaml was edited by hand since it was rendered")
        .says("render with --force")
        .does_not_say("s3cr3t");
    assert_eq!(run.stdout, "");
    // Nothing is deleted on the word of such a file either.
    scratch
        .run(&["prune-list", "hub", "-o", "rendered"])
        .exits(5)
        .says("output/edited");
    // What holds just what would be rendered is right, whoever wrote it.
    scratch
        .write("rendered/.spokewright-inventory", &listed)
        .raise_the_limit("hub/limits.yaml");
    scratch
        .run(&against_tree)
        .exits(5)
        .says("error[output/unexpected]: rendered/us-1/work.yaml");
    scratch.remove("rendered/us-1/work.yaml");
    scratch.run(&against_tree).exits(1);
    for cluster in ["eu-1", "us-1"] {
        scratch.edit(
            &format!("rendered/{cluster}/gateway-gateways-prod-web.yaml"),
            "limit: 100",
            "limit: 200",
        );
    }
    scratch.run(&against_tree).exits(0);
}

#[test]
fn a_directory_is_named_as_what_it_is() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "it's"]).exits(0);
    scratch
        .run(&["diff", "hub", "--base-dir", "it's"])
        .exits(2)
        .says("`it's` is a rendered tree: it has a `.spokewright-inventory`")
        .says(r"compare with it: `--base-tree 'it'\''s'`");
    for option in ["--base-dir", "--base-tree"] {
        for nothing in ["nowhere", "hub/limits.yaml"] {
            scratch
                .run(&["diff", "hub", option, nothing])
                .exits(2)
                .says(&format!("there is no directory `{nothing}`"))
                .says(&format!("{option} DIR"));
        }
    }
    let both = ["diff", "hub", "--base-dir", "hub", "--base-tree", "it's"];
    scratch.run(&both).exits(2).says("cannot be used with");
    // What a comment that left something out says to type is what was typed.
    scratch.raise_the_limit("hub/limits.yaml");
    let shortest = ["--format", "markdown", "--max-bytes", "300"];
    for option in [["--base-tree", "it's"], ["--base-dir", "other"]] {
        copy(&scratch.path("hub"), &scratch.path("other"));
        scratch.edit("other/limits.yaml", "limit: 200", "limit: 100");
        let arguments = [["diff", "hub"].as_slice(), &option, &shortest].concat();
        let run = scratch.run(&arguments);
        run.exits(1);
        let typed = format!("<code>spokewright diff hub {} ", option[0]);
        assert!(run.stdout.contains(&typed), "{}", run.stdout);
    }
}

#[test]
fn an_input_with_errors_is_not_compared_and_a_base_with_errors_is() {
    let Some(scratch) = repository() else { return };
    let right = scratch.read("hub/limits.yaml");
    scratch.edit("hub/limits.yaml", "name: prod-web", "name: prod-wep");
    let run = scratch.run(&["diff", "hub"]);
    run.exits(3).says("nothing was compared");
    assert_eq!(run.stdout, "");
    commit(&scratch.path(""));
    scratch.write("hub/limits.yaml", &right);
    scratch
        .run(&["diff", "hub"])
        .exits(1)
        .says("HEAD:hub/limits.yaml")
        .says("the base `HEAD` has 1 error");
}

#[test]
fn an_empty_result_is_refused_unless_it_is_meant() {
    let Some(scratch) = repository() else { return };
    scratch.remove("hub/decisions.yaml").edit(
        "hub/gateway.yaml",
        "  labels:\n    cluster.open-cluster-management.io/placement: edge\n",
        "",
    );
    scratch.run(&["diff", "hub"]).exits(4).says("--allow-empty");
    let run = scratch.run(&["diff", "hub", "--allow-empty", "-q", "--format", "semantic"]);
    run.exits(1);
    assert!(run.stdout.contains("8 removed, 2 left behind"), "{}", run.stdout);
}

#[test]
fn without_an_object_every_cluster_loses_what_comes_from_it() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&[
        "diff",
        "hub",
        "-q",
        "--without",
        "ratelimitpolicy/gateways/global",
        "--format",
        "semantic",
    ]);
    run.exits(1);
    assert!(
        run.stdout
            .contains("- RateLimitPolicy kuadrant-gateways/global on all 2 clusters  (hub/limits.yaml:1)"),
        "{}",
        run.stdout
    );
    // What breaks without it is part of the answer.
    let run = scratch.run(&["diff", "hub", "--without", "Gateway/gateways/prod-web"]);
    run.exits(3).says("error[policy/target-not-found]");
    assert!(
        run.stdout.contains("removed Gateway kuadrant-gateways/prod-web"),
        "{}",
        run.stdout
    );
    scratch
        .run(&["diff", "hub", "--without", "RateLimitPolicy/gateways/globel"])
        .exits(2)
        .says("did you mean `RateLimitPolicy/gateways/global`?");
    scratch
        .run(&["diff", "hub", "--without", "global"])
        .exits(2)
        .says("did you mean `ratelimitpolicy/gateways/global`?");
    scratch
        .run(&["diff", "hub", "--without", "nothing"])
        .exits(2)
        .says("write KIND/NAME or KIND/NAMESPACE/NAME");
    // As for `explain`, the namespace and the case do not matter where only one object is meant.
    let short = scratch.run(&["diff", "hub", "-q", "--without", "ratelimitpolicies/global"]);
    short.exits(1);
    assert!(
        short.stdout.contains("removed RateLimitPolicy"),
        "{}",
        short.stdout
    );
    scratch.write(
        "hub/other.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: gateways-2}\nspec: {}\n---\n\
         apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: global, namespace: gateways-2}\n\
         spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}, limits: {a: {rates: [{limit: 1, window: 1s}]}}}\n",
    );
    scratch
        .run(&["diff", "hub", "--without", "ratelimitpolicy/global"])
        .exits(2)
        .says("write one of: ratelimitpolicy/gateways/global, ratelimitpolicy/gateways-2/global");
    scratch
        .run(&["diff", "hub", "--without", "a/b", "--base-dir", "hub"])
        .exits(2)
        .says("cannot be used with");
}

#[test]
fn only_the_clusters_that_are_asked_for_are_compared() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    scratch
        .run(&["diff", "hub", "--base-tree", "rendered", "--clusters", "eu-*"])
        .exits(0);
    scratch.raise_the_limit("hub/limits.yaml");
    let run = scratch.run(&[
        "diff",
        "hub",
        "--base-tree",
        "rendered",
        "--clusters",
        "eu-*",
        "-q",
    ]);
    run.exits(1);
    assert!(run.stdout.starts_with("1 of 1 cluster changes"), "{}", run.stdout);
}

/// A Secret for the worked example, with one line of data.
fn secret(data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: wildcard\n  namespace: gateways\n  annotations:\n    \
         kubectl.kubernetes.io/last-applied-configuration: '{{\"data\":{{\"k\":\"TEFTVA==\"}}}}'\n\
         type: kubernetes.io/tls\n{data}\n"
    )
}

/// What each form says where the Secret is `old` in the base and `new` in the input, or where the base is its tree.
fn forms_of_a_secret(old: &str, new: &str) -> Vec<(String, String)> {
    let scratch = Scratch::with_worked_example();
    let config = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nsecrets: Copy\n";
    scratch
        .write("hub/secret.yaml", &secret(old))
        .write("hub/spokewright.yaml", config);
    copy(&scratch.path("hub"), &scratch.path("other"));
    scratch.run(&["render", "other", "-o", "tree"]).exits(0);
    scratch.write("hub/secret.yaml", &secret(new));
    let mut all = Vec::new();
    for [option, base] in [["--base-dir", "other"], ["--base-tree", "tree"]] {
        for format in ["human", "semantic", "markdown", "json"] {
            let run = scratch.run(&["diff", "hub", option, base, "--format", format]);
            run.exits(1);
            assert!(run.stdout.contains("Secret"), "{format}:\n{}", run.stdout);
            all.push((
                format!("{base} {format}"),
                format!("{}{}", run.stdout, run.stderr),
            ));
        }
    }
    all
}

#[test]
fn the_value_of_a_copied_secret_never_appears() {
    const VALUES: [&str; 6] = [
        "b2xkLWtleQ",
        "bmV3LWtleQ",
        "Y2VydA",
        "TEFTVA",
        "old-text",
        "new-text",
    ];
    for (old, new, key) in [
        (
            "data: {tls.crt: Y2VydA==, tls.key: b2xkLWtleQ==}",
            "data: {tls.crt: Y2VydA==, tls.key: bmV3LWtleQ==}",
            "tls.key",
        ),
        // Only the key is another one.
        ("data: {before: Y2VydA==}", "data: {after: Y2VydA==}", "after"),
        ("stringData: {k: old-text}", "stringData: {k: new-text}", "k"),
        (
            "data: {k: b2xkLWtleQ==}",
            "stringData: {k: new-text}",
            "stringData",
        ),
        ("data: {k: b2xkLWtleQ==}", "immutable: true", "immutable"),
    ] {
        for (form, text) in forms_of_a_secret(old, new) {
            assert!(text.contains(key), "{form}: {key} is not in\n{text}");
            for value in VALUES {
                assert!(!text.contains(value), "{form}: {value} is in\n{text}");
            }
        }
    }
}

#[test]
fn one_line_on_a_thousand_clusters_is_a_comment_below_ten_kilobytes() {
    let scratch = Scratch::with_worked_example();
    let clusters: Vec<String> = (1..=1000)
        .map(|number| format!("{{clusterName: eu-{number:04}, reason: \"\"}}"))
        .collect();
    for (page, clusters) in clusters.chunks(100).enumerate() {
        scratch.write(
            &format!("hub/decisions-{page}.yaml"),
            &format!(
                "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n\
                 metadata:\n  name: edge-decision-{}\n  namespace: gateways\n\
                 \x20 labels: {{cluster.open-cluster-management.io/placement: edge}}\n\
                 status:\n  decisions: [{}]\n",
                page + 2,
                clusters.join(", ")
            ),
        );
    }
    scratch.remove("hub/decisions.yaml");
    copy(&scratch.path("hub"), &scratch.path("other"));
    scratch.raise_the_limit("hub/limits.yaml");
    let run = scratch.run(&["diff", "hub", "--base-dir", "other", "--format", "markdown"]);
    run.exits(1);
    println!("1,000 clusters: {} bytes", run.stdout.len());
    assert!(run.stdout.len() < 10_000, "{}", run.stdout);
    assert!(
        run.stdout.contains("1000 of 1000 clusters change"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_base_that_can_hardly_be_meant_is_named() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&["diff", "hub", "--base-dir", "hub"]);
    run.exits(0).says("note: the base `hub` is the input itself");
    std::fs::create_dir(scratch.path("empty")).expect("a directory");
    let run = scratch.run(&["diff", "hub", "--base-dir", "empty"]);
    run.exits(1)
        .says("note: the base `empty` contains no Kubernetes object");
    assert!(run.stdout.contains("all 2 clusters (new)"), "{}", run.stdout);
}
