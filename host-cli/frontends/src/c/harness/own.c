/* Ends with the property that this program shows, and continues after others, as on the target. Nothing of a header, whose names the
   source may use otherwise. */
long vouch_syscall(long, ...) __asm__("syscall");
void vouch_exit_now(int code) __asm__("_Exit");
int vouch_at_exit(void (*)(void)) __asm__("atexit");
/* Interrupts do not come where the program would not be. */
#define VOUCH_WHOLE __attribute__((no_sanitize_thread))
extern unsigned vouch_call, vouch_held;
extern unsigned long long vouch_masked, vouch_level;
void vouch_moment(void);
static void vouch_say(const char *text)
{
    vouch_syscall(sizeof(long) == 8 ? 1 : 4, 2, text, __builtin_strlen(text));
}
void vouch_failed(void)
{
    vouch_say("the property is broken\n");
    vouch_exit_now(1);
}
static void vouch_other(void)
{
    vouch_exit_now(1);
}
VOUCH_WHOLE void vouch_broken(const char *name)
{
    static int others;
    const char *asked = VOUCH_PROPERTY, *n = name;
    while (*asked && *asked == *n)
        asked++, n++;
    /* What it covers may follow the name. */
    if (!*asked && (!*n || (n[0] == ' ' && n[1] == '[')))
        vouch_failed();
    vouch_say(name);
    vouch_say(" is broken\n");
    if (!others++)
        vouch_at_exit(vouch_other);
}
VOUCH_WHOLE const char *vouch_place(const char *file, int line)
{
    static char name[256];
    const char *slash = __builtin_strrchr(file, '/');
    if (!__builtin_strcmp(file, VOUCH_FILE))
        __builtin_snprintf(name, sizeof name, "assert_%d", line);
    else
        __builtin_snprintf(name, sizeof name, "assert_%s:%d", slash ? slash + 1 : file, line);
    return name;
}
float vouch_float(unsigned long long bits)
{
    unsigned low = bits;
    float value;
    __builtin_memcpy(&value, &low, sizeof value);
    return value;
}
double vouch_double(unsigned long long bits)
{
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
unsigned long long vouch_same(unsigned long long bits)
{
    return bits;
}
/* What a function that is declared only has changed. */
VOUCH_WHOLE static void vouch_put(char *base, unsigned long long bit, unsigned width, unsigned long long value)
{
    for (unsigned i = 0; i < width; i++, bit++) {
        unsigned char *byte = (unsigned char *)base + bit / 8, mask = 1 << bit % 8;
        *byte = (i < 64 && value >> i & 1) ? *byte | mask : *byte & ~mask;
    }
}
