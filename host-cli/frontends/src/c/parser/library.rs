//! Functions that programs call without a declaration: those of the standard library, under their own
//! name or with `__builtin_` before it, those of the compiler, and those of verification tasks. Here are
//! their types; what they do is known elsewhere, if at all.

use super::{Parser, intrinsics};
use crate::Diagnostic;
use crate::c::tree::{FunctionId, Stmt, StmtKind};
use crate::c::types::{INT, Signature, Type};
use crate::c::{Fail, builtin, lexer};
use std::rc::Rc;
use vouch_ir::Span;

/// `unsigned long` is `size_t` in every data model, and `long` is `ptrdiff_t`.
const LIBRARY: [&str; 128] = [
    "int __disable_irq(void)",
    "void __enable_irq(void)",
    "void __disable_interrupt(void)",
    "void __enable_interrupt(void)",
    "unsigned int __get_PRIMASK(void)",
    "void __set_PRIMASK(unsigned int)",
    "unsigned int __get_BASEPRI(void)",
    "void __set_BASEPRI(unsigned int)",
    "void __set_BASEPRI_MAX(unsigned int)",
    "unsigned int __vouch_get_BASEPRI(void)",
    "void __vouch_set_BASEPRI(unsigned int)",
    "void __vouch_set_BASEPRI_MAX(unsigned int)",
    "void __NOP(void)",
    "void __WFI(void)",
    "void __WFE(void)",
    "void __SEV(void)",
    "void __ISB(void)",
    "void __DSB(void)",
    "void __DMB(void)",
    "void __nop(void)",
    "void __wfi(void)",
    "void __no_operation(void)",
    "void __vouch_disable_irq(void)",
    "void __vouch_enable_irq(void)",
    "unsigned int __vouch_get_PRIMASK(void)",
    "void __vouch_set_PRIMASK(unsigned int)",
    "void __vouch_begin_exclusive(void)",
    "unsigned int __vouch_end_exclusive(void)",
    "void __vouch_clear_exclusive(void)",
    "void __vouch_text_length(unsigned long)",
    "void __vouch_begin_atomic(void)",
    "void __vouch_end_atomic(void)",
    "void *memcpy(void *, const void *, unsigned long)",
    "void *memmove(void *, const void *, unsigned long)",
    "void *mempcpy(void *, const void *, unsigned long)",
    "void *memset(void *, int, unsigned long)",
    "int memcmp(const void *, const void *, unsigned long)",
    "void *memchr(const void *, int, unsigned long)",
    "int bcmp(const void *, const void *, unsigned long)",
    "void bcopy(const void *, void *, unsigned long)",
    "void bzero(void *, unsigned long)",
    "unsigned long strlen(const char *)",
    "unsigned long strnlen(const char *, unsigned long)",
    "char *strcpy(char *, const char *)",
    "char *stpcpy(char *, const char *)",
    "char *strncpy(char *, const char *, unsigned long)",
    "char *strcat(char *, const char *)",
    "char *strncat(char *, const char *, unsigned long)",
    "int strcmp(const char *, const char *)",
    "int strncmp(const char *, const char *, unsigned long)",
    "char *strchr(const char *, int)",
    "char *strrchr(const char *, int)",
    "char *index(const char *, int)",
    "char *rindex(const char *, int)",
    "char *strstr(const char *, const char *)",
    "unsigned long strspn(const char *, const char *)",
    "unsigned long strcspn(const char *, const char *)",
    "char *strpbrk(const char *, const char *)",
    "char *strtok(char *, const char *)",
    "char *strdup(const char *)",
    "char *strndup(const char *, unsigned long)",
    "int abs(int)",
    "long labs(long)",
    "long long llabs(long long)",
    "void abort(void)",
    "void exit(int)",
    "void _exit(int)",
    "void _Exit(int)",
    "int atexit(void (*)(void))",
    "int printf(const char *, ...)",
    "int fprintf(void *, const char *, ...)",
    "int sprintf(char *, const char *, ...)",
    "int snprintf(char *, unsigned long, const char *, ...)",
    "int vprintf(const char *, __builtin_va_list)",
    "int vfprintf(void *, const char *, __builtin_va_list)",
    "int vsprintf(char *, const char *, __builtin_va_list)",
    "int vsnprintf(char *, unsigned long, const char *, __builtin_va_list)",
    "int scanf(const char *, ...)",
    "int sscanf(const char *, const char *, ...)",
    "int puts(const char *)",
    "int putchar(int)",
    "int getchar(void)",
    "void *malloc(unsigned long)",
    "void *calloc(unsigned long, unsigned long)",
    "void *realloc(void *, unsigned long)",
    "void *alloca(unsigned long)",
    "void free(void *)",
    "int isalnum(int)",
    "int isalpha(int)",
    "int isascii(int)",
    "int isblank(int)",
    "int iscntrl(int)",
    "int isdigit(int)",
    "int isgraph(int)",
    "int islower(int)",
    "int isprint(int)",
    "int ispunct(int)",
    "int isspace(int)",
    "int isupper(int)",
    "int isxdigit(int)",
    "int toupper(int)",
    "int tolower(int)",
    "int toascii(int)",
    "int atoi(const char *)",
    "long atol(const char *)",
    "long long atoll(const char *)",
    "long strtol(const char *, char **, int)",
    "unsigned long strtoul(const char *, char **, int)",
    "int rand(void)",
    "void srand(unsigned)",
    "void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *))",
    "void *bsearch(const void *, const void *, unsigned long, unsigned long, \
     int (*)(const void *, const void *))",
    "int ffs(int)",
    "int ffsl(long)",
    "int ffsll(long long)",
    "double fabs(double)",
    "float fabsf(float)",
    "double sqrt(double)",
    "double sin(double)",
    "double cos(double)",
    "double exp(double)",
    "double log(double)",
    "double pow(double, double)",
    "double floor(double)",
    "double ceil(double)",
    "double fmod(double, double)",
    "double copysign(double, double)",
    "double atof(const char *)",
];

