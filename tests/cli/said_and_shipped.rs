//! What is said is what is shipped: one small hub for each way in which it once was not.
//!
//! Each hub stands in `fixtures/said-and-shipped`, on Gateway `gateways/prod-web` with the listener `api`, usually on the
//! clusters eu-1 and us-1. `tests/promise` compares them path by path; here stands what each of them shows.
//! `UPDATE_TRANSCRIPTS=1 cargo test --test cli transcripts` writes what the commands print of each into `expected.txt`;
//! read the difference before you commit it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use kube_json::Value;

use crate::scratch::{Run, Scratch, copy, fixtures};

const FLOOR: &str = "ratelimitpolicy.kuadrant.io:gateways/floor";

fn hub(name: &str) -> Scratch {
    let scratch = Scratch::new();
    copy(
        &fixtures().join("said-and-shipped").join(name),
        &scratch.path("."),
    );
    let _ = fs::remove_file(scratch.path("expected.txt"));
    scratch
}

/// Both streams of a run: what it says, wherever it says it.
fn said(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let run = scratch.run(&[arguments, &["-q", "-o", "json"]].concat());
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{run:?}"))
}

fn list<'v>(report: &'v Value, field: &str) -> &'v [Value] {
    report[field].as_array().map_or(&[], Vec::as_slice)
}

/// The entry of a report about an object.
#[track_caller]
fn entry<'v>(report: &'v Value, list_of: &str, field: &str, locator: &str) -> &'v Value {
    let found = list(report, list_of).iter().find(|entry| entry[field] == locator);
    found.unwrap_or_else(|| panic!("{locator} is not in {report:#}"))
}

/// A condition of a policy or another object, as `True`, `False`, or nothing.
fn condition(entry: &Value, kind: &str) -> Option<String> {
    let conditions = list(entry, "conditions").iter();
    let found = conditions
        .filter(|condition| condition["type"] == kind)
        .find_map(|condition| condition["status"].as_str());
    found.map(str::to_owned)
}

/// What a rule comes to on every path of a cluster where it counts.
fn values(scratch: &Scratch, cluster: &str, kind: &str, pointer: &str) -> BTreeSet<String> {
    let report = json(scratch, &["policies", "--cluster", cluster]);
    let of_kind = list(&report, "effective")
        .iter()
        .filter(|entry| entry["kind"] == kind);
    of_kind
        .filter_map(|entry| entry.pointer(pointer))
        .map(Value::to_string)
        .collect()
}

/// The rendered objects of a cluster, as text.
fn shipped(scratch: &Scratch, cluster: &str) -> String {
    scratch.run(&["render", "-q", "-o", "rendered"]).exits(0);
    scratch
        .tree(&format!("rendered/{cluster}"))
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}

/// What holds is what is said, or the run stops and says which two policies cannot both have their way.
fn decided_or_refused(name: &str, value: &str) {
    let scratch = hub(name);
    let run = scratch.run(&["render", "-o", "rendered"]);
    if run.status == 0 {
        for cluster in ["eu-1", "us-1"] {
            let found = values(&scratch, cluster, "RateLimitPolicy", "/rules/x/rates/0/limit");
            assert_eq!(found, BTreeSet::from([value.to_owned()]), "{cluster}");
        }
        return;
    }
    run.exits(4)
        .says("error[policy/undecided]")
        .says("gateways/floor")
        .says("gateways/ceiling");
    run.says("hub/policies.yaml:").says("= help: ");
}

#[test]
fn an_override_beside_a_default_on_one_gateway_stays_an_override_against_routes() {
    decided_or_refused("override-and-default-on-one-gateway", "2");
}

