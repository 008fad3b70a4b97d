//! The right to delete outlives the object (docs/reference/what-is-rendered.md#rights-of-the-work-agents).

use crate::scratch::{Run, Scratch, copy, fixtures};

const KINDS: [&[&str]; 2] = [&[], &["--work-kind", "replica-set"]];
const LIMITS: &str = "{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"ratelimitpolicies\",\n                         \
                      \"feedback\": [{\"name\": \"generation\", \"path\": \".metadata.generation\"}]}";
const ROUTE: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: orders, namespace: shop}\n\
                     spec:\n  parentRefs: [{name: prod-web, namespace: gateways}]\n  hostnames: [a.example.com]\n";

fn render(scratch: &Scratch, more: &[&str]) -> Run {
    let arguments = [&["render", "hub", "-o", "rendered"], more].concat();
    scratch.run(&arguments)
}

/// The role's part of every RBAC work, which is the same on each cluster here.
#[track_caller]
fn granted(scratch: &Scratch) -> String {
    let tree = scratch.tree("rendered");
    let rbac = tree.iter().find(|(path, _)| path.ends_with("gateway-rbac.yaml"));
    let (_, text) = rbac.expect("an RBAC work");
    text.split("kind: ClusterRoleBinding")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// The worked example with a route that goes along.
fn with_route() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443\n",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
    );
    scratch.write("hub/route.yaml", ROUTE);
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\"",
        "\"resourcesToSync\": [{\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \
         \"httproutes\"}],\n     \"policiesToSync\"",
    );
    scratch
}

/// Takes the routes out of the parameters, and `instead` stands there.
fn without_routes(scratch: &Scratch, instead: &str) {
    let text = scratch.read("hub/class.yaml");
    let kept = |line: &&str| !line.contains("httproutes");
    let lines: Vec<&str> = text.lines().filter(kept).collect();
    scratch.write("hub/class.yaml", &lines.join("\n"));
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\"",
        &format!("{instead}\"policiesToSync\""),
    );
}

#[test]
fn what_leaves_a_work_may_still_be_deleted_as_the_parameters_list_its_kind() {
    for kind in KINDS {
        let scratch = with_route();
        render(&scratch, kind).exits(0);
        let before = granted(&scratch);
        assert!(
            before.contains("ratelimitpolicies") && before.contains("httproutes"),
            "{before}"
        );
        scratch.remove("hub/limits.yaml");
        scratch.remove("hub/route.yaml");
        render(&scratch, kind).exits(0);
        assert_eq!(granted(&scratch), before);
        // Nor does a kind that never had an object wait for its first one.
        let never = Scratch::with_worked_example();
        never.remove("hub/limits.yaml");
        render(&never, kind).exits(0);
        assert!(granted(&never).contains("ratelimitpolicies"));
    }
}

#[test]
fn agents_get_the_verbs_that_they_use_and_no_others() {
    let scratch = Scratch::with_worked_example();
    render(&scratch, &[]).exits(0);
    let verbs = "        verbs:\n        - create\n        - delete\n        - get\n        - patch\n        - update\n";
    let found = granted(&scratch);
    assert_eq!(
        found.matches(verbs).count(),
        found.matches("verbs:").count(),
        "{found}"
    );
    assert!(
        found.contains(verbs) && !found.contains("list") && !found.contains("watch"),
        "{found}"
    );
}

#[test]
fn a_kind_leaves_the_parameters_in_two_steps_and_the_first_alone_is_refused() {
    for kind in KINDS {
        let scratch = with_route();
        render(&scratch, kind).exits(0);
        let before = scratch.tree("rendered");
        without_routes(&scratch, "");
        let refused = render(&scratch, kind);
        refused
            .exits(3)
            .says("error[rbac/narrowed]: GatewayClass multicluster: the work agents of eu-1, us-1 would lose the right to delete httproutes.gateway.networking.k8s.io, and 1 object would remain there\n  --> hub/class.yaml:14:5\n")
            .says("no longer listed here")
            .says("= note: leaving: HTTPRoute shop/orders\n")
            .says("= help: add `\"retainedResources\": [{\"group\":\"gateway.networking.k8s.io\",\"resource\":\"httproutes\"}]` to these parameters, and remove it again when the clusters have deleted them\n")
            .says("1 error and 2 warnings; nothing was written");
        assert_eq!(scratch.tree("rendered"), before);
        let arguments = [&["--check"], kind].concat();
        render(&scratch, &arguments).exits(3).says("error[rbac/narrowed]");

        let start = refused.stderr.find("add `").map_or(0, |at| at + 5);
        let retained = refused.stderr[start..].split('`').next().unwrap_or_default();
        scratch.edit(
            "hub/class.yaml",
            "\"policiesToSync\"",
            &format!("{retained},\n     \"policiesToSync\""),
        );
        render(&scratch, kind).exits(0);
        assert!(granted(&scratch).contains("- httproutes\n"));
        assert!(
            !scratch
                .tree("rendered")
                .iter()
                .any(|(_, text)| text.contains("kind: HTTPRoute"))
        );

        scratch.edit("hub/class.yaml", &format!("{retained},\n"), "");
        render(&scratch, kind).exits(0);
        assert!(!granted(&scratch).contains("httproutes"));
    }
}

