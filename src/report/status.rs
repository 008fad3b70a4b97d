//! Statuses of hub objects, predicted or aggregated: the document of `status -o json`, tables for people, with messages below
//! each condition that is not True, and whether the statuses meet the conditions that a script requires.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use apimachinery::{Locators, key};
use indexmap::IndexMap;
use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use super::aggregate::{Aggregated, WaveProgress, WorkProblem, WorkSummary, help, word};
use crate::api::condition::{Condition, ConditionMessage};
use crate::api::gateway::GROUP;
use crate::diagnostic::{
    API_VERSION, GAP, Lines, and_more, counted, first_names, hanging, one_line, row, widths,
};
use crate::object::Object;
use crate::outcome::{FeedbackOnCluster, ObjectStatus, StatusGroup, UnknownOnCluster, WorkState};

/// The document, kind `StatusReport`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport<'r> {
    api_version: &'static str,
    kind: &'static str,
    /// Where the statuses come from.
    pub source: StatusSource,
    /// One entry per object or section; grouped, by locator.
    pub objects: &'r [ObjectStatus],
    /// The works that an aggregated status comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub works: Option<&'r WorkSummary>,
    /// How far the waves of the configuration are, in their order.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub waves: &'r [WaveProgress],
}

/// Where statuses come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StatusSource {
    /// Only the input: the statuses once everything is applied.
    Prediction,
    /// Exported ManifestWorks: what the clusters have reported.
    Works,
}

impl<'r> StatusReport<'r> {
    /// The report of predicted statuses.
    pub const fn predicted(objects: &'r [ObjectStatus]) -> Self {
        Self {
            api_version: API_VERSION,
            kind: "StatusReport",
            source: StatusSource::Prediction,
            objects,
            works: None,
            waves: &[],
        }
    }

    /// The report of aggregated statuses.
    pub fn aggregated(aggregated: &'r Aggregated) -> Self {
        Self {
            source: StatusSource::Works,
            works: Some(&aggregated.works),
            waves: &aggregated.waves,
            ..Self::predicted(&aggregated.objects)
        }
    }
}

/// The indent of a line that belongs to the row above.
const INDENT: &str = "    ";
/// At most this many problems of works are listed, and this many addresses or listeners of an object; JSON has them all.
const MAX_ROWS: usize = 20;
/// At most this many different values or messages of an object are listed.
const MAX_VALUES: usize = 10;
/// So much of a value is shown.
const LONGEST_VALUE: usize = 60;
/// At most this many clusters are named next to a value.
const MAX_CLUSTERS: usize = 10;

/// The heading of the group.
const fn heading(group: StatusGroup) -> &'static str {
    match group {
        StatusGroup::GatewayClass => "GATEWAYCLASS",
        StatusGroup::Gateway => "GATEWAY",
        StatusGroup::Route => "ROUTE",
        StatusGroup::Other => "OTHER TARGET",
        StatusGroup::Policy => "POLICY",
    }
}

/// The tables, at most `width` columns wide as far as names allow.
pub fn status_text(report: &StatusReport<'_>, width: usize) -> String {
    let mut text = Lines::default();
    let mut rest = report.objects;
    let all: Locators<'_> = rest.iter().map(|status| status.object.as_str()).collect();
    while let Some(first) = rest.first() {
        let same = |status: &ObjectStatus| status.group == first.group;
        let (group, after) = rest.split_at(rest.iter().take_while(|status| same(status)).count());
        rest = after;
        if !text.is_empty() {
            text.blank();
        }
        table(&mut text, first.group, group, &all, width);
    }
    if text.is_empty() {
        text.push("no GatewayClass or Gateway of ours, and no policy in the input");
    }
    if let Some(works) = report.works {
        text.blank();
        summary(&mut text, works, width);
    }
    for wave in report.waves {
        let (name, done, all) = (&wave.name, wave.done, wave.clusters);
        text.push(match &wave.waiting_for {
            Some(first) => format!("wave {name}: {done} of {all}, waits for wave {first}"),
            None => format!("wave {name}: {done} of {} done", counted(all, "cluster")),
        });
    }
    text.into_text()
}

/// The headings of the columns behind the names of objects.
const HEADINGS: [&str; 3] = ["CONDITION", "STATUS", "REASON"];

/// What those columns say of a condition.
fn cells(condition: &Condition) -> [&str; 3] {
    let kind = short_condition(&condition.kind);
    [kind, condition.status, &condition.reason]
}

