//! No text makes the reader panic, overflow the stack, or work more than in proportion to its length.

use proptest::prelude::*;

use crate::compose::comes_from_aliases;
use crate::source::{MOST_AT_ONCE, WORK, read_events};
use crate::{
    ErrorKind, Limits, decode, read, read_all, read_counting, read_document, read_document_located,
    read_located, split, split_json,
};

/// The bytes that the cursor beside the library's events looks at, whether the text is accepted or not.
fn work(text: &str) -> usize {
    let before = WORK.with(std::cell::Cell::get);
    let _ = read_events(text, &mut |_| Ok(()));
    WORK.with(std::cell::Cell::get) - before
}

#[test]
fn the_work_is_proportional_to_the_text() {
    let shapes: &[(&str, &str)] = &[
        ("", "["),
        ("", "{"),
        ("", "[a,"),
        ("", "{a: "),
        ("[", "a, "),
        ("{", "? "),
        ("", "- "),
        ("", "? "),
        ("", "a: b\n"),
        ("[[[[[[[[", "\"é\", "),
        ("", "- a\n"),
        ("a: ", "x "),
        ("a: ", "x\n  "),
        ("\"", "x\n"),
        ("\"", "\\n"),
        ("'", "''"),
        ("", "!a "),
        ("", "&a "),
        ("a: |\n", "  x\n"),
        ("a: |\n", "\n"),
        ("", "#\n"),
        ("", "\n"),
        ("", " "),
        ("[", "\n"),
        ("[\"é", "é"),
        ("é: [", "[é],"),
        ("", "[é: "),
        ("[", "{a: b},"),
        ("", "{a: [b], c: "),
        ("", "é"),
        ("", "a:"),
        ("[", "a:"),
        ("", ": "),
    ];
    for (start, repeated) in shapes {
        let once = work(&format!("{start}{}\n", repeated.repeat(5_000)));
        let twice = work(&format!("{start}{}\n", repeated.repeat(10_000)));
        assert!(
            twice <= once * 2 + once / 5 + 5_000,
            "{start}{repeated}: {once}, then {twice}"
        );
        assert!(
            twice <= 8 * 10_000 * repeated.len() + 5_000,
            "{start}{repeated}: {twice}"
        );
        // The library's own work is not counted: with the square of the text, this would never end.
        let _ = read_document(
            &format!("{start}{}\n", repeated.repeat(100_000)),
            &Limits::default(),
        );
    }
}

#[test]
fn indented_mappings_cost_their_text_only() {
    let nested = |depth: usize| -> String {
        (0..depth)
            .map(|level| format!("{}a:\n", " ".repeat(level)))
            .collect()
    };
    let (small, large) = (nested(300), nested(600));
    assert!(work(&large) / work(&small) <= large.len() / small.len() + 1);
    let _ = read_document(&nested(3_000), &Limits::default());
}

#[test]
fn what_the_library_holds_at_once_is_limited() {
    let limits = Limits::default();
    for repeated in ["\"a\"\n  ", ": ", "é,"] {
        let times = MOST_AT_ONCE / repeated.chars().count() + 1;
        let text = format!("- [{}]\n- !t é\n", repeated.repeat(times));
        let error = read_document(&text, &limits).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{repeated}");
        assert!(error.message.contains("2,097,152"), "{repeated}");
    }
    let text = format!("k: !t >\n  {}\n", "x".repeat(MOST_AT_ONCE));
    assert_eq!(read_document(&text, &limits).unwrap_err().kind, ErrorKind::Limit);
    let text = format!("k: !t >\n  {}\n", "x".repeat(MOST_AT_ONCE - 100));
    assert!(read_document(&text, &limits).is_ok());
}

