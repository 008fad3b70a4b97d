//! Objects that clusters would refuse or nobody would ship: those in our chain that break a rule of their kind, objects of
//! unknown kinds that target ours, and policies with a version other than the one that their class syncs.
//!
//! A policy whose kind is misspelled is not recognized as a policy: without a finding it would be missing on every
//! cluster, and nothing would report it.

use std::collections::BTreeSet;

use apimachinery::{ApiVersion, GroupKind, Work};

use super::synced_object::Syncing;
use crate::api::crd;
use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::kinds::unknown_version;
use crate::api::params::SyncedResource;
use crate::api::policy::{DeclaredTargets, TargetRef, TargetSelector};
use crate::api::route::Route;
use crate::api::rules;
use crate::diagnostic::{Code, Finding, Findings, Severity, nearest};
use crate::hub::{self, Hub, OurGateway};
use crate::object::Object;
use crate::parallel;
use crate::policy::{KindId, Policy, Profiles};
use crate::topology::{GatewayId, Node};

/// Reports what an API server would refuse of the objects in our chain: all of it where their CRD is not in the input,
/// and where it is, which part of a value its rules refuse. Of policies also those of other Gateways, as reports leave out
/// what is refused. A policy that is not `synced` stops no run. What the schema of an object refuses is not reported again.
pub fn report_broken_rules(
    syncing: Syncing<'_>,
    synced: impl Fn(KindId, Node) -> bool + Sync,
    findings: &mut Findings,
) {
    let hub = syncing.hub;
    let definitions = hub.objects.iter().filter(|object| crd::is_one(object));
    let work = Work::for_definitions(definitions.map(|object| &object.value));
    let broken = |(object, is_shipped): &(&Object, bool), findings: &mut Findings| {
        let broken = rules::broken(object);
        let is_listening =
            object.is(GROUP, "Gateway") || is_listener_set(&object.api_version.group, &object.kind);
        let conflicting = if is_listening {
            rules::conflicting(object)
        } else {
            Vec::new()
        };
        if broken.is_empty() && conflicting.is_empty() {
            return;
        }
        // Only now: hardly any object breaks a rule, and its schema has been checked before.
        let refused = hub::check_schema(hub, object, &work);
        // An object with a field that does not exist lacks the field that was meant.
        let is_misspelled = refused
            .iter()
            .any(|refused| refused.code == Code::OBJECT_UNKNOWN_FIELD);
        // A CRD of the input decides what is refused; we report which part.
        let has_crd = hub.crds.contains_key(&object.group_kind());
        let is_refused = |finding: &Finding| {
            let mut by_rule = refused.iter().filter(|refused| refused.is_rule);
            finding.severity == Severity::Warning
                || by_rule.any(|refused| finding.place.is_inside(&refused.place))
        };
        let broken = broken
            .into_iter()
            .filter(|finding| !is_misspelled && (!has_crd || is_refused(finding)));
        for mut finding in broken.chain(conflicting) {
            let is_of_field = |refused: &Finding| {
                finding.place.is_inside(&refused.place) || refused.place.is_inside(&finding.place)
            };
            if refused
                .iter()
                .any(|refused| !refused.is_rule && is_of_field(refused))
            {
                continue;
            }
            if !is_shipped {
                finding.severity = Severity::Warning;
            }
            findings.push(finding);
        }
    };
    let mut found = Findings::new();
    found.of_each(&syncing.chain(synced), broken);
    // Which objects were still checked is an accident: it must not show.
    if !work.is_spent() {
        findings.extend(found);
    }
}

impl<'a> Syncing<'a> {
    /// All objects that affect the rendering of our Gateways, and whether what is wrong with one stops a run.
    fn chain(self, synced: impl Fn(KindId, Node) -> bool + Sync) -> Vec<(&'a Object, bool)> {
        let topology = &self.attachments.topology;
        let gateways = topology.gateways.iter();
        let gateways = gateways.filter(|(id, _)| self.our_gateway(*id).is_some());
        let sets = topology.listener_sets.rows().iter();
        let sets = sets.filter(|set| self.our_gateway(set.gateway).is_some());
        let routes = topology.routes.rows().iter();
        let routes = routes.filter(|route| self.is_child(route.route));
        let policies = parallel::map(self.attachments.policies.rows(), |policy| {
            let nodes = policy.nodes();
            // Settings that contradict each other also break other rules. Removing one of them may mend those as well.
            let is_chained =
                policy.invalid.is_none() && nodes.iter().any(|node| !topology.gateways_of(*node).is_empty());
            let is_shipped = || nodes.iter().any(|node| synced(policy.kind, *node));
            is_chained.then(|| (policy.object, is_shipped()))
        });
        gateways
            .map(|(_, gateway)| gateway.object)
            .chain(sets.map(|set| set.object))
            .chain(routes.map(|route| route.object))
            .map(|object| (object, true))
            .chain(policies.into_iter().flatten())
            .collect()
    }

