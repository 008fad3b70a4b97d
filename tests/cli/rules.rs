//! FleetRules: what breaks them, where that is reported, and that they fail closed (docs/reference/rules.md).

use std::path::PathBuf;

use crate::scratch::{Run, Scratch, copy, fixtures};

fn rule(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: spokewright.dev/v1alpha1\nkind: FleetRule\nmetadata: {{name: {name}}}\nspec:\n{spec}\n"
    )
}

/// What `init` writes, and these rules.
fn hub(rules: &[String]) -> Scratch {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    scratch.write("hub/rules.yaml", &rules.join("---\n"));
    scratch
}

const SIGNED_IN: &str =
    "  match: has(path.route)\n  assert: \"'AuthPolicy.kuadrant.io' in effective\"\n  message: sign in";

/// What `check` prints of an input with errors.
fn refused(scratch: &Scratch, text: &str) {
    let run = scratch.run(&["check"]);
    assert!(run.exits(3).stdout.contains(text), "{text}: {run:?}");
}

/// What `check` reports about rules, as code and message.
fn reported(run: &Run) -> Vec<(String, String)> {
    let report: kube_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let findings = report["findings"].as_array().expect("a list").iter();
    let text =
        |finding: &kube_json::Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
    let findings = findings.map(|finding| (text(finding, "code"), text(finding, "message")));
    findings.filter(|(code, _)| code.starts_with("rule/")).collect()
}

fn check(scratch: &Scratch) -> Vec<(String, String)> {
    reported(&scratch.run(&["check", "--message-format", "json"]))
}

fn violated(message: &str) -> (String, String) {
    ("rule/violated".to_owned(), message.to_owned())
}

#[test]
fn a_route_that_a_wrong_target_leaves_open_breaks_a_rule() {
    let scratch = hub(&[rule("signed-in", SIGNED_IN)]);
    scratch.run(&["check"]).exits(0);
    let policies = scratch.read("hub/policies.yaml");
    scratch.write(
        "hub/policies.yaml",
        &policies.replacen("    name: web\n", "    name: other\n", 1),
    );
    let open = ("rule/violated", "sign in: HTTPRoute shop/shop breaks it on us-1");
    assert!(
        check(&scratch)
            .iter()
            .any(|(code, message)| (&**code, &**message) == open)
    );
    scratch.run(&["render"]).exits(3).says("nothing was written");
    scratch.run(&["argocd", "generate"]).exits(3);
}

#[test]
fn a_setting_breaks_a_rule_where_it_is_written_and_where_an_overlay_changes_it() {
    let ceiling = "  each: RateLimitPolicy.kuadrant.io\n  assert: setting.value.rates.all(r, r.limit <= 400)\n  message: at most 400";
    let scratch = hub(&[rule("ceiling", ceiling)]);
    scratch.run(&["check"]).exits(0);
    let overlay = "apiVersion: spokewright.dev/v1alpha1\nkind: ClusterOverlay\nmetadata: {name: us, namespace: shop}\nspec:\n  \
                   clusters: {names: [us-1]}\n  changes:\n  - target: {group: kuadrant.io, kind: RateLimitPolicy, name: per-route}\n    \
                   set:\n    - {path: \"spec.limits.all.rates[0].limit\", value: 500}\n";
    scratch.write("hub/overlay.yaml", overlay);
    refused(
        &scratch,
        "at most 400: `all` of RateLimitPolicy shop/per-route breaks it on us-1\n --> hub/overlay.yaml:9:14",
    );
    let named = rule(
        "named",
        "  each: RateLimitPolicy.kuadrant.io\n  assert: '!has(setting.overlay)'\n  message: as written",
    );
    scratch.write("hub/rules.yaml", &named);
    let expected = violated("as written: `all` of RateLimitPolicy shop/per-route breaks it on us-1");
    assert_eq!(check(&scratch), [expected]);
}

