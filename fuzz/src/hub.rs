//! A hub in memory, and everything that the commands say of one.
//!
//! Owns: which reports there are, and what holds of each. Flows in: files. Flows out: the reports, as one text. Must not
//! know: where the files are from.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ocm_placement::{Detail, evaluate};
use serde::Serialize;
use spokewright::diagnostic::{FindingList, Findings, Human, Locate, SarifLog, github, json_text, junit};
use spokewright::output;
use spokewright::pipeline::{self, Analysis, EmptyResult, Loaded, Request};
use spokewright::report::diff::{
    BothSides, DEFAULT_BUDGET, DiffReport, EffectiveSettings, Look, Side, Titles, compare, human, json,
    markdown, semantic,
};
use spokewright::report::{
    Graph, PlacementReport, PolicyReport, StatusReport, effective_paths, explain, explanation_text,
    placement_table, policies_text, status_text,
};
use spokewright::source::{FileTree, Files, Sources, TreeEntry, TreeError};

use super::seeds::FILE;

/// Where the hub stands, as people would type it.
const ROOT: &str = "/fleet";
const WIDTH: usize = 80;

/// Files that are nowhere on disk.
#[derive(Debug)]
pub(crate) struct InMemory(BTreeMap<PathBuf, String>);

impl InMemory {
    pub(crate) fn of<const N: usize>(files: [(&str, String); N]) -> Self {
        Self(
            files
                .into_iter()
                .map(|(path, text)| (path.into(), text))
                .collect(),
        )
    }

    /// The files of one text; what stands above the first is one, too.
    pub(crate) fn parse(text: &str) -> Self {
        let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut path = PathBuf::from("first.yaml");
        for line in text.split_inclusive('\n') {
            let named = line.strip_prefix(FILE).map(str::trim).filter(|name| {
                let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
                name.split('/').all(is_plain) && !name.contains('\0')
            });
            match named {
                Some(named) => path = named.into(),
                None => files.entry(path.clone()).or_default().push_str(line),
            }
        }
        // No path is a file and a directory.
        let directories: Vec<PathBuf> = files
            .keys()
            .flat_map(|path| path.ancestors().skip(1))
            .map(Path::to_owned)
            .collect();
        files.retain(|path, _| !directories.contains(path));
        Self(files)
    }
}

impl FileTree for InMemory {
    fn root(&self) -> &Path {
        Path::new(ROOT)
    }

    fn name(&self) -> Option<&str> {
        Some("memory")
    }

    fn instead(&self) -> &'static str {
        "name another path"
    }

    fn locate(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(ROOT).ok().map(Path::to_owned)
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        let entries: BTreeMap<OsString, TreeEntry> = self
            .0
            .keys()
            .filter_map(|path| {
                let mut below = path.strip_prefix(directory).ok()?.components();
                let name = below.next()?.as_os_str().to_owned();
                let entry = if below.next().is_some() {
                    TreeEntry::Directory
                } else {
                    TreeEntry::File
                };
                Some((name, entry))
            })
            .collect();
        Ok(entries.into_iter().collect())
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        Ok(if self.0.contains_key(path) {
            Some(TreeEntry::File)
        } else if self.0.keys().any(|file| file.starts_with(path)) {
            Some(TreeEntry::Directory)
        } else {
            None
        })
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        self.0
            .get(path)
            .map(|text| text.clone().into_bytes())
            .ok_or_else(|| TreeError {
                reason: "there is no such file".to_owned(),
                help: "name another path".to_owned(),
            })
    }
}

/// Reads a tree as a command does.
pub(crate) fn load(tree: &dyn FileTree, root: &Path) -> Loaded {
    let request = Request {
        paths: vec![root.to_owned()],
        now: "2026-01-01T00:00:00Z".parse().ok(),
        search_outputs: true,
        ..Request::default()
    };
    pipeline::load_from(&request, Files::Tree(tree))
}

/// What all clusters receive.
pub(crate) fn manifests(tree: &InMemory) -> Vec<kube_json::Value> {
    let loaded = load(tree, Path::new(ROOT));
    let mut findings = Findings::new();
    let rendered = Analysis::new(&loaded, &mut findings).render(EmptyResult::Allowed, &mut findings);
    let mut stream = Vec::new();
    output::stream(&rendered.layout(&loaded), &mut stream).expect("a stream");
    let text = String::from_utf8(stream).expect("UTF-8");
    let works = kube_yaml::read_all(&text, &kube_yaml::Limits::default()).expect("what is rendered is YAML");
    let manifests = works
        .iter()
        .filter_map(|work| work.pointer("/spec/workload/manifests")?.as_array());
    manifests.flatten().cloned().collect()
}