    /// Whether a route names a Gateway of ours, or a ListenerSet of one, as its parent. A listener need not take it: a
    /// rule that it breaks may be why none does.
    fn is_child(self, route: Route<'_>) -> bool {
        let topology = &self.attachments.topology;
        let own = route.object.namespace_or_empty();
        let parents = route.parents.iter();
        let mut parents = parents.filter_map(|parent| topology.parent(own, parent).ok());
        parents.any(|(gateway, _)| self.our_gateway(gateway).is_some())
    }

    /// The first thing of ours that an object targets, in words.
    fn targeted_by(self, object: &Object) -> Option<String> {
        // Its kind may give these fields another meaning, so that nothing is wrong with their shape.
        let targeting = DeclaredTargets::new(object)?;
        let own = object.namespace_or_empty();
        let references = targeting.references.iter();
        let mut named = references
            .filter(|reference| self.is_named(reference, own))
            .map(|reference| format!("{} {}", reference.kind, reference.name));
        let mut selectors = targeting.selectors.iter();
        let mut selected = || selectors.find_map(|selector| self.selected(selector, own));
        named.next().or_else(&mut selected)
    }

    fn is_named(self, reference: &TargetRef, own: &str) -> bool {
        let topology = &self.attachments.topology;
        let namespace = reference.namespace.as_deref().unwrap_or(own);
        let kind = (&*reference.group, &*reference.kind);
        let whole = topology.find_whole(kind, namespace, &reference.name);
        // A class of ours may have no Gateway yet.
        let is_our_class =
            kind == (GROUP, "GatewayClass") && self.ours.classes.contains_key(&*reference.name);
        let leads_to_ours = |node| {
            let mut gateways = topology.gateways_of(node).into_iter();
            gateways.any(|gateway| self.our_gateway(gateway).is_some())
        };
        is_our_class || whole.node().is_some_and(leads_to_ours)
    }

    /// The first thing of ours that a selector finds.
    fn selected(self, selector: &TargetSelector, own: &str) -> Option<String> {
        let is_selected = |object: &&Object| {
            object.is(&selector.group, &selector.kind)
                && object.namespace_or_empty() == own
                && selector.selector.matches(|key| object.label(key))
        };
        let gateways = self.ours.gateways.rows().iter().map(|ours| ours.gateway.object);
        let is_ours = |gateway: &GatewayId| self.our_gateway(*gateway).is_some();
        let routes = self.attachments.topology.routes.rows().iter();
        let routes = routes.filter(|route| route.gateways.iter().any(is_ours));
        gateways
            .chain(routes.map(|route| route.object))
            .find(is_selected)
            .map(|object| format!("{} {}", object.kind, object.name))
    }
}

/// Reports every object of the hub with a target reference or a target selector that finds a Gateway of ours, a
/// ListenerSet or a route of it, its namespace or its class, and whose kind is no policy kind, has no CRD in the input,
/// and is not known otherwise.
pub fn report_unknown_kinds(syncing: Syncing<'_>, profiles: &Profiles, findings: &mut Findings) {
    let Syncing { hub, attachments, .. } = syncing;
    let policies = attachments.kinds.rows().iter();
    let policies: BTreeSet<GroupKind> = policies.map(|kind| kind.profile.group_kind()).collect();
    let is_known = |kind: &GroupKind| {
        policies.contains(kind)
            || hub.crds.contains_key(kind)
            || hub.kinds.kind(&kind.group, &kind.kind).is_some()
    };
    for kind in hub.objects.group_kinds() {
        if is_known(&kind) {
            continue;
        }
        for object in hub.objects.of_kind(&kind.group, &kind.kind) {
            if let Some(target) = syncing.targeted_by(object) {
                findings.push(unknown_kind(object, &target, profiles));
            }
        }
    }
}

