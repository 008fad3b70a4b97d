//! CustomResourceDefinitions (`apiextensions.k8s.io/v1`): what the input teaches about its own kinds.
//!
//! Owns: a CRD's group, names, scope, versions and policy label, and a compiled schema per version.
//! Flows in: a CustomResourceDefinition object, possibly malformed. Flows out: the typed view, findings at the
//! CRD's own place. Must not know: built-in kinds; that is the kind table of `hub`.

use serde_json::Value;

use crate::api::schema::{Schema, SchemaProblem, ViolationKind};
use crate::diagnostic::{Code, Finding, Severity};
use crate::object::Object;
use crate::object::well_known::POLICY_LABEL;
use apimachinery::names::NameRule;
use apimachinery::{Field, Mismatch};

/// API group of CustomResourceDefinitions.
pub const GROUP: &str = "apiextensions.k8s.io";
/// Their kind.
pub const KIND: &str = "CustomResourceDefinition";

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster itself.
    Cluster,
}

/// What a policy CRD's label says, compared without case. The value is a hint, not a class to trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyLabel {
    /// `Direct`.
    Direct,
    /// `Inherited`.
    Inherited,
    /// `true`, or any other value: a policy of unsaid class.
    Unspecified,
}

impl PolicyLabel {
    /// Reads the label's value.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        match value.to_lowercase().as_str() {
            "direct" => Self::Direct,
            "inherited" => Self::Inherited,
            _ => Self::Unspecified,
        }
    }
}

/// One version of a CRD.
#[derive(Debug)]
pub struct CrdVersion {
    /// Such as `v1alpha1`.
    pub name: String,
    /// Position in `spec.versions`.
    pub index: usize,
    /// Whether the API server serves it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// The compiled schema; without one nothing can be checked.
    pub schema: Option<Schema>,
}

/// A CustomResourceDefinition.
#[derive(Debug)]
pub struct Crd {
    /// API group of the kind it defines.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Its resource name, such as `gateways`.
    pub plural: String,
    /// Singular resource name; lower case of the kind where the CRD names none.
    pub singular: String,
    /// Short resource names.
    pub short_names: Vec<String>,
    /// Scope.
    pub scope: Scope,
    /// Versions in the order of the CRD.
    pub versions: Vec<CrdVersion>,
    /// What its policy label says; `None` when it has none.
    pub policy_label: Option<PolicyLabel>,
}

impl Crd {
    /// Reads a CRD, as far as it can be read.
    ///
    /// `None` when not even group, kind, plural and scope are there: the findings say why. Broken versions and
    /// schemas are left out, with findings.
    #[must_use]
    pub fn read(object: &Object) -> (Option<Self>, Vec<Finding>) {
        let mut reader = Reader {
            object,
            findings: Vec::new(),
        };
        let crd = reader.read();
        (crd, reader.findings)
    }

    /// Compiles every pattern and CEL rule of every version, which [`Crd::read`] leaves to the first object that
    /// meets them, and says which cannot be used. `object` is the one that this was read from.
    #[must_use]
    pub fn verify(&self, object: &Object) -> Vec<Finding> {
        let mut findings = Vec::new();
        for version in &self.versions {
            let problems = version.schema.as_ref().map(Schema::verify).unwrap_or_default();
            let at = format!("/spec/versions/{}/schema/openAPIV3Schema", version.index);
            findings.extend(
                problems
                    .iter()
                    .map(|problem| schema_finding(object, &at, problem)),
            );
        }
        findings
    }

    /// Whether `object` is one.
    #[must_use]
    pub fn is_one(object: &Object) -> bool {
        object.is(GROUP, KIND)
    }

    /// The version of this name, served or not.
    #[must_use]
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

    /// Checks an object of this kind as an API server with strict field validation would, but for what every
    /// object's name, namespace, labels and annotations must be: that is checked for all kinds alike, in `hub`.
    #[must_use]
    pub fn check(&self, object: &Object) -> Vec<Finding> {
        let Some(version) = self
            .version(&object.api_version.version)
            .filter(|version| version.served)
        else {
            let served: Vec<&str> = self.served_versions().collect();
            let message = format!(
                "{} {}: version {:?} of {}.{} is not served",
                object.kind,
                object.key(),
                object.api_version.version,
                self.plural,
                self.group
            );
            return vec![
                Finding::new(Code::OBJECT_SCHEMA, object.place("/apiVersion"), message)
                    .help(format!("served: {}", served.join(", "))),
            ];
        };
        let Some(schema) = &version.schema else {
            return Vec::new();
        };
        schema
            .check(&object.value)
            .into_iter()
            .filter(|violation| violation.kind != ViolationKind::Metadata)
            .map(|violation| violation.into_finding(object))
            .collect()
    }
}

fn about(object: &Object, pointer: &str, message: &str) -> Finding {
    let message = format!("CustomResourceDefinition {}: {message}", object.name);
    Finding::new(Code::OBJECT_SCHEMA, object.place(pointer), message)
}

