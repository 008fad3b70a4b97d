//! Envoy Gateway's behavior (docs/systems/envoy-gateway.md): which policies merge, and its statuses.
//!
//! The expectations are those of `envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0` and its golden
//! files, with names and settings of our own.

mod merging;

/// Gateway `gw` with listeners `http` and `https`, ListenerSet `set` with `one` and `two`; HTTPRoutes `plain` on `http` (rules
/// `first` and `second`), `both` on every listener of the Gateway, `on-set` on every listener of the set, `on-one` on `one`.
const TOPOLOGY: &str = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: eg
  allowedListeners: {namespaces: {from: All}}
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: https, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: set, namespace: infra}
spec:
  parentRef: {name: gw}
  listeners:
  - {name: one, port: 8081, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: two, port: 8082, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: plain, namespace: infra}
spec:
  parentRefs: [{name: gw, sectionName: http}]
  rules:
  - {name: first, backendRefs: [{name: s, port: 80}]}
  - {name: second, backendRefs: [{name: s, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: both, namespace: infra}
spec:
  parentRefs: [{name: gw}]
  rules: [{name: only, backendRefs: [{name: s, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: on-set, namespace: infra}
spec:
  parentRefs: [{kind: ListenerSet, name: set}]
  rules: [{name: only, backendRefs: [{name: s, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: on-one, namespace: infra}
spec:
  parentRefs: [{kind: ListenerSet, name: set, sectionName: one}]
  rules: [{name: only, backendRefs: [{name: s, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: infra}
spec: {ports: [{name: http, port: 80}]}
"#;

const GW: &str = "kind: Gateway, name: gw";
const HTTP: &str = "kind: Gateway, name: gw, sectionName: http";
const HTTPS: &str = "kind: Gateway, name: gw, sectionName: https";
const SET: &str = "kind: ListenerSet, name: set";
const ONE: &str = "kind: ListenerSet, name: set, sectionName: one";
const PLAIN: &str = "kind: HTTPRoute, name: plain";
const FIRST: &str = "kind: HTTPRoute, name: plain, sectionName: first";
const BOTH: &str = "kind: HTTPRoute, name: both";
const ON_SET: &str = "kind: HTTPRoute, name: on-set";

fn of_kind(kind: &str, name: &str, target: &str, settings: &str) -> String {
    let comma = if settings.is_empty() { "" } else { ", " };
    format!(
        "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}, namespace: infra}}\n\
         spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]{comma}{settings}}}\n"
    )
}

fn traffic(name: &str, target: &str, settings: &str) -> String {
    of_kind("BackendTrafficPolicy", name, target, settings)
}

fn with(policies: &[String]) -> String {
    TOPOLOGY.to_owned() + &policies.concat()
}
