//! What production files name: paths as if nothing were imported, methods, and macros.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A production file, and what it names.
pub(crate) struct Source {
    /// From the root of the repository on.
    pub(crate) file: String,
    pub(crate) text: String,
    /// Each with its line: `std::fs::read`, `.exists`, `println!`.
    pub(crate) names: Vec<(usize, String)>,
}

impl Source {
    /// The production files of the library, the command, and the crates.
    pub(crate) fn all(root: &Path) -> Vec<Self> {
        let members = super::files(&root.join("crates")).into_iter();
        let is_source = |file: &Path| {
            file.strip_prefix(root)
                .unwrap()
                .iter()
                .nth(2)
                .is_some_and(|part| part == "src")
        };
        let files = super::files(&root.join("src"))
            .into_iter()
            .chain(members.filter(|file| is_source(file)));
        let files =
            files.filter(|file| !is_test(file) && file.extension().is_some_and(|ending| ending == "rs"));
        files.map(|file| Self::read(root, &file)).collect()
    }

    /// What it names of these paths, methods, and macros, with the lines.
    pub(crate) fn naming(&self, names: &str) -> impl Iterator<Item = &(usize, String)> {
        self.names
            .iter()
            .filter(move |(_, path)| names.split(' ').any(|name| reaches(path, name)))
    }

    fn read(root: &Path, path: &Path) -> Self {
        let file = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let names = names(&production(&text), &module(&file));
        Self { file, text, names }
    }
}

/// Whether a path is what this names, or something of it; also as a function of `Path`.
fn reaches(path: &str, name: &str) -> bool {
    if let Some(method) = name.strip_prefix('.') {
        let mut as_function = ["std::path::Path::", "std::path::PathBuf::"].iter();
        return path == name || as_function.any(|of| path.strip_prefix(of) == Some(method));
    }
    path.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn is_test(file: &Path) -> bool {
    let name = file.file_name().unwrap();
    name == "tests.rs" || name == "testing.rs" || file.iter().any(|part| part == "tests")
}

/// The module of a file, from the root of its crate on.
fn module(file: &str) -> Vec<String> {
    let inside = file.split_once("src/").unwrap().1.trim_end_matches(".rs");
    let inside = PathBuf::from(inside);
    let parts = inside.iter().map(|part| part.to_str().unwrap().to_owned());
    parts
        .filter(|part| !["mod", "lib", "main"].contains(&part.as_str()))
        .collect()
}

/// The lines without comments and without items that only tests have.
fn production(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut rest = (1..).zip(text.lines());
    while let Some((number, line)) = rest.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with("#[cfg(test)]") || line.trim_start().starts_with("#[cfg(all(test") {
            let begin = rest
                .by_ref()
                .find(|(_, line)| !line.trim_start().starts_with("#["));
            if begin.is_some_and(|(_, begin)| !begin.ends_with(';')) {
                rest.by_ref()
                    .find(|(_, line)| line.trim_end() == format!("{}}}", " ".repeat(indent)));
            }
        } else {
            let code = line.split("// ").next().unwrap_or_default();
            let is_comment = line.trim_start().starts_with("//");
            let code = if is_comment { "" } else { code };
            lines.push((number, code.to_owned()));
        }
    }
    lines
}

/// Every path, method, and macro in these lines of a module.
fn names(lines: &[(usize, String)], module: &[String]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut imports: BTreeMap<String, String> = BTreeMap::new();
    let mut code = Vec::new();
    let mut rest = lines.iter();
    while let Some((number, line)) = rest.next() {
        let Some((_, tree)) = line
            .split_once("use ")
            .filter(|(before, _)| is_visibility(before))
        else {
            code.push((*number, line));
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            tree += rest.next().map_or(";", |(_, line)| line.trim());
        }
        for path in leaves(tree.split(';').next().unwrap()) {
            let (path, name) = path
                .split_once(" as ")
                .unwrap_or((&path, path.rsplit("::").next().unwrap()));
            let path = absolute(path.trim_end_matches("::self"), module);
            imports.insert(
                name.replace("self", path.rsplit("::").next().unwrap()),
                path.clone(),
            );
            found.push((*number, path));
        }
    }
    for (number, line) in code {
        let is_part = |letter: char| letter.is_alphanumeric() || "_:.!".contains(letter);
        for word in line.split_inclusive(|letter| !is_part(letter)) {
            let name = word.trim_end_matches(|letter| !is_part(letter));
            if let Some((_, method)) = name.rsplit_once('.').filter(|_| word.ends_with('(')) {
                found.push((number, format!(".{method}")));
            }
            let path = name.split('.').next().unwrap().trim_matches(':');
            let (first, tail) = path.split_once("::").unwrap_or((path, ""));
            match imports.get(first) {
                Some(import) if tail.is_empty() => found.push((number, import.clone())),
                Some(import) => found.push((number, format!("{import}::{tail}"))),
                // A single name that is not imported is one of the file, or a macro.
                None if !tail.is_empty() || path.ends_with('!') => {
                    found.push((number, absolute(path, module)));
                }
                None => {}
            }
        }
    }
    found
}

/// Whether what is before `use` is nothing, or says who may use it.
fn is_visibility(before: &str) -> bool {
    let before = before.trim();
    before.is_empty() || before == "pub" || (before.starts_with("pub(") && before.ends_with(')'))
}

/// The paths of a tree: `a::{b, c::d}` has `a::b` and `a::c::d`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((before, inside)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in inside.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(letter);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts
        .flat_map(|part| leaves(&format!("{}{}", before.trim(), part.trim())))
        .collect()
}

/// A path with `super` and `self` resolved, as `crate::…`.
fn absolute(path: &str, module: &[String]) -> String {
    let mut parts: Vec<&str> = path.split("::").collect();
    let ups = parts.iter().take_while(|part| **part == "super").count();
    if ups == 0 && parts[0] != "self" {
        return path.replace("core::", "std::");
    }
    parts.drain(..ups.max(1));
    let mut whole = vec!["crate"];
    whole.extend(
        module
            .iter()
            .take(module.len().saturating_sub(ups))
            .map(String::as_str),
    );
    whole.extend(parts);
    whole.join("::")
}
