//! Prints findings in the chosen format and lines on stderr, with colors only where they are wanted.
//!
//! Owns: what is wrapped, what is colored, what `--quiet` leaves out. Flows in: findings, lines. Flows out: text on
//! stderr. Must not know: why something is reported.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal as _, Write};

use spokewright::diagnostic::{
    Code, Finding, Findings, Format, Human, Locate, Severity, counted, first_items, json_text, shell_path,
    whole_line, wrapped_hanging,
};
use spokewright::pipeline::Loaded;
use spokewright::{Object, Objects, PassedOver};

use super::speech::{Color, MessageFormat, Speech};
use super::status::{Refusal, Status};

/// Most kinds that one line names.
const MOST_KINDS: usize = 5;

/// How far the further lines of a wrapped one are in.
const HANG: usize = 2;

/// One line on stderr; a closed stderr is not an error.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", whole_line(text));
}

/// Why a command ended, and the status for it.
pub(crate) fn error(error: &anyhow::Error) -> Status {
    line(&format!("error: {error:#}"));
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        line(&format!("help: {}", refusal.help));
        return refusal.status;
    }
    Status::Io
}

/// A calm line of success: for people only, and not when they asked for silence.
pub(crate) fn calm(text: &str, speech: Speech) {
    if speech.is_calm() {
        wrapping(text);
    }
}

/// A line about what is going on, in the same cases; as it is, because it may hold a command.
pub(crate) fn note(text: &str, speech: Speech) {
    if speech.is_calm() {
        line(text);
    }
}

/// A line that is wrapped on a terminal, and left whole for everything else.
fn wrapping(text: &str) {
    if !std::io::stderr().is_terminal() {
        return line(text);
    }
    let text = whole_line(text);
    let indented = text.len().saturating_sub(text.trim_start().len());
    let hang = " ".repeat(indented.saturating_add(HANG));
    let rows = wrapped_hanging(&text, width(), width().saturating_sub(hang.len()));
    for (number, row) in rows.into_iter().enumerate() {
        line(&format!("{}{row}", if number == 0 { "" } else { &hang }));
    }
}

/// The kinds that matter and without a schema.
pub(crate) fn without_schema(loaded: &Loaded, speech: Speech) {
    let kinds = &loaded.hub.without_schema;
    if kinds.is_empty() {
        return;
    }
    let named: Vec<String> = kinds
        .iter()
        .map(|kind| format!("{} ({})", kind.kind, kind.group))
        .collect();
    calm(
        &format!(
            "not checked, as there is no schema: {}; add the CRD to the input, or to a directory that `crds` in spokewright.yaml names",
            named.join(", ")
        ),
        speech,
    );
}

/// With `-v`: what was read, and what was passed over.
pub(crate) fn read(loaded: &Loaded, speech: Speech) {
    if speech.verbose {
        let bytes: usize = loaded.sources.files().iter().map(|file| file.text.len()).sum();
        let local: usize = loaded.hub.spokes.values().map(Objects::len).sum();
        wrapping(&format!(
            "read {} ({}): {}, {}, {} without an object",
            counted(loaded.sources.files().len(), "file"),
            counted(bytes, "byte"),
            counted(loaded.hub.objects.len(), "hub object"),
            counted(local, "spoke-local object"),
            counted(loaded.hub.passed_over.len(), "document")
        ));
        for file in loaded.sources.files() {
            line(&format!("  {}", file.shown));
        }
        if !loaded.hub.passed_over.is_empty() {
            line("no objects:");
        }
        for PassedOver { place, what, .. } in &loaded.hub.passed_over {
            let at = loaded.sources.locate(place);
            let at = at.map_or_else(String::new, |span| format!("{}:{}: ", span.path, span.line));
            line(&format!("  {at}{what}"));
        }
        for chart in loaded.sources.charts() {
            line(&format!("  {chart}: templates of a Helm chart"));
        }
    }
}

/// The objects that rendering does not use, if somebody is told of them.
pub(crate) fn unused(loaded: &Loaded, speech: Speech) -> Vec<&Object> {
    if speech.is_calm() {
        loaded.unused()
    } else {
        Vec::new()
    }
}

