//! Feedback paths: client-go's JSONPath dialect, in which OCM's work agent reads status values.
//!
//! [`FeedbackPath::parse`] checks a path, and a checked path finds values in an object. Mistakes have an offset.
//!
//! The dialect (docs/systems/ocm-work.md#feedback): the agent wraps a path in `{...}`, a missing key is not an error,
//! and only the first result counts. Names escape with `\`; a quoted name in brackets is read like a
//! field, so its dots separate unless escaped; filters compare one path with one literal or path.

use std::cmp::Ordering;
use std::fmt;

use kube_json::Value;

#[cfg(test)]
mod tests;

/// A path that OCM's work agent can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackPath {
    text: String,
    steps: Vec<Step>,
}

impl FeedbackPath {
    /// Checks a path. Braces around the whole of it are taken off: OCM adds its own.
    ///
    /// # Errors
    /// `PathError` with the offset of the first thing that the agent would refuse.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > PATH_MAX {
            return fail(PATH_MAX, PathProblem::TooLong);
        }
        let mut loops = ["{range", "{ range", "{end}"].iter();
        if let Some(offset) = loops.find_map(|part| text.find(part)) {
            return fail(offset, PathProblem::Range);
        }
        let (start, inner) = inside_braces(text);
        if inner.trim().is_empty() {
            return fail(start, PathProblem::Empty);
        }
        let steps = steps(inner, start, |item| match item {
            Item::Word(word) if word == "range" || word == "end" => PathProblem::Range,
            Item::Word(word) => PathProblem::Identifier(word),
            Item::Literal(Value::String(text)) => PathProblem::Identifier(text.to_string()),
            Item::Literal(value) => PathProblem::Identifier(value.to_string()),
        })?;
        let text = inner.to_owned();
        Ok(Self { text, steps })
    }

    /// What the agent would feed back of this object: the first thing that the path finds. `None`, too, where a
    /// wildcard, a slice, a union, or `..` leaves open which is the first on a cluster, which adds fields of its own.
    pub fn first(&self, object: &Value) -> Option<Value> {
        found(&self.steps, object)?.first().map(|value| (*value).clone())
    }
}

impl fmt::Display for FeedbackPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(i64),
    /// A wildcard, a slice, or a union.
    Several,
    Recursive,
    /// Paths inside filters start at the current element.
    Filter(Vec<Step>, Option<(&'static str, Operand)>),
}

/// Whether a comparison is true of two values in this order.
type Holds = fn(Ordering) -> bool;

/// The comparisons, by their operators. Only the first two are of booleans.
const OPERATORS: [(&str, Holds); 6] = [
    ("==", Ordering::is_eq),
    ("!=", Ordering::is_ne),
    ("<", Ordering::is_lt),
    ("<=", Ordering::is_le),
    (">", Ordering::is_gt),
    (">=", Ordering::is_ge),
];

/// The right side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Operand {
    /// A text, a number, or a boolean.
    Literal(Value),
    Path(Vec<Step>),
}

/// The path without braces around the whole and spaces around that, and its offset.
fn inside_braces(text: &str) -> (usize, &str) {
    let trimmed = text.trim();
    let start = text.len().saturating_sub(text.trim_start().len());
    match trimmed.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        // More braces inside: not one expression in braces.
        Some(inner) if !inner.contains(['{', '}']) => (start.saturating_add(1), inner),
        _ => (start, trimmed),
    }
}

/// The steps of an expression that is a path; `problem` states what is wrong with one that is a value.
fn steps(text: &str, base: usize, problem: fn(Item) -> PathProblem) -> Result<Vec<Step>, PathError> {
    let items = Reader::new(text, base).items()?;
    let step = |(offset, item): (usize, Result<Step, Item>)| {
        item.map_err(|item| PathError {
            offset,
            problem: problem(item),
        })
    };
    items.into_iter().map(step).collect()
}

/// The parts of an expression that are no steps, before it is known whether it is a path or a value.
enum Item {
    Word(String),
    /// A text, a number, or a boolean.
    Literal(Value),
}

/// The parts of an expression, each with its offset.
type Parts = Vec<(usize, Result<Step, Item>)>;

fn fail<T>(offset: usize, problem: PathProblem) -> Result<T, PathError> {
    Err(PathError { offset, problem })
}

struct Reader<'t> {
    rest: &'t str,
    /// The offset behind it in what the user wrote.
    end: usize,
}

/// Whether a character ends a name.
fn ends_name(character: char) -> bool {
    " \n\r.,[]$@{}".contains(character)
}

impl<'t> Reader<'t> {
    const fn new(text: &'t str, base: usize) -> Self {
        let end = base.saturating_add(text.len());
        Self { rest: text, end }
    }

