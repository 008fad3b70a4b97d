//! kgateway (docs/systems/other-policies.md#kgateway): its kinds are labeled Direct, but behave like Inherited. For each
//! top-level field, the more specific policy wins, unless an annotation of a Gateway, or of a route that delegates
//! requests, says otherwise.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::{Identity, pointer};
use kube_json::Value;

use super::{Generation, Product};
use crate::hub::Grants;
use crate::object::Object;
use crate::policy::merge::gep713::oldest_wins;
use crate::policy::merge::json_merge_patch::{flatten, patch};
use crate::policy::merge::strategic_merge::all_elements;
use crate::policy::model::{Content, Element, Entry, Leaf, PolicyId, Rejection};
use crate::policy::profile::{MergeUnit, Profile, StatusShape};
use crate::topology::Sources;

const GROUP: &str = "gateway.kgateway.dev";

pub(super) struct Kgateway;

impl Product for Kgateway {
    fn wrong_setting(
        &self,
        profile: &Profile,
        policy: &Object,
        sources: Sources<'_>,
        grants: &Grants<'_>,
    ) -> Option<Rejection> {
        let is_its = profile.status == StatusShape::Kgateway;
        is_its.then(|| wrong_setting(policy, sources, grants)).flatten()
    }

    fn inherited<'h>(
        &self,
        profile: &Profile,
        generations: &[Generation<'_>],
        home: &dyn Fn(PolicyId) -> &'h str,
    ) -> Option<Content> {
        let generations = generations.iter();
        let generations =
            generations.map(|(annotation, levels)| (Inherited::read(*annotation), levels.as_slice()));
        let generations: Vec<_> = generations.collect();
        // Without an annotation, the usual merge comes to the same.
        let is_usual = generations
            .iter()
            .all(|(inherited, _)| *inherited == Inherited::default());
        (!is_usual).then(|| inherited(profile, &generations, home))
    }
}

/// The value of the annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Inherited {
    prefers_parent: bool,
    is_deep: bool,
}

