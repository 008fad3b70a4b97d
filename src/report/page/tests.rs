//! Lists without repeats, sets of clusters, and text that stays text.

use kube_json::json;

use super::document::{FindingRow, FleetPage, Tables};
use super::html::{base64, escape_data, escape_markup};
use crate::diagnostic::{Locate, Place, Span, is_unseen};
use crate::outcome::inventory::Interned;

/// No texts.
struct Nowhere;

impl Locate for Nowhere {
    fn locate(&self, _: &Place) -> Option<Span<'_>> {
        None
    }
}

#[test]
fn what_is_said_twice_is_kept_once() {
    let mut list: Interned<&str, &str> = Interned::default();
    assert_eq!(
        [
            list.position("a", || "a"),
            list.position("b", || "b"),
            list.position("a", || "c")
        ],
        [0, 1, 0]
    );
    assert_eq!(list.list, ["a", "b"]);
}

#[test]
fn a_set_of_clusters_is_its_runs_whatever_their_order() {
    let names = ["ap-1", "eu-1", "eu-2", "eu-3", "us-1"];
    let mut tables = Tables::new(&Nowhere, &names);
    let set = tables.set(["eu-3", "us-1", "eu-1", "ap-1", "eu-1"]);
    assert_eq!(tables.members(set).collect::<Vec<_>>(), [0, 1, 3, 4]);
    assert_eq!(tables.set(["ap-1", "eu-1", "eu-3", "us-1"]), set);
    let none = tables.set(["nowhere"]);
    assert_eq!(tables.members(none).count(), 0);
    let (_, sets, _) = tables.into_lists();
    assert_eq!(sets, [vec![0, 1, 3, 4], vec![]]);
}

#[test]
fn equal_values_are_one() {
    let mut tables = Tables::new(&Nowhere, &[]);
    assert_eq!(
        tables.value(&json!({"a": 1, "b": 2})),
        tables.value(&json!({"b": 2, "a": 1}))
    );
    assert_ne!(tables.value(&json!("1")), tables.value(&json!(1)));
    assert_eq!(tables.value_or_none(None), -1);
}

#[test]
fn text_in_markup_and_data_in_a_script_stay_what_they_are() {
    let mut markup = String::new();
    escape_markup("<b a=\"x\" c='y'>&\u{202e}\n", &mut markup);
    assert_eq!(
        markup,
        "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;&lt;U+202E&gt;\n"
    );
    let mut data = String::new();
    let value = json!("</script><!-- & \u{2028}\u{2029} {{DATA}}");
    escape_data(&value.to_string(), &mut data);
    assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{data}");
    assert_eq!(serde_json::from_str::<kube_json::Value>(&data).unwrap(), value);
}

#[test]
fn no_character_that_nobody_sees_is_in_markup_or_in_data() {
    let all: String = ('\0'..=char::MAX).collect();
    let mut markup = String::new();
    escape_markup(&all, &mut markup);
    assert!(!markup.contains(|character| is_unseen(character) && !matches!(character, '\t' | '\n')));
    let (value, mut data) = (json!(all), String::new());
    escape_data(&value.to_string(), &mut data);
    assert!(!data.contains(is_unseen));
    assert_eq!(serde_json::from_str::<kube_json::Value>(&data).unwrap(), value);
}

/// The examples of RFC 4648.
#[test]
fn base64_is_that_of_the_rfc() {
    for (text, expected) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
    ] {
        assert_eq!(base64(text.as_bytes()), expected);
    }
}

fn empty() -> FleetPage {
    FleetPage {
        api_version: "v",
        kind: "FleetPage",
        title: "<t>".to_owned(),
        ..FleetPage::default()
    }
}

#[test]
fn a_page_that_would_be_too_large_leaves_out_texts_and_says_so() {
    let mut page = empty();
    page.texts.push((0, vec![(1, "x".repeat(6_000_000))]));
    let html = page.html();
    assert!(html.len() < 1_000_000, "{}", html.len());
    let without = "what would change without each policy (`spokewright explain KIND/NAMESPACE/NAME`)";
    assert_eq!(page.left_out, [without, "texts of objects"]);
    assert!(html.contains(&format!("\"leftOut\":[\"{without}\",\"texts of objects\"]")));
    let (lead, _) = html.split_once("<script").unwrap();
    assert!(lead.contains(&format!(
        "Left out, to keep the page small: {without}; texts of objects."
    )));
}

fn finding(severity: &'static str, message: String) -> FindingRow {
    FindingRow {
        code: "c",
        severity,
        message,
        at: None,
        help: None,
    }
}

#[test]
fn whatever_is_on_it_a_page_is_never_larger_than_its_limit() {
    let mut page = empty();
    page.files = vec!["x".repeat(1000); 10_000];
    assert!(page.html().len() < 5_000_000);
    let last = page.left_out.last().unwrap();
    assert!(last.starts_with("the fleet and all findings"), "{last}");
    // What is escaped is longer than it was.
    let mut page = empty();
    page.findings.push(finding("warning", "<".repeat(3_000_000)));
    assert!(page.html().len() < 5_000_000);
    // Errors are the last that go.
    let mut page = empty();
    page.findings = vec![finding("warning", "x".repeat(1000)); 6000];
    page.findings.push(finding("error", "last".to_owned()));
    assert!(page.html().len() < 5_000_000);
    assert_eq!(
        (page.findings.len(), page.findings[0].message.as_str()),
        (200, "last")
    );
}

#[test]
fn a_page_holds_its_pieces_in_their_places() {
    let html = empty().html();
    assert!(html.starts_with(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv="
    ));
    assert!(html.contains("<title>&lt;t&gt;</title>") && html.contains("<h1>&lt;t&gt;</h1>"));
    assert!(!html.contains("<!--"), "every marker became something");
    assert!(html.ends_with("</script>\n</body>\n</html>\n"));
}
