//! References of shipped objects to other namespaces that no ReferenceGrant permits, on the hub or on their clusters.
//!
//! Controllers on the clusters take such a reference for nothing (docs/systems/gateway-api.md#references). A grant of the
//! hub goes along with what needs it (`grants`), so that only where there is none the clusters' own are looked at. Secrets
//! of listeners are looked at where they are copied.

use std::collections::BTreeMap;

use super::grants::{From, crossing, from_of};
use super::on_spokes::OnSpokes;
use super::reference_fields::Needed;
use crate::diagnostic::{Code, Finding, Findings, Severity, fitting_names};
use crate::hub::Grants;
use crate::object::Object;
use apimachinery::{GroupKind, Identity};

/// So many references to one namespace are pointed at; more are counted.
const MOST_PLACES: usize = 5;
/// Columns for the names of clusters in a message.
const CLUSTERS_WIDTH: usize = 40;

/// The grants that are nowhere, each with the references that need it.
pub(super) struct MissingGrants<'g, 'a> {
    grants: &'g Grants<'a>,
    /// By what refers, and by the namespace and the kind that it refers to.
    missing: BTreeMap<(From<'a>, String, GroupKind), Vec<Missing<'a>>>,
}

/// A reference that nothing permits.
struct Missing<'a> {
    object: &'a Object,
    /// The pointer of the reference.
    pointer: String,
    to: Identity,
    clusters: Vec<&'a str>,
    /// The namespace of the copy that refers to it there.
    namespace: String,
}

impl<'g, 'a> MissingGrants<'g, 'a> {
    /// The collector, with the grants of the hub.
    pub(super) const fn new(grants: &'g Grants<'a>) -> Self {
        Self {
            grants,
            missing: BTreeMap::new(),
        }
    }

    /// Looks at a reference of an object of the hub, whose copy is in `namespace` on these clusters.
    pub(super) fn look(
        &mut self,
        there: &OnSpokes<'_>,
        (object, namespace, clusters): (&'a Object, &str, &'a [String]),
        (needed, pointer): (&Needed, &str),
    ) {
        let Some(to) = crossing(needed, namespace) else {
            return;
        };
        let from = from_of(object);
        if self.grants.permitting(from, to).next().is_some() {
            return;
        }
        let from_there = (from.0, from.1, namespace);
        let lacking = clusters.iter().map(String::as_str);
        let lacking: Vec<&'a str> = lacking
            .filter(|cluster| !there.permit_locally(cluster, from_there, to))
            .collect();
        if !lacking.is_empty() {
            let key = (
                from,
                to.namespace.clone().unwrap_or_default(),
                to.group_kind.clone(),
            );
            self.missing.entry(key).or_default().push(Missing {
                object,
                pointer: pointer.strip_suffix("/name").unwrap_or(pointer).to_owned(),
                to: to.clone(),
                clusters: lacking,
                namespace: namespace.to_owned(),
            });
        }
    }

    /// Reports each missing grant once.
    pub(super) fn report(self, findings: &mut Findings) {
        for (((group, kind, own), namespace, to_kind), missing) in self.missing {
            let Some(first) = missing.first() else { continue };
            let mut clusters: Vec<&str> = missing
                .iter()
                .flat_map(|missing| &missing.clusters)
                .copied()
                .collect();
            clusters.sort_unstable();
            clusters.dedup();
            let place =
                |missing: &Missing<'_>| missing.object.place(&format!("{}/namespace", missing.pointer));
            let mut finding = Finding::new(
                Code::REFERENCE_NOT_PERMITTED,
                place(first),
                format!(
                    "{} may not refer to {}, which is in another namespace, on {}",
                    first.object.identity(),
                    first.to,
                    fitting_names(&clusters, CLUSTERS_WIDTH)
                ),
            )
            .label("another namespace");
            let mut others: Vec<_> = missing
                .iter()
                .filter(|other| place(other) != place(first))
                .collect();
            others.dedup_by_key(|other| place(other));
            for other in others.iter().take(MOST_PLACES) {
                finding = finding.related(
                    place(other),
                    format!("and {} refers to it", other.object.identity()),
                );
            }
            let more = others.len().saturating_sub(MOST_PLACES);
            if more > 0 {
                finding = finding.note(format!("{more} more do"));
            }
            let to = (
                to_kind.group.as_str(),
                to_kind.kind.as_str(),
                first.to.name.as_str(),
            );
            findings.push(match self.grants.almost_permit((group, kind, own), &namespace, to) {
                // A typo must not take a backend from a route without failing the run.
                Some((place, help)) => finding
                    .severity(Severity::Error)
                    .related(place, "this grant names another namespace")
                    .help(help),
                None => {
                    let there = if first.namespace == own {
                        String::new()
                    } else {
                        format!("; one that lives on a cluster has to say `{}`", first.namespace)
                    };
                    finding.help(format!(
                        "add a ReferenceGrant to namespace `{namespace}`, from {group} `{kind}` in namespace `{own}` to {}{there}",
                        to_kind.kind
                    ))
                }
            });
        }
    }
}
