//! The objects of a generated hub: names, and what each choice stands for. On a cluster, Gateways are in the namespaces to
//! which they are shipped; everything else keeps its namespace.

use std::collections::BTreeSet;

use kube_json::{Map, Value, json};

use super::super::kinds::{FAMILIES, Kind, TARGETS};
use super::super::spokes::{Input, Texts};
use super::{Backend, Hub, Local, Policy};

const CLUSTERS: [&str; 2] = ["eu-1", "us-1"];
/// Placements by name, with their clusters.
const PLACEMENTS: [(&str, &[&str]); 3] = [
    ("everywhere", &CLUSTERS),
    ("europe", &["eu-1"]),
    ("states", &["us-1"]),
];
/// Where a thing lives: on the hub, or on a cluster only.
const HOMES: [Option<&str>; 3] = [None, Some("eu-1"), Some("us-1")];
pub(super) const LISTENERS: [&str; 2] = ["api", "web"];
/// Those that are ours.
pub(super) const CLASSES: [&str; 2] = ["multicluster", "second"];
const OTHER_CLASS: &str = "plain";
const NAMESPACES: [&str; 4] = [APPLICATION, "gateways", "edge", BACKENDS];
/// Of routes.
const APPLICATION: &str = "shop";
/// Of backends that are elsewhere.
const BACKENDS: &str = "team";
/// Of Gateways that a cluster has.
const LOCAL: &str = "infra";
const BACKEND: &str = "shop";
const GROUP: &str = "gateway.networking.k8s.io";
/// Which ListenerSets a Gateway allows.
const ALLOWED: [&str; 4] = ["All", "Selector", "Same", "None"];

/// Something that a policy may target, on the hub or on a cluster.
#[derive(Debug, Clone, PartialEq)]
struct Target {
    kind: &'static str,
    namespace: String,
    name: String,
    section: Option<String>,
}

impl Hub {
    /// Its files.
    pub(crate) fn input(&self) -> Input {
        let mut grants: Vec<Value> = self.backend_grants(None);
        let mut policies = Vec::new();
        for (position, policy) in self.policies.iter().enumerate() {
            if let Some((object, grant)) = self.policy(position, policy) {
                policies.push(object);
                grants.extend(grant);
            }
        }
        let mut files: Vec<(String, Vec<Value>)> = [
            ("class", self.classes()),
            ("placements", self.placements()),
            (
                "gateways",
                (0..self.gateways.len()).map(|at| self.gateway(at)).collect(),
            ),
            (
                "listener-sets",
                (0..self.sets.len()).map(|at| self.set(at)).collect(),
            ),
            ("routes", self.routes_of(None)),
            (
                "definitions",
                self.kinds().iter().map(|kind| kind.definition()).collect(),
            ),
            ("policies", policies),
            ("grants", once(grants)),
            ("surroundings", self.surroundings_of(None)),
        ]
        .into_iter()
        .map(|(name, objects)| (format!("hub/{name}.yaml"), objects))
        .collect();
        for cluster in CLUSTERS {
            let mut objects = self.routes_of(Some(cluster));
            let locals = self.locals.iter().enumerate();
            objects.extend(locals.filter_map(|(position, local)| self.local(position, local, cluster)));
            objects.extend(self.surroundings_of(Some(cluster)));
            objects.extend(self.backend_grants(Some(cluster)));
            if self.has_gateway(cluster) {
                objects.push(local_gateway());
            }
            files.push((format!("spokes/{cluster}/objects.yaml"), objects));
        }
        let mut texts: Texts = files
            .into_iter()
            .filter(|(_, objects)| !objects.is_empty())
            .map(|(path, objects)| {
                let documents: Vec<String> = objects.iter().map(kube_yaml::write_document).collect();
                (path, documents.join("---\n"))
            })
            .collect();
        if self.options.ignores_times {
            let config = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\n\
                precedence: {creationTimestamp: Ignore}\n";
            texts.insert("spokewright.yaml".to_owned(), config.to_owned());
        }
        Input {
            texts,
            replica_sets: self.options.replica_sets,
        }
    }

