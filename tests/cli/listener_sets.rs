//! ListenerSets: attached or not and why, shipped with their Gateway, their Secrets and policies; what a Gateway refers to in
//! other namespaces. The rules are Gateway API's (docs/systems/gateway-api.md#listenersets).

use crate::scratch::{Run, Scratch};

const SYNC_SETS: &str =
    r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "listenersets"}"#;
const SYNC_ROUTES: &str =
    r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}"#;

/// The worked example with a Gateway that takes ListenerSets in this way, `resourcesToSync`, and more objects on the hub.
fn hub(allowed: &str, resources: &str, objects: &str) -> Scratch {
    let scratch = Scratch::with_worked_example();
    let from = "{\"downstreamClass\": \"istio\",";
    scratch.edit(
        "hub/class.yaml",
        from,
        &format!("{from} \"resourcesToSync\": [{resources}],"),
    );
    if !allowed.is_empty() {
        scratch.edit(
            "hub/gateway.yaml",
            "  listeners:\n",
            &format!("  allowedListeners: {{namespaces: {{{allowed}}}}}\n  listeners:\n"),
        );
    }
    scratch.write("hub/more.yaml", objects);
    scratch
}

/// A ListenerSet `shop/<name>` of the Gateway.
fn set(name: &str, listeners: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  \
         parentRef: {{name: prod-web, namespace: gateways}}\n  listeners:\n  - {listeners}\n---\n"
    )
}

const PLAIN: &str = "{name: plain, port: 8080, protocol: HTTP}";

/// An HTTPRoute `shop/cart` whose parent is a ListenerSet.
fn route(parent: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: cart, namespace: shop}}\nspec:\n  \
         parentRefs:\n  - {{group: gateway.networking.k8s.io, kind: ListenerSet, name: {parent}}}\n  rules:\n  - \
         backendRefs: [{{name: cart, port: 80}}]\n---\n"
    )
}

fn check(scratch: &Scratch) -> Run {
    scratch.run(&["check", "hub"])
}

fn work(scratch: &Scratch) -> String {
    scratch.run(&["render", "hub", "-q", "-o", "rendered"]).exits(0);
    scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml")
}

