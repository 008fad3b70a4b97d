//! What the CRDs of Gateways, routes and policies say in CEL is said without them, of what is ours, and once.

use crate::scratch::{Run, Scratch};

const ROUTE: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: gateways}\n\
                     spec:\n  parentRefs: [{name: prod-web}]\n  rules:\n  - filters: [{type: RequestRedirect}]\n";

/// A CRD of HTTPRoutes that refuses nothing.
const ROUTE_CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
    metadata: {name: httproutes.gateway.networking.k8s.io, annotations: {api-approved.kubernetes.io: x}}\n\
    spec: {group: gateway.networking.k8s.io, scope: Namespaced, \
    names: {kind: HTTPRoute, listKind: HTTPRouteList, plural: httproutes, singular: httproute}, \
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, \
    x-kubernetes-preserve-unknown-fields: true}}}]}\n";

fn checked(change: impl Fn(&Scratch)) -> Run {
    let scratch = Scratch::with_worked_example();
    change(&scratch);
    scratch.run(&["check", "hub"])
}

#[track_caller]
fn says(run: &Run, texts: &[&str]) {
    for text in texts {
        assert!(run.stdout.contains(text), "{text:?} is not in\n{}", run.stdout);
    }
}

#[test]
fn a_route_that_its_crd_would_refuse_is_refused_at_the_field() {
    let run = checked(|scratch| {
        scratch.write("hub/route.yaml", ROUTE);
    });
    run.exits(3);
    says(
        &run,
        &[
            "error[route/invalid]: HTTPRoute gateways/r: a filter of type RequestRedirect has no `requestRedirect`",
            "--> hub/route.yaml:7:",
            "= help: add `requestRedirect`",
        ],
    );
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
}

#[test]
fn a_crd_of_the_input_says_alone_what_is_refused() {
    let run = checked(|scratch| {
        scratch
            .write("hub/route.yaml", ROUTE)
            .write("hub/crd.yaml", ROUTE_CRD);
    });
    assert!(!run.stdout.contains("route/invalid"), "{}", run.stdout);
}

#[test]
fn what_hangs_on_gateways_of_others_is_left_alone() {
    let run = checked(|scratch| {
        scratch.write(
            "hub/other.yaml",
            "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: other}\n\
             spec: {controllerName: x.org/y}\n---\n\
             apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: gateways}\n\
             spec: {gatewayClassName: other, listeners: [{name: a, port: 80, protocol: HTTP, tls: {}}]}\n",
        );
        scratch.write("hub/route.yaml", &ROUTE.replace("prod-web", "other"));
    });
    run.exits(0);
    assert!(!run.stdout.contains("/invalid"), "{}", run.stdout);
}

#[test]
fn a_gateway_and_a_policy_of_ours_are_checked_too() {
    let run = checked(|scratch| {
        scratch.edit("hub/gateway.yaml", "mode: Terminate", "mode: Passthrough");
        scratch.edit(
            "hub/limits.yaml",
            "      per-client: {rates: [{limit: 100, window: 10s}]}\n",
            "      {}\n",
        );
    });
    run.exits(3);
    says(
        &run,
        &[
            "error[gateway/invalid]: Gateway gateways/prod-web: a listener of protocol HTTPS terminates TLS",
            "--> hub/gateway.yaml:18:",
            "write `mode: Terminate`, or `protocol: TLS`",
            "error[policy/invalid]: RateLimitPolicy gateways/global: there are no limits",
            "--> hub/limits.yaml:",
            "add one under `limits`",
        ],
    );
}

#[test]
fn a_policy_that_nobody_ships_stops_no_run() {
    let run = checked(|scratch| {
        scratch.write(
            "hub/auth.yaml",
            "apiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: a, namespace: gateways}\n\
             spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}}\n",
        );
    });
    run.exits(0);
    says(
        &run,
        &["warning[policy/invalid]: AuthPolicy gateways/a: there are no rules"],
    );
}

