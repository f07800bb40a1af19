//! Words that matter only in sums: proofs that become short, and verdicts that stay what they are.

use vouch_host::blast::{self, AlignedImage};
use vouch_host::check::{By, Request, check};
use vouch_host::engines::{Engine, Memory, Setup};
use vouch_host::frontend::{Language, Source};
use vouch_host::ir::{
    BinOp, Cfa, Edge, ExprId, Input, InputId, LocId, Property, PropertyId, Span, Type, Var, VarId,
    VarKind,
};
use vouch_host::judge::{Finding, Question, Verdict, judge_simplified};
use vouch_host::pipeline::{self, Options};
use vouch_host::simplify::{self, Pass, Passes};
use vouch_tests::explicit::{self, Outcome};
use vouch_tests::rng::Rng;

/// Stations that add one to what the first has chosen, and wake the next; after the last one the first looks at it.
fn ring(stations: usize, claim: usize) -> String {
    let each = |one: &dyn Fn(usize) -> String| (1..=stations).map(one).collect::<String>();
    format!(
        "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
        int token, first, turn, {} started;
        int main(void) {{
          while (1) {{
            if (turn == 0 && __VERIFIER_nondet_int()) {{
              if (started && token != first + {claim}) reach_error();
              token = __VERIFIER_nondet_int(); first = token; started = 1;
              turn = on1 ? 1 : {};
            }}
            {}
          }}
        }}",
        each(&|i| format!("on{i},")),
        stations + 1,
        each(&|i| format!(
            "if (turn == {i} && __VERIFIER_nondet_int()) {{ token += 1; turn = {}; }}
             if (!on{i} && __VERIFIER_nondet_int()) on{i} = 1;\n",
            if i == stations { 0 } else { i + 1 }
        )),
    )
}

fn verdict(text: String, passes: Passes) -> (Verdict, bool) {
    let source = Source { path: "ring.c".into(), text };
    let options = Options { passes: Some(passes), ..Options::default() };
    let model = pipeline::compile(source, Language::C, &options).unwrap();
    let question = Question::new(&model.cfa, None, vec![]);
    let request = Request { budget: 20_000_000, ..Request::new(question) };
    let by = By::Host { engine: Engine::Ic3Cfa, memory: Memory::default() };
    let judgement = check(&model, &request, by, &mut |_| {}).unwrap().judgement;
    (judgement.verdict(), judgement.validated)
}

/// What is counted from an unknown number on is counted from zero on.
#[test]
fn rings_count_from_anywhere() {
    for passes in [Passes::all(), Passes::default()] {
        assert_eq!(verdict(ring(2, 2), passes.clone()), (Verdict::Safe, true), "{passes}");
        assert_eq!(verdict(ring(2, 1), passes.clone()), (Verdict::Unsafe, true), "{passes}");
    }
}

const WIDTH: u32 = 4;

/// An automaton in making.
struct Maker<'a> {
    cfa: Cfa,
    rng: &'a mut Rng,
    words: Vec<VarId>,
    flag: VarId,
    choice: InputId,
    number: InputId,
}

impl Maker<'_> {
    /// A sum of a few multiples.
    fn sum(&mut self) -> ExprId {
        let constant = [0, 0, 1, 3][self.rng.below(4)];
        let mut sum = self.cfa.pool.constant(constant, WIDTH);
        for _ in 0..self.rng.between(1, 2) {
            let word = self.rng.pick(&self.words);
            let mut part = self.cfa.read(word);
            if self.rng.one_in(6) {
                let factor = self.cfa.pool.constant(self.rng.between(2, 3) as u128, WIDTH);
                part = self.cfa.pool.binary(BinOp::Mul, part, factor);
            }
            let op = self.rng.pick(&[BinOp::Add, BinOp::Sub]);
            sum = self.cfa.pool.binary(op, sum, part);
        }
        sum
    }

    /// A difference of two words, mostly, compared with a constant or another sum.
    fn condition(&mut self) -> ExprId {
        let flag = self.cfa.read(self.flag);
        let choice = self.cfa.sample(self.choice);
        let (a, b) = (self.cfa.read(self.words[0]), self.cfa.read(self.words[1]));
        let mut x = self.cfa.pool.binary(BinOp::Sub, a, b);
        if self.rng.one_in(4) {
            x = self.sum();
        }
        let y = match self.rng.one_in(6) {
            true => self.sum(),
            false => self.cfa.pool.constant(self.rng.below(4) as u128, WIDTH),
        };
        match self.rng.below(10) {
            0 => flag,
            1 => choice,
            2 => self.cfa.pool.binary(BinOp::Ult, x, y),
            3 => {
                let c = self.cfa.pool.ite(flag, x, y);
                let other = self.cfa.read(self.words[2]);
                self.cfa.pool.equal(c, other)
            }
            _ => self.cfa.pool.equal(x, y),
        }
    }

    fn updates(&mut self) -> Vec<(VarId, ExprId)> {
        let mut updates = vec![];
        let by = self.cfa.sample(self.number);
        let same = self.rng.one_in(3);
        for word in self.words.clone() {
            let own = self.cfa.read(word);
            let one = self.cfa.pool.constant(1, WIDTH);
            let value = match self.rng.below(6) {
                _ if same => self.cfa.pool.binary(BinOp::Add, own, by),
                0 => by,
                1 => self.sum(),
                2 => {
                    let (c, x) = (self.condition(), self.sum());
                    self.cfa.pool.ite(c, x, own)
                }
                3 => self.cfa.read(self.words[0]),
                _ => self.cfa.pool.binary(BinOp::Add, own, one),
            };
            if same || self.rng.one_in(2) {
                updates.push((word, value));
            }
        }
        if self.rng.one_in(3) {
            let condition = self.condition();
            updates.push((self.flag, condition));
        }
        updates
    }

    fn edge(&mut self, from: LocId, to: LocId, guard: Option<ExprId>) {
        let guard = guard.unwrap_or_else(|| self.cfa.pool.bool(true));
        let updates = self.updates();
        self.cfa.add_edge(Edge { from, to, guard, updates, span: Span::default() });
    }
}

