//! `resourcesToSync`: routes on the spokes, and the policies on them (docs/reference/parameters.md).

mod admission;
mod meeting;
mod moving;
mod shipping;

use kube_json::Value;
use kube_yaml::{Limits, read_all};

use crate::scratch::{Run, Scratch};

const LISTED: &str = r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}"#;

/// The worked example with HTTPRoutes synced, and a listener that takes them from every namespace.
fn hub() -> Scratch {
    let scratch = without_allowed_routes();
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443\n",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
    );
    scratch
}

fn without_allowed_routes() -> Scratch {
    let scratch = Scratch::with_worked_example();
    sync(&scratch, LISTED);
    scratch
}

/// Puts entries into `resourcesToSync`.
fn sync(scratch: &Scratch, entries: &str) {
    scratch.edit(
        "hub/class.yaml",
        "{\"downstreamClass\": \"istio\",",
        &format!("{{\"downstreamClass\": \"istio\", \"resourcesToSync\": [{entries}],"),
    );
}

/// A route whose parents are as given.
fn route(name: &str, namespace: &str, parents: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
         metadata: {{name: {name}, namespace: {namespace}}}\n\
         spec:\n  parentRefs: [{parents}]\n  rules: [{{name: first, backendRefs: [{{name: s, port: 80}}]}}]\n"
    )
}

/// A RateLimitPolicy on something of Gateway API's.
fn limit(name: &str, namespace: &str, target: &str) -> String {
    format!(
        "---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}, \
         limits: {{x: {{rates: [{{limit: 5, window: 10s}}]}}}}}}\n"
    )
}

/// A second Gateway of ours with a placement of its own.
fn second_gateway(scratch: &Scratch, clusters: &str) {
    scratch.write(
        "hub/second.yaml",
        &format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: second\n  namespace: infra\n  \
             labels: {{cluster.open-cluster-management.io/placement: two}}\nspec:\n  gatewayClassName: multicluster\n  \
             listeners:\n  - {{name: web, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}\n---\n\
             apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n\
             metadata: {{name: two-1, namespace: infra, labels: {{cluster.open-cluster-management.io/placement: two}}}}\n\
             status: {{decisions: [{clusters}]}}\n"
        ),
    );
}

const OURS: &str = "{name: prod-web, namespace: gateways, sectionName: api}";
const SECOND: &str = "{name: second, namespace: infra}";

/// The manifests of a work.
fn manifests(scratch: &Scratch, path: &str) -> Vec<Value> {
    let work = read_all(&scratch.read(path), &Limits::default()).expect("YAML");
    work[0]["spec"]["workload"]["manifests"]
        .as_array()
        .expect("manifests")
        .clone()
}

fn names(manifests: &[Value]) -> Vec<String> {
    manifests
        .iter()
        .map(|manifest| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            format!(
                "{} {}/{}",
                text(&manifest["kind"]),
                text(&manifest["metadata"]["namespace"]),
                text(&manifest["metadata"]["name"])
            )
        })
        .collect()
}

fn render(scratch: &Scratch) -> Run {
    scratch.run(&["render", "hub", "-o", "rendered"])
}

const WORK: &str = "rendered/eu-1/gateway-gateways-prod-web.yaml";

/// A route to our Gateway, and a policy on it.
fn limited_cart(scratch: &Scratch) {
    let limit = limit("cart", "shop", "kind: HTTPRoute, name: cart");
    scratch.write("hub/routes.yaml", &(route("cart", "shop", OURS) + &limit));
}
