//! What reports of users needed to be told: help that is true, placeholders of templates, and repositories that are not
//! hubs alone.

use crate::scratch::{Run, Scratch};

/// What `check` says of the worked example with these files beside it.
fn check(files: &[(&str, &str)]) -> Run {
    let scratch = Scratch::with_worked_example();
    for (file, text) in files {
        scratch.write(file, text);
    }
    scratch.run(&["check", "hub"])
}

/// The severity and the code of each finding, in their order, without what is said of the worked example itself.
fn codes(run: &Run) -> Vec<&str> {
    let is_head = |head: &&str| head.starts_with("error[") || head.starts_with("warning[");
    let heads = run.stdout.lines().filter_map(|line| line.split_once(": "));
    let heads = heads.map(|(head, _)| head).filter(is_head);
    heads
        .filter(|head| !head.contains("secret/not-rendered"))
        .collect()
}

fn route(filter: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: shop, namespace: gateways}}\n\
         spec:\n  parentRefs: [{{name: prod-web}}]\n  hostnames: [shop.example.com]\n  rules:\n  - filters:\n    - type: \
         RequestHeaderModifier\n      requestHeaderModifier:\n        set:\n        - {filter}\n"
    )
}

#[test]
fn help_quotes_the_text_as_it_is_written() {
    for written in [
        "on", "NO", "~", "null", "0644", "0x1F", "1_000", "1.10", "1e3", "+1", ".5", "0b11",
    ] {
        for filter in [
            format!("{{name: x-header, value: {written}}}"),
            format!("name: x-header\n          value: {written} # a comment"),
        ] {
            let run = check(&[("hub/route.yaml", &route(&filter))]);
            let help = format!("= help: quote it: \"{written}\"\n");
            assert!(run.stdout.contains(&help), "{written}:\n{}", run.stdout);
        }
    }
    for (filter, help) in [
        ("name: x-header\n          value:", "write a text here"),
        ("{name: [a], value: x}", "`kubectl explain"),
    ] {
        let run = check(&[("hub/route.yaml", &route(filter))]);
        assert!(run.stdout.contains(help), "{filter}:\n{}", run.stdout);
    }
    // A date is a text.
    let run = check(&[("hub/route.yaml", &route("{name: x-header, value: 2026-01-01}"))]);
    assert!(!run.stdout.contains("object/schema"), "{}", run.stdout);
    let json = "{\"apiVersion\": \"kuadrant.io/v1\", \"kind\": \"RateLimitPolicy\", \"metadata\": {\"name\": \"a\", \
        \"namespace\": \"gateways\"}, \"spec\": {\"targetRef\": {\"group\": \"gateway.networking.k8s.io\", \"kind\": \
        \"Gateway\", \"name\": 1.10}}}";
    let run = check(&[("hub/limits.json", json)]);
    assert!(run.stdout.contains("quote it: \"1.10\""), "{}", run.stdout);
    // The same for metadata of any kind.
    for (metadata, help) in [
        ("{name: y, namespace: gateways}", "put it in quotes: \"y\""),
        ("{name: a, namespace: 0777}", "put it in quotes: \"0777\""),
        (
            "{name: a, namespace: gateways, labels: {a: off}}",
            "put it in quotes: \"off\"",
        ),
    ] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n");
        let run = check(&[("hub/map.yaml", &text)]);
        assert!(run.stdout.contains(help), "{metadata}:\n{}", run.stdout);
    }
    // Of a Secret, nothing is shown.
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b, annotations: {pin: 0123}}\ndata: {a: Yg==}\n";
    let run = check(&[("hub/secret.yaml", secret)]);
    assert!(!run.stdout.contains("0123"), "{}", run.stdout);
}

const POLICY: &str = "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: NAME, namespace: gateways}\n\
    spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: TARGET}\n  \
    limits: {all: {rates: [{limit: 1, window: 1s}]}}\n";

fn policy(name: &str, target: &str) -> String {
    POLICY.replace("NAME", name).replace("TARGET", target)
}

