//! Every field of the parameters, with valid and invalid values.

use kube_json::{Value, json};

use super::read::{ClassParams, read_config_map};
use super::*;
use crate::api::crd::Scope;
use crate::api::kinds::{KindInfo, KindTable};
use crate::diagnostic::{Code, Place};
use crate::object::Object;
use crate::tests::object;

/// A table with policies, routes and what is neither.
fn kinds() -> KindTable {
    let mut table = KindTable::built_in();
    let any = table.kind("", "Secret").expect("built in").clone();
    for (kind, plural, scope, has_target, parent_refs) in [
        ("HTTPRoute", "httproutes", Scope::Namespaced, false, true),
        ("Gateway", "gateways", Scope::Namespaced, false, false),
        ("WideRoute", "wideroutes", Scope::Cluster, false, true),
        ("Both", "boths", Scope::Namespaced, true, true),
    ] {
        table.insert(KindInfo {
            group: "g.io".into(),
            kind: kind.into(),
            plural: plural.into(),
            scope,
            has_target,
            parent_refs,
            ..any.clone()
        });
    }
    table
}

fn config_map(text: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p", "namespace": "ns"},
                  "data": {"params": text}}),
    )
}

fn read(text: &str) -> ClassParams {
    read_config_map(&config_map(text), CONTROLLER_NAME, &kinds())
}

/// The only finding, its message and help.
fn only(text: &str) -> (Code, String, String) {
    let read = read(text);
    assert_eq!(read.findings.len(), 1, "{:#?}", read.findings);
    assert!(read.failure.is_some());
    let finding = &read.findings[0];
    assert!(matches!(&finding.place, Place::Embedded { inside, .. } if inside.pointer == "/data/params"));
    (
        finding.code,
        finding.message.to_string(),
        finding.help.clone().unwrap_or_default().into(),
    )
}

#[test]
fn an_empty_mapping_means_the_defaults() {
    let read = read("{}");
    assert_eq!(
        (read.params, read.failure, read.findings),
        (Some(Params::default()), None, vec![])
    );
    let params = Params::default();
    assert_eq!(
        (params.downstream_class.as_str(), params.max_work_bytes),
        ("istio", 204_800)
    );
}

#[test]
fn every_field_is_read_from_json_and_from_yaml() {
    let json = r#"{"downstreamClass": "eg", "rawFeedback": true, "workPer": "Object",
        "updateStrategy": "ServerSideApply", "maxWorkBytes": 512000,
        "policiesToSync": [{"group": "kuadrant.io", "version": "v1", "resource": "authpolicies",
            "feedback": [{"name": "extra", "path": "{.status.x}"}]}]}"#;
    let yaml = "downstreamClass: eg\nrawFeedback: true\nworkPer: Object\nupdateStrategy: ServerSideApply\n\
        maxWorkBytes: 512000\npoliciesToSync:\n- group: kuadrant.io\n  version: v1\n  resource: authpolicies\n  \
        feedback:\n  - name: extra\n    path: .status.x\n";
    let old_name = yaml.replace("policiesToSync", "experimentalPolicySync");
    for text in [json, yaml, &old_name] {
        let read = read(text);
        assert_eq!(read.findings, vec![]);
        let params = read.params.expect("params");
        assert_eq!(params.downstream_class, "eg");
        assert!(params.raw_feedback);
        assert_eq!(
            (params.work_per, params.update_strategy),
            (WorkPer::Object, UpdateStrategy::ServerSideApply)
        );
        assert_eq!(params.max_work_bytes, 512_000);
        let [policy] = params.policies_to_sync.as_slice() else {
            panic!("one")
        };
        assert_eq!(
            (policy.kind.as_str(), policy.feedback[0].path.to_string()),
            ("AuthPolicy", ".status.x".to_owned())
        );
    }
}

