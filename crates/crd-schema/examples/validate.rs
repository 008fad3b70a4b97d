//! Validates one object against a definition, both from files: `validate CRD OBJECT`.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::process::ExitCode;

use crd_schema::Crd;
use kube_json::Value;
use kube_yaml::{Limits, read_document};

fn main() -> ExitCode {
    match run() {
        Ok(accepted) if accepted => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(definition), Some(object)) = (arguments.next(), arguments.next()) else {
        return Err("usage: validate CRD OBJECT".to_owned());
    };
    let definition = read(&definition)?;
    let object = read(&object)?;
    let crd = Crd::read(&definition).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })?;
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let version = version.rsplit('/').next().unwrap_or_default();
    let schema = crd.version(version).and_then(|version| version.schema.as_ref());
    let schema = schema.ok_or_else(|| format!("no schema for version {version:?}"))?;
    let violations = schema.validate(&object);
    for violation in &violations {
        println!("{violation}");
    }
    Ok(violations.is_empty())
}

fn read(path: &str) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    read_document(&text, &Limits::default()).map_err(|error| format!("{path}: {}", error.message))
}
