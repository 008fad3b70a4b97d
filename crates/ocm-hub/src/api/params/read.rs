//! Reading the parameters of a class: from `spec.parametersRef` to the ConfigMap, through its text, and what the schema
//! of its fields cannot express. A fault becomes a finding, and the first one the status of the class.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::mem::take;

use kube_json::Value;

use super::{
    CONTROLLER_NAME, InvalidParameters, Params, Role, Rollout, RolloutType, ServerSideApply, UpdateStrategy,
};
use crate::api::controllers::{product_of_controller, usual_classes};
use crate::api::feedback_path::FeedbackPath;
use crate::api::kinds::KindTable;
use crate::api::{schema, violation};
use crate::diagnostic::{Code, Finding, Inside, Part, Place, first_items};
use crate::object::Object;
use apimachinery::names::NameRule;
use apimachinery::pointer::{self, dotted};
use apimachinery::{GroupKind, Identity};
use crd_schema::Violation;

/// The result of reading the parameters of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassParams {
    /// The parameters as far as they could be understood, so that later stages can go on looking for faults;
    /// `None` when nothing could be read. Only without a failure may anything be rendered from them.
    pub params: Option<Params>,
    /// The first failure, which is the status that the class would get.
    pub failure: Option<InvalidParameters>,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
}

impl ClassParams {
    /// Nothing could be read.
    fn refused(subject: impl Display, place: Place, failure: InvalidParameters, help: &str) -> Self {
        let message = format!("{subject}: {failure}");
        Self {
            params: None,
            failure: Some(failure),
            findings: vec![Finding::new(Code::PARAMS_INVALID, place, message).help(help)],
        }
    }
}

/// Reads and checks the parameters of `class`. Without a reference, they are the defaults for a class of Kuadrant's
/// controller; any other must say which class its Gateways have on the clusters.
///
/// `config_map` finds a ConfigMap by namespace and name; `near` finds the field of a reference to none that has a typo, and
/// what it should be.
pub fn read_class<'o>(
    class: &Object,
    config_map: impl FnOnce(&str, &str) -> Option<&'o Object>,
    near: impl FnOnce(&str, &str) -> Option<(&'static str, &'o str)>,
    kinds: &KindTable,
) -> ClassParams {
    let spec = class.root().get("spec");
    let reference = spec.get("parametersRef");
    let text = |name: &'static str| reference.text(name).unwrap_or_default();
    let controller = spec.text("controllerName").unwrap_or_default();
    let refuse = |pointer: &str, failure: InvalidParameters, help: &str| {
        let subject = format_args!("GatewayClass {}", class.name);
        ClassParams::refused(subject, class.place(pointer), failure, help)
    };
    if !reference.is_present() {
        if controller != CONTROLLER_NAME {
            let failure = InvalidParameters::Resource(without_class(controller));
            let class = usual_class(controller);
            let help = format!("let `parametersRef` name a ConfigMap, and {class}");
            return refuse("/spec/controllerName", failure, &help);
        }
        return ClassParams {
            params: Some(Params::default()),
            failure: None,
            findings: Vec::new(),
        };
    }
    let (group, kind, namespace, name) = (text("group"), text("kind"), text("namespace"), text("name"));
    if (group, kind) != ("", "ConfigMap") {
        let wrong = if kind == "ConfigMap" { "group" } else { "kind" };
        let failure = InvalidParameters::UnsupportedKind(GroupKind::new(group, kind));
        let help = "parameters are in a ConfigMap: write `group: \"\"` and `kind: ConfigMap`";
        return refuse(&reference.get(wrong).pointer(), failure, help);
    }
    if namespace.is_empty() {
        let help = "add the ConfigMap's namespace to parametersRef";
        let own = reference.get("namespace");
        let at = if own.is_present() { own } else { reference };
        return refuse(&at.pointer(), InvalidParameters::NamespaceMissing, help);
    }
    if let Some(object) = config_map(namespace, name) {
        return read_config_map(object, controller, kinds);
    }
    let failure = InvalidParameters::NotFound {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    let (field, help) = match near(namespace, name) {
        Some((field, near)) => (field, format!("did you mean `{near}`?")),
        None => {
            let help = "add the ConfigMap to the input, or correct the reference; without `parametersRef`, no policy or route is synced";
            ("name", help.to_owned())
        }
    };
    let mut refused = refuse(&reference.get(field).pointer(), failure, &help);
    for finding in &mut refused.findings {
        finding.missing = Some(Identity::new("", "ConfigMap", None, name));
    }
    refused
}

/// The text of the parameters of a class, as a place.
#[derive(Debug, Clone)]
pub struct ParamsPlace {
    /// The text.
    pub place: Place,
    /// Whether it is JSON, in whose form something is added to it.
    pub is_json: bool,
}

/// Where the parameters of a class are written; `None` where there are none.
pub fn written<'o>(
    class: &Object,
    config_map: impl FnOnce(&str, &str) -> Option<&'o Object>,
) -> Option<ParamsPlace> {
    let reference = class.root().get("spec").get("parametersRef");
    let config_map = config_map(reference.text("namespace")?, reference.text("name")?)?;
    let text = config_map.root().get("data").text(PARAMS_KEY)?;
    Some(ParamsPlace {
        place: place(config_map, "", false),
        is_json: text.trim_start().starts_with('{'),
    })
}

