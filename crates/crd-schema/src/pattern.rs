//! Patterns of a schema. They are compiled when they are first needed: a schema has hundreds, and an object meets a
//! few.

use std::sync::OnceLock;

use apimachinery::{Allowance, Compiled, PatternError, Spent, Work};

/// A pattern as written, compiled on first use.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    compiled: OnceLock<Compiled>,
}

impl Pattern {
    pub(crate) const fn new(text: String) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something in `text` matches, as in Go. A pattern that is none is the schema's fault, not the text's:
    /// [`Pattern::problem`] says so. `None` for one that is too large for us: it is unknown what it refuses.
    ///
    /// # Errors
    /// There is no work left.
    pub(crate) fn accepts(&self, text: &str, allowance: &mut Allowance<'_>) -> Result<Option<bool>, Spent> {
        let compiled = self.compiled(allowance.work())?;
        match &**compiled {
            Ok(pattern) => allowance.is_match(pattern, text).map(Some),
            Err(PatternError::TooLarge) => Ok(None),
            Err(_) => Ok(Some(true)),
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
