//! Argo CD's config management plugin: its parameters ([`PARAMETERS`]), reading `ARGOCD_APP_PARAMETERS` ([`Parameters`]),
//! announcing them with the defaults of the real configuration ([`announcements`]), where they may lead ([`boundary`]), and
//! the text of `plugin.yaml` ([`plugin_yaml`]), which the sidecar reads at `/home/argocd/cmp-server/config/plugin.yaml`.
//!
//! docs/systems/gitops.md#plugin-parameters: a parameter is a string, an array of strings or a map of
//! strings; `PARAM_*` variables can collide (`a.b` and `a-b` are both `PARAM_A_B`), so they are not read.

use std::path::{Path, PathBuf};

use kube_json::{Map, Value, json};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::request::Request;
use super::stages::EmptyResult;
use crate::api::config::{HubObjects, PlacementMode, PlacementSource, RenderConfig, Secrets};
use crate::diagnostic::{Code, Finding, Findings, Place, Severity, did_you_mean, nearest};
use crate::render::{ClusterNames, WorkKind};

/// What an Application says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Inputs, relative to the Application's directory.
    pub hub: Option<Vec<String>>,
    /// Directory of what already lives on the clusters, relative to the Application's directory.
    pub spokes: Option<String>,
    /// Whether Secrets are written.
    pub secrets: Option<Secrets>,
    /// Whether annotated hub objects are written.
    pub hub_objects: Option<HubObjects>,
    /// Where placements come from.
    pub placement_source: Option<PlacementSource>,
    /// How Placements see each other's results.
    pub placement_mode: Option<PlacementMode>,
    /// The only clock.
    pub now: Option<jiff::Timestamp>,
    /// Only these clusters.
    pub clusters: Vec<String>,
    /// Whether an empty result is meant.
    pub empty: EmptyResult,
    /// The kind of object that contains the works.
    pub work_kind: WorkKind,
}

/// Reports variables of an Application that are called like parameters: Argo CD passes them on, and nothing reads them.
pub fn report_variables<'v>(names: impl Iterator<Item = &'v str>, findings: &mut Findings) {
    let plain = |name: &str| name.replace(['-', '.', '_'], "").to_lowercase();
    for name in names {
        let Some(word) = name.strip_prefix("ARGOCD_ENV_").map(plain) else {
            continue;
        };
        let known: Vec<(String, &str)> = PARAMETERS
            .iter()
            .map(|(known, ..)| (plain(known), *known))
            .collect();
        let near = nearest(&word, known.iter().map(|(plain, _)| plain.as_str()));
        let Some((_, parameter)) = known.iter().find(|(plain, _)| Some(plain.as_str()) == near) else {
            continue;
        };
        let message = format!("the variable `{name}` is not read: `{parameter}` is a parameter");
        findings.push(
            Finding::new(Code::CONFIG_UNKNOWN_FIELD, Place::Run, message).help(format!(
                "move it from `spec.source.plugin.env` to `spec.source.plugin.parameters`: `name: {parameter}`"
            )),
        );
    }
}

