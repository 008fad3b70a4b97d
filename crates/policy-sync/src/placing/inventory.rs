//! The objects of the hub that an evaluation reads.
//!
//! Owns: leaving out the objects that an API server would refuse. Flows in: the hub. Flows out: an inventory, and
//! findings. Must not know: what an evaluation does with it.

use ocm_placement::Inventory;

use super::findings::invalid_field;
use super::location::objects;
use super::misspelled::{misspelled_labels, stray_decisions};
use super::sets::unknown_sets;
use crate::api::ocm::{GROUP, refusals, validate};
use crate::diagnostic::Findings;
use crate::hub::Hub;

/// The objects that placement depends on. An object that an API server would refuse gets a finding and is left out; if
/// the input has the CRD itself, the hub has already reported what its schema refuses.
pub fn inventory<'a>(hub: &'a Hub, findings: &mut Findings) -> Inventory<'a> {
    let speaks = !hub.crds.keys().any(|kind| kind.group == GROUP);
    let mut refused = Vec::new();
    let mut kept = Vec::new();
    for (object, placed) in objects(hub) {
        let by_schema = validate(object);
        let by_webhook = if by_schema.is_empty() {
            refusals(object)
        } else {
            Vec::new()
        };
        if by_schema.is_empty() && by_webhook.is_empty() {
            kept.push(placed);
            continue;
        }
        refused.push(object.identity());
        if speaks {
            findings.extend(by_schema);
        }
        findings.extend(by_webhook);
    }
    let (mut inventory, invalid) = Inventory::read(kept);
    inventory.reject(refused);
    findings.extend(invalid.iter().map(|field| invalid_field(hub, field)));
    findings.extend(unknown_sets(hub));
    findings.extend(misspelled_labels(hub));
    findings.extend(stray_decisions(hub));
    inventory
}
