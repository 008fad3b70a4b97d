//! Any tree gives exactly the files that the same tree on disk gives.

mod every_tree;
mod index;
mod lookups;
mod order;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::disk::Disk;
use super::tree::{FileTree, Lead, TreeEntry, TreeError, key};
use super::walk::{Request, walk};
use crate::diagnostic::Findings;

/// A tree in memory that stands for a directory on disk.
#[derive(Debug)]
struct Held {
    root: PathBuf,
    files: BTreeMap<String, (TreeEntry, Vec<u8>)>,
}

impl Held {
    fn of(root: &Path) -> Self {
        let mut held = Self {
            root: fs::canonicalize(root).expect("a directory"),
            files: BTreeMap::new(),
        };
        held.take(root, "");
        held
    }

    fn take(&mut self, directory: &Path, prefix: &str) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_str()
                .expect("UTF-8")
                .to_owned();
            let at = format!("{prefix}{name}");
            if path.is_symlink() {
                let target = fs::read_link(&path).expect("a link");
                let bytes = target.to_str().expect("UTF-8").as_bytes().to_vec();
                self.files.insert(at, (TreeEntry::Link, bytes));
            } else if path.is_dir() {
                if name != ".git" {
                    self.take(&path, &format!("{at}/"));
                }
            } else {
                let bytes = fs::read(&path).expect("a file");
                self.files.insert(at, (TreeEntry::File, bytes));
            }
        }
    }
}

impl FileTree for Held {
    fn root(&self) -> &Path {
        &self.root
    }

    fn name(&self) -> Option<&str> {
        Some("held")
    }

    fn instead(&self) -> &'static str {
        "look elsewhere"
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let prefix = if directory.as_os_str().is_empty() {
            String::new()
        } else {
            format!("{}/", key(directory).expect("UTF-8"))
        };
        let mut entries = BTreeMap::new();
        for (path, (entry, _)) in &self.files {
            if let Some(rest) = path.strip_prefix(&prefix) {
                match rest.split_once('/') {
                    Some((name, _)) => entries.insert(OsString::from(name), TreeEntry::Directory),
                    None => entries.insert(OsString::from(rest), *entry),
                };
            }
        }
        Ok(entries.into_iter().collect())
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        let path = key(path).expect("UTF-8");
        if let Some((entry, _)) = self.files.get(&path) {
            return Ok(Some(*entry));
        }
        let is_directory = path.is_empty()
            || self
                .files
                .keys()
                .any(|known| known.starts_with(&format!("{path}/")));
        Ok(is_directory.then_some(TreeEntry::Directory))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        Ok(self
            .files
            .get(&key(path).expect("UTF-8"))
            .expect("a file")
            .1
            .clone())
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::write(path, text).expect("a file");
}

/// What a walk finds, and its findings, as texts.
fn walked(request: &Request, tree: &dyn FileTree) -> Vec<String> {
    let walked = walk(request, tree, None);
    let mut said: Vec<String> = walked
        .findings
        .iter()
        .map(|finding| format!("{}: {}", finding.code, finding.message))
        .collect();
    // Findings of the walk come in no particular order; they are sorted when a run ends.
    said.sort();
    let files = walked.files.iter();
    let files = files.map(|file| format!("{:?} {} {}", file.room, file.relative, file.path.display()));
    files.chain(said).collect()
}

/// The same from the disk, and from a tree that stands for it.
fn both(root: &Path, request: &Request) -> (Vec<String>, Vec<String>) {
    (
        walked(request, &Disk::below(request.named())),
        walked(request, &Held::of(root)),
    )
}

fn sample() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    fs::create_dir(root.join(".git")).expect("a directory");
    for path in [
        "hub/a.yaml",
        "hub/b.yml",
        "hub/c.json",
        "hub/README.md",
        "hub/.hidden.yaml",
        "hub/.hidden/d.yaml",
        "hub/charts/x.yaml",
        "hub/build/y.yaml",
        "hub/team/keep.gen.yaml",
        "hub/team/drop.gen.yaml",
        "hub/team/deep/z.yaml",
        "hub/old/.spokewright-inventory",
        "hub/old/eu-1/w.yaml",
        "hub/rendered/w.yaml",
        "hub/spokes/eu-1/s.yaml",
        "hub/spokes/none.yaml",
        "hub/root-only.yaml",
        "beside/common.yaml",
    ] {
        write(root, path, "kind: X\n");
    }
    write(root, ".gitignore", "*.gen.yaml\n/hub/root-only.yaml\n");
    write(root, "hub/.gitignore", "build/\n");
    write(root, "hub/team/.gitignore", "!keep.gen.yaml\n");
    #[cfg(unix)]
    {
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(to, root.join(from)).expect("a link");
        link("hub/linked.yaml", "a.yaml");
        link("hub/team/linked", "deep");
        link("hub/outside.yaml", "../beside/common.yaml");
        link("hub/nowhere.yaml", "missing.yaml");
        link("hub/team/deep/absolute.yaml", "/etc/hosts");
    }
    directory
}