#[test]
fn what_carries_the_works_makes_no_difference() {
    for [from, to] in [[KINDS[0], KINDS[1]], [KINDS[1], KINDS[0]]] {
        let scratch = with_route();
        render(&scratch, from).exits(0);
        without_routes(&scratch, "");
        render(&scratch, to)
            .exits(3)
            .says("error[rbac/narrowed]")
            .says("leaving: HTTPRoute shop/orders");
        without_routes(
            &scratch,
            "\"retainedResources\": [{\"group\": \"gateway.networking.k8s.io\", \"resource\": \"httproutes\"}], ",
        );
        render(&scratch, to).exits(0);
    }
}

#[test]
fn check_says_so_too() {
    let scratch = with_route().in_a_repository();
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\noutput: ../rendered\n",
    );
    scratch.run(&["render", "hub"]).exits(0);
    assert!(!scratch.run(&["check", "hub"]).stdout.contains("rbac/"));
    without_routes(&scratch, "");
    let run = scratch.run(&["check", "hub"]);
    run.exits(3);
    assert!(
        run.stdout.contains("error[rbac/narrowed]") && run.stdout.contains("--> hub/class.yaml:14:5\n"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("= help: add `\"retainedResources\""),
        "{run:?}"
    );
}

#[test]
fn a_right_that_comes_from_elsewhere_is_for_the_configuration_to_say() {
    let scratch = with_route();
    render(&scratch, &[]).exits(0);
    without_routes(&scratch, "");
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nfindings: {rbac/narrowed: warning}\n",
    );
    render(&scratch, &[]).exits(0).says("warning[rbac/narrowed]");
}

#[test]
fn a_cluster_that_gets_nothing_any_more_needs_no_rights() {
    for kind in KINDS {
        let scratch = with_route();
        render(&scratch, kind).exits(0);
        scratch.edit("hub/decisions.yaml", "{clusterName: eu-1, reason: \"\"}, ", "");
        without_routes(&scratch, "");
        render(&scratch, kind)
            .exits(3)
            .says("the work agent of us-1 would");
        scratch.edit("hub/decisions.yaml", "{clusterName: us-1, reason: \"\"}", "");
        let run = scratch.run(&[&["render", "hub", "-o", "rendered", "--allow-empty"], kind].concat());
        run.exits(0);
    }
}

/// The definition of a kind may leave the hub with its objects: nobody knows then what its plural was.
#[test]
fn a_kind_whose_definition_leaves_too_is_retained_by_its_plural() {
    let scratch = Scratch::with_worked_example();
    scratch.add_colors(
        "---\napiVersion: c.io/v1\nkind: Color\nmetadata: {name: red, namespace: gateways}\n\
         spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}]}\n",
    );
    let listed = scratch.read("hub/class.yaml");
    render(&scratch, &[]).exits(0);
    scratch.remove("hub/colors.yaml");
    let plain = Scratch::with_worked_example().read("hub/class.yaml");
    assert_ne!(listed, plain);
    scratch.write("hub/class.yaml", &plain);
    let refused = render(&scratch, &[]);
    refused.exits(3).says("leaving: Color kuadrant-gateways/red");
    let start = refused.stderr.find("add `").map_or(0, |at| at + 5);
    let retained = refused.stderr[start..].split('`').next().unwrap_or_default();
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\"",
        &format!("{retained},\n     \"policiesToSync\""),
    );
    render(&scratch, &[]).exits(0);
}