/// Reads and checks the parameters in a ConfigMap, for a class of a controller.
pub(super) fn read_config_map(config_map: &Object, controller: &str, kinds: &KindTable) -> ClassParams {
    let data = config_map.root().get("data").get(PARAMS_KEY);
    let Some(text) = data.str() else {
        let help = if config_map.root().get("binaryData").get(PARAMS_KEY).is_present() {
            "binaryData is not read: write the parameters as text under data.params"
        } else {
            "add data.params with the parameters as JSON or YAML text, such as `params: '{}'` for the defaults, which sync no policy or route"
        };
        let subject = format_args!("ConfigMap {}", config_map.key());
        let place = config_map.place(&data.pointer());
        return ClassParams::refused(subject, place, InvalidParameters::ParamsMissing, help);
    };
    let mut check = Check {
        config_map,
        failure: None,
        findings: Vec::new(),
        refused: Vec::new(),
    };
    let params = check.read(text, controller, kinds);
    ClassParams {
        params,
        failure: check.failure,
        findings: check.findings,
    }
}

fn without_class(controller: &str) -> String {
    format!(
        "`downstreamClass` is missing: only a class of {CONTROLLER_NAME} has a default, and this one is of {controller}"
    )
}

/// At most so many classes in a row.
const MOST_CLASSES: usize = 6;

/// The help for parameters without a class for the clusters.
fn usual_class(controller: &str) -> String {
    match product_of_controller(controller) {
        Some((product, class)) => format!("set `downstreamClass`, usually `{class}` for {product}"),
        None => {
            let classes = usual_classes().map(|(class, product)| format!("`{class}` ({product})"));
            let classes = first_items(classes, MOST_CLASSES);
            format!(
                "set `downstreamClass` to the class that serves Gateways on the clusters, such as {classes}"
            )
        }
    }
}

/// The key of the parameters in the ConfigMap's data.
pub(super) const PARAMS_KEY: &str = "params";

/// One reading of `data.params`.
pub(super) struct Check<'o> {
    pub(super) config_map: &'o Object,
    pub(super) failure: Option<InvalidParameters>,
    pub(super) findings: Vec<Finding>,
    /// Where the schema refuses something.
    pub(super) refused: Vec<String>,
}

/// A field of the text inside the ConfigMap.
pub(super) fn place(config_map: &Object, inner: &str, at_key: bool) -> Place {
    let origin = &config_map.origin;
    Place::Embedded {
        document: origin.document,
        inside: Box::new(Inside {
            pointer: format!("{}/data/{PARAMS_KEY}", origin.pointer).into(),
            inner: inner.into(),
        }),
        part: if at_key { Part::Key } else { Part::Value },
    }
}

