//! How a model fits the boards: what it needs of their memory and what it could have.

use serde::Serialize;
use vouch_core::ic3::Plan;
use vouch_core::image::{ImageError, Preamble};
use vouch_core::word::Word;
use vouch_host::blast::AlignedImage;
use vouch_host::report::text::size;
use vouch_host::transport::qemu::{BOARDS, Board};

/// What the firmware needs of RAM for its statics, generously rounded.
const STATICS: u64 = 512;

/// The RAM that a board has besides its stack, without statics. A device tells its own number when it is
/// greeted; this one is for models that are still to be put there.
fn free(board: &Board) -> u64 {
    u64::from(board.ram - board.stack).saturating_sub(STATICS)
}

/// Sizes of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Locations of the image: those that can be reached and matter.
    pub locations: usize,
    /// Edges of the image: those between these locations.
    pub edges: usize,
    /// Bits of its state.
    pub state_bits: usize,
    /// Live bits of the location with most.
    pub max_live_bits: usize,
    /// Input bits of the edge with most.
    pub max_input_bits: usize,
    /// Gates of all edges.
    pub gates: usize,
    /// The same as clauses.
    pub clauses: usize,
    /// Variables of the largest edge.
    pub max_edge_vars: usize,
    /// Bytes of a word in its tables.
    pub word_bytes: u8,
    /// Bytes of the image as a device gets it.
    pub image_bytes: usize,
    /// Bytes that an engine needs at least.
    pub arena_minimum_bytes: usize,
}

/// How a model fits a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fit {
    /// The board's name, as in `qemu:BOARD`.
    pub board: &'static str,
    /// All RAM of the board, stack and statics included.
    pub ram_bytes: u64,
    /// What its firmware leaves of it, about.
    pub free_bytes: u64,
    /// What image and engine need of that at least.
    pub needed_bytes: u64,
    /// What is left for the engine besides the image; the more, the likelier it comes to an end.
    pub arena_bytes: u64,
    /// Whether it fits.
    pub fits: bool,
    /// Why it does not fit; nothing if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether it can be stored in flash with its certificate, and that be checked at boot; nothing without a certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_boot: Option<bool>,
}

/// What the keys and the heads of two slots take of the flash for models, generously rounded.
const STORE: u64 = 3 * 4096;

/// Clauses of a gate `if s then t else e`, two-sided: three for a conjunction, four else.
fn clauses<W: Word>(gate: &[W; 3]) -> usize {
    let is_constant = |lit: W| lit.get() < 2;
    if gate[1..].iter().any(|l| is_constant(*l)) { 3 } else { 4 }
}

/// Measures an image.
pub fn sizes(image: &AlignedImage) -> Result<Sizes, ImageError> {
    match Preamble::read(image)?.word {
        2 => sizes_of::<u16>(image),
        _ => sizes_of::<u32>(image),
    }
}

fn sizes_of<W: Word>(image: &AlignedImage) -> Result<Sizes, ImageError> {
    let view = image.view::<W>()?;
    let edges = || (0..view.edges()).map(|e| view.edge(e));
    Ok(Sizes {
        locations: view.locations(),
        edges: view.edges(),
        state_bits: view.header.state_bits as usize,
        max_live_bits: view.header.max_live as usize,
        max_input_bits: view.header.max_inputs as usize,
        gates: edges().map(|e| e.gates.len()).sum(),
        clauses: edges().map(|e| e.gates.iter().map(clauses).sum::<usize>()).sum(),
        max_edge_vars: view.header.max_vars as usize,
        word_bytes: size_of::<W>() as u8,
        image_bytes: image.len(),
        arena_minimum_bytes: Plan::minimum(&view),
    })
}

/// Gates and clauses of each edge.
pub fn edge_sizes(image: &AlignedImage) -> Result<Vec<(usize, usize)>, ImageError> {
    fn of<W: Word>(image: &AlignedImage) -> Result<Vec<(usize, usize)>, ImageError> {
        let view = image.view::<W>()?;
        let edge = |e| {
            let gates = view.edge(e).gates;
            (gates.len(), gates.iter().map(clauses).sum())
        };
        Ok((0..view.edges()).map(edge).collect())
    }
    match Preamble::read(image)?.word {
        2 => of::<u16>(image),
        _ => of::<u32>(image),
    }
}

