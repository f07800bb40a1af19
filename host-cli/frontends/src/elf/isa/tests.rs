//! Cases that are easily wrong, from the pseudo-code of the manuals. All instructions are compared with an emulator in
//! the tests' package.

use super::thumb::flags::{add, add_with_carry, rotate_with_carry, shift_by, shift_c, subtract};
use super::value::Shift;
use super::*;
use proptest::prelude::*;
use vouch_ir::{BinOp, ExprId, Pool, VarId, Word, eval};

/// Registers and flags that are variables; no memory.
struct Bare {
    pool: Pool,
    regs: Vec<ExprId>,
    flags: [ExprId; 4],
    special: ExprId,
    demands: Vec<(ExprId, Demand)>,
}

impl Bare {
    fn new() -> Bare {
        let mut pool = Pool::default();
        let regs = (0..32).map(|i| pool.var(VarId(i), 32)).collect();
        let flags = [32, 33, 34, 35].map(|i| pool.var(VarId(i), 1));
        let special = pool.var(VarId(36), 32);
        Bare { pool, regs, flags, special, demands: vec![] }
    }
}

impl Machine for Bare {
    type Stop = ();
    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }
    fn reg(&mut self, reg: Reg) -> ExprId {
        self.regs[usize::from(reg.0)]
    }
    fn set_reg(&mut self, reg: Reg, value: ExprId) {
        self.regs[usize::from(reg.0)] = value;
    }
    fn flag(&mut self, flag: Flag) -> ExprId {
        self.flags[flag as usize]
    }
    fn set_flag(&mut self, flag: Flag, value: ExprId) {
        self.flags[flag as usize] = value;
    }
    fn special(&mut self, _: Special) -> ExprId {
        self.special
    }
    fn set_special(&mut self, _: Special, value: ExprId) {
        self.special = value;
    }
    fn load(&mut self, _: ExprId, _: u32, _: bool) -> Result<ExprId, ()> {
        Err(())
    }
    fn store(&mut self, _: ExprId, _: ExprId, _: bool) -> Result<(), ()> {
        Err(())
    }
    fn update(
        &mut self,
        _: ExprId,
        _: u32,
        _: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> Result<ExprId, ()> {
        Err(())
    }
    fn monitor(&mut self) -> ExprId {
        self.pool.bool(false)
    }
    fn set_monitor(&mut self, _: bool) {}
    fn demand(&mut self, holds: ExprId, demand: Demand) -> Result<(), ()> {
        self.demands.push((holds, demand));
        Ok(())
    }
}

fn thumb(isa: Isa, halves: &[u16], it: It) -> Result<Decoded, Refused> {
    let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    decode(isa, &bytes, 0x1002, it)
}

fn riscv(word: u32) -> Result<Decoded, Refused> {
    decode(Isa::Rv32, &word.to_le_bytes(), 0x1002, It::NONE)
}

/// Values as constants and as variables.
fn values(pool: &mut Pool, values: &[(u32, u32)], constant: u8) -> Vec<ExprId> {
    let mut make = |(i, (value, width)): (usize, &(u32, u32))| match constant >> i & 1 {
        1 => pool.constant((*value).into(), *width),
        _ => pool.var(VarId(i as u32), *width),
    };
    values.iter().enumerate().map(&mut make).collect()
}

fn evaluate(pool: &Pool, roots: &[ExprId], values: &[(u32, u32)]) -> Vec<u32> {
    let results = eval::expressions(pool, roots, |var| Word::from(values[var.index()].0), |_| 0);
    results.into_iter().map(|value| value as u32).collect()
}

/// `AddWithCarry()` as the manual has it.
fn manual_sum(x: u32, y: u32, carry: u32) -> [u32; 3] {
    let unsigned = u64::from(x) + u64::from(y) + u64::from(carry);
    let signed = i64::from(x as i32) + i64::from(y as i32) + i64::from(carry);
    let result = unsigned as u32;
    let overflow = i64::from(result as i32) != signed;
    [result, u32::from(u64::from(result) != unsigned), overflow.into()]
}

