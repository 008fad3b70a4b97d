//! The predicted status of hub objects: data in reports, never part of a ManifestWork.

use serde::Serialize;

use crate::api::params::InvalidParameters;
use crate::hub::OurClass;

/// What the status of one hub object would say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// Locator of the object.
    pub object: String,
    /// Its conditions.
    pub conditions: Vec<Condition>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Type, such as `Accepted`.
    pub r#type: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Reason in CamelCase.
    pub reason: String,
    /// For people.
    pub message: String,
}

impl ObjectStatus {
    /// The condition Accepted of a GatewayClass (hub.md section 1.3).
    #[must_use]
    pub fn of_class(class: &OurClass<'_>) -> Self {
        Self {
            object: class.class.object.identity().locator(),
            conditions: vec![Condition {
                r#type: InvalidParameters::CONDITION.to_owned(),
                status: if class.params.is_ok() { "True" } else { "False" }.to_owned(),
                reason: match class.params {
                    Ok(_) => "Accepted".to_owned(),
                    Err(_) => InvalidParameters::REASON.to_owned(),
                },
                message: match &class.params {
                    Ok(_) => InvalidParameters::accepted_message(class.class.controller_name),
                    Err(failure) => failure.to_string(),
                },
            }],
        }
    }
}
