//! CustomResourceDefinitions (`apiextensions.k8s.io/v1`). A definition may be malformed; what cannot be used is
//! reported, and the rest is read.

use std::collections::BTreeMap;

use apimachinery::names::NameRule;
use apimachinery::{Field, Mismatch, Work};
use kube_json::Value;

use crate::schema::Schema;
use crate::violation::SchemaProblem;

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster itself.
    Cluster,
}

/// One version of a definition.
#[derive(Debug)]
#[non_exhaustive]
pub struct CrdVersion {
    /// Such as `v1alpha1`.
    pub name: String,
    /// Position in `spec.versions`.
    pub index: usize,
    /// Whether the API server serves it.
    pub served: bool,
    /// The compiled schema; without one nothing can be checked.
    pub schema: Option<Schema>,
}

/// A CustomResourceDefinition.
#[derive(Debug)]
#[non_exhaustive]
pub struct Crd {
    /// API group of the kind it defines.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Its resource name, such as `gateways`.
    pub plural: String,
    /// Short resource names.
    pub short_names: Vec<String>,
    /// Scope.
    pub scope: Scope,
    /// Versions in the order of the definition.
    pub versions: Vec<CrdVersion>,
    /// Labels of the definition itself.
    pub labels: BTreeMap<String, String>,
    /// The parts that an API server would refuse or that cannot be used; they are left out above.
    pub problems: Vec<SchemaProblem>,
}

impl Crd {
    /// Reads a definition, as far as it can be read: broken versions and schemas are left out, and are in
    /// [`Crd::problems`]. Patterns and CEL rules compile when a value first meets them: [`Crd::verify`] compiles
    /// them all.
    ///
    /// # Errors
    /// Group, kind, plural or scope is missing or wrong: all that is wrong with the definition.
    pub fn read(definition: &Value) -> Result<Self, Vec<SchemaProblem>> {
        let mut reader = Reader { problems: Vec::new() };
        match reader.read(definition) {
            Some(mut crd) => {
                crd.problems = reader.problems;
                Ok(crd)
            }
            None => Err(reader.problems),
        }
    }

    /// Compiles every pattern and CEL rule of every version, and returns those that cannot be used, which are not
    /// checked. If no work is left, the others are not compiled.
    pub fn verify(&self, work: &Work) -> Vec<SchemaProblem> {
        let of_version = |version: &CrdVersion| {
            let at = schema_pointer(version.index);
            let schema = version.schema.as_ref();
            let problems = schema
                .map(|schema| schema.verify_within(work))
                .unwrap_or_default();
            problems.into_iter().map(move |problem| problem.below(&at))
        };
        self.versions.iter().flat_map(of_version).collect()
    }

    /// The version of this name, served or not.
    pub fn version(&self, name: &str) -> Option<&CrdVersion> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The names of the served versions.
    pub fn served_versions(&self) -> impl Iterator<Item = &str> {
        self.versions
            .iter()
            .filter(|version| version.served)
            .map(|version| version.name.as_str())
    }
}

fn schema_pointer(version: usize) -> String {
    format!("/spec/versions/{version}/schema/openAPIV3Schema")
}

struct Reader {
    problems: Vec<SchemaProblem>,
}

impl Reader {
    fn problem(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(SchemaProblem::new(pointer, message));
    }

    /// What a field holds; nothing, which is reported, if it is of another type.
    fn typed<T>(&mut self, read: Result<Option<T>, Mismatch>) -> Option<T> {
        read.unwrap_or_else(|mismatch| {
            let message = format!("expected {}, found {}", mismatch.expected, mismatch.found);
            self.problem(&mismatch.pointer, message);
            None
        })
    }

    fn read(&mut self, definition: &Value) -> Option<Crd> {
        let root = Field::new(definition);
        let spec = root.get("spec");
        let names = spec.get("names");
        let group = self.required(&spec.get("group"));
        let kind = self.required(&names.get("kind"));
        let plural = self.required(&names.get("plural"));
        let _ = self.typed(names.get("singular").string());
        let scope = self.scope(&spec.get("scope"));
        let versions = self.versions(&spec);
        let (group, kind, plural, scope) = (group?, kind?, plural?, scope?);
        let metadata = root.get("metadata");
        self.check_name(metadata.text("name").unwrap_or_default(), &group, &plural);
        Some(Crd {
            short_names: names
                .get("shortNames")
                .items()
                .filter_map(|name| name.str().map(str::to_owned))
                .collect(),
            labels: metadata
                .get("labels")
                .entries()
                .filter_map(|(key, value)| Some((key.to_owned(), value.str()?.to_owned())))
                .collect(),
            group,
            kind,
            plural,
            scope,
            versions,
            problems: Vec::new(),
        })
    }

    fn required(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.typed(field.string()).filter(|text| !text.is_empty());
        if text.is_none() && field.string().is_ok() {
            self.problem(&field.pointer(), "Required value");
        }
        text.map(str::to_owned)
    }

    fn scope(&mut self, field: &Field<'_>) -> Option<Scope> {
        match self.required(field)?.as_str() {
            "Namespaced" => Some(Scope::Namespaced),
            "Cluster" => Some(Scope::Cluster),
            other => {
                let message =
                    format!("Unsupported value: {other:?}: supported values: \"Cluster\", \"Namespaced\"");
                self.problem(&field.pointer(), message);
                None
            }
        }
    }

    /// An API server insists on `<plural>.<group>`.
    fn check_name(&mut self, name: &str, group: &str, plural: &str) {
        let expected = format!("{plural}.{group}");
        if name != expected {
            let mut problem = SchemaProblem::new(
                "/metadata/name",
                format!("Invalid value: {name:?}: must be spec.names.plural+\".\"+spec.group"),
            );
            problem.suggestion = Some(expected);
            self.problems.push(problem);
        }
        for (pointer, rule, text) in [
            ("/spec/group", NameRule::Rfc1123Subdomain, group),
            ("/spec/names/plural", NameRule::Rfc1035Label, plural),
        ] {
            if let Err(error) = rule.check(text) {
                self.problem(pointer, format!("Invalid value: {text:?}: {error}"));
            }
        }
    }

    fn versions(&mut self, spec: &Field<'_>) -> Vec<CrdVersion> {
        let list = spec.get("versions");
        let is_list = self.typed(list.list().map(Some)).is_some();
        let mut versions = Vec::new();
        for (index, entry) in list.items().enumerate() {
            let Some(name) = self.required(&entry.get("name")) else {
                continue;
            };
            let served = self.typed(entry.get("served").boolean()).unwrap_or(false);
            let _ = self.typed(entry.get("storage").boolean());
            let status_is_separate = entry.get("subresources").get("status").is_present();
            let schema = self.schema(&entry.get("schema").get("openAPIV3Schema"), status_is_separate);
            versions.push(CrdVersion {
                name,
                index,
                served,
                schema,
            });
        }
        if is_list && list.items().next().is_none() {
            self.problem(&list.pointer(), "Required value: at least one version");
        }
        versions
    }

    fn schema(&mut self, field: &Field<'_>, status_is_separate: bool) -> Option<Schema> {
        let (schema, problems) = Schema::from_resource(field.value()?, status_is_separate);
        let at = field.pointer();
        self.problems
            .extend(problems.into_iter().map(|problem| problem.below(&at)));
        Some(schema)
    }
}
