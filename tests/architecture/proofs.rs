//! Each wall is broken once, in small crates made of text: a wall that lets this through would hold nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::graph::Graph;
use crate::rules::{self, FalseFriend};
use crate::table::{self, Room};

/// Three rooms from the top down, of which the last must not know the first.
const PAGE: &str = "\
Text with a | bar.

| room | owns | must not know, besides what stands below | touches |
|---|---|---|---|
| `upper` | the first | | |
| `middle` | the second | `strsim` | files, standard streams |
| `cli`, in the binary | the last | `upper` | |

| crate | owns | may use |
|---|---|---|
| `a-member` | a thing | `other-member` |
";

const ROOTS: &[(&str, &str)] = &[
    ("own", "src/lib.rs"),
    ("own", "src/main.rs"),
    ("a_member", "crates/a-member/src/lib.rs"),
];

/// Files that every case has, unless it has its own.
const FILES: &[(&str, &str)] = &[
    ("src/lib.rs", "//! x\npub mod middle;\npub mod upper;\n"),
    ("src/main.rs", "//! x\nmod cli;\nfn main() { cli::main() }\n"),
    ("src/cli.rs", "//! x\npub fn main() {}\n"),
    ("src/upper.rs", "//! x\npub fn high() {}\n"),
    (
        "src/middle/mod.rs",
        "//! x\nmod hidden;\npub mod shown;\npub use hidden::{Item, item};\n",
    ),
    (
        "src/middle/hidden.rs",
        "//! x\npub struct Item;\nimpl Item { pub fn new() {} }\npub fn item() {}\n",
    ),
    (
        "src/middle/shown.rs",
        "//! x\npub enum Thing { One }\npub mod inner { pub struct Deep; }\n",
    ),
    (
        "crates/a-member/src/lib.rs",
        "//! x\n//! y\nmod part;\npub use part::Part;\n",
    ),
    ("crates/a-member/src/part.rs", "//! x\npub struct Part;\n"),
];

fn rooms() -> Vec<Room> {
    table::rooms(PAGE)
}

/// The graph of the files above, with others in their place.
fn graph(changed: &[(&str, &str)]) -> Graph {
    Graph::read(ROOTS, &|path| {
        let named = |(name, _): &&(&str, &str)| Path::new(name) == path;
        let found = changed.iter().chain(FILES).find(named);
        found.map(|(_, text)| (*text).to_owned())
    })
}

/// What the graph says of one file's imports, as `file: name`.
fn imports(file: &str, text: &str) -> Vec<String> {
    let found: BTreeSet<String> = graph(&[(file, text)])
        .arrows
        .iter()
        .filter(|arrow| arrow.from == Path::new(file))
        .map(|arrow| format!("{}: {}", arrow.to.display(), arrow.name))
        .collect();
    found.into_iter().collect()
}

/// What a room touches in one file, without its place.
fn touched(file: &str, text: &str) -> Vec<String> {
    let wrong = rules::touches(&graph(&[(file, text)]), &rooms(), &[]);
    wrong
        .iter()
        .map(|complaint| complaint.split_once(" uses ").expect("a use").1.to_owned())
        .collect()
}

#[test]
fn the_tables_are_read_as_they_are_written() {
    let rooms = rooms();
    let names: Vec<&str> = rooms.iter().map(|room| room.name.as_str()).collect();
    assert_eq!(names, ["upper", "middle", "cli"]);
    assert_eq!(rooms[1].must_not_know, ["strsim"]);
    assert_eq!(rooms[1].touches, ["files", "standard streams"]);
    let members = table::members(PAGE);
    assert_eq!(
        (members[0].name.as_str(), members[0].may_use.as_slice()),
        ("a-member", &["other-member".to_owned()][..])
    );
}

#[test]
fn without_a_violation_nothing_is_said() {
    let graph = graph(&[]);
    assert_eq!(rules::order(&graph, &rooms()), BTreeSet::new());
    assert_eq!(rules::ignorance(&graph, &rooms()), BTreeSet::new());
    assert_eq!(rules::touches(&graph, &rooms(), &[]), BTreeSet::new());
    assert_eq!(rules::circles(&graph), []);
}

