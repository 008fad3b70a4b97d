//! `spokewright policies` and `spokewright explain`: which policy applies, and why.

use std::io::Write as _;

use anyhow::Context as _;
use clap::Args;
use spokewright::diagnostic::{Findings, nearest};
use spokewright::object::Object;
use spokewright::pipeline::{self, Loaded, PolicyView};
use spokewright::policy::{OnClusters, PolicyReport};
use spokewright::report::{explain, explanation_text, policies_text};

use super::next;
use super::options::ReadOptions;
use super::reporting::Reporting;
use super::show;
use super::status::Status;

const POLICIES_AFTER_HELP: &str = "\
Examples:
  spokewright policies                 every status, every effective policy
  spokewright policies --cluster eu-1  as seen there, local policies included
  spokewright policies -o json         rules, sources, conditions, clusters";

const EXPLAIN_AFTER_HELP: &str = "\
Examples:
  spokewright explain gateway/prod-web
  spokewright explain httproute/shop/cart --cluster eu-1

  Its reach, and what would change without it:
  spokewright explain ratelimitpolicy/infra/global";

/// List effective policies, and every policy's predicted status
#[derive(Debug, Args)]
#[command(after_help = POLICIES_AFTER_HELP)]
pub(crate) struct Policies {
    #[command(flatten)]
    options: ReadOptions,

    #[command(flatten)]
    report: Report,
}

/// Say which policies affect an object, from which file and line
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_AFTER_HELP)]
pub(crate) struct Explain {
    /// The object: KIND/NAME or KIND/NAMESPACE/NAME; a kind may carry its group, as in `ratelimitpolicy.kuadrant.io`
    #[arg(value_name = "KIND/[NS/]NAME")]
    object: String,

    #[command(flatten)]
    options: ReadOptions,

    #[command(flatten)]
    report: Report,
}

#[derive(Debug, Args)]
struct Report {
    /// As seen on one cluster: with what already lives there
    #[arg(long, value_name = "CLUSTER", help_heading = "Output")]
    cluster: Option<String>,

    #[command(flatten)]
    reporting: Reporting,
}

impl Policies {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let loaded = self.options.load(&self.options.request()?)?;
        show::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        let view = match evaluate(&loaded, self.report.cluster.as_deref(), &mut findings) {
            Ok(view) => view,
            Err(status) => return Ok(status),
        };
        let on = OnClusters {
            clusters: Some(&view.clusters),
            effects: Some(&view.effects),
            one: self.report.cluster.is_some(),
        };
        let report = PolicyReport::new(&view.attachments, &view.effective, &view.statuses, on);
        let data = self
            .report
            .reporting
            .write(&report, |report| policies_text(report, show::width()));
        let status = finish(&loaded, findings, &data, &self.options)?;
        if report.policies.is_empty() {
            next::without_policies(&loaded, self.options.speech);
        }
        Ok(status)
    }
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<Status> {
        let loaded = self.options.load(&self.options.request()?)?;
        show::read(&loaded, self.options.speech);
        let mut findings = Findings::new();
        let cluster = self.report.cluster.as_deref();
        let view = match evaluate(&loaded, cluster, &mut findings) {
            Ok(view) => view,
            Err(status) => return Ok(status),
        };
        let object = match find(&loaded, cluster, &self.object) {
            Ok(object) => object,
            Err(message) => {
                show::line(&message);
                return Ok(Status::Usage);
            }
        };
        let explanation = explain(&view, object, &loaded.sources);
        let data = self
            .report
            .reporting
            .write(&explanation, |report| explanation_text(report, show::width()));
        finish(&loaded, findings, &data, &self.options)
    }
}

pub(super) fn evaluate<'a>(
    loaded: &'a Loaded,
    cluster: Option<&'a str>,
    findings: &mut Findings,
) -> Result<PolicyView<'a>, Status> {
    let view = match cluster {
        None => pipeline::policies(loaded, findings),
        Some(cluster) => {
            let view = pipeline::policies_on(loaded, cluster, findings);
            if !pipeline::known_clusters(loaded, &view).contains(cluster) {
                let whole = pipeline::policies(loaded, &mut Findings::new());
                let known = pipeline::known_clusters(loaded, &whole);
                show::line(&format!("error: nothing goes to a cluster `{cluster}`"));
                let near = nearest(cluster, known.iter().map(String::as_str));
                let all: Vec<&str> = known.iter().map(String::as_str).collect();
                show::line(&near.map_or_else(
                    || format!("help: the clusters are: {}", all.join(", ")),
                    |near| format!("help: did you mean `{near}`?"),
                ));
                return Err(Status::Usage);
            }
            view
        }
    };
    Ok(view)
}

