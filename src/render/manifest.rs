//! One object inside a work, its identifier in OCM, and `manifestConfigs`: how the agent applies it and what it reports about
//! it. Feedback rules request the status fields that the kind has; condition rules make conditions of a work in addition to
//! Applied; and the orphaning rule keeps Namespaces on a cluster.
//!
//! The agent sets no condition Progressing by itself, and a ManifestWorkReplicaSet waits for it
//! (docs/systems/ocm-work.md#condition-rules). A rule whose CEL fails counts as false, which would end the waiting: so
//! no expression reads a field that may be missing without testing for it first.

use std::sync::Arc;

use apimachinery::{GroupKind, Identity};
use kube_json::{Map, Text, Value, json};

use crate::api::gateway::Gateway;
use crate::api::params::{Params, SyncedResource, UpdateStrategy};
use crate::hub::Hub;
use crate::object::Origin;

/// What reports say of one object inside a work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestSummary {
    /// Kind.
    pub kind: String,
    /// Group, `""` for core.
    pub group: String,
    /// Plural.
    pub resource: String,
    /// Namespace on the spoke, `""` for cluster-scoped kinds.
    pub namespace: String,
    /// Name on the spoke.
    pub name: String,
    /// The hub objects it was made from, the main one first; none for what is ours (Namespaces, RBAC).
    pub origins: Vec<Origin>,
}

impl ManifestSummary {
    /// Group, kind, namespace and name on the spoke.
    pub(crate) fn names(&self) -> [&str; 4] {
        [&self.group, &self.kind, &self.namespace, &self.name]
    }

    /// Group, plural, namespace and name on the spoke, by which `manifestConfigs` and orphaning rules name it.
    pub(crate) fn identifier(&self) -> [&str; 4] {
        [&self.group, &self.resource, &self.namespace, &self.name]
    }

    /// These as in a ManifestWork; OCM leaves an absent namespace empty.
    fn resource_identifier(&self) -> Value {
        let fields = ["group", "resource", "namespace", "name"]
            .into_iter()
            .zip(self.identifier());
        let fields = fields.filter(|(field, text)| *field != "namespace" || !text.is_empty());
        fields.map(|(field, text)| (field, Value::from(text))).collect()
    }

    /// Which object it is on the spoke.
    pub(crate) fn identity(&self) -> Identity {
        let namespace = Some(&*self.namespace).filter(|namespace| !namespace.is_empty());
        Identity::new(&self.group, &self.kind, namespace, &self.name)
    }
}

/// One object inside a work.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Manifest {
    /// Its names, and what it was made from.
    pub summary: ManifestSummary,
    /// The object: the clusters that it goes to share it.
    pub value: Value,
    /// Its `feedbackRules`; none if nothing is reported back.
    pub feedback: Option<Value>,
    /// The conditions that its controllers report.
    pub reported: Reported,
}

impl Manifest {
    /// An object without a namespace or an origin, about which nothing is reported. `resource` are its group and plural.
    pub(super) fn new((group, resource): (&str, &str), kind: &str, name: &str, value: Value) -> Self {
        Self {
            summary: ManifestSummary {
                kind: kind.to_owned(),
                group: group.to_owned(),
                resource: resource.to_owned(),
                namespace: String::new(),
                name: name.to_owned(),
                origins: Vec::new(),
            },
            value,
            feedback: None,
            reported: Reported::Nothing,
        }
    }
}

/// The conditions that the controllers of a kind report about one of its objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Reported {
    /// No condition that all of them report: the object is ready once it is applied.
    #[default]
    Nothing,
    /// These conditions, in `status.conditions`; it is ready when all are True.
    Conditions(&'static [&'static str]),
    /// These conditions, in `status.conditions`, of the generation in `status.observedGeneration` where that is given.
    ConditionsAtOnce(&'static [&'static str]),
    /// These conditions, in each of `status.ancestors[]`.
    OfAncestors(&'static [&'static str]),
}

/// Whether a condition, `c`, is about the current generation of the object. Not every controller reports the generation
/// that it has seen.
const CURRENT: &str = "(!has(c.observedGeneration) || c.observedGeneration == object.metadata.generation)";
/// The same for all conditions of a policy: Kuadrant reports it once.
const ALL_CURRENT: &str = "(!has(object.status.observedGeneration) || object.status.observedGeneration == object.metadata.generation)";

