//! Every operator as gates against the reference interpreter.

use super::*;
use vouch_ir::{Input, Type, Var, VarKind, Word, eval, mask};

/// Deterministic numbers (splitmix64).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    /// A value that is often at an edge: few bits, many bits, small.
    fn word(&mut self, width: u32) -> Word {
        let wide = (self.next() as Word) << 64 | self.next() as Word;
        let value = match self.below(8) {
            0 => self.below(4) as Word,
            1 => !(self.below(4) as Word),
            2 => 1 << self.below(width as u64),
            3 => (1 << self.below(width as u64)) - 1,
            4 => wide >> self.below(128),
            _ => wide,
        };
        value & mask(width)
    }
}

const BINARY: [BinOp; 19] = [
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::UDiv,
    BinOp::URem,
    BinOp::SDiv,
    BinOp::SRem,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::Eq,
    BinOp::Ult,
    BinOp::Ule,
    BinOp::Slt,
    BinOp::Sle,
    BinOp::Concat,
];

fn automaton(vars: &[u32], inputs: &[u32]) -> Cfa {
    let mut cfa = Cfa::new("t");
    for (i, &width) in vars.iter().enumerate() {
        let (name, ty, kind) = (format!("v{i}"), Type::Unsigned, VarKind::State);
        cfa.add_var(Var { name, width, ty, kind });
    }
    for (i, &width) in inputs.iter().enumerate() {
        cfa.add_input(Input { name: format!("i{i}"), width, ty: Type::Unsigned });
    }
    cfa
}

/// Compares the roots' words with their values for up to 64 valuations of variables then inputs.
fn compare(cfa: &Cfa, roots: &[ExprId], valuations: &[Vec<Word>]) {
    let mut blaster = Blaster::new(cfa, 1 << 22).unwrap();
    let words: Vec<Bits> = roots.iter().map(|r| blaster.word(*r).unwrap().to_vec()).collect();
    let vars = cfa.vars.len();
    for chunk in valuations.chunks(64) {
        let values = blaster.graph.simulate(|flat| {
            let (at, bit) = if flat < blaster.state_bits() {
                let (var, bit) = blaster.state_bit(flat);
                (var.index(), bit)
            } else {
                let input = blaster.inputs.partition_point(|first| *first <= flat) - 1;
                (vars + input, flat - blaster.inputs[input])
            };
            let lane = |(i, v): (usize, &Vec<Word>)| ((v[at] >> bit & 1) as u64) << i;
            chunk.iter().enumerate().map(lane).sum()
        });
        for (lane, valuation) in chunk.iter().enumerate() {
            let want = eval::expressions(
                &cfa.pool,
                roots,
                |v| valuation[v.index()],
                |i| valuation[vars + i.index()],
            );
            for ((root, word), want) in roots.iter().zip(&words).zip(want) {
                let bit = |l: &Lit| values[l.var()] >> lane & 1 ^ !l.is_positive() as u64;
                let got = word.iter().rev().fold(0, |sum, l| sum << 1 | bit(l) as Word);
                assert_eq!(got, want, "{:?} of {valuation:x?}", cfa.pool.get(*root));
            }
        }
    }
}

/// All operators on two variables of this width, and with random constants on either side.
fn operators(width: u32, constants: &[Word], valuations: &[Vec<Word>]) {
    let mut cfa = automaton(&[width, width], &[]);
    let (a, b) = (cfa.read(VarId(0)), cfa.read(VarId(1)));
    let mut roots = vec![];
    let pool = &mut cfa.pool;
    for op in BINARY {
        if op == BinOp::Concat && width > 64 {
            continue;
        }
        roots.extend([pool.binary(op, a, b), pool.binary(op, a, a)]);
        for &value in constants {
            let value = pool.constant(value, width);
            roots.extend([pool.binary(op, a, value), pool.binary(op, value, a)]);
        }
    }
    let less = pool.binary(BinOp::Ult, a, b);
    roots.extend([pool.unary(UnOp::Not, a), pool.unary(UnOp::Neg, a), pool.ite(less, a, b)]);
    for lo in 0..width {
        roots.push(pool.slice(a, lo, 1 + (width - lo - 1) / 2));
    }
    for signed in [false, true] {
        roots.push(pool.extend(a, (width + 3).min(128), signed));
    }
    compare(&cfa, &roots, valuations);
}

