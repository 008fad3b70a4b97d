//! Bad input: each a clear error at its place, the documented exit status, and nothing written.

use crate::scratch::{Run, Scratch, copy, fixtures};

/// Renders the worked example after a change, and expects this status and code, at this place, and no output.
#[track_caller]
fn refused(change: impl Fn(&Scratch), status: i32, code: &str, place: &str) -> Run {
    let scratch = Scratch::with_worked_example();
    change(&scratch);
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(status)
        .says(&format!("error[{code}]"))
        .says(&format!("--> {place}"))
        .says("help: ")
        .says("nothing was written");
    assert!(!scratch.exists("rendered"), "something was written");
    run
}

const PARAMS: &str = "{\"downstreamClass\": \"istio\",";

#[test]
fn text_that_is_no_yaml() {
    refused(
        |scratch| {
            scratch.write("hub/x.yaml", "a: [1\nb: 2\n");
        },
        3,
        "yaml/syntax",
        "hub/x.yaml:",
    );
    refused(
        |scratch| {
            scratch.write("hub/x.yaml", "a:\n\tb: 1\n");
        },
        3,
        "yaml/syntax",
        "hub/x.yaml:2:1",
    );
    refused(
        |scratch| {
            scratch.write("hub/x.yaml", "a: 1\na: 2\n");
        },
        3,
        "yaml/duplicate-key",
        "hub/x.yaml:2:1",
    );
    refused(
        |scratch| {
            scratch.write("hub/x.yaml", "image: {{ .Values.image }}\n");
        },
        3,
        "yaml/syntax",
        "hub/x.yaml:1:",
    );
}

#[test]
fn values_of_the_wrong_type() {
    refused(
        |scratch| {
            scratch.edit(
                "hub/gateway.yaml",
                "gatewayClassName: multicluster",
                "gatewayClassName: 7",
            );
        },
        3,
        "object/schema",
        "hub/gateway.yaml:12:21",
    )
    .says("spec.gatewayClassName in body must be of type string");
    refused(
        |scratch| {
            scratch.edit("hub/gateway.yaml", "name: prod-web", "name: yes");
        },
        3,
        "object/schema",
        "hub/gateway.yaml:4:9",
    )
    .says("quotes");
}

#[test]
fn an_unknown_field_in_the_parameters_names_the_nearest() {
    refused(
        |scratch| {
            scratch.edit("hub/class.yaml", "downstreamClass", "downstreamClas");
        },
        3,
        "params/unknown-field",
        "hub/class.yaml:",
    )
    .says("downstreamClass");
}

#[test]
fn an_unknown_field_in_the_configuration_names_the_nearest() {
    refused(
        |scratch| {
            scratch.write(
                "hub/spokewright.yaml",
                "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\noutputt: x\n",
            );
        },
        3,
        "config/unknown-field",
        "hub/spokewright.yaml:3:1",
    )
    .says("`output`");
}

#[test]
fn parameters_that_are_not_there() {
    refused(
        |scratch| {
            scratch.edit("hub/class.yaml", "name: params}\n---", "name: other}\n---");
        },
        3,
        "params/invalid",
        "hub/class.yaml:",
    )
    .says("configmaps \"other\" not found");
    refused(
        |scratch| {
            scratch.edit("hub/class.yaml", "  params: |", "  parameters: |");
        },
        3,
        "params/invalid",
        "hub/class.yaml:",
    )
    .says("Parameters must be defined in \"params\" field of ConfigMap");
    refused(
        |scratch| {
            scratch.edit("hub/class.yaml", PARAMS, "{\"downstreamClass\": \"istio\" boop");
        },
        3,
        "params/invalid",
        "hub/class.yaml:",
    );
    refused(
        |scratch| {
            scratch.edit(
                "hub/class.yaml",
                "namespace: gateways, name: params}",
                "name: params}",
            );
        },
        3,
        "params/invalid",
        "hub/class.yaml:",
    )
    .says("Namespace must be defined");
    refused(
        |scratch| {
            scratch.edit(
                "hub/class.yaml",
                "kind: ConfigMap, namespace",
                "kind: Secret, namespace",
            );
        },
        3,
        "params/invalid",
        "hub/class.yaml:",
    )
    .says("unable to retrieve parameters for GroupKind Secret");
}

