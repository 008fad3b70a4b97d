//! Placement, and PlacementDecision as it is before a run.
//!
//! The fields are those that the scheduler reads, with the defaults of the CRD
//! (docs/systems/ocm-placement.md#kinds-and-defaults). `spreadPolicy`, `sortBy` and `scoreRateLimit` are not among
//! them: they are in the API, and no scheduler implements them (docs/systems/ocm-placement.md#ignored-fields).

use std::collections::BTreeMap;

use apimachinery::{Field, LabelSelector};

use crate::api::managed_cluster::TaintEffect;
use crate::api::object::{Object, Reading};
use crate::api::{PLACEMENT_LABEL, SCHEDULING_DISABLED_ANNOTATION};

/// A Placement (cluster.open-cluster-management.io/v1beta1).
#[derive(Debug, Clone)]
pub(crate) struct Placement<'a> {
    /// The object.
    pub(crate) object: Object<'a>,
    /// Namespace.
    pub(crate) namespace: &'a str,
    /// Name.
    pub(crate) name: &'a str,
    /// `spec.clusterSets`, as written; empty: every bound set.
    pub(crate) cluster_sets: Vec<&'a str>,
    /// `spec.predicates[].requiredClusterSelector`, ORed.
    pub(crate) predicates: Vec<ClusterSelector<'a>>,
    /// `spec.prioritizerPolicy`.
    pub(crate) prioritizer_policy: PrioritizerPolicy<'a>,
    /// `spec.tolerations`.
    pub(crate) tolerations: Vec<Toleration<'a>>,
    /// `spec.numberOfClusters`; `None`: all.
    pub(crate) number_of_clusters: Option<usize>,
    /// `spec.decisionStrategy.groupStrategy`.
    pub(crate) group_strategy: GroupStrategy<'a>,
    /// Why the scheduler does not touch this Placement, if so.
    pub(crate) left_alone: Option<LeftAlone>,
}

/// Why the scheduler leaves a Placement alone (docs/systems/ocm-placement.md#placements-left-alone): decisions and
/// status stay as they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftAlone {
    /// `metadata.deletionTimestamp` is set.
    Deleting,
    /// The annotation experimental-scheduling-disable is `true`.
    SchedulingDisabled,
}

/// Label, claim and CEL conditions, ANDed; without any it selects every cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClusterSelector<'a> {
    /// `labelSelector`, over the cluster's labels.
    pub(crate) labels: LabelSelector,
    /// `claimSelector`, over the cluster's claims; only `matchExpressions`.
    pub(crate) claims: LabelSelector,
    /// `celSelector.celExpressions`, ANDed.
    pub(crate) cel_expressions: Vec<&'a str>,
}

impl<'a> ClusterSelector<'a> {
    fn read(field: &Field<'a>, reading: &mut Reading<'_, 'a>) -> Self {
        let cel = field.get("celSelector");
        Self {
            labels: reading.selector(&field.get("labelSelector")),
            // The API type of a claim selector has no `matchLabels`: Go drops it.
            claims: LabelSelector {
                match_labels: BTreeMap::new(),
                ..reading.selector(&field.get("claimSelector"))
            },
            cel_expressions: texts(&cel.get("celExpressions")),
        }
    }
}

/// `spec.prioritizerPolicy`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct PrioritizerPolicy<'a> {
    /// `mode`; `""` without a policy, which means Additive as well.
    pub(crate) mode: &'a str,
    /// `configurations`.
    pub(crate) configurations: Vec<Configuration<'a>>,
}

/// One of `spec.prioritizerPolicy.configurations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Configuration<'a> {
    /// The source of the score.
    pub(crate) coordinate: ScoreCoordinate<'a>,
    /// -10 to 10; 1 when absent.
    pub(crate) weight: i64,
}

/// `scoreCoordinate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ScoreCoordinate<'a> {
    /// `type` is AddOn; otherwise BuiltIn, the default.
    pub(crate) is_add_on: bool,
    /// `builtIn`, `""` when absent.
    pub(crate) built_in: &'a str,
    /// `addOn`.
    pub(crate) add_on: Option<AddOnScore<'a>>,
}

/// `scoreCoordinate.addOn`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AddOnScore<'a> {
    /// The AddOnPlacementScore's name.
    pub(crate) resource_name: &'a str,
    /// The score's name in it.
    pub(crate) score_name: &'a str,
}

/// One of `spec.tolerations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Toleration<'a> {
    /// `""`: every key, with operator Exists only.
    pub(crate) key: &'a str,
    /// `Equal` when absent.
    pub(crate) operator: &'a str,
    /// `""` when absent.
    pub(crate) value: &'a str,
    /// `None`: every effect.
    pub(crate) effect: Option<TaintEffect>,
    /// For how many seconds after the taint was added; `None`: forever.
    pub(crate) seconds: Option<i64>,
}

/// `spec.decisionStrategy.groupStrategy`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GroupStrategy<'a> {
    /// `clustersPerDecisionGroup`.
    pub(crate) clusters_per_group: ClustersPerGroup<'a>,
    /// `decisionGroups`.
    pub(crate) groups: Vec<DecisionGroupSpec<'a>>,
}

/// `clustersPerDecisionGroup`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ClustersPerGroup<'a> {
    /// No group strategy: one group of all.
    #[default]
    All,
    /// A number.
    Number(i64),
    /// Text: a percentage, or what the CRD lets through although the scheduler refuses it.
    Text(&'a str),
}

/// One of `decisionGroups`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecisionGroupSpec<'a> {
    /// `groupName`.
    pub(crate) name: &'a str,
    /// `groupClusterSelector`.
    pub(crate) selector: ClusterSelector<'a>,
}

