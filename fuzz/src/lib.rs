//! What each fuzz target does with bytes, and what must hold of it.
//!
//! Owns: the bodies of the targets and their seeds. Flows in: bytes. Flows out: a panic where a rule is broken. Must not
//! know: who makes the bytes, the fuzzer or `tests/fuzz.rs`, which tries a few of them at every run of the tests.
//!
//! Everything runs in this process, and nothing of it reads the disk but `inventory` and `git_index`.

mod hub;
mod seeds;

use std::fs;
use std::path::Path;

use kube_json::Value;
use kube_yaml::Limits;
use spokewright::diagnostic::Findings;
use spokewright::output;
use spokewright::source::IndexTree;

use hub::InMemory;

/// A target.
pub struct Target {
    /// Its name, that of the function as well.
    pub name: &'static str,
    /// What it does.
    pub body: fn(&[u8]),
    /// What it begins with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 10] = [
    Target {
        name: "cel",
        body: cel,
        seeds: seeds::rules,
    },
    Target {
        name: "config",
        body: config,
        seeds: seeds::config,
    },
    Target {
        name: "git_index",
        body: git_index,
        seeds: seeds::indexes,
    },
    Target {
        name: "hub",
        body: hub,
        seeds: seeds::hubs,
    },
    Target {
        name: "inventory",
        body: inventory,
        seeds: seeds::inventories,
    },
    Target {
        name: "overlay",
        body: overlay,
        seeds: seeds::overlays,
    },
    Target {
        name: "params",
        body: params,
        seeds: seeds::params,
    },
    Target {
        name: "pattern",
        body: pattern,
        seeds: seeds::patterns,
    },
    Target {
        name: "placement",
        body: placement,
        seeds: seeds::placements,
    },
    Target {
        name: "yaml",
        body: yaml,
        seeds: seeds::yaml,
    },
];

/// A text is read alike with and without positions, every error has a place in it, and what is written of its values is
/// read back.
pub fn yaml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let limits = Limits::default();
    let _ = kube_yaml::split_json(text);
    let chunks = match kube_yaml::split(text) {
        Ok(chunks) => chunks,
        Err(error) => return assert!(error.range.end <= text.len(), "{error:?}"),
    };
    for chunk in chunks {
        assert_eq!(
            text.get(chunk.offset..chunk.offset + chunk.text.len()),
            Some(chunk.text)
        );
        match (
            kube_yaml::read(&chunk, &limits),
            kube_yaml::read_located(&chunk, &limits),
        ) {
            (Ok(value), Ok((located, _))) => {
                assert_eq!(value, located);
                let written = kube_yaml::write_document(&value);
                assert_eq!(
                    kube_yaml::read_document(&written, &limits).as_ref(),
                    Ok(&value),
                    "{written}"
                );
                let stream = kube_yaml::read_all(&written, &limits);
                assert_eq!(
                    stream.ok().and_then(|mut all| all.pop()).unwrap_or_default(),
                    value,
                    "{written}"
                );
            }
            (Err(error), Err(located)) => {
                assert_eq!(error.kind, located.kind);
                assert!(error.range.end <= chunk.text.len(), "{error:?}");
            }
            (value, located) => panic!("{value:?} and {located:?}"),
        }
    }
}

/// A rule of a CustomResourceDefinition, and an object that it judges.
pub fn cel(data: &[u8]) {
    let Some((rule, value)) = line_and_rest(data) else {
        return;
    };
    let definition = DEFINITION.replace("RULE", &kube_json::json!(rule).to_string());
    hub::reports(&InMemory::of([
        ("crd.yaml", definition),
        ("object.yaml", format!("{OBJECT}{}", indented(value))),
    ]));
}

/// A pattern of a CustomResourceDefinition, and a text that it judges.
pub fn pattern(data: &[u8]) {
    let Some((pattern, value)) = line_and_rest(data) else {
        return;
    };
    let definition = DEFINITION
        .replace("RULE", "'true'")
        .replace("PATTERN", &kube_json::json!(pattern).to_string());
    let object = format!("{OBJECT}  p: {}\n", kube_json::json!(value));
    hub::reports(&InMemory::of([("crd.yaml", definition), ("object.yaml", object)]));
}

/// An expression of a Placement, evaluated on three clusters.
pub fn placement(data: &[u8]) {
    let Ok(expression) = std::str::from_utf8(data) else {
        return;
    };
    let placement = PLACEMENT.replace("EXPRESSION", &kube_json::json!(expression).to_string());
    hub::reports(&InMemory::of([
        ("placement.yaml", placement),
        ("clusters.yaml", CLUSTERS.to_owned()),
    ]));
}

/// The parameters of a GatewayClass, in a hub that uses them.
pub fn params(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    hub::reports(&InMemory::of([
        ("gateway.yaml", GATEWAY.to_owned()),
        ("params.yaml", text.to_owned()),
    ]));
}

/// A ClusterOverlay beside a route that it may change, and one in another namespace, of the same name and with the same
/// labels, that it never does.
pub fn overlay(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let tree = |overlay: &str| {
        InMemory::of([
            ("gateway.yaml", GATEWAY.replace(NOT_OURS, OURS)),
            ("params.yaml", PARAMS.to_owned()),
            ("clusters.yaml", CLUSTERS.to_owned()),
            ("routes.yaml", ROUTES.to_owned()),
            ("overlay.yaml", overlay.to_owned()),
        ])
    };
    hub::reports(&tree(text));
    let Ok(object) = kube_yaml::read_document(text, &Limits::default()) else {
        return;
    };
    // The Gateway decides which routes go with it, wherever they are.
    if object["kind"] == "ClusterOverlay" && object["metadata"]["namespace"] == "shop" {
        let (plain, overlaid) = (hub::manifests(&tree("")), hub::manifests(&tree(text)));
        let of_team = |manifests: Vec<Value>| -> Vec<Value> {
            let manifests = manifests.into_iter();
            manifests
                .filter(|manifest| manifest["metadata"]["namespace"] == "team")
                .collect()
        };
        let plain = of_team(plain);
        assert!(!plain.is_empty(), "a route is shipped");
        assert_eq!(plain, of_team(overlaid), "{text}");
    }
}