/// Functions of the compiler and of verification tasks, which nobody has to declare.
const COMPILER: [&str; 97] = [
    "int __vouch_scan_count(int, int)",
    "void __vouch_scan_word(char *, unsigned long, int)",
    "void __vouch_scan_characters(char *, unsigned long, int)",
    "unsigned long long __vouch_scanned(void)",
    "float __vouch_scanned_float(void)",
    "double __vouch_scanned_double(void)",
    "float __vouch_input_float(const char *)",
    "double __vouch_input_double(const char *)",
    "void __builtin_avr_cli(void)",
    "void __builtin_avr_sei(void)",
    "int __builtin_popcount(unsigned)",
    "int __builtin_popcountl(unsigned long)",
    "int __builtin_popcountll(unsigned long long)",
    "int __builtin_parity(unsigned)",
    "int __builtin_parityl(unsigned long)",
    "int __builtin_parityll(unsigned long long)",
    "int __builtin_clz(unsigned)",
    "int __builtin_clzl(unsigned long)",
    "int __builtin_clzll(unsigned long long)",
    "int __builtin_ctz(unsigned)",
    "int __builtin_ctzl(unsigned long)",
    "int __builtin_ctzll(unsigned long long)",
    "int __builtin_clrsb(int)",
    "int __builtin_clrsbl(long)",
    "int __builtin_clrsbll(long long)",
    "unsigned short __builtin_bswap16(unsigned short)",
    "unsigned __builtin_bswap32(unsigned)",
    "unsigned long long __builtin_bswap64(unsigned long long)",
    "long __builtin_expect(long, long)",
    "long __builtin_expect_with_probability(long, long, double)",
    "void __builtin_prefetch()",
    "void __builtin___clear_cache()",
    "void __builtin_va_start()",
    "void __builtin_va_end()",
    "void __builtin_va_copy()",
    "_Bool __builtin_add_overflow()",
    "_Bool __builtin_sub_overflow()",
    "_Bool __builtin_mul_overflow()",
    "_Bool __builtin_sadd_overflow(int, int, int *)",
    "_Bool __builtin_saddl_overflow(long, long, long *)",
    "_Bool __builtin_saddll_overflow(long long, long long, long long *)",
    "_Bool __builtin_uadd_overflow(unsigned int, unsigned int, unsigned int *)",
    "_Bool __builtin_uaddl_overflow(unsigned long, unsigned long, unsigned long *)",
    "_Bool __builtin_uaddll_overflow(unsigned long long, unsigned long long, unsigned long long *)",
    "_Bool __builtin_ssub_overflow(int, int, int *)",
    "_Bool __builtin_ssubl_overflow(long, long, long *)",
    "_Bool __builtin_ssubll_overflow(long long, long long, long long *)",
    "_Bool __builtin_usub_overflow(unsigned int, unsigned int, unsigned int *)",
    "_Bool __builtin_usubl_overflow(unsigned long, unsigned long, unsigned long *)",
    "_Bool __builtin_usubll_overflow(unsigned long long, unsigned long long, unsigned long long *)",
    "_Bool __builtin_smul_overflow(int, int, int *)",
    "_Bool __builtin_smull_overflow(long, long, long *)",
    "_Bool __builtin_smulll_overflow(long long, long long, long long *)",
    "_Bool __builtin_umul_overflow(unsigned int, unsigned int, unsigned int *)",
    "_Bool __builtin_umull_overflow(unsigned long, unsigned long, unsigned long *)",
    "_Bool __builtin_umulll_overflow(unsigned long long, unsigned long long, unsigned long long *)",
    "void __vouch_assume(int)",
    "unsigned long long __vouch_input(const char *)",
    "unsigned long __vouch_block_bytes(const void *)",
    "char __vouch_text(void)",
    "int __vouch_print(char *, unsigned long, int)",
    "int __vouch_format_length(void)",
    "unsigned long __vouch_number(const char *, char **, int, int)",
    "unsigned long long __vouch_long_number(const char *, char **, int, int)",
    "void __builtin_unreachable(void)",
    "void __builtin_trap(void)",
    "void *__builtin_return_address(unsigned)",
    "void *__builtin_frame_address(unsigned)",
    "void *__builtin_assume_aligned(const void *, unsigned long, ...)",
    "unsigned long __builtin_object_size(const void *, int)",
    "void __sync_synchronize(void)",
    "void __builtin_assume(_Bool)",
    "void *__builtin___memcpy_chk(void *, const void *, unsigned long, unsigned long)",
    "void *__builtin___memset_chk(void *, int, unsigned long, unsigned long)",
    "void reach_error(void)",
    "void __VERIFIER_error(void)",
    "void __VERIFIER_assume(int)",
    "_Bool __VERIFIER_nondet_bool(void)",
    "char __VERIFIER_nondet_char(void)",
    "signed char __VERIFIER_nondet_schar(void)",
    "unsigned char __VERIFIER_nondet_uchar(void)",
    "unsigned char __VERIFIER_nondet_u8(void)",
    "short __VERIFIER_nondet_short(void)",
    "unsigned short __VERIFIER_nondet_ushort(void)",
    "unsigned short __VERIFIER_nondet_u16(void)",
    "int __VERIFIER_nondet_int(void)",
    "unsigned __VERIFIER_nondet_uint(void)",
    "unsigned __VERIFIER_nondet_unsigned(void)",
    "unsigned __VERIFIER_nondet_u32(void)",
    "long __VERIFIER_nondet_long(void)",
    "unsigned long __VERIFIER_nondet_ulong(void)",
    "long long __VERIFIER_nondet_longlong(void)",
    "unsigned long long __VERIFIER_nondet_ulonglong(void)",
    "unsigned long __VERIFIER_nondet_size_t(void)",
    "float __VERIFIER_nondet_float(void)",
    "double __VERIFIER_nondet_double(void)",
    "void *__VERIFIER_nondet_pointer(void)",
];

