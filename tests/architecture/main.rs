//! The walls of docs/architecture.md: which file may import which, what each room must not know, and who may touch
//! files, the environment, the clock, terminals and other programs. The tables of that page are the data.
//!
//! `graph` follows every name to the file that defines it, `rules` says what the graph must be, `table` reads the
//! page, and `proofs` breaks each wall once.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

mod graph;
mod proofs;
mod rules;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use graph::{Foreign, Graph};
use kube_json::Value;
use rules::FalseFriend;
use table::{Member, Room};

/// Methods that have the name of one of `Path`, and do not touch the disk.
const FALSE_FRIENDS: &[FalseFriend] = &[
    // `source` looks, on disk or in Git.
    FalseFriend {
        file: "src/pipeline/inputs.rs",
        on: "there",
        method: "is_dir",
    },
    FalseFriend {
        file: "src/pipeline/inputs.rs",
        on: "files",
        method: "is_dir",
    },
    FalseFriend {
        file: "src/pipeline/request.rs",
        on: "files",
        method: "is_dir",
    },
];

#[test]
fn no_room_imports_one_that_stands_below_it() {
    none(&rules::order(graph(), &rooms()));
}

#[test]
fn no_room_imports_what_it_must_not_know() {
    none(&rules::ignorance(graph(), &rooms()));
}

#[test]
fn files_environment_clock_network_programs_and_terminals_are_touched_only_where_the_table_says_so() {
    none(&rules::touches(graph(), &rooms(), FALSE_FRIENDS));
}

/// Text of the input that reaches a terminal or a log has passed one function each: who prints in another way goes around
/// it.
#[test]
fn json_and_lines_on_stderr_are_printed_in_one_place_each() {
    let places = [
        (
            "to_string_pretty",
            &["crates/ocm-hub/src/diagnostic/format.rs"][..],
        ),
        (
            "to_writer_pretty",
            &["crates/ocm-hub/src/diagnostic/format.rs"][..],
        ),
        // A page is data in memory, which is escaped before anybody sees it.
        ("to_writer", &["src/report/page/html.rs"]),
        // `argocd` prints findings, and `progress` words of its own.
        (
            "stderr",
            &["src/cli/print.rs", "src/cli/argocd.rs", "src/cli/progress.rs"],
        ),
    ];
    let around = graph().foreign.iter().filter_map(|used| {
        let Foreign::Path(path) = &used.what else {
            return None;
        };
        let file = used.file.to_str()?;
        let name = path.rsplit("::").next()?;
        let (_, allowed) = places.iter().find(|(known, _)| *known == name)?;
        let is_around = !allowed.contains(&file);
        is_around.then(|| format!("{file}:{} {path} goes around {allowed:?}", used.line))
    });
    none(&around.collect());
}

/// A path that is joined may leave its directory, and one that was checked may lead elsewhere when it is opened: what stands
/// below a directory is opened and changed in one file, which has the directory open.
#[test]
fn files_are_opened_listed_and_changed_in_one_place() {
    let places = [
        // What a shell has opened already, and names by its descriptor.
        ("crates/ocm-hub/src/source/disk.rs", "std::fs::File::open"),
        // A file that the command line names, where the shell has opened what is written to.
        ("src/cli/reporting.rs", "std::fs::File::create"),
    ];
    let only_look = ["canonicalize", "metadata", "symlink_metadata"];
    let types = [
        "File",
        "FileType",
        "Metadata",
        "Permissions",
        "TryLockError",
        "MetadataExt",
    ];
    let mut met = BTreeSet::new();
    let mut wrong = BTreeSet::new();
    for used in &graph().foreign {
        let file = used.file.to_string_lossy();
        let what = match &used.what {
            Foreign::Path(path) => {
                let std = ["std::fs::", "std::os::unix::fs::"];
                let std = std.iter().find_map(|module| path.strip_prefix(module));
                let mut parts = std.into_iter().flat_map(|rest| rest.split("::"));
                let (first, second) = (parts.next().unwrap_or_default(), parts.next());
                let is_type = types.contains(&first) && (first != "File" || second.is_none());
                let is_harmless = only_look.contains(&first) || is_type;
                let is_dir = ["cap_std", "cap_fs_ext", "tempfile"]
                    .iter()
                    .any(|name| path.starts_with(name));
                if !(is_dir || (std.is_some() && !is_harmless)) {
                    continue;
                }
                path.clone()
            }
            Foreign::Method { on, name } if ["read_dir", "read_link"].contains(&name.as_str()) => {
                format!("{on}.{name}()")
            }
            _ => continue,
        };
        if file == "crates/ocm-hub/src/sandbox.rs" {
            continue;
        }
        if let Some(place) = places.iter().find(|place| **place == (&*file, &*what)) {
            met.insert(*place);
        } else {
            wrong.insert(format!(
                "{file}:{} uses {what}, and not crates/ocm-hub/src/sandbox.rs",
                used.line
            ));
        }
    }
    none(&wrong);
    assert_eq!(met, BTreeSet::from(places), "what is allowed, and what is used");
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let circles = rules::circles(graph());
    none(
        &circles
            .iter()
            .map(|circle| format!("{} files:\n{}", circle.files.len(), circle.text))
            .collect(),
    );
}

