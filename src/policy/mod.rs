//! Policies: which attach where, which win, what results, and what of it reaches a spoke.
//!
//! Owns: attachment, precedence and merging of policies (GEP-713), and the decision what is shipped.
//! Flows in: the hub, our Gateways. Flows out: [`Shipment`]s and what is withheld, with the rule that decided.
//! Must not know: clusters' placement, works, or how a report looks.

mod shipment;
mod sync;
mod unsynced;

pub use shipment::{Shipment, ShipmentTarget, Withheld};
pub use sync::Shipping;
pub use unsynced::{report_unsynced, report_unused};
