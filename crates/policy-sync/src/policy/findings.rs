//! Findings about policies as a whole: targets on no path, settings that apply nowhere.

use std::collections::BTreeSet;

use kube_json::Value;

use super::attachment::Attachments;
use super::cluster_outcomes::{Everywhere, Fates, Tally};
use super::condition::{MAX_ANCESTORS, Outcome};
use super::envoy_gateway::status::rejection;
use super::model::{Declared, Policy, PolicyId, Rule};
use super::no_effect::{items, report_no_effect, report_shared_paths, report_shared_sockets};
use super::profile::StatusShape;
use super::status::accepted;
use crate::diagnostic::{Code, Finding, Findings, Severity};
use crate::object::Object;
use crate::topology::{Level, Node};

/// So many listeners are named that share a port with the one of a policy.
const MOST_NAMED: usize = 3;

/// The findings that need the outcome of all policies: unreachable and wholly overridden policies. `attachments` are
/// the hub's, `fates` those on all clusters.
pub fn outcomes(attachments: &Attachments<'_>, fates: &Fates<'_>, findings: &mut Findings) {
    let routes = attachments.topology.routes.rows();
    findings.of_each(routes, |route, found| by_filter(route.object, found));
    report_shared_sockets(attachments, findings);
    report_shared_paths(attachments, findings);
    for (id, policy) in attachments.policies.iter() {
        let object = policy.object;
        refused(attachments, id, findings);
        beyond(attachments, id, findings);
        let number = policy.gateways(&attachments.topology).len();
        if attachments.profile(id).status.lists_ancestors() && number > MAX_ANCESTORS {
            let what = format!("has {number} ancestors; a status lists at most {MAX_ANCESTORS}");
            let finding = object.finding(Code::POLICY_TOO_MANY_ANCESTORS, policy.pointer(), what);
            findings.push(finding.help("split the policy, or target fewer Gateways"));
        }
        if !accepted(attachments, id, None).is_true() {
            continue;
        }
        report_no_effect(attachments, id, findings);
        let fates = fates.of(&policy.locator());
        let outcome = |everywhere: &Everywhere<'_>| {
            let outcomes = everywhere.fates.iter().map(|fate| fate.total().outcome());
            let mut outcomes: BTreeSet<Outcome> = outcomes.collect();
            outcomes.pop_first().filter(|_| outcomes.is_empty())
        };
        match fates.and_then(|everywhere| Some((everywhere, outcome(everywhere)?))) {
            Some((everywhere, Outcome::Overridden)) => {
                wholly_overridden(attachments, everywhere, id, findings);
            }
            None if fates.is_some() => {}
            Some((_, Outcome::NoPath)) | None => unreachable(attachments, id, findings),
            Some(_) => {}
        }
    }
}

/// Filters of a route that name a policy: it applies before all policies that target the rule
/// (docs/systems/other-policies.md#kgateway).
fn by_filter(route: &Object, findings: &mut Findings) {
    // Without cursors: of many thousands of filters, hardly one names a policy.
    for (rule_at, rule) in items(route.value.get("spec"), "rules") {
        let of_rule = items(Some(rule), "filters").map(|filter| (None, filter));
        let of_backends = items(Some(rule), "backendRefs").flat_map(|(backend, holder)| {
            items(Some(holder), "filters").map(move |filter| (Some(backend), filter))
        });
        for (backend, (filter_at, filter)) in of_rule.chain(of_backends) {
            let Some(named) = filter.get("extensionRef") else {
                continue;
            };
            let text = |name: &str| named.get(name).and_then(Value::as_str);
            let Some(kind) = text("kind").filter(|kind| kind.ends_with("Policy")) else {
                continue;
            };
            let name = text("name").unwrap_or_default();
            let backend = backend.map_or_else(String::new, |at| format!("/backendRefs/{at}"));
            let pointer = format!("/spec/rules/{rule_at}{backend}/filters/{filter_at}/extensionRef");
            findings.push(
                route.finding(
                    Code::POLICY_NOT_EVALUATED,
                    &pointer,
                    format!(
                        "names {kind} {name} as a filter, so the reports about this rule leave that policy out"
                    ),
                )
                .label("takes precedence over all policies that target the rule")
                .help(format!("name the route and the rule in `targetRefs` of {kind} {name}, and remove the filter")),
            );
        }
    }
}

