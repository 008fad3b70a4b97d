//! What is said is what is shipped: generated hubs, and those that once broke the rule.
//!
//! For each hub and cluster, what `policies --cluster` says is compared with what `policies` says of an input that is
//! nothing but what the cluster receives and what lives there, with several creation times for what arrives. And every
//! command finds the same in a hub, whatever the order of its files, and nothing is lost without a finding.
//!
//! And what leaves a cluster can be deleted there: pairs of hubs, one rendered over the other.
//!
//! `SPOKEWRIGHT_HUBS=10000 cargo test --release --test promise -- --nocapture` tries more hubs; `SPOKEWRIGHT_SEED`
//! begins elsewhere, `SPOKEWRIGHT_HUB` tries one of them, and `SPOKEWRIGHT_FAILURES=DIR` writes the shrunk hub of each
//! failure into a directory.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

mod compare;
mod exported;
mod findings;
mod hubs;
mod kinds;
mod letters;
mod overlays;
mod removal;
mod rights;
mod shipped;
mod spokes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use compare::{Breach, Counts, Verdict, judge};
use letters::Fate;
use overlays::drafts::Draft;
use spokes::{Input, Texts};

/// How many hubs a run of all tests tries.
const HUBS: usize = 200;
/// How many pairs of hubs.
const PAIRS: usize = 200;
/// How many hubs get one letter more in each of their names, and at most so many.
const MISSPELLED: usize = 12;
const MOST_MISSPELLED: usize = 200;
/// How many hubs lose each of their policies.
const REMOVALS: usize = 40;
/// How many hubs get overlays.
const OVERLAID: usize = 12;
const SEED: u64 = 1;
/// Failures of one sort that are shrunk and shown; the others are counted.
const SHOWN: usize = 2;
/// Steps that shrinking one hub may take; `SPOKEWRIGHT_SHRINKING` sets another number.
const SHRINKING: usize = 1000;

#[test]
fn what_is_said_of_generated_hubs_is_what_is_shipped() {
    let hubs = number("SPOKEWRIGHT_HUBS").unwrap_or(HUBS);
    let seed = number("SPOKEWRIGHT_SEED").map_or(SEED, |seed| seed as u64);
    let tally = Mutex::new(Tally::default());
    in_parallel(hubs, |position| attempt(seed, position, &tally));
    let tally = tally.into_inner().expect("no panic");
    println!("seed {seed}: {tally}");
    if let Ok(directory) = std::env::var("SPOKEWRIGHT_FAILURES") {
        for (position, (input, wrong)) in &tally.shown {
            write(
                &Path::new(&directory).join(format!("hub-{position}")),
                input,
                &wrong.text,
            );
        }
    }
    let shown: Vec<String> = tally
        .shown
        .iter()
        .map(|(position, (input, wrong))| {
            format!("hub {position}: {}\n{}\n{}", wrong.sort, wrong.text, shown(input))
        })
        .collect();
    assert!(
        tally.failures.is_empty(),
        "{}\nseed {seed}: {tally}",
        shown.join("\n\n")
    );
}