/// The finding of this code, from its first line to the next empty one.
#[track_caller]
fn finding(run: &Run, code: &str) -> String {
    let start = run.stdout.find(&format!("[{code}]"));
    let start = start.unwrap_or_else(|| panic!("no {code} in\n{}", run.stdout));
    let rest = &run.stdout[start..];
    rest.split("\n\n").next().unwrap_or_default().to_owned()
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn a_set_goes_along_with_its_gateway_in_its_own_namespace_and_so_does_what_hangs_on_it() {
    let scratch = hub(
        "from: All",
        &format!("{SYNC_ROUTES}, {SYNC_SETS}"),
        &(set("extra", PLAIN) + &route("extra")),
    );
    let work = work(&scratch);
    has(
        &work,
        &[
            "kind: ListenerSet\n      metadata:\n        name: extra\n        namespace: shop\n",
            "parentRef:\n          name: prod-web\n          namespace: kuadrant-gateways\n",
            "kind: HTTPRoute\n      metadata:\n        name: cart\n        namespace: shop\n",
            "- group: gateway.networking.k8s.io\n          kind: ListenerSet\n          name: extra\n        rules",
            "kind: Namespace\n      metadata:\n        name: shop\n",
        ],
    );
    let rights = scratch.read("rendered/eu-1/gateway-rbac.yaml");
    has(&rights, &["- listenersets\n"]);
    scratch
        .run(&["explain", "listenerset/shop/extra", "hub"])
        .prints("shipped to: eu-1, us-1");
    scratch
        .run(&["explain", "httproute/shop/cart", "hub"])
        .prints("shipped to: eu-1, us-1");
}

#[test]
fn an_x_listener_set_is_a_listener_set() {
    let of_x = |text: String| {
        text.replace(
            "gateway.networking.k8s.io/v1\nkind: ListenerSet",
            "gateway.networking.x-k8s.io/v1alpha1\nkind: XListenerSet",
        )
        .replace(
            "group: gateway.networking.k8s.io, kind: ListenerSet",
            "group: gateway.networking.x-k8s.io, kind: XListenerSet",
        )
    };
    let sync =
        r#"{"group": "gateway.networking.x-k8s.io", "version": "v1alpha1", "resource": "xlistenersets"}"#;
    let scratch = hub(
        "from: All",
        &format!("{SYNC_ROUTES}, {sync}"),
        &of_x(set("extra", PLAIN) + &route("extra")),
    );
    has(
        &work(&scratch),
        &[
            "kind: XListenerSet\n      metadata:\n        name: extra\n        namespace: shop\n",
            "namespace: kuadrant-gateways\n",
            "kind: XListenerSet\n          name: extra\n",
        ],
    );
    let none = hub("", sync, &of_x(set("extra", PLAIN)));
    has(
        &finding(&check(&none), "listener-set/not-attached"),
        &["XListenerSet shop/extra is not attached: Gateway gateways/prod-web accepts no ListenerSets"],
    );
}

#[test]
fn a_set_that_its_gateway_does_not_take_says_so_with_the_way_out_wherever_it_is_asked_for() {
    for (allowed, reason) in [
        ("", "accepts no ListenerSets"),
        ("from: None", "accepts no ListenerSets"),
        ("from: Same", "accepts only ListenerSets of its own namespace"),
        (
            "from: Selector, selector: {matchLabels: {team: web}}",
            "does not select ListenerSets of namespace `shop`",
        ),
    ] {
        let scratch = hub(
            allowed,
            &format!("{SYNC_ROUTES}, {SYNC_SETS}"),
            &(set("extra", PLAIN) + &route("extra")),
        );
        let run = check(&scratch);
        let said = finding(&run, "listener-set/not-attached");
        has(
            &said,
            &[
                &format!("ListenerSet shop/extra is not attached: Gateway gateways/prod-web {reason}"),
                "--> hub/more.yaml:5:",
                "= help: to accept the ListenerSets of `shop`, write into its `spec` `allowedListeners:",
                "kubernetes.io/metadata.name: shop",
            ],
        );
        assert!(!work(&scratch).contains("ListenerSet\n"), "{allowed}");
        scratch
            .run(&["explain", "listenerset/shop/extra", "hub"])
            .prints(&format!("not attached: Gateway gateways/prod-web {reason}"));
        scratch
            .run(&["explain", "httproute/shop/cart", "hub"])
            .prints(&format!(
                "not attached: ListenerSet shop/extra is not attached: Gateway gateways/prod-web {reason}"
            ));
    }
    let selected = hub(
        "from: Selector, selector: {matchLabels: {team: web}}",
        SYNC_SETS,
        &(set("extra", PLAIN)
            + "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: web, a: b}}\n"),
    );
    has(
        &work(&selected),
        &[
            "kind: ListenerSet\n",
            "name: shop\n        labels:\n          team: web\n    ",
        ],
    );
}

#[test]
fn a_set_whose_gateway_is_not_there_or_is_none_says_so() {
    let other = set("extra", PLAIN).replace("name: prod-web", "name: prod-wbe");
    has(
        &finding(
            &check(&hub("from: All", SYNC_SETS, &other)),
            "listener-set/not-attached",
        ),
        &[
            "Gateway gateways/prod-wbe is not in the input",
            "hub/more.yaml:5:",
            "did you mean `prod-web`?",
        ],
    );
    let other = set("extra", PLAIN).replace("parentRef: {", "parentRef: {group: \"\", kind: Service, ");
    has(
        &finding(
            &check(&hub("from: All", SYNC_SETS, &other)),
            "listener-set/not-attached",
        ),
        &["its parent is not a Gateway", "remove `group` and `kind`"],
    );
}

#[test]
fn on_the_spokes_the_gateway_is_in_another_namespace_than_its_sets() {
    let own = set("extra", PLAIN).replace("namespace: shop", "namespace: gateways");
    let run = check(&hub("from: Same", SYNC_SETS, &own));
    has(
        &finding(&run, "listener-set/not-allowed"),
        &[
            "on the spokes, Gateway gateways/prod-web would refuse ListenerSet gateways/extra",
            "--> hub/gateway.yaml:",
            "there the Gateway lives in `kuadrant-gateways`",
            "= help: to accept the ListenerSets of `gateways` there as on the hub, write `allowedListeners:",
        ],
    );
    run.exits(3);
}

#[test]
fn the_gateways_listeners_come_first_then_those_of_the_older_set() {
    let clash = "{name: clash, port: 443, protocol: HTTPS, hostname: \"*.EXAMPLE.com\", tls: {certificateRefs: [{name: a}]}}";
    let run = check(&hub("from: All", SYNC_SETS, &set("extra", clash)));
    has(
        &finding(&run, "listener-set/conflicted"),
        &[
            "a listener of ListenerSet shop/extra accepts nothing: it has the port and hostname of listener `api` of Gateway \
             gateways/prod-web",
            "--> hub/more.yaml:7:",
            "= help: give it another `hostname` or `port`",
        ],
    );
    let protocol = set("extra", "{name: clash, port: 443, protocol: HTTP}");
    has(
        &finding(
            &check(&hub("from: All", SYNC_SETS, &protocol)),
            "listener-set/conflicted",
        ),
        &[
            "it has the port, but not the protocol, of listener `api`",
            "give it another `port`",
        ],
    );
    // The younger one has the name that comes first.
    let dated = |name: &str, year: u16| {
        set(name, PLAIN).replace(
            "namespace: shop}",
            &format!("namespace: shop, creationTimestamp: \"{year}-01-01T00:00:00Z\"}}"),
        )
    };
    let run = check(&hub(
        "from: All",
        SYNC_SETS,
        &(dated("a", 2026) + &dated("b", 2025)),
    ));
    has(
        &finding(&run, "listener-set/conflicted"),
        &[
            "a listener of ListenerSet shop/a accepts nothing",
            "of ListenerSet shop/b",
        ],
    );
    let run = check(&hub(
        "from: All",
        SYNC_SETS,
        &(set("b", PLAIN) + &set("a", PLAIN)),
    ));
    has(
        &finding(&run, "listener-set/conflicted"),
        &[
            "a listener of ListenerSet shop/b accepts nothing",
            "of ListenerSet shop/a",
        ],
    );
}

#[test]
fn a_route_says_which_part_of_its_set_is_missing() {
    let scratch = hub("from: All", SYNC_ROUTES, &(set("extra", PLAIN) + &route("extar")));
    has(
        &finding(&check(&scratch), "route/parent-not-found"),
        &[
            "ListenerSet shop/extar is not in the input",
            "did you mean `extra`?",
        ],
    );
    let scratch = hub(
        "from: All",
        SYNC_ROUTES,
        &(set("extra", PLAIN) + &route("extra, sectionName: plian")),
    );
    has(
        &finding(&check(&scratch), "route/parent-not-found"),
        &[
            "ListenerSet shop/extra has no listener `plian`",
            "did you mean `plain`?",
        ],
    );
    let scratch = hub("from: All", SYNC_ROUTES, &(set("extra", PLAIN) + &route("extra")));
    has(
        &finding(&check(&scratch), "route/not-attached"),
        &[
            "its ListenerSet stays on the hub",
            "list its kind in `resourcesToSync`",
        ],
    );
}

const ENCRYPTED: &str = "{name: tls, port: 8443, protocol: HTTPS, hostname: shop.example.com, tls: {certificateRefs: \
                         [{name: own}, {name: shared, namespace: certs}]}}";

fn secret(namespace: &str, name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: {namespace}}}\ndata: {{a: YQ==}}\n---\n"
    )
}

