//! GatewayClass parameters: from `spec.parametersRef` to what a class asks for.
//!
//! Owns: the fields of `data.params` (`file`), their defaults, every check of them, and the status that MGC
//! would give the class ([`InvalidParameters`]). Flows in: a GatewayClass, a way to find ConfigMaps, a
//! [`ResourceCatalog`]. Flows out: [`Params`], findings, the predicted failure.
//! Must not know: Gateways, placement, or where ConfigMaps and CRDs are kept.
//!
//! What users may write: README.md#gatewayclass-parameters. What MGC read and said:
//! docs/systems/mgc.md#gatewayclass-parameters, docs/systems/mgc.md#gatewayclass-status.

mod file;
mod resources;
mod status;

#[cfg(test)]
mod tests;

pub(crate) use file::{UpdateStrategy, WorkPer, json_schema};
pub(crate) use resources::{ResourceCatalog, ResourceLookup, Role, SyncedResource};
pub(crate) use status::InvalidParameters;

use serde_json::Value;

use crate::api::reading;
use crate::api::violation;
use crate::diagnostic::{Code, Finding, Part, Place};
use crate::object::Object;
use apimachinery::GroupKind;
use apimachinery::names::NameRule;
use apimachinery::pointer::dotted;
use crd_schema::{Schema, Violation};

/// The controller whose GatewayClasses are ours unless the configuration says otherwise
/// (docs/systems/mgc.md#gatewayclass).
pub(crate) const CONTROLLER_NAME: &str = "kuadrant.io/mgc-gw-controller";
/// The key of the parameters in the ConfigMap's data.
pub(crate) const PARAMS_KEY: &str = "params";
/// Class of the downstream Gateways when the parameters name none.
pub(crate) const DEFAULT_DOWNSTREAM_CLASS: &str = "istio";
/// Bytes of manifests in a work when the parameters say nothing.
pub(crate) const DEFAULT_MAX_WORK_BYTES: u64 = 204_800;

/// What a GatewayClass asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Params {
    /// Class of the downstream Gateways.
    pub downstream_class: String,
    /// Policy resources to sync, in the order of the parameters.
    pub policies_to_sync: Vec<SyncedResource>,
    /// Route resources to sync, in the order of the parameters.
    pub resources_to_sync: Vec<SyncedResource>,
    /// Whether the spokes' agents report lists and mappings (OCM's gate RawFeedbackJsonString).
    pub raw_feedback: bool,
    /// What one work holds.
    pub work_per: WorkPer,
    /// How the agent applies.
    pub update_strategy: UpdateStrategy,
    /// A work with more bytes of manifests is refused.
    pub max_work_bytes: u64,
}

impl Params {
    /// The entry of `policiesToSync` for policies of this group and kind.
    #[must_use]
    pub(crate) fn synced_policy(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        self.policies_to_sync
            .iter()
            .find(|resource| resource.group == group && resource.kind == kind)
    }

    /// The entry of `resourcesToSync` for routes of this group and kind.
    #[must_use]
    pub(crate) fn synced_route(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        self.resources_to_sync
            .iter()
            .find(|resource| resource.group == group && resource.kind == kind)
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            downstream_class: DEFAULT_DOWNSTREAM_CLASS.to_owned(),
            policies_to_sync: Vec::new(),
            resources_to_sync: Vec::new(),
            raw_feedback: false,
            work_per: WorkPer::Gateway,
            update_strategy: UpdateStrategy::Update,
            max_work_bytes: DEFAULT_MAX_WORK_BYTES,
        }
    }
}

/// What became of the parameters of a class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassParams {
    /// The parameters as far as they could be understood, so that later stages can go on looking for faults;
    /// `None` when nothing could be read. Only without a failure may anything be rendered from them.
    pub params: Option<Params>,
    /// The first failure, which is the status that the class would get.
    pub failure: Option<InvalidParameters>,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
}