impl Parameters {
    /// Reads `ARGOCD_APP_PARAMETERS`: a JSON array of `{"name": .., "string" | "array" | "map": ..}`. An empty text
    /// and `null` are an Application without parameters.
    ///
    /// All that is wrong becomes a finding `config/unknown-field` or `config/invalid`: an Application that
    /// misspells a parameter would otherwise render something else than it says.
    pub fn read(text: &str, findings: &mut Findings) -> Self {
        let mut parameters = Self::default();
        let entries = match serde_json::from_str(text) {
            _ if text.trim().is_empty() => Vec::new(),
            Ok(Value::Null) => Vec::new(),
            Ok(Value::Array(entries)) => entries,
            wrong => {
                let what = wrong.map_or_else(
                    |error| format!("is not JSON: {error}"),
                    |_| "is not a JSON array".to_owned(),
                );
                findings.push(malformed(&what));
                Vec::new()
            }
        };
        let mut seen: Vec<&str> = Vec::new();
        for (position, entry) in entries.iter().enumerate() {
            let fields = entry.as_object();
            let Some((fields, name)) =
                fields.and_then(|fields| Some((fields, fields.get("name")?.as_str()?)))
            else {
                findings.push(malformed(&format!("has no `name` in entry {position}")));
                continue;
            };
            let Some((known, shape, ..)) = PARAMETERS.iter().find(|(known, ..)| *known == name) else {
                findings.push(unknown(name));
                continue;
            };
            if seen.contains(known) {
                findings.push(invalid(name, "is set twice").help("keep one of them"));
                continue;
            }
            seen.push(known);
            match Given::of(name, *shape, fields) {
                Ok(Some(given)) => {
                    if let Err(finding) = parameters.set(&given) {
                        findings.push(*finding);
                    }
                }
                // An ApplicationSet whose template came out empty looks like this, and its author meant one cluster.
                Ok(None) if name == "clusters" && fields.get("string").is_some_and(Value::is_string) => {
                    let finding = invalid(name, "is empty, so every cluster is rendered");
                    let help = "remove it if this is meant; otherwise see what its template came to";
                    findings.push(finding.severity(Severity::Warning).help(help));
                }
                Ok(None) => {}
                Err(finding) => findings.push(*finding),
            }
        }
        if parameters.work_kind == WorkKind::ReplicaSet && !parameters.clusters.is_empty() {
            findings.push(
                invalid("clusters", "cannot be used with `work-kind: replica-set`").help(
                    "a ManifestWorkReplicaSet is for all clusters of its Placement: remove one of the two",
                ),
            );
        }
        parameters
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), Box<Finding>> {
        match given.name {
            "allow-empty" => {
                let choices = [("true", EmptyResult::Allowed), ("false", EmptyResult::Refused)];
                self.empty = given.among(choices)?;
            }
            "clusters" => self.clusters = vec![given.cluster_names()?],
            "hub" => self.hub = Some(given.paths()?),
            "hubObjects" => self.hub_objects = Some(given.choice(&["None", "Annotated"])?),
            "now" => self.now = Some(given.time()?),
            "placement.mode" => {
                self.placement_mode = Some(given.choice(&["Snapshot", "Sequential", "Fixpoint"])?);
            }
            "placement.source" => {
                self.placement_source = Some(given.choice(&["Auto", "Decisions", "Evaluate"])?);
            }
            "secrets" => self.secrets = Some(given.choice(&["Omit", "Copy"])?),
            "spokes" => self.spokes = Some(given.text().to_owned()),
            "work-kind" => {
                let (work, set) = (WorkKind::ManifestWork, WorkKind::ReplicaSet);
                self.work_kind = given.among([("manifest-work", work), ("replica-set", set)])?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The request of an Application in the current directory, as one stream.
    pub fn request(&self, config: &RenderConfig) -> Request {
        // The user interface hands back the defaults that were announced to it. A directory that somebody names must be
        // there; the default one need not.
        let hub = self.hub.clone().filter(|hub| *hub != config.hub);
        let spokes = self.spokes.as_ref().filter(|spokes| **spokes != config.spokes);
        Request {
            paths: vec![PathBuf::from(".")],
            hub,
            spokes: spokes.map(PathBuf::from),
            clusters: self.clusters.clone(),
            placement: self.placement_source,
            mode: self.placement_mode,
            secrets: self.secrets,
            hub_objects: self.hub_objects,
            now: self.now,
            work_kind: self.work_kind,
            output: Some(PathBuf::from("-")),
            ..Request::default()
        }
    }
}

/// One parameter of the right shape.
struct Given<'a> {
    name: &'a str,
    values: Vec<&'a str>,
}

impl<'a> Given<'a> {
    /// `None` where there is no value: the user interface hands back what was announced without one.
    fn of(name: &'a str, shape: Shape, fields: &'a Map) -> Result<Option<Self>, Box<Finding>> {
        let kinds: Vec<&str> = ["string", "array", "map"]
            .into_iter()
            .filter(|kind| fields.get(kind).is_some_and(|value| !value.is_null()))
            .collect();
        let (wanted, example) = match shape {
            Shape::Text => ("a string", "..."),
            Shape::List => ("an array of strings", "[...]"),
        };
        let help = format!("write `{{name: {name}, {}: {example}}}`", shape.key());
        let wrong = |what: &str, help: &str| Box::new(invalid(name, what).help(help));
        match kinds.as_slice() {
            // Whoever misspells the type has set something.
            [] if fields
                .keys()
                .all(|key| ["name", "string", "array", "map"].contains(&key.as_str())) =>
            {
                return Ok(None);
            }
            [] => return Err(wrong("has no value", &help)),
            [kind] if *kind == shape.key() => {}
            kinds => {
                let kinds = kinds.join(" and ");
                let what = format!("has the type {kinds}, but must be {wanted}");
                return Err(wrong(&what, &help));
            }
        }
        let value = fields.get(shape.key());
        let values: Option<Vec<&str>> = match shape {
            Shape::Text => value.and_then(Value::as_str).map(|text| vec![text]),
            Shape::List => value
                .and_then(Value::as_array)
                .and_then(|items| items.iter().map(Value::as_str).collect()),
        };
        let values = values.ok_or_else(|| wrong("contains something that is not a string", &help))?;
        if values.iter().all(|value| value.is_empty()) {
            return Ok(None);
        }
        if values.iter().any(|value| value.is_empty()) {
            return Err(wrong("is empty", "remove the parameter to get its default"));
        }
        Ok(Some(Self { name, values }))
    }

    fn text(&self) -> &'a str {
        self.values.first().copied().unwrap_or_default()
    }

    fn paths(&self) -> Result<Vec<String>, Box<Finding>> {
        if self.values.contains(&"-") {
            return Err(self.wrong("names standard input, which Argo CD closes", "name a directory"));
        }
        Ok(self.values.iter().map(|value| (*value).to_owned()).collect())
    }

    fn cluster_names(&self) -> Result<String, Box<Finding>> {
        let help = "write names or globs, such as `eu-1,us-*`";
        ClusterNames::parse([self.text()]).map_err(|error| self.wrong(&error, help))?;
        Ok(self.text().to_owned())
    }

    fn time(&self) -> Result<jiff::Timestamp, Box<Finding>> {
        let text = self.text();
        text.parse().map_err(|_| {
            let what = format!("is not an RFC 3339 time: {text:?}");
            self.wrong(&what, "write a time such as 2026-06-01T12:00:00Z")
        })
    }

    /// What one of these words stands for.
    fn among<T: Copy, const N: usize>(&self, choices: [(&str, T); N]) -> Result<T, Box<Finding>> {
        let chosen = choices.iter().find(|(name, _)| *name == self.text());
        let chosen = chosen.map(|(_, value)| *value);
        chosen.ok_or_else(|| self.not_among(&choices.map(|(name, _)| name)))
    }

    fn choice<T: DeserializeOwned>(&self, choices: &[&str]) -> Result<T, Box<Finding>> {
        kube_json::from_value(&Value::from(self.text())).map_err(|_| self.not_among(choices))
    }

    fn not_among(&self, choices: &[&str]) -> Box<Finding> {
        let text = self.text();
        let near = did_you_mean(text, choices.iter().copied());
        let help = near.unwrap_or_else(|| format!("write one of: {}", choices.join(", ")));
        self.wrong(&format!("cannot be {text:?}"), &help)
    }

    fn wrong(&self, what: &str, help: &str) -> Box<Finding> {
        Box::new(invalid(self.name, what).help(help))
    }
}

fn invalid(name: &str, what: &str) -> Finding {
    let message = format!("the parameter `{name}` {what}");
    Finding::new(Code::CONFIG_INVALID, Place::Run, message)
}

fn malformed(what: &str) -> Finding {
    let message = format!("ARGOCD_APP_PARAMETERS {what}");
    Finding::new(Code::CONFIG_INVALID, Place::Run, message)
        .help("Argo CD sets it to an array such as [{\"name\": \"clusters\", \"string\": \"eu-*\"}]")
}

fn unknown(name: &str) -> Finding {
    let message = format!("there is no parameter `{name}`");
    let finding = Finding::new(Code::CONFIG_UNKNOWN_FIELD, Place::Run, message);
    let names = PARAMETERS.map(|(known, ..)| known);
    let near = did_you_mean(name, names);
    finding.help(near.unwrap_or_else(|| format!("the parameters are: {}", names.join(", "))))
}

/// The root of the checkout: as far above `directory` as the Application's path (`ARGOCD_APP_SOURCE_PATH`) says.
///
/// Where only a part of the repository was streamed (`manifest-generate-paths`), the directory ends with only the
/// last components of that path; so as many are climbed as agree, and never into the directory of all checkouts.
pub fn boundary(directory: &Path, source_path: &str) -> PathBuf {
    let mut boundary = directory;
    let components = source_path
        .split('/')
        .rev()
        .filter(|part| !matches!(*part, "" | "."));
    for component in components {
        let agrees = boundary.file_name().is_some_and(|name| name == component);
        match boundary.parent() {
            Some(parent) if agrees => boundary = parent,
            _ => break,
        }
    }
    boundary.to_owned()
}

/// The type of a parameter in Argo CD's terms: its `collectionType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One string.
    Text,
    /// A list of strings.
    List,
}

