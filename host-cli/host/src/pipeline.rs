//! From a file to a model that can be checked: source text is compiled, images are read.

use crate::blast::code::{self, Piece};
use crate::blast::debug::{self, Debug, DebugError};
use crate::blast::{self, AlignedImage, BlastError, Map, Model, requirements};
use crate::deadline;
pub use crate::frontend::Origin;
use crate::frontend::c::COptions;
use crate::frontend::elf::ElfOptions;
use crate::frontend::moves::Moves;
use crate::frontend::{self, Compiled, Diagnostic, Language, Overflow, Source};
use crate::ir::requirements::Requirements;
use crate::ir::{BitLit, Cfa, Clause, LocId, Property, PropertyId, VarId, Word};
use crate::read;
use crate::simplify::{self, Back, Pass, Passes, Simplified};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use vouch_core::image::{ImageError, Preamble, VERSION, VERSION_UNBOUND};

/// What an image file's name ends with.
pub const IMAGE_EXTENSION: &str = "vimg";
const IMAGE_MAGIC: &[u8] = b"VIMG";

/// How a file is read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The language, if the file's name does not tell it.
    pub language: Option<Language>,
    /// What arithmetic does when a result does not fit. Decided already in an image.
    pub overflow: Overflow,
    /// How the automaton is simplified, if not in the way that suits its language. Done already in an
    /// image.
    pub passes: Option<Passes>,
    /// What only C needs.
    pub c: COptions,
    /// What only machine code needs.
    pub elf: ElfOptions,
}

impl Options {
    /// What front ends get to know.
    pub fn front(&self) -> frontend::Options {
        let (c, elf) = (self.c.clone(), self.elf.clone());
        frontend::Options { overflow: self.overflow, c, elf }
    }

    /// Whether all of them mean something for a file in this language, or for an image.
    pub fn apply_to(&self, path: &Path, language: Option<Language>) -> Result<(), LoadError> {
        match self.front().idle(language) {
            Some(option) => Err(LoadError::Idle { path: path.to_path_buf(), option }),
            None => Ok(()),
        }
    }
}

/// A model, ready to be checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Loaded {
    /// The automaton as the front end made it: all that people see, and that verdicts are validated on.
    pub cfa: Cfa,
    /// The one that was compiled.
    pub simplified: Simplified,
    /// What the image's numbers mean in the one that was compiled.
    pub map: Map,
    /// What an engine or a device gets.
    pub image: AlignedImage,
    /// The source text with its path, for diagnostics and reports.
    pub source: Source,
    /// SHA-256 of the source text.
    pub digest: [u8; 32],
    /// What looks odd about the source.
    pub warnings: Vec<Diagnostic>,
    /// Who does what on each edge, as far as the front end tells; an image does not.
    pub moves: Moves,
    /// What it was made of.
    pub origin: Origin,
    /// The pieces of flash that the image is bound to.
    pub code: Vec<Piece>,
    /// What its properties cover.
    pub requirements: Requirements,
}

/// Why a file is not a model that can be checked.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read {}: {source}{}", path.display(), match source.kind() {
        io::ErrorKind::NotFound => {
            format!("\nhelp: check the path; {}, images end in `.vimg`", frontend::extensions())
        }
        io::ErrorKind::IsADirectory => "\nhelp: name a file in it".into(),
        _ => String::new(),
    })]
    Read {
        /// The file that was to be read.
        path: PathBuf,
        /// Why the system could not read it.
        source: io::Error,
    },
    /// It is not text.
    #[error(
        "{} is not UTF-8 text: byte {at} is not a character\n\
         help: save it as UTF-8; images are recognized by the extension `.vimg`",
        path.display()
    )]
    NotText {
        /// The file that was read.
        path: PathBuf,
        /// The first byte that is not a character, from 0.
        at: usize,
    },
    /// Nobody knows which language it is in.
    #[error(
        "the language of {} does not follow from its name\n\
         help: {}, images end in `.vimg`; or say `--lang vch`",
        path.display(),
        frontend::extensions()
    )]
    Language {
        /// The file whose extension no front end claims.
        path: PathBuf,
    },
    /// An option that says something of another kind of model.
    #[error(
        "{} means nothing for {}\n\
         help: {}",
        match *option {
            "--unit" => "a second file".to_owned(),
            option => format!("`{option}`"),
        },
        path.display(),
        match *option {
            "--unit" => "only programs in C consist of several files; check one at a time, or all models of a `vouch.toml`",
            "--interrupt" | "--init" => "it is for linked programs (ELF) and C; leave it out",
            "--task" | "--registers" => "it is for C; leave it out",
            _ => "it is for linked programs (ELF); leave it out",
        }
    )]
    Idle {
        /// The model's file, of a language that the option is not for.
        path: PathBuf,
        /// The option as it is written on the command line, with its dashes.
        option: &'static str,
    },
    /// The source is wrong.
    #[error("{}", frontend::render(text, diagnostics).trim_end())]
    Source {
        /// The text that the diagnostics point into.
        text: Source,
        /// What is wrong with it.
        diagnostics: Vec<Diagnostic>,
    },
    /// The model cannot become an image.
    #[error("{path}: {error}")]
    Compile {
        /// Path of the model's source.
        path: String,
        /// Why no image could be built.
        error: BlastError,
    },
    /// The image is damaged, or of another version.
    #[error(
        "{}: {error}\nhelp: compile the model again with `vouch compile`",
        path.display()
    )]
    Image {
        /// The image file that was read.
        path: PathBuf,
        /// What is wrong with it.
        error: DebugError,
    },
    /// The image comes without what explains it.
    #[error(
        "{} holds an image alone, without the automaton that verdicts are validated on\n\
         help: compile the model again with `vouch compile`",
        path.display()
    )]
    Unexplained {
        /// The image file that was read.
        path: PathBuf,
    },
}

