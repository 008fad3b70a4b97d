//! Policies of one kind on one target: which are synced, which give way, and how several are merged into one object, or two.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::Value;

use super::order_independence::{commute, is_order_independent, pairs};
use crate::diagnostic::broken;
use crate::policy::{
    Attachments, Composed, Content, Entry, KindId, Layer, Leaf, PolicyId, Precedence, Profile, Rule,
    SameTarget, Side, Strategy, defines, disagree, one_level, read_settings, rewritten,
};
use crate::topology::Node;

/// An object to ship: the policy whose name it has, and its settings where they are not that policy's own.
pub(super) struct Shipped<'e> {
    /// The policy whose name it has.
    pub(super) name_giver: &'e Entry,
    /// Other settings than it has alone, by wrapper.
    pub(super) instead: Option<Vec<Layer>>,
}

/// The objects that mergeable policies are shipped as; `None`: no objects of the kind can express their result.
pub(crate) fn shipped<'e>(profile: &Profile, entries: &'e [Entry]) -> Option<Vec<Shipped<'e>>> {
    match profile.precedence {
        Precedence::EstablishedChallenger => established_challenger(profile, entries),
        Precedence::OldestWins => oldest_wins(profile, entries).map(|shipped| vec![shipped]),
    }
}

/// Patches of other settings have the same result in any order, and so do patching defaults and patching overrides.
/// Settings that apply or give way as a whole must be alone.
fn established_challenger<'e>(profile: &Profile, entries: &'e [Entry]) -> Option<Vec<Shipped<'e>>> {
    let own = |entry: &Entry, side: Side| entry.layers.iter().find(|layer| layer.side == side).cloned();
    let merges = |layer: &Layer| layer.strategy.merges();
    let oldest = |side: Side, patch: bool| {
        entries
            .iter()
            .find_map(|entry| Some((entry, own(entry, side).filter(|layer| merges(layer) == patch)?)))
    };
    // A policy that has the same result by itself stays as it is written.
    let object = |name_giver: &'e Entry, composed: &Composed, layers: Vec<Layer>| {
        let alone = Composed::new(profile, std::slice::from_ref(name_giver));
        Shipped {
            name_giver,
            instead: (alone.as_ref() != Some(composed)).then_some(layers),
        }
    };
    let composed = Composed::new(profile, entries)?;
    let alone = |name_giver: &'e Entry, layer: Layer, settings: &Content| {
        let layers = vec![with_content(layer, settings)];
        Some(vec![object(name_giver, &composed, layers)])
    };
    let (mut defaults, overrides) = match &composed {
        Composed::Always(settings) => {
            let (name_giver, layer) = oldest(Side::Overrides, false)?;
            return alone(name_giver, layer, settings);
        }
        Composed::Depends {
            defaults,
            overrides,
            fallback: Some((policy, settings)),
        } => {
            if !defaults.is_empty() || !overrides.is_empty() {
                return None;
            }
            let name_giver = entries.iter().find(|entry| entry.policy == *policy)?;
            return alone(name_giver, own(name_giver, Side::Defaults)?, settings);
        }
        Composed::Depends {
            defaults,
            overrides,
            fallback: None,
        } => (defaults.clone(), overrides.clone()),
    };
    let left: Content = defaults
        .iter()
        .filter(|(key, _)| !defines(&overrides, key))
        .map(|(key, leaf)| (Arc::clone(key), leaf.clone()))
        .collect();
    // No controller accepts a policy without settings of its kind.
    if left.is_empty() || left.values().any(|leaf| leaf.essential) {
        defaults = left;
    }
    let depends = |defaults: &Content, overrides: &Content| Composed::Depends {
        defaults: defaults.clone(),
        overrides: overrides.clone(),
        fallback: None,
    };
    let nothing = Content::new();
    let under = oldest(Side::Defaults, true).filter(|_| !defaults.is_empty());
    let over = oldest(Side::Overrides, true).filter(|_| !overrides.is_empty());
    Some(match (under, over) {
        (Some((one, under)), Some((other, over))) if one.policy == other.policy => {
            let layers = vec![with_content(under, &defaults), with_content(over, &overrides)];
            vec![object(one, &depends(&defaults, &overrides), layers)]
        }
        (None, None) => {
            let name_giver = entries.first()?;
            vec![object(name_giver, &depends(&nothing, &nothing), Vec::new())]
        }
        (under, over) => {
            let under = under.map(|(name_giver, layer)| {
                let layers = vec![with_content(layer, &defaults)];
                object(name_giver, &depends(&defaults, &nothing), layers)
            });
            let over = over.map(|(name_giver, layer)| {
                let layers = vec![with_content(layer, &overrides)];
                object(name_giver, &depends(&nothing, &overrides), layers)
            });
            under.into_iter().chain(over).collect()
        }
    })
}

