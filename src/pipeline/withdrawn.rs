//! Why an object that is still in the input is in no work any more.
//!
//! The reason is what another finding says of the object; where none does, it follows from the parameters and from the
//! Gateways that clusters receive.

use super::placed::Placed;
use crate::api::gateway::GROUP;
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use crate::report::WithheldPolicy;
use apimachinery::pointer;

/// The finding about an object that leaves all clusters; `said` are the findings of the run.
pub(super) fn withdrawn(
    object: &Object,
    placed: &Placed<'_>,
    withheld: &[WithheldPolicy],
    said: &[&Findings],
) -> Finding {
    let reason = of_findings(object, said).unwrap_or_else(|| of_parameters(object, placed, withheld));
    let message = format!(
        "{} was shipped and is still in the input, but no cluster receives it any more: {reason}",
        object.identity()
    );
    Finding::new(Code::OBJECT_WITHDRAWN, object.place(""), message)
        .help("correct that, or remove the object from the input if it is meant to leave all clusters")
}

/// What a finding at the object says.
fn of_findings(object: &Object, said: &[&Findings]) -> Option<String> {
    let is_inside = |pointer: &str| pointer::inside(pointer, &object.origin.pointer).is_some();
    let is_about = |finding: &Finding| {
        let place = finding.place.field();
        finding.code != Code::REFERENCE_NOT_SHIPPED
            && place
                .is_some_and(|(document, pointer)| document == object.origin.document && is_inside(pointer))
    };
    let mut all = said.iter().flat_map(|findings| findings.iter());
    all.find(|finding| is_about(finding))
        .map(|finding| finding.message.to_string())
}

fn of_parameters(object: &Object, placed: &Placed<'_>, withheld: &[WithheldPolicy]) -> String {
    let kind = object.group_kind();
    if kind.group == GROUP && kind.kind == "Gateway" {
        let is_ours = placed
            .ours
            .gateways
            .rows()
            .iter()
            .any(|ours| ours.gateway.object.origin == object.origin);
        return if is_ours {
            "its placement selects no cluster".to_owned()
        } else {
            format!(
                "its class has another controllerName than `{}`",
                placed.loaded.config.controller_name
            )
        };
    }
    if object.is(GROUP, "ReferenceGrant") {
        return "nothing that is shipped needs it".to_owned();
    }
    let locator = object.identity().locator();
    if let Some(by) = withheld.iter().find(|withheld| withheld.policy == locator) {
        return format!("`{}` overrides it, because {}", by.winner, by.because);
    }
    let classes = placed.ours.classes.values();
    let mut params = classes.filter_map(|class| class.params.as_deref().ok());
    let is_synced = params.any(|params| {
        let lists = [&params.policies_to_sync, &params.resources_to_sync];
        let mut listed = lists.into_iter().flatten();
        listed.any(|resource| resource.group == kind.group && resource.kind == kind.kind)
    });
    if is_synced {
        "no Gateway that a cluster receives leads to it".to_owned()
    } else {
        "no class of ours lists its kind in `policiesToSync` or `resourcesToSync`".to_owned()
    }
}
