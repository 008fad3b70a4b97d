//! The progress of a run: stages that begin, count, and end, reported to an observer. Stages never overlap or count
//! past their end.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use strum::IntoStaticStr;

/// The stages of a run, in order. A run that reads twice, as `diff` does, begins again. The text of each ends before the
/// things that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
pub enum Stage {
    /// Finding out which files are input.
    #[strum(serialize = "finding files")]
    Finding,
    /// Reading and parsing files.
    #[strum(serialize = "reading files")]
    Reading,
    /// Checking objects against their kinds and schemas.
    #[strum(serialize = "checking objects")]
    Checking,
    /// Deciding which clusters each Gateway goes to.
    #[strum(serialize = "placing Gateways")]
    Placing,
    /// Attaching policies to what they target.
    #[strum(serialize = "attaching policies")]
    Attaching,
    /// Planning the works of each Gateway.
    #[strum(serialize = "rendering Gateways")]
    Rendering,
    /// Working out effective policies, Gateway by Gateway.
    #[strum(serialize = "evaluating policies")]
    Policies,
    /// Comparing the two sides of a difference.
    #[strum(serialize = "finding differences")]
    Differences,
    /// Comparing files with their wanted contents.
    #[strum(serialize = "comparing files")]
    Comparing,
    /// Writing files.
    #[strum(serialize = "writing files")]
    Writing,
    /// Deleting files that are no longer wanted.
    #[strum(serialize = "deleting files")]
    Deleting,
}

/// The receiver of progress. It is called from any thread, never for two stages at once.
pub trait Observer: Debug + Send + Sync {
    /// A stage begins; `total` is how much there is to count, where that is known.
    fn begin(&self, stage: Stage, total: Option<usize>);

    /// So much more of the stage is done. The sum never exceeds `total`.
    fn advance(&self, by: usize);

    /// The stage is over, whether or not all of it was done.
    fn end(&self);
}

/// An observer, or none, which costs nothing. Copies report to the same observer.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<Arc<Observed>>);

#[derive(Debug)]
struct Observed {
    observer: Arc<dyn Observer>,
    /// Whether a stage is under way. A stage that begins meanwhile, because two inputs are read at once, is not
    /// reported.
    is_busy: AtomicBool,
}

impl Progress {
    /// Tells this observer.
    pub fn to(observer: Arc<dyn Observer>) -> Self {
        Self(Some(Arc::new(Observed {
            observer,
            is_busy: AtomicBool::new(false),
        })))
    }

    /// Begins a stage with so much to count. It ends when the result is dropped.
    pub fn count(&self, stage: Stage, total: usize) -> Steps<'_> {
        self.start(stage, Some(total))
    }

    /// Begins a stage where nothing can be counted. It ends when the result is dropped.
    pub fn begin(&self, stage: Stage) -> Steps<'_> {
        self.start(stage, None)
    }

    fn start(&self, stage: Stage, total: Option<usize>) -> Steps<'_> {
        let observed = self
            .0
            .as_deref()
            .filter(|observed| !observed.is_busy.swap(true, Ordering::AcqRel));
        if let Some(observed) = observed {
            observed.observer.begin(stage, total);
        }
        Steps {
            observed,
            left: AtomicUsize::new(total.unwrap_or_default()),
        }
    }
}

/// A stage that is under way.
#[derive(Debug)]
#[must_use = "the stage ends when this is dropped"]
pub struct Steps<'a> {
    observed: Option<&'a Observed>,
    left: AtomicUsize,
}

impl Steps<'_> {
    /// Adds to what is done; an excess over the total is not reported.
    pub fn advance(&self, by: usize) {
        let Some(observed) = self.observed else { return };
        let before = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(left.saturating_sub(by))
            });
        let step = by.min(before.unwrap_or_default());
        if step > 0 {
            observed.observer.advance(step);
        }
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        if let Some(observed) = self.observed {
            observed.observer.end();
            observed.is_busy.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Heard {
        fn hear(&self, text: String) {
            self.0.lock().unwrap().push(text);
        }
    }

    impl Observer for Heard {
        fn begin(&self, stage: Stage, total: Option<usize>) {
            self.hear(format!("begin {stage:?} {total:?}"));
        }

        fn advance(&self, by: usize) {
            self.hear(format!("advance {by}"));
        }

        fn end(&self) {
            self.hear("end".to_owned());
        }
    }

    #[test]
    fn a_stage_ends_when_it_is_dropped_also_half_way() {
        let heard = Arc::new(Heard::default());
        let progress = Progress::to(heard.clone());
        progress.count(Stage::Reading, 3).advance(1);
        drop(progress.begin(Stage::Placing));
        assert_eq!(
            *heard.0.lock().unwrap(),
            [
                "begin Reading Some(3)",
                "advance 1",
                "end",
                "begin Placing None",
                "end"
            ]
        );
    }

    #[test]
    fn a_stage_that_begins_inside_of_another_is_not_told() {
        let heard = Arc::new(Heard::default());
        let progress = Progress::to(heard.clone());
        let outer = progress.begin(Stage::Reading);
        let inner = progress.clone();
        let inner = inner.count(Stage::Placing, 2);
        inner.advance(1);
        drop(outer);
        drop(inner);
        drop(progress.begin(Stage::Writing));
        assert_eq!(
            *heard.0.lock().unwrap(),
            ["begin Reading None", "end", "begin Writing None", "end"]
        );
    }

    proptest! {
        #[test]
        fn what_is_told_never_exceeds_the_total_and_reaches_it(total in 0_usize..50, steps in prop::collection::vec(0_usize..20, 0..20)) {
            let heard = Arc::new(Heard::default());
            let counted = Progress::to(heard.clone());
            let counting = counted.count(Stage::Writing, total);
            std::thread::scope(|scope| {
                for by in &steps {
                    scope.spawn(|| counting.advance(*by));
                }
            });
            let told: usize = heard.0.lock().unwrap().iter().filter_map(|line| line.strip_prefix("advance ")?.parse::<usize>().ok()).sum();
            prop_assert_eq!(told, total.min(steps.iter().sum()));
        }
    }
}
