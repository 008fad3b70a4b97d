//! Finding codes that no other test provokes: each with its place and its help.

use crate::scratch::{Run, Scratch};

/// Runs `check` on the worked example after a change, and expects this finding at this place with this help.
#[track_caller]
fn found(change: impl Fn(&Scratch), severity: &str, code: &str, place: &str, help: &str) -> Run {
    let scratch = Scratch::with_worked_example();
    change(&scratch);
    let run = scratch.run(&["check", "hub"]);
    let text = &run.stdout;
    let start = text
        .find(&format!("{severity}[{code}]"))
        .unwrap_or_else(|| panic!("no {code} in\n{text}"));
    let finding = text[start..].split("\n\n").next().unwrap_or_default();
    assert!(
        finding.contains(&format!("--> {place}")),
        "{place} is not in\n{finding}"
    );
    assert!(
        finding.contains("= help: ") && finding.contains(help),
        "{help} is not in\n{finding}"
    );
    run
}

const CLUSTER: &str = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n\
                       metadata: {name: eu-1}\nspec: {hubAcceptsClient: true}\n";

#[test]
fn a_class_that_is_not_in_the_input() {
    found(
        |scratch| {
            scratch.edit(
                "hub/gateway.yaml",
                "gatewayClassName: multicluster",
                "gatewayClassName: multiclustr",
            );
        },
        "error",
        "gateway/class-not-found",
        "hub/gateway.yaml:12:",
        "did you mean `multicluster`?",
    );
}

#[test]
fn a_cluster_set_with_a_typo() {
    let set = "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: edge}\n";
    let label = "labels: {cluster.open-cluster-management.io/clusterset: egde}";
    let cluster = CLUSTER.replace("{name: eu-1}", &format!("{{name: eu-1, {label}}}"));
    found(
        |scratch| {
            scratch
                .write("hub/set.yaml", set)
                .write("hub/cluster.yaml", &cluster);
        },
        "warning",
        "placement/unknown-set",
        "hub/cluster.yaml:3:",
        "did you mean `edge`?",
    );
}

#[test]
fn a_namespace_whose_downstream_name_is_too_long() {
    found(
        |scratch| {
            let long = "n".repeat(60);
            for file in ["hub/gateway.yaml", "hub/decisions.yaml"] {
                scratch.edit(file, "namespace: gateways", &format!("namespace: {long}"));
            }
            scratch.remove("hub/limits.yaml");
        },
        "error",
        "gateway/invalid",
        "hub/gateway.yaml:5:",
        "at most 54 characters",
    );
}

#[test]
fn a_namespaced_object_without_a_namespace() {
    found(
        |scratch| {
            scratch.edit(
                "hub/limits.yaml",
                "{name: global, namespace: gateways}",
                "{name: global}",
            );
        },
        "error",
        "object/no-namespace",
        "hub/limits.yaml:3:",
        "--namespace NS",
    );
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/limits.yaml",
        "{name: global, namespace: gateways}",
        "{name: global}",
    );
    scratch.run(&["check", "hub", "--namespace", "gateways"]).exits(0);
    scratch.edit(
        "hub/limits.yaml",
        "{name: global}",
        "{name: global, namespace: n}",
    );
    let run = scratch.run(&["check", "hub"]);
    assert!(run.stdout.contains("put it in quotes"), "{}", run.stdout);
}

#[test]
fn a_decision_for_a_cluster_that_is_not_registered() {
    found(
        |scratch| {
            scratch.write("hub/clusters.yaml", CLUSTER);
        },
        "warning",
        "placement/unknown-cluster",
        "hub/decisions.yaml:8:",
        "us-1",
    );
}

