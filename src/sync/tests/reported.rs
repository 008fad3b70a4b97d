//! What is reported about objects that do not go to the spokes, or would not be in effect there.

use super::{Received, received};
use crate::diagnostic::{Code, Finding, Findings, Warnings};
use crate::hub;
use crate::policy::testing::{SMALL, documents, hub, limit, small_with_params};
use crate::policy::{Options, Profiles};
use crate::source::Room;
use crate::sync::{
    LocalPolicies, OnSpokes, is_synced, redirected, report_broken_rules, report_local_conflicts,
    report_misspelled_backends, report_not_permitted, report_not_synced, report_other_versions,
    report_references, report_shadowed, report_unknown_kinds, report_unused,
};
use apimachinery::Identity;

const GW: &str = "kind: Gateway, name: gw";
const LIMIT: &str = "limits: {l: {rates: [{limit: 1, window: 1s}]}}";

/// `code message` of what is reported about a hub whose Gateway `infra/gw` goes to some clusters, with its help.
fn said_with_help(
    text: &str,
    spokes: &[(&str, &str)],
    clusters: &[&str],
    report: impl FnOnce(&Received<'_>, &mut Findings),
) -> Vec<[String; 2]> {
    let hub = hub(text, spokes);
    let mut findings = Findings::new();
    received(&hub, &[("infra/gw", clusters)], |received| {
        report(received, &mut findings);
    });
    findings.finish(&std::collections::BTreeMap::default(), Warnings::Reported);
    let said = findings.iter().map(|finding| {
        let message = format!("{} {}", finding.code.name(), finding.message);
        [message, finding.help.clone().unwrap_or_default()]
    });
    said.collect()
}

fn said(text: &str, clusters: &[&str], report: impl FnOnce(&Received<'_>, &mut Findings)) -> Vec<String> {
    let said = said_with_help(text, &[], clusters, report).into_iter();
    said.map(|[message, _]| message).collect()
}

fn not_synced(received: &Received<'_>, findings: &mut Findings) {
    let Received {
        attachments,
        kinds,
        routes,
        hub,
        ..
    } = received;
    report_not_synced(attachments, kinds, routes, hub, received.making.ours, findings);
}

fn other_versions(received: &Received<'_>, findings: &mut Findings) {
    report_other_versions(
        received.attachments,
        received.kinds,
        received.hub,
        received.making.ours,
        findings,
    );
}

fn unused(received: &Received<'_>, findings: &mut Findings) {
    let Received {
        attachments,
        kinds,
        hub,
        ..
    } = received;
    let ours = received.making.ours;
    let clusters = received
        .making
        .gateways
        .map(|(_, placed)| std::sync::Arc::clone(&placed.clusters));
    report_unused(attachments, kinds, ours, &clusters, &hub.objects, findings);
}

fn misspelled_backends(received: &Received<'_>, findings: &mut Findings) {
    report_misspelled_backends(received.hub, findings);
}

fn references(received: &Received<'_>, findings: &mut Findings) {
    let Received {
        hub, grants, synced, ..
    } = received;
    let gateways = received.making.gateways;
    let variants = received.making.variants;
    let there = OnSpokes::new((hub, grants), gateways, variants, false);
    report_references(hub, gateways, (&synced.objects, variants), &there, findings);
}

fn broken_rules(received: &Received<'_>, findings: &mut Findings) {
    report_broken_rules(
        received.attachments,
        received.hub,
        received.making.ours,
        |_, _| true,
        &Findings::new(),
        findings,
    );
}

fn shadowed(received: &Received<'_>, findings: &mut Findings) {
    report_shadowed(received.attachments, received.making.ours, findings);
}

/// A policy of this kind, on something of Gateway API's group.
fn policy(kind: &str, target: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: kuadrant.io/v1\nkind: {kind}\nmetadata: {{name: a, namespace: infra}}\n\
         spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}{spec}}}\n"
    )
}

/// A Gateway of a class that is not ours, with a route.
const FOREIGN: &str = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: foreign, namespace: infra}\n\
     spec: {gatewayClassName: theirs, listeners: [{name: http, port: 80, protocol: HTTP}]}\n\
     ---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: away, namespace: infra}\n\
     spec: {parentRefs: [{name: foreign}], rules: [{backendRefs: [{name: s, port: 80}]}]}\n";

/// The same hub, with parameters that ask for another kind of policies, too.
fn asking_for(text: &str, plural: &str) -> String {
    let more =
        format!("resource: ratelimitpolicies}}, {{group: kuadrant.io, version: v1, resource: {plural}}}]");
    text.replace("resource: ratelimitpolicies}]", &more)
}

/// The same, with objects of this kind; `more` are further fields of the entry.
fn shipping(text: &str, group: &str, plural: &str, more: &str) -> String {
    let resources = format!(
        "{{resourcesToSync: [{{group: '{group}', version: v1, resource: {plural}{more}}}], policiesToSync:"
    );
    text.replace("{policiesToSync:", &resources)
}

