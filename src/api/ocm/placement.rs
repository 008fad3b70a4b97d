//! Placement and PlacementDecision.
//!
//! Owns: the fields that the scheduler reads, with the defaults of the CRD (OCM placement 0). Flows in: objects.
//! Flows out: views. Must not know: whether a Placement makes sense to the scheduler.

use super::schema::whole_number;
use super::{
    GROUP_INDEX_LABEL, GROUP_NAME_LABEL, PLACEMENT_LABEL, SCHEDULING_DISABLED_ANNOTATION, TaintEffect,
};
use crate::object::Object;
use apimachinery::{Field, LabelSelector};

/// A Placement (cluster.open-cluster-management.io/v1beta1).
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The object.
    pub object: &'a Object,
    /// Namespace.
    pub namespace: &'a str,
    /// Name.
    pub name: &'a str,
    /// `spec.clusterSets`, as written; empty: every bound set.
    pub cluster_sets: Vec<&'a str>,
    /// `spec.predicates[].requiredClusterSelector`, ORed.
    pub predicates: Vec<ClusterSelector<'a>>,
    /// `spec.prioritizerPolicy`.
    pub prioritizer_policy: PrioritizerPolicy<'a>,
    /// `spec.tolerations`.
    pub tolerations: Vec<Toleration<'a>>,
    /// `spec.numberOfClusters`; `None`: all.
    pub number_of_clusters: Option<usize>,
    /// `spec.decisionStrategy.groupStrategy`.
    pub group_strategy: GroupStrategy<'a>,
    /// Why the scheduler does not touch this Placement, if so.
    pub left_alone: Option<LeftAlone>,
}

/// Why the scheduler leaves a Placement alone (OCM placement 1.1): decisions and status stay as they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftAlone {
    /// `metadata.deletionTimestamp` is set.
    Deleting,
    /// The annotation experimental-scheduling-disable is `true`.
    SchedulingDisabled,
}

/// Label, claim and CEL conditions, ANDed; without any it selects every cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterSelector<'a> {
    /// `labelSelector`, over the cluster's labels.
    pub labels: LabelSelector,
    /// `claimSelector`, over the cluster's claims; only `matchExpressions`.
    pub claims: LabelSelector,
    /// `celSelector.celExpressions`, ANDed.
    pub cel_expressions: Vec<&'a str>,
}

impl<'a> ClusterSelector<'a> {
    fn read(field: &Field<'a>) -> Self {
        Self {
            labels: LabelSelector::read(&field.get("labelSelector")),
            claims: LabelSelector {
                match_labels: std::collections::BTreeMap::new(),
                ..LabelSelector::read(&field.get("claimSelector"))
            },
            cel_expressions: field
                .get("celSelector")
                .get("celExpressions")
                .items()
                .filter_map(|expression| expression.str())
                .collect(),
        }
    }
}

/// `spec.prioritizerPolicy`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PrioritizerPolicy<'a> {
    /// `mode`; `""` without a policy, which means Additive as well.
    pub mode: &'a str,
    /// `configurations`.
    pub configurations: Vec<Configuration<'a>>,
}

/// One of `spec.prioritizerPolicy.configurations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Configuration<'a> {
    /// What gives the score.
    pub coordinate: ScoreCoordinate<'a>,
    /// -10 to 10; 1 when absent.
    pub weight: i64,
}

/// `scoreCoordinate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScoreCoordinate<'a> {
    /// `type` is AddOn; otherwise BuiltIn, the default.
    pub is_add_on: bool,
    /// `builtIn`, `""` when absent.
    pub built_in: &'a str,
    /// `addOn`.
    pub add_on: Option<AddOnScore<'a>>,
}

/// `scoreCoordinate.addOn`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddOnScore<'a> {
    /// The AddOnPlacementScore's name.
    pub resource_name: &'a str,
    /// The score's name in it.
    pub score_name: &'a str,
}

/// One of `spec.tolerations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Toleration<'a> {
    /// `""`: every key, with operator Exists only.
    pub key: &'a str,
    /// `Equal` when absent.
    pub operator: &'a str,
    /// `""` when absent.
    pub value: &'a str,
    /// `None`: every effect.
    pub effect: Option<TaintEffect>,
    /// For how many seconds after the taint was added; `None`: for ever.
    pub seconds: Option<i64>,
}

/// `spec.decisionStrategy.groupStrategy`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupStrategy<'a> {
    /// `clustersPerDecisionGroup`.
    pub clusters_per_group: ClustersPerGroup<'a>,
    /// `decisionGroups`.
    pub groups: Vec<DecisionGroupSpec<'a>>,
}

/// `clustersPerDecisionGroup`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClustersPerGroup<'a> {
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
pub struct DecisionGroupSpec<'a> {
    /// `groupName`.
    pub name: &'a str,
    /// `groupClusterSelector`.
    pub selector: ClusterSelector<'a>,
}

