//! What a cluster has, and what is said of some clusters: local policies, however they name their targets, grants and
//! labels that only the hub has, Gateways that live on clusters only (docs/policies.md).

use crate::scratch::Scratch;

/// The class `multi`, and a Gateway `gw/web` for all clusters.
fn class(params: &str, clusters: &[&str]) -> String {
    let clusters: Vec<String> = clusters
        .iter()
        .map(|name| format!("{{clusterName: {name}, reason: \"\"}}"))
        .collect();
    format!(
        "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: multi}}
spec: {{controllerName: kuadrant.io/mgc-gw-controller, parametersRef: {{group: \"\", kind: ConfigMap, name: p, namespace: gw}}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: p, namespace: gw}}
data: {{params: '{params}'}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {{name: all-1, namespace: gw, labels: {{cluster.open-cluster-management.io/placement: all}}}}
status: {{decisions: [{}]}}
---
{}",
        clusters.join(", "),
        gateway("web", "All")
    )
}

/// A Gateway of ours whose listener accepts routes of these namespaces.
fn gateway(name: &str, from: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: gw, labels: {{cluster.open-cluster-management.io/placement: all, app: web}}}}
spec:
  gatewayClassName: multi
  listeners: [{{name: http, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {{from: {from}}}}}}}]
"
    )
}

const TRAFFIC: &str = r#"{"policiesToSync":[{"group":"gateway.kgateway.dev","version":"v1alpha1","resource":"trafficpolicies"}]}"#;
const LIMITS: &str =
    r#"{"policiesToSync":[{"group":"kuadrant.io","version":"v1","resource":"ratelimitpolicies"}]}"#;
const ROUTES: &str =
    r#"{"resourcesToSync":[{"group":"gateway.networking.k8s.io","version":"v1","resource":"httproutes"}]}"#;

/// A TrafficPolicy with these targets.
fn traffic(place: &str, targets: &str, seconds: u32) -> String {
    format!(
        "---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {{{place}}}
spec: {{{targets}, timeouts: {{request: {seconds}s}}}}
"
    )
}

fn scratch(hub: &str, spokes: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("hub/all.yaml", hub);
    for (cluster, objects) in spokes {
        scratch.write(&format!("spokes/{cluster}/all.yaml"), objects);
    }
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\noutput: out\n",
    );
    scratch
}

const BY_LABEL: &str =
    "targetSelectors: [{group: gateway.networking.k8s.io, kind: Gateway, matchLabels: {app: web}}]";
const WEB: &str = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}]";

#[test]
fn a_local_policy_wins_by_a_selector_as_it_does_by_name() {
    let hub = class(TRAFFIC, &["c1", "c2"]) + &traffic("name: hub, namespace: gw", WEB, 1);
    for targets in [BY_LABEL, WEB] {
        let local = traffic("name: local, namespace: kuadrant-gw", targets, 99);
        let scratch = scratch(&hub, &[("c1", &local)]);
        let run = scratch.run(&["render"]);
        run.exits(0);
        run.says("1 policy is overridden by a local one: gw/hub by kuadrant-gw/local on c1");
        let is_shipped =
            ["c1", "c2"].map(|cluster| scratch.exists(&format!("out/{cluster}/trafficpolicy-gw-hub.yaml")));
        assert_eq!(is_shipped, [false, true], "{targets}");
    }
    // One that selects nothing that is shipped takes nothing away.
    let other = traffic(
        "name: local, namespace: kuadrant-gw",
        &BY_LABEL.replace("app: web", "app: other"),
        99,
    );
    let elsewhere = traffic("name: local, namespace: gw", BY_LABEL, 99);
    for local in [other, elsewhere] {
        let scratch = scratch(&hub, &[("c1", &local)]);
        scratch.run(&["render", "-q"]).exits(0);
        assert!(scratch.exists("out/c1/trafficpolicy-gw-hub.yaml"));
    }
}

