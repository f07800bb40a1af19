//! What DWARF says of statics and functions. It is for names, and for the values that arguments of an entry can have;
//! nothing else that is proved depends on it, and what cannot be read has no names.

use super::lines::Reader;
use super::types::{Choice, Found, Kind, Part, Shape, Variant, part_name};
use gimli::{
    AttributeValue, DebuggingInformationEntry, DwAt, DwAte, Dwarf, Operation, Unit, UnitOffset,
};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use vouch_ir::{Type, Word, deadline, mask};

type Entry<'a> = DebuggingInformationEntry<'a, 'a, Reader>;

/// A static, or the part of one that lies apart.
struct Static {
    name: String,
    kind: Rc<Kind>,
    /// Its first byte in the static.
    at: u32,
    size: u32,
}

/// The signature of a function, from the debug information.
pub struct Function {
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The type of its result.
    pub result: Option<Rc<Kind>>,
    /// Whether it is in Rust.
    pub is_rust: bool,
    /// What it was compiled with: the unit that it is in.
    pub unit: usize,
}

/// A parameter of a function.
pub struct Parameter {
    name: String,
    kind: Rc<Kind>,
    domain: Domain,
    /// Where it is when the function begins.
    held: Held,
}

/// Where a parameter is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Register(u16),
    /// In the function's frame, where its beginning puts it.
    Frame,
    /// Nowhere, or the compiler has made something else of it.
    Nowhere,
}

/// The values that a register can have in which an argument is handed over: those of a type, extended to 32 bits, as
/// callers do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Domain {
    /// Bits of the type.
    pub width: u32,
    /// Whether it has a sign.
    pub signed: bool,
    /// Nothing else, if not all of them.
    pub only: Option<Vec<Word>>,
}

impl Domain {
    /// Any value of 32 bits.
    pub const ANY: Domain = Domain { width: 32, signed: false, only: None };

    /// What can be in a register for a value of a type that is kept like this.
    fn of(kind: &Kind, kept: DwAte, is_rust: bool) -> Domain {
        let Shape::Value(ty) = &kind.shape else { return Domain::ANY };
        let (width, signed) = match (kept, kind.size) {
            (gimli::DW_ATE_boolean, 1) => (1, false),
            (gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char, 1 | 2 | 4) => {
                (8 * kind.size, false)
            }
            (gimli::DW_ATE_signed | gimli::DW_ATE_signed_char, 1 | 2 | 4) => (8 * kind.size, true),
            _ => return Domain::ANY,
        };
        // In C an enumeration can have every value of the type that it is kept in.
        let only = match ty {
            Type::Enum(names) if is_rust && (1..NAMES).contains(&names.len()) => {
                Some(names.iter().map(|(value, _)| *value).collect())
            }
            _ => None,
        };
        Domain { width, signed, only }
    }
}

/// What debug information says.
#[derive(Default)]
pub struct Debug {
    statics: BTreeMap<u32, Static>,
    functions: BTreeMap<u32, Function>,
    inlined: Vec<(String, u32)>,
    copied: BTreeMap<String, bool>,
}

