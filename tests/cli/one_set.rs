//! One set of findings: whichever command looks at a hub finds the same.

use crate::scratch::{Run, Scratch};

/// Class `multi`, cluster c1, and a Gateway `gw/web`, whose listener `private` accepts routes of team a, and `public` all.
const HUB: &str = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: multi}
spec: {controllerName: kuadrant.io/mgc-gw-controller, parametersRef: {group: "", kind: ConfigMap, name: p, namespace: conf}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: p, namespace: conf}
data: {params: '{"resourcesToSync":[{"group":"gateway.networking.k8s.io","version":"v1","resource":"httproutes"}]}'}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {name: all-1, namespace: gw, labels: {cluster.open-cluster-management.io/placement: all}}
status: {decisions: [{clusterName: c1, reason: ""}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: gw, labels: {cluster.open-cluster-management.io/placement: all}}
spec:
  gatewayClassName: multi
  listeners:
  - {name: private, port: 80, protocol: HTTP, hostname: "*.a.example.com", allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: a}}}}}
  - {name: public, port: 80, protocol: HTTP, hostname: "*.b.example.com", allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: b, labels: {team: b}}
---
"#;

/// A Service `b/x` on c1.
const SERVICE: &str =
    "apiVersion: v1\nkind: Service\nmetadata: {name: x, namespace: b}\nspec: {ports: [{port: 80}]}\n";

/// HTTPRoute b/shop with a host, a parent and a backend.
fn route(host: &str, parent: &str, backend: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: shop, namespace: b}}\n\
         spec: {{parentRefs: [{{name: web, namespace: gw{parent}}}], hostnames: [{host}], rules: [{{backendRefs: [{backend}]}}]}}\n"
    )
}

fn hub(more: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("spokewright.yaml", CONFIGURATION);
    scratch.write("hub/all.yaml", &format!("{HUB}{more}"));
    scratch.write("spokes/c1/service.yaml", SERVICE);
    scratch
}

const CONFIGURATION: &str = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nfindings: {spoke/unknown-cluster: error}\n";
const X: &str = "{name: x, port: 80}";

/// What a run reports: codes of errors and warnings.
fn codes(run: &Run) -> Vec<String> {
    let lines = run.stdout.lines().chain(run.stderr.lines());
    let codes = lines.filter_map(|line| {
        let (severity, rest) = line.split_once('[')?;
        let is_one = ["error", "warning"].contains(&severity);
        Some(rest.split_once(']')?.0.to_owned()).filter(|_| is_one)
    });
    let mut codes: Vec<String> = codes.collect();
    codes.sort();
    codes
}

#[test]
fn an_error_of_the_configurations_choice_stops_every_command_and_the_others_say_so_first() {
    let scratch = hub(&route("s.b.example.com", "", X));
    scratch.run(&["render", "-q"]).exits(0);
    scratch.write("spokes/C1-typo/service.yaml", SERVICE);
    let expected = ["spoke/unknown-cluster"];
    for arguments in [
        &["check"][..],
        &["render", "--check"],
        &["render", "-o", "-"],
        &["argocd", "generate"],
        &["diff", "--base-dir", "."],
        &["page", "-o", "page.html"],
        &["status"],
        &["policies"],
        &["policies", "--cluster", "c1"],
        &["explain", "gateway/gw/web"],
        &["explain", "http://s.b.example.com/"],
        &["graph"],
        &["prune-list"],
    ] {
        let run = scratch.run(arguments);
        run.exits(3);
        assert_eq!(codes(&run), expected, "{arguments:?}");
    }
    let refused = "`spokewright render` refuses this input because of 1 error";
    for (arguments, comment) in [
        (&["status"][..], ""),
        (&["policies"], ""),
        (&["policies", "-o", "yaml"], "# "),
        (&["explain", "gateway/gw/web"], ""),
        (&["explain", "http://s.b.example.com/"], ""),
        (&["graph"], "%% "),
        (&["graph", "--format", "dot"], "// "),
    ] {
        let run = scratch.run(arguments);
        let first = run.stdout.lines().next().unwrap_or_default();
        assert_eq!(first, format!("{comment}{refused}"), "{arguments:?}");
        assert!(
            run.stdout.lines().count() > 1,
            "{arguments:?} answers all the same"
        );
    }
    let run = scratch.run(&["policies", "-o", "json"]);
    assert!(
        run.stdout.starts_with('{') && run.stderr.starts_with(refused),
        "{}",
        run.stderr
    );
}

#[test]
fn a_warning_is_counted_and_not_repeated_before_each_answer() {
    let scratch = hub(&route("s.b.example.com", "", "{name: gone, port: 80}"));
    assert_eq!(codes(&scratch.run(&["check"])), ["reference/not-shipped"]);
    for arguments in [
        &["policies"][..],
        &["explain", "gateway/gw/web"],
        &["status"],
        &["graph"],
    ] {
        let run = scratch.run(arguments);
        run.exits(0).says("1 warning; `spokewright check` lists it");
        assert!(codes(&run).is_empty(), "{arguments:?}: {}", run.stderr);
    }
    // Programs get all of them.
    let run = scratch.run(&["policies", "--message-format", "json"]);
    run.says("reference/not-shipped");
    scratch
        .run(&["policies", "--deny", "warnings"])
        .exits(3)
        .says("error[reference/not-shipped]");
}

