//! What somebody meets who begins: at each step, words to type for the next one; later, silence.

use crate::scratch::Scratch;

const CLASS: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: fleet}
spec: {controllerName: kuadrant.io/mgc-gw-controller}
";
const GATEWAY: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: infra}
spec:
  gatewayClassName: fleet
  listeners: [{name: http, port: 80, protocol: HTTP}]
";
const DECISIONS: &str = "\
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: all-decision-1
  namespace: infra
  labels: {cluster.open-cluster-management.io/placement: all}
status: {decisions: [{clusterName: eu-1, reason: \"\"}]}
";

/// All but the placement of the Gateway.
fn almost() -> Scratch {
    let scratch = Scratch::new();
    scratch
        .write("hub/class.yaml", CLASS)
        .write("hub/gateway.yaml", GATEWAY);
    scratch
}

fn complete() -> Scratch {
    let scratch = almost();
    scratch.edit(
        "hub/gateway.yaml",
        "namespace: infra}",
        "namespace: infra, labels: {cluster.open-cluster-management.io/placement: all}}",
    );
    scratch.write("hub/decisions.yaml", DECISIONS);
    scratch
}

#[test]
fn each_missing_link_from_files_to_clusters_is_named_with_what_adds_it() {
    let scratch = Scratch::new();
    let next = |status: i32, help: &str| {
        scratch.run(&["render"]).exits(status).says(help);
    };
    next(4, "name the directory of the hub, as in `spokewright render hub`");
    scratch.write(
        "hub/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n",
    );
    next(
        4,
        "the input has no GatewayClass: add one with `controllerName: kuadrant.io/mgc-gw-controller`",
    );
    scratch.write(
        "hub/class.yaml",
        &CLASS.replace("kuadrant.io/mgc-gw-controller", "example.com/other"),
    );
    next(4, "in spokewright.yaml: `controllerName: example.com/other`");
    scratch.write("hub/class.yaml", CLASS);
    next(
        4,
        "the input has no Gateway: add one with `gatewayClassName: fleet`",
    );
    scratch.write("hub/gateway.yaml", &GATEWAY.replace("Name: fleet", "Name: other"));
    next(
        4,
        "no Gateway of the input has a class of ours: write `gatewayClassName: fleet`",
    );
    scratch.write("hub/gateway.yaml", GATEWAY);
    next(
        4,
        "add the label `cluster.open-cluster-management.io/placement: NAME`",
    );
    scratch.edit(
        "hub/gateway.yaml",
        "namespace: infra}",
        "namespace: infra, labels: {cluster.open-cluster-management.io/placement: all}}",
    );
    next(4, "`kubectl get placement all -n infra -o yaml`");
    scratch.write("hub/decisions.yaml", DECISIONS);
    next(0, "kubectl apply -k rendered");
}

#[test]
fn parameters_that_are_missing_are_added_or_left_out() {
    let scratch = almost();
    let reference = "parametersRef: {group: \"\", kind: ConfigMap, namespace: infra, name: params}";
    scratch.edit(
        "hub/class.yaml",
        "gw-controller}",
        &format!("gw-controller, {reference}}}"),
    );
    scratch
        .run(&["render"])
        .exits(3)
        .says("add the ConfigMap to the input, or correct the reference; without `parametersRef`, no policy or route is synced");
}

#[test]
fn the_first_rendering_says_how_to_go_on_and_later_ones_do_not() {
    let scratch = complete();
    scratch
        .run(&["render", "hub", "-o", "out dir"])
        .exits(0)
        .says("next: commit 'out dir'; Argo CD, Flux or `kubectl apply -k 'out dir'` brings it to the hub")
        .says("`spokewright diff`");
    scratch.edit("hub/gateway.yaml", "port: 80", "port: 81");
    scratch
        .run(&["render", "hub", "-o", "out dir"])
        .exits(0)
        .does_not_say("next:");
}

#[test]
fn scripts_and_the_quiet_are_told_nothing() {
    for more in [
        &["-q"][..],
        &["--message-format", "json"],
        &["--message-format", "github"],
        &["--exit-code"],
    ] {
        let scratch = complete();
        let run = scratch.run(&[&["render", "hub"], more].concat());
        run.does_not_say("next:");
        let empty = Scratch::new();
        for command in ["placement", "policies", "status", "graph"] {
            if more != ["--exit-code"] {
                let run = empty.run(&[&[command], more].concat());
                run.exits(0)
                    .does_not_say("next:")
                    .does_not_say("no Kubernetes object");
            }
        }
    }
}

#[test]
fn a_check_without_findings_leads_to_the_first_rendering() {
    let scratch = complete();
    scratch
        .run(&["check", "hub"])
        .exits(0)
        .says("3 objects in 3 files: 0 errors, 0 warnings")
        .says("next: `spokewright render hub` writes one directory per cluster into rendered");
    scratch.run(&["render", "hub"]).exits(0);
    scratch.run(&["check", "hub"]).exits(0).does_not_say("next:");
    let configured = complete();
    configured.write(
        "hub/spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\n",
    );
    configured.run(&["check", "hub"]).exits(0).does_not_say("next:");
}

#[test]
fn a_report_about_nothing_says_what_is_missing() {
    let empty = Scratch::new();
    for command in ["placement", "policies", "status", "graph"] {
        empty
            .run(&[command])
            .exits(0)
            .says("no Kubernetes object was read")
            .says(&format!(
                "next: name the directory of the hub, as in `spokewright {command} hub`"
            ));
    }
    let scratch = Scratch::new();
    scratch.write(
        "map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n",
    );
    for (command, text) in [
        ("placement", "kubectl get placement,managedcluster"),
        ("policies", "an object with `targetRef`"),
        ("status", "`spokewright check`"),
        ("graph", "nothing to draw"),
    ] {
        scratch.run(&[command]).exits(0).says("next: ").says(text);
    }
    let placed = complete();
    placed
        .run(&["placement", "hub"])
        .exits(0)
        .says("the PlacementDecisions of the input apply as they are");
    placed.run(&["status", "hub"]).exits(0).does_not_say("next:");
    placed.run(&["graph", "hub"]).exits(0).does_not_say("next:");
}

#[test]
fn an_object_that_does_not_exist_is_answered_with_near_ones() {
    let scratch = complete();
    let explain = |object: &str, help: &str| {
        scratch.run(&["explain", object, "hub"]).exits(2).says(help);
    };
    explain("gateway/wbe", "did you mean `gateway/web`?");
    explain("gatway/web", "did you mean `gateway`?");
    explain("web", "did you mean `gateway/infra/web`?");
    explain("nothing", "write KIND/NAME or KIND/NAMESPACE/NAME");
    explain("gateway/cart", "the input has: infra/web");
}

#[test]
fn commands_without_their_arguments_say_what_there_is() {
    let scratch = Scratch::new();
    scratch
        .run(&[])
        .exits(2)
        .says("run `spokewright init fleet`, then `spokewright render fleet`");
    scratch
        .run(&["argocd"])
        .exits(2)
        .says("spokewright argocd plugin > plugin.yaml");
    scratch
        .run(&["completions"])
        .exits(2)
        .says("[possible values: bash, elvish, fish, powershell, zsh]")
        .says("source <(spokewright completions zsh)");
    let names = scratch.run(&["schema"]);
    assert!(
        names.stdout.starts_with("config\noverlay\nparams\nrule\nreport/"),
        "{}",
        names.stdout
    );
    assert_eq!(names.stderr, "");
    scratch.run(&["diff"]).exits(2).says("--base-dir DIR");
}
