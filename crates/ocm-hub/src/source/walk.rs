//! Which files are input: walking, hidden files, `.gitignore`, `exclude`, symbolic links. The rules are the same for
//! every tree, and for [`super::Watched`].

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use apimachinery::Work;
use ignore::gitignore::Gitignore;

use super::git_index::WorkTree;
use super::ignored::{EXTENSIONS, Rules, exclusions, is_manifest};
use super::tree::{FileTree, Lead, STEPS_PER_COPY, TreeEntry, TreeError, about, show, without_dots};
use crate::diagnostic::{Code, Finding, Findings};
use crate::progress::Progress;
use crate::sandbox::or_here;

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Hub inputs: files or directories.
    pub hub: Vec<PathBuf>,
    /// The directory with one directory per cluster of what already lives there; may be absent on disk.
    pub spokes: Option<PathBuf>,
    /// Directories and files whose CustomResourceDefinitions are read, and nothing else; no hub input, wherever they
    /// lie.
    pub definitions: Vec<PathBuf>,
    /// Directories and files that are not input although they lie inside: the output directory.
    pub skip: Vec<PathBuf>,
    /// A directory with a file of this name is an output tree, never input, regardless of its name, unless the file is
    /// empty. Every one that is not among `own_outputs` is reported, because the user must know what is not read.
    pub output_marker: Option<&'static str>,
    /// The directories that this run, or another of this configuration, writes.
    pub own_outputs: Vec<PathBuf>,
    /// Also report the output trees next to the input, anywhere below `root` except below a directory that has a
    /// configuration of its own: a file of this name.
    pub outputs_beside: Option<&'static str>,
    /// Globs in `.gitignore` syntax, relative to `root`.
    pub exclude: Vec<String>,
    /// The repository of the configuration: an input that only the configuration names must be in it. Otherwise a
    /// stranger's commit could read files elsewhere on the machine.
    pub within: Option<PathBuf>,
    /// Inputs that the command line names: they may lie anywhere.
    pub from_command_line: Vec<PathBuf>,
    /// The directory that paths in reports are relative to: that of the configuration file, or the input itself.
    pub root: PathBuf,
    /// The observer of the progress of reading.
    pub progress: Progress,
}

impl Request {
    /// The paths of the command line, below which files are read.
    pub(super) fn named(&self) -> impl Iterator<Item = &Path> {
        let inputs = self.hub.iter().chain(&self.spokes).chain(&self.definitions);
        let beside = self.outputs_beside.map(|_| &self.root);
        inputs.chain(beside).map(PathBuf::as_path)
    }

    /// The root, as a directory that can be opened.
    pub fn root(&self) -> &Path {
        or_here(&self.root)
    }
}

/// Where a file belongs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Room {
    /// The hub: rendered.
    Hub,
    /// The objects that already live on the cluster of this name: read, never rendered.
    Spoke(String),
    /// None: its CustomResourceDefinitions teach kinds, and nothing else of it is read.
    Definitions,
}

/// A file that will be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Discovered {
    /// Hub, spoke, or neither.
    pub room: Room,
    /// Path relative to [`Request::root`] if it is below it, with `/` between components.
    pub relative: String,
    /// The path to show to people.
    pub path: PathBuf,
    /// Its real path in the tree.
    pub at: PathBuf,
}

/// The results of a walk.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The files that will be read, sorted by room and relative path, each once whatever paths lead to it.
    pub(super) files: Vec<Discovered>,
    /// The real directories that were walked.
    directories: BTreeSet<PathBuf>,
    /// Directories that are Helm charts: their templates are not read.
    pub(super) charts: BTreeSet<String>,
    /// What is wrong with what was asked for, and on the way.
    pub(super) findings: Findings,
}

/// Linux takes no longer path (`PATH_MAX`).
const LONGEST_PATH: usize = 4096;