/// Everything that is said of a hub.
pub(crate) fn reports(tree: &InMemory) -> String {
    let loaded = load(tree, Path::new(ROOT));
    let mut said = String::new();

    let mut findings = Findings::new();
    pipeline::check(&loaded, &mut findings);
    loaded.finish(&mut findings);
    said += &forms(&findings, &loaded.sources);

    let mut findings = Findings::new();
    let analysis = Analysis::new(&loaded, &mut findings);
    let (received, spokes) = analysis.received(None);
    let (rendered, view) = analysis.results(received, &spokes, EmptyResult::Allowed, &mut findings);
    let mut stream = Vec::new();
    // A tree of whose files one cannot be made is refused as a whole.
    if output::stream(&rendered.layout(&loaded), &mut stream).is_ok() {
        let text = String::from_utf8(stream).expect("UTF-8");
        let works =
            kube_yaml::read_all(&text, &kube_yaml::Limits::default()).expect("what is rendered is YAML");
        assert!(works.iter().all(kube_json::Value::is_object), "{text}");
        said += &text;
    }

    let policies = PolicyReport::for_text(&view);
    said += &shown(&policies_text(&policies, None, WIDTH));
    let paths = effective_paths(&view, &loaded.sources);
    said += &shown(&policies_text(&policies, Some(&paths), WIDTH));
    said += &document(&policies);
    let statuses = analysis.statuses(&view).unwrap_or_default();
    let status = StatusReport::predicted(&statuses);
    said += &shown(&status_text(&status, WIDTH));
    said += &document(&status);
    for object in loaded.hub.objects.iter().take(20) {
        let identity = object.identity();
        let without = view.is_policy(&identity).then(|| analysis.without(object));
        let spokes = without.as_ref().map(|analysis| analysis.received(None).1);
        let without = without.as_ref().zip(spokes.as_ref());
        let without = without.map(|(analysis, spokes)| analysis.evaluate(spokes));
        let explanation = explain(
            &view,
            without.as_ref(),
            &identity,
            Some(object),
            &[],
            loaded.overlays(),
            &loaded.sources,
        );
        said += &shown(&explanation_text(&explanation, WIDTH));
        said += &document(&explanation);
    }
    let mut graph = Graph::new(&view, |_| true, false).unwrap_or_default();
    said += &shown(&graph.mermaid());
    graph.collapse();
    said += &shown(&graph.dot());

    let inventory = pipeline::inventory(&loaded.hub, &mut Findings::new());
    let evaluation = evaluate(&loaded.evaluation_input(&inventory), Detail::Full);
    let placements = PlacementReport::new(
        &evaluation,
        &loaded.hub,
        loaded.config.placement.unwrap_or_default().source,
        &loaded.sources,
        None,
    );
    said += &shown(&placement_table(&placements, WIDTH));
    said += &document(&placements);

    // Against nothing at all: everything is new.
    let (nothing, side) = (Side::default(), Side::of_plan(&rendered.plan));
    let effective = EffectiveSettings::new(&view, |_| true).unwrap_or_default();
    let changes = EffectiveSettings::changes(&EffectiveSettings::default(), &effective);
    if let Ok(comparison) = compare(&nothing, &side) {
        let titles = Titles {
            command: "spokewright diff".to_owned(),
            fleet: None,
            old: "nothing".to_owned(),
            new: "the hub".to_owned(),
        };
        let report = DiffReport {
            titles,
            effective_changes: changes,
            ..DiffReport::default()
        };
        let none = Sources::default();
        let locate: BothSides<'_> = [&none, &loaded.sources];
        let report = report.with(comparison, &locate);
        said += &shown(&human(&report, Look::default()));
        said += &shown(&semantic(&report, Look::default()));
        said += &shown(&markdown(&report, DEFAULT_BUDGET));
        said += &shown(&json(&report));
    }
    said
}

/// All findings in every form.
pub(crate) fn forms(findings: &Findings, locate: &dyn Locate) -> String {
    let mut said = String::new();
    for text in [
        Human::default().render(findings, locate),
        github(findings, locate),
        junit(findings, locate),
    ] {
        said += &shown(&text);
    }
    said += &document(&FindingList::new(findings, locate));
    said += &document(&SarifLog::new(findings, locate));
    for finding in findings {
        let _ = writeln!(said, "{finding:?}");
    }
    said
}

/// No text for people holds what a terminal would obey, or what hides or turns around the text beside it.
fn shown(text: &str) -> String {
    let obeyed = text.chars().find(|letter| {
        (letter.is_control() && *letter != '\n')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
    });
    assert_eq!(obeyed, None, "{text:?}");
    text.to_owned()
}

/// JSON is JSON, and as quiet.
fn document(report: &impl Serialize) -> String {
    let text = json_text(report).expect("a report is JSON");
    // Nothing of it is kept, so that it may be deeper than what is read into values.
    let value: Result<serde::de::IgnoredAny, _> = serde_json::from_str(&text);
    assert!(value.is_ok(), "{text}");
    shown(&text)
}