#[test]
fn a_resource_to_sync_that_does_not_exist_or_is_no_policy() {
    refused(
        |scratch| {
            scratch.edit("hub/class.yaml", "ratelimitpolicies", "ratelimitpolicys");
        },
        3,
        "params/resource",
        "hub/class.yaml:",
    )
    .says("ratelimitpolicies");
    refused(
        |scratch| {
            scratch.edit(
                "hub/class.yaml",
                "\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"ratelimitpolicies\"",
                "\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \"gateways\"",
            );
        },
        3,
        "params/resource",
        "hub/class.yaml:",
    )
    .says("targetRef");
}

#[test]
fn a_policy_target_that_is_missing() {
    refused(
        |scratch| {
            scratch.edit("hub/limits.yaml", "name: prod-web", "name: prod-wep");
        },
        3,
        "policy/target-not-found",
        "hub/limits.yaml:5:",
    )
    .says("did you mean `prod-web`?");
}

#[test]
fn a_listener_that_does_not_exist() {
    refused(
        |scratch| {
            scratch.edit("hub/limits.yaml", "sectionName: api", "sectionName: apis");
        },
        3,
        "policy/target-not-found",
        "hub/limits.yaml:5:",
    )
    .says("did you mean `api`?");
}

#[test]
fn a_cross_namespace_target_without_a_grant() {
    refused(
        |scratch| {
            scratch.edit("hub/limits.yaml", "namespace: gateways", "namespace: infra");
            scratch.edit(
                "hub/limits.yaml",
                "name: prod-web,",
                "name: prod-web, namespace: gateways,",
            );
        },
        3,
        "policy/ref-not-permitted",
        "hub/limits.yaml:5:",
    )
    .says("ReferenceGrant");
}

#[test]
fn a_gateway_whose_placement_nobody_knows() {
    refused(
        |scratch| {
            scratch.remove("hub/decisions.yaml");
        },
        4,
        "placement/not-found",
        "hub/gateway.yaml:7:",
    )
    .says("edge");
}

#[test]
fn a_cluster_name_that_would_leave_the_output() {
    refused(
        |scratch| {
            scratch.edit(
                "hub/decisions.yaml",
                "clusterName: eu-1",
                "clusterName: ../../etc",
            );
        },
        3,
        "object/invalid-name",
        "hub/decisions.yaml:8:",
    );
}

#[test]
fn two_objects_with_one_identity() {
    let run = refused(
        |scratch| {
            let gateway = scratch.read("hub/gateway.yaml");
            scratch.write("hub/again.yaml", &gateway);
        },
        3,
        "object/duplicate",
        "hub/gateway.yaml:4:9",
    );
    run.says("hub/again.yaml:4:9");
}

#[test]
fn two_works_with_one_name() {
    let twin = |scratch: &Scratch| {
        let gateway = scratch.read("hub/gateway.yaml");
        let first = gateway
            .replace("name: prod-web", "name: web")
            .replace("namespace: gateways", "namespace: gateways-prod");
        scratch.write("hub/twin.yaml", &first);
        let decisions = scratch.read("hub/decisions.yaml");
        scratch.write(
            "hub/twins.yaml",
            &decisions.replace("namespace: gateways", "namespace: gateways-prod"),
        );
    };
    refused(twin, 3, "work/name-taken", "hub/")
        .says("gateway-gateways-prod-web")
        .says("spokewright.dev/work-name");

    let scratch = Scratch::with_worked_example();
    twin(&scratch);
    scratch.edit(
        "hub/twin.yaml",
        "note: \"yes\"",
        "spokewright.dev/work-name: twin",
    );
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    assert!(scratch.exists("rendered/eu-1/twin.yaml"));
}