#[test]
fn every_way_to_name_a_thing_is_an_arrow_to_the_file_that_defines_it() {
    let item = ["src/middle/hidden.rs: Item"];
    for text in [
        "use crate::middle::Item;",
        "use crate::{middle::{Item}};",
        "use crate::middle::Item as Other;",
        "use crate::middle::{self as second}; fn f(x: second::Item) {}",
        "use crate as all; fn f(x: all::middle::Item) {}",
        "fn f() { use super::middle::Item; }",
        "use self::super::middle::Item;",
        "pub use crate::middle::Item;",
        "fn f() { crate::middle::Item::new(); }",
        "fn f(x: Vec<crate::middle::Item>) {}",
        "fn f() { let x: &dyn Fn(crate::middle::Item) = todo!(); }",
        "fn f() { println!(\"{}\", crate::middle::Item::new()); }",
        "#[serde(with = \"crate::middle::Item\")] struct S;",
        "#[arg(value_parser = crate::middle::Item::new)] struct S;",
        "impl crate::middle::Item {}",
        "mod inline { use super::super::middle::Item; }",
    ] {
        let found: Vec<String> = imports("src/upper.rs", text)
            .into_iter()
            .filter(|found| !found.starts_with("src/middle/mod.rs") && !found.starts_with("src/lib.rs"))
            .collect();
        assert_eq!(found, item, "{text}");
    }
    assert_eq!(
        imports("src/upper.rs", "use crate::middle::*;"),
        [
            "src/middle/hidden.rs: Item",
            "src/middle/hidden.rs: item",
            "src/middle/mod.rs: middle",
        ]
    );
    assert_eq!(
        imports("src/upper.rs", "use crate::middle::shown::Thing::*;"),
        ["src/middle/shown.rs: Thing"]
    );
    assert_eq!(
        imports("src/upper.rs", "use crate::middle::shown::inner::Deep;"),
        ["src/middle/shown.rs: Deep"]
    );
    // Through the re-export of a third room, and of a crate.
    assert_eq!(
        imports(
            "src/middle/shown.rs",
            "use crate::middle::item as other; fn f() { other() }"
        ),
        ["src/middle/hidden.rs: item"]
    );
    assert_eq!(
        imports("src/upper.rs", "use a_member::Part;"),
        ["crates/a-member/src/part.rs: Part"]
    );
    assert_eq!(
        imports("src/cli.rs", "use own::middle::Item;"),
        ["src/middle/hidden.rs: Item"]
    );
}

#[test]
fn a_function_that_has_the_name_of_its_file_is_told_apart_from_it() {
    let graph = graph(&[
        (
            "src/middle/mod.rs",
            "mod hidden; pub mod shown; pub use hidden::hidden;",
        ),
        ("src/middle/hidden.rs", "pub fn hidden() {}"),
        ("src/upper.rs", "use crate::middle::hidden; fn f() { hidden(); }"),
    ]);
    assert_eq!(
        rules::order(&graph, &rooms()),
        BTreeSet::from(["src/upper.rs:1 imports hidden of src/middle/hidden.rs".to_owned(),])
    );
    assert!(graph.foreign.is_empty(), "{:?}", graph.foreign);
}

#[test]
fn tests_comments_and_strings_are_no_code() {
    for text in [
        "#[cfg(test)] mod tests { use crate::middle::Item; }",
        "#[cfg(test)] use crate::middle::Item;",
        "#[cfg(all(test, unix))] fn f() { crate::middle::item() }",
        "struct S; impl S { #[cfg(test)] fn f() { crate::middle::item() } }",
        "// use crate::middle::Item;\n/// [crate::middle::Item]\nconst X: &str = \"crate::middle::Item\";",
        "pub(in crate::middle) struct S;",
        "fn f(middle: u8) { let item = middle; }",
    ] {
        assert_eq!(imports("src/upper.rs", text), [""; 0], "{text}");
    }
    let graph = graph(&[(
        "src/upper.rs",
        "#[cfg(not(test))] use crate::middle::Item; #[cfg(test)] mod tests;",
    )]);
    assert_eq!(rules::order(&graph, &rooms()).len(), 1);
    assert!(graph.tests.contains(Path::new("src/upper/tests")));
}

#[test]
fn a_room_that_imports_one_below_it_is_refused() {
    for text in [
        "use crate::{middle::{self}};",
        "use crate::middle as other;",
        "pub use crate::middle::Item;",
        "use crate::middle::shown::*;",
        "fn f() { crate::middle::item() }",
    ] {
        assert_ne!(
            rules::order(&graph(&[("src/upper.rs", text)]), &rooms()),
            BTreeSet::new(),
            "{text}"
        );
    }
    let through_another = graph(&[
        (
            "src/lib.rs",
            "pub mod upper; pub mod middle; pub use middle::Item;",
        ),
        ("src/upper.rs", "use crate::Item;"),
    ]);
    assert_eq!(
        rules::order(&through_another, &rooms()),
        BTreeSet::from(["src/upper.rs:1 imports Item of src/middle/hidden.rs".to_owned()])
    );
    let without_row = graph(&[("src/lib.rs", "mod stray;"), ("src/stray.rs", "")]);
    assert_eq!(rules::order(&without_row, &rooms()).len(), 1);
    let item_of_the_root = graph(&[
        ("src/lib.rs", "pub mod upper; pub mod middle; pub struct Root;"),
        ("src/upper.rs", "use crate::Root;"),
    ]);
    assert_eq!(rules::order(&item_of_the_root, &rooms()).len(), 1);
}

