//! What a Git hook needs besides the rendering: which findings the last commit already had, and which files the next
//! one would lack.
//!
//! Owns: asking Git both questions. Flows in: a request, a run's findings, its trees. Flows out: findings, files. Must
//! not know: how they are shown.

use std::path::Path;

use spokewright::diagnostic::Findings;
use spokewright::output::Change;
use spokewright::pipeline::{Loaded, Request};

#[cfg(not(feature = "git"))]
use super::options::Index;

/// Takes out the warnings that the last commit's input has as well, and counts them: a user who changes a limit need
/// not read at every commit what was accepted long ago.
#[cfg(feature = "git")]
pub(crate) fn take_known(findings: &mut Findings, loaded: &Loaded, request: &Request) -> usize {
    use std::collections::HashSet;

    use spokewright::diagnostic::{Finding, Locate as _, Severity, Warnings};
    use spokewright::pipeline::{self, Analysis, EmptyResult};
    use spokewright::source::{Files, Sources};

    // Lines move; a file and a message say what it is.
    fn identity(finding: &Finding, sources: &Sources) -> (&'static str, String, Option<String>) {
        let file = sources.locate(&finding.place).map(|span| span.path.to_owned());
        (finding.code.name(), finding.message.to_string(), file)
    }
    let is_warning = |finding: &Finding| finding.severity == Severity::Warning;
    if !findings.iter().any(is_warning) {
        return 0;
    }
    let Some(head) = super::options::last_commit(request) else {
        return 0;
    };
    let request = Request {
        warnings: Warnings::Reported,
        output: None,
        ..request.clone()
    };
    let before = pipeline::load_from(&request, Files::Tree(&head));
    let mut earlier = Findings::new();
    let analysis = Analysis::new(&before, &mut earlier);
    analysis.render(EmptyResult::Allowed, &mut earlier);
    before.finish(&mut earlier);
    let known: HashSet<_> = earlier
        .iter()
        .map(|finding| identity(finding, &before.sources))
        .collect();
    let all = findings.iter().count();
    findings.retain(|finding| !is_warning(finding) || !known.contains(&identity(finding, &loaded.sources)));
    all.saturating_sub(findings.iter().count())
}

/// A tree and what Git's index has of it; `None` where the index has nothing to do with the output.
#[cfg(feature = "git")]
pub(crate) use spokewright::pipeline::InIndex;

/// Files of the output that the next commit would not contain as they are.
#[cfg(feature = "git")]
pub(crate) fn unstaged(
    request: &Request,
    in_index: &InIndex<'_>,
    output: (&Path, Option<&Path>),
    is_up_to_date: bool,
) -> Vec<Change> {
    in_index.unstaged(|| super::options::last_commit(request), output, is_up_to_date)
}

/// Without Git there is no index.
#[cfg(not(feature = "git"))]
pub(crate) enum InIndex<'a> {
    /// Nothing makes one.
    Never(&'a Index),
}

#[cfg(not(feature = "git"))]
impl<'a> InIndex<'a> {
    pub(crate) fn new(index: &'a Index, _: &Path, _: &'a dyn spokewright::output::Tree) -> Option<Self> {
        Some(Self::Never(index))
    }
}

#[cfg(not(feature = "git"))]
pub(crate) fn unstaged(
    _: &Request,
    in_index: &InIndex<'_>,
    _: (&Path, Option<&Path>),
    _: bool,
) -> Vec<Change> {
    let InIndex::Never(index) = in_index;
    match **index {}
}

#[cfg(not(feature = "git"))]
pub(crate) fn take_known(_: &mut Findings, _: &Loaded, _: &Request) -> usize {
    0
}