#[test]
fn nulls_are_as_good_as_absent() {
    assert_eq!(
        read("{downstreamClass: null, policiesToSync: null, workPer: null}").params,
        Some(Params::default())
    );
}

#[test]
fn an_unknown_field_names_the_nearest() {
    let (code, message, help) = only("policysToSync: []");
    assert_eq!(code, Code::PARAMS_UNKNOWN_FIELD);
    assert!(message.contains("unknown field \"policysToSync\""), "{message}");
    assert_eq!(help, "did you mean `policiesToSync`?");
    let (code, message, _) =
        only("policiesToSync: [{group: kuadrant.io, version: v1, resource: authpolicies, feedbacks: []}]");
    assert_eq!(code, Code::PARAMS_UNKNOWN_FIELD);
    assert!(message.contains("policiesToSync[0].feedbacks"), "{message}");
}

#[test]
fn all_errors_come_at_once_with_their_pointers() {
    let read = read(
        "{downstreamClass: 7, workPer: Cluster, maxWorkBytes: 0, rawFeedback: \"yes\", policiesToSync: [{}]}",
    );
    let all: String = read
        .findings
        .iter()
        .map(|finding| format!("{}\n", finding.message))
        .collect();
    for part in [
        "downstreamClass: Invalid value",
        "workPer: Unsupported value: \"Cluster\": supported values: \"Object\", \"Gateway\", \"Both\"",
        "maxWorkBytes: Invalid value: 0: maxWorkBytes in body should be greater than or equal to 1",
        "rawFeedback: Invalid value",
        "policiesToSync[0].group: Required value",
        "policiesToSync[0].version: Required value",
        "policiesToSync[0].resource: Required value",
    ] {
        assert!(all.contains(part), "{part} not in\n{all}");
    }
    assert_eq!(read.params, Some(Params::default()));
}

#[test]
fn both_names_of_the_list_are_an_error() {
    let entry = "[{group: kuadrant.io, version: v1, resource: authpolicies}]";
    let read = read(&format!(
        "{{policiesToSync: {entry}, experimentalPolicySync: []}}"
    ));
    assert_eq!(read.findings.len(), 1);
    assert!(read.findings[0].message.contains("two names of one field"));
}

#[test]
fn resources_must_exist_serve_the_version_and_be_policies() {
    let entry = |group: &str, version: &str, resource: &str| {
        only(&format!(
            "policiesToSync: [{{group: {group:?}, version: {version}, resource: {resource}}}]"
        ))
    };
    let (code, message, help) = entry("kuadrant.io", "v1", "authpolicy");
    assert_eq!(code, Code::PARAMS_RESOURCE);
    assert!(
        message.contains("there is no resource \"authpolicy\" in group \"kuadrant.io\""),
        "{message}"
    );
    assert_eq!(help, "did you mean `authpolicies`?");
    for (group, resource, expected) in [
        (
            "kuadrant.oi",
            "authpolicies",
            "did you mean the group `kuadrant.io`?",
        ),
        (
            "kuadrant.oi",
            "authpolicy",
            "did you mean `authpolicies` of group `kuadrant.io`?",
        ),
        (
            "acme.io",
            "acmepolicies",
            "add its CustomResourceDefinition to the input, or correct the name",
        ),
    ] {
        assert_eq!(entry(group, "v1", resource).2, expected);
    }
    let (_, message, help) = entry("kuadrant.io", "v1beta1", "authpolicies");
    assert!(
        message.contains("does not serve version \"v1beta1\""),
        "{message}"
    );
    assert_eq!(help, "served: v1");
    let (_, message, _) = entry("", "v1", "secrets");
    assert!(message.contains("Secret is not a policy"), "{message}");
    let (_, _, help) = entry("kuadrant.io/v1", "v1", "authpolicies");
    assert_eq!(help, "write the group without a version: `kuadrant.io`");
    let failure = read("policiesToSync: [{group: x, version: v1, resource: z}]")
        .failure
        .expect("a failure");
    assert_eq!(
        failure.to_string(),
        "Invalid Parameters - there is no resource \"z\" in group \"x\""
    );
}

