//! Policies of one kind on one target: which are synced, which give way, and how several are merged into one object, or two;
//! and whether they merge to the same result in whatever order they are created.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::{Value, json};

use crate::diagnostic::broken;
use crate::hub::RowId as _;
use crate::policy::{
    Attachments, Composed, Content, Dictates, Entry, KindId, Layer, Leaf, MergeUnit, PolicyId, Precedence,
    Profile, Rule, SameTarget, Side, Strategy, defines, disagree, merge, one_level, read_settings, rewritten,
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
        let mut entries = entries.iter();
        entries.find_map(|entry| Some((entry, own(entry, side).filter(|layer| merges(layer) == patch)?)))
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
            fallback,
        } => {
            if let Some((policy, settings)) = fallback {
                let is_alone = defaults.is_empty() && overrides.is_empty();
                let mut entries = entries.iter().filter(|_| is_alone);
                let name_giver = entries.find(|entry| entry.policy == *policy)?;
                return alone(name_giver, own(name_giver, Side::Defaults)?, settings);
            }
            (defaults.clone(), overrides.clone())
        }
    };
    let mut left = defaults.clone();
    left.retain(|key, _| !defines(&overrides, key));
    // No controller accepts a policy without settings of its kind.
    if left.is_empty() || left.values().any(|leaf| leaf.essential) {
        defaults = left;
    }
    let sides = [(Side::Defaults, &defaults), (Side::Overrides, &overrides)];
    let layers = sides.into_iter().filter_map(|(side, settings)| {
        let (name_giver, layer) = oldest(side, true).filter(|_| !settings.is_empty())?;
        Some((name_giver, with_content(layer, settings)))
    });
    let layers: Vec<(&Entry, Layer)> = layers.collect();
    let objects = match layers.as_slice() {
        [] => vec![(entries.first()?, Vec::new())],
        [(one, under), (other, over)] if one.policy == other.policy => {
            vec![(*one, vec![under.clone(), over.clone()])]
        }
        _ => layers
            .into_iter()
            .map(|(one, layer)| (one, vec![layer]))
            .collect(),
    };
    let objects = objects.into_iter().map(|(name_giver, layers)| {
        let settings = |side: Side| {
            let layer = layers.iter().find(|layer| layer.side == side);
            layer.map_or_else(Content::new, |layer| Content::clone(&layer.content))
        };
        let composed = Composed::Depends {
            defaults: settings(Side::Defaults),
            overrides: settings(Side::Overrides),
            fallback: None,
        };
        object(name_giver, &composed, layers)
    });
    Some(objects.collect())
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
        let sides = sides.filter(|(_, strategy, content)| !strategy.merges() || !content.is_empty());
        sides.collect()
    };
    let together = levels(entries);
    let oldest = entries.first()?;
    let first = oldest.layers.first();
    let merges = first.map_or(profile.strategy, |layer| layer.strategy).merges();
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
    let as_written = |entry: &Entry| as_written(attachments, entry.policy, node);
    let all = || entries.iter().map(as_written);
    // The copies of two policies are created on a spoke within one second, in an order that nobody chose. Whatever
    // would depend on that order is decided here. docs/systems/why-we-differ.md#policies-on-one-target
    match profile.same_target {
        SameTarget::AddUp | SameTarget::Unknown => resolution.synced = all().collect(),
        // Its routes answer with an error, which must not end because it has no settings.
        SameTarget::Merge if !placed.refused.is_empty() => resolution.synced = all().collect(),
        SameTarget::Reject => {
            resolution.synced.push(as_written(first));
            for loser in &placed.rejected {
                resolution.displace(attachments, *loser, first.policy);
            }
        }
        SameTarget::PerField => match disagreeing(profile, entries) {
            // Regardless of which is created first, policies that set nothing twice apply together.
            None => {
                resolution.synced = all().collect();
                for loser in &placed.rejected {
                    let by = attachments.conflicted_by(*loser, node).unwrap_or(first.policy);
                    resolution.displace(attachments, *loser, by);
                }
            }
            pair => resolution.undecided = pair,
        },
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
    let meant = entries.iter();
    let meant = meant.map(|entry| Entry::new(entry.policy, authored(attachments, &entry.layers)));
    let meant: Vec<Entry> = meant.collect();
    let merged = || {
        let shipped = shipped(profile, entries)?.into_iter();
        let synced = shipped.map(|shipped| synced(attachments, profile, &shipped, node));
        let synced: Vec<SyncedPolicy> = synced.collect();
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
    // The newest first, so that of two equal ones the older stays.
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
        let settings = layers.iter().flat_map(|layer| layer.content.iter());
        let settings = settings.map(|(setting, leaf)| (Arc::clone(setting), leaf.policy));
        synced.spec = SyncedSpec::Rewritten {
            spec: Box::new(rewritten(spec, profile, &layers)),
            settings: settings.collect(),
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

/// A setting of a more specific policy that no policy of the node has.
pub(super) const FOREIGN: &str = "/set elsewhere";

/// A setting of a less specific policy that no policy of the node has.
pub(super) const ABOVE: &str = "/set above";

/// So many policies are compared in every order; more have too many orders.
const FEW: usize = 4;

/// The result of a node for each of some challengers.
type Outcomes = Vec<BTreeMap<Arc<str>, Arc<Value>>>;

/// Whether `shipped` and `locals` have the same result as `meant` and `locals`, in any order of creation. Between the
/// meant and the local ones, the meant ones are established.
pub(super) fn is_order_independent(
    profile: &Profile,
    meant: &[Entry],
    shipped: &[Entry],
    locals: &[Entry],
) -> bool {
    // A setting that only one of them has may be what tells two results apart.
    let everybody: Vec<&Entry> = meant.iter().chain(shipped).chain(locals).collect();
    let probes = probes(profile, &everybody);
    let together: Vec<&Entry> = shipped.iter().chain(locals).collect();
    orders(together.len()).into_iter().all(|order| {
        let created = order.iter().filter_map(|at| together.get(*at).copied().cloned());
        let created: Vec<Entry> = created.collect();
        let local = order.iter().filter_map(|at| at.checked_sub(shipped.len()));
        let local = local.filter_map(|at| locals.get(at));
        let wanted: Vec<Entry> = meant.iter().chain(local).cloned().collect();
        outcomes(profile, &wanted, &probes) == outcomes(profile, &created, &probes)
    })
}

/// Whether it is all the same which of some policies is created first.
pub(super) fn commute(profile: &Profile, entries: &[Entry]) -> bool {
    if entries.len() <= FEW {
        return is_order_independent(profile, entries, entries, &[]);
    }
    // Policies any two of which may change places may be in any order.
    pairs(entries).all(|pair| is_order_independent(profile, &pair, &pair, &[]))
}

/// Every two of some policies, the older one first.
pub(super) fn pairs<T: Clone>(entries: &[T]) -> impl Iterator<Item = [T; 2]> {
    entries.iter().enumerate().flat_map(|(at, one)| {
        let newer = entries.iter().skip(at.saturating_add(1));
        newer.map(move |other| [one.clone(), other.clone()])
    })
}

fn outcomes(profile: &Profile, entries: &[Entry], probes: &[Content]) -> Outcomes {
    let values = |content: Content| {
        // A null that has nothing to delete is no setting.
        let leaves = content.into_iter().filter(|(_, leaf)| !leaf.value.is_null());
        // Which policy a value comes from differs between the two sides by design; only values count.
        leaves.map(|(key, leaf)| (key, leaf.value)).collect()
    };
    let results = probes.iter().map(|probe| values(merged(profile, entries, probe)));
    results.collect()
}

/// The result of the policies of one node for a challenger, the settings of a more specific policy.
pub(super) fn merged(profile: &Profile, entries: &[Entry], challenger: &Content) -> Content {
    let level = |content: Content| {
        let layer = Layer {
            side: Side::Defaults,
            strategy: Strategy::Atomic,
            content: Arc::new(content),
            base: "/spec",
        };
        Entry::new(another(), [layer])
    };
    // Where the more specific policy dictates, one of the node decides whether less specific ones count.
    let dictates = profile.dictates == Dictates::Challenger;
    let above = dictates.then(|| level(content(vec![(ABOVE, true)])));
    // An empty challenger would replace the others where it dictates, so none is used.
    let challenger = (!challenger.is_empty()).then(|| level(challenger.clone()));
    let entries = match profile.same_target {
        SameTarget::Reject => entries.get(..1).unwrap_or_default(),
        SameTarget::Merge | SameTarget::PerField | SameTarget::AddUp | SameTarget::Unknown => entries,
    };
    let levels = [above.as_slice(), entries, challenger.as_slice()];
    Arc::unwrap_or_clone(merge(profile, &levels, &|_| Arc::from("")))
}

/// Challengers that distinguish functions of policies: none, one with another setting, and others. Merging looks at
/// whether there is a challenger and, setting by setting, at whether it makes it; at fields, also at what is above, below
/// and beside them. A policy that has no setting that its kind is about is none (docs/systems/kuadrant.md#empty-policies).
pub(super) fn probes(profile: &Profile, entries: &[&Entry]) -> Vec<Content> {
    let layers = entries.iter().flat_map(|entry| entry.layers.iter());
    let leaves = layers.flat_map(|layer| layer.content.iter());
    let keys: BTreeMap<&str, bool> = leaves.map(|(key, leaf)| (key.as_ref(), leaf.essential)).collect();
    let mut probes = vec![Content::new(), another_setting()];
    if matches!(profile.unit, MergeUnit::Rules(_) | MergeUnit::Fields(_)) {
        probes.push(content(keys.into_iter().chain([(FOREIGN, true)]).collect()));
        return probes;
    }
    let mut fields: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for key in keys.keys() {
        let slashes = key.match_indices('/').skip(1).map(|(at, _)| at);
        let ends = slashes.chain([key.len()]);
        let top = ends.clone().find_map(|at| key.get(..at)).unwrap_or(key);
        let there = fields.entry(top).or_default();
        for above in ends.filter_map(|at| key.get(..at)) {
            there.insert(above.to_owned());
            there.insert(format!("{above}{FOREIGN}"));
        }
    }
    // Fields below different ones of the spec do not meet, so that one challenger probes one of each.
    let mut fields: Vec<_> = fields.into_values().map(BTreeSet::into_iter).collect();
    loop {
        let next: Vec<String> = fields.iter_mut().filter_map(Iterator::next).collect();
        if next.is_empty() {
            return probes;
        }
        probes.push(content(next.iter().map(|field| (field.as_str(), true)).collect()));
    }
}

/// The policies on the levels around the node.
pub(super) fn another() -> PolicyId {
    PolicyId::from_row(u32::MAX)
}

/// A more specific policy with a setting that no policy of the node has.
pub(super) fn another_setting() -> Content {
    content(vec![(FOREIGN, true)])
}

/// Settings that no policy has in this form.
fn content(keys: Vec<(&str, bool)>) -> Content {
    let leaves = keys.into_iter().map(|(key, essential)| {
        let key: Arc<str> = Arc::from(key);
        let leaf = Leaf {
            value: Arc::new(json!("set elsewhere")),
            at: Arc::clone(&key),
            base: "/spec",
            policy: another(),
            element: None,
            essential,
        };
        (key, leaf)
    });
    leaves.collect()
}

/// Every order of so many policies; of more than a few only the given one and its reverse.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let given: Vec<usize> = (0..count).collect();
    // Five policies have 120 orders, and each is a merge for every probe.
    if count > FEW {
        let back = given.iter().rev().copied().collect();
        return vec![given, back];
    }
    let mut orders = vec![Vec::new()];
    for next in given {
        let longer = orders.iter().flat_map(|order: &Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, next);
                longer
            })
        });
        orders = longer.collect();
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_up_to_four_policies_every_order_counts_and_of_more_the_given_one_and_its_reverse() {
        for (count, expected) in [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24)] {
            let orders: std::collections::BTreeSet<Vec<usize>> = orders(count).into_iter().collect();
            assert_eq!(orders.len(), expected, "{count}");
        }
        assert_eq!(orders(5), [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]);
    }
}
