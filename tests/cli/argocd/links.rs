//! What of a checkout leads out of it: links, and Git's own files.

use std::fs;
use std::os::unix::fs::symlink;

use super::sidecar::Checkout;
use super::{FLEET, repository};
use crate::scratch::Run;

const SECRET: &str = "hunter2-of-somebody-else";

#[test]
fn no_link_in_a_checkout_of_argo_cd_leads_out_of_it() {
    // What lies beside the checkout is real here, and readable.
    for name in [
        "spokewright.yaml",
        "hub",
        "hub/shop/gateway.yaml",
        "hub/linked.yaml",
        "spokes",
        "spokes/eu-1",
    ] {
        let scratch = repository();
        scratch.write("victim/file", SECRET);
        let victim = scratch.path("victim/file");
        let checkout = Checkout::of(&scratch.path("repository"), FLEET);
        let path = checkout.root().join(FLEET).join(name);
        let is_directory = path.is_dir();
        if is_directory {
            fs::remove_dir_all(&path).expect("removed");
        } else {
            let _ = fs::remove_file(&path);
        }
        let target = if is_directory {
            victim.parent().expect("a parent").to_owned()
        } else {
            victim
        };
        symlink(target, &path).expect("a link");
        for (command, is_typed) in [
            ("generate", false),
            ("parameters", false),
            ("generate", true),
            ("parameters", true),
        ] {
            let arguments = ["argocd", command];
            let run = Run::of(&mut if is_typed {
                checkout.typed(&arguments)
            } else {
                checkout.command(&arguments)
            });
            assert!(
                !run.stdout.contains(SECRET) && !run.stderr.contains(SECRET),
                "{run:?}"
            );
            if command == "generate" || name == "spokewright.yaml" {
                run.exits(5).says("error[input/outside]");
                assert_eq!(run.stdout, "", "{name}");
            }
        }
    }
}

#[test]
fn rules_of_git_that_are_a_link_or_stand_outside_of_a_checkout_do_not_count() {
    let scratch = repository();
    let checkout = Checkout::of(&scratch.path("repository"), FLEET);
    let expected = checkout.generate("[]").exits(0).stdout.clone();
    // Each would leave out all, or fail, if it were read.
    scratch.write("rules", "*\n");
    for directory in ["", "apps", "apps/fleet", "apps/fleet/hub", "apps/fleet/hub/shop"] {
        symlink(
            scratch.path("rules"),
            checkout.root().join(directory).join(".gitignore"),
        )
        .expect("a link");
    }
    // A repository around all checkouts, and one that says that it is elsewhere.
    let above = checkout.root().parent().expect("a parent").to_owned();
    fs::write(above.join(".gitignore"), "*\n").expect("a file");
    fs::create_dir(above.join(".git")).expect("a directory");
    fs::create_dir(above.join(".git/info")).expect("a directory");
    fs::write(above.join(".git/info/exclude"), "*\n").expect("a file");
    let git = checkout.root().join(".git");
    let _ = fs::remove_dir_all(&git);
    fs::write(&git, format!("gitdir: {}\n", above.join(".git").display())).expect("a file");
    assert_eq!(checkout.generate("[]").exits(0).stdout, expected);
}
