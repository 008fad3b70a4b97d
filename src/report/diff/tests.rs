//! Whole comparisons: rules that hold for any two sides.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::diagnostic::{Locate, Place, Span};
use crate::output::TreeFile;

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
    };
    DiffReport::new(titles, comparison, Vec::new())
}

fn both() -> BothSides<'static> {
    BothSides::new(&Nowhere, 0, &Nowhere)
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
    let text = markdown(&report, &both(), DEFAULT_BUDGET);
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
    let mut findings = Vec::new();
    crate::diagnostic::Format::Github
        .write(&annotations(&report, &both(), usize::MAX), &both(), &mut findings)
        .expect("a Vec");
    let look = Look {
        colour: true,
        width: Some(40),
    };
    for text in [
        human(&report, &both(), look),
        semantic(&report, &both(), Look::default()),
        markdown(&report, &both(), DEFAULT_BUDGET),
        json(&report, &both()),
        String::from_utf8(findings).expect("UTF-8"),
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
    };
    let report = DiffReport::new(
        titles,
        comparison,
        vec![EffectiveChange {
            kind: "RateLimitPolicy".to_owned(),
            group: "kuadrant.io".to_owned(),
            path: vec!["gateway:gw".to_owned(), "httproute:r".to_owned()],
            label: "Gateway gw > HTTPRoute r".to_owned(),
            clusters: Arc::new(vec!["eu-1".to_owned()]),
            old: Some(json!({"a": {"rate": 1}})),
            new: Some(json!({"a": {"rate": 2}})),
            old_policies: vec!["ratelimitpolicy.kuadrant.io:shop/x".to_owned()],
            new_policies: vec!["ratelimitpolicy.kuadrant.io:shop/y".to_owned()],
            old_names: vec!["shop/x".to_owned()],
            new_names: vec!["shop/y".to_owned()],
            settings: Arc::new(vec![SettingChange {
                setting: "a".to_owned(),
                old: Some(Arc::new(json!({"rate": 1}))),
                new: Some(Arc::new(json!({"rate": 2}))),
                old_from: Some("shop/x".to_owned()),
                new_from: Some("shop/y".to_owned()),
            }]),
        }],
    );
    assert!(!report.is_empty());
    for text in [
        human(&report, &both(), Look::default()),
        semantic(&report, &both(), Look::default()),
        markdown(&report, &both(), DEFAULT_BUDGET),
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
    let narrow = semantic(&report, &both(), look(Some(60)));
    for line in narrow.lines() {
        let words = line.split_whitespace().count();
        assert!(line.chars().count() <= 60 || words == 1, "{line}\n{narrow}");
    }
    // Nothing else is different.
    let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wide = semantic(&report, &both(), look(None));
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
    let unified = |width| hunks(&human(&report, &both(), look(width)));
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
    let text = markdown(&report(&old, &new), &both(), DEFAULT_BUDGET);
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
        let mut forth: Vec<_> = there.changes.iter()
            .map(|change| (&change.object, &change.work, change.change, &change.clusters)).collect();
        let mut reversed: Vec<_> = back.changes.iter()
            .map(|change| (&change.object, &change.work, reverse(change.change), &change.clusters)).collect();
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
        let expected: Vec<&String> =
            report.clusters.iter().filter(|name| texts(&old, name) != texts(&new, name)).collect();
        let mut listed: Vec<u32> = report.rows.iter().flat_map(|row| row.clusters.clone()).collect();
        listed.sort_unstable();
        let listed: Vec<&String> =
            listed.iter().map(|position| &report.clusters[*position as usize]).collect();
        prop_assert_eq!(listed, expected);
    }

    #[test]
    fn markdown_never_exceeds_its_budget_and_is_cut_between_objects(
        old in side(), new in side(), budget in 0_usize..6000,
    ) {
        let report = report(&old, &new);
        let whole = markdown(&report, &both(), usize::MAX);
        let text = markdown(&report, &both(), budget);
        prop_assert!(text.len() <= budget, "{} > {}", text.len(), budget);
        let sections = |text: &str| -> Vec<String> {
            text.split("\n<details>").skip(1)
                .map(|rest| rest.split("\n</details>").next().unwrap_or_default().to_owned()).collect()
        };
        let all = sections(&whole);
        prop_assert_eq!(all.len(), report.comparison.changes.len());
        let kept = sections(&text);
        for section in &kept {
            prop_assert!(all.contains(section), "cut inside an object:\n{}", section);
        }
        prop_assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        if kept.len() < all.len() && !text.is_empty() {
            let notice = format!("{} of {} changes are left out", all.len() - kept.len(), all.len());
            prop_assert!(text.contains(&notice), "{}", text);
            prop_assert!(text.contains("spokewright diff --base before"), "{}", text);
        }
    }
}
