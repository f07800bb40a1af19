//! What the fuzzer once found, the seeds, and simple changes of both: all of it must pass.

use std::path::Path;
use vouch_fuzz::{TARGETS, Target};

/// Bytes that a fuzzer found something with, and that are mended.
fn regressions(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target.name);
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read(file.path()).ok()).collect()
}

#[test]
fn regressions_stay_mended() {
    for target in TARGETS {
        regressions(&target).iter().for_each(|data| (target.run)(data));
    }
}

#[test]
fn seeds_and_changes_of_them_pass() {
    let mut state = 1u64;
    let mut dice = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n.max(1)
    };
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{}", target.name);
        for seed in &seeds {
            (target.run)(seed);
        }
        for _ in 0..60 {
            let mut data = seeds[dice(seeds.len())].clone();
            for _ in 0..1 + dice(4) {
                let at = dice(data.len());
                match (dice(4), data.get_mut(at)) {
                    (0, Some(byte)) => *byte ^= 1 << dice(8),
                    (1, Some(byte)) => *byte = [0, 1, 0x7f, 0x80, 0xff][dice(5)],
                    (2, _) => data.truncate(at),
                    _ => data.insert(at, dice(256) as u8),
                }
            }
            (target.run)(&data);
        }
    }
}
