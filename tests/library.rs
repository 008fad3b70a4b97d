//! The library as somebody else uses it: the example does what the command does.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::fs;
use std::path::{Path, PathBuf};

use spokewright::diagnostic::{Finding, Findings, Locate as _, Place, Severity};
use spokewright::pipeline::{self, Loaded, Request};

#[path = "../examples/render.rs"]
#[allow(dead_code)]
mod example;

#[test]
fn the_example_of_the_library_writes_what_the_command_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let output = scratch.path().join("rendered");
    assert_eq!(
        example::render(root.join("examples/fleet"), output.clone()).unwrap(),
        0
    );
    let committed = root.join("examples/fleet/rendered");
    assert_eq!(files(&output), files(&committed));
    for path in files(&committed) {
        assert_eq!(
            fs::read(output.join(&path)).unwrap(),
            fs::read(committed.join(&path)).unwrap(),
            "{}",
            path.display()
        );
    }
}

/// A hub, and what is found in it.
fn checked(hub: &Path) -> (Loaded, Findings) {
    let request = Request {
        paths: vec![hub.to_owned()],
        ..Request::default()
    };
    let loaded = pipeline::load(&request);
    let mut findings = Findings::new();
    pipeline::check(&loaded, &mut findings);
    loaded.finish(&mut findings);
    (loaded, findings)
}

/// The findings of a hub, each with the file and line of its place, and of its related places.
fn found(hub: &Path) -> Vec<(String, Vec<String>, Finding)> {
    let (loaded, findings) = checked(hub);
    let at = |place: &Place| {
        let span = loaded.sources.locate(place);
        span.map_or_else(String::new, |span| {
            let name = span.path.rsplit('/').next().unwrap();
            format!("{name}:{}", span.line)
        })
    };
    let told = findings.iter().map(|finding| {
        let related = finding.related.iter().map(|label| at(&label.place));
        (at(&finding.place), related.collect(), finding.clone())
    });
    told.collect()
}

/// A hub of a Gateway `web`, and a route for each of these files, with these parents.
fn with_routes(routes: &[(&str, &str)]) -> tempfile::TempDir {
    let hub = tempfile::tempdir().unwrap();
    let object = |kind: &str, name: &str, spec: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\n\
             spec:\n{spec}"
        )
    };
    let spec = "  gatewayClassName: web\n  listeners: [{name: http, port: 80, protocol: HTTP}]\n";
    fs::write(hub.path().join("gateway.yaml"), object("Gateway", "web", spec)).unwrap();
    for (file, parents) in routes {
        let name = file.trim_end_matches(".yaml");
        let route = object("HTTPRoute", name, &format!("  parentRefs:\n{parents}"));
        fs::write(hub.path().join(file), route).unwrap();
    }
    hub
}

#[test]
fn of_many_references_to_a_missing_name_the_first_in_the_text_are_shown() {
    // By their pointers, 10 and 11 come behind 1.
    let parents = (0..12).map(|number| format!("  - {{name: wbe, sectionName: s{number}}}\n"));
    let hub = with_routes(&[("route.yaml", &parents.collect::<String>())]);
    let all = found(hub.path());
    let related = all.iter().map(|(_, related, _)| related.join(" "));
    let related: Vec<String> = related.filter(|related| !related.is_empty()).collect();
    assert_eq!(related, ["route.yaml:7 route.yaml:8 route.yaml:9"]);
}

#[test]
fn what_comes_into_view_where_one_finding_stands_for_several_is_in_the_order_of_the_text() {
    let hub = with_routes(&[
        (
            "a.yaml",
            "  - {name: web, port: \"${PORT}\"}\n  - {name: web, port: \"${PORT}\"}\n",
        ),
        ("b.yaml", "  - name: web\n    sectionName: 5\n    port: five\n"),
    ]);
    let errors = found(hub.path()).into_iter();
    let errors = errors.filter(|(.., finding)| finding.severity == Severity::Error);
    let errors: Vec<String> = errors.map(|(place, ..)| place).collect();
    assert_eq!(errors, ["a.yaml:6", "b.yaml:7", "b.yaml:8"]);
}

#[cfg(unix)]
#[test]
fn the_first_file_that_cannot_be_read_has_the_note_that_objects_are_unknown() {
    let hub = tempfile::tempdir().unwrap();
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet/hub"),
        hub.path(),
    );
    std::os::unix::fs::symlink("/nowhere", hub.path().join("aa.yaml")).unwrap();
    fs::write(hub.path().join("ab.yaml"), "a: [\n").unwrap();
    let all = found(hub.path()).into_iter();
    let noted = all.filter(|(.., finding)| finding.notes.iter().any(|note| note.contains("are unknown")));
    let noted: Vec<Place> = noted.map(|(.., finding)| finding.place).collect();
    assert!(
        matches!(&noted[..], [Place::Path(path)] if path.ends_with("/aa.yaml")),
        "{noted:?}"
    );
}

/// The files below a directory, by their paths inside it.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                files.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

#[cfg(unix)]
fn copy(from: &Path, to: &Path) {
    for path in files(from) {
        let target = to.join(&path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(&path), target).unwrap();
    }
}