/// Functions that compilers compute themselves, whoever defines one of that name.
const INLINE: [&str; 4] = ["abs", "labs", "llabs", "imaxabs"];

/// The declaration of a function, if it is one of these.
fn prototype(name: &str) -> Option<&'static str> {
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    let of_compiler = COMPILER.iter().find(|text| declares(text, name));
    let of_library = || LIBRARY.iter().find(|text| declares(text, plain));
    of_compiler.or_else(of_library).copied().or_else(|| intrinsics::prototype(name))
}

/// Whether a text is the declaration of a function of this name.
pub(super) fn declares(text: &str, name: &str) -> bool {
    text.split('(').next().is_some_and(|head| head.rsplit([' ', '*']).next() == Some(name))
}

/// Whether a name is one of the compiler's functions, which need not be called to be known.
pub fn is_builtin(name: &str) -> bool {
    name.starts_with("__builtin_") && knows(name)
}

/// Whether a function represents whatever the environment does.
fn is_input(name: &str) -> bool {
    name.starts_with("__VERIFIER_nondet_") || name == "getchar"
}

/// Whether a function's type is known without a declaration.
pub fn knows(name: &str) -> bool {
    prototype(name).is_some()
}

impl Parser {
    /// A function that nobody has declared: one of the above, or `int name()`.
    pub(super) fn implicit_function(
        &mut self,
        name: &Rc<str>,
        span: Span,
    ) -> Result<FunctionId, Fail> {
        let known = self.names[0].get(name).or_else(|| self.linker.find(name, false));
        if let Some(super::Name::Function(id)) = known {
            return Ok(*id);
        }
        let of_library = prototype(name);
        let signature = match of_library {
            Some(text) => self.signature(text)?,
            None => Signature { result: INT, params: vec![], open: true },
        };
        // The compiler's own functions have names that nobody else may use.
        if !name.starts_with("__") {
            let message = format!("`{name}` is called, but not declared");
            let warning = Diagnostic::warning(message, span, "nothing is known about it here");
            self.unit.warnings.push(match of_library {
                Some(text) => warning.help(format!("it is taken to be `{text}`")),
                None => warning.help(format!("it is taken to be `int {name}()`")),
            });
        }
        let id = self.new_function(name, &signature, span);
        self.undeclared.insert(id, span);
        self.names[0].insert(name.clone(), super::Name::Function(id));
        self.linker.declare(name.clone(), super::Name::Function(id), false);
        Ok(id)
    }

