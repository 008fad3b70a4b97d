//! Single mistakes in a hub that is fine: each is found, at its place, with what to do, and once.
//!
//! The hub is `examples/fleet`. `fixtures/mistakes/<name>.txt` holds what `check` says of each mistake, as it was read;
//! `UPDATE_MISTAKES=1` writes it anew.

use std::path::Path;

use crate::scratch::{Scratch, copy, fixtures};

/// What somebody did to a file.
#[derive(Clone, Copy)]
enum Edit {
    /// Replaced the first of these texts.
    Replace(&'static str, &'static str),
    /// Wrote a new file, or another text in place of all.
    Write(&'static str),
    /// Copied `shop/limits.yaml`.
    CopyLimits,
}
use Edit::{CopyLimits, Replace, Write};

/// A mistake: what was done to which file, the line of the file where the finding is expected, and what its help says.
struct Mistake {
    name: &'static str,
    file: &'static str,
    edit: Edit,
    at: &'static str,
    fix: &'static str,
}

const fn mistake(
    name: &'static str,
    file: &'static str,
    edit: Edit,
    at: &'static str,
    fix: &'static str,
) -> Mistake {
    Mistake {
        name,
        file,
        edit,
        at,
        fix,
    }
}

const SECRET: &str =
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: shop\ndata:\n  key: c2VjcmV0\n";

#[rustfmt::skip] // one mistake after another, each in the order: name, file, edit, place, fix
const MISTAKES: &[Mistake] = &[
    mistake("wrong-key-in-class", "platform/gatewayclass.yaml", Replace("parametersRef:", "parameterRef:"),
        "parameterRef:", "`parametersRef`"),
    mistake("wrong-controller-name", "platform/gatewayclass.yaml", Replace("mgc-gw-controller", "mgc-gw-controler"),
        "mgc-gw-controler", "kuadrant.io/mgc-gw-controller"),
    mistake("wrong-key-in-listener", "shop/gateway.yaml", Replace("hostname: shop.acme", "hostnam: shop.acme"),
        "hostnam:", "`hostname`"),
    mistake("wrong-hostname", "shop/gateway.yaml", Replace("hostname: shop.acme.example", "hostname: shop_web.acme.example"),
        "shop_web", "shop-web.acme.example"),
    mistake("wrong-protocol", "payments/gateway.yaml", Replace("protocol: HTTPS", "protocol: HTTPs"),
        "HTTPs", "`HTTPS`"),
    mistake("port-out-of-range", "payments/gateway.yaml", Replace("port: 443", "port: 70000"),
        "70000", "65535"),
    mistake("port-as-text", "payments/gateway.yaml", Replace("port: 443", "port: \"443\""),
        "\"443\"", "quotes"),
    mistake("two-listeners-of-one-name", "shop/gateway.yaml", Replace("- name: api", "- name: web"),
        "name: web\n    hostname: api", "a name of its own"),
    mistake("two-listeners-of-one-hostname", "shop/gateway.yaml", Replace("hostname: api.shop.acme.example", "hostname: shop.acme.example"),
        "name: api", "hostname"),
    mistake("limit-as-text", "shop/limits.yaml", Replace("limit: 100", "limit: \"100\""),
        "\"100\"", "quotes"),
    mistake("wrong-key-in-limit", "payments/limits.yaml", Replace("limit: 50", "limits: 50"),
        "limits: 50", "`limit`"),
    mistake("wrong-window", "payments/limits.yaml", Replace("window: 1m", "window: 1 minute"),
        "1 minute", "1m"),
    mistake("wrong-strategy", "shop/authentication.yaml", Replace("strategy: atomic", "strategy: atomc"),
        "atomc", "`atomic`"),
    mistake("wrong-name-in-target", "shop/limits.yaml", Replace("name: storefront\n  defaults", "name: storefrontt\n  defaults"),
        "storefrontt", "`storefront`"),
    mistake("wrong-section-in-target", "shop/limits.yaml", Replace("sectionName: api", "sectionName: apii"),
        "apii", "`api`"),
    mistake("wrong-kind-in-target", "payments/limits.yaml", Replace("kind: Gateway", "kind: Gatway"),
        "Gatway", "`Gateway`"),
    mistake("wrong-policy-kind", "shop/authentication.yaml", Replace("kind: AuthPolicy", "kind: AuthPolcy"),
        "AuthPolcy", "`AuthPolicy`"),
    mistake("wrong-policy-group", "payments/limits.yaml", Replace("kuadrant.io/v1", "kuadrant.com/v1"),
        "kuadrant.com", "`kuadrant.io/v1`"),
    mistake("wrong-policy-version", "payments/limits.yaml", Replace("kuadrant.io/v1", "kuadrant.io/v1beta9"),
        "v1beta9", "`apiVersion: kuadrant.io/v1`"),
    mistake("wrong-gateway-version", "shop/gateway.yaml", Replace("gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v2"),
        "k8s.io/v2", "`apiVersion: gateway.networking.k8s.io/v1`"),
    mistake("grant-for-another-namespace", "shop/grant.yaml", Replace("namespace: platform", "namespace: platfrom"),
        "", "ReferenceGrant"),
    mistake("wrong-placement-label", "shop/gateway.yaml", Replace("io/placement: everywhere", "io/placment: everywhere"),
        "placment", "`cluster.open-cluster-management.io/placement`"),
    mistake("placement-that-is-not-there", "shop/gateway.yaml", Replace("io/placement: everywhere", "io/placement: evrywhere"),
        "evrywhere", "`everywhere`"),
    mistake("wrong-parent", "shop/routes.yaml", Replace("name: storefront\n    sectionName: web", "name: storefrnt\n    sectionName: web"),
        "storefrnt", "`storefront`"),
    mistake("wrong-cluster-in-decision", "payments/placement.yaml", Replace("clusterName: eu-2", "clusterName: eu2"),
        "eu2", "`eu-2`"),
    mistake("object-twice", "shop/more.yaml", CopyLimits,
        "name: per-client", "remove one of the two"),
    mistake("tab", "payments/limits.yaml", Replace("    limits:", "\tlimits:"),
        "\tlimits:", "spaces"),
    mistake("wrong-indentation", "payments/limits.yaml", Replace("  overrides:", "overrides:"),
        "overrides:", "`spec`"),
    mistake("missing-separator", "shop/limits.yaml", Replace("---\n", ""),
        "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata:\n  name: api-burst", "---"),
    mistake("emptied-file", "shop/authentication.yaml", Write(""),
        "", "remove the file"),
    mistake("plain-secret", "shop/secret.yaml", Write(SECRET),
        "key: c2", "SealedSecret"),
    mistake("owner-without-uid", "shop/limits.yaml", Replace("metadata:\n  name: per-client", "metadata:\n  ownerReferences:\n  - {apiVersion: v1, kind: A, name: a}\n  name: per-client"),
        "{apiVersion: v1, kind: A", "remove it"),
    mistake("owner-of-no-version", "shop/gateway.yaml", Replace("metadata:\n", "metadata:\n  ownerReferences:\n  - {apiVersion: apps/, kind: A, name: a, uid: u}\n"),
        "{apiVersion: apps/", "remove it"),
    mistake("two-controllers", "00-namespaces.yaml", Replace("metadata:\n", "metadata:\n  ownerReferences:\n  - {apiVersion: v1, kind: A, name: a, uid: u, controller: true}\n  - {apiVersion: v1, kind: B, name: b, uid: v, controller: true}\n"),
        "{apiVersion: v1, kind: B", "remove it"),
    mistake("wrong-finalizer", "shop/placement.yaml", Replace("metadata:\n", "metadata:\n  finalizers: [a b]\n"),
        "finalizers: [a b]", "choose another"),
    mistake("time-that-is-none", "platform/gateway-params.yaml", Replace("metadata:\n", "metadata:\n  creationTimestamp: today\n"),
        "creationTimestamp: today", "remove it"),
    mistake("limit-beyond-64-bits", "shop/limits.yaml", Replace("limit: 100", "limit: 9223372036854775808"),
        "9223372036854775808", "9223372036854775807"),
    mistake("lease-beyond-64-bits", "clusters/clusters.yaml", Replace("hubAcceptsClient: true", "leaseDurationSeconds: 9223372036854775808"),
        "9223372036854775808", "2147483647"),
    mistake("lease-beyond-32-bits", "clusters/clusters.yaml", Replace("hubAcceptsClient: true", "leaseDurationSeconds: 2147483648"),
        "2147483648", "2147483647"),
    mistake("binding-of-another-set", "clusters/clusterset.yaml", Replace("  clusterSet: edge", "  clusterSet: edges"),
        "edges", "clusterSet: edge"),
    mistake("client-config-without-tls", "clusters/clusters.yaml", Replace("hubAcceptsClient: true", "managedClusterClientConfigs: [{url: \"http://eu-1:6443\"}]"),
        "http://", "https://"),
    mistake("number-for-a-word", "payments/gateway.yaml", Replace("protocol: HTTPS", "protocol: 443"),
        "protocol: 443", "quote it"),
    mistake("both-sides", "payments/limits.yaml", Replace("  overrides:", "  defaults:\n    limits: {}\n  overrides:"),
        "overrides:", "keep one"),
];

/// The example with a mistake, and CRDs beside it where `with_crds` names their directory.
fn scratch(mistake: &Mistake, with_crds: Option<&Path>) -> Scratch {
    let scratch = Scratch::new();
    let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet");
    for directory in ["hub", "spokes"] {
        copy(&fleet.join(directory), &scratch.path(directory));
    }
    std::fs::copy(fleet.join("spokewright.yaml"), scratch.path("spokewright.yaml")).unwrap();
    let file = format!("hub/{}", mistake.file);
    match mistake.edit {
        Replace(from, to) => scratch.edit(&file, from, to),
        Write(text) => scratch.write(&file, text),
        CopyLimits => scratch.write(&file, &scratch.read("hub/shop/limits.yaml")),
    };
    if let Some(crds) = with_crds {
        for products in ["gateway-api/standard", "kuadrant", "ocm"] {
            copy(&crds.join(products), &scratch.path("hub/crds").join(products));
        }
    }
    scratch
}

/// Points for found, right place, fix told, and one finding; and what was printed.
fn points(mistake: &Mistake, with_crds: Option<&Path>) -> ([bool; 4], String) {
    let scratch = scratch(mistake, with_crds);
    let run = scratch.run(&["check"]);
    let found = run.stdout.matches("error[").count() + run.stdout.matches("warning[").count();
    let text = scratch.read(&format!("hub/{}", mistake.file));
    let line = text
        .find(mistake.at)
        .map_or(1, |position| text[..position].lines().count().max(1));
    let starts_a_line = text
        .find(mistake.at)
        .is_some_and(|position| position == 0 || text[..position].ends_with('\n'));
    let line = line + usize::from(starts_a_line && text.find(mistake.at) != Some(0));
    let first = run.stdout.split("\n\n").next().unwrap_or_default();
    let place = format!("hub/{}:{line}:", mistake.file);
    let at_place =
        first.contains(&place) || (mistake.at.is_empty() && first.contains(&format!("hub/{}", mistake.file)));
    let fix = first
        .rsplit("= help: ")
        .next()
        .is_some_and(|help| help.contains(mistake.fix));
    ([found > 0, at_place, fix && found > 0, found == 1], run.stdout)
}

/// What is said of each mistake. None is silent, and none lacks a point.
fn score(with_crds: Option<&Path>) -> Vec<(&'static str, String)> {
    let (mut reached, mut lacking, mut texts) = (0, String::new(), Vec::new());
    let mut silent = Vec::new();
    for mistake in MISTAKES {
        let (points, text) = points(mistake, with_crds);
        reached += points.iter().filter(|point| **point).count();
        if points.contains(&false) {
            lacking += &format!("{} (found, place, fix, once): {points:?}\n{text}\n", mistake.name);
        }
        silent.extend((!points[0]).then_some(mistake.name));
        texts.push((mistake.name, text));
    }
    let score = reached * 100 / (MISTAKES.len() * 4);
    assert!(
        silent.is_empty() && score == 100,
        "{score} of 100, silent: {silent:?}\n{lacking}"
    );
    texts
}

#[test]
fn every_mistake_is_found_at_its_place_with_its_fix_and_once() {
    for (name, text) in score(None) {
        let path = fixtures().join("mistakes").join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_MISTAKES").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{name}");
    }
}