#[test]
fn placeholders_of_a_template_are_one_finding_for_a_file() {
    for placeholder in [
        "${{values.x}}",
        "{{ .Values.x }}",
        "<name>",
        "<your name>",
        "$(NAME)",
        "@@NAME@@",
        "%%NAME%%",
        "REPLACE_ME",
        "REPLACE-DOMAIN",
        "CHANGEME",
        "CMP_PLACEHOLDER_NAME",
    ] {
        let quoted = format!("\"{placeholder}\"");
        let named = format!("\"{placeholder}-auth\"");
        // In the target alone, in names alone, and in both, of two objects.
        for text in [
            policy("auth", &quoted),
            policy(&named, "prod-web"),
            format!("{}---\n{}", policy(&named, &quoted), policy("auth", &quoted)),
        ] {
            let run = check(&[("hub/auth.yaml", &text)]);
            run.exits(3);
            assert_eq!(codes(&run).len(), 1, "{text}\n{}", run.stdout);
            assert!(codes(&run)[0].starts_with("error["), "{text}\n{}", run.stdout);
            let message = format!("]: `{placeholder}");
            assert!(run.stdout.contains(&message), "{text}\n{}", run.stdout);
            assert!(
                run.stdout.contains("is a placeholder of a template, not a value"),
                "{text}\n{}",
                run.stdout
            );
            assert!(!run.stdout.contains("write `"), "{text}\n{}", run.stdout);
        }
    }
    // Each file by itself.
    let two = [
        ("hub/a.yaml", &*policy("<a>", "prod-web")),
        ("hub/b.yaml", &policy("<b>", "prod-web")),
    ];
    assert_eq!(codes(&check(&two)).len(), 2);
    // Variables, too: one for a file, and one for each of them.
    let run = check(&[("hub/a.yaml", &policy("\"${A}\"", "\"${B}\""))]);
    assert_eq!(codes(&run).len(), 1, "{}", run.stdout);
}

#[test]
fn a_value_that_only_looks_odd_is_an_ordinary_finding() {
    for (name, code) in [
        ("Auth_policy", "error[object/invalid-name]"),
        ("\"a<b\"", "error[object/invalid-name]"),
        ("\"$NAME\"", "error[object/invalid-name]"),
        ("Replace", "error[object/invalid-name]"),
    ] {
        let run = check(&[("hub/auth.yaml", &policy(name, "prod-web"))]);
        assert_eq!(codes(&run), [code], "{name}\n{}", run.stdout);
        assert!(!run.stdout.contains("placeholder"), "{name}\n{}", run.stdout);
    }
    // An error of another line stays, beside a warning that is a placeholder.
    let text = format!("{}---\n{}", policy("<a>", "prod-web"), policy("auth", "prod-wep"));
    let run = check(&[("hub/auth.yaml", &text)]);
    assert_eq!(
        codes(&run),
        ["error[object/invalid-name]", "error[policy/target-not-found]"],
        "{}",
        run.stdout
    );
}

#[test]
fn a_secret_of_placeholders_is_no_plain_secret() {
    let said = |values: &str| {
        let text =
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: aws, namespace: gateways}}\n{values}\n");
        codes(&check(&[("hub/aws.yaml", &text)])).contains(&"warning[secret/plain]")
    };
    for values in [
        "stringData: {a: \"${AWS_KEY}\", b: <region>, c: CHANGEME}",
        // ${KEY} and <region>
        "data: {a: JHtLRVl9, b: PHJlZ2lvbj4=}",
        "data: {a: \"{{ .Values.key | b64enc }}\"}",
    ] {
        assert!(!said(values), "{values}");
    }
    for values in [
        "stringData: {a: \"${AWS_KEY}\", b: hunter2}",
        "stringData: {a: \"${AWS_KEY:-hunter2}\"}",
        "stringData: {a: \"user:${PASSWORD}\"}",
        "stringData: {a: 5}",
        "data: {a: aHVudGVyMg==}",
        "data: {a: \"\"}",
    ] {
        assert!(said(values), "{values}");
    }
}

