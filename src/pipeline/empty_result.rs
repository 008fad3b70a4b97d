//! The finding if nothing is rendered: which link of the chain from files to clusters is missing. It is the first error that
//! many beginners see, so its help names the one thing to do next, ready to type.

use std::collections::BTreeSet;

use super::loaded::Loaded;
use crate::api::controllers::product_of_controller;
use crate::api::gateway::GROUP;
use crate::diagnostic::{Code, Finding, Findings, Place, first_names, nearest};
use crate::hub::Ours;
use crate::object::well_known::PLACEMENT_LABEL;

/// At most so many names in a row.
const MOST: usize = 5;

/// Adds the error `empty/nothing-rendered`. `all_clusters` are those of the whole fleet. A warning about a Placement that
/// selects nothing becomes part of it.
pub(super) fn report_nothing_rendered(
    loaded: &Loaded,
    ours: &Ours<'_>,
    all_clusters: &[String],
    findings: &mut Findings,
) {
    let found = |code: Code| findings.iter().find(|finding| finding.code == code);
    let unplaced = Code::UNPLACED
        .into_iter()
        .find_map(found)
        .filter(|_| all_clusters.is_empty())
        .cloned();
    // An error that the configuration turns into a warning stays separate from this one: at the same place, it would
    // become a part of it.
    let is_part = |finding: &&Finding| finding.code != Code::PLACEMENT_MISCONFIGURED;
    let place = unplaced
        .as_ref()
        .filter(is_part)
        .map(|finding| finding.place.clone());
    let empty = Finding::new(
        Code::EMPTY_NOTHING_RENDERED,
        place.clone().unwrap_or(Place::Run),
        "no cluster would receive anything",
    )
    .note("with an empty result, Argo CD deletes everything that was applied before");
    let Some(unplaced) = unplaced else {
        let help = next_step(loaded, ours, all_clusters);
        findings.push(empty.help(help));
        return;
    };
    let help = unplaced.help.as_deref().unwrap_or_default();
    let or = if help.ends_with('?') {
        " Otherwise, "
    } else {
        "; or "
    };
    let lacking = unplaced.lacks.clone();
    let empty = empty
        .help(format!(
            "{help}{or}pass --allow-empty if nothing should be rendered"
        ))
        .note(unplaced.message);
    findings.push(match lacking {
        Some(lacks) => empty.lacks(lacks.what, lacks.near),
        None => empty,
    });
}

fn next_step(loaded: &Loaded, ours: &Ours<'_>, all_clusters: &[String]) -> String {
    let objects = &loaded.hub.objects;
    if objects.is_empty() {
        return "no Kubernetes object was read: name the directory of the hub, as in `spokewright render hub`; \
                `-v` lists the files that were read"
            .to_owned();
    }
    if ours.classes.is_empty() {
        return no_class(loaded);
    }
    if ours.gateways.is_empty() {
        let classes = list(ours.classes.keys().copied());
        return if objects.of_kind(GROUP, "Gateway").is_empty() {
            format!("the input has no Gateway: add one with `gatewayClassName: {classes}`")
        } else {
            format!(
                "no Gateway of the input has a class of ours: write `gatewayClassName: {classes}` in a Gateway that \
                 clusters should have"
            )
        };
    }
    if let Some(shard) = loaded.selection.shard
        && all_clusters
            .iter()
            .any(|cluster| loaded.selection.matches(cluster))
    {
        return format!(
            "shard {shard} has none of these clusters: {}; use fewer shards, or pass --allow-empty",
            first_names(all_clusters, MOST)
        );
    }
    if !all_clusters.is_empty() {
        return format!(
            "`--clusters` matches none of: {}",
            first_names(all_clusters, MOST)
        );
    }
    format!(
        "place a Gateway: give it the label `{PLACEMENT_LABEL}: NAME`, and add that Placement or its \
         PlacementDecisions; or pass --allow-empty if nothing should be rendered"
    )
}

/// No class is ours: whose are they?
fn no_class(loaded: &Loaded) -> String {
    let ours = &loaded.config.controller_name;
    let controllers: BTreeSet<&str> = loaded
        .hub
        .objects
        .of_kind(GROUP, "GatewayClass")
        .iter()
        .filter_map(|class| class.root().get("spec").text("controllerName"))
        .collect();
    if controllers.is_empty() {
        return format!("the input has no GatewayClass: add one with `controllerName: {ours}`");
    }
    if let Some(near) = nearest(ours, controllers.iter().copied()) {
        return format!("correct the controllerName `{near}`: did you mean `{ours}`?");
    }
    let unknown = controllers
        .into_iter()
        .filter(|name| product_of_controller(name).is_none());
    let own = match list(unknown) {
        names if names.is_empty() => String::new(),
        names => format!(
            "; or, if a class is for spokewright, name its controller in spokewright.yaml: `controllerName: {names}`"
        ),
    };
    format!(
        "no GatewayClass has the controllerName `{ours}`: add one of its own for spokewright, such as `spokewright init` \
         writes, and leave those of other controllers as they are{own}"
    )
}

/// `a`, or `a` or `b`: inside one pair of backticks.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.take(MOST).collect::<Vec<_>>().join("` or `")
}