#[test]
fn what_has_no_answer_is_a_violation_and_what_nobody_knows_an_error() {
    let fails = [
        (
            "match: path.nothing == 1\n  assert: 'true'",
            "`match` has no answer: no such key: nothing",
        ),
        (
            "assert: path.nothing == 1",
            "`assert` has no answer: no such key: nothing",
        ),
        (
            "assert: \"'text'\"",
            "`assert` has no answer: its value is not a boolean",
        ),
        ("assert: path.gateway.name < 3", "does not take these types"),
        ("assert: cluster.labels.none == 'x'", "no such key: none"),
        ("assert: setting.name == 'x'", "there is no variable `setting`"),
        ("assert: pth.route == 'x'", "there is no variable `pth`"),
        (
            "assert: \"!('AuthPolcy.kuadrant.io' in effective)\"",
            "did you mean `AuthPolicy.kuadrant.io`?",
        ),
        (
            "assert: \"!has(effective.AuthPolicy)\"",
            "there is no kind `AuthPolicy` of policies",
        ),
        (
            "each: RateLimitPolicy.kuadrant\n  assert: 'true'",
            "there is no kind `RateLimitPolicy.kuadrant` of policies",
        ),
        (
            "clusters: {names: [us-2]}\n  assert: 'true'",
            "it names cluster `us-2`",
        ),
        (
            "clusters: {}\n  assert: 'true'",
            "should have at least 1 properties",
        ),
        ("asert: 'true'", "did you mean `assert`?"),
        ("assert: path. &&", "1:7: Syntax error"),
    ];
    for (spec, why) in fails {
        let scratch = hub(&[rule("r", &format!("  {spec}\n  message: m"))]);
        refused(&scratch, why);
    }
}

#[test]
fn a_rule_is_about_the_clusters_and_the_severity_that_it_names() {
    let spec = "  severity: Warning\n  clusters: {labelSelector: {matchLabels: {region: eu}}}\n  assert: 'false'\n  message: never";
    let scratch = hub(&[rule("eu", spec)]);
    scratch.run(&["check"]).exits(0);
    let found = check(&scratch);
    assert!(
        found.iter().all(|(_, message)| message.ends_with(" on eu-1")),
        "{found:?}"
    );
    // The listener, and the one path below it.
    assert_eq!(found.len(), 2, "{found:?}");
    scratch.run(&["check", "--deny", "warnings"]).exits(3);
    let suppressed = spec.replace("severity: Warning", "severity: Error");
    scratch.write("hub/rules.yaml", &rule("eu", &suppressed));
    scratch.run(&["check"]).exits(3);
    let config = scratch.read("spokewright.yaml");
    let accepted = "\nsuppress:\n- {code: rule/violated, object: httproute/shop/shop, reason: agreed}\n- {code: rule/violated, object: gateway/shop/web, reason: agreed}\n";
    scratch.write("spokewright.yaml", &(config.clone() + accepted));
    scratch.run(&["check"]).exits(0).says("2 suppressed");
    scratch.run(&["render"]).exits(0).says("2 warnings suppressed");
    // No object exempts itself.
    scratch.write("spokewright.yaml", &config);
    scratch.edit(
        "hub/route.yaml",
        "  namespace: shop\n",
        "  namespace: shop\n  annotations: {spokewright.dev/suppress: \"rule/violated: mine\"}\n",
    );
    scratch.run(&["check"]).exits(3);
}

#[test]
fn a_rule_about_nothing_and_one_whose_tests_fail_are_reported() {
    let scratch = hub(&[rule(
        "none",
        "  match: path.listener.protocol == 'TLS'\n  assert: 'false'\n  message: m",
    )]);
    scratch
        .run(&["check"])
        .exits(0)
        .prints("FleetRule none is about no path of the fleet");
    let tests = "\n  tests:\n  - {name: wrong, given: {path: {route: {}}, effective: {}}, expect: Satisfied}\n  \
                 - {name: right, given: {path: {listener: {}}}, expect: NotMatched}";
    let scratch = hub(&[rule("signed-in", &format!("{SIGNED_IN}{tests}"))]);
    let message = "FleetRule signed-in: the test `wrong` expects Satisfied, but it is Violated";
    assert_eq!(
        check(&scratch),
        [("rule/test-failed".to_owned(), message.to_owned())]
    );
}

