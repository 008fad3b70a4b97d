//! The texts of objects that a page shows next to their effects.
//!
//! Owns: cutting an object's text out of its file, and how much text a page may contain. Flows in: objects, the texts
//! of a run. Flows out: excerpts with their first lines. Must not know: what the objects mean.

use std::collections::BTreeMap;

use super::interned::Tables;
use crate::api::gateway::GROUP as GATEWAY;
use crate::api::ocm::GROUP as CLUSTERS;
use crate::diagnostic::{Locate as _, holds_secret};
use crate::hub::Hub;
use crate::object::Object;
use crate::source::Sources;
use crate::topology::Topology;

/// At most so many bytes of texts are carried, kind by kind; those of policies are always.
const MOST_BYTES: usize = 1 << 20;

/// At most so many bytes of one text.
const MOST_OF_A_TEXT: usize = 64 << 10;

/// The first line and the text of an object: of its own document, or of its own part of a `List`. Nothing else of the
/// file, because it may contain a Secret.
pub(super) fn own_text(object: &Object, sources: &Sources) -> Option<(usize, String)> {
    if holds_secret(&object.value) {
        return None;
    }
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
    Some((line.saturating_add(blank), rest.trim_end().to_owned()))
}

/// The texts of objects that are not policies: Placements first, because their place explains most, then Gateways and
/// the objects that they name.
pub(super) fn texts(
    hub: &Hub,
    topology: &Topology<'_>,
    sources: &Sources,
    tables: &mut Tables<'_>,
    left_out: &mut Vec<String>,
) -> Vec<(usize, Vec<(usize, String)>)> {
    let objects = &hub.objects;
    let routes: Vec<&Object> = topology.routes.rows().iter().map(|route| route.object).collect();
    let of_kind = |group, kind| -> Vec<&Object> { objects.of_kind(group, kind).iter().collect() };
    let kinds: [(&str, Vec<&Object>); 5] = [
        ("Placements", of_kind(CLUSTERS, "Placement")),
        ("Gateways", of_kind(GATEWAY, "Gateway")),
        ("GatewayClasses", of_kind(GATEWAY, "GatewayClass")),
        ("routes", routes),
        ("clusters", of_kind(CLUSTERS, "ManagedCluster")),
    ];
    let mut by_file: BTreeMap<usize, Vec<(usize, String)>> = BTreeMap::new();
    let mut left = MOST_BYTES;
    for (what, objects) in kinds {
        let texts: Vec<(&Object, usize, String)> = objects
            .into_iter()
            .filter_map(|object| own_text(object, sources).map(|(line, text)| (object, line, text)))
            .collect();
        let bytes: usize = texts.iter().map(|(_, _, text)| text.len()).sum();
        let Some(rest) = left.checked_sub(bytes) else {
            left_out.push(format!("the texts of {what}"));
            continue;
        };
        left = rest;
        for (object, line, text) in texts {
            if let Some((file, _)) = tables.object(object) {
                by_file.entry(file).or_default().push((line, text));
            }
        }
    }
    for texts in by_file.values_mut() {
        texts.sort_unstable();
        texts.dedup();
    }
    by_file.into_iter().collect()
}