impl<'a> Placement<'a> {
    /// The view of an object that [`super::validate`] accepts.
    #[must_use]
    pub fn read(object: &'a Object) -> Self {
        let root = object.root();
        let (metadata, spec) = (root.get("metadata"), root.get("spec"));
        let left_alone = if metadata.get("deletionTimestamp").is_present() {
            Some(LeftAlone::Deleting)
        } else if object.annotation(SCHEDULING_DISABLED_ANNOTATION) == Some("true") {
            Some(LeftAlone::SchedulingDisabled)
        } else {
            None
        };
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: &object.name,
            cluster_sets: spec
                .get("clusterSets")
                .items()
                .filter_map(|name| name.str())
                .collect(),
            predicates: spec
                .get("predicates")
                .items()
                .map(|predicate| ClusterSelector::read(&predicate.get("requiredClusterSelector")))
                .collect(),
            prioritizer_policy: prioritizer_policy(&spec.get("prioritizerPolicy")),
            tolerations: spec
                .get("tolerations")
                .items()
                .map(|item| toleration(&item))
                .collect(),
            number_of_clusters: integer(&spec.get("numberOfClusters"))
                .map(|number| usize::try_from(number).unwrap_or_default()),
            group_strategy: group_strategy(&spec.get("decisionStrategy").get("groupStrategy")),
            left_alone,
        }
    }
}

fn integer(field: &Field<'_>) -> Option<i64> {
    whole_number(field.value()?)
}

fn prioritizer_policy<'a>(field: &Field<'a>) -> PrioritizerPolicy<'a> {
    if !field.is_present() {
        return PrioritizerPolicy::default();
    }
    PrioritizerPolicy {
        mode: field.get("mode").str().unwrap_or("Additive"),
        configurations: field
            .get("configurations")
            .items()
            .map(|item| {
                let coordinate = item.get("scoreCoordinate");
                let add_on = coordinate.get("addOn");
                Configuration {
                    coordinate: ScoreCoordinate {
                        is_add_on: coordinate.get("type").str() == Some("AddOn"),
                        built_in: coordinate.get("builtIn").str().unwrap_or_default(),
                        add_on: add_on.is_present().then(|| AddOnScore {
                            resource_name: add_on.get("resourceName").str().unwrap_or_default(),
                            score_name: add_on.get("scoreName").str().unwrap_or_default(),
                        }),
                    },
                    weight: integer(&item.get("weight")).unwrap_or(1),
                }
            })
            .collect(),
    }
}

fn toleration<'a>(field: &Field<'a>) -> Toleration<'a> {
    Toleration {
        key: field.get("key").str().unwrap_or_default(),
        operator: field.get("operator").str().unwrap_or("Equal"),
        value: field.get("value").str().unwrap_or_default(),
        effect: TaintEffect::read(&field.get("effect")),
        seconds: integer(&field.get("tolerationSeconds")),
    }
}

fn group_strategy<'a>(field: &Field<'a>) -> GroupStrategy<'a> {
    if !field.is_present() {
        return GroupStrategy::default();
    }
    let per_group = field.get("clustersPerDecisionGroup");
    GroupStrategy {
        clusters_per_group: match (integer(&per_group), per_group.str()) {
            (Some(number), _) => ClustersPerGroup::Number(number),
            (None, Some(text)) => ClustersPerGroup::Text(text),
            (None, None) => ClustersPerGroup::Text("100%"),
        },
        groups: field
            .get("decisionGroups")
            .items()
            .map(|group| DecisionGroupSpec {
                name: group.get("groupName").str().unwrap_or_default(),
                selector: ClusterSelector::read(&group.get("groupClusterSelector")),
            })
            .collect(),
    }
}

/// A PlacementDecision (cluster.open-cluster-management.io/v1beta1).
#[derive(Debug, Clone)]
pub struct PlacementDecision<'a> {
    /// The object.
    pub object: &'a Object,
    /// Namespace.
    pub namespace: &'a str,
    /// Name.
    pub name: &'a str,
    /// The label that names its Placement.
    pub placement: Option<&'a str>,
    /// The label with the decision group's name.
    pub group_name: Option<&'a str>,
    /// The label with the decision group's index.
    pub group_index: Option<&'a str>,
    /// `status.decisions[].clusterName`, in order, as written.
    pub clusters: Vec<&'a str>,
    /// Every decision is as OCM writes it: no reason, no score.
    pub plain: bool,
}

impl<'a> PlacementDecision<'a> {
    /// The view of an object that [`super::validate`] accepts.
    #[must_use]
    pub fn read(object: &'a Object) -> Self {
        let decisions = object.root().get("status").get("decisions");
        Self {
            object,
            namespace: object.namespace_or_empty(),
            name: &object.name,
            placement: object.label(PLACEMENT_LABEL),
            group_name: object.label(GROUP_NAME_LABEL),
            group_index: object.label(GROUP_INDEX_LABEL),
            clusters: decisions
                .items()
                .map(|decision| decision.get("clusterName").str().unwrap_or_default())
                .collect(),
            plain: decisions.items().all(|decision| {
                decision.get("reason").str().unwrap_or_default().is_empty()
                    && !decision.get("score").is_present()
            }),
        }
    }
}
