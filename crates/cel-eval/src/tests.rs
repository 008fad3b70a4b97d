//! The results and costs of expressions, and the check that nothing exceeds its limits.

mod files;
mod limits;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use apimachinery::Work;
use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map, OptionalValue};
use proptest::prelude::*;

use crate::meter::BYTES_MAX;
use crate::prices::{ENTRY, ITEM, TEXT};
use crate::{Call, Evaluated, Failure, Functions, Meter, Stop, Unparsed, evaluate, parse};

struct NoMore;

impl Functions for NoMore {
    fn call(&self, _: Call<'_>, _: &mut Meter<'_, '_>) -> Option<Result<Value, Failure>> {
        None
    }

    fn price(&self, _: Call<'_>, _: &Value) -> Option<u64> {
        None
    }
}

/// `list` of 200 numbers, `text` of 40 letters, `map` of two, `none`.
fn ask(text: &str) -> Evaluated {
    ask_within(text, &Work::default())
}

fn ask_within(text: &str, work: &Work) -> Evaluated {
    let expression = parse(text).expect(text);
    let list = Value::from(vec![Value::Int(1); 200]);
    let letters = Value::from("a".repeat(40));
    let entries = HashMap::from([("b", Value::Int(2)), ("a", Value::Int(1))]);
    let entries = entries
        .into_iter()
        .map(|(key, value)| (Key::from(key.to_owned()), value));
    let map = Value::Map(Map {
        map: Arc::new(entries.collect()),
    });
    let none = Value::Opaque(Arc::new(OptionalValue::none()));
    let variables = [
        ("list", &list),
        ("text", &letters),
        ("map", &map),
        ("none", &none),
    ];
    evaluate(&expression, &variables, &NoMore, &mut work.allowance_of(0))
}

#[test]
fn what_costs_more_than_an_expression_may_ends_whatever_is_around_it() {
    let dear = "list.all(x, list.all(y, list.all(z, list.all(w, w > 0))))";
    for text in [
        dear.to_owned(),
        format!("{dear} || true"),
        format!("[1, 2].exists(x, {dear})"),
        format!("optional.of({dear}).hasValue()"),
    ] {
        let answer = ask(&text);
        assert_eq!(answer.value, Err(Failure::Stop(Stop::Cost)), "{text}");
        assert!(
            (crate::CALL_LIMIT..crate::CALL_LIMIT + 1_000).contains(&answer.cost),
            "{text}"
        );
    }
}

#[test]
fn nothing_is_written_that_is_larger_than_an_evaluation_may_hold() {
    let grown = |by: &str, times: usize| format!("text{}", by.repeat(times));
    let long = "a".repeat(40);
    let doubled = ".map(x, x + x)".repeat(25);
    let twice = ".map(x, [x, x])".repeat(30);
    for text in [
        grown(&format!(".replace('a', '{long}')"), 5),
        format!("{}.size() > 0", grown(&format!(".replace('a', '{long}')"), 8)),
        grown(&format!(".replace('', '{long}')"), 5),
        format!("[text]{doubled}"),
        format!("string([text]{twice})"),
        format!("'%s'.format([[text]{twice}])"),
        "'%.2000000000f'.format([1.0])".to_owned(),
        "'%.99999999999999999999e'.format([1.0])".to_owned(),
        "lists.range(1000000000).size() > 0".to_owned(),
        format!("list.map(x, {})", grown(&format!(".replace('a', '{long}')"), 3)),
        format!(
            "{}.split('').map(x, text).join(text)",
            grown(&format!(".replace('a', '{long}')"), 2)
        ),
        format!(
            "{}.findAll('a').size() > 0",
            grown(&format!(".replace('a', '{long}')"), 3)
        ),
        format!(
            "{}.split('').size() > 0",
            grown(&format!(".replace('a', '{long}')"), 3)
        ),
    ] {
        let answer = ask_within(&text, &Work::unlimited());
        assert!(
            matches!(answer.value, Err(Failure::Stop(Stop::Memory | Stop::Cost))),
            "{text}: {:?} for {}",
            answer.value.err(),
            answer.cost
        );
    }
}

