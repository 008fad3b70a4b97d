//! The predicted status of hub objects: data in reports, never part of a ManifestWork.

use serde::Serialize;

use crate::api::params::InvalidParameters;
use crate::hub::{OurClass, Ours};
use crate::policy::{Attachments, Statuses};

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
    /// The conditions of our Gateways, as MGC writes them once every work is applied (hub.md section 5.1).
    #[must_use]
    pub fn of_gateways(ours: &Ours<'_>, clusters: &[Vec<String>]) -> Vec<Self> {
        let condition = |kind: &str, status: &str, reason: &str, message: String| Condition {
            r#type: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message,
        };
        let gateways = ours.gateways.iter().zip(clusters);
        gateways
            .filter_map(|(gateway, clusters)| {
                let class = ours.classes.get(gateway.gateway.class_name)?;
                let handled = InvalidParameters::accepted_message(class.class.controller_name);
                let programmed = if clusters.is_empty() {
                    let unknown = "current state of the gateway is unknown".to_owned();
                    condition("Programmed", "Unknown", "Pending", unknown)
                } else {
                    let placed = format!("gateway placed on clusters [{}]", clusters.join(" "));
                    condition("Programmed", "True", "Programmed", placed)
                };
                Some(Self {
                    object: gateway.gateway.object.identity().locator(),
                    conditions: vec![condition("Accepted", "True", "Accepted", handled), programmed],
                })
            })
            .collect()
    }

    /// The conditions of every policy.
    #[must_use]
    pub fn of_policies(attachments: &Attachments<'_>, statuses: &Statuses) -> Vec<Self> {
        statuses
            .iter()
            .map(|(id, status)| Self {
                object: attachments.locator(id).to_string(),
                conditions: std::iter::once(&status.accepted)
                    .chain(&status.effect)
                    .map(|condition| Condition {
                        r#type: condition.kind.clone(),
                        status: condition.status.to_owned(),
                        reason: condition.reason.clone(),
                        message: condition.message.clone(),
                    })
                    .collect(),
            })
            .collect()
    }

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