/// Lists the input files of a tree; of the disk, as Git knows it (`committed`).
pub(super) fn walk(request: &Request, tree: &dyn FileTree, committed: Option<&WorkTree<'_>>) -> Walked {
    let real = |path: &PathBuf| match tree.resolve(&tree.locate(path)?) {
        Ok(Lead::To(real, _)) => Some(real),
        _ => None,
    };
    let spokes = request.spokes.as_ref().and_then(real);
    let mut walked = Walked::default();
    let exclude = exclusions(
        &without_dots(&request.root),
        &request.exclude,
        &mut walked.findings,
    );
    let mut walk = Walk {
        request,
        tree,
        committed,
        seen: HashSet::new(),
        work: Work::default(),
        exclude,
        skip: request.skip.iter().filter_map(real).collect(),
        skipped_names: request.skip.iter().map(|path| without_dots(path)).collect(),
        spokes,
        definitions: request.definitions.iter().filter_map(real).collect(),
        outputs: request.own_outputs.iter().filter_map(real).collect(),
        walked,
    };
    for path in &request.hub {
        walk.input(path, &Room::Hub);
    }
    walk.spokes();
    for path in &request.definitions {
        walk.input(path, &Room::Definitions);
    }
    if let Some(config) = request.outputs_beside {
        walk.outputs_beside(config);
    }
    let mut walked = walk.walked;
    walked.files.sort();
    let mut seen = HashSet::with_capacity(walked.files.len());
    // As texts: paths are compared part by part.
    let place = |file: &'_ Discovered| (file.room.clone(), file.at.clone().into_os_string());
    walked.files.retain(|file| seen.insert(place(file)));
    walked
}

struct Walk<'a> {
    request: &'a Request,
    tree: &'a dyn FileTree,
    committed: Option<&'a WorkTree<'a>>,
    /// The directories that were walked, by their identity.
    seen: HashSet<PathBuf>,
    /// For what is walked again.
    work: Work,
    exclude: Gitignore,
    /// Real paths that are skipped: the output directory, the configuration.
    skip: Vec<PathBuf>,
    /// The same as users name them: a link there is not input either, wherever it leads.
    skipped_names: BTreeSet<PathBuf>,
    /// The real directory of the spokes: skipped while the hub is walked.
    spokes: Option<PathBuf>,
    /// The real paths of [`Request::definitions`]: skipped while the hub is walked.
    definitions: Vec<PathBuf>,
    /// The real paths of output trees of which nothing is to be said: [`Request::own_outputs`], and those reported.
    outputs: BTreeSet<PathBuf>,
    walked: Walked,
}

/// A directory that is still to be walked.
struct Directory {
    real: PathBuf,
    /// As a user would type it.
    shown: PathBuf,
    /// The real path of the input, and below it the names as they were walked: a link is where it is, for the rules
    /// of a `.gitignore` as for `exclude`.
    way: PathBuf,
    rules: Rules,
    /// The straight ways down to here, from and to a real path; each except the last ends at a link.
    ways: Vec<(PathBuf, PathBuf)>,
}

impl Directory {
    /// What an entry of it leads to.
    fn child(&self, name: &OsStr, real: PathBuf) -> Self {
        let mut ways = self.ways.clone();
        match ways.last_mut() {
            Some((_, to)) if real == self.real.join(name) => to.clone_from(&real),
            _ => ways.push((real.clone(), real.clone())),
        }
        Self {
            shown: self.shown.join(name),
            way: self.way.join(name),
            rules: self.rules.clone(),
            ways,
            real,
        }
    }

    /// Whether the way down to here goes through `real`: a link to it is a loop.
    fn is_below(&self, real: &Path) -> bool {
        self.ways
            .iter()
            .any(|(from, to)| real.starts_with(from) && to.starts_with(real))
    }
}

