//! The real thing: a process that writes, and `kill -9`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::PLAN;
use super::*;

/// Where the child writes; set by the parent only.
const ROOT: &str = "SPOKEWRIGHT_TEST_OUTPUT";

/// Version of a tree of 600 files: half of them differ from one version to the next, some come and go.
fn version(version: usize) -> Files {
    let mut files = BTreeMap::new();
    for cluster in 0..20_usize {
        for work in 0..30_usize {
            if (work + version).is_multiple_of(10) || (cluster + version).is_multiple_of(7) {
                continue;
            }
            let content = format!(
                "cluster {cluster} work {work} version {}\n",
                if work.is_multiple_of(2) { version } else { 0 }
            );
            files.insert(
                format!("cluster-{cluster}/work-{work}.yaml"),
                content.repeat(40).into_bytes(),
            );
        }
    }
    Files(files.into_iter().collect())
}

#[test]
#[ignore = "only the test below runs this, in a process that it kills"]
fn child() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    for number in 0.. {
        write(Path::new(&root), &version(number % 5), Options::default()).unwrap();
    }
}

#[test]
fn a_process_that_is_killed_at_any_moment_leaves_whole_files_that_the_next_run_knows() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("rendered");
    put(&root, "cluster-1/mine", b"mine");
    let foreign = Files::new([("cluster-1/mine", "mine")]);
    let versions = (0..12).map(version).collect::<Vec<_>>();
    let mut interrupted = 0;
    for round in 0..40_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "output::tests::killed::child"])
            .env(ROOT, &root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Wait for a run to begin writing, then for a while that differs from round to round.
        let deadline = Instant::now() + Duration::from_secs(20);
        while !root.join(PLAN).exists() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(round * 1_319 % 9_000));
        assert!(
            child.try_wait().unwrap().is_none(),
            "the child ended by itself: its run failed"
        );
        child.kill().unwrap();
        child.wait().unwrap();

        for (path, node) in snapshot(&root) {
            let Node::File(content) = node else { continue };
            let is_whole = versions.iter().any(|files| files.get(&path) == Some(&content));
            assert!(!path.contains(".yaml") || is_whole, "{path} is torn");
        }
        interrupted += usize::from(root.join(PLAN).exists());
        let next = version(usize::try_from(round).unwrap() % 5 + 7);
        run(&root, &next).unwrap();
        assert_eq!(snapshot(&root), expected(&next, &foreign), "round {round}");
        if interrupted == 6 {
            return;
        }
    }
    eprintln!(
        "only {interrupted} of 40 rounds hit a run while it wrote: this machine is too busy to show more"
    );
}
