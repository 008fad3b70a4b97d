//! `spokewright argocd`: the config management plugin of Argo CD, as three commands.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use spokewright::diagnostic::{Brief, Findings, Warnings};
use spokewright::output;
use spokewright::pipeline::argocd::{Parameters, announcements, boundary, plugin_yaml, report_variables};
use spokewright::pipeline::{self, Analysis, RenderConfig, Request};
use spokewright::source::{Checkout, Files, Sources, repository_around};

use super::print::{self, Status};

/// What Argo CD's components send each other in one message, unless configured otherwise
/// (docs/systems/gitops.md#plugin-output).
const MESSAGE_LIMIT: usize = 100 * 1024 * 1024;

const AFTER_HELP: &str = "\
Examples:
  spokewright argocd plugin > plugin.yaml  the declaration, for the sidecar
  spokewright argocd generate              what an Application here renders
  spokewright argocd parameters            what Argo CD's interface offers

examples/argocd contains the Dockerfile, the sidecar, Applications, and a
health check for ManifestWork.";

const GENERATE_HELP: &str = "\
Examples:
  spokewright argocd generate
  ARGOCD_APP_PARAMETERS='[{\"name\":\"clusters\",\"string\":\"eu-*\"}]' \\
    spokewright argocd generate

Parameters have the names of the configuration's fields (hub, spokes,
secrets, hubObjects, placement.source, placement.mode) and of options (now,
clusters, allow-empty); hub is an array, all others are strings. Paths are
relative to the directory of the Application, and stay inside the
repository.

Exit status: 3 when a parameter does not exist or has a wrong type or value;
4 when nothing would be rendered.";

const PARAMETERS_HELP: &str = "\
Examples:
  spokewright argocd parameters   with the defaults of its spokewright.yaml";

const PLUGIN_HELP: &str = "\
Examples:
  spokewright argocd plugin > plugin.yaml
  spokewright argocd plugin --discover   Applications that name no plugin, too";

/// Run as a config management plugin of Argo CD
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Argocd {
    #[command(subcommand)]
    command: PluginCommand,
}

#[derive(Debug, Subcommand)]
enum PluginCommand {
    /// Render the current directory to stdout, with parameters from ARGOCD_APP_PARAMETERS
    #[command(after_help = GENERATE_HELP)]
    Generate,
    /// Announce the parameters as a JSON array
    #[command(after_help = PARAMETERS_HELP)]
    Parameters,
    /// Print plugin.yaml
    #[command(after_help = PLUGIN_HELP)]
    Plugin {
        /// Also discover Applications that have a spokewright.yaml
        #[arg(long)]
        discover: bool,
    },
}

impl Argocd {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        match self.command {
            PluginCommand::Generate => generate(),
            PluginCommand::Parameters => parameters(),
            PluginCommand::Plugin { discover } => print::text(&plugin_yaml(discover)),
        }
    }
}

fn generate() -> anyhow::Result<Status> {
    let mut findings = Findings::new();
    // What is not UTF-8 fails as a value later.
    let parameters = std::env::var_os("ARGOCD_APP_PARAMETERS").unwrap_or_default();
    let parameters = Parameters::read(&parameters.to_string_lossy(), &mut findings);
    let variables: BTreeSet<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    report_variables(variables.iter().map(String::as_str), &mut findings);
    let checkout = checkout()?;
    // What is wrong with it is said when the input is read.
    let (config, _) = configuration(&checkout, &mut Sources::default());
    let loaded = pipeline::load_checkout(&parameters.request(&config), &checkout);
    // What a wrong parameter leads to would only hide it.
    let rendered = if findings.has_errors() {
        None
    } else {
        let analysis = Analysis::new(&loaded, &mut findings);
        Some(analysis.render(parameters.empty, &mut findings))
    };
    loaded.finish(&mut findings);
    say(&Brief::default().render(&findings, &loaded.sources));
    let status = Status::of(&findings);
    let Some(rendered) = rendered.filter(|_| status == Status::Done) else {
        return Ok(status);
    };
    let layout = rendered.layout(&loaded);
    let mut stdout = Counted {
        sink: io::stdout().lock(),
        bytes: 0,
    };
    output::stream(&layout, &mut stdout).context("cannot write to stdout")?;
    if stdout.bytes > MESSAGE_LIMIT {
        print::line(&format!(
            "warning: the output has {} MiB, but Argo CD accepts {} MiB in one message; split the Application with the parameter `clusters`",
            stdout.bytes.div_euclid(1024 * 1024),
            MESSAGE_LIMIT.div_euclid(1024 * 1024)
        ));
    }
    Ok(Status::Done)
}

fn parameters() -> anyhow::Result<Status> {
    let mut sources = Sources::default();
    let (config, mut findings) = configuration(&checkout()?, &mut sources);
    findings.finish(&config.findings, Warnings::Reported);
    say(&Brief::default().render(&findings, &sources));
    match Status::of(&findings) {
        Status::Done => print::text(&print::json(&announcements(&config))),
        wrong => Ok(wrong),
    }
}

/// The configuration in the Application's directory, and what is wrong with it.
fn configuration(checkout: &Checkout, sources: &mut Sources) -> (RenderConfig, Findings) {
    let request = Request {
        paths: vec![".".into()],
        ..Request::default()
    };
    pipeline::configuration(&request, Files::Tree(checkout), sources)
}

/// The checkout of the Application: as far up as Argo CD says; where nobody says it, the repository around the current
/// directory, or else that directory.
fn checkout() -> anyhow::Result<Checkout> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    let root = match std::env::var_os("ARGOCD_APP_SOURCE_PATH") {
        Some(path) => boundary(&here, &path.to_string_lossy()),
        None => repository_around(&here).unwrap_or(here),
    };
    Checkout::open(&root).with_context(|| format!("cannot read the checkout `{}`", root.display()))
}

fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Counts what passes.
struct Counted<W> {
    sink: W,
    bytes: usize,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(buffer)?;
        self.bytes = self.bytes.saturating_add(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