fn schema_finding(object: &Object, schema: &str, problem: &SchemaProblem) -> Finding {
    let finding = about(object, &format!("{schema}{}", problem.pointer), &problem.message);
    if problem.unsupported {
        finding
            .severity(Severity::Warning)
            .help("this rule is not checked here; the API server will check it")
    } else {
        finding
    }
}

struct Reader<'o> {
    object: &'o Object,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn finding(&mut self, pointer: &str, message: impl AsRef<str>) {
        let finding = self.about(pointer, message.as_ref());
        self.findings.push(finding);
    }

    fn about(&self, pointer: &str, message: &str) -> Finding {
        about(self.object, pointer, message)
    }

    fn mismatch(&mut self, mismatch: &Mismatch) {
        let message = format!("expected {}, found {}", mismatch.expected, mismatch.found);
        self.finding(&mismatch.pointer, message);
    }

    fn read(&mut self) -> Option<Crd> {
        let object = self.object;
        let spec = object.root().get("spec");
        let names = spec.get("names");
        let group = self.required(&spec.get("group"));
        let kind = self.required(&names.get("kind"));
        let plural = self.required(&names.get("plural"));
        let singular = self.optional(&names.get("singular"));
        let scope = self.scope(&spec.get("scope"));
        let versions = self.versions(&spec);
        let (group, kind, plural, scope) = (group?, kind?, plural?, scope?);
        self.check_name(&group, &plural);
        Some(Crd {
            singular: singular.unwrap_or_else(|| kind.to_lowercase()),
            short_names: names
                .get("shortNames")
                .items()
                .filter_map(|name| name.str().map(str::to_owned))
                .collect(),
            policy_label: object.label(POLICY_LABEL).map(PolicyLabel::parse),
            group,
            kind,
            plural,
            scope,
            versions,
        })
    }

    fn required(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.optional(field).filter(|text| !text.is_empty());
        if text.is_none() && field.string().is_ok() {
            self.finding(field.pointer(), "Required value");
        }
        text
    }

    fn optional(&mut self, field: &Field<'_>) -> Option<String> {
        match field.string() {
            Ok(text) => text.map(str::to_owned),
            Err(mismatch) => {
                self.mismatch(&mismatch);
                None
            }
        }
    }

    fn scope(&mut self, field: &Field<'_>) -> Option<Scope> {
        match self.required(field)?.as_str() {
            "Namespaced" => Some(Scope::Namespaced),
            "Cluster" => Some(Scope::Cluster),
            other => {
                let message =
                    format!("Unsupported value: {other:?}: supported values: \"Cluster\", \"Namespaced\"");
                self.finding(field.pointer(), message);
                None
            }
        }
    }

    /// An API server insists on `<plural>.<group>`.
    fn check_name(&mut self, group: &str, plural: &str) {
        let expected = format!("{plural}.{group}");
        if self.object.name != expected {
            let finding = self
                .about(
                    "/metadata/name",
                    "the name must be the plural, a dot and the group",
                )
                .help(format!("name it {expected}"));
            self.findings.push(finding);
        }
        for (pointer, rule, text) in [
            ("/spec/group", NameRule::Rfc1123Subdomain, group),
            ("/spec/names/plural", NameRule::Rfc1035Label, plural),
        ] {
            if let Err(error) = rule.check(text) {
                self.finding(pointer, format!("Invalid value: {text:?}: {error}"));
            }
        }
    }

    fn versions(&mut self, spec: &Field<'_>) -> Vec<CrdVersion> {
        let list = spec.get("versions");
        if let Err(mismatch) = list.list() {
            self.mismatch(&mismatch);
        }
        let mut versions = Vec::new();
        for (index, entry) in list.items().enumerate() {
            let Some(name) = self.required(&entry.get("name")) else {
                continue;
            };
            let served = self.flag(&entry.get("served"));
            let storage = self.flag(&entry.get("storage"));
            let status_is_separate = entry.get("subresources").get("status").is_present();
            let schema = self.schema(&entry.get("schema").get("openAPIV3Schema"), status_is_separate);
            versions.push(CrdVersion {
                name,
                index,
                served,
                storage,
                schema,
            });
        }
        if versions.is_empty() && list.list().is_ok() {
            self.finding(list.pointer(), "Required value: at least one version");
        }
        versions
    }

    fn flag(&mut self, field: &Field<'_>) -> bool {
        match field.boolean() {
            Ok(flag) => flag.unwrap_or(false),
            Err(mismatch) => {
                self.mismatch(&mismatch);
                false
            }
        }
    }

    fn schema(&mut self, field: &Field<'_>, status_is_separate: bool) -> Option<Schema> {
        let value: &Value = field.value()?;
        let (schema, problems) = Schema::of_resource(value, status_is_separate);
        for problem in problems {
            self.findings
                .push(schema_finding(self.object, field.pointer(), &problem));
        }
        Some(schema)
    }
}

#[cfg(test)]
mod tests;