    const fn offset(&self) -> usize {
        self.end.saturating_sub(self.rest.len())
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// The text before an offset in the rest, which it goes past.
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> &'t str {
        self.take(self.rest.find(ends).unwrap_or(self.rest.len()))
    }

    fn items(&mut self) -> Result<Parts, PathError> {
        let begins_word = |character: char| character.is_alphanumeric() || character == '_';
        let mut items = Vec::new();
        while let Some(character) = self.rest.chars().next() {
            let offset = self.offset();
            match character {
                ' ' | '@' | '$' => {
                    self.next();
                }
                '[' if self.rest.starts_with("[?(") => items.push((offset, Ok(self.filter()?))),
                '[' => items.extend(self.brackets()?.into_iter().map(|step| (offset, Ok(step)))),
                '.' if self.rest.starts_with("..") => {
                    if matches!(items.last(), Some((_, Ok(Step::Recursive)))) {
                        return fail(offset, PathProblem::TwiceRecursive);
                    }
                    self.take(2);
                    items.push((offset, Ok(Step::Recursive)));
                    if self.rest.starts_with(begins_word) {
                        items.push((offset, Ok(self.name()?)));
                    }
                }
                '.' => {
                    self.next();
                    let step = self.name()?;
                    // A dot alone is the object itself.
                    if step != Step::Field(String::new()) {
                        items.push((offset, Ok(step)));
                    }
                }
                '"' | '\'' => items.push((offset, Err(Item::Literal(self.quoted()?.into())))),
                '+' | '-' | '0'..='9' => items.push((offset, Err(Item::Literal(self.number()?)))),
                _ if begins_word(character) => items.push((offset, Err(self.word()))),
                _ => return fail(offset, PathProblem::Character(character)),
            }
        }
        Ok(items)
    }

    /// A name after a dot: up to the next unescaped end.
    fn name(&mut self) -> Result<Step, PathError> {
        let mut name = String::new();
        let mut escaped = false;
        while let Some(character) = self.rest.chars().next() {
            if character == '\\' {
                let offset = self.offset();
                self.next();
                escaped = true;
                // At the end it would escape the brace that the agent puts there.
                match self.next() {
                    Some(character) => name.push(character),
                    None => return fail(offset, PathProblem::Character('\\')),
                }
            } else if ends_name(character) {
                break;
            } else {
                self.next();
                name.push(character);
            }
        }
        Ok(if name == "*" && !escaped {
            Step::Several
        } else {
            Step::Field(name)
        })
    }

    fn word(&mut self) -> Item {
        match self.take_until(ends_name) {
            "true" => Item::Literal(Value::Bool(true)),
            "false" => Item::Literal(Value::Bool(false)),
            word => Item::Word(word.to_owned()),
        }
    }

    fn number(&mut self) -> Result<Value, PathError> {
        let offset = self.offset();
        let is_part = |character: char| character.is_ascii_digit() || matches!(character, '+' | '-' | '.');
        let text = self.take_until(|character| !is_part(character));
        let plain = text.strip_prefix('+').unwrap_or(text);
        if let Ok(integer) = plain.parse::<i64>() {
            return Ok(Value::from(integer));
        }
        match plain.parse::<f64>() {
            Ok(float) if float.is_finite() && plain.contains('.') => Ok(Value::from(float)),
            _ => fail(offset, PathProblem::Identifier(text.to_owned())),
        }
    }

    fn quoted(&mut self) -> Result<String, PathError> {
        let offset = self.offset();
        let quote = self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => return fail(offset, PathProblem::Unclosed("quoted string")),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(other) => text.push(other),
                    None => return fail(offset, PathProblem::Unclosed("quoted string")),
                },
                character if character == quote => return Ok(text),
                Some(character) => text.push(character),
            }
        }
    }

    /// `[...]`: an index, a slice, a quoted name (several fields when it has dots), or a union of those.
    fn brackets(&mut self) -> Result<Vec<Step>, PathError> {
        let offset = self.offset();
        self.next();
        let inside_at = self.offset();
        let inside = self.take_until(|character| character == ']');
        if self.next().is_none() {
            return fail(offset, PathProblem::Unclosed("array"));
        }
        if !inside.contains(',') {
            return member(inside, inside_at);
        }
        let mut at = inside_at;
        for part in inside.split(',') {
            let leading = part.len().saturating_sub(part.trim_start_matches(' ').len());
            let at_part = at.saturating_add(leading);
            if member(part.trim_matches(' '), at_part)?.len() != 1 {
                return fail(at_part, PathProblem::Union);
            }
            at = at.saturating_add(part.len()).saturating_add(1);
        }
        Ok(vec![Step::Several])
    }

    fn filter(&mut self) -> Result<Step, PathError> {
        let offset = self.offset();
        self.take(3);
        let (at, text) = (self.offset(), self.rest);
        let mut quote = None;
        let mut previous = ' ';
        loop {
            let Some(character) = self.next().filter(|character| *character != '\n') else {
                return fail(offset, PathProblem::Unclosed("filter"));
            };
            match (character, quote) {
                ('"' | '\'', None) => quote = Some(character),
                (_, Some(open)) if character == open && previous != '\\' => quote = None,
                (')', None) => break,
                _ => {}
            }
            previous = character;
        }
        // Without the parenthesis that closes it.
        let length = self.offset().saturating_sub(at).saturating_sub(1);
        if self.next() != Some(']') {
            return fail(offset, PathProblem::Unclosed("filter"));
        }
        comparison(text.get(..length).unwrap_or_default(), at)
    }
}