/// `Shift_C()` as the manual has it, one bit at a time.
fn manual_shift(x: u32, shift: Shift, by: u32, carry: u32) -> [u32; 2] {
    (0..by).fold([x, carry], |[x, _], _| match shift {
        Shift::Lsl => [x << 1, x >> 31],
        Shift::Lsr => [x >> 1, x & 1],
        Shift::Asr => [(x as i32 >> 1) as u32, x & 1],
        Shift::Ror => [x.rotate_right(1), x & 1],
    })
}

const SHIFTS: [Shift; 4] = [Shift::Lsl, Shift::Lsr, Shift::Asr, Shift::Ror];

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), 0u32..3, Just(1 << 31), Just(u32::MAX >> 1), (1u32 << 31)..]
}

proptest! {
    #[test]
    fn sums_are_those_of_the_manual(
        x in number(), y in number(), carry in 0u32..2, constant in 0u8..8,
    ) {
        let inputs = [(x, 32), (y, 32), (carry, 1)];
        let mut pool = Pool::default();
        let e = values(&mut pool, &inputs, constant);
        let sums = [
            (add_with_carry(&mut pool, e[0], e[1], e[2]), manual_sum(x, y, carry)),
            (add(&mut pool, e[0], e[1]), manual_sum(x, y, 0)),
            (subtract(&mut pool, e[0], e[1]), manual_sum(x, !y, 1)),
        ];
        for (sum, manual) in sums {
            let ours = evaluate(&pool, &[sum.result, sum.carry, sum.overflow], &inputs);
            prop_assert_eq!(ours, manual);
        }
    }

    #[test]
    fn shifts_are_those_of_the_manual(
        x in number(), by in prop_oneof![0u32..40, 0u32..1024], carry in 0u32..2, constant in 0u8..8,
    ) {
        let inputs = [(x, 32), (by, 32), (carry, 1)];
        for shift in SHIFTS {
            let mut pool = Pool::default();
            let e = values(&mut pool, &inputs, constant);
            let (result, out) = shift_by(&mut pool, e[0], (shift, e[1]), e[2]);
            // Only the lowest byte counts.
            let manual = manual_shift(x, shift, by & 0xff, carry);
            prop_assert_eq!(evaluate(&pool, &[result, out], &inputs), manual);
            if by <= 32 {
                let (result, out) = shift_c(&mut pool, e[0], (shift, by), e[2]);
                prop_assert_eq!(evaluate(&pool, &[result, out], &inputs), manual);
            }
        }
        let mut pool = Pool::default();
        let e = values(&mut pool, &inputs, constant);
        let (result, out) = rotate_with_carry(&mut pool, e[0], e[2]);
        prop_assert_eq!(evaluate(&pool, &[result, out], &inputs), [carry << 31 | x >> 1, x & 1]);
    }

    #[test]
    fn no_bytes_make_the_decoders_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..5), address: u32, it: u8,
    ) {
        for isa in [Isa::V6m, Isa::V7m, Isa::Rv32] {
            match decode(isa, &bytes, address, It(it)) {
                Ok(decoded) => {
                    prop_assert!(!decoded.to_string().is_empty());
                    let _ = decoded.execute(&mut Bare::new());
                }
                Err(refused) => prop_assert!(!refused.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn a_signed_comparison_is_found_again_in_the_flags() {
    // `cmp r1, r2`, then `blt`, `bge`.
    for (branch, negated) in [(0xdb00, false), (0xda00, true)] {
        let mut m = Bare::new();
        let (x, y) = (m.regs[1], m.regs[2]);
        for half in [0x4291, branch] {
            let next = thumb(Isa::V6m, &[half], It::NONE).unwrap().execute(&mut m).unwrap();
            if let Next::Go { taken, .. } = next {
                let less = m.pool.binary(BinOp::Slt, x, y);
                let expected = if negated { m.pool.not(less) } else { less };
                assert_eq!(taken, expected);
            }
        }
    }
}

#[test]
fn sixteen_bit_operations_set_flags_only_outside_of_it_blocks() {
    // `adds r0, r1, r2` and, in a block, `addeq r0, r1, r2`.
    for (it, text) in [(It::NONE, "adds r0, r1, r2"), (It(0x08), "addeq r0, r1, r2")] {
        let decoded = thumb(Isa::V7m, &[0x1888], it).unwrap();
        assert_eq!(decoded.to_string(), text);
        assert_eq!(decoded.condition.is_some(), it.is_inside());
        let mut m = Bare::new();
        let before = m.flags;
        decoded.execute(&mut m).unwrap();
        assert_eq!(m.flags == before, it.is_inside());
    }
}

#[test]
fn an_it_block_gives_each_instruction_its_condition() {
    // `itete ne` and four times `adds r0, r1, r2`.
    let mut decoded = thumb(Isa::V7m, &[0xbf15], It::NONE).unwrap();
    assert_eq!(decoded.to_string(), "itete ne");
    for name in ["addne", "addeq", "addne", "addeq"] {
        decoded = thumb(Isa::V7m, &[0x1888], decoded.it).unwrap();
        assert_eq!(decoded.to_string(), format!("{name} r0, r1, r2"));
    }
    assert_eq!(decoded.it, It::NONE);
}

#[test]
fn bit_0_of_a_target_must_be_set() {
    let mut m = Bare::new();
    let next = thumb(Isa::V6m, &[0x4718], It::NONE).unwrap().execute(&mut m).unwrap();
    let thumb_bit = m.pool.slice(m.regs[3], 0, 1);
    assert_eq!(m.demands, [(thumb_bit, Demand::ThumbBit)]);
    assert!(matches!(next, Next::Go { transfer: Transfer::Jump, .. }));
    // `bx lr`.
    let next = thumb(Isa::V6m, &[0x4770], It::NONE).unwrap().execute(&mut m).unwrap();
    assert!(matches!(next, Next::Go { transfer: Transfer::Return, .. }));
}

#[test]
fn instructions_are_shown_as_assemblers_write_them() {
    let v7m = |halves: &[u16]| thumb(Isa::V7m, halves, It::NONE).unwrap().to_string();
    assert_eq!(v7m(&[0xb5f0]), "push {r4, r5, r6, r7, lr}");
    assert_eq!(v7m(&[0xbdf0]), "pop {r4, r5, r6, r7, pc}");
    assert_eq!(v7m(&[0x4b02]), "ldr r3, [0x100c]");
    assert_eq!(v7m(&[0xd0fe]), "beq 0x1002");
    assert_eq!(v7m(&[0xf7ff, 0xfffe]), "bl 0x1002");
    assert_eq!(v7m(&[0xe8df, 0xf003]), "tbb [pc, r3]");
    assert_eq!(v7m(&[0xfb93, 0xf2f1]), "sdiv r2, r3, r1");
    assert_eq!(v7m(&[0xf843, 0x2b04]), "str r2, [r3], #4");
    assert_eq!(v7m(&[0xf3c0, 0x1107]), "ubfx r1, r0, #4, #8");
    assert_eq!(v7m(&[0xf380, 0x8812]), "msr basepri_max, r0");
    let rv32 = |word| riscv(word).unwrap().to_string();
    assert_eq!(rv32(0x0000_8067), "ret");
    assert_eq!(rv32(0xfe01_0113), "addi sp, sp, -32");
    assert_eq!(rv32(0x0000_1141), "addi sp, sp, -16");
    assert_eq!(rv32(0x3004_7573), "csrrci a0, mstatus, 8");
    assert_eq!(rv32(0x3020_0073), "mret");
}

/// The reason that an instruction is refused for.
fn reason(result: Result<Decoded, Refused>) -> &'static str {
    result.map_or_else(|refused| refused.reason, |decoded| panic!("{decoded} is accepted"))
}

#[test]
fn what_is_unpredictable_is_refused() {
    let unpredictable: [&[u16]; 14] = [
        &[0x4578],         // cmp r0, pc
        &[0x4778],         // bx pc
        &[0x4701],         // bx r0 with a bit that should be zero
        &[0xb400],         // push {}
        &[0xc800],         // ldm r0!, {}
        &[0xc103],         // stm r1!, {r0, r1}
        &[0xe891, 0x0004], // ldm.w r1, {r2}
        &[0xe8b1, 0x0006], // ldm.w r1!, {r1, r2}
        &[0xf851, 0x1b04], // ldr r1, [r1], #4
        &[0xe9d1, 0x2200], // ldrd r2, r2, [r1]
        &[0xe841, 0x2100], // strex r1, r2, [r1]
        &[0xfb81, 0x2202], // smull r2, r2, r1, r2
        &[0xf04f, 0x1d00], // mov with an immediate value of zeros
        &[0xf3c0, 0x719f], // ubfx beyond bit 31
    ];
    for halves in unpredictable {
        let refused = reason(thumb(Isa::V7m, halves, It::NONE));
        assert_eq!(refused, "UNPREDICTABLE encoding", "{halves:x?}");
    }
    // A branch that is not the last in its block, a conditional branch, `it`, `cbz`, `cps`, `bkpt` and `udf` in one.
    for (half, it) in [(0xe000, 0x04), (0x4770, 0x04), (0xd000, 8), (0xbf08, 8), (0xb100, 8)]
        .into_iter()
        .chain([(0xb672, 8), (0xbe00, 8), (0xde00, 8)])
    {
        let refused = reason(thumb(Isa::V7m, &[half], It(it)));
        assert_eq!(refused, "UNPREDICTABLE in an IT block", "{half:x}");
    }
}

/// As LLVM has it for `compare_exchange` without optimisation.
#[test]
fn low_registers_are_compared_in_either_encoding() {
    let decoded = |half| thumb(Isa::V7m, &[half], It::NONE).unwrap();
    assert_eq!(decoded(0x4508), decoded(0x4288));
}

#[test]
fn what_is_not_modelled_is_refused() {
    let v7m = |first, second| reason(thumb(Isa::V7m, &[first, second], It::NONE));
    assert_eq!(v7m(0xf3ef, 0x8009), "MSP and PSP are not modelled");
    assert_eq!(v7m(0xf3ef, 0x8000), "the Q flag is not modelled");
    assert_eq!(v7m(0xfa81, 0xf002), "an instruction of the DSP extension");
    assert_eq!(v7m(0xee30, 0x0a00), "a coprocessor's or floating-point instruction");
    assert_eq!(v7m(0xf851, 0x0e00), "an unprivileged access");
    assert_eq!(v7m(0xf891, 0xf000), "a memory hint");
    assert_eq!(reason(thumb(Isa::V7m, &[0xbf50], It::NONE)), "a reserved hint");
    assert_eq!(reason(thumb(Isa::V7m, &[0xf3ef], It::NONE)), "the code ends here");
    assert_eq!(reason(riscv(0x3410_2573)), "a control and status register that is not modelled");
    assert_eq!(reason(riscv(0x1020_0073)), "a privileged instruction");
    assert_eq!(reason(riscv(0x0000_100f)), "fence.i is for code that changes");
    assert_eq!(reason(riscv(0x0000_2007)), "a floating-point instruction");
}

#[test]
fn armv6m_does_not_know_what_armv7m_does() {
    // `it eq`, `cbz`, `movw`, `b.w`, `udiv`, `ldrex`, `clrex`, `nop.w`, BASEPRI.
    let only_v7m: [&[u16]; 9] = [
        &[0xbf08],
        &[0xb100],
        &[0xf240, 0x0000],
        &[0xf000, 0xb800],
        &[0xfbb0, 0xf0f0],
        &[0xe851, 0x0f00],
        &[0xf3bf, 0x8f2f],
        &[0xf3af, 0x8000],
        &[0xf3ef, 0x8011],
    ];
    for halves in only_v7m {
        assert!(thumb(Isa::V7m, halves, It::NONE).is_ok(), "{halves:x?}");
        assert!(thumb(Isa::V6m, halves, It::NONE).is_err(), "{halves:x?}");
    }
}