#[test]
fn a_policy_that_nobody_syncs_and_one_that_reaches_no_cluster() {
    found(
        |scratch| {
            let auth = "apiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: a, namespace: gateways}\n\
                        spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}, \
                        rules: {authorization: {}}}\n";
            scratch.write("hub/auth.yaml", auth);
        },
        "warning",
        "policy/not-synced",
        "hub/auth.yaml:4:",
        "\"resource\": \"authpolicies\"",
    );
    found(
        |scratch| {
            scratch.edit(
                "hub/gateway.yaml",
                "    cluster.open-cluster-management.io/placement: edge\n",
                "    a: b\n",
            );
            // Where the Gateway's own finding is silenced, that of its policies is not.
            scratch.write(
                "hub/spokewright.yaml",
                "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nfindings: {gateway/not-placed: off}\n",
            );
        },
        "warning",
        "policy/unused",
        "hub/limits.yaml:5:",
        "place the Gateway",
    );
}

#[test]
fn a_route_that_hands_requests_on_to_routes_that_are_not_there() {
    for backend in [
        "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: \"*\", namespace: shop}",
        "{group: delegation.kgateway.dev, kind: label, name: team, namespace: shop}",
    ] {
        let route = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: parent, namespace: gateways}}\n\
             spec:\n  parentRefs: [{{name: prod-web}}]\n  rules:\n  - backendRefs: [{{name: s, port: 80}}]\n  - backendRefs:\n    - \
             {backend}\n"
        );
        let run = found(
            |scratch| {
                scratch.edit("hub/class.yaml", "\"istio\"", "\"kgateway\"");
                scratch.write("hub/routes.yaml", &route);
            },
            "warning",
            "route/delegated",
            "hub/routes.yaml:9:",
            "correct the name, the namespace, or the label",
        );
        assert!(!run.stdout.contains("reference/not-shipped"), "{}", run.stdout);
    }
}

#[test]
fn routes_that_are_each_others_parents() {
    found(
        |scratch| {
            let route = |name: &str, parent: &str| {
                format!(
                    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
                     metadata: {{name: {name}, namespace: gateways}}\n\
                     spec: {{parentRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {parent}}}]}}\n"
                )
            };
            scratch.write(
                "hub/routes.yaml",
                &format!("{}---\n{}", route("a", "b"), route("b", "a")),
            );
        },
        "error",
        "route/parent-cycle",
        "hub/routes.yaml:",
        "",
    );
}

#[test]
fn a_synced_route_that_no_listener_takes_and_one_that_a_spoke_would_refuse() {
    let synced = |route: &str| {
        let route = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r, namespace: gateways}}\n\
             spec: {{parentRefs: [{{name: prod-web}}]{route}}}\n"
        );
        move |scratch: &Scratch| {
            scratch.edit(
                "hub/class.yaml",
                "{\"downstreamClass\": \"istio\",",
                "{\"downstreamClass\": \"istio\", \"resourcesToSync\": [{\"group\": \"gateway.networking.k8s.io\", \
                 \"version\": \"v1\", \"resource\": \"httproutes\"}],",
            );
            scratch.write("hub/route.yaml", &route);
        }
    };
    found(
        synced(", hostnames: [a.example.org]"),
        "warning",
        "route/not-attached",
        "hub/route.yaml:4:",
        "correct `hostnames` of the route",
    );
    found(
        synced(""),
        "error",
        "route/not-allowed",
        "hub/gateway.yaml:14:",
        "write `allowedRoutes: {namespaces: {from: Selector",
    );
}

#[test]
fn a_replica_set_that_would_differ_between_clusters() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/spokes/us-1/limits.yaml",
        "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: mine, namespace: kuadrant-gateways}\n\
         spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web, sectionName: api}, \
         limits: {x: {rates: [{limit: 5, window: 10s}]}}}\n",
    );
    scratch
        .run(&["render", "hub", "-o", "rendered", "--work-kind", "replica-set"])
        .exits(4)
        .says("error[placement/not-uniform]")
        .says("--> hub/gateway.yaml:4:")
        .says("us-1")
        .says("= help: remove `--work-kind replica-set`");
}

