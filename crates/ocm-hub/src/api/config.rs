//! `spokewright.yaml`, the configuration file at the root of the input: its fields, defaults and checks. Options of the
//! command line override it (`cli`), and `policy` reads its profiles.
//!
//! What users may write: docs/reference/configuration.md.

mod choices;
#[cfg(test)]
mod tests;

pub(super) use choices::ApiVersion;
pub use choices::{Budget, HubObjects, PlacementSource, Placements, Secrets, Waves};
use choices::{DiffSettings, Istio, Kind, PolicyPrecedence};
pub use ocm_placement::Mode as PlacementMode;

use std::collections::BTreeMap;
use std::mem::take;

use kube_json::{Map, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::api::params::CONTROLLER_NAME;
use crate::api::schema::{self, List};
use crate::api::suppression::{self, Suppression};
use crate::api::{own_kinds, violation};
use crate::diagnostic::{Code, DocumentId, Finding, Place, SeverityOverride};
use crate::object::Origin;
use apimachinery::pointer;

/// The name of the file.
pub const FILE_NAME: &str = "spokewright.yaml";

/// The configuration file spokewright.yaml.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[schemars(title = "spokewright configuration", extend("required" = ["apiVersion", "kind"]))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RenderConfig {
    /// The file's apiVersion.
    pub api_version: ApiVersion,
    /// The file's kind.
    pub kind: Kind,
    /// GatewayClasses with this spec.controllerName are ours.
    #[schemars(length(min = 1))]
    pub controller_name: String,
    /// Inputs: files and directories, relative to this file.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    #[serde(deserialize_with = "texts")]
    pub hub: Vec<String>,
    /// Directory of objects that already live on the spokes, with one directory per cluster. They are read but never
    /// rendered.
    #[schemars(length(min = 1))]
    pub spokes: String,
    /// Files and directories of CustomResourceDefinitions, relative to this file. They define kinds and validate
    /// objects, but are not part of the hub.
    #[schemars(inner(length(min = 1)))]
    #[serde(deserialize_with = "texts")]
    pub crds: Vec<String>,
    /// Output directory, relative to this file and in its repository. Every command skips it when it reads.
    #[schemars(length(min = 1))]
    pub output: String,
    /// Files in the output directory that no run writes, relative to it, such as README.md. Any other file there is an
    /// error.
    #[schemars(inner(length(min = 1)))]
    #[serde(deserialize_with = "texts")]
    pub output_exceptions: Vec<String>,
    /// Globs of files and directories that are not read, as in .gitignore.
    #[schemars(inner(length(min = 1)))]
    #[serde(deserialize_with = "texts")]
    pub exclude: Vec<String>,
    /// Placements.
    pub placement: Option<Placements>,
    /// The waves in which changes reach the clusters: the decision groups of a Placement, in their order. Clusters in
    /// no group come last.
    pub waves: Option<Waves>,
    /// Precedence of policies.
    pub precedence: Option<PolicyPrecedence>,
    /// Istio, if it is not installed in the usual way.
    pub istio: Option<Istio>,
    /// What happens to the Secrets that Gateways refer to.
    pub secrets: Secrets,
    /// Whether hub objects are written with annotations, under _hub/.
    pub hub_objects: HubObjects,
    /// Profiles of policy kinds.
    pub profiles: Vec<Value>,
    /// Severity of findings by their code: error, warning or off.
    #[serde(rename = "findings")]
    pub severities: BTreeMap<String, SeverityOverride>,
    /// Warnings that are accepted.
    #[serde(rename = "suppress")]
    #[schemars(with = "Vec<suppression::Entry>")]
    pub suppressions: List<suppression::Entry>,
    /// Settings of the command `diff`.
    pub diff: Option<DiffSettings>,
    /// Severities of findings, by codes that exist.
    #[serde(skip)]
    pub findings: BTreeMap<Code, SeverityOverride>,
    /// The suppressions that can apply.
    #[serde(skip)]
    pub suppress: Vec<Suppression>,
    /// The file, if there is one.
    #[serde(skip)]
    pub document: Option<DocumentId>,
    /// The file as it is written, for a comparison with another one; null if there is none.
    #[serde(skip)]
    pub written: Value,
}

