//! The inventory: which files are ours, and with which bytes. Inventory and plan together are the [`Record`], and with it
//! wanted and stale files are grouped by directory.
//!
//! The format is that of GNU `sha256sum`, so that `sha256sum -c .spokewright-inventory` works: 64 hexadecimal
//! digits, two blanks, the path; a path with a backslash, a newline or a carriage return is escaped and its line
//! starts with a backslash. Lines are in byte order of the paths. The plan has the same format, but may list one
//! path with several hashes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader, Read, Write};

use super::error::{Action, InventoryFault, OutputError, TreeFault};
use super::root::{Hash, Root};
use super::tree::{Tree, directory_of, is_safe_path};
use crate::sandbox::{Entry, prefixes};

/// The files that we wrote. Lists every file of ours except itself.
pub const INVENTORY: &str = ".spokewright-inventory";

/// The files that we are about to write. It is next to the inventory while a run is under way or after one was
/// interrupted.
pub(crate) const PLAN: &str = ".spokewright-inventory.next";

/// No path that a file system accepts makes a longer line; what does is not an inventory.
const LONGEST_LINE: usize = 32 * 1024;

/// How much of a file is read at once.
const PIECE: usize = 256 * 1024;

/// Paths and hashes in ascending order, each pair once.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    entries: Vec<(String, Hash)>,
    /// Whether the file has exactly the bytes that we would write for these entries.
    canonical: bool,
}

impl Inventory {
    /// Reads an inventory or a plan in an output; `None` when there is none. Never follows a symbolic link.
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, or has a line that is not
    /// `<64 hexadecimal digits>  <path inside the root>`.
    pub(super) fn read(root: &Root<'_>, name: &str) -> Result<Option<Self>, OutputError> {
        let fault = |fault| OutputError::Inventory {
            path: root.shown(name),
            fault,
        };
        let failed = |error| root.error(Action::Read, name, error);
        match root.directory.entry(name) {
            Ok(Some(Entry::File)) => {}
            Ok(Some(_)) => return Err(fault(InventoryFault::NotAFile)),
            Ok(None) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let file = root.directory.open(name).map_err(failed)?;
        Self::parse(file).map_err(failed)?.map(Some).map_err(fault)
    }

    /// The same of a text that is not on disk; `None` where a line is none.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::parse(bytes).ok()?.ok()
    }

    /// Reads no further than to the first line that is none, which is the error.
    fn parse(reader: impl Read) -> io::Result<Result<Self, InventoryFault>> {
        let mut reader = BufReader::with_capacity(PIECE, reader);
        let mut inventory = Self {
            canonical: true,
            ..Self::default()
        };
        let mut line = Vec::new();
        for number in 1_usize.. {
            line.clear();
            // An inventory is a stranger's file until it is read: one endless line must not fill the memory.
            let most = LONGEST_LINE.saturating_add(1) as u64;
            if (&mut reader).take(most).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            inventory.canonical &= line.pop_if(|last| *last == b'\n').is_some();
            if let Err(fault) = inventory.add_line(&line, number) {
                return Ok(Err(fault));
            }
        }
        if !inventory.entries.is_sorted_by(|(path, _), (next, _)| path < next) {
            inventory.canonical = false;
            inventory.entries.sort_unstable();
            inventory.entries.dedup();
        }
        Ok(Ok(inventory))
    }