fn table(text: &mut Lines, group: StatusGroup, statuses: &[ObjectStatus], all: &Locators<'_>, width: usize) {
    let conditions = statuses.iter().flat_map(|status| &status.conditions);
    let rows = std::iter::once(HEADINGS).chain(conditions.map(cells));
    let others = widths(rows.map(|cells| cells.map(|cell| cell.chars().count())));
    let [condition, status, _] = others;
    let names = statuses
        .iter()
        .map(|status| all.short(&status.object).chars().count());
    let longest = names.chain([heading(group).len()]).max().unwrap_or_default();
    let others = others.iter().sum::<usize>().saturating_add(6);
    // A name that leaves the others no room is on a line of its own.
    let room = width.saturating_sub(others).max(heading(group).len());
    let columns = [longest.min(room), condition, status];
    line(text, &columns, heading(group), HEADINGS);
    for status in statuses {
        object(text, &columns, &all.short(&status.object), status, width);
    }
}

fn object(text: &mut Lines, columns: &[usize; 3], name: &str, status: &ObjectStatus, width: usize) {
    let [room, ..] = columns;
    let name = one_line(name, usize::MAX);
    let mut first = name.as_str();
    if name.chars().count() > *room || status.conditions.is_empty() {
        text.push(format_args!("{name}"));
        first = "";
    }
    let mut conditions = status.conditions.iter().peekable();
    while let Some(condition) = conditions.next() {
        line(text, columns, std::mem::take(&mut first), cells(condition));
        // A problem of several rows in sequence is reported once, below the last of them.
        let goes_on = |next: &&Condition| !next.is_true() && next.message == condition.message;
        if !condition.is_true() && !conditions.peek().is_some_and(goes_on) {
            let lines = spoken(&condition.message).into_iter();
            rows(text, "", lines, ("message", MAX_VALUES), width);
        }
    }
    if !status.extension_kinds.is_empty() {
        below(text, "kinds: ", &status.extension_kinds.join(", "), width);
    }
    for (label, clusters) in [
        ("shipped to: ", &status.shipped_to),
        ("lives on: ", &status.lives_on),
    ] {
        if !clusters.is_empty() {
            below(text, label, &first_names(clusters, MAX_CLUSTERS), width);
        }
    }
    for (name, value) in &status.annotations {
        below(text, "annotation: ", &format!("{name}: {value}"), width);
    }
    let there = status.on_clusters.iter();
    let there = there.filter_map(|there| Some((there.cluster.as_ref(), there.condition()?)));
    for (there, clusters) in alike(there) {
        let (kind, status) = (short_condition(&there.kind), there.status);
        let words = format!("{kind} {status} ({}): {}", there.reason, there.message);
        let label = format!("on {}: ", first_names(clusters, MAX_CLUSTERS));
        below(text, &label, &words, width);
    }
    let addresses = status.addresses.iter().map(|address| {
        let kind = short_condition(address.r#type);
        format!("{} ({kind})", address.value)
    });
    rows(text, "address: ", addresses, ("address", MAX_ROWS), width);
    let listeners = status.listeners.iter().map(|listener| {
        let routes = counted(listener.attached_routes, "route");
        format!("{}: {routes} attached", listener.name)
    });
    rows(text, "listener: ", listeners, ("listener", MAX_ROWS), width);
    unknown(text, &status.unknown, width);
    feedback(text, &status.feedback, width);
}

/// A row for each item, as far as there is room.
fn rows(
    text: &mut Lines,
    label: &str,
    mut all: impl Iterator<Item = String>,
    (noun, most): (&str, usize),
    width: usize,
) {
    for words in all.by_ref().take(most) {
        below(text, label, &words, width);
    }
    if let Some(more) = and_more(all.count(), noun) {
        below(text, label, &format!("{more}; `-o json` lists all"), width);
    }
}

/// A message for people: a sentence, or one for each that many clusters say alike.
pub(super) fn spoken(message: &ConditionMessage) -> Vec<String> {
    let messages = match message {
        ConditionMessage::Sentence(sentence) => return vec![sentence.clone()],
        ConditionMessage::OfClusters(messages) => messages.iter(),
    };
    let messages = alike(messages.map(|(cluster, message)| (cluster.as_str(), &**message)));
    let on = |(message, clusters): (&str, Vec<&str>)| {
        let clusters = first_names(clusters, MAX_CLUSTERS);
        format!("on {clusters}: {message}")
    };
    messages.into_iter().map(on).collect()
}

/// Each thing that is said, in the order in which it was first said, with the clusters that say it, each once. What one
/// cluster says stands together.
pub(super) fn alike<'c, S: Eq + Hash>(
    said: impl IntoIterator<Item = (&'c str, S)>,
) -> Vec<(S, Vec<&'c str>)> {
    let mut all: IndexMap<S, Vec<&str>> = IndexMap::new();
    for (cluster, said) in said {
        let clusters = all.entry(said).or_default();
        if clusters.last() != Some(&cluster) {
            clusters.push(cluster);
        }
    }
    all.into_iter().collect()
}

/// A line for each value that clusters could not read, and each reason.
fn unknown(text: &mut Lines, all: &[UnknownOnCluster], width: usize) {
    let all = all.iter();
    let lines = alike(all.map(|entry| (entry.cluster.as_str(), (&entry.name, &entry.message))));
    let lines = lines.into_iter().map(|((name, message), clusters)| {
        let name = name.as_deref().unwrap_or("a value");
        let clusters = first_names(clusters, MAX_CLUSTERS);
        format!("{name} on {clusters}: {message}")
    });
    rows(text, "unknown: ", lines, ("value", MAX_VALUES), width);
}

/// A line for each name and each value of it.
fn feedback(text: &mut Lines, all: &[FeedbackOnCluster], width: usize) {
    // Several works of a cluster may carry one object.
    let all = all.iter();
    let values = all.map(|entry| {
        (
            entry.cluster.as_str(),
            (&entry.name, &entry.value, &entry.shipped),
        )
    });
    let lines = alike(values)
        .into_iter()
        .map(|((name, found, shipped), clusters)| {
            let value = |value: &Value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                one_line(&text, LONGEST_VALUE)
            };
            let shipped = shipped.as_ref().filter(|shipped| *shipped != found);
            let shipped =
                shipped.map_or_else(String::new, |shipped| format!(" (shipped: {})", value(shipped)));
            let clusters = first_names(clusters, MAX_CLUSTERS);
            format!("{name} is {} on {clusters}{shipped}", value(found))
        });
    rows(text, "feedback: ", lines, ("value", MAX_VALUES), width);
}