/// Where the oldest wins, overrides go before defaults and both may be in one object, each with the strategy of the
/// oldest policy that has them. The oldest gives its name where its strategy merges, else the oldest that anything is
/// left of.
fn oldest_wins<'e>(profile: &Profile, entries: &'e [Entry]) -> Option<Shipped<'e>> {
    let levels = |entries: &[Entry]| -> Vec<(Side, Strategy, Content)> {
        let sides = [Side::Defaults, Side::Overrides].into_iter();
        let sides = sides.filter_map(|side| {
            let (strategy, content) = one_level(&profile.unit, entries, side)?;
            Some((side, strategy, content))
        });
        // An empty patch changes nothing.
        sides
            .filter(|(_, strategy, content)| !strategy.merges() || !content.is_empty())
            .collect()
    };
    let together = levels(entries);
    let oldest = entries.first()?;
    let merges = oldest
        .layers
        .first()
        .map_or(profile.strategy, |layer| layer.strategy)
        .merges();
    let holds = |entry: &&Entry| {
        let mut leaves = together.iter().flat_map(|(_, _, content)| content.values());
        leaves.any(|leaf| leaf.policy == entry.policy)
    };
    let name_giver = match entries.iter().find(holds) {
        Some(left) if !merges => left,
        _ => oldest,
    };
    if levels(std::slice::from_ref(name_giver)) == together {
        return Some(Shipped {
            name_giver,
            instead: None,
        });
    }
    let mut layers = Vec::new();
    for (side, strategy, content) in &together {
        let of = |entry: &'e Entry| entry.layers.iter().find(|layer| layer.side == *side);
        let oldest = entries.iter().find_map(of)?;
        let base = match of(name_giver) {
            // Without a wrapper, empty settings would not be there at all.
            Some(own) if own.base == "/spec" && content.is_empty() => "/spec/defaults",
            Some(own) => own.base,
            // A strategy next to bare settings would apply to overrides, too.
            None if oldest.base == "/spec" && *strategy != profile.strategy => "/spec/defaults",
            None => oldest.base,
        };
        layers.push(Layer {
            side: *side,
            strategy: *strategy,
            content: Arc::new(content.clone()),
            base,
        });
    }
    Some(Shipped {
        name_giver,
        instead: Some(layers),
    })
}

fn with_content(layer: Layer, content: &Content) -> Layer {
    Layer {
        content: Arc::new(content.clone()),
        ..layer
    }
}

/// Settings as their authors wrote them: without the defaults of a schema.
pub(super) fn authored(attachments: &Attachments<'_>, layers: &[Layer]) -> Vec<Layer> {
    let leaf_of = |leaf: &Leaf| {
        let object = attachments.policy(leaf.policy).object;
        let value = object.value.pointer(&leaf.source_pointer())?;
        Some(Leaf {
            value: Arc::new(value.clone()),
            ..leaf.clone()
        })
    };
    let layers = layers.iter().map(|layer| {
        let leaves = layer.content.iter();
        let leaves = leaves.filter_map(|(key, leaf)| Some((Arc::clone(key), leaf_of(leaf)?)));
        Layer {
            content: Arc::new(leaves.collect()),
            ..layer.clone()
        }
    });
    layers.collect()
}

/// What happens to the policies of one kind on one node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Resolution {
    /// The synced policies: one policy, one with defaults and one with overrides, or all of a kind that adds up.
    pub(crate) synced: Vec<SyncedPolicy>,
    /// The policies that give way.
    pub(crate) displaced: Vec<Displaced>,
    /// Two whose outcome nothing that is synced could have whichever is created first: so nothing is.
    pub(super) undecided: Option<[PolicyId; 2]>,
}

/// A policy that is synced for one target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SyncedPolicy {
    /// The policy whose name, labels and wrapper the object has.
    pub(crate) policy: PolicyId,
    /// Pointers of its references to this target: `/spec/targetRefs/0`.
    pub(super) references: Vec<String>,
    /// Its spec.
    pub(crate) spec: SyncedSpec,
}

