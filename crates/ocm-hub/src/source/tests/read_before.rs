//! A revision that takes over files that were read before: the same documents, the same findings, the
//! same limits.

use std::sync::Arc;

use super::every_tree::{git, staged};
use super::*;
use crate::source::{Document, Files, GitTree, ReadBefore, SourceFile, Sources};

const TWO: &str = "# two, and nothing between them\nkind: A\n---\n# empty\n---\nkind: B\n";

fn committed(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let (directory, root) = staged(files);
    git(&root, &["commit", "-q", "-m", "all"]);
    (directory, root)
}

type Read = (Vec<Document>, Sources, Vec<String>);

fn read(root: &Path, files: Files<'_>, keeps_values: bool) -> Read {
    let hub = root.join("hub");
    let request = Request {
        hub: vec![hub.clone()],
        root: hub,
        keeps_values,
        ..Request::default()
    };
    let (mut sources, mut findings) = (Sources::default(), Findings::new());
    let documents = files.documents(&request, None, &mut sources, &mut findings);
    let findings = findings.iter().map(|finding| format!("{finding:?}")).collect();
    (documents, sources, findings)
}

/// The documents of `HEAD`, read by itself and after the files on disk: each file with whether it was taken over.
fn both(root: &Path) -> (Read, Read, Vec<(String, bool)>) {
    let alone = GitTree::open(root, "HEAD").expect("a revision");
    let alone = read(root, Files::Tree(&alone), false);
    let (_, disk, _) = read(root, Files::Disk, true);
    let after = GitTree::open(root, "HEAD").expect("a revision");
    let after = after.after(ReadBefore::new(&disk));
    let after = read(root, Files::Tree(&after), false);
    let taken = |file: &SourceFile| {
        disk.files()
            .iter()
            .any(|there| Arc::ptr_eq(&there.text, &file.text))
    };
    let files = after.1.files().iter();
    let files = files.map(|file| (file.relative.clone(), taken(file))).collect();
    (alone, after, files)
}

fn shown((documents, sources, findings): &Read) -> String {
    let files = sources.files().iter();
    let files: Vec<_> = files
        .map(|file| (&file.relative, &file.shown, &file.text, &file.documents))
        .collect();
    format!("{documents:#?}\n{files:#?}\n{findings:#?}")
}

#[test]
fn a_revision_takes_over_equal_contents_and_gives_what_reading_it_again_gives() {
    let (_directory, root) = committed(&[
        ("hub/same.yaml", TWO),
        ("hub/changed.yaml", "kind: Before\n"),
        ("hub/moved.yaml", "kind: Moved\n"),
        ("hub/gone.yaml", "kind: Gone\n"),
        ("hub/as-yaml.yaml", "{\"kind\": \"J\"}\n{}\n"),
        ("hub/as-json.json", "{\"kind\": \"J\"}\n{\"kind\": \"K\"}\n"),
        ("hub/list.json", "[{\"kind\": \"L\"}]"),
        ("hub/marked.yaml", "\u{feff}kind: Marked\n"),
        ("hub/broken.yaml", "kind: A\n---\nkind: [\n"),
        (
            "hub/aliases.yaml",
            "a: &a [1, 2]\nb: [*a, *a, *a, *a, *a, *a, *a]\n",
        ),
        ("hub/nothing.yaml", "# nothing\n"),
    ]);
    write(&root, "hub/changed.yaml", "kind: After\n");
    fs::rename(root.join("hub/moved.yaml"), root.join("hub/to.yaml")).expect("a name");
    fs::remove_file(root.join("hub/gone.yaml")).expect("a file");
    let (alone, after, taken) = both(&root);
    assert_eq!(shown(&after), shown(&alone));
    let taken: Vec<&str> = taken
        .iter()
        .filter(|(_, is_taken)| *is_taken)
        .map(|(path, _)| path.as_str())
        .collect();
    // Not what has changed, what cannot be read, and what needs aliases of which a run affords only so many.
    assert_eq!(
        taken,
        [
            "as-json.json",
            "as-yaml.yaml",
            "list.json",
            "marked.yaml",
            "moved.yaml",
            "nothing.yaml",
            "same.yaml"
        ]
    );
}

#[test]
fn one_content_is_read_as_json_and_as_yaml() {
    let text = "[{\"kind\": \"L\"}]";
    let (_directory, root) = committed(&[("hub/a.json", text), ("hub/a.yaml", text)]);
    fs::remove_file(root.join("hub/a.json")).expect("a file");
    let (alone, after, _) = both(&root);
    assert_eq!(shown(&after), shown(&alone));
}

#[test]
fn what_was_read_in_another_syntax_counts_once() {
    let [a, b] = ["a", "b"].map(|name| format!("[{{\"kind\": \"{}\"}}]", name.repeat(3 << 20)));
    let (_directory, root) = committed(&[("hub/a.yaml", &a), ("hub/b.yaml", &b)]);
    for name in ["a", "b"] {
        let path = root.join("hub").join(name);
        fs::rename(path.with_extension("yaml"), path.with_extension("json")).expect("a name");
    }
    let (alone, after, taken) = both(&root);
    assert_eq!(alone.2, Vec::<String>::new());
    assert_eq!(after.2, alone.2);
    assert!(taken.iter().all(|(_, is_taken)| !is_taken), "{taken:?}");
}

#[test]
fn what_is_taken_over_counts_as_if_it_were_read_again() {
    let large = format!("kind: A\ntext: {}\n", "x".repeat(1 << 20));
    let names: Vec<String> = (0..6).map(|number| format!("hub/{number}.yaml")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), large.as_str())).collect();
    let (_directory, root) = committed(&files);
    let (alone, after, _) = both(&root);
    assert!(
        shown(&alone).contains("all copies so far have more than"),
        "{:?}",
        alone.2
    );
    assert_eq!(shown(&after), shown(&alone));
}
