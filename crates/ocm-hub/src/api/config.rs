//! `spokewright.yaml`: the configuration file at the root of the input.
//!
//! Owns: [`RenderConfig`], its fields, defaults and checks. Flows in: the text of the file. Flows out: the
//! configuration, findings at its fields. Must not know: command-line options (which override it, in `cli`), or what
//! the profiles of policy kinds mean.
//!
//! What users may write: docs/reference/configuration.md.

mod choices;

#[cfg(feature = "schema")]
mod file;
#[cfg(test)]
mod tests;

pub use choices::{Budget, PlacementMode, PlacementSource};
pub use choices::{HubObjects, OriginTimestamp, Secrets};
#[cfg(feature = "schema")]
pub use file::json_schema;

use std::collections::BTreeMap;

use kube_json::Value;

use crate::api::own_kinds;
use crate::api::params::CONTROLLER_NAME;
use crate::api::reading;
use crate::api::schema;
use crate::api::suppression::{self, Suppression};
use crate::api::violation;
use crate::diagnostic::{CODES, Code, DocumentId, Finding, Place, Severity, SeverityOverride, nearest};
use crate::object::Origin;
use apimachinery::Field;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "spokewright.yaml";

/// The configuration, with defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderConfig {
    /// GatewayClasses of this controller are ours.
    pub controller_name: String,
    /// Inputs, relative to the file.
    pub hub: Vec<String>,
    /// Directory of what already lives on the spokes, relative to the file.
    pub spokes: String,
    /// Directories of CRDs that are no part of the hub, relative to the file.
    pub crds: Vec<String>,
    /// Output directory, relative to the file.
    pub output: String,
    /// Files in the output directory, relative to it, that no run writes.
    pub output_exceptions: Vec<String>,
    /// Globs of files that are not read.
    pub exclude: Vec<String>,
    /// Where placements come from.
    pub placement_source: PlacementSource,
    /// How placements see each other's results.
    pub placement_mode: PlacementMode,
    /// Whether `metadata.creationTimestamp` decides between policies.
    pub creation_timestamp: OriginTimestamp,
    /// The root namespace of Istio's mesh, where it is not `istio-system`.
    pub istio_root_namespace: Option<String>,
    /// Whether Secrets are written into works.
    pub secrets: Secrets,
    /// Whether annotated hub objects are written.
    pub hub_objects: HubObjects,
    /// Profiles of policy kinds, as written; `policy` reads them.
    pub profiles: Vec<Value>,
    /// Severities of findings.
    pub findings: BTreeMap<Code, SeverityOverride>,
    /// Warnings that are accepted.
    pub suppress: Vec<Suppression>,
    /// What `diff` lets pass.
    pub budget: Budget,
    /// The file as it is written, for a comparison with another one; null if there is none.
    pub written: Value,
}

impl Default for RenderConfig {
    fn default() -> Self {
        Self {
            controller_name: CONTROLLER_NAME.to_owned(),
            hub: vec![".".to_owned()],
            spokes: "spokes".to_owned(),
            crds: Vec::new(),
            output: "rendered".to_owned(),
            output_exceptions: Vec::new(),
            exclude: Vec::new(),
            placement_source: PlacementSource::default(),
            placement_mode: PlacementMode::default(),
            creation_timestamp: OriginTimestamp::default(),
            istio_root_namespace: None,
            secrets: Secrets::default(),
            hub_objects: HubObjects::default(),
            profiles: Vec::new(),
            findings: BTreeMap::new(),
            suppress: Vec::new(),
            budget: Budget::default(),
            written: Value::Null,
        }
    }
}