#[test]
fn operators_on_all_values_of_small_widths() {
    for width in 1..=4 {
        let all = || 0..1 << width;
        let valuations: Vec<_> = all().flat_map(|a| all().map(move |b| vec![a, b])).collect();
        operators(width, &all().collect::<Vec<_>>(), &valuations);
    }
}

#[test]
fn operators_on_random_values_of_larger_widths() {
    let mut rng = Rng(1);
    for width in (5..=16).chain([31, 32, 33, 64, 127, 128]) {
        let valuations: Vec<_> = (0..128).map(|_| vec![rng.word(width), rng.word(width)]).collect();
        let constants: Vec<_> =
            (0..if width > 32 { 2 } else { 6 }).map(|_| rng.word(width)).collect();
        operators(width, &constants, &valuations);
    }
}

#[test]
fn random_expressions() {
    let mut rng = Rng(2);
    for round in 0..300 {
        let widths: Vec<u32> = (0..4).map(|_| 1 + rng.below(9) as u32).collect();
        let mut cfa = automaton(&widths[..2], &widths[2..]);
        let mut nodes: Vec<ExprId> = vec![
            cfa.read(VarId(0)),
            cfa.read(VarId(1)),
            cfa.sample(InputId(0)),
            cfa.sample(InputId(1)),
        ];
        let pool = &mut cfa.pool;
        for _ in 0..3 + round % 30 {
            let pick = |rng: &mut Rng| nodes[rng.below(nodes.len() as u64) as usize];
            let (a, b, c) = (pick(&mut rng), pick(&mut rng), pick(&mut rng));
            let width = pool.width(a);
            let (b, signed) = (pool.resize(b, width, rng.below(2) == 0), rng.below(2) == 0);
            nodes.push(match rng.below(12) {
                0 => pool.unary(if signed { UnOp::Neg } else { UnOp::Not }, a),
                1 => pool.constant(rng.word(width), width),
                2 => {
                    let c = pool.slice(c, 0, 1);
                    pool.ite(c, a, b)
                }
                3 => pool.slice(a, width / 3, 1 + (width - width / 3 - 1) / 2),
                4 => pool.extend(a, (width + 2).min(16), signed),
                _ => match BINARY[rng.below(19) as usize] {
                    BinOp::Concat if width > 8 => continue,
                    op => pool.binary(op, a, b),
                },
            });
        }
        let valuations: Vec<_> =
            (0..64).map(|_| widths.iter().map(|w| rng.word(*w)).collect()).collect();
        compare(&cfa, &nodes, &valuations);
    }
}

/// What the operators cost, so that a change for the worse is noticed.
#[test]
fn gates_of_operators() {
    let size = |op| {
        let mut cfa = automaton(&[8, 8], &[]);
        let (a, b) = (cfa.read(VarId(0)), cfa.read(VarId(1)));
        let root = cfa.pool.binary(op, a, b);
        let mut blaster = Blaster::new(&cfa, 1 << 20).unwrap();
        blaster.word(root).unwrap();
        blaster.graph().len() - 1 - 16
    };
    assert!(size(BinOp::Add) <= 24);
    assert!(size(BinOp::Ult) <= 16);
    assert!(size(BinOp::Eq) <= 15);
    assert!(size(BinOp::Shl) <= 36);
    assert!(size(BinOp::Mul) <= 120, "{}", size(BinOp::Mul));
    assert!(size(BinOp::UDiv) <= 155, "{}", size(BinOp::UDiv));
}

#[test]
fn too_many_nodes_are_an_error() {
    let mut cfa = automaton(&[64, 64], &[]);
    let (a, b) = (cfa.read(VarId(0)), cfa.read(VarId(1)));
    let root = cfa.pool.binary(BinOp::Mul, a, b);
    assert_eq!(Blaster::new(&cfa, 1000).unwrap().word(root), Err(TooManyNodes));
}