#[test]
fn depth_is_limited_before_anything_overflows() {
    let limits = Limits::default();
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "[{a: ".repeat(50_000),
        (0..10_000)
            .map(|level| format!("{}a:\n", " ".repeat(level)))
            .collect(),
        "[".repeat(10_000) + &"]".repeat(10_000),
    ] {
        assert_eq!(read_document(&text, &limits).unwrap_err().kind, ErrorKind::Limit);
        assert_eq!(
            read_document_located(&text, &limits).unwrap_err().kind,
            ErrorKind::Limit
        );
    }
    // Brackets, of which the library takes one less, and lists in blocks.
    let brackets = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let exactly = |depth: usize| "- ".repeat(depth) + "x\n";
    assert!(read_document(&brackets(255), &limits).is_ok());
    assert!(read_document(&exactly(256), &limits).is_ok());
    for text in [brackets(256), exactly(257)] {
        assert_eq!(read_document(&text, &limits).unwrap_err().kind, ErrorKind::Limit);
    }
    // Whatever is asked for, the machine stack stays safe.
    let boundless = Limits {
        depth: usize::MAX,
        ..Limits::default()
    };
    assert!(read_document(&exactly(Limits::GREATEST_DEPTH), &boundless).is_ok());
    assert_eq!(
        read_document(&exactly(100_000), &boundless).unwrap_err().kind,
        ErrorKind::Limit
    );
    let json = "{\"a\":".repeat(300) + "1" + &"}".repeat(300);
    assert_eq!(
        read(&split_json(&json).unwrap()[0], &limits).unwrap_err().kind,
        ErrorKind::Limit
    );
    split_json(&"{\"a\":".repeat(100_000)).unwrap_err();
}

#[test]
fn aliases_count_the_depth_they_bring() {
    let limits = Limits::default();
    let anchored = "[".repeat(200) + &"]".repeat(200);
    let around = "[".repeat(100) + "*x" + &"]".repeat(100);
    let text = format!("a: &x {anchored}\nb: {around}\n");
    assert_eq!(read_document(&text, &limits).unwrap_err().kind, ErrorKind::Limit);
}

#[test]
fn alias_bombs_are_refused() {
    let limits = Limits::default();
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(read_document(&bomb, &limits).unwrap_err().kind, ErrorKind::Limit);
    // A few long texts, many times.
    let text = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(100_000),
        vec!["*a"; 1_000].join(", ")
    );
    assert_eq!(read_document(&text, &limits).unwrap_err().kind, ErrorKind::Limit);
    let text = format!(
        "a: &a [{}, {{b: {0}}}]\nb: [{}]\n",
        "x".repeat(100_000),
        vec!["*a"; 500].join(", ")
    );
    assert_eq!(read_document(&text, &limits).unwrap_err().kind, ErrorKind::Limit);
    // Anchors inside of anchors, all of them asked for.
    let nested: String = (0..250).map(|level| format!("[&n{level} ")).collect();
    let names: String = (0..250).map(|level| format!("*n{level} ")).collect();
    let text = format!(
        "a: {nested}[{}]{}\n# {names}\n",
        "x,".repeat(20_000),
        "]".repeat(250)
    );
    assert_eq!(read_document(&text, &limits).unwrap_err().kind, ErrorKind::Limit);
    assert!(read_document(&text.replace('*', ""), &limits).is_ok());
}

#[test]
fn a_document_nearly_all_of_aliases_is_refused_as_kubernetes_refuses_it() {
    let document = |aliases: usize| {
        format!(
            "a: &a [{}]\nb: [{}]\n",
            vec!["x"; 100].join(", "),
            vec!["*a"; aliases].join(", ")
        )
    };
    assert!(read_document(&document(50), &Limits::default()).is_ok());
    let text = format!(
        "a: &a [{}]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c]\n",
        vec!["x"; 100].join(", ")
    );
    assert_eq!(
        read_document(&text, &Limits::default()).unwrap_err().kind,
        ErrorKind::Limit
    );
}

