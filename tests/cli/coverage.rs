//! `policies --coverage`: which routes have a policy of a kind in effect, and where one is missing.

use crate::scratch::{Run, Scratch};

/// What `init` writes, with one more route.
fn hub() -> Scratch {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    let route = scratch.read("hub/route.yaml");
    let route = route.replace("name: shop\n  namespace", "name: cart\n  namespace");
    scratch.write("hub/cart.yaml", &route.replace("value: /}", "value: /cart}"));
    scratch
}

fn report(run: &Run) -> kube_json::Value {
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn routes_that_lack_a_kind_that_most_have_are_gaps() {
    let scratch = hub();
    let run = scratch.run(&["policies", "--coverage"]);
    run.exits(0).prints(
        "KIND             ROUTES  COVERED  OPEN  GAPS\n\
         AuthPolicy            2        2     0     0\n\
         RateLimitPolicy       2        1     0     1\n\
         HTTPRoute shop/cart has no RateLimitPolicy on eu-1, us-1 (listener http of Gateway shop/web)  hub/cart.yaml:",
    );
    let report = report(scratch.run(&["policies", "--coverage", "-o", "json"]).exits(0));
    assert_eq!(report["kind"], "CoverageReport");
    let gap = &report["gaps"][0];
    assert_eq!(gap["object"], "httproute.gateway.networking.k8s.io:shop/cart");
    assert_eq!(gap["gateway"], "gateway.gateway.networking.k8s.io:shop/web");
    assert_eq!(
        (&gap["kind"], &gap["listener"], &gap["path"]),
        (&"RateLimitPolicy".into(), &"http".into(), &"hub/cart.yaml".into())
    );
    scratch
        .run(&["policies", "--coverage", "-o", "markdown"])
        .exits(0)
        .prints(
            "### Routes with a policy in effect\n\n```text\nKIND             ROUTES  COVERED  OPEN  GAPS\n",
        );
}

#[test]
fn a_kind_that_is_asked_for_need_not_be_in_the_input() {
    let scratch = hub();
    let run = scratch.run(&[
        "policies",
        "--coverage",
        "--kind",
        "backendtlspolicy",
        "--cluster",
        "eu-1",
    ]);
    run.prints("BackendTLSPolicy       2        0     0     2\n");
    run.prints("HTTPRoute shop/shop has no BackendTLSPolicy on eu-1 (listener http");
    let typo = scratch.run(&["policies", "--coverage", "--kind", "AuthPolcy"]);
    typo.exits(2).says("did you mean `AuthPolicy`?");
    scratch.run(&["policies", "--kind", "AuthPolicy"]).exits(2);
    scratch
        .run(&["status", "-o", "markdown"])
        .exits(2)
        .says("this report has no Markdown");
}

#[test]
fn a_policy_that_lets_everybody_in_covers_nothing() {
    let scratch = hub();
    let policies = scratch.read("hub/policies.yaml");
    let anonymous = "token:\n          anonymous: {}\n";
    let jwt = "token:\n          jwt:\n            issuerUrl: https://login.example.com\n";
    assert!(policies.contains(jwt), "{policies}");
    scratch.write("hub/policies.yaml", &policies.replace(jwt, anonymous));
    let run = scratch.run(&["policies", "--coverage", "--kind", "AuthPolicy"]);
    run.exits(0).prints("AuthPolicy       2        0     2     0\n");
}

#[test]
fn a_local_policy_counts_on_its_cluster_alone() {
    let scratch = hub();
    let policies = scratch.read("hub/policies.yaml");
    let (before, limit) = policies.split_once("---").expect("two policies");
    scratch.write("hub/policies.yaml", before);
    let local = format!("---{}", limit.split("\n\n").next().unwrap_or_default());
    scratch.write("spokes/eu-1/limit.yaml", &local);
    let run = scratch.run(&["policies", "--coverage", "--kind", "RateLimitPolicy"]);
    run.prints("RateLimitPolicy       2        0     0     2\n");
    run.prints("HTTPRoute shop/cart has no RateLimitPolicy on eu-1, us-1");
    run.prints("HTTPRoute shop/shop has no RateLimitPolicy on us-1");
}