#[test]
fn kinds_of_ocm_that_nothing_reads_are_no_errors() {
    let object = |kind: &str, metadata: &str| {
        format!(
            "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: {kind}\nmetadata: {metadata}\n"
        )
    };
    for kind in ["BackupSchedule", "Restore", "ClusterClaim", "AppliedThing"] {
        for metadata in [
            "{name: Daily_Backup}",
            "{generateName: daily-}",
            "{name: a, labels: {a: b c}}",
        ] {
            let run = check(&[("hub/a.yaml", &object(kind, metadata))]);
            assert_eq!(
                run.exits(0).stdout.matches("error[").count(),
                0,
                "{kind} {metadata}"
            );
        }
    }
    for (kind, metadata) in [
        ("Placement", "{name: Daily_Backup, namespace: gateways}"),
        ("Placment", "{name: daily, namespace: gateways}"),
        ("Placment", "{namespace: gateways}"),
        ("PlacementDecision", "{generateName: daily-}"),
    ] {
        let run = check(&[("hub/a.yaml", &object(kind, metadata))]);
        assert!(run.exits(3).stdout.contains("error["), "{kind} {metadata}");
    }
}

const GATEWAY: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: local, namespace: gateways}\n\
    spec: {gatewayClassName: CLASS, listeners: [{name: web, port: 80, protocol: HTTP}]}\n";

#[test]
fn a_class_that_another_controller_makes_is_never_taken_for_one_of_ours() {
    let gateway = |class: &str| GATEWAY.replace("CLASS", class);
    let classes = [
        "istio",
        "istio-waypoint",
        "istio-remote",
        "istio-east-west",
        "cilium",
        "eg",
        "envoy-gateway",
        "nginx",
        "kgateway",
        "kgateway-waypoint",
        "gke-l7-rilb",
        "gke-l7-global-external-managed",
        "amazon-vpc-lattice",
        "traefik",
        "kong",
        "contour",
        "azure-alb-external",
    ];
    for class in classes {
        let run = check(&[("hub/local.yaml", &gateway(class))]);
        assert_eq!(
            codes(&run),
            ["warning[gateway/class-not-found]"],
            "{class}\n{}",
            run.stdout
        );
        let help = run
            .stdout
            .lines()
            .find(|line| line.contains("help: leave it"))
            .unwrap_or_default();
        assert!(
            help.contains("not rendered") && !help.contains("multicluster"),
            "{class}\n{}",
            run.stdout
        );
        // With the label of a Gateway to place, it stays an error.
        let placed = "local, labels: {cluster.open-cluster-management.io/placement: edge}";
        let run = check(&[("hub/local.yaml", &gateway(class).replace("local", placed))]);
        assert_eq!(
            codes(&run),
            ["error[gateway/class-not-found]"],
            "{class}\n{}",
            run.stdout
        );
        assert!(
            run.stdout.contains("help: `") && !run.stdout.contains("did you mean"),
            "{class}\n{}",
            run.stdout
        );
    }
    // One letter is a typo, and so is a class of nobody else.
    for (ours, class) in [
        ("istia", "istio"),
        ("fleet", "flet"),
        ("multicluster", "multiclustr"),
    ] {
        let scratch = Scratch::with_worked_example();
        scratch.edit("hub/class.yaml", "name: multicluster", &format!("name: {ours}"));
        scratch.edit("hub/gateway.yaml", "Name: multicluster", &format!("Name: {ours}"));
        let run = scratch
            .write("hub/local.yaml", &gateway(class))
            .run(&["check", "hub"]);
        assert_eq!(
            codes(&run),
            ["error[gateway/class-not-found]"],
            "{class}\n{}",
            run.stdout
        );
        assert!(
            run.stdout.contains(&format!("did you mean `{ours}`?")),
            "{class}\n{}",
            run.stdout
        );
    }
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/class.yaml", "name: multicluster", "name: vision");
    scratch.edit("hub/gateway.yaml", "Name: multicluster", "Name: vision");
    let run = scratch
        .write("hub/local.yaml", &gateway("istio"))
        .run(&["check", "hub"]);
    assert_eq!(
        codes(&run),
        ["warning[gateway/class-not-found]"],
        "{}",
        run.stdout
    );
}

