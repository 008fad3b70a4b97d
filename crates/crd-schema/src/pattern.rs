//! Patterns of a schema.
//!
//! Owns: [`Pattern`], which compiles when it is first needed: a schema has hundreds, an object meets a few. Flows in:
//! the keyword's text, texts to compare. Flows out: whether they match. Must not know: how a pattern is read.

use std::sync::OnceLock;

use apimachinery::{Allowance, Compiled, PatternError, Spent, Work};
use kube_json::Text;

/// A pattern remembers so many texts that matched.
const REMEMBERED_MAX: usize = 8;
/// Longer ones are not remembered.
const REMEMBERED_BYTES_MAX: usize = 64;

/// A pattern as written, compiled on first use.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    compiled: OnceLock<Compiled>,
    /// The first texts that matched: objects say the same few words in many places, such as a group or the name of a
    /// header.
    matched: [OnceLock<Text>; REMEMBERED_MAX],
}

impl Pattern {
    pub(crate) const fn new(text: String) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
            matched: [const { OnceLock::new() }; REMEMBERED_MAX],
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something in `text` matches, as in Go. A pattern that is none is the schema's fault, not the text's:
    /// [`Pattern::problem`] says so. One that is too large for us is an error here: it is unknown what it refuses.
    pub(crate) fn accepts(&self, text: &str, allowance: &mut Allowance<'_>) -> Result<bool, Unmatched> {
        let compiled = self.compiled(allowance.work())?;
        match &**compiled {
            Ok(pattern) => {
                // The price is the same for a text that is known: it must not depend on what came before.
                allowance.search(pattern, text)?;
                if self.has_matched(text) {
                    return Ok(true);
                }
                let matches = pattern.is_match(text);
                if matches {
                    self.remember(text);
                }
                Ok(matches)
            }
            Err(PatternError::TooLarge) => Err(Unmatched::TooLarge),
            Err(_) => Ok(true),
        }
    }

    fn has_matched(&self, text: &str) -> bool {
        self.matched
            .iter()
            .map_while(OnceLock::get)
            .any(|known| known == text)
    }

    /// Remembers a text that matched, if it is short and there is room.
    fn remember(&self, text: &str) {
        let free = self.matched.iter().find(|slot| slot.get().is_none());
        if let Some(free) = free.filter(|_| text.len() <= REMEMBERED_BYTES_MAX) {
            // Another thread may have been first.
            let _ = free.set(text.into());
        }
    }

    /// Why it cannot be used.
    pub(crate) fn problem(&self, work: &Work) -> Option<PatternError> {
        let compiled = self.compiled(work).ok()?;
        compiled.as_ref().as_ref().err().cloned()
    }

    fn compiled(&self, work: &Work) -> Result<&Compiled, Spent> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = work.pattern(&self.text)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }
}

/// Why it is unknown whether a text matches.
pub(crate) enum Unmatched {
    /// The pattern is too large to be compiled here.
    TooLarge,
    /// The run has no work left.
    Spent,
}

impl From<Spent> for Unmatched {
    fn from(_: Spent) -> Self {
        Self::Spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_verdict_and_one_price_however_often_and_in_whatever_company_it_comes() {
        let pattern = Pattern::new("^[a-z]{1,100}$".to_owned());
        let verdict = |text: &str| {
            let work = Work::unlimited();
            pattern.accepts(text, &mut work.allowance_of(0)).ok()
        };
        let long = "a".repeat(100);
        let texts: Vec<String> = (b'a'..=b'z')
            .map(|letter| char::from(letter).to_string())
            .collect();
        for _ in 0..3 {
            for text in texts.iter().chain([&long]) {
                assert_eq!(verdict(text), Some(true), "{text}");
            }
            for text in ["", "A", "a1"] {
                assert_eq!(verdict(text), Some(false), "{text}");
            }
        }
        // The pattern is compiled by now, so this is the price of a text alone.
        let spent = Work::with_limit(0);
        let suffices = |text: &str, steps| pattern.accepts(text, &mut spent.allowance_of(steps)).is_ok();
        let price = |text: &str| (0..1_000).find(|steps| suffices(text, *steps));
        assert!(price("a").is_some_and(|price| price > 0));
        assert_eq!(price("a"), price("z"), "the first is remembered, the last is not");
    }
}
