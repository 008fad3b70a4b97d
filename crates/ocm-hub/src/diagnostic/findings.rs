//! The collector that all stages fill: one run reports everything that is wrong, in a stable order.
//!
//! Owns: severities as configured, repeats, order. Flows in: findings of every stage. Flows out: [`Findings`], sorted,
//! and the exit status that they call for. Must not know: output formats.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::NameSet;
use kube_json::Text;

use super::within::Within;
use super::{Code, DocumentId, Finding, Locate, Place, Severity, SharedTexts, Suppressed};
use crate::parallel;

/// The values that the configuration's `findings` map may have for one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeverityOverride {
    /// Report it with this severity.
    Severity(Severity),
    /// Do not report it.
    Off,
}

/// Whether a run with warnings succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Warnings {
    /// They are reported, and that is all.
    #[default]
    Reported,
    /// Each counts as an error: `--deny warnings`.
    Denied,
    /// Nobody reads them, so they need not be looked for: the old side of a comparison.
    Unread,
}

/// All findings of a run.
///
/// They are shared: there may be a hundred thousand, and several lists of them.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    found: Vec<Arc<Finding>>,
}

impl Findings {
    /// An empty collector.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, finding: impl Into<Arc<Finding>>) {
        self.found.push(finding.into());
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: impl IntoIterator<Item = impl Into<Arc<Finding>>>) {
        self.found.extend(other.into_iter().map(Into::into));
    }

    /// What each item becomes, in parallel; the findings keep the order of the items.
    pub fn of_each<'t, T: Sync, R: Send>(
        &mut self,
        items: &'t [T],
        make: impl Fn(&'t T, &mut Self) -> R + Sync,
    ) -> Vec<R> {
        let each = parallel::map(items, |item| {
            let mut found = Self::new();
            (make(item, &mut found), found)
        });
        let mut results = Vec::with_capacity(each.len());
        for (made, mut found) in each {
            results.push(made);
            self.found.append(&mut found.found);
        }
        results
    }

    /// Keeps what several findings say once.
    pub fn share_texts(&mut self) {
        let mut shared = SharedTexts::default();
        for finding in self.found.iter_mut().filter_map(Arc::get_mut) {
            finding.share(&mut shared);
        }
    }

    /// Whether any finding is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// How many findings have this severity, without those that are suppressed.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.found
            .iter()
            .filter(|finding| finding.counts_as(severity))
            .count()
    }

    /// How many findings are suppressed.
    #[must_use]
    pub fn suppressed(&self) -> usize {
        self.found
            .iter()
            .filter(|finding| finding.suppressed().is_some())
            .count()
    }

    /// Whether there are no findings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The findings in the order in which they were added, or sorted after [`Findings::finish`].
    pub fn iter(&self) -> FindingsIter<'_> {
        self.found.iter().map(Arc::as_ref)
    }

    /// Applies the configured severities. An override of a code that is not [configurable](Code::is_configurable) has
    /// no effect.
    pub fn configure(&mut self, overrides: &BTreeMap<Code, SeverityOverride>) {
        self.found.retain_mut(|finding| {
            match overrides
                .get(&finding.code)
                .filter(|_| finding.code.is_configurable())
            {
                Some(SeverityOverride::Off) => return false,
                Some(SeverityOverride::Severity(severity)) if finding.severity != *severity => {
                    Arc::make_mut(finding).severity = *severity;
                }
                Some(SeverityOverride::Severity(_)) | None => {}
            }
            true
        });
        self.drop_settled();
        self.explain_rules();
        self.drop_around_misspelled();
        self.drop_explained_emptiness();
        self.drop_consequences();
    }

    /// Marks the accepted warnings. Errors are not considered: an error cannot be accepted.
    pub fn suppress(&mut self, mut accepted: impl FnMut(&Finding) -> Option<Suppressed>) {
        let warnings = self.found.iter_mut();
        for finding in warnings.filter(|finding| finding.severity == Severity::Warning) {
            let suppressed = accepted(finding);
            if finding.suppressed() != suppressed.as_ref() {
                Arc::make_mut(finding).suppress(suppressed);
            }
        }
    }

    /// Applies the configured severities and what is reported about `warnings`, drops repeats, and sorts by place, then
    /// code, then message, so that the order depends on neither threads nor the order of the stages.
    ///
    /// A [suppressed](Self::suppress) finding stays a warning. [`Findings::order_by_position`] then brings them into
    /// reading order.
    pub fn finish(&mut self, overrides: &BTreeMap<Code, SeverityOverride>, warnings: Warnings) {
        self.configure(overrides);
        if warnings == Warnings::Denied {
            let counts = |finding: &&mut Arc<Finding>| {
                finding.suppressed().is_none() && finding.severity != Severity::Error
            };
            for finding in self.found.iter_mut().filter(counts) {
                Arc::make_mut(finding).severity = Severity::Error;
            }
        }
        // Every field takes part: findings that differ only in their notes must not depend on the order of the stages,
        // and repeats must be adjacent.
        self.found.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        self.found.dedup();
    }

    /// A rule of a schema becomes a note of the error that shows which part of its value is wrong. If a field does not
    /// exist, an API server does not get as far as its rules.
    fn explain_rules(&mut self) {
        // There may be a hundred thousand findings, and what follows moves them all.
        if !self.found.iter().any(|finding| finding.is_rule) {
            return;
        }
        let (rules, mut others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.found)
            .into_iter()
            .partition(|finding| finding.is_rule);
        let is_unknown = |other: &&Arc<Finding>| {
            other.code == Code::OBJECT_UNKNOWN_FIELD && other.severity == Severity::Error
        };
        let object = |place: &Place| {
            let (document, item) = place.object()?;
            Some((document, item.map(str::to_owned)))
        };
        let with_unknown: HashSet<_> = others
            .iter()
            .filter(is_unknown)
            .filter_map(|other| object(&other.place))
            .collect();
        // The first finding about a value, and all at one place: several stages may have found it.
        let mut tells: Within<'_, usize> = Within::default();
        let mut at: HashMap<&Place, Vec<usize>> = HashMap::new();
        let is_telling = |other: &Finding| {
            other.severity == Severity::Error
                && (other.code.is_about_meaning() || other.code.is_about_shape())
        };
        // Their places are borrowed from a second list, because those in the first one change.
        let places = others.clone();
        for (position, other) in places.iter().enumerate().filter(|(_, other)| is_telling(other)) {
            tells.add(&other.place, position);
            at.entry(&other.place).or_default().push(position);
        }
        for rule in &rules {
            if object(&rule.place).is_some_and(|object| with_unknown.contains(&object)) {
                continue;
            }
            let told = tells
                .least(&rule.place)
                .and_then(|first| others.get(first).cloned());
            let Some(told) = told else {
                if is_telling(rule) {
                    tells.add(&rule.place, others.len());
                    at.entry(&rule.place).or_default().push(others.len());
                }
                others.push(Arc::clone(rule));
                continue;
            };
            for position in at.get(&told.place).into_iter().flatten() {
                if let Some(other) = others.get_mut(*position).filter(|other| **other == told) {
                    Arc::make_mut(other).notes.push(rule.message.clone().into());
                }
            }
        }
        self.found = others;
    }

    /// A misspelled key explains what is reported about the field that is missing because of it, of its mapping as a
    /// whole, and of its neighbors, which mean something else without it. Only that a neighbor has a wrong shape is a
    /// mistake of its own.
    fn drop_around_misspelled(&mut self) {
        let meant: HashMap<DocumentId, Vec<&str>> = self
            .found
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .filter_map(|finding| finding.misspelled()?.field())
            .fold(HashMap::new(), |mut meant, (document, pointer)| {
                meant.entry(document).or_insert_with(Vec::new).push(pointer);
                meant
            });
        if meant.is_empty() {
            return;
        }
        let follows = |finding: &Finding| {
            let Some((document, pointer)) = finding.place.field() else {
                return false;
            };
            let fields = meant.get(&document).map(Vec::as_slice).unwrap_or_default();
            fields.iter().any(|field| {
                let mapping = parent(field);
                let is_inside = pointer
                    .strip_prefix(field)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
                let is_neighbor = pointer != mapping && parent(pointer) == mapping;
                is_inside || pointer == mapping || (is_neighbor && !finding.code.is_about_shape())
            })
        };
        let keeps: Vec<bool> = self
            .found
            .iter()
            .map(|finding| {
                finding.misspelled().is_some() || finding.code.is_unknown_field() || !follows(finding)
            })
            .collect();
        self.keep_those(keeps);
    }

    /// Keeps the findings at whose position there is true.
    fn keep_those(&mut self, keeps: Vec<bool>) {
        let mut keeps = keeps.into_iter();
        self.found.retain(|_| keeps.next().unwrap_or(true));
    }

    /// Drops what only follows from something else that is found, and is as severe.
    fn drop_consequences(&mut self) {
        let mut roots: Within<'_, Severity> = Within::these(self.iter().flat_map(Finding::causes));
        let is_empty = |finding: &Finding| finding.code == Code::EMPTY_NOTHING_RENDERED;
        let is_root = |finding: &&Finding| finding.causes.is_empty() && !is_empty(finding);
        for finding in self.iter().filter(is_root) {
            roots.add(&finding.place, finding.severity);
        }
        // The warning that explains why nothing is rendered is a part of that error, which is at its place.
        let empty_at = self.iter().find(|finding| is_empty(finding));
        let empty_at = empty_at.map(|finding| &finding.place);
        let is_kept = |finding: &Finding| {
            let explains = |cause| {
                roots
                    .least_of(cause)
                    .is_some_and(|worst| worst <= finding.severity)
            };
            let is_part = Code::UNPLACED.contains(&finding.code) && empty_at == Some(&finding.place);
            !is_part && !finding.causes().any(explains)
        };
        let keeps = self.iter().map(is_kept).collect();
        self.keep_those(keeps);
    }

    /// Any other error explains better than `empty/nothing-rendered` why nothing is rendered. Only the configured
    /// severities show whether there is one: an error that the configuration makes a warning stops nothing, and must
    /// not hide that the result is empty.
    fn drop_explained_emptiness(&mut self) {
        let is_empty = |finding: &Finding| finding.code == Code::EMPTY_NOTHING_RENDERED;
        let explains = |finding: &Finding| finding.severity == Severity::Error && !is_empty(finding);
        if self.iter().any(explains) {
            self.found.retain(|finding| !is_empty(finding));
        }
    }

    /// A schema reports what is wrong with a value, in the API server's wording. The reader of the value finds the same
    /// mistake and need not report it again. A finding that knows more about that value than its schema replaces the
    /// schema's.
    fn drop_settled(&mut self) {
        let is_asked = |finding: &&Finding| {
            !finding.settles_any() && (finding.code.is_about_shape() || finding.code.is_about_meaning())
        };
        let mut asked = self.iter().filter(is_asked).peekable();
        if asked.peek().is_none() {
            return;
        }
        // What is found in other documents settles nothing.
        let documents: NameSet<DocumentId> = asked
            .filter_map(|finding| Some(finding.place.field()?.0))
            .collect();
        let is_there = |place: &Place| {
            place
                .field()
                .is_none_or(|(document, _)| documents.contains(&document))
        };
        let by_schema = |finding: &&Finding| finding.settles_any();
        let of_schemas = || self.iter().filter(by_schema);
        // An unknown field has no meaning that anybody could know more of.
        let own: NameSet<&Place> = of_schemas()
            .filter(|finding| finding.code == Code::OBJECT_SCHEMA)
            .map(|finding| &finding.place)
            .filter(|place| is_there(place))
            .collect();
        let settled: NameSet<(DocumentId, &Text)> = of_schemas()
            .flat_map(Finding::settled)
            .filter(|(document, _)| documents.contains(document))
            .collect();
        let is_settled = |place: &Place| match place {
            Place::Field {
                document, pointer, ..
            } => settled.contains(&(*document, pointer)),
            _ => false,
        };
        let knows_more = |finding: &&Finding| {
            !finding.settles_any()
                && finding.severity == Severity::Error
                && finding.code.is_about_meaning()
                && own.contains(&finding.place)
        };
        let meant: NameSet<&Place> = self
            .iter()
            .filter(knows_more)
            .map(|finding| &finding.place)
            .collect();
        let is_kept = |finding: &Finding| {
            if finding.settles_any() {
                return !meant.contains(&finding.place);
            }
            let is_repeat = finding.code.is_about_shape()
                || (finding.code.is_about_meaning() && !own.contains(&finding.place));
            !(is_repeat && is_settled(&finding.place))
        };
        let keeps = self.iter().map(is_kept).collect();
        self.keep_those(keeps);
    }

    /// Sorts as a reader meets them: by path, line and column, within one position as [`Findings::finish`] does.
    /// Findings about a file as a whole are before those inside it, and findings about the run are last.
    ///
    /// With a `limit`, so many errors and so many warnings come first as they would without one. Those behind them are in
    /// the order of their documents only: to find a position, a document is read again, and nobody may look.
    pub fn order_by_position(&mut self, locate: &dyn Locate, limit: Option<usize>) {
        // Nothing to do after `finish`. The next sorts keep the order within one position.
        self.found.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let runs = self.runs(locate);
        let ordered: Vec<Vec<Arc<Finding>>> = match limit {
            // In parallel: finding a position reads its document again.
            None => parallel::map_each(runs, |run| ordered(run, locate)),
            Some(limit) => {
                let mut left = Left {
                    errors: limit,
                    warnings: limit,
                };
                let one = |run: Vec<_>| {
                    if left.take(&run) {
                        ordered(run, locate)
                    } else {
                        run
                    }
                };
                runs.into_iter().map(one).collect()
            }
        };
        self.found = ordered.into_iter().flatten().collect();
    }

    /// Takes the findings apart, in the order of reading: those of a document are together. Where a place of a text that may
    /// be in any document is among those of a file, all of them are.
    fn runs(&mut self, locate: &dyn Locate) -> Vec<Vec<Arc<Finding>>> {
        let found = std::mem::take(&mut self.found);
        let mut of_texts = HashSet::new();
        let mut last = None;
        let mut keyed: Vec<(PositionKey<'_>, Arc<Finding>)> = Vec::with_capacity(found.len());
        for finding in found {
            let key = match &finding.place {
                Place::Field { document, .. } | Place::Embedded { document, .. } => match &last {
                    Some((before, key)) if before == document => PositionKey::clone(key),
                    _ => {
                        let key = position_key(&Place::value(*document, ""), locate);
                        last = Some((*document, key.clone()));
                        key
                    }
                },
                place => {
                    let key = position_key(place, locate);
                    if matches!(place, Place::Text { .. }) {
                        of_texts.insert(key.1.clone());
                    }
                    key
                }
            };
            keyed.push((key, finding));
        }
        for ((_, path, line, column), _) in &mut keyed {
            if *line > 0 && of_texts.contains(path) {
                (*line, *column) = (1, 1);
            }
        }
        keyed.sort_by(|(key, _), (other, _)| key.cmp(other));
        let mut runs: Vec<Vec<Arc<Finding>>> = Vec::new();
        let mut of_run = None;
        for (key, finding) in keyed {
            match runs.last_mut().filter(|_| of_run.as_ref() == Some(&key)) {
                Some(run) => run.push(finding),
                None => runs.push(vec![finding]),
            }
            of_run = Some(key);
        }
        runs
    }

    /// Keeps the findings for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Finding) -> bool) {
        self.found.retain(|finding| keep(finding));
    }

    /// Keeps the findings for which `revise` returns true, as it leaves them.
    pub fn revise(&mut self, revise: impl FnMut(&mut Arc<Finding>) -> bool) {
        self.found.retain_mut(revise);
    }

    /// Adds a note to the first finding, as a reader meets them, that `is_meant` accepts, unless it has that note.
    pub fn note_first(&mut self, is_meant: impl Fn(&Finding) -> bool, note: &str, locate: &dyn Locate) {
        let meant = self.found.iter_mut().filter(|finding| is_meant(finding));
        let first = meant.min_by_key(|finding| position_key(&finding.place, locate));
        if let Some(first) = first.filter(|first| !first.notes.iter().any(|known| known == note)) {
            Arc::make_mut(first).notes.push(note.into());
        }
    }

    /// The findings of one severity.
    #[must_use]
    pub fn only(&self, severity: Severity) -> Self {
        Self {
            found: self
                .found
                .iter()
                .filter(|finding| finding.severity == severity)
                .cloned()
                .collect(),
        }
    }

    /// The exit status that these findings call for (docs/reference/exit-statuses.md): 0 without an error; of several,
    /// 5 before 3 before 4.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        let rank = |status: &u8| match *status {
            Code::EXIT_FAILED => 0,
            Code::EXIT_INVALID => 1,
            _ => 2,
        };
        self.found
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.code.exit_status())
            .min_by_key(rank)
            .unwrap_or_default()
    }
}

