//! Updates that clusters would refuse, against the existing tree and against every base of `diff`
//! (docs/reference/findings/object/update-refused.md).

use crate::scratch::{Run, Scratch, copy};

const KINDS: [&[&str]; 2] = [&[], &["--work-kind", "replica-set"]];
const CODE: &str = "[object/update-refused]";

const DNS: &str = "\
apiVersion: kuadrant.io/v1
kind: DNSPolicy
metadata: {name: dns, namespace: gateways}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}
  delegate: true
  loadBalancing: {weight: 100, geo: EU, defaultGeo: true}
";

/// A CRD of DNSPolicies with a rule below a list, and one about the whole spec.
const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dnspolicies.kuadrant.io, labels: {gateway.networking.k8s.io/policy: direct}}
spec:
  group: kuadrant.io
  names: {kind: DNSPolicy, plural: dnspolicies}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: &schema
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: 'has(self.delegate) == has(oldSelf.delegate)', message: delegate comes and goes with the object}
            properties:
              targetRef: {type: object, x-kubernetes-preserve-unknown-fields: true}
              loadBalancing: {type: object, x-kubernetes-preserve-unknown-fields: true}
              delegate: {type: boolean}
              items:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    zone:
                      type: string
                      x-kubernetes-validations: [{rule: self == oldSelf, message: a zone is for ever}]
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: *schema}
";

fn render(scratch: &Scratch, more: &[&str]) -> Run {
    let arguments = [&["render", "hub", "-q", "-o", "rendered"], more].concat();
    scratch.run(&arguments)
}

/// The worked example, which ships a DNSPolicy.
fn with_dns() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"dnspolicies\"}, ",
    );
    scratch.write("hub/dns.yaml", DNS);
    scratch
}

/// Takes the records back, together with another weight.
fn take_back(scratch: &Scratch) {
    scratch.edit("hub/dns.yaml", "delegate: true", "delegate: false");
    scratch.edit("hub/dns.yaml", "weight: 100", "weight: 120");
}

/// Ships objects of a core kind, chosen by name.
fn with_objects(resource: (&str, &str), objects: &str) -> Scratch {
    let scratch = Scratch::with_worked_example();
    let (group, resource) = resource;
    let listed = format!(
        "\"resourcesToSync\": [{{\"group\": \"{group}\", \"version\": \"v1\", \"resource\": \"{resource}\", \
         \"names\": [\"gateways/x\"]}}],\n     \"policiesToSync\""
    );
    scratch.edit("hub/class.yaml", "\"policiesToSync\"", &listed);
    scratch.write("hub/objects.yaml", objects);
    scratch
}

#[test]
fn a_change_of_what_never_changes_is_refused_with_both_values_and_the_clusters() {
    for kind in KINDS {
        let scratch = with_dns();
        render(&scratch, kind).exits(0);
        let before = scratch.tree("rendered");
        take_back(&scratch);
        let told = "error[object/update-refused]: DNSPolicy kuadrant-gateways/dns: eu-1, us-1 would refuse the whole \
                    update: spec.delegate: Invalid value: records that are delegated stay so, and others are never \
                    delegated\n --> hub/dns.yaml:6:13\n";
        let checked = [&["--check"], kind].concat();
        for arguments in [kind, &checked] {
            render(&scratch, arguments)
                .exits(3)
                .says(told)
                .says("= note: spec.delegate: true -> false\n")
                .says("= help: keep the old value; or give the object another name; or remove it in this commit, and add it in a later one when the clusters have deleted it\n")
                .says("1 error; nothing was written");
        }
        assert_eq!(scratch.tree("rendered"), before);
        // The weight alone arrives.
        scratch.edit("hub/dns.yaml", "delegate: false", "delegate: true");
        render(&scratch, kind).exits(0).does_not_say(CODE);
    }
}

#[test]
fn the_ways_out_are_ways_out() {
    for kind in KINDS {
        let scratch = with_dns();
        render(&scratch, kind).exits(0);
        take_back(&scratch);
        // Another name is another object.
        scratch.edit("hub/dns.yaml", "name: dns,", "name: other,");
        render(&scratch, kind).exits(0).does_not_say(CODE);
        // So is one that comes after it has gone.
        scratch.edit("hub/dns.yaml", "delegate: false", "delegate: true");
        render(&scratch, kind).exits(3).says(CODE);
        let text = scratch.read("hub/dns.yaml");
        scratch.remove("hub/dns.yaml");
        render(&scratch, kind).exits(0);
        scratch.write("hub/dns.yaml", &text);
        render(&scratch, kind).exits(0).does_not_say(CODE);
    }
}