    fn add_line(&mut self, line: &[u8], number: usize) -> Result<(), InventoryFault> {
        let malformed = InventoryFault::Malformed { line: number };
        let line = std::str::from_utf8(line).ok();
        let line = line.filter(|line| line.len() <= LONGEST_LINE);
        let line = line.ok_or(malformed)?;
        let (escaped, listed) = line.strip_prefix('\\').map_or((false, line), |rest| (true, rest));
        let split = listed.split_at_checked(64).and_then(|(digits, rest)| {
            let path = rest.strip_prefix("  ")?;
            Some((digits, path, from_hex(digits)?))
        });
        let Some((digits, listed, hash)) = split else {
            // Two branches that rendered conflict here alone: the files of both sides are ours, and the next run writes the
            // lines that are left.
            let marks = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];
            self.canonical = false;
            let is_mark = marks.iter().any(|mark| line.starts_with(mark));
            return is_mark.then_some(()).ok_or(malformed);
        };
        let path = if escaped {
            unescape(listed).ok_or(malformed)?
        } else if listed.ends_with('\r') {
            // A checkout that turned line ends into CR LF changed the files too: nothing here can be trusted.
            return Err(malformed);
        } else {
            listed.to_owned()
        };
        // A pull request may list `../.ssh/config`: this run would delete it as stale.
        if !is_safe_path(&path) {
            return Err(InventoryFault::Outside { line: number });
        }
        self.canonical &=
            escaped == needs_escape(&path) && !digits.bytes().any(|digit| digit.is_ascii_uppercase());
        self.entries.push((path, hash));
        Ok(())
    }

    /// Every path with its hash, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Hash)> {
        self.entries.iter().map(|(path, hash)| (path.as_str(), hash))
    }

    /// The hashes that are listed for a path: none, one, or several in a plan.
    pub(super) fn hashes(&self, path: &str) -> impl Iterator<Item = &Hash> {
        // By bisection: this is asked for every file that differs.
        let first = self.entries.partition_point(|(listed, _)| listed.as_str() < path);
        let from_there = self.iter().skip(first);
        from_there
            .take_while(move |(listed, _)| *listed == path)
            .map(|(_, hash)| hash)
    }

    /// Whether the file has exactly the lines that we would write for these entries.
    pub(super) fn holds<P: AsRef<str>>(&self, mut entries: impl Iterator<Item = (P, Hash)>) -> bool {
        let mut listed = self.iter();
        self.canonical
            && entries.all(|(path, hash)| listed.next() == Some((path.as_ref(), &hash)))
            && listed.next().is_none()
    }
}

/// Appends one line.
pub(super) fn write_line(sink: &mut impl Write, path: &str, hash: &Hash) -> io::Result<()> {
    if needs_escape(path) {
        sink.write_all(b"\\")?;
    }
    for byte in hash {
        write!(sink, "{byte:02x}")?;
    }
    let path = path
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    writeln!(sink, "  {path}")
}

fn needs_escape(path: &str) -> bool {
    memchr::memchr3(b'\\', b'\n', b'\r', path.as_bytes()).is_some()
}

/// The path that an escaped one stands for. `None` for an escape that `sha256sum` does not write.
fn unescape(text: &str) -> Option<String> {
    let mut path = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        path.push(match character {
            '\\' => match characters.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            other => other,
        });
    }
    Some(path)
}

fn from_hex(digits: &str) -> Option<Hash> {
    let digits: &[u8; 64] = digits.as_bytes().try_into().ok()?;
    let value = |digit: &u8| u8::try_from(char::from(*digit).to_digit(16)?).ok();
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = value(high)? << 4 | value(low)?;
    }
    Some(hash)
}

/// The inventory of the last complete run and the plan of an interrupted one, as far as they exist.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The inventory of the last complete run.
    pub(super) inventory: Option<Inventory>,
    /// The plan of an interrupted run.
    pub(super) plan: Option<Inventory>,
}

impl Record {
    /// Reads both.
    ///
    /// # Errors
    /// When one of them cannot be read or trusted.
    pub(super) fn read(root: &Root<'_>) -> Result<Self, OutputError> {
        let inventory = Inventory::read(root, INVENTORY)?;
        let plan = Inventory::read(root, PLAN)?;
        Ok(Self { inventory, plan })
    }

    /// Both.
    pub(super) fn lists(&self) -> impl Iterator<Item = &Inventory> {
        self.inventory.iter().chain(&self.plan)
    }

