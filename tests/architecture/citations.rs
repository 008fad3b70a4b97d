//! Where comments and pages say that a fact comes from: a page of ours with its heading, or an upstream file at a release or
//! a commit; and the tests and cases that pages name. What readers cannot look up is no citation. Links between pages are
//! checked in `tests/pages`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{files, none, read, root, rows_below};

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
    none(wrong);
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
        let is_of_name = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
        !name.is_empty() && name.chars().all(is_of_name)
    };
    let mut wrong = BTreeSet::new();
    for (path, words) in citing() {
        for pair in words.windows(2) {
            let [repository, word] =
                [&pair[0], &pair[1]].map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
            let is_repository = repository
                .split_once('/')
                .is_some_and(|(owner, name)| is_name(owner) && is_name(name));
            let reference = word.split_once('@').map(|(_, reference)| reference);
            if is_repository
                && reference.is_some_and(|reference| !is_version(reference) && !is_commit(reference))
            {
                let path = path.display();
                wrong.insert(format!(
                    "{path}: {repository} {word}: cite a release or a commit of 40 digits"
                ));
            }
        }
    }
    none(wrong);
}

#[test]
fn no_citation_leads_to_a_paper_that_readers_do_not_have() {
    let citing = citing().into_iter();
    none(
        citing
            .filter(|(path, _)| !path.ends_with("citations.rs"))
            .flat_map(|(path, words)| {
                let text = words.join(" ").to_lowercase();
                let cited = PRIVATE.iter().filter(move |paper| text.contains(*paper));
                cited.map(move |paper| format!("{} cites {paper}", path.display()))
            }),
    );
}

#[test]
fn the_index_lists_every_page_about_a_system() {
    let index = read("docs/systems/index.md");
    let pages = files(&root().join("docs/systems")).into_iter();
    let names = pages.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    none(names.filter(|name| name != "index.md" && !index.contains(&format!("]({name})"))));
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
            text.lines().any(|line| line.starts_with(&format!("=== {title}")))
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
    let page = read("docs/threat-model.md");
    let promises = rows_below(page.split("\n## Promises\n").nth(1).unwrap(), "| ");
    assert!(promises.len() > 10, "{promises:?}");
    for row in promises {
        let names: Vec<&str> = row[row.len() - 2].split('`').skip(1).step_by(2).collect();
        let absent = names.iter().filter(|name| !exists(name));
        missing.extend(absent.map(|name| format!("no test is called `{name}`: {row:?}")));
        assert!(!names.is_empty(), "no test: {row:?}");
    }
    none(missing);
}

/// The anchors that GitHub gives the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    let unfenced = text.split("```").step_by(2).flat_map(str::lines);
    for line in unfenced.filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        // The target of a link is not shown.
        let mut parts = title.split("](");
        let mut shown = parts.next().unwrap_or_default().to_owned();
        parts.for_each(|part| shown += part.split_once(')').map_or(part, |(_, rest)| rest));
        shown.retain(|letter| letter.is_alphanumeric() || " -_".contains(letter));
        let slug = shown.replace(' ', "-");
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
        let comment = |line| {
            let signs = ["// ", "/// ", "//! "].into_iter();
            signs
                .filter_map(|sign| str::split_once(line, sign))
                .map(|(_, said)| said)
                .next()
        };
        let lines = text
            .lines()
            .filter_map(|line| if ending == "rs" { comment(line) } else { Some(line) });
        let words = lines.flat_map(str::split_whitespace).map(str::to_owned).collect();
        Some((path, words))
    });
    citing.collect()
}
