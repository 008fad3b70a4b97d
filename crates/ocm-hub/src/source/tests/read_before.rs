//! A revision, or a later run, that takes over files that were read before: the same documents, the same findings, the
//! same limits.

use std::sync::Arc;

use super::every_tree::{git, staged};
use super::*;
use crate::source::{Document, FileText, Files, GitTree, KnownTexts, ReadBefore, SourceFile, Sources};

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
    let taken = |file: &SourceFile| disk.files().iter().any(|there| is_one(&there.text, &file.text));
    let files = after.1.files().iter();
    let files = files.map(|file| (file.relative.clone(), taken(file))).collect();
    (alone, after, files)
}

/// Whether both are one text in memory.
fn is_one(text: &FileText, other: &FileText) -> bool {
    let both = text.whole().zip(other.whole());
    both.is_some_and(|(text, other)| Arc::ptr_eq(text, other))
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
fn a_text_that_would_be_packed_is_taken_over_too() {
    let text = format!("kind: A\n{}", "# the same again and again\n".repeat(1_000));
    let (_directory, root) = committed(&[("hub/large.yaml", &text)]);
    let (alone, after, files) = both(&root);
    assert_eq!(files, [("large.yaml".to_owned(), true)]);
    assert_eq!(shown(&after), shown(&alone));
    assert!(
        alone.1.files()[0].text.whole().is_none(),
        "read by itself, it is packed"
    );
}

/// The documents on disk after an earlier run, and which files were taken over from it.
fn again(root: &Path, known: &KnownTexts) -> (Read, Vec<String>, KnownTexts) {
    let hub = root.join("hub");
    let request = Request {
        hub: vec![hub.clone()],
        root: hub,
        keeps_values: true,
        known: known.clone(),
        ..Request::default()
    };
    let (mut sources, mut findings) = (Sources::default(), Findings::new());
    let documents = Files::Disk.documents(&request, None, &mut sources, &mut findings);
    let findings = findings.iter().map(|finding| format!("{finding:?}")).collect();
    let files = sources.files().iter();
    let taken = files.filter(|file| {
        known
            .texts()
            .any(|text| is_one(&Arc::clone(text).into(), &file.text))
    });
    let taken = taken.map(|file| file.relative.clone()).collect();
    let left = sources.known_texts();
    ((documents, sources, findings), taken, left)
}

#[test]
fn a_later_run_takes_over_equal_texts_and_keeps_only_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    let long = "kind: A\ntext: 1234\n";
    for (path, text) in [
        ("hub/same.yaml", TWO),
        ("hub/changed.yaml", long),
        ("hub/moved.yaml", "kind: Moved\n"),
        ("hub/gone.yaml", "kind: Gone\n"),
        ("hub/list.json", "[{\"kind\": \"L\"}]"),
        ("hub/marked.yaml", "\u{feff}kind: Marked\n"),
        ("hub/broken.yaml", "kind: [\n"),
    ] {
        write(root, path, text);
    }
    let (_, taken, first) = again(root, &KnownTexts::default());
    assert_eq!(taken, [""; 0]);
    assert_eq!(first.texts().count(), 6);
    let time = fs::metadata(root.join("hub/changed.yaml")).and_then(|known| known.modified());
    write(root, "hub/changed.yaml", &long.replace('4', "5"));
    let changed = fs::File::options()
        .write(true)
        .open(root.join("hub/changed.yaml"));
    changed.and_then(|file| file.set_modified(time?)).expect("a time");
    fs::rename(root.join("hub/moved.yaml"), root.join("hub/to.yaml")).expect("a name");
    fs::rename(root.join("hub/list.json"), root.join("hub/list.yaml")).expect("a name");
    fs::remove_file(root.join("hub/gone.yaml")).expect("a file");
    let (read, taken, second) = again(root, &first);
    // Not what has other bytes of the same length and time, what is read in another syntax, and what cannot be read.
    assert_eq!(taken, ["marked.yaml", "same.yaml", "to.yaml"]);
    let (alone, _, _) = again(root, &KnownTexts::default());
    assert_eq!(shown(&read), shown(&alone));
    assert!(second.texts().all(|text| !text.contains("Gone")));
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
