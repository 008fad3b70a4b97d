//! Where comments and pages say that a fact comes from: a page of ours with its heading, or an upstream file at a
//! release or a commit. What readers cannot look up is no citation.
//!
//! Comments of Rust files are read, and Markdown and text files as a whole.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where citations may stand; `crates/` has the libraries of the workspace.
const PLACES: [&str; 9] = [
    "benches",
    "crates",
    "docs",
    "examples",
    "fixtures",
    "src",
    "tests",
    "CHANGELOG.md",
    "README.md",
];

/// Notes that the public does not have, by how they used to be cited: words, of which one with `#` begins with a
/// digit, and one with `*` ends in what follows it.
const PRIVATE: [&[&str]; 13] = [
    &["design", "section"],
    &["design", "sections"],
    &["*design.md"],
    &["crates.md", "#"],
    &["gitops.md", "#"],
    &["hub.md", "#"],
    &["placement.md", "#"],
    &["policy.md", "#"],
    &["work.md", "#"],
    &["yaml.md", "#"],
    &["OCM", "placement", "#"],
    &["OCM", "work", "#"],
    &["*.md", "section"],
];

#[test]
fn every_cited_page_and_heading_exists() {
    expect_none(|file, pages| pages.missing(file));
}

#[test]
fn every_upstream_citation_names_a_release_or_a_whole_commit() {
    expect_none(|file, _| vague_upstream(file));
}

#[test]
fn no_citation_leads_to_a_paper_that_readers_do_not_have() {
    expect_none(|file, _| private_papers(file));
}

#[test]
fn the_index_lists_every_page_about_a_system() {
    let folder = root().join("docs/systems");
    let index = fs::read_to_string(folder.join("index.md")).expect("the index");
    for path in below(&folder) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(
            name == "index.md" || index.contains(&format!("]({name})")),
            "docs/systems/index.md says nothing about {name}"
        );
    }
}