#[test]
fn what_a_loop_leaves_behind_does_not_count() {
    // 200 texts of 320 KB, one after the other.
    let (some, many) = ("a".repeat(40), "a".repeat(200));
    let text = format!("list.all(x, text.replace('a', '{some}').replace('a', '{many}').size() > x)");
    assert_eq!(ask_within(&text, &Work::unlimited()).value, Ok(Value::Bool(true)));
}

#[test]
fn a_run_ends_where_its_work_is_spent() {
    let work = Work::with_limit(50_000);
    let answers = (0..40).map(|_| ask_within("list.all(x, x > 0)", &work).value);
    let answers: Vec<_> = answers.collect();
    assert_eq!(answers.first(), Some(&Ok(Value::Bool(true))));
    assert_eq!(answers.last(), Some(&Err(Failure::Stop(Stop::Work))));
    assert!(work.is_spent());
    // Comparing what is in many places goes to all of them.
    let twice = ".map(x, [x, x])".repeat(20);
    let answer = ask_within(&format!("[1]{twice} == [1]{twice}"), &Work::with_limit(50_000));
    assert_eq!(answer.value, Err(Failure::Stop(Stop::Work)));
}

/// The language's definition: google/cel-spec doc/langdef.md, and google/cel-go for what it leaves open.
#[test]
fn brackets_and_operators_inside_of_a_text_are_text() {
    let many = "(".repeat(300);
    let signs = "+".repeat(5_000);
    for text in [
        format!("'{many}' == '{many}'"),
        format!("\"{many}\" == \"{many}\""),
        format!("'\\'{many}' == '\\'{many}'"),
        format!("\"'{many}\" == \"'{many}\""),
        format!("'{signs}' == '{signs}'"),
        format!("'\\\\' == '\\\\' && {}1 == 1", "(1) == (1) && ".repeat(300)),
    ] {
        assert_eq!(ask(&text).value, Ok(Value::Bool(true)), "{text}");
    }
    for text in [
        format!("'\\\\' == {many}1"),
        format!("'a' == \"a\" && {many}1{}", ")".repeat(300)),
        format!("1{}", " + 1".repeat(4_001)),
    ] {
        assert!(matches!(parse(&text), Err(Unparsed::TooMuch(_))), "{text}");
    }
}

#[test]
fn what_is_too_long_or_too_deep_is_refused_and_overflows_no_stack() {
    let chains = [
        "map".to_owned() + &".a".repeat(3_900),
        "1".to_owned() + &"+1".repeat(3_900),
        "list".to_owned() + &"[0]".repeat(1_900),
        "map".to_owned() + &".?a".repeat(1_900),
        "!".repeat(3_900) + "true",
        "-".repeat(3_900) + "1",
        "(".repeat(90) + "1" + &")".repeat(90),
        "[".repeat(99) + "1" + &"]".repeat(99),
        "true?true:".repeat(1_900) + "true",
        "text".to_owned() + &".trim()".repeat(1_000),
        "list".to_owned() + &".map(x,x)".repeat(900),
        "a".repeat(100_001),
        "(".repeat(200_000),
        "true".to_owned() + &"&&true".repeat(1_900),
    ];
    for text in chains {
        let start: String = text.chars().take(20).collect();
        match parse(&text) {
            Ok(expression) => {
                let work = Work::default();
                let _ = evaluate(&expression, &[], &NoMore, &mut work.allowance_of(0));
            }
            Err(Unparsed::Wrong(message) | Unparsed::TooMuch(message)) => {
                assert!(!message.is_empty(), "{start}");
            }
        }
    }
    // As deep as it may be.
    let deepest = "1".to_owned() + &"+1".repeat(240);
    let expression = parse(&deepest).expect("not too deep");
    let work = Work::default();
    let answer = evaluate(&expression, &[], &NoMore, &mut work.allowance_of(0));
    assert_eq!(answer.value, Ok(Value::Int(241)));
}

