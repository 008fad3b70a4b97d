//! Whole comparisons: properties of any two sides.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_json::{Value, json};
use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Locate, Place, Span};
use crate::output::TreeFile;

#[derive(Debug)]
struct Nowhere;

impl Locate for Nowhere {
    fn locate(&self, _: &Place) -> Option<Span<'_>> {
        None
    }
}

fn work(cluster: &str, name: &str, manifests: &[Value]) -> TreeFile {
    let value = json!({
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": name, "namespace": cluster},
        "spec": {"workload": {"manifests": manifests}},
    });
    TreeFile {
        path: format!("{cluster}/{name}.yaml"),
        text: kube_yaml::write_document(&value),
    }
}

fn object(kind: &str, name: &str, value: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name, "namespace": "ns"}, "spec": value})
}

fn report(old: &[TreeFile], new: &[TreeFile]) -> DiffReport {
    let comparison = compare(&Side::of_files(old), &Side::of_files(new)).expect("YAML");
    let titles = Titles {
        old: "before".to_owned(),
        new: "after".to_owned(),
        command: "spokewright diff --base before".to_owned(),
        fleet: None,
    };
    DiffReport {
        titles,
        comparison,
        ..DiffReport::default()
    }
}

fn fleet(count: usize, value: &Value) -> Vec<TreeFile> {
    (1..=count)
        .map(|number| work(&format!("eu-{number:04}"), "w", &[object("Policy", "p", value)]))
        .collect()
}

#[test]
fn one_change_on_a_thousand_clusters_is_one_change_and_a_small_comment() {
    let report = report(
        &fleet(1000, &json!({"limit": 1})),
        &fleet(1000, &json!({"limit": 2})),
    );
    assert_eq!(report.comparison.changes.len(), 1);
    assert_eq!(report.comparison.rows.len(), 1);
    assert_eq!(report.comparison.objects.changed, 1000);
    let text = markdown(&report, DEFAULT_BUDGET);
    println!("one line on 1,000 clusters: {} bytes of Markdown", text.len());
    assert!(text.len() < 10_000, "{} bytes", text.len());
    assert!(text.contains("all 1000 clusters"), "{text}");
}

#[test]
fn the_name_of_the_cluster_is_no_difference() {
    // The base's text was made for another cluster, but the manifests are the same: two clusters, one body.
    let files = [work("a", "w", &[]), work("b", "w", &[])];
    assert_eq!(Side::of_files(&files).bodies.len(), 1);
}

#[test]
fn layout_and_comments_are_no_difference() {
    let new = work("a", "w", &[object("Policy", "p", &json!({"limit": 1}))]);
    let old = TreeFile {
        path: new.path.clone(),
        text: format!("# by hand\n{}", new.text.replace("limit: 1", "limit:   1")),
    };
    assert!(report(&[old], &[new]).is_empty());
}

#[test]
fn a_change_of_the_work_around_the_objects_is_seen() {
    let new = work("a", "w", &[object("Policy", "p", &json!({}))]);
    let old = TreeFile {
        text: new
            .text
            .replace("spec:\n", "spec:\n  deleteOption: {propagationPolicy: Orphan}\n"),
        ..new.clone()
    };
    assert_ne!(old.text, new.text);
    let report = report(&[old], &[new]);
    let changes = &report.comparison.changes;
    assert!(changes.iter().any(|change| change.object.is_work), "{changes:?}");
}

#[test]
fn hub_objects_are_compared_but_are_no_cluster() {
    let hub = |status: &str| TreeFile {
        path: "_hub/gateway.yaml".to_owned(),
        text: kube_yaml::write_document(&object("Gateway", "g", &json!({"status": status}))),
    };
    let report = report(&[hub("a")], &[hub("b")]);
    assert_eq!(report.comparison.changes.len(), 1);
    assert_eq!(report.comparison.changed_clusters, 0);
    assert!(
        report.headline().starts_with("0 of 0 clusters"),
        "{}",
        report.headline()
    );
}

#[test]
fn a_file_that_is_no_yaml_is_named_and_never_quoted() {
    let bad = TreeFile {
        path: "a/w.yaml".to_owned(),
        text: "data: {k: c2VjcmV0".to_owned(),
    };
    let good = work("a", "w", &[]);
    let error = compare(&Side::of_files(&[bad]), &Side::of_files(&[good])).unwrap_err();
    assert_eq!(
        (error.cluster.as_str(), error.work.as_str(), error.side),
        ("a", "w", Which::Old)
    );
    assert!(!error.to_string().contains("c2VjcmV0"), "{error}");
}

