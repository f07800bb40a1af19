//! Descriptions of registers: what they are called, and what they do with what is written.
//!
//! Either lines of text, `NAME ADDRESS BITS BEHAVIOUR`, or an SVD file, as vendors of microcontrollers publish it for
//! theirs. The latter gives names, and whether a register can be read and written, which does not say that it keeps what is
//! written.

use super::{Fail, fail};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::path::Path;
use vouch_ir::{Span, mask, read};

/// The most registers of one description.
const MOST: usize = 100_000;

/// What a register does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// Each read gives any value, what is written is lost.
    Any,
    /// A read gives what was written last, at first the value given or any.
    Keeps(Option<u64>),
    /// The same, but whoever reads it leaves zero behind.
    Clears(Option<u64>),
}

/// Who may do what with a register; other accesses are of no use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It can be read and written.
    Both,
    /// What is written is lost.
    ReadOnly,
    /// What is read means nothing.
    WriteOnly,
}

/// A device register as a description gives it; its address is the key in [`Registers`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// What it is called.
    pub name: String,
    /// How wide it is.
    pub bits: u32,
    /// What it does.
    pub behaviour: Behaviour,
    /// What it is there for.
    pub access: Access,
}

/// Registers by their address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers(BTreeMap<u64, Register>);

impl Registers {
    /// Reads descriptions, one after the other.
    pub fn read(paths: &[String]) -> Result<Registers, Fail> {
        let mut all = Registers::default();
        for path in paths {
            let wrong = |what: String| fail(what, Span::default(), "in a description of registers");
            let bytes = read::file(Path::new(path))
                .map_err(|error| wrong(format!("cannot read {path}: {error}")))?;
            let text =
                String::from_utf8(bytes).map_err(|_| wrong(format!("{path} is not UTF-8 text")))?;
            let is_svd = text.trim_start_matches('\u{feff}').trim_start().starts_with('<');
            let read = if is_svd { all.svd(&text) } else { all.lines(&text) };
            read.map_err(|(line, what)| wrong(format!("{path}:{line}: {what}")))?;
        }
        all.check().map_err(|what| fail(what, Span::default(), "in a description of registers"))?;
        Ok(all)
    }

    /// The register at an address.
    pub fn at(&self, address: u64) -> Option<&Register> {
        self.0.get(&address)
    }

    /// All, in the order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Register)> {
        self.0.iter().map(|(address, register)| (*address, register))
    }

    /// Whether one of them does more than give any value.
    pub fn keep_anything(&self) -> bool {
        self.0.values().any(|register| register.behaviour != Behaviour::Any)
    }

    fn lines(&mut self, text: &str) -> Result<(), (usize, String)> {
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or("");
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let (address, register) = register(&words).map_err(|what| (number, what))?;
            self.add(address, register).map_err(|what| (number, what))?;
        }
        Ok(())
    }

    fn add(&mut self, address: u64, register: Register) -> Result<(), String> {
        if self.0.len() >= MOST {
            return Err(format!("there are more than {MOST} registers"));
        }
        // What comes first counts: alternatives of an SVD file, or a description before it.
        self.0.entry(address).or_insert(register);
        Ok(())
    }

    /// Registers that keep something must not be part of each other.
    fn check(&self) -> Result<(), String> {
        let keeps = |r: &Register| r.behaviour != Behaviour::Any;
        let mut last: Option<(u64, &Register)> = None;
        for (address, register) in self.iter().filter(|(_, r)| keeps(r)) {
            if let Some((before, other)) = last
                && before + other.bits as u64 / 8 > address
            {
                let (a, b) = (&other.name, &register.name);
                return Err(format!("`{a}` and `{b}` overlap at {address:#x}"));
            }
            last = Some((address, register));
        }
        Ok(())
    }

    fn svd(&mut self, text: &str) -> Result<(), (usize, String)> {
        let document = Document::parse(text)
            .map_err(|error| (error.pos().row as usize, format!("this is not XML: {error}")))?;
        let line = |node: Node| document.text_pos_at(node.range().start).row as usize;
        let peripherals: Vec<Node> =
            document.descendants().filter(|n| n.has_tag_name("peripheral")).collect();
        if peripherals.is_empty() {
            return Err((1, "there is no `peripheral` in this file".into()));
        }
        let root = document.root_element();
        let (bits, access) = (size(root, 32), access(root, Access::Both));
        for peripheral in &peripherals {
            let wrong = |what: String| (line(*peripheral), what);
            let name = child(*peripheral, "name")
                .ok_or_else(|| wrong("a peripheral without a name".into()))?;
            let base = child(*peripheral, "baseAddress").and_then(number);
            let base = base.ok_or_else(|| wrong(format!("`{name}` has no address")))?;
            let like = peripheral.attribute("derivedFrom");
            let is_like = |p: &&Node| like.is_some() && child(**p, "name") == like;
            let own = list_of(*peripheral).map(|list| (*peripheral, list));
            let others = peripherals.iter().find(is_like);
            let others = || others.and_then(|p| Some((*p, list_of(*p)?)));
            let Some((of, list)) = own.or_else(others) else { continue };
            let inherited = Inherited { bits: size(of, bits), access: self::access(of, access) };
            self.group(list, name, base, inherited)
                .map_err(|(node, what)| (document.get_node(node).map_or(1, line), what))?;
        }
        Ok(())
    }

    /// The registers and clusters of a node.
    fn group(
        &mut self,
        list: Node,
        prefix: &str,
        base: u64,
        inherited: Inherited,
    ) -> Result<(), (roxmltree::NodeId, String)> {
        for node in list.children().filter(Node::is_element) {
            let is_cluster = node.has_tag_name("cluster");
            if !is_cluster && !node.has_tag_name("register") {
                continue;
            }
            let wrong = |what: &str| (node.id(), what.to_string());
            let name = child(node, "name").ok_or_else(|| wrong("a register without a name"))?;
            let offset = child(node, "addressOffset").and_then(number);
            let offset = offset.ok_or_else(|| wrong("a register without an offset"))?;
            let Inherited { bits, access } = inherited;
            let (bits, access) = (size(node, bits), self::access(node, access));
            let count = child(node, "dim").and_then(number).unwrap_or(1);
            let step = child(node, "dimIncrement").and_then(number).unwrap_or(0);
            for i in 0..count.min(MOST as u64) {
                let name = name.replace("[%s]", &format!("[{i}]")).replace("%s", &i.to_string());
                let name = format!("{prefix}.{name}");
                let at = base.wrapping_add(offset).wrapping_add(i.wrapping_mul(step));
                if is_cluster {
                    self.group(node, &name, at, Inherited { bits, access })?;
                } else if bits.is_multiple_of(8) && (8..=64).contains(&bits) {
                    let (behaviour, access) = (Behaviour::Any, with_fields(node, access));
                    let added = self.add(at, Register { name, bits, behaviour, access });
                    added.map_err(|what| (node.id(), what))?;
                }
            }
        }
        Ok(())
    }
}