#[test]
fn a_default_beside_an_override_on_one_gateway_never_becomes_one() {
    let scratch = hub("default-and-override-on-one-gateway");
    decided_or_refused("default-and-override-on-one-gateway", "2");
    if scratch.run(&["render", "-q", "-o", "rendered"]).status == 0 {
        // `k` is a default: it must not come back as an override.
        let works = shipped(&scratch, "eu-1");
        let overrides = works.split("overrides:").nth(1).unwrap_or_default();
        let until_target = overrides.split("targetRef:").next().unwrap_or_default();
        assert!(!until_target.contains("k:"), "{works}");
    }
}

/// The local policy is bare: its own rules hold whatever its age is.
#[test]
fn a_local_policy_keeps_its_limits_beside_a_merging_default_of_the_hub_whatever_its_age() {
    for name in [
        "merging-default-beside-bare-local",
        "merging-default-beside-older-bare-local",
    ] {
        let scratch = hub(name);
        let run = scratch.run(&["render", "-o", "rendered"]);
        if run.status == 4 {
            run.says("error[policy/undecided]")
                .says("kuadrant-gateways/maintenance")
                .says("gateways/floor");
            continue;
        }
        run.exits(0).does_not_say("depending on which");
        let found = values(&scratch, "eu-1", "RateLimitPolicy", "/rules/x/rates/0/limit");
        assert_eq!(found, BTreeSet::from(["5".to_owned()]), "{name}");
        // Whoever is said to hold there beside it is there, and nobody else.
        let is_said = !values(&scratch, "eu-1", "RateLimitPolicy", "/rules/k").is_empty();
        assert_eq!(
            shipped(&scratch, "eu-1").contains("name: floor\n"),
            is_said,
            "{name}"
        );
        assert!(
            values(&scratch, "us-1", "RateLimitPolicy", "/rules/k").len() == 1,
            "{name}"
        );
    }
}

#[test]
fn a_policy_of_a_kind_that_nobody_syncs_is_enforced_nowhere_and_every_view_says_so() {
    let scratch = hub("kind-that-nobody-syncs");
    let login = "authpolicy.kuadrant.io:gateways/login";
    assert!(!shipped(&scratch, "eu-1").contains("AuthPolicy"));
    for command in [&["status"][..], &["policies"]] {
        let report = json(&scratch, command);
        let (of, field) = if command == ["status"] {
            ("objects", "object")
        } else {
            ("policies", "policy")
        };
        let entry = entry(&report, of, field, login);
        assert_ne!(condition(entry, "Enforced").as_deref(), Some("True"), "{entry:#}");
        assert_ne!(entry["clusters"], kube_json::json!(["eu-1", "us-1"]), "{entry:#}");
    }
    for view in [
        &["render", "--check", "-o", "rendered"][..],
        &["status"],
        &["policies"],
        &["policies", "--cluster", "eu-1"],
        &["explain", "authpolicy/login"],
        &["explain", "gateway/prod-web"],
    ] {
        let run = scratch.run(view);
        let words = [
            "policy/not-synced",
            "on the hub only",
            "on no cluster",
            "`spokewright check` lists them",
        ];
        assert!(
            words.iter().any(|word| said(&run).contains(word)),
            "{view:?}\n{}",
            said(&run)
        );
    }
    let explained = scratch.run(&["explain", "authpolicy/login", "-q"]);
    assert!(
        !explained.stdout.contains("affects 2 clusters"),
        "{}",
        explained.stdout
    );
    assert_eq!(values(&scratch, "eu-1", "AuthPolicy", "/rules"), BTreeSet::new());
}

#[test]
fn a_gateway_class_lists_the_kinds_that_its_parameters_sync() {
    let report = json(&hub("kind-that-nobody-syncs"), &["status"]);
    let class = entry(
        &report,
        "objects",
        "object",
        "gatewayclass.gateway.networking.k8s.io:multicluster",
    );
    let text = class.to_string();
    assert!(
        text.contains("RateLimitPolicy") && !text.contains("AuthPolicy"),
        "{class:#}"
    );
}