/// What a value holds, each part that is in several places once.
fn unique(value: &Value, seen: &mut HashSet<usize>) -> usize {
    let mut first = |at: *const ()| seen.insert(at as usize);
    match value {
        Value::String(text) if first(Arc::as_ptr(text).cast()) => text.len() + TEXT,
        Value::Bytes(bytes) if first(Arc::as_ptr(bytes).cast()) => bytes.len() + TEXT,
        Value::List(items) if first(Arc::as_ptr(items).cast()) => {
            items.iter().map(|item| ITEM + unique(item, seen)).sum()
        }
        Value::Map(map) if first(Arc::as_ptr(&map.map).cast()) => {
            map.map.values().map(|value| ENTRY + unique(value, seen)).sum()
        }
        _ => 0,
    }
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "text", "list", "map", "1", "0", "'a'", "'ab'", "true", "map.a", "[text]", "x", "none",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(6, 40, 3, |inner| {
        let one = prop::sample::select(vec![
            "@.replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
            "@.map(x, x + x)",
            "@.map(x, [x, x])",
            "@.map(x, text)",
            "@.filter(x, true)",
            "@.all(x, x == x)",
            "@.exists(x, x == @)",
            "@.split('')",
            "@.split('a')",
            "@.join('aaaaaaaaaa')",
            "@.findAll('a')",
            "@.upperAscii()",
            "@.size()",
            "string(@)",
            "[@, @]",
            "{'a': @, 'b': @}",
            "optional.of(@)",
            "@.reverse()",
            "@.flatten()",
            "@.distinct()",
            "'%s%s'.format([@, @])",
            "lists.range(@)",
            "@[0]",
            "@.a",
            "base64.encode(bytes(@))",
            "strings.quote(@)",
        ]);
        let two = prop::sample::select(vec![
            "@ + $",
            "@ == $",
            "@ && $",
            "true ? @ : $",
            "$.map(x, @)",
            "@.replace('a', $)",
            "@.join($)",
        ]);
        prop_oneof![
            (one, inner.clone()).prop_map(|(form, part)| form.replace('@', &part)),
            (two, inner.clone(), inner).prop_map(|(form, a, b)| form.replace('@', &a).replace('$', &b)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever it does, what it returns was paid for, and is no larger than it may be; and the same again costs the
    /// same.
    #[test]
    fn an_expression_never_holds_more_than_it_may(text in expression()) {
        let Ok(expression) = parse(&text) else { return Ok(()) };
        let list = Value::from(vec![Value::Int(1); 30]);
        let letters = Value::from("a".repeat(40));
        let map = Value::Map(Map { map: Arc::new(HashMap::from([(Key::from("a".to_owned()), letters.clone())])) });
        let none = Value::Opaque(Arc::new(OptionalValue::none()));
        let variables = [("list", &list), ("text", &letters), ("map", &map), ("none", &none)];
        let given: usize = text.len() * (TEXT + 1) + 40 + 30 * ITEM + 2 * ENTRY + 4 * TEXT;
        let run = || {
            let work = Work::with_limit(3_000_000);
            evaluate(&expression, &variables, &NoMore, &mut work.allowance_of(0))
        };
        let first = run();
        let held = first.held;
        prop_assert!(held <= BYTES_MAX);
        if let Ok(value) = &first.value {
            let holds = unique(value, &mut HashSet::new());
            prop_assert!(holds <= held + given, "{} of {} in {}", holds, held, text);
        }
        let again = run();
        prop_assert_eq!(first.value, again.value);
        prop_assert_eq!(first.cost, again.cost);
    }

    #[test]
    fn any_text_is_refused_or_evaluated(text in "\\PC{0,60}") {
        if let Ok(expression) = parse(&text) {
            let work = Work::with_limit(1_000_000);
            let _ = evaluate(&expression, &[], &NoMore, &mut work.allowance_of(0));
        }
    }
}
