//! One tree, read from disk, from a Git revision and from Git's index: the same documents, the same findings.

use std::process::Command;

use super::*;
use crate::source::{Checkout, Files, GitTree, IndexTree, Sources};

/// What a case puts into the repository.
enum Put {
    File(&'static str),
    #[cfg_attr(not(unix), expect(dead_code))]
    Link(&'static str),
    /// A link to this path of the repository, however its root is called.
    #[cfg_attr(not(unix), expect(dead_code))]
    AbsoluteLink(&'static str),
}

use Put::{AbsoluteLink, File, Link};

const OBJECT: Put = File("kind: X\n");

struct Case {
    rule: &'static str,
    tree: &'static [(&'static str, Put)],
    /// Documents, then findings.
    expected: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        rule: "manifests are read by their extension, in the order of their paths",
        tree: &[
            ("hub/b.yml", OBJECT),
            ("hub/a.yaml", OBJECT),
            ("hub/deep/er/c.json", File("{}")),
            ("hub/README.md", File("text\n")),
            ("elsewhere/d.yaml", OBJECT),
        ],
        expected: &["Hub a.yaml", "Hub b.yml", "Hub deep/er/c.json"],
    },
    Case {
        rule: "the innermost .gitignore that says anything decides, up to the root of the repository",
        tree: &[
            (".gitignore", File("*.gen.yaml\n/hub/top.yaml\n")),
            ("hub/.gitignore", File("\u{feff}build/\n[bad\n")),
            ("hub/team/.gitignore", File("!keep.gen.yaml\n")),
            ("hub/top.yaml", OBJECT),
            ("hub/deep/top.yaml", OBJECT),
            ("hub/x.gen.yaml", OBJECT),
            ("hub/build/y.yaml", OBJECT),
            ("hub/team/keep.gen.yaml", OBJECT),
            ("hub/team/drop.gen.yaml", OBJECT),
            ("hub/[bad", File("text\n")),
        ],
        expected: &["Hub deep/top.yaml", "Hub team/keep.gen.yaml"],
    },
    Case {
        rule: "what is hidden is read only where a rule asks for it",
        tree: &[
            ("hub/.gitignore", File("!.shown.yaml\n!.shown/\n")),
            ("hub/.hidden.yaml", OBJECT),
            ("hub/.hidden/a.yaml", OBJECT),
            ("hub/.shown.yaml", OBJECT),
            ("hub/.shown/b.yaml", OBJECT),
        ],
        expected: &["Hub .shown.yaml", "Hub .shown/b.yaml"],
    },
    Case {
        rule: "Git's own files are never input, even where a rule asks for all that is hidden",
        tree: &[("hub/.gitignore", File("!.*\n")), ("hub/.a.yaml", OBJECT)],
        expected: &["Hub .a.yaml"],
    },
    Case {
        rule: "what is excluded, our own output and what the request skips are not read",
        tree: &[
            ("hub/charts/a.yaml", OBJECT),
            ("hub/rendered/c.yaml", OBJECT),
            ("hub/d.yaml", OBJECT),
        ],
        expected: &["Hub d.yaml"],
    },
    Case {
        rule: "an output tree of somebody else is not read, which is said; without a line in its inventory it is none",
        tree: &[
            ("hub/old/.spokewright-inventory", File("0 *eu-1/b.yaml\n")),
            ("hub/old/eu-1/b.yaml", OBJECT),
            ("hub/empty/.spokewright-inventory", File("\n")),
            ("hub/empty/c.yaml", OBJECT),
        ],
        expected: &[
            "Hub empty/c.yaml",
            "output/elsewhere: `hub/old` is an output tree that this configuration does not write, so it is not read",
        ],
    },
    Case {
        rule: "each directory of the spokes is a cluster; files beside them belong to none, which is said",
        tree: &[
            ("hub/spokes/eu-1/deep/a.yaml", OBJECT),
            ("hub/spokes/us-1/b.yaml", OBJECT),
            ("hub/spokes/c.yaml", OBJECT),
        ],
        expected: &[
            "Spoke(\"eu-1\") spokes/eu-1/deep/a.yaml",
            "Spoke(\"us-1\") spokes/us-1/b.yaml",
            "spoke/unknown-cluster: `hub/spokes/c.yaml` is in no cluster's directory, so nothing reads it",
        ],
    },
    #[cfg(unix)]
    Case {
        rule: "links inside of the input are followed, and what they lead to is read once",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("hub/kept/b.txt", OBJECT),
            ("hub/kept/c.yaml", OBJECT),
            ("hub/again.yaml", Link("./a.yaml")),
            ("hub/absolute.yaml", AbsoluteLink("hub/kept/b.txt")),
            ("hub/way", Link("kept/../kept")),
        ],
        expected: &["Hub a.yaml", "Hub absolute.yaml", "Hub kept/c.yaml"],
    },
    #[cfg(unix)]
    Case {
        rule: "a link is where it stands, for the rules of what is left out",
        tree: &[
            ("hub/.gitignore", File("/kept/secret.yaml\n/b/left-out.yaml\n")),
            ("hub/kept/secret.yaml", OBJECT),
            ("hub/kept/left-out.yaml", OBJECT),
            ("hub/b", Link("kept")),
        ],
        expected: &["Hub b/secret.yaml", "Hub kept/left-out.yaml"],
    },
    #[cfg(unix)]
    Case {
        rule: "a link that leaves the input is refused",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("elsewhere/b.yaml", OBJECT),
            ("hub/b.yaml", Link("../elsewhere/b.yaml")),
            ("hub/directory", Link("../elsewhere")),
            ("hub/system", Link("/etc")),
        ],
        expected: &[
            "Hub a.yaml",
            "input/outside: the symbolic link `hub/b.yaml` leaves the input",
            "input/outside: the symbolic link `hub/directory` leaves the input",
            "input/outside: the symbolic link `hub/system` leaves the input",
        ],
    },
    #[cfg(unix)]
    Case {
        rule: "a link to nothing is said to be one, also where links lead to each other",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("hub/gone.yaml", Link("missing.yaml")),
            ("hub/below-a-file.yaml", Link("a.yaml/b.yaml")),
            ("hub/left.yaml", Link("right.yaml")),
            ("hub/right.yaml", Link("left.yaml")),
        ],
        expected: &[
            "Hub a.yaml",
            "input/unreadable: the symbolic link `hub/below-a-file.yaml` has no target",
            "input/unreadable: the symbolic link `hub/gone.yaml` has no target",
            "input/unreadable: the symbolic link `hub/left.yaml` has no target",
            "input/unreadable: the symbolic link `hub/right.yaml` has no target",
        ],
    },
    #[cfg(unix)]
    Case {
        rule: "a link whose name would not be read is nothing, wherever it leads",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("elsewhere/notes.md", OBJECT),
            ("hub/gone", Link("missing")),
            ("hub/gone.md", Link("missing.md")),
            ("hub/notes.md", Link("../elsewhere/notes.md")),
            ("hub/passwords.txt", Link("/etc/passwd")),
        ],
        expected: &["Hub a.yaml"],
    },
    #[cfg(unix)]
    Case {
        rule: "every form of a pattern leaves out a link that cannot be followed",
        tree: &[
            ("hub/a.yaml", OBJECT),
            (
                "hub/.gitignore",
                File("/gone.yaml\n/b/\nc/**\nd/*\n**/e\nteam/f.json\n/team/g/\n"),
            ),
            ("hub/gone.yaml", Link("missing.yaml")),
            ("hub/b", Link("/etc")),
            ("hub/c", Link("/etc")),
            ("hub/d", Link("../elsewhere")),
            ("elsewhere/x.yaml", OBJECT),
            ("hub/team/e", Link("/etc")),
            ("hub/team/f.json", Link("missing.json")),
            ("hub/team/g", Link("../../elsewhere")),
            // What is no longer anchored where it is is not meant.
            ("hub/team/gone.yaml", Link("missing.yaml")),
        ],
        expected: &[
            "Hub a.yaml",
            "input/unreadable: the symbolic link `hub/team/gone.yaml` has no target",
        ],
    },
    #[cfg(unix)]
    Case {
        rule: "nobody asks where a link leads that is left out",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("hub/.gitignore", File("gone.yaml\n")),
            ("hub/gone.yaml", Link("missing.yaml")),
            ("hub/charts/gone.yaml", Link("missing.yaml")),
            // Emacs marks what is being edited so.
            ("hub/.#a.yaml", Link("somebody@somewhere.1234")),
        ],
        expected: &["Hub a.yaml"],
    },
    #[cfg(unix)]
    Case {
        rule: "a loop of directories ends, and loses nothing",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("hub/team/b.yaml", OBJECT),
            ("hub/team/up", Link("..")),
            ("hub/team/self", Link(".")),
            ("hub/z/c.yaml", OBJECT),
            ("hub/z/over", Link("../team")),
            ("hub/team/back", Link("../z")),
        ],
        expected: &["Hub a.yaml", "Hub team/b.yaml", "Hub team/back/c.yaml"],
    },
    #[cfg(unix)]
    Case {
        rule: "a link to rules is none, as with Git",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("hub/rules", File("a.yaml\n")),
            ("hub/.gitignore", Link("rules")),
        ],
        expected: &["Hub a.yaml"],
    },
    Case {
        rule: "what cannot be read is named, and the rest is read",
        tree: &[
            ("hub/a.yaml", OBJECT),
            ("hub/locked/b.yaml", OBJECT),
            ("hub/rules/.gitignore", File("c.yaml\n")),
            ("hub/rules/c.yaml", OBJECT),
        ],
        expected: &[
            "Hub a.yaml",
            "Hub rules/c.yaml",
            "input/unreadable: cannot read `hub/locked`: permission denied",
            "input/unreadable: cannot read `hub/rules/.gitignore`: permission denied",
        ],
    },
];