fn unknown_kind(object: &Object, target: &str, profiles: &Profiles) -> Finding {
    let GroupKind { group, kind } = object.group_kind();
    let known: Vec<&GroupKind> = profiles.kinds().collect();
    let groups_of = |kind: &str| -> Vec<&str> {
        let same = known.iter().filter(|known| known.kind == kind);
        same.map(|known| known.group.as_str()).collect()
    };
    let finding = |pointer: &str, label: String, help: String| {
        let said = format!(
            "{} targets {target}, but its kind is unknown, so no cluster receives it",
            object.identity()
        );
        Finding::new(Code::POLICY_UNKNOWN_KIND, object.place(pointer), said)
            .label(label)
            .help(help)
    };
    let no_such_kind = format!("not a known kind of the group `{group}`");
    let of_group = known.iter().filter(|known| known.group == group);
    if let Some(near) = nearest(&kind, of_group.map(|known| known.kind.as_str())) {
        return finding("/kind", no_such_kind, format!("did you mean `{near}`?"));
    }
    let groups = groups_of(&kind);
    if !groups.is_empty() {
        let near = nearest_group(&group, &groups).map(|near| vec![near]);
        let help = format!("did you mean the group {}?", either(&near.unwrap_or(groups)));
        return finding("/apiVersion", format!("{kind} is in another group"), help);
    }
    let help = match nearest(&kind, known.iter().map(|known| known.kind.as_str())) {
        Some(near) => format!("did you mean `{near}` of the group {}?", either(&groups_of(near))),
        None => "add its CRD to the input, or describe it under `profiles` in spokewright.yaml; if it is not a policy, move it out of the input"
            .to_owned(),
    };
    finding("/kind", no_such_kind, help)
}

fn either(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

/// The group that a misspelled one means: the nearest one, or else that which begins alike (`kuadrant.com`).
fn nearest_group<'g>(group: &str, known: &[&'g str]) -> Option<&'g str> {
    let first = |group: &str| group.split('.').next().map(str::to_owned);
    // The name of a project is remembered better than the rest of its domain.
    let alike = || known.iter().copied().find(|known| first(known) == first(group));
    nearest(group, known.iter().copied()).or_else(alike)
}

/// Reports policies that would be shipped in another version than `policiesToSync` names: a work carries a policy as it
/// is written, and the versions of a policy kind may differ in more than their name, so it would be unknown what the
/// agent applies and whether the class's feedback finds it. Routes are not asked for this: their versions
/// differ in the name alone (docs/systems/gateway-api.md#kinds-and-versions).
pub fn report_other_versions(syncing: Syncing<'_>, findings: &mut Findings) {
    let Syncing { hub, attachments, .. } = syncing;
    for policy in attachments.policies.rows() {
        let ApiVersion { group, version } = &policy.object.api_version;
        // That its CRD does not serve it is said at the object.
        let unserved = hub.crds.contains_key(&policy.object.group_kind())
            && !serves(hub, &policy.object.kind, group, version);
        if policy.local || unserved {
            continue;
        }
        let gateways: Vec<&OurGateway<'_>> = policy
            .nodes()
            .into_iter()
            .flat_map(|node| attachments.topology.gateways_of(node))
            .filter_map(|gateway| syncing.our_gateway(gateway))
            .map(|gateway| syncing.ours.gateways.get(gateway))
            .collect();
        let entries = gateways.iter().filter_map(|ours| {
            let entry = ours.params.synced_policy(group, &policy.object.kind)?;
            Some((entry, &*ours.gateway.view().class_name))
        });
        let entries: Vec<(&SyncedResource, &str)> = entries.collect();
        let is_unsynced = !gateways.is_empty() && entries.is_empty();
        let synced = entries.into_iter().find(|(entry, _)| entry.version != *version);
        findings.extend(synced.map(|(entry, class)| other_version(policy, entry, class, hub)));
        // For a kind that nothing syncs, no other finding reports that the version does not exist.
        if is_unsynced {
            findings.extend(unknown_version(policy.object, &hub.kinds));
        }
    }
}

fn other_version(policy: &Policy<'_>, entry: &SyncedResource, class: &str, hub: &Hub) -> Finding {
    let object = policy.object;
    let ApiVersion { group, version } = &object.api_version;
    let wanted = ApiVersion {
        group: group.clone(),
        version: entry.version.as_str().into(),
    };
    let fix = format!("write `apiVersion: {wanted}`");
    object.finding(
        Code::POLICY_OTHER_VERSION,
        "/apiVersion",
        format!("has version {version}, but its class syncs {}", entry.version),
    )
    .label(format!("not the version in `policiesToSync` of `{class}`"))
    .help(if serves(hub, &object.kind, group, version) {
        format!(
            "{fix} and the fields of that version, or list version {version} in `policiesToSync` of `{class}`"
        )
    } else {
        fix
    })
}

fn serves(hub: &Hub, kind: &str, group: &str, version: &str) -> bool {
    hub.kinds
        .kind(group, kind)
        .is_some_and(|info| info.serves(version))
}
