//! Generated hubs: small ones, with everything that makes policies meet.
//!
//! Owns: what a hub may consist of ([`Hub`]), the strategy that makes one, its files. Choices are numbers that are read
//! modulo what there is to choose from, so that every hub makes sense and each number shrinks by itself.
//! Flows in: random numbers. Flows out: inputs. Must not know: what holds on a cluster.

use std::collections::BTreeSet;

use kube_json::{Map, Value, json};
use proptest::collection::vec;
use proptest::prelude::*;

use super::kinds::{FAMILIES, Kind, TARGETS};
use super::spokes::{Input, Texts};

/// A hub in short.
#[derive(Debug, Clone)]
pub(crate) struct Hub {
    /// Which of [`FAMILIES`] its policies are of.
    family: usize,
    gateways: Vec<Gateway>,
    routes: Vec<Route>,
    policies: Vec<Policy>,
    locals: Vec<Local>,
    options: Options,
}

#[derive(Debug, Clone)]
struct Options {
    syncs_routes: bool,
    work_per_object: bool,
    replica_sets: bool,
    /// The last kind of the family is not synced.
    leaves_out_a_kind: bool,
    /// Only names decide on the hub.
    ignores_times: bool,
}

#[derive(Debug, Clone)]
struct Gateway {
    other_namespace: bool,
    /// Of [`PLACEMENTS`].
    placement: usize,
}

#[derive(Debug, Clone)]
struct Route {
    /// Its first parent, and its second where that is another one.
    parents: (usize, usize),
    listener: Option<usize>,
    rules: usize,
    /// Of [`HOMES`].
    home: usize,
    /// Namespace of the application, or of the Gateway.
    with_gateway: bool,
}

#[derive(Debug, Clone)]
struct Policy {
    kind: usize,
    target: usize,
    /// A second target, of kinds that may have some.
    second: Option<usize>,
    elsewhere: bool,
    /// By labels, or by nothing but its namespace, of kinds that may.
    selects: bool,
    form: usize,
    keys: u8,
    letter: usize,
    created: Option<u8>,
}

#[derive(Debug, Clone)]
struct Local {
    cluster: usize,
    selects: bool,
    kind: usize,
    target: usize,
    form: usize,
    keys: u8,
    letter: usize,
    created: Option<u8>,
}

const CLUSTERS: [&str; 2] = ["eu-1", "us-1"];
/// Placements by name, with their clusters.
const PLACEMENTS: [(&str, &[&str]); 3] = [
    ("everywhere", &CLUSTERS),
    ("europe", &["eu-1"]),
    ("states", &["us-1"]),
];
/// Where a route lives: on the hub, or on a cluster only.
const HOMES: [Option<&str>; 3] = [None, Some("eu-1"), Some("us-1")];
const LISTENERS: [&str; 2] = ["api", "web"];
const CLASS: &str = "multicluster";
const BACKEND: &str = "shop";
const GROUP: &str = "gateway.networking.k8s.io";

