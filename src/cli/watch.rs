//! `--watch`: runs a command again when the input changes.
//!
//! Looks at the input several times a second, and asks the system for no events: they cannot be had on every file system,
//! and each system counts and limits them differently. A look walks the input as reading does, so neither the files that
//! a run writes nor those that it merely reads can start another run.

use std::thread::sleep;
use std::time::{Duration, Instant};

use spokewright::diagnostic::{counted, first_items};
use spokewright::pipeline::{Request, watched};
use spokewright::source::{Change, Watched};

use super::print::{self, Refusal, Speech, Status};

/// The shortest pause between two looks.
const PAUSE: Duration = Duration::from_millis(200);
/// A pause is at least this many times as long as the look before it, so that watching a huge input stays cheap.
const PAUSE_PER_LOOK: u32 = 20;
/// Editors write a file in several steps, so a run waits until nothing has changed for this long,
const QUIET: Duration = Duration::from_millis(50);
/// or until files have kept changing for this long.
const LONGEST: Duration = Duration::from_secs(2);

/// One run.
pub(crate) type Run<'r> = dyn FnMut() -> anyhow::Result<Status> + 'r;

/// Runs at once, and again whenever what `request` reads has changed. `doing` says what, as in `rendering`.
pub(crate) fn watch(
    request: &Request,
    speech: Speech,
    doing: &str,
    run: &mut Run<'_>,
) -> anyhow::Result<Status> {
    let mut input = watched(request);
    if let Some(missing) = input.missing().first() {
        let shown = missing.display();
        let message = format!("cannot watch `{shown}`: there is no such file or directory");
        return Err(Refusal::new(Status::Io, &message, "name an existing file or directory").into());
    }
    loop {
        match run() {
            Err(error) if print::is_broken_pipe(&error) => return Err(error),
            // The next change may mend it.
            Err(error) => {
                print::error(&error);
            }
            Ok(_) => {}
        }
        speech.calm(&format!("watching {}; Ctrl-C ends", counted(input.len(), "file")));
        let changes = next_changes(request, &mut input);
        speech.note("");
        speech.calm(&format!("{}; {doing} again", changed(&changes)));
    }
}

/// Waits until files differ from `input` and have come to rest, and updates `input`.
fn next_changes(request: &Request, input: &mut Watched) -> Vec<Change> {
    let mut before = input.clone();
    let mut changing: Option<Instant> = None;
    loop {
        let start = Instant::now();
        let now = watched(request);
        let changes = now.changes_since(input);
        let is_at_rest = now == before || changing.is_some_and(|since| since.elapsed() > LONGEST);
        if !changes.is_empty() && is_at_rest {
            *input = now;
            return changes;
        }
        let pause = if changes.is_empty() {
            changing = None;
            PAUSE.max(start.elapsed().saturating_mul(PAUSE_PER_LOOK))
        } else {
            changing.get_or_insert(start);
            QUIET
        };
        before = now;
        sleep(pause);
    }
}

/// `changed: hub/a.yaml, hub/b.yaml (new), and 12 more`.
fn changed(changes: &[Change]) -> String {
    const MOST: usize = 4;
    let changes = changes.iter().map(|change| match change {
        Change::Changed(path) => path.clone(),
        Change::Added(path) => format!("{path} (new)"),
        Change::Removed(path) => format!("{path} (gone)"),
    });
    format!("changed: {}", first_items(changes, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_changes_are_named_and_many_are_cut() {
        let changed_file = |number: usize| Change::Changed(format!("hub/{number}.yaml"));
        assert_eq!(changed(&[changed_file(1)]), "changed: hub/1.yaml");
        let mut changes = vec![
            Change::Added("a.yaml".to_owned()),
            Change::Removed("b.yaml".to_owned()),
        ];
        assert_eq!(changed(&changes), "changed: a.yaml (new), b.yaml (gone)");
        changes.extend((0..3000).map(changed_file));
        assert_eq!(
            changed(&changes),
            "changed: a.yaml (new), b.yaml (gone), hub/0.yaml, hub/1.yaml, and 2998 more"
        );
    }
}
