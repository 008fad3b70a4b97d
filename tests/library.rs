//! The library as somebody else uses it: the example does what the command does, and a process that lives on gets the
//! answers of new ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use spokewright::diagnostic::{Finding, Findings, Locate as _, Place, Severity};
use spokewright::output::{self, FileKind, Tree};
use spokewright::pipeline::{self, Analysis, EmptyResult, Loaded, Remembered, Rendered, Request};
use spokewright::render::{KnownFile, KnownFiles};

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

#[test]
fn the_findings_that_are_shown_are_the_first_of_all() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let hubs = ["examples/fleet/hub", "fixtures/mesh/hub", "fixtures/agreement"];
    // Mistakes of one name, of one variable, of one field, in every object, and texts that cannot be read.
    let mistakes = [
        ("  name: ", "  name: x-"),
        ("namespace: ", "namespace: ${CLUSTER}-"),
        ("port: ", "prt: "),
        ("kind: Gateway\n", "kind: Gatewya\n"),
        ("spec:\n", "spec: [\n"),
    ];
    let mut cut = 0;
    for (hub, (from, to)) in hubs.iter().flat_map(|hub| mistakes.map(|mistake| (hub, mistake))) {
        let scratch = tempfile::tempdir().unwrap();
        copy(&root.join(hub), scratch.path());
        for path in files(scratch.path()) {
            let path = scratch.path().join(path);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace(from, to)).unwrap();
        }
        let (_, all) = checked(scratch.path(), None);
        for shown in 1..4 {
            let (_, some) = checked(scratch.path(), Some(shown));
            assert_eq!(some.summary(), all.summary(), "{hub}: {to}");
            for severity in [Severity::Error, Severity::Warning] {
                let first = |findings: &Findings| {
                    let findings = findings.iter().filter(|finding| finding.counts_as(severity));
                    findings.take(shown).cloned().collect::<Vec<Finding>>()
                };
                assert_eq!(first(&some), first(&all), "{hub}: {to}");
                cut += usize::from(all.count(severity) > shown);
            }
        }
    }
    assert!(cut > 20, "of most, not all are shown: {cut}");
}

/// A hub, and what is found in it.
fn checked(hub: &Path, shown: Option<usize>) -> (Loaded, Findings) {
    let request = Request {
        paths: vec![hub.to_owned()],
        shown,
        ..Request::default()
    };
    let loaded = pipeline::load(&request);
    let mut findings = Findings::new();
    pipeline::check(&loaded, &mut findings);
    loaded.finish(&mut findings);
    (loaded, findings)
}

/// The findings of a hub, each with the file and line of its place, and of its related places.
fn found(hub: &Path, shown: Option<usize>) -> Vec<(String, Vec<String>, Finding)> {
    let (loaded, findings) = checked(hub, shown);
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
    let all = found(hub.path(), None);
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
    let errors = |shown| {
        let all = found(hub.path(), shown).into_iter();
        let errors = all.filter(|(.., finding)| finding.severity == Severity::Error);
        errors.map(|(place, ..)| place).collect::<Vec<String>>()
    };
    assert_eq!(errors(None), ["a.yaml:6", "b.yaml:7", "b.yaml:8"]);
    assert_eq!(errors(Some(2)), errors(None));
}

#[test]
fn the_first_file_that_cannot_be_read_has_the_note_that_objects_are_unknown() {
    let hub = tempfile::tempdir().unwrap();
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet/hub"),
        hub.path(),
    );
    std::os::unix::fs::symlink("/nowhere", hub.path().join("aa.yaml")).unwrap();
    fs::write(hub.path().join("ab.yaml"), "a: [\n").unwrap();
    let all = found(hub.path(), None).into_iter();
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

fn copy(from: &Path, to: &Path) {
    for path in files(from) {
        let target = to.join(&path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(&path), target).unwrap();
    }
}