/// How it fits each board. `check` is the memory that checking its certificate takes.
pub fn fits(sizes: &Sizes, check: Option<usize>) -> Vec<Fit> {
    let fit = |board: &'static Board| {
        let free = free(board);
        let image = sizes.image_bytes.next_multiple_of(4) as u64;
        let needed = image + sizes.arena_minimum_bytes as u64;
        let why = if sizes.word_bytes != 2 {
            Some("its largest step is too large for the 16-bit words of boards".to_string())
        } else if needed > free {
            Some(format!("{} too large", size(needed - free)))
        } else {
            None
        };
        let slot = u64::from(board.models.end - board.models.start).saturating_sub(STORE) / 2;
        let is_checked = |check| sizes.word_bytes == 2 && image <= slot && check as u64 <= free;
        Fit {
            board: &board.name,
            ram_bytes: board.ram.into(),
            free_bytes: free,
            needed_bytes: needed,
            arena_bytes: free.saturating_sub(image),
            fits: why.is_none(),
            why,
            at_boot: check.map(is_checked),
        }
    };
    BOARDS.iter().map(fit).collect()
}

/// The sizes for people.
pub fn show_sizes(sizes: &Sizes) -> String {
    format!(
        "  {} locations, {} edges, {} state bits (at most {} live at once)\n  \
           {} gates, {} clauses; the largest edge has {} variables\n  \
           image {}, at least {} of memory for a check\n",
        sizes.locations,
        sizes.edges,
        sizes.state_bits,
        sizes.max_live_bits,
        sizes.gates,
        sizes.clauses,
        sizes.max_edge_vars,
        size(sizes.image_bytes as u64),
        size(sizes.arena_minimum_bytes as u64),
    )
}

/// The fits for people.
pub fn show_fits(fits: &[Fit]) -> String {
    let mut text = format!(
        "  {:14}{:>10}{:>12}{:>12}{:>12}\n",
        "board", "RAM", "free, about", "needed", "for proof"
    );
    for fit in fits {
        let mut verdict =
            fit.why.as_ref().map_or_else(|| "fits".to_owned(), |why| format!("no: {why}"));
        if let (Some(at_boot), Some(_)) = (fit.at_boot, &fit.why) {
            verdict +=
                if at_boot { "; stored with its certificate it fits" } else { ", also stored" };
        }
        text.push_str(&format!(
            "  {:14}{:>10}{:>12}{:>12}{:>12}  {verdict}\n",
            fit.board,
            size(fit.ram_bytes),
            size(fit.free_bytes),
            size(fit.needed_bytes),
            size(fit.arena_bytes),
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image that is too large for RAM may still be stored and checked where it lies.
    #[test]
    fn what_is_stored_needs_no_room_in_ram() {
        let sizes = |image_bytes, word_bytes| Sizes {
            locations: 2,
            edges: 2,
            state_bits: 8,
            max_live_bits: 8,
            max_input_bits: 8,
            gates: 100,
            clauses: 300,
            max_edge_vars: 100,
            word_bytes,
            image_bytes,
            arena_minimum_bytes: 4000,
        };
        let on = |sizes: &Sizes, check| {
            let all = fits(sizes, check);
            let small =
                all.iter().min_by_key(|fit| fit.ram_bytes).map(|fit| (fit.fits, fit.at_boot));
            small.unwrap_or_default()
        };
        assert_eq!(on(&sizes(1000, 2), Some(4000)), (true, Some(true)));
        assert_eq!(on(&sizes(20_000, 2), Some(4000)), (false, Some(true)));
        assert_eq!(on(&sizes(20_000, 2), None), (false, None));
        assert_eq!(on(&sizes(20_000, 2), Some(20_000)), (false, Some(false)));
        assert_eq!(on(&sizes(200_000, 2), Some(4000)), (false, Some(false)));
        assert_eq!(on(&sizes(20_000, 4), Some(4000)), (false, Some(false)));
    }
}