/// A comparison, or a path that must exist.
fn comparison(text: &str, base: usize) -> Result<Step, PathError> {
    let is_operator = |character: char| matches!(character, '!' | '<' | '>' | '=');
    let Some(start) = text.find(is_operator).filter(|start| *start > 0) else {
        return Ok(Step::Filter(path(text, base)?, None));
    };
    let (left, rest) = text.split_at_checked(start).unwrap_or((text, ""));
    let right = rest.trim_start_matches(is_operator);
    let written = rest.strip_suffix(right).unwrap_or_default();
    let operator_at = base.saturating_add(start);
    let Some((operator, _)) = OPERATORS.iter().find(|(operator, _)| *operator == written) else {
        return fail(operator_at, PathProblem::Operator(written.to_owned()));
    };
    let left = path(left, base)?;
    let right_at = operator_at.saturating_add(written.len());
    let mut items = Reader::new(right, right_at).items()?;
    let operand = match items.pop() {
        Some((_, Err(Item::Literal(literal)))) if items.is_empty() => Operand::Literal(literal),
        Some((offset, Err(Item::Word(word)))) => return fail(offset, PathProblem::Unquoted(word)),
        Some(_) => Operand::Path(path(right, right_at)?),
        None => return fail(right_at, PathProblem::NotAValue),
    };
    let is_one = |step: &Step| matches!(step, Step::Field(_) | Step::Index(_));
    let other = match &operand {
        Operand::Path(steps) => steps.as_slice(),
        Operand::Literal(_) => &[],
    };
    if left.iter().chain(other).all(is_one) {
        Ok(Step::Filter(left, Some((operator, operand))))
    } else {
        fail(right_at, PathProblem::NotAValue)
    }
}

/// A path inside a filter.
fn path(text: &str, base: usize) -> Result<Vec<Step>, PathError> {
    steps(text, base, |item| match item {
        Item::Word(word) => PathProblem::Identifier(word),
        Item::Literal(_) => PathProblem::NotAValue,
    })
}

/// One member of brackets. A quoted name is read like a field after a dot, so its dots make several steps.
fn member(text: &str, base: usize) -> Result<Vec<Step>, PathError> {
    if text == "*" {
        return Ok(vec![Step::Several]);
    }
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    if let Some(name) = quoted.filter(|name| !name.contains('\'')) {
        return path(&format!(".{name}"), base);
    }
    let numbers: Vec<&str> = text.split(':').collect();
    let mut parsed = [None; 3];
    if numbers.len() > parsed.len() {
        return fail(base, PathProblem::Index(text.to_owned()));
    }
    for (slot, number) in parsed.iter_mut().zip(&numbers) {
        if number.is_empty() {
            continue;
        }
        match number.parse::<i64>() {
            Ok(value) if !number.starts_with('+') && value.unsigned_abs() < (1 << 53) => *slot = Some(value),
            _ => return fail(base, PathProblem::Index(text.to_owned())),
        }
    }
    match (numbers.len(), parsed) {
        (1, [Some(index), ..]) => Ok(vec![Step::Index(index)]),
        (_, [_, _, Some(step)]) if step < 1 => fail(base, PathProblem::Step),
        _ => Ok(vec![Step::Several]),
    }
}

/// The values that the steps find, in order. `None` where client-go reports an error, so that the agent feeds nothing
/// back, and at a wildcard, a slice, a union, or `..`: a cluster adds fields and items of its own, which may come first.
fn found<'v>(steps: &[Step], object: &'v Value) -> Option<Vec<&'v Value>> {
    let mut values = vec![object];
    for step in steps {
        let mut next = Vec::new();
        for value in values {
            match (step, value) {
                (Step::Field(name), Value::Object(fields)) => next.extend(fields.get(name)),
                // A missing field is no error, nor is a field of a value that has none. An item of `null` is nothing.
                (Step::Field(_), _) | (Step::Index(_), Value::Null) => {}
                (Step::Index(index), Value::Array(items)) => next.push(item(items, *index)?),
                (Step::Filter(left, comparison), Value::Array(items)) => {
                    for item in items {
                        if passes(left, comparison.as_ref(), item)? {
                            next.push(item);
                        }
                    }
                }
                _ => return None,
            }
        }
        values = next;
    }
    Some(values)
}

