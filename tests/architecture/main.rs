//! The walls of docs/architecture.md inside the crates: which room may import which, what each room must not know, and who
//! may touch files, the environment, the clock, terminals, and other programs. The tables of that page are the data; the
//! compiler enforces the direction between crates. Beside them, what comes in from outside, and what pages cite.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

mod citations;
mod dependencies;
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
        // The test of the table finds what has no row.
        let Some(at) = rank(&room(&source.file)) else {
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
    none(wrong);
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
        for (name, paths) in OUTSIDE {
            let may = room.is_some_and(|room| room.touches.iter().any(|touched| touched == name));
            let is_friend = |path: &str| NOT_OF_PATH.contains(&(&source.file, path));
            let touched = source.naming(paths).filter(|(_, path)| !may && !is_friend(path));
            wrong.extend(touched.map(|(line, path)| format!("{}:{line} uses {path}: {name}", source.file)));
        }
    }
    none(wrong);
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
    for source in Source::all(&root())
        .iter()
        .filter(|source| source.file != sandbox)
    {
        for (names, files) in places.iter().filter(|(_, files)| !files.contains(&*source.file)) {
            let around = source.naming(names);
            wrong.extend(
                around.map(|(line, path)| format!("{}:{line} {path} goes around {files}", source.file)),
            );
        }
    }
    none(wrong);
}

#[test]
fn the_table_names_every_room_and_only_what_there_is() {
    let rooms = rooms();
    let sources = Source::all(&root());
    let present = sources
        .iter()
        .filter(|source| !is_member(&source.file))
        .map(|source| room(&source.file));
    let written = rooms.iter().map(|room| room.name.clone());
    let written: BTreeSet<String> = written.chain(["lib", "main"].map(str::to_owned)).collect();
    assert_eq!(
        written,
        present.collect(),
        "the table of docs/architecture.md, and the folders"
    );
    let known = OUTSIDE.map(|(name, _)| name);
    let touched = rooms.into_iter().flat_map(|room| room.touches);
    none(touched.filter(|touched| !known.contains(&touched.as_str())));
}

#[test]
fn every_source_file_says_what_it_is_for_and_is_named_by_a_module() {
    let sources = Source::all(&root());
    let mut wrong = BTreeSet::new();
    for Source { file, text, .. } in &sources {
        if !text.starts_with("//! ")
            && !text.starts_with("#![doc = include_str!(\"../README.md\")]\n//!\n//! ")
        {
            wrong.insert(format!("{file}: no `//!` at the top"));
        }
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        let named = format!("mod {};", path.rsplit('/').next().unwrap());
        let is_root = ["mod lib;", "mod main;"].contains(&&*named);
        if !is_root && !sources.iter().any(|source| source.text.contains(&named)) {
            wrong.insert(format!("{file}: no `mod` names it"));
        }
    }
    none(wrong);
}

/// rustc does not say so: what clap derives for a field counts as reading it.
#[test]
fn every_option_is_read() {
    let sources = Source::all(&root());
    let sources = sources
        .iter()
        .filter(|source| source.file.starts_with("src/cli/"));
    let text: String = sources.map(|source| source.text.as_str()).collect();
    let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let derived = text.split("\n#[derive(").filter(|item| {
        let derived = item.lines().next().unwrap_or_default();
        derived.contains("Args") || derived.contains("Parser")
    });
    let lines = derived.flat_map(|item| item.split("\n}\n").next().unwrap_or_default().lines());
    let fields = lines.filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
    let names = fields.map(|(name, _)| name.trim_start_matches("pub(crate) "));
    let options: BTreeSet<&str> = names.filter(|name| name.chars().all(is_of_name)).collect();
    assert!(options.len() > 40, "{options:?}");
    let read: BTreeSet<&str> = text
        .split('.')
        .skip(1)
        .map(|rest| {
            rest.split(|letter| !is_of_name(letter))
                .next()
                .unwrap_or_default()
        })
        .collect();
    none(options.difference(&read).map(ToString::to_string));
}

#[test]
fn no_path_of_a_developer_s_machine_is_in_the_project() {
    let places = ".ci benches crates docs examples fixtures schemas src tests CHANGELOG.md Cargo.toml README.md clippy.toml \
                  deny.toml";
    let starts = ["home", "work", "farm", "root", "Users"].map(|name| format!("/{name}/"));
    let mut wrong = BTreeSet::new();
    for path in places.split(' ').flat_map(|place| files(&root().join(place))) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        // Argo CD's own home is part of its contract. A relative path is none of a machine, which begins a word.
        let words = text.split([' ', '"', '\'', '`', '(', '=', ':', '\n']);
        let words = words.filter(|word| {
            !word.starts_with("/home/argocd/") && starts.iter().any(|start| word.starts_with(start))
        });
        wrong.extend(words.map(|word| format!("{}: {word}", path.display())));
    }
    none(wrong);
}

/// The room of a file: a folder or a file of `src/`, or of a crate of rooms.
fn room(file: &str) -> String {
    let (_, inside) = file.split_once("src/").unwrap();
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
    let rows = rows_below(&read("docs/architecture.md"), "| room |").into_iter();
    let quoted = |cell: &str| {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let rooms = rows.map(|row| Room {
        name: quoted(&row[1]).remove(0),
        must_not_know: quoted(&row[3]),
        touches: row[4]
            .split(", ")
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    });
    rooms.collect()
}

/// The cells of each row of the table whose head begins like this.
fn rows_below(page: &str, head: &str) -> Vec<Vec<String>> {
    let rows = page.lines().skip_while(|line| !line.starts_with(head));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// Fails with all complaints.
fn none(wrong: impl IntoIterator<Item = String>) {
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// All files at and below a path, sorted, without what Cargo builds.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return vec![path.to_owned()];
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("target"));
    paths.sort();
    paths.iter().flat_map(|path| files(path)).collect()
}
