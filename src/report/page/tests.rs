//! Lists without repeats, sets of clusters, and text that stays text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube_json::json;
use zlib_rs::InflateConfig;

use super::document::{FindingRow, FleetPage, Tables};
use super::html::escape_markup;
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
fn text_in_markup_stays_what_it_is() {
    let mut markup = String::new();
    escape_markup("<b a=\"x\" c='y'>&\u{202e}\n", &mut markup);
    assert_eq!(
        markup,
        "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;&lt;U+202E&gt;\n"
    );
}

#[test]
fn no_character_that_nobody_sees_is_in_markup() {
    let all: String = ('\0'..=char::MAX).collect();
    let mut markup = String::new();
    escape_markup(&all, &mut markup);
    assert!(!markup.contains(|character| is_unseen(character) && !matches!(character, '\t' | '\n')));
}

/// The JSON in a page.
fn data_of(html: &str) -> String {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    let packed = STANDARD.decode(data).unwrap();
    let mut room = vec![0; 10_000_000];
    let (json, _) = zlib_rs::decompress_slice(&mut room, &packed, InflateConfig::default());
    String::from_utf8(json.to_vec()).unwrap()
}

/// A text that nothing makes shorter than two thirds.
fn noise(length: usize) -> String {
    let mut state = 1_u64;
    let character = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b' ' + u8::try_from(state >> 58).unwrap())
    };
    (0..length).map(character).collect()
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
    page.texts.push((0, vec![(1, noise(6_000_000))]));
    let html = page.html();
    assert!(html.len() < 1_000_000, "{}", html.len());
    let without = "what would change without each policy (`spokewright explain KIND/NAMESPACE/NAME`)";
    assert_eq!(page.left_out, [without, "texts of objects"]);
    assert!(data_of(&html).contains(&format!("\"leftOut\":[\"{without}\",\"texts of objects\"]")));
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
    page.files = vec![noise(7_000_000)];
    assert!(page.html().len() < 5_000_000);
    let last = page.left_out.last().unwrap();
    assert!(last.starts_with("the fleet and all findings"), "{last}");
    // A browser reads it before it is compressed.
    let mut page = empty();
    page.files = vec!["x".repeat(101_000_000)];
    assert!(page.html().len() < 5_000_000);
    let last = page.left_out.last().unwrap();
    assert!(last.starts_with("the fleet and all findings"), "{last}");
    // Errors are the last that go.
    let mut page = empty();
    page.findings = vec![finding("warning", noise(100_000)); 1100];
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
