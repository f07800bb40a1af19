//! Random cases for given code.

use super::predict::{Cannot, End, Prediction, Source, Wanted, predict};
use super::{CODE, Case, State, Target, WINDOW};
use crate::rng::Rng;
use vouch_host::frontend::elf::isa::{Isa, It};

/// What came of an attempt.
pub enum Made {
    /// A case that can be run.
    Case(Box<Case>, Box<Prediction>),
    /// An instruction is refused.
    Refused,
    /// The case cannot be run.
    Lost,
}

/// Attempts to steer a case.
const ATTEMPTS: usize = 12;

/// A case with this code.
pub fn case(target: &Target, code: &[u8], rng: &mut Rng) -> Made {
    if stops(target, code) {
        return Made::Lost;
    }
    let mut case = random(target, code, rng);
    for _ in 0..ATTEMPTS {
        match predict(target, &case, None) {
            Ok(_) if !target.has_stack(&case.state) => return Made::Lost,
            Ok(_) => {
                let chance = Rng::new(rng.bits());
                return match predict(target, &case, Some(chance)) {
                    // An end that is rarely of interest.
                    Ok(prediction) if prediction.end != End::Regular && !rng.one_in(4) => {
                        Made::Lost
                    }
                    Ok(prediction) => Made::Case(Box::new(case), Box::new(prediction)),
                    Err(_) => Made::Lost,
                };
            }
            Err(Cannot::Refused) => return Made::Refused,
            Err(Cannot::Endless) => return Made::Lost,
            Err(Cannot::Stray { value, sources, wanted }) => {
                if sources.is_empty() {
                    return Made::Lost;
                }
                let by = place(target, wanted, rng).wrapping_sub(value);
                // The value may be a multiple of what it depends on.
                let by = ((by as i32) / rng.pick(&[1, 1, 1, 2, 4])) as u32;
                shift(target, &mut case, rng.pick(&sources), by);
            }
        }
    }
    Made::Lost
}

/// Whether an instruction would wait for ever, or call the emulator.
fn stops(target: &Target, code: &[u8]) -> bool {
    let wfi: [&[u8]; 2] = [&[0x30, 0xbf], &[0xaf, 0xf3, 0x03, 0x80]];
    if code == 0x1050_0073_u32.to_le_bytes() {
        return !target.is_thumb();
    }
    target.is_thumb() && (wfi.iter().any(|wfi| code.starts_with(wfi)) || code == [0xab, 0xbe])
}

/// A good value.
fn place(target: &Target, wanted: Wanted, rng: &mut Rng) -> u32 {
    match wanted {
        Wanted::Window(bytes) => {
            let at = target.window + rng.below(WINDOW - 64) as u32;
            if rng.one_in(4) { at } else { at & !(bytes.max(4) - 1) }
        }
        Wanted::Code => target.landing.start + (2 * rng.below(2000)) as u32,
        Wanted::Stack if rng.one_in(4) => target.window - 4 * rng.below(280) as u32,
        Wanted::Stack => target.window + 64 + 4 * rng.below(40) as u32,
    }
}

/// Adds to what a value depends on.
fn shift(target: &Target, case: &mut Case, source: Source, by: u32) {
    match source {
        Source::Register(reg) => {
            case.state.regs[reg] = case.state.regs[reg].wrapping_add(by);
            // Always so in hardware.
            if target.is_thumb() {
                case.state.regs[13] &= !3;
            }
        }
        Source::Memory(at, bytes) => {
            let from = at.wrapping_sub(target.window) as usize;
            if let Some(place) =
                from.checked_add(bytes as usize).and_then(|to| case.window.get_mut(from..to))
            {
                let mut word = [0; 4];
                word[..place.len()].copy_from_slice(place);
                let word = u32::from_le_bytes(word).wrapping_add(by).to_le_bytes();
                place.copy_from_slice(&word[..place.len()]);
            }
        }
    }
}

fn random(target: &Target, instructions: &[u8], rng: &mut Rng) -> Case {
    let place = target.place();
    let mut code = std::array::from_fn(|i| target.fill(place + i as u32));
    let most = (CODE - instructions.len()) / 2;
    let from = 2 * rng.below(most.min(2));
    code[from..from + instructions.len()].copy_from_slice(instructions);
    let pc = place + from as u32;
    let mut regs = std::array::from_fn(|_| register(target, rng));
    regs[0] = if target.is_thumb() { regs[0] } else { 0 };
    if target.is_thumb() {
        regs[13] = self::place(target, Wanted::Stack, rng);
    }
    let flags = if target.is_thumb() { rng.below(16) as u32 } else { 0 };
    let it = match target.isa {
        Isa::V7m if rng.one_in(3) => It((rng.below(15) << 4 | 8) as u8),
        _ => It::NONE,
    };
    let special = match target.isa {
        Isa::V6m => [rng.below(2) as u32, 0, 0],
        Isa::V7m => [rng.below(2) as u32, rng.below(256) as u32, 0],
        // What `mret` leaves.
        Isa::Rv32 => [0, 0, 0x80 | (rng.below(2) as u32) << 3],
    };
    let state = State { regs, flags, it, special, pc };
    let window = std::array::from_fn(|_| rng.bits() as u8);
    Case { state, place, code, end: pc + instructions.len() as u32, window }
}

/// Values of all kinds.
fn register(target: &Target, rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 | 1 => {
            let at = place(target, Wanted::Window(4), rng);
            if rng.one_in(8) { at | 1 } else { at }
        }
        2 => rng.below(80) as u32,
        3 => {
            let edges =
                [0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX, 0xffff, 0x8000, 0x7f, 0x80];
            rng.pick(&edges)
        }
        4 => (rng.bits() as i32 >> rng.below(32)) as u32,
        5 => (rng.bits() as u32) << rng.below(32),
        _ => rng.bits() as u32,
    }
}
