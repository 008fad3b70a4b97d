//! The text formats: in the style of rustc ([`Human`]: code and message, place, the line with a caret, related places, reason,
//! help), and one line for each finding ([`Brief`]).
//!
//! The layout is drawn here and not by annotate-snippets, because that crate reads the whole file once for each
//! finding, derives the column from the text it is given (so that a long line could not be cut before it) and
//! passes C1 control characters on to the terminal.

use std::collections::HashMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::place::{floor_boundary, origin};
use super::redact::Secrecy;
use super::sanitize::{ELLIPSIS, Lines, columns, one_line, shown, width, without_marker};
use super::text::{counted, wrapped_hanging};
use super::{Finding, FindingCounts, Findings, Locate, Place, Severity, Span};

/// Columns of a tab. YAML has no tabs in its indentation, so no stop is worth keeping.
const TAB: &str = "    ";

/// Longest message, label, note, path or help line shown, in characters: any of them may quote the input.
const LONGEST_TEXT: usize = 1000;

/// Blanks before the second line of a message.
const MESSAGE_HANG: usize = 2;

/// How findings are shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Human {
    /// Columns that a line of a file may take with its line number.
    pub width: usize,
    /// Whether a terminal shows them: messages, notes, and help lines wrap at `width`, and errors come last, so that the
    /// last screen has what to fix.
    pub terminal: bool,
    /// Whether to write ANSI colors.
    pub colour: bool,
    /// How many errors, and how many warnings, to show; the rest is counted in one line. `None`: all.
    pub limit: Option<usize>,
}

impl Default for Human {
    /// 80 columns, nothing wrapped, no color, 50 of each severity.
    fn default() -> Self {
        Self {
            width: 80,
            terminal: false,
            colour: false,
            limit: Some(50),
        }
    }
}

impl Human {
    /// All findings, a blank line after each, and a last line that counts those beyond the limit. Empty if there are no
    /// findings; suppressed ones are not shown. The closing line of a run is [`Findings::summary`].
    pub fn render(&self, findings: &Findings, locate: &dyn Locate) -> String {
        let mut text = String::new();
        let mut shown = FindingCounts::default();
        let mut hidden = FindingCounts::default();
        let mut reported: Vec<&Finding> = findings
            .iter()
            .filter(|finding| finding.suppressed.is_none())
            .collect();
        if self.terminal {
            // By position below: a stable sort.
            reported.sort_by_key(|finding| finding.severity == Severity::Error);
        }
        let mut texts = HashMap::new();
        for finding in reported {
            let count = shown.of(finding.severity);
            if self.limit.is_some_and(|limit| *count >= limit) {
                *hidden.of(finding.severity) += 1;
            } else {
                *count += 1;
                self.one(&mut text, finding, locate, &mut texts);
                text.push('\n');
            }
        }
        if hidden != FindingCounts::default() {
            let _ = writeln!(text, "... and {}", hidden.more());
        }
        text
    }

    /// Appends one finding with its snippets, without a blank line after it.
    fn one<'l>(
        &self,
        text: &mut String,
        finding: &'l Finding,
        locate: &'l dyn Locate,
        texts: &mut Texts<'l>,
    ) {
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
            wrap: self.terminal,
        };

        let head = format!("{}[{}]", finding.severity.as_str(), finding.code.name());
        let message = one_line(&finding.message, LONGEST_TEXT);
        page.sentence(
            &[(palette.severity, &head)],
            &format!(": {message}"),
            palette.strong,
            MESSAGE_HANG,
        );

        let labels = std::iter::once((&finding.place, &finding.label)).chain(
            finding
                .related
                .iter()
                .map(|related| (&related.place, &related.text)),
        );
        for (index, ((place, label), span)) in labels.zip(&spans).enumerate() {
            page.place(place, span.as_ref(), label, index == 0, texts);
        }
        let explained = !finding.notes.is_empty() || finding.help.is_some();
        if explained && spans.iter().any(Option::is_some) {
            page.gutter();
        }
        // A related place that cannot be located still has its text.
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

/// What is known of the texts of files, by where they are: a document is read once for all findings in it.
type Texts<'l> = HashMap<*const str, Secrecy<'l>>;

