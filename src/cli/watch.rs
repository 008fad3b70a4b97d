//! `--watch`: runs a command again when the input changes.
//!
//! Owns: the system's file events, and the lines printed between two runs.
//! Flows in: a command that can run again, and where its input is. Flows out: runs, until Ctrl-C or a system that
//! cannot watch.
//! Must not know: which files are input, or what counts as a change; [`Watched`] decides.
//!
//! An event is only a reason to look. The look walks the input as reading does, so neither the files that a run writes
//! nor those that it merely reads can start another run.

#[cfg(feature = "watch")]
use spokewright::diagnostic::{counted, first_items};
use spokewright::pipeline::Request;

use super::speech::Speech;
use super::status::{Refusal, Status};

/// Whether this program can watch at all; asked before anything is done.
pub(crate) fn check_support() -> Result<(), Refusal> {
    if cfg!(feature = "watch") {
        return Ok(());
    }
    Err(Refusal::new(
        Status::Usage,
        "this spokewright was built without `watch`, so it cannot wait for changes",
        "leave out `--watch`, or build with `cargo install --locked --path . --features watch`",
    ))
}

/// One run.
pub(crate) type Run<'r> = dyn FnMut() -> anyhow::Result<Status> + 'r;

/// Runs at once, and again whenever what `request` reads has changed. `doing` says what, as in `rendering`.
#[cfg(feature = "watch")]
pub(crate) fn watch(
    request: &Request,
    speech: Speech,
    doing: &str,
    run: &mut Run<'_>,
) -> anyhow::Result<Status> {
    use super::show;
    use spokewright::pipeline;

    let mut events = events::Events::new()?;
    let mut input = events.follow(request)?;
    if let Some(missing) = input.missing().first() {
        let shown = missing.display();
        return Err(Refusal::new(
            Status::Io,
            &format!("cannot watch `{shown}`: there is no such file or directory"),
            "name an existing file or directory",
        )
        .into());
    }
    loop {
        match run() {
            Err(error) if super::status::is_broken_pipe(&error) => return Err(error),
            // Whatever is wrong may be right after the next change.
            Err(error) => {
                super::show::error(&error);
            }
            Ok(_) => {}
        }
        show::calm(&waiting(input.len()), speech);
        // After an event, one look decides whether to run. What became of the directories in the meantime is followed when
        // the run is over: nobody waits for that, and a look after it finds what happened before.
        let changes = loop {
            let now = events.follow(request)?;
            let changes = now.changes_since(&input);
            input = now;
            if !changes.is_empty() {
                break changes;
            }
            events.wait(&input)?;
            let now = pipeline::watched(request);
            let changes = now.changes_since(&input);
            input = now;
            if !changes.is_empty() {
                break changes;
            }
        };
        show::note("", speech);
        show::calm(&format!("{}; {doing} again", changed(&changes)), speech);
    }
}

#[cfg(not(feature = "watch"))]
pub(crate) fn watch(_: &Request, _: Speech, _: &str, _: &mut Run<'_>) -> anyhow::Result<Status> {
    check_support()?;
    Ok(Status::Bug)
}

#[cfg(feature = "watch")]
fn waiting(files: usize) -> String {
    format!("watching {}; Ctrl-C ends", counted(files, "file"))
}

/// `changed: hub/a.yaml, hub/b.yaml (new), and 12 more`.
#[cfg(feature = "watch")]
fn changed(changes: &[spokewright::source::Change]) -> String {
    use spokewright::source::Change;

    const MOST: usize = 4;
    let changes = changes.iter().map(|change| match change {
        Change::Changed(path) => path.clone(),
        Change::Added(path) => format!("{path} (new)"),
        Change::Removed(path) => format!("{path} (gone)"),
    });
    format!("changed: {}", first_items(changes, MOST))
}

#[cfg(feature = "watch")]
mod events {
    //! The system's events, through `notify`.

    use std::collections::BTreeSet;
    use std::path::PathBuf;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    use notify::event::{AccessKind, AccessMode};
    use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
    use spokewright::pipeline::{self, Request};
    use spokewright::source::Watched;

    use super::super::status::{Refusal, Status};

    /// Directories that appear while we look are looked at again, so often at most; their events come later.
    const MOST_LOOKS: usize = 8;
    /// A burst of events is over when nothing has happened for so long ...
    const QUIET: Duration = Duration::from_millis(50);
    /// ... or when it has lasted so long: something writes all the time, and people want to see something.
    const LONGEST: Duration = Duration::from_secs(2);
    /// `EMFILE`: here, too many inotify instances of one user.
    const TOO_MANY_OPEN: i32 = 24;

    pub(super) struct Events {
        watcher: RecommendedWatcher,
        received: Receiver<notify::Result<Event>>,
        watched: BTreeSet<PathBuf>,
    }

    impl Events {
        pub(super) fn new() -> Result<Self, Refusal> {
            let (sender, received) = channel();
            let handler = move |event: notify::Result<Event>| {
                if event.as_ref().map_or(true, |event| may_change(event.kind)) {
                    // Nobody receives any more when the command ends.
                    let _ = sender.send(event);
                }
            };
            Ok(Self {
                watcher: notify::recommended_watcher(handler).map_err(|error| refuse(&error))?,
                received,
                watched: BTreeSet::new(),
            })
        }