/// Each mistake takes a rendering, and a hub has about forty.
#[test]
fn one_letter_more_takes_nothing_off_a_cluster_unless_rendering_fails() {
    let hubs = number("SPOKEWRIGHT_HUBS")
        .unwrap_or(MISSPELLED)
        .min(MOST_MISSPELLED);
    let seed = number("SPOKEWRIGHT_SEED").map_or(SEED, |seed| seed as u64);
    let fates = Mutex::new(BTreeMap::<Fate, usize>::new());
    let wrong = Mutex::new(Vec::new());
    in_parallel(hubs, |position| {
        for (mistake, fate, said) in letters::judge(&hub(seed, position).current().input()) {
            *fates.lock().expect("no panic").entry(fate).or_default() += 1;
            let takes_something = matches!(fate, Fate::LessAfterWarning | Fate::LessInSilence);
            if takes_something && !mistake.is_selector {
                let text = format!("hub {position}, {fate:?}: {}\n{said}", mistake.field);
                wrong
                    .lock()
                    .expect("no panic")
                    .push((position, text, mistake.input));
            }
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic");
    let fates = fates.into_inner().expect("no panic");
    println!("seed {seed}, {hubs} hubs: {fates:?}");
    wrong.sort_by_key(|(position, ..)| *position);
    let mut shown: Vec<String> = wrong.iter().map(|(_, text, _)| text.clone()).collect();
    shown.extend(wrong.first().map(|(_, _, input)| self::shown(input)));
    assert!(wrong.is_empty(), "{} mistakes\n{}", wrong.len(), shown.join("\n"));
    assert!(
        fates.contains_key(&Fate::Refused) && fates.contains_key(&Fate::NoEffect),
        "{fates:?}"
    );
}

#[test]
fn what_is_said_of_hubs_that_once_broke_the_rule_is_what_is_shipped() {
    let wrong = breaches("promise");
    assert!(wrong.is_empty(), "{} fixtures\n{}", wrong.len(), wrong.join("\n"));
}

/// Those with errors on purpose have nothing to ship.
#[test]
fn what_is_said_of_hubs_for_the_commands_is_what_is_shipped() {
    let mut wrong = breaches("said-and-shipped");
    wrong.retain(|wrong| !wrong.contains("the hub has errors:"));
    assert!(wrong.is_empty(), "{} fixtures\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_leaves_a_cluster_can_be_deleted_there_or_rendering_is_refused() {
    let pairs = number("SPOKEWRIGHT_HUBS").unwrap_or(PAIRS);
    let seed = number("SPOKEWRIGHT_SEED").map_or(SEED, |seed| seed as u64);
    let plurals = plurals();
    let tally = Mutex::new(Pairs::default());
    let judge = |pair: &hubs::Pair| {
        let (before, after) = pair.inputs();
        let verdict = rights::judge(&before, &after, &plurals);
        let mut tally = tally.lock().expect("no panic");
        match verdict {
            rights::Verdict::Kept(gone) => {
                tally.kept += 1;
                tally.gone += gone;
            }
            rights::Verdict::Refused(_) => tally.refused += 1,
            rights::Verdict::Unfit => tally.unfit += 1,
            rights::Verdict::Broken(wrong) => return Err(wrong),
        }
        Ok(())
    };
    each(hubs::pairs, pairs, judge, |part, pair, wrong| {
        let (before, after) = pair.inputs();
        if let Ok(directory) = std::env::var("SPOKEWRIGHT_FAILURES") {
            let root = Path::new(&directory).join(format!("pair-{part}"));
            write(&root.join("before"), &before, wrong);
            write(&root.join("after"), &after, wrong);
        }
        format!("{}\n=== becomes\n{}", shown(&before), shown(&after))
    });
    let tally = tally.into_inner().expect("no panic");
    println!("seed {seed}: {tally:?}");
    // Or the rule would be held by nothing.
    assert!(tally.kept > 0 && tally.gone > 0 && tally.refused > 0, "{tally:?}");
}

#[test]
fn what_is_said_of_the_removal_of_a_policy_is_what_is_lost_by_it() {
    let hubs = number("SPOKEWRIGHT_HUBS").unwrap_or(REMOVALS);
    let tally = Mutex::new(removal::Counts::default());
    let judge = |hub: &hubs::Hub| {
        let counts = removal::judge(&hub.input())?;
        let mut tally = tally.lock().expect("no panic");
        tally.removals += counts.removals;
        tally.of_no_effect += counts.of_no_effect;
        tally.lost += counts.lost;
        Ok(())
    };
    each(hubs::hubs, hubs, judge, |part, hub, wrong| {
        if let Ok(directory) = std::env::var("SPOKEWRIGHT_FAILURES") {
            let root = Path::new(&directory).join(format!("removal-{part}"));
            write(&root, &hub.input(), wrong);
        }
        shown(&hub.input())
    });
    let tally = tally.into_inner().expect("no panic");
    println!("{tally:?}");
    // Or the rules would be held by nothing.
    assert!(
        tally.removals > 0 && tally.of_no_effect > 0 && tally.lost > 0,
        "{tally:?}"
    );
}

#[test]
fn a_cluster_gets_what_it_would_get_if_the_hub_held_what_overlays_change() {
    let hubs = number("SPOKEWRIGHT_HUBS").unwrap_or(OVERLAID);
    let tally = Mutex::new(overlays::Counts::default());
    let judge = |(hub, drafts): &(hubs::Hub, Vec<Draft>)| {
        let counts = overlays::judge(&hub.input(), drafts)?;
        tally.lock().expect("no panic").add(counts);
        Ok(())
    };
    let strategy = || (hubs::hubs(), overlays::drafts::drafts());
    each(strategy, hubs, judge, |part, (hub, drafts), wrong| {
        let input = overlays::input(&hub.input(), drafts);
        if let Ok(directory) = std::env::var("SPOKEWRIGHT_FAILURES") {
            write(
                &Path::new(&directory).join(format!("overlays-{part}")),
                &input,
                wrong,
            );
        }
        shown(&input)
    });
    let tally = tally.into_inner().expect("no panic");
    println!("{tally:?}");
    // Or the rule would be held by nothing.
    assert!(tally.changed > 0 && tally.clusters > tally.changed, "{tally:?}");
    assert!(tally.refused.contains_key("overlay/conflict"), "{tally:?}");
}

#[test]
fn what_was_rendered_and_exported_differs_in_nothing() {
    let hubs = number("SPOKEWRIGHT_HUBS").unwrap_or(HUBS);
    let works = AtomicUsize::new(0);
    let judge = |hub: &hubs::Hub| {
        let counts = exported::judge(&hub.input())?;
        works.fetch_add(counts.works, Ordering::Relaxed);
        Ok(())
    };
    each(hubs::hubs, hubs, judge, |_, hub, _| shown(&hub.input()));
    let works = works.into_inner();
    println!("{works} works");
    assert!(works > hubs, "{works} works");
}

#[test]
fn with_the_printed_overlays_a_hub_comes_to_what_runs() {
    let hubs = number("SPOKEWRIGHT_HUBS").unwrap_or(PAIRS);
    let tally = Mutex::new([0; 2]);
    let judge = |(hub, drafts): &(hubs::Hub, Vec<Draft>)| {
        let plain = hub.input();
        let counts = exported::judge_overlays(&plain, &overlays::input(&plain, drafts))?;
        let mut tally = tally.lock().expect("no panic");
        tally[0] += counts.overlaid;
        tally[1] += counts.kept;
        Ok(())
    };
    let strategy = || (hubs::hubs(), overlays::drafts::drafts());
    each(strategy, hubs, judge, |_, (hub, drafts), _| {
        shown(&overlays::input(&hub.input(), drafts))
    });
    let [overlaid, kept] = tally.into_inner().expect("no panic");
    println!("{overlaid} hubs differ, {kept} get overlays");
    assert!(kept > 0 && overlaid > kept, "{overlaid}, {kept}");
}

/// Judges so many values, in parallel; one that fails is shrunk, and shown as `describe` does.
fn each<S: Strategy>(
    strategy: impl Fn() -> S + Sync,
    count: usize,
    judge: impl Fn(&S::Value) -> Result<(), String> + Sync,
    describe: impl Fn(usize, &S::Value, &str) -> String + Sync,
) {
    let seed = number("SPOKEWRIGHT_SEED").map_or(SEED, |seed| seed as u64);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for part in 0..threads {
            let (strategy, judge, describe) = (&strategy, &judge, &describe);
            scope.spawn(move || {
                let mut bytes = [0_u8; 32];
                bytes[..8].copy_from_slice(&seed.to_le_bytes());
                bytes[16..24].copy_from_slice(&(part as u64 + 1).to_le_bytes());
                let config = Config {
                    cases: u32::try_from(count.div_ceil(threads)).expect("a number of values"),
                    failure_persistence: None,
                    max_shrink_iters: u32::try_from(SHRINKING).expect("a number of steps"),
                    ..Config::default()
                };
                let generator = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
                let mut runner = TestRunner::new_with_rng(config, generator);
                let outcome = runner.run(&strategy(), |value| judge(&value).map_err(TestCaseError::fail));
                if let Err(TestError::Fail(reason, value)) = outcome {
                    panic!("{reason}\n{}", describe(part, &value, reason.message()));
                }
            });
        }
    });
}

/// How the pairs fared.
#[derive(Debug, Default)]
struct Pairs {
    kept: usize,
    gone: usize,
    refused: usize,
    unfit: usize,
}

/// Each in both forms of works, and from one form to the other.
#[test]
fn what_leaves_a_cluster_of_pairs_that_once_broke_the_rule_can_be_deleted_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/promise-pairs");
    let plurals = plurals();
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&root).expect("fixtures") {
        let path = entry.expect("an entry").path();
        let input = |side: &str, replica_sets: bool| {
            let mut texts = Texts::new();
            read(&path.join(side), &path.join(side), &mut texts);
            assert!(!texts.is_empty(), "{}", path.display());
            Input { texts, replica_sets }
        };
        for (old, new) in [(false, false), (true, true), (false, true), (true, false)] {
            match rights::judge(&input("before", old), &input("after", new), &plurals) {
                rights::Verdict::Kept(_) | rights::Verdict::Refused(_) => {}
                other => wrong.push(format!("{}, sets {old} then {new}: {other:?}", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// By group and kind, of everything that is shipped.
fn plurals() -> BTreeMap<(String, String), String> {
    let group = "gateway.networking.k8s.io".to_owned();
    let own = [
        ("Gateway", "gateways"),
        ("ListenerSet", "listenersets"),
        ("HTTPRoute", "httproutes"),
        ("GRPCRoute", "grpcroutes"),
    ];
    let own = own.map(|(kind, plural)| ((group.clone(), kind.to_owned()), plural.to_owned()));
    let services = ((String::new(), "Service".to_owned()), "services".to_owned());
    let policies = kinds::FAMILIES.iter().flat_map(|family| family.iter());
    own.into_iter()
        .chain([services])
        .chain(policies.map(|kind| kind.names()))
        .collect()
}

/// What is wrong with each hub in a directory of fixtures, rendered as works and as sets.
fn breaches(directory: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(directory);
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&root).expect("fixtures") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut texts = Texts::new();
        read(&path, &path, &mut texts);
        for replica_sets in [false, true] {
            let texts = texts.clone();
            if let Verdict::Broken(breach) = judge(&Input { texts, replica_sets }) {
                wrong.push(format!("{name}: {}\n{}", breach.sort, breach.text));
                break;
            }
        }
    }
    wrong.sort();
    wrong
}

/// The hub of a number.
fn hub(seed: u64, position: usize) -> impl ValueTree<Value = hubs::Hub> {
    let mut bytes = [0_u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&(position as u64).to_le_bytes());
    let generator = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), generator);
    hubs::hubs().new_tree(&mut runner).expect("a hub")
}

/// Calls `attempt` with each number below `hubs`, in parallel, or with the one that is asked for.
fn in_parallel(hubs: usize, attempt: impl Fn(usize) + Sync) {
    if let Some(position) = number("SPOKEWRIGHT_HUB") {
        return attempt(position);
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    if position >= hubs {
                        break;
                    }
                    attempt(position);
                }
            });
        }
    });
}

