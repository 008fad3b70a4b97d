//! How messages are printed: the options for their format, colors, and number ([`Speech`]), findings and lines on stderr,
//! findings in additional formats (`--also FORMAT=FILE`), data on stdout, and the exit statuses
//! (docs/reference/exit-statuses.md), which are stable, because scripts test them.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use spokewright::diagnostic::{
    Code, Finding, Findings, Format, Human, Locate, Place, Severity, Warnings, and_more, counted,
    first_items, hanging, json_text, one_or_many, shell_path, whole_line,
};
use spokewright::output::{self, OutputError};
use spokewright::pipeline::Loaded;
use spokewright::{Object, Objects, PassedOver};

/// How findings are shown.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Speech {
    /// Format of findings
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub(crate) message_format: MessageFormat,

    /// Turn warnings into errors
    #[arg(long, value_name = "WHAT")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub(crate) deny: Option<Deny>,

    /// When to print in color
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(help_heading = "Messages", hide_short_help = true)]
    pub(crate) color: Color,

    /// Print only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Also print what was read and skipped
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Text for people
    Human,
    /// One JSON document
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// GitHub workflow commands
    Github,
    /// A Code Quality report of GitLab
    Gitlab,
    /// JUnit XML, with a test case for each finding code
    Junit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Deny {
    /// Every warning
    Warnings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Speech {
    /// What `--deny` says of warnings.
    pub(crate) const fn warnings(self) -> Warnings {
        match self.deny {
            Some(Deny::Warnings) => Warnings::Denied,
            None => Warnings::Reported,
        }
    }

    /// Whether calm lines are wanted: by people only, and not when they asked for silence.
    pub(crate) fn is_calm(self) -> bool {
        !self.quiet && self.message_format == MessageFormat::Human
    }

    /// Prints a calm line of success: for people only, and not when they asked for silence.
    pub(crate) fn calm(self, text: &str) {
        if self.is_calm() {
            wrapping(text);
        }
    }

    /// Prints a line about what is going on, in the same cases; as it is, because it may hold a command.
    pub(crate) fn note(self, text: &str) {
        if self.is_calm() {
            line(text);
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done, and nothing to say.
    Done = 0,
    /// `--check` or `diff` found a difference.
    Differs = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// The input has errors.
    Invalid = 3,
    /// A conflict or a placement could not be resolved, or what `status` should make sure of does not hold.
    Unresolved = 4,
    /// Reading or writing failed.
    Io = 5,
    /// Our fault.
    Bug = 70,
}

impl Status {
    /// The status of a run with these findings (the library knows the rule).
    pub(crate) fn of(findings: &Findings) -> Self {
        match findings.exit_status() {
            0 => Self::Done,
            4 => Self::Unresolved,
            5 => Self::Io,
            _ => Self::Invalid,
        }
    }

    /// The status of a comparison: whatever is wrong outranks a difference.
    pub(crate) fn compared(differs: bool, findings: &Findings) -> Self {
        match Self::of(findings) {
            Self::Done if differs => Self::Differs,
            status => status,
        }
    }
}

/// Why a command cannot begin, and how the run ends for it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    message: String,
    /// How to fix it.
    pub(crate) help: String,
    pub(crate) status: Status,
}

impl Refusal {
    pub(crate) fn new(status: Status, message: &str, help: &str) -> Self {
        Self {
            message: message.to_owned(),
            help: help.to_owned(),
            status,
        }
    }
}

/// Refuses what the arguments ask for.
pub(crate) fn refuse<T, E: From<Refusal>>(message: &str, help: &str) -> Result<T, E> {
    Err(Refusal::new(Status::Usage, message, help).into())
}

/// A command has printed why it ends.
#[derive(Debug, thiserror::Error)]
#[error("the command has ended")]
pub(crate) struct Ended(pub(crate) Status);

/// Whether an error only says that the reader of our output went away: no error for a command in a pipe.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|error| error.kind() == ErrorKind::BrokenPipe)
}

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
    if let Some(Ended(status)) = error.downcast_ref() {
        return *status;
    }
    line(&format!("error: {error:#}"));
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        line(&format!("help: {}", refusal.help));
        return refusal.status;
    }
    Status::Io
}

/// A line that is wrapped on a terminal, and left whole for everything else.
fn wrapping(text: &str) {
    if !std::io::stderr().is_terminal() {
        return line(text);
    }
    let text = whole_line(text);
    let indented = text.len().saturating_sub(text.trim_start().len());
    let hang = " ".repeat(indented.saturating_add(HANG));
    for row in hanging(&text, "", &hang, width()) {
        line(&row);
    }
}

/// The kinds that matter and without a schema.
pub(crate) fn without_schema(loaded: &Loaded, speech: Speech) {
    let kinds = &loaded.hub.without_schema;
    if kinds.is_empty() {
        return;
    }
    let named = kinds.iter().map(|kind| format!("{} ({})", kind.kind, kind.group));
    let named: Vec<String> = named.collect();
    speech.calm(&format!(
        "not checked, as there is no schema: {}; add the CRD to the input, or to a directory that `crds` in spokewright.yaml names",
        named.join(", ")
    ));
}

/// `hub/a.yaml:3: `, before what is said of a place; nothing if the place is in no text.
pub(crate) fn at(loaded: &Loaded, place: &Place) -> String {
    let span = loaded.sources.locate(place);
    span.map_or_else(String::new, |span| format!("{}:{}: ", span.path, span.line))
}

