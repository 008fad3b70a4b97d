//! Merges several policies on one target into one object, or two: which policy gives each its name, and its spec.
//!
//! Owns: the mergeable half of the same-target rule (docs/systems/why-we-differ.md#policies-on-one-target).
//! Flows in: the policies of one node. Flows out: objects with the same effect in any order of creation.
//! Must not know: clusters.

use std::sync::Arc;

use kube_json::Value;

use crate::diagnostic::broken;
use crate::policy::{
    Attachments, Composed, Content, Entry, Layer, Leaf, Precedence, Profile, Side, Strategy, defines,
    one_level, rewritten,
};

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
        let alone = Composed::of(profile, std::slice::from_ref(name_giver));
        Shipped {
            name_giver,
            instead: (alone.as_ref() != Some(composed)).then_some(layers),
        }
    };
    let composed = Composed::of(profile, entries)?;
    let (mut defaults, overrides) = match &composed {
        Composed::Always(settings) => {
            let (name_giver, layer) = oldest(Side::Overrides, false)?;
            let layers = vec![with_content(layer, settings)];
            return Some(vec![object(name_giver, &composed, layers)]);
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
            let layer = own(name_giver, Side::Defaults)?;
            let layers = vec![with_content(layer, settings)];
            return Some(vec![object(name_giver, &composed, layers)]);
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

/// The name-giver's spec with these settings, which are [`authored`].
pub(super) fn merged_spec(
    attachments: &Attachments<'_>,
    profile: &Profile,
    name_giver: &Entry,
    layers: &[Layer],
) -> Value {
    let object = attachments.policy(name_giver.policy).object;
    let Some(spec) = object.value.get("spec") else {
        broken(format_args!("{} merges and has no spec", object.identity()))
    };
    rewritten(spec, profile, layers)
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