#[test]
fn an_alias_costs_the_values_that_it_stands_for_and_one_more_for_each_64_bytes_of_a_text() {
    let (long, longer) = ("x".repeat(64), "x".repeat(191));
    for (text, cost) in [
        ("a: &a x\nb: *a\n".to_owned(), 1),
        ("a: &a x\nb: {*a : *a}\n".to_owned(), 2),
        (format!("a: &a {long}\nb: *a\n"), 2),
        (format!("a: &a {longer}\nb: *a\n"), 3),
        // A list or a mapping that an alias may name is kept, which costs as much as one alias.
        ("a: &a [x, y]\nb: *a\n".to_owned(), 3 + 3),
        ("a: &a {k: v}\nb: [*a, *a]\n".to_owned(), 3 + 2 * 3),
        ("a: &a {k: v}\nb: {<<: *a, l: w}\n".to_owned(), 3 + 3),
        (format!("a: &a [{longer}, {long}]\nb: *a\n"), 6 + 6),
        (format!("a: &a [!!str {long}, !!str {longer}]\nb: *a\n"), 6 + 6),
        ("a: &a [[x], {k: [y]}]\nb: *a\n".to_owned(), 7 + 7),
        ("a: [z, {k: &a [x]}]\nb: *a\n".to_owned(), 2 + 2),
        ("a: &a [x]\nb: &b [*a, z]\nc: *b\n".to_owned(), 2 + 2 + 4 + 4),
        ("a: &a [x]\nb: c\n".to_owned(), 0),
    ] {
        let chunks = split(&text).unwrap();
        let read = |alias_nodes| {
            let limits = Limits {
                alias_nodes,
                ..Limits::default()
            };
            read_counting(&chunks[0], &limits)
        };
        let (value, counted) = read(cost);
        assert!(value.is_ok(), "{text}");
        assert_eq!(counted, cost, "{text}");
        if cost > 0 {
            let (value, _) = read(cost - 1);
            assert_eq!(value.map_err(|error| error.kind), Err(ErrorKind::Limit), "{text}");
        }
    }
}

/// Kubernetes' reader takes a step for each value and each key, and none for a merge key.
#[test]
fn every_value_and_key_is_a_step_of_the_share_that_may_come_from_aliases() {
    let repeated = |item: &str, times: usize| vec![item; times].join(", ");
    // What is named, and its steps; what holds an alias, and the steps of that without the alias.
    for (named, inner) in [
        (format!("[{}]", repeated("x", 120)), 121),
        (format!("[{}]", repeated("!!str x", 120)), 121),
        (format!("[{}]", repeated("[]", 120)), 121),
        (format!("{{k: [{}]}}", repeated("{}", 120)), 123),
        (format!("{{k: [{}]}}", repeated("{l: m}", 50)), 153),
    ] {
        for (around, holder) in [("*a", 0), ("{<<: *a}", 1), ("{!!merge <<: *a}", 1), ("[*a]", 1)] {
            if holder == 1 && around.contains("<<") && named.starts_with('[') {
                continue;
            }
            let document = |aliases| format!("a: &a {named}\nb: [{}]\n", repeated(around, aliases));
            // The document, the mapping, its two keys, the list; what is named; each alias with what it stands for.
            let is_taken = |aliases: u64| {
                let steps = 5 + inner + aliases * (1 + holder + inner);
                !comes_from_aliases(aliases * inner, steps)
            };
            let first = (1..5_000).find(|aliases| !is_taken(*aliases));
            let Some(first) = first.and_then(|first| usize::try_from(first).ok()) else {
                let limits = Limits::default();
                assert!(
                    read_document(&document(2_000), &limits).is_ok(),
                    "{named} {around}"
                );
                continue;
            };
            let read = |aliases| read_document(&document(aliases), &Limits::default());
            assert!(read(first - 1).is_ok(), "{around} of {named}");
            assert_eq!(
                read(first).unwrap_err().kind,
                ErrorKind::Limit,
                "{named} {around}"
            );
        }
    }
}

