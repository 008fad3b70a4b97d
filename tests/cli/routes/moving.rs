//! What changes its work when something refers to another object, in each layout, and what is said of it.

use super::*;

const TO_BOTH: &str = "set `workPer: Both`";

fn layout(scratch: &Scratch, from: &str, to: &str) {
    let work_per = |layout: &str| format!("\"workPer\": \"{layout}\"");
    scratch.edit("hub/class.yaml", &work_per(from), &work_per(to));
}

/// A route to the first of two Gateways on one cluster, with a policy on it, and one on the Gateway.
fn two_gateways(work_per: &str) -> Scratch {
    let scratch = hub();
    layout(&scratch, "Gateway", work_per);
    second_gateway(&scratch, "{clusterName: eu-1}, {clusterName: us-1}");
    limited_cart(&scratch);
    render(&scratch).exits(0).does_not_say("object/moved");
    scratch
}

/// Renders a change into a copy of the tree, and compares it with the tree as it was.
fn moves(scratch: &Scratch) -> (bool, Run) {
    let diff = scratch.run(&["diff", "hub", "--base-tree", "rendered", "--max-removed", "0"]);
    let run = render(scratch);
    run.exits(0);
    let is_said = run.stderr.contains("warning[object/moved]");
    assert_eq!(
        is_said,
        diff.stdout.contains(": it moves from the work"),
        "{}",
        diff.stdout
    );
    assert_eq!(
        is_said,
        diff.stderr.contains("error[diff/over-budget]"),
        "{}",
        diff.stderr
    );
    (is_said, run)
}

#[test]
fn what_gets_another_gateway_parent_or_target_moves_only_where_works_are_per_gateway() {
    let cart = |parents: &str| route("cart", "shop", parents);
    let on_route = limit("cart", "shop", "kind: HTTPRoute, name: cart");
    let both = format!("{OURS}, {SECOND}");
    let changes: [(&str, String); 3] = [
        ("another Gateway", cart(SECOND) + &on_route),
        ("a second parent", cart(&both) + &on_route),
        ("back to one parent", cart(OURS) + &on_route),
    ];
    for (work_per, moving) in [("Object", false), ("Both", false), ("Gateway", true)] {
        let scratch = two_gateways(work_per);
        for (change, routes) in &changes {
            scratch.write("hub/routes.yaml", routes);
            let (is_said, run) = moves(&scratch);
            assert_eq!(is_said, moving, "{work_per}, {change}: {}", run.stderr);
        }
        // A policy in the namespace of the route, from the route to one of its rules.
        let on_rule = limit("cart", "shop", "kind: HTTPRoute, name: cart, sectionName: first");
        scratch.write("hub/routes.yaml", &(cart(OURS) + &on_rule));
        assert!(!moves(&scratch).0, "{work_per}");
    }
}

#[test]
fn a_move_is_said_with_works_clusters_and_the_way_out() {
    let scratch = two_gateways("Gateway");
    let on_route = limit("cart", "shop", "kind: HTTPRoute, name: cart");
    scratch.write("hub/routes.yaml", &(route("cart", "shop", SECOND) + &on_route));
    let diff = scratch.run(&["diff", "hub", "--base-tree", "rendered", "--max-removed", "0"]);
    assert_eq!(
        diff.stdout.lines().take(6).collect::<Vec<_>>(),
        [
            "2 of 2 clusters change; in total, 0 objects added, 2 changed, 0 removed",
            "over budget: 4 objects are removed; the budget allows none",
            "",
            "lost",
            "  HTTPRoute shop/cart on all 2 clusters: it moves from the work gateway-gateways-prod-web to \
             gateway-infra-second, and the agents may delete and recreate it",
            "  RateLimitPolicy shop/cart on all 2 clusters: it moves from the work gateway-gateways-prod-web to \
             gateway-infra-second, and the agents may delete and recreate it",
        ]
    );
    diff.exits(4).says("error[diff/over-budget]");
    let check = scratch.run(&["render", "hub", "-o", "rendered", "--check"]);
    check
        .exits(1)
        .says("warning[object/moved]: 2 objects leave the work `gateway-gateways-prod-web` for another one on eu-1, us-1")
        .says("RateLimitPolicy shop/cart comes to `gateway-infra-second`, and has no effect meanwhile")
        .says(TO_BOTH);
    // It is over when the tree has the new works.
    render(&scratch).exits(0).says("object/moved");
    render(&scratch).exits(0).does_not_say("object/moved");
}

#[test]
fn a_change_of_the_layout_by_way_of_both_moves_nothing() {
    let scratch = two_gateways("Gateway");
    for (from, to) in [
        ("Gateway", "Both"),
        ("Both", "Object"),
        ("Object", "Both"),
        ("Both", "Gateway"),
    ] {
        layout(&scratch, from, to);
        assert!(!moves(&scratch).0, "{from} to {to}");
        for (kind, path) in [
            ("Gateway", WORK),
            ("HTTPRoute", "rendered/eu-1/httproute-shop-cart.yaml"),
        ] {
            let is_own = kind == "Gateway" || to != "Gateway";
            assert_eq!(scratch.exists(path), is_own, "{to}: {path}");
        }
        let in_gateways = names(&manifests(&scratch, WORK)).contains(&"HTTPRoute shop/cart".to_owned());
        assert_eq!(in_gateways, to != "Object", "{to}");
    }
    for (from, to) in [("Gateway", "Object"), ("Object", "Gateway")] {
        layout(&scratch, from, to);
        assert!(moves(&scratch).0, "{from} to {to}");
    }
    // Both kinds of objects that contain works, too.
    scratch
        .run(&["render", "hub", "-o", "rendered", "--work-kind", "replica-set"])
        .exits(0)
        .says("object/moved");
}

