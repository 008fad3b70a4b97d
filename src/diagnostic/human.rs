//! The text form, as rustc shows it: code and message, place, the line with a caret, related places, why, help.
//!
//! Owns: the layout. Flows in: findings in the order in which they are to be shown, width, colour, limit.
//! Flows out: text. Must not know: terminals or the environment; the caller decides about colour.
//!
//! The layout is drawn here and not by annotate-snippets, because that crate reads the whole file once for each
//! finding, derives the column from the text it is given (so that a long line could not be cut before it) and
//! passes C1 control characters on to the terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::visible::{Excerpt, one_line};
use super::{Finding, Findings, Locate, Place, Severity, Span, Summary};

/// Longest message, label, note, path or help line shown, in characters: any of them may quote the input.
const LONGEST_TEXT: usize = 1000;

/// How findings are shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Human {
    /// Columns that a line of a file may take with its line number. Messages are not wrapped.
    pub width: usize,
    /// Whether to write ANSI colours.
    pub colour: bool,
    /// How many errors, and how many warnings, to show; the rest is counted in one line. `None`: all.
    pub limit: Option<usize>,
}

impl Default for Human {
    /// 80 columns, no colour, 50 of each severity.
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
            limit: Some(50),
        }
    }
}

impl Human {
    /// All findings, a blank line after each, and a last line that counts those beyond the limit. Empty when
    /// there is nothing to say. The closing line of a run is [`Findings::summary`].
    #[must_use]
    pub fn render(&self, findings: &Findings, locate: &dyn Locate) -> String {
        let mut text = String::new();
        let mut shown = Summary::default();
        let mut hidden = Summary::default();
        for finding in findings {
            let count = shown.of(finding.severity);
            if self.limit.is_some_and(|limit| *count >= limit) {
                *hidden.of(finding.severity) += 1;
            } else {
                *count += 1;
                self.one(&mut text, finding, locate);
                text.push('\n');
            }
        }
        if hidden != Summary::default() {
            let _ = writeln!(text, "... and {}", hidden.more());
        }
        text
    }

    /// One finding with its snippets, without a blank line after it.
    #[must_use]
    pub fn render_one(&self, finding: &Finding, locate: &dyn Locate) -> String {
        let mut text = String::new();
        self.one(&mut text, finding, locate);
        text
    }

    fn one(&self, text: &mut String, finding: &Finding, locate: &dyn Locate) {
        let palette = Palette::new(self.colour, finding.severity);
        let spans = std::iter::once(&finding.place)
            .chain(finding.related.iter().map(|related| &related.place))
            .map(|place| locate.locate(place))
            .collect::<Vec<_>>();
        let digits = spans
            .iter()
            .flatten()
            .map(|span| span.line.max(1).ilog10() as usize + 1)
            .max()
            .unwrap_or(1);
        let mut page = Page {
            text,
            palette,
            digits,
            width: self.width,
        };

        let head = format!("{}[{}]", finding.severity.as_str(), finding.code.name());
        let message = one_line(&finding.message, LONGEST_TEXT);
        page.line(&[
            (palette.severity, &head),
            (palette.strong, &format!(": {message}")),
        ]);

        let labels = std::iter::once((&finding.place, &finding.label)).chain(
            finding
                .related
                .iter()
                .map(|related| (&related.place, &related.text)),
        );
        for (index, ((place, label), span)) in labels.zip(&spans).enumerate() {
            page.place(place, span.as_ref(), label, index == 0);
        }
        let explained = !finding.notes.is_empty() || finding.help.is_some();
        if explained && spans.iter().any(Option::is_some) {
            page.gutter();
        }
        // A related place that is nowhere still has something to say.
        let nowhere = finding.related.iter().zip(spans.iter().skip(1));
        let nowhere =
            nowhere.filter(|(related, span)| span.is_none() && !matches!(related.place, Place::Path(_)));
        for note in nowhere.map(|(related, _)| &related.text).chain(&finding.notes) {
            page.remark("note", note);
        }
        if let Some(help) = &finding.help {
            page.remark("help", help);
        }
    }
}

/// The text of one finding as it grows.
struct Page<'t> {
    text: &'t mut String,
    palette: Palette,
    /// Digits of the greatest line number.
    digits: usize,
    width: usize,
}