impl Check<'_> {
    fn read(&mut self, text: &str, controller: &str, kinds: &KindTable) -> Option<Params> {
        let value = match schema::read(text) {
            Ok(value) => value,
            Err(error) => {
                let before = text.bytes().take(error.range.start);
                let line = before.filter(|byte| *byte == b'\n').count().saturating_add(1);
                let message = format!("{} (line {line} of the text)", error.message);
                self.invalid("", message, "write JSON, or YAML");
                return None;
            }
        };
        if value.is_null() {
            let help = "write {} for the defaults, which sync no policy or route";
            self.invalid("", "the text is empty", help);
            return None;
        }
        let class = value.get("downstreamClass").filter(|class| !class.is_null());
        if controller != CONTROLLER_NAME && value.is_object() && class.is_none() {
            self.invalid("", without_class(controller), usual_class(controller));
        }
        let typed = schema::typed::<Params>(schema::params(), &value);
        for violation in violation::without_misspelled(typed.violations.iter()) {
            self.violation(violation);
        }
        let violations = typed.violations.into_iter();
        self.refused = violations.map(|violation| violation.pointer).collect();
        value.as_object()?;
        let help = "`spokewright schema params` prints what each field may be";
        let params = typed
            .file
            .map_err(|error| self.invalid("", error.to_string(), help));
        Some(self.checked(params.ok()?, &typed.value, kinds))
    }

    /// The parameters with their resources. What the schema refuses has its default.
    fn checked(&mut self, mut params: Params, value: &Value, kinds: &KindTable) -> Params {
        let class = params.downstream_class.as_str();
        if let Err(error) = NameRule::Rfc1123Subdomain.check(class) {
            let message = format!("downstreamClass: {class:?}: {error}");
            let help = error.suggestion.map(|name| format!("for example {name:?}"));
            self.fault(Code::PARAMS_INVALID, "/downstreamClass", message, help);
        }
        self.server_side_apply(params.update_strategy, params.server_side_apply.as_ref());
        if let (Some(rollout), Some(value)) = (&mut params.rollout, value.get("rollout")) {
            self.rollout(rollout, value);
        }
        let policies = take(&mut params.policies);
        let older = take(&mut params.experimental_policy_sync);
        if policies.is_given() && older.is_given() {
            let message =
                "policiesToSync and experimentalPolicySync are two names of one field, and both are set";
            self.invalid("/experimentalPolicySync", message, "keep policiesToSync");
        }
        let resources = take(&mut params.resources);
        for (field, role, entries) in [
            ("policiesToSync", Role::Policy, policies),
            ("experimentalPolicySync", Role::Policy, older),
            ("resourcesToSync", Role::Route, resources),
        ] {
            for (index, entry) in entries.items() {
                self.synced(&format!("/{field}/{index}"), entry, role, kinds, &mut params);
            }
        }
        for (index, entry) in take(&mut params.retained).items() {
            self.retained(&format!("/retainedResources/{index}"), entry, kinds, &mut params);
        }
        params
    }

    /// Whether the schema refuses something here or below.
    pub(super) fn refuses(&self, pointer: &str) -> bool {
        schema::refuses(&self.refused, pointer)
    }

    /// Something wrong at a pointer inside the text.
    pub(super) fn fault(&mut self, code: Code, at: &str, message: String, help: Option<String>) {
        let field = dotted(at);
        let inside = if message.contains(&field) {
            String::new()
        } else {
            format!(" (at `{field}`)")
        };
        let place = place(self.config_map, at, code == Code::PARAMS_UNKNOWN_FIELD);
        let subject = format!("parameters in ConfigMap {}", self.config_map.key());
        let mut finding = Finding::new(code, place, format!("{subject}: {message}{inside}"));
        finding.help = help.map(Into::into);
        self.findings.push(finding);
        self.failure.get_or_insert(if code == Code::PARAMS_RESOURCE {
            InvalidParameters::Resource(message)
        } else {
            InvalidParameters::Unmarshal(message)
        });
    }

    fn violation(&mut self, violation: &Violation) {
        let code = if violation::is_unknown_field(violation) {
            Code::PARAMS_UNKNOWN_FIELD
        } else {
            Code::PARAMS_INVALID
        };
        let help = violation::help(violation);
        self.fault(code, &violation.pointer, violation.to_string(), help);
    }

    pub(super) fn invalid(&mut self, at: &str, message: impl Into<String>, help: impl Into<String>) {
        self.fault(Code::PARAMS_INVALID, at, message.into(), Some(help.into()));
    }

    /// A resource that cannot be synced as an entry asks.
    pub(super) fn resource_fault(&mut self, at: &str, message: impl Into<String>, help: impl Into<String>) {
        self.fault(Code::PARAMS_RESOURCE, at, message.into(), Some(help.into()));
    }

    /// Checks what `rollout` asks for.
    fn rollout(&mut self, rollout: &mut Rollout, value: &Value) {
        rollout.strategy = value.clone();
        if self.refuses("/rollout/type") {
            return;
        }
        let chosen = rollout.r#type;
        let of_chosen = match chosen {
            RolloutType::All => "all",
            RolloutType::Progressive => "progressive",
            RolloutType::ProgressivePerGroup => "progressivePerGroup",
        };
        for settings in ["all", "progressive", "progressivePerGroup"] {
            let pointer = format!("/rollout/{settings}");
            if settings != of_chosen && (value.get(settings).is_some() || self.refuses(&pointer)) {
                let message = format!("`rollout.{settings}` has no effect with `rollout.type: {chosen:?}`");
                let help = format!("move its fields to `{of_chosen}`, or choose another type");
                self.invalid(&pointer, message, help);
            }
        }
        for (field, index, group) in rollout.groups().filter(|(field, ..)| *field == of_chosen) {
            let pointer = format!("/rollout/{field}/mandatoryDecisionGroups/{index}");
            if group.group_name.is_some() == group.group_index.is_some() && !self.refuses(&pointer) {
                let message = "a decision group is named by `groupName` or by `groupIndex`";
                self.invalid(&pointer, message, "write one of the two");
            }
        }
    }

    /// Checks what the schema of `serverSideApply` cannot express, so that the agent does not fail over it on every
    /// cluster (docs/systems/ocm-work.md#server-side-apply).
    fn server_side_apply(&mut self, strategy: UpdateStrategy, apply: Option<&ServerSideApply>) {
        let is_given = apply.is_some() || self.refuses("/serverSideApply");
        if is_given && strategy == UpdateStrategy::Update {
            let message =
                "serverSideApply works only with the update strategy ServerSideApply, but this one is Update";
            let help = "add `updateStrategy: ServerSideApply`, or remove `serverSideApply`";
            return self.invalid("/serverSideApply", message, help);
        }
        let mut conditions = BTreeSet::new();
        let checks: [fn(&str) -> Checked; 3] = [path, json_pointer, jq];
        for (index, entry) in apply.into_iter().flat_map(|apply| apply.ignore_fields.items()) {
            let at = format!("/serverSideApply/ignoreFields/{index}");
            let condition = entry.condition;
            if self.refuses(&format!("{at}/condition")) {
                continue;
            }
            if !conditions.insert(condition) {
                let message = format!(
                    "two entries have the condition {condition:?}, but OCM accepts each condition only once"
                );
                self.invalid(&at, message, "merge the two entries");
                continue;
            }
            for ((way, fields), check) in entry.ways().into_iter().zip(checks) {
                for (index, text) in fields.items() {
                    if let Err((message, help)) = check(text) {
                        let message = format!("{way}: {text:?}: {message}");
                        self.invalid(&format!("{at}/{way}/{index}"), message, help);
                    }
                }
            }
            if entry.fields().next().is_none() && !self.refuses(&at) {
                let message = "no field is named, so no field is ignored";
                let help =
                    "add `jsonPaths: [.spec.FIELD]` or `jsonPointers: [/spec/FIELD]`, or remove the entry";
                self.invalid(&at, message, help);
            }
        }
    }
}

