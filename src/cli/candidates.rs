//! Candidates for shell completion: the objects and clusters of the hub in the current directory.
//!
//! Owns: which names are offered, and in which input they are looked for. Flows in: the words typed so far. Flows out:
//! candidates, or none if nothing can be read: nobody reads messages between two keystrokes. Must not know: shells,
//! commands.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use apimachinery::Locators;
use clap_complete::engine::CompletionCandidate;
use spokewright::diagnostic::CODES;
use spokewright::pipeline::{self, Loaded, Request};

/// Objects of the hub, and of the clusters: `KIND/`, then `KIND/NAMESPACE/NAME`.
pub(crate) fn objects(current: &OsStr) -> Vec<CompletionCandidate> {
    let loaded = input();
    let hub = &loaded.hub;
    let all = hub.objects.iter().chain(hub.spokes.values().flatten());
    let locators: Vec<String> = all.map(|object| object.identity().locator()).collect();
    let kinds: Locators<'_> = locators.iter().map(String::as_str).collect();
    let names = locators.iter().map(|locator| {
        let name = kinds.short(locator);
        match name.split_once('/') {
            Some((kind, _)) if !current.to_string_lossy().contains('/') => format!("{kind}/"),
            _ => name,
        }
    });
    offered(names.collect::<BTreeSet<String>>(), current)
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
    let is_plain = |name: &String| {
        name.chars()
            .all(|character| character.is_ascii_alphanumeric() || "-._:/,".contains(character))
    };
    let names = names.into_iter().filter(|name| name.starts_with(&*typed));
    names.filter(is_plain).map(CompletionCandidate::new).collect()
}

/// The input that is named among the words, else that of the current directory.
fn input() -> Loaded {
    let words: Vec<OsString> = std::env::args_os()
        .skip_while(|word| word != "--")
        .skip(1)
        .collect();
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