impl Walk<'_> {
    /// One input path: a file is read whatever its name, a directory is walked.
    fn input(&mut self, path: &Path, room: &Room) {
        let Some(at) = self.tree.locate(path) else {
            return self.report(outside_of_the_tree(self.tree, path));
        };
        let (real, entry) = match self.tree.resolve(&at) {
            Ok(Lead::To(real, entry)) => (real, entry),
            Ok(lead) => {
                // A file that another tree lacks may be new on disk.
                if self.tree.name().is_none() {
                    self.report(match lead {
                        Lead::Outside => outside_of_the_tree(self.tree, path),
                        _ => no_such_input(path),
                    });
                }
                return;
            }
            Err(error) => return self.unreadable(path, &error),
        };
        let within = self.request.within.as_ref();
        if within.is_some_and(|within| !real.starts_with(within))
            && !self.request.from_command_line.iter().any(|named| named == path)
        {
            return self.report(outside_of_the_repository(path));
        }
        match self.committed(&real, entry) {
            TreeEntry::Directory => self.descend(path, &real, room),
            TreeEntry::Submodule => self.submodule(path),
            TreeEntry::Pointer => self.report(pointer(path)),
            _ => self.take(path, real, room),
        }
    }

    /// Each directory below `spokes` is a cluster; files directly in it belong to none. It may be absent.
    fn spokes(&mut self) {
        let Some(spokes) = &self.request.spokes else {
            return;
        };
        if self.spokes.is_none() && self.committed.is_some_and(|git| git.is_left_out(spokes)) {
            self.report(left_out(spokes));
        }
        let is_outside = self.tree.locate(spokes).is_none();
        // Outside of the tree nothing of it is read; only whether somebody expects that it is.
        if self.spokes.is_none() && !(is_outside && spokes.is_dir()) {
            return;
        }
        let hub = std::mem::take(&mut self.walked.files);
        self.input(spokes, &Room::Spoke(String::new()));
        for mut file in std::mem::replace(&mut self.walked.files, hub) {
            if let Some(room) = spoke_of(&file.path, spokes) {
                file.room = room;
                self.walked.files.push(file);
            } else {
                self.report(of_no_cluster(&file.path));
            }
        }
    }

    /// Everything below an input. A stack of our own: no depth of a tree may end ours.
    fn descend(&mut self, path: &Path, root: &Path, room: &Room) {
        let mut pending = vec![self.outermost(path, root)];
        while let Some(directory) = pending.pop() {
            self.directory(directory, root, room, &mut pending);
        }
    }

    fn outermost(&mut self, shown: &Path, real: &Path) -> Directory {
        let real = real.to_owned();
        Directory {
            shown: shown.to_owned(),
            way: real.clone(),
            rules: self.rules_above(&real),
            ways: vec![(real.clone(), real.clone())],
            real,
        }
    }

    fn directory(&mut self, mut here: Directory, root: &Path, room: &Room, pending: &mut Vec<Directory>) {
        // It is reported once.
        if self.work.is_spent() {
            return;
        }
        let listed = self
            .tree
            .list(&here.real)
            .and_then(|entries| self.count(&here, entries.len()).map(|()| entries));
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(&here.shown, &error),
        };
        let missing = self
            .committed
            .map(|git| git.left_out(&here.real))
            .unwrap_or_default();
        for (name, entry) in missing {
            if find(&entries, &name).is_none() {
                self.left_out(&here, &name, entry);
            }
        }
        // Rendering an output tree again would feed back, wherever it lies; as an input somebody wants to read it.
        if here.real != root && self.is_output(&here, &entries) {
            return;
        }
        if find(&entries, ".git").is_some() {
            // A repository of its own: the rules of the one around it end here.
            here.rules = Rules::default();
        }
        if find(&entries, GITIGNORE) == Some(TreeEntry::File) {
            here.rules = self.with_rules(&here.rules, &here.real, &here.way, &here.shown);
        }
        let is_chart = find(&entries, CHART) == Some(TreeEntry::File);
        if is_chart {
            self.walked.charts.insert(show(&without_dots(&here.shown)));
        }
        for (name, entry) in entries {
            // The dependencies of a chart are part of it.
            if is_chart && TEMPLATES.iter().any(|templates| name == *templates) {
                continue;
            }
            self.entry(&here, &name, entry, (root, room), pending);
        }
        self.walked.directories.insert(here.real);
    }

    /// Whether a directory is an output tree; one that no run writes is reported, once.
    fn is_output(&mut self, here: &Directory, entries: &[(OsString, TreeEntry)]) -> bool {
        let Some(marker) = self.request.output_marker else {
            return false;
        };
        // An inventory that lists nothing makes nothing ours.
        let is_output = find(entries, marker) == Some(TreeEntry::File)
            && !matches!(self.tree.read(&here.real.join(marker)), Ok(text) if text.trim_ascii().is_empty());
        if is_output && self.outputs.insert(here.real.clone()) {
            self.report(output_elsewhere(&here.shown, marker));
        }
        is_output
    }

    /// Reports the output trees below the root that are in no input. Git's own files, files that are left out, and
    /// other repositories are not searched.
    fn outputs_beside(&mut self, config: &str) {
        let Some(Ok(Lead::To(root, TreeEntry::Directory))) = self
            .tree
            .locate(&self.request.root)
            .map(|root| self.tree.resolve(&root))
        else {
            return;
        };
        let mut pending = vec![self.outermost(&self.request.root, &root)];
        while let Some(mut here) = pending.pop() {
            // A directory that cannot be listed is reported if it is input.
            let entries = self.tree.list(&here.real).unwrap_or_default();
            let has = |name: &str| find(&entries, name).is_some();
            // A file that the user named as input is read, whatever it contains.
            let is_input = here.real == root || self.walked.directories.contains(&here.real);
            if !is_input && (self.is_output(&here, &entries) || has(config) || has(".git")) {
                continue;
            }
            if find(&entries, GITIGNORE) == Some(TreeEntry::File)
                && let Ok(text) = self.tree.read(&here.real.join(GITIGNORE))
                && let Ok(rules) = here.rules.with(&here.way, &text)
            {
                here.rules = rules;
            }
            let directories = entries.iter().filter(|(_, entry)| *entry == TreeEntry::Directory);
            for (name, _) in directories {
                let directory = here.child(name, here.real.join(name));
                if !self.is_left_out(&here, &directory.way, &directory.shown, true) {
                    pending.push(directory);
                }
            }
        }
    }

    fn entry(
        &mut self,
        here: &Directory,
        name: &OsStr,
        entry: TreeEntry,
        (root, room): (&Path, &Room),
        pending: &mut Vec<Directory>,
    ) {
        // Git's own files are never input, even if a rule requests hidden ones.
        if name == ".git" || (entry == TreeEntry::File && !is_manifest(name)) {
            return;
        }
        let (at, way, shown) = (here.real.join(name), here.way.join(name), here.shown.join(name));
        if self.skipped_names.contains(&without_dots(&shown)) {
            return;
        }
        let (real, entry) = if entry == TreeEntry::Link {
            match self.tree.resolve(&at) {
                Ok(Lead::To(real, entry)) if real.starts_with(root) => (real, entry),
                found => return self.lost(here, name, (&way, &shown), found),
            }
        } else {
            (at, entry)
        };
        let entry = self.committed(&real, entry);
        let is_elsewhere = *room == Room::Hub && self.definitions.contains(&real);
        let is_dir = matches!(entry, TreeEntry::Directory | TreeEntry::Submodule);
        if self.is_left_out(here, &way, &shown, is_dir) || self.skip.contains(&real) || is_elsewhere {
            return;
        }
        match entry {
            TreeEntry::Directory => {
                let is_spokes = *room == Room::Hub && self.spokes.as_ref() == Some(&real);
                // The target of a loop is already read, by its name without the loop.
                if is_spokes || here.is_below(&real) {
                    return;
                }
                pending.push(here.child(name, real));
            }
            TreeEntry::Submodule => self.submodule(&shown),
            TreeEntry::Pointer if is_manifest(name) => self.report(pointer(&shown)),
            TreeEntry::File if is_manifest(name) => self.take(&shown, real, room),
            _ => {}
        }
    }

    /// A link that cannot be followed: nothing where its name would not be read or is left out, else an error.
    fn lost(
        &mut self,
        here: &Directory,
        name: &OsStr,
        (way, shown): (&Path, &Path),
        found: Result<Lead, TreeError>,
    ) {
        let is_wanted = is_manifest(name)
            || match &found {
                Ok(Lead::To(_, entry)) => *entry == TreeEntry::Directory,
                Ok(Lead::Nowhere) => false,
                // A target outside the tree is unknown; a directory usually has no extension.
                Ok(Lead::Outside) => Path::new(name).extension().is_none(),
                Err(_) => true,
            };
        if !is_wanted || self.is_left_out_with_all_in_it(here, way, shown) {
            return;
        }
        match found {
            Ok(Lead::Nowhere) => self.report(link_to_nothing(shown)),
            Ok(_) => self.report(link_refused(shown)),
            Err(error) => self.unreadable(shown, &error),
        }
    }

    fn is_left_out(&self, here: &Directory, way: &Path, shown: &Path, is_dir: bool) -> bool {
        // The walk never descends into what is left out, so parents need no second look.
        self.exclude.matched(without_dots(shown), is_dir).is_ignore() || here.rules.leave_out(way, is_dir)
    }

    /// The same of a link that may stand for a file or for a directory: a pattern for directories (`shared/`) or for
    /// all that is in one (`shared/**`) says enough.
    fn is_left_out_with_all_in_it(&self, here: &Directory, way: &Path, shown: &Path) -> bool {
        let inside = |name: &str| self.is_left_out(here, &way.join(name), &shown.join(name), false);
        self.is_left_out(here, way, shown, false)
            || self.is_left_out(here, way, shown, true)
            || EXTENSIONS
                .iter()
                .all(|extension| inside(&format!("any.{extension}")))
    }

    fn take(&mut self, path: &Path, at: PathBuf, room: &Room) {
        // `./a.yaml` and `a.yaml` are one file and must sort as one.
        let (path, root) = (without_dots(path), without_dots(&self.request.root));
        self.walked.files.push(Discovered {
            room: room.clone(),
            relative: show(path.strip_prefix(&root).unwrap_or(&path)),
            path,
            at,
        });
    }

    /// The rules of the directories above an input, up to the root of the repository: without one around it, what
    /// is above the input is not part of it.
    fn rules_above(&mut self, input: &Path) -> Rules {
        let Some(top) = self.tree.repository(input) else {
            return Rules::default();
        };
        let above = input.ancestors().skip(1);
        let above: Vec<&Path> = above
            .take_while(|directory| directory.starts_with(&top))
            .collect();
        let mut rules = Rules::default();
        for directory in above.into_iter().rev() {
            if matches!(
                self.tree.entry(&directory.join(GITIGNORE)),
                Ok(Some(TreeEntry::File))
            ) {
                rules = self.with_rules(&rules, directory, directory, directory);
            }
        }
        rules
    }

    /// Adds the rules that are in a directory. A link to some is none, as with Git
    /// (<https://git-scm.com/docs/gitignore>).
    fn with_rules(&mut self, rules: &Rules, real: &Path, way: &Path, shown: &Path) -> Rules {
        let read = self.tree.read(&real.join(GITIGNORE));
        let more = read.and_then(|text| rules.with(way, &text));
        more.unwrap_or_else(|error| {
            // Without its rules, files would count that should not.
            self.unreadable(&shown.join(GITIGNORE), &error);
            rules.clone()
        })
    }

    /// Counts a directory that is walked, if another was that is the same.
    fn count(&mut self, here: &Directory, entries: usize) -> Result<(), TreeError> {
        if here.way.as_os_str().len() > LONGEST_PATH {
            let reason = format!("its path has more than {LONGEST_PATH} bytes");
            let help = "name a smaller input: no work tree can hold such a path";
            return Err(TreeError::new(reason, help));
        }
        if !self.seen.insert(self.tree.identity(&here.real)?) {
            // Each link on the way makes its paths longer.
            let entries = entries.saturating_add(1).saturating_mul(here.ways.len());
            if !self.work.pay(entries, STEPS_PER_COPY) {
                return Err(TreeError::too_costly());
            }
        }
        Ok(())
    }

    fn committed(&self, real: &Path, entry: TreeEntry) -> TreeEntry {
        self.committed.map_or(entry, |git| git.entry(real, entry))
    }

    /// Reports an entry that is left out of the work tree, unless nothing in it would be read.
    fn left_out(&mut self, here: &Directory, name: &str, entry: TreeEntry) {
        let (way, shown) = (here.way.join(name), here.shown.join(name));
        let is_excluded = if entry == TreeEntry::Directory {
            self.is_left_out_with_all_in_it(here, &way, &shown)
        } else {
            self.is_left_out(here, &way, &shown, false)
        };
        if !is_excluded && !self.skipped_names.contains(&without_dots(&shown)) {
            self.report(left_out(&shown));
        }
    }

    fn submodule(&mut self, path: &Path) {
        let help = format!("exclude it in spokewright.yaml, or {}", self.tree.instead());
        let submodule = about(Code::INPUT_UNREADABLE, path, |shown| {
            format!("`{shown}` is a submodule: its files are in another repository")
        });
        self.report(submodule.help(help));
    }

    fn unreadable(&mut self, path: &Path, error: &TreeError) {
        self.report(error.finding(self.tree, path));
    }

    fn report(&mut self, finding: Finding) {
        self.walked.findings.push(finding);
    }
}

