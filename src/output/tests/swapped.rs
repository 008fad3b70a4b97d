//! Somebody puts a link in the place of a directory while a run writes: nothing leaves the output.

use std::os::unix::fs::symlink;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;

/// A disk on which, before one step of the run, a directory goes and a link to elsewhere takes its place.
struct Swapping<'a> {
    before: usize,
    steps: AtomicUsize,
    directory: &'a Path,
    outside: &'a Path,
    swapped: Mutex<bool>,
}

impl Swapping<'_> {
    fn step(&self) {
        if self.steps.fetch_add(1, Ordering::SeqCst) == self.before {
            *self.swapped.lock().unwrap() = swap(self.directory, self.outside);
        }
    }
}

/// Moves a directory away, and puts a link in its place.
fn swap(directory: &Path, outside: &Path) -> bool {
    let away = directory.with_extension("away");
    fs::rename(directory, away).is_ok() && symlink(outside, directory).is_ok()
}

/// Takes the link away, and puts the directory back.
fn swap_back(directory: &Path) {
    let _ = fs::remove_file(directory);
    let _ = fs::rename(directory.with_extension("away"), directory);
}

impl Storage for Swapping<'_> {
    fn create_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        self.step();
        Disk.create_dir(at, name)
    }
    fn create(&self, at: &Directory, name: &str) -> io::Result<File> {
        self.step();
        Disk.create(at, name)
    }
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.step();
        Disk.write(file, bytes)
    }
    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
    fn rename(&self, at: &Directory, from: &str, to: &str) -> io::Result<()> {
        self.step();
        Disk.rename(at, from, to)
    }
    fn remove_file(&self, at: &Directory, name: &str) -> io::Result<()> {
        self.step();
        Disk.remove_file(at, name)
    }
    fn remove_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        self.step();
        Disk.remove_dir(at, name)
    }
}

fn old() -> Files {
    Files::new([("a/1", "old"), ("a/2", "old"), ("a/b/1", "old"), ("c/1", "old")])
}

fn new() -> Files {
    Files::new([("a/1", "new"), ("a/b/1", "new"), ("a/b/2", "new"), ("d/1", "new")])
}

#[test]
fn a_directory_that_becomes_a_link_before_any_step_leads_nothing_outside() {
    for swapped in ["root", "root/a", "root/a/b", "root/c", "."] {
        let (mut before, mut met) = (0, 0);
        loop {
            let place = tempfile::tempdir().unwrap();
            let (inner, outside) = (place.path().join("inner"), place.path().join("outside"));
            // What is outside looks like what is inside: whatever is written there would succeed.
            for (path, content) in &old().0 {
                put(&outside, path, content);
                put(&outside, &format!("root/{path}"), content);
            }
            run(&inner.join("root"), &old()).unwrap();
            let untouched = snapshot(&outside);
            let directory = inner.join(swapped).components().collect::<PathBuf>();
            let storage = Swapping {
                before,
                steps: AtomicUsize::new(0),
                directory: &directory,
                outside: &outside,
                swapped: Mutex::new(false),
            };
            let _ = write_with(&storage, &inner.join("root"), &new(), Options::default());
            assert_eq!(snapshot(&outside), untouched, "{swapped}, before step {before}");
            met += usize::from(*storage.swapped.lock().unwrap());
            if storage.steps.load(Ordering::SeqCst) <= before {
                break;
            }
            before += 1;
            assert!(before < 200, "the run never gets through");
        }
        assert!(met > 10, "{swapped} was swapped {met} times only");
    }
}

/// The same without a seam: somebody swaps all the time.
#[test]
fn a_directory_that_is_swapped_all_the_time_leads_nothing_outside() {
    let place = tempfile::tempdir().unwrap();
    let (root, outside) = (place.path().join("root"), place.path().join("outside"));
    fs::create_dir_all(&outside).unwrap();
    run(&root, &old()).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                swap(&root.join("a"), &outside);
                swap_back(&root.join("a"));
            }
        });
        for round in 0..200 {
            let tree = if round % 2 == 0 { new() } else { old() };
            let _ = forced(&root, &tree);
            assert_eq!(snapshot(&outside), Snapshot::new(), "in round {round}");
        }
        is_over.store(true, Ordering::SeqCst);
    });
}