    /// The type in a declaration of a function.
    fn signature(&mut self, text: &str) -> Result<Signature, Fail> {
        let tokens = std::mem::replace(&mut self.tokens, lexer::lex(text)?);
        let at = std::mem::replace(&mut self.at, 0);
        let declared = self.specifiers(true).and_then(|s| self.declarator(&s));
        (self.tokens, self.at) = (tokens, at);
        match declared?.ty {
            Type::Function(signature) => Ok((*signature).clone()),
            _ => Err(self.unexpected("a function")),
        }
    }

    /// A function that is defined here, but that the compiler does not call.
    pub(super) fn shadow_inline(&mut self, id: FunctionId, name: &str, span: Span) {
        if INLINE.contains(&name) {
            let what =
                "a function that the compiler has, too, and may use instead (unless it is static)";
            self.unit.functions[id].body = Some(Stmt { kind: StmtKind::Refused(what), span });
        }
    }

    /// Functions that nobody has declared or defined in the end.
    pub(super) fn judge_undeclared(&mut self) {
        for id in self.undeclared.keys() {
            let function = &mut self.unit.functions[*id];
            let means = builtin::is_known(function) || is_input(&function.name);
            function.undeclared = function.body.is_none() && !means;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_name() {
        assert_eq!(prototype("strlen"), Some("unsigned long strlen(const char *)"));
        assert_eq!(prototype("__builtin_strlen"), prototype("strlen"));
        assert!(prototype("strchr").is_some_and(|t| t.starts_with("char *strchr")));
        assert_eq!(prototype("str"), None);
        assert_eq!(prototype("__builtin_clz"), Some("int __builtin_clz(unsigned)"));
        for text in LIBRARY.iter().chain(&COMPILER) {
            assert!(lexer::lex(text).is_ok());
        }
    }
}