/// The spec of a synced policy. Target references are the author's; rendering points them at the
/// downstream Gateway.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SyncedSpec {
    /// As the author wrote it.
    AsWritten,
    /// With other settings.
    Rewritten {
        /// The whole spec.
        spec: Box<Value>,
        /// Of a merged policy: which one each setting comes from, by rule id or JSON pointer.
        settings: BTreeMap<Arc<str>, PolicyId>,
    },
}

/// A policy that gives way to another one of the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Displaced {
    /// The policy.
    pub(crate) policy: PolicyId,
    /// The policy that overrides it.
    pub(super) by: PolicyId,
    /// The rule that decided.
    pub(crate) rule: Rule,
}

/// What happens to the policies of one kind on one node, where nothing lives on the cluster; `None`: there is none.
pub(crate) fn resolve(attachments: &Attachments<'_>, kind: KindId, node: Node) -> Option<Resolution> {
    let known = attachments.kinds.get(kind);
    let placed = known.nodes.get(&node)?;
    let profile = known.profile.as_ref();
    let entries = placed.accepted.as_slice();
    let first = entries.first()?;
    let mut resolution = Resolution::default();
    let all = || {
        entries
            .iter()
            .map(|entry| as_written(attachments, entry.policy, node))
    };
    // The copies of two policies are created on a spoke within one second, in an order that nobody chose. Whatever
    // would depend on that order is decided here. docs/systems/why-we-differ.md#policies-on-one-target
    match profile.same_target {
        SameTarget::AddUp | SameTarget::Unknown => resolution.synced = all().collect(),
        // Its routes answer with an error, which must not end because it has no settings.
        SameTarget::Merge if !placed.refused.is_empty() => resolution.synced = all().collect(),
        SameTarget::Reject => {
            resolution
                .synced
                .push(as_written(attachments, first.policy, node));
            for loser in &placed.rejected {
                resolution.displace(attachments, *loser, first.policy);
            }
        }
        // Regardless of which is created first, policies that set nothing twice apply together.
        SameTarget::PerField if disagreeing(profile, entries).is_some() => {
            resolution.undecided = disagreeing(profile, entries);
        }
        SameTarget::PerField => {
            resolution.synced = all().collect();
            for loser in &placed.rejected {
                let by = attachments.conflicted_by(*loser, node).unwrap_or(first.policy);
                resolution.displace(attachments, *loser, by);
            }
        }
        SameTarget::Merge => match one_meaning(attachments, profile, entries, node) {
            Some(synced) => {
                resolution.synced = synced;
                let sources: BTreeSet<PolicyId> =
                    resolution.synced.iter().flat_map(SyncedPolicy::sources).collect();
                for loser in entries.iter().filter(|entry| !sources.contains(&entry.policy)) {
                    let by = displacer(attachments, loser, &resolution.synced).unwrap_or(first.policy);
                    resolution.displace(attachments, loser.policy, by);
                }
            }
            None => resolution.undecided = undecided_pair(attachments, profile, entries, node),
        },
    }
    Some(resolution)
}

/// Two of the policies that add up, of which the older one's settings count.
fn disagreeing(profile: &Profile, entries: &[Entry]) -> Option<[PolicyId; 2]> {
    let [one, other] = pairs(entries).find(|[one, other]| disagree(profile, &one.layers, &other.layers))?;
    Some([one.policy, other.policy])
}

impl SyncedPolicy {
    /// The policies that its settings come from, and the one that lends its name; several: a merged policy.
    pub(crate) fn sources(&self) -> BTreeSet<PolicyId> {
        let settings = match &self.spec {
            SyncedSpec::AsWritten => None,
            SyncedSpec::Rewritten { settings, .. } => Some(settings.values().copied()),
        };
        settings.into_iter().flatten().chain([self.policy]).collect()
    }

    /// The policy as a controller reads the object; `None`: it would refuse it.
    pub(super) fn entry(&self, attachments: &Attachments<'_>) -> Option<Entry> {
        let layers = match &self.spec {
            SyncedSpec::AsWritten => authored(attachments, &attachments.policy(self.policy).layers),
            SyncedSpec::Rewritten { spec, .. } => {
                let read = read_settings(spec, attachments.profile(self.policy), self.policy);
                read.are_valid().then_some(read.layers)?
            }
        };
        Some(Entry::new(self.policy, layers))
    }
}

