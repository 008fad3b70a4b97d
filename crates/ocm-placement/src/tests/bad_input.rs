//! Bad input gives an error with its place, or the condition that OCM would set, and never a crash.

use super::*;

/// Message of the misconfiguration of a Placement with this spec.
fn misconfigured(spec: &str) -> String {
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat());
    assert_eq!(report.scheduler_status, SchedulerStatus::Misconfigured, "{spec}");
    report.scheduler_message.unwrap_or_default()
}

/// Pointer and problem of the only complaint about these objects, which are left out.
fn refused(yaml: &str) -> (String, FieldProblem) {
    let complaints = complaints(yaml);
    let [complaint] = complaints.as_slice() else {
        panic!("one complaint, not {complaints:?}");
    };
    assert!(report(yaml).placements.is_empty(), "what is refused is left out");
    (complaint.at.pointer.clone(), complaint.problem.clone())
}

fn refused_spec(spec: &str) -> (String, FieldProblem) {
    refused(&placement("p", spec))
}

#[test]
fn an_unknown_prioritizer_is_misconfigured_unless_its_weight_is_zero() {
    let spec = |weight: i64| {
        format!(
            "{{prioritizerPolicy: {{mode: Exact, configurations: [{{scoreCoordinate: {{builtIn: Spread}}, weight: {weight}}}]}}}}"
        )
    };
    assert_eq!(misconfigured(&spec(1)), "incorrect builtin prioritizer: Spread");
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", &spec(0))].concat());
    assert_eq!(report.scheduler_status, SchedulerStatus::Success);
}

#[test]
fn a_missing_add_on_is_misconfigured() {
    let spec = "{prioritizerPolicy: {configurations: [{scoreCoordinate: {type: AddOn}}]}}";
    assert_eq!(misconfigured(spec), "addOn should not be empty");
}

#[test]
fn an_unknown_mode_is_misconfigured() {
    assert_eq!(
        misconfigured("{prioritizerPolicy: {mode: Fair}}"),
        "incorrect prioritizer policy mode: Fair"
    );
}

#[test]
fn a_malformed_quantity_is_refused() {
    for quantity in ["'4 cores'", "1K", "1.5", "{}", "'1e1.5'"] {
        let yaml = cluster("a", &format!("status: {{allocatable: {{cpu: {quantity}}}}}"));
        assert_eq!(refused(&yaml).0, "/status/allocatable/cpu", "{quantity}");
    }
}

#[test]
fn a_toleration_without_key_needs_exists() {
    assert_eq!(
        misconfigured("{tolerations: [{value: x}]}"),
        "If the key is empty, operator must be Exists."
    );
    assert_eq!(
        misconfigured("{tolerations: [{key: k, operator: Exists, value: x}]}"),
        "If the operator is Exists, the value should be empty."
    );
}

#[test]
fn a_number_in_quotes_passes_the_crd_and_is_misconfigured_without_objects() {
    let spec = "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: '5'}}}";
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat());
    assert_eq!(
        report.sync_error.as_deref(),
        Some("5 invalid type: string is not a percentage")
    );
    assert!(report.placement_decisions.is_empty());
    assert_eq!(
        (report.number_of_selected_clusters, reason(&report)),
        (1, "AllDecisionsScheduled")
    );
}

#[test]
fn a_negative_number_of_clusters_is_refused() {
    let refused = refused_spec("{numberOfClusters: -1}");
    assert_eq!(
        refused,
        ("/spec/numberOfClusters".to_owned(), FieldProblem::Negative)
    );
}

#[test]
fn a_binding_to_a_set_that_does_not_exist_binds_nothing() {
    let yaml = BOUND.replace("metadata: {name: s}", "metadata: {name: t}");
    assert_eq!(
        reason(&first(
            &[&yaml, &clusters(&["a"]) as &str, &placement("p", "{}")].concat()
        )),
        "NoManagedClusterSetBindings"
    );
}

#[test]
fn of_two_clusters_of_one_name_the_first_counts() {
    let twins = [
        cluster("a", ""),
        cluster("a", "spec: {taints: [{key: gpu, effect: NoSelect}]}"),
    ]
    .concat();
    let yaml = [BOUND, &twins, &placement("p", "{}")].concat();
    assert_eq!(selected(&first(&yaml)), ["a"]);
    let mut reversed = objects(&yaml);
    reversed.reverse();
    let again = with_evaluation(&reversed, SNAPSHOT, |evaluation| evaluation.report());
    assert_eq!(again.placements.first().map(selected), Some(vec!["a"]));
}

#[test]
fn every_refusal_names_its_field() {
    for (spec, pointer) in [
        ("{numberOfClusters: two}", "/spec/numberOfClusters"),
        ("{numberOfClusters: 1.5}", "/spec/numberOfClusters"),
        (
            "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {a: true}}}}]}",
            "/spec/predicates/0/requiredClusterSelector/labelSelector/matchLabels/a",
        ),
        (
            "{prioritizerPolicy: {configurations: [{weight: 1}]}}",
            "/spec/prioritizerPolicy/configurations/0/scoreCoordinate",
        ),
    ] {
        assert_eq!(refused_spec(spec).0, pointer, "{spec}");
    }
    let taint = cluster("a", "spec: {taints: [{key: gpu}]}");
    assert_eq!(
        refused(&taint),
        ("/spec/taints/0/effect".to_owned(), FieldProblem::Required)
    );
    let label = cluster("a", "").replace("name: a}}", "name: null}}");
    assert_eq!(refused(&label).0, "/metadata/labels/name");
    let time = cluster(
        "a",
        "spec: {taints: [{key: gpu, effect: NoSelect, timeAdded: soon}]}",
    );
    assert_eq!(
        refused(&time),
        ("/spec/taints/0/timeAdded".to_owned(), FieldProblem::Time)
    );
}

