//! How fast YAML is read and written, beside other crates and a plain scan of memory: `cargo bench -p kube-yaml`.
//!
//! The data are Kubernetes documents of the usual kinds, some 20 MB of them, made here.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use kube_json::{Value, json};
use kube_yaml::{Chunk, Limits, read, read_located, split, write_document};

const BYTES: usize = 20 << 20;

fn main() {
    divan::main();
}

/// The same documents in the forms that are measured.
struct Data {
    yaml: String,
    json: Vec<String>,
    values: Vec<Value>,
    written_bytes: usize,
    json_bytes: usize,
}

static DATA: LazyLock<Data> = LazyLock::new(|| {
    let mut yaml = String::with_capacity(BYTES + (BYTES >> 4));
    let mut number = 0;
    while yaml.len() < BYTES {
        for document in [
            deployment(number),
            gateway(number),
            config_map(number),
            crd(number),
        ] {
            yaml.push_str("---\n");
            yaml.push_str(&document);
            number += 1;
        }
    }
    let limits = Limits::default();
    let chunks = split(&yaml).expect("the data are YAML");
    let values: Vec<Value> = chunks
        .iter()
        .map(|chunk| read(chunk, &limits).expect("the data are YAML"))
        .collect();
    let json: Vec<String> = values.iter().map(Value::to_string).collect();
    Data {
        written_bytes: values.iter().map(|value| write_document(value).len()).sum(),
        json_bytes: json.iter().map(String::len).sum(),
        yaml,
        json,
        values,
    }
});

/// As a person writes it: quotes of both kinds, comments, flow collections here and there.
fn deployment(number: usize) -> String {
    let mut text = format!(
        "# The web tier of shop {number}.\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{number}\n  \
         namespace: shop-{}\n  labels:\n    app.kubernetes.io/name: web\n    app.kubernetes.io/version: \"1.{number}\"\n  \
         annotations:\n    prometheus.io/scrape: 'true'\n    prometheus.io/port: \"9090\"\nspec:\n  replicas: {}\n  \
         selector:\n    matchLabels: {{app.kubernetes.io/name: web}}\n  template:\n    metadata:\n      labels:\n        \
         app.kubernetes.io/name: web\n    spec:\n      containers:\n",
        number % 40,
        number % 7 + 1
    );
    for container in 0..3 {
        let _ = write!(
            text,
            "      - name: container-{container}\n        image: registry.example.com/shop/web-{container}:v1.{number}.0\n        \
             args: [\"--listen=:8080\", \"--log-level=info\"]\n        ports:\n        - containerPort: {}\n          name: http\n          \
             protocol: TCP\n        env:\n",
            8080 + container
        );
        for variable in 0..6 {
            let _ = write!(
                text,
                "        - name: SETTING_{variable}\n          valueFrom:\n            configMapKeyRef:\n              name: settings-{number}\n              key: setting-{variable}\n"
            );
        }
        text.push_str(
            "        resources:\n          limits:\n            cpu: 500m\n            memory: 256Mi\n          requests:\n            \
             cpu: 100m      # measured\n            memory: 128Mi\n        readinessProbe:\n          httpGet: {path: /ready, port: http}\n          \
             initialDelaySeconds: 5\n",
        );
    }
    text
}

fn gateway(number: usize) -> String {
    let listeners: Vec<Value> = (0..4)
        .map(|listener| {
            json!({"name": format!("listener-{listener}"), "hostname": format!("*.shop-{number}.example.com"), "port": 443,
                "protocol": "HTTPS", "allowedRoutes": {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"shop": "yes"}}}},
                "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": format!("tls-{listener}")}]}})
        })
        .collect();
    write_document(
        &json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": format!("gateway-{number}"), "namespace": "gateways",
            "labels": {"cluster.open-cluster-management.io/placement": "edge", "kuadrant.io/managed": "true"}},
        "spec": {"gatewayClassName": "multicluster", "listeners": listeners}}),
    )
}

fn config_map(number: usize) -> String {
    let mut text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{number}\n  namespace: shop\ndata:\n"
    );
    for setting in 0..6 {
        let _ = writeln!(text, "  setting-{setting}: value {setting} of {number}");
    }
    text.push_str("  nginx.conf: |\n    server {\n");
    for line in 0..40 {
        let _ = writeln!(
            text,
            "      location /path-{line} {{ proxy_pass http://backend-{line}.shop.svc:8080; }}"
        );
    }
    text.push_str("    }\n");
    text
}

