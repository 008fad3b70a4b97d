//! Writing steps in RFC 9535's notation.
//!
//! Owns: the translation. Flows in: [`Step`]s. Flows out: text. Must not know: values.

use std::fmt::Write as _;

use super::parse::{Operand, Operator, Step};

/// The steps in RFC 9535's notation, from `$`.
pub(super) fn rfc9535(steps: &[Step]) -> String {
    let mut text = String::from("$");
    write_steps(&mut text, steps);
    text
}

fn write_steps(text: &mut String, steps: &[Step]) {
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Recursive => {
                text.push_str("..");
                if index.saturating_add(1) == steps.len() {
                    text.push('*');
                }
            }
            Step::Union(members) => {
                text.push('[');
                for (index, member) in members.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    write_selector(text, member);
                }
                text.push(']');
            }
            other => {
                text.push('[');
                write_selector(text, other);
                text.push(']');
            }
        }
    }
}

fn write_selector(text: &mut String, step: &Step) {
    // Writing to a String cannot fail.
    match step {
        Step::Field(name) => write_name(text, name, '\''),
        Step::Wildcard | Step::Recursive | Step::Union(_) => text.push('*'),
        Step::Index(index) => {
            let _ = write!(text, "{index}");
        }
        Step::Slice(numbers) => {
            let number = |number: &Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
            let [start, end, step] = numbers;
            let _ = write!(text, "{}:{}", number(start), number(end));
            if step.is_some() {
                let _ = write!(text, ":{}", number(step));
            }
        }
        Step::Filter(left, comparison) => {
            text.push('?');
            // In client-go, a missing value differs from nothing; in RFC 9535, it differs from everything.
            if let Some((Operator::NotEqual, operand)) = comparison {
                write_path(text, left);
                text.push_str("&&");
                if let Operand::Path(right) = operand {
                    write_path(text, right);
                    text.push_str("&&");
                }
            }
            write_path(text, left);
            if let Some((operator, operand)) = comparison {
                text.push_str(match operator {
                    Operator::Equal => "==",
                    Operator::NotEqual => "!=",
                    Operator::Less => "<",
                    Operator::LessOrEqual => "<=",
                    Operator::Greater => ">",
                    Operator::GreaterOrEqual => ">=",
                });
                match operand {
                    Operand::Text(value) => write_name(text, value, '"'),
                    Operand::Literal(literal) => text.push_str(literal),
                    Operand::Path(right) => write_path(text, right),
                }
            }
        }
    }
}

/// A path from the element that a filter looks at.
fn write_path(text: &mut String, steps: &[Step]) {
    text.push('@');
    write_steps(text, steps);
}

/// A quoted string of RFC 9535.
fn write_name(text: &mut String, name: &str, quote: char) {
    text.push(quote);
    for character in name.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            _ if character == quote => {
                text.push('\\');
                text.push(quote);
            }
            '\u{0}'..='\u{1f}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            other => text.push(other),
        }
    }
    text.push(quote);
}
