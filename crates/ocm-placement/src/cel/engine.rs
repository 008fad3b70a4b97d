//! Compiling and running.
//!
//! Owns: the threads with large stacks, the limits, what counts as a match. Flows in: questions. Flows out:
//! answers. Must not know: what a function does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::parser::{Expression, Parser};
use kube_cel::cel::{Context, Value};

use super::error::CompileError;
use super::library::{self, Scores};
use super::{check, expand, rewrite, view};
use crate::fleet::{Bits, Fleet};
use crate::ids::ClusterId;
use crate::input::Input;

/// Kubernetes' PerCallLimit: what one expression may cost for one cluster.
const CALL_LIMIT: u64 = 1_000_000;

/// Kubernetes' RuntimeCELCostBudget: what all expressions of a selector may cost for one cluster.
const BUDGET: u64 = 10_000_000;

/// The parser and the evaluator recurse: they get a stack that the limits below cannot exhaust.
const STACK: usize = 64 << 20;

/// cel-go's limit of an expression's length, in characters.
const LONGEST: usize = 100_000;

/// Operators, commas and brackets of one expression; deeper trees than these can build do not fit the stack.
const MOST_OPERATORS: usize = 4_000;

/// Open brackets at any point.
const DEEPEST: usize = 100;

/// The expressions of one selector, ANDed.
#[derive(Debug)]
pub(crate) struct Expressions {
    compiled: Vec<Compiled>,
}

/// A selector and the clusters that it is asked about.
pub(crate) struct Question<'q> {
    pub(crate) expressions: &'q Expressions,
    pub(crate) candidates: Bits,
}

impl Expressions {
    /// Compiles all expressions; the first one that cannot be compiled decides the message.
    pub(crate) fn compile(expressions: &[&str]) -> Result<Self, CompileError> {
        let mut compiled = Vec::with_capacity(expressions.len());
        for (index, result) in compile_all(expressions).into_iter().enumerate() {
            compiled.push(result.map_err(|message| CompileError { index, message })?);
        }
        Ok(Self { compiled })
    }
}

/// An expression that is ready to run.
#[derive(Debug)]
struct Compiled {
    expression: Expression,
    /// What it costs without its loops, by cel-go's prices.
    base_cost: u64,
    /// Whether it asks for add-on scores.
    scores: bool,
}

/// Compiles each expression, on a thread with a large stack.
fn compile_all(sources: &[&str]) -> Vec<Result<Compiled, String>> {
    let crashed = || {
        sources
            .iter()
            .map(|_| Err("the expression cannot be compiled".to_owned()))
            .collect()
    };
    thread::scope(|scope| {
        let work = || sources.iter().map(|source| compile(source)).collect();
        match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
            Ok(handle) => handle.join().unwrap_or_else(|_| crashed()),
            Err(_) => crashed(),
        }
    })
}

fn compile(source: &str) -> Result<Compiled, String> {
    measure(source)?;
    let parser = Parser::new()
        .max_recursion_depth(250)
        .enable_optional_syntax(true);
    let parsed = catch_unwind(AssertUnwindSafe(|| parser.parse(source)))
        .map_err(|_| "the expression cannot be parsed".to_owned())?
        .map_err(|errors| errors.to_string())?;
    let expanded = expand::expand(parsed)?;
    check::check(&expanded)?;
    let rewritten = rewrite::rewrite(expanded);
    Ok(Compiled {
        scores: rewritten.scores,
        base_cost: rewritten.cost,
        expression: rewritten.expression,
    })
}

/// Refuses what is too long, too deep or too complex to parse within the stack.
fn measure(source: &str) -> Result<(), String> {
    if source.chars().count() > LONGEST {
        return Err(format!("expression code point size exceeds limit: {LONGEST}"));
    }
    let (mut depth, mut operators) = (0usize, 0usize);
    let mut quote = None;
    let mut escaped = false;
    for character in source.chars() {
        if let Some(open) = quote {
            if !escaped && character == open {
                quote = None;
            }
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            '"' | '\'' => quote = Some(character),
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if character.is_ascii_punctuation() && character != '_' {
            operators = operators.saturating_add(1);
        }
        if depth > DEEPEST {
            return Err(format!("expression recursion limit exceeded: {DEEPEST}"));
        }
        if operators > MOST_OPERATORS {
            return Err(format!(
                "expression too complex: more than {MOST_OPERATORS} operators"
            ));
        }
    }
    Ok(())
}

/// The clusters that match, for each question. Each cluster is converted once, on as many threads as the pool has.
pub(crate) fn ask(questions: &[Question<'_>], input: &Input<'_>, fleet: &Fleet<'_>) -> Vec<Bits> {
    let mut wanted = Bits::none(fleet.len());
    for question in questions {
        wanted.add(&question.candidates);
    }
    let clusters = wanted.to_list();
    let mut answers = vec![Bits::none(fleet.len()); questions.len()];
    if clusters.is_empty() {
        return answers;
    }
    let compiled = questions
        .iter()
        .flat_map(|question| &question.expressions.compiled);
    let scores = compiled
        .clone()
        .any(|compiled| compiled.scores)
        .then(|| Scores::new(input));
    let scores = Arc::new(scores.unwrap_or_default());
    let threads = rayon::current_num_threads().clamp(1, clusters.len());
    let share = clusters.len().div_ceil(threads);
    let parts: Vec<Vec<(usize, ClusterId)>> = thread::scope(|scope| {
        let handles: Vec<_> = clusters
            .chunks(share)
            .map(|part| {
                let scores = scores.clone();
                let work = move || matches(questions, part, fleet, scores);
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)
            })
            .collect();
        let join =
            |handle: thread::ScopedJoinHandle<'_, Vec<(usize, ClusterId)>>| handle.join().unwrap_or_default();
        handles.into_iter().flatten().map(join).collect()
    });
    for (question, cluster) in parts.into_iter().flatten() {
        if let Some(bits) = answers.get_mut(question) {
            bits.insert(cluster);
        }
    }
    answers
}

/// Position of the question and cluster of every match.
fn matches(
    questions: &[Question<'_>],
    clusters: &[ClusterId],
    fleet: &Fleet<'_>,
    scores: Arc<Scores>,
) -> Vec<(usize, ClusterId)> {
    let spent = Arc::new(AtomicU64::new(0));
    let mut root = Context::default();
    root.register_all();
    library::register(&mut root, scores, &spent, CALL_LIMIT);
    let mut matches = Vec::new();
    for id in clusters {
        let mut context = root.new_inner_scope();
        context.add_variable_from_value("managedCluster", view::view(*id, fleet));
        for (position, question) in questions.iter().enumerate() {
            if question.candidates.contains(*id) && all_hold(&question.expressions.compiled, &context, &spent)
            {
                matches.push((position, *id));
            }
        }
    }
    matches
}

/// Whether every expression is true within its limit and all of them within the budget. An error, or anything
/// that is no boolean, is no match.
fn all_hold(expressions: &[Compiled], context: &Context<'_>, spent: &AtomicU64) -> bool {
    let mut total = 0u64;
    expressions.iter().all(|compiled| {
        spent.store(compiled.base_cost, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| Value::resolve(&compiled.expression, context)));
        let cost = spent.load(Ordering::Relaxed);
        total = total.saturating_add(cost);
        cost <= CALL_LIMIT && total <= BUDGET && matches!(result, Ok(Ok(Value::Bool(true))))
    })
}