#[test]
fn every_path_is_followed_to_a_file_of_ours_or_to_a_dependency() {
    let mut known: BTreeSet<String> = ["std", "core", "clippy", "rustfmt"].map(str::to_owned).into();
    let primitives = "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize";
    known.extend(primitives.split(' ').map(str::to_owned));
    known.extend(dependencies().iter().map(|name| name.replace('-', "_")));
    let lost = graph().foreign.iter().filter_map(|used| {
        let Foreign::Path(path) = &used.what else {
            return None;
        };
        let first = path.split("::").next()?;
        // Type parameters, `Self` and the prelude are written large.
        let is_lost = first.starts_with(char::is_lowercase) && !known.contains(first);
        is_lost.then(|| format!("{}:{} {path}: where is that?", used.file.display(), used.line))
    });
    none(&lost.collect());
}

#[test]
fn the_tables_name_every_room_every_crate_and_nothing_else() {
    let (rooms, members) = (rooms(), members());
    let mut present: BTreeSet<String> = graph().files.keys().map(|file| rules::room(file)).collect();
    present.extend(rules::CRATES_OF_ROOMS.map(str::to_owned));
    let written: BTreeSet<String> = rooms
        .iter()
        .map(|room| room.name.clone())
        .chain(members.iter().map(|member| member.name.clone()))
        .chain(["lib", "main"].map(str::to_owned))
        .collect();
    assert_eq!(
        written, present,
        "the tables of docs/architecture.md, and what src/ and crates/ hold"
    );
    let dependencies = dependencies();
    let apis: BTreeSet<&str> = rules::APIS.iter().map(|api| api.name).collect();
    for (at, room) in rooms.iter().enumerate() {
        for name in &room.must_not_know {
            let is_above = rooms.iter().take(at).any(|room| room.name == *name);
            assert!(
                is_above || dependencies.contains(name.as_str()),
                "`{}` must not know `{name}`: no room above it and no dependency (what is below is forbidden anyway)",
                room.name
            );
        }
        for name in &room.touches {
            assert!(
                apis.contains(name.as_str()),
                "`{}` touches {name}, which is none of {apis:?}",
                room.name
            );
        }
    }
}