/// Why a field cannot be ignored, and what to write, if there is a reason.
type Checked = Result<(), (String, String)>;

fn wrong(message: impl Into<String>, help: impl Into<String>) -> Checked {
    Err((message.into(), help.into()))
}

/// The paths of the fields that identify an object.
const IDENTITY: [&str; 5] = [
    ".apiVersion",
    ".kind",
    ".metadata",
    ".metadata.name",
    ".metadata.namespace",
];

fn identity() -> Checked {
    let help = "name a field below `spec`, or a label or annotation";
    wrong("without it, there is no object to apply", help)
}

/// The agent cuts a path at its last dot, looks for what is before, and takes the field behind away from mappings; what
/// does not fit is passed over without a word.
fn path(text: &str) -> Checked {
    let Some((parent, field)) = text.rsplit_once('.') else {
        return wrong("a path must begin with a dot", format!("write `.{text}`"));
    };
    if parent.is_empty() {
        if IDENTITY.contains(&text) {
            return identity();
        }
        let pointer = pointer::child("", field);
        let help = format!("write it as one of `jsonPointers`: `{pointer}`");
        return wrong("the agent finds no field at the root of the object", help);
    }
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    if field.is_empty() || !field.chars().all(is_plain) || parent.ends_with('\\') {
        let message = "the agent uses the text after the last dot as the name of a field";
        let help = "end it with `.NAME`, or write it as one of `jsonPointers`, where `/` in a key is `~1`";
        return wrong(message, help);
    }
    FeedbackPath::parse(parent).map_err(|error| (error.to_string(), error.help()))?;
    // A path may begin with `$`.
    if IDENTITY.contains(&text.trim_start_matches(|character| character != '.')) {
        return identity();
    }
    Ok(())
}

fn json_pointer(text: &str) -> Checked {
    if !text.is_empty() && !text.starts_with('/') {
        let help = format!("write `/{}`", text.trim_start_matches('.').replace('.', "/"));
        return wrong("a JSON pointer must begin with a slash", help);
    }
    let mut after = text.split('~').skip(1);
    if after.any(|rest| !rest.starts_with(['0', '1'])) {
        let message = "in a JSON pointer, `~` must be followed by 0 or 1";
        return wrong(message, "write `~0` for `~`, and `~1` for `/`");
    }
    if text.is_empty() || IDENTITY.iter().any(|path| path.replace('.', "/") == text) {
        return identity();
    }
    Ok(())
}

/// The agent alone knows its dialect of jq.
fn jq(text: &str) -> Checked {
    if text.trim().is_empty() {
        return wrong("the expression is empty", "write a path such as `.spec.replicas`");
    }
    Ok(())
}
