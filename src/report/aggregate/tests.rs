//! Each test covers one rule of docs/systems/mgc.md#status-aggregation.

use proptest::prelude::*;

use kube_json::{Value, json};

use super::instance::{Fault, Instance, PlacedWork, PlannedWork, judged};
use super::{addresses, gateway_status, listeners, policy_condition};
use crate::api::condition::Condition;
use crate::api::gateway::Gateway;
use crate::diagnostic::{Findings, Place};
use crate::hub::{Hub, Objects, Ours, Table};
use crate::object::Object;
use crate::outcome::{ListenerOnCluster, WorkState};
use crate::render::{ManifestSummary, WorkId};
use crate::report::exported::{ExportedWork, Shared};
use crate::report::stored_work::SpecDigest;

fn gateway_object(listeners: &[&str]) -> Object {
    let listeners: Vec<Value> = listeners.iter().map(|name| json!({"name": name})).collect();
    Object::alone(json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": "web", "namespace": "infra"},
        "spec": {"gatewayClassName": "ours", "listeners": listeners},
    }))
}

/// A work for `infra/web` whose condition Applied is `applied`, with feedback about the Gateway.
fn work(cluster: &str, applied: &Value, values: &Value) -> Object {
    Object::alone(json!({
        "apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
        "metadata": {"name": "gateway-infra-web", "namespace": cluster},
        "status": {
            "conditions": applied,
            "resourceStatus": {"manifests": [{
                "resourceMeta": {
                    "ordinal": 1, "group": "gateway.networking.k8s.io", "kind": "Gateway", "version": "v1",
                    "resource": "gateways", "namespace": "kuadrant-infra", "name": "web",
                },
                "statusFeedback": {"values": values},
            }]},
        },
    }))
}

fn yes() -> Value {
    json!([{"type": "Applied", "status": "True", "reason": "AppliedManifestWorkComplete"}])
}

fn text(name: &str, value: &str) -> Value {
    json!({"name": name, "fieldValue": {"type": "String", "string": value}})
}

fn raw(name: &str, value: &Value) -> Value {
    json!({"name": name, "fieldValue": {"type": "JsonRaw", "jsonRaw": value.to_string()}})
}

fn integer(name: &str, value: i64) -> Value {
    json!({"name": name, "fieldValue": {"type": "Integer", "integer": value}})
}

fn planned() -> ManifestSummary {
    ManifestSummary {
        kind: "Gateway".to_owned(),
        group: "gateway.networking.k8s.io".to_owned(),
        resource: "gateways".to_owned(),
        namespace: "kuadrant-infra".to_owned(),
        name: "web".to_owned(),
        origins: Vec::new(),
    }
}

