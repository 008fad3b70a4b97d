//! `spokewright policies` and `spokewright explain`: which policy applies, and why.

use std::path::{Path, PathBuf};

use apimachinery::{GroupKind, named_parts};
use clap::Args;
use clap_complete::ArgValueCompleter;
use spokewright::Object;
use spokewright::diagnostic::{Code, Findings};
use spokewright::pipeline::Loaded;
use spokewright::report::{
    CoverageReport, PolicyReport, PolicyView, Request, coverage_markdown, coverage_text, effective_paths,
    explain, explain_request, explanation_text, is_request, policies_text, request_text,
};

use super::finding::print_page;
use super::options::{ReadOptions, named, one_text, without_first};
use super::print::{Refusal, Status, refuse, whole};
use super::reporting::{ReportFormat, Reporting, evaluate, never_freed};
use super::{completions, print, reporting};

const POLICIES_AFTER_HELP: &str = "\
Examples:
  spokewright policies                 a line for each policy
  spokewright policies --effective     the settings in effect on each path
  spokewright policies --coverage      routes that lack a policy of a kind
  spokewright policies authpolicy/shop/api-keys";

const EXPLAIN_AFTER_HELP: &str = "\
Examples:
  spokewright explain gateway/prod-web
  spokewright explain httproute/shop/cart --cluster eu-1

  What a policy affects, and what would change without it:
  spokewright explain ratelimitpolicy/infra/global

  Which listener, route, and rule serve a request, and which policies apply:
  spokewright explain 'POST https://shop.example.com/cart' --header x-user=alice";

/// List policies with their targets, predicted states, and clusters
#[derive(Debug, Args)]
#[command(
    after_help = POLICIES_AFTER_HELP,
    override_usage = "spokewright policies [OPTIONS] [OBJECT] [PATH]..."
)]
pub(crate) struct Policies {
    /// Show the settings that are in effect on each path
    #[arg(long)]
    effective: bool,

    /// Count the routes that have a policy of each kind
    #[arg(long, conflicts_with = "effective", hide_short_help = true)]
    coverage: bool,

    /// Only this kind, as in AuthPolicy, and every route that lacks it; repeatable
    #[arg(
        long = "kind",
        value_name = "KIND",
        requires = "coverage",
        hide_short_help = true
    )]
    kinds: Vec<String>,

    #[command(flatten)]
    report: ReportOptions,

    #[command(flatten)]
    options: ReadOptions,
}

/// Explain which policies affect an object or a request, and why
#[derive(Debug, Args)]
#[command(after_long_help = EXPLAIN_AFTER_HELP)]
pub(crate) struct Explain {
    /// KIND/NAME, KIND/NAMESPACE/NAME, a request, or a finding code
    ///
    /// A kind may be a plural or a short name, and include its group, as in `ratelimitpolicy.kuadrant.io`. `KIND NAME` is
    /// the same as `KIND/NAME`. A request is a method and a URL, as in `GET https://shop.example.com/cart`.
    #[arg(value_name = "OBJECT", add = ArgValueCompleter::new(completions::objects))]
    object: String,

    /// Header of the request; repeatable
    #[arg(long = "header", value_name = "NAME=VALUE")]
    headers: Vec<String>,

    #[command(flatten)]
    report: ReportOptions,

    #[command(flatten)]
    options: ReadOptions,
}

#[derive(Debug, Args)]
struct ReportOptions {
    /// Show one cluster, with the policies that live there
    #[arg(long, value_name = "CLUSTER", add = ArgValueCompleter::new(completions::cluster))]
    cluster: Option<String>,

    /// Namespace of the object
    #[arg(short = 'n', value_name = "NS", hide_short_help = true)]
    object_namespace: Option<String>,

    #[command(flatten)]
    reporting: Reporting,
}