/// The same, with HTTPRoutes.
fn shipping_routes(text: &str) -> String {
    shipping(text, "gateway.networking.k8s.io", "httproutes", "")
}

/// A hub whose Gateway lets ListenerSets in.
fn with_sets(text: &str) -> String {
    text.replace(
        "  gatewayClassName: gc\n",
        "  gatewayClassName: gc\n  allowedListeners: {namespaces: {from: Same}}\n",
    )
}

const SET: &str = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: ls, namespace: infra}\n\
     spec: {parentRef: {name: gw}, listeners: [{name: extra, port: 8080, protocol: HTTP}]}\n";

fn unknown_kinds(received: &Received<'_>, findings: &mut Findings) {
    let Received { attachments, hub, .. } = received;
    report_unknown_kinds(
        attachments,
        &Profiles::built_in(),
        hub,
        received.making.ours,
        findings,
    );
}

/// A BackendTrafficPolicy, on something of Gateway API's group.
fn traffic(target: &str) -> String {
    format!(
        "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: b, namespace: infra}}\n\
         spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], retry: {{numRetries: 1}}}}\n"
    )
}

/// A hub whose class asks for BackendTrafficPolicies.
fn asking_for_traffic() -> String {
    small_with_params().replace(
        "{group: kuadrant.io, version: v1, resource: ratelimitpolicies}",
        "{group: gateway.envoyproxy.io, version: v1alpha1, resource: backendtrafficpolicies}",
    )
}

#[test]
fn a_policy_whose_kind_the_class_of_its_gateway_does_not_ask_for_is_not_synced() {
    let said = |text: &str| said_with_help(text, &[], &["c1"], not_synced);
    let missing = [[
        "policy/not-synced AuthPolicy infra/a is not synced: its kind is not in the parameters of its class".to_owned(),
        "add {\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"authpolicies\"} to `policiesToSync` of `gc`"
            .to_owned(),
    ]];
    let base = small_with_params();
    let auth = policy("AuthPolicy", GW, ", rules: {}");
    assert_eq!(said(&(base.clone() + &auth)), missing);
    assert_eq!(
        said(&(base.clone() + &auth.replace("io/v1", "io/v9"))),
        missing,
        "in a version that is served"
    );
    assert!(
        said(&(base.clone() + &limit("l", GW, LIMIT))).is_empty(),
        "it is synced"
    );
    let on_route = policy("AuthPolicy", "kind: HTTPRoute, name: r1", ", rules: {}");
    assert_eq!(
        said(&(shipping_routes(&base) + &on_route)),
        missing,
        "on a route that is shipped"
    );
    let on_set = with_sets(&shipping(&base, "gateway.networking.k8s.io", "listenersets", ""))
        + SET
        + &traffic("kind: ListenerSet, name: ls");
    let [[message, _]] = &*said(&on_set) else {
        panic!("{:?}", said(&on_set))
    };
    assert!(
        message.contains("BackendTrafficPolicy infra/b is not synced: its kind"),
        "on a ListenerSet that is shipped: {message}"
    );
}

#[test]
fn a_policy_whose_target_stays_on_the_hub_is_not_shipped() {
    let said = |text: &str| said_with_help(text, &[], &["c1"], not_synced);
    let stays = |policy: &str, way_out: &'static str| {
        let message =
            format!("policy/not-synced {policy} is not shipped: its target is not synced to the spokes");
        move |said: &[[String; 2]]| matches!(said, [[said, help]] if *said == message && help.starts_with(way_out))
    };
    let base = small_with_params();
    let route = stays(
        "RateLimitPolicy infra/l",
        "list the kind of the route in `resourcesToSync`",
    );
    let on = |route: &str| limit("l", &format!("kind: HTTPRoute, name: {route}"), LIMIT);
    assert!(route(&said(&(base.clone() + &on("r1")))));
    assert!(
        said(&(shipping_routes(&base) + &on("r1"))).is_empty(),
        "the route is shipped"
    );
    let mesh = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: m, namespace: infra}\n\
                spec: {parentRefs: [{group: '', kind: Service, name: s, port: 80}], rules: [{backendRefs: [{name: s, port: 80}]}]}\n";
    assert!(
        route(&said(&(base.clone() + mesh + &on("m")))),
        "only a mesh leads to it"
    );
    let set = stays(
        "BackendTrafficPolicy infra/b",
        "list the kind of the ListenerSet in `resourcesToSync`",
    );
    let hub = with_sets(&asking_for_traffic()) + SET;
    for target in [
        "kind: ListenerSet, name: ls",
        "kind: ListenerSet, name: ls, sectionName: extra",
    ] {
        assert!(set(&said(&(hub.clone() + &traffic(target)))), "{target}");
    }
    let shipped = shipping(&hub, "gateway.networking.k8s.io", "listenersets", "");
    assert!(said(&(shipped + &traffic("kind: ListenerSet, name: ls"))).is_empty());
    let loose = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: m, namespace: infra}\n\
                 spec: {parentRefs: [{name: gone}]}\n";
    let [[message, _]] = &*said(&(base + loose + &on("m"))) else {
        panic!("one finding")
    };
    assert_eq!(
        message,
        "policy/unreachable RateLimitPolicy infra/l targets HTTPRoute infra/m, which no Gateway of the input leads to"
    );
}

