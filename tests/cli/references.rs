//! What shipped objects need on their clusters: `reference/not-shipped`, objects chosen by name or label, and Secrets that
//! something makes.

use crate::scratch::{Run, Scratch};

const ROUTES: &str = r#"{"group": "gateway.networking.k8s.io", "version": "v1", "resource": "httproutes"}"#;

/// The worked example with routes from any namespace, `resourcesToSync`, and more objects on the hub.
fn syncing(resources: &str, objects: &str) -> Scratch {
    let scratch = Scratch::with_worked_example();
    let from = "{\"downstreamClass\": \"istio\",";
    scratch.edit(
        "hub/class.yaml",
        from,
        &format!("{from} \"resourcesToSync\": [{resources}],"),
    );
    scratch.edit(
        "hub/gateway.yaml",
        "    port: 443\n",
        "    port: 443\n    allowedRoutes: {namespaces: {from: All}}\n",
    );
    scratch.write("hub/more.yaml", objects);
    scratch
}

fn core(resource: &str, chosen: &str) -> String {
    format!(r#"{{"group": "", "version": "v1", "resource": "{resource}", {chosen}}}"#)
}

fn render(scratch: &Scratch) -> Run {
    scratch.run(&["render", "hub", "-o", "rendered"])
}

fn gateway_work(scratch: &Scratch) -> String {
    scratch.read("rendered/eu-1/gateway-gateways-prod-web.yaml")
}

fn route(name: &str, backend: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  \
         parentRefs: [{{name: prod-web, namespace: gateways}}]\n  hostnames: [api.example.com]\n  rules:\n  - backendRefs:\n    \
         - {{name: {backend}, port: 80}}\n---\n"
    )
}

fn object(kind: &str, namespace: &str, name: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}, labels: {{ship: now}}}}\n{more}\n---\n"
    )
}

fn service(name: &str) -> String {
    object("Service", "shop", name, "spec: {ports: [{port: 80}]}")
}

/// The Gateway of the worked example checks client certificates against these ConfigMaps.
fn with_authorities(scratch: &Scratch, references: &str) {
    scratch.edit(
        "hub/gateway.yaml",
        "  listeners:\n",
        &format!(
            "  tls:\n    frontend:\n      default:\n        validation:\n          caCertificateRefs:\n{references}  listeners:\n"
        ),
    );
}

fn authority(name: &str, more: &str) -> String {
    format!("          - {{group: \"\", kind: ConfigMap, name: {name}{more}}}\n")
}

#[test]
fn a_thing_that_is_missing_is_told_once_with_all_who_need_it_and_the_entry_that_would_ship_it() {
    let objects = route("one", "cart") + &route("two", "cart") + &service("cart");
    let scratch = syncing(ROUTES, &objects);
    let run = render(&scratch);
    run.exits(0).says(
        "warning[reference/not-shipped]: Service shop/cart is needed on eu-1, us-1, but it is neither shipped nor known to live \
         there\n  --> hub/more.yaml:9:14",
    );
    run.says("needed by HTTPRoute shop/one").says("and by HTTPRoute shop/two").says(
        r#"to ship it, add `{"group": "", "version": "v1", "resource": "services", "names": ["shop/cart"]}` to `resourcesToSync`"#,
    );
    assert_eq!(run.stderr.matches("reference/not-shipped").count(), 1);
}

#[test]
fn what_is_shipped_or_lives_on_every_cluster_is_not_missing_and_on_some_it_is() {
    for chosen in [
        "\"names\": [\"shop/cart\"]",
        "\"labelSelector\": {\"matchLabels\": {\"ship\": \"now\"}}",
    ] {
        let resources = format!("{ROUTES}, {}", core("services", chosen));
        let scratch = syncing(&resources, &(route("one", "cart") + &service("cart")));
        render(&scratch)
            .exits(0)
            .does_not_say("reference/not-shipped")
            .says("1 other object: 1 Service; 4 works");
        assert!(gateway_work(&scratch).contains("name: cart\n        namespace: shop\n"));
    }
    let scratch = syncing(ROUTES, &route("one", "cart"));
    scratch.write("hub/spokes/eu-1/cart.yaml", &service("cart"));
    render(&scratch).says("Service shop/cart is needed on us-1, but it is neither");
    scratch.write("hub/spokes/us-1/cart.yaml", &service("cart"));
    render(&scratch).does_not_say("reference/not-shipped");
}