/// The rules of a manifest; `is_main` for the one that its work is about, and one manifest of a work is.
///
/// All manifests take part in Progressing, which is True of a work as soon as it is True of one of them. Degraded is False as
/// soon as it is False of one, and Available of others is that they exist: both are the main manifest's.
fn condition_rules(reported: Reported, is_main: bool) -> Option<Value> {
    let rule = |condition: &str, expressions: &[&Text]| {
        Value::from_iter([
            ("celExpressions", expressions.iter().copied().collect()),
            ("condition", condition.into()),
            ("type", "CEL".into()),
        ])
    };
    let Some(Expressions {
        given,
        ready,
        refused,
    }) = Expressions::of(reported)
    else {
        // Somebody has to report Progressing, or a set waits for it forever. Nobody reports on this object, so it is
        // done at once (docs/systems/ocm-work.md#condition-rules).
        return is_main.then(|| Value::from(vec![rule("Progressing", &[&"false".into()])]));
    };
    let mut rules = vec![rule("Progressing", &[&format!("!({given} && {ready})").into()])];
    if is_main {
        rules.push(rule("Degraded", &[&given, &refused]));
        rules.push(rule("Available", &[&given, &ready]));
    }
    Some(Value::Array(rules))
}

/// Of an object whose controllers report conditions.
struct Expressions {
    /// The fields are there that the others read.
    given: Text,
    /// It is as it should be.
    ready: Text,
    /// A controller has refused it.
    refused: Text,
}

impl Expressions {
    fn of(reported: Reported) -> Option<Self> {
        // Between apostrophes, so that YAML needs no escapes.
        let some = |list: &str, types: &[&str], status: &str, quantifier: &str| -> Text {
            match types {
                [only] => format!("{list}.exists(c, c.type == '{only}' && c.status == '{status}' && {CURRENT})"),
                types => format!(
                    "['{}'].{quantifier}(t, {list}.exists(c, c.type == t && c.status == '{status}' && {CURRENT}))",
                    types.join("', '")
                ),
            }
            .into()
        };
        Some(match reported {
            Reported::Nothing => return None,
            Reported::Conditions(types) => Self {
                given: "has(object.status) && has(object.status.conditions)".into(),
                ready: some("object.status.conditions", types, "True", "all"),
                refused: some("object.status.conditions", types, "False", "exists"),
            },
            Reported::ConditionsAtOnce(types) => {
                let of = Self::of(Reported::Conditions(types))?;
                let given = format!("{} && {ALL_CURRENT}", of.given).into();
                Self { given, ..of }
            }
            Reported::OfAncestors(types) => Self {
                given:
                    "has(object.status) && has(object.status.ancestors) && size(object.status.ancestors) > 0"
                        .into(),
                ready: format!(
                    "object.status.ancestors.all(a, has(a.conditions) && {})",
                    some("a.conditions", types, "True", "all")
                )
                .into(),
                refused: format!(
                    "object.status.ancestors.exists(a, has(a.conditions) && {})",
                    some("a.conditions", types, "False", "exists")
                )
                .into(),
            },
        })
    }
}

/// Where the conditions of a kind are, and their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PolicyConditions {
    /// `status.ancestors[].conditions` instead of `status.conditions`.
    pub ancestors: bool,
    /// The condition for an accepted policy, if there is one: `Accepted`, or its equivalent.
    pub acceptance: Option<&'static str>,
    /// The condition for a policy in effect, if the kind has one.
    pub outcome: Option<&'static str>,
}

/// Group, kinds (none: all others of the group), ancestors, acceptance, outcome.
type Row = (
    &'static str,
    &'static [&'static str],
    bool,
    &'static str,
    Option<&'static str>,
);

const GKE_FLAT: &[&str] = &[
    "GCPBackendPolicy",
    "GCPGatewayPolicy",
    "GCPSessionAffinityPolicy",
    "HealthCheckPolicy",
];

