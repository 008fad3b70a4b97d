//! The rules by which what many clusters report about one object becomes one status: conditions, addresses, listeners, and
//! feedback (docs/systems/mgc.md#status-aggregation).

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;
use kube_json::{Text, Value};

use super::instance::Instance;
use crate::api::gateway::Gateway;
use crate::diagnostic::Findings;
use crate::hub::OurClass;
use crate::outcome::status::{UNKNOWN, handled, no_listeners, programmed_on};
use crate::outcome::{
    Address, FeedbackOnCluster, ListenerOnCluster, ObjectStatus, StatusGroup, UnknownOnCluster, WorkOnCluster,
};
use crate::policy::{Condition, ConditionMessage};
use crate::report::exported::{Feedback, Pool};

/// The reason of a condition that is not True everywhere: reasons of clusters are not aggregated
/// (docs/systems/mgc.md#status-aggregation).
const NOT_EVERYWHERE: &str = "NotTrueOnAllClusters";

/// Address types of Gateway API, and what they are called on the hub
/// (docs/systems/mgc.md#status-aggregation). Others are dropped.
const ADDRESS_TYPES: [(&str, &str); 2] = [
    ("IPAddress", "kuadrant.io/MultiClusterIPAddress"),
    ("Hostname", "kuadrant.io/MultiClusterHostnameAddress"),
];

/// The status of a Gateway (docs/systems/mgc.md#gateway-conditions).
///
/// On the hub, a Gateway's controller sets Accepted and Programmed from the works alone; here every cluster must report
/// them, too (docs/systems/why-we-differ.md#clusters-that-say-nothing).
pub(super) fn gateway_status(
    gateway: &Gateway<'_>,
    class: &OurClass<'_>,
    instances: &[Instance<'_>],
    findings: &mut Findings,
) -> ObjectStatus {
    let on_all = |kind: &str| {
        let says = instances.iter();
        everywhere(
            kind,
            says.map(|instance| (instance.cluster(), instance.against(kind))),
        )
    };
    // One cluster without the work, and what the others say does not count: that is MGC's word for it
    // (docs/systems/mgc.md#gateway-conditions).
    let applied = instances.iter().all(|instance| instance.obstacle().is_none());
    let programmed = if gateway.listeners.is_empty() {
        no_listeners()
    } else if instances.is_empty() || !applied {
        Condition::new("Programmed", "Unknown", "Pending", UNKNOWN.to_owned())
    } else {
        on_all("Programmed").unwrap_or_else(|| {
            let clusters = instances.iter().map(|instance| instance.cluster().to_owned());
            programmed_on(&clusters.collect::<Vec<_>>())
        })
    };
    ObjectStatus {
        conditions: vec![on_all("Accepted").unwrap_or_else(|| handled(class)), programmed],
        addresses: addresses(instances, findings),
        listeners: listeners(gateway, instances, findings),
        unknown: unknown(instances),
        works: works(instances, &["Accepted", "Programmed"]),
        ..ObjectStatus::new(gateway.object.identity().locator(), StatusGroup::Gateway)
    }
}

/// A condition of a policy: True only where every cluster says so. `kept_from` are clusters where a spoke-local
/// policy takes its place, so that nothing is there to report.
pub(super) fn policy_condition(
    kind: &str,
    instances: &[Instance<'_>],
    kept_from: &[(&str, Condition)],
) -> Condition {
    let carried: HashSet<&str> = instances.iter().map(Instance::cluster).collect();
    let others = kept_from.iter().filter(|(cluster, _)| !carried.contains(cluster));
    let others = others.map(|(cluster, local)| (*cluster, Some(local.message.to_string())));
    let instances = instances.iter();
    let says = instances.map(|instance| (instance.cluster(), instance.against(kind)));
    let mut says: Vec<(&str, Option<String>)> = says.chain(others).collect();
    says.sort_by_key(|(cluster, _)| *cluster);
    let mut clusters: Vec<&str> = says.iter().map(|(cluster, _)| *cluster).collect();
    clusters.dedup();
    let message = format!("{kind} on clusters [{}]", clusters.join(" "));
    everywhere(kind, says.into_iter()).unwrap_or_else(|| Condition::new(kind, "True", kind, message))
}

/// The condition that is not True because some clusters object; `None` when none does
/// (docs/systems/mgc.md#status-aggregation).
fn everywhere<'s>(kind: &str, says: impl Iterator<Item = (&'s str, Option<String>)>) -> Option<Condition> {
    let messages = Pool::<str>::default();
    let against: Vec<(Text, Arc<str>)> = says
        .filter_map(|(cluster, against)| Some((cluster.into(), messages.share(against?.as_str()))))
        .collect();
    (!against.is_empty()).then(|| {
        let message = ConditionMessage::OfClusters(against);
        Condition::new(kind, "False", NOT_EVERYWHERE, message)
    })
}