#[test]
fn a_copied_secret_has_a_work_of_its_own_whoever_needs_it() {
    let scratch = two_gateways("Object").in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nsecrets: Copy\noutput: ../rendered\n",
    );
    scratch.write(
        "hub/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: wildcard, namespace: gateways}\n\
         type: kubernetes.io/tls\ndata: {tls.crt: YQ==, tls.key: Yg==}\n",
    );
    render(&scratch).exits(0);
    let own = "rendered/eu-1/secret-gateways-wildcard.yaml";
    assert_eq!(
        names(&manifests(&scratch, own)),
        [
            "Namespace /kuadrant-gateways",
            "Secret kuadrant-gateways/wildcard"
        ]
    );
    assert!(!scratch.read(WORK).contains("kind: Secret"));
    let before = scratch.read(own);
    // Another Gateway of the namespace needs it instead.
    let gateway = scratch.read("hub/gateway.yaml");
    let other = gateway
        .replace("name: prod-web", "name: other-web")
        .replace("*.example.com", "*.example.org");
    scratch.write("hub/other.yaml", &other);
    render(&scratch).exits(0);
    scratch.edit(
        "hub/gateway.yaml",
        "    tls: {mode: Terminate, certificateRefs: [{name: wildcard}]}\n",
        "",
    );
    scratch.edit("hub/gateway.yaml", "protocol: HTTPS", "protocol: HTTP");
    render(&scratch).exits(0).does_not_say("object/moved");
    assert_eq!(scratch.read(own), before);
}

#[test]
fn two_secrets_that_would_have_one_name_are_refused() {
    let scratch = two_gateways("Object").in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nsecrets: Copy\noutput: ../rendered\n",
    );
    let secret = |name: &str, namespace: &str| {
        format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
             type: kubernetes.io/tls\ndata: {{tls.crt: YQ==, tls.key: Yg==}}\n"
        )
    };
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\n\
                 metadata: {name: g, namespace: certs}\nspec:\n  from: [{group: gateway.networking.k8s.io, \
                 kind: Gateway, namespace: gateways}]\n  to: [{group: \"\", kind: Secret}]\n";
    let secrets = secret("certs.wildcard", "gateways") + &secret("wildcard", "certs") + grant;
    scratch.write("hub/secret.yaml", &secrets);
    scratch.edit(
        "hub/gateway.yaml",
        "certificateRefs: [{name: wildcard}]",
        "certificateRefs: [{name: certs.wildcard}, {name: wildcard, namespace: certs}]",
    );
    render(&scratch).exits(3).says(
        "error[work/name-taken]: Secret gateways/certs.wildcard and Secret certs/wildcard would both be \
         `kuadrant-gateways/certs.wildcard` on cluster eu-1",
    );
}

#[test]
fn policies_are_applied_before_what_they_protect_and_removed_after_it() {
    let scratch = two_gateways("Object").in_a_repository();
    let list = read_all(
        &scratch.read("rendered/eu-1/kustomization.yaml"),
        &Limits::default(),
    )
    .expect("YAML");
    assert_eq!(
        list[0]["resources"],
        kube_json::json!([
            "gateway-rbac.yaml",
            "ratelimitpolicy-gateways-global.yaml",
            "ratelimitpolicy-shop-cart.yaml",
            "gateway-gateways-prod-web.yaml",
            "gateway-infra-second.yaml",
            "httproute-shop-cart.yaml",
        ])
    );
    assert_eq!(list[0]["sortOptions"], kube_json::json!({"order": "fifo"}));
    let stream = scratch.run(&["render", "hub", "-o", "-", "-q"]).stdout;
    let at = |name: &str| stream.find(&format!("  name: {name}\n")).expect("a work");
    assert!(at("gateway-rbac") < at("ratelimitpolicy-shop-cart"));
    assert!(at("ratelimitpolicy-shop-cart") < at("httproute-shop-cart"));
    // Inside a work, too.
    let gateways = two_gateways("Gateway");
    assert_eq!(
        names(&manifests(&gateways, WORK))[2..],
        [
            "RateLimitPolicy kuadrant-gateways/global",
            "RateLimitPolicy shop/cart",
            "Gateway kuadrant-gateways/prod-web",
            "HTTPRoute shop/cart",
        ]
    );
    // All but the rights goes, and the policies last.
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\noutput: ../rendered\n",
    );
    for file in ["gateway", "second", "routes", "limits"] {
        scratch.remove(&format!("hub/{file}.yaml"));
    }
    let run = scratch.run(&["prune-list", "hub", "--allow-empty"]);
    let all = read_all(&run.stdout, &Limits::default()).expect("YAML");
    let on_eu: Vec<&str> = all
        .iter()
        .filter(|work| work["metadata"]["namespace"] == "eu-1")
        .filter_map(|work| work["metadata"]["name"].as_str())
        .collect();
    assert_eq!(
        on_eu,
        [
            "gateway-gateways-prod-web",
            "gateway-infra-second",
            "httproute-shop-cart",
            "ratelimitpolicy-gateways-global",
            "ratelimitpolicy-shop-cart",
        ],
        "{} {}",
        run.stdout,
        run.stderr
    );
}