pub(super) fn finish(
    loaded: &Loaded,
    mut findings: Findings,
    data: &str,
    options: &ReadOptions,
) -> anyhow::Result<Status> {
    loaded.finish(&mut findings);
    std::io::stdout()
        .lock()
        .write_all(data.as_bytes())
        .context("cannot write to stdout")?;
    show::findings(&findings, &loaded.sources, options.speech);
    Ok(Status::of(&findings))
}

/// The object that `KIND/[NS/]NAME` names, or what to say when it is none or several.
fn find<'a>(loaded: &'a Loaded, cluster: Option<&str>, text: &str) -> Result<&'a Object, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, namespace, name] => (*kind, Some(*namespace), *name),
        _ => {
            // Whoever leaves out the kind means one of a few.
            let name = parts.last().copied().unwrap_or_default();
            let called = loaded.hub.objects.iter().find(|object| object.name == name);
            let help = called.map_or_else(
                || "write KIND/NAME or KIND/NAMESPACE/NAME, as in gateway/shop/web".to_owned(),
                |object| format!("did you mean `{}/{}`?", object.kind.to_lowercase(), object.key()),
            );
            return Err(format!("error: `{text}` names no object\nhelp: {help}"));
        }
    };
    let local = cluster.and_then(|cluster| loaded.hub.spokes.get(cluster));
    let objects: Vec<&Object> = loaded
        .hub
        .objects
        .iter()
        .chain(local.into_iter().flatten())
        .collect();
    let of_kind: Vec<&Object> = objects
        .iter()
        .copied()
        .filter(|object| is_of_kind(loaded, object, kind))
        .collect();
    if of_kind.is_empty() {
        let kinds: std::collections::BTreeSet<String> =
            objects.iter().map(|object| object.kind.to_lowercase()).collect();
        let near = nearest(&kind.to_lowercase(), kinds.iter().map(String::as_str));
        let help = near.map_or_else(
            || {
                format!(
                    "help: the kinds of the input are: {}",
                    kinds.iter().cloned().collect::<Vec<_>>().join(", ")
                )
            },
            |near| format!("help: did you mean `{near}`?"),
        );
        return Err(format!("error: no object of the input is a `{kind}`\n{help}"));
    }
    let found: Vec<&Object> = of_kind
        .iter()
        .copied()
        .filter(|object| {
            object.name == name && namespace.is_none_or(|wanted| object.namespace_or_empty() == wanted)
        })
        .collect();
    match found.as_slice() {
        [object] => Ok(object),
        [] => {
            let keys: Vec<String> = of_kind.iter().map(|object| object.key()).collect();
            let wanted = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
            let names = of_kind.iter().map(|object| object.name.as_str());
            let near = nearest(&wanted, keys.iter().map(String::as_str)).or_else(|| nearest(name, names));
            let help = near.map_or_else(
                || format!("help: there are: {}", some_of(&keys)),
                |near| format!("help: did you mean `{kind}/{near}`?"),
            );
            Err(format!("error: there is no {kind} `{wanted}`\n{help}"))
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|object| {
                    format!(
                        "{}/{}",
                        object.group_kind().to_string().to_lowercase(),
                        object.key()
                    )
                })
                .collect();
            Err(format!(
                "error: several objects are called `{text}`\nhelp: write one of: {}",
                names.join(", ")
            ))
        }
    }
}

/// So many that they can be read.
fn some_of(names: &[String]) -> String {
    const MOST: usize = 10;
    let more = names.len().saturating_sub(MOST);
    let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 {
        shown
    } else {
        format!("{shown}, and {more} more")
    }
}

/// Kind, plural or `kind.group`, without case.
fn is_of_kind(loaded: &Loaded, object: &Object, wanted: &str) -> bool {
    let group = &object.api_version.group;
    let plural = loaded
        .hub
        .kinds
        .kind(group, &object.kind)
        .map(|kind| kind.plural.to_string());
    let names = [Some(object.kind.clone()), plural];
    names.into_iter().flatten().any(|name| {
        name.eq_ignore_ascii_case(wanted) || format!("{name}.{group}").eq_ignore_ascii_case(wanted)
    })
}