impl Inherited {
    /// Reads the annotation; anything else is the default, as its controller has it.
    fn read(annotation: Option<&str>) -> Self {
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
fn inherited<'h>(
    profile: &Profile,
    generations: &[(Inherited, &[&[Entry]])],
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
                // A shallow merge knows one policy: the one above replaces what is below it.
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
                // Alone, it keeps its form: nothing has been merged.
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
        let name = part("/extensionRef/name").map(str::to_owned);
        (namespace.to_owned(), name)
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
            let field = Content::from([(key, leaf)]);
            patch(&mut result, &field, &MergeUnit::JsonMergePatch);
        }
    }
    for (key, list) in lists.into_iter().filter(|(_, list)| list.len() > 1) {
        if result.get(&key).is_some_and(|leaf| leaf.value.is_array()) {
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

/// What a template may begin, and how that ends.
const BRACES: [(&str, &str); 3] = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")];

/// The fields of a policy that name an extension.
const EXTENSIONS: [&str; 5] = [
    "/extAuth/extensionRef",
    "/extProc/extensionRef",
    "/jwtAuth/extensionRef",
    "/oauth2/extensionRef",
    "/rateLimit/global/extensionRef",
];

/// The fields of an extension that name a backend.
const BACKENDS: [&str; 5] = [
    "/extAuth/grpcService/backendRef",
    "/extAuth/httpService/backendRef",
    "/extProc/grpcService/backendRef",
    "/oauth2/backendRef",
    "/rateLimit/grpcService/backendRef",
];

/// Why the translation of a TrafficPolicy fails although the CRD accepts it: it is ignored when policies merge, and its
/// routes answer with 500 (`kgateway-dev/kgateway pkg/pluginsdk/policy/merge.go@29d8e4c2a0c9689017a22d6651e181ac0f5201e4`).
///
/// Only what files tell for certain is here: templates that end too early, and backends of extensions of the input.
fn wrong_setting(policy: &Object, sources: Sources<'_>, grants: &Grants<'_>) -> Option<Rejection> {
    let spec = policy
        .value
        .get("spec")
        .filter(|_| policy.is(GROUP, "TrafficPolicy"))?;
    let template = spec.get("transformation");
    let template = template.and_then(|value| unclosed(value, "/spec/transformation"));
    template.or_else(|| {
        let mut references = EXTENSIONS.iter().filter_map(|field| spec.pointer(field));
        references.find_map(|reference| without_grant(policy, reference, sources, grants))
    })
}

/// A template in a value that begins something and does not end it.
fn unclosed(value: &Value, at: &str) -> Option<Rejection> {
    if let Some(text) = value.as_str() {
        let (open, close) = unclosed_brace(text)?;
        return Some(Rejection {
            message: format!("a template does not parse: `{open}` without `{close}`"),
            pointer: Some(at.to_owned()),
            help: format!("add `{close}`, or write `{{{{ \"{open}\" }}}}` for the text itself"),
            at: None,
        });
    }
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.map(|(key, value)| (key.to_string(), value));
    let items = (0_usize..).zip(value.as_array().into_iter().flatten());
    let items = items.map(|(position, value)| (position.to_string(), value));
    let mut parts = fields.chain(items);
    parts.find_map(|(key, value)| unclosed(value, &pointer::child(at, &key)))
}

fn unclosed_brace(mut text: &str) -> Option<(&'static str, &'static str)> {
    loop {
        let opened = BRACES.into_iter();
        let opened = opened.filter_map(|(open, close)| Some((text.split_once(open)?.1, (open, close))));
        // The first one has the longest rest.
        let (inside, braces) = opened.max_by_key(|(rest, _)| rest.len())?;
        match inside.split_once(braces.1) {
            Some((_, rest)) => text = rest,
            None => return Some(braces),
        }
    }
}

/// A backend, of an extension that the input has, in a namespace that does not permit it.
fn without_grant(
    policy: &Object,
    reference: &Value,
    sources: Sources<'_>,
    grants: &Grants<'_>,
) -> Option<Rejection> {
    let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
    let own = text(reference, "namespace").unwrap_or_else(|| policy.namespace_or_empty().to_owned());
    let name = text(reference, "name")?;
    let extension = Identity::new(GROUP, "GatewayExtension", Some(&own), &name);
    let spec = sources.get(&extension)?.value.get("spec")?;
    let mut backends = BACKENDS.iter().filter_map(|field| spec.pointer(field));
    backends.find_map(|backend| {
        let namespace = text(backend, "namespace")?;
        let group = text(backend, "group").unwrap_or_default();
        // Gateway API's defaults of a backend reference (docs/systems/gateway-api.md#attachment).
        let kind = text(backend, "kind").unwrap_or_else(|| "Service".to_owned());
        let to = text(backend, "name")?;
        let from = (GROUP, "GatewayExtension", own.as_str());
        (!grants.permit(from, &namespace, (&group, &kind, &to))).then(|| Rejection {
            message: format!("missing reference grant: {extension} has a backend in namespace {namespace}"),
            help: format!(
                "add a ReferenceGrant to namespace `{namespace}`, from {GROUP} `GatewayExtension` in namespace `{own}` to \
                 {kind}"
            ),
            ..Rejection::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_template_begins_it_has_to_end() {
        for text in [
            "",
            "a } b",
            "{{ a }}",
            "{{ a }}{% if b %}{# c #}",
            "{\"a\": {\"b\": 1}}",
            "{{ \"{%\" }}",
        ] {
            assert_eq!(unclosed_brace(text), None, "{text}");
        }
        assert_eq!(unclosed_brace("{{ a }} {{ b"), Some(("{{", "}}")));
        assert_eq!(unclosed_brace("{% if {{ a }}"), Some(("{%", "%}")));
    }
}
