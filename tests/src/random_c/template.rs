//! What needs several things at once: strings, copies of bytes, lists, any number of arguments.

use super::place::Object;
use super::types::{INTS, Ty};
use super::{Feature, Writer};

/// What a template has to offer to the rest of the program.
#[derive(Clone, Debug)]
pub enum Offer {
    /// A buffer of twelve characters, the last of which is 0 and stays so.
    Text(String),
    /// The first of three nodes of a list; the names of all.
    List(String, [String; 3]),
    /// A function that takes these types after a number.
    Variadic(String, Vec<Ty>),
}

impl Writer {
    /// Declares what expressions and statements use later.
    pub fn templates(&mut self) {
        if self.has(Feature::Memory) && self.rng.one_in(2) {
            for _ in 0..2 {
                let name = self.fresh("text");
                let first = self.rng.pick(&["", "a", "ba", "abc", "cc"]);
                self.head(&format!("static char {name}[12] = \"{first}\";"));
                let ty = Ty::Array(Box::new(Ty::Int(0)), 11);
                let object =
                    Object { writable: false, pointable: false, ..Object::new(&name, ty, 0) };
                self.objects.push(object);
                self.offers.push(Offer::Text(name));
            }
        }
        if self.rng.one_in(3) {
            self.list();
        }
        if self.has(Feature::Variadic) && self.rng.one_in(3) {
            self.variadic();
        }
    }

    fn list(&mut self) {
        let (tag, ty) = (self.fresh("N"), self.int_ty());
        let names = [self.fresh("n"), self.fresh("n"), self.fresh("n")];
        let member = self.declare(&ty, "v");
        self.head(&format!("struct {tag} {{ struct {tag} *next; {member}; }};"));
        for i in (0..3).rev() {
            let value = self.number();
            let next = if i == 2 { "0".into() } else { format!("&{}", names[i + 1]) };
            self.head(&format!(
                "static struct {tag} {} = {{ .v = {value}, .next = {next} }};",
                names[i]
            ));
        }
        for name in &names {
            self.objects.push(Object::new(&format!("{name}.v"), ty.clone(), 0));
        }
        self.offers.push(Offer::List(tag, names));
    }

    /// A function with any number of arguments: a known list of types after the first.
    fn variadic(&mut self) {
        let name = self.fresh("va");
        let mut types = vec![];
        for _ in 0..self.rng.between(1, 5) {
            let ty = match self.rng.below(6) {
                0 if !self.tagged.is_empty() => Ty::Record(self.rng.pick(&self.tagged)),
                _ => Ty::Int(self.rng.pick(&[5, 6, 7, 8, 9, 10])),
            };
            types.push(if self.has_union(&ty) { Ty::Int(5) } else { ty });
        }
        self.head(&format!("static long long {name}(int n, ...) {{"));
        self.line("__builtin_va_list ap, again;");
        self.line("long long s = n;");
        self.line("__builtin_va_start(ap, n);");
        self.line("__builtin_va_copy(again, ap);");
        for ty in &types {
            let value = format!("__builtin_va_arg(ap, {})", self.spell(ty));
            let mut parts = vec![];
            if let Ty::Record(_) = ty {
                let declaration = self.declare(ty, "r");
                self.parts("r", ty, &mut parts);
                self.line(&format!("{{ {declaration} = {value};"));
                for part in parts {
                    self.line(&format!("s = s * 7 + {part};"));
                }
                self.line("}");
            } else {
                self.line(&format!("s = s * 7 + {value};"));
            }
        }
        if let Ty::Int(_) = types[0] {
            let first = self.spell(&types[0]);
            self.line(&format!("s ^= __builtin_va_arg(again, {first});"));
        }
        self.line("__builtin_va_end(again);");
        self.line("__builtin_va_end(ap);");
        self.line("return s;");
        self.head("}");
        self.offers.push(Offer::Variadic(name, types));
    }

