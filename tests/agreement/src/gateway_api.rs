//! `conformance/tests` of kubernetes-sigs/gateway-api: manifests that every API server accepts.

use std::error::Error;
use std::fs;
use std::path::Path;

use super::Tally;
use super::answers::Answers;

pub(crate) const SUFFIX: &str = ".yaml";

/// Compares one case: what an API server takes is not refused.
pub(crate) fn compare(tally: &mut Tally, case: &str, file: &Path) -> Result<(), Box<dyn Error>> {
    // The suite puts the class in while it reads them.
    let text = fs::read_to_string(file)?.replace("{GATEWAY_CLASS_NAME}", "gateway-conformance");
    let objects = kube_yaml::read_all(&text, &kube_yaml::Limits::default())?;
    let answers = Answers::about(&objects)?;
    let errors = answers.errors.iter().filter(|error| !error.starts_with("empty/"));
    let errors: Vec<&str> = errors.map(String::as_str).collect();
    let ours = errors.first().copied().unwrap_or("accepted");
    tally.say("manifests", (case, "all of its objects"), &"accepted", &ours);
    Ok(())
}
