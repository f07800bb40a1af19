//! Declarations: files, machines, states, transitions, properties.

use super::super::ast::*;
use super::super::token::Kind;
use super::{Failed, MAX_ERRORS, Parse, Parser};
use crate::Diagnostic;
use vouch_ir::Span;

fn begins_item(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Const
            | Kind::Enum
            | Kind::Param
            | Kind::Input
            | Kind::Var
            | Kind::Fn
            | Kind::Property
            | Kind::Machine
            | Kind::System
            | Kind::State
            | Kind::Initial
    )
}

fn begins_rule(kind: Kind) -> bool {
    matches!(kind, Kind::On | Kind::Else | Kind::Choose | Kind::Entry | Kind::Exit)
}

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while self.kind() != Kind::End && self.errors.len() < MAX_ERRORS {
            let before = self.at;
            if self.file_item(&mut file).is_err() {
                self.recover(begins_item);
                if self.at == before {
                    self.advance();
                }
            }
        }
        file
    }

    fn file_item(&mut self, file: &mut File) -> Parse<()> {
        match self.kind() {
            Kind::Machine => file.machines.push(self.machine()?),
            Kind::System => file.systems.push(self.system()?),
            Kind::State | Kind::Initial => {
                let error = self.unexpected_diagnostic("`machine`");
                self.report(error.help("declare states inside `machine NAME { … }`"));
                self.state()?;
            }
            kind if begins_item(kind) || self.is_word("output") => file.items.push(self.item()?),
            _ => {
                return Err(self.unexpected(
                    "`machine` or a declaration (`const`, `enum`, `param`, `input`, `var`, `output`, \
                     `fn`, `property`)",
                ));
            }
        }
        Ok(())
    }

    fn system(&mut self) -> Parse<System> {
        self.expect(Kind::System)?;
        let name = self.name("the system")?;
        self.expect(Kind::Assign)?;
        let schedule = self.schedule()?;
        self.semicolon()?;
        Ok(System { name, schedule })
    }

    fn schedule(&mut self) -> Parse<Schedule> {
        let start = self.span();
        let name = self.name("a machine, or `sync(…)`, `sequence(…)`, `interleave(…)`")?;
        if !self.eat(Kind::OpenParen) {
            return Ok(Schedule::Machine(name));
        }
        let parts = self.nested(|p| p.list(Kind::CloseParen, Self::schedule))?;
        let span = self.since(start);
        match name.text.as_str() {
            "sync" => Ok(Schedule::Sync(parts, span)),
            "sequence" => Ok(Schedule::Sequence(parts, span)),
            "interleave" => Ok(Schedule::Interleave(parts, span)),
            _ => {
                let error = Diagnostic::error(
                    format!("`{}` is not a composition operator", name.text),
                    name.span,
                    "expected `sync`, `sequence` or `interleave`",
                )
                .help(
                    "`sync` runs them in the same step, `sequence` one after the other, `interleave` \
                     one of them",
                );
                Err(self.report(error))
            }
        }
    }

    fn machine(&mut self) -> Parse<Machine> {
        self.expect(Kind::Machine)?;
        let name = self.name("the machine")?;
        let (mut items, mut states, mut each) = (vec![], vec![], None);
        self.braced(begins_item, |p| {
            match p.kind() {
                Kind::State | Kind::Initial => states.push(p.state()?),
                Kind::Machine | Kind::System => {
                    return Err(p.unexpected("a state or a declaration; machines do not nest"));
                }
                kind if begins_item(kind) || p.is_word("output") => items.push(p.item()?),
                _ if p.is_word("every") => {
                    let start = p.advance().span;
                    p.word("step")?;
                    if each.replace(p.block()?).is_some() {
                        let message = "the machine has a second `every step`";
                        let error = Diagnostic::error(message, start, "one is enough");
                        p.report(error.help("put everything into one block"));
                    }
                }
                _ => return Err(p.unexpected("`state`, a declaration or `every step { … }`")),
            }
            Ok(())
        })?;
        Ok(Machine { name, items, states, each })
    }

    fn item(&mut self) -> Parse<Item> {
        let kind = self.advance().kind;
        let item = match kind {
            Kind::Const => {
                let name = self.name("the constant")?;
                let ty = if self.eat(Kind::Colon) { Some(self.ty()?) } else { None };
                self.expect(Kind::Assign)?;
                Item::Const { name, ty, value: self.expr()? }
            }
            Kind::Enum => {
                let name = self.name("the enum")?;
                self.expect(Kind::OpenBrace)?;
                let variants = self.list(Kind::CloseBrace, |p| p.name("a value"))?;
                self.eat(Kind::Semicolon);
                return Ok(Item::Enum { name, variants });
            }
            Kind::Param => {
                let (name, ty) = self.typed("the parameter")?;
                let range = if self.eat(Kind::In) { Some(self.range()?) } else { None };
                Item::Param { name, ty, range }
            }
            Kind::Input => {
                let (name, ty) = self.typed("the input")?;
                let constraint = if self.eat(Kind::Where) { Some(self.expr()?) } else { None };
                Item::Input { name, ty, constraint }
            }
            // The only word that begins a declaration without being a keyword is `output`.
            Kind::Var | Kind::Ident => {
                let (name, ty) = self.typed("the variable")?;
                let init = if self.eat(Kind::Assign) { Some(self.expr()?) } else { None };
                let constraint = if self.eat(Kind::Where) { Some(self.expr()?) } else { None };
                Item::Var { name, ty, init, constraint, output: kind == Kind::Ident }
            }
            Kind::Fn => return Ok(Item::Fn(self.function()?)),
            Kind::Property => {
                let name = self.name("the property")?;
                let requirements = self.requirements()?;
                self.expect(Kind::Colon)?;
                Item::Property { name, requirements, claim: self.claim()? }
            }
            _ => return Err(self.unexpected("a declaration")),
        };
        self.semicolon()?;
        Ok(item)
    }

    /// What a property covers, in brackets.
    fn requirements(&mut self) -> Parse<Vec<Name>> {
        if !self.eat(Kind::OpenBracket) {
            return Ok(vec![]);
        }
        let mut ids = vec![];
        loop {
            if self.kind() != Kind::Requirement {
                let error = self.unexpected_diagnostic("the id of a requirement");
                let help = "ids are made of letters, digits and `_-.#+`, as in `[REQ-12, SYS.4.2]`";
                return Err(self.report(error.help(help)));
            }
            let span = self.advance().span;
            ids.push(Name { text: self.text_of(span).to_owned(), span });
            if !self.eat(Kind::Comma) {
                self.expect(Kind::CloseBracket)?;
                return Ok(ids);
            }
        }
    }

    fn typed(&mut self, what: &str) -> Parse<(Name, Type)> {
        let name = self.name(what)?;
        if self.kind() != Kind::Colon {
            let error = self.unexpected_diagnostic("`:` and a type");
            return Err(self.report(error.help(format!("say its type, as in `{}: u8`", name.text))));
        }
        self.advance();
        Ok((name, self.ty()?))
    }

    pub(super) fn range(&mut self) -> Parse<Range> {
        let from = self.expr()?;
        let inclusive = self.kind() == Kind::DotDotEq;
        if !inclusive && self.kind() != Kind::DotDot {
            return Err(self.unexpected("`..=` (last value included) or `..` (excluded)"));
        }
        self.advance();
        Ok(Range { from, to: self.expr()?, inclusive })
    }

    fn function(&mut self) -> Parse<Function> {
        let name = self.name("the function")?;
        self.expect(Kind::OpenParen)?;
        let params = self.list(Kind::CloseParen, |p| p.typed("a parameter"))?;
        let result = if self.eat(Kind::Arrow) { Some(self.ty()?) } else { None };
        Ok(Function { name, params, result, body: self.block()? })
    }

    fn claim(&mut self) -> Parse<Claim> {
        if self.eat_word("always") {
            Ok(Claim::Always(self.expr()?))
        } else if self.eat_word("never") {
            Ok(Claim::Never(self.expr()?))
        } else if self.eat_word("when") {
            let when = self.expr()?;
            self.word("then")?;
            let then = self.expr()?;
            let after = self.eat_word("after");
            if !after && !self.eat_word("within") {
                let error = self.unexpected_diagnostic("`within` or `after`");
                let help = "say when: `within N steps` (by then at the latest) or `after N steps` \
                            (exactly then)";
                return Err(self.report(error.help(help)));
            }
            let steps = self.expr()?;
            if !self.eat_word("step") {
                self.word("steps")?;
            }
            match after {
                true => Ok(Claim::After { when, then, steps }),
                false => Ok(Claim::Within { when, then, steps }),
            }
        } else if self.eat_word("no") {
            let what = self.expr()?;
            self.word("before")?;
            Ok(Claim::NoBefore { what, before: self.expr()? })
        } else if self.eat_word("once") {
            let once = self.expr()?;
            self.word("never")?;
            Ok(Claim::OnceNever { once, never: self.expr()? })
        } else {
            const FORMS: &str = "one of: `always E`, `never E`, `when A then B within N steps`, \
                                 `when A then B after N steps`, `no B before A`, `once A never B`";
            let error = self.unexpected_diagnostic("`always`, `never`, `when`, `no` or `once`");
            let help = match self.text_of(self.span()) {
                "G" | "globally" => "write `always E`".to_owned(),
                "F" | "U" | "eventually" | "finally" | "until" => {
                    format!("liveness is not supported; give a bound. {FORMS}")
                }
                _ => FORMS.to_owned(),
            };
            Err(self.report(error.help(help)))
        }
    }

    fn state(&mut self) -> Parse<State> {
        let start = self.span();
        let initial = self.eat(Kind::Initial);
        self.expect(Kind::State)?;
        let name = self.name("the state")?;
        let mut state = State { name, initial, entry: None, exit: None, rules: vec![] };
        if self.eat(Kind::Semicolon) {
            return Ok(state);
        }
        self.braced(|k| begins_rule(k) || begins_item(k), |p| p.rule(&mut state, start))?;
        Ok(state)
    }

    /// A part of the state that began at `start`.
    fn rule(&mut self, state: &mut State, start: Span) -> Parse<()> {
        match self.kind() {
            Kind::Entry | Kind::Exit => {
                let keyword = self.advance();
                let is_entry = keyword.kind == Kind::Entry;
                let block = self.block()?;
                let place = if is_entry { &mut state.entry } else { &mut state.exit };
                if place.replace(block).is_some() {
                    let message = format!("state {} has a second such action", state.name.text);
                    let error = Diagnostic::error(message, keyword.span, "one is enough");
                    self.report(error.help("put everything into one block"));
                }
            }
            Kind::On | Kind::Else => {
                let transition = self.transition()?;
                state.rules.push(Rule { transitions: vec![transition] });
            }
            Kind::Choose => {
                self.advance();
                let mut transitions = vec![];
                self.braced(begins_rule, |p| {
                    if p.kind() != Kind::On {
                        return Err(p.unexpected("`on`"));
                    }
                    transitions.push(p.transition()?);
                    Ok(())
                })?;
                state.rules.push(Rule { transitions });
            }
            Kind::State | Kind::Initial if self.column(self.span()) > self.column(start) => {
                let error =
                    Diagnostic::error("states cannot be nested", self.span(), "inside a state");
                self.report(error.related(state.name.span, "this one").help(
                    "make it a state of the machine; transitions that both have are written twice",
                ));
                self.state()?;
            }
            Kind::State | Kind::Initial => {
                let message = format!("the state {} is not closed", state.name.text);
                let error = Diagnostic::error(message, self.span(), "`}` is missing before this");
                self.report(error.related(state.name.span, "this one").help("write `}` here"));
                self.unclosed = true;
            }
            kind if begins_item(kind) => {
                // Most likely the state before was not closed.
                let error = self.unexpected_diagnostic("`on`, `else`, `entry` or `}`");
                let help = "put declarations in the machine, outside its states";
                return Err(self.report(error.help(help)));
            }
            _ => {
                return Err(self.unexpected("`on`, `else`, `choose`, `entry`, `exit` or `}`"));
            }
        }
        Ok(())
    }

    fn transition(&mut self) -> Parse<Transition> {
        let start = self.span();
        let guard = if self.eat(Kind::Else) {
            None
        } else {
            self.expect(Kind::On)?;
            Some(self.expr()?)
        };
        let target = if self.eat(Kind::Arrow) { Some(self.name("a state")?) } else { None };
        let span = self.since(start);
        let action = match self.kind() {
            Kind::OpenBrace => self.block()?,
            _ if target.is_some() => {
                self.semicolon()?;
                Block::default()
            }
            Kind::Assign => {
                let error = self.unexpected_diagnostic("`-> STATE` or `{`");
                return Err(self.report(error.help("to compare, write `==`")));
            }
            _ => return Err(self.unexpected("`-> STATE` or `{`")),
        };
        Ok(Transition { guard, target, action, span })
    }

    pub(super) fn ty(&mut self) -> Parse<Type> {
        if !self.eat(Kind::OpenBracket) {
            return Ok(Type::Named(self.name("a type")?));
        }
        self.nested(|p| {
            let element = Box::new(p.ty()?);
            p.expect(Kind::Semicolon)?;
            let length = Box::new(p.expr()?);
            p.expect(Kind::CloseBracket)?;
            Ok::<_, Failed>(Type::Array { element, length })
        })
    }
}