/// The item at an index, which counts from the end if it is negative.
fn item(items: &[Value], index: i64) -> Option<&Value> {
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 {
        items.get(items.len().checked_sub(from_end)?)
    } else {
        items.get(from_end)
    }
}

/// Whether a filter keeps an item. `None` is an error, as in [`found`].
fn passes(left: &[Step], comparison: Option<&(&str, Operand)>, item: &Value) -> Option<bool> {
    let lefts = found(left, item)?;
    let Some((operator, operand)) = comparison else {
        return Some(!lefts.is_empty());
    };
    let rights = match operand {
        Operand::Literal(value) => vec![value],
        Operand::Path(right) => found(right, item)?,
    };
    // Compared paths have neither filters nor wildcards (`comparison`), so each finds one value or none.
    let (Some(left), Some(right)) = (lefts.first(), rights.first()) else {
        return Some(false);
    };
    compare(left, operator, right)
}

/// A comparison. `None` is an error: two kinds differ, or have no such comparison. An integer and a float are two kinds.
fn compare(left: &Value, operator: &str, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) if ["==", "!="].contains(&operator) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.as_str().cmp(right.as_str()),
        (Value::Number(_), Value::Number(_)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?)?,
            _ => return None,
        },
        _ => return None,
    };
    let (_, holds) = OPERATORS.iter().find(|(known, _)| *known == operator)?;
    Some(holds(order))
}

/// Longer paths are refused: no status needs them, and parsers recurse.
const PATH_MAX: usize = 2048;

/// Why the agent would refuse a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct PathError {
    /// First byte of what is wrong, in the text as given.
    pub offset: usize,
    /// The mistake.
    pub problem: PathProblem,
}

impl PathError {
    /// What to write instead.
    pub(crate) fn help(&self) -> String {
        let help = match &self.problem {
            PathProblem::TooLong => return format!("keep it below {PATH_MAX} bytes"),
            PathProblem::Identifier(name) => return format!("start with a dot: .{name}"),
            PathProblem::Unquoted(name) => return format!("quote it: \"{name}\""),
            PathProblem::Unclosed(what) => return format!("close {what}"),
            PathProblem::Index(text) if text.starts_with('"') => {
                return format!("use single quotes: ['{}']", text.trim_matches('"'));
            }
            PathProblem::Empty => "write a path such as .status.phase",
            PathProblem::Range => {
                "only the first result counts: write .items[0].x, or [*] in place of the loop"
            }
            PathProblem::Character('&' | '|') => {
                "a filter compares once: && and || do not exist in this dialect"
            }
            PathProblem::Character('{' | '}') => "write the path without braces, as one expression",
            PathProblem::Character(_) => "remove it, or escape it with a backslash inside a name",
            PathProblem::Index(_) => "write a number, start:end:step, *, or a name in single quotes",
            PathProblem::Operator(_) => "the operators are ==, !=, <, <=, >, >=",
            PathProblem::Step => "leave the step out, or make it 1 or more",
            PathProblem::Union => "escape dots in the names of a union: ['a\\.b','c']",
            PathProblem::TwiceRecursive => "one '..' is enough",
            PathProblem::NotAValue => "compare with a string, a number, true, false or a path",
        };
        help.to_owned()
    }
}

/// A mistake in a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// There is nothing in it.
    #[error("empty path")]
    Empty,
    /// It is longer than 2,048 bytes.
    #[error("path is too long")]
    TooLong,
    /// `range` or `end`: the agent reads one expression.
    #[error("range is not possible in a feedback path")]
    Range,
    /// A bare word where a path begins.
    #[error("unrecognized identifier {0}")]
    Identifier(String),
    /// A bare word in the place of a filter's value.
    #[error("unrecognized identifier {0}")]
    Unquoted(String),
    /// A bracket, filter or quote without its end.
    #[error("unterminated {0}")]
    Unclosed(&'static str),
    /// A character that means nothing here.
    #[error("unrecognized character {0:?}")]
    Character(char),
    /// The text between brackets is not an index, slice, name, or union.
    #[error("invalid array index {0}")]
    Index(String),
    /// A comparison that does not exist.
    #[error("unrecognized filter operator {0}")]
    Operator(String),
    /// A step below 1.
    #[error("step must be at least 1")]
    Step,
    /// A member of a union is more than one step.
    #[error("a union of whole paths")]
    Union,
    /// `....`.
    #[error("invalid multiple recursive descent")]
    TwiceRecursive,
    /// The right side of a comparison is neither a literal nor a path to one value.
    #[error("not a value to compare with")]
    NotAValue,
}
