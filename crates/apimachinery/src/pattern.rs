//! Go's regular expressions, which API servers use, on the `regex` crate. Before a pattern is compiled, it is checked
//! for what the two read differently, for Go's limits of repetition, and for its size.

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
    /// Parses a pattern as Go would (`golang/go src/regexp/syntax/parse.go@go1.24.0`): ASCII classes, literal `[`, `&`, and
    /// `~` inside a class, braces that count nothing, quoted text, octal numbers; no repetition of a repetition, and only
    /// Go's flags.
    ///
    /// # Errors
    /// It is not a pattern, or it is too large.
    pub fn parse(pattern: &str) -> Result<Self, PatternError> {
        let text = translate(pattern)?;
        let parsed = regex_syntax::parse(&text).map_err(|error| syntax(&error.to_string()))?;
        let weight = weight(&parsed, 1)?;
        if weight > WEIGHT_MAX {
            return Err(PatternError::TooLarge);
        }
        Ok(Self { text, weight })
    }

    /// About the states that it is compiled to.
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
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// What matches, from left to right.
    pub fn matches<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex.find_iter(text).map(|found| found.as_str())
    }

    /// About its states.
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

fn translate(pattern: &str) -> Result<String, PatternError> {
    let mut text = String::with_capacity(pattern.len());
    let mut rest = pattern;
    // Position inside a class: `]` right after its start stands for itself.
    let mut class: Option<usize> = None;
    let mut is_repetition = false;
    while let Some(character) = rest.chars().next() {
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        let inside = class;
        if let Some(position) = &mut class {
            *position = position.saturating_add(1);
        }
        if let (None, Some(operator)) = (inside, operator(rest)) {
            if is_repetition {
                return Err(syntax("invalid nested repetition operator"));
            }
            is_repetition = true;
            text.push_str(operator);
            rest = rest.get(operator.len()..).unwrap_or_default();
            continue;
        }
        is_repetition = false;
        rest = match (character, inside) {
            ('\\', _) => escape(after, &mut text),
            ('[', None) => {
                text.push('[');
                class = Some(0);
                let negated = after.strip_prefix('^');
                text.extend(negated.map(|_| '^'));
                negated.unwrap_or(after)
            }
            ('[', Some(_)) if after.starts_with(':') => {
                let end = rest.find(']').map_or(rest.len(), |end| end.saturating_add(1));
                let (posix, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                text.push_str(posix);
                after
            }
            ('[' | '&' | '~', Some(_)) | ('{', None) | (']', Some(0)) => {
                text.push('\\');
                text.push(character);
                after
            }
            (']', Some(_)) => {
                text.push(']');
                class = None;
                after
            }
            ('(', None) if after.starts_with('?') => {
                let (group, after) = group(after)?;
                text.push('(');
                text.push_str(group);
                after
            }
            (other, _) => {
                text.push(other);
                after
            }
        };
    }
    Ok(text)
}

/// A repetition at the start of a text, with the `?` that makes it lazy. Braces that count nothing stand for themselves.
fn operator(text: &str) -> Option<&str> {
    let end = match text.chars().next()? {
        '*' | '+' | '?' => 1,
        '{' => {
            let after = text.get(1..)?;
            let end = after.find(|letter: char| letter != ',' && !letter.is_ascii_digit())?;
            let counts = after.get(..end)?;
            let closing = after.get(end..)?.strip_prefix('}');
            let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
            let is_number = |digits: &str| {
                let is_canonical = digits == "0" || !digits.starts_with('0');
                is_canonical && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            };
            let counts_something = is_number(least) && (most.is_empty() || is_number(most));
            closing.filter(|_| counts_something)?;
            end.saturating_add(2)
        }
        _ => return None,
    };
    let is_lazy = text.get(end..)?.starts_with('?');
    text.get(..end.saturating_add(usize::from(is_lazy)))
}

/// The flags or the start of the name behind the bracket of a group, and what follows.
fn group(text: &str) -> Result<(&str, &str), PatternError> {
    if ["?P<", "?<"].iter().any(|name| text.starts_with(name)) {
        return Ok(text.split_at_checked(1).unwrap_or((text, "")));
    }
    let end = text.find([':', ')']).unwrap_or(text.len());
    let (flags, after) = text.split_at_checked(end).unwrap_or((text, ""));
    if flags.chars().skip(1).all(|flag| "imsU-".contains(flag)) {
        Ok((flags, after))
    } else {
        Err(syntax("invalid or unsupported Perl syntax"))
    }
}

/// Translates what follows a backslash, and returns the rest.
fn escape<'p>(after: &'p str, text: &mut String) -> &'p str {
    let Some(character) = after.chars().next() else {
        text.push('\\');
        return after;
    };
    let rest = after.get(character.len_utf8()..).unwrap_or_default();
    match character {
        'd' => text.push_str("[0-9]"),
        'D' => text.push_str("[^0-9]"),
        'w' => text.push_str("[0-9A-Za-z_]"),
        'W' => text.push_str("[^0-9A-Za-z_]"),
        's' => text.push_str("[\\t\\n\\x0C\\r ]"),
        'S' => text.push_str("[^\\t\\n\\x0C\\r ]"),
        'b' => text.push_str("(?-u:\\b)"),
        'B' => text.push_str("(?-u:\\B)"),
        '/' | '<' | '>' => text.push(character),
        'Q' => {
            let (quoted, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
            text.push_str(&regex_syntax::escape(quoted));
            return rest;
        }
        '0'..='7' => {
            let digits = after
                .bytes()
                .take(3)
                .take_while(|byte| (b'0'..=b'7').contains(byte));
            let digits = after.get(..digits.count()).unwrap_or_default();
            let code = u32::from_str_radix(digits, 8).ok();
            // One digit alone would be a backreference.
            return match code.filter(|_| character == '0' || digits.len() > 1) {
                Some(code) => {
                    text.push_str(&format!("\\x{{{code:x}}}"));
                    after.get(digits.len()..).unwrap_or_default()
                }
                None => {
                    text.push('\\');
                    after
                }
            };
        }
        other => {
            text.push('\\');
            text.push(other);
        }
    }
    rest
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
    fn braces_quotes_and_octal_numbers_are_those_of_go() {
        assert!(matches("^/users/{id}$", "/users/{id}"));
        assert!(matches("^a{,2}{01}{$", "a{,2}{01}{"));
        assert!(matches("^a{2}?b{1,}$", "aabb"));
        assert!(matches("^\\Qa.b*\\E+$", "a.b**"));
        assert!(matches("^\\101\\0\\<a\\>$", "A\u{0}<a>"));
        assert!(matches("^(?i:a)(?P<n>b)(?<m>c)(?s-m).$", "Abc\n"));
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for pattern in [
            "a**", "a+*", "a??*", "a{2}{3}", "a{2}??", "(?=a)", "(?x)a", "(?<=a)b", "\\1", "\\8", "\\Z",
            "(a", "a)", "*a", "[b-a]", "a{2,1}",
        ] {
            assert!(
                matches!(ParsedPattern::parse(pattern), Err(PatternError::Syntax(_))),
                "{pattern}"
            );
        }
        for pattern in ["a*?b+", "(a*)*", "[*+]*", "a*|b*", "\\**", "a*{x}", "(?:a?)?"] {
            assert!(compile(pattern).is_ok(), "{pattern}");
        }
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
