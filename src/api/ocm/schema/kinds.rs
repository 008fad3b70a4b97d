//! The schemas of the six kinds, as tables.
//!
//! Owns: field names, shapes, what is required, which version is served. Must not know: how they are checked.

use super::text::Format;
use super::{List, Member, Shape, list, optional, required};
use crate::api::ocm::GROUP;
use crate::object::Object;

/// The served version of the object's kind, and the members of its root; `None` for other kinds.
pub(super) fn of(object: &Object) -> Option<(&'static str, &'static [Member])> {
    if object.api_version.group != GROUP {
        return None;
    }
    Some(match object.kind.as_str() {
        "ManagedCluster" => ("v1", CLUSTER),
        "ManagedClusterSet" => ("v1beta2", CLUSTER_SET),
        "ManagedClusterSetBinding" => ("v1beta2", BINDING),
        "Placement" => ("v1beta1", PLACEMENT),
        "PlacementDecision" => ("v1beta1", DECISION),
        "AddOnPlacementScore" => ("v1alpha1", SCORE),
        _ => return None,
    })
}

const INT32: Shape = Shape::Integer(i32::MIN as i64, i32::MAX as i64);
const INT64: Shape = Shape::Integer(i64::MIN, i64::MAX);
const TEXT: Shape = Shape::Text(Format::Any);
const TIME: Shape = Shape::Text(Format::Time);
const QUALIFIED_NAME: Shape = Shape::Text(Format::QualifiedName);
const TEXTS: Shape = Shape::List(&list(TEXT));
const EFFECT: Shape = Shape::Text(Format::OneOf(&["NoSelect", "PreferNoSelect", "NoSelectIfNew"]));

const METADATA: Shape = Shape::Mapping(&[
    optional("annotations", Shape::Table(&TEXT)),
    optional("creationTimestamp", TIME),
    optional("deletionGracePeriodSeconds", INT64),
    optional("deletionTimestamp", TIME),
    optional("finalizers", TEXTS),
    optional("generateName", TEXT),
    optional("generation", INT64),
    optional("labels", Shape::Labels),
    optional("managedFields", Shape::Any),
    optional("name", TEXT),
    optional("namespace", TEXT),
    optional("ownerReferences", Shape::Any),
    optional("resourceVersion", TEXT),
    optional("selfLink", TEXT),
    optional("uid", TEXT),
]);

const CONDITION: Shape = Shape::Mapping(&[
    required("lastTransitionTime", TIME),
    required("message", Shape::Text(Format::Length(0, 32_768))),
    optional("observedGeneration", Shape::Integer(0, i64::MAX)),
    required("reason", Shape::Text(Format::Reason)),
    required(
        "status",
        Shape::Text(Format::OneOf(&["True", "False", "Unknown"])),
    ),
    required("type", QUALIFIED_NAME),
]);

/// One condition of each type.
const CONDITIONS: Shape = Shape::List(&List {
    item: CONDITION,
    keys: &["type"],
    longest: usize::MAX,
});

/// Conditions of sets and bindings: not declared a map of types.
const LOOSE_CONDITIONS: Shape = Shape::List(&list(CONDITION));

const MATCH_EXPRESSIONS: Shape = Shape::List(&list(Shape::Mapping(&[
    required("key", TEXT),
    required("operator", TEXT),
    optional("values", TEXTS),
])));

const LABEL_SELECTOR: Shape = Shape::Mapping(&[
    optional("matchExpressions", MATCH_EXPRESSIONS),
    optional("matchLabels", Shape::Table(&TEXT)),
]);

const CLAIM_SELECTOR: Shape = Shape::Mapping(&[optional("matchExpressions", MATCH_EXPRESSIONS)]);

