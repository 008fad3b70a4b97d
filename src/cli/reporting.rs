//! What commands whose result is data have in common: the format of a report on stdout, the option `--works` with the works
//! that were exported from a hub, and the next command to type, on stderr, after a first success or if there was nothing to
//! show: once, to people, never to scripts.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::mem::ManuallyDrop;
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use spokewright::diagnostic::{Findings, Locate, Severity, counted, one_or_many, shell_path, write_json};
use spokewright::output::{self, ChangeKind, Summary};
use spokewright::pipeline::{Analysis, CONFIG_NAME, EmptyResult, Loaded, Request, start};
use spokewright::report::PolicyView;
use spokewright::source::{RootRelative, Sources};

use super::options::{ReadOptions, unknown_cluster};
use super::print::{self, MessageFormat, Refusal, Speech, Status, UNWRITTEN, refuse, to_stdout, whole};

/// A value that is never freed. The process ends with the command, and freeing a large input piece by piece would take a
/// sixth of its time.
pub(crate) const fn never_freed<T>(value: T) -> ManuallyDrop<T> {
    ManuallyDrop::new(value)
}

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people
    Text,
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// Markdown, for the coverage of policies
    // Other reports have no such form, so their help does not list it.
    #[value(hide = true)]
    Markdown,
}

/// What the result looks like.
#[derive(Debug, Args)]
pub(crate) struct Reporting {
    /// Format of the report
    // `--output` is what kubectl calls it.
    #[arg(short = 'o', long, alias = "output")]
    #[arg(value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,
}

impl Reporting {
    /// The texts under the paths that the chosen form has.
    pub(crate) fn locate<'s>(&self, sources: &'s Sources, relative: &'s RootRelative<'s>) -> &'s dyn Locate {
        located(self.format == ReportFormat::Text, sources, relative)
    }

    /// How an answer in the chosen form is printed.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::new(match self.format {
            ReportFormat::Text | ReportFormat::Markdown => Some(""),
            ReportFormat::Json => None,
            ReportFormat::Yaml => Some("# "),
        })
    }

    /// Writes a report in the chosen form; `text` makes the one for people.
    pub(crate) fn write<T: serde::Serialize>(
        &self,
        out: &mut dyn Write,
        report: &T,
        text: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<()> {
        let written = match self.format {
            ReportFormat::Text => out.write_all(text(report).as_bytes()),
            ReportFormat::Json => write_json(report, out),
            ReportFormat::Yaml => {
                refuse_large(report)?;
                let value = kube_json::to_value(report)?;
                out.write_all(kube_yaml::write_document(&value).as_bytes())
            }
            ReportFormat::Markdown => {
                return refuse(
                    "this report has no Markdown",
                    "`spokewright policies --coverage -o markdown` has",
                );
            }
        };
        written.context(UNWRITTEN)
    }
}

/// The texts under the paths that a form has: people open files from where they are, and a document depends on no
/// directory.
pub(crate) fn located<'s>(
    for_people: bool,
    sources: &'s Sources,
    relative: &'s RootRelative<'s>,
) -> &'s dyn Locate {
    if for_people { sources } else { relative }
}

/// JSON is written while it is made. YAML is made as a whole, because its keys are sorted: of so many bytes of JSON at most.
const MOST_AS_YAML: usize = 16 << 20;

fn refuse_large(report: &impl serde::Serialize) -> anyhow::Result<()> {
    // The system gives memory only to what is written.
    let mut room = vec![0; MOST_AS_YAML];
    match write_json(report, &mut room.as_mut_slice()) {
        Err(error) if error.kind() == io::ErrorKind::WriteZero => {
            let message = format!(
                "the report has more than {MOST_AS_YAML} bytes of JSON, so it is not written as YAML"
            );
            refuse(&message, "`-o json` writes all of it")
        }
        written => written.context(UNWRITTEN),
    }
}

/// Data after a first line, which is written only if there is any data.
struct After<'o, F> {
    out: &'o mut dyn Write,
    first_line: Option<F>,
}

impl<F: FnOnce(&mut dyn Write) -> io::Result<()>> Write for After<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(first_line) = self.first_line.take_if(|_| !bytes.is_empty()) {
            first_line(self.out)?;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Evaluates the policies of an input, as one cluster sees them if it is asked about, and prints an answer.
pub(crate) fn evaluate(
    options: &ReadOptions,
    request: &Request,
    cluster: Option<&str>,
    answer: impl FnOnce(&Loaded, &Analysis<'_>, &PolicyView<'_>, Findings) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let loaded = never_freed(options.load(request, EmptyResult::Refused)?);
    print::read(&loaded, options.speech);
    let mut findings = Findings::new();
    let known = loaded.known_clusters();
    if let Some(unknown) = cluster.filter(|name| !known.contains(name)) {
        return Err(unknown_cluster(unknown, &known).into());
    }
    let analysis = never_freed(Analysis::new(&loaded, &mut findings));
    let (received, spokes) = analysis.received(cluster);
    let spokes = never_freed(spokes);
    let view = never_freed(analysis.policies(received, &spokes, &mut findings));
    answer(&loaded, &analysis, &view, findings)
}

/// How an answer about an input is printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// How a comment in the data begins; `None` if the data has no comments.
    pub(crate) comment: Option<&'static str>,
    /// Whether warnings are printed, because not all of them are about the input, whose warnings `check` lists.
    pub(crate) with_warnings: bool,
    /// How many errors are about an export, which `render` does not read.
    pub(crate) of_export: usize,
}

