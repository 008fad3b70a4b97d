//! What an observer hears of a whole run: stages in their order, never two at once, counts that come to their totals.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use spokewright::diagnostic::Findings;
use spokewright::output::{self, Options, Output};
use spokewright::pipeline::{Analysis, EmptyResult, Loaded, Rendered, Request, load};
use spokewright::progress::{Observer, Progress, Stage};
use spokewright::render::{Layout, Selection};

/// One stage as it was heard.
#[derive(Debug, Clone, PartialEq)]
struct Heard {
    stage: Stage,
    total: Option<usize>,
    done: usize,
    ended: bool,
}

#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<Heard>>);

impl Observer for Recorder {
    fn begin(&self, stage: Stage, total: Option<usize>) {
        let mut heard = self.0.lock().unwrap();
        assert!(
            heard.last().is_none_or(|last| last.ended),
            "{stage:?} begins inside of another"
        );
        heard.push(Heard {
            stage,
            total,
            done: 0,
            ended: false,
        });
    }

    fn advance(&self, by: usize) {
        let mut heard = self.0.lock().unwrap();
        let last = heard.last_mut().expect("a stage");
        assert!(!last.ended && by > 0);
        last.done += by;
        assert!(last.total.is_some_and(|total| last.done <= total), "{last:?}");
    }

    fn end(&self) {
        let mut heard = self.0.lock().unwrap();
        let last = heard.last_mut().expect("a stage");
        assert!(!last.ended);
        last.ended = true;
    }
}

impl Recorder {
    fn heard(&self) -> Vec<Heard> {
        self.0.lock().unwrap().clone()
    }

    /// The stages so far, which are over, counted to the end and in the order of a run.
    fn stages(&self) -> Vec<Stage> {
        let heard = self.heard();
        for stage in &heard {
            assert!(stage.ended, "{stage:?}");
            assert!(stage.total.is_none_or(|total| stage.done == total), "{stage:?}");
        }
        let stages: Vec<Stage> = heard.iter().map(|heard| heard.stage).collect();
        assert!(stages.is_sorted(), "{stages:?}");
        stages
    }

    fn done(&self, stage: Stage) -> Vec<usize> {
        let heard = self.heard();
        let of_stage = heard.iter().filter(|heard| heard.stage == stage);
        of_stage.map(|heard| heard.done).collect()
    }
}

fn render(loaded: &Loaded) -> Rendered {
    let mut findings = Findings::new();
    Analysis::new(loaded, &mut findings).render(EmptyResult::Refused, &mut findings)
}

fn fleet(recorder: &Arc<Recorder>) -> Loaded {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/fleet");
    load(&Request {
        paths: vec![root],
        progress: Progress::to(recorder.clone()),
        ..Request::default()
    })
}

#[test]
fn a_rendering_tells_its_stages_in_order() {
    let recorder = Arc::new(Recorder::default());
    let loaded = fleet(&recorder);
    assert_eq!(
        recorder.stages(),
        [Stage::Finding, Stage::Reading, Stage::Checking]
    );
    // All but the configuration, which says what the others are.
    assert_eq!(recorder.done(Stage::Reading), [loaded.sources.files().len() - 1]);
    let mut findings = Findings::new();
    let analysis = Analysis::new(&loaded, &mut findings);
    let (received, spokes) = analysis.received(None);
    let (rendered, view) = analysis.results(received, &spokes, EmptyResult::Refused, &mut findings);
    let _ = analysis.statuses(&view);
    assert_eq!(recorder.done(Stage::Rendering), [2], "two Gateways");
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("rendered");
    let layout = Layout::new(
        &rendered.plan,
        rendered.all_clusters.clone(),
        Selection::default(),
    );
    let write = |check| {
        let options = Options {
            check,
            ..Options::default()
        };
        output::write_into(Output::anywhere(&root), &layout, options, &loaded.progress).unwrap()
    };
    let summary = write(false);
    assert_eq!(recorder.done(Stage::Writing), [summary.written]);
    assert_eq!(
        recorder.stages(),
        [
            Stage::Finding,
            Stage::Reading,
            Stage::Checking,
            Stage::Placing,
            Stage::Attaching,
            Stage::Rendering,
            Stage::Policies,
            Stage::Comparing,
            Stage::Writing,
        ]
    );
    // What is up to date is compared, and not written.
    let before = recorder.heard().len();
    write(true);
    let again: Vec<Heard> = recorder.heard().split_off(before);
    assert_eq!(again.len(), 1);
    assert_eq!(
        again[0],
        Heard {
            stage: Stage::Comparing,
            total: Some(summary.written),
            done: summary.written,
            ended: true
        }
    );
}

#[test]
fn a_report_on_policies_tells_its_stages_in_order() {
    let recorder = Arc::new(Recorder::default());
    let loaded = fleet(&recorder);
    let mut findings = Findings::new();
    let _ = {
        let analysis = Analysis::new(&loaded, &mut findings);
        let (received, spokes) = analysis.received(None);
        analysis.policies(received, &spokes, &mut findings).path_count()
    };
    let stages = recorder.stages();
    assert_eq!(
        stages.split_at(3).1,
        [
            Stage::Placing,
            Stage::Attaching,
            Stage::Rendering,
            Stage::Policies
        ]
    );
}

#[test]
fn a_run_that_fails_half_way_ends_its_stage() {
    let recorder = Arc::new(Recorder::default());
    let loaded = fleet(&recorder);
    let rendered = render(&loaded);
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(scratch.path().join("eu-1/gateway-rbac.yaml")).unwrap();
    let layout = Layout::new(
        &rendered.plan,
        rendered.all_clusters.clone(),
        Selection::default(),
    );
    let written = output::write_into(
        Output::anywhere(scratch.path()),
        &layout,
        Options::default(),
        &loaded.progress,
    );
    assert!(written.is_err(), "a directory stands in the way");
    assert_eq!(recorder.stages().last(), Some(&Stage::Comparing));
}
