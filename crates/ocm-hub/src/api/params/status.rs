//! Why MGC would not accept a GatewayClass, in MGC's wording. These are the messages of the condition `Accepted`
//! (docs/systems/mgc.md#gatewayclass-status).

use apimachinery::GroupKind;

/// The controller whose GatewayClasses are ours unless the configuration names another
/// (docs/systems/mgc.md#gatewayclass).
pub const CONTROLLER_NAME: &str = "kuadrant.io/mgc-gw-controller";

/// Status `False`, reason `InvalidParameters`; displays as the condition's message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidParameters {
    /// Case 2. Case 1, another class name than MGC's own, is no failure here: any class of the controller counts.
    #[error("Invalid Parameters - unable to retrieve parameters for GroupKind {0}")]
    UnsupportedKind(GroupKind),
    /// Case 3.
    #[error("Invalid Parameters - Namespace must be defined")]
    NamespaceMissing,
    /// Case 4, where the API error is that there is no such ConfigMap.
    #[error("Invalid Parameters - failed to get object {namespace}/{name}: configmaps \"{name}\" not found")]
    NotFound {
        /// Namespace of the reference.
        namespace: String,
        /// Name of the reference.
        name: String,
    },
    /// Case 5.
    #[error("Invalid Parameters - Parameters must be defined in \"params\" field of ConfigMap")]
    ParamsMissing,
    /// Case 6, with our reason in the place of Go's.
    #[error("Invalid Parameters - Failed to unmarshal params: {0}")]
    Unmarshal(String),
    /// What MGC has no message for: a resource that does not exist or is not a policy, which the RFC promises to refuse, and
    /// a class of another controller without a class for the clusters.
    #[error("Invalid Parameters - {0}")]
    Resource(String),
}

impl InvalidParameters {
    /// Type of the condition, for failures and for success.
    pub const CONDITION: &'static str = "Accepted";
    /// Reason of the condition.
    pub const REASON: &'static str = "InvalidParameters";

    /// Case 7: the message of `Accepted=True`, reason `Accepted`.
    pub fn accepted_message(controller_name: &str) -> String {
        format!("Handled by {controller_name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_mgcs_to_the_letter() {
        let text = |failure: InvalidParameters| failure.to_string();
        assert_eq!(
            text(InvalidParameters::UnsupportedKind(GroupKind::new(
                "g.io", "Thing"
            ))),
            "Invalid Parameters - unable to retrieve parameters for GroupKind Thing.g.io"
        );
        assert_eq!(
            text(InvalidParameters::NamespaceMissing),
            "Invalid Parameters - Namespace must be defined"
        );
        assert_eq!(
            text(InvalidParameters::NotFound {
                namespace: "a".into(),
                name: "b".into()
            }),
            "Invalid Parameters - failed to get object a/b: configmaps \"b\" not found"
        );
        assert_eq!(
            text(InvalidParameters::ParamsMissing),
            "Invalid Parameters - Parameters must be defined in \"params\" field of ConfigMap"
        );
        assert_eq!(
            InvalidParameters::accepted_message(CONTROLLER_NAME),
            "Handled by kuadrant.io/mgc-gw-controller"
        );
    }
}