/// Reads and checks the parameters of `class`. Without a reference they are the defaults.
///
/// `config_map` finds a ConfigMap by namespace and name.
#[must_use]
pub(crate) fn read_class<'o>(
    class: &Object,
    config_map: impl FnOnce(&str, &str) -> Option<&'o Object>,
    catalog: &dyn ResourceCatalog,
) -> ClassParams {
    let reference = class.root().get("spec").get("parametersRef");
    if !reference.is_present() {
        return ClassParams {
            params: Some(Params::default()),
            failure: None,
            findings: Vec::new(),
        };
    }
    let text = |name: &str| reference.get(name).str().unwrap_or_default();
    let refuse = |pointer: &str, failure: InvalidParameters, help: &str| {
        let message = format!("GatewayClass {}: {failure}", class.name);
        let finding = Finding::new(Code::PARAMS_INVALID, class.place(pointer), message).help(help);
        ClassParams {
            params: None,
            failure: Some(failure),
            findings: vec![finding],
        }
    };
    let (group, kind, namespace, name) = (text("group"), text("kind"), text("namespace"), text("name"));
    if (group, kind) != ("", "ConfigMap") {
        return refuse(
            reference.get("kind").pointer(),
            InvalidParameters::UnsupportedKind(GroupKind::new(group, kind)),
            "parameters stand in a ConfigMap: group: \"\", kind: ConfigMap",
        );
    }
    if namespace.is_empty() {
        return refuse(
            reference.pointer(),
            InvalidParameters::NamespaceMissing,
            "add the ConfigMap's namespace to parametersRef",
        );
    }
    match config_map(namespace, name) {
        Some(object) => read_config_map(object, catalog),
        None => refuse(
            reference.get("name").pointer(),
            InvalidParameters::NotFound {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            "add the ConfigMap to the input, correct the reference, or leave `parametersRef` out: all defaults hold",
        ),
    }
}

/// Reads and checks the parameters in a ConfigMap.
#[must_use]
pub(crate) fn read_config_map(config_map: &Object, catalog: &dyn ResourceCatalog) -> ClassParams {
    let data = config_map.root().get("data").get(PARAMS_KEY);
    let Some(text) = data.str() else {
        let failure = InvalidParameters::ParamsMissing;
        let message = format!("ConfigMap {}: {failure}", config_map.key());
        let help = if config_map.root().get("binaryData").get(PARAMS_KEY).is_present() {
            "binaryData is not read: write the parameters as text under data.params"
        } else {
            "add data.params with the parameters as JSON or YAML text, such as `params: '{}'` for all defaults"
        };
        let finding =
            Finding::new(Code::PARAMS_INVALID, config_map.place(data.pointer()), message).help(help);
        return ClassParams {
            params: None,
            failure: Some(failure),
            findings: vec![finding],
        };
    };
    let mut check = Check {
        config_map,
        failure: None,
        findings: Vec::new(),
    };
    let params = check.read(text, catalog);
    ClassParams {
        params,
        failure: check.failure,
        findings: check.findings,
    }
}

/// One reading of `data.params`.
struct Check<'o> {
    config_map: &'o Object,
    failure: Option<InvalidParameters>,
    findings: Vec<Finding>,
}

/// Something wrong inside the text of the parameters.
struct Fault<'f> {
    code: Code,
    /// Pointer inside the text.
    pointer: &'f str,
    /// Whether the key at the pointer is meant, not the value.
    at_key: bool,
    message: String,
    help: Option<String>,
}

