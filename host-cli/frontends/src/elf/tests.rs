//! Small programs, put together byte by byte: what becomes of them, and what is refused.

use super::reader::Elf;
use super::*;
use vouch_ir::{BinOp, InputId, eval};

/// A section; without contents it has so many bytes.
struct Part {
    name: &'static str,
    flags: u32,
    start: u32,
    contents: Result<Vec<u8>, u32>,
}

const WRITE: u32 = 1;
const ALLOC: u32 = 2;
const EXECUTE: u32 = 4;
const TLS: u32 = 0x400;

fn code(start: u32, halves: &[u16]) -> Part {
    let bytes = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    Part { name: ".text", flags: ALLOC | EXECUTE, start, contents: Ok(bytes) }
}

fn variables(name: &'static str, start: u32, size: u32) -> Part {
    Part { name, flags: ALLOC | WRITE, start, contents: Err(size) }
}

/// Types of symbols.
const NOTYPE: u8 = 0;
const OBJECT: u8 = 1;
const FUNCTION: u8 = 2;

/// A name with its address, size and type.
type Named = (&'static str, u32, u32, u8);

fn text(table: &mut Vec<u8>, name: &str) -> u32 {
    let at = table.len() as u32;
    table.extend(name.bytes().chain([0]));
    at
}

fn words(bytes: &mut Vec<u8>, words: &[u32]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// A program for ARMv7-M, as a linker would write it.
fn program(parts: &[Part], symbols: &[Named]) -> Vec<u8> {
    let attributes = b"A\x13\0\0\0aeabi\0\x01\x09\0\0\0\x06\x0a\x07M".to_vec();
    let mut names = vec![0];
    let (mut strings, mut table) = (vec![0], vec![0; 16]);
    for (name, at, size, ty) in symbols {
        let home = parts.iter().rposition(|p| {
            let size = p.contents.as_ref().map_or_else(|size| *size, |bytes| bytes.len() as u32);
            (p.start..p.start + size).contains(&(at & !1))
        });
        let section = home.map_or(0xfff1, |home| home as u32 + 1);
        let name = text(&mut strings, name);
        words(&mut table, &[name, *at, *size, u32::from(*ty) | section << 16]);
    }
    let (mut file, mut headers) = (vec![0; 52 + 32 * parts.len()], vec![0; 40]);
    let mut segments = vec![];
    let mut section =
        |file: &mut Vec<u8>, name: &str, ty, flags, at, contents: &Result<Vec<u8>, u32>| {
            let (offset, none) = (file.len() as u32, vec![]);
            let bytes = contents.as_ref().unwrap_or(&none);
            let size = contents.as_ref().map_or_else(|size| *size, |bytes| bytes.len() as u32);
            file.extend(bytes);
            let (link, entry) = if ty == 2 { (parts.len() as u32 + 2, 16) } else { (0, 0) };
            let name = text(&mut names, name);
            words(&mut headers, &[name, ty, flags, at, offset, size, link, 1, 4, entry]);
            (offset, bytes.len() as u32)
        };
    for Part { name, flags, start, contents } in parts {
        let ty = if contents.is_ok() { 1 } else { 8 };
        let (offset, size) = section(&mut file, name, ty, *flags, *start, contents);
        words(&mut segments, &[1, offset, *start, *start, size, size, 7, 4]);
    }
    section(&mut file, ".symtab", 2, 0, 0, &Ok(table));
    section(&mut file, ".strtab", 3, 0, 0, &Ok(strings));
    section(&mut file, ".ARM.attributes", 0x7000_0003, 0, 0, &Ok(attributes));
    let (at, count) = (file.len() as u32, parts.len() as u32 + 5);
    let shown = text(&mut names, ".shstrtab");
    let past = at + names.len() as u32;
    words(&mut headers, &[shown, 3, 0, 0, at, names.len() as u32, 0, 0, 1, 0]);
    file.extend(names);
    file.extend(headers);
    let mut head = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    words(&mut head, &[2 | 40 << 16, 1, 0, 52, past, 0x0500_0000]);
    words(&mut head, &[52 | 32 << 16, parts.len() as u32 | 40 << 16, count | (count - 1) << 16]);
    file[..52].copy_from_slice(&head);
    file[52..52 + segments.len()].copy_from_slice(&segments);
    file
}

fn options(inputs: &[&str]) -> ElfOptions {
    let inputs = inputs.iter().map(|name| (*name).to_owned()).collect();
    ElfOptions { entry: Some("step".into()), inputs, ..ElfOptions::default() }
}

/// The properties that some run may break, as far as the automaton alone tells.
fn properties(file: &[u8], options: &ElfOptions) -> Vec<String> {
    let compiled = compile(file, "t", options).unwrap_or_else(|e| panic!("{e:?}"));
    let cfa = compiled.cfa;
    let reached = cfa.properties.iter().filter(|p| cfa.edges.iter().any(|e| e.to == p.error));
    reached.map(|property| property.name.clone()).collect()
}

fn refusal(file: &[u8], options: &ElfOptions) -> String {
    match compile(file, "t", options) {
        Ok(_) => panic!("not refused"),
        Err(errors) => errors[0].message.clone(),
    }
}

const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;

/// Fails if the word at `address` is not zero.
fn looks_at(address: u32) -> Part {
    // ldr r1, [pc, #12]; ldr r0, [r1]; cbz r0, 1f; bl vouch_fail; 1: bx lr; vouch_fail: b .; .word address
    let [low, high] = [address as u16, (address >> 16) as u16];
    code(FLASH, &[0x4903, 0x6808, 0xb108, 0xf000, 0xf801, 0x4770, 0xe7fe, 0xbf00, low, high])
}

const LOOKS: [Named; 4] = [
    ("$t", FLASH, 0, NOTYPE),
    ("step", FLASH + 1, 12, FUNCTION),
    ("vouch_fail", FLASH + 13, 2, FUNCTION),
    ("$d", FLASH + 16, 0, NOTYPE),
];

fn looking(address: u32, mut parts: Vec<Part>, more: &[Named]) -> Vec<u8> {
    parts.push(looks_at(address));
    program(&parts, &[&LOOKS[..], more].concat())
}

#[test]
fn what_begins_with_zero() {
    let state = [("state", RAM, 4, OBJECT)];
    let cleared = looking(RAM, vec![variables(".bss", RAM, 4)], &state);
    assert_eq!(properties(&cleared, &options(&[])), [""; 0]);
    // Start-up code leaves it as it was.
    let kept = looking(RAM, vec![variables(".bss.noinit", RAM, 4)], &state);
    assert_eq!(properties(&kept, &options(&[])), ["assertion at 0x08000006"]);
    // What each thread has takes no memory.
    let threads = Part { flags: ALLOC | WRITE | TLS, ..variables(".tbss", RAM, 4) };
    let threads = looking(RAM, vec![threads, variables(".bss", RAM, 4)], &state);
    assert_eq!(properties(&threads, &options(&[])), [""; 0]);
}

#[test]
fn overlays_are_refused() {
    let contents = || Part { contents: Ok(vec![0; 8]), ..variables(".one", RAM, 8) };
    let other = Part { name: ".two", start: RAM + 4, ..contents() };
    let both = looking(RAM, vec![contents(), other], &[]);
    let Err(reader::Unreadable(message, _)) = Elf::read(&both) else { panic!("not refused") };
    assert_eq!(message, "sections `.one` and `.two` are both at 0x20000004");
    // Variables are as good as any, but begin with whatever is there.
    let variables = vec![variables(".bss", RAM, 8), variables(".stack", RAM + 4, 8)];
    let shared = looking(RAM, variables, &[("state", RAM, 4, OBJECT)]);
    assert_eq!(properties(&shared, &options(&[])), ["assertion at 0x08000006"]);
}

#[test]
fn a_name_that_several_have() {
    let bss = || vec![variables(".bss", RAM, 8)];
    let (first, second) = (("level", RAM, 4, OBJECT), ("level", RAM + 4, 4, OBJECT));
    let one = looking(RAM, bss(), &[first]);
    assert_eq!(properties(&one, &options(&["level"])), ["assertion at 0x08000006"]);
    // Several names of the same are all right.
    let same = looking(RAM, bss(), &[first, ("height", RAM, 4, OBJECT)]);
    for name in ["level", "height"] {
        assert_eq!(properties(&same, &options(&[name])), ["assertion at 0x08000006"], "{name}");
    }
    let both = looking(RAM, bss(), &[first, second]);
    let message = "the program has several symbols `level`: at 0x20000000 and at 0x20000004";
    assert_eq!(refusal(&both, &options(&["level"])), message);
    let steps = looking(RAM, bss(), &[first, ("step", FLASH + 11, 2, FUNCTION)]);
    let message = "the program has several symbols `step`: at 0x08000000 and at 0x0800000a";
    assert_eq!(refusal(&steps, &options(&[])), message);
}

#[test]
fn peripherals_beside_memory_that_is_kept() {
    let backup = || vec![variables(".backup", 0x4002_4000, 16)];
    let device = looking(0x4002_0010, backup(), &[]);
    assert_eq!(properties(&device, &options(&[])), ["assertion at 0x08000006"]);
    // More of the same memory, or none.
    let beside = looking(0x4002_4010, backup(), &[]);
    assert!(refusal(&beside, &options(&[])).contains("neither in a section nor a peripheral"));
}

#[test]
fn what_lies_beside_an_input() {
    // Fails if the second byte is not zero; writes 0x0100 over both.
    let step = [
        0xb500, 0x4905, 0x784a, 0x2a00, 0xd001, 0xf000, 0xf804, 0xf240, 0x1000, 0x8008, 0xbd00,
        0xe7fe, 0x0000, 0x2000,
    ];
    let symbols = |fail| {
        [
            ("$t", FLASH, 0, NOTYPE),
            ("step", FLASH + 1, 22, FUNCTION),
            ("vouch_fail", FLASH + fail, 2, FUNCTION),
            ("$d", FLASH + 24, 0, NOTYPE),
            ("a", RAM, 1, OBJECT),
            ("b", RAM + 1, 1, OBJECT),
        ]
    };
    let file = program(&[code(FLASH, &step), variables(".bss", RAM, 2)], &symbols(23));
    for inputs in [&[][..], &["a"]] {
        assert_eq!(properties(&file, &options(inputs)), ["assertion at 0x0800000a"], "{inputs:?}");
    }
    // The same, but it reads both at once.
    let mut reads = step;
    reads[2] = 0x880a;
    let file = program(&[code(FLASH, &reads), variables(".bss", RAM, 2)], &symbols(23));
    assert_eq!(properties(&file, &options(&["a", "b"])), ["assertion at 0x0800000a"]);
    assert!(refusal(&file, &options(&["a"])).contains("covers an input and what is next to it"));
}

/// A function leaves something below the stack pointer after a loop, and another one finds it there.
#[test]
fn what_lies_below_the_stack_pointer_is_lost() {
    let step = [0xb510, 0xf000, 0xf807, 0xf000, 0xf813, 0x2807, 0xd101, 0xf000, 0xf813, 0xbd10];
    let f = [
        0xb082, 0x2000, 0x9001, 0xb500, 0xf000, 0xf80d, 0xbc02, 0x468e, 0x3801, 0xd5fd, 0x2007,
        0x9001, 0xb002, 0x4770,
    ];
    let others = [0xb082, 0x9801, 0xb002, 0x4770, 0xe7fe, 0x2003, 0x4770];
    let code = code(FLASH, &[&step[..], &f, &others].concat());
    let symbols = [
        ("$t", FLASH, 0, NOTYPE),
        ("step", FLASH + 1, 20, FUNCTION),
        ("f", FLASH + 0x15, 28, FUNCTION),
        ("g", FLASH + 0x31, 8, FUNCTION),
        ("vouch_fail", FLASH + 0x39, 2, FUNCTION),
        ("vouch_input_u8", FLASH + 0x3b, 4, FUNCTION),
    ];
    let found = properties(&program(&[code], &symbols), &options(&[]));
    assert_eq!(found, ["assertion at 0x0800000e"]);
}

/// In assembly, with a label in a loop's place that is a function of its own.
#[test]
fn a_function_that_goes_on_as_the_next() {
    let step = [
        0xb510, 0xf000, 0xf80a, 0x2400, 0x3401, 0x3801, 0xd5fc, 0x2c00, 0xd101, 0xf000, 0xf801,
        0xbd10, 0xe7fe, 0x2003, 0x4770,
    ];
    let symbols = [
        ("$t", FLASH, 0, NOTYPE),
        ("step", FLASH + 1, 0, FUNCTION),
        ("inner", FLASH + 9, 0, FUNCTION),
        ("vouch_fail", FLASH + 0x19, 2, FUNCTION),
        ("vouch_input_u8", FLASH + 0x1b, 4, FUNCTION),
    ];
    let program = lift(&program(&[code(FLASH, &step)], &symbols), "t", &options(&[]), false);
    let program = program.unwrap_or_else(|e| panic!("{e:?}"));
    assert!(program.at.values().any(|at| *at == At::Code(FLASH + 8)), "the loop is a location");
}

/// Nobody decides by that. But numbers that some of the places have in common would be taken for what all have.
#[test]
fn remainders_of_a_place_on_the_stack_are_not_known() {
    let mut values = value::Values::new(InputId(0));
    let stack = values.stack;
    for divisor in [3, 5, 7, 9, 11, 13, 16, 32, 64, 100] {
        let by = values.word(divisor);
        let rest = values.pool.binary(BinOp::URem, stack, by);
        assert_eq!(values.off_stack(rest), None, "{divisor}");
    }
    let low = values.pool.slice(stack, 0, 3);
    let zero = values.pool.constant(0, 3);
    assert_eq!(values.off_stack(low), Some(zero));
}

/// Fields of an element that are written from the last to the first, where an element has 7 bytes.
#[test]
fn what_was_inside_before_does_not_lead_to_another_object() {
    let step = [
        0x4805, 0x7801, 0xebc1, 0x01c1, 0x3001, 0x4401, 0x2201, 0x710a, 0x70ca, 0x708a, 0x704a,
        0x4770, 0x0000, 0x2000,
    ];
    let symbols = [
        ("$t", FLASH, 0, NOTYPE),
        ("step", FLASH + 1, 24, FUNCTION),
        ("$d", FLASH + 24, 0, NOTYPE),
        ("i", RAM, 1, OBJECT),
        ("all", RAM + 1, 21, OBJECT),
    ];
    let file = program(&[code(FLASH, &step), variables(".noinit", RAM, 24)], &symbols);
    let program = lift(&file, "t", &options(&[]), true).unwrap_or_else(|e| panic!("{e:?}"));
    let cfa = &program.cfa;
    let errors: Vec<_> = cfa.properties.iter().map(|property| property.error).collect();
    let leaves = |i: u64| {
        let guards =
            cfa.edges.iter().filter(|edge| errors.contains(&edge.to)).map(|edge| edge.guard);
        let guards: Vec<_> = guards.collect();
        let values = eval::expressions(&cfa.pool, &guards, |_| i.into(), |_| 0);
        values.contains(&1)
    };
    assert_eq!([0, 1, 2, 3].map(leaves), [false, false, false, true]);
}

/// What a compiler moves out of several functions leaves addresses where it likes.
#[test]
fn an_address_that_outlined_code_makes() {
    let step = [0xb510, 0x4803, 0x6800, 0x2803, 0xd901, 0xf000, 0xf803, 0xbd10, 0x0000, 0x2000];
    let others = [0xe7fe, 0xf240, 0x0600, 0xf2c2, 0x0600, 0x4770];
    let handler = [0xb540, 0xf7ff, 0xfff8, 0x6030, 0xbd40];
    let symbols = [
        ("$t", FLASH, 0, NOTYPE),
        ("step", FLASH + 1, 16, FUNCTION),
        ("$d", FLASH + 0x10, 0, NOTYPE),
        ("$t", FLASH + 0x14, 0, NOTYPE),
        ("vouch_fail", FLASH + 0x15, 2, FUNCTION),
        ("OUTLINED_FUNCTION_0", FLASH + 0x17, 10, FUNCTION),
        ("handler", FLASH + 0x21, 10, FUNCTION),
        ("level", RAM, 4, OBJECT),
    ];
    let code = code(FLASH, &[&step[..], &others, &handler].concat());
    let file = program(&[code, variables(".bss", RAM, 4)], &symbols);
    let refused = lift(&file, "t", &options(&[]), false).expect_err("`handler` writes it");
    let refused = format!("{refused:?}");
    assert!(refused.contains("`level` is used outside of the step, too"), "{refused}");
}
