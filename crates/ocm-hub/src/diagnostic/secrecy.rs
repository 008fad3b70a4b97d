//! Which text of the input may belong to a Secret. None of it is shown, because more people read CI logs, comments, and
//! conditions than the repository.
//!
//! Owns: this decision, from the text alone, because it is also needed for text that no reader could parse. Flows in:
//! the text of a file, a position. Flows out: yes or no. Must not know: findings, YAML beyond what an entry looks like.
//!
//! If in doubt, text is not shown: a line that only looks like a separator joins two documents, a kind that is not a
//! plain word may be any kind, and a document without a kind may have lost it to the mistake.

use std::cell::OnceCell;

/// The text of a file, and what is known of it.
#[derive(Debug)]
pub struct Secrecy<'t> {
    text: &'t str,
    mentions: OnceCell<bool>,
}

impl<'t> Secrecy<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            mentions: OnceCell::new(),
        }
    }

    /// Whether the document around a byte is, contains, or may be a Secret.
    pub(crate) fn covers(&self, at: usize) -> bool {
        self.covers_document(document(self.text, at))
    }

    /// The same of a document of this file, for a caller that knows where it begins and ends.
    pub(crate) fn covers_document(&self, document: &str) -> bool {
        if mentions(document) {
            // A Gateway may also name the kind Secret, and has no data.
            return has_values(document);
        }
        // Which kind an item of a list would have had, nobody knows.
        let is_known = top_kind(document).is_some_and(|kind| !kind.ends_with("List"));
        // A line of a Secret that looks like a border leaves the rest without a kind.
        !is_known && (has_values(document) || *self.mentions.get_or_init(|| mentions(self.text)))
    }
}

/// Whether a value of an object is a text that contains a Secret with values, in any format for objects.
#[must_use]
pub fn holds_secret(text: &str) -> bool {
    mentions(text) && has_values(text)
}

/// Whether some kind in a text is, or may be, Secret.
fn mentions(text: &str) -> bool {
    kinds(text).any(|kind| kind.is_none_or(|kind| kind.eq_ignore_ascii_case("Secret")))
}

fn has_values(text: &str) -> bool {
    let written = ["data", "stringData"];
    // A key may be written with escapes.
    written.iter().any(|key| entries(text, key).next().is_some())
        || text.contains("\\u")
        || text.contains("\\x")
}

/// The text between two lines of nothing but three dashes.
fn document(text: &str, at: usize) -> &str {
    const BORDER: &str = "\n---";
    let is_border = |(position, _): &(usize, &str)| {
        let after = text
            .get(position.saturating_add(BORDER.len())..)
            .unwrap_or_default();
        after.lines().next().unwrap_or_default().trim().is_empty()
    };
    let at = super::visible::floor_boundary(text, at);
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at..).unwrap_or_default();
    let start = before.rmatch_indices(BORDER).find(is_border);
    let start = start.map_or(0, |(border, _)| border.saturating_add(1));
    let mut borders = after
        .match_indices(BORDER)
        .map(|(border, found)| (border.saturating_add(at), found));
    let end = borders.find(is_border).map_or(text.len(), |(border, _)| border);
    text.get(start..end).unwrap_or(text)
}

/// The text after each entry of this key, in block or flow style.
fn entries<'d>(document: &'d str, key: &'d str) -> impl Iterator<Item = (usize, &'d str)> {
    // The backslash is in JSON that is a text of JSON.
    let is_quote = |letter: char| "\"'\\".contains(letter) || letter.is_whitespace();
    let is_word = |letter: char| letter.is_alphanumeric() || "-_./".contains(letter);
    document.match_indices(key).filter_map(move |(position, found)| {
        let before = document.get(..position).unwrap_or_default();
        if before.ends_with(is_word) {
            return None;
        }
        let after = document.get(position.saturating_add(found.len())..)?;
        let value = after.trim_start_matches(is_quote).strip_prefix(':')?;
        Some((position, value))
    })
}