/// Reads the configuration. Every fault is a finding `config/invalid` or `config/unknown-field`; the
/// configuration that comes back has the defaults where the file is wrong.
#[must_use]
pub fn read(text: &str, document: DocumentId) -> (RenderConfig, Vec<Finding>) {
    let mut findings = Vec::new();
    let value = match reading::read(text) {
        Ok(value) => value,
        Err(failure) => {
            let place = Place::Text {
                source: document.source,
                start: failure.range.start,
                end: failure.range.end,
            };
            let message = format!("{FILE_NAME}: {}", failure.message);
            findings.push(Finding::new(Code::CONFIG_INVALID, place, message));
            return (RenderConfig::default(), findings);
        }
    };
    // A file of comments alone leaves everything out.
    if value.is_null() {
        return (RenderConfig::default(), findings);
    }
    let value = with_off(value);
    let origin = Origin {
        document,
        pointer: String::new(),
    };
    if let Some(unknown) = own_kinds::unknown(&origin, &value) {
        findings.push(unknown);
        return (interpret(&value, document, &mut Vec::new()), findings);
    }
    let schema = schema::config();
    let written = value;
    let value = schema.defaulted(&written).into_owned();
    let violations = schema.validate_defaulted(&value);
    for violation in violation::without_misspelled(&violations) {
        let message = format!("{FILE_NAME}: {violation}");
        let (code, place) = if violation::is_unknown_field(violation) {
            (
                Code::CONFIG_UNKNOWN_FIELD,
                Place::key(document, &*violation.pointer),
            )
        } else {
            (Code::CONFIG_INVALID, Place::value(document, &*violation.pointer))
        };
        let mut finding = Finding::new(code, place, message);
        finding.help = violation::help(violation).map(Into::into);
        findings.push(finding);
    }
    let config = RenderConfig {
        written,
        ..interpret(&value, document, &mut findings)
    };
    (config, findings)
}

/// A bare `off` is the boolean false to YAML as Kubernetes reads it: here it means the word.
fn with_off(mut value: Value) -> Value {
    if let Some(severities) = value.get_mut("findings").and_then(Value::as_object_mut) {
        for severity in severities.values_mut() {
            if *severity == Value::Bool(false) {
                *severity = Value::from("off");
            }
        }
    }
    value
}

fn interpret(value: &Value, document: DocumentId, findings: &mut Vec<Finding>) -> RenderConfig {
    let root = Field::new(value);
    let defaults = RenderConfig::default();
    let text = |field: &str, default: String| root.text(field).map_or(default, str::to_owned);
    let strings = |field: &str| -> Vec<String> {
        root.get(field)
            .items()
            .filter_map(|item| item.str().map(str::to_owned))
            .collect()
    };
    let placement = root.get("placement");
    let hub = strings("hub");
    RenderConfig {
        controller_name: text("controllerName", defaults.controller_name),
        hub: if root.get("hub").is_present() {
            hub
        } else {
            defaults.hub
        },
        spokes: text("spokes", defaults.spokes),
        crds: strings("crds"),
        output: text("output", defaults.output),
        output_exceptions: strings("outputExceptions"),
        exclude: strings("exclude"),
        placement_source: choices::parse(&placement.get("source")),
        placement_mode: choices::parse(&placement.get("mode")),
        istio_root_namespace: root.get("istio").text("rootNamespace").map(str::to_owned),
        creation_timestamp: choices::parse(&root.get("precedence").get("creationTimestamp")),
        secrets: choices::parse(&root.get("secrets")),
        hub_objects: choices::parse(&root.get("hubObjects")),
        profiles: root
            .get("profiles")
            .items()
            .filter_map(|item| item.value().cloned())
            .collect(),
        findings: severities(&root.get("findings"), document, findings),
        suppress: suppression::of_configuration(&root.get("suppress"), document, findings),
        budget: choices::parse(&root.get("diff").get("budget")),
        written: Value::Null,
    }
}

fn severities(
    field: &Field<'_>,
    document: DocumentId,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Code, SeverityOverride> {
    let mut severities = BTreeMap::new();
    for (name, severity) in field.entries() {
        let place = Place::key(document, severity.pointer());
        let Some(code) = Code::from_name(name) else {
            let names = CODES.iter().map(|(code, _, _)| code.name());
            let help = nearest(name, names).map_or_else(
                || "`spokewright finding` lists all codes".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("{FILE_NAME}: findings: there is no code {name:?}");
            findings.push(Finding::new(Code::CONFIG_UNKNOWN_FIELD, place, message).help(help));
            continue;
        };
        if !code.is_configurable() {
            let message = format!("{FILE_NAME}: findings: the severity of {name} cannot be changed");
            let help = if code == Code::EMPTY_NOTHING_RENDERED {
                "remove it, and pass --allow-empty to the run that should remove everything"
            } else {
                "remove it: without this error, the result would be undefined"
            };
            findings.push(Finding::new(Code::CONFIG_INVALID, place, message).help(help));
            continue;
        }
        let severity = match severity.str() {
            Some("error") => SeverityOverride::Severity(Severity::Error),
            Some("warning") => SeverityOverride::Severity(Severity::Warning),
            Some("off") => SeverityOverride::Off,
            // The schema has said so.
            _ => continue,
        };
        severities.insert(code, severity);
    }
    severities
}