#[test]
fn nobody_is_told_to_change_the_class_of_another_controller() {
    for (controller, said, not_said) in [
        (
            "istio.io/gateway-controller",
            "add one of its own for spokewright",
            "istio.io",
        ),
        (
            "gateway.envoyproxy.io/custom",
            "add one of its own for spokewright",
            "envoyproxy",
        ),
        (
            "networking.gke.io/gateway",
            "add one of its own for spokewright",
            "gke.io",
        ),
        (
            "acme.example/fleet",
            "in spokewright.yaml: `controllerName: acme.example/fleet`",
            "change one",
        ),
        (
            "kuadrant.io/mgc-gw-controler",
            "correct the controllerName `kuadrant.io/mgc-gw-controler`",
            "add one",
        ),
    ] {
        let scratch = Scratch::with_worked_example();
        scratch.edit("hub/class.yaml", "kuadrant.io/mgc-gw-controller", controller);
        scratch.edit(
            "hub/gateway.yaml",
            "    cluster.open-cluster-management.io/placement: edge\n",
            "    a: b\n",
        );
        let run = scratch.run(&["check", "hub"]);
        run.exits(4);
        assert!(
            run.stdout.contains(said) && !run.stdout.contains(not_said),
            "{controller}\n{}",
            run.stdout
        );
    }
}

const PATCH: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
    metadata: {name: ratelimitpolicies.kuadrant.io, annotations: {cert-manager.io/inject-ca-from: a/b}}\n";

#[test]
fn patches_of_kubebuilder_are_no_definitions() {
    let conversion = format!("{PATCH}spec: {{conversion: {{strategy: Webhook}}}}\n");
    let files = |directory: &'static str| {
        [
            (format!("{directory}/patches/a.yaml"), PATCH.to_owned()),
            (format!("{directory}/patches/b.yaml"), conversion.clone()),
            (
                format!("{directory}/kustomization.yaml"),
                "resources: []\n#patches: [a, b]\n".to_owned(),
            ),
        ]
    };
    for directory in ["hub", "hub/config/crd"] {
        let files = files(directory);
        let files = files
            .each_ref()
            .map(|(file, text)| (file.as_str(), text.as_str()));
        let run = check(&files);
        assert_eq!(codes(&run), [""; 0], "{}", run.stdout);
        run.exits(0).says("documents are not Kubernetes objects");
        // Without a kustomization above, or in no directory of patches, it is an object without its fields.
        check(&files[..2]).exits(3);
        check(&[("hub/patched/a.yaml", PATCH), files[2]]).exits(3);
        // A whole object is never taken for a patch.
        let file = files[0].0.replace("a.yaml", "limits.yaml");
        check(&[files[2], (&file, &policy("auth", "prod-wep"))]).exits(3);
    }
}

#[test]
fn templates_of_a_directory_are_one_finding() {
    let template = |kind: &str| format!("kind: {kind}\nmetadata:\n  {{{{ if .a }}}}\n  name: {{{{ .b }}}}\n");
    let (limits, gateway) = (template("RateLimitPolicy"), template("Gateway"));
    for (files, count) in [
        (["hub/x/a.yaml", "hub/x/b.yaml", "hub/x/c.yaml"], 1),
        (
            [
                "hub/x/templates/a.yaml",
                "hub/x/templates/y/b.yaml",
                "hub/x/templates/y/z/c.yaml",
            ],
            1,
        ),
        (["hub/x/a.yaml", "hub/y/b.yaml", "hub/y/c.yaml"], 2),
    ] {
        let texts = [&*limits, &gateway, &limits];
        let run = check(&std::array::from_fn::<_, 3, _>(|index| {
            (files[index], texts[index])
        }));
        run.exits(3);
        assert_eq!(codes(&run), vec!["error[yaml/syntax]"; count], "{}", run.stdout);
        assert!(
            run.stdout.contains("templates, which are not YAML"),
            "{}",
            run.stdout
        );
    }
    // Another mistake is told beside them.
    let run = check(&[
        ("hub/x/a.yaml", &limits),
        ("hub/x/b.yaml", "kind: Gateway\n\ta: b\n"),
        ("hub/x/c.yaml", &limits),
    ]);
    assert_eq!(codes(&run), ["error[yaml/syntax]"; 2], "{}", run.stdout);
}