/// What policies that may merge are shipped as; `None`: whatever is shipped would mean something else than they do, or
/// would depend on the order of creation.
fn one_meaning(
    attachments: &Attachments<'_>,
    profile: &Profile,
    entries: &[Entry],
    node: Node,
) -> Option<Vec<SyncedPolicy>> {
    if let [only] = entries {
        return Some(vec![as_written(attachments, only.policy, node)]);
    }
    let meant: Vec<Entry> = entries
        .iter()
        .map(|entry| Entry::new(entry.policy, authored(attachments, &entry.layers)))
        .collect();
    let merged = || {
        let shipped = shipped(profile, entries)?.into_iter();
        let synced: Vec<SyncedPolicy> = shipped
            .map(|shipped| synced(attachments, profile, &shipped, node))
            .collect();
        let there: Option<Vec<Entry>> = synced.iter().map(|synced| synced.entry(attachments)).collect();
        is_order_independent(profile, &meant, &there?, &[]).then_some(synced)
    };
    merged().or_else(|| {
        let left = without_idle(profile, &meant)?.into_iter();
        Some(left.map(|policy| as_written(attachments, policy, node)).collect())
    })
}

/// Policies that come to the same in any order of creation, less those that change nothing, the newest first.
fn without_idle(profile: &Profile, entries: &[Entry]) -> Option<Vec<PolicyId>> {
    if !commute(profile, entries) {
        return None;
    }
    let mut left = entries.to_vec();
    for idle in entries.iter().rev().map(|entry| entry.policy) {
        let rest = left.iter().filter(|entry| entry.policy != idle);
        let rest: Vec<Entry> = rest.cloned().collect();
        if !rest.is_empty() && is_order_independent(profile, entries, &rest, &[]) {
            left = rest;
        }
    }
    Some(left.into_iter().map(|entry| entry.policy).collect())
}

fn synced(
    attachments: &Attachments<'_>,
    profile: &Profile,
    shipped: &Shipped<'_>,
    node: Node,
) -> SyncedPolicy {
    let name_giver = shipped.name_giver;
    let mut synced = as_written(attachments, name_giver.policy, node);
    if let Some(layers) = &shipped.instead {
        let object = attachments.policy(name_giver.policy).object;
        let Some(spec) = object.value.get("spec") else {
            broken(format_args!("{} merges and has no spec", object.identity()))
        };
        let layers = authored(attachments, layers);
        let settings: BTreeMap<Arc<str>, PolicyId> = layers
            .iter()
            .flat_map(|layer| layer.content.iter())
            .map(|(setting, leaf)| (Arc::clone(setting), leaf.policy))
            .collect();
        synced.spec = SyncedSpec::Rewritten {
            spec: Box::new(rewritten(spec, profile, &layers)),
            settings,
        };
    }
    synced
}

/// The first two that have no one meaning even without the others; else two whose order matters.
fn undecided_pair(
    attachments: &Attachments<'_>,
    profile: &Profile,
    entries: &[Entry],
    node: Node,
) -> Option<[PolicyId; 2]> {
    let [one, other] = pairs(entries)
        .find(|pair| one_meaning(attachments, profile, pair, node).is_none())
        .or_else(|| pairs(entries).find(|pair| !commute(profile, pair)))
        .or_else(|| Some([entries.first()?.clone(), entries.last()?.clone()]))?;
    Some([one.policy, other.policy])
}

impl Resolution {
    fn displace(&mut self, attachments: &Attachments<'_>, loser: PolicyId, winner: PolicyId) {
        self.displaced.push(Displaced {
            policy: loser,
            by: winner,
            rule: attachments.rule_on_one_node(winner, loser),
        });
    }
}

fn as_written(attachments: &Attachments<'_>, policy: PolicyId, node: Node) -> SyncedPolicy {
    let here = attachments.policy(policy).targets_at(node);
    let references: BTreeSet<String> = here.map(|declared| declared.pointer.clone()).collect();
    SyncedPolicy {
        policy,
        references: references.into_iter().collect(),
        spec: SyncedSpec::AsWritten,
    }
}

/// The policy whose value replaces the loser's: by name, else the one whose object is shipped.
fn displacer(attachments: &Attachments<'_>, loser: &Entry, synced: &[SyncedPolicy]) -> Option<PolicyId> {
    let keys = || loser.layers.iter().flat_map(|layer| layer.content.keys());
    let by_name = synced.iter().find_map(|synced| match &synced.spec {
        SyncedSpec::Rewritten { settings, .. } => keys().find_map(|key| settings.get(key)).copied(),
        SyncedSpec::AsWritten => {
            let layers = &attachments.policy(synced.policy).layers;
            let says = |key| layers.iter().any(|layer| layer.content.contains_key(key));
            keys().any(says).then_some(synced.policy)
        }
    });
    by_name.or_else(|| synced.first().map(|synced| synced.policy))
}