/// The name of the rules that are in a directory.
const GITIGNORE: &str = ".gitignore";

/// The file that makes a directory a Helm chart, and the files in it that are not manifests
/// (docs/systems/gitops.md#helm).
const CHART: &str = "Chart.yaml";
const TEMPLATES: [&str; 2] = ["charts", "templates"];
fn find(entries: &[(OsString, TreeEntry)], name: &str) -> Option<TreeEntry> {
    let position = entries.binary_search_by(|(there, _)| there.as_os_str().cmp(OsStr::new(name)));
    entries.get(position.ok()?).map(|(_, entry)| *entry)
}

/// The room of a file below the directory of the spokes: the first directory is the cluster; files directly in
/// it belong to none.
fn spoke_of(path: &Path, spokes: &Path) -> Option<Room> {
    // `./spokes` is what the default is called below the input `.`, and paths of files have lost their dot.
    let spokes = without_dots(spokes);
    let mut components = path.strip_prefix(&spokes).unwrap_or(path).components();
    let (Some(cluster), Some(_)) = (components.next(), components.next()) else {
        return None;
    };
    Some(Room::Spoke(cluster.as_os_str().to_string_lossy().into_owned()))
}

/// A manifest directly in the directory of the spokes.
fn of_no_cluster(path: &Path) -> Finding {
    about(Code::SPOKE_UNKNOWN_CLUSTER, &without_dots(path), |shown| {
        format!("`{shown}` is in no cluster's directory, so nothing reads it")
    })
    .help("move it to `spokes/CLUSTER/`, or, if every cluster has these objects, to `spokes/_all/`")
}

