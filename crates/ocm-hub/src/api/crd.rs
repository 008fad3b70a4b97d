//! CustomResourceDefinitions: how the input defines kinds of its own. The built-in kinds are in [`super::kinds`].

use crd_schema::SchemaProblem;
use kube_json::Text;

use super::{catalog, violation};
use crate::diagnostic::{Code, Finding, Severity};
use crate::object::Object;
use apimachinery::{ApiVersion, Work};

pub use crd_schema::{Crd, Scope};

/// API group of CustomResourceDefinitions.
pub const GROUP: &str = "apiextensions.k8s.io";
/// Their kind.
pub const KIND: &str = "CustomResourceDefinition";

/// Reads a definition, as far as it can be read.
///
/// `None` if not even group, kind, plural, and scope are there: the findings explain why. Broken versions and
/// schemas are left out, with findings.
pub fn read(object: &Object) -> (Option<Crd>, Vec<Finding>) {
    let (crd, wrong) = match Crd::read(&object.value) {
        Ok(crd) => {
            let wrong = findings(object, &crd.problems);
            (Some(crd), wrong)
        }
        Err(problems) => (None, findings(object, &problems)),
    };
    // What a misspelled key means is missing elsewhere: the other problems may follow from it.
    let misspelled = spelling::misspelled(object);
    if misspelled.is_empty() {
        (crd, wrong)
    } else {
        (crd, misspelled)
    }
}

/// Which patterns and CEL rules of a definition cannot be used: [`read`] leaves them to the first object that needs
/// them. `object` is the one that `crd` was read from. Patterns and rules beyond the limit of `work` are not reported.
pub fn verify(crd: &Crd, object: &Object, work: &Work) -> Vec<Finding> {
    findings(object, &crd.verify(work))
}

/// The finding if the definitions of the input need more work than a run spends on them; `object` is the first.
pub fn too_much_work(object: &Object) -> Finding {
    let stage = "evaluating the schemas, CEL rules, and patterns of the CustomResourceDefinitions";
    let place = object.place("/spec/versions");
    Finding::too_costly(stage, place, "no object is checked against them").help(
        "remove the CustomResourceDefinition that has rules over long lists, or patterns with large counts",
    )
}

/// Whether `object` is a definition.
pub fn is_one(object: &Object) -> bool {
    object.is(GROUP, KIND)
}

/// Checks an object of a kind as an API server with strict field validation would, but for what every
/// object's metadata must be: that is checked for all kinds alike, in `hub`. Where `work` is spent afterwards, no
/// answer that it was for counts.
pub fn check(crd: &Crd, object: &Object, work: &Work) -> Vec<Finding> {
    let Some(version) = crd
        .version(&object.api_version.version)
        .filter(|version| version.served)
    else {
        return vec![not_served(object, &crd.plural, crd.served_versions())];
    };
    let Some(schema) = &version.schema else {
        return Vec::new();
    };
    violation::findings(&schema.validate_within(&object.value, work), object)
}

/// Checks an object against `crd`, the definition of its kind in the built-in catalog. A version that the catalog does
/// not have is not checked.
///
/// With `only`, these fields of the spec alone count: that one of them is missing, or that an unknown field was meant
/// to be one of them, or the spec.
pub(crate) fn check_by_catalog(crd: &Crd, object: &Object, only: Option<&[&str]>) -> Vec<Finding> {
    let version = &object.api_version.version;
    let Some(schema) = crd.version(version).and_then(|version| version.schema.as_ref()) else {
        return Vec::new();
    };
    let mut violations = schema.validate_beside_metadata(&object.value);
    if let Some(only) = only {
        let only: Vec<String> = only.iter().map(|field| format!("/spec/{field}")).collect();
        violations.retain(|violation| {
            only.contains(&violation.pointer)
                || violation::meant(violation).is_some_and(|meant| meant == "/spec" || only.contains(&meant))
        });
    }
    if violations.is_empty() {
        return Vec::new();
    }
    let product = catalog::find(&crd.group, &crd.kind).and_then(|entry| entry.product(version));
    // All findings about the object share it.
    let note = Text::from(format!(
        "as of {}; add your own CRD to the input to check against it",
        product.unwrap_or_default()
    ));
    let found = violation::findings(&violations, object).into_iter();
    found.map(|finding| finding.note(note.clone())).collect()
}

/// The finding about an object whose version is not one of those that are served.
fn not_served<'v>(object: &Object, plural: &str, served: impl Iterator<Item = &'v str>) -> Finding {
    let ApiVersion { group, version } = &object.api_version;
    let served: Vec<&str> = served.collect();
    let message = format!(
        "{} {}: version {version:?} of {plural}.{group} is not served",
        object.kind,
        object.key(),
    );
    let finding = Finding::new(Code::OBJECT_SCHEMA, object.place("/apiVersion"), message);
    match served.first() {
        Some(first) => finding.help(format!(
            "write `apiVersion: {group}/{first}`; served: {}",
            served.join(", ")
        )),
        None => finding.help("no version is served: correct the CustomResourceDefinition"),
    }
}

fn findings(object: &Object, problems: &[SchemaProblem]) -> Vec<Finding> {
    problems.iter().map(|problem| finding(object, problem)).collect()
}

fn finding(object: &Object, problem: &SchemaProblem) -> Finding {
    let message = format!("CustomResourceDefinition {}: {problem}", object.name);
    let finding = Finding::new(Code::OBJECT_SCHEMA, object.place(&problem.pointer), message);
    match &problem.suggestion {
        Some(name) => finding.help(format!("name it {name}")),
        None if problem.unsupported => finding
            .severity(Severity::Warning)
            .help("this rule is not checked here; the API server will check it"),
        None => finding,
    }
}

mod spelling;

#[cfg(test)]
mod tests;