#[test]
fn the_conditions_of_a_route_have_the_reasons_of_gateway_api() {
    for (name, route, accepted, resolved) in [
        (
            "accepted",
            route("s.b.example.com", "", X),
            "True Accepted",
            "True ResolvedRefs",
        ),
        (
            "a listener of another team",
            route("s.a.example.com", "", X),
            "False NotAllowedByListeners",
            "True ResolvedRefs",
        ),
        (
            "no listener of the hostname",
            route("s.c.example.com", "", X),
            "False NoMatchingListenerHostname",
            "",
        ),
        (
            "no listener of the port",
            route("s.b.example.com", ", port: 81", X),
            "False NoMatchingParent",
            "",
        ),
        (
            "no such Service",
            route("s.b.example.com", "", "{name: gone, port: 80}"),
            "True Accepted",
            "False BackendNotFound",
        ),
        (
            "a Service of another namespace",
            route("s.b.example.com", "", "{name: x, namespace: other, port: 80}"),
            "True Accepted",
            "False RefNotPermitted",
        ),
        (
            "no kind of backends",
            route("s.b.example.com", "", "{kind: ConfigMap, name: x, port: 80}"),
            "True Accepted",
            "False InvalidKind",
        ),
    ] {
        let scratch = hub(&route);
        let run = scratch.run(&["status"]);
        let route = run.stdout.split("httproute/b/shop").nth(1);
        let route = route.unwrap_or_else(|| panic!("{name}:\n{}\n{}", run.stdout, run.stderr));
        let rows: Vec<String> = route
            .lines()
            .map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let has = |row: &str| rows.iter().any(|line| *line == row);
        assert!(has(&format!("Accepted {accepted}")), "{name}:\n{}", run.stdout);
        assert_eq!(
            has(&format!("ResolvedRefs {resolved}")),
            !resolved.is_empty(),
            "{name}:\n{}",
            run.stdout
        );
    }
    let scratch = hub(&route("s.a.example.com", "", X));
    let run = scratch.run(&["explain", "hr/b/shop"]);
    run.exits(3);
    let reason = "not attached: Gateway gw/web accepts no routes of this namespace at its listeners with a hostname of the route";
    assert!(run.stdout.contains(reason), "{}", run.stdout);
    let run = scratch.run(&["check"]);
    let help =
        "help: attach the route to a listener that accepts routes of `b`, or give the Namespace the labels";
    assert!(run.stdout.contains(help), "{}", run.stdout);
}

#[test]
fn two_gateways_of_a_cluster_with_one_hostname_are_a_finding() {
    let gateway = |name: &str, placement: &str, hostname: &str, more: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: gw, labels: \
             {{cluster.open-cluster-management.io/placement: {placement}}}}}\nspec: {{gatewayClassName: multi, listeners: \
             [{{name: l, port: 8443, protocol: HTTP, hostname: \"{hostname}\"}}]{more}}}\n---\n"
        )
    };
    let elsewhere = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\nmetadata: {name: c2-1, namespace: gw, labels: {cluster.open-cluster-management.io/placement: c2}}\nstatus: {decisions: [{clusterName: c2, reason: \"\"}]}\n---\n";
    for (more, expected) in [
        // Neither port nor case matters.
        (gateway("two", "all", "*.A.example.com", ""), 1),
        (gateway("two", "c2", "*.a.example.com", ""), 0),
        (gateway("two", "all", "s.a.example.com", ""), 0),
        (
            gateway("two", "all", "x.com", ", addresses: [{value: 10.0.0.1}]")
                + &gateway("three", "all", "x.com", ", addresses: [{value: 10.0.0.1}]"),
            0,
        ),
        (
            gateway("two", "all", "x.com", "") + &gateway("three", "all", "x.com", ""),
            1,
        ),
    ] {
        let run = hub(&format!("{elsewhere}{more}")).run(&["check"]);
        let found = codes(&run)
            .iter()
            .filter(|code| *code == "gateway/same-hostname")
            .count();
        assert_eq!(found, expected, "{more}\n{}", run.stdout);
    }
    // One that lives on the cluster.
    let scratch = hub("");
    let local = gateway("local", "none", "*.a.example.com", "").replace("multi", "istio");
    scratch.write("spokes/c1/gateway.yaml", &local);
    let run = scratch.run(&["check"]);
    let both = "[gateway/same-hostname]: Gateway gw/web and Gateway gw/local both have the hostname `*.a.example.com` on c1";
    assert!(run.stdout.contains(both), "{}", run.stdout);
}
