//! What shipped objects need on their clusters.

use super::super::{Received, received};
use super::{GW, LIMIT, SET, asking_for, policy, said, said_with_help, shipping, shipping_routes, with_sets};
use crate::diagnostic::{Code, Finding, Findings, Warnings};
use crate::sync::{OnSpokes, redirected, report_references};
use crate::tests::{hub, limit, small_with_params};
use apimachinery::Identity;

fn references(received: &Received<'_>, findings: &mut Findings) {
    let Received {
        hub, grants, synced, ..
    } = received;
    let (ours, gateways, variants) = (
        received.syncing.ours,
        received.making.gateways,
        received.making.variants,
    );
    let there = OnSpokes::new((hub, grants), std::iter::once((gateways, variants)), false);
    let synced = (synced.objects.as_slice(), variants);
    report_references((hub, grants), ours, gateways, synced, &there, findings);
}

/// What is reported about references that nothing permits.
fn not_permitted(text: &str, local: &str, clusters: &[&str]) -> Vec<[String; 2]> {
    let mut found = said_with_help(text, &[("c1", local)], clusters, references);
    found.retain(|[message, _]| message.starts_with("reference/not-permitted "));
    found
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
            std::iter::once((received.making.gateways, received.making.variants)),
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
fn a_secret_with_the_label_that_is_wanted_may_be_shipped() {
    let text = |labels: &str| {
        let secrets = "{group: '', version: v1, resource: secrets, names: [infra/aws]}";
        let base = small_with_params().replace(
            "{policiesToSync:",
            &format!("{{resourcesToSync: [{secrets}], policiesToSync:"),
        );
        asking_for(&base, "dnspolicies")
            + &policy("DNSPolicy", GW, "")
            + &format!(
                "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: aws, namespace: infra, labels: {{{labels}}}}}\n"
            )
    };
    let wanted = text("kuadrant.io/default-provider: \"true\"");
    assert!(said(&wanted, &["c1", "c2"], references).is_empty());
    assert_eq!(said(&text("a: b"), &["c1", "c2"], references).len(), 1);
}

#[test]
fn a_gateway_needs_what_it_refers_to_unless_the_reference_goes_to_a_copy() {
    let own = far().replace(
        "name: ca, namespace: certs}]}",
        "name: ca, namespace: certs}, {group: '', kind: ConfigMap, name: own}]}",
    );
    let text = shipping(&own, "", "configmaps", ", names: [certs/ca]") + &grant("ConfigMap");
    let found = said(&text, &["c1"], references);
    let [message] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert!(
        message.contains("ConfigMap kuadrant-infra/own is needed on c1"),
        "{message}"
    );
}

#[test]
fn a_finding_names_six_objects_that_need_something_and_counts_the_others() {
    let needing = |count: usize| {
        let route = |number: usize| {
            format!(
                "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: n{number}, namespace: infra}}\n\
                 spec: {{parentRefs: [{{name: gw}}], rules: [{{matches: [{{path: {{value: /{number}}}}}], backendRefs: [{{name: lost, port: 80}}]}}]}}\n"
            )
        };
        let routes: String = (0..count).map(route).collect();
        let hub = hub(&(shipping_routes(&small_with_params()) + &routes), &[]);
        let mut findings = Findings::new();
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            references(received, &mut findings);
        });
        let lost = findings.iter().find(|finding| finding.message.contains("lost"));
        let lost = lost.unwrap();
        (lost.related.len(), lost.notes.clone())
    };
    assert_eq!(needing(1), (0, Vec::new()));
    assert_eq!(needing(6), (5, Vec::new()));
    assert_eq!(needing(8), (5, vec!["2 more need it".into()]));
}

#[test]
fn a_field_of_several_copies_is_named_once_and_two_fields_of_one_object_each() {
    let other = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: infra}\n\
                 spec: {gatewayClassName: gc, listeners: [{name: http, port: 80, protocol: HTTP}]}\n";
    let route = |backends: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: both, namespace: infra}}\n\
             spec: {{parentRefs: [{{name: gw}}, {{name: other}}], rules: [{{backendRefs: [{backends}]}}]}}\n"
        )
    };
    let places = |backends: &str| {
        let hub = hub(
            &(shipping_routes(&small_with_params()) + other + &route(backends)),
            &[],
        );
        let mut findings = Findings::new();
        let clusters: &[(&str, &[&str])] = &[("infra/gw", &["c1"]), ("infra/other", &["c2"])];
        received(&hub, clusters, |received| {
            references(received, &mut findings);
        });
        let lost = findings.iter().find(|finding| finding.message.contains("lost"));
        lost.unwrap().related.len() + 1
    };
    let lost = "{name: lost, port: 80}";
    assert_eq!(places(lost), 1);
    assert_eq!(places(&format!("{lost}, {lost}")), 2);
}

