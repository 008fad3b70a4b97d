//! What shipped objects need on their clusters.

use super::super::{Received, received};
use super::{GW, LIMIT, SET, asking_for, policy, shipping, with_sets};
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