#[test]
fn documents_are_limited_in_size() {
    let limits = Limits {
        document_bytes: 10,
        ..Limits::default()
    };
    assert!(read_document("a: 123456\n", &limits).is_ok());
    assert_eq!(
        read_document("a: 1234567\n", &limits).unwrap_err().kind,
        ErrorKind::Limit
    );
    assert!(read(&split("a: 1234567").unwrap()[0], &limits).is_ok());
    assert_eq!(
        read(&split("a: 12345678").unwrap()[0], &limits).unwrap_err().kind,
        ErrorKind::Limit
    );
}

/// Everything that reads, on one text: no panic, ranges inside the text, both readers of one mind.
fn read_every_way(text: &str) -> Result<(), TestCaseError> {
    let limits = Limits {
        depth: 20,
        ..Limits::default()
    };
    let within =
        |range: &std::ops::Range<usize>, text: &str| range.start <= range.end && range.end <= text.len();
    let check = |error: &crate::Error, text: &str| {
        within(&error.range, text)
            && text.get(error.range.clone()).is_some()
            && error
                .related
                .as_ref()
                .is_none_or(|related| text.get(related.range.clone()).is_some())
            && !error.help.is_empty()
            && !error.message.is_empty()
    };
    let plain = read_document(text, &limits);
    match (&plain, read_document_located(text, &limits)) {
        (Ok(value), Ok((located, positions))) => {
            prop_assert_eq!(value, &located);
            prop_assert!(text.get(positions.nearest("").value).is_some());
        }
        (Err(plain), Err(located)) => {
            prop_assert_eq!(plain, &located);
            prop_assert!(check(plain, text), "{:?} of {:?}", plain, text);
        }
        (plain, located) => prop_assert!(
            false,
            "{:?} and {:?} of {:?}",
            plain,
            located.map(|(value, _)| value),
            text
        ),
    }
    for chunks in [split(text), split_json(text)] {
        match chunks {
            Ok(chunks) => {
                for chunk in chunks {
                    prop_assert_eq!(
                        text.get(chunk.offset..chunk.offset + chunk.text.len()),
                        Some(chunk.text)
                    );
                    let line = 1 + text[..chunk.offset].matches('\n').count();
                    prop_assert_eq!(chunk.line, line);
                    match (read(&chunk, &limits), read_located(&chunk, &limits)) {
                        (Ok(value), Ok((located, _))) => prop_assert_eq!(value, located),
                        (Err(plain), Err(located)) => {
                            prop_assert_eq!(&plain, &located);
                            prop_assert!(check(&plain, chunk.text), "{:?} of {:?}", plain, chunk.text);
                        }
                        other => prop_assert!(false, "{:?}", other),
                    }
                }
            }
            Err(error) => prop_assert!(check(&error, text), "{:?} of {:?}", error, text),
        }
    }
    let _ = read_all(text, &limits);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(800), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_text_makes_any_reader_panic(text in "\\PC{0,60}|[-a:?!&*|>%@`'\"#{}\\[\\],. \n\t\r0-9~<=\\\\é\u{85}\u{2028}\u{feff}]{0,60}") {
        read_every_way(&text)?;
    }

    #[test]
    fn no_tricky_text_makes_any_reader_panic(text in super::oracle::texts()) {
        read_every_way(&text)?;
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), mark in any::<bool>()) {
        let bytes = if mark { [&[0xFE, 0xFF], bytes.as_slice()].concat() } else { bytes };
        match decode(&bytes) {
            Ok(text) => read_every_way(&text)?,
            Err(refused) => {
                let range = refused.error.range;
                prop_assert!(refused.text.get(range).is_some());
            }
        }
    }

    #[test]
    fn json_that_serde_reads_is_read_the_same(value in super::writing::values()) {
        let text = serde_json::to_string_pretty(&kube_json::json!({"v": value})).unwrap();
        let chunks = split(&text).unwrap();
        prop_assert_eq!(chunks.len(), 1);
        let expected: kube_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read(&chunks[0], &Limits::default()).unwrap(), super::writing::canonical(expected));
    }
}