impl Answer {
    /// An answer about an input alone.
    pub(crate) const fn new(comment: Option<&'static str>) -> Self {
        Self {
            comment,
            with_warnings: false,
            of_export: 0,
        }
    }

    /// Prints an answer: the data on stdout, while it is made, with a first line if `render` refuses the input; the
    /// findings on stderr, which decide the status.
    pub(crate) fn finish(
        self,
        loaded: &Loaded,
        mut findings: Findings,
        options: &ReadOptions,
        data: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<Status> {
        loaded.finish(&mut findings);
        let errors = findings.count(Severity::Error).saturating_sub(self.of_export);
        let refused = (errors > 0).then(|| {
            let errors = counted(errors, "error");
            format!("`spokewright render` refuses this input because of {errors}")
        });
        let (comment, speech) = (self.comment, options.speech);
        to_stdout(|out| {
            let first_line = refused.map(|refused| {
                move |out: &mut dyn Write| match comment {
                    Some(comment) => writeln!(out, "{comment}{refused}"),
                    None => {
                        speech.note(&refused);
                        Ok(())
                    }
                }
            });
            data(&mut After { out, first_line })
        })?;
        options.write_also(&mut findings, &loaded.sources);
        self.findings(loaded, &findings, options);
        Ok(Status::of(&findings))
    }

    /// Prints finished findings: the warnings about the input only as a number.
    pub(crate) fn findings(self, loaded: &Loaded, findings: &Findings, options: &ReadOptions) {
        let speech = options.speech;
        if self.with_warnings || speech.message_format != MessageFormat::Human {
            return print::findings(findings, &loaded.sources, speech);
        }
        print::findings(&findings.only(Severity::Error), &loaded.sources, speech);
        let warnings = findings.count(Severity::Warning);
        if warnings > 0 {
            let them = one_or_many(warnings, "it", "them");
            let check = command("check", &options.paths);
            let suppressed = print::suppressed(findings);
            let warnings = counted(warnings, "warning");
            speech.calm(&format!("{warnings}{suppressed}; `{check}` lists {them}"));
        }
    }
}

/// Whether both paths lead to one file that is there.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    std::fs::canonicalize(one).is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Whether a file is standard output.
pub(crate) fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// Writes a text to a file that the command line names, and returns what went wrong with that.
pub(crate) fn put(file: &Path, text: &str) -> anyhow::Result<Findings> {
    if is_stdout(file) {
        to_stdout(whole(text))?;
        return Ok(Findings::new());
    }
    to_file(file, |out| out.write_all(text.as_bytes()))
}

/// The same of data that is written while it is made.
pub(crate) fn to_file(
    file: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<Findings> {
    let mut findings = Findings::new();
    // What the shell has opened (`/dev/stdout`, `/dev/fd/63`), or a device: there is no file to replace.
    if file.starts_with("/dev") || file.starts_with("/proc") {
        let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
            fill(&mut out)?;
            out.flush()
        });
        written.with_context(|| format!("cannot write `{}`", file.display()))?;
    } else if let Err(error) = output::write_named(file, fill) {
        findings.extend(error.findings());
    }
    Ok(findings)
}

/// After a directory was rendered for the first time.
pub(crate) fn after_first_render(loaded: &Loaded, summary: &Summary, speech: Speech) {
    let mut differing = summary.differing.iter();
    if !differing.any(|change| change.path == output::INVENTORY && change.kind == ChangeKind::Missing) {
        return;
    }
    let directory = word(&loaded.output);
    speech.calm(&format!(
        "next: commit {directory}; Argo CD, Flux or `kubectl apply -k {directory}` brings it to the hub"
    ));
    speech.calm("      `spokewright diff` then shows what a change does to every cluster");
}

/// After nothing was written because nothing changed.
pub(crate) fn after_no_change(loaded: &Loaded, options: &ReadOptions) {
    let (directory, page) = (word(&loaded.output), command("page", &options.paths));
    options.speech.calm(&format!(
        "next: open {directory}, or make one page of it: `{page} -o fleet.html`"
    ));
}

/// Where files of tools in the directory of the configuration name spokewright's repository without its owner.
pub(crate) fn without_owner(directory: &Path, speech: Speech) {
    let files = start::without_owner(directory).join(", ");
    if !files.is_empty() {
        let line = format!("next: put the owner of spokewright's repository in place of OWNER in {files}");
        speech.calm(&line);
    }
}

