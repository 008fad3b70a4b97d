//! Reading the parameters of a class: from `spec.parametersRef` to the ConfigMap, and through its text.

use std::mem::take;

use kube_json::Value;

use super::check::{Check, PARAMS_KEY, place};
use super::status::{CONTROLLER_NAME, InvalidParameters};
use super::values::{Params, Role};
use crate::api::controllers::{product_of_controller, usual_classes};
use crate::api::kinds::KindTable;
use crate::api::{reading, schema, violation};
use crate::diagnostic::{Code, Finding, Place, first_items};
use crate::object::Object;
use apimachinery::names::NameRule;
use apimachinery::{GroupKind, Identity};

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
        let message = format!("GatewayClass {}: {failure}", class.name);
        let finding = Finding::new(Code::PARAMS_INVALID, class.place(pointer), message).help(help);
        ClassParams {
            params: None,
            failure: Some(failure),
            findings: vec![finding],
        }
    };
    if !reference.is_present() {
        if controller != CONTROLLER_NAME {
            let failure = InvalidParameters::Resource(without_class(controller));
            let help = format!(
                "let `parametersRef` name a ConfigMap, and {}",
                usual_class(controller)
            );
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
        return refuse(
            &reference
                .get(if kind == "ConfigMap" { "group" } else { "kind" })
                .pointer(),
            InvalidParameters::UnsupportedKind(GroupKind::new(group, kind)),
            "parameters are in a ConfigMap: write `group: \"\"` and `kind: ConfigMap`",
        );
    }
    if namespace.is_empty() {
        return refuse(
            &reference.pointer(),
            InvalidParameters::NamespaceMissing,
            "add the ConfigMap's namespace to parametersRef",
        );
    }
    match config_map(namespace, name) {
        Some(object) => read_config_map(object, controller, kinds),
        None => {
            let failure = InvalidParameters::NotFound {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            };
            let near = near(namespace, name).map(|(field, near)| (field, format!("did you mean `{near}`?")));
            let (field, help) = near.unwrap_or_else(|| {
                let help = "add the ConfigMap to the input, or correct the reference; without `parametersRef`, no policy or route is synced";
                ("name", help.to_owned())
            });
            let mut refused = refuse(&reference.get(field).pointer(), failure, &help);
            for finding in &mut refused.findings {
                finding.missing = Some(Identity::new("", "ConfigMap", None, name));
            }
            refused
        }
    }
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
        let failure = InvalidParameters::ParamsMissing;
        let message = format!("ConfigMap {}: {failure}", config_map.key());
        let help = if config_map.root().get("binaryData").get(PARAMS_KEY).is_present() {
            "binaryData is not read: write the parameters as text under data.params"
        } else {
            "add data.params with the parameters as JSON or YAML text, such as `params: '{}'` for the defaults, which sync no policy or route"
        };
        let finding =
            Finding::new(Code::PARAMS_INVALID, config_map.place(&data.pointer()), message).help(help);
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
        None => format!(
            "set `downstreamClass` to the class that serves Gateways on the clusters, such as {}",
            first_items(
                usual_classes().map(|(class, product)| format!("`{class}` ({product})")),
                MOST_CLASSES
            )
        ),
    }
}

impl Check<'_> {
    fn read(&mut self, text: &str, controller: &str, kinds: &KindTable) -> Option<Params> {
        let value = match reading::read(text) {
            Ok(value) => value,
            Err(failure) => {
                let message = format!("{} (line {} of the text)", failure.message, failure.line_in(text));
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
        let schema::Typed {
            file,
            value: accepted,
            violations,
        } = schema::typed::<Params>(schema::params(), &value);
        for violation in violation::without_misspelled(&violations) {
            self.violation(violation);
        }
        let violations = violations.into_iter();
        self.refused = violations.map(|violation| violation.pointer).collect();
        value.as_object()?;
        let help = "`spokewright schema params` prints what each field may be";
        let params = file.map_err(|error| self.invalid("", error.to_string(), help));
        Some(self.checked(params.ok()?, &accepted, kinds))
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
}