#[test]
fn a_resource_listed_twice_is_an_error() {
    let entry = "{group: kuadrant.io, version: v1, resource: authpolicies}";
    let (_, message, _) = only(&format!("policiesToSync: [{entry}, {entry}]"));
    assert!(
        message.contains("authpolicies.kuadrant.io is listed twice"),
        "{message}"
    );
}

#[test]
fn feedback_paths_are_checked() {
    let feedback = |feedback: &str| {
        only(&format!(
            "policiesToSync: [{{group: kuadrant.io, version: v1, resource: authpolicies, feedback: {feedback}}}]"
        ))
    };
    let (_, message, help) = feedback("[{name: a, path: status.x}]");
    assert!(message.contains("unrecognized identifier status"), "{message}");
    assert_eq!(help, "start with a dot: .status");
    let (_, message, _) = feedback("[{name: a, path: .x}, {name: a, path: .y}]");
    assert!(
        message.contains("two feedback values are named \"a\""),
        "{message}"
    );
    let (_, message, _) = feedback("[{name: accepted, path: .x}]");
    assert!(message.contains("a value that is always reported"), "{message}");
    let (_, message, _) = feedback("[{name: '', path: .x}]");
    assert!(message.contains("at least 1 chars long"), "{message}");
}

#[test]
fn server_side_apply_is_read_with_what_it_leaves_to_the_spokes() {
    let read = read(
        "updateStrategy: ServerSideApply\nserverSideApply:\n  force: false\n  ignoreFields:\n  \
         - jsonPaths: [.spec.replicas]\n    jsonPointers: [/metadata/annotations/a.b~1c]\n  \
         - condition: OnSpokeChange\n    jqPathExpressions: ['.spec.listeners[] | .port']\n",
    );
    assert_eq!(read.findings, vec![]);
    let apply = read.params.and_then(|params| params.server_side_apply);
    let apply = apply.expect("server-side apply");
    let ignored: Vec<_> = apply.ignore_fields.items().map(|(_, ignored)| ignored).collect();
    let ignored: Vec<_> = ignored
        .iter()
        .map(|ignored| (ignored.condition, ignored.fields().collect::<Vec<_>>()))
        .collect();
    assert_eq!(
        (apply.force, ignored),
        (
            false,
            vec![
                (
                    IgnoreCondition::OnSpokePresent,
                    vec![
                        ("jsonPaths", vec![".spec.replicas"]),
                        ("jsonPointers", vec!["/metadata/annotations/a.b~1c"])
                    ]
                ),
                (
                    IgnoreCondition::OnSpokeChange,
                    vec![("jqPathExpressions", vec![".spec.listeners[] | .port"])]
                ),
            ]
        )
    );
}

