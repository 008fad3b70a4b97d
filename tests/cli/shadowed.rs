//! Routes on one listener that ask for the same requests.

use crate::scratch::{Run, Scratch};

/// `check` of the worked example with routes that hang on its listener `api`, which serves `*.example.com`.
fn with_routes(routes: &[String]) -> Run {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/routes.yaml", &routes.join("---\n"));
    scratch.run(&["check", "hub"])
}

fn route(name: &str, hostnames: &str, rules: &str) -> String {
    made("HTTPRoute", name, "", hostnames, rules)
}

fn made(kind: &str, name: &str, more: &str, hostnames: &str, rules: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: gateways{more}}}\n\
         spec:\n  parentRefs: [{{name: prod-web}}]\n  hostnames: [{hostnames}]\n  rules: [{rules}]\n"
    )
}

#[track_caller]
fn silent(routes: &[String]) {
    let run = with_routes(routes);
    assert!(!run.stdout.contains("route/shadowed"), "{}", run.stdout);
}

#[track_caller]
fn says(run: &Run, texts: &[&str]) {
    assert_eq!(run.stdout.matches("route/shadowed").count(), 1, "{}", run.stdout);
    for text in texts {
        assert!(run.stdout.contains(text), "{text:?} is not in\n{}", run.stdout);
    }
}

const CART: &str = "{matches: [{path: {value: /cart}}]}";

#[test]
fn of_two_routes_with_one_match_the_first_by_name_wins() {
    let run = with_routes(&[
        route("b", "shop.example.com", CART),
        route("a", "shop.example.com", CART),
    ]);
    run.exits(0);
    says(
        &run,
        &[
            "warning[route/shadowed]: HTTPRoute gateways/a gets all requests of this match of HTTPRoute gateways/b",
            "--> hub/routes.yaml:7:",
            "::: hub/routes.yaml:15:",
            "the listener `api` of Gateway gateways/prod-web",
            "HTTPRoute gateways/a wins because it is first by namespace/name, and no creation time decides",
            "= help: remove one of the two",
        ],
    );
}

#[test]
fn listeners_that_serve_the_same_routes_are_told_together_and_others_apart() {
    let listener =
        |name: &str, hostname: &str| format!("  - {{name: {name}, port: 80, protocol: HTTP{hostname}}}\n");
    let gateway = |name: &str, listeners: &[String]| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n\
             metadata: {{name: {name}, namespace: gateways, labels: {{cluster.open-cluster-management.io/placement: edge}}}}\n\
             spec:\n  gatewayClassName: multicluster\n  listeners:\n{}",
            listeners.concat()
        )
    };
    let route = |name: &str, hostnames: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: gateways}}\n\
             spec:\n  parentRefs: [{{name: g1}}, {{name: g2}}]\n{hostnames}  rules: [{CART}]\n"
        )
    };
    let scratch = Scratch::with_worked_example();
    let on_both = [
        listener("one", ", hostname: one.example.com"),
        listener("two", ", hostname: two.example.com"),
    ];
    let all = [
        gateway("g1", &on_both),
        gateway("g2", &on_both),
        route("a", ""),
        route("b", ""),
        // Gets the one hostname, and none of the other.
        route("c", "  hostnames: [two.example.com]\n"),
    ];
    scratch.write("hub/more.yaml", &all.join("---\n"));
    let run = scratch.run(&["check", "hub", "--message-format", "json"]);
    let list: kube_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let shadowed = list["findings"].as_array().into_iter().flatten();
    let said: Vec<String> = shadowed
        .filter(|finding| finding["code"] == "route/shadowed")
        .map(|finding| format!("{} | {}", finding["message"], finding["notes"][0]))
        .collect();
    let expected = [
        (
            "b",
            "`one` of Gateway gateways/g1, `two` of Gateway gateways/g1, `one` of Gateway gateways/g2, and 1 more",
        ),
        ("c", "`two` of Gateway gateways/g1, `two` of Gateway gateways/g2"),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, (loser, listeners)) in said.iter().zip(expected) {
        let message =
            format!("HTTPRoute gateways/a gets all requests of this match of HTTPRoute gateways/{loser}");
        assert!(said.contains(&message), "{message} is not in {said}");
        assert!(said.contains(listeners), "{listeners} is not in {said}");
    }
}

#[test]
fn an_older_route_wins_whatever_its_name() {
    let old = made(
        "HTTPRoute",
        "b",
        ", creationTimestamp: 2020-01-01T00:00:00Z",
        "shop.example.com",
        CART,
    );
    let run = with_routes(&[old, route("a", "shop.example.com", CART)]);
    says(
        &run,
        &[
            "HTTPRoute gateways/b gets all requests",
            "HTTPRoute gateways/b wins because it is older",
        ],
    );
}

#[test]
fn of_one_route_the_first_rule_wins() {
    let run = with_routes(&[route("a", "shop.example.com", &format!("{CART}, {CART}"))]);
    says(
        &run,
        &[
            "an earlier rule of HTTPRoute gateways/a gets all requests",
            "the first matching rule of a route wins",
        ],
    );
}

