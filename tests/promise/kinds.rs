//! Policy kinds that hubs are generated with: what may be targeted, and specs in every form.
//!
//! Owns: [`Kind`]. Flows in: which settings a policy has, as bits. Flows out: policies without metadata; the CRDs of kinds
//! that only their label tells. Must not know: hubs.

use serde_json::{Map, Value, json};

/// A policy kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    RateLimit,
    Auth,
    Tls,
    Dns,
    /// Envoy Gateway's SecurityPolicy.
    Security,
    /// Envoy Gateway's BackendTrafficPolicy.
    BackendTraffic,
    /// NGINX Gateway Fabric's ClientSettingsPolicy.
    ClientSettings,
    /// Istio's AuthorizationPolicy.
    Authorization,
    /// A kind with the label `Inherited`.
    Color,
    /// A kind with the label `Direct`.
    Shade,
}

/// The kinds of a hub. Kinds never meet, so that most hubs have one.
pub(crate) const FAMILIES: &[&[Kind]] = &[
    &[Kind::RateLimit],
    &[Kind::RateLimit],
    &[Kind::Auth],
    &[Kind::RateLimit, Kind::Auth],
    &[Kind::Tls],
    &[Kind::Dns],
    &[Kind::Security],
    &[Kind::BackendTraffic],
    &[Kind::ClientSettings],
    &[Kind::Authorization],
    &[Kind::Color],
    &[Kind::Color],
    &[Kind::Shade],
    &[Kind::RateLimit, Kind::Tls, Kind::Color],
];