fn rendered(hub: &Path) -> (Loaded, Rendered) {
    let request = Request {
        paths: vec![hub.to_owned()],
        ..Request::default()
    };
    let loaded = pipeline::load(&request);
    let mut findings = Findings::new();
    let rendered = Analysis::new(&loaded, &mut findings).render(EmptyResult::Refused, &mut findings);
    (loaded, rendered)
}

/// The bytes of each work, and of each other file.
fn contents(tree: &dyn Tree) -> BTreeMap<String, (FileKind, Vec<u8>)> {
    let of_file = |index: usize| {
        let mut bytes = Vec::new();
        tree.content(index, &mut bytes);
        (tree.path(index).into_owned(), (tree.kind(index), bytes))
    };
    (0..tree.len()).map(of_file).collect()
}

#[test]
fn what_is_known_of_a_file_is_taken_over_where_a_work_has_the_same_bytes_and_nowhere_else() {
    // A hash that no bytes have shows what was taken over.
    const TAKEN_OVER: output::Hash = [0; 32];
    const SEEN: output::Identity = output::Identity {
        size: 1,
        modified: (2, 3),
        changed: (4, 5),
        device: 6,
        inode: 7,
        user: 8,
        group: 9,
    };

    let scratch = tempfile::tempdir().unwrap();
    let hub = scratch.path().join("fleet");
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet"),
        &hub,
    );
    let edit = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(hub.join(name)).unwrap();
        assert!(text.contains(from), "{from:?} is not in {name}");
        fs::write(hub.join(name), text.replace(from, to)).unwrap();
    };
    let renamed = |from: &str, to: &str| {
        edit("hub/clusters/clusters.yaml", from, to);
        edit("hub/shop/placement.yaml", from, to);
    };
    let changes: [(&str, &dyn Fn()); 5] = [
        ("nothing", &|| {}),
        ("one Gateway", &|| {
            edit("hub/shop/limits.yaml", "limit: 200", "limit: 300");
        }),
        ("a cluster comes first", &|| renamed("us-1", "a-1")),
        ("a cluster comes last", &|| renamed("a-1", "z-1")),
        ("all Gateways", &|| {
            edit(
                "hub/platform/access-log.yaml",
                "samplePercent: 10",
                "samplePercent: 20",
            );
        }),
    ];
    let (_, mut before) = rendered(&hub);
    let (mut taken_over, mut made) = (0, 0);
    for (what, change) in changes {
        change();
        let (loaded, after) = rendered(&hub);
        let earlier = contents(&before.layout(&loaded));
        let seen = Some(SEEN);
        let file = Some(KnownFile {
            hash: TAKEN_OVER,
            seen,
        });
        let works = before.plan.clusters.values();
        let files = works.map(|works| vec![file; works.len()]).collect();
        let known = KnownFiles::new(before.plan, files);
        let layout = after.layout(&loaded).after(&known);
        for (index, (path, (kind, bytes))) in contents(&layout).into_iter().enumerate() {
            let is_known = kind == FileKind::Object && earlier.get(&path) == Some(&(kind, bytes.clone()));
            let expected = if is_known {
                TAKEN_OVER
            } else {
                output::sha256(&bytes)
            };
            let vouched = layout.vouched(index, &|| seen);
            assert_eq!(vouched, is_known.then_some(TAKEN_OVER), "{what}: {path}");
            assert_eq!(layout.hash(index, &bytes), expected, "{what}: {path}");
            taken_over += usize::from(is_known);
            made += usize::from(kind == FileKind::Object && !is_known);
        }
        // What was asked for is there for the next one.
        let kept: Vec<_> = layout.into_known().into_iter().flatten().collect();
        assert_eq!(kept.len(), after.plan.work_count());
        assert!(kept.iter().all(Option::is_some), "{what}");
        before = after;
    }
    assert!(taken_over > 15 && made > 5, "{taken_over} {made}");
}

