//! `sprintf()` with `%s`: how long its texts are is asked right before.

use super::Parser;
use super::atomic::in_order;
use super::typing::int;
use crate::c::Fail;
use crate::c::lower::format;
use crate::c::tree::{Expr, ExprKind, FunctionId};
use crate::c::types::{pointer, unsigned};
use vouch_ir::Span;

impl Parser {
    /// A call of a function by its name.
    pub(super) fn call_of(
        &mut self,
        id: FunctionId,
        mut args: Vec<Expr>,
        span: Span,
    ) -> Result<Expr, Fail> {
        let ty = self.unit.functions[id].result.clone();
        let (mut before, mut lengths) = (vec![], vec![]);
        for text in self.texts(id, &args) {
            let arg = &mut args[text.argument];
            let (keep, kept) = self.kept(arg.clone())?;
            before.push(keep);
            *arg = kept.clone();
            let chars = self.convert(kept, &pointer(self.unit.types.char()));
            let length = match text.most {
                None => self.call_inner("__builtin_strlen", vec![chars], span)?,
                Some(most) => {
                    let most = int(most.into(), unsigned(self.unit.types.word()), span);
                    self.call_inner("__builtin_strnlen", vec![chars, most], span)?
                }
            };
            lengths.push(self.call_inner("__vouch_text_length", vec![length], span)?);
        }
        before.append(&mut lengths);
        Ok(in_order(before, Expr { kind: ExprKind::Call(id, args), ty, span }))
    }

    /// The texts that `sprintf()` is given.
    fn texts(&self, id: FunctionId, args: &[Expr]) -> Vec<format::Text> {
        let name = &*self.unit.functions[id].name;
        let format = args.get(1).filter(|_| name.trim_start_matches("__builtin_") == "sprintf");
        let format = format.and_then(|format| self.unit.text(format));
        let mut texts = format.map_or(vec![], |format| format::texts(&format));
        texts.iter_mut().for_each(|text| text.argument += 2);
        let is_text =
            |t: &format::Text| args.get(t.argument).is_some_and(|a| a.ty.pointee().is_some());
        if texts.iter().all(is_text) { texts } else { vec![] }
    }
}