#[test]
fn its_secrets_are_expected_beside_it_or_copied_there() {
    let objects = set("extra", ENCRYPTED)
        + &secret("shop", "own")
        + &secret("certs", "shared")
        + &secret("gateways", "wildcard");
    let scratch = hub("from: All", SYNC_SETS, &objects);
    let run = check(&scratch);
    has(
        &run.stdout,
        &[
            "Secret shop/own is not shipped: the spokes must have it in namespace `shop`",
            "Secret certs/shared is not shipped: the spokes must have it in namespace `certs`",
            "needed by ListenerSet shop/extra",
        ],
    );
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nsecrets: Copy\n",
    );
    let run = scratch.run(&["check"]);
    has(
        &finding(&run, "secret/ref-not-permitted"),
        &[
            "ListenerSet shop/extra may not use Secret certs/shared",
            "from gateway.networking.k8s.io `ListenerSet` in namespace `shop` to Secret",
        ],
    );
    // A grant for the Gateway is none for the set.
    let grant = |kind: &str, namespace: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {{name: g, namespace: certs}}\nspec: \
             {{from: [{{group: gateway.networking.k8s.io, kind: {kind}, namespace: {namespace}}}], to: [{{group: \"\", kind: \
             Secret}}]}}\n"
        )
    };
    scratch.write("hub/grant.yaml", &grant("Gateway", "gateways"));
    finding(&scratch.run(&["check"]), "secret/ref-not-permitted");
    scratch.write("hub/grant.yaml", &grant("ListenerSet", "shop"));
    scratch.run(&["render", "-q"]).exits(0);
    let work = scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml");
    has(
        &work,
        &[
            "kind: Secret\n      metadata:\n        name: own\n        namespace: shop\n",
            "kind: Secret\n      metadata:\n        name: certs.shared\n        namespace: shop\n",
            "kind: Secret\n      metadata:\n        name: wildcard\n        namespace: kuadrant-gateways\n",
            "certificateRefs:\n            - name: own\n            - name: certs.shared\n",
        ],
    );
}

#[test]
fn secrets_that_are_copied_for_listeners_are_there_for_everything_else() {
    let policy = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: users, namespace: \
                  shop}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra}], \
                  basicAuth: {users: {name: own}}}\n";
    let listener = ENCRYPTED.replace(", {name: shared, namespace: certs}", "");
    let objects = set("extra", &listener) + &secret("shop", "own") + &secret("gateways", "wildcard") + policy;
    let scratch = hub("from: All", SYNC_SETS, &objects);
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"gateway.envoyproxy.io\", \"version\": \"v1alpha1\", \"resource\": \
         \"securitypolicies\"}, ",
    );
    scratch.edit(
        "hub/gateway.yaml",
        "  listeners:\n",
        "  tls: {backend: {clientCertificateRef: {name: wildcard}}}\n  listeners:\n",
    );
    let missing = [
        "Secret shop/own is needed on",
        "Secret kuadrant-gateways/wildcard is needed on",
    ];
    has(&check(&scratch).stdout, &missing);
    let config = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nsecrets: Copy\n";
    scratch.write("spokewright.yaml", config);
    let run = scratch.run(&["check"]);
    for secret in missing {
        assert!(!run.stdout.contains(secret), "{}", run.stdout);
    }
}

