//! What the import graph must be. Each rule returns its complaints, one a violation.
//!
//! Owns: the rules, and the names of what reaches outside of the process. Flows in: a graph, and the tables of
//! docs/architecture.md. Flows out: complaints. Must not know: how files are parsed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::graph::{Arrow, Foreign, Graph, Kind};
use crate::table::Room;

/// What of the outside world code can touch, by the names that reach it. Whatever is called through a method is
/// found by the method's name, on any receiver.
pub(crate) struct Api {
    pub(crate) name: &'static str,
    /// Paths, and all below them; a single name is a crate.
    paths: &'static [&'static str],
    methods: &'static [&'static str],
    macros: &'static [&'static str],
}

/// Methods of `Path` that look at the disk; those of the same name of `Metadata` and `FileType` come from there.
const DISK: &[&str] = &[
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "is_symlink",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

pub(crate) const APIS: &[Api] = &[
    Api {
        name: "files",
        paths: &[
            "std::fs",
            "std::os::unix::fs",
            "std::os::windows::fs",
            "tempfile",
            "ignore",
            "cap_std",
            "cap_fs_ext",
        ],
        methods: DISK,
        macros: &[],
    },
    Api {
        name: "Git",
        paths: &["gix"],
        methods: &[],
        macros: &[],
    },
    Api {
        name: "file events",
        paths: &["notify"],
        methods: &[],
        macros: &[],
    },
    Api {
        name: "environment",
        paths: &["std::env"],
        methods: &[],
        macros: &[],
    },
    Api {
        name: "clock",
        paths: &[
            "std::time::Instant",
            "std::time::SystemTime",
            "std::thread::sleep",
            "jiff::Timestamp::now",
            "jiff::Zoned::now",
            "jiff::tz::TimeZone::system",
        ],
        methods: &[],
        macros: &[],
    },
    Api {
        name: "processes",
        paths: &[
            "std::process::Command",
            "std::process::abort",
            "std::process::exit",
            "std::os::unix::process",
        ],
        methods: &[],
        macros: &[],
    },
    Api {
        name: "network",
        paths: &[
            "std::net::TcpListener",
            "std::net::TcpStream",
            "std::net::ToSocketAddrs",
            "std::net::UdpSocket",
            "std::os::unix::net",
        ],
        methods: &[],
        macros: &[],
    },
    Api {
        name: "terminal",
        paths: &["std::io::IsTerminal", "terminal_size", "indicatif"],
        methods: &["is_terminal"],
        macros: &[],
    },
    Api {
        name: "colors",
        paths: &["anstyle"],
        methods: &[],
        macros: &[],
    },
    Api {
        name: "standard streams",
        paths: &["std::io::stdin", "std::io::stdout", "std::io::stderr"],
        methods: &[],
        macros: &["dbg", "eprint", "eprintln", "print", "println"],
    },
];

/// A method that is called like one of the disk and is another's.
pub(crate) struct FalseFriend {
    pub(crate) file: &'static str,
    /// The variable or value that it is called on.
    pub(crate) on: &'static str,
    pub(crate) method: &'static str,
}

/// The members of the workspace that hold rooms, as src/ does.
pub(crate) const CRATES_OF_ROOMS: [&str; 2] = ["ocm-hub", "policy-sync"];

/// The room of a file: a folder or a file of src/ or of a crate of rooms, `lib`, `main`, or the name of another member of
/// the workspace.
pub(crate) fn room(file: &Path) -> String {
    let mut parts = file.iter().map(|part| part.to_string_lossy());
    let place = parts.next();
    let name = parts.next().unwrap_or_default();
    let of_rooms = CRATES_OF_ROOMS.contains(&&*name).then(|| parts.nth(1)).flatten();
    match (place.as_deref(), of_rooms) {
        (Some("src"), _) => name.trim_end_matches(".rs").to_owned(),
        (_, Some(room)) => room.trim_end_matches(".rs").to_owned(),
        (_, None) => name.into_owned(),
    }
}

/// Whether it belongs to a member that holds no rooms.
fn is_member(file: &Path) -> bool {
    let is_of_rooms = |name: &&str| file.starts_with(Path::new("crates").join(name));
    file.starts_with("crates") && !CRATES_OF_ROOMS.iter().any(is_of_rooms)
}

/// No room imports one below it; main knows the command line only; members of the workspace know nothing of src/.
pub(crate) fn order(graph: &Graph, rooms: &[Room]) -> BTreeSet<String> {
    let rank = |name: &str| rooms.iter().position(|room| room.name == name);
    let mut wrong = BTreeSet::new();
    for file in graph.files.keys().filter(|file| !is_member(file)) {
        let name = room(file);
        if rank(&name).is_none() && !matches!(name.as_str(), "lib" | "main") {
            wrong.insert(format!(
                "{}: `{name}` has no row in the table of rooms",
                file.display()
            ));
        }
    }
    for arrow in &graph.arrows {
        let (from, to) = (room(&arrow.from), room(&arrow.to));
        let is_wrong = if from == to || from == "lib" {
            false
        } else if is_member(&arrow.from) {
            !is_member(&arrow.to)
        } else if from == "main" {
            to != "cli"
        } else {
            !is_member(&arrow.to) && rank(&from) < rank(&to).or(Some(rooms.len()))
        };
        if is_wrong {
            wrong.insert(complaint(arrow));
        }
    }
    wrong
}

/// No room imports what the table says that it must not know.
pub(crate) fn ignorance(graph: &Graph, rooms: &[Room]) -> BTreeSet<String> {
    let must_not: BTreeMap<&str, &[String]> = rooms
        .iter()
        .map(|room| (room.name.as_str(), room.must_not_know.as_slice()))
        .collect();
    let is_kept_from = |file: &Path, to: &str| {
        must_not
            .get(room(file).as_str())
            .is_some_and(|names| names.iter().any(|name| name == to))
    };
    let inside = graph
        .arrows
        .iter()
        .filter(|arrow| is_kept_from(&arrow.from, &room(&arrow.to)))
        .map(complaint);
    let outside = graph.foreign.iter().filter_map(|used| {
        let Foreign::Path(path) = &used.what else {
            return None;
        };
        let name = path.split("::").next().unwrap_or_default().replace('_', "-");
        is_kept_from(&used.file, &name).then(|| format!("{}:{} uses {path}", used.file.display(), used.line))
    });
    inside.chain(outside).collect()
}

/// A room touches of the outside world only what the table says; members of the workspace touch nothing.
pub(crate) fn touches(graph: &Graph, rooms: &[Room], friends: &[FalseFriend]) -> BTreeSet<String> {
    let mut wrong = BTreeSet::new();
    let mut met = BTreeSet::new();
    for used in &graph.foreign {
        let own = room(&used.file);
        let may = |api: &Api| {
            !is_member(&used.file)
                && rooms
                    .iter()
                    .any(|room| room.name == own && room.touches.iter().any(|name| name == api.name))
        };
        for api in APIS.iter().filter(|api| !may(api)) {
            let what = match &used.what {
                Foreign::Path(path) if reaches(api, path) => path.clone(),
                Foreign::Method { on, name } if api.methods.contains(&name.as_str()) => {
                    let is_friend = |friend: &FalseFriend| {
                        used.file == Path::new(friend.file) && *on == friend.on && *name == friend.method
                    };
                    if let Some(at) = friends.iter().position(is_friend) {
                        met.insert(at);
                        continue;
                    }
                    format!("{on}.{name}()")
                }
                Foreign::Macro(name) if api.macros.contains(&name.as_str()) => format!("{name}!"),
                _ => continue,
            };
            wrong.insert(format!(
                "{}:{} uses {what}: {}",
                used.file.display(),
                used.line,
                api.name
            ));
        }
    }
    let gone = friends.iter().enumerate().filter(|(at, _)| !met.contains(at));
    wrong.extend(
        gone.map(|(_, gone)| format!("{} calls no {}.{}() any more", gone.file, gone.on, gone.method)),
    );
    wrong
}

/// Whether a path leads into an API: by its own names, or as `std::path::Path::exists`.
fn reaches(api: &Api, path: &str) -> bool {
    let path = match path.split_once("::") {
        Some(("core" | "alloc", rest)) => format!("std::{rest}"),
        _ => path.to_owned(),
    };
    let by_name = api.paths.iter().any(|name| {
        path.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    });
    let as_function = ["std::path::Path::", "std::path::PathBuf::"]
        .iter()
        .find_map(|of| path.strip_prefix(of))
        .is_some_and(|method| api.methods.contains(&method));
    by_name || as_function
}

/// Files that import each other, and the names that tie them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Circle {
    pub(crate) files: BTreeSet<PathBuf>,
    pub(crate) text: String,
}

