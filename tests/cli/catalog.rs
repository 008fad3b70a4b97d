//! The built-in catalog of schemas: what it refuses, what it leaves alone, and what wins over it.

use crate::scratch::Scratch;

const CLASS: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: other}\n\
                     spec: {controllerName: example.com/other}\n";

/// One finding of `check`, with this text, place and help, for the worked example after a change.
#[track_caller]
fn one(change: impl Fn(&Scratch), texts: &[&str]) {
    let scratch = Scratch::with_worked_example();
    change(&scratch);
    let run = scratch.run(&["check", "hub"]);
    run.exits(3);
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
    for text in texts {
        assert!(run.stdout.contains(text), "{text} is not in\n{}", run.stdout);
    }
}

#[test]
fn a_misspelled_field_is_one_error_with_the_nearest_name_and_the_release() {
    one(
        |scratch| {
            scratch.edit("hub/gateway.yaml", "hostname:", "hostnme:");
        },
        &[
            "error[object/unknown-field]: Gateway gateways/prod-web: unknown field \"spec.listeners[0].hostnme\"",
            "--> hub/gateway.yaml:15:5",
            "= help: did you mean `hostname`?",
            "= note: as of Gateway API v1.6.1; add your own CRD to the input to check against it",
        ],
    );
}

#[test]
fn a_required_field_with_a_misspelled_name_is_one_mistake() {
    one(
        |scratch| {
            scratch.edit("hub/gateway.yaml", "gatewayClassName:", "gatewayClasName:");
        },
        &[
            "unknown field \"spec.gatewayClasName\"",
            "did you mean `gatewayClassName`?",
        ],
    );
    one(
        |scratch| {
            scratch.edit("hub/limits.yaml", "targetRef:", "targetref:");
        },
        &["unknown field \"spec.targetref\"", "did you mean `targetRef`?"],
    );
}

#[test]
fn what_reading_a_value_meets_again_is_said_once_in_the_words_of_the_api_server() {
    one(
        |scratch| {
            scratch.edit("hub/gateway.yaml", "port: 443", "port: \"443\"");
        },
        &[
            "spec.listeners[0].port in body must be of type integer: \"string\"",
            "= help: remove the quotes: 443",
        ],
    );
    one(
        |scratch| {
            scratch.edit("hub/gateway.yaml", "port: 443", "port: 70000");
        },
        &["spec.listeners[0].port in body should be less than or equal to 65535"],
    );
}

#[test]
fn what_rendering_does_not_use_is_not_held_against_the_catalog() {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/other.yaml", CLASS);
    scratch.write(
        "hub/foreign.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: foreign, namespace: apps}\n\
         spec: {gatewayClassName: other, listeners: [{name: a, port: 80, protocol: HTTP, newer: 1}]}\n---\n\
         apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a, namespace: apps}\n\
         spec: {parentRefs: [{name: foreign}], newer: 1}\n---\n\
         apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a, namespace: apps}\n\
         spec: {selector: {matchLabels: {a: b}}, newer: 1}\n---\n\
         apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: a, namespace: apps}\nspec: {newer: 1}\n",
    );
    let run = scratch.run(&["check", "hub"]);
    run.exits(0);
    assert!(!run.stdout.contains("newer"), "{}", run.stdout);
}

#[test]
fn a_route_of_ours_is_held_against_the_catalog_with_the_fields_of_the_experimental_channel() {
    let route = |fields: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: a, namespace: gateways}}\n\
             spec:\n  parentRefs: [{{name: prod-web}}]\n  rules:\n  - backendRefs: [{{name: web, port: 80}}]\n{fields}"
        )
    };
    one(
        |scratch| {
            scratch.write("hub/route.yaml", &route("    timeout: {request: 1s}\n"));
        },
        &[
            "unknown field \"spec.rules[0].timeout\"",
            "did you mean `timeouts`?",
        ],
    );
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/route.yaml", &route("    retry: {attempts: 3}\n"));
    scratch.run(&["check", "hub"]).exits(0);
}

fn crd(fields: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: ratelimitpolicies.kuadrant.io}}\nspec:\n  group: kuadrant.io\n  scope: Namespaced\n\
         \x20 names: {{kind: RateLimitPolicy, plural: ratelimitpolicies}}\n\
         \x20 versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n\
         \x20       type: object\n        properties: {{spec: {{type: object, properties: {{targetRef: \
         {{type: object, x-kubernetes-preserve-unknown-fields: true}}, {fields}}}}}}}\n"
    )
}

#[test]
fn a_crd_of_the_input_wins_over_the_catalog() {
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/limits.yaml", "defaults:", "newer:");
    scratch.run(&["check", "hub"]).exits(3);
    scratch.write(
        "hub/crd.yaml",
        &crd("newer: {type: object, x-kubernetes-preserve-unknown-fields: true}"),
    );
    scratch.run(&["check", "hub"]).exits(0);
}

#[test]
fn directories_of_crds_teach_and_are_no_part_of_the_hub() {
    let scratch = Scratch::with_worked_example().in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\ncrds: [crds, ../vendor]\noutput: ../rendered\n",
    );
    scratch.edit("hub/limits.yaml", "defaults:", "newer:");
    scratch.write(
        "vendor/crd.yaml",
        &crd("newer: {type: object, x-kubernetes-preserve-unknown-fields: true}"),
    );
    // No hub objects: neither read for what they are, nor refused.
    scratch.write(
        "hub/crds/others.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: x}\nspec: {gatewayClassName: 7}\n",
    );
    let run = scratch.run(&["check", "hub"]);
    run.exits(0);
    assert!(!run.stdout.contains("crds/"), "{}", run.stdout);
    scratch.remove("vendor/crd.yaml");
    scratch.run(&["check", "hub"]).exits(3);
    scratch.edit("hub/spokewright.yaml", "../vendor", "../vendr");
    let run = scratch.run(&["check", "hub"]);
    assert!(run.stdout.contains("error[input/unreadable]"), "{}", run.stdout);
}

#[test]
fn kinds_that_nobody_has_a_schema_of_are_named_in_one_line() {
    let scratch = Scratch::with_worked_example().in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\noutput: ../rendered\n\
         profiles: [{group: acme.io, kind: WidgetPolicy, class: Direct}]\n",
    );
    for name in ["a", "b"] {
        scratch.write(
            &format!("hub/{name}.yaml"),
            &format!(
                "apiVersion: acme.io/v1\nkind: WidgetPolicy\nmetadata: {{name: {name}, namespace: gateways}}\n\
                 spec: {{targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}}}}\n"
            ),
        );
    }
    let run = scratch.run(&["check", "hub"]);
    assert_eq!(
        run.stderr
            .matches("not checked, as there is no schema: WidgetPolicy (acme.io);")
            .count(),
        1,
        "{}",
        run.stderr
    );
    let quiet = scratch.run(&["check", "hub", "-q"]);
    assert!(!quiet.stderr.contains("no schema"), "{}", quiet.stderr);
}

#[test]
fn the_catalog_says_which_releases_it_is_of() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&["schema", "catalog"]);
    run.exits(0);
    for line in [
        "gateway.networking.k8s.io/v1  Gateway  Gateway API v1.6.1\n",
        "gateway.networking.x-k8s.io/v1alpha1  XListenerSet  Gateway API v1.4.1\n",
        "kuadrant.io/v1  RateLimitPolicy  Kuadrant v1.5.2\n",
    ] {
        assert!(run.stdout.contains(line), "{line} is not in\n{}", run.stdout);
    }
}