/// After works left the tree: what deletes them on the hub (docs/systems/gitops.md#what-prunes).
pub(crate) fn after_deletions(summary: &Summary, options: &ReadOptions) {
    let is_work = |path: &str| {
        path.contains('/') && !path.starts_with("_hub/") && !path.ends_with("/kustomization.yaml")
    };
    let left = summary.differing.iter();
    let left = left
        .filter(|change| change.kind == ChangeKind::Stale && is_work(&change.path))
        .count();
    if left == 0 {
        return;
    }
    options.speech.calm(&format!(
        "next: {} left the tree. On the hub, Argo CD and Flux delete them with `prune: true`; `kubectl apply` deletes nothing, and with `--prune` nothing in namespaces of clusters that left. `{} --works FILE` lists works that are still there",
        counted(left, "work"),
        command("prune-list", &options.paths),
    ));
}

/// After nothing was wrong in an input that was never rendered.
pub(crate) fn after_clean_check(loaded: &Loaded, options: &ReadOptions) {
    // Whoever has a configuration knows how to go on, or lets Argo CD render.
    let first = loaded.sources.files().first();
    let is_configured = first.is_some_and(|file| file.relative == CONFIG_NAME);
    if is_configured || options.reads_stdin() || output::is_tree(&loaded.output) {
        return;
    }
    options.speech.calm(&format!(
        "next: `{}` writes one directory per cluster into {}",
        command("render", &options.paths),
        word(&loaded.output)
    ));
}

/// Where the input has no Placement.
pub(crate) fn without_placements(loaded: &Loaded, speech: Speech) {
    let decisions = loaded
        .hub
        .objects
        .of_kind(ocm_placement::GROUP, "PlacementDecision");
    let lines = if decisions.is_empty() {
        [
            "next: add the objects that the hub decides by:",
            "      `kubectl get placement,managedcluster,managedclusterset,managedclustersetbinding -A -o yaml`",
        ]
    } else {
        [
            "the PlacementDecisions of the input apply as they are; `spokewright render` uses them",
            "next: to evaluate, add the Placements: `kubectl get placement -A -o yaml`",
        ]
    };
    nothing_to_show(loaded, "placement", &lines, speech);
}

/// Where a command had nothing to show: `lines`, or what explains more: that nothing at all was read.
pub(crate) fn nothing_to_show(loaded: &Loaded, command: &str, lines: &[&str], speech: Speech) {
    if !loaded.hub.objects.is_empty() {
        for line in lines {
            speech.calm(line);
        }
        return;
    }
    speech.calm("no Kubernetes object was read");
    speech.calm(&format!(
        "next: name the directory of the hub, as in `spokewright {command} hub`; `-v` lists the files that were read"
    ));
}

/// A command over the same input.
pub(crate) fn command(name: &str, paths: &[PathBuf]) -> String {
    let mut words = vec!["spokewright".to_owned(), name.to_owned()];
    let named = paths.iter().filter(|path| path.as_os_str() != ".");
    words.extend(named.map(|path| word(path)));
    words.join(" ")
}

/// A path as a shell takes it.
fn word(path: &Path) -> String {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    shell_path(&parts.collect::<PathBuf>().display().to_string())
}

/// The exported works.
#[derive(Debug, Args)]
pub(crate) struct WorksOption {
    /// Works exported from the hub: a file, directory, or `-`
    #[arg(long, value_name = "PATH")]
    works: Option<PathBuf>,
    /// The name of the option, for messages.
    #[arg(skip = "--works")]
    name: &'static str,
}

impl WorksOption {
    /// The works to compare with.
    pub(crate) const fn for_base(works: Option<PathBuf>) -> Self {
        let name = "--base-works";
        Self { works, name }
    }

    /// What was typed.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.works.as_deref()
    }

    fn is_stdin(&self) -> bool {
        self.path() == Some(Path::new("-"))
    }

    /// Keeps the export out of the input, also where it lies inside.
    ///
    /// # Errors
    /// When both come from standard input, which can be read only once.
    pub(crate) fn keep_out_of(&self, request: &mut Request, input: &ReadOptions) -> Result<(), Refusal> {
        if self.is_stdin() && input.reads_stdin() {
            return refuse(
                "standard input can be read only once",
                &format!("name a file for the input or for `{}`", self.name),
            );
        }
        let file = self.path().filter(|_| !self.is_stdin());
        request.skip.extend(file.map(Path::to_owned));
        Ok(())
    }

    /// Reads the export, which may be standard input; `None` where none was named.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Path, Option<&mut dyn Read>) -> T,
    ) -> Option<ManuallyDrop<T>> {
        let path = self.path()?;
        let mut stdin = io::stdin().lock();
        let stdin: Option<&mut dyn Read> = if self.is_stdin() { Some(&mut stdin) } else { None };
        Some(never_freed(read(path, stdin)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_as_it_stands() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(command("render", &paths(&["."])), "spokewright render");
        assert_eq!(
            command("render", &paths(&["./hub", "my hub", "it's"])),
            "spokewright render hub 'my hub' 'it'\\''s'"
        );
    }
}