/// The text of one finding as it grows.
struct Page<'t> {
    text: &'t mut String,
    palette: Palette,
    /// Digits of the greatest line number.
    digits: usize,
    width: usize,
    wrap: bool,
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

    fn place<'l>(
        &mut self,
        place: &Place,
        span: Option<&Span<'l>>,
        label: &str,
        primary: bool,
        texts: &mut Texts<'l>,
    ) {
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
        // There is no text of a file that is too large to be kept. At the first line, no text means an empty file.
        let secrecy = texts
            .entry(std::ptr::from_ref(span.text))
            .or_insert_with(|| Secrecy::new(span.text));
        if (span.text.is_empty() && span.line > 1) || secrecy.covers(span.start) {
            if !label.is_empty() {
                self.remark("note", &label);
            }
            return;
        }
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
        let room = self.width.saturating_sub(margin.len());
        let indent = " ".repeat(excerpt.caret);
        let marks = mark.repeat(excerpt.width);
        let taken = excerpt.caret.saturating_add(excerpt.width).saturating_add(1);
        if !self.wrap || taken.saturating_add(columns(&label)) <= room {
            let marked = format!("{marks} {label}");
            self.line(&[(gutter, &margin), (plain, &indent), (style, &marked)]);
            return;
        }
        // Below its marks a label has room from their start, or from further left where that is little.
        self.line(&[(gutter, &margin), (plain, &indent), (style, &marks)]);
        let start = excerpt
            .caret
            .min(room.saturating_sub(columns(&label)).max(room / 2));
        let indent = " ".repeat(start);
        for line in wrapped_hanging(&label, room.saturating_sub(start), room.saturating_sub(start)) {
            self.line(&[(gutter, &margin), (plain, &indent), (style, line)]);
        }
    }

    fn remark(&mut self, kind: &str, text: &str) {
        let sign = format!("{:1$} = ", "", self.digits);
        let text = format!(": {}", one_line(text, LONGEST_TEXT));
        let hang = sign.len().saturating_add(kind.len()).saturating_add(2);
        self.sentence(
            &[(self.palette.gutter, &sign), (self.palette.strong, kind)],
            &text,
            Style::new(),
            hang,
        );
    }

    /// A sentence behind what introduces it, wrapped where it should be; `hang` blanks before its other lines.
    fn sentence(&mut self, before: &[(Style, &str)], text: &str, style: Style, hang: usize) {
        let taken: usize = before.iter().map(|(_, piece)| columns(piece)).sum();
        let lines = if self.wrap {
            wrapped_hanging(
                text,
                self.width.saturating_sub(taken),
                self.width.saturating_sub(hang),
            )
        } else {
            vec![text]
        };
        let indent = " ".repeat(hang);
        for (number, line) in lines.into_iter().enumerate() {
            if number == 0 {
                self.line(&[before, &[(style, line)]].concat());
            } else {
                self.line(&[(Style::new(), &indent), (style, line)]);
            }
        }
    }
}

/// The colors of one finding.
#[derive(Debug, Clone, Copy, Default)]
struct Palette {
    severity: Style,
    strong: Style,
    gutter: Style,
}

