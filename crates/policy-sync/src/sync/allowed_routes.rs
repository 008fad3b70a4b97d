//! Whether listeners on the spokes will accept the routes that go there, and Gateways the ListenerSets
//! (docs/systems/why-we-differ.md#routes).

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::routes::SyncedParent;
use super::synced_object::Syncing;
use crate::api::downstream::NAMESPACE_PREFIX;
use crate::api::gateway::AdmittedNamespaces;
use crate::diagnostic::{Code, Finding, Findings, and_more};
use crate::hub::{Hub, OurGatewayId};
use crate::object::Object;
use crate::topology::{
    GatewayNode, ListenerId, ListenerNode, ListenerSetNode, NAMESPACE_NAME_LABEL, Refusal, RouteId,
};

/// Labels of routes' Namespaces that listeners select by, by Namespace.
pub type NamespaceLabels = BTreeMap<String, BTreeMap<String, String>>;

/// So many routes are pointed at in one finding; the rest is counted.
const MOST_ROUTES: usize = 5;
/// So many clusters are named; the rest is counted.
const MOST_CLUSTERS: usize = 3;

/// What listeners on the spokes refuse of the routes that go there, and Gateways of the ListenerSets.
///
/// A listener that accepts a route on the hub and would refuse it on a spoke is an error even if another listener
/// accepts the route: less traffic would pass there than on the hub.
#[derive(Debug)]
pub struct Admission<'c> {
    syncing: Syncing<'c>,
    /// The labels by which the listeners select.
    pub labels: NamespaceLabels,
    /// By Gateway, listener and namespace of the route: the clusters where the listener refuses.
    known: HashMap<(OurGatewayId, ListenerId, &'c str), Rc<[String]>>,
    refused: BTreeMap<RefusedKey, Refused<'c>>,
    /// The ListenerSets, with the clusters where their Gateway refuses them.
    refused_sets: Vec<(ListenerSetNode<'c>, Vec<String>)>,
}

/// The object that a listener refuses.
#[derive(Debug)]
struct Refused<'a> {
    /// The routes, each with the pointer of its parentRef.
    routes: Vec<(&'a Object, String)>,
    /// Where; none: wherever the Gateway goes.
    on: Vec<String>,
    /// Whether the listener accepts the first route on the hub.
    on_the_hub: bool,
}

/// The listener that refuses, and the reason: the kind or the namespace of the routes.
type RefusedKey = (OurGatewayId, ListenerId, Refusal);

impl<'c> Admission<'c> {
    /// Looks at everything that is synced.
    pub fn new(syncing: Syncing<'c>) -> Self {
        let topology = &syncing.attachments.topology;
        let mut admission = Self {
            syncing,
            labels: NamespaceLabels::new(),
            known: HashMap::new(),
            refused: BTreeMap::new(),
            refused_sets: Vec::new(),
        };
        for (id, route) in syncing.routes.iter() {
            for parent in &route.parents {
                let clusters = syncing.clusters.get(parent.gateway);
                if !clusters.is_empty() {
                    admission.parent((id, route.object), parent, clusters);
                }
            }
        }
        for (set, gateway) in &syncing.routes.sets {
            let set = *topology.listener_sets.get(*set);
            let node = topology.gateways.get(set.gateway);
            let home = format!("{NAMESPACE_PREFIX}{}", node.object.namespace_or_empty());
            let (own, clusters) = (set.object.namespace_or_empty(), syncing.clusters.get(*gateway));
            let refusing = admission.refusing(node.allowed_listeners, &home, own, clusters);
            if !refusing.is_empty() {
                admission
                    .refused_sets
                    .push((set, some_of(&refusing, clusters).to_vec()));
            }
        }
        admission
    }

    /// Reports what is refused.
    pub fn report(&self, findings: &mut Findings) {
        let (syncing, topology) = (self.syncing, &self.syncing.attachments.topology);
        for ((gateway, listener, cause), refused) in &self.refused {
            let node = topology.listeners.get(*listener);
            let gateway = syncing.ours.gateways.get(*gateway).gateway.object;
            findings.extend(finding((node.owner, gateway), node, *cause, refused, syncing.hub));
        }
        for (set, on) in &self.refused_sets {
            let gateway = topology.gateways.get(set.gateway);
            findings.push(refused_set(gateway, set.object, on));
        }
    }

    fn parent(&mut self, (id, route): (RouteId, &'c Object), parent: &SyncedParent, clusters: &[String]) {
        let topology = &self.syncing.attachments.topology;
        let gateway = topology.gateways.get(parent.node);
        let admits_kind = |listener: &ListenerId| topology.listeners.get(*listener).admits_kind(route);
        let taking: Vec<ListenerId> = parent.listeners.iter().copied().filter(admits_kind).collect();
        if taking.is_empty() {
            if let Some(first) = parent.listeners.first() {
                let key = (parent.gateway, *first, Refusal::Kind);
                self.refuse(key, (route, parent), (&[], clusters), false);
            }
            return;
        }
        // A ListenerSet stays in its own namespace.
        let sets = &topology.listener_sets;
        let home = match parent.set {
            Some(set) => sets.get(set).object.namespace_or_empty().to_owned(),
            // The Gateway is in another namespace there than on the hub (docs/systems/mgc.md#downstream-gateway).
            None => format!("{NAMESPACE_PREFIX}{}", gateway.object.namespace_or_empty()),
        };
        let mut verdicts: Vec<(ListenerId, Rc<[String]>)> = Vec::with_capacity(taking.len());
        let own = route.namespace_or_empty();
        for id in taking {
            let key = (parent.gateway, id, own);
            let refusing = match self.known.get(&key) {
                Some(known) => Rc::clone(known),
                None => {
                    let admitted = &topology.listeners.get(id).admission.namespaces;
                    let refusing: Rc<[String]> = self.refusing(admitted, &home, own, clusters).into();
                    self.known.insert(key, Rc::clone(&refusing));
                    refusing
                }
            };
            verdicts.push((id, refusing));
        }
        let mut reported = false;
        for (listener, refusing) in &verdicts {
            let on_the_hub = gateway.attached.binary_search(&(*listener, id)).is_ok();
            // A listener that refuses the route on the hub, too, loses no traffic there.
            if on_the_hub && !refusing.is_empty() {
                reported = true;
                let key = (parent.gateway, *listener, Refusal::Namespace);
                self.refuse(key, (route, parent), (refusing, clusters), true);
            }
        }
        // If no listener is left on a cluster, the hub's answer does not matter.
        if let Some(((listener, refusing), others)) = verdicts.split_first()
            && !reported
            && refusing.iter().any(|cluster| {
                let mut others = others.iter();
                others.all(|(_, refusing)| refusing.binary_search(cluster).is_ok())
            })
        {
            let key = (parent.gateway, *listener, Refusal::Namespace);
            self.refuse(key, (route, parent), (refusing, clusters), false);
        }
    }

    fn refuse(
        &mut self,
        key: RefusedKey,
        (route, parent): (&'c Object, &SyncedParent),
        (on, clusters): (&[String], &[String]),
        on_the_hub: bool,
    ) {
        let refused = self.refused.entry(key).or_insert_with(|| Refused {
            routes: Vec::new(),
            on: some_of(on, clusters).to_vec(),
            on_the_hub,
        });
        refused.routes.push((route, parent.pointer.clone()));
    }

    /// The clusters where a listener refuses routes of a namespace, or a Gateway its ListenerSets.
    fn refusing(
        &mut self,
        admitted: &AdmittedNamespaces,
        home: &str,
        namespace: &str,
        clusters: &[String],
    ) -> Vec<String> {
        let selector = match admitted {
            AdmittedNamespaces::All => return Vec::new(),
            AdmittedNamespaces::Same if home == namespace => return Vec::new(),
            AdmittedNamespaces::Same | AdmittedNamespaces::None | AdmittedNamespaces::Selector(None) => {
                return clusters.to_vec();
            }
            AdmittedNamespaces::Selector(Some(selector)) => selector,
        };
        let topology = &self.syncing.attachments.topology;
        // The labels that the selector requires are shipped with the Namespace, so that the answer is the same there.
        for requirement in &selector.requirements {
            let key = requirement.key.as_str();
            // Every Namespace has that one already (docs/systems/gateway-api.md#allowed-routes).
            if key != NAMESPACE_NAME_LABEL
                && let Some(value) = topology.namespace_label(namespace, key)
            {
                let labels = self.labels.entry(namespace.to_owned()).or_default();
                labels.insert(key.to_owned(), value.to_owned());
            }
        }
        let implied = |key: &str| (key == NAMESPACE_NAME_LABEL).then_some(namespace);
        let on_hub = |key: &str| topology.namespace_label(namespace, key).or_else(|| implied(key));
        let everywhere = selector.matches(on_hub);
        let admits = |cluster: &String| {
            let local = self.syncing.hub.spokes.get(cluster);
            match local.and_then(|local| local.find("", "Namespace", None, namespace)) {
                // What is shipped is applied over the Namespace of the cluster, whose other labels stay.
                Some(there) => selector.matches(|key| on_hub(key).or_else(|| there.label(key))),
                None => everywhere,
            }
        };
        clusters
            .iter()
            .filter(|cluster| !admits(cluster))
            .cloned()
            .collect()
    }
}

/// The clusters among those of a Gateway where something is refused; none: wherever the Gateway goes.
fn some_of<'c>(refusing: &'c [String], clusters: &[String]) -> &'c [String] {
    if refusing.len() < clusters.len() {
        refusing
    } else {
        &[]
    }
}

/// That a Gateway would refuse a ListenerSet which it takes on the hub.
fn refused_set(gateway: &GatewayNode<'_>, set: &Object, on: &[String]) -> Finding {
    let (object, own) = (gateway.object, set.namespace_or_empty());
    let message = format!(
        "on the spokes, {} would refuse {}",
        object.identity(),
        set.identity()
    );
    let place = object.place("/spec/allowedListeners");
    let finding = Finding::new(Code::LISTENER_SET_NOT_ALLOWED, place, message)
        .label(match gateway.allowed_listeners {
            AdmittedNamespaces::Selector(_) => "selects Namespaces by their labels",
            _ => "accepts only ListenerSets of its own namespace",
        })
        .related(set.place("/spec/parentRef"), "this set");
    with_clusters(finding, on)
        .note(format!(
            "there the Gateway lives in `{NAMESPACE_PREFIX}{}`, and ListenerSets stay in their own namespace, here `{own}`",
            object.namespace_or_empty()
        ))
        .help(format!(
            "to accept the ListenerSets of `{own}` there as on the hub, write `allowedListeners: {{namespaces: \
             {{from: Selector, selector: {{matchLabels: {{{NAMESPACE_NAME_LABEL}: {own}}}}}}}}}`"
        ))
}

/// Names the clusters; none: wherever the Gateway goes.
fn with_clusters(finding: Finding, on: &[String]) -> Finding {
    if on.is_empty() {
        return finding;
    }
    let named: Vec<&str> = on.iter().take(MOST_CLUSTERS).map(String::as_str).collect();
    let rest = and_more(on.len().saturating_sub(named.len()), "cluster");
    let rest = rest.map_or_else(String::new, |rest| format!(" {rest}"));
    finding.note(format!("on {}{rest}", named.join(", ")))
}

/// A finding about a listener of a Gateway, or of a ListenerSet of it, the `owner`.
fn finding(
    (owner, gateway): (&Object, &Object),
    listener: &ListenerNode<'_>,
    cause: Refusal,
    refused: &Refused<'_>,
    hub: &Hub,
) -> Option<Finding> {
    let ((first, pointer), others) = refused.routes.split_first()?;
    let allowed_at = format!("{}/allowedRoutes", listener.pointer);
    let allowed = owner
        .value
        .pointer(&allowed_at)
        .filter(|allowed| !allowed.is_null());
    let at = allowed.map_or(listener.pointer, |_| &allowed_at);
    let from = allowed.and_then(|allowed| allowed.pointer("/namespaces/from")?.as_str());
    let (who, what) = (owner.identity(), first.identity());
    let mut message = format!(
        "on the spokes, listener `{}` of {who} would refuse {what}",
        listener.name
    );
    if let Some(more) = and_more(others.len(), "route") {
        message = format!("{message} {more}");
    }
    let label = match (cause, from) {
        (Refusal::Kind, _) => format!("accepts no {}", first.kind),
        (_, None) => "accepts only routes of its own namespace, by default".to_owned(),
        (_, Some("Same")) => "accepts only routes of its own namespace".to_owned(),
        (_, Some("Selector")) => "selects Namespaces by their labels".to_owned(),
        (_, Some(_)) => "accepts routes of no namespace".to_owned(),
    };
    let mut finding = Finding::new(Code::ROUTE_NOT_ALLOWED, owner.place(at), message)
        .label(label)
        .follows_from(owner.place(&allowed_at));
    finding = finding.related(first.place(pointer), "this route");
    for (route, pointer) in others.iter().take(MOST_ROUTES.saturating_sub(1)) {
        finding = finding.related(route.place(pointer), "and this one");
    }
    finding = with_clusters(finding, &refused.on);
    let home = gateway.namespace_or_empty();
    let own = first.namespace_or_empty();
    if cause == Refusal::Kind {
        let help = format!(
            "list `{{group: {}, kind: {}}}` under `allowedRoutes.kinds`, if the protocol {} supports it, or attach the route to another listener",
            first.api_version.group, first.kind, listener.protocol
        );
        return Some(finding.help(help));
    }
    if listener.set.is_none() {
        finding = finding.note(format!(
        "there the Gateway lives in `{NAMESPACE_PREFIX}{home}`, and routes stay in their own namespace, here `{own}`"
    ));
    }
    let accepts = format!("attach the route to a listener that accepts routes of `{own}`");
    let for_own_alone = format!(
        "`allowedRoutes: {{namespaces: {{from: Selector, selector: {{matchLabels: {{{NAMESPACE_NAME_LABEL}: {own}}}}}}}}}`"
    );
    let is_known = hub.objects.find("", "Namespace", None, own).is_some();
    let admitted = &listener.admission.namespaces;
    Some(finding.help(match (admitted, refused.on_the_hub) {
        (AdmittedNamespaces::Selector(None), _) => format!(
            "its `selector` is missing or unreadable, so it selects no Namespace: write \
             `selector: {{matchLabels: {{{NAMESPACE_NAME_LABEL}: {own}}}}}`; operators of `matchExpressions` are \
             In, NotIn, Exists and DoesNotExist"
        ),
        (AdmittedNamespaces::Selector(_), true) => format!("give Namespace `{own}` there the labels that it has on the hub"),
        (AdmittedNamespaces::Selector(_), false) if is_known => {
            format!("{accepts}, or give the Namespace the labels if its routes may use this one")
        }
        (AdmittedNamespaces::Selector(_), false) => format!(
            "the labels of Namespace `{own}` are not known: add it, with its labels, to the input or to \
             `spokes/<cluster>`"
        ),
        (_, true) => {
            format!("to accept the routes of `{own}` there as on the hub, write {for_own_alone}")
        }
        (_, false) => format!("{accepts}; if its routes may use this one, write {for_own_alone}"),
    }))
}
