//! Writes all mutants of one file into it, each behind a switch.
//!
//! In: the text of a file and its mutants. Out: the text with `crate::mutated(7)` where mutant 7 departs, and which
//! bytes of it belong to which mutant. Mutants in a place that cannot branch (the operator of a `let` chain) are left
//! out. It must not know how the result is built.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, Block, Expr, ExprBinary, ExprStruct, ExprUnary, ImplItemFn, ItemFn, Member, Pat, PatGuard,
    TraitItemFn,
};

use super::mutant::{Mutant, Place};

/// A file with its mutants.
pub(crate) struct Woven {
    pub(crate) text: String,
    /// The number of each mutant that has a place in the text, and its bytes.
    pub(crate) places: Vec<(usize, Range<usize>)>,
}

/// Weaves the mutants of a file, each with its number, into its text. A text that does not parse is an error.
pub(crate) fn weave(text: &str, mutants: &[(usize, &Mutant)]) -> syn::Result<Woven> {
    let lines: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let mut finder = Finder {
        text,
        at: HashMap::new(),
        switches: Vec::new(),
    };
    for (number, mutant) in mutants {
        finder
            .at
            .entry(offset(text, &lines, mutant.span.start))
            .or_default()
            .push((*number, *mutant));
    }
    finder.visit_file(&syn::parse_file(text)?);
    // Outer switches first; of two with the same bytes, the one that was found first is the outer one.
    finder
        .switches
        .sort_by_key(|switch| (switch.bytes.start, Reverse(switch.bytes.end)));
    let mut woven = Woven {
        text: String::new(),
        places: Vec::new(),
    };
    write(text, 0..text.len(), &finder.switches, &mut woven);
    Ok(woven)
}

fn offset(text: &str, lines: &[usize], place: Place) -> usize {
    let start = lines[place.line - 1];
    let column = text[start..].char_indices().nth(place.column - 1);
    column.map_or(text.len(), |(at, _)| start + at)
}

/// A stretch of the text that one or more mutants replace.
struct Switch {
    bytes: Range<usize>,
    /// What stands around the text as it is.
    before: Vec<Piece>,
    after: Vec<Piece>,
}

/// Text of our own; with a number, it belongs to that mutant.
type Piece = (Option<usize>, String);

/// Writes the bytes of the text, with the switches inside of them.
fn write(text: &str, bytes: Range<usize>, mut switches: &[Switch], woven: &mut Woven) {
    let mut at = bytes.start;
    while let Some((switch, rest)) = switches.split_first() {
        // An insertion has no bytes: nothing is inside of it.
        let inner = rest.partition_point(|inner| inner.bytes.start < switch.bytes.end);
        woven.text.push_str(&text[at..switch.bytes.start]);
        pieces(&switch.before, woven);
        write(text, switch.bytes.clone(), &rest[..inner], woven);
        pieces(&switch.after, woven);
        at = switch.bytes.end;
        switches = &rest[inner..];
    }
    woven.text.push_str(&text[at..bytes.end]);
}

fn pieces(pieces: &[Piece], woven: &mut Woven) {
    for (number, piece) in pieces {
        let start = woven.text.len();
        woven.text.push_str(piece);
        woven
            .places
            .extend(number.map(|number| (number, start..woven.text.len())));
    }
}

struct Finder<'a> {
    text: &'a str,
    /// The mutants by the byte where cargo-mutants says that they begin.
    at: HashMap<usize, Vec<(usize, &'a Mutant)>>,
    switches: Vec<Switch>,
}

impl<'a> Finder<'a> {
    fn here(&self, at: usize, genre: &str) -> Vec<(usize, &'a Mutant)> {
        let here = self.at.get(&at).into_iter().flatten();
        here.filter(|(_, mutant)| mutant.genre == genre)
            .copied()
            .collect()
    }

