//! What a run prints: the form of libtest, so that whoever reads `cargo test` reads this.
//!
//! Owns: the lines and the count. Flows in: steps, and what they need or why it is not there. Flows out: lines, and
//! whether nothing failed. Must not know: what a step does.

use std::io::{self, Write};
use std::time::Instant;

/// A name that states what must be true, and what finds out.
pub(crate) type Step<W> = (&'static str, fn(&mut W) -> Result<(), String>);

/// Runs steps that build on each other. What cannot run is ignored, with the reason: nothing passes by not running.
pub(crate) fn run<W>(
    steps: &[Step<W>],
    mut world: Result<W, String>,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let start = Instant::now();
    writeln!(out, "\nrunning {} tests", steps.len())?;
    let (mut passed, mut ignored) = (0, 0);
    let mut failed: Option<(&str, String)> = None;
    for (name, step) in steps {
        write!(out, "test {name} ... ")?;
        out.flush()?;
        let reason = match (&mut world, &failed) {
            (Err(missing), _) => missing.clone(),
            (Ok(_), Some((earlier, _))) => format!("{earlier} failed"),
            (Ok(world), None) => {
                let begun = Instant::now();
                match step(world) {
                    Ok(()) => {
                        passed += 1;
                        writeln!(out, "ok <{:.1}s>", begun.elapsed().as_secs_f32())?;
                    }
                    Err(why) => {
                        writeln!(out, "FAILED")?;
                        failed = Some((name, why));
                    }
                }
                continue;
            }
        };
        ignored += 1;
        writeln!(out, "ignored, {reason}")?;
    }
    if let Some((name, why)) = &failed {
        writeln!(
            out,
            "\nfailures:\n\n---- {name} ----\n{why}\n\nfailures:\n    {name}"
        )?;
    }
    let word = if failed.is_some() { "FAILED" } else { "ok" };
    writeln!(
        out,
        "\ntest result: {word}. {passed} passed; {} failed; {ignored} ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s\n",
        usize::from(failed.is_some()),
        start.elapsed().as_secs_f32()
    )?;
    Ok(failed.is_none())
}
