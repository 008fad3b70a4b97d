//! Compares what spokewright says with a product's own golden files, which stay where they are.
//!
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

pub use tally::Tally;

/// Compares one case: the file that names it.
type Compare = fn(&mut Tally, &str, &Path) -> Result<(), Box<dyn Error>>;

/// Compares all golden files below a directory; `None` for a product without a reader.
///
/// # Errors
///
/// The directory cannot be read.
pub fn compare(product: &str, directory: &Path) -> Result<Option<Tally>, Box<dyn Error>> {
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