impl Page<'_> {
    /// One line of styled pieces, without blanks at its end.
    fn line(&mut self, pieces: &[(Style, &str)]) {
        let last = pieces.iter().rposition(|(_, piece)| !piece.trim_end().is_empty());
        for (index, (style, piece)) in pieces.iter().enumerate() {
            let piece = match last {
                Some(last) if index < last => piece,
                Some(last) if index == last => piece.trim_end(),
                _ => "",
            };
            if !piece.is_empty() {
                let _ = write!(self.text, "{style}{piece}{style:#}");
            }
        }
        self.text.push('\n');
    }

    /// The empty line of the gutter.
    fn gutter(&mut self) {
        let gutter = format!("{:1$} |", "", self.digits);
        self.line(&[(self.palette.gutter, &gutter)]);
    }

    fn place(&mut self, place: &Place, span: Option<&Span<'_>>, label: &str, primary: bool) {
        let plain = Style::new();
        let (gutter, digits) = (self.palette.gutter, self.digits);
        let arrow = format!("{:digits$}{} ", "", if primary { "-->" } else { ":::" });
        let label = one_line(label, LONGEST_TEXT);
        let Some(span) = span else {
            if let Place::Path(path) = place {
                let path = one_line(path, LONGEST_TEXT);
                let label = if label.is_empty() {
                    label
                } else {
                    format!(": {label}")
                };
                self.line(&[(gutter, &arrow), (plain, &path), (plain, &label)]);
            } else if primary && !label.is_empty() {
                self.remark("note", &label);
            }
            return;
        };
        if !primary {
            self.gutter();
        }
        let path = one_line(span.path, LONGEST_TEXT);
        self.line(&[
            (gutter, &arrow),
            (plain, &format!("{path}:{}:{}", span.line, span.column)),
        ]);
        self.gutter();
        let number = format!("{:>digits$} | ", span.line);
        let excerpt = Excerpt::new(span, self.width.saturating_sub(number.len()));
        self.line(&[(gutter, &number), (plain, &excerpt.line)]);
        let (style, mark) = if primary {
            (self.palette.severity, "^")
        } else {
            (gutter, "-")
        };
        let margin = format!("{:digits$} | ", "");
        let indent = " ".repeat(excerpt.caret);
        let marked = format!("{} {label}", mark.repeat(excerpt.width));
        self.line(&[(gutter, &margin), (plain, &indent), (style, &marked)]);
    }

    fn remark(&mut self, kind: &str, text: &str) {
        let sign = format!("{:1$} = ", "", self.digits);
        let text = format!(": {}", one_line(text, LONGEST_TEXT));
        self.line(&[
            (self.palette.gutter, &sign),
            (self.palette.strong, kind),
            (Style::new(), &text),
        ]);
    }
}

/// The colours of one finding.
#[derive(Debug, Clone, Copy)]
struct Palette {
    severity: Style,
    strong: Style,
    gutter: Style,
}

impl Palette {
    fn new(colour: bool, severity: Severity) -> Self {
        if !colour {
            return Self {
                severity: Style::new(),
                strong: Style::new(),
                gutter: Style::new(),
            };
        }
        let severity = match severity {
            Severity::Error => AnsiColor::BrightRed,
            Severity::Warning => AnsiColor::Yellow,
        };
        Self {
            severity: severity.on_default().bold(),
            strong: Style::new().bold(),
            gutter: AnsiColor::BrightBlue.on_default().bold(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Code;
    use super::super::fixture::{Texts, sample};
    use super::*;

    /// One finding at the first occurrence of `needle` in a file of this text.
    fn at(text: &str, needle: &str, human: Human) -> String {
        let mut texts = Texts::default();
        let file = texts.file("a.yaml", text);
        let place = texts.text(file, needle);
        human.render_one(
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
        insta::assert_snapshot!(Human::default().render_one(&finding, &texts), @r#"
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
            let shown = Human::default().render_one(&Finding::new(Code::YAML_SYNTAX, place, "wrong"), &texts);
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
        let shown = Human::default().render_one(&finding, &texts);
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
        let shown = Human::default().render_one(&finding, &Texts::default());
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

    #[test]
    fn no_findings_print_nothing() {
        assert_eq!(Human::default().render(&Findings::new(), &Texts::default()), "");
    }
}