#[test]
fn a_rollout_that_begins_with_a_group_the_placement_does_not_have() {
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/placement.yaml",
        "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: edge, namespace: gateways}\n\
         spec: {decisionStrategy: {groupStrategy: {decisionGroups: [\
         {groupName: canary, groupClusterSelector: {labelSelector: {matchLabels: {canary: \"yes\"}}}}]}}}\n",
    );
    let class = scratch.read("hub/class.yaml");
    let with_group = |group: &str| {
        let rollout = format!(
            "{{\"rollout\": {{\"type\": \"Progressive\", \"progressive\": \
             {{\"mandatoryDecisionGroups\": [{{\"groupName\": \"{group}\"}}]}}}},"
        );
        scratch.write(
            "hub/class.yaml",
            &class.replace("{\"downstreamClass\"", &format!("{rollout}\"downstreamClass\"")),
        );
        scratch.run(&["render", "hub", "-o", "rendered", "--work-kind", "replica-set"])
    };
    with_group("canary").exits(0);
    with_group("canry")
        .exits(4)
        .says("error[placement/no-group]: the rollout begins with decision group \"canry\", which Placement gateways/edge does not have")
        .says("--> hub/placement.yaml:4:")
        .says("= help: write `groupName: canary` in `rollout` of the parameters");
    with_group("first")
        .says("= help: add it to `spec.decisionStrategy.groupStrategy.decisionGroups`: `groupName: first`");
}

#[test]
fn a_spoke_folder_of_no_known_cluster() {
    found(
        |scratch| {
            scratch.write(
                "hub/spokes/eu-9/x.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: yy}\n",
            );
        },
        "warning",
        "spoke/unknown-cluster",
        "hub/spokes/eu-9/x.yaml:3:",
        "name the directory after a cluster",
    );
}

#[test]
fn a_work_that_ocm_refuses() {
    found(
        |scratch| {
            scratch.write(
                "hub/work.yaml",
                "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\n\
                 metadata: {name: w, namespace: eu-1}\nspec: {workload: {manifests: []}}\n",
            );
        },
        "error",
        "work/invalid",
        "hub/work.yaml:4:",
        "",
    );
}

#[test]
fn text_that_kubernetes_drops_limits_and_merges_that_conflict() {
    let wrote = |text: &str| {
        let text = text.to_owned();
        move |scratch: &Scratch| {
            scratch.write("hub/x.yaml", &text);
        }
    };
    found(
        wrote("a: 1\n...\nb: 2\n"),
        "error",
        "yaml/dropped-text",
        "hub/x.yaml:3:1",
        "",
    );
    let deep = format!("{}1{}\n", "[".repeat(300), "]".repeat(300));
    found(
        wrote(&format!("a: {deep}")),
        "error",
        "yaml/limit",
        "hub/x.yaml:1:",
        "",
    );
    let merge = "x: &x {a: 1}\ny: {a: 2, <<: *x}\n";
    found(wrote(merge), "error", "yaml/merge", "hub/x.yaml:2:", "");
}

#[test]
fn an_inventory_that_cannot_be_trusted_and_things_that_are_no_files() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    scratch.write("rendered/.spokewright-inventory", "garbage\n");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(5)
        .says("error[output/inventory]")
        .says("= help: ");

    let scratch = Scratch::with_worked_example();
    scratch.write(
        "rendered/eu-1/gateway-rbac.yaml/x",
        "a directory where a file would stand",
    );
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(5)
        .says("error[output/not-a-file]")
        .says("rendered/eu-1/gateway-rbac.yaml")
        .says("= help: ");
}

#[test]
fn listeners_of_one_name_and_names_that_would_break_a_path() {
    found(
        |scratch| {
            scratch.edit(
                "hub/gateway.yaml",
                "  - name: api\n",
                "  - {name: api, port: 80, protocol: HTTP}\n  - name: api\n",
            );
        },
        "error",
        "gateway/invalid",
        "hub/gateway.yaml:15:",
        "a name of its own",
    );
    found(
        |scratch| {
            scratch.edit("hub/gateway.yaml", "  - name: api\n", "  - name: a\"b\n");
            scratch.edit("hub/limits.yaml", ", sectionName: api", "");
        },
        "error",
        "object/invalid-name",
        "hub/gateway.yaml:14:",
        "lower case",
    );
}

