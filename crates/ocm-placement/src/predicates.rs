//! Predicates: label, claim and CEL selectors (docs/systems/ocm-placement.md#predicates). Each distinct selector is
//! evaluated once over the fleet. Decision groups have selectors of the same form.

use apimachinery::{LabelSelector, Selector};

use crate::api::placement::{ClusterSelector, FieldFault};
use crate::cel;
use crate::cel::Expressions;
use crate::cluster_sets::ClusterSets;
use crate::fleet::{Bits, Fleet};
use crate::ids::{Distinct, PlacementId, PredicatesId, SelectorId, Table};
use crate::input::Input;

/// The results of all predicates of all Placements.
#[derive(Debug)]
pub(crate) struct Predicates {
    /// The clusters that fit any of a list.
    results: Table<PredicatesId, Result<Bits, FieldFault>>,
    /// The list of each Placement, `None` without predicates (everything passes).
    pub(crate) of_placement: Table<PlacementId, Option<PredicatesId>>,
}

/// One distinct selector, and the requested clusters.
struct Asked {
    built: Result<BuiltSelector, FieldFault>,
    needed: Bits,
}

impl Predicates {
    pub(crate) fn new<'a>(input: &Input<'a>, fleet: &Fleet<'a>, sets: &ClusterSets<'a>) -> Self {
        let placements = &input.inventory.placements;
        let mut lists: Distinct<PredicatesId, &[ClusterSelector<'_>]> = Distinct::new();
        let of_placement = placements.rows().iter().map(|placement| {
            let list = placement.predicates.as_slice();
            (!list.is_empty()).then(|| lists.id(list))
        });
        let of_placement: Table<PlacementId, Option<PredicatesId>> = of_placement.collect();
        let mut lists = lists.map(|list| (list, Bits::none(fleet.len())));
        for (placement, list) in of_placement.iter() {
            if let (Some(list), Ok(clusters)) = (list, &sets.for_placement(placement).clusters) {
                let (_, needed) = &mut lists[*list];
                clusters.iter().for_each(|cluster| needed.insert(*cluster));
            }
        }
        let mut selectors: Distinct<SelectorId, &ClusterSelector<'_>> = Distinct::new();
        let list_selectors = lists.rows().iter().map(|(list, needed)| {
            // No Placement has a cluster to evaluate: bad expressions are not even compiled, and neither are they in
            // OCM.
            let asked = list.iter().filter(|_| !needed.is_empty());
            asked.map(|selector| selectors.id(selector)).collect()
        });
        let list_selectors: Table<PredicatesId, Vec<SelectorId>> = list_selectors.collect();
        let mut asked: Table<SelectorId, Asked> = selectors.map(|selector| Asked {
            built: build(selector, ""),
            needed: Bits::none(fleet.len()),
        });
        for ((_, needed), selectors) in lists.rows().iter().zip(list_selectors.rows().iter()) {
            for selector in selectors {
                asked[*selector].needed.add(needed);
            }
        }
        let answers = answers(&mut asked, input, fleet);
        let results = list_selectors
            .rows()
            .iter()
            .map(|selectors| any_of(selectors, &asked, &answers, fleet));
        Self {
            results: results.collect(),
            of_placement,
        }
    }

    /// The clusters that fit a Placement's predicates; `None` without predicates.
    pub(crate) fn for_placement(&self, placement: PlacementId) -> Option<&Result<Bits, FieldFault>> {
        self.of_placement[placement].map(|list| &self.results[list])
    }
}

