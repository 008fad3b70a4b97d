//! `spokewright policies` and `spokewright explain`: which policy applies, and why.
//!
//! Owns: the options of both, and the choice between one cluster and the hub. Flows in: arguments. Flows out: trees
//! or JSON on stdout. Must not know: why a policy wins.

use clap::Args;
use clap_complete::ArgValueCompleter;
use spokewright::Object;
use spokewright::diagnostic::{Code, Findings};
use spokewright::pipeline::{Analysis, EmptyResult, Loaded};
use spokewright::report::PolicyReport;
use spokewright::report::{Request, is_request};
use spokewright::report::{explain, explain_request, explanation_text, policies_text, request_text};

use super::candidates;
use super::finding::print_page;
use super::named::named;
use super::next;
use super::options::{ReadOptions, check_cluster};
use super::reporting::{ReportFormat, Reporting, kept, whole};
use super::show;
use super::status::{Refusal, Status};

const POLICIES_AFTER_HELP: &str = "\
Examples:
  spokewright policies                 all statuses and effective policies
  spokewright policies --cluster eu-1  as seen there, with local policies
  spokewright policies -o json         rules, sources, conditions, clusters";

const EXPLAIN_AFTER_HELP: &str = "\
Examples:
  spokewright explain gateway/prod-web
  spokewright explain httproute/shop/cart --cluster eu-1

  What a policy affects, and what would change without it:
  spokewright explain ratelimitpolicy/infra/global

  Which listener, route, and rule serve a request, and which policies apply:
  spokewright explain 'POST https://shop.example.com/cart' --header x-user=alice";

/// List effective policies and the predicted status of every policy
#[derive(Debug, Args)]
#[command(after_help = POLICIES_AFTER_HELP)]
pub(crate) struct Policies {
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
    /// A kind may include its group, as in `ratelimitpolicy.kuadrant.io`. A request is a method and a URL, as in
    /// `GET https://shop.example.com/cart`.
    #[arg(value_name = "OBJECT", add = ArgValueCompleter::new(candidates::objects))]
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
    #[arg(long, value_name = "CLUSTER", add = ArgValueCompleter::new(candidates::cluster))]
    cluster: Option<String>,

    #[command(flatten)]
    reporting: Reporting,
}

impl ReportOptions {
    /// The cluster to look at; refused if nobody knows it.
    fn cluster(&self, loaded: &Loaded) -> Result<Option<&str>, Refusal> {
        let cluster = self.cluster.as_deref();
        cluster.map(|name| check_cluster(name, loaded)).transpose()?;
        Ok(cluster)
    }
}

impl Policies {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let loaded = kept(
            self.options
                .load(&self.options.request()?, EmptyResult::Refused)?,
        );
        show::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        let (cluster, answer) = (self.report.cluster(&loaded)?, self.report.reporting.answer());
        let analysis = kept(Analysis::new(&loaded, &mut findings));
        let (received, spokes) = analysis.received(cluster);
        let spokes = kept(spokes);
        let view = kept(analysis.policies(received, &spokes, &mut findings));
        if let Some(too_much) = view.too_much_to_list() {
            findings.push(too_much);
            return answer.finish(&loaded, findings, &self.options, whole(""));
        }
        let report = kept(match self.report.reporting.format {
            ReportFormat::Text => PolicyReport::of(&view),
            ReportFormat::Json | ReportFormat::Yaml => analysis.policy_report(&spokes, &view),
        });
        let status = answer.finish(&loaded, findings, &self.options, |out| {
            let text = |report: &PolicyReport| policies_text(report, show::width());
            self.report.reporting.write(out, &*report, text)
        })?;
        if report.policies.is_empty() && self.report.cluster.is_none() {
            next::without_policies(&loaded, self.options.speech);
        }
        Ok(status)
    }
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        if is_request(&self.object) {
            return self.explain_request();
        }
        if let Some(code) = Code::from_name(&self.object) {
            return print_page(code);
        }
        if let Some(header) = self.headers.first() {
            let message = format!("an object has no header `{header}`");
            let help = "name a request, as in 'GET https://shop.example.com/cart', or leave out `--header`";
            return Err(Refusal::new(Status::Usage, &message, help).into());
        }
        let loaded = kept(
            self.options
                .load(&self.options.request()?, EmptyResult::Refused)?,
        );
        show::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        let (cluster, answer) = (self.report.cluster(&loaded)?, self.report.reporting.answer());
        let analysis = kept(Analysis::new(&loaded, &mut findings));
        let (received, spokes) = analysis.received(cluster);
        let spokes = kept(spokes);
        let view = kept(analysis.policies(received, &spokes, &mut findings));
        let named_only = view.without_objects();
        let mut there: Vec<_> = loaded.hub.spokes.iter().collect();
        // Of several clusters that have an object of one name, the first that is asked about.
        there.sort_by_key(|(name, _)| cluster.is_some_and(|cluster| cluster != name.as_str()));
        let objects: Vec<&Object> = loaded
            .hub
            .objects
            .iter()
            .chain(there.iter().flat_map(|(_, objects)| *objects))
            .chain(&named_only)
            .collect();
        let object = match named(&loaded, &objects, &self.object) {
            Ok(object) => object,
            Err(refusal) => {
                // It may be one that an API server would refuse: then this says so.
                loaded.finish(&mut findings);
                answer.findings(&loaded, &findings, &self.options);
                return Err(refusal.into());
            }
        };
        let identity = object.identity();
        let lives_on: Vec<&str> = there
            .iter()
            .filter(|(_, objects)| objects.get(&identity).is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        if let Some(too_much) = view.too_much_to_explain(&identity) {
            findings.push(too_much);
            return answer.finish(&loaded, findings, &self.options, whole(""));
        }
        let without = view.is_policy(&identity).then(|| analysis.without(object));
        let spokes = without.as_ref().map(|analysis| analysis.received(cluster).1);
        let without = without.as_ref().zip(spokes.as_ref());
        let without = without.map(|(analysis, spokes)| analysis.evaluate(spokes, &mut Findings::new()));
        let relative = loaded.sources.root_relative();
        let is_object = !named_only.iter().any(|known| std::ptr::eq(known, object));
        let explanation = explain(
            &view,
            without.as_ref(),
            &identity,
            Some(object).filter(|_| is_object),
            &lives_on,
            self.report.reporting.locate(&loaded.sources, &relative),
        );
        answer.finish(&loaded, findings, &self.options, |out| {
            self.report.reporting.write(out, &explanation, |report| {
                explanation_text(report, show::width())
            })
        })
    }
}

impl Explain {
    fn explain_request(self) -> anyhow::Result<Status> {
        let request = Request::parse(&self.object, &self.headers)
            .map_err(|wrong| Refusal::new(Status::Usage, &wrong.reason, wrong.help))?;
        let loaded = kept(
            self.options
                .load(&self.options.request()?, EmptyResult::Refused)?,
        );
        show::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        let (cluster, answer) = (self.report.cluster(&loaded)?, self.report.reporting.answer());
        let analysis = kept(Analysis::new(&loaded, &mut findings));
        let (received, spokes) = analysis.received(cluster);
        let spokes = kept(spokes);
        let view = kept(analysis.policies(received, &spokes, &mut findings));
        let relative = loaded.sources.root_relative();
        let locate = self.report.reporting.locate(&loaded.sources, &relative);
        let explanation = explain_request(&view, &request, locate);
        answer.finish(&loaded, findings, &self.options, |out| {
            self.report
                .reporting
                .write(out, &explanation, |report| request_text(report, show::width()))
        })
    }
}