impl Shape {
    /// The key of the value in `ARGOCD_APP_PARAMETERS`.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::List => "array",
        }
    }
}

/// A parameter: its name, its type, its title, and its tooltip.
pub type Parameter = (&'static str, Shape, &'static str, &'static str);

/// Every parameter: the configuration's fields and the options that an Application may set
/// (docs/guides/argo-cd.md).
#[rustfmt::skip] // one row a line
pub const PARAMETERS: [Parameter; 10] = [
    ("allow-empty", Shape::Text, "Allow an empty result", "true: accept a result without clusters, which deletes everything; false or true"),
    ("clusters", Shape::Text, "Clusters", "Render only the clusters whose names match this glob, such as eu-*; all of them when not set"),
    ("hub", Shape::List, "Inputs", "Files and directories of hub objects, relative to the directory of the Application"),
    ("hubObjects", Shape::Text, "Hub objects", "Annotated: also render the Gateways and policies of the hub with what is known about them; None or Annotated"),
    ("now", Shape::Text, "Time", "The RFC 3339 time that tolerations and scores are compared with; needed only if the result depends on it"),
    ("placement.mode", Shape::Text, "Placement mode", "How Placements see each other's results: Snapshot, Sequential or Fixpoint"),
    ("placement.source", Shape::Text, "Placement source", "Where placements come from: Auto, Decisions or Evaluate"),
    ("secrets", Shape::Text, "Secrets", "Whether Secrets that Gateways refer to are copied into ManifestWorks: Omit or Copy"),
    ("spokes", Shape::Text, "Spoke-local objects", "Directory with one directory per cluster of objects that already live there, relative to the Application"),
    ("work-kind", Shape::Text, "Kind of works", "replica-set: one ManifestWorkReplicaSet for each Gateway instead of a ManifestWork for each cluster; manifest-work or replica-set"),
];

/// A parameter, as Argo CD reads it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Announcement {
    name: &'static str,
    title: &'static str,
    tooltip: &'static str,
    required: bool,
    /// The type of the value, or of the items of an array.
    item_type: &'static str,
    /// `string` or `array`: the field that has the default. Argo CD never infers it from the value.
    collection_type: &'static str,
    /// The default of a parameter that is a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    string: Option<String>,
    /// The default of a parameter that is a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<Vec<String>>,
}