#[test]
fn a_policy_on_the_class_that_is_not_shipped_holds_on_no_cluster() {
    let scratch = hub("policy-on-the-class");
    let shipped = shipped(&scratch, "eu-1");
    assert!(
        shipped.contains("from-gateway") && !shipped.contains("from-class"),
        "{shipped}"
    );
    let explained = scratch.run(&["explain", "gateway/prod-web", "--cluster", "eu-1", "-q"]);
    explained.exits(0);
    assert!(
        explained.stdout.contains("foo  \"from-gateway\""),
        "{}",
        explained.stdout
    );
    assert!(
        !explained.stdout.contains("foo  \"from-class\""),
        "{}",
        explained.stdout
    );
    let found = values(&scratch, "eu-1", "ColorPolicy", "/spec/foo");
    assert_eq!(found, BTreeSet::from(["\"from-gateway\"".to_owned()]));
}

#[test]
fn a_route_that_lives_on_a_cluster_only_is_explained_and_counts_there_only() {
    let scratch = hub("route-on-one-spoke-only");
    let explained = scratch.run(&["explain", "httproute/shop/cart", "--cluster", "eu-1", "-q"]);
    explained.exits(0);
    assert!(
        explained.stdout.contains("from ratelimitpolicy/gateways/floor"),
        "{}",
        explained.stdout
    );
    for (cluster, wanted) in [("eu-1", "True"), ("us-1", "False")] {
        let report = json(&scratch, &["policies", "--cluster", cluster]);
        let floor = entry(&report, "policies", "policy", FLOOR);
        assert_eq!(condition(floor, "Enforced").as_deref(), Some(wanted), "{cluster}");
    }
    // Clusters differ, so that a status names one of them; `Enforced=False` alone would be wrong on eu-1.
    let status = scratch.run(&["status", "-q"]).stdout;
    let (_, floor) = status
        .split_once("ratelimitpolicy/gateways/floor")
        .expect("the policy");
    assert!(floor.contains("eu-1") || floor.contains("us-1"), "{status}");
    let explained = scratch.run(&["explain", "httproute/shop/cart", "-q"]).stdout;
    assert!(!explained.contains("No policy"), "{explained}");
}

#[test]
fn without_any_route_it_is_explained_what_any_route_will_get() {
    let scratch = hub("no-route-at-all");
    let explained = scratch.run(&["explain", "gateway/prod-web", "-q"]);
    explained.exits(0);
    assert!(
        explained.stdout.contains("from ratelimitpolicy/gateways/floor"),
        "{}",
        explained.stdout
    );
    assert!(!explained.stdout.contains("No policy"), "{}", explained.stdout);
    copy(&scratch.path("hub"), &scratch.path("before/hub"));
    scratch.edit("hub/policies.yaml", "limit: 1,", "limit: 3,");
    let run = scratch.run(&[
        "diff",
        "hub",
        "--base-dir",
        "before/hub",
        "-q",
        "--format",
        "json",
    ]);
    run.exits(1);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let changes = report["effectiveChanges"].to_string();
    assert!(
        changes.contains("\"limit\":1") && changes.contains("\"limit\":3"),
        "{report:#}"
    );
}

#[test]
fn an_object_of_a_version_that_nobody_serves_is_an_error_with_the_line_to_write() {
    for (name, wrong, right, place) in [
        (
            "policy-of-a-version-that-is-not-served",
            "v9",
            "kuadrant.io/v1",
            "hub/policies.yaml:1:",
        ),
        (
            "gateway-of-a-version-that-is-not-served",
            "v7",
            "gateway.networking.k8s.io/v1",
            "hub/gateway.yaml:1:",
        ),
        (
            "policy-of-another-version-than-the-synced-one",
            "v1beta1",
            "security.istio.io/v1",
            "hub/policies.yaml:1:",
        ),
    ] {
        let scratch = hub(name);
        let run = scratch.run(&["render", "-q", "-o", "rendered"]);
        run.exits(3)
            .says("error[")
            .says(wrong)
            .says(&format!("--> {place}"));
        let help = run.stderr.split("= help: ").nth(1).unwrap_or_default();
        assert!(help.contains(right), "{name}: {}", run.stderr);
        assert!(!scratch.exists("rendered"), "{name}");
    }
}