/// What a setting may be called.
const KEYS: [&str; 3] = ["a", "b", "c"];

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::RateLimit => "RateLimitPolicy",
            Self::Auth => "AuthPolicy",
            Self::Tls => "TLSPolicy",
            Self::Dns => "DNSPolicy",
            Self::Security => "SecurityPolicy",
            Self::BackendTraffic => "BackendTrafficPolicy",
            Self::ClientSettings => "ClientSettingsPolicy",
            Self::Authorization => "AuthorizationPolicy",
            Self::Color => "ColorPolicy",
            Self::Shade => "ShadePolicy",
        }
    }

    pub(crate) const fn group(self) -> &'static str {
        match self {
            Self::RateLimit | Self::Auth | Self::Tls | Self::Dns => "kuadrant.io",
            Self::Security | Self::BackendTraffic => "gateway.envoyproxy.io",
            Self::ClientSettings => "gateway.nginx.org",
            Self::Authorization => "security.istio.io",
            Self::Color | Self::Shade => "paint.example.com",
        }
    }

    const fn version(self) -> &'static str {
        match self {
            Self::Security | Self::BackendTraffic | Self::ClientSettings => "v1alpha1",
            _ => "v1",
        }
    }

    fn plural(self) -> String {
        format!("{}ies", self.name().trim_end_matches('y').to_lowercase())
    }

    /// The entry of `policiesToSync`.
    pub(crate) fn resource(self) -> Value {
        json!({"group": self.group(), "version": self.version(), "resource": self.plural()})
    }

    pub(crate) const fn has_sections(self) -> bool {
        !matches!(self, Self::ClientSettings | Self::Authorization)
    }

    pub(crate) const fn targets_routes(self) -> bool {
        !matches!(self, Self::Tls | Self::Dns | Self::Authorization)
    }

    pub(crate) const fn has_several_targets(self) -> bool {
        matches!(
            self,
            Self::Security | Self::BackendTraffic | Self::Authorization | Self::Color | Self::Shade
        )
    }

    /// Whether a policy may stand in another namespace than its target.
    pub(crate) const fn crosses_namespaces(self) -> bool {
        true
    }

    /// The CRD of a kind that nothing else tells.
    pub(crate) fn definition(self) -> Option<Value> {
        let class = match self {
            Self::Color => "Inherited",
            Self::Shade => "Direct",
            _ => return None,
        };
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let mut spec = open.clone();
        spec["properties"] = json!({"targetRefs": {"type": "array", "items": open}});
        Some(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {
                "name": format!("{}.{}", self.plural(), self.group()),
                "labels": {"gateway.networking.k8s.io/policy": class},
            },
            "spec": {
                "group": self.group(), "scope": "Namespaced",
                "names": {
                    "kind": self.name(), "listKind": format!("{}List", self.name()),
                    "plural": self.plural(), "singular": self.name().to_lowercase(),
                },
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }],
            },
        }))
    }

    /// A policy with the settings that `keys` has bits for, each with `value` in it, in one of the forms of the kind.
    pub(crate) fn policy(self, form: usize, keys: u8, value: usize) -> Value {
        let keys: Vec<&str> = (0..KEYS.len())
            .filter(|bit| keys & (1 << bit) != 0)
            .map(|bit| KEYS[bit])
            .collect();
        json!({
            "apiVersion": format!("{}/{}", self.group(), self.version()),
            "kind": self.name(),
            "spec": self.spec(form, &keys, value),
        })
    }

    fn spec(self, form: usize, keys: &[&str], value: usize) -> Value {
        match self {
            Self::RateLimit => {
                let limits = each(keys, |_| json!({"rates": [{"limit": value, "window": "10s"}]}));
                kuadrant(form, json!({"limits": limits}))
            }
            Self::Auth => {
                let rules = each(
                    keys,
                    |_| json!({"apiKey": {"selector": {"matchLabels": {"app": format!("v{value}")}}}}),
                );
                kuadrant(form, json!({"rules": {"authentication": rules}}))
            }
            Self::Tls => {
                json!({"issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": format!("v{value}")}})
            }
            Self::Dns => json!({"providerRefs": [{"name": format!("v{value}")}]}),
            Self::Security => {
                let mut spec = Map::new();
                for key in keys {
                    match *key {
                        "a" => spec.insert("cors".to_owned(), json!({"maxAge": format!("{value}s")})),
                        "b" => spec.insert(
                            "basicAuth".to_owned(),
                            json!({"users": {"name": format!("v{value}")}}),
                        ),
                        _ => spec.insert(
                            "apiKeyAuth".to_owned(),
                            json!({"sanitize": true, "forwardClientIDHeader": format!("v{value}")}),
                        ),
                    };
                }
                envoy_gateway(form, spec)
            }
            Self::BackendTraffic => {
                let mut spec = Map::new();
                for key in keys {
                    match *key {
                        "a" => spec.insert("retry".to_owned(), json!({"numRetries": value})),
                        "b" => spec.insert(
                            "timeout".to_owned(),
                            json!({"tcp": {"connectTimeout": format!("{value}s")}}),
                        ),
                        _ => spec.insert(
                            "timeout".to_owned(),
                            json!({"http": {"requestTimeout": format!("{value}s")}}),
                        ),
                    };
                }
                envoy_gateway(form, spec)
            }
            Self::ClientSettings => {
                let mut body = Map::new();
                let mut spec = Map::new();
                for key in keys {
                    match *key {
                        "a" => body.insert("maxSize".to_owned(), json!(format!("{value}m"))),
                        "b" => body.insert("timeout".to_owned(), json!(format!("{value}s"))),
                        _ => spec.insert("keepAlive".to_owned(), json!({"requests": value})),
                    };
                }
                if !body.is_empty() {
                    spec.insert("body".to_owned(), Value::Object(body));
                }
                Value::Object(spec)
            }
            Self::Authorization => json!({
                "action": if form.is_multiple_of(2) { "ALLOW" } else { "DENY" },
                "rules": [{"to": [{"operation": {"paths": [format!("/v{value}")]}}]}],
            }),
            Self::Color => color(form, keys, value),
            Self::Shade => settings(keys, value),
        }
    }

    /// Writes the target references of a policy.
    pub(crate) fn point(self, policy: &mut Value, targets: &[Value]) {
        let by_list = matches!(
            self,
            Self::Security | Self::BackendTraffic | Self::Authorization | Self::Color | Self::Shade
        );
        let (field, targets) = if by_list {
            ("targetRefs", json!(targets))
        } else {
            ("targetRef", targets.first().cloned().unwrap_or_default())
        };
        policy["spec"][field] = targets;
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

fn envoy_gateway(form: usize, mut spec: Map<String, Value>) -> Value {
    if !form.is_multiple_of(3) {
        spec.insert(
            "mergeType".to_owned(),
            json!(["StrategicMerge", "JSONMerge"][form % 2]),
        );
    }
    Value::Object(spec)
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