/// A file that is read as such, although Git has only a pointer to its content.
pub(super) fn pointer(path: &Path) -> Finding {
    about(Code::INPUT_UNREADABLE, path, |shown| {
        format!("`{shown}` is a Git LFS pointer: its content is not in the repository")
    })
    .help("fetch the content (`git lfs pull`) and compare directories, or keep manifests out of Git LFS")
}

/// A file, or a directory with files, that Git has and the work tree lacks on purpose.
fn left_out(path: &Path) -> Finding {
    about(Code::INPUT_UNREADABLE, path, |shown| {
        format!("sparse checkout leaves `{shown}` out of the work tree")
    })
    .note("Git has it, so the result would not be that of the repository")
    .help("check out everything: `git sparse-checkout disable`, or exclude it in spokewright.yaml")
}

fn no_such_input(path: &Path) -> Finding {
    about(Code::INPUT_UNREADABLE, path, |shown| {
        format!("cannot read `{shown}`: there is no such file or directory")
    })
    .help("name an existing file or directory, or `-` for standard input")
}

fn outside_of_the_tree(tree: &dyn FileTree, path: &Path) -> Finding {
    let Some(name) = tree.name() else {
        let outside = |shown: &str| format!("`{shown}` is outside the repository");
        return about(Code::INPUT_OUTSIDE, path, outside)
            .note("files there may belong to somebody else")
            .help("name a path inside the repository, relative to the directory of the Application");
    };
    let root = tree.root().display();
    about(Code::INPUT_OUTSIDE, path, |shown| {
        format!("`{shown}` is not in the work tree of the repository")
    })
    .note(format!("`{name}` is read from the repository at `{root}`"))
    .help(tree.instead())
}