/// A line of a description.
fn register(words: &[&str]) -> Result<(u64, Register), String> {
    let [name, address, bits, behaviour @ ..] = words else {
        return Err("a register has a name, an address, its bits and what it does".into());
    };
    let wrong = |what: &str, word: &str| Err(format!("`{word}` is not {what}"));
    let Some(at) = number(address) else { return wrong("an address", address) };
    let bits: u32 = match bits.parse() {
        Ok(bits) if [8, 16, 32, 64].contains(&bits) => bits,
        _ => return wrong("8, 16, 32 or 64 bits", bits),
    };
    if !at.is_multiple_of(bits as u64 / 8) {
        return Err(format!("{address} is not aligned for {bits} bits"));
    }
    let value = |words: &[&str]| match words {
        [] => Ok(None),
        [word] => match number(word).filter(|v| *v as u128 <= mask(bits)) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("`{word}` is not a value of {bits} bits")),
        },
        [_, more, ..] => Err(format!("`{more}` is one word too many")),
    };
    let (behaviour, access) = match behaviour {
        ["keeps", rest @ ..] => (Behaviour::Keeps(value(rest)?), Access::Both),
        ["clears", rest @ ..] => (Behaviour::Clears(value(rest)?), Access::Both),
        [] | ["any"] => (Behaviour::Any, Access::Both),
        ["read-only"] => (Behaviour::Any, Access::ReadOnly),
        ["write-only"] => (Behaviour::Any, Access::WriteOnly),
        [word, ..] => {
            return Err(format!(
                "`{word}` is nothing that a register does; there are any, read-only, write-only, keeps, clears"
            ));
        }
    };
    Ok((at, Register { name: name.to_string(), bits, behaviour, access }))
}

/// A number as these files write it.
fn number(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    match (text.strip_prefix("0x"), text.strip_prefix('#').or(text.strip_prefix("0b"))) {
        (Some(digits), _) => u64::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) => u64::from_str_radix(digits, 2).ok(),
        (None, None) => text.parse().ok(),
    }
}

/// The registers of a peripheral.
fn list_of<'a, 'i>(peripheral: Node<'a, 'i>) -> Option<Node<'a, 'i>> {
    peripheral.children().find(|n| n.has_tag_name("registers"))
}

/// The text in a node below.
fn child<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.children().find(|n| n.has_tag_name(name))?.text().map(str::trim)
}

/// What registers have that say nothing else.
#[derive(Clone, Copy)]
struct Inherited {
    bits: u32,
    access: Access,
}

/// What registers are there for; what was said before counts if the node says nothing.
fn access(node: Node, before: Access) -> Access {
    match child(node, "access") {
        Some("read-only") => Access::ReadOnly,
        Some("write-only" | "writeOnce") => Access::WriteOnly,
        Some(_) => Access::Both,
        None => before,
    }
}