#[test]
fn what_the_agent_would_stumble_over_in_server_side_apply_is_refused() {
    let (code, message, help) = only("serverSideApply: {force: true}");
    assert_eq!(code, Code::PARAMS_INVALID);
    assert!(message.contains("but this one is Update"), "{message}");
    assert!(
        help.starts_with("add `updateStrategy: ServerSideApply`"),
        "{help}"
    );
    let ignored = |entries: &str| {
        only(&format!(
            "{{updateStrategy: ServerSideApply, serverSideApply: {{ignoreFields: [{entries}]}}}}"
        ))
    };
    let (_, message, help) =
        ignored("{jsonPaths: [.spec.a]}, {condition: OnSpokePresent, jsonPaths: [.spec.b]}");
    assert!(
        message.contains("two entries have the condition OnSpokePresent"),
        "{message}"
    );
    assert_eq!(help, "merge the two entries");
    let (_, message, _) = ignored("{condition: OnSpokeChange}");
    assert!(message.contains("no field is named"), "{message}");
    for (way, field, wrong, way_out) in [
        (
            "jsonPointers",
            "spec/a",
            "must begin with a slash",
            "write `/spec/a`",
        ),
        (
            "jsonPointers",
            ".spec.a",
            "must begin with a slash",
            "write `/spec/a`",
        ),
        ("jsonPointers", "", "no object to apply", "below `spec`"),
        (
            "jsonPointers",
            "/spec/a~b",
            "followed by 0 or 1",
            "write `~0` for `~`",
        ),
        (
            "jsonPointers",
            "/metadata/name",
            "no object to apply",
            "below `spec`",
        ),
        ("jsonPointers", "/kind", "no object to apply", "below `spec`"),
        ("jsonPaths", "spec", "must begin with a dot", "write `.spec`"),
        (
            "jsonPaths",
            ".spec",
            "no field at the root of the object",
            "`/spec`",
        ),
        ("jsonPaths", ".metadata", "no object to apply", "below `spec`"),
        (
            "jsonPaths",
            ".metadata.namespace",
            "no object to apply",
            "below `spec`",
        ),
        ("jsonPaths", ".spec.a[0]", "after the last dot", "jsonPointers"),
        (
            "jsonPaths",
            ".metadata.annotations.a\\.b",
            "after the last dot",
            "jsonPointers",
        ),
        (
            "jsonPaths",
            "spec.a",
            "unrecognized identifier spec",
            "start with a dot",
        ),
        ("jqPathExpressions", " ", "is empty", ".spec.replicas"),
    ] {
        let entry = kube_json::json!({(way): [field]}).to_string();
        let (_, message, help) = ignored(&entry);
        assert!(message.contains(wrong), "{field}: {message}");
        assert!(help.contains(way_out), "{field}: {help}");
    }
}

/// One entry of a list.
fn entry(group: &str, plural: &str) -> String {
    format!("{{group: {group}, version: v1, resource: {plural}}}")
}

#[test]
fn routes_are_read_with_their_feedback_under_any_name() {
    let read = read(
        "resourcesToSync: [{group: g.io, version: v1, resource: httproutes, \
         feedback: [{name: accepted, path: \".status.parents[0].conditions\"}]}]",
    );
    assert_eq!(read.findings, vec![]);
    let params = read.params.expect("params");
    assert_eq!(params.policies_to_sync, vec![]);
    let route = params.synced_route("g.io", "HTTPRoute").expect("a route");
    assert_eq!(
        (route.resource.as_str(), route.feedback[0].name.as_str()),
        ("httproutes", "accepted")
    );
    assert_eq!(params.synced_route("g.io", "GRPCRoute"), None);
}

#[test]
fn what_is_no_route_is_refused_with_where_it_belongs() {
    let (code, message, help) = only(&format!(
        "resourcesToSync: [{}]",
        entry("kuadrant.io", "authpolicies")
    ));
    assert_eq!(code, Code::PARAMS_RESOURCE);
    assert!(message.contains("AuthPolicy is a policy"), "{message}");
    assert_eq!(help, "list it in `policiesToSync`");
    for (group, plural) in [("\"\"", "secrets"), ("g.io", "gateways")] {
        let (code, message, help) = only(&format!("resourcesToSync: [{}]", entry(group, plural)));
        assert_eq!(code, Code::PARAMS_RESOURCE);
        assert!(message.contains("has no spec.parentRefs"), "{message}");
        assert!(help.contains("add `names: [NAMESPACE/NAME]`"), "{help}");
    }
    let (_, message, _) = only(&format!("resourcesToSync: [{}]", entry("g.io", "wideroutes")));
    assert!(message.contains("cluster-scoped"), "{message}");
    let (_, _, help) = only("resourcesToSync: [{group: g.io, version: v2, resource: httproutes}]");
    assert_eq!(help, "served: v1");
    let (_, message, _) = only(&format!("resourcesToSync: [{}]", entry("g.io", "nothing")));
    assert!(message.contains("there is no resource"), "{message}");
    let (_, _, help) = only(&format!("policiesToSync: [{}]", entry("g.io", "httproutes")));
    assert_eq!(help, "list the route in `resourcesToSync`");
}

