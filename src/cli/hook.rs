//! What a Git hook needs besides the rendering: which findings the last commit already had, and which files the next
//! one would lack.
//!
//! Owns: asking Git both questions. Flows in: a request, a run's findings, its trees. Flows out: findings, files. Must
//! not know: how they are shown.

use std::path::Path;

use spokewright::diagnostic::Findings;
use spokewright::output::{Change, Tree};
use spokewright::pipeline::{Loaded, Request};

use super::options::Index;

/// Takes out the warnings that the last commit's input has as well, and counts them: a user who changes a limit need
/// not read at every commit what was accepted long ago.
#[cfg(feature = "git")]
pub(crate) fn take_known(findings: &mut Findings, loaded: &Loaded, request: &Request) -> usize {
    use std::collections::HashSet;

    use spokewright::diagnostic::{Finding, Locate as _, Severity, Warnings};
    use spokewright::pipeline::{self, Analysis, EmptyResult};
    use spokewright::source::{Files, ReadBefore, Sources};

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
        keeps_values: false,
        ..request.clone()
    };
    let head = head.after(ReadBefore::new(&loaded.sources));
    let before = pipeline::load_from(&request, Files::Tree(&head));
    let mut earlier = Findings::new();
    let analysis = Analysis::new(&before, &mut earlier);
    analysis.judge(EmptyResult::Allowed, &mut earlier);
    before.finish(&mut earlier);
    let known: HashSet<_> = earlier
        .iter()
        .map(|finding| identity(finding, &before.sources))
        .collect();
    let all = findings.iter().count();
    findings.retain(|finding| !is_warning(finding) || !known.contains(&identity(finding, &loaded.sources)));
    all.saturating_sub(findings.iter().count())
}

/// Files of the output that the next commit would not contain as they are.
#[cfg(feature = "git")]
pub(crate) fn unstaged(
    request: &Request,
    index: &Index,
    output: (&Path, Option<&Path>),
    tree: &dyn Tree,
) -> Vec<Change> {
    let head = super::options::last_commit(request);
    spokewright::pipeline::unstaged(index, head.as_ref(), output, tree)
}

#[cfg(not(feature = "git"))]
pub(crate) fn take_known(_: &mut Findings, _: &Loaded, _: &Request) -> usize {
    0
}

#[cfg(not(feature = "git"))]
pub(crate) fn unstaged(_: &Request, index: &Index, _: (&Path, Option<&Path>), _: &dyn Tree) -> Vec<Change> {
    match *index {}
}