#[test]
fn a_listener_twice_and_two_protocols_on_a_port_are_one_error_each() {
    let listener = |name: &str, protocol: &str| {
        format!(
            "  listeners:\n  - {{name: {name}, port: 443, protocol: {protocol}, hostname: '*.example.com', tls: {{certificateRefs: [{{name: c}}]}}}}\n"
        )
    };
    let run = checked(|scratch| {
        scratch.edit("hub/gateway.yaml", "  listeners:\n", &listener("again", "HTTPS"));
    });
    run.exits(3);
    says(
        &run,
        &[
            "the listeners `again` and `api` have the same port, protocol, and hostname",
            "first here",
            "again here",
        ],
    );
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
    let run = checked(|scratch| {
        scratch.edit(
            "hub/gateway.yaml",
            "  listeners:\n",
            "  listeners:\n  - {name: plain, port: 443, protocol: HTTP}\n",
        );
    });
    run.exits(3);
    says(
        &run,
        &["port 443 cannot serve HTTP and HTTPS", "--> hub/gateway.yaml:18:"],
    );
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
}

/// A SecurityPolicy that asks for a merge where there is nothing to merge with.
const MERGING: &str = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: p, namespace: \
                       gateways}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web, \
                       sectionName: api}]\n  mergeType: StrategicMerge\n  basicAuth: {users: {name: s}}\n";

#[test]
fn a_policy_that_no_api_server_admits_is_reported_and_covers_nothing_whoever_owns_its_gateway() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/route.yaml",
        &ROUTE.replace("filters: [{type: RequestRedirect}]", "name: all"),
    );
    scratch.write("hub/policy.yaml", MERGING);
    let expected =
        "warning[policy/invalid]: SecurityPolicy gateways/p: a policy on a Gateway cannot have a `mergeType`";
    // Of a kind that is not synced, and then of a Gateway of others.
    says(&scratch.run(&["check", "hub"]), &[expected]);
    scratch.edit("hub/class.yaml", "kuadrant.io/mgc-gw-controller", "x.org/y");
    says(&scratch.run(&["check", "hub"]), &[expected]);
    let covers = || {
        let policies = scratch.run(&["policies", "hub", "--effective"]);
        let explained = scratch.run(&["explain", "httproute/gateways/r", "hub"]);
        let covers = policies.stdout.contains("SecurityPolicy (gateway.envoyproxy.io)");
        assert_eq!(
            explained.stdout.contains("/basicAuth"),
            covers,
            "{}",
            explained.stdout
        );
        covers
    };
    assert!(!covers());
    says(
        &scratch.run(&["policies", "hub"]),
        &[
            "  Invalid  ",
            "\n    SecurityPolicy is invalid: a policy on a Gateway cannot have",
        ],
    );
    scratch.edit("hub/policy.yaml", "  mergeType: StrategicMerge\n", "");
    assert!(covers());
}

#[test]
fn what_breaks_its_crd_covers_nothing_either_and_a_crd_that_takes_it_is_believed() {
    let definition = |rule: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
             securitypolicies.gateway.envoyproxy.io}}\nspec: {{group: gateway.envoyproxy.io, scope: Namespaced, names: {{kind: \
             SecurityPolicy, listKind: SecurityPolicyList, plural: securitypolicies, singular: securitypolicy}}, versions: \
             [{{name: v1alpha1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: \
             object, x-kubernetes-preserve-unknown-fields: true, properties: {{mergeType: {{type: string{rule}}}}}}}}}}}}}}}]}}\n"
        )
    };
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/route.yaml",
        &ROUTE.replace("filters: [{type: RequestRedirect}]", "name: all"),
    );
    scratch.write("hub/policy.yaml", MERGING);
    scratch.edit("hub/class.yaml", "kuadrant.io/mgc-gw-controller", "x.org/y");
    let covers = |rule: &str| {
        scratch.write("hub/crd.yaml", &definition(rule));
        scratch
            .run(&["policies", "hub", "--effective"])
            .stdout
            .contains("SecurityPolicy (gateway.envoyproxy.io)")
    };
    assert!(covers(""));
    assert!(!covers(", enum: [JSONMerge]"));
}