/// Or the copy would select the Gateway that the local policy keeps for itself, and age would decide there.
#[test]
fn a_selector_that_would_select_the_target_of_a_local_policy_becomes_names_on_that_cluster() {
    let hub = class(TRAFFIC, &["c1", "c2"])
        + "---\n"
        + &gateway("second", "All")
        + &traffic("name: hub, namespace: gw", BY_LABEL, 1);
    let local = traffic("name: local, namespace: kuadrant-gw", WEB, 99);
    let scratch = scratch(&hub, &[("c1", &local)]);
    scratch.run(&["render", "-q"]).exits(0);
    let all = |cluster: &str| -> String {
        let files = scratch.tree(&format!("out/{cluster}")).into_iter();
        files.map(|(_, text)| text).collect()
    };
    let (c1, c2) = (all("c1"), all("c2"));
    assert!(!c1.contains("targetSelectors"), "{c1}");
    assert!(c1.contains("name: second"), "{c1}");
    assert!(c2.contains("targetSelectors"), "{c2}");
    let paths = scratch.run(&["policies", "--effective", "--cluster", "c1", "-q"]);
    paths.exits(0);
    paths.prints("/timeouts  {\"request\":\"99s\"}\n      from trafficpolicy/kuadrant-gw/local");
    paths.prints("Gateway gw/second > listener http > any route\n    /timeouts  {\"request\":\"1s\"}");
}

