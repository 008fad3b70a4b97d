//! Findings about works that cannot be applied, or that need an explanation.
//!
//! Owns: their wording. Flows in: objects, sizes, names. Flows out: findings. Must not know: how a work is made.

use crate::api::downstream::NAMESPACE_PREFIX;
use crate::api::params::{Params, WorkPer};
use crate::diagnostic::{Code, Finding};
use crate::object::{Object, SUBSTITUTE_FIRST};

pub(super) fn namespace_too_long(object: &Object) -> Finding {
    let namespace = object.namespace_or_empty();
    Finding::new(
        Code::GATEWAY_INVALID,
        object.place("/metadata/namespace"),
        format!(
            "{} cannot be placed: `{NAMESPACE_PREFIX}{namespace}` is longer than 63 characters",
            object.identity()
        ),
    )
    .label(format!("{} characters", namespace.len()))
    .note(format!(
        "on the spokes a Gateway lives in `{NAMESPACE_PREFIX}<namespace>`"
    ))
    .help("move it to a namespace of at most 54 characters")
}

pub(super) fn too_large(object: &Object, size: u64, params: &Params, name: &str) -> Finding {
    let limit = params.max_work_bytes;
    let help = if params.work_per != WorkPer::Object && object.kind == "Gateway" {
        "set `workPer: Both` and a higher `maxWorkBytes` in the parameters until every work is applied, then \
         `workPer: Object`, which gives each object a work of its own"
    } else {
        "make the object smaller, or raise `maxWorkBytes` in the parameters"
    };
    Finding::new(
        Code::WORK_TOO_LARGE,
        object.place("/metadata/name"),
        format!("the work `{name}` has {size} bytes of manifests; its class allows {limit}"),
    )
    .label("this object's work")
    .note("OCM refuses works above 512000 bytes, and client-side apply stops at 262144")
    .help(help)
}

pub(super) fn too_many(object: &Object) -> Finding {
    let stage = format!("planning all works up to those of {}", object.identity());
    Finding::too_costly(&stage, object.place("/metadata/name"), "nothing is rendered")
    .note("a work counts once on each cluster that receives it")
    .help("place fewer Gateways on each cluster, set `workPer: Gateway` in the parameters, or render parts of the hub from directories of their own")
}

pub(super) fn substitution(object: &Object, name: &str, variable: Option<&str>) -> Finding {
    let finding = Finding::new(
        Code::WORK_SUBSTITUTION,
        object.place("/metadata/name"),
        format!(
            "the work `{name}` contains `{}`, which Flux would substitute",
            variable.unwrap_or("${")
        ),
    )
    .label("this object's work")
    .note("the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled` prevents this");
    let silence = "`findings: {work/substitution: off}` in spokewright.yaml silences this";
    match variable {
        Some(variable) => finding.help(format!(
            "if `{variable}` should get a value, substitute it first: {SUBSTITUTE_FIRST}; if it is text, {silence}"
        )),
        None => finding.help(format!("no change is needed; {silence}")),
    }
}