#[test]
fn a_policy_on_a_set_goes_where_the_set_goes() {
    let policy = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: limits, namespace: \
                  shop}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra}], \
                  connection: {bufferLimit: 32Ki}}\n";
    let scratch = hub("from: All", SYNC_SETS, &(set("extra", PLAIN) + policy));
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"gateway.envoyproxy.io\", \"version\": \"v1alpha1\", \"resource\": \
         \"clienttrafficpolicies\"}, ",
    );
    has(
        &work(&scratch),
        &["kind: ClientTrafficPolicy\n      metadata:\n        name: limits\n        namespace: shop\n"],
    );
    scratch
        .run(&["policies", "hub", "--effective", "--cluster", "eu-1"])
        .prints("ClientTrafficPolicy (gateway.envoyproxy.io)\n  Gateway gateways/prod-web > ListenerSet shop/extra");
    // Where the set stays, so does the policy.
    scratch.edit("hub/class.yaml", SYNC_SETS, "");
    has(
        &finding(&check(&scratch), "policy/not-synced"),
        &[
            "its target is not synced",
            "\"resource\": \"listenersets\"} to `resourcesToSync` of `multicluster`, target the Gateway",
        ],
    );
    // Why a set hangs on nothing is said of the set.
    scratch.edit("hub/gateway.yaml", "from: All", "from: None");
    let said = check(&scratch);
    has(
        &finding(&said, "listener-set/not-attached"),
        &["ListenerSet shop/extra is not attached: Gateway gateways/prod-web accepts no ListenerSets"],
    );
    assert!(!said.stdout.contains("policy/not-synced"), "{}", said.stdout);
}