/// Runs `check` with the instances of a Gateway on clusters whose works are given; `None`: does not.
fn with<T>(works: &[(&str, Option<Object>)], check: impl FnOnce(&[Instance<'_>]) -> T) -> (T, Findings) {
    let mut findings = Findings::new();
    let planned = planned();
    let exported: Vec<Option<ExportedWork>> = works
        .iter()
        .map(|(_, work)| {
            work.as_ref()
                .map(|work| ExportedWork::read(work, &Shared::default(), &mut findings))
        })
        .collect();
    let mut clusters: Table<WorkId, &str> = Table::from_rows(Vec::new());
    let placed: Vec<PlacedWork<'_>> = works
        .iter()
        .zip(&exported)
        .map(|((cluster, _), exported)| PlacedWork {
            cluster,
            id: clusters.push(cluster),
            name: "gateway-infra-web",
            planned: None,
            exported: exported.as_ref(),
            faults: judged(exported.as_ref(), None),
        })
        .collect();
    let instances: Vec<Instance<'_>> = placed
        .iter()
        .map(|work| Instance {
            work,
            position: 0,
            manifest: work.exported.and_then(|exported| exported.manifest(&planned)),
        })
        .collect();
    (check(&instances), findings)
}

fn addresses_of(works: &[(&str, Value)]) -> Vec<String> {
    let works: Vec<(&str, Option<Object>)> = works
        .iter()
        .map(|(cluster, values)| (*cluster, Some(work(cluster, &yes(), values))))
        .collect();
    let mut wrong = Findings::new();
    let (addresses, _) = with(&works, |instances| addresses(instances, &mut wrong));
    assert!(wrong.is_empty(), "{wrong:?}");
    addresses
        .into_iter()
        .map(|address| format!("{} {}", address.r#type, address.value))
        .collect()
}

#[test]
fn one_two_or_no_addresses_come_by_cluster_in_their_order() {
    let two = json!([{"type": "IPAddress", "value": "203.0.113.2"}, {"type": "Hostname", "value": "a.example.com"}]);
    let one = json!([{"type": "IPAddress", "value": "203.0.113.1"}]);
    assert_eq!(
        addresses_of(&[
            ("c1", json!([raw("addresses", &two)])),
            ("c2", json!([raw("addresses", &one)])),
            ("c3", json!([raw("addresses", &json!([]))])),
            ("c4", json!([])),
        ]),
        [
            "kuadrant.io/MultiClusterIPAddress c1/203.0.113.2",
            "kuadrant.io/MultiClusterHostnameAddress c1/a.example.com",
            "kuadrant.io/MultiClusterIPAddress c2/203.0.113.1",
        ]
    );
}

#[test]
fn a_named_address_is_dropped() {
    let named = json!([{"type": "NamedAddress", "value": "lb"}, {"type": "example.com/x", "value": "y"}]);
    assert!(addresses_of(&[("c1", json!([raw("addresses", &named)]))]).is_empty());
}

#[test]
fn scalar_feedback_stands_for_the_first_address() {
    assert_eq!(
        addresses_of(&[
            (
                "c1",
                json!([
                    text("addressType", "Hostname"),
                    text("addressValue", "a.example.com")
                ])
            ),
            ("c2", json!([text("addressvalue", "203.0.113.1")])),
            ("c3", json!([text("addressType", "IPAddress")])),
        ]),
        [
            "kuadrant.io/MultiClusterHostnameAddress c1/a.example.com",
            "kuadrant.io/MultiClusterIPAddress c2/203.0.113.1",
        ],
        "an address without a type is an IPAddress, a type without a value is no address"
    );
}

#[test]
fn addresses_that_cannot_be_read_are_a_finding_at_the_value_and_no_reason_to_stop() {
    let good = json!([{"type": "IPAddress", "value": "203.0.113.1"}]);
    for bad in ["[{\"type\": ", "{}", "7"] {
        let value = json!([
            text("accepted", "True"),
            {"name": "addresses", "fieldValue": {"type": "JsonRaw", "jsonRaw": bad}},
        ]);
        let works = [
            ("c1", Some(work("c1", &yes(), &value))),
            ("c2", Some(work("c2", &yes(), &json!([raw("addresses", &good)])))),
        ];
        let mut wrong = Findings::new();
        let (addresses, _) = with(&works, |instances| addresses(instances, &mut wrong));
        assert_eq!(addresses.len(), 1, "{bad}");
        let places: Vec<&Place> = wrong.iter().map(|finding| &finding.place).collect();
        let pointer = "/status/resourceStatus/manifests/0/statusFeedback/values/1/fieldValue";
        assert_eq!(places, [&Object::alone(json!({})).place(pointer)], "{bad}");
    }
}

fn listeners_of(names: &[&str], works: &[(&str, Value)]) -> (Vec<(String, i64)>, usize) {
    let works: Vec<(&str, Option<Object>)> = works
        .iter()
        .map(|(cluster, values)| (*cluster, Some(work(cluster, &yes(), values))))
        .collect();
    let object = gateway_object(names);
    let mut wrong = Findings::new();
    let gateway = Gateway::read(&object, &mut wrong).expect("a Gateway");
    let (listeners, _) = with(&works, |instances| listeners(&gateway, instances, &mut wrong));
    let pairs = listeners.into_iter().map(
        |ListenerOnCluster {
             name,
             attached_routes,
         }| (name, attached_routes),
    );
    (pairs.collect(), wrong.iter().count())
}

#[test]
fn listeners_come_by_listener_then_by_cluster_and_what_nobody_reports_is_left_out() {
    let (found, _) = listeners_of(
        &["web", "api"],
        &[
            (
                "c1",
                json!([
                    integer("listenerapiAttachedRoutes", 1),
                    integer("listenerwebAttachedRoutes", 0)
                ]),
            ),
            ("c2", json!([integer("listenerwebAttachedRoutes", 2)])),
        ],
    );
    let expected = [("c1.web", 0), ("c2.web", 2), ("c1.api", 1)];
    assert_eq!(found, expected.map(|(name, routes)| (name.to_owned(), routes)));
}

#[test]
fn feedback_names_are_compared_without_case() {
    let (found, _) = listeners_of(
        &["api"],
        &[("c1", json!([integer("listenerapiattachedroutes", 1)]))],
    );
    assert_eq!(found, [("c1.api".to_owned(), 1)]);
}

#[test]
fn attached_routes_that_are_no_number_are_a_finding() {
    let (found, wrong) = listeners_of(
        &["api"],
        &[("c1", json!([text("listenerapiAttachedRoutes", "many")]))],
    );
    assert_eq!((found.len(), wrong), (0, 1));
    let (found, wrong) = listeners_of(
        &["api"],
        &[("c1", json!([raw("listenerapiAttachedRoutes", &json!(3))]))],
    );
    assert_eq!(
        (found, wrong),
        (vec![("c1.api".to_owned(), 3)], 0),
        "raw JSON of a number is one"
    );
}

/// Accepted and Programmed of the Gateway, as `status reason message`.
fn conditions(listeners: &[&str], works: &[(&str, Option<Object>)]) -> [String; 2] {
    let object = gateway_object(listeners);
    let class = Object::alone(json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "ours"},
        "spec": {
            "controllerName": "kuadrant.io/mgc-gw-controller",
            "parametersRef": {"group": "", "kind": "ConfigMap", "namespace": "infra", "name": "missing"},
        },
    }));
    let hub = Hub::of(Objects::new(vec![class]));
    let ours = Ours::new(&hub, "kuadrant.io/mgc-gw-controller");
    let class = ours.classes.get("ours").expect("a class");
    let mut findings = Findings::new();
    let gateway = Gateway::read(&object, &mut findings).expect("a Gateway");
    let (status, _) = with(works, |instances| {
        gateway_status(&gateway, class, instances, &mut findings)
    });
    let words = |kind: &str| {
        let found = status.conditions.iter().find(|condition| condition.kind == kind);
        let Condition {
            status,
            reason,
            message,
            ..
        } = found.expect("the condition");
        format!("{status} {reason} {message}")
    };
    [words("Accepted"), words("Programmed")]
}

const HANDLED: &str = "True Accepted Handled by kuadrant.io/mgc-gw-controller";
const UNKNOWN: &str = "Unknown Pending current state of the gateway is unknown";

fn applied(cluster: &str) -> (&str, Option<Object>) {
    let values = json!([text("accepted", "True"), text("programmed", "True")]);
    (cluster, Some(work(cluster, &yes(), &values)))
}

#[test]
fn a_gateway_is_programmed_when_every_placed_work_is_applied() {
    assert_eq!(
        conditions(&["api"], &[applied("c1"), applied("c2")]),
        [HANDLED, "True Programmed gateway placed on clusters [c1 c2]"]
    );
}

#[test]
fn a_gateway_that_is_placed_nowhere_is_accepted_and_unknown() {
    assert_eq!(conditions(&["api"], &[]), [HANDLED, UNKNOWN]);
}

#[test]
fn a_gateway_without_listeners_is_invalid() {
    assert_eq!(
        conditions(&[], &[]),
        [
            HANDLED,
            "False Invalid gateway failed to be placed on all clusters []"
        ]
    );
}

#[test]
fn a_work_that_is_not_applied_is_named_and_makes_programmed_unknown() {
    let refused = json!([{"type": "Applied", "status": "False", "reason": "Failed", "message": "no CRD"}]);
    let only_reason = json!([{"type": "Applied", "status": "False", "reason": "Failed"}]);
    let mut deleting = work("c2", &yes(), &json!([]));
    deleting.value["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    for (second, because) in [
        (None, "work `gateway-infra-web` is missing"),
        (
            Some(work("c2", &refused, &json!([text("accepted", "True")]))),
            "work `gateway-infra-web` is not applied: no CRD",
        ),
        (
            Some(work("c2", &only_reason, &json!([]))),
            "work `gateway-infra-web` is not applied: Failed",
        ),
        (
            Some(work("c2", &json!([]), &json!([]))),
            "work `gateway-infra-web` is not applied yet",
        ),
        (Some(deleting), "work `gateway-infra-web` is being deleted"),
    ] {
        assert_eq!(
            conditions(&["api"], &[applied("c1"), ("c2", second)]),
            [
                format!("False NotTrueOnAllClusters c2 {because}"),
                UNKNOWN.to_owned()
            ]
        );
    }
}

#[test]
fn a_cluster_that_reports_otherwise_is_believed() {
    let values = json!([text("accepted", "True"), text("programmed", "False")]);
    let unhappy = ("c2", Some(work("c2", &yes(), &values)));
    assert_eq!(
        conditions(&["api"], &[applied("c1"), unhappy]),
        [HANDLED, "False NotTrueOnAllClusters c2 Programmed is False"]
    );
}

#[test]
fn a_cluster_that_reports_nothing_keeps_a_gateway_from_being_true() {
    let silent = ("c2", Some(work("c2", &yes(), &json!([]))));
    assert_eq!(
        conditions(&["api"], &[applied("c1"), silent]),
        [
            "False NotTrueOnAllClusters c2 has not reported Accepted",
            "False NotTrueOnAllClusters c2 has not reported Programmed"
        ]
    );
}

#[test]
fn an_agent_that_could_not_read_a_value_says_why_nothing_is_reported() {
    let mut unread = work("c1", &yes(), &json!([text("accepted", "True")]));
    manifest(&mut unread)["conditions"] = json!([
        {"type": "Applied", "status": "True"},
        {"type": "StatusFeedbackSynced", "status": "False", "message": "the type of addresses is not found"},
    ]);
    assert_eq!(
        conditions(&["api"], &[("c1", Some(unread))]),
        [
            HANDLED,
            "False NotTrueOnAllClusters c1 has not reported Programmed: the type of addresses is not found"
        ]
    );
}

/// The status of the only manifest of a work.
fn manifest(work: &mut Object) -> &mut Value {
    let manifest = work.value.pointer_mut("/status/resourceStatus/manifests/0");
    manifest.expect("a manifest")
}

#[test]
fn a_manifest_counts_by_its_own_condition_whatever_its_work_says() {
    let refused = json!([{"type": "Applied", "status": "False", "message": "1 of 3 failed"}]);
    let values = json!([text("accepted", "True"), text("programmed", "True")]);
    let mut fine = work("c1", &refused, &values);
    manifest(&mut fine)["conditions"] = json!([{"type": "Applied", "status": "True"}]);
    let mut failed = work("c2", &yes(), &values);
    manifest(&mut failed)["conditions"] =
        json!([{"type": "Applied", "status": "False", "message": "no CRD"}]);
    assert_eq!(
        conditions(&["api"], &[("c1", Some(fine.clone()))]),
        [HANDLED, "True Programmed gateway placed on clusters [c1]"],
        "another manifest of the work failed"
    );
    assert_eq!(
        conditions(&["api"], &[("c1", Some(fine)), ("c2", Some(failed.clone()))]),
        ["False NotTrueOnAllClusters c2 not applied: no CRD", UNKNOWN]
    );
    let mut findings = Findings::new();
    let read = ExportedWork::read(&failed, &Shared::default(), &mut findings);
    let faults = judged(Some(&read), None);
    let words: Vec<(WorkState, &str, &str)> = faults
        .iter()
        .flat_map(|fault| fault.manifests.iter().map(|manifest| (fault.state, manifest)))
        .map(|(state, manifest)| (state, manifest.name.as_str(), manifest.message.as_str()))
        .collect();
    assert_eq!(
        words,
        [(WorkState::NotApplied, "web", "no CRD")],
        "a work with a manifest that failed is not applied"
    );
}

#[test]
fn a_work_whose_newest_spec_the_agent_has_not_looked_at_is_outdated() {
    let values = json!([text("accepted", "True"), text("programmed", "True")]);
    for (generation, observed, outdated) in [
        (json!(3), json!(2), true),
        (json!(3), json!(3), false),
        (json!(3), Value::Null, false),
        (Value::Null, json!(2), false),
        (json!("3"), json!([2]), false),
    ] {
        let applied = json!([{"type": "Applied", "status": "True", "observedGeneration": observed}]);
        let mut behind = work("c1", &applied, &values);
        behind.value["metadata"]["generation"] = generation.clone();
        let found = conditions(&["api"], &[("c1", Some(behind))]);
        let because =
            "work `gateway-infra-web` is outdated: its agent has seen generation 2, but it has generation 3";
        if outdated {
            assert_eq!(
                found,
                [
                    format!("False NotTrueOnAllClusters c1 {because}"),
                    UNKNOWN.to_owned()
                ]
            );
        } else {
            assert_eq!(found[0], HANDLED, "{generation} {observed}");
        }
    }
}

#[test]
fn what_an_outdated_work_reports_is_shown_and_makes_nothing_true() {
    let behind = json!([{"type": "Applied", "status": "True", "observedGeneration": 1}]);
    let values = json!([text("enforced", "True"), text("addressValue", "203.0.113.1")]);
    let mut behind = work("c1", &behind, &values);
    behind.value["metadata"]["generation"] = json!(2);
    let works = [("c1", Some(behind))];
    let mut wrong = Findings::new();
    let (shown, _) = with(&works, |instances| addresses(instances, &mut wrong));
    assert_eq!(shown.len(), 1);
    assert!(enforced(&works, &[]).starts_with("False NotTrueOnAllClusters c1 work"));
}

/// What an exported spec has otherwise than the plan's.
fn difference(planned: &Value, exported: &Value) -> Option<String> {
    SpecDigest::from_spec(planned).difference(&SpecDigest::from_spec(exported))
}

fn spec() -> Value {
    let policy = |name: &str| {
        json!({
            "apiVersion": "g.io/v1", "kind": "Policy", "metadata": {"name": name, "namespace": "a"},
            "spec": {"limit": 1},
        })
    };
    json!({
        "deleteOption": {"propagationPolicy": "SelectivelyOrphan"},
        "manifestConfigs": [{
            "resourceIdentifier": {"group": "g.io", "resource": "policies", "namespace": "a", "name": "one"},
            "feedbackRules": [{"type": "JSONPaths", "jsonPaths": [
                {"name": "a", "path": ".status.a"}, {"name": "b", "path": ".status.b"},
            ]}],
        }],
        "workload": {"manifests": [policy("one"), policy("two")]},
    })
}

#[test]
fn what_an_api_server_adds_or_rewrites_makes_no_work_outdated() {
    assert_eq!(difference(&spec(), &spec()), None);
    let planned = PlannedWork::of_spec(&spec(), &[]);
    let without = work("c1", &yes(), &json!([]));
    let without = ExportedWork::read(&without, &Shared::default(), &mut Findings::new());
    assert_eq!(planned.difference(&without), None, "not exported");
    let edits: [fn(&mut Value); 6] = [
        // Server-side apply appends what is new, wherever it is in what is applied.
        |spec| {
            let paths = spec["manifestConfigs"][0]["feedbackRules"][0]["jsonPaths"].as_array_mut();
            paths.expect("paths").reverse();
        },
        |spec| spec["manifestConfigs"][0]["feedbackScrapeType"] = json!("Poll"),
        |spec| spec["workload"]["manifests"][0]["spec"]["limit"] = json!(1.0),
        |spec| spec["workload"]["manifests"][0]["metadata"]["creationTimestamp"] = Value::Null,
        |spec| spec["workload"]["manifests"][0]["metadata"]["labels"] = json!({}),
        // Of somebody who says as whom the agent applies; we never write it, so applying again leaves it.
        |spec| spec["executor"] = json!({"subject": {"type": "ServiceAccount"}}),
    ];
    for edit in edits {
        let mut exported = spec();
        edit(&mut exported);
        assert_eq!(difference(&spec(), &exported), None, "{exported}");
    }
    let mut planned = spec();
    planned["workload"]["manifests"][0]["metadata"]["annotations"] = json!({});
    assert_eq!(difference(&planned, &spec()), None);
}

#[test]
fn what_an_outdated_work_has_otherwise_is_named() {
    type Edit = fn(&mut Value);
    let cases: [(Edit, &str); 9] = [
        (
            |spec| spec["workload"]["manifests"][1]["spec"]["limit"] = json!(2),
            "Policy a/two differs",
        ),
        (
            |spec| spec["workload"]["manifests"][0]["spec"]["more"] = json!(null),
            "Policy a/one differs",
        ),
        (
            |spec| spec["workload"]["manifests"][0]["metadata"]["labels"] = json!({"a": "b"}),
            "Policy a/one differs",
        ),
        (
            |spec| spec["workload"]["manifests"][0]["metadata"]["name"] = json!("zero"),
            "Policy a/one is not in it, Policy a/zero is still in it",
        ),
        (
            |spec| {
                let manifests = spec["workload"]["manifests"].as_array_mut().expect("manifests");
                manifests.reverse();
            },
            "its manifests are in a different order",
        ),
        (
            |spec| spec["workload"] = json!("none"),
            "Policy a/one is not in it, Policy a/two is not in it",
        ),
        (
            |spec| spec["manifestConfigs"][0]["feedbackScrapeType"] = json!("Watch"),
            "`manifestConfigs` differs",
        ),
        (
            |spec| {
                spec["manifestConfigs"][0]["feedbackRules"][0]["jsonPaths"][0]["path"] = json!(".status.z");
            },
            "`manifestConfigs` differs",
        ),
        (|spec| spec["deleteOption"] = json!([]), "`deleteOption` differs"),
    ];
    for (edit, expected) in cases {
        let mut exported = spec();
        edit(&mut exported);
        assert_eq!(difference(&spec(), &exported).as_deref(), Some(expected));
    }
    let several = difference(&spec(), &json!({}));
    let expected =
        "Policy a/one is not in it, Policy a/two is not in it, `manifestConfigs` differs, and 1 more";
    assert_eq!(several.as_deref(), Some(expected));
}

#[test]
fn feedback_counts_only_where_the_work_is_applied() {
    let values = json!([
        text("addressValue", "203.0.113.1"),
        integer("listenerapiAttachedRoutes", 1)
    ]);
    let stuck = [("c1", Some(work("c1", &json!([]), &values)))];
    let mut wrong = Findings::new();
    let object = gateway_object(&["api"]);
    let gateway = Gateway::read(&object, &mut wrong).expect("a Gateway");
    let (nothing, _) = with(&stuck, |instances| {
        addresses(instances, &mut wrong).is_empty() && listeners(&gateway, instances, &mut wrong).is_empty()
    });
    assert!(nothing);
}

/// A policy's condition Enforced, as `status reason message`.
fn enforced(works: &[(&str, Option<Object>)], kept_from: &[(&str, Condition)]) -> String {
    let (condition, _) = with(works, |instances| {
        policy_condition("Enforced", instances, kept_from)
    });
    format!("{} {} {}", condition.status, condition.reason, condition.message)
}

fn reporting<'c>(cluster: &'c str, values: &Value) -> (&'c str, Option<Object>) {
    (cluster, Some(work(cluster, &yes(), values)))
}