/// `path::name` of a test, or the path of a case, in a page of ours.
#[test]
fn a_test_that_a_page_names_exists() {
    let mut missing = Vec::new();
    for path in below(&root().join("docs")) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let codes = || text.split('`').skip(1).step_by(2);
        let is_missing = |case: &&str| case.starts_with("tests/cases/") && !root().join(case).exists();
        missing.extend(codes().filter(is_missing).map(str::to_owned));
        for (file, name) in codes().filter_map(|code| code.split_once(".rs::")) {
            let tests = fs::read_to_string(root().join(format!("{file}.rs"))).unwrap_or_default();
            if !tests.contains(&format!("fn {name}(")) {
                missing.push(format!("{}: {file}.rs::{name}", path.display()));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn headings_become_anchors_as_on_github() {
    let text = "# The `plan`, *again*\n\n```console\n# not a heading\n```\n## A & B_c: [link](x.md) ##\n#hash\n### A\n### A\n";
    assert_eq!(
        anchors(text),
        BTreeSet::from(["the-plan-again", "a--b_c-link", "a", "a-1"].map(str::to_owned))
    );
}

#[test]
fn what_is_wrong_is_found_and_what_is_right_is_not() {
    let pages = Pages::new();
    let found = |text: &str| {
        let file = File::of_text("src/some.rs", text);
        [pages.missing(&file), vague_upstream(&file), private_papers(&file)].concat()
    };
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for right in [
        "//! One: docs/systems/index.md, docs/reference/commands.md.".to_owned(),
        format!("// upstream: `a-b/c.d pkg/e.go@v1.2.3`, a/b e@{commit}"),
        "let text = \"// design section 7\"; let url = \"docs/none.md\";".to_owned(),
        "// The design of section 7 of RFC 7386; pre-commit.md, spec/v1/some.md@v1.0.0.".to_owned(),
    ] {
        assert_eq!(found(&right), Vec::<String>::new(), "{right}");
    }
    for wrong in [
        "// docs/systems/none.md",
        "x(); // (docs/systems/index.md#none)",
        "/// README.md#none",
        "// a/b pkg/c.go@main",
        "// a/b pkg/c.go@0123456",
        "// (Design section 7, Who)",
        "//! as the design\n//! section 7 says",
        "// hub.md 4.3",
        "// gitops.md section 2",
        "// ../design.md",
        "// spec/policy.md 1.6",
        "// spec/crates.md",
        "// OCM placement 1.2, Weights",
        "// see ../shared/spec",
    ] {
        assert_eq!(found(wrong).len(), 1, "{wrong}: {:?}", found(wrong));
    }
}

/// A file that may cite, as runs of words: comments that follow each other, or lines up to an empty one.
struct File {
    path: String,
    runs: Vec<Vec<(usize, String)>>,
    /// Targets of Markdown links outside of code.
    links: Vec<(usize, String)>,
}

impl File {
    fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let name = path.strip_prefix(root()).unwrap_or(path).to_string_lossy();
        Some(Self::of_text(&name.replace('\\', "/"), &text))
    }

    fn of_text(path: &str, text: &str) -> Self {
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        let mut file = Self {
            path: path.to_owned(),
            runs: vec![Vec::new()],
            links: Vec::new(),
        };
        for (number, line) in (1..).zip(text.lines()) {
            let cited = if ending == Some("rs") {
                comment(line)
            } else {
                Some(line)
            };
            let words = cited.unwrap_or_default().split_whitespace();
            let words: Vec<_> = words.map(|word| (number, bare(word).to_owned())).collect();
            match file.runs.last_mut() {
                Some(run) if !words.is_empty() => run.extend(words),
                _ => file.runs.push(Vec::new()),
            }
        }
        if ending == Some("md") {
            file.links = outside_code(text)
                .flat_map(|(number, line)| links(number, line))
                .collect();
        }
        file
    }

    fn words(&self) -> impl Iterator<Item = &(usize, String)> {
        self.runs.iter().flatten()
    }

    fn problem(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }
}

/// The comment of a line of Rust: what follows `//` outside of a string.
fn comment(line: &str) -> Option<&str> {
    let code = line.replace("'\"'", "   ").replace("\\\"", "  ");
    let start = code
        .match_indices("//")
        .map(|(start, _)| start)
        .find(|start| code[..*start].matches('"').count().is_multiple_of(2))?;
    Some(line[start..].trim_start_matches(['/', '!']))
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_start_matches(|letter: char| !letter.is_alphanumeric() && !"./#<".contains(letter))
        .trim_end_matches(|letter: char| !letter.is_alphanumeric() && !"/#>_-".contains(letter))
}

/// The pages of the project with their anchors.
struct Pages {
    anchors: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Pages {
    fn new() -> Self {
        let pages = PLACES.iter().flat_map(|place| below(&root().join(place)));
        let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        Self {
            anchors: pages
                .filter_map(|path| Some((anchors(&fs::read_to_string(&path).ok()?), path)))
                .map(|(anchors, path)| (path, anchors))
                .collect(),
        }
    }

    /// Citations of pages and headings, and links of pages, that lead nowhere.
    fn missing(&self, file: &File) -> Vec<String> {
        let mut problems = Vec::new();
        for (line, word) in file.words() {
            for start in [word.find("docs/"), word.find("README.md#")]
                .into_iter()
                .flatten()
            {
                let before = word[..start].chars().next_back();
                let cited = word[start..]
                    .split(|letter: char| !letter.is_alphanumeric() && !"./#_-@".contains(letter))
                    .next()
                    .unwrap_or_default();
                let is_ours = before
                    .is_none_or(|letter| !letter.is_alphanumeric() && !"/.-_".contains(letter))
                    && cited.contains(".md")
                    && !cited.contains('@');
                if is_ours && !self.has(&root(), cited.trim_end_matches('.')) {
                    problems.push(file.problem(*line, &format!("{cited} does not exist")));
                }
            }
        }
        let folder = root().join(&file.path);
        for (line, target) in &file.links {
            let here = if target.starts_with('#') {
                folder.as_path()
            } else {
                folder.parent().unwrap_or(&folder)
            };
            if !target.contains("://") && !target.starts_with("mailto:") && !self.has(here, target) {
                problems.push(file.problem(*line, &format!("the link {target} leads nowhere")));
            }
        }
        problems
    }

    fn has(&self, from: &Path, target: &str) -> bool {
        let (path, anchor) = target
            .split_once('#')
            .map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let path = normal(&from.join(path));
        match anchor {
            None => path.exists(),
            Some(anchor) => self
                .anchors
                .get(&path)
                .is_some_and(|anchors| anchors.contains(anchor)),
        }
    }
}

/// The anchors that GitHub gives the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    for (_, line) in outside_code(text) {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if !(1..=6).contains(&level) || !title.starts_with(' ') {
            continue;
        }
        let mut shown = title.trim().trim_end_matches('#').trim_end().to_owned();
        for (_, target) in links(0, title) {
            shown = shown.replace(&format!("]({target})"), "]");
        }
        let slug: String = shown
            .to_lowercase()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let slug = (0..=taken.len())
            .map(|number| {
                if number == 0 {
                    slug.clone()
                } else {
                    format!("{slug}-{number}")
                }
            })
            .find(|slug| !taken.contains(slug));
        taken.extend(slug);
    }
    taken
}

