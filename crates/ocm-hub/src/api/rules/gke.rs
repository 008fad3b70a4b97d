//! GKE's policies that select their targets by labels (docs/systems/other-policies.md#gke).

use super::complaints::{Complaints, says};

/// A policy of GKE.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    let spec = complaints.spec();
    let targets = spec.get("targetRefs");
    match complaints.kind() {
        "GCPAuthzPolicy" => {
            let mut pods = 0_usize;
            for target in targets.items() {
                let (name, selector) = (target.get("name"), target.get("selector"));
                match target.text("kind") {
                    Some("Gateway") if selector.is_present() => {
                        complaints.key(
                            &selector,
                            "a Gateway must be targeted by name",
                            "remove `selector`",
                        );
                    }
                    Some("Gateway") if !name.is_present() => {
                        complaints.value(&target, "a Gateway must be targeted by name", "add `name`");
                    }
                    Some("Pod") => {
                        pods = pods.saturating_add(1);
                        if name.is_present() {
                            complaints.key(&name, "Pods must be targeted by their labels", "remove `name`");
                        } else if !selector.is_present() {
                            complaints.value(
                                &target,
                                "Pods must be targeted by their labels",
                                "add `selector`",
                            );
                        } else if pods > 1 {
                            let message = "Pods can be targeted by only one selector";
                            complaints.value(&target, message, "write a policy for each");
                        }
                    }
                    _ => {}
                }
            }
        }
        "GCPClientTLSPolicy" => {
            for target in targets.items() {
                let section = target.get("sectionName");
                if target.text("kind") == Some("Namespace") && says(&section) {
                    complaints.key(&section, "a Namespace has no sections", "remove `sectionName`");
                }
            }
        }
        "GCPServerTLSPolicy" => {
            let ports = spec.get("portOverrides");
            for target in targets.items() {
                let selector = target.get("selector");
                let labels = selector.get("matchLabels");
                if selector.get("matchExpressions").items().next().is_some() {
                    let message = "GKE supports only `matchLabels`";
                    complaints.key(&selector.get("matchExpressions"), message, "write `matchLabels`");
                }
                if ports.is_present() && labels.entries().next().is_none() {
                    let message = "`portOverrides` needs a selector with labels, but this policy is for a whole namespace";
                    complaints.key(&ports, message, "remove `portOverrides`, or add `matchLabels`");
                }
            }
        }
        _ => {}
    }
}
