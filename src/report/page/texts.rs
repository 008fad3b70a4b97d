//! The texts of objects, as far as a page has space for them.

use super::Page;
use super::document::ObjectText;
use crate::api::gateway::GROUP as GATEWAY;
use crate::api::ocm::GROUP as CLUSTERS;
use crate::diagnostic::{Locate as _, holds_secret};
use crate::object::Object;

/// The most bytes of texts that a page contains, kind by kind; it always contains those of policies.
const MOST_BYTES: usize = 1 << 20;

/// The most bytes of one text.
const MOST_OF_A_TEXT: usize = 64 << 10;

impl Page<'_> {
    /// The text of an object: of its own document, or of its own part of a `List`. Nothing else of the file, because it may
    /// contain a Secret.
    pub(super) fn text(&self, object: &Object) -> Option<ObjectText> {
        if holds_secret(&object.value) {
            return None;
        }
        let sources = self.sources;
        let origin = &object.origin;
        let (line, text) = if origin.pointer.is_empty() {
            let file = sources.file(origin.document.source)?;
            let range = file.documents.get(usize::try_from(origin.document.index).ok()?)?;
            (range.line, file.text.get(range.start..range.end)?)
        } else {
            let span = sources.locate(&object.place(""))?;
            (span.line, span.text.get(span.start..span.end)?)
        };
        // The line that begins a document says nothing.
        let (line, text) = match text.strip_prefix("---\n") {
            Some(rest) => (line.saturating_add(1), rest),
            None => (line, text),
        };
        let blank = text.lines().take_while(|line| line.trim().is_empty()).count();
        let rest: String = text.lines().skip(blank).collect::<Vec<_>>().join("\n");
        let end = rest.char_indices().nth(MOST_OF_A_TEXT).map(|(end, _)| end);
        let rest = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        Some(ObjectText {
            path: self.line(object)?.path,
            line: line.saturating_add(blank),
            text: rest.trim_end().to_owned(),
        })
    }

    /// The texts of objects that are not policies: Placements first, because their place explains most, then Gateways and
    /// the objects that they name.
    pub(super) fn texts(&self, left_out: &mut Vec<String>) -> Vec<ObjectText> {
        let objects = &self.hub.objects;
        let routes = self.view.hub.topology.routes.rows().iter();
        let of_kind = |group, kind| -> Vec<&Object> { objects.of_kind(group, kind).iter().collect() };
        let kinds: [(&str, Vec<&Object>); 5] = [
            ("Placements", of_kind(CLUSTERS, "Placement")),
            ("Gateways", of_kind(GATEWAY, "Gateway")),
            ("GatewayClasses", of_kind(GATEWAY, "GatewayClass")),
            ("routes", routes.map(|route| route.object).collect()),
            ("clusters", of_kind(CLUSTERS, "ManagedCluster")),
        ];
        let mut all = Vec::new();
        let mut left = MOST_BYTES;
        for (what, objects) in kinds {
            let texts = objects.into_iter().filter_map(|object| self.text(object));
            let texts: Vec<ObjectText> = texts.collect();
            let bytes: usize = texts.iter().map(|text| text.text.len()).sum();
            match left.checked_sub(bytes) {
                Some(rest) => {
                    left = rest;
                    all.extend(texts);
                }
                None => left_out.push(format!("the texts of {what}")),
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
