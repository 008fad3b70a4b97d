//! One thing done to each of many, in parallel. The results have the order of the items.
//!
//! rayon's own adapters compile some 200 functions for each place that uses them, its sort 800, and this compiles a few: what
//! runs the pieces is the same code for all. Two different things at once are rayon's.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// More pieces than this spread uneven items no better.
const MOST_PIECES: usize = 256;

/// What `make` makes of each item.
pub fn map<'t, T: Sync, R: Send>(items: &'t [T], make: impl Fn(&'t T) -> R + Sync) -> Vec<R> {
    map_each(items.iter().collect(), make)
}

/// What `make` makes of each item, which it takes.
pub fn map_each<T: Send, R: Send>(mut items: Vec<T>, make: impl Fn(T) -> R + Sync) -> Vec<R> {
    let count = items.len();
    let size = count.div_ceil(MOST_PIECES).max(1);
    let mut pieces = Vec::with_capacity(count.div_ceil(size));
    while items.len() > size {
        let last = items.len().saturating_sub(1) / size * size;
        pieces.push(Mutex::new((items.split_off(last), Vec::new())));
    }
    pieces.push(Mutex::new((items, Vec::new())));
    pieces.reverse();
    run(pieces.len(), &|number| {
        if let Some(piece) = pieces.get(number) {
            let (items, made) = &mut *piece.lock().unwrap_or_else(PoisonError::into_inner);
            made.reserve_exact(items.len());
            for item in std::mem::take(items) {
                made.push(make(item));
            }
        }
    });
    let mut all = Vec::with_capacity(count);
    for piece in pieces {
        let (_, mut made) = piece.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.append(&mut made);
    }
    all
}

/// Sorts items by keys that take longer to make than to compare. Items of one key keep their order.
pub(crate) fn sort_by_key<T: Send, K: Ord + Send>(items: &mut Vec<T>, key: impl Fn(&T) -> K + Sync) {
    let mut keyed = map_each(std::mem::take(items), |item| (key(&item), item));
    keyed.sort_by(|(key, _), (other, _)| key.cmp(other));
    items.extend(keyed.into_iter().map(|(_, item)| item));
}

/// Calls `piece` with each number below `pieces`. A piece that panics panics here.
fn run(pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
    (0..pieces).into_par_iter().with_max_len(1).for_each(piece);
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use super::*;

    fn with_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(run)
    }

    #[test]
    fn results_are_in_the_order_of_the_items_whatever_the_number_of_threads() {
        for count in [0, 1, 2, 255, 256, 257, 1_000, 2_049] {
            let items: Vec<usize> = (0..count).collect();
            let expected: Vec<String> = items.iter().map(usize::to_string).collect();
            for threads in [1, 2, 7] {
                let made = with_threads(threads, || {
                    [
                        map(&items, usize::to_string),
                        map_each(items.clone(), |item| item.to_string()),
                    ]
                });
                assert!(made.iter().all(|made| *made == expected), "{count} {threads}");
            }
        }
    }

    #[test]
    fn items_of_one_key_keep_their_order() {
        let mut items: Vec<usize> = (0..1_000).collect();
        sort_by_key(&mut items, |item| std::cmp::Reverse(item % 7));
        let mut expected: Vec<usize> = (0..1_000).collect();
        expected.sort_by_key(|item| std::cmp::Reverse(item % 7));
        assert_eq!(items, expected);
    }

    #[test]
    fn one_thread_suffices_for_work_inside_work() {
        let outer: Vec<usize> = (0..20).collect();
        for threads in [1, 3] {
            let sums = with_threads(threads, || {
                map(&outer, |at| {
                    map_each((0..500).collect(), |item: usize| item + at)
                        .iter()
                        .sum::<usize>()
                })
            });
            let expected: Vec<usize> = outer.iter().map(|at| 124_750 + 500 * at).collect();
            assert_eq!(sums, expected);
        }
    }

    #[test]
    fn a_long_item_does_not_keep_those_after_it_from_other_threads() {
        let items: Vec<usize> = (0..64).collect();
        let (others, all_others) = std::sync::mpsc::channel();
        let all_others = Mutex::new(all_others);
        with_threads(2, || {
            map(&items, |item| {
                if *item > 0 {
                    return others.send(*item).expect("the first item waits");
                }
                let all_others = all_others.lock().expect("only the first item waits");
                for _ in 1..64 {
                    // So long only if this item keeps one of them from being made.
                    all_others
                        .recv_timeout(Duration::from_secs(60))
                        .expect("another item");
                }
            })
        });
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let items: Vec<usize> = (0..1_000).collect();
        let result = catch_unwind(AssertUnwindSafe(|| {
            map(&items, |item| assert!(*item != 700, "item {item}"))
        }));
        let payload = result.expect_err("a panic");
        assert_eq!(
            payload.downcast_ref::<String>().map(String::as_str),
            Some("item 700")
        );
    }
}