/// The shapes of hubs: usually one Gateway, two listeners, two routes, up to three policies and two local ones.
pub(crate) fn hubs() -> impl Strategy<Value = Hub> {
    let gateway = (
        prop::bool::weighted(0.2),
        prop_oneof![3 => Just(0_usize), 1 => Just(1), 1 => Just(2)],
    )
        .prop_map(|(other_namespace, placement)| Gateway {
            other_namespace,
            placement,
        });
    let route = (
        (0..6_usize, 0..6_usize),
        prop::option::of(0..LISTENERS.len()),
        1..3_usize,
        prop_oneof![6 => Just(0_usize), 1 => Just(1), 1 => Just(2)],
        any::<bool>(),
    )
        .prop_map(|(parents, listener, rules, home, with_gateway)| Route {
            parents,
            listener,
            rules,
            home,
            with_gateway,
        });
    let created = || prop::option::weighted(0.4, 1..5_u8);
    let policy = (
        0..4_usize,
        target(),
        prop::option::weighted(0.2, target()),
        (prop::bool::weighted(0.15), prop::bool::weighted(0.2)),
        0..12_usize,
        1..8_u8,
        0..4_usize,
        created(),
    )
        .prop_map(
            |(kind, target, second, (elsewhere, selects), form, keys, letter, created)| Policy {
                kind,
                target,
                second,
                elsewhere,
                selects,
                form,
                keys,
                letter,
                created,
            },
        );
    let local = (
        0..2_usize,
        prop::bool::weighted(0.2),
        0..4_usize,
        target(),
        0..12_usize,
        1..8_u8,
        0..4_usize,
        created(),
    )
        .prop_map(
            |(cluster, selects, kind, target, form, keys, letter, created)| Local {
                cluster,
                selects,
                kind,
                target,
                form,
                keys,
                letter,
                created,
            },
        );
    let options = (
        prop::bool::weighted(0.75),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.05),
        prop::bool::weighted(0.05),
    )
        .prop_map(
            |(syncs_routes, work_per_object, replica_sets, leaves_out_a_kind, ignores_times)| Options {
                syncs_routes,
                work_per_object,
                replica_sets,
                leaves_out_a_kind,
                ignores_times,
            },
        );
    (
        prop::sample::select((0..FAMILIES.len()).collect::<Vec<_>>()),
        few(gateway, 1, 3, 0.15),
        few(route, 0, 4, 0.6),
        few(policy, 1, 5, 0.6),
        few(local, 0, 3, 0.5),
        options,
    )
        .prop_map(|(family, gateways, routes, policies, locals, options)| Hub {
            family,
            gateways,
            routes,
            policies,
            locals,
            options,
        })
}

/// A hub, and what becomes of it.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    before: Hub,
    after: Hub,
    /// The first Gateway goes over to a class that lists nothing.
    goes_over: bool,
}

/// Pairs that have something of each other: of the Gateways, routes, policies, options, and the family of kinds, each may
/// become another one, stay, or lose its end.
pub(crate) fn pairs() -> impl Strategy<Value = Pair> {
    let fates = || prop_oneof![3 => Just(Fate::Stays), 2 => Just(Fate::Shrinks), 1 => Just(Fate::Changes)];
    let fates = (fates(), fates(), fates(), fates(), prop::bool::weighted(0.05));
    (hubs(), hubs(), fates, prop::bool::weighted(0.15)).prop_map(
        |(before, other, (gateways, routes, policies, options, family), goes_over)| {
            let after = Hub {
                family: if family { other.family } else { before.family },
                gateways: gateways.of(&before.gateways, &other.gateways, 1),
                routes: routes.of(&before.routes, &other.routes, 0),
                policies: policies.of(&before.policies, &other.policies, 0),
                locals: before.locals.clone(),
                options: match options {
                    Fate::Stays => before.options.clone(),
                    Fate::Shrinks => Options {
                        syncs_routes: false,
                        leaves_out_a_kind: true,
                        ..before.options.clone()
                    },
                    Fate::Changes => other.options,
                },
            };
            Pair {
                before,
                after,
                goes_over,
            }
        },
    )
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Stays,
    Shrinks,
    Changes,
}

impl Fate {
    fn of<T: Clone>(self, before: &[T], other: &[T], least: usize) -> Vec<T> {
        match self {
            Self::Stays => before.to_vec(),
            Self::Shrinks => before[..before.len().saturating_sub(1).max(least)].to_vec(),
            Self::Changes => other.to_vec(),
        }
    }
}