    fn kinds(&self) -> &'static [&'static Kind] {
        FAMILIES[self.family % FAMILIES.len()]
    }

    /// The first one, and those that Gateways have.
    fn classes(&self) -> Vec<Value> {
        let used = |class: &usize| *class == 0 || self.gateways.iter().any(|one| one.class == *class);
        let ours = (0..CLASSES.len()).filter(used).flat_map(|at| self.class(at));
        let other = used(&CLASSES.len()).then(|| {
            json!({
                "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
                "metadata": {"name": OTHER_CLASS}, "spec": {"controllerName": "example.com/plain"},
            })
        });
        ours.chain(other).collect()
    }

    fn class(&self, at: usize) -> [Value; 2] {
        let (name, options) = (CLASSES[at], &self.options.classes[at]);
        let kinds = self.kinds();
        let synced = kinds.len() - usize::from(options.leaves_out_a_kind);
        let mut params = json!({
            "policiesToSync": kinds[..synced].iter().map(|kind| kind.resource()).collect::<Vec<_>>(),
        });
        let mut resources = Vec::new();
        if options.syncs_routes {
            resources.push("httproutes");
            if self.routes.iter().any(|route| route.is_grpc) {
                resources.push("grpcroutes");
            }
        }
        if options.syncs_sets && !self.sets.is_empty() {
            resources.push("listenersets");
        }
        let entry = |resource| json!({"group": GROUP, "version": "v1", "resource": resource});
        let mut resources: Vec<Value> = resources.into_iter().map(entry).collect();
        let services = self.surroundings.services.iter();
        let names: BTreeSet<String> = services
            .filter(|service| options.syncs_services && service.home == 0)
            .map(|service| format!("{}/{BACKEND}", NAMESPACES[service.namespace]))
            .collect();
        if !names.is_empty() {
            resources.push(json!({"group": "", "version": "v1", "resource": "services", "names": names}));
        }
        if !resources.is_empty() {
            params["resourcesToSync"] = resources.into();
        }
        if options.sets_work_per {
            params["workPer"] = json!(["Gateway", "Both"][usize::from(options.leaves_out_a_kind)]);
        }
        [
            json!({
                "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": name},
                "spec": {
                    "controllerName": "kuadrant.io/mgc-gw-controller",
                    "parametersRef": {"group": "", "kind": "ConfigMap", "namespace": "gateways", "name": name},
                },
            }),
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "gateways"},
                "data": {"params": params.to_string()},
            }),
        ]
    }

    fn placements(&self) -> Vec<Value> {
        let mut used: Vec<(&str, &str, &[&str])> = Vec::new();
        for at in (0..self.gateways.len()).filter(|at| self.is_ours(*at)) {
            let gateway = &self.gateways[at];
            let (name, clusters) = PLACEMENTS[gateway.placement % PLACEMENTS.len()];
            let one = (self.gateway_namespace(at), name, clusters);
            if !used.contains(&one) {
                used.push(one);
            }
        }
        let decision = |(namespace, name, clusters): (&str, &str, &[&str])| {
            let decisions: Vec<Value> = clusters
                .iter()
                .map(|cluster| json!({"clusterName": cluster, "reason": ""}))
                .collect();
            json!({
                "apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementDecision",
                "metadata": {
                    "name": format!("{name}-decision-1"), "namespace": namespace,
                    "labels": {"cluster.open-cluster-management.io/placement": name},
                },
                "status": {"decisions": decisions},
            })
        };
        used.into_iter().map(decision).collect()
    }

    fn gateway_namespace(&self, at: usize) -> &'static str {
        if self.gateways[at].other_namespace {
            "edge"
        } else {
            "gateways"
        }
    }

    fn is_ours(&self, at: usize) -> bool {
        self.gateways[at].class < CLASSES.len()
    }

    fn is_placed(&self, at: usize, cluster: &str) -> bool {
        let (_, clusters) = PLACEMENTS[self.gateways[at].placement % PLACEMENTS.len()];
        self.is_ours(at) && clusters.contains(&cluster)
    }

    fn gateway(&self, at: usize) -> Value {
        let gateway = &self.gateways[at];
        let namespaces = |position| {
            if gateway.selects_routes && position == 0 {
                json!({"from": "Selector", "selector": {"matchLabels": {"chosen": "true"}}})
            } else {
                json!({"from": "All"})
            }
        };
        let listener = |(position, name): (usize, &&str)| {
            json!({
                "name": name, "port": 80 + position, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": namespaces(position)},
            })
        };
        let (placement, _) = PLACEMENTS[gateway.placement % PLACEMENTS.len()];
        let class = CLASSES.get(gateway.class).copied().unwrap_or(OTHER_CLASS);
        let mut object = json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {
                "name": gateway_name(at), "namespace": self.gateway_namespace(at),
                "labels": {"app": gateway_name(at)},
            },
            "spec": {
                "gatewayClassName": class,
                "listeners": LISTENERS.iter().enumerate().map(listener).collect::<Vec<_>>(),
            },
        });
        if self.is_ours(at) {
            object["metadata"]["labels"]["cluster.open-cluster-management.io/placement"] = json!(placement);
        }
        if !self.sets.is_empty() {
            let mut allowed = json!({"from": ALLOWED[gateway.allows % ALLOWED.len()]});
            if allowed["from"] == "Selector" {
                allowed["selector"] = json!({"matchLabels": {"chosen": "true"}});
            }
            object["spec"]["allowedListeners"] = json!({"namespaces": allowed});
        }
        object
    }

    /// The Gateway of a ListenerSet.
    fn gateway_of(&self, set: usize) -> usize {
        self.sets[set].gateway % self.gateways.len()
    }

    fn set_namespace(&self, at: usize) -> &'static str {
        if self.sets[at].with_gateway {
            self.gateway_namespace(self.gateway_of(at))
        } else {
            APPLICATION
        }
    }

    fn set(&self, at: usize) -> Value {
        let set = &self.sets[at];
        let gateway = self.gateway_of(at);
        let listener = |position: usize| {
            let port = if set.conflicts && position == 0 {
                80
            } else {
                8000 + 10 * at + position
            };
            json!({
                "name": set_listener(position), "port": port, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}},
            })
        };
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "ListenerSet",
            "metadata": {
                "name": set_name(at), "namespace": self.set_namespace(at), "labels": {"app": set_name(at)},
            },
            "spec": {
                "parentRef": {"name": gateway_name(gateway), "namespace": self.gateway_namespace(gateway)},
                "listeners": (0..set.listeners).map(listener).collect::<Vec<_>>(),
            },
        })
    }

    /// The routes of the hub, or of one cluster.
    fn routes_of(&self, cluster: Option<&str>) -> Vec<Value> {
        let all = 0..self.routes.len();
        all.filter(|at| self.home(*at) == cluster)
            .filter_map(|at| self.route(at))
            .collect()
    }

    fn home(&self, at: usize) -> Option<&'static str> {
        HOMES[self.routes[at].home % HOMES.len()]
    }

    fn route_namespace(&self, at: usize) -> &'static str {
        let route = &self.routes[at];
        if route.with_gateway && self.home(at).is_none() {
            self.gateway_namespace(route.parents.0 % self.gateways.len())
        } else {
            APPLICATION
        }
    }

    /// A route with the parents that it has there; none, no route.
    fn route(&self, at: usize) -> Option<Value> {
        let route = &self.routes[at];
        let home = self.home(at);
        let first = route.parents.0 % self.gateways.len();
        let second = route.parents.1 % self.gateways.len();
        let set = route
            .set
            .filter(|_| !self.sets.is_empty())
            .map(|set| set % self.sets.len());
        let mut parents = Vec::new();
        match set {
            Some(set) => parents.extend(self.to_set(route.listener, set, home)),
            None => parents.extend(self.to_gateway(route.listener, first, home)),
        }
        if route.to_local && home.is_some_and(|cluster| self.has_gateway(cluster)) {
            parents.push(json!({"name": "local-web", "namespace": LOCAL}));
        } else if second != first || set.is_some() {
            parents.extend(self.to_gateway(route.listener, second, home));
        }
        if parents.is_empty() {
            return None;
        }
        if route.by_port {
            for parent in &mut parents {
                let position = LISTENERS.iter().position(|name| parent["sectionName"] == *name);
                if let (Some(position), Some(parent)) = (position, parent.as_object_mut()) {
                    parent.remove("sectionName");
                    parent.insert("port".to_owned(), json!(80 + position));
                }
            }
        }
        let mut backend = json!({"name": BACKEND, "port": 8080});
        if !matches!(route.backend, Backend::Own) {
            backend["namespace"] = json!(BACKENDS);
        }
        let rule = |number: usize| {
            let matches = if route.is_grpc {
                json!([{"method": {"service": format!("shop.v{number}")}}])
            } else {
                json!([{"path": {"type": "PathPrefix", "value": format!("/{number}")}}])
            };
            json!({"name": format!("rule-{number}"), "matches": matches, "backendRefs": [backend]})
        };
        Some(json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": self.route_kind(at),
            "metadata": {
                "name": route_name(at), "namespace": self.route_namespace(at), "labels": {"app": route_name(at)},
            },
            "spec": {"parentRefs": parents, "rules": (1..=route.rules).map(rule).collect::<Vec<_>>()},
        }))
    }

    fn route_kind(&self, at: usize) -> &'static str {
        if self.routes[at].is_grpc {
            "GRPCRoute"
        } else {
            "HTTPRoute"
        }
    }

    fn to_gateway(&self, listener: Option<usize>, gateway: usize, home: Option<&str>) -> Option<Value> {
        let namespace = self.gateway_namespace(gateway);
        let namespace = match home {
            Some(cluster) if !self.is_placed(gateway, cluster) => return None,
            Some(_) => format!("kuadrant-{namespace}"),
            None => namespace.to_owned(),
        };
        let mut reference = json!({"name": gateway_name(gateway), "namespace": namespace});
        if let Some(listener) = listener {
            reference["sectionName"] = json!(LISTENERS[listener % LISTENERS.len()]);
        }
        Some(reference)
    }

    fn to_set(&self, listener: Option<usize>, set: usize, home: Option<&str>) -> Option<Value> {
        if home.is_some_and(|cluster| !self.is_placed(self.gateway_of(set), cluster)) {
            return None;
        }
        let mut reference = json!({
            "group": GROUP, "kind": "ListenerSet", "name": set_name(set), "namespace": self.set_namespace(set),
        });
        if let Some(listener) = listener {
            reference["sectionName"] = json!(set_listener(listener % self.sets[set].listeners));
        }
        Some(reference)
    }

    /// The grants for backends that stand on the hub, or on a cluster.
    fn backend_grants(&self, cluster: Option<&str>) -> Vec<Value> {
        let granted = (0..self.routes.len()).filter(|at| {
            let backend = self.routes[*at].backend;
            matches!(backend, Backend::Granted(home) if HOMES[home % HOMES.len()] == cluster)
        });
        let grants = granted.map(|at| {
            let (kind, namespace) = (self.route_kind(at), self.route_namespace(at));
            json!({
                "apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
                "metadata": {"name": format!("{}-{namespace}", kind.to_lowercase()), "namespace": BACKENDS},
                "spec": {
                    "from": [{"group": GROUP, "kind": kind, "namespace": namespace}],
                    "to": [{"group": "", "kind": "Service"}],
                },
            })
        });
        once(grants.collect())
    }

    /// Namespaces and Services of the hub, or of a cluster.
    fn surroundings_of(&self, cluster: Option<&str>) -> Vec<Value> {
        let is_here = |home: usize| HOMES[home % HOMES.len()] == cluster;
        let name = |at: usize| {
            let name = NAMESPACES[at % NAMESPACES.len()];
            let is_moved = cluster.is_some() && (name == "gateways" || name == "edge");
            if is_moved {
                format!("kuadrant-{name}")
            } else {
                name.to_owned()
            }
        };
        let namespaces = self.surroundings.namespaces.iter();
        let namespaces = namespaces
            .filter(|namespace| is_here(namespace.home))
            .map(|namespace| {
                let labels = if namespace.is_chosen {
                    json!({"chosen": "true"})
                } else {
                    json!({})
                };
                json!({
                    "apiVersion": "v1", "kind": "Namespace",
                    "metadata": {"name": name(namespace.name), "labels": labels},
                })
            });
        let services = self.surroundings.services.iter();
        let services = services.filter(|service| is_here(service.home)).map(|service| {
            json!({
                "apiVersion": "v1", "kind": "Service",
                "metadata": {"name": BACKEND, "namespace": name(service.namespace), "labels": {"app": BACKEND}},
                "spec": {"selector": {"app": BACKEND}, "ports": [{"port": 8080}]},
            })
        });
        once(namespaces.chain(services).collect())
    }

    fn has_gateway(&self, cluster: &str) -> bool {
        let mut clusters = self.surroundings.local_gateways.iter();
        clusters.any(|local| CLUSTERS[local % CLUSTERS.len()] == cluster)
    }

    /// What a policy of a kind may target on the hub, or on a cluster.
    fn targets(&self, kind: &Kind, cluster: Option<&str>) -> Vec<Target> {
        let mut targets = Vec::new();
        let mut add = |kind: &'static str, namespace: &str, name: String, sections: Vec<String>| {
            let sections = sections.into_iter().map(Some);
            targets.extend(std::iter::once(None).chain(sections).map(|section| Target {
                kind,
                namespace: namespace.to_owned(),
                name: name.clone(),
                section,
            }));
        };
        let mut namespaces = BTreeSet::new();
        for at in 0..self.gateways.len() {
            let namespace = self.gateway_namespace(at);
            let namespace = match cluster {
                Some(cluster) if !self.is_placed(at, cluster) => continue,
                Some(_) => format!("kuadrant-{namespace}"),
                None => namespace.to_owned(),
            };
            let sections = LISTENERS.iter().map(|name| (*name).to_owned());
            add("Gateway", &namespace, gateway_name(at), sections.collect());
            namespaces.insert(namespace);
        }
        if cluster.is_some_and(|cluster| self.has_gateway(cluster)) {
            add(
                "Gateway",
                LOCAL,
                "local-web".to_owned(),
                vec![LISTENERS[0].to_owned()],
            );
            namespaces.insert(LOCAL.to_owned());
        }
        let mut services = BTreeSet::new();
        for at in 0..self.routes.len() {
            let home = self.home(at);
            let is_there = match cluster {
                None => home.is_none(),
                Some(cluster) => home == Some(cluster) || (home.is_none() && self.is_shipped(at, cluster)),
            };
            if is_there && self.route(at).is_some() {
                let rules = 1..=self.routes[at].rules;
                let sections = rules.map(|rule| format!("rule-{rule}"));
                let (kind, namespace) = (self.route_kind(at), self.route_namespace(at));
                add(kind, namespace, route_name(at), sections.collect());
                services.insert(match self.routes[at].backend {
                    Backend::Own => namespace,
                    Backend::Granted(_) | Backend::Refused => BACKENDS,
                });
                namespaces.insert(namespace.to_owned());
            }
        }
        for at in 0..self.sets.len() {
            if cluster.is_none_or(|cluster| self.is_placed(self.gateway_of(at), cluster)) {
                let sections = (0..self.sets[at].listeners).map(set_listener);
                add(
                    "ListenerSet",
                    self.set_namespace(at),
                    set_name(at),
                    sections.collect(),
                );
            }
        }
        for namespace in &services {
            add("Service", namespace, BACKEND.to_owned(), Vec::new());
            namespaces.insert((*namespace).to_owned());
        }
        for namespace in namespaces {
            add("Namespace", &namespace, namespace.clone(), Vec::new());
        }
        if cluster.is_none() {
            add("GatewayClass", "gateways", CLASSES[0].to_owned(), Vec::new());
        }
        targets.retain(|target| kind.may_target(target.kind) && (kind.sections || target.section.is_none()));
        targets
    }

    fn is_shipped(&self, at: usize, cluster: &str) -> bool {
        let (first, second) = self.routes[at].parents;
        [first, second].into_iter().any(|parent| {
            let gateway = parent % self.gateways.len();
            let class = self.options.classes.get(self.gateways[gateway].class);
            self.is_placed(gateway, cluster) && class.is_some_and(|class| class.syncs_routes)
        })
    }

    /// A policy of the hub, and the grant that it needs.
    fn policy(&self, position: usize, policy: &Policy) -> Option<(Value, Option<Value>)> {
        let kind = self.kinds()[policy.kind % self.kinds().len()];
        let all = self.targets(kind, None);
        let target = all.get(policy.target % all.len().max(1))?;
        let mut targets = vec![target];
        if let Some(second) = policy.second.and_then(|second| all.get(second % all.len()))
            && kind.several
            && second.namespace == target.namespace
            && (&second.kind, &second.name) != (&target.kind, &target.name)
        {
            targets.push(second);
        }
        let stays = |target: &&Target| matches!(target.kind, "Namespace" | "GatewayClass");
        let is_elsewhere = policy.elsewhere && !targets.iter().any(stays);
        let namespace = if is_elsewhere {
            "platform"
        } else {
            target.namespace.as_str()
        };
        let mut object = kind.policy(policy.form, policy.keys, position + 1);
        object["metadata"] = metadata(&name(policy.letter, position), namespace, policy.created);
        let references = targets.iter().map(|target| reference(target, is_elsewhere));
        kind.point(&mut object, &references.collect::<Vec<_>>());
        if policy.selects && !is_elsewhere {
            kind.select(&mut object, (target.kind, &target.name), policy.form);
        }
        let grant = (is_elsewhere && policy.granted).then(|| {
            json!({
                "apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
                "metadata": {"name": format!("{}-{}", kind.name.to_lowercase(), target.kind.to_lowercase()), "namespace": target.namespace},
                "spec": {
                    "from": [{"group": kind.group, "kind": kind.name, "namespace": "platform"}],
                    "to": [
                        {"group": GROUP, "kind": "Gateway"}, {"group": GROUP, "kind": "HTTPRoute"},
                        {"group": GROUP, "kind": "GRPCRoute"}, {"group": GROUP, "kind": "ListenerSet"},
                        {"group": "", "kind": "Service"},
                    ],
                },
            })
        });
        Some((object, grant))
    }

    fn local(&self, position: usize, local: &Local, cluster: &str) -> Option<Value> {
        if CLUSTERS[local.cluster % CLUSTERS.len()] != cluster {
            return None;
        }
        let kind = self.kinds()[local.kind % self.kinds().len()];
        let all = self.targets(kind, Some(cluster));
        let target = all.get(local.target % all.len().max(1))?;
        let mut object = kind.policy(local.form, local.keys, 100 + position);
        let name = format!("{}-local-{position}", ["a", "k", "q", "z"][local.letter % 4]);
        object["metadata"] = metadata(&name, &target.namespace, local.created);
        kind.point(&mut object, &[reference(target, false)]);
        if local.selects {
            kind.select(&mut object, (target.kind, &target.name), local.form);
        }
        Some(object)
    }
}