/// How often something is said of Gateways, their parts, and what hangs on them, but for requests and Secrets.
fn said(run: &Run) -> usize {
    let about = [
        "[object/",
        "[gateway/",
        "[listener-set/",
        "[route/not-attached]",
        "[policy/",
    ];
    about.iter().map(|code| run.stdout.matches(code).count()).sum()
}

/// The finding of this code, which is the only one of its like.
#[track_caller]
fn only_finding(run: &Run, code: &str) -> String {
    assert_eq!(said(run), 1, "{}", run.stdout);
    finding(run, code)
}

/// A policy `shop/<name>` on a part of `shop`.
fn policy(kind: &str, name: &str, target: &str) -> String {
    format!(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec: \
         {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]}}\n---\n"
    )
}

#[test]
fn what_keeps_a_set_from_taking_anything_is_said_once_and_not_of_what_is_below_it() {
    let to_extra = || route("extra");
    let below = || {
        to_extra()
            + &to_extra().replace("name: cart, namespace", "name: basket, namespace")
            + &policy("BackendTrafficPolicy", "of-cart", "kind: HTTPRoute, name: cart")
            + &policy("SecurityPolicy", "of-basket", "kind: HTTPRoute, name: basket")
            + &policy(
                "SecurityPolicy",
                "of-rule",
                "kind: HTTPRoute, name: basket, sectionName: rule-1",
            )
            + &policy("SecurityPolicy", "of-set", "kind: ListenerSet, name: extra")
            + &policy(
                "ClientTrafficPolicy",
                "of-listener",
                "kind: ListenerSet, name: extra, sectionName: plain",
            )
    };
    let sync = format!("{SYNC_ROUTES}, {SYNC_SETS}");
    let check = |scratch: &Scratch| {
        scratch.edit(
            "hub/class.yaml",
            "\"policiesToSync\": [",
            "\"policiesToSync\": [{\"group\": \"gateway.envoyproxy.io\", \"version\": \"v1alpha1\", \"resource\": \
             \"clienttrafficpolicies\"}, {\"group\": \"gateway.envoyproxy.io\", \"version\": \"v1alpha1\", \"resource\": \
             \"securitypolicies\"}, {\"group\": \"gateway.envoyproxy.io\", \"version\": \"v1alpha1\", \"resource\": \
             \"backendtrafficpolicies\"}, ",
        );
        check(scratch)
    };
    let sound = hub("from: All", &sync, &(set("extra", PLAIN) + &below()));
    let run = check(&sound);
    assert_eq!(said(&run), 0, "{}", run.stdout);
    let refused = hub("from: None", &sync, &(set("extra", PLAIN) + &below()));
    only_finding(&check(&refused), "listener-set/not-attached");
    let lost = set("extra", PLAIN).replace("prod-web", "prod-wbe") + &below();
    only_finding(
        &check(&hub("from: All", &sync, &lost)),
        "listener-set/not-attached",
    );
    let clash = "{name: plain, port: 443, protocol: HTTP}";
    let clash = hub("from: All", &sync, &(set("extra", clash) + &below()));
    // A warning hides nothing: the routes that are not shipped are named.
    finding(&check(&clash), "listener-set/conflicted");
    // Nor what keeps its Gateway from being read.
    let broken = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: broken, namespace: gateways}\n\
                  spec: {gatewayClassName: 7, listeners: [{name: l, port: 80, protocol: HTTP}]}\n---\n";
    let broken = broken.to_owned() + &set("extra", PLAIN).replace("prod-web", "broken") + &below();
    only_finding(&check(&hub("from: All", &sync, &broken)), "object/schema");
    // What is wrong elsewhere explains nothing.
    let elsewhere = set("extra", "{name: plain, port: 443, protocol: HTTP}")
        + &to_extra().replace("name: extra", "name: other")
        + &set(
            "other",
            "{name: other, port: 8080, protocol: HTTP, hostname: a.example.com}",
        )
        + &policy("SecurityPolicy", "of-cart", "kind: HTTPRoute, name: cart");
    let elsewhere = elsewhere.replace("  rules:\n", "  hostnames: [b.example.com]\n  rules:\n");
    let run = check(&hub("from: All", SYNC_SETS, &elsewhere));
    finding(&run, "listener-set/conflicted");
    finding(&run, "policy/unreachable");
}