impl<'a> Placement<'a> {
    pub(crate) fn read(object: Object<'a>, reading: &mut Reading<'_, 'a>) -> Self {
        let root = object.root();
        let (metadata, spec) = (root.get("metadata"), root.get("spec"));
        let left_alone = if metadata.get("deletionTimestamp").is_present() {
            Some(LeftAlone::Deleting)
        } else if object.annotation(SCHEDULING_DISABLED_ANNOTATION) == Some("true") {
            Some(LeftAlone::SchedulingDisabled)
        } else {
            None
        };
        let predicates = spec.get("predicates").items();
        let predicates = predicates
            .map(|predicate| ClusterSelector::read(&predicate.get("requiredClusterSelector"), reading));
        let predicates = predicates.collect();
        let tolerations = spec.get("tolerations").items();
        let tolerations = tolerations.map(|item| toleration(&item, reading)).collect();
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: object.name(),
            cluster_sets: texts(&spec.get("clusterSets")),
            predicates,
            prioritizer_policy: prioritizer_policy(&spec.get("prioritizerPolicy"), reading),
            tolerations,
            number_of_clusters: reading.count(&spec.get("numberOfClusters")),
            group_strategy: group_strategy(&spec.get("decisionStrategy").get("groupStrategy"), reading),
            left_alone,
        }
    }
}

/// The strings of a list.
fn texts<'a>(field: &Field<'a>) -> Vec<&'a str> {
    field.items().filter_map(|item| item.str()).collect()
}

fn prioritizer_policy<'a>(field: &Field<'a>, reading: &mut Reading<'_, 'a>) -> PrioritizerPolicy<'a> {
    // A default inside a parent that is absent is not applied: then the mode is "", which the scheduler takes as
    // Additive.
    if !field.is_present() {
        return PrioritizerPolicy::default();
    }
    let configurations = field.get("configurations").items();
    let configurations = configurations.map(|item| {
        let coordinate = item.get("scoreCoordinate");
        reading.require(&coordinate);
        let add_on = coordinate.get("addOn");
        Configuration {
            coordinate: ScoreCoordinate {
                is_add_on: coordinate.text("type") == Some("AddOn"),
                built_in: coordinate.text("builtIn").unwrap_or_default(),
                add_on: add_on.is_present().then(|| AddOnScore {
                    resource_name: add_on.text("resourceName").unwrap_or_default(),
                    score_name: add_on.text("scoreName").unwrap_or_default(),
                }),
            },
            weight: reading.integer(&item.get("weight")).unwrap_or(1),
        }
    });
    PrioritizerPolicy {
        configurations: configurations.collect(),
        mode: field.text("mode").unwrap_or("Additive"),
    }
}

fn toleration<'a>(field: &Field<'a>, reading: &mut Reading<'_, 'a>) -> Toleration<'a> {
    Toleration {
        key: field.text("key").unwrap_or_default(),
        operator: field.text("operator").unwrap_or("Equal"),
        value: field.text("value").unwrap_or_default(),
        effect: field.text("effect").and_then(|effect| effect.parse().ok()),
        seconds: reading.integer(&field.get("tolerationSeconds")),
    }
}

fn group_strategy<'a>(field: &Field<'a>, reading: &mut Reading<'_, 'a>) -> GroupStrategy<'a> {
    if !field.is_present() {
        return GroupStrategy::default();
    }
    let per_group = field.get("clustersPerDecisionGroup");
    let groups = field.get("decisionGroups").items();
    let groups = groups.map(|group| DecisionGroupSpec {
        name: group.text("groupName").unwrap_or_default(),
        // The API type of a group's selector has no `celSelector`: Go drops it.
        selector: ClusterSelector {
            cel_expressions: Vec::new(),
            ..ClusterSelector::read(&group.get("groupClusterSelector"), reading)
        },
    });
    GroupStrategy {
        groups: groups.collect(),
        clusters_per_group: match per_group.str() {
            Some(text) => ClustersPerGroup::Text(text),
            None => match reading.integer(&per_group) {
                Some(number) => ClustersPerGroup::Number(number),
                None => ClustersPerGroup::Text("100%"),
            },
        },
    }
}

/// A field that makes a Placement misconfigured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldFault {
    /// OCM's message, or that of Kubernetes or CEL.
    pub(crate) message: String,
    /// JSON pointer inside the Placement, or inside a selector.
    pub(crate) pointer: String,
}

/// A PlacementDecision (cluster.open-cluster-management.io/v1beta1).
#[derive(Debug, Clone)]
pub(crate) struct PlacementDecision<'a> {
    /// The object.
    pub(crate) object: Object<'a>,
    /// Namespace.
    pub(crate) namespace: &'a str,
    /// Name.
    pub(crate) name: &'a str,
    /// The label that names its Placement.
    pub(crate) placement: Option<&'a str>,
    /// `status.decisions[].clusterName`, in order, as written.
    pub(crate) clusters: Vec<&'a str>,
    /// Every decision is as OCM writes it: no reason, no score.
    pub(crate) plain: bool,
}

impl<'a> PlacementDecision<'a> {
    pub(crate) fn read(object: Object<'a>, _: &mut Reading<'_, 'a>) -> Self {
        let mut decisions = object.root().get("status").get("decisions").items();
        let clusters = decisions
            .clone()
            .map(|decision| decision.text("clusterName").unwrap_or_default());
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: object.name(),
            placement: object.label(PLACEMENT_LABEL),
            clusters: clusters.collect(),
            plain: decisions.all(|decision| {
                decision.text("reason").unwrap_or_default().is_empty() && !decision.get("score").is_present()
            }),
        }
    }
}
