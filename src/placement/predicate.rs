//! Predicates: label, claim and CEL selectors (OCM placement 1.2, Predicate).
//!
//! Owns: building selectors in OCM's order, evaluating each distinct one once over the fleet. Flows in: the
//! Placements, the fleet, what each of them may choose from. Flows out: a set of clusters for each distinct list
//! of predicates, or the complaint that makes a Placement misconfigured.

use std::collections::HashMap;

use super::Input;
use super::bits::Bits;
use super::cel::{self, Expressions};
use super::fleet::Fleet;
use super::sets::Sets;
use crate::api::ocm::ClusterSelector;
use apimachinery::Selector;

/// A selector that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SelectorFault {
    /// Kubernetes' (or CEL's) message.
    pub(super) message: String,
    /// JSON pointer inside the Placement.
    pub(super) pointer: String,
}

/// A selector whose parts have been checked.
#[derive(Debug)]
pub(super) struct BuiltSelector {
    pub(super) labels: Selector,
    pub(super) claims: Selector,
    pub(super) cel: Option<Expressions>,
}

/// Builds a selector: labels, then claims, then CEL; `pointer` is where it stands in the Placement.
pub(super) fn build(selector: &ClusterSelector<'_>, pointer: &str) -> Result<BuiltSelector, SelectorFault> {
    let labels = selector.labels.compile().map_err(|error| SelectorFault {
        pointer: format!("{pointer}/labelSelector{}", error.origin.pointer()),
        message: error.message,
    })?;
    let claims = selector.claims.compile().map_err(|error| SelectorFault {
        pointer: format!("{pointer}/claimSelector{}", error.origin.pointer()),
        message: error.message,
    })?;
    let cel = if selector.cel_expressions.is_empty() {
        None
    } else {
        let expressions = Expressions::compile(&selector.cel_expressions).map_err(|error| SelectorFault {
            pointer: format!("{pointer}/celSelector/celExpressions/{}", error.index),
            message: error.message,
        })?;
        Some(expressions)
    };
    Ok(BuiltSelector { labels, claims, cel })
}

/// The clusters whose labels and claims fit.
pub(super) fn by_labels_and_claims(selector: &BuiltSelector, fleet: &Fleet<'_>) -> Bits {
    let mut bits = fleet.matching_labels(&selector.labels);
    bits.keep(&fleet.matching_claims(&selector.claims));
    bits
}

/// The results of all predicates of all Placements.
#[derive(Debug)]
pub(super) struct Predicates {
    /// For each distinct list of predicates the clusters that fit any of them.
    pub(super) results: Vec<Result<Bits, SelectorFault>>,
    /// For each Placement of the inventory: its list, `None` without predicates (everything passes).
    pub(super) of_placement: Vec<Option<usize>>,
}

/// One distinct selector, and the clusters about which somebody asks.
struct Asked {
    built: Result<BuiltSelector, SelectorFault>,
    needed: Bits,
}

impl Predicates {
    pub(super) fn new<'a>(input: &Input<'a>, fleet: &Fleet<'a>, sets: &Sets<'a>) -> Self {
        let mut lists: Vec<(&[ClusterSelector<'_>], Bits)> = Vec::new();
        let mut list_ids: HashMap<&[ClusterSelector<'_>], usize> = HashMap::new();
        let mut of_placement = Vec::with_capacity(input.inventory.placements.len());
        for (placement, eligible) in input.inventory.placements.iter().zip(&sets.eligible) {
            let list = placement.predicates.as_slice();
            if list.is_empty() {
                of_placement.push(None);
                continue;
            }
            let id = *list_ids.entry(list).or_insert_with(|| {
                lists.push((list, Bits::none(fleet.len())));
                lists.len().saturating_sub(1)
            });
            of_placement.push(Some(id));
            let available = sets
                .available
                .get(eligible.available)
                .map(|available| &available.clusters);
            if let (Some((_, needed)), Some(Ok(clusters))) = (lists.get_mut(id), available) {
                for cluster in clusters.iter() {
                    needed.insert(*cluster);
                }
            }
        }
        let mut asked: Vec<Asked> = Vec::new();
        let mut selector_ids: HashMap<&ClusterSelector<'_>, usize> = HashMap::new();
        let mut list_selectors: Vec<Vec<usize>> = Vec::with_capacity(lists.len());
        for (list, needed) in &lists {
            // Nobody has a cluster to ask about: bad expressions are not even compiled.
            if needed.is_empty() {
                list_selectors.push(Vec::new());
                continue;
            }
            let ids = list.iter().map(|selector| {
                let id = *selector_ids.entry(selector).or_insert_with(|| {
                    asked.push(Asked {
                        built: build(selector, ""),
                        needed: Bits::none(fleet.len()),
                    });
                    asked.len().saturating_sub(1)
                });
                if let Some(asked) = asked.get_mut(id) {
                    asked.needed.add(needed);
                }
                id
            });
            list_selectors.push(ids.collect());
        }
        let answers = answers(&asked, input, fleet);
        let results = list_selectors
            .iter()
            .map(|selectors| {
                let mut any = Bits::none(fleet.len());
                for (index, id) in selectors.iter().enumerate() {
                    let (Some(asked), Some(answer)) = (asked.get(*id), answers.get(*id)) else {
                        continue;
                    };
                    match &asked.built {
                        Ok(_) => any.add(answer),
                        Err(fault) => {
                            return Err(SelectorFault {
                                message: fault.message.clone(),
                                pointer: format!("{}{}", predicate_pointer(index), fault.pointer),
                            });
                        }
                    }
                }
                Ok(any)
            })
            .collect();
        Self {
            results,
            of_placement,
        }
    }
}

/// Where a predicate's selector stands in its Placement.
pub(super) fn predicate_pointer(index: usize) -> String {
    format!("/spec/predicates/{index}/requiredClusterSelector")
}

/// The clusters that fit each selector, among those about which somebody asks.
fn answers(asked: &[Asked], input: &Input<'_>, fleet: &Fleet<'_>) -> Vec<Bits> {
    let mut answers: Vec<Bits> = asked
        .iter()
        .map(|asked| match &asked.built {
            Ok(built) => {
                let mut bits = by_labels_and_claims(built, fleet);
                bits.keep(&asked.needed);
                bits
            }
            Err(_) => Bits::none(fleet.len()),
        })
        .collect();
    let questions: Vec<cel::Question<'_>> = asked
        .iter()
        .zip(&answers)
        .enumerate()
        .filter_map(|(index, (asked, candidates))| {
            let expressions = asked.built.as_ref().ok()?.cel.as_ref()?;
            Some(cel::Question {
                index,
                expressions,
                candidates: candidates.clone(),
            })
        })
        .collect();
    for (index, matching) in cel::ask(&questions, input, fleet) {
        if let Some(answer) = answers.get_mut(index) {
            *answer = matching;
        }
    }
    answers
}

impl super::Evaluation<'_> {
    /// The first of some expressions that is not true for a cluster.
    pub(super) fn failing_expression(&self, expressions: &[&str], cluster: u32) -> Option<usize> {
        let mut candidates = Bits::none(self.plan.fleet.len());
        candidates.insert(cluster);
        expressions.iter().position(|expression| {
            let Ok(compiled) = Expressions::compile(&[expression]) else {
                return true;
            };
            let question = cel::Question {
                index: 0,
                expressions: &compiled,
                candidates: candidates.clone(),
            };
            cel::ask(&[question], &self.plan.input, &self.plan.fleet)
                .iter()
                .all(|(_, bits)| bits.is_empty())
        })
    }
}