impl Pair {
    /// Both inputs.
    pub(crate) fn inputs(&self) -> (Input, Input) {
        let (mut before, mut after) = (self.before.input(), self.after.input());
        for input in [&mut before, &mut after] {
            let bare = [
                "---",
                "apiVersion: gateway.networking.k8s.io/v1",
                "kind: GatewayClass",
                "metadata: {name: bare}",
                "spec:",
                "  controllerName: kuadrant.io/mgc-gw-controller",
                "  parametersRef: {group: '', kind: ConfigMap, namespace: gateways, name: bare}",
                "---",
                "apiVersion: v1",
                "kind: ConfigMap",
                "metadata: {name: bare, namespace: gateways}",
                "data: {params: '{}'}",
                "",
            ];
            let classes = input.texts.get_mut("hub/class.yaml").expect("a class");
            classes.push_str(&bare.join("\n"));
        }
        if self.goes_over {
            let gateways = after.texts.get_mut("hub/gateways.yaml").expect("Gateways");
            *gateways = gateways.replacen(&format!("gatewayClassName: {CLASS}"), "gatewayClassName: bare", 1);
        }
        (before, after)
    }
}

/// Often the Gateway or one of its listeners, so that policies meet.
fn target() -> impl Strategy<Value = usize> + Clone {
    prop_oneof![2 => 0..3_usize, 1 => 0..24_usize]
}

