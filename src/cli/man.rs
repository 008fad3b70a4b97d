//! `spokewright man`: manual pages.
//!
//! Owns: the form of a page. Flows in: the command line's definition. Flows out: roff, on stdout or as files. Must not
//! know: what a command does.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_mangen::Man as Page;
use spokewright::output::write_files;

use super::status::Status;

const AFTER_HELP: &str = "\
Examples:
  spokewright man | man -l -
  spokewright man /usr/local/share/man/man1      one page per command";

/// Print the manual page, or write one per command
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Man {
    /// Directory to write pages into
    directory: Option<PathBuf>,
}

impl Man {
    /// Writes the pages of `command`, the whole of what can be typed.
    pub(crate) fn run(self, command: Command) -> anyhow::Result<Status> {
        let mut command = command.disable_help_subcommand(true);
        // Gives every command its whole name, such as `spokewright argocd generate`.
        command.build();
        match self.directory {
            None => io::stdout()
                .lock()
                .write_all(&page(&command)?)
                .context("cannot write to stdout")?,
            Some(directory) => {
                let mut pages = BTreeMap::new();
                collect_pages(&command, &mut pages)?;
                write_files(&directory, &pages)
                    .with_context(|| format!("cannot write manual pages into `{}`", directory.display()))?;
            }
        }
        Ok(Status::Done)
    }
}

fn collect_pages(command: &Command, pages: &mut BTreeMap<String, String>) -> io::Result<()> {
    for sub in command.get_subcommands() {
        collect_pages(sub, pages)?;
    }
    let text = String::from_utf8(page(command)?).map_err(io::Error::other)?;
    pages.insert(Page::new(command.clone()).get_filename(), text);
    Ok(())
}

/// One page. The usage is the one of `--help`, and what is below the options there, examples above all, keeps its
/// lines: a manual's paragraphs would run them together.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    const VERSION: &str = concat!("spokewright ", env!("CARGO_PKG_VERSION"));
    let man = Page::new(command.clone())
        .source(VERSION)
        .manual("spokewright manual");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let usage = command.clone().render_usage().to_string();
    as_it_stands(&mut page, "SYNOPSIS", usage.trim_start_matches("Usage: "))?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        let text = text.to_string();
        match text.strip_prefix("Examples:\n") {
            Some(examples) => as_it_stands(&mut page, "EXAMPLES", examples)?,
            None => as_it_stands(&mut page, "NOTES", &text)?,
        }
    }
    Ok(page)
}

/// A section whose lines are not filled (`nf`).
fn as_it_stands(page: &mut Vec<u8>, heading: &str, text: &str) -> io::Result<()> {
    writeln!(page, ".SH {heading}\n.nf")?;
    for line in text.trim_end().lines() {
        writeln!(page, "{}", escaped(line))?;
    }
    writeln!(page, ".fi")
}

/// A line of text for roff: `\\&` keeps a dot or an apostrophe at its start from being a request, and what typesetting
/// would replace is named (groff_char(7)), so that a command can be copied from the page.
fn escaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    if line.starts_with(['.', '\'']) {
        text.push_str("\\&");
    }
    for character in line.chars() {
        match character {
            '\\' => text.push_str("\\e"),
            '-' => text.push_str("\\-"),
            '\'' => text.push_str("\\(aq"),
            '`' => text.push_str("\\(ga"),
            '^' => text.push_str("\\(ha"),
            '~' => text.push_str("\\(ti"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reaches_the_page_as_it_is() {
        assert_eq!(
            escaped(".SH 'x' `y` ~/a-b \\ ^"),
            "\\&.SH \\(aqx\\(aq \\(gay\\(ga \\(ti/a\\-b \\e \\(ha"
        );
        assert_eq!(escaped("  plain"), "  plain");
    }
}