#[test]
fn a_policy_on_gateways_of_other_classes_alone_is_not_shipped() {
    let said = |text: &str| said(text, &["c1"], not_synced);
    let base = small_with_params() + FOREIGN;
    let on = |target: &str| limit("l", target, LIMIT);
    assert_eq!(
        said(&(base.clone() + &on("kind: Gateway, name: foreign"))),
        [
            "policy/other-class RateLimitPolicy infra/l targets Gateway infra/foreign, which is not rendered, so it is not shipped"
        ]
    );
    assert_eq!(
        said(&(base.clone() + &on("kind: HTTPRoute, name: away"))),
        [
            "policy/other-class RateLimitPolicy infra/l targets HTTPRoute infra/away, to which no Gateway of ours leads, so it is not shipped"
        ]
    );
    let auth = policy("AuthPolicy", "kind: Gateway, name: foreign", ", rules: {}");
    assert!(
        said(&(base.clone() + &auth)).is_empty(),
        "no class asks for its kind"
    );
    let both = base.replace(
        "parentRefs: [{name: foreign}]",
        "parentRefs: [{name: foreign}, {name: gw}]",
    );
    assert_eq!(
        said(&(both + &on("kind: HTTPRoute, name: away"))),
        ["policy/not-synced RateLimitPolicy infra/l is not shipped: its target is not synced to the spokes"],
        "one of ours leads to it, too"
    );
    let nameless = base.replace("gatewayClassName: theirs", "gatewayClassName: \"\"");
    assert!(
        said(&(nameless + &on("kind: Gateway, name: foreign"))).is_empty(),
        "that is a finding of its own"
    );
}

#[test]
fn a_synced_policy_of_a_gateway_that_no_cluster_receives_is_unused() {
    let base = small_with_params() + FOREIGN;
    let of = |text: &str, clusters: &[&str]| said(text, clusters, unused);
    let text = base.clone() + &limit("l", GW, LIMIT);
    assert_eq!(
        of(&text, &[]),
        ["policy/unused RateLimitPolicy infra/l affects no cluster: its targets are not placed"]
    );
    assert!(of(&text, &["c1"]).is_empty());
    let elsewhere = base.clone() + &limit("l", "kind: Gateway, name: foreign", LIMIT);
    assert!(of(&elsewhere, &[]).is_empty(), "it reaches no Gateway of ours");
    let unsynced = base + &policy("AuthPolicy", GW, ", rules: {}");
    assert!(of(&unsynced, &[]).is_empty(), "it is not shipped in any case");
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
    eprintln!(
        "{:?}",
        said_with_help(
            &(of("v1beta3") + &crd(&["v1", "v1beta3"])),
            &[],
            &["c1"],
            not_synced
        )
    );
    assert_eq!(
        served.first().map(|[_, help]| help.as_str()),
        Some(
            "write `apiVersion: kuadrant.io/v1` and the fields of that version, or list version v1beta3 in `policiesToSync` of `gc`"
        )
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
fn a_backend_with_nearly_the_name_of_a_service_of_its_namespace_is_misspelled() {
    let one = SMALL.replace(
        "rules: [{backendRefs: [{name: s, port: 80}]}]",
        "rules: [{backendRefs: [{name: shopp, port: 80}]}]",
    );
    let service = |name: &str, namespace: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{ports: [{{port: 80}}]}}\n"
        )
    };
    let said = |text: &str, local: &str| said_with_help(text, &[("c1", local)], &["c1"], misspelled_backends);
    let found = [[
        "route/invalid HTTPRoute infra/r2 sends requests to Service infra/shopp, which is not in the input"
            .to_owned(),
        "did you mean `shop`?".to_owned(),
    ]];
    assert_eq!(said(&(one.clone() + &service("shop", "infra")), ""), found);
    assert_eq!(
        said(&one, &service("shop", "infra")),
        found,
        "one that lives on a cluster"
    );
    assert!(
        said(&one, "").is_empty(),
        "no Service of the namespace has such a name"
    );
    assert!(
        said(&(one.clone() + &service("shop", "other")), "").is_empty(),
        "another namespace has it"
    );
    assert!(
        said(
            &(one.clone() + &service("shopp", "infra") + &service("shop", "infra")),
            ""
        )
        .is_empty()
    );
    let other_kind = one.replace(
        "{name: shopp, port: 80}",
        "{group: example.com, kind: Backend, name: shopp}",
    );
    assert!(
        said(&(other_kind + &service("shop", "infra")), "").is_empty(),
        "it is no Service"
    );
    let away = one.replace(
        "{name: shopp, port: 80}",
        "{name: shopp, namespace: other, port: 80}",
    );
    let away = said(
        &(away + &service("shop", "infra") + &service("shops", "other")),
        "",
    );
    assert_eq!(
        away.first().map(|[_, help]| help.as_str()),
        Some("did you mean `shops`?")
    );
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
            let target = finding.message.strip_prefix(&format!(
                "{} infra/odd targets ",
                finding.message.split(' ').next().unwrap()
            ));
            let target = target.and_then(|target| {
                target.strip_suffix(", but its kind is unknown, so no cluster receives it")
            });
            [target.unwrap().to_owned(), finding.help.clone().unwrap()]
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

