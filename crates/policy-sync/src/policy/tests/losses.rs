//! Which settings of a policy count as lost on a path, and to whom.

use super::super::{AuthoredId, Loss, PolicyId};
use crate::hub::RowId as _;

#[test]
fn every_winner_but_the_first_of_a_loss_is_paid_for() {
    let winners = |count: u32| {
        let author = |row| AuthoredId {
            policy: PolicyId::from_row(row),
            position: 0,
        };
        let loss = Loss {
            policy: author(0),
            key: "/a".into(),
            by: (1..=count).map(author).collect(),
        };
        loss.winners()
    };
    assert_eq!([1, 2, 5].map(winners), [0, 1, 4]);
}