#[test]
fn main_that_knows_more_than_the_command_line_is_refused() {
    let graph = graph(&[(
        "src/main.rs",
        "mod cli; fn main() { own::upper::high(); cli::main() }",
    )]);
    assert_eq!(
        rules::order(&graph, &rooms()),
        BTreeSet::from(["src/main.rs:1 imports high of src/upper.rs".to_owned()])
    );
}

#[test]
fn a_member_of_the_workspace_that_knows_a_room_is_refused() {
    let graph = graph(&[(
        "crates/a-member/src/part.rs",
        "use own::upper::high; pub struct Part;",
    )]);
    assert_eq!(rules::order(&graph, &rooms()).len(), 1);
}

#[test]
fn a_room_that_imports_what_it_must_not_know_is_refused() {
    for text in [
        "use own::upper::high;",
        "use own::{upper::{high as other}};",
        "fn f() { own::upper::high() }",
    ] {
        let graph = graph(&[("src/cli.rs", text)]);
        assert_eq!(rules::ignorance(&graph, &rooms()).len(), 1, "{text}");
    }
    let through_another = graph(&[
        ("src/middle/mod.rs", "pub use crate::upper::high;"),
        ("src/cli.rs", "use own::middle::high;"),
    ]);
    assert_eq!(rules::ignorance(&through_another, &rooms()).len(), 1);
    for text in [
        "use strsim::jaro;",
        "fn f() { ::strsim::jaro() }",
        "use {strsim as nearest};",
    ] {
        let graph = graph(&[("src/middle/shown.rs", text)]);
        assert_ne!(rules::ignorance(&graph, &rooms()), BTreeSet::new(), "{text}");
    }
}

#[test]
fn a_room_that_touches_what_the_table_does_not_say_is_refused() {
    for (text, what) in [
        ("use std::{fs, io};", "std::fs: files"),
        ("use std::{io, fs as disk};", "std::fs: files"),
        (
            "use std::{\n    env,\n    path::Path,\n};",
            "std::env: environment",
        ),
        ("fn f() { std::fs::read(p); }", "std::fs::read: files"),
        (
            "fn f() { assert!(std::fs::read(p).is_ok()); }",
            "std::fs::read: files",
        ),
        ("use ignore::WalkBuilder;", "ignore::WalkBuilder: files"),
        ("fn f() { tempfile::tempdir(); }", "tempfile::tempdir: files"),
        ("fn f(p: &Path) -> bool { p.is_dir() }", "p.is_dir(): files"),
        (
            "fn f(p: &Path) { assert!(p.join(x).exists()); }",
            ".exists(): files",
        ),
        (
            "fn f(p: &Path) { p.symlink_metadata()?.len(); }",
            "p.symlink_metadata(): files",
        ),
        (
            "use std::path::Path; const F: F = Path::try_exists;",
            "std::path::Path::try_exists: files",
        ),
        ("fn f() { gix::open(p); }", "gix::open: Git"),
        (
            "fn f() { notify::recommended_watcher(p); }",
            "notify::recommended_watcher: file events",
        ),
        ("use std::time::{Duration, Instant};", "std::time::Instant: clock"),
        (
            "use jiff::Timestamp; fn f() { Timestamp::now(); }",
            "jiff::Timestamp::now: clock",
        ),
        (
            "fn f() { std::process::Command::new(x); }",
            "std::process::Command::new: processes",
        ),
        (
            "use std::process; fn f() { process::exit(1) }",
            "std::process::exit: processes",
        ),
        (
            "use std::net::{IpAddr, TcpStream};",
            "std::net::TcpStream: network",
        ),
        (
            "use std::io::{self, IsTerminal as _};",
            "std::io::IsTerminal: terminal",
        ),
        ("use indicatif::ProgressBar;", "indicatif::ProgressBar: terminal"),
        ("use anstyle::Style;", "anstyle::Style: colors"),
        ("fn f() { println!(); }", "println!: standard streams"),
        ("fn f() { vec![dbg!(x)]; }", "dbg!: standard streams"),
        (
            "use std::io; fn f() { io::stdout().lock(); }",
            "std::io::stdout: standard streams",
        ),
    ] {
        assert_eq!(touched("src/upper.rs", text), [what], "{text}");
    }
    // Members of the workspace touch nothing; a room touches what its row says.
    assert_eq!(
        touched("crates/a-member/src/part.rs", "use std::fs; pub struct Part;"),
        ["std::fs: files"]
    );
    assert_eq!(
        touched("src/middle/shown.rs", "use std::{env, fs};"),
        ["std::env: environment"]
    );
    for text in [
        "use std::{fmt, io::{self, Write}, net::IpAddr, process::ExitCode, time::Duration};",
        "#[cfg(test)] mod tests { use std::fs; }",
        "struct Instant; fn f(is_dir: bool, fs: u8) { a_very_last_Instantiation() }",
        "// std::fs\nconst X: &str = \"std::fs\";",
    ] {
        assert_eq!(touched("src/upper.rs", text), [""; 0], "{text}");
    }
}

