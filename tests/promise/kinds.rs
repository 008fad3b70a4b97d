//! Policy kinds that hubs are generated with: what may be targeted, and specs in every form.
//!
//! Owns: [`Kind`] and the table of them. Flows in: which settings a policy has, as bits. Flows out: policies without
//! metadata; their CRDs. Must not know: hubs.

use kube_json::{Map, Value, json};

use super::spokes::plural;
use Form::{Adding, Auth, Color, EnvoyGateway, Flat, InDefault, Limits, Plain};

/// A policy kind.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) group: &'static str,
    version: &'static str,
    pub(crate) name: &'static str,
    /// What may be targeted: letters of [`TARGETS`].
    targets: &'static str,
    /// Whether listeners, rules and ports may be named.
    pub(crate) sections: bool,
    /// Whether targets stand in a list.
    pub(crate) several: bool,
    form: Form,
    /// The label of its CRD, of kinds that nothing else tells.
    label: Option<&'static str>,
}

/// Letters of what may be targeted, with their kinds.
pub(crate) const TARGETS: [(char, &str, &str); 7] = [
    ('G', GROUP, "Gateway"),
    ('L', GROUP, "ListenerSet"),
    ('R', GROUP, "HTTPRoute"),
    ('P', GROUP, "GRPCRoute"),
    ('S', "", "Service"),
    ('N', "", "Namespace"),
    ('C', GROUP, "GatewayClass"),
];
const GROUP: &str = "gateway.networking.k8s.io";

/// What a spec looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Kuadrant's named limits: bare, in `defaults` or in `overrides`.
    Limits,
    /// Kuadrant's named rules.
    Auth,
    /// Fields that are taken as a whole, or each by itself.
    Flat,
    /// The same with `mergeType`.
    EnvoyGateway,
    /// Below `default`.
    InDefault,
    /// Istio: policies add up.
    Adding,
    /// Any wrappers, side by side, and a strategy.
    Color,
    /// Always all of its settings.
    Plain,
}

const fn kind(
    group: &'static str,
    version: &'static str,
    name: &'static str,
    targets: &'static str,
    (sections, several): (bool, bool),
    form: Form,
) -> Kind {
    Kind {
        group,
        version,
        name,
        targets,
        sections,
        several,
        form,
        label: None,
    }
}

const KUADRANT: &str = "kuadrant.io";
const ENVOY: &str = "gateway.envoyproxy.io";
const NGINX: &str = "gateway.nginx.org";
const GKE: &str = "networking.gke.io";
const KGATEWAY: &str = "gateway.kgateway.dev";
const ISTIO: &str = "security.istio.io";

/// Whether sections may be named, and whether targets stand in a list.
const BOTH: (bool, bool) = (true, true);
const SECTIONS: (bool, bool) = (true, false);
const LIST: (bool, bool) = (false, true);
const NEITHER: (bool, bool) = (false, false);

