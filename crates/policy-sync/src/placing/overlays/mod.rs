//! ClusterOverlays: which clusters each of them selects, what it changes there, and what several come to.
//!
//! All pointers are those of the object as the hub has it, and no change affects which objects there are
//! (`reading`). So neither the order of overlays nor that of files decides anything.

mod applying;
mod changes;
mod reading;

use apimachinery::Work;

use crate::api::overlay;
use crate::api::own_kinds::{GROUP, OVERLAY};
use crate::diagnostic::{Finding, Findings, Place};
use crate::hub::Hub;
use applying::Applying;
use reading::{Fleet, Reader, fleet};

pub use changes::{ChangedField, ClusterNames, OverlaidClusters, Overlay, Overlays, ValueHere, effects, set};
pub use reading::may_change;

impl Overlays {
    /// Reads all overlays of a hub, and applies them for the clusters that `admits` accepts. Names of clusters are judged
    /// against the whole fleet.
    pub fn new(hub: &Hub, admits: impl Fn(&str) -> bool, findings: &mut Findings) -> Self {
        if hub.objects.of_kind(GROUP, OVERLAY).is_empty() {
            return Self::default();
        }
        let fleet = fleet(hub, admits);
        Self::read_and_apply(hub, &fleet, findings).unwrap_or_else(|| {
            let stage = "applying all ClusterOverlays";
            let finding = Finding::too_costly(stage, Place::Run, "no overlay is applied");
            let help =
                "select fewer clusters or objects, or use fewer values that differ from cluster to cluster";
            findings.push(finding.help(help));
            Self::default()
        })
    }

    /// Nothing if it takes more work than a run allows.
    fn read_and_apply(hub: &Hub, fleet: &Fleet<'_>, findings: &mut Findings) -> Option<Self> {
        let work = Work::default();
        let mut reader = Reader::new(hub, fleet, &work, findings);
        let mut overlays = Vec::new();
        for object in hub.objects.of_kind(GROUP, OVERLAY) {
            let (written, wrong) = overlay::read(object);
            reader.findings.extend(wrong);
            if let Some(written) = written {
                overlays.push(reader.read(object, &written)?);
            }
        }
        let mut applying = Applying::new(hub, &overlays, &work);
        let classes = applying.classes()?;
        findings.extend(applying.conflicts());
        for ((overlay, field), clusters) in applying.overridden {
            let overlay = overlays.get_mut(overlay);
            if let Some(field) = overlay.and_then(|overlay| overlay.fields.get_mut(field)) {
                field.overridden = clusters;
            }
        }
        Some(Self {
            overlays,
            classes,
            cluster_count: fleet.values().filter(|cluster| cluster.is_admitted).count(),
        })
    }
}
