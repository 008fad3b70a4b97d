//! Compares what spokewright says with a product's own golden files, which stay where they are.
//!
//! ```text
//! cargo run --release --example agreement -- envoy-gateway CHECKOUT/internal/gatewayapi/testdata
//! cargo run --release --example agreement -- istio CHECKOUT/pilot/pkg/config/kube/gateway/testdata
//! cargo run --release --example agreement -- gateway-api CHECKOUT/conformance/tests
//! ```
//!
//! Prints how often both say the same, by kind of statement, then every difference, those with one cause together.
//! docs/agreement.md has the figures.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

mod answers;
mod envoy_gateway;
mod gateway_api;
mod istio;
mod tally;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use tally::Tally;

const USAGE: &str = "usage: agreement envoy-gateway|istio|gateway-api DIRECTORY";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(product), Some(directory)) = (arguments.next(), arguments.next()) else {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    };
    match compare(&product, Path::new(&directory))? {
        Some(tally) => {
            print!("{tally}");
            Ok(ExitCode::SUCCESS)
        }
        None => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

/// Compares one case: the file that names it.
type Compare = fn(&mut Tally, &str, &Path) -> Result<(), Box<dyn Error>>;

/// Compares all golden files below a directory; `None` for a product without a reader.
pub(crate) fn compare(product: &str, directory: &Path) -> Result<Option<Tally>, Box<dyn Error>> {
    let (suffix, one): (&str, Compare) = match product {
        "envoy-gateway" => (envoy_gateway::SUFFIX, envoy_gateway::compare),
        "istio" => (istio::SUFFIX, istio::compare),
        "gateway-api" => (gateway_api::SUFFIX, gateway_api::compare),
        _ => return Ok(None),
    };
    let mut files = Vec::new();
    list(directory, &mut files)?;
    files.sort();
    let mut tally = Tally::default();
    for file in files {
        let name = file.strip_prefix(directory).unwrap_or(&file).to_string_lossy();
        let Some(case) = name.strip_suffix(suffix) else {
            continue;
        };
        match one(&mut tally, case, &file) {
            Ok(()) => tally.case(),
            Err(error) => tally.unread(case, error.as_ref()),
        }
    }
    Ok(Some(tally))
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