impl Debug {
    /// Reads it, and of functions those that are wanted.
    pub fn read(dwarf: Option<&Dwarf<Reader>>, wanted: &dyn Fn(u32) -> bool) -> Debug {
        let mut debug = Debug::default();
        let Some(dwarf) = dwarf else { return debug };
        let mut units = vec![];
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            deadline::tick();
            units.extend(dwarf.unit(header).ok());
        }
        let mut types = Types { dwarf, units: &units, known: HashMap::default() };
        for number in 0..units.len() {
            // What follows damage is lost, other units are not.
            let _ = debug.unit(&mut types, number, wanted);
        }
        debug
    }

    fn unit(
        &mut self,
        types: &mut Types<'_>,
        number: usize,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<(), gimli::Error> {
        let unit = &types.units[number];
        let mut is_rust = false;
        let mut entries = unit.entries();
        while let Some((_, entry)) = entries.next_dfs()? {
            deadline::tick();
            match entry.tag() {
                gimli::DW_TAG_compile_unit => {
                    let language = entry.attr_value(gimli::DW_AT_language)?;
                    is_rust = language == Some(AttributeValue::Language(gimli::DW_LANG_Rust));
                }
                gimli::DW_TAG_variable => {
                    let pieces = pieces(types.dwarf, unit, entry);
                    if pieces.is_empty() {
                        continue;
                    }
                    let Some(name) = types.name(number, entry) else { continue };
                    let kind = types.of(number, entry, DEPTH);
                    for (address, at, size) in pieces {
                        let size = size.unwrap_or(kind.size);
                        let part = Static { name: name.clone(), kind: kind.clone(), at, size };
                        self.statics.entry(address).or_insert(part);
                    }
                }
                gimli::DW_TAG_subprogram => {
                    let inline = entry.attr_value(gimli::DW_AT_inline)?;
                    let is_copied = [gimli::DW_INL_inlined, gimli::DW_INL_declared_inlined]
                        .map(AttributeValue::Inline)
                        .map(Some)
                        .contains(&inline);
                    // Where files are compiled together, what has no code is in others.
                    let has_code = entry.attr_value(gimli::DW_AT_low_pc)?.is_some()
                        || entry.attr_value(gimli::DW_AT_ranges)?.is_some();
                    let is_declared = entry.attr_value(gimli::DW_AT_declaration)?.is_some();
                    if (is_copied || !has_code && !is_declared)
                        && let Some(name) = types.symbol(number, entry)
                    {
                        *self.copied.entry(name).or_default() |= is_copied;
                    }
                    let start = entry.attr_value(gimli::DW_AT_low_pc)?;
                    let start = start.and_then(|at| types.dwarf.attr_address(unit, at).ok()?);
                    let Some(start) = start.map(|at| at as u32 & !1).filter(|at| wanted(*at))
                    else {
                        continue;
                    };
                    let mut function = types.function(number, entry, start, is_rust)?;
                    if let Some(other) = self.functions.remove(&start) {
                        // One body for several: with which arguments it is called, nobody knows.
                        function = Function { parameters: vec![], ..other };
                    }
                    self.functions.insert(start, function);
                }
                gimli::DW_TAG_inlined_subroutine => {
                    let first = types.dwarf.die_ranges(unit, entry)?.next()?;
                    if let Some(name) = types.symbol(number, entry) {
                        self.copied.insert(name, true);
                    }
                    let name = types.name(number, entry);
                    self.inlined.extend(name.zip(first.map(|range| range.begin as u32)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What bytes in RAM are called, and how they are shown.
    pub fn find(&self, address: u32, bytes: u32) -> Option<(String, Type)> {
        let (found, at) = self.at(address, bytes)?;
        let Found { path, ty, .. } = found.kind.find(at, bytes)?;
        Some((format!("{}{path}", found.name), ty))
    }

    /// Whether bytes are one value; nothing if it is not known what is there.
    pub fn is_value(&self, address: u32, bytes: u32) -> Option<bool> {
        let (found, at) = self.at(address, bytes)?;
        Some(found.kind.find(at, bytes).is_some_and(|found| found.is_exact))
    }

    /// The static that bytes are in, and the first of them in it.
    fn at(&self, address: u32, bytes: u32) -> Option<(&Static, u32)> {
        let (start, found) = self.statics.range(..=address).next_back()?;
        let at = address - start;
        (at.checked_add(bytes)? <= found.size).then_some((found, at.checked_add(found.at)?))
    }

    /// Functions that are parts of others, and where.
    pub fn inlined(&self) -> impl Iterator<Item = (&str, u32)> {
        self.inlined.iter().map(|(name, at)| (name.as_str(), *at))
    }

    /// Functions whose symbol is their name, and that a compiler may have copied into those that call them. Whether
    /// it has; if not it did so, or left the function out, if there is no symbol either.
    pub fn copied(&self) -> impl Iterator<Item = (&str, bool)> {
        self.copied.iter().map(|(name, is_sure)| (name.as_str(), *is_sure))
    }

    /// Nobody knows with which arguments this function is called.
    pub fn forget_parameters(&mut self, start: u32) {
        if let Some(function) = self.functions.get_mut(&start) {
            function.parameters.clear();
        }
    }

    /// A function that was wanted.
    pub fn function(&self, start: u32) -> Option<&Function> {
        self.functions.get(&start)
    }
}

impl Function {
    /// Name and type of the argument in a register, by its number among those for arguments. Only as long as each
    /// parameter is in one register.
    pub fn argument(&self, number: u32) -> Option<(&str, Type)> {
        let parameter = self.parameter(number)?;
        match &parameter.kind.shape {
            Shape::Value(ty) => Some((&parameter.name, ty.clone())),
            _ => None,
        }
    }

    /// The parameter that is in a register if all are in the order of the source.
    fn parameter(&self, number: u32) -> Option<&Parameter> {
        if self.result.as_ref().is_some_and(|result| result.size > 4) {
            // Where the result is to go may be an argument, too.
            return None;
        }
        let mut registers = 0;
        for parameter in &self.parameters {
            match parameter.kind.shape {
                _ if parameter.kind.size == 0 => continue,
                Shape::Value(_) if parameter.kind.size <= 4 => {}
                _ => return None,
            }
            if registers == number {
                return Some(parameter);
            }
            registers += 1;
        }
        None
    }

    /// The values that can be in a register when the function is called. Where a compiler has changed what a function
    /// takes, its parameters are elsewhere than their order says: what counts is where they are said to be.
    pub fn domain(&self, registers: &[u8], number: u32) -> Domain {
        let register = registers.get(number as usize).map(|register| u16::from(*register));
        let mut held =
            self.parameters.iter().filter(|p| Some(p.held) == register.map(Held::Register));
        if let Some(parameter) = held.next() {
            return parameter.domain.clone();
        }
        // Not optimised: all of them are there, in the order of the source. One without a size may be of a type that nobody knows.
        let mut first = self.parameters.iter().take(number as usize + 1);
        let is_plain =
            self.parameters.iter().all(|p| p.held == Held::Frame) && first.all(|p| p.kind.size > 0);
        let own = self.parameter(number).filter(|_| is_plain);
        own.map_or(Domain::ANY, |own| own.domain.clone())
    }

    /// The arguments on the stack, word by word: their names and the values that they can have, as long as each parameter is where calls
    /// put it. One that a compiler has left out is nowhere.
    pub fn on_stack(&self, registers: &[u8]) -> Vec<(String, Domain)> {
        let is_word = |p: &Parameter| {
            matches!(p.kind.shape, Shape::Value(_)) && (1..=4).contains(&p.kind.size)
        };
        let is_there = |(number, p): &(usize, &Parameter)| match (p.held, registers.get(*number)) {
            (Held::Register(register), Some(own)) => register == u16::from(*own),
            (held, _) => held == Held::Frame,
        };
        if self.result.as_ref().is_some_and(|result| result.size > 4) {
            return vec![];
        }
        let there = self.parameters.iter().enumerate().take_while(is_there);
        let there = there.take_while(|(_, p)| is_word(p)).skip(registers.len());
        there.map(|(_, p)| (p.name.clone(), p.domain.clone())).collect()
    }
}

/// Where a parameter is at an address.
fn held(dwarf: &Dwarf<Reader>, unit: &Unit<Reader>, entry: &Entry, at: u32) -> Held {
    let location = entry.attr_value(gimli::DW_AT_location).ok().flatten();
    let expression = match location {
        Some(AttributeValue::Exprloc(expression)) => Some(expression),
        Some(value) => dwarf.attr_locations(unit, value).ok().flatten().and_then(|mut list| {
            while let Ok(Some(one)) = list.next() {
                deadline::tick();
                let range = one.range.begin & !1..one.range.end;
                if range.contains(&u64::from(at)) {
                    return Some(one.data);
                }
            }
            None
        }),
        None => None,
    };
    let Some(expression) = expression else { return Held::Nowhere };
    let mut operations = expression.operations(unit.encoding());
    let (first, second) = (operations.next(), operations.next());
    match (first, second) {
        (Ok(Some(Operation::Register { register })), Ok(None)) => Held::Register(register.0),
        // From the stack pointer, or what the function has instead.
        (Ok(Some(Operation::FrameOffset { .. } | Operation::RegisterOffset { .. })), Ok(None)) => {
            Held::Frame
        }
        _ => Held::Nowhere,
    }
}

/// Where a static is: addresses, each with its first byte in the static, and how many there are.
fn pieces(
    dwarf: &Dwarf<Reader>,
    unit: &Unit<Reader>,
    entry: &Entry,
) -> Vec<(u32, u32, Option<u32>)> {
    let location = entry.attr_value(gimli::DW_AT_location).ok().flatten();
    let Some(location) = location.and_then(|location| location.exprloc_value()) else {
        return vec![];
    };
    let (mut pieces, mut here, mut at) = (vec![], None, 0u32);
    let mut operations = location.operations(unit.encoding());
    while let Ok(Some(operation)) = operations.next() {
        deadline::tick();
        match (operation, here) {
            (Operation::Address { address }, None) => here = Some(address as u32),
            (Operation::AddressIndex { index }, None) => {
                here = dwarf.address(unit, index).ok().map(|address| address as u32);
            }
            (Operation::PlusConstant { value }, Some(address)) => {
                here = Some(address.wrapping_add(value as u32));
            }
            (Operation::Piece { size_in_bits, bit_offset: None }, _) => {
                let size = u32::try_from(size_in_bits / 8).unwrap_or(u32::MAX);
                pieces.extend(here.take().map(|address| (address, at, Some(size))));
                at = at.saturating_add(size);
            }
            // Something is computed: the bytes there are not those of the static.
            _ => return vec![],
        }
    }
    pieces.extend(here.map(|address| (address, at, None)));
    pieces
}

/// Types in types.
const DEPTH: u32 = 64;
/// Names of values.
const NAMES: usize = 1024;

/// The types of a program.
struct Types<'a> {
    dwarf: &'a Dwarf<Reader>,
    units: &'a [Unit<Reader>],
    /// By where they stand.
    known: HashMap<usize, Rc<Kind>>,
}

impl<'a> Types<'a> {
    /// Which entry an attribute refers to: its unit, and where it is there.
    fn target(&self, unit: usize, value: AttributeValue<Reader>) -> Option<(usize, UnitOffset)> {
        match value {
            AttributeValue::UnitRef(at) => Some((unit, at)),
            AttributeValue::DebugInfoRef(at) => {
                self.units.iter().enumerate().find_map(|(number, unit)| {
                    let at = at.to_unit_offset(&unit.header)?;
                    Some((number, at))
                })
            }
            _ => None,
        }
    }

    /// An attribute of an entry, or of the one that it completes.
    fn attribute(
        &self,
        unit: usize,
        entry: &Entry,
        name: DwAt,
    ) -> Option<(usize, AttributeValue<Reader>)> {
        if let Some(value) = entry.attr_value(name).ok()? {
            return Some((unit, value));
        }
        let mut at = (unit, entry.offset());
        for _ in 0..4 {
            let entry = self.units[at.0].entry(at.1).ok()?;
            if let Some(value) = entry.attr_value(name).ok()? {
                return Some((at.0, value));
            }
            let origin = entry.attr_value(gimli::DW_AT_abstract_origin).ok()?;
            let origin = origin.or(entry.attr_value(gimli::DW_AT_specification).ok()?);
            at = self.target(at.0, origin?)?;
        }
        None
    }

    fn name(&self, unit: usize, entry: &Entry) -> Option<String> {
        let (unit, name) = self.attribute(unit, entry, gimli::DW_AT_name)?;
        let name = self.dwarf.attr_string(&self.units[unit], name).ok()?;
        Some(String::from_utf8_lossy(&name).into_owned())
    }

    /// The name of a function in languages where that is its symbol.
    fn symbol(&self, unit: usize, entry: &Entry) -> Option<String> {
        let name = self.name(unit, entry)?;
        let Some((unit, linked)) = self.attribute(unit, entry, gimli::DW_AT_linkage_name) else {
            return Some(name);
        };
        let linked = self.dwarf.attr_string(&self.units[unit], linked).ok()?;
        (*linked == *name.as_bytes()).then_some(name)
    }

    fn number(&self, unit: usize, entry: &Entry, name: DwAt) -> Option<u32> {
        let (_, value) = self.attribute(unit, entry, name)?;
        value.udata_value().and_then(|value| u32::try_from(value).ok())
    }

    fn function(
        &mut self,
        unit: usize,
        entry: &Entry,
        start: u32,
        is_rust: bool,
    ) -> Result<Function, gimli::Error> {
        let result = self.attribute(unit, entry, gimli::DW_AT_type).is_some();
        let result = result.then(|| self.of(unit, entry, DEPTH));
        let mut parameters = vec![];
        self.children(unit, entry.offset(), |types, child| {
            if child.tag() == gimli::DW_TAG_formal_parameter {
                let name = types.name(unit, child).unwrap_or_default();
                let held = held(types.dwarf, &types.units[unit], child, start);
                let kind = types.of(unit, child, DEPTH);
                let kept = types.kept(unit, child);
                let domain = kept.map_or(Domain::ANY, |kept| Domain::of(&kind, kept, is_rust));
                parameters.push(Parameter { name, kind, domain, held });
            }
        });
        Ok(Function { parameters, result, is_rust, unit })
    }

    /// How a scalar is kept: names of types and enumerations lead to the type that has no others.
    fn kept(&self, unit: usize, entry: &Entry) -> Option<DwAte> {
        let (mut unit, mut target) = self.attribute(unit, entry, gimli::DW_AT_type)?;
        for _ in 0..DEPTH {
            deadline::tick();
            let at;
            (unit, at) = self.target(unit, target)?;
            let entry = self.units[unit].entry(at).ok()?;
            match entry.tag() {
                gimli::DW_TAG_base_type => {
                    let (_, encoding) = self.attribute(unit, &entry, gimli::DW_AT_encoding)?;
                    return match encoding {
                        AttributeValue::Encoding(encoding) => Some(encoding),
                        _ => None,
                    };
                }
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_enumeration_type
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_atomic_type => {
                    (unit, target) = self.attribute(unit, &entry, gimli::DW_AT_type)?;
                }
                _ => return None,
            }
        }
        None
    }

    /// Looks at the entries in an entry, as far as they can be read.
    fn children(&mut self, unit: usize, at: UnitOffset, mut look: impl FnMut(&mut Self, &Entry)) {
        let units = self.units;
        let Ok(mut tree) = units[unit].entries_tree(Some(at)) else { return };
        let Ok(root) = tree.root() else { return };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            deadline::tick();
            look(self, child.entry());
        }
    }

    /// The type of what an entry describes.
    fn of(&mut self, unit: usize, entry: &Entry, depth: u32) -> Rc<Kind> {
        let target = self.attribute(unit, entry, gimli::DW_AT_type);
        match target.and_then(|(unit, value)| self.target(unit, value)) {
            Some((unit, at)) => self.kind(unit, at, depth),
            None => Kind::unknown(),
        }
    }

    fn kind(&mut self, unit: usize, at: UnitOffset, depth: u32) -> Rc<Kind> {
        deadline::tick();
        let key = at.to_debug_info_offset(&self.units[unit].header).map(|at| at.0);
        let (Some(key), Some(depth)) = (key, depth.checked_sub(1)) else { return Kind::unknown() };
        if let Some(kind) = self.known.get(&key) {
            return kind.clone();
        }
        // A type that contains itself is damaged.
        self.known.insert(key, Kind::unknown());
        let units = self.units;
        let kind = match units[unit].entry(at) {
            Ok(entry) => self.read(unit, &entry, depth),
            Err(_) => Kind::unknown(),
        };
        self.known.insert(key, kind.clone());
        kind
    }

    fn read(&mut self, unit: usize, entry: &Entry, depth: u32) -> Rc<Kind> {
        let size = self.number(unit, entry, gimli::DW_AT_byte_size);
        let value = |size: Option<u32>, ty| {
            Rc::new(Kind { size: size.unwrap_or(0), shape: Shape::Value(ty) })
        };
        match entry.tag() {
            gimli::DW_TAG_base_type => {
                let encoding = self.attribute(unit, entry, gimli::DW_AT_encoding);
                let ty = match encoding {
                    Some((_, AttributeValue::Encoding(gimli::DW_ATE_boolean))) => Type::Bool,
                    Some((
                        _,
                        AttributeValue::Encoding(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char),
                    )) => Type::Signed,
                    _ => Type::Unsigned,
                };
                value(size, ty)
            }
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => {
                value(size.or(Some(4)), Type::Unsigned)
            }
            gimli::DW_TAG_enumeration_type => {
                let size = size.unwrap_or(4);
                let mut names = vec![];
                self.children(unit, entry.offset(), |types, child| {
                    let number = child.attr_value(gimli::DW_AT_const_value).ok().flatten();
                    let number = number.and_then(|number| bits(&number, size));
                    if let (Some(number), Some(name)) = (number, types.name(unit, child))
                        && names.len() < NAMES
                    {
                        names.push((number, name));
                    }
                });
                value(Some(size), Type::Enum(names))
            }
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_restrict_type => self.of(unit, entry, depth),
            gimli::DW_TAG_array_type => {
                let mut counts = vec![];
                self.children(unit, entry.offset(), |types, child| {
                    let count = types.number(unit, child, gimli::DW_AT_count);
                    let last = types.number(unit, child, gimli::DW_AT_upper_bound);
                    counts.push(count.or(last.map(|last| last.saturating_add(1))).unwrap_or(0));
                });
                counts.truncate(8);
                let mut kind = self.of(unit, entry, depth);
                for count in counts.into_iter().rev() {
                    let size = kind.size.saturating_mul(count);
                    kind = Rc::new(Kind { size, shape: Shape::Array(kind) });
                }
                kind
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                self.record(unit, entry, size.unwrap_or(0), depth)
            }
            _ => Kind::unknown(),
        }
    }

    fn record(&mut self, unit: usize, entry: &Entry, size: u32, depth: u32) -> Rc<Kind> {
        let name = self.name(unit, entry).unwrap_or_default();
        let mut parts: Vec<(String, u32, Rc<Kind>)> = vec![];
        let mut choice = None;
        self.children(unit, entry.offset(), |types, child| match child.tag() {
            gimli::DW_TAG_member => parts.push(types.member(unit, child, depth)),
            gimli::DW_TAG_variant_part => choice = Some(types.choice(unit, child, depth)),
            _ => {}
        });
        let is_only = parts.iter().filter(|(_, _, kind)| kind.size > 0).count() == 1;
        let part = |(part, at, kind): (String, u32, Rc<Kind>)| Part {
            name: part_name(&name, &part, is_only),
            at,
            kind,
        };
        let mut parts: Vec<Part> = parts.into_iter().map(part).collect();
        parts.sort_by_key(|part| part.at);
        let shape = match entry.tag() {
            gimli::DW_TAG_union_type => Shape::Union(parts),
            _ => Shape::Record(parts, choice),
        };
        Rc::new(Kind { size, shape })
    }

    /// Name, first byte and type of a member; of a field of bits the bytes that it touches.
    fn member(&mut self, unit: usize, entry: &Entry, depth: u32) -> (String, u32, Rc<Kind>) {
        let name = self.name(unit, entry).unwrap_or_default();
        let at = self.number(unit, entry, gimli::DW_AT_data_member_location);
        let kind = self.of(unit, entry, depth);
        let width = self.number(unit, entry, gimli::DW_AT_bit_size);
        let first = self.number(unit, entry, gimli::DW_AT_data_bit_offset);
        match (width, first) {
            (Some(width), Some(first)) => {
                let size = first.saturating_add(width).div_ceil(8) - first / 8;
                let shape = Shape::Value(Type::Unsigned);
                (name, first / 8, Rc::new(Kind { size, shape }))
            }
            _ => (name, at.unwrap_or(0), kind),
        }
    }

    fn choice(&mut self, unit: usize, entry: &Entry, depth: u32) -> Choice {
        let tag = entry.attr_value(gimli::DW_AT_discr).ok().flatten();
        let tag = tag.and_then(|value| self.target(unit, value));
        let units = self.units;
        let tag = tag.and_then(|(unit, at)| {
            let entry = units[unit].entry(at).ok()?;
            let (_, at, kind) = self.member(unit, &entry, depth);
            Some((at, kind.size))
        });
        let bytes = tag.map_or(4, |(_, size)| size);
        let mut variants = vec![];
        self.children(unit, entry.offset(), |types, child| {
            if child.tag() != gimli::DW_TAG_variant || variants.len() >= NAMES {
                return;
            }
            let value = child.attr_value(gimli::DW_AT_discr_value).ok().flatten();
            let values: Vec<Word> = value.and_then(|v| bits(&v, bytes)).into_iter().collect();
            types.children(unit, child.offset(), |types, part| {
                if part.tag() == gimli::DW_TAG_member {
                    let (name, at, kind) = types.member(unit, part, depth);
                    variants.push(Variant { name, values: values.clone(), at, kind });
                }
            });
        });
        Choice { tag, variants }
    }
}

/// The bits of a number of so many bytes.
fn bits(value: &AttributeValue<Reader>, bytes: u32) -> Option<Word> {
    let signed = value.sdata_value().map(|number| i128::from(number) as Word);
    let number = signed.or(value.udata_value().map(Word::from))?;
    (1..=8).contains(&bytes).then(|| number & mask(8 * bytes))
}
