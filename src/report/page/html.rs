//! The file around the data: markup, a summary for readers without scripts, style, and script, and the protection that
//! keeps text of the input from becoming any of them: the content security policy with the hashes of the style and the
//! script that it allows, and the replacements for characters that would end a text, or that are invisible.
//!
//! The pieces are written one after the other. Nothing is ever replaced in a text that already contains text of the
//! input.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::document::{FleetPage, Position, Profiled, RouteRow, entry, members};
use crate::diagnostic::{counted, is_unseen};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How a marker of the page begins, and how it ends.
const MARKER: (&str, &str) = ("<!--", "-->");

/// The largest page that is made; beyond it, what can be done without is left out.
const MOST_BYTES: usize = 5_000_000;

/// The same of its data, before it is compressed.
const MOST_OF_JSON: usize = 100_000_000;

/// What is done without, in this order; most name the command that shows it.
const PARTS: [&str; 7] = [
    WITHOUT_POLICIES,
    TEXTS,
    OBJECTS_OF_WORKS,
    WAYS_OF_PLACEMENTS,
    MOST_FINDINGS,
    TEXTS_OF_POLICIES,
    FLEET,
];

/// What would change without each policy.
pub(super) const WITHOUT_POLICIES: &str =
    "what would change without each policy (`spokewright explain KIND/NAMESPACE/NAME`)";

/// The steps to the decisions of a Placement.
pub(super) const WAYS_OF_PLACEMENTS: &str =
    "how each Placement came to its clusters (`spokewright placement --why CLUSTER`)";

/// Everything.
pub(super) const FLEET: &str =
    "the fleet and all findings (`spokewright check`, `spokewright page --clusters CLUSTER`)";

const TEXTS: &str = "texts of objects";
const TEXTS_OF_POLICIES: &str = "texts of policies";
const OBJECTS_OF_WORKS: &str = "the objects of each work (`spokewright render`)";
const MOST_FINDINGS: &str = "all but 200 findings (`spokewright check`)";

/// Style and script as they are sent: without the indentation, which is for readers of the source, and is a fifth of
/// them.
static PIECES: LazyLock<[String; 2]> = LazyLock::new(|| [STYLE, SCRIPT].map(flush_left));

fn flush_left(text: &str) -> String {
    let mut flush = String::from("\n");
    for line in text.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
        flush.push_str(line);
        flush.push('\n');
    }
    flush
}

impl FleetPage {
    /// The page, as a file that needs nothing else.
    pub fn html(&mut self) -> String {
        let data = self.small_enough();
        let [style, script] = &*PIECES;
        let mut page = String::with_capacity(data.len().saturating_add(script.len()).saturating_mul(2));
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once(MARKER.0) {
            let (marker, after) = after.split_once(MARKER.1).unwrap_or((after, ""));
            page.push_str(before);
            match marker {
                "policy" => page.push_str(&policy(style, script)),
                "title" => escape_markup(&self.title, &mut page),
                "style" => page.push_str(style),
                "summary" => page.push_str(&summary(self)),
                "data" => page.push_str(&data),
                "script" => page.push_str(script),
                _ => {}
            }
            rest = after;
        }
        page.push_str(rest);
        page
    }

    /// The data inside its element; of what would be too large, as much as fits, and what is left out is said.
    fn small_enough(&mut self) -> String {
        let [style, script] = &*PIECES;
        // A title is said twice, and what is left out once; nothing else of the rest grows.
        let rest = [style.len(), script.len(), PAGE.len(), 20_000];
        let most = MOST_BYTES.saturating_sub(rest.iter().sum());
        let mut parts = PARTS.iter();
        loop {
            let data = self.packed().filter(|data| data.len() <= most);
            match (data, parts.next()) {
                (Some(data), _) => return data,
                (None, Some(part)) => self.leave_out(part),
                (None, None) => return String::new(),
            }
        }
    }

    /// The data as JSON, compressed, in base64: a tenth of its size, and nothing of it can be markup. `None` if it is more
    /// than a browser reads at once.
    fn packed(&self) -> Option<String> {
        let mut room = vec![0; MOST_OF_JSON];
        // What does not fit is an error.
        let mut after = room.as_mut_slice();
        serde_json::to_writer(&mut after, self).ok()?;
        let written = MOST_OF_JSON.saturating_sub(after.len());
        let json = room.get(..written)?;
        let mut packed = vec![0; zlib_rs::compress_bound(json.len())];
        let (packed, _) = zlib_rs::compress_slice(&mut packed, json, zlib_rs::DeflateConfig::default());
        Some(STANDARD.encode(packed))
    }

    fn leave_out(&mut self, part: &str) {
        let Self {
            policies,
            gateways,
            placements,
            ..
        } = self;
        match part {
            WITHOUT_POLICIES => policies.iter_mut().for_each(|row| row.if_deleted = None),
            TEXTS => self.texts.clear(),
            TEXTS_OF_POLICIES => policies.iter_mut().for_each(|row| row.text.clear()),
            OBJECTS_OF_WORKS => gateways.iter_mut().for_each(|row| row.objects.clear()),
            WAYS_OF_PLACEMENTS => placements.iter_mut().for_each(|row| row.stages.clear()),
            MOST_FINDINGS => {
                self.findings.sort_by_key(|finding| finding.severity != "error");
                self.findings.truncate(200);
            }
            _ => {
                *self = Self {
                    api_version: self.api_version,
                    kind: self.kind,
                    title: std::mem::take(&mut self.title),
                    source_url: self.source_url.take(),
                    left_out: std::mem::take(&mut self.left_out),
                    ..Self::default()
                };
            }
        }
        if !self.left_out.iter().any(|known| known == part) {
            self.left_out.push(part.to_owned());
        }
    }
}

