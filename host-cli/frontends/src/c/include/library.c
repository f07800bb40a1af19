/*
 * What functions of the C library do, for programs that declare them and do not define them.
 *
 * Each is read only if the program uses it, under its own name or with __builtin_ before it. Where the
 * standard leaves a result open, so does this: of a comparison only the sign is certain, of isalpha()
 * only whether it is zero.
 *
 * Loops count an index from zero and leave pointers and lengths alone: that the index stays below the length is the
 * only invariant that a proof then needs.
 */

void *memcpy(void *to, const void *from, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    for (unsigned long i = 0; i < n; i++)
        d[i] = s[i];
    return to;
}

void *mempcpy(void *to, const void *from, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    for (unsigned long i = 0; i < n; i++)
        d[i] = s[i];
    return d + n;
}

void *memmove(void *to, const void *from, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    if (d <= s)
        for (unsigned long i = 0; i < n; i++)
            d[i] = s[i];
    else
        while (n--)
            d[n] = s[n];
    return to;
}

void bcopy(const void *from, void *to, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    if (d <= s)
        for (unsigned long i = 0; i < n; i++)
            d[i] = s[i];
    else
        while (n--)
            d[n] = s[n];
}

void *memset(void *to, int value, unsigned long n)
{
    unsigned char *d = to;
    for (unsigned long i = 0; i < n; i++)
        d[i] = (unsigned char)value;
    return to;
}

void bzero(void *to, unsigned long n)
{
    unsigned char *d = to;
    for (unsigned long i = 0; i < n; i++)
        d[i] = 0;
}

int memcmp(const void *left, const void *right, unsigned long n)
{
    const unsigned char *a = left, *b = right;
    for (unsigned long i = 0; i < n; i++)
        if (a[i] != b[i]) {
            int order = (int)__vouch_input("memcmp");
            __vouch_assume(order != 0 && (order < 0) == (a[i] < b[i]));
            return order;
        }
    return 0;
}

int bcmp(const void *left, const void *right, unsigned long n)
{
    const unsigned char *a = left, *b = right;
    for (unsigned long i = 0; i < n; i++)
        if (a[i] != b[i]) {
            int other = (int)__vouch_input("bcmp");
            __vouch_assume(other != 0);
            return other;
        }
    return 0;
}

void *memchr(const void *in, int value, unsigned long n)
{
    const unsigned char *s = in;
    for (unsigned long i = 0; i < n; i++)
        if (s[i] == (unsigned char)value)
            return (void *)(s + i);
    return 0;
}

unsigned long strlen(const char *text)
{
    unsigned long n = 0;
    while (text[n])
        n++;
    return n;
}

unsigned long strnlen(const char *text, unsigned long most)
{
    unsigned long n = 0;
    while (n < most && text[n])
        n++;
    return n;
}

char *strcpy(char *to, const char *from)
{
    unsigned long i = 0;
    for (; from[i]; i++)
        to[i] = from[i];
    to[i] = 0;
    return to;
}

char *stpcpy(char *to, const char *from)
{
    unsigned long i = 0;
    for (; from[i]; i++)
        to[i] = from[i];
    to[i] = 0;
    return to + i;
}

char *strncpy(char *to, const char *from, unsigned long n)
{
    unsigned long i = 0;
    for (; i < n && from[i]; i++)
        to[i] = from[i];
    for (; i < n; i++)
        to[i] = 0;
    return to;
}

char *strcat(char *to, const char *from)
{
    unsigned long n = 0, i = 0;
    while (to[n])
        n++;
    for (; from[i]; i++)
        to[n + i] = from[i];
    to[n + i] = 0;
    return to;
}

char *strncat(char *to, const char *from, unsigned long most)
{
    unsigned long n = 0, i = 0;
    while (to[n])
        n++;
    for (; i < most && from[i]; i++)
        to[n + i] = from[i];
    to[n + i] = 0;
    return to;
}

int strcmp(const char *left, const char *right)
{
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    unsigned long i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    if (a[i] == b[i])
        return 0;
    int order = (int)__vouch_input("strcmp");
    __vouch_assume(order != 0 && (order < 0) == (a[i] < b[i]));
    return order;
}