#[test]
fn a_changed_value_of_a_secret_is_a_change_whatever_is_inserted_before_it() {
    let secret = |name: &str, value: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"key": value}});
    let list = |items: &[Value]| {
        let list =
            json!({"apiVersion": "v1", "kind": "Template", "metadata": {"name": "t"}, "objects": items});
        [work("a", "w", &[list])]
    };
    let old = list(&[secret("x", "one"), secret("y", "same"), secret("z", "old")]);
    let moved = [
        secret("w", "more"),
        secret("x", "one"),
        secret("y", "same"),
        secret("z", "new"),
    ];
    for new in [
        &moved[..],
        &[moved[3].clone(), moved[1].clone(), moved[2].clone()],
    ] {
        let report = report(&old, &list(new));
        let mark = |value: &str| {
            let shown = report
                .comparison
                .hidden
                .clone()
                .conceal(&secret("a", value), true);
            shown["data"]["key"].as_str().expect("a mark").to_owned()
        };
        for text in [
            human(&report, Look::default()),
            semantic(&report, Look::default()),
            markdown(&report, DEFAULT_BUDGET),
            json(&report),
        ] {
            for value in ["old", "new"] {
                let is_context = |line: &&str| line.starts_with(' ') && line.trim_start().starts_with("key:");
                let mark = mark(value);
                assert!(text.contains(&mark), "{mark} of {value} in:\n{text}");
                assert!(
                    !text.lines().filter(is_context).any(|line| line.contains(&mark)),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn no_form_shows_the_value_of_a_secret() {
    let secret = |value: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tls", "namespace": "ns"},
               "data": {"tls.key": value, "same": "c2FtZQ=="}})
    };
    let old = [work("a", "w", &[secret("b2xk")])];
    let new = [
        work("a", "w", &[secret("bmV3")]),
        work("b", "w", &[secret("bmV3")]),
    ];
    let report = report(&old, &new);
    let look = Look {
        colour: true,
        width: Some(40),
    };
    for text in [
        human(&report, look),
        semantic(&report, Look::default()),
        markdown(&report, DEFAULT_BUDGET),
        json(&report),
    ] {
        assert!(text.contains("tls"), "{text}");
        for value in ["b2xk", "bmV3", "c2FtZQ=="] {
            assert!(!text.contains(value), "{value} in:\n{text}");
        }
    }
}

#[test]
fn effective_changes_come_from_whoever_knows_them_and_count_as_a_difference() {
    let comparison = compare(&Side::default(), &Side::default()).expect("nothing");
    let titles = Titles {
        old: "a".to_owned(),
        new: "b".to_owned(),
        command: String::new(),
        fleet: None,
    };
    let report = DiffReport {
        titles,
        effective_changes: vec![EffectiveChange {
            kind: "RateLimitPolicy".to_owned(),
            group: "kuadrant.io".to_owned(),
            path: vec!["gateway:gw".to_owned(), "httproute:r".to_owned()],
            label: "Gateway gw > HTTPRoute r".to_owned(),
            place: "HTTPRoute r of gw".to_owned(),
            paths: 1,
            presence: Presence::Both,
            clusters: Arc::new(vec!["eu-1".to_owned()]),
            is_lost: false,
            lost_settings: Vec::new(),
            old: Some(json!({"a": {"rate": 1}})),
            new: Some(json!({"a": {"rate": 2}})),
            old_policies: vec!["ratelimitpolicy.kuadrant.io:shop/x".to_owned()],
            new_policies: vec!["ratelimitpolicy.kuadrant.io:shop/y".to_owned()],
            settings: Arc::new(vec![SettingChange {
                setting: "a".to_owned(),
                old: Some(std::sync::Arc::new(json!({"rate": 1}))),
                new: Some(std::sync::Arc::new(json!({"rate": 2}))),
                old_from: Some("ratelimitpolicy.kuadrant.io:shop/x".into()),
                new_from: Some("ratelimitpolicy.kuadrant.io:shop/y".into()),
            }]),
        }],
        ..DiffReport::default()
    };
    let report = report.with(comparison, &[&Nowhere, &Nowhere]);
    assert!(!report.is_empty());
    for text in [
        human(&report, Look::default()),
        semantic(&report, Look::default()),
        markdown(&report, DEFAULT_BUDGET),
    ] {
        assert!(text.contains("a.rate: 1 -> 2"), "{text}");
        assert!(
            text.contains("RateLimitPolicy shop/y instead of shop/x on eu-1"),
            "{text}"
        );
        assert!(!text.contains("kuadrant.io:"), "{text}");
    }
}

#[test]
fn on_a_terminal_only_hunks_and_long_words_are_wider_than_it() {
    let name = |number: usize| format!("a-cluster-with-a-name-of-many-words-{}{number}", number * 7 % 10);
    let policy = |text: &str| {
        object(
            "Policy",
            "p",
            &json!({"text": text, "list": ["some", "more", "words"]}),
        )
    };
    let side = |from: usize, to: usize, text: &str| -> Vec<TreeFile> {
        (from..to)
            .map(|number| work(&name(number), "w", &[policy(text)]))
            .collect()
    };
    let report = report(
        &side(0, 7, "one and two and three"),
        &side(
            3,
            12,
            "one and two and four, and so many more that it is a long text",
        ),
    );
    let look = |width| Look { colour: false, width };
    let narrow = semantic(&report, look(Some(60)));
    for line in narrow.lines() {
        let words = line.split_whitespace().count();
        assert!(line.chars().count() <= 60 || words == 1, "{line}\n{narrow}");
    }
    // Nothing else is different.
    let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wide = semantic(&report, look(None));
    assert!(wide.lines().count() < narrow.lines().count());
    let mut words: Vec<String> = bare(&wide).split(' ').map(str::to_owned).collect();
    let mut wrapped: Vec<String> = bare(&narrow).split(' ').map(str::to_owned).collect();
    words.sort();
    wrapped.sort();
    assert_eq!(words, wrapped);
    let hunks = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| line.starts_with(['-', '+', '@']))
            .map(str::to_owned)
            .collect()
    };
    let unified = |width| hunks(&human(&report, look(width)));
    assert_eq!(unified(Some(30)), unified(None));
}