/// The circles of files. That a module hands up what the files of its folder hold is no import.
pub(crate) fn circles(graph: &Graph) -> Vec<Circle> {
    let mut ties: BTreeMap<&Path, BTreeMap<&Path, BTreeSet<&str>>> = BTreeMap::new();
    for arrow in &graph.arrows {
        let is_tie = match arrow.kind {
            Kind::Import | Kind::Mention => true,
            Kind::Reexport => !arrow.to_descendant,
            Kind::Module => false,
        };
        if is_tie {
            let names = ties.entry(&arrow.from).or_default().entry(&arrow.to).or_default();
            names.insert(&arrow.name);
        }
    }
    let reached = |start: &Path| {
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let mut open: Vec<&Path> = vec![start];
        while let Some(file) = open.pop() {
            for to in ties.get(file).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(to.to_path_buf()) {
                    open.push(to);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&Path, BTreeSet<PathBuf>> = ties.keys().map(|file| (*file, reached(file))).collect();
    let mut found: Vec<Circle> = Vec::new();
    for (file, _) in reach.iter().filter(|(file, reached)| reached.contains(**file)) {
        if found.iter().any(|circle| circle.files.contains(*file)) {
            continue;
        }
        let files: BTreeSet<PathBuf> = reach[file]
            .iter()
            .filter(|other| {
                reach
                    .get(other.as_path())
                    .is_some_and(|back| back.contains(*file))
            })
            .cloned()
            .collect();
        let mut text = String::new();
        for from in &files {
            for (to, names) in ties[from.as_path()].iter().filter(|(to, _)| files.contains(**to)) {
                let names: Vec<&str> = names.iter().copied().collect();
                text += &format!("  {} -> {}: {}\n", from.display(), to.display(), names.join(", "));
            }
        }
        found.push(Circle { files, text });
    }
    found
}

fn complaint(arrow: &Arrow) -> String {
    let Arrow {
        from, to, name, line, ..
    } = arrow;
    format!("{}:{line} imports {name} of {}", from.display(), to.display())
}
