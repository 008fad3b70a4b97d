//! `policy/no-effect`: what a controller does not do although it accepts the policy (docs/reference/findings).

use crate::scratch::Scratch;

/// A hub of class `fleet` that goes to clusters c1 and c2, with these kinds synced and these objects.
fn hub(class: &str, synced: &[(&str, &str, &str)], objects: &str) -> Scratch {
    let kinds: Vec<String> = synced
        .iter()
        .map(|(group, version, resource)| {
            format!(r#"{{"group":"{group}","version":"{version}","resource":"{resource}"}}"#)
        })
        .collect();
    let routes = ["httproutes", "tcproutes"].map(|resource| {
        format!(r#"{{"group":"gateway.networking.k8s.io","version":"v1","resource":"{resource}"}}"#)
    });
    let scratch = Scratch::new();
    scratch.write(
        "hub/base.yaml",
        &format!(
            "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: fleet}}
spec:
  controllerName: kuadrant.io/mgc-gw-controller
  parametersRef: {{group: \"\", kind: ConfigMap, name: params, namespace: gw}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: params, namespace: gw}}
data:
  params: '{{\"downstreamClass\": \"{class}\", \"policiesToSync\": [{}], \"resourcesToSync\": [{}]}}'
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {{name: all-1, namespace: gw, labels: {{cluster.open-cluster-management.io/placement: all}}}}
status: {{decisions: [{{clusterName: c1, reason: \"\"}}, {{clusterName: c2, reason: \"\"}}]}}
",
            kinds.join(", "),
            routes.join(", ")
        ),
    );
    scratch.write("hub/objects.yaml", objects);
    scratch
}

fn gateway(name: &str, listeners: &str) -> String {
    format!(
        "---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: gw, labels: {{cluster.open-cluster-management.io/placement: all}}}}
spec:
  gatewayClassName: fleet
  listeners: [{listeners}]
"
    )
}

fn policy(api_version: &str, kind: &str, name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: gw}}\nspec:\n  {spec}\n"
    )
}

const KUADRANT: &str = "kuadrant.io/v1";
const ENVOY: &str = "gateway.envoyproxy.io/v1alpha1";
const WEB: &str = "{group: gateway.networking.k8s.io, kind: Gateway, name: web}";
const FROM_ALL: &str = "allowedRoutes: {namespaces: {from: All}}";

/// What is said of policies without effect, each by its first line.
fn said(scratch: &Scratch) -> Vec<String> {
    let run = scratch.run(&["check"]);
    assert!([0, 3].contains(&run.status), "{run:?}");
    let lines = run.stdout.lines();
    let lines = lines.filter_map(|line| line.strip_prefix("warning[policy/no-effect]: "));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_limit_that_reads_who_somebody_is_needs_a_policy_that_finds_it_out() {
    let kinds = [
        ("kuadrant.io", "v1", "ratelimitpolicies"),
        ("kuadrant.io", "v1", "authpolicies"),
    ];
    let route = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop, namespace: gw}\n\
                 spec: {parentRefs: [{name: web}], rules: [{backendRefs: [{name: shop, port: 80}]}]}\n";
    let limit = |expression: &str| {
        let web = gateway(
            "web",
            &format!("{{name: http, port: 80, protocol: HTTP, {FROM_ALL}}}"),
        );
        let spec = format!(
            "targetRef: {WEB}\n  limits: {{each: {{rates: [{{limit: 1, window: 1s}}], counters: [{{expression: {expression}}}]}}}}"
        );
        web + route + &policy(KUADRANT, "RateLimitPolicy", "l", &spec)
    };
    let by_user = limit("auth.identity.sub");
    assert_eq!(
        said(&hub("istio", &kinds, &by_user)),
        ["RateLimitPolicy gw/l reads `auth` where no AuthPolicy is in effect, on c1, c2"]
    );
    let by_index = limit("\"auth['identity'].sub\"");
    assert_eq!(said(&hub("istio", &kinds, &by_index)).len(), 1);
    let guarded = limit("\"has(auth.identity) ? auth.identity.sub : 'anybody'\"");
    assert!(said(&hub("istio", &kinds, &guarded)).is_empty());
    // What only looks like it, and what is on the path.
    for other in ["request.auth.sub", "'request.headers[\"x-auth.sub\"]'"] {
        assert!(said(&hub("istio", &kinds, &limit(other))).is_empty(), "{other}");
    }
    let spec = format!("targetRef: {WEB}\n  rules: {{authentication: {{all: {{anonymous: {{}}}}}}}}");
    let both = by_user + &policy(KUADRANT, "AuthPolicy", "a", &spec);
    assert!(said(&hub("istio", &kinds, &both)).is_empty());
}

#[test]
fn a_certificate_is_made_only_where_kuadrant_makes_one() {
    let kinds = [("kuadrant.io", "v1", "tlspolicies")];
    let tls = |listeners: &str| {
        let spec = format!("targetRef: {WEB}\n  issuerRef: {{kind: ClusterIssuer, name: le}}");
        let objects = gateway("web", listeners) + &policy(KUADRANT, "TLSPolicy", "t", &spec);
        said(&hub("istio", &kinds, &objects))
    };
    let listener = |name: &str, more: &str| format!("{{name: {name}, port: 443, protocol: HTTPS, {more}}}");
    let a = "hostname: a.example, tls: {certificateRefs: [{name: a}]}";
    assert!(tls(&listener("a", a)).is_empty());
    // Plain HTTP beside it, and TLS that ends elsewhere, are as they should be.
    let passed = "{name: p, port: 444, protocol: TLS, hostname: p.example, tls: {mode: Passthrough}}";
    let beside = format!(
        "{}, {{name: h, port: 80, protocol: HTTP}}, {passed}",
        listener("a", a)
    );
    assert!(tls(&beside).is_empty());
    for (listeners, why) in [
        (
            listener("a", "tls: {certificateRefs: [{name: a}]}"),
            "listener `a` (it has no hostname)",
        ),
        (
            listener(
                "a",
                "hostname: a.example, tls: {certificateRefs: [{name: a, namespace: certs}]}",
            ),
            "listener `a` (its Secret is in another namespace)",
        ),
        (
            format!(
                "{}, {}",
                listener("a", a),
                listener("b", "hostname: b.example, tls: {certificateRefs: [{name: a}]}")
            ),
            "listener `a` (listener `b` names its Secret, too), listener `b` (listener `a` names its Secret, too)",
        ),
    ] {
        assert_eq!(
            tls(&listeners),
            [format!("TLSPolicy gw/t makes no Certificate for {why}")]
        );
    }
}

#[test]
fn records_of_one_hostname_agree_over_gateways_and_clusters() {
    let kinds = [("kuadrant.io", "v1", "dnspolicies")];
    let dns = |name: &str, gateway: &str, more: &str| {
        let target = WEB.replace("web", gateway);
        let spec = format!("targetRef: {target}\n  providerRefs: [{{name: aws}}]{more}");
        policy(KUADRANT, "DNSPolicy", name, &spec)
    };
    let shop = "{name: http, port: 80, protocol: HTTP, hostname: shop.example}";
    let balanced = "\n  loadBalancing: {weight: 1, geo: EU, defaultGeo: true}";
    let one = |more: &str| gateway("web", shop) + &dns("d", "web", more);
    assert_eq!(
        said(&hub("istio", &kinds, &one(""))),
        ["DNSPolicy gw/d has no `loadBalancing`, and c1, c2 publish shop.example"]
    );
    let fleet = |us: &str| {
        let cluster = |name: &str, geo: &str| {
            format!(
                "---\napiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {{name: {name}, \
                 labels: {{kuadrant.io/lb-attribute-geo-code: {geo}}}}}\nspec: {{hubAcceptsClient: true}}\n"
            )
        };
        cluster("c1", "EU") + &cluster("c2", us)
    };
    assert!(said(&hub("istio", &kinds, &(one(balanced) + &fleet("EU")))).is_empty());
    assert_eq!(
        said(&hub("istio", &kinds, &(one(balanced) + &fleet("US")))),
        ["DNSPolicy gw/d says geo EU for clusters whose label says otherwise: c2 (US)"]
    );
    let two = one(balanced) + &gateway("api", &shop.replace("80", "81")) + &dns("e", "api", "");
    assert_eq!(
        said(&hub("istio", &kinds, &two)),
        ["DNSPolicy gw/e publishes `shop.example` without `loadBalancing`, and DNSPolicy gw/d with it"]
    );
}

#[test]
fn what_envoy_gateway_leaves_out_is_named() {
    let kinds = [
        ("gateway.envoyproxy.io", "v1alpha1", "securitypolicies"),
        ("gateway.envoyproxy.io", "v1alpha1", "clienttrafficpolicies"),
        ("gateway.envoyproxy.io", "v1alpha1", "envoyextensionpolicies"),
    ];
    let of =
        |listeners: &str, policies: &str| said(&hub("eg", &kinds, &(gateway("web", listeners) + policies)));
    let tcp = "{name: http, port: 80, protocol: HTTP}, {name: db, port: 5432, protocol: TCP}";
    let rule = |more: &str| {
        let spec = format!(
            "targetRefs: [{WEB}]\n  authorization: {{defaultAction: Deny, rules: [{{action: Allow, {more}principal: \
             {{clientCIDRs: [10.0.0.0/8]}}}}]}}"
        );
        policy(ENVOY, "SecurityPolicy", "s", &spec)
    };
    assert!(of(tcp, &rule("")).is_empty());
    assert_eq!(
        of(tcp, &rule("operation: {methods: [GET]}, ")),
        ["SecurityPolicy gw/s does not limit connections to the TCP listener `db` by this"]
    );
    let jwt = format!(
        "targetRefs: [{}]\n  jwt: {{providers: [{{name: p, remoteJWKS: {{uri: 'https://a.example/keys'}}}}]}}",
        WEB.replace("name: web", "name: web, sectionName: db")
    );
    assert_eq!(
        of(tcp, &policy(ENVOY, "SecurityPolicy", "s", &jwt)),
        ["SecurityPolicy gw/s does nothing for the TCP listener `db` by this"]
    );
    let two = |port: u32| {
        format!(
            "{{name: a, port: 80, protocol: HTTP, hostname: a.example}}, {{name: b, port: {port}, protocol: HTTP, hostname: b.example}}"
        )
    };
    let on = |section: &str, limit: &str| {
        let target = WEB.replace("name: web", &format!("name: web, sectionName: {section}"));
        let spec = format!("targetRefs: [{target}]\n  connection: {{bufferLimit: {limit}}}");
        policy(ENVOY, "ClientTrafficPolicy", section, &spec)
    };
    assert_eq!(
        of(&two(80), &(on("a", "1Ki") + &on("b", "2Ki"))),
        [
            "`connection.bufferLimit` of ClientTrafficPolicy gw/b has no effect at listener `b`: ClientTrafficPolicy gw/a \
             decides for its port 80"
        ]
    );
    assert!(of(&two(80), &(on("a", "1Ki") + &on("b", "1Ki"))).is_empty());
    assert!(of(&two(81), &(on("a", "1Ki") + &on("b", "2Ki"))).is_empty());
    let lua = format!("targetRefs: [{WEB}]\n  lua: [{{type: Inline, inline: \"function f() end\"}}]");
    assert_eq!(
        of(tcp, &policy(ENVOY, "EnvoyExtensionPolicy", "x", &lua)),
        [
            "Envoy Gateway ignores this of EnvoyExtensionPolicy gw/x unless its own configuration says \
             `extensionApis.enableLua: true`"
        ]
    );
}

#[test]
fn a_target_on_which_no_controller_acts_is_named() {
    let kinds = [("gateway.networking.k8s.io", "v1", "backendtlspolicies")];
    let spec = format!(
        "targetRefs: [{WEB}]\n  validation: {{hostname: a.example, wellKnownCACertificates: System}}"
    );
    let objects = gateway("web", "{name: http, port: 80, protocol: HTTP}")
        + &policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "b", &spec);
    assert_eq!(
        said(&hub("kgateway", &kinds, &objects)),
        ["BackendTLSPolicy gw/b targets a Gateway, on which no known controller acts"]
    );
}

/// A hub that works would not, where the copy of its policy is in another namespace than its grant names.
#[test]
fn a_grant_of_the_hub_goes_along_beside_one_of_its_name_that_lives_there() {
    let grant = "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: from-gw, namespace: auth}\n\
                 spec:\n  from: [{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: gw}]\n  to: [{group: \"\", kind: Service}]\n";
    let spec = format!(
        "targetRefs: [{WEB}]\n  extAuth: {{http: {{backendRefs: [{{name: authz, namespace: auth, port: 80}}]}}}}"
    );
    let objects = gateway("web", "{name: http, port: 80, protocol: HTTP}")
        + &policy(ENVOY, "SecurityPolicy", "s", &spec)
        + grant;
    let kinds = [("gateway.envoyproxy.io", "v1alpha1", "securitypolicies")];
    let scratch = hub("eg", &kinds, &objects);
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: authz, namespace: auth}\n";
    scratch.write("spokes/_all/all.yaml", &format!("{service}{grant}"));
    let run = scratch.run(&["render", "hub", "--spokes", "spokes", "-o", "-"]);
    let shipped = run.exits(0).stdout.clone();
    assert!(shipped.contains("name: kuadrant-from-gw\n"), "{shipped}");
    assert!(shipped.contains("namespace: kuadrant-gw\n"), "{shipped}");
}

#[test]
fn a_route_that_shares_its_path_takes_no_policy_of_nginx_unless_both_are_named() {
    let kinds = [("gateway.nginx.org", "v1alpha2", "observabilitypolicies")];
    let route = |name: &str, path: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: gw}}\n\
             spec: {{parentRefs: [{{name: web}}], hostnames: [a.example], rules: [{{matches: [{{path: {{type: PathPrefix, value: {path}}}, \
             headers: [{{name: x, value: {name}}}]}}], backendRefs: [{{name: s, port: 80}}]}}]}}\n"
        )
    };
    let of = |path: &str, routes: &[&str]| {
        let targets: Vec<String> = routes
            .iter()
            .map(|name| format!("{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {name}}}"))
            .collect();
        let spec = format!(
            "targetRefs: [{}]\n  tracing: {{strategy: ratio}}",
            targets.join(", ")
        );
        let objects = gateway(
            "web",
            "{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}",
        ) + &route("one", "/")
            + &route("two", path)
            + &policy("gateway.nginx.org/v1alpha2", "ObservabilityPolicy", "o", &spec);
        said(&hub("nginx", &kinds, &objects))
    };
    assert_eq!(
        of("/", &["one"]),
        [
            "NGINX Gateway Fabric refuses ObservabilityPolicy gw/o on HTTPRoute gw/one: HTTPRoute gw/two is at `a.example/`, too"
        ]
    );
    assert!(of("/", &["one", "two"]).is_empty());
    assert!(of("/two", &["one"]).is_empty());
}