/// A CRD of RateLimitPolicies that serves these versions.
fn limits_crd(versions: &[&str]) -> String {
    let versions: Vec<String> = versions
        .iter()
        .map(|version| {
            format!(
                "{{name: {version}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object, properties: \
                 {{spec: {{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {{targetRef: {{type: \
                 object, x-kubernetes-preserve-unknown-fields: true}}}}}}}}}}}}}}",
                *version == "v1"
            )
        })
        .collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: ratelimitpolicies.kuadrant.io}}\n\
         spec: {{group: kuadrant.io, scope: Namespaced, names: {{kind: RateLimitPolicy, listKind: RateLimitPolicyList, \
         plural: ratelimitpolicies, singular: ratelimitpolicy}}, versions: [{}]}}\n",
        versions.join(", ")
    )
}

#[test]
fn a_policy_of_another_version_than_its_class_syncs() {
    let other_version = |scratch: &Scratch, version: &str| {
        scratch.edit(
            "hub/limits.yaml",
            "apiVersion: kuadrant.io/v1",
            &format!("apiVersion: kuadrant.io/{version}"),
        );
    };
    found(
        |scratch| other_version(scratch, "v9"),
        "error",
        "policy/other-version",
        "hub/limits.yaml:1:",
        "write `apiVersion: kuadrant.io/v1`",
    );
    found(
        |scratch| {
            scratch.write("hub/crd.yaml", &limits_crd(&["v1", "v2"]));
            other_version(scratch, "v2");
        },
        "error",
        "policy/other-version",
        "hub/limits.yaml:1:",
        "or list version v2 in `policiesToSync` of `multicluster`",
    );
    let unserved = found(
        |scratch| {
            scratch.write("hub/crd.yaml", &limits_crd(&["v1"]));
            other_version(scratch, "v9");
        },
        "error",
        "object/schema",
        "hub/limits.yaml:1:",
        "write `apiVersion: kuadrant.io/v1`; served: v1",
    );
    assert!(!unserved.stdout.contains("policy/other-version"), "said once");
}

#[test]
fn an_unknown_kind_that_targets_a_gateway_of_ours() {
    let edited = |from: &'static str, to: &'static str| {
        move |scratch: &Scratch| {
            scratch.edit("hub/limits.yaml", from, to);
        }
    };
    for (from, to, place, help) in [
        (
            "kind: RateLimitPolicy",
            "kind: RatLmitPolicy",
            "hub/limits.yaml:2:7",
            "did you mean `RateLimitPolicy`?",
        ),
        (
            "kuadrant.io/v1",
            "kuadrnt.example/v1",
            "hub/limits.yaml:1:13",
            "did you mean the group `gateway.nginx.org` or `kuadrant.io`?",
        ),
        (
            "kuadrant.io/v1",
            "limits.acme.example/v1",
            "hub/limits.yaml:1:13",
            "did you mean the group `gateway.nginx.org` or `kuadrant.io`?",
        ),
        (
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy",
            "apiVersion: limits.acme.example/v1\nkind: RateLimitPolicies",
            "hub/limits.yaml:2:7",
            "did you mean `RateLimitPolicy` of the group `gateway.nginx.org` or `kuadrant.io`?",
        ),
        (
            "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy",
            "apiVersion: acme.example/v1\nkind: Fence",
            "hub/limits.yaml:2:7",
            "add its CRD to the input, or describe it under `profiles`",
        ),
    ] {
        found(edited(from, to), "error", "policy/unknown-kind", place, help);
    }
}

