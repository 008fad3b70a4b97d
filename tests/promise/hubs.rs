//! Generated hubs: small ones, with everything that makes policies meet. Choices are numbers that are read modulo what there
//! is to choose from, so that every hub makes sense and each number shrinks by itself. The first choice is the plain one,
//! which most hubs have, so that what stands around Gateways, routes and policies disappears when a hub is shrunk.

mod objects;

use proptest::collection::vec;
use proptest::prelude::*;

use super::kinds::FAMILIES;
use super::spokes::Input;
use objects::{CLASSES, LISTENERS};

/// A hub in short.
#[derive(Debug, Clone)]
pub(crate) struct Hub {
    /// Which of [`FAMILIES`] its policies are of.
    family: usize,
    gateways: Vec<Gateway>,
    sets: Vec<ListenerSet>,
    routes: Vec<Route>,
    policies: Vec<Policy>,
    locals: Vec<Local>,
    surroundings: Surroundings,
    options: Options,
}

/// What stands around Gateways, routes and policies, on the hub or on a cluster.
#[derive(Debug, Clone)]
struct Surroundings {
    namespaces: Vec<Namespace>,
    services: Vec<Service>,
    /// Clusters with a Gateway of their own.
    local_gateways: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Options {
    /// Of [`CLASSES`], in their order.
    classes: [Class; 2],
    replica_sets: bool,
    /// Only names decide on the hub.
    ignores_times: bool,
}

#[derive(Debug, Clone)]
struct Class {
    syncs_routes: bool,
    syncs_sets: bool,
    /// Those that stand on the hub.
    syncs_services: bool,
    sets_work_per: bool,
    /// The last kind of the family is not synced.
    leaves_out_a_kind: bool,
}

#[derive(Debug, Clone)]
struct Gateway {
    other_namespace: bool,
    /// Of [`objects::PLACEMENTS`].
    placement: usize,
    /// Of [`CLASSES`], and one that is not ours.
    class: usize,
    /// Its first listener takes routes by the labels of their Namespaces.
    selects_routes: bool,
    /// Which ListenerSets it allows, of [`objects::ALLOWED`].
    allows: usize,
}

#[derive(Debug, Clone)]
struct ListenerSet {
    gateway: usize,
    /// Namespace of the application, or of the Gateway.
    with_gateway: bool,
    listeners: usize,
    /// Its first listener is one that the Gateway has, too.
    conflicts: bool,
}

#[derive(Debug, Clone)]
struct Route {
    /// Its first parent, and its second where that is another one.
    parents: (usize, usize),
    /// In the place of its first parent, one of the ListenerSets.
    set: Option<usize>,
    /// In the place of its second parent, the Gateway that its cluster has.
    to_local: bool,
    listener: Option<usize>,
    /// The listener is named by its port.
    by_port: bool,
    rules: usize,
    /// Of [`objects::HOMES`].
    home: usize,
    /// Namespace of the application, or of the Gateway.
    with_gateway: bool,
    is_grpc: bool,
    backend: Backend,
}

/// Where the backend of a route is.
#[derive(Debug, Clone, Copy)]
enum Backend {
    /// In its namespace.
    Own,
    /// In another one, with a grant on the hub or on a cluster ([`objects::HOMES`]).
    Granted(usize),
    Refused,
}

#[derive(Debug, Clone)]
struct Namespace {
    /// Of [`objects::NAMESPACES`].
    name: usize,
    home: usize,
    /// Whether it has the label by which listeners choose.
    is_chosen: bool,
}

#[derive(Debug, Clone)]
struct Service {
    namespace: usize,
    home: usize,
}

#[derive(Debug, Clone)]
struct Policy {
    kind: usize,
    target: usize,
    /// A second target, of kinds that may have some.
    second: Option<usize>,
    elsewhere: bool,
    /// Of a policy elsewhere: whether the namespace of its target lets it in.
    granted: bool,
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

/// The shapes of hubs: usually one Gateway, two listeners, two routes, up to three policies and two local ones.
pub(crate) fn hubs() -> impl Strategy<Value = Hub> {
    (
        prop::sample::select((0..FAMILIES.len()).collect::<Vec<_>>()),
        few(gateway(), 1, 3, 0.2),
        few(set(), 0, 2, 0.12),
        few(route(), 0, 4, 0.6),
        few(policy(), 1, 5, 0.6),
        few(local(), 0, 3, 0.5),
        surroundings(),
        options(),
    )
        .prop_map(
            |(family, gateways, sets, routes, policies, locals, surroundings, options)| Hub {
                family,
                gateways,
                sets,
                routes,
                policies,
                locals,
                surroundings,
                options,
            },
        )
}

fn gateway() -> impl Strategy<Value = Gateway> + Clone {
    (
        rarely(0.2),
        one_of([3, 1, 1]),
        one_of([8, 2, 1]),
        rarely(0.08),
        one_of([8, 1, 1, 1]),
    )
        .prop_map(
            |(other_namespace, placement, class, selects_routes, allows)| Gateway {
                other_namespace,
                placement,
                class,
                selects_routes,
                allows,
            },
        )
}

fn set() -> impl Strategy<Value = ListenerSet> + Clone {
    (0..3_usize, rarely(0.2), 1..3_usize, rarely(0.1)).prop_map(
        |(gateway, with_gateway, listeners, conflicts)| ListenerSet {
            gateway,
            with_gateway,
            listeners,
            conflicts,
        },
    )
}

fn route() -> impl Strategy<Value = Route> + Clone {
    let backend = prop_oneof![
        8 => Just(Backend::Own),
        2 => one_of([2, 1, 1]).prop_map(Backend::Granted),
        1 => Just(Backend::Refused),
    ];
    (
        (0..6_usize, 0..6_usize),
        (prop::option::weighted(0.5, 0..2_usize), rarely(0.5)),
        (prop::option::of(0..LISTENERS.len()), rarely(0.15)),
        1..3_usize,
        one_of([6, 1, 1]),
        any::<bool>(),
        rarely(0.1),
        backend,
    )
        .prop_map(
            |(parents, (set, to_local), (listener, by_port), rules, home, with_gateway, is_grpc, backend)| {
                Route {
                    parents,
                    set,
                    to_local,
                    listener,
                    by_port,
                    rules,
                    home,
                    with_gateway,
                    is_grpc,
                    backend,
                }
            },
        )
}

fn policy() -> impl Strategy<Value = Policy> + Clone {
    (
        0..4_usize,
        target(),
        prop::option::weighted(0.2, target()),
        (rarely(0.15), prop::bool::weighted(0.95), rarely(0.2)),
        0..12_usize,
        1..8_u8,
        0..4_usize,
        created(),
    )
        .prop_map(
            |(kind, target, second, (elsewhere, granted, selects), form, keys, letter, created)| Policy {
                kind,
                target,
                second,
                elsewhere,
                granted,
                selects,
                form,
                keys,
                letter,
                created,
            },
        )
}

fn local() -> impl Strategy<Value = Local> + Clone {
    (
        0..2_usize,
        rarely(0.2),
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
        )
}

fn surroundings() -> impl Strategy<Value = Surroundings> {
    let namespace =
        (0..4_usize, one_of([1, 1, 1]), any::<bool>()).prop_map(|(name, home, is_chosen)| Namespace {
            name,
            home,
            is_chosen,
        });
    let service = (0..4_usize, one_of([1, 1, 1])).prop_map(|(namespace, home)| Service { namespace, home });
    (
        few(namespace, 0, 4, 0.2),
        few(service, 0, 2, 0.2),
        few(0..2_usize, 0, 2, 0.1),
    )
        .prop_map(|(namespaces, services, local_gateways)| Surroundings {
            namespaces,
            services,
            local_gateways,
        })
}

fn options() -> impl Strategy<Value = Options> {
    let class = || {
        (
            prop::bool::weighted(0.75),
            prop::bool::weighted(0.75),
            rarely(0.3),
            rarely(0.2),
            rarely(0.05),
        )
            .prop_map(
                |(syncs_routes, syncs_sets, syncs_services, sets_work_per, leaves_out_a_kind)| Class {
                    syncs_routes,
                    syncs_sets,
                    syncs_services,
                    sets_work_per,
                    leaves_out_a_kind,
                },
            )
    };
    ([class(), class()], rarely(0.1), rarely(0.05)).prop_map(|(classes, replica_sets, ignores_times)| {
        Options {
            classes,
            replica_sets,
            ignores_times,
        }
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
    let fates = (fates(), fates(), fates(), fates(), fates(), rarely(0.05));
    (hubs(), hubs(), fates, rarely(0.15)).prop_map(
        |(before, other, (gateways, sets, routes, policies, options, family), goes_over)| {
            let after = Hub {
                family: if family { other.family } else { before.family },
                gateways: gateways.of(&before.gateways, &other.gateways, 1),
                routes: routes.of(&before.routes, &other.routes, 0),
                policies: policies.of(&before.policies, &other.policies, 0),
                sets: sets.of(&before.sets, &other.sets, 0),
                locals: before.locals.clone(),
                surroundings: before.surroundings.clone(),
                options: match options {
                    Fate::Stays => before.options.clone(),
                    Fate::Shrinks => before.options.shrunk(),
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

impl Options {
    /// Routes are no longer synced, nor is the last kind.
    fn shrunk(&self) -> Self {
        let mut options = self.clone();
        for class in &mut options.classes {
            class.syncs_routes = false;
            class.leaves_out_a_kind = true;
        }
        options
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
            *gateways = gateways.replacen(
                &format!("gatewayClassName: {}", CLASSES[0]),
                "gatewayClassName: bare",
                1,
            );
        }
        (before, after)
    }
}

fn rarely(likely: f64) -> prop::bool::Weighted {
    prop::bool::weighted(likely)
}

/// The first choice is the one that shrinking leads to.
fn one_of<const N: usize>(weights: [u32; N]) -> impl Strategy<Value = usize> + Clone {
    let choices = weights
        .into_iter()
        .enumerate()
        .map(|(choice, weight)| (weight, Just(choice)));
    prop::strategy::Union::new_weighted(choices.collect())
}

fn created() -> impl Strategy<Value = Option<u8>> + Clone {
    prop::option::weighted(0.4, 1..5_u8)
}

/// Often the Gateway or one of its listeners, so that policies meet.
fn target() -> impl Strategy<Value = usize> + Clone {
    prop_oneof![2 => 0..3_usize, 1 => 0..24_usize]
}

/// At least `least` and up to `most` of something, each further one being as `likely` as the one before it. What is left
/// out is left out when a hub is shrunk, too.
pub(crate) fn few<T: std::fmt::Debug + Clone>(
    one: impl Strategy<Value = T> + Clone,
    least: usize,
    most: usize,
    likely: f64,
) -> impl Strategy<Value = Vec<T>> + Clone {
    (
        vec(one.clone(), least),
        vec(prop::option::weighted(likely, one), most - least),
    )
        .prop_map(|(mut all, more)| {
            all.extend(more.into_iter().flatten());
            all
        })
}