#[test]
fn default_gateways_are_parents_of_routes_that_ask_for_them() {
    let asking = route("none").replace(
        "parentRefs:\n  - {group: gateway.networking.k8s.io, kind: ListenerSet, name: none}",
        "useDefaultGateways: All",
    );
    let open = |scratch: &Scratch, scope: &str| {
        scratch.edit(
            "hub/gateway.yaml",
            "  listeners:\n",
            &format!("  defaultScope: {scope}\n  listeners:\n"),
        );
        scratch.edit(
            "hub/gateway.yaml",
            "    port: 443\n",
            "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
        );
    };
    let scratch = hub("", SYNC_ROUTES, &asking);
    open(&scratch, "All");
    has(
        &work(&scratch),
        &[
            "kind: HTTPRoute\n",
            "useDefaultGateways: All\n",
            "defaultScope: All\n",
        ],
    );
    let scratch = hub("", SYNC_ROUTES, &asking);
    open(&scratch, "None");
    assert!(!work(&scratch).contains("kind: HTTPRoute\n"));
}

#[test]
fn what_a_gateway_refers_to_in_another_namespace_needs_a_grant() {
    let scratch = hub("", "", "");
    scratch.edit(
        "hub/gateway.yaml",
        "  listeners:\n",
        "  tls:\n    backend: {clientCertificateRef: {name: client, namespace: certs}}\n    frontend:\n      default: {validation: \
         {caCertificateRefs: [{group: \"\", kind: ConfigMap, name: ca}]}}\n      perPort:\n      - {port: 443, tls: {validation: \
         {caCertificateRefs: [{group: \"\", kind: ConfigMap, name: ca, namespace: certs}]}}}\n  listeners:\n",
    );
    let run = check(&scratch);
    has(
        &finding(&run, "reference/not-permitted"),
        &[
            "Gateway gateways/prod-web may not refer to",
            "--> hub/gateway.yaml:",
            "= help: add a ReferenceGrant to namespace `certs`",
        ],
    );
    assert_eq!(
        run.stdout.matches("[reference/not-permitted]").count(),
        2,
        "{}",
        run.stdout
    );
    has(
        &run.stdout,
        &[
            "may not refer to Secret certs/client",
            "may not refer to ConfigMap certs/ca",
        ],
    );
    scratch.write(
        "hub/grant.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: certs}\nspec:\n  from: \
         [{group: gateway.networking.k8s.io, kind: Gateway, namespace: gateways}]\n  to: [{group: \"\", kind: Secret}, {group: \
         \"\", kind: ConfigMap, name: ca}]\n",
    );
    let run = check(&scratch);
    assert!(
        !run.stdout.contains("[reference/not-permitted]"),
        "{}",
        run.stdout
    );
    has(&run.stdout, &["ConfigMap certs/ca is needed on eu-1, us-1"]);
}

/// A ListenerSet with this time of creation.
fn dated(name: &str, year: u16) -> String {
    set(name, PLAIN).replace(
        "namespace: shop}",
        &format!("namespace: shop, creationTimestamp: \"{year}-01-01T00:00:00Z\"}}"),
    )
}

/// When each of two sets comes to a cluster nobody knows before.
#[test]
fn the_routes_of_two_sets_that_clash_both_go_to_the_clusters() {
    let resources = format!("{SYNC_SETS}, {SYNC_ROUTES}");
    let objects = dated("a", 2026) + &dated("b", 2025) + &route("a") + &route("b").replace("cart", "basket");
    let scratch = hub("from: All", &resources, &objects);
    let work = work(&scratch);
    has(&work, &["name: cart\n", "name: basket\n"]);
    // The Gateway's own listener comes first everywhere.
    let clash = "{name: clash, port: 443, protocol: HTTP}";
    let scratch = hub("from: All", &resources, &(set("a", clash) + &route("a")));
    let rendered = self::work(&scratch);
    assert!(!rendered.contains("name: cart\n"), "{rendered}");
}