#[test]
fn variants_are_one_finding_for_two_directories_and_never_shipped() {
    let kustomization = "resources: [a.yaml, b.yaml, c.yaml]\n";
    let (one, two) = (policy("one", "prod-web"), policy("two", "prod-web"));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unused, namespace: b}\n";
    let variant = |directory: &str| {
        [
            ("a.yaml", &*one),
            ("b.yaml", &two),
            ("c.yaml", map),
            ("kustomization.yaml", kustomization),
        ]
        .map(|(file, text)| (format!("hub/{directory}/{file}"), text.to_owned()))
    };
    let both = |one: &str, two: &str| {
        let scratch = Scratch::with_worked_example();
        for (file, text) in variant(one).into_iter().chain(variant(two)) {
            scratch.write(&file, &text);
        }
        scratch
    };
    for (one, two) in [("base", "overlays/prod"), ("examples/a", "examples/b")] {
        let scratch = both(one, two);
        let run = scratch.run(&["check", "hub"]);
        run.exits(3);
        let twice: Vec<&str> = codes(&run)
            .into_iter()
            .filter(|code| code.contains("duplicate"))
            .collect();
        assert_eq!(twice, ["error[object/duplicate]"], "{}", run.stdout);
        assert!(
            run.stdout
                .contains("and so are 2 more objects of these directories"),
            "{}",
            run.stdout
        );
        let help = format!("if `{two}` and `{one}` are variants, read one of them");
        assert!(run.stdout.contains(&help), "{}", run.stdout);
        scratch.run(&["render", "hub", "-o", "rendered"]).exits(3);
        assert!(!scratch.exists("rendered"));
        // One of them, as the help says.
        let config = format!("apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nexclude: [{two}/]\n");
        scratch
            .write("hub/spokewright.yaml", &config)
            .run(&["check", "hub"])
            .exits(0);
    }
    // In one directory, every object that is rendered is told.
    let scratch = both("base", "overlays/prod");
    for file in ["a", "b"] {
        scratch.write(
            &format!("hub/base/{file}-again.yaml"),
            &scratch.read(&format!("hub/base/{file}.yaml")),
        );
    }
    let run = scratch.run(&["check", "hub"]);
    let twice = codes(&run)
        .into_iter()
        .filter(|code| *code == "error[object/duplicate]");
    assert_eq!(twice.count(), 3, "{}", run.stdout);
}

#[test]
fn an_object_of_the_name_in_another_namespace_is_named() {
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: wildcard, namespace: certs}\ndata: {a: \"\"}\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: shop, namespace: apps}\nspec: {ports: [{port: 80}]}\n";
    let route = |backend: &str| {
        route("{name: a, value: b}") + &format!("    backendRefs: [{{name: shop, port: 80{backend}}}]\n")
    };
    let stays = "has that name, but a reference without `namespace` stays in its own";
    let said = |edits: &[(&str, &str, &str)], files: &[(&str, &str)], status: i32, text: &str| {
        let scratch = Scratch::with_worked_example();
        let routes = "\"resourcesToSync\": [{\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \
            \"resource\": \"httproutes\"}],\n     \"policiesToSync\"";
        scratch.edit("hub/class.yaml", "\"policiesToSync\"", routes);
        scratch.edit(
            "hub/gateway.yaml",
            "    port: 443",
            "    allowedRoutes: {namespaces: {from: All}}\n    port: 443",
        );
        for (file, from, to) in edits {
            scratch.edit(file, from, to);
        }
        for (file, text) in files {
            scratch.write(file, text);
        }
        let run = scratch.run(&["check", "hub"]);
        assert!(run.exits(status).stdout.contains(text), "{text}:\n{}", run.stdout);
        run
    };
    said(
        &[(
            "hub/class.yaml",
            "{name: params, namespace: gateways}",
            "{name: params, namespace: platform}",
        )],
        &[],
        3,
        "help: did you mean `platform`?",
    );
    said(
        &[("hub/decisions.yaml", "namespace: gateways", "namespace: platform")],
        &[],
        4,
        "note: namespace `platform` has a placement of that name, but a Gateway can use only those of its own namespace",
    );
    for secrets in ["Omit", "Copy"] {
        let config =
            format!("apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nsecrets: {secrets}\n");
        said(
            &[],
            &[("hub/spokewright.yaml", &config), ("hub/secret.yaml", secret)],
            0,
            &format!("note: Secret certs/wildcard {stays}"),
        );
    }
    let text = route("");
    said(
        &[],
        &[("hub/route.yaml", &text), ("hub/service.yaml", service)],
        0,
        &format!("note: Service apps/shop {stays}"),
    );
    // A reference that names its namespace needs a grant there; at the other end, a grant permits nothing.
    let text = route(", namespace: apps");
    let files = [("hub/route.yaml", &*text), ("hub/service.yaml", service)];
    let run = said(
        &[],
        &files,
        0,
        "help: add a ReferenceGrant to namespace `apps`, from gateway.networking.k8s.io `HTTPRoute`",
    );
    assert!(!run.stdout.contains("stays in its own"), "{}", run.stdout);
    let grant = "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: a, namespace: gateways}\n\
        spec:\n  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: gateways}]\n  to: [{group: \"\", kind: Service}]\n";
    let [one, two] = files;
    said(
        &[],
        &[one, two, ("hub/grant.yaml", grant)],
        3,
        "help: write `namespace: apps` in the metadata of the ReferenceGrant",
    );
}