    /// A value of what templates have declared.
    pub fn offer(&mut self, depth: u32) -> Option<String> {
        if self.offers.is_empty() {
            return None;
        }
        let offer = self.offers[self.rng.below(self.offers.len())].clone();
        match offer {
            Offer::Text(name) if !self.pure => {
                self.work += 8 * self.times;
                let other = self.text().filter(|_| self.rng.one_in(2));
                let other =
                    other.unwrap_or_else(|| self.rng.pick(&["\"a\"", "\"abd\"", "\"\""]).into());
                let letter = self.rng.pick(&["'a'", "'c'", "0"]);
                let n = self.rng.below(6);
                Some(match self.rng.below(8) {
                    0 => format!("strlen({name})"),
                    1 => format!("(strcmp({name}, {other}) < 0)"),
                    2 => format!("(strcmp({other}, {name}) == 0)"),
                    3 => format!("(strncmp({name}, {other}, {n}) > 0)"),
                    4 => format!("(memcmp({name}, \"abcdef\", {n}) <= 0)"),
                    5 => format!(
                        "(strchr({name}, {letter}) ? strchr({name}, {letter}) - {name} : -1)"
                    ),
                    6 => format!("(memchr({name}, {letter}, {n}) != 0)"),
                    _ => format!("(strrchr({name}, {letter}) == {name} + {n})"),
                })
            }
            Offer::Variadic(name, types) => {
                let mut arguments = vec![];
                for ty in &types {
                    arguments.push(match ty {
                        Ty::Int(i) => format!("({})({})", INTS[*i].name, self.expr(depth.min(1))),
                        _ => {
                            let init = self.init(ty, false, 3);
                            if init.starts_with('{') {
                                format!("({}){init}", self.spell(ty))
                            } else {
                                init
                            }
                        }
                    });
                }
                self.work += 8 * self.times;
                Some(format!("{name}({}, {})", self.rng.below(9), arguments.join(", ")))
            }
            _ => None,
        }
    }

    fn text(&mut self) -> Option<String> {
        let texts = self.offers.iter().filter_map(|o| match o {
            Offer::Text(name) => Some(name.clone()),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts[self.rng.below(texts.len())].clone())
    }

    /// A statement about strings, bytes or lists.
    pub fn template_statement(&mut self) {
        let done = if self.pure {
            None
        } else {
            match self.rng.below(3) {
                0 => self.text_statement(),
                1 => self.bytes_statement(),
                _ => self.list_statement(),
            }
        };
        match done {
            Some(line) => {
                self.work += 8 * self.times;
                self.line(&line);
            }
            None => {
                let text = self.effect(1);
                self.line(&format!("{text};"));
            }
        }
    }

    fn text_statement(&mut self) -> Option<String> {
        let to = self.text()?;
        let from = self.rng.pick(&["\"\"", "\"a\"", "\"cab\"", "\"abcde\"", "\"a\\0b\""]);
        let n = self.rng.below(9);
        Some(match self.rng.below(6) {
            0 => format!("strcpy({to}, {from});"),
            1 => format!("strncpy({to}, {from}, {n});"),
            2 => format!("{to}[4] = 0; strcat({to}, {from});"),
            3 => format!("{to}[({}) & 7] = {};", self.expr(1), self.expr(1)),
            4 => format!("memmove({to} + {}, {to}, {n});", self.rng.below(3)),
            _ => format!("memset({to}, {}, {n});", self.expr(1)),
        })
    }

    fn bytes_statement(&mut self) -> Option<String> {
        if !self.has(Feature::Memory) {
            return None;
        }
        let objects: Vec<Object> =
            self.visible().filter(|o| o.exact && o.writable).cloned().collect();
        if objects.is_empty() {
            return None;
        }
        let to = &objects[self.rng.below(objects.len())];
        let from = &objects[self.rng.below(objects.len())];
        if self.has_bool(&to.ty) {
            return Some(format!("memset(&{0}, 0, sizeof {0});", to.name));
        }
        let (most_to, most_from) = (self.least_bytes(&to.ty), self.least_bytes(&from.ty));
        let n = self.rng.below(most_to.min(most_from) + 1);
        let (i, j) = (self.rng.below(most_to - n + 1), self.rng.below(most_from - n + 1));
        let (to, from) = (&to.name, &from.name);
        Some(match self.rng.below(3) {
            0 => format!("memset(&{to}, {}, sizeof {to});", self.expr(1)),
            1 => format!("memset((char *)&{to} + {i}, {}, {n});", self.expr(1)),
            _ => format!("memmove((char *)&{to} + {i}, (char *)&{from} + {j}, {n});"),
        })
    }

    fn list_statement(&mut self) -> Option<String> {
        let mut lists = self.offers.iter().filter_map(|o| match o {
            Offer::List(tag, names) => Some((tag.clone(), names.clone())),
            _ => None,
        });
        let (tag, names) = lists.next_back()?;
        let q = self.local("w");
        Some(match self.rng.below(4) {
            0 => format!("{}.next = ({}) ? &{} : &{};", names[0], self.expr(1), names[1], names[2]),
            1 => format!("{}.next = ({}) ? &{} : 0;", names[1], self.expr(1), names[2]),
            2 => {
                let value = self.expr(1);
                format!(
                    "for (struct {tag} *{q} = &{}; {q}; {q} = {q}->next) {q}->v += {value};",
                    names[0]
                )
            }
            _ => {
                let value = self.expr(1);
                format!("if ({0}.next->next) {0}.next->next->v ^= {value};", names[0])
            }
        })
    }
}
