//! A cluster's rank, and the cutoff.
//!
//! Owns: the wording about both. Flows in: a [`Case`]. Flows out: a step. Must not know: other stages.

use super::case::Case;
use super::explanation::{Bearing, Stage, Step};

impl Case<'_, '_> {
    /// The rank and the cut; whether the cluster is selected.
    pub(super) fn ranking(&self, steps: &mut Vec<Step>) -> bool {
        let selected = self.outcome.groups.order.contains(&self.id);
        let ranking = self
            .outcome
            .trace
            .as_ref()
            .and_then(|trace| trace.ranking.as_ref());
        let ranked = ranking.and_then(|ranking| {
            let position = ranking.iter().position(|(_, cluster)| *cluster == self.id)?;
            let (total, _) = ranking.get(position)?;
            Some((position.saturating_add(1), ranking.len(), total.0))
        });
        let Some((rank, of, total)) = ranked else {
            return selected;
        };
        let number = self.placement.number_of_clusters;
        let standing = format!("rank {rank} of {of} with {total} points");
        let cut = number.filter(|number| rank > *number);
        let (bearing, why, at) = match (cut, number) {
            (Some(number), _) => {
                let why = format!("cut by numberOfClusters {number}");
                (Bearing::Against, why, "/spec/numberOfClusters")
            }
            (None, Some(number)) => {
                let why = format!("within numberOfClusters {number}");
                (Bearing::For, why, "/spec/numberOfClusters")
            }
            (None, None) => (Bearing::For, "and all are selected".to_owned(), "/spec"),
        };
        steps.push(self.step(Stage::Ranking, bearing, format!("{standing}, {why}"), at));
        cut.is_none()
    }
}