#[cfg(feature = "real-crds")]
#[test]
fn every_mistake_is_found_as_well_with_the_crds_of_the_products_in_the_input() {
    let crds = std::env::var_os("SPOKEWRIGHT_CRDS").expect("SPOKEWRIGHT_CRDS names the directory of CRDs");
    score(Some(Path::new(&crds)));
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_are_no_mistakes() {
    let unchanged = scratch(&mistake("", "shop/limits.yaml", Replace("", ""), "", ""), None);
    let wanted = unchanged.run(&["render", "-o", "-"]);
    let text = unchanged.read("hub/shop/limits.yaml");
    for text in [text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
        unchanged.write("hub/shop/limits.yaml", &text);
        let run = unchanged.run(&["render", "-o", "-"]);
        assert_eq!((run.stdout, run.status), (wanted.stdout.clone(), 0));
    }
}

/// Warnings of several kinds, none of which has to do with any of the mistakes.
const WARNINGS: [(&str, &str); 3] = [
    (
        "hub/zz/route.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: zz, namespace: shop}\nspec:\n  \
         parentRefs: [{name: nowhere, namespace: zz}]\n  rules: [{backendRefs: [{name: zz, port: 80}]}]\n",
    ),
    (
        "hub/zz/policy.yaml",
        "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: zz, namespace: shop}\nspec:\n  \
         targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: zz}\n  limits: {zz: {rates: [{limit: 1, window: 1s}]}}\n",
    ),
    (
        "spokes/zz/zz.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: zz, namespace: zz}\n",
    ),
];

/// Adding warnings to a hub removes no other finding.
#[test]
fn no_warning_hides_what_is_said_of_a_mistake() {
    // The first line and the place of each.
    let findings = |text: &str| -> std::collections::BTreeSet<String> {
        let parts = text.split("\n\n").filter(|part| part.contains("]: "));
        parts
            .map(|part| part.lines().take(2).collect::<Vec<_>>().join("\n"))
            .collect()
    };
    for mistake in MISTAKES {
        let scratch = scratch(mistake, None);
        let before = fixtures().join("mistakes").join(format!("{}.txt", mistake.name));
        let before = findings(&std::fs::read_to_string(before).unwrap());
        for (file, text) in WARNINGS {
            scratch.write(file, text);
        }
        let after = findings(&scratch.run(&["check"]).stdout);
        assert!(
            after.is_superset(&before),
            "{}: {before:#?} {after:#?}",
            mistake.name
        );
        assert!(after.len() >= before.len() + 2, "{}: {after:#?}", mistake.name);
    }
}
