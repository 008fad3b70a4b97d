//! What is said of objects that change their works.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Finding, Part, Place, and_more, counted, first_names};
use crate::render::Moved;

/// So many objects are named for each work that they leave.
const MOST_MOVED: usize = 10;

/// One finding for each work that objects leave.
pub(super) fn moved_findings(moved: &[Moved]) -> impl Iterator<Item = Finding> {
    let mut by_work: BTreeMap<&str, Vec<&Moved>> = BTreeMap::new();
    for moved in moved {
        by_work.entry(&moved.from).or_default().push(moved);
    }
    by_work.into_iter().map(|(work, moved)| {
        let clusters: BTreeSet<&String> = moved.iter().flat_map(|moved| &moved.clusters).collect();
        let place = moved.iter().find_map(|moved| moved.origin.as_ref());
        let place = place.map_or(Place::Run, |origin| origin.place("/metadata/name", Part::Value));
        let sentence = format!(
            "{} {} the work `{work}` for another one on {}: the {} there may delete and recreate {}",
            counted(moved.len(), "object"),
            if moved.len() == 1 { "leaves" } else { "leave" },
            first_names(&clusters, MOST_MOVED),
            if clusters.len() == 1 { "agent" } else { "agents" },
            if moved.len() == 1 { "it" } else { "them" },
        );
        let listed = moved.iter().take(MOST_MOVED).map(|moved| {
            let open = if moved.is_policy { ", and has no effect meanwhile" } else { "" };
            format!("{} comes to `{}`{open}", moved.object, moved.to)
        });
        let more = and_more(moved.len().saturating_sub(MOST_MOVED), "object");
        let finding = Finding::new(Code::OBJECT_MOVED, place, sentence).help(
            "set `workPer: Both` in the parameters first, apply that, and change the rest when `status --works` says that \
             every work is applied",
        );
        listed.chain(more).fold(finding, Finding::note)
    })
}
