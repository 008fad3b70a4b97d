//! The requirements of GEP-713 on the CRDs of policy kinds (docs/systems/gep-713.md#what-a-policy-kind-must-have).
//!
//! Owns: the findings about definitions of kinds that a class of ours syncs. Flows in: the hub, our classes, profiles.
//! Flows out: findings. Must not know: objects of those kinds.

use std::collections::BTreeSet;

use super::profiles::Profiles;
use crate::api::crd::{GROUP, KIND, PolicyLabel};
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Hub, Ours};
use crate::object::Object;
use crate::object::well_known::POLICY_LABEL;
use apimachinery::{Field, GroupKind, pointer};

/// Reports what the definitions of synced kinds lack. A kind without a definition in the input is one that we know.
pub fn report_nonconforming_kinds(hub: &Hub, ours: &Ours<'_>, profiles: &Profiles, findings: &mut Findings) {
    let params = ours
        .classes
        .values()
        .filter_map(|class| class.params.as_ref().ok());
    let synced: BTreeSet<(&str, &str, &str)> = params
        .flat_map(|params| &params.policies_to_sync)
        .map(|synced| {
            (
                synced.group.as_str(),
                synced.kind.as_str(),
                synced.version.as_str(),
            )
        })
        .collect();
    for object in hub.objects.of_kind(GROUP, KIND) {
        let spec = object.root().get("spec");
        let (group, kind) = (spec.text("group"), spec.get("names").text("kind"));
        for (_, kind, version) in synced
            .iter()
            .filter(|(of, named, _)| (Some(*of), Some(*named)) == (group, kind))
        {
            let definition = Definition { object, kind };
            // The label of a known kind need not repeat its class.
            if profiles
                .get(&GroupKind::new(group.unwrap_or_default(), *kind))
                .is_empty()
            {
                findings.extend(definition.label());
            }
            let schema = definition.schema(version);
            findings.extend(schema.as_ref().and_then(|schema| definition.status(schema)));
            findings.extend(schema.iter().flat_map(|schema| definition.references(schema)));
        }
    }
}

struct Definition<'d> {
    object: &'d Object,
    kind: &'d str,
}

impl<'d> Definition<'d> {
    fn finding(&self, pointer: &str, message: String) -> Finding {
        Finding::new(
            Code::POLICY_KIND_NONCONFORMING,
            self.object.place(pointer),
            message,
        )
    }

    /// Which kind of policy it is has to be in a label.
    fn label(&self) -> Option<Finding> {
        let pointer = pointer::child("/metadata/labels", POLICY_LABEL);
        let finding = match self.object.label(POLICY_LABEL) {
            None => self.finding(
                "/metadata",
                format!(
                    "{} has no label `{POLICY_LABEL}`, which GEP-713 requires of every policy kind",
                    self.kind
                ),
            ),
            Some(value)
                if PolicyLabel::parse(value) == PolicyLabel::Unspecified
                    && !value.eq_ignore_ascii_case("true") =>
            {
                self.finding(
                    &pointer,
                    format!(
                        "the label `{POLICY_LABEL}` of {} is `{value}`; GEP-713 allows Direct and Inherited",
                        self.kind
                    ),
                )
            }
            Some(_) => return None,
        };
        Some(finding.help(
            "set the label to Direct or Inherited, or add a profile to the configuration; until then, it is treated as Inherited",
        ))
    }

    /// The schema of a version, unless it takes anything at all.
    fn schema(&self, version: &str) -> Option<Field<'d>> {
        let versions = self.object.root().get("spec").get("versions");
        let known = versions
            .items()
            .find(|known| known.text("name") == Some(version))?;
        let schema = known.get("schema").get("openAPIV3Schema");
        (schema.is_present() && !takes_anything(&schema)).then_some(schema)
    }

    /// Users learn the outcome of a policy from `status.conditions`, or from those of each ancestor.
    fn status(&self, schema: &Field<'_>) -> Option<Finding> {
        let status = schema.get("properties").get("status");
        let fields = status.get("properties");
        if takes_anything(&status)
            || fields.get("conditions").is_present()
            || fields.get("ancestors").is_present()
        {
            return None;
        }
        let (pointer, message) = if status.is_present() {
            (
                status.pointer(),
                format!(
                    "the status of {} has no conditions, which GEP-713 requires of every policy kind",
                    self.kind
                ),
            )
        } else {
            (
                schema.pointer(),
                format!(
                    "{} has no status, which GEP-713 requires of every policy kind",
                    self.kind
                ),
            )
        };
        let help = "add `status` with `conditions`, a list of metav1.Condition, to the schema: without it, no cluster can report the status of a policy";
        Some(self.finding(&pointer, message).help(help))
    }

    /// A target reference is a mapping of group, kind and name.
    fn references(&self, schema: &Field<'_>) -> Vec<Finding> {
        let spec = schema.get("properties").get("spec").get("properties");
        let (one, several) = (spec.get("targetRef"), spec.get("targetRefs"));
        let wrong = |field: Field<'_>, name: &str| {
            let of_type = field.get("type");
            let text = of_type.str().filter(|text| *text != "object")?;
            let message = format!(
                "{name} of {} is of type {text}; GEP-713 requires an object with group, kind, and name",
                self.kind
            );
            let finding = self.finding(&of_type.pointer(), message);
            Some(finding.help("make it an object, so that its target is known"))
        };
        [
            wrong(one, "`targetRef`"),
            wrong(several.get("items"), "an item of `targetRefs`"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Whether a schema leaves open what its objects have.
fn takes_anything(schema: &Field<'_>) -> bool {
    schema
        .get("x-kubernetes-preserve-unknown-fields")
        .boolean()
        .is_ok_and(|anything| anything == Some(true))
}
