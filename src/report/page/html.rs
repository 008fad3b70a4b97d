//! The file around the data: markup, style, and script, and the protection that keeps text of the input from becoming
//! any of them.
//!
//! Owns: the order of the pieces, and the content security policy with the hashes of the style and the script that it
//! allows.
//! Flows in: a [`FleetPage`]. Flows out: HTML. Must not know: what the data says.
//!
//! The pieces are written one after the other. Nothing is ever replaced in a text that already contains text of the
//! input.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::document::FleetPage;
use super::escaping::{escape_data, escape_markup};
use super::summary::summary;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How a marker of the page begins, and how it ends.
const MARKER: (&str, &str) = ("<!--", "-->");

/// The largest page that is made; beyond it, what can be done without is left out.
const MOST_BYTES: usize = 5_000_000;

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
        // A title is said three times, and what is left out twice; nothing else of the rest grows.
        let rest = [style.len(), script.len(), PAGE.len(), 20_000];
        let mut room = vec![0; MOST_BYTES.saturating_sub(rest.iter().sum())];
        let most = room.len();
        let mut parts = PARTS.iter();
        loop {
            // What does not fit is an error.
            let mut after = room.as_mut_slice();
            let fits = serde_json::to_writer(&mut after, self).is_ok();
            let written = most.saturating_sub(after.len());
            let mut data = String::new();
            if fits {
                let json = room.get(..written).unwrap_or_default();
                escape_data(&String::from_utf8_lossy(json), &mut data);
            }
            let part = parts.next().filter(|_| data.is_empty() || data.len() > most);
            let Some(part) = part else { return data };
            self.leave_out(part);
        }
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
    let hash = |text: &str| base64(&Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src 'none'; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script),
        hash(style)
    )
}

/// RFC 4648.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for (digit, shift) in [18_u32, 12, 6, 0].into_iter().enumerate() {
            let value = usize::try_from((bits >> shift) & 63).unwrap_or_default();
            let known = DIGITS.get(value).map_or('=', |digit| char::from(*digit));
            text.push(if digit <= chunk.len() { known } else { '=' });
        }
    }
    text
}