/// All of a finding, most telling first.
fn sort_key(finding: &Finding) -> impl Ord + '_ {
    let Finding {
        code,
        severity,
        message,
        place,
        label,
        related,
        notes,
        help,
        is_rule: _,
        causes: _,
        settles_place: _,
        rest: _,
    } = finding;
    (
        (place, code, message, label, severity),
        (related, notes, help, finding.suppressed()),
    )
}

/// The mapping or the list that a value is in.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Whether there is no path, the path, line and column.
type PositionKey<'a> = (bool, Cow<'a, str>, usize, usize);

fn position_key<'a>(place: &Place, locate: &'a dyn Locate) -> PositionKey<'a> {
    match (place, locate.position(place)) {
        (_, Some((path, line, column))) => (false, Cow::Borrowed(path), line, column),
        (Place::Path(path), None) => (false, Cow::Owned(path.clone()), 0, 0),
        (_, None) => (true, Cow::Borrowed(""), 0, 0),
    }
}

/// How many more errors, and how many more warnings, are shown.
struct Left {
    errors: usize,
    warnings: usize,
}

impl Left {
    /// Whether any of these findings is shown. Suppressed ones are not.
    fn take(&mut self, findings: &[Arc<Finding>]) -> bool {
        let mut is_shown = false;
        for finding in findings.iter().filter(|finding| finding.suppressed().is_none()) {
            let left = match finding.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
            };
            is_shown |= *left > 0;
            *left = left.saturating_sub(1);
        }
        is_shown
    }
}