/// The first lines, and how many more there are, each after a word.
pub(crate) fn first_lines(word: &str, lines: &[String], most: usize, mut print: impl FnMut(&str)) {
    let more = and_more(lines.len().saturating_sub(most), "");
    for line in lines.iter().take(most).chain(&more) {
        print(&format!("{word}: {line}"));
    }
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
            line(&format!("  {}{what}", at(loaded, place)));
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
        let (one, many) = ("is not a Kubernetes object", "are not Kubernetes objects");
        let are = one_or_many(documents, one, many);
        parts.push(format!("{} {are}", counted(documents, "document")));
    }
    if !unused.is_empty() {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for object in unused {
            let count = kinds.entry(&object.kind).or_default();
            *count = count.saturating_add(1);
        }
        let kinds = kinds.iter().map(|(kind, count)| format!("{count} {kind}"));
        let kinds = first_items(kinds, MOST_KINDS);
        let are = one_or_many(unused.len(), "is", "are");
        let objects = counted(unused.len(), "object");
        parts.push(format!("{objects} {are} not used: {kinds}"));
    }
    if !parts.is_empty() {
        let list = if speech.verbose { "" } else { " (-v lists them)" };
        speech.calm(&format!("{}{list}", parts.join("; ")));
    }
    if speech.verbose {
        for object in unused {
            let at = at(loaded, &object.place("/kind"));
            speech.note(&format!("  {at}{} is not used", object.identity()));
        }
    }
    if let [first, more @ ..] = loaded.sources.charts() {
        let (charts, are) = match more.len() {
            0 => (format!("`{first}`"), "is a Helm chart"),
            more => (format!("`{first}` and {more} more"), "are Helm charts"),
        };
        let first = shell_path(first);
        let line = format!(
            "{charts} {are}, whose templates are not read: `helm template {first} | spokewright render -` renders them"
        );
        speech.calm(&line);
    }
}

/// The findings, in the chosen form, on stderr.
pub(crate) fn findings(findings: &Findings, locate: &dyn Locate, speech: Speech) {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stderr().lock());
    let terminal = io::stderr().is_terminal();
    let written = write_findings(&mut out, findings, locate, speech, terminal);
    let _ = written.and_then(|()| out.flush());
    drop(out);
    explained(findings, speech, terminal);
    if findings.suppressed() > 0 {
        let warnings = counted(findings.suppressed(), "warning");
        speech.calm(&format!("{warnings} suppressed"));
    }
}

/// Prints why an output was not read, or not written.
pub(crate) fn obstacles(error: &OutputError, locate: &dyn Locate, speech: Speech) -> Status {
    let mut found = Findings::new();
    found.extend(error.findings());
    findings(&found, locate, speech);
    Status::of(&found)
}

/// Where a finding is explained: of the errors, which a terminal shows last, the last one that is shown, else of the
/// warnings.
pub(crate) fn explained(findings: &Findings, speech: Speech, terminal: bool) {
    let mut reported = findings.iter().filter(|finding| finding.suppressed.is_none());
    let Some(first) = reported.next().filter(|_| terminal && speech.is_calm()) else {
        return;
    };
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let shown = errors.take(Human::default().limit.unwrap_or(usize::MAX));
    let code = shown.last().unwrap_or(first).code.name();
    speech.note(&format!(
        "`spokewright finding {code}` explains it, with an example"
    ));
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

/// What a failure to print is called.
pub(crate) const UNWRITTEN: &str = "cannot write to stdout";

/// A text as data.
pub(crate) fn whole(text: &(impl AsRef<[u8]> + ?Sized)) -> impl FnOnce(&mut dyn Write) -> anyhow::Result<()> {
    |out| out.write_all(text.as_ref()).context(UNWRITTEN)
}

/// Prints a text, all that there is.
pub(crate) fn text(text: &(impl AsRef<[u8]> + ?Sized)) -> anyhow::Result<Status> {
    to_stdout(whole(text))?;
    Ok(Status::Done)
}

/// Writes data to stdout.
pub(crate) fn to_stdout(data: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    data(&mut out)?;
    out.flush().context(UNWRITTEN)
}

/// A report as JSON text with a final newline.
pub(crate) fn json(report: &impl serde::Serialize) -> String {
    json_text(report).unwrap_or_default()
}

/// Whether to color (docs/systems/gitops.md#colors): `--color`, then CLICOLOR_FORCE, NO_COLOR, TERM, the
/// terminal.
pub(crate) fn colour(choice: Color, terminal: bool) -> bool {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if value("NO_COLOR").is_some() => false,
        Color::Auto if value("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Color::Auto => terminal && value("TERM").is_none_or(|term| term != "dumb"),
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

/// A form, and where it goes.
#[derive(Debug, Clone)]
pub(crate) struct Also {
    format: MessageFormat,
    pub(crate) file: PathBuf,
}

/// Reads `FORMAT=FILE`.
pub(crate) fn parse_also(text: &str) -> Result<Also, String> {
    let (format, file) = text
        .split_once('=')
        .ok_or("write FORMAT=FILE, as in sarif=findings.sarif")?;
    if file.is_empty() {
        return Err("name a file behind the `=`".to_owned());
    }
    let format = MessageFormat::from_str(format, false).map_err(|_| {
        let formats = MessageFormat::value_variants().iter();
        let values = formats.filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        format!("there is no format `{format}`; there are {}", known.join(", "))
    })?;
    Ok(Also {
        format,
        file: file.into(),
    })
}

/// Writes each form, warnings included, whatever stderr is spared.
pub(crate) fn write_also(all: &[Also], findings: &Findings, locate: &dyn Locate, speech: Speech) -> Findings {
    let mut failed = Findings::new();
    for also in all {
        let speech = Speech {
            message_format: also.format,
            quiet: false,
            color: Color::Never,
            ..speech
        };
        let fill = |out: &mut dyn Write| write_findings(out, findings, locate, speech, false);
        if let Err(error) = output::write_named(&also.file, fill) {
            failed.extend(error.findings());
        }
    }
    failed
}