/// Whatever is of a synced kind and in no work says why.
#[test]
fn a_route_without_a_parent_and_a_selector_that_selects_nothing_are_said() {
    let kinds = [("security.istio.io", "v1", "authorizationpolicies")];
    let web = gateway("web", "{name: http, port: 80, protocol: HTTP}");
    let of = |selector: &str| {
        let route = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: alone, namespace: gw}\n\
                     spec: {rules: [{backendRefs: [{name: shop, port: 80}]}]}\n";
        let spec = format!("selector: {{matchLabels: {{{selector}}}}}\n  action: DENY");
        let denied = policy("security.istio.io/v1", "AuthorizationPolicy", "deny", &spec);
        hub("istio", &kinds, &(web.clone() + route + &denied)).run(&["check"])
    };
    let typo = of("gateway.networking.k8s.io/gateway-name: wbe");
    typo.exits(0)
        .prints("warning[route/not-attached]: HTTPRoute gw/alone is not shipped: it names no parent")
        .prints("warning[policy/not-synced]: AuthorizationPolicy gw/deny is not shipped: it selects nothing of the input")
        .prints("hub/objects.yaml:18:");
    let right = of("gateway.networking.k8s.io/gateway-name: web");
    assert!(!right.stdout.contains("policy/not-synced"), "{}", right.stdout);
}

