//! What spokewright says about the objects of a case, as its JSON reports have it.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;

use kube_json::{Value, json};
use spokewright::diagnostic::{Findings, Severity};
use spokewright::pipeline::{Analysis, Request, load};
use spokewright::report::PolicyReport;

/// What is said about the objects of one case.
pub(crate) struct Answers {
    /// `policies -o json`.
    pub(crate) policies: Value,
    /// The codes and messages of errors.
    pub(crate) errors: Vec<String>,
}

impl Answers {
    /// Evaluates objects as a hub of their own.
    pub(crate) fn about(objects: &[Value]) -> Result<Self, Box<dyn Error>> {
        let hub = tempfile::tempdir()?;
        let documents: Vec<String> = objects.iter().map(kube_yaml::write_document).collect();
        fs::write(hub.path().join("hub.yaml"), documents.join("---\n"))?;
        let loaded = load(&Request {
            paths: vec![hub.path().to_owned()],
            ..Request::default()
        });
        let mut findings = Findings::new();
        let analysis = Analysis::new(&loaded, &mut findings);
        let (received, spokes) = analysis.received(None);
        let view = analysis.policies(received, &spokes, &mut findings);
        let policies = kube_json::to_value(PolicyReport::for_text(&view))?;
        loaded.finish(&mut findings);
        let errors = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| format!("{}: {}", finding.code, finding.message))
            .collect();
        Ok(Self { policies, errors })
    }

    /// What is said of one policy; null for one that nothing is said of.
    pub(crate) fn policy(&self, policy: &Value) -> &Value {
        let wanted = locator(policy);
        let all = self.policies["policies"].as_array().into_iter().flatten();
        all.into_iter()
            .find(|entry| entry["policy"] == wanted.as_str())
            .unwrap_or(&Value::Null)
    }
}

/// Compares which routes of a golden file are attached to which of their parents, and how many to each listener.
pub(crate) fn compare_routes(
    tally: &mut super::Tally,
    case: &str,
    objects: &[Value],
    golden: &[Value],
) -> Result<(), Box<dyn Error>> {
    let (objects, golden) = (today(objects)?, today(golden)?);
    let ours = attached(&objects)?;
    for object in &golden {
        for parent in list(&object["status"]["parents"]) {
            let reference = &parent["parentRef"];
            let kind = reference["kind"].as_str().unwrap_or("Gateway");
            if !OWNERS.contains(&kind) {
                continue;
            }
            let owner = owner(kind, reference, object);
            let section = reference["sectionName"].as_str();
            let means = |listener: &str| {
                let of_owner = listener
                    .strip_prefix(&owner)
                    .and_then(|rest| rest.strip_prefix('#'));
                of_owner.is_some_and(|name| section.is_none_or(|section| section == name))
            };
            let route = locator(object);
            let mine = ours
                .iter()
                .any(|(attached, listener)| *attached == route && means(listener));
            let accepted = condition(&parent["conditions"], "Accepted").starts_with("True");
            let is = |attached: bool| if attached { "attached" } else { "not attached" };
            let to = section.map_or_else(|| owner.clone(), |section| format!("{owner}#{section}"));
            let about = format!("{route} to {to}");
            tally.say("routes", (case, &about), &is(accepted), &is(mine));
        }
        for listener in list(&object["status"]["listeners"]) {
            let (Some(name), Some(count)) = (listener["name"].as_str(), listener["attachedRoutes"].as_u64())
            else {
                continue;
            };
            let at = format!("{}#{name}", locator(object));
            let mine = ours.iter().filter(|(_, listener)| *listener == at).count();
            let mine = u64::try_from(mine)?;
            tally.say("attachedRoutes of listeners", (case, &at), &count, &mine);
        }
    }
    Ok(())
}

/// What has listeners.
const OWNERS: [&str; 2] = ["Gateway", "ListenerSet"];

/// Objects with XListenerSets as what these became: the policies that are put on listeners cannot target them.
fn today(objects: &[Value]) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = serde_json::to_string(objects)?
        .replace(
            "gateway.networking.x-k8s.io/v1alpha1",
            "gateway.networking.k8s.io/v1",
        )
        .replace("gateway.networking.x-k8s.io", "gateway.networking.k8s.io")
        .replace("XListenerSet", "ListenerSet");
    Ok(serde_json::from_str(&text)?)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The locator of the parent that a route names.
fn owner(kind: &str, reference: &Value, route: &Value) -> String {
    let own = route["metadata"]["namespace"].as_str().unwrap_or_default();
    let namespace = reference["namespace"].as_str().unwrap_or(own);
    let group = reference["group"].as_str().unwrap_or("gateway.networking.k8s.io");
    located(
        group,
        kind,
        namespace,
        reference["name"].as_str().unwrap_or_default(),
    )
}

