//! The settings of results, as all reports list them: each with its value, the policy that it is written in, and the line of
//! its name there.

use std::collections::HashMap;
use std::sync::Arc;

use apimachinery::pointer::{dotted, inside};
use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::{Hidden, Locate, Place, without_secrets};
use crate::object::Object;
use crate::policy::{Attachments, Authored, Effective, Leaf, Rule};

/// File and line of an object of the input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceLine {
    /// Path relative to the root of the input.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.path, self.line)
    }
}

impl SourceLine {
    /// The line of a place, where there is a text.
    pub fn of(locate: &dyn Locate, place: Place) -> Option<Self> {
        let span = locate.locate(&place)?;
        Some(Self {
            path: span.path.to_owned(),
            line: span.line,
        })
    }
}

/// A setting that is in effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct AppliedSetting {
    /// Rule id or JSON pointer.
    pub setting: Arc<str>,
    /// Its value.
    pub value: Value,
    /// Locator of the policy.
    pub policy: Arc<str>,
    /// The line of the name of the setting.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// What ClusterOverlays changed in it on these clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlaid: Vec<OverlaidSetting>,
}

/// A field of a setting that a ClusterOverlay changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct OverlaidSetting {
    /// Where it is in the policy.
    #[serde(rename = "field")]
    pub path: String,
    /// Its value on the hub; absent if the overlay adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Value>,
    /// Its value here; absent if the overlay removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<Value>,
    /// Locator of the overlay.
    pub overlay: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// A setting that is overridden.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct LostSetting {
    /// Rule id or JSON pointer.
    pub setting: Arc<str>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Locator of the policy that it is written in.
    pub policy: Arc<str>,
    /// Where it is written.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// Locators of the policies that override it.
    pub by: Vec<Arc<str>>,
    /// The name of the rule that decided, if one did.
    pub rule: &'static str,
    /// The rule in words.
    pub because: &'static str,
}

impl LostSetting {
    /// Whether the order of names decided.
    #[must_use]
    pub fn is_decided_by_name(&self) -> bool {
        [Rule::FirstByName, Rule::LaterChallenger]
            .map(Rule::name)
            .contains(&self.rule)
    }
}

/// Makes the entries of settings.
pub(super) struct SettingEntries<'s> {
    locate: &'s dyn Locate,
    /// The names of hidden values, if these are compared with others.
    hidden: Option<&'s mut Hidden>,
    /// A setting is located once, on however many paths it applies.
    lines: HashMap<Place, Option<SourceLine>>,
}

impl<'s> SettingEntries<'s> {
    pub(super) fn new(locate: &'s dyn Locate, hidden: Option<&'s mut Hidden>) -> Self {
        Self {
            locate,
            hidden,
            lines: HashMap::new(),
        }
    }

    /// A setting that applies.
    pub(super) fn applied(
        &mut self,
        attachments: &Attachments<'_>,
        name: &Arc<str>,
        leaf: &Leaf,
    ) -> AppliedSetting {
        let (authored, pointer) = attachments.written_at(name, leaf);
        AppliedSetting {
            setting: Arc::clone(name),
            value: self.conceal(&leaf.value),
            policy: Arc::clone(&authored.locator),
            place: self.line(authored.object, &pointer),
            overlaid: self.overlaid(authored.object, &pointer),
        }
    }

    /// The settings that lost to others.
    pub(super) fn losses(
        &mut self,
        attachments: &Attachments<'_>,
        effective: &Effective,
    ) -> Vec<LostSetting> {
        let losses = effective.losses.iter().map(|loss| {
            let first = loss.by.first();
            let rule = first.and_then(|by| effective.rule(attachments, *by, loss.policy));
            let by = loss.by.iter().map(|by| attachments.authored(*by));
            let by = by.map(|by| Arc::clone(&by.locator)).collect();
            let leaf = attachments.lost(loss.policy, &loss.key);
            self.lost((&loss.key, leaf, attachments.authored(loss.policy)), by, rule)
        });
        losses.collect()
    }

    /// A setting that others override, by its name, with its value if that is known, and its policy.
    pub(super) fn lost(
        &mut self,
        (name, leaf, authored): (&Arc<str>, Option<&Leaf>, &Authored<'_>),
        by: Vec<Arc<str>>,
        rule: Option<Rule>,
    ) -> LostSetting {
        LostSetting {
            setting: Arc::clone(name),
            value: leaf.map(|leaf| self.conceal(&leaf.value)),
            policy: Arc::clone(&authored.locator),
            place: leaf.and_then(|leaf| self.line(authored.object, &leaf.source_pointer())),
            by,
            rule: rule.map_or("", Rule::name),
            because: rule.map_or("", Rule::because),
        }
    }

    /// The fields at, above, or below a pointer that ClusterOverlays changed.
    fn overlaid(&mut self, object: &Object, pointer: &str) -> Vec<OverlaidSetting> {
        let is_inside = |inner: &str, outer: &str| inside(inner, outer).is_some();
        let fields = object.overlaid.iter().flat_map(|fields| fields.iter());
        let fields =
            fields.filter(|field| is_inside(pointer, &field.pointer) || is_inside(&field.pointer, pointer));
        let fields = fields.map(|field| OverlaidSetting {
            path: dotted(&field.pointer),
            hub: field.hub.as_ref().map(|value| self.conceal(value)),
            here: object
                .value
                .pointer(&field.pointer)
                .map(|value| self.conceal(value)),
            overlay: field.overlay.locator(),
            place: self.line(object, &field.pointer),
        });
        fields.collect()
    }

    /// A value without those of Secrets.
    fn conceal(&mut self, value: &Value) -> Value {
        match &mut self.hidden {
            Some(hidden) => hidden.conceal(value, false),
            None => without_secrets(value),
        }
    }

    /// The line of the name of a field, where a reader looks.
    fn line(&mut self, object: &Object, pointer: &str) -> Option<SourceLine> {
        let line = self.lines.entry(object.key_place(pointer));
        line.or_insert_with_key(|place| SourceLine::of(self.locate, place.clone()))
            .clone()
    }
}