fn summary(text: &mut Lines, works: &WorkSummary, width: usize) {
    let counts = |is_planned: bool| {
        let mut counts: BTreeMap<WorkState, usize> = BTreeMap::new();
        let mut seen = HashSet::new();
        let problems = works.problems.iter();
        // A work counts once, by what explains the rest.
        let problems = problems.filter(|problem| {
            problem.is_planned == is_planned && seen.insert((&problem.cluster, &problem.work))
        });
        for problem in problems {
            let count = counts.entry(problem.state).or_default();
            *count = count.saturating_add(1);
        }
        let counts = counts
            .iter()
            .map(|(state, count)| format!("{count} {}", word(*state)));
        counts.collect::<Vec<_>>().join(", ")
    };
    let mut head = format!("{} of {} planned works applied", works.applied, works.planned);
    for (separator, counts) in [(": ", counts(true)), ("; not planned: ", counts(false))] {
        if !counts.is_empty() {
            head.push_str(&format!("{separator}{counts}"));
        }
    }
    for line in hanging(&head, "", INDENT, width) {
        text.push(line);
    }
    let lines = works.problems.iter().flat_map(problem_lines);
    rows(text, "", lines, ("", MAX_ROWS), width);
    let states: BTreeSet<WorkState> = works.problems.iter().map(|problem| problem.state).collect();
    for state in states {
        if let Some(help) = help(state) {
            below(text, &format!("help, {}: ", word(state)), help, width);
        }
    }
}

/// What is wrong with a work: a line for the whole, or one for each object that is concerned, which says more than the
/// work's own message.
fn problem_lines(problem: &WorkProblem) -> impl Iterator<Item = String> + '_ {
    let work = format!("{}/{}", problem.cluster, problem.work);
    let whole = problem.manifests.is_empty().then(|| {
        let more = match problem.state {
            WorkState::Stale => ": it is not placed there",
            _ => "",
        };
        let parent = problem.parent.iter().map(|parent| format!(" (of {parent})"));
        let message = problem.message.iter().map(|message| format!(": {message}"));
        let rest = parent.chain(message).collect::<String>();
        format!("{work}: {}{more}{rest}", word(problem.state))
    });
    let state = problem.state;
    let manifests = problem.manifests.iter().map(move |manifest| {
        let name = key(&manifest.namespace, &manifest.name);
        let what = match state {
            WorkState::LeftBehind => "is still there",
            WorkState::Unread => "is not read in full",
            WorkState::Conflict => "is in conflict",
            WorkState::Unavailable => "is not available",
            _ => "is not applied",
        };
        let reason = match manifest.reason.as_str() {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        let (kind, message) = (&manifest.kind, &manifest.message);
        format!("{work}: {kind} {name} {what}{reason}: {message}")
    });
    whole.into_iter().chain(manifests)
}