#[test]
fn a_resource_is_listed_once_and_in_one_list() {
    let route = entry("g.io", "httproutes");
    let (_, message, _) = only(&format!("resourcesToSync: [{route}, {route}]"));
    assert!(message.contains("is listed twice"), "{message}");
    let both = entry("g.io", "boths");
    let (code, message, help) = only(&format!("policiesToSync: [{both}]\nresourcesToSync: [{both}]"));
    assert_eq!(code, Code::PARAMS_INVALID);
    assert!(
        message.contains("in policiesToSync and in resourcesToSync"),
        "{message}"
    );
    assert!(help.contains("keep the entry"), "{help}");
}

#[test]
fn a_resource_is_retained_whether_or_not_anybody_knows_it_and_never_beside_being_synced() {
    let read = read(
        "retainedResources: [{group: g.io, resource: httproutes}, {group: gone.io, version: v1, resource: things}]",
    );
    assert_eq!(read.findings, vec![]);
    let params = read.params.expect("params");
    assert_eq!(
        params.listed().collect::<Vec<_>>(),
        [("g.io", "httproutes"), ("gone.io", "things")]
    );
    let route = entry("g.io", "httproutes");
    let (_, message, _) = only(&format!("retainedResources: [{route}, {route}]"));
    assert!(message.contains("is listed twice"), "{message}");
    let (code, message, help) = only(&format!(
        "retainedResources: [{route}]\nresourcesToSync: [{route}]"
    ));
    assert_eq!(code, Code::PARAMS_INVALID);
    assert!(
        message.contains("is retained, but it is still synced"),
        "{message}"
    );
    assert!(help.starts_with("remove it here"), "{help}");
    let (code, message, help) = only("retainedResources: [{group: kuadrant.io, resource: authpolicy}]");
    assert_eq!(code, Code::PARAMS_RESOURCE);
    assert!(message.contains("there is no resource"), "{message}");
    assert_eq!(help, "did you mean `authpolicies`?");
    let (_, _, help) = only("retainedResources: [{group: kuadrant.io/v1, resource: authpolicies}]");
    assert_eq!(help, "write the group without a version: `kuadrant.io`");
}

#[test]
fn text_that_is_no_mapping_cannot_be_unmarshalled() {
    for text in ["[]", "x", "7", "", "{", "a: 1\n---\nb: 2\n"] {
        let read = read(text);
        assert!(
            matches!(read.failure, Some(InvalidParameters::Unmarshal(_))),
            "{text:?}: {:?}",
            read.failure
        );
        assert_eq!(read.params, None, "{text:?}");
    }
}

fn class(reference: Value) -> Object {
    object(
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "c"},
                  "spec": {"controllerName": CONTROLLER_NAME, "parametersRef": reference}}),
    )
}

#[test]
fn the_reference_is_checked_in_mgcs_order() {
    let failure = |reference: Value| {
        read_class(&class(reference), |_, _| None, |_, _| None, &kinds())
            .failure
            .map(|failure| failure.to_string())
    };
    assert_eq!(failure(json!(null)), None);
    assert_eq!(
        failure(json!({"group": "", "kind": "Secret", "name": "p"})).as_deref(),
        Some("Invalid Parameters - unable to retrieve parameters for GroupKind Secret")
    );
    assert_eq!(
        failure(json!({"group": "", "kind": "ConfigMap", "name": "p"})).as_deref(),
        Some("Invalid Parameters - Namespace must be defined")
    );
    assert_eq!(
        failure(json!({"group": "", "kind": "ConfigMap", "name": "p", "namespace": "ns"})).as_deref(),
        Some("Invalid Parameters - failed to get object ns/p: configmaps \"p\" not found")
    );
    let map = config_map("{}");
    let reference = json!({"group": "", "kind": "ConfigMap", "name": "p", "namespace": "ns"});
    let read = read_class(&class(reference), |_, _| Some(&map), |_, _| None, &kinds());
    assert_eq!((read.params, read.failure), (Some(Params::default()), None));
}