#[test]
fn a_chosen_object_stands_beside_the_gateway_of_its_namespace_and_of_another_one_with_a_grant() {
    let objects = object("ConfigMap", "gateways", "own", "data: {ca.crt: x}")
        + &object("ConfigMap", "shared", "ca", "data: {ca.crt: x}");
    let resources = core("configmaps", "\"names\": [\"gateways/own\", \"shared/ca\"]");
    let scratch = syncing(&resources, &objects);
    with_authorities(
        &scratch,
        &(authority("own", "") + &authority("ca", ", namespace: shared")),
    );
    let run = render(&scratch);
    run.exits(0)
        .says("ConfigMap shared/ca is needed on eu-1, us-1")
        .says("1 other object: 1 ConfigMap");
    assert!(gateway_work(&scratch).contains("name: own\n        namespace: kuadrant-gateways\n"));
    scratch.write(
        "hub/grant.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: shared}\nspec:\n  \
         from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: gateways}]\n  to: [{group: \"\", kind: ConfigMap}]\n",
    );
    render(&scratch)
        .exits(0)
        .does_not_say("reference/not-shipped")
        .says("2 other objects: 2 ConfigMap");
    let work = gateway_work(&scratch);
    assert!(
        work.contains("name: shared.ca\n        namespace: kuadrant-gateways\n"),
        "{work}"
    );
    assert!(
        work.contains("kind: ConfigMap\n                  name: shared.ca\n"),
        "{work}"
    );
}

#[test]
fn a_chosen_object_whose_namespace_no_gateway_and_no_route_is_in_goes_nowhere() {
    let resources = core(
        "configmaps",
        "\"labelSelector\": {\"matchLabels\": {\"ship\": \"now\"}}",
    );
    let scratch = syncing(
        &resources,
        &object("ConfigMap", "elsewhere", "ca", "data: {ca.crt: x}"),
    );
    render(&scratch).exits(0).does_not_say("other object");
}

#[test]
fn a_secret_that_something_on_every_cluster_makes_is_expected_there() {
    let tls_policy = |target: &str| {
        format!(
            "apiVersion: kuadrant.io/v1\nkind: TLSPolicy\nmetadata: {{name: t, namespace: gateways}}\nspec:\n  targetRef: \
             {{group: gateway.networking.k8s.io, kind: Gateway, name: prod-web{target}}}\n  issuerRef: {{kind: ClusterIssuer, \
             name: le}}\n"
        )
    };
    let shipped = |policy: &str| {
        let scratch = syncing("", policy);
        scratch.edit(
            "hub/class.yaml",
            "\"policiesToSync\": [",
            "\"policiesToSync\": [{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"tlspolicies\"}, ",
        );
        render(&scratch)
    };
    shipped(&tls_policy(", sectionName: api"))
        .does_not_say("secret/not-rendered")
        .says("ClusterIssuer le is needed on eu-1, us-1, but it is neither shipped nor known to live there");
    let chosen = core("secrets", "\"names\": [\"gateways/wildcard\"]");
    let scratch = syncing(
        &chosen,
        &object("Secret", "gateways", "wildcard", "data: {tls.crt: eA==}"),
    );
    render(&scratch).exits(0).does_not_say("secret/not-rendered");
    let local = |text: &str| {
        let scratch = Scratch::with_worked_example();
        for cluster in ["eu-1", "us-1"] {
            scratch.write(&format!("hub/spokes/{cluster}/made.yaml"), text);
        }
        render(&scratch)
    };
    let made = |group: &str, kind: &str, name: &str, spec: &str| {
        format!(
            "apiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}, namespace: kuadrant-gateways}}\nspec: {spec}\n"
        )
    };
    for (group, kind, name, spec) in [
        (
            "cert-manager.io/v1",
            "Certificate",
            "c",
            "{secretName: wildcard, issuerRef: {name: le}}",
        ),
        (
            "external-secrets.io/v1",
            "ExternalSecret",
            "e",
            "{target: {name: wildcard}}",
        ),
        (
            "external-secrets.io/v1",
            "ExternalSecret",
            "wildcard",
            "{refreshInterval: 1h}",
        ),
        (
            "bitnami.com/v1alpha1",
            "SealedSecret",
            "wildcard",
            "{encryptedData: {}}",
        ),
    ] {
        local(&made(group, kind, name, spec))
            .exits(0)
            .does_not_say("secret/not-rendered");
    }
    let other = made(
        "cert-manager.io/v1",
        "Certificate",
        "wildcard",
        "{secretName: other, issuerRef: {name: le}}",
    );
    local(&other).says("warning[secret/not-rendered]: Secret gateways/wildcard");
}

