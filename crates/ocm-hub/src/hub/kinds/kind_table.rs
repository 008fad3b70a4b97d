//! All kinds of a run, by kind and by resource name.
//!
//! Owns: the lookups, and which row wins. Flows in: the built-in rows, CRDs. Flows out: [`KindInfo`]s, and the nearest
//! known name for a misspelled one. Must not know: objects of those kinds.

use std::collections::HashMap;

use super::builtin;
use super::kind_info::KindInfo;
use crate::api::crd::{Crd, Scope};
use crate::api::params::{ResourceCatalog, ResourceLookup};
use crate::diagnostic::nearest;

/// All kinds that are known to a run.
#[derive(Debug, Clone)]
pub struct KindTable {
    pub(super) kinds: Vec<KindInfo>,
    by_kind: ByName,
    by_plural: ByName,
}

/// Positions by group and name.
type ByName = HashMap<String, HashMap<String, usize>>;

fn position(names: &ByName, group: &str, name: &str) -> Option<usize> {
    names.get(group)?.get(name).copied()
}

impl Default for KindTable {
    fn default() -> Self {
        Self::built_in()
    }
}

impl KindTable {
    /// The built-in kinds alone.
    pub fn built_in() -> Self {
        let mut table = Self {
            kinds: Vec::new(),
            by_kind: HashMap::new(),
            by_plural: HashMap::new(),
        };
        for info in builtin::kinds() {
            table.insert(info);
        }
        table
    }

    /// The built-in kinds and those of `crds`; a CRD wins over a built-in row of its group and kind.
    pub fn with_crds<'c>(crds: impl IntoIterator<Item = &'c Crd>) -> Self {
        let mut table = Self::built_in();
        for crd in crds {
            table.insert(KindInfo::from(crd));
        }
        table
    }

    /// Adds a kind, in place of one with the same group and kind.
    pub fn insert(&mut self, info: KindInfo) {
        let index = position(&self.by_kind, &info.group, &info.kind).unwrap_or(self.kinds.len());
        let (group, kind, plural) = (
            info.group.to_string(),
            info.kind.to_string(),
            info.plural.to_string(),
        );
        match self.kinds.get_mut(index) {
            Some(old) => {
                if let Some(of_group) = self.by_plural.get_mut(&*old.group) {
                    of_group.remove(&*old.plural);
                }
                *old = info;
            }
            None => self.kinds.push(info),
        }
        self.by_kind.entry(group.clone()).or_default().insert(kind, index);
        self.by_plural.entry(group).or_default().insert(plural, index);
    }

    /// Every kind, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &KindInfo> {
        self.kinds.iter()
    }

    /// By group and kind.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&KindInfo> {
        self.kinds.get(position(&self.by_kind, group, kind)?)
    }

    /// Every kind of this name, regardless of its group.
    pub fn of_name(&self, kind: &str) -> impl Iterator<Item = &KindInfo> {
        self.kinds.iter().filter(move |info| info.kind == kind)
    }

    /// By group and plural resource name.
    pub fn plural(&self, group: &str, plural: &str) -> Option<&KindInfo> {
        self.kinds.get(position(&self.by_plural, group, plural)?)
    }

    /// The plural of a group nearest to a misspelled one. A kind or a singular written in place of the plural finds its
    /// plural.
    fn nearest_plural(&self, group: &str, plural: &str) -> Option<&str> {
        let of_group = || self.kinds.iter().filter(|info| info.group == group);
        of_group()
            .find(|info| info.kind.eq_ignore_ascii_case(plural))
            .map(|info| info.plural.as_ref())
            .or_else(|| nearest(plural, of_group().map(|info| info.plural.as_ref())))
    }

    /// The known group nearest to a misspelled one.
    fn nearest_group(&self, group: &str) -> Option<&str> {
        nearest(group, self.kinds.iter().map(|info| info.group.as_ref())).filter(|near| *near != group)
    }
}

impl ResourceCatalog for KindTable {
    fn resource(&self, group: &str, plural: &str) -> ResourceLookup<'_> {
        match self.plural(group, plural) {
            Some(info) => ResourceLookup::Known {
                kind: &info.kind,
                versions: info.versions.iter().map(AsRef::as_ref).collect(),
                namespaced: info.scope == Scope::Namespaced,
                has_target: info.targets.any(),
                has_parents: info.parent_refs,
            },
            None => {
                let nearest_group = self.nearest_group(group);
                ResourceLookup::Unknown {
                    nearest_group,
                    nearest: self.nearest_plural(nearest_group.unwrap_or(group), plural),
                }
            }
        }
    }
}
