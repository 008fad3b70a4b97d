//! The results and costs of expressions, and the check that nothing exceeds its limits.

mod limits;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use apimachinery::Work;
use kube_cel::cel::objects::{Key, Map, OptionalValue};
use kube_cel::cel::{ExecutionError, Value};
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
fn urls_are_those_of_go() {
    for text in [
        "url('https://a.b:443/c').getHost() == 'a.b:443'",
        "url('https://A.b:443/c').getHostname() == 'A.b'",
        "url('https://a.b:443/c').getPort() == '443'",
        "url('http://localhost/x').getScheme() == 'http'",
        "url('http://a/b%20c?q=1').getEscapedPath() == '/b%20c'",
        "url('/x?q=1&q=2').getQuery() == {'q': ['1', '2']}",
        "url('HTTP://a/') == url('http://a/')",
        "url('http://a/') != url('http://A/')",
        "!isURL('http://a#f') && !isURL('a/b') && isURL('/a/b')",
    ] {
        assert_eq!(ask(text).value.ok(), Some(Value::Bool(true)), "{text}");
    }
    for text in ["url('a b')", "'a'.getHost()", "isURL(1)"] {
        assert!(ask(text).value.is_err(), "{text}");
    }
}

#[test]
fn costs_are_those_of_cel_go() {
    for (text, cost) in [
        ("'Hello World!'", 0),
        ("list", 1),
        ("map.a", 2),
        ("map['a']", 2),
        ("list[3]", 2),
        ("has(map.a)", 2),
        ("[list]", 11),
        ("{text: 1}", 31),
        ("true || false", 0),
        ("true ? 'a' : 'b'", 0),
        ("1 < 2", 1),
        ("!true", 1),
        // A tenth of a text, rounded up.
        ("text.startsWith('b')", 1 + 4),
        ("text.contains('aaaaaaaaaaaa')", 1 + 4 * 2),
        ("text.matches('[a-z]+')", 1 + 5 * 2),
        ("text + text", 2 + 8),
        ("text == text", 2 + 4),
        ("text == 'aaaaaaaaaaa'", 1 + 2),
        ("1 in list", 1 + 200),
        ("list.size()", 1 + 1),
        ("text.replace('a', 'b')", 1 + 8),
        ("text.split('a')", 1 + 8),
        ("text.lowerAscii()", 1 + 4),
        ("text.find('[a-z]+')", 1 + 5 * 2),
        ("text.indexOf('b')", 1 + 4),
        ("isQuantity(text)", 1 + 4),
        ("bytes(text)", 1 + 4),
        ("string(bytes(text))", 1 + 4 + 4),
        ("bytes(text) == bytes(text)", 2 + 8 + 4),
        ("text < text", 2 + 4),
        ("map == map", 2 + 1),
        ("'a' in map", 1 + 1),
        ("list + list", 2 + 1),
        ("type(text)", 1 + 1),
        ("{text: 1}.size()", 31 + 1),
        // Going through a list goes through its items.
        ("list.sum()", 1 + 200),
        ("[text, text].isSorted()", 2 + 10 + 8),
        ("[bytes(text)].indexOf(b'')", 1 + 4 + 10 + 4),
        ("[map].lastIndexOf(map)", 1 + 10 + 1 + 2),
        ("[text, text].join(text)", 2 + 10 + 1 + 24),
        // A turn: the name and the test of the condition, the name in the step. At the end the name once more.
        ("list.all(x, true)", 1 + 200 * 3 + 1),
        ("list.exists(x, false)", 1 + 200 * 4 + 1),
        // Lists that are made as the loop goes: the name, the sum, the list, the item.
        ("list.map(x, x)", 1 + 200 * (1 + 1 + 10 + 1) + 1),
        ("list.filter(x, true)", 1 + 200 * (1 + 1 + 10 + 1) + 1),
        // What is constant is made before anything runs.
        ("[1, 2, 3]", 0),
        ("{'a': [1]}", 0),
        ("int('1')", 0),
        ("'b' in ['a', 'b']", 0),
        // One side alone runs.
        ("false && list.all(x, true)", 0),
        ("true || list.all(x, true)", 0),
    ] {
        assert_eq!(ask(text).cost, cost, "{text}");
    }
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

#[test]
fn an_error_in_a_loop_is_absorbed_by_what_settles_it() {
    for (text, value) in [
        ("[0, 1].exists(x, 1 / x == 1)", true),
        ("[0, 1].all(x, 1 / x == 2)", false),
        ("[1, 0].exists(x, 1 / x == 1)", true),
        ("1 / 0 == 1 || true", true),
        ("1 / 0 == 1 && false", false),
    ] {
        assert_eq!(ask(text).value, Ok(Value::Bool(value)), "{text}");
    }
    for text in [
        "[0, 1].all(x, 1 / x == 1)",
        "[0].map(x, 1 / x) == []",
        "[0, 1].exists_one(x, 1 / x == 1)",
    ] {
        assert!(
            matches!(
                ask(text).value,
                Err(Failure::Error(ExecutionError::DivisionByZero(_)))
            ),
            "{text}"
        );
    }
}

#[test]
fn values_are_those_of_cel_go() {
    for text in [
        "1 == 1.0 && 1u == 1 && [1] == [1.0] && {'a': 1} == {'a': 1u} && 1 != 2.5 && 'a' != 1",
        "1.0 in [1] && 'a' in map && !('c' in map)",
        "map.map(k, k) == ['a', 'b']",
        "'h\u{e9}llo'.size() == 5 && b'abc'.size() == 3",
        "'abc'.split('') == ['a', 'b', 'c'] && 'abc'.split('', 2) == ['a', 'bc'] && 'a,b'.split(',', 0) == []",
        "'a,b,c'.split(',', -1).size() == 3 && 'a,b,c'.split(',', 2) == ['a', 'b,c']",
        "'aXbX'.replace('X', '') == 'ab' && 'aa'.replace('a', 'b', 1) == 'ba' && 'aa'.replace('a', 'b', -1) == 'bb'",
        "'h\u{e9}llo'.indexOf('l') == 2 && 'hello'.indexOf('l', 3) == 3 && 'hello'.indexOf('x') == -1",
        "'h\u{e9}llo'.lastIndexOf('l') == 3 && 'hello'.lastIndexOf('l', 2) == 2 && 'hello'.lastIndexOf('h', 0) == 0",
        "'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a1b22'.findAll('[0-9]+', 1) == ['1'] && 'ab'.find('[0-9]') == ''",
        "'1'.matches('^\\\\d$') && !'\u{661}'.matches('^\\\\d$')",
        "type(1) == int && type('a') == string && dyn(1) == 1 && bool('true')",
        "math.abs(-1) == 1 && [3, 1].sum() == 4 && ['a', 'b'].join('-') == 'a-b' && 'A'.lowerAscii() == 'a'",
        "!none.hasValue() && none.orValue(1) == 1 && none.or(optional.of(2)).value() == 2 && none == optional.none()",
        "optional.of(1).optMap(x, x + 1) == optional.of(2) && !none.optMap(x, x + 1).hasValue()",
        "map.?a.orValue(0) == 1 && !map.?c.hasValue() && !has(text.a) && !map.a.?b.hasValue()",
        "[1, 2].exists(ip, ip == 2) && ip.isCanonical('127.0.0.1')",
        "double('NaN') != double('NaN') && !(double('NaN') < 1.0)",
        "b'ab' < b'b' && b'a' + b'b' == b'ab' && 'a' < 'b' && [1] + [2] == [1, 2]",
        "'%s %s %d'.format([{'b': 1, 'a': 'x'}, [1.0, null, true], 5]) == '{\"a\":\"x\", \"b\":1} [1.0, null, true] 5'",
        "-(1) == 0 - 1 && 7 % 2 == 1 && 7 / 2 == 3 && 2.0 * 1.5 == 3.0",
        "b'a' != b'b' && {'a': 1} != {'a': 2} && {'a': 1} != {'b': 1} && {'a': [1]} == {'a': [1.0]}",
        "optional.of(1) == optional.of(1.0) && optional.of(1) != optional.of(2) && optional.of(1) != none",
        "type([1]) != type(none) && type({}) != type(none) && type([1]) != type({})",
        "type(duration('1s')) != type(none) && type(timestamp('2026-01-01T00:00:00Z')) != type(none)",
        "'abc'.lastIndexOf('x') == -1 && 'abc'.lastIndexOf('a', 0) == 0",
        "[2, 1, 2].distinct() == [2, 1] && sets.contains([1, 2], [2]) && !sets.intersects([1], [2])",
    ] {
        assert_eq!(ask(text).value, Ok(Value::Bool(true)), "{text}");
    }
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
fn operators_are_those_of_the_language_for_every_type() {
    for text in [
        // Order, of each type, in all four directions.
        "1 < 2 && !(2 < 1) && !(1 < 1) && 1 <= 1 && !(2 <= 1) && 2 > 1 && !(1 > 1) && !(1 > 2) && 1 >= 1 && !(1 >= 2)",
        "1u < 2u && 2u >= 2u && 1.5 < 2.5 && 2.5 > 1.5 && 1 < 1.5 && 1u < 1.5 && 2 > 1u && !(2 < 1u)",
        "'a' < 'b' && !('b' < 'a') && 'a' <= 'a' && 'b' > 'a' && 'b' >= 'b' && 'Z' < 'a' && 'a' < 'aa'",
        "b'a' < b'b' && b'b' > b'a' && b'a' <= b'a' && !(b'b' <= b'a')",
        "false < true && true >= true && duration('1s') < duration('1m') && duration('1m') > duration('59s')",
        "timestamp('2026-01-01T00:00:00Z') < timestamp('2026-01-02T00:00:00Z')",
        // Of a number that is none, nothing holds.
        "!(double('NaN') < 1.0) && !(double('NaN') >= 1.0) && !(1.0 > double('NaN')) && !(double('NaN') <= double('NaN'))",
        // Equality.
        "'a' == 'a' && 'a' != 'b' && !('a' != 'a') && !('a' == 'b') && b'a' == b'a' && b'a' != b'b'",
        "null == null && null != 0 && true == true && true != false && 1 != '1' && [1] != [2] && [1] != [1, 2]",
        "{'a': 1} == {'a': 1} && {'a': 1} != {'a': 2} && {'a': 1} != {'b': 1} && {'a': 1} != {'a': 1, 'b': 2} && {} == {}",
        "[[1], ['a']] == [[1.0], ['a']] && [[1], ['a']] != [[1.0], ['b']] && {'a': {'b': [1]}} == {'a': {'b': [1u]}}",
        "optional.of(1) == optional.of(1.0) && optional.of(1) != optional.of(2) && optional.of(1) != optional.none()",
        "optional.none() == optional.none() && !(optional.none() == optional.of(1)) && optional.none() != null",
        "duration('60s') == duration('1m') && timestamp('2026-01-01T00:00:00Z') == timestamp('2026-01-01T01:00:00+01:00')",
        // Arithmetic.
        "5 - 3 == 2 && 5 * 3 == 15 && 5 / 3 == 1 && -5 / 3 == -1 && 5 % 3 == 2 && -5 % 3 == -2 && -(5) == 0 - 5",
        "5u - 3u == 2u && 5u * 3u == 15u && 5u / 3u == 1u && 5u % 3u == 2u",
        "5.0 - 3.5 == 1.5 && 5.0 * 0.5 == 2.5 && 5.0 / 2.0 == 2.5 && -(2.5) == 0.0 - 2.5 && 1.0 / 0.0 > 1e300",
        "duration('1m') - duration('1s') == duration('59s') && -duration('1s') == duration('-1s')",
        "timestamp('2026-01-01T00:01:00Z') - timestamp('2026-01-01T00:00:00Z') == duration('1m')",
        "timestamp('2026-01-01T00:00:00Z') + duration('1m') == timestamp('2026-01-01T00:01:00Z')",
        "'a' + 'b' == 'ab' && b'a' + b'b' == b'ab' && [1] + ['a'] == [1, 'a']",
        // Membership.
        "1 in [1] && !(2 in [1]) && !(1 in []) && 1.0 in [2, 1] && 'a' in ['a'] && [1] in [[1]] && !('b' in ['a'])",
        "'a' in {'a': 1} && !('b' in {'a': 1}) && 1 in {1: 1} && 1u in {1: 1} && 1.0 in {1: 1} && !(1.5 in {1: 1})",
        "true in {true: 1} && !(false in {true: 1}) && !(null in {'a': 1}) && !([1] in {'a': 1})",
        // Parts.
        "[1, 2][0] == 1 && [1, 2][1u] == 2 && [1, 2][1.0] == 2 && {1: 'a'}[1] == 'a' && {1: 'a'}[1.0] == 'a'",
        "{true: 'a'}[true] == 'a' && {2u: 'a'}[2u] == 'a' && {'a': {'b': 1}}.a.b == 1 && {'a': 1}['a'] == 1",
        "[1][?0].value() == 1 && ![1][?1].hasValue() && {'a': 1}[?'a'].value() == 1 && !{'a': 1}[?'b'].hasValue()",
        "!optional.none().?a.hasValue() && optional.of({'a': 1}).?a.value() == 1 && optional.of({'a': 1}).a.value() == 1",
        "has({'a': 1}.a) && !has({'a': 1}.b) && has(optional.of({'a': 1}).a) && !has(optional.of({'a': 1}).b)",
        "!has(optional.none().a)",
        // What is optional in a list or a map.
        "[1, ?optional.of(2), ?optional.none()] == [1, 2] && [optional.of(1)][0].value() == 1",
        "{'a': 1, ?'b': optional.of(2), ?'c': optional.none()} == {'a': 1, 'b': 2} && {'a': optional.of(1)}.a.value() == 1",
        // Logic.
        "!false && (true || false) && (false || true) && !(false || false) && (true && true) && !(true && false)",
        "true ? true : false && false ? false : true",
        "(1 / 0 == 1 || true) && (true || 1 / 0 == 1) && !(1 / 0 == 1 && false) && !(false && 1 / 0 == 1)",
        // Types and conversions.
        "type(1) == int && type(1u) == uint && type(1.5) == double && type('a') == string && type(b'a') == bytes",
        "type(true) == bool && type(null) == null_type",
        "type([]) == type([1]) && type({}) != type([]) && [0].all(x, type([x]) != type(x))",
        "type(int) == type && type(type) == type && type('type') == string",
        "int('7') == 7 && int(7.9) == 7 && int(7u) == 7 && uint(7) == 7u && double(7) == 7.0 && double('1.5') == 1.5",
        "string(7) == '7' && string(7u) == '7' && string(true) == 'true' && string(false) == 'false' && string('a') == 'a'",
        "string(1.5) == '1.5' && string(1.0) == '1' && string(b'a') == 'a' && bytes('a') == b'a' && bytes(b'a') == b'a'",
        "string(duration('1.5s')) == '1.5s' && string(duration('-1m')) == '-60s'",
        "string(timestamp('2026-01-01T00:00:00.120Z')) == '2026-01-01T00:00:00.12Z'",
        "string(timestamp('2026-01-01T00:00:00+01:00')) == '2026-01-01T00:00:00+01:00'",
        "string(duration('1m')) == '60s' && string(timestamp('2026-01-01T00:00:00Z')) == '2026-01-01T00:00:00Z'",
        "bool('true') && !bool('false') && bool('1') && !bool('0') && bool(true) && dyn('a') == 'a'",
        // Texts.
        "'abc'.startsWith('ab') && !'abc'.startsWith('b') && 'abc'.endsWith('bc') && !'abc'.endsWith('b')",
        "'abc'.contains('b') && !'abc'.contains('d') && 'abc'.matches('^a.c$') && !'abc'.matches('^b')",
        "size('abc') == 3 && size([1, 2]) == 2 && size({'a': 1}) == 1 && size(b'ab') == 2 && [1].size() == 1",
        "'abc'.find('[b-c]+') == 'bc' && 'a-b'.split('-') == ['a', 'b'] && ['a', 'b'].join() == 'ab'",
        "'abc'.indexOf('') == 0 && 'abcabc'.indexOf('b', 2) == 4 && 'abcabc'.lastIndexOf('b') == 4",
        "!optional.ofNonZeroValue(0).hasValue() && !optional.ofNonZeroValue('').hasValue() && optional.ofNonZeroValue(1).value() == 1",
        "optional.of(1).hasValue() && optional.of(1).or(optional.of(2)).value() == 1 && optional.of(1).orValue(2) == 1",
        "optional.of(1).optFlatMap(x, optional.of(x + 1)).value() == 2 && !optional.of(1).optFlatMap(x, optional.none()).hasValue()",
        // Loops.
        "[1, 2, 3].all(x, x > 0) && ![1, 2].all(x, x > 1) && [1, 2].exists(x, x == 2) && ![1].exists(x, x == 2)",
        "[1, 2, 2].exists_one(x, x == 1) && ![1, 2, 2].exists_one(x, x == 2) && [1, 2, 3].filter(x, x != 2) == [1, 3]",
        "[1, 2].map(x, x * 2) == [2, 4] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && {'a': 1}.all(k, k == 'a')",
        // A variable goes before a library of its name, and `.name` is the one at the top.
        "[{'a': 1}].exists(math, math.a == 1) && math.abs(-2) == 2 && .text == text",
    ] {
        assert_eq!(ask(text).value, Ok(Value::Bool(true)), "{text}");
    }
}

#[test]
fn what_has_no_sense_is_an_error_and_no_answer() {
    for text in [
        "1 < 'a'",
        "'a' > b'a'",
        "null < null",
        "[1] < [2]",
        "1 + 'a'",
        "1 - 'a'",
        "'a' - 'b'",
        "'a' * 2",
        "1 + 1.0",
        "-'a'",
        "-(1u)",
        "!1",
        "1 in 1",
        "'a' in 'abc'",
        "1 / 0",
        "1 % 0",
        "9223372036854775807 + 1",
        "-9223372036854775807 - 2",
        "0u - 1u",
        "[1][1]",
        "[1][-1]",
        "[1]['a']",
        "[1][0.5]",
        "{'a': 1}.b",
        "{'a': 1}[null]",
        "{1.5: 'a'}",
        "{1: 'a'}[1.5]",
        "{9e15: 'a'}",
        "text.a",
        "nobody",
        "integer",
        "1 ? true : false",
        "1 && true",
        "1.startsWith('a')",
        "'a'.startsWith(1)",
        "'a'.endsWith(1)",
        "'a'.contains(1)",
        "'a'.matches(1)",
        "'a'.matches('(')",
        "'a'.split(1)",
        "'a'.replace(1, 'b')",
        "[1].join()",
        "size(1)",
        "int('x')",
        "bool('yes')",
        "optional.none().value()",
        "1.optMap(x, x)",
        "[1].map(x, x + 'a')",
        "1.all(x, true)",
        "nowhere.abs(-1)",
    ] {
        let value = ask(text).value;
        assert!(matches!(value, Err(Failure::Error(_))), "{text}: {value:?}");
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