/// A row.
fn line(text: &mut Lines, widths: &[usize; 3], name: &str, [condition, status, reason]: [&str; 3]) {
    let reason = one_line(reason, usize::MAX);
    text.push(row(&[name, condition, status, &reason], widths));
}

/// Words below a row, wrapped at blanks; what follows the first line stands deeper.
pub(super) fn below(text: &mut Lines, label: &str, words: &str, width: usize) {
    // A message of a cluster may have line ends of its own, or steer a terminal.
    let words = one_line(words, usize::MAX);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let [first, others] = [label, GAP].map(|beginning| [INDENT, beginning].concat());
    for line in hanging(&words, &first, &others, width) {
        text.push(line);
    }
}

/// A condition or address type without its domain.
fn short_condition(kind: &str) -> &str {
    kind.rsplit_once('/').map_or(kind, |(_, short)| short)
}

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
        let foreign = |object: &Object| object.is(GROUP, "Gateway") || object.is(GROUP, "GatewayClass");
        let status_of = |object: &Object| by_locator.get(&*object.identity().locator()).copied();
        let objects = objects.iter().map(|object| (*object, status_of(object)));
        let objects = objects.filter(|(object, status)| status.is_some() || !foreign(object));
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
        let conditions = statuses.flat_map(|status| &status.conditions);
        conditions
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
            let name = Locators::default().short(&object.identity().locator());
            let line = format!("{name}: {because}");
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
        let (kind, status) = (short_condition(&condition.kind), condition.status);
        let (reason, message) = (&condition.reason, &condition.message);
        format!("{kind} is {status}{on} ({reason}): {message}")
    };
    let Some(found) = status.conditions.iter().find(is_wanted) else {
        return Some(format!("it has no condition {wanted}"));
    };
    if !found.is_true() {
        return Some(words(found, ""));
    }
    status.on_clusters.iter().find_map(|there| {
        let condition = there
            .condition()
            .filter(|condition| is_wanted(condition) && !condition.is_true())?;
        Some(words(condition, &format!(" on {}", there.cluster)))
    })
}