/// A tree some of which cannot be read, whoever asks.
#[derive(Debug)]
struct Refusing<'a>(&'a dyn FileTree);

impl Refusing<'_> {
    fn ask(&self, path: &Path, ends: &str) -> Result<&dyn FileTree, TreeError> {
        if path.ends_with(ends) {
            return Err(TreeError {
                reason: "permission denied".to_owned(),
                help: String::new(),
            });
        }
        Ok(self.0)
    }
}

impl FileTree for Refusing<'_> {
    fn root(&self) -> &Path {
        self.0.root()
    }

    fn name(&self) -> Option<&str> {
        None
    }

    fn instead(&self) -> &str {
        self.0.instead()
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        self.0.locate(path)
    }

    fn repository(&self, directory: &Path) -> Option<PathBuf> {
        self.0.repository(directory)
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        self.ask(directory, "hub/locked")?.list(directory)
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        self.0.entry(path)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        self.ask(path, "hub/rules/.gitignore")?.read(path)
    }

    fn resolve(&self, path: &Path) -> Result<Lead, TreeError> {
        self.0.resolve(path)
    }
}

/// A repository in which these files are staged.
pub(super) fn staged(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = fs::canonicalize(directory.path()).expect("a directory");
    for (path, text) in files {
        write(&root, path, text);
    }
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-A"]);
    (directory, root)
}