/// The findings of one document by their positions. Those of one place have an order already.
fn ordered(mut run: Vec<Arc<Finding>>, locate: &dyn Locate) -> Vec<Arc<Finding>> {
    let first = run.first().map(|finding| finding.place.clone());
    if run.iter().any(|finding| Some(&finding.place) != first.as_ref()) {
        parallel::sort_by_key(&mut run, |finding| position_key(&finding.place, locate));
    }
    run
}

/// The findings of a list.
pub type FindingsIter<'a> =
    std::iter::Map<std::slice::Iter<'a, Arc<Finding>>, fn(&'a Arc<Finding>) -> &'a Finding>;

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = FindingsIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Findings {
    type Item = Arc<Finding>;
    type IntoIter = std::vec::IntoIter<Arc<Finding>>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{Texts, sample};
    use super::super::{DocumentId, Few, Message, SourceId, SuppressedBy};
    use super::*;

    fn finished(
        mut findings: Findings,
        overrides: &[(Code, SeverityOverride)],
        warnings: Warnings,
    ) -> Findings {
        findings.finish(&overrides.iter().copied().collect(), warnings);
        findings
    }

    fn one(code: Code) -> Findings {
        let mut findings = Findings::new();
        findings.push(Finding::new(code, Place::Run, "message"));
        findings
    }

    #[test]
    fn of_one_mistake_the_schema_has_the_word_unless_somebody_knows_more_of_that_value() {
        let document = DocumentId {
            source: SourceId(0),
            index: 0,
        };
        let field = |pointer: &str| (document, Text::from(pointer));
        let at = |code: Code, pointer: &str| Finding::new(code, Place::value(document, pointer), code.name());
        let codes = |findings: &[Finding]| -> Vec<&'static str> {
            let mut all = Findings::new();
            all.extend(findings.to_vec());
            let all = finished(all, &[], Warnings::Reported);
            all.iter().map(|finding| finding.code.name()).collect()
        };
        let schema = at(Code::OBJECT_SCHEMA, "/a").settles(field("/a"));
        assert_eq!(
            codes(&[schema.clone(), at(Code::OBJECT_SCHEMA, "/a")]),
            ["object/schema"]
        );
        assert_eq!(codes(&[schema.clone(), at(Code::OBJECT_SCHEMA, "/b")]).len(), 2);
        assert_eq!(
            codes(&[schema.clone(), at(Code::POLICY_INVALID, "/a")]),
            ["policy/invalid"]
        );
        assert_eq!(codes(&[schema, at(Code::POLICY_TARGET_NOT_FOUND, "/a")]).len(), 2);
        let misspelled = at(Code::OBJECT_UNKNOWN_FIELD, "/a")
            .settles(field("/a"))
            .settles(field(""));
        for known in [Code::POLICY_IGNORED_FIELD, Code::POLICY_INVALID] {
            let unknown = if known == Code::POLICY_INVALID { "" } else { "/a" };
            assert_eq!(
                codes(&[misspelled.clone(), at(known, unknown)]),
                ["object/unknown-field"]
            );
        }
    }

    #[test]
    fn what_follows_from_an_object_is_left_out_where_something_as_severe_is_found_in_it() {
        let at = |index, pointer: &str| {
            Place::value(
                DocumentId {
                    source: SourceId(0),
                    index,
                },
                pointer,
            )
        };
        let consequence = || {
            Finding::new(Code::POLICY_UNUSED, at(1, "/spec"), "nobody receives it").follows_from(at(0, ""))
        };
        let left = |root: Finding| {
            let mut findings = Findings::new();
            findings.push(consequence());
            findings.push(root);
            findings.finish(&BTreeMap::new(), Warnings::Reported);
            findings.iter().any(|finding| finding.code == Code::POLICY_UNUSED)
        };
        let root = |code, index| Finding::new(code, at(index, "/spec/x"), "wrong");
        assert!(!left(root(Code::OBJECT_SCHEMA, 0)), "an error explains a warning");
        assert!(!left(root(Code::GATEWAY_NOT_PLACED, 0)), "and so does a warning");
        assert!(left(root(Code::OBJECT_SCHEMA, 2)), "in another object");
        let error = consequence().severity(Severity::Error);
        let mut findings = Findings::new();
        findings.push(error);
        findings.push(root(Code::GATEWAY_NOT_PLACED, 0));
        findings.finish(&BTreeMap::new(), Warnings::Reported);
        assert_eq!(findings.count(Severity::Error), 1, "no warning hides an error");
        assert!(left(consequence()), "two consequences do not explain each other");
    }

    #[test]
    fn a_rule_of_a_schema_is_a_note_of_what_tells_its_part_and_nothing_beside_an_unknown_field() {
        let at = |pointer: &str| {
            Place::value(
                DocumentId {
                    source: SourceId(0),
                    index: 0,
                },
                pointer,
            )
        };
        let rule = || {
            let mut rule = Finding::new(Code::OBJECT_SCHEMA, at("/items/0/spec"), "the rule");
            rule.is_rule = true;
            rule
        };
        let told = |other: Finding| {
            let mut findings = Findings::new();
            findings.push(rule());
            findings.push(other);
            findings.finish(&BTreeMap::new(), Warnings::Reported);
            let told = findings
                .iter()
                .map(|finding| (finding.message.clone(), finding.notes.clone()));
            told.collect::<Vec<_>>()
        };
        let inside = Finding::new(Code::GATEWAY_INVALID, at("/items/0/spec/listeners/1"), "this one");
        let mut notes = Few::new();
        notes.push(Text::from("the rule"));
        assert_eq!(told(inside), [("this one".into(), notes)]);
        let unknown = |item: &str| Finding::new(Code::OBJECT_UNKNOWN_FIELD, at(item), "no field");
        assert_eq!(told(unknown("/items/0/spec/x")).len(), 1);
        assert_eq!(
            told(unknown("/items/1/spec/x")).len(),
            2,
            "another object of the list"
        );
    }

    #[test]
    fn an_override_changes_or_drops_a_code() {
        let warning = SeverityOverride::Severity(Severity::Warning);
        let code = Code::POLICY_TARGET_NOT_FOUND;
        let findings = finished(one(code), &[(code, warning)], Warnings::Reported);
        assert_eq!(findings.summary().to_string(), "1 warning");
        assert_eq!(findings.exit_status(), 0);
        assert!(finished(one(code), &[(code, SeverityOverride::Off)], Warnings::Reported).is_empty());
        assert!(
            finished(
                one(Code::POLICY_UNUSED),
                &[(code, SeverityOverride::Off)],
                Warnings::Reported
            )
            .count(Severity::Warning)
                == 1
        );
    }

    #[test]
    fn a_fixed_code_cannot_be_switched_off_or_softened() {
        for change in [
            SeverityOverride::Off,
            SeverityOverride::Severity(Severity::Warning),
        ] {
            for code in [Code::YAML_SYNTAX, Code::OUTPUT_EDITED, Code::OBJECT_INVALID_NAME] {
                assert!(
                    finished(one(code), &[(code, change)], Warnings::Reported).has_errors(),
                    "{}",
                    code.name()
                );
            }
        }
    }

    #[test]
    fn denied_warnings_are_errors_also_when_an_override_made_them_warnings() {
        let warning = SeverityOverride::Severity(Severity::Warning);
        let code = Code::SECRET_ENCRYPTED;
        assert!(finished(one(code), &[(code, warning)], Warnings::Denied).has_errors());
        assert!(finished(one(code), &[(code, SeverityOverride::Off)], Warnings::Denied).is_empty());
        assert_eq!(
            finished(one(Code::POLICY_SAME_TARGET), &[], Warnings::Denied).exit_status(),
            4
        );
        assert_eq!(
            finished(one(Code::POLICY_SAME_TARGET), &[], Warnings::Reported).exit_status(),
            0
        );
    }

    #[test]
    fn what_is_suppressed_is_counted_apart_and_no_error_is() {
        let suppressed = Suppressed {
            by: SuppressedBy::Configuration,
            reason: "known".to_owned(),
        };
        let mut findings = one(Code::SECRET_NOT_FOUND);
        findings.extend(one(Code::POLICY_UNUSED));
        findings.extend(one(Code::POLICY_INVALID));
        findings.suppress(|finding| (finding.code != Code::POLICY_UNUSED).then(|| suppressed.clone()));
        assert_eq!(findings.summary().to_string(), "1 error, 1 warning, 1 suppressed");
        let denied = finished(findings, &[], Warnings::Denied);
        assert_eq!(denied.summary().to_string(), "2 errors, 1 suppressed");
        assert_eq!(
            denied.only(Severity::Warning).summary().to_string(),
            "1 suppressed"
        );
    }

    #[test]
    fn of_several_exit_statuses_5_wins_then_3_then_4() {
        let mut findings = one(Code::PLACEMENT_NOT_FOUND);
        assert_eq!(findings.exit_status(), 4);
        findings.extend(one(Code::POLICY_INVALID));
        assert_eq!(findings.exit_status(), 3);
        findings.extend(one(Code::OUTPUT_EDITED));
        assert_eq!(findings.exit_status(), 5);
        assert_eq!(Findings::new().exit_status(), 0);
    }

    #[test]
    fn reading_order_is_path_line_column_and_the_run_last() {
        let mut texts = Texts::default();
        let b = texts.file("b.yaml", "z: 1\na: 2\n");
        let a = texts.file("a.yaml", "c: 3\n");
        let mut findings = Findings::new();
        for (place, message) in [
            (Place::Run, "run"),
            (texts.field(b, 0, "/a", "2"), "b 2:4"),
            (Place::Path("b.yaml".to_owned()), "b itself"),
            (texts.text(b, "a"), "b 2:1"),
            (texts.field(b, 0, "/z", "1"), "b 1:4"),
            (texts.text(a, "c"), "a 1:1"),
        ] {
            findings.push(Finding::new(Code::YAML_SYNTAX, place, message));
        }
        findings.order_by_position(&texts, None);
        let order = findings
            .iter()
            .map(|finding| finding.message.text())
            .collect::<Vec<_>>();
        assert_eq!(order, ["a 1:1", "b itself", "b 1:4", "b 2:1", "b 2:4", "run"]);
    }

    #[test]
    fn a_mistake_of_many_objects_is_said_once() {
        let of_object = |index: u32| {
            let source = SourceId(0);
            let document = DocumentId { source, index };
            let place = || Place::value(document, "/spec/rules/0/backendRefs/0/port");
            let message = Message::about(
                format!("HTTPRoute shop/route-{index}: "),
                "Invalid value: 70000: should be less than or equal to 65535",
            );
            Finding::new(Code::OBJECT_SCHEMA, place(), message)
                .note("the same note of every object")
                .help("the same help for every object")
                .related(place(), "the same words about a place")
                .follows_from(place())
                .settles((document, "/spec/rules/0/backendRefs/0/port".into()))
        };
        let mut findings = Findings::new();
        findings.extend([of_object(0), of_object(1)]);
        let before = format!("{findings:?}");
        findings.share_texts();
        assert_eq!(format!("{findings:?}"), before, "they say what they said");
        let texts = |finding: &Finding| {
            let label = &finding.related[0];
            let places = [&finding.place, &label.place].map(|place| place.field().unwrap());
            let cause = finding.causes().next().unwrap();
            let pointers = [places[0], places[1], cause].map(|(_, pointer)| pointer.as_ptr());
            let notes = finding.notes.as_ptr();
            let help = finding.help.as_ref().unwrap().as_ptr();
            (pointers, label.text.as_ptr(), notes, help, finding.message.said())
        };
        let all: Vec<_> = findings.iter().map(texts).collect();
        assert_eq!(all[0], all[1]);
        assert!(
            findings.iter().all(|finding| finding.rest.is_none()),
            "the field it is about"
        );
    }

    fn any_finding() -> impl Strategy<Value = Finding> {
        let place = prop_oneof![
            Just(Place::Run),
            Just(Place::Path("a".to_owned())),
            (0u32..2, 0u32..2).prop_map(|(source, index)| {
                let source = SourceId(source);
                Place::value(DocumentId { source, index }, "/spec")
            }),
            (0u32..2, 0usize..3).prop_map(|(source, start)| Place::Text {
                source: SourceId(source),
                start,
                end: start + 1,
            }),
        ];
        let text = prop_oneof![Just(""), Just("a"), Just("b")];
        let details = (text.clone(), text.clone(), text, any::<bool>());
        (place, prop::sample::select(CODES_USED.to_vec()), details).prop_map(
            |(place, code, (message, label, note, helped))| {
                let finding = Finding::new(code, place.clone(), message).label(label).note(note);
                if helped {
                    finding.help("h").related(place, "r")
                } else {
                    finding
                }
            },
        )
    }

    const CODES_USED: [Code; 3] = [Code::YAML_SYNTAX, Code::POLICY_UNUSED, Code::SECRET_NOT_FOUND];

    proptest! {
        #[test]
        fn the_result_never_depends_on_the_order_of_arrival_and_has_no_repeats(
            (arrived, shuffled) in prop::collection::vec(any_finding(), 0..20)
                .prop_flat_map(|findings| (Just(findings.clone()), Just(findings).prop_shuffle())),
            warnings in prop::sample::select(vec![Warnings::Reported, Warnings::Denied]),
        ) {
            let finish = |arrived: Vec<Finding>| {
                let mut findings = Findings::new();
                findings.extend(arrived);
                finished(findings, &[(Code::SECRET_NOT_FOUND, SeverityOverride::Off)], warnings)
                    .into_iter()
                    .collect::<Vec<_>>()
            };
            let (one, other) = (finish(arrived), finish(shuffled));
            prop_assert_eq!(&one, &other);
            for (index, finding) in one.iter().enumerate() {
                prop_assert!(!one[..index].contains(finding));
            }
        }

        #[test]
        fn reading_order_never_depends_on_the_order_of_arrival(
            order in Just((0..4usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let (texts, findings) = sample();
            let all = findings.into_iter().collect::<Vec<_>>();
            let arrange = |order: &[usize]| {
                let mut findings = Findings::new();
                findings.extend(order.iter().map(|index| all[*index].clone()));
                findings.order_by_position(&texts, None);
                findings.into_iter().collect::<Vec<_>>()
            };
            prop_assert_eq!(arrange(&order), arrange(&[0, 1, 2, 3]));
        }
    }
}
