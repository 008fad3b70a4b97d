//! `diff`: how much a change may do, and what is lost.

use crate::scratch::{Scratch, copy, fixtures};

/// The example fleet as `fleet`, and once more as `before`.
fn fleet() -> Scratch {
    let scratch = Scratch::new();
    for name in ["fleet", "before"] {
        copy(&fixtures().join("../examples/fleet"), &scratch.path(name));
        scratch.remove(&format!("{name}/hub/shop/overlay.yaml"));
    }
    scratch
}

/// `render` refuses what `diff` with the same tree refuses, and then no byte of the tree is another one.
#[test]
fn beyond_its_budget_a_change_writes_not_one_byte() {
    const FILES: [&str; 8] = [
        "shop/authentication.yaml",
        "shop/certificates.yaml",
        "shop/gateway.yaml",
        "shop/grant.yaml",
        "shop/limits.yaml",
        "shop/placement.yaml",
        "payments/limits.yaml",
        "payments/placement.yaml",
    ];
    let (mut refused, mut written) = (0, 0);
    for case in 0..24_usize {
        let scratch = fleet();
        // Each case in a way of its own: which files are gone, and how much may be removed or change.
        let bits = case.wrapping_mul(2_654_435_761) >> 3;
        for (bit, file) in FILES.iter().enumerate() {
            if bits >> bit & 3 == 3 {
                scratch.remove(&format!("fleet/hub/{file}"));
            }
        }
        if case % 3 == 0 && scratch.exists("fleet/hub/payments/placement.yaml") {
            // A renamed cluster.
            scratch.edit(
                "fleet/hub/payments/placement.yaml",
                "clusterName: eu-2",
                "clusterName: eu-9",
            );
        }
        let [removed, clusters] = [case % 5 * 4, case % 4];
        let budget = format!("diff: {{budget: {{maxRemoved: {removed}, maxClusters: {clusters}}}}}\n");
        let config = scratch.read("fleet/spokewright.yaml");
        scratch.write("fleet/spokewright.yaml", &format!("{config}\n{budget}"));
        let before = scratch.tree("fleet/rendered");
        let compared = scratch.run(&["diff", "fleet", "-q", "--base-tree", "fleet/rendered"]);
        let check = scratch.run(&["render", "fleet", "-q", "--check"]);
        assert_eq!(scratch.tree("fleet/rendered"), before, "case {case}");
        let run = scratch.run(&["render", "fleet", "-q"]);
        let after = scratch.tree("fleet/rendered");
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.contains("[diff/over-budget]"));
            // `render` prints all findings in one order.
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let beyond = lines(&compared.stderr);
        assert_eq!(lines(&run.stderr), beyond, "case {case}: {}", compared.stderr);
        assert_eq!(lines(&check.stderr), beyond, "case {case}");
        if run.status == 0 {
            written += 1;
            assert!(beyond.is_empty(), "case {case}");
            scratch.run(&["render", "fleet", "-q", "-o", "fresh"]).exits(0);
            assert_eq!(after, scratch.tree("fresh"), "case {case}");
        } else {
            refused += usize::from(!beyond.is_empty());
            assert_eq!(after, before, "case {case}: {}", run.stderr);
        }
    }
    assert!(
        refused >= 5 && written >= 3,
        "{refused} refused, {written} written"
    );
}