#[test]
fn a_policy_is_enforced_when_every_cluster_says_so() {
    let yes = json!([text("enforced", "True"), text("enforcedReason", "Enforced")]);
    let boolean = json!([{"name": "Enforced", "fieldValue": {"type": "Boolean", "boolean": true}}]);
    assert_eq!(
        enforced(&[reporting("c1", &yes), reporting("c2", &boolean)], &[]),
        "True Enforced Enforced on clusters [c1 c2]"
    );
}

#[test]
fn those_that_are_not_true_are_listed_with_message_or_reason() {
    let yes = json!([text("enforced", "True")]);
    let reason = json!([text("enforced", "False"), text("enforcedReason", "Overridden")]);
    let message = json!([
        text("enforced", "False"),
        text("enforcedReason", "Unknown"),
        text("enforcedMessage", "no route yet"),
    ]);
    let bare = json!([text("enforced", "Unknown")]);
    assert_eq!(
        enforced(
            &[
                reporting("c1", &reason),
                reporting("c2", &yes),
                reporting("c3", &message),
                reporting("c4", &bare),
                reporting("c5", &json!([])),
                ("c6", None),
            ],
            &[]
        ),
        "False NotTrueOnAllClusters c1 Overridden; c3 no route yet; c4 Enforced is Unknown; \
         c5 has not reported Enforced; c6 work `gateway-infra-web` is missing"
    );
}

