//! Suggests the next command to type: after a first success, and if there was nothing to show.
//!
//! Owns: these lines, and when they help: once, to people, never to scripts. Mistakes need no such line, because every
//! finding has its help.
//! Flows in: what a command found. Flows out: unobtrusive lines on stderr.
//! Must not know: how anything is decided.

use std::path::{Path, PathBuf};

use spokewright::diagnostic::{counted, shell_path};
use spokewright::output::{self, ChangeKind, Summary};
use spokewright::pipeline::{CONFIG_NAME, Loaded, start};

use super::options::ReadOptions;
use super::show;
use super::speech::Speech;

/// After a directory was rendered for the first time.
pub(crate) fn after_first_render(loaded: &Loaded, summary: &Summary, speech: Speech) {
    let is_first = summary
        .differing
        .iter()
        .any(|change| change.path == output::INVENTORY && change.kind == ChangeKind::Missing);
    if !is_first {
        return;
    }
    let directory = word(&loaded.output);
    show::calm(
        &format!(
            "next: commit {directory}; Argo CD, Flux or `kubectl apply -k {directory}` brings it to the hub"
        ),
        speech,
    );
    show::calm(
        "      `spokewright diff` then shows what a change does to every cluster",
        speech,
    );
}

/// After nothing was written because nothing changed.
pub(crate) fn after_no_change(loaded: &Loaded, options: &ReadOptions) {
    let (directory, page) = (word(&loaded.output), command("page", &options.paths));
    show::calm(
        &format!("next: open {directory}, or make one page of it: `{page} -o fleet.html`"),
        options.speech,
    );
}

/// Where files of tools in the directory of the configuration name spokewright's repository without its owner.
pub(crate) fn without_owner(directory: &Path, speech: Speech) {
    let files = start::without_owner(directory);
    if !files.is_empty() {
        let files = files.join(", ");
        let line = format!("next: put the owner of spokewright's repository in place of OWNER in {files}");
        show::calm(&line, speech);
    }
}

/// After works left the tree: what deletes them on the hub (docs/systems/gitops.md#what-prunes).
pub(crate) fn after_deletions(summary: &Summary, options: &ReadOptions) {
    let is_work = |path: &str| {
        path.contains('/') && !path.starts_with("_hub/") && !path.ends_with("/kustomization.yaml")
    };
    let left = summary.differing.iter();
    let left = left.filter(|change| change.kind == ChangeKind::Stale && is_work(&change.path));
    let left = left.count();
    if left == 0 {
        return;
    }
    show::calm(
        &format!(
            "next: {} left the tree. On the hub, Argo CD and Flux delete them with `prune: true`; `kubectl apply` deletes nothing, and with `--prune` nothing in namespaces of clusters that left. `{} --works FILE` lists works that are still there",
            counted(left, "work"),
            command("prune-list", &options.paths),
        ),
        options.speech,
    );
}

/// After nothing was wrong in an input that was never rendered.
pub(crate) fn after_clean_check(loaded: &Loaded, options: &ReadOptions) {
    // Whoever has a configuration knows how to go on, or lets Argo CD render.
    let first = loaded.sources.files().first();
    let is_configured = first.is_some_and(|file| file.relative == CONFIG_NAME);
    if is_configured || options.reads_stdin() || output::is_tree(&loaded.output) {
        return;
    }
    show::calm(
        &format!(
            "next: `{}` writes one directory per cluster into {}",
            command("render", &options.paths),
            word(&loaded.output)
        ),
        options.speech,
    );
}

/// Where the input has no Placement.
pub(crate) fn without_placements(loaded: &Loaded, speech: Speech) {
    let decisions = loaded
        .hub
        .objects
        .of_kind(ocm_placement::GROUP, "PlacementDecision");
    let lines = if decisions.is_empty() {
        [
            "next: add the objects that the hub decides by:",
            "      `kubectl get placement,managedcluster,managedclusterset,managedclustersetbinding -A -o yaml`",
        ]
    } else {
        [
            "the PlacementDecisions of the input apply as they are; `spokewright render` uses them",
            "next: to evaluate, add the Placements: `kubectl get placement -A -o yaml`",
        ]
    };
    say(loaded, "placement", &lines, speech);
}

/// Where the input has no policy.
pub(crate) fn without_policies(loaded: &Loaded, speech: Speech) {
    say(
        loaded,
        "policies",
        &[
            "next: add a policy: an object with `targetRef`, of a kind that is built in or whose CRD is in the input",
        ],
        speech,
    );
}

/// Where nothing in the input has a status that could be predicted.
pub(crate) fn without_statuses(loaded: &Loaded, speech: Speech) {
    say(
        loaded,
        "status",
        &["next: `spokewright check` shows what is missing to render"],
        speech,
    );
}

/// Where nothing can be drawn.
pub(crate) fn without_nodes(loaded: &Loaded, speech: Speech) {
    say(
        loaded,
        "graph",
        &[
            "nothing to draw: the input has no GatewayClass, Gateway, route or policy",
            "next: `spokewright check` shows what is missing to render",
        ],
        speech,
    );
}

/// `lines`, or what explains more: that nothing at all was read.
fn say(loaded: &Loaded, command: &str, lines: &[&str], speech: Speech) {
    if !loaded.hub.objects.is_empty() {
        for line in lines {
            show::calm(line, speech);
        }
        return;
    }
    show::calm("no Kubernetes object was read", speech);
    show::calm(
        &format!(
            "next: name the directory of the hub, as in `spokewright {command} hub`; `-v` lists the files that were read"
        ),
        speech,
    );
}

/// A command over the same input.
pub(crate) fn command(name: &str, paths: &[PathBuf]) -> String {
    let mut words = vec!["spokewright".to_owned(), name.to_owned()];
    let named = paths.iter().filter(|path| path.as_os_str() != ".");
    words.extend(named.map(|path| word(path)));
    words.join(" ")
}

/// A path as a shell takes it.
fn word(path: &Path) -> String {
    let parts = path
        .components()
        .filter(|part| *part != std::path::Component::CurDir);
    shell_path(&parts.collect::<PathBuf>().display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_as_it_stands() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(command("render", &paths(&["."])), "spokewright render");
        assert_eq!(
            command("render", &paths(&["./hub", "my hub", "it's"])),
            "spokewright render hub 'my hub' 'it'\\''s'"
        );
    }
}