#[test]
fn a_kind_one_slip_away_from_a_known_one_is_told_once_with_a_target_or_without() {
    for (file, from, to, place, help) in [
        (
            "limits.yaml",
            "kind: RateLimitPolicy",
            "kind: RateLimtPolicy",
            ":2:7",
            "`RateLimitPolicy`?",
        ),
        (
            "limits.yaml",
            "kind: RateLimitPolicy",
            "kind: RatelimitPolicy",
            ":2:7",
            "`RateLimitPolicy`?",
        ),
        (
            "limits.yaml",
            "kuadrant.io/v1",
            "kuadrant.com/v1",
            ":1:13",
            "`kuadrant.io/v1`?",
        ),
        (
            "limits.yaml",
            "kuadrant.io/v1",
            "kuadrnt.io/v1",
            ":1:13",
            "`kuadrant.io/v1`?",
        ),
        (
            "gateway.yaml",
            "kind: Gateway",
            "kind: Gatewy",
            ":2:7",
            "`Gateway`?",
        ),
        (
            "class.yaml",
            "kind: GatewayClass",
            "kind: GatewayClas",
            ":2:7",
            "`GatewayClass`?",
        ),
        (
            "class.yaml",
            "apiVersion: v1\nkind: ConfigMap",
            "apiVersion: v1\nkind: Configmap",
            ":10:7",
            "`ConfigMap`?",
        ),
        (
            "decisions.yaml",
            "kind: PlacementDecision",
            "kind: PlacementDecison",
            ":2:7",
            "`PlacementDecision`?",
        ),
        (
            "decisions.yaml",
            "cluster.open-cluster-management.io",
            "cluster.open-cluster-managment.io",
            ":1:13",
            "`cluster.open-cluster-management.io/v1beta1`?",
        ),
    ] {
        let run = found(
            |scratch| {
                scratch.edit(&format!("hub/{file}"), from, to);
            },
            "error",
            "object/unknown-kind",
            &format!("hub/{file}{place}"),
            &format!("did you mean {help} If the kind exists, add its CRD to the input"),
        );
        assert_eq!(run.stdout.matches("error[").count(), 1, "{to}: {}", run.stdout);
    }
}

#[test]
fn a_slip_in_a_kind_that_nobody_reads_is_a_warning_and_a_kind_that_exists_is_none() {
    found(
        |scratch| {
            scratch.write(
                "hub/app.yaml",
                "apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a, namespace: gateways}\n",
            );
        },
        "warning",
        "object/unknown-kind",
        "hub/app.yaml:2:7",
        "did you mean `Deployment`?",
    );
    let silent = |file: &str, text: &str| {
        let scratch = Scratch::with_worked_example();
        scratch.write(
            "hub/more.yaml",
            "apiVersion: kuadrant.io/v1\nkind: DNSPolicys\nmetadata: {name: a, namespace: gateways}\n",
        );
        scratch.write(file, text);
        let run = scratch.run(&["check", "hub"]);
        assert!(!run.stdout.contains("object/unknown-kind"), "{run:?}");
    };
    let crd = limits_crd(&["v1"]).replace("RateLimitPolicy", "DNSPolicys");
    silent("hub/crd.yaml", &crd.replace("ratelimitpolic", "dnspolicysic"));
    silent(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nprofiles: [{group: kuadrant.io, kind: DNSPolicys}]\n",
    );
}

/// A kind that nobody knows, with these fields.
fn fence(fields: &str) -> String {
    format!(
        "apiVersion: acme.example/v1\nkind: Fence\nmetadata: {{name: f, namespace: gateways}}\nspec: {{{fields}}}\n"
    )
}

#[test]
fn whatever_leads_to_a_gateway_of_ours_is_a_target_of_it() {
    let route = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
                 metadata: {name: r, namespace: gateways, labels: {app: r}}\n\
                 spec: {parentRefs: [{name: prod-web}]}\n";
    for fields in [
        "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}]",
        "targetRef: {group: gateway.networking.k8s.io, kind: GatewayClass, name: multicluster}",
        "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}",
        "targetRef: {group: \"\", kind: Namespace, name: gateways}",
        "targetSelectors: [{kind: HTTPRoute, matchLabels: {app: r}}]",
    ] {
        found(
            |scratch| {
                scratch.write("hub/fence.yaml", &(fence(fields) + route));
            },
            "error",
            "policy/unknown-kind",
            "hub/fence.yaml:2:7",
            "describe it under `profiles`",
        );
    }
}