#[test]
fn a_cluster_whose_own_policy_is_in_the_way_counts_in_its_place() {
    let local = Condition {
        kind: "Enforced".to_owned(),
        status: "False",
        reason: "Overridden".to_owned(),
        message: "RateLimitPolicy is overridden by [own/local]".to_owned().into(),
    };
    let yes = json!([text("enforced", "True")]);
    assert_eq!(
        enforced(&[reporting("c1", &yes), reporting("c3", &yes)], &[("c2", local)]),
        "False NotTrueOnAllClusters c2 RateLimitPolicy is overridden by [own/local]"
    );
}

#[test]
fn a_manifest_is_found_by_its_kind_where_the_agent_did_not_know_the_resource() {
    let mut unmapped = work("c1", &yes(), &json!([text("enforced", "True")]));
    let meta = unmapped
        .value
        .pointer_mut("/status/resourceStatus/manifests/0/resourceMeta");
    meta.expect("a resource")["resource"] = json!("");
    assert!(enforced(&[("c1", Some(unmapped))], &[]).starts_with("True"));
}

#[test]
fn a_status_of_the_wrong_shape_is_a_finding_and_the_work_is_not_applied() {
    for (status, findings) in [
        (json!({"conditions": {"type": "Applied"}}), 1),
        (json!({"resourceStatus": {"manifests": "none"}}), 1),
        (
            json!({"resourceStatus": {"manifests": [{"statusFeedback": {"values": 7}}]}}),
            1,
        ),
        (json!(7), 0),
        (Value::Null, 0),
    ] {
        let mut broken = work("c1", &json!([]), &json!([]));
        broken.value["status"] = status.clone();
        let mut wrong = Findings::new();
        let read = ExportedWork::read(&broken, &Shared::default(), &mut wrong);
        assert_eq!(
            judged(Some(&read), None),
            vec![Fault::whole(WorkState::NotApplied, None)],
            "{status}"
        );
        assert_eq!(wrong.iter().count(), findings, "{status}");
    }
}

