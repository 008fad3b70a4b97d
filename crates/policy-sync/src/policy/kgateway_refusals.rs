//! TrafficPolicies whose translation fails in kgateway, although its CRDs accept them
//! (docs/systems/other-policies.md#kgateway): they are ignored when policies merge, and their routes answer with 500
//! (`kgateway-dev/kgateway pkg/pluginsdk/policy/merge.go@29d8e4c2a0c9689017a22d6651e181ac0f5201e4`).
//!
//! Only what files tell for certain is here: templates that end too early, and backends of extensions of the input.

use apimachinery::{Identity, pointer};
use kube_json::Value;

use super::envoy_gateway::Rejection;
use super::profiles::kgateway::GROUP;
use crate::hub::Grants;
use crate::object::Object;
use crate::topology::Sources;

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

/// Why a policy is refused wherever it is attached.
pub(super) fn wrong_setting(policy: &Object, sources: Sources<'_>, grants: &Grants<'_>) -> Option<Rejection> {
    let spec = policy
        .value
        .get("spec")
        .filter(|_| policy.is(GROUP, "TrafficPolicy"))?;
    let template = spec
        .get("transformation")
        .and_then(|value| unclosed(value, "/spec/transformation"));
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
        let opened = BRACES
            .into_iter()
            .filter_map(|(open, close)| Some((text.split_once(open)?.1, (open, close))));
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