/// Descriptions in long folded lines, as generated schemas have them.
fn crd(number: usize) -> String {
    let mut text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things{number}.example.com\nspec:\n  \
         group: example.com\n  names:\n    kind: Thing{number}\n    plural: things{number}\n  scope: Namespaced\n  versions:\n  - name: v1\n    \
         schema:\n      openAPIV3Schema:\n        properties:\n"
    );
    for property in 0..30 {
        let _ = write!(
            text,
            "          property{property}:\n            description: |-\n              Property {property} says how the thing behaves when the other\n              \
             things around it change, and which of them win.\n\n              Support: Core\n            maxLength: 253\n            minLength: 1\n            \
             pattern: ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$\n            type: string\n          list{property}:\n            description: A list of names, which may be\n              \
             empty.\n            items:\n              type: string\n            maxItems: 16\n            type: array\n            x-kubernetes-list-type: set\n"
        );
    }
    text.push_str("        type: object\n    served: true\n    storage: true\n");
    text
}

fn chunks() -> Vec<Chunk<'static>> {
    split(&DATA.yaml).expect("the data are YAML")
}

#[divan::bench]
fn split_yaml(bencher: Bencher) {
    bencher
        .counter(BytesCount::new(DATA.yaml.len()))
        .bench(|| split(black_box(&DATA.yaml)));
}

#[divan::bench]
fn read_yaml(bencher: Bencher) {
    let (chunks, limits) = (chunks(), Limits::default());
    bencher.counter(BytesCount::new(DATA.yaml.len())).bench(|| {
        for chunk in &chunks {
            black_box(read(black_box(chunk), &limits)).expect("the data are YAML");
        }
    });
}

/// The same documents, each with a tag in it, so that the library reads them: what the reader of lines saves.
#[divan::bench]
fn read_yaml_with_tags(bencher: Bencher) {
    let limits = Limits::default();
    let tagged: Vec<String> = chunks()
        .iter()
        .map(|chunk| format!("{}tagged: !!str x\n", chunk.text))
        .collect();
    bencher
        .counter(BytesCount::new(tagged.iter().map(String::len).sum::<usize>()))
        .bench(|| {
            for text in &tagged {
                black_box(kube_yaml::read_document(black_box(text), &limits)).expect("the data are YAML");
            }
        });
}

#[divan::bench]
fn read_yaml_with_places(bencher: Bencher) {
    let (chunks, limits) = (chunks(), Limits::default());
    bencher.counter(BytesCount::new(DATA.yaml.len())).bench(|| {
        for chunk in &chunks {
            black_box(read_located(black_box(chunk), &limits)).expect("the data are YAML");
        }
    });
}

#[divan::bench]
fn write_yaml(bencher: Bencher) {
    bencher.counter(BytesCount::new(DATA.written_bytes)).bench(|| {
        for value in &DATA.values {
            black_box(write_document(black_box(value)));
        }
    });
}

#[divan::bench]
fn serde_json_reads(bencher: Bencher) {
    bencher.counter(BytesCount::new(DATA.json_bytes)).bench(|| {
        for text in &DATA.json {
            black_box(serde_json::from_str::<serde_json::Value>(black_box(text))).expect("the data are JSON");
        }
    });
}

#[divan::bench]
fn serde_json_writes(bencher: Bencher) {
    bencher.counter(BytesCount::new(DATA.json_bytes)).bench(|| {
        for value in &DATA.values {
            black_box(serde_json::to_string(black_box(value))).expect("values are JSON");
        }
    });
}

#[divan::bench]
fn own_json_reads(bencher: Bencher) {
    let limits = Limits::default();
    let chunks: Vec<Chunk<'_>> = DATA
        .json
        .iter()
        .flat_map(|text| kube_yaml::split_json(text).expect("the data are JSON"))
        .collect();
    bencher.counter(BytesCount::new(DATA.json_bytes)).bench(|| {
        for chunk in &chunks {
            black_box(read(black_box(chunk), &limits)).expect("the data are JSON");
        }
    });
}

/// Events alone: that crate makes no values.
#[divan::bench]
fn libyaml_safer_reads(bencher: Bencher) {
    let chunks = chunks();
    bencher.counter(BytesCount::new(DATA.yaml.len())).bench(|| {
        for chunk in &chunks {
            let mut input = black_box(chunk.text).as_bytes();
            let mut parser = libyaml_safer::Parser::new();
            parser.set_input_string(&mut input);
            let events = std::iter::from_fn(|| Some(parser.parse().expect("the data are YAML")));
            let mut events = events.take_while(|event| event.data != libyaml_safer::EventData::StreamEnd);
            black_box(events.by_ref().count());
        }
    });
}

/// Events alone: that crate makes no values.
#[divan::bench]
fn saphyr_parser_reads(bencher: Bencher) {
    let chunks = chunks();
    bencher.counter(BytesCount::new(DATA.yaml.len())).bench(|| {
        for chunk in &chunks {
            for event in saphyr_parser::Parser::new_from_str(black_box(chunk.text)) {
                black_box(event).expect("the data are YAML");
            }
        }
    });
}

/// Looking at each byte once.
#[divan::bench]
fn scan_memory(bencher: Bencher) {
    bencher.counter(BytesCount::new(DATA.yaml.len())).bench(|| {
        let lines = black_box(&DATA.yaml).bytes().filter(|byte| *byte == b'\n');
        black_box(lines.count())
    });
}