        /// Looks at the input, watching each of its directories before the look, so that nothing is missed.
        pub(super) fn follow(&mut self, request: &Request) -> Result<Watched, Refusal> {
            let mut input = pipeline::watched(request);
            // All of them anew: a watch follows the directory, not its name (inotify(7)), and one may by now bear the
            // name of another that was moved away.
            let before = std::mem::take(&mut self.watched);
            for _ in 0..MOST_LOOKS {
                if !self.add(&input)? {
                    break;
                }
                input = pipeline::watched(request);
            }
            for path in before.difference(&self.watched) {
                // One that is gone is not watched already.
                let _ = self.watcher.unwatch(path);
            }
            Ok(input)
        }

        /// Watches what is not watched yet, and says whether there was any.
        fn add(&mut self, input: &Watched) -> Result<bool, Refusal> {
            let mut any = false;
            for directory in input.directories() {
                if !self.watched.insert(directory.to_owned()) {
                    continue;
                }
                any = true;
                // Not the roots recursively: that would spend the system's few watches on the output, on `.git` and
                // on whatever is ignored. The look says which directories are walked; those are followed.
                match self.watcher.watch(directory, RecursiveMode::NonRecursive) {
                    Err(error) if !is_gone(&error) => return Err(refuse(&error)),
                    _ => {}
                }
            }
            Ok(any)
        }

        /// Returns when something has happened that deserves a look, and is over: an editor saves with several events, a
        /// checkout goes on with thousands.
        pub(super) fn wait(&mut self, input: &Watched) -> Result<(), Refusal> {
            let ended = |_| refuse(&notify::Error::generic("the system sends no events"));
            while !deserves_a_look(self.received.recv().map_err(ended)?, input)? {}
            let start = Instant::now();
            let mut over = QUIET;
            let left = |over: Duration| over.min(LONGEST).saturating_sub(start.elapsed());
            while let Ok(event) = self.received.recv_timeout(left(over)) {
                if deserves_a_look(event, input)? {
                    over = start.elapsed().saturating_add(QUIET);
                }
            }
            Ok(())
        }
    }

    /// Whether an event is a reason to look at the input.
    fn deserves_a_look(event: notify::Result<Event>, input: &Watched) -> Result<bool, Refusal> {
        match event {
            // Without paths, or with the flag: the queue was full and some were lost (inotify(7), IN_Q_OVERFLOW). A look
            // finds out what they would have said.
            Ok(event) => Ok(event.paths.is_empty()
                || event.need_rescan()
                || event.paths.iter().any(|path| input.concerns(path))),
            Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => Err(refuse(&error)),
            Err(_) => Ok(true),
        }
    }

    /// Whether a file may be another one after it. Reading is the most frequent event, most of it our own: notify 8.2
    /// asks inotify for each opening (`WatchMask::OPEN` in its `src/inotify.rs`), so that without this every look would
    /// be the reason for the next.
    fn may_change(kind: EventKind) -> bool {
        match kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
            EventKind::Access(_) => false,
            _ => true,
        }
    }

    /// Whether a directory went away between seeing and watching it.
    fn is_gone(error: &notify::Error) -> bool {
        match &error.kind {
            ErrorKind::PathNotFound => true,
            ErrorKind::Io(error) => matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ),
            _ => false,
        }
    }

    fn refuse(error: &notify::Error) -> Refusal {
        let what = error
            .paths
            .first()
            .map(|path| format!(" `{}`", path.display()))
            .unwrap_or_default();
        let (reason, help) = match &error.kind {
            ErrorKind::MaxFilesWatch => (
                "the system's limit of watched directories is reached".to_owned(),
                "raise it, `sudo sysctl fs.inotify.max_user_watches=524288`, or read less: `exclude` in spokewright.yaml",
            ),
            ErrorKind::Io(error) if error.raw_os_error() == Some(TOO_MANY_OPEN) => (
                "too many programs of this user already watch files".to_owned(),
                "end one of them, or raise the limit: `sudo sysctl fs.inotify.max_user_instances=512`",
            ),
            ErrorKind::Io(error) => (
                error.to_string(),
                "check the permissions, or run without `--watch`",
            ),
            _ => (error.to_string(), "run without `--watch`"),
        };
        Refusal::new(Status::Io, &format!("cannot watch{what}: {reason}"), help)
    }

    #[cfg(test)]
    mod tests {
        use notify::event::{CreateKind, DataChange, ModifyKind};

        use super::*;

        #[test]
        fn reading_a_file_is_no_reason_to_look_and_writing_one_is() {
            assert!(!may_change(EventKind::Access(AccessKind::Open(AccessMode::Any))));
            assert!(!may_change(EventKind::Access(AccessKind::Close(
                AccessMode::Read
            ))));
            assert!(may_change(EventKind::Access(AccessKind::Close(
                AccessMode::Write
            ))));
            assert!(may_change(EventKind::Create(CreateKind::Folder)));
            assert!(may_change(EventKind::Modify(ModifyKind::Data(DataChange::Any))));
            assert!(may_change(EventKind::Any));
        }

        #[test]
        fn a_limit_of_the_system_is_refused_with_the_command_that_raises_it() {
            let refusal = refuse(&notify::Error::new(ErrorKind::MaxFilesWatch).add_path("hub/a".into()));
            assert_eq!(refusal.status, Status::Io);
            assert!(refusal.to_string().contains("`hub/a`"), "{refusal}");
            assert!(refusal.help.contains("sysctl fs.inotify.max_user_watches"));
            let error = std::io::Error::from_raw_os_error(TOO_MANY_OPEN);
            assert!(
                refuse(&notify::Error::io(error))
                    .help
                    .contains("max_user_instances")
            );
        }
    }
}

#[cfg(all(test, feature = "watch"))]
mod tests {
    use spokewright::source::Change;

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