/// Whoever deletes the object on the clusters can go on.
#[test]
fn a_configuration_makes_it_a_warning() {
    let scratch = with_dns();
    render(&scratch, &[]).exits(0);
    take_back(&scratch);
    scratch.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nfindings: {object/update-refused: warning}\n",
    );
    let run = || scratch.run(&["render", "hub", "-o", "rendered"]);
    run().exits(0).says(&format!("warning{CODE}"));
    run().exits(0).does_not_say(CODE);
}

#[test]
fn diff_and_check_say_so_of_whatever_they_compare_with() {
    let scratch = with_dns();
    copy(&scratch.path("hub"), &scratch.path("before"));
    render(&scratch, &[]).exits(0);
    take_back(&scratch);
    for base in [["--base-tree", "rendered"], ["--base-dir", "before"]] {
        let run = scratch.run(&["diff", "hub", "-q", base[0], base[1]]);
        run.exits(3).says(&format!(
            "error{CODE}: DNSPolicy kuadrant-gateways/dns: eu-1, us-1"
        ));
        assert!(
            run.stdout.contains("+  delegate: false"),
            "the differences are told: {run:?}"
        );
    }
    let check = scratch.run(&["check", "hub", "-q"]);
    check.exits(3);
    assert!(check.stdout.contains(CODE), "{check:?}");
    // A part of the fleet that is not rendered is not compared.
    render(&scratch, &["--clusters", "us-*"])
        .exits(3)
        .says("dns: us-1 would refuse");
    // A JSON finding has the place of the new value.
    let json = scratch.run(&["diff", "hub", "--base-dir", "before", "--message-format", "json"]);
    assert!(
        json.stderr.contains("\"code\": \"object/update-refused\""),
        "{json:?}"
    );
}

#[test]
fn a_crd_of_the_input_has_its_own_rules_also_below_lists_and_for_another_version() {
    for kind in KINDS {
        let scratch = with_dns();
        scratch.write("hub/crd.yaml", CRD);
        let items = "  items: [{name: a, zone: one}, {name: b, zone: two}]\n";
        scratch.write("hub/dns.yaml", &format!("{DNS}{items}"));
        render(&scratch, kind).exits(0);
        // The rules that are known without a CRD do not count beside it; items have moved.
        take_back(&scratch);
        let moved = "  items: [{name: c, zone: three}, {name: b, zone: two}]\n";
        scratch.edit("hub/dns.yaml", items, moved);
        render(&scratch, kind).exits(0).does_not_say(CODE);
        scratch.edit("hub/dns.yaml", "{name: b, zone: two}", "{name: b, zone: one}");
        render(&scratch, kind)
            .exits(3)
            .says("update: spec.items[1].zone: Invalid value: \"one\": a zone is for ever\n --> hub/dns.yaml:8:51\n")
            .says("= note: spec.items[1].zone: \"two\" -> \"one\"\n");
        scratch.edit("hub/dns.yaml", "{name: b, zone: one}", "{name: b, zone: two}");
        // A value that is gone has the place of the mapping that had it.
        scratch.edit("hub/dns.yaml", "  delegate: false\n", "");
        scratch.edit("hub/dns.yaml", "kuadrant.io/v1", "kuadrant.io/v2");
        scratch.edit(
            "hub/class.yaml",
            "\"v1\", \"resource\": \"dnspolicies\"",
            "\"v2\", \"resource\": \"dnspolicies\"",
        );
        render(&scratch, kind)
            .exits(3)
            .says("update: spec: Invalid value: delegate comes and goes with the object\n --> hub/dns.yaml:5:3\n")
            .says("= note: spec.delegate: false -> nothing\n");
    }
}

#[test]
fn an_object_is_the_same_one_in_another_work_and_in_a_set() {
    let scratch = with_dns();
    render(&scratch, &[]).exits(0);
    take_back(&scratch);
    let told = "dns: eu-1, us-1 would refuse the whole update";
    render(&scratch, KINDS[1]).exits(3).says(told);
    let class = scratch.read("hub/class.yaml");
    scratch.edit(
        "hub/class.yaml",
        "\"workPer\": \"Gateway\"",
        "\"workPer\": \"Object\"",
    );
    render(&scratch, &[]).exits(3).says(told);
    // And back.
    scratch.edit("hub/dns.yaml", "delegate: false", "delegate: true");
    render(&scratch, KINDS[1]).exits(0);
    scratch.write("hub/class.yaml", &class);
    scratch.edit("hub/dns.yaml", "delegate: true", "delegate: false");
    render(&scratch, &[]).exits(3).says(told);
}

