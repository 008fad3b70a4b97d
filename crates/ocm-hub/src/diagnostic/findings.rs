//! The collector that all stages fill: one run reports everything that is wrong, in a stable order. It applies the
//! configured severities and decides the exit status; which findings explain others is decided in `explained`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::explained::leave_out_explained;
use super::text::counted;
use super::{Code, Finding, Locate, Severity, Suppressed, SuppressedBy, reading_order};
use crate::parallel;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeverityOverride {
    /// Nothing is rendered.
    Error,
    /// Reported.
    Warning,
    /// Not reported.
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

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.found
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// How many findings have this severity, without those that are suppressed.
    pub fn count(&self, severity: Severity) -> usize {
        self.found
            .iter()
            .filter(|finding| finding.counts_as(severity))
            .count()
    }

    /// How many findings are suppressed.
    pub fn suppressed(&self) -> usize {
        self.found
            .iter()
            .filter(|finding| finding.suppressed.is_some())
            .count()
    }

    /// Whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The findings in the order in which they were added, or sorted after [`Findings::finish`].
    pub fn iter(&self) -> FindingsIter<'_> {
        self.found.iter().map(Arc::as_ref)
    }

    /// Applies the configured severities, and leaves out what other findings explain.
    pub fn configure(&mut self, overrides: &BTreeMap<Code, SeverityOverride>) {
        self.set_severities(overrides);
        leave_out_explained(&mut self.found);
    }

    /// Applies the configured severities. An override of a code that is not [configurable](Code::is_configurable) has
    /// no effect.
    pub fn set_severities(&mut self, overrides: &BTreeMap<Code, SeverityOverride>) {
        self.found.retain_mut(|finding| {
            let configured = overrides.get(&finding.code);
            let severity = match configured.filter(|_| finding.code.is_configurable()) {
                None => return true,
                Some(SeverityOverride::Error) => Severity::Error,
                Some(SeverityOverride::Warning) => Severity::Warning,
                Some(SeverityOverride::Off) => {
                    let off = Suppressed {
                        by: SuppressedBy::Configuration,
                        reason: "off in the configuration".to_owned(),
                    };
                    // What is left out in spite of an error is counted in each summary.
                    if finding.severity == Severity::Error {
                        let finding = Arc::make_mut(finding);
                        finding.severity = Severity::Warning;
                        finding.suppressed = Some(off);
                    } else if finding.suppressed.as_ref() != Some(&off) {
                        return false;
                    }
                    return true;
                }
            };
            if finding.severity != severity {
                Arc::make_mut(finding).severity = severity;
            }
            true
        });
    }

    /// Marks the accepted warnings. An error cannot be accepted, but for a violation of a FleetRule, which the configuration
    /// may accept: it then is a warning. An object cannot exempt itself.
    pub fn suppress(&mut self, mut accepted: impl FnMut(&Finding) -> Option<Suppressed>) {
        for finding in &mut self.found {
            let is_error = finding.severity == Severity::Error;
            if is_error && finding.code != Code::RULE_VIOLATED {
                continue;
            }
            let suppressed = accepted(finding);
            let suppressed = suppressed.filter(|by| !is_error || by.by == SuppressedBy::Configuration);
            if suppressed.is_some() && finding.suppressed != suppressed {
                let finding = Arc::make_mut(finding);
                finding.severity = Severity::Warning;
                finding.suppressed = suppressed;
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
                finding.suppressed.is_none() && finding.severity != Severity::Error
            };
            for finding in self.found.iter_mut().filter(counts) {
                Arc::make_mut(finding).severity = Severity::Error;
            }
        }
        reading_order::sort(&mut self.found);
        self.found.dedup();
    }

    /// Sorts as a reader meets them: by path, line and column, within one position as [`Findings::finish`] does.
    /// Findings about a file as a whole are before those inside it, and findings about the run are last.
    pub fn order_by_position(&mut self, locate: &dyn Locate) {
        reading_order::order_by_position(&mut self.found, locate);
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
        let first = meant.min_by_key(|finding| reading_order::position_key(&finding.place, locate));
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
    use kube_json::Text;
    use proptest::prelude::*;

    use super::super::{DocumentId, Place, SourceId, SuppressedBy};
    use super::*;
    use crate::tests::findings::{Texts, sample};

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
        let at = |code: Code, pointer: &str| Finding::new(code, Place::value(document, pointer), code.name());
        let codes = |findings: &[Finding]| -> Vec<&'static str> {
            let mut all = Findings::new();
            all.extend(findings.to_vec());
            let all = finished(all, &[], Warnings::Reported);
            all.iter().map(|finding| finding.code.name()).collect()
        };
        let schema = at(Code::OBJECT_SCHEMA, "/a").settles_field();
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
            .settles_field()
            .misspells(Place::value(document, "/b"));
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
        let notes = vec![Text::from("the rule")];
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
        let warning = SeverityOverride::Warning;
        let code = Code::POLICY_TARGET_NOT_FOUND;
        let findings = finished(one(code), &[(code, warning)], Warnings::Reported);
        assert_eq!(findings.summary().to_string(), "1 warning");
        assert_eq!(findings.exit_status(), 0);
        let off = SeverityOverride::Off;
        let counted = finished(one(code), &[(code, off)], Warnings::Reported);
        assert_eq!(counted.summary().to_string(), "1 suppressed");
        let mut again = counted.clone();
        again.suppress(|_| None);
        again.finish(&BTreeMap::from([(code, off)]), Warnings::Reported);
        assert_eq!(again.summary(), counted.summary(), "twice is once");
        let unused = Code::POLICY_UNUSED;
        assert!(finished(one(unused), &[(unused, off)], Warnings::Reported).is_empty());
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
        for change in [SeverityOverride::Off, SeverityOverride::Warning] {
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
        let warning = SeverityOverride::Warning;
        let code = Code::SECRET_ENCRYPTED;
        assert!(finished(one(code), &[(code, warning)], Warnings::Denied).has_errors());
        let off = finished(one(code), &[(code, SeverityOverride::Off)], Warnings::Denied);
        assert_eq!(off.summary().to_string(), "1 suppressed");
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
        findings.order_by_position(&texts);
        let order = findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect::<Vec<_>>();
        assert_eq!(order, ["a 1:1", "b itself", "b 1:4", "b 2:1", "b 2:4", "run"]);
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
                findings.order_by_position(&texts);
                findings.into_iter().collect::<Vec<_>>()
            };
            prop_assert_eq!(arrange(&order), arrange(&[0, 1, 2, 3]));
        }
    }
}