#[test]
fn a_tree_gives_the_files_that_the_disk_gives() {
    let directory = sample();
    let root = directory.path();
    let hub = root.join("hub");
    let whole = Request {
        hub: vec![hub.clone()],
        spokes: Some(hub.join("spokes")),
        skip: vec![hub.join("rendered")],
        exclude: vec!["charts/**".to_owned()],
        root: hub.clone(),
        output_marker: Some(".spokewright-inventory"),
        ..Request::default()
    };
    let file_twice = Request {
        hub: vec![
            hub.join("a.yaml"),
            hub.join("team"),
            hub.join("a.yaml"),
            hub.join("README.md"),
        ],
        root: root.to_owned(),
        output_marker: Some(".spokewright-inventory"),
        ..Request::default()
    };
    let from_the_root = Request {
        hub: vec![root.to_owned()],
        root: root.to_owned(),
        output_marker: Some(".spokewright-inventory"),
        ..Request::default()
    };
    for request in [whole, file_twice, from_the_root] {
        let (disk, held) = both(root, &request);
        assert!(disk.len() > 2, "{disk:?}");
        assert_eq!(disk, held);
    }
}

#[test]
fn an_input_that_the_tree_does_not_have_yet_is_empty_and_one_outside_is_an_error() {
    let directory = sample();
    let tree = Held::of(directory.path());
    let request = |path: PathBuf| Request {
        hub: vec![path],
        output_marker: Some(".spokewright-inventory"),
        ..Request::default()
    };
    let new = walk(&request(directory.path().join("new/hub")), &tree, None);
    assert!(new.files.is_empty());
    assert!(new.findings.is_empty(), "{:?}", new.findings);
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let outside = walk(&request(elsewhere.path().to_owned()), &tree, None);
    assert!(outside.files.is_empty());
    assert!(outside.findings.has_errors());
}

#[test]
fn a_loop_of_links_leads_nowhere() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let link = |target: &str| (TreeEntry::Link, target.as_bytes().to_vec());
    let tree = Held {
        root: fs::canonicalize(directory.path()).expect("a directory"),
        files: [
            ("a".to_owned(), link("b")),
            ("b".to_owned(), link("a")),
            ("up".to_owned(), link("../..")),
        ]
        .into(),
    };
    let lead = |path: &str| tree.resolve(Path::new(path));
    assert_eq!(lead("a"), Ok(Lead::Nowhere));
    assert_eq!(lead("up/x"), Ok(Lead::Outside));
    let locate = |path: &str| tree.locate(&directory.path().join(path));
    assert_eq!(locate("x/../y"), Some(PathBuf::from("y")));
    assert_eq!(locate("../y"), None);
}

/// Paths whose parts say something to some rule.
fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("a"),
        Just("b"),
        Just("build"),
        Just(".hidden"),
        Just("spokes")
    ];
    let file = prop_oneof![
        Just("x.yaml"),
        Just("y.gen.yaml"),
        Just(".z.yaml"),
        Just("build.yaml")
    ];
    (prop::collection::vec(part, 0..3), file).prop_map(|(mut parts, file)| {
        parts.push(file);
        parts.join("/")
    })
}

fn rule() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("*.gen.yaml"),
        Just("!y.gen.yaml"),
        Just("build"),
        Just("build/"),
        Just("/a"),
        Just("a/b"),
        Just("**/b/*.yaml"),
        Just("!/a/"),
        Just("!.hidden"),
        Just("!.z.yaml"),
        Just("*"),
        Just("!*/"),
        Just("# note"),
        Just("[bad"),
    ]
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_tree_gives_the_files_that_the_disk_gives(
        paths in prop::collection::btree_set(path(), 1..12),
        ignore in prop::collection::btree_map(
            prop_oneof![Just(""), Just("hub/"), Just("hub/a/"), Just("hub/a/b/")],
            prop::collection::vec(rule(), 1..4),
            0..4,
        ),
        exclude in prop::collection::vec(rule(), 0..2),
    ) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        fs::create_dir(root.join(".git")).expect("a directory");
        for path in &paths {
            write(root, &format!("hub/{path}"), "kind: X\n");
        }
        for (below, rules) in &ignore {
            write(root, &format!("{below}.gitignore"), &rules.join("\n"));
        }
        let hub = root.join("hub");
        let request = Request {
            hub: vec![hub.clone()],
            spokes: Some(hub.join("spokes")),
            exclude,
            root: hub,
            output_marker: Some(".spokewright-inventory"),
            ..Request::default()
        };
        let (disk, held) = both(root, &request);
        prop_assert_eq!(disk, held);
    }
}