/// What a route of the Gateway says of requests, and whether it sends them back to themselves.
#[track_caller]
fn is_endless(listeners: &str, hostnames: &str, rules: &str, expected: bool) {
    let route = format!(
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: shop, namespace: gw}}\n\
         spec: {{parentRefs: [{{name: web}}], hostnames: [{hostnames}], rules: [{rules}]}}\n"
    );
    let run = hub("istio", &[], &(gateway("web", listeners) + &route)).run(&["check"]);
    let is_said = run
        .stdout
        .contains("warning[route/redirects-to-itself]: HTTPRoute gw/shop redirects requests");
    assert_eq!(is_said, expected, "{rules}\n{run:?}");
}

#[test]
fn a_redirect_that_leads_back_is_found_by_host_port_and_path_and_none_that_leads_on() {
    let http = "{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}";
    let both = format!(
        "{http}, {{name: https, port: 443, protocol: HTTPS, tls: {{certificateRefs: [{{name: a}}]}}, allowedRoutes: \
         {{namespaces: {{from: All}}}}}}"
    );
    let rule =
        |redirect: &str| format!("{{filters: [{{type: RequestRedirect, requestRedirect: {{{redirect}}}}}]}}");
    let hosts = "shop.example.com, www.example.com";
    is_endless(http, hosts, &rule("scheme: https"), false);
    is_endless(&both, hosts, &rule("scheme: https"), true);
    is_endless(http, hosts, &rule("hostname: www.example.com"), true);
    is_endless(http, hosts, &rule("hostname: other.example.com"), false);
    let hop = |at: &str, to: &str| {
        let path = format!("path: {{type: ReplaceFullPath, replaceFullPath: {to}}}");
        rule(&path).replacen(
            '{',
            &format!("{{matches: [{{path: {{type: Exact, value: {at}}}}}], "),
            1,
        )
    };
    is_endless(http, hosts, &[hop("/a", "/b"), hop("/b", "/a")].join(", "), true);
    is_endless(http, hosts, &[hop("/a", "/b"), hop("/b", "/c")].join(", "), false);
    let prefix = "{matches: [{path: {type: PathPrefix, value: /old}}], filters: [{type: RequestRedirect, requestRedirect: \
                  {path: {type: ReplacePrefixMatch, replacePrefixMatch: PREFIX}}}]}";
    is_endless(http, hosts, &prefix.replace("PREFIX", "/old"), true);
    is_endless(http, hosts, &prefix.replace("PREFIX", "/new"), false);
    is_endless(http, hosts, &rule("port: 8080"), false);
    is_endless(
        http,
        hosts,
        &rule("path: {type: ReplaceFullPath, replaceFullPath: /}"),
        true,
    );
    is_endless(
        http,
        hosts,
        &rule("path: {type: ReplaceFullPath, replaceFullPath: /a}"),
        false,
    );
    // Another rule takes what came by TLS.
    let forwarded = "{matches: [{headers: [{name: x-forwarded-proto, value: https}]}], backendRefs: [{name: s, port: 80}]}, ";
    is_endless(
        &both,
        hosts,
        &(forwarded.to_owned() + &rule("scheme: https")),
        false,
    );
}