#[test]
fn an_unknown_kind_is_nothing_where_it_targets_nothing_of_ours_or_has_a_crd() {
    let silent = |text: &str| {
        let scratch = Scratch::with_worked_example();
        scratch.write("hub/fence.yaml", text);
        let run = scratch.run(&["check", "hub"]);
        assert!(!run.stdout.contains("policy/unknown-kind"), "{run:?}");
    };
    for fields in [
        "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: foreign}",
        "targetRef: {group: apps, kind: Deployment, name: prod-web}",
        "targetRef: prod-web",
        "targetSelectors: [{kind: Gateway, matchLabels: {app: none}}]",
        "size: 1",
    ] {
        silent(&fence(fields));
    }
    let crd = limits_crd(&["v1"])
        .replace("kuadrant.io", "acme.example")
        .replace("RateLimitPolicy", "Fence")
        .replace("ratelimitpolic", "fencepolic");
    let ours = fence("targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}");
    silent(&(crd + "---\n" + &ours));
}

#[test]
fn a_version_that_no_release_serves() {
    for (file, from, to) in [
        ("gateway.yaml", "networking.k8s.io/v1", "networking.k8s.io/v7"),
        ("class.yaml", "networking.k8s.io/v1", "networking.k8s.io/v7"),
        ("class.yaml", "apiVersion: v1", "apiVersion: v2"),
        ("decisions.yaml", "io/v1beta1", "io/v1beta9"),
    ] {
        found(
            |scratch| {
                scratch.edit(&format!("hub/{file}"), from, to);
            },
            "error",
            "object/schema",
            &format!("hub/{file}:"),
            "write `apiVersion: ",
        )
        .exits(3);
    }
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/gateway.yaml", "k8s.io/v1", "k8s.io/v1beta1");
    scratch.run(&["check", "hub"]).exits(0);
}

#[test]
fn no_field_of_a_version_that_no_profile_describes_is_called_useless() {
    let scratch = Scratch::with_worked_example();
    let crd = limits_crd(&["v1", "v1beta1"])
        .replace("RateLimitPolicy", "AuthPolicy")
        .replace("ratelimitpolic", "authpolic");
    let policy = |version: &str| {
        format!(
            "---\napiVersion: kuadrant.io/{version}\nkind: AuthPolicy\nmetadata: {{name: a, namespace: gateways}}\n\
             spec:\n  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}}\n  \
             authorizationScheme: {{identity: [{{name: anyone, anonymous: {{}}}}]}}\n"
        )
    };
    let listed = |version: &str| {
        format!(
            "\"policiesToSync\": [{{\"group\": \"kuadrant.io\", \"version\": \"{version}\", \"resource\": \
             \"authpolicies\"}}, "
        )
    };
    scratch.edit("hub/class.yaml", "\"policiesToSync\": [", &listed("v1beta1"));
    scratch.write("hub/auth.yaml", &(crd.clone() + &policy("v1beta1")));
    let run = scratch.run(&["check", "hub"]);
    run.exits(0);
    assert!(!run.stdout.contains("ignored"), "{}", run.stdout);
    let explained = scratch.run(&["policies", "hub", "-q"]).stdout;
    assert!(explained.contains("authpolicy/"), "{explained}");

    scratch.edit(
        "hub/class.yaml",
        "\"version\": \"v1beta1\"",
        "\"version\": \"v1\"",
    );
    scratch.write("hub/auth.yaml", &(crd + &policy("v1")));
    let run = scratch.run(&["check", "hub"]);
    assert!(run.stdout.contains("policy/ignored-field"), "{}", run.stdout);
}

/// The CRD of a synced kind `Paint`, which no profile knows, and what the parameters need to sync it.
fn with_paint(scratch: &Scratch, labels: &str, target_ref: &str, status: &str) {
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"c.io\", \"version\": \"v1\", \"resource\": \"paints\"}, ",
    );
    scratch.write(
        "hub/paint.yaml",
        &format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata:\n  name: paints.c.io\n  labels: {{{labels}}}\nspec:\n  group: c.io\n  scope: Namespaced\n  \
             names: {{kind: Paint, listKind: PaintList, plural: paints, singular: paint}}\n  versions:\n  \
             - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
             properties:\n          spec:\n            type: object\n            properties:\n              \
             targetRef: {target_ref}\n          {status}\n"
        ),
    );
}

