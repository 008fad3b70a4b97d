//! The check that no two objects share a work name (docs/systems/mgc.md#defects).
//!
//! Owns: who has which name, and the findings about a second owner and about reserved names. Flows in: names with
//! their objects. Flows out: whether a name is free. Must not know: how a name is derived.

use std::collections::BTreeMap;

use super::rbac;
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use crate::object::well_known::WORK_NAME_ANNOTATION;
use apimachinery::names::NameRule;
use apimachinery::pointer;

/// The names that are taken, and by whom.
#[derive(Debug, Default)]
pub(super) struct WorkNames<'a> {
    taken: BTreeMap<String, &'a Object>,
}

impl<'a> WorkNames<'a> {
    /// Takes a name for an object, also several times for its several contents. `false`, and a finding, when
    /// another object has it, or when Kubernetes or our own files are in its way.
    pub(super) fn claim(&mut self, name: &str, object: &'a Object, findings: &mut Findings) -> bool {
        if let Some(owner) = self.taken.get(name) {
            let ours = owner.identity() == object.identity();
            if !ours {
                findings.push(taken(name, object, owner));
            }
            return ours;
        }
        if name == rbac::WORK_NAME || name == "kustomization" {
            findings.push(reserved(name, object));
            return false;
        }
        if let Err(error) = NameRule::Rfc1123Subdomain.check(name) {
            findings.push(
                Finding::new(
                    Code::OBJECT_INVALID_NAME,
                    place(object),
                    format!("`{name}` cannot be the name of a work"),
                )
                .note(error.to_string())
                .help(format!(
                    "give it another name with the annotation `{WORK_NAME_ANNOTATION}`"
                )),
            );
            return false;
        }
        self.taken.insert(name.to_owned(), object);
        true
    }
}

fn place(object: &Object) -> crate::diagnostic::Place {
    if object.annotation(WORK_NAME_ANNOTATION).is_some() {
        object.place(&pointer::child("/metadata/annotations", WORK_NAME_ANNOTATION))
    } else {
        object.place("/metadata/name")
    }
}

fn taken(name: &str, object: &Object, owner: &Object) -> Finding {
    Finding::new(
        Code::WORK_NAME_TAKEN,
        place(object),
        format!(
            "{} and {} would share the work `{name}`",
            object.identity(),
            owner.identity()
        ),
    )
    .label("this one")
    .related(place(owner), "and this one")
    .help(format!(
        "give one of them another name with the annotation `{WORK_NAME_ANNOTATION}: NAME`"
    ))
}

fn reserved(name: &str, object: &Object) -> Finding {
    Finding::new(
        Code::WORK_NAME_TAKEN,
        place(object),
        format!("the work name `{name}` is reserved for spokewright"),
    )
    .help(format!(
        "write another name into the annotation `{WORK_NAME_ANNOTATION}`"
    ))
}