#[test]
fn explain_says_once_that_names_decide_where_creation_times_are_equal() {
    let says = "On a new cluster, synced objects are created in the same second. Their creation times are equal there, so \
        the order of their names decides.\n";
    let explained = |name: &str, object: &str| {
        let scratch = Scratch::with_worked_example();
        let limits = policy(name, "prod-web, sectionName: api").replace("all:", "per-client:");
        scratch.write("hub/more.yaml", &limits);
        scratch
            .run(&["explain", object, "hub"])
            .exits(0)
            .stdout
            .matches(says)
            .count()
    };
    for object in [
        "gateway/prod-web",
        "ratelimitpolicy/global",
        "GET https://a.example.com/",
    ] {
        assert_eq!(explained("another", object), 1, "{object}");
    }
    // One policy alone, or one of a more specific level, needs no names.
    let scratch = Scratch::with_worked_example();
    assert_eq!(
        scratch
            .run(&["explain", "gateway/prod-web", "hub"])
            .stdout
            .matches(says)
            .count(),
        0
    );
    scratch.write(
        "hub/more.yaml",
        &policy("another", "prod-web").replace("all:", "per-client:"),
    );
    assert_eq!(
        scratch
            .run(&["explain", "gateway/prod-web", "hub"])
            .stdout
            .matches(says)
            .count(),
        0
    );
}

/// What is wrong with the objects of another controller's class is a warning where no class is ours.
#[test]
fn a_hub_of_another_controller_is_checked() {
    let class = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\n\
        spec: {controllerName: CONTROLLER}\n---\n";
    let objects = GATEWAY
        .replace("CLASS", "eg")
        .replace("port: 80,", "port: 88888,")
        + "---\n"
        + &route("{name: a, value: b}")
            .replace("shop.example.com", "\".;[]\"")
            .replace("prod-web", "local");
    let said = |controller: &str| {
        let scratch = Scratch::new();
        scratch.write(
            "hub/a.yaml",
            &(class.replace("CONTROLLER", controller) + &objects),
        );
        codes(&scratch.run(&["check", "hub"])).join(" ")
    };
    assert_eq!(
        said("gateway.envoyproxy.io/gatewayclass-controller"),
        "warning[object/schema] warning[object/schema] error[empty/nothing-rendered]"
    );
    // Beside a class of ours, they are left to their controller.
    let scratch = Scratch::with_worked_example();
    scratch.write(
        "hub/a.yaml",
        &(class.replace("CONTROLLER", "example.com/other") + &objects),
    );
    assert_eq!(codes(&scratch.run(&["check", "hub"])), [""; 0]);
}
