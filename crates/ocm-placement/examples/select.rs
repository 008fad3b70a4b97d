//! Which clusters does each Placement of some files select, and why: `cargo run -p ocm-placement --example select --
//! hub.yaml eu-1`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::error::Error;
use std::{env, fs};

use kube_yaml::{Limits, read_all};
use ocm_placement::{Bearing, Detail, Input, Inventory, Mode, Object, ObjectId, Options, evaluate};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().ok_or("name a file with the objects of a hub")?;
    let documents = read_all(&fs::read_to_string(file)?, &Limits::default())?;
    let objects = documents.iter().enumerate();
    let (inventory, invalid) = Inventory::read(objects.map(|(id, value)| Object::new(ObjectId(id), value)));
    for field in &invalid {
        eprintln!("document {}: {field}", field.at.object.0);
    }
    let input = Input {
        inventory: &inventory,
        now: None,
        mode: Mode::Sequential,
        options: Options::default(),
    };
    let evaluation = evaluate(&input, Detail::Full);
    for (namespace, name) in inventory.placements() {
        let clusters = evaluation.clusters_of(namespace, name).unwrap_or_default();
        println!("{namespace}/{name}: {}", clusters.join(", "));
    }
    let Some(cluster) = arguments.next() else {
        return Ok(());
    };
    for explanation in evaluation.explain(&cluster).unwrap_or_default() {
        println!("{cluster} for {}/{}:", explanation.namespace, explanation.name);
        for step in &explanation.steps {
            let mark = match step.bearing {
                Bearing::For => '+',
                Bearing::Against => '-',
                Bearing::Neutral => ' ',
            };
            println!(
                "  {mark} {} (document {}, {})",
                step.text, step.at.object.0, step.at.pointer
            );
        }
    }
    Ok(())
}