#[test]
fn a_reference_of_a_wrong_kind_is_not_reported_again_for_what_it_would_need() {
    let text = asking_for(&small_with_params(), "dnspolicies")
        + &policy("DNSPolicy", GW, ", providerRefs: [{name: aws}]");
    for (pointer, expected) in [
        ("/spec/providerRefs/0/kind", 1),
        ("/spec/providerRefs/0/name", 1),
        ("/spec/targetRef", 2),
    ] {
        let mut found = 0;
        let hub = hub(&text, &[]);
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let dns = received.attachments.policies.rows()[0].object;
            let mut findings = Findings::new();
            findings.push(Finding::new(Code::OBJECT_SCHEMA, dns.place(pointer), "wrong"));
            references(received, &mut findings);
            findings.finish(&std::collections::BTreeMap::default(), Warnings::Reported);
            found = findings.iter().count();
        });
        assert_eq!(found, expected, "{pointer}");
    }
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

#[test]
fn a_gateway_needs_a_grant_for_what_it_refers_to_in_another_namespace() {
    let not_permitted = |text: &str, clusters: &[&str]| not_permitted(text, "", clusters);
    assert_eq!(
        not_permitted(&far(), &["c1"]),
        [[
            "reference/not-permitted Gateway infra/gw may not refer to ConfigMap certs/ca, which is in another namespace, on c1",
            "add a ReferenceGrant to namespace `certs`, from gateway.networking.k8s.io `Gateway` in namespace `infra` to ConfigMap; one that lives on a cluster has to say `kuadrant-infra`"
        ]]
    );
    assert!(not_permitted(&far(), &[]).is_empty(), "it goes nowhere");
    assert!(not_permitted(&(far() + &grant("ConfigMap")), &["c1"]).is_empty());
    assert_eq!(
        not_permitted(&(far() + &grant("Secret")), &["c1"]).len(),
        1,
        "the grant is for another kind"
    );
}

#[test]
fn a_route_needs_a_grant_on_each_cluster_for_a_backend_in_another_namespace() {
    let grant = |from: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {{name: g, namespace: far}}\n\
             spec: {{from: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: {from}}}], to: [{{group: '', kind: Service}}]}}\n"
        )
    };
    let text = shipping_routes(&small_with_params()).replace(
        "backendRefs: [{name: s, port: 80}]",
        "backendRefs: [{name: s, namespace: far, port: 80}]",
    );
    assert!(text.contains("namespace: far"), "{text}");
    let on = |clusters: &str| {
        format!(
            "reference/not-permitted HTTPRoute infra/r1 may not refer to Service far/s, which is in another namespace, on {clusters}"
        )
    };
    let messages = |text: &str, local: &str| -> Vec<String> {
        let found = not_permitted(text, local, &["c1", "c2"]).into_iter();
        found.map(|[message, _]| message).collect()
    };
    assert_eq!(messages(&text, ""), [on("c1, c2")]);
    assert_eq!(
        messages(&text, &grant("infra")),
        [on("c2")],
        "c1 has a grant of its own"
    );
    assert_eq!(messages(&text, &grant("other")), [on("c1, c2")]);
    assert!(
        messages(&(text.clone() + &grant("infra")), "").is_empty(),
        "it is shipped"
    );
    assert_eq!(messages(&(text + &grant("other")), ""), [on("c1, c2")]);
}

#[test]
fn a_cluster_has_what_is_shipped_what_lives_there_and_what_is_made_of_these() {
    let listeners = |reference: &str| {
        small_with_params().replace(
            "{name: https, port: 443, protocol: HTTPS}",
            &format!(
                "{{name: https, port: 443, protocol: HTTPS, hostname: a.example, tls: {{certificateRefs: [{reference}]}}}}"
            ),
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
