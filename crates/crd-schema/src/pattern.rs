//! Patterns: from Go's regular expressions, which API servers use, to this crate's engine.
//!
//! Owns: [`Pattern`], which compiles when it is first needed (a schema has hundreds, an object meets a few),
//! and the few spots where RE2 and the `regex` crate read one text differently. Flows in: a pattern.
//! Flows out: whether a text matches. Must not know: schemas.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use regex::Regex;

/// A pattern that is compiled, or why it is none.
type Compiled = Arc<Result<Regex, String>>;

/// Every pattern that any schema has needed: a name, a hostname or a group is asked for in a hundred places with the same
/// text, and to compile it takes longer than to check an object.
static COMPILED: LazyLock<RwLock<HashMap<String, Compiled>>> = LazyLock::new(RwLock::default);

/// A pattern as written, compiled on first use.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    regex: OnceLock<Compiled>,
}

impl Pattern {
    pub(crate) const fn new(text: String) -> Self {
        Self {
            text,
            regex: OnceLock::new(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something in `text` matches, as in Go. A pattern that is none is the schema's fault, not the
    /// text's: [`Pattern::problem`] says so.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        self.regex().as_ref().map_or(true, |regex| regex.is_match(text))
    }

    /// Why it is no pattern.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.regex().as_ref().err().map(String::as_str)
    }

    fn regex(&self) -> &Result<Regex, String> {
        self.regex.get_or_init(|| compiled(&self.text))
    }
}

fn compiled(text: &str) -> Compiled {
    // A thread that panicked has left the map whole: it holds finished patterns alone.
    let known = COMPILED
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(text)
        .cloned();
    known.unwrap_or_else(|| {
        let pattern = Arc::new(compile(text));
        let mut all = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(text.to_owned()).or_insert(pattern))
    })
}

/// Compiles a pattern as Go would: ASCII classes, and `[`, `&`, `~` inside a class standing for themselves.
fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(&translate(pattern)).map_err(|error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().to_owned()
    })
}

fn translate(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    // Position inside a class: `]` right after its start stands for itself.
    let mut class: Option<usize> = None;
    while let Some(character) = characters.next() {
        let inside = class;
        if let Some(position) = &mut class {
            *position = position.saturating_add(1);
        }
        match (character, inside) {
            ('\\', _) => match characters.next() {
                Some('d') => text.push_str("[0-9]"),
                Some('D') => text.push_str("[^0-9]"),
                Some('w') => text.push_str("[0-9A-Za-z_]"),
                Some('W') => text.push_str("[^0-9A-Za-z_]"),
                Some('s') => text.push_str("[\\t\\n\\x0C\\r ]"),
                Some('S') => text.push_str("[^\\t\\n\\x0C\\r ]"),
                Some('b') => text.push_str("(?-u:\\b)"),
                Some('B') => text.push_str("(?-u:\\B)"),
                Some('/') => text.push('/'),
                Some(other) => {
                    text.push('\\');
                    text.push(other);
                }
                None => text.push('\\'),
            },
            ('[', None) => {
                text.push('[');
                if characters.peek() == Some(&'^') {
                    characters.next();
                    text.push('^');
                }
                class = Some(0);
            }
            ('[', Some(_)) if characters.peek() == Some(&':') => {
                text.push('[');
                for posix in characters.by_ref() {
                    text.push(posix);
                    if posix == ']' {
                        break;
                    }
                }
            }
            ('[' | '&' | '~', Some(_)) => {
                text.push('\\');
                text.push(character);
            }
            (']', Some(0)) => text.push_str("\\]"),
            (']', Some(_)) => {
                text.push(']');
                class = None;
            }
            (other, _) => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        compile(pattern).expect(pattern).is_match(text)
    }

    #[test]
    fn classes_are_ascii_as_in_go() {
        assert!(matches("^\\d+$", "42"));
        assert!(!matches("^\\d+$", "٤٢"));
        assert!(matches("^[\\w.]+$", "a_1.b"));
        assert!(!matches("^\\w$", "é"));
        assert!(!matches("^\\s$", "\u{a0}"));
    }

    #[test]
    fn brackets_and_ampersands_inside_a_class_stand_for_themselves() {
        assert!(matches("^[[a]$", "["));
        assert!(matches("^[]a]$", "]"));
        assert!(matches("^[a&&b]$", "&"));
        assert!(matches("^(([0-9])+[h|m|s])|None$", "10m"));
        assert!(matches("^[[:alpha:]]+$", "ab"));
        assert!(!matches("^[^]]$", "]"));
    }

    #[test]
    fn a_match_anywhere_counts_as_in_go() {
        assert!(matches("b", "abc"));
    }
}
