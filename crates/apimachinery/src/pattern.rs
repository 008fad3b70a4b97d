//! Go's regular expressions, which API servers use, on the `regex` crate.
//!
//! Owns: [`Pattern`]: the few constructs that RE2 and the `regex` crate read differently, Go's limits of repetition,
//! and how large a pattern becomes before it is compiled. Flows in: the text of a pattern. Flows out: whether and where a
//! text matches. Must not know: schemas, CEL, or how much work may be spent.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

/// A pattern that is larger than this is not compiled: some ten megabytes. The largest of the CRDs of Gateway API, Istio,
/// Kuadrant and OCM is a hundredth of it.
const WEIGHT_MAX: u64 = 100_000;
/// More than Go repeats anything, alone or nested: golang/go src/regexp/syntax/parse.go@go1.24.0 `repeatIsValid`.
const REPEAT_MAX: u64 = 1_000;
/// The engine's own limit, behind [`WEIGHT_MAX`].
const BYTES_MAX: usize = 16 << 20;

/// Why a text is not a pattern, or not one that is compiled here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It is not a regular expression.
    #[error("{0}")]
    Syntax(String),
    /// It may be one, which would take more memory than a pattern gets here.
    #[error("it is too large to compile")]
    TooLarge,
}

/// A pattern that is parsed, whose size is known, and that is not compiled yet.
#[derive(Debug)]
pub struct ParsedPattern {
    text: String,
    weight: u64,
}

impl ParsedPattern {
    /// Parses a pattern as Go would: ASCII classes, and literal `[`, `&`, and `~` inside a class.
    ///
    /// # Errors
    /// It is not a pattern, or it is too large.
    pub fn parse(pattern: &str) -> Result<Self, PatternError> {
        let text = translate(pattern);
        let parsed = regex_syntax::parse(&text).map_err(|error| syntax(&error.to_string()))?;
        let weight = weight(&parsed, 1)?;
        if weight > WEIGHT_MAX {
            return Err(PatternError::TooLarge);
        }
        Ok(Self { text, weight })
    }

    /// About the states that it is compiled to.
    #[must_use]
    pub const fn weight(&self) -> u64 {
        self.weight
    }

    /// Compiles it.
    ///
    /// # Errors
    /// The engine refuses it.
    pub fn compile(self) -> Result<Pattern, PatternError> {
        let regex = RegexBuilder::new(&self.text).size_limit(BYTES_MAX).build();
        let regex = regex.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
            other => syntax(&other.to_string()),
        })?;
        let weight = self.weight;
        Ok(Pattern { regex, weight })
    }
}

/// A pattern that is ready.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    weight: u64,
}

impl Pattern {
    /// Whether something in `text` matches.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// What matches, from left to right.
    pub fn matches<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex.find_iter(text).map(|found| found.as_str())
    }

    /// About its states.
    #[must_use]
    pub const fn weight(&self) -> u64 {
        self.weight
    }
}

fn syntax(message: &str) -> PatternError {
    PatternError::Syntax(message.lines().last().unwrap_or_default().to_owned())
}

/// About the states that an expression is compiled to; `repeated` is how often what is around it repeats it.
fn weight(hir: &Hir, repeated: u64) -> Result<u64, PatternError> {
    let all = |parts: &[Hir]| {
        parts
            .iter()
            .try_fold(1_u64, |sum, part| Ok(sum.saturating_add(weight(part, repeated)?)))
    };
    Ok(match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => u64::try_from(literal.0.len()).unwrap_or(u64::MAX),
        HirKind::Class(Class::Bytes(_)) => 1,
        // A range beyond ASCII becomes several of bytes.
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges().iter();
            ranges
                .map(|range| if range.end().is_ascii() { 1_u64 } else { 8 })
                .fold(0, u64::saturating_add)
        }
        HirKind::Repetition(repetition) => {
            let bounds = u64::from(repetition.min).max(repetition.max.map_or(0, u64::from));
            let times = repeated.saturating_mul(bounds.max(1));
            if times > REPEAT_MAX {
                return Err(PatternError::Syntax("invalid repeat count".to_owned()));
            }
            weight(&repetition.sub, times)?
                .saturating_add(1)
                .saturating_mul(bounds.max(1))
        }
        HirKind::Capture(capture) => weight(&capture.sub, repeated)?.saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts)?,
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

    fn compile(pattern: &str) -> Result<Pattern, PatternError> {
        ParsedPattern::parse(pattern)?.compile()
    }

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
        assert!(matches("^[[:digit:]&&a]$", "&"));
        assert!(!matches("^[^]]$", "]"));
    }

    #[test]
    fn every_match_is_found_from_left_to_right_and_the_weight_is_that_of_the_text() {
        let pattern = compile("[0-9]+").expect("a pattern");
        assert_eq!(pattern.matches("a1b22c").collect::<Vec<_>>(), ["1", "22"]);
        assert_eq!(pattern.matches("abc").count(), 0);
        assert_eq!(compile("abcd").expect("a pattern").weight(), 4);
        assert!(
            compile("[a-z]{100}").expect("a pattern").weight()
                > compile("[a-z]{10}").expect("a pattern").weight()
        );
        let of_weight =
            |states: usize| ParsedPattern::parse(&"a".repeat(states)).map(|parsed| parsed.weight());
        assert_eq!(of_weight(100_000), Ok(WEIGHT_MAX));
        assert_eq!(of_weight(100_001), Err(PatternError::TooLarge));
    }

    #[test]
    fn a_match_anywhere_counts_as_in_go() {
        assert!(matches("b", "abc"));
    }

    #[test]
    fn repetition_has_the_bounds_of_go() {
        assert!(matches("^[a-z]{1,1000}$", "ab"));
        for pattern in [
            "a{1001}",
            "a{2,1001}",
            "(a{40}){40}",
            "((a{11}){10}){10}",
            "a{1,4294967295}",
        ] {
            assert_eq!(
                compile(pattern).expect_err(pattern),
                PatternError::Syntax("invalid repeat count".to_owned()),
                "{pattern}"
            );
        }
        assert!(compile("((a{10}){10}){10}").is_ok());
        // Without a bound nothing is counted.
        assert!(compile("(a{1000})*").is_ok());
    }

    #[test]
    fn a_pattern_that_would_take_much_memory_is_refused_before_it_is_compiled() {
        let pattern = "[a-z]{1,1000}".repeat(200);
        assert_eq!(ParsedPattern::parse(&pattern).err(), Some(PatternError::TooLarge));
        let pattern = "\\pL{1,1000}";
        assert_eq!(ParsedPattern::parse(pattern).err(), Some(PatternError::TooLarge));
        for pattern in ["^.{1,1000}$", "^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\.){1,10}$"] {
            assert!(compile(pattern).is_ok(), "{pattern}");
        }
    }
}