#[test]
fn a_member_of_the_workspace_depends_on_no_other_than_the_table_allows() {
    let packages = metadata();
    let members = members();
    let own: BTreeSet<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().expect("a name"))
        .collect();
    let mut wrong = BTreeSet::new();
    for package in packages.iter().filter(|package| package["name"] != "spokewright") {
        let name = package["name"].as_str().expect("a name");
        let may_use = members
            .iter()
            .find(|member| member.name == name)
            .map(|member| member.may_use.as_slice());
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let is_for_tests = dependency["kind"] == "dev";
            let dependency = dependency["name"].as_str().expect("a name");
            let is_named = may_use.is_some_and(|names| names.iter().any(|name| name == dependency));
            // Tests may use what they like, but the root.
            let is_allowed = is_named || is_for_tests && dependency != "spokewright";
            if own.contains(dependency) && !is_allowed {
                wrong.insert(format!("{name} depends on {dependency}"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn every_member_of_the_workspace_is_held_by_its_lints() {
    let manifests = metadata()
        .iter()
        .filter_map(|package| package["manifest_path"].as_str());
    let without = manifests.filter(|manifest| {
        let text = fs::read_to_string(manifest).expect("Cargo.toml");
        !text.contains("\n[lints]\nworkspace = true\n")
    });
    none(&without.map(str::to_owned).collect());
}

#[test]
fn every_source_file_begins_by_saying_what_it_is_for() {
    // The page of a crate is its README; what the crate owns follows.
    let begins = |text: &str| {
        let rest = text.strip_prefix("#![doc = include_str!(\"../README.md\")]\n//!\n");
        rest.unwrap_or(text).starts_with("//! ")
    };
    let silent = graph().files.iter().filter(|(_, text)| !begins(text));
    none(
        &silent
            .map(|(file, _)| format!("{}: no `//!` at the top", file.display()))
            .collect(),
    );
}

#[test]
fn every_file_of_src_belongs_to_a_crate_or_to_its_tests() {
    let graph = graph();
    let is_known = |file: &Path| {
        let is_test = |tests: &PathBuf| file.with_extension("") == *tests || file.starts_with(tests);
        graph.files.contains_key(file) || graph.tests.iter().any(is_test)
    };
    let mut unknown = BTreeSet::new();
    let places = crates()
        .into_iter()
        .map(|(_, file)| PathBuf::from(file).parent().expect("a directory").to_owned());
    for file in places.flat_map(|place| files(&root().join(place))) {
        let file = file.strip_prefix(root()).expect("below the root");
        if file.extension().is_some_and(|extension| extension == "rs") && !is_known(file) {
            unknown.insert(format!("{}: no `mod` names it", file.display()));
        }
    }
    none(&unknown);
}

/// rustc does not say so: what clap derives for a field counts as reading it.
#[test]
fn every_option_is_read() {
    let sources = files(&root().join("src/cli"));
    let texts: Vec<String> = sources
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut options: BTreeSet<String> = BTreeSet::new();
    for text in &texts {
        for item in syn::parse_file(text).unwrap().items {
            let syn::Item::Struct(item) = item else { continue };
            let derives = item.attrs.iter().map(|attribute| match &attribute.meta {
                syn::Meta::List(list) => list.tokens.to_string(),
                _ => String::new(),
            });
            if derives
                .into_iter()
                .any(|derived| derived.contains("Args") || derived.contains("Parser"))
            {
                options.extend(
                    item.fields
                        .iter()
                        .filter_map(|field| Some(field.ident.as_ref()?.to_string())),
                );
            }
        }
    }
    let is_read = |option: &String| {
        let access = format!(".{option}");
        texts.iter().any(|text| {
            text.match_indices(&access).any(|(start, _)| {
                let next = text[start + access.len()..].chars().next();
                !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
            })
        })
    };
    assert!(options.len() > 40, "{options:?}");
    let unread: Vec<&String> = options.iter().filter(|option| !is_read(option)).collect();
    assert!(unread.is_empty(), "no code reads these options: {unread:?}");
}

#[test]
fn no_path_of_a_developer_s_machine_stands_in_the_project() {
    let mut wrong = Vec::new();
    let places = [
        ".ci",
        "benches",
        "crates",
        "docs",
        "examples",
        "fixtures",
        "schemas",
        "src",
        "tests",
        "CHANGELOG.md",
        "Cargo.toml",
        "README.md",
        "clippy.toml",
        "deny.toml",
    ];
    for place in places.map(|place| root().join(place)) {
        let found = if place.is_dir() {
            files(&place)
        } else {
            vec![place]
        };
        for path in found {
            let text = fs::read_to_string(&path).unwrap_or_default();
            for start in ["home", "work", "farm", "root", "Users"].map(|name| format!("/{name}/")) {
                let named = text.match_indices(&start).any(|(at, _)| {
                    // Argo CD's own home is part of its contract.
                    if text
                        .get(at..)
                        .is_some_and(|rest| rest.starts_with("/home/argocd/"))
                    {
                        return false;
                    }
                    // Relative paths are none: a machine's path begins a word.
                    text.get(..at)
                        .and_then(|before| before.chars().next_back())
                        .is_none_or(|before| " \"'`(=:\n".contains(before))
                });
                if named {
                    wrong.push(format!("{} names {start}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fails with all complaints.
fn none(wrong: &BTreeSet<String>) {
    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// The graph of src/ and crates/.
fn graph() -> &'static Graph {
    static GRAPH: OnceLock<Graph> = OnceLock::new();
    GRAPH.get_or_init(|| {
        let crates = crates();
        let roots: Vec<(&str, &str)> = crates
            .iter()
            .map(|(name, file)| (name.as_str(), file.as_str()))
            .collect();
        Graph::read(&roots, &|path| fs::read_to_string(root().join(path)).ok())
    })
}

/// Each crate of the workspace, as code names it, and the file it begins with; the library before the binary.
fn crates() -> Vec<(String, String)> {
    let mut crates = vec![
        ("spokewright".to_owned(), "src/lib.rs".to_owned()),
        ("spokewright".to_owned(), "src/main.rs".to_owned()),
    ];
    let members = metadata().iter().filter_map(|package| package["name"].as_str());
    crates.extend(
        members
            .filter(|name| *name != "spokewright")
            .map(|name| (name.replace('-', "_"), format!("crates/{name}/src/lib.rs"))),
    );
    crates
}

/// The members without code of the program: one only has dependencies (.ci/dependencies/Cargo.toml), the others are for
/// tests.
const WITHOUT_CODE: [&str; 3] = ["agreement", "all-dependencies", "test-crds"];

/// The packages of the workspace that have code, as Cargo reads them.
fn metadata() -> &'static [Value] {
    static PACKAGES: OnceLock<Vec<Value>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
            .current_dir(root())
            .output()
            .expect("cargo");
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata");
        let mut packages = metadata["packages"].as_array().expect("packages").clone();
        packages.retain(|package| WITHOUT_CODE.iter().all(|name| package["name"] != *name));
        packages
    })
}

/// The names of all direct dependencies.
fn dependencies() -> BTreeSet<&'static str> {
    let dependencies = metadata()
        .iter()
        .flat_map(|package| package["dependencies"].as_array().expect("dependencies"));
    dependencies
        .map(|dependency| dependency["name"].as_str().expect("a name"))
        .collect()
}

fn page() -> String {
    fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md")
}

fn rooms() -> Vec<Room> {
    table::rooms(&page())
}

fn members() -> Vec<Member> {
    table::members(&page())
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else {
        return found;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
