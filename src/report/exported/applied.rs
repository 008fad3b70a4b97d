//! Exported AppliedManifestWorks: what a work agent records about one work.
//!
//! Owns: reading one (docs/systems/ocm-work.md#appliedmanifestwork). Flows in: objects. Flows out: [`AppliedWork`]s.
//! Must not know: which resources are still in a work.

use std::sync::Arc;

use crate::object::Object;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL};

/// The record of a work agent about one work.
#[derive(Debug)]
pub(crate) struct AppliedWork {
    /// The object, without its contents.
    pub(in crate::report) object: Object,
    /// The work's name.
    pub(in crate::report) work: String,
    /// Whether MGC, or we, made the work: agents copy its labels.
    pub(in crate::report) is_managed: bool,
    /// Group, plural, namespace and name of what was applied.
    pub(in crate::report) resources: Vec<[Arc<str>; 4]>,
}

impl AppliedWork {
    /// Reads an AppliedManifestWork; `None` if it does not name its work. `text` keeps a text, equal ones once.
    pub(in crate::report) fn read(object: &Object, text: impl Fn(&str) -> Arc<str>) -> Option<Self> {
        let root = object.root();
        let resources = root.get("status").get("appliedResources");
        let resources = resources.items().map(|resource| {
            ["group", "resource", "namespace", "name"]
                .map(|name| text(resource.text(name).unwrap_or_default()))
        });
        Some(Self {
            work: root.get("spec").text("manifestWorkName")?.to_owned(),
            is_managed: object.label(MANAGED_WORK_LABEL) == Some(MANAGED),
            resources: resources.collect(),
            object: object.clone_without_value(),
        })
    }
}