#[test]
fn text_of_the_input_is_no_markup_of_the_comment() {
    let evil = r"</summary><img src=x> @all | `x` [a](b) ~~s~~ $m$ \_ http://e www.e";
    let old = [work("a", "w", &[])];
    let new = [work(
        "a",
        "w",
        &[object("Policy", evil, &json!({"text": "````\n</details>\n"}))],
    )];
    let text = markdown(&report(&old, &new), DEFAULT_BUDGET);
    assert!(
        text.contains("&lt;/summary&gt;&lt;img src=x&gt; &#64;all"),
        "{text}"
    );
    assert!(
        text.contains("&#126;&#126;s&#126;&#126; &#36;m&#36; &#92;&#95; http&#58;//e www&#46;e"),
        "{text}"
    );
    assert!(text.contains("`````diff\n"), "{text}");
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// The work with a rule that leaves a Namespace on the cluster.
fn orphaning(mut file: TreeFile, name: &str) -> TreeFile {
    let rule = json!({"group": "", "resource": "namespaces", "namespace": "", "name": name});
    let option =
        json!({"propagationPolicy": "SelectivelyOrphan", "selectivelyOrphans": {"orphaningRules": [rule]}});
    file.text = file.text.replace(
        "spec:\n  workload:",
        &format!("spec:\n  deleteOption: {option}\n  workload:"),
    );
    assert!(file.text.contains("SelectivelyOrphan"), "{}", file.text);
    file
}

fn effects(report: &DiffReport) -> Vec<(String, Change, Effect, usize)> {
    let changes = report
        .comparison
        .changes
        .iter()
        .filter(|change| !change.object.is_work);
    changes
        .map(|change| {
            (
                change.object.to_string(),
                change.change,
                change.effect,
                change.clusters.len(),
            )
        })
        .collect()
}

#[test]
fn an_object_that_two_works_have_comes_once_and_goes_with_the_last() {
    let gateway = |name: &str| object("Gateway", name, &json!({}));
    let one = [work("a", "one", &[namespace("ns"), gateway("one")])];
    let two = [
        one[0].clone(),
        work("a", "two", &[namespace("ns"), gateway("two")]),
    ];
    // While another work has it, it neither comes nor goes; of a Namespace that is no news.
    let leaves = report(&two, &one);
    assert_eq!(
        effects(&leaves),
        [("Gateway ns/two".to_owned(), Change::Removed, Effect::Real, 1)]
    );
    assert_eq!(leaves.comparison.objects.removed, 1);
    let comes = report(&one, &two);
    assert_eq!(comes.comparison.objects.added, 1);
    // On a cluster that is new, it comes once.
    let new = report(&[], &two);
    assert_eq!(new.comparison.objects.added, 3);
    let gone = report(&two, &[]);
    assert_eq!(gone.comparison.objects.removed, 3);
    // It moves, and nothing is lost.
    let moves = report(
        &[work("a", "one", &[namespace("ns")])],
        &[work("a", "two", &[namespace("ns")])],
    );
    assert_eq!(
        (moves.comparison.objects.added, moves.comparison.objects.removed),
        (0, 0)
    );
    let text = markdown(&comes, DEFAULT_BUDGET);
    assert!(!text.contains("<code>Namespace ns</code> is"), "{text}");
}

#[test]
fn what_moves_from_one_work_to_another_is_one_change_with_its_fields() {
    let policy = |target: &str| object("AuthPolicy", "p", &json!({"targetRef": {"name": target}}));
    let gateways = |of_web: &[Value], of_edge: &[Value]| {
        let with = |name: &str, rest: &[Value]| [&[object("Gateway", name, &json!({}))], rest].concat();
        [
            work("a", "edge", &with("edge", of_edge)),
            work("a", "web", &with("web", of_web)),
        ]
    };
    let changed = report(
        &gateways(&[policy("web")], &[]),
        &gateways(&[], &[policy("edge")]),
    );
    assert_eq!(
        effects(&changed),
        [("AuthPolicy ns/p".to_owned(), Change::Changed, Effect::Real, 1)]
    );
    let moved = changed.comparison.changes.first().unwrap();
    assert_eq!(
        (moved.moved_from.as_deref(), moved.work.as_str()),
        (Some("web"), "edge")
    );
    let [old, new] = moved.both.as_ref().unwrap();
    assert_eq!(old["spec"]["targetRef"]["name"], "web");
    assert_eq!(new["spec"]["targetRef"]["name"], "edge");
    assert_eq!(changed.comparison.objects.changed, 1);
    // Where only the work is another one, nothing changes on the cluster.
    let same = report(&gateways(&[policy("web")], &[]), &gateways(&[], &[policy("web")]));
    assert_eq!(
        effects(&same),
        [(
            "AuthPolicy ns/p".to_owned(),
            Change::Changed,
            Effect::OtherWork,
            1
        )]
    );
}

#[test]
fn what_a_work_orphans_stays_and_is_not_removed() {
    let with = |name: &str| {
        orphaning(
            work("a", name, &[namespace("ns"), object("Gateway", name, &json!({}))]),
            "ns",
        )
    };
    let left = report(
        &[with("one")],
        &[work("a", "one", &[object("Gateway", "one", &json!({}))])],
    );
    assert_eq!(
        effects(&left),
        [("Namespace ns".to_owned(), Change::Removed, Effect::Orphaned, 1)]
    );
    assert_eq!(
        (left.comparison.objects.removed, left.comparison.orphaned),
        (0, 1)
    );
    let text = human(&left, Look::default());
    assert!(
        text.contains("Namespace ns is no longer managed, and stays on a\n"),
        "{text}"
    );
    assert!(!text.contains("is deleted"), "{text}");
    // Without a rule it goes, with all that is in it.
    let plain = |name: &str| work("a", name, &[namespace("ns"), object("Gateway", name, &json!({}))]);
    let gone = report(
        &[plain("one")],
        &[work("a", "one", &[object("Gateway", "one", &json!({}))])],
    );
    let text = human(&gone, Look::default());
    assert!(
        text.contains("Namespace ns is deleted on a, with all that is in it"),
        "{text}"
    );
    // Whoever owns it deletes it, whatever the other work leaves.
    let owned = report(&[with("one"), plain("two")], &[work("a", "x", &[])]);
    assert_eq!(owned.comparison.orphaned, 0);
    assert!(
        effects(&owned)
            .iter()
            .any(|(name, _, effect, _)| name == "Namespace ns" && *effect == Effect::Real)
    );
}

#[test]
fn a_cluster_like_others_is_a_line_and_nothing_is_folded_for_it() {
    let policy = |limit: u32| object("Policy", "p", &json!({"limit": limit}));
    let old = [work("eu-1", "w", &[policy(10)]), work("eu-2", "w", &[policy(10)])];
    let new = ["eu-1", "eu-2", "eu-3"].map(|cluster| work(cluster, "w", &[policy(25)]));
    let report = report(&old, &new);
    let text = markdown(&report, DEFAULT_BUDGET);
    assert!(
        text.contains(
            "- new cluster <code>eu-3</code> receives what <code>2 clusters: eu-1, eu-2</code> have\n"
        ),
        "{text}"
    );
    assert_eq!(text.matches("<details>").count(), 2, "{text}");
    assert!(
        text.contains("changes on 2 clusters: eu-1, eu-2 (<code>spec.limit: 10 -&gt; 25</code>)"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&json(&report)).expect("JSON");
    assert_eq!(
        json["newClusters"],
        json!([{"names": ["eu-3"], "like": ["eu-1", "eu-2"]}])
    );
}

#[test]
fn a_gateway_that_moves_is_lost_first_and_says_where_it_goes() {
    let gateway = json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
                         "metadata": {"name": "web", "namespace": "ns"}});
    let other = object("Policy", "p", &json!({}));
    let without = |cluster: &str| work(cluster, "other", &[]);
    let with = |cluster: &str| work(cluster, "w", &[gateway.clone(), other.clone()]);
    let old = [with("a"), without("a"), without("b")];
    let new = [without("a"), with("b"), without("b")];
    let text = human(&report(&old, &new), Look::default());
    assert!(
        text.contains("\nlost\n  Gateway ns/web leaves a, with 1 other object; it is added on b\n\nnew\n  Gateway ns/web is added on b"),
        "{text}"
    );
}