fn output_elsewhere(path: &Path, marker: &str) -> Finding {
    about(Code::OUTPUT_ELSEWHERE, &without_dots(path), |shown| {
        format!("`{shown}` is an output tree that this configuration does not write, so it is not read")
    })
    .note("tools that apply it to a cluster still do so")
    .help(format!(
        "delete it, or list it under `exclude` in spokewright.yaml; if it is input, delete its `{marker}`"
    ))
}

fn outside_of_the_repository(path: &Path) -> Finding {
    about(Code::INPUT_OUTSIDE, path, |shown| {
        format!("the configuration names `{shown}`, which is outside the repository")
    })
    .note("otherwise, anyone who writes a commit could make this run read any file of this machine")
    .help("name it on the command line, or move it into the repository")
}

fn link_refused(path: &Path) -> Finding {
    about(Code::INPUT_OUTSIDE, path, |shown| {
        format!("the symbolic link `{shown}` leaves the input")
    })
    .note("its target is not the same on every machine")
    .help("copy the file, exclude the link, or name its target as an input of its own")
}

/// A link that leads to nothing.
pub(super) fn link_to_nothing(path: &Path) -> Finding {
    about(Code::INPUT_UNREADABLE, path, |shown| {
        format!("the symbolic link `{shown}` has no target")
    })
    .help("remove the link, or exclude it in spokewright.yaml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cluster_is_the_first_directory_below_spokes_however_spokes_is_written() {
        for spokes in ["spokes", "./spokes", "spokes/."] {
            let room = |path: &str| spoke_of(Path::new(path), Path::new(spokes));
            assert_eq!(
                room("spokes/eu-1/a.yaml"),
                Some(Room::Spoke("eu-1".to_owned())),
                "{spokes}"
            );
            assert_eq!(room("spokes/a.yaml"), None, "{spokes}");
        }
    }
}