static RATE_LIMIT: Kind = kind(KUADRANT, "v1", "RateLimitPolicy", "GR", SECTIONS, Limits);
static AUTH: Kind = kind(KUADRANT, "v1", "AuthPolicy", "GRP", SECTIONS, Auth);
static TOKEN: Kind = kind(
    KUADRANT,
    "v1alpha1",
    "TokenRateLimitPolicy",
    "GR",
    SECTIONS,
    Limits,
);
static TLS: Kind = kind(KUADRANT, "v1", "TLSPolicy", "G", SECTIONS, Plain);
static DNS: Kind = kind(KUADRANT, "v1", "DNSPolicy", "G", SECTIONS, Plain);
static OIDC: Kind = kind(
    "extensions.kuadrant.io",
    "v1alpha1",
    "OIDCPolicy",
    "GR",
    SECTIONS,
    Plain,
);
static SECURITY: Kind = kind(ENVOY, "v1alpha1", "SecurityPolicy", "GLRP", BOTH, EnvoyGateway);
static BACKEND_TRAFFIC: Kind = kind(
    ENVOY,
    "v1alpha1",
    "BackendTrafficPolicy",
    "GLRP",
    BOTH,
    EnvoyGateway,
);
static CLIENT_TRAFFIC: Kind = kind(ENVOY, "v1alpha1", "ClientTrafficPolicy", "GL", BOTH, EnvoyGateway);
static EXTENSION: Kind = kind(
    ENVOY,
    "v1alpha1",
    "EnvoyExtensionPolicy",
    "GLRP",
    BOTH,
    EnvoyGateway,
);
static PATCH: Kind = kind(ENVOY, "v1alpha1", "EnvoyPatchPolicy", "GC", NEITHER, Adding);
static CLIENT_SETTINGS: Kind = kind(NGINX, "v1alpha1", "ClientSettingsPolicy", "GRP", NEITHER, Flat);
static PROXY_SETTINGS: Kind = kind(NGINX, "v1alpha1", "ProxySettingsPolicy", "GR", LIST, Flat);
static SNIPPETS: Kind = kind(NGINX, "v1alpha1", "SnippetsPolicy", "GR", LIST, Plain);
static UPSTREAM: Kind = kind(NGINX, "v1alpha1", "UpstreamSettingsPolicy", "S", LIST, Flat);
static GCP_GATEWAY: Kind = kind(GKE, "v1", "GCPGatewayPolicy", "G", NEITHER, InDefault);
static GCP_BACKEND: Kind = kind(GKE, "v1", "GCPBackendPolicy", "S", NEITHER, InDefault);
static TRAFFIC: Kind = kind(KGATEWAY, "v1alpha1", "TrafficPolicy", "GLRP", BOTH, Flat);
static LISTENER: Kind = kind(KGATEWAY, "v1alpha1", "ListenerPolicy", "G", BOTH, Flat);
static AUTHORIZATION: Kind = kind(ISTIO, "v1", "AuthorizationPolicy", "GSC", LIST, Adding);
static REQUEST: Kind = kind(ISTIO, "v1", "RequestAuthentication", "GS", LIST, Adding);
static BACKEND_TLS: Kind = kind(GROUP, "v1", "BackendTLSPolicy", "S", BOTH, Plain);
static COLOR: Kind = Kind {
    label: Some("Inherited"),
    ..kind("paint.example.com", "v1", "ColorPolicy", "GLRPSNC", BOTH, Color)
};
static SHADE: Kind = Kind {
    label: Some("Direct"),
    ..kind("paint.example.com", "v1", "ShadePolicy", "GLRPSN", BOTH, Flat)
};

/// The kinds of a hub. Kinds never meet, so that most hubs have one; those that merge come often.
pub(crate) static FAMILIES: [&[&Kind]; 32] = [
    &[&RATE_LIMIT],
    &[&RATE_LIMIT],
    &[&RATE_LIMIT],
    &[&AUTH],
    &[&AUTH],
    &[&RATE_LIMIT, &AUTH],
    &[&TLS],
    &[&DNS],
    &[&SECURITY],
    &[&BACKEND_TRAFFIC],
    &[&CLIENT_SETTINGS],
    &[&AUTHORIZATION],
    &[&COLOR],
    &[&COLOR],
    &[&COLOR],
    &[&SHADE],
    &[&RATE_LIMIT, &TLS, &COLOR],
    &[&TOKEN],
    &[&OIDC],
    &[&CLIENT_TRAFFIC],
    &[&EXTENSION],
    &[&PATCH],
    &[&PROXY_SETTINGS],
    &[&SNIPPETS],
    &[&UPSTREAM],
    &[&GCP_GATEWAY],
    &[&GCP_BACKEND],
    &[&TRAFFIC],
    &[&LISTENER],
    &[&REQUEST],
    &[&BACKEND_TLS],
    &[&AUTHORIZATION, &BACKEND_TLS],
];