/// Reads a model: source text or an image, whichever the file is.
pub fn load(path: &Path, options: &Options) -> Result<Loaded, LoadError> {
    deadline::phase(format!("reading {}", path.display()));
    let bytes =
        read::file(path).map_err(|source| LoadError::Read { path: path.to_path_buf(), source })?;
    let is_named_image = path.extension().is_some_and(|e| e == IMAGE_EXTENSION);
    let idle = |language| options.apply_to(path, language);
    if options.language.is_none() && (is_named_image || bytes.starts_with(IMAGE_MAGIC)) {
        idle(None)?;
        return read_image(path, &bytes);
    }
    let by_content = || Language::from_content(&bytes);
    let language = options.language.or_else(by_content).or_else(|| Language::from_path(path));
    let language = language.ok_or_else(|| LoadError::Language { path: path.to_path_buf() })?;
    idle(Some(language))?;
    if frontend::is_binary(language, &bytes) {
        let source = Source { path: path.display().to_string(), text: String::new() };
        let compiled = frontend::compile_binary(&bytes, &source.stem(), language, &options.front());
        let passes = passes(Some(language), options.passes.as_ref());
        return finish(source, Sha256::digest(&bytes).into(), compiled, &passes);
    }
    let text = String::from_utf8(bytes).map_err(|e| LoadError::NotText {
        path: path.to_path_buf(),
        at: e.utf8_error().valid_up_to(),
    })?;
    let source = Source { path: path.display().to_string(), text };
    compile(source, language, options)
}

/// Compiles source text.
pub fn compile(source: Source, language: Language, options: &Options) -> Result<Loaded, LoadError> {
    deadline::phase("reading the model");
    let source = frontend::gather(source, language, &options.front())
        .map_err(|(text, diagnostics)| LoadError::Source { text, diagnostics })?;
    let compiled = frontend::compile(&source, language, &options.front());
    let digest = Sha256::digest(source.text.as_bytes()).into();
    finish(source, digest, compiled, &passes(Some(language), options.passes.as_ref()))
}

/// The passes that are asked for, or those that suit a language.
pub fn passes(language: Option<Language>, asked: Option<&Passes>) -> Passes {
    let has_words = language.and_then(Language::about).is_some_and(|about| about.has_words);
    asked.cloned().unwrap_or_else(|| if has_words { Passes::all() } else { Passes::default() })
}

/// Makes an image of what the front end gives.
fn finish(
    source: Source,
    digest: [u8; 32],
    compiled: Result<Compiled, Vec<Diagnostic>>,
    passes: &Passes,
) -> Result<Loaded, LoadError> {
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(diagnostics) => return Err(LoadError::Source { text: source, diagnostics }),
    };
    let broken = |error| LoadError::Compile { path: source.path.clone(), error };
    compiled.cfa.check().map_err(|why| broken(BlastError::IllFormed(why)))?;
    let passes = passes.clone().between(compiled.origin.step());
    let simplified = simplify::run(&compiled.cfa, &passes);
    deadline::phase("making gates of the automaton");
    let model = blast::compile(&simplified.cfa, digest, &blast::Options::default());
    let model = model.map_err(broken)?;
    Ok(Loaded {
        cfa: compiled.cfa,
        simplified,
        image: AlignedImage::new(&model.image),
        map: model.map,
        source,
        digest,
        warnings: compiled.warnings,
        moves: compiled.moves,
        origin: compiled.origin,
        code: vec![],
        requirements: compiled.requirements,
    })
}

