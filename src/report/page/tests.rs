//! The limits of a page, text that stays text, and messages that stay short.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zlib_rs::InflateConfig;

use super::document::{ClusterEntry, FleetPage, ObjectText};
use super::html::escape_markup;
use super::shorten;
use crate::api::condition::{Condition, ConditionMessage};
use crate::diagnostic::{Code, Finding, FindingEntry, Findings, Place, is_unseen};
use crate::source::Sources;

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

fn empty() -> FleetPage<'static> {
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
    page.texts.push(text(noise(5_200_000)));
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

fn text(text: String) -> ObjectText {
    ObjectText {
        path: "a.yaml".to_owned(),
        line: 1,
        text,
    }
}

fn cluster(name: String) -> ClusterEntry {
    ClusterEntry {
        name,
        labels: BTreeMap::new(),
        taints: None,
        place: None,
    }
}

#[test]
fn whatever_is_on_it_a_page_is_never_larger_than_its_limit() {
    let mut page = empty();
    page.clusters.push(cluster(noise(5_200_000)));
    assert!(page.html().len() < 5_000_000);
    let last = page.left_out.last().unwrap();
    assert!(last.starts_with("the fleet and all findings"), "{last}");
    // A browser reads it before it is compressed.
    let mut page = empty();
    page.clusters.push(cluster("x".repeat(51_000_000)));
    assert!(page.html().len() < 5_000_000);
    let last = page.left_out.last().unwrap();
    assert!(last.starts_with("the fleet and all findings"), "{last}");
    // Errors are the last that go.
    let (sources, noise) = (Sources::default(), noise(5_200_000));
    let (messages, locate) = (noise.as_bytes().chunks(1000), sources.root_relative());
    let mut findings = Findings::new();
    for message in messages {
        let message = std::str::from_utf8(message).unwrap();
        findings.push(Finding::new(Code::DIFF_OVER_BUDGET, Place::Run, message));
    }
    let entries = findings.iter().map(|finding| FindingEntry::new(finding, &locate));
    let mut page = empty();
    page.findings = entries.collect();
    let [warnings @ .., last] = page.findings.as_mut_slice() else {
        panic!("no finding");
    };
    for finding in warnings {
        finding.severity = "warning";
    }
    (last.severity, last.code) = ("error", "last");
    assert!(page.html().len() < 5_000_000);
    assert_eq!((page.findings.len(), page.findings[0].code), (200, "last"));
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

#[test]
fn a_condition_has_ten_messages_at_most_and_says_how_many_there_are() {
    let shortened = |distinct: usize| {
        let messages = (0..500).map(|number| {
            let message = format!("m{}", number % distinct);
            (format!("c{number:03}").into(), message.into())
        });
        let mut condition = Condition {
            kind: "Accepted".to_owned(),
            status: "False",
            reason: "NotTrueOnAllClusters".to_owned(),
            message: ConditionMessage::OfClusters(messages.collect()),
        };
        shorten(&mut condition);
        condition.message.to_string()
    };
    assert_eq!(
        shortened(1),
        "on c000, c001, c002, c003, c004, c005, c006, c007, c008, c009 and 490 more: m0"
    );
    assert_eq!(shortened(10).matches(": m").count(), 10);
    let twelve = shortened(12);
    assert!(twelve.ends_with(": m9; and 2 more messages"), "{twelve}");
}