/// A route of namespace `team` with a backend in namespace `app`, and a policy on that.
const LOCAL_ROUTE: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: team}
spec: {parentRefs: [{name: web, namespace: kuadrant-gw}], rules: [{backendRefs: [{name: yy, namespace: app, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: yy, namespace: app}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: local, namespace: app}
spec: {targetRefs: [{group: \"\", kind: Service, name: yy}], validation: {hostname: a.example.net, wellKnownCACertificates: System}}
";
const GRANT: &str = "---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: g, namespace: app}
spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: team}], to: [{group: \"\", kind: Service}]}
";

#[test]
fn a_grant_of_the_hub_does_not_count_for_a_route_that_lives_on_a_cluster() {
    let hub = class(ROUTES, &["c1"]);
    let path = "Gateway gw/web > HTTPRoute team/r > Service app/yy";
    for (hub, local, is_permitted) in [
        (hub.clone() + GRANT, LOCAL_ROUTE.to_owned(), false),
        (hub, LOCAL_ROUTE.to_owned() + GRANT, true),
    ] {
        let run = scratch(&hub, &[("c1", &local)]).run(&["policies", "--effective", "-q"]);
        run.exits(0);
        assert_eq!(run.stdout.contains(path), is_permitted, "{}", run.stdout);
    }
}

#[test]
fn labels_of_a_namespace_count_where_they_are() {
    let selecting = gateway("web", "Selector, selector: {matchLabels: {team: a}}");
    let hub = class(LIMITS, &["c1"]).replace(&gateway("web", "All"), &selecting)
        + "---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: limit, namespace: gw}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web}, limits: {k: {rates: [{limit: 1, window: 1s}]}}}
";
    let namespace = |labels: &str| {
        format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: team, labels: {labels}}}\n")
    };
    let route = "---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: team}
spec: {parentRefs: [{name: web, namespace: NAMESPACE}], rules: [{backendRefs: [{name: x, port: 80}]}]}
";
    let (on_hub, there) = (
        route.replace("NAMESPACE", "gw"),
        route.replace("NAMESPACE", "kuadrant-gw"),
    );
    let syncing = hub.replace(
        "\"policiesToSync\"",
        &format!("{},\"policiesToSync\"", &ROUTES[1..ROUTES.len() - 1]),
    );
    let (with, without) = (namespace("{team: a}"), namespace("{}"));
    for (words, hub, local, is_attached) in [
        (
            "only the hub has the label",
            hub.clone() + &with,
            there.clone(),
            false,
        ),
        (
            "the cluster's Namespace has not",
            hub.clone() + &with,
            there.clone() + &without,
            false,
        ),
        (
            "the cluster's Namespace has it",
            hub.clone() + &without,
            there.clone() + &with,
            true,
        ),
        (
            "a synced route brings it",
            syncing + &with + &on_hub,
            without.clone(),
            true,
        ),
        (
            "a route that another tool delivers",
            hub.clone() + &with + &on_hub,
            String::new(),
            true,
        ),
        (
            "the same, with a Namespace there",
            hub + &with + &on_hub,
            without.clone(),
            false,
        ),
    ] {
        let spokes = [("c1", local.as_str())];
        let run = scratch(&hub, if local.is_empty() { &[] } else { &spokes }).run(&[
            "policies",
            "--effective",
            "-q",
        ]);
        run.exits(0);
        assert_eq!(
            run.stdout.contains("HTTPRoute team/r > rule-1"),
            is_attached,
            "{words}\n{}",
            run.stdout
        );
    }
}

/// A Gateway that lives on a cluster, and a limit on it.
fn own(limit: Option<u32>) -> String {
    let gateway = "apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: own, namespace: team}
spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}
";
    let limit = limit.map_or_else(String::new, |limit| {
        format!(
            "---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {{name: limit, namespace: team}}
spec: {{targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: own}}, limits: {{k: {{rates: [{{limit: {limit}, window: 1s}}]}}}}}}
"
        )
    });
    gateway.to_owned() + &limit
}

#[test]
fn what_is_said_of_a_gateway_that_lives_on_clusters_names_them() {
    let hub = class(LIMITS, &["c1"]);
    for (there, count) in [(Some(2), 2), (None, 1), (Some(1), 2)] {
        let (c1, c2) = (own(Some(1)), own(there));
        let scratch = scratch(&hub, &[("c1", &c1), ("c2", &c2)]);
        let path = "  Gateway team/own > listener http > any route\n    on ";
        let run = scratch.run(&["policies", "--effective", "-q"]);
        run.exits(0);
        assert_eq!(run.stdout.matches(path).count(), count, "{}", run.stdout);
        // Each is written in a file of its own.
        run.prints(&format!("{path}c1\n"));
        scratch.run(&["policies", "-q"]).prints(&format!(
            "    lives on: {}\n",
            if there.is_some() { "c1, c2" } else { "c1" }
        ));
        let run = scratch.run(&["explain", "gateway/team/own", "-q"]);
        run.prints("any route\n    on c1\n    k  ");
        let run = scratch.run(&["status", "-q"]);
        run.prints("ratelimitpolicy/team/limit");
        run.prints("on c1");
    }
}

#[test]
fn a_policy_that_is_not_on_a_cluster_is_said_to_be_where_it_is() {
    let hub = class(LIMITS, &["eu-1", "us-1"])
        + "---\n"
        + &gateway("us-only", "All").replace("placement: all", "placement: us")
        + "---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {name: us-1, namespace: gw, labels: {cluster.open-cluster-management.io/placement: us}}
status: {decisions: [{clusterName: us-1, reason: \"\"}]}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: aa, namespace: gw}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: us-only}, limits: {k: {rates: [{limit: 1, window: 1s}]}}}
";
    let scratch = scratch(&hub, &[("us-1", &own(Some(1)))]);
    let run = scratch.run(&["policies", "--cluster", "eu-1", "-q"]);
    run.exits(0);
    run.prints("no policy on cluster eu-1\nnot on eu-1:\n  ratelimitpolicy/gw/aa on us-1\n");
    run.does_not_say("next: add a policy");
    for (policy, rest) in [("gw/aa", "  Accepted=True"), ("team/limit", "")] {
        let name = format!("ratelimitpolicy/{policy}");
        let run = scratch.run(&["explain", &name, "--cluster", "eu-1", "-q"]);
        run.exits(0);
        run.prints(&format!(
            "  as seen on cluster eu-1\n  it is not there, but on us-1\n{rest}"
        ));
        assert!(!run.stdout.contains("on no cluster"), "{}", run.stdout);
        let run = scratch.run(&["explain", &name, "--cluster", "us-1", "-q"]);
        assert!(!run.stdout.contains("it is not there"), "{}", run.stdout);
    }
}

#[test]
fn status_says_on_which_clusters_a_target_is_affected() {
    let hub = class(ROUTES, &["eu-1", "us-1"])
        + "---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: app}
spec: {parentRefs: [{name: web, namespace: gw}], rules: [{backendRefs: [{name: yy, port: 80}]}]}
";
    let local = LOCAL_ROUTE.split_once("---\n").unwrap().1;
    let scratch_of = |spokes: &[(&str, &str)]| scratch(&hub, spokes).run(&["status", "-q"]);
    let run = scratch_of(&[("eu-1", local)]);
    run.exits(0);
    run.prints(
        "service/app/yy     BackendTLSPolicyAffected  True    Accepted
    on eu-1: BackendTLSPolicyAffected True (Accepted): Object affected by
      BackendTLSPolicy [app/local]
",
    );
    run.prints("backendtlspolicy/app/local  Accepted   True    Accepted\n    lives on: eu-1\n");
    let run = scratch_of(&[("eu-1", local), ("us-1", local)]);
    run.prints("    lives on: eu-1, us-1\n");
    assert!(
        !run.stdout.contains("on eu-1:") && !run.stdout.contains("on eu-1, us-1:"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_local_policy_whose_target_is_near_is_a_warning() {
    let hub = class(TRAFFIC, &["c1"]) + &traffic("name: hub, namespace: gw", WEB, 1);
    for (place, targets, help) in [
        (
            "name: local, namespace: gw",
            WEB,
            "did you mean namespace `kuadrant-gw`?",
        ),
        (
            "name: local, namespace: kuadrant-gw",
            &WEB.replace("name: web", "name: wbe"),
            "did you mean `web`?",
        ),
    ] {
        let run = scratch(&hub, &[("c1", &traffic(place, targets, 99))]).run(&["check"]);
        run.exits(0);
        run.prints("warning[policy/target-not-found]");
        run.prints(help);
    }
    // What else lives there need not be in the input.
    let unknown = WEB.replace("name: web", "name: something-else");
    let local = traffic("name: local, namespace: kuadrant-gw", &unknown, 99);
    let run = scratch(&hub, &[("c1", &local)]).run(&["check"]);
    assert!(!run.stdout.contains("policy/target-not-found"), "{}", run.stdout);
}

#[test]
fn what_lives_on_every_cluster_is_written_once() {
    let hub = class(TRAFFIC, &["c1", "c2"]) + &traffic("name: hub, namespace: gw", WEB, 1);
    let local = traffic("name: local, namespace: kuadrant-gw", WEB, 99);
    let once = scratch(&hub, &[("_all", &local)]);
    let each = scratch(&hub, &[("c1", &local), ("c2", &local)]);
    for command in [["render", "-o", "-"], ["policies", "-o", "json"]] {
        let (once, each) = (once.run(&command), each.run(&command));
        assert_eq!(
            once.exits(0).stdout.replace("_all", "c1"),
            each.exits(0).stdout.replace("c2/all.yaml", "c1/all.yaml")
        );
    }
    // A cluster that has the object itself, with other contents.
    once.write(
        "spokes/c2/own.yaml",
        &traffic(
            "name: local, namespace: kuadrant-gw",
            &WEB.replace("name: web", "name: other"),
            5,
        ),
    );
    once.run(&["render"])
        .exits(0)
        .says("1 policy is overridden by a local one: gw/hub by kuadrant-gw/local on c1\n");
    // What lies beside the directories of the clusters lives nowhere.
    once.write("spokes/own.yaml", &local);
    once.run(&["check"])
        .exits(0)
        .prints("warning[spoke/unknown-cluster]: `spokes/own.yaml` is in no cluster's directory")
        .prints("`spokes/_all/`");
}

/// What an API server refuses cannot live on a cluster: it takes nothing away.
#[test]
fn a_local_policy_that_no_cluster_can_have_withholds_nothing() {
    const AUTH: &str =
        r#"{"policiesToSync":[{"group":"kuadrant.io","version":"v1","resource":"authpolicies"}]}"#;
    let auth = |place: &str, rules: &str| {
        format!(
            "---\napiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {{{place}}}\nspec:\n  \
             targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: web}}\n{rules}"
        )
    };
    let rules = "  rules: {authentication: {all: {anonymous: {}}}}\n";
    let hub = class(AUTH, &["c1"]) + &auth("name: hub, namespace: gw", rules);
    let local = |rules: &str| {
        let scratch = scratch(
            &hub,
            &[("c1", &auth("name: local, namespace: kuadrant-gw", rules))],
        );
        let run = scratch.run(&["render"]);
        run.exits(0);
        let is_shipped = scratch.exists("out/c1/authpolicy-gw-hub.yaml");
        (is_shipped, run.stderr)
    };
    let (is_shipped, said) = local("");
    assert!(is_shipped && said.contains("warning[policy/invalid]"), "{said}");
    assert!(
        said.contains("no API server takes it, so it does not count as a local policy"),
        "{said}"
    );
    let (is_shipped, said) = local(rules);
    assert!(
        !is_shipped && said.contains("gw/hub by kuadrant-gw/local on c1"),
        "{said}"
    );
}