const CLUSTER: &[Member] = &[
    optional("apiVersion", TEXT),
    optional("kind", TEXT),
    optional("metadata", METADATA),
    optional(
        "spec",
        Shape::Mapping(&[
            optional("hubAcceptsClient", Shape::Boolean),
            optional("leaseDurationSeconds", INT32),
            optional(
                "managedClusterClientConfigs",
                Shape::List(&list(Shape::Mapping(&[
                    optional("caBundle", Shape::Text(Format::Base64)),
                    required("url", TEXT),
                ]))),
            ),
            optional(
                "taints",
                Shape::List(&list(Shape::Mapping(&[
                    required("effect", EFFECT),
                    required("key", QUALIFIED_NAME),
                    optional("timeAdded", TIME),
                    optional("value", Shape::Text(Format::Length(0, 1024))),
                ]))),
            ),
        ]),
    ),
    optional(
        "status",
        Shape::Mapping(&[
            optional("allocatable", Shape::Table(&Shape::Quantity)),
            optional("capacity", Shape::Table(&Shape::Quantity)),
            optional(
                "clusterClaims",
                Shape::List(&list(Shape::Mapping(&[
                    optional("name", Shape::Text(Format::Length(1, 253))),
                    optional("value", Shape::Text(Format::Length(1, 1024))),
                ]))),
            ),
            optional("conditions", CONDITIONS),
            optional(
                "managedNamespaces",
                Shape::List(&List {
                    item: Shape::Mapping(&[
                        required("clusterSet", TEXT),
                        optional("conditions", CONDITIONS),
                        required("name", Shape::Text(Format::DnsLabel)),
                    ]),
                    keys: &["clusterSet", "name"],
                    longest: usize::MAX,
                }),
            ),
            optional("version", Shape::Mapping(&[optional("kubernetes", TEXT)])),
        ]),
    ),
];

const CLUSTER_SET: &[Member] = &[
    optional("apiVersion", TEXT),
    optional("kind", TEXT),
    optional("metadata", METADATA),
    optional(
        "spec",
        Shape::Mapping(&[
            optional(
                "clusterSelector",
                Shape::Mapping(&[
                    optional("labelSelector", LABEL_SELECTOR),
                    optional(
                        "selectorType",
                        Shape::Text(Format::OneOf(&["ExclusiveClusterSetLabel", "LabelSelector"])),
                    ),
                ]),
            ),
            optional(
                "managedNamespaces",
                Shape::List(&List {
                    item: Shape::Mapping(&[required("name", Shape::Text(Format::DnsLabel))]),
                    keys: &["name"],
                    longest: usize::MAX,
                }),
            ),
        ]),
    ),
    optional(
        "status",
        Shape::Mapping(&[optional("conditions", LOOSE_CONDITIONS)]),
    ),
];

const BINDING: &[Member] = &[
    optional("apiVersion", TEXT),
    optional("kind", TEXT),
    optional("metadata", METADATA),
    optional(
        "spec",
        Shape::Mapping(&[optional("clusterSet", Shape::Text(Format::Length(1, usize::MAX)))]),
    ),
    optional(
        "status",
        Shape::Mapping(&[optional("conditions", LOOSE_CONDITIONS)]),
    ),
];