impl ReportOptions {
    /// Explains an object.
    fn explain(&self, object: &str, options: &mut ReadOptions) -> anyhow::Result<Status> {
        let wanted = one_text(object, self.object_namespace.as_deref(), &mut options.paths);
        let (cluster, answer) = (self.cluster.as_deref(), self.reporting.answer());
        let options = &*options;
        let request = options.request()?;
        evaluate(
            options,
            &request,
            cluster,
            |loaded, analysis, view, mut findings| {
                let named_only = view.without_objects();
                let mut there: Vec<_> = loaded.hub.spokes.iter().collect();
                // Of several clusters that have an object of one name, the first that is asked about.
                there.sort_by_key(|(name, _)| cluster.is_some_and(|cluster| cluster != name.as_str()));
                let on_hub = loaded.hub.objects.iter();
                let on_clusters = there.iter().flat_map(|(_, objects)| *objects);
                let objects: Vec<&Object> = on_hub.chain(on_clusters).chain(&named_only).collect();
                let object = match named(loaded, &objects, &wanted) {
                    Ok(object) => object,
                    Err(refusal) => {
                        // It may be one that an API server would refuse: then this says so.
                        loaded.finish(&mut findings);
                        answer.findings(loaded, &findings, options);
                        return Err(refusal.into());
                    }
                };
                let identity = object.identity();
                let lives_on = there
                    .iter()
                    .filter(|(_, objects)| objects.get(&identity).is_some());
                let lives_on: Vec<&str> = lives_on.map(|(name, _)| name.as_str()).collect();
                if let Some(too_much) = view.too_much_to_explain(&identity) {
                    findings.push(too_much);
                    return answer.finish(loaded, findings, options, whole(""));
                }
                let without = view.is_policy(&identity).then(|| analysis.without(object));
                let spokes = without.as_ref().map(|analysis| analysis.received(cluster).1);
                let without = without.as_ref().zip(spokes.as_ref());
                let without = without.map(|(analysis, spokes)| analysis.evaluate(spokes));
                let relative = loaded.sources.root_relative();
                let is_object = !named_only.iter().any(|known| std::ptr::eq(known, object));
                let explanation = explain(
                    view,
                    without.as_ref(),
                    &identity,
                    Some(object).filter(|_| is_object),
                    &lives_on,
                    loaded.overlays(),
                    self.reporting.locate(&loaded.sources, &relative),
                );
                let text = |explanation: &_| explanation_text(explanation, print::width());
                answer.finish(loaded, findings, options, |out| {
                    self.reporting.write(out, &explanation, text)
                })
            },
        )
    }
}

impl Policies {
    pub(crate) fn run(mut self) -> anyhow::Result<Status> {
        let paths = &mut self.options.paths;
        // What is not on disk may be the name of an object, of one word or of two.
        let is_there = |path: &&PathBuf| path.iter().next().is_some_and(|first| Path::new(first).exists());
        let mut words = paths.iter().take_while(|path| !is_there(path));
        let object = words.next().map(|word| word.display().to_string());
        if let Some(object) = object.filter(|word| words.next().is_some() || named_parts(word).is_some()) {
            without_first(paths);
            return self.report.explain(&object, &mut self.options);
        }
        if let Some(namespace) = &self.report.object_namespace {
            let help = "name an object, as in `spokewright policies authpolicy/api-keys -n shop`";
            let message = format!("`-n {namespace}` has no object to go with");
            return refuse(&message, help);
        }
        let (options, reporting) = (&self.options, &self.report.reporting);
        let (request, cluster) = (options.request()?, self.report.cluster.as_deref());
        evaluate(options, &request, cluster, |loaded, _, view, mut findings| {
            if self.coverage {
                return self.cover(loaded, view, findings);
            }
            let answer = reporting.answer();
            if let Some(too_much) = view.too_much_to_list() {
                findings.push(too_much);
                return answer.finish(loaded, findings, options, whole(""));
            }
            let is_text = reporting.format == ReportFormat::Text;
            let report = never_freed(if is_text {
                PolicyReport::for_text(view)
            } else {
                PolicyReport::new(view, &loaded.sources.root_relative())
            });
            let paths = self.effective.then(|| effective_paths(view, &loaded.sources));
            let status = answer.finish(loaded, findings, options, |out| {
                let text = |report: &PolicyReport| policies_text(report, paths.as_deref(), print::width());
                reporting.write(out, &*report, text)
            })?;
            if report.policies.is_empty() && cluster.is_none() {
                let next = "next: add a policy: an object with `targetRef`, of a kind that is built in or whose CRD is in \
                                the input";
                reporting::nothing_to_show(loaded, "policies", &[next], options.speech);
            }
            Ok(status)
        })
    }

