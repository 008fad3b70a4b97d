//! The file around the data: markup, a summary for readers without scripts, style, and script, and the protection that
//! keeps text of the input from becoming any of them: the content security policy with the hashes of the style and the
//! script that it allows, and the replacements for characters that would end a text, or that are invisible.
//!
//! The pieces are written one after the other. Nothing is ever replaced in a text that already contains text of the
//! input.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::io::{self, BufWriter};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use zlib_rs::{Deflate, DeflateFlush, Status};

use super::document::FleetPage;
use crate::diagnostic::{counted, is_unseen};
use crate::outcome::RuleState;
use crate::report::placement::PlacementOnPage;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How a marker of the page begins, and how it ends.
const MARKER: (&str, &str) = ("<!--", "-->");

/// The largest page that is made; beyond it, what can be done without is left out.
const MOST_BYTES: usize = 5_000_000;

/// The most bytes of the page's data, before compression.
const MOST_OF_JSON: usize = 50_000_000;

/// What can be left out.
type Part = (&'static str, fn(&mut FleetPage<'_>));

/// What is done without, in this order, as people are told; most name the command that shows it.
const PARTS: [Part; 8] = [
    (WITHOUT_POLICIES, |page| page.if_deleted.clear()),
    ("texts of objects", |page| page.texts.clear()),
    ("the objects of each work (`spokewright render`)", |page| {
        page.works.values_mut().for_each(|work| work.objects.clear());
    }),
    (WAYS_OF_PLACEMENTS, |page| {
        page.placements.iter_mut().for_each(PlacementOnPage::forget_steps);
    }),
    ("all but 200 findings (`spokewright check`)", |page| {
        page.findings.sort_by_key(|finding| finding.severity != "error");
        page.findings.truncate(200);
    }),
    (
        "all but 20 violations of each rule (`spokewright check`)",
        |page| {
            page.rules
                .iter_mut()
                .for_each(|rule| rule.violations.truncate(20));
        },
    ),
    ("texts of policies", |page| page.policy_texts.clear()),
    (FLEET, |page| {
        *page = FleetPage {
            api_version: page.api_version,
            kind: page.kind,
            title: std::mem::take(&mut page.title),
            source_url: page.source_url.take(),
            left_out: std::mem::take(&mut page.left_out),
            ..FleetPage::default()
        };
    }),
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

/// Style or script as it is sent: without the indentation, which is for readers of the source, and is a fifth of it.
fn flush_left(text: &str) -> String {
    let mut flush = String::from("\n");
    for line in text.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
        flush.push_str(line);
        flush.push('\n');
    }
    flush
}

impl FleetPage<'_> {
    /// The page, as a file that needs nothing else.
    pub fn html(&mut self) -> String {
        let [style, script] = [STYLE, SCRIPT].map(flush_left);
        // The page contains its title twice, and once what was left out. Nothing else besides the data grows with the input.
        let rest = [style.len(), script.len(), PAGE.len(), 20_000];
        let data = self.small_enough(MOST_BYTES.saturating_sub(rest.iter().sum()));
        let mut page = String::with_capacity(data.len().saturating_add(script.len()).saturating_mul(2));
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once(MARKER.0) {
            let (marker, after) = after.split_once(MARKER.1).unwrap_or((after, ""));
            page.push_str(before);
            match marker {
                "policy" => page.push_str(&policy(&style, &script)),
                "title" => escape_markup(&self.title, &mut page),
                "style" => page.push_str(&style),
                "summary" => page.push_str(&summary(self)),
                "data" => page.push_str(&data),
                "script" => page.push_str(&script),
                _ => {}
            }
            rest = after;
        }
        page.push_str(rest);
        page
    }

    /// The data inside its element, at most so many bytes; what is left out for that is said.
    fn small_enough(&mut self, most: usize) -> String {
        let mut parts = PARTS.iter();
        loop {
            let data = self.packed().filter(|data| data.len() <= most);
            match (data, parts.next()) {
                (Some(data), _) => return data,
                (None, Some((part, leave_out))) => {
                    leave_out(self);
                    if !self.left_out.iter().any(|known| known == part) {
                        self.left_out.push((*part).to_owned());
                    }
                }
                (None, None) => return String::new(),
            }
        }
    }

    /// The data as JSON, compressed, in base64: a tenth of its size, and nothing of it can be markup. `None` if it is more
    /// than a browser reads at once.
    fn packed(&self) -> Option<String> {
        let mut json = BufWriter::new(Packed {
            deflate: Deflate::new(6, true, 15),
            bytes: Vec::new(),
            room: MOST_OF_JSON,
        });
        serde_json::to_writer(&mut json, self).ok()?;
        let mut packed = json.into_inner().ok()?;
        packed.add(&[], DeflateFlush::Finish).ok()?;
        Some(STANDARD.encode(packed.bytes))
    }
}

/// Compresses what is written, so that the whole is nowhere in memory, and refuses more than there is room for.
struct Packed {
    deflate: Deflate,
    bytes: Vec<u8>,
    room: usize,
}

