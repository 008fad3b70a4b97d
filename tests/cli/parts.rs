//! `--shard` and `--clusters`: parts of a fleet, which together are the fleet (docs/guides/huge-fleets.md).

use std::collections::{BTreeMap, BTreeSet};

use crate::scratch::Scratch;

/// The worked example on these clusters.
fn fleet(scratch: &Scratch, clusters: &[String]) {
    let decisions: Vec<String> = clusters
        .iter()
        .map(|cluster| format!("{{clusterName: {cluster}, reason: \"\"}}"))
        .collect();
    scratch.write(
        "hub/decisions.yaml",
        &format!(
            "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n\
             metadata:\n  name: edge-decision-1\n  namespace: gateways\n\
             \x20 labels: {{cluster.open-cluster-management.io/placement: edge}}\n\
             status:\n  decisions: [{}]\n",
            decisions.join(", ")
        ),
    );
}

fn names(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers
        .map(|number| format!("{}-{number}", if number % 2 == 0 { "eu" } else { "us" }))
        .collect()
}

fn shard(scratch: &Scratch, output: &str, index: usize, total: usize) -> crate::scratch::Run {
    scratch.run(&[
        "render",
        "hub",
        "-o",
        output,
        "--shard",
        &format!("{index}/{total}"),
    ])
}

#[test]
fn the_shards_one_after_the_other_in_any_order_are_one_run_byte_for_byte() {
    let scratch = Scratch::with_worked_example();
    // Clusters come and go, and a setting changes for all.
    let fleets = [names(0..12), names(3..15), names(4..9), names(0..12)];
    for (round, clusters) in fleets.iter().enumerate() {
        fleet(&scratch, clusters);
        if round == 1 {
            scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
        }
        scratch.run(&["render", "hub", "-o", "whole"]).exits(0);
        for index in [2, 3, 1] {
            shard(&scratch, "up", index, 3).exits(0);
        }
        for index in [3, 1, 2] {
            shard(&scratch, "down", index, 3).exits(0);
        }
        assert_eq!(scratch.tree("up"), scratch.tree("whole"), "round {round}");
        assert_eq!(scratch.tree("down"), scratch.tree("whole"), "round {round}");
        for index in 1..=3 {
            shard(&scratch, "up", index, 3).exits(0).says("0 files written");
        }
        scratch.run(&["render", "hub", "-o", "up", "--check"]).exits(0);
    }
}

#[test]
fn another_number_of_shards_takes_over_the_same_directory() {
    let scratch = Scratch::with_worked_example();
    fleet(&scratch, &names(0..12));
    for index in 1..=2 {
        shard(&scratch, "rendered", index, 2).exits(0);
    }
    fleet(&scratch, &names(5..14));
    for index in 1..=5 {
        shard(&scratch, "rendered", index, 5).exits(0);
    }
    scratch.run(&["render", "hub", "-o", "whole"]).exits(0);
    assert_eq!(scratch.tree("rendered"), scratch.tree("whole"));
}

#[test]
fn shards_in_directories_of_their_own_lie_side_by_side() {
    let scratch = Scratch::with_worked_example();
    fleet(&scratch, &names(0..12));
    scratch.run(&["render", "hub", "-o", "whole"]).exits(0);
    let mut merged = BTreeMap::new();
    let mut inventory = BTreeSet::new();
    for index in 1..=3 {
        shard(&scratch, &format!("part-{index}"), index, 3).exits(0);
        for (path, text) in scratch.tree(&format!("part-{index}")) {
            if path == ".spokewright-inventory" {
                inventory.extend(text.lines().map(|line| (line[66..].to_owned(), line.to_owned())));
            } else if let Some(other) = merged.insert(path.clone(), text.clone()) {
                // Only the root's list is in each of them, and it lists all clusters.
                assert_eq!((path.as_str(), other), ("kustomization.yaml", text));
            }
        }
    }
    let inventory: String = inventory.into_iter().map(|(_, line)| line + "\n").collect();
    merged.insert(".spokewright-inventory".to_owned(), inventory);
    assert_eq!(merged.into_iter().collect::<Vec<_>>(), scratch.tree("whole"));
}

