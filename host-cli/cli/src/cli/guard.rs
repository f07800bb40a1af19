//! Conditions of an automaton in a few words, for pictures.

use vouch_host::conditions::comparison;
use vouch_host::ir::{BinOp, Cfa, Expr, ExprId, UnOp, VarId};

/// Parts of a condition that are told.
const PARTS: usize = 3;

/// A condition in a few words: the comparisons that it consists of, and `…` for what does not fit. `known` is left out:
/// the picture shows it otherwise.
pub fn show(cfa: &Cfa, condition: ExprId, known: VarId) -> String {
    let mut parts: Vec<String> = vec![];
    let mut is_more = false;
    let mut stack = vec![(condition, true)];
    while let Some((x, truth)) = stack.pop() {
        match cfa.pool.get(x) {
            Expr::Const(_) => continue,
            Expr::Unary(UnOp::Not, x) => stack.push((x, !truth)),
            Expr::Binary(BinOp::And, a, b) if truth => stack.extend([(b, true), (a, true)]),
            Expr::Binary(BinOp::Or, a, b) if !truth => stack.extend([(b, false), (a, false)]),
            _ if parts.len() == PARTS => is_more = true,
            _ if cfa.pool.vars(x).any(|v| v == known) => {}
            _ => match comparison(cfa, x, truth) {
                Some(part) if parts.contains(&part) => {}
                Some(part) => parts.push(part),
                None => is_more = true,
            },
        }
        if stack.len() > 1000 {
            is_more = true;
            break;
        }
    }
    let mut text = parts.join(" and ");
    if is_more {
        text.push_str(if text.is_empty() { "…" } else { " …" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_host::ir::{Input, Type, Var, VarKind, Word};

    #[test]
    fn conditions_in_a_few_words() {
        let mut cfa = Cfa::new("pump");
        let names = Type::names(["Idle", "Busy"].map(String::from));
        let var = |name: &str, ty| Var { name: name.into(), width: 8, ty, kind: VarKind::State };
        let state = cfa.add_var(var("state", names.clone()));
        let next = cfa.add_var(var("next", names));
        let key = cfa.add_input(Input { name: "key".into(), width: 8, ty: Type::Signed });
        let (state_is, next_is, key_is) = (cfa.read(state), cfa.read(next), cfa.sample(key));
        let pool = &mut cfa.pool;
        let one = pool.constant(1, 8);
        let busy = pool.equal(next_is, one);
        let wide = pool.extend(key_is, 32, true);
        let limit = pool.constant(mask_of(-3), 32);
        let small = pool.binary(BinOp::Slt, wide, limit);
        let large = pool.not(small);
        let here = pool.equal(state_is, one);
        let sum = pool.binary(BinOp::Add, key_is, one);
        let odd = pool.equal(sum, next_is);
        let both = pool.and(busy, large);
        let with_state = pool.and(both, here);
        assert_eq!(show(&cfa, with_state, state), "next == Busy and key >= -3");
        let all = cfa.pool.and(with_state, odd);
        assert_eq!(show(&cfa, all, state), "next == Busy and key >= -3 …");
        let always = cfa.pool.bool(true);
        assert_eq!(show(&cfa, always, state), "");
    }

    fn mask_of(value: i32) -> Word {
        Word::from(value as u32)
    }
}