#[test]
fn binary_data_gets_a_hint() {
    let map = object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p", "namespace": "ns"},
                            "binaryData": {"params": "e30="}}),
    );
    let read = read_config_map(&map, CONTROLLER_NAME, &kinds());
    assert_eq!(read.failure, Some(InvalidParameters::ParamsMissing));
    assert!(
        read.findings[0]
            .help
            .as_deref()
            .is_some_and(|help| help.contains("binaryData"))
    );
}

proptest::proptest! {
    #[test]
    fn no_text_ever_panics(text in r"[a-zA-Z0-9{}\[\]:,'\n -]{0,60}") {
        let _ = read(&text);
    }
}

#[test]
fn a_rollout_is_ocms_and_what_ocm_would_take_otherwise_than_it_reads_is_refused() {
    let kept = |text: &str| {
        let read = read(text);
        assert_eq!(read.findings, [], "{text}");
        let rollout = read.params.and_then(|params| params.rollout);
        rollout.map(|rollout| rollout.strategy.clone())
    };
    assert_eq!(kept("{}"), None);
    assert_eq!(kept("rollout: {}"), Some(json!({"type": "All"})));
    let whole = json!({"type": "ProgressivePerGroup", "progressivePerGroup": {
        "minSuccessTime": "1m30s", "progressDeadline": "2h", "maxFailures": "5%",
        "mandatoryDecisionGroups": [{"groupName": "a"}, {"groupIndex": 2}],
    }});
    assert_eq!(kept(&json!({"rollout": whole}).to_string()), Some(whole));
    for (rollout, expected) in [
        ("{type: Canary}", "rollout.type: Unsupported value: \"Canary\""),
        (
            "{type: All, all: {progressDeadline: 1h30m}}",
            "progressDeadline in body should match",
        ),
        (
            "{type: Progressive, progressive: {maxConcurrency: 0}}",
            "maxConcurrency",
        ),
        (
            "{type: Progressive, progressive: {maxFailures: 101%}}",
            "maxFailures",
        ),
        (
            "{progressive: {maxConcurrency: 2}}",
            "`rollout.progressive` has no effect with `rollout.type: All`",
        ),
        (
            "{type: Progressive, progressive: {mandatoryDecisionGroups: [{groupName: a, groupIndex: 1}]}}",
            "a decision group is named by `groupName` or by `groupIndex`",
        ),
    ] {
        let (code, message, _) = only(&format!("rollout: {rollout}"));
        assert_eq!(code, Code::PARAMS_INVALID);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn messages_are_mgcs_to_the_letter() {
    let text = |failure: InvalidParameters| failure.to_string();
    assert_eq!(
        text(InvalidParameters::UnsupportedKind(GroupKind::new(
            "g.io", "Thing"
        ))),
        "Invalid Parameters - unable to retrieve parameters for GroupKind Thing.g.io"
    );
    assert_eq!(
        text(InvalidParameters::NamespaceMissing),
        "Invalid Parameters - Namespace must be defined"
    );
    assert_eq!(
        text(InvalidParameters::NotFound {
            namespace: "a".into(),
            name: "b".into()
        }),
        "Invalid Parameters - failed to get object a/b: configmaps \"b\" not found"
    );
    assert_eq!(
        text(InvalidParameters::ParamsMissing),
        "Invalid Parameters - Parameters must be defined in \"params\" field of ConfigMap"
    );
    assert_eq!(
        InvalidParameters::accepted_message(CONTROLLER_NAME),
        "Handled by kuadrant.io/mgc-gw-controller"
    );
}