proptest! {
    /// Whatever the clusters say: True exactly where all say True, and who does not is named, in order.
    #[test]
    fn a_condition_is_true_only_where_it_is_true_on_every_cluster(
        clusters in prop::collection::vec((any::<bool>(), prop::option::of("True|False|Unknown|")), 1..6),
    ) {
        let names: Vec<String> = (0..clusters.len()).map(|number| format!("c{number}")).collect();
        let works: Vec<(&str, Option<Object>)> = names
            .iter()
            .zip(&clusters)
            .map(|(name, (is_applied, enforced))| {
                let values: Vec<Value> = enforced.iter().map(|status| text("enforced", status)).collect();
                let condition = if *is_applied { yes() } else { json!([]) };
                (name.as_str(), Some(work(name, &condition, &json!(values))))
            })
            .collect();
        let (condition, _) = with(&works, |instances| policy_condition("Enforced", instances, &[]));
        let agrees = |(is_applied, enforced): &(bool, Option<String>)| {
            *is_applied && enforced.as_deref() == Some("True")
        };
        prop_assert_eq!(condition.is_true(), clusters.iter().all(agrees));
        if !condition.is_true() {
            let against: Vec<&String> = names
                .iter()
                .zip(&clusters)
                .filter(|(_, says)| !agrees(says))
                .map(|(name, _)| name)
                .collect();
            let message = condition.message.to_string();
            let named: Vec<&str> = message
                .split("; ")
                .filter_map(|entry| entry.split_once(' ').map(|(cluster, _)| cluster))
                .collect();
            prop_assert_eq!(named, against);
        }
    }
}