const REFERENCE: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
const DIRECT: &str = "gateway.networking.k8s.io/policy: Direct";
const CONDITIONS: &str =
    "status: {type: object, properties: {conditions: {type: array, items: {type: object}}}}";

#[test]
fn a_synced_kind_whose_crd_lacks_what_gep_713_asks_for() {
    for (labels, target_ref, status, place, help) in [
        (
            "",
            REFERENCE,
            CONDITIONS,
            "hub/paint.yaml:4:",
            "until then, it is treated as Inherited",
        ),
        (
            "gateway.networking.k8s.io/policy: sideways",
            REFERENCE,
            CONDITIONS,
            "hub/paint.yaml:5:",
            "to Direct or Inherited",
        ),
        (
            DIRECT,
            "{type: string}",
            CONDITIONS,
            "hub/paint.yaml:21:",
            "make it an object",
        ),
        (
            DIRECT,
            REFERENCE,
            "",
            "hub/paint.yaml:16:",
            "add `status` with `conditions`",
        ),
        (
            DIRECT,
            REFERENCE,
            "status: {type: object, properties: {phase: {type: string}}}",
            "hub/paint.yaml:22:",
            "add `status` with `conditions`",
        ),
    ] {
        found(
            |scratch| with_paint(scratch, labels, target_ref, status),
            "warning",
            "policy/kind-nonconforming",
            place,
            help,
        )
        .exits(0);
    }
    for labels in [
        DIRECT,
        "gateway.networking.k8s.io/policy: inherited",
        "gateway.networking.k8s.io/policy: 'true'",
    ] {
        let scratch = Scratch::with_worked_example();
        with_paint(&scratch, labels, REFERENCE, CONDITIONS);
        let run = scratch.run(&["check", "hub"]);
        assert!(
            !run.stdout.contains("policy/kind-nonconforming"),
            "{}",
            run.stdout
        );
    }
    // What nobody syncs is none of our business.
    let scratch = Scratch::with_worked_example();
    with_paint(&scratch, "", "{type: string}", "");
    scratch.edit(
        "hub/class.yaml",
        "{\"group\": \"c.io\", \"version\": \"v1\", \"resource\": \"paints\"}, ",
        "",
    );
    let run = scratch.run(&["check", "hub"]);
    assert!(
        !run.stdout.contains("policy/kind-nonconforming"),
        "{}",
        run.stdout
    );
}

/// The Secret of the listener of the worked example, with these fields.
fn wildcard(fields: &str) -> String {
    format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: wildcard, namespace: gateways}}\n{fields}\n")
}

#[test]
fn a_secret_that_is_not_encrypted() {
    for fields in ["data: {tls.key: c2VjcmV0}", "stringData: {tls.key: secret}"] {
        found(
            |scratch| {
                scratch.write("hub/secret.yaml", &wildcard(fields));
            },
            "warning",
            "secret/plain",
            "hub/secret.yaml:4:",
            "commit a SealedSecret or an ExternalSecret in its place",
        );
    }
    for fields in ["type: Opaque", "data: {}", "data: {tls.key: x}\nsops: {mac: x}"] {
        let scratch = Scratch::with_worked_example();
        scratch.write("hub/secret.yaml", &wildcard(fields));
        let run = scratch.run(&["check", "hub"]);
        assert!(!run.stdout.contains("secret/plain"), "{run:?}");
    }
}