#[test]
fn a_class_without_parameters_is_told_to_get_some() {
    let scratch = Scratch::with_worked_example();
    render(&scratch, &[]).exits(0);
    scratch.remove("hub/limits.yaml");
    let class = scratch.read("hub/class.yaml");
    let class: Vec<&str> = class.split("---").next().unwrap_or_default().lines().collect();
    let class: Vec<&str> = class
        .into_iter()
        .filter(|line| !line.contains("parametersRef"))
        .collect();
    scratch.write("hub/class.yaml", &(class.join("\n") + "\n"));
    render(&scratch, &[])
        .exits(3)
        .says("--> hub/class.yaml:6:3\n")
        .says("= help: give the class parameters, `spec.parametersRef`, with `retainedResources: [{group: kuadrant.io, resource: ratelimitpolicies}]`, and remove");
}

/// Of two classes, the parameters of the one whose Gateway had the object are named.
#[test]
fn the_class_whose_gateway_had_the_object_is_named() {
    let scratch = Scratch::with_worked_example();
    let class = scratch.read("hub/class.yaml");
    let gateway = scratch.read("hub/gateway.yaml");
    scratch.write(
        "hub/another.yaml",
        &class
            .replace("name: multicluster", "name: another")
            .replace("name: params", "name: other")
            .replace(LIMITS, ""),
    );
    scratch.write(
        "hub/admin.yaml",
        &gateway
            .replace("name: prod-web", "name: admin")
            .replace("gatewayClassName: multicluster", "gatewayClassName: another"),
    );
    render(&scratch, &[]).exits(0);
    scratch.remove("hub/limits.yaml");
    scratch.edit("hub/class.yaml", LIMITS, "");
    render(&scratch, &[])
        .exits(3)
        .says("GatewayClass multicluster: ")
        .does_not_say("GatewayClass another: ");
    // Where its Gateway leaves as well, those of another one on the cluster can keep the right.
    scratch.remove("hub/gateway.yaml");
    render(&scratch, &[])
        .exits(3)
        .says("GatewayClass another: ")
        .does_not_say("GatewayClass multicluster: ");
}

#[test]
fn a_part_of_the_fleet_is_compared_with_its_own_part() {
    let scratch = with_route();
    render(&scratch, &[]).exits(0);
    without_routes(&scratch, "");
    render(&scratch, &["--clusters", "eu-*"])
        .exits(3)
        .says("the work agent of eu-1 would");
    render(&scratch, &["--clusters", "none-*"]).does_not_say("rbac/narrowed");
}

/// Whoever applies a stream replaces what the tree had: `render`, `check`, and `diff` give one verdict about one input.
#[test]
fn a_stream_is_refused_for_what_a_tree_and_a_diff_are_refused() {
    let scratch = with_route();
    render(&scratch, &[]).exits(0);
    let stream = || scratch.run(&["render", "hub", "-o", "-"]);
    let whole = stream().exits(0).stdout.clone();
    without_routes(&scratch, "");
    for arguments in [
        &["render", "hub"][..],
        &["render", "hub", "-o", "-"],
        &["check", "hub"],
        &["diff", "hub", "--base-tree", "rendered"],
    ] {
        let run = scratch.run(arguments);
        run.exits(3);
        assert!(
            run.stderr.contains("error[rbac/narrowed]") || run.stdout.contains("error[rbac/narrowed]"),
            "{arguments:?}: {run:?}"
        );
    }
    assert_eq!(stream().stdout, "");
    // Where there is no tree, there is nothing to compare with.
    std::fs::remove_dir_all(scratch.path("rendered")).expect("a directory");
    let narrowed = stream().exits(0).does_not_say("rbac/narrowed").stdout.clone();
    assert!(!narrowed.is_empty() && narrowed != whole);
}

#[test]
fn only_what_the_stock_agent_may_not_write_is_granted() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\"",
        "\"resourcesToSync\": [{\"group\": \"\", \"version\": \"v1\", \"resource\": \"configmaps\", \"names\": [\"gateways/a\"]}, \
         {\"group\": \"\", \"version\": \"v1\", \"resource\": \"resourcequotas\", \"names\": [\"gateways/b\"]}],\n     \"policiesToSync\"",
    );
    scratch.write(
        "hub/objects.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: gateways}\n---\n\
         apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: b, namespace: gateways}\n",
    );
    render(&scratch, &[]).exits(0);
    let found = granted(&scratch);
    assert!(
        found.contains("- apiGroups:\n        - \"\"\n        resources:\n        - resourcequotas\n"),
        "{found}"
    );
    assert!(!found.contains("configmaps"), "{found}");
}