#[test]
fn clusters_on_a_tree_leaves_the_files_of_all_others_as_they_are() {
    let scratch = Scratch::with_worked_example();
    fleet(&scratch, &names(0..6));
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let before = scratch.tree("rendered");
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    // One of each group leaves, and one of the others was edited by hand.
    fleet(&scratch, &names(2..6));
    scratch.edit(
        "rendered/us-3/gateway-rbac.yaml",
        "kind: ManifestWork",
        "kind: ManifestWork # mine",
    );
    scratch
        .run(&["render", "hub", "-o", "rendered", "--clusters", "eu-*"])
        .exits(0)
        .says("2 clusters; 1 Gateway; 1 policy: 1 RateLimitPolicy; 4 works into rendered (4 files written, 4 unchanged, 3 deleted)");
    assert!(
        !scratch.exists("rendered/eu-0"),
        "it left, and the glob speaks for it"
    );
    assert!(
        scratch
            .read("rendered/eu-2/gateway-gateways-prod-web.yaml")
            .contains("port: 8443")
    );
    for (path, text) in &before {
        if path.starts_with("us-") && path != "us-3/gateway-rbac.yaml" {
            assert_eq!(&scratch.read(&format!("rendered/{path}")), text);
        }
    }
    let root = scratch.read("rendered/kustomization.yaml");
    assert!(
        root.contains("resources:\n- eu-2\n- eu-4\n- us-3\n- us-5\n"),
        "{root}"
    );
    scratch
        .run(&["render", "hub", "-o", "rendered", "--check", "--clusters", "eu-*"])
        .exits(0);
    scratch
        .run(&["render", "hub", "-o", "rendered", "--check", "--clusters", "us-5"])
        .exits(1)
        .says("us-5/gateway-gateways-prod-web.yaml");
    scratch
        .run(&["render", "hub", "-o", "rendered", "--clusters", "us-*"])
        .exits(5)
        .says("us-3/gateway-rbac.yaml");
    scratch
        .run(&["render", "hub", "-o", "rendered", "--clusters", "us-*", "--force"])
        .exits(0);
    scratch
        .run(&["render", "hub", "-o", "rendered", "--check"])
        .exits(0);
}

#[test]
fn clusters_and_shard_narrow_together() {
    let scratch = Scratch::with_worked_example();
    fleet(&scratch, &names(0..12));
    scratch.run(&["render", "hub", "-o", "whole"]).exits(0);
    for glob in ["eu-*", "us-*"] {
        for index in 1..=2 {
            let part = format!("{index}/2");
            scratch
                .run(&[
                    "render",
                    "hub",
                    "-o",
                    "parts",
                    "--clusters",
                    glob,
                    "--shard",
                    &part,
                ])
                .exits(0);
        }
    }
    assert_eq!(scratch.tree("parts"), scratch.tree("whole"));
}

#[test]
fn a_shard_without_clusters_is_fine_in_a_directory_and_refused_as_a_stream() {
    let scratch = Scratch::with_worked_example();
    let total = 64;
    let written: Vec<bool> = (1..=total)
        .map(|index| {
            let run = shard(&scratch, "rendered", index, total);
            run.exits(0);
            run.stderr.contains("0 clusters")
        })
        .collect();
    assert!(written.iter().filter(|is_empty| !**is_empty).count() <= 2);
    scratch
        .run(&["render", "hub", "-o", "rendered", "--check"])
        .exits(0);
    let empty = written
        .iter()
        .position(|is_empty| *is_empty)
        .expect("an empty shard")
        + 1;
    let run = shard(&scratch, "-", empty, total);
    run.exits(4)
        .says("error[empty/nothing-rendered]")
        .says("has none of these clusters: eu-1, us-1");
    assert_eq!(run.stdout, "");
    // A fleet without clusters is an error in every shard.
    fleet(&scratch, &[]);
    shard(&scratch, "rendered", empty, total).exits(4);
    assert!(scratch.exists("rendered/eu-1/gateway-rbac.yaml"));
}

#[test]
fn a_shard_that_does_not_exist_is_a_usage_error() {
    let scratch = Scratch::with_worked_example();
    for (shard, message) in [
        ("0/4", "numbered from 1"),
        ("5/4", "there is no part 5 of 4"),
        ("1", "write I/N"),
        ("1/0", "there is no part 1"),
        ("a/b", "write I/N"),
    ] {
        scratch
            .run(&["render", "hub", "--shard", shard])
            .exits(2)
            .says(message);
    }
    assert!(!scratch.exists("rendered"));
}

#[test]
fn exit_code_says_whether_something_was_written() {
    let scratch = Scratch::with_worked_example();
    let render = || scratch.run(&["render", "hub", "-o", "rendered", "--exit-code"]);
    render()
        .exits(1)
        .says("files written")
        .says("the output was out of date");
    render().exits(0).does_not_say("out of date");
    fleet(&scratch, &["eu-1".to_owned()]);
    render().exits(1).says("3 deleted");
    render().exits(0);
    scratch.edit("hub/limits.yaml", "name: prod-web", "name: prod-wep");
    render().exits(3);
    scratch.run(&["render", "hub", "--exit-code", "--check"]).exits(2);
}

#[test]
fn annotated_hub_objects_are_the_same_in_every_shard() {
    let scratch = Scratch::with_worked_example();
    fleet(&scratch, &names(0..6));
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nhubObjects: Annotated\n",
    );
    scratch.run(&["render", "-o", "whole"]).exits(0);
    assert!(scratch.exists("whole/_hub/kustomization.yaml"));
    for index in ["2/2", "1/2"] {
        scratch.run(&["render", "-o", "parts", "--shard", index]).exits(0);
    }
    assert_eq!(scratch.tree("parts"), scratch.tree("whole"));
}