/// At least `least` and up to `most` of something, each further one being as `likely` as the one before it. What is left
/// out is left out when a hub is shrunk, too.
fn few<T: std::fmt::Debug + Clone>(
    one: impl Strategy<Value = T> + Clone,
    least: usize,
    most: usize,
    likely: f64,
) -> impl Strategy<Value = Vec<T>> {
    (
        vec(one.clone(), least),
        vec(prop::option::weighted(likely, one), most - least),
    )
        .prop_map(|(mut all, more)| {
            all.extend(more.into_iter().flatten());
            all
        })
}

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
        let mut files: Vec<(&str, Vec<Value>)> = vec![
            ("hub/class.yaml", self.class()),
            ("hub/placements.yaml", self.placements()),
            (
                "hub/gateways.yaml",
                (0..self.gateways.len()).map(|at| self.gateway(at)).collect(),
            ),
            ("hub/routes.yaml", self.routes_of(None)),
        ];
        let definitions: Vec<Value> = self.kinds().iter().map(|kind| kind.definition()).collect();
        files.push(("hub/definitions.yaml", definitions));
        let mut policies = Vec::new();
        let mut grants = Vec::new();
        for (position, policy) in self.policies.iter().enumerate() {
            let Some((object, grant)) = self.policy(position, policy) else {
                continue;
            };
            policies.push(object);
            grants.extend(grant.filter(|grant| !grants.contains(grant)));
        }
        files.push(("hub/policies.yaml", policies));
        files.push(("hub/grants.yaml", grants));
        for (cluster, at) in [
            ("eu-1", "spokes/eu-1/objects.yaml"),
            ("us-1", "spokes/us-1/objects.yaml"),
        ] {
            let mut objects = self.routes_of(Some(cluster));
            let locals = self.locals.iter().enumerate();
            objects.extend(locals.filter_map(|(position, local)| self.local(position, local, cluster)));
            files.push((at, objects));
        }
        let texts: Texts = files
            .into_iter()
            .filter(|(_, objects)| !objects.is_empty())
            .map(|(path, objects)| {
                let documents: Vec<String> = objects.iter().map(kube_yaml::write_document).collect();
                (path.to_owned(), documents.join("---\n"))
            })
            .collect();
        let mut texts = texts;
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

    fn class(&self) -> Vec<Value> {
        let kinds = self.kinds();
        let synced = if self.options.leaves_out_a_kind {
            kinds.len() - 1
        } else {
            kinds.len()
        };
        let mut params = json!({
            "policiesToSync": kinds[..synced].iter().map(|kind| kind.resource()).collect::<Vec<_>>(),
        });
        if self.options.syncs_routes {
            params["resourcesToSync"] = json!([{"group": GROUP, "version": "v1", "resource": "httproutes"}]);
        }
        if self.options.work_per_object {
            params["workPer"] = json!("Object");
        }
        vec![
            json!({
                "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": CLASS},
                "spec": {
                    "controllerName": "kuadrant.io/mgc-gw-controller",
                    "parametersRef": {"group": "", "kind": "ConfigMap", "namespace": "gateways", "name": "params"},
                },
            }),
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "params", "namespace": "gateways"},
                "data": {"params": params.to_string()},
            }),
        ]
    }

    fn placements(&self) -> Vec<Value> {
        let mut used: Vec<(&str, &str, &[&str])> = Vec::new();
        for (at, gateway) in self.gateways.iter().enumerate() {
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

    fn is_placed(&self, at: usize, cluster: &str) -> bool {
        PLACEMENTS[self.gateways[at].placement % PLACEMENTS.len()]
            .1
            .contains(&cluster)
    }

    fn gateway(&self, at: usize) -> Value {
        let listener = |(position, name): (usize, &&str)| {
            json!({
                "name": name, "port": 80 + position, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}},
            })
        };
        let (placement, _) = PLACEMENTS[self.gateways[at].placement % PLACEMENTS.len()];
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {
                "name": gateway_name(at), "namespace": self.gateway_namespace(at),
                "labels": {"cluster.open-cluster-management.io/placement": placement, "app": gateway_name(at)},
            },
            "spec": {
                "gatewayClassName": CLASS,
                "listeners": LISTENERS.iter().enumerate().map(listener).collect::<Vec<_>>(),
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
            "shop"
        }
    }

    /// A route with the parents that it has there; none, no route.
    fn route(&self, at: usize) -> Option<Value> {
        let route = &self.routes[at];
        let home = self.home(at);
        let mut parents = vec![route.parents.0 % self.gateways.len()];
        let second = route.parents.1 % self.gateways.len();
        if !parents.contains(&second) {
            parents.push(second);
        }
        let there = |parent: &usize| home.is_none_or(|cluster| self.is_placed(*parent, cluster));
        let parents: Vec<Value> = parents
            .into_iter()
            .filter(there)
            .map(|parent| {
                let namespace = self.gateway_namespace(parent);
                let namespace = match home {
                    Some(_) => format!("kuadrant-{namespace}"),
                    None => namespace.to_owned(),
                };
                let mut reference = json!({"name": gateway_name(parent), "namespace": namespace});
                if let Some(listener) = route.listener {
                    reference["sectionName"] = json!(LISTENERS[listener % LISTENERS.len()]);
                }
                reference
            })
            .collect();
        if parents.is_empty() {
            return None;
        }
        let rule = |number: usize| {
            json!({
                "name": format!("rule-{number}"),
                "matches": [{"path": {"type": "PathPrefix", "value": format!("/{number}")}}],
                "backendRefs": [{"name": BACKEND, "port": 8080}],
            })
        };
        Some(json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {
                "name": route_name(at), "namespace": self.route_namespace(at), "labels": {"app": route_name(at)},
            },
            "spec": {"parentRefs": parents, "rules": (1..=route.rules).map(rule).collect::<Vec<_>>()},
        }))
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
                add(
                    "HTTPRoute",
                    self.route_namespace(at),
                    route_name(at),
                    sections.collect(),
                );
                services.insert(self.route_namespace(at));
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
            add("GatewayClass", "gateways", CLASS.to_owned(), Vec::new());
        }
        targets.retain(|target| kind.may_target(target.kind) && (kind.sections || target.section.is_none()));
        targets
    }

    fn is_shipped(&self, at: usize, cluster: &str) -> bool {
        let (first, second) = self.routes[at].parents;
        let placed = |parent: usize| self.is_placed(parent % self.gateways.len(), cluster);
        self.options.syncs_routes && (placed(first) || placed(second))
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
            kind.select(&mut object, &target.name);
        }
        let grant = is_elsewhere.then(|| {
            json!({
                "apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
                "metadata": {"name": format!("{}-{}", kind.name.to_lowercase(), target.kind.to_lowercase()), "namespace": target.namespace},
                "spec": {
                    "from": [{"group": kind.group, "kind": kind.name, "namespace": "platform"}],
                    "to": [
                        {"group": GROUP, "kind": "Gateway"}, {"group": GROUP, "kind": "HTTPRoute"},
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
        if local.selects && kind.is_namespace_wide() {
            kind.select(&mut object, &target.name);
        }
        Some(object)
    }
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