#[test]
fn string_data_that_is_shipped_however_it_is_chosen() {
    let with_string_data = |scratch: &Scratch| {
        scratch.write("hub/secret.yaml", &wildcard("stringData: {tls.key: secret}"));
    };
    let help = "write the values under `data`, in base64";
    let place = "hub/secret.yaml:4:1";
    found(
        |scratch| {
            with_string_data(scratch);
            scratch.write(
                "hub/spokewright.yaml",
                "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nsecrets: Copy\n",
            );
        },
        "warning",
        "secret/string-data",
        place,
        help,
    );
    found(
        |scratch| {
            with_string_data(scratch);
            scratch.edit(
                "hub/class.yaml",
                "{\"downstreamClass\"",
                "{\"resourcesToSync\": [{\"group\": \"\", \"version\": \"v1\", \"resource\": \"secrets\", \
                 \"names\": [\"gateways/wildcard\"]}], \"downstreamClass\"",
            );
        },
        "warning",
        "secret/string-data",
        place,
        help,
    );
    let scratch = Scratch::with_worked_example();
    with_string_data(&scratch);
    let run = scratch.run(&["check", "hub"]);
    assert!(
        !run.stdout.contains("secret/string-data"),
        "it is not shipped: {run:?}"
    );
}

#[test]
fn a_file_that_holds_nothing_and_no_stream_that_does() {
    for text in ["", "# apiVersion: kuadrant.io/v1\n", "---\n---\n"] {
        let scratch = Scratch::with_worked_example();
        scratch.write("hub/limits.yaml", text);
        let run = scratch.run(&["check", "hub"]);
        assert!(
            run.stdout
                .contains("warning[object/empty-file]: this file contains no object\n --> hub/limits.yaml\n")
                && run
                    .stdout
                    .contains("= help: remove the file, or restore its content"),
            "{run:?}"
        );
    }
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/limits.yaml", "kind: [\n");
    let broken = scratch.run(&["check", "hub"]);
    assert!(
        !broken.stdout.contains("object/empty-file"),
        "it says what is wrong: {broken:?}"
    );
    let nothing = scratch.run(&["check", "-"]);
    assert!(!nothing.stdout.contains("object/empty-file"), "{nothing:?}");
}

#[test]
fn what_is_read_and_not_used_is_counted_by_kind_and_listed_with_v() {
    let scratch = Scratch::with_worked_example();
    let app = |kind: &str, name: &str| {
        format!("apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\n---\n")
    };
    let apps = app("Deployment", "a") + &app("Deployment", "b") + &app("StatefulSet", "c") + "values: 1\n";
    scratch.write("hub/apps.yaml", &apps);
    for arguments in [&["check", "hub"][..], &["render", "hub", "-o", "out"]] {
        scratch.run(arguments).says(
            "1 document is not a Kubernetes object; 3 objects are not used: 2 Deployment, 1 StatefulSet (-v lists them)\n",
        );
    }
    scratch
        .run(&["check", "hub", "-v"])
        .says("3 objects are not used: 2 Deployment, 1 StatefulSet\n")
        .says("  hub/apps.yaml:10: StatefulSet shop/c is not used\n");
    scratch.run(&["check", "hub", "-q"]).does_not_say("not used");
}

#[test]
fn a_filter_that_names_a_policy_is_not_evaluated() {
    found(
        |scratch| {
            scratch.write(
                "hub/routes.yaml",
                "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: gateways}\nspec:\n  \
                 parentRefs: [{name: prod-web}]\n  rules:\n  - filters:\n    - type: ExtensionRef\n      extensionRef: {group: \
                 gateway.kgateway.dev, kind: TrafficPolicy, name: open}\n    backendRefs: [{name: s, port: 80}]\n",
            );
        },
        "warning",
        "policy/not-evaluated",
        "hub/routes.yaml:9:",
        "name the route and the rule in `targetRefs` of TrafficPolicy open",
    );
}

#[test]
fn a_policy_that_the_filter_of_a_backend_names_is_said_at_that_filter() {
    found(
        |scratch| {
            scratch.write(
                "hub/routes.yaml",
                "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: gateways}\nspec:\n  \
                 parentRefs: [{name: prod-web}]\n  rules:\n  - backendRefs:\n    - {name: s, port: 80}\n    - name: t\n      \
                 port: 80\n      filters:\n      - type: ExtensionRef\n        extensionRef: {group: gateway.kgateway.dev, kind: \
                 TrafficPolicy, name: open}\n",
            );
        },
        "warning",
        "policy/not-evaluated",
        "hub/routes.yaml:13:",
        "name the route and the rule in `targetRefs` of TrafficPolicy open",
    );
}