/// Also where both steps were rendered one after the other, and the base has neither.
#[test]
fn diff_says_so_of_whatever_it_compares_with() {
    let scratch = with_route();
    copy(&scratch.path("hub"), &scratch.path("before"));
    render(&scratch, &[]).exits(0);
    let diff = |[option, base]: [&str; 2]| scratch.run(&["diff", "hub", option, base]);
    let bases = [["--base-tree", "rendered"], ["--base-dir", "before"]];
    scratch.remove("hub/route.yaml");
    for base in bases {
        diff(base).exits(1).does_not_say("rbac/narrowed");
    }
    without_routes(&scratch, "");
    for base in bases {
        let run = diff(base);
        run.exits(3)
            .says("error[rbac/narrowed]: GatewayClass multicluster: the work agents of eu-1, us-1 would lose")
            .says("leaving: HTTPRoute shop/orders");
        assert!(
            run.stdout.contains("HTTPRoute shop/orders"),
            "the differences are told: {run:?}"
        );
    }
    without_routes(
        &scratch,
        "\"retainedResources\": [{\"group\": \"gateway.networking.k8s.io\", \"resource\": \"httproutes\"}], ",
    );
    for base in bases {
        diff(base).exits(1).does_not_say("rbac/narrowed");
    }
}

/// The files of a set do not say which clusters it went to.
#[test]
fn sets_of_a_placement_that_no_gateway_names_any_more_may_have_gone_anywhere() {
    let scratch = with_route();
    render(&scratch, KINDS[1]).exits(0);
    for file in ["hub/gateway.yaml", "hub/decisions.yaml"] {
        scratch.edit(file, "placement: edge", "placement: core");
    }
    let class = scratch.read("hub/class.yaml");
    without_routes(&scratch, "");
    render(&scratch, KINDS[1])
        .exits(3)
        .says("the work agents of eu-1, us-1 would lose the right to delete httproutes.");
    scratch.write("hub/class.yaml", &class);
    render(&scratch, KINDS[1]).exits(0);
    assert!(
        !scratch
            .tree("rendered")
            .iter()
            .any(|(_, text)| text.contains("name: edge\n"))
    );
}

#[test]
fn the_last_policy_of_a_kind_leaves_the_example_and_the_roles_stay_as_they_are() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    let roles = || {
        let tree = scratch.tree("fleet/rendered").into_iter();
        tree.filter(|(path, _)| path.ends_with("gateway-rbac.yaml"))
            .collect::<Vec<_>>()
    };
    let before = roles();
    assert_eq!(before.len(), 3);
    assert!(
        before
            .iter()
            .all(|(_, text)| text.contains("- accesslogpolicies\n"))
    );
    scratch.remove("fleet/hub/platform/access-log.yaml");
    scratch.run(&["render", "fleet"]).exits(0);
    assert_eq!(roles(), before);
    let works = scratch.tree("fleet/rendered");
    assert!(
        !works
            .iter()
            .any(|(_, text)| text.contains("kind: AccessLogPolicy"))
    );
}

/// A cluster is under the classes of the Gateways that it gets, whatever brings the same policy to another one.
#[test]
fn the_parameters_are_those_of_a_gateway_of_the_cluster() {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    let class = scratch.read("hub/class.yaml");
    let retained = "\"retainedResources\": [{\"group\": \"acme.example\", \"resource\": \"things\"}],";
    let another = class
        .replace("name: multicluster", "name: another")
        .replace("name: gateway-params", "name: other-params")
        .replace("\"downstreamClass\"", &format!("{retained} \"downstreamClass\""));
    scratch.write("hub/another.yaml", &another);
    let gateway = scratch.read("hub/gateway.yaml");
    let admin = gateway
        .replace("name: web", "name: admin")
        .replace("gatewayClassName: multicluster", "gatewayClassName: another")
        .replace("placement: everywhere", "placement: europe");
    scratch.write("hub/admin.yaml", &admin);
    let placement = scratch.read("hub/placement.yaml");
    let europe =
        "    \n  predicates:\n  - requiredClusterSelector: {labelSelector: {matchLabels: {region: eu}}}\n";
    scratch.write(
        "hub/europe.yaml",
        &(placement.replace("name: everywhere", "name: europe") + europe),
    );
    scratch.edit(
        "hub/route.yaml",
        "  - name: web\n",
        "  - name: web\n  - name: admin\n",
    );
    scratch.run(&["render"]).exits(0);
    let is_granted = |cluster: &str| {
        let role = scratch.read(&format!("rendered/{cluster}/gateway-rbac.yaml"));
        role.contains("acme.example")
    };
    assert!(is_granted("eu-1") && !is_granted("us-1"));
}
