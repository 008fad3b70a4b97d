//! `init`: files that lack the address of the repository say so. All else about `init` is in the cases.

use std::fs;

use crate::scratch::Scratch;

/// The first line of a file that names spokewright's repository before that has an address.
const OWNER_IS_MISSING: &str = "# Put the owner of spokewright's repository in place of OWNER.\n";

#[test]
fn what_lacks_the_address_of_the_repository_says_so_until_it_is_there() {
    let scratch = Scratch::new();
    let with = ["init", "fleet", "--with", "github,gitlab,pre-commit,flux,argocd"];
    let run = scratch.run(&with);
    // `tools/set-repository` ends it.
    if !env!("CARGO_PKG_REPOSITORY").contains("/OWNER/") {
        run.exits(0).does_not_say("in place of OWNER");
        return;
    }
    let github = ".github/workflows/spokewright.yml";
    let line = |files: &str| {
        format!("next: put the owner of spokewright's repository in place of OWNER in {files}\n")
    };
    let all = line(&format!("{github}, .gitlab-ci.yml, .pre-commit-config.yaml"));
    assert!(run.exits(0).stderr.ends_with(&all), "{}", run.stderr);
    scratch.run(&["check", "fleet"]).exits(0).says(&all);
    for file in [github, ".gitlab-ci.yml", ".pre-commit-config.yaml"] {
        let path = format!("fleet/{file}");
        let text = fs::read_to_string(scratch.path(&path)).expect("written");
        assert!(text.starts_with(OWNER_IS_MISSING), "{file}");
        if file != github {
            scratch.write(&path, &text.replace("OWNER", "acme"));
        }
    }
    scratch.run(&["check", "fleet"]).exits(0).says(&line(github));
    let quiet = scratch.run(&["check", "fleet", "-q"]);
    assert_eq!(quiet.exits(0).stderr, "");
}