#[test]
fn a_refusal_reads_as_a_sentence() {
    let objects = [
        placement("p", "{numberOfClusters: 1.5}"),
        cluster("a", "status: {allocatable: {cpu: '1e1.5'}}"),
        cluster(
            "b",
            "spec: {taints: [{key: gpu, effect: NoSelect, timeAdded: soon}]}",
        ),
    ];
    let texts: Vec<String> = complaints(&objects.concat())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        texts,
        [
            "spec.numberOfClusters must be an integer".to_owned(),
            format!(
                "status.allocatable.cpu is not a quantity: {}",
                apimachinery::QuantityError::Suffix
            ),
            "spec.taints[0].timeAdded is not an RFC 3339 time".to_owned(),
        ]
    );
}

#[test]
fn nulls_that_an_api_server_drops_are_no_error() {
    assert!(
        complaints(&placement(
            "p",
            "{numberOfClusters: null, predicates: null, tolerations: []}"
        ))
        .is_empty()
    );
}

#[test]
fn a_placement_whose_name_is_no_label_value_cannot_be_written() {
    let name = "p".repeat(64);
    let yaml = [BOUND, &clusters(&["a"]), &placement(&name, "{}")].concat();
    let problems = with_evaluation(&objects(&yaml), SNAPSHOT, |evaluation| evaluation.unwritable());
    assert_eq!(
        problems.first().map(|problem| &problem.kind),
        Some(&ProblemKind::NameIsNoLabelValue)
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
    #[test]
    fn any_value_anywhere_in_a_spec_is_refused_or_evaluated(
        field in proptest::sample::select(vec![
            "numberOfClusters", "clusterSets", "predicates", "tolerations", "prioritizerPolicy", "decisionStrategy", "spreadPolicy",
        ]),
        value in value(),
    ) {
        let mut all = objects(&[BOUND, &clusters(&["a", "b"]), &decision("p", 1, &["a"])].concat());
        let mut one = kube_json::json!({
            "apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement",
            "metadata": {"name": "p", "namespace": "n"}, "spec": {},
        });
        one["spec"][field] = value;
        all.push(object(99, one));
        let report = with_evaluation(&all, SNAPSHOT, |evaluation| evaluation.report());
        proptest::prop_assert!(report.placements.len() <= 1);
    }
}

/// Any value, made of words that the schema knows.
fn value() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let word = proptest::sample::select(vec![
        "",
        "In",
        "Exists",
        "a",
        "AddOn",
        "BuiltIn",
        "Steady",
        "50%",
        "-1",
        "NoSelect",
        "Exact",
        "é",
        "true",
        "managedCluster.x",
    ]);
    let key = proptest::sample::select(vec![
        "requiredClusterSelector",
        "labelSelector",
        "claimSelector",
        "celSelector",
        "celExpressions",
        "matchLabels",
        "matchExpressions",
        "key",
        "operator",
        "values",
        "value",
        "effect",
        "tolerationSeconds",
        "mode",
        "configurations",
        "scoreCoordinate",
        "type",
        "builtIn",
        "addOn",
        "resourceName",
        "scoreName",
        "weight",
        "groupStrategy",
        "decisionGroups",
        "clustersPerDecisionGroup",
        "groupName",
        "groupClusterSelector",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-20i64..20).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn an_inventory_lists_what_it_has_and_what_was_refused() {
    let yaml = [
        BOUND,
        &clusters(&["b", "a"]),
        &placement("q", "{}"),
        &placement("p", "{}"),
        &placement("broken", "{numberOfClusters: many}"),
    ]
    .concat();
    let objects = objects(&yaml);
    let (mut inventory, complaints) = read(&objects);
    assert_eq!(complaints.len(), 1);
    assert_eq!(
        inventory.placements().collect::<Vec<_>>(),
        [("n", "p"), ("n", "q")]
    );
    assert_eq!(inventory.cluster_names().collect::<Vec<_>>(), ["a", "b"]);
    assert!(inventory.has_placement("n", "p"));
    assert!(!inventory.has_placement("n", "broken") && !inventory.has_placement("other", "p"));
    let refused = |inventory: &Inventory<'_>| -> Vec<String> {
        inventory.rejected().iter().map(ToString::to_string).collect()
    };
    assert_eq!(refused(&inventory), ["Placement n/broken"]);
    let earlier = apimachinery::Identity::new(GROUP, "ManagedCluster", None, "Z");
    inventory.reject([earlier]);
    assert_eq!(refused(&inventory), ["ManagedCluster Z", "Placement n/broken"]);
}