/// What was read and is no object, or [`unused`], in a line; `-v` has listed it.
pub(crate) fn passed_over(loaded: &Loaded, unused: &[&Object], speech: Speech) {
    if !speech.is_calm() {
        return;
    }
    let documents = loaded.hub.passed_over.len();
    let mut parts = Vec::new();
    if documents > 0 {
        let are = if documents == 1 {
            "is not a Kubernetes object"
        } else {
            "are not Kubernetes objects"
        };
        parts.push(format!("{} {are}", counted(documents, "document")));
    }
    if !unused.is_empty() {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for object in unused {
            let count = kinds.entry(&object.kind).or_default();
            *count = count.saturating_add(1);
        }
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        let are = if unused.len() == 1 { "is" } else { "are" };
        let objects = counted(unused.len(), "object");
        parts.push(format!(
            "{objects} {are} not used: {}",
            first_items(&kinds, MOST_KINDS)
        ));
    }
    if !parts.is_empty() {
        let list = if speech.verbose { "" } else { " (-v lists them)" };
        calm(&format!("{}{list}", parts.join("; ")), speech);
    }
    if speech.verbose {
        for object in unused {
            let at = loaded.sources.locate(&object.place("/kind"));
            let at = at.map_or_else(String::new, |span| format!("{}:{}: ", span.path, span.line));
            note(&format!("  {at}{} is not used", object.identity()), speech);
        }
    }
    if let [first, more @ ..] = loaded.sources.charts() {
        let (charts, are) = match more.len() {
            0 => (format!("`{first}`"), "is a Helm chart, whose templates are"),
            more => (
                format!("`{first}` and {more} more"),
                "are Helm charts, whose templates are",
            ),
        };
        let first = shell_path(first);
        let line =
            format!("{charts} {are} not read: `helm template {first} | spokewright render -` renders them");
        calm(&line, speech);
    }
}

/// The findings, in the chosen form, on stderr.
pub(crate) fn findings(findings: &Findings, locate: &dyn Locate, speech: Speech) {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stderr().lock());
    let written = write_findings(
        &mut out,
        findings,
        locate,
        speech,
        std::io::stderr().is_terminal(),
    );
    let _ = written.and_then(|()| out.flush());
    drop(out);
    explained(findings, speech, std::io::stderr().is_terminal());
    if findings.suppressed() > 0 {
        calm(
            &format!("{} suppressed", counted(findings.suppressed(), "warning")),
            speech,
        );
    }
}

/// Where a finding is explained: of the errors, which a terminal shows last, the last one that is shown, else of the
/// warnings.
pub(crate) fn explained(findings: &Findings, speech: Speech, terminal: bool) {
    let mut reported = findings.iter().filter(|finding| finding.suppressed().is_none());
    let Some(first) = reported.next().filter(|_| terminal && speech.is_calm()) else {
        return;
    };
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let shown = errors.take(Human::default().limit.unwrap_or(usize::MAX));
    let code = shown.last().unwrap_or(first).code.name();
    note(
        &format!("`spokewright finding {code}` explains it, with an example"),
        speech,
    );
}

/// How many findings are suppressed, to follow another count; nothing where none is.
pub(crate) fn suppressed(findings: &Findings) -> String {
    match findings.suppressed() {
        0 => String::new(),
        count => format!(", {count} suppressed"),
    }
}

/// Writes the findings in the chosen form; `terminal` says whether they go to one.
pub(crate) fn write_findings(
    out: &mut dyn Write,
    findings: &Findings,
    locate: &dyn Locate,
    speech: Speech,
    terminal: bool,
) -> io::Result<()> {
    let shown;
    let findings = if speech.quiet {
        shown = findings.only(Severity::Error);
        &shown
    } else {
        findings
    };
    let format = match speech.message_format {
        MessageFormat::Human => Format::Human(Human {
            width: width(),
            terminal,
            colour: colour(speech.color, terminal),
            ..Human::default()
        }),
        MessageFormat::Json => Format::Json,
        MessageFormat::Sarif => Format::Sarif,
        MessageFormat::Gitlab => Format::Gitlab,
        MessageFormat::Github => Format::Github,
        MessageFormat::Junit => Format::Junit,
    };
    // What a command takes off all clusters comes first, wherever it stands.
    let is_first = |finding: &Finding| finding.code == Code::OBJECT_WITHDRAWN;
    if matches!(format, Format::Human(_)) && findings.iter().any(&is_first) {
        let [mut first, mut rest] = [findings.clone(), findings.clone()];
        first.retain(is_first);
        rest.retain(|finding| !is_first(finding));
        format.write(&first, locate, out)?;
        return format.write(&rest, locate, out);
    }
    format.write(findings, locate, out)
}

/// A report as JSON text with a final newline.
pub(crate) fn json(report: &impl serde::Serialize) -> String {
    json_text(report).unwrap_or_default()
}

/// Whether to color (docs/systems/gitops.md#colors): `--color`, then CLICOLOR_FORCE, NO_COLOR, TERM, the
/// terminal.
pub(crate) fn colour(choice: Color, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto
            if std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") =>
        {
            true
        }
        Color::Auto => terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// Columns to fit tables and snippets into: what COLUMNS or the terminal says, else 80.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let terminal = || {
        let (terminal_size::Width(columns), _) =
            terminal_size::terminal_size().or_else(|| terminal_size::terminal_size_of(std::io::stderr()))?;
        Some(usize::from(columns))
    };
    columns.or_else(terminal).unwrap_or(80).clamp(40, 200)
}