#[test]
fn an_object_that_a_shipped_one_needs_has_to_be_on_its_clusters() {
    let base = small_with_params();
    let dns = |spec: &str| asking_for(&base, "dnspolicies") + &policy("DNSPolicy", GW, spec);
    let secret = |namespace: &str, more: &str| {
        format!("---\napiVersion: v1\nkind: Secret\nmetadata: {{name: aws, namespace: {namespace}{more}}}\n")
    };
    let lacking = |text: &str, local: &str| {
        let said = said_with_help(text, &[("c1", local)], &["c1", "c2"], references).into_iter();
        let said = said.map(|[message, _]| {
            let (needed, clusters) = message.split_once(" is needed on ").unwrap();
            let (clusters, _) = clusters.split_once(", but").unwrap();
            format!(
                "{} on {clusters}",
                needed.trim_start_matches("reference/not-shipped ")
            )
        });
        said.collect::<Vec<_>>().join("; ")
    };
    let provider = ", providerRefs: [{name: aws}]";
    assert_eq!(lacking(&dns(provider), ""), "Secret kuadrant-infra/aws on c1, c2");
    assert_eq!(
        lacking(&dns(provider), &secret("kuadrant-infra", "")),
        "Secret kuadrant-infra/aws on c2"
    );
    assert_eq!(
        lacking(&dns(provider), &secret("infra", "")),
        "Secret kuadrant-infra/aws on c1, c2"
    );
    let sealed = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: aws, namespace: kuadrant-infra}\n";
    assert_eq!(
        lacking(&dns(provider), sealed),
        "Secret kuadrant-infra/aws on c2",
        "made there"
    );
    let two = dns(provider)
        + &policy(
            "DNSPolicy",
            "kind: Gateway, name: gw, sectionName: http",
            provider,
        )
        .replace("name: a,", "name: b,");
    assert_eq!(
        lacking(&two, ""),
        "Secret kuadrant-infra/aws on c1, c2",
        "one finding for both"
    );
    let labelled = ", labels: {kuadrant.io/default-provider: \"true\"}";
    let marked = "a Secret with the label kuadrant.io/default-provider=true";
    assert_eq!(lacking(&dns(""), ""), format!("{marked} on c1, c2"));
    assert_eq!(
        lacking(&dns(""), &secret("kuadrant-infra", labelled)),
        format!("{marked} on c2")
    );
    assert_eq!(
        lacking(&dns(""), &secret("kuadrant-infra", "")),
        format!("{marked} on c1, c2")
    );
    assert_eq!(
        lacking(&dns(""), &secret("infra", labelled)),
        format!("{marked} on c1, c2"),
        "elsewhere"
    );
    assert_eq!(lacking(&dns(", delegate: true"), ""), "");
    let auth = ", rules: {authentication: {a: {oauth2Introspection: {credentialsRef: {name: aws}}}}}";
    let auth = asking_for(&base, "authpolicies") + &policy("AuthPolicy", GW, auth);
    assert_eq!(
        lacking(&auth, &secret("anywhere", "")),
        "Secret aws on c2",
        "wherever Authorino is"
    );
    assert_eq!(lacking(&shipping_routes(&base), ""), "Service infra/s on c1, c2");
}

#[test]
fn what_is_needed_on_clusters_that_are_not_in_the_input_is_not_reported() {
    let cluster = "---\napiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: c2}\n";
    let text = asking_for(&small_with_params(), "dnspolicies")
        + &policy("DNSPolicy", GW, ", providerRefs: [{name: aws}]")
        + cluster;
    let found = said(&text, &["c1", "c2"], references);
    let [message] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(message.contains(" is needed on c2, but "), "{message}");
    assert!(said(&text, &["c1"], references).is_empty());
}

/// A hub whose Gateway needs the ConfigMap `ca` of another namespace.
fn far() -> String {
    let small = small_with_params().replace(
        "spec:\n  gatewayClassName: gc",
        "spec:\n  tls: {frontend: {default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: ca, \
         namespace: certs}]}}}}\n  gatewayClassName: gc",
    );
    small + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca, namespace: certs}\n"
}

fn grant(kind: &str) -> String {
    format!(
        "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {{name: g, namespace: certs}}\n\
         spec: {{from: [{{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}}], to: [{{group: '', kind: {kind}}}]}}\n"
    )
}

