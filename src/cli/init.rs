//! `spokewright init`: creates a directory to start with.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use spokewright::diagnostic::{Findings, Severity, counted, first_items, one_or_many, shell_path};
use spokewright::output;
use spokewright::pipeline::start::{CONTROLLERS, GIT_ATTRIBUTES, TOOLS, hub_files, sorted_files, tool_files};
use spokewright::pipeline::{CONFIG_NAME, Request, load};

use super::options::read_stdin;
use super::print::{Refusal, Speech, Status};
use super::{print, reporting};

const AFTER_HELP: &str = "\
Examples:
  spokewright init                       a small hub in the current directory
  spokewright init fleet --policies istio --with github,pre-commit
  spokewright init --from-live           how to export an existing hub
  spokewright init fleet --from exported.yaml";

/// What exports what a rendering reads of a live hub: objects of the kinds that it has installed, the parameters of its
/// classes, and policies of every kind; and, of each cluster, what is there already.
const EXPORT: &str = include_str!("export.sh");

/// Create a small hub that renders, or sort an exported one
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Init {
    /// Directory to write into
    #[arg(default_value = ".", value_name = "DIR")]
    directory: PathBuf,

    /// Controller whose policies it has, kuadrant by default
    #[arg(long, value_name = "NAME", value_parser = controllers(), conflicts_with_all = ["from", "from_live"])]
    policies: Option<String>,

    /// Also write files for these tools, comma-separated
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(TOOLS.map(|(name, _)| name)))]
    with: Vec<String>,

    /// File or directory of exported objects to sort, or `-`
    #[arg(long, value_name = "PATH", conflicts_with = "from_live")]
    from: Option<PathBuf>,

    /// Print the commands that export a live hub and its clusters
    #[arg(long, hide_short_help = true)]
    from_live: bool,

    #[command(flatten)]
    speech: Speech,
}

fn controllers() -> PossibleValuesParser {
    let values = CONTROLLERS.iter();
    PossibleValuesParser::new(values.map(|(name, title, _)| PossibleValue::new(*name).help(*title)))
}

/// What to know of the file for a tool.
fn note_on(tool: &str, directory: &Path) -> Option<String> {
    let is_root = [".", ""].contains(&directory.to_str().unwrap_or_default());
    match tool {
        "argocd" => Some(
            "argocd/application.yaml applies the committed tree; a plugin can render in Argo CD instead \
             (docs/guides/argo-cd.md)"
                .to_owned(),
        ),
        "github" | "gitlab" | "pre-commit" if !is_root => {
            let (_, (path, _)) = TOOLS.iter().find(|(name, _)| *name == tool)?;
            let directory = shell_path(&directory.display().to_string());
            Some(format!(
                "{path} works at the root of its repository only: if that is not {directory}, move it there"
            ))
        }
        _ => None,
    }
}

impl Init {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        if self.from_live {
            print::text(EXPORT)?;
            self.speech
                .calm("next: `spokewright init DIR --from exported.yaml` sorts it into files");
            return Ok(Status::Done);
        }
        let mut files = tool_files(&self.with);
        let mut left_out = Vec::new();
        let config = [CONFIG_NAME.to_owned()];
        let is_hub = !output::existing_files(&self.directory, &config)?.is_empty();
        match &self.from {
            // The hub is there already.
            None if is_hub && !self.with.is_empty() && self.policies.is_none() => {}
            None => files.extend(hub_files(self.policies.as_deref())),
            Some(file) => {
                let is_stdin = file.as_os_str() == "-";
                let loaded = load(&Request {
                    stdin: is_stdin.then(read_stdin).transpose()?,
                    paths: if is_stdin { Vec::new() } else { vec![file.clone()] },
                    without_status: true,
                    ..Request::default()
                });
                let mut findings = Findings::new();
                loaded.finish(&mut findings);
                if findings.has_errors() {
                    print::findings(&findings, &loaded.sources, self.speech);
                    let errors = counted(findings.count(Severity::Error), "error");
                    self.speech.note(&format!("{errors}; nothing was written"));
                    return Ok(Status::of(&findings));
                }
                let sorted = sorted_files(loaded.hub.objects.iter());
                if !sorted.has_objects() {
                    let file = file.display();
                    let message = format!("nothing was written, because {file} contains no object of a hub");
                    let help = "`spokewright init --from-live` prints the commands that export one";
                    return Err(Refusal::new(Status::Invalid, &message, help).into());
                }
                let names = sorted.left_out.iter();
                left_out = if self.speech.verbose {
                    let all =
                        names.flat_map(|(kind, keys)| keys.iter().map(move |key| format!("{kind} {key}")));
                    all.collect()
                } else {
                    names
                        .map(|(kind, keys)| format!("{} {kind}", keys.len()))
                        .collect()
                };
                files.extend(sorted.files);
            }
        }
        let mut existing = output::existing_files(&self.directory, files.keys())?;
        // Whoever has one keeps it: without the line, the next `render` heals the inventory of two branches as well.
        existing.retain(|path| path != GIT_ATTRIBUTES || files.remove(path).is_none());
        if !existing.is_empty() {
            let verb = one_or_many(existing.len(), "exists", "exist");
            let existing = first_items(&existing, 5);
            let message = format!("nothing was written, because {existing} {verb}");
            let help = if is_hub && self.from.is_some() {
                "to see what is new, write it elsewhere: `spokewright init ../export --from FILE`, and \
                 `git diff --no-index hub ../export/hub`"
            } else {
                "name a new directory, as in `spokewright init fleet`, or move the files away"
            };
            return Err(Refusal::new(Status::Io, &message, help).into());
        }
        output::write_files(&self.directory, &files)?;
        let directory = shell_path(&self.directory.display().to_string());
        let files = counted(files.len(), "file");
        self.speech.calm(&format!("{files} written into {directory}"));
        if !left_out.is_empty() {
            let more = if self.speech.verbose {
                ""
            } else {
                " (-v lists them)"
            };
            let left_out = left_out.join(", ");
            self.speech.calm(&format!(
                "left out, because it does not belong in Git: {left_out}{more}"
            ));
        }
        for note in self.with.iter().filter_map(|tool| note_on(tool, &self.directory)) {
            self.speech.calm(&note);
        }
        let path = if self.directory.as_os_str() == "." {
            String::new()
        } else {
            format!(" {directory}")
        };
        self.speech.calm(&format!(
            "next: `spokewright render{path}` writes what each cluster receives; `spokewright check{path}` shows what is missing"
        ));
        reporting::without_owner(&self.directory, self.speech);
        Ok(Status::Done)
    }
}