/// What a setting may be called.
const KEYS: [&str; 3] = ["a", "b", "c"];

impl Kind {
    fn plural(&self) -> String {
        plural(self.name)
    }

    /// The entry of `policiesToSync`.
    pub(crate) fn resource(&self) -> Value {
        json!({"group": self.group, "version": self.version, "resource": self.plural()})
    }

    /// Group, kind and plural.
    pub(crate) fn names(&self) -> ((String, String), String) {
        ((self.group.to_owned(), self.name.to_owned()), self.plural())
    }

    /// Whether it may target a kind.
    pub(crate) fn may_target(&self, kind: &str) -> bool {
        let mut letters = TARGETS.iter().filter(|(_, _, known)| *known == kind);
        letters.any(|(letter, ..)| self.targets.contains(*letter))
    }

    /// Its CRD, with settings that are simpler than those of its product.
    pub(crate) fn definition(&self) -> Value {
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let mut spec = open.clone();
        spec["properties"] = if self.several {
            json!({"targetRefs": {"type": "array", "items": open}})
        } else {
            json!({"targetRef": open})
        };
        let labels: Map = self
            .label
            .map(|class| ("gateway.networking.k8s.io/policy".to_owned(), json!(class)))
            .into_iter()
            .collect();
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {
                "name": format!("{}.{}", self.plural(), self.group),
                "labels": labels,
            },
            "spec": {
                "group": self.group, "scope": "Namespaced",
                "names": {
                    "kind": self.name, "listKind": format!("{}List", self.name),
                    "plural": self.plural(), "singular": self.name.to_lowercase(),
                },
                "versions": [{
                    "name": self.version, "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": open}}},
                }],
            },
        })
    }

    /// A policy with the settings that `keys` has bits for, each with `value` in it, in one of the forms of the kind.
    pub(crate) fn policy(&self, form: usize, keys: u8, value: usize) -> Value {
        let keys: Vec<&str> = (0..KEYS.len())
            .filter(|bit| keys & (1 << bit) != 0)
            .map(|bit| KEYS[bit])
            .collect();
        json!({
            "apiVersion": format!("{}/{}", self.group, self.version),
            "kind": self.name,
            "spec": self.spec(form, &keys, value),
        })
    }

    fn spec(&self, form: usize, keys: &[&str], value: usize) -> Value {
        match self.form {
            Limits => {
                let limits = each(keys, |_| json!({"rates": [{"limit": value, "window": "10s"}]}));
                kuadrant(form, json!({"limits": limits}))
            }
            Auth => {
                let rules = each(
                    keys,
                    |_| json!({"apiKey": {"selector": {"matchLabels": {"app": format!("v{value}")}}}}),
                );
                kuadrant(form, json!({"rules": {"authentication": rules}}))
            }
            Flat => Value::Object(fields(keys, value)),
            EnvoyGateway => {
                let mut spec = fields(keys, value);
                if !form.is_multiple_of(3) {
                    let kinds = ["StrategicMerge", "JSONMerge"];
                    spec.insert("mergeType".to_owned(), json!(kinds[form % 2]));
                }
                Value::Object(spec)
            }
            InDefault => json!({"default": fields(keys, value)}),
            Adding => json!({"rules": [{"to": [{"operation": {"paths": [format!("/v{value}")]}}]}]}),
            Color => color(form, keys, value),
            Plain => json!({"reference": {"name": format!("v{value}")}}),
        }
    }

    /// Whether a policy without a target is one of its namespace.
    pub(crate) fn is_namespace_wide(&self) -> bool {
        self.group == ISTIO
    }

    /// Lets a policy choose its first target by labels, or none, as far as its kind can.
    pub(crate) fn select(&self, policy: &mut Value, target: (&str, &str), form: usize) {
        let (kind, name) = target;
        let Some(spec) = policy["spec"].as_object_mut() else {
            return;
        };
        if self.is_namespace_wide() {
            spec.remove("targetRefs");
            if kind == "Gateway" && form.is_multiple_of(2) {
                let labels = json!({"gateway.networking.k8s.io/gateway-name": name});
                spec.insert("selector".to_owned(), json!({"matchLabels": labels}));
            }
        } else if (matches!(self.form, EnvoyGateway | Color) || self.group == KGATEWAY)
            && let Some(Value::Array(mut references)) = spec.remove("targetRefs")
        {
            let mut selector = references.swap_remove(0);
            let is_whole = selector.get("sectionName").is_none() && selector.get("namespace").is_none();
            if let (true, Some(fields)) = (is_whole, selector.as_object_mut())
                && (kind == "Gateway" || kind.ends_with("Route") || kind == "ListenerSet")
            {
                fields.remove("name");
                fields.insert("matchLabels".to_owned(), json!({"app": name}));
                spec.insert("targetSelectors".to_owned(), json!([selector]));
            } else {
                spec.insert("targetRefs".to_owned(), json!([selector]));
            }
        }
    }

    /// Writes the target references of a policy.
    pub(crate) fn point(&self, policy: &mut Value, targets: &[Value]) {
        let (field, targets) = if self.several {
            ("targetRefs", json!(targets))
        } else {
            ("targetRef", targets.first().cloned().unwrap_or_default())
        };
        policy["spec"][field] = targets;
        // Only policies of routes and rules merge, and not those of every kind.
        let of_gateway = policy["spec"][field].to_string().contains("\"Gateway\"");
        if let (true, Some(spec)) = (of_gateway, policy["spec"].as_object_mut()) {
            spec.remove("mergeType");
        }
    }
}

