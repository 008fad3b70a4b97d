//! Single mistakes in a hub that is fine: each is found, at its place, with what to do, and once.
//!
//! The hub is `examples/fleet`. `fixtures/mistakes/<name>.txt` holds what `check` says of each mistake, as it was read;
//! `UPDATE_MISTAKES=1` writes it anew.

use std::path::Path;

use crate::scratch::{Scratch, copy, fixtures};

/// A mistake.
struct Mistake {
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// Text of the file whose line the finding is at; empty: the file as such, or the first line of what was changed.
    at: &'static str,
    /// What the help says.
    fix: &'static str,
}

const fn mistake(
    name: &'static str,
    file: &'static str,
    (from, to): (&'static str, &'static str),
    at: &'static str,
    fix: &'static str,
) -> Mistake {
    Mistake {
        name,
        file,
        from,
        to,
        at,
        fix,
    }
}

#[rustfmt::skip] // one mistake after another, each in the order: name, file, edit, place, fix
const MISTAKES: &[Mistake] = &[
    mistake("wrong-key-in-class", "platform/gatewayclass.yaml", ("parametersRef:", "parameterRef:"),
        "parameterRef:", "`parametersRef`"),
    mistake("wrong-controller-name", "platform/gatewayclass.yaml", ("mgc-gw-controller", "mgc-gw-controler"),
        "mgc-gw-controler", "kuadrant.io/mgc-gw-controller"),
    mistake("wrong-key-in-listener", "shop/gateway.yaml", ("hostname: shop.acme", "hostnam: shop.acme"),
        "hostnam:", "`hostname`"),
    mistake("wrong-hostname", "shop/gateway.yaml", ("hostname: shop.acme.example", "hostname: shop_web.acme.example"),
        "shop_web", "shop-web.acme.example"),
    mistake("wrong-protocol", "payments/gateway.yaml", ("protocol: HTTPS", "protocol: HTTPs"),
        "HTTPs", "`HTTPS`"),
    mistake("port-out-of-range", "payments/gateway.yaml", ("port: 443", "port: 70000"),
        "70000", "65535"),
    mistake("port-as-text", "payments/gateway.yaml", ("port: 443", "port: \"443\""),
        "\"443\"", "quotes"),
    mistake("two-listeners-of-one-name", "shop/gateway.yaml", ("- name: api", "- name: web"),
        "hostname: api", "rename"),
    mistake("two-listeners-of-one-hostname", "shop/gateway.yaml", ("hostname: api.shop.acme.example", "hostname: shop.acme.example"),
        "name: api", "hostname"),
    mistake("limit-as-text", "shop/limits.yaml", ("limit: 100", "limit: \"100\""),
        "\"100\"", "quotes"),
    mistake("wrong-key-in-limit", "payments/limits.yaml", ("limit: 50", "limits: 50"),
        "limits: 50", "`limit`"),
    mistake("wrong-window", "payments/limits.yaml", ("window: 1m", "window: 1 minute"),
        "1 minute", "1m"),
    mistake("wrong-strategy", "shop/authentication.yaml", ("strategy: atomic", "strategy: atomc"),
        "atomc", "`atomic`"),
    mistake("wrong-name-in-target", "shop/limits.yaml", ("name: storefront\n  defaults", "name: storefrontt\n  defaults"),
        "storefrontt", "`name: storefront`"),
    mistake("wrong-section-in-target", "shop/limits.yaml", ("sectionName: api", "sectionName: apii"),
        "apii", "`api`"),
    mistake("wrong-kind-in-target", "payments/limits.yaml", ("kind: Gateway", "kind: Gatway"),
        "Gatway", "`Gateway`"),
    mistake("wrong-policy-kind", "shop/authentication.yaml", ("kind: AuthPolicy", "kind: AuthPolcy"),
        "AuthPolcy", "`AuthPolicy`"),
    mistake("wrong-policy-group", "payments/limits.yaml", ("kuadrant.io/v1", "kuadrant.com/v1"),
        "kuadrant.com", "`kuadrant.io/v1`"),
    mistake("wrong-policy-version", "payments/limits.yaml", ("kuadrant.io/v1", "kuadrant.io/v1beta9"),
        "v1beta9", "`apiVersion: kuadrant.io/v1`"),
    mistake("wrong-gateway-version", "shop/gateway.yaml", ("gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v2"),
        "k8s.io/v2", "`apiVersion: gateway.networking.k8s.io/v1`"),
    mistake("grant-for-another-namespace", "shop/grant.yaml", ("namespace: platform", "namespace: platfrom"),
        "", "ReferenceGrant"),
    mistake("wrong-placement-label", "shop/gateway.yaml", ("io/placement: everywhere", "io/placment: everywhere"),
        "placment", "`cluster.open-cluster-management.io/placement`"),
    mistake("placement-that-is-not-there", "shop/gateway.yaml", ("io/placement: everywhere", "io/placement: evrywhere"),
        "evrywhere", "`everywhere`"),
    mistake("wrong-parent", "shop/routes.yaml", ("name: storefront\n    sectionName: web", "name: storefrnt\n    sectionName: web"),
        "storefrnt", "`storefront`"),
    mistake("wrong-cluster-in-decision", "payments/placement.yaml", ("clusterName: eu-2", "clusterName: eu2"),
        "eu2", "`eu-2`"),
    mistake("object-twice", "payments/limits.yaml", ("# ", "@"), "", ""),
    mistake("tab", "payments/limits.yaml", ("    limits:", "\tlimits:"),
        "\tlimits:", "spaces"),
    mistake("wrong-indentation", "payments/limits.yaml", ("  overrides:", "overrides:"),
        "overrides:", "`spec`"),
    mistake("missing-separator", "shop/limits.yaml", ("---\n", ""),
        "@second", "---"),
    mistake("emptied-file", "shop/authentication.yaml", ("@all", ""),
        "", "remove the file"),
    mistake("plain-secret", "shop/secret.yaml", ("@new", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: shop\ndata:\n  key: c2VjcmV0\n"),
        "key: c2", "SealedSecret"),
    mistake("both-sides", "payments/limits.yaml", ("  overrides:", "  defaults:\n    limits: {}\n  overrides:"),
        "overrides:", "keep one"),
];