/// The JSON Schema of what [`announcements`] returns.
#[cfg(test)]
pub(in crate::pipeline) fn json_schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<Vec<Announcement>>();
    schema.insert("title".to_owned(), "Parameters of Argo CD".into());
    schema.to_value()
}

/// The announcement of every parameter as Argo CD's dynamic parameters command prints it
/// (docs/systems/gitops.md#plugin-parameters): a JSON array. The values serve only the user interface, and
/// are what applies when an Application sets nothing.
pub fn announcements(config: &RenderConfig) -> Value {
    let announce = |(name, shape, title, tooltip): &Parameter| {
        let default = default(name, config);
        let text = default.as_ref().and_then(Value::as_str).map(str::to_owned);
        let items = default.as_ref().and_then(Value::as_array).map(|items| {
            let texts = items.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        });
        json!(Announcement {
            name,
            title,
            tooltip,
            required: false,
            item_type: if *name == "allow-empty" {
                "boolean"
            } else {
                "string"
            },
            collection_type: shape.key(),
            string: text,
            array: items,
        })
    };
    PARAMETERS.iter().map(announce).collect()
}

fn default(name: &str, config: &RenderConfig) -> Option<Value> {
    fn word<T: Serialize>(value: &T) -> Option<Value> {
        kube_json::to_value(value).ok()
    }
    match name {
        "allow-empty" => Some(Value::from("false")),
        "hub" => word(&config.hub),
        "hubObjects" => word(&config.hub_objects),
        "placement.mode" => word(&config.placement.unwrap_or_default().mode),
        "placement.source" => word(&config.placement.unwrap_or_default().source),
        "secrets" => word(&config.secrets),
        "spokes" => word(&config.spokes),
        "work-kind" => Some(Value::from("manifest-work")),
        _ => None,
    }
}

/// Everything but discovery.
const PLUGIN: &str = "\
# Argo CD's sidecar reads this file; it is not an object of the cluster, so never apply it with kubectl.
apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  # What an Application names in spec.source.plugin.name. No spec.version: it would become part of that name.
  name: spokewright
spec:
  generate:
    command: [spokewright, argocd, generate]
  parameters:
    dynamic:
      command: [spokewright, argocd, parameters]
  # Nothing in the repository is executed, and nothing is fetched: neither modes nor credentials are needed.
  preserveFileMode: false
  provideGitCreds: false
";

/// Why there is no discovery.
const WITHOUT: &str = "\
  # No discovery: Applications name the plugin, which saves Argo CD from streaming the repository a second time.
";

/// Discovery by the configuration file.
const WITH: &str = "\
  # Applications that name no plugin get this one if a spokewright.yaml is in their directory. For each of them
  # Argo CD streams the repository twice.
  discover:
    fileName: spokewright.yaml
";

/// The plugin's declaration. With `discovers`, Applications that name no plugin get it, too, where a configuration is in
/// their directory.
pub fn plugin_yaml(discovers: bool) -> String {
    let discovery = if discovers { WITH } else { WITHOUT };
    format!("{PLUGIN}{discovery}")
}

#[cfg(test)]
mod tests;