const PLACEMENT: &[Member] = &[
    optional("apiVersion", TEXT),
    optional("kind", TEXT),
    optional("metadata", METADATA),
    required(
        "spec",
        Shape::Mapping(&[
            optional("clusterSets", TEXTS),
            optional(
                "decisionStrategy",
                Shape::Mapping(&[optional("groupStrategy", GROUP_STRATEGY)]),
            ),
            // Negative numbers pass the CRD and make OCM's scheduler panic: refuse them here.
            optional("numberOfClusters", Shape::Integer(0, i32::MAX as i64)),
            optional(
                "predicates",
                Shape::List(&list(Shape::Mapping(&[optional(
                    "requiredClusterSelector",
                    Shape::Mapping(&[
                        optional(
                            "celSelector",
                            Shape::Mapping(&[optional("celExpressions", TEXTS)]),
                        ),
                        optional("claimSelector", CLAIM_SELECTOR),
                        optional("labelSelector", LABEL_SELECTOR),
                    ]),
                )]))),
            ),
            optional("prioritizerPolicy", PRIORITIZER_POLICY),
            optional("scoreRateLimit", Shape::Text(Format::Duration)),
            optional("sortBy", Shape::Text(Format::OneOf(&["ClusterName", "Score"]))),
            optional(
                "spreadPolicy",
                Shape::Mapping(&[optional(
                    "spreadConstraints",
                    Shape::List(&List {
                        item: SPREAD_CONSTRAINT,
                        keys: &[],
                        longest: 8,
                    }),
                )]),
            ),
            optional(
                "tolerations",
                Shape::List(&list(Shape::Mapping(&[
                    optional("effect", EFFECT),
                    optional("key", QUALIFIED_NAME),
                    optional("operator", TEXT),
                    optional("tolerationSeconds", INT64),
                    optional("value", Shape::Text(Format::Length(0, 1024))),
                ]))),
            ),
        ]),
    ),
    optional(
        "status",
        Shape::Mapping(&[
            optional("conditions", CONDITIONS),
            optional(
                "decisionGroups",
                Shape::List(&list(Shape::Mapping(&[
                    optional("clusterCount", INT32),
                    optional("decisionGroupIndex", INT32),
                    optional("decisionGroupName", TEXT),
                    optional("decisions", TEXTS),
                ]))),
            ),
            optional("lastScoreUpdateTime", TIME),
            optional("numberOfSelectedClusters", INT32),
        ]),
    ),
];

const GROUP_STRATEGY: Shape = Shape::Mapping(&[
    optional(
        "clustersPerDecisionGroup",
        Shape::IntegerOrText(Format::Percentage),
    ),
    optional(
        "decisionGroups",
        Shape::List(&list(Shape::Mapping(&[
            required(
                "groupClusterSelector",
                Shape::Mapping(&[
                    optional("claimSelector", CLAIM_SELECTOR),
                    optional("labelSelector", LABEL_SELECTOR),
                ]),
            ),
            required("groupName", Shape::Text(Format::GroupName)),
        ]))),
    ),
]);

const PRIORITIZER_POLICY: Shape = Shape::Mapping(&[
    optional(
        "configurations",
        Shape::List(&list(Shape::Mapping(&[
            required(
                "scoreCoordinate",
                Shape::Mapping(&[
                    optional(
                        "addOn",
                        Shape::Mapping(&[required("resourceName", TEXT), required("scoreName", TEXT)]),
                    ),
                    optional("builtIn", TEXT),
                    optional("type", Shape::Text(Format::OneOf(&["BuiltIn", "AddOn"]))),
                ]),
            ),
            optional("weight", Shape::Integer(-10, 10)),
        ]))),
    ),
    optional("mode", TEXT),
]);

const SPREAD_CONSTRAINT: Shape = Shape::Mapping(&[
    optional("maxSkew", Shape::Integer(1, i32::MAX as i64)),
    required("topologyKey", QUALIFIED_NAME),
    required("topologyKeyType", Shape::Text(Format::OneOf(&["Label", "Claim"]))),
    optional(
        "whenUnsatisfiable",
        Shape::Text(Format::OneOf(&["DoNotSchedule", "ScheduleAnyway"])),
    ),
]);

const DECISION: &[Member] = &[
    optional("apiVersion", TEXT),
    optional("kind", TEXT),
    optional("metadata", METADATA),
    optional(
        "status",
        Shape::Mapping(&[required(
            "decisions",
            Shape::List(&list(Shape::Mapping(&[
                required("clusterName", TEXT),
                // The CRD requires it, but drops the whole status of what is created: people leave it out.
                optional("reason", TEXT),
                optional("score", INT64),
            ]))),
        )]),
    ),
];

const SCORE: &[Member] = &[
    optional("apiVersion", TEXT),
    optional("kind", TEXT),
    optional("metadata", METADATA),
    optional(
        "status",
        Shape::Mapping(&[
            optional("conditions", CONDITIONS),
            optional(
                "scores",
                Shape::List(&List {
                    item: Shape::Mapping(&[
                        required("name", TEXT),
                        required("value", Shape::Integer(-100, 100)),
                    ]),
                    keys: &["name"],
                    longest: usize::MAX,
                }),
            ),
            optional("validUntil", TIME),
        ]),
    ),
];