/// What Git prints.
pub(super) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

impl Case {
    fn build(&self, root: &Path) {
        for (path, put) in self.tree {
            let link = |target: &Path| {
                let path = root.join(path);
                fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
                #[cfg(unix)]
                std::os::unix::fs::symlink(target, path).expect("a link");
                #[cfg(not(unix))]
                unreachable!("{}", target.display());
            };
            match put {
                File(text) => write(root, path, text),
                Link(target) => link(Path::new(target)),
                AbsoluteLink(target) => link(&root.join(target)),
            }
        }
        git(root, &["init", "-q"]);
        // Also what is ignored: so a revision has it, and the rules have something to leave out.
        git(root, &["add", "-A", "-f"]);
        git(root, &["commit", "-q", "-m", "all"]);
    }

    fn request(root: &Path) -> Request {
        let hub = root.join("hub");
        Request {
            hub: vec![hub.clone()],
            spokes: Some(hub.join("spokes")),
            skip: vec![hub.join("rendered")],
            exclude: vec!["charts/**".to_owned()],
            root: hub,
            output_marker: Some(".spokewright-inventory"),
            ..Request::default()
        }
    }
}

/// What is found in a tree, paths of findings as seen from the root.
fn seen(request: &Request, root: &Path, tree: &dyn FileTree) -> Vec<String> {
    let prefix = format!("{}/", root.display());
    walked(request, &Refusing(tree))
        .iter()
        // A file is shown as `ROOM RELATIVE PATH`.
        .map(|text| match text.split_once(&format!(" {prefix}")) {
            Some((file, _)) => file.to_owned(),
            None => text.replace(&prefix, ""),
        })
        .collect()
}

#[test]
fn the_disk_a_checkout_a_revision_and_the_index_give_the_same_documents_and_the_same_findings() {
    for case in CASES {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = fs::canonicalize(directory.path()).expect("a directory");
        case.build(&root);
        let request = Case::request(&root);
        let revision = GitTree::open(&root, "HEAD").expect("a revision");
        let index = IndexTree::open(&root, None).expect("an index");
        let disk = Disk::below(request.named());
        let checkout = Checkout::open(&root).expect("a checkout");
        let trees: [(&str, &dyn FileTree, Files<'_>); 4] = [
            ("disk", &disk, Files::Disk),
            ("checkout", &checkout, Files::Tree(&checkout)),
            ("revision", &revision, Files::Tree(&revision)),
            ("index", &index, Files::Tree(&index)),
        ];
        let documents = |files: Files<'_>| {
            let (mut sources, mut findings) = (Sources::default(), Findings::new());
            files
                .documents(&request, None, &mut sources, &mut findings)
                .into_iter()
                .map(|document| format!("{:?} {:?} {}", document.room, document.id, document.value))
                .collect::<Vec<String>>()
        };
        for (name, tree, files) in trees {
            assert_eq!(
                seen(&request, &root, tree),
                case.expected,
                "{}, {name}",
                case.rule
            );
            assert_eq!(documents(files), documents(Files::Disk), "{}, {name}", case.rule);
        }
    }
}
