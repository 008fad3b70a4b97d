//! Compares what spokewright says with a product's own golden files, which stay where they are.
//!
//! ```text
//! cargo run --release -p agreement -- envoy-gateway CHECKOUT/internal/gatewayapi/testdata
//! cargo run --release -p agreement -- istio CHECKOUT/pilot/pkg/config/kube/gateway/testdata
//! cargo run --release -p agreement -- gateway-api CHECKOUT/conformance/tests
//! ```
//!
//! Prints how often both say the same, by kind of statement, then every difference, those with one cause together.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use agreement::compare;

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