#[test]
fn a_gateway_needs_a_grant_for_what_it_refers_to_in_another_namespace() {
    let not_permitted = |text: &str, clusters: &[&str]| {
        said(text, clusters, |received, findings| {
            report_not_permitted(received.making.gateways, received.grants, findings);
        })
    };
    assert_eq!(
        not_permitted(&far(), &["c1"]),
        [
            "reference/not-permitted Gateway infra/gw may not refer to ConfigMap certs/ca, which is in another namespace"
        ]
    );
    assert!(not_permitted(&far(), &[]).is_empty(), "it goes nowhere");
    assert!(not_permitted(&(far() + &grant("ConfigMap")), &["c1"]).is_empty());
    assert_eq!(
        not_permitted(&(far() + &grant("Secret")), &["c1"]).len(),
        1,
        "the grant is for another kind"
    );
}

/// Looks at what is on the clusters `c1` and `c2`, once the works are applied.
fn on_clusters<T>(
    text: &str,
    local: &str,
    copied: bool,
    look: impl FnOnce(&OnSpokes<'_>, &Received<'_>) -> T,
) -> T {
    let hub = hub(text, &[("c1", local)]);
    received(&hub, &[("infra/gw", &["c1", "c2"])], |received| {
        let Received { hub, grants, .. } = received;
        let there = OnSpokes::new(
            (hub, grants),
            received.making.gateways,
            received.making.variants,
            copied,
        );
        look(&there, received)
    })
}

/// The clusters among `c1`, `c2` and `c3` that have an object.
fn clusters_with(
    there: &OnSpokes<'_>,
    (group, kind): (&str, &str),
    namespace: &str,
    name: &str,
) -> Vec<&'static str> {
    let identity = Identity::new(group, kind, Some(namespace), name);
    let mut clusters = vec!["c1", "c2", "c3"];
    clusters.retain(|cluster| there.has(&identity, cluster));
    clusters
}

const SECRET: (&str, &str) = ("", "Secret");

#[test]
fn a_cluster_has_what_is_shipped_what_lives_there_and_what_is_made_of_these() {
    let listeners = |reference: &str| {
        small_with_params().replace(
            "{name: https, port: 443, protocol: HTTPS}",
            &format!("{{name: https, port: 443, protocol: HTTPS, tls: {{certificateRefs: [{reference}]}}}}"),
        )
    };
    let secret = |namespace: &str| {
        format!("---\napiVersion: v1\nkind: Secret\nmetadata: {{name: c, namespace: {namespace}}}\n")
    };
    let text = listeners("{name: c}") + &secret("infra") + &limit("l", GW, LIMIT);
    let local = secret("apps")
        + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: here, namespace: apps}\n\
         ---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: x, namespace: apps}\nspec: {secretName: made}\n";
    on_clusters(&text, &local, false, |there, _| {
        let both = ["c1", "c2"];
        let gateway = ("gateway.networking.k8s.io", "Gateway");
        assert_eq!(clusters_with(there, gateway, "kuadrant-infra", "gw"), both);
        assert!(clusters_with(there, gateway, "infra", "gw").is_empty());
        let limits = ("kuadrant.io", "RateLimitPolicy");
        assert_eq!(clusters_with(there, limits, "kuadrant-infra", "l"), both);
        assert_eq!(clusters_with(there, SECRET, "apps", "c"), ["c1"]);
        assert_eq!(clusters_with(there, ("", "ConfigMap"), "apps", "here"), ["c1"]);
        assert_eq!(clusters_with(there, SECRET, "apps", "made"), ["c1"]);
        assert!(
            clusters_with(there, SECRET, "kuadrant-infra", "c").is_empty(),
            "Secrets are not copied"
        );
    });
    let copies = |text: &str, name: &str| {
        on_clusters(text, "", true, |there, _| {
            clusters_with(there, SECRET, "kuadrant-infra", name)
        })
    };
    assert_eq!(copies(&text, "c"), ["c1", "c2"]);
    assert!(
        copies(&listeners("{name: c}"), "c").is_empty(),
        "the hub does not have it"
    );
    let other = listeners("{group: example.com, kind: Secret, name: c}") + &secret("infra");
    assert!(copies(&other, "c").is_empty(), "it is no Secret");
    let far = listeners("{name: c, namespace: certs}") + &secret("certs");
    assert!(copies(&far, "certs.c").is_empty(), "without a grant");
    assert_eq!(copies(&(far.clone() + &grant("Secret")), "certs.c"), ["c1", "c2"]);
    let tls = |target: &str| {
        let policy = policy("TLSPolicy", target, ", issuerRef: {name: i}");
        let text = asking_for(&listeners("{name: c}"), "tlspolicies") + &policy;
        on_clusters(&text, "", false, |there, _| {
            clusters_with(there, SECRET, "kuadrant-infra", "c")
        })
    };
    assert_eq!(tls(GW), ["c1", "c2"], "cert-manager makes it");
    assert_eq!(tls("kind: Gateway, name: gw, sectionName: https"), ["c1", "c2"]);
    assert!(
        tls("kind: Gateway, name: gw, sectionName: http").is_empty(),
        "for another listener"
    );
}