/// Generates one hub and judges it; a failure is shrunk.
fn attempt(seed: u64, position: usize, tally: &Mutex<Tally>) {
    let mut tree = hub(seed, position);
    let input = tree.current().input();
    let judge = |input: &Input| match judge(input) {
        Verdict::Broken(wrong) => Verdict::Broken(wrong),
        kept => findings::judge(input, position).map_or(kept, Verdict::Broken),
    };
    let mut wrong = match judge(&input) {
        Verdict::Kept(counts) => return tally.lock().expect("no panic").kept(counts),
        Verdict::Refused(code) => return tally.lock().expect("no panic").refused(code),
        Verdict::Broken(wrong) => wrong,
    };
    {
        let mut tally = tally.lock().expect("no panic");
        tally.hubs += 1;
        let of_this_sort = tally.failures.entry(wrong.sort.clone()).or_default();
        *of_this_sort += 1;
        eprintln!("hub {position}: {}", wrong.sort);
        if *of_this_sort > SHOWN {
            return;
        }
    }
    let mut smallest = input;
    for _ in 0..number("SPOKEWRIGHT_SHRINKING").unwrap_or(SHRINKING) {
        let is_smaller = match judge(&tree.current().input()) {
            // Towards the same breach, or all would shrink to the simplest one.
            Verdict::Broken(smaller) if smaller.sort == wrong.sort => {
                wrong = smaller;
                smallest = tree.current().input();
                tree.simplify()
            }
            _ => tree.complicate(),
        };
        if !is_smaller {
            break;
        }
    }
    let mut tally = tally.lock().expect("no panic");
    tally.shown.insert(position, (smallest, wrong));
}