#[test]
fn what_policies_target_beside_gateways_and_routes_is_explained() {
    let scratch = hub("policy-on-a-secret-and-on-a-service");
    for (object, policy) in [
        ("secret/gateways/wildcard", "gateways/rotation"),
        ("service/shop/ledger", "shop/mesh"),
        // It is not in the input: a backendRef names it.
        ("service/shop/cart", "shop/cart"),
    ] {
        let run = scratch.run(&["explain", object, "-q"]);
        run.exits(0);
        let (_, explained) = run.stdout.split_once('\n').unwrap_or_default();
        assert!(explained.contains(policy), "{object}\n{}", run.stdout);
        assert!(
            !explained.contains("No policy of the input"),
            "{object}\n{}",
            run.stdout
        );
    }
}

#[test]
fn a_directly_targeted_secret_has_a_predicted_status() {
    let scratch = hub("policy-on-a-secret-and-on-a-service");
    let report = json(&scratch, &["status"]);
    let affected = |object: &str| {
        let entry = entry(&report, "objects", "object", object).to_string();
        assert!(
            entry.contains("paint.example.com/ShadePolicyAffected"),
            "{object}: {entry}"
        );
    };
    affected("secret:gateways/wildcard");
    affected("service:shop/ledger");
}

#[test]
fn a_target_of_an_unknown_kind_is_named_when_its_policy_is_not_shipped() {
    let run = hub("policy-on-an-unknown-kind").run(&["render", "-o", "rendered"]);
    run.exits(0)
        .says("policy/not-synced")
        .says("gateways/virtual")
        .says("acme.io");
    run.does_not_say("gateways/real");
}

#[test]
fn what_is_said_to_be_programmed_is_shipped_also_on_namespaces_and_backends() {
    let scratch = hub("policies-on-a-namespace-and-on-a-backend");
    let works = shipped(&scratch, "eu-1");
    let report = json(&scratch, &["status"]);
    for (locator, kind) in [
        (
            "colorpolicy.paint.example.com:shop/shop-wide",
            "kind: ColorPolicy",
        ),
        (
            "backendtlspolicy.gateway.networking.k8s.io:shop/cart",
            "kind: BackendTLSPolicy",
        ),
    ] {
        let policy = entry(&report, "objects", "object", locator);
        let is_accepted = condition(policy, "Accepted").as_deref() == Some("True");
        assert!(works.contains(kind) && is_accepted, "{policy:#}\n{works}");
    }
}

#[test]
fn a_wrong_policy_on_a_gateway_of_somebody_else_stops_nothing() {
    let scratch = hub("wrong-policy-on-a-foreign-gateway");
    let run = scratch.run(&["render", "-o", "rendered"]);
    run.exits(0)
        .says("warning[")
        .says("hub/policies.yaml:")
        .does_not_say("error[");
    let works = shipped(&scratch, "eu-1");
    assert!(
        works.contains("name: floor\n") && !works.contains("foreign"),
        "{works}"
    );
}

#[test]
fn no_field_of_a_version_that_no_profile_describes_is_called_useless() {
    let run = hub("older-version-of-a-kind-with-its-crd").run(&["render", "-o", "rendered"]);
    run.exits(0)
        .does_not_say("policy/ignored-field")
        .does_not_say("remove it");
}