#[test]
fn a_shipped_listener_that_gives_way_to_what_lives_on_a_cluster_says_so() {
    let scratch = hub("from: All", SYNC_SETS, &dated("a", 2026));
    let there = dated("there", 2020).replace("namespace: gateways", "namespace: kuadrant-gateways");
    scratch.write(
        "hub/spokes/eu-1/set.yaml",
        &there.replace("name: plain", "name: local"),
    );
    has(
        &finding(&check(&scratch), "listener-set/conflicted"),
        &[
            "a listener of ListenerSet shop/a accepts nothing on eu-1: it has the port and hostname of listener `local` of \
             ListenerSet shop/there, which lives there",
            "--> hub/more.yaml:7:",
            "::: hub/spokes/eu-1/set.yaml:7:",
            "= help: give it another `hostname` or `port`",
        ],
    );
}

/// What applies on the listeners of a set, where this policy is on the whole Gateway.
fn on_set(listener: &str, policy: &str) -> String {
    let scratch = hub("from: All", SYNC_SETS, &set("extra", listener));
    scratch.edit("hub/limits.yaml", ", sectionName: api", "");
    scratch.write("hub/policy.yaml", policy);
    let kind =
        r#"{"group": "gateway.envoyproxy.io", "version": "v1alpha1", "resource": "clienttrafficpolicies"}"#;
    let synced = "\"policiesToSync\": [";
    scratch.edit("hub/class.yaml", synced, &format!("{synced}{kind}, "));
    scratch.run(&["policies", "hub", "--effective", "-q"]).stdout
}

const BUFFERED: &str = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\n\
    metadata: {name: buffered, namespace: shop}\nspec:\n  \
    targetRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra}]\n  connection: {bufferLimit: 1Ki}\n";

#[test]
fn no_policy_holds_on_a_listener_that_gives_way() {
    let clash = "{name: clash, port: 443, protocol: HTTP}";
    assert!(on_set(PLAIN, BUFFERED).contains("ListenerSet shop/extra > listener plain"));
    assert!(!on_set(clash, BUFFERED).contains("ListenerSet shop/extra > listener clash"));
}

/// Kuadrant does not know the listeners of a set, so what is attached there alone is open.
#[test]
fn no_policy_of_kuadrant_holds_on_a_listener_of_a_set_and_the_routes_behind_it_are_named() {
    assert!(!on_set(PLAIN, "").contains("ListenerSet shop/extra > listener plain"));
    let both = format!("{SYNC_ROUTES}, {SYNC_SETS}");
    let scratch = hub("from: All", &both, &(set("extra", PLAIN) + &route("extra")));
    scratch.edit("hub/limits.yaml", ", sectionName: api", "");
    let run = check(&scratch);
    has(
        &finding(&run, "policy/no-effect"),
        &[
            "RateLimitPolicy gateways/",
            "does not protect what is attached through a ListenerSet: HTTPRoute shop/cart",
            "--> hub/limits.yaml:",
        ],
    );
    // Nor one on the route itself.
    let target = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}";
    scratch.remove("hub/limits.yaml");
    scratch.write(
        "hub/own.yaml",
        &format!(
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: own, namespace: shop}}\n\
             spec: {{{target}, limits: {{a: {{rates: [{{limit: 1, window: 1s}}]}}}}}}\n"
        ),
    );
    let run = check(&scratch);
    has(
        &finding(&run, "policy/no-effect"),
        &[
            "RateLimitPolicy shop/own does not protect what is attached through a ListenerSet: HTTPRoute shop/cart",
        ],
    );
}

#[test]
fn the_object_whose_name_is_taken_on_a_cluster_is_shown() {
    let scratch = hub("from: All", SYNC_SETS, &set("extra", PLAIN));
    scratch.write(
        "hub/spokes/eu-1/set.yaml",
        &set("extra", "{name: other, port: 9090, protocol: HTTP}"),
    );
    has(
        &finding(&check(&scratch), "spoke/name-taken"),
        &["--> hub/spokes/eu-1/set.yaml:3:", "::: hub/more.yaml:3:"],
    );
}
