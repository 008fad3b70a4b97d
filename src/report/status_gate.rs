//! Whether statuses meet the conditions that a script requires.
//!
//! Owns: which objects lack a condition, which works are in the way, and a line of text for each. Flows in: statuses,
//! the objects of a kind, works. Flows out: lines. Must not know: exit statuses, how a status comes about.

use std::collections::{BTreeSet, HashMap};

use super::aggregate::WorkSummary;
use super::explain_text::short;
use super::status_text::{problem_lines, short_condition};
use crate::diagnostic::one_line;
use crate::object::Object;
use crate::outcome::ObjectStatus;
use crate::policy::Condition;

/// So much of a message is shown: a line that a script prints is not the report.
const LONGEST: usize = 300;

/// Objects that should have a condition.
#[derive(Debug)]
pub struct Required<'r> {
    /// Each with its status, if it has one.
    objects: Vec<(&'r Object, Option<&'r ObjectStatus>)>,
}

impl<'r> Required<'r> {
    /// The objects among `objects` that are judged: all but the Gateways and classes of other controllers, which have
    /// no status here.
    pub fn new(statuses: &'r [ObjectStatus], objects: &[&'r Object]) -> Self {
        let of_hub = statuses.iter().filter(|status| status.lives_on.is_empty());
        let by_locator: HashMap<&str, &ObjectStatus> =
            of_hub.map(|status| (status.object.as_str(), status)).collect();
        let foreign = |object: &Object| {
            let group = crate::api::gateway::GROUP;
            object.is(group, "Gateway") || object.is(group, "GatewayClass")
        };
        let objects = objects
            .iter()
            .map(|object| {
                (
                    *object,
                    by_locator.get(object.identity().locator().as_str()).copied(),
                )
            })
            .filter(|(object, status)| status.is_some() || !foreign(object));
        Self {
            objects: objects.collect(),
        }
    }

    /// Whether nothing is judged.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The conditions that some of them have.
    pub fn conditions(&self) -> BTreeSet<&'r str> {
        let statuses = self.objects.iter().filter_map(|(_, status)| *status);
        statuses
            .flat_map(|status| &status.conditions)
            .map(|condition| short_condition(&condition.kind))
            .collect()
    }

    /// One line for each that does not have this condition True, or not on every cluster. As `kubectl wait` does, it
    /// compares names without case.
    pub fn without(&self, condition: &str) -> Vec<String> {
        let lines = self.objects.iter().filter_map(|(object, status)| {
            let because = match status {
                Some(status) => objection(status, condition)?,
                None => "it has no status here".to_owned(),
            };
            let line = format!("{}: {because}", short(&object.identity().locator()));
            Some(one_line(&line, LONGEST))
        });
        lines.collect()
    }
}

fn objection(status: &ObjectStatus, wanted: &str) -> Option<String> {
    let is_wanted = |condition: &&Condition| {
        let kind = condition.kind.as_str();
        kind.eq_ignore_ascii_case(wanted) || short_condition(kind).eq_ignore_ascii_case(wanted)
    };
    let words = |condition: &Condition, on: &str| {
        let Condition {
            kind,
            status,
            reason,
            message,
        } = condition;
        format!("{} is {status}{on} ({reason}): {message}", short_condition(kind))
    };
    let Some(found) = status.conditions.iter().find(is_wanted) else {
        return Some(format!("it has no condition {wanted}"));
    };
    if !found.is_true() {
        return Some(words(found, ""));
    }
    status.on_clusters.iter().find_map(|there| {
        let conditions = there.condition().into_iter();
        let mut against = conditions
            .filter(is_wanted)
            .filter(|condition| !condition.is_true());
        against
            .next()
            .map(|condition| words(condition, &format!(" on {}", there.cluster)))
    })
}

/// One line for each thing that keeps the clusters from having just what is planned. A work that nothing says whose it
/// is is not in the way: another input may have rendered it.
pub fn works_in_the_way(works: &WorkSummary) -> Vec<String> {
    let in_the_way = works
        .problems
        .iter()
        .filter(|problem| problem.state.is_in_the_way());
    in_the_way
        .flat_map(problem_lines)
        .map(|line| one_line(&line, LONGEST))
        .collect()
}