#[test]
fn an_oversized_work() {
    refused(
        |scratch| {
            scratch.edit("hub/class.yaml", PARAMS, "{\"maxWorkBytes\": 700,");
        },
        3,
        "work/too-large",
        "hub/gateway.yaml:4:",
    )
    .says("allows 700");
}

#[test]
fn an_empty_result() {
    let scratch = Scratch::new();
    scratch.write("hub/values.yaml", "a: 1\n");
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(4).says("error[empty/nothing-rendered]").says("help: ");
    assert!(!scratch.exists("rendered"));
    let run = scratch.run(&["render", "hub", "-o", "-"]);
    run.exits(4);
    assert_eq!(run.stdout, "");
    scratch
        .run(&["render", "hub", "-o", "rendered", "--allow-empty"])
        .exits(0);
}

#[test]
fn an_input_that_is_not_there() {
    let scratch = Scratch::new();
    scratch
        .run(&["render", "nowhere"])
        .exits(5)
        .says("error[input/unreadable]")
        .says("nowhere")
        .says("help: ");
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_input() {
    let scratch = Scratch::with_worked_example();
    scratch.write("outside.yaml", "a: 1\n");
    std::os::unix::fs::symlink(scratch.path("outside.yaml"), scratch.path("hub/link.yaml")).expect("a link");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(5)
        .says("error[input/outside]");
    assert!(!scratch.exists("rendered"));
}

#[cfg(unix)]
#[test]
fn a_link_that_stays_inside_is_read_once() {
    let scratch = Scratch::with_worked_example();
    std::os::unix::fs::symlink(scratch.path("hub/gateway.yaml"), scratch.path("hub/link.yaml"))
        .expect("a link");
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
}

#[test]
fn all_that_is_wrong_is_reported_in_one_run_and_in_order() {
    let scratch = Scratch::with_worked_example();
    scratch
        .edit("hub/class.yaml", "downstreamClass", "downstreamClas")
        .edit("hub/limits.yaml", "sectionName: api", "sectionName: apis")
        .write("hub/broken.yaml", "a: [\n");
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(3)
        .says("error[params/unknown-field]")
        .says("error[yaml/syntax]");
    let first = run.stderr.find("hub/broken.yaml").expect("the first file");
    let second = run.stderr.find("hub/class.yaml").expect("the second file");
    assert!(first < second, "{}", run.stderr);
}

#[test]
fn warnings_are_errors_when_denied() {
    let scratch = Scratch::with_worked_example();
    scratch
        .run(&["render", "hub", "-o", "rendered", "--deny", "warnings"])
        .exits(3)
        .says("error[secret/not-rendered]");
    assert!(!scratch.exists("rendered"));
}

#[test]
fn no_bytes_make_it_panic() {
    let scratch = Scratch::with_worked_example();
    for (index, bytes) in [
        &b"\xff\xfe\x00"[..],
        b"\x00\x01\x02",
        b"- - - - -",
        b"{{{{{{",
        b"&a [*a]",
        b"---\n--- x\n",
        b"\xef\xbb\xbf",
    ]
    .iter()
    .enumerate()
    {
        std::fs::write(scratch.path("hub/odd.yaml"), bytes).expect("a file");
        let run = scratch.run(&["render", "hub", "-o", "rendered"]);
        assert!([0, 3].contains(&run.status), "{index}: {run:?}");
        run.does_not_say("panicked");
    }
}

/// The example, with rules of CEL in the CRD of its third party.
fn with_rules() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
    let crd = "hub/platform/accesslogpolicy-crd.yaml";
    scratch.edit(
        crd,
        "                maximum: 100\n",
        "                maximum: 100\n                x-kubernetes-validations: [{rule: self != 10, message: not ten}]\n",
    );
    scratch.edit(
        crd,
        "                enum: [Json, Text]\n",
        "                enum: [Json, Text]\n                x-kubernetes-validations:\n                - {rule: self != 'Json', \
         reason: FieldValueForbidden, message: no JSON}\n",
    );
    scratch.edit(
        crd,
        "            required: [targetRefs, format]\n",
        "            required: [targetRefs, format]\n            x-kubernetes-validations:\n            - {rule: \
         \"self.?omitHeaders.orValue([]).size() < 2 && self.?extra[?'a'].optMap(n, n > 0).orValue(true)\", message: one \
         header at most}\n            - {rule: \"[?self.?samplePercent].all(percent, percent < 200)\"}\n",
    );
    scratch.edit(
        crd,
        "              omitHeaders:\n",
        "              extra:\n                type: object\n                additionalProperties:\n                  type: \
         integer\n                  x-kubernetes-validations: [{rule: self < 5, message: five or more}]\n              omitHeaders:\n",
    );
    scratch
}

