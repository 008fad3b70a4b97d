//! CEL selectors (docs/systems/ocm-placement.md#cel-selectors).
//!
//! An expression is compiled once in a run, and evaluated once for each cluster that is asked for. One that cannot be
//! used makes the Placement misconfigured.
//!
//! Expressions are read and evaluated by `cel-eval`, on threads with large stacks, under one cost limit for all of them.
//! What is OCM's is built here: `expand` (macros), `check` (names and types: cel-go refuses at compile time what would
//! otherwise fail only when it runs), `library` (OCM's functions), `view` (the cluster as Go presents it).

mod check;
mod expand;
mod library;
mod signatures;
mod view;

#[cfg(test)]
mod tests;

use std::thread;

use apimachinery::{Allowance, Work};
use cel_eval::{
    Expression, Failure, OBJECT_BUDGET, STACK, Stop, Unparsed, evaluate, on_a_large_stack, parse,
};
use kube_cel::cel::Value;

use crate::cel::library::Library;
use crate::fleet::{Bits, Fleet};
use crate::ids::ClusterId;
use crate::input::Input;

/// What is reported about a selector where the clusters of a run ask for more than is spent on them.
const SPENT: &str = "its expressions, with those of the other Placements, take more work than a run allows";

/// What is reported about an expression that would hold more than it gets.
const TOO_LARGE: &str = "an expression uses more memory than allowed";

/// The expressions of one selector, ANDed.
#[derive(Debug)]
pub(crate) struct Expressions {
    compiled: Vec<Expression>,
}

/// A selector and the clusters that it is asked about.
pub(crate) struct Question<'q> {
    pub(crate) expressions: &'q Expressions,
    pub(crate) candidates: Bits,
}

impl Expressions {
    /// Compiles all expressions; the first one that cannot be compiled decides the message.
    ///
    /// # Errors
    /// Which one that is, and what is wrong with it.
    pub(crate) fn compile(expressions: &[&str]) -> Result<Self, (usize, String)> {
        let compile_all = || -> Result<Vec<Expression>, (usize, String)> {
            let expressions = expressions.iter().enumerate();
            let compiled = expressions.map(|(index, source)| compile(source).map_err(|error| (index, error)));
            compiled.collect()
        };
        let crashed = || Err((0, "the expression cannot be compiled".to_owned()));
        let compiled = on_a_large_stack(compile_all).unwrap_or_else(crashed)?;
        Ok(Self { compiled })
    }
}

fn compile(source: &str) -> Result<Expression, String> {
    let parsed = parse(source).map_err(|error| match error {
        Unparsed::Wrong(message) | Unparsed::TooMuch(message) => message,
    })?;
    let mut expression = parsed.into_root();
    expand::expand(&mut expression)?;
    check::check(&expression)?;
    Ok(Expression::new(expression))
}

/// The clusters that match, for each question, or why that cannot be said. Each cluster is converted once, on as many
/// threads as the pool has.
pub(crate) fn ask(
    questions: &[Question<'_>],
    input: &Input<'_>,
    fleet: &Fleet<'_>,
) -> Vec<Result<Bits, String>> {
    let mut wanted = Bits::none(fleet.len());
    for question in questions {
        wanted.add(&question.candidates);
    }
    let clusters = wanted.to_list();
    let mut answers = vec![Ok(Bits::none(fleet.len())); questions.len()];
    if clusters.is_empty() {
        return answers;
    }
    let library = Library::new(input);
    let work = Work::default();
    let threads = rayon::current_num_threads().clamp(1, clusters.len());
    let share = clusters.len().div_ceil(threads);
    let parts: Vec<Vec<(usize, ClusterId, Verdict)>> = thread::scope(|scope| {
        let handles: Vec<_> = clusters
            .chunks(share)
            .map(|part| {
                let (library, work) = (&library, &work);
                let ask = move || matches(questions, part, fleet, library, work);
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, ask)
            })
            .collect();
        let join = |handle: thread::ScopedJoinHandle<'_, _>| handle.join().unwrap_or_default();
        handles.into_iter().flatten().map(join).collect()
    });
    // Whether there was enough depends on no order; what was still answered does.
    if work.is_spent() {
        return vec![Err(SPENT.to_owned()); questions.len()];
    }
    for (question, cluster, verdict) in parts.into_iter().flatten() {
        match (answers.get_mut(question), verdict) {
            (Some(Ok(bits)), Verdict::Matches) => bits.insert(cluster),
            (Some(answer), Verdict::TooLarge) => *answer = Err(TOO_LARGE.to_owned()),
            _ => {}
        }
    }
    answers
}

/// The facts about a cluster.
enum Verdict {
    Matches,
    DoesNot,
    /// Nothing, because an expression holds more than it gets.
    TooLarge,
}

/// Position of the question and cluster of every match, and of what is not known.
fn matches(
    questions: &[Question<'_>],
    clusters: &[ClusterId],
    fleet: &Fleet<'_>,
    library: &Library<'_>,
    work: &Work,
) -> Vec<(usize, ClusterId, Verdict)> {
    let mut matches = Vec::new();
    for id in clusters {
        let cluster = view::view(*id, fleet);
        let mut allowance = work.allowance(fleet.clusters[*id].object.value);
        for (position, question) in questions.iter().enumerate() {
            if question.candidates.contains(*id) {
                match all_hold(&question.expressions.compiled, &cluster, library, &mut allowance) {
                    Verdict::DoesNot => {}
                    verdict => matches.push((position, *id, verdict)),
                }
            }
        }
    }
    matches
}

/// Whether every expression is true within its limit and all of them within the budget. An error, or anything that is
/// no boolean, is no match: open-cluster-management-io/ocm pkg/placement/helpers/cel.go@v1.3.1
/// `evaluateAllExpressions`.
fn all_hold(
    expressions: &[Expression],
    cluster: &Value,
    functions: &Library<'_>,
    allowance: &mut Allowance<'_>,
) -> Verdict {
    let mut left = OBJECT_BUDGET;
    for expression in expressions {
        let evaluated = evaluate(expression, &[("managedCluster", cluster)], functions, allowance);
        if evaluated.value == Err(Failure::Stop(Stop::Memory)) {
            return Verdict::TooLarge;
        }
        match left.checked_sub(evaluated.cost) {
            Some(rest) if evaluated.value == Ok(Value::Bool(true)) => left = rest,
            _ => return Verdict::DoesNot,
        }
    }
    Verdict::Matches
}