#[test]
fn a_title_is_part_of_the_first_line_and_cannot_end_it() {
    let mut report = report(&fleet(1, &json!({"limit": 1})), &fleet(1, &json!({"limit": 2})));
    let first = |report: &DiffReport| {
        let text = markdown(report, DEFAULT_BUDGET);
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(first(&report), "<!-- spokewright:diff -->");
    report.titles.fleet = Some("eu-west".to_owned());
    assert_eq!(first(&report), "<!-- spokewright:diff eu-west -->");
    report.titles.fleet = Some("--> <b>\n@all".to_owned());
    assert_eq!(
        first(&report),
        "<!-- spokewright:diff -%2D%3E%20%3Cb%3E%0A%40all -->"
    );
    // It is there however short the comment is.
    for budget in [0, 200, 300, 400] {
        let text = markdown(&report, budget);
        assert!(
            text.is_empty() || text.starts_with("<!-- spokewright:diff "),
            "{text}"
        );
    }
}

#[test]
fn what_goes_beyond_a_budget_is_counted_and_listed() {
    use crate::api::config::Budget;
    let report = report(&fleet(3, &json!({"limit": 1})), &fleet(1, &json!({"limit": 2})));
    let budget = Budget {
        max_removed: Some(1),
        max_clusters: Some(3),
        max_lost_policies: Some(0),
    };
    let found = exceeded(budget, &report, &[]);
    let [removed] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (removed.limit, removed.count, removed.most, removed.allowed),
        (Limit::Removed, 2, 1, false)
    );
    assert_eq!(removed.offenders, ["Policy ns/p on 2 clusters: eu-0002, eu-0003"]);
    assert!(exceeded(budget, &report, &[Limit::Removed])[0].allowed);
    assert!(
        exceeded(
            Budget {
                max_removed: Some(2),
                ..budget
            },
            &report,
            &[]
        )
        .is_empty()
    );
    let stricter = budget.and(Budget {
        max_removed: Some(9),
        max_clusters: Some(2),
        max_lost_policies: None,
    });
    assert_eq!(
        (
            stricter.max_removed,
            stricter.max_clusters,
            stricter.max_lost_policies
        ),
        (Some(1), Some(2), Some(0))
    );
}