/// How policies report. Facts: docs/systems/kuadrant.md#conditions, docs/systems/envoy-gateway.md#status,
/// docs/systems/other-policies.md.
#[rustfmt::skip] // one row a line
const ROWS: &[Row] = &[
    ("extensions.kuadrant.io", &[], false, "Accepted", Some("Enforced")),
    ("gateway.envoyproxy.io", &["EnvoyPatchPolicy"], true, "Accepted", Some("Programmed")),
    ("gateway.envoyproxy.io", &[], true, "Accepted", None),
    ("gateway.kgateway.dev", &[], true, "Accepted", Some("Attached")),
    ("gateway.networking.k8s.io", &[], true, "Accepted", None),
    ("gateway.networking.x-k8s.io", &[], true, "Accepted", None),
    ("gateway.nginx.org", &["WAFPolicy"], true, "Accepted", Some("Programmed")),
    ("gateway.nginx.org", &[], true, "Accepted", None),
    ("kuadrant.io", &[], false, "Accepted", Some("Enforced")),
    ("networking.gke.io", GKE_FLAT, false, "Attached", None),
    ("networking.gke.io", &["GCPRoutingExtension", "GCPTrafficExtension"], true, "Accepted", None),
    ("networking.gke.io", &[], true, "Attached", None),
];

/// The status of a kind: built in; else the one in its CRD; else the one that GEP-713 requires of a policy.
pub(crate) fn policy_conditions(kind: &GroupKind, hub: &Hub) -> PolicyConditions {
    // Istio writes no condition of Gateway API (docs/systems/other-policies.md#istio): nobody waits for one.
    if kind.group.ends_with(".istio.io") {
        return PolicyConditions {
            ancestors: false,
            acceptance: None,
            outcome: None,
        };
    }
    let row = ROWS.iter().find(|(group, kinds, ..)| {
        *group == kind.group && (kinds.is_empty() || kinds.contains(&kind.kind.as_str()))
    });
    if let Some((_, _, ancestors, acceptance, outcome)) = row {
        return PolicyConditions {
            ancestors: *ancestors,
            acceptance: Some(acceptance),
            outcome: *outcome,
        };
    }
    let schemas = hub.crds.get(kind).into_iter().flat_map(|crd| &crd.versions);
    let ancestors = schemas
        .filter_map(|version| version.schema.as_ref())
        .any(|schema| schema.has_field(&["status", "ancestors"]));
    PolicyConditions {
        ancestors,
        acceptance: Some("Accepted"),
        outcome: (!ancestors).then_some("Programmed"),
    }
}

/// The rules of a downstream Gateway: its addresses, attached routes by listener, and conditions.
///
/// Without OCM's gate RawFeedbackJsonString only scalars can be fed back, so the first address stands for all.
pub(super) fn gateway_rules(gateway: &Gateway<'_>, raw_feedback: bool) -> Option<Value> {
    let mut paths = Vec::new();
    if raw_feedback {
        paths.push(path("addresses", ".status.addresses"));
    } else {
        paths.push(path("addressType", ".status.addresses[0].type"));
        paths.push(path("addressValue", ".status.addresses[0].value"));
    }
    for name in gateway.listeners.iter().map(|listener| &listener.name) {
        paths.push(path(
            &format!("listener{name}AttachedRoutes"),
            &format!(".status.listeners[?(@.name==\"{name}\")].attachedRoutes"),
        ));
    }
    for condition in ["Accepted", "Programmed"] {
        let field = field_of(".status.conditions", condition, "status");
        paths.push(path(&condition.to_lowercase(), &field));
    }
    rules(paths)
}

/// The rules of a shipped policy: the conditions of its kind, then the paths that the parameters request.
pub(super) fn policy_rules(conditions: PolicyConditions, resource: &SyncedResource) -> Option<Value> {
    let list = if conditions.ancestors {
        // A rule reports one value, the first that it finds (docs/systems/ocm-work.md#feedback): one ancestor stands
        // for all.
        ".status.ancestors[0].conditions"
    } else {
        ".status.conditions"
    };
    let mut paths = Vec::new();
    for condition in conditions.acceptance.into_iter().chain(conditions.outcome) {
        let name = condition.to_lowercase();
        paths.push(path(&name, &field_of(list, condition, "status")));
        paths.push(path(
            &format!("{name}Reason"),
            &field_of(list, condition, "reason"),
        ));
    }
    paths.extend(asked_paths(resource));
    rules(paths)
}

/// The rules that the parameters request. Nothing else is reported about a route.
pub(super) fn asked_rules(resource: &SyncedResource) -> Option<Value> {
    rules(asked_paths(resource).collect())
}

fn asked_paths(resource: &SyncedResource) -> impl Iterator<Item = Value> {
    let feedback = resource.feedback.iter();
    feedback.map(|feedback| path(&feedback.name, &feedback.path.to_string()))
}