    fn source(&self, of: &impl Spanned) -> &'a str {
        &self.text[of.span().byte_range()]
    }

    /// `(if crate::mutated(7) { OTHER } else { ... })`, for each of the mutants.
    fn alternatives(&mut self, bytes: Range<usize>, others: Vec<(usize, String)>) {
        if others.is_empty() {
            return;
        }
        let mut before = vec![(None, "(".to_owned())];
        for (number, other) in others {
            before.push((
                Some(number),
                format!("if crate::mutated({number}) {{ {other} }} else "),
            ));
        }
        before.push((None, "{ ".to_owned()));
        let after = vec![(None, " })".to_owned())];
        self.switches.push(Switch { bytes, before, after });
    }

    fn insertion(&mut self, at: usize, pieces: Vec<Piece>) {
        if !pieces.is_empty() {
            self.switches.push(Switch {
                bytes: at..at,
                before: pieces,
                after: Vec::new(),
            });
        }
    }

    fn body(&mut self, block: &Block) {
        let Some(first) = block.stmts.first() else { return };
        let at = first.span().byte_range().start;
        let returns = self.here(at, "FnValue").into_iter().map(|(number, mutant)| {
            let value = &mutant.replacement;
            (
                Some(number),
                format!("if crate::mutated({number}) {{ return {value}; }} "),
            )
        });
        let returns = returns.collect();
        self.insertion(block.span().byte_range().start + 1, returns);
    }
}

impl Visit<'_> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &ItemFn) {
        self.body(&item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        self.body(&item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_arm(&mut self, arm: &Arm) {
        let deleted = self.here(arm.span().byte_range().start, "MatchArm");
        match &arm.pat {
            Pat::Guard(PatGuard { guard, .. }) if !has_let(guard) => {
                let bytes = guard.span().byte_range();
                let constants = self.here(bytes.start, "MatchArmGuard").into_iter();
                let constants = constants.map(|(number, mutant)| (number, mutant.replacement.clone()));
                let deleted = deleted
                    .into_iter()
                    .map(|(number, _)| (number, "false".to_owned()));
                self.alternatives(bytes, constants.chain(deleted).collect());
            }
            Pat::Guard(_) => {}
            pattern => {
                let guards = deleted
                    .into_iter()
                    .map(|(number, _)| (Some(number), format!(" if !crate::mutated({number}) ")));
                let guards = guards.collect();
                self.insertion(pattern.span().byte_range().end, guards);
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_binary(&mut self, expression: &ExprBinary) {
        let operator = expression.op.span().byte_range().start;
        if !has_let(&expression.left) && !has_let(&expression.right) {
            let (left, right) = (self.source(&expression.left), self.source(&expression.right));
            let others = self.here(operator, "BinaryOperator").into_iter();
            let others =
                others.map(|(number, mutant)| (number, format!("{left} {} {right}", mutant.replacement)));
            let others = others.collect();
            self.alternatives(expression.span().byte_range(), others);
        }
        visit::visit_expr_binary(self, expression);
    }

    fn visit_expr_unary(&mut self, expression: &ExprUnary) {
        let bytes = expression.span().byte_range();
        let operand = self.source(&expression.expr);
        let others = self.here(bytes.start, "UnaryOperator").into_iter();
        let others = others.map(|(number, _)| (number, operand.to_owned())).collect();
        self.alternatives(bytes, others);
        visit::visit_expr_unary(self, expression);
    }

    fn visit_expr_struct(&mut self, expression: &ExprStruct) {
        if let Some(rest) = &expression.rest {
            let rest = self.source(rest);
            for field in &expression.fields {
                let Member::Named(name) = &field.member else {
                    continue;
                };
                let deleted = self
                    .here(field.span().byte_range().start, "StructField")
                    .into_iter();
                let deleted = deleted
                    .map(|(number, _)| (number, format!("({rest}).{name}")))
                    .collect();
                if field.colon_token.is_some() {
                    self.alternatives(field.expr.span().byte_range(), deleted);
                } else if let Some((number, other)) = Vec::into_iter(deleted).next() {
                    let end = field.span().byte_range().end;
                    let value = format!(": if crate::mutated({number}) {{ {other} }} else {{ {name} }}");
                    self.insertion(end, vec![(Some(number), value)]);
                }
            }
        }
        visit::visit_expr_struct(self, expression);
    }
}

/// Whether the expression is, or has at its top, a `let` of a chain: such an operator joins no two values.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}
