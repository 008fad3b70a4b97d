//! `explain` of a request: which listener, route and rule take it, which would be next and why, and what holds on its way.

use kube_json::Value;

use crate::scratch::{Scratch, copy, fixtures};

const ROUTES: &str = r"apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: gateways}
spec:
  parentRefs: [{name: prod-web}]
  hostnames: [shop.example.com]
  rules:
  - name: everything
    matches: [{path: {type: PathPrefix, value: /}}]
  - name: cart
    matches: [{path: {type: PathPrefix, value: /cart}}]
  - name: cart-of-testers
    matches: [{path: {type: PathPrefix, value: /cart}, headers: [{name: x-tester, value: 'yes'}]}]
  - name: checkout
    matches:
    - {path: {type: Exact, value: /cart/checkout}, method: POST}
    - {path: {type: RegularExpression, value: '/c[a-z]+/v[0-9]+'}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: wild, namespace: gateways}
spec:
  parentRefs: [{name: prod-web}]
  hostnames: ['*.example.com']
  rules:
  - matches: [{path: {type: Exact, value: /cart/deeper/than/any/other}}]
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: carts, namespace: gateways}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop, sectionName: cart}
  limits: {carts: {rates: [{limit: 7, window: 1m}]}}
";

fn hub() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/routes.yaml", ROUTES);
    scratch
}

/// The rule that takes a request, the next one, and why.
#[track_caller]
fn taken(scratch: &Scratch, request: &str, more: &[&str]) -> (String, String, String) {
    let mut arguments = vec!["explain", request, "hub", "-o", "json"];
    arguments.extend(more);
    let run = scratch.run(&arguments);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
    let text = |pointer: &str| {
        let found = report
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default();
        found.rsplit('/').next().unwrap_or_default().to_owned()
    };
    (
        text("/answers/0/rule/rule"),
        text("/answers/0/next/rule"),
        text("/answers/0/because"),
    )
}

#[test]
fn the_most_specific_rule_takes_a_request_and_the_reason_is_given() {
    let scratch = hub();
    for (request, more, rule, next, because) in [
        (
            "GET https://shop.example.com/x",
            &[][..],
            "shop#everything",
            "",
            "",
        ),
        (
            "GET https://shop.example.com/cart",
            &[],
            "shop#cart",
            "shop#everything",
            "its path is longer",
        ),
        (
            "GET https://shop.example.com/cart/x",
            &["--header", "X-Tester: yes"],
            "shop#cart-of-testers",
            "shop#cart",
            "it matches more headers",
        ),
        (
            "POST https://shop.example.com/cart/checkout",
            &[],
            "shop#checkout",
            "shop#cart",
            "an exact path comes before a regular expression, and that before a prefix",
        ),
        (
            "GET https://shop.example.com/cart/checkout",
            &[],
            "shop#cart",
            "shop#everything",
            "its path is longer",
        ),
        (
            "https://shop.example.com/cart/v2",
            &[],
            "shop#checkout",
            "shop#cart",
            "an exact path comes before a regular expression, and that before a prefix",
        ),
        (
            "https://shop.example.com/cart/deeper/than/any/other",
            &[],
            "shop#cart",
            "shop#everything",
            "its path is longer",
        ),
        (
            "https://other.example.com/cart/deeper/than/any/other",
            &[],
            "wild#rule-1",
            "",
            "",
        ),
    ] {
        let found = taken(&scratch, request, more);
        let expected = (rule.to_owned(), next.to_owned(), because.to_owned());
        assert_eq!(found, expected, "{request}");
    }
}

#[test]
fn what_holds_is_what_the_policies_on_its_way_come_to_where_clusters_differ_too() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    scratch.remove("hub/shop/overlay.yaml");
    let web = scratch.run(&["explain", "https://shop.acme.example/"]);
    web.prints("GET https://shop.acme.example/\n\nGateway shop/storefront, listener web\n")
        .prints("  served by HTTPRoute shop/web, rule rule-1  hub/shop/routes.yaml:")
        .prints("  Gateway shop/storefront > listener web > HTTPRoute shop/web > rule-1\n    per-client\n");
    assert!(!web.stdout.contains("shop/api-burst"), "{}", web.stdout);
    let api = scratch.run(&["explain", "https://api.shop.acme.example/orders/7"]);
    api.prints("  served by HTTPRoute shop/catalogue, rule rule-2  hub/shop/routes.yaml:")
        .prints("    on eu-1\n    everything  ")
        .prints("    on eu-2, us-1\n    reads\n")
        .prints("      from ratelimitpolicy/shop/api-burst  hub/shop/limits.yaml:");
    assert!(!api.stdout.contains("rule-1"), "{}", api.stdout);
    // A kind stands together, and the policy that is not sent to a cluster is named with the one that is there.
    let at = |text: &str| api.stdout.rfind(text).expect(text);
    assert!(at("\nRateLimitPolicy (") < at("\nTLSPolicy ("), "{}", api.stdout);
    api.prints(
        "\nratelimitpolicy/shop/api-burst is withheld\n    on eu-1\n    ratelimitpolicy/kuadrant-shop/maintenance lives there  \
         spokes/eu-1/limits.yaml:4\n",
    );
    assert!(!web.stdout.contains("withheld"), "{}", web.stdout);
    let one = scratch.run(&[
        "explain",
        "https://api.shop.acme.example/orders/7",
        "--cluster",
        "eu-1",
    ]);
    one.prints("as seen on cluster eu-1")
        .prints("from ratelimitpolicy/kuadrant-shop/maintenance  spokes/eu-1/limits.yaml:");
    assert!(!one.stdout.contains("us-1"), "{}", one.stdout);
}

