//! The walls of docs/architecture.md inside the crates: which room may import which, what each room must not know, and who
//! may touch files, the environment, the clock, terminals, and other programs. The tables of that page are the data; the
//! compiler enforces the direction between crates.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

mod source;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use source::Source;

/// The crates that have rooms, as `src/` has.
const CRATES_OF_ROOMS: [&str; 2] = ["ocm-hub", "policy-sync"];

/// What of the outside world code can touch, and the paths, methods, and macros by which it does.
const OUTSIDE: [(&str, &str); 9] = [
    (
        "files",
        "std::fs std::os::unix::fs std::os::windows::fs tempfile ignore cap_std cap_fs_ext .canonicalize .exists .is_dir \
         .is_file .is_symlink .metadata .read_dir .read_link .symlink_metadata .try_exists",
    ),
    ("Git", "gix"),
    ("file events", "notify"),
    ("environment", "std::env"),
    (
        "clock",
        "std::time::Instant std::time::SystemTime std::thread::sleep jiff::Timestamp::now jiff::Zoned::now \
         jiff::tz::TimeZone::system",
    ),
    (
        "processes and the network",
        "std::process::Command std::process::abort std::process::exit std::os::unix::process std::net::TcpListener \
         std::net::TcpStream std::net::ToSocketAddrs std::net::UdpSocket std::os::unix::net",
    ),
    (
        "terminal",
        "std::io::IsTerminal terminal_size indicatif .is_terminal",
    ),
    ("colors", "anstyle"),
    (
        "standard streams",
        "std::io::stdin std::io::stdout std::io::stderr dbg! eprint! eprintln! print! println!",
    ),
];

/// Methods that are called like one of `Path`, and do not touch the disk: `source` looks, on disk or in Git, and CEL has an
/// `exists` of its own.
const NOT_OF_PATH: [(&str, &str); 3] = [
    ("src/pipeline/inputs.rs", ".is_dir"),
    ("src/pipeline/request.rs", ".is_dir"),
    ("src/render/manifest.rs", ".exists"),
];

/// A row of the table of rooms.
struct Room {
    name: String,
    must_not_know: Vec<String>,
    touches: Vec<String>,
}

#[test]
fn no_room_imports_one_that_is_below_it_or_that_it_must_not_know() {
    let rooms = rooms();
    let rank = |name: &str| rooms.iter().position(|room| room.name == name);
    let mut wrong = BTreeSet::new();
    for source in Source::all(&root()) {
        let own = room(&source.file);
        let Some(at) = rank(&own) else {
            if !is_member(&source.file) && own != "lib" && own != "main" {
                wrong.insert(format!(
                    "{}: `{own}` has no row in the table of rooms",
                    source.file
                ));
            }
            continue;
        };
        for (line, path) in &source.names {
            let mut parts = path.split("::");
            let first = parts.next().unwrap_or_default();
            let is_ours = ["crate", "spokewright", "ocm_hub", "policy_sync"].contains(&first);
            let name = if is_ours {
                parts.next().unwrap_or_default()
            } else {
                first
            };
            let is_below = is_ours && rank(name).is_some_and(|other| other > at);
            let is_unknown = rooms[at].must_not_know.contains(&name.replace('_', "-"));
            if is_below || (is_unknown && (is_ours || path.contains("::"))) {
                wrong.insert(format!("{}:{line} uses {path}", source.file));
            }
        }
    }
    none(&wrong);
}

#[test]
fn only_what_the_table_names_is_touched() {
    let rooms = rooms();
    let mut wrong = BTreeSet::new();
    for source in Source::all(&root()) {
        let own = room(&source.file);
        let room = rooms
            .iter()
            .find(|room| !is_member(&source.file) && room.name == own);
        let may = |name: &str| room.is_some_and(|room| room.touches.iter().any(|touched| touched == name));
        for (line, path) in &source.names {
            let touched = OUTSIDE
                .iter()
                .filter(|(_, names)| names.split(' ').any(|name| reaches(path, name)));
            let is_friend = NOT_OF_PATH.contains(&(&source.file, path));
            wrong.extend(
                touched
                    .filter(|(name, _)| !may(name) && !is_friend)
                    .map(|(name, _)| format!("{}:{line} uses {path}: {name}", source.file)),
            );
        }
    }
    none(&wrong);
}

