//! The tables of docs/architecture.md, which are the data of these tests.
//!
//! Owns: reading them. Flows in: the page. Flows out: rooms from the top down, crates. Must not know: what is done
//! with either.

/// A room of src/: a folder, or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) name: String,
    /// Rooms above it and crates that it must not import; what stands below it, it must not import anyway.
    pub(crate) must_not_know: Vec<String>,
    /// What of the outside world it may touch: names of `rules::APIS`.
    pub(crate) touches: Vec<String>,
}

/// A member of the workspace in crates/.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The other members that it may depend on.
    pub(crate) may_use: Vec<String>,
}

/// The rooms, from the top down.
pub(crate) fn rooms(page: &str) -> Vec<Room> {
    rows(page, "room")
        .iter()
        .map(|cells| Room {
            name: cells
                .first()
                .map(|cell| names(cell))
                .and_then(|names| names.into_iter().next())
                .expect("a room"),
            must_not_know: cells
                .get(2)
                .map(|cell| names(cell))
                .expect("a cell of what it must not know"),
            touches: cells
                .get(3)
                .map(|cell| words(cell))
                .expect("a cell of what it touches"),
        })
        .collect()
}

/// The crates, in the order of the page.
pub(crate) fn members(page: &str) -> Vec<Member> {
    rows(page, "crate")
        .iter()
        .map(|cells| Member {
            name: cells
                .first()
                .map(|cell| names(cell))
                .and_then(|names| names.into_iter().next())
                .expect("a crate"),
            may_use: cells
                .get(2)
                .map(|cell| names(cell))
                .expect("a cell of what it may use"),
        })
        .collect()
}

/// The cells of each row of the table whose first head is `head`.
fn rows<'a>(page: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let start = format!("| {head} |");
    page.lines()
        .skip_while(|line| !line.starts_with(&start))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// What stands in backticks.
fn names(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What commas part; an empty cell has nothing.
fn words(cell: &str) -> Vec<String> {
    cell.split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