/// The path of a field of a condition in a list.
fn field_of(list: &str, condition: &str, field: &str) -> String {
    format!("{list}[?(@.type==\"{condition}\")].{field}")
}

fn path(name: &str, path: &str) -> Value {
    Value::from_iter([("name", Value::from(name)), ("path", Value::from(path))])
}

/// One rule with these paths; none without any.
fn rules(paths: Vec<Value>) -> Option<Value> {
    if paths.is_empty() {
        return None;
    }
    let rule = [
        ("jsonPaths", Value::Array(paths)),
        ("type", Value::from("JSONPaths")),
    ];
    Some(Value::from(vec![Value::from_iter(rule)]))
}

/// The option, if a Namespace is among the manifests.
///
/// Namespaces are orphaned, so that removing a Gateway never deletes what else lives there: Secrets that were created on
/// the spoke, local policies, whatever other works put there. Only a rule keeps the agent from deleting what leaves a work,
/// also while the work lives on (docs/systems/ocm-work.md#appliedmanifestwork).
pub(super) fn delete_option(manifests: &[Arc<Manifest>]) -> Option<Value> {
    let resources = manifests.iter().map(|manifest| &manifest.summary);
    let namespaces = resources.filter(|of| [&*of.group, &*of.resource] == ["", "namespaces"]);
    // The agent empties the namespace of a cluster-scoped kind before it compares, exactly, with this one
    // (docs/systems/ocm-work.md#orphaning-rules).
    let rules = namespaces.map(
        |namespace| json!({"group": "", "name": namespace.name, "namespace": "", "resource": "namespaces"}),
    );
    let rules: Vec<Value> = rules.collect();
    (!rules.is_empty()).then(
        || json!({"propagationPolicy": "SelectivelyOrphan", "selectivelyOrphans": {"orphaningRules": rules}}),
    )
}

/// The entries of `manifestConfigs` for the manifests of a work, at least one. `params` are those of the class that it
/// belongs to, none for the RBAC work.
pub(super) fn manifest_configs(manifests: &[Arc<Manifest>], params: Option<&Params>) -> Value {
    // A work is about its Gateway, or else about the first of its manifests that a controller reports on; if there is
    // none, about its last, because Namespaces come first.
    let position = |is_main: fn(&Reported) -> bool| {
        let mut reported = manifests.iter().map(|manifest| &manifest.reported);
        reported.position(is_main)
    };
    let main = position(|reported| matches!(reported, Reported::Conditions(_)))
        .or_else(|| position(|reported| *reported != Reported::Nothing))
        .unwrap_or(manifests.len().saturating_sub(1));
    let strategy = params.and_then(update_strategy);
    let configs = manifests.iter().enumerate().filter_map(|(index, manifest)| {
        let fields = [
            (
                "conditionRules",
                condition_rules(manifest.reported, index == main),
            ),
            ("feedbackRules", manifest.feedback.clone()),
            ("updateStrategy", strategy.clone()),
        ];
        let fields = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let mut config: Map = fields.collect();
        if config.is_empty() {
            return None;
        }
        config.insert("resourceIdentifier", manifest.summary.resource_identifier());
        Some(Value::Object(config))
    });
    configs.collect()
}

/// What the agent shall not do by default: it replaces whole objects, and yields to the manager that wrote a field
/// first.
fn update_strategy(params: &Params) -> Option<Value> {
    if params.update_strategy == UpdateStrategy::Update {
        return None;
    }
    let apply = params.server_side_apply.clone().unwrap_or_default();
    let mut options = Map::new();
    if apply.force {
        options.insert("force".to_owned(), json!(true));
    }
    let ignored = apply.ignore_fields.items().map(|(_, ignored)| {
        let fields = ignored.fields();
        let mut entry: Map = fields
            .map(|(way, fields)| (way.to_owned(), json!(fields)))
            .collect();
        entry.insert("condition".to_owned(), json!(ignored.condition));
        Value::Object(entry)
    });
    let ignored: Vec<Value> = ignored.collect();
    if !ignored.is_empty() {
        options.insert("ignoreFields".to_owned(), Value::Array(ignored));
    }
    let mut strategy = json!({"type": "ServerSideApply"});
    if let (Some(map), false) = (strategy.as_object_mut(), options.is_empty()) {
        map.insert("serverSideApply".to_owned(), Value::Object(options));
    }
    Some(strategy)
}

#[cfg(test)]
mod tests;