/// The same for a register some of whose fields may say something else.
fn with_fields(register: Node, access: Access) -> Access {
    let fields = register.children().filter(|n| n.has_tag_name("fields"));
    let mut fields = fields.flat_map(|list| list.children()).filter(|n| n.has_tag_name("field"));
    match fields.all(|field| self::access(field, access) == access) {
        true => access,
        false => Access::Both,
    }
}

/// How wide registers are; what was said before counts if the node says nothing.
fn size(node: Node, before: u32) -> u32 {
    child(node, "size").and_then(number).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Registers, (usize, String)> {
        let mut all = Registers::default();
        all.lines(text).map(|()| all)
    }

    #[test]
    fn lines_are_read() {
        let all = lines(
            "# a timer\nTIM.CNT 0x40000024 32 any\n\nTIM.ARR 0x4000002c 32 keeps 0xffff # reload\nTIM.SR 0x40000010 16 clears\nTIM.ID 0x40000014 8\n",
        )
        .unwrap();
        let at = |address| all.at(address).map(|r| (&*r.name, r.bits, r.behaviour));
        assert_eq!(at(0x4000_0024), Some(("TIM.CNT", 32, Behaviour::Any)));
        assert_eq!(at(0x4000_002c), Some(("TIM.ARR", 32, Behaviour::Keeps(Some(0xffff)))));
        assert_eq!(at(0x4000_0010), Some(("TIM.SR", 16, Behaviour::Clears(None))));
        assert_eq!(at(0x4000_0014), Some(("TIM.ID", 8, Behaviour::Any)));
        assert_eq!(at(0x4000_0028), None);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = [
            ("A 0x10 32\nB", 2, "has a name"),
            ("A x 32", 1, "`x` is not an address"),
            ("A 0x10 12", 1, "8, 16, 32 or 64"),
            ("A 0x11 32", 1, "not aligned"),
            ("\nA 0x10 8 keeps 256", 2, "not a value of 8 bits"),
            ("A 0x10 8 keeps 1 2", 1, "too many"),
            ("A 0x10 8 forgets", 1, "any, read-only, write-only, keeps, clears"),
        ];
        for (text, line, part) in wrong {
            let (at, what) = lines(text).unwrap_err();
            assert!(at == line && what.contains(part), "{text}: {at}: {what}");
        }
        let both = lines("A 0x10 64 keeps\nB 0x14 32 keeps").unwrap();
        assert!(both.check().unwrap_err().contains("overlap"));
    }

    #[test]
    fn svd_files_give_names_and_access() {
        let text = "<?xml version='1.0'?>\n<device><size>32</size><peripherals>\n\
            <peripheral><name>GPIOA</name><baseAddress>0x40020000</baseAddress><registers>\n\
            <register><name>MODER</name><addressOffset>0x0</addressOffset></register>\n\
            <register><name>IDR</name><addressOffset>0x10</addressOffset><access>read-only</access></register>\n\
            <register><name>BSRR</name><addressOffset>0x18</addressOffset><access>write-only</access><fields>\n\
            <field><name>BS0</name></field></fields></register>\n\
            <register><name>SR</name><addressOffset>0x1c</addressOffset><access>read-only</access><fields>\n\
            <field><name>RXNE</name></field><field><name>TC</name><access>read-write</access></field></fields></register>\n\
            <register><dim>2</dim><dimIncrement>4</dimIncrement><name>AFR%s</name><addressOffset>0x20</addressOffset></register>\n\
            <cluster><name>CH[%s]</name><dim>2</dim><dimIncrement>0x10</dimIncrement><addressOffset>0x100</addressOffset>\n\
            <register><name>DR</name><addressOffset>4</addressOffset><size>16</size></register></cluster>\n\
            </registers></peripheral>\n\
            <peripheral derivedFrom='GPIOA'><name>GPIOB</name><baseAddress>0x40020400</baseAddress></peripheral>\n\
            </peripherals></device>";
        let mut all = Registers::default();
        all.svd(text).unwrap();
        let at = |address| all.at(address).map(|r| (&*r.name, r.bits));
        assert_eq!(at(0x4002_0000), Some(("GPIOA.MODER", 32)));
        assert_eq!(at(0x4002_0024), Some(("GPIOA.AFR1", 32)));
        assert_eq!(at(0x4002_0114), Some(("GPIOA.CH[1].DR", 16)));
        assert_eq!(at(0x4002_0400), Some(("GPIOB.MODER", 32)));
        let access = |address| all.at(address).map(|r| r.access);
        assert_eq!(access(0x4002_0000), Some(Access::Both));
        assert_eq!(access(0x4002_0010), Some(Access::ReadOnly));
        assert_eq!(access(0x4002_0418), Some(Access::WriteOnly));
        assert_eq!(access(0x4002_001c), Some(Access::Both));
        let (line, what) = Registers::default().svd("<device>\n<peripheral></device>").unwrap_err();
        assert!(line == 2 && what.contains("not XML"), "{line}: {what}");
        assert!(Registers::default().svd("<device/>").unwrap_err().1.contains("no `peripheral`"));
    }
}
