//! Renders a hub into a directory, as `spokewright render HUB -o OUTPUT` does.
//!
//! `cargo run --example render -- examples/fleet /tmp/rendered`

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use spokewright::diagnostic::{Findings, Human};
use spokewright::output::{self, Options};
use spokewright::pipeline::{Analysis, EmptyResult, Request, load};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(hub), Some(output)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: render HUB OUTPUT");
        return Ok(ExitCode::from(2));
    };
    Ok(ExitCode::from(render(hub, output)?))
}

/// Renders `hub` into `output`, says what was found and done, and returns the exit status of the command.
pub(crate) fn render(hub: PathBuf, output: PathBuf) -> Result<u8, Box<dyn Error>> {
    let request = Request {
        paths: vec![hub],
        output: Some(output),
        ..Request::default()
    };

    // Nothing fails up to the writing: whatever is wrong becomes a finding, so that one run tells all of it.
    let loaded = load(&request);
    let mut findings = Findings::new();
    let analysis = Analysis::new(&loaded, &mut findings);
    let rendered = analysis.render(EmptyResult::Refused, &mut findings);

    // Adds what reading found, applies the severities of the configuration, and sorts for a reader.
    loaded.finish(&mut findings);
    eprint!("{}", Human::default().render(&findings, &loaded.sources));
    if findings.has_errors() {
        return Ok(findings.exit_status());
    }

    // Only files that differ are written; those that nothing wants any more are deleted, and only if they are ours.
    let summary = output::write(&loaded.output, &rendered.layout(&loaded), Options::default())?;
    println!(
        "{} works: {} files written, {} unchanged, {} deleted",
        rendered.plan.work_count(),
        summary.written,
        summary.unchanged,
        summary.deleted
    );
    Ok(0)
}
