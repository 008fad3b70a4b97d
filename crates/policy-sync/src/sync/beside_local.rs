//! The rest of a synced policy on a cluster with local policies of its kind on its target.
//!
//! Owns: removing the settings that local policies define from a synced spec
//! (docs/systems/policy-sync.md#local-policies-win).
//! Flows in: a synced policy, the local policies. Flows out: its spec there.
//! Must not know: which cluster it is, works.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;

use kube_json::Value;

use super::any_order::holds_in_any_order;
use super::local_policies::LocalPolicy;
use super::same_target::{SyncedPolicy, SyncedSpec};
use crate::policy::{
    Attachments, Entry, Layer, PolicyId, Precedence, Profile, SameTarget, disagree, meet, rewritten,
    without_rules_of,
};

/// The spec of a synced policy next to local ones; `None`: nothing of it is left, and it is withheld.
pub(super) fn beside_local(
    attachments: &Attachments<'_>,
    synced: &SyncedPolicy,
    locals: &[&LocalPolicy<'_>],
) -> Option<SyncedSpec> {
    let profile = attachments.profile(synced.policy);
    let layers = without_idle_layers(profile, synced.entry(attachments)?);
    let left = match profile.same_target {
        SameTarget::AddUp => return Some(synced.spec.clone()),
        SameTarget::Reject => return None,
        SameTarget::PerField => {
            let gives_way = locals.iter().any(|local| {
                let there = &local.entry.layers;
                meet(profile, there, &layers) || disagree(profile, there, &layers)
            });
            return (!gives_way).then(|| synced.spec.clone());
        }
        SameTarget::Merge | SameTarget::Unknown => {
            let entries: Vec<Entry> = locals.iter().map(|local| local.entry.clone()).collect();
            without_rules_of(profile, &layers, &entries)?
        }
    };
    // A spec that loses nothing stays as its author wrote it: taking it apart and putting it together may change its form.
    let untouched = left.len() == layers.len()
        && left
            .iter()
            .zip(layers.iter())
            .all(|(a, b)| a.content.len() == b.content.len());
    Some(if untouched {
        synced.spec.clone()
    } else {
        reduced(attachments, profile, synced, &left)
    })
}

/// The layers of a policy, less those without which it means the same whatever is above and below it: atomic defaults all
/// of whose settings its own overrides replace must not withhold those overrides.
fn without_idle_layers(profile: &Profile, policy: Entry) -> Arc<[Layer]> {
    // Where the oldest wins, the layers of each side count by themselves.
    if profile.precedence == Precedence::OldestWins {
        return policy.layers;
    }
    let mut left = policy.clone();
    for idle in policy.layers.iter() {
        let rest = left.layers.iter().filter(|layer| layer.side != idle.side);
        let rest = Entry {
            policy: policy.policy,
            layers: rest.cloned().collect(),
        };
        if holds_in_any_order(profile, slice::from_ref(&policy), slice::from_ref(&rest), &[]) {
            left = rest;
        }
    }
    left.layers
}

/// The spec with only the layers that are left.
fn reduced(
    attachments: &Attachments<'_>,
    profile: &Profile,
    synced: &SyncedPolicy,
    left: &[Layer],
) -> SyncedSpec {
    let (spec, mut settings) = match &synced.spec {
        SyncedSpec::AsWritten => {
            let object = attachments.policy(synced.policy).object;
            (object.value.get("spec").unwrap_or(&Value::Null), BTreeMap::new())
        }
        SyncedSpec::Rewritten { spec, settings, .. } => (spec.as_ref(), settings.clone()),
    };
    settings.retain(|setting, _| left.iter().any(|layer| layer.content.contains_key(setting)));
    // A policy all of whose settings local ones define is no source there; the name-giver always is.
    let sources: BTreeSet<PolicyId> = settings.values().copied().chain([synced.policy]).collect();
    let spec = rewritten(spec, profile, left);
    SyncedSpec::Rewritten {
        spec: Box::new(spec),
        sources: sources.into_iter().collect(),
        settings,
    }
}