/// Counts of findings; prints as `2 errors, 1 warning, 3 suppressed`, and as `no findings` when there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FindingCounts {
    /// Findings that stop anything from being written.
    pub errors: usize,
    /// Findings that do not.
    pub warnings: usize,
    /// Accepted warnings, which are not counted.
    pub suppressed: usize,
}

impl FindingCounts {
    /// The count of one severity.
    pub(super) fn of(&mut self, severity: Severity) -> &mut usize {
        match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        }
    }

    /// The counts as what is left out: `37 more errors, 1 more warning`.
    pub(super) fn more(self) -> String {
        self.phrase("more ")
    }

    fn phrase(self, more: &str) -> String {
        let suppressed = (self.suppressed > 0).then(|| format!("{} {more}suppressed", self.suppressed));
        [(self.errors, Severity::Error), (self.warnings, Severity::Warning)]
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, severity)| counted(count, &format!("{more}{}", severity.as_str())))
            .chain(suppressed)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl fmt::Display for FindingCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            formatter.write_str("no findings")
        } else {
            formatter.write_str(&self.phrase(""))
        }
    }
}

impl Findings {
    /// How many errors and warnings there are.
    pub fn summary(&self) -> FindingCounts {
        FindingCounts {
            errors: self.count(Severity::Error),
            warnings: self.count(Severity::Warning),
            suppressed: self.suppressed(),
        }
    }
}