/// The value of every entry `kind`, `None` for one that is not a plain or a quoted word.
fn kinds(document: &str) -> impl Iterator<Item = Option<&str>> {
    entries(document, "kind").map(|(_, value)| word(value))
}

/// The kind of the document itself: at the start of a line, or anywhere in flow style.
fn top_kind(document: &str) -> Option<&str> {
    let is_flow = document.trim_start_matches("---").trim_start().starts_with('{');
    let mut found = entries(document, "kind").filter(|(position, _)| {
        let before = document.get(..*position).unwrap_or_default();
        is_flow || before.is_empty() || before.ends_with('\n') || before.ends_with('\u{feff}')
    });
    found.find_map(|(_, value)| word(value))
}

fn word(value: &str) -> Option<&str> {
    let value = value.trim_start_matches([' ', '\t']);
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    let end = value
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(value.len());
    let (word, after) = value.split_at_checked(end)?;
    let ends = after.is_empty()
        || after.starts_with(|letter: char| letter.is_whitespace() || "\"',}]".contains(letter));
    (ends && !word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_document_that_is_or_may_be_a_secret_is_covered_and_no_other_one() {
        for text in [
            "kind: Secret\nstringData: {k: HERE}\n",
            "kind: secret\nstringData: {k: HERE}\n",
            "kind: ConfigMap\nkind: Secret\ndata: {k: HERE}\n",
            "stringData: {k: HERE\nkind: \"Secret\"\n",
            "\"k\\u0069nd\": Secret\ndata: {k: HERE}\n",
            "kind: \"S\\u0065cret\"\ndata: {k: HERE}\n",
            "kind: !!str Secret\ndata: {k: HERE}\n",
            "a: &k Secret\nkind: *k\ndata: {k: HERE}\n",
            "kind: |\n  Secret\ndata: {k: HERE}\n",
            "apiVersion: v1\nstringData:\n  password: HERE\n",
            "{\"data\": {\"k\": \"HERE",
            "kind: List\nitems:\n- data: {k: HERE}\n",
            "kind: Secret\nstringData:\n  k: |\n---\n    HERE\n",
            "kind: Secret\nstringData:\n  k: |\n-----BEGIN\nHERE\n---\nkind: Gateway\n",
            "kind: Secret\ndata: {k: aGlkZGVu}\n--- HERE\nkind: Gateway\n",
        ] {
            let at = text.find("HERE").expect("a mark");
            assert!(Secrecy::new(text).covers(at), "{text}");
        }
        for text in [
            "kind: Gateway\nspec: {tls: {kind: Secret, name: HERE}}\n",
            "kind: Gateway\nmetadata: {a: b}\nspec: {tls: {kind: Secret, name: HERE}}\n",
            "kind: SecretStore\ndata: {name: HERE}\n",
            "kind: ConfigMap\ndata: {name: HERE}\n",
            "kind: Secret\ndata: {k: aGlkZGVu}\n---\nkind: Gateway\nname: HERE\n",
            "output: HERE\n",
            "{\"kind\": \"Gateway\", \"name\": \"HERE",
        ] {
            let at = text.find("HERE").expect("a mark");
            assert!(!Secrecy::new(text).covers(at), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_follows_in_a_secret_is_covered(
            head in proptest::sample::select(&[
                "kind: Secret\nstringData:\n  k: ",
                "{\"kind\":\"Secret\",\"data\":{\"k\":\"",
                "apiVersion: v1\ndata:\n  k: ",
                "kind: List\nitems:\n- kind: Secret\n  data:\n    k: ",
            ][..]),
            tail in "(hunter2|[\n\r \t\"'@%`*&!|>{}\\[\\],:#?-]|---|\n---\n|\n---|data|Secret|\\PC){0,40}",
        ) {
            let text = format!("{head}{tail}");
            let secrecy = Secrecy::new(&text);
            // Behind a border a new document begins, which may be anything once the file has no other Secret.
            let has_lost_its_head = !head.contains("Secret") && tail.contains("---");
            for at in head.len()..=text.len() {
                prop_assert!(has_lost_its_head || secrecy.covers(at), "{:?} at {}", text, at);
            }
        }
    }
}