int strncmp(const char *left, const char *right, unsigned long n)
{
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    unsigned long i = 0;
    while (i < n && a[i] && a[i] == b[i])
        i++;
    if (i >= n || a[i] == b[i])
        return 0;
    int order = (int)__vouch_input("strncmp");
    __vouch_assume(order != 0 && (order < 0) == (a[i] < b[i]));
    return order;
}

char *strchr(const char *text, int c)
{
    for (; *text != (char)c; text++)
        if (!*text)
            return 0;
    return (char *)text;
}

char *index(const char *text, int c)
{
    for (; *text != (char)c; text++)
        if (!*text)
            return 0;
    return (char *)text;
}

char *strrchr(const char *text, int c)
{
    const char *last = 0;
    for (;; text++) {
        if (*text == (char)c)
            last = text;
        if (!*text)
            return (char *)last;
    }
}

char *rindex(const char *text, int c)
{
    const char *last = 0;
    for (;; text++) {
        if (*text == (char)c)
            last = text;
        if (!*text)
            return (char *)last;
    }
}

char *strstr(const char *text, const char *part)
{
    for (;; text++) {
        const char *a = text, *b = part;
        while (*b && *a == *b)
            a++, b++;
        if (!*b)
            return (char *)text;
        if (!*text)
            return 0;
    }
}

unsigned long strspn(const char *text, const char *set)
{
    unsigned long n = 0;
    for (; text[n]; n++) {
        const char *s = set;
        while (*s && *s != text[n])
            s++;
        if (!*s)
            break;
    }
    return n;
}

unsigned long strcspn(const char *text, const char *set)
{
    unsigned long n = 0;
    for (; text[n]; n++) {
        const char *s = set;
        while (*s && *s != text[n])
            s++;
        if (*s)
            break;
    }
    return n;
}

char *strpbrk(const char *text, const char *set)
{
    for (; *text; text++) {
        const char *s = set;
        while (*s && *s != *text)
            s++;
        if (*s)
            return (char *)text;
    }
    return 0;
}

/* What a format makes of its arguments is any text of a length that is possible. */
int __vouch_print(char *to, unsigned long n, int length)
{
    unsigned long i = 0;
    if (n) {
        for (; i + 1 < n && i < (unsigned long)length; i++)
            to[i] = __vouch_text();
        to[i] = 0;
    }
    return length;
}

int snprintf(char *to, unsigned long n, const char *format, ...)
{
    return __vouch_print(to, n, __vouch_format_length());
}

int vsnprintf(char *to, unsigned long n, const char *format, __builtin_va_list list)
{
    return __vouch_print(to, n, __vouch_format_length());
}

int sprintf(char *to, const char *format, ...)
{
    return __vouch_print(to, -1, __vouch_format_length());
}

int vsprintf(char *to, const char *format, __builtin_va_list list)
{
    return __vouch_print(to, -1, __vouch_format_length());
}

int abs(int x)
{
    return x < 0 ? -x : x;
}

long labs(long x)
{
    return x < 0 ? -x : x;
}

long long llabs(long long x)
{
    return x < 0 ? -x : x;
}

int rand(void)
{
    int any = (int)__vouch_input("rand");
    __vouch_assume(any >= 0);
    return any;
}

void srand(unsigned seed)
{
}

int atoi(const char *text)
{
    unsigned value = 0;
    int negative, over = 0;
    while (*text == ' ' || *text >= '\t' && *text <= '\r')
        text++;
    negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    for (; *text >= '0' && *text <= '9'; text++) {
        /* The largest ends with a 7. */
        if (value > 2147483647u / 10 || value == 2147483647u / 10 && *text > '7' + negative)
            over = 1;
        value = value * 10 + (*text - '0');
    }
    /* What does not fit is undefined. */
    if (over)
        return (int)__vouch_input("atoi");
    return negative ? -value : value;
}

long atol(const char *text)
{
    unsigned long value = 0;
    int negative, over = 0;
    while (*text == ' ' || *text >= '\t' && *text <= '\r')
        text++;
    negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    for (; *text >= '0' && *text <= '9'; text++) {
        /* The largest ends with a 7. */
        if (value > ((unsigned long)-1 >> 1) / 10 ||
            value == ((unsigned long)-1 >> 1) / 10 && *text > '7' + negative)
            over = 1;
        value = value * 10 + (*text - '0');
    }
    /* What does not fit is undefined. */
    if (over)
        return (long)__vouch_input("atol");
    return negative ? -value : value;
}

