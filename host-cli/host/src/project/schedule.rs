//! Several things at once, each in a thread, and no more than so many.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// How many can be done at once on this machine.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` for each of the tasks, those first that come first in `order`, and tells of each that is done. The results are
/// in the order of the tasks.
pub fn run<T: Sync, R: Send>(
    jobs: usize,
    tasks: &[T],
    order: &[usize],
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(usize, &R),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<R>> = (0..tasks.len()).map(|_| None).collect();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, order.len().max(1)) {
            let (sender, work, next) = (sender.clone(), &work, &next);
            scope.spawn(move || {
                while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(task) = tasks.get(*at) else { continue };
                    // Who does not listen any more has panicked.
                    if sender.send((*at, work(task))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (at, result) in receiver {
            done(at, &result);
            results[at] = Some(result);
        }
    });
    results.into_iter().flatten().collect()
}

/// The order in which all are done soonest: what takes longest first, and what nobody knows the time of before that.
pub fn longest_first(times: &[Option<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..times.len()).collect();
    let time = |at: &usize| times[*at].unwrap_or(f64::INFINITY);
    order.sort_by(|a, b| time(b).total_cmp(&time(a)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn all_are_done_once_and_in_their_places() {
        for jobs in [1, 2, 7, 100] {
            let tasks: Vec<usize> = (0..50).collect();
            let order: Vec<usize> = (0..50).rev().collect();
            let mut told = vec![];
            let results = run(jobs, &tasks, &order, |n| n * n, |at, _| told.push(at));
            assert_eq!(results, tasks.iter().map(|n| n * n).collect::<Vec<usize>>());
            told.sort_unstable();
            assert_eq!(told, tasks);
        }
        let none: Vec<u8> = run(3, &[0u8; 0], &[], |n| *n, |_, _| {});
        assert!(none.is_empty());
    }

    #[test]
    fn two_wait_at_once() {
        let start = Instant::now();
        let wait = |_: &u8| std::thread::sleep(Duration::from_millis(200));
        run(4, &[0; 4], &[0, 1, 2, 3], wait, |_, _| {});
        assert!(start.elapsed() < Duration::from_millis(700), "{:?}", start.elapsed());
    }

    #[test]
    fn what_takes_longest_comes_first() {
        assert_eq!(longest_first(&[Some(1.0), None, Some(3.0)]), [1, 2, 0]);
    }
}