    /// The paths of both, those of each in ascending order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.lists().flat_map(Inventory::iter).map(|(path, _)| path)
    }

    /// Whether a path is on record, with whatever bytes.
    pub(super) fn mentions(&self, path: &str) -> bool {
        self.lists().any(|list| list.hashes(path).next().is_some())
    }

    /// Whether a file with these bytes is ours.
    pub(super) fn is_ours(&self, path: &str, hash: &Hash) -> bool {
        // Two branches rendered the list of a directory, each its own way: what is there now is what Git made of both. It
        // lists files and nothing else, so that nothing is lost with it; any other file must have the bytes of one side.
        let is_list = path.rsplit('/').next() == Some("kustomization.yaml");
        let is_merged = |list: &Inventory| is_list && list.hashes(path).nth(1).is_some();
        self.lists()
            .any(|list| list.hashes(path).any(|listed| listed == hash))
            || self.inventory.as_ref().is_some_and(is_merged)
    }
}

/// The files of one directory.
#[derive(Debug, Default)]
pub(super) struct DirectoryFiles {
    /// Path inside the output, `""` for the root.
    pub(super) path: String,
    /// Indices of the wanted files that are directly in it.
    pub(super) wanted: Vec<usize>,
    /// Paths on record that are directly in it and not wanted, sorted, each once.
    pub(super) stale: Vec<String>,
    /// Whether it exists.
    pub(super) exists: bool,
}

/// All directories by path. The root is always among them.
#[derive(Debug)]
pub(super) struct FilesByDirectory(BTreeMap<String, DirectoryFiles>);

impl FilesByDirectory {
    /// Those of the wanted files.
    ///
    /// # Errors
    /// When the tree breaks the rules of [`Tree`].
    pub(super) fn new(tree: &dyn Tree) -> Result<Self, OutputError> {
        let fault = |path: &str, fault| OutputError::Tree {
            path: path.to_owned(),
            fault,
        };
        let mut directories = Self(BTreeMap::from([(String::new(), DirectoryFiles::default())]));
        let mut previous: Option<std::borrow::Cow<'_, str>> = None;
        for index in 0..tree.len() {
            let path = tree.path(index);
            if !is_safe_path(&path) {
                return Err(fault(&path, TreeFault::Unsafe));
            }
            if previous.is_some_and(|previous| previous >= path) {
                return Err(fault(&path, TreeFault::Order));
            }
            directories.at(directory_of(&path)).wanted.push(index);
            previous = Some(path);
        }
        // No file system has both; without this check, the run would fail in the middle.
        for directory in directories.0.keys() {
            if let Some(path) = prefixes(directory).find(|prefix| position(tree, prefix).is_some()) {
                return Err(fault(path, TreeFault::FileAndDirectory));
            }
        }
        Ok(directories)
    }

    fn at(&mut self, path: &str) -> &mut DirectoryFiles {
        self.0.entry(path.to_owned()).or_insert_with(|| DirectoryFiles {
            path: path.to_owned(),
            ..DirectoryFiles::default()
        })
    }

    /// Those of the stale files of a record too, and those around all of them, where new ones have their temporary names; sorted by
    /// path.
    pub(super) fn with_stale(mut self, tree: &dyn Tree, record: &Record) -> Vec<DirectoryFiles> {
        for path in record.lists().flat_map(|list| stale(tree, list)) {
            self.at(directory_of(&path)).stale.push(path);
        }
        let around: BTreeSet<String> = self.0.keys().map(|path| directory_of(path).to_owned()).collect();
        for path in around {
            self.at(&path);
        }
        let mut directories = self.0.into_values().collect::<Vec<_>>();
        for directory in &mut directories {
            directory.stale.sort_unstable();
            directory.stale.dedup();
        }
        directories
    }
}