/// Targets that are below where the paths of the kind end: its CRD takes them, and their result is not known here.
fn beyond(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let (policy, profile) = (attachments.policy(id), attachments.profile(id));
    let deepest = profile.ends.iter().max();
    if profile.of_workloads || deepest.is_none_or(|deepest| *deepest >= Level::Backend) {
        return;
    }
    let is_backend = |node: &Node| matches!(node, Node::Backend(_) | Node::Port(..));
    for (declared, node) in policy.attached().filter(|(_, node)| is_backend(node)) {
        findings.push(
            policy.object.finding(
                Code::POLICY_NOT_EVALUATED,
                &declared.pointer,
                format!(
                    "targets {}: its effect there is not evaluated, so the reports about paths to it leave the policy out",
                    attachments.topology.described(node)
                ),
            )
            .label("a target that is not evaluated")
            .help("target the routes that lead there, or check on a cluster what takes effect"),
        );
    }
}

/// A policy that its controller refuses where it is attached, though the API server takes it.
fn refused(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let policy = attachments.policy(id);
    let is_there = policy.invalid.is_none() && policy.inadmissible.is_none();
    let controller = match attachments.profile(id).status {
        StatusShape::EnvoyGateway if is_there => "Envoy Gateway",
        StatusShape::Kgateway if is_there => "kgateway",
        _ => return,
    };
    let mut said = BTreeSet::new();
    for (declared, node) in policy.attached() {
        let Some(rejection) = rejection(attachments, id, node, MOST_NAMED) else {
            continue;
        };
        let pointer = rejection.pointer.as_ref().unwrap_or(&declared.pointer);
        if !said.insert(pointer.to_owned()) {
            continue;
        }
        let severity = if rejection.pointer.is_some() {
            Severity::Error
        } else {
            Severity::Warning
        };
        let there = attachments.topology.described(rejection.at.unwrap_or(node));
        let message = format!(
            "{controller} refuses {} on {there}: {}",
            policy.object.identity(),
            rejection.message.trim_end_matches('.')
        );
        findings.push(
            Finding::new(Code::POLICY_INVALID, policy.object.place(pointer), message)
                .severity(severity)
                .label("no setting of the policy takes effect there")
                .help(rejection.help),
        );
    }
}

/// A target that nothing leads to. A Gateway without routes is not one, because its routes may live on spokes.
fn unreachable(attachments: &Attachments<'_>, id: PolicyId, findings: &mut Findings) {
    let policy = attachments.policy(id);
    for (declared, node) in policy.attached() {
        if attachments.starts_of(id, node).is_empty() {
            findings.push(no_path(attachments, policy, declared, node));
        }
    }
}

/// A target that no Gateway leads to.
pub fn no_path(
    attachments: &Attachments<'_>,
    policy: &Policy<'_>,
    declared: &Declared,
    node: Node,
) -> Finding {
    let finding = policy.object.finding(
        Code::POLICY_UNREACHABLE,
        &declared.pointer,
        format!("targets {}, which no Gateway of the input leads to", attachments.topology.described(node)),
    )
    .label("on no path from a Gateway")
    .help(match node {
        Node::Class(_) | Node::Namespace(_) => "target a class or a namespace that has Gateways or routes",
        Node::Backend(_) | Node::Port(..) => {
            "if a route leads there, check its `backendRefs`; otherwise keep the policy on the spokes, where its target is"
        }
        _ => "check `parentRefs` of the route, and `hostname` and `allowedRoutes` of the listeners",
    });
    let causes = attachments.topology.unreachable_at(node).into_iter();
    causes.fold(finding, Finding::follows_from)
}

fn wholly_overridden(
    attachments: &Attachments<'_>,
    everywhere: &Everywhere<'_>,
    id: PolicyId,
    findings: &mut Findings,
) {
    let policy = attachments.policy(id);
    let mut total = Tally::default();
    for fate in &everywhere.fates {
        total.add(&fate.total());
    }
    let own = policy.nodes();
    let elsewhere = total.by.values().any(|winner| {
        if winner.local {
            return winner.rules.iter().any(|rule| *rule != Rule::SpokeLocal);
        }
        let known = attachments.find(&winner.object.identity());
        let nodes = known.map(|winner| attachments.policy(winner).nodes());
        nodes.is_some_and(|nodes| nodes.is_disjoint(&own))
    });
    // Policies with one target are already reported as such.
    if !elsewhere {
        return;
    }
    let name = policy.object.identity();
    let message = format!("no setting of {name} is in effect anywhere");
    let place = policy.object.place(policy.pointer());
    let mut finding = Finding::new(Code::POLICY_OVERRIDDEN, place, message)
        .label("overridden as a whole")
        .help("remove the policy, or ask the owner of the other one");
    for winner in total.by.values() {
        finding = finding.related(winner.object.place("/spec"), "in effect instead");
        for rule in &winner.rules {
            finding = finding.note(format!(
                "{} wins because {} ({})",
                winner.object.identity(),
                rule.because(),
                rule.name()
            ));
        }
    }
    findings.push(finding);
}