#[test]
fn secrets_that_are_asked_for_by_label_count_wherever_they_are_and_as_they_will_be_made() {
    let policy = "apiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: keys, namespace: gateways}\nspec:\n  \
                  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: prod-web}\n  rules:\n    \
                  authentication:\n      key:\n        apiKey: {selector: {matchLabels: {app: shop}}}\n";
    let scratch = syncing("", policy);
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"authpolicies\"}, ",
    );
    render(&scratch).says("a Secret with the label app=shop is needed on eu-1, us-1");
    scratch.write(
        "hub/spokes/eu-1/key.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: k, namespace: kuadrant-system, labels: {app: shop}}\n",
    );
    scratch.write(
        "hub/spokes/us-1/key.yaml",
        "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: k, namespace: kuadrant-system}\nspec: \
         {target: {template: {metadata: {labels: {app: shop}}}}}\n",
    );
    render(&scratch).exits(0).does_not_say("reference/not-shipped");
}

#[test]
fn an_entry_that_chooses_nothing_or_cannot_choose_is_refused() {
    let named = "\"names\": [\"shop/x\"]";
    for (entry, message, help) in [
        (
            core("configmaps", "\"feedback\": []"),
            "must name the objects to ship",
            "add `names: [NAMESPACE/NAME]`",
        ),
        (
            core("secrets", "\"labelSelector\": {}"),
            "would ship every object of the kind",
            "add `matchLabels` or `matchExpressions`",
        ),
        (
            core("configmaps", "\"names\": [\"ca\"]"),
            "named by its namespace, a slash and its name",
            "write `NAMESPACE/NAME`",
        ),
        (
            core("namespaces", named),
            "namespaces is cluster-scoped",
            "list a namespaced kind",
        ),
        (
            ROUTES.replace('}', ", \"names\": [\"shop/x\"]}"),
            "all routes of this kind are shipped",
            "remove `names` and `labelSelector`",
        ),
        (
            ROUTES
                .replace("httproutes", "gateways")
                .replace('}', ", \"names\": [\"shop/x\"]}"),
            "Gateways are placed by their Placement",
            "remove this entry",
        ),
        (
            format!(r#"{{"group": "kuadrant.io", "version": "v1", "resource": "authpolicies", {named}}}"#),
            "AuthPolicy is a policy",
            "list it in `policiesToSync`",
        ),
    ] {
        render(&syncing(&entry, "")).exits(3).says(message).says(help);
    }
}

#[test]
fn a_secret_that_is_copied_for_a_listener_is_there_for_whoever_else_needs_it() {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"dnspolicies\"}, ",
    );
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: wildcard, namespace: gateways}\ndata: {a: YQ==}\n";
    scratch.write(
        "hub/more.yaml",
        &format!(
            "apiVersion: kuadrant.io/v1\nkind: DNSPolicy\nmetadata: {{name: dns, namespace: gateways}}\nspec: {{targetRef: {{group: \
             gateway.networking.k8s.io, kind: Gateway, name: prod-web}}, providerRefs: [{{name: wildcard}}]}}\n{secret}"
        ),
    );
    let missing = "Secret kuadrant-gateways/wildcard is needed on eu-1, us-1, but it is neither shipped nor known to live there";
    let check = scratch.run(&["check", "hub"]);
    assert!(check.stdout.contains(missing), "{}", check.stdout);
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [hub]\nsecrets: Copy\n",
    );
    let check = scratch.run(&["check"]);
    assert!(
        !check.stdout.contains("reference/not-shipped"),
        "{}",
        check.stdout
    );
}

