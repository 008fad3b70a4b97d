//! The options for policies, from the configuration and the parameters.
//!
//! Owns: [`Options`]. Flows in and out: the same. Must not know: where they were read.

use kube_json::Value;

use super::profiles::Profiles;
use crate::object::{Ages, Object};
use crate::topology::{Controllers, Seniority};
use apimachinery::{GroupKind, Identity};

/// How a policy's spec becomes what its controller would read: defaults of its schema applied, nulls pruned.
/// `None` leaves the spec as it is, less its nulls.
pub(crate) type Interpret<'i> = &'i (dyn Fn(&Object) -> Option<Value> + Sync);

/// Why an API server refuses an object, if it does.
pub(crate) type Refused<'i> = &'i (dyn Fn(&Object) -> Option<String> + Sync);

/// The options from the configuration and the parameters.
#[derive(Clone, Copy, Default)]
pub struct Options<'o> {
    /// Profiles; `None`: the built-in ones.
    pub profiles: Option<&'o Profiles>,
    /// Whether creation times count.
    pub ages: Ages,
    /// The same of routes and ListenerSets of the hub that are copied to a cluster.
    pub ages_of_hub: Ages,
    /// Further policy kinds: those in `policiesToSync`, which may carry no label.
    pub kinds: &'o [GroupKind],
    /// The kinds in `resourcesToSync`: those that are not Gateway API's are further kinds of routes.
    pub routes: &'o [GroupKind],
    /// The classes that ours become on clusters; `None`: no class is ours.
    pub controllers: Option<&'o Controllers>,
    /// Schema defaults, where a CRD is in the input.
    pub interpret: Option<Interpret<'o>>,
    /// The policies that an API server refuses, by their CRD or by the rules of their kind.
    pub refused: Option<Refused<'o>>,
    /// The root namespace of Istio's mesh; `None`: `istio-system`.
    pub root_namespace: Option<&'o str>,
    /// A policy that is taken not to be there.
    pub without: Option<&'o Identity>,
}

impl Options<'_> {
    /// By which ages routes and ListenerSets are ordered.
    pub(crate) const fn seniority(&self) -> Seniority {
        Seniority {
            ages: self.ages,
            of_originals: self.ages_of_hub,
        }
    }

    /// Whether an object is taken to be there.
    pub(crate) fn reads(&self, object: &Object) -> bool {
        self.without.is_none_or(|without| *without != object.identity())
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Options")
            .field("ages", &self.ages)
            .field("kinds", &self.kinds)
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}