#[test]
fn the_secrets_of_a_listener_set_that_is_shipped_are_copied_with_it() {
    let set = SET.replace(
        "protocol: HTTP}",
        "protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}",
    );
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: c, namespace: infra}\n";
    let text = with_sets(&shipping(
        &small_with_params(),
        "gateway.networking.k8s.io",
        "listenersets",
        "",
    )) + &set
        + secret;
    for (copied, clusters) in [(true, &["c1", "c2"][..]), (false, &[])] {
        on_clusters(&text, "", copied, |there, _| {
            assert_eq!(clusters_with(there, SECRET, "infra", "c"), clusters);
        });
    }
}

#[test]
fn a_reference_to_another_namespace_goes_to_the_copy_if_every_cluster_has_it() {
    let redirects = |text: &str, copied: bool| {
        on_clusters(text, "", copied, |there, received| {
            let gateway = &received.making.gateways.rows()[0];
            redirected(gateway, there)
        })
    };
    let listener = small_with_params().replace(
        "{name: https, port: 443, protocol: HTTPS}",
        "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c, namespace: certs}, {name: own}]}}",
    ) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: c, namespace: certs}\n\
         ---\napiVersion: v1\nkind: Secret\nmetadata: {name: own, namespace: infra}\n" + &grant("Secret");
    assert_eq!(
        redirects(&listener, true),
        [(
            "/spec/listeners/1/tls/certificateRefs/0".to_owned(),
            "certs.c".to_owned()
        )]
    );
    assert!(redirects(&listener, false).is_empty(), "it is not copied");
}

#[test]
fn whether_a_policy_goes_to_clusters_is_decided_by_its_target() {
    let synced = |text: &str| {
        let hub = hub(text, &[]);
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let topology = &received.attachments.topology;
            let kind = received.attachments.policies.rows()[0].kind;
            let node = received.attachments.policies.rows()[0]
                .nodes()
                .into_iter()
                .next()
                .unwrap();
            is_synced(topology, (received.kinds, received.routes), kind, node)
        })
    };
    let base = small_with_params();
    let on_route = limit("l", "kind: HTTPRoute, name: r1", LIMIT);
    assert!(synced(&(base.clone() + &limit("l", GW, LIMIT))));
    assert!(!synced(&(base.clone() + &on_route)), "the route stays");
    assert!(synced(&(shipping_routes(&base) + &on_route)));
    let sets = with_sets(&asking_for_traffic()) + SET + &traffic("kind: ListenerSet, name: ls");
    assert!(!synced(&sets), "the ListenerSet stays");
    assert!(synced(&shipping(
        &sets,
        "gateway.networking.k8s.io",
        "listenersets",
        ""
    )));
}

#[test]
fn a_rule_that_an_api_server_checks_is_reported_for_the_chain_of_our_gateways() {
    let said = |text: &str| said(text, &["c1"], broken_rules);
    let base = (small_with_params() + FOREIGN).replace(
        "protocol: HTTPS}",
        "protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}",
    );
    assert!(said(&base).is_empty());
    let route = |text: &str, name: &str| {
        let rules =
            "rules: [{matches: [{path: {type: Exact, value: x}}], backendRefs: [{name: s, port: 80}]}]}";
        let (before, after) = text
            .split_once(&format!("metadata: {{name: {name}, namespace: infra}}"))
            .unwrap();
        let after = after.replacen(
            "rules: [{backendRefs: [{name: s, port: 80}]}]",
            rules.trim_end_matches('}'),
            1,
        );
        format!("{before}metadata: {{name: {name}, namespace: infra}}{after}")
    };
    let of = |name: &str| {
        [format!(
            "route/invalid HTTPRoute infra/{name}: the path `x` does not begin with `/`"
        )]
    };
    assert_eq!(said(&route(&base, "r2")), of("r2"));
    assert!(
        said(&route(&base, "away")).is_empty(),
        "a route of another Gateway"
    );
    let elsewhere = base.replace(
        "name: gw, sectionName: http",
        "group: example.com, kind: Other, name: gw",
    );
    assert!(
        said(&route(&elsewhere, "r2")).is_empty(),
        "its parent is no Gateway"
    );
    let in_set = with_sets(&base).replace(
        "parentRefs: [{name: gw, sectionName: http}]",
        "parentRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: ls}]",
    ) + SET;
    assert_eq!(
        said(&route(&in_set, "r2")),
        of("r2"),
        "a route of a ListenerSet of ours"
    );
    assert!(
        said(&route(
            &in_set.replace("parentRef: {name: gw}", "parentRef: {name: foreign}"),
            "r2"
        ))
        .is_empty()
    );
}

