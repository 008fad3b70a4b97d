//! Which kinds of the input are policies.
//!
//! Owns: discovering policy kinds (by their profile, by the label of their CRD, or because a class syncs them), and asking
//! their definitions about targets.
//! Flows in: objects, profiles, options. Flows out: profiles.
//! Must not know: the settings of a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::options::Options;
use super::profile::Profile;
use super::profiles::{Profiles, Written};
use crate::api::crd;
use crate::api::policy::target_kinds;
use crate::diagnostic::Findings;
use crate::hub::{Hub, Objects};
use crate::object::well_known::POLICY_LABEL;
use crate::topology::Sources;
use apimachinery::{GroupKind, Work};

/// Asks the definitions of the input which targets the policies that are there may name. Where that takes more work than a
/// run spends, none of them says anything.
pub fn learn_targets(profiles: &mut Profiles, hub: &Hub, findings: &mut Findings) {
    let definitions = || hub.objects.iter().filter(|object| crd::is_one(object));
    let work = Work::of_definitions(definitions().map(|object| &object.value));
    let mut crds: Vec<_> = hub.crds.iter().collect();
    crds.sort_by_key(|(kind, _)| *kind);
    for (kind, crd) in crds {
        let rooms = std::iter::once(&hub.objects).chain(hub.spokes.values());
        let policies = rooms.flat_map(|room| room.of_kind(&kind.group, &kind.kind));
        let mut written = Written::default();
        for policy in policies {
            written.versions.insert(policy.api_version.version.clone());
            written.kinds.extend(target_kinds(policy));
        }
        if !written.versions.is_empty() {
            profiles.learn(crd, &written, &work);
        }
        if work.is_spent() {
            profiles.unlearn();
            findings.extend(definitions().next().map(crd::too_much_work));
            return;
        }
    }
}

/// The policy kinds of the input with their profiles, sorted by group and kind.
pub(super) fn policy_kinds(sources: Sources<'_>, options: &Options<'_>) -> Vec<Arc<Profile>> {
    let built_in;
    let profiles = match options.profiles {
        Some(profiles) => profiles,
        None => {
            built_in = Profiles::built_in();
            &built_in
        }
    };
    let mut labelled: BTreeMap<GroupKind, String> = BTreeMap::new();
    let definition = ("apiextensions.k8s.io", "CustomResourceDefinition");
    let there = sources.of_kind(definition.0, definition.1);
    let of_hub = sources.hub_of_kind(definition.0, definition.1);
    for object in of_hub.chain(there.map(|(object, _)| object)) {
        let spec = object.root().get("spec");
        let (group, kind) = (spec.text("group"), spec.get("names").text("kind"));
        if let (Some(class), Some(group), Some(kind)) = (object.label(POLICY_LABEL), group, kind) {
            labelled.insert(GroupKind::new(group, kind), class.to_owned());
        }
    }
    for kind in options.kinds {
        labelled.entry(kind.clone()).or_insert_with(|| "true".to_owned());
    }
    let mut present: BTreeSet<GroupKind> = sources.objects.group_kinds().into_iter().collect();
    present.extend(sources.local.into_iter().flat_map(Objects::group_kinds));
    present
        .into_iter()
        .filter_map(|kind| {
            let objects = sources.of_kind(&kind.group, &kind.kind);
            let versions: BTreeSet<&str> = objects
                .map(|(object, _)| object.api_version.version.as_str())
                .collect();
            profiles.find(&kind, &versions, labelled.get(&kind).map(String::as_str))
        })
        .collect()
}
