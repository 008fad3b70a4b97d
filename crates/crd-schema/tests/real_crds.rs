//! Definitions of public projects: each is read and compiles. Run with
//! `SPOKEWRIGHT_CRDS=DIRECTORY cargo test -p crd-schema --features real-crds`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::fs;
use std::path::PathBuf;

use crd_schema::{Crd, SchemaProblem};
use kube_yaml::{Limits, read_document};

#[test]
fn real_crds_are_read_and_compile_without_a_problem() {
    let root = std::env::var_os("SPOKEWRIGHT_CRDS")
        .expect("set SPOKEWRIGHT_CRDS to a directory of CustomResourceDefinitions, one a file");
    let mut pending = vec![PathBuf::from(root)];
    let mut schemas = 0;
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = fs::read_to_string(&path).expect("text");
                let definition = read_document(&text, &Limits::default()).expect("YAML");
                let crd = Crd::read(&definition).expect("a CRD");
                assert_eq!(crd.problems, Vec::<SchemaProblem>::new(), "{}", path.display());
                assert_eq!(
                    crd.verify(&crd_schema::Work::unlimited()),
                    Vec::<SchemaProblem>::new(),
                    "{}",
                    path.display()
                );
                assert!(crd.served_versions().count() > 0, "{}", path.display());
                schemas += crd
                    .versions
                    .iter()
                    .filter(|version| version.schema.is_some())
                    .count();
            }
        }
    }
    assert!(schemas > 0, "SPOKEWRIGHT_CRDS has no schema");
}