impl Check<'_> {
    /// A field of the text inside the ConfigMap.
    fn place(&self, inner: &str, at_key: bool) -> Place {
        let origin = &self.config_map.origin;
        Place::Embedded {
            document: origin.document,
            pointer: format!("{}/data/{PARAMS_KEY}", origin.pointer),
            inner: inner.to_owned(),
            part: if at_key { Part::Key } else { Part::Value },
        }
    }

    fn fault(&mut self, fault: Fault<'_>) {
        let field = dotted(fault.pointer);
        let inside = if fault.message.contains(&field) {
            String::new()
        } else {
            format!(" (at `{field}`)")
        };
        let message = format!(
            "parameters in ConfigMap {}: {}{inside}",
            self.config_map.key(),
            fault.message
        );
        let mut finding = Finding::new(fault.code, self.place(fault.pointer, fault.at_key), message);
        finding.help = fault.help;
        self.findings.push(finding);
        let failure = if fault.code == Code::PARAMS_RESOURCE {
            InvalidParameters::Resource(fault.message)
        } else {
            InvalidParameters::Unmarshal(fault.message)
        };
        self.failure.get_or_insert(failure);
    }

    fn violation(&mut self, violation: &Violation) {
        let unknown = violation::is_unknown_field(violation);
        self.fault(Fault {
            code: if unknown {
                Code::PARAMS_UNKNOWN_FIELD
            } else {
                Code::PARAMS_INVALID
            },
            pointer: &violation.pointer,
            at_key: unknown,
            message: violation.to_string(),
            help: violation::help(violation),
        });
    }

    fn invalid(&mut self, pointer: &str, message: impl Into<String>, help: Option<String>) {
        self.fault(Fault {
            code: Code::PARAMS_INVALID,
            pointer,
            at_key: false,
            message: message.into(),
            help,
        });
    }

    fn read(&mut self, text: &str, catalog: &dyn ResourceCatalog) -> Option<Params> {
        let value = match reading::read(text) {
            Ok(value) => value,
            Err(failure) => {
                let message = format!("{} (line {} of the text)", failure.message, failure.line_in(text));
                self.invalid("", message, Some("write JSON, or YAML".to_owned()));
                return None;
            }
        };
        if value.is_null() {
            self.invalid(
                "",
                "the text is empty",
                Some("write {} for the defaults".to_owned()),
            );
            return None;
        }
        let (schema, _) = Schema::of_value(&file::json_schema());
        let value = schema.defaulted(&value).into_owned();
        for violation in schema.validate_defaulted(&value) {
            self.violation(&violation);
        }
        self.interpret(&value, catalog)
    }

    /// The parameters, field by field: what the schema refused falls back to its default.
    fn interpret(&mut self, value: &Value, catalog: &dyn ResourceCatalog) -> Option<Params> {
        value.as_object()?;
        let mut params = Params::default();
        let string = |name: &str| value.get(name).and_then(Value::as_str);
        if let Some(class) = string("downstreamClass") {
            if let Err(error) = NameRule::Rfc1123Subdomain.check(class)
                && !class.is_empty()
            {
                let help = error
                    .suggestion
                    .clone()
                    .map(|name| format!("for example {name:?}"));
                self.invalid(
                    "/downstreamClass",
                    format!("downstreamClass: {class:?}: {error}"),
                    help,
                );
            }
            class.clone_into(&mut params.downstream_class);
        }
        if let Some(raw) = value.get("rawFeedback").and_then(Value::as_bool) {
            params.raw_feedback = raw;
        }
        if let Some(limit) = value.get("maxWorkBytes").and_then(Value::as_u64) {
            params.max_work_bytes = limit;
        }
        if let Some(work_per) = value.get("workPer").and_then(file::parse) {
            params.work_per = work_per;
        }
        if let Some(strategy) = value.get("updateStrategy").and_then(file::parse) {
            params.update_strategy = strategy;
        }
        let names = ["policiesToSync", "experimentalPolicySync"];
        let [new, old] = names.map(|name| value.get(name).is_some());
        if new && old {
            self.invalid(
                "/experimentalPolicySync",
                "policiesToSync and experimentalPolicySync are two names of one field, and both are set",
                Some("keep policiesToSync".to_owned()),
            );
        }
        for name in names {
            self.resources(value, (name, Role::Policy), catalog, &mut params);
        }
        self.resources(value, ("resourcesToSync", Role::Route), catalog, &mut params);
        Some(params)
    }
}