fn each(keys: &[&str], value: impl Fn(&str) -> Value) -> Value {
    Value::Object(keys.iter().map(|key| ((*key).to_owned(), value(key))).collect())
}

/// Bare, or in `defaults` or `overrides` with or without a strategy.
fn kuadrant(form: usize, settings: Value) -> Value {
    let (wrapper, strategy) = match form % 6 {
        0 => return settings,
        1 => ("defaults", None),
        2 => ("overrides", None),
        3 => ("defaults", Some("merge")),
        4 => ("overrides", Some("merge")),
        _ => ("defaults", Some("atomic")),
    };
    let mut wrapped = settings;
    if let Some(strategy) = strategy {
        wrapped["strategy"] = json!(strategy);
    }
    json!({ wrapper: wrapped })
}

/// One field, and two that stand in one object.
fn fields(keys: &[&str], value: usize) -> Map {
    let mut fields = Map::new();
    let mut inner = Map::new();
    for key in keys {
        match *key {
            "a" => {
                fields.insert("retry".to_owned(), json!({"numRetries": value}));
            }
            key => {
                inner.insert(key.to_owned(), json!(format!("{value}s")));
            }
        }
    }
    if !inner.is_empty() {
        fields.insert("timeout".to_owned(), Value::Object(inner));
    }
    fields
}

fn settings(keys: &[&str], value: usize) -> Value {
    each(keys, |_| json!(format!("v{value}")))
}

/// Bare, in one wrapper, or in both side by side; with or without a strategy.
fn color(form: usize, keys: &[&str], value: usize) -> Value {
    let mut spec = match form % 4 {
        0 => settings(keys, value),
        1 => json!({"defaults": settings(keys, value)}),
        2 => json!({"overrides": settings(keys, value)}),
        _ => {
            let (first, rest) = keys.split_at(1);
            let mut spec = json!({"overrides": settings(first, value)});
            if !rest.is_empty() {
                spec["defaults"] = settings(rest, value);
            }
            spec
        }
    };
    if form % 3 == 1 {
        spec["strategy"] = json!(["Atomic", "Patch"][form % 2]);
    }
    spec
}