impl Palette {
    fn new(colour: bool, severity: Severity) -> Self {
        if !colour {
            return Self::default();
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

/// The line of a span's first byte, cut to what fits, and where the caret is under it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// Printable, one line, no wider than asked for.
    pub(super) line: String,
    /// Columns before the caret.
    pub(super) caret: usize,
    /// Columns under the caret, at least 1.
    pub(super) width: usize,
}

impl Excerpt {
    /// Cuts the line at the start of `span` out of its text, at most `room` columns wide. A span of several
    /// lines is underlined as far as its first line goes. Looks at no more than some `8 * room` bytes, however
    /// long the line is.
    pub(super) fn new(span: &Span<'_>, room: usize) -> Self {
        let room = room.max(4 * ELLIPSIS.len());
        // A character has at most 4 bytes: on either side this is always enough to fill the room.
        let reach = room.saturating_mul(4);
        let text = span.text;
        let start = floor_boundary(text, span.start);

        let from = floor_boundary(text, start.saturating_sub(reach));
        let before = text.get(from..start).unwrap_or_default();
        let (before, cut_before) = match before.rsplit_once('\n') {
            Some((_, line)) => (line, false),
            None => (before, from > 0),
        };

        let to = floor_boundary(text, start.saturating_add(reach));
        let after = text.get(start..to).unwrap_or_default();
        let (after, cut_after) = match after.split_once('\n') {
            Some((line, _)) => (line.strip_suffix('\r').unwrap_or(line), false),
            None => (after, to < text.len()),
        };
        let spanned = floor_boundary(after, span.end.saturating_sub(start));
        let (inside, after) = after.split_at(spanned);

        let mut excerpt = Self::fit(
            &Shown::new(before, cut_before),
            inside,
            &Shown::new(after, cut_after),
            room,
        );
        excerpt.line = without_marker(excerpt.line);
        excerpt
    }

    /// Shortens what is too wide: first on the right, then on the left, then the span itself.
    fn fit(before: &Shown, inside: &str, after: &Shown, room: usize) -> Self {
        let inside = Shown::new(inside, false);
        let width = inside.columns.max(1);
        let all = before.columns + width + after.columns;
        if all <= room && !before.cut && !after.cut {
            return Self {
                line: before.text.clone() + &inside.text + &after.text,
                caret: before.columns,
                width,
            };
        }
        let mut line = if before.cut || before.columns + width.min(room / 2) + ELLIPSIS.len() > room {
            let keep = (room / 3).max(room.saturating_sub(width + after.columns + ELLIPSIS.len()));
            ELLIPSIS.to_owned() + tail(&before.text, keep.saturating_sub(ELLIPSIS.len()))
        } else {
            before.text.clone()
        };
        let caret = columns(&line);
        let left = room.saturating_sub(caret);
        if !after.cut && inside.columns + after.columns <= left {
            line.push_str(&inside.text);
            line.push_str(&after.text);
            return Self { line, caret, width };
        }
        let left = left.saturating_sub(ELLIPSIS.len());
        let shown = head(&inside.text, left);
        line.push_str(shown);
        let width = columns(shown).max(1);
        line.push_str(head(&after.text, left.saturating_sub(width)));
        line.push_str(ELLIPSIS);
        Self { line, caret, width }
    }
}

/// A piece of a line as it is printed.
struct Shown {
    text: String,
    columns: usize,
    /// Whether the line goes on beyond the piece.
    cut: bool,
}

impl Shown {
    fn new(text: &str, cut: bool) -> Self {
        let mut printed = String::with_capacity(text.len());
        for character in text.chars() {
            if character == '\t' {
                printed.push_str(TAB);
            } else {
                printed.push(shown(character));
            }
        }
        Self {
            columns: columns(&printed),
            text: printed,
            cut,
        }
    }
}

/// The longest beginning that takes at most `room` columns.
fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += width(character);
        if used > room {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The longest end that takes at most `room` columns.
fn tail(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices().rev() {
        used += width(character);
        if used > room {
            return text.get(at + character.len_utf8()..).unwrap_or_default();
        }
    }
    text
}

/// Characters of a message, or of a help line, that [`Brief`] shows.
const LONGEST_IN_BRIEF: usize = 400;

/// One line for each of the first findings, and how many more there are, without color: for where space is short. Argo CD puts a
/// plugin's stderr into a condition of the Application, where everybody who may see the Application reads it
/// (docs/systems/gitops.md#plugin-output). So no line of the input is quoted, because it could be a Secret's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    /// How many findings get a line.
    pub limit: usize,
}

impl Default for Brief {
    /// Ten lines: enough to act on, and they still fit into a condition.
    fn default() -> Self {
        Self { limit: 10 }
    }
}

impl Brief {
    /// The findings as text. Warnings are included only if there is no error, because errors have to be read first.
    ///
    /// ```
    /// use ocm_hub::diagnostic::{Brief, Code, Finding, Findings, Place};
    /// use ocm_hub::source::Sources;
    ///
    /// let mut findings = Findings::new();
    /// findings.push(Finding::new(Code::EMPTY_NOTHING_RENDERED, Place::Run, "no cluster receives anything"));
    /// assert_eq!(
    ///     Brief::default().render(&findings, &Sources::default()),
    ///     "error[empty/nothing-rendered]: no cluster receives anything\n"
    /// );
    /// ```
    pub fn render(&self, findings: &Findings, locate: &dyn Locate) -> String {
        let severity = if findings.has_errors() {
            Severity::Error
        } else {
            Severity::Warning
        };
        let mut text = Lines::default();
        for finding in findings
            .iter()
            .filter(|finding| finding.counts_as(severity))
            .take(self.limit)
        {
            brief_line(&mut text, finding, locate);
        }
        let hidden = findings.count(severity).saturating_sub(self.limit);
        let warnings = findings.count(Severity::Warning);
        let mut more = Vec::new();
        if hidden > 0 {
            more.push(counted(hidden, &format!("more {}", severity.as_str())));
        }
        if severity == Severity::Error && warnings > 0 {
            more.push(counted(warnings, Severity::Warning.as_str()));
        }
        if !more.is_empty() {
            text.push(format_args!(
                "and {}: `spokewright check` lists them",
                more.join(" and ")
            ));
        }
        text.into_text()
    }
}

fn brief_line(text: &mut Lines, finding: &Finding, locate: &dyn Locate) {
    let mut line = format!(
        "{}[{}]: {}",
        finding.severity.as_str(),
        finding.code.name(),
        one_line(&finding.message, LONGEST_IN_BRIEF)
    );
    if let Some(origin) = origin(&finding.place, locate) {
        let _ = write!(line, " ({})", one_line(&origin, LONGEST_IN_BRIEF));
    }
    if let Some(help) = &finding.help {
        let _ = write!(line, "; help: {}", one_line(help, LONGEST_IN_BRIEF));
    }
    text.push(line);
}

#[cfg(test)]
mod tests;
