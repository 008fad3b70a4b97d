//! Tests of the text form.

use proptest::prelude::*;

use super::super::{Code, is_unseen};
use super::*;
use crate::tests::findings::{Texts, sample};

/// One finding with its snippets.
fn one(human: Human, finding: &Finding, texts: &Texts) -> String {
    let mut text = String::new();
    human.one(&mut text, finding, texts, &mut HashMap::new());
    text
}

/// One finding at the first occurrence of `needle` in a file of this text.
fn at(text: &str, needle: &str, human: Human) -> String {
    let mut texts = Texts::default();
    let file = texts.file("a.yaml", text);
    let place = texts.text(file, needle);
    one(
        human,
        &Finding::new(Code::YAML_SYNTAX, place, "wrong").label("here"),
        &texts,
    )
}

/// Takes `ESC [ ... m` out, and nothing else.
fn without_colour(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain + rest
}

#[test]
fn shows_code_place_snippet_related_places_notes_and_help() {
    let (texts, findings) = sample();
    insta::assert_snapshot!(Human::default().render(&findings, &texts), @r#"
    error[policy/target-not-found]: no Gateway gateways/prod-wbe in the input
     --> hub/team a/limits.yaml:7:11
      |
    7 |     name: prod-wbe
      |           ^^^^^^^^ not found
      |
     ::: hub/gateway.yaml:3:9
      |
    3 |   name: prod-web
      |         -------- this Gateway has a similar name
      |
     ::: hub/team a/limits.yaml:3:37
      |
    3 | metadata: {name: global, namespace: gateways}
      |                                     -------- the namespace searched
      |
      = note: a policy without a namespace in its targetRef targets its own namespace
      = help: write `name: prod-web`

    warning[object/unknown-field]: the schema has no field 50%, c:d
     --> hub/team a/limits.yaml:8:3
      |
    8 |   limits:
      |   ^^^^^^^

    error[output/edited]: edited by hand
     --> rendered/eu-1/a,b.yaml
      = help: pass --force to overwrite it

    error[empty/nothing-rendered]: no cluster receives anything
      = help: pass --allow-empty if that is what you mean
    "#);
}

#[test]
fn colour_is_data_and_changes_nothing_else() {
    let (texts, findings) = sample();
    let plain = Human::default().render(&findings, &texts);
    let coloured = Human {
        colour: true,
        ..Human::default()
    };
    let coloured = coloured.render(&findings, &texts);
    assert!(
        coloured.starts_with("\u{1b}[1m\u{1b}[91merror[policy/target-not-found]\u{1b}[0m"),
        "{coloured:?}"
    );
    assert_eq!(without_colour(&coloured), plain);
    assert!(!plain.contains('\u{1b}'));
}

#[test]
fn line_numbers_of_different_length_share_one_gutter() {
    let mut texts = Texts::default();
    let file = texts.file("a.yaml", &format!("first: 1\n{}last: 2\n", "#\n".repeat(98)));
    let finding = Finding::new(Code::YAML_DUPLICATE_KEY, texts.text(file, "last"), "twice")
        .related(texts.text(file, "first"), "the first")
        .note("why");
    insta::assert_snapshot!(one(Human::default(), &finding, &texts), @r#"
    error[yaml/duplicate-key]: twice
       --> a.yaml:100:1
        |
    100 | last: 2
        | ^^^^
        |
       ::: a.yaml:1:1
        |
      1 | first: 1
        | ----- the first
        |
        = note: why
    "#);
}

#[test]
fn a_crlf_line_end_is_not_shown() {
    let shown = at("a: 1\r\nb: no\r\nc: 2\r\n", "no", Human::default());
    insta::assert_snapshot!(shown, @r#"
    error[yaml/syntax]: wrong
     --> a.yaml:2:4
      |
    2 | b: no
      |    ^^ here
    "#);
    assert!(!shown.contains(['\r', '\u{240d}']));
}

#[test]
fn the_caret_stands_under_the_span_after_tabs_and_wide_characters() {
    insta::assert_snapshot!(at("\tü: 日本 x\n", "x", Human::default()), @r#"
    error[yaml/syntax]: wrong
     --> a.yaml:1:8
      |
    1 |     ü: 日本 x
      |             ^ here
    "#);
    insta::assert_snapshot!(at("name: 日本\n", "日本", Human::default()), @r#"
    error[yaml/syntax]: wrong
     --> a.yaml:1:7
      |
    1 | name: 日本
      |       ^^^^ here
    "#);
}

#[test]
fn an_empty_file_and_the_end_of_a_file_have_a_caret() {
    insta::assert_snapshot!(at("", "", Human::default()), @r#"
    error[yaml/syntax]: wrong
     --> a.yaml:1:1
      |
    1 |
      | ^ here
    "#);
    let mut texts = Texts::default();
    let file = texts.file("a.yaml", "a: [\n");
    for end in [4, 5] {
        let place = Place::Text {
            source: file,
            start: end,
            end,
        };
        let shown = one(
            Human::default(),
            &Finding::new(Code::YAML_SYNTAX, place, "wrong"),
            &texts,
        );
        if end == 4 {
            insta::assert_snapshot!(shown, @r#"
            error[yaml/syntax]: wrong
             --> a.yaml:1:5
              |
            1 | a: [
              |     ^
            "#);
        } else {
            insta::assert_snapshot!(shown, @r#"
            error[yaml/syntax]: wrong
             --> a.yaml:2:1
              |
            2 |
              | ^
            "#);
        }
    }
}

#[test]
fn a_span_of_several_lines_is_underlined_as_far_as_its_first_line_goes() {
    insta::assert_snapshot!(at("spec:\n  a: 1\n  b: 2\n", "spec:\n  a: 1\n  b: 2\n", Human::default()), @r#"
    error[yaml/syntax]: wrong
     --> a.yaml:1:1
      |
    1 | spec:
      | ^^^^^ here
    "#);
}

#[test]
fn a_long_line_is_cut_around_the_span_and_keeps_its_true_column() {
    let text = format!(
        "{{\"items\":[{}{{\"kind\":\"Gatewy\"}}{}]}}",
        "{},".repeat(300_000),
        ",{}".repeat(99)
    );
    let shown = at(&text, "\"Gatewy\"", Human::default());
    insta::assert_snapshot!(shown, @r#"
    error[yaml/syntax]: wrong
     --> a.yaml:1:900019
      |
    1 | ...},{},{},{},{},{"kind":"Gatewy"},{},{},{},{},{},{},{},{},{},{},{},{},{}...
      |                          ^^^^^^^^ here
    "#);
    assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
}

#[test]
fn a_span_wider_than_the_room_is_cut_on_the_right() {
    let text = format!("key: {}", "v".repeat(1000));
    let narrow = Human {
        width: 40,
        ..Human::default()
    };
    insta::assert_snapshot!(at(&text, &text[5..], narrow), @r#"
    error[yaml/syntax]: wrong
     --> a.yaml:1:6
      |
    1 | key: vvvvvvvvvvvvvvvvvvvvvvvvvvvv...
      |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
    "#);
}

#[test]
fn nothing_in_the_input_reaches_the_terminal_as_a_control_character() {
    let evil = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{7}e\u{0}f\u{200b}g\u{8}h\u{feff}";
    let mut texts = Texts::default();
    let file = texts.file(&format!("{evil}.yaml"), &format!("{evil}: {evil}\n"));
    let place = texts.text(file, evil);
    let finding = Finding::new(Code::YAML_SYNTAX, place.clone(), evil)
        .label(format!("{evil}\nerror[forged]: {evil}"))
        .related(place, evil)
        .related(Place::Path(evil.to_owned()), evil)
        .related(Place::Run, evil)
        .note(format!("{evil}\r\n::error::forged"))
        .help(evil);
    let shown = one(Human::default(), &finding, &texts);
    insta::assert_snapshot!(shown, @r#"
    error[yaml/syntax]: a␛[2Jb�31mc�d␇e␀f�g␈h�
     --> a␛[2Jb�31mc�d␇e␀f�g␈h�.yaml:1:1
      |
    1 | a␛[2Jb�31mc�d␇e␀f�g␈h�: a␛[2Jb�31mc�d␇e␀f�g␈h�
      | ^^^^^^^^^^^^^^^^^^^^^^ a␛[2Jb�31mc�d␇e␀f�g␈h� error[forged]: a␛[2Jb�31mc�d␇e␀f�g␈h�
      |
     ::: a␛[2Jb�31mc�d␇e␀f�g␈h�.yaml:1:1
      |
    1 | a␛[2Jb�31mc�d␇e␀f�g␈h�: a␛[2Jb�31mc�d␇e␀f�g␈h�
      | ---------------------- a␛[2Jb�31mc�d␇e␀f�g␈h�
     ::: a␛[2Jb�31mc�d␇e␀f�g␈h�: a␛[2Jb�31mc�d␇e␀f�g␈h�
      |
      = note: a␛[2Jb�31mc�d␇e␀f�g␈h�
      = note: a␛[2Jb�31mc�d␇e␀f�g␈h� ::error::forged
      = help: a␛[2Jb�31mc�d␇e␀f�g␈h�
    "#);
    assert!(shown.lines().all(|line| !line.contains(char::is_control)));
}

#[test]
fn long_messages_are_cut() {
    let finding =
        Finding::new(Code::CONFIG_INVALID, Place::Run, "m".repeat(1 << 20)).help("h".repeat(1 << 20));
    let shown = one(Human::default(), &finding, &Texts::default());
    assert!(shown.len() < 2200, "{}", shown.len());
}

#[test]
fn beyond_the_limit_findings_of_a_severity_are_counted() {
    let mut findings = Findings::new();
    for index in 0..5 {
        findings.push(Finding::new(
            Code::POLICY_UNUSED,
            Place::Run,
            format!("warning {index}"),
        ));
        findings.push(Finding::new(
            Code::CONFIG_INVALID,
            Place::Run,
            format!("error {index}"),
        ));
    }
    findings.push(Finding::new(Code::CONFIG_INVALID, Place::Run, "error 5"));
    let show = |limit| {
        Human {
            limit,
            ..Human::default()
        }
        .render(&findings, &Texts::default())
    };
    insta::assert_snapshot!(show(Some(2)), @r#"
    warning[policy/unused]: warning 0

    error[config/invalid]: error 0

    warning[policy/unused]: warning 1

    error[config/invalid]: error 1

    ... and 4 more errors, 3 more warnings
    "#);
    insta::assert_snapshot!(show(Some(0)), @r#"
    ... and 6 more errors, 5 more warnings
    "#);
    assert!(!show(None).contains("..."));
    assert!(!show(Some(6)).contains("..."));
    assert!(show(Some(5)).ends_with("... and 1 more error\n"));
    assert_eq!(findings.summary().to_string(), "6 errors, 5 warnings");
    assert_eq!(Findings::new().summary().to_string(), "no findings");
    assert_eq!(show(None), show(Some(100)));
}

/// Elsewhere they stand by position, so that one text can be compared with another.
#[test]
fn on_a_terminal_errors_come_last() {
    let finding = |code, message: &str| Finding::new(code, Place::Run, message.to_owned());
    let mut findings = Findings::new();
    findings.push(finding(Code::OBJECT_UNKNOWN_FIELD, "the error"));
    findings.push(finding(Code::GATEWAY_CLASS_NOT_FOUND, "the warning"));
    let at = |terminal: bool, message: &str| {
        let human = Human {
            terminal,
            ..Human::default()
        };
        human
            .render(&findings, &Texts::default())
            .find(message)
            .expect("it is shown")
    };
    assert!(at(true, "the warning") < at(true, "the error"));
    assert!(at(false, "the error") < at(false, "the warning"));
}

#[test]
fn no_findings_print_nothing() {
    assert_eq!(Human::default().render(&Findings::new(), &Texts::default()), "");
}

#[test]
fn sentences_and_labels_are_wrapped_where_that_is_wanted_and_source_never() {
    let (texts, findings) = sample();
    let narrow = Human {
        width: 50,
        terminal: true,
        ..Human::default()
    };
    let text = narrow.render(&findings, &texts);
    for line in text.lines() {
        let is_place = line.contains("-->") || line.contains(":::");
        assert!(line.chars().count() <= 50 || is_place, "{line}\n{text}");
    }
    let plain = Human {
        terminal: false,
        ..narrow
    };
    // A label that moves below its marks brings a gutter with it.
    let words = |text: &str| {
        let words = text.split_whitespace().filter(|word| *word != "|");
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let unwrapped = plain.render(&findings, &texts);
    let sorted = |mut words: Vec<String>| {
        words.sort_unstable();
        words
    };
    assert_eq!(sorted(words(&unwrapped)), sorted(words(&text)));
    assert!(unwrapped.lines().count() < text.lines().count(), "{text}");
}

#[test]
fn no_line_of_a_document_with_a_secret_is_shown() {
    for text in [
        "kind: Secret\nmetadata: {name: wrong}\ndata: {k: aGlkZGVu}\n",
        "{\"kind\": \"Secret\", \"metadata\": {\"name\": \"wrong\"}, \"stringData\": {\"k\": \"hidden\"}}",
        "kind: List\nitems:\n- {kind: 'Secret', metadata: {name: wrong}, data: {k: aGlkZGVu}}\n",
        "a: 1\n---\nkind: Secret\nmetadata: {name: wrong}\ndata: {k: aGlkZGVu}\n---\nb: 1\n",
    ] {
        let shown = at(text, "wrong", Human::default());
        let place = shown.lines().nth(1).unwrap_or_default();
        assert!(
            place.contains("--> a.yaml:") && shown.contains("= note: here"),
            "{shown}"
        );
        assert!(!shown.contains("name") && !shown.contains("hidden"), "{shown}");
    }
    for text in [
        "kind: Gateway\nspec: {tls: {kind: Secret, name: wrong}}\n",
        "kind: SecretStore\ndata: {name: wrong}\n",
        "kind: Secret\ndata: {k: aGlkZGVu}\n---\nkind: Gateway\nname: wrong\n",
    ] {
        assert!(
            at(text, "wrong", Human::default()).contains("^^^^^ here"),
            "{text}"
        );
    }
}

fn span(text: &str, start: usize, end: usize) -> Span<'_> {
    Span {
        path: "a.yaml",
        text,
        start,
        end,
        line: 1,
        column: 1,
    }
}

#[test]
fn a_line_that_fits_is_shown_whole() {
    let excerpt = Excerpt::new(&span("one\ntwo three\nfour", 8, 13), 12);
    assert_eq!(
        (excerpt.line.as_str(), excerpt.caret, excerpt.width),
        ("two three", 4, 5)
    );
}

#[test]
fn what_is_cut_off_is_marked_on_its_side() {
    let text = format!("{}X{}", "a".repeat(50), "b".repeat(50));
    let shown = |at: usize| Excerpt::new(&span(&text, at, at + 1), 20).line;
    assert_eq!(shown(0), "aaaaaaaaaaaaaaaaa...");
    assert_eq!(shown(50), "...aaaXbbbbbbbbbb...");
    assert_eq!(shown(100), "...bbbbbbbbbbbbbb");
}

#[test]
fn a_span_outside_the_text_or_inside_a_character_is_no_harm() {
    assert_eq!(Excerpt::new(&span("é", 1, 1), 80).line, "é");
    assert_eq!(Excerpt::new(&span("é", 99, 7), 80).caret, 1);
}

#[test]
fn no_character_is_shown_in_an_excerpt_that_nobody_sees() {
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for characters in all.chunks(200) {
        let text: String = characters.iter().collect();
        for start in [0, text.len() / 2] {
            let line = Excerpt::new(&span(&text, start, text.len()), 800).line;
            assert!(!line.contains(is_unseen), "{line:?}");
        }
    }
}

proptest! {
    #[test]
    fn an_excerpt_is_printable_and_never_wider_than_its_room(
        text in "(\\PC|[\\x00-\\x1f\\x7f\\u{80}-\\u{9f}\\n\\t\u{1b}日é\u{300}]){0,200}",
        start in 0usize..220,
        length in 0usize..220,
        room in 0usize..90,
    ) {
        let excerpt = Excerpt::new(&span(&text, start, start + length), room);
        prop_assert!(columns(&excerpt.line) <= room.max(12), "{:?}", excerpt);
        prop_assert!(excerpt.caret + excerpt.width <= room.max(12) + 1, "{:?}", excerpt);
        prop_assert!(!excerpt.line.contains(char::is_control), "{:?}", excerpt);
    }
}

#[test]
fn each_error_is_one_line_with_its_place_and_help_and_warnings_are_counted() {
    let (texts, findings) = sample();
    insta::assert_snapshot!(Brief::default().render(&findings, &texts), @r"
    error[policy/target-not-found]: no Gateway gateways/prod-wbe in the input (hub/team a/limits.yaml:7:11); help: write `name: prod-web`
    error[output/edited]: edited by hand (rendered/eu-1/a,b.yaml); help: pass --force to overwrite it
    error[empty/nothing-rendered]: no cluster receives anything; help: pass --allow-empty if that is what you mean
    and 1 warning: `spokewright check` lists them
    ");
}

#[test]
fn what_is_beyond_the_limit_is_counted() {
    let (texts, findings) = sample();
    let text = Brief { limit: 1 }.render(&findings, &texts);
    assert_eq!(text.lines().count(), 2);
    assert!(
        text.ends_with("and 2 more errors and 1 warning: `spokewright check` lists them\n"),
        "{text}"
    );
    let warnings = findings.only(Severity::Warning);
    let text = Brief { limit: 0 }.render(&warnings, &texts);
    assert_eq!(text, "and 1 more warning: `spokewright check` lists them\n");
}

#[test]
fn no_line_of_the_input_is_quoted() {
    let mut texts = Texts::default();
    let file = texts.file("secret.yaml", "password: hunter2\n");
    let mut findings = Findings::new();
    findings.push(Finding::new(Code::YAML_SYNTAX, texts.text(file, "password"), "wrong").label("here"));
    assert!(!Brief::default().render(&findings, &texts).contains("hunter2"));
    assert_eq!(Brief::default().render(&Findings::new(), &texts), "");
    findings.push(Finding::new(Code::CONFIG_INVALID, Place::Run, "a\u{1b}[31mb\nc"));
    assert!(!Brief::default().render(&findings, &texts).contains('\u{1b}'));
}
