//! The memory of policies grows with the size of the input, not with the product of its parts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use super::super::{EffectivePolicies, too_many_paths};
use crate::tests::{Seen, hub, limit, small_with_params};
use apimachinery::Work;

/// The small hub with more routes on its two listeners, and a policy on the Gateway.
fn with_routes(routes: usize) -> String {
    let mut text = small_with_params()
        + &limit(
            "p",
            "kind: Gateway, name: gw",
            "limits: {l: {rates: [{limit: 5, window: 1s}]}}",
        );
    for route in 0..routes {
        let _ = write!(
            text,
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: more-{route}, namespace: infra}}\n\
             spec: {{parentRefs: [{{name: gw}}], rules: [{{}}, {{}}]}}\n"
        );
    }
    text
}

#[test]
fn what_holds_on_many_paths_is_held_once() {
    let mut sizes = Vec::new();
    for routes in [1, 50] {
        let hub = hub(&with_routes(routes), &[]);
        let report = Seen::hub(&hub).report();
        assert!(report.effective.len() > routes * 4);
        let results: BTreeSet<_> = report
            .effective
            .iter()
            .map(|entry| Arc::as_ptr(&entry.result))
            .collect();
        let texts: BTreeSet<_> = report
            .effective
            .iter()
            .flat_map(|entry| &entry.path)
            .map(|locator| Arc::as_ptr(locator).cast::<u8>())
            .collect();
        sizes.push((results.len(), texts.len()));
    }
    assert_eq!(sizes[0].0, sizes[1].0, "the same holds on all of them");
    // A route and its two rules are three names.
    assert_eq!(sizes[1].1 - sizes[0].1, 49 * 3);
}

#[test]
fn a_run_evaluates_no_more_paths_than_its_budget() {
    let hub = hub(&with_routes(20), &[]);
    let attachments = Seen::hub(&hub).attachments;
    let plenty = Work::with_limit(1_000_000);
    let all = EffectivePolicies::new(&attachments, &plenty).len();
    let spent = u64::try_from(1_000_000 - plenty.left(1)).unwrap();
    assert!(all > 80 && spent > 80 && too_many_paths(&plenty).is_none());
    let exact = Work::with_limit(spent);
    assert_eq!(EffectivePolicies::new(&attachments, &exact).len(), all);
    assert!(too_many_paths(&exact).is_none());
    let less = Work::with_limit(spent - 1);
    let _ = EffectivePolicies::new(&attachments, &less);
    assert!(too_many_paths(&less).is_some());
    let mut some = EffectivePolicies::new(&attachments, &Work::with_limit(spent / 2));
    assert!(some.len() < all);
    some.clear();
    assert_eq!(some.len(), 0);
}
