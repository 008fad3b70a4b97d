//! Turns synced objects into works: exactly what each cluster receives.
//!
//! The result is a [`Plan`] of texts that only lack the name of the cluster, which [`Layout`] lays out as a tree of files.
//! Why a cluster or a policy was chosen is decided before, and nothing here touches the disk.

mod assemble;
mod carried;
mod earlier_works;
mod hub_objects;
mod input;
mod layout;
mod manifest;
mod names;
mod plan;
mod rbac;
mod replica_sets;
mod secrets;
mod selection;
mod work;

pub use crate::api::ocm_work::{APPLIED_MANIFEST_WORK, GROUP, MANIFEST_WORK, WorkValidation};
pub use crate::object::well_known::PLACEMENT_LABEL_POINTER;
pub(crate) use assemble::render;
pub(crate) use carried::SyncWaves;
pub(crate) use earlier_works::{EarlierWorks, Replaced, leaving, moved, narrowed, refused, withdrawn};
pub(crate) use input::Input;
pub use input::{WorkKind, decision_file, decision_files};
pub use layout::{FluxKustomizations, Layout};
pub use manifest::ManifestSummary;
pub(crate) use manifest::policy_conditions;
pub(crate) use names::{MANIFEST_KEY_LABEL, manifest_key, work_name};
pub(crate) use plan::REPLICA_SETS;
pub use plan::{Plan, ReplicaSet, Work, WorkId};
pub(crate) use rbac::{
    RBAC_GROUP, Rights, WORK_NAME as RBAC_WORK, deletable, dotted, is_agents_own, list, manifest_names, text,
};
pub use selection::{ClusterNames, Selection, Shard};
pub(crate) use work::SUBSTITUTE;
pub use work::WorkText;
