//! The three worked examples of GEP-713, retold.

use super::super::{Profiles, report_nonconforming_kinds};
use crate::diagnostic::Findings;
use crate::hub::Ours;
use crate::tests::{color_crd, hub, small_with_params};

/// What is reported about the definition of ColorPolicy, which a class of ours syncs.
fn nonconforming(crd: &str) -> Vec<String> {
    let text = small_with_params().replace(
        "{group: kuadrant.io, version: v1, resource: ratelimitpolicies}",
        "{group: colors.example.com, version: v1, resource: colorpolicies}",
    );
    let hub = hub(&(text + crd), &[]);
    let mut findings = Findings::new();
    let ours = Ours::new(&hub, "kuadrant.io/mgc-gw-controller");
    assert!(findings.is_empty(), "{findings:?}");
    report_nonconforming_kinds(&hub, &ours, &Profiles::built_in(), &mut findings);
    let said = findings.iter().map(|finding| finding.message.to_string());
    said.collect()
}

#[test]
fn a_definition_that_accepts_anything_need_not_have_a_status() {
    let crd = color_crd("Inherited");
    let nothing = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
    let targets = "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object, properties: \
                   {targetRefs: {type: array, items: {type: object}}}}}}";
    assert!(crd.contains(nothing));
    assert_eq!(
        nonconforming(&crd.replace(nothing, targets)),
        Vec::<String>::new()
    );
}

#[test]
fn the_definition_of_a_synced_kind_has_the_label_and_the_status_that_gep_713_requires() {
    let conditions = "status: {type: object, properties: {conditions: {type: array, items: {type: object}}}}";
    let said = |labels: &str, properties: &str| {
        let schema = format!("{{type: object, properties: {{{properties}}}}}");
        let crd = color_crd("Inherited")
            .replace(
                "{type: object, x-kubernetes-preserve-unknown-fields: true}",
                &schema,
            )
            .replace(
                "labels: {gateway.networking.k8s.io/policy: \"Inherited\"}",
                &format!("labels: {{{labels}}}"),
            );
        nonconforming(&crd)
    };
    let labelled = "gateway.networking.k8s.io/policy: Inherited";
    let spec = "spec: {type: object, properties: {targetRefs: {type: array, items: {type: object}}}}";
    let with = |status: &str| said(labelled, &format!("{spec}, {status}"));
    let nothing = Vec::<String>::new();
    assert_eq!(with(conditions), nothing);
    assert_eq!(
        with("status: {type: object, properties: {ancestors: {type: array, items: {type: object}}}}"),
        nothing
    );
    assert_eq!(
        with("status: {type: object, x-kubernetes-preserve-unknown-fields: true}"),
        nothing
    );
    assert_eq!(
        with("status: {type: object, properties: {phase: {type: string}}}"),
        ["the status of ColorPolicy has no conditions, which GEP-713 requires of every policy kind"]
    );
    assert_eq!(
        said(labelled, spec),
        ["ColorPolicy has no status, which GEP-713 requires of every policy kind"]
    );
    assert_eq!(
        said("", &format!("{spec}, {conditions}")),
        [
            "ColorPolicy has no label `gateway.networking.k8s.io/policy`, which GEP-713 requires of every policy kind"
        ]
    );
    assert_eq!(
        said(
            "gateway.networking.k8s.io/policy: Sometimes",
            &format!("{spec}, {conditions}")
        ),
        [
            "the label `gateway.networking.k8s.io/policy` of ColorPolicy is `Sometimes`; GEP-713 allows Direct and Inherited"
        ]
    );
    let text = spec.replace("items: {type: object}", "items: {type: string}");
    assert_eq!(
        said(labelled, &format!("{text}, {conditions}")),
        [
            "an item of `targetRefs` of ColorPolicy is of type string; GEP-713 requires an object with group, kind, and name"
        ]
    );
}