#[test]
fn routes_that_match_the_same_requests_on_a_listener_are_shadowed() {
    let said = |text: &str| -> Vec<String> {
        let said = said(text, &["c1"], shadowed).into_iter();
        said.map(|one| one.trim_start_matches("route/shadowed ").to_owned())
            .collect()
    };
    let base = SMALL.replace("  - {backendRefs: [{name: s, port: 80}]}\n", "");
    let base = base.replace(
        "rules:\n  - {name: first, backendRefs: [{name: s, port: 80}]}\n",
        "rules: []\n",
    );
    let r2 = "rules: [{backendRefs: [{name: s, port: 80}]}]";
    let routes = |kind: &str, one: &str, two: &str| {
        let text = base
            .replacen(
                r2,
                &format!("rules: [{{matches: [{one}], backendRefs: [{{name: s, port: 80}}]}}]"),
                1,
            )
            .replace("kind: HTTPRoute", &format!("kind: {kind}"));
        let second = format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: {kind}\nmetadata: {{name: r3, namespace: infra}}\nspec: {{parentRefs: [{{name: gw, sectionName: http}}], rules: [{{matches: [{two}], backendRefs: [{{name: s, port: 80}}]}}]}}\n"
        );
        text + &second
    };
    for (kind, one, two) in [
        (
            "HTTPRoute",
            "{path: {type: PathPrefix, value: /a}}",
            "{path: {value: /a/}}",
        ),
        (
            "HTTPRoute",
            "{method: GET}",
            "{path: {type: PathPrefix, value: /}, method: GET}",
        ),
        (
            "HTTPRoute",
            "{headers: [{name: A, value: x}]}",
            "{headers: [{name: a, value: x, type: Exact}]}",
        ),
        (
            "HTTPRoute",
            "{queryParams: [{name: q, value: x}]}",
            "{queryParams: [{name: q, value: x}]}",
        ),
        (
            "GRPCRoute",
            "{method: {service: s}}",
            "{method: {service: s, type: Exact}}",
        ),
    ] {
        assert_eq!(
            said(&routes(kind, one, two)),
            [format!(
                "{kind} infra/r2 gets all requests of this match of {kind} infra/r3"
            )],
            "{one} {two}"
        );
    }
    for (kind, one, two) in [
        (
            "HTTPRoute",
            "{path: {type: PathPrefix, value: /a}}",
            "{path: {type: Exact, value: /a}}",
        ),
        ("HTTPRoute", "{path: {value: /a}}", "{path: {value: /b}}"),
        ("HTTPRoute", "{method: GET}", "{method: PUT}"),
        (
            "HTTPRoute",
            "{headers: [{name: a, value: x}]}",
            "{headers: [{name: a, value: y}]}",
        ),
        (
            "HTTPRoute",
            "{queryParams: [{name: q, value: x}]}",
            "{queryParams: [{name: Q, value: x}]}",
        ),
        ("GRPCRoute", "{method: {service: s}}", "{method: {service: t}}"),
        (
            "GRPCRoute",
            "{method: {service: s, method: m}}",
            "{method: {service: s}}",
        ),
    ] {
        assert!(said(&routes(kind, one, two)).is_empty(), "{one} {two}");
    }
    let theirs = routes("HTTPRoute", "{method: GET}", "{method: GET}")
        .replace("gatewayClassName: gc", "gatewayClassName: theirs");
    assert!(said(&theirs).is_empty(), "on a Gateway of another class");
}

#[test]
fn each_copy_of_a_policy_goes_to_the_clusters_where_it_is_in_effect_and_names_its_sources() {
    let merging = |name: &str, limits: &str| {
        limit(
            name,
            GW,
            &format!(
                "defaults: {{strategy: merge, limits: {{{limits}: {{rates: [{{limit: 1, window: 1s}}]}}}}}}"
            ),
        )
    };
    let text = small_with_params() + &merging("a", "one") + &merging("b", "two");
    let copies = |text: &str, local: &str| {
        let hub = hub(text, &[("c2", local)]);
        received(&hub, &[("infra/gw", &["c1", "c2"])], |received| {
            let copies = received.making.variants.iter().flatten().flat_map(|variant| {
                variant.copies.iter().map(|copy| {
                    let named = copy
                        .object
                        .value
                        .pointer("/metadata/name")
                        .and_then(kube_json::Value::as_str);
                    assert_eq!(named, Some(copy.object.name.as_str()));
                    let annotations = copy.object.value.pointer("/metadata/annotations").cloned();
                    (copy.object.name.clone(), variant.clusters.join(" "), annotations)
                })
            });
            copies.collect::<Vec<_>>()
        })
    };
    let shape = |text: &str, local: &str| {
        let copies = copies(text, local).into_iter();
        copies
            .map(|(name, clusters, _)| format!("{name}: {clusters}"))
            .collect::<Vec<_>>()
    };
    let there =
        |settings: &str| limit("l", GW, settings).replace("namespace: infra", "namespace: kuadrant-infra");
    assert_eq!(shape(&text, ""), ["a: c1 c2"]);
    assert_eq!(shape(&text, &there(LIMIT)), ["a: c1"], "a local policy wins");
    let part = there("defaults: {strategy: merge, limits: {one: {rates: [{limit: 9, window: 1s}]}}}");
    assert_eq!(shape(&text, &part).len(), 2, "a local policy wins a part");
    let sources = |text: &str| {
        format!(
            "{:?}",
            copies(text, "")
                .first()
                .and_then(|(_, _, annotations)| annotations.clone())
        )
    };
    assert!(
        sources(&text).contains("ratelimitpolicy.kuadrant.io:infra/b"),
        "{}",
        sources(&text)
    );
    let alone = small_with_params() + &merging("a", "one");
    assert!(!sources(&alone).contains("infra/a"), "{}", sources(&alone));
}

