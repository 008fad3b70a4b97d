//! Gateways, ListenerSets, routes, and policies in our chain that break a rule of their kind.
//!
//! Owns: which objects those are: our Gateways, what is attached to them, what targets any Gateway. Flows in: the
//! topology with its policies, which of them are synced, the hub, what was reported about the input before. Flows out:
//! findings. Must not know: the rules.

use std::collections::{BTreeSet, HashSet};

use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::route::Route;
use crate::api::rules;
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, Within};
use crate::hub::{Hub, Ours};
use crate::object::Object;
use crate::parallel;
use crate::policy::{Attachments, KindId};
use crate::topology::{GatewayId, Node, Topology};

/// Reports what an API server would refuse of the objects in our chain: all of it where their CRD is not in the input,
/// and where it is, which part of a value its rules refuse. Of policies also those of other Gateways, as reports leave out
/// what is refused. A policy that is not `synced` stops no run. `said` are the findings of reading: structural mistakes
/// are not reported again.
pub fn report_broken_rules(
    attachments: &Attachments<'_>,
    hub: &Hub,
    ours: &Ours<'_>,
    synced: impl Fn(KindId, Node) -> bool + Sync,
    said: &Findings,
    findings: &mut Findings,
) {
    // An object with a field that does not exist lacks the field that was meant.
    let unknown = places(said, |finding| finding.code == Code::OBJECT_UNKNOWN_FIELD);
    let is_misspelled = |object: &Object| is_one_field(&unknown, &object.place(""));
    let refused = places(said, |finding| finding.is_rule);
    let chain = Chain { attachments, ours };
    let broken = |(object, is_shipped): &(&Object, bool), findings: &mut Findings| {
        let mut found = Vec::new();
        if !is_misspelled(object) {
            // A CRD of the input decides what is refused; we report which part.
            let has_crd = !hub.crds.is_empty() && hub.crds.contains_key(&object.group_kind());
            let is_refused = |finding: &Finding| {
                finding.severity == Severity::Warning || refused.is_around(&finding.place)
            };
            let broken = rules::broken(object).into_iter();
            found.extend(broken.filter(|finding| !has_crd || is_refused(finding)));
        }
        if object.api_version.group == GROUP && object.kind == "Gateway"
            || is_listener_set(&object.api_version.group, &object.kind)
        {
            found.extend(rules::conflicting(object));
        }
        for finding in found.iter_mut().filter(|_| !is_shipped) {
            finding.severity = Severity::Warning;
        }
        findings.extend(found);
    };
    let mut found = Findings::new();
    found.of_each(&chain.objects(synced), broken);
    // There may be a hundred thousand findings of reading, and rules are broken in few documents.
    let documents: HashSet<DocumentId> = found
        .iter()
        .filter_map(|finding| finding.place.document())
        .collect();
    let said = places(said, |finding| {
        !finding.is_rule
            && [Code::OBJECT_SCHEMA, Code::OBJECT_UNKNOWN_FIELD].contains(&finding.code)
            && finding
                .place
                .field()
                .is_some_and(|(document, _)| documents.contains(&document))
    });
    found.retain(|finding| !is_one_field(&said, &finding.place));
    findings.extend(found);
}

/// Where the findings are that are asked for.
fn places(said: &Findings, is_asked: impl Fn(&Finding) -> bool) -> Within<'_, ()> {
    let mut places = Within::default();
    for finding in said.iter().filter(|finding| is_asked(finding)) {
        places.add(&finding.place, ());
    }
    places
}

/// Whether a place is the field of one of these, is inside it, or contains it.
fn is_one_field(places: &Within<()>, place: &Place) -> bool {
    places.least(place).is_some() || places.is_around(place)
}

/// The objects that affect the rendering of our Gateways.
struct Chain<'c, 'a> {
    attachments: &'c Attachments<'a>,
    ours: &'c Ours<'a>,
}

impl<'a> Chain<'_, 'a> {
    /// All of them, and whether what is wrong with one stops a run.
    fn objects(&self, synced: impl Fn(KindId, Node) -> bool + Sync) -> Vec<(&'a Object, bool)> {
        let topology = &self.attachments.topology;
        let gateways = parallel::map(topology.gateways.rows(), |gateway| {
            self.is_our_object(gateway.object).then_some(gateway.object)
        });
        let sets = topology.listener_sets.rows().iter();
        let sets = sets.filter(|set| self.is_ours(set.gateway));
        let routes = topology.routes.rows().iter();
        let routes = routes.filter(|route| self.is_child(topology, &route.route));
        let policies = parallel::map(self.attachments.policies.rows(), |policy| {
            let nodes = policy.nodes();
            let is_chained = nodes.iter().any(|node| !topology.gateways_of(*node).is_empty());
            let is_shipped = || nodes.iter().any(|node| synced(policy.kind, *node));
            is_chained.then(|| (policy.object, is_shipped()))
        });
        gateways
            .into_iter()
            .flatten()
            .chain(sets.map(|set| set.object))
            .chain(routes.map(|route| route.object))
            .map(|object| (object, true))
            .chain(policies.into_iter().flatten())
            .collect()
    }

    fn is_ours(&self, gateway: GatewayId) -> bool {
        self.is_our_object(self.attachments.topology.gateways.get(gateway).object)
    }

    fn is_our_object(&self, object: &Object) -> bool {
        let found = self.ours.find(object.namespace_or_empty(), &object.name);
        found.is_some()
    }

    /// Whether a route names a Gateway of ours, or a ListenerSet of one, as its parent. A listener need not take it: a
    /// rule that it breaks may be why none does.
    fn is_child(&self, topology: &Topology<'_>, route: &Route<'_>) -> bool {
        let own = route.object.namespace_or_empty();
        let parents: BTreeSet<Option<GatewayId>> = route
            .parents
            .iter()
            .map(|parent| {
                let namespace = parent.namespace.unwrap_or(own);
                match (parent.group, parent.kind) {
                    (GROUP, "Gateway") => topology.find_gateway(namespace, parent.name),
                    (group, kind) if is_listener_set(group, kind) => topology
                        .find_listener_set(kind, namespace, parent.name)
                        .map(|set| topology.listener_sets.get(set).gateway),
                    _ => None,
                }
            })
            .collect();
        parents.into_iter().flatten().any(|gateway| self.is_ours(gateway))
    }
}
