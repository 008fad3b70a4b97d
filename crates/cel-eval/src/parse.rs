//! Parses expressions from untrusted authors. [`Expression`] has limits of length and depth, and is parsed on a stack
//! that is large enough for the deepest one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{EntryExpr, Expr};
use kube_cel::cel::parser::Parser;

/// cel-go's limit of an expression's length, in characters: google/cel-go parser/options.go@v0.26.0.
const CHARACTERS_MAX: usize = 100_000;
/// Operators, commas and brackets of one expression: deeper trees than these can build do not fit the parser's stack.
const SIGNS_MAX: usize = 4_000;
/// So few fit any stack.
const SIGNS_OF_A_SMALL_ONE: usize = 100;
/// Open brackets at any point.
const BRACKETS_MAX: usize = 100;
/// Parts inside parts: cel-go's limit of recursion.
const DEPTH_MAX: usize = 250;
/// What any thread's stack goes through.
const DEPTH_OF_A_SMALL_ONE: usize = 40;
/// The stack of whatever recurses for each part: no expression that compiles exhausts it.
pub const STACK: usize = 64 << 20;

/// An expression that has been read.
#[derive(Debug)]
pub struct Expression {
    root: IdedExpr,
    is_deep: bool,
}

impl Expression {
    /// An expression made of what [`parse`] has read.
    pub fn new(root: IdedExpr) -> Self {
        let is_deep = is_deeper(&root, DEPTH_OF_A_SMALL_ONE);
        Self { root, is_deep }
    }

    /// Its parts.
    pub const fn root(&self) -> &IdedExpr {
        &self.root
    }

    /// Its parts, to make another one of them.
    pub fn into_root(self) -> IdedExpr {
        self.root
    }

    pub(crate) const fn is_deep(&self) -> bool {
        self.is_deep
    }
}

/// Runs a function on a stack that is large enough for any expression; `None` if there is no such thread, or it
/// panics.
pub fn on_a_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, work).ok()?.join().ok()
    })
}

/// Why an expression is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unparsed {
    /// It is none: the parser's complaint.
    Wrong(String),
    /// It is too much for us, though it may be right.
    TooMuch(String),
}

/// Reads an expression.
///
/// # Errors
/// It is none, or too much for us.
pub fn parse(text: &str) -> Result<Expression, Unparsed> {
    let signs = measure(text)?;
    if signs <= SIGNS_OF_A_SMALL_ONE {
        return parsed(text);
    }
    let failed = || Unparsed::TooMuch("the expression cannot be parsed".to_owned());
    on_a_large_stack(|| parsed(text)).ok_or_else(failed)?
}

fn parsed(text: &str) -> Result<Expression, Unparsed> {
    // Kubernetes' and OCM's environments have CEL's optional types:
    // kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/environment/base.go@v1.34.1
    let parser = Parser::new()
        .max_recursion_depth(250)
        .enable_optional_syntax(true);
    let expression = catch_unwind(AssertUnwindSafe(|| parser.parse(text)))
        .map_err(|_| Unparsed::TooMuch("the expression cannot be parsed".to_owned()))?
        .map_err(|errors| Unparsed::Wrong(errors.to_string()))?;
    if is_deeper(&expression, DEPTH_MAX) {
        return Err(Unparsed::TooMuch(format!(
            "expression recursion limit exceeded: {DEPTH_MAX}"
        )));
    }
    Ok(Expression::new(expression))
}

/// The operators, commas and brackets of an expression that is neither too long nor too deep to be parsed.
fn measure(text: &str) -> Result<usize, Unparsed> {
    if text.chars().count() > CHARACTERS_MAX {
        return Err(Unparsed::TooMuch(format!(
            "expression code point size exceeds limit: {CHARACTERS_MAX}"
        )));
    }
    let (mut depth, mut signs) = (0_usize, 0_usize);
    let mut quote = None;
    let mut escaped = false;
    for character in text.chars() {
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
            signs = signs.saturating_add(1);
        }
        if depth > BRACKETS_MAX {
            return Err(Unparsed::TooMuch(format!(
                "expression recursion limit exceeded: {BRACKETS_MAX}"
            )));
        }
        if signs > SIGNS_MAX {
            return Err(Unparsed::TooMuch(format!(
                "expression too complex: more than {SIGNS_MAX} operators"
            )));
        }
    }
    Ok(signs)
}

/// Whether parts are in more than `depth` parts.
fn is_deeper(expression: &IdedExpr, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return true;
    };
    parts(expression).into_iter().any(|part| is_deeper(part, depth))
}

/// The expressions directly inside one.
pub fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map
            .entries
            .iter()
            .flat_map(|entry| parts_of_entry(&entry.expr))
            .collect(),
        Expr::Struct(message) => {
            let entries = message.entries.iter();
            entries.flat_map(|entry| parts_of_entry(&entry.expr)).collect()
        }
        Expr::Comprehension(comprehension) => vec![
            &comprehension.iter_range,
            &comprehension.accu_init,
            &comprehension.loop_cond,
            &comprehension.loop_step,
            &comprehension.result,
        ],
    }
}

fn parts_of_entry(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
        EntryExpr::StructField(field) => vec![&field.value],
    }
}
