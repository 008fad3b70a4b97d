//! `spokewright schema`: JSON Schemas of the configuration, of ClusterOverlays, of GatewayClass parameters, and of each
//! report; the definitions of our kinds; and the list of kinds whose schemas are built in.

use std::io::IsTerminal as _;

use clap::Args;
use clap_complete::ArgValueCompleter;
use spokewright::diagnostic::did_you_mean;
use spokewright::pipeline::{SCHEMA_STORE_CATALOG, SCHEMAS, catalog_text, definitions};

use super::print::{Status, refuse};
use super::{completions, print};

const AFTER_HELP: &str = "\
Examples:
  spokewright schema                 the names
  spokewright schema config          for spokewright.yaml
  spokewright schema params > params.schema.json
  spokewright schema report/placement
                                     for what placement -o json prints
  spokewright schema crd             the CustomResourceDefinitions of ClusterOverlay
                                     and FleetRule
  spokewright schema catalog         kinds that are checked without their CRDs";

/// The catalog of kinds.
const CATALOG: &str = "catalog";

/// The definitions of the kinds that an API server may store.
const DEFINITIONS: &str = "crd";

/// The schemas of files that editors find by their names.
const SCHEMA_STORE: &str = "schema-store";

/// Print a JSON Schema, or the built-in catalog of kinds
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Schema {
    /// Name of the schema; without it, list the names
    #[arg(add = ArgValueCompleter::new(completions::schemas))]
    name: Option<String>,
}

impl Schema {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let names: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
        let text = match &self.name {
            None => names.iter().map(|name| format!("{name}\n")).collect(),
            Some(name) if name == CATALOG => catalog_text(),
            Some(name) if name == DEFINITIONS => definitions(),
            Some(name) if name == SCHEMA_STORE => SCHEMA_STORE_CATALOG.to_owned(),
            Some(wanted) => match SCHEMAS.iter().find(|(name, _)| name == wanted) {
                Some((_, schema)) => (*schema).to_owned(),
                None => {
                    let help = did_you_mean(wanted, names.iter().copied())
                        .unwrap_or_else(|| format!("the schemas are: {}", names.join(", ")));
                    return refuse(&format!("there is no schema `{wanted}`"), &help);
                }
            },
        };
        let is_list = self.name.is_none();
        print::text(&text)?;
        // Scripts want the names; people, how to go on.
        if is_list && std::io::stdout().is_terminal() {
            print::line("next: `spokewright schema config > config.schema.json`");
        }
        Ok(Status::Done)
    }
}