#[test]
fn a_policy_that_gives_way_to_a_local_one_is_named_in_one_line_and_in_the_report() {
    let scratch = hub("policy-that-gives-way-to-a-local-one");
    let run = scratch.run(&["render", "-o", "rendered", "--report", "report.json"]);
    run.exits(0).does_not_say("error[");
    let lines: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.contains("kuadrant-gateways/maintenance"))
        .collect();
    assert!(
        lines.len() == 1 && lines[0].contains("gateways/floor"),
        "{}",
        run.stderr
    );
    let report: Value = serde_json::from_str(&scratch.read("report.json")).expect("JSON");
    let withheld = report["withheld"].to_string();
    assert!(
        withheld.contains("maintenance") && withheld.contains("eu-1"),
        "{withheld}"
    );
    assert!(!shipped(&scratch, "eu-1").contains("name: floor\n"));
    assert!(shipped(&scratch, "us-1").contains("name: floor\n"));
}

#[test]
fn no_label_of_an_annotated_hub_object_is_longer_than_kubernetes_takes() {
    let scratch = hub("cluster-with-a-long-name");
    let run = scratch.run(&["render", "-q"]);
    if run.status != 0 {
        run.exits(3).says("error[").says("-->").says("= help: ");
        return;
    }
    let annotated: String = scratch
        .tree("rendered/_hub")
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    for key in annotated
        .lines()
        .filter_map(|line| line.trim().strip_prefix("clusters.kuadrant.io/"))
    {
        let name = key.split(':').next().unwrap_or_default();
        assert!(name.len() <= 63, "{name} has {} characters", name.len());
    }
}

#[test]
fn definitions_and_policies_that_break_a_must_of_the_gep_are_warned_of_with_the_rule() {
    let scratch = hub("definitions-that-break-the-gep");
    let run = scratch.run(&["check"]);
    run.exits(0);
    for (kind, word) in [
        ("unlabelledpolicies", "label"),
        ("statuslesspolicies", "status"),
        ("textualpolicies", "targetRef"),
        ("sidewayspolicies", "Sideways"),
    ] {
        let text = said(&run);
        let mut warnings = text.split("warning[").skip(1);
        let found = warnings
            .find(|warning| warning.to_lowercase().contains(kind) || warning.contains(&singular(kind)));
        let found = found.unwrap_or_else(|| panic!("nothing about {kind}\n{text}"));
        assert!(found.contains(word) && found.contains("713"), "{found}");
        assert!(found.contains("--> hub/definitions.yaml:"), "{found}");
    }
}

/// `unlabelledpolicies` as the kind is called.
fn singular(plural: &str) -> String {
    let stem = plural.trim_end_matches("policies");
    let (first, rest) = stem.split_at(1);
    format!("{}{rest}Policy", first.to_uppercase())
}

#[test]
fn documents_of_effective_policies_have_names_of_their_own_and_say_what_they_are_of() {
    let run = hub("effective-policies-of-several-targets").run(&["status", "-q", "-o", "yaml"]);
    run.exits(0);
    let documents = kube_yaml::read_all(&run.stdout, &kube_yaml::Limits::default()).expect("YAML");
    let mut names = BTreeSet::new();
    let mut targets = BTreeSet::new();
    for document in &documents {
        let metadata = &document["metadata"];
        assert!(
            names.insert((metadata["namespace"].to_string(), metadata["name"].to_string())),
            "two are called {metadata}"
        );
        targets.extend(kinds_in(document));
    }
    for kind in ["Gateway", "HTTPRoute"] {
        assert!(targets.contains(kind), "nothing is of a {kind}: {}", run.stdout);
    }
    // On the listener `api` another policy holds than on `web`.
    let names_a_section = run.stdout.contains("sectionName: api") || run.stdout.contains("prod-web#api");
    assert!(names_a_section, "{}", run.stdout);
    // The result is what the kind calls a spec.
    let limits = documents.iter().any(|document| {
        let text = document.to_string();
        text.contains("\"limits\":{") && text.contains("\"z\":{\"rates\":[{\"limit\":3")
    });
    assert!(limits, "{}", run.stdout);
}