/// The clusters that fit any selector. All are built before any is asked, so a bad one is a fault even beside one
/// that matches everything (open-cluster-management-io/ocm
/// pkg/placement/plugins/predicate/predicate.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
fn any_of(
    selectors: &[SelectorId],
    asked: &Table<SelectorId, Asked>,
    answers: &Table<SelectorId, Bits>,
    fleet: &Fleet<'_>,
) -> Result<Bits, FieldFault> {
    let mut any = Bits::none(fleet.len());
    for (index, id) in selectors.iter().enumerate() {
        match &asked[*id].built {
            Ok(_) => any.add(&answers[*id]),
            Err(fault) => {
                return Err(FieldFault {
                    message: fault.message.clone(),
                    pointer: format!("{}{}", predicate_pointer(index), fault.pointer),
                });
            }
        }
    }
    Ok(any)
}

/// Where a predicate's selector is in its Placement.
pub(crate) fn predicate_pointer(index: usize) -> String {
    format!("/spec/predicates/{index}/requiredClusterSelector")
}

/// The clusters that fit each selector, among the requested ones. A selector of which that cannot be said
/// becomes one that cannot be built: it must select nothing.
fn answers(
    asked: &mut Table<SelectorId, Asked>,
    input: &Input<'_>,
    fleet: &Fleet<'_>,
) -> Table<SelectorId, Bits> {
    let answers = asked.rows().iter().map(|asked| match &asked.built {
        Ok(built) => {
            let mut bits = by_labels_and_claims(built, fleet);
            bits.keep(&asked.needed);
            bits
        }
        Err(_) => Bits::none(fleet.len()),
    });
    let mut answers: Table<SelectorId, Bits> = answers.collect();
    // CEL is dear: it is asked only about what labels and claims leave over.
    let questions = asked.iter().filter_map(|(id, asked)| {
        let expressions = asked.built.as_ref().ok()?.cel.as_ref()?;
        Some((
            id,
            cel::Question {
                expressions,
                candidates: answers[id].clone(),
            },
        ))
    });
    let (ids, questions): (Vec<SelectorId>, Vec<cel::Question<'_>>) = questions.unzip();
    let matching = cel::ask(&questions, input, fleet);
    drop(questions);
    for (id, matching) in ids.into_iter().zip(matching) {
        match matching {
            Ok(matching) => answers[id] = matching,
            Err(message) => {
                asked[id].built = Err(FieldFault {
                    message,
                    pointer: "/celSelector/celExpressions".to_owned(),
                });
            }
        }
    }
    answers
}

/// A selector whose parts have been checked.
#[derive(Debug)]
pub(crate) struct BuiltSelector {
    pub(crate) labels: Selector,
    pub(crate) claims: Selector,
    pub(crate) cel: Option<Expressions>,
}

/// Builds a selector: labels, then claims, then CEL, as OCM does, whose first error is the message
/// (`NewClusterSelector` in open-cluster-management-io/ocm
/// pkg/placement/helpers/clusters.go@805fa6103d8bc1761dbc9cb4e420def42703ec53); `pointer` is where it is in the
/// Placement.
pub(crate) fn build(selector: &ClusterSelector<'_>, pointer: &str) -> Result<BuiltSelector, FieldFault> {
    let compile = |selector: &LabelSelector, field: &str| {
        selector.compile().map_err(|error| FieldFault {
            pointer: format!("{pointer}/{field}{}", error.origin.pointer()),
            message: error.message,
        })
    };
    let labels = compile(&selector.labels, "labelSelector")?;
    let claims = compile(&selector.claims, "claimSelector")?;
    let expressions = &selector.cel_expressions;
    let cel = (!expressions.is_empty()).then(|| Expressions::compile(expressions));
    let cel = cel.transpose().map_err(|(index, message)| FieldFault {
        pointer: format!("{pointer}/celSelector/celExpressions/{index}"),
        message,
    })?;
    Ok(BuiltSelector { labels, claims, cel })
}

/// The clusters whose labels and claims fit.
pub(crate) fn by_labels_and_claims(selector: &BuiltSelector, fleet: &Fleet<'_>) -> Bits {
    let mut bits = fleet.labels.matching(&selector.labels);
    bits.keep(&fleet.claims.matching(&selector.claims));
    bits
}