/// The text between backticks in the help of a finding, piece by piece.
fn quoted(run: &Run, code: &str) -> Vec<String> {
    let said = format!("{}{}", run.stdout, run.stderr);
    let (_, finding) = said.split_once(code).unwrap_or_else(|| panic!("{code}: {said}"));
    let (_, help) = finding.split_once("= help: ").expect("a help line");
    let line = help.lines().next().unwrap_or_default();
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn each_help_about_a_backend_in_another_namespace_ends_its_finding_when_it_is_followed() {
    let to = |name: &str| {
        let backend = format!("{{name: {name}, namespace: far, port: 80}}");
        route(name, "x").replace("{name: x, port: 80}", &backend)
    };
    let far = |name: &str| object("Service", "far", name, "spec: {ports: [{port: 80}]}");
    let scratch = syncing(ROUTES, &[to("s"), far("s"), far("t")].concat());
    let not_shipped = "[reference/not-shipped]: Service far/";
    let run = render(&scratch);
    run.exits(0)
        .says(&format!("{not_shipped}s is needed on eu-1, us-1"));
    let entry = &quoted(&run, not_shipped)[0];
    scratch.edit("hub/class.yaml", ROUTES, &format!("{ROUTES}, {entry}"));
    render(&scratch).exits(0).does_not_say(not_shipped);
    // The resource is listed now: another object of it is one more name.
    scratch.write("hub/second.yaml", &to("t"));
    let run = render(&scratch);
    let words = quoted(&run, not_shipped);
    let name = &words[0];
    assert_eq!(words[..3], ["far/t", "names", "services"]);
    scratch.edit(
        "hub/class.yaml",
        "[\"far/s\"]",
        &format!("[\"far/s\", \"{name}\"]"),
    );
    let run = render(&scratch);
    run.exits(0)
        .does_not_say(not_shipped)
        .says("[reference/not-permitted]: HTTPRoute shop/s may not refer to Service far/s");
    let words = quoted(&run, "[reference/not-permitted]");
    let (namespace, kind, from) = (&words[0], &words[1], &words[2]);
    scratch.write(
        "hub/grant.yaml",
        &format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {{name: g, namespace: {namespace}}}\nspec:\n  \
             from: [{{group: gateway.networking.k8s.io, kind: {kind}, namespace: {from}}}]\n  to: [{{group: \"\", kind: Service}}]\n"
        ),
    );
    render(&scratch)
        .exits(0)
        .does_not_say("reference/not-permitted")
        .does_not_say("object/not-shipped");
    assert!(
        gateway_work(&scratch)
            .contains("kind: ReferenceGrant\n      metadata:\n        name: g\n        namespace: far\n")
    );
}

#[test]
fn a_chosen_object_that_goes_nowhere_is_named() {
    let entry = core(
        "configmaps",
        "\"names\": [\"far/c\"], \"labelSelector\": {\"matchLabels\": {\"ship\": \"later\"}}",
    );
    let scratch = syncing(&entry, &object("ConfigMap", "far", "c", "data: {}"));
    let run = render(&scratch);
    run.exits(0)
        .says("[object/not-shipped]: ConfigMap far/c is chosen, but it goes nowhere");
    assert_eq!(quoted(&run, "[object/not-shipped]"), ["far/c", "names"]);
    scratch.edit("hub/class.yaml", "\"names\": [\"far/c\"]", "\"names\": []");
    render(&scratch).exits(0).does_not_say("object/not-shipped");
}
