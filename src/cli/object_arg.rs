//! Resolves the name of an object on the command line to one object of the input, and a kind alone to several.
//!
//! Owns: which words are one name, and the message if no object or several match.
//! Flows in: the objects to choose from, the text. Flows out: objects, or a refusal that suggests similar names.
//! Must not know: what is done with the object.

use std::collections::BTreeSet;
use std::path::PathBuf;

use apimachinery::{Locators, named_parts};
use spokewright::Object;
use spokewright::diagnostic::{first_items, nearest};
use spokewright::pipeline::Loaded;

use super::print::{Refusal, refuse};

/// At most so many names are listed where none is near: so many can be read.
const MOST_NAMES: usize = 10;

/// The object that `text` names. Without a namespace, the only one of that kind and name, wherever it is; the kind may
/// be a plural or bear its group, as kubectl takes it. One object that is on several clusters counts once.
pub(crate) fn named<'a>(loaded: &Loaded, objects: &[&'a Object], text: &str) -> Result<&'a Object, Refusal> {
    let Some((kind, namespace, name)) = named_parts(text) else {
        // Whoever leaves out the kind means one of a few.
        let called = objects.iter().find(|object| object.name == text);
        let is_method = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_uppercase());
        let help = called.map_or_else(
            || {
                if is_method {
                    return format!("a request is one argument: write it in quotes, as in '{text} https://shop.example.com/'");
                }
                "write KIND/NAME or KIND/NAMESPACE/NAME, as in gateway/shop/web".to_owned()
            },
            |object| format!("did you mean `{}`?", Locators::default().short(&object.identity().locator())),
        );
        return refuse(&format!("`{text}` is not the name of an object"), &help);
    };
    let (of_kind, namespace) = match of_kind(loaded, objects, kind) {
        // Sentences leave out a kind that is clear, and so may whoever pastes from them.
        Err(_) if namespace.is_none() && objects.iter().any(|object| object.key() == text) => {
            (objects.to_vec(), Some(kind))
        }
        of_kind => (of_kind?, namespace),
    };
    let mut found: Vec<&'a Object> = of_kind
        .iter()
        .copied()
        .filter(|object| {
            object.name == name && namespace.is_none_or(|wanted| object.namespace_or_empty() == wanted)
        })
        .collect();
    found.sort_by_key(|object| object.identity());
    found.dedup_by_key(|object| object.identity());
    match found.as_slice() {
        [object] => Ok(object),
        [] => {
            let keys: Vec<String> = of_kind.iter().map(|object| object.key()).collect();
            let wanted = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
            let names = of_kind.iter().map(|object| object.name.as_str());
            let near = nearest(&wanted, keys.iter().map(String::as_str)).or_else(|| nearest(name, names));
            let help = near.map_or_else(
                || format!("the input has: {}", first_items(&keys, MOST_NAMES)),
                |near| format!("did you mean `{kind}/{near}`?"),
            );
            refuse(&format!("there is no {kind} `{wanted}`"), &help)
        }
        several => {
            let locators: Vec<String> = several.iter().map(|object| object.identity().locator()).collect();
            let kinds: Locators<'_> = locators.iter().map(String::as_str).collect();
            let names: Vec<String> = locators.iter().map(|locator| kinds.short(locator)).collect();
            refuse(
                &format!("several objects have the name `{text}`"),
                &format!("write one of: {}", names.join(", ")),
            )
        }
    }
}

/// The objects of a kind, which is spelled as [`named`] takes it; refused where there is none.
pub(crate) fn of_kind<'a>(
    loaded: &Loaded,
    objects: &[&'a Object],
    kind: &str,
) -> Result<Vec<&'a Object>, Refusal> {
    let of_kind: Vec<&Object> = objects
        .iter()
        .copied()
        .filter(|object| loaded.hub.is_of_kind(object, kind))
        .collect();
    if !of_kind.is_empty() {
        return Ok(of_kind);
    }
    let kinds: BTreeSet<String> = objects
        .iter()
        .map(|object| object.kind.as_str().to_lowercase())
        .collect();
    let near = nearest(&kind.to_lowercase(), kinds.iter().map(String::as_str));
    let help = near.map_or_else(
        || {
            let kinds: Vec<String> = kinds.iter().cloned().collect();
            format!("the kinds of the input are: {}", kinds.join(", "))
        },
        |near| format!("did you mean `{near}`?"),
    );
    refuse(&format!("the input contains no `{kind}`"), &help)
}

/// Removes the first path, which turned out to be a name; without any other, the input is the current directory.
pub(crate) fn without_first(paths: &mut Vec<PathBuf>) {
    paths.drain(..paths.len().min(1));
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
}

/// An object of a command line, as [`named`] takes it: kubectl's `KIND NAME` is one text, and the namespace of `-n` is in
/// it. What exists as a path is never a name.
pub(crate) fn one_text(object: &str, namespace: Option<&str>, paths: &mut Vec<PathBuf>) -> String {
    let mut text = object.to_owned();
    let next = paths.first().filter(|next| !next.exists());
    let both = next.map(|name| format!("{object}/{}", name.display()));
    if let Some(both) = both.filter(|both| !object.contains(['/', ' ']) && named_parts(both).is_some()) {
        text = both;
        without_first(paths);
    }
    match (named_parts(&text), namespace) {
        (Some((kind, _, name)), Some(namespace)) => format!("{kind}/{namespace}/{name}"),
        _ => text,
    }
}
