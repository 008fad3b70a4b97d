//! The progress of long work, as one line on a terminal.
//!
//! It is shown only to people, on a terminal, after half a second.
//!
//! A line is on the screen only while a stage is under way, and no stage prints anything. So everything that is printed
//! between stages starts on a clean line, and its code need not know about the progress line.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spokewright::progress::{Observer, Progress, Stage};

use super::print::Speech;

/// Shorter runs show nothing.
const DELAY: Duration = Duration::from_millis(500);
/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(100);

/// The progress display: a line on the terminal, or none.
pub(crate) fn progress(speech: Speech) -> Progress {
    let term = std::env::var_os("TERM");
    let can_redraw = term.is_none_or(|term| !term.is_empty() && term != "dumb");
    if !speech.is_calm() || !can_redraw || !std::io::stderr().is_terminal() {
        return Progress::default();
    }
    let line = Arc::new(Line {
        start: Instant::now(),
        done: AtomicUsize::new(0),
        current: Mutex::default(),
    });
    let drawn = Arc::downgrade(&line);
    // Without the thread nothing is shown, and nothing else is missing.
    let _ = std::thread::Builder::new()
        .name("progress".to_owned())
        .spawn(move || draw(&drawn));
    Progress::to(line)
}

/// Draws until the run is over.
fn draw(line: &Weak<Line>) {
    loop {
        std::thread::sleep(TICK);
        let Some(line) = line.upgrade() else { return };
        line.draw(&mut line.current());
    }
}

#[derive(Debug)]
struct Line {
    start: Instant,
    /// How much of the stage is done: counted without a lock, drawn now and then.
    done: AtomicUsize,
    current: Mutex<Current>,
}

/// The stage that is under way.
#[derive(Debug, Default)]
struct Current {
    stage: Option<(Stage, Option<usize>)>,
    bar: Option<ProgressBar>,
}

impl Line {
    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, current: &mut Current) {
        let Some((stage, total)) = current.stage else {
            return;
        };
        if self.start.elapsed() < DELAY {
            return;
        }
        let bar = current
            .bar
            .get_or_insert_with(|| new_bar(stage, total, ProgressDrawTarget::stderr()));
        bar.set_position(number(self.done.load(Ordering::Relaxed)));
        bar.tick();
    }
}

impl Observer for Line {
    fn begin(&self, stage: Stage, total: Option<usize>) {
        let mut current = self.current();
        self.done.store(0, Ordering::Relaxed);
        current.stage = Some((stage, total));
        self.draw(&mut current);
    }

    fn advance(&self, by: usize) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }

    fn end(&self) {
        let mut current = self.current();
        current.stage = None;
        if let Some(bar) = current.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Plain characters and no color: it says the same on every terminal.
fn new_bar(stage: Stage, total: Option<usize>, target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total.map(number), target);
    let template = total.map_or("{msg} {spinner}", |_| "{msg} [{wide_bar}] {pos}/{len}");
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.progress_chars("=> ");
    bar.set_style(style.tick_strings(&[".  ", ".. ", "...", "   "]));
    bar.set_message(<&str>::from(stage));
    bar
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