/// Three words and a flag, at two locations.
fn random(rng: &mut Rng) -> Cfa {
    let mut cfa = Cfa::new("sums");
    let var = |name: &str, width| Var {
        name: name.into(),
        width,
        ty: Type::Unsigned,
        kind: VarKind::State,
    };
    let words = ["x", "y", "z"].map(|name| cfa.add_var(var(name, WIDTH))).to_vec();
    let flag = cfa.add_var(var("flag", 1));
    let [choice, number] = [("choice", 1), ("number", WIDTH)]
        .map(|(name, width)| cfa.add_input(Input { name: name.into(), width, ty: Type::Unsigned }));
    let [here, there, error] =
        ["here", "there", "error"].map(|l| cfa.add_location(l, Span::default()));
    let init = cfa.init;
    let mut maker = Maker { cfa, rng, words, flag, choice, number };
    let zero = maker.cfa.pool.constant(0, WIDTH);
    let updates = match maker.rng.one_in(3) {
        true => vec![],
        false => maker.words.iter().map(|v| (*v, zero)).collect(),
    };
    let guard = maker.cfa.pool.bool(true);
    maker.cfa.add_edge(Edge { from: init, to: here, guard, updates, span: Span::default() });
    for (from, to) in [(here, there), (there, here), (here, here), (there, there)] {
        let guard = (!maker.rng.one_in(3)).then(|| maker.condition());
        maker.edge(from, to, guard);
    }
    let at = maker.rng.pick(&[here, there]);
    let guard = maker.condition();
    maker.edge(at, error, Some(guard));
    let span = Span::default();
    maker.cfa.properties.push(Property { name: "p".into(), error, span });
    maker.cfa
}

/// Explicit search agrees, whatever passes are on.
#[test]
fn sums_are_as_good_as_words() {
    let (mut safe, mut broken, mut changed) = (0, 0, 0);
    for seed in 0..200 {
        let cfa = random(&mut Rng::new(seed));
        cfa.check().unwrap();
        let truth = explicit::search(&cfa);
        for passes in [Passes::only(Pass::Sums), Passes::default(), Passes::all()] {
            let simple = simplify::run(&cfa, &passes);
            simple.cfa.check().unwrap();
            changed += (simple.cfa.vars.len() > cfa.vars.len()) as usize;
            let model = blast::compile(&simple.cfa, [7; 32], &blast::Options::default()).unwrap();
            let image = AlignedImage::new(&model.image);
            let candidates = pipeline::candidates(&simple, &model.map);
            let setup = Setup { candidates, budget: 50_000_000, ..Setup::default() };
            let answer = Engine::Ic3Cfa.run(&image, &setup, &mut |_| true).unwrap();
            let question = Question { properties: vec![PropertyId(0)], ..Question::default() };
            let judgement = judge_simplified(&cfa, &simple, &model.map, &question, &answer, true);
            match (&judgement.findings[0].1, &truth[0]) {
                (Finding::Safe, Outcome::Safe) => safe += 1,
                (Finding::Unsafe(_), Outcome::Unsafe { .. }) => broken += 1,
                other => panic!("seed {seed} with {passes}: {other:?}\n{cfa:#?}"),
            }
        }
    }
    assert!(safe > 50 && broken > 50 && changed > 50, "{safe} safe, {broken} broken, {changed}");
}