#[test]
fn rules_of_a_crd_are_told_as_an_api_server_tells_them() {
    let scratch = with_rules();
    let policy = "hub/platform/access-log.yaml";
    scratch.edit(
        policy,
        "  format: Json\n",
        "  format: Json\n  extra: {a.b: 7, c: 1}\n",
    );
    let run = scratch.run(&["check"]);
    run.exits(3);
    for said in [
        "AccessLogPolicy platform/access-log: spec: Invalid value: one header at most\n",
        "AccessLogPolicy platform/access-log: spec.extra[a.b]: Invalid value: 7: five or more\n",
        "AccessLogPolicy platform/access-log: spec.format: Forbidden: no JSON\n",
        "AccessLogPolicy platform/access-log: spec.samplePercent: Invalid value: 10: not ten\n",
    ] {
        assert!(
            run.stdout.contains(&format!("error[object/schema]: {said}")),
            "{said} in\n{}",
            run.stdout
        );
    }
    assert_eq!(run.stdout.matches("error[").count(), 4, "{}", run.stdout);
    // A wrong type keeps the rules from running; the enum is asked all the same, and the map's key stands behind a dot.
    scratch.edit(policy, "  format: Json\n", "  format: 4\n");
    scratch.edit(policy, "a.b: 7", "a.b: x");
    let run = scratch.run(&["check"]);
    run.exits(3);
    for said in [
        "spec.format: Invalid value: \"integer\": spec.format in body must be of type string: \"integer\"\n",
        "note: spec.format: Unsupported value: 4: supported values: \"Json\", \"Text\"\n",
        "spec.extra.a.b: Invalid value: \"string\": spec.extra.a.b in body must be of type integer: \"string\"\n",
    ] {
        assert!(run.stdout.contains(said), "{said} in\n{}", run.stdout);
    }
    assert_eq!(run.stdout.matches("error[").count(), 2, "{}", run.stdout);
}

/// What is no file may have no end, or never begin.
#[cfg(unix)]
#[test]
fn a_device_or_pipe_that_input_names_ends_the_run_at_once() {
    let scratch = Scratch::with_worked_example();
    let made = std::process::Command::new("mkfifo")
        .arg(scratch.path("pipe"))
        .status();
    assert!(made.expect("mkfifo").success());
    let no_file = |run: Run, path: &str| {
        run.exits(5)
            .says(&format!(
                "error[input/unreadable]: cannot read `{path}`: it is not a file"
            ))
            .does_not_say("object/empty-file")
            .says("= help: name a file or a directory, or pipe it: `COMMAND | spokewright check -`");
    };
    no_file(scratch.run(&["render", "pipe"]), "pipe");
    no_file(scratch.run(&["render", "/dev/zero"]), "/dev/zero");
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [/dev/zero]\n",
    );
    no_file(scratch.run(&["render"]), "/dev/zero");
    no_file(scratch.run(&["render", "hub", "--config", "pipe"]), "pipe");
}

#[cfg(unix)]
#[test]
fn standard_input_without_end_is_refused_like_a_file_that_is_too_large() {
    let scratch = Scratch::with_worked_example();
    let zeros = std::fs::File::open("/dev/zero").expect("a device");
    let run = Run::of(scratch.command(&["render", "-"]).stdin(zeros));
    run.exits(3)
        .says("error[yaml/limit]")
        .says("at most 67108864 are read");
}
