//! The policies of one node as a function of the challenger: the merged result of the more specific levels.
//!
//! Owns: the form of that function, where there is one.
//! Flows in: the policies of a node, established first. Flows out: [`Composed`].
//! Must not know: other nodes, objects, clusters.

use std::collections::BTreeMap;

use super::ids::PolicyId;
use super::layer::{Content, Entry, Layer, Side};
use super::merge_patch::{lay_under, patch};
use super::merge_strategies::is_empty;
use super::profile::{Dictates, MergeUnit, Profile, Strategy};

/// The result of the policies of one node over a challenger, by the right fold
/// (docs/systems/gep-713.md#merge-strategies).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Composed {
    /// These settings, regardless of the challenger.
    Always(Content),
    /// `defaults` under the challenger, `overrides` over it.
    Depends {
        /// The settings that the challenger may change.
        defaults: Content,
        /// The settings that it may not change.
        overrides: Content,
        /// The settings for an empty challenger: atomic defaults, and the policy that they come from.
        fallback: Option<(PolicyId, Content)>,
    },
}

impl Composed {
    /// Composes the policies of one node. `None` if no such form expresses their result.
    pub(crate) fn of(profile: &Profile, entries: &[Entry]) -> Option<Self> {
        // Whose strategy counts then depends on the policies below, which are no part of a function of their settings.
        if profile.dictates == Dictates::Challenger && entries.len() > 1 {
            return None;
        }
        let mut composed = Some(Self::Depends {
            defaults: Content::new(),
            overrides: Content::new(),
            fallback: None,
        });
        for entry in entries.iter().rev() {
            for layer in entry.layers.iter() {
                composed = Self::with(composed, entry.policy, layer, &profile.unit);
            }
        }
        composed.map(|composed| composed.without_idle_fallback(&profile.unit))
    }

    /// The same without a fallback all of whose settings others have anyway.
    fn without_idle_fallback(mut self, unit: &MergeUnit) -> Self {
        if let Self::Depends {
            defaults,
            overrides,
            fallback: fallback @ Some(_),
        } = &mut self
        {
            let over_defaults = |settings: Option<&Content>| {
                let mut result = defaults.clone();
                for settings in settings.into_iter().chain([&*overrides]) {
                    patch(&mut result, settings, unit);
                }
                let values = result.into_iter().map(|(key, leaf)| (key, leaf.value));
                values.collect::<BTreeMap<_, _>>()
            };
            let settings = fallback.as_ref().map(|(_, settings)| settings);
            let is_idle = !overrides.is_empty() || !defaults.is_empty();
            if is_idle && over_defaults(settings) == over_defaults(None) {
                *fallback = None;
            }
        }
        self
    }

    /// The same with the layer of an older policy.
    fn with(composed: Option<Self>, policy: PolicyId, layer: &Layer, unit: &MergeUnit) -> Option<Self> {
        let own = layer.content.as_ref();
        let under = |mut settings: Content| {
            lay_under(&mut settings, own, unit);
            settings
        };
        let over = |mut settings: Content| {
            patch(&mut settings, own, unit);
            settings
        };
        Some(match (composed, layer.strategy, layer.side) {
            // Regardless of the result of the newer ones.
            (_, Strategy::None | Strategy::Atomic, Side::Overrides) => Self::Always(own.clone()),
            (None, ..) => return None,
            (Some(Self::Always(settings)), Strategy::Patch | Strategy::StrategicPatch, Side::Defaults) => {
                Self::Always(under(settings))
            }
            (Some(Self::Always(settings)), Strategy::Patch | Strategy::StrategicPatch, Side::Overrides) => {
                Self::Always(over(settings))
            }
            (Some(Self::Always(settings)), Strategy::None | Strategy::Atomic, Side::Defaults) => {
                Self::Always(if is_empty(&settings) {
                    own.clone()
                } else {
                    settings
                })
            }
            (
                Some(Self::Depends {
                    defaults,
                    overrides,
                    fallback,
                }),
                Strategy::Patch | Strategy::StrategicPatch,
                side,
            ) => match side {
                Side::Defaults => Self::Depends {
                    defaults: under(defaults),
                    overrides,
                    fallback,
                },
                Side::Overrides => Self::Depends {
                    defaults,
                    overrides: over(overrides),
                    fallback,
                },
            },
            (
                Some(Self::Depends {
                    defaults,
                    overrides,
                    fallback,
                }),
                Strategy::None | Strategy::Atomic,
                Side::Defaults,
            ) => {
                let stands_in = fallback.as_ref().is_some_and(|(_, settings)| !is_empty(settings));
                let never_empty = stands_in || !is_empty(&defaults) || !is_empty(&overrides);
                let fallback = if never_empty {
                    fallback
                } else if defaults.is_empty() && overrides.is_empty() {
                    Some((policy, own.clone()))
                } else {
                    return None;
                };
                Self::Depends {
                    defaults,
                    overrides,
                    fallback,
                }
            }
        })
    }
}