/// A path that is joined may leave its directory, and one that was checked may lead elsewhere when it is opened. Text of the
/// input that reaches a terminal or a log has passed one function. Whoever does it in another way goes around these files.
#[test]
fn files_are_opened_and_texts_are_printed_in_one_place_each() {
    let sandbox = "crates/ocm-hub/src/sandbox.rs";
    let format = "crates/ocm-hub/src/diagnostic/format.rs";
    let places = [
        (
            "cap_std cap_fs_ext tempfile .read_dir .read_link std::fs::read std::fs::write std::fs::read_to_string \
             std::fs::read_dir std::fs::rename std::fs::copy std::fs::create_dir std::fs::create_dir_all \
             std::fs::remove_file std::fs::remove_dir std::fs::remove_dir_all std::fs::OpenOptions std::fs::hard_link \
             std::fs::set_permissions std::os::unix::fs::symlink std::fs::File::options std::fs::File::create_new",
            sandbox,
        ),
        // What a shell has opened already and names by its descriptor; a file that the command line names.
        ("std::fs::File::open", "crates/ocm-hub/src/source/disk.rs"),
        ("std::fs::File::create", "src/cli/reporting.rs"),
        (
            "serde_json::to_string_pretty serde_json::to_writer_pretty",
            format,
        ),
        // `argocd` prints findings, and `progress` a text of its own.
        (
            "std::io::stderr",
            "src/cli/print.rs src/cli/argocd.rs src/cli/progress.rs",
        ),
    ];
    let mut wrong = BTreeSet::new();
    for source in Source::all(&root()) {
        for (names, files) in places {
            let around = source
                .names
                .iter()
                .filter(|(_, path)| names.split(' ').any(|name| reaches(path, name)));
            let around = around.filter(|_| source.file != sandbox && !files.contains(source.file.as_str()));
            wrong.extend(
                around.map(|(line, path)| format!("{}:{line} {path} goes around {files}", source.file)),
            );
        }
    }
    none(&wrong);
}

#[test]
fn the_table_names_every_room_and_only_what_there_is() {
    let rooms = rooms();
    let sources = Source::all(&root());
    let present: BTreeSet<String> = sources
        .iter()
        .filter(|source| !is_member(&source.file))
        .map(|source| room(&source.file))
        .collect();
    let mut written: BTreeSet<String> = rooms.iter().map(|room| room.name.clone()).collect();
    written.extend(["lib", "main"].map(str::to_owned));
    assert_eq!(
        written, present,
        "the table of docs/architecture.md, and the folders"
    );
    let known: BTreeSet<&str> = OUTSIDE.iter().map(|(name, _)| *name).collect();
    for touched in rooms.iter().flat_map(|room| &room.touches) {
        assert!(known.contains(touched.as_str()), "{touched}");
    }
}

#[test]
fn every_source_file_says_what_it_is_for_and_is_named_by_a_module() {
    let sources = Source::all(&root());
    let texts: Vec<&str> = sources.iter().map(|source| source.text.as_str()).collect();
    let mut wrong = BTreeSet::new();
    for source in &sources {
        if !source
            .text
            .trim_start_matches("#![doc = include_str!(\"../README.md\")]\n//!\n")
            .starts_with("//! ")
        {
            wrong.insert(format!("{}: no `//!` at the top", source.file));
        }
        let path = Path::new(&source.file);
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let name = if stem == "mod" {
            path.parent().unwrap().file_name().unwrap().to_str().unwrap()
        } else {
            stem
        };
        let named = format!("mod {name};");
        if !["lib", "main"].contains(&stem) && !texts.iter().any(|text| text.contains(&named)) {
            wrong.insert(format!("{}: no `mod` names it", source.file));
        }
    }
    none(&wrong);
}

