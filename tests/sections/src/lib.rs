//! Tests whose inputs are in a file, and what comes of each of them in a snapshot beside it.
//!
//! A file has sections. Each begins with a line `=== TITLE`; the lines before the first one belong to all of them.
//! `INSTA_UPDATE=always` writes the snapshots; read the difference before you commit it.

// Only tests use it.
#![allow(clippy::expect_used)]

use std::fs;
use std::path::Path;

/// One input of a file.
#[derive(Debug)]
pub struct Section<'a> {
    /// The lines that all sections of the file share.
    pub shared: &'a str,
    /// What the section shows.
    pub title: &'a str,
    /// Its lines.
    pub text: &'a str,
}

/// Compares what comes of each section of a file with the snapshot beside it.
///
/// # Panics
/// If something else comes of a section, or if the file cannot be read.
pub fn check(file: impl AsRef<Path>, mut output: impl FnMut(&Section<'_>) -> String) {
    check_all(file.as_ref(), |text| {
        let (shared, sections) = text.split_once("=== ").unwrap_or((text, ""));
        assert!(!sections.is_empty(), "no section");
        let mut outputs = String::new();
        for section in sections.split("\n=== ") {
            let (title, text) = section.split_once('\n').unwrap_or((section, ""));
            let made = output(&Section { shared, title, text });
            outputs += &format!("=== {title}\n{}\n", made.trim_end());
        }
        outputs
    });
}

/// Compares what comes of each line of a file with the snapshot beside it. Empty lines and those that begin with `# ` are
/// comments.
///
/// # Panics
/// If something else comes of a line, or if the file cannot be read.
pub fn check_lines(file: impl AsRef<Path>, mut output: impl FnMut(&str) -> String) {
    check_all(file.as_ref(), |text| {
        let mut outputs = String::new();
        for line in text.lines() {
            outputs += line;
            if !line.is_empty() && !line.starts_with("# ") {
                outputs += "\n    ";
                outputs += &output(line).replace('\n', "\n    ");
            }
            outputs.push('\n');
        }
        outputs
    });
}

fn check_all(file: &Path, outputs: impl FnOnce(&str) -> String) {
    let text = fs::read_to_string(file).expect("a file of inputs");
    let outputs = outputs(&text);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(file.parent().expect("a directory"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
    settings.bind(|| insta::assert_snapshot!(name, outputs));
}