/// The addresses on all clusters: by cluster, in each in their order
/// (docs/systems/mgc.md#status-aggregation).
pub(super) fn addresses(instances: &[Instance<'_>], findings: &mut Findings) -> Vec<Address> {
    let mut all = Vec::new();
    for instance in instances {
        let Some(feedback) = instance.feedback() else {
            continue;
        };
        let reported = match feedback.get("addresses") {
            Some(raw) => raw_addresses(feedback.text("addresses")).unwrap_or_else(|why| {
                if let Some(exported) = instance.work.exported {
                    let message = format!("the addresses on {} cannot be read: {why}", instance.cluster());
                    findings.push(raw.wrong(&exported.object, message));
                }
                Vec::new()
            }),
            // Agents without the gate RawFeedbackJsonString send no list (docs/systems/ocm-work.md#feedback): then the
            // first address is asked for by itself.
            None => {
                let text = |name: &str| feedback.text(name).map(str::to_owned);
                let value = text("addressValue").into_iter();
                value.map(|value| (text("addressType"), value)).collect()
            }
        };
        for (reported_type, value) in reported {
            // Gateway API: an address without a type is an IPAddress.
            let reported_type = reported_type.as_deref().unwrap_or("IPAddress");
            let known = ADDRESS_TYPES.iter().find(|(name, _)| *name == reported_type);
            if let (Some((_, on_hub)), false) = (known, value.is_empty()) {
                all.push(Address {
                    r#type: on_hub,
                    value: format!("{}/{value}", instance.cluster()),
                });
            }
        }
    }
    all
}

/// Types and values of `.status.addresses` as raw JSON.
fn raw_addresses(raw: Option<&str>) -> Result<Vec<(Option<String>, String)>, String> {
    let raw = raw.ok_or("it is not JSON")?;
    let value: Value = raw
        .parse()
        .map_err(|error: serde_json::Error| error.to_string())?;
    let items = value.as_array().ok_or("it is not a list")?.iter();
    let text = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let addresses = items.filter_map(|item| Some((text(item, "type"), text(item, "value")?)));
    Ok(addresses.collect())
}

/// The listeners on all clusters: by listener in the Gateway's order, then by cluster; those without a report are
/// left out (docs/systems/mgc.md#status-aggregation).
pub(super) fn listeners(
    gateway: &Gateway<'_>,
    instances: &[Instance<'_>],
    findings: &mut Findings,
) -> Vec<ListenerOnCluster> {
    let mut all = Vec::new();
    for listener in &gateway.listeners {
        let name = format!("listener{}AttachedRoutes", listener.name);
        for instance in instances {
            let Some(value) = instance.reported(&name) else {
                continue;
            };
            match (value.integer(), instance.work.exported) {
                (Some(attached_routes), _) => all.push(ListenerOnCluster {
                    name: format!("{}.{}", instance.cluster(), listener.name),
                    attached_routes,
                }),
                (None, Some(exported)) => {
                    let (name, cluster) = (&listener.name, instance.cluster());
                    let message =
                        format!("the attached routes of listener `{name}` on {cluster} are not a number");
                    findings.push(value.wrong(&exported.object, message));
                }
                (None, None) => {}
            }
        }
    }
    all
}

/// The works with the instances; `wanted` are the conditions that a status needs.
pub(super) fn works(instances: &[Instance<'_>], wanted: &[&str]) -> Vec<WorkOnCluster> {
    let instances = instances.iter();
    instances.map(|instance| instance.carrier(wanted)).collect()
}

/// The values that clusters could not read, by cluster.
pub(super) fn unknown(instances: &[Instance<'_>]) -> Vec<UnknownOnCluster> {
    instances.iter().flat_map(Instance::unknown).collect()
}

/// The values that the parameters request, by name in the order of the first cluster's rules, then by cluster; without
/// `ours`, the names that every rule of the kind has. Values that a cluster does not report are left out.
pub(super) fn feedback(instances: &[Instance<'_>], ours: &[String]) -> Vec<FeedbackOnCluster> {
    let mut all: IndexMap<&str, Vec<FeedbackOnCluster>> = IndexMap::new();
    for instance in instances {
        let asked = instance.asked().iter();
        for asked in asked.filter(|asked| !ours.contains(&asked.name)) {
            let value = instance.reported(&asked.name).and_then(Feedback::value);
            let entry = value.map(|value| FeedbackOnCluster {
                name: asked.name.clone(),
                cluster: instance.cluster().to_owned(),
                value,
                shipped: asked.shipped.clone(),
            });
            all.entry(&asked.name).or_default().extend(entry);
        }
    }
    all.into_values().flatten().collect()
}