/// Every `kind` at any depth, but the document's own and those of policies.
fn kinds_in(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(map) => {
            let own = map.get("kind").and_then(Value::as_str).map(str::to_owned);
            let below = map.values().flat_map(kinds_in);
            own.into_iter().chain(below).collect()
        }
        Value::Array(items) => items.iter().flat_map(kinds_in).collect(),
        _ => BTreeSet::new(),
    }
}

#[test]
fn no_resource_of_another_meaning_is_suggested() {
    let run = hub("unknown-resource-in-the-parameters").run(&["render", "-q", "-o", "rendered"]);
    run.exits(3).says("error[params/resource]").says("oidcpolicies");
    for far in ["authpolicies", "dnspolicies", "tlspolicies"] {
        run.does_not_say(&format!("did you mean `{far}`"));
    }
}

#[test]
fn seen_from_one_cluster_nobody_is_told_to_remove_what_holds_on_another() {
    let scratch = hub("policy-that-holds-on-another-cluster");
    let here = scratch.run(&["policies", "--cluster", "eu-1"]);
    here.exits(0)
        .does_not_say("holds anywhere")
        .does_not_say("remove the policy");
    let there = values(&scratch, "us-1", "RateLimitPolicy", "/rules/k/rates/0/limit");
    assert_eq!(there, BTreeSet::from(["1".to_owned()]));
    scratch.run(&["check"]).exits(0).does_not_say("remove the policy");
}

/// What the commands print of every hub, as it was read and found right.
#[test]
fn transcripts_are_as_they_were_read() {
    let root = fixtures().join("said-and-shipped");
    let mut names: Vec<String> = fs::read_dir(&root)
        .expect("fixtures")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    let mut different = String::new();
    for name in names {
        let transcript = transcript(&name);
        let path = root.join(&name).join("expected.txt");
        if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
            fs::write(&path, transcript).expect("a file");
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if transcript != expected {
            let difference = similar::TextDiff::from_lines(&expected, &transcript);
            let _ = writeln!(
                different,
                "{name}\n{}",
                difference.unified_diff().header("expected", "printed")
            );
        }
    }
    assert!(
        different.is_empty(),
        "{different}\nwrite them with UPDATE_TRANSCRIPTS=1 and read the difference"
    );
}

/// The commands that matter, with what each prints.
fn transcript(name: &str) -> String {
    let scratch = hub(name);
    let spokes = scratch.tree("spokes").into_iter();
    let clusters: BTreeSet<String> = spokes
        .filter_map(|(path, _)| Some(path.split_once('/')?.0.to_owned()))
        .collect();
    let policies = kube_yaml::read_all(&scratch.read("hub/policies.yaml"), &kube_yaml::Limits::default());
    let first = policies.expect("YAML").swap_remove(0);
    let text = |pointer: &str| first.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let first = format!(
        "{}/{}/{}",
        text("/kind").to_lowercase(),
        text("/metadata/namespace"),
        text("/metadata/name")
    );
    let on_clusters = clusters
        .iter()
        .map(|cluster| vec!["policies", "--cluster", cluster]);
    let commands = [vec!["render", "-o", "rendered"], vec!["policies"]]
        .into_iter()
        .chain(on_clusters)
        .chain([
            vec!["explain", "gateway/prod-web"],
            vec!["explain", &first],
            vec!["status"],
            vec!["diff", "--without", &first],
        ]);
    let mut transcript = String::new();
    for (number, mut command) in commands.enumerate() {
        // The warnings are those of the first.
        if number > 0 {
            command.push("-q");
        }
        let run = scratch.run(&command);
        let _ = writeln!(transcript, "$ spokewright {}", command.join(" "));
        for line in said(&run).lines() {
            let timed = line.rsplit_once(" in ").filter(|(_, time)| time.ends_with(" ms"));
            let _ = writeln!(transcript, "{}", timed.map_or(line, |(line, _)| line));
        }
        let _ = writeln!(transcript, "exit status {}\n", run.status);
    }
    transcript
}
