//! Where comments and pages say that a fact comes from: a page of ours with its heading, or an upstream file at a release or
//! a commit; and the tests and cases that pages name. What readers cannot look up is no citation. Links between pages are
//! checked in `tests/pages`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where citations may be.
const PLACES: &str = "benches crates docs examples fixtures src tests CHANGELOG.md README.md";

/// How notes that the public does not have used to be cited.
const PRIVATE: [&str; 4] = ["design section", "design.md", "../shared/spec", "spec/policy.md"];

#[test]
fn every_cited_page_and_heading_exists() {
    let mut wrong = BTreeSet::new();
    for (path, words) in citing() {
        for word in &words {
            let cited = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
            let end = cited.find(|letter: char| !letter.is_alphanumeric() && !"./#_-@".contains(letter));
            let cited = cited[..end.unwrap_or(cited.len())].trim_end_matches('.');
            let is_ours = cited.starts_with("docs/") || cited.starts_with("README.md#");
            if !is_ours || !cited.contains(".md") || cited.contains('@') {
                continue;
            }
            let (page, heading) = cited.split_once('#').unwrap_or((cited, ""));
            let text = fs::read_to_string(root().join(page)).unwrap_or_default();
            if text.is_empty() || !(heading.is_empty() || anchors(&text).contains(heading)) {
                wrong.insert(format!("{}: {cited} does not exist", path.display()));
            }
        }
    }
    none(&wrong);
}

/// `<owner>/<repository> <path>@<ref>`, with a version or a whole commit.
#[test]
fn every_upstream_citation_names_a_release_or_a_whole_commit() {
    let is_version = |reference: &str| {
        let numbers = reference.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let mut parts = numbers.split('-').next().unwrap_or_default().split('.');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        numbers.contains('.') && parts.all(is_number)
    };
    let is_commit =
        |reference: &str| reference.len() == 40 && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "._-".contains(letter))
    };
    let mut wrong = BTreeSet::new();
    for (path, words) in citing() {
        for pair in words.windows(2) {
            let bare = |word: &str| {
                word.trim_matches(|letter: char| !letter.is_alphanumeric())
                    .to_owned()
            };
            let (repository, word) = (bare(&pair[0]), bare(&pair[1]));
            let is_repository = repository
                .split_once('/')
                .is_some_and(|(owner, name)| is_name(owner) && is_name(name));
            let reference = word.split_once('@').map(|(_, reference)| reference);
            if is_repository
                && reference.is_some_and(|reference| !is_version(reference) && !is_commit(reference))
            {
                wrong.insert(format!(
                    "{}: {repository} {word}: cite a release or a commit of 40 digits",
                    path.display()
                ));
            }
        }
    }
    none(&wrong);
}

#[test]
fn no_citation_leads_to_a_paper_that_readers_do_not_have() {
    let mut wrong = BTreeSet::new();
    for (path, words) in citing()
        .into_iter()
        .filter(|(path, _)| !path.ends_with("tests/citations.rs"))
    {
        let text = words.join(" ").to_lowercase();
        let cited = PRIVATE.iter().filter(|paper| text.contains(*paper));
        wrong.extend(cited.map(|paper| format!("{} cites {paper}", path.display())));
    }
    none(&wrong);
}

#[test]
fn the_index_lists_every_page_about_a_system() {
    let folder = root().join("docs/systems");
    let index = fs::read_to_string(folder.join("index.md")).unwrap();
    let names = files(&folder)
        .into_iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    none(
        &names
            .filter(|name| name != "index.md" && !index.contains(&format!("]({name})")))
            .collect(),
    );
}

/// `path.rs::name` of a test, `path.yaml::title` of a section, or the path of a case; each promise of the threat model names
/// one of these.
#[test]
fn every_test_that_a_page_names_exists() {
    let places = ["src", "crates", "tests"]
        .iter()
        .flat_map(|place| files(&root().join(place)));
    let sources = places.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let sources: String = sources.map(|path| fs::read_to_string(path).unwrap()).collect();
    let exists = |code: &str| match code.split_once("::") {
        Some((file, title)) if Path::new(file).extension().is_some_and(|ending| ending == "yaml") => {
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            text.lines().any(|line| {
                line.strip_prefix("=== ")
                    .is_some_and(|line| line.starts_with(title))
            })
        }
        Some((_, name)) => sources.contains(&format!("fn {name}(")),
        None if code.starts_with("tests/cases/") => root().join(code).exists(),
        None => sources.contains(&format!("fn {code}(")),
    };
    let is_test = |code: &&str| {
        [".rs::", ".yaml::"].iter().any(|sign| code.contains(sign)) || code.starts_with("tests/cases/")
    };
    let mut missing = BTreeSet::new();
    for path in files(&root().join("docs")) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let codes = text.split('`').skip(1).step_by(2).filter(is_test);
        missing.extend(
            codes
                .filter(|code| !exists(code))
                .map(|code| format!("{}: {code}", path.display())),
        );
    }
    let page = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let promises = page.split("\n## Promises\n").nth(1).unwrap();
    let promises = promises.split("\n## ").next().unwrap();
    let rows: Vec<&str> = promises
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let names: Vec<&str> = row
            .rsplit(" | ")
            .next()
            .unwrap()
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        let absent = names.iter().filter(|name| !exists(name));
        missing.extend(absent.map(|name| format!("no test is called `{name}`: {row}")));
        assert!(!names.is_empty(), "no test: {row}");
    }
    none(&missing);
}

/// The anchors that GitHub gives the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    let unfenced = text.split("```").step_by(2).flat_map(str::lines);
    for line in unfenced.filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        // The target of a link is not shown.
        let shown = title.split("](").enumerate().map(|(at, part)| {
            if at == 0 {
                part
            } else {
                part.split_once(')').map_or(part, |(_, rest)| rest)
            }
        });
        let letters = shown.collect::<String>();
        let letters = letters
            .chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let slug: String = letters
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let numbered = (1..=taken.len()).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone())
            .chain(numbered)
            .find(|slug| !taken.contains(slug));
        taken.extend(free);
    }
    taken
}

/// The words of each file that may cite: those of comments, or of a whole page.
fn citing() -> Vec<(PathBuf, Vec<String>)> {
    let files = PLACES.split(' ').flat_map(|place| files(&root().join(place)));
    let citing = files.filter_map(|path| {
        let ending = path.extension()?.to_str()?;
        let text = fs::read_to_string(&path)
            .ok()
            .filter(|_| ["rs", "md", "txt"].contains(&ending))?;
        let lines = text.lines().filter_map(|line| match ending {
            "rs" => line
                .split_once("// ")
                .or_else(|| line.split_once("/// "))
                .or_else(|| line.split_once("//! "))
                .map(|(_, said)| said),
            _ => Some(line),
        });
        let words = lines.flat_map(str::split_whitespace).map(str::to_owned).collect();
        Some((path, words))
    });
    citing.collect()
}

fn none(wrong: &BTreeSet<String>) {
    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// The files at and below a path, without what Cargo builds.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return vec![path.to_owned()];
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("target"));
    paths.sort();
    paths.iter().flat_map(|path| files(path)).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