#[test]
fn two_local_policies_need_their_times_where_the_older_one_decides() {
    // A kind of which the hub has no policy is none of its kinds.
    let said = |on_route: &str, locals: &str| {
        let hub = hub(&(small_with_params() + on_route), &[("c1", locals)]);
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let (options, mut findings) = (Options::default(), Findings::new());
            let objects = &received.hub.spokes["c1"];
            let there = LocalPolicies::read(received.attachments, "c1", objects, &options, &mut findings);
            report_local_conflicts(received.attachments, &there, &mut findings);
            findings.iter().count()
        })
    };
    let time = ", creationTimestamp: \"2026-01-01T00:00:00Z\"";
    let local = |name: &str, time: &str, rates: u8| {
        let settings = format!("limits: {{l: {{rates: [{{limit: {rates}, window: 1s}}]}}}}");
        limit(name, GW, &settings).replace("namespace: infra", &format!("namespace: kuadrant-infra{time}"))
    };
    let on_route = limit("l", "kind: HTTPRoute, name: r1", LIMIT);
    for (one, other, rates, expected) in [
        ("", "", 2, 1),
        (time, "", 2, 1),
        ("", time, 2, 1),
        (time, time, 2, 0),
        ("", "", 1, 0),
    ] {
        let locals = local("a", one, 1) + &local("b", other, rates);
        assert_eq!(said(&on_route, &locals), expected, "{one} {other} {rates}");
    }
    let nginx = |name: &str, target: &str, settings: &str| {
        format!(
            "---\napiVersion: gateway.nginx.org/v1alpha1\nkind: ClientSettingsPolicy\n\
             metadata: {{name: {name}, namespace: kuadrant-infra}}\n\
             spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}, {settings}}}\n"
        )
    };
    let size = "body: {maxSize: 1m}";
    let on_route = nginx("l", "kind: HTTPRoute, name: r1", size).replace("kuadrant-infra", "infra");
    for (settings, expected) in [("body: {timeout: 1s}", 0), ("body: {maxSize: 2m}", 1)] {
        let locals = nginx("a", GW, size) + &nginx("b", GW, settings);
        assert_eq!(said(&on_route, &locals), expected, "{settings}");
    }
}

#[test]
fn a_rule_is_not_reported_where_reading_found_a_mistake() {
    let base = SMALL.replace(
        "rules: [{backendRefs: [{name: s, port: 80}]}]",
        "rules: [{matches: [{path: {type: Exact, value: x}}], backendRefs: [{name: s, port: 80}]}]",
    );
    let count = |code: Code, pointer: &str, is_rule: bool| {
        let hub = hub(&base, &[]);
        let route = hub
            .objects
            .find("gateway.networking.k8s.io", "HTTPRoute", Some("infra"), "r2");
        let mut known = Finding::new(code, route.unwrap().place(pointer), "found before");
        known.is_rule = is_rule;
        let mut said = Findings::new();
        said.push(known);
        let mut findings = Findings::new();
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let (attachments, ours) = (received.attachments, received.making.ours);
            report_broken_rules(attachments, received.hub, ours, |_, _| true, &said, &mut findings);
        });
        let of_route = findings
            .iter()
            .filter(|finding| finding.message.contains("HTTPRoute infra/r2"));
        of_route.count()
    };
    let value = "/spec/rules/0/matches/0/path/value";
    assert_eq!(count(Code::OBJECT_SCHEMA, value, false), 0, "the field");
    assert_eq!(
        count(Code::OBJECT_SCHEMA, "/spec/rules", false),
        0,
        "what it is in"
    );
    assert_eq!(
        count(Code::OBJECT_SCHEMA, "/spec/parentRefs", false),
        1,
        "another field"
    );
    assert_eq!(count(Code::OBJECT_SCHEMA, value, true), 1, "a rule says as much");
    assert_eq!(
        count(Code::OBJECT_UNKNOWN_FIELD, "/spec/hostnam", false),
        0,
        "that may be the field that was meant"
    );
    assert_eq!(
        count(Code::ROUTE_INVALID, value, false),
        1,
        "that says something else"
    );
}