#[test]
fn a_rule_belongs_to_the_hub_and_is_never_shipped() {
    let scratch = hub(&[rule("signed-in", SIGNED_IN)]);
    scratch.run(&["render"]).exits(0);
    assert!(
        !scratch
            .run(&["render", "-o", "-"])
            .exits(0)
            .stdout
            .contains("FleetRule")
    );
    scratch.write("spokes/eu-1/rule.yaml", &rule("local", SIGNED_IN));
    refused(&scratch, "a rule belongs to the hub");
}

#[test]
fn clusters_that_are_alike_break_the_same_rules_as_each_by_itself() {
    let kinds = [
        "AuthPolicy.kuadrant.io",
        "RateLimitPolicy.kuadrant.io",
        "TLSPolicy.kuadrant.io",
    ];
    let specs = |condition: &str| -> Vec<String> {
        let of_kind = |(number, kind): (usize, &&str)| {
            let is_in =
                format!("  match: {condition}\n  assert: \"!('{kind}' in effective)\"\n  message: none");
            let each =
                format!("  match: {condition}\n  each: {kind}\n  assert: 'false'\n  message: no setting");
            [
                rule(&format!("in-{number}"), &is_in),
                rule(&format!("each-{number}"), &each),
            ]
            .join("---\n")
        };
        kinds.iter().enumerate().map(of_kind).collect()
    };
    let hubs = std::fs::read_dir(fixtures().join("promise")).expect("hubs");
    let mut hubs: Vec<PathBuf> = hubs.map(|entry| entry.expect("a hub").path()).collect();
    hubs.sort();
    let mut violations = 0;
    for directory in hubs {
        let scratch = Scratch::new();
        copy(&directory, &scratch.path("."));
        let [of_classes, one_by_one] = ["1 == 1", "has(cluster.name)"].map(|condition| {
            scratch.write("hub/rules.yaml", &specs(condition).join("---\n"));
            check(&scratch)
        });
        assert_eq!(of_classes, one_by_one, "{}", directory.display());
        violations += of_classes
            .iter()
            .filter(|(code, _)| code == "rule/violated")
            .count();
    }
    assert!(violations > 10, "{violations}");
}

#[test]
fn hostile_rules_end_within_their_limits() {
    let list = |depth: usize| {
        let all = (0..depth).map(|level| format!("[0,1,2,3,4,5,6,7,8,9].all(v{level}, "));
        all.collect::<String>() + "true" + &")".repeat(depth)
    };
    let long = format!(
        "path.gateway.name.matches('(a{{1,99}}){{1,99}}{}')",
        "a".repeat(2000)
    );
    for assert in [list(7), "'a'.replace('', 'aaaaaaaaaaaaaaaa')".to_owned(), long] {
        let scratch = hub(&[rule("hostile", &format!("  assert: \"{assert}\"\n  message: m"))]);
        let run = scratch.run(&["check"]);
        assert!(run.exits(3).stdout.contains("rule/"), "{run:?}");
    }
}

#[test]
fn the_ready_rules_pass_their_own_tests_and_know_their_kinds() {
    let scratch = hub(&[]);
    let ready = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/rules");
    copy(&ready, &scratch.path("hub/rules"));
    let run = scratch.run(&["check", "--message-format", "json"]);
    let reported = reported(run.exits(0));
    // The hub has no listener with HTTPS, no policy of NGINX, and no TLS to backends.
    assert!(
        reported.iter().all(|(code, _)| code == "rule/never-matches"),
        "{reported:?}"
    );
    assert!(reported.len() < 6, "{reported:?}");
}
