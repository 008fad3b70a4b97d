//! The tool that weaves all mutants into one build: what it makes of a file.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use kube_json::json;

#[path = "../examples/mutants/main.rs"]
#[allow(dead_code)]
mod mutants;

use mutants::mutant::Mutant;

const TEXT: &str = "fn differs(a: u8, b: u8) -> bool {
    match a {
        0 if b > 1 => a == b,
        1 => !(a < b && b < 9),
        _ => false,
    }
}
";

/// A mutant as cargo-mutants lists it.
fn mutant(genre: &str, (line, column): (usize, usize), replacement: &str) -> Mutant {
    let place = json!({"line": line, "column": column});
    let listed = json!({
        "name": genre, "file": "src/lib.rs", "genre": genre, "replacement": replacement,
        "span": {"start": place, "end": place}, "function": null,
    });
    kube_json::from_value(&listed).unwrap()
}

fn woven(mutants: &[Mutant]) -> String {
    let numbered: Vec<(usize, &Mutant)> = mutants
        .iter()
        .enumerate()
        .map(|(index, mutant)| (index + 1, mutant))
        .collect();
    let woven = mutants::weave::weave(TEXT, &numbered).unwrap();
    for (number, place) in &woven.places {
        assert!(
            woven.text[place.clone()].contains(&format!("crate::mutated({number})")),
            "{}",
            woven.text
        );
    }
    assert_eq!(woven.places.len(), mutants.len(), "{}", woven.text);
    woven.text
}

#[test]
fn without_mutants_a_file_stays_as_it_is() {
    assert_eq!(woven(&[]), TEXT);
}

#[test]
fn a_function_can_return_early_and_an_operator_can_be_another_one() {
    let text = woven(&[
        mutant("FnValue", (2, 5), "true"),
        mutant("BinaryOperator", (3, 25), "!="),
    ]);
    assert!(
        text.contains("-> bool {if crate::mutated(1) { return true; } \n"),
        "{text}"
    );
    assert!(
        text.contains("=> (if crate::mutated(2) { a != b } else { a == b }),"),
        "{text}"
    );
}

#[test]
fn mutants_within_mutants_keep_their_places() {
    let text = woven(&[
        mutant("UnaryOperator", (4, 14), ""),
        mutant("BinaryOperator", (4, 22), "||"),
        mutant("BinaryOperator", (4, 18), "<="),
    ]);
    let inner = "(if crate::mutated(3) { a <= b } else { a < b })";
    let middle = format!("(if crate::mutated(2) {{ a < b || b < 9 }} else {{ {inner} && b < 9 }})");
    let outer = format!("(if crate::mutated(1) {{ (a < b && b < 9) }} else {{ !({middle}) }})");
    assert!(text.contains(&outer), "{text}");
}

#[test]
fn a_guard_is_replaced_and_an_arm_is_passed_over() {
    let text = woven(&[
        mutant("MatchArmGuard", (3, 14), "true"),
        mutant("MatchArm", (3, 9), ""),
        mutant("MatchArm", (4, 9), ""),
        mutant("BinaryOperator", (3, 16), "<"),
    ]);
    let compared = "(if crate::mutated(4) { b < 1 } else { b > 1 })";
    let guard = format!(
        "0 if (if crate::mutated(1) {{ true }} else if crate::mutated(2) {{ false }} else {{ {compared} }}) =>"
    );
    assert!(text.contains(&guard), "{text}");
    assert!(text.contains("1 if !crate::mutated(3)  =>"), "{text}");
}
