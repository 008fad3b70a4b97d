//! The tool that compares with golden files, on golden files of our own.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::path::Path;

#[path = "../examples/agreement/main.rs"]
#[allow(dead_code)]
mod agreement;

fn compared(product: &str) -> agreement::Tally {
    compared_in(product, product)
}

fn compared_in(product: &str, directory: &str) -> agreement::Tally {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agreement");
    let tally = agreement::compare(product, &root.join(directory)).expect("readable files");
    tally.expect("a product with a reader")
}

#[test]
fn what_agrees_with_envoy_gateway_is_counted_and_what_does_not_is_told_with_its_cause() {
    let tally = compared("envoy-gateway");
    for (statement, agreed, of) in [
        ("Accepted of policies", 2, 2),
        ("ancestors of policies", 2, 2),
        ("routes", 2, 2),
        ("valid policies", 2, 2),
        ("effective settings of rules", 3, 4),
    ] {
        assert_eq!(tally.agreed(statement), (agreed, of), "{statement}\n{tally}");
    }
    assert!(
        tally.to_string().ends_with(
            "\neffective settings of rules: golden basicAuth cors, ours cors (1)\n  \
             timeouts: SecurityPolicy at infra/edge/web, httproute.gateway.networking.k8s.io:shop/shop#slow\n"
        ),
        "{tally}"
    );
}

#[test]
fn patches_that_newer_golden_files_have_twice_are_compared_once() {
    let tally = compared_in("envoy-gateway", "patches");
    for statement in ["ancestors of policies", "Accepted of policies"] {
        assert_eq!(tally.agreed(statement), (1, 1), "{statement}\n{tally}");
    }
}

#[test]
fn a_rule_gets_nothing_of_a_refused_policy_and_no_setting_that_turns_itself_off() {
    let tally = compared_in("envoy-gateway", "refused");
    assert_eq!(tally.agreed("Accepted of policies"), (3, 3), "{tally}");
    assert_eq!(tally.agreed("effective settings of rules"), (1, 1), "{tally}");
}

#[test]
fn routes_are_compared_with_istio_at_each_parent_and_counted_at_each_listener() {
    let tally = compared("istio");
    assert_eq!(tally.agreed("routes"), (3, 3), "{tally}");
    // The golden file has one route too many.
    assert_eq!(tally.agreed("attachedRoutes of listeners"), (1, 2), "{tally}");
    assert!(
        tally.to_string().ends_with(
            "\nattachedRoutes of listeners: golden 2, ours 1 (1)\n  route: gateway.gateway.networking.k8s.io:infra/edge#web\n"
        ),
        "{tally}"
    );
}

#[test]
fn manifests_that_an_api_server_takes_are_compared_with_what_is_refused_here() {
    let tally = compared("gateway-api");
    assert_eq!(tally.agreed("manifests"), (1, 2), "{tally}");
    assert!(
        tally.to_string().contains("refused: all of its objects"),
        "{tally}"
    );
}

#[test]
fn a_product_without_a_reader_is_no_product() {
    assert!(
        agreement::compare("contour", Path::new("fixtures"))
            .expect("nothing is read")
            .is_none()
    );
}