#[test]
fn what_nobody_takes_says_who_listens_and_what_no_rule_takes_is_404() {
    let scratch = hub();
    scratch
        .run(&["explain", "http://shop.example.com/", "hub"])
        .prints("  no listener accepts it\n  there is https://*.example.com:443\n");
    scratch
        .run(&["explain", "https://other.example.com/", "hub"])
        .prints("  no rule of its routes matches: 404\n");
}

#[test]
fn clusters_that_differ_have_answers_of_their_own() {
    let scratch = hub();
    scratch.write(
        "hub/spokes/eu-1/local.yaml",
        &ROUTES
            .split("---\n")
            .next()
            .unwrap_or_default()
            .replace("name: shop,", "name: here,")
            .replace("namespace: gateways", "namespace: kuadrant-gateways")
            .replace("value: /}", "value: /only/here}"),
    );
    let run = scratch.run(&["explain", "https://shop.example.com/only/here", "hub"]);
    run.exits(0);
    assert!(
        run.stdout
            .contains("on eu-1\n  served by HTTPRoute kuadrant-gateways/here, rule everything"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("served by HTTPRoute gateways/shop, rule everything"),
        "{}",
        run.stdout
    );
    let run = scratch.run(&[
        "explain",
        "https://shop.example.com/only/here",
        "hub",
        "--cluster",
        "us-1",
    ]);
    assert!(!run.stdout.contains("kuadrant-gateways/here"), "{}", run.stdout);
}

#[test]
fn what_is_no_request_and_what_takes_no_header_say_what_to_write() {
    let in_words = hub().run(&["explain", "GET", "https://shop.example.com/"]);
    in_words.says("a request is one argument: write it in quotes, as in 'GET https://shop.example.com/'");
    let scratch = hub();
    scratch
        .run(&["explain", "ftp://x", "hub"])
        .exits(2)
        .says("error: there is no scheme `ftp`\nhelp: write it as 'GET https://shop.example.com/cart'");
    scratch
        .run(&["explain", "gateway/prod-web", "hub", "--header", "a=b"])
        .exits(2)
        .says("error: an object has no header `a=b`\nhelp: name a request");
}

#[test]
fn a_rule_whose_expression_is_not_understood_is_named_and_nothing_is_promised_about_it() {
    let scratch = hub();
    let mut routes = ROUTES.replace("'/c[a-z]+/v[0-9]+'", "'/c[a-z]+)|(.*'");
    scratch.write("hub/routes.yaml", &routes);
    let run = scratch.run(&["explain", "GET https://shop.example.com/cart", "hub"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().map(str::trim).collect();
    let at = |wanted: &str| lines.iter().position(|line| line.starts_with(wanted));
    let taken = at("served by").expect(&run.stdout);
    assert!(
        lines[taken].contains("cart") && !lines[taken].contains("checkout"),
        "{}",
        run.stdout
    );
    let unknown = at("may be served by").expect(&run.stdout);
    assert!(
        lines[unknown].contains("checkout  hub/routes.yaml:14"),
        "{}",
        run.stdout
    );
    assert_eq!(
        lines[unknown + 1],
        "because a regular expression is not understood: error: unopened group"
    );
    // Where nothing else matches, it does not say that nobody answers.
    routes = routes.replace("type: PathPrefix, value: /}", "type: Exact, value: /home}");
    scratch.write("hub/routes.yaml", &routes);
    let run = scratch.run(&["explain", "GET https://shop.example.com/elsewhere", "hub"]);
    assert!(
        run.stdout.contains("no rule of its routes is known to match") && !run.stdout.contains("404"),
        "{}",
        run.stdout
    );
}