#[test]
fn a_cluster_that_gets_the_object_for_the_first_time_refuses_nothing() {
    let scratch = with_dns();
    scratch.edit("hub/decisions.yaml", "us-1", "us-2");
    render(&scratch, &[]).exits(0);
    scratch.edit("hub/decisions.yaml", "us-2", "us-1");
    take_back(&scratch);
    render(&scratch, &[]).exits(3).says("dns: eu-1 would refuse");
}

#[test]
fn kinds_without_a_crd_have_fields_that_never_change() {
    let of = |kind: &str, more: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: x, namespace: gateways}}\n{more}")
    };
    let cases = [
        (
            "configmaps",
            "ConfigMap",
            "immutable: true\ndata: {a: b}\n",
            "immutable: true\ndata: {a: c}\n",
            "data: Invalid value",
        ),
        (
            "configmaps",
            "ConfigMap",
            "data: {a: b}\n",
            "immutable: true\ndata: {a: c}\n",
            "",
        ),
        (
            "services",
            "Service",
            "spec: {clusterIP: None}\n",
            "spec: {clusterIP: 10.0.0.1}\n",
            "spec.clusterIP: Invalid value",
        ),
        (
            "services",
            "Service",
            "spec: {ports: [{port: 80}]}\n",
            "spec: {clusterIP: None}\n",
            "spec.clusterIP: Invalid value",
        ),
        (
            "services",
            "Service",
            "spec: {clusterIP: None}\n",
            "spec: {ports: [{port: 80}]}\n",
            "",
        ),
        (
            "services",
            "Service",
            "spec: {type: ExternalName, externalName: a.b}\n",
            "spec: {clusterIP: None}\n",
            "",
        ),
    ];
    for (resource, kind, old, new, told) in cases {
        let scratch = with_objects(("", resource), &of(kind, old));
        render(&scratch, &[]).exits(0);
        scratch.write("hub/objects.yaml", &of(kind, new));
        let run = render(&scratch, &[]);
        if told.is_empty() {
            run.exits(0).does_not_say(CODE);
        } else {
            run.exits(3)
                .says(&format!("eu-1, us-1 would refuse the whole update: {told}"));
        }
    }
}

/// The agent makes a Secret anew, unless it applies on the server's side.
#[test]
fn a_secret_counts_with_server_side_apply_and_none_of_its_values_is_shown() {
    let secret = |value: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: x, namespace: gateways}}\nimmutable: true\ndata: {{key: {value}}}\n"
        )
    };
    for (strategy, status) in [("Update", 0), ("ServerSideApply", 3)] {
        let scratch = with_objects(("", "secrets"), &secret("b2xkLXZhbHVl"));
        let listed = format!("{{\"updateStrategy\": \"{strategy}\", \"downstreamClass\"");
        scratch.edit("hub/class.yaml", "{\"downstreamClass\"", &listed);
        render(&scratch, &[]).exits(0);
        scratch.write("hub/objects.yaml", &secret("bmV3LXZhbHVl"));
        let run = render(&scratch, &[]);
        run.exits(status)
            .does_not_say("b2xkLXZhbHVl")
            .does_not_say("bmV3LXZhbHVl");
        if status == 3 {
            run.says("Secret kuadrant-gateways/x: eu-1, us-1 would refuse the whole update: data: Invalid value: an object that is immutable keeps its data");
        }
    }
}

/// A tree whose files were changed by hand is refused, and one that is no YAML says nothing about objects.
#[test]
fn a_broken_tree_is_reported_and_not_passed_over() {
    let scratch = with_dns();
    render(&scratch, &[]).exits(0);
    take_back(&scratch);
    let path = "rendered/eu-1/gateway-gateways-prod-web.yaml";
    let work = scratch.read(path);
    for garbage in [
        "kind: DNSPolicy\n\u{0}{",
        "",
        &work.replace("kuadrant.io/v1", "{"),
    ] {
        scratch.write(path, garbage);
        render(&scratch, &[]).exits(3).says("dns: us-1 would refuse");
        scratch
            .run(&["diff", "hub", "-q", "--base-tree", "rendered"])
            .exits(5)
            .says("error[output/edited]");
    }
}