#[test]
fn an_excuse_holds_for_one_call_and_no_longer_than_that_call() {
    let friends = [FalseFriend {
        file: "src/upper.rs",
        on: "files",
        method: "is_dir",
    }];
    let wrong = |text| rules::touches(&graph(&[("src/upper.rs", text)]), &rooms(), &friends);
    assert_eq!(wrong("fn f() { files.is_dir(p) }"), BTreeSet::new());
    assert_eq!(wrong("fn f() { files.is_dir(p) && p.is_dir() }").len(), 1);
    assert_eq!(
        wrong("fn f() {}"),
        BTreeSet::from(["src/upper.rs calls no files.is_dir() any more".to_owned()])
    );
}

#[test]
fn files_that_import_each_other_are_refused_inside_a_room_across_rooms_and_in_a_crate() {
    let circle = |changed: &[(&str, &str)]| -> Vec<String> {
        let circles = rules::circles(&graph(changed));
        circles.into_iter().map(|circle| circle.text).collect()
    };
    assert_eq!(
        circle(&[
            (
                "src/middle/hidden.rs",
                "use super::shown::Thing; pub struct Item; pub fn item() {}"
            ),
            ("src/middle/shown.rs", "use super::Item; pub enum Thing {}"),
        ]),
        [
            "  src/middle/hidden.rs -> src/middle/shown.rs: Thing\n  src/middle/shown.rs -> src/middle/hidden.rs: Item\n"
        ]
    );
    let across = rules::circles(&graph(&[
        ("src/upper.rs", "pub fn high() { crate::middle::item() }"),
        (
            "src/middle/hidden.rs",
            "pub struct Item; pub fn item() { crate::upper::high() }",
        ),
    ]));
    assert_eq!(across.len(), 1);
    assert_eq!(
        across[0].files,
        ["src/middle/hidden.rs", "src/upper.rs"].map(PathBuf::from).into()
    );
    // Three files, one of them mod.rs with an item of its own.
    assert_eq!(
        circle(&[
            (
                "src/middle/mod.rs",
                "mod hidden; pub mod shown; pub use hidden::Item; pub struct Own(hidden::Item);"
            ),
            (
                "src/middle/hidden.rs",
                "use super::shown::Thing; pub struct Item;"
            ),
            ("src/middle/shown.rs", "use super::Own; pub enum Thing {}"),
        ])
        .len(),
        1
    );
    assert_eq!(
        circle(&[
            (
                "crates/a-member/src/lib.rs",
                "mod part; pub struct Whole(part::Part);"
            ),
            (
                "crates/a-member/src/part.rs",
                "use crate::Whole; pub struct Part;"
            ),
        ])
        .len(),
        1
    );
}

#[test]
fn a_module_may_hand_up_what_its_files_hold_and_hold_what_they_share() {
    let shared = graph(&[
        (
            "src/middle/mod.rs",
            "mod hidden; pub mod shown; pub use hidden::Item; pub struct Own;",
        ),
        ("src/middle/hidden.rs", "use super::Own; pub struct Item;"),
    ]);
    assert_eq!(rules::circles(&shared), []);
    // To import a module is no tie; to name what it holds is one.
    let module = graph(&[
        (
            "src/middle/hidden.rs",
            "use super::shown; pub struct Item; pub fn item() {}",
        ),
        (
            "src/middle/shown.rs",
            "use super::item; fn f() { item() } pub enum Thing {}",
        ),
    ]);
    assert_eq!(rules::circles(&module), []);
    let named = graph(&[
        (
            "src/middle/hidden.rs",
            "use super::shown; pub struct Item; pub fn item(_: shown::Thing) {}",
        ),
        (
            "src/middle/shown.rs",
            "use super::item; fn f() { item() } pub enum Thing {}",
        ),
    ]);
    assert_eq!(rules::circles(&named).len(), 1);
}