/// The lines of a page that stand in no fenced block, with their numbers.
fn outside_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| line.trim_start().starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            (open, _) => return open.is_none(),
        }
        false
    })
}

/// The targets of the links in a line of Markdown.
fn links(number: usize, line: &str) -> Vec<(usize, String)> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| Some((number, rest.split_once(')')?.0.to_owned())))
        .collect()
}

/// Citations `<owner>/<repository> <path>@<ref>` whose ref is neither a release nor a whole commit.
fn vague_upstream(file: &File) -> Vec<String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "._-".contains(letter))
    };
    let is_repository = |word: &str| {
        word.split_once('/')
            .is_some_and(|(owner, name)| is_name(owner) && is_name(name))
    };
    let mut problems = Vec::new();
    for run in &file.runs {
        for pair in run.windows(2) {
            let [(_, repository), (line, word)] = pair else {
                continue;
            };
            let Some((_, reference)) = word.split_once('@') else {
                continue;
            };
            if is_repository(repository) && !is_commit(reference) && !is_release(reference) {
                let what = format!("{repository} {word}: cite a release or a commit of 40 digits");
                problems.push(file.problem(*line, &what));
            }
        }
    }
    problems
}

fn is_commit(reference: &str) -> bool {
    reference.len() == 40
        && reference
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// `1.30.3`, `v1.6.1`, `v1.0.0-rc.1`, `notify-8.2.1`.
fn is_release(reference: &str) -> bool {
    let numbers = reference
        .trim_start_matches(|letter: char| !letter.is_ascii_digit())
        .split('-')
        .next()
        .unwrap_or_default();
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() >= 2
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Citations of notes that are not in the repository.
fn private_papers(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    for run in &file.runs {
        for (at, (line, word)) in run.iter().enumerate() {
            let follows = |paper: &[&str]| {
                paper.len() <= run.len() - at
                    && paper
                        .iter()
                        .zip(&run[at..])
                        .all(|(wanted, (_, word))| match *wanted {
                            "#" => {
                                word.starts_with(|letter: char| letter.is_ascii_digit()) || word == "section"
                            }
                            wanted => wanted.strip_prefix('*').map_or_else(
                                || {
                                    word.rsplit('/')
                                        .next()
                                        .is_some_and(|word| word.eq_ignore_ascii_case(wanted))
                                },
                                |ending| word.ends_with(ending),
                            ),
                        })
            };
            let in_spec = word
                .split_once("spec/")
                .and_then(|(_, name)| name.strip_suffix(".md"))
                .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_lowercase()));
            let beside = word.contains("../shared")
                && ["src/", "docs/"].iter().any(|place| file.path.starts_with(place));
            if in_spec || beside || PRIVATE.iter().any(|paper| follows(paper)) {
                problems
                    .push(file.problem(*line, &format!("`{word}` begins the citation of a private paper")));
            }
        }
    }
    problems.dedup_by(|one, other| one.split('`').next() == other.split('`').next());
    problems
}

fn expect_none(problems: impl Fn(&File, &Pages) -> Vec<String>) {
    let pages = Pages::new();
    let files = PLACES.iter().flat_map(|place| below(&root().join(place)));
    let files = files.filter(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("rs" | "md" | "txt"))
    });
    let wrong: Vec<String> = files
        .filter_map(|path| File::read(&path))
        .flat_map(|file| problems(&file, &pages))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files at and below a path, in order; none where there is nothing.
fn below(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return path.is_file().then(|| path.to_owned()).into_iter().collect();
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| !path.ends_with("target"));
    paths.sort();
    paths.iter().flat_map(|path| below(path)).collect()
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
