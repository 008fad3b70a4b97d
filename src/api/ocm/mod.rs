//! What an API server would refuse of OCM's cluster kinds.
//!
//! Owns: their schemas, and the rules of OCM's webhooks, which are asked where the schema has nothing to say. Flows in: dynamic objects. Flows out: findings for what was refused.
//! Must not know: what the scheduler makes of it.

mod schema;
mod webhooks;

use std::sync::LazyLock;

use crd_schema::Schema;
pub(crate) use ocm_placement::GROUP;

pub(crate) use webhooks::refusals;

use super::violation;
use crate::diagnostic::{Code, Finding};
use crate::object::Object;

/// A kind with its one served version.
struct Kind {
    name: &'static str,
    version: &'static str,
    schema: Schema,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let facts = schema::kinds().into_iter();
    facts
        .map(|(name, version, facts)| Kind {
            name,
            version,
            // Status counts: there is no controller to write it, so the scheduler reads what is given.
            schema: Schema::of_resource(&facts, false).0,
        })
        .collect()
});

/// Checks an object of one of the six kinds as an API server would with strict field validation, but for what every
/// object's metadata must be: that is checked for all kinds alike, in `hub`. Objects of
/// other kinds have no findings.
///
/// Every finding is `object/schema` or `object/unknown-field`, an error, at the offending field.
#[must_use]
pub(crate) fn validate(object: &Object) -> Vec<Finding> {
    if object.api_version.group != GROUP {
        return Vec::new();
    }
    let Some(kind) = KINDS.iter().find(|kind| kind.name == object.kind) else {
        return Vec::new();
    };
    if object.api_version.version != kind.version {
        let served = format!("{GROUP}/{}", kind.version);
        let message = format!(
            "{} is served as {served}, not {}",
            object.kind, object.api_version
        );
        return vec![
            Finding::new(Code::OBJECT_SCHEMA, object.place("/apiVersion"), message)
                .help(format!("write `apiVersion: {served}`")),
        ];
    }
    violation::findings(&kind.schema.validate(&object.value), object)
}

#[cfg(test)]
mod tests;