/// The listeners that each route is attached to, as pairs of locators: a policy that holds for every kind of route is put on
/// each listener, and its paths are read.
fn attached(objects: &[Value]) -> Result<BTreeSet<(String, String)>, Box<dyn Error>> {
    const ROUTES_AND_MORE: [&str; 7] = [
        "GatewayClass",
        "HTTPRoute",
        "GRPCRoute",
        "TLSRoute",
        "TCPRoute",
        "UDPRoute",
        "Namespace",
    ];
    let of_kind =
        |object: &&Value, kinds: &[&str]| object["kind"].as_str().is_some_and(|kind| kinds.contains(&kind));
    let owners = objects.iter().filter(|object| of_kind(object, &OWNERS));
    let others = objects.iter().filter(|object| of_kind(object, &ROUTES_AND_MORE));
    let mut hub: Vec<Value> = owners.clone().chain(others).cloned().collect();
    for owner in owners {
        for (index, listener) in list(&owner["spec"]["listeners"]).enumerate() {
            let (kind, name) = (
                owner["kind"].as_str().unwrap_or_default(),
                &owner["metadata"]["name"],
            );
            let group = owner["apiVersion"]
                .as_str()
                .and_then(|version| version.split('/').next());
            hub.push(json!({
                "apiVersion": "gateway.envoyproxy.io/v1alpha1",
                "kind": "BackendTrafficPolicy",
                "metadata": {
                    "name": format!("{}-{}-{index}", kind.to_lowercase(), name.as_str().unwrap_or_default()),
                    "namespace": owner["metadata"]["namespace"],
                },
                "spec": {
                    "targetRefs": [{"group": group, "kind": kind, "name": name, "sectionName": listener["name"]}],
                    "tcpKeepalive": {"probes": 3},
                },
            }));
        }
    }
    let answers = Answers::about(&hub)?;
    let pairs = list(&answers.policies["effective"]).filter_map(|entry| {
        let path = path_of(entry);
        // The listener of a set follows its Gateway.
        let listener = path.iter().rfind(|step| {
            let kind = step.split('.').next().unwrap_or_default();
            step.contains('#') && OWNERS.iter().any(|owner| owner.eq_ignore_ascii_case(kind))
        })?;
        let route = path
            .iter()
            .find(|step| step.contains("route.gateway.") && !step.contains('#'))?;
        Some(((*route).to_owned(), (*listener).to_owned()))
    });
    Ok(pairs.collect())
}

/// How reports name an object: `httproute.gateway.networking.k8s.io:default/web`.
pub(crate) fn locator(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let version = text(&object["apiVersion"]);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    located(
        group,
        &text(&object["kind"]),
        &text(&object["metadata"]["namespace"]),
        &text(&object["metadata"]["name"]),
    )
}

/// The same of its parts.
pub(crate) fn located(group: &str, kind: &str, namespace: &str, name: &str) -> String {
    let kind = kind.to_lowercase();
    let of = if group.is_empty() {
        String::new()
    } else {
        format!(".{group}")
    };
    let inside = if namespace.is_empty() {
        String::new()
    } else {
        format!("{namespace}/")
    };
    format!("{kind}{of}:{inside}{name}")
}

/// The status and reason of a condition: `True Accepted`; `none` where there is none.
pub(crate) fn condition(conditions: &Value, kind: &str) -> String {
    let all = conditions.as_array().into_iter().flatten();
    let found = all.into_iter().find(|condition| condition["type"] == kind);
    found.map_or_else(
        || "none".to_owned(),
        |condition| {
            let text = |field: &str| condition[field].as_str().unwrap_or_default();
            format!("{} {}", text("status"), text("reason"))
        },
    )
}

/// An ancestor by the parts that are said: `Gateway default/eg#http`. A namespace that is left out is the policy's.
pub(crate) fn ancestor(status: &Value, policy: &Value) -> String {
    let reference = &status["ancestorRef"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let namespace = reference["namespace"].as_str();
    let namespace = namespace.map_or_else(|| text(&policy["metadata"]["namespace"]), str::to_owned);
    let section = reference["sectionName"]
        .as_str()
        .map_or_else(String::new, |name| format!("#{name}"));
    let kind = reference["kind"].as_str().unwrap_or("Gateway");
    format!("{kind} {namespace}/{}{section}", text(&reference["name"]))
}

/// Compares what two say in `status.ancestors` of a policy; `conditions` are compared at each ancestor that both have.
pub(crate) fn compare_ancestors(
    tally: &mut super::Tally,
    case: &str,
    (policy, golden, ours): (&Value, &Value, &Value),
    conditions: &[(&'static str, &str)],
) {
    let about = locator(policy);
    let list = |status: &Value| -> Vec<Value> { status["ancestors"].as_array().cloned().unwrap_or_default() };
    let (golden, ours) = (list(golden), list(ours));
    let names =
        |list: &[Value]| -> BTreeSet<String> { list.iter().map(|status| ancestor(status, policy)).collect() };
    let (theirs, mine) = (names(&golden), names(&ours));
    let there = |set: &BTreeSet<String>, name: &String| if set.contains(name) { "yes" } else { "no" };
    for name in theirs.union(&mine) {
        let kind = name.split(' ').next().unwrap_or_default();
        let section = if name.contains('#') { " with section" } else { "" };
        let form = |is: &str| format!("{is} ({kind}{section})");
        let say = (form(there(&theirs, name)), form(there(&mine, name)));
        tally.say(
            "ancestors of policies",
            (case, &format!("{about} at {name}")),
            &say.0,
            &say.1,
        );
    }
    for (statement, kind) in conditions {
        for status in &golden {
            let name = ancestor(status, policy);
            let Some(mine) = ours.iter().find(|mine| ancestor(mine, policy) == name) else {
                continue;
            };
            let (golden, ours) = (
                condition(&status["conditions"], kind),
                condition(&mine["conditions"], kind),
            );
            tally.say(statement, (case, &format!("{about} at {name}")), &golden, &ours);
        }
    }
}

/// The steps of the path of an entry of the effective policies.
pub(crate) fn path_of(entry: &Value) -> Vec<&str> {
    let steps = entry["path"].as_array().into_iter().flatten();
    steps.filter_map(Value::as_str).collect()
}
