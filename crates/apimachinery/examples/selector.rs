//! Evaluates a label selector: `cargo run -p apimachinery --example selector`.

#![allow(clippy::restriction)]

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
