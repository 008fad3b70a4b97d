//! An annotation of a Gateway, or of a route that delegates requests, decides how its policies merge with those below:
//! kgateway (docs/systems/other-policies.md#kgateway).

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_json::Value;

use super::gep713::oldest_wins;
use super::json_merge_patch::{flatten, patch};
use super::strategic_merge::all_elements;
use crate::policy::model::{Content, Element, Entry, Leaf, PolicyId};
use crate::policy::profile::{MergeUnit, Profile};

/// The value of the annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Inherited {
    prefers_parent: bool,
    is_deep: bool,
}

impl Inherited {
    /// Reads the annotation; anything else is the default, as its controller has it.
    pub(crate) fn read(annotation: Option<&str>) -> Self {
        let (prefers_parent, is_deep) = match annotation {
            Some("ShallowMergePreferParent") => (true, false),
            Some("DeepMergePreferChild") => (false, true),
            Some("DeepMergePreferParent") => (true, true),
            _ => (false, false),
        };
        Self {
            prefers_parent,
            is_deep,
        }
    }
}

/// What the policies of a path come to: those of each generation (the Gateway's side, then each route with its rules, the
/// outermost first) among each other, then, from the innermost on, each with what is below it. `home` is the namespace of a
/// policy.
pub(crate) fn inherited<'h>(
    profile: &Profile,
    generations: &[(Inherited, Vec<&[Entry]>)],
    home: &dyn Fn(PolicyId) -> &'h str,
) -> Content {
    let Some(inheritance) = &profile.inheritance else {
        return Content::new();
    };
    let fields = inheritance.deep.iter().chain(&inheritance.providers);
    // Of each field that a deep merge goes into, who has it, the preferred one last.
    let mut stacks: Vec<(&str, Vec<Leaf>)> = fields.map(|field| (field.as_str(), Vec::new())).collect();
    let mut result = Content::new();
    for (inherited, levels) in generations.iter().rev() {
        let mut own = oldest_wins(&profile.unit, levels);
        for (field, stack) in &mut stacks {
            let Some(leaf) = own.remove(*field) else {
                continue;
            };
            match (inherited.is_deep, inherited.prefers_parent) {
                (true, true) => stack.push(leaf),
                (true, false) => stack.insert(0, leaf),
                (false, true) => *stack = vec![leaf],
                (false, false) if stack.is_empty() => stack.push(leaf),
                (false, false) => {}
            }
        }
        if inherited.prefers_parent {
            result.extend(own);
        } else {
            own.extend(result);
            result = own;
        }
    }
    for (field, stack) in stacks {
        match stack.as_slice() {
            [] => {}
            [only] => {
                result.insert(Arc::from(field), only.clone());
            }
            stack if inheritance.deep.iter().any(|deep| deep == field) => result.extend(deeply(stack)),
            stack => result.extend(providers(stack, field, home)),
        }
    }
    result
}

/// A field that names a provider that requests are shown to: all providers are called, the preferred one first, each as the
/// policy has it that is preferred. If any policy turns the field off, it is off.
fn providers<'h>(stack: &[Leaf], field: &str, home: &dyn Fn(PolicyId) -> &'h str) -> Content {
    let preferred = || stack.iter().rev();
    if let Some(off) = preferred().find(|leaf| leaf.value.get("disable").is_some()) {
        return Content::from([(Arc::from(field), off.clone())]);
    }
    let provider = |leaf: &Leaf| {
        let part = |part: &str| leaf.value.pointer(part).and_then(Value::as_str);
        let namespace = part("/extensionRef/namespace").unwrap_or_else(|| home(leaf.policy));
        (
            namespace.to_owned(),
            part("/extensionRef/name").map(str::to_owned),
        )
    };
    let mut all: Vec<&Leaf> = Vec::new();
    for leaf in preferred() {
        if !all.iter().any(|known| provider(known) == provider(leaf)) {
            all.push(leaf);
        }
    }
    if let [only] = all.as_slice() {
        return Content::from([(Arc::from(field), (*only).clone())]);
    }
    let all = all.into_iter().enumerate();
    all.map(|(position, leaf)| {
        let at: Arc<str> = Arc::from(format!("{field}/{position}"));
        let leaf = Leaf {
            at: Arc::clone(&at),
            element: Some(Element {
                list: Arc::from(field),
                key: None,
                from: Arc::clone(&leaf.at),
            }),
            ..leaf.clone()
        };
        (at, leaf)
    })
    .collect()
}

/// Field by field, and all elements of lists, those of the preferred one last: they are applied last.
fn deeply(stack: &[Leaf]) -> Content {
    let mut result = Content::new();
    let mut lists: BTreeMap<Arc<str>, Vec<Leaf>> = BTreeMap::new();
    for field in stack {
        for (key, leaf) in leaves(field) {
            if leaf.value.is_array() {
                lists.entry(Arc::clone(&key)).or_default().push(leaf.clone());
            }
            patch(
                &mut result,
                &Content::from([(key, leaf)]),
                &MergeUnit::JsonMergePatch,
            );
        }
    }
    for (key, list) in lists.into_iter().filter(|(_, list)| list.len() > 1) {
        let is_list = result.get(&key).is_some_and(|leaf| leaf.value.is_array());
        if is_list {
            result.remove(&key);
            let list: Vec<&Leaf> = list.iter().collect();
            result.extend(all_elements(&list, &key));
        }
    }
    result
}

/// A field as leaves of its own.
fn leaves(field: &Leaf) -> Content {
    let mut leaves = Content::new();
    flatten(&field.value, field.at.to_string(), &mut |at, value| {
        leaves.extend([field.moved(at, value.clone())]);
    });
    leaves
}
