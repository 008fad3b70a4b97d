//! Policies that reach nobody: on a Gateway of ours, but of a kind that its class does not sync, or on a
//! Gateway that is placed nowhere.

use super::sync::syncs;
use crate::api::gateway::GROUP;
use crate::api::policy::{TargetRef, target_refs};
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Hub, Ours};
use crate::object::Object;

/// Reports policies that target a Gateway of ours whose class does not ask for their kind.
pub fn report_unsynced(hub: &Hub, ours: &Ours<'_>, findings: &mut Findings) {
    for (object, target, gateway) in attached(hub, ours) {
        if syncs(ours, gateway, &object.api_version.group, &object.kind) {
            continue;
        }
        let Some(placed) = ours.gateways.get(gateway) else {
            continue;
        };
        let class = placed.gateway.class_name;
        let plural = hub.kinds.kind(&object.api_version.group, &object.kind);
        let plural = plural.map(|kind| kind.plural.to_string()).unwrap_or_default();
        findings.push(
            Finding::new(
                Code::POLICY_NOT_SYNCED,
                object.place(&target.pointer),
                format!("{} is not synced: its kind is not in the parameters of its class", object.identity()),
            )
            .label(format!("{} has the class `{class}`", placed.gateway.object.identity()))
            .help(format!(
                "add {{\"group\": \"{}\", \"version\": \"{}\", \"resource\": \"{plural}\"}} to `policiesToSync` of `{class}`",
                object.api_version.group, object.api_version.version
            )),
        );
    }
}

/// Reports policies of synced kinds whose Gateways no cluster receives. `placed` says which Gateways of
/// [`Ours::gateways`] go anywhere.
pub fn report_unused(hub: &Hub, ours: &Ours<'_>, placed: &[bool], findings: &mut Findings) {
    let mut reached: std::collections::BTreeMap<_, (bool, &Object, String)> =
        std::collections::BTreeMap::new();
    for (object, target, gateway) in attached(hub, ours) {
        if syncs(ours, gateway, &object.api_version.group, &object.kind) {
            let entry = reached
                .entry(object.identity())
                .or_insert((false, object, target.pointer));
            entry.0 |= placed.get(gateway).copied().unwrap_or(false);
        }
    }
    for (identity, (reaches, object, pointer)) in reached {
        if !reaches {
            findings.push(
                Finding::new(
                    Code::POLICY_UNUSED,
                    object.place(&pointer),
                    format!("{identity} reaches no cluster: nothing that it targets is placed"),
                )
                .label("placed nowhere")
                .help("place the Gateway, or remove the policy"),
            );
        }
    }
}

/// Every policy of a known kind with each of its targets that is a Gateway of ours.
fn attached<'a>(hub: &'a Hub, ours: &Ours<'a>) -> Vec<(&'a Object, TargetRef<'a>, usize)> {
    let mut attached = Vec::new();
    for kind in hub.objects.group_kinds() {
        if !hub
            .kinds
            .kind(&kind.group, &kind.kind)
            .is_some_and(crate::hub::kinds::KindInfo::is_policy)
        {
            continue;
        }
        for object in hub.objects.of_kind(&kind.group, &kind.kind) {
            // What is wrong with a reference is said where the kind is synced.
            for target in target_refs(object, &mut Findings::new()) {
                if (target.group, target.kind) == (GROUP, "Gateway") {
                    let namespace = target.namespace.unwrap_or_else(|| object.namespace_or_empty());
                    if let Some(gateway) = ours.gateway(namespace, target.name) {
                        attached.push((object, target, gateway));
                    }
                }
            }
        }
    }
    attached
}
