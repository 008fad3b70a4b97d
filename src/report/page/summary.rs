//! The contents of a page if no script runs: counts, and the things worth a look, worst first.
//!
//! Owns: these sentences. Flows in: the data. Flows out: markup. Must not know: how anything was found out.

use std::collections::BTreeSet;

use super::document::{FleetPage, Position, Profiled, RouteRow};
use super::escaping::escape_markup;
use super::interned::{entry, members};
use crate::diagnostic::counted;

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