/// The paths in a list that are not wanted, as far as the tree speaks for them.
pub(super) fn stale(tree: &dyn Tree, list: &Inventory) -> Vec<String> {
    let mut wanted = (0..tree.len()).map(|index| tree.path(index)).peekable();
    let mut stale = Vec::new();
    for (path, _) in list.iter() {
        // Both are sorted, so that one pass over both is enough.
        while wanted.next_if(|wanted| wanted.as_ref() < path).is_some() {}
        if wanted.peek().is_none_or(|wanted| wanted.as_ref() != path) && tree.owns(path) {
            stale.push(path.to_owned());
        }
    }
    stale
}

/// The index of a path in the tree.
pub(crate) fn position(tree: &dyn Tree, path: &str) -> Option<usize> {
    let (mut low, mut high) = (0_usize, tree.len());
    while low < high {
        let middle = low.midpoint(high);
        match tree.path(middle).as_ref().cmp(path) {
            std::cmp::Ordering::Less => low = middle.saturating_add(1),
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_digit_makes_no_hash_wherever_it_stands() {
        let whole = "0123456789abcdefABCDEF0000000000ffffffffffffffff0000000000000000";
        let hash = from_hex(whole).unwrap();
        assert_eq!(hash[..8], [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]);
        assert_eq!(hash[8..12], [0xAB, 0xCD, 0xEF, 0]);
        for at in 0..64 {
            for wrong in ["g", "/", ":", "@", "`", "G"] {
                let mut digits = whole.to_owned();
                digits.replace_range(at..=at, wrong);
                assert_eq!(from_hex(&digits), None, "{digits}");
            }
        }
        assert_eq!(from_hex(&whole[1..]), None);
    }

    #[test]
    fn an_inventory_holds_its_lines_and_no_others() {
        let hash = [7; 32];
        let mut text = Vec::new();
        for path in ["a", "b"] {
            write_line(&mut text, path, &hash).unwrap();
        }
        let inventory = Inventory {
            canonical: true,
            ..Inventory::from_bytes(&text).unwrap()
        };
        let holds = |paths: &[&str]| inventory.holds(paths.iter().map(|path| (*path, hash)));
        assert!(holds(&["a", "b"]));
        for others in [&["a"][..], &["a", "c"], &["b", "a"], &["a", "b", "c"], &[]] {
            assert!(!holds(others), "{others:?}");
        }
        assert!(!inventory.holds([("a", hash), ("b", [8; 32])].into_iter()));
        let in_other_bytes = Inventory {
            canonical: false,
            ..inventory
        };
        assert!(!in_other_bytes.holds([("a", hash), ("b", hash)].into_iter()));
    }

    #[test]
    fn a_line_that_is_too_long_or_damaged_is_named_and_nothing_after_it_is_read() {
        let mut good = Vec::new();
        write_line(&mut good, "a", &[7; 32]).unwrap();
        let fault = |bad: &[u8]| {
            let text = [&good[..], bad].concat();
            // What is read beyond the piece with a line that is none would be an error.
            let more = io::repeat(b'a').take(2 * PIECE as u64);
            let reader = text.as_slice().chain(more).chain(Failing);
            match Inventory::parse(reader) {
                Ok(Err(InventoryFault::Malformed { line })) => Some(line),
                _ => None,
            }
        };
        let long = vec![b'a'; LONGEST_LINE + 1];
        assert_eq!(fault(&long), Some(2));
        assert_eq!(fault(b"none\n"), Some(2));
        assert_eq!(fault(&good), Some(3));
    }

    /// A file that cannot be read any further.
    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no further"))
        }
    }

    #[test]
    fn two_wrong_digits_of_one_byte_make_no_hash_either() {
        let whole = "0".repeat(64);
        assert!(from_hex(&whole).is_some());
        for pair in ["zz", "gg", "--"] {
            let mut digits = whole.clone();
            digits.replace_range(..2, pair);
            assert_eq!(from_hex(&digits), None, "{digits}");
        }
    }
}