/// What the page may do: run this script, use this style, and nothing else. A file has no headers, so the policy is in
/// the markup.
fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src 'none'; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script),
        hash(style)
    )
}

/// The static part of the page. The script puts its own in the place of it.
pub(super) fn summary(page: &FleetPage) -> String {
    let mut markup = String::from("<h1>");
    escape_markup(&page.title, &mut markup);
    markup.push_str("</h1>\n<p class=\"lead\">");
    let counts = [
        counted(page.clusters.len(), "cluster"),
        counted(page.gateways.len(), "Gateway"),
        counted(page.routes.len(), "route"),
        counted(page.policies.len(), "policy"),
    ];
    escape_markup(&counts.join(", "), &mut markup);
    markup.push_str("</p>\n");
    if !page.left_out.is_empty() {
        markup.push_str("<p class=\"note\">Left out, to keep the page small: ");
        escape_markup(&page.left_out.join("; "), &mut markup);
        markup.push_str(".</p>\n");
    }
    let lines = worth_a_look(page);
    if !lines.is_empty() {
        markup.push_str("<ul>\n");
        for line in lines {
            markup.push_str("<li>");
            escape_markup(&line, &mut markup);
            markup.push_str("</li>\n");
        }
        markup.push_str("</ul>");
    }
    markup
}

fn worth_a_look(page: &FleetPage) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(change) = &page.change {
        let lost = change.effective.iter().filter(|row| row.old >= 0 && row.new < 0);
        let lost: BTreeSet<Position> = lost
            .flat_map(|row| row.places.iter().flat_map(|(_, spots)| spots))
            .filter_map(|spot| spot.get(2).copied().filter(|route| *route >= 0))
            .collect();
        let all = change.summary.clusters.max(change.summary.changed_clusters);
        lines.push(format!(
            "{} of {} change, compared with {}",
            change.summary.changed_clusters,
            counted(all, "cluster"),
            change.old
        ));
        if !lost.is_empty() {
            lines.push(format!("routes that lose a policy: {}", lost.len()));
        }
    }
    let attached: Vec<&RouteRow> = page.routes.iter().filter(|route| !route.on.is_empty()).collect();
    for (column, kind) in page.rule_kinds.iter().enumerate() {
        let covered = attached
            .iter()
            .filter(|route| is_covered(page, route, column))
            .count();
        let gap = attached.len().saturating_sub(covered);
        // A gap is where most have one.
        if gap > 0 && covered >= gap {
            let name = page.kinds.get(*kind).map_or("", |kind| kind.kind.as_str());
            lines.push(format!("routes without {name}: {gap} of {}", attached.len()));
        }
    }
    let differing: BTreeSet<usize> = page
        .exceptions
        .iter()
        .filter_map(|exception| page.sets.get(exception.clusters))
        .flat_map(|ranges| members(ranges))
        .collect();
    if !differing.is_empty() {
        lines.push(format!(
            "clusters where another setting applies: {}",
            differing.len()
        ));
    }
    let idle = idle(page);
    if idle > 0 {
        lines.push(format!("policies that are in effect nowhere: {idle}"));
    }
    let loose = page.routes.len().saturating_sub(attached.len());
    if loose > 0 {
        lines.push(format!("routes that are attached to no Gateway: {loose}"));
    }
    for severity in ["error", "warning"] {
        let count = page
            .findings
            .iter()
            .filter(|finding| finding.severity == severity);
        let count = count.count();
        if count > 0 {
            lines.push(counted(count, severity));
        }
    }
    lines
}

/// Whether a policy of a column applies to every rule of a route, below every listener, and does not let everybody in.
fn is_covered(page: &FleetPage, route: &RouteRow, column: usize) -> bool {
    let holds = |profile: &usize| {
        let profile = page.profiles.get(*profile);
        let outcome = profile.and_then(|profile| profile.get(column));
        let outcome = outcome.and_then(|outcome| entry(&page.outcomes, *outcome));
        outcome.is_some_and(|outcome| !outcome.open && !outcome.set.is_empty())
    };
    route.on.iter().all(|on| match &on.2 {
        Profiled::All(profile) => holds(profile),
        Profiled::Each(profiles) => profiles.iter().all(holds),
    })
}

/// How many policies no outcome has a setting of.
fn idle(page: &FleetPage) -> usize {
    let holding: BTreeSet<usize> = page
        .outcomes
        .iter()
        .flat_map(|outcome| outcome.set.iter().map(|setting| setting.2))
        .collect();
    (0..page.policies.len())
        .filter(|number| !holding.contains(number))
        .count()
}

/// Text inside an element, or of an attribute in quotes.
pub(super) fn escape_markup(text: &str, page: &mut String) {
    for character in text.chars() {
        match character {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            // Characters that could hide or reverse the text next to them.
            other if is_unseen(other) && !matches!(other, '\t' | '\n') => {
                let _ = write!(page, "&lt;U+{:04X}&gt;", u32::from(other));
            }
            other => page.push(other),
        }
    }
}