#[test]
fn what_is_written_otherwise_and_means_the_same_is_the_same() {
    let one = "{matches: [{path: {type: PathPrefix, value: /a/}, headers: [{name: X-One, value: '1'}, {name: y, value: '2'}]}]}";
    let same = "{matches: [{path: {value: /a}, headers: [{name: y, value: '2', type: Exact}, {name: x-one, value: '1'}]}]}";
    let run = with_routes(&[
        route("a", "Shop.example.com".to_lowercase().as_str(), one),
        route("b", "shop.example.com", same),
    ]);
    says(&run, &["HTTPRoute gateways/a gets all"]);
    // The listener's hostname is all that both have in common.
    let run = with_routes(&[
        route("a", "", "{}"),
        route("b", "'*.example.com'", "{matches: [{path: {value: /}}]}"),
    ]);
    says(&run, &["HTTPRoute gateways/a gets all"]);
    let grpc = |name: &str, rule: &str| made("GRPCRoute", name, "", "", rule);
    let run = with_routes(&[
        grpc("a", "{matches: [{method: {service: s}}]}"),
        grpc("b", "{matches: [{method: {service: s, type: Exact}}]}"),
    ]);
    says(&run, &["GRPCRoute gateways/a gets all"]);
}

#[test]
fn matches_that_merely_overlap_are_no_conflict() {
    let rule = |one: &str| format!("{{matches: [{one}]}}");
    for other in [
        "{path: {value: /cart/a}}",
        "{path: {type: Exact, value: /cart}}",
        "{path: {value: /cart}, method: GET}",
        "{path: {value: /cart}, headers: [{name: a, value: b}]}",
        "{path: {value: /cart}, queryParams: [{name: a, value: b}]}",
    ] {
        silent(&[
            route("a", "shop.example.com", CART),
            route("b", "shop.example.com", &rule(other)),
        ]);
    }
    silent(&[
        route("a", "shop.example.com", CART),
        route("b", "other.example.com", CART),
    ]);
    silent(&[
        route("a", "shop.example.com", CART),
        route("b", "shop.example.com, other.example.com", CART),
    ]);
    silent(&[
        route("a", "shop.example.com", CART),
        route("b", "'*.example.com'", CART),
    ]);
    // Weights of one rule, and a match that is there twice.
    let canary =
        "{backendRefs: [{name: a, port: 80, weight: 9}, {name: b, port: 80, weight: 1}], matches: [{}, {}]}";
    silent(&[route("a", "shop.example.com", canary)]);
}

#[test]
fn routes_of_other_listeners_and_of_other_classes_are_no_conflict() {
    let scratch = Scratch::with_worked_example();
    let second = "  listeners:\n  - {name: web, port: 80, protocol: HTTP, hostname: '*.example.com'}\n";
    scratch.edit("hub/gateway.yaml", "  listeners:\n", second);
    let on = |name: &str, section: &str| {
        route(name, "shop.example.com", CART).replace(
            "{name: prod-web}",
            &format!("{{name: prod-web, sectionName: {section}}}"),
        )
    };
    scratch.write("hub/routes.yaml", &[on("a", "api"), on("b", "web")].join("---\n"));
    let run = scratch.run(&["check", "hub"]);
    assert!(!run.stdout.contains("route/shadowed"), "{}", run.stdout);
    scratch.write(
        "hub/routes.yaml",
        &[on("a", "web"), route("b", "shop.example.com", CART)].join("---\n"),
    );
    let run = scratch.run(&["check", "hub"]);
    says(&run, &["the listener `web` of Gateway gateways/prod-web"]);
    scratch.edit("hub/class.yaml", "kuadrant.io/mgc-gw-controller", "x.org/y");
    let run = scratch.run(&["check", "hub"]);
    assert!(!run.stdout.contains("route/shadowed"), "{}", run.stdout);
}

#[test]
fn two_gateways_that_would_share_a_work_are_one_error() {
    let scratch = Scratch::with_worked_example();
    let gateway = |namespace: &str, name: &str| {
        scratch
            .read("hub/gateway.yaml")
            .replace("namespace: gateways", &format!("namespace: {namespace}"))
            .replace("name: prod-web", &format!("name: {name}"))
    };
    let decisions = |namespace: &str| {
        scratch
            .read("hub/decisions.yaml")
            .replace("namespace: gateways", &format!("namespace: {namespace}"))
    };
    let both = [
        gateway("a", "b-c"),
        gateway("a-b", "c"),
        decisions("a"),
        decisions("a-b"),
    ];
    scratch.write("hub/more.yaml", &both.join("\n---\n"));
    let run = scratch.run(&["check", "hub"]);
    run.exits(3);
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
    assert!(run.stdout.contains("error[work/name-taken]"), "{}", run.stdout);
}
