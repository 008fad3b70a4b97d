//! Evaluates a label selector: `cargo run -p apimachinery --example selector`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use apimachinery::{Field, LabelSelector};
use kube_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let written = json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["test"]}]});
    let selector = LabelSelector::read(&Field::new(&written)).compile()?;
    for tier in ["test", "production"] {
        let matches = selector.matches(|key| (key == "tier").then_some(tier));
        println!("{tier}: {matches}");
    }
    Ok(())
}
