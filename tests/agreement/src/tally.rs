//! How often two say the same, and where they do not.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

/// At most so many cases are named for one cause.
const MOST_CASES: usize = 5;

/// What was compared so far.
#[derive(Debug, Default)]
pub struct Tally {
    cases: usize,
    unread: Vec<String>,
    statements: BTreeMap<&'static str, Count>,
    /// By statement and cause: the cases, each with what it is about.
    differences: BTreeMap<(&'static str, String), Vec<String>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    agreed: usize,
    of: usize,
}

impl Tally {
    /// Counts a case that was read.
    pub(crate) fn case(&mut self) {
        self.cases += 1;
    }

    /// Counts a case that was not.
    pub(crate) fn unread(&mut self, case: &str, error: &dyn Error) {
        self.unread.push(format!("{case}: {error}"));
    }

    /// Counts one statement of a case about something: what the golden file says, and what spokewright says.
    pub(crate) fn say<T: PartialEq + fmt::Display>(
        &mut self,
        statement: &'static str,
        (case, about): (&str, &str),
        golden: &T,
        ours: &T,
    ) {
        let count = self.statements.entry(statement).or_default();
        count.of += 1;
        if golden == ours {
            count.agreed += 1;
            return;
        }
        let cause = format!("golden {golden}, ours {ours}");
        let cases = self.differences.entry((statement, cause)).or_default();
        cases.push(format!("{case}: {about}"));
    }

    /// How many statements of a kind agree, of how many.
    #[must_use]
    pub fn agreed(&self, statement: &str) -> (usize, usize) {
        let count = self.statements.get(statement).copied().unwrap_or_default();
        (count.agreed, count.of)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} cases compared, {} not read",
            self.cases,
            self.unread.len()
        )?;
        for unread in &self.unread {
            writeln!(out, "  {unread}")?;
        }
        writeln!(
            out,
            "\n{:32} {:>6} {:>6} {:>7}",
            "statement", "agree", "of", "percent"
        )?;
        for (statement, Count { agreed, of }) in &self.statements {
            let tenths = agreed * 1000 / (*of).max(1);
            let percent = format!("{}.{}", tenths / 10, tenths % 10);
            writeln!(out, "{statement:32} {agreed:>6} {of:>6} {percent:>7}")?;
        }
        let mut causes: Vec<_> = self.differences.iter().collect();
        causes
            .sort_by_key(|((statement, cause), cases)| (*statement, usize::MAX - cases.len(), cause.clone()));
        for ((statement, cause), cases) in causes {
            writeln!(out, "\n{statement}: {cause} ({})", cases.len())?;
            for case in cases.iter().take(MOST_CASES) {
                writeln!(out, "  {case}")?;
            }
            if cases.len() > MOST_CASES {
                writeln!(out, "  and {} more", cases.len() - MOST_CASES)?;
            }
        }
        Ok(())
    }
}
