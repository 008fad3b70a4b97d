//! The three worked examples of GEP-713, retold.

use kube_json::json;

use super::super::{Profiles, report_nonconforming_kinds};
use crate::diagnostic::Findings;
use crate::hub::Ours;
use crate::tests::{Seen, color, color_crd, hub, small_with_params};

/// One GatewayClass; Gateways g1 and g2; r1 and r2 below g1, r3 and r4 below g2; b1 behind r1, r2 and r3, b2 behind r4.
fn two_gateways() -> String {
    let mut text = String::from(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: gc}\n\
         spec: {controllerName: kuadrant.io/mgc-gw-controller}\n",
    );
    for gateway in ["g1", "g2"] {
        text += &format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {gateway}, namespace: infra}}\n\
             spec: {{gatewayClassName: gc, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n"
        );
    }
    for (route, gateway, backend) in [
        ("r1", "g1", "b1"),
        ("r2", "g1", "b1"),
        ("r3", "g2", "b1"),
        ("r4", "g2", "b2"),
    ] {
        text += &format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {route}, namespace: infra}}\n\
             spec: {{parentRefs: [{{name: {gateway}}}], rules: [{{backendRefs: [{{name: {backend}, port: 80}}]}}]}}\n"
        );
    }
    text
}

const GATEWAY: &str = "group: gateway.networking.k8s.io, kind: Gateway, name: ";
const ROUTE: &str = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: ";

/// A direct policy affects only the object that it targets; of two on one object, the oldest is accepted.
#[test]
fn example_1_a_direct_policy_has_one_winner() {
    let with_age = |name: &str, day: u8, settings: &str| {
        color(name, "group: \"\", kind: Service, name: b1", settings).replace(
            "namespace: infra}",
            &format!("namespace: infra, creationTimestamp: \"2024-01-0{day}T00:00:00Z\"}}"),
        )
    };
    // p2 comes first by name of the two that are not red, and still the oldest wins.
    let text = two_gateways()
        + &color_crd("Direct")
        + &with_age("p9", 1, "color: red")
        + &with_age("p2", 2, "color: blue");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert_eq!(
        seen.spec(&["g1", "r1", "b1"]),
        Some(json!({"color": "red"})),
        "the oldest policy holds on b1"
    );
    assert_eq!(seen.spec(&["g1", "r1"]), None, "it affects nothing but b1");
    assert_eq!(
        seen.state("ColorPolicy infra/p2"),
        "False/Conflicted: ColorPolicy is conflicted by infra/p9: conflicting policy"
    );
    assert_eq!(
        seen.state("ColorPolicy infra/p9"),
        "True/Programmed: ColorPolicy is programmed"
    );
}

/// A Gateway's defaults hold until a route says otherwise; a Gateway's overrides hold whatever a route says.
#[test]
fn example_2_defaults_give_way_and_overrides_do_not() {
    let text = two_gateways()
        + &color_crd("Inherited")
        + &color("p1", &format!("{GATEWAY}g1"), "color: red")
        + &color("p2", &format!("{ROUTE}r1"), "color: blue")
        + &color("p3", &format!("{GATEWAY}g2"), "overrides: {color: yellow}")
        + &color("p4", &format!("{ROUTE}r4"), "color: green");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let color = |path: &[&str]| seen.spec(path).map(|spec| spec["color"].clone());
    assert_eq!(
        color(&["g1", "r1", "b1"]),
        Some(json!("blue")),
        "r1 says otherwise"
    );
    assert_eq!(color(&["g1", "r2", "b1"]), Some(json!("red")), "r2 says nothing");
    assert_eq!(
        color(&["g2", "r3", "b1"]),
        Some(json!("yellow")),
        "the same backend through another Gateway"
    );
    assert_eq!(
        color(&["g2", "r4", "b2"]),
        Some(json!("yellow")),
        "r4 says green, and is overridden"
    );
    assert_eq!(
        seen.state("ColorPolicy infra/p1"),
        "True/PartiallyProgrammed: ColorPolicy is programmed, in part overridden by [infra/p2]"
    );
    assert_eq!(
        seen.state("ColorPolicy infra/p4"),
        "False/Overridden: ColorPolicy is overridden by [infra/p3]"
    );
    assert!(
        seen.said().contains(
            &"policy/overridden no setting of ColorPolicy infra/p4 is in effect anywhere".to_owned()
        ),
        "{:?}",
        seen.said()
    );
}

/// The established policy's strategy decides whether what it does not share with the challenger survives.
#[test]
fn example_3_the_established_policy_chooses_the_strategy() {
    let text = two_gateways()
        + &color_crd("Inherited")
        + &color(
            "p1",
            &format!("{GATEWAY}g1"),
            "colors: {dark: brown, light: red}, strategy: atomic",
        )
        + &color("p2", &format!("{ROUTE}r1"), "colors: {light: blue}")
        + &color(
            "p3",
            &format!("{GATEWAY}g2"),
            "overrides: {colors: {light: yellow}, strategy: patch}",
        )
        + &color("p4", &format!("{ROUTE}r4"), "colors: {dark: olive, light: green}");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let colors = |path: &[&str]| seen.spec(path).map(|spec| spec["colors"].clone());
    assert_eq!(
        colors(&["g1", "r1", "b1"]),
        Some(json!({"light": "blue"})),
        "atomic: the whole of p1 gives way"
    );
    assert_eq!(
        colors(&["g1", "r2", "b1"]),
        Some(json!({"dark": "brown", "light": "red"}))
    );
    assert_eq!(colors(&["g2", "r3", "b1"]), Some(json!({"light": "yellow"})));
    assert_eq!(
        colors(&["g2", "r4", "b2"]),
        Some(json!({"dark": "olive", "light": "yellow"})),
        "patch: only what p3 says is overridden"
    );
}

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