/// Each once.
fn once(objects: Vec<Value>) -> Vec<Value> {
    let mut unique = Vec::new();
    for object in objects {
        let is_known = |known: &Value| {
            known["kind"] == object["kind"]
                && known["metadata"]["name"] == object["metadata"]["name"]
                && known["metadata"]["namespace"] == object["metadata"]["namespace"]
        };
        if !unique.iter().any(is_known) {
            unique.push(object);
        }
    }
    unique
}

fn local_gateway() -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": "local-web", "namespace": LOCAL, "labels": {"app": "local-web"}},
        "spec": {
            "gatewayClassName": "istio",
            "listeners": [{
                "name": LISTENERS[0], "port": 80, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}},
            }],
        },
    })
}

fn set_name(at: usize) -> String {
    format!("set-{}", at + 1)
}

fn set_listener(position: usize) -> String {
    format!("extra-{}", position + 1)
}

fn gateway_name(at: usize) -> String {
    if at == 0 {
        "prod-web".to_owned()
    } else {
        format!("prod-web-{}", at + 1)
    }
}

fn route_name(at: usize) -> String {
    format!("route-{}", at + 1)
}

/// Names in another order than positions.
fn name(letter: usize, position: usize) -> String {
    format!("{}-{}", ["b", "f", "m", "s"][letter % 4], position + 1)
}

fn metadata(name: &str, namespace: &str, created: Option<u8>) -> Value {
    let mut metadata = Map::from_iter([
        ("name".to_owned(), json!(name)),
        ("namespace".to_owned(), json!(namespace)),
    ]);
    if let Some(year) = created {
        metadata.insert(
            "creationTimestamp".to_owned(),
            json!(format!("202{year}-06-01T00:00:00Z")),
        );
    }
    Value::Object(metadata)
}

fn reference(target: &Target, with_namespace: bool) -> Value {
    let group = TARGETS.iter().find(|(_, _, kind)| *kind == target.kind);
    let group = group.map_or(GROUP, |(_, group, _)| *group);
    let mut reference = json!({"group": group, "kind": target.kind, "name": target.name});
    if with_namespace {
        reference["namespace"] = json!(target.namespace);
    }
    if let Some(section) = &target.section {
        reference["sectionName"] = json!(section);
    }
    reference
}
