//! Kinds and versions that no class of ours ships, and names that are nearly right.

use super::super::{Received, received};
use super::{FOREIGN, GW, LIMIT, policy, said_with_help};
use crate::diagnostic::Findings;
use crate::hub;
use crate::policy::Profiles;
use crate::sync::{report_other_versions, report_unknown_kinds};
use crate::tests::{documents, limit, small_with_params};
use ocm_hub::source::Room;

fn other_versions(received: &Received<'_>, findings: &mut Findings) {
    report_other_versions(received.syncing, findings);
}

fn unknown_kinds(received: &Received<'_>, findings: &mut Findings) {
    report_unknown_kinds(received.syncing, &Profiles::built_in(), findings);
}

#[test]
fn a_policy_in_another_version_than_its_class_asks_for_is_reported() {
    let base = small_with_params();
    let said = |text: &str| said_with_help(text, &[], &["c1"], other_versions);
    let of = |version: &str| {
        base.clone() + &limit("l", GW, LIMIT).replace("kuadrant.io/v1", &format!("kuadrant.io/{version}"))
    };
    assert!(said(&of("v1")).is_empty());
    let other = said(&of("v1beta3"));
    assert_eq!(
        other,
        [[
            "policy/other-version RateLimitPolicy infra/l has version v1beta3, but its class syncs v1"
                .to_owned(),
            "write `apiVersion: kuadrant.io/v1`".to_owned()
        ]]
    );
    let crd = |versions: &[&str]| {
        let versions: Vec<String> = versions
            .iter()
            .map(|version| {
                format!(
                    "{{name: {version}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object, \
                     properties: {{spec: {{type: object, x-kubernetes-preserve-unknown-fields: true, \
                     properties: {{targetRef: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}}}}}}}}",
                    *version == "v1"
                )
            })
            .collect();
        format!(
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: ratelimitpolicies.kuadrant.io}}\n\
             spec: {{group: kuadrant.io, scope: Namespaced, names: {{kind: RateLimitPolicy, listKind: RateLimitPolicyList, \
             plural: ratelimitpolicies, singular: ratelimitpolicy}}, versions: [{}]}}\n",
            versions.join(", ")
        )
    };
    let served = said(&(of("v1beta3") + &crd(&["v1", "v1beta3"])));
    assert_eq!(
        served.first().map(|[_, help]| help.as_str()),
        Some(
            "write `apiVersion: kuadrant.io/v1` and the fields of that version, or list version v1beta3 in `policiesToSync` of `gc`"
        )
    );
    let unserved = of("v1beta3") + &crd(&["v1"]);
    let rooms = [(Room::Hub, unserved.as_str())];
    let mut findings = Findings::new();
    let hub = hub::build(documents(&rooms), &hub::Options::default(), &mut findings);
    let before = findings.iter().count();
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        other_versions(received, &mut findings);
    });
    assert_eq!(
        findings.iter().count(),
        before,
        "that its definition does not serve it is said where it is read"
    );
    let auth = policy("AuthPolicy", GW, ", rules: {}").replace("io/v1", "io/v9");
    let [[message, _]] = &*said(&(base.clone() + &auth)) else {
        panic!("one finding")
    };
    assert_eq!(
        message, "object/schema AuthPolicy infra/a has the unknown version \"v9\"",
        "nothing else reports it"
    );
    let away = base.clone() + FOREIGN + &auth.replace("name: gw", "name: foreign");
    assert!(said(&away).is_empty(), "it is on no Gateway of ours");
}

#[test]
fn an_object_of_an_unknown_kind_that_targets_something_of_ours_is_reported() {
    let odd = |api: &str, kind: &str, spec: &str| {
        format!(
            "---\napiVersion: {api}\nkind: {kind}\nmetadata: {{name: odd, namespace: infra}}\nspec: {{{spec}}}\n"
        )
    };
    let on = |target: &str| format!("targetRef: {{group: gateway.networking.k8s.io, {target}}}");
    let base = small_with_params() + FOREIGN;
    let said = |text: &str| {
        let rooms = [(Room::Hub, text)];
        let hub = hub::build(documents(&rooms), &hub::Options::default(), &mut Findings::new());
        let mut findings = Findings::new();
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            unknown_kinds(received, &mut findings);
        });
        let said = findings.iter().map(|finding| {
            let message = finding.message.as_str();
            let target = message.strip_prefix(&format!(
                "{} infra/odd targets ",
                message.split(' ').next().unwrap()
            ));
            let target = target.and_then(|target| {
                target.strip_suffix(", but its kind is unknown, so no cluster receives it")
            });
            [target.unwrap().to_owned(), finding.help.clone().unwrap().into()]
        });
        said.collect::<Vec<_>>()
    };
    for (api, kind, help) in [
        (
            "kuadrant.example.com/v1",
            "RateLimitPolicy",
            "did you mean the group `kuadrant.io`?",
        ),
        (
            "example.com/v1",
            "RateLimitPolcy",
            "did you mean `RateLimitPolicy` of the group `gateway.nginx.org` or `kuadrant.io`?",
        ),
    ] {
        let said = said(&(base.clone() + &odd(api, kind, &on(GW))));
        assert_eq!(said, [["Gateway gw".to_owned(), help.to_owned()]], "{api} {kind}");
    }
    let of_a_profile = odd("gateway.nginx.org/v1alpha1", "PayloadProcessor", &on(GW));
    assert!(
        said(&(base.clone() + &of_a_profile)).is_empty(),
        "a policy kind of which no definition is known"
    );
    let target = |text: &str, spec: &str| {
        let said = said(&(text.to_owned() + &odd("example.com/v1", "Whatever", spec)));
        said.into_iter().next().map(|[target, _]| target)
    };
    let is = |target: &str| Some(target.to_owned());
    assert_eq!(
        target(&base, &on("kind: HTTPRoute, name: r1")),
        is("HTTPRoute r1")
    );
    assert_eq!(
        target(&base, &on("kind: GatewayClass, name: gc")),
        is("GatewayClass gc")
    );
    let unused = base.replace("gatewayClassName: gc", "gatewayClassName: theirs");
    assert_eq!(
        target(&unused, &on("kind: GatewayClass, name: gc")),
        is("GatewayClass gc"),
        "no Gateway has it yet"
    );
    assert_eq!(target(&unused, &on(GW)), None, "of another class");
    assert_eq!(target(&base, &on("kind: GatewayClass, name: other")), None);
    assert_eq!(target(&base, &on("kind: Other, name: gc")), None);
    assert_eq!(target(&base, &on("kind: Gateway, name: foreign")), None);
    assert_eq!(target(&base, &on("kind: HTTPRoute, name: away")), None);
    let routes = |labels: &str| {
        format!(
            "targetSelectors: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {labels}}}]"
        )
    };
    assert_eq!(target(&base, &routes("{}")), is("HTTPRoute r1"));
    assert_eq!(target(&base, &routes("{a: b}")), None);
    assert_eq!(
        target(&base, &routes("{}").replace("HTTPRoute", "GRPCRoute")),
        None
    );
    let away = base.replace(
        "{name: r1, namespace: infra}",
        "{name: r1, namespace: shop, labels: {a: b}}",
    );
    let away = away.replace(
        "parentRefs: [{name: gw}]",
        "parentRefs: [{name: gw, namespace: infra}]",
    );
    assert_eq!(
        target(&away, &routes("{a: b}")),
        None,
        "a selector stays in its namespace"
    );
    assert_eq!(
        target(&base, &on(GW).replace("targetRef", "parentRef")),
        None,
        "no target at all"
    );
}
