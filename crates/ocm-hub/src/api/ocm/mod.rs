//! Objects of OCM's cluster kinds that an API server would refuse. The rules of OCM's webhooks are asked if the schema
//! has no objection.

mod webhooks;

use std::sync::LazyLock;

use crd_schema::{Crd, Violation, ViolationKind};
pub use ocm_placement::GROUP;

pub use webhooks::refusals;

use super::{catalog, violation};
use crate::diagnostic::{Code, Finding};
use crate::object::Object;

/// What placement is worked out from. Each has one version that is served.
pub const KINDS: [&str; 6] = [
    "AddOnPlacementScore",
    "ManagedCluster",
    "ManagedClusterSet",
    "ManagedClusterSetBinding",
    "Placement",
    "PlacementDecision",
];

static DEFINITIONS: LazyLock<Vec<Crd>> = LazyLock::new(|| {
    let entries = KINDS.iter().filter_map(|kind| catalog::find(GROUP, kind));
    entries.filter_map(|entry| entry.definition()).collect()
});

/// Checks an object of one of the six kinds as an API server would with strict field validation, but for what every
/// object's metadata must be: that is checked for all kinds alike, in `hub`. Objects of other kinds have no findings.
///
/// Every finding is `object/schema` or `object/unknown-field`, an error, at the offending field.
pub fn validate(object: &Object) -> Vec<Finding> {
    let definition = DEFINITIONS
        .iter()
        .find(|definition| object.is(&definition.group, &definition.kind));
    let Some(served) = definition.and_then(|definition| definition.versions.first()) else {
        return Vec::new();
    };
    if object.api_version.version != served.name {
        let served = format!("{GROUP}/{}", served.name);
        let message = format!(
            "{} is served as {served}, not {}",
            object.kind, object.api_version
        );
        return vec![
            Finding::new(Code::OBJECT_SCHEMA, object.place("/apiVersion"), message)
                .help(format!("write `apiVersion: {served}`")),
        ];
    }
    // Status counts: there is no controller to write it, so the scheduler reads what is given.
    let mut violations = served
        .schema
        .as_ref()
        .map(|schema| schema.validate_with_status(&object.value))
        .unwrap_or_default();
    violations.retain(|violation| !is_a_reason_left_out(violation));
    violation::findings(&violations, object)
}

/// The CRD wants a reason in every decision, which is never read, and people who write decisions leave it out.
fn is_a_reason_left_out(violation: &Violation) -> bool {
    violation.kind == ViolationKind::Required
        && violation.pointer.starts_with("/status/decisions/")
        && violation.pointer.ends_with("/reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_has_every_kind_in_the_one_version_that_is_served() {
        let served = |definition: &Crd| definition.served_versions().count();
        assert_eq!(
            DEFINITIONS.iter().map(served).collect::<Vec<_>>(),
            [1; KINDS.len()]
        );
        let has_schema =
            |definition: &Crd| definition.versions.iter().all(|version| version.schema.is_some());
        assert!(DEFINITIONS.iter().all(has_schema));
    }
}
