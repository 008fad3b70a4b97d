//! Turns synced objects into works: exactly what each cluster receives.
//!
//! Owns: Secrets as they are on a spoke; the ManifestWorks that contain them, Gateways, policies, and routes; feedback
//! rules, the orphaning rule, and RBAC; the annotated hub objects: the [`Plan`].
//! Flows in: the hub, our classes and Gateways, the clusters of each Gateway, the objects that are synced.
//! Flows out: a [`Plan`] of texts that only lack the cluster's name.
//! [`Layout`] lays a plan out as a tree of files. Must not know: why a cluster or a policy was chosen, or the disk.

mod names;
mod policy_conditions;

mod condition_rules;

mod manifest;
mod namespaces;

mod input;

mod feedback;
mod manifest_configs;
mod orphaning;

mod carried;
mod gateway;
mod secrets;

mod collisions;
mod findings;
mod work;
mod work_names;

mod rbac;

mod plan;

mod replica_sets;

mod earlier_works;
mod moved;
mod narrowed;
mod refused;
mod withdrawn;

mod hub_objects;

mod drafted;

mod assemble;

mod kustomization;
mod selection;

mod layout;

mod flux;

mod decision_files;

pub use crate::api::ocm_work::{APPLIED_MANIFEST_WORK, GROUP, MANIFEST_WORK, WorkValidation};
pub use crate::object::well_known::PLACEMENT_LABEL_POINTER;
pub(crate) use assemble::render;
pub use decision_files::{decision_file, decision_files};
pub(crate) use earlier_works::{EarlierWorks, Replaced};
pub use flux::FluxKustomizations;
pub use input::WorkKind;
pub(crate) use input::{Input, Settings};
pub use layout::Layout;
pub(crate) use moved::moved;
pub(crate) use names::MANIFEST_KEY_LABEL;
pub(crate) use names::{manifest_key, work_name};
pub(crate) use namespaces::Namespaces;
pub(crate) use narrowed::narrowed;
pub(crate) use plan::REPLICA_SETS;
pub use plan::{ManifestSummary, Plan, ReplicaSet, Work, WorkId};
pub(crate) use policy_conditions::policy_conditions;
pub(crate) use rbac::{RBAC_GROUP, WORK_NAME as RBAC_WORK, is_agents_own};
pub(crate) use refused::refused;
pub use selection::{ClusterNames, Selection, Shard};
pub(crate) use withdrawn::withdrawn;
pub use work::WorkText;