/// The findings of a run, what it renders, and what it leaves for the next one.
fn answer(hub: &Path, remembered: Option<&Remembered>) -> (String, String, Remembered) {
    let request = Request {
        paths: vec![hub.to_owned()],
        ..Request::default()
    };
    let request = match remembered {
        Some(remembered) => remembered.with(request),
        None => request,
    };
    let loaded = pipeline::load(&request);
    let mut findings = Findings::new();
    pipeline::check(&loaded, &mut findings);
    let analysis = Analysis::new(&loaded, &mut findings);
    let rendered = analysis.render(EmptyResult::Allowed, &mut findings);
    loaded.finish(&mut findings);
    let mut works = Vec::new();
    output::stream(&rendered.layout(&loaded), &mut works).unwrap();
    let findings: Vec<String> = findings.iter().map(|finding| format!("{finding:#?}")).collect();
    (
        findings.join("\n"),
        String::from_utf8(works).unwrap(),
        Remembered::of(&loaded),
    )
}

#[test]
fn a_run_that_takes_over_from_the_one_before_answers_as_a_run_of_its_own_whatever_has_changed() {
    let scratch = tempfile::tempdir().unwrap();
    let hub = scratch.path().join("hub");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/worked-example/hub");
    copy(&example, &hub);
    let at = |name: &str| hub.join(name);
    let edit = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(at(name)).unwrap();
        assert!(text.contains(from), "{from:?} is not in {name}");
        fs::write(at(name), text.replacen(from, to, 1)).unwrap();
    };
    // Other bytes, and nothing else.
    let swap = |name: &str, from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let before = fs::metadata(at(name)).unwrap();
        edit(name, from, to);
        let file = fs::File::options().write(true).open(at(name)).unwrap();
        file.set_modified(before.modified().unwrap()).unwrap();
        let after = fs::metadata(at(name)).unwrap();
        assert_eq!(
            (before.len(), before.modified().unwrap()),
            (after.len(), after.modified().unwrap())
        );
    };
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: colors.c.io}\n\
        spec: {group: c.io, scope: Namespaced, names: {kind: Color, listKind: ColorList, plural: colors, singular: color}, \
        versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: \
        {spec: {type: string}}}}}]}\n";
    let color = "apiVersion: c.io/v1\nkind: Color\nmetadata: {name: red, namespace: gateways}\nspec: 1\n";
    let changes: [(&str, &dyn Fn()); 14] = [
        ("nothing", &|| {}),
        ("an edit", &|| edit("gateway.yaml", "port: 443", "port: 8443")),
        ("other bytes of one size and time", &|| {
            swap("gateway.yaml", "port: 8443", "port: 9443");
        }),
        ("a new object", &|| fs::write(at("color.yaml"), color).unwrap()),
        ("a schema that refuses it", &|| {
            fs::write(at("crd.yaml"), crd).unwrap();
        }),
        ("a schema of one size and time that accepts it", &|| {
            swap("crd.yaml", "{type: string}", "{type: number}");
        }),
        ("another name", &|| {
            fs::rename(at("color.yaml"), at("red.yaml")).unwrap();
        }),
        ("another syntax", &|| {
            fs::rename(at("red.yaml"), at("red.json")).unwrap();
        }),
        ("what cannot be read", &|| {
            fs::write(at("red.json"), "[{\"a\": 1").unwrap();
        }),
        ("a copy", &|| {
            _ = fs::copy(at("gateway.yaml"), at("again.yaml")).unwrap();
        }),
        ("it goes", &|| fs::remove_file(at("again.yaml")).unwrap()),
        ("a schema goes", &|| fs::remove_file(at("crd.yaml")).unwrap()),
        ("a gateway goes", &|| {
            fs::rename(at("gateway.yaml"), at("gateway.txt")).unwrap();
        }),
        ("it comes back", &|| {
            fs::rename(at("gateway.txt"), at("gateway.yaml")).unwrap();
        }),
    ];
    let (_, _, mut remembered) = answer(&hub, Some(&Remembered::default()));
    for (what, change) in changes {
        change();
        let (findings, works, next) = answer(&hub, Some(&remembered));
        let (alone_findings, alone_works, _) = answer(&hub, None);
        assert_eq!(findings, alone_findings, "{what}");
        assert_eq!(works, alone_works, "{what}");
        remembered = next;
    }
}