impl Packed {
    fn add(&mut self, mut input: &[u8], flush: DeflateFlush) -> io::Result<()> {
        let mut output = [0; 1 << 14];
        loop {
            let (read, written) = (self.deflate.total_in(), self.deflate.total_out());
            let status = self.deflate.compress(input, &mut output, flush);
            let status = status.map_err(|error| io::Error::other(error.as_str()))?;
            let since =
                |total: u64, before: u64| usize::try_from(total.saturating_sub(before)).unwrap_or_default();
            let read = since(self.deflate.total_in(), read);
            let written = since(self.deflate.total_out(), written);
            self.bytes.extend(output.iter().take(written));
            input = input.get(read..).unwrap_or_default();
            if status == Status::StreamEnd || (input.is_empty() && written < output.len()) {
                return Ok(());
            }
        }
    }
}

impl io::Write for Packed {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        let room = self.room.checked_sub(input.len());
        self.room = room.ok_or(io::ErrorKind::FileTooLarge)?;
        self.add(input, DeflateFlush::NoFlush)?;
        Ok(input.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
pub(super) fn summary(page: &FleetPage<'_>) -> String {
    let escaped = |text: &str| {
        let mut markup = String::new();
        escape_markup(text, &mut markup);
        markup
    };
    let counts = [
        counted(page.clusters.len(), "cluster"),
        counted(page.fleet.gateways.len(), "Gateway"),
        counted(page.fleet.routes.len(), "route"),
        counted(page.policies.len(), "policy"),
    ];
    let (title, counts) = (escaped(&page.title), escaped(&counts.join(", ")));
    let mut markup = format!("<h1>{title}</h1>\n<p class=\"lead\">{counts}</p>\n");
    if !page.left_out.is_empty() {
        let parts = escaped(&page.left_out.join("; "));
        let note = format!("<p class=\"note\">Left out, to keep the page small: {parts}.</p>\n");
        markup.push_str(&note);
    }
    let lines = worth_a_look(page);
    if !lines.is_empty() {
        let items = lines.iter().map(|line| format!("<li>{}</li>\n", escaped(line)));
        markup.push_str(&format!("<ul>\n{}</ul>", items.collect::<String>()));
    }
    markup
}

fn worth_a_look(page: &FleetPage<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let fleet = &page.fleet;
    if let Some(change) = &page.change {
        let routes: HashSet<&str> = fleet.routes.iter().map(|route| &*route.route).collect();
        let changes = change.report.effective_changes.iter();
        let lost = changes.filter(|change| !change.old_policies.is_empty() && change.new_policies.is_empty());
        let lost = lost.flat_map(|change| change.path.iter().map(String::as_str));
        let lost: HashSet<&str> = lost.filter(|locator| routes.contains(locator)).collect();
        let (summary, base) = (&change.report.summary, &change.report.titles.old);
        let changed = summary.changed_clusters;
        let clusters = counted(summary.clusters.max(changed), "cluster");
        lines.push(format!("{changed} of {clusters} change, compared with {base}"));
        if !lost.is_empty() {
            lines.push(format!("routes that lose a policy: {}", lost.len()));
        }
    }
    for covered in &page.coverage {
        let (kind, routes) = (&covered.kind, covered.routes);
        if covered.gaps > 0 && covered.expected {
            lines.push(format!("routes without {kind}: {} of {routes}", covered.gaps));
        }
        if covered.open > 0 {
            let open = covered.open;
            lines.push(format!(
                "routes that {kind} opens to everybody: {open} of {routes}"
            ));
        }
    }
    let exceptions = fleet.exceptions.iter();
    let differing: BTreeSet<&String> = exceptions
        .flat_map(|exception| exception.clusters.iter())
        .collect();
    let routes = fleet.routes.iter();
    let loose = routes.filter(|route| route.attached.is_empty()).count();
    let violated = page.rules.iter().filter(|rule| rule.state == RuleState::Violated);
    let counts = [
        ("FleetRules that are violated", violated.count()),
        ("clusters where another setting applies", differing.len()),
        ("policies that are in effect nowhere", idle(page)),
        ("routes that are attached to no Gateway", loose),
    ];
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    lines.extend(counts.map(|(what, count)| format!("{what}: {count}")));
    lines.extend(["error", "warning"].into_iter().filter_map(|severity| {
        let findings = page.findings.iter();
        let count = findings.filter(|finding| finding.severity == severity).count();
        (count > 0).then(|| counted(count, severity))
    }));
    lines
}

/// How many policies no outcome has a setting of.
fn idle(page: &FleetPage<'_>) -> usize {
    let outcomes = page.fleet.outcomes.iter();
    let settings = outcomes.flat_map(|outcome| &outcome.settings);
    let holding: HashSet<&str> = settings.map(|setting| &*setting.policy).collect();
    let policies = page.policies.iter();
    policies
        .filter(|entry| !holding.contains(entry.policy.as_str()))
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
