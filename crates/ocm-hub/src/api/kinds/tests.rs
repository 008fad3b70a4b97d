//! The table is consistent, it agrees with real CRDs, and it finds the nearest name.

#[cfg(feature = "real-crds")]
mod real_crds;

use std::collections::HashSet;

use super::*;
use crate::api::crd::Scope;

#[test]
fn no_kind_and_no_plural_stands_twice_in_a_group() {
    let rows: Vec<KindInfo> = kinds().collect();
    let kinds: HashSet<_> = rows
        .iter()
        .map(|row| (row.group.clone(), row.kind.clone()))
        .collect();
    let plurals: HashSet<_> = rows
        .iter()
        .map(|row| (row.group.clone(), row.plural.clone()))
        .collect();
    assert_eq!((kinds.len(), plurals.len()), (rows.len(), rows.len()));
    for row in rows {
        assert_eq!(row.plural, row.plural.to_lowercase(), "{row:?}");
        assert!(!row.versions.is_empty(), "{row:?}");
        let policy_by_name = row.kind.ends_with("Policy")
            || row.kind.ends_with("Extension")
            || ["ExternalLoadBalancer", "PayloadProcessor"].contains(&&*row.kind);
        assert!(
            policy_by_name || !row.is_policy() || row.group.ends_with("istio.io"),
            "{row:?}"
        );
    }
}

#[test]
fn kinds_are_found_by_kind_and_by_plural() {
    let table = KindTable::built_in();
    let gateway = table
        .kind("gateway.networking.k8s.io", "Gateway")
        .expect("built in");
    assert_eq!(gateway.plural, "gateways");
    assert_eq!(
        table.plural("gateway.networking.k8s.io", "gateways"),
        Some(gateway)
    );
    assert_eq!(
        table.kind("", "Namespace").map(|info| info.scope),
        Some(Scope::Cluster)
    );
    assert!(
        table
            .kind("kuadrant.io", "AuthPolicy")
            .is_some_and(KindInfo::is_policy)
    );
    assert_eq!(
        table.kind("gateway.networking.k8s.io", "gateway"),
        None,
        "kinds are case-sensitive"
    );
    assert_eq!(table.kind("", "Gateway"), None);
}

/// The near group and the near plural that an unknown resource finds.
fn near(group: &str, plural: &str) -> (Option<String>, Option<String>) {
    let table = KindTable::built_in();
    let near = table.resource(group, plural).expect_err("unknown");
    (near.group.map(str::to_owned), near.plural.map(str::to_owned))
}

#[test]
fn a_misspelled_name_finds_the_nearest_of_its_group() {
    for (typed, meant) in [
        ("ratelimitpolicy", Some("ratelimitpolicies")),
        ("AuthPolicy", Some("authpolicies")),
        ("authpolicys", Some("authpolicies")),
        ("zzz", None),
        ("acmepolicies", None),
    ] {
        assert_eq!(
            near("kuadrant.io", typed),
            (None, meant.map(str::to_owned)),
            "{typed}"
        );
    }
    assert_eq!(
        near("gateway.networking.k8s.io", "HttpRoute").1.as_deref(),
        Some("httproutes")
    );
}

#[test]
fn a_resource_of_an_unknown_group_finds_one_of_a_near_group_only() {
    let found = |group: &str, plural: &str| (Some(group.to_owned()), Some(plural.to_owned()));
    assert_eq!(
        near("kuadrant.oi", "authpolicies"),
        found("kuadrant.io", "authpolicies")
    );
    assert_eq!(
        near("kuadrant.oi", "authpolicy"),
        found("kuadrant.io", "authpolicies")
    );
    assert_eq!(near("kuadrant.oi", "zzz"), (Some("kuadrant.io".to_owned()), None));
    for plural in ["authpolicies", "ratelimitpolicies", "acmepolicies", "gateways"] {
        assert_eq!(near("acme.io", plural), (None, None), "{plural}");
    }
}

#[test]
fn an_inserted_kind_replaces_the_built_in_row_whole() {
    let mut table = KindTable::built_in();
    let mut info = table.kind("kuadrant.io", "AuthPolicy").expect("built in").clone();
    info.plural = "authz".into();
    info.versions = vec!["v9".into()];
    info.is_built_in = false;
    let before = table.kinds.len();
    table.insert(info);
    assert_eq!(table.kinds.len(), before);
    assert_eq!(table.plural("kuadrant.io", "authpolicies"), None);
    assert!(
        table
            .plural("kuadrant.io", "authz")
            .is_some_and(|info| info.serves("v9") && !info.serves("v1"))
    );
}

#[test]
fn the_table_answers_for_the_resources_of_parameters() {
    let table = KindTable::built_in();
    let known = table.resource("kuadrant.io", "authpolicies").expect("built in");
    assert_eq!((&*known.kind, known.scope), ("AuthPolicy", Scope::Namespaced));
    assert!(known.serves("v1") && known.has_target && !known.parent_refs);
    for (plural, is_route) in [
        ("httproutes", true),
        ("tcproutes", true),
        ("gateways", false),
        ("listenersets", false),
    ] {
        let found = table.resource("gateway.networking.k8s.io", plural);
        assert_eq!(found.map(|info| info.parent_refs), Ok(is_route), "{plural}");
    }
}
