//! How fast Kubernetes' small languages are read: `cargo bench -p apimachinery`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::hint::black_box;

use apimachinery::names::NameRule;
use apimachinery::{Field, LabelSelector, Quantity, pointer};
use divan::Bencher;
use kube_json::json;

fn main() {
    divan::main();
}

/// The forms of quantities that clusters report.
#[divan::bench(args = ["16", "3500m", "65843492Ki", "0.58Gi", "1e3"])]
fn quantity(text: &str) -> Option<f64> {
    Quantity::parse(black_box(text))
        .ok()
        .map(|quantity| quantity.approximate())
}

/// Evaluating a selector, as often as there are clusters.
#[divan::bench]
fn selector_on_labels(bencher: Bencher<'_, '_>) {
    let written = json!({
        "matchLabels": {"region": "eu"},
        "matchExpressions": [{"key": "tier", "operator": "In", "values": ["production", "staging"]}],
    });
    let Ok(selector) = LabelSelector::read(&Field::new(&written)).compile() else {
        return;
    };
    bencher.bench(|| {
        selector.matches(|key| match black_box(key) {
            "region" => Some("eu"),
            "tier" => Some("staging"),
            _ => None,
        })
    });
}

/// A name as most are: valid.
#[divan::bench]
fn name() -> bool {
    NameRule::Rfc1123Subdomain
        .check(black_box("gateway-shop-storefront.example"))
        .is_ok()
}

/// The pointer of an annotation, whose key has a slash.
#[divan::bench]
fn escaped_pointer() -> String {
    pointer::child("/metadata/annotations", black_box("kuadrant.io/parent"))
}
