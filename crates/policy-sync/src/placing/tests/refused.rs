//! An object that an API server would refuse gets a finding at its field, and is left out of the evaluation.

use kube_json::Value;
use proptest::prelude::*;

use super::*;
use crate::diagnostic::Place;

/// What reading the objects says.
fn complaints(yaml: &str) -> Vec<Finding> {
    let mut findings = Findings::new();
    inventory(&hub(yaml), &mut findings);
    findings.iter().cloned().collect()
}

/// Pointer and text of the only complaint about these objects.
fn refused(yaml: &str) -> (String, String) {
    let findings = complaints(yaml);
    let [finding] = findings.as_slice() else {
        panic!("one finding, not {findings:?}");
    };
    assert!(finding.help.is_some(), "{finding:?}");
    let Place::Field { pointer, .. } = &finding.place else {
        panic!("a field, not {finding:?}");
    };
    (pointer.to_string(), finding.message.to_string())
}

fn refused_spec(spec: &str) -> (String, String) {
    let hub = hub(&placement("p", spec));
    let placements = inventory(&hub, &mut Findings::new()).placements().count();
    assert_eq!(placements, 0, "what is refused is left out");
    refused(&placement("p", spec))
}

#[test]
fn a_weight_out_of_range_is_refused() {
    for weight in [11, -11] {
        let spec = format!(
            "{{prioritizerPolicy: {{configurations: [{{scoreCoordinate: {{builtIn: Steady}}, weight: {weight}}}]}}}}"
        );
        assert_eq!(
            refused_spec(&spec).0,
            "/spec/prioritizerPolicy/configurations/0/weight"
        );
    }
}

#[test]
fn a_malformed_quantity_is_refused() {
    for quantity in ["'4 cores'", "1K", "1.5", "{}", "'1e1.5'"] {
        let yaml = cluster("a", &format!("status: {{allocatable: {{cpu: {quantity}}}}}"));
        assert_eq!(refused(&yaml).0, "/status/allocatable/cpu", "{quantity}");
    }
}

#[test]
fn percentages_out_of_range_are_refused() {
    for text in ["0%", "101%", "-5%", "1.5%", "all"] {
        let spec = format!("{{decisionStrategy: {{groupStrategy: {{clustersPerDecisionGroup: '{text}'}}}}}}");
        assert_eq!(
            refused_spec(&spec).0,
            "/spec/decisionStrategy/groupStrategy/clustersPerDecisionGroup",
            "{text}"
        );
    }
}

#[test]
fn a_negative_number_of_clusters_is_refused() {
    assert_eq!(refused_spec("{numberOfClusters: -1}").0, "/spec/numberOfClusters");
}

#[test]
fn every_refusal_names_its_field() {
    for (spec, pointer) in [
        ("{numberOfClusters: two}", "/spec/numberOfClusters"),
        ("{numberOfClusters: 1.5}", "/spec/numberOfClusters"),
        ("{numberOfClusters: 99999999999}", "/spec/numberOfClusters"),
        ("{clusterSets: s}", "/spec/clusterSets"),
        ("{clusterSets: [1]}", "/spec/clusterSets/0"),
        ("{clusterSets: [null]}", "/spec/clusterSets/0"),
        ("{predicate: []}", "/spec/predicate"),
        ("{predicates: [null]}", "/spec/predicates/0"),
        (
            "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {a: true}}}}]}",
            "/spec/predicates/0/requiredClusterSelector/labelSelector/matchLabels/a",
        ),
        (
            "{predicates: [{requiredClusterSelector: {claimSelector: {matchLabels: {a: b}}}}]}",
            "/spec/predicates/0/requiredClusterSelector/claimSelector/matchLabels",
        ),
        (
            "{predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: a}]}}}]}",
            "/spec/predicates/0/requiredClusterSelector/labelSelector/matchExpressions/0/operator",
        ),
        (
            "{tolerations: [{effect: NoExecute}]}",
            "/spec/tolerations/0/effect",
        ),
        ("{tolerations: [{key: 'no good'}]}", "/spec/tolerations/0/key"),
        (
            "{prioritizerPolicy: {configurations: [{weight: 1}]}}",
            "/spec/prioritizerPolicy/configurations/0/scoreCoordinate",
        ),
        (
            "{prioritizerPolicy: {configurations: [{scoreCoordinate: {type: Other}}]}}",
            "/spec/prioritizerPolicy/configurations/0/scoreCoordinate/type",
        ),
        (
            "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: g1}]}}}",
            "/spec/decisionStrategy/groupStrategy/decisionGroups/0/groupClusterSelector",
        ),
        (
            "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: g, groupClusterSelector: {}}]}}}",
            "/spec/decisionStrategy/groupStrategy/decisionGroups/0/groupName",
        ),
        ("{sortBy: Age}", "/spec/sortBy"),
        ("null", "/spec"),
    ] {
        assert_eq!(refused_spec(spec).0, pointer, "{spec}");
    }
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
fn two_scores_of_one_name_are_refused() {
    let yaml = "
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {name: r, namespace: c1}
status: {scores: [{name: x, value: 1}, {name: x, value: 2}]}
";
    assert_eq!(refused(yaml).0, "/status/scores/1/name");
}

#[test]
fn a_misspelled_field_gets_the_right_one_as_help() {
    let findings = complaints(&placement("p", "{numberOfCluster: 1}"));
    let help = findings.first().and_then(|finding| finding.help.as_deref());
    assert_eq!(help, Some("did you mean `numberOfClusters`?"));
    assert_eq!(
        findings.first().map(|finding| finding.code.name()),
        Some("object/unknown-field")
    );
}

#[test]
fn a_version_that_is_not_served_is_refused() {
    let yaml = placement("p", "{}").replace("v1beta1", "v1alpha1");
    assert_eq!(refused(&yaml).0, "/apiVersion");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn a_placement_is_evaluated_exactly_when_nothing_is_said_of_what_it_holds(
        field in proptest::sample::select(vec![
            "numberOfClusters", "clusterSets", "predicates", "tolerations", "prioritizerPolicy", "decisionStrategy", "spreadPolicy",
        ]),
        value in value(),
    ) {
        let mut one = kube_json::json!({
            "apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement",
            "metadata": {"name": "p", "namespace": "n"}, "spec": {},
        });
        one["spec"][field] = value;
        let hub = hub_of(vec![one]);
        let object = hub.objects.iter().next().expect("the Placement");
        let mut findings = Findings::new();
        let inventory = inventory(&hub, &mut findings);
        let refused = crate::api::ocm::validate(object).len();
        let said = findings.iter().count();
        prop_assert!(said == refused || refused == 0, "what the schema refuses is refused once");
        prop_assert_eq!(inventory.placements().count(), usize::from(said == 0));
    }
}

/// Any value, made of words that the schema knows.
fn value() -> impl Strategy<Value = Value> {
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
