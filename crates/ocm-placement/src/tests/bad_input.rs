//! Bad input gives an error with its place, or the condition that OCM would set, and never a crash.

use super::*;

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