int isalpha(int c)
{
    int any = (int)__vouch_input("isalpha");
    __vouch_assume(!any == !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'));
    return any;
}

int isdigit(int c)
{
    int any = (int)__vouch_input("isdigit");
    __vouch_assume(!any == !(c >= '0' && c <= '9'));
    return any;
}

int isalnum(int c)
{
    int any = (int)__vouch_input("isalnum");
    __vouch_assume(!any ==
                 !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'));
    return any;
}

int isupper(int c)
{
    int any = (int)__vouch_input("isupper");
    __vouch_assume(!any == !(c >= 'A' && c <= 'Z'));
    return any;
}

int islower(int c)
{
    int any = (int)__vouch_input("islower");
    __vouch_assume(!any == !(c >= 'a' && c <= 'z'));
    return any;
}

int isspace(int c)
{
    int any = (int)__vouch_input("isspace");
    __vouch_assume(!any == !(c == ' ' || c >= '\t' && c <= '\r'));
    return any;
}

int isblank(int c)
{
    int any = (int)__vouch_input("isblank");
    __vouch_assume(!any == !(c == ' ' || c == '\t'));
    return any;
}

int iscntrl(int c)
{
    int any = (int)__vouch_input("iscntrl");
    __vouch_assume(!any == !(c >= 0 && c < ' ' || c == 127));
    return any;
}

int isprint(int c)
{
    int any = (int)__vouch_input("isprint");
    __vouch_assume(!any == !(c >= ' ' && c < 127));
    return any;
}

int isgraph(int c)
{
    int any = (int)__vouch_input("isgraph");
    __vouch_assume(!any == !(c > ' ' && c < 127));
    return any;
}

int ispunct(int c)
{
    int any = (int)__vouch_input("ispunct");
    __vouch_assume(!any == !(c > ' ' && c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' ||
                           c > 'z' && c < 127));
    return any;
}

int isxdigit(int c)
{
    int any = (int)__vouch_input("isxdigit");
    __vouch_assume(!any ==
                 !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'));
    return any;
}

int toupper(int c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

int tolower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

int isascii(int c)
{
    return c >= 0 && c < 128;
}

int toascii(int c)
{
    return c & 127;
}

unsigned long strlcpy(char *to, const char *from, unsigned long n)
{
    unsigned long i = 0;
    for (; from[i]; i++)
        if (i + 1 < n)
            to[i] = from[i];
    if (n)
        to[i < n ? i : n - 1] = 0;
    return i;
}

unsigned long strlcat(char *to, const char *from, unsigned long n)
{
    unsigned long start = 0, i = 0;
    while (start < n && to[start])
        start++;
    for (; from[i]; i++)
        if (start + i + 1 < n)
            to[start + i] = from[i];
    if (start < n)
        to[start + i < n ? start + i : n - 1] = 0;
    return start + i;
}

int strcasecmp(const char *left, const char *right)
{
    for (;; left++, right++) {
        int a = (unsigned char)*left, b = (unsigned char)*right;
        a = a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a;
        b = b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b;
        if (a != b) {
            int order = (int)__vouch_input("strcasecmp");
            __vouch_assume(order != 0 && (order < 0) == (a < b));
            return order;
        }
        if (!a)
            return 0;
    }
}

int strncasecmp(const char *left, const char *right, unsigned long n)
{
    for (; n; left++, right++, n--) {
        int a = (unsigned char)*left, b = (unsigned char)*right;
        a = a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a;
        b = b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b;
        if (a != b) {
            int order = (int)__vouch_input("strncasecmp");
            __vouch_assume(order != 0 && (order < 0) == (a < b));
            return order;
        }
        if (!a)
            return 0;
    }
    return 0;
}

char *strtok_r(char *text, const char *set, char **rest)
{
    const char *s;
    char *start;
    if (!text)
        text = *rest;
    for (; *text; text++) {
        for (s = set; *s && *s != *text; s++)
            ;
        if (!*s)
            break;
    }
    if (!*text) {
        *rest = text;
        return 0;
    }
    for (start = text; *text; text++) {
        for (s = set; *s && *s != *text; s++)
            ;
        if (*s) {
            *text++ = 0;
            break;
        }
    }
    *rest = text;
    return start;
}

char *strtok(char *text, const char *set)
{
    static char *rest;
    const char *s;
    char *start;
    if (!text)
        text = rest;
    if (!text)
        return 0;
    for (; *text; text++) {
        for (s = set; *s && *s != *text; s++)
            ;
        if (!*s)
            break;
    }
    if (!*text) {
        rest = 0;
        return 0;
    }
    for (start = text; *text; text++) {
        for (s = set; *s && *s != *text; s++)
            ;
        if (*s) {
            *text = 0;
            rest = text + 1;
            return start;
        }
    }
    rest = 0;
    return start;
}

char *fgets(char *to, int n, void *file)
{
    int length = (int)__vouch_input("fgets"), i;
    if (n < 1 || length < 1)
        return 0;
    for (i = 0; i < n - 1 && i < length; i++) {
        to[i] = (char)__vouch_input("fgets");
        if (to[i] == '\n') {
            i++;
            break;
        }
    }
    to[i] = 0;
    return to;
}

char *gets(char *to)
{
    unsigned long i = 0;
    if (!(char)__vouch_input("gets"))
        return 0;
    for (;; i++) {
        to[i] = (char)__vouch_input("gets");
        if (to[i] == '\n' || !to[i])
            break;
    }
    to[i] = 0;
    return to;
}

/* What comes from outside: any bytes, and as many as are asked for or fewer. */
unsigned long fread(void *to, unsigned long size, unsigned long count, void *file)
{
    unsigned char *d = to;
    unsigned long most = size * count, n = (unsigned long)__vouch_input("fread"), i;
    if (!size)
        return 0;
    if (n > most)
        n = most;
    for (i = 0; i < n; i++)
        d[i] = (unsigned char)__vouch_input("fread");
    return n / size;
}

long read(int file, void *to, unsigned long most)
{
    unsigned char *d = to;
    unsigned long n = (unsigned long)__vouch_input("read"), i;
    if (n > most)
        return -1;
    for (i = 0; i < n; i++)
        d[i] = (unsigned char)__vouch_input("read");
    return n;
}

long recv(int socket, void *to, unsigned long most, int flags)
{
    unsigned char *d = to;
    unsigned long n = (unsigned long)__vouch_input("recv"), i;
    if (n > most)
        return -1;
    for (i = 0; i < n; i++)
        d[i] = (unsigned char)__vouch_input("recv");
    return n;
}

/* What `scanf()` does: how many parts it finds, and words and characters; of a text in memory (`known`) the program decides. */
int __vouch_scan_count(int most, int known)
{
    int n = known ? (int)__vouch_scanned() : (int)__vouch_input("scanf");
    return n >= 0 && n <= most ? n : -1;
}

void __vouch_scan_word(char *to, unsigned long most, int known)
{
    unsigned long i = 0;
    char c;
    do {
        c = known ? __vouch_text() : (char)__vouch_input("scanf");
        to[i] = c ? c : '?';
        i++;
        c = known ? __vouch_text() : (char)__vouch_input("scanf");
    } while (i < most && c);
    to[i] = 0;
}

void __vouch_scan_characters(char *to, unsigned long n, int known)
{
    unsigned long i;
    for (i = 0; i < n; i++)
        to[i] = known ? __vouch_text() : (char)__vouch_input("scanf");
}

void *bsearch(const void *key, const void *base, unsigned long count, unsigned long size,
              int (*compare)(const void *, const void *))
{
    unsigned long low = 0, high = count;
    while (low < high) {
        unsigned long middle = low + (high - low) / 2;
        const char *at = (const char *)base + middle * size;
        int order = compare(key, at);
        if (!order)
            return (void *)at;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

long long atoll(const char *text)
{
    unsigned long long value = 0;
    int negative, over = 0;
    while (*text == ' ' || *text >= '\t' && *text <= '\r')
        text++;
    negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    for (; *text >= '0' && *text <= '9'; text++) {
        /* The largest ends with a 7. */
        if (value > ((unsigned long long)-1 >> 1) / 10 ||
            value == ((unsigned long long)-1 >> 1) / 10 && *text > '7' + negative)
            over = 1;
        value = value * 10 + (*text - '0');
    }
    /* What does not fit is undefined. */
    if (over)
        return (long long)__vouch_input("atoll");
    return negative ? -value : value;
}

/* The digits of a number. Too large a number becomes the largest. */
unsigned long __vouch_number(const char *text, char **end, int base, int is_signed)
{
    const char *s = text, *last = text;
    unsigned long value = 0, most;
    int negative, over = 0;
    while (*s == ' ' || *s >= '\t' && *s <= '\r')
        s++;
    negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') &&
        (s[2] >= '0' && s[2] <= '9' || s[2] >= 'a' && s[2] <= 'f' || s[2] >= 'A' && s[2] <= 'F')) {
        s += 2;
        base = 16;
    } else if (base == 0)
        base = *s == '0' ? 8 : 10;
    most = is_signed ? ((unsigned long)-1 >> 1) + negative : (unsigned long)-1;
    for (;; s++) {
        int digit = *s >= '0' && *s <= '9'   ? *s - '0'
                    : *s >= 'a' && *s <= 'z' ? *s - 'a' + 10
                    : *s >= 'A' && *s <= 'Z' ? *s - 'A' + 10
                                             : 99;
        if (digit >= base)
            break;
        if (value > (most - digit) / base)
            over = 1;
        value = value * base + digit;
        last = s + 1;
    }
    if (end)
        *end = (char *)last;
    if (over) {
        extern int errno;
        errno = 34; /* ERANGE */
        return most;
    }
    return negative ? -value : value;
}

unsigned long long __vouch_long_number(const char *text, char **end, int base, int is_signed)
{
    const char *s = text, *last = text;
    unsigned long long value = 0, most;
    int negative, over = 0;
    while (*s == ' ' || *s >= '\t' && *s <= '\r')
        s++;
    negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') &&
        (s[2] >= '0' && s[2] <= '9' || s[2] >= 'a' && s[2] <= 'f' || s[2] >= 'A' && s[2] <= 'F')) {
        s += 2;
        base = 16;
    } else if (base == 0)
        base = *s == '0' ? 8 : 10;
    most = is_signed ? ((unsigned long long)-1 >> 1) + negative : (unsigned long long)-1;
    for (;; s++) {
        int digit = *s >= '0' && *s <= '9'   ? *s - '0'
                    : *s >= 'a' && *s <= 'z' ? *s - 'a' + 10
                    : *s >= 'A' && *s <= 'Z' ? *s - 'A' + 10
                                             : 99;
        if (digit >= base)
            break;
        if (value > (most - digit) / base)
            over = 1;
        value = value * base + digit;
        last = s + 1;
    }
    if (end)
        *end = (char *)last;
    if (over) {
        extern int errno;
        errno = 34; /* ERANGE */
        return most;
    }
    return negative ? -value : value;
}

long strtol(const char *text, char **end, int base)
{
    return __vouch_number(text, end, base, 1);
}

unsigned long strtoul(const char *text, char **end, int base)
{
    return __vouch_number(text, end, base, 0);
}

long long strtoll(const char *text, char **end, int base)
{
    return __vouch_long_number(text, end, base, 1);
}

unsigned long long strtoull(const char *text, char **end, int base)
{
    return __vouch_long_number(text, end, base, 0);
}

long long strtoimax(const char *text, char **end, int base)
{
    return __vouch_long_number(text, end, base, 1);
}

unsigned long long strtoumax(const char *text, char **end, int base)
{
    return __vouch_long_number(text, end, base, 0);
}

void *realloc(void *old, unsigned long n)
{
    void *fresh = malloc(n);
    /* Some libraries free a block that is to have no bytes, others keep it. */
    if (!n && !fresh && old && __vouch_text())
        free(old);
    if (fresh && old) {
        unsigned long had = __vouch_block_bytes(old);
        memcpy(fresh, old, had < n ? had : n);
        free(old);
    }
    return fresh;
}

char *strdup(const char *text)
{
    unsigned long n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

char *strndup(const char *text, unsigned long most)
{
    unsigned long n = strnlen(text, most);
    char *copy = malloc(n + 1);
    if (copy) {
        memcpy(copy, text, n);
        copy[n] = 0;
    }
    return copy;
}

double fmin(double a, double b)
{
    if (a != a)
        return b;
    return b != b || a < b ? a : b;
}

double fmax(double a, double b)
{
    if (a != a)
        return b;
    return b != b || a > b ? a : b;
}

float fminf(float a, float b)
{
    if (a != a)
        return b;
    return b != b || a < b ? a : b;
}

float fmaxf(float a, float b)
{
    if (a != a)
        return b;
    return b != b || a > b ? a : b;
}
