//! Warnings that somebody accepts, with a reason.

use kube_json::Value;

use crate::scratch::{Run, Scratch};

const CONFIG: &str = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\n";

/// The worked example, whose only warning is `secret/not-rendered` at its Gateway.
fn example(entry: &str) -> Scratch {
    let scratch = Scratch::with_worked_example();
    if !entry.is_empty() {
        scratch.write(
            "hub/spokewright.yaml",
            &format!("{CONFIG}suppress:\n- {{{entry}}}\n"),
        );
    }
    scratch
}

fn annotated(text: &str) -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.edit(
        "hub/gateway.yaml",
        "    note: \"yes\"\n",
        &format!("    spokewright.dev/suppress: {text}\n"),
    );
    scratch
}

fn check(scratch: &Scratch) -> Run {
    scratch.run(&["check", "hub", "--deny", "warnings"])
}

/// The findings of `check` as `code severity`, with those that are suppressed in brackets.
fn findings(scratch: &Scratch, more: &[&str]) -> Vec<String> {
    let run = scratch.run(&[&["check", "hub", "--message-format", "json"], more].concat());
    let list: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let said = |finding: &Value| {
        let text = format!("{} {}", finding["code"].as_str()?, finding["severity"].as_str()?);
        Some(match finding.get("suppressed") {
            Some(suppressed) => format!(
                "[{text}: {} {}]",
                suppressed["kind"].as_str()?,
                suppressed["reason"].as_str()?
            ),
            None => text,
        })
    };
    list["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(said)
        .collect()
}

/// `check` fails by one warning, here with these words.
#[track_caller]
fn refused(scratch: &Scratch, code: &str, texts: &[&str]) {
    let run = scratch.run(&["check", "hub"]);
    run.exits(0);
    assert_eq!(run.stdout.matches("[suppression/").count(), 1, "{}", run.stdout);
    for text in [&[&*format!("warning[{code}]")], texts].concat() {
        assert!(run.stdout.contains(text), "{text:?} is not in\n{}", run.stdout);
    }
}

#[test]
fn a_warning_is_accepted_by_object_by_path_and_by_both() {
    assert_eq!(findings(&example(""), &[]), ["secret/not-rendered warning"]);
    for scope in [
        "object: gateway/gateways/prod-web",
        "object: gateways/prod-web",
        "object: Gateway.gateway.networking.k8s.io/gateways/prod-web",
        "path: gateway.yaml",
        "path: '**/*.yaml'",
        "object: gateway/prod-web, path: '*.yaml'",
    ] {
        let scratch = example(&format!(
            "code: secret/not-rendered, {scope}, reason: made by hand"
        ));
        assert_eq!(
            findings(&scratch, &["--deny", "warnings"]),
            ["[secret/not-rendered warning: external made by hand]"],
            "{scope}"
        );
        check(&scratch)
            .exits(0)
            .says("0 errors, 0 warnings, 1 suppressed");
        scratch
            .run(&["render", "hub", "-o", "out"])
            .exits(0)
            .says("1 warning suppressed");
    }
}

#[test]
fn of_several_suppressions_that_mean_a_warning_the_first_gives_the_reason_and_each_is_of_use() {
    let scopes = [
        "object: gateway/other/prod-web, path: '**'",
        "path: 'gate?ay.yaml'",
        "object: GATEWAYS/prod-web",
        "object: gateways.gateway.networking.k8s.io/gateways/prod-web, path: '*.yaml'",
        "object: gateway/gateways/prod-web, path: 'other/**'",
        "object: gateway/gateways/prod-web, path: gateway.yaml",
    ];
    let scratch = Scratch::with_worked_example();
    let mut config = format!("{CONFIG}suppress:\n");
    for (number, scope) in scopes.iter().enumerate() {
        config += &format!("- {{code: secret/not-rendered, {scope}, reason: number {number}}}\n");
    }
    scratch.write("hub/spokewright.yaml", &config);
    assert_eq!(
        findings(&scratch, &[]),
        [
            "[secret/not-rendered warning: external number 1]",
            "suppression/unused warning",
            "suppression/unused warning",
        ]
    );
    let run = scratch.run(&["check", "hub"]);
    for line in [4, 8] {
        assert!(
            run.stdout.contains(&format!("hub/spokewright.yaml:{line}:")),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn an_object_accepts_its_own_warnings_and_no_spoke_hears_of_it() {
    let scratch = annotated("\"secret/not-rendered: made by hand\"");
    assert_eq!(
        findings(&scratch, &[]),
        ["[secret/not-rendered warning: inSource made by hand]"]
    );
    check(&scratch).exits(0);
    scratch.run(&["render", "hub", "-o", "out"]).exits(0);
    for (name, text) in scratch.tree("out") {
        assert!(!text.contains("spokewright.dev/suppress"), "{name}");
    }
    let lines = annotated("|\n      secret/not-rendered: made by hand\n      policy/unused: never");
    refused(
        &lines,
        "suppression/unused",
        &[
            "the suppression of policy/unused suppresses nothing",
            "--> hub/gateway.yaml:10:",
        ],
    );
    let several = annotated("\"secret/not-rendered: made by hand; policy/unused: never\"");
    refused(
        &several,
        "suppression/unused",
        &["the suppression of policy/unused"],
    );
}

#[test]
fn what_is_accepted_is_not_shown_and_sarif_keeps_it() {
    let scratch = example("code: secret/not-rendered, path: '**', reason: made by hand");
    for format in ["human", "github", "junit"] {
        let run = scratch.run(&["check", "hub", "--message-format", format]);
        assert!(!run.stdout.contains("is not shipped"), "{format}: {}", run.stdout);
    }
    let run = scratch.run(&["check", "hub", "--message-format", "sarif"]);
    let log: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["level"], &result["suppressions"]),
        (
            &Value::from("secret/not-rendered"),
            &Value::from("warning"),
            &kube_json::json!([{"kind": "external", "status": "accepted", "justification": "made by hand"}])
        )
    );
    let run = example("").run(&["check", "hub", "--message-format", "sarif"]);
    assert!(!run.stdout.contains("\"suppressions\": "), "{}", run.stdout);
}

#[test]
fn a_suppression_that_suppresses_nothing_is_told_by_every_command() {
    let scratch = example("code: policy/unused, object: gateway/prod-web, reason: never");
    refused(
        &scratch,
        "suppression/unused",
        &[
            "suppresses nothing",
            "--> hub/spokewright.yaml:4:3",
            "help: remove it",
        ],
    );
    scratch
        .run(&["render", "hub", "-o", "out"])
        .exits(0)
        .says("warning[suppression/unused]");
    // Where something is wrong, nobody knows what else would be said.
    scratch.edit("hub/limits.yaml", "name: prod-web", "name: prod-wob");
    let run = scratch.run(&["check", "hub"]);
    run.exits(3);
    assert!(!run.stdout.contains("suppression/"), "{}", run.stdout);
}

#[test]
fn a_suppression_without_a_reason_or_with_an_unknown_code_does_not_hold() {
    let scratch = annotated("secret/not-rendered");
    refused(
        &scratch,
        "suppression/invalid",
        &[
            "a suppression has no reason",
            "--> hub/gateway.yaml:10:",
            "CODE: REASON",
        ],
    );
    assert!(findings(&scratch, &[]).contains(&"secret/not-rendered warning".to_owned()));
    refused(
        &annotated("\"secret/not-renderd: why\""),
        "suppression/invalid",
        &[
            "there is no code `secret/not-renderd`",
            "did you mean `secret/not-rendered`?",
        ],
    );
    refused(
        &example("code: secret/not-renderd, path: '**', reason: why"),
        "suppression/invalid",
        &[
            "--> hub/spokewright.yaml:4:",
            "did you mean `secret/not-rendered`?",
        ],
    );
    refused(
        &example("code: secret/not-rendered, path: '**', reason: ' '"),
        "suppression/invalid",
        &["a suppression has no reason"],
    );
    refused(
        &example("code: secret/not-rendered, reason: why"),
        "suppression/invalid",
        &["names neither an object nor a path", "secret/not-rendered: off"],
    );
    refused(
        &example("code: secret/not-rendered, object: prod-web, reason: why"),
        "suppression/invalid",
        &["`prod-web` is not the name of an object", "KIND/NAME"],
    );
    refused(
        &example("code: secret/not-rendered, path: 'a[', reason: why"),
        "suppression/invalid",
        &["invalid glob"],
    );
    let run = example("code: secret/not-rendered, path: '**'").run(&["check", "hub"]);
    run.exits(3);
    assert!(
        run.stdout.contains("config/invalid") && run.stdout.contains("reason"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_suppression_ends_at_its_time_where_a_time_is_given() {
    let scratch = example("code: secret/not-rendered, path: '**', reason: why, until: 2027-03-31");
    let suppressed = ["[secret/not-rendered warning: external why]"];
    assert_eq!(findings(&scratch, &[]), suppressed);
    assert_eq!(findings(&scratch, &["--now", "2027-03-31T23:59:59Z"]), suppressed);
    let after = ["--now", "2027-04-01T00:00:00Z"];
    assert_eq!(
        findings(&scratch, &after),
        ["secret/not-rendered warning", "suppression/invalid warning"]
    );
    let run = scratch.run(&[&["check", "hub"][..], &after].concat());
    for text in [
        "the suppression of secret/not-rendered has expired",
        "--> hub/spokewright.yaml:4:",
        "later `until`",
    ] {
        assert!(run.stdout.contains(text), "{}", run.stdout);
    }
    let scratch =
        example("code: secret/not-rendered, path: '**', reason: why, until: '2027-03-31T12:00:00+01:00'");
    assert_eq!(findings(&scratch, &["--now", "2027-03-31T10:59:59Z"]), suppressed);
    assert_eq!(findings(&scratch, &["--now", "2027-03-31T11:00:00Z"]).len(), 2);
    refused(
        &example("code: secret/not-rendered, path: '**', reason: why, until: tomorrow"),
        "suppression/invalid",
        &["`until` is neither a date nor a time"],
    );
}

#[test]
fn an_error_cannot_be_accepted() {
    refused(
        &example("code: yaml/syntax, path: '**', reason: why"),
        "suppression/invalid",
        &[
            "yaml/syntax is an error, and errors cannot be suppressed",
            "--> hub/spokewright.yaml:4:",
        ],
    );
    let entry = "code: policy/target-not-found, path: '**', reason: why";
    let scratch = example(entry);
    scratch.edit("hub/limits.yaml", "name: prod-web", "name: prod-wob");
    let expected = ["policy/target-not-found error", "suppression/invalid warning"];
    let mut found = findings(&scratch, &[]);
    found.retain(|finding| !finding.starts_with("secret/"));
    assert_eq!(found, expected);
    let run = scratch.run(&["check", "hub"]);
    run.exits(3);
    assert!(
        run.stdout.contains("policy/target-not-found is an error here"),
        "{}",
        run.stdout
    );
    scratch.run(&["render", "hub", "-o", "out"]).exits(3);
    // Who makes it a warning may accept it.
    let config = format!("{CONFIG}findings: {{policy/target-not-found: warning}}\nsuppress: [{{{entry}}}]\n");
    scratch.write("hub/spokewright.yaml", &config);
    let found = findings(&scratch, &[]);
    assert!(
        found.contains(&"[policy/target-not-found warning: external why]".to_owned()),
        "{found:?}"
    );
    // What is a warning by itself, and an error by the configuration, is none to accept.
    let entry = "code: secret/not-rendered, path: '**', reason: why";
    let config = format!("{CONFIG}findings: {{secret/not-rendered: error}}\nsuppress: [{{{entry}}}]\n");
    example("")
        .write("hub/spokewright.yaml", &config)
        .run(&["check", "hub"])
        .exits(3);
    refused(
        &example("code: suppression/unused, path: '**', reason: why"),
        "suppression/invalid",
        &["cannot be suppressed"],
    );
}

/// A note of a finding that nobody sees says nothing.
#[test]
fn what_follows_from_a_suppressed_finding_is_said_itself() {
    let scratch = Scratch::new();
    scratch.run(&["init", ".", "-q"]).exits(0);
    let second = scratch
        .read("hub/route.yaml")
        .replace("  name: shop\n  namespace", "  name: second\n  annotations: {spokewright.dev/suppress: 'route/not-attached: later'}\n  namespace")
        .replace("shop.example.com", "zz.example.org");
    scratch.write("hub/second.yaml", &second);
    let policy = scratch.read("hub/policies.yaml");
    let policy = policy
        .split("\n---\n")
        .nth(1)
        .expect("a policy")
        .replace("name: per-route", "name: second");
    scratch.write(
        "hub/limit.yaml",
        &policy.replace("    name: shop\n", "    name: second\n"),
    );
    scratch
        .run(&["check"])
        .exits(0)
        .prints("warning[policy/unreachable]: RateLimitPolicy shop/second targets HTTPRoute shop/second");
}
