//! `boards.toml` says of each board what its linker script says.

use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};

/// Start and length of the regions in a linker script.
fn regions(script: &str) -> BTreeMap<String, (i64, i64)> {
    let region = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let (origin, length) = rest.split_once(',')?;
        let number = |text: &str| {
            let text = text.split_once('=')?.1.trim();
            match (text.strip_prefix("0x"), text.strip_suffix('K'), text.strip_suffix('M')) {
                (Some(hex), ..) => i64::from_str_radix(hex, 16).ok(),
                (_, Some(kibi), _) => Some(kibi.parse::<i64>().ok()? << 10),
                (.., Some(mebi)) => Some(mebi.parse::<i64>().ok()? << 20),
                _ => text.parse().ok(),
            }
        };
        Some((name.trim().to_string(), (number(origin)?, number(length)?)))
    };
    script.lines().filter_map(region).collect()
}

#[test]
fn the_table_agrees_with_the_linker_scripts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = std::fs::read_to_string(root.join("boards.toml")).unwrap();
    let table: Table = table.parse().unwrap();
    let boards = table["board"].as_array().unwrap();
    assert!(boards.len() >= 6);
    for board in boards {
        let text = |key: &str| board[key].as_str().unwrap();
        let number = |key: &str| board[key].as_integer().unwrap();
        let regions = regions(&std::fs::read_to_string(root.join(text("layout"))).unwrap());
        let [flash, models, stack, ram] = ["FLASH", "MODELS", "STACK", "RAM"].map(|r| regions[r]);
        let name = text("name");
        assert_eq!(stack.1, number("stack"), "{name}: stack");
        assert_eq!(stack.1 + ram.1, number("ram"), "{name}: RAM");
        assert_eq!(stack.0 + stack.1, ram.0, "{name}: the stack comes before the rest of RAM");
        assert_eq!(models.0, number("models"), "{name}: models");
        assert_eq!(flash.0 + flash.1, models.0, "{name}: models are the last part of flash");
        assert_eq!(flash.1 + models.1, number("flash"), "{name}: flash");
        assert_eq!(flash.0 % number("flash"), 0, "{name}: flash begins at a multiple of its size");
    }
}

#[test]
fn the_host_reads_the_emulated_ones() {
    let names: Vec<&str> =
        vouch_host::transport::boards::BOARDS.iter().map(|b| b.name.as_str()).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table: Table = std::fs::read_to_string(root.join("boards.toml")).unwrap().parse().unwrap();
    let boards = table["board"].as_array().unwrap().iter();
    let emulated = boards.filter(|b| b.get("qemu").is_some());
    let expected: Vec<&str> = emulated.filter_map(|b| b["name"].as_str()).collect();
    assert_eq!(names, expected);
    let first: &Value = &table["board"][0];
    assert_eq!(first["name"].as_str(), Some("lm3s6965evb"), "the default one comes first");
}