/// A configuration.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    hub::reports(&InMemory::of([
        ("spokewright.yaml", text.to_owned()),
        ("hub/gateway.yaml", GATEWAY.to_owned()),
    ]));
}

/// A whole hub, in files that lines of `==== PATH` begin: everything that is said of it, in every form, twice.
pub fn hub(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let tree = InMemory::parse(text);
    let first = hub::reports(&tree);
    assert_eq!(first, hub::reports(&tree), "the same input says the same");
}

/// An inventory that somebody else wrote, with a file beside it: only what it lists with its hash is ours.
pub fn inventory(data: &[u8]) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let root = scratch.path().join("rendered");
    fs::create_dir_all(root.join("eu-1")).expect("a directory");
    fs::write(root.join("eu-1/work.yaml"), "a: 1\n").expect("a file");
    fs::write(scratch.path().join("outside"), "secret").expect("a file");
    fs::write(root.join(output::INVENTORY), data).expect("a file");
    match output::read_tree(&root, None, |_, _| false) {
        Ok(files) => {
            for file in files.others {
                assert_eq!(
                    (file.path.as_str(), file.text.as_str()),
                    ("eu-1/work.yaml", "a: 1\n")
                );
            }
        }
        Err(error) => {
            let mut findings = Findings::new();
            findings.extend(error.findings());
            hub::forms(&findings, &spokewright::source::Sources::default());
        }
    }
}

/// An index that somebody else wrote.
pub fn git_index(data: &[u8]) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let git = scratch.path().join(".git");
    for directory in ["objects", "refs"] {
        fs::create_dir_all(git.join(directory)).expect("a directory");
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
    fs::write(git.join("index"), data).expect("a file");
    if let Ok(index) = IndexTree::open(Path::new(scratch.path()), None) {
        hub::load(&index, scratch.path());
    }
}

fn line_and_rest(data: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(data).ok()?.split_once('\n')
}

/// Below `spec:`.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

const DEFINITION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - rule: RULE
              messageExpression: self.s + '!'
            properties:
              a: {type: array, maxItems: 100, items: {type: string, maxLength: 100}}
              m: {type: object, maxProperties: 100, additionalProperties: {type: string, maxLength: 100}}
              n: {type: integer}
              s: {type: string, maxLength: 1000}
              p: {type: string, pattern: PATTERN}
              x: {x-kubernetes-int-or-string: true}
";

const OBJECT: &str = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: b}\nspec:\n";

const PLACEMENT: &str = r"apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: n}
spec:
  predicates:
  - requiredClusterSelector:
      celSelector: {celExpressions: [EXPRESSION]}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: global, namespace: n}
spec: {clusterSet: global}
";

const CLUSTERS: &str = r"apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: eu-1, labels: {region: eu}}
spec: {hubAcceptsClient: true}
status:
  version: {kubernetes: v1.31.2}
  clusterClaims: [{name: x, value: a.b}]
  conditions: [{type: HubAcceptedManagedCluster, status: 'True'}, {type: ManagedClusterConditionAvailable, status: 'True'}]
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: us-1, labels: {region: us}}
spec: {hubAcceptsClient: true, taints: [{key: a, effect: NoSelect}]}
---
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {name: a, namespace: eu-1}
status: {scores: [{name: b, value: 5}]}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: global}
spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {}}}
";

const GATEWAY: &str = r"apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: multicluster}
spec:
  controllerName: spokewright.dev/renderer
  parametersRef: {group: '', kind: ConfigMap, name: params, namespace: gateways}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: web
  namespace: gateways
  labels: {cluster.open-cluster-management.io/placement: p}
spec:
  gatewayClassName: multicluster
  listeners: [{name: http, port: 80, protocol: HTTP, hostname: a.example.com, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {name: p-1, namespace: gateways, labels: {cluster.open-cluster-management.io/placement: p}}
status: {decisions: [{clusterName: eu-1, reason: ''}]}
";

/// In the place of the controller of [`GATEWAY`], so that routes are shipped.
const NOT_OURS: &str = "spokewright.dev/renderer";
const OURS: &str = "kuadrant.io/mgc-gw-controller";

const PARAMS: &str = r#"apiVersion: v1
kind: ConfigMap
metadata: {name: params, namespace: gateways}
data:
  params: '{"resourcesToSync": [{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}]}'
"#;

const ROUTES: &str = r"apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop, labels: {app: cart}}
spec:
  parentRefs: [{name: web, namespace: gateways}]
  hostnames: [a.example.com]
  rules:
  - matches: [{path: {type: PathPrefix, value: /cart}, queryParams: [{name: a, value: b}]}]
    backendRefs: [{name: cart, port: 80, weight: 1}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: team, labels: {app: cart}}
spec:
  parentRefs: [{name: web, namespace: gateways}]
  hostnames: [a.example.com]
  rules:
  - matches: [{path: {type: PathPrefix, value: /team}}]
    backendRefs: [{name: cart, port: 80}]
";