    /// Prints which routes have a policy of each kind in effect.
    fn cover(
        &self,
        loaded: &Loaded,
        view: &PolicyView<'_>,
        mut findings: Findings,
    ) -> anyhow::Result<Status> {
        let (options, reporting) = (&self.options, &self.report.reporting);
        let kinds = self.kinds.iter().map(|kind| policy_kind(loaded, kind));
        let kinds = kinds.collect::<Result<Vec<_>, Refusal>>()?;
        let relative = loaded.sources.root_relative();
        let locate = reporting.locate(&loaded.sources, &relative);
        let report = CoverageReport::new(view, &kinds, |cluster| loaded.admits(cluster), locate);
        let answer = reporting.answer();
        let report = match report {
            Ok(report) => report,
            Err(too_costly) => {
                findings.push(*too_costly);
                return answer.finish(loaded, findings, options, whole(""));
            }
        };
        answer.finish(loaded, findings, options, |out| match reporting.format {
            ReportFormat::Markdown => whole(&coverage_markdown(&report))(out),
            _ => reporting.write(out, &report, coverage_text),
        })
    }
}

/// The kind of policies that a name means: `AuthPolicy`, or with its group, `AuthPolicy.kuadrant.io`.
fn policy_kind(loaded: &Loaded, name: &str) -> Result<GroupKind, Refusal> {
    let mut meant = match loaded.hub.kinds.policies(name) {
        Ok(meant) => meant,
        Err(near) => {
            let help = near.map(|near| format!("did you mean `{near}`?"));
            let help =
                help.unwrap_or_else(|| "name a kind of policies, as in `--kind AuthPolicy`".to_owned());
            return refuse(&format!("there is no kind `{name}` of policies"), &help);
        }
    };
    // Of two products that have a kind of one name, the input mostly has one.
    let is_there = |kind: &GroupKind| {
        let mut objects = loaded.hub.everywhere();
        objects.any(|object| object.group_kind() == *kind)
    };
    if meant.len() > 1 && meant.iter().any(is_there) {
        meant.retain(is_there);
    }
    match meant.as_slice() {
        [kind] => Ok(kind.clone()),
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            let help = format!("write one of: {}", names.join(", "));
            refuse(&format!("several groups have a kind `{name}`"), &help)
        }
    }
}

impl Explain {
    pub(crate) fn run(mut self) -> anyhow::Result<Status> {
        let (options, reporting) = (&mut self.options, &self.report.reporting);
        if !is_request(&self.object) {
            if let Some(code) = Code::from_name(&self.object) {
                return print_page(code);
            }
            if let Some(header) = self.headers.first() {
                let message = format!("an object has no header `{header}`");
                let help =
                    "name a request, as in 'GET https://shop.example.com/cart', or leave out `--header`";
                return refuse(&message, help);
            }
            return self.report.explain(&self.object, options);
        }
        let request = Request::parse(&self.object, &self.headers)
            .map_err(|wrong| Refusal::new(Status::Usage, &wrong.reason, wrong.help))?;
        let (input, cluster) = (options.request()?, self.report.cluster.as_deref());
        evaluate(options, &input, cluster, |loaded, _, view, findings| {
            let relative = loaded.sources.root_relative();
            let locate = reporting.locate(&loaded.sources, &relative);
            let explanation = explain_request(view, &request, locate);
            reporting.answer().finish(loaded, findings, options, |out| {
                reporting.write(out, &explanation, |report| request_text(report, print::width()))
            })
        })
    }
}