fn read_image(path: &Path, bytes: &[u8]) -> Result<Loaded, LoadError> {
    let broken = |error| LoadError::Image { path: path.to_path_buf(), error };
    // First of all: the rest may mean something else in another version.
    let preamble = Preamble::read(bytes).map_err(|e| broken(DebugError::Image(e)))?;
    if ![VERSION, VERSION_UNBOUND].contains(&preamble.version) {
        return Err(broken(DebugError::Image(ImageError::Version(preamble.version))));
    }
    let (image, debug) = debug::split(bytes).map_err(broken)?;
    let Some(Debug { cfa, simplified, map, source_path, source, is_program }) = debug else {
        return Err(LoadError::Unexplained { path: path.to_path_buf() });
    };
    let code = code::read(bytes).map_err(broken)?;
    let requirements = requirements::read(bytes).map_err(broken)?;
    let image = AlignedImage::new(image);
    let digest = match preamble.word {
        2 => image.view::<u16>().map(|view| view.header.source_hash),
        _ => image.view::<u32>().map(|view| view.header.source_hash),
    };
    let digest = digest.map_err(|e| broken(DebugError::Image(e)))?;
    let source = Source { path: source_path, text: source };
    let (simple, back) = simplified.unwrap_or_else(|| (cfa.clone(), Back::default()));
    let simplified = Simplified::of(simple, back);
    let origin = if is_program { Origin::Elsewhere } else { Origin::Model };
    let (warnings, moves) = (vec![], vec![]);
    Ok(Loaded {
        cfa,
        simplified,
        map,
        image,
        source,
        digest,
        warnings,
        moves,
        origin,
        code,
        requirements,
    })
}

/// Clauses that may be invariants, in the image's numbers: locations and literals.
pub fn candidates(simplified: &Simplified, map: &Map) -> Vec<(usize, Vec<u32>)> {
    let locations: HashMap<LocId, usize> = map.locations.iter().copied().zip(0..).collect();
    let bits: HashMap<(VarId, u32), u32> = map.bits.iter().copied().zip(0..).collect();
    let lit = |l: &BitLit| Some(2 * bits.get(&(l.var, l.bit))? + !l.value as u32);
    let clause = |c: &Clause| {
        let lits: Option<Vec<u32>> = c.lits.iter().map(lit).collect();
        Some((*locations.get(&c.location)?, lits?))
    };
    simplified.candidates.iter().filter_map(clause).collect()
}

impl Loaded {
    /// What may be invariants, in the image's numbers.
    pub fn candidates(&self) -> Vec<(usize, Vec<u32>)> {
        candidates(&self.simplified, &self.map)
    }

    /// Parameters, as the image counts, and their values.
    pub fn numbered(&self, bindings: &[(VarId, Word)]) -> Vec<(u32, u64)> {
        let number = |(var, value): &(_, _)| {
            // A map has every parameter, and none has more than 64 bits.
            let at = self.map.params.iter().position(|p| p == var)?;
            Some((at as u32, u64::try_from(*value).ok()?))
        };
        bindings.iter().filter_map(number).collect()
    }

    /// The model without simplification.
    pub fn as_written(self) -> Result<Loaded, LoadError> {
        if self.simplified.back == Back::default() {
            return Ok(self);
        }
        let (cfa, back) = (self.cfa.clone(), Back::default());
        self.compiled_as(Simplified::of(cfa, back))
    }

    /// What of the model the error of one property depends on, with edges that are steps of its runs.
    pub fn for_runs_to(self, property: PropertyId) -> Result<Loaded, LoadError> {
        let mut cfa = self.cfa.clone();
        let never = cfa.pool.bool(false);
        let error = |p: &Property| p.error;
        let here = cfa.properties.get(property.index()).map(error);
        let others = cfa.properties.iter().map(error).filter(|l| Some(*l) != here);
        let others: HashSet<LocId> = others.collect();
        for edge in cfa.edges.iter_mut().filter(|edge| others.contains(&edge.to)) {
            edge.guard = never;
        }
        // None of them makes one edge of two.
        let passes = Passes::of(vec![Pass::Constants, Pass::Slice, Pass::Dead]);
        let simplified = simplify::run(&cfa, &passes);
        self.compiled_as(simplified)
    }

    /// The model with another simplification.
    fn compiled_as(self, simplified: Simplified) -> Result<Loaded, LoadError> {
        let model = blast::compile(&simplified.cfa, self.digest, &blast::Options::default());
        let broken = |error| LoadError::Compile { path: self.source.path.clone(), error };
        let Model { image, map } = model.map_err(broken)?;
        Ok(Loaded { simplified, map, image: AlignedImage::new(&image), ..self })
    }

    /// The bytes of a `.vimg` file. The same source gives the same bytes, wherever it lies.
    pub fn to_file(&self) -> Vec<u8> {
        let name = Path::new(&self.source.path).file_name();
        let Simplified { cfa, back, .. } = &self.simplified;
        let is_other = *back != Back::default();
        let debug = Debug {
            cfa: self.cfa.clone(),
            simplified: is_other.then(|| (cfa.clone(), back.clone())),
            map: self.map.clone(),
            source_path: name.map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
            source: self.source.text.clone(),
            is_program: self.origin.is_lifted(),
        };
        let model = Model { image: self.image.to_vec(), map: self.map.clone() };
        let requirements = requirements::write(&self.requirements);
        [debug::write(&model, &debug), code::write(&self.code), requirements].concat()
    }
}
