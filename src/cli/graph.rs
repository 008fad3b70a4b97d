//! `spokewright graph`: a picture of what is attached to what.

use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;
use spokewright::Object;
use spokewright::diagnostic::Findings;
use spokewright::pipeline::Loaded;
use spokewright::report::{Graph, Only, PolicyView};

use super::options::{ClustersOption, ReadOptions, named};
use super::print::{Status, refuse, whole};
use super::reporting::{Answer, evaluate};
use super::{completions, reporting};

const AFTER_HELP: &str = "\
Examples:
  spokewright graph                           mermaid, for a block in Markdown
  spokewright graph --format dot | dot -Tsvg  the same, drawn by Graphviz
  spokewright graph --cluster eu-1            only what is on this cluster
  spokewright graph --only gateway/shop/web   only what belongs to this Gateway
  spokewright graph --all                     every node, however many";

/// Draw Gateways, listeners, routes, policies, and clusters
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct GraphCommand {
    /// Language of the graph
    #[arg(short = 'o', long, alias = "output")]
    #[arg(value_name = "FORMAT", default_value = "mermaid")]
    format: Language,

    /// Show one cluster, with the policies that live there
    #[arg(long, value_name = "CLUSTER", add = ArgValueCompleter::new(completions::cluster))]
    cluster: Option<String>,

    /// Draw what belongs to this Gateway, route, policy, namespace, or cluster
    #[arg(long, value_name = "OBJECT", value_parser = only, add = ArgValueCompleter::new(completions::objects))]
    only: Vec<String>,

    /// Draw every node, even in a graph too large to read
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    clusters: ClustersOption,

    #[command(flatten)]
    options: ReadOptions,
}

/// The number of edges that mermaid draws by default.
const MOST_OF_MERMAID: usize = 500;

fn only(text: &str) -> Result<String, String> {
    let only = Only::parse(text).map(|_| text.to_owned());
    only.ok_or_else(|| "write KIND/NAMESPACE/NAME, as in gateway/shop/web, or namespace/NAME".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// A mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
}

impl GraphCommand {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let request = self.clusters.request(&self.options)?;
        let cluster = self.cluster.as_deref();
        evaluate(&self.options, &request, cluster, |loaded, _, view, findings| {
            self.draw(loaded, view, findings)
        })
    }

    fn draw(&self, loaded: &Loaded, view: &PolicyView<'_>, mut findings: Findings) -> anyhow::Result<Status> {
        let answer = Answer::new(Some(match self.format {
            Language::Mermaid => "%% ",
            Language::Dot => "// ",
        }));
        let admits = |cluster: &str| loaded.admits(cluster);
        let mut graph = match Graph::new(view, admits, self.all) {
            Ok(graph) => graph,
            Err(too_many) => {
                findings.push(*too_many);
                return answer.finish(loaded, findings, &self.options, whole(""));
            }
        };
        let objects: Vec<&Object> = loaded.hub.objects.iter().collect();
        // What only a route names, and a cluster, has a node and no object.
        let only = self
            .only
            .iter()
            .filter_map(|text| match named(loaded, &objects, text) {
                Ok(object) => Only::parse(&object.identity().locator()),
                Err(_) => Only::parse(text),
            });
        let only: Vec<Only> = only.collect();
        if !only.is_empty() && !graph.narrow(&only) {
            loaded.finish(&mut findings);
            answer.findings(loaded, &findings, &self.options);
            return refuse(
                "nothing in the graph matches `--only`",
                "write KIND/NAMESPACE/NAME, as in gateway/shop/web, or namespace/NAME",
            );
        }
        let everything = graph.things();
        if !self.all && graph.collapse() {
            self.options.speech.calm(&format!(
                "{everything} nodes drawn as {}: similar nodes are grouped; --only draws a part, --all draws everything, \
                 and `spokewright page` shows it",
                graph.nodes()
            ));
        }
        let edges = graph.edges();
        if self.format == Language::Mermaid && edges > MOST_OF_MERMAID {
            return refuse(
                &format!("mermaid draws at most {MOST_OF_MERMAID} edges, but this graph has {edges}"),
                "draw a part (`--only`, `--clusters`), use `--format dot`, or look at all of it: `spokewright page -o fleet.html`",
            );
        }
        let data = match self.format {
            Language::Mermaid => graph.mermaid(),
            Language::Dot => graph.dot(),
        };
        let status = answer.finish(loaded, findings, &self.options, whole(&data))?;
        if everything == 0 {
            let lines = [
                "nothing to draw: the input has no GatewayClass, Gateway, route or policy",
                "next: `spokewright check` shows what is missing to render",
            ];
            reporting::nothing_to_show(loaded, "graph", &lines, self.options.speech);
        }
        Ok(status)
    }
}
