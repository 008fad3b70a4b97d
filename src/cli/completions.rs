//! `spokewright completions` and `spokewright man`: completions for shells and for kubectl, whose candidates are the objects
//! and clusters of the hub in the current directory, and manual pages. If nothing can be read, there are no candidates:
//! nobody reads messages between two keystrokes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use apimachinery::Locators;
use clap::{Args, Command};
use clap_complete::engine::{CompletionCandidate, complete};
use clap_complete::env::Shells;
use clap_mangen::Man as Page;
use spokewright::Object;
use spokewright::diagnostic::CODES;
use spokewright::output::write_files;
use spokewright::pipeline::{self, Loaded, Request};

use super::print::{self, Status};

const AFTER_HELP: &str = "\
Examples:
  source <(spokewright completions bash)         in this shell only

In every shell, with this line in its startup file:
  ~/.bashrc                   source <(spokewright completions bash)
  ~/.zshrc, after compinit    source <(spokewright completions zsh)
  ~/.config/fish/config.fish  spokewright completions fish | source
  $PROFILE (PowerShell)       spokewright completions powershell |
                                Out-String | Invoke-Expression
  ~/.config/elvish/rc.elv     eval (spokewright completions elvish | slurp)

`kubectl spokewright` completes if the PATH has a link to this program called
kubectl_complete-spokewright.";

/// The variable by which a shell asks for candidates; it names the shell.
pub(crate) const VARIABLE: &str = "SPOKEWRIGHT_COMPLETE";

/// What kubectl starts to complete `kubectl spokewright`: a link to this program.
pub(crate) const KUBECTL: &str = "kubectl_complete-spokewright";

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[command(arg_required_else_help = true)]
pub(crate) struct Completions {
    /// Shell to complete in
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

impl Completions {
    /// Prints a script that asks this program for candidates: they depend on the hub in the current directory.
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let mut script = Vec::new();
        if let Some(completer) = Shells::builtins().completer(&self.shell) {
            let name = "spokewright";
            completer
                .write_registration(VARIABLE, name, name, name, &mut script)
                .context("cannot make the script")?;
        }
        print::text(&script)
    }
}

/// Prints candidates as kubectl takes them from plugins: one a line with its description behind a tab, then how to go
/// on, as a sum of cobra's directives (spf13/cobra completions.go: no space 2, no file names 4).
pub(crate) fn for_kubectl(mut command: Command, words: Vec<OsString>) -> anyhow::Result<Status> {
    let mut words: Vec<OsString> = [OsString::from("spokewright")].into_iter().chain(words).collect();
    if words.len() == 1 {
        words.push(OsString::new());
    }
    let here = std::env::current_dir().ok();
    let last = words.len().saturating_sub(1);
    let candidates = complete(&mut command, words, last, here.as_deref()).context("cannot complete")?;
    let mut text = String::new();
    let mut goes_on = !candidates.is_empty();
    for candidate in candidates.iter().filter(|candidate| !candidate.is_hide_set()) {
        let value = candidate.get_value().to_string_lossy();
        goes_on &= value.ends_with(['/', '=']);
        text.push_str(&value);
        let help = candidate.get_help().map(ToString::to_string);
        if let Some(line) = help.as_deref().and_then(|help| help.lines().next()) {
            text.push('\t');
            text.push_str(line);
        }
        text.push('\n');
    }
    text.push_str(if goes_on { ":6\n" } else { ":4\n" });
    print::text(&text)
}

/// Objects of the hub, and of the clusters: `KIND/`, then `KIND/NAMESPACE/NAME`.
pub(crate) fn objects(current: &OsStr) -> Vec<CompletionCandidate> {
    let loaded = input();
    let hub = &loaded.hub;
    let all = hub.objects.iter().chain(hub.spokes.values().flatten());
    let is_kind = !current.to_string_lossy().contains('/');
    let names = short_names(all)
        .into_iter()
        .map(|name| match name.split_once('/') {
            Some((kind, _)) if is_kind => format!("{kind}/"),
            _ => name,
        });
    offered(names.collect::<BTreeSet<String>>(), current)
}

/// The names of objects, each as short as it is clear among the others.
pub(crate) fn short_names<'a>(objects: impl Iterator<Item = &'a Object>) -> Vec<String> {
    let locators: Vec<String> = objects.map(|object| object.identity().locator()).collect();
    let kinds: Locators<'_> = locators.iter().map(String::as_str).collect();
    locators.iter().map(|locator| kinds.short(locator)).collect()
}

/// One cluster.
pub(crate) fn cluster(current: &OsStr) -> Vec<CompletionCandidate> {
    let loaded = input();
    offered(loaded.known_clusters().into_iter().map(str::to_owned), current)
}

/// Clusters with commas between them: the last of them is being typed.
pub(crate) fn clusters(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let before = text
        .rfind(',')
        .and_then(|comma| text.get(..=comma))
        .unwrap_or_default();
    let loaded = input();
    let names = loaded.known_clusters().into_iter();
    offered(names.map(|name| format!("{before}{name}")), current)
}

/// Names of schemas.
pub(crate) fn schemas(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = pipeline::SCHEMAS.iter().map(|(name, _)| (*name).to_owned());
    let others = ["catalog", "crd", "schema-store"].map(str::to_owned);
    offered(names.chain(others), current)
}

/// Finding codes.
pub(crate) fn codes(current: &OsStr) -> Vec<CompletionCandidate> {
    offered(CODES.iter().map(|(code, ..)| code.name().to_owned()), current)
}

/// Those that begin as typed. A name of a hostile input that a shell would expand, split or obey is not offered: names
/// of objects that an API server takes have none of those characters.
fn offered(names: impl IntoIterator<Item = String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let is_plain_character =
        |character: char| character.is_ascii_alphanumeric() || "-._:/,".contains(character);
    let is_plain = |name: &String| name.chars().all(is_plain_character);
    let names = names.into_iter().filter(|name| name.starts_with(&*typed));
    names.filter(is_plain).map(CompletionCandidate::new).collect()
}

/// The input that is named among the words, else that of the current directory.
fn input() -> Loaded {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let words: Vec<OsString> = words.collect();
    let value = |option: &str| {
        let at = words.iter().position(|word| word == option)?;
        words.get(at.checked_add(1)?).map(PathBuf::from)
    };
    let is_option =
        |word: Option<&OsString>| word.is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    let named = words.iter().enumerate().skip(2).filter(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        !is_option(Some(*word)) && !is_option(before) && Path::new(word).exists()
    });
    let mut paths: Vec<PathBuf> = named.map(|(_, word)| PathBuf::from(word)).collect();
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
    pipeline::load(&Request {
        paths,
        config: value("--config"),
        spokes: value("--spokes"),
        ..Request::default()
    })
}

const MAN_AFTER_HELP: &str = "\
Examples:
  spokewright man | man -l -
  spokewright man /usr/local/share/man/man1      one page per command";

/// Print the manual page, or write one per command
#[derive(Debug, Args)]
#[command(after_help = MAN_AFTER_HELP)]
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
            None => print::text(&page(&command)?),
            Some(directory) => {
                let mut pages = BTreeMap::new();
                collect_pages(&command, &mut pages)?;
                write_files(&directory, &pages)
                    .with_context(|| format!("cannot write manual pages into `{}`", directory.display()))?;
                Ok(Status::Done)
            }
        }
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