/// One line for each thing that keeps the clusters from having just what is planned. A work that nothing says whose it
/// is is not in the way: another input may have rendered it.
pub fn works_in_the_way(works: &WorkSummary) -> Vec<String> {
    let problems = works.problems.iter();
    let lines = problems
        .filter(|problem| problem.state.is_in_the_way())
        .flat_map(problem_lines);
    lines.map(|line| one_line(&line, LONGEST)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube_json::Text;

    use super::*;
    use crate::outcome::{Address, ListenerOnCluster};

    fn status(
        object: &str,
        group: StatusGroup,
        conditions: &[(&str, &'static str, &str, &str)],
    ) -> ObjectStatus {
        ObjectStatus {
            conditions: conditions
                .iter()
                .map(|(kind, status, reason, message)| Condition {
                    kind: (*kind).to_owned(),
                    status,
                    reason: (*reason).to_owned(),
                    message: (*message).to_owned().into(),
                })
                .collect(),
            ..ObjectStatus::new(object.to_owned(), group)
        }
    }

    #[test]
    fn only_what_is_not_true_has_its_message_below() {
        let objects = [
            status(
                "gateway.gateway.networking.k8s.io:infra/web",
                StatusGroup::Gateway,
                &[
                    ("Accepted", "True", "Accepted", "handled"),
                    ("Programmed", "Unknown", "Pending", "nobody knows"),
                ],
            ),
            status(
                "ratelimitpolicy.kuadrant.io:infra/limits",
                StatusGroup::Policy,
                &[("Accepted", "True", "Accepted", "yes")],
            ),
        ];
        insta::assert_snapshot!(status_text(&StatusReport::predicted(&objects), 80), @r"
    GATEWAY            CONDITION   STATUS   REASON
    gateway/infra/web  Accepted    True     Accepted
                       Programmed  Unknown  Pending
        nobody knows

    POLICY                        CONDITION  STATUS  REASON
    ratelimitpolicy/infra/limits  Accepted   True    Accepted
    ");
    }

    #[test]
    fn what_is_the_matter_with_several_conditions_is_said_once() {
        let because = "us-1 not applied: no such kind";
        let objects = [status(
            "ratelimitpolicy.kuadrant.io:infra/limits",
            StatusGroup::Policy,
            &[
                ("Accepted", "False", "NotTrueOnAllClusters", because),
                ("Enforced", "False", "NotTrueOnAllClusters", because),
            ],
        )];
        insta::assert_snapshot!(status_text(&StatusReport::predicted(&objects), 80), @r"
    POLICY                        CONDITION  STATUS  REASON
    ratelimitpolicy/infra/limits  Accepted   False   NotTrueOnAllClusters
                                  Enforced   False   NotTrueOnAllClusters
        us-1 not applied: no such kind
    ");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_unless_one_word_is() {
        let long = "n".repeat(60);
        let mut gateway = status(
            &format!("gateway.gateway.networking.k8s.io:infra/{long}"),
            StatusGroup::Gateway,
            &[
                (
                    "kuadrant.io/RateLimitPolicyAffected",
                    "False",
                    "InvalidParameters",
                    &"word ".repeat(40),
                ),
                ("Accepted", "True", "Accepted", ""),
            ],
        );
        for cluster in 0..30 {
            gateway.feedback.push(FeedbackOnCluster {
                name: "raw".to_owned(),
                cluster: format!("cluster-{cluster}"),
                value: kube_json::json!({"a": "b".repeat(1000), "c": cluster / 2}),
                shipped: Some(kube_json::json!(cluster)),
            });
        }
        gateway.addresses.push(Address {
            r#type: "kuadrant.io/MultiClusterIPAddress",
            value: "eu-1/203.0.113.10".to_owned(),
        });
        let text = status_text(&StatusReport::predicted(&[gateway]), 80);
        assert!(
            text.contains("feedback: and 20 more values; `-o json` lists all"),
            "{text}"
        );
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(text.contains(&long), "{text}");
    }

    #[test]
    fn what_thousands_of_clusters_say_alike_is_said_once_and_no_list_is_endless() {
        let clusters: Vec<Text> = (0..5000).map(|number| format!("c{number}").into()).collect();
        let silent: Arc<str> = "has not reported Accepted".into();
        let refused = |number: usize| Arc::from(format!("no CRD {}", number % 100));
        let says = |number: usize| match number % 2 {
            0 => Arc::clone(&silent),
            _ => refused(number),
        };
        let mut gateway = status(
            "gateway.gateway.networking.k8s.io:infra/web",
            StatusGroup::Gateway,
            &[("Accepted", "False", "NotTrueOnAllClusters", "")],
        );
        let all = clusters.iter().cloned().zip((0..).map(says));
        gateway.conditions[0].message = ConditionMessage::OfClusters(all.collect());
        for cluster in &clusters {
            gateway.addresses.push(Address {
                r#type: "kuadrant.io/MultiClusterIPAddress",
                value: format!("{cluster}/203.0.113.10"),
            });
            gateway.listeners.push(ListenerOnCluster {
                name: format!("{cluster}.api"),
                attached_routes: 1,
            });
            gateway.unknown.push(UnknownOnCluster {
                name: None,
                cluster: cluster.to_string(),
                message: format!("no value on {cluster}"),
            });
        }
        gateway.shipped_to = clusters.iter().map(Text::to_string).collect();
        let text = status_text(&StatusReport::predicted(&[gateway]), 80);
        let starts: Vec<&str> = text.lines().filter(|line| !line.starts_with("      ")).collect();
        assert_eq!(starts.len(), 2 + 11 + 1 + 21 + 21 + 11, "{text}");
        for part in [
            "on c0, c2, c4, c6, c8, c10, c12, c14, c16, c18 and 2490 more: has not\n      reported Accepted",
            "    and 41 more messages; `-o json` lists all",
            "    shipped to: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 4990 more",
            "    address: and 4980 more addresses; `-o json` lists all",
            "    listener: and 4980 more listeners; `-o json` lists all",
            "    unknown: and 4990 more values; `-o json` lists all",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn an_empty_report_says_so() {
        assert!(status_text(&StatusReport::predicted(&[]), 80).starts_with("no GatewayClass"));
    }

    #[test]
    fn clusters_that_say_the_same_stand_together_each_once_and_what_was_said_first_comes_first() {
        let said = [("a", 2), ("a", 2), ("b", 1), ("c", 2), ("c", 1)];
        assert_eq!(alike(said), [(2, vec!["a", "c"]), (1, vec!["b", "c"])]);
        assert_eq!(alike::<u8>([]), []);
    }
}