/// rustc does not say so: what clap derives for a field counts as reading it.
#[test]
fn every_option_is_read() {
    let sources: Vec<Source> = Source::all(&root())
        .into_iter()
        .filter(|source| source.file.starts_with("src/cli/"))
        .collect();
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && !"_.".contains(letter));
        words
            .flat_map(|word| word.split('.').skip(1))
            .map(str::to_owned)
            .collect()
    };
    let read: BTreeSet<String> = sources.iter().flat_map(|source| words(&source.text)).collect();
    let mut options = BTreeSet::new();
    for source in &sources {
        let structs = source.text.split("\n#[derive(").skip(1);
        for item in structs.filter(|item| {
            item.lines()
                .next()
                .is_some_and(|derived| derived.contains("Args") || derived.contains("Parser"))
        }) {
            let fields = item
                .split("\n}\n")
                .next()
                .unwrap()
                .lines()
                .filter_map(|line| line.strip_prefix("    "));
            let fields = fields.filter_map(|line| line.trim_start_matches("pub(crate) ").split_once(": "));
            let is_name = |name: &str| {
                name.chars()
                    .all(|letter| letter.is_ascii_lowercase() || letter == '_')
            };
            options.extend(
                fields
                    .filter(|(name, _)| is_name(name))
                    .map(|(name, _)| name.to_owned()),
            );
        }
    }
    assert!(options.len() > 40, "{options:?}");
    none(&options.difference(&read).cloned().collect());
}

#[test]
fn no_path_of_a_developer_s_machine_is_in_the_project() {
    let places = ".ci benches crates docs examples fixtures schemas src tests CHANGELOG.md Cargo.toml README.md clippy.toml \
                  deny.toml";
    let mut wrong = BTreeSet::new();
    for path in places.split(' ').flat_map(|place| files(&root().join(place))) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        // Argo CD's own home is part of its contract. A relative path is none of a machine, which begins a word.
        let words = text
            .split([' ', '"', '\'', '`', '(', '=', ':', '\n'])
            .filter(|word| !word.starts_with("/home/argocd/"));
        let starts = ["home", "work", "farm", "root", "Users"].map(|name| format!("/{name}/"));
        wrong.extend(
            words
                .filter(|word| starts.iter().any(|start| word.starts_with(start)))
                .map(|word| format!("{}: {word}", path.display())),
        );
    }
    none(&wrong);
}

/// Whether a path is what this names, or something of it; also as a function of `Path`.
fn reaches(path: &str, name: &str) -> bool {
    if let Some(method) = name.strip_prefix('.') {
        let as_function = ["std::path::Path::", "std::path::PathBuf::"].iter();
        let mut as_function = as_function.filter_map(|of| path.strip_prefix(of));
        return path == name || as_function.any(|function| function == method);
    }
    path.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The room of a file: a folder or a file of `src/`, or of a crate of rooms.
fn room(file: &str) -> String {
    let inside = file.split_once("src/").unwrap().1;
    inside
        .split('/')
        .next()
        .unwrap()
        .trim_end_matches(".rs")
        .to_owned()
}

/// Whether it belongs to a crate that has no rooms.
fn is_member(file: &str) -> bool {
    let mut with_rooms = CRATES_OF_ROOMS.iter();
    file.starts_with("crates/") && !with_rooms.any(|name| file.starts_with(&format!("crates/{name}/")))
}

/// The rooms, from the top down.
fn rooms() -> Vec<Room> {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| room |"));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    let quoted = |cell: &str| {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let rooms = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let touches = cells[4].split(',').map(|name| name.trim().to_owned());
        Room {
            name: quoted(cells[1]).remove(0),
            must_not_know: quoted(cells[3]),
            touches: touches.filter(|name| !name.is_empty()).collect(),
        }
    });
    rooms.collect()
}

/// Fails with all complaints.
fn none(wrong: &BTreeSet<String>) {
    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What is in a directory, sorted.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

/// All files at and below a path, sorted.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        entries(path).iter().flat_map(|entry| files(entry)).collect()
    } else {
        vec![path.to_owned()]
    }
}
