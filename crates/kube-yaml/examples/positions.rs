//! Reads a manifest from standard input and prints where each top-level key stands:
//! `cargo run -p kube-yaml --example positions < deployment.yaml`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::io::{Read as _, stdin};

use kube_yaml::{Limits, read_located, split};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    for chunk in split(&text)? {
        let (value, positions) = read_located(&chunk, &Limits::default())?;
        for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
            println!("{key}: {:?}", positions.nearest(&format!("/{key}")).key);
        }
    }
    Ok(())
}