impl Default for RenderConfig {
    fn default() -> Self {
        Self {
            api_version: ApiVersion::V1Alpha1,
            kind: Kind::RenderConfig,
            controller_name: CONTROLLER_NAME.to_owned(),
            hub: vec![".".to_owned()],
            spokes: "spokes".to_owned(),
            crds: Vec::new(),
            output: "rendered".to_owned(),
            output_exceptions: Vec::new(),
            exclude: Vec::new(),
            placement: None,
            waves: None,
            precedence: None,
            istio: None,
            secrets: Secrets::default(),
            hub_objects: HubObjects::default(),
            profiles: Vec::new(),
            severities: BTreeMap::new(),
            suppressions: List::default(),
            diff: None,
            findings: BTreeMap::new(),
            suppress: Vec::new(),
            document: None,
            written: Value::Null,
        }
    }
}

impl RenderConfig {
    /// What a change may do.
    pub fn budget(&self) -> Budget {
        self.diff.and_then(|diff| diff.budget).unwrap_or_default()
    }

    /// The place of a field of the file.
    pub fn place(&self, pointer: &str) -> Place {
        self.document
            .map_or(Place::Run, |document| Place::value(document, pointer))
    }
}

/// Texts; those that the schema refuses are nulls.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<Option<String>>::deserialize(deserializer)?;
    Ok(texts.into_iter().flatten().collect())
}

/// Reads the configuration. Every fault is a finding `config/invalid` or `config/unknown-field`; the
/// configuration that comes back has the defaults where the file is wrong.
pub fn read(text: &str, document: DocumentId) -> (RenderConfig, Vec<Finding>) {
    let mut findings = Vec::new();
    let value = match schema::read(text) {
        Ok(value) => value,
        Err(error) => {
            let place = Place::Text {
                source: document.source,
                start: error.range.start,
                end: error.range.end,
            };
            let message = format!("{FILE_NAME}: {}", error.message);
            findings.push(Finding::new(Code::CONFIG_INVALID, place, message));
            return (RenderConfig::default(), findings);
        }
    };
    // A file of comments alone leaves everything out.
    if value.is_null() {
        return (RenderConfig::default(), findings);
    }
    let value = with_off(value);
    let unknown = own_kinds::unknown(&Origin::from_document(document), &value);
    let schema::Typed { file, violations, .. } = schema::typed::<RenderConfig>(&schema::config(), &value);
    for violation in violation::without_misspelled(violations.iter()) {
        let help = violation::help(violation);
        findings.push(violation::file_finding(violation, document, "", FILE_NAME, help));
    }
    let mut config = file.unwrap_or_else(|error| {
        let (place, message) = (Place::value(document, ""), format!("{FILE_NAME}: {error}"));
        findings.push(Finding::new(Code::CONFIG_INVALID, place, message));
        RenderConfig::default()
    });
    let accepted = take(&mut config.severities);
    config.findings = severities(value.get("findings"), &accepted, document, &mut findings);
    config.suppress =
        suppression::from_configuration(&take(&mut config.suppressions), document, &mut findings);
    config.document = Some(document);
    config.written = value;
    // A file that is something else is one mistake.
    let findings = unknown.map_or(findings, |unknown| vec![unknown]);
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

fn severities(
    written: Option<&Value>,
    accepted: &BTreeMap<String, SeverityOverride>,
    document: DocumentId,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Code, SeverityOverride> {
    let mut severities = BTreeMap::new();
    for name in written.and_then(Value::as_object).into_iter().flat_map(Map::keys) {
        let place = Place::key(document, pointer::child("/findings", name));
        let Some(code) = Code::from_name(name) else {
            let help = Code::did_you_mean(name);
            let help = help.unwrap_or_else(|| "`spokewright finding` lists all codes".to_owned());
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
        severities.extend(accepted.get(name.as_str()).map(|severity| (code, *severity)));
    }
    severities
}