fn manifests() -> impl Strategy<Value = Vec<Value>> {
    let one = (
        prop_oneof![Just("Gateway"), Just("Secret")],
        0_usize..3,
        0_i64..3,
        0_usize..40,
    )
        .prop_map(|(kind, name, number, lines)| {
            let text = format!("line {number} `\n").repeat(lines);
            object(
                kind,
                &format!("n{name}"),
                &json!({"number": number, "text": text}),
            )
        });
    prop::collection::vec(one, 0..4).prop_map(|mut all| {
        all.sort_by_key(|value| (value["kind"].to_string(), value["metadata"]["name"].to_string()));
        all.dedup_by_key(|value| (value["kind"].to_string(), value["metadata"]["name"].to_string()));
        all
    })
}

fn side() -> impl Strategy<Value = Vec<TreeFile>> {
    prop::collection::btree_map((0_usize..6, 0_usize..3), manifests(), 0..10).prop_map(|works| {
        works
            .iter()
            .map(|((cluster, name), manifests)| {
                work(&format!("c{cluster}"), &format!("work{name}"), manifests)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn equal_sides_differ_in_nothing(files in side()) {
        let report = report(&files, &files);
        prop_assert!(report.is_empty());
        prop_assert!(report.comparison.rows.is_empty());
    }

    #[test]
    fn swapped_sides_swap_added_and_removed(old in side(), new in side()) {
        let (there, back) = (report(&old, &new).comparison, report(&new, &old).comparison);
        prop_assert_eq!(there.objects.added, back.objects.removed);
        prop_assert_eq!(there.objects.removed, back.objects.added);
        prop_assert_eq!(there.objects.changed, back.objects.changed);
        prop_assert_eq!(there.works.added, back.works.removed);
        prop_assert_eq!(there.changed_clusters, back.changed_clusters);
        let reverse = |change: Change| match change {
            Change::Added => Change::Removed,
            Change::Changed => Change::Changed,
            Change::Removed => Change::Added,
        };
        // What moves there moves back.
        let works = |change: &ObjectChange| {
            let before = change.moved_from.as_ref().unwrap_or(&change.work);
            BTreeSet::from([before.clone(), change.work.clone()])
        };
        let mut forth: Vec<_> = there.changes.iter()
            .map(|change| (&change.object, works(change), change.change, &change.clusters)).collect();
        let mut reversed: Vec<_> = back.changes.iter()
            .map(|change| (&change.object, works(change), reverse(change.change), &change.clusters)).collect();
        forth.sort();
        reversed.sort();
        prop_assert_eq!(forth, reversed);
    }

    #[test]
    fn there_is_a_difference_exactly_where_texts_differ(old in side(), new in side()) {
        prop_assert_eq!(report(&old, &new).is_empty(), old == new);
    }

    /// A naive comparison, cluster by cluster, finds the same number of clusters.
    #[test]
    fn every_cluster_with_another_text_is_in_exactly_one_row(old in side(), new in side()) {
        let report = report(&old, &new).comparison;
        let texts = |files: &[TreeFile], cluster: &str| -> Vec<(String, String)> {
            files.iter().filter(|file| file.path.starts_with(&format!("{cluster}/")))
                .map(|file| (file.path.clone(), file.text.clone())).collect()
        };
        let expected: Vec<&Arc<str>> =
            report.clusters.iter().filter(|name| texts(&old, name) != texts(&new, name)).collect();
        let mut listed: Vec<&Arc<str>> = report.rows.iter().flat_map(|row| &row.names).collect();
        listed.sort_unstable();
        prop_assert_eq!(listed, expected);
    }

    #[test]
    fn markdown_never_exceeds_its_budget_and_is_cut_between_objects(
        old in side(), new in side(), budget in 0_usize..6000,
    ) {
        let report = report(&old, &new);
        let whole = markdown(&report, usize::MAX);
        let text = markdown(&report, budget);
        prop_assert!(text.len() <= budget, "{} > {}", text.len(), budget);
        let sections = |text: &str| -> Vec<String> {
            text.split("\n<details>").skip(1)
                .map(|rest| rest.split("\n</details>").next().unwrap_or_default().to_owned())
                .filter(|section| !section.contains("objects on each cluster")).collect()
        };
        let all = sections(&whole);
        // One for each change on a cluster that stays or comes alone, and one for each row of clusters that go.
        let told = summary::told_at_once(&report.comparison);
        let changes = report.comparison.changes.iter();
        let apart = changes.filter(|change| change.clusters.iter().any(|cluster| !told.contains(&**cluster)));
        let gone = report.comparison.rows.iter().filter(|row| row.presence == Presence::Leaves);
        prop_assert_eq!(all.len(), apart.count() + gone.count());
        let kept = sections(&text);
        for section in &kept {
            prop_assert!(all.contains(section), "cut inside an object:\n{}", section);
        }
        prop_assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        if kept.len() < all.len() && !text.is_empty() {
            let notice = format!("{} of {} details are left out", all.len() - kept.len(), all.len());
            prop_assert!(text.contains(&notice), "{}", text);
            prop_assert!(text.contains("spokewright diff --base before"), "{}", text);
        }
    }
}