#[derive(Debug, Default)]
struct Tally {
    hubs: usize,
    counts: Counts,
    refused: BTreeMap<String, usize>,
    /// By sort.
    failures: BTreeMap<String, usize>,
    shown: BTreeMap<usize, (Input, Breach)>,
}

impl Tally {
    fn kept(&mut self, counts: Counts) {
        self.hubs += 1;
        self.counts.clusters += counts.clusters;
        self.counts.evaluations += counts.evaluations;
        self.counts.paths += counts.paths;
    }

    fn refused(&mut self, code: String) {
        self.hubs += 1;
        *self.refused.entry(code).or_default() += 1;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts {
            clusters,
            evaluations,
            paths,
        } = self.counts;
        write!(
            formatter,
            "{} hubs, {clusters} clusters, {evaluations} evaluations, {paths} paths compared",
            self.hubs
        )?;
        for (codes, count) in &self.refused {
            write!(formatter, ", {count} refused with {codes}")?;
        }
        write!(formatter, ", {} failures", self.failures.values().sum::<usize>())?;
        for (sort, count) in &self.failures {
            write!(formatter, "\n{count:>6} {sort}")?;
        }
        Ok(())
    }
}

fn number(variable: &str) -> Option<usize> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}

fn shown(input: &Input) -> String {
    let files = input
        .texts
        .iter()
        .filter(|(path, _)| !path.ends_with("placements.yaml"));
    files.map(|(path, text)| format!("# {path}\n{text}")).collect()
}

fn read(root: &Path, directory: &Path, texts: &mut Texts) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read(root, &path, texts);
        } else {
            let relative = path.strip_prefix(root).expect("below the root");
            let relative = relative.to_str().expect("text").replace('\\', "/");
            texts.insert(relative, fs::read_to_string(&path).expect("text"));
        }
    }
}

fn write(root: &Path, input: &Input, wrong: &str) {
    for (path, text) in input
        .texts
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .chain([("wrong.txt", wrong)])
    {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
}
