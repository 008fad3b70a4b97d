//! Policies with a version other than the one that their class syncs.
//!
//! Owns: this finding. Flows in: attachments, our Gateways, the table of kinds. Flows out: findings.
//! Must not know: clusters, works.

use super::synced_kinds::SyncedKinds;
use crate::api::params::SyncedResource;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Hub, OurGateway, Ours, unknown_version};
use crate::policy::{Attachments, Policy};
use crate::topology::Node;
use apimachinery::ApiVersion;

/// Reports policies that would be shipped in another version than `policiesToSync` names: a work carries a policy as it
/// is written, and the versions of a policy kind may differ in more than their name, so it would be unknown what the
/// agent applies and whether the class's feedback finds it. Routes are not asked for this: their versions
/// differ in the name alone (docs/systems/gateway-api.md#kinds-and-versions).
pub fn report_other_versions(
    attachments: &Attachments<'_>,
    kinds: &SyncedKinds,
    hub: &Hub,
    ours: &Ours<'_>,
    findings: &mut Findings,
) {
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
            .filter_map(|gateway| kinds.gateway(Node::Gateway(gateway)))
            .map(|gateway| ours.gateways.get(gateway))
            .collect();
        let entries = gateways.iter().filter_map(|ours| {
            let entry = ours.params.synced_policy(group, &policy.object.kind)?;
            Some((entry, ours.gateway.class_name))
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
        version: entry.version.clone(),
    };
    let fix = format!("write `apiVersion: {wanted}`");
    Finding::new(
        Code::POLICY_OTHER_VERSION,
        object.place("/apiVersion"),
        format!(
            "{} has version {version}, but its class syncs {}",
            object.identity(),
            entry.version
        ),
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
